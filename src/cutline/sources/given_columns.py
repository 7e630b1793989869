"""Arrays, or a table and the names of its columns: for functions that take either."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import InputError
from ..validate import check_column, check_columns
from .arrays import Sample, make_sample
from .counts import CountColumns, describe_counts, merged, read_counts
from .duckdb import DuckTable, Machine
from .file_formats import TextFormat
from .frames import LoadedColumns, MemoryTable
from .open_source import SparkTable, open_source, rows_of
from .rules import negative_labels
from .sql_table import Roles

_NO_SCORES = InputError("y_score", "is missing", "pass the scores, or name the columns of a table: {label}, {score}")


def read_columns(source: Any, label: str | None, scores: Sequence[str], **columns: Any) -> LoadedColumns:
    """Columns of any table in memory: labels (unless None), scores, and as named weight, clusters, batch and by."""
    by = columns.pop("by", None)
    columns["by"] = () if by is None else (by,) if isinstance(by, str) else tuple(check_columns(by, "by"))
    roles = Roles(label, {check_column(score, "score"): score for score in scores}, **columns)
    with open_source(source, None, Machine(), TextFormat()) as table:
        if isinstance(table, SparkTable):
            raise InputError(None, "rows on a cluster are only evaluated and compared", "bring them here: toPandas()")
        rows = rows_of(table, roles, False)
    assert isinstance(rows, LoadedColumns)
    return rows


def read_known_labels(
    table: Any, label: str | None, numbers: Sequence[str], *, pos_label: Any, neg_label: Any, decimal: str | None
) -> tuple[Any, dict[str, Any], str]:
    """The labels of a table that are there, numbers of every row by name, and how the labels are written.

    Labels of a table in memory come as they stand; those of others as 0 and 1, nan where they are missing.
    """
    if not isinstance(table, MemoryTable | DuckTable):
        raise InputError(None, "labels of some rows are not read on a cluster", "bring them here: toPandas()")
    roles = Roles(None, {check_column(name, "score"): name for name in numbers}, decimal=decimal)
    every: Any = rows_of(table, roles, False)
    if label is None or isinstance(table, MemoryTable):
        return None if label is None else table.column(label, "label"), every.scores, ""
    how: dict[str, Any] = {"pos_label": pos_label, "neg_label": negative_labels(neg_label, pos_label)}
    roles = Roles(label, {numbers[0]: numbers[0]}, missing="drop", decimal=decimal, **how)
    known: Any = rows_of(table, roles, False)
    labels = np.full(len(every), np.nan)
    labels[slice(None) if known.source_rows is None else known.source_rows] = known.positive
    return labels, every.scores, "; ".join(known.understood)


def sample_from(
    y_true: Any,
    y_score: Any,
    *,
    label: str | None,
    score: str | None,
    weight: str | None,
    sample_weight: Any,
    pos_label: Any,
    clusters: Any = None,
    batch: Any = None,
    amounts: Mapping[str, Any] = MappingProxyType({}),
    **counts: str | None,
) -> tuple[Sample, Any]:
    """A checked sample from arrays or from columns of a table, and the batch of each row where there are batches.

    ``amounts``: what rows are worth and cost, and by what the list is cut; ``counts``: columns of counts of cases.
    """
    counts = {name: None if column is None else check_column(column, name) for name, column in counts.items()}
    alone = y_score is None and label is None and score is None and weight is None
    is_named = any(counts.values())
    if is_named or (alone and (isinstance(y_true, str | os.PathLike | Mapping) or hasattr(y_true, "columns"))):
        given = {"label": label, "weight": weight, "sample_weight": sample_weight, "pos_label": pos_label, **amounts}
        other = next((name for name, value in (given | {"clusters": clusters}).items() if value is not None), None)
        if other is not None:
            raise InputError(other, "does not go with counts", "leave it out")
        with open_source(y_true, None, Machine(), TextFormat()) as table:
            if not is_named and describe_counts(table) is None:
                raise _NO_SCORES.but()
            columns: dict[str, Any] = {"score": score, "batch": batch, **counts}
            counted = merged([read_counts(table, CountColumns(**columns) if is_named else None)])
            cases = (counted.whole if batch is None else counted).rows("top")
        return make_sample(cases.positive, cases.scores["score"]), cases.batch
    if alone:
        raise _NO_SCORES.but()
    if label is None and score is None and weight is None:
        how = {"pos_label": pos_label, "sample_weight": sample_weight, "clusters": clusters}
        return make_sample(y_true, y_score, **how, **amounts), batch
    if y_score is not None or sample_weight is not None:
        raise InputError(None, "arrays and names of columns are mixed", "pass arrays alone, or name every column")
    for argument, name in (("label", label), ("score", score)):
        if name is None:
            raise InputError(argument, "is missing", "name both columns of the table: {label} and {score}")
    assert score is not None
    named = {"weight": weight, "clusters": clusters, "batch": batch, "pos_label": pos_label}
    names = [name for key, name in amounts.items() if key != "cut_by" and isinstance(name, str)]
    rows = read_columns(y_true, label, [score, *names], **named)
    how = {"sample_weight": rows.weight, "clusters": rows.clusters}
    how |= {key: rows.scores.get(value, value) if isinstance(value, str) else value for key, value in amounts.items()}
    return make_sample(rows.positive, rows.scores[score], **how), rows.batch

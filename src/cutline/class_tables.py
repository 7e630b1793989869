"""Tables of several classes -> ClassEvaluation and ClassComparison: files, queries and DuckDB relations."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from .class_comparison import ClassComparison, compare_classes
from .class_evaluation import CLASS_INTERVAL, ClassEvaluation, evaluate_classes
from .errors import InputError
from .sources.class_tables import find_class_columns, read_classes, read_long_classes, read_models
from .sources.doors import open_source
from .sources.duckdb import DuckTable, Machine, machine_of
from .sources.files import TextFormat
from .types import ClassIntervalName, ClassMeasureLike, Missing, TableSource
from .validate import COLUMNS, check_column, check_columns, checked


@checked(interval=CLASS_INTERVAL, **COLUMNS, score=check_columns, predicted=check_column)
def evaluate_classes_table(
    source: TableSource,
    *,
    label: str,
    score: str | Sequence[str] | None = None,
    predicted: str | None = None,
    case: str | None = None,
    class_column: str | None = None,
    classes: Sequence[Any] | None = None,
    ordered: bool = False,
    weight: str | None = None,
    clusters: str | None = None,
    query: str | None = None,
    name: str = "model",
    measures: Sequence[ClassMeasureLike] | None = None,
    interval: ClassIntervalName | None = "auto",
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    missing: Missing = "error",
    delimiter: str | None = None,
    quote: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> ClassEvaluation:
    """Evaluate several classes in a table: a file or many, a DuckDB relation, or a connection with a ``query``.

    ``label`` names the column of the real class. There is a score column for each class, named after it (``VF``),
    perhaps with a common prefix or suffix (``p_VF``); ``score`` is a pattern (``"p_*"``) or a list of columns, and can
    be left out if only one set of columns qualifies. ``predicted`` names a column of predicted classes. With ``case``
    and ``class_column`` the table has a row for each case and class, and ``score`` is one column. ``classes`` gives the
    order of the classes; by default it is that of the columns. ``weight`` and ``clusters`` name columns, too.

    The columns are read about a hundred at a time into the score matrix, which must fit in memory. ``missing="drop"``
    leaves incomplete rows out: ``ev.facts["dropped"]`` says how many.

    >>> import duckdb
    >>> rows = "('a', 0.7, 0.2, 0.1), ('b', 0.3, 0.6, 0.1), ('c', 0.1, 0.2, 0.7), ('c', 0.5, 0.2, 0.3)"
    >>> table = duckdb.sql(f"SELECT * FROM (VALUES {rows}) t(real, p_a, p_b, p_c)")
    >>> evaluate_classes_table(table, label="real", score="p_*", interval=None)["accuracy"].value
    0.75
    """
    machine, text = machine_of(memory_limit, threads, temp_directory), TextFormat(delimiter, quote, decimal, encoding)
    with _opened(source, query, machine, text) as table:
        given: dict[str, Any] = {"weight": weight, "clusters": clusters, "missing": missing, "decimal": decimal}
        if case is not None or class_column is not None:
            if case is None or class_column is None or not isinstance(score, str) or predicted is not None:
                said = "a table with a row for each case and class needs four columns"
                raise InputError(None, said, "name {case}, {class_column}, {label} and one {score}")
            rows = read_long_classes(table, label=label, score=score, case=case, class_column=class_column, **given)
        else:
            taken = [column for column in (weight, clusters) if column is not None]
            chosen = find_class_columns(table, label, score, predicted, taken)
            if chosen is None:
                said = (
                    f"{table.name} has no score column for each class in {label!r}, and no column of predicted classes"
                )
                raise InputError(
                    None, said, "name them with {score} or {predicted}; for two classes use evaluate_table()"
                )
            rows = read_classes(table, chosen, **given)
        rows = rows.in_the_order(classes, ordered=ordered)
    ev = evaluate_classes(
        rows.labels,
        **rows.arguments,
        ordered=ordered,
        name=name,
        measures=measures,
        interval=interval,
        level=level,
        n_resamples=n_resamples,
        seed=seed,
        progress=progress,
    )
    return replace(ev, dropped=rows.dropped)


@checked(interval=CLASS_INTERVAL, **COLUMNS)
def compare_classes_table(
    source: TableSource,
    *,
    label: str,
    scores: Sequence[str] | Mapping[str, str] = (),
    predicted: Sequence[str] | Mapping[str, str] = (),
    classes: Sequence[Any] | None = None,
    ordered: bool = False,
    weight: str | None = None,
    clusters: str | None = None,
    query: str | None = None,
    measures: Sequence[ClassMeasureLike] | None = None,
    interval: ClassIntervalName | None = "auto",
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    margin: float | None = None,
    missing: Missing = "error",
    delimiter: str | None = None,
    quote: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> ClassComparison:
    """Compare models of several classes in one table; sources and options as for :func:`evaluate_classes_table`.

    ``scores``: a pattern for the score columns of each model (``["a_*", "b_*"]``), or a mapping from model to pattern.
    ``predicted``: columns of predicted classes, or a mapping from models to them. A row counts if it has all of these.

    >>> import duckdb
    >>> rows = "('a', 'a', 'b'), ('b', 'b', 'b'), ('c', 'c', 'b'), ('c', 'a', 'c')"
    >>> table = duckdb.sql(f"SELECT * FROM (VALUES {rows}) t(real, first, second)")
    >>> compare_classes_table(table, label="real", predicted=["first", "second"], interval=None).best("accuracy")
    'first'
    """
    machine, text = machine_of(memory_limit, threads, temp_directory), TextFormat(delimiter, quote, decimal, encoding)
    with _opened(source, query, machine, text) as table:
        given: dict[str, Any] = {"weight": weight, "clusters": clusters, "missing": missing, "decimal": decimal}
        rows, models = read_models(table, label, scores, predicted, classes, ordered=ordered, **given)
    comparison = compare_classes(
        rows.labels,
        models,
        classes=rows.classes,
        ordered=ordered,
        sample_weight=rows.weight,
        clusters=rows.clusters,
        measures=measures,
        interval=interval,
        level=level,
        n_resamples=n_resamples,
        seed=seed,
        margin=margin,
        progress=progress,
    )
    known = {name: replace(ev, dropped=rows.dropped) for name, ev in comparison.evaluations.items()}
    return replace(comparison, evaluations=known)


@contextmanager
def _opened(source: TableSource, query: str | None, machine: Machine, text: TextFormat) -> Iterator[DuckTable]:
    """The source through DuckDB; a frame hands its columns to the functions on arrays, and a cluster its rows."""
    with open_source(source, query, machine, text) as table:
        if not isinstance(table, DuckTable):
            remedy = "pass its columns to evaluate_classes() or compare_classes(), after toPandas() on a cluster"
            raise InputError("source", "is not a file, a query or a DuckDB relation", remedy)
        yield table

"""A table with several classes: which columns hold the scores of which class, in wide and in long form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..class_names import columns_by_class
from ..errors import InputError, listed, show
from .columns import label_values, matching, profiles

if TYPE_CHECKING:
    from .duckdb import DuckTable

MOST_CLASSES = 2000


@dataclass(frozen=True)
class ClassColumns:
    """The label, a score column for each class (or the column of predicted classes), and how they were found."""

    label: str
    scores: tuple[str, ...]
    classes: tuple[str, ...]
    predicted: str | None
    found_by: str


def find_class_columns(
    table: DuckTable, label: str | None, score: str | None, predicted: str | None, taken: Sequence[str] = ()
) -> ClassColumns | None:
    """The columns of several classes, where the file has them; ``None`` where it is about two.

    Score columns are called as the labels are (VF, F, M, L), or so with one beginning or ending in common (p_VF), which
    a pattern such as ``p_*`` names. Nothing is taken that could be meant otherwise.
    """
    names = [column.name for column in table.columns if column.name not in taken]
    possible = [label] if label is not None else _label_columns(table, [n for n in names if n != predicted])
    found = []
    for one in possible:
        table.column(one, "label")
        labels = [str(value) for value in label_values(table, one, MOST_CLASSES + 1) if value is not None]
        if len(labels) > MOST_CLASSES:
            continue
        chosen = _of_label(table, one, labels, score, predicted, [n for n in names if n != one])
        if chosen is not None:
            found.append(chosen)
    if len(found) > 1:
        said = f"{table.name}: several columns could be the label: {listed([one.label for one in found])}"
        raise InputError(None, said, "say which with {label}")
    return found[0] if found else None


def _of_label(
    table: DuckTable, label: str, labels: Sequence[str], score: str | None, predicted: str | None, names: Sequence[str]
) -> ClassColumns | None:
    columns = [n for n in matching(table, score) if n != label] if score is not None else list(names)
    if score is not None and len(columns) < 2:
        return None
    if len(labels) <= 2 and score is None and predicted is None:
        return None
    wide = columns_by_class(columns, labels, all_of_them=score is not None)
    if wide is not None:
        return ClassColumns(label, *wide, predicted, "columns named after the classes")
    if score is not None:
        said = f"the columns {listed(columns)} are not called as the classes in {show(label)}, {listed(labels)}"
        remedy = "name score columns after their classes, with one common beginning or ending"
        raise InputError(None, f"{table.name}: {said}", remedy)
    if predicted is not None:
        return ClassColumns(label, (), tuple(labels), predicted, "predicted classes")
    return None


def _label_columns(table: DuckTable, names: Sequence[str]) -> list[str]:
    """Columns that could hold several classes: more than two values, and fewer than rows."""
    found = profiles(table, list(names))
    return [p.name for p in found if 3 <= p.distinct <= MOST_CLASSES and not (p.is_number and not p.whole)]


def pivot_long(
    case: NDArray[Any], kind: NDArray[Any], score: NDArray[np.float64], label: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.float64], list[str]]:
    """Labels, a score matrix and its classes from rows of one case and one class each."""
    cases, row = np.unique(case, return_inverse=True)
    classes, column = np.unique(kind, return_inverse=True)
    matrix = np.full((len(cases), len(classes)), np.nan)
    matrix[row, column] = score
    if len(score) != matrix.size or np.isnan(matrix).any():
        at = np.argwhere(np.isnan(matrix))
        if len(at):
            said = f"has no row for class {show(classes[at[0][1]])} of case {show(cases[at[0][0]])}"
        else:
            said = "holds a case and class twice"
        raise InputError("class_column", said, "give each case one row for each class")
    labels = np.empty(len(cases), dtype=object)
    labels[row] = label
    changed = labels[row] != label
    if changed.any():
        first = int(np.argmax(changed))
        raise InputError("y_true", f"differs between the rows of case {show(case[first])}", "give each case one label")
    return labels, matrix, [str(name) for name in classes]

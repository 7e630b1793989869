"""A table with several classes: which columns are the scores of which class, as a matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..class_sample import SUM_TOLERANCE, are_numbers, class_affixes, columns_by_class, sorted_texts, unordered
from ..errors import InputError, listed, show
from ..validate import check_column, check_columns, check_list
from . import rules
from .arrays import as_column, read_numbers
from .frames import MemoryTable, lacking_cells, lacking_rows, taken_cells
from .profiles import matching, profiles

if TYPE_CHECKING:
    from .duckdb import DuckTable

NamedColumns = tuple[tuple[str, ...], tuple[str, ...]]  # columns, and the class of each

_CELLS_AT_ONCE = 15_000_000  # of numbers that are on their way into a matrix: 120 MB beside the matrix itself
MOST_CLASSES = 2000  # chosen by hand: a label with more values is rather a name or a number of the case


def rows_with(table: DuckTable | MemoryTable, texts: Sequence[str], numbers: Sequence[str]) -> NDArray[np.intp]:
    """The rows that lack nothing in some columns."""
    gone = lacking_rows(chain(table.read(texts, "label"), table.read(numbers, "score")))
    if gone.all():
        raise rules.no_rows(table.name, complete=True)
    return np.flatnonzero(~gone)


def read_texts(table: DuckTable | MemoryTable, column: str, kept: NDArray[np.intp] | None = None) -> list[str]:
    """A column as text, as classes are named; of all rows, or of those that are kept."""
    (cells,) = table.read([column], "label")
    cells = cells if kept is None else taken_cells(cells, kept)
    gone = lacking_cells(cells)
    if gone.any():
        raise table.refuse(rules.missing("y_true", None, table.source_row(int(np.argmax(gone)))), column)
    return [str(cell) for cell in as_column(cells, "y_true").tolist()]


def read_matrix(
    table: DuckTable | MemoryTable,
    columns: Sequence[str],
    decimal: str | None = None,
    kept: NDArray[np.intp] | None = None,
    *,
    gaps: bool = False,
) -> NDArray[np.float64]:
    """Columns of numbers, side by side; of all rows, or of those that are kept. With ``gaps`` missing ones are nan."""
    for name in columns:
        table.column(name, "score")  # an error before anything is read
    matrix = None
    several = max(20, _CELLS_AT_ONCE // max(table.count_rows(), 1)) if len(columns) > 20 else len(columns)
    parts = (columns[first : first + several] for first in range(0, len(columns), several))
    read = (cells for part in parts for cells in table.read(part, "score"))
    for k, (name, cells) in enumerate(zip(columns, read, strict=True)):
        cells = cells if kept is None else taken_cells(cells, kept)
        there = np.flatnonzero(~lacking_cells(cells)) if gaps else None
        try:
            numbers = read_numbers(cells if there is None else taken_cells(cells, there), "y_score", decimal)[0]
        except InputError as error:
            if isinstance(error.row, int):
                error.row = table.source_row(error.row if kept is None else int(kept[error.row]))
            raise table.refuse(error, name) from None
        if matrix is None:
            matrix = np.full((len(cells), len(columns)), np.nan)
        matrix[slice(None) if there is None else there, k] = numbers
    assert matrix is not None
    return matrix


@dataclass(frozen=True)
class ClassColumns:
    """The label, a score column for each class (or the column of predicted classes), and how they were found."""

    label: str
    scores: tuple[str, ...]
    classes: tuple[str, ...]
    predicted: str | None
    found_by: str
    models: tuple[str, ...] = ()  # the patterns of several models, all of whose columns are the scores


def find_class_columns(
    table: DuckTable | MemoryTable,
    label: str | None,
    score: str | Sequence[str] | None,
    predicted: str | None,
    taken: Sequence[str] = (),
    *,
    several: bool = False,
) -> ClassColumns | None:
    """The columns of several classes, where the file has them; ``None`` where it is about two.

    Score columns are called as the labels are (VF, F, M, L), or so with one beginning or ending in common (p_VF), which
    a pattern such as ``p_*`` names. Nothing is taken that could be meant otherwise: ``several`` models are an error
    where that is not true.
    """
    names = [name for name in table.names if name not in taken]
    possible = [] if label is None else [label]
    if label is None and not isinstance(table, MemoryTable):  # more than two values, and fewer than rows
        columns = profiles(table, [name for name in names if name != predicted])
        few = [p for p in columns if 3 <= p.distinct <= MOST_CLASSES]
        possible = [p.name for p in few if p.whole or not p.is_number]
    found: list[ClassColumns] = []
    refused: dict[str, InputError] = {}
    for one in possible:
        table.column(one, "label")
        labels = [str(value) for value in table.values_of(one, MOST_CLASSES + 1) if value is not None]
        if len(labels) > MOST_CLASSES:
            continue
        try:
            chosen = _of_label(table, one, labels, score, predicted, [n for n in names if n != one])
        except InputError as error:
            refused[one] = error
            continue
        if chosen is not None:
            found.append(chosen)
    found = [one for one in found if not one.models] or found
    alike = [one.label for one in found] or list(refused)
    if len(alike) > 1:
        problem = f"{table.name}: several columns could be the label: {listed(alike)}"
        raise InputError(None, problem, "choose one with {label}")
    if not found and refused:
        raise refused[alike[0]]
    if found and found[0].models and not several:
        models = found[0].models
        said = f"{table.name}: several columns have scores of each class in {show(alike[0])}: {listed(models)}"
        raise InputError(None, said, f"choose one with {{score={show(models[0])}}}, or compare them")
    return found[0] if found else None


def _of_label(
    table: DuckTable | MemoryTable,
    label: str,
    labels: Sequence[str],
    score: str | Sequence[str] | None,
    predicted: str | None,
    names: Sequence[str],
) -> ClassColumns | None:
    if isinstance(score, str):
        columns = [n for n in matching(table, score) if n != label]
    else:
        columns = [n for n in names if n != predicted] if score is None else list(score)
    if score is not None and len(columns) < 2:
        return None
    if len(labels) <= 2 and score is None and predicted is None:
        return None
    wide = columns_by_class(columns, labels, all_of_them=score is not None)
    if wide is not None and score is None:
        wide = _with_absent_classes(table, wide, columns_by_class(columns, labels, all_of_them=True))
    if wide is not None:
        return ClassColumns(label, *wide, predicted, "columns named after the classes")
    if score is not None:
        said = f"the columns {listed(columns)} are not called as the classes in {show(label)}, {listed(labels)}"
        remedy = "name score columns after their classes, with one common beginning or ending"
        raise InputError(None, f"{table.name}: {said}", remedy)
    if predicted is not None:
        return ClassColumns(label, (), tuple(labels), predicted, "predicted classes")
    models = tuple(f"{before}*{after}" for before, after in class_affixes(columns, labels))
    scores = tuple(dict.fromkeys(name for model in models for name in matching(table, model) if name in columns))
    how = f"columns of {len(models)} models named after the classes"
    return ClassColumns(label, scores, tuple(labels), None, how, models) if models else None


def _with_absent_classes(
    table: DuckTable | MemoryTable, found: NamedColumns, alike: NamedColumns | None
) -> NamedColumns:
    """The columns of the labels that occur, and those of classes without a case, which a model may predict as well.

    ``alike`` are those that could be meant. They are classes if they fill up each row to a sum of 1.
    """
    classes = dict(zip(*alike, strict=True)) if alike is not None else {}
    more = {}
    for column in set(classes) - set(found[0]):
        try:
            cells = read_matrix(table, [column], gaps=True)[:, 0]
        except InputError:  # a column of words
            continue
        if np.all((cells >= 0.0) & (cells <= 1.0)):
            more[column] = cells
    if not more:
        return found
    open_share = 1.0 - read_matrix(table, found[0], gaps=True).sum(axis=1)
    filled = np.allclose(sum(more.values()), open_share, rtol=0.0, atol=SUM_TOLERANCE)
    if not filled or np.allclose(open_share, 0.0, rtol=0.0, atol=SUM_TOLERANCE):
        return found
    columns = tuple(column for column in classes if column in more or column in found[0])
    return columns, tuple(classes[column] for column in columns)


def models_of_classes(
    table: DuckTable | MemoryTable,
    label: str,
    scores: Sequence[str] | Mapping[str, Any],
    predicted: Sequence[str] | Mapping[str, str],
    taken: Sequence[str],
) -> dict[str, ClassColumns]:
    """The columns of several models, each with a score for each class or with predicted classes."""
    models = {}
    for model, pattern in _by_model(scores, "score").items():
        chosen = find_class_columns(table, label, pattern, None, taken)
        if chosen is None:
            raise InputError("score", f"{show(pattern)} names no score column for each class", "write a pattern: 'p_*'")
        models[model] = chosen
    said = _by_model(predicted, "predicted")
    return models | {model: ClassColumns(label, (), (), column, "") for model, column in said.items()}


def _by_model(columns: Sequence[str] | Mapping[str, Any], argument: str) -> dict[str, Any]:
    """Models and their columns; a pattern without its star names the model."""
    if isinstance(columns, Mapping):
        return {str(model): check_columns(column, argument) for model, column in columns.items()}
    if not columns and isinstance(columns, list | tuple):
        return {}
    named = [check_column(one, argument) for one in check_list(columns, argument)]
    return {one.replace("*", "").strip("_.- ") or one: one for one in named}


def read_classes(
    table: DuckTable | MemoryTable,
    models: Mapping[str, ClassColumns],
    classes: Sequence[Any] | None,
    *,
    ordered: bool,
    weight: str | None,
    clusters: str | None,
    by: Sequence[str],
    missing: str,
    decimal: str | None,
) -> tuple[dict[str, Any], dict[str, tuple[NDArray[np.float64] | None, list[str] | None]]]:
    """What the rows of all models share, by its argument, and each model's scores and predicted classes.

    Classes have the order that is named, else that of the columns. ``ordered`` needs one, unless labels are numbers.
    """
    label = next(iter(models.values())).label
    said = [one.predicted for one in models.values() if one.predicted is not None]
    texts = {label: "label", **dict.fromkeys(said, "predicted class"), **dict.fromkeys(by, "segment")}
    texts |= {} if clusters is None else {clusters: "cluster"}
    for name, role in (texts | ({} if weight is None else {weight: "weight"})).items():
        table.column(name, role)
    numbers = [*(name for one in models.values() for name in one.scores), *([weight] if weight else [])]
    if not isinstance(table, MemoryTable):
        table.hold(list(texts), numbers)
    kept = rows_with(table, list(texts), numbers) if missing == "drop" else None
    read = {name: read_texts(table, name, kept) for name in texts}
    scored = [one for one in models.values() if one.scores]
    known = (
        list(scored[0].classes) if scored else sorted_texts([*read[label], *(c for name in said for c in read[name])])
    )
    if classes is None and ordered and not scored and not are_numbers(read[label]):
        raise unordered(known)
    names = known if classes is None else [str(name) for name in classes]
    if scored and len(models) == 1 and sorted(names) != sorted(known):
        problem = f"names {listed(names, 6)}, but the classes with scores are {listed(known, 6)}"
        raise InputError("classes", problem, "name each class once")
    found: dict[str, tuple[NDArray[np.float64] | None, list[str] | None]] = {}
    for model, one in models.items():
        if one.scores and set(one.classes) != set(names):
            problem = f"of {show(model)} is for {listed(one.classes, 6)}, not for {listed(names, 6)}"
            raise InputError("score", problem, "give each model the same classes")
        matrix = read_matrix(table, one.scores, decimal, kept) if one.scores else None
        matrix = None if matrix is None else matrix[:, [one.classes.index(name) for name in names]]
        found[model] = matrix, None if one.predicted is None else read[one.predicted]
    shared = {
        "labels": read[label],
        "classes": names,
        "sample_weight": None if weight is None else read_matrix(table, [weight], decimal, kept)[:, 0],
        "clusters": None if clusters is None else read[clusters],
        "by": {name: read[name] for name in by} or None,
        "dropped": 0 if kept is None else table.count_rows() - len(kept),
    }
    return shared, found

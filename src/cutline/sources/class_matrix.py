"""A table with several classes: which columns are the scores of which class, in wide and in long form, as a matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..class_sample import are_numbers, class_affixes, columns_by_class, sorted_texts, unordered
from ..errors import InputError, listed, show
from ..validate import check_column, check_columns, check_list
from . import rules
from .arrays import as_column, read_numbers
from .frames import MemoryTable, lacking_cells, lacking_rows, taken_cells
from .profiles import matching, profiles

if TYPE_CHECKING:
    from .duckdb import DuckTable


_CELLS_AT_ONCE = 15_000_000  # of numbers that are on their way into a matrix: 120 MB beside the matrix itself
MOST_CLASSES = 2000  # chosen by hand: a label with more values is rather a name or a number of the case


def rows_with(table: DuckTable | MemoryTable, texts: Sequence[str], numbers: Sequence[str]) -> NDArray[np.intp]:
    """The rows that lack nothing in some columns."""
    gone = lacking_rows(chain(table.read(texts, "label"), table.read(numbers, "score")))
    if gone.all():
        raise rules.all_missing(table.name)
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


@dataclass(frozen=True, eq=False)
class ClassRows:
    """The rows of a table of several classes; ``matrix`` or ``predicted`` may be missing, not both."""

    labels: list[str]
    matrix: NDArray[np.float64] | None
    predicted: list[str] | None
    classes: list[str]
    weight: NDArray[np.float64] | None
    clusters: list[str] | None
    dropped: int
    segments: Mapping[str, list[str]] | None = None
    in_order: bool = True

    @property
    def arguments(self) -> dict[str, Any]:
        """What ``evaluate`` takes of them beside labels and scores."""
        return {
            "predicted": self.predicted,
            "classes": self.classes,
            "sample_weight": self.weight,
            "clusters": self.clusters,
            "by": self.segments,
        }

    def in_the_order(self, classes: Sequence[Any] | None, *, ordered: bool) -> ClassRows:
        """With the classes in the order that was named; ``ordered`` needs one, unless columns or numbers give it."""
        if classes is None:
            if ordered and not self.in_order:
                raise unordered(self.classes)
            return self
        names = [str(name) for name in classes]
        if self.matrix is None:
            return replace(self, classes=names, in_order=True)
        if sorted(names) != sorted(self.classes):
            said = f"names {listed(names, 6)}, but the classes with scores are {listed(self.classes, 6)}"
            raise InputError("classes", said, "name each class once")
        return replace(self, classes=names, matrix=self.matrix[:, [self.classes.index(name) for name in names]])


def find_class_columns(
    table: DuckTable | MemoryTable,
    label: str | None,
    score: str | Sequence[str] | None,
    predicted: str | None,
    taken: Sequence[str] = (),
) -> ClassColumns | None:
    """The columns of several classes, where the file has them; ``None`` where it is about two.

    Score columns are called as the labels are (VF, F, M, L), or so with one beginning or ending in common (p_VF), which
    a pattern such as ``p_*`` names. Without them, a column that contains the same classes as the label is the predicted
    class. Nothing is taken that could be meant otherwise.
    """
    names = [name for name in table.names if name not in taken]
    possible = [label] if label is not None else _label_columns(table, [n for n in names if n != predicted])
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
        # columns of a frame are named; in a file, one whose values are classes of the label can only be predicted
        alone = label is not None and score is None and predicted is None and len(labels) > 2
        if chosen is None and alone and not isinstance(table, MemoryTable):
            others, most = profiles(table, [n for n in names if n != one]), len(labels)
            few = [p.name for p in others if 2 <= p.distinct <= 2 * most and not p.is_index]
            values = {name: {str(v) for v in table.values_of(name, most + 1) if v is not None} for name in few}
            alike = [name for name in few if len(values[name]) > 1 and values[name] <= set(labels)]
            if len(alike) > 1:
                problem = f"{table.name}: several columns could be the predicted class: {listed(alike)}"
                raise InputError(None, problem, "choose one with {predicted}")
            if alike:
                chosen = ClassColumns(one, (), tuple(labels), alike[0], f"predicted classes in {alike[0]!r}")
        if chosen is not None:
            found.append(chosen)
    several = [one.label for one in found] or list(refused)
    if len(several) > 1:
        problem = f"{table.name}: several columns could be the label: {listed(several)}"
        raise InputError(None, problem, "choose one with {label}")
    if not found and refused:
        raise refused[several[0]]
    return found[0] if found else None


def find_class_models(table: DuckTable | MemoryTable, label: str | None) -> tuple[ClassColumns, tuple[str, ...]] | None:
    """The columns of several models with a score for each class (lda_A … lda_Z, trees_A …), and a pattern for each."""
    names = table.names
    for one in [label] if label is not None else _label_columns(table, names):
        labels = [str(value) for value in table.values_of(one, MOST_CLASSES + 1) if value is not None]
        if not 2 < len(labels) <= MOST_CLASSES:
            continue
        affixes = [ends for ends in class_affixes([n for n in names if n != one], labels) if any(ends)]
        columns = tuple(f"{before}{kind}{after}" for before, after in affixes for kind in labels)
        if len(affixes) > 1:
            patterns = tuple(f"{before}*{after}" for before, after in affixes)
            by = f"{len(affixes)} models with a score column for each class ({listed(patterns)})"
            return ClassColumns(one, columns, tuple(labels), None, by), patterns
    return None


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
    if wide is not None:
        return ClassColumns(label, *wide, predicted, "columns named after the classes")
    if score is not None:
        said = f"the columns {listed(columns)} are not called as the classes in {show(label)}, {listed(labels)}"
        remedy = "name score columns after their classes, with one common beginning or ending"
        raise InputError(None, f"{table.name}: {said}", remedy)
    if predicted is not None:
        return ClassColumns(label, (), tuple(labels), predicted, "predicted classes")
    models = [f"{before}*{after}" for before, after in class_affixes(columns, labels)]
    if models:
        said = f"{table.name}: several columns have scores of each class in {show(label)}: {listed(models)}"
        raise InputError(None, said, "choose one with {score}, or compare them")
    return None


def _shared(
    table: DuckTable | MemoryTable,
    texts: Mapping[str | None, str],
    numbers: Sequence[str],
    *,
    weight: str | None = None,
    clusters: str | None = None,
    by: Sequence[str] = (),
    missing: str = "error",
    decimal: str | None = None,
) -> tuple[Any, tuple[NDArray[np.float64] | None, list[str] | None, int, dict[str, list[str]] | None]]:
    """The rows to read, None for all of them; the weight and cluster of each, how many lack something, the segments.

    ``texts`` and ``numbers`` are the columns that will be read; the former by what they are there for.
    """
    roles: dict[str | None, str] = {**texts, clusters: "cluster", weight: "weight", **dict.fromkeys(by, "segment")}
    for name, role in roles.items():
        if name is not None:
            table.column(name, role)
    words = [name for name in (*texts, clusters, *by) if name is not None]
    numbers = [*numbers, *([weight] if weight else [])]
    if not isinstance(table, MemoryTable):
        table.hold(words, numbers)
    kept = rows_with(table, words, numbers) if missing == "drop" else None
    return kept, (
        None if weight is None else read_matrix(table, [weight], decimal, kept)[:, 0],
        None if clusters is None else read_texts(table, clusters, kept),
        0 if kept is None else table.count_rows() - len(kept),
        {name: read_texts(table, name, kept) for name in by} or None,
    )


def read_classes(
    table: DuckTable | MemoryTable, chosen: ClassColumns, *, decimal: str | None = None, **how: Any
) -> ClassRows:
    """The rows of a table in memory, some hundred columns at a time."""
    texts = {chosen.label: "label", chosen.predicted: "predicted class"}
    kept, shared = _shared(table, texts, chosen.scores, decimal=decimal, **how)
    labels = read_texts(table, chosen.label, kept)
    predicted = None if chosen.predicted is None else read_texts(table, chosen.predicted, kept)
    classes = list(chosen.classes) if chosen.scores else sorted_texts([*labels, *(predicted or [])])
    matrix = read_matrix(table, chosen.scores, decimal, kept) if chosen.scores else None
    in_order = bool(chosen.scores) or are_numbers(labels)
    return ClassRows(labels, matrix, predicted, classes, *shared, in_order=in_order)


def read_models(
    table: DuckTable | MemoryTable,
    label: str,
    scores: Sequence[str] | Mapping[str, Any],
    predicted: Sequence[str] | Mapping[str, str],
    classes: Sequence[Any] | None,
    *,
    ordered: bool,
    decimal: str | None = None,
    **how: Any,
) -> tuple[ClassRows, dict[str, Any]]:
    """The rows of several models on the same cases: what they share, and each model's scores or predicted classes."""
    patterns, said = _by_model(scores, "score"), _by_model(predicted, "predicted")
    taken = [*(how[role] for role in ("weight", "clusters") if how.get(role) is not None), *how.get("by", ())]
    columns = {}
    for model, pattern in patterns.items():
        chosen = find_class_columns(table, label, pattern, None, taken)
        if chosen is None:
            raise InputError("score", f"{show(pattern)} names no score column for each class", "write a pattern: 'p_*'")
        columns[model] = chosen
    texts: dict[str | None, str] = {label: "label", **dict.fromkeys(said.values(), "predicted class")}
    numbers = [name for chosen in columns.values() for name in chosen.scores]
    kept, shared = _shared(table, texts, numbers, decimal=decimal, **how)
    models: dict[str, Any] = {model: read_texts(table, column, kept) for model, column in said.items()}
    labels = read_texts(table, label, kept)
    known = sorted_texts([*labels, *(one for column in models.values() for one in column)])
    if columns:
        known = list(next(iter(columns.values())).classes)
    rows = ClassRows(labels, None, None, known, *shared, in_order=bool(columns) or are_numbers(labels))
    rows = rows.in_the_order(classes, ordered=ordered)
    for model, chosen in columns.items():
        if set(chosen.classes) != set(rows.classes):
            first = f"has columns for {listed(chosen.classes, 6)}, not for {listed(rows.classes, 6)}"
            raise InputError("score", f"{show(patterns[model])} {first}", "give each model the same classes")
        matrix = read_matrix(table, chosen.scores, decimal, kept)
        models[model] = matrix[:, [chosen.classes.index(name) for name in rows.classes]]
    return rows, models


def _by_model(columns: Sequence[str] | Mapping[str, Any], argument: str) -> dict[str, Any]:
    """Models and their columns; a pattern without its star names the model."""
    if isinstance(columns, Mapping):
        return {str(model): check_columns(column, argument) for model, column in columns.items()}
    if not columns and isinstance(columns, list | tuple):
        return {}
    named = [check_column(one, argument) for one in check_list(columns, argument)]
    return {one.replace("*", "").strip("_.- ") or one: one for one in named}


def read_long_classes(
    table: DuckTable | MemoryTable,
    *,
    label: str,
    score: str,
    case: str,
    class_column: str,
    decimal: str | None = None,
    **how: Any,
) -> ClassRows:
    """The rows of a table with a row for each case and class."""
    texts: dict[str | None, str] = {case: "case", class_column: "class", label: "label"}
    kept, (weight, clusters, dropped, _) = _shared(table, texts, [score], decimal=decimal, **how)
    cases, kinds, labels = (np.array(read_texts(table, name, kept), object) for name in (case, class_column, label))
    scores = read_matrix(table, [score], decimal, kept)[:, 0]
    distinct, row = np.unique(cases, return_inverse=True)
    classes = sorted_texts(kinds.tolist())
    place = {name: k for k, name in enumerate(classes)}
    matrix = np.full((len(distinct), len(classes)), np.nan)
    matrix[row, np.fromiter((place[name] for name in kinds), np.intp, len(kinds))] = scores
    empty = np.argwhere(np.isnan(matrix))
    if len(scores) != matrix.size or len(empty):
        problem = "contains a case and class twice"
        if len(empty):
            problem = f"has no row for class {show(classes[empty[0][1]])} of case {show(distinct[empty[0][0]])}"
        raise InputError("class_column", problem, "give each case one row for each class")
    of_rows = {"y_true": labels, "sample_weight": weight}
    of_rows["clusters"] = None if clusters is None else np.array(clusters, object)
    of_cases: dict[str, Any] = {}
    for argument, values in of_rows.items():
        if values is None:
            continue
        of_cases[argument] = np.empty(len(distinct), dtype=values.dtype)
        of_cases[argument][row] = values
        differs = of_cases[argument][row] != values
        if differs.any():
            problem = f"differs between the rows of case {show(cases[int(np.argmax(differs))])}"
            raise InputError(argument, problem, "give each case one value")
    clusters = None if clusters is None else of_cases["clusters"].tolist()
    shared = (of_cases.get("sample_weight"), clusters, dropped)
    return ClassRows(of_cases["y_true"].tolist(), matrix, None, classes, *shared, in_order=are_numbers(classes))


def _label_columns(table: DuckTable | MemoryTable, names: Sequence[str]) -> list[str]:
    """Columns that could contain several classes: more than two values, and fewer than rows."""
    found = [] if isinstance(table, MemoryTable) else profiles(table, list(names))
    return [p.name for p in found if 3 <= p.distinct <= MOST_CLASSES and not (p.is_number and not p.whole)]

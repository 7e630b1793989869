"""What a user hands over, checked once and turned into a task: scores or embeddings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, listed, show
from ..sources.rules import is_missing
from ..types import Floats, Labels
from .favorability import row_blocks
from .tasks import Indices, KeptScores, Note, ScoreTask, Ties, middle_and_spread

# Up to this many scores (80 MB) all are kept for the methods on scores; beyond, the best of every case. A tail is a
# tenth of the competitors, so 200 of them serve up to 2,000 classes as all would.
LARGEST_KEPT = 10_000_000
BEST_KEPT = 200
# Middle and spread of a longer row are found from so many of its scores: to about 2% of the spread.
_ENOUGH_COLUMNS = 2000
_LARGEST = 1e150  # squares of larger numbers overflow
_PROBABILITY_TOTALS = (1.0, 100.0)  # also in per cent; other sums of rows are votes and the like
_OF_PROBABILITIES = (
    "Every row of scores sums to {:g}, so these are probabilities, and a class that is added would lower all others. "
    "Score-based methods use their logarithms instead, which differ from a network's logits by a constant per row; "
    "ranks do not change."
)
_OF_VOTES = (
    "Every row of scores sums to {:g}, as votes do. A class that is added would take some from the others, so smaller "
    "tasks look easier than they were, and the interval does not allow for that."
)


def from_scores(
    scores: Any,
    labels: Any = None,
    *,
    classes: Any = None,
    distance: bool = False,
    candidates: bool = False,
    **how: Any,
) -> ScoreTask:
    """A matrix of test cases × classes and the true class of every case.

    With ``candidates`` a row is a candidate list: a score that is missing (nan) is below all that are there.
    A class may have several columns (``classes`` then repeats its name). The rest is for :func:`_compare`.
    """
    matrix = number_matrix(scores, "scores")
    n_cases, n_columns = matrix.shape
    if n_columns < 2:
        raise InputError("scores", f"has {n_columns} column(s)", "a task needs at least two classes, one column each")
    if n_cases < 1:
        raise InputError("scores", "has no rows", "give at least one test case")
    given = None if labels is None else _column(labels, "labels", n_cases, "cases", "give one per case")
    if classes is None and given is not None:
        # The columns of a frame are named after the classes, where every label is among them, if only as text.
        names = getattr(scores, "column_names", getattr(scores, "columns", None))
        as_text = {str(value): value for value in given.tolist()}
        by_name = [as_text.get(str(name), name) for name in names] if names is not None else []
        classes = by_name if names is not None and set(as_text.values()) <= set(by_name) else None
    total, smallest = _shared_total(matrix, distance)
    probable = total in _PROBABILITY_TOTALS
    hints: list[Note] = []
    if total is not None:
        # Scores that share a fixed sum are not marginal: another class would lower them all.
        hints.append(Note("probabilities", (_OF_PROBABILITIES if probable else _OF_VOTES).format(total)))

    def blocks() -> Iterator[tuple[slice, Floats]]:
        decisions, chosen = n_columns > 2, False
        for rows in row_blocks(n_cases, n_columns):
            block = np.asarray(matrix[rows], dtype=np.float64)
            bad = np.isnan(block)
            if candidates:
                block = np.where(bad, np.inf if distance else -np.inf, block)
            elif bad.any():
                row, column = (int(place) for place in np.argwhere(bad)[0])
                message = f"has a missing value (nan) in column {column}"
                remedy = "drop the case, or pass {candidates=True} if missing means too low to be listed"
                raise InputError("scores", message, remedy, row=rows.start + row)
            if probable:
                # A share rounded to 0 is taken as half the smallest that is left.
                block = np.log(np.maximum(1.0 - block if distance else block, smallest / 2.0))
            elif distance:
                block = -block
            top, low = block.max(axis=1, keepdims=True), block.min(axis=1, keepdims=True)
            decisions = decisions and bool(((block == top) | (block == low)).all())
            chosen = chosen or bool((block != block[:, :1]).any())
            yield rows, block
        if decisions and chosen:
            message = "contains decisions: no row has more than two distinct values"
            raise InputError("scores", message, "give the scores behind the decisions")

    matched = _match(given, classes, n_cases, n_columns, "classes")
    return _compare(blocks(), *matched, hints, **how)


def from_embeddings(
    gallery: ArrayLike,
    probes: ArrayLike,
    *,
    gallery_labels: Labels | None = None,
    probe_labels: Labels | None = None,
    metric: str = "euclidean",
    **how: Any,
) -> ScoreTask:
    """Gallery embeddings, one or several per class, and probes to be recognised, compared a block at a time."""
    points = {}
    for name, values in (("gallery", gallery), ("probes", probes)):
        points[name] = np.asarray(number_matrix(values, name), dtype=np.float64)
        bad = ~np.isfinite(points[name]).all(axis=1)
        if metric == "cosine":
            with np.errstate(invalid="ignore"):
                length = np.linalg.norm(points[name], axis=1, keepdims=True)
            bad |= length[:, 0] == 0.0
            points[name] = points[name] / np.where(length > 0.0, length, 1.0)
        if bad.any():
            message = "has a value that is missing or infinite, or no direction"
            raise InputError(name, message, "drop the row or embed it again", row=int(np.argmax(bad)))
    known, asked = points.values()
    if known.shape[1] != asked.shape[1]:
        message = f"has {asked.shape[1]} dimensions against {known.shape[1]} in the gallery"
        raise InputError("probes", message, "embed both by the same model")
    if known.shape[0] < 2:
        raise InputError("gallery", f"has {known.shape[0]} row(s)", "a task needs at least two classes")
    given = None if probe_labels is None else _column(probe_labels, "labels", len(asked), "cases", "give one per case")
    # Distances do not change when all points move; near the origin their squares lose fewer digits.
    centre = known.mean(axis=0)
    moved = known - centre

    def blocks() -> Iterator[tuple[slice, Floats]]:
        for rows in row_blocks(len(asked), len(known)):
            if metric == "cosine":
                yield rows, np.asarray(asked[rows] @ known.T)
                continue
            part = asked[rows] - centre
            squares = -2.0 * (part @ moved.T) + (moved * moved).sum(axis=1) + (part * part).sum(axis=1)[:, None]
            yield rows, -np.sqrt(np.maximum(squares, 0.0))

    matched = _match(given, gallery_labels, len(asked), len(known), "gallery_labels")
    return _compare(blocks(), *matched, [], **how)


def whole_rows(scores: Any, labels: Any, **options: Any) -> tuple[ScoreTask, KeptScores]:
    """The task with every score of every case, or an error that tells which of them has no place on a scale."""
    task = from_scores(scores, labels, **options, keep=10**9)
    if task.scores is None:
        infinite = ~np.isfinite(number_matrix(scores, "scores")).all(axis=1)
        raise InputError("scores", "has an infinite score", "replace ±inf by a number", row=int(np.argmax(infinite)))
    return task, task.scores


def _compare(
    blocks: Iterator[tuple[slice, Floats]],
    columns: Indices,
    case_class: Indices,
    hints: list[Note],
    *,
    ties: Ties = "random",
    groups: Any = None,
    keep: int = LARGEST_KEPT,
) -> ScoreTask:
    """The task from blocks of scores (cases × columns, higher is better): who beat whom, and the scores needed.

    Of several columns of a class the best counts. Up to ``keep`` scores are kept.
    """
    n_classes = n_units = int(columns.max()) + 1
    family = family_numbers(groups, n_classes)
    unit = case_class
    if family is not None:
        n_units, unit = int(family.max()) + 1, family[case_class]
    if n_units < 2:
        raise InputError("groups", "puts all classes into one family", "give at least two families")
    parts: dict[str, list[Any]] = defaultdict(list)
    finite = True
    for cases, block in blocks:
        finite = finite and bool(np.isfinite(block).all())
        rows, own = np.arange(block.shape[0]), unit[cases]
        if n_classes < columns.size:
            order, starts = _by_number(columns)
            block = np.maximum.reduceat(block[:, order], starts, axis=1)
        true = block[rows, case_class[cases]]
        if family is not None:
            # The best class of every family; in its own a case stands for itself, and its siblings for a chance.
            sibling = family[None, :] == own[:, None]
            sibling[rows, case_class[cases]] = False
            level = (sibling & (block == true[:, None])).sum(axis=1)
            chances = {"random": 1.0 / (level + 1.0), "optimistic": np.ones(rows.size), "pessimistic": level == 0}
            beaten_by = (sibling & (block > true[:, None])).sum(axis=1)
            parts["own_family"].append(np.where(beaten_by > 0, 0.0, chances[ties]))
            order, starts = _by_number(family)
            block = np.asarray(np.maximum.reduceat(block[:, order], starts, axis=1))
            block[rows, own] = true
        equal = block == true[:, None]
        equal[rows, own] = False
        parts["beaten"].append(np.packbits(block < true[:, None], axis=1))
        parts["tied"].append(np.packbits(equal, axis=1))
        others = block.copy()  # the block may be a part of the caller's matrix
        others[rows, own] = -np.inf
        middle, spread = middle_and_spread(others[:, :: max(1, n_units // _ENOUGH_COLUMNS)])
        if case_class.size * n_units > keep:
            depth = min(BEST_KEPT, n_units - 1)
            place = np.argpartition(others, n_units - depth, axis=1)[:, n_units - depth :]
            others = np.take_along_axis(others, place, axis=1)
            order = np.argsort(-others, axis=1)
            others = np.take_along_axis(others, order, axis=1)
            parts["best"].append(np.take_along_axis(place, order, axis=1).astype(np.int32))
        for name, values in (("true", true), ("middle", middle), ("spread", spread), ("values", others)):
            parts[name].append(values)

    def joined(name: str) -> Any:
        # Parts are let go, so that a large task is not in memory twice.
        return np.concatenate(parts.pop(name)) if name in parts else None

    if not any(part.any() for part in parts["tied"]):
        del parts["tied"]
    # ±inf has a rank but no place on a scale: the rank methods stay.
    scores = KeptScores(*map(joined, ("values", "true", "middle", "spread", "best"))) if finite else None
    return ScoreTask(
        n_classes=n_units,
        case_class=unit,
        case_share=1.0 / np.bincount(case_class, minlength=n_classes)[case_class],
        beaten_bits=joined("beaten"),
        tied_bits=joined("tied"),
        ties=ties,
        scores=scores,
        own_family=joined("own_family"),
        classes_each=n_classes / n_units,
        hints=tuple(hints),
    )


def _by_number(number: Indices) -> tuple[Indices, Indices]:
    """The order that puts equal numbers (all from 0 up) side by side, and where each of them begins."""
    order = np.argsort(number, kind="stable")
    return order, np.searchsorted(number[order], np.arange(int(number.max()) + 1))


def family_numbers(groups: Any, n_classes: int) -> Indices | None:
    """The family of every class, numbered from 0; None where classes come one by one."""
    if groups is None:
        return None
    number = _numbered(_column(groups, "groups", n_classes, "classes", "give the family of every class, in order"))
    return None if int(number.max()) + 1 == n_classes else number


def _numbered(values: NDArray[Any]) -> Indices:
    return np.unique([str(value) for value in values.tolist()], return_inverse=True)[1].astype(np.intp)


def _array(values: Any, name: str) -> NDArray[Any]:
    """Lists, frames, series, sparse matrices and tensors (also on a graph or a device) as one NumPy array."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    if hasattr(values, "toarray"):
        values = values.toarray()
    try:
        return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    except ValueError:
        raise InputError(name, "has rows of different lengths", "give every row the same number of columns") from None


def number_matrix(values: Any, name: str) -> NDArray[Any]:
    """A table of numbers from whatever contains one."""
    array = _array(values, name)
    if array.ndim != 2:
        raise InputError(name, f"has {array.ndim} dimension(s)", "give a table with two: rows and columns")
    try:
        array = array if array.dtype.kind in "biuf" else _as_floats(array)
    except (TypeError, ValueError, OverflowError):
        remedy = "leave labels and names out of the table"
        raise InputError(name, "contains values that are not numbers", remedy) from None
    for rows in row_blocks(*array.shape) if array.dtype == np.float64 else ():
        huge = np.isfinite(array[rows]) & (np.abs(array[rows]) > _LARGEST)
        if huge.any():
            row = rows.start + int(np.argmax(huge.any(axis=1)))
            raise InputError(name, f"has a number beyond {_LARGEST:g}", "divide all of them by a constant", row=row)
    return array


def _as_floats(array: NDArray[Any]) -> Floats:
    if array.dtype.kind not in "biufOSU":
        raise TypeError("dates and complex numbers have no place on a scale")
    return np.asarray(array, dtype=np.float64)


def _column(values: Any, name: str, n: int, of: str, remedy: str) -> NDArray[Any]:
    """As many labels or names as there are of something, none of them missing."""
    column = _array(values, name).ravel()
    if column.size != n:
        raise InputError(name, f"has {column.size} values for {n} {of}", remedy)
    for row, value in enumerate(column.tolist() if column.dtype.kind not in "biuSU" else ()):
        if isinstance(value, list | tuple | dict | set | np.ndarray):
            raise InputError(name, "contains a list or another collection", "give single values", row=row)
        if not isinstance(value, str) and is_missing(value):
            raise InputError(name, "has a missing value", "give it a value or drop it", row=row)
    return column


def _match(
    labels: NDArray[Any] | None, classes: Any, n_cases: int, n_columns: int, class_name: str
) -> tuple[Indices, Indices]:
    """The class number of every column, and of every case."""
    if labels is None:
        if n_cases != n_columns:
            message = f"is missing for {n_cases} cases and {n_columns} classes"
            raise InputError("labels", message, "without it, case i must belong to class i")
        return np.arange(n_columns), np.arange(n_cases)
    if classes is not None:
        names = _column(classes, class_name, n_columns, "columns", "give one per column, in order").tolist()
    else:
        # Where nobody says the class of each column, the labels may; where that would be a guess, it is an error.
        try:
            distinct = sorted(set(labels.tolist()))
        except TypeError:
            raise InputError("labels", "contains values of different kinds", "give one kind of label") from None
        kind = labels.dtype.kind
        if kind in "iu" and distinct[0] >= 0 and distinct[-1] < n_columns:
            names = list(range(n_columns))
        elif len(distinct) == n_columns and kind in "iufb":
            names = distinct
        elif len(distinct) == n_columns:  # names do not say which column is whose; sorted order would be a guess
            message = f"is missing, and labels are names such as {show(distinct[0])}"
            raise InputError(class_name, message, "name the class of each column, in order")
        else:
            message = f"is missing: labels contain {len(distinct)} distinct values for {n_columns} columns"
            raise InputError(class_name, message, "name the class of each column")
    number: dict[Any, int] = {}
    columns = np.array([number.setdefault(name, len(number)) for name in names], dtype=np.intp)
    cases = np.empty(n_cases, dtype=np.intp)
    for row, value in enumerate(labels.tolist()):
        if value not in number:
            message = f"is {show(value)}, which is none of the {len(number)} classes ({listed(number, 4)})"
            raise InputError("labels", message, "add its column, or drop the case", row=row)
        cases[row] = number[value]
    return columns, cases


def _shared_total(matrix: NDArray[Any], distance: bool) -> tuple[float | None, float]:
    """What every row sums to, and the smallest share above 0; None where a value is negative or the sums differ.

    Probabilities may be rounded, and some rows may lack classes: the middle sum is within 1% of the total and 95% of
    the rows within 5%. Other totals must be exact. Of distances the complements to 1 are looked at.
    """
    sums, smallest = np.empty(matrix.shape[0]), 1.0
    for rows in row_blocks(*matrix.shape):
        block = np.asarray(matrix[rows], dtype=np.float64)
        block = 1.0 - block if distance else block
        if not (block >= 0.0).all():
            return None, smallest
        sums[rows] = block.sum(axis=1)
        smallest = min(smallest, float(np.min(block, where=block > 0.0, initial=1.0)))
    middle = float(np.median(sums))
    for total in _PROBABILITY_TOTALS:
        if abs(middle / total - 1.0) < 0.01 and np.mean(np.abs(sums / total - 1.0) < 0.05) > 0.95:
            return total, smallest
    several = sums.size > 1 and matrix.shape[1] > 2
    alike = several and 0.0 < middle < np.inf and np.ptp(sums) <= 1e-9 * middle
    return (middle if alike else None), smallest


def as_names(names: Any) -> list[str] | None:
    """Names as text; None where they only count from 0, as those that nobody has given."""
    if names is None:
        return None
    texts = [str(name) for name in np.ravel(np.asarray(names, dtype=object)).tolist()]
    return None if texts == [str(number) for number in range(len(texts))] else texts

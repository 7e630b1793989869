"""Labels of several classes with a score matrix or hard predictions -> ClassSample, checked once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .class_names import find_classes
from .errors import InputError, listed, show
from .sources import rules
from .sources.arrays import as_codes, as_column, as_weights
from .types import Labels, Scores

SUM_TOLERANCE = 0.01  # rows of probabilities rounded to two or three decimals pass; independent sigmoids do not


@dataclass(frozen=True, eq=False)
class RowFacts:
    """What one pass over the score matrix tells of each row.

    ``top``: column of the highest score, the first of several; ``place``: how many columns come before the real
    class; ``true``: score of the real class; ``square``: Σ p²; ``cumulative``: squared distance between the cumulative
    distributions; ``highest``: the highest score. ``sums`` holds the lowest and the highest row sum.
    """

    top: NDArray[np.int32]
    place: NDArray[np.int32]
    true: NDArray[np.float64]
    square: NDArray[np.float64]
    cumulative: NDArray[np.float64]
    highest: NDArray[np.float64]
    low: float
    high: float
    sums: tuple[float, float]
    tied: int


@dataclass(frozen=True, eq=False)
class ClassSample:
    """Each row's real class and, where known, its scores for every class and the class predicted; frozen.

    ``code`` and ``predicted`` number the ``classes``. ``matrix`` is ``None`` where only hard predictions are known.
    ``cluster`` numbers rows that are resampled together. ``source_rows`` is set where rows of zero weight were
    left out. ``in_order``: whether the order of the classes was given, or is that of numbers.
    """

    classes: tuple[Any, ...]
    code: NDArray[np.int32]
    predicted: NDArray[np.int32]
    matrix: NDArray[Any] | None = None
    facts: RowFacts | None = None
    weight: NDArray[np.float64] | None = None
    cluster: NDArray[np.int32] | None = None
    own_predictions: bool = False
    source_rows: NDArray[np.intp] | None = None
    in_order: bool = True

    def __len__(self) -> int:
        return len(self.code)

    @property
    def n_classes(self) -> int:
        """Number of classes, those without cases included."""
        return len(self.classes)

    @property
    def are_probabilities(self) -> bool:
        """Whether every row of scores is a distribution over the classes, up to rounding."""
        f = self.facts
        return f is not None and f.low >= 0.0 and f.high <= 1.0 and max(abs(s - 1.0) for s in f.sums) <= SUM_TOLERANCE

    @cached_property
    def row_weight(self) -> NDArray[np.float64]:
        """How many cases each row stands for."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Whether each row's prediction is its class."""
        return np.asarray(self.code == self.predicted)

    @cached_property
    def confidence(self) -> NDArray[np.float64]:
        """The score of each row's predicted class."""
        assert self.matrix is not None
        assert self.facts is not None
        if not self.own_predictions:
            return self.facts.highest
        return self.matrix[np.arange(len(self)), self.predicted].astype(np.float64)

    def first_row(self, offending: NDArray[np.bool_]) -> int:
        """The first offending row, as numbered in the input."""
        row = int(np.argmax(offending))
        return row if self.source_rows is None else int(self.source_rows[row])


def make_class_sample(
    y_true: Any,
    score_matrix: Any = None,
    *,
    y_pred: Any = None,
    classes: Sequence[Any] | None = None,
    sample_weight: Scores | None = None,
    clusters: Labels | None = None,
) -> ClassSample:
    """Check labels, scores, predictions, weights and clusters against each other."""
    if score_matrix is None and y_pred is None:
        raise InputError("score_matrix", "is missing", "pass a score for each case and class, or {y_pred} alone")
    if len(getattr(y_true, "shape", ())) == 2:
        raise InputError(
            "y_true", f"has shape {y_true.shape}, not one column", "pass the class of each case, not a column for each"
        )
    label = as_column(y_true, "y_true")
    matrix = None if score_matrix is None else score_matrix_of(score_matrix)
    said = None if y_pred is None else as_column(y_pred, "y_pred")
    for values, argument in ((matrix, "score_matrix"), (said, "y_pred")):
        if values is not None and len(values) != len(label):
            raise InputError(
                argument, f"has {len(values)} rows, the labels have {len(label)}", "pass a row for each case"
            )
    labels = {"y_true": label} if said is None else {"y_true": label, "y_pred": said}
    found = find_classes(y_true, score_matrix, classes, labels, None if matrix is None else matrix.shape[1])
    names = found.names
    if matrix is not None and found.columns is not None:
        matrix = matrix[:, found.columns]
    if matrix is not None and len(names) != matrix.shape[1]:
        raise InputError(
            "score_matrix",
            f"has {matrix.shape[1]} columns but there are {len(names)} classes",
            "name the class of each column with {classes}",
        )
    names = [name.item() if isinstance(name, np.generic) else name for name in names]
    if unfit := [name for name in names if not isinstance(name, Hashable)]:
        raise InputError("classes", f"holds {show(unfit[0])}, which is not the name of a class")
    if len(set(names)) != len(names):
        raise InputError("classes", "names a class twice", "each column needs a class of its own")
    if len(names) < 2:
        raise InputError("y_true", f"holds a single class, {show(names[0])}", "name the others with {classes}")
    code = codes_of(label, names, "y_true")
    predicted = None if said is None else codes_of(said, names, "y_pred")
    weight = None if sample_weight is None else as_weights(sample_weight, len(label))
    cluster = None if clusters is None else _cluster_codes(clusters, len(label), weight)
    kept = None
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        code, weight = code[kept], weight[kept]
        matrix = None if matrix is None else matrix[kept]
        predicted = None if predicted is None else predicted[kept]
        cluster = None if cluster is None else np.unique(cluster[kept], return_inverse=True)[1].astype(np.int32)
    facts = None if matrix is None else _row_facts(matrix, code, kept)
    if predicted is None:
        assert facts is not None  # one of the two is there
        predicted = facts.top
    return ClassSample(
        tuple(names), code, predicted, matrix, facts, weight, cluster, said is not None, kept, found.in_order
    )


def with_rows(sample: ClassSample, rows: NDArray[Any]) -> ClassSample:
    """The sample of some of the rows."""

    def take(values: NDArray[Any] | None) -> Any:
        return None if values is None else values[rows]

    f = sample.facts
    facts = None
    if f is not None:
        columns = {name: getattr(f, name)[rows] for name in ("top", "place", "true", "square", "cumulative", "highest")}
        facts = replace(f, **columns)
    own = {name: take(getattr(sample, name)) for name in ("code", "predicted", "matrix", "weight", "cluster")}
    source = rows if sample.source_rows is None else sample.source_rows[rows]
    return replace(sample, **own, facts=facts, source_rows=source)


def score_matrix_of(values: Any, argument: str = "score_matrix") -> NDArray[Any]:
    """A table of numbers as a two-dimensional array of floats; float32 stays what it is."""
    if hasattr(values, "toPandas"):
        raise InputError(argument, "is a table on a Spark cluster", "bring its rows here first, with toPandas()")
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    try:
        matrix = np.asarray(values)
        if matrix.ndim == 1 and len(matrix):
            raise InputError(
                argument,
                "is one column, not a column for each class",
                "pass predicted classes as {y_pred}; for the scores of one class use evaluate()",
            )
        if matrix.dtype not in (np.float32, np.float64):
            matrix = matrix.astype(np.float64, casting="same_kind" if matrix.dtype.kind == "c" else "unsafe")
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError):
        raise InputError(argument, "must be a table of numbers", "convert its columns to floats") from None
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(
            argument, f"has shape {matrix.shape}", "pass one row for each case and one column for each class"
        )
    return matrix


def codes_of(label: NDArray[Any], names: Sequence[Any], argument: str) -> NDArray[np.int32]:
    """The number of each label among the class names; a label that is none of them is refused."""
    if label.dtype.kind in "iu" and all(isinstance(name, int | np.integer) for name in names):
        numbers = np.asarray(names)
        order = np.argsort(numbers)
        at = np.minimum(np.searchsorted(numbers[order], label), len(numbers) - 1)
        code = order[at].astype(np.int32)
        strange = numbers[code] != label
        if strange.any():
            raise _refused_label(label, int(np.argmax(strange)), names, argument)
        return np.asarray(code)
    place = {name: k for k, name in enumerate(names)}
    values = label.tolist()
    try:
        return np.fromiter(map(place.__getitem__, values), np.int32, len(values))
    except (KeyError, TypeError):
        row = next(k for k, value in enumerate(values) if not isinstance(value, Hashable) or value not in place)
        raise _refused_label(label, row, names, argument) from None


def _refused_label(label: NDArray[Any], row: int, names: Sequence[Any], argument: str) -> InputError:
    value = label[row]
    if value is None or value != value:
        return rules.missing(argument, value, row)
    return InputError(
        argument,
        f"is {show(value)}, which is not among the classes {listed(names, 6)}",
        "name all classes with {classes}" if argument != "classes" else "",
        row=row,
    )


def _cluster_codes(clusters: Labels | None, rows: int, weight: NDArray[np.float64] | None) -> NDArray[np.int32]:
    codes = as_codes(clusters, "clusters", rows)
    if len(np.unique(codes if weight is None else codes[weight > 0])) < 2:
        raise InputError("clusters", "holds a single cluster", "resampling needs at least two")
    return codes.astype(np.int32)


def _row_facts(matrix: NDArray[Any], code: NDArray[np.int32], kept: NDArray[np.intp] | None) -> RowFacts:
    from .kernels import classes as class_kernels

    n = len(matrix)
    top, place = np.empty(n, np.int32), np.empty(n, np.int32)
    columns = np.empty((4, n))
    extremes = np.array([np.inf, -np.inf, np.inf, -np.inf, 0.0])
    bad = class_kernels.scan_rows(matrix, code, top, place, columns, extremes)
    if bad >= 0:
        column = int(np.argmax(np.isnan(matrix[bad])))
        row = int(bad) if kept is None else int(kept[bad])
        raise InputError("score_matrix", f"is NaN in column {column}", "drop the row or give it a score", row=row)
    low, high, least, most, tied = extremes.tolist()
    true, square, cumulative, highest = columns
    return RowFacts(top, place, true, square, cumulative, highest, low, high, (least, most), int(tied))

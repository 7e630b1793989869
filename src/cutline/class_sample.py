"""Labels of several classes with a score matrix or hard predictions -> ClassSample, checked once.

The second half decides which classes there are, and which column of a score matrix belongs to which of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, different_lengths, listed, show
from .kernels import compiled
from .partition import Partition
from .sources import rules
from .sources.arrays import as_column, as_weights
from .types import Labels, Scores

SUM_TOLERANCE = 0.01  # rows of probabilities rounded to two or three decimals pass; independent sigmoids do not


@dataclass(frozen=True, eq=False)
class RowFacts:
    """What one pass over the score matrix tells of each row.

    ``top``: column of the highest score, the first of several; ``place``: how many columns come before the real
    class; ``true``: score of the real class; ``square``: Σ p²; ``cumulative``: squared distance between the cumulative
    distributions; ``highest``: the highest score. ``sums`` contains the lowest and the highest row sum.
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
    ``cluster`` numbers rows that are resampled together. ``source_rows`` and ``input_rows`` are set where rows of zero
    weight were left out. ``in_order``: whether the order of the classes was given, or is that of numbers.
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
    input_rows: int | None = None

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
    predicted: Any = None,
    classes: Sequence[Any] | None = None,
    sample_weight: Scores | None = None,
    clusters: Labels | None = None,
) -> ClassSample:
    """Check labels, scores, predictions, weights and clusters against each other."""
    if score_matrix is None and predicted is None:
        raise InputError("score_matrix", "is missing", "pass a score for each case and class, or {predicted} alone")
    if len(getattr(y_true, "shape", ())) == 2:
        raise InputError("y_true", f"has shape {y_true.shape}, not one column", "pass the class of each case")
    label = as_column(y_true, "y_true")
    matrix = None if score_matrix is None else score_matrix_of(score_matrix)
    answer = None if predicted is None else as_column(predicted, "predicted")
    for values, argument in ((matrix, "score_matrix"), (answer, "predicted")):
        if values is not None and len(values) != len(label):
            raise different_lengths(argument, len(values), "y_true", len(label))
    labels = {"y_true": label} if answer is None else {"y_true": label, "predicted": answer}
    naming = find_classes(y_true, score_matrix, classes, labels, None if matrix is None else matrix.shape[1])
    names = [name.item() if isinstance(name, np.generic) else name for name in naming.names]
    if matrix is not None and naming.columns is not None:
        matrix = matrix[:, naming.columns]
    if matrix is not None and len(names) != matrix.shape[1]:
        problem = f"has {matrix.shape[1]} columns but there are {len(names)} classes"
        raise InputError("score_matrix", problem, "name the class of each column with {classes}")
    if unfit := [name for name in names if not isinstance(name, Hashable)]:
        raise InputError("classes", f"contains {show(unfit[0])}, which is not the name of a class")
    if len(set(names)) != len(names):
        raise InputError("classes", "names a class twice", "each column needs a class of its own")
    if len(names) < 2:
        raise InputError("y_true", f"contains a single class, {show(names[0])}", "name the others with {classes}")
    code = codes_of(label, names, "y_true")
    predicted = None if answer is None else codes_of(answer, names, "predicted")
    weight = None if sample_weight is None else as_weights(sample_weight, len(label))
    cluster = None
    if clusters is not None:
        cluster = Partition.of(clusters, "clusters", len(label)).codes.astype(np.int32)
        if len(np.unique(cluster if weight is None else cluster[weight > 0])) < 2:
            raise InputError("clusters", "contains a single cluster", "resampling needs at least two")
    counted = None
    if weight is not None and not weight.all():
        counted = np.flatnonzero(weight)
        code, weight = code[counted], weight[counted]
        matrix = None if matrix is None else matrix[counted]
        predicted = None if predicted is None else predicted[counted]
        cluster = None if cluster is None else np.unique(cluster[counted], return_inverse=True)[1].astype(np.int32)
    facts = None
    if matrix is not None:
        n = len(matrix)
        top, place, columns = np.empty(n, np.int32), np.empty(n, np.int32), np.empty((4, n))
        extremes = np.array([np.inf, -np.inf, np.inf, -np.inf, 0.0])
        bad = int(compiled.scan_rows(matrix, code, top, place, columns, extremes))
        if bad >= 0:
            column, row = int(np.argmax(np.isnan(matrix[bad]))), bad if counted is None else int(counted[bad])
            raise InputError("score_matrix", f"is NaN in column {column}", "drop the row or give it a score", row=row)
        low, high, least, most, tied = extremes.tolist()
        true, square, cumulative, highest = columns
        facts = RowFacts(top, place, true, square, cumulative, highest, low, high, (least, most), int(tied))
        predicted = top if predicted is None else predicted
    checked = (code, predicted, matrix, facts, weight, cluster, answer is not None, counted, naming.in_order)
    return ClassSample(tuple(names), *checked, None if counted is None else len(label))


def score_matrix_of(values: Any, argument: str = "score_matrix") -> NDArray[Any]:
    """A table of numbers as a two-dimensional array of floats; float32 stays what it is."""
    if hasattr(values, "toPandas"):
        raise InputError(argument, "is a table on a Spark cluster", "bring its rows here first, with toPandas()")
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    try:
        matrix = np.asarray(values)
        if matrix.ndim == 2 and matrix.dtype not in (np.float32, np.float64):
            matrix = matrix.astype(np.float64, casting="same_kind" if matrix.dtype.kind == "c" else "unsafe")
    except (TypeError, ValueError, OverflowError):
        raise InputError(argument, "must be a table of numbers", "convert its columns to floats") from None
    if matrix.ndim == 1 and len(matrix):
        raise InputError(argument, "is one column, not one for each class", "pass predicted classes as {predicted}")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(argument, f"has shape {matrix.shape}", "pass a row for each case and a column for each class")
    return matrix


def codes_of(label: NDArray[Any], names: Sequence[Any], argument: str) -> NDArray[np.int32]:
    """The number of each label among the class names; a label that is none of them is an error."""
    if label.dtype.kind in "iu" and all(isinstance(name, int | np.integer) for name in names):
        numbers = np.asarray(names)
        order = np.argsort(numbers)
        code = order[np.minimum(np.searchsorted(numbers[order], label), len(numbers) - 1)].astype(np.int32)
        strange = np.flatnonzero(numbers[code] != label)
        if not len(strange):
            return np.asarray(code)
        row = int(strange[0])
    else:
        place, values = {name: k for k, name in enumerate(names)}, label.tolist()
        try:
            return np.fromiter(map(place.__getitem__, values), np.int32, len(values))
        except (KeyError, TypeError):
            row = next(k for k, value in enumerate(values) if not isinstance(value, Hashable) or value not in place)
    value = label[row]
    if value is None or value != value:
        raise rules.missing(argument, value, row)
    problem = f"is {show(value)}, which is not among the classes {listed(names, 6)}"
    raise InputError(argument, problem, "name all classes with {classes}" if argument != "classes" else "", row=row)


class ClassNames(NamedTuple):
    """The classes, whether their order was given or is that of numbers, and the score columns, if in another order."""

    names: list[Any]
    in_order: bool
    columns: list[int] | None = None


def find_classes(
    y_true: Any, score_matrix: Any, classes: Any, labels: Mapping[str, NDArray[Any]], columns: int | None
) -> ClassNames:
    """The classes as they were named, else those of a frame's columns, of a categorical label, or of the labels."""
    # the names of a frame's columns; an Arrow table calls them otherwise
    named = (getattr(score_matrix, attribute, None) for attribute in ("column_names", "columns"))
    headings = next((list(names) for names in named if names is not None and not callable(names)), None)
    if classes is not None and headings is None:
        return ClassNames(list(classes), in_order=True)
    if all(column.dtype.kind in "biu" for column in labels.values()):
        present = [value.item() for value in np.unique(np.concatenate(list(labels.values())))]
    else:
        every: set[Any] = set()
        for argument, column in labels.items():
            values = column.tolist()
            try:
                distinct = set(values)
            except TypeError:
                problem = "contains values that cannot be class labels"
                raise InputError(argument, problem, "pass text or numbers") from None
            if any(value is None or value != value for value in distinct):
                row = next(k for k, value in enumerate(values) if value is None or value != value)
                raise rules.missing(argument, values[row], row)
            every |= distinct
        present = list(every)
    if headings == list(range(len(headings or ()))) and not all(isinstance(value, int | float) for value in present):
        headings = None  # columns are only numbered, but the classes are not
    elif headings is not None and not set(present) <= set(headings):
        # what is left of them without one common beginning and ending
        texts = {str(value): value for value in present}
        matched = columns_by_class([str(name) for name in headings], list(texts), all_of_them=True)
        if matched is not None and len(matched[1]) == len(headings):
            whole = all(isinstance(value, int) for value in present)
            headings = [texts.get(name, int(name) if whole and name.isdigit() else name) for name in matched[1]]
    if classes is not None:
        wanted = list(classes)
        if headings is None or headings == wanted or not set(present) <= set(headings):
            return ClassNames(wanted, in_order=True)
        if len(headings) != len(wanted) or set(headings) != set(wanted):
            problem = f"has columns for {listed(headings, 6)}, not for the classes {listed(wanted, 6)}"
            raise InputError("score_matrix", problem, "give it a column for each class")
        # a frame whose columns are called so is read by name, not by place
        return ClassNames(wanted, in_order=True, columns=[headings.index(name) for name in wanted])
    if headings is not None:
        return ClassNames(headings, in_order=True)
    kind: Any = getattr(y_true, "dtype", None)
    if type(kind).__name__ in ("CategoricalDtype", "Enum"):  # of pandas or polars, with an order of their own
        categories = list(kind.categories)
        if set(present) <= set(categories) and columns in (None, len(categories)):
            if columns is not None and categories != sorted(categories, key=_by_type):
                problem = f"has no column names, and the categories ({listed(categories, 6)}) of the labels are "
                problem += "not sorted"
                raise InputError("score_matrix", problem, "name the class of each column with {classes}")
            return ClassNames(categories, in_order=True)
    in_order = all(isinstance(value, int | float) for value in present)
    return ClassNames(sorted(present, key=_by_type), in_order=in_order)


def columns_by_class(
    columns: Sequence[str], labels: Sequence[str], *, all_of_them: bool
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Columns and their classes: by whole names, else by what is left of one common beginning and ending."""
    if set(labels) <= set(columns):
        chosen = [c for c in columns if all_of_them or c in set(labels)]
        return tuple(chosen), tuple(chosen)
    fitting = class_affixes(columns, labels)
    if len(fitting) != 1:
        return None
    before, after = fitting[0]
    chosen = [c for c in columns if c in {f"{before}{label}{after}" for label in labels}]
    if all_of_them:  # also those of classes that no label names
        shortest = len(before) + len(after) + 1
        chosen = [c for c in columns if c.startswith(before) and c.endswith(after) and len(c) >= shortest]
    return tuple(chosen), tuple(c[len(before) : len(c) - len(after)] for c in chosen)


def class_affixes(columns: Sequence[str], labels: Sequence[str]) -> list[tuple[str, str]]:
    """Beginnings and endings with which every label is a column: ``("p_", "")`` for p_cat and p_dog."""
    names, affixes = set(columns), set()
    longest = max(labels, key=len)
    for column in columns:
        start = column.find(longest)
        while start >= 0:
            affixes.add((column[:start], column[start + len(longest) :]))
            start = column.find(longest, start + 1)
    return sorted((a, b) for a, b in affixes if all(f"{a}{label}{b}" in names for label in labels))


def unordered(classes: Sequence[Any]) -> InputError:
    """A measure reads the order of classes that nobody has given."""
    problem = f"the classes are only known in the order of the alphabet ({listed(classes, 6)}), but their order counts"
    return InputError(None, problem, "name all of them in their order with {classes}")


def sorted_texts(texts: Iterable[str]) -> list[str]:
    """Classes read as text, each once: by value where all are numbers, else by the alphabet."""
    distinct = sorted(set(texts))
    return sorted(distinct, key=float) if are_numbers(distinct) else distinct


def are_numbers(texts: Iterable[str]) -> bool:
    """Whether every text is a number."""
    try:
        return all(float(text) == float(text) for text in set(texts))
    except ValueError:
        return False


def _by_type(value: Any) -> tuple[str, Any]:
    return str(type(value)), value

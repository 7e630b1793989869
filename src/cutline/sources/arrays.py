"""Columns in memory -> Sample: labels as booleans, scores and weights as floats, clusters as codes; checked once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import reduce
from itertools import repeat
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, LabelWarning, different_lengths, show, warn
from ..kernels import compiled
from ..table import pluralize
from ..validate import AMOUNTS, RULES, check_amount
from . import rules

Codes = NDArray[np.intp]
_MOST_SHOWN = 6  # labels beside the positive one that a message lists


def check_worth_given(worth: Any, cost: Any, cut_by: str) -> None:
    """Raise an error for what goes with the worth of each row, where there is none."""
    if worth is None and (cost is not None or cut_by != "score"):
        given = "cost" if cost is not None else "cut_by"
        raise InputError(given, "goes with the worth of each row", "give {worth}, or leave it out")


@dataclass(frozen=True, slots=True, eq=False)
class Worth:
    """What each row is worth if it is a hit, what taking it costs, and which list a cut is made in.

    ``cut_by``: the list is in the order of the ``score``, of ``value`` (score × worth) or of ``value_per_cost``.
    """

    value: NDArray[np.float64]
    cost: NDArray[np.float64] | None = None
    cut_by: str = "score"

    @classmethod
    def of(cls, worth: Any, cost: Any, cut_by: str, n: int) -> Worth:
        """From the columns that users give."""
        RULES["cut_by"](cut_by, "cut_by")  # a measure called by itself has no other check
        check_worth_given(worth, cost, cut_by)
        if cut_by == "value_per_cost" and cost is None:
            raise InputError("cut_by", "is 'value_per_cost', which needs the cost of each row", "give {cost}")
        columns: list[Any] = []
        for name, column in (("worth", worth), ("cost", cost)):
            of_rows = np.full(n, check_amount(column, name)) if isinstance(column, Real) else column  # one for all
            values = None if of_rows is None else as_numbers(of_rows, name)[0]
            if values is not None and len(values) != n:
                raise different_lengths(name, len(values), "y_score", n)
            if values is not None:
                values = values.astype(np.float64)
                bad = ((values < AMOUNTS[0]) & ((values != 0) | (name == "cost"))) | (values > AMOUNTS[1])
                if bad.any():  # negative, infinite or beyond every currency; a cost also if it is 0
                    row, zero = int(np.argmax(bad)), "" if name == "cost" else "0, or "
                    remedy = f"pass {zero}amounts from {AMOUNTS[0]:g} to {AMOUNTS[1]:g}"
                    raise InputError(name, f"is {values[row]:g}", remedy, row=row)
            columns.append(values)
        return cls(columns[0], columns[1], cut_by)

    def part(self, rows: NDArray[Any]) -> Worth:
        """Some of the rows."""
        return Worth(self.value[rows], None if self.cost is None else self.cost[rows], self.cut_by)

    def order(self, score: NDArray[Any]) -> NDArray[Any]:
        """What the list is sorted by, highest first."""
        if self.cut_by == "score":
            return score
        expected = score.astype(np.float64) * self.value
        return expected if self.cut_by == "value" or self.cost is None else expected / self.cost


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Labels as booleans, scores as floats, optional weights: same length, no missing values, weights positive.

    ``low`` and ``high`` are the extreme scores, known from the check. ``source_rows`` is set where rows of zero
    weight were left out, and maps a row here to its row in the input, which has ``input_rows``. ``cluster`` numbers the
    clusters (rows that are resampled together), ``worth`` has what rows are worth, where there are any.
    """

    positive: NDArray[np.bool_]
    score: NDArray[Any]
    weight: NDArray[np.float64] | None
    low: float
    high: float
    source_rows: NDArray[np.intp] | None = None
    input_rows: int = 0
    cluster: Codes | None = None
    worth: Worth | None = None

    def __len__(self) -> int:
        return len(self.score)

    @property
    def row_weight(self) -> NDArray[np.float64]:
        """The weight of each row, 1 where rows count alike."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def are_probabilities(self) -> bool:
        """Whether every score lies in [0, 1]."""
        return self.low >= 0.0 and self.high <= 1.0

    @property
    def are_finite(self) -> bool:
        """Whether no score is infinite."""
        return self.low > -np.inf and self.high < np.inf

    def part(self, rows: NDArray[Any]) -> Sample:
        """Some of the rows, by number or mask, without their clusters."""
        score, weight = self.score[rows], None if self.weight is None else self.weight[rows]
        worth = None if self.worth is None else self.worth.part(rows)
        return Sample(self.positive[rows], score, weight, float(score.min()), float(score.max()), worth=worth)

    def first_row(self, offending: NDArray[np.bool_]) -> int:
        """The first offending row, as numbered in the input."""
        row = int(np.argmax(offending))
        return row if self.source_rows is None else int(self.source_rows[row])


def make_sample(
    y_true: Any,
    y_score: Any,
    *,
    pos_label: Any = None,
    neg_label: Any = None,
    sample_weight: Any = None,
    clusters: Any = None,
    worth: Any = None,
    cost: Any = None,
    cut_by: str = "score",
) -> Sample:
    """Check labels, scores, weights, clusters and worth once and put them in the one form everything else reads."""
    label = as_column(y_true, "y_true")
    score, low, high = as_numbers(y_score, "y_score")
    n = len(score)
    if len(label) != n:
        raise different_lengths("y_score", n, "y_true", len(label))
    if neg_label is not None:
        neg_label = rules.negative_labels(neg_label, pos_label)
    positive = is_positive(label, pos_label)
    if pos_label is not None:
        check_negatives(label, positive, pos_label, neg_label)
    if clusters is not None:
        from ..partition import Partition  # which reads columns by the rules of this module

    cluster = None if clusters is None else Partition.of(clusters, "clusters", n).codes
    weight = None if sample_weight is None else as_weights(sample_weight, n)
    valued = None if worth is cost is None and cut_by == "score" else Worth.of(worth, cost, cut_by, n)
    if valued is not None and cut_by != "score" and low < 0:
        raise InputError("cut_by", f"is {cut_by!r}, but some scores are negative", "pass probabilities as scores")
    if weight is None or weight.all():
        return Sample(positive, score, weight, low, high, None, n, cluster, valued)
    kept = np.flatnonzero(weight)  # a case of zero weight is a case that is not there
    score = score[kept]
    cluster = None if cluster is None else renumber(cluster[kept])
    valued = None if valued is None else valued.part(kept)
    return Sample(positive[kept], score, weight[kept], float(score.min()), float(score.max()), kept, n, cluster, valued)


def is_matrix(given: Any) -> bool:
    """Whether scores have a column for each class: two dimensions, a frame, or a list of rows."""
    shape = getattr(given, "shape", None)
    if shape is not None:
        return len(shape) == 2
    if hasattr(given, "columns") or hasattr(given, "column_names"):
        return True
    return isinstance(given, list | tuple) and bool(given) and isinstance(given[0], list | tuple | np.ndarray)


def as_column(values: Any, argument: str) -> NDArray[Any]:
    """One-dimensional array of a list, NumPy array, Series or Arrow array; missing entries raise an error."""
    if not isinstance(values, np.ndarray | list | tuple | range):
        values = _foreign(values, argument)
    if isinstance(values, list | tuple | range):
        try:  # of objects where NumPy would turn numbers into text, or take zero bytes off its end
            is_text = any(issubclass(kind, str | bytes) for kind in set(map(type, values)))
            array = np.array(values, dtype=object) if is_text else np.asarray(values)
        except OverflowError:
            array = np.array(values, dtype=object)
        except ValueError:
            raise InputError(argument, "has rows of different lengths", "pass one value for each row") from None
        values = np.array(values, dtype=object) if array.dtype.kind in "US" else array
    elif isinstance(values, np.ma.MaskedArray):
        if np.ma.is_masked(values):
            raise rules.missing(argument, None, int(np.argmax(np.ma.getmaskarray(values))))
        values = values.data
    if values.ndim != 1:
        hint = "; for class probabilities, the column of the positive class" if values.ndim == 2 else ""
        raise InputError(argument, f"has shape {values.shape}, not one column", f"pass one dimension{hint}")
    if len(values) == 0:
        raise InputError(argument, "is empty", "pass at least one row")
    column: NDArray[Any] = values
    return column


def _foreign(values: Any, argument: str) -> NDArray[Any] | list[Any]:
    """Series and Arrow arrays by their own methods or narwhals, without importing their library; what else iterates."""
    not_a_column = InputError(argument, f"is of type {type(values).__name__}", "pass an array, a list or a Series")
    if isinstance(values, str | bytes | dict | set) or values is None:
        raise not_a_column
    if hasattr(values, "to_numpy") and hasattr(values, "null_count") and hasattr(values, "is_null"):
        arrow = type(values).__module__.partition(".")[0] == "pyarrow"
        nulls, is_null = values.null_count, values.is_null
        if nulls() if callable(nulls) else nulls:  # polars has a method, Arrow an attribute
            found = is_null().to_numpy(zero_copy_only=False) if arrow else is_null()
            raise rules.missing(argument, None, int(np.argmax(np.asarray(found))))
        if str(getattr(values, "dtype", "")) in ("Int128", "UInt128"):  # which NumPy has not
            return list(values.to_list())
        if arrow and str(values.type).startswith("dictionary"):
            values = values.cast(values.type.value_type)
        return np.asarray(values.to_numpy(zero_copy_only=False) if arrow else values.to_numpy())
    if hasattr(values, "detach") and hasattr(values, "device"):  # a tensor, which may record gradients
        if values.device.type != "cpu":
            raise InputError(argument, f"is a tensor on {values.device}", "move it to the CPU with .cpu()")
        try:
            return np.asarray(values.detach())
        except (TypeError, RuntimeError) as error:
            problem = f"is a tensor that gives no array ({error})"
            raise InputError(argument, problem, "convert it, e.g. .float()") from None
    if hasattr(values, "__array__") and not hasattr(values, "isna"):
        return np.asarray(values)
    import narwhals.stable.v1 as nw

    try:
        series = nw.from_native(values, series_only=True)
    except TypeError:
        if hasattr(values, "shape") and len(values.shape) != 1:
            raise InputError(argument, "is a table, not one column", "pass one of its columns") from None
        try:
            return list(values)
        except TypeError:
            raise not_a_column from None
    missing = series.is_null().to_numpy()
    if missing.any():
        raise rules.missing(argument, None, int(np.argmax(missing)))
    return np.asarray(series.to_numpy())


def as_numbers(values: Any, argument: str) -> tuple[NDArray[Any], float, float]:
    """A column of numbers with its extremes: float64, or float32 where it came so, whose ties are its own."""
    return read_numbers(values, argument, plain=True)[:3]


def read_numbers(
    values: Any,
    argument: str,
    decimal: str | None = None,
    rows: Sequence[int] | None = None,
    *,
    plain: bool = False,
    rounded: bool = False,
) -> tuple[NDArray[Any], float, float, rules.Notation | None]:
    """A column of numbers, its extremes, and how text writes it (``plain``: as Python); ``rows``: how many each is."""
    column, notation = as_column(values, argument), None
    kind = column.dtype.kind
    if kind == "f":
        if column.dtype.itemsize == 2:
            column = column.astype(np.float32)
        elif column.dtype.itemsize > 8:
            column = column.astype(np.float64)
        elif not column.dtype.isnative:
            column = column.astype(column.dtype.newbyteorder("="))
    elif kind in "iu":
        limit = math.inf if rounded else rules.EXACT_INTEGERS
        if column.dtype.itemsize == 8 and (int(column.max()) > limit or int(column.min()) < -limit):
            raise rules.bad_cell("beyond", argument, int(np.argmax((column > limit) | (column < -limit))))
        column = column.astype(np.float64)
    elif kind == "b":
        column = column.astype(np.float64)
    elif kind in "OSU":  # numbers, and text if every cell of it is a number
        cells = _single_values(column.tolist(), argument)
        for row, cell in enumerate(cells):
            if not rounded and rules.is_beyond(cell):
                raise rules.bad_cell("beyond", argument, row)
            if isinstance(cell, date):
                raise rules.unusable(argument, "dates")
            if not isinstance(cell, str) and not hasattr(cell, "__float__"):
                raise rules.bad_cell("text", argument, row, cell)
        texts = {row: cell for row, cell in enumerate(cells) if isinstance(cell, str)}
        notation = rules.find_notation(argument, texts, rows, decimal, plain=plain) if texts else None
        if notation is not None:
            unit = 100.0 if notation.percent else 1.0
            signs = str.maketrans(notation.decimal, ".", f"%{notation.thousands}")
        for row, text in texts.items():
            true = text.strip().lower() == "true"
            cells[row] = true if notation is None else float(text.translate(signs)) / unit
        column = np.array([float(cell) for cell in cells])
    else:
        names = {"M": "dates", "m": "time spans", "c": "complex numbers"}
        raise rules.unusable(argument, names.get(kind, str(column.dtype)))
    low, high = compiled.extremes(column)
    if low != low:
        raise rules.missing(argument, np.nan, int(np.argmax(np.isnan(column))))
    return column, low, high, notation


def _single_values(cells: list[Any], argument: str) -> list[Any]:
    """Cells with bytes as text; raises an error for collections and missing ones."""
    cells = [rules.as_text(cell) if isinstance(cell, bytes) else cell for cell in cells]
    for row, cell in enumerate(cells):
        if isinstance(cell, list | tuple | dict | set | np.ndarray):
            raise rules.unusable(argument, "lists or other collections")
        if rules.is_missing(cell):
            raise rules.missing(argument, cell, row)
    return cells


def as_weights(values: Any, n: int, argument: str = "sample_weight") -> NDArray[np.float64]:
    """Case weights: finite, not negative, not all zero."""
    numbers, _, high = as_numbers(values, argument)
    if len(numbers) != n:
        raise different_lengths(argument, len(numbers), "y_score", n)
    column: NDArray[np.float64] = numbers.astype(np.float64)
    bad = (column != 0) & ((column < rules.WEIGHTS[0]) | (column > rules.WEIGHTS[1]))
    if bad.any():
        row = int(np.argmax(bad))
        raise rules.bad_weight(column[row], row)
    if high == 0:
        raise InputError(*rules.NO_WEIGHT)
    return column


def renumber(codes: Codes) -> Codes:
    """The codes of some rows as numbers from 0 without gaps, in their order."""
    return np.unique(codes, return_inverse=True)[1].astype(np.intp)


def read_labels(values: Any, argument: str, pos_label: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """A column of labels of two classes as they are, for an estimator, and as booleans."""
    labels = as_column(values, argument)
    try:
        positive = is_positive(labels, pos_label)
        check_negatives(labels, positive, pos_label)
        return labels, positive
    except InputError as error:
        raise error.but(argument=argument if error.argument == "y_true" else error.argument) from None


def is_positive(label: NDArray[Any], pos_label: Any, named: Collection[str] = ()) -> NDArray[np.bool_]:
    """Which labels are positive, by the rule for labels (see ``rules``); ``pos_label`` may be several.

    ``named`` are spellings that are meant as they are.
    """
    if pos_label is not None:
        every = rules.as_labels(pos_label)
        if len(every) > 1:
            spelled = set(map(rules.as_text, every))
            return reduce(np.logical_or, (is_positive(label, one, spelled) for one in every))
        pos_label = every[0] if every else None
    if label.dtype.kind not in "biuf":  # objects, text or dates: numbers or truths where every one is such
        if label.dtype.kind == "M" and np.datetime_data(label.dtype)[0] != "D":  # a moment is a date with its time
            label = label.astype("datetime64[us]")
        cells = _single_values(label.tolist(), "y_true")
        values = list(dict.fromkeys(cells))
        text = all(isinstance(cell, str) for cell in values)
        numbers = (rules.matches(rules.LABEL_CELL, v) if text else isinstance(v, Real | Decimal) for v in values)
        if all(isinstance(cell, bool | np.bool_) for cell in values):
            label = np.array(cells, dtype=np.bool_)
        elif all(numbers):
            beyond = next((row for row, cell in enumerate(cells) if rules.is_beyond(cell)), None)
            if beyond is not None:
                raise rules.bad_cell("beyond", "y_true", beyond)
            label = np.array([float(cell) for cell in cells])
        elif text and all(rules.matches(rules.TRUTH_CELL, cell) for cell in values):
            label = np.array([cell.strip().lower() == "true" for cell in cells])
        else:
            return _of_words(cells, values, pos_label, named)
    if label.dtype.kind == "b":
        wanted = True if pos_label is None else rules.wanted_truth(pos_label)
        if wanted is None:
            raise rules.unknown_label(pos_label, np.unique(label).tolist())
        return label if wanted else ~label
    (low, high), limit = compiled.extremes(label), rules.EXACT_INTEGERS
    if low != low:
        raise rules.missing("y_true", np.nan, int(np.argmax(np.isnan(label))))
    if label.dtype.kind == "f" and not (math.isfinite(low) and math.isfinite(high)):
        raise rules.bad_cell("infinite", "y_true", int(np.argmax(np.isinf(label))))
    if label.dtype.kind != "f" and (high > limit or low < -limit):
        raise rules.bad_cell("beyond", "y_true", int(np.argmax((label > limit) | (label < -limit))))
    if pos_label is not None:
        number = rules.wanted_number(pos_label)
        if number is None:
            raise rules.unknown_label(pos_label, np.unique(label).tolist())
        return _found(label == number, label, pos_label)
    if low >= 0 and high <= 1:
        positive: NDArray[np.bool_] = label.astype(np.bool_)
        if label.dtype.kind != "f" or bool(np.array_equal(positive, label)):
            return positive
    elif low == -1 and high <= 1:
        positive = label == 1
        if bool((positive | (label == -1)).all()):
            return positive
    raise rules.unclear_labels(np.unique(label).tolist())


def _of_words(cells: list[Any], values: list[Any], pos_label: Any, named: Collection[str]) -> NDArray[np.bool_]:
    """Which cells are the positive word."""
    if pos_label is None:
        raise rules.unclear_labels(_ordered(values))
    word = rules.as_text(pos_label)
    texts = list(map(rules.as_text, cells))  # of every cell: 1 and True are equal, and not one label
    distinct = set(texts)
    near = {text for text in distinct.difference({word}, named) if text.strip().lower() == word.strip().lower()}
    if near and word in distinct:
        row = next(row for row, text in enumerate(texts) if text in near)
        raise rules.bad_cell("nearly", "y_true", row, texts[row])
    return _found(np.array([text == word for text in texts], np.bool_), values, pos_label)


def check_negatives(
    label: NDArray[Any],
    positive: NDArray[np.bool_],
    pos_label: Any,
    neg_label: tuple[Any, ...] | None = None,
    rows: NDArray[Any] | None = None,
) -> None:
    """Warn or raise if there are several labels beside the positive one; ``rows``: how many each stands for."""
    rest = label[~positive]
    if pos_label is None or not len(rest) or label.dtype.kind == "b":
        return
    if neg_label:
        listed = positive.copy()
        spelled = {rules.as_text(value) for value in (*neg_label, *rules.as_labels(pos_label))}
        for value in neg_label:
            with suppress(InputError):  # a label that does not occur
                listed |= is_positive(label, value, spelled)
        if not listed.all():
            row = int(np.argmin(listed))
            raise rules.bad_cell("unlisted", "y_true", row, label.tolist()[row])
        return
    if label.dtype.kind in "OSU":
        each: Counter[Any] = Counter()
        for cell, n in zip(rest.tolist(), repeat(1) if rows is None else rows[~positive].tolist(), strict=False):
            each[rules.plain_value(rules.as_text(cell))] += n
        counts = list(each.items())
    elif rows is not None:
        counts = list(zip(rest.tolist(), rows[~positive].tolist(), strict=True))
    else:
        values, numbers = np.unique(rest, return_counts=True) if rest.min() != rest.max() else (rest[:1], rest[:1])
        counts = list(zip(values.tolist(), numbers.tolist(), strict=True))
    if len(counts) < 2:
        return
    counts.sort(key=lambda pair: -pair[1])
    shown = ", ".join(f"{show(rules.plain_value(v))} ({pluralize(n, 'row')})" for v, n in counts[:_MOST_SHOWN])
    shown += ", …" if len(counts) > _MOST_SHOWN else ""
    if neg_label is not None:
        remedy = "name the negative ones with {neg_label}, or count them all as negative with {neg_label=None}"
        named = ", ".join(map(show, rules.as_labels(pos_label)))
        raise InputError("y_true", f"contains several labels besides {named}: {shown}", remedy)
    said = f"more than two labels: all but {show(pos_label)} count as negative: {shown}"
    warn(f"{said}; leave out the rows that are neither", LabelWarning)


def _found(chosen: Any, values: Any, pos_label: Any) -> NDArray[np.bool_]:
    """The positives; one label alone may be the negative one of a sample without positives."""
    positive: NDArray[np.bool_] = np.asarray(chosen, dtype=np.bool_)
    if not positive.any():
        every = values if isinstance(values, list) else np.unique(values).tolist()
        if len(every) > 1:
            raise rules.unknown_label(pos_label, _ordered(every))
    return positive


def _ordered(values: list[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=str)

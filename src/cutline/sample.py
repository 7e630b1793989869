"""Columns -> Sample. The one place where input is checked; nothing behind it checks again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .validate import check_quota

_EXACT_INTEGERS = 2**53
WEIGHTS = (1e-100, 1e100)  # products of two sums of weights must be numbers
WEIGHTS_MUST = "a weight must be finite and not negative, and between 1e-100 and 1e100 where it is not 0"


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Labels as booleans, scores as floats, optional weights: same length, no missing values, weights positive.

    ``low`` and ``high`` are the extreme scores, known from the check. ``source_rows`` is set where rows of zero
    weight were left out, and maps a row here to its row in the input.
    """

    positive: NDArray[np.bool_]
    score: NDArray[Any]
    weight: NDArray[np.float64] | None
    low: float
    high: float
    source_rows: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.score)

    @property
    def are_probabilities(self) -> bool:
        """Whether every score lies in [0, 1]."""
        return self.low >= 0.0 and self.high <= 1.0

    @property
    def are_finite(self) -> bool:
        """Whether no score is infinite."""
        return self.low > -np.inf and self.high < np.inf

    def first_row(self, offending: NDArray[np.bool_]) -> int:
        """The first offending row, as numbered in the input."""
        row = int(np.argmax(offending))
        return row if self.source_rows is None else int(self.source_rows[row])


def make_sample(y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None) -> Sample:
    """Check labels, scores and weights once and put them in the one form everything else reads."""
    label = as_column(y_true, "y_true")
    score, low, high = as_numbers(y_score, "y_score")
    if len(label) != len(score):
        raise InputError(
            f"y_true has {len(label)} rows but y_score has {len(score)}: pass one label and one score for each case"
        )
    positive = _positive(label, pos_label)
    if sample_weight is None:
        return Sample(positive, score, None, low, high)
    weight = as_weights(sample_weight, len(score))
    if weight.all():
        return Sample(positive, score, weight, low, high)
    kept = np.flatnonzero(weight)  # a case of zero weight is a case that is not there
    score = score[kept]
    return Sample(positive[kept], score, weight[kept], float(score.min()), float(score.max()), kept)


def as_column(values: Any, argument: str) -> NDArray[Any]:
    """One-dimensional array of a list, NumPy array, Series or Arrow array; missing entries are refused."""
    if not isinstance(values, np.ndarray):
        values = _foreign(values, argument)
    elif isinstance(values, np.ma.MaskedArray):
        if np.ma.is_masked(values):
            row = int(np.argmax(np.ma.getmaskarray(values)))
            raise InputError(f"{argument}: row {row} is masked; drop the row or fill in a value")
        values = values.data
    if values.ndim != 1:
        raise InputError(
            f"{argument} must be one column but has shape {values.shape}; pass one dimension"
            + (" (for class probabilities, the column of the positive class)" if values.ndim == 2 else "")
        )
    if len(values) == 0:
        raise InputError(f"{argument} is empty; pass at least one row")
    column: NDArray[Any] = values
    return column


def _foreign(values: Any, argument: str) -> NDArray[Any]:
    """Lists as they are; Series and Arrow arrays by their own methods or narwhals, without importing their library."""
    if isinstance(values, list | tuple | range):
        try:
            return np.asarray(values)
        except ValueError as error:
            raise InputError(f"{argument}: rows differ in length ({error}); pass one value for each row") from None
    if isinstance(values, str | bytes | dict | set) or values is None:
        raise InputError(f"{argument} must be an array, list or Series, got {type(values).__name__}")
    if hasattr(values, "to_numpy") and hasattr(values, "null_count") and hasattr(values, "is_null"):
        nulls, is_null = values.null_count, values.is_null
        if nulls() if callable(nulls) else nulls:  # polars has a method, Arrow an attribute
            row = int(
                np.argmax(np.asarray(is_null().to_numpy(zero_copy_only=False) if _is_arrow(values) else is_null()))
            )
            raise InputError(f"{argument}: row {row} is missing; drop the row or fill in a value")
        return np.asarray(values.to_numpy(zero_copy_only=False) if _is_arrow(values) else values.to_numpy())
    if hasattr(values, "detach") and hasattr(values, "device"):
        return _of_tensor(values, argument)
    if hasattr(values, "__array__") and not hasattr(values, "isna"):
        return np.asarray(values)
    import narwhals.stable.v1 as nw

    try:
        series = nw.from_native(values, series_only=True)
    except TypeError:
        if hasattr(values, "shape") and len(values.shape) != 1:
            raise InputError(f"{argument} must be one column, got a table; pass one of its columns") from None
        try:
            return np.asarray(list(values))
        except TypeError:
            raise InputError(f"{argument} must be an array, list or Series, got {type(values).__name__}") from None
    missing = series.is_null().to_numpy()
    if missing.any():
        raise InputError(f"{argument}: row {int(np.argmax(missing))} is missing; drop the row or fill in a value")
    return np.asarray(series.to_numpy())


def _of_tensor(values: Any, argument: str) -> NDArray[Any]:
    """A tensor on the CPU, whether or not it records gradients."""
    if values.device.type != "cpu":
        raise InputError(f"{argument} is a tensor on {values.device}; pass {argument}.cpu()")
    try:
        return np.asarray(values.detach())
    except (TypeError, RuntimeError) as error:
        raise InputError(f"{argument}: this tensor gives no array ({error}); convert it first, e.g. .float()") from None


def _is_arrow(values: Any) -> bool:
    return type(values).__module__.partition(".")[0] == "pyarrow"


def as_numbers(values: Any, argument: str) -> tuple[NDArray[Any], float, float]:
    """A column of numbers with its extremes: float64, or float32 where it came so, whose ties are its own."""
    column = as_column(values, argument)
    kind = column.dtype.kind
    if kind == "f":
        if column.dtype.itemsize == 2:
            column = column.astype(np.float32)
        elif column.dtype.itemsize > 8:
            column = column.astype(np.float64)
        elif not column.dtype.isnative:
            column = column.astype(column.dtype.newbyteorder("="))
    elif kind in "iu":
        if column.dtype.itemsize == 8 and (int(column.max()) > _EXACT_INTEGERS or int(column.min()) < -_EXACT_INTEGERS):
            row = int(np.argmax((column > _EXACT_INTEGERS) | (column < -_EXACT_INTEGERS)))
            raise InputError(
                f"{argument}: the integer in row {row} is beyond 2^53, where floats confuse integers; rescale"
            )
        column = column.astype(np.float64)
    elif kind == "b":
        column = column.astype(np.float64)
    else:
        column = _parsed(column, argument)
    low, high = float(column.min()), float(column.max())
    if low != low:
        row = int(np.argmax(np.isnan(column)))
        raise InputError(f"{argument}: row {row} is NaN; drop the row or give it a number")
    return column, low, high


def _parsed(values: NDArray[Any], argument: str) -> NDArray[np.float64]:
    """Object columns may hold numbers; text is refused, even where it looks like a number."""
    for row, value in enumerate(values.tolist()):
        if value is None:
            raise InputError(f"{argument}: row {row} is missing; drop the row or give it a number")
        if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
            raise InputError(f"{argument}: row {row} is {value!r}, not a number; convert the column to floats")
    return values.astype(np.float64)


def _positive(label: NDArray[Any], pos_label: Any) -> NDArray[np.bool_]:
    """Labels as booleans. Without ``pos_label`` only bool, 0/1 and −1/+1 say by themselves what is positive."""
    kind = label.dtype.kind
    if kind == "b" and pos_label is None:
        return label
    if kind == "f":
        missing = np.isnan(label)
        if missing.any():
            raise InputError(f"y_true: row {int(np.argmax(missing))} is NaN; drop the row or give it a label")
    elif kind in "OmMSU":
        return _positive_of_objects(label, pos_label)
    if pos_label is None:
        return _positive_of_numbers(label)
    chosen: NDArray[np.bool_] = np.asarray(label == pos_label)
    if chosen.shape != label.shape:
        raise InputError(f"pos_label={pos_label!r} cannot be compared with y_true of type {label.dtype}")
    if not chosen.any():
        _refuse_unknown(np.unique(label).tolist(), pos_label)
    return chosen


def _positive_of_numbers(label: NDArray[Any]) -> NDArray[np.bool_]:
    low, high = label.min(), label.max()
    if low >= 0 and high <= 1:
        positive: NDArray[np.bool_] = label.astype(np.bool_)
        if label.dtype.kind != "f" or bool(np.array_equal(positive, label)):
            return positive
    elif low == -1 and high <= 1:
        positive = label == 1
        if bool((positive | (label == -1)).all()):
            return positive
    _refuse_labels(np.unique(label).tolist())
    raise AssertionError


def _positive_of_objects(label: NDArray[Any], pos_label: Any) -> NDArray[np.bool_]:
    values = label.tolist()
    for row, value in enumerate(values):
        if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):
            raise InputError(f"y_true: row {row} is missing; drop the row or give it a label")
    try:
        distinct = sorted(set(values))
    except TypeError:
        distinct = sorted(set(values), key=repr)
    if pos_label is None:
        for positive, negatives in ((1, (0, False)), (1, (-1,))):
            if all(isinstance(v, int | float | np.generic) and (v == positive or v in negatives) for v in distinct):
                return np.array([value == positive for value in values], dtype=np.bool_)
        _refuse_labels(distinct)
    chosen = np.array([value == pos_label for value in values], dtype=np.bool_)
    if not chosen.any():
        _refuse_unknown(distinct, pos_label)
    return chosen


def _show(values: list[Any]) -> str:
    shown = ", ".join(repr(value) for value in values[:6])
    return f"{shown}, … ({len(values)} values)" if len(values) > 6 else shown


def _refuse_labels(distinct: list[Any]) -> None:
    if len(distinct) > 2:
        raise InputError(
            f"y_true holds {len(distinct)} different labels ({_show(distinct)}); say which one is positive with "
            "pos_label=…, the rest count as negative (or use one_vs_rest)"
        )
    raise InputError(
        f"y_true holds the labels {_show(distinct)}, which do not say which is positive; add pos_label={distinct[-1]!r}"
    )


def _refuse_unknown(distinct: list[Any], pos_label: Any) -> None:
    if len(distinct) > 1:  # one label alone may be the negative one of a sample without positives
        raise InputError(f"pos_label={pos_label!r} does not occur in y_true, which holds {_show(distinct)}")


def as_weights(values: Any, n: int) -> NDArray[np.float64]:
    column, _, high = as_numbers(values, "sample_weight")
    if len(column) != n:
        raise InputError(f"sample_weight has {len(column)} rows but y_score has {n}: pass one weight for each case")
    column = column.astype(np.float64)
    bad = (column != 0) & ((column < WEIGHTS[0]) | (column > WEIGHTS[1]))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"sample_weight: row {row} is {column[row]:g}; {WEIGHTS_MUST}")
    if high == 0:
        raise InputError("sample_weight: every weight is zero, so no case is left; give at least one a positive weight")
    return column


def resolve_quota(quota: Any, cases: float) -> int:
    """Cases that a quota means: an integer is a number of cases, a float in (0, 1) a share of them, rounded down.

    ``cases`` is the number of rows, or the sum of their weights: a row of weight w stands for w cases.
    """
    wanted = check_quota(quota)
    shown = f"{cases:,}" if isinstance(cases, int) else f"{cases:.6g}"
    room = 1.0 + 1e-12  # 0.29 · 100 is 28.999… in floats, and means 29; sums of weights round, too
    if isinstance(wanted, float):
        taken = int(np.floor(wanted * cases * room))
        if taken < 1:
            raise InputError(f"quota={quota!r} of {shown} cases is less than one; ask for at least {1 / cases:.3g}")
        return taken
    if wanted > cases * room:
        raise InputError(f"quota={quota} must be from 1 to the number of cases, {shown}")
    return wanted

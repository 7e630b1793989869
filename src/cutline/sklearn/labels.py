"""What the drop-in functions read: two labels, decisions or scores, weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..sample import Sample, as_column, as_numbers, make_sample

Floats = NDArray[np.float64]


def refuse_unless(function: str, argument: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Raise for an argument that only scikit-learn's own function takes."""
    if not any(value is a or (type(value) is type(a) and value == a) for a in allowed):
        raise InputError(
            f"{function}({argument}={value!r}) is not supported here, only {' or '.join(map(repr, allowed))}; "
            f"use sklearn.metrics.{function}"
        )


def label_column(values: Any, argument: str) -> NDArray[Any]:
    """A column of labels: no missing values, no numbers with decimals."""
    column = as_column(values, argument)
    if column.dtype.kind == "f":
        broken = ~np.isfinite(column) | (column != np.floor(column))
        if broken.any():
            row = int(np.argmax(broken))
            raise InputError(f"{argument}: row {row} is {column[row]:g}, which is no label; pass labels, not scores")
    elif column.dtype.kind == "O":
        for row, value in enumerate(column.tolist()):
            if value is None or value != value:
                raise InputError(f"{argument}: row {row} is missing; drop the row or give it a label")
    return column


def distinct_labels(*columns: NDArray[Any]) -> list[Any]:
    """The labels that occur, in order; more than two, or labels that have no order, are refused."""
    found: set[Any] = set()
    for column in columns:
        found |= set(np.unique(column).tolist() if column.dtype.kind != "O" else column.tolist())
    try:
        labels = sorted(found)
    except TypeError:
        raise InputError(f"labels of different kinds do not compare: {sorted(map(repr, found))}") from None
    if len(labels) > 2:
        raise InputError(f"two labels at most, got {len(labels)} ({labels[:6]!r}…); for more use sklearn.metrics")
    return labels


def positives(column: NDArray[Any], label: Any) -> NDArray[np.bool_]:
    """Which rows carry a label; a label of another kind is on none of them."""
    found = np.asarray(column == label)
    return found.astype(np.bool_) if found.shape == column.shape else np.zeros(column.shape, np.bool_)


def check_lengths(*columns: tuple[str, Any]) -> None:
    """All columns as long as the first."""
    name, first = columns[0]
    for other, column in columns[1:]:
        if column is not None and len(column) != len(first):
            raise InputError(f"{name} has {len(first)} rows but {other} has {len(column)}: pass one for each case")


def weight_column(values: Any, n: int) -> Floats | None:
    """Weights, checked as everywhere in cutline: finite, not negative, not all zero."""
    if values is None:
        return None
    column, low, high = as_numbers(values, "sample_weight")
    check_lengths(("y_true", np.empty(n)), ("sample_weight", column))
    if low < 0 or high in (0.0, np.inf):
        raise InputError("sample_weight must be finite, not negative and not all zero")
    return column.astype(np.float64)


@dataclass(frozen=True)
class Decisions:
    """Two columns of labels side by side, as a 2 × 2 table: ``table[true, predicted]`` over the labels that occur."""

    labels: list[Any]
    table: NDArray[Any]

    @classmethod
    def of(
        cls, y_true: Any, y_pred: Any, sample_weight: Any = None, names: tuple[str, str] = ("y_true", "y_pred")
    ) -> Decisions:
        """Count the four cells; the table is 1 × 1 where a single label occurs."""
        true, pred = label_column(y_true, names[0]), label_column(y_pred, names[1])
        check_lengths((names[0], true), (names[1], pred))
        weight = weight_column(sample_weight, len(true))
        labels = distinct_labels(true, pred)
        second = labels[-1]
        t, p = positives(true, second), positives(pred, second)
        if len(labels) == 1:
            t, p = np.zeros_like(t), np.zeros_like(p)
        cell = 2 * t.astype(np.intp) + p
        counts = np.bincount(cell, weights=weight, minlength=4)
        return cls(labels, counts.reshape(2, 2)[: len(labels), : len(labels)])

    def cells(self, pos_label: Any) -> tuple[float, float, float, float]:
        """True and false positives, false and true negatives, for the label that counts as positive."""
        if pos_label not in self.labels:
            if len(self.labels) > 1:
                raise InputError(f"pos_label={pos_label!r} is not a valid label. It should be one of {self.labels!r}")
            return 0.0, 0.0, 0.0, float(self.table.sum())
        k = self.labels.index(pos_label)
        tp = float(self.table[k, k])
        fp, fn = float(self.table[:, k].sum()) - tp, float(self.table[k, :].sum()) - tp
        return tp, fp, fn, float(self.table.sum()) - tp - fp - fn


def scored(y_true: NDArray[np.bool_], y_score: Any, sample_weight: Any) -> Sample:
    """A sample of finite scores: scikit-learn takes no infinite ones."""
    sample = make_sample(y_true, y_score, sample_weight=sample_weight)
    if not sample.are_finite:
        row = sample.first_row(np.isinf(sample.score))
        raise InputError(f"y_score: row {row} is infinite; pass finite scores")
    return sample


def by_pos_label(y_true: Any, pos_label: Any) -> NDArray[np.bool_]:
    """Positives by scikit-learn's rule: 1 of {0, 1} and {−1, 1} unless ``pos_label`` names another."""
    column = label_column(y_true, "y_true")
    if pos_label is not None:
        return positives(column, pos_label)
    labels = distinct_labels(column)
    if column.dtype.kind in "OUS" or not (set(labels) <= {0, 1} or set(labels) <= {-1, 1}):
        raise InputError(
            f"y_true takes value in {labels!r} and pos_label is not specified: either make y_true take value in "
            "{0, 1} or {-1, 1} or pass pos_label explicitly."
        )
    return positives(column, 1)

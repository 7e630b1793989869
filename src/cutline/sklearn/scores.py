"""Drop-in functions on cutline's ranking: scikit-learn's names, arguments, values and warnings, for two labels.

These sort the scores, which cutline does faster. Functions of decisions and losses are left to scikit-learn.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from ..catalogue.compute import compute
from ..catalogue.declare import parse_measure
from ..errors import InputError, listed, show
from ..kernels.plain_rankings import tie_starts
from ..ranking import rank
from ..sources import rules
from ..sources.arrays import Sample, as_column, make_sample
from ..types import Floats, Label, Labels, Scores
from ..validate import check_number

_AVERAGES = ("macro", "micro", "samples", "weighted", None)


def _refuse_unless(function: str, argument: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Raise for an argument that only scikit-learn's own function takes."""
    if not any(value is a or (type(value) is type(a) and value == a) for a in allowed):
        known = " or ".join(map(show, allowed))
        remedy = f"use sklearn.metrics.{function}"
        raise InputError(argument, f"is {show(value)}, which is not supported here, only {known}", remedy)


def _labels(values: Any) -> tuple[NDArray[Any], list[Any]]:
    """A column of labels and those that occur, in order: two at most, none missing, no numbers with decimals."""
    column = as_column(values, "y_true")
    if column.dtype.kind == "f":
        broken = ~np.isfinite(column) | (column != np.floor(column))
        if broken.any():
            row = int(np.argmax(broken))
            raise InputError("y_true", f"is {column[row]:g}, which is not a label", "pass labels, not scores", row=row)
    elif column.dtype.kind == "O":
        for row, value in enumerate(column.tolist()):
            if value is None or value != value:
                raise rules.missing("y_true", value, row)
    found = set(np.unique(column).tolist() if column.dtype.kind != "O" else column.tolist())
    try:
        labels = sorted(found)
    except TypeError:
        raise InputError(
            "y_true", f"holds labels of different kinds: {listed(sorted(map(repr, found)))}", "use one kind"
        ) from None
    if len(labels) > 2:
        raise InputError("y_true", f"holds more than two labels: {listed(labels)}", "use sklearn.metrics")
    return column, labels


def _positives(column: NDArray[Any], label: Any) -> NDArray[np.bool_]:
    """Which rows carry a label; a label of another kind is on none of them."""
    found = np.asarray(column == label)
    return found.astype(np.bool_) if found.shape == column.shape else np.zeros(column.shape, np.bool_)


def _scored(positive: NDArray[np.bool_], y_score: Scores, sample_weight: Scores | None) -> Sample:
    """A sample of finite scores: scikit-learn takes no infinite ones."""
    sample = make_sample(positive, y_score, sample_weight=sample_weight)
    if not sample.are_finite:
        row = sample.first_row(np.isinf(sample.score))
        raise InputError("y_score", "is infinite", "pass finite scores", row=row)
    return sample


def _by_pos_label(y_true: Labels, pos_label: Label) -> NDArray[np.bool_]:
    """Positives by scikit-learn's rule: 1 of {0, 1} and {−1, 1} unless ``pos_label`` names another."""
    column, labels = _labels(y_true)
    if pos_label is None and (column.dtype.kind in "OUS" or not (set(labels) <= {0, 1} or set(labels) <= {-1, 1})):
        remedy = "make it take value in {{0, 1}} or {{-1, 1}}, or say which one is positive: {pos_label}"
        raise InputError("y_true", f"takes value in {show(labels)}", remedy)
    return _positives(column, 1 if pos_label is None else pos_label)


def _totals(sample: Sample) -> tuple[Floats, Floats, NDArray[Any]]:
    """Negatives and positives at or above each distinct score, best first."""
    if sample.weight is None:
        ranking = rank(sample)
        return np.cumsum(ranking.neg, dtype=np.float64), np.cumsum(ranking.pos, dtype=np.float64), ranking.score
    # weights are summed row by row, as scikit-learn sums them, so that rounding drops the same points from a curve
    order = np.argsort(-sample.score, kind="stable")
    score, weight, positive = sample.score[order], sample.weight[order], sample.positive[order]
    ends = np.append(tie_starts(score)[1:], len(score)) - 1
    return np.cumsum(~positive * weight)[ends], np.cumsum(positive * weight)[ends], score[ends]


def roc_curve(
    y_true: Labels,
    y_score: Scores,
    *,
    pos_label: Label = None,
    sample_weight: Scores | None = None,
    drop_intermediate: bool = True,
) -> tuple[Floats, Floats, Floats]:
    """False positive rates, true positive rates and thresholds (``score >= threshold``), from (0, 0) on.

    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr.tolist(), tpr.tolist(), thresholds.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0], [inf, 0.8, 0.4, 0.35, 0.1])
    """
    fps, tps, thresholds = _totals(_scored(_by_pos_label(y_true, pos_label), y_score, sample_weight))
    if drop_intermediate and len(fps) > 2:
        corner = (np.diff(fps, 2) != 0) | (np.diff(tps, 2) != 0)
        kept = np.flatnonzero(np.concatenate([[True], corner, [True]]))
        fps, tps, thresholds = fps[kept], tps[kept], thresholds[kept]
    rates = []
    for sums, which in ((fps, "negative samples in y_true, false"), (tps, "positive samples in y_true, true")):
        sums = np.concatenate([[0.0], sums])
        if sums[-1] > 0:
            rates.append(sums / sums[-1])
            continue
        warnings.warn(f"No {which} positive value should be meaningless", UndefinedMetricWarning, stacklevel=2)
        rates.append(np.full(len(sums), np.nan))
    return rates[0], rates[1], np.concatenate([[np.inf], thresholds.astype(np.float64)])


def precision_recall_curve(
    y_true: Labels,
    y_score: Scores,
    *,
    pos_label: Label = None,
    sample_weight: Scores | None = None,
    drop_intermediate: bool = False,
) -> tuple[Floats, Floats, NDArray[Any]]:
    """Precisions, recalls (falling) and thresholds (``score >= threshold``); ends at precision 1, recall 0.

    >>> precision, recall, thresholds = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> precision.round(2).tolist(), recall.tolist()
    ([0.5, 0.67, 0.5, 1.0, 1.0], [1.0, 1.0, 0.5, 0.5, 0.0])
    """
    fps, tps, thresholds = _totals(_scored(_by_pos_label(y_true, pos_label), y_score, sample_weight))
    if drop_intermediate and len(fps) > 2:
        moves = (np.diff(tps[:-1]) != 0) | (np.diff(tps[1:]) != 0)
        kept = np.flatnonzero(np.concatenate([[True], moves, [True]]))
        fps, tps, thresholds = fps[kept], tps[kept], thresholds[kept]
    precision = tps / (tps + fps)
    recall = np.ones(len(tps)) if tps[-1] == 0 else tps / tps[-1]
    if tps[-1] == 0:
        _warn_no_positives()
    dtype = as_column(y_score, "y_score").dtype
    given = thresholds[::-1].astype(dtype) if dtype.kind in "iuf" else thresholds[::-1]
    return np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), given


def _warn_no_positives() -> None:
    warnings.warn(
        "No positive class found in y_true, recall is set to one for all thresholds.", UserWarning, stacklevel=3
    )


def roc_auc_score(
    y_true: Labels,
    y_score: Scores,
    *,
    average: str | None = "macro",
    sample_weight: Scores | None = None,
    max_fpr: float | None = None,
    multi_class: str = "raise",
    labels: Labels | None = None,
) -> float:
    """Area under the ROC curve; up to ``max_fpr``, standardised after McClish. The larger label is positive.

    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    _refuse_unless("roc_auc_score", "average", average, _AVERAGES)  # of no effect with two labels
    _refuse_unless("roc_auc_score", "multi_class", multi_class, ("raise",))
    _refuse_unless("roc_auc_score", "labels", labels, (None,))
    if max_fpr is not None and check_number(max_fpr, "max_fpr", 0.0, 1.0) == 0:
        raise InputError("max_fpr", "is 0, which leaves no area", "it must lie in (0, 1]")
    column, found = _labels(y_true)
    sample = _scored(_positives(column, found[-1]), y_score, sample_weight)
    if len(found) < 2:
        warnings.warn(
            "Only one class is present in y_true. ROC AUC score is not defined in that case.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        return float("nan")
    if max_fpr is None or max_fpr == 1:
        spec = parse_measure("roc_auc")
        return compute([spec], rank(sample)).values[spec]
    fps, tps, _ = _totals(sample)
    fpr, tpr = np.append(0.0, fps / fps[-1]), np.append(0.0, tps / tps[-1])
    stop = int(np.searchsorted(fpr, max_fpr, side="right"))
    across = (max_fpr - fpr[stop - 1]) / (fpr[stop] - fpr[stop - 1])
    height = tpr[stop - 1] + across * (tpr[stop] - tpr[stop - 1])
    area = float(np.trapezoid(np.append(tpr[:stop], height), np.append(fpr[:stop], max_fpr)))
    least = 0.5 * max_fpr**2
    return 0.5 * (1.0 + (area - least) / (max_fpr - least))


def average_precision_score(
    y_true: Labels,
    y_score: Scores,
    *,
    average: str | None = "macro",
    pos_label: Any = 1,
    sample_weight: Scores | None = None,
) -> float:
    """Sum of precisions weighted by the gain in recall.

    >>> round(average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8333
    """
    _refuse_unless("average_precision_score", "average", average, _AVERAGES)  # of no effect with two labels
    column, labels = _labels(y_true)
    if len(labels) == 2 and pos_label not in labels:
        raise InputError("pos_label", f"is {show(pos_label)}", f"it should be one of {listed(labels)}")
    sample = _scored(_positives(column, pos_label), y_score, sample_weight)
    if not sample.positive.any():
        _warn_no_positives()
        return 0.0
    spec = parse_measure("average_precision")
    return compute([spec], rank(sample)).values[spec]

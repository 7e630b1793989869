"""Drop-in functions that read scores: scikit-learn's names, arguments, values and warnings, for two labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from ..catalogue.compute import compute
from ..catalogue.declare import check_number, parse_measure
from ..errors import InputError
from ..ranking import rank
from ..sample import Sample, as_column
from .labels import (
    Floats,
    by_pos_label,
    check_lengths,
    distinct_labels,
    label_column,
    positives,
    refuse_unless,
    scored,
    weight_column,
)

_AVERAGES = ("macro", "micro", "samples", "weighted", None)


def _of_larger_label(y_true: Any) -> tuple[NDArray[np.bool_], int]:
    """Positives where no ``pos_label`` says otherwise: the larger of two labels. Also how many labels occur."""
    column = label_column(y_true, "y_true")
    labels = distinct_labels(column)
    return positives(column, labels[-1]), len(labels)


def _totals(sample: Sample) -> tuple[Floats, Floats, NDArray[Any]]:
    """Negatives and positives at or above each distinct score, best first."""
    if sample.weight is None:
        ranking = rank(sample)
        return np.cumsum(ranking.neg, dtype=np.float64), np.cumsum(ranking.pos, dtype=np.float64), ranking.score
    # weights are summed row by row, as scikit-learn sums them, so that rounding drops the same points from a curve
    order = np.argsort(-sample.score, kind="stable")
    score, weight, positive = sample.score[order], sample.weight[order], sample.positive[order]
    ends = np.append(np.flatnonzero(np.diff(score)), len(score) - 1)
    return np.cumsum(~positive * weight)[ends], np.cumsum(positive * weight)[ends], score[ends]


def roc_curve(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, drop_intermediate: bool = True
) -> tuple[Floats, Floats, Floats]:
    """False positive rates, true positive rates and thresholds (``score >= threshold``), from (0, 0) on.

    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr.tolist(), tpr.tolist(), thresholds.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0], [inf, 0.8, 0.4, 0.35, 0.1])
    """
    fps, tps, thresholds = _totals(scored(by_pos_label(y_true, pos_label), y_score, sample_weight))
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
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None, drop_intermediate: bool = False
) -> tuple[Floats, Floats, NDArray[Any]]:
    """Precisions, recalls (falling) and thresholds (``score >= threshold``); ends at precision 1, recall 0.

    >>> precision, recall, thresholds = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> precision.round(2).tolist(), recall.tolist()
    ([0.5, 0.67, 0.5, 1.0, 1.0], [1.0, 1.0, 0.5, 0.5, 0.0])
    """
    fps, tps, thresholds = _totals(scored(by_pos_label(y_true, pos_label), y_score, sample_weight))
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
    y_true: Any,
    y_score: Any,
    *,
    average: str | None = "macro",
    sample_weight: Any = None,
    max_fpr: float | None = None,
    multi_class: str = "raise",
    labels: Any = None,
) -> float:
    """Area under the ROC curve; up to ``max_fpr``, standardised after McClish. The larger label is positive.

    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    refuse_unless("roc_auc_score", "average", average, _AVERAGES)  # of no effect with two labels
    refuse_unless("roc_auc_score", "multi_class", multi_class, ("raise",))
    refuse_unless("roc_auc_score", "labels", labels, (None,))
    if max_fpr is not None and check_number(max_fpr, "max_fpr", 0.0, 1.0) == 0:
        raise InputError("max_fpr=0 leaves no area; it must lie in (0, 1]")
    positive, found = _of_larger_label(y_true)
    sample = scored(positive, y_score, sample_weight)
    if found < 2:
        warnings.warn(
            "Only one class is present in y_true. ROC AUC score is not defined in that case.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        return float("nan")
    if max_fpr is None or max_fpr == 1:
        spec = parse_measure("roc_auc")
        return compute([spec], rank(sample))[spec]
    fps, tps, _ = _totals(sample)
    fpr, tpr = np.append(0.0, fps / fps[-1]), np.append(0.0, tps / tps[-1])
    stop = int(np.searchsorted(fpr, max_fpr, side="right"))
    across = (max_fpr - fpr[stop - 1]) / (fpr[stop] - fpr[stop - 1])
    height = tpr[stop - 1] + across * (tpr[stop] - tpr[stop - 1])
    area = float(np.trapezoid(np.append(tpr[:stop], height), np.append(fpr[:stop], max_fpr)))
    least = 0.5 * max_fpr**2
    return 0.5 * (1.0 + (area - least) / (max_fpr - least))


def average_precision_score(
    y_true: Any, y_score: Any, *, average: str | None = "macro", pos_label: Any = 1, sample_weight: Any = None
) -> float:
    """Sum of precisions weighted by the gain in recall.

    >>> round(average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8333
    """
    refuse_unless("average_precision_score", "average", average, _AVERAGES)  # of no effect with two labels
    column = label_column(y_true, "y_true")
    labels = distinct_labels(column)
    if len(labels) == 2 and pos_label not in labels:
        raise InputError(f"pos_label={pos_label!r} is not a valid label. It should be one of {labels!r}")
    sample = scored(positives(column, pos_label), y_score, sample_weight)
    if not sample.positive.any():
        _warn_no_positives()
        return 0.0
    spec = parse_measure("average_precision")
    return compute([spec], rank(sample))[spec]


def _probabilities(values: Any, n: int) -> NDArray[Any]:
    """Probabilities of both classes, from one column (of the positive class) or from two."""
    column = np.asarray(values.detach() if hasattr(values, "detach") else values)  # of a tensor, the values alone
    if column.ndim == 2 and column.shape[1] == 2:
        both = column.astype(np.float64) if column.dtype.kind != "f" else column
    else:
        one = as_column(column[:, 0] if column.ndim == 2 and column.shape[1] == 1 else column, "y_proba")
        if one.dtype.kind not in "biuf":
            raise InputError(f"y_proba must hold numbers, got values of type {one.dtype}")
        one = one.astype(np.float64) if one.dtype.kind != "f" else one
        both = np.stack([1 - one, one], axis=1)
    check_lengths(("y_true", np.empty(n)), ("y_proba", both))
    if np.isnan(both).any():
        raise InputError(f"y_proba: row {int(np.argmax(np.isnan(both).any(axis=1)))} is NaN; give it a number")
    if both.max() > 1 or both.min() < 0:
        row = int(np.argmax(((both > 1) | (both < 0)).any(axis=1)))
        raise InputError(f"y_proba: row {row} lies outside [0, 1]; pass probabilities")
    if not np.allclose(both.sum(axis=1), 1, rtol=float(np.sqrt(np.finfo(both.dtype).eps)), atol=0):
        warnings.warn(
            "The y_prob values do not sum to one. Make sure to pass probabilities.", UserWarning, stacklevel=3
        )
    return both


def log_loss(
    y_true: Any, y_proba: Any, *, normalize: bool = True, sample_weight: Any = None, labels: Any = None
) -> float:
    """Mean (``normalize=False``: sum) of −ln of the probability given to the true label; the larger is positive.

    ``y_proba``: probabilities of the positive label, or of both as ``predict_proba`` gives them. ``labels`` names both
    labels where only one occurs.

    >>> round(log_loss([0, 1, 1], [0.2, 0.9, 0.6]), 4)
    0.2798
    """
    column = label_column(y_true, "y_true")
    known = distinct_labels(column if labels is None else label_column(labels, "labels"))
    if len(known) != 2:
        raise InputError("y_true contains only one label; name both with labels=[…]")
    if not set(distinct_labels(column)) <= set(known):
        raise InputError(f"y_true contains labels that are not among labels={known!r}")
    positive = positives(column, known[1])
    both = _probabilities(y_proba, len(column))
    eps = np.finfo(both.dtype).eps
    given = np.clip(np.where(positive, both[:, 1], both[:, 0]), eps, 1 - eps)
    return _mean(-np.log(given), weight_column(sample_weight, len(column)), normalize)


def brier_score_loss(
    y_true: Any,
    y_proba: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    scale_by_half: bool | str = "auto",
) -> float:
    """Mean squared distance of probability and outcome (``scale_by_half=False``: over both classes, twice that).

    >>> round(brier_score_loss([0, 1, 1], [0.2, 0.9, 0.6]), 4)
    0.07
    """
    refuse_unless("brier_score_loss", "labels", labels, (None,))
    refuse_unless("brier_score_loss", "scale_by_half", scale_by_half, ("auto", True, False))
    column = label_column(y_true, "y_true")
    known = distinct_labels(column)
    positive = positives(column, _brier_label(column, known, pos_label, np.ndim(y_proba) == 2))
    both = _probabilities(y_proba, len(column))
    loss = ((positive - both[:, 1].astype(np.float64)) ** 2 + (~positive - both[:, 0].astype(np.float64)) ** 2) / 2
    return _mean(loss * (1.0 if scale_by_half else 2.0), weight_column(sample_weight, len(column)), True)


def _brier_label(column: NDArray[Any], known: list[Any], pos_label: Any, two_columns: bool) -> Any:
    """The positive label: as given, else 1 of {0, 1} and {−1, 1}, else the larger of two numbers."""
    if two_columns:
        if pos_label is not None:
            raise InputError("brier_score_loss(pos_label=…) goes with one column of probabilities, not with two")
        if len(known) < 2:
            raise InputError("y_true contains only one label; pass one column of probabilities and pos_label=…")
        return known[1]
    if pos_label is not None:
        if pos_label not in known and len(known) > 1:
            raise InputError(f"pos_label={pos_label!r} is not a valid label. It should be one of {known!r}")
        return pos_label
    if column.dtype.kind in "OUS":
        raise InputError(f"y_true takes value in {known!r} and pos_label is not specified; add pos_label=…")
    return 1 if set(known) <= {0, 1} or set(known) <= {-1, 1} else known[-1]


def hinge_loss(y_true: Any, pred_decision: Any, *, labels: Any = None, sample_weight: Any = None) -> float:
    """Mean of max(0, 1 − margin) of signed distances; the larger label lies on the positive side.

    >>> round(hinge_loss([-1, 1, 1], [-2.18, 2.36, 0.09]), 4)
    0.3033
    """
    refuse_unless("hinge_loss", "labels", labels, (None,))
    positive, found = _of_larger_label(y_true)
    sample = scored(positive if found == 2 else np.zeros_like(positive), pred_decision, sample_weight)
    margin = np.where(sample.positive, sample.score, -sample.score)
    return _mean(np.maximum(0.0, 1.0 - margin), sample.weight, True)


def _mean(losses: NDArray[Any], weight: Floats | None, normalize: bool) -> float:
    if normalize:
        return float(np.average(losses, weights=weight))
    return float(losses.sum() if weight is None else losses @ weight)

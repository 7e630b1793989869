"""Intervals for areas and maxima of the ROC and precision–recall curves, from a ranking of independent rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimate import Interval
from ..types import Floats
from .proportions import wilson_share, z_of
from .scales import combined_freedom, dot, freedom_in_small_class, freedom_of, scaled_limits

FEW_CASES = 10  # fewer in a class: Newcombe's score interval of the AUC
_BIAS = 1.5  # the bootstrap sees about two thirds of the bias of a maximum
FEW_POSITIVES = 30  # fewer: areas under precision–recall are also taken as shares of the positives


def auc_spread(pos: NDArray[Any], neg: NDArray[Any]) -> tuple[float, float, float]:
    """AUC, DeLong's variance, and the degrees of freedom of that variance, from tie groups; O(groups)."""
    a, b = np.asarray(pos, np.float64), np.asarray(neg, np.float64)
    n_pos, n_neg = float(a.sum()), float(b.sum())
    if not n_pos or not n_neg:
        return math.nan, math.nan, 1.0
    below = (n_neg - np.cumsum(b) + b / 2.0) / n_neg
    above = (np.cumsum(a) - a / 2.0) / n_pos
    auc = dot(below, a) / n_pos
    if min(n_pos, n_neg) < 2:
        return auc, math.nan, 1.0
    parts = [_component(below, a, n_pos), _component(above, b, n_neg)]
    variances, freedoms = np.array(parts).T
    return auc, float(variances.sum()), combined_freedom(variances, freedoms)


def _component(values: Floats, counts: Floats, n: float) -> tuple[float, float]:
    """Variance of the mean of placements, and its effective degrees of freedom."""
    square = np.square(values - dot(values, counts) / n)
    second = dot(square, counts)
    return second / (n - 1.0) / n, freedom_of(second, dot(np.square(square), counts), n)


def newcombe_limits(auc: float, n_pos: float, n_neg: float, z: float) -> Interval:
    """Areas A with |A − auc| ≤ z·SE(A), SE by Hanley & McNeil with equalised class sizes."""
    if min(n_pos, n_neg) <= 0.0:
        return Interval(0.0, 1.0)  # one class alone tells nothing of an area
    half = (n_pos + n_neg) / 2.0 - 1.0

    def beyond(a: float) -> bool:
        spread = a * (1 - a) * (1 + half * ((1 - a) / (2 - a) + a / (1 + a))) / (n_pos * n_neg)
        return abs(a - auc) > z * math.sqrt(max(spread, 0.0))

    def edge(inside: float, outside: float) -> float:
        for _ in range(60):
            middle = (inside + outside) / 2.0
            inside, outside = (inside, middle) if beyond(middle) else (middle, outside)
        return (inside + outside) / 2.0

    return Interval(edge(auc, 0.0) if auc > 0.0 else 0.0, edge(auc, 1.0) if auc < 1.0 else 1.0)


def auch_limits(auch: float, of_auc: Interval, error: float, freedom: float, level: float) -> Interval:
    """From the lower limit of the AUC to the upper logit limit around the hull's own area.

    The hull's area is the AUC of the best mixtures and never less than the AUC; as an estimate it is too high.
    """
    _, high = scaled_limits(auch, error, freedom, level, "logit")
    return Interval(max(of_auc.low, 0.5), max(high if high == high else 1.0, of_auc.high))


def gap_limits(hits: float, n_pos: float, false: float, n_neg: float, level: float) -> Interval:
    """|TPR − FPR| at its best cut (KS, maximal Youden index): two Wilson intervals, squared and added (Newcombe 1998).

    Never of zero width. ``n_pos`` and ``n_neg`` may be effective sizes.
    """
    p, q = hits / n_pos, false / n_neg
    if q > p:
        p, q, n_pos, n_neg = q, p, n_neg, n_pos
    l1, u1 = wilson_share(p, n_pos, level)
    l2, u2 = wilson_share(q, n_neg, level)
    gap = p - q
    return Interval(max(0.0, gap - math.hypot(p - l1, u2 - q)), min(1.0, gap + math.hypot(u1 - p, q - l2)))


def biased_maximum_limits(
    value: float, bias: float, error: float, freedom: float, level: float, floor: float = 0.0
) -> Interval:
    """A maximum over cuts, of clustered or weighted rows: low from the value less its bootstrap bias, high from itself.

    ``bias``: mean of the replicates less the value. ``floor``: the least value the measure can have.
    """
    span = 1.0 - floor
    up = (value - floor) / span
    down = min(max(up - _BIAS * max(bias, 0.0) / span, 1e-6), 1.0 - 1e-6)
    low, _ = scaled_limits(down, error / span, freedom, level, "logit")
    _, high = scaled_limits(up, error / span, freedom, level, "logit")
    return Interval(floor + span * low, floor + span * high)


def precision_area_limits(
    value: float, error: float, freedom: float, n_pos: float, level: float, most: float = 1.0
) -> tuple[Interval, str]:
    """Average precision, average hit rate, areas under precision–recall: logit scale, bootstrap error, t.

    ``most``: the area of a perfect ranking with so many positives, which is 1 only in the limit for the trapezoids.
    They come out too small by up to what is missing there: the upper limit starts from half of it more.
    With few positives, or a perfect ranking, the area is also read as a share of n⁺ trials (Wilson), on the scale of
    ``most``; the wider limits count, and the upper one is that of a list with any number of positives.
    """
    freedom = freedom_in_small_class(freedom, n_pos)
    raised = min(value + (1.0 - most) / 2.0, (1.0 + value) / 2.0)
    plain = Interval(
        scaled_limits(value, error, freedom, level, "logit").low,
        scaled_limits(raised, error, freedom, level, "logit").high,
    )
    perfect = value >= most * (1.0 - 1e-9)
    if n_pos >= FEW_POSITIVES and not perfect and plain.low == plain.low:
        return plain, "logit"
    low, high = wilson_share(min(value / most, 1.0), n_pos, level)
    if perfect or plain.low != plain.low:
        return Interval(low * most, high), "wilson"
    return Interval(min(low * most, plain.low), max(high, plain.high)), "logit_wilson"


def average_qrecall_limits(
    value: float, error: float, freedom: float, n_pos: float, n_neg: float, level: float
) -> tuple[Interval, str]:
    """Logit scale, bootstrap error, t; Newcombe's interval of the AUC with few cases in a class or a perfect ranking.

    1 − average Qrecall is at most 1 − AUC and close to it for good models, so that the AUC's interval at this value
    holds it.
    """
    plain = scaled_limits(value, error, freedom_in_small_class(freedom, min(n_pos, n_neg)), level, "logit")
    if plain.low != plain.low or min(n_pos, n_neg) < 6:
        stand_in = newcombe_limits(value, n_pos, n_neg, z_of(level))
        if plain.low != plain.low:
            return stand_in, "newcombe"
        return Interval(min(plain.low, stand_in.low), max(plain.high, stand_in.high)), "newcombe"
    return plain, "logit"


def linear_ranking_error(auc: float, variance: float, n_pos: float, n_neg: float) -> float:
    """Standard error of Linear Ranking over samples of n rows, the number of positives varying too (delta method)."""
    n = n_pos + n_neg
    slope = auc * (n_neg - n_pos) + n_pos + 0.5
    return math.sqrt(variance * (n_pos * n_neg) ** 2 + slope**2 * n_pos * n_neg / n)


def average_gain_error(auc: float, variance: float, n_pos: float, n_neg: float) -> float:
    """Standard error of the average gain over samples of n rows, the number of positives varying too."""
    n = n_pos + n_neg
    slope = (2.0 * auc - 1.0) * (n_neg - n_pos) / (2.0 * n)
    return math.sqrt(variance * (n_pos * n_neg / n) ** 2 + slope**2 * n_pos * n_neg / n)


def likelihood_ratio_limits(hits: float, n_pos: float, false: float, n_neg: float, level: float) -> Interval:
    """Ratio of two independent shares from their Wilson intervals (MOVER-R, Donner & Zou 2012): LR+, LR−."""
    p1, p2 = hits / n_pos, false / n_neg
    l1, u1 = wilson_share(p1, n_pos, level)
    l2, u2 = wilson_share(p2, n_neg, level)
    both = p1 * p2
    low = (both - math.sqrt(max(both**2 - l1 * u2 * (2 * p1 - l1) * (2 * p2 - u2), 0.0))) / (u2 * (2 * p2 - u2))
    if p2 <= 0.0 or l2 <= 0.0:
        return Interval(max(low, 0.0), math.inf)
    high = (both + math.sqrt(max(both**2 - u1 * l2 * (2 * p1 - u1) * (2 * p2 - l2), 0.0))) / (l2 * (2 * p2 - l2))
    return Interval(max(low, 0.0), high)


def correlation_limits(statistic: Callable[[Floats], float], cells: Floats, level: float) -> Interval:
    """MCC, kappa: delta method on Fisher's z (Itaya et al. 2024), at the cells and with half a case more in each.

    The wider limits count where a cell is empty: what did not happen in this sample may yet happen. ``statistic`` takes
    the cells (tp, fp, fn, tn) as shares or counts.
    """
    whole = cells.astype(np.float64)
    smooth = _fisher_limits(statistic, whole + 0.5, level)
    value = float(statistic(whole))
    if not abs(value) < 1.0 - 1e-9:
        return Interval(-1.0 if value < 0.0 else smooth.low, 1.0 if value > 0.0 else smooth.high)
    plain = _fisher_limits(statistic, whole, level)
    if plain.low != plain.low:
        return smooth
    if whole.min() > 0.0:
        return plain
    return Interval(min(plain.low, smooth.low), max(plain.high, smooth.high))


def _fisher_limits(statistic: Callable[[Floats], float], cells: Floats, level: float) -> Interval:
    n = float(cells.sum())
    share, step = cells / n, 1e-6
    moves = step * np.eye(4)
    slope = np.array([(statistic(share + move) - statistic(share - move)) / (2.0 * step) for move in moves])
    error = math.sqrt(max(0.0, float(share @ slope**2 - (share @ slope) ** 2)) / n)
    value = float(statistic(share))
    return scaled_limits(value, error, n - 1.0, level, "atanh")


def ranking_score_moments(
    pos: NDArray[Any], neg: NDArray[Any], worth: Callable[[Any, Any], Any]
) -> tuple[float, float]:
    """Σψ² and Σψ⁴ of the rows' influences on Σ g(place) over the positives, n fixed.

    A row adds g at its own place if it is positive, and lifts every positive above it by one place; ψ is centred.
    ``worth``: the mean of g over the places from one to another, worst = 1. Group by group, so rows take no memory.
    """
    a, b = np.asarray(pos, np.float64), np.asarray(neg, np.float64)
    size = a + b
    above = np.cumsum(size)
    n = float(above[-1])
    last = n - (above - size)  # the best place of each group, counted from the worst
    first = n - above + 1.0
    lifted = a * (worth(last, last) - worth(first - 1.0, first - 1.0)) / size
    of_neg = np.cumsum(lifted) - lifted / 2.0
    of_pos = worth(first, last) + of_neg
    mean = (dot(a, of_pos) + dot(b, of_neg)) / n
    squares = np.square(of_pos - mean), np.square(of_neg - mean)
    return dot(a, squares[0]) + dot(b, squares[1]), dot(a, squares[0] ** 2) + dot(b, squares[1] ** 2)

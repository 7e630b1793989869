"""Variances and limits that several methods read: of areas under the ROC curve, ratios of rates, correlations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import Measure, ratio
from ..estimate import Interval
from ..ranking import Ranking
from ..types import Floats
from .proportions import wilson_share, z_of
from .scales import combined_freedom, dot, freedom_of, scaled_limits

FEW_CASES = 10  # fewer in a class: Newcombe's score interval of the AUC
FEW_IN_CELL = 5  # cases in a cell on which no delta method can rest
FEW_CARRY = 30  # fewer degrees of freedom: nearly perfect models, at which a case far out on the wrong side counts much
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


def placements(ranking: Ranking) -> tuple[Floats, Floats]:
    """For each tie group: the share of negatives below a positive of it, and of positives above a negative of it."""
    pos, neg = ranking.pos.astype(np.float64), ranking.neg.astype(np.float64)  # nan where the other class is missing
    below = ranking.n_neg - np.cumsum(neg) + neg / 2.0
    above = np.cumsum(pos) - pos / 2.0
    return ratio(below, ranking.n_neg), ratio(above, ranking.n_pos)


def line_of(one: Measure, ranking: Ranking) -> tuple[float, float]:
    """Slope and intercept of the straight line that carries the AUC to one of its relatives."""
    assert one.line_of_auc is not None
    return one.line_of_auc(ranking.n_pos, ranking.n_neg, ranking.cases)


def auc_interval(
    auc: float, variance: float, n_pos: float, n_neg: float, level: float, freedom: float, *, logit: bool
) -> tuple[Interval, str]:
    """DeLong's interval with t, on the logit scale or plain, and the name of the method that was used.

    ``freedom``: degrees of freedom of the variance, inf for normal quantiles. Where the variance is 0 (a perfect
    ranking), and with t where a class has fewer than ten cases, Newcombe's score interval (2006, method 5) stands in.
    With t and few degrees of freedom the lower limit is at least Newcombe's: a sample without the few cases far out on
    the wrong side, which carry the variance of a nearly perfect ranking with heavy tails, shows next to none.
    """
    if not variance > 0.0 or not 0.0 < auc < 1.0 or (math.isfinite(freedom) and min(n_pos, n_neg) < FEW_CASES):
        return newcombe_limits(auc, n_pos, n_neg, z_of(level)), "newcombe"
    error = math.sqrt(variance)
    if logit:
        low, high = scaled_limits(auc, error, freedom, level, "logit")
        if freedom < FEW_CARRY:
            low = min(low, newcombe_limits(auc, n_pos, n_neg, z_of(level)).low)
        return Interval(low, high), "delong_t" if math.isfinite(freedom) else "delong_logit"
    low, high = scaled_limits(auc, error, math.inf, level)
    return Interval(max(0.0, low), min(1.0, high)), "delong"


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
    """MCC, kappa: delta method on Fisher's z (Itaya et al. 2024), also with half a case and one more in each cell.

    The widest limits count where a cell has fewer than five cases: what did not happen in this sample may yet happen.
    ``statistic`` takes the cells (tp, fp, fn, tn) as shares or counts.
    """
    whole = cells.astype(np.float64)
    made = [
        scaled_limits(*delta_error(statistic, whole + more), float(whole.sum()) - 1.0, level, "atanh")
        for more in (0.0, 0.5, 1.0)
    ]
    value = float(statistic(whole))
    if not abs(value) < 1.0 - 1e-9:
        return Interval(-1.0 if value < 0.0 else made[1].low, 1.0 if value > 0.0 else made[1].high)
    if whole.min() >= FEW_IN_CELL:
        return made[0]
    known = [limits for limits in made if limits.low == limits.low]
    return Interval(min(low for low, _ in known), max(high for _, high in known))


def delta_error(statistic: Callable[[Floats], float], cells: Floats) -> tuple[float, float]:
    """A function of the shares of four cells, and its standard error by the delta method."""
    n = float(cells.sum())
    share, step = cells / n, 1e-6
    moves = step * np.eye(4)
    slope = np.array([(statistic(share + move) - statistic(share - move)) / (2.0 * step) for move in moves])
    error = math.sqrt(max(0.0, float(share @ slope**2 - (share @ slope) ** 2)) / n)
    return float(statistic(share)), error


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

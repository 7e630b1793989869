"""Intervals for the area under the ROC curve, and for what is one with it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import Measure, ratio
from ..estimate import Interval
from ..ranking import Ranking
from . import areas
from .proportions import z_of
from .scales import scaled_limits


def placements(ranking: Ranking) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
    """
    if not variance > 0.0 or not 0.0 < auc < 1.0 or (math.isfinite(freedom) and min(n_pos, n_neg) < areas.FEW_CASES):
        return areas.newcombe_limits(auc, n_pos, n_neg, z_of(level)), "newcombe"
    error = math.sqrt(variance)
    if logit:
        name = "delong_t" if math.isfinite(freedom) else "delong_logit"
        return scaled_limits(auc, error, freedom, level, "logit"), name
    low, high = scaled_limits(auc, error, math.inf, level)
    return Interval(max(0.0, low), min(1.0, high)), "delong"

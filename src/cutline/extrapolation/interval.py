"""From replicates to an interval for an accuracy."""

from __future__ import annotations

import numpy as np

from .moments import Floats

_EDGE = 1e-4
# A mean of methods is nearer the truth than its members are to each other: on populations with known curves this share
# of their spread gives intervals that hold the truth as often as they promise.
_OF_BETWEEN = 0.6


def _logit(values: Floats | float) -> Floats:
    inside = np.clip(values, _EDGE, 1.0 - _EDGE)
    return np.asarray(np.log(inside / (1.0 - inside)), dtype=np.float64)


def spread_around(values: Floats, centre: float, weights: Floats | None = None) -> tuple[float, float]:
    """Spread below and above the centre on the logit scale, each as if the other side mirrored it.

    Two sides, because a method or a resample that falls to zero says nothing about how high the truth may be.

    >>> down, up = spread_around(np.array([0.4, 0.5, 0.5, 0.8]), 0.5)
    >>> bool(down < up)
    True
    """
    share = np.full(values.size, 1.0 / max(values.size, 1)) if weights is None else weights / weights.sum()
    gap = _logit(values) - float(_logit(centre))
    below, above = gap < 0, gap > 0
    return (
        float(np.sqrt(2.0 * (share[below] @ gap[below] ** 2))),
        float(np.sqrt(2.0 * (share[above] @ gap[above] ** 2))),
    )


def accuracy_interval(
    value: float, replicates: Floats, members: Floats, weights: Floats, level: float
) -> tuple[float, float]:
    """Interval on the logit scale from two sources: other classes (replicates) and other methods (members).

    Replicates serve for their spread alone: a resample repeats classes, which lifts its accuracies, so their place
    is off while their scatter is right.

    >>> low, high = accuracy_interval(0.5, np.array([0.4, 0.5, 0.6]), np.array([0.5]), np.ones(1), 0.9)
    >>> round(low, 2), round(high, 2)
    (0.37, 0.63)
    """
    from scipy.special import ndtri

    if value <= 0.0 or value >= 1.0:
        # Nothing scatters at the very edge: the replicates' own extremes are all there is.
        low, high = np.quantile(replicates, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        return float(min(low, value)), float(max(high, value))
    reach = float(ndtri(0.5 + level / 2.0))
    centre = float(np.log(value / (1.0 - value)))
    sampled = spread_around(replicates, float(np.median(replicates)))
    between = spread_around(members, value, weights) if members.size > 1 else (0.0, 0.0)
    low = centre - reach * float(np.hypot(sampled[0], _OF_BETWEEN * between[0]))
    high = centre + reach * float(np.hypot(sampled[1], _OF_BETWEEN * between[1]))
    return float(1.0 / (1.0 + np.exp(-low))), float(1.0 / (1.0 + np.exp(-high)))

"""The standard normal distribution, from Python's own library: intervals of small samples start without SciPy."""

from __future__ import annotations

import math
from statistics import NormalDist

_STANDARD = NormalDist()


def normal_cdf(z: float) -> float:
    """P(Z ≤ z), without loss of digits far out on the left."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def normal_quantile(p: float) -> float:
    """The z with P(Z ≤ z) = p (Wichura's algorithm AS 241)."""
    if p <= 0.0 or p >= 1.0:
        return -math.inf if p <= 0.0 else math.inf
    return _STANDARD.inv_cdf(p)

"""The numbers behind the quota explorer: every model at every quota a reader can choose."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

EXACT_UP_TO = 500


def hits_interval(hits: float, quota: int, level: float) -> tuple[float, float]:
    """Interval for the expected number of hits at one quota."""
    low, high = hits_intervals(np.array([hits]), np.array([quota]), level)
    return float(low[0]), float(high[0])


def hits_intervals(
    hits: NDArray[np.float64], quotas: NDArray[np.int64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Intervals for the expected number of hits at many quotas: Wilson's interval for the hit rate, times the quota."""
    from scipy.special import ndtri

    z = float(ndtri(0.5 + level / 2))
    rate = hits / quotas
    centre = (rate + z * z / (2 * quotas)) / (1 + z * z / quotas)
    half = z / (1 + z * z / quotas) * np.sqrt(rate * (1 - rate) / quotas + z * z / (4 * quotas**2))
    return np.maximum(centre - half, 0.0) * quotas, np.minimum(centre + half, 1.0) * quotas

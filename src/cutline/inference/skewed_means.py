"""The mean of differences that few units carry: on most days next to nothing, on a busy one very much.

Student's t then fails on the side that was not seen: the mean and its standard error are both small in samples without
a busy day. Gains and losses are non-negative, so each of their means has a gamma interval (Fay & Feuer 1997), which
allows for one more unit as large as the largest; their difference comes from the two intervals and their correlation
(Newcombe's MOVER).
"""

from __future__ import annotations

import math

import numpy as np

from ..estimate import Interval
from ..types import Floats
from .differences import DifferenceTest

_LEAST_P = 1e-12
_HALVINGS = 36


def skewed_mean_test(each: Floats, level: float, smallest: float, method: str, wider: float = 1.0) -> DifferenceTest:
    """Interval and p-value of the mean of ``each``, one number for each independent unit.

    The p-value is 1 less the largest level at which the interval leaves 0 out. ``smallest``: what a unit differs by if
    it differs at all, for units that are all alike. ``wider``: how many times as large as of independent units the
    standard error is.
    """
    certain, chance = math.log(_LEAST_P), 0.0  # logarithms of p-values that are too small, and large enough
    for _ in range(_HALVINGS):
        middle = (certain + chance) / 2.0
        low, high = skewed_mean_limits(each, -math.expm1(middle), smallest, wider)
        certain, chance = (certain, middle) if low > 0.0 or high < 0.0 else (middle, chance)
    error = float(each.std(ddof=1)) / math.sqrt(len(each)) * wider
    return DifferenceTest(*skewed_mean_limits(each, level, smallest, wider), error, math.exp(chance), method)


def skewed_mean_limits(each: Floats, level: float, smallest: float, wider: float = 1.0) -> Interval:
    """Interval of a mean: gamma limits of the mean gain and the mean loss, combined.

    Few units widen the variance by (t/z)². One more unit as large as the largest of either sign counts in full with up
    to twenty units, and by half with many (the mid-p interval of Fay & Kim 2017).
    """
    from scipy.special import ndtri, stdtrit

    units, tail = len(each), 0.5 + level / 2.0
    gain, loss = np.maximum(each, 0.0), np.maximum(-each, 0.0)
    wider = (wider * float(stdtrit(units - 1.0, tail) / ndtri(tail))) ** 2
    more = min(1.0, 0.5 + 10.0 / units) * max(float(np.abs(each).max()), smallest) / units
    (a, a_low, a_high), (b, b_low, b_high) = (_gamma_limits(side, wider, more, level) for side in (gain, loss))
    spread = float(gain.std() * loss.std())
    both = max(-a * b / spread, -1.0) if spread > 0.0 else 0.0  # no unit has a gain and a loss: they exclude each other
    down, up = ((a - a_low, b_high - b), (a_high - a, b - b_low))
    low, high = (math.sqrt(x * x + y * y - 2.0 * both * x * y) for x, y in (down, up))
    return Interval(a - b - low, a - b + high)


def _gamma_limits(side: Floats, wider: float, more: float, level: float) -> tuple[float, float, float]:
    """Mean of numbers that are not negative, and its limits."""
    from scipy.special import gammaincinv

    mean = float(side.mean())
    variance = wider * float(side.var(ddof=1)) / len(side)
    tail = (1.0 - level) / 2.0
    low = variance / mean * float(gammaincinv(mean**2 / variance, tail)) if variance > 0.0 else mean
    top, spread = mean + more, variance + more**2
    return mean, low, spread / top * float(gammaincinv(top**2 / spread, 1.0 - tail))

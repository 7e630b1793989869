"""A paired difference and its reference: the interval and the p-value are two readings of one statistic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimate import Interval
from ..types import Floats
from .flips import FlipReference
from .normal import t_quantile
from .scales import two_sided_p

FEW_CASES = 12
_NOTHING = 1e-12  # a standard error so small, relative to the values, is rounding


class DifferenceTest(NamedTuple):
    """A difference tested: its interval, standard error, p-value, how they were made, and what the error rests on.

    ``freedom``: degrees of freedom of the standard error.
    """

    low: float = math.nan
    high: float = math.nan
    standard_error: float = math.nan
    p_value: float = math.nan
    method: str = ""
    freedom: float = math.nan


@dataclass(frozen=True)
class PairedDifference:
    """Difference and standard error, judged by sign flips.

    With fewer than twelve cases in the smaller class the flips of influences are not to be trusted alone: Student's t
    with ``guard`` degrees of freedom must agree.
    """

    difference: float
    error: float
    reference: FlipReference
    guard: float
    method: str

    @property
    def p_value(self) -> float:
        """Two-sided, never 0."""
        statistic = self.difference / self.error
        p = self.reference.p_value(statistic)
        return max(p, two_sided_p(statistic, self.guard)) if math.isfinite(self.guard) else p

    def limits(self, level: float, widest: float = math.inf) -> Interval:
        """Difference ± critical value · SE, within ± ``widest`` (the largest difference that the measure allows).

        Leaves 0 out exactly where ``p_value`` is at most 1 − level.
        """
        critical = self.reference.critical(level)
        if math.isfinite(self.guard):
            critical = max(critical, t_quantile(level, self.guard))
        half = critical * self.error
        return Interval(max(self.difference - half, -widest), min(self.difference + half, widest))

    def test(self, level: float, widest: float = math.inf) -> DifferenceTest:
        """Interval, standard error and p-value."""
        freedom = min(self.reference.freedom, self.guard)
        return DifferenceTest(*self.limits(level, widest), self.error, self.p_value, self.method, freedom)


def sums_by(unit: NDArray[Any], each: Floats, units: int) -> Floats:
    """Influences of rows added up by unit."""
    return np.bincount(unit, weights=each, minlength=units).astype(np.float64)


def guard_freedom(smaller_class: float) -> float:
    """Degrees of freedom of the guard, 3·(cases − 1) of the smaller class; inf (no guard) from twelve on."""
    return max(3.0 * (smaller_class - 1.0), 1.0) if smaller_class < FEW_CASES else math.inf


def paired_difference(
    values: tuple[float, float],
    influence: Floats,
    smaller_class: float,
    seed: int,
    method: str,
    error: float | None = None,
) -> PairedDifference | None:
    """The difference of two values, from the influence of each row, block or cluster on it.

    ``error``: its standard error, by default √(Σψ²·U/(U − 1)). None where nothing varies, or something is not known.
    """
    units = len(influence)
    if units < 2 or not np.isfinite(influence).all():
        return None
    if error is None:
        error = math.sqrt(float((influence**2).sum()) * units / (units - 1.0))
    if not _NOTHING * max(map(abs, values)) < error < math.inf:
        return None
    reference = FlipReference.of(influence, seed)
    return PairedDifference(values[0] - values[1], error, reference, guard_freedom(smaller_class), method)


def mover_limits(first: tuple[float, Interval], second: tuple[float, Interval]) -> Interval:
    """Interval of a difference from the intervals of its two terms, as if independent (Newcombe 1998).

    For differences that do not vary when rows are left out (a perfect model against a constant one): each term's own
    interval has a width. Where models agree more than by chance it is too wide, never too short.
    """
    (a, (a_low, a_high)), (b, (b_low, b_high)) = first, second
    return Interval(a - b - math.hypot(a - a_low, b_high - b), a - b + math.hypot(a_high - a, b - b_low))

"""A paired difference and its reference: the interval and the p-value are two readings of one statistic.

Sign flips say how far a difference between two models strays by chance. If two models are equally good, the influence
of a row (or cluster) on their difference is as likely to favour one as the other. Flipping signs at random shows what
chance does, also where a handful of rows carries the whole difference: of m such rows no p-value is below 2·2⁻ᵐ.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimate import Interval
from ..types import Floats
from .normal import t_quantile
from .scales import effective_freedom, two_sided_p

EXACT_UNITS = 11
FLIPS = 1999


@lru_cache(maxsize=3)
def sign_matrix(units: int, n_flips: int, seed: int) -> Floats:
    """Signs, one row for each flip; all of them (the first unit's sign fixed) with at most eleven units."""
    if units <= EXACT_UNITS:
        return np.array([(1.0, *rest) for rest in itertools.product((1.0, -1.0), repeat=max(units - 1, 0))])
    rng = np.random.default_rng([seed & (2**63 - 1), 5])
    return 2.0 * rng.integers(0, 2, (n_flips, units)).astype(np.float64) - 1.0


def flipped_scale(statistic: Any, units: int) -> Any:
    """|t|/√(1 + t²/U): a statistic with centred influences on the scale of the flips."""
    size = np.abs(statistic)
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(size), math.sqrt(units), size / np.sqrt(1.0 + size * size / units))


@dataclass(frozen=True)
class FlipReference:
    """Sorted |Σεψ|/√Σψ² over the flips of ``units`` influences; ``exact`` where all flips were made.

    Influences are centred, so a difference D of U units is compared as D/√(Σψ² + D²/U): what is flipped under the null
    hypothesis are the uncentred ψ + D/U. That matters with few units or clusters.
    """

    statistics: Floats
    units: int
    exact: bool
    freedom: float
    skew: float  # |Σψ³|/(Σψ²)^1.5, the skewness of the difference: 0 where both models stray alike

    @staticmethod
    def of(influence: Floats, seed: int) -> FlipReference:
        """The reference of a difference on which units have these influences.

        It does not depend on their scale or sign, so measures that are one number on several scales share it.
        """
        largest = influence[int(np.argmax(np.abs(influence)))]
        return _reference(np.round(influence / largest, 12).tobytes(), seed)

    def p_value(self, statistic: float) -> float:
        """Share of flips at least as far from 0, the observed signs among them; never 0.

        Where no flip comes as far and there are many, Student's t goes on where they end.
        """
        flipped = flipped_scale(statistic, self.units)
        beyond = len(self.statistics) - int(np.searchsorted(self.statistics, flipped * (1.0 - 1e-9)))
        if self.exact:
            return max(beyond, 1) / len(self.statistics)
        p = (beyond + 1.0) / (len(self.statistics) + 1.0)
        return min(p, two_sided_p(statistic, self.freedom)) if beyond == 0 else p

    def critical(self, level: float) -> float:
        """The statistic beyond which p ≤ 1 − level; inf where no statistic gets there (too few units)."""
        m = len(self.statistics)
        allowed = (1.0 - level) * m if self.exact else (1.0 - level) * (m + 1.0) - 1.0
        if allowed < (1.0 - 1e-9 if self.exact else -1e-9):
            if self.exact:
                return math.inf
            # so many flips cannot reach this level: Student's t, but no less than the farthest flip
            return max(t_quantile(level, self.freedom), self._statistic(float(self.statistics[-1])))
        return self._statistic(float(self.statistics[m - 1 - math.floor(allowed + 1e-9)]))

    def _statistic(self, flipped: float) -> float:
        """Back from the scale of the flips (:func:`flipped_scale`)."""
        room = 1.0 - flipped * flipped / self.units
        return flipped / math.sqrt(room) if room > 0.0 else math.inf


@lru_cache(maxsize=64)
def _reference(influence: bytes, seed: int) -> FlipReference:
    psi = np.frombuffer(influence)
    signs = sign_matrix(len(psi), FLIPS, seed)
    spread = math.sqrt(float((psi**2).sum()))
    drawn, skew = np.sort(np.abs(signs @ psi)) / spread, abs(float((psi**3).sum())) / spread**3
    return FlipReference(drawn, len(psi), len(psi) <= EXACT_UNITS, effective_freedom(psi), skew)


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


def mover_limits(first: tuple[float, Interval], second: tuple[float, Interval], *, alike: float = 0.0) -> Interval:
    """Interval of a difference from the intervals of its two terms, whose correlation is ``alike`` (Newcombe 1998).

    For differences that do not vary when rows are left out (a perfect model against a constant one): each term's own
    interval has a width. As if independent it is too wide where models agree more than by chance, never too short.
    """
    (a, (a_low, a_high)), (b, (b_low, b_high)) = first, second

    size = max(abs(a - a_low), abs(a_high - a), abs(b - b_low), abs(b_high - b))
    if not 0.0 < size < math.inf:
        size = 1.0
    down, up = ((a - a_low) / size, (b - b_low) / size), ((a_high - a) / size, (b_high - b) / size)  # safe to square

    def reach(one: float, two: float, apart: float) -> float:
        if alike < 0.0:
            return math.sqrt(one**2 + two**2 - 2.0 * alike * one * two)
        return math.sqrt((1.0 - alike) * (one**2 + two**2) + alike * max(apart, 0.0) ** 2)

    low = reach(down[0], up[1], max(up[1] - up[0], down[0] - down[1]))
    high = reach(up[0], down[1], max(up[0] - up[1], down[1] - down[0]))
    return Interval(a - b - size * low, a - b + size * high)

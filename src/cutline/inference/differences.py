"""A paired difference and its reference: the interval and the p-value are two readings of one statistic.

Sign flips show how far a difference between two models varies by chance. If two models are equally good, the influence
of a row (or cluster) on their difference is as likely to favour one as the other. Flipping signs at random shows what
chance does, also where a handful of rows carries the whole difference: of m such rows no p-value is below 2·2⁻ᵐ.

Where few units carry the mean of differences (on most days next to nothing, on a busy one very much), Student's t fails
on the side that was not seen: the mean and its standard error are both small in samples without a busy day. Gains and
losses are non-negative, so each of their means has a gamma interval (Fay & Feuer 1997), which allows for one more unit
as large as the largest; their difference comes from the two intervals and their correlation (Newcombe's MOVER).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from ..estimate import Interval
from ..kernels import compiled
from ..types import Floats
from .limits import effective_freedom, mover_limits, t_quantile, two_sided_p

EXACT_UNITS = 11  # units up to which all flips are made: 2¹⁰ of them


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


# Largest influences whose signs are all tried where there are more than eleven: 2⁸ ways, of which half are summed. What
# they leave is a sum of many smaller ones: the shares of 5% of flips then differ by less than 0.0005 from those of ten
# million random flips (tests/test_compare.py), and no p-value depends on a seed.
_LARGEST = 8
_FEWEST_FLIPS = 0.0005  # shares of flips below this are told by Student's t: sums of signs have shorter tails than data


@dataclass(frozen=True)
class FlipReference:
    """The distribution of |Σεψ|/√Σψ² over all signs ε of ``units`` influences ψ.

    ``sums`` are its values where ``rest`` is 0. Else they are the sums of the largest influences alone, one for each
    choice of their signs but the first, and the others add a number that is symmetric and close to normal, with the
    standard deviation ``rest`` and the excess kurtosis ``kurtosis``.

    Influences are centred, so a difference D of U units is compared as D/√(Σψ² + D²/U): what is flipped under the null
    hypothesis are the uncentred ψ + D/U. That matters with few units or clusters.
    """

    sums: Floats
    rest: float
    kurtosis: float
    units: int
    freedom: float
    skew: float  # |Σψ³|/(Σψ²)^1.5, the skewness of the difference: 0 where both models stray alike

    def p_value(self, statistic: float) -> float:
        """Share of flips at least as far from 0, the observed signs among them; never 0."""
        share = self._beyond(float(flipped_scale(statistic, self.units)))
        if self.rest and share < _FEWEST_FLIPS:
            return min(_FEWEST_FLIPS, two_sided_p(statistic, self.freedom))
        return share

    def _beyond(self, flipped: float) -> float:
        """Share of flips at least as far from 0 as this."""
        if not self.rest:
            return max(int(np.count_nonzero(self.sums >= flipped * (1.0 - 1e-9))), 1) / len(self.sums)
        return float(compiled.share_beyond(self.sums, flipped, self.rest, self.kurtosis))

    def critical(self, level: float) -> float:
        """The statistic beyond which p ≤ 1 − level; inf where no statistic gets there (too few units)."""
        least = 0.0
        if not self.rest:
            allowed = (1.0 - level) * len(self.sums)
            if allowed < 1.0 - 1e-9:
                return math.inf
            high = float(self.sums[len(self.sums) - 1 - math.floor(allowed + 1e-9)])
        else:
            share = max(1.0 - level, _FEWEST_FLIPS)
            low, high = 0.0, math.sqrt(self.units)
            above, below = 1.0 - share, self._beyond(high) - share
            stayed = 0.0
            for _ in range(_STEPS):  # false position; an end that stays twice counts half (Illinois)
                middle = high - below * (high - low) / (below - above)
                excess = self._beyond(middle) - share
                if excess > 0.0:
                    low, above, below, stayed = middle, excess, below / (2.0 if stayed > 0.0 else 1.0), 1.0
                else:
                    high, below, above, stayed = middle, excess, above / (2.0 if stayed < 0.0 else 1.0), -1.0
                if high - low <= _NARROW * high or excess == 0.0:
                    break
            if 1.0 - level < _FEWEST_FLIPS:  # what so few flips cannot tell: Student's t
                least = t_quantile(level, self.freedom)
        room = 1.0 - high * high / self.units  # back from the scale of the flips (:func:`flipped_scale`)
        return max(high / math.sqrt(room) if room > 0.0 else math.inf, least)


_STEPS = 100  # of false position; about ten are enough
_NARROW = 1e-12  # relative width of the bracket around a critical value


def flip_reference(psi: Floats) -> FlipReference:
    """The reference of a difference on which units have these influences; it does not depend on their scale or sign."""
    squares = psi**2  # other powers of a million influences take much longer
    spread, size = math.sqrt(float(squares.sum())), np.sort(np.abs(psi))
    size = size[::-1] / spread
    exact = len(psi) <= EXACT_UNITS
    tried = len(psi) if exact else _LARGEST
    sums = np.sort(np.abs(sign_matrix(tried, 0, 0) @ size[:tried]))
    of_rest = np.empty(0) if exact else size[_LARGEST:] ** 2
    variance, fourth = float(of_rest.sum()), float((of_rest**2).sum())
    # of two sums of so few influences that Edgeworth's term would overshoot no more than that of four equal ones counts
    kurtosis = -min(2.0 * fourth / variance**2, 0.5) if variance > 0.0 else 0.0
    skew = abs(float((squares * psi).sum())) / spread**3
    return FlipReference(sums, math.sqrt(variance), kurtosis, len(psi), effective_freedom(psi), skew)


# Cases in the smaller class below which Student's t must agree with the flips. Chosen by hand with the errors of equal
# pairs (benchmarks/compare.py): a higher bound makes tests of samples with 12 to 30 such cases needlessly blunt.
FEW_CASES = 12
_NOTHING = 1e-12  # a standard error so small, relative to the values, is rounding


class DifferenceTest(NamedTuple):
    """A difference tested: its interval, standard error, p-value, how they were made, and what the error rests on.

    ``freedom``: degrees of freedom of the standard error. ``note``: why it could not be told, whatever the difference.
    """

    low: float = math.nan
    high: float = math.nan
    standard_error: float = math.nan
    p_value: float = math.nan
    method: str = ""
    freedom: float = math.nan
    note: str = ""


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

    def test(self, level: float, widest: float = math.inf) -> DifferenceTest:
        """Difference ± critical value · SE, within ± ``widest`` (the largest difference that the measure allows).

        The interval leaves 0 out exactly where the p-value, which is never 0, is at most 1 − level.
        """
        statistic, guarded = self.difference / self.error, math.isfinite(self.guard)
        p = max(self.reference.p_value(statistic), two_sided_p(statistic, self.guard) if guarded else 0.0)
        half = max(self.reference.critical(level), t_quantile(level, self.guard) if guarded else 0.0) * self.error
        low, high = max(self.difference - half, -widest), min(self.difference + half, widest)
        return DifferenceTest(low, high, self.error, p, self.method, min(self.reference.freedom, self.guard))


def guard_freedom(smaller_class: float, clusters: float = math.inf) -> float:
    """Degrees of freedom of the guard, 3·(cases − 1) of the smaller class; inf (no guard) from twelve on.

    Where few large clusters contain most rows, the flips of all of them are too sure: of 100 equal pairs, 9 to 11
    differ by the hit rate of 15 to 40 clusters of Zipf's sizes, 5 to 7 with this guard. It is one less than the equal
    ``clusters`` that weigh as much as these, 1/Σshare², where those are fewer than 60.
    """
    few = max(3.0 * (smaller_class - 1.0), 1.0) if smaller_class < FEW_CASES else math.inf
    return min(few, max(clusters - 1.0, 1.0)) if clusters < 60.0 else few


def paired_difference(
    values: tuple[float, float], influence: Floats, guard: float, method: str, error: float | None = None
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
    reference = flip_reference(influence)
    return PairedDifference(values[0] - values[1], error, reference, guard, method)


_LEAST_P = 1e-12  # no smaller p-value is told: the tails of gamma quantiles have lost their digits there
_HALVINGS = 36  # of the logarithm of a p-value between 1e-12 and 1: to ten digits


def skewed_mean_test(each: Floats, level: float, smallest: float, method: str, wider: float = 1.0) -> DifferenceTest:
    """Interval and p-value of the mean of ``each``, one number for each independent unit.

    The p-value is 1 less the largest level at which the interval leaves 0 out. ``smallest``: what a unit differs by if
    it differs at all, for units that are all alike. ``wider``: how many times as large as of independent units the
    standard error is.
    """
    limits = partial(skewed_mean_limits, each, smallest=smallest, wider=wider)
    error = float(each.std(ddof=1)) / math.sqrt(len(each)) * wider
    return DifferenceTest(*limits(level), error, p_of_limits(limits), method)


def p_of_limits(limits: Callable[[float], Interval]) -> float:
    """1 less the largest level at which an interval leaves 0 out."""
    certain, chance = math.log(_LEAST_P), 0.0  # logarithms of p-values that are too small, and large enough
    for _ in range(_HALVINGS):
        middle = (certain + chance) / 2.0
        low, high = limits(-math.expm1(middle))
        certain, chance = (certain, middle) if low > 0.0 or high < 0.0 else (middle, chance)
    return math.exp(chance)


def skewed_mean_limits(each: Floats, level: float, smallest: float, wider: float = 1.0) -> Interval:
    """Interval of a mean: gamma limits of the mean gain and the mean loss, combined.

    Few units widen the variance by (t/z)². One more unit as large as the largest of either sign counts in full with up
    to twenty units, and by half with many (the mid-p interval of Fay & Kim 2017).
    """
    from scipy.special import gammaincinv, ndtri, stdtrit

    units, tail = len(each), 0.5 + level / 2.0
    gain, loss = np.maximum(each, 0.0), np.maximum(-each, 0.0)
    wider = (wider * float(stdtrit(units - 1.0, tail) / ndtri(tail))) ** 2
    more = min(1.0, 0.5 + 10.0 / units) * max(float(np.abs(each).max()), smallest) / units
    means = []
    for side in (gain, loss):  # numbers that are not negative: their mean, and its gamma limits
        mean = float(side.mean())
        variance = wider * float(side.var(ddof=1)) / units
        least = (
            variance / mean * float(gammaincinv(mean**2 / variance, (1.0 - level) / 2.0)) if variance > 0.0 else mean
        )
        top, squares = mean + more, variance + more**2
        most = squares / top * float(gammaincinv(top**2 / squares, 1.0 - (1.0 - level) / 2.0))
        means.append((mean, Interval(least, most)))
    spread = float(gain.std() * loss.std())
    (gained, _), (lost, _) = means
    both = max(-gained * lost / spread, -1.0) if spread > 0.0 else 0.0  # no unit has both: they exclude each other
    return mover_limits(means[0], means[1], alike=both)

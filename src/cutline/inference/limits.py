"""Quantiles, intervals for a proportion, and intervals from a standard error on the scale that suits the measure.

A t interval on a scale where the estimate is close to normal: logit for shares, log for positive numbers, Fisher's z
for correlations. The degrees of freedom are those of the variance estimate itself (Satterthwaite): where few cases
carry most of the variance (rare positives, a handful of large losses, few clusters), they are few.

Normal and Student's t quantiles do without SciPy: loading it takes longer than a whole evaluation of a small sample.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ..estimate import Interval
from ..types import Floats
from ..validate import check_whole, checked, one_of

_STANDARD = NormalDist()


def normal_quantile(p: float) -> float:
    """The z with P(Z ≤ z) = p (Wichura's algorithm AS 241)."""
    if p <= 0.0 or p >= 1.0:
        return -math.inf if p <= 0.0 else math.inf
    return _STANDARD.inv_cdf(p)


@lru_cache(maxsize=256)
def t_quantile(level: float, freedom: float) -> float:
    """Two-sided quantile of Student's t, P(|T| ≤ t) = level, with at least one degree of freedom.

    For 1,000 degrees and more by its expansion around the normal quantile (Abramowitz & Stegun 26.7.5). For fewer,
    Newton's method starts there: with t = √ν·tan θ the probability is ∫₀^θ cos^(ν−1) / ∫₀^(π/2) cos^(ν−1). Below four
    degrees the integrand bends sharply at π/2, and far out the integral has lost the digits of the tail: SciPy's there.

    >>> round(t_quantile(0.95, 10.0), 4)
    2.2281
    """
    if freedom < 4.0 or (level > 0.999 and freedom < 1000.0):
        from scipy.special import stdtrit

        return float(stdtrit(max(freedom, 1.0), 0.5 + level / 2.0))
    z = normal_quantile(0.5 + level / 2.0)
    terms = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    near = z + sum(term / freedom**power for power, term in enumerate(terms, start=1))
    if freedom >= 1000.0:
        return near
    whole = math.exp(math.lgamma(freedom / 2.0) - math.lgamma((freedom + 1.0) / 2.0)) * math.sqrt(math.pi) / 2.0
    theta = math.atan(near / math.sqrt(freedom))
    for _ in range(6):  # enough for 1e-9 everywhere here; the last digits come and go, so no test of the step ends it
        inside = theta * float(_SIMPSON @ np.cos(theta * _NODES) ** (freedom - 1.0))
        theta += (level * whole - inside) / math.cos(theta) ** (freedom - 1.0)
    return math.sqrt(freedom) * math.tan(theta)


_NODES = np.linspace(0.0, 1.0, 513)
_SIMPSON = np.r_[1.0, np.tile([4.0, 2.0], 255), 4.0, 1.0] / (3.0 * 512)


class ApproximationWarning(UserWarning):
    """The approximation behind an interval is poor here; the message names a better method."""


@lru_cache(maxsize=256)
def z_of(level: float) -> float:
    """Two-sided normal quantile."""
    return normal_quantile(0.5 + level / 2.0)


def wald(r: float, n: float, level: float) -> Interval:
    """p̂ ± z·√(p̂(1−p̂)/n); leaves [0, 1] and has no width at 0 and 1 (Berrar Def. 36, Eq. 45)."""
    p = r / n
    half = z_of(level) * math.sqrt(p * (1.0 - p) / n)
    return Interval(p - half, p + half)


def wilson(r: float, n: float, level: float) -> Interval:
    """The proportions that a score test does not reject (Wilson 1927)."""
    z = z_of(level)
    p, z2 = r / n, z * z
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return Interval(max(0.0, middle - half) if r > 0 else 0.0, min(1.0, middle + half) if r < n else 1.0)


def wilson_shares(share: Floats | float, trials: Floats | float, z: Floats | float) -> tuple[Floats, Floats]:
    """Wilson's interval of many shares at once, as far out as ``z``."""
    z2 = np.square(z)
    middle = (share + z2 / (2.0 * trials)) / (1.0 + z2 / trials)
    half = z / (1.0 + z2 / trials) * np.sqrt(share * (1.0 - share) / trials + z2 / (4.0 * trials**2))
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def pair_limits(
    value: Callable[[Floats, Floats], Floats], shares: Iterable[float], trials: Sequence[float], level: float
) -> Interval:
    """Extremes of a function of two independent shares over pairs of their Wilson limits at z·cos θ and z·sin θ.

    Both shares together are then as far out as one of them alone at z (Newcombe 2011, PropImp).
    """
    angle = np.linspace(0.0, math.pi / 2.0, 65)
    z = z_of(level)
    first, second = (
        wilson_shares(min(max(share, 0.0), 1.0), n, z * part)  # sums of weights round
        for share, n, part in zip(shares, trials, (np.cos(angle), np.sin(angle)), strict=True)
    )
    with np.errstate(all="ignore"):
        found = np.concatenate([value(one, two) for one in first for two in second])
    return Interval(float(np.nanmin(found)), float(np.nanmax(found)))


def wilson_share(share: float, trials: float, level: float) -> Interval:
    """Wilson's interval of a share of ``trials`` trials, which need not be whole."""
    return (
        wilson(share * trials, trials, level) if 0.0 < share < 1.0 else wilson(trials * (share >= 1.0), trials, level)
    )


def agresti_coull(r: float, n: float, level: float) -> Interval:
    """Wald on z²/2 added successes and failures, clipped to [0, 1] (Agresti & Coull 1998)."""
    z2 = z_of(level) ** 2
    low, high = wald(r + z2 / 2, n + z2, level)
    return Interval(max(0.0, low), min(1.0, high))


def _beta(q: float, a: float, b: float) -> float:
    from scipy.special import betaincinv

    return float(betaincinv(a, b, q))


def clopper_pearson(r: float, n: float, level: float) -> Interval:
    """Exact: both tails of the binomial have at least (1−level)/2 (Berrar Def. 37, Eq. 47, by beta quantiles)."""
    tail = (1.0 - level) / 2.0
    low = 0.0 if r <= 0 else _beta(tail, r, n - r + 1)
    high = 1.0 if r >= n else _beta(1.0 - tail, r + 1, n - r)
    return Interval(low, high)


def jeffreys(r: float, n: float, level: float) -> Interval:
    """Central interval of the Beta(r+½, n−r+½) posterior, ends 0 and 1 at r = 0 and r = n (Brown et al. 2001)."""
    tail = (1.0 - level) / 2.0
    low = 0.0 if r <= 0 else _beta(tail, r + 0.5, n - r + 0.5)
    high = 1.0 if r >= n else _beta(1.0 - tail, r + 0.5, n - r + 0.5)
    return Interval(low, high)


METHODS: dict[str, Callable[[float, float, float], Interval]] = {
    function.__name__: function for function in (wald, wilson, clopper_pearson, agresti_coull, jeffreys)
}


@checked(method=one_of(*METHODS))
def proportion_interval(successes: int, n: int, level: float = 0.95, method: str = "clopper_pearson") -> Interval:
    """Confidence interval for a proportion of ``successes`` in ``n`` independent trials.

    Methods: wald, wilson, clopper_pearson, agresti_coull, jeffreys. The Wald interval warns if its approximation is
    poor (n·p̂ or n·(1−p̂) at most 5) or if it has no width.

    >>> low, high = proportion_interval(3, 5)
    >>> round(low, 4), round(high, 4)
    (0.1466, 0.9473)
    """
    n = check_whole(n, "n", 1)
    successes = check_whole(successes, "successes", 0, n)
    if method == "wald" and min(successes, n - successes) <= 5:  # Berrar Def. 36
        note = f"needs more than 5 successes and 5 failures, got {successes} and {n - successes}"
        note = f"has no width at {successes} of {n}" if successes in (0, n) else note
        said = f"the Wald interval {note}; clopper_pearson or wilson are valid here"
        warnings.warn(said, ApproximationWarning, stacklevel=3)
    return METHODS[method](float(successes), float(n), level)


def beta_binomial_quantiles(levels: Sequence[float], n: int, a: float, b: float) -> tuple[float, ...]:
    """Smallest k with P(K ≤ k) ≥ q for each level q, K beta-binomial.

    Summed within 12 standard deviations of the mean; beyond 10,000 trials by a beta distribution of the same variance.
    """
    share = a / (a + b)
    if n > 10_000:  # the binomial part adds variance p(1−p)/n to that of the share: widen the beta to include both
        size = (a + b + 1.0) / ((a + b + n) / n) - 1.0
        return tuple(float(round(n * _beta(q, share * size, (1.0 - share) * size))) for q in levels)
    mean = n * share
    reach = 12.0 * math.sqrt(mean * (1.0 - share) * (a + b + n) / (a + b + 1.0)) + 30.0
    first, last = max(0, int(mean - reach)), min(n, int(mean + reach))
    start = math.lgamma(n + 1) - math.lgamma(first + 1) - math.lgamma(n - first + 1)
    start += math.lgamma(first + a) + math.lgamma(n - first + b) - math.lgamma(n + a + b)
    start += math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    k = np.arange(first, last + 1)
    steps = np.log((n - k[:-1]) * (k[:-1] + a) / ((k[:-1] + 1) * (n - k[:-1] - 1 + b)))  # each from the one before it
    below = np.cumsum(np.exp(start + np.concatenate(([0.0], np.cumsum(steps)))))
    return tuple(float(k[end]) for end in np.minimum(np.searchsorted(below, levels), len(k) - 1))


@dataclass(frozen=True)
class Scale:
    """A monotone map to the real line, its inverse, and its slope."""

    forward: Callable[[float], float]
    back: Callable[[float], float]
    slope: Callable[[float], float]
    inside: tuple[float, float]


def expit(x: float) -> float:
    """1/(1 + e^−x), without overflow."""
    return 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0


SCALES = {
    "identity": Scale(lambda v: v, lambda x: x, lambda v: 1.0, (-math.inf, math.inf)),
    "logit": Scale(lambda v: math.log(v / (1.0 - v)), expit, lambda v: 1.0 / (v * (1.0 - v)), (0.0, 1.0)),
    "log": Scale(math.log, lambda x: math.exp(min(x, 700.0)), lambda v: 1.0 / v, (0.0, math.inf)),
    "atanh": Scale(math.atanh, math.tanh, lambda v: 1.0 / (1.0 - v * v), (-1.0, 1.0)),
    # for scores of at most 1 without a lower bound: the log of what is missing to 1
    "log_deficit": Scale(
        lambda v: -math.log(1.0 - v),
        lambda x: 1.0 - math.exp(min(-x, 700.0)),
        lambda v: 1.0 / (1.0 - v),
        (-math.inf, 1.0),
    ),
}


def scaled_limits(value: float, error: float, freedom: float, level: float, scale: str = "identity") -> Interval:
    """value ± t·SE on a scale, carried back. nan where the value lies on the edge of the scale or there is no error."""
    kind = SCALES[scale]
    low, high = kind.inside
    if not low < value < high or not error > 0.0 or not math.isfinite(error):
        return Interval(math.nan, math.nan)
    middle, half = kind.forward(value), t_quantile(level, freedom) * error * kind.slope(value)
    return Interval(kind.back(middle - half), kind.back(middle + half))


def edge_limits(value: float, trials: float, level: float, inside: tuple[float, float] = (0.0, 1.0)) -> Interval:
    """Interval of a value that cannot be seen to vary: Wilson's, as if it were a share of ``trials`` trials.

    For values at the end of their range (a perfect ranking) and for estimates whose replicates are all alike.
    ``trials``: the cases that could have shown a difference (positives, the smaller class, or clusters).
    """
    low, high = inside
    a, b = wilson_share((value - low) / (high - low), max(trials, 1.0), level)
    return Interval(low + (high - low) * a, low + (high - low) * b)


def range_limits(
    value: float, error: float, freedom: float, level: float, low: float, high: float, trials: float
) -> Interval:
    """t interval on the scale that the measure's range suggests: logit, log, or plain where it is open on both sides.

    Where the value lies at an end of its range, or does not vary, as a share of ``trials`` cases of that range.
    """
    if math.isfinite(low) and math.isfinite(high):
        a, b = scaled_limits((value - low) / (high - low), error / (high - low), freedom, level, "logit")
        if a != a:
            return edge_limits(value, trials, level, (low, high))
        return Interval(low + (high - low) * a, low + (high - low) * b)
    scale = "log" if low == 0.0 else "log_deficit" if high == 1.0 else "identity"
    made = scaled_limits(value, error, freedom, level, scale)
    if made.low != made.low:
        made = scaled_limits(value, error, freedom, level)
    return Interval(max(low, made.low), min(high, made.high))


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
    reaches = []
    for one, two, apart in (
        (down[0], up[1], max(up[1] - up[0], down[0] - down[1])),
        (up[0], down[1], max(up[0] - up[1], down[1] - down[0])),
    ):
        square = (1.0 - alike) * (one**2 + two**2) + alike * max(apart, 0.0) ** 2
        reaches.append(math.sqrt(one**2 + two**2 - 2.0 * alike * one * two if alike < 0.0 else square))
    return Interval(a - b - size * reaches[0], a - b + size * reaches[1])


def ratio_limits(first: tuple[float, Interval], second: tuple[float, Interval]) -> Interval:
    """Interval of a ratio of independent numbers that cannot be negative, from theirs (MOVER-R, Donner & Zou 2012)."""
    (a, (a_low, a_high)), (b, (b_low, b_high)) = first, second
    both = a * b

    def end(x: float, y: float, sign: float) -> float:
        """(ab ± √((ab)² − xy))/y; its limit where y is 0."""
        if abs(y) < 1e-12 * max(both, 1e-300):
            return x / (2.0 * both) if both > 0.0 else math.nan
        return (both + sign * math.sqrt(max(both * both - x * y, 0.0))) / y

    low = max(end(a_low * (2.0 * a - a_low), b_high * (2.0 * b - b_high), -1.0), 0.0)
    open_ended = b <= 0.0 or b_low <= 0.0
    return Interval(low, math.inf if open_ended else end(a_high * (2.0 * a - a_high), b_low * (2.0 * b - b_low), 1.0))


def dot(a: Floats, b: Floats) -> float:
    """Σ aᵢ·bᵢ without BLAS, whose threads wait for each other on a busy machine."""
    return float(np.einsum("i,i->", a, b))


def effective_size(weight: Floats) -> float:
    """Kish's effective sample size (Σw)²/Σw²."""
    square = float((weight**2).sum())
    return float(weight.sum()) ** 2 / square if square > 0.0 else 0.0


def effective_freedom(influence: Floats) -> float:
    """Degrees of freedom of Σψ² as an estimate of a variance: 2(Σψ²)² / (Σψ⁴ − (Σψ²)²/n), between 1 and n − 1.

    n for normal influences; about the number of cases that carry the variance otherwise. ψ: influences of rows, or
    sums of them over clusters or over random blocks.
    """
    known = influence[np.isfinite(influence)]
    square = np.square(known / (np.abs(known).max(initial=0.0) or 1.0))  # fourth powers of sums must be numbers
    n, second = len(square), float(square.sum())
    return freedom_of(second, dot(square, square), n) if n > 1 and second > 0.0 else 1.0


def freedom_of(second: float, fourth: float, n: float) -> float:
    """The same from Σψ², Σψ⁴ and n."""
    excess = fourth - second * second / n
    freedom = 2.0 * second * second / excess if excess > 0.0 else math.inf
    return min(max(freedom, 1.0), max(n - 1.0, 1.0))


def freedom_in_small_class(freedom: float, smaller_class: float) -> float:
    """At most one less than the cases of the smaller class, where that has fewer than six."""
    return min(freedom, max(smaller_class - 1.0, 1.0)) if smaller_class < 6 else freedom


def combined_freedom(variances: Floats, freedoms: Floats) -> float:
    """Satterthwaite's degrees of freedom of a sum of independent variance estimates."""
    total, parts = float(variances.sum()), float((variances**2 / freedoms).sum())
    return total * total / parts if parts > 0.0 else math.inf


def jackknife(left_out: Floats, strata: NDArray[np.int64] | None = None) -> tuple[float, Floats]:
    """Standard error and influences from values without each cluster (or block) in turn: √((G−1)/G·Σ(θ₍g₎ − θ̄)²).

    Within each stratum about its own mean, where units were drawn by strata. Units without a value are left out.
    """
    known = np.isfinite(left_out)
    group = np.zeros(len(left_out), np.int64) if strata is None else strata
    parts = []
    for stratum in np.unique(group[known]):
        kept = left_out[known & (group == stratum)]
        parts.append((kept.mean() - kept) * math.sqrt((len(kept) - 1.0) / len(kept)))
    influence = np.concatenate(parts) if parts else np.empty(0)
    if len(influence) < 2:
        return math.nan, np.empty(0)
    return math.sqrt(float((influence**2).sum())), influence


def two_sided_p(statistic: float, freedom: float) -> float:
    """Two-sided p-value of a t statistic; never 0."""
    from scipy.special import stdtr

    if statistic != statistic:
        return math.nan
    return max(2.0 * float(stdtr(max(freedom, 1.0), -abs(statistic))), 1e-300)


def lag_correlation(each: Floats, lag: int = 1) -> float:
    """Correlation of each unit with the next (or another); nan where nothing varies."""
    centred = each - each.mean()
    total = float(centred @ centred)
    varies = total > 1e-24 * len(each) * float(each @ each)
    return float(centred[lag:] @ centred[:-lag]) / total if varies else math.nan


# Rows "days in a row" of benchmarks/batches.py chose these: a correlation of 1.2 standard errors counts (intervals of
# 60 independent units are then 6% longer on average); fewer than ten units tell nothing about how they depend on each
# other; memories are taken as 5·(1 + 3φ)/n longer, by at most 0.25, up to 0.93, and their part in the variance as 1.1
# times as large, because short series look less dependent than they are.
_HEEDED, _FEWEST, _LONGER, _LONGEST, _MORE = 1.2, 10, 5.0, 0.93, 1.1


def serial_inflation(each: Floats) -> float:
    """How many times as long as with independent units the interval of a sum of ``each`` is; at least 1.

    A busy day follows a busy day: what a unit adds is taken as noise plus an autoregression of first order, whose
    correlations fall by φ from lag to lag, as those of the first two lags show.

    >>> noise = np.random.default_rng(0).normal(size=200)
    >>> serial_inflation(noise) < 1.05, serial_inflation(np.convolve(noise, np.ones(9))) > 2.0
    (True, True)
    """
    n = len(each)
    first, second = (lag_correlation(each, lag) + 1.0 / n if n >= _FEWEST else 0.0 for lag in (1, 2))
    if not first * math.sqrt(n) >= _HEEDED:
        return 1.0
    memory = min(max(second / first, 0.3), _LONGEST)
    memory = min(memory + min(_LONGER * (1.0 + 3.0 * memory) / n, 0.25), _LONGEST)
    lags = 1.0 / (1.0 - memory) - (1.0 - memory**n) / (n * (1.0 - memory) ** 2)  # Σ (1 − k/n)·φᵏ⁻¹
    return math.sqrt(1.0 + 2.0 * _MORE * first * lags)

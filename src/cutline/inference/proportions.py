"""Intervals for a proportion: r of n."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from ..estimate import Interval
from ..types import Floats
from ..validate import check_whole, checked, one_of
from .normal import normal_quantile


class ApproximationWarning(UserWarning):
    """The approximation behind an interval is poor here; the message names a better method."""


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


def wilson_shares(share: Floats, trials: Floats, level: float) -> tuple[Floats, Floats]:
    """Wilson's interval of many shares at once."""
    middle, half = _wilson(share, trials, level)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def wilson_spread(share: Floats, trials: Floats, level: float) -> tuple[Floats, Floats]:
    """Distances from many shares to their Wilson limits, below and above; of at least one trial."""
    middle, half = _wilson(share, np.maximum(trials, 1.0), level)
    return np.maximum(share - middle + half, 0.0), np.maximum(middle + half - share, 0.0)


def _wilson(share: Floats, n: Floats, level: float) -> tuple[Floats, Floats]:
    z2 = z_of(level) ** 2
    middle = (share + z2 / (2.0 * n)) / (1.0 + z2 / n)
    return middle, math.sqrt(z2) / (1.0 + z2 / n) * np.sqrt(share * (1.0 - share) / n + z2 / (4.0 * n**2))


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
    """Exact: both tails of the binomial hold at least (1−level)/2 (Berrar Def. 37, Eq. 47, by beta quantiles)."""
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
    "wald": wald,
    "wilson": wilson,
    "clopper_pearson": clopper_pearson,
    "agresti_coull": agresti_coull,
    "jeffreys": jeffreys,
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
    if method == "wald":
        note = wald_note(successes, n)
        if note:
            warnings.warn(f"{note}; clopper_pearson or wilson hold here", ApproximationWarning, stacklevel=3)
    return METHODS[method](float(successes), float(n), level)


def wald_note(r: float, n: float) -> str:
    """Why a Wald interval should not be trusted here; empty where it can be (Berrar Def. 36)."""
    if r in (0, n):
        return f"the Wald interval has no width at {r:g} of {n:g}"
    if min(r, n - r) <= 5:
        return f"the Wald interval needs more than 5 successes and 5 failures, got {r:g} and {n - r:g}"
    return ""


def beta_binomial_quantiles(levels: Sequence[float], n: int, a: float, b: float) -> tuple[float, ...]:
    """Smallest k with P(K ≤ k) ≥ q for each level q, K beta-binomial.

    Summed within 12 standard deviations of the mean; beyond 10,000 trials by a beta distribution of the same variance.
    """
    share = a / (a + b)
    if n > 10_000:  # the binomial part adds variance p(1−p)/n to that of the share: widen the beta to hold both
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

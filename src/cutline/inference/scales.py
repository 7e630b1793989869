"""Intervals from a value, its standard error and degrees of freedom, on the scale that suits the measure.

A t interval on a scale where the estimate is close to normal: logit for shares, log for positive numbers, Fisher's z
for correlations. The degrees of freedom are those of the variance estimate itself (Satterthwaite): where few cases
carry most of the variance (rare positives, a handful of large losses, few clusters), they are few.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..estimate import Interval
from ..types import Floats
from .normal import t_quantile
from .proportions import wilson_share


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


def dot(a: Floats, b: Floats) -> float:
    """Σ aᵢ·bᵢ without BLAS, whose threads wait for each other on a busy machine."""
    return float(np.einsum("i,i->", a, b))


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

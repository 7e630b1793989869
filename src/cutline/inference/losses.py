"""Intervals for mean losses, which look good until something unlikely happens."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimate import Interval
from ..types import Floats
from .scales import dot, freedom_of

_UNSURE = 1e-12  # scores of exactly 0 and 1 exclude every loss; a little doubt leaves the size of one that comes anyway


@dataclass(frozen=True)
class LossMoments:
    """Mean, variance of one case, its degrees of freedom; and what the scores say of large losses, if they are right.

    ``expected_ratio`` is E[ℓ²]/E[ℓ] when each case is positive with the probability that its score says; nan where the
    scores are not probabilities. ``large``: cases that lost more than half of it, those that carry the mean.
    """

    cases: float
    mean: float
    variance: float
    freedom: float
    expected_ratio: float = math.nan
    large: float = 0.0


def loss_moments(
    pos: NDArray[Any], neg: NDArray[Any], if_positive: Floats, if_negative: Floats, probability: Floats | None = None
) -> LossMoments:
    """Moments of a mean of losses from tie groups: what a positive and what a negative of each group lose."""
    a, b = np.asarray(pos, np.float64), np.asarray(neg, np.float64)
    n = float(a.sum() + b.sum())
    mean = (dot(a, if_positive) + dot(b, if_negative)) / n
    of_pos, of_neg = np.square(if_positive - mean), np.square(if_negative - mean)
    second = dot(a, of_pos) + dot(b, of_neg)
    freedom = freedom_of(second, dot(a, np.square(of_pos)) + dot(b, np.square(of_neg)), n)
    variance = second / max(n - 1.0, 1.0)
    if probability is None:
        return LossMoments(n, mean, variance, freedom)
    p, size = np.clip(probability, _UNSURE, 1.0 - _UNSURE), a + b
    ratio = _expected_ratio(size, p, if_positive, if_negative)
    large = float(a[if_positive > ratio / 2.0].sum() + b[if_negative > ratio / 2.0].sum())
    if not large:  # the many small losses, which add to E[ℓ], say nothing of the size of a large one
        least = np.minimum(if_positive, if_negative)
        ratio = max(ratio, _expected_ratio(size, p, if_positive - least, if_negative - least))
    return LossMoments(n, mean, variance, freedom, ratio, large)


def _expected_ratio(size: Floats, p: Floats, if_positive: Floats, if_negative: Floats) -> float:
    first = dot(size, p * if_positive + (1.0 - p) * if_negative)
    second = dot(size, p * if_positive**2 + (1.0 - p) * if_negative**2)
    return second / first if first > 0.0 else math.nan


def mean_score_limits(mean: float, ratio: float, cases: float, z: float) -> Interval:
    """Roots of (v − L)²·n = z²(φL − L²), the score interval of a mean of numbers ≥ 0 with E[x²]/E[x] = φ."""
    z2 = z * z
    middle = 2.0 * cases * mean + z2 * ratio
    spread = math.sqrt(max(z2 * z2 * ratio * ratio + 4.0 * cases * z2 * mean * (ratio - mean), 0.0))
    return Interval(max(0.0, (middle - spread) / (2.0 * (cases + z2))), (middle + spread) / (2.0 * (cases + z2)))


def balanced_losses(
    pos: NDArray[Any], neg: NDArray[Any], if_positive: Floats, if_negative: Floats
) -> tuple[Floats, Floats]:
    """Influences of the balanced cross-entropy, whose weights are the sample's class shares, as losses of single cases.

    Their mean is the measure itself; feed them to :func:`loss_moments`. With P and N the sums of losses of either
    class: a positive counts (n⁻·ℓ + N)/n − v, a negative (n⁺·ℓ + P)/n − v.
    """
    a, b = np.asarray(pos, np.float64), np.asarray(neg, np.float64)
    n_pos, n_neg = float(a.sum()), float(b.sum())
    n = n_pos + n_neg
    of_pos, of_neg = dot(a, if_positive), dot(b, if_negative)
    value = (n_neg * of_pos + n_pos * of_neg) / (n * n)
    return (n_neg * if_positive + of_neg) / n - value, (n_pos * if_negative + of_pos) / n - value

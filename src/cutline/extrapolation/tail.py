"""`tail`: the best-scoring competitors of each case follow a generalised Pareto tail."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .evidence import Evidence
from .favorability import Favorability
from .method import Method
from .moments import Floats

FRACTIONS = (0.1, 0.2, 0.35, 0.5)
_FEWEST = 5
_ENOUGH = 30_000


@dataclass(frozen=True)
class ParetoTail:
    """Above its own threshold every case's competitors follow a generalised Pareto law with one common shape.

    For case ``i`` the threshold ``t_i`` has the best ``r`` competitors above it, ``m_i`` is their mean excess, and
    the shape ``ξ`` is pooled over all cases by maximum likelihood. The right class at score ``s_i`` then loses to a
    random competitor with probability ``(r/n) · (1 + ξ (s_i − t_i) / ((1 − ξ) m_i))^(−1/ξ)``; below the threshold
    the plain share of better competitors counts. Reaches far beyond ``k1`` because a tail, unlike a rank, has a slope.
    The share of competitors called tail is chosen by the back-test unless ``fraction`` is given.

    Examples
    --------
    >>> from cutline.extrapolation.evidence import ScoreSample
    >>> others = np.random.default_rng(0).normal(size=(50, 49))
    >>> scores = ScoreSample(np.full(50, 3.0), others, np.full(50, 49.0), np.full(50, 1 / 50))
    >>> fit = ParetoTail(fraction=0.2).fit(Evidence(50, scores=scores))
    >>> bool(0.7 < fit.accuracy(100)[0] < 1.0)       # truth: Φ(3)^99 = 0.87
    True
    """

    fraction: float | None = None
    needs_scores: bool = True

    @property
    def name(self) -> str:
        """``tail``, with the fraction where it is fixed."""
        return "tail" if self.fraction is None else f"tail({self.fraction:g})"

    def variants(self) -> tuple[Method, ...]:
        """One per fraction."""
        if self.fraction is not None:
            return (self,)
        return tuple(replace(self, fraction=fraction) for fraction in FRACTIONS)

    def settled(self, evidence: Evidence) -> Method:
        """Itself: a fixed fraction stays."""
        return self

    def fit(self, evidence: Evidence) -> Favorability:
        """One value of ``U`` per case."""
        fraction = FRACTIONS[1] if self.fraction is None else self.fraction
        scores = evidence.known_scores()
        fewest_others = int(scores.count.min())
        r = min(max(_FEWEST, int(fraction * scores.others.shape[1])), fewest_others - 1)
        top = -np.partition(-scores.others, r, axis=1)[:, : r + 1]
        threshold = top[:, r]
        excess = top[:, :r] - threshold[:, None]
        mean_excess = excess.mean(axis=1)
        miss = (scores.others > scores.true[:, None]).sum(axis=1) / scores.count
        height = scores.true - threshold
        tail = (height > 0) & (mean_excess > 0)
        if tail.any():
            shape = pooled_shape(excess[mean_excess > 0] / mean_excess[mean_excess > 0, None])
            relative = height[tail] / mean_excess[tail]
            miss[tail] = r / scores.count[tail] * pareto_survival(relative, shape)
        return Favorability(miss=miss, miss_weight=scores.weight)


def pareto_survival(excess: Floats, shape: float) -> Floats:
    """``P(X > x)`` of a generalised Pareto law with mean one: ``(1 + ξx/(1−ξ))^(−1/ξ)``.

    >>> pareto_survival(np.array([0.0, 1.0]), 0.0).round(4).tolist()
    [1.0, 0.3679]
    """
    if abs(shape) < 1e-9:
        return np.asarray(np.exp(-excess), dtype=np.float64)
    inside = np.maximum(1.0 + shape * excess / (1.0 - shape), 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(inside ** (-1.0 / shape), dtype=np.float64)


def pooled_shape(excess: Floats) -> float:
    """Maximum-likelihood shape of excesses that have been scaled to mean one, all cases together."""
    from scipy.optimize import minimize_scalar

    z = excess.ravel()
    # The shape of a million excesses is that of some ten thousands of them, evenly taken from all cases.
    z = z[:: max(1, z.size // _ENOUGH)]
    # The law must reach the largest excess seen.
    lowest = max(-0.999 / max(float(z.max()) - 1.0, 0.5), -5.0)

    def loss(shape: float) -> float:
        if abs(shape) < 1e-9:
            return float(z.mean())
        scale = 1.0 - shape
        return float(np.log(scale) + (1.0 / shape + 1.0) * np.log1p(shape * z / scale).mean())

    return float(minimize_scalar(loss, bounds=(lowest, 0.9), method="bounded").x)

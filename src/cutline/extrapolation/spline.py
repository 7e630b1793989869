"""`spline`: the paper as printed, linear splines with non-negative least squares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .evidence import Evidence
from .favorability import Favorability
from .method import Method
from .moments import Floats, spline_moment

# Directions of the curve space weaker than this, relative to the strongest, are rounding.
_RANK_TOLERANCE = 1e-15
_COLUMNS_AT_ONCE = 1000


@dataclass(frozen=True)
class LinearSpline:
    """``D̄(u) = Σ β_ℓ [u − (ℓ−1)/m]₊`` with ``β ≥ 0``, fitted to ``1 − ATA_k`` for ``k = 2 … k1``.

    Zheng, Achanta & Benjamini, Eq. 12–17 and section 5.3, with their ``m = 10,000``. Nothing holds D̄(1) at one:
    from few classes the fit can exceed it and predict accuracies below zero. ``mixture`` is the repaired version;
    this one is for comparison.

    The curves of all splines live in a space of some thirty dimensions, so the problem is solved there:
    same minimum, a fraction of the time. ``literal=True`` hands the full matrix to ``scipy.optimize.nnls``.

    Examples
    --------
    >>> k = np.arange(2.0, 21.0)
    >>> guessing = LinearSpline().fit(Evidence(20, pairs=(k, 1 / k)))
    >>> guessing.accuracy([40]).round(4).tolist()
    [0.025]
    """

    m: int = 10_000
    literal: bool = False
    name: str = "spline"
    needs_scores: bool = False

    def variants(self) -> tuple[Method, ...]:
        """Itself: nothing to choose."""
        return (self,)

    def settled(self, evidence: Evidence) -> Method:
        """Itself."""
        return self

    def fit(self, evidence: Evidence) -> Favorability:
        """Non-negative least squares on the observed errors."""
        from scipy.optimize import nnls

        k, accuracy = evidence.curve
        knot = np.arange(self.m) / self.m
        if self.literal:
            matrix, target = spline_moment(knot[None, :], k[:, None]), 1.0 - accuracy
        else:
            basis, matrix = _compressed(self.m, k.tobytes())
            target = basis.T @ (1.0 - accuracy)
        beta, _ = nnls(matrix, target, maxiter=10 * self.m)
        used = beta > 0
        span = 1.0 - knot[used]
        weight = beta[used] * span
        return Favorability(miss=np.zeros(1), miss_weight=np.array([1.0 - weight.sum()]), span=span, span_weight=weight)


@lru_cache(maxsize=4)
def _compressed(m: int, k_bytes: bytes) -> tuple[Floats, Floats]:
    """Basis of the curve space and all splines in it: depends on the numbers of classes alone."""
    k, knot = np.frombuffer(k_bytes), np.arange(m) / m
    basis = _curve_space(knot, k)
    return basis, _project(basis, knot, k)


def _curve_space(knot: Floats, k: Floats) -> Floats:
    """Orthonormal basis of the space spanned by the splines' curves, found from a few hundred of them."""
    spread = np.unique(
        np.concatenate([np.linspace(0, knot.size - 1, 120), knot.size - np.geomspace(1, knot.size, 120)])
    )
    sample = spline_moment(knot[np.unique(spread.astype(np.intp))][None, :], k[:, None])
    left, strength, _ = np.linalg.svd(sample, full_matrices=False)
    return np.asarray(left[:, strength > _RANK_TOLERANCE * strength[0]], dtype=np.float64)


def _project(basis: Floats, knot: Floats, k: Floats) -> Floats:
    parts = [
        basis.T @ spline_moment(knot[start : start + _COLUMNS_AT_ONCE][None, :], k[:, None])
        for start in range(0, knot.size, _COLUMNS_AT_ONCE)
    ]
    return np.concatenate(parts, axis=1)

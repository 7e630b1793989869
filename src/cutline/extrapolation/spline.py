"""`spline`: the paper as printed, linear splines with non-negative least squares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..errors import InputError
from .evidence import Evidence
from .favorability import Favorability
from .method import Fixed
from .moments import Floats, spline_moment

# Directions of the curve space weaker than this, relative to the strongest, are rounding.
_RANK_TOLERANCE = 1e-15
_START, _MOST_ROUNDS = 200, 60
# Slopes below this are rounding of the projected problem.
_NO_GAIN = 1e-15


@dataclass(frozen=True)
class LinearSpline(Fixed):
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

    def __post_init__(self) -> None:
        if self.m < 1:
            raise InputError(f"m: {self.m} knots span nothing; give 1 or more")

    def fit(self, evidence: Evidence) -> Favorability:
        """Non-negative least squares on the observed errors."""
        from scipy.optimize import nnls

        k, accuracy = evidence.curve
        knot = np.arange(self.m) / self.m
        if self.literal:
            beta, _ = nnls(spline_moment(knot[None, :], k[:, None]), 1.0 - accuracy, maxiter=10 * self.m)
        else:
            basis, matrix = _compressed(self.m, k.tobytes())
            beta = _by_columns(matrix, basis.T @ (1.0 - accuracy))
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
    from scipy.linalg import qr

    even, near_one = np.linspace(0, knot.size - 1, 60), knot.size - np.geomspace(1, knot.size, 80)
    sample = spline_moment(knot[np.unique(np.concatenate([even, near_one]).astype(np.intp))][None, :], k[:, None])
    left, triangle, _ = qr(sample, mode="economic", pivoting=True)
    strength = np.abs(np.diag(triangle))
    return np.asarray(left[:, strength > _RANK_TOLERANCE * strength[0]], dtype=np.float64)


def _project(basis: Floats, knot: Floats, k: Floats) -> Floats:
    """Coordinates of every spline's curve, read off at as many well-chosen ``k`` as the space has dimensions."""
    from scipy.linalg import qr

    _, _, order = qr(basis.T, mode="economic", pivoting=True)
    points = order[: basis.shape[1]]
    curves = spline_moment(knot[None, :], k[points][:, None])
    return np.asarray(np.linalg.solve(basis[points], curves), dtype=np.float64)


def _by_columns(matrix: Floats, target: Floats) -> Floats:
    """Non-negative least squares that looks at few columns at a time.

    A subset is solved, and columns outside it that would still lower the error are added, until none is left: then
    the conditions of the full problem's minimum hold.
    """
    from scipy.optimize import nnls

    n = matrix.shape[1]
    ends = np.concatenate([np.linspace(0, n - 1, _START), n - np.geomspace(1, n, _START)])
    chosen = np.unique(ends.astype(np.intp))
    beta = np.zeros(n)
    for _ in range(_MOST_ROUNDS):
        part, _ = nnls(matrix[:, chosen], target, maxiter=50 * chosen.size)
        gain = matrix.T @ (target - matrix[:, chosen] @ part)
        gain[chosen] = 0.0
        beta[:] = 0.0
        beta[chosen] = part
        if gain.max() <= _NO_GAIN * np.abs(target).max():
            return beta
        # The peaks of the gain, not its largest values, which all stand around one peak; neighbours share a mass.
        peak = np.flatnonzero((gain[1:-1] >= gain[:-2]) & (gain[1:-1] >= gain[2:]) & (gain[1:-1] > 0.0)) + 1
        ends = np.array([0, n - 1])
        beside = np.concatenate([peak - 1, peak, peak + 1, ends, np.flatnonzero(beta) - 1, np.flatnonzero(beta) + 1])
        chosen = np.unique(np.concatenate([chosen, np.clip(beside, 0, n - 1)]))
    return beta

"""Methods that fit a flexible D̄ to the accuracy curve: splines as the paper has them, repaired, normals, your own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from ..errors import InputError
from ..types import Floats
from ..validate import one_of
from .evidence import Evidence
from .favorability import Favorability, power_of_atom, power_of_span, spline_moment
from .methods import Fixed, Method

Constraint = Literal["convex", "monotone", "none"]
CONSTRAINTS: tuple[Constraint, ...] = ("convex", "monotone", "none")
# Directions of the curve space weaker than this, relative to the strongest, are rounding.
_RANK_TOLERANCE = 1e-15
_START, _MOST_ROUNDS = 200, 60
# Slopes below this are rounding of the projected problem.
_NO_GAIN = 1e-15
# How much harder the row "weights sum to one" pulls than the data: enough to hold it to about 1e-9.
_SUM_PULL = 1e4
BANDWIDTHS = (0.3, 0.6, 1.0)
_LOWEST, _HIGHEST = -8.0, 10.0


@dataclass(frozen=True)
class LinearSpline(Fixed):
    """``D̄(u) = Σ β_ℓ [u − a_ℓ]₊``, fitted by least squares to ``1 − ATA_k`` for ``k = 2 … k1``.

    Zheng, Achanta & Benjamini, Eq. 12–17 and section 5.3, with their knots ``(ℓ−1)/m``, ``m = 10,000``, unless you
    give ``knots`` of your own. ``constraint`` is ``"convex"`` (``β ≥ 0``, the paper), ``"monotone"`` (slopes ≥ 0, so D̄
    only rises) or ``"none"`` (plain least squares; few knots, or it follows every wiggle). None of them holds D̄(1) at
    one: from few classes the fit can exceed it and predict accuracies below zero. ``mixture`` is the repaired version;
    this one is for comparison and for people who study the method.

    The curves of all splines live in a space of some thirty dimensions, so the paper's problem is solved there: same
    minimum, a fraction of the time. ``literal=True`` hands the full matrix to ``scipy.optimize.nnls``.

    Examples
    --------
    >>> k = np.arange(2.0, 21.0)
    >>> guessing = LinearSpline().fit(Evidence(20, pairs=(k, 1 / k)))
    >>> guessing.accuracy([40]).round(4).tolist()
    [0.025]
    >>> LinearSpline(knots=(0.0, 0.5, 0.9), constraint="none").fit(Evidence(20, pairs=(k, 1 / k))).accuracy(40).round(4)
    array([0.025])
    """

    m: int = 10_000
    literal: bool = False
    knots: tuple[float, ...] | None = None
    constraint: Constraint = "convex"
    name: str = "spline"
    needs_scores: bool = False

    def __post_init__(self) -> None:
        if self.m < 1:
            raise InputError("m", f"is {self.m}", "give 1 knot or more")
        one_of(*CONSTRAINTS)(self.constraint, "constraint")
        if self.knots is not None and len(self.knots) == 0:
            raise InputError("knots", "is empty", "give one knot or more, or leave it out")
        if self.knots is not None and not all(0.0 <= a < 1.0 for a in self.knots):
            raise InputError(
                "knots", "has a knot outside [0, 1)", "give places on the scale of U, such as (0, 0.5, 0.9)"
            )

    def fit(self, evidence: Evidence) -> Favorability:
        """Least squares on the observed errors, under the constraint."""
        from scipy.optimize import nnls

        k, accuracy = evidence.curve
        knot = np.arange(self.m) / self.m if self.knots is None else np.unique(self.knots)
        if self.constraint == "convex" and self.knots is None and not self.literal:
            basis, matrix = _compressed(self.m, k.tobytes())
            beta: Floats = _by_columns(matrix, basis.T @ (1.0 - accuracy))
        else:
            matrix = spline_moment(knot[None, :], k[:, None])
            if self.constraint == "convex":
                beta, _ = nnls(matrix, 1.0 - accuracy, maxiter=10 * knot.size)
            elif self.constraint == "none":
                beta = np.asarray(np.linalg.lstsq(matrix, 1.0 - accuracy, rcond=1e-12)[0], dtype=np.float64)
            else:
                # Slopes between knots instead of bends at them: a step of density between two knots each.
                steps = matrix - np.column_stack([matrix[:, 1:], np.zeros(k.size)])
                slope, _ = nnls(steps, 1.0 - accuracy, maxiter=50 * knot.size)
                beta = np.asarray(np.diff(slope, prepend=0.0), dtype=np.float64)
        used = beta != 0
        span = 1.0 - knot[used]
        weight = beta[used] * span
        return Favorability(miss=np.zeros(1), miss_weight=np.array([1.0 - weight.sum()]), span=span, span_weight=weight)


@dataclass(frozen=True)
class FunctionBasis(Fixed):
    """``D̄(u) = Σ β_ℓ h_ℓ(u)`` with functions of your own, non-negative weights or (``constraint="none"``) any.

    The moments ``H_ℓ,k = (k−1) ∫ h_ℓ(u) u^(k−2) du`` (Eq. 16) are found by quadrature on a grid, finest near one.

    Examples
    --------
    >>> k = np.arange(2.0, 21.0)
    >>> powers = FunctionBasis((lambda u: u, lambda u: u**8))
    >>> powers.fit(Evidence(20, pairs=(k, 1 / k))).accuracy([40]).round(3).tolist()
    [0.025]
    """

    functions: Sequence[Callable[[Floats], Floats]]
    constraint: Literal["convex", "none"] = "convex"
    name: str = "basis"
    needs_scores: bool = False

    def __post_init__(self) -> None:
        if len(self.functions) == 0:
            raise InputError("functions", "is empty", "give one function of u or more")
        one_of("convex", "none")(self.constraint, "constraint")

    def fit(self, evidence: Evidence) -> Favorability:
        """Least squares on the observed errors."""
        from scipy.optimize import nnls

        k, accuracy = evidence.curve
        edge = np.concatenate([[0.0], np.geomspace(1e-9, 1.0, 2000)])  # 1 − u
        middle = (edge[1:] + edge[:-1]) / 2.0
        rise = -np.diff(np.column_stack([np.asarray(h(1.0 - edge), dtype=np.float64) for h in self.functions]), axis=0)
        at_zero = np.array([float(np.asarray(h(np.zeros(1)))[0]) for h in self.functions])
        matrix = rise.sum(axis=0) + at_zero - power_of_atom(middle[None, :], k[:, None]) @ rise
        if self.constraint == "none":
            beta = np.linalg.lstsq(matrix, 1.0 - accuracy, rcond=1e-12)[0]
        else:
            beta, _ = nnls(matrix, 1.0 - accuracy)
        weight = rise @ beta
        never = float(at_zero @ beta)
        return Favorability(
            miss=np.concatenate([[0.0, 1.0], middle]),
            miss_weight=np.concatenate([[1.0 - weight.sum() - never, never], weight]),
        )


@dataclass(frozen=True)
class UniformMixture(Fixed):
    """``U`` is a mixture of Uniform(1 − s, 1) pieces and an atom at one, with weights that sum to one.

    ``AGA_k = w₀ + Σ_j w_j (1 − (1 − s_j)^k) / (k s_j)``. A linear spline with knot ``a`` is the piece with
    ``s = 1 − a``, so this is the model of Zheng, Achanta & Benjamini (section 5.3) with the constraint they state
    and leave out, D̄(1) ≤ 1: the curve stays inside [0, 1] and falls by construction.

    Examples
    --------
    >>> k = np.arange(2.0, 21.0)
    >>> guessing = UniformMixture().fit(Evidence(20, pairs=(k, 1 / k)))
    >>> guessing.accuracy([40]).round(4).tolist()
    [0.025]
    """

    knots: int = 150
    name: str = "mixture"
    needs_scores: bool = False

    def fit(self, evidence: Evidence) -> Favorability:
        """Constrained least squares on the observed curve."""
        k, accuracy, importance = evidence.sketch
        span, pieces = _uniform_pieces(self.knots, evidence.n_classes, k.tobytes())
        weight = simplex_weights(pieces, accuracy, importance)
        return Favorability(miss=np.zeros(1), miss_weight=weight[-1:], span=span, span_weight=weight[:-1])


@dataclass(frozen=True)
class GaussianBasis:
    """``Φ⁻¹(U)`` is a mixture of normals with one common spread ``h`` and means on a grid.

    The final version of Zheng, Achanta & Benjamini replaced the splines by this basis and chose ``h`` by how well
    half the classes predict the whole. Without a ``bandwidth`` the back-test does that here.

    Examples
    --------
    >>> k = np.arange(2.0, 21.0)
    >>> fit = GaussianBasis(bandwidth=1.0).fit(Evidence(20, pairs=(k, 1 / k)))
    >>> fit.accuracy([20]).round(3).tolist()
    [0.05]
    """

    bandwidth: float | None = None
    needs_scores: bool = False

    @property
    def name(self) -> str:
        """``gaussian``, with the bandwidth where it is fixed."""
        return "gaussian" if self.bandwidth is None else f"gaussian({self.bandwidth:g})"

    def variants(self) -> tuple[Method, ...]:
        """One per bandwidth."""
        if self.bandwidth is not None:
            return (self,)
        return tuple(replace(self, bandwidth=bandwidth) for bandwidth in BANDWIDTHS)

    def settled(self, evidence: Evidence) -> Method:
        """Itself: a fixed bandwidth stays."""
        return self

    def fit(self, evidence: Evidence) -> Favorability:
        """Constrained least squares on the observed curve."""
        bandwidth = BANDWIDTHS[1] if self.bandwidth is None else self.bandwidth
        k, accuracy, importance = evidence.sketch
        miss, basis, pieces = _normal_pieces(bandwidth, evidence.n_classes, k.tobytes())
        weight = simplex_weights(pieces, accuracy, importance)
        used = weight > 0
        return Favorability(miss=miss, miss_weight=weight[used] @ basis[used])


def simplex_weights(accuracy_of_piece: Floats, accuracy: Floats, importance: Floats) -> Floats:
    """Weights ≥ 0 that sum to one and bring the mixture's curve closest to the observed one.

    ``argmin_w Σ_k importance_k (accuracy_k − Σ_j w_j A_kj)²``, by non-negative least squares with the sum as one
    more, heavy, row.

    >>> simplex_weights(np.array([[0.2, 0.8], [0.1, 0.7]]), np.array([0.5, 0.4]), np.ones(2)).round(6).tolist()
    [0.5, 0.5]
    """
    from scipy.optimize import nnls

    root = np.sqrt(importance / importance.sum())
    matrix = np.vstack([accuracy_of_piece * root[:, None], np.full((1, accuracy_of_piece.shape[1]), _SUM_PULL)])
    target = np.append(accuracy * root, _SUM_PULL)
    weight, _ = nnls(matrix, target, maxiter=50 * matrix.shape[1])
    return np.asarray(weight / weight.sum(), dtype=np.float64)


def probit_grid(n_classes: int) -> tuple[Floats, Floats]:
    """Grid points ``x = Φ⁻¹(U)`` and the chance ``p = 1 − Φ(x)`` of losing to one competitor.

    The step follows the width of a binomial proportion of ``n_classes − 1`` on this scale, so that sums over the
    grid integrate likelihoods to full accuracy.
    """
    from scipy.special import ndtr

    step = min(0.05, 1.0 / np.sqrt(max(n_classes, 2)))
    x = np.linspace(_LOWEST, _HIGHEST, int(np.ceil((_HIGHEST - _LOWEST) / step)) + 1)
    return x, ndtr(-x)


def normal_weights(x: Floats, mean: Floats, spread: Floats | float) -> Floats:
    """Weights on the grid (last axis) of normal distributions with the given means and spreads."""
    z = (x - np.asarray(mean)[..., None]) / np.asarray(spread)[..., None]
    weight = np.exp(-0.5 * z * z)
    total = weight.sum(axis=-1, keepdims=True)
    if not (total > 0.0).all():
        # A spread below the step, or a mean off the grid, would leave no weight at all: the nearest point takes it.
        weight = np.where(total > 0.0, weight, np.eye(x.size)[np.abs(z).argmin(axis=-1)])
        total = weight.sum(axis=-1, keepdims=True)
    return np.asarray(weight / total, dtype=np.float64)


def climb(
    read: Callable[[Floats], tuple[float, Any]],
    slopes: Callable[[Floats, Any], tuple[Floats, Floats]],
    start: Floats,
    bounds: Floats,
    *,
    gain: float = 0.0,
    relative_gain: float = 0.0,
    move: float,
) -> Floats:
    """Parameters with the largest value, by damped Newton steps of at most one in each.

    ``read`` gives the value at a point and what the slopes need, ``slopes`` gradient and information there. It ends
    where a step gains less than ``gain`` (or that share of the value) or moves by less than ``move``.
    """
    theta, damping = np.asarray(start, dtype=np.float64), 1e-3
    value, found = read(theta)
    gradient, information = slopes(theta, found)
    for _ in range(40):
        ridge = np.diag(information) + 1e-12
        step = np.linalg.solve(information + damping * np.diag(ridge), gradient)
        tried = np.clip(theta + np.clip(step, -1.0, 1.0), bounds[:, 0], bounds[:, 1])
        new_value, found = read(tried)
        if new_value >= value:
            done = new_value - value < gain + relative_gain * abs(value) + 1e-20
            done = done or float(np.abs(tried - theta).max()) < move
            theta, value, damping = tried, new_value, damping / 10.0
            if done:
                break
            gradient, information = slopes(theta, found)
        else:
            damping *= 10.0
            if damping > 1e4:
                break
    return theta


@lru_cache(maxsize=16)
def _uniform_pieces(knots: int, n_classes: int, k_bytes: bytes) -> tuple[Floats, Floats]:
    """Lengths of the pieces and their curves, the atom last: the same for every resample of one task."""
    k = np.frombuffer(k_bytes)
    # Pieces much shorter than 1/k1 never lose in the observed task: below a hundredth they are one atom.
    span = np.geomspace(1.0, 0.01 / n_classes, knots - 1)
    return span, np.column_stack([power_of_span(span[None, :], k[:, None]), np.ones(k.size)])


@lru_cache(maxsize=16)
def _normal_pieces(bandwidth: float, n_classes: int, k_bytes: bytes) -> tuple[Floats, Floats, Floats]:
    """Grid, normals on it, and their curves: the same for every resample of one task, so made once."""
    k = np.frombuffer(k_bytes)
    x, miss = probit_grid(n_classes)
    means = np.arange(-4.0, 8.0 + 1e-9, bandwidth / 2.0)
    basis = normal_weights(x, means, np.full(means.size, bandwidth))
    return miss, basis, power_of_atom(miss[None, :], k[:, None]) @ basis.T


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

"""Methods on the accuracy curve (splines, mixtures, laws with two parameters), then those on the scores themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..types import Floats
from ..validate import check_whole, one_of
from .favorability import Favorability, power_of_atom, power_of_span, row_blocks, spline_moment
from .tasks import BIN_WIDTH, GrowthMethod, ScoreSample, TaskEvidence

# Knots that non-negative least squares starts with: of 10,000 every fiftieth, and as many denser near one. So many to
# each side of a knot in use are tried next: half of that distance.
_START, _BESIDE = 200, 25
# How much harder the row "weights sum to one" pulls than the data: enough to hold it to about 1e-9.
_SUM_PULL = 1e4
# Pieces of `mixture`, the atom among them; more change no curve that was seen.
_PIECES = 150
# Spreads on the scale of Φ⁻¹(U) that the back-test chooses from. Chosen by hand: narrower ones follow the noise of a
# few dozen classes, and one as wide as guessing (σ = 1) is the smoothest that can still bend.
BANDWIDTHS = (0.3, 0.6, 1.0)
# The grid of Φ⁻¹(U): from sure losses (U < 1e-15) to a competitor in 10²³.
_LOWEST, _HIGHEST = -8.0, 10.0
# So many misses are told apart one by one; more fall into groups a fiftieth wide, where one more is nothing.
_EXACT_MISSES, _GROUPS = 60, 300
# Fixed values that stand for a log-uniform law.
_LOG_NODES, _LOG_SHARES = np.polynomial.legendre.leggauss(160)
# Log-probabilities at which losses are tabulated: e^−40 never shows in a task, and a thirtieth is far below its bends.
_LOWEST_LOG, _LOG_STEPS = -40.0, 1200
# Steps of forward differences, on the scale of logarithms; chosen by hand, well above the rounding of a curve.
_SMALL_STEPS = np.eye(2) * 1e-5
# The share of competitors called tail, and the fewest scores that show one. Chosen by hand: more follow the shape of
# the middle, fewer scatter (the mean of eight excesses is known to about a third).
FRACTION, FEWEST_IN_TAIL = 0.1, 8
# A law of this many standardised scores is as good as one of all of them.
_ENOUGH = 200_000
# Scores that take fewer distinct values than this share of what was looked at are marks, not measurements.
_CONTINUOUS = 0.5
# Above this share of rows without a spread of their own there is no scale for standings.
_MOST_FLAT = 0.5
# Six points of a stretch of tied places: exact for accuracies that are polynomials of degree 11 on it.
_TIE_NODES, _TIE_SHARES = np.polynomial.legendre.leggauss(6)
# Grids of Φ⁻¹(U) on which likelihoods are summed, and on which the fitted law stands; the smallest τ is a step of the
# first.
_STANDING, _FINE = np.linspace(-6.0, 9.0, 121), np.linspace(-8.0, 10.0, 361)
# Of α, β and log τ: standings of normal scores are favorabilities already (0, 1), nearly (τ = 0.3); a loss or two
# outweigh spreads as wide as these.
_PRIOR_MEAN, _PRIOR_SPREAD = np.array([0.0, 1.0, np.log(0.3)]), np.array([1.0, 0.5, 0.7])
_A_RANK_METHOD = "a rank method such as 'probit_normal'"
_CALIBRATION_BOUNDS = np.array([[-6.0, 8.0], [0.0, 6.0], [np.log(0.13), np.log(3.0)]])


@dataclass(frozen=True)
class LinearSpline(GrowthMethod):
    """``D̄(u) = Σ β_ℓ [u − a_ℓ]₊``, fitted by least squares to ``1 − ATA_k`` for ``k = 2 … k1``.

    Zheng, Achanta & Benjamini, Eq. 12–17 and section 5.3, with their knots ``(ℓ−1)/m``, ``m = 10,000``, unless you
    give ``knots`` of your own. ``constraint`` is ``"convex"`` (``β ≥ 0``, the paper), ``"monotone"`` (slopes ≥ 0, so D̄
    only rises) or ``"none"`` (plain least squares; few knots, or it follows every wiggle). None of them holds D̄(1) at
    one: from few classes the fit can exceed it and predict accuracies below zero. ``mixture`` is the repaired version;
    this one is for comparison and for people who study the method.

    Examples
    --------
    >>> guessing = TaskEvidence(20, np.full(20, 1 / 20))
    >>> LinearSpline().fit(guessing).accuracy([40]).round(4).tolist()
    [0.025]
    >>> LinearSpline(knots=(0.0, 0.5, 0.9), constraint="none").fit(guessing).accuracy([40]).round(4).tolist()
    [0.025]
    """

    m: int = 10_000
    knots: tuple[float, ...] | None = None
    constraint: Literal["convex", "monotone", "none"] = "convex"
    name: str = "spline"

    def __post_init__(self) -> None:
        check_whole(self.m, "m", 1)
        one_of("convex", "monotone", "none")(self.constraint, "constraint")
        if self.knots is not None and (len(self.knots) == 0 or not all(0.0 <= a < 1.0 for a in self.knots)):
            problem = "is empty" if len(self.knots) == 0 else "has a knot outside [0, 1)"
            raise InputError("knots", problem, "give places on the scale of U, such as (0, 0.5, 0.9)")

    @staticmethod
    def growth_knots(k1: int, k2: int) -> tuple[float, ...]:
        """Knots by the paper's rules (section 6) to extrapolate from ``k1`` to ``k2`` classes.

        Above ``1 − 5/k2``, where ``U^(k2−1)`` matters, a quarter of ``1/k2`` apart; below, ``1/k1`` apart at most, so
        that the observed curve can be followed.

        >>> knots = LinearSpline.growth_knots(20, 1000)
        >>> len(knots), round(knots[-1], 5)
        (40, 0.99975)
        """
        border = max(1.0 - 5.0 / k2, 0.0)
        below = np.linspace(0.0, border, max(k1, 2), endpoint=False)
        return tuple(np.unique(np.append(below, np.linspace(border, 1.0, 21)[:-1])).tolist())

    def fit(self, evidence: TaskEvidence) -> Favorability:
        """Least squares on the observed errors, under the constraint."""
        from scipy.optimize import nnls

        k, accuracy, importance = evidence.sketch
        knot = np.arange(self.m) / self.m if self.knots is None else np.unique(self.knots)
        root = np.sqrt(importance)
        matrix = _spline_moments(tuple(knot), k.tobytes()) * root[:, None]
        error = (1.0 - accuracy) * root
        if self.constraint == "convex":
            # Non-negative least squares on some columns, then on these and all beside those in use: four rounds find
            # them.
            n = knot.size
            coarse = np.append(np.linspace(0, n - 1, _START), n - np.geomspace(1, n, _START)).astype(np.intp)
            beta, chosen = np.zeros(n), np.unique(coarse)
            for _ in range(4):
                beta[:] = 0.0
                beta[chosen] = nnls(matrix[:, chosen], error, maxiter=50 * chosen.size)[0]
                near = np.flatnonzero(beta)[:, None] + np.arange(-_BESIDE, _BESIDE + 1)
                chosen = np.union1d(coarse, np.clip(near, 0, n - 1))
        elif self.constraint == "none":
            beta = np.asarray(np.linalg.lstsq(matrix, error, rcond=1e-12)[0], dtype=np.float64)
        else:
            # Slopes between knots instead of bends at them: a step of density between two knots each.
            steps = matrix - np.column_stack([matrix[:, 1:], np.zeros(k.size)])
            slope, _ = nnls(steps, error, maxiter=50 * knot.size)
            beta = np.asarray(np.diff(slope, prepend=0.0), dtype=np.float64)
        used = beta != 0
        span = 1.0 - knot[used]
        weight = beta[used] * span
        return Favorability(miss=np.zeros(1), miss_weight=np.array([1.0 - weight.sum()]), span=span, span_weight=weight)


@dataclass(frozen=True)
class FunctionBasis(GrowthMethod):
    """``D̄(u) = Σ β_ℓ h_ℓ(u)`` with functions of your own, non-negative weights or (``constraint="none"``) any.

    The moments ``H_ℓ,k = (k−1) ∫ h_ℓ(u) u^(k−2) du`` (Eq. 16) are found by quadrature on a grid, finest near one.

    Examples
    --------
    >>> powers = FunctionBasis((lambda u: u, lambda u: u**8))
    >>> powers.fit(TaskEvidence(20, np.full(20, 1 / 20))).accuracy([40]).round(3).tolist()
    [0.025]
    """

    functions: Sequence[Callable[[Floats], Floats]]
    constraint: Literal["convex", "none"] = "convex"
    name: str = "basis"

    def __post_init__(self) -> None:
        if len(self.functions) == 0:
            raise InputError("functions", "is empty", "give one function of u or more")
        one_of("convex", "none")(self.constraint, "constraint")

    def fit(self, evidence: TaskEvidence) -> Favorability:
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
        weight, never = rise @ beta, float(at_zero @ beta)
        atoms = [1.0 - weight.sum() - never, never]
        return Favorability(np.append([0.0, 1.0], middle), np.append(atoms, weight))


@dataclass(frozen=True)
class UniformMixture(GrowthMethod):
    """``U`` is a mixture of Uniform(1 − s, 1) pieces and an atom at one, with weights that sum to one.

    ``AGA_k = w₀ + Σ_j w_j (1 − (1 − s_j)^k) / (k s_j)``. A linear spline with knot ``a`` is the piece with
    ``s = 1 − a``, so this is the model of Zheng, Achanta & Benjamini (section 5.3) with the constraint they state
    and leave out, D̄(1) ≤ 1: the curve stays inside [0, 1] and falls by construction.
    """

    name: str = "mixture"

    def fit(self, evidence: TaskEvidence) -> Favorability:
        """Constrained least squares on the observed curve."""
        k, accuracy, importance = evidence.sketch
        # Pieces much shorter than 1/k1 never lose in the observed task: below a hundredth they are one atom.
        span = np.geomspace(1.0, 0.01 / evidence.n_classes, _PIECES - 1)
        pieces = np.column_stack([power_of_span(span[None, :], k[:, None]), np.ones(k.size)])
        weight = simplex_weights(pieces, accuracy, importance)
        return Favorability(miss=np.zeros(1), miss_weight=weight[-1:], span=span, span_weight=weight[:-1])


@dataclass(frozen=True)
class GaussianBasis(GrowthMethod):
    """``Φ⁻¹(U)`` is a mixture of normals with one common spread ``h`` and means on a grid.

    The final version of Zheng, Achanta & Benjamini replaced the splines by this basis and chose ``h`` by how well
    half the classes predict the whole. Without a ``bandwidth`` the back-test does that here.
    """

    bandwidth: float = BANDWIDTHS[1]
    name: str = "gaussian"

    def variants(self) -> tuple[GrowthMethod, ...]:
        """One per bandwidth, where it was not chosen."""
        if self.name != "gaussian":
            return (self,)
        return tuple(GaussianBasis(bandwidth, f"gaussian({bandwidth:g})") for bandwidth in BANDWIDTHS)

    def fit(self, evidence: TaskEvidence) -> Favorability:
        """Constrained least squares on the observed curve."""
        k, accuracy, importance = evidence.sketch
        miss, basis, pieces = _normal_pieces(self.bandwidth, evidence.n_classes, k.tobytes())
        weight = simplex_weights(pieces, accuracy, importance)
        used = weight > 0
        return Favorability(miss=miss, miss_weight=weight[used] @ basis[used])


def simplex_weights(accuracy_of_piece: Floats, accuracy: Floats, importance: Floats) -> Floats:
    """``argmin_w Σ_k importance_k (accuracy_k − Σ_j w_j A_kj)²`` with w ≥ 0; their sum is one by a heavy row."""
    from scipy.optimize import nnls

    root = np.sqrt(importance / importance.sum())
    matrix = np.vstack([accuracy_of_piece * root[:, None], np.full((1, accuracy_of_piece.shape[1]), _SUM_PULL)])
    weight, _ = nnls(matrix, np.append(accuracy * root, _SUM_PULL), maxiter=50 * matrix.shape[1])
    return np.asarray(weight / weight.sum(), dtype=np.float64)


def probit_grid(n_classes: int) -> tuple[Floats, Floats]:
    """Grid points ``x = Φ⁻¹(U)`` and the chance ``p = 1 − Φ(x)`` of losing to one competitor."""
    from scipy.special import ndtr

    # as wide as a binomial proportion of so many is on this scale, so that sums integrate likelihoods
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

    ``read`` gives the value at a point and what the slopes need, ``slopes`` gradient and information there.
    """
    theta, damping = np.asarray(start, dtype=np.float64), 1e-3
    value, found = read(theta)
    gradient, information = slopes(theta, found)
    for _ in range(40):
        step = np.linalg.solve(information + damping * np.diag(np.diag(information) + 1e-12), gradient)
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
def _normal_pieces(bandwidth: float, n_classes: int, k_bytes: bytes) -> tuple[Floats, Floats, Floats]:
    """Grid, normals on it, and their curves: the same for every resample of one task, so made once."""
    k = np.frombuffer(k_bytes)
    x, miss = probit_grid(n_classes)
    means = np.arange(-4.0, 8.0 + 1e-9, bandwidth / 2.0)
    basis = normal_weights(x, means, np.full(means.size, bandwidth))
    return miss, basis, power_of_atom(miss[None, :], k[:, None]) @ basis.T


@lru_cache(maxsize=4)
def _spline_moments(knots: tuple[float, ...], k_bytes: bytes) -> Floats:
    return spline_moment(1.0 - np.array(knots)[None, :], np.frombuffer(k_bytes)[:, None])


@dataclass(frozen=True)
class ProbitNormal(GrowthMethod):
    """``Φ⁻¹(U) ~ N(μ, σ²)``, and a case beats Binomial(k1 − 1, U) distractors.

    The likelihood of the histogram of wins is maximised over ``μ, σ``.
    """

    name: str = "probit_normal"

    def fit(self, evidence: TaskEvidence) -> Favorability:
        """Two parameters, from the best point of a coarse grid by scoring."""
        x, miss = probit_grid(evidence.n_classes)
        group, likelihood, at_starts = _likelihoods(evidence.histogram.size)
        total = np.asarray(np.bincount(group, weights=evidence.histogram[::-1]), dtype=np.float64)
        used = total > 0
        share, likelihood = total[used], likelihood[used]

        def read(t: Floats) -> tuple[float, tuple[Floats, Floats]]:
            spread = float(np.exp(t[1]))
            weight = normal_weights(x, t[0], spread)
            z = (x - t[0]) / spread
            chance = likelihood @ weight + 1e-300
            slope = np.column_stack([z / spread, z * z])
            return float(share @ np.log(chance)), (chance, weight[:, None] * (slope - weight @ slope))

        def slopes(t: Floats, found: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
            score = likelihood @ found[1] / found[0][:, None]
            return share @ score, (score * share[:, None]).T @ score

        start = _PROBIT_STARTS[int(np.argmax(share @ at_starts[used]))]
        theta = climb(read, slopes, start, _PROBIT_BOUNDS, gain=1e-6, move=1e-4)
        return Favorability(miss=miss, miss_weight=normal_weights(x, theta[0], float(np.exp(theta[1]))))


@dataclass(frozen=True)
class Exponential(GrowthMethod):
    """The number of classes grows exponentially as accuracy falls: ``k = A exp(−B · accuracy)``.

    Kay et al. (2008) read off the set size at which their decoder would drop below 10% from such a line. A line in
    ``log k`` leaves [0, 1]; its mixture form does not: ``1 − U`` log-uniform on ``(p₀, p₁)`` gives
    ``AGA_k ≈ 1 − (log(k p₁) + γ) / log(p₁/p₀)`` between ``1/p₁`` and ``1/p₀`` and bends only outside. Two
    parameters, least squares on the accuracy curve: a baseline.
    """

    name: str = "exponential"

    def fit(self, evidence: TaskEvidence) -> Favorability:
        """Least squares over the logarithms of the upper end and of the distance to the lower one."""
        k, accuracy, importance = evidence.sketch
        k_bytes, root = k.tobytes(), np.sqrt(importance / importance.sum())
        losses = ((_lines(k_bytes)[1] - accuracy) ** 2 * (root * root)).sum(axis=1)

        def read(theta: Floats) -> tuple[float, Floats]:
            gap = (_line_curve(theta, _lines(k_bytes)[0]) - accuracy) * root
            return -float(gap @ gap), gap

        def slopes(theta: Floats, gap: Floats) -> tuple[Floats, Floats]:
            moved = [(_line_curve(theta + step, _lines(k_bytes)[0]) - accuracy) * root - gap for step in _SMALL_STEPS]
            slope = np.column_stack(moved) / _SMALL_STEPS.max()
            return -slope.T @ gap, slope.T @ slope

        start = _LINE_STARTS[int(np.argmin(losses))]
        theta = climb(read, slopes, start, _LINE_BOUNDS, relative_gain=1e-5, move=1e-6)
        high, width = -float(np.exp(theta[0])), float(np.exp(theta[1]))
        miss = np.exp(high - width / 2.0 + width / 2.0 * _LOG_NODES)
        return Favorability(miss=np.minimum(miss, 1.0), miss_weight=_LOG_SHARES / 2.0)


def _line_curve(theta: Floats, reached: Floats) -> Floats:
    """Accuracies where ``1 − U`` is log-uniform, by the logarithms of minus its upper end and of its width.

    ``reached``: losses integrated up to each log-probability, whose differences are the means of log-uniform laws.
    """
    high, width = -float(np.exp(theta[0])), float(np.exp(theta[1]))
    readings = []
    for log_miss in (high, high - width):
        place = (max(log_miss, _LOWEST_LOG) - _LOWEST_LOG) / (-_LOWEST_LOG / (_LOG_STEPS - 1.0))
        below = min(int(place), _LOG_STEPS - 2)
        readings.append(reached[below] + (place - below) * (reached[below + 1] - reached[below]))
    return np.asarray(1.0 - (readings[0] - readings[1]) / width)


# The points that a search may start from, and the bounds of its two parameters. They reach from tasks that are lost at
# two classes to tasks without an error among millions.
_PROBIT_STARTS = np.array(list(product(np.arange(-1.0, 8.1, 0.5), np.arange(-2.5, 1.6, 0.5))))
_PROBIT_BOUNDS = np.array([[-4.0, 9.0], [-4.0, 2.0]])
_LINE_STARTS = np.array(list(product(np.arange(-6.0, 2.6, 1.0), np.arange(-1.0, 5.1, 0.5))))
_LINE_BOUNDS = np.array([[-20.0, 3.0], [-4.0, 6.0]])


@lru_cache(maxsize=16)
def _lines(k_bytes: bytes) -> tuple[Floats, Floats]:
    """Losses up to each log-probability, and the curves of the starts: the same for every resample of one task."""
    k = np.frombuffer(k_bytes)
    x = np.linspace(_LOWEST_LOG, 0.0, _LOG_STEPS)
    lost = 1.0 - power_of_atom(np.exp(x)[:, None], k[None, :])
    reached = np.vstack([np.zeros(k.size), np.cumsum((lost[1:] + lost[:-1]) / 2.0, axis=0) * (x[1] - x[0])])
    return reached, np.array([_line_curve(start, reached) for start in _LINE_STARTS])


@lru_cache(maxsize=4)
def _likelihoods(n_classes: int) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Group of every number of misses, likelihood of every group on the probit grid, its logarithm at the starts."""
    from scipy.special import log_ndtr

    x, _ = probit_grid(n_classes)
    misses = np.arange(n_classes, dtype=np.float64)
    group: NDArray[np.intp] = np.arange(n_classes)
    if n_classes > _EXACT_MISSES + _GROUPS:
        edges = np.geomspace(_EXACT_MISSES, n_classes, _GROUPS)
        beyond = _EXACT_MISSES + np.searchsorted(edges, misses, side="right")
        group = np.unique(np.where(misses < _EXACT_MISSES, misses, beyond), return_inverse=True)[1]
    middle = np.bincount(group, weights=misses) / np.bincount(group)
    log = (n_classes - 1.0 - middle)[:, None] * log_ndtr(x) + middle[:, None] * log_ndtr(-x)
    # Scaling a row by a constant moves the log-likelihood by a constant and keeps exp from vanishing.
    likelihood = np.exp(log - log.max(axis=1, keepdims=True))
    weight = normal_weights(x, _PROBIT_STARTS[:, 0], np.exp(_PROBIT_STARTS[:, 1]))
    return group, likelihood, np.log(likelihood @ weight.T + 1e-300)


@dataclass(frozen=True)
class KernelDensity(GrowthMethod):
    """``Û_i = mean_j Φ((s_i − s_ij) / h_i)`` over the competitors ``j`` of case ``i``; ``AGA_k = mean_i Û_i^(k−1)``.

    Scores are standardised case by case, so one relative bandwidth serves all: ``h_i = h · sd_i``. It minimises the
    cross-validation criterion (Scott & Terrell 1987) averaged over the cases: biased (``kde``; smoother, the better of
    the two in the authors' final paper) or unbiased (``kde_unbiased``), searched in [0.1, 1] × the oversmoothed one.
    """

    name: str = "kde"
    bandwidth: float | None = None
    needs_scores = True

    def settled(self, evidence: TaskEvidence) -> GrowthMethod:
        """With the bandwidth of this evidence: copies in a resample would drive cross-validation to zero."""
        return replace(self, bandwidth=relative_bandwidth(evidence.known_scores(self.name, complete=True), self.name))

    def fit(self, evidence: TaskEvidence) -> Favorability:
        """One value of ``U`` per case."""
        from scipy.special import ndtr

        scores = evidence.known_scores(self.name, complete=True)
        ordered = np.sort(scores.others, axis=1)
        distinct = (ordered[:, 1:] > ordered[:, :-1]).sum(axis=1)
        if not scores.resampled and np.median(distinct / scores.count) < _CONTINUOUS:
            few = "takes few distinct values, so that no kernel fits between them"
            raise InputError("scores", few, f"use 'pooled' or {_A_RANK_METHOD}")
        bandwidth = self.bandwidth or relative_bandwidth(scores, self.name)
        _, spread = scores.mean_and_deviation
        miss = np.empty(scores.true.size)
        for rows in row_blocks(*scores.others.shape):
            # −inf, no competitor, has no chance to win and adds nothing.
            z = (scores.others[rows] - scores.true[rows, None]) / (bandwidth * spread[rows, None])
            miss[rows] = ndtr(z).sum(axis=1) / scores.count[rows]
        return Favorability(miss=np.minimum(miss, 1.0), miss_weight=scores.weight)


@dataclass(frozen=True)
class ParetoTail(GrowthMethod):
    """Above its own threshold every case's competitors follow a generalised Pareto law with one common shape.

    For case ``i`` the threshold ``t_i`` has the best ``r`` competitors above it, ``m_i`` is their mean excess, and
    the shape ``ξ`` is pooled over all cases from the ratio of the first two L-moments, ``1/(2 − ξ)``. A mean of ``r``
    excesses scatters, so ``log(m_i / sd_i)`` is drawn towards its mean over all cases as far as that scatter explains
    the differences (empirical Bayes). The right class at score ``s_i`` then loses to a random competitor with chance
    ``(r/n) · (1 + ξ (s_i − t_i) / ((1 − ξ) m_i))^(−1/ξ)``; below the threshold the plain share of better competitors
    counts. Reaches far beyond ``k1`` because a tail, unlike a rank, has a slope.
    """

    name: str = "tail"
    needs_scores = True

    def fit(self, evidence: TaskEvidence) -> Favorability:
        """One value of ``U`` per case, or a stretch of values where it ties."""
        scores = evidence.known_scores(self.name)
        kept = scores.count if scores.depth is None else scores.depth
        most = min(int(kept.min()), int(scores.count.min())) - 1
        r = min(max(FEWEST_IN_TAIL, int(FRACTION * scores.count.max())), most)
        if r < 2:
            raise InputError("scores", "has too few competitors for a tail", f"use {_A_RANK_METHOD}")
        top = scores.others[:, : r + 1] if scores.depth is not None else largest(scores.others, r + 1)
        distinct = 1.0 + (top[:, 1:] != top[:, :-1]).sum(axis=1)
        if not scores.resampled and np.median(distinct) < _CONTINUOUS * (r + 1):
            few = "takes few distinct values, so that its best ones have no tail to follow"
            raise InputError("scores", few, f"use {_A_RANK_METHOD}")
        better, level = _shares(scores)
        beyond = chance_beyond(top, scores.true[:, None], scores.standing[1], scores.count)[:, 0]
        return _with_ties(scores, np.where(np.isnan(beyond), better, beyond), level)


@dataclass(frozen=True)
class PooledScores(GrowthMethod):
    """The competitors' scores of all cases follow one law once they are standardised case by case.

    ``U_i = F((s_i − mean_i) / sd_i)`` with ``F`` the distribution of all ``n²`` standardised scores, carried on
    beyond its last fifty by an exponential tail. Little scatter, because every case helps to tell what is rare; biased
    where cases differ in more than place and scale, which the back-test shows.
    """

    name: str = "pooled"
    needs_scores = True

    def fit(self, evidence: TaskEvidence) -> Favorability:
        """One value of ``U`` per case, or a stretch of values where it ties."""
        scores = evidence.known_scores(self.name, complete=True)
        mean, spread = scores.mean_and_deviation
        z = (scores.others - mean[:, None]) / spread[:, None]
        z = z[np.isfinite(z)]
        z = np.sort(z[:: max(1, z.size // _ENOUGH)])
        own = (scores.true - mean) / spread
        last = max(FEWEST_IN_TAIL, min(50, z.size // 20))
        if z.size <= last:
            few = f"needs more than {last} scores of wrong classes that differ, but there are {z.size}"
            raise InputError("method", f"{self.name!r} {few}", f"use {_A_RANK_METHOD}, or try more cases and classes")
        better = 1.0 - np.searchsorted(z, own, side="right") / z.size
        threshold = z[-last - 1]
        excess = float((z[-last:] - threshold).mean())
        far = own > threshold
        if excess > 0:
            better[far] = last / z.size * np.exp(-(own[far] - threshold) / excess)
        return _with_ties(scores, better, _shares(scores)[1])


@dataclass(frozen=True)
class CalibratedScores(GrowthMethod):
    """How far the right class stands above its competitors tells its favorability, by a line that the losses fit.

    With ``z_i = (s_i − median_i) / spread_i``, the spread upwards alone (``evidence.middle_and_spread``),
    ``Φ⁻¹(U_i) ~ N(α + β z_i, τ²)``, and case ``i`` loses Binomial(k1 − 1, 1 − U_i) comparisons. Scores show how cases
    differ, losses show what that difference is worth, so the scale of the scores hardly matters; with ``β = 0`` it is
    ``probit_normal``, which knows ranks alone. Maximum a posteriori, with normal priors around ``α = 0, β = 1,
    τ = 0.3`` (normal scores, nearly) that a handful of losses outweighs; without any loss they are what is left.
    """

    name: str = "calibrated"
    needs_scores = True

    def fit(self, evidence: TaskEvidence) -> Favorability:
        """The cases' laws side by side; three parameters by damped scoring on cases grouped by ``z`` and by losses.

        Cases that stand equally far above their competitors and lose equally often are put together. One whose
        competitors show no spread upwards stands where its rank puts it.
        """
        from scipy.special import log_ndtr, ndtr, ndtri

        scores, competitors = evidence.known_scores(self.name), evidence.n_classes - 1
        losses = scores.losses
        if losses is None:
            losses = scores.count - (scores.others < scores.true[:, None]).sum(axis=1)
        middle, spread = scores.standing
        flat = ~(spread > 0)
        if flat.mean() > _MOST_FLAT:
            message = f"gives in {flat.sum():,} of {flat.size:,} rows no other class a score above the median of them "
            message += "all, so there is no scale to place the right one on"
            raise InputError("scores", message, "use a rank method such as 'mixture'")
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(flat, -ndtri((losses + 0.5) / (competitors + 1.0)), (scores.true - middle) / spread)
        z = np.clip(np.round(5.0 * z) / 5.0, -8.0, 12.0)
        # Above sixty losses one more or less is nothing: they are put together by steps of a fiftieth.
        steps = 60.0 * np.exp(np.round(50.0 * np.log(np.maximum(losses, 60.0) / 60.0)) / 50.0)
        coarse = np.where(losses < 60.0, np.round(2.0 * losses) / 2.0, steps)
        pairs, where = np.unique(np.column_stack([z, coarse]), axis=0, return_inverse=True)
        share = np.asarray(np.bincount(where.ravel(), weights=scores.weight), dtype=np.float64)
        log = (competitors - pairs[:, 1:]) * log_ndtr(_STANDING) + pairs[:, 1:] * log_ndtr(-_STANDING)
        likelihood = np.exp(log - log.max(axis=1, keepdims=True))
        distinct, place = np.unique(pairs[:, 0], return_inverse=True)
        trials = share * max(scores.n_tested, 1)

        def read(theta: Floats) -> tuple[float, Floats]:
            tau = float(np.exp(theta[2]))
            off = (_STANDING[None, :] - (theta[0] + theta[1] * distinct)[:, None]) / tau
            law = np.exp(-0.5 * off * off)
            law /= law.sum(axis=1, keepdims=True) + 1e-300
            chance = np.einsum("ij,ij->i", likelihood, law[place]) + 1e-300
            slopes = []
            for slope in (off / tau, off * off):
                centred = law * (slope - (law * slope).sum(axis=1, keepdims=True))
                slopes.append(np.einsum("ij,ij->i", likelihood, centred[place]) / chance)
            score = np.column_stack([slopes[0], slopes[0] * distinct[place], slopes[1]])
            away = (theta - _PRIOR_MEAN) / _PRIOR_SPREAD
            return float(trials @ np.log(chance) - 0.5 * away @ away), score

        def slopes(theta: Floats, score: Floats) -> tuple[Floats, Floats]:
            gradient = trials @ score - (theta - _PRIOR_MEAN) / _PRIOR_SPREAD**2
            return gradient, (score * trials[:, None]).T @ score + np.diag(_PRIOR_SPREAD**-2.0)

        theta = climb(read, slopes, np.array([0.0, 1.0, -1.2]), _CALIBRATION_BOUNDS, gain=1e-3, move=3e-3)
        mass = np.asarray(np.bincount(place, weights=share), dtype=np.float64)
        spread_of_each = np.full(distinct.size, float(np.exp(theta[2])))
        law = mass @ normal_weights(_FINE, theta[0] + theta[1] * distinct, spread_of_each)
        return Favorability(miss=ndtr(-_FINE), miss_weight=law)


def _shares(scores: ScoreSample) -> tuple[Floats, Floats]:
    """For every case the shares of its competitors that are better, and that are level."""
    better = (scores.others > scores.true[:, None]).sum(axis=1) / scores.count
    level = (scores.others == scores.true[:, None]).sum(axis=1) / scores.count
    return better, level  # where only the best scores are kept, a case below all of them loses to at least so many


def _with_ties(scores: ScoreSample, better: Floats, level: Floats) -> Favorability:
    """The values of ``1 − U``; a case that ties takes its stretch by the rule, random ties all places in it alike."""
    if scores.ties == "pessimistic":
        better = better + level
    tied = level > 0
    if scores.ties != "random" or not tied.any():
        return Favorability(miss=np.clip(better, 0.0, 1.0), miss_weight=scores.weight)
    places = better[tied, None] + level[tied, None] * (1.0 + _TIE_NODES) / 2.0
    shares = scores.weight[tied, None] * _TIE_SHARES / 2.0
    miss = np.clip(np.concatenate([better[~tied], places.ravel()]), 0.0, 1.0)
    return Favorability(miss, np.concatenate([scores.weight[~tied], shares.ravel()]))


def largest(rows: Floats, n: int) -> Floats:
    """The ``n`` largest values of every row, the largest first."""
    return -np.sort(np.partition(-rows, n - 1, axis=1)[:, :n], axis=1)


def chance_beyond(top: Floats, points: Floats, spread: Floats, count: Floats | int) -> Floats:
    """The chance that one of ``count`` competitors scores above each point, by a generalised Pareto tail; else nan.

    ``top`` has the best scores of every row, the largest first; the last one is the threshold of its tail. Rows share
    the shape, and their scales are drawn together.
    """
    r = top.shape[1] - 1
    threshold, excess = top[:, r], top[:, :r] - top[:, r : r + 1]
    scale = excess.mean(axis=1)
    used = np.flatnonzero(scale > 0)
    chance = np.full((len(top), points.shape[1]), np.nan)
    if used.size:
        shape = pooled_shape(excess[used] / scale[used, None])
        steady, wide = scale[used], spread[used]
        if (wide > 0).all() and steady.size >= 3:
            # Means of r excesses each, relative to the row's spread, are drawn together as far as chance explains.
            relative = np.log(steady / wide)
            scatter = 1.0 / (r * (1.0 - 2.0 * min(shape, 0.4)))
            real, centre = max(0.0, 1.0 - scatter / max(float(relative.var()), 1e-12)), float(relative.mean())
            steady = wide * np.exp(centre + real * (relative - centre))
        height = (points[used] - threshold[used, None]) / steady[:, None]
        rate = np.broadcast_to(r / np.asarray(count, dtype=np.float64), len(top))[used, None]
        chance[used] = np.where(height > 0, rate * pareto_survival(np.maximum(height, 0.0), shape), np.nan)
    return chance


def pareto_survival(excess: Floats, shape: float) -> Floats:
    """``P(X > x)`` of a generalised Pareto law with mean one: ``(1 + ξx/(1−ξ))^(−1/ξ)``."""
    if abs(shape) < 1e-9:
        return np.asarray(np.exp(-excess), dtype=np.float64)
    inside = np.maximum(1.0 + shape * excess / (1.0 - shape), 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(inside ** (-1.0 / shape), dtype=np.float64)


def pooled_shape(excess: Floats) -> float:
    """The shape of excesses (rows largest first, scaled to mean one) from their L-moments: ``λ₂/λ₁ = 1/(2 − ξ)``."""
    r = excess.shape[1]
    order = np.arange(r - 1.0, -1.0, -1.0) / (r - 1.0)
    ratio = float((2.0 * (excess * order).mean(axis=1) / excess.mean(axis=1)).mean() - 1.0)
    return float(np.clip(2.0 - 1.0 / max(ratio, 0.15), -4.0, 0.9))


def relative_bandwidth(scores: ScoreSample, name: str) -> float:
    """The bandwidth, in standard deviations of a case's scores, that minimises the averaged criterion."""
    per_row = scores.pairs_at_distance
    n = float(scores.count.mean())
    distance = np.arange(per_row.size) * BIN_WIDTH
    largest = 1.144 * n ** (-0.2)
    candidates = np.geomspace(0.1 * largest, largest, 60)
    delta = (distance[None, :] / candidates[:, None]) ** 2
    if name == "kde":  # biased cross-validation
        total = (np.exp(-delta / 4.0) * (delta * delta - 12.0 * delta + 12.0)) @ per_row
        loss = (1.0 + total / (32.0 * n)) / (2.0 * n * candidates * np.sqrt(np.pi))
    else:
        total = (np.exp(-delta / 4.0) - np.sqrt(8.0) * np.exp(-delta / 2.0)) @ per_row
        loss = (0.5 + total / n) / (n * candidates * np.sqrt(np.pi))
    return float(candidates[int(np.argmin(loss))])

"""Methods with two parameters: normal on the probit scale, a beta law, accuracy linear in log k."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..types import Floats
from .curve_methods import climb, normal_weights, probit_grid
from .evidence import Evidence
from .favorability import Favorability, power_of_atom
from .methods import Fixed

_EXACT_MISSES, _GROUPS = 60, 300
_BETA_NODES, _LOG_NODES = 400, 160
_LOWEST, _STEPS = -40.0, 1200
_SMALL_STEPS = np.eye(2) * 1e-5


@dataclass(frozen=True)
class ProbitNormal(Fixed):
    """``Φ⁻¹(U) ~ N(μ, σ²)``, and a case beats Binomial(k1 − 1, U) distractors.

    The likelihood of the histogram of wins is maximised over ``μ, σ``; where only accuracies are known, least
    squares on the curve takes its place.

    Examples
    --------
    >>> k = np.arange(2.0, 21.0)
    >>> fit = ProbitNormal().fit(Evidence(20, pairs=(k, 1 / k)))   # guessing is μ = 0, σ = 1
    >>> fit.accuracy([40]).round(4).tolist()
    [0.025]
    """

    name: str = "probit_normal"
    needs_scores: bool = False

    def fit(self, evidence: Evidence) -> Favorability:
        """Two parameters, from the best point of a coarse grid by Gauss–Newton steps."""
        x, miss = probit_grid(evidence.n_classes)
        if evidence.histogram is not None:
            theta = _most_likely(evidence.histogram, x)
        else:
            k, accuracy, importance = evidence.sketch
            powers = power_of_atom(miss[None, :], k[:, None])
            theta = closest_curve(
                lambda t: powers @ normal_weights(x, t[0], float(np.exp(t[1]))),
                _PROBIT_STARTS,
                _probit_curves(evidence.n_classes, k.tobytes()),
                accuracy,
                importance,
                _PROBIT_BOUNDS,
            )
        return Favorability(miss=miss, miss_weight=normal_weights(x, theta[0], float(np.exp(theta[1]))))


@dataclass(frozen=True)
class PitmanYor(Fixed):
    """``AGA_k = Γ(θ+1) Γ(θ+d+k−1) / (Γ(θ+d) Γ(θ+k))``, the chance that a Pitman–Yor process opens a new table.

    It is the moment of a favorability ``U ~ Beta(θ + d, 1 − d)`` and falls as ``k^(d−1)``. Fitted by least squares
    on the accuracy curve: a baseline, for it cannot bend.

    Examples
    --------
    >>> k = np.arange(2.0, 21.0)
    >>> fit = PitmanYor().fit(Evidence(20, pairs=(k, 1 / k)))      # guessing is Beta(1, 1)
    >>> fit.accuracy([40]).round(4).tolist()
    [0.025]
    """

    name: str = "pitman_yor"
    needs_scores: bool = False

    def fit(self, evidence: Evidence) -> Favorability:
        """Least squares over the two logarithms of the beta parameters."""
        k, accuracy, importance = evidence.sketch
        starts, curves = _beta_starts(k.tobytes())
        theta = closest_curve(lambda t: _beta_curve(t, k), starts, curves, accuracy, importance, _BETA_BOUNDS)
        return beta_favorability(*np.exp(theta).tolist())


@dataclass(frozen=True)
class Exponential(Fixed):
    """The number of classes grows exponentially as accuracy falls: ``k = A exp(−B · accuracy)``.

    Kay et al. (2008) read off the set size at which their decoder would drop below 10 % from such a line. A line in
    ``log k`` leaves [0, 1]; its mixture form does not: ``1 − U`` log-uniform on ``(p₀, p₁)`` gives
    ``AGA_k ≈ 1 − (log(k p₁) + γ) / log(p₁/p₀)`` between ``1/p₁`` and ``1/p₀`` and bends only outside. Two
    parameters, least squares on the accuracy curve: a baseline.

    Examples
    --------
    >>> truth = Exponential.between(1e-6, 0.5)
    >>> k = np.arange(2.0, 51.0)
    >>> fit = Exponential().fit(Evidence(50, pairs=(k, truth.accuracy(k))))
    >>> bool(abs(fit.accuracy(1000) - truth.accuracy(1000))[0] < 1e-4)
    True
    """

    name: str = "exponential"
    needs_scores: bool = False

    @staticmethod
    def between(lowest: float, highest: float) -> Favorability:
        """``1 − U`` log-uniform between two probabilities."""
        node, weight = _legendre()
        low, high = np.log(lowest), np.log(highest)
        miss = np.exp((high + low) / 2.0 + (high - low) / 2.0 * node)
        return Favorability(miss=np.minimum(miss, 1.0), miss_weight=weight / 2.0)

    def fit(self, evidence: Evidence) -> Favorability:
        """Least squares over the logarithms of the upper end and of the distance to the lower one."""
        k, accuracy, importance = evidence.sketch
        starts, curves = _line_starts(k.tobytes())
        theta = closest_curve(lambda t: _line_curve(t, k.tobytes()), starts, curves, accuracy, importance, _LINE_BOUNDS)
        high = -float(np.exp(theta[0]))
        return self.between(float(np.exp(high - np.exp(theta[1]))), float(np.exp(high)))


Curve = Callable[[Floats], Floats]
_PROBIT_BOUNDS = np.array([[-4.0, 9.0], [-4.0, 2.0]])
_BETA_BOUNDS = np.array([[-12.0, 12.0], [-12.0, 12.0]])
_LINE_BOUNDS = np.array([[-20.0, 3.0], [-4.0, 6.0]])
_PROBIT_STARTS = np.array([(m, s) for m in np.arange(-1.0, 8.1, 0.5) for s in np.arange(-2.5, 1.6, 0.5)])


def closest_curve(
    curve: Curve, starts: Floats, curves: Floats, accuracy: Floats, importance: Floats, bounds: Floats
) -> Floats:
    """Two parameters whose curve is closest to the observed one, by damped Gauss–Newton from the best of many."""
    root = np.sqrt(importance / importance.sum())
    losses = ((curves - accuracy) ** 2 * (root * root)).sum(axis=1)
    start = starts[int(np.argmin(losses))]

    def read(t: Floats) -> tuple[float, Floats]:
        gap = (curve(t) - accuracy) * root
        return -float(gap @ gap), gap

    def slopes(t: Floats, gap: Floats) -> tuple[Floats, Floats]:
        slope = (
            np.column_stack([(curve(t + step) - accuracy) * root - gap for step in _SMALL_STEPS]) / _SMALL_STEPS.max()
        )
        return -slope.T @ gap, slope.T @ slope

    return climb(read, slopes, start, bounds, relative_gain=1e-5, move=1e-6)


@lru_cache(maxsize=8)
def _probit_curves(n_classes: int, k_bytes: bytes) -> Floats:
    x, miss = probit_grid(n_classes)
    weight = normal_weights(x, _PROBIT_STARTS[:, 0], np.exp(_PROBIT_STARTS[:, 1]))
    return np.asarray(weight @ power_of_atom(miss[:, None], np.frombuffer(k_bytes)[None, :]), dtype=np.float64)


@lru_cache(maxsize=4)
def _likelihoods(n_classes: int) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Group of every number of misses, likelihood of every group on the probit grid, and its logarithm at the starts.

    Large numbers of misses are grouped: there one more or less is nothing.
    """
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


def _most_likely(histogram: Floats, x: Floats) -> Floats:
    """Mean and log-spread of the normal under which the wins are most likely, by scoring from the best of many."""
    group, likelihood, at_starts = _likelihoods(histogram.size)
    total = np.asarray(np.bincount(group, weights=histogram[::-1]), dtype=np.float64)
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
    return climb(read, slopes, start, _PROBIT_BOUNDS, gain=1e-6, move=1e-4)


def _beta_curve(theta: Floats, k: Floats) -> Floats:
    from scipy.special import betaln

    a, b = np.exp(theta[..., :1]), np.exp(theta[..., 1:])
    return np.asarray(np.exp(betaln(a + k - 1.0, b) - betaln(a, b)), dtype=np.float64)


@lru_cache(maxsize=16)
def _beta_starts(k_bytes: bytes) -> tuple[Floats, Floats]:
    starts = np.array([(a, b) for a in np.arange(-3.0, 8.1, 1.0) for b in np.arange(-8.0, 2.1, 1.0)])
    return starts, _beta_curve(starts, np.frombuffer(k_bytes))


def beta_favorability(a: float, b: float) -> Favorability:
    """``U ~ Beta(a, b)`` as equally weighted fixed values, spaced finer towards ``U = 1``.

    Each stretch of ``1 − U`` stands at its mean, so that no probability is lost at either end.
    """
    from scipy.special import betainc

    edge = np.concatenate([[0.0], np.geomspace(1e-15, 1.0, _BETA_NODES)])
    reached = betainc(b, a, edge)
    first_moment = b / (a + b) * betainc(b + 1.0, a, edge)
    weight, moment = np.diff(reached), np.diff(first_moment)
    kept = weight > 0
    return Favorability(miss=np.clip(moment[kept] / weight[kept], 0.0, 1.0), miss_weight=weight[kept])


@lru_cache(maxsize=1)
def _legendre() -> tuple[Floats, Floats]:
    node, weight = np.polynomial.legendre.leggauss(_LOG_NODES)
    return node, weight


@lru_cache(maxsize=16)
def _losses_up_to(k_bytes: bytes) -> Floats:
    """Losses integrated up to each log-probability: a log-uniform law is then a difference of two readings."""
    k = np.frombuffer(k_bytes)
    x = np.linspace(_LOWEST, 0.0, _STEPS)
    lost = 1.0 - power_of_atom(np.exp(x)[:, None], k[None, :])
    return np.vstack([np.zeros(k.size), np.cumsum((lost[1:] + lost[:-1]) / 2.0, axis=0) * (x[1] - x[0])])


def _line_curve(theta: Floats, k_bytes: bytes) -> Floats:
    reached = _losses_up_to(k_bytes)

    def up_to(log_miss: float) -> Floats:
        place = (max(log_miss, _LOWEST) - _LOWEST) / (-_LOWEST / (_STEPS - 1.0))
        below = min(int(place), _STEPS - 2)
        return np.asarray(reached[below] + (place - below) * (reached[below + 1] - reached[below]))

    high = -float(np.exp(theta[0]))
    width = float(np.exp(theta[1]))
    return 1.0 - (up_to(high) - up_to(high - width)) / width


@lru_cache(maxsize=16)
def _line_starts(k_bytes: bytes) -> tuple[Floats, Floats]:
    starts = np.array([(h, w) for h in np.arange(-6.0, 2.6, 1.0) for w in np.arange(-1.0, 5.1, 0.5)])
    return starts, np.array([_line_curve(start, k_bytes) for start in starts])

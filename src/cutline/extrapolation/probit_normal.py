"""`probit_normal`: favorability is normal on the probit scale; two parameters, maximum likelihood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .evidence import Evidence
from .favorability import Favorability
from .method import Fixed
from .moments import Floats, power_of_atom
from .probit_scale import normal_weights, probit_grid

_EXACT_MISSES = 60
_GROUPS = 300


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
        """Two parameters by a simplex search, which needs no derivative and no start near the answer."""
        from scipy.optimize import minimize

        x, miss = probit_grid(evidence.n_classes)
        loss = _likelihood_loss(evidence, x) if evidence.histogram is not None else _curve_loss(evidence, miss)
        start = np.array([1.5, 0.0])
        found = minimize(
            lambda theta: loss(normal_weights(x, theta[0], float(np.exp(np.clip(theta[1], -4.0, 2.0))))),
            start,
            method="Nelder-Mead",
            options={"xatol": 1e-5, "fatol": 1e-10, "maxiter": 600, "initial_simplex": start + _SIMPLEX},
        )
        mean, spread = found.x[0], float(np.exp(np.clip(found.x[1], -4.0, 2.0)))
        return Favorability(miss=miss, miss_weight=normal_weights(x, mean, spread))


_SIMPLEX = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.5]])


def _curve_loss(evidence: Evidence, miss: Floats) -> Callable[[Floats], float]:
    k, accuracy, importance = evidence.sketch
    powers = power_of_atom(miss[None, :], k[:, None])

    def loss(weight: Floats) -> float:
        gap = powers @ weight - accuracy
        return float(gap * gap @ importance / importance.sum())

    return loss


def _likelihood_loss(evidence: Evidence, x: Floats) -> Callable[[Floats], float]:
    from scipy.special import log_ndtr

    assert evidence.histogram is not None
    competitors = evidence.n_classes - 1
    misses, share = grouped_misses(evidence.histogram)
    log = (competitors - misses)[:, None] * log_ndtr(x) + misses[:, None] * log_ndtr(-x)
    # Scaling a row by a constant moves the log-likelihood by a constant and keeps exp from vanishing.
    likelihood = np.exp(log - log.max(axis=1, keepdims=True))

    def loss(weight: Floats) -> float:
        return -float(share @ np.log(likelihood @ weight + 1e-300))

    return loss


def grouped_misses(histogram: Floats) -> tuple[Floats, Floats]:
    """Numbers of lost comparisons with their shares; large numbers are grouped, where one more or less is nothing.

    >>> misses, share = grouped_misses(np.array([0.0, 0.25, 0.75]))
    >>> misses.tolist(), share.tolist()
    ([0.0, 1.0], [0.75, 0.25])
    """
    share = histogram[::-1]
    misses = np.arange(share.size, dtype=np.float64)
    if share.size > _EXACT_MISSES + _GROUPS:
        edges = np.geomspace(_EXACT_MISSES, share.size, _GROUPS)
        group = np.where(misses < _EXACT_MISSES, misses, _EXACT_MISSES + np.searchsorted(edges, misses, side="right"))
        total = np.asarray(np.bincount(group.astype(np.intp), weights=share), dtype=np.float64)
        mean = np.asarray(np.bincount(group.astype(np.intp), weights=share * misses), dtype=np.float64)
        kept = total > 0
        return mean[kept] / total[kept], total[kept]
    kept = share > 0
    return misses[kept], share[kept]

"""`exponential`: accuracy falls linearly in log k, as Kay et al. extrapolated; here kept inside [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from .evidence import Evidence
from .favorability import Favorability
from .method import Fixed
from .moments import Floats, power_of_atom

_NODES = 160
_LOWEST, _STEPS = -40.0, 1200


@cache
def _legendre() -> tuple[Floats, Floats]:
    node, weight = np.polynomial.legendre.leggauss(_NODES)
    return node, weight


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
        """Least squares over the logarithms of the two ends."""
        from scipy.optimize import minimize

        k, accuracy, importance = evidence.sketch
        reached = _losses_up_to(k.tobytes())

        def up_to(log_miss: float) -> Floats:
            place = (max(log_miss, _LOWEST) - _LOWEST) / (-_LOWEST / (_STEPS - 1.0))
            below = min(int(place), _STEPS - 2)
            return np.asarray(reached[below] + (place - below) * (reached[below + 1] - reached[below]))

        def ends(theta: Floats) -> tuple[float, float]:
            highest = -float(np.exp(np.clip(theta[0], -20.0, 3.0)))
            return highest - float(np.exp(np.clip(theta[1], -4.0, 6.0))), highest

        def loss(theta: Floats) -> float:
            low, high = ends(theta)
            gap = 1.0 - (up_to(high) - up_to(low)) / (high - low) - accuracy
            return float(gap * gap @ importance / importance.sum())

        found = minimize(loss, np.array([0.0, 2.0]), method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-12})
        low, high = ends(found.x)
        return self.between(float(np.exp(low)), float(np.exp(high)))


@lru_cache(maxsize=16)
def _losses_up_to(k_bytes: bytes) -> Floats:
    """Losses integrated up to each log-probability: a log-uniform law is then a difference of two readings."""
    k = np.frombuffer(k_bytes)
    x = np.linspace(_LOWEST, 0.0, _STEPS)
    lost = 1.0 - power_of_atom(np.exp(x)[:, None], k[None, :])
    return np.vstack([np.zeros(k.size), np.cumsum((lost[1:] + lost[:-1]) / 2.0, axis=0) * (x[1] - x[0])])

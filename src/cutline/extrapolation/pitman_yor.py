"""`pitman_yor`: a power-law curve, favorability with a beta distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .evidence import Evidence
from .favorability import Favorability
from .method import Fixed
from .moments import Floats

_NODES = 400


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
        from scipy.optimize import minimize
        from scipy.special import betaln

        k, accuracy, importance = evidence.sketch

        def loss(theta: Floats) -> float:
            a, b = np.exp(np.clip(theta, -12.0, 12.0))
            gap = np.exp(betaln(a + k - 1.0, b) - betaln(a, b)) - accuracy
            return float(gap * gap @ importance / importance.sum())

        found = minimize(loss, np.array([1.0, -1.0]), method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-12})
        a, b = np.exp(np.clip(found.x, -12.0, 12.0))
        return beta_favorability(float(a), float(b))


def beta_favorability(a: float, b: float) -> Favorability:
    """``U ~ Beta(a, b)`` as equally weighted fixed values, spaced finer towards ``U = 1``.

    Each stretch of ``1 − U`` stands at its mean, so that no probability is lost at either end.
    """
    from scipy.special import betainc

    edge = np.concatenate([[0.0], np.geomspace(1e-15, 1.0, _NODES)])
    reached = betainc(b, a, edge)
    first_moment = b / (a + b) * betainc(b + 1.0, a, edge)
    weight, moment = np.diff(reached), np.diff(first_moment)
    kept = weight > 0
    return Favorability(miss=np.clip(moment[kept] / weight[kept], 0.0, 1.0), miss_weight=weight[kept])

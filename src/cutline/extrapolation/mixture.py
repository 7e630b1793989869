"""`mixture`: the paper's splines as a proper mixture, on log-spaced knots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .evidence import Evidence
from .favorability import Favorability
from .least_squares import simplex_weights
from .method import Fixed
from .moments import Floats, power_of_span


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

    knots: int = 300
    name: str = "mixture"
    needs_scores: bool = False

    def fit(self, evidence: Evidence) -> Favorability:
        """Constrained least squares on the observed curve."""
        k, accuracy, importance = evidence.sketch
        span, pieces = _pieces(self.knots, evidence.n_classes, k.tobytes())
        weight = simplex_weights(pieces, accuracy, importance)
        return Favorability(miss=np.zeros(1), miss_weight=weight[-1:], span=span, span_weight=weight[:-1])


@lru_cache(maxsize=16)
def _pieces(knots: int, n_classes: int, k_bytes: bytes) -> tuple[Floats, Floats]:
    """Lengths of the pieces and their curves, the atom last: the same for every resample of one task."""
    k = np.frombuffer(k_bytes)
    # Pieces much shorter than 1/k1 never lose in the observed task: below a hundredth they are one atom.
    span = np.geomspace(1.0, 0.01 / n_classes, knots - 1)
    return span, np.column_stack([power_of_span(span[None, :], k[:, None]), np.ones(k.size)])

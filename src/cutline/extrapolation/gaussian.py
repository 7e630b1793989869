"""`gaussian`: a mixture of normals on the probit scale, its bandwidth chosen on half the classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from .evidence import Evidence
from .favorability import Favorability
from .least_squares import simplex_weights
from .method import Method
from .moments import Floats, power_of_atom
from .probit_scale import normal_weights, probit_grid

BANDWIDTHS = (0.3, 0.6, 1.0)


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
        miss, basis, pieces = _pieces(bandwidth, evidence.n_classes, k.tobytes())
        weight = simplex_weights(pieces, accuracy, importance)
        return Favorability(miss=miss, miss_weight=weight @ basis)


@lru_cache(maxsize=16)
def _pieces(bandwidth: float, n_classes: int, k_bytes: bytes) -> tuple[Floats, Floats, Floats]:
    """Grid, normals on it, and their curves: the same for every resample of one task, so made once."""
    k = np.frombuffer(k_bytes)
    x, miss = probit_grid(n_classes)
    means = np.arange(-4.0, 8.0 + 1e-9, bandwidth / 2.0)
    basis = normal_weights(x, means, np.full(means.size, bandwidth))
    return miss, basis, power_of_atom(miss[None, :], k[:, None]) @ basis.T

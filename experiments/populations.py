"""Two recognition problems whose accuracy is known exactly at every number of classes.

`BivariateNormal` is the toy example of Zheng, Achanta & Benjamini (section 2.3); `GaussianRecognition` is its
extension to ``p`` dimensions. Each draws a task (test scores of ``k`` classes) and gives the true curve AGA_k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
_NODES = 160


def _unit_interval(nodes: int = _NODES) -> tuple[Floats, Floats]:
    """Gauss–Legendre nodes and weights on (0, 1), gathered towards both ends where quantiles run away."""
    node, weight = np.polynomial.legendre.leggauss(nodes)
    t = (node + 1.0) / 2.0
    # Probability v(t) = t³(10 − 15t + 6t²) has v' = 30 t²(1 − t)², which tames the ends.
    return t**3 * (10.0 - 15.0 * t + 6.0 * t * t), weight / 2.0 * 30.0 * t * t * (1.0 - t) ** 2


@dataclass(frozen=True)
class BivariateNormal:
    """Labels ``Y ~ N(0, 1)``, examples ``X | Y = y ~ N(ρy, 1 − ρ²)``, score ``−|x − ρy|`` (the Bayes rule).

    >>> BivariateNormal(0.7).accuracy([2, 10]).round(6).tolist()
    [0.692922, 0.217305]
    """

    rho: float

    def __post_init__(self) -> None:
        if not abs(self.rho) <= 1.0:
            raise ValueError(f"rho: {self.rho} is no correlation; give a number from -1 to 1")

    def favorability(self, nodes: int = _NODES) -> tuple[Floats, Floats]:
        """Chances ``1 − U`` of losing to one competitor on a grid of ``(X, Y)``, with their probabilities.

        ``1 − U = Φ((x + D)/ρ) − Φ((x − D)/ρ)`` with ``D = |ρy − x|``: the paper prints the complement.
        """
        from scipy.special import ndtr, ndtri

        u, weight = _unit_interval(nodes)
        rho = abs(self.rho)  # the mirror image of a problem is as hard
        spread = np.sqrt(1.0 - rho**2)
        x = ndtri(u)[:, None]
        # D has a kink where ρy = x: the integral over y is taken on either side of it.
        kink = ndtr((x / rho - rho * x) / spread)
        side = np.concatenate([kink * u, kink + (1.0 - kink) * u], axis=1)
        share = np.concatenate([kink * weight, (1.0 - kink) * weight], axis=1) * weight[:, None]
        y = rho * x + spread * ndtri(side)
        distance = np.abs(rho * y - x)
        miss = ndtr((x + distance) / rho) - ndtr((x - distance) / rho)
        return miss.ravel(), share.ravel()

    def accuracy(self, k: ArrayLike) -> Floats:
        """AGA_k by two-dimensional quadrature; guessing without correlation, certainty with all of it."""
        if self.rho == 0.0:
            return 1.0 / np.atleast_1d(np.asarray(k, dtype=np.float64))
        if abs(self.rho) == 1.0:
            return np.ones(np.atleast_1d(k).shape)
        return _accuracy(self.favorability(), k)

    def draw(self, n_classes: int, rng: np.random.Generator) -> Floats:
        """Scores of one test case per class (rows) for every class (columns)."""
        y = rng.normal(size=n_classes)
        x = self.rho * y + np.sqrt(1.0 - self.rho**2) * rng.normal(size=n_classes)
        return -np.abs(x[:, None] - self.rho * y[None, :])


@dataclass(frozen=True)
class GaussianRecognition:
    """Class centres ``Y ~ N(0, I_p)``, examples ``X | Y ~ N(Y, σ² I_p)``, score ``−‖x − y‖``.

    Given ``‖x‖² = (1 + σ²) χ²_p`` the distance to the own centre has ``‖x − y‖² (1 + σ²)/σ² ~ χ²_p(σ²‖x‖²/(1 + σ²))``
    and that to a random centre ``χ²_p(‖x‖²)``, both noncentral: a two-dimensional integral gives AGA_k.

    >>> rho = 0.7                                     # one dimension is the bivariate toy in other units
    >>> GaussianRecognition(1, np.sqrt(1 - rho**2) / rho).accuracy([2]).round(5).tolist()
    [0.69292]
    """

    dimension: int
    noise: float

    def favorability(self, nodes: int = _NODES) -> tuple[Floats, Floats]:
        """Chances ``1 − U`` of losing to one competitor on a grid, with their probabilities."""
        from scipy.special import chdtri, chndtr, chndtrix

        u, weight = _unit_interval(nodes)
        variance = self.noise**2
        length = (1.0 + variance) * chdtri(self.dimension, 1.0 - u)[:, None]
        own = chndtrix(u[None, :], float(self.dimension), variance * length / (1.0 + variance))
        own = own * variance / (1.0 + variance)
        miss = chndtr(own, float(self.dimension), length)
        return np.clip(miss, 0.0, 1.0).ravel(), np.outer(weight, weight).ravel()

    def accuracy(self, k: ArrayLike) -> Floats:
        """AGA_k by two-dimensional quadrature."""
        return _accuracy(self.favorability(), k)

    def draw(self, n_classes: int, rng: np.random.Generator) -> Floats:
        """Scores of one test case per class (rows) for every class (columns)."""
        centre = rng.normal(size=(n_classes, self.dimension))
        example = centre + self.noise * rng.normal(size=centre.shape)
        square = (example**2).sum(axis=1)[:, None] + (centre**2).sum(axis=1)[None, :] - 2.0 * example @ centre.T
        return -np.sqrt(np.maximum(square, 0.0))


def _accuracy(favorability: tuple[Floats, Floats], k: ArrayLike) -> Floats:
    miss, weight = favorability
    log = np.log1p(-np.minimum(miss, 1.0 - 1e-16))
    return np.array([float(np.exp((classes - 1.0) * log) @ weight) for classes in np.atleast_1d(k)])

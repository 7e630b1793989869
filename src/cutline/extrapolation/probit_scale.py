"""A fine grid of favorabilities on the normal scale ``x = Φ⁻¹(U)``, where recognisers look roughly normal."""

from __future__ import annotations

import numpy as np

from .moments import Floats

_LOWEST, _HIGHEST = -8.0, 10.0


def probit_grid(n_classes: int) -> tuple[Floats, Floats]:
    """Grid points ``x`` and the chance ``p = 1 − Φ(x)`` of losing to one competitor.

    The step follows the width of a binomial proportion of ``n_classes − 1`` on this scale, so that sums over the
    grid integrate likelihoods to full accuracy.
    """
    from scipy.special import ndtr

    step = min(0.025, 1.0 / np.sqrt(max(n_classes, 2)))
    x = np.linspace(_LOWEST, _HIGHEST, int(np.ceil((_HIGHEST - _LOWEST) / step)) + 1)
    return x, ndtr(-x)


def normal_weights(x: Floats, mean: Floats, spread: Floats | float) -> Floats:
    """Weights on the grid (last axis) of normal distributions with the given means and spreads."""
    z = (x - np.asarray(mean)[..., None]) / np.asarray(spread)[..., None]
    weight = np.exp(-0.5 * z * z)
    # A spread below the step, or a mean off the grid, would leave no weight at all: the nearest point takes it.
    empty = weight.sum(axis=-1) <= 0.0
    if np.any(empty):
        nearest = np.abs(z).argmin(axis=-1)
        weight[empty] = np.eye(x.size)[nearest[empty]]
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True), dtype=np.float64)

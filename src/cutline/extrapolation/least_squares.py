"""Mixture weights by least squares on the accuracy curve."""

from __future__ import annotations

import numpy as np

from .moments import Floats

# How much harder the row "weights sum to one" pulls than the data: enough to hold it to about 1e-9.
_SUM_PULL = 1e4


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

"""How likely each row of a list is positive, from the labels of some of them: a curve over the places of the list.

Scores enter by their places alone, so that any scale will do: z, the normal score of a place, is what a model of
normal scores would have given. log odds = a + b·z + c·z², fitted with priors that keep few labels from bending it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..types import Floats

_CENTRE = np.array([0.0, 1.0, 0.0])  # a slope of 1: an AUC of about .75 where positives are rare
# Wide enough for a very good model: with a spread of 0.7 of the slope, the 95 % interval of average precision covered
# 84 % where d′ is 3.5 (benchmarks/sampled_labels.py --part good).
_SPREAD = np.array([4.0, 2.0, 0.3])
_STEPS = 60


def normal_scores(size: NDArray[np.float64]) -> Floats:
    """Normal score of each group of a list, best first; ``size``: rows of each group."""
    from scipy.special import ndtri

    ends = np.cumsum(size)
    return np.asarray(ndtri(1.0 - (ends - size / 2.0) / ends[-1]), np.float64)


def logistic(x: Floats) -> Floats:
    """1/(1 + e^−x), without overflow."""
    from scipy.special import expit

    return np.asarray(expit(x), np.float64)


def fit_chances(z: Floats, positive: Floats, weight: Floats) -> Floats:
    """Coefficients of the log odds, by penalised likelihood; ``weight`` says how often each row counts."""
    columns = np.stack([np.ones_like(z), z, z * z], axis=1)
    share = (float(weight @ positive) + 0.5) / (float(weight.sum()) + 1.0)
    centre = _CENTRE + np.array([np.log(share / (1.0 - share)), 0.0, 0.0])
    found, penalty = centre.copy(), np.diag(1.0 / _SPREAD**2)
    for _ in range(_STEPS):
        p = logistic(columns @ found)
        slope = columns.T @ (weight * (positive - p)) - penalty @ (found - centre)
        curvature = (columns * (weight * p * (1.0 - p))[:, None]).T @ columns + penalty
        step = np.clip(np.linalg.solve(curvature, slope), -1.0, 1.0)
        found = found + step
        if float(np.abs(step).max()) < 1e-9:
            break
    return np.asarray(found, np.float64)


def chances(coefficients: Floats, z: Floats) -> Floats:
    """The chances that coefficients give at normal scores."""
    return logistic(coefficients[0] + coefficients[1] * z + coefficients[2] * z * z)


def with_prevalence(slope: float, z: Floats, size: Floats, share: float) -> Floats:
    """Chances that rise with z by a slope of the log odds, and of which ``share`` is the mean."""
    level, each = np.log(share / (1.0 - share)), size / size.sum()
    for _ in range(_STEPS):
        p = logistic(level + slope * z)
        gap = float((each * p).sum()) - share
        step = gap / max(float((each * p * (1.0 - p)).sum()), 1e-12)
        level -= float(np.clip(step, -1.0, 1.0))
        if abs(gap) < 1e-12:
            break
    return logistic(level + slope * z)


def log_odds(chance: Floats) -> Floats:
    """log(p / (1 − p)), with chances kept away from 0 and 1."""
    p = np.clip(chance, 1e-12, 1.0 - 1e-12)
    return np.asarray(np.log(p) - np.log1p(-p), np.float64)


def shift_to(odds: Floats, total: float) -> float:
    """What must be added to log odds so that their chances add up to a total."""
    low, high = -60.0, 60.0
    if not 0.0 < total < len(odds):
        return low if total <= 0.0 else high
    for _ in range(48):
        middle = (low + high) / 2.0
        low, high = (middle, high) if float(logistic(odds + middle).sum()) < total else (low, middle)
    return (low + high) / 2.0

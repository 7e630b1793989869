"""Closed forms behind every curve: powers of a favorability that is fixed, or uniform near one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

# Below this value of k·s the closed form loses digits to cancellation and eight terms of the series are exact.
_SERIES_BELOW = 0.05


def power_of_atom(miss: ArrayLike, k: ArrayLike) -> Floats:
    """``(1 − p)^(k − 1)``: accuracy among ``k`` classes when a random competitor wins with probability ``p``.

    >>> float(power_of_atom(0.5, 3))
    0.25
    """
    p = np.asarray(miss, dtype=np.float64)
    exponent = np.asarray(k, dtype=np.float64) - 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.exp(exponent * np.log1p(-p))
    # 0 · log 0 at k = 1: no competitor, so nothing can be lost.
    return np.where(exponent == 0.0, 1.0, value)


def power_of_span(span: ArrayLike, k: ArrayLike) -> Floats:
    """``(1 − (1 − s)^k) / (k s)``: the mean of ``U^(k − 1)`` for ``U`` uniform on ``(1 − s, 1)``.

    >>> float(power_of_span(1.0, 4))
    0.25
    """
    s, kk = np.broadcast_arrays(np.asarray(span, dtype=np.float64), np.asarray(k, dtype=np.float64))
    with np.errstate(divide="ignore"):
        value = -np.expm1(kk * np.log1p(-s)) / (kk * s)
    return np.asarray(value, dtype=np.float64)


def spline_moment(knot: ArrayLike, k: ArrayLike) -> Floats:
    """``H = (k − 1) ∫ [u − a]₊ u^(k−2) du = 1 − a − (1 − a^k)/k``, the moment of one linear spline.

    Zheng, Achanta & Benjamini, Eq. 16. The closed form cancels for knots near one, where a series in
    ``s = 1 − a`` takes over: ``(k−1)s²/2 − (k−1)(k−2)s³/6 + …``.

    >>> round(float(spline_moment(0.5, 3)), 12)
    0.208333333333
    """
    a, kk = np.broadcast_arrays(np.asarray(knot, dtype=np.float64), np.asarray(k, dtype=np.float64))
    return spline_moment_of_span(1.0 - a, kk)


def spline_moment_of_span(span: ArrayLike, k: ArrayLike) -> Floats:
    """As :func:`spline_moment`, from ``s = 1 − a``, so that knots may lie closer to one than 1e-16.

    >>> float(spline_moment_of_span(1e-20, 2)) / 0.5e-40
    1.0
    """
    s, kk = np.broadcast_arrays(np.asarray(span, dtype=np.float64), np.asarray(k, dtype=np.float64))
    with np.errstate(divide="ignore"):
        closed = s + np.expm1(kk * np.log1p(-s)) / kk
    small = kk * s < _SERIES_BELOW
    if not small.any():
        return np.asarray(closed, dtype=np.float64)
    term = (kk - 1.0) * s * s / 2.0
    total = term.copy()
    for order in range(3, 11):
        term = -term * (kk - order + 1.0) * s / order
        total += term
    return np.asarray(np.where(small, total, closed), dtype=np.float64)

"""The distribution of the correct label's favorability: what every method fits and every answer reads.

With ``U`` the probability that the right class outscores one random competitor, the accuracy among ``k``
classes is ``E[U^(k−1)]`` (Zheng, Achanta & Benjamini, Theorem 2). A fitted method is therefore a mixture over
``U``: of fixed values, and of uniform pieces that reach up to one (a linear spline is exactly such a piece).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..reference import documented
from ..runtime import TUNING
from ..types import Floats

# Below this value of k·s the closed form loses digits to cancellation and eight terms of the series are exact.
_SERIES_BELOW = 0.05
# Replicates keep so many values of 1 − U, 62 a decade: no accuracy moves by 1e-4.
_BINS = 1000
# Fixed values that stand for a uniform piece where a square has no closed form.
_NODES, _NODE_SHARES = np.polynomial.legendre.leggauss(32)


def row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Rows, so many at a time as fit into memory where each takes ``width`` cells."""
    step = max(1, TUNING.cells_at_once // max(1, width))
    return (slice(start, start + step) for start in range(0, n_rows, step))


def power_of_atom(miss: ArrayLike, k: ArrayLike) -> Floats:
    """``(1 − p)^(k − 1)``: accuracy among ``k`` classes when a random competitor wins with probability ``p``."""
    p = np.asarray(miss, dtype=np.float64)
    exponent = np.asarray(k, dtype=np.float64) - 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.exp(exponent * np.log1p(-p))
    # 0 · log 0 at k = 1: no competitor, so nothing can be lost.
    return np.where(exponent == 0.0, 1.0, value)


def power_of_span(span: ArrayLike, k: ArrayLike) -> Floats:
    """``(1 − (1 − s)^k) / (k s)``: the mean of ``U^(k − 1)`` for ``U`` uniform on ``(1 − s, 1)``."""
    s, kk = np.broadcast_arrays(np.asarray(span, dtype=np.float64), np.asarray(k, dtype=np.float64))
    with np.errstate(divide="ignore"):
        value = -np.expm1(kk * np.log1p(-s)) / (kk * s)
    return np.asarray(value, dtype=np.float64)


def spline_moment(span: ArrayLike, k: ArrayLike) -> Floats:
    """``H = (k − 1) ∫ [u − a]₊ u^(k−2) du = s − (1 − (1 − s)^k)/k``, the moment of a linear spline, ``s = 1 − a``.

    Zheng, Achanta & Benjamini, Eq. 16. The closed form cancels for knots near one, where a series takes over:
    ``(k−1)s²/2 − (k−1)(k−2)s³/6 + …``. Knots may lie closer to one than 1e-16.
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


@documented
@dataclass(frozen=True, eq=False)
class Favorability:
    """A mixture over the favorability ``U``.

    Fixed values are given as ``p = 1 − U`` so that values close to one keep their digits; uniform pieces lie on
    ``(1 − s, 1)``. The weights sum to one for every method but the literal ``spline``, whose weight on ``U = 1`` may be
    negative.

    Examples
    --------
    >>> even = Favorability(span=[1.0], span_weight=[1.0])    # U uniform: guessing
    >>> even.accuracy([1, 2, 10]).round(3).tolist()
    [1.0, 0.5, 0.1]
    >>> even([0.25]).tolist()
    [0.25]
    """

    miss: Floats = field(default_factory=lambda: np.empty(0))
    miss_weight: Floats = field(default_factory=lambda: np.empty(0))
    span: Floats = field(default_factory=lambda: np.empty(0))
    span_weight: Floats = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        for name in ("miss", "miss_weight", "span", "span_weight"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))

    def accuracy(self, k: ArrayLike) -> Floats:
        """``E[U^(k−1)]`` for one or many ``k`` ≥ 1; ``k`` need not be whole."""
        kk = np.atleast_1d(np.asarray(k, dtype=np.float64))
        if kk.size and not (kk >= 1).all():
            raise InputError("k", f"is {kk[~(kk >= 1)][0]:g}, which no task has", "give numbers of 1 or more")
        out = np.empty(kk.shape)
        for part in row_blocks(kk.size, self.miss.size + self.span.size):
            out[part] = power_of_atom(self.miss, kk[part, None]) @ self.miss_weight
            if self.span.size:
                out[part] += power_of_span(self.span, kk[part, None]) @ self.span_weight
        return out

    def __call__(self, u: ArrayLike) -> Floats:
        """``D̄(u) = P(U ≤ u)``: ``ex.favorability(u)`` reads as in the paper."""
        uu = np.atleast_1d(np.asarray(u, dtype=np.float64))
        order = np.argsort(-self.miss)
        reached = np.concatenate([[0.0], np.cumsum(self.miss_weight[order])])
        below = reached[np.searchsorted(1.0 - self.miss[order], uu, side="right")]
        inside = np.clip((uu[:, None] - (1.0 - self.span)) / self.span, 0.0, 1.0) @ self.span_weight
        return np.asarray(below + inside, dtype=np.float64)

    def top_t_accuracy(self, t: int, k: ArrayLike) -> Floats:
        """Top-t accuracy: the chance that fewer than ``t`` of ``k − 1`` competitors win.

        ``E[P(Binomial(k − 1, 1 − U) < t)]``; for a uniform piece the integral is
        ``1 − I_s(t, k − t) + t/(k s) · I_s(t + 1, k − t)`` with the regularised incomplete beta function.
        """
        from scipy.special import betainc, betaincc

        if t < 1:
            raise InputError("top", f"is {t}, but no class fits on so few places", "give 1 or more")
        if t == 1:
            return self.accuracy(k)
        kk = np.atleast_1d(np.asarray(k, dtype=np.float64))
        out = np.ones(kk.shape)
        for position, classes in enumerate(np.floor(kk)):
            if classes <= t:
                continue
            # P(Binomial(k − 1, p) < t) as a beta function, which also knows numbers beyond 32 bits
            value = float(betaincc(float(t), classes - t, self.miss) @ self.miss_weight)
            if self.span.size:
                reached = betainc(t + 1.0, classes - t, self.span) * t / (classes * self.span)
                value += float((betaincc(float(t), classes - t, self.span) + reached) @ self.span_weight)
            out[position] = value
        return out

    def case_variance(self, k: float, top: int = 1) -> float:
        """How the chance to be among the first ``top`` of ``k`` varies between cases; ``E[U^(2k−2)] − E[U^(k−1)]²``."""
        from scipy.special import betaincc

        mean = float(self.top_t_accuracy(top, k)[0])
        if top == 1:
            return max(float(self.accuracy(2.0 * k - 1.0)[0]) - mean**2, 0.0)
        if k <= top:
            return 0.0
        # Uniform pieces stand for fixed values, which lie closer near U = 1, where the chance changes.
        inside, share = (_NODES + 1.0) / 2.0, _NODE_SHARES / 2.0
        pieces, shares = self.span[:, None] * inside**2, self.span_weight[:, None] * (2.0 * inside * share)
        miss, weight = np.append(self.miss, pieces), np.append(self.miss_weight, shares)
        return max(float(betaincc(float(top), k - top, miss) ** 2 @ weight) - mean**2, 0.0)

    def compressed(self) -> Favorability:
        """The same distribution with neighbouring values put together, where it has very many."""
        used = self.span_weight != 0
        miss, weight = self.miss, self.miss_weight
        if miss.size > _BINS:
            place = np.searchsorted(np.geomspace(1e-16, 1.0, _BINS), miss)
            total = np.asarray(np.bincount(place, weights=weight), dtype=np.float64)
            moment = np.asarray(np.bincount(place, weights=weight * miss), dtype=np.float64)
            filled = total > 0
            miss, weight = moment[filled] / total[filled], total[filled]
        return Favorability(miss, weight, self.span[used], self.span_weight[used])


def mix(parts: Sequence[Favorability], weights: Sequence[float]) -> Favorability:
    """The weighted mean of several distributions, again a distribution: ``AGA_k = Σ_i w_i AGA_k^(i)``."""
    pairs = list(zip(parts, weights, strict=True))
    return Favorability(
        miss=np.concatenate([part.miss for part in parts]),
        miss_weight=np.concatenate([part.miss_weight * weight for part, weight in pairs]),
        span=np.concatenate([part.span for part in parts]),
        span_weight=np.concatenate([part.span_weight * weight for part, weight in pairs]),
    )


def largest_k_where(holds: Callable[[float], bool], *, far: float = 1e18, precision: float = 1e-15) -> float:
    """The largest whole ``k`` up to which something is true; inf where it is far out."""
    low, high = 1.0, 2.0
    while holds(high):
        low, high = high, high * 2.0
        if high > far:
            return math.inf
    while high - low > max(1.0, low * precision):
        middle = math.floor((low + high) / 2.0)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low

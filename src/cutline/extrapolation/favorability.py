"""The distribution of the correct label's favorability: what every method fits and every answer reads.

With ``U`` the probability that the right class outscores one random competitor, the accuracy among ``k``
classes is ``E[U^(k−1)]`` (Zheng, Achanta & Benjamini, Theorem 2). A fitted method is therefore a mixture over
``U``: of fixed values, and of uniform pieces that reach up to one (a linear spline is exactly such a piece).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from .moments import Floats, power_of_atom, power_of_span

_CELLS_AT_ONCE = 4_000_000


def _nothing() -> Floats:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class Favorability:
    """A mixture over the favorability ``U``.

    Parameters
    ----------
    miss, miss_weight
        Fixed values, given as ``p = 1 − U`` so that values close to one keep their digits.
    span, span_weight
        Uniform pieces on ``(1 − s, 1)``.

    The weights sum to one for every method but the literal ``spline``, whose weight on ``U = 1`` may be negative.

    Examples
    --------
    >>> even = Favorability(span=[1.0], span_weight=[1.0])    # U uniform: guessing
    >>> even.accuracy([1, 2, 10]).round(3).tolist()
    [1.0, 0.5, 0.1]
    >>> even.cdf([0.25]).tolist()
    [0.25]
    """

    miss: Floats = field(default_factory=_nothing)
    miss_weight: Floats = field(default_factory=_nothing)
    span: Floats = field(default_factory=_nothing)
    span_weight: Floats = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        for name in ("miss", "miss_weight", "span", "span_weight"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))

    def accuracy(self, k: ArrayLike) -> Floats:
        """``E[U^(k−1)]`` for one or many ``k`` ≥ 1; ``k`` need not be whole."""
        kk = np.atleast_1d(np.asarray(k, dtype=np.float64))
        if kk.size and not (kk >= 1).all():
            raise InputError(f"k: {kk[~(kk >= 1)][0]:g} classes make no task; give numbers of 1 or more")
        out = np.empty(kk.shape)
        step = max(1, _CELLS_AT_ONCE // max(1, self.miss.size + self.span.size))
        for start in range(0, kk.size, step):
            part = kk[start : start + step, None]
            value = power_of_atom(self.miss, part) @ self.miss_weight
            if self.span.size:
                value = value + power_of_span(self.span, part) @ self.span_weight
            out[start : start + step] = value
        return out

    def cdf(self, u: ArrayLike) -> Floats:
        """``D̄(u) = P(U ≤ u)``."""
        uu = np.atleast_1d(np.asarray(u, dtype=np.float64))
        order = np.argsort(-self.miss)
        reached = np.concatenate([[0.0], np.cumsum(self.miss_weight[order])])
        below = reached[np.searchsorted(1.0 - self.miss[order], uu, side="right")]
        inside = np.clip((uu[:, None] - (1.0 - self.span)) / self.span, 0.0, 1.0) @ self.span_weight
        return np.asarray(below + inside, dtype=np.float64)

    def __call__(self, u: ArrayLike) -> Floats:
        """The same as :meth:`cdf`: ``ex.favorability(u)`` reads as the paper's D̄(u)."""
        return self.cdf(u)

    def top_t_accuracy(self, t: int, k: ArrayLike) -> Floats:
        """Top-t accuracy: the chance that fewer than ``t`` of ``k − 1`` competitors win.

        ``E[P(Binomial(k − 1, 1 − U) < t)]``; for a uniform piece the integral is
        ``Σ_{j<t} I_s(j + 1, k − j) / (k s)`` with the regularised incomplete beta function.
        """
        from scipy.special import bdtr, betainc

        if t < 1:
            raise InputError(f"t: {t} places hold no class; give 1 or more")
        kk = np.atleast_1d(np.asarray(k, dtype=np.float64))
        out = np.ones(kk.shape)
        for position, classes in enumerate(np.floor(kk)):
            if classes <= t:
                continue
            value = float(bdtr(t - 1, int(classes) - 1, self.miss) @ self.miss_weight)
            if self.span.size:
                j = np.arange(t, dtype=np.float64)[:, None]
                piece = betainc(j + 1.0, classes - j, self.span).sum(axis=0) / (classes * self.span)
                value += float(piece @ self.span_weight)
            out[position] = value
        return out

    def reversed_roc(self, points: int = 201) -> tuple[Floats, Floats]:
        """The reversed ROC curve: share of competitors above a score against share of right classes above it.

        Averaged over cases it is ``y(x) = 1 − D̄(1 − x)`` (Slavutsky & Benjamini 2021).
        """
        x = np.concatenate([[0.0], np.geomspace(1e-6, 1.0, points - 1)])
        beyond = 1.0 - self.cdf(1.0 - x)
        at_one = float(self.miss_weight[self.miss == 0.0].sum())
        # D̄ counts U = 1 at u = 1; a right class that nobody can beat is above every threshold.
        beyond[0] += at_one
        return x, beyond

    @property
    def reversed_roc_area(self) -> float:
        """Area under the reversed ROC curve: ``E[U]``, the accuracy between two classes."""
        return float(self.accuracy(2)[0])

    @property
    def ceiling(self) -> float:
        """Weight on ``U = 1``: the accuracy that no number of classes can take away."""
        return float(self.miss_weight[self.miss == 0.0].sum())

    def classes_until(self, accuracy: float) -> float:
        """The largest whole ``k`` whose accuracy is still at least ``accuracy``; inf where it never falls below."""
        if self.ceiling >= accuracy:
            return math.inf
        return largest_k_where(lambda k: float(self.accuracy(k)[0]) >= accuracy)


def largest_k_where(holds: Callable[[float], bool], *, far: float = 1e18, precision: float = 1e-15) -> float:
    """The largest whole ``k`` for which something holds that holds for all smaller ones; inf where it does so far out.

    >>> largest_k_where(lambda k: k * k < 1000)
    31
    """
    low, high = 1.0, 2.0
    while holds(high):
        low, high = high, high * 2.0
        if high > far:
            return math.inf
    while high - low > max(1.0, low * precision):
        middle = math.floor((low + high) / 2.0)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low

"""Rosset's two populations and the models trained on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.bool_]

DIMENSIONS = 10
NEIGHBOURS = (10, 50)


@dataclass(frozen=True)
class Population:
    """Inputs uniform in the unit cube, and the chance of class 1."""

    probability: Callable[[Floats], Floats]

    def __call__(self, rng: np.random.Generator, n: int) -> tuple[Floats, Labels]:
        """Draw ``n`` cases."""
        x = rng.random((n, DIMENSIONS))
        return x, rng.random(n) < self.probability(x)


def _sum_of_two(x: Floats) -> Floats:
    total = x[:, 0] + x[:, 1]
    return np.where(total <= 1, total**2 / 2, 1 - (2 - total) ** 2 / 2)


sum_of_two = Population(_sum_of_two)  # section 4.1: f is the distribution function of x₁ + x₂
value_of_first = Population(lambda x: x[:, 0])  # section 4.2


def only_first_error(nodes: int = 200) -> float:
    """The least error of a rule that sees x₁ alone in the first population, by Gauss–Legendre quadrature.

    Pr(y = 1 | x₁ = a) = a + ((1 − a)³ − a³)/6 is 1/2 at a = 1/2 and symmetric around it.
    """
    node, weight = np.polynomial.legendre.leggauss(nodes)
    a = (node + 1) / 4  # (0, 1/2)
    return float(2 * (weight / 4) @ (a + ((1 - a) ** 3 - a**3) / 6))


def cuts(x: Floats, y: Labels, how: str, intervals: int, alpha: float | None) -> Floats:
    """Cut points of one input."""
    if how == "equal-width":
        return np.linspace(0, 1, intervals + 1)[1:-1]
    if how == "equal-frequency":
        return np.quantile(x, np.linspace(0, 1, intervals + 1)[1:-1])
    return chi_merge(x, y, intervals, alpha)


def chi_merge(x: Floats, y: Labels, intervals: int, alpha: float | None = None) -> Floats:
    """ChiMerge (Kerber): merge the two neighbours whose class shares differ least, by χ², until few are left.

    With ``alpha`` merging goes on while some neighbours do not differ at that level, and ``intervals`` is a cap.
    """
    from scipy.stats import chi2

    least = -1.0 if alpha is None else float(chi2.ppf(1 - alpha, 1))
    value, at = np.unique(x, return_inverse=True)
    pos = np.bincount(at, weights=y)
    neg = np.bincount(at) - pos
    # Neighbours of one and the same class have χ² = 0 and merge first: all at once.
    pure = np.where(neg == 0, 1, np.where(pos == 0, -1, 0))
    starts = np.flatnonzero(np.r_[True, (pure[1:] != pure[:-1]) | (pure[1:] == 0)])
    edge = list((value[starts[1:] - 1] + value[starts[1:]]) / 2)
    a, b = list(np.add.reduceat(pos, starts)), list(np.add.reduceat(neg, starts))
    gap = np.array([_chi_square(*pair) for pair in zip(a, b, a[1:], b[1:], strict=False)])
    while len(edge):
        k = int(gap.argmin())
        if len(a) <= intervals and gap[k] >= least:
            break
        a[k : k + 2] = [a[k] + a[k + 1]]
        b[k : k + 2] = [b[k] + b[k + 1]]
        del edge[k]
        gap = np.delete(gap, k)
        for j in (k - 1, k):
            if 0 <= j < len(gap):
                gap[j] = _chi_square(a[j], b[j], a[j + 1], b[j + 1])
    return np.array(edge)


def _chi_square(a: float, b: float, c: float, d: float) -> float:
    below = (a + b) * (c + d) * (a + c) * (b + d)
    return (a + b + c + d) * (a * d - b * c) ** 2 / below if below else 0.0


@dataclass(frozen=True)
class NaiveBayes:
    """The paper's two naive Bayes models: counts of both classes in the intervals of x₁ and of x₂."""

    edges: tuple[Floats, Floats]
    pos: tuple[Floats, Floats]
    neg: tuple[Floats, Floats]

    @classmethod
    def fit(cls, x: Floats, y: Labels, how: str, intervals: int, alpha: float | None) -> NaiveBayes:
        """Discretise and count."""
        edges = tuple(cuts(column, y, how, intervals, alpha) for column in x.T)
        cells = [np.searchsorted(edge, column, side="right") for edge, column in zip(edges, x.T, strict=True)]
        sizes = [len(edge) + 1 for edge in edges]
        pos = tuple(np.bincount(cell[y], minlength=n).astype(float) for cell, n in zip(cells, sizes, strict=True))
        neg = tuple(np.bincount(cell[~y], minlength=n).astype(float) for cell, n in zip(cells, sizes, strict=True))
        return cls(edges, pos, neg)  # type: ignore[arg-type]

    def _score(self, x: Floats, inputs: int) -> Floats:
        for_one, for_none = np.ones(len(x)), np.ones(len(x))
        for k in range(inputs):
            cell = np.searchsorted(self.edges[k], x[:, k], side="right")
            for_one *= self.pos[k][cell]
            for_none *= self.neg[k][cell]
        total = for_one + for_none
        return np.where(total > 0, for_one / np.maximum(total, 1e-300), 0.5)

    def first_only(self, x: Floats) -> Floats:
        """m₁: x₁ alone."""
        return self._score(x, 1)

    def both(self, x: Floats) -> Floats:
        """m₂: x₁ and x₂."""
        return self._score(x, 2)


class Neighbours:
    """K nearest neighbours by Euclidean distance, for several K at once."""

    def __init__(self, x: Floats, y: Labels, *, next_decides: bool) -> None:
        self.x, self.y = x.astype(np.float32), y.astype(np.int32)
        self.next_decides = next_decides
        self._cases: Floats | None = None
        self._votes: NDArray[np.int64] = np.empty((0, 0), np.int64)

    def scorer(self, k: int) -> Callable[[Floats], Floats]:
        """The share of class 1 among the nearest ``k``.

        Where the next neighbour decides tied votes, a tied share moves by a hair to that neighbour's side.
        """

        def score(cases: Floats) -> Floats:
            votes = self.votes(cases)
            share = votes[:, k - 1] / k
            if self.next_decides:
                further = votes[:, k] - votes[:, k - 1]
                share = np.where(2 * votes[:, k - 1] == k, share + 1e-7 * (2 * further - 1), share)
            return share

        return score

    def votes(self, cases: Floats) -> NDArray[np.int64]:
        """Votes for class 1 among the nearest 1, 2, … neighbours, one row for each case; kept for the next scorer."""
        if self._cases is not cases:
            self._votes = np.concatenate(
                [self._count(part) for part in np.array_split(cases, max(1, len(cases) // 1000))]
            )
            self._cases = cases
        return self._votes

    def _count(self, cases: Floats) -> NDArray[np.int64]:
        part = cases.astype(np.float32)
        square = part @ self.x.T
        square *= -2
        square += (part**2).sum(axis=1)[:, None]
        square += (self.x**2).sum(axis=1)
        np.maximum(square, 0, out=square)
        # Positive floats sort like their bits. The last bit carries the label along, so no index has to be sorted.
        packed = square.view(np.int32)
        packed &= ~1
        packed |= self.y
        packed.partition(max(NEIGHBOURS), axis=1)
        most = max(NEIGHBOURS) + 1
        nearest = np.sort(packed[:, :most], axis=1)
        return np.cumsum(nearest & 1, axis=1)

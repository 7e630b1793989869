"""Sample -> Ranking: one row per distinct score, best first. Cuts and tie rules live here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .kernels.backend import rankings
from .sources.arrays import Sample
from .threads import in_threads

Ties = Literal["expected", "best", "worst"]

_SORT_IN_THREADS = 50_000


@dataclass(frozen=True, eq=False)
class Ranking:
    """The sufficient statistic of a scored sample: distinct scores, best first, with the cases that have them.

    ``pos`` and ``neg`` are what the measures sum: numbers of rows, or sums of weights in a weighted sample.
    ``rows`` is the number of rows, ``weighted`` says which of the two it is.
    """

    score: NDArray[Any]
    pos: NDArray[Any]
    neg: NDArray[Any]
    rows: int
    weighted: bool = False

    def __len__(self) -> int:
        return len(self.score)

    @property
    def cases(self) -> float:
        """Cases of both classes: a row of weight w stands for w of them."""
        return self.n_pos + self.n_neg

    @cached_property
    def n_pos(self) -> float:
        """Positives (rows, or weight)."""
        return _total(self.pos)

    @cached_property
    def n_neg(self) -> float:
        """Negatives (rows, or weight)."""
        return _total(self.neg)

    def above(self, threshold: float) -> int:
        """How many distinct scores are greater than ``threshold``: predicted positive means score > threshold."""
        return len(self.score) - int(np.searchsorted(self.score[::-1], threshold, side="right"))

    def score_after(self, groups: int) -> float:
        """The threshold that takes so many distinct scores: the next one, or −inf where all are taken."""
        return float(self.score[groups]) if groups < len(self.score) else float("-inf")

    def group_of(self, score: NDArray[Any]) -> NDArray[np.intp]:
        """The row of this ranking in which each score stands. They are looked up in order, which is quicker."""
        order = np.argsort(score)
        found = np.empty(len(score), np.intp)
        found[order] = len(self.score) - 1 - np.searchsorted(self.score[::-1], score[order])
        return found

    def resolved(self, ties: Ties) -> Ranking:
        """Each tie taken apart: positives first (``best``) or last (``worst``); ``expected`` leaves ties together."""
        if ties == "expected":
            return self
        apart = self.apart(ties)
        there = (apart.pos > 0) | (apart.neg > 0)
        return Ranking(apart.score[there], apart.pos[there], apart.neg[there], self.rows, self.weighted)

    def apart(self, ties: Ties) -> Ranking:
        """The same, with two groups for each score even where one of them is empty."""
        if ties == "expected":
            return self
        none = np.zeros_like(self.pos)
        order = (0, 1) if ties == "best" else (1, 0)
        pos = np.stack([(self.pos, none)[i] for i in order], axis=1).ravel()
        neg = np.stack([(none, self.neg)[i] for i in order], axis=1).ravel()
        return Ranking(np.repeat(self.score, 2), pos, neg, self.rows, self.weighted)


def _total(values: NDArray[Any]) -> float:
    return int(values.sum(dtype=np.int64)) if values.dtype.kind in "iu" else float(values.sum())


def rank(sample: Sample) -> Ranking:
    """Rank a sample with one sort.

    Labels need not travel with the scores: positives and negatives are sorted by value, side by side in two threads,
    and merged into tie groups. Only weights have to be carried along, which takes an argsort.
    """
    if sample.weight is not None:
        return _rank_weighted(sample)
    kernels = rankings(len(sample))
    pos, neg = kernels.split(sample.score, sample.positive, int(np.count_nonzero(sample.positive)))
    if len(sample) < _SORT_IN_THREADS:
        pos.sort()
        neg.sort()
    else:
        in_threads([pos.sort, neg.sort])
    score, positives, negatives = trimmed(kernels.merge_sorted(pos, neg))
    return Ranking(score, positives, negatives, len(sample))


def trimmed(groups: tuple[NDArray[Any], NDArray[Any], NDArray[Any], int]) -> tuple[NDArray[Any], ...]:
    """The used part of over-long arrays; copied where that frees much."""
    *arrays, used = groups
    return tuple(array[:used].copy() if 2 * used < len(array) else array[:used] for array in arrays)


def _rank_weighted(sample: Sample) -> Ranking:
    order = np.argsort(sample.score)
    kernels = rankings(len(sample), weighted=True)
    score, pos, neg = trimmed(kernels.group_weighted(sample.score, sample.positive, sample.weight, order))
    return Ranking(score, pos, neg, len(sample), weighted=True)


def row_order(sample: Sample) -> NDArray[np.intp]:
    """Rows in the order of the ranking, positives first: how the kernels that draw replicates number them."""
    return np.lexsort((-sample.score.astype(np.float64), ~sample.positive))


def midranks(score: NDArray[Any]) -> NDArray[np.float64]:
    """Place of each score from the bottom, worst = 1; equal scores share the mean of their places."""
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2.0)[inverse])

"""Sample -> Ranking: one row per distinct score, best first. Cuts and tie rules live here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .kernels import compiled
from .runtime import in_threads
from .sources.arrays import Sample

Ties = Literal["expected", "best", "worst"]

_SORT_IN_THREADS = 50_000  # rows; fewer are sorted before a second thread has started
# rows from which the kernel sorts faster than NumPy where that is slow, by bytes of a row; measured on Zen 4
_SORT_BY_KERNEL = {4: 8_192, 8: 4_096}


@dataclass(frozen=True, eq=False)
class Ranking:
    """The sufficient statistic of a scored sample: distinct scores, best first, with the cases that have them.

    ``pos`` and ``neg`` are what the measures sum: numbers of rows, or sums of weights in a weighted sample.
    ``rows`` is the number of rows, ``weighted`` tells which of the two it is.
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
        return int(self.pos.sum(dtype=np.int64)) if self.pos.dtype.kind in "iu" else float(self.pos.sum())

    @cached_property
    def n_neg(self) -> float:
        """Negatives (rows, or weight)."""
        return int(self.neg.sum(dtype=np.int64)) if self.neg.dtype.kind in "iu" else float(self.neg.sum())

    def above(self, threshold: float) -> int:
        """How many distinct scores are greater than ``threshold``: predicted positive means score > threshold."""
        return len(self.score) - int(np.searchsorted(self.score[::-1], threshold, side="right"))

    def score_before(self, groups: int) -> float:
        """The lowest of so many distinct scores; nan where none is taken."""
        return float(self.score[groups - 1]) if groups else float("nan")

    def score_after(self, groups: int) -> float:
        """The threshold that takes so many distinct scores: the next one, or −inf where all are taken."""
        return float(self.score[groups]) if groups < len(self.score) else float("-inf")

    def group_of(self, score: NDArray[Any]) -> NDArray[np.intp]:
        """The row of this ranking in which each score stands. They are looked up in order, which is quicker."""
        order = np.argsort(score)
        group = np.empty(len(score), np.intp)
        group[order] = len(self.score) - 1 - np.searchsorted(self.score[::-1], score[order])
        return group

    def resolved(self, ties: Ties, *, keep_empty: bool = False) -> Ranking:
        """Each tie taken apart: positives first (``best``) or last (``worst``); ``expected`` leaves ties together.

        ``keep_empty``: there are two groups for each score even where one of them is empty.
        """
        if ties == "expected":
            return self
        none, positives_first = np.zeros_like(self.pos), ties == "best"
        pos = np.stack([self.pos, none] if positives_first else [none, self.pos], axis=1).ravel()
        neg = np.stack([none, self.neg] if positives_first else [self.neg, none], axis=1).ravel()
        there = slice(None) if keep_empty else (pos > 0) | (neg > 0)
        return Ranking(np.repeat(self.score, 2)[there], pos[there], neg[there], self.rows, self.weighted)


def rank(sample: Sample) -> Ranking:
    """Rank a sample with one sort.

    Labels need not travel with the scores: positives and negatives are sorted by value, side by side in two threads,
    and merged into tie groups. Only weights have to be carried along, which takes an argsort.
    """
    weighted = sample.weight is not None
    if weighted:
        order = np.argsort(sample.score)
        *columns, used = compiled.group_weighted(sample.score, sample.positive, sample.weight, order)
    else:
        pos, neg = compiled.split(sample.score, sample.positive, int(np.count_nonzero(sample.positive)))
        if len(sample) < _SORT_IN_THREADS:
            sort_values(pos)
            sort_values(neg)
            *columns, used = compiled.merge_sorted(pos, neg)
        else:  # the sorts borrow the columns: touching new memory is slow
            n, width, first = len(sample), pos.itemsize, len(pos)
            block = np.empty(n * (width + 8), np.uint8)  # one large block, which comes in large pages
            score = block[: n * width].view(pos.dtype)
            hits, misses = block[n * width :].view(np.int32).reshape(2, n)
            places = hits.view(np.uint16)
            sides = (pos, score[:first], places[:first]), (neg, score[first:], places[first:n])
            in_threads([partial(sort_values, *side) for side in sides])
            *columns, used = compiled.merge_sorted(pos, neg, score, hits, misses)
    # the columns are as long as the sample: their used part is copied where that frees much
    score, hits, misses = (column[:used].copy() if 2 * used < len(column) else column[:used] for column in columns)
    ranking = Ranking(score, hits, misses, len(sample), weighted)
    if not weighted:  # known without adding them up
        ranking.__dict__.update(n_pos=len(pos), n_neg=len(neg))
    return ranking


@cache
def _numpy_sorts_slowly() -> bool:
    """Whether NumPy's sort of floats leaves much of this processor's speed unused.

    It does on Zen 4, which stores a compressed vector in microcode: the version for AVX-512 takes five times as long as
    that for AVX2. It also does on x86 without AVX2, where it compares one by one. Elsewhere nothing here is faster.
    """
    from numpy._core import multiarray

    features = getattr(multiarray._multiarray_umath, "__cpu_features__", {})  # type: ignore[attr-defined]
    if not features.get("SSE2"):  # not x86
        return False
    has_avx2 = features.get("X86_V3", features.get("AVX2"))  # which NumPy 2.4 calls by the first name
    return not has_avx2 or (bool(features.get("AVX512_SKX")) and compiled.is_amd_family_25())


def sort_values(
    values: NDArray[Any], spare: NDArray[Any] | None = None, places: NDArray[np.uint16] | None = None
) -> None:
    """Sort floats in place, by NumPy or by the kernel: whichever is faster on this processor for so many.

    The kernel needs an array of the same kind and one of 16-bit numbers while it sorts; it makes those that nobody
    lends. It handles fewer than 2³¹ values.
    """
    if _SORT_BY_KERNEL[values.itemsize] <= len(values) < 2**31 and _numpy_sorts_slowly():
        compiled.sort(values, spare, places)
    else:
        values.sort()


def tie_starts(*columns: NDArray[Any]) -> NDArray[np.intp]:
    """Where a tie begins among rows in order: where any of the columns has another value than the row before.

    Values are compared, never subtracted: equal infinities are one tie, and their difference is nan.

    >>> tie_starts(np.array([np.inf, np.inf, 1.0, 1.0, -np.inf])).tolist()
    [0, 2, 4]
    """
    changes = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return np.concatenate([[0], np.flatnonzero(changes) + 1])


def row_order(sample: Sample) -> NDArray[np.intp]:
    """Rows in the order of the ranking, positives first: how the kernels that draw replicates number them.

    Rows of one score and class by weight, so that what is drawn does not depend on the order in which rows come.
    """
    score = -sample.score.astype(np.float64)
    keys = (score,) if sample.weight is None else (sample.weight, score)
    sides = (np.flatnonzero(side) for side in (sample.positive, ~sample.positive))
    return np.concatenate([side[np.lexsort([key[side] for key in keys])] for side in sides])


def membership(score: NDArray[Any], quota: float, weight: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Chance of each row to be among the best ``quota`` cases: 1 above the cut, 0 under it, shared inside a tie."""
    if weight is None:
        edge = np.partition(score, len(score) - int(quota))[len(score) - int(quota)]
        weight = np.ones(len(score))
    else:
        order = np.argsort(-score, kind="stable")
        last = np.searchsorted(np.cumsum(weight[order]), quota * (1.0 - 1e-12))
        edge = score[order[min(int(last), len(score) - 1)]]
    above, at = score > edge, score == edge
    share = (quota - float(weight[above].sum())) / float(weight[at].sum())
    return np.where(above, 1.0, np.where(at, min(share, 1.0), 0.0))


def midranks(score: NDArray[Any]) -> NDArray[np.float64]:
    """Place of each score from the bottom, worst = 1; equal scores share the mean of their places."""
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2.0)[inverse])

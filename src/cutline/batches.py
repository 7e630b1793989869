"""Lists that are cut one by one (days, recruiters, queries): which row is in which, and what each holds at a quota.

Rows are sorted once, by batch and then best first. Running totals over that order give every cut of every batch by one
interpolation: a quota that falls inside a tie takes its share of it, as in a single list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .kernels.plain_rankings import tie_starts
from .quotas import Quotas
from .ranking import Ties
from .sources.arrays import Sample
from .sources.levels import column_levels, label_of, order_of
from .sweep import Counts
from .table import KeepsFields
from .types import Floats

Order = Literal["number", "time", "given", "name"]
_SHARES = 101  # a range of shares is read at so many of them
# columns of what a batch holds: positives and cases taken, positives and cases in all, and the moments of the taken
CELLS = ("hits", "taken", "positives", "cases", "x", "xx", "tt", "xt")


@dataclass(frozen=True, eq=False)
class Batches(KeepsFields):
    """The batch of each row as a number, and the batches' names in their order.

    They have the order of segments. ``order`` says which: by number, in time, that of ordered categories, or by name
    where names have no order of their own.

    >>> days = Batches.of(["2024-05-02", "2024-05-01", "2024-05-02"])
    >>> days.names, days.code.tolist(), days.order
    (('2024-05-01', '2024-05-02'), [1, 0, 1], 'time')
    """

    code: NDArray[np.intp]
    names: tuple[Any, ...]
    order: Order

    @classmethod
    def of(cls, values: Any, sample: Sample | None = None) -> Batches:
        """From a column with the batch of each row; ``sample`` may have left some rows out."""
        if isinstance(values, Batches):
            return values
        levels = column_levels(values, None if sample is None else sample.input_rows or len(sample), "batch", "batch")
        if sample is not None and sample.source_rows is not None:
            levels = levels.only(sample.source_rows)
        order: Order = "given" if levels.ordered else order_of(levels.keys) or "name"
        names = tuple(key if isinstance(key, Real) else label_of(key) for key in levels.keys)
        return cls(levels.codes, names, order)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def order_words(self) -> str:
        """How the batches were ordered, in words."""
        return {"number": "by number", "time": "in time", "given": "of the categories", "name": "by name"}[self.order]


@dataclass(frozen=True, eq=False)
class BatchGroups(KeepsFields):
    """Cases by batch and score, batch by batch and best first: positives, and all cases.

    Where groups join neighbouring scores of a batch, ``score`` is their mean, ``joined`` marks them, and ``sums`` holds
    what their scores add up to (see :func:`sums_of_groups`).
    """

    batch: NDArray[np.intp]
    score: Floats
    pos: Floats
    size: Floats
    joined: NDArray[np.bool_] | None = None
    sums: Floats | None = None

    @classmethod
    def of(cls, sample: Sample, batches: Batches) -> BatchGroups:
        """The groups of rows in memory."""
        score = sample.score.astype(np.float64)
        order = in_batches(batches.code, np.argsort(-score))  # rows of one score need no order among themselves
        size = np.ones(len(order)) if sample.weight is None else sample.weight[order]
        return cls(*group_cases(batches.code[order], score[order], size * sample.positive[order], size))

    @classmethod
    def together(cls, parts: Sequence[BatchGroups]) -> BatchGroups:
        """Groups of different batches, in the order of the batches."""
        order = np.argsort(np.concatenate([part.batch for part in parts]), kind="stable")
        columns: list[Any] = []
        for name in ("batch", "score", "pos", "size", "joined", "sums"):
            own = [getattr(part, name) for part in parts]
            columns.append(None if own[0] is None else np.concatenate(own, axis=-1)[..., order])
        return cls(*columns)

    def apart(self, ties: Ties) -> BatchGroups:
        """The groups with the classes of each apart: positives last where ties are read as the worst, else first."""
        if ties == "expected":
            return self
        neg = self.size - self.pos
        pairs = np.stack([neg, self.pos] if ties == "worst" else [self.pos, neg], axis=1)
        there = pairs.ravel() > 0.0
        is_pos = np.tile([ties != "worst", ties == "worst"], len(neg))
        batch, score = np.repeat(self.batch, 2)[there], np.repeat(self.score, 2)[there]
        size = pairs.ravel()[there]
        pos = np.where(is_pos[there], size, 0.0)
        if self.sums is None or self.joined is None:
            return BatchGroups(batch, score, pos, size)
        x, xx, _, xt, won = (np.repeat(column, 2)[there] for column in self.sums)
        share = size / np.repeat(self.size, 2)[there]
        sums = np.stack([np.where(pos > 0.0, xt, x - xt), xx * share, pos, np.where(pos > 0.0, xt, 0.0), won * share])
        return BatchGroups(batch, score, pos, size, np.repeat(self.joined, 2)[there], sums)


def group_cases(
    code: NDArray[np.intp], score: Floats, pos: Floats, size: Floats
) -> tuple[NDArray[np.intp], Floats, Floats, Floats]:
    """Equal scores of one batch added up; rows come in the order of batches, then scores, with positives and cases."""
    starts = tie_starts(code, score)
    return code[starts], score[starts], np.add.reduceat(pos, starts), np.add.reduceat(size, starts)


def sums_of_groups(x: Floats, pos: Floats, size: Floats, before: Floats) -> Floats:
    """What groups add to the moments of the taken (x, xx, tt, xt), and the pairs that their negatives lose.

    ``x`` is the score on some scale, ``before`` the positives that come before the group in its batch.
    """
    parts = (x * size, x * x * size, pos**2 / size, x * pos, (size - pos) * (before + pos / 2.0))
    return np.stack(parts)


class BatchLists:
    """The lists of all batches, each best first, by running totals over all of them."""

    def __init__(self, groups: BatchGroups, batches: int) -> None:
        self.score, self.batch, self.pos, self.size = groups.score, groups.batch, groups.pos, groups.size
        self.joined = np.zeros(len(self.size), np.bool_) if groups.joined is None else groups.joined
        first = np.searchsorted(self.batch, np.arange(batches + 1))
        positives = np.concatenate([[0.0], np.cumsum(self.pos)])
        sums = groups.sums
        if sums is None:
            finite = np.isfinite(self.score)
            middle = float(self.score[finite].mean()) if finite.any() else 0.0
            spread = float(np.abs(self.score[finite] - middle).max()) if finite.any() else 0.0
            x = np.where(finite, (self.score - middle) / (spread or 1.0), 0.0)
            before = positives[:-1] - positives[first[self.batch]]
            sums = sums_of_groups(x, self.pos, self.size, before)
        self._ends = np.concatenate([[0.0], np.cumsum(self.size)])
        self._sums = [positives, *(np.concatenate([[0.0], np.cumsum(part)]) for part in sums[:4])]
        self._lost = sums[4]
        self.first_group = first
        self._start = self._ends[first]
        self.cases = np.diff(self._start)
        self.positives = np.diff(self._sums[0][first])

    @property
    def ends_in_batch(self) -> Floats:
        """Cases of its batch up to the end of each group."""
        return np.asarray(self._ends[1:] - self._start[self.batch])

    def places(self, quota: int | float) -> Floats:
        """Places that a quota means in each batch."""
        return places_in(self.cases, quota)

    def at(self, places: Floats) -> Floats:
        """What each batch holds in its first ``places`` (one number for each batch): a row of ``CELLS`` for each."""
        start, ends = self._start[:-1], self._ends
        upto = np.clip(start + places, start, self._start[1:])
        hits, *moments = (np.interp(upto, ends, s) - np.interp(start, ends, s) for s in self._sums)
        return np.stack([hits, upto - start, self.positives, self.cases, *moments], axis=1)

    def totals(self, places: Floats, most: Floats) -> tuple[Floats, Floats]:
        """Hits and cases taken over all batches with so many places in each, but at most ``most`` in one of them.

        Hits rise along each group by its share of positives: from where it begins in its list to where it ends.
        """
        first = self._ends[:-1] - self._start[self.batch]
        last = np.minimum(first + self.size, most[self.batch])
        first = np.minimum(first, most[self.batch])
        rate = self.pos / self.size
        hits = _rising(np.concatenate([first, last]), np.concatenate([rate, -rate]), places)
        ends = np.concatenate([np.zeros(len(most)), most])
        return hits, _rising(ends, np.repeat([1.0, -1.0], len(most)), places)

    def cut(self, places: Floats) -> tuple[NDArray[np.intp], Floats]:
        """The group in which each batch's cut lies (one beyond its last for a batch that is taken whole),

        and the cases of that group that are taken.
        """
        upto = self._start[:-1] + places
        group = np.searchsorted(self._ends, upto * (1.0 + 1e-12), side="right") - 1
        group = np.minimum(group, self.first_group[1:])
        return group, np.maximum(upto - self._ends[group], 0.0)

    def above(self, threshold: float) -> Floats:
        """Cases of each batch that score above a threshold."""
        return np.bincount(self.batch, self.size * (self.score > threshold), len(self.cases)).astype(np.float64)

    @cached_property
    def pairs_won(self) -> tuple[Floats, Floats]:
        """Pairs of a positive and a negative of one batch in which the positive scores higher, ties half; all pairs."""
        won = np.bincount(self.batch, self._lost, len(self.cases)).astype(np.float64)
        return won, self.positives * (self.cases - self.positives)


def places_in(cases: Floats, quota: int | float) -> Floats:
    """Places that a quota means in batches of so many cases: a number of them, at most those there are, or a share."""
    if isinstance(quota, float):
        found = np.floor(quota * cases * (1.0 + 1e-12))
        if not found.any():
            most = 100.0 / float(cases.max())
            problem = f"is {100 * quota:.4g} % of each batch, which is less than one case in every one of them"
            raise InputError("quota", problem, f"ask for at least {most:.3g} %")
        return np.asarray(found)
    return np.minimum(float(quota), cases)


def in_batches(code: NDArray[np.intp], order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rows in an order, put batch by batch; small numbers are sorted by their digits."""
    small = code.astype(np.uint16) if len(code) and int(code.max()) < 2**16 else code
    return np.asarray(order[np.argsort(small[order], kind="stable")])


def _rising(bends: Floats, slopes: Floats, places: Floats) -> Floats:
    """A function that bends at some places, where its slope changes by so much, at other places."""
    order = np.argsort(bends, kind="stable")
    x, w = bends[order], slopes[order]
    slope, shift = (np.concatenate([[0.0], np.cumsum(v)]) for v in (w, w * x))
    at = np.searchsorted(x, places, side="right")
    return np.asarray(slope[at] * places - shift[at])


def counts_of(cells: Floats) -> Counts:
    """The cut of all batches together from sums of ``CELLS`` (the last axis)."""
    hits, taken, positives, cases, x, xx, tt, xt = np.moveaxis(cells, -1, 0)
    with np.errstate(all="ignore"):
        spread = xx - x * x / taken
        outcome = tt - hits * hits / taken
        both = xt - x * hits / taken
    wrong = np.maximum(taken - hits, 0.0)
    return Counts(
        hits,
        wrong,
        np.maximum(positives - hits, 0.0),
        np.maximum(cases - positives - wrong, 0.0),
        np.where(spread > 1e-12 * xx, spread, 0.0),
        np.where(outcome > 1e-12 * tt, outcome, 0.0),
        both,
    )


def quotas_in_batches(quota: int | float | Quotas) -> tuple[list[int | float], Floats]:
    """The quotas to read, each counted within every batch, and their weights, which add up to 1."""
    if not isinstance(quota, Quotas):
        return [quota], np.ones(1)
    if quota.through and isinstance(quota.quotas[0], float):
        low, high = quota.quotas
        shares = low + (high - low) * (np.arange(_SHARES) + 0.5) / _SHARES
        return shares.tolist(), np.full(_SHARES, 1.0 / _SHARES)
    if quota.through:
        sizes, weights = quota.sizes(np.inf)
        return list(sizes), weights
    return list(quota.quotas), np.array(quota.weights)

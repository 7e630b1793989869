"""A part of a list, summed where it lies: what it must tell so that the parts can be joined without their neighbours.

Most sums of a part need to know only how many cases come before it. Two need more: the precision–recall areas look
back to the last group with a positive, and the correlation at a quota needs the moments of all cases before. Both are
mended when the parts are joined, from a few numbers that each part tells about its beginning and its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import SweepPlan
from ..kernels.backend import compiled, passes
from ..kernels.layout import AT, CUT
from ..kernels.plain import merged_moments
from ..ranking import Ranking
from ..sweep import Piece, Start
from ..types import Floats
from .stream import Part, Stream, joined

_LOWER, _UPPER = AT["pr_lower"], AT["pr_upper"]
_UNKNOWN_END = 1.0  # stands for the place of the last positive before a part, until the parts are joined


@dataclass
class Cut:
    """Of a quota that ends in a part: the part's own cases up to it by class, those behind it, and the moments."""

    above: tuple[float, float]
    behind: tuple[float, float]
    moments: Floats


@dataclass
class Ends:
    """Of one reading of a part: its first group with a positive, its last, and the moments of its cases."""

    before: Start
    first: float = 0.0
    cases_to_first: float = 0.0
    end: float = 0.0
    step: float = 0.0
    own: tuple[float, float] = (0.0, 0.0)
    moments: Floats = field(default_factory=lambda: np.zeros(5))
    at_quota: dict[int, Cut] = field(default_factory=dict)

    @property
    def cases(self) -> float:
        """Cases of this part."""
        return sum(self.own)


@dataclass
class PartialSums:
    """What a part tells: its sums, the ends of each reading, and whether compiled passes made them."""

    part: Part
    ends: list[Ends]
    compiled: bool = True


class PartStream(Stream):
    """The stream of a part, given only how many cases come before it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._ends = []
        for k, start in enumerate(self._starts):
            self._ends.append(Ends(start))
            if start.pos > 0:
                self._starts[k] = Start(start.pos, start.neg, _UNKNOWN_END, 0.0)

    def result(self) -> PartialSums:
        """The sums and the ends."""
        part = self.finish()
        for ends, start in zip(self._ends, self._starts, strict=True):
            if ends.first > 0:
                ends.end, ends.step = start.end, start.step
        return PartialSums(part, self._ends, compiled())

    def _piece(self, ranking: Ranking, k: int, reading: SweepPlan) -> Piece:
        ends, start = self._ends[k], self._starts[k]
        there = np.flatnonzero(ranking.pos > 0)
        if ends.first == 0 and len(there):
            g = int(there[0])
            ends.first = float(ranking.pos[g])
            ends.cases_to_first = float(start.pos + start.neg + ranking.pos[:g].sum() + ranking.neg[:g].sum())
        return super()._piece(ranking, k, reading)

    def _cut(self, ranking: Ranking, k: int, reading: SweepPlan, piece: Piece, *, is_last: bool = False) -> None:
        """Moments of this part's own cases: whole, and up to each quota that ends in this piece."""
        ends, start = self._ends[k], self._starts[k]
        if len(ranking) == 0:
            return
        here, size = float(start.pos + start.neg), np.cumsum(ranking.pos + ranking.neg, dtype=np.float64)
        own = tuple(float(side.sum(dtype=np.float64)) for side in (ranking.pos, ranking.neg))
        for cut in ends.at_quota.values():
            cut.behind = (cut.behind[0] + own[0], cut.behind[1] + own[1])
        for quota in reading.request.quotas:
            if here < quota <= here + size[-1]:
                groups = int(np.searchsorted(size, quota - here, side="left"))
                whole = float(size[groups - 1]) if groups else 0.0
                share = (quota - here - whole) / float(ranking.pos[groups] + ranking.neg[groups])
                sides = [side[: groups + 1].astype(np.float64) for side in (ranking.pos, ranking.neg)]
                rest = [side[groups:].astype(np.float64) for side in (ranking.pos, ranking.neg)]
                for side, left in zip(sides, rest, strict=True):
                    side[-1], left[0] = side[-1] * share, left[0] * (1.0 - share)
                moments = self._moved(ends.moments.copy(), ranking.score[: groups + 1], sides[0], sides[1], ends.cases)
                above = tuple(before + float(side.sum()) for before, side in zip(ends.own, sides, strict=True))
                ends.at_quota[quota] = Cut(_pair(above), _pair([float(left.sum()) for left in rest]), moments)
        self._moved(ends.moments, ranking.score, ranking.pos, ranking.neg, ends.cases)
        ends.own = (ends.own[0] + own[0], ends.own[1] + own[1])

    def _moved(self, moments: Floats, score: Floats, pos: NDArray[Any], neg: NDArray[Any], cases: float) -> Floats:
        passes().add_moments(score, pos, neg, cases, self.totals.scale, moments)
        return moments


def _pair(values: Sequence[float]) -> tuple[float, float]:
    return values[0], values[1]


def joined_parts(told: Sequence[PartialSums], readings: Sequence[SweepPlan]) -> Part:
    """The whole from its parts, in order."""
    for k, reading in enumerate(readings):
        end, step = 0.0, 0.0
        before, moments = np.zeros(2), np.zeros(5)
        for one in told:
            ends, vector = one.ends[k], one.part.pieces[k].vector
            if ends.first > 0 and ends.before.pos > 0 and "precision" in reading.request.parts:
                vector[_UPPER] += 0.5 * ends.first * ends.before.pos * (1.0 / end - 1.0 / _UNKNOWN_END)
                vector[_LOWER] += 0.5 * step * ends.before.pos / ends.cases_to_first
            if ends.first > 0:
                end, step = ends.end, ends.step
            for quota in reading.request.quotas:
                at = reading.request.quota_at(quota)
                cut = ends.at_quota.get(quota)
                if cut is None and quota <= before.sum():  # all of this part lies behind the cut
                    vector[at + 2 : at + 4] = ends.own
                elif cut is not None:
                    cells = (*(before + cut.above), *cut.behind)
                    vector[at : at + len(CUT)] = (
                        *cells,
                        *merged_moments(before.sum(), moments, sum(cut.above), cut.moments)[2:],
                    )
            moments = merged_moments(before.sum(), moments, ends.cases, ends.moments)
            before = before + ends.own
        _cut_at_end(told[-1].part.pieces[k].vector, reading, [one.ends[k] for one in told], before, moments)
    return joined([one.part for one in told])


def _cut_at_end(vector: Floats, reading: SweepPlan, ends: Sequence[Ends], whole: Floats, moments: Floats) -> None:
    """A quota of everybody that rounding puts behind the last row is cut there."""
    for quota in reading.request.quotas:
        if not any(quota in one.at_quota for one in ends):
            at = reading.request.quota_at(quota)
            vector[at : at + len(CUT)] = *whole, 0.0, 0.0, *moments[2:]

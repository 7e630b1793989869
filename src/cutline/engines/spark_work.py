"""What runs on Spark's executors. It needs cutline, NumPy and pyarrow there; nothing else.

A part of a list, summed where it lies: what it must tell so that the parts can be joined without their neighbours.

Most sums of a part need to know only how many cases come before it. Two need more: the precision–recall areas look
back to the last group with a positive, and the correlation at a quota needs the moments of all cases before. Both are
mended when the parts are joined, from a few numbers that each part tells about its beginning and its end.

"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import SweepPlan
from ..kernels import compiled
from ..kernels.layout import AT, CUT, merged_moments
from ..partition import HashedPartition
from ..ranking import Ranking
from ..runtime import TUNING
from ..sources.sql_table import Totals
from ..sweep import PieceSums, Start
from ..types import Floats
from .batch_stream import BatchCells
from .stream import Draws, Stream, StreamSums, joined
from .streamed_pairs import Gaps, add_to_all

_LOWER, _UPPER = AT["pr_lower"], AT["pr_upper"]
_UNKNOWN_END = 1.0  # stands for the place of the last positive before a part, until the parts are joined


@dataclass
class PartCut:
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
    at_quota: dict[int, PartCut] = field(default_factory=dict)

    @property
    def cases(self) -> float:
        """Cases of this part."""
        return sum(self.own)


@dataclass
class PartialSums:
    """What a part tells: its sums, the ends of each reading."""

    part: StreamSums
    ends: list[Ends]


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
        return PartialSums(part, self._ends)

    def _piece(self, ranking: Ranking, k: int, reading: SweepPlan) -> PieceSums:
        ends, start = self._ends[k], self._starts[k]
        there = np.flatnonzero(ranking.pos > 0)
        if ends.first == 0 and len(there):
            g = int(there[0])
            ends.first = float(ranking.pos[g])
            ends.cases_to_first = float(start.pos + start.neg + ranking.pos[:g].sum() + ranking.neg[:g].sum())
        return super()._piece(ranking, k, reading)

    def _cut(self, ranking: Ranking, k: int, reading: SweepPlan, piece: PieceSums, *, is_last: bool = False) -> None:
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
                ends.at_quota[quota] = PartCut(_pair(above), _pair([float(left.sum()) for left in rest]), moments)
        self._moved(ends.moments, ranking.score, ranking.pos, ranking.neg, ends.cases)
        ends.own = (ends.own[0] + own[0], ends.own[1] + own[1])

    def _moved(self, moments: Floats, score: Floats, pos: NDArray[Any], neg: NDArray[Any], cases: float) -> Floats:
        compiled.add_moments(score, pos, neg, cases, self.totals.scale, moments)
        return moments


def _pair(values: Sequence[float]) -> tuple[float, float]:
    return values[0], values[1]


def joined_parts(told: Sequence[PartialSums], readings: Sequence[SweepPlan]) -> StreamSums:
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
                at = reading.request.at(quota=quota)
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
        for quota in reading.request.quotas:  # one of everybody that rounding puts behind the last row is cut there
            if not any(quota in one.ends[k].at_quota for one in told):
                at = reading.request.at(quota=quota)
                told[-1].part.pieces[k].vector[at : at + len(CUT)] = *before, 0.0, 0.0, *moments[2:]
    return joined([one.part for one in told])


Work = Callable[[Iterator[Any]], Iterator[Any]]
PARTS = "key bigint, part binary"


@dataclass(frozen=True)
class Task:
    """What an executor must know of a model to sum a range of its scores."""

    totals: Totals
    readings: list[SweepPlan]
    tolerance: float
    marks: list[float]
    draws: tuple[int, int] | None  # replicates and seed, where rows are drawn one by one


@dataclass(frozen=True)
class Range:
    """A range of scores: whose it is, the cases before it, its own."""

    model: int
    before: tuple[float, float]
    own: tuple[float, float]


def sums_of_ranges(tasks: list[Task], ranges: Mapping[int, Range]) -> Work:
    """A function for Spark: rows in the order of their keys, then scores, in; one small part for each key out."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        stream, key = None, 0
        for columns in _gathered(batches):
            starts = np.concatenate([[0], np.flatnonzero(np.diff(columns["key"])) + 1, [len(columns["key"])]])
            for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
                own = int(columns["key"][first])
                if stream is not None and own != key:
                    yield _answer(key, stream.result())
                    stream = None
                if stream is None:
                    key, task, totals, draws = own, tasks[ranges[own].model], tasks[ranges[own].model].totals, None
                    if task.draws is not None:  # a task has one core
                        draws = Draws(*task.draws, weighted=totals.weighted, rows=totals.rows, in_threads=False)
                    how: dict[str, Any] = {"tolerance": task.tolerance, "marks": task.marks, "draws": draws}
                    stream = PartStream(totals, task.readings, start=Start(*ranges[own].before), **how)
                score, pos, neg = (columns[name][first:last] for name in ("score", "pos", "neg"))
                if task.draws is None:
                    stream.feed_groups(score, pos, neg)
                else:
                    weight = pos + neg if task.totals.weighted else None
                    stream.feed(score, (pos > 0).astype(np.uint8), weight, columns["row"][first:last])
        if stream is not None:
            yield _answer(key, stream.result())

    return work


def gaps_of_rows(gaps: Sequence[Gaps | None], numbers: HashedPartition | None, models: int) -> Work:
    """A function for Spark: rows in any order in; the moments of the gaps of each segment and of all rows out."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for columns in _gathered(batches):
            scores = [columns[f"score_{k}"] for k in range(models)]
            add_to_all(gaps, None if numbers is None else numbers(columns["key"]), columns["positive"], scores)
        yield _answer(0, [None if one is None else one.moments for one in gaps])

    return work


def lists_of_batches(cells: BatchCells, numbers: HashedPartition) -> Work:
    """A function for Spark: the rows of some batches, sorted by batch and score, in; the list of each batch out."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for columns in _gathered(batches):
            weight = columns.get("weight")
            cells.add(numbers(columns["key"]), columns["score"], columns["positive"], weight)
        if not cells.is_empty:
            yield _answer(0, cells.finish())

    return work


def _answer(key: int, what: Any) -> Any:
    import pyarrow

    part = pyarrow.array([pickle.dumps(what, protocol=5)], pyarrow.binary())
    return pyarrow.RecordBatch.from_pydict({"key": pyarrow.array([key], pyarrow.int64()), "part": part})


def _gathered(batches: Iterator[Any]) -> Iterator[dict[str, NDArray[Any]]]:
    """Columns of several batches together: small batches would cost more in calls than in sums."""
    waiting: list[Any] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            rows += batch.num_rows
        if rows >= TUNING.rows_together:
            yield _columns(waiting)
            waiting, rows = [], 0
    if waiting:
        yield _columns(waiting)


def _columns(batches: list[Any]) -> dict[str, NDArray[Any]]:
    names = batches[0].schema.names
    return {
        name: np.concatenate([batch.column(name).to_numpy(zero_copy_only=False) for batch in batches]) for name in names
    }

"""Sorted batches -> everything an evaluation needs, in one pass and in memory that does not grow with the rows.

A Stream takes rows in falling order of score, in batches of any size, and hands each closed piece of the ranking to
the sweep. What it keeps is small: the vectors of sums, the hull, DeLong's moments, and a compact ranking for curves.

A part of a list can be streamed by itself, given the number of cases before it, and joined with the others afterwards.
Two sums need more than that: the precision–recall areas look back to the last group with a positive, and the
correlation at a quota needs the moments of all cases before. Both are mended when parts are joined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import SweepPlan, default_threshold, plan_sweeps
from ..catalogue.declare import Spec
from ..errors import InputError, changed
from ..estimate import Settings
from ..evaluation import choose_specs, obstacle_of
from ..inference.resampling import quantile_tables
from ..kernels import compiled
from ..kernels.layout import AT, CUT, merged_moments
from ..quotas import Quotas, why_no_cut
from ..ranking import Ranking
from ..runtime import TUNING, cores, in_threads
from ..sources.arrays import Sample
from ..sources.sql_table import Totals
from ..sweep import PieceSums, Start, SumsRequest, fill_thresholds, folded, sweep_piece
from ..types import Floats

# What either class may move by within a block of the compact ranking. Chosen by hand: curves are within 0.05% of an
# axis, less than a page shows, and the counts of 200 replicates by block take some 80 MB for each model.
TOLERANCE = 2.0**-11
# Chosen by hand: a tenth of those in memory, as rows that draw their own weights draw for every replicate. 200 of
# them give a standard error to within some 5% (1/√(2·200)).
STREAMED_RESAMPLES = 200
_UNKNOWN_END = 1.0  # stands for the place of the last positive before a part, until the parts are joined


class Draws:
    """Counts of each block in each replicate, by class: added up while the rows stream by."""

    def __init__(self, n_resamples: int, seed: int, *, weighted: bool, rows: int, in_threads: bool = True) -> None:
        self.n_resamples, self.seed, self.in_threads = n_resamples, seed & (2**63 - 1), in_threads
        kind: Any = np.float64 if weighted else np.uint32 if rows < 2**31 else np.uint64
        # line 0 contains the group that is still open, whose block is not known yet
        self._counts = np.zeros((1, 2, -(-n_resamples // 4) * 4), kind)  # one random number gives four weights
        self._blocks: NDArray[np.int64] = np.empty(0, np.int64)

    def place(self, blocks: NDArray[np.int64]) -> None:
        """The blocks of the groups that have just been closed, the one that was open before first."""
        lines = int(blocks[-1]) + 2
        if lines > len(self._counts):
            grown = np.zeros((max(lines, 2 * len(self._counts)), *self._counts.shape[1:]), self._counts.dtype)
            grown[: len(self._counts)] = self._counts
            self._counts = grown
        self._counts[blocks[0] + 1] += self._counts[0]
        self._counts[0] = 0
        self._blocks = blocks

    def add(self, row: Any, positive: NDArray[np.uint8], weight: Floats | None, rows: NDArray[np.int64]) -> None:
        """Add a batch's rows to their blocks; the last of its groups is still open."""
        place = np.zeros(len(rows), np.int64)
        place[: len(rows) - 1] = self._blocks + 1
        self._blocks = self._blocks[:0]
        weights, width = np.empty(0) if weight is None else weight, self._counts.shape[2]
        draw = partial(compiled.draw_rows, row, positive, weights, rows, place, self.seed, quantile_tables()[0])
        if not self.in_threads:
            draw(0, width, self._counts)
            return
        step = -(-width // (4 * cores())) * 4
        spans = [(first, min(first + step, width)) for first in range(0, width, step)]
        in_threads([partial(draw, first, last, self._counts) for first, last in spans])

    def result(self, blocks: int) -> NDArray[Any]:
        """Counts by block, class and replicate."""
        return self._counts[1 : blocks + 1, :, : self.n_resamples]


def empty_sample(totals: Totals) -> Sample:
    """A sample without rows that knows the extremes: what the checks of the measures read."""
    weight = np.empty(0) if totals.weighted else None
    return Sample(np.empty(0, np.bool_), np.empty(0), weight, totals.low, totals.high)


@dataclass(frozen=True)
class EvaluationRequest:
    """What to evaluate, whatever the source."""

    threshold: float | None
    quota: int | float | Quotas | None
    measures: Sequence[Any] | None
    settings: Settings
    resamples: int | None
    stream: bool | None


@dataclass(frozen=True)
class StreamPlan:
    """Measures, their readings and obstacles for a table whose totals are known."""

    specs: list[Spec]
    readings: list[SweepPlan]
    obstacles: Mapping[Spec, str]
    tolerance: float
    threshold: float | None
    settings: Settings
    drawn_by_row: int  # replicates of weighted rows and of paired models

    @classmethod
    def of(
        cls, request: EvaluationRequest, totals: Totals, *, segment: bool = False, batched: bool = False
    ) -> StreamPlan:
        """In a ``segment`` a quota may be larger than the list; ``batched`` quotas are not read from the whole list."""
        specs = choose_specs(request.measures, threshold=request.threshold, quota=request.quota)
        sample = empty_sample(totals)
        threshold = default_threshold(request.threshold, sample)
        tolerance = 0.0 if totals.distinct <= TUNING.keep_all_scores else TOLERANCE
        obstacles: dict[Spec, str] = {}
        for spec in specs:
            why = obstacle_of(spec, sample, threshold, request.measures is None)
            if not why and segment and spec.quota is not None:
                why = why_no_cut(spec.quota, totals.cases)
            elif not why and spec.measure.part == "ranking" and tolerance:
                why = f"needs every place in memory, and the table has some {totals.distinct:,} distinct scores"
            elif not why and spec.measure.batch_mean and batched:
                why = "is a mean over batches, whose lists are not kept in a stream: load the rows (stream=False)"
            obstacles[spec] = why
        swept = [spec for spec in specs if not obstacles[spec] and not (batched and spec.measure.needs_quota)]
        readings = plan_sweeps(tuple(swept), totals.cases)
        if request.settings.interval == "bca" and not batched:
            problem = "'bca' leaves out rows in turn, but the rows of this table are not kept in memory"
            raise InputError("interval", problem, "use 'percentile' or 'basic'")
        settings = request.settings
        by_row = settings.n_resamples if request.resamples is not None else STREAMED_RESAMPLES
        if settings.interval is not None and totals.weighted:
            settings = replace(settings, n_resamples=by_row)
        return cls(specs, [r for r in readings if r.specs], obstacles, tolerance, threshold, settings, by_row)


@dataclass
class Moments:
    """Cases, mean and squared deviations of one class's placements; parts of a list are joined without cancelling."""

    n: float = 0.0
    mean: float = 0.0
    squares: float = 0.0

    def joined(self, other: Moments) -> Moments:
        """With those of another part."""
        n, total = other.n, self.n + other.n
        if total == 0:
            return self
        gap = other.mean - self.mean
        squares = self.squares + other.squares + gap * gap * self.n * n / total
        return Moments(total, self.mean + gap * n / total, squares)


@dataclass
class Ends:
    """What joins a reading of a part to its neighbours: the first and the last group with a positive, and moments.

    ``own`` are the cases of each class; ``cuts`` has those up to each quota that ends here, and the moments there.
    """

    before: Start
    first: float = 0.0
    cases_to_first: float = 0.0
    after: Start = field(default_factory=Start)
    own: Floats = field(default_factory=lambda: np.zeros(2))
    moments: Floats = field(default_factory=lambda: np.zeros(5))
    cuts: dict[int, tuple[Floats, Floats]] = field(default_factory=dict)


@dataclass
class StreamSums:
    """What a stream, or a part of one, leaves behind."""

    pieces: list[PieceSums]
    blocks: Floats
    of_pos: Moments
    of_neg: Moments
    groups: int = 0
    largest: float = 0.0
    tied: float = 0.0
    counts: NDArray[Any] | None = field(default=None, repr=False)
    ends: list[Ends] = field(default_factory=list)


def joined(parts: Sequence[StreamSums], readings: Sequence[SweepPlan]) -> StreamSums:
    """The whole from consecutive parts; a part without rows adds nothing."""
    parts = [part for part in parts if part.groups]
    of_pos, of_neg = Moments(), Moments()
    for part in parts:
        of_pos, of_neg = of_pos.joined(part.of_pos), of_neg.joined(part.of_neg)
    for k, reading in enumerate(readings):
        _mend([part.ends[k] for part in parts], [part.pieces[k].vector for part in parts], reading.request)
    return StreamSums(
        [folded(pieces) for pieces in zip(*(part.pieces for part in parts), strict=True)],
        np.concatenate([part.blocks for part in parts]),
        of_pos,
        of_neg,
        sum(part.groups for part in parts),
        max(part.largest for part in parts),
        sum(part.tied for part in parts),
        None if parts[0].counts is None else np.concatenate([part.counts for part in parts if part.counts is not None]),
    )


def _mend(parts: Sequence[Ends], vectors: Sequence[Floats], request: SumsRequest) -> None:
    """Put into the vectors of parts what depends on the parts before them."""
    last, before, moments, open_ = Start(), np.zeros(2), np.zeros(5), set(request.quotas)
    for ends, vector in zip(parts, vectors, strict=True):
        if ends.first > 0 and ends.before.pos > 0 and "precision" in request.parts:
            vector[AT["pr_upper"]] += 0.5 * ends.first * ends.before.pos * (1.0 / last.end - 1.0 / _UNKNOWN_END)
            vector[AT["pr_lower"]] += 0.5 * last.step * ends.before.pos / ends.cases_to_first
        last = ends.after if ends.first > 0 else last
        for quota in request.quotas:
            cut = vector[request.at(quota=quota) :][: len(CUT)]
            if quota in ends.cuts:
                above, own = ends.cuts[quota]
                behind = np.where(above < ends.own * (1.0 - 1e-12), ends.own - above, 0.0)
                cut[:] = *(before + above), *behind, *merged_moments(before.sum(), moments, above.sum(), own)[2:]
                open_.remove(quota)
            elif quota not in open_:  # all of this part lies behind the cut
                cut[2:4] = ends.own
        moments = merged_moments(before.sum(), moments, ends.own.sum(), ends.moments)
        before = before + ends.own
    for quota in open_:  # one of everybody that rounding puts behind the last row is cut there
        vectors[-1][request.at(quota=quota) :][: len(CUT)] = *before, 0.0, 0.0, *moments[2:]


class Stream:
    """One pass over the rows of a table, best first."""

    def __init__(
        self,
        totals: Totals,
        readings: Sequence[SweepPlan],
        *,
        tolerance: float = TOLERANCE,
        marks: Sequence[float] = (),
        start: Start = Start(),  # noqa: B008  (a tuple)
        draws: Draws | None = None,
    ) -> None:
        self.totals, self.readings, self.tolerance, self.draws = totals, list(readings), tolerance, draws
        kind = float if isinstance(totals.sums[0], float) else int
        self._dtype = np.float64 if totals.weighted else np.int64
        self._before = Start(kind(start.pos), kind(start.neg))
        self._ends = [Ends(self._before) for _ in self.readings]
        self._starts = [self._before._replace(end=_UNKNOWN_END if start.pos else 0.0) for _ in self.readings]
        self._pieces: list[list[PieceSums]] = [[] for _ in self.readings]
        thresholds = {t for reading in self.readings for t in reading.request.thresholds}
        places = {*marks, *(q for reading in self.readings for q in reading.request.quotas)}
        self._cuts = np.array(sorted(thresholds, reverse=True), dtype=np.float64)
        self._marks = np.array(sorted(places), dtype=np.float64)
        self._open: tuple[float, float, float] | None = None
        self._state = np.zeros(7)
        self._blocks: list[Floats] = []
        self._n_blocks = 0
        self._part = StreamSums([], np.empty((0, 5)), Moments(), Moments())

    def feed(self, score: Floats, positive: NDArray[np.uint8], weight: Floats | None = None, row: Any = None) -> None:
        """Take the next rows."""
        if len(score) == 0:
            return
        out, rows = self._room(len(score)), np.zeros(len(score) + 1, np.int64)
        used = compiled.group_rows(score, positive, weight, self._open is not None, *out, rows)
        self._take(used, out, score)
        if self.draws is not None:
            self.draws.add(row, positive, weight, rows[:used])

    def feed_groups(self, score: Floats, pos: NDArray[Any], neg: NDArray[Any]) -> None:
        """Take the next rows, grouped by score."""
        if len(score) == 0:
            return
        out = self._room(len(score))
        kinds = (pos.astype(self._dtype), neg.astype(self._dtype))
        self._take(compiled.group_groups(score, *kinds, self._open is not None, *out), out, score)

    def finish(self) -> StreamSums:
        """Close the last group and give what was gathered."""
        if self._open is not None:
            value, pos, neg = self._open
            self._sum(np.array([value]), np.array([pos], self._dtype), np.array([neg], self._dtype))
            self._open = None
        part = self._part
        part.ends = [replace(ends, after=start) for ends, start in zip(self._ends, self._starts, strict=True)]
        if self._state[0]:
            self._blocks.append(self._state[1:6].copy()[None, :])
            self._state[:] = 0.0
        part.pieces = [folded(pieces) for pieces in self._pieces if pieces]
        part.blocks = np.concatenate(self._blocks) if self._blocks else part.blocks
        part.counts = self.draws.result(len(part.blocks)) if self.draws is not None else None
        return part

    def _room(self, n: int) -> tuple[Floats, NDArray[Any], NDArray[Any]]:
        out = np.empty(n + 1), np.empty(n + 1, self._dtype), np.empty(n + 1, self._dtype)
        if self._open is not None:
            out[0][0], out[1][0], out[2][0] = self._open
        return out

    def _take(self, used: int, out: tuple[Floats, NDArray[Any], NDArray[Any]], score: Floats) -> None:
        if used < 0:
            at = -1 - used
            before = score[at - 1] if at else self._open[0] if self._open is not None else np.nan
            raise RuntimeError(f"the rows did not come in falling order: {before!r} is followed by {score[at]!r}")
        closed = used - 1
        self._open = (float(out[0][closed]), out[1][closed].item(), out[2][closed].item())
        self._sum(out[0][:closed], out[1][:closed], out[2][:closed])

    def _sum(self, score: Floats, pos: NDArray[Any], neg: NDArray[Any]) -> None:
        """Sum a piece whose groups are complete."""
        if len(score) == 0:
            return
        totals = self.totals
        if isinstance(totals.sums[0], float) and not totals.weighted:
            pos, neg = pos.astype(np.float64), neg.astype(np.float64)
        after = Start(self._before.pos + pos.sum().item(), self._before.neg + neg.sum().item())
        if not totals.weighted and (after.pos > totals.pos or after.neg > totals.neg):
            # tables of the kernels are as long as the totals: nothing may lie beyond
            raise changed("the source", f"it had {totals.rows:,} rows first, then others")
        for k, reading in enumerate(self.readings):
            ranking = Ranking(score, pos, neg, totals.rows, totals.weighted).resolved(reading.ties)
            self._pieces[k].append(self._piece(ranking, k, reading.request))
            if len(self._pieces[k]) >= 64:
                self._pieces[k] = [folded(self._pieces[k])]
        before, part = self._before, self._part
        self._before = after
        if not totals.weighted and totals.pos and totals.neg:
            found = compiled.placement_moments(pos, neg, before.pos, before.neg, totals.sums[0], totals.sums[1])
            part.of_pos = part.of_pos.joined(Moments(float(self._before.pos - before.pos), found[0], found[1]))
            part.of_neg = part.of_neg.joined(Moments(float(self._before.neg - before.neg), found[2], found[3]))
        part.groups += len(score)
        part.largest = max(part.largest, float((pos + neg).max()))
        part.tied += float((pos.astype(np.float64) * neg).sum())
        out, block = np.empty((len(score) + 1, 5)), np.empty(len(score), np.int64)
        cases, sides = float(before.pos + before.neg), np.array([totals.pos, totals.neg], dtype=np.float64)
        how = self.tolerance, self._marks, self._cuts, self._state
        done = compiled.into_blocks(score, pos, neg, cases, sides, *how, out, block)
        if self.draws is not None:
            self.draws.place(self._n_blocks + block)
        self._n_blocks += done
        if done:
            self._blocks.append(out[:done].copy())

    def _piece(self, ranking: Ranking, k: int, request: SumsRequest) -> PieceSums:
        start, ends = self._starts[k], self._ends[k]
        piece = sweep_piece(ranking, start, self.totals.sums, request)
        fill_thresholds(piece.vector, ranking, request)
        here, size = float(start.pos + start.neg), ranking.pos + ranking.neg
        if ends.first == 0 and ranking.n_pos:
            at = int(np.argmax(ranking.pos > 0))
            ends.first, ends.cases_to_first = float(ranking.pos[at]), here + float(size[:at].sum())
        if request.quotas and here < request.quotas[-1]:
            sides, own = np.stack([ranking.pos, ranking.neg]).astype(np.float64), float(ends.own.sum())
            for quota in request.quotas:
                if here < quota <= here + float(size.sum(dtype=np.float64)):
                    taken = np.clip((quota - here - (np.cumsum(size, dtype=np.float64) - size)) / size, 0.0, 1.0)
                    moments = ends.moments.copy()
                    compiled.add_moments(ranking.score, *(sides * taken), own, self.totals.scale, moments)
                    ends.cuts[quota] = ends.own + (sides * taken).sum(axis=1), moments
            compiled.add_moments(ranking.score, *sides, own, self.totals.scale, ends.moments)
        ends.own = ends.own + [side.sum(dtype=np.float64) for side in (ranking.pos, ranking.neg)]
        self._starts[k] = start.after(ranking.pos, ranking.neg)
        return piece

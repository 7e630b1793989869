"""Sorted batches -> everything an evaluation needs, in one pass and in memory that does not grow with the rows.

A Stream takes rows in falling order of score, in batches of any size, and hands each closed piece of the ranking to
the sweep. What it keeps is small: the vectors of sums, the hull, DeLong's moments, and a compact ranking for curves.
A part of a list can be streamed by itself, given what comes before it, and joined with the others afterwards.
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
from ..kernels import compiled
from ..quotas import Quotas, why_no_cut
from ..ranking import Ranking
from ..runtime import TUNING, cores, in_threads
from ..sources.arrays import Sample
from ..sources.sql_table import Totals
from ..sweep import PieceSums, Start, fill_quotas, fill_thresholds, folded, merge, sweep_piece
from ..types import Floats

# What either class may move by within a block of the compact ranking. Chosen by hand: curves are within 0.05% of an
# axis, less than a page shows, and the counts of 200 replicates by block take some 80 MB for each model.
TOLERANCE = 2.0**-11
# Chosen by hand: a tenth of those in memory, as rows that draw their own weights draw for every replicate. 200 of
# them give a standard error to within some 5% (1/√(2·200)).
STREAMED_RESAMPLES = 200
_PORTIONS = 100  # whose cuts are exact: every per cent, as lift tables have them


def poisson_table() -> NDArray[np.uint8]:
    """The quantiles of the Poisson distribution with mean 1 at 2¹⁶ equal steps: 16 random bits give a weight."""
    at = (np.arange(1 << 16) + 0.5) / (1 << 16)
    up_to = np.cumsum(np.exp(-1.0) / np.cumprod(np.array([1.0, *range(1, 20)])))  # P(weight ≤ k)
    return np.searchsorted(up_to, at).astype(np.uint8)


class Draws:
    """Counts of each block in each replicate, by class: added up while the rows stream by."""

    def __init__(self, n_resamples: int, seed: int, *, weighted: bool, rows: int, in_threads: bool = True) -> None:
        self.n_resamples, self.seed, self.in_threads = n_resamples, seed & (2**63 - 1), in_threads
        kind: Any = np.float64 if weighted else np.uint32 if rows < 2**31 else np.uint64
        # line 0 contains the group that is still open, whose block is not known yet
        self._counts = np.zeros((256, 2, -(-n_resamples // 4) * 4), kind)  # one random number gives four weights
        self._table = poisson_table()
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

    def add(
        self, row: NDArray[np.int64] | None, positive: NDArray[np.uint8], weight: Floats | None, rows: NDArray[np.int64]
    ) -> None:
        """Add a batch's rows to their blocks; the last of its groups is still open."""
        place = np.zeros(len(rows), np.int64)
        place[: len(rows) - 1] = self._blocks + 1
        self._blocks = self._blocks[:0]
        weights = np.empty(0) if weight is None else weight
        width = self._counts.shape[2]
        draw = partial(compiled.draw_rows, row, positive, weights, rows, place, self.seed, self._table)
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
    """Measures, their readings and obstacles for a table whose totals are known.

    ``drawn_by_row``: replicates of weighted rows and of paired models, drawn while the rows stream by.
    """

    specs: list[Spec]
    readings: list[SweepPlan]
    obstacles: Mapping[Spec, str]
    tolerance: float
    threshold: float | None
    settings: Settings
    drawn_by_row: int

    @classmethod
    def of(
        cls, request: EvaluationRequest, totals: Totals, *, segment: bool = False, batched: bool = False
    ) -> StreamPlan:
        """Plan a streamed evaluation; in a ``segment`` a quota may be larger than the list, which then has no value.

        Where the list is ``batched``, quotas count in each batch and are not read from the whole list.
        """
        specs = choose_specs(request.measures, threshold=request.threshold, quota=request.quota)
        sample = empty_sample(totals)
        threshold = default_threshold(request.threshold, sample)
        obstacles = {spec: obstacle_of(spec, sample, threshold, request.measures is None) for spec in specs}
        if segment:
            cut = {spec: "" if spec.quota is None else why_no_cut(spec.quota, totals.cases) for spec in specs}
            obstacles = {spec: why or cut[spec] for spec, why in obstacles.items()}
        tolerance = 0.0 if totals.distinct <= TUNING.keep_all_scores else TOLERANCE
        for spec in specs:  # of what is not a sum over the list
            if spec.measure.part == "ranking" and tolerance:
                why = f"needs every place in memory, and the table has some {totals.distinct:,} distinct scores"
                obstacles[spec] = obstacles[spec] or f"{why}: evaluate a sample of the rows"
            elif spec.measure.batch_mean and batched:
                why = "is a mean over batches, whose lists are not kept while a table streams by"
                obstacles[spec] = obstacles[spec] or f"{why}: read it into memory (stream=False)"
        swept = [spec for spec in specs if not obstacles[spec] and not (batched and spec.measure.needs_quota)]
        readings = plan_sweeps(swept, totals.cases)
        if request.settings.interval == "bca" and not batched:
            raise InputError(
                "interval",
                "'bca' leaves out rows in turn, but the rows of this table are not kept in memory",
                "use 'percentile' or 'basic' (at these sizes the correction is far smaller than the interval)",
            )
        settings = request.settings
        by_row = settings.n_resamples if request.resamples is not None else STREAMED_RESAMPLES
        if settings.interval is not None and totals.weighted:
            settings = replace(settings, n_resamples=by_row)
        return cls(specs, [r for r in readings if r.specs], obstacles, tolerance, threshold, settings, by_row)

    def marks(self, cases: float) -> list[float]:
        """Places whose cuts are kept exact: every per cent of the list, as lift tables have them."""
        return [cases * k // _PORTIONS for k in range(1, _PORTIONS + 1)]


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

    def vectors(self) -> list[Floats]:
        """The finished vector of sums of each reading."""
        return [merge([piece]) for piece in self.pieces]


def joined(parts: Sequence[StreamSums]) -> StreamSums:
    """One part from consecutive ones; a part without rows adds nothing."""
    parts = [part for part in parts if part.groups]
    of_pos, of_neg = Moments(), Moments()
    for part in parts:
        of_pos, of_neg = of_pos.joined(part.of_pos), of_neg.joined(part.of_neg)
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


class Stream:
    """One pass over the rows of a table, best first."""

    def __init__(
        self,
        totals: Totals,
        readings: Sequence[SweepPlan],
        *,
        tolerance: float = TOLERANCE,
        marks: Sequence[float] = (),
        start: Start | None = None,
        draws: Draws | None = None,
    ) -> None:
        self.totals, self.readings, self.tolerance, self.draws = totals, list(readings), tolerance, draws
        first = start if start is not None else Start()
        kind = float if isinstance(totals.sums[0], float) else int
        self._dtype = np.float64 if totals.weighted else np.int64
        self._starts = [Start(kind(first.pos), kind(first.neg), first.end, first.step) for _ in self.readings]
        self._before = Start(kind(first.pos), kind(first.neg))
        self._moments = [np.zeros(5) for _ in self.readings]
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

    def feed(
        self,
        score: Floats,
        positive: NDArray[np.uint8],
        weight: Floats | None = None,
        row: NDArray[np.int64] | None = None,
    ) -> None:
        """Take the next rows."""
        if len(score) == 0:
            return
        out, rows = self._room(len(score)), np.zeros(len(score) + 1, np.int64)
        is_open = self._open is not None
        used = compiled.group_rows(score, positive, weight, is_open, *out, rows)
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
        self._close()
        part = self._part
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
            raise RuntimeError(
                f"the rows did not come in falling order of score: {before!r} is followed by {score[at]!r}; the sums "
                "would be wrong, so nothing is reported"
            )
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
            self._pieces[k].append(self._piece(ranking, k, reading))
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
        done = compiled.into_blocks(
            score,
            pos,
            neg,
            float(before.pos + before.neg),
            np.array([totals.pos, totals.neg], dtype=np.float64),
            self.tolerance,
            self._marks,
            self._cuts,
            self._state,
            out,
            block,
        )
        if self.draws is not None:
            self.draws.place(self._n_blocks + block)
        self._n_blocks += done
        if done:
            self._blocks.append(out[:done].copy())

    def _piece(self, ranking: Ranking, k: int, reading: SweepPlan) -> PieceSums:
        start, request = self._starts[k], reading.request
        piece = sweep_piece(ranking, start, self.totals.sums, request)
        fill_thresholds(piece.vector, ranking, request)
        if request.quotas:
            self._cut(ranking, k, reading, piece)
        self._starts[k] = start.after(ranking.pos, ranking.neg)
        return piece

    def _cut(self, ranking: Ranking, k: int, reading: SweepPlan, piece: PieceSums, *, is_last: bool = False) -> None:
        """Cells and spreads at the quotas that end in this piece."""
        fill_quotas(
            piece.vector,
            ranking,
            reading.request,
            self._starts[k],
            self.totals.scale,
            self._moments[k],
            is_last=is_last,
            totals=self.totals.sums,
        )

    def _close(self) -> None:
        """A quota of everybody that rounding puts behind the last row is cut there."""
        nothing = np.empty(0, self._dtype)
        end = Ranking(np.empty(0), nothing, nothing, self.totals.rows, self.totals.weighted)
        for k, reading in enumerate(self.readings):
            if reading.request.quotas and self._pieces[k]:
                nobody = PieceSums(np.zeros(reading.request.width), totals=self.totals.sums)
                self._cut(end, k, reading, nobody, is_last=True)
                self._pieces[k][-1].vector += nobody.vector

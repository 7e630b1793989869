"""What a stream knows of a table whose rows are not in memory: the evidence that its evaluation is made from.

Weighted rows and paired models draw by the Poisson bootstrap while they stream by: a replicate gives each row a weight
from the Poisson distribution with mean 1, by the row's number. That is the ordinary bootstrap without its one
condition, that the weights add up to the number of rows; so a pass in any order, on any thread, gives the same
replicates. Two corrections bring the condition back: quotas are taken as shares of the rows drawn, and what of a
measure's spread is due to the number of rows (or of rows of each class, where the ordinary bootstrap keeps the class
sizes) is taken out by regression. Other rows are drawn by blocks of the ranking after the pass, as in memory.

Replicates are read on the compact ranking: blocks of neighbouring groups count as ties, and the small shift that this
makes, the same in every replicate to first order, is taken out by centring on the exact value.

A batch's list is kept by score where batches and scores make few pairs. Where they make many, neighbouring scores of a
batch are joined, so that neither its cases nor its positives move by more than a small share within a group; the score
at which a quota cuts a batch stays by itself, and no group reaches across a threshold that was asked for. What each
batch has at its quota is therefore exact, and batches are resampled as if their rows were in memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import Computed, SweepPlan, compute, plan_sweeps, threshold_of
from ..catalogue.declare import Spec, parse_measure
from ..errors import InputError
from ..estimate import Settings
from ..inference import batch_rows
from ..inference.bands import hits_by
from ..inference.batch_rows import BatchGroups, BatchRows
from ..inference.closed_forms import Cuts, auc_spread
from ..inference.evidence import GRID, Drawn, Evidence
from ..inference.resampling import Replicates, Resampled, Resampler
from ..kernels import compiled
from ..partition import Partition
from ..ranking import Ranking, rank, tie_starts
from ..runtime import TUNING, cores, in_threads
from ..sources.arrays import Sample
from ..sources.sql_table import Totals
from ..sweep import SumsRequest, counts_at, kernel_request, merge
from ..table import PicklesFields
from ..types import Floats
from .stream import StreamPlan, StreamSums, empty_sample

AXES = ("quota", "fpr")
SHARES = np.linspace(0.0, 1.0, GRID)


def _vectors(request: SumsRequest, ranking: Ranking, middle: Floats, counts: NDArray[Any], ties: Any) -> Floats:
    """The vector of sums of the compact ranking itself, then those of its replicates."""
    n, groups = counts.shape[2] + 1, np.arange(len(ranking))
    dtype: Any = np.float64 if ranking.weighted else np.int64
    out = np.zeros((n, request.width))
    repeat = groups if ties == "expected" else np.repeat(groups, 2)
    above = [int(np.count_nonzero(ranking.score[repeat] > t)) for t in request.thresholds]
    sums = kernel_request(request, middle[repeat], ranking.cases, whole=not ranking.weighted, above=above)

    def sum_some(first: int) -> None:
        for r in range(first, n, cores()):
            pair = (ranking.pos, ranking.neg) if r == 0 else (counts[:, 0, r - 1], counts[:, 1, r - 1])
            pos, neg = (np.ascontiguousarray(side, dtype=dtype) for side in pair)
            drawn = Ranking(ranking.score, pos, neg, ranking.rows).resolved(ties, keep_empty=True)
            compiled.sum_replicate(drawn.pos, drawn.neg, sums, out[r])

    in_threads([partial(sum_some, first) for first in range(cores())])
    return out


@dataclass(frozen=True, eq=False)
class Streamed(PicklesFields, Evidence):
    """A table that was streamed: measures are exact, its rows are not kept.

    ``ranking`` is compact: neighbouring scores are joined to blocks within which neither class moves by more than
    ``tolerance`` of itself, nor the number taken by more than that share of the cases before or behind. Curves pass
    through exact points and are straight between them. Cuts are exact at the quotas and thresholds that were asked
    for, at every per cent of the list, and wherever ``tolerance`` is 0; elsewhere they are within the tolerance.

    ``single`` marks blocks of one score, ``middle`` is the mean score of each block, ``counts`` what rows drew by block
    while they streamed by, ``hits`` the positives that each replicate found, by axis.
    """

    totals: Totals
    ranking: Ranking
    sums: tuple[tuple[SweepPlan, Floats], ...]
    auc: tuple[float, float, float]
    tolerance: float
    ties: Mapping[str, float]
    single: NDArray[np.bool_]
    middle: Floats
    counts: NDArray[Any] | None = None
    hits: Mapping[str, Floats] | None = None

    @classmethod
    def of(cls, part: StreamSums, totals: Totals, job: StreamPlan, *, paired: bool) -> Streamed:
        """What a stream gathered; ``paired`` keeps what each replicate found, for a comparison."""
        kind: Any = np.float64 if totals.weighted else np.int64
        columns = part.blocks[:, 2].astype(kind), part.blocks[:, 3].astype(kind)
        ranking = Ranking(part.blocks[:, 0].copy(), *columns, totals.rows, totals.weighted)
        auc, smaller = (math.nan, math.nan), min(totals.positives, totals.rows - totals.positives)
        freedom = max(smaller - 1.0, 1.0)  # at least so many; exact where every score was kept
        if not job.tolerance and not totals.weighted:
            freedom = auc_spread(ranking.pos, ranking.neg)[2]
        if part.of_pos.n > 1 and part.of_neg.n > 1:
            auc = part.of_pos.mean, sum(m.squares / (m.n - 1) / m.n for m in (part.of_pos, part.of_neg))
        elif totals.weighted and totals.pos and totals.neg:
            auc = auc_spread(ranking.pos, ranking.neg)[:2]
        hits: dict[str, Floats] | None = None
        if paired and part.counts is not None:  # by axis of dominance, replicate and share of the axis
            hits = {axis: np.empty((part.counts.shape[2], len(SHARES))) for axis in AXES}
            for r in range(part.counts.shape[2]):
                pos, neg = (part.counts[:, side, r].astype(np.float64) for side in range(2))
                drawn = Ranking(ranking.score, pos, neg, ranking.rows, ranking.weighted)
                for axis, whole in zip(AXES, (pos.sum() + neg.sum(), neg.sum()), strict=True):
                    hits[axis][r] = hits_by(drawn, axis, SHARES * whole)
        pairs = totals.pos * totals.neg
        ties = {"distinct_scores": part.groups, "largest_tie": part.largest}
        return cls(
            totals,
            ranking,
            tuple((reading, merge([piece])) for reading, piece in zip(job.readings, part.pieces, strict=True)),
            (*auc, freedom),
            job.tolerance,
            {**ties, "tied_pairs": part.tied / pairs if pairs else math.nan},
            part.blocks[:, 4] == 1,
            part.blocks[:, 1] / np.maximum(part.blocks[:, 2] + part.blocks[:, 3], 1e-300),
            part.counts,
            hits,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "counts": None}  # as long as the table's replicates; intervals are made

    @property
    def sample(self) -> Sample:
        """Raises an error: the rows were not kept."""
        said = "row by row results would need the rows of this table, which was streamed: they were not kept in memory"
        raise InputError(None, said, "use a sample of the rows")

    @property
    def units(self) -> float:
        """Rows; what weights leave of them is not known."""
        return float(self.totals.rows)

    @property
    def independent(self) -> bool:
        return not self.totals.weighted

    @property
    def outline(self) -> Sample:
        return empty_sample(self.totals)

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        rows, positives = self.totals.rows, self.totals.positives
        counted = {"rows": rows, "positives": positives, "negatives": rows - positives}
        shares = {"share_positive": positives / rows, **self.ties, "weighted": self.totals.weighted}
        return MappingProxyType({**counted, **shares})

    def compute(self, specs: Sequence[Spec]) -> Computed:
        """The values, from the sums; of a measure that reads every place, from the ranking."""
        values: dict[Spec, float] = {}
        for reading, vector in self.sums:
            values.update(zip(reading.specs, map(float, reading.values(vector)), strict=True))
        for spec in specs:
            if spec.measure.part == "ranking":
                values[spec] = float(spec.measure.compute(self.ranking.resolved(spec.ties), **spec.arguments))
        return Computed(values, self.sums)

    def resamples(self, spec: Spec) -> bool:
        """Weighted rows only if they drew while they streamed by, and no measure that reads every place."""
        return not self.totals.weighted or (self.counts is not None and spec.measure.part != "ranking")

    @cached_property
    def cuts(self) -> Cuts:
        """The cuts of the compact list; its groups are ties where none was joined with its neighbours."""
        return Cuts(self.ranking.pos, self.ranking.neg, ties=bool(self.single.all()))

    def replicate(
        self, wanted: Mapping[Spec, Resampled], settings: Settings, *, paired: bool = False
    ) -> dict[Spec, Replicates]:
        """Of rows that count alike from the ranking, as in memory; else what rows drew while they streamed by."""
        if not self.totals.weighted and not paired:
            return super().replicate(wanted, settings)
        if self.counts is None:
            return {}
        found: dict[Spec, Replicates] = {}
        ranking, counts = self.ranking, self.counts
        drawn = counts.astype(np.float64).sum(axis=0)  # (class, replicate)
        relative = drawn / np.array([[max(ranking.n_pos, 1e-300)], [max(ranking.n_neg, 1e-300)]]) - 1.0
        whole = drawn.sum(axis=0) / (ranking.n_pos + ranking.n_neg) - 1.0
        for reading in plan_sweeps(tuple(wanted), ranking.cases):
            vectors = _vectors(reading.request, ranking, self.middle, counts, reading.ties)
            own, drawn_values = reading.values(vectors[0]), reading.values(vectors[1:])
            for k, spec in enumerate(reading.specs):
                covariates, value = relative if wanted[spec].keeps_classes else whole[None, :], wanted[spec].value
                values = np.array(drawn_values[k], dtype=np.float64)
                known = np.isfinite(values)
                usable = [c for c in covariates if np.ptp(c[known]) > 0] if known.any() else []
                if usable and known.sum() >= 4 * (len(usable) + 1):
                    # less what the covariates, whose mean is 0 by design, explain linearly
                    design = np.column_stack([np.ones(known.sum()), *(c[known] for c in usable)])
                    slopes = np.linalg.lstsq(design, values[known], rcond=None)[0][1:]
                    values[known] -= design[:, 1:] @ slopes
                shift = value - float(own[k])
                found[spec] = Replicates(value, values + (shift if np.isfinite(shift) else 0.0))
        return found

    def resampler(self, settings: Settings, *, stratified: bool, paired: bool = False) -> Resampler:
        return Resampler(None, self.ranking, stratified=stratified, seed=settings.seed, progress=settings.progress)

    def settle(self, point: Any, rows: int | None) -> Any:
        """What is known of single scores only is nan in a block, and so is a correlation that was not asked for."""
        if self.tolerance:
            known = self.sums if self.outline.are_finite else ()
            plans = [(plan.request, sums) for plan, sums in known if plan.ties == "expected"]
            at = [counts_at(sums, asked.at(quota=rows)) for asked, sums in plans if rows in asked.quotas]
            pearson = parse_measure("quota_pearson@1").measure.compute
            point = replace(point, pearson=float(pearson(at[0])) if at else math.nan)
        ends = np.cumsum(self.ranking.pos + self.ranking.neg)
        if rows is not None and point.from_tie > 0 and not self.single[int(np.searchsorted(ends, rows, side="right"))]:
            point = replace(point, **dict.fromkeys(("tied", "from_tie", "hits_worst", "hits_best"), math.nan))
        return point

    def lead(self, axis: str, settings: Settings) -> Drawn:
        """Models are compared where blocks of their rankings end."""
        side = self.ranking.pos + self.ranking.neg if axis == AXES[0] else self.ranking.neg
        places = np.cumsum(side, dtype=np.float64)
        if axis != AXES[0]:
            places = np.concatenate([[0.0], places])
        grid = SHARES * (self.ranking.cases if axis == AXES[0] else self.ranking.n_neg)
        return places, grid, np.full((1, len(grid)), math.nan) if self.hits is None else self.hits[axis]


_FEWEST = 8  # groups that the cases, and the positives, of a batch are joined to at least


class BatchCells:
    """The cases of each batch by score, gathered while rows pass in whose batch scores fall."""

    def __init__(self, sizes: Sequence[Totals], pairs: int, job: StreamPlan, totals: Totals) -> None:
        """``sizes`` are those of each batch, ``pairs`` about so many of a batch and a score."""
        self.cases, n = np.array([one.cases for one in sizes], np.float64), len(sizes)
        self.positives = np.array([float(one.pos) for one in sizes])
        self.exact = pairs <= TUNING.batch_cells
        # an eighth of the groups that are kept as they are: replicates cost as much as there are groups
        self._steps = max(TUNING.batch_cells // (16 * n), _FEWEST)
        self._base = np.cumsum(self.cases) - self.cases
        self._close = 0.25 if not totals.weighted else 1e-12 * float(self.cases.sum())
        every = [batch_rows.quotas_in_batches(spec.quota)[0] for spec in job.specs if spec.quota is not None]
        quotas = dict.fromkeys(quota for some in every for quota in some)  # the first that fails is named
        marks = [self._base + batch_rows.places_in(self.cases, quota) for quota in quotas]
        self._marks = np.sort(np.concatenate([*marks, np.empty(0)]))
        asked = {threshold_of(spec) for spec in job.specs if spec.measure.needs_threshold}
        asked |= set() if job.threshold is None else {job.threshold}
        self._thresholds = np.array(sorted(asked), np.float64)
        low, high = (v if math.isfinite(v) else 0.0 for v in (totals.low, totals.high))
        self._middle, self._spread = (low + high) / 2.0, (high - low) / 2.0 or 1.0
        self._before = np.zeros((2, n))
        self._held: tuple[NDArray[Any], ...] = tuple(np.empty(0, kind) for kind in (np.intp, float, float, float))
        self._found: list[Floats] = []
        self._code_type = np.uint16 if n <= 2**16 else np.intp  # small numbers are sorted by their digits

    def add(self, code: NDArray[np.intp], score: Floats, positive: NDArray[Any], weight: Floats | None) -> None:
        """Take the next rows. Those at the end of a batch that score as the last row wait: more of them may come."""
        if not len(score):
            return
        size = np.ones(len(score)) if weight is None else weight
        fresh: tuple[NDArray[Any], ...] = (code, score, size * (positive != 0), size)
        columns = [np.concatenate(pair) for pair in zip(self._held, fresh, strict=True)]
        order = np.argsort(columns[0].astype(self._code_type), kind="stable")
        groups = batch_rows.group_cases(*(column[order] for column in columns))
        waits = (groups[1] == score[-1]) & np.append(np.diff(groups[0]) != 0, True)
        self._held = tuple(column[waits] for column in groups)
        self._take(*(column[~waits] for column in groups))

    def _take(self, code: NDArray[np.intp], score: Floats, pos: Floats, size: Floats) -> None:
        if not len(code):
            return
        first = tie_starts(code)
        batch, length = code[first], np.diff(np.append(first, len(code)))
        running = []
        for total, own in zip(self._before, (size, pos), strict=True):
            earlier = np.cumsum(own) - own
            running.append(earlier + np.repeat(total[batch] - earlier[first], length))
            total[batch] += np.add.reduceat(own, first)
        start, before = running
        step = self._thresholds.size - np.searchsorted(self._thresholds, score)
        if self.exact:  # each score stays by itself
            table = [code, step, start, score, np.ones(len(code)), score, pos, size]
        else:
            place, finite = np.repeat(self._base[batch], length) + start, np.isfinite(score)
            cuts = []  # before both ends of each row, which rise but for rounding: few are searched for in many
            for end in (place - self._close, place + size + self._close):
                behind = np.searchsorted(np.maximum.accumulate(end), self._marks)
                cuts.append(np.cumsum(np.bincount(behind, minlength=len(end) + 1)[:-1]))
            passed, alone = cuts[0], ~finite | (cuts[1] > cuts[0])
            step = step + passed + (start * np.repeat(self._steps / self.cases[batch], length)).astype(np.int64)
            positives = np.repeat(np.maximum(self.positives[batch], 1e-300), length)
            step += (before * (self._steps / positives)).astype(np.int64)
            x, mean = (score - self._middle) / self._spread, score * size
            if not finite.all():
                x, mean = np.where(finite, x, 0.0), np.where(finite, mean, 0.0)
            table = [code, step, np.where(alone, start, -1.0), score, np.ones(len(code)), mean, pos, size]
            table += batch_rows.sums_of_groups(x, pos, size)
        self._found.append(_joined(table))
        if sum(table.shape[1] for table in self._found) > 4 * TUNING.batch_cells:
            self._found = [_in_order(self._found)]

    def finish(self) -> BatchGroups | None:
        """The groups of all batches; None if no rows came."""
        self._take(*self._held)
        if not self._found:
            return None
        code, _, _, score, groups, mean, pos, size, *sums = _in_order(self._found)
        batch = code.astype(np.intp)
        if self.exact:
            return BatchGroups(batch, score, pos, size)
        joined = groups > 1.0
        return BatchGroups(batch, np.where(joined, mean / size, score), pos, size, joined, np.stack(sums))


def _in_order(found: Sequence[Floats]) -> Floats:
    table = np.concatenate(found, axis=1)
    return _joined(table[:, np.lexsort((table[2], table[1], table[0]))])


def _joined(table: Sequence[NDArray[Any]] | Floats) -> Floats:
    """Neighbours with the same batch, step and place added up; these three, and the score, are those of the first."""
    starts = tie_starts(*table[:3])
    return np.stack([*(row[starts] for row in table[:4]), *(np.add.reduceat(row, starts) for row in table[4:])])


@dataclass(frozen=True, eq=False)
class StreamedBatches(BatchRows):
    """A table in batches that was streamed: ``streamed`` knows the whole list, ``grouped`` the list of each batch."""

    keeps_rows: ClassVar[bool] = False
    streamed: Streamed = field(default=None, repr=False)  # type: ignore[assignment]  # always given

    @classmethod
    def of_groups(cls, streamed: Streamed, groups: BatchGroups, batches: Partition) -> StreamedBatches:
        """From what was gathered of the whole list, and of each batch."""
        neg = groups.size - groups.pos
        at = np.flatnonzero(np.concatenate([groups.pos, neg]) > 0.0)
        weight = np.concatenate([groups.pos, neg])[at]
        score, code = np.tile(groups.score, 2)[at], np.tile(groups.batch, 2)[at]
        totals = streamed.totals
        sample = Sample(at < len(neg), score, weight, totals.low, totals.high)
        unit, own = np.arange(len(batches)), code if len(batches) > 1 else None
        rows = replace(batches, codes=code)
        return cls(sample, streamed.ranking, own, batches=rows, unit_of_batch=unit, grouped=groups, streamed=streamed)

    @property
    def sample(self) -> Sample:
        """Raises an error: the rows were not kept."""
        return self.streamed.sample

    @cached_property
    def drawn(self) -> BatchRows:
        """Rows in memory that stand for those of the table: what replicates are drawn from."""
        assert self.kept is not None
        own: Any = {"batches": self.batches, "unit_of_batch": self.unit_of_batch, "grouped": self.grouped}
        return BatchRows(self.kept, rank(self.kept), self.clusters, **own)

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        counted = {"batches": len(self.batches), "batch_order": self.batches.order}
        return MappingProxyType({**self.streamed.facts, **counted})

    @property
    def outline(self) -> Sample:
        return self.streamed.outline

    @cached_property
    def auc(self) -> tuple[float, float, float]:
        return (*self.streamed.auc[:2], auc_spread(self.ranking.pos, self.ranking.neg)[2])

    @property
    def set_by_design(self) -> bool:
        return False

    def whole_list(self, specs: Sequence[Spec]) -> Computed:
        """Exact sums of the whole list."""
        return self.streamed.compute(specs)

    def resampler(self, settings: Settings, *, stratified: bool, paired: bool = False) -> Resampler:
        return self.drawn.resampler(settings, stratified=stratified, paired=paired)

    def replicate(
        self, wanted: Mapping[Spec, Resampled], settings: Settings, *, paired: bool = False
    ) -> dict[Spec, Replicates]:
        """As in memory; where scores were joined, the small shift that this makes is taken out."""
        found = super().replicate(wanted, settings, paired=paired)
        whole = [spec for spec in wanted if not spec.measure.by_batch]
        for spec, value in compute(whole, self.drawn.ranking).values.items():
            shift = wanted[spec].value - value
            if math.isfinite(shift) and shift:
                found[spec] = replace(found[spec], values=found[spec].values + shift)
        return found

    def band(self, name: str, settings: Settings) -> Any:
        return None

"""Batches of a table that is streamed: one sorted pass gives the sums of the whole list and the list of each batch.

A batch's list is kept by score where batches and scores make few pairs. Where they make many, neighbouring scores of a
batch are joined, so that neither its cases nor its positives move by more than a small share within a group; the score
at which a quota cuts a batch stays by itself, and no group reaches across a threshold that was asked for. What each
batch has at its quota is therefore exact, and batches are resampled as if their rows were in memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import Computed, compute, threshold_of
from ..catalogue.declare import Spec
from ..estimate import Settings
from ..evaluation import Evaluation
from ..inference.batch_rows import (
    BatchGroups,
    BatchLists,
    BatchRows,
    group_cases,
    places_in,
    quotas_in_batches,
    sums_of_groups,
)
from ..inference.paired import Pair, RowPairs
from ..inference.resampling import Replicates, Resampled, Resampler
from ..partition import HashedPartition, Partition
from ..ranking import rank, tie_starts
from ..runtime import TUNING
from ..sources.arrays import Sample
from ..sources.sql_table import Checked, Column, SqlTable, Totals
from ..types import Floats
from .stream import StreamPlan
from .streamed import Streamed, rows_needed


def totals_by(
    table: SqlTable,
    checked: Checked,
    model: str,
    columns: Sequence[Column],
    shown: Sequence[str],
    *,
    distinct: bool = True,
) -> tuple[list[int], list[tuple[Any, ...]], list[Totals]]:
    """For each value (or combination of values) of some columns its key, what is shown of it, and its totals.

    One query counts them all. ``distinct``: also how many scores each has.
    """
    sql, score, positive, whole = table.dialect, checked.scores[model], checked.positive, checked.totals[model]
    weight = checked.weight
    pos, neg = ("count(*)" if weight is None else sql.exact_sum(weight, bits) for bits in whole.weight_bits)
    terms = [
        "count(*)",
        f"count(*) FILTER (WHERE {positive})",
        f"{pos} FILTER (WHERE {positive})",
        f"{neg} FILTER (WHERE NOT {positive})",
        f"approx_count_distinct({score})" if distinct else "0",
        f"sum({score}{f' * {weight}' if weight else ''})",
    ]
    found = table.grouped(checked.kept, [sql.key(columns), *shown], terms)
    cells = [row[1 : 1 + len(shown)] for row in found]
    return [int(row[0]) for row in found], cells, [_totals(row[1 + len(shown) :], whole) for row in found]


def _totals(found: Sequence[Any], whole: Totals) -> Totals:
    rows, positives, pos, neg, distinct, total = found
    sides: list[float] = [int(pos or 0), int(neg or 0)]
    if whole.weighted:
        sides = [math.ldexp(float(side), -bits) for side, bits in zip(sides, whole.weight_bits, strict=True)]
    own: dict[str, Any] = {"rows": int(rows), "positives": int(positives), "pos": sides[0], "neg": sides[1]}
    own |= {"dropped": 0, "distinct": int(distinct), "sum": float(total)}
    return replace(whole, **own)  # the ends of all scores hold for each part


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
        every = (spec.quota for spec in job.specs if spec.quota is not None)
        quotas = dict.fromkeys(
            q for quota in every for q in quotas_in_batches(quota)[0]
        )  # the first that fails is named
        marks = [self._base + places_in(self.cases, quota) for quota in quotas]
        self._marks = np.sort(np.concatenate([*marks, np.empty(0)]))
        asked = {threshold_of(spec) for spec in job.specs if spec.measure.needs_threshold}
        asked |= set() if job.threshold is None else {job.threshold}
        self._thresholds = np.array(sorted(asked), np.float64)
        low, high = (v if math.isfinite(v) else 0.0 for v in (totals.low, totals.high))
        self._middle, self._spread = (low + high) / 2.0, (high - low) / 2.0 or 1.0
        self._before = np.zeros((2, n))
        self._held: tuple[NDArray[Any], ...] = tuple(np.empty(0, kind) for kind in (np.intp, float, float, float))
        self._found: list[Floats] = []
        self._kept = 0
        self._code_type = np.uint16 if n <= 2**16 else np.intp  # small numbers are sorted by their digits

    def add(self, code: NDArray[np.intp], score: Floats, positive: NDArray[Any], weight: Floats | None) -> None:
        """Take the next rows. Those at the end of a batch that score as the last row wait: more of them may come."""
        if not len(score):
            return
        size = np.ones(len(score)) if weight is None else weight
        fresh: tuple[NDArray[Any], ...] = (code, score, size * (positive != 0), size)
        columns = [np.concatenate(pair) for pair in zip(self._held, fresh, strict=True)]
        order = np.argsort(columns[0].astype(self._code_type), kind="stable")
        groups = group_cases(*(column[order] for column in columns))
        waits = (groups[1] == score[-1]) & np.append(np.diff(groups[0]) != 0, True)
        self._held = tuple(column[waits] for column in groups)
        self._take(*(column[~waits] for column in groups))

    def _take(self, code: NDArray[np.intp], score: Floats, pos: Floats, size: Floats) -> None:
        if not len(code):
            return
        first = tie_starts(code)
        batch, length = code[first], np.diff(np.append(first, len(code)))

        def in_rows(values: Floats) -> Floats:
            return np.repeat(values, length)

        running = []
        for total, own in zip(self._before, (size, pos), strict=True):
            earlier = np.cumsum(own) - own
            running.append(earlier + in_rows(total[batch] - earlier[first]))
            total[batch] += np.add.reduceat(own, first)
        start, before = running
        step = self._thresholds.size - np.searchsorted(self._thresholds, score)
        if self.exact:  # each score stays by itself
            table = [code, step, start, score, np.ones(len(code)), score, pos, size]
        else:
            place, finite = in_rows(self._base[batch]) + start, np.isfinite(score)
            passed = self._marks_before(place - self._close)
            alone = ~finite | (self._marks_before(place + size + self._close) > passed)
            step = step + passed + (start * in_rows(self._steps / self.cases[batch])).astype(np.int64)
            step += (before * in_rows(self._steps / np.maximum(self.positives[batch], 1e-300))).astype(np.int64)
            x, mean = (score - self._middle) / self._spread, score * size
            if not finite.all():
                x, mean = np.where(finite, x, 0.0), np.where(finite, mean, 0.0)
            table = [code, step, np.where(alone, start, -1.0), score, np.ones(len(code)), mean, pos, size]
            table += sums_of_groups(x, pos, size)
        self._found.append(_joined(table))
        self._kept += self._found[-1].shape[1]
        if self._kept > 4 * TUNING.batch_cells:
            self._found = [_in_order(self._found)]
            self._kept = self._found[0].shape[1]

    def _marks_before(self, places: Floats) -> NDArray[np.intp]:
        """How many cuts lie before each of some places, which rise but for rounding: few are searched for in many."""
        behind = np.searchsorted(np.maximum.accumulate(places), self._marks)
        return np.cumsum(np.bincount(behind, minlength=len(places) + 1)[:-1])

    @property
    def is_empty(self) -> bool:
        """Whether no rows came."""
        return not self._found and not len(self._held[0])

    def finish(self) -> BatchGroups:
        """The groups of all batches."""
        self._take(*self._held)
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


@dataclass(frozen=True)
class BatchSizes:
    """The batches in order, the number of each row's batch by its key, and what each batch contains."""

    batches: Partition
    numbers: HashedPartition
    totals: list[Totals]
    pairs: int  # of a batch and a score, about

    @classmethod
    def of(cls, table: SqlTable, checked: Checked, model: str) -> BatchSizes:
        """Counted by one query, and one for the pairs of long tables."""
        sql, score, rows = table.dialect, checked.scores[model], checked.totals[model].rows
        key, shown = sql.key(checked.batch), [column.comparable for column in checked.batch]
        keys, cells, totals = totals_by(table, checked, model, checked.batch, shown, distinct=False)
        pairs = min(rows, checked.totals[model].distinct)  # a score makes at least one pair
        if pairs <= TUNING.batch_cells < rows:
            here = f"FILTER (WHERE {checked.kept or 'true'})"
            pairs = int(table.aggregate([f"approx_count_distinct({sql.hash(key, score)}) {here}"])[0])
        named = Partition.of([cell for (cell,) in cells], "batch")
        ordered = [totals[k] for k in np.argsort(named.codes).tolist()]
        return cls(named, HashedPartition.of(keys, named.codes), ordered, pairs)

    def cells(self, job: StreamPlan, totals: Totals) -> BatchCells:
        """What gathers the lists."""
        return BatchCells(self.totals, self.pairs, job, totals)


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
        raise rows_needed("row by row results")

    @cached_property
    def drawn(self) -> BatchRows:
        """Rows in memory that stand for those of the table: what replicates are drawn from."""
        assert self.kept is not None
        own: Any = {"batches": self.batches, "unit_of_batch": self.unit_of_batch, "grouped": self.grouped}
        return BatchRows(self.kept, rank(self.kept), self.clusters, **own)

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """Those of the rows, and the number of batches."""
        own = {"batches": len(self.batches), "batch_order": self.batches.order}
        return MappingProxyType({**self.streamed.facts, **own})

    @property
    def are_probabilities(self) -> bool:
        return self.streamed.are_probabilities

    @property
    def are_finite(self) -> bool:
        return self.streamed.are_finite

    @property
    def auc(self) -> tuple[float, float]:
        return self.streamed.auc

    @property
    def set_by_design(self) -> bool:
        return False

    def lists(self) -> BatchLists:
        """The list of each batch."""
        return self.drawn.lists()

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
        return self.streamed.band(name, settings)


@dataclass(frozen=True, eq=False)
class StreamedBatchPairs(RowPairs):
    """Pairs of models of a table in batches that was streamed; ``smaller`` is the size of the smaller class."""

    smaller: int = 0

    @classmethod
    def between(cls, evaluations: Mapping[str, Evaluation]) -> StreamedBatchPairs:
        """Every two models whose batches were gathered."""
        facts = next(iter(evaluations.values())).facts
        rows = {name: ev.rows.drawn for name, ev in evaluations.items() if isinstance(ev.rows, StreamedBatches)}
        known = RowPairs.of(evaluations, paired=True).specs
        return cls(rows, known, True, smaller=min(facts["positives"], facts["negatives"]))

    def _smaller_class(self, pair: Pair) -> int:
        return self.smaller

    def _same_scores(self, pair: Pair) -> bool:
        return False  # no rows are left to be compared

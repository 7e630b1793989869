"""Batches of a table that is streamed: one sorted pass gives the sums of the whole list and the list of each batch.

A batch's list is kept by score where batches and scores make few pairs. Where they make many, neighbouring scores of a
batch are joined, so that neither its cases nor its positives move by more than a small share within a group; the score
at which a quota cuts a batch stays by itself, and no group reaches across a threshold that was asked for. What each
batch holds at its quota is therefore exact, and batches are resampled as if their rows were in memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from ..batches import Batches, BatchGroups, BatchLists
from ..catalogue.compute import Computed, compute
from ..catalogue.declare import Spec
from ..evaluation import Evaluation
from ..inference.batches import BatchRows
from ..inference.bootstrap import Replicates, Resampled
from ..inference.differences import DifferenceTest, mover_limits
from ..inference.evidence import Drawn
from ..inference.paired import Pair, RowPairs
from ..inference.resampling import Resampler
from ..inference.settings import Settings
from ..ranking import Ties, rank
from ..sources.arrays import Sample
from ..sources.tables import Checked, Table
from ..tuning import TUNING
from .batch_cells import BatchCells
from .keyed import Numbering, totals_by
from .request import Job
from .stream import Totals
from .streamed import Streamed, rows_needed


@dataclass(frozen=True)
class BatchSizes:
    """The batches in order, the number of each row's batch by its key, and what each batch holds."""

    batches: Batches
    numbers: Numbering
    totals: list[Totals]
    pairs: int  # of a batch and a score, about

    @classmethod
    def of(cls, table: Table, checked: Checked, model: str) -> BatchSizes:
        """Counted by one query, and one for the pairs of long tables."""
        assert checked.batch is not None
        sql, score, rows = table.dialect, checked.scores[model], checked.totals[model].rows
        key, shown = sql.key([checked.batch]), [checked.batch.comparable]
        keys, cells, totals = totals_by(table, checked, model, [checked.batch], shown, distinct=False)
        pairs = rows
        if rows > TUNING.batch_cells:
            here = f"FILTER (WHERE {checked.kept or 'true'})"
            pairs = int(table.aggregate([f"approx_count_distinct({sql.hash(key, score)}) {here}"])[0])
        named = Batches.of([cell for (cell,) in cells])
        ordered = [totals[k] for k in np.argsort(named.code).tolist()]
        return cls(named, Numbering.of(keys, named.code), ordered, pairs)

    def cells(self, job: Job, totals: Totals) -> BatchCells:
        """What gathers the lists."""
        return BatchCells(self.totals, self.pairs, job, totals)


@dataclass(frozen=True, eq=False)
class StreamedBatches(BatchRows):
    """A table in batches that was streamed: ``streamed`` knows the whole list, ``grouped`` the list of each batch."""

    keeps_rows: ClassVar[bool] = False
    streamed: Streamed = field(default=None, repr=False)  # type: ignore[assignment]  # always given

    @classmethod
    def of_groups(cls, streamed: Streamed, groups: BatchGroups, batches: Batches) -> StreamedBatches:
        """From what was gathered of the whole list, and of each batch."""
        neg = groups.size - groups.pos
        at = np.flatnonzero(np.concatenate([groups.pos, neg]) > 0.0)
        weight = np.concatenate([groups.pos, neg])[at]
        score, code = np.tile(groups.score, 2)[at], np.tile(groups.batch, 2)[at]
        totals = streamed.totals
        sample = Sample(at < len(neg), score, weight, totals.low, totals.high)
        unit, own = np.arange(len(batches)), code if len(batches) > 1 else None
        rows = replace(batches, code=code)
        return cls(sample, streamed.ranking, own, batches=rows, unit_of_batch=unit, grouped=groups, streamed=streamed)

    @property
    def sample(self) -> Sample:
        """Refused: the rows were not kept."""
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

    @property
    def is_long(self) -> bool:
        return False

    def lists(self, ties: Ties = "expected") -> BatchLists:
        """The list of each batch."""
        return self.drawn.lists(ties)

    def whole_list(self, specs: Sequence[Spec]) -> Computed:
        """Exact sums of the whole list."""
        return self.streamed.compute(specs)

    def resampler(self, settings: Settings, *, stratified: bool) -> Resampler:
        return self.drawn.resampler(settings, stratified=stratified)

    def replicate(self, wanted: Mapping[Spec, Resampled], settings: Settings) -> dict[Spec, Replicates]:
        """As in memory; where scores were joined, the small shift that this makes is taken out."""
        found = super().replicate(wanted, settings)
        whole = [spec for spec in wanted if not spec.measure.needs_quota]
        for spec, value in compute(whole, self.drawn.ranking).values.items():
            shift = wanted[spec].value - value
            if math.isfinite(shift) and shift:
                one = found[spec]
                found[spec] = replace(one, values=one.values + shift, left_out=one.left_out + shift)
        return found

    def band(self, name: str, settings: Settings) -> Any:
        return self.streamed.band(name, settings)

    def lead(self, axis: str, settings: Settings) -> Drawn:
        return self.drawn.lead(axis, settings)


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
        return cls(rows, known, True, min(facts["positives"], facts["negatives"]))

    def _smaller_class(self, pair: Pair) -> int:
        return self.smaller

    def _by_swaps(self, pair: Pair) -> DifferenceTest:
        """Where nothing varies between batches: both own intervals, as no rows are left to be swapped."""
        rows = self.rows[pair.a]
        low, high = mover_limits(*((e.value, e.interval) for e in pair.singles))
        low, high = max(low, -pair.widest), min(high, pair.widest)
        if pair.difference == 0.0:
            return DifferenceTest(low, high, math.nan, 1.0, "mover")
        if pair.spec.measure.needs_quota:
            return DifferenceTest(low, high, math.nan, 2.0 ** (1.0 - rows.units), "sign flips, mover")
        return DifferenceTest(low, high, math.nan, math.nan, "mover")

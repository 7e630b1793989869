"""The lists of a table that is streamed: what to sum of each segment, of each batch and of all rows; then the results.

One pass over the sorted rows feeds them all, whatever engine sorts them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from ..catalogue.compute import default_threshold, threshold_of
from ..comparison import Comparison
from ..decide.selection import SharedList
from ..errors import InputError
from ..evaluation import Evaluation, evaluation_of
from ..inference.batch_rows import BatchGroups
from ..inference.evidence import Evidence
from ..inference.intervals import check_method_exists
from ..inference.paired import StreamedPairs
from ..inference.segment_tests import selection_rates
from ..partition import HashedPartition, Partition, label_of
from ..quotas import Quotas, resolve_quota, why_no_cut
from ..segments import SegmentComparison, SegmentedRows, Segments
from ..sources.arrays import Codes
from ..sources.sql_table import Checked, SqlTable, Totals, check_same
from ..types import Floats
from .batch_stream import BatchSizes, StreamedBatches, StreamedBatchPairs, totals_by
from .stream import Draws, EvaluationRequest, Stream, StreamPlan, StreamSums, empty_sample
from .streamed import Streamed, needs_rows
from .streamed_pairs import (
    Discordant,
    Gaps,
    comparison_of,
    discordant_rows,
    gaps_between,
)


class ListPlan:
    """What to sum of one model's scores: the list of each segment, and behind them that of all rows.

    Rows of a segment or a batch are told by ``key``, SQL for a whole number, and ``numbers``; None where all rows are
    one list. ``kept`` takes the replicates of each list, for a comparison.
    """

    def __init__(
        self, table: SqlTable, checked: Checked, model: str, request: EvaluationRequest, *, paired: bool = False
    ) -> None:
        self.table, self.checked, self.model = table, checked, model
        self.whole = checked.totals[model]
        self.key: str | None = None
        self.numbers: HashedPartition | None = None
        self.sizes: BatchSizes | None = None
        self.keys: list[Any] = []
        self.totals: list[Totals] = [self.whole]
        self.threshold = default_threshold(request.threshold, empty_sample(self.whole))
        request = replace(request, threshold=self.threshold)
        self.places: int | None = None  # of the one list that segments share
        if checked.segments:
            self._divide()
            if request.quota is not None and not isinstance(request.quota, Quotas):
                self.places = resolve_quota(request.quota, self.whole.cases)
        elif checked.batch:
            self.key, self.sizes = table.dialect.key(checked.batch), BatchSizes.of(table, checked, model)
            self.numbers = self.sizes.numbers
        self.window: list[float] = []  # the cut of that list, and three standard deviations around it
        if self.places is not None:
            places, cases = self.places, self.whole.cases
            half = max(3.0 * math.sqrt(max(places * (1.0 - places / cases), 1.0)), 1.0)
            half = max(min(half, places, cases - places), 1.0)
            self.window = [max(places - half, 0.5), places, min(places + half, cases)]
        self.jobs = [StreamPlan.of(request, one, segment=True) for one in self.totals[:-1]]
        self.jobs.append(StreamPlan.of(request, self.whole, batched=self.sizes is not None))
        self.quota = request.quota
        # batches are drawn from what each contains
        rows_draw = needs_rows(self.settings, weighted=self.whole.weighted, paired=paired)
        self.by_row = rows_draw and self.sizes is None
        self.kept: list[dict[str, Floats]] | None = [{} for _ in self.totals] if paired else None

    def _divide(self) -> None:
        """Find the segments, in their order, and what each of them contains."""
        columns = self.checked.segments
        self.key = self.table.dialect.key(columns)
        shown = [column.comparable for column in columns]
        found, cells, totals = totals_by(self.table, self.checked, self.model, columns, shown)
        segments = Partition.of({column.name: [row[k] for row in cells] for k, column in enumerate(columns)})
        self.numbers = HashedPartition.of(found, segments.codes)
        self.keys = list(segments.keys)
        self.totals = [*(totals[k] for k in np.argsort(segments.codes).tolist()), self.whole]

    def codes(self, piece: Mapping[str, Any]) -> Codes | None:
        """The segment or batch of each row of a piece; None where all rows are one list."""
        return None if self.numbers is None else self.numbers(piece["key"])

    @property
    def settings(self) -> Any:
        """How intervals are made."""
        return self.jobs[-1].settings

    @property
    def names(self) -> list[str]:
        """The segments as tables name them."""
        return [label_of(key) for key in self.keys]

    def marks(self, k: int) -> list[float]:
        """Places whose cuts are kept exact; of all rows, those around the cut of the shared list too."""
        own = self.jobs[k].marks(self.totals[k].cases)
        return [*own, *self.window] if k == len(self.keys) else own

    def stream(self, k: int) -> Stream:
        """What takes the rows of a segment, or all rows."""
        job, totals, draws = self.jobs[k], self.totals[k], None
        if self.by_row:
            draws = Draws(job.drawn_by_row, job.settings.seed, weighted=totals.weighted, rows=totals.rows)
        return Stream(totals, job.readings, tolerance=job.tolerance, marks=self.marks(k), draws=draws)

    def evaluation(self, k: int, part: StreamSums, groups: BatchGroups | None = None) -> Evaluation:
        """The evaluation of a segment, or of all rows, from what was gathered; ``groups`` are the lists of batches."""
        totals, job = self.totals[k], self.jobs[k]
        check_same(self.table.name, totals, *part.blocks[:, [2, 3, 1]].T)
        replicates_out, settings = None if self.kept is None else self.kept[k], job.settings
        streamed = Streamed.of(part, totals, job, paired=replicates_out is not None and groups is None)
        rows: Evidence = streamed
        if groups is not None and self.sizes is not None:
            rows = batches = StreamedBatches.of_groups(streamed, groups, self.sizes.batches)
            settings = settings if batches.n_units > 1 else replace(settings, interval=None)
        is_segment = k < len(self.keys)
        too_large = is_segment and self.quota is not None and why_no_cut(self.quota, totals.cases)
        ev = evaluation_of(
            rows,
            job.specs,
            job.obstacles,
            settings,
            name=self.names[k] if is_segment else self.model,
            threshold=job.threshold,
            quota=None if too_large else self.quota,
            replicates_out=replicates_out,
            dropped=None if is_segment else totals.dropped,  # rows are dropped from the table, not from a segment
        )
        if not is_segment:
            check_method_exists(ev.estimates.values(), settings.interval)
        return ev

    def result(self, found: Sequence[Evaluation]) -> Evaluation | Segments:
        """The segments, from the evaluation of each and of all rows; the last alone where there are no segments."""
        if not self.checked.segments:
            return found[-1]
        lists: dict[tuple[str, float], SharedList] = {}
        if self.places is not None:
            ranking = found[-1].ranking  # the places of the window are groups of their own
            ends = np.cumsum(ranking.pos + ranking.neg, dtype=np.float64)
            at = np.minimum(np.searchsorted(ends, np.asarray(self.window) * (1.0 - 1e-12)), len(ends) - 1)
            lists["quota", float(self.places)] = self._list(self.places, ranking.score[at].tolist())
        if self.threshold is not None:
            lists["threshold", self.threshold] = self._list(None, [self.threshold] * 3)
        understood = "; ".join((*getattr(self.table, "understood", ()), *self.checked.understood))
        pool = StreamedSegments(replace(found[-1], understood=understood), lists)
        return Segments(dict(zip(self.keys, found[:-1], strict=True)), self.by, pool)

    @property
    def by(self) -> tuple[str, ...]:
        """The columns that make segments."""
        return tuple(column.name for column in self.checked.segments)

    def _list(self, quota: int | None, cut: Sequence[float]) -> SharedList:
        """One list for all, from cases above, at and below the cut: by one query for all segments."""
        assert self.key is not None
        assert self.numbers is not None
        upper, edge, lower = (f"CAST('{v!r}' AS DOUBLE)" for v in cut)
        checked, names = self.checked, self.names
        score, weight = checked.scores[self.model], checked.weight or "CAST(1 AS DOUBLE)"
        cell = f"CASE WHEN {score} > {edge} THEN 2 WHEN {score} = {edge} THEN 1 ELSE 0 END"
        near = f"{score} <= {upper} AND {score} >= {lower}"
        sums = [f"sum({weight})", f"sum({weight} * {weight})", f"sum({weight}) FILTER (WHERE {checked.positive})"]
        rows = self.table.grouped(checked.kept, [self.key, cell], [*sums, f"sum({weight}) FILTER (WHERE {near})"])
        segment, cells = (np.array([int(row[k]) for row in rows]) for k in (0, 1))
        segment = self.numbers(segment)
        w, w2, pos, close = (np.array([float(row[k] or 0.0) for row in rows]) for k in (2, 3, 4, 5))
        inside = 0.0
        if quota is not None:
            inside = (quota - float(w[cells == 2].sum())) / max(float(w[cells == 1].sum()), 1e-300)
        taken = np.where(cells == 2, 1.0, np.where(cells == 1, min(max(inside, 0.0), 1.0), 0.0))
        k = len(names)
        around = np.bincount(segment, weights=close, minlength=k).astype(np.float64) if quota is not None else None
        whole = self.whole.rows
        rates = selection_rates(taken, w, segment, k, None, around, w2, whole)
        hits, positives = (np.bincount(segment, weights=v, minlength=k).astype(np.float64) for v in (pos * taken, pos))
        at = {"threshold": cut[1]} if quota is None else {"quota": float(quota)}
        return SharedList(tuple(names), at, cut[1], rates, hits, positives, None, self.settings.level)


def compared(
    plans: Mapping[str, ListPlan],
    found: Mapping[str, Sequence[Evaluation]],
    margin: float | None,
    add_rows: Callable[[Sequence[Gaps | None]], None],
) -> Comparison | SegmentComparison:
    """The comparison of models on all rows and in each segment, if there are any.

    ``add_rows`` gives every row to the gaps of its segment, and to those of all rows, the last.
    """
    plan = next(iter(plans.values()))
    lists = [{model: evs[k] for model, evs in found.items()} for k in range(len(plan.totals))]
    drawn = [{model: (p.kept or [])[k] for model, p in plans.items()} for k in range(len(plan.totals))]
    if plan.sizes is not None:
        return comparison_of(lists[-1], drawn[-1], margin, StreamedBatchPairs.between(lists[-1]))
    first = next(iter(lists[-1].values()))
    closed_forms = first.rows.independent and first.settings.interval is not None and len(plans) > 1
    gaps = [gaps_between(evaluations) if closed_forms else None for evaluations in lists]
    if any(one is not None for one in gaps):
        add_rows(gaps)
    decided = [spec for spec in first.specs.values() if spec.measure.paired_test == "decisions"]
    thresholds = sorted({threshold_of(spec) for spec in decided}) if closed_forms else []
    counted: list[Discordant] = [{} for _ in lists]
    if thresholds:
        counted[-1] = discordant_rows(plan.table, plan.checked, thresholds)[()]
    if thresholds and plan.key is not None and plan.numbers is not None:
        for (key,), one in discordant_rows(plan.table, plan.checked, thresholds, [plan.key]).items():
            counted[int(plan.numbers(np.array([key]))[0])] = one
    unknown = dict.fromkeys(combinations(plans, 2), math.nan)
    spreads = [unknown if own is None else own.variances() for own in gaps]
    pairs = [StreamedPairs(first.rows.independent, *one) for one in zip(spreads, counted, strict=True)]
    *made, whole = (comparison_of(evs, own, margin, p) for evs, own, p in zip(lists, drawn, pairs, strict=True))
    if not plan.checked.segments:
        return whole
    models: Any = {model: p.result(found[model]) for model, p in plans.items()}
    return SegmentComparison(dict(zip(plan.keys, made, strict=True)), whole, models, plan.by)


@dataclass(frozen=True, eq=False)
class StreamedSegments(SegmentedRows):
    """All rows of a streamed table: the evaluation of them, and the lists that were asked for."""

    whole: Evaluation
    lists: Mapping[tuple[str, float], SharedList]

    def shared_list(
        self, segments: Sequence[str], quota: int | float | None, threshold: float | None, **how: Any
    ) -> SharedList:
        """One of the lists that were asked for."""
        what = ("quota", float(quota)) if quota is not None else ("threshold", float(threshold or 0.0))
        if what not in self.lists:
            said = f"is {what[1]:g}, but this table was streamed and its list was cut elsewhere"
            raise InputError(what[0], said, f"pass {{{what[0]}}} to evaluate()")
        return replace(self.lists[what], **how)

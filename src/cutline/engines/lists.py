"""The lists of a table that is streamed: what to sum of each segment, of each batch and of all rows; then the results.

One pass over the sorted rows feeds them all, whatever engine sorts them: here DuckDB, in ``spark_engine`` a cluster.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..catalogue.compute import SweepPlan, default_threshold
from ..comparison import Comparison, common_threshold
from ..decide.selection import SharedList
from ..errors import InputError
from ..estimate import FROM_REPLICATES
from ..evaluation import Evaluation, evaluation_of
from ..inference.batch_rows import BatchGroups
from ..inference.evidence import Evidence
from ..inference.intervals import check_method_exists
from ..inference.paired import RowPairs, StreamedPairs
from ..inference.segment_tests import selection_rates
from ..partition import HashedPartition, Partition, label_of
from ..quotas import Quotas, resolve_quota, why_no_cut
from ..runtime import TUNING, Progress
from ..segments import SegmentComparison, SegmentedRows, Segments
from ..sources.duckdb import DuckTable
from ..sources.sql_table import Checked, SqlTable, Totals, check_same
from ..sweep import Start
from ..types import Floats
from .stream import Draws, EvaluationRequest, Stream, StreamPlan, StreamSums, empty_sample, joined
from .streamed import BatchCells, Streamed, StreamedBatches


class ListPlan:
    """What to sum of one model's scores: the list of each segment, and behind them that of all rows.

    Rows of a segment or a batch are told by ``key``, SQL for a whole number, and ``numbers``; None where all rows are
    one list. ``batches`` contain ``in_batches``. ``kept`` takes the replicates of each list, for a comparison.
    """

    def __init__(
        self, table: SqlTable, checked: Checked, model: str, request: EvaluationRequest, *, paired: bool = False
    ) -> None:
        self.table, self.checked, self.model = table, checked, model
        self.whole = checked.totals[model]
        self.key: str | None = None
        self.numbers: HashedPartition | None = None
        self.keys: list[Any] = []
        self.totals: list[Totals] = [self.whole]
        self.batches: Partition | None = None
        self.in_batches: list[Totals] = []
        self.threshold = default_threshold(request.threshold, empty_sample(self.whole))
        request = replace(request, threshold=self.threshold)
        self.by = tuple(column.name for column in checked.segments)
        if checked.segments or checked.batch:
            self._divide()
        self.places: int | None = None  # of the one list that segments share
        self.window: list[float] = []  # the cut of that list, and three standard deviations around it
        if self.keys and request.quota is not None and not isinstance(request.quota, Quotas):
            self.places = places = resolve_quota(request.quota, self.whole.cases)
            cases = self.whole.cases
            half = max(3.0 * math.sqrt(max(places * (1.0 - places / cases), 1.0)), 1.0)
            half = max(min(half, places, cases - places), 1.0)
            self.window = [max(places - half, 0.5), places, min(places + half, cases)]
        self.jobs = [StreamPlan.of(request, one, segment=True) for one in self.totals[:-1]]
        self.jobs.append(StreamPlan.of(request, self.whole, batched=self.batches is not None))
        self.settings = self.jobs[-1].settings
        self.quota = request.quota
        # Weighted rows, and rows that must match other models' rows, draw one by one, while they stream by. Others are
        # drawn block by block, after the pass: the Poisson weights of a block of c rows add up to a Poisson number with
        # mean c. Batches are drawn from what each contains.
        interval, weighted = self.settings.interval, self.whole.weighted
        resampled = interval in ("auto", "bootstrap", *FROM_REPLICATES)
        rows_draw = (weighted and resampled) or (paired and interval is not None)
        self.by_row = rows_draw and self.batches is None
        self.kept: list[dict[str, Floats]] | None = [{} for _ in self.totals] if paired else None

    def _divide(self) -> None:
        """Find the segments or batches, in their order, and by one query what each of them contains."""
        checked, sql, whole = self.checked, self.table.dialect, self.whole
        columns, score, positive = checked.segments or checked.batch, checked.scores[self.model], checked.positive
        self.key, shown = sql.key(columns), [column.comparable for column in columns]
        few_scores = whole.distinct <= TUNING.batch_cells < whole.rows  # of which batches may make few or many pairs
        pos, neg = (sql.exact_sum(checked.weight, k) if checked.weight else "count(*)" for k in whole.weight_bits)
        terms = [
            "count(*)",
            f"count(*) FILTER (WHERE {positive})",
            f"{pos} FILTER (WHERE {positive})",
            f"{neg} FILTER (WHERE NOT {positive})",
            f"approx_count_distinct({score})" if checked.segments or few_scores else "0",
            f"sum({score}{f' * {checked.weight}' if checked.weight else ''})",
        ]
        found = self.table.grouped(checked.kept, [self.key, *shown], terms)
        cells = [[row[1 + k] for row in found] for k in range(len(shown))]
        named = dict(zip(self.by, cells, strict=True)) if checked.segments else {}
        parts = Partition.of(named) if named else Partition.of(cells[0], "batch")
        self.numbers = HashedPartition.of([int(row[0]) for row in found], parts.codes)
        totals = []
        for row in sorted(zip(parts.codes.tolist(), found, strict=True), key=lambda pair: pair[0]):
            rows, positives, *sides, distinct, total = row[1][1 + len(shown) :]
            sides = [int(side or 0) for side in sides]
            if whole.weighted:
                sides = [math.ldexp(float(side), -bits) for side, bits in zip(sides, whole.weight_bits, strict=True)]
            own: dict[str, Any] = {"rows": int(rows), "positives": int(positives), "pos": sides[0], "neg": sides[1]}
            own |= {"dropped": 0, "distinct": int(distinct), "sum": float(total)}
            totals.append(replace(whole, **own))  # the ends of all scores hold for each part
        if checked.segments:
            self.keys, self.totals = list(parts.keys), [*totals, whole]
        else:
            self.batches, self.in_batches = parts, totals

    def cells(self) -> BatchCells | None:
        """What gathers the lists of batches; None where there are none."""
        if self.batches is None:
            return None
        # of a batch and a score: a score makes at least one
        pairs = sum(one.distinct for one in self.in_batches) or min(self.whole.rows, self.whole.distinct)
        return BatchCells(self.in_batches, pairs, self.jobs[-1], self.whole)

    def stream(self, k: int, before: tuple[float, float] = (0, 0), *, in_threads: bool = True) -> Stream:
        """What takes the rows of a segment, or all rows behind so many cases; measures do not travel with it."""
        job, totals, draws = self.jobs[k], self.totals[k], None
        if self.by_row:
            sizes: dict[str, Any] = {"weighted": totals.weighted, "rows": totals.rows}
            draws = Draws(job.drawn_by_row, job.settings.seed, **sizes, in_threads=in_threads)
        marks = [totals.cases * percent // 100 for percent in range(1, 101)]  # kept exact, as lift tables have them
        marks += self.window if k == len(self.keys) else []
        readings = [SweepPlan((), reading.request, reading.cases, reading.ties) for reading in job.readings]
        return Stream(totals, readings, tolerance=job.tolerance, marks=marks, start=Start(*before), draws=draws)

    def evaluation(self, k: int, parts: Sequence[StreamSums], groups: BatchGroups | None = None) -> Evaluation:
        """The evaluation of a segment, or of all rows, from what was gathered; ``groups`` are the lists of batches."""
        totals, job = self.totals[k], self.jobs[k]
        part = joined(parts, job.readings)
        check_same(self.table.name, totals, *part.blocks[:, [2, 3, 1]].T)
        replicates_out, settings = None if self.kept is None else self.kept[k], job.settings
        streamed = Streamed.of(part, totals, job, paired=replicates_out is not None and groups is None)
        rows: Evidence = streamed
        if groups is not None and self.batches is not None:
            rows = batches = StreamedBatches.of_groups(streamed, groups, self.batches)
            settings = settings if batches.n_units > 1 else replace(settings, interval=None)
        is_segment = k < len(self.keys)
        too_large = is_segment and self.quota is not None and why_no_cut(self.quota, totals.cases)
        ev = evaluation_of(
            rows,
            job.specs,
            job.obstacles,
            settings,
            name=label_of(self.keys[k]) if is_segment else self.model,
            threshold=job.threshold,
            quota=None if too_large else self.quota,
            replicates_out=replicates_out,
            dropped=None if is_segment else totals.dropped,  # rows are dropped from the table, not from a segment
        )
        if not is_segment:
            check_method_exists(ev.estimates, settings.interval)
        return ev

    def result(self, found: Sequence[Evaluation]) -> Evaluation | Segments:
        """The segments, from the evaluation of each and of all rows; the last alone where there are no segments."""
        if not self.keys:
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

    def _list(self, quota: int | None, cut: Sequence[float]) -> SharedList:
        """One list for all, from cases above, at and below the cut: by one query for all segments."""
        assert self.key is not None
        assert self.numbers is not None
        upper, edge, lower = (f"CAST('{v!r}' AS DOUBLE)" for v in cut)
        checked, k = self.checked, len(self.keys)
        score, weight = checked.scores[self.model], checked.weight or "CAST(1 AS DOUBLE)"
        cell = f"CASE WHEN {score} > {edge} THEN 2 WHEN {score} = {edge} THEN 1 ELSE 0 END"
        near = f"{score} <= {upper} AND {score} >= {lower}"
        sums = [f"sum({weight})", f"sum({weight} * {weight})"]
        sums += [f"sum({weight}) FILTER (WHERE {which})" for which in (checked.positive, near)]
        rows = self.table.grouped(checked.kept, [self.key, cell], sums)
        segment, cells = self.numbers(np.array([int(row[0]) for row in rows])), np.array([int(row[1]) for row in rows])
        w, w2, pos, close = np.array([[float(value or 0.0) for value in row[2:]] for row in rows]).T
        inside = 0.0
        if quota is not None:
            inside = (quota - float(w[cells == 2].sum())) / max(float(w[cells == 1].sum()), 1e-300)
        taken = np.where(cells == 2, 1.0, np.where(cells == 1, min(max(inside, 0.0), 1.0), 0.0))
        around, hits, positives = (np.bincount(segment, v, k).astype(np.float64) for v in (close, pos * taken, pos))
        near_cut = None if quota is None else around
        rates = selection_rates(taken, w, segment, k, None, near_cut, w2, self.whole.rows)
        at = {"threshold": cut[1]} if quota is None else {"quota": float(quota)}
        return SharedList(
            tuple(map(label_of, self.keys)), at, cut[1], rates, hits, positives, None, self.settings.level
        )


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


def compared(
    plans: Mapping[str, ListPlan],
    found: Mapping[str, Sequence[Evaluation]],
    margin: float | None,
) -> Comparison | SegmentComparison:
    """The comparison of models on all rows and in each segment, if there are any."""
    plan = next(iter(plans.values()))
    lists = [{model: evs[k] for model, evs in found.items()} for k in range(len(plan.totals))]

    def comparison(k: int, pairs: RowPairs | StreamedPairs) -> Comparison:
        one = next(iter(lists[k].values()))
        common = (one.specs, one.settings, one.quota, common_threshold(lists[k]), margin)
        return Comparison(lists[k], *common, pairs, {model: (p.kept or [])[k] for model, p in plans.items()})

    if plan.batches is not None:
        facts, known = next(iter(lists[-1].values())).facts, RowPairs.of(lists[-1], paired=True).specs
        rows = {name: ev.rows.drawn for name, ev in lists[-1].items() if isinstance(ev.rows, StreamedBatches)}
        return comparison(-1, RowPairs(rows, known, True, smaller=min(facts["positives"], facts["negatives"])))
    *made, whole = (comparison(k, StreamedPairs()) for k in range(len(lists)))
    if not plan.keys:
        return whole
    models: Any = {model: p.result(found[model]) for model, p in plans.items()}
    return SegmentComparison(dict(zip(plan.keys, made, strict=True)), whole, models, plan.by)


def evaluate(table: DuckTable, checked: Checked, request: EvaluationRequest) -> Evaluation | Segments:
    """Evaluate the scores of the one model."""
    plan = ListPlan(table, checked, next(iter(checked.scores)), request)
    return plan.result(_evaluated(table, plan))


def compare(
    table: DuckTable, checked: Checked, request: EvaluationRequest, margin: float | None
) -> Comparison | SegmentComparison:
    """Compare models on the rows that have all their scores: each is sorted once, and by replicates."""
    plans = {model: ListPlan(table, checked, model, request, paired=True) for model in checked.scores}
    found = {model: _evaluated(table, plan) for model, plan in plans.items()}
    return compared(plans, found, margin)


def _evaluated(table: DuckTable, plan: ListPlan) -> list[Evaluation]:
    """The evaluation of each segment, then of all rows, in one pass over the rows in the order of their scores."""
    streams = [plan.stream(k) for k in range(len(plan.totals))]
    cells, size, whole = plan.cells(), TUNING.batch_rows, streams[-1]
    grouped = plan.key is None and not plan.by_row and plan.whole.distinct * TUNING.group_first < plan.whole.rows
    if grouped:
        pieces = table.groups(plan.checked, plan.model, size)
    else:
        pieces = table.pieces(plan.checked, plan.model, numbered=plan.by_row, rows=size, key=plan.key)
    # closed before the connection is: an error must not leave the reading thread behind
    with (
        Progress(f"{table.name}: {plan.model}", plan.whole.rows, plan.settings.progress) as progress,
        closing(pieces) as arriving,
    ):
        for piece in arriving:
            if grouped:
                whole.feed_groups(piece["score"], piece["pos"], piece["neg"])
                progress.advance(int(piece["pos"].sum() + piece["neg"].sum()))
                continue
            columns: list[Any] = [piece["score"], piece["positive"], piece.get("weight"), piece.get("row")]
            whole.feed(*columns)
            if plan.numbers is not None:
                code = plan.numbers(piece["key"])
                if cells is not None:
                    cells.add(code, *columns[:3])
                else:  # the rows of each segment, in their order
                    ends = np.cumsum(np.bincount(code, minlength=len(plan.keys)))
                    for k, rows in enumerate(np.split(np.argsort(code, kind="stable"), ends[:-1])):
                        own: list[Any] = [None if column is None else column[rows] for column in columns]
                        streams[k].feed(*own)
            progress.advance(len(piece["score"]))
    groups = None if cells is None else cells.finish()
    return [plan.evaluation(k, [stream.finish()], groups) for k, stream in enumerate(streams)]

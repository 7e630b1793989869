"""Segments of a table that is streamed: one sorted pass feeds every segment and the whole list."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..catalogue.compute import default_threshold
from ..catalogue.declare import Spec
from ..decide.segment_places import SharedList
from ..errors import InputError
from ..estimate import Estimate
from ..evaluation import Evaluation
from ..inference.differences import DifferenceTest
from ..inference.selection_ratios import selection_rates
from ..progress import Progress
from ..quotas import Quotas, is_beyond, resolve_quota
from ..ranking import Ranking
from ..segment_comparison import SegmentComparison
from ..segments import Segments
from ..sources.duckdb import DuckTable
from ..sources.levels import as_levels, crossed, label_of
from ..sources.tables import Checked, Table, check_same
from ..table import KeepsFields
from ..tuning import TUNING
from ..types import Floats
from .comparing import Discordant, comparison_of, discordant_rows, gaps_between, thresholds_compared
from .draws import Draws
from .keyed import Numbering, totals_by
from .pairs import Gaps, add_to_all, split_by
from .request import EvaluationRequest, Job, empty_sample
from .stream import Part, Stream, Totals
from .streamed import finish, needs_rows

Kept = list[dict[str, Floats]]


class SegmentPlan:
    """What to sum for each segment of one model, and behind them for all rows; then what was found, as segments."""

    def __init__(
        self, table: Table, checked: Checked, model: str, request: EvaluationRequest, *, paired: bool = False
    ) -> None:
        self.table, self.checked, self.model = table, checked, model
        self.whole = checked.totals[model]
        self.key = table.dialect.key(checked.segments)
        found, cells, totals = totals_by(
            table, checked, model, checked.segments, [column.comparable for column in checked.segments]
        )
        parts = [
            as_levels({column.name: [row[k] for row in cells]}, len(cells)) for k, column in enumerate(checked.segments)
        ]
        levels = crossed(parts)
        self.numbers = Numbering.of(found, levels.codes)
        self.keys = list(levels.keys)
        self.totals = [*(totals[k] for k in np.argsort(levels.codes).tolist()), self.whole]
        self.threshold = default_threshold(request.threshold, empty_sample(self.whole))
        request = replace(request, threshold=self.threshold)
        asked = request.quota if not isinstance(request.quota, Quotas) else None
        self.places = None if asked is None else resolve_quota(asked, self.whole.cases)
        self.window = _window(self.places, self.whole.cases)
        self.jobs = [Job.of(request, one, segment=True) for one in self.totals[:-1]]
        self.jobs.append(Job.of(request, self.whole))
        self.requests = [
            replace(request, quota=None) if self._is_large(one, request) else request for one in self.totals
        ]
        self.by_row = needs_rows(self.settings, weighted=self.whole.weighted, paired=paired)
        self.kept: Kept | None = [{} for _ in self.totals] if paired else None

    @staticmethod
    def _is_large(totals: Totals, request: EvaluationRequest) -> bool:
        return request.quota is not None and is_beyond(request.quota, totals.cases)

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
            draws = Draws(job.settings.n_resamples, job.settings.seed, weighted=totals.weighted, rows=totals.rows)
        return Stream(totals, job.readings, tolerance=job.tolerance, marks=self.marks(k), draws=draws)

    def finished(self, k: int, part: Part) -> Evaluation:
        """The evaluation of a segment, or of all rows, from what was gathered."""
        check_same(self.table.name, self.totals[k], *part.blocks[:, [2, 3, 1]].T)
        is_segment = k < len(self.keys)
        name = self.names[k] if is_segment else self.model
        keep = None if self.kept is None else self.kept[k]
        ev = finish(part, self.totals[k], self.jobs[k], self.requests[k], name, keep)
        return replace(ev, dropped=None) if is_segment else ev  # rows are dropped from the table, not from a segment

    def segments(self, found: Sequence[Evaluation]) -> Segments:
        """The segments from the evaluation of each, and that of all rows."""
        lists: dict[tuple[str, float], SharedList] = {}
        if self.places is not None:
            lists["quota", float(self.places)] = self._list(self.places, _scores_at(found[-1].ranking, self.window))
        if self.threshold is not None:
            lists["threshold", self.threshold] = self._list(None, [self.threshold] * 3)
        pool = StreamPool(found[-1], lists)
        by = tuple(column.name for column in self.checked.segments)
        evaluations = dict(zip(self.keys, found[:-1], strict=True))
        understood = "; ".join((*getattr(self.table, "understood", ()), *self.checked.understood))
        quota = self.requests[-1].quota
        asked = None if isinstance(quota, Quotas) else quota
        return Segments(evaluations, by, self.settings, pool, asked, self.threshold, self.whole.dropped, understood)

    def _list(self, quota: int | None, cut: Sequence[float]) -> SharedList:
        """One list for all, from cases above, at and below the cut: by one query for all segments."""
        upper, edge, lower = (f"CAST('{v!r}' AS DOUBLE)" for v in cut)
        checked, names = self.checked, self.names
        score, weight = checked.scores[self.model], checked.weight or "CAST(1 AS DOUBLE)"
        cell = f"CASE WHEN {score} > {edge} THEN 2 WHEN {score} = {edge} THEN 1 ELSE 0 END"
        near = f"{score} <= {upper} AND {score} >= {lower}"
        sums = [f"sum({weight})", f"sum({weight} * {weight})", f"sum({weight}) FILTER (WHERE {checked.positive})"]
        rows = self.table.grouped(checked, [self.key, cell], [*sums, f"sum({weight}) FILTER (WHERE {near})"])
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


def _scores_at(ranking: Ranking, places: Sequence[float]) -> list[float]:
    """The scores at some places, which are groups of their own."""
    ends = np.cumsum(ranking.pos + ranking.neg, dtype=np.float64)
    at = np.searchsorted(ends, np.asarray(places) * (1.0 - 1e-12))
    return [float(score) for score in ranking.score[np.minimum(at, len(ends) - 1)]]


def evaluate(table: DuckTable, checked: Checked, model: str, request: EvaluationRequest) -> Segments:
    """Evaluate every segment, and all rows, in one pass over the rows in the order of their scores."""
    plan = SegmentPlan(table, checked, model, request)
    return plan.segments(_streamed(table, plan))


def _streamed(table: DuckTable, plan: SegmentPlan) -> list[Evaluation]:
    """The evaluation of each segment, then of all rows."""
    streams = [plan.stream(k) for k in range(len(plan.totals))]
    pieces = table.pieces(plan.checked, plan.model, numbered=plan.by_row, rows=TUNING.batch_rows, key=plan.key)
    name = f"{table.name}: {plan.model}"
    with Progress(name, plan.whole.rows, plan.settings.progress) as progress, closing(pieces) as arriving:
        for piece in arriving:
            columns: list[Any] = [piece["score"], piece["positive"], piece.get("weight"), piece.get("row")]
            streams[-1].feed(*columns)
            for k, rows in split_by(plan.numbers(piece["key"]), len(plan.keys)):
                own: list[Any] = [None if column is None else column[rows] for column in columns]
                streams[k].feed(*own)
            progress.advance(len(piece["score"]))
    return [plan.finished(k, stream.finish()) for k, stream in enumerate(streams)]


def compare(table: DuckTable, checked: Checked, request: EvaluationRequest, margin: float | None) -> SegmentComparison:
    """Compare models in every segment and on all rows: each is sorted once, and two passes serve all pairs."""
    plans = {model: SegmentPlan(table, checked, model, request, paired=True) for model in checked.scores}
    found = {model: _streamed(table, plan) for model, plan in plans.items()}

    def add_rows(gaps: Sequence[Gaps | None]) -> None:
        plan = next(iter(plans.values()))
        with closing(table.all_scores(checked, plan.key)) as arriving:
            for piece in arriving:
                scores = [piece[f"score_{k}"] for k in range(len(checked.scores))]
                add_to_all(gaps, plan.numbers(piece["key"]), piece["positive"].astype(np.bool_), scores)

    return compared(plans, found, margin, add_rows)


def compared(
    plans: Mapping[str, SegmentPlan], found: Mapping[str, Sequence[Evaluation]], margin: float | None, add_rows: Any
) -> SegmentComparison:
    """The comparison in each segment, and on all rows, of models that were evaluated there."""
    plan = next(iter(plans.values()))
    lists = [{model: evs[k] for model, evs in found.items()} for k in range(len(plan.totals))]
    gaps = [gaps_between(evaluations) for evaluations in lists]
    if any(one is not None for one in gaps):
        add_rows(gaps)
    thresholds = thresholds_compared(lists[-1])
    counted: list[Discordant] = [{} for _ in lists]
    if thresholds:
        for (key,), one in discordant_rows(plan.table, plan.checked, thresholds, [plan.key]).items():
            counted[int(plan.numbers(np.array([key]))[0])] = one
        counted[-1] = discordant_rows(plan.table, plan.checked, thresholds)[()]
    made = [
        comparison_of(
            evaluations, {model: (p.kept or [])[k] for model, p in plans.items()}, margin, gaps[k], counted[k]
        )
        for k, evaluations in enumerate(lists)
    ]
    models = {model: p.segments(found[model]) for model, p in plans.items()}
    by = tuple(column.name for column in plan.checked.segments)
    return SegmentComparison(dict(zip(plan.keys, made[:-1], strict=True)), made[-1], models, by)


def _window(places: int | None, cases: float) -> list[float]:
    """Places whose scores are wanted: the cut, and three standard deviations around it."""
    if places is None:
        return []
    half = max(3.0 * math.sqrt(max(places * (1.0 - places / cases), 1.0)), 1.0)
    half = max(min(half, places, cases - places), 1.0)
    return [max(places - half, 0.5), places, min(places + half, cases)]


@dataclass(frozen=True, eq=False)
class StreamPool(KeepsFields):
    """All rows of a streamed table: the evaluation of them, and the lists that were asked for."""

    knows_rest: ClassVar[bool] = False
    whole: Evaluation
    lists: Mapping[tuple[str, float], SharedList]

    def overall(self) -> Evaluation:
        """All rows as one."""
        return self.whole

    def rest(self, at: int, specs: Sequence[Spec]) -> Mapping[Spec, Estimate]:
        """Refused: the rows were not kept."""
        said = "is missing: this table was streamed, and the rows outside a segment were not summed"
        raise InputError("reference", said, "name the segment to compare with")

    def test(self, one: int, two: int | None, spec: Spec, pair: tuple[Estimate, Estimate]) -> DifferenceTest | None:
        """Rows of a stream are independent."""
        return None

    def covariance(self, spec: Spec, errors: Floats) -> Floats:
        """Variances of independent segments."""
        return np.diag(errors**2)

    def shared_list(
        self, segments: Sequence[str], quota: int | None, threshold: float | None, **how: Any
    ) -> SharedList:
        """One of the lists that were asked for."""
        what = ("quota", float(quota)) if quota is not None else ("threshold", float(threshold or 0.0))
        if what not in self.lists:
            said = f"is {what[1]:g}, but this table was streamed and its list was cut elsewhere"
            raise InputError(what[0], said, f"pass {{{what[0]}}} to evaluate_table()")
        return replace(self.lists[what], **how)

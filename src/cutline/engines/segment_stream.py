"""Segments of a table that is streamed through DuckDB: one sorted pass feeds every segment and the whole list."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

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
from ..segments import Segments
from ..sources.duckdb import DuckTable
from ..sources.levels import as_levels, crossed, label_of
from ..sources.tables import DUCKDB, Checked, check_same
from ..table import KeepsFields
from ..tuning import TUNING
from ..types import Floats
from .draws import Draws
from .request import EvaluationRequest, Job, empty_sample
from .stream import Stream, Totals
from .streamed import finish, needs_rows

_MARK = chr(31)  # between the values of several columns: no cell that people write has it


def evaluate(table: DuckTable, checked: Checked, model: str, request: EvaluationRequest) -> Segments:
    """Evaluate every segment, and all rows, in one pass over the rows in the order of their scores."""
    whole = checked.totals[model]
    names, keys, code, totals = _segments(table, checked, model)
    threshold = default_threshold(request.threshold, empty_sample(whole))
    request = replace(request, threshold=threshold)
    streams = [_Streamed(request, one, segment=True) for one in totals] + [_Streamed(request, whole)]
    asked = request.quota if not isinstance(request.quota, Quotas) else None
    places = None if asked is None else resolve_quota(asked, whole.cases)
    edges = _Edges(_window(places, whole.cases), whole.weighted)
    numbered = any(one.stream.draws is not None for one in streams)
    pieces = table.pieces(checked, model, numbered=numbered, rows=TUNING.batch_rows, segment=code)
    settings = streams[-1].job.settings
    with Progress(f"{table.name}: {model}", whole.rows, settings.progress) as progress, closing(pieces) as arriving:
        for batch in arriving:
            edges.look(batch["score"], batch.get("weight"))
            streams[-1].feed(batch)
            for k, rows in _split(batch["segment"].astype(np.int64), len(names)):
                streams[k].feed({name: column[rows] for name, column in batch.items()})
            progress.advance(len(batch["score"]))
    found = [one.finished(name) for one, name in zip(streams, [*names, model], strict=True)]
    for one in streams:
        check_same(table.name, one.totals, *one.part.blocks[:, [2, 3, 1]].T)
    lists: dict[tuple[str, float], SharedList] = {}
    if places is not None:
        lists["quota", float(places)] = _list(table, checked, model, code, names, places, edges.found, settings.level)
    if threshold is not None:
        cut = (threshold, threshold, threshold)
        lists["threshold", threshold] = _list(table, checked, model, code, names, None, cut, settings.level)
    pool = StreamPool(found[-1], lists)
    by = tuple(column.name for column in checked.segments)
    evaluations = dict(zip(keys, found[:-1], strict=True))
    understood = "; ".join((*table.understood, *checked.understood))
    return Segments(evaluations, by, settings, pool, asked, threshold, whole.dropped, understood)


def _segments(table: DuckTable, checked: Checked, model: str) -> tuple[list[str], list[Any], str, list[Totals]]:
    """The segments in order, SQL for a row's segment as a number, and the totals of each: by one query for all."""
    score, positive, whole = checked.scores[model], checked.positive, checked.totals[model]
    columns = [column.sql for column in checked.segments]
    key = f"concat_ws({DUCKDB.literal(_MARK)}, {', '.join(f'CAST({c} AS VARCHAR)' for c in columns)})"
    weight = checked.weight
    sums = ["count(*)", "count(*)"]
    if weight is not None:
        sums = [DUCKDB.exact_sum(weight, whole.weight_bits)] * 2
    terms = [
        "count(*)",
        f"count(*) FILTER (WHERE {positive})",
        f"{sums[0]} FILTER (WHERE {positive})",
        f"{sums[1]} FILTER (WHERE NOT {positive})",
        f"approx_count_distinct({score})",
        f"sum({score}{f' * {weight}' if weight else ''})",
    ]
    shown, named = ", ".join(columns), ", ".join(terms)
    kept = checked.kept or "true"
    rows = table.rows(f"SELECT {kept}, {key}, {shown}, {named} FROM {table.relation} GROUP BY ALL")
    rows = [row for row in rows if row[0]]
    parts = [
        as_levels({column.name: [row[2 + k] for row in rows]}, len(rows)) for k, column in enumerate(checked.segments)
    ]
    levels = crossed(parts)
    order = np.argsort(levels.codes)
    ordered = [rows[k] for k in order.tolist()]
    listed = ", ".join(DUCKDB.literal(str(row[1])) for row in ordered)
    totals = [_totals(row[2 + len(columns) :], whole) for row in ordered]
    return [label_of(k) for k in levels.keys], list(levels.keys), f"(list_position([{listed}], {key}) - 1)", totals


def _totals(found: Sequence[Any], whole: Totals) -> Totals:
    rows, positives, pos, neg, distinct, total = found
    cases = [int(pos or 0), int(neg or 0)]
    sides: list[float] = [math.ldexp(float(c), -whole.weight_bits) for c in cases] if whole.weighted else [*cases]
    own: dict[str, Any] = {
        "rows": int(rows),
        "positives": int(positives),
        "pos": sides[0],
        "neg": sides[1],
        "dropped": 0,
    }
    return replace(whole, **own, distinct=int(distinct), sum=float(total))  # the ends of all scores hold for each


class _Streamed:
    """One segment, or all rows, while the rows stream by."""

    def __init__(self, request: EvaluationRequest, totals: Totals, *, segment: bool = False) -> None:
        self.totals, self.job = totals, Job.of(request, totals, segment=segment)
        large = request.quota is not None and is_beyond(request.quota, totals.cases)
        self.request = replace(request, quota=None) if large else request
        job, draws = self.job, None
        if needs_rows(job.settings, weighted=totals.weighted, paired=False):
            draws = Draws(job.settings.n_resamples, job.settings.seed, weighted=totals.weighted, rows=totals.rows)
        marks = job.marks(totals.cases)
        self.stream = Stream(totals, job.readings, tolerance=job.tolerance, marks=marks, draws=draws)

    def feed(self, batch: Mapping[str, Any]) -> None:
        self.stream.feed(batch["score"], batch["positive"], batch.get("weight"), batch.get("row"))

    def finished(self, name: str) -> Evaluation:
        self.part = self.stream.finish()
        return finish(self.part, self.totals, self.job, self.request, name)


def _split(code: NDArray[np.int64], segments: int) -> list[tuple[int, NDArray[np.intp]]]:
    """The rows of each segment that a batch has, in their order."""
    order = np.argsort(code, kind="stable")
    ends = np.cumsum(np.bincount(code, minlength=segments))
    return [(k, rows) for k, rows in enumerate(np.split(order, ends[:-1])) if len(rows)]


def _window(places: int | None, cases: float) -> list[float]:
    """Places whose scores are wanted: the cut, and three standard deviations around it."""
    if places is None:
        return []
    half = max(3.0 * math.sqrt(max(places * (1.0 - places / cases), 1.0)), 1.0)
    half = max(min(half, places, cases - places), 1.0)
    return [max(places - half, 0.5), places, min(places + half, cases)]


class _Edges:
    """The scores at some places of the list, found while it streams by."""

    def __init__(self, places: Sequence[float], weighted: bool) -> None:
        self.places, self.weighted, self.before = places, weighted, 0.0
        self._found, self._last = [math.nan] * len(places), math.nan

    def look(self, score: Floats, weight: Floats | None) -> None:
        ends = self.before + np.cumsum(np.ones(len(score)) if weight is None else weight)
        for k, place in enumerate(self.places):
            if self._found[k] != self._found[k] and len(ends) and ends[-1] >= place * (1.0 - 1e-12):
                self._found[k] = float(score[int(np.searchsorted(ends, place * (1.0 - 1e-12)))])
        self.before = float(ends[-1]) if len(ends) else self.before
        self._last = float(score[-1]) if len(score) else self._last

    @property
    def found(self) -> tuple[float, float, float]:
        upper, edge, lower = (self._last if v != v else v for v in self._found)
        return upper, edge, lower


def _list(
    table: DuckTable,
    checked: Checked,
    model: str,
    code: str,
    names: Sequence[str],
    quota: int | None,
    cut: tuple[float, float, float],
    level: float,
) -> SharedList:
    """One list for all, from cases above, at and below the cut: by one query for all segments."""
    upper, edge, lower = (f"CAST('{v!r}' AS DOUBLE)" for v in cut)
    score, weight, kept = checked.scores[model], checked.weight or "1.0::DOUBLE", checked.kept or "true"
    cell = f"CASE WHEN {score} > {edge} THEN 2 WHEN {score} = {edge} THEN 1 ELSE 0 END"
    near = f"{score} <= {upper} AND {score} >= {lower}"
    sums = f"sum({weight}), sum({weight} * {weight}), sum({weight}) FILTER (WHERE {checked.positive})"
    sums += f", sum({weight}) FILTER (WHERE {near})"
    sql = f"SELECT {kept}, {code}, {cell}, {sums} FROM {table.relation} GROUP BY ALL"
    rows = [row[1:] for row in table.rows(sql) if row[0]]
    segment, cells = (np.array([int(row[k]) for row in rows]) for k in (0, 1))
    w, w2, pos, close = (np.array([float(row[k] or 0.0) for row in rows]) for k in (2, 3, 4, 5))
    inside = 0.0
    if quota is not None:
        inside = (quota - float(w[cells == 2].sum())) / max(float(w[cells == 1].sum()), 1e-300)
    taken = np.where(cells == 2, 1.0, np.where(cells == 1, min(max(inside, 0.0), 1.0), 0.0))
    k = len(names)
    around = np.bincount(segment, weights=close, minlength=k).astype(np.float64) if quota is not None else None
    whole = checked.totals[model].rows
    rates = selection_rates(taken, w, segment.astype(np.intp), k, None, around, w2, whole)
    hits, positives = (np.bincount(segment, weights=v, minlength=k).astype(np.float64) for v in (pos * taken, pos))
    at = {"threshold": cut[1]} if quota is None else {"quota": float(quota)}
    return SharedList(tuple(names), at, cut[1], rates, hits, positives, None, level)


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

"""One table through DuckDB: totals first, then its rows sorted by score, batch by batch through the sweep."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..comparison import Comparison
from ..evaluation import Evaluation, evaluate_sample
from ..progress import Progress
from ..sample import Sample
from .arrow_stream import Batch, batches
from .comparing import Discordant, compared
from .draws import Draws
from .duckdb_checks import Columns, check
from .duckdb_source import Source, quoted, translate_errors
from .pairs import Gaps
from .request import EvaluationRequest, Job
from .stream import Stream, Totals
from .streamed import check_same, finish, needs_rows

IN_MEMORY = 1_000_000
_GROUP_FIRST = 16  # rows for each distinct score from which grouping before sorting is cheaper
BATCH_ROWS: int | None = None  # as many as DuckDB hands out, or fewer


def evaluate(
    source: Source,
    *,
    label: str,
    score: str,
    weight: str | None,
    positive: Any,
    missing: str,
    name: str,
    wishes: EvaluationRequest,
    others: Sequence[str] = (),
    keep: dict[str, NDArray[np.float64]] | None = None,
) -> Evaluation:
    """Evaluate one score column; a table of up to a million rows is loaded, a longer one streamed."""
    columns, totals = check(source, label, score, weight, positive, missing, others)
    if wishes.stream is False or (wishes.stream is None and totals.rows <= IN_MEMORY):
        return evaluate_sample(
            _loaded(source, columns, totals),
            name=name,
            threshold=wishes.threshold,
            quota=wishes.quota,
            measures=wishes.measures,
            settings=wishes.settings,
            keep=keep,
            dropped=totals.dropped,
        )
    job = Job.of(wishes, totals)
    draws = None
    if needs_rows(job.settings, weighted=totals.weighted, paired=keep is not None):
        draws = Draws(job.settings.n_resamples, job.settings.seed, weighted=totals.weighted, rows=totals.rows)
    stream = Stream(totals, job.readings, tolerance=job.tolerance, marks=job.marks(totals.cases), draws=draws)
    grouped = draws is None and totals.distinct * _GROUP_FIRST < totals.rows
    sql = _grouped(columns, source) if grouped else _sorted(columns, source, numbered=draws is not None)
    # closed before the connection is: an error must not leave the reading thread behind
    with (
        Progress(f"{source.name}: {score}", totals.rows, job.settings.progress) as progress,
        closing(_batches(source, sql, BATCH_ROWS)) as arriving,
    ):
        for batch in arriving:
            if grouped:
                stream.feed_groups(batch["score"], batch["pos"], batch["neg"])
                progress.advance(int(batch["pos"].sum() + batch["neg"].sum()))
            else:
                stream.feed(batch["score"], batch["positive"], batch.get("weight"), batch.get("row"))
                progress.advance(len(batch["score"]))
    part = stream.finish()
    check_same(source.name, totals, *part.blocks[:, [2, 3, 1]].sum(axis=0))
    return finish(part, totals, job, wishes, name, keep)


def compare(
    source: Source,
    *,
    label: str,
    scores: Mapping[str, str],
    weight: str | None,
    positive: Any,
    missing: str,
    margin: float | None,
    wishes: EvaluationRequest,
) -> Comparison:
    """Compare score columns of a table on the rows that have all of them: each is sorted once."""
    columns = {"label": label, "weight": weight, "positive": positive, "missing": missing}
    evaluations: dict[str, Evaluation] = {}
    drawn: dict[str, dict[str, NDArray[np.float64]]] = {}
    for model, column in scores.items():
        others = [other for other in scores.values() if other != column]
        own: dict[str, Any] = {"score": column, "name": model, "others": others, "keep": drawn.setdefault(model, {})}
        evaluations[model] = evaluate(source, wishes=wishes, **columns, **own)

    def rows() -> Columns:
        one, *others = scores.values()
        return check(source, score=one, others=others, **columns)[0]

    return compared(
        evaluations,
        drawn,
        wishes,
        margin,
        add_rows=lambda gaps: _add_rows(gaps, source, rows(), scores),
        count=lambda thresholds: _discordant(source, rows(), scores, thresholds),
    )


def _add_rows(gaps: Gaps, source: Source, columns: Columns, scores: Mapping[str, str]) -> None:
    what = ", ".join(f"{quoted(column)}::DOUBLE AS score_{k}" for k, column in enumerate(scores.values()))
    sql = columns.select(f"{columns.positive}::UTINYINT AS positive, {what}", source.table)
    with closing(_batches(source, sql, None)) as arriving:
        for batch in arriving:
            gaps.add(batch["positive"].astype(np.bool_), [batch[f"score_{k}"] for k in range(len(scores))])


def _discordant(source: Source, columns: Columns, scores: Mapping[str, str], thresholds: Sequence[float]) -> Discordant:
    """Rows that only the first, and that only the second of two models gets right, by one query for all."""
    terms: dict[tuple[str, str, float], tuple[str, str]] = {}
    for threshold in thresholds:
        right = {
            model: f"(({quoted(column)}::DOUBLE > {threshold!r}::DOUBLE) = {columns.positive})"
            for model, column in scores.items()
        }
        for a, b in combinations(scores, 2):
            terms[a, b, threshold] = (
                f"count(*) FILTER ({right[a]} AND NOT {right[b]})",
                f"count(*) FILTER ({right[b]} AND NOT {right[a]})",
            )
    counts = source.rows(columns.select(", ".join(t for pair in terms.values() for t in pair), source.table))[0]
    return {key: (int(counts[2 * k]), int(counts[2 * k + 1])) for k, key in enumerate(terms)}


def _sorted(columns: Columns, source: Source, *, numbered: bool) -> str:
    what = f"{columns.score} AS score, {columns.positive}::UTINYINT AS positive"
    if columns.weight is not None:
        what += f", {columns.weight} AS weight"
    if not numbered:
        return columns.select(what, source.table) + " ORDER BY score DESC"
    # rows are numbered before any is left out: a row draws the same weights whatever else is evaluated
    inner = f"(SELECT *, row_number() OVER () AS cutline_row FROM {source.table})"
    return columns.select(f"{what}, cutline_row AS row", inner) + " ORDER BY score DESC"


def _grouped(columns: Columns, source: Source) -> str:
    positive, weight = columns.positive, columns.weight
    if weight is None:
        what = f"count(*) FILTER ({positive}) AS pos, count(*) FILTER (NOT {positive}) AS neg"
    else:
        what = ", ".join(
            f"coalesce(fsum({weight}) FILTER ({side}), 0)::DOUBLE AS {name}"
            for side, name in ((positive, "pos"), (f"NOT {positive}", "neg"))
        )
    return columns.select(f"{columns.score} AS score, {what}", source.table) + " GROUP BY ALL ORDER BY score DESC"


def _batches(source: Source, sql: str, rows: int | None) -> Generator[Batch]:
    with translate_errors(source.name, False), closing(batches(source.run(sql), source.interrupt)) as arriving:
        for batch in arriving:
            if rows is None:
                yield batch
                continue
            for first in range(0, len(batch["score"]), rows):
                yield {name: column[first : first + rows] for name, column in batch.items()}


def _loaded(source: Source, columns: Columns, totals: Totals) -> Sample:
    what = f"{columns.score} AS score, {columns.positive}::UTINYINT AS positive"
    if columns.weight is not None:
        what += f", {columns.weight} AS weight"
    parts = list(_batches(source, columns.select(what, source.table), None))
    score, positive = (np.concatenate([part[name] for part in parts]) for name in ("score", "positive"))
    weight = np.concatenate([part["weight"] for part in parts]) if columns.weight is not None else None
    each = np.ones(1) if weight is None else weight
    pos, neg = (float((each * (positive == side)).sum()) for side in (1, 0))
    check_same(source.name, totals, pos, neg, float((score * each).sum()))
    return Sample(positive.astype(np.bool_), score, weight, totals.low, totals.high)

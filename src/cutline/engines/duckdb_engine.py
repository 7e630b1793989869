"""A table that is streamed through DuckDB: its rows sorted by score, batch by batch through the sweep."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..comparison import Comparison
from ..evaluation import Evaluation
from ..progress import Progress
from ..sources.duckdb import DuckTable
from ..sources.tables import Checked, check_same
from ..tuning import TUNING
from .comparing import Discordant, compared
from .draws import Draws
from .pairs import Gaps
from .request import EvaluationRequest, Job
from .stream import Stream
from .streamed import finish, needs_rows


def evaluate(
    table: DuckTable,
    checked: Checked,
    model: str,
    request: EvaluationRequest,
    keep: dict[str, NDArray[np.float64]] | None = None,
) -> Evaluation:
    """Evaluate the scores of one model."""
    totals = checked.totals[model]
    job = Job.of(request, totals)
    draws = None
    if needs_rows(job.settings, weighted=totals.weighted, paired=keep is not None):
        draws = Draws(job.settings.n_resamples, job.settings.seed, weighted=totals.weighted, rows=totals.rows)
    stream = Stream(totals, job.readings, tolerance=job.tolerance, marks=job.marks(totals.cases), draws=draws)
    grouped = draws is None and totals.distinct * TUNING.group_first < totals.rows
    if grouped:
        pieces = table.groups(checked, model, TUNING.batch_rows)
    else:
        pieces = table.pieces(checked, model, numbered=draws is not None, rows=TUNING.batch_rows)
    # closed before the connection is: an error must not leave the reading thread behind
    with (
        Progress(f"{table.name}: {model}", totals.rows, job.settings.progress) as progress,
        closing(pieces) as arriving,
    ):
        for batch in arriving:
            if grouped:
                stream.feed_groups(batch["score"], batch["pos"], batch["neg"])
                progress.advance(int(batch["pos"].sum() + batch["neg"].sum()))
            else:
                stream.feed(batch["score"], batch["positive"], batch.get("weight"), batch.get("row"))
                progress.advance(len(batch["score"]))
    part = stream.finish()
    check_same(table.name, totals, *part.blocks[:, [2, 3, 1]].T)
    return finish(part, totals, job, request, model, keep)


def compare(table: DuckTable, checked: Checked, request: EvaluationRequest, margin: float | None) -> Comparison:
    """Compare models on the rows that have all their scores: each is sorted once."""
    drawn: dict[str, dict[str, NDArray[np.float64]]] = {model: {} for model in checked.scores}
    evaluations = {model: evaluate(table, checked, model, request, drawn[model]) for model in checked.scores}
    return compared(
        evaluations,
        drawn,
        request,
        margin,
        add_rows=lambda gaps: _add_rows(gaps, table, checked),
        count=lambda thresholds: _discordant(table, checked, thresholds),
    )


def _add_rows(gaps: Gaps, table: DuckTable, checked: Checked) -> None:
    with closing(table.all_scores(checked)) as arriving:
        for batch in arriving:
            gaps.add(batch["positive"].astype(np.bool_), [batch[f"score_{k}"] for k in range(len(checked.scores))])


def _discordant(table: DuckTable, checked: Checked, thresholds: Sequence[float]) -> Discordant:
    """Rows that only the first, and that only the second of two models gets right, by one query for all."""
    terms: dict[tuple[str, str, float], tuple[str, str]] = {}
    here = checked.kept or "true"
    for threshold in thresholds:
        right = {
            model: f"(({score} > CAST('{threshold!r}' AS DOUBLE)) = {checked.positive})"
            for model, score in checked.scores.items()
        }
        for a, b in combinations(checked.scores, 2):
            terms[a, b, threshold] = (
                f"count(*) FILTER (WHERE {here} AND {right[a]} AND NOT {right[b]})",
                f"count(*) FILTER (WHERE {here} AND {right[b]} AND NOT {right[a]})",
            )
    counts = table.aggregate([term for pair in terms.values() for term in pair])
    return {key: (int(counts[2 * k]), int(counts[2 * k + 1])) for k, key in enumerate(terms)}

"""A table that is streamed through DuckDB: its rows sorted by score, batch by batch through the sweep."""

from __future__ import annotations

from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from ..comparison import Comparison
from ..evaluation import Evaluation
from ..progress import Progress
from ..sources.duckdb import DuckTable
from ..sources.tables import Checked, check_same
from ..tuning import TUNING
from .comparing import comparison_of, discordant_rows, gaps_between, thresholds_compared
from .draws import Draws
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
    gaps, thresholds = gaps_between(evaluations), thresholds_compared(evaluations)
    if gaps is not None:
        with closing(table.all_scores(checked)) as arriving:
            for batch in arriving:
                gaps.add(batch["positive"].astype(np.bool_), [batch[f"score_{k}"] for k in range(len(checked.scores))])
    counted = discordant_rows(table, checked, thresholds)[()] if thresholds else {}
    return comparison_of(evaluations, drawn, margin, gaps, counted)

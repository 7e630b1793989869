"""A table that is streamed through DuckDB: its rows sorted by score, batch by batch through the sweep."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np

from ..comparison import Comparison
from ..evaluation import Evaluation
from ..runtime import TUNING, Progress
from ..segments import SegmentComparison, Segments
from ..sources.duckdb import DuckTable
from ..sources.sql_table import Checked
from .lists import ListPlan, compared
from .stream import EvaluationRequest
from .streamed_pairs import Gaps, add_to_all, split_by


def evaluate(table: DuckTable, checked: Checked, request: EvaluationRequest) -> Evaluation | Segments:
    """Evaluate the scores of the one model."""
    plan = ListPlan(table, checked, next(iter(checked.scores)), request)
    return plan.result(_evaluated(table, plan))


def compare(
    table: DuckTable, checked: Checked, request: EvaluationRequest, margin: float | None
) -> Comparison | SegmentComparison:
    """Compare models on the rows that have all their scores: each is sorted once, and one pass serves all pairs."""
    plans = {model: ListPlan(table, checked, model, request, paired=True) for model in checked.scores}
    found = {model: _evaluated(table, plan) for model, plan in plans.items()}

    def add_rows(gaps: Sequence[Gaps | None]) -> None:
        plan = next(iter(plans.values()))
        with closing(table.all_scores(checked, plan.key)) as arriving:
            for piece in arriving:
                scores = [piece[f"score_{k}"] for k in range(len(plans))]
                add_to_all(gaps, plan.codes(piece), piece["positive"].astype(np.bool_), scores)

    return compared(plans, found, margin, add_rows)


def _evaluated(table: DuckTable, plan: ListPlan) -> list[Evaluation]:
    """The evaluation of each segment, then of all rows, in one pass over the rows in the order of their scores."""
    streams = [plan.stream(k) for k in range(len(plan.totals))]
    cells = None if plan.sizes is None else plan.sizes.cells(plan.jobs[-1], plan.whole)
    size, whole = TUNING.batch_rows, streams[-1]
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
            code = plan.codes(piece)
            if code is not None and cells is not None:
                cells.add(code, *columns[:3])
            elif code is not None:
                for k, rows in split_by(code, len(plan.keys)):
                    own: list[Any] = [None if column is None else column[rows] for column in columns]
                    streams[k].feed(*own)
            progress.advance(len(piece["score"]))
    groups = None if cells is None else cells.finish()
    return [plan.evaluation(k, stream.finish(), groups) for k, stream in enumerate(streams)]

"""Segments and batches on a Spark cluster: rows go to the partition of their segment or batch, sorted by score.

Each segment's list, or the lists of some batches, are summed on one executor; all rows as one list go through the
ranges of ``spark_engine``. No query is made for a single segment or batch.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from ..batches import BatchGroups
from ..comparison import Comparison
from ..evaluation import Evaluation
from ..segment_comparison import SegmentComparison
from ..segments import Segments
from ..sources.spark import SparkTable
from ..sources.tables import SPARK, Roles
from ..tuning import TUNING
from .batch_stream import BatchSizes, batch_job, one_way_of_drawing
from .batch_stream import compared as batches_compared
from .batch_stream import finish as batches_finished
from .pairs import Gaps
from .partition import PartialSums, joined_parts
from .request import EvaluationRequest
from .segment_stream import SegmentPlan, compared
from .spark_engine import Passes, added, check_complete, say_if_slow
from .spark_work import PARTS, Range, gaps_of_segments, lists_of_batches, sums_of_ranges


def evaluate_segments(table: SparkTable, roles: Roles, request: EvaluationRequest) -> Segments:
    """Evaluate every segment of a Spark DataFrame, and all rows."""
    passes = Passes(table, roles, request, paired=False)
    (plan,) = plans = _plans(table, passes, paired=False)
    (found,) = _evaluated(table, passes, plans)
    return plan.segments(found)


def compare_segments(
    table: SparkTable, roles: Roles, request: EvaluationRequest, margin: float | None
) -> SegmentComparison:
    """Compare models in every segment of a Spark DataFrame, and on all rows."""
    passes = Passes(table, roles, request, paired=True)
    plans = _plans(table, passes, paired=True)
    found = _evaluated(table, passes, plans)

    def add_rows(gaps: Sequence[Gaps | None]) -> None:
        rows = table.rows(passes.checked, plans[0].key)
        work = gaps_of_segments(gaps, plans[0].numbers, len(plans))
        for answer in rows.mapInArrow(work, PARTS).collect():
            for one, moments in zip(gaps, pickle.loads(bytes(answer["part"])), strict=True):
                if one is not None:
                    one.join(moments)

    named = dict(zip(passes.models, plans, strict=True))
    return compared(named, dict(zip(passes.models, found, strict=True)), margin, add_rows)


def _plans(table: SparkTable, passes: Passes, *, paired: bool) -> list[SegmentPlan]:
    plans = [SegmentPlan(table, passes.checked, model, passes.request, paired=paired) for model in passes.models]
    passes.marks = plans[0].window
    return plans


def _evaluated(table: SparkTable, passes: Passes, plans: Sequence[SegmentPlan]) -> list[list[Evaluation]]:
    """For each model the evaluation of each segment, then that of all rows."""
    whole = passes.evaluations()
    found = []
    for k, (model, plan) in enumerate(zip(passes.models, plans, strict=True)):
        if plan.kept is not None:
            plan.kept[-1] = passes.drawn[model]
        found.append([*_segments(table, passes, plan, k), whole[model]])
    return found


def _segments(table: SparkTable, passes: Passes, plan: SegmentPlan, k: int) -> list[Evaluation]:
    from pyspark.sql import functions as f

    numbered = passes.counted(table.rows(passes.checked, plan.key))
    cases = numbered.select(
        "key", f.col(f"score_{k}").alias("score"), "pos", "neg", *(["row"] if passes.by_row else [])
    )
    if not passes.by_row:
        cases = cases.groupBy("key", "score").agg(*added(passes.totals[0]))
    ranges = {
        key: Range(code, (0, 0), (plan.totals[code].pos, plan.totals[code].neg))
        for key, code in zip(plan.numbers.keys.tolist(), plan.numbers.codes.tolist(), strict=True)
    }
    tasks = [
        passes.task(job, totals, plan.marks(at))
        for at, (job, totals) in enumerate(zip(plan.jobs[:-1], plan.totals[:-1], strict=True))
    ]
    ordered = cases.repartition(_partitions(passes, len(ranges)), "key").sortWithinPartitions("key", *passes.order())
    answers = ordered.mapInArrow(sums_of_ranges(tasks, ranges), PARTS).collect()
    told: dict[int, PartialSums] = {answer["key"]: pickle.loads(bytes(answer["part"])) for answer in answers}
    check_complete(told, ranges)
    say_if_slow(told)
    by_code = {ranges[key].model: one for key, one in told.items()}
    return [plan.finished(at, joined_parts([by_code[at]], plan.jobs[at].readings)) for at in range(len(tasks))]


def _partitions(passes: Passes, most: int) -> int:
    return max(1, min(most, -(-passes.totals[0].rows // TUNING.rows_per_partition)))


def evaluate_batches(table: SparkTable, roles: Roles, request: EvaluationRequest) -> Evaluation:
    """Evaluate the one model of a Spark DataFrame, cut batch by batch."""
    (ev,) = _in_batches(table, Passes(table, roles, request, paired=False, plan=batch_job)).values()
    return ev


def compare_batches(table: SparkTable, roles: Roles, request: EvaluationRequest, margin: float | None) -> Comparison:
    """Compare models of a Spark DataFrame, cut batch by batch."""
    passes = Passes(table, roles, one_way_of_drawing(request), paired=True, plan=batch_job)
    return batches_compared(_in_batches(table, passes), passes.drawn, margin)


def _in_batches(table: SparkTable, passes: Passes) -> dict[str, Evaluation]:
    passes.by_row = False  # batches are drawn, from what each holds
    made = {}
    for k, (model, part) in enumerate(zip(passes.models, passes.parts(), strict=True)):
        sizes = BatchSizes.of(table, passes.checked, model)
        groups = _lists(table, passes, sizes, k)
        job, totals, keep = passes.jobs[k], passes.totals[k], passes.drawn.get(model)
        made[model] = batches_finished(part, totals, job, passes.request, model, groups, sizes.batches, keep)
    return made


def _lists(table: SparkTable, passes: Passes, sizes: BatchSizes, k: int) -> BatchGroups:
    """The list of each batch."""
    from pyspark.sql import functions as f

    assert passes.checked.batch is not None
    score, weight = f.col(f"score_{k}").alias("score"), ["weight"] if passes.checked.weight is not None else []
    rows = table.rows(passes.checked, SPARK.key([passes.checked.batch])).select("key", score, "positive", *weight)
    order: list[Any] = ["key", f.col("score").desc(), *(["positive", "weight"] if weight else [])]
    split = rows.repartition(_partitions(passes, len(sizes.totals)), "key").sortWithinPartitions(*order)
    work = lists_of_batches(sizes.cells(passes.jobs[k], passes.totals[k]), sizes.numbers)
    return BatchGroups.together([pickle.loads(bytes(a["part"])) for a in split.mapInArrow(work, PARTS).collect()])

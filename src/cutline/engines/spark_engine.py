"""Tables on a Spark cluster: rows stay there; the driver sees some kilobytes for each partition.

Passes of Spark's own, and one of ours. Totals and checks; a sample of scores, from which the bounds of the ranges come;
cases by range, so that each knows what comes before it; then every range is a partition, is sorted and streamed
through the sweep on its executor, and the parts are joined on the driver. Several models go through the same passes,
each row once for each model. Bounds are constants of the query: a task that is tried again, or twice at once, does the
same work on the same rows.

Rows of segments or batches go to the partition of theirs besides: each segment's list, or the lists of some batches,
are summed on one executor. No query is made for a single segment or batch.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..catalogue.compute import SweepPlan
from ..comparison import Comparison
from ..errors import InputError, changed
from ..evaluation import Evaluation
from ..inference.batch_rows import BatchGroups
from ..runtime import TUNING, Progress
from ..segments import SegmentComparison, Segments
from ..sources.open_source import SparkTable
from ..sources.sql_table import SPARK, Roles, Totals, check
from .lists import ListPlan, compared
from .spark_work import (
    PARTS,
    PartialSums,
    Range,
    Task,
    Work,
    gaps_of_rows,
    joined_parts,
    lists_of_batches,
    sums_of_ranges,
)
from .stream import EvaluationRequest, StreamSums
from .streamed_pairs import Gaps

Keys = list[list[int]]
_MOST_PARTITIONS = 1024  # chosen by hand: the driver joins their answers, some kilobytes each
_SAMPLED_PER_PARTITION = 400  # scores that tell where ranges end: their sizes then differ by about 1/√400 = 5%


def evaluate(table: SparkTable, roles: Roles, request: EvaluationRequest) -> Evaluation | Segments:
    """Evaluate the one model of a Spark DataFrame."""
    passes = Passes(table, roles, request, paired=False)
    (found,) = passes.evaluations()
    return passes.plans[0].result(found)


def compare(
    table: SparkTable, roles: Roles, request: EvaluationRequest, margin: float | None
) -> Comparison | SegmentComparison:
    """Compare models of a Spark DataFrame on the rows that have all their scores."""
    passes = Passes(table, roles, request, paired=True)
    found, plan = passes.evaluations(), passes.plans[0]

    def add_rows(gaps: Sequence[Gaps | None]) -> None:
        for _, told in _answers(passes.rows, gaps_of_rows(gaps, plan.numbers, len(passes.plans))):
            for one, moments in zip(gaps, told, strict=True):
                if one is not None:
                    one.join(moments)

    models = [plan.model for plan in passes.plans]
    return compared(
        dict(zip(models, passes.plans, strict=True)), dict(zip(models, found, strict=True)), margin, add_rows
    )


def _answers(rows: Any, work: Work) -> list[tuple[int, Any]]:
    """What each partition tells: a key, and what belongs to it."""
    return [(answer["key"], pickle.loads(bytes(answer["part"]))) for answer in rows.mapInArrow(work, PARTS).collect()]


class Passes:
    """The checked columns of a DataFrame, and what is found of each model."""

    def __init__(self, table: SparkTable, roles: Roles, request: EvaluationRequest, *, paired: bool) -> None:
        if request.stream is False:
            remedy = "use toPandas() if you want them there"
            raise InputError("stream", "is False, which would move the rows to the driver", remedy)
        if roles.clusters is not None:
            raise InputError("clusters", "needs the rows in memory, but these stay on the cluster", "leave it out")
        self.session = table.frame.sparkSession
        self._progress = Progress(f"Spark: {', '.join(roles.scores.values())}", 4, request.settings.progress)
        checked = check(table, roles)
        self._progress.advance()
        self.totals = list(checked.totals.values())
        self.plans = [ListPlan(table, checked, model, request, paired=paired) for model in roles.scores]
        self.by_row, self.rows = self.plans[0].by_row, table.rows(checked, self.plans[0].key)

    def evaluations(self) -> list[list[Evaluation]]:
        """For each model the evaluation of each segment, if there are any, then that of all rows."""
        found = []
        for k, (plan, part) in enumerate(zip(self.plans, self._parts(), strict=True)):
            groups = None if plan.sizes is None else self._lists(plan, k)
            whole = plan.evaluation(len(plan.keys), part, groups)
            found.append([*(self._segments(plan, k) if plan.keys else ()), whole])
        return found

    def _parts(self) -> list[StreamSums]:
        """What was gathered of each model's list, from one shuffle."""
        with self._progress as progress:
            bounds = _bounds(self.rows, self.totals)
            progress.advance()
            keys = _keys(self.session, [len(cuts) + 1 for cuts in bounds])
            keyed = self._cases().withColumn("key", _key(bounds, keys)).drop("model")  # the key tells it
            ranges = _ranges(keyed, keys, self.totals[0])
            progress.advance()
            tasks = [self._task(plan, len(plan.keys)) for plan in self.plans]
            found = self._summed(keyed, sum(map(len, keys)), tasks, ranges)
        told = ([found[key] for key in own if key in found] for own in keys)
        return [joined_parts(one, plan.jobs[-1].readings) for plan, one in zip(self.plans, told, strict=True)]

    def _summed(
        self, keyed: Any, partitions: int, tasks: list[Task], ranges: Mapping[int, Range]
    ) -> dict[int, PartialSums]:
        """The sums of each range of scores, by its key: best first, weights that tie in one order.

        So their sums are the same in every run.
        """
        last = ["pos", "neg", *(["row"] if self.by_row else [])] if self.totals[0].weighted else []
        ordered = keyed.repartition(partitions, "key").sortWithinPartitions("key", _falling("score"), *last)
        found: dict[int, PartialSums] = dict(_answers(ordered, sums_of_ranges(tasks, ranges)))
        _check_complete(found, ranges)
        return found

    def _task(self, plan: ListPlan, k: int) -> Task:
        """What executors sum of a list; the measures that are read from it stay on the driver."""
        job = plan.jobs[k]
        readings = [SweepPlan((), reading.request, reading.cases, reading.ties) for reading in job.readings]
        draws = (job.drawn_by_row, job.settings.seed) if self.by_row else None
        return Task(plan.totals[k], readings, job.tolerance, plan.marks(k), draws)

    def _counted(self) -> Any:
        """Rows with positives and negatives (rows or weights) and, where they draw weights, the row's number."""
        from pyspark.sql import functions as f

        weighted = self.totals[0].weighted
        one = f.col("weight") if weighted else f.lit(1).cast("long")
        none = f.lit(0.0) if weighted else f.lit(0).cast("long")
        pos, neg = (f.when(f.col("positive"), a).otherwise(b) for a, b in ((one, none), (none, one)))
        made = self.rows.withColumn("pos", pos).withColumn("neg", neg)
        return made.withColumn("row", f.monotonically_increasing_id()) if self.by_row else made

    def _cases(self) -> Any:
        """Model, score, positives and negatives (rows or weights), and where rows draw weights, the row's number.

        Where scores tie, equal ones are added up first. Spark does so within each partition before it shuffles: one
        score that half of the rows have is a row per partition. Rows that draw their own weights travel one by one.
        """
        from pyspark.sql import functions as f

        models, counted = range(len(self.plans)), self._counted()
        kept = ["pos", "neg", *(["row"] if self.by_row else [])]
        if len(models) == 1:
            cases = counted.select(f.lit(0).alias("model"), f.col("score_0").alias("score"), *kept)
        else:
            each = f.posexplode(f.array(*(f.col(f"score_{k}") for k in models))).alias("model", "score")
            cases = counted.select(each, *kept)
        distinct, rows = (sum(getattr(totals, what) for totals in self.totals) for what in ("distinct", "rows"))
        if not self.by_row and distinct < TUNING.tied_share * rows:
            cases = cases.groupBy("model", "score").agg(*_added(self.totals[0]))
        return cases

    def _segments(self, plan: ListPlan, k: int) -> list[Evaluation]:
        """The evaluation of each segment."""
        from pyspark.sql import functions as f

        assert plan.numbers is not None
        score, row = f.col(f"score_{k}").alias("score"), ["row"] if self.by_row else []
        cases = self._counted().select("key", score, "pos", "neg", *row)
        if not self.by_row:
            cases = cases.groupBy("key", "score").agg(*_added(self.totals[0]))
        ranges = {
            key: Range(code, (0, 0), (plan.totals[code].pos, plan.totals[code].neg))
            for key, code in zip(plan.numbers.hashes.tolist(), plan.numbers.codes.tolist(), strict=True)
        }
        tasks = [self._task(plan, at) for at in range(len(plan.keys))]
        told = self._summed(cases, self._partitions(len(ranges)), tasks, ranges)
        by_code = {ranges[key].model: one for key, one in told.items()}
        return [plan.evaluation(at, joined_parts([by_code[at]], plan.jobs[at].readings)) for at in range(len(tasks))]

    def _lists(self, plan: ListPlan, k: int) -> BatchGroups:
        """The list of each batch."""
        from pyspark.sql import functions as f

        assert plan.sizes is not None
        score, weight = f.col(f"score_{k}").alias("score"), ["weight"] if plan.whole.weighted else []
        rows = self.rows.select("key", score, "positive", *weight)
        order: list[Any] = ["key", _falling("score"), *(["positive", "weight"] if weight else [])]
        split = rows.repartition(self._partitions(len(plan.sizes.totals)), "key").sortWithinPartitions(*order)
        work = lists_of_batches(plan.sizes.cells(plan.jobs[-1], plan.whole), plan.sizes.numbers)
        return BatchGroups.together([groups for _, groups in _answers(split, work)])

    def _partitions(self, most: int) -> int:
        return max(1, min(most, -(-self.totals[0].rows // TUNING.rows_per_partition)))


def _added(totals: Totals) -> list[Any]:
    """Cases of each class, added up to the same bits whatever order Spark takes."""
    from pyspark.sql import functions as f

    if not totals.weighted:
        return [f.sum(side).alias(side) for side in ("pos", "neg")]
    exact = {side: SPARK.exact_sum(side, bits) for side, bits in zip(("pos", "neg"), totals.weight_bits, strict=True)}
    units = [f.lit(2.0**-bits) for bits in totals.weight_bits]
    return [
        (f.expr(total).cast("double") * unit).alias(side)
        for (side, total), unit in zip(exact.items(), units, strict=True)
    ]


def _falling(column: str) -> Any:
    from pyspark.sql import functions as f

    return f.col(column).desc()


def _bounds(rows: Any, totals: Sequence[Totals]) -> list[list[float]]:
    """For each model, falling scores that cut its rows into ranges of about the same size.

    They decide on speed, not on results.
    """
    parts = min(max(1, _MOST_PARTITIONS // len(totals)), -(-totals[0].rows // TUNING.rows_per_partition))
    if parts < 2:
        return [[] for _ in totals]
    share = min(1.0, 1.5 * parts * _SAMPLED_PER_PARTITION / totals[0].rows)
    drawn = rows.select(*(f"score_{k}" for k in range(len(totals)))).sample(fraction=share, seed=0)
    found = np.array(drawn.limit(2 * parts * _SAMPLED_PER_PARTITION).collect(), dtype=np.float64)
    if len(found) == 0:
        return [[] for _ in totals]
    bounds = []
    for column in np.sort(found, axis=0).T:
        cuts = np.unique(column[(np.arange(1, parts) * len(column)) // parts])[::-1]
        bounds.append([float(cut) for cut in cuts if np.isfinite(cut)])
    return bounds


def _keys(session: Any, parts: Sequence[int]) -> Keys:
    """For each range of each model, best scores first, a number that Spark's partitioner sends to its own place."""
    from pyspark.sql import functions as f

    total = sum(parts)
    if total == 1:
        return [[0]]
    numbers = session.range(40 * total + 1000).select(f.col("id").cast("int").alias("number"))
    where = numbers.select("number", f.pmod(f.hash("number"), f.lit(total)).alias("place"))
    found = where.groupBy("place").agg(f.min("number").alias("number")).collect()
    number = {int(row["place"]): int(row["number"]) for row in found}
    ends = np.cumsum(parts)
    return [[number[place] for place in range(end - n, end)] for n, end in zip(parts, ends.tolist(), strict=True)]


def _key(bounds: Sequence[Sequence[float]], keys: Keys) -> Any:
    """The key of a score's range: for each model a search tree of conditions."""
    from pyspark.sql import functions as f

    def tree(k: int, first: int, last: int) -> Any:
        if first == last:
            return f.lit(keys[k][first]).cast("int")
        middle = (first + last) // 2
        above = f.col("score") >= f.lit(bounds[k][middle])
        return f.when(above, tree(k, first, middle)).otherwise(tree(k, middle + 1, last))

    chosen = tree(0, 0, len(bounds[0]))
    for k in range(1, len(bounds)):
        chosen = f.when(f.col("model") == k, tree(k, 0, len(bounds[k]))).otherwise(chosen)
    return chosen


def _ranges(keyed: Any, keys: Keys, totals: Totals) -> dict[int, Range]:
    """For each key that has rows: whose range it is, the cases before it, and its own."""
    counted = keyed.groupBy("key").agg(*_added(totals)).collect()
    sizes = {int(row["key"]): (row["pos"], row["neg"]) for row in counted}
    ranges: dict[int, Range] = {}
    for model, own in enumerate(keys):
        pos: float = 0
        neg: float = 0
        for key in own:
            if key in sizes:
                ranges[key] = Range(model, (pos, neg), sizes[key])
                pos, neg = pos + sizes[key][0], neg + sizes[key][1]
    return ranges


def _check_complete(found: Mapping[int, PartialSums], ranges: Mapping[int, Range]) -> None:
    """Every range answered, with the cases that were counted in it: what comes after it was summed from there."""
    for key, here in ranges.items():
        blocks = found[key].part.blocks if key in found else np.zeros((1, 5))
        if not np.allclose((blocks[:, 2].sum(), blocks[:, 3].sum()), here.own, rtol=1e-9, atol=0.0):
            raise changed(
                "the table",
                f"a partition had {here.own[0]} positives and {here.own[1]} negatives when it was counted, "
                f"{blocks[:, 2].sum():g} and {blocks[:, 3].sum():g} when it was summed",
            )

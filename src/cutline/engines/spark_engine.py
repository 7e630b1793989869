"""Tables on a Spark cluster: rows stay there; the driver sees some kilobytes for each partition.

Passes of Spark's own, and one of ours. Totals and checks; a sample of scores, from which the bounds of the ranges come;
cases by range, so that each knows what comes before it; then every range is a partition, is sorted and streamed
through the sweep on its executor, and the parts are joined on the driver. Several models go through the same passes,
each row once for each model. Bounds are constants of the query: a task that is tried again, or twice at once, does the
same work on the same rows.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import SweepPlan
from ..comparison import Comparison
from ..errors import InputError
from ..evaluation import Evaluation
from ..progress import Progress
from ..sources.spark import SparkTable
from ..sources.tables import SPARK, Roles, check, check_same
from ..tuning import TUNING
from .comparing import comparison_of, discordant_rows, gaps_between, thresholds_compared
from .partition import PartialSums, joined_parts
from .request import EvaluationRequest, Job
from .spark_work import PARTS, Range, Task, gaps_of_rows, sums_of_ranges
from .stream import Part, Totals
from .streamed import finish, needs_rows

Keys = list[list[int]]
_MOST_PARTITIONS = 1024
_SAMPLED_PER_PARTITION = 400


def evaluate(table: SparkTable, roles: Roles, request: EvaluationRequest) -> Evaluation:
    """Evaluate the one model of a Spark DataFrame."""
    (ev,) = Passes(table, roles, request, paired=False).evaluations().values()
    return ev


def compare(table: SparkTable, roles: Roles, request: EvaluationRequest, margin: float | None) -> Comparison:
    """Compare models of a Spark DataFrame on the rows that have all their scores."""
    passes = Passes(table, roles, request, paired=True)
    evaluations = passes.evaluations()
    gaps, thresholds = gaps_between(evaluations), thresholds_compared(evaluations)
    if gaps is not None:
        for answer in passes.rows.mapInArrow(gaps_of_rows(gaps, len(evaluations)), PARTS).collect():
            gaps.join(pickle.loads(bytes(answer["part"])))
    counted = discordant_rows(table, passes.checked, thresholds)[()] if thresholds else {}
    return comparison_of(evaluations, passes.drawn, margin, gaps, counted)


class Passes:
    """The checked columns of a DataFrame, and what is found of each model."""

    def __init__(
        self,
        table: SparkTable,
        roles: Roles,
        request: EvaluationRequest,
        *,
        paired: bool,
        plan: Callable[[EvaluationRequest, Totals], Job] = Job.of,
    ) -> None:
        if request.stream is False:
            remedy = "use toPandas() if you want them there"
            raise InputError("stream", "is False, which would move the rows to the driver", remedy)
        if roles.clusters is not None:
            raise InputError("clusters", "needs the rows in memory, but these stay on the cluster", "leave it out")
        self.session, self.models, self.request = table.frame.sparkSession, list(roles.scores), request
        self._progress = Progress(f"Spark: {', '.join(roles.scores.values())}", 4, request.settings.progress)
        self.checked = check(table, roles)
        self.rows, self.totals = table.rows(self.checked), list(self.checked.totals.values())
        self.marks: list[float] = []  # places, besides those of the jobs, whose cuts are kept exact
        self._progress.advance()
        self.jobs = [plan(request, totals) for totals in self.totals]
        self.by_row = needs_rows(self.jobs[0].settings, weighted=roles.weight is not None, paired=paired)
        self.drawn: dict[str, dict[str, NDArray[np.float64]]] = {model: {} for model in self.models} if paired else {}

    def evaluations(self) -> dict[str, Evaluation]:
        """The evaluation of each model, from one shuffle."""
        return {
            name: finish(part, self.totals[k], self.jobs[k], self.request, name, self.drawn.get(name))
            for k, (name, part) in enumerate(zip(self.models, self.parts(), strict=True))
        }

    def parts(self) -> list[Part]:
        """What was gathered of each model's list."""
        with self._progress as progress:
            bounds = _bounds(self.rows, self.totals)
            progress.advance()
            keys = _keys(self.session, [len(cuts) + 1 for cuts in bounds])
            keyed = self._cases().withColumn("key", _key(bounds, keys)).drop("model")  # the key tells it
            ranges = _ranges(keyed, keys, self.totals[0])
            progress.advance()
            ordered = keyed.repartition(sum(map(len, keys)), "key").sortWithinPartitions("key", *self.order())
            answers = ordered.mapInArrow(sums_of_ranges(self._tasks(), ranges), PARTS).collect()
        found: dict[int, PartialSums] = {answer["key"]: pickle.loads(bytes(answer["part"])) for answer in answers}
        check_complete(found, ranges)
        say_if_slow(found)
        return [self._joined(k, [found[key] for key in keys[k] if key in found]) for k in range(len(self.models))]

    def _joined(self, k: int, told: Sequence[PartialSums]) -> Part:
        part = joined_parts(told, self.jobs[k].readings)
        check_same("the table", self.totals[k], *part.blocks[:, [2, 3, 1]].T)
        return part

    def _tasks(self) -> list[Task]:
        jobs = zip(self.jobs, self.totals, strict=True)
        return [self.task(job, totals, [*job.marks(totals.cases), *self.marks]) for job, totals in jobs]

    def task(self, job: Job, totals: Totals, marks: list[float]) -> Task:
        """What executors sum of a list; the measures that are read from it stay on the driver."""
        readings = [SweepPlan((), reading.request, reading.cases, reading.ties) for reading in job.readings]
        draws = (job.settings.n_resamples, job.settings.seed) if self.by_row else None
        return Task(totals, readings, job.tolerance, marks, draws)

    def counted(self, rows: Any) -> Any:
        """Rows with positives and negatives (rows or weights) and, where they draw weights, the row's number."""
        from pyspark.sql import functions as f

        weighted = self.totals[0].weighted
        one = f.col("weight") if weighted else f.lit(1).cast("long")
        none = f.lit(0.0) if weighted else f.lit(0).cast("long")
        pos, neg = (f.when(f.col("positive"), a).otherwise(b) for a, b in ((one, none), (none, one)))
        made = rows.withColumn("pos", pos).withColumn("neg", neg)
        return made.withColumn("row", f.monotonically_increasing_id()) if self.by_row else made

    def _cases(self) -> Any:
        """Model, score, positives and negatives (rows or weights), and where rows draw weights, the row's number.

        Where scores tie, equal ones are added up first. Spark does so within each partition before it shuffles: one
        score that half of the rows have is a row per partition. Rows that draw their own weights travel one by one.
        """
        from pyspark.sql import functions as f

        models, counted = range(len(self.models)), self.counted(self.rows)
        kept = ["pos", "neg", *(["row"] if self.by_row else [])]
        if len(self.models) == 1:
            cases = counted.select(f.lit(0).alias("model"), f.col("score_0").alias("score"), *kept)
        else:
            each = f.posexplode(f.array(*(f.col(f"score_{k}") for k in models))).alias("model", "score")
            cases = counted.select(each, *kept)
        distinct, rows = (sum(getattr(totals, what) for totals in self.totals) for what in ("distinct", "rows"))
        if not self.by_row and distinct < TUNING.tied_share * rows:
            cases = cases.groupBy("model", "score").agg(*added(self.totals[0]))
        return cases

    def order(self) -> list[Any]:
        """Best first; weights that tie in one order, so that their sums are the same in every run."""
        last = ["pos", "neg", *(["row"] if self.by_row else [])] if self.totals[0].weighted else []
        return [_falling("score"), *last]


def added(totals: Totals) -> list[Any]:
    """Cases of each class, added up to the same bits whatever order Spark takes."""
    from pyspark.sql import functions as f

    if not totals.weighted:
        return [f.sum(side).alias(side) for side in ("pos", "neg")]
    exact = [f.expr(SPARK.exact_sum(side, totals.weight_bits)) for side in ("pos", "neg")]
    unit = f.lit(2.0**-totals.weight_bits)
    return [(total.cast("double") * unit).alias(side) for total, side in zip(exact, ("pos", "neg"), strict=True)]


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
    counted = keyed.groupBy("key").agg(*added(totals)).collect()
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


def check_complete(found: Mapping[int, PartialSums], ranges: Mapping[int, Range]) -> None:
    """Every range answered, with the cases that were counted in it: what comes after it was summed from there."""
    for key, here in ranges.items():
        blocks = found[key].part.blocks if key in found else np.zeros((1, 5))
        if not np.allclose((blocks[:, 2].sum(), blocks[:, 3].sum()), here.own, rtol=1e-9, atol=0.0):
            raise RuntimeError(
                f"the table changed while it was read: a partition had {here.own[0]} positives and {here.own[1]} "
                f"negatives when it was counted, {blocks[:, 2].sum():g} and {blocks[:, 3].sum():g} when it was summed; "
                "is it random, or being written? Save it first"
            )


def say_if_slow(found: Mapping[int, PartialSums]) -> None:
    """Executors without numba take longer."""
    slow = sum(not told.compiled for told in found.values())
    if slow:
        warnings.warn(
            f"{slow} of {len(found)} partitions were summed without numba, which their executors lack: the results are "
            "the same, the sums take longer; see 'What executors need' in the guide to files and clusters",
            stacklevel=5,
        )

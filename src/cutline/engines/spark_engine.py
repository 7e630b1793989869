"""Tables on a Spark cluster: rows stay there; the driver sees some kilobytes for each partition.

Passes of Spark's own, and one of ours. Totals and checks; a sample of scores, from which the bounds of the ranges come;
cases by range, so that each knows what comes before it; then every range is a partition, is sorted and streamed
through the sweep on its executor, and the parts are joined on the driver. Several models go through the same passes,
each row once for each model. Bounds are constants of the query: a task that is tried again, or twice at once, does the
same work on the same rows. Executors need cutline, NumPy and pyarrow.

Rows of segments or batches go to the partition of theirs besides: each segment's list, or the lists of some batches,
are summed on one executor. No query is made for a single segment or batch.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..comparison import Comparison
from ..errors import InputError, changed
from ..evaluation import Evaluation
from ..inference.batch_rows import BatchGroups
from ..partition import HashedPartition
from ..runtime import TUNING, Progress
from ..segments import SegmentComparison, Segments
from ..sources.open_source import SparkTable
from ..sources.sql_table import SPARK, Roles, Totals, check
from .lists import ListPlan, compared
from .stream import EvaluationRequest, Stream, StreamSums
from .streamed import BatchCells

Work = Callable[[Iterator[Any]], Iterator[Any]]
Keys = list[list[int]]
Cases = tuple[float, float]  # positives and negatives
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
    plans = {plan.model: plan for plan in passes.plans}
    return compared(plans, dict(zip(plans, passes.evaluations(), strict=True)), margin)


def _answers(rows: Any, work: Work) -> list[tuple[int, Any]]:
    """What each partition tells: a key, and what belongs to it."""
    answers = rows.mapInArrow(work, "key bigint, part binary").collect()
    return [(answer["key"], pickle.loads(bytes(answer["part"]))) for answer in answers]


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
        for k, (plan, parts) in enumerate(zip(self.plans, self._parts(), strict=True)):
            groups = None if plan.batches is None else self._lists(plan, k)
            whole = plan.evaluation(len(plan.keys), parts, groups)
            found.append([*(self._segments(plan, k) if plan.keys else ()), whole])
        return found

    def _parts(self) -> list[list[StreamSums]]:
        """What was gathered of each model's list, from one shuffle."""
        with self._progress as progress:
            bounds = _bounds(self.rows, self.totals)
            progress.advance()
            keys = _keys(self.session, [len(cuts) + 1 for cuts in bounds])
            keyed = self._cases().withColumn("key", _key(bounds, keys)).drop("model")  # the key tells it
            counted = keyed.groupBy("key").agg(*_added(self.totals[0])).collect()
            sizes = {int(row["key"]): (row["pos"], row["neg"]) for row in counted}  # of each key that has rows
            progress.advance()
            streams: dict[int, Stream] = {}
            for plan, own in zip(self.plans, keys, strict=True):
                before: Cases = (0, 0)
                for key in [key for key in own if key in sizes]:
                    streams[key] = plan.stream(len(plan.keys), before, in_threads=False)  # a task has one core
                    before = before[0] + sizes[key][0], before[1] + sizes[key][1]
            found = self._summed(keyed, sum(map(len, keys)), streams, sizes)
        return [[found[key] for key in own if key in found] for own in keys]

    def _summed(
        self, keyed: Any, partitions: int, streams: Mapping[int, Stream], sizes: Mapping[int, Cases]
    ) -> dict[int, StreamSums]:
        """The sums of each range of scores, by its key; weights that tie come in one order, the same in every run."""
        from pyspark.sql import functions as f

        last = ["pos", "neg", *(["row"] if self.by_row else [])] if self.totals[0].weighted else []
        ordered = keyed.repartition(partitions, "key").sortWithinPartitions("key", f.desc("score"), *last)
        found: dict[int, StreamSums] = dict(_answers(ordered, sums_of_ranges(streams)))
        for key, counted in sizes.items():  # what comes after a range was summed from there
            summed = found[key].blocks[:, 2:4].sum(axis=0) if key in found else np.zeros(2)
            if not np.allclose(summed, counted, rtol=1e-9, atol=0.0):
                words = [f"{pos:g} positives and {neg:g} negatives when it was" for pos, neg in (counted, summed)]
                raise changed("the table", f"a partition had {words[0]} counted, {words[1]} summed")
        return found

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
        codes = dict(zip(plan.numbers.hashes.tolist(), plan.numbers.codes.tolist(), strict=True))
        streams = {key: plan.stream(code, in_threads=False) for key, code in codes.items()}
        sizes = {key: (plan.totals[code].pos, plan.totals[code].neg) for key, code in codes.items()}
        told = self._summed(cases, self._partitions(len(codes)), streams, sizes)
        return [plan.evaluation(code, [told[key]]) for key, code in sorted(codes.items(), key=lambda item: item[1])]

    def _lists(self, plan: ListPlan, k: int) -> BatchGroups:
        """The list of each batch."""
        from pyspark.sql import functions as f

        cells = plan.cells()
        assert cells is not None
        assert plan.numbers is not None
        score, weight = f.col(f"score_{k}").alias("score"), ["weight"] if plan.whole.weighted else []
        rows = self.rows.select("key", score, "positive", *weight)
        order: list[Any] = ["key", f.desc("score"), *(["positive", "weight"] if weight else [])]
        split = rows.repartition(self._partitions(len(plan.in_batches)), "key").sortWithinPartitions(*order)
        answers = _answers(split, lists_of_batches(cells, plan.numbers))
        return BatchGroups.together([groups for _, groups in answers])

    def _partitions(self, most: int) -> int:
        return max(1, min(most, -(-self.totals[0].rows // TUNING.rows_per_partition)))


def _added(totals: Totals) -> list[Any]:
    """Cases of each class, added up to the same bits whatever order Spark takes."""
    from pyspark.sql import functions as f

    if not totals.weighted:
        return [f.sum(side).alias(side) for side in ("pos", "neg")]
    return [
        (f.expr(SPARK.exact_sum(side, bits)).cast("double") * f.lit(2.0**-bits)).alias(side)
        for side, bits in zip(("pos", "neg"), totals.weight_bits, strict=True)
    ]


def _bounds(rows: Any, totals: Sequence[Totals]) -> list[list[float]]:
    """For each model, falling scores that cut its rows into ranges of about the same size: for speed, not results."""
    parts = min(max(1, _MOST_PARTITIONS // len(totals)), -(-totals[0].rows // TUNING.rows_per_partition))
    if parts < 2:
        return [[] for _ in totals]
    share = min(1.0, 1.5 * parts * _SAMPLED_PER_PARTITION / totals[0].rows)
    drawn = rows.select(*(f"score_{k}" for k in range(len(totals)))).sample(fraction=share, seed=0)
    found = np.array(drawn.limit(2 * parts * _SAMPLED_PER_PARTITION).collect(), dtype=np.float64)
    if len(found) == 0:
        return [[] for _ in totals]
    cuts = np.sort(found, axis=0)[(np.arange(1, parts) * len(found)) // parts].T
    return [np.unique(own[np.isfinite(own)])[::-1].tolist() for own in cuts]


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


def sums_of_ranges(streams: Mapping[int, Stream]) -> Work:
    """A function for Spark: rows in the order of their keys, then scores, in; one small part for each key out."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        key: int | None = None
        for columns in _gathered(batches):
            starts = np.concatenate([[0], np.flatnonzero(np.diff(columns["key"])) + 1, [len(columns["key"])]])
            for first, last in pairwise(starts.tolist()):
                own = int(columns["key"][first])
                if key is not None and own != key:
                    yield _answer(key, streams[key].finish())
                key, stream = own, streams[own]
                score, pos, neg = (columns[name][first:last] for name in ("score", "pos", "neg"))
                if stream.draws is None:
                    stream.feed_groups(score, pos, neg)
                else:
                    weight = pos + neg if stream.totals.weighted else None
                    stream.feed(score, (pos > 0).astype(np.uint8), weight, columns["row"][first:last])
        if key is not None:
            yield _answer(key, streams[key].finish())

    return work


def lists_of_batches(cells: BatchCells, numbers: HashedPartition) -> Work:
    """A function for Spark: the rows of some batches, sorted by batch and score, in; the list of each batch out."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for columns in _gathered(batches):
            weight = columns.get("weight")
            cells.add(numbers(columns["key"]), columns["score"], columns["positive"], weight)
        groups = cells.finish()
        if groups is not None:
            yield _answer(0, groups)

    return work


def _answer(key: int, what: Any) -> Any:
    import pyarrow

    part = pyarrow.array([pickle.dumps(what, protocol=5)], pyarrow.binary())
    return pyarrow.RecordBatch.from_pydict({"key": pyarrow.array([key], pyarrow.int64()), "part": part})


def _gathered(batches: Iterator[Any]) -> Iterator[dict[str, NDArray[Any]]]:
    """Columns of several batches together: small batches would cost more in calls than in sums."""
    waiting: list[Any] = []
    for batch in chain(batches, [None]):
        waiting += [batch] if batch is not None and batch.num_rows else []
        if waiting and (batch is None or sum(own.num_rows for own in waiting) >= TUNING.rows_together):
            names = waiting[0].schema.names
            yield {n: np.concatenate([b.column(n).to_numpy(zero_copy_only=False) for b in waiting]) for n in names}
            waiting = []

"""One table on a Spark cluster: rows stay there; the driver sees some kilobytes for each partition.

Four passes of Spark's own, and one of ours. Totals and checks; a sample of scores, from which the bounds of the
partitions come; cases by partition, so that each knows what comes before it; then every partition is sorted and
streamed through the sweep on its executor, and the parts are joined on the driver. Bounds are constants of the query:
a task that is tried again, or twice at once, does the same work on the same rows.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..evaluate import Evaluation
from ..measures.reading import Reading
from ..sweep import Start
from .partition import PartStream, joined_parts
from .result import finish
from .spark_checks import Columns, check
from .stream import Totals
from .wishes import Job, Wishes

_ROWS_PER_PARTITION = 500_000
_MOST_PARTITIONS = 1024
_SAMPLED_PER_PARTITION = 400
_TIED = 0.8  # with fewer distinct scores than this share of the rows, equal scores are added up before the shuffle


def evaluate(
    frame: Any, *, label: str, score: str, weight: str | None, positive: Any, missing: str, name: str, wishes: Wishes
) -> Evaluation:
    """Evaluate one score column of a Spark DataFrame."""
    if wishes.stream is False:
        raise InputError("stream=False would move the rows to the driver; use toPandas() if that is what you want")
    if weight is not None and wishes.settings.interval in ("bootstrap", "percentile", "basic"):
        raise InputError("weighted rows on Spark have no bootstrap intervals; use interval=None, or DuckDB")
    columns, totals = check(frame, label, score, weight, positive, missing)
    job = Job.of(wishes, totals)
    rows = _cases(columns, totals)
    bounds = _bounds(columns, totals)
    keys = _keys(frame, len(bounds) + 1)
    keyed = rows.withColumn("key", _key(bounds, keys))
    starts = _starts(keyed, keys)
    work = _work(totals, job, starts)
    ordered = keyed.repartition(len(keys), "key").sortWithinPartitions(_descending("score"))
    answers = ordered.mapInArrow(work, "key int, part binary").collect()
    found = {answer["key"]: pickle.loads(bytes(answer["part"])) for answer in answers}
    _complete(found, starts)
    part = joined_parts([found[key] for key in keys if key in found], job.readings)
    return finish(
        part,
        totals,
        job.specs,
        job.readings,
        job.obstacles,
        job.settings,
        name=name,
        threshold=wishes.threshold,
        quota=job.rows_at_quota,
        tolerance=job.tolerance,
    )


def _descending(column: str) -> Any:
    from pyspark.sql import functions as f

    return f.col(column).desc()


def _cases(columns: Columns, totals: Totals) -> Any:
    """Score, positives and negatives (rows or weights); equal scores added up where there are many.

    Spark adds up within each partition before it shuffles: one score that half of the rows have is a row per partition.
    """
    from pyspark.sql import functions as f

    one = f.col("weight") if totals.weighted else f.lit(1).cast("long")
    none = f.lit(0.0) if totals.weighted else f.lit(0).cast("long")
    cases = columns.frame.select(
        "score",
        f.when(f.col("positive"), one).otherwise(none).alias("pos"),
        f.when(f.col("positive"), none).otherwise(one).alias("neg"),
    )
    if totals.distinct < _TIED * totals.rows:
        cases = cases.groupBy("score").agg(f.sum("pos").alias("pos"), f.sum("neg").alias("neg"))
    return cases


def _bounds(columns: Columns, totals: Totals) -> list[float]:
    """Falling scores that cut the rows into partitions of about the same size. They decide on speed, not on results."""
    parts = min(_MOST_PARTITIONS, -(-totals.rows // _ROWS_PER_PARTITION))
    if parts < 2:
        return []
    share = min(1.0, 1.5 * parts * _SAMPLED_PER_PARTITION / totals.rows)
    drawn = columns.frame.select("score").sample(fraction=share, seed=0).limit(2 * parts * _SAMPLED_PER_PARTITION)
    scores = np.sort(np.array([row[0] for row in drawn.collect()], dtype=np.float64))
    if len(scores) == 0:
        return []
    cuts = np.unique(scores[(np.arange(1, parts) * len(scores)) // parts])[::-1]
    return [float(cut) for cut in cuts if np.isfinite(cut)]


def _keys(frame: Any, parts: int) -> list[int]:
    """For each partition, best scores first, a number that Spark's partitioner sends there: none is shared or empty."""
    from pyspark.sql import functions as f

    if parts == 1:
        return [0]
    numbers = frame.sparkSession.range(40 * parts + 1000).select(f.col("id").cast("int").alias("number"))
    where = numbers.select("number", f.pmod(f.hash("number"), f.lit(parts)).alias("place"))
    found = where.groupBy("place").agg(f.min("number").alias("number")).collect()
    keys = {int(row["place"]): int(row["number"]) for row in found}
    return [keys[place] for place in range(parts)]


def _key(bounds: list[float], keys: list[int]) -> Any:
    """The key of a score's partition: a search tree of conditions."""
    from pyspark.sql import functions as f

    def tree(first: int, last: int) -> Any:
        if first == last:
            return f.lit(keys[first]).cast("int")
        middle = (first + last) // 2
        return f.when(f.col("score") >= f.lit(bounds[middle]), tree(first, middle)).otherwise(tree(middle + 1, last))

    return tree(0, len(bounds))


def _starts(keyed: Any, keys: list[int]) -> dict[int, tuple[float, float, float, float]]:
    """For each key: positives and negatives in the partitions before it, then its own."""
    from pyspark.sql import functions as f

    counted = keyed.groupBy("key").agg(f.sum("pos").alias("pos"), f.sum("neg").alias("neg")).collect()
    sizes = {int(row["key"]): (row["pos"], row["neg"]) for row in counted}
    starts = {}
    pos: float = 0
    neg: float = 0
    for key in keys:
        if key in sizes:
            own = sizes[key]
            starts[key] = (pos, neg, own[0], own[1])
            pos, neg = pos + own[0], neg + own[1]
    return starts


def _work(
    totals: Totals, job: Job, starts: Mapping[int, tuple[float, float, float, float]]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What an executor does with a partition: batches of sorted rows in, one small part out."""
    # executors sum what was requested; the measures that are read from it stay on the driver
    readings = [Reading((), reading.request, reading.rows, reading.ties) for reading in job.readings]
    tolerance, marks = job.tolerance, job.marks(totals.rows)

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        _need_numba()
        import pyarrow

        stream, key = None, 0
        for batch in batches:
            if batch.num_rows == 0:
                continue
            score, pos, neg = (batch.column(name).to_numpy(zero_copy_only=False) for name in ("score", "pos", "neg"))
            if stream is None:
                key = batch.column("key")[0].as_py()
                before = Start(starts[key][0], starts[key][1])
                stream = PartStream(totals, readings, tolerance=tolerance, marks=marks, start=before)
            if batch.column("key")[-1].as_py() != key:
                raise RuntimeError("two ranges of scores came to one partition; the sums would be wrong")
            stream.feed_groups(np.asarray(score, dtype=np.float64), pos, neg)
        if stream is not None:
            part = pickle.dumps(stream.finished(), protocol=5)
            yield pyarrow.RecordBatch.from_pydict(
                {"key": pyarrow.array([key], pyarrow.int32()), "part": pyarrow.array([part], pyarrow.binary())}
            )

    return work


def _need_numba() -> None:
    """Executors compile the sweep: say so where they cannot, before a row is read."""
    try:
        import numba  # noqa: F401
    except ImportError:
        raise RuntimeError(
            "this executor has no numba; install cutline with its dependencies on the executors, or ship them with "
            "spark.archives"
        ) from None


def _complete(found: Mapping[int, Any], starts: Mapping[int, tuple[float, float, float, float]]) -> None:
    """Every partition answered, with the rows that were counted in it."""
    for key, (_, _, pos, neg) in starts.items():
        blocks = found[key].part.blocks if key in found else np.zeros((1, 5))
        if not np.allclose((blocks[:, 2].sum(), blocks[:, 3].sum()), (pos, neg), rtol=1e-9, atol=0.0):
            raise RuntimeError(
                f"the table changed while it was read: a partition had {pos} positives and {neg} negatives when it was "
                f"counted, {blocks[:, 2].sum():g} and {blocks[:, 3].sum():g} when it was summed; is it random, or "
                "being written? Save it first"
            )

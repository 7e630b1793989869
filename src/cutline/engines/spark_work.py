"""What runs on Spark's executors. It needs cutline, NumPy and pyarrow there, and numba to be quick; nothing else."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import SweepPlan
from ..sweep import Start
from ..tuning import TUNING
from .draws import Draws
from .pairs import Gaps
from .partition import PartStream
from .stream import Totals

Work = Callable[[Iterator[Any]], Iterator[Any]]
PARTS = "key int, part binary"


@dataclass(frozen=True)
class Task:
    """What an executor must know of a model to sum a range of its scores."""

    totals: Totals
    readings: list[SweepPlan]
    tolerance: float
    marks: list[float]
    draws: tuple[int, int] | None  # replicates and seed, where rows are drawn one by one


@dataclass(frozen=True)
class Range:
    """A range of scores: whose it is, the cases before it, its own."""

    model: int
    before: tuple[float, float]
    own: tuple[float, float]


def sums_of_ranges(tasks: list[Task], ranges: Mapping[int, Range]) -> Work:
    """A function for Spark: the sorted rows of one range in, one small part out."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        return _sum_range(tasks, ranges, batches)

    return work


def _sum_range(tasks: list[Task], ranges: Mapping[int, Range], batches: Iterator[Any]) -> Iterator[Any]:
    stream, key = None, 0
    for columns in _gathered(batches):
        if stream is None:
            key = int(columns["key"][0])
            task, here = tasks[ranges[key].model], ranges[key]
            stream = _stream(task, here)
        if columns["key"].min() != key or columns["key"].max() != key:
            raise RuntimeError("two ranges of scores came to one partition; the sums would be wrong")
        score, pos, neg = columns["score"], columns["pos"], columns["neg"]
        if task.draws is None:
            stream.feed_groups(score, pos, neg)
        else:
            stream.feed(score, (pos > 0).astype(np.uint8), pos + neg if task.totals.weighted else None, columns["row"])
    if stream is not None:
        yield _answer(key, stream.finished())


def _stream(task: Task, here: Range) -> PartStream:
    draws = None
    if task.draws is not None:
        replicates, seed = task.draws
        rows, weighted = task.totals.rows, task.totals.weighted
        draws = Draws(replicates, seed, weighted=weighted, rows=rows, in_threads=False)  # a task has one core
    start = Start(*here.before)
    return PartStream(task.totals, task.readings, tolerance=task.tolerance, marks=task.marks, start=start, draws=draws)


def gaps_of_rows(gaps: Gaps, models: int) -> Work:
    """A function for Spark: rows in any order in, the moments of the gaps between their placements out."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        return _add_gaps(gaps, models, batches)

    return work


def _add_gaps(gaps: Gaps, models: int, batches: Iterator[Any]) -> Iterator[Any]:
    for columns in _gathered(batches):
        gaps.add(columns["positive"], [columns[f"score_{k}"] for k in range(models)])
    yield _answer(0, gaps.moments)


def _answer(key: int, what: Any) -> Any:
    import pyarrow

    part = pyarrow.array([pickle.dumps(what, protocol=5)], pyarrow.binary())
    return pyarrow.RecordBatch.from_pydict({"key": pyarrow.array([key], pyarrow.int32()), "part": part})


def _gathered(batches: Iterator[Any]) -> Iterator[dict[str, NDArray[Any]]]:
    """Columns of several batches together: small batches would cost more in calls than in sums."""
    waiting: list[Any] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            rows += batch.num_rows
        if rows >= TUNING.rows_together:
            yield _columns(waiting)
            waiting, rows = [], 0
    if waiting:
        yield _columns(waiting)


def _columns(batches: list[Any]) -> dict[str, NDArray[Any]]:
    names = batches[0].schema.names
    return {
        name: np.concatenate([batch.column(name).to_numpy(zero_copy_only=False) for batch in batches]) for name in names
    }

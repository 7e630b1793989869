"""What runs on Spark's executors. It needs cutline, NumPy and pyarrow there, and numba to be quick; nothing else."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import SweepPlan
from ..sweep import Start
from ..tuning import TUNING
from .batch_cells import BatchCells
from .draws import Draws
from .keyed import Numbering, codes_of
from .pairs import Gaps, add_to_all
from .partition import PartStream
from .stream import Totals

Work = Callable[[Iterator[Any]], Iterator[Any]]
PARTS = "key bigint, part binary"


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
    """A function for Spark: rows in the order of their keys, then scores, in; one small part for each key out."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        stream, key = None, 0
        for columns in _gathered(batches):
            starts = np.concatenate([[0], np.flatnonzero(np.diff(columns["key"])) + 1, [len(columns["key"])]])
            for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
                own = int(columns["key"][first])
                if stream is not None and own != key:
                    yield _answer(key, stream.result())
                    stream = None
                if stream is None:
                    key, task = own, tasks[ranges[own].model]
                    stream = _stream(task, ranges[own])
                score, pos, neg = (columns[name][first:last] for name in ("score", "pos", "neg"))
                if task.draws is None:
                    stream.feed_groups(score, pos, neg)
                else:
                    weight = pos + neg if task.totals.weighted else None
                    stream.feed(score, (pos > 0).astype(np.uint8), weight, columns["row"][first:last])
        if stream is not None:
            yield _answer(key, stream.result())

    return work


def _stream(task: Task, here: Range) -> PartStream:
    draws = None
    if task.draws is not None:
        replicates, seed = task.draws
        rows, weighted = task.totals.rows, task.totals.weighted
        draws = Draws(replicates, seed, weighted=weighted, rows=rows, in_threads=False)  # a task has one core
    start = Start(*here.before)
    return PartStream(task.totals, task.readings, tolerance=task.tolerance, marks=task.marks, start=start, draws=draws)


def gaps_of_rows(gaps: Sequence[Gaps | None], numbers: Numbering | None, models: int) -> Work:
    """A function for Spark: rows in any order in; the moments of the gaps of each segment and of all rows out."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for columns in _gathered(batches):
            scores = [columns[f"score_{k}"] for k in range(models)]
            add_to_all(gaps, codes_of(numbers, columns), columns["positive"], scores)
        yield _answer(0, [None if one is None else one.moments for one in gaps])

    return work


def lists_of_batches(cells: BatchCells, numbers: Numbering) -> Work:
    """A function for Spark: the rows of some batches, sorted by batch and score, in; the list of each batch out."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for columns in _gathered(batches):
            weight = columns.get("weight")
            cells.add(numbers(columns["key"]), columns["score"], columns["positive"], weight)
        if not cells.is_empty:
            yield _answer(0, cells.finish())

    return work


def _answer(key: int, what: Any) -> Any:
    import pyarrow

    part = pyarrow.array([pickle.dumps(what, protocol=5)], pyarrow.binary())
    return pyarrow.RecordBatch.from_pydict({"key": pyarrow.array([key], pyarrow.int64()), "part": part})


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

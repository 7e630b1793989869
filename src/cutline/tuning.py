"""Sizes that decide how work is split, never what comes out of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass


@dataclass
class Tuning:
    """The sizes in use, for all threads of this process."""

    batch_rows: int | None = None
    """Rows of a batch from DuckDB; as many as it hands out where None."""
    group_first: int = 16
    """Rows for each distinct score from which adding equal scores up before the sort is cheaper."""
    keep_all_scores: int = 2**16
    """With fewer distinct scores than this a stream keeps the whole ranking."""
    batch_cells: int = 2**18
    """With fewer pairs of a batch and a score than this a stream in batches keeps them all."""
    exact_pairs: int = 2**31
    """With more rows than this, products of counts leave 64-bit integers, and a stream sums floats."""
    rows_per_partition: int = 500_000
    """Rows of a partition on Spark."""
    tied_share: float = 0.8
    """With fewer distinct scores than this share of the rows, Spark adds equal scores up before the shuffle."""
    rows_together: int = 65_536
    """Rows that an executor gathers before it sums them."""
    large_text: int = 2**30
    """Bytes of a text file from which the command line streams it."""
    cells_at_once: int = 2_000_000
    """Cells of a score matrix in one step."""
    worth_processes: float = 2.0
    """Seconds of fitting below which starting processes costs more than it saves."""


TUNING = Tuning()


@contextmanager
def tuned(**sizes: float | None) -> Iterator[None]:
    """Use other sizes for a while.

    >>> with tuned(rows_per_partition=1000):
    ...     TUNING.rows_per_partition
    1000
    >>> TUNING.rows_per_partition
    500000
    """
    before = asdict(TUNING)
    unknown = sizes.keys() - before.keys()
    if unknown:
        raise TypeError(f"no such size: {', '.join(sorted(unknown))}")
    TUNING.__dict__.update(sizes)
    try:
        yield
    finally:
        TUNING.__dict__.update(before)

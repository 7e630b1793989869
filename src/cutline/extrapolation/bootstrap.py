"""Class bootstrap: how far the extrapolation would move with other classes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from ..progress import Progress
from .evidence import Evidence, Source
from .favorability import Favorability
from .method import Method


def replicate_fits(
    source: Source, method: Method, n: int, seed: int, *, n_jobs: int | None = None, show: bool | None = None
) -> list[Favorability]:
    """The method refitted on ``n`` resamples of the classes, in order.

    Settings that the data chose (bandwidth, tail share, weights of a blend) stay as they were found on all classes.
    Draws depend on the seed and the number of the replicate alone, so threads do not change them.
    """
    settled = method.settled(source.whole())
    workers = max(1, n_jobs if n_jobs is not None else min(4, os.cpu_count() or 1))
    fits: list[Favorability] = []
    with ThreadPoolExecutor(workers) as pool, Progress("resamples", n, show) as progress:
        for batch in _batches(source.resamples(n, seed), 2 * workers):
            fits.extend(pool.map(settled.fit, batch))
            progress.advance(len(batch))
    return fits


def _batches(items: Iterator[Evidence], size: int) -> Iterator[list[Evidence]]:
    # Evidence with scores is large: only a handful is alive at any time.
    while batch := list(islice(items, size)):
        yield batch

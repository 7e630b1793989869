"""Poisson weights that rows draw by their number while they stream by, added up by block; see ``poisson``."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.backend import stream_steps
from ..threads import cores, in_threads
from ..types import Floats


def poisson_table() -> NDArray[np.uint8]:
    """The quantiles of the Poisson distribution with mean 1 at 2¹⁶ equal steps: 16 random bits give a weight."""
    at = (np.arange(1 << 16) + 0.5) / (1 << 16)
    up_to = np.cumsum(np.exp(-1.0) / np.cumprod(np.array([1.0, *range(1, 20)])))  # P(weight ≤ k)
    return np.searchsorted(up_to, at).astype(np.uint8)


class Draws:
    """Counts of each block in each replicate, by class: added up while the rows stream by."""

    def __init__(self, n_resamples: int, seed: int, *, weighted: bool, rows: int, in_threads: bool = True) -> None:
        self.n_resamples, self.seed, self.in_threads = n_resamples, seed & (2**63 - 1), in_threads
        kind: Any = np.float64 if weighted else np.uint32 if rows < 2**31 else np.uint64
        # line 0 holds the group that is still open, whose block is not known yet
        self._counts = np.zeros((256, 2, -(-n_resamples // 4) * 4), kind)  # one random number gives four weights
        self._table = poisson_table()
        self._blocks: NDArray[np.int64] = np.empty(0, np.int64)

    def place(self, blocks: NDArray[np.int64]) -> None:
        """The blocks of the groups that have just been closed, the one that was open before first."""
        lines = int(blocks[-1]) + 2
        if lines > len(self._counts):
            grown = np.zeros((max(lines, 2 * len(self._counts)), *self._counts.shape[1:]), self._counts.dtype)
            grown[: len(self._counts)] = self._counts
            self._counts = grown
        self._counts[blocks[0] + 1] += self._counts[0]
        self._counts[0] = 0
        self._blocks = blocks

    def add(
        self, row: NDArray[np.int64] | None, positive: NDArray[np.uint8], weight: Floats | None, rows: NDArray[np.int64]
    ) -> None:
        """Add a batch's rows to their blocks; the last of its groups is still open."""
        place = np.zeros(len(rows), np.int64)
        place[: len(rows) - 1] = self._blocks + 1
        self._blocks = self._blocks[:0]
        weights = np.empty(0) if weight is None else weight
        width = self._counts.shape[2]
        draw = partial(stream_steps().draw_rows, row, positive, weights, rows, place, self.seed, self._table)
        if not self.in_threads:
            draw(0, width, self._counts)
            return
        step = -(-width // (4 * cores())) * 4
        spans = [(first, min(first + step, width)) for first in range(0, width, step)]
        in_threads([partial(draw, first, last, self._counts) for first, last in spans])

    def result(self, blocks: int) -> NDArray[Any]:
        """Counts by block, class and replicate."""
        return self._counts[1 : blocks + 1, :, : self.n_resamples]

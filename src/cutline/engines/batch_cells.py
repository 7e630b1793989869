"""The list of each batch, gathered while rows pass; on an executor it needs NumPy alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..batches import BatchGroups, group_cases, in_batches, places_in, quotas_in_batches, sums_of_groups
from ..catalogue.compute import threshold_of
from ..kernels.plain_rankings import tie_starts
from ..tuning import TUNING
from ..types import Floats
from .request import Job
from .stream import Totals

_FEWEST = 8  # groups that the cases, and the positives, of a batch are joined to at least


class BatchCells:
    """The cases of each batch by score, gathered while rows pass in whose batch scores fall."""

    def __init__(self, sizes: Sequence[Totals], pairs: int, job: Job, totals: Totals) -> None:
        """``sizes`` are those of each batch, ``pairs`` about so many of a batch and a score."""
        self.cases, n = np.array([one.cases for one in sizes], np.float64), len(sizes)
        self.positives = np.array([float(one.pos) for one in sizes])
        self.exact = pairs <= TUNING.batch_cells
        self._steps = max(TUNING.batch_cells // (2 * n), _FEWEST)
        self._base = np.cumsum(self.cases) - self.cases
        self._close = 0.25 if not totals.weighted else 1e-12 * float(self.cases.sum())
        every = (spec.quota for spec in job.specs if spec.quota is not None)
        quotas = dict.fromkeys(
            q for quota in every for q in quotas_in_batches(quota)[0]
        )  # the first that fails is named
        marks = [self._base + places_in(self.cases, quota) for quota in quotas]
        self._marks = np.sort(np.concatenate([*marks, np.empty(0)]))
        asked = {threshold_of(spec) for spec in job.specs if spec.measure.needs_threshold}
        asked |= set() if job.threshold is None else {job.threshold}
        self._thresholds = np.array(sorted(asked), np.float64)
        low, high = (v if math.isfinite(v) else 0.0 for v in (totals.low, totals.high))
        self._middle, self._spread = (low + high) / 2.0, (high - low) / 2.0 or 1.0
        self._before = np.zeros((2, n))
        self._held: tuple[NDArray[Any], ...] = tuple(np.empty(0, kind) for kind in (np.intp, float, float, float))
        self._found: list[Floats] = []
        self._kept = 0

    def add(self, code: NDArray[np.intp], score: Floats, positive: NDArray[Any], weight: Floats | None) -> None:
        """Take the next rows. Those at the end of a batch that score as the last row wait: more of them may come."""
        if not len(score):
            return
        size = np.ones(len(score)) if weight is None else weight
        fresh: tuple[NDArray[Any], ...] = (code, score, size * (positive != 0), size)
        columns = [np.concatenate(pair) for pair in zip(self._held, fresh, strict=True)]
        order = in_batches(columns[0], np.arange(len(columns[0])))
        groups = group_cases(*(column[order] for column in columns))
        waits = (groups[1] == score[-1]) & np.append(np.diff(groups[0]) != 0, True)
        self._held = tuple(column[waits] for column in groups)
        self._take(*(column[~waits] for column in groups))

    def _take(self, code: NDArray[np.intp], score: Floats, pos: Floats, size: Floats) -> None:
        if not len(code):
            return
        first = tie_starts(code)
        run = np.repeat(first, np.diff(np.append(first, len(code))))
        start, before = (
            total[code] + (np.cumsum(own) - own) - (np.cumsum(own) - own)[run]
            for total, own in zip(self._before, (size, pos), strict=True)
        )
        for total, own in zip(self._before, (size, pos), strict=True):
            total += np.bincount(code, own, len(total))
        step = self._thresholds.size - np.searchsorted(self._thresholds, score)
        place = self._base[code] + start
        passed = np.searchsorted(self._marks, place - self._close, side="right")
        alone = ~np.isfinite(score) | (np.searchsorted(self._marks, place + size + self._close, side="right") > passed)
        if self.exact:
            alone[:] = True
        else:
            step = step + passed + (start * (self._steps / self.cases[code])).astype(np.int64)
            step += (before * (self._steps / np.maximum(self.positives[code], 1e-300))).astype(np.int64)
        x = np.where(np.isfinite(score), (score - self._middle) / self._spread, 0.0)
        sums = sums_of_groups(x, pos, size, before)
        mean = np.where(np.isfinite(score), score * size, 0.0)
        keys = (code, step, np.where(alone, start, -1.0))
        self._found.append(_joined(np.stack([*keys, score, np.ones(len(code)), mean, pos, size, *sums])))
        self._kept += self._found[-1].shape[1]
        if self._kept > 4 * TUNING.batch_cells:
            self._found = [_in_order(self._found)]
            self._kept = self._found[0].shape[1]

    @property
    def is_empty(self) -> bool:
        """Whether no rows came."""
        return not self._found and not len(self._held[0])

    def finish(self) -> BatchGroups:
        """The groups of all batches."""
        self._take(*self._held)
        code, _, _, score, groups, mean, pos, size, *sums = _in_order(self._found)
        batch = code.astype(np.intp)
        if self.exact:
            return BatchGroups(batch, score, pos, size)
        joined = groups > 1.0
        return BatchGroups(batch, np.where(joined, mean / size, score), pos, size, joined, np.stack(sums))


def _in_order(found: Sequence[Floats]) -> Floats:
    table = np.concatenate(found, axis=1)
    return _joined(table[:, np.lexsort((table[2], table[1], table[0]))])


def _joined(table: Floats) -> Floats:
    """Neighbours with the same batch, step and place added up; these three, and the score, are those of the first."""
    starts = tie_starts(*table[:3])
    return np.concatenate([table[:4, starts], np.add.reduceat(table[4:], starts, axis=1)])

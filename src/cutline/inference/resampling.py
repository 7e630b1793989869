"""Replicates of a sample: which units are drawn, and the vectors of sums of all replicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..kernels.backend import SMALL, replicates
from ..kernels.layout import Drawing, Rows, Wanted
from ..progress import Progress
from ..ranking import Ranking, Ties, row_order
from ..sources.arrays import Codes, Sample
from ..sweep import Request, wanted
from ..threads import cores

_JACKKNIFE_BLOCKS = 200
_ROWS_DRAWN = 200_000_000
_LONG_TABLE = SMALL * SMALL  # harmonic numbers that are kept, whatever clusters a small sample has


def enough_replicates(wanted: int, rows: int) -> int:
    """Replicates of a long list: fewer than asked for, 100 at least, so that some 200 million rows are drawn in all.

    A list this long leaves little to chance, and what is left shows in a hundred replicates.
    """
    return min(wanted, max(100, _ROWS_DRAWN // rows))


@dataclass(frozen=True, eq=False)
class Units:
    """What is drawn: rows, or groups of rows; in strata or all together.

    Rows are numbered in the order of the ranking, the positives first. ``unit`` gives each row's unit (empty: the row
    itself), ``weight`` each row's weight (empty: 1), ``strata`` the first unit and the number of units of each stratum.
    """

    strata: NDArray[np.int64]
    unit: NDArray[np.int32]
    weight: NDArray[np.float64]
    n_units: int

    @classmethod
    def of(cls, sample: Sample, *, stratified: bool, clusters: Codes | None = None, paired: bool = False) -> Units:
        """Units of a sample: its rows, or the groups that ``clusters`` numbers.

        ``paired`` numbers the rows as the sample has them, not as the scores rank them: samples that differ in their
        scores alone then draw the same rows from the same seed.
        """
        n_pos = int(np.count_nonzero(sample.positive))
        n = len(sample)
        if clusters is not None:
            order, n_units = row_order(sample), int(clusters.max()) + 1
            weight = np.empty(0) if sample.weight is None else sample.weight[order]
            return cls(np.array([[0, n_units]]), clusters[order].astype(np.int32), weight, n_units)
        weight = np.empty(0) if sample.weight is None else sample.weight[row_order(sample)]
        strata = [[0, n_pos], [n_pos, n - n_pos]] if stratified else [[0, n]]
        unit = np.empty(0, np.int32)
        if paired:
            number = np.empty(n, np.int32)
            number[np.flatnonzero(sample.positive)] = np.arange(n_pos)
            number[np.flatnonzero(~sample.positive)] = np.arange(n_pos, n)
            unit = number[row_order(sample)]
        return cls(np.array([s for s in strata if s[1]], dtype=np.int64), unit, weight, n)


def several_clusters(sample: Sample) -> Codes | None:
    """The clusters of a sample, if it has any; a single one is refused."""
    if sample.cluster is not None and not sample.cluster.any():
        raise InputError("clusters", "holds a single cluster", "give at least two: they are resampled")
    return sample.cluster


def row_counts(sample: Sample, ranking: Ranking) -> Ranking:
    """The ranking of row counts: itself, or the one behind a weighted ranking."""
    if not ranking.weighted:
        return ranking
    ascending = ranking.score[::-1]
    sizes = []
    for side in (sample.positive, ~sample.positive):
        at = len(ascending) - 1 - np.searchsorted(ascending, sample.score[side])
        sizes.append(np.bincount(at, minlength=len(ascending)).astype(np.int32))
    return Ranking(ranking.score, sizes[0], sizes[1], ranking.rows)


class Resampler:
    """Draws replicates of one sample and sums them, in threads, without sorting anything again."""

    def __init__(
        self,
        sample: Sample,
        ranking: Ranking,
        *,
        stratified: bool,
        clusters: Codes | None = None,
        seed: int = 0,
        progress: bool | None = None,
        paired: bool = False,
    ) -> None:
        self.sample, self.ranking = sample, ranking
        self.stratified = stratified and clusters is None
        self.units = Units.of(sample, stratified=self.stratified, clusters=clusters, paired=paired)
        self.seed, self.progress = seed, progress

    def vectors(self, request: Request, n_resamples: int, ties: Ties = "expected") -> NDArray[np.float64]:
        """One vector of sums for each replicate."""
        out = np.zeros((n_resamples, request.width))
        kernels = self._kernels(n_resamples)
        job = partial(
            kernels.resample, drawing=self._drawing(), rows=self._rows(ties), wanted=self._wanted(request, ties)
        )
        self._run(partial(job, zero=self._zero, out=out), ties, n_resamples, "bootstrap", at_once=kernels.AT_ONCE)
        return out

    def permutations(self, request: Request, n_permutations: int) -> NDArray[np.float64]:
        """One vector of sums for each way of dealing the labels to the rows at random; nothing is sorted again."""
        from ..kernels.replicates import sum_replicate
        from ..kernels.rng import permute_labels

        ranking, seed = self.ranking, self.seed & (2**63 - 1)
        size, sums, zero = ranking.pos + ranking.neg, self._wanted(request, "expected"), self._zero
        out = np.zeros((n_permutations, request.width))

        def job(first: int, last: int, a: Any, b: Any, stop: Any) -> None:
            for r in range(first, last):
                if stop[0]:
                    return
                permute_labels(size, int(ranking.n_pos), ranking.rows, seed, r, a, b)
                sum_replicate(a, b, zero, sums, out[r])

        self._run(job, "expected", n_permutations, "permutations")
        return out

    def curves(self, axis: int, grid: NDArray[np.float64], n_resamples: int) -> tuple[NDArray[np.float64], ...]:
        """Positives and negatives above the cuts that reach ``grid`` (shares) on an axis, and the class sizes.

        Axis 0 is the share of cases taken, 1 that of the negatives, 2 that of the positives.
        """
        from ..kernels.replicates import resample_curve

        hits, misses = (np.zeros((n_resamples, len(grid))) for _ in range(2))
        totals = np.zeros((n_resamples, 2))
        job = partial(resample_curve, drawing=self._drawing(), rows=self._rows("expected"), axis=axis, grid=grid)
        self._run(partial(job, out=(hits, misses, totals)), "expected", n_resamples, "band")
        return hits, misses, totals[:, :1], totals[:, 1:]

    def observed_curve(self, axis: int, grid: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """The same of the sample itself, as one row."""
        from ..kernels.replicates import cut_at_shares

        ranking = self.ranking
        n_pos, n_neg = float(ranking.n_pos), float(ranking.n_neg)
        hits, misses = np.zeros((1, len(grid))), np.zeros((1, len(grid)))
        pos, neg = ranking.pos.astype(np.float64), ranking.neg.astype(np.float64)
        cut_at_shares(pos, neg, n_pos, n_neg, axis, grid, hits[0], misses[0])
        return hits, misses, np.array([[n_pos]]), np.array([[n_neg]])

    def blocks(self) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
        """Blocks of units to leave out: the block of each unit, and for each block its share of its stratum, and that.

        Single units where they are few; else some 200 random blocks, whose sums of influences have the same second and
        third moments in expectation.
        """
        block = np.empty(self.units.n_units, np.int32)
        shares: list[float] = []
        strata: list[int] = []
        rng = np.random.default_rng([self.seed & (2**63 - 1), 1])
        for s, (start, size) in enumerate(self.units.strata.tolist()):
            count = min(size, _JACKKNIFE_BLOCKS)
            block[start : start + size] = len(shares) + rng.permutation(np.arange(size) % count)
            sizes = np.bincount(np.arange(size) % count, minlength=count)
            shares += (sizes / size).tolist()
            strata += [s] * count
        return block, np.array(shares), np.array(strata)

    def left_out(self, request: Request, ties: Ties = "expected") -> NDArray[np.float64]:
        """One vector of sums for each block left out."""
        block, shares, _ = self.blocks()
        out = np.zeros((len(shares), request.width))
        kernels = self._kernels(len(shares))
        job = partial(kernels.leave_out, block=block, rows=self._rows(ties), wanted=self._wanted(request, ties))
        self._run(partial(job, zero=self._zero, out=out), ties, len(shares), "jackknife", at_once=kernels.AT_ONCE)
        return out

    def each(self, n_resamples: int, ties: Ties = "expected") -> Iterator[tuple[NDArray[np.uint16], Ranking]]:
        """Replicates one by one, for statistics that are no algebra on sums: how often each unit came, and the ranking.

        The same draws as in :meth:`vectors`.
        """
        kernels = self._kernels(n_resamples)
        ranking, rows, units = self.ranking.resolved(ties), self._rows(ties), self.units
        with Progress("bootstrap", n_resamples, self.progress) as progress:
            for r in range(n_resamples):
                counts = np.zeros(units.n_units + 1, np.uint16)
                for s, (start, size) in enumerate(units.strata.tolist()):
                    kernels.draw(counts, start, size, self.seed & (2**63 - 1), r * len(units.strata) + s)
                a, b = (np.empty(len(ranking), self._dtype) for _ in range(2))
                kernels.accumulate(counts, rows, a, b)
                there = np.flatnonzero(a + b)
                drawn = int(counts[units.unit].sum(dtype=np.int64) if len(units.unit) else counts.sum(dtype=np.int64))
                yield counts, Ranking(ranking.score[there], a[there], b[there], drawn, ranking.weighted)
                progress.advance()

    def row_multiplicities(self, counts: NDArray[np.uint16]) -> NDArray[np.float64]:
        """How often each row of the sample came, in the sample's own order."""
        return np.asarray(counts[self.unit_of_row()], np.float64)

    def unit_of_row(self) -> NDArray[np.int64]:
        """The unit that each row belongs to, in the sample's own order."""
        unit = np.empty(len(self.sample), np.int64)
        unit[row_order(self.sample)] = self.units.unit if len(self.units.unit) else np.arange(len(unit))
        return unit

    @property
    def _zero(self) -> float:
        """Of the type of the counts: whole numbers, or weights."""
        return 0.0 if self.ranking.weighted else 0

    @property
    def _dtype(self) -> Any:
        return np.float64 if self.ranking.weighted else np.int32

    def _kernels(self, n: int) -> Any:
        return replicates(self.ranking.rows, n, weighted=self.ranking.weighted)

    def _drawing(self) -> Drawing:
        """What the kernels need to draw a replicate."""
        return Drawing(self.seed & (2**63 - 1), self.units.strata, self.units.n_units)

    def _rows(self, ties: Ties) -> Rows:
        """What the kernels need to count the rows of a replicate."""
        counted = row_counts(self.sample, self.ranking).resolved(ties)
        return Rows(self.units.unit, self.units.weight, counted.pos, counted.neg)

    def _wanted(self, request: Request, ties: Ties) -> Wanted:
        """What the kernels need to sum a replicate."""
        ranking = self.ranking.resolved(ties)
        above, units = [ranking.above(t) for t in request.thresholds], self.units
        most = ranking.rows
        if len(units.unit):  # clusters differ in size: a replicate may have more rows than the sample
            largest = int(np.bincount(units.unit).max()) * units.n_units
            most = largest if largest <= max(_LONG_TABLE, 4 * most) else most
        return wanted(request, ranking.score, ranking.cases, whole=not ranking.weighted, above=above, most=most)

    def _run(self, job: Callable[..., None], ties: Ties, total: int, what: str, *, at_once: bool = False) -> None:
        """Run a kernel over ``total`` replicates, in batches that threads take in turn."""
        n_groups = len(self.ranking.resolved(ties))
        stop = np.zeros(1, np.uint8)

        def batch(first: int, last: int) -> int:
            job(first=first, last=last, a=np.empty(n_groups, self._dtype), b=np.empty(n_groups, self._dtype), stop=stop)
            return last - first

        if at_once:
            batch(0, total)
            return
        if total * self.ranking.rows < 20_000 or cores() < 2:
            with Progress(what, total, self.progress) as progress:
                for first in range(0, total, 64):
                    progress.advance(batch(first, min(first + 64, total)))
            return
        step = max(1, min(total // (4 * cores()), int(4e6 / self.ranking.rows)))
        with Progress(what, total, self.progress) as progress, ThreadPoolExecutor(cores()) as pool:
            waiting = {pool.submit(batch, first, min(first + step, total)) for first in range(0, total, step)}
            try:
                while waiting:
                    done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                    for future in done:
                        progress.advance(future.result())
            except BaseException:
                stop[0] = 1  # the kernels look at it before each replicate
                for future in waiting:
                    future.cancel()
                raise

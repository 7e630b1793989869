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
from ..progress import Progress
from ..ranking import Ranking, Ties, row_order
from ..sample import Sample, as_column
from ..sweep import PARTS, Request, loss_arguments, loss_columns, scale_of

_JACKKNIFE_BLOCKS = 200
_ROWS_DRAWN = 200_000_000


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
    def of(cls, sample: Sample, *, stratified: bool, clusters: Any = None, paired: bool = False) -> Units:
        """Units of a sample: its rows, or the groups that ``clusters`` marks.

        ``paired`` numbers the rows as the sample has them, not as the scores rank them: samples that differ in their
        scores alone then draw the same rows from the same seed.
        """
        n_pos = int(np.count_nonzero(sample.positive))
        n = len(sample)
        if clusters is not None:
            unit, n_units = _cluster_codes(clusters, sample)
            order = row_order(sample)
            weight = np.empty(0) if sample.weight is None else sample.weight[order]
            return cls(np.array([[0, n_units]]), unit[order], weight, n_units)
        weight = np.empty(0) if sample.weight is None else sample.weight[row_order(sample)]
        strata = [[0, n_pos], [n_pos, n - n_pos]] if stratified else [[0, n]]
        unit = np.empty(0, np.int32)
        if paired:
            number = np.empty(n, np.int32)
            number[np.flatnonzero(sample.positive)] = np.arange(n_pos)
            number[np.flatnonzero(~sample.positive)] = np.arange(n_pos, n)
            unit = number[row_order(sample)]
        return cls(np.array([s for s in strata if s[1]], dtype=np.int64), unit, weight, n)


def _cluster_codes(clusters: Any, sample: Sample) -> tuple[NDArray[np.int32], int]:
    labels = as_column(clusters, "clusters")
    expected = len(sample) if sample.source_rows is None else None
    if expected is not None and len(labels) != expected:
        raise InputError(f"clusters has {len(labels)} rows but y_score has {expected}: pass one group for each case")
    if sample.source_rows is not None:
        labels = labels[sample.source_rows]
    distinct, codes = np.unique(labels, return_inverse=True)
    if len(distinct) < 2:
        raise InputError("clusters holds a single cluster; resampling needs at least two")
    return codes.astype(np.int32), len(distinct)


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
        clusters: Any = None,
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
        from .. import kernels

        out = np.zeros((n_resamples, request.width))
        job = partial(kernels.resample, **self._drawing(), **self._summing(request, ties), out=out)
        self._run(job, ties, n_resamples, "bootstrap")
        return out

    def curves(self, axis: int, grid: NDArray[np.float64], n_resamples: int) -> tuple[NDArray[np.float64], ...]:
        """Positives and negatives above the cuts that reach ``grid`` (shares) on an axis, and the class sizes.

        Axis 0 is the share of cases taken, 1 that of the negatives, 2 that of the positives.
        """
        from .. import kernels

        hits, misses = (np.zeros((n_resamples, len(grid))) for _ in range(2))
        totals = np.zeros((n_resamples, 2))
        job = partial(kernels.resample_curve, **self._drawing(), axis=axis, grid=grid, hits=hits, misses=misses)
        self._run(partial(job, totals=totals), "expected", n_resamples, "band")
        return hits, misses, totals[:, :1], totals[:, 1:]

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
        from .. import kernels

        block, shares, _ = self.blocks()
        out = np.zeros((len(shares), request.width))
        job = partial(kernels.leave_out, block=block, **self._summing(request, ties), out=out)
        self._run(job, ties, len(shares), "jackknife")
        return out

    def each(self, n_resamples: int, ties: Ties = "expected") -> Iterator[tuple[NDArray[np.uint16], Ranking]]:
        """Replicates one by one, for statistics that are no algebra on sums: how often each unit came, and the ranking.

        The same draws as in :meth:`vectors`.
        """
        from .. import kernels

        ranking = self.ranking.resolved(ties)
        counted = row_counts(self.sample, self.ranking).resolved(ties)
        dtype = np.float64 if ranking.weighted else np.int32
        units, seed = self.units, self.seed & (2**63 - 1)
        with Progress("bootstrap", n_resamples, self.progress) as progress:
            for r in range(n_resamples):
                counts = np.zeros(units.n_units, np.uint16)
                for s, (start, size) in enumerate(units.strata.tolist()):
                    kernels.draw(counts, start, size, seed, r * len(units.strata) + s)
                a: NDArray[Any] = np.empty(len(ranking), dtype)
                b: NDArray[Any] = np.empty(len(ranking), dtype)
                rows = kernels.accumulate(counts, units.unit, units.weight, counted.pos, counted.neg, a, b)
                there = np.flatnonzero(a + b)
                yield counts, Ranking(ranking.score[there], a[there], b[there], int(rows), ranking.weighted)
                progress.advance()

    def row_multiplicities(self, counts: NDArray[np.uint16]) -> NDArray[np.float64]:
        """How often each row of the sample came, in the sample's own order."""
        times = np.empty(len(self.sample))
        times[row_order(self.sample)] = counts[self.units.unit] if len(self.units.unit) else counts
        return times

    def _drawing(self) -> dict[str, Any]:
        """What the kernels need to draw a replicate."""
        units = self.units
        return {"seed": self.seed & (2**63 - 1), "strata": units.strata, "n_units": units.n_units}

    def _summing(self, request: Request, ties: Ties) -> dict[str, Any]:
        """What the kernels need to sum a replicate."""
        from ..kernels import harmonic_table

        ranking = self.ranking.resolved(ties)
        with_losses = "losses" in request.parts
        log_p, log_q = loss_columns(ranking.score) if with_losses else (np.empty(0), np.empty(0))
        losses = [loss_arguments(options) for options in request.losses if with_losses]
        places = "places" in request.parts and not ranking.weighted
        return {
            "score": ranking.score,
            "log_p": log_p,
            "log_q": log_q,
            "harmonic": harmonic_table(ranking.rows) if places else np.empty(0),
            "parts": np.array([part in request.parts and (part != "places" or places) for part in PARTS]),
            "losses": np.array(losses, dtype=np.float64).reshape(len(losses), 3),
            "above": np.array([ranking.above(t) for t in request.thresholds], dtype=np.int64),
            "scale": scale_of(ranking.score),
            "quotas": np.array(request.quotas, dtype=np.float64),
        }

    def _run(self, job: Callable[..., None], ties: Ties, total: int, what: str) -> None:
        """Run a kernel over ``total`` replicates, in batches that threads take in turn."""
        from ..jit import cores

        counted = row_counts(self.sample, self.ranking).resolved(ties)
        weighted, n_groups = self.ranking.weighted, len(counted)
        stop = np.zeros(1, np.uint8)
        rows = {"unit": self.units.unit, "weight": self.units.weight, "pos_rows": counted.pos, "neg_rows": counted.neg}
        dtype = np.float64 if weighted else np.int32

        def batch(first: int, last: int) -> int:
            work = {"a": np.empty(n_groups, dtype), "b": np.empty(n_groups, dtype), "zero": 0.0 if weighted else 0}
            job(first=first, last=last, **rows, **work, stop=stop)
            return last - first

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

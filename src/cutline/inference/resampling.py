"""Replicates of a sample: which units are drawn, the sums of all replicates, and intervals from their values.

Long lists of rows that count alike are drawn by blocks. Neighbouring scores of the ranking are joined to a few thousand
blocks, fine at both ends of the list, and how often the rows of a block come is drawn as one number for each class. So
a replicate costs the same whatever the number of rows. In a block scores count as tied; the small shift that this
makes, the same in every replicate to first order, is taken out by centring on the exact value.

Influences of rows come from the same blocks: what a measure gains where a block has a few rows more or less, for each
of these rows. Nothing is dealt out at random, so they depend on no seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import compute, plan_sweeps
from ..catalogue.declare import Spec
from ..estimate import Interval
from ..kernels import compiled
from ..kernels.layout import Drawing, KernelRequest, Rows
from ..ranking import Ranking, Ties, rank, row_order
from ..runtime import Progress, cores
from ..sources.arrays import Codes, Sample
from ..sweep import SumsRequest, kernel_request
from . import limits
from .limits import freedom_of, normal_quantile

# Blocks left out in turn where there are more units: the standard error of a jackknife of 200 blocks varies by 5%
# (1/√(2·200)), and each block costs a pass over the list.
_JACKKNIFE_BLOCKS = 200
_NO_UNIT, _NO_WEIGHT = np.empty(0, np.int32), np.empty(0)
# In all replicates of a long list whose rows weigh differently, or of several classes; chosen by hand for some seconds
# of drawing on two cores.
_ROWS_DRAWN = 200_000_000
_LONG_TABLE = 2**20  # harmonic numbers that are kept, whatever clusters a small sample has
# Rows from which blocks are drawn instead: with fewer, the rows themselves are drawn as quickly.
DRAWN_BY_ROW = 4096
# Within a block neither class moves by more than this share of itself, nor the number taken by more than that share of
# the cases before it or behind it: 1,000 blocks of 10⁴ rows, whose standard errors are those of row-wise replicates to
# 1% (tests/test_bootstrap.py). Of more than 2²⁰ rows blocks twice as long give the same. Influences are smooth, and
# their differences are taken at four places for each block.
_DRAWN_WITHIN, _NUDGED_WITHIN = 2.0**-6.5, 2.0**-5
# Degrees of freedom of the influences from which their standard error is that of 8,000 replicates to 2%, and below
# which it was up to 44% away: 30 lists of 5,000 to 100,000 rows, with few positives, ties, heavy tails, without any
# skill and nearly perfect (tests/test_bootstrap.py).
CASES_THAT_CARRY = 300.0
_PIECE = 2**18  # groups of a ranking that are joined at a time: their columns stay small


def enough_replicates(wanted: int, rows: int) -> int:
    """Replicates of a long list drawn row by row: fewer than asked for, 100 at least, so that 2·10⁸ rows are drawn.

    A list this long leaves little to chance, and what is left shows in a hundred replicates.
    """
    return min(wanted, max(100, _ROWS_DRAWN // rows))


class Blocks(NamedTuple):
    """Neighbouring groups of a ranking, joined: the first score of each block, its mean score, its rows by class."""

    top: NDArray[np.float64]
    middle: NDArray[np.float64]
    pos: NDArray[Any]
    neg: NDArray[Any]

    @classmethod
    def of(cls, ranking: Ranking, thresholds: Sequence[float], tolerance: float) -> Blocks:
        """The blocks of a ranking of rows; none reaches across a threshold, the first negative or the last positive."""
        totals = np.array([ranking.n_pos, ranking.n_neg], np.float64)
        first = int(np.argmax(ranking.neg > 0))
        last = len(ranking) - int(np.argmax(ranking.pos[::-1] > 0))
        ends = {*thresholds, float(ranking.score[first]), ranking.score_after(last)}
        cuts = np.array(sorted(ends, reverse=True), np.float64)
        state, before, joined, none = np.zeros(7), 0.0, [], np.empty(0)
        exact, kind = (np.float64, np.float64) if ranking.weighted else (np.int64, np.int32)
        for start in range(0, len(ranking), _PIECE):
            score, pos, neg = (column[start : start + _PIECE] for column in (ranking.score, ranking.pos, ranking.neg))
            out, block = np.empty((len(score) + 1, 5)), np.empty(len(score), np.int64)
            score = score.astype(np.float64, copy=False)
            done = compiled.into_blocks(score, pos, neg, before, totals, tolerance, none, cuts, state, out, block)
            joined.append(out[:done].copy())
            before += float(pos.sum(dtype=exact) + neg.sum(dtype=exact))
        top, total, hits, misses, _ = np.concatenate([*joined, state[None, 1:6]]).T
        with np.errstate(invalid="ignore"):
            return cls(top.copy(), total / (hits + misses), hits.astype(kind), misses.astype(kind))


@lru_cache(maxsize=1)
def quantile_tables() -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Quantiles of the Poisson distribution with mean 1 and of the normal distribution at 2¹⁶ equal steps."""
    at = (np.arange(1 << 16) + 0.5) / (1 << 16)
    up_to = np.cumsum(np.exp(-1.0) / np.cumprod(np.array([1.0, *range(1, 20)])))  # P(weight ≤ k)
    z = np.linspace(-6.0, 6.0, 24_001)
    density = np.exp(-0.5 * z * z)
    area = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    return np.searchsorted(up_to, at).astype(np.uint8), np.interp(at, area / area[-1], z).astype(np.float32)


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
    def of(
        cls,
        sample: Sample | None,
        ranking: Ranking,
        *,
        stratified: bool,
        clusters: Codes | None = None,
        paired: bool = False,
    ) -> Units:
        """Units of a sample: its rows, or the groups that ``clusters`` numbers.

        ``paired`` numbers the rows as the sample has them, not as the scores rank them: samples that differ in their
        scores alone then draw the same rows from the same seed. Else rows that count alike are known by their ranking.
        """
        n, unit, weight = ranking.rows, _NO_UNIT, _NO_WEIGHT
        if not (paired or ranking.weighted or clusters is not None):
            n_pos = int(ranking.n_pos)
        else:
            assert sample is not None
            n_pos, order = int(np.count_nonzero(sample.positive)), row_order(sample)
            weight = weight if sample.weight is None else sample.weight[order]
            if clusters is not None:
                n_units = int(clusters.max()) + 1
                return cls(np.array([[0, n_units]]), clusters[order].astype(np.int32), weight, n_units)
            if paired:
                number = np.empty(n, np.int32)
                number[np.flatnonzero(sample.positive)] = np.arange(n_pos)
                number[np.flatnonzero(~sample.positive)] = np.arange(n_pos, n)
                unit = number[order]
        strata = [[0, n_pos], [n_pos, n - n_pos]] if stratified else [[0, n]]
        return cls(np.array([s for s in strata if s[1]], dtype=np.int64), unit, weight, n)


class Resampler:
    """Draws replicates of one sample and sums them, in threads, without sorting anything again.

    ``units``: what is drawn, where that is neither rows nor clusters as they are. ``sample`` may be missing where rows
    count alike. ``by_blocks``: whether replicates are drawn by blocks of the ranking.
    """

    def __init__(
        self,
        sample: Sample | None,
        ranking: Ranking,
        *,
        stratified: bool,
        clusters: Codes | None = None,
        seed: int = 0,
        progress: bool | None = None,
        paired: bool = False,
        units: Units | None = None,
    ) -> None:
        self.ranking, self.seed, self.progress = ranking, seed, progress
        self.independent = not ranking.weighted and clusters is None and units is None
        self.sample: Any = sample  # the rows
        self.units = units or Units.of(sample, ranking, stratified=stratified, clusters=clusters, paired=paired)
        # whether the class sizes are given: where rows are strata by themselves, and both classes are there
        self.by_class = len(self.units.strata) > 1 if self.independent else stratified and clusters is None
        self.by_blocks = self.independent and not paired and ranking.rows > DRAWN_BY_ROW
        self._length = 2.0 if ranking.rows > _LONG_TABLE else 1.0  # of blocks

    def vectors(self, request: SumsRequest, n_resamples: int, ties: Ties = "expected") -> NDArray[np.float64]:
        """One vector of sums for each replicate; where blocks are drawn, first that of the blocks themselves."""
        drawing, rows, wanted = self._drawing(request, ties)
        out = np.zeros((n_resamples, request.width))
        job = partial(compiled.resample, drawing=drawing, rows=rows, wanted=wanted, out=out)
        self._run(job, len(rows.pos), n_resamples, "bootstrap")
        if not self.by_blocks:
            return out
        own = np.zeros(request.width)
        compiled.sum_replicate(rows.pos, rows.neg, wanted, own)
        return np.concatenate([own[None], out])

    def curves(self, axis: int, grid: NDArray[np.float64], n_resamples: int) -> tuple[NDArray[np.float64], ...]:
        """Positives and negatives above the cuts that reach ``grid`` (shares) on an axis, and the class sizes.

        Axis 0 is the share of cases taken, 1 that of the negatives, 2 that of the positives.
        """
        if not self.by_blocks:
            n_resamples = enough_replicates(n_resamples, self.ranking.rows)
        drawing, rows, _ = self._drawing(SumsRequest(frozenset(), ()), "expected")
        hits, misses = (np.zeros((n_resamples, len(grid))) for _ in range(2))
        totals = np.zeros((n_resamples, 2))
        job = partial(compiled.resample_curve, drawing=drawing, rows=rows, axis=axis, grid=grid)
        self._run(partial(job, out=(hits, misses, totals)), len(rows.pos), n_resamples, "band")
        return hits, misses, totals[:, :1], totals[:, 1:]

    def blocks(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Blocks of units to leave out: the block of each unit, and the stratum of each block.

        Single units where they are few; else some 200 random blocks, whose sums of influences have the same second and
        third moments in expectation.
        """
        block = np.empty(self.units.n_units, np.int32)
        strata: list[int] = []
        rng = np.random.default_rng([self.seed & (2**63 - 1), 1])
        for s, (start, size) in enumerate(self.units.strata.tolist()):
            count = min(size, _JACKKNIFE_BLOCKS)
            block[start : start + size] = len(strata) + rng.permutation(np.arange(size) % count)
            strata += [s] * count
        return block, np.array(strata)

    def left_out(self, request: SumsRequest, ties: Ties = "expected") -> NDArray[np.float64]:
        """One vector of sums for each block left out."""
        block, strata = self.blocks()
        out = np.zeros((len(strata), request.width))
        rows, wanted = self._rows(ties), self._wanted(request, ties)
        job = partial(compiled.leave_out, block=block, rows=rows, wanted=wanted, out=out)
        self._run(job, len(rows.pos), len(strata), "jackknife")
        return out

    def influences(self, specs: Sequence[Spec]) -> dict[Spec, Influences]:
        """The influence of each case on measures that are algebra on sums.

        A block of the ranking gets a few cases of one class more, and a few less; a measure gains half the difference.
        """
        by_spec: dict[Spec, Influences] = {}
        ranking, by_class = self.ranking, self.by_class
        for reading in plan_sweeps(tuple(specs), ranking.cases):
            if not reading.specs:
                continue
            ordered, within = ranking.resolved(reading.ties), self._length * _NUDGED_WITHIN
            blocks = Blocks.of(ordered, reading.request.thresholds, within)
            wanted = self._wanted(reading.request, reading.ties, blocks)._replace(harmonic=_NO_WEIGHT)
            sizes = np.array([ranking.n_pos, ranking.n_neg], np.float64)
            most = np.maximum(sizes * _NUDGED_WITHIN, 1.0)
            count = np.stack([blocks.pos, blocks.neg], axis=1).astype(np.float64)
            moved = np.minimum(count, most)
            whole = sizes if by_class else sizes.sum()
            own, out = np.zeros(reading.request.width), np.zeros((4 * len(blocks.pos), reading.request.width))
            sides = np.ascontiguousarray(count.T)
            compiled.sum_replicate(*sides, wanted, own)
            if ranking.weighted:
                for k, side in zip(*np.nonzero(count), strict=True):
                    for end, step in enumerate((-moved[k, side], moved[k, side])):
                        sides[side, k] = count[k, side] + step
                        compiled.sum_replicate(*sides, wanted, out[4 * k + 2 * side + end])
                    sides[side, k] = count[k, side]
            else:
                rows = Rows(_NO_UNIT, _NO_WEIGHT, blocks.pos, blocks.neg)
                job = partial(compiled.nudge, rows=rows, wanted=wanted, most=most, out=out)
                self._run(job, len(rows.pos), len(out), "jackknife", np.float64)
            for spec, value, nudged in zip(reading.specs, reading.values(own), reading.values(out), strict=True):
                less, more = np.asarray(nudged, np.float64).reshape(-1, 2, 2).transpose(2, 0, 1)
                with np.errstate(invalid="ignore", divide="ignore"):  # a likelihood ratio may be infinite
                    gain = (value - less) * (1.0 - moved / whole) + (more - value) * (1.0 + moved / whole)
                    each: NDArray[Any] = np.where(count > 0.0, gain / (2.0 * moved), 0.0)
                    mean = (each * count).sum(axis=0) / np.maximum(sizes, 1.0)
                    if not by_class:
                        mean = (mean * sizes).sum() / sizes.sum()
                    centred = np.where(count > 0.0, each - mean, 0.0)
                by_spec[spec] = Influences(centred, count, blocks)
        return by_spec

    def each(self, n_resamples: int, ties: Ties = "expected") -> Iterator[tuple[NDArray[np.uint16], Ranking]]:
        """Replicates one by one, for measures that are no algebra on sums: the units' counts, and the ranking."""
        ranking, units = self.ranking.resolved(ties), self.units
        rows = self._rows(ties)
        with Progress("bootstrap", n_resamples, self.progress) as progress:
            for r in range(n_resamples):
                counts = np.zeros(units.n_units + 1, np.uint16)
                for s, (start, size) in enumerate(units.strata.tolist()):
                    compiled.draw(counts, start, size, self.seed & (2**63 - 1), r * len(units.strata) + s)
                a: NDArray[Any] = np.empty(len(ranking), np.float64 if ranking.weighted else np.int32)
                b = np.empty_like(a)
                compiled.accumulate(counts, rows, a, b)
                there = np.flatnonzero(a + b)
                drawn = int(counts[units.unit].sum(dtype=np.int64) if len(units.unit) else counts.sum(dtype=np.int64))
                yield counts, Ranking(ranking.score[there], a[there], b[there], drawn, ranking.weighted)
                progress.advance()

    def unit_of_row(self) -> NDArray[np.int64]:
        """The unit that each row belongs to, in the sample's own order."""
        unit = np.empty(len(self.sample), np.int64)
        unit[row_order(self.sample)] = self.units.unit if len(self.units.unit) else np.arange(len(unit))
        return unit

    def _drawing(self, request: SumsRequest, ties: Ties) -> tuple[Drawing, Rows, KernelRequest]:
        """What the kernels need to draw replicates, to count their rows, and to sum them."""
        seed, units = self.seed & (2**63 - 1), self.units
        if not self.by_blocks:
            return Drawing(seed, units.strata, units.n_units), self._rows(ties), self._wanted(request, ties)
        blocks = Blocks.of(self.ranking.resolved(ties), request.thresholds, self._length * _DRAWN_WITHIN)
        rows = Rows(_NO_UNIT, _NO_WEIGHT, blocks.pos, blocks.neg)
        return Drawing(seed, units.strata, 0, *quantile_tables()), rows, self._wanted(request, ties, blocks)

    def _rows(self, ties: Ties) -> Rows:
        """What the kernels need to count the rows of a replicate."""
        counted, units = self.ranking, self.units
        if counted.weighted:  # the ranking of row counts behind it
            sample = self.sample
            groups, sides = counted.group_of(sample.score), (sample.positive, ~sample.positive)
            pos, neg = (np.bincount(groups[side], minlength=len(counted)).astype(np.int32) for side in sides)
            counted = Ranking(counted.score, pos, neg, counted.rows)
        counted = counted.resolved(ties)
        return Rows(units.unit, units.weight, *(c.astype(np.int32, copy=False) for c in (counted.pos, counted.neg)))

    def _wanted(self, request: SumsRequest, ties: Ties, blocks: Blocks | None = None) -> KernelRequest:
        """What the kernels need to sum a replicate."""
        ranking, units = self.ranking.resolved(ties), self.units
        most = ranking.rows
        if blocks is not None:
            above = [int(np.count_nonzero(blocks.top > t)) for t in request.thresholds]
            most = most if most <= _LONG_TABLE else 0
        else:
            above = [ranking.above(t) for t in request.thresholds]
            if len(units.unit):  # clusters differ in size: a replicate may have more rows than the sample
                largest = int(np.bincount(units.unit).max()) * units.n_units
                most = largest if largest <= max(_LONG_TABLE, 4 * most) else most
        score = ranking.score if blocks is None else blocks.middle
        return kernel_request(request, score, ranking.cases, whole=not ranking.weighted, above=above, most=most)

    def _run(self, job: Callable[..., None], n_groups: int, total: int, what: str, kind: Any = None) -> None:
        """Run a kernel over ``total`` replicates, in batches that threads take in turn."""
        rows = n_groups if self.by_blocks or kind is not None else self.ranking.rows  # those that a replicate reads
        kind = kind or (np.float64 if self.ranking.weighted else np.int32)
        stop = np.zeros(1, np.uint8)

        def batch(first: int, last: int) -> int:
            job(first=first, last=last, a=np.empty(n_groups, kind), b=np.empty(n_groups, kind), stop=stop)
            return last - first

        if total * rows < 20_000 or cores() < 2:
            with Progress(what, total, self.progress) as progress:
                for first in range(0, total, 64):
                    progress.advance(batch(first, min(first + 64, total)))
            return
        step = max(1, min(total // (4 * cores()), int(4e6 / rows)))
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


class Influences(NamedTuple):
    """Influences on a measure, and how many rows or units have each; of blocks, those of a positive and a negative."""

    each: NDArray[np.float64]
    counts: NDArray[Any]
    blocks: Blocks | None = None

    def moments(self, *powers: int) -> list[float]:
        """The largest ψ (1 where there is none), and Σψᵖ relative to it: powers of sums must be numbers."""
        largest = float(np.abs(self.each).max(initial=0.0)) or 1.0
        return [largest, *(float(((self.each / largest) ** power * self.counts).sum()) for power in powers)]


class Resampled(NamedTuple):
    """What replicates of one measure need: its value, whether they keep the class sizes, and whether BCa needs more.

    ``jackknife``: also the values that leave parts of the rows out. ``smooth``: of a long list the influences may do.
    """

    value: float
    keeps_classes: bool
    jackknife: bool
    smooth: bool = False


@dataclass(frozen=True, eq=False)
class Replicates:
    """A statistic on the sample and on its replicates, and the influences of rows or units on it."""

    value: float
    values: NDArray[np.float64]
    influences: Influences | None = None

    @property
    def undefined(self) -> int:
        """Replicates in which the statistic has no value (a class was not drawn, 0/0)."""
        return int(np.isnan(self.values).sum())

    def interval(self, method: str, level: float) -> Interval:
        """The interval by one of the methods, over the replicates that have a value."""
        drawn = self.values[~np.isnan(self.values)]
        if len(drawn) < 2 or self.value != self.value:
            return Interval(math.nan, math.nan)
        tail = (1.0 - level) / 2.0
        if method != "bca":
            low, high = _quantiles(drawn, [tail, 1.0 - tail])
            return Interval(2 * self.value - high, 2 * self.value - low) if method == "basic" else Interval(low, high)
        # bca: levels of the percentiles, corrected for bias and skewness (Efron 1987)
        with np.errstate(invalid="ignore"):  # sums of weights round; a likelihood ratio may be infinite
            equal = (drawn == self.value) | (np.abs(drawn - self.value) <= 1e-9 * max(1.0, abs(self.value)))
        below = (np.count_nonzero((drawn < self.value) & ~equal) + 0.5 * np.count_nonzero(equal)) / len(drawn)
        edge = 0.5 / len(drawn)
        bias = normal_quantile(min(max(below, edge), 1.0 - edge))
        skew = self.acceleration()
        levels = []
        for z in (normal_quantile(tail), normal_quantile(1.0 - tail)):
            shift = 1.0 - skew * (bias + z)
            # P(Z ≤ b + (b + z)/shift), without loss of digits far out on the left
            at = 0.5 * math.erfc(-(bias + (bias + z) / shift) / math.sqrt(2.0)) if shift > 0 else float(z >= 0)
            levels.append(at)
        return Interval(*_quantiles(drawn, levels))

    def acceleration(self) -> float:
        """Skewness of the influences over 6."""
        _, second, third = (1.0, 0.0, 0.0) if self.influences is None else self.influences.moments(2, 3)
        return third / (6.0 * second**1.5) if second > 0.0 else 0.0

    def jackknife(self) -> tuple[float, float]:
        """Standard error and its degrees of freedom, from influences; nan where there are none."""
        if self.influences is None or not len(self.influences.each):
            return math.nan, math.nan
        largest, second, fourth = self.influences.moments(2, 4)
        freedom = freedom_of(second, fourth, float(self.influences.counts.sum())) if second > 0.0 else 1.0
        return largest * math.sqrt(second), freedom


def _quantiles(values: NDArray[np.float64], levels: Sequence[float]) -> list[float]:
    """Quantiles by linear interpolation; where values are infinite, between which none lies, by the observed ones."""
    method = "linear" if np.isfinite(values).all() else "inverted_cdf"
    return [float(q) for q in np.quantile(values, levels, method=method)]  # type: ignore[call-overload]


def replicate(
    specs: Sequence[Spec],
    values: Mapping[Spec, float],
    resampler: Resampler,
    n_resamples: int,
    *,
    jackknife: bool,
    smooth: Container[Spec] = (),
) -> dict[Spec, Replicates]:
    """Replicates of many measures from one pass for each tie rule among them.

    Of ``smooth`` measures of a long list none are drawn where the influences of many cases make up the variance.
    """
    influences = resampler.influences(specs) if jackknife and resampler.by_blocks else {}
    if jackknife and not resampler.by_blocks:
        strata = resampler.blocks()[1]
        for spec, left in values_left_out(specs, resampler).items():
            each = limits.jackknife(left, strata)[1]
            influences[spec] = Influences(each, np.ones(len(each)))
    even = [spec for spec in influences if spec in smooth and resampler.by_blocks]
    known = {spec: Replicates(values[spec], np.empty(0), influences[spec]) for spec in even}
    by_spec = {spec: one for spec, one in known.items() if one.jackknife()[1] >= CASES_THAT_CARRY}
    specs = [spec for spec in specs if spec not in by_spec]
    for reading in plan_sweeps(tuple(specs), resampler.ranking.cases):
        if reading.specs:
            drawn = reading.values(resampler.vectors(reading.request, n_resamples, reading.ties))
            for k, spec in enumerate(reading.specs):
                each = np.asarray(drawn[k], dtype=np.float64)
                if resampler.by_blocks:  # centred on the exact value, within the measure's range
                    shift = values[spec] - each[0]
                    each = np.clip(each[1:] + (shift if math.isfinite(shift) else 0.0), *spec.measure.range)
                by_spec[spec] = Replicates(values[spec], each, influences.get(spec))
    for spec in specs:
        if spec.measure.part == "ranking":
            resamples = resampler.each(enough_replicates(n_resamples, resampler.ranking.rows), spec.ties)
            drawn_one = [float(spec.measure.compute(ranking, **spec.arguments)) for _, ranking in resamples]
            by_spec[spec] = Replicates(values[spec], np.array(drawn_one))
    return by_spec


def values_left_out(specs: Sequence[Spec], resampler: Resampler) -> dict[Spec, NDArray[np.float64]]:
    """Measures that are algebra on sums without each block of units in turn."""
    by_spec: dict[Spec, NDArray[np.float64]] = {}
    for reading in plan_sweeps(tuple(specs), resampler.ranking.cases):
        if reading.specs:
            values = reading.values(resampler.left_out(reading.request, reading.ties))
            by_spec |= {s: np.asarray(v, np.float64) for s, v in zip(reading.specs, values, strict=True)}
    return by_spec


class UnitInfluences(dict[Spec, NDArray[np.float64]]):
    """The influence of each unit on measures; nan where one has no value without a unit.

    Of a few hundred units from the values without each of them in turn, of more from the blocks of the ranking: so
    nothing is dealt out at random, and those of all units are made when they are asked for. Measures that are no
    algebra on sums take values without 200 random blocks.
    """

    def __init__(self, specs: Sequence[Spec], resampler: Resampler) -> None:
        block, strata = resampler.blocks()
        swept = [spec for spec in specs if spec.measure.part != "ranking"]
        others = [spec for spec in specs if spec not in swept]
        self.resampler = resampler
        self.of_blocks = resampler.influences(swept) if resampler.units.n_units > len(strata) else {}
        self.cells: dict[int, NDArray[np.intp]] = {}  # block and class of each row: measures of one sweep share blocks
        left = {} if self.of_blocks else values_left_out(swept, resampler)
        if others:
            of_row = block[resampler.unit_of_row()]
            parts = [compute(others, rank(resampler.sample.part(of_row != k))).values for k in range(len(strata))]
            left |= {spec: np.array([part[spec] for part in parts]) for spec in others}
        for spec, values in left.items():
            known, influence = np.isfinite(values), np.full(len(values), np.nan)
            influence[known] = limits.jackknife(values, strata)[1] if known.sum() > 1 else np.nan
            self[spec] = influence

    def __missing__(self, spec: Spec) -> NDArray[np.float64]:
        each, _, blocks = self.of_blocks[spec]
        sample, units = self.resampler.sample, self.resampler.units
        assert blocks is not None
        if id(blocks) not in self.cells:
            cells = self.cells[id(blocks)] = np.empty(len(sample), np.intp)
            for of_class, (side, counts) in enumerate(((sample.positive, blocks.pos), (~sample.positive, blocks.neg))):
                there = np.flatnonzero(counts)
                at = there[len(there) - 1 - np.searchsorted(blocks.top[there][::-1], sample.score[side])]
                cells[side] = 2 * at + of_class
        influence = each.ravel()[self.cells[id(blocks)]]
        if not self.resampler.independent:  # centred about the mean unit of each stratum
            unit, weight = self.resampler.unit_of_row(), 1.0 if sample.weight is None else sample.weight
            influence = np.bincount(unit, influence * weight, units.n_units).astype(np.float64)
            for start, size in units.strata.tolist():
                influence[start : start + size] -= influence[start : start + size].mean()
        return influence

"""Differences between models on the same rows: DeLong, McNemar, paired bootstrap, swap test."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import DEFAULT_THRESHOLD, check_threshold, compute, with_defaults
from ..catalogue.declare import Spec, parse_measure
from ..errors import InputError
from ..estimate import Interval
from ..progress import Progress
from ..ranking import Ranking, midranks, rank
from ..sample import Sample, make_sample
from ..table import KeepsFields
from ..validate import checked
from .delong import line_of, placements
from .evidence import Rows
from .proportions import z_of
from .settings import Settings

Floats = NDArray[np.float64]


def row_placements(sample: Sample, ranking: Ranking) -> tuple[Floats, Floats]:
    """DeLong placements of the positives and of the negatives, in the sample's own order."""
    of_pos, of_neg = placements(ranking)
    ascending = ranking.score[::-1]
    group = len(ranking) - 1 - np.searchsorted(ascending, sample.score)
    return of_pos[group[sample.positive]], of_neg[group[~sample.positive]]


class Pairs(Protocol):
    """What tells pairs of models apart that is not in their own rankings: gathered from rows, or from a pass over them.

    ``paired``: the models are on the same rows. ``independent``: rows count alike and were drawn one by one.
    """

    @property
    def paired(self) -> bool: ...
    @property
    def independent(self) -> bool: ...

    def auc_variance(self, a: str, b: str) -> float:
        """Variance of AUC(a) − AUC(b) (DeLong et al. 1988); nan where a class has a single case."""

    def discordant(self, a: str, b: str, threshold: float) -> tuple[int, int]:
        """How many rows only the first, and only the second model gets right."""


@dataclass(frozen=True, eq=False)
class RowPairs(KeepsFields):
    """Pairs of models whose rows are in memory."""

    rows: Mapping[str, Rows]
    paired: bool

    @property
    def independent(self) -> bool:
        """Whether rows count alike and were drawn one by one."""
        return all(rows.independent for rows in self.rows.values())

    @cached_property
    def _placements(self) -> dict[str, tuple[Floats, Floats]]:
        return {name: row_placements(rows.sample, rows.ranking) for name, rows in self.rows.items()}

    def auc_variance(self, a: str, b: str) -> float:
        """Variance of the difference of two AUCs, of placements in both or in each."""
        one, two = self._placements[a], self._placements[b]
        if min(len(side) for side in (*one, *two)) < 2:
            return math.nan
        gaps = [x - y for x, y in zip(one, two, strict=True)] if self.paired else [*one, *two]
        return sum(float(np.var(gap, ddof=1)) / len(gap) for gap in gaps)

    def discordant(self, a: str, b: str, threshold: float) -> tuple[int, int]:
        """Rows that only one of the two gets right."""
        first, second = ((s.score > np.float64(threshold)) == s.positive for s in map(self._sample, (a, b)))
        return discordant(first, second)

    def _sample(self, name: str) -> Sample:
        return self.rows[name].sample


class DifferenceTest(NamedTuple):
    """A difference tested: its interval, standard error, p-value, and how they were made."""

    low: float = math.nan
    high: float = math.nan
    standard_error: float = math.nan
    p_value: float = math.nan
    method: str = ""


@dataclass(frozen=True)
class Pair:
    """Two models by one measure: all that a test may read."""

    a: str
    b: str
    spec: Spec
    values: tuple[float, float]
    rankings: tuple[Ranking, Ranking]
    pairs: Pairs
    drawn: tuple[Floats | None, Floats | None]
    settings: Settings
    by_blocks: bool

    @property
    def difference(self) -> float:
        """The first model's value less the second's."""
        return self.values[0] - self.values[1]

    def test(self) -> DifferenceTest:
        """The declared test of the measure where it holds, else the bootstrap; nothing where neither can be made."""
        if self.difference != self.difference or self.settings.interval is None:
            return DifferenceTest()
        return TESTS[self.spec.measure.paired_test](self) or by_replicates(self)


def by_delong(pair: Pair) -> DifferenceTest | None:
    """DeLong's test, carried to a measure that is a straight line in the AUC, where both models have the same line."""
    lines = [line_of(pair.spec.measure, ranking) for ranking in pair.rankings]
    plain = pair.pairs.independent and pair.spec.ties == "expected" and not pair.spec.options
    if not plain or lines[0] != lines[1]:
        return None
    slope = lines[0][0]
    if slope == 0:  # a class is missing: nothing can differ
        return DifferenceTest()
    of_auc, variance = pair.difference / slope, pair.pairs.auc_variance(pair.a, pair.b)
    low, high = normal_interval(of_auc, variance, pair.settings.level)
    return DifferenceTest(low * slope, high * slope, math.sqrt(variance) * slope, normal_p(of_auc, variance), "delong")


def by_mcnemar(pair: Pair) -> DifferenceTest | None:
    """Interval from replicates, p-value by the exact McNemar test of the decisions at the threshold."""
    found = by_replicates(pair)
    if not found.method or not (pair.pairs.independent and pair.pairs.paired):
        return found
    threshold = DEFAULT_THRESHOLD if pair.spec.threshold is None else pair.spec.threshold
    p = mcnemar(*pair.pairs.discordant(pair.a, pair.b, threshold))
    return found._replace(p_value=p, method=f"{found.method}, exact McNemar p")


def by_replicates(pair: Pair) -> DifferenceTest:
    """From replicates of both models on the same rows drawn; of long lists, from blocks of rows."""
    one, two = pair.drawn
    if one is None or two is None:
        return DifferenceTest()
    with np.errstate(invalid="ignore"):
        gaps = one - two
    if pair.by_blocks and not pair.spec.measure.needs_quota:
        return _over_blocks(pair, gaps, one)
    return DifferenceTest(*summary(gaps, pair.settings.level), "paired bootstrap" if pair.pairs.paired else "bootstrap")


def _over_blocks(pair: Pair, gaps: Floats, of_first: Floats) -> DifferenceTest:
    """Difference from the spread of its values over blocks of rows, the same blocks for both models."""
    from scipy.special import stdtr

    # a sum that grows with n: the blocks' differences on the scale of the whole list
    mean = float(of_first.mean())
    scale = pair.values[0] / mean if pair.spec.measure.extensive and mean else 1.0
    error = abs(scale) * float(gaps.std(ddof=1)) / math.sqrt(len(gaps))
    gap = pair.difference
    low, high = normal_interval(gap, error**2, pair.settings.level, len(gaps) - 1)
    p = 2.0 * float(stdtr(len(gaps) - 1, -abs(gap) / error)) if error > 0 else float(gap == 0)
    return DifferenceTest(low, high, error, p, "paired blocks")


TESTS: dict[str, Callable[[Pair], DifferenceTest | None]] = {
    "delong": by_delong,
    "mcnemar": by_mcnemar,
    "bootstrap": by_replicates,
}


def normal_p(difference: float, variance: float) -> float:
    """Two-sided p-value of a difference; 1 where models do not differ in any pair of cases."""
    if not variance > 0:
        return 1.0 if difference == 0 else 0.0 if variance == 0 else math.nan
    return math.erfc(abs(difference) / math.sqrt(2.0 * variance))


def discordant(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> tuple[int, int]:
    """How many rows are right in the first alone, and in the second alone."""
    return int(np.count_nonzero(first & ~second)), int(np.count_nonzero(second & ~first))


def mcnemar(first_only: int, second_only: int) -> float:
    """Exact two-sided McNemar test: are the cases that only one model gets right shared fairly between them?"""
    from scipy.special import bdtr

    total = first_only + second_only
    return min(1.0, 2.0 * float(bdtr(min(first_only, second_only), total, 0.5))) if total else 1.0


def summary(differences: Floats, level: float) -> tuple[float, float, float, float]:
    """Percentile interval, standard error and two-sided p-value from replicates of a difference, by one sort.

    The p-value is twice the smaller share on one side of 0, never 0. Where none of many replicates crosses 0 their
    number sets a floor that adjustments for many pairs could never get under; there the normal p-value of the mean
    difference stands in, if it is smaller.
    """
    kept = np.sort(differences)  # nan comes last
    kept = kept[: int(np.searchsorted(kept, np.nan))]
    if len(kept) == 0:
        return math.nan, math.nan, math.nan, math.nan
    crossing = min(int(np.searchsorted(kept, 0.0, "right")), len(kept) - int(np.searchsorted(kept, 0.0, "left")))
    p = min(1.0, 2.0 * (crossing + 1.0) / (len(kept) + 1.0))
    finite = kept if math.isfinite(kept[0]) and math.isfinite(kept[-1]) else kept[np.isfinite(kept)]
    if len(finite) < 2:
        return math.nan, math.nan, math.nan, p
    error = float(finite.std(ddof=1))
    if crossing == 0 and len(finite) == len(kept) >= 500 and kept[0] < kept[-1]:
        p = min(p, normal_p(float(finite.mean()), error**2))
    at = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0]) * (len(finite) - 1)
    low, high = np.interp(at, np.arange(len(finite)), finite)
    return float(low), float(high), error, p


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment; nan stays nan."""
    p = np.asarray(p_values, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    running = 0.0
    for k, index in enumerate(order):
        running = max(running, min(1.0, (len(order) - k) * float(p[index])))
        adjusted[index] = running
    return [float(value) for value in adjusted]


def normal_interval(difference: float, variance: float, level: float, freedom: int | None = None) -> Interval:
    """difference ± z·SE (t with ``freedom``), no width where the models agree in every pair of cases."""
    from scipy.special import stdtrit

    if variance != variance:
        return Interval(math.nan, math.nan)
    z = z_of(level) if freedom is None else float(stdtrit(freedom, 0.5 + level / 2.0))
    half = z * math.sqrt(variance)
    return Interval(difference - half, difference + half)


@dataclass(frozen=True, eq=False)
class SwapTest:
    """Observed difference, differences with scores swapped at random, and the share at least as large."""

    measure: str
    observed: float
    null: Floats
    p_value: float

    def __repr__(self) -> str:
        return (
            f"SwapTest({self.measure}: difference {self.observed:.6g}, p = {self.p_value:.4g}, {len(self.null)} swaps)"
        )

    def _repr_html_(self) -> str:
        from ..present.notebook import spread_html

        return spread_html(self.null, self.observed, self.measure, repr(self))


@checked
def swap_test(
    y_true: Any,
    first: Any,
    second: Any,
    *,
    measure: str = "roc_auc",
    threshold: float | None = None,
    quota: int | float | None = None,
    n_permutations: int = 2000,
    seed: int = 0,
    pos_label: Any = None,
    sample_weight: Any = None,
    progress: bool | None = None,
) -> SwapTest:
    """Paired permutation test: if two models are equally good, swapping their scores case by case changes nothing.

    For measures of the ranking the scores are replaced by their mid-ranks first, so that models on different scales
    can be swapped (Venkatraman & Begg 1996); other measures swap the scores as they are.
    p = (b + 1)/(m + 1), two-sided.

    >>> swap_test([1, 0, 1, 0], [4, 3, 2, 1], [4, 3, 2, 1], n_permutations=50).p_value
    1.0
    """
    spec = with_defaults(parse_measure(measure), threshold=threshold, quota=quota)
    one = make_sample(y_true, first, pos_label=pos_label, sample_weight=sample_weight)
    two = make_sample(y_true, second, pos_label=pos_label, sample_weight=sample_weight)
    for sample in (one, two):
        check_threshold(spec if threshold is None else replace(spec, threshold=threshold), sample)
    columns = [s.score.astype(np.float64) for s in (one, two)]
    if spec.measure.rank_based:
        columns = [midranks(column) for column in columns]

    def difference(swap: NDArray[np.bool_]) -> float:
        values = [_read(spec, one, np.where(swap, columns[1 - k], columns[k])) for k in range(2)]
        return values[0] - values[1]

    rng = np.random.default_rng(seed)
    observed = difference(np.zeros(len(one), dtype=np.bool_))
    null = np.empty(n_permutations)
    with Progress("swap test", n_permutations, progress) as counter:
        for k in range(n_permutations):
            null[k] = difference(rng.random(len(one)) < 0.5)
            counter.advance()
    if np.isnan(observed):
        raise InputError(None, f"{measure} is undefined for these models, so there is no difference to test")
    extreme = int(np.count_nonzero(np.abs(null) >= abs(observed) - 1e-12 * max(1.0, abs(observed))))
    return SwapTest(str(spec), observed, null, (extreme + 1.0) / (n_permutations + 1.0))


def _read(spec: Spec, sample: Sample, score: Floats) -> float:
    swapped = replace(sample, score=score, low=float(score.min()), high=float(score.max()))
    return compute([spec], rank(swapped)).values[spec]

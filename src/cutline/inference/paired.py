"""Differences between models on the same rows: DeLong, McNemar, paired bootstrap, swap test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import compute, with_defaults
from ..catalogue.declare import Spec, parse_measure
from ..errors import InputError
from ..estimate import Interval
from ..progress import Progress
from ..ranking import Ranking, midranks, rank
from ..sample import Sample, make_sample
from ..validate import checked
from .delong import placements
from .proportions import z_of

Floats = NDArray[np.float64]


def row_placements(sample: Sample, ranking: Ranking) -> tuple[Floats, Floats]:
    """DeLong placements of the positives and of the negatives, in the sample's own order."""
    of_pos, of_neg = placements(ranking)
    ascending = ranking.score[::-1]
    group = len(ranking) - 1 - np.searchsorted(ascending, sample.score)
    return of_pos[group[sample.positive]], of_neg[group[~sample.positive]]


def auc_difference(one: tuple[Floats, Floats], two: tuple[Floats, Floats], *, paired: bool) -> tuple[float, float]:
    """AUC₁ − AUC₂ and its variance (DeLong et al. 1988), nan where a class has a single case."""
    fewest = min(len(a) for a in (*one, *two))
    difference = float(one[0].mean() - two[0].mean()) if fewest else math.nan
    if fewest < 2:
        return difference, math.nan
    if paired:
        variance = sum(float(np.var(a - b, ddof=1)) / len(a) for a, b in zip(one, two, strict=True))
    else:
        variance = sum(float(np.var(a, ddof=1)) / len(a) for a in (*one, *two))
    return difference, variance


def normal_p(difference: float, variance: float) -> float:
    """Two-sided p-value of a difference; 1 where models do not differ in any pair of cases."""
    if not variance > 0:
        return 1.0 if difference == 0 else 0.0 if variance == 0 else math.nan
    return math.erfc(abs(difference) / math.sqrt(2.0 * variance))


def mcnemar(first_right: NDArray[np.bool_], second_right: NDArray[np.bool_]) -> float:
    """Exact two-sided McNemar test: are the cases that only one model gets right shared fairly between them?"""
    from scipy.special import bdtr

    b = int(np.count_nonzero(first_right & ~second_right))
    c = int(np.count_nonzero(~first_right & second_right))
    if b + c == 0:
        return 1.0
    return min(1.0, 2.0 * float(bdtr(min(b, c), b + c, 0.5)))


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


@dataclass(frozen=True)
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
    quota: int | float | None = None,
    n_permutations: int = 2000,
    seed: int = 0,
    pos_label: Any = None,
    progress: bool | None = None,
) -> SwapTest:
    """Paired permutation test: if two models are equally good, swapping their scores case by case changes nothing.

    For measures of the ranking the scores are replaced by their mid-ranks first, so that models on different scales
    can be swapped (Venkatraman & Begg 1996); other measures swap the scores as they are.
    p = (b + 1)/(m + 1), two-sided.

    >>> swap_test([1, 0, 1, 0], [4, 3, 2, 1], [4, 3, 2, 1], n_permutations=50).p_value
    1.0
    """
    spec = with_defaults(parse_measure(measure), threshold=0.5, quota=quota)
    one = make_sample(y_true, first, pos_label=pos_label)
    two = make_sample(y_true, second, pos_label=pos_label)
    columns = [s.score.astype(np.float64) for s in (one, two)]
    if spec.measure.rank_based:
        columns = [midranks(column) for column in columns]

    def difference(swap: NDArray[np.bool_]) -> float:
        values = [_read(spec, one.positive, np.where(swap, columns[1 - k], columns[k])) for k in range(2)]
        return values[0] - values[1]

    rng = np.random.default_rng(seed)
    observed = difference(np.zeros(len(one), dtype=np.bool_))
    null = np.empty(n_permutations)
    with Progress("swap test", n_permutations, progress) as counter:
        for k in range(n_permutations):
            null[k] = difference(rng.random(len(one)) < 0.5)
            counter.advance()
    if np.isnan(observed):
        raise InputError(f"{measure} is undefined for these models, so there is no difference to test")
    extreme = int(np.count_nonzero(np.abs(null) >= abs(observed) - 1e-12 * max(1.0, abs(observed))))
    return SwapTest(str(spec), observed, null, (extreme + 1.0) / (n_permutations + 1.0))


def _read(spec: Spec, positive: NDArray[np.bool_], score: Floats) -> float:
    return compute([spec], rank(Sample(positive, score, None, float(score.min()), float(score.max())))).values[spec]

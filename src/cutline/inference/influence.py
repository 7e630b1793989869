"""How much a measure moves when a row weighs a little more: of several classes row by row, of a list place by place.

The squares of the rows' parts, summed over independent rows (or clusters of rows), estimate the variance of a measure:
the delta method, of which DeLong's variance of an AUC is one case. Weights and clusters need nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import COLUMN_AREAS, ClassSums, ClassTotals, ColumnOrder, compute, threshold_of
from ..catalogue.declare import Spec
from ..class_sample import ClassSample
from ..kernels import compiled
from ..quotas import quota_sizes
from ..ranking import Ranking
from ..sweep import Counts
from ..types import Floats

_SHARE_STEP = 1e-6  # of a share of the cases: near the cube root of the rounding of floats, best for two-sided steps
_BATCH = 2_000_000  # numbers of a table of steps that is held at once: 16 MB
_FEW = 6  # cases of a class below which its own spread is not trusted alone
_PRIOR = 2.0  # cases' worth of the classes' mean variance that such a class gets (benchmarks/classes.py, small classes)
_GROUPS = 4096  # a longer list is condensed: neighbours share their influence
_PLACES = 96  # chosen by hand: where a list is swept again; two sweeps a place, smooth between them
_MASS_STEP = 1e-3  # of a case: small against one, large against the rounding of sums over long lists


# --- several classes, row by row ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Influence:
    """Each row's part in each measure; for each class the variances of its AUC and average precision, and the bias."""

    parts: Mapping[Spec, Floats]
    column_variance: Floats


def influences(totals: ClassTotals, specs: Sequence[Spec]) -> Influence:
    """Each row's part in each measure: its weight times the derivative of the measure by that weight.

    The parts of one measure sum to 0, because a measure does not change when all weights grow alike.
    """
    sample, rows = totals.sample, totals.rows(specs)
    total = float(totals.decisions.total)
    slopes: dict[Spec, dict[str, Floats]] = {}
    parts: dict[Spec, Floats] = {}
    for spec, sums in totals.sums_with_means(specs).items():
        areas = spec.measure.areas
        slope = slopes[spec] = slopes_of(spec, sums)
        part = slope["truth"][sample.code] + slope["answers"][sample.predicted]
        part += np.where(sample.right, slope["hits"][sample.code], 0.0)
        part /= total
        if spec in rows:
            part += slope["mean"] * (rows[spec] - sums.mean) / total
        if "information" in areas:
            part += slope["information"] * _of_information(totals)
        if "risk" in areas:
            ranked, of_risk = totals.confidence_order, np.zeros(len(sample))
            compiled.add_risk_influence(ranked.order, ranked.tie, sample.right, sample.row_weight, of_risk)
            part += slope["risk"] * of_risk
        parts[spec] = part
    ranked_specs = [spec for spec in specs if set(spec.measure.areas) & set(COLUMN_AREAS)]
    variance = np.full((sample.n_classes, 3), np.nan)
    if ranked_specs:
        variance = _add_columns(totals, ranked_specs, slopes, parts)
    return Influence({spec: part * sample.row_weight for spec, part in parts.items()}, variance)


def slopes_of(spec: Spec, sums: ClassSums) -> dict[str, Floats]:
    """Derivatives of a measure by the totals that it reads; cases as shares of all, so that they are of one size."""
    counts = ("hits", "truth", "answers")
    base = replace(sums, **{name: getattr(sums, name) / float(sums.total) for name in counts})
    k, areas = len(sums.truth), spec.measure.areas
    batch = max(1, _BATCH // k)
    slopes: dict[str, Floats] = {name: np.zeros(k) for name in (*counts, *COLUMN_AREAS)}
    for name in (*counts, *(area for area in areas if area in COLUMN_AREAS)):
        for first in range(0, k, batch):
            here = np.arange(first, min(first + batch, k))
            step = np.zeros((len(here), k))
            step[np.arange(len(here)), here] = _SHARE_STEP
            # the totals with one of them in many versions; the others get the axis too, for sums over classes
            others = {other: np.broadcast_to(getattr(base, other), step.shape) for other in counts}
            ends = (replace(base, **{**others, name: getattr(base, name) + s * step}).value(spec) for s in (1.0, -1.0))
            above, below = (np.broadcast_to(np.asarray(end), len(here)) for end in ends)
            slopes[name][here] = (above - below) / (2.0 * _SHARE_STEP)
    for name in ("mean", *(area for area in areas if area not in COLUMN_AREAS)):
        steps = (getattr(base, name) + sign * _SHARE_STEP for sign in (1.0, -1.0))
        above, below = (replace(base, **{name: value}).value(spec) for value in steps)
        slopes[name] = np.asarray((above - below) / (2.0 * _SHARE_STEP))
    return slopes


def _of_information(totals: ClassTotals) -> Floats:
    sample = totals.sample
    assert sample.facts is not None
    truth = totals.decisions.truth
    total = truth.sum()
    share = truth / total
    prior = share[sample.code]
    with np.errstate(all="ignore"):
        # both branches are 0 where the predicted share is the prior
        by_prior = np.where(sample.facts.true >= prior, -1.0 / prior, -1.0 / (1.0 - prior))
        of_prior = np.bincount(sample.code, weights=sample.row_weight * by_prior, minlength=len(share)) / total
    of_prior = np.where(truth > 0, of_prior, 0.0)
    gain = totals.row_information - totals.information
    return np.asarray((gain + of_prior[sample.code] - share @ of_prior) / total)


def _add_columns(
    totals: ClassTotals,
    specs: Sequence[Spec],
    slopes: Mapping[Spec, Mapping[str, Floats]],
    parts: Mapping[Spec, Floats],
) -> Floats:
    """Add what comes through the areas of the columns, one column at a time; gives the variances of the areas."""
    sample, truth = totals.sample, totals.decisions.truth
    n = len(sample)
    table = np.stack([np.stack([slopes[spec][area] for area in COLUMN_AREAS]) for spec in specs])
    out, squares = np.zeros((n, len(specs))), np.zeros((sample.n_classes, 3))
    for k in range(sample.n_classes):
        if truth[k] == 0 or truth[k] == truth.sum() or not table[:, :, k].any():
            continue
        add_column(totals, totals.column_order(k), k, table, out, squares[k])
    for spec, added in zip(specs, np.ascontiguousarray(out.T), strict=True):
        if "pair_auc" in spec.measure.areas:  # a pair's area does not change when all cases of one class grow alike
            means = np.bincount(sample.code, weights=added * sample.row_weight, minlength=len(truth)) / truth
            added -= means[sample.code]
        parts[spec][:] += added
    return squares


def add_column(totals: ClassTotals, ranked: ColumnOrder, k: int, slopes: Floats, out: Floats, squares: Floats) -> None:
    """Add each row's part in the areas of class ``k`` to ``out``, times the slope of each measure in each area."""
    rows = ranked.order, ranked.tie, totals.sample.code, totals.sample.row_weight
    of_class = k, totals.decisions.truth, totals.areas[:, k]
    compiled.add_influence(*rows, *of_class, slopes, out, squares)


def by_unit(part: Floats, cluster: NDArray[np.int32] | None) -> Floats:
    """Parts of the units that are independent: the rows, or the clusters."""
    return part if cluster is None else np.bincount(cluster, weights=part).astype(np.float64)


def variance_of(units: Floats) -> float:
    """Variance of a measure from the parts of its independent units."""
    m = len(units)
    return float(units @ units) * m / (m - 1.0) if m > 1 else float("nan")


def has_few(sample: ClassSample) -> bool:
    """Whether a class has fewer than six independent cases."""
    sizes = np.bincount(sample.code)
    return sample.cluster is None and int(sizes[sizes > 0].min()) < _FEW


def measure_spread(spec: Spec, units: Floats, sample: ClassSample) -> tuple[float, float]:
    """Variance of a measure and its degrees of freedom, inf where they are many."""
    one = spec.measure
    if not one.sums_classes or sample.cluster is not None:
        return variance_of(units), math.inf
    return spread_by_class(units, sample.code, every=one.by_class, areas=bool(one.areas))


def spread_by_class(units: Floats, code: NDArray[np.int32], *, every: bool, areas: bool) -> tuple[float, float]:
    """Variance of a measure to which each class adds a part of its own, and its degrees of freedom.

    Three cases of a class that are all right, or all wrong, show no spread, and on average they show only 2/3 of it.
    Below six cases (with ``every`` in all classes) a class's part is the unbiased variance; below six it also leans on
    the mean of the classes, above all of the other small ones. The degrees of freedom are Welch's (1947), for these
    classes only; an area of so few cases is skewed, so that what it leans on adds none.
    """
    sizes = np.bincount(code).astype(np.float64)
    with np.errstate(all="ignore"):
        mean = np.nan_to_num(np.bincount(code, weights=units) / sizes)
        within = np.bincount(code, weights=(units - mean[code]) ** 2)
        of_case = sizes**2 * within / (sizes - 1.0)  # variance of a case's part on the scale of its class
        freedom = sizes - 1.0
        few = (sizes > 0) & (sizes < _FEW)
        near = np.where(sizes > 1, 1.0 / sizes**2, 0.0)  # a large class may count rows on another scale
        usual = float(np.nan_to_num(of_case) @ near / near.sum())
        leaning = (np.where(sizes > 1, within * sizes**2, 0.0) + _PRIOR * usual) / (freedom + _PRIOR) / sizes
        plain = of_case / sizes if every else within * len(units) / (len(units) - 1.0)
    parts = np.where(few, leaning, np.where(sizes > 0, plain, 0.0))
    counted = np.where(few, np.maximum(freedom, 1.0) if areas else freedom + _PRIOR, freedom if every else math.inf)
    variance = float(parts.sum() + sizes @ mean**2)
    doubt = float((parts[sizes > 0] ** 2 / counted[sizes > 0]).sum())
    return variance, variance**2 / doubt if doubt > 0.0 else math.inf


# --- a list of two classes, place by place -----------------------------------------------------------------------
#
# Cuts are algebra on four cells, so that their derivatives are exact. Measures of the whole list are swept again with a
# little mass added at some places, and read between them.


def taken_share(ranking: Ranking, spec: Spec, size: int | None = None) -> Floats:
    """Share of each group that lies above the cut of a measure; ``size``: of one of several quotas."""
    if size is None:
        return (np.arange(len(ranking)) < ranking.above(threshold_of(spec))).astype(np.float64)
    each = np.asarray(ranking.pos + ranking.neg, np.float64)
    before = np.cumsum(each) - each
    return np.clip((size - before) / np.where(each > 0.0, each, 1.0), 0.0, 1.0)


def mass_influence(specs: Sequence[Spec], ranking: Ranking) -> dict[Spec, tuple[Floats, Floats]]:
    """Derivative of each measure by the positives, and by the negatives, of each group of a ranking."""
    of_cuts = {spec: _of_cut(spec, ranking) for spec in specs if is_algebra(spec)}
    others = [spec for spec in specs if spec not in of_cuts]
    return of_cuts | (_of_list(others, ranking) if others else {})


def is_algebra(spec: Spec) -> bool:
    """Whether a measure reads nothing but the four cells at a cut."""
    return spec.measure.part == "cut" and spec.measure.scores == "any"


def _of_cut(spec: Spec, ranking: Ranking) -> tuple[Floats, Floats]:
    sizes, weights = ([None], np.ones(1)) if spec.quota is None else quota_sizes(spec.quota, ranking.cases)
    pos, neg = np.zeros(len(ranking)), np.zeros(len(ranking))
    for size, weight in zip(sizes, weights, strict=True):
        above = taken_share(ranking, spec, size)
        tp, fp = float((above * ranking.pos).sum()), float((above * ranking.neg).sum())
        cells = np.array([tp, fp, max(ranking.n_pos - tp, 0.0), max(ranking.n_neg - fp, 0.0)])
        step = 1e-6 * max(float(cells.sum()), 1.0)
        slope = np.empty(4)
        for k in range(4):
            ends = np.repeat(cells[None], 2, axis=0)
            ends[1, k] += step
            ends[0, k] = max(cells[k] - step, 0.0)
            with np.errstate(all="ignore"):
                low, high = np.asarray(spec.measure.compute(Counts(*ends.T), **spec.arguments), np.float64)
                slope[k] = (high - low) / (ends[1, k] - ends[0, k])
        slope = np.where(np.isfinite(slope), slope, np.nan)  # of a measure that is infinite here
        pos += weight * (above * slope[0] + (1.0 - above) * slope[2])
        neg += weight * (above * slope[1] + (1.0 - above) * slope[3])
    return pos, neg


def _of_list(specs: Sequence[Spec], ranking: Ranking) -> dict[Spec, tuple[Floats, Floats]]:
    short, part = condensed(ranking)
    # places spread over the list, denser at its top, and at both sides of a cut
    last = len(short) - 1
    asked: list[Any] = [np.linspace(0, last, _PLACES // 2), np.geomspace(1, last + 1, _PLACES // 2) - 1]
    for spec in specs:
        if spec.quota is not None:
            at = np.searchsorted(np.cumsum(short.pos + short.neg), quota_sizes(spec.quota, short.cases)[0])
            asked += [at - 1, at, at + 1]
    places = np.unique(np.concatenate(asked).round().clip(0, last)).astype(np.intp)
    base = compute(specs, short).values
    slopes = {spec: np.empty((2, len(places))) for spec in specs}
    for k, at in enumerate(places.tolist()):
        for side, name in enumerate(("pos", "neg")):
            more = getattr(short, name).copy()
            more[at] += _MASS_STEP
            values = compute(specs, replace(short, **{name: more})).values
            for spec in specs:
                slopes[spec][side, k] = (values[spec] - base[spec]) / _MASS_STEP
    groups = np.arange(len(short))
    return {
        spec: (np.interp(groups, places, pos)[part], np.interp(groups, places, neg)[part])
        for spec, (pos, neg) in slopes.items()
    }


def condensed(ranking: Ranking) -> tuple[Ranking, NDArray[np.intp]]:
    """A ranking of at most some thousand groups, finer at its top, and the group there of each group here."""
    n = len(ranking)
    if n <= _GROUPS:
        pos, neg = (np.asarray(side, np.float64) for side in (ranking.pos, ranking.neg))
        return replace(ranking, weighted=True, pos=pos, neg=neg), np.arange(n)
    half = _GROUPS // 2
    spread = np.concatenate([np.linspace(0, n, half, endpoint=False), np.geomspace(1, n, half) - 1])
    starts = np.unique(spread.astype(np.intp))
    part = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, n)))
    size = np.asarray(ranking.pos + ranking.neg, np.float64)
    score = ranking.score.astype(np.float64)
    with np.errstate(invalid="ignore"):
        mean = np.add.reduceat(score * size, starts) / np.add.reduceat(size, starts)
    pos, neg = (np.add.reduceat(np.asarray(side, np.float64), starts) for side in (ranking.pos, ranking.neg))
    return Ranking(np.where(np.isnan(mean), score[starts], mean), pos, neg, ranking.rows, True), part

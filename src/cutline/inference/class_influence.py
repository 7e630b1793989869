"""How much each row moves a measure of several classes: the derivative of its value by the row's weight.

The squares of these parts, summed over independent rows (or clusters of rows), estimate the variance of the measure:
the delta method, of which DeLong's variance of an AUC is one case. Weights and clusters need nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.class_compute import COLUMN_AREAS, ClassTotals, ColumnOrder
from ..catalogue.classes import ClassSpec, ClassSums
from ..class_sample import ClassSample
from ..types import Floats

_STEP = 1e-6
_BY_CLASS = ("hits", "truth", "answers", *COLUMN_AREAS)
_BATCH = 2_000_000


@dataclass(frozen=True, eq=False)
class Influence:
    """Each row's part in each measure; for each class the variances of its AUC and average precision, and the bias."""

    parts: Mapping[ClassSpec, Floats]
    column_variance: Floats


def influences(totals: ClassTotals, specs: Sequence[ClassSpec]) -> Influence:
    """Each row's part in each measure: its weight times the derivative of the measure by that weight.

    The parts of one measure sum to 0, because a measure does not change when all weights grow alike.
    """
    sample, sums = totals.sample, totals.sums(specs)
    rows = totals.rows(specs)
    total = float(sums.total)
    slopes: dict[ClassSpec, dict[str, Floats]] = {}
    parts: dict[ClassSpec, Floats] = {}
    for spec in specs:
        own = sums
        if spec in rows:
            own = replace(sums, mean=float(np.average(rows[spec], weights=sample.weight)))
        slope = slopes[spec] = slopes_of(spec, own)
        part = slope["truth"][sample.code] + slope["answers"][sample.predicted]
        part += np.where(sample.right, slope["hits"][sample.code], 0.0)
        part /= total
        if spec in rows:
            part += slope["mean"] * (rows[spec] - own.mean) / total
        if "information" in spec.areas:
            part += slope["information"] * _of_information(totals)
        if "risk" in spec.areas:
            part += slope["risk"] * _of_risk(totals)
        parts[spec] = part
    ranked = [spec for spec in specs if set(spec.areas) & set(COLUMN_AREAS)]
    variance = _add_columns(totals, ranked, slopes, parts) if ranked else np.full((sample.n_classes, 3), np.nan)
    return Influence({spec: part * sample.row_weight for spec, part in parts.items()}, variance)


def slopes_of(spec: ClassSpec, sums: ClassSums) -> dict[str, Floats]:
    """Derivatives of a measure by the totals that it reads; cases as shares of all, so that they are of one size."""
    total = float(sums.total)
    shares = {name: getattr(sums, name) / total for name in ("hits", "truth", "answers")}
    base = replace(sums, **shares)
    k = len(sums.truth)
    found: dict[str, Floats] = {name: np.zeros(k) for name in _BY_CLASS}
    for name in ("hits", "truth", "answers", *(a for a in spec.areas if a in COLUMN_AREAS)):
        found[name] = _by_class(spec, base, name, getattr(base, name))
    for name in ("mean", *(a for a in spec.areas if a not in COLUMN_AREAS)):
        value = getattr(base, name)
        ends = [spec.compute(replace(base, **{name: value + step})) for step in (_STEP, -_STEP)]
        found[name] = np.asarray((ends[0] - ends[1]) / (2.0 * _STEP))
    return found


def _by_class(spec: ClassSpec, base: ClassSums, name: str, values: Floats) -> Floats:
    k = len(values)
    out = np.empty(k)
    batch = max(1, _BATCH // k)
    for first in range(0, k, batch):
        last = min(first + batch, k)
        step = np.zeros((last - first, k))
        step[np.arange(last - first), np.arange(first, last)] = _STEP
        ends = [
            np.broadcast_to(np.asarray(spec.compute(_stacked(base, name, values + sign * step))), last - first)
            for sign in (1.0, -1.0)
        ]
        out[first:last] = (ends[0] - ends[1]) / (2.0 * _STEP)
    return out


def _stacked(base: ClassSums, name: str, values: Floats) -> ClassSums:
    """The totals with one of them replaced by many versions; the others get the axis too, for sums over classes."""
    others = {other: np.broadcast_to(getattr(base, other), values.shape) for other in ("hits", "truth", "answers")}
    return replace(base, **{**others, name: values})


def _of_information(totals: ClassTotals) -> Floats:
    sample = totals.sample
    assert sample.facts is not None
    truth, weight, true = totals.decisions.truth, sample.row_weight, sample.facts.true
    total = truth.sum()
    share = truth / total
    prior = share[sample.code]
    above = true >= prior
    with np.errstate(all="ignore"):
        gain = np.where(above, np.log(true) - np.log(prior), np.log1p(-prior) - np.log1p(-true))
        by_prior = np.where(above, -1.0 / prior, -1.0 / (1.0 - prior))  # both branches are 0 where true = prior
        of_prior = np.bincount(sample.code, weights=weight * by_prior, minlength=len(share)) / total
    of_prior = np.where(truth > 0, of_prior, 0.0)
    return np.asarray((gain - totals.information + of_prior[sample.code] - share @ of_prior) / total)


def _of_risk(totals: ClassTotals) -> Floats:
    from ..kernels import classes as class_kernels

    ranked, out = totals.confidence_order, np.zeros(len(totals.sample))
    class_kernels.add_risk_influence(ranked.order, ranked.tie, totals.sample.right, totals.sample.row_weight, out)
    return out


def _add_columns(
    totals: ClassTotals,
    specs: Sequence[ClassSpec],
    slopes: Mapping[ClassSpec, Mapping[str, Floats]],
    parts: Mapping[ClassSpec, Floats],
) -> Floats:
    """Add what comes through the areas of the columns, one column at a time; gives the variances of the areas."""
    sample, truth = totals.sample, totals.decisions.truth
    n = len(sample)
    table = np.stack([np.stack([slopes[spec][area] for area in COLUMN_AREAS]) for spec in specs])
    out, work, squares = np.zeros((n, len(specs))), np.empty((4, n)), np.zeros((sample.n_classes, 3))
    for k in range(sample.n_classes):
        if truth[k] == 0 or truth[k] == truth.sum() or not table[:, :, k].any():
            continue
        add_column(totals, totals.column_order(k), k, table, work, out, squares[k])
    for spec, added in zip(specs, np.ascontiguousarray(out.T), strict=True):
        if "pair_auc" in spec.areas:  # a pair's area does not change when all cases of one class grow alike
            means = np.bincount(sample.code, weights=added * sample.row_weight, minlength=len(truth)) / truth
            added -= means[sample.code]
        parts[spec][:] += added
    return squares


def add_column(
    totals: ClassTotals, ranked: ColumnOrder, k: int, slopes: Floats, work: Floats, out: Floats, squares: Floats
) -> None:
    """Add each row's part in the areas of class ``k`` to ``out``, times the slope of each measure in each area."""
    from ..kernels import classes as class_kernels

    rows = ranked.order, ranked.tie, totals.sample.code, totals.sample.row_weight
    of_class = k, totals.decisions.truth, totals.areas[:, k]
    class_kernels.add_influence(*rows, *of_class, slopes, work, out, squares)


def by_unit(part: Floats, cluster: NDArray[np.int32] | None) -> Floats:
    """Parts of the units that are independent: the rows, or the clusters."""
    return part if cluster is None else np.bincount(cluster, weights=part).astype(np.float64)


def variance_of(units: Floats) -> float:
    """Variance of a measure from the parts of its independent units."""
    m = len(units)
    return float(units @ units) * m / (m - 1.0) if m > 1 else float("nan")


_FEW = 6  # cases of a class below which its own spread is not trusted alone
_PRIOR = 2.0  # cases' worth of the classes' mean variance that such a class gets (benchmarks/classes.py, small classes)


def has_few(sample: ClassSample) -> bool:
    """Whether a class has fewer than six independent cases."""
    sizes = np.bincount(sample.code)
    return sample.cluster is None and int(sizes[sizes > 0].min()) < _FEW


def measure_spread(spec: ClassSpec, units: Floats, sample: ClassSample) -> tuple[float, float]:
    """Variance of a measure and its degrees of freedom, inf where they are many."""
    if not spec.by_class or sample.cluster is not None:
        return variance_of(units), math.inf
    return spread_by_class(units, sample.code, every=spec.measure.by_class, areas=bool(spec.areas))


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


def acceleration(units: Floats) -> Any:
    """The acceleration of Efron's BCa interval."""
    square = float(units @ units)
    return float((units**3).sum()) / (6.0 * square**1.5) if square > 0 else 0.0

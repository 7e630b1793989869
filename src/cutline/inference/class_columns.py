"""One class by itself, with intervals: shares of its rows, and the areas of its score column against the rest."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..catalogue.class_compute import ClassTotals, ColumnOrder
from ..class_sample import ClassSample
from ..estimate import Estimate, Interval
from .areas import auc_interval, auc_spread, newcombe_limits
from .class_influence import add_column, by_unit, variance_of
from .class_intervals import delta_interval
from .normal import t_quantile
from .proportions import wilson, z_of
from .scales import effective_freedom


def column_estimates(totals: ClassTotals, level: float) -> list[dict[str, Estimate]]:
    """Estimates of ``roc_auc`` and ``average_precision`` for each class; the rows may weigh and cluster."""
    sample, truth = totals.sample, totals.decisions.truth
    n, k = len(sample), sample.n_classes
    work, squares = np.empty((4, n)), np.zeros(3)
    found = []
    for at in range(k):
        auc, precision = float(totals.areas[0, at]), float(totals.areas[2, at])
        if auc != auc or precision != precision:
            reason = "no case is of this class" if truth[at] == 0 else "every case is of this class"
            values = {"roc_auc": auc, "average_precision": precision}
            found.append({name: Estimate(name, v, reason=reason if v != v else "") for name, v in values.items()})
            continue
        ranked, out, slopes = totals.column_order(at), np.zeros((n, 2)), np.zeros((2, 3, k))
        slopes[0, 0, at] = slopes[1, 2, at] = 1.0
        add_column(totals, ranked, at, slopes, work, out, squares)
        units = [by_unit(part * sample.row_weight, sample.cluster) for part in out.T]
        rows = np.count_nonzero(sample.code == at)
        (low, high), method = _of_area(auc, units[0], ranked, sample, at, level)
        area = Estimate("roc_auc", auc, low, high, level, method)
        low, high = _of_precision(precision, math.sqrt(variance_of(units[1])), float(rows), level)
        found.append(
            {
                "roc_auc": area,
                "average_precision": Estimate("average_precision", precision, low, high, level, "wilson_effective"),
            }
        )
    return found


def _of_area(
    auc: float, units: NDArray[np.float64], ranked: ColumnOrder, sample: ClassSample, at: int, level: float
) -> tuple[Interval, str]:
    """As of two classes: DeLong's interval with t; with weights or clusters the delta method, also with t."""
    positive = sample.code[ranked.order] == at
    n_pos = float(np.count_nonzero(positive))
    n_neg = len(sample) - n_pos
    if min(n_pos, n_neg) < 2:
        return newcombe_limits(auc, n_pos, n_neg, z_of(level)), "newcombe"
    if sample.cluster is not None or sample.weight is not None:
        error = math.sqrt(variance_of(units)) * t_quantile(level, effective_freedom(units)) / z_of(level)
        return delta_interval(auc, error, "logit", (0.0, 1.0), min(n_pos, n_neg), level)
    starts = np.flatnonzero(np.concatenate([[True], ~ranked.tie[:-1]]))
    of_group = [np.add.reduceat(rows.astype(np.float64), starts) for rows in (positive, ~positive)]
    _, variance, freedom = auc_spread(*of_group)
    return auc_interval(auc, variance, n_pos, n_neg, level, freedom, logit=True)


def _of_precision(value: float, error: float, positives: float, level: float) -> Interval:
    """Wilson's interval with no more trials than positives (Boyd et al. 2013), nor than the spread allows."""
    trials = min(value * (1.0 - value) / error**2, positives) if error > 0 and value < 1.0 else positives
    return wilson(value * trials, trials, level)


def share_of(
    sample: ClassSample, rows: NDArray[np.intp], hit: NDArray[np.bool_], level: float
) -> tuple[float, Interval]:
    """Share of ``hit`` among ``rows`` of a sample, and its interval; nan where there are no rows.

    The trials are the rows; with weights as many as carry the same information (Kish 1965); with clusters as many as
    give the variance between clusters, where that can be seen.
    """
    if not len(rows):
        return math.nan, Interval(math.nan, math.nan)
    weight = np.ones(len(rows)) if sample.weight is None else sample.weight[rows]
    total = float(weight.sum())
    value = float(weight[hit].sum()) / total
    trials = total**2 / float(weight @ weight)
    if sample.cluster is not None:
        units, at = np.unique(sample.cluster[rows], return_inverse=True)
        trials = min(trials, float(len(units))) if value in (0.0, 1.0) else trials
        if 0.0 < value < 1.0 and len(units) > 1:
            spread = variance_of(np.bincount(at, weights=weight * (hit - value)) / total)
            trials = value * (1.0 - value) / spread if spread > 0 else trials
    hits = round(value * trials) if sample.weight is None and sample.cluster is None else value * trials
    return value, wilson(float(hits), trials, level)

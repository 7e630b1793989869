"""Area under the ROC curve and average precision of each class against the rest, with intervals."""

from __future__ import annotations

import math

import numpy as np

from ..catalogue.class_compute import ClassTotals
from ..estimate import Estimate, Interval
from .areas import newcombe_limits
from .class_influence import by_unit, variance_of
from .class_intervals import delta_interval
from .proportions import wilson, z_of


def column_estimates(totals: ClassTotals, level: float) -> list[dict[str, Estimate]]:
    """Estimates of ``roc_auc`` and ``average_precision`` for each class; the rows may weigh and cluster."""
    from ..kernels import classes as class_kernels

    sample, truth = totals.sample, totals.decisions.truth
    n, k = len(sample), sample.n_classes
    work, squares = np.empty((4, n)), np.zeros(2)
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
        class_kernels.add_influence(
            ranked.order,
            ranked.tie,
            sample.code,
            sample.row_weight,
            at,
            truth,
            totals.areas[:, at],
            slopes,
            work,
            out,
            squares,
        )
        errors = [math.sqrt(variance_of(by_unit(part * sample.row_weight, sample.cluster))) for part in out.T]
        rows = np.count_nonzero(sample.code == at)
        trials = float(min(rows, n - rows))
        if trials < 2:
            (low, high), method = newcombe_limits(auc, float(rows), float(n - rows), z_of(level)), "newcombe"
        else:
            (low, high), method = delta_interval(auc, errors[0], "logit", (0.0, 1.0), trials, level)
        area = Estimate("roc_auc", auc, low, high, level, method)
        low, high = _of_precision(precision, errors[1], float(rows), level)
        found.append(
            {
                "roc_auc": area,
                "average_precision": Estimate("average_precision", precision, low, high, level, "wilson_effective"),
            }
        )
    return found


def _of_precision(value: float, error: float, positives: float, level: float) -> Interval:
    """Wilson's interval with no more trials than positives (Boyd et al. 2013), nor than the spread allows."""
    trials = min(value * (1.0 - value) / error**2, positives) if error > 0 and value < 1.0 else positives
    return wilson(value * trials, trials, level)

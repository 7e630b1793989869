"""What buckets of scores leave open: every value between the best and the worst order of the cases inside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import Computed, compute
from ..catalogue.declare import Spec, parse_measure
from ..estimate import Estimate, Interval
from ..kernels.layout import LOSSES
from ..sweep import LOG_EPS
from ..table import PicklesFields
from .evidence import RowEvidence


@dataclass(frozen=True, eq=False)
class Buckets(PicklesFields):
    """The cases in the best and in the worst order of each bucket, both of them possible.

    ``is_open``: which groups of the two rankings are part of a bucket. ``sums`` are the sums of losses that a query
    added up, by their name in :class:`Sums`; ``number`` is that of the buckets.
    """

    best: RowEvidence
    worst: RowEvidence
    is_open: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    sums: Mapping[str, float]
    number: int

    def exact(self, computed: Computed) -> Computed:
        """Values with the losses that are known exactly."""
        values = dict(computed.values)
        for plan, vector in computed.sums:
            for options in plan.request.losses:
                at = plan.request.at(losses=options)
                for name, total in self.sums.items():
                    if options.eps == LOG_EPS or not name.endswith("_log"):
                        vector[at + LOSSES.index(name)] = total
            if plan.request.losses and self.sums:
                values |= dict(zip(plan.specs, map(float, plan.values(vector)), strict=True))
        return replace(computed, values=values)

    def bounded(self, specs: Sequence[Spec], estimates: Mapping[Spec, Estimate]) -> dict[Spec, Estimate]:
        """Estimates with their bounds, and intervals as much longer as the bounds lie around the value.

        Moving a positive up past a negative improves each measure, or leaves it as it is; so do a higher score of a
        positive and a lower one of a negative. The two orders are therefore the ends. What is read at a threshold
        inside a bucket, or from precisions, is best estimated by the middle of its bounds.
        """
        known = [spec for spec in specs if estimates[spec].value == estimates[spec].value]
        ends = [self.exact(rows.compute(known)).values for rows in (self.best, self.worst)]
        bounded = dict(estimates)
        for spec in known:
            e, ((best, worst), measure) = estimates[spec], ((values[spec] for values in ends), spec.measure)
            low, high = min(best, worst), max(best, worst)
            if measure.part == "precision":
                low, high = self._around_precision(measure.name, low, high)
            elif measure.name == "ks_statistic":
                low = self._least_gap(spec, best)
            elif (measure.name == "quota_pearson" or (measure.own and measure.part == "cut")) and low < high:
                low = high = math.nan  # correlations, and measures that are not ours, may be best in between
            value = (low + high) / 2.0 if measure.part == "precision" or measure.needs_threshold else e.value
            value = value if math.isfinite(value) else e.value
            limits: dict[str, Any] = {}
            if e.low == e.low and math.isfinite(high - low):
                shift, (least, most) = value - e.value, measure.range
                limits["low"] = max(e.low + shift - max(value - low, 0.0), min(least, e.low))
                limits["high"] = min(e.high + shift + max(high - value, 0.0), max(most, e.high))
            bounded[spec] = replace(e, value=value, certain=Interval(low, high), **limits)
        return bounded

    def _least_gap(self, spec: Spec, best: float) -> float:
        """The least gap between the classes: above it lies the highest of the worst order or the lowest of the best."""
        top = replace(spec, measure=parse_measure("max_youden_index").measure)
        above = [compute([top], rows.ranking).values[top] for rows in (self.worst, self.best)]
        return max(0.0, above[0], best if best > above[1] else 0.0)

    def _around_precision(self, name: str, low: float, high: float) -> tuple[float, float]:
        """Bounds of areas under precisions, which also depend on how positives without negatives between them tie.

        With P positives and N negatives before a of them, precision rises from P/(P+N) to (P+a)/(P+a+N). If they tie,
        average precision takes the last value for all, the trapezoids their straight line; if they do not, both take
        Σ (P+i)/(P+i+N) = a − N·(ψ(P+N+a+1) − ψ(P+N+1)), at most.
        """
        from scipy.special import digamma

        rows, is_open = (self.worst, self.is_open[1]) if name == "average_precision" else (self.best, self.is_open[0])
        pos, neg = rows.ranking.pos.astype(np.float64), rows.ranking.neg.astype(np.float64)
        a, before = pos[is_open], (np.cumsum(pos) - pos)[is_open]
        n = np.cumsum(neg)[is_open]
        apart = a - n * (digamma(before + n + a + 1.0) - digamma(before + n + 1.0))
        with np.errstate(invalid="ignore"):
            last, first = (before + a) / (before + a + n), np.nan_to_num(before / (before + n), nan=1.0)
        if name == "average_precision":
            return low - float(np.maximum(np.where(a > 0, a * last - apart, 0.0), 0.0).sum()) / rows.ranking.n_pos, high
        line = np.where(a > 0, apart - a * (first + last) / 2.0, 0.0)
        return low, min(1.0, high + float(np.maximum(line, 0.0).sum()) / rows.ranking.n_pos)

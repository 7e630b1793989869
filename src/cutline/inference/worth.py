"""How sure the worth of a list is: the influence of each row on what a cut captures, and intervals for skewed sums.

The cut at a quota moves with the sample: a row that enters above it pushes another out, which was worth about as much
as the rows near the cut are. Amounts are skewed (a few large claims make up most of the value), so that t and
percentile intervals are too short on the side of the large values. Hall's transformation of the studentized sum takes
the skewness out; its coverage is in docs/limited-quota.md (benchmarks/worth.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..catalogue.compute import threshold_of
from ..catalogue.declare import Spec, ratio
from ..catalogue.value import ValueSums, gains, taken_rows, value_sums
from ..estimate import Interval
from ..quotas import quota_sizes
from ..sources.arrays import Sample
from ..types import Floats
from .limits import dot, edge_limits, effective_size, freedom_of, mover_limits, scaled_limits, t_quantile

_FEWEST_NEAR = 5.0  # places on either side of a cut that tell what a row there is worth, at least


class Valued(NamedTuple):
    """A measure of worth: its value, the influence of each unit on it, and what the interval at an edge rests on.

    ``carriers``: as many positives of equal worth as carry the value, (Σv)²/Σv²; ``most``: what the measure would be if
    all value were captured; ``wider``: how much longer the interval is because units resemble their neighbours.
    """

    value: float
    influence: Floats
    carriers: float
    most: float
    wider: float = 1.0

    def interval(self, level: float, share: bool) -> Interval:
        """The interval; of a ``share`` of all value on the logit scale, else by Hall's transformation.

        Hall (1992): with T the studentized sum and a its skewness, T + aT²/3 + a²T³/27 + a/6 has no skewness to first
        order, and a cube root brings its quantiles back. Quantiles are Student's with the degrees of freedom of Σψ².
        """
        units = len(self.influence)
        second, third, fourth = (float((self.influence**power).sum()) for power in (2, 3, 4))
        if units < 2 or not math.isfinite(second):
            return Interval(math.nan, math.nan)
        error = math.sqrt(second * units / (units - 1.0)) * self.wider
        freedom = freedom_of(second, fourth, units) if second > 0.0 else 1.0
        if share:
            low, high = scaled_limits(self.value, error, freedom, level, "logit")
            return edge_limits(self.value, self.carriers, level) if low != low else Interval(low, high)
        if not error > 0.0 or self.value == 0.0:  # nothing was captured, or everything alike
            reached = self.value / self.most if self.most > 0.0 else math.nan
            low, high = edge_limits(min(reached, 1.0), self.carriers, level)
            return Interval(self.most * low, self.most * high)
        skew, t = third / second**1.5, t_quantile(level, freedom)

        def untransformed(x: float) -> float:
            return 3.0 / skew * float(np.cbrt(1.0 + skew * (x - skew / 6.0)) - 1.0) if abs(skew) > 1e-9 else x

        return Interval(max(0.0, self.value - error * untransformed(t)), self.value - error * untransformed(-t))


def difference_limits(gap: float, influence: Floats, either: Valued, level: float) -> Interval:
    """The interval of a paired difference, from the influence of each unit on it.

    A unit adds ψ + D/U to the difference D: what one model alone gains there, or what the other does. Both sums are of
    few skewed amounts, those on which the models differ, and each has Hall's interval; MOVER joins the two (Newcombe
    1998). An interval around the difference itself is too short, because gains and losses hide each other's skewness.
    ``either``: one of the models, which tells how much there is to gain where one side is empty.
    """
    each = influence + gap / len(influence)
    sides = [np.maximum(each, 0.0), np.maximum(-each, 0.0)]
    centred = [side - side.mean() for side in sides]
    spread = math.sqrt(float((centred[0] ** 2).sum()) * float((centred[1] ** 2).sum()))
    terms = [
        (total := float(side.sum()), either._replace(value=total, influence=psi).interval(level, False))
        for side, psi in zip(sides, centred, strict=True)
    ]
    return mover_limits(terms[0], terms[1], alike=dot(*centred) / spread if spread > 0.0 else 0.0)


def valued_rows(spec: Spec, sample: Sample) -> Valued:
    """A measure of worth on one list, and the influence of each row on it."""
    gain, weight = gains(sample), sample.row_weight
    cases = float(weight.sum())

    def cuts() -> Iterator[tuple[float, ValueSums, ValueSums]]:
        sizes, shares = ([None], np.ones(1)) if spec.quota is None else quota_sizes(spec.quota, cases)
        for places, share in zip(sizes, shares.tolist(), strict=True):
            taken, every = taken_rows(sample, places, threshold_of(spec)), np.ones(len(sample))
            each = []
            for column, above in ((gain, taken), (gain, every), (every, taken)):
                # at a quota, taking one case leaves another out: one that is worth as much as those about the cut
                near = 0.0 if places is None or above is every else _mean_near(column, sample, places)
                parts = weight * (column - near) * above
                each.append(parts - weight * float(parts.sum()) / cases)
            yield share, value_sums(sample, taken), ValueSums._make([*each, 0.0])

    return valued(spec, effective_size(weight * gain), cuts())


def valued(spec: Spec, carriers: float, cuts: Iterable[tuple[float, ValueSums, ValueSums]]) -> Valued:
    """A measure a/b from its cuts (share in the mean, sums, influences on them): the influence is (ψa − (a/b)·ψb)/b."""
    proportion, value, most, influence = spec.measure.proportion, 0.0, 0.0, np.zeros(1)
    assert proportion is not None
    for share, sums, each in cuts:
        (above, below), (of_above, of_below) = proportion(sums), proportion(each)
        with np.errstate(all="ignore"):
            psi = np.asarray((of_above - np.divide(above, below) * of_below) / below, np.float64)
        value, most = value + share * float(spec.measure.compute(sums)), most + share * float(ratio(sums.total, below))
        influence = influence + share * psi
    return Valued(value, influence, carriers, most)


def half_window(places: float, cases: float) -> float:
    """How many places about a cut tell what a case there is worth: one standard deviation of where new samples cut."""
    return max(_FEWEST_NEAR, math.sqrt(places * max(0.0, 1.0 - places / cases)))


def _mean_near(column: Floats, sample: Sample, places: float) -> float:
    """The mean of a column over the rows about a cut.

    Rows are chosen by what the list is sorted by, so that the mean does not depend on the order of tied rows.
    """
    assert sample.worth is not None
    order, weight = sample.worth.order(sample.score), sample.row_weight
    rows = np.argsort(-order, kind="stable")
    ends = np.cumsum(weight[rows])
    half = half_window(places, float(ends[-1]))
    first, last = np.minimum(np.searchsorted(ends, [places - half, places + half]), len(rows) - 1)
    near = (order <= order[rows[first]]) & (order >= order[rows[last]])
    return float(np.average(column[near], weights=weight[near]))

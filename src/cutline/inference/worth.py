"""How sure the worth of a list is: the influence of each row on what a cut captures, and intervals for skewed sums.

The cut at a quota moves with the sample: a row that enters above it pushes another out, which was worth about as much
as the rows near the cut are. Amounts are skewed (a few large claims make up most of the value), so that t and
percentile intervals are too short on the side of the large values. Hall's transformation of the studentized sum takes
the skewness out; its coverage is in docs/limited-quota.md (benchmarks/worth.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..catalogue.compute import threshold_of
from ..catalogue.declare import Spec, ratio
from ..catalogue.value import ValueSums, gains, taken_rows, value_sums
from ..estimate import Interval
from ..quotas import quota_sizes
from ..sources.arrays import Sample
from ..types import Floats
from .limits import dot, edge_limits, effective_size, freedom_of, mover_limits, scaled_limits, t_quantile

if TYPE_CHECKING:
    from ..sources.counts import Counted

_FEWEST_NEAR = 5.0  # places on either side of a cut that tell what a row there is worth, at least


class Valued(NamedTuple):
    """A measure of worth: its value, the influence of each unit on it, and what the interval at an edge rests on.

    ``carriers``: as many positives of equal worth as carry the value, (Σv)²/Σv²; ``most``: what the measure would be if
    all value were captured; ``wider``: how much longer the interval is because units resemble their neighbours.
    ``moments``: of counts, how many cases there are and the sums of their influences' powers from the second on.
    """

    value: float
    influence: Floats
    carriers: float
    most: float
    wider: float = 1.0
    moments: tuple[float, ...] = ()

    def interval(self, level: float, share: bool) -> Interval:
        """The interval; of a ``share`` of all value on the logit scale, else by Hall's transformation.

        Hall (1992): with T the studentized sum and a its skewness, T + aT²/3 + a²T³/27 + a/6 has no skewness to first
        order, and a cube root brings its quantiles back. Quantiles are Student's with the degrees of freedom of Σψ².
        """
        moments = self.moments or (len(self.influence), *((self.influence**power).sum() for power in (2, 3, 4)))
        units, second, third, fourth = map(float, moments)
        if units < 2 or not math.isfinite(second):
            return Interval(math.nan, math.nan)
        error = math.sqrt(second * units / (units - 1.0)) * self.wider
        freedom = freedom_of(second, fourth, units) if second > 0.0 else 1.0
        if share:
            low, high = scaled_limits(self.value, error, freedom, level, "logit")
            return edge_limits(self.value, self.carriers, level) if low != low else Interval(low, high)
        if not error > 1e-12 * self.value or self.value == 0.0:  # nothing was captured, or everything alike
            reached = self.value / self.most if self.most > 0.0 else math.nan
            low, high = edge_limits(min(reached, 1.0), self.carriers, level)
            return Interval(self.most * low, self.most * high)
        skew, t = third / second**1.5, t_quantile(level, freedom)
        low, high = (
            self.value - error * (3.0 / skew * float(np.cbrt(1.0 + skew * (x - skew / 6.0)) - 1.0))
            if abs(skew) > 1e-9
            else self.value - error * x
            for x in (t, -t)
        )
        return Interval(max(0.0, low), high)


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
            each, near = [], np.zeros(0, np.bool_)
            if places is not None:
                # at a quota, taking one case leaves another out: one that is worth as much as those about the cut;
                # chosen by what the list is sorted by, so that their mean does not depend on the order of tied rows
                order = sample.worth.order(sample.score)  # type: ignore[union-attr]
                rows = np.argsort(-order, kind="stable")
                ends = np.cumsum(weight[rows])
                half = half_window(places, float(ends[-1]))
                first, last = np.minimum(np.searchsorted(ends, [places - half, places + half]), len(rows) - 1)
                near = (order <= order[rows[first]]) & (order >= order[rows[last]])
            for column, above in ((gain, taken), (gain, every), (every, taken)):
                moves = places is not None and above is taken
                left = float(np.average(column[near], weights=weight[near])) if moves else 0.0
                parts = weight * (column - left) * above
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


def _counted_cuts(spec: Spec, whole: Counted, part: float = 0.5) -> Iterator[tuple[float, float | None, Floats]]:
    """For each quota its share in the mean and its places, or none of a threshold; the share of each row taken.

    ``part``: how much of a bucket that the threshold divides.
    """
    cases = whole.powers[0]
    sizes, shares = ([None], np.ones(1)) if spec.quota is None else quota_sizes(spec.quota, float(cases.sum()))
    for places, share in zip(sizes, shares.tolist(), strict=True):
        if places is not None:
            taken = np.clip((places - np.cumsum(cases)) / cases + 1.0, 0.0, 1.0)
        else:
            taken = np.average([end > threshold_of(spec) for end in (whole.low, whole.high)], 0, [1.0 - part, part])
        yield share, places, taken


def valued_counts(spec: Spec, whole: Counted, part: float = 0.5) -> Valued:
    """What :func:`valued_rows` gives of counted cases: one that is worth v has the influence a·v + b of its row."""
    (cases, worth), every = whole.powers[:2], np.ones(len(whole.powers[0]))
    n, ends = float(cases.sum()), np.cumsum(cases)

    def cuts() -> Iterator[tuple[float, ValueSums, ValueSums]]:
        for share, places, taken in _counted_cuts(spec, whole, part):
            each = []
            for a, above in ((1.0, taken), (1.0, every), (0.0, taken)):
                near, column = 0.0, worth if a else cases
                if places is not None and above is taken:
                    about = places + half_window(places, n) * np.array([-1.0, 1.0])
                    first, last = np.minimum(np.searchsorted(ends, about), len(ends) - 1)
                    near = column[first : last + 1].sum() / cases[first : last + 1].sum()
                mean = float((column - near * cases) @ above) / n
                each.append(np.stack([a * above, (1.0 - a - near) * above - mean]))
            sums = ValueSums(float(taken @ worth), float(worth.sum()), float(taken @ cases))
            yield share, sums, ValueSums._make([*each, 0.0])

    made = valued(spec, float(ratio(worth.sum() ** 2, whole.powers[2].sum())), cuts())
    a, b = made.influence
    with np.errstate(invalid="ignore"):  # of powers that are not known
        terms = [[math.comb(k, j) * (a**j * b ** (k - j)) @ whole.powers[j] for j in range(k + 1)] for k in range(5)]
        _, _, second, third, fourth = map(sum, terms)
    return made._replace(moments=(n, max(second, 0.0), third, max(fourth, 0.0)))


def worth_bounds(spec: Spec, whole: Counted) -> Interval:
    """The least and the largest value in any order of the cases inside buckets.

    The m largest of P amounts with the sum V and the sum of squares S have at most the sum
    V·m/P + √(m(P − m)/P·(S − V²/P)), and no more than V.
    """
    cases, worth, squares = whole.powers[:3]
    low = high = 0.0
    for share, places, taken in _counted_cuts(spec, whole):
        inside = np.flatnonzero(whole.is_open & (taken > 0.0) & (taken < 1.0))
        above = np.where(np.isin(np.arange(len(taken)), inside), 0.0, taken)
        captured, before = float(above @ worth), float(above @ cases)
        found: list[tuple[Any, Any]] = [(captured, before)]
        for k in inside[:1]:
            if places is None:  # any number of its positives, before all its negatives or after them
                m, ahead = np.arange(whole.pos[k] + 1.0), whole.neg[k]
            else:
                m, ahead = np.array([places - before]), 0
            p, most = int(whole.pos[k]), []
            for some in (m, cases[k] - ahead - m):  # the most that so many of its positives may be worth
                with np.errstate(all="ignore"):
                    # rounding costs nothing
                    spread = np.maximum(squares[k] - np.divide(worth[k] ** 2, p), 0.0) + 1e-14 * squares[k]
                    sums = np.minimum(worth[k], worth[k] * some / p + np.sqrt(some * (p - some) / p * spread))
                most.append(np.where(some >= p, worth[k], np.where(some > 0.0, sums, 0.0)))
            found = [(captured + most[0], before + m), (captured + (worth[k] - most[1]), before + ahead + m)]
        values = np.hstack([spec.measure.compute(ValueSums(x, worth.sum(), n)) for x, n in found])
        low, high = low + share * float(np.nanmin(values)), high + share * float(np.nanmax(values))
    return Interval(low, high)


def half_window(places: float, cases: float) -> float:
    """How many places about a cut tell what a case there is worth: one standard deviation of where new samples cut."""
    return max(_FEWEST_NEAR, math.sqrt(places * max(0.0, 1.0 - places / cases)))

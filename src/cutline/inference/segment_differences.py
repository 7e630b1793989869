"""A segment against others: from two estimates on rows of their own, or from clusters that reach into both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import Spec
from ..estimate import Estimate, Interval
from ..ranking import Ranking, row_order
from ..sources.arrays import Sample
from ..types import Floats
from .bootstrap import values_left_out
from .differences import DifferenceTest, mover_limits, paired_difference
from .normal import t_quantile
from .resampling import Resampler, Units
from .scales import combined_freedom, jackknife, two_sided_p


def independent_difference(one: Estimate, two: Estimate, level: float, freedoms: tuple[float, float]) -> DifferenceTest:
    """The difference of two estimates on different, independent rows (Newcombe's method, MOVER).

    Each limit adds the distances of the terms' own limits in squares, so that the difference inherits what is known of
    each: its scale, its few cases, the end of its range. The p-value is the one that goes with the limit next to 0, on
    Student's t with Satterthwaite's degrees of freedom of the two distances: it is below 1 − level exactly where the
    interval leaves 0 out. ``freedoms``: degrees of freedom of each term.
    """
    gap = one.value - two.value
    low, high = mover_limits((one.value, one.interval), (two.value, two.interval))
    if not math.isfinite(low) or not math.isfinite(high):
        return DifferenceTest()
    upper = gap >= 0.0
    sides = (
        (one.value - one.low, two.high - two.value) if upper else (one.high - one.value, two.value - two.low)
    )  # the distances on the side of 0
    half = math.hypot(*sides)
    if half <= 0.0:
        return DifferenceTest(low, high, 0.0, 1.0 if gap == 0.0 else math.nan, "MOVER")
    freedom = combined_freedom(np.square(sides), np.maximum(freedoms, 1.0))
    error = half / t_quantile(level, freedom)
    return DifferenceTest(low, high, error, two_sided_p(gap / error, freedom), "MOVER", freedom)


def independent_ratio(one: Estimate, two: Estimate) -> Interval:
    """The ratio of two estimates that cannot be negative, on different rows (MOVER-R, Donner & Zou 2012)."""
    a, (la, ua), b, (lb, ub) = one.value, one.interval, two.value, two.interval
    if not all(map(math.isfinite, (a, la, ua, b, lb, ub))) or min(la, lb) < 0.0 or ub <= 0.0:
        return Interval(math.nan, math.nan)
    both = a * b
    low = _root(both, la * (2.0 * a - la), ub * (2.0 * b - ub), -1.0)
    return Interval(
        max(low, 0.0), math.inf if lb <= 0.0 else _root(both, ua * (2.0 * a - ua), lb * (2.0 * b - lb), 1.0)
    )


def _root(both: float, first: float, second: float, sign: float) -> float:
    """(ab ± √((ab)² − xy))/y; its limit where y is 0."""
    if abs(second) < 1e-12 * max(both, 1e-300):
        return first / (2.0 * both) if both > 0.0 else math.nan
    return (both + sign * math.sqrt(max(both * both - first * second, 0.0))) / second


def joint_left_out(
    specs: Sequence[Spec], part: Sample, ranking: Ranking, unit: NDArray[Any], units: int, seed: int
) -> dict[Spec, Floats]:
    """Measures of some of the rows without each block of all clusters in turn: the same blocks for every part.

    ``unit``: the cluster of each of these rows, among all ``units`` clusters. A cluster without a row here changes
    nothing here.
    """
    resampler = Resampler(part, ranking, stratified=False, seed=seed)
    order = row_order(part)
    weight = np.empty(0) if part.weight is None else part.weight[order]
    resampler.units = Units(np.array([[0, units]]), unit[order].astype(np.int32), weight, units)
    with np.errstate(all="ignore"):
        return values_left_out(specs, resampler)


def joint_difference(
    values: tuple[float, float], left: tuple[Floats, Floats], smaller_class: float, level: float, seed: int
) -> DifferenceTest:
    """The difference of two parts that share clusters: jackknife over clusters of both at once, sign flips."""
    gaps = left[0] - left[1]
    if not np.isfinite(gaps).all():
        return DifferenceTest()
    error, influence = jackknife(gaps)
    made = paired_difference(values, influence, smaller_class, seed, "clusters of both, sign flips", error)
    return DifferenceTest() if made is None else made.test(level)

"""Segments compared: a segment against others, a trend over ordered segments, ratios of selection rates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import Spec
from ..estimate import Estimate, Interval
from ..ranking import row_order
from ..types import Floats
from .batch_rows import BatchRows
from .differences import DifferenceTest
from .evidence import RowEvidence
from .limits import combined_freedom, lag_correlation, mover_limits, ratio_limits, t_quantile, two_sided_p, wilson_share
from .resampling import Resampler, UnitInfluences, Units


class SharedUnits(NamedTuple):
    """How much each of all clusters (or batches) moves the measures of some of the rows.

    A cluster without a row here moves nothing here. ``freedom``: one less than as many equal clusters as weigh as much
    as those with rows here.
    """

    influences: Mapping[Spec, Floats]
    freedom: float


def influences_of_units(
    specs: Sequence[Spec], rows: RowEvidence, unit: NDArray[np.intp], units: int, seed: int
) -> dict[Spec, Floats]:
    """The influence of each of all ``units`` clusters on measures of some of the rows, whose clusters ``unit`` has."""
    sample, order = rows.sample, row_order(rows.sample)
    weight = np.empty(0) if sample.weight is None else sample.weight[order]
    resampled = Units(np.array([[0, units]]), unit[order].astype(np.int32), weight, units)
    known = [spec for spec in specs if spec.measure.of_worth or (rows.batched and spec.measure.by_batch)]
    with np.errstate(all="ignore"):
        resampler = Resampler(sample, rows.ranking, stratified=False, seed=seed, units=resampled)
        others = UnitInfluences([spec for spec in specs if spec not in known], resampler)
        influences = {spec: others[spec] for spec in specs if spec not in known}
        for spec in known:
            influences[spec] = np.zeros(units)
            own = rows.influence(spec) if isinstance(rows, BatchRows) else rows.worth(spec).influence
            influences[spec][np.unique(unit)] = own
    return influences


def segment_difference(
    spec: Spec,
    pair: tuple[Estimate, Estimate],
    level: float,
    freedoms: tuple[float, float],
    shared: tuple[SharedUnits, SharedUnits] | None,
) -> DifferenceTest:
    """The difference of two estimates on different rows (Newcombe's method, MOVER).

    Each limit adds the distances of the terms' own limits in squares, so that the difference inherits what is known of
    each: its scale, its few cases, the end of its range. The p-value is the one that goes with the limit next to 0, on
    Student's t with Satterthwaite's degrees of freedom of the two distances: it is below 1 − level exactly where the
    interval leaves 0 out. ``freedoms``: degrees of freedom of each term.

    ``shared``: clusters or batches that reach into both. The correlation of the terms and the least width of the
    interval (Student's t) come from leaving each of them out of both. The terms' own intervals keep that honest where
    few clusters show too little: the jackknife alone calls up to 19% of equal hit rates in 8 batches different, both
    together at most 4% by any measure (benchmarks/segments.py).
    """
    (one, two), gap, alike, least, method = pair, pair[0].value - pair[1].value, 0.0, 0.0, "MOVER"
    if shared is not None:
        psi = [units.influences.get(spec, np.full(2, math.nan)) for units in shared]
        if not all(np.isfinite(each).all() for each in psi):
            return DifferenceTest(method="a segment has no value without one of its clusters or batches")
        freedoms = shared[0].freedom, shared[1].freedom
        squares, both = np.array([each @ each for each in psi]), psi[0] - psi[1]
        if squares.min() > 0.0:
            alike = float(np.clip(psi[0] @ psi[1] / math.sqrt(float(squares.prod())), -1.0, 1.0))
        if squares.max() > 0.0:
            least = t_quantile(level, combined_freedom(squares, np.array(freedoms))) * math.sqrt(float(both @ both))
        method = "MOVER, clusters of both"
    low, high = mover_limits((one.value, one.interval), (two.value, two.interval), alike=alike)
    if not math.isfinite(low) or not math.isfinite(high):
        return DifferenceTest(method="a segment has no interval")
    low, high, upper = min(low, gap - least), max(high, gap + least), gap >= 0.0
    sides = (
        (one.value - one.low, two.high - two.value) if upper else (one.high - one.value, two.value - two.low)
    )  # the distances on the side of 0
    half = gap - low if upper else high - gap
    if half <= 0.0:
        return DifferenceTest(low, high, 0.0, 1.0 if gap == 0.0 else math.nan, method)
    freedom = combined_freedom(np.square(sides), np.maximum(freedoms, 1.0))
    error = half / t_quantile(level, freedom)
    return DifferenceTest(low, high, error, two_sided_p(gap / error, freedom), method, freedom)


def joint_covariance(psi: Floats, errors: Floats) -> Floats:
    """Covariance of segments that share clusters: variances as their own intervals have them, or larger ones that the
    influences ``psi`` (segment, cluster) show; correlations from the clusters.
    """
    joint = np.nan_to_num(psi) @ np.nan_to_num(psi).T
    spread = np.sqrt(np.diag(joint))
    scale = np.where(spread > 0.0, np.maximum(errors, spread) / np.where(spread > 0.0, spread, 1.0), 1.0)
    scaled = joint * np.outer(scale, scale)
    scaled[np.diag_indices_from(scaled)] = np.maximum(np.diag(scaled), errors**2)
    return np.asarray(scaled)


def independent_ratio(one: Estimate, two: Estimate) -> Interval:
    """The ratio of two estimates that cannot be negative, on different rows (MOVER-R, Donner & Zou 2012)."""
    a, (la, ua), b, (lb, ub) = one.value, one.interval, two.value, two.interval
    if not all(map(math.isfinite, (a, la, ua, b, lb, ub))) or min(la, lb) < 0.0 or ub <= 0.0:
        return Interval(math.nan, math.nan)
    return ratio_limits((a, one.interval), (b, two.interval))


# Chosen with months that remember (test_months_that_resemble_each_other_are_no_trend): a line takes up a part of what
# segments remember, so that they differ by 1.4 times as much as it seems; of k segments the correlation of neighbours
# comes out too small by 5/k for a mean and 10/k for a line, but by no more than 0.45; and a dozen segments cannot show
# that they remember less than 0.4.
_TAKEN_UP, _HIDDEN, _LEAST_MEMORY, _MOST_MEMORY = 1.4, 5.0, 0.4, 0.92
_SIMULATED = 4999  # series in which nothing changes: adjusted p-values in steps of 1/5000, enough for a tenth of 5%


class Slope(NamedTuple):
    """Change of a measure from one segment to the next, with its interval and test.

    ``excess``: variance of the segments around the line, relative to what their intervals explain; 1 where it is no
    more than that.
    """

    slope: float
    low: float
    high: float
    standard_error: float
    p_value: float
    freedom: float
    excess: float


class Change(NamedTuple):
    """A change of level: the first segment behind it, the levels before and behind, and the adjusted p-value."""

    at: int
    before: float
    after: float
    low: float
    high: float
    p_adjusted: float


def fit_slope(values: Floats, covariance: Floats, sizes: Floats, places: Floats, level: float) -> Slope:
    """Weighted least squares of the values on their places.

    Weights are the segments' ``sizes``, which do not depend on the values; the variance comes from ``covariance``, that
    of the values. Where the segments stray from the line by more than that explains, the variance grows in proportion,
    neighbours may resemble each other, and Student's t with k − 2 degrees of freedom is used; else the normal
    distribution.
    """
    centred = places - np.average(places, weights=sizes)
    across = sizes * centred / float(sizes @ centred**2)
    slope = float(across @ values)
    design = np.stack([np.ones_like(places), centred], axis=1)
    joint, freedom, excess = _allowed_spread(values, design, covariance, places)
    error = math.sqrt(float(across @ joint @ across))
    if not error > 0.0:
        return Slope(slope, math.nan, math.nan, error, math.nan, freedom, excess)
    half = t_quantile(level, freedom) * error
    return Slope(slope, slope - half, slope + half, error, two_sided_p(slope / error, freedom), freedom, excess)


def _allowed_spread(values: Floats, design: Floats, covariance: Floats, places: Floats) -> tuple[Floats, float, float]:
    """Covariance of values in an order beside what ``design`` explains, its degrees of freedom, and the excess.

    Where they stray by no more than their errors explain, these are all there is. Where they stray by ``excess`` times
    as much, the variance grows in proportion, and 1 − 1/excess of it is remembered from one place to the next, as far
    as the correlation of neighbours shows.
    """
    explained = design.shape[1]
    free = len(values) - explained
    basis = np.linalg.svd(design)[0][:, explained:]  # what the design leaves
    rest = basis.T @ values

    def scale(joint: Floats) -> float:
        squares = float(rest @ np.linalg.solve(basis.T @ joint @ basis, rest))
        return squares / float(free)

    excess = scale(covariance) if free > 0 else 0.0
    whole = excess * (_TAKEN_UP if explained > 1 else 1.0)
    if not whole > 1.0:
        return covariance, math.inf, 1.0
    spread, share = np.sqrt(np.diag(covariance)), 1.0 - 1.0 / whole
    seen = np.nan_to_num(lag_correlation(basis @ rest / spread)) / share
    hidden = min(_HIDDEN * explained / len(values), 0.45)
    memory = min(max(seen + hidden, _LEAST_MEMORY), _MOST_MEMORY)
    lag = np.abs(places[:, None] - places)
    joint = (1.0 - share) * covariance + share * np.outer(spread, spread) * memory**lag
    return joint * max(scale(joint), 1.0), float(free) if excess > 1.0 else math.inf, max(excess, 1.0)


def first_change(
    values: Floats, covariance: Floats, sizes: Floats, places: Floats, level: float, seed: int
) -> Change | None:
    """The first segment from which the level differs from before; None if there is no clear change.

    The largest difference over all places to split the series, each in its standard errors, against its distribution
    where nothing changes, simulated from the covariance. Where one is found, the segments before it are searched again,
    each time at a tenth of the error rate, until nothing is found: so the first of several clear changes is found.
    Excess variance of the segments, and neighbours that resemble each other, are allowed for as in :func:`fit_slope`.
    """
    change, end, allowed = None, len(values), 1.0 - level
    while end >= 2:
        part = slice(0, end)
        largest = _largest_change(values[part], covariance[part, part], sizes[part], places[part], level, seed)
        if largest is None or not largest.p_adjusted < allowed:
            return change
        change, end, allowed = largest, largest.at, allowed / 10.0
    return change


def _largest_change(
    values: Floats, covariance: Floats, sizes: Floats, places: Floats, level: float, seed: int
) -> Change | None:
    k = len(values)
    contrasts = np.zeros((k - 1, k))  # for each split, what takes the mean before it from the mean behind it
    for s in range(k - 1):
        contrasts[s, : s + 1] = -sizes[: s + 1] / sizes[: s + 1].sum()
        contrasts[s, s + 1 :] = sizes[s + 1 :] / sizes[s + 1 :].sum()
    errors = np.sqrt(np.maximum(np.einsum("sk,kl,sl->s", contrasts, covariance, contrasts), 0.0))
    if not (errors > 0.0).all():
        return None
    contrasts = contrasts / errors[:, None]
    observed, spread = _statistics(values[None], contrasts, errors, covariance, sizes)
    at = int(np.argmax(observed[0]))
    excess = float(spread[0, at]) if k > 2 else 0.0
    if excess > 1.0:  # on the scale of the segments' own spread
        at = int(np.argmax(observed[0] / np.sqrt(spread[0])))
    joint, _, _ = _allowed_spread(values, np.ones((k, 1)), covariance, places)
    root = np.linalg.cholesky(joint + 1e-14 * np.trace(joint) / k * np.eye(k))
    # series in which nothing changes
    drawn = np.random.default_rng([seed & (2**63 - 1), 11]).standard_normal((_SIMULATED, k)) @ root.T
    simulated, spreads = _statistics(drawn, contrasts, errors, covariance, sizes)
    if excess > 1.0:
        statistic = float(observed[0, at] / np.sqrt(spread[0, at]))
        reference = (simulated / np.sqrt(np.maximum(spreads, 1e-300))).max(axis=1)
    else:
        statistic, reference, excess = float(observed[0].max()), simulated.max(axis=1), 1.0
    p = (int((reference >= statistic).sum()) + 1.0) / (_SIMULATED + 1.0)
    before, after = (
        float(np.average(values[side], weights=sizes[side])) for side in (slice(0, at + 1), slice(at + 1, k))
    )
    half = float(np.quantile(reference, level)) * float(errors[at]) * math.sqrt(excess)
    return Change(at + 1, before, after, after - before - half, after - before + half, p)


def _statistics(
    series: Floats, contrasts: Floats, errors: Floats, covariance: Floats, sizes: Floats
) -> tuple[Floats, Floats]:
    """For each series and split: |difference| in standard errors, and the variance that remains relative to the known.

    What remains: the weighted squares about the two means, by splits; with two segments nothing does.
    """
    standard = np.abs(series @ contrasts.T)
    k = series.shape[1]
    if k < 3:
        return standard, np.ones_like(standard)
    known = np.maximum(np.diag(covariance), 1e-300)
    remaining = np.empty_like(standard)
    for s in range(k - 1):
        rest = np.zeros(len(series))
        for side in (slice(0, s + 1), slice(s + 1, k)):
            mean = series[:, side] @ sizes[side] / sizes[side].sum()
            rest += ((series[:, side] - mean[:, None]) ** 2 / known[side]).sum(axis=1)
        remaining[:, s] = rest / (k - 2)
    return standard, np.maximum(remaining, 1e-300)


Codes = NDArray[np.intp]
_FEW = 5.0  # places, or cases not taken: the usual rule of five for a normal approximation
_LEAST_SHARE = 0.02  # of all cases: smaller segments are not what others are measured by


@dataclass(frozen=True, eq=False)
class SelectionRates:
    """Cases and places of each segment, and the covariance of the logarithms of their selection rates."""

    cases: Floats
    places: Floats
    covariance: Floats

    @property
    def rates(self) -> Floats:
        """Share of each segment's cases that are taken."""
        return np.asarray(self.places / self.cases)

    @property
    def yardsticks(self) -> list[int]:
        """Segments that others may be measured by: those with at least 2% of the cases."""
        large = np.flatnonzero(self.cases >= _LEAST_SHARE * self.cases.sum()).tolist()
        return large or [int(np.argmax(self.cases))]

    def ratio(self, one: int, two: int, level: float) -> Interval:
        """Interval of the ratio of two segments' selection rates.

        Wilson's interval of each rate, with as many cases as the variance of the ratio leaves (clusters, weights, and
        the cut that both share), joined by Donner & Zou's method.
        """
        rates, cov = self.rates, self.covariance
        if rates[one] == 0.0 and rates[two] == 0.0:
            return Interval(0.0, math.inf)
        smooth = (self.places + 0.5) / (self.cases + 1.0)
        alone = (1.0 - smooth) / (smooth * self.cases)
        # a handful of places, or none, show too little of their own variance
        few = np.minimum(self.places, self.cases - self.places) < _FEW
        variances = np.where(few, np.maximum(np.diag(cov), alone), np.diag(cov))
        plain = float(alone[one] + alone[two])
        variance = float(variances[one] + variances[two] - 2.0 * cov[one, two])
        design = max(variance / plain, 1e-6) if plain > 0.0 and variance > 0.0 else 1.0
        sizes = [float(self.cases[k]) / design for k in (one, two)]
        shares = ((float(rates[k]), size) for k, size in zip((one, two), sizes, strict=True))
        return ratio_limits(*((share, wilson_share(share, size, level)) for share, size in shares))

    def to_highest(self, one: int, level: float) -> tuple[float, Interval]:
        """A segment's rate relative to the highest rate, which need not be the one that is highest in this sample.

        That is the smallest of its ratios to the others, and at most 1: the lower limit is the smallest of the lower
        limits, the upper one the smallest of limits that are valid for all at once (as in Hsu 1984). Only segments
        with at least 2% of the cases count as others: one of three cases would make every lower limit useless.
        """
        large = self.yardsticks
        others = [k for k in large if k != one]
        most = 1.0 if one in large else math.inf
        highest = float(self.rates[large].max())
        value = min(float(self.rates[one]) / highest, most) if highest > 0.0 else math.nan
        if not others or value != value:
            return value, Interval(math.nan, math.nan)
        low = min(self.ratio(one, k, level).low for k in others)
        high = min(self.ratio(one, k, 1.0 - (1.0 - level) / len(others)).high for k in others)
        return value, Interval(min(low, most), min(high, most))


def selection_rates(
    taken: Floats,
    weight: Floats,
    segment: Codes,
    segments: int,
    cluster: Codes | None = None,
    near: Floats | None = None,
    squares: Floats | None = None,
    rows: int | None = None,
) -> SelectionRates:
    """Rates and their covariance, from the share taken of each row.

    A row counts in its own segment, and at a quota moves the cut for all: its influence on a rate s is (T − s)/n in the
    segment, less (f_segment/f)·(T − q)/n, f the density of scores at the cut. ``near``: the cases of each segment close
    to the cut where it moves (a quota); None where it is fixed (a threshold). Influences of a cluster add up. Rows that
    are alike may come as one, with the sum of their weights and of their ``squares``; ``rows`` is then their number.
    """
    cases = np.bincount(segment, weights=weight, minlength=segments).astype(np.float64)
    places = np.bincount(segment, weights=weight * taken, minlength=segments).astype(np.float64)
    whole, rate = float(cases.sum()), (places + 0.5) / (cases + 1.0)
    within = (taken - (places / cases)[segment]) / cases[segment]
    shared = (taken - float(places.sum()) / whole) / whole
    each = weight * weight if squares is None else squares
    density = np.zeros(segments)
    if near is not None and near.sum() > 0.0:
        density = near / cases / (float(near.sum()) / whole)
    if cluster is None:
        joint = np.diag(np.bincount(segment, weights=each * within * within, minlength=segments))
        across = np.bincount(segment, weights=each * within * shared, minlength=segments)
        spread, units = float(each @ (shared * shared)), len(taken) if rows is None else rows
    else:
        from scipy.sparse import csr_array

        units = int(cluster.max()) + 1
        by_cluster = csr_array((weight * within, (cluster, segment)), shape=(units, segments))
        of_all = np.bincount(cluster, weights=weight * shared, minlength=units)
        joint = np.asarray((by_cluster.T @ by_cluster).todense())
        across = np.asarray(by_cluster.T @ of_all)
        spread = float(of_all @ of_all)
    moving = np.outer(density, across)
    covariance = joint - moving - moving.T + spread * np.outer(density, density)
    covariance = covariance * units / max(units - 1.0, 1.0) / np.outer(rate, rate)
    return SelectionRates(cases, places, covariance)

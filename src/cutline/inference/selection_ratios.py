"""One list for several segments: the ratio of their selection rates, whose places compete."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..estimate import Interval
from ..types import Floats
from .areas import likelihood_ratio_limits

Codes = NDArray[np.intp]
_FEW = 5.0
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
        """Segments that others may be measured by: those with at least 2 % of the cases."""
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
        own = np.where(few, np.maximum(np.diag(cov), alone), np.diag(cov))
        plain = float(alone[one] + alone[two])
        variance = float(own[one] + own[two] - 2.0 * cov[one, two])
        design = max(variance / plain, 1e-6) if plain > 0.0 and variance > 0.0 else 1.0
        sizes = [float(self.cases[k]) / design for k in (one, two)]
        taken = [float(rates[k]) * size for k, size in zip((one, two), sizes, strict=True)]
        return likelihood_ratio_limits(taken[0], sizes[0], taken[1], sizes[1], level)

    def to_highest(self, one: int, level: float) -> tuple[float, Interval]:
        """A segment's rate relative to the highest rate, which need not be the one that is highest in this sample.

        That is the smallest of its ratios to the others, and at most 1: the lower limit is the smallest of the lower
        limits, the upper one the smallest of upper limits that hold for all at once (as in Hsu 1984). Only segments
        with at least 2 % of the cases count as others: one of three cases would make every lower limit useless.
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
    own = (taken - (places / cases)[segment]) / cases[segment]
    shared = (taken - float(places.sum()) / whole) / whole
    each = weight * weight if squares is None else squares
    density = np.zeros(segments)
    if near is not None and near.sum() > 0.0:
        density = near / cases / (float(near.sum()) / whole)
    if cluster is None:
        joint = np.diag(np.bincount(segment, weights=each * own * own, minlength=segments))
        across = np.bincount(segment, weights=each * own * shared, minlength=segments)
        spread, units = float(each @ (shared * shared)), len(taken) if rows is None else rows
    else:
        from scipy.sparse import csr_array

        units = int(cluster.max()) + 1
        by_cluster = csr_array((weight * own, (cluster, segment)), shape=(units, segments))
        of_all = np.bincount(cluster, weights=weight * shared, minlength=units)
        joint = np.asarray((by_cluster.T @ by_cluster).todense())
        across = np.asarray(by_cluster.T @ of_all)
        spread = float(of_all @ of_all)
    moving = np.outer(density, across)
    covariance = joint - moving - moving.T + spread * np.outer(density, density)
    covariance = covariance * units / max(units - 1.0, 1.0) / np.outer(rate, rate)
    return SelectionRates(cases, places, covariance)

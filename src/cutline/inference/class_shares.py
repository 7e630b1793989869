"""Intervals of shares of rows that may weigh unequally and belong together: Wilson's, with as many trials as they are
worth."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..class_sample import ClassSample
from ..estimate import Interval
from .class_influence import variance_of
from .proportions import wilson


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

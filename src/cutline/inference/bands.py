"""Bands around curves, from the replicates that the intervals come from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..curves import points
from ..ranking import Ranking
from ..sample import Sample
from .intervals import Settings
from .resampling import Resampler

Floats = NDArray[np.float64]
_AXIS = {"roc": 1, "precision_recall": 2}
_STRATIFIED = ("roc", "precision_recall", "tpr_fpr")


def band_maker(name: str, sample: Sample, ranking: Ranking, settings: Settings, groups: Any = None) -> Any:
    """The function that a curve calls for its band: limits at given abscissas."""

    def banded(grid: Floats, level: float, simultaneous: bool) -> tuple[Floats, Floats]:
        stratified = settings.stratify if settings.stratify is not None else name in _STRATIFIED
        resampler = Resampler(
            sample, ranking, stratified=stratified, groups=groups, seed=settings.seed, progress=settings.progress
        )
        shares = grid if name in (*_AXIS, "tpr_fpr") else grid / ranking.rows
        hits, misses, n_pos, n_neg = resampler.curves(_AXIS.get(name, 0), shares, settings.n_resamples)
        _, drawn = points(name, hits, misses, n_pos, n_neg)
        drawn = drawn[~np.isnan(drawn[:, -1])]
        tail = (1.0 - level) / 2.0
        low, high = np.nanquantile(drawn, [tail, 1.0 - tail], axis=0)
        if not simultaneous:
            return low, high
        middle = np.nanmedian(drawn, axis=0)
        with np.errstate(all="ignore"):
            beyond = np.maximum((middle - drawn) / (middle - low), (drawn - middle) / (high - middle))
        stretch = max(1.0, float(np.quantile(np.nanmax(np.where(np.isfinite(beyond), beyond, 0.0), axis=1), level)))
        top = np.inf if name in ("gain", "lift") else 1.0
        return np.maximum(middle - stretch * (middle - low), 0.0), np.minimum(middle + stretch * (high - middle), top)

    return banded

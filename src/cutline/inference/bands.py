"""Bands around curves, from the replicates that the intervals come from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..curves import points
from ..ranking import Ranking
from .proportions import z_of
from .resampling import Resampler, enough_replicates
from .settings import Settings

Floats = NDArray[np.float64]
_AXIS = {"roc": 1, "precision_recall": 2}
_STRATIFIED = ("roc", "precision_recall", "tpr_fpr")


def band(
    name: str,
    ranking: Ranking,
    settings: Settings,
    resampler_of: Callable[..., Resampler],
    grid: Floats,
    level: float,
    simultaneous: bool,
) -> tuple[Floats, Floats]:
    """Limits of a curve at given abscissas."""
    stratified = settings.stratify if settings.stratify is not None else name in _STRATIFIED
    resampler = resampler_of(settings, stratified=stratified)
    shares = grid if name in (*_AXIS, "tpr_fpr") else grid / ranking.cases
    hits, misses, n_pos, n_neg = resampler.curves(
        _AXIS.get(name, 0), shares, enough_replicates(settings.n_resamples, ranking.rows)
    )
    _, drawn = points(name, hits, misses, n_pos, n_neg)
    drawn = drawn[~np.isnan(drawn[:, -1])]
    tail = (1.0 - level) / 2.0
    low, middle, high = np.nanquantile(drawn, [tail, 0.5, 1.0 - tail], axis=0)
    least = _least_width(name, grid, middle, ranking, level)
    top = {"gain": float(ranking.n_pos), "lift": ranking.cases / ranking.n_pos}.get(name, 1.0)
    if not simultaneous:
        # where the curve is at its floor or ceiling replicates hardly vary: it is at least as wide as a proportion
        edge = (middle <= 0.0) | (middle >= top * (1 - 1e-12))
        low = np.where(edge, np.minimum(low, middle - least), low)
        high = np.where(edge, np.maximum(high, middle + least), high)
    else:
        down, up = np.maximum(middle - low, least), np.maximum(high - middle, least)
        with np.errstate(all="ignore"):
            beyond = np.maximum((middle - drawn) / down, (drawn - middle) / up)
        worst = np.nanmax(np.where(np.isfinite(beyond), beyond, 0.0), axis=1)
        stretch = max(1.0, float(np.quantile(worst, level)))
        low, high = middle - stretch * down, middle + stretch * up
    return np.clip(low, 0.0, top), np.clip(high, 0.0, top)


def _least_width(name: str, x: Floats, y: Floats, ranking: Ranking, level: float) -> Floats:
    """Half-width of a proportion with two successes and two failures added (Agresti & Coull), on the curve's scale.

    A curve starts and ends where it must: no width there.
    """
    n_pos, n = float(ranking.n_pos), float(ranking.n_pos + ranking.n_neg)
    scale = {"gain": n_pos, "lift": n / n_pos}.get(name, 1.0)
    share = y / scale
    if name in ("hit_rate", "lift"):
        trials = np.maximum(x, 1.0)
    elif name == "precision_recall":
        trials = np.maximum(x * n_pos / np.maximum(share, 1e-12), 1.0)
    else:
        trials = np.full_like(x, n_pos)
    inner = (share * trials + 2.0) / (trials + 4.0)
    half = z_of(level) * np.sqrt(inner * (1.0 - inner) / (trials + 4.0))
    fixed = x >= x.max()
    if name in ("gain", "qrecall", "tpr_fpr"):
        fixed |= x <= 0.0
    return np.asarray(np.where(fixed, 0.0, scale * half))

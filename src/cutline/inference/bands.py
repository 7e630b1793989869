"""Simultaneous bands around curves from replicates, with the width that replicates cannot show.

Every curve is read off the hits among the cases taken. Hit rate and Qrecall have bands of their own; others follow by
identity: gain = x · hit rate, lift = n/x · Qrecall. So no band contradicts another, and the number of positives, which
is itself random, limits none of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..curves import points
from ..ranking import Ranking
from ..types import Floats
from .normal import t_quantile
from .proportions import wilson, wilson_spread, z_of
from .resampling import Resampler, enough_replicates
from .settings import Settings

_AXIS = {"roc": 1, "precision_recall": 2}
_BY_IDENTITY = {"gain": "hit_rate", "lift": "qrecall"}
_STRATIFIED = ("roc", "tpr_fpr")


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
    if name in _BY_IDENTITY:
        x = np.maximum(grid, 1e-6)  # the hit rate of no places is that of the first
        low, high = band(_BY_IDENTITY[name], ranking, settings, resampler_of, x, level, simultaneous)
        factor = grid if name == "gain" else ranking.cases / x
        return low * factor, high * factor
    stratified = settings.stratify if settings.stratify is not None else name in _STRATIFIED
    resampler = resampler_of(settings, stratified=stratified)
    axis = _AXIS.get(name, 0)
    by_share = axis or name == "tpr_fpr"
    shares = grid if by_share else grid / ranking.cases
    n_resamples = enough_replicates(settings.n_resamples, ranking.rows)
    drawn = points(name, *resampler.curves(axis, shares, n_resamples))[1]
    drawn = drawn[~np.isnan(drawn[:, -1])]
    value = points(name, *resampler.observed_curve(axis, shares))[1][0]
    n_pos, n_neg = float(ranking.n_pos), float(ranking.n_neg)
    if name == "hit_rate":
        trials = np.maximum(grid, 1.0)
    elif name == "precision_recall":
        trials = np.maximum(grid * n_pos / np.maximum(value, 1e-12), 1.0)
    else:
        trials = np.full_like(grid, n_pos)
    freedom = min(n_pos, n_neg, float(resampler.units.n_units)) - 1.0
    whole = shares >= 1.0 - 1e-12
    fixed = whole if name in ("qrecall", "roc", "tpr_fpr") else np.zeros_like(whole)
    fixed = fixed | (shares <= 0.0) if name in ("qrecall", "tpr_fpr") else fixed
    low, high = share_band(value, drawn, trials, level, simultaneous=simultaneous, freedom=freedom, fixed=fixed)
    if name == "roc":
        low = open_ends(name, grid, low, n_neg, 0.0)
    elif name == "qrecall":  # no more positives can be missing than cases are left
        low = np.maximum(low, 1.0 - (1.0 - shares) / wilson(n_pos, n_pos + n_neg, level).low)
    elif name == "precision_recall":
        low = open_ends(name, grid, low, n_pos, wilson(n_pos, n_pos + n_neg, level).low)
    return low, high


def share_band(
    value: Floats,
    drawn: Floats,
    trials: Floats,
    level: float,
    *,
    simultaneous: bool,
    freedom: float,
    fixed: NDArray[np.bool_],
) -> tuple[Floats, Floats]:
    """Band of a curve of shares (TPR, hit rate, Qrecall, precision) around its observed values.

    At each abscissa the spread below and above is that of the replicates (``drawn``, one row each), and at least that
    of a Wilson interval of ``trials`` cases: where the curve runs along 0 or 1 replicates do not vary. The simultaneous
    band stretches all of them by one factor until a share ``level`` of the replicates' curves lies inside everywhere,
    and by t/z for ``freedom`` degrees of freedom, one less than the cases of the smaller class (or the clusters).
    ``fixed``: abscissas at which the curve is what it is in every sample (all cases taken).
    """
    tail = (1.0 - level) / 2.0
    low, high = np.nanquantile(drawn, [tail, 1.0 - tail], axis=0)
    middle = np.nanmedian(drawn, axis=0)
    least_down, least_up = wilson_spread(np.clip(value, 0.0, 1.0), trials, level)
    down, up = np.maximum(middle - low, least_down), np.maximum(high - middle, least_up)
    small = t_quantile(level, max(freedom, 2.0)) / z_of(level)
    stretch = 1.0
    if simultaneous:
        with np.errstate(all="ignore"):
            beyond = np.where(drawn < middle, (middle - drawn) / down, (drawn - middle) / up)
        beyond = np.where(np.isfinite(beyond), beyond, 0.0)
        beyond[:, fixed] = 0.0
        stretch = max(1.0, float(np.quantile(beyond.max(axis=1), level)))
    down, up = small * stretch * down, small * stretch * up
    down, up = np.where(fixed, 0.0, down), np.where(fixed, 0.0, up)
    return np.clip(value - down, 0.0, 1.0), np.clip(value + up, 0.0, 1.0)


def open_ends(name: str, x: Floats, low: Floats, cases: float, least: float) -> Floats:
    """Lower limits at the end of a curve that a sample shows too high: ROC near FPR 0, precision near recall 1.

    However high the best negative of the sample scores, another sample may have some above: over the first three
    negatives the lower limit of the ROC rises from 0 (3/n⁻ of the negatives may go unseen in 5 % of samples). To find
    the last positives of a population the whole list may be needed: over the last three positives the lower limit of
    the precision falls to that of the share of positives. ``cases``: n⁻ or n⁺; ``least``: 0 or the lower limit of that
    share."""
    unseen = min(3.0 / cases, 1.0)
    if name == "roc":
        ramp = least + (float(np.interp(unseen, x, low)) - least) * np.clip(x / unseen, 0.0, 1.0)
        return np.where(x < unseen, np.minimum(low, ramp), low)
    ramp = least + (float(np.interp(1.0 - unseen, x, low)) - least) * np.clip((1.0 - x) / unseen, 0.0, 1.0)
    return np.where(x > 1.0 - unseen, np.minimum(low, ramp), low)

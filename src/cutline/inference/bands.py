"""Curves as a whole: simultaneous bands around them, and where along the list one model finds more than another.

Every curve is read off the hits among the cases taken. Hit rate and Qrecall have bands of their own; others follow by
identity: gain = x · hit rate, lift = n/x · Qrecall. So no band contradicts another, and the number of positives, which
is itself random, limits none of them. Leads are judged at all places and for all pairs of models at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..curves import points
from ..estimate import Settings
from ..kernels import compiled
from ..ranking import Ranking
from ..sources.arrays import Sample
from ..types import Floats
from .differences import flipped_scale, sign_matrix
from .limits import t_quantile, wilson, wilson_shares, z_of
from .resampling import Resampler

_AXIS = {"roc": 1, "precision_recall": 2}
_BY_IDENTITY = {"gain": "hit_rate", "lift": "qrecall"}
_STRATIFIED = ("roc", "tpr_fpr")  # curves of two rates within the classes, whose sizes do not matter


def band(
    name: str,
    ranking: Ranking,
    settings: Settings,
    resampler_of: Callable[..., Resampler],
    grid: Floats,
    level: float,
    simultaneous: bool,
) -> tuple[Floats, Floats]:
    """Limits of a curve at given abscissas.

    Replicates show how the curve varies where it does, and nothing where it runs along an end of its range; there the
    width is that of a share of ``trials`` cases: of the places taken for the hit rate, of those taken at that recall
    for the precision, of the positives for all others. The simultaneous band stretches all widths by one factor until
    a share ``level`` of the replicates' curves lies inside everywhere, and by t/z for one degree of freedom less than
    the cases of the smaller class (or the clusters). With all cases taken the curve is what it is.

    However high the best negative of the sample scores, another sample may have some above: over the first three
    negatives the lower limit of the ROC rises from 0 (3/n⁻ of the negatives may go unseen in 5% of samples). To find
    the last positives of a population the whole list may be needed: over the last three positives the lower limit of
    the precision falls to that of the share of positives.
    """
    if name in _BY_IDENTITY:
        x = np.maximum(grid, 1e-6)  # the hit rate of no places is that of the first
        low, high = band(_BY_IDENTITY[name], ranking, settings, resampler_of, x, level, simultaneous)
        factor = grid if name == "gain" else ranking.cases / x
        return _rising(low * factor, high * factor) if name == "gain" else (low * factor, high * factor)
    stratified = settings.stratify if settings.stratify is not None else name in _STRATIFIED
    resampler = resampler_of(settings, stratified=stratified)
    axis = _AXIS.get(name, 0)
    by_share = axis or name == "tpr_fpr"
    shares = grid if by_share else grid / ranking.cases
    drawn = points(name, *resampler.curves(axis, shares, settings.n_resamples))[1]
    drawn = drawn[~np.isnan(drawn[:, -1])]
    n_pos, n_neg = float(ranking.n_pos), float(ranking.n_neg)
    pos, neg = ranking.pos.astype(np.float64), ranking.neg.astype(np.float64)
    hits, misses = np.zeros((1, len(grid))), np.zeros((1, len(grid)))  # of the sample itself
    compiled.cut_at_shares(pos, neg, n_pos, n_neg, axis, shares, hits[0], misses[0])
    value = points(name, hits, misses, np.array([[n_pos]]), np.array([[n_neg]]))[1][0]
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
    # At each abscissa the spread below and above is that of the replicates, and at least that of a Wilson interval.
    tail = (1.0 - level) / 2.0
    low, high = np.nanquantile(drawn, [tail, 1.0 - tail], axis=0)
    middle = np.nanmedian(drawn, axis=0)
    share = np.clip(value, 0.0, 1.0)
    least, most = wilson_shares(share, np.maximum(trials, 1.0), z_of(level))
    down, up = np.maximum(middle - low, share - least), np.maximum(high - middle, most - share)
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
    low, high = np.clip(value - down, 0.0, 1.0), np.clip(value + up, 0.0, 1.0)
    share_limit = wilson(n_pos, n_pos + n_neg, level).low
    if name == "qrecall":  # no more positives can be missing than cases are left
        low = np.maximum(low, 1.0 - (1.0 - shares) / share_limit)
    elif name in _AXIS:
        x, cases, floor = (grid, n_neg, 0.0) if name == "roc" else (1.0 - grid, n_pos, share_limit)
        unseen = min(3.0 / cases, 1.0)
        inside = float(np.interp(unseen if name == "roc" else 1.0 - unseen, grid, low))
        ramp = floor + (inside - floor) * np.clip(x / unseen, 0.0, 1.0)
        open_ = grid < unseen if name == "roc" else grid > 1.0 - unseen
        low = np.where(open_, np.minimum(low, ramp), low)
    return (low, high) if name in ("hit_rate", "precision_recall") else _rising(low, high)


def _rising(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Limits of a curve that never falls: a lower limit holds for all that follows, an upper one for all before it."""
    return np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]


Flags = NDArray[np.bool_]
_MOST_UNITS = 1000  # groups that rows are dealt into: signs of a thousand units fill 8 MB, and their sums are normal
_FLIPS = 999  # the largest of 999 at a level of 95% varies little, and each flip reads every place of every pair
FEW_NEGATIVES = 5.0  # beside a cut, for a normal approximation: the usual rule of five
_NOTHING = 1e-9  # so little of a case is rounding


def hits_by(ranking: Ranking, axis: str, places: Floats) -> Floats:
    """Most positives found at each quota, or with so many false positives; a tie is entered pro rata."""
    x, y = _running_totals(ranking, axis)
    last, part = _cut(x, places)
    return np.asarray(y[last] + part * (y[np.minimum(last + 1, len(y) - 1)] - y[last]))


def _running_totals(ranking: Ranking, axis: str) -> tuple[Floats, Floats]:
    side = ranking.pos + ranking.neg if axis == "quota" else ranking.neg
    sums = (np.cumsum(values, dtype=np.float64) for values in (side, ranking.pos))
    x, y = (np.concatenate([[0.0], total]) for total in sums)
    return x, y


def _cut(x: Floats, places: Floats) -> tuple[NDArray[np.intp], Floats]:
    """How many groups lie wholly above each place (the top of a vertical stretch), and what share of the next one."""
    last = np.searchsorted(x, places * (1.0 + 1e-12), side="right") - 1
    wide = x[np.minimum(last + 1, len(x) - 1)] - x[last]
    part = np.where(wide > 0, (places - x[last]) / np.where(wide > 0, wide, 1.0), 0.0)
    return last, np.maximum(part, 0.0)


def units_of(rows: int, clusters: NDArray[Any] | None, seed: int) -> tuple[NDArray[np.int64], int]:
    """The unit of each row, and their number: rows or clusters, dealt at random into 1,000 groups where there are more.

    Groups of independent units are independent, so that flipping whole groups is as valid.
    """
    codes = np.arange(rows) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    count = int(codes.max()) + 1
    if count <= _MOST_UNITS:
        return codes.astype(np.int64), count
    dealt = np.random.default_rng([seed & (2**63 - 1), 7]).permutation(count) % _MOST_UNITS
    return dealt[codes].astype(np.int64), _MOST_UNITS


def curve_influence(
    sample: Sample,
    ranking: Ranking,
    axis: str,
    places: Floats,
    unit: NDArray[np.int64],
    units: int,
    *,
    by_class: bool = False,
) -> Floats:
    """Influence of each unit on the positives found at each place: one row for each unit, one column for each place.

    A row that is taken brings itself and moves the cut: (y − p)·T less its mean, p the hit chance at the cut. At a
    false positive rate only negatives move the cut, and the class sizes are given: y·T − r·(1 − y)·T, r the positives
    for each negative there, less the mean of each class. p and r are read within three standard deviations of the
    cut's place. ``by_class``: the class sizes are given at a quota, too.
    """
    x, _ = _running_totals(ranking, axis)
    whole, by_quota = float(x[-1]), axis == "quota"
    half = np.minimum(
        3.0 * np.sqrt(np.maximum(places * (1.0 - places / whole), 1.0)), np.minimum(places, whole - places)
    )
    half = np.maximum(half, 1.0)
    upper, lower = np.minimum(places + half, whole), np.maximum(places - half, 0.0)
    slope = (hits_by(ranking, axis, upper) - hits_by(ranking, axis, lower)) / np.maximum(upper - lower, _NOTHING)
    last, part = _cut(x, places)
    weight = np.ones(len(sample)) if sample.weight is None else sample.weight
    # from which place on each row is wholly taken: from the first whose cut lies below it
    at_cut = ranking.score[last[last < len(ranking)]]
    first = len(at_cut) - np.searchsorted(at_cut[::-1], sample.score)
    inside = first < len(places)
    if (part > 0.0).any():
        group = ranking.group_of(sample.score)
        order = np.argsort(group, kind="stable")
        edges = np.searchsorted(group[order], np.arange(len(ranking) + 1))
    taken, size = np.zeros((2, units, len(places))), np.zeros((2, units))
    for positive in (0, 1):
        w = np.where(sample.positive == bool(positive), weight, 0.0)
        size[positive] = np.bincount(unit, weights=w, minlength=units)
        np.add.at(taken[positive], (unit[inside], first[inside]), w[inside])
        np.cumsum(taken[positive], axis=1, out=taken[positive])
        for place in np.flatnonzero(part > 0.0):
            tied = order[edges[last[place]] : edges[last[place] + 1]]
            taken[positive][:, place] += part[place] * np.bincount(unit[tied], weights=w[tied], minlength=units)
    neg, pos = taken
    if by_quota and not by_class:
        raw = pos - slope * (pos + neg)
        share = size.sum(axis=0) / size.sum()
        return np.asarray(raw - share[:, None] * raw.sum(axis=0))
    share = size / np.maximum(size.sum(axis=1, keepdims=True), _NOTHING)
    own = 1.0 - slope if by_quota else 1.0
    of_pos, of_neg = (side - share[k][:, None] * side.sum(axis=0) for k, side in ((1, pos), (0, neg)))
    return np.asarray(own * of_pos - slope * of_neg)


def clear_places(
    hits: Floats, models: Sequence[Floats] | Floats, level: float, judged: Flags | None = None, seed: int = 0
) -> dict[tuple[int, int], Flags]:
    """For each pair of models: at which places their difference is clear, at all places of all pairs at once.

    ``hits``: one row for each model; ``models``: the influence of each unit on them, at the places that are ``judged``.
    The reference is the largest |Σεψ|/√Σψ² over places and pairs under random signs of the units, the same signs
    everywhere. A difference is clear beyond its ``level`` quantile, so that at most 1 − level of comparisons of equal
    models show any clear place. Without ``judged`` they are replicates of the positives found: of a stream, whose rows
    are gone. The reference is then the largest |difference in a replicate − its mean| in standard errors.
    """
    units = len(models[0]) if judged is not None else 0
    most, statistics = np.zeros(1), {}
    for a, b in combinations(range(len(hits)), 2):
        gap = models[a] - models[b]
        spread = gap.std(axis=0) if judged is None else np.where(judged, np.sqrt((gap**2).sum(axis=0)), 0.0)
        known = spread > _NOTHING
        if known.any():
            drawn = gap - gap.mean(axis=0) if judged is None else gap
            drawn = sign_matrix(units, _FLIPS, seed) @ drawn[:, known] if units else drawn[:, known]
            most = np.maximum(most, np.abs(drawn / spread[known]).max(axis=1))
        size = np.abs(np.where(known, (hits[a] - hits[b]) / np.where(known, spread, 1.0), 0.0))
        statistics[a, b] = flipped_scale(size, units) if units else size
    # the value that at most 1 − level of the reference, the data among it, reaches; inf where it is too small
    at = int(np.ceil(level * (len(most) + 1))) - 1
    critical = float(np.sort(most)[at]) if at < len(most) else float("inf")
    return {pair: np.asarray(size > critical * (1.0 + _NOTHING)) for pair, size in statistics.items()}

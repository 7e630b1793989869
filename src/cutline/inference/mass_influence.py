"""How a measure answers to a case more or less at each place of a list: derivatives by the mass of either class.

Cuts are algebra on four cells, so that their derivatives are exact. Measures of the whole list are swept again with a
little mass added at some places, and read between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import compute, threshold_of
from ..catalogue.declare import Spec
from ..quotas import quota_sizes
from ..ranking import Ranking
from ..sweep import Counts
from ..types import Floats

_GROUPS = 4096  # a longer list is condensed: neighbours share their influence
_PLACES = 96
_STEP = 1e-3


def taken_share(ranking: Ranking, spec: Spec, size: int | None = None) -> Floats:
    """Share of each group that lies above the cut of a measure; ``size``: of one of several quotas."""
    if size is None:
        return (np.arange(len(ranking)) < ranking.above(threshold_of(spec))).astype(np.float64)
    each = np.asarray(ranking.pos + ranking.neg, np.float64)
    before = np.cumsum(each) - each
    return np.clip((size - before) / np.where(each > 0.0, each, 1.0), 0.0, 1.0)


def mass_influence(specs: Sequence[Spec], ranking: Ranking) -> dict[Spec, tuple[Floats, Floats]]:
    """Derivative of each measure by the positives, and by the negatives, of each group of a ranking."""
    found = {spec: _of_cut(spec, ranking) for spec in specs if is_algebra(spec)}
    others = [spec for spec in specs if spec not in found]
    return found | (_of_list(others, ranking) if others else {})


def is_algebra(spec: Spec) -> bool:
    """Whether a measure reads nothing but the four cells at a cut."""
    return spec.measure.part == "cut" and spec.measure.scores == "any"


def _of_cut(spec: Spec, ranking: Ranking) -> tuple[Floats, Floats]:
    sizes, weights = ([None], np.ones(1)) if spec.quota is None else quota_sizes(spec.quota, ranking.cases)
    pos, neg = np.zeros(len(ranking)), np.zeros(len(ranking))
    for size, weight in zip(sizes, weights, strict=True):
        above = taken_share(ranking, spec, size)
        tp, fp = float((above * ranking.pos).sum()), float((above * ranking.neg).sum())
        cells = np.array([tp, fp, max(ranking.n_pos - tp, 0.0), max(ranking.n_neg - fp, 0.0)])
        step = 1e-6 * max(float(cells.sum()), 1.0)
        slope = np.empty(4)
        for k in range(4):
            ends = np.repeat(cells[None], 2, axis=0)
            ends[1, k] += step
            ends[0, k] = max(cells[k] - step, 0.0)
            with np.errstate(all="ignore"):
                low, high = np.asarray(spec.measure.compute(Counts(*ends.T), **spec.arguments), np.float64)
                slope[k] = (high - low) / (ends[1, k] - ends[0, k])
        slope = np.where(np.isfinite(slope), slope, np.nan)  # of a measure that is infinite here
        pos += weight * (above * slope[0] + (1.0 - above) * slope[2])
        neg += weight * (above * slope[1] + (1.0 - above) * slope[3])
    return pos, neg


def _of_list(specs: Sequence[Spec], ranking: Ranking) -> dict[Spec, tuple[Floats, Floats]]:
    short, part = condensed(ranking)
    places = _places(specs, short)
    base = compute(specs, short).values
    found = {spec: (np.empty(len(places)), np.empty(len(places))) for spec in specs}
    for k, at in enumerate(places.tolist()):
        for side, masses in enumerate((short.pos, short.neg)):
            more = masses.copy()
            more[at] += _STEP
            moved = replace(short, pos=more) if side == 0 else replace(short, neg=more)
            values = compute(specs, moved).values
            for spec in specs:
                found[spec][side][k] = (values[spec] - base[spec]) / _STEP
    middle = np.arange(len(short))
    of_group = {spec: tuple(np.interp(middle, places, side) for side in sides) for spec, sides in found.items()}
    return {spec: (sides[0][part], sides[1][part]) for spec, sides in of_group.items()}


def _places(specs: Sequence[Spec], ranking: Ranking) -> NDArray[np.intp]:
    """Groups at which the derivative is taken: spread over the list, denser at its top, and at both sides of a cut."""
    last = len(ranking) - 1
    spread = np.concatenate([np.linspace(0, last, _PLACES // 2), np.geomspace(1, last + 1, _PLACES // 2) - 1])
    edges: list[Any] = []
    for spec in specs:
        if spec.quota is not None:
            ends = np.cumsum(ranking.pos + ranking.neg)
            at = np.searchsorted(ends, quota_sizes(spec.quota, ranking.cases)[0])
            edges += [at - 1, at, at + 1]
    found = np.concatenate([spread, *edges]).round().clip(0, last)
    return np.unique(found).astype(np.intp)


def condensed(ranking: Ranking) -> tuple[Ranking, NDArray[np.intp]]:
    """A ranking of at most some thousand groups, finer at its top, and the group there of each group here."""
    n = len(ranking)
    if n <= _GROUPS:
        pos, neg = (np.asarray(side, np.float64) for side in (ranking.pos, ranking.neg))
        return replace(ranking, weighted=True, pos=pos, neg=neg), np.arange(n)
    half = _GROUPS // 2
    spread = np.concatenate([np.linspace(0, n, half, endpoint=False), np.geomspace(1, n, half) - 1])
    starts = np.unique(spread.astype(np.intp))
    part = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, n)))
    size = np.asarray(ranking.pos + ranking.neg, np.float64)
    score = ranking.score.astype(np.float64)
    with np.errstate(invalid="ignore"):
        mean = np.add.reduceat(score * size, starts) / np.add.reduceat(size, starts)
    pos, neg = (np.add.reduceat(np.asarray(side, np.float64), starts) for side in (ranking.pos, ranking.neg))
    return Ranking(np.where(np.isnan(mean), score[starts], mean), pos, neg, ranking.rows, True), part

"""Which model leads where: by quota, by false positive rate, and on the ROC convex hull of the family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inference.leads import hits_by
from ..ranking import Ranking
from ..table import Table, columns_table
from ..types import Floats

_SAME = 1e-9
NO_LEADER = "no clear leader"


@dataclass(frozen=True)
class Clear:
    """Which model is clearly ahead of every other at each place of ``grid``: its number, or -1; judged for all at once.

    ``method`` says how.
    """

    grid: Floats
    leader: NDArray[np.int64]
    method: str

    @classmethod
    def of(cls, grid: Floats, hits: Floats, pairs: Mapping[tuple[int, int], Any], method: str) -> Clear:
        """From where each of the ``pairs`` is told apart; ``hits``: positives found by model and place."""
        best = hits.argmax(axis=0)
        sure = np.ones(len(grid), dtype=np.bool_)
        for (a, b), apart in pairs.items():
            sure &= apart | ((best != a) & (best != b))
        return cls(grid, np.where(sure, best, -1), method)

    def at(self, places: Floats) -> NDArray[np.int64]:
        """The clear leader at each place: one that is so at the places of the grid on both sides of it; else -1."""
        left = np.clip(np.searchsorted(self.grid, places, side="right") - 1, 0, len(self.grid) - 1)
        right = np.clip(np.searchsorted(self.grid, places, side="left"), 0, len(self.grid) - 1)
        return np.where(self.leader[left] == self.leader[right], self.leader[left], -1)


def leads(rankings: Mapping[str, Ranking], axis: str, places: Floats, clear: Clear) -> Table:
    """From where to where one model clearly finds the most positives (Arbel & Rokach Fig. 4), the rest joined.

    ``clear``: the lead holds at all places and over all models at once. ``more_hits``: mean lead over the next model.
    """
    names = list(rankings)
    found = np.array([hits_by(ranking, axis, places) for ranking in rankings.values()])
    if len(names) == 1:
        return Table([_stretch(axis, rankings, places, names[0], True, 0.0, "one model")], _title(axis))
    ahead, order = found.argmax(axis=0), np.sort(found, axis=0)
    others = order[-1] - order[-2]  # how many more than the next model
    leader = np.where(others > _SAME, np.where(clear.at(places) == ahead, ahead, -1), -1)
    changes = np.flatnonzero(leader[1:] != leader[:-1]) + 1
    rows = []
    for start, end in pairwise([0, *changes.tolist(), len(places)]):
        who = int(leader[start])
        name = NO_LEADER if who < 0 else names[who]
        more = 0.0 if who < 0 else float(others[start:end].mean())
        rows.append(_stretch(axis, rankings, places[start:end], name, who >= 0, more, clear.method))
    return Table(rows, _title(axis))


def _title(axis: str) -> str:
    return f"Who leads, by {axis}"


def _stretch(
    axis: str, rankings: Mapping[str, Ranking], places: Floats, leader: str, clear: bool, more: float, method: str
) -> dict[str, Any]:
    first, last = _ends(axis, rankings, places)
    return {"from": first, "to": last, "leader": leader, "clear": clear, "more_hits": more, "method": method}


def _ends(axis: str, rankings: Mapping[str, Ranking], places: Floats) -> tuple[float, float]:
    """First and last place, as quotas or as false positive rates."""
    first, last = float(places[0]), float(places[-1])
    if axis == "quota":
        return int(first), int(last)
    negatives = float(next(iter(rankings.values())).n_neg)
    return first / negatives, last / negatives


def every_lead(rankings: Mapping[str, Ranking], axis: str, places: Floats, grid: Floats, drawn: Floats) -> Table:
    """From where to where each model finds the most positives in this sample, clear or not.

    Somebody leads at every place, also among equals. ``share`` is the share of bootstrap replicates in which that model
    leads (alone or level), averaged over the stretch: a description, not a test, for the best of several curves leads
    in most replicates by luck alone. ``drawn`` holds the positives found by model, replicate and place of ``grid``.
    """
    names = list(rankings)
    found = np.array([hits_by(ranking, axis, places) for ranking in rankings.values()])
    top = found.max(axis=0)
    on_top = found >= top - _SAME * np.maximum(1.0, top)
    best = drawn.max(axis=0)
    leading = drawn >= best - _SAME * np.maximum(1.0, best)
    share = np.where(np.isnan(best), np.nan, leading).mean(axis=1)
    rows: list[dict[str, Any]] = []
    changes = np.flatnonzero((on_top[:, 1:] != on_top[:, :-1]).any(axis=0)) + 1
    for start, end in pairwise([0, *changes.tolist(), len(places)]):
        inside = (grid >= places[start]) & (grid <= places[end - 1])
        near = inside if inside.any() else np.abs(grid - places[start]) == np.abs(grid - places[start]).min()
        leaders, others = np.flatnonzero(on_top[:, start]), np.flatnonzero(~on_top[:, start])
        margin = float((top[start:end] - found[others, start:end].max(axis=0)).mean()) if len(others) else 0.0
        first, last = _ends(axis, rankings, places[start:end])
        rows.append(
            {
                "from": first,
                "to": last,
                "leader": " = ".join(names[m] for m in leaders),
                "share": float(np.mean([share[m, near].mean() for m in leaders])),
                "more_hits": margin,
            }
        )
    return Table(rows, _title(axis))


def family_hull(rankings: Mapping[str, Ranking]) -> Table:
    """The ROC convex hull of several models: which one, at which threshold, for which slopes.

    A vertex is optimal for slopes between ``slope_to`` and ``slope_from``, where slope = (cost of a false positive ·
    negatives) / (cost of a false negative · positives). Between two vertices a mixture of both is reached by
    choosing between them at random.
    """
    points = []
    for name, ranking in rankings.items():
        x = np.concatenate([[0.0], np.cumsum(ranking.neg, dtype=np.float64)]) / ranking.n_neg
        y = np.concatenate([[0.0], np.cumsum(ranking.pos, dtype=np.float64)]) / ranking.n_pos
        t = np.concatenate([ranking.score.astype(np.float64), [-np.inf]])
        points += [(a, b, name, c) for a, b, c in zip(x.tolist(), y.tolist(), t.tolist(), strict=True)]
    points.sort(key=lambda p: (p[0], -p[1]))
    hull: list[tuple[float, float, str, float]] = []
    for point in points:
        if hull and point[0] == hull[-1][0] and point[1] <= hull[-1][1]:
            continue
        while len(hull) >= 2 and _turns_up(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    if hull[0][1] > 0:  # the first vertex stands above the origin: nobody is taken at the origin
        hull.insert(0, (0.0, 0.0, hull[0][2], float(rankings[hull[0][2]].score[0])))
    between = [(b[1] - a[1]) / (b[0] - a[0]) if b[0] > a[0] else np.inf for a, b in pairwise(hull)]
    slopes = [np.inf, *between, 0.0]
    corners = dict(zip(("fpr", "tpr", "model", "threshold"), zip(*hull, strict=True), strict=True))
    ends = {"slope_from": slopes[:-1], "slope_to": slopes[1:]}
    return columns_table({**corners, **ends}, "ROC convex hull of the models")


def _turns_up(a: tuple[Any, ...], b: tuple[Any, ...], c: tuple[Any, ...]) -> bool:
    return bool((b[0] - a[0]) * (c[1] - b[1]) >= (b[1] - a[1]) * (c[0] - b[0]) - 1e-15)

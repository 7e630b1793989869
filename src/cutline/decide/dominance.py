"""Which model leads where: by quota, by false positive rate, and on the ROC convex hull of the family."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ranking import Ranking
from ..table import Table
from .selection import hits_at

Floats = NDArray[np.float64]
_SAME = 1e-9


def hits_by(ranking: Ranking, axis: str, places: Floats) -> Floats:
    """Positives found at each quota, or with so many false positives."""
    return hits_at(ranking, places) if axis == "quota" else _hits_at_misses(ranking, places)


def _hits_at_misses(ranking: Ranking, misses: Floats) -> Floats:
    """Most positives found with at most so many negatives; a tie is entered pro rata."""
    x = np.concatenate([[0.0], np.cumsum(ranking.neg, dtype=np.float64)])
    y = np.concatenate([[0.0], np.cumsum(ranking.pos, dtype=np.float64)])
    last = np.searchsorted(x, misses, side="right") - 1  # the top of the vertical stretch at x
    after = np.minimum(last + 1, len(x) - 1)
    wide = x[after] - x[last]
    part = np.where(wide > 0, (misses - x[last]) / np.where(wide > 0, wide, 1.0), 0.0)
    return np.asarray(y[last] + part * (y[after] - y[last]))


def dominance(rankings: Mapping[str, Ranking], axis: str, places: Floats, grid: Floats, drawn: Floats) -> Table:
    """From where to where each model finds the most positives (Arbel & Rokach Fig. 4).

    ``share`` is the share of bootstrap replicates in which that model leads (alone or level), averaged over the
    stretch: near 1 it is dominance, near 1/(number of models) it may be noise. ``drawn`` holds the positives found by
    model, replicate and place of ``grid``.
    """
    names = list(rankings)
    found = np.array([hits_by(ranking, axis, places) for ranking in rankings.values()])
    top = found.max(axis=0)
    leads = found >= top - _SAME * np.maximum(1.0, top)
    first = next(iter(rankings.values()))
    total = first.cases if axis == "quota" else first.n_neg
    best = drawn.max(axis=0)
    leading = drawn >= best - _SAME * np.maximum(1.0, best)
    share = np.where(np.isnan(best), np.nan, leading).mean(axis=1)
    rows: list[dict[str, Any]] = []
    changes = np.flatnonzero((leads[:, 1:] != leads[:, :-1]).any(axis=0)) + 1
    for start, end in pairwise([0, *changes.tolist(), len(places)]):
        inside = (grid >= places[start]) & (grid <= places[end - 1])
        near = inside if inside.any() else np.abs(grid - places[start]) == np.abs(grid - places[start]).min()
        leaders, others = np.flatnonzero(leads[:, start]), np.flatnonzero(~leads[:, start])
        margin = float((top[start:end] - found[others, start:end].max(axis=0)).mean()) if len(others) else 0.0
        first_place, last_place = float(places[start]), float(places[end - 1])
        rows.append(
            {
                "from": int(first_place) if axis == "quota" else first_place / total,
                "to": int(last_place) if axis == "quota" else last_place / total,
                "leader": " = ".join(names[m] for m in leaders),
                "share": float(np.mean([share[m, near].mean() for m in leaders])),
                "more_hits": margin,
            }
        )
    return Table(rows, f"Who leads, by {axis}")


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
    slopes = [np.inf, *(_slope(a, b) for a, b in pairwise(hull)), 0.0]
    return Table(
        [
            {
                "fpr": p[0],
                "tpr": p[1],
                "model": p[2],
                "threshold": p[3],
                "slope_from": slopes[k],
                "slope_to": slopes[k + 1],
            }
            for k, p in enumerate(hull)
        ],
        "ROC convex hull of the models",
    )


def _turns_up(a: tuple[Any, ...], b: tuple[Any, ...], c: tuple[Any, ...]) -> bool:
    return bool((b[0] - a[0]) * (c[1] - b[1]) >= (b[1] - a[1]) * (c[0] - b[0]) - 1e-15)


def _slope(a: tuple[Any, ...], b: tuple[Any, ...]) -> float:
    return float((b[1] - a[1]) / (b[0] - a[0])) if b[0] > a[0] else float("inf")

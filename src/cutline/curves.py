"""Curves of a ranking, with bands: ROC, precision–recall, gain, lift, hit rate, Qrecall, TPR–FPR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .catalogue.declare import ratio
from .errors import InputError, show
from .kernels import compiled
from .ranking import Ranking
from .reference import documented
from .table import Table
from .types import Floats
from .validate import check_number, checked

_GRID = 512  # positions of a band: about the pixels of a plot, so that more would not show


@dataclass(frozen=True, eq=False)
class Band:
    """Lower and upper limits of a curve at the positions ``x``."""

    x: Floats
    low: Floats
    high: Floats
    level: float
    simultaneous: bool


@documented
@dataclass(frozen=True, eq=False)
class Curve:
    """A curve and the thresholds of its points: ``score > thresholds[i]`` gives point i.

    ``y2`` is the second curve of the TPR–FPR plot; ``chance`` are the ends of the line of a random list.
    """

    name: str
    x: Floats
    y: Floats
    thresholds: Floats
    x_label: str
    y_label: str
    chance: tuple[tuple[float, float], tuple[float, float]]
    y2: Floats | None = None
    banded: Callable[[Floats, float, bool], tuple[Floats, Floats]] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.x)

    @checked
    def band(self, level: float = 0.95, simultaneous: bool = False) -> Band:
        """Bootstrap band: pointwise, or simultaneous for the whole curve.

        The pointwise band takes the quantiles of the replicates' curves at each position. The simultaneous one widens
        it by one factor on either side until a share ``level`` of the replicates' curves lies inside everywhere.
        """
        if self.banded is None:
            raise InputError(None, f"the {self.name} curve has no band: its rows were streamed, or not resampled")
        grid = np.unique(self.x)  # a short curve shows its band at its own points
        if len(self.x) > _GRID:
            grid = np.linspace(grid[0], grid[-1], _GRID)
        return Band(grid, *self.banded(grid, level, simultaneous), level, simultaneous)

    def thinned(self, tolerance: float = 1e-3) -> Curve:
        """Fewer points, none farther from the original than ``tolerance`` of the height of the plot.

        Points are kept by the Douglas–Peucker rule on the scaled axes, vertically: between two kept points the straight
        line stays within the tolerance, so the area moves by no more than tolerance × width × height.
        """
        check_number(tolerance, "tolerance", 0.0, 1.0, open_ends=True)
        height = float(np.nanmax(self.y) - min(0.0, float(np.nanmin(self.y)))) or 1.0
        columns = [self.y] if self.y2 is None else [self.y, self.y2]
        # two curves each within half: a point kept for one bends the line of the other by as much again
        within = tolerance * height / len(columns)
        at = np.flatnonzero(np.any([keep_points(self.x, y, within) for y in columns], axis=0))
        other = None if self.y2 is None else self.y2[at]
        return replace(self, x=self.x[at], y=self.y[at], thresholds=self.thresholds[at], y2=other)

    def area(self) -> float:
        """Area under the points by trapezoids."""
        return float(np.trapezoid(self.y, self.x))

    @property
    def table(self) -> Table:
        """The points as rows."""
        columns = {self.x_label: self.x, self.y_label: self.y, "threshold": self.thresholds}
        if self.y2 is not None:
            columns["FPR"] = self.y2
        return Table(columns)


def keep_points(x: Floats, y: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Which points to keep so that straight lines between them stay within ``tolerance`` of the rest, vertically."""
    chosen: NDArray[np.bool_] = compiled.keep_within(x, y, tolerance)
    return chosen


NAMES = ("roc", "precision_recall", "gain", "lift", "hit_rate", "qrecall", "tpr_fpr")


def points(name: str, hits: Floats, misses: Floats, n_pos: Any, n_neg: Any) -> tuple[Floats, Floats]:
    """Abscissa and ordinate of a curve from the positives and negatives above each cut; arrays of any shape."""
    taken = hits + misses
    total = n_pos + n_neg
    if name == "gain":
        return taken, hits
    if name in ("hit_rate", "lift"):
        rate = ratio(hits, taken)
        return taken, rate if name == "hit_rate" else ratio(rate, ratio(n_pos, total))
    found = ratio(hits, n_pos)
    if name == "precision_recall":
        return found, ratio(hits, taken)
    return ratio(misses, n_neg) if name == "roc" else ratio(taken, total) if name == "tpr_fpr" else taken, found


_LABELS = {
    "roc": ("false positive rate", "true positive rate"),
    "precision_recall": ("recall", "precision"),
    "gain": ("cases taken", "positives found"),
    "lift": ("cases taken", "lift"),
    "hit_rate": ("cases taken", "hit rate"),
    "qrecall": ("cases taken", "Qrecall"),
    "tpr_fpr": ("share of cases taken", "TPR"),
}
_FROM_FIRST_CASE = ("precision_recall", "lift", "hit_rate")


def curve(name: str, ranking: Ranking, banded: Any = None) -> Curve:
    """A curve of a ranking, one point for each distinct score (and the empty cut, where it has a value)."""
    if not isinstance(name, str) or name not in NAMES:
        raise InputError("name", f"is {show(name)}, which is not a curve", f"choose one of {', '.join(NAMES)}")
    if ranking.n_pos == 0 or (ranking.n_neg == 0 and name in ("roc", "tpr_fpr")):
        missing = "positive" if ranking.n_pos == 0 else "negative"
        raise InputError(None, f"the {name} curve needs both classes, and the sample has no {missing} cases")
    hits, misses = (np.append(0.0, np.cumsum(side, dtype=np.float64)) for side in (ranking.pos, ranking.neg))
    thresholds = np.concatenate([ranking.score.astype(np.float64), [-np.inf]])
    if name in _FROM_FIRST_CASE:
        hits, misses, thresholds = hits[1:], misses[1:], thresholds[1:]
    n_pos, n_neg = float(ranking.n_pos), float(ranking.n_neg)
    x, y = points(name, hits, misses, n_pos, n_neg)
    share, unit, cases = n_pos / (n_pos + n_neg), (0.0, 1.0), (0.0, n_pos + n_neg)
    chance = {
        "precision_recall": (unit, (share, share)),
        "gain": (cases, (0.0, n_pos)),
        "lift": (cases, (1.0, 1.0)),
        "hit_rate": (cases, (share, share)),
        "qrecall": (cases, unit),
    }.get(name, (unit, unit))
    other = ratio(misses, n_neg) if name == "tpr_fpr" else None
    return Curve(name, x, y, thresholds, *_LABELS[name], chance, other, banded)


def hull_points(ranking: Ranking) -> tuple[Floats, Floats, Floats]:
    """Vertices of the ROC convex hull as (FPR, TPR), and the threshold of each."""
    if ranking.n_pos == 0 or ranking.n_neg == 0:
        raise InputError(None, "the ROC convex hull needs both classes")
    x, y, used = compiled.hull_of_groups(ranking.pos, ranking.neg, 0.0, 0.0)
    taken = np.cumsum(ranking.pos.astype(np.float64) + ranking.neg)
    at = np.searchsorted(taken, (x[:used] + y[:used]) * (1 - 1e-12), side="left") + 1
    at[0] = 0 if x[0] + y[0] == 0 else at[0]
    thresholds = np.concatenate([ranking.score.astype(np.float64), [-np.inf]])[np.minimum(at, len(ranking))]
    return x[:used] / ranking.n_neg, y[:used] / ranking.n_pos, thresholds

"""The numbers behind each plot, as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...catalogue.declare import ratio
from ...errors import InputError
from ...table import Table, columns_table
from .. import numbers
from ..explorer import at_stops, quota_stops, thinned
from ..numbers import models_of

if TYPE_CHECKING:
    from ...evaluation import Evaluation

# A line of more points than this looks the same thinned; the tolerance is a fifth of a pixel on a printed page.
MANY_POINTS = 5_000
TOLERANCE = 0.0002
QUOTA_KINDS = ("gain", "lift", "hit_rate", "qrecall")
FOREST = ("roc_auc", "average_precision", "average_hit_rate", "average_qrecall", "accuracy", "brier_score")


@dataclass(frozen=True)
class Points:
    """Points of a line to draw."""

    x: NDArray[Any]
    y: NDArray[Any]
    thresholds: NDArray[Any]


def points_of(ev: Evaluation, name: str) -> Points:
    """One curve, thinned where it has more points than ink can show.

    Curves over quotas are taken quota by quota: inside a tie a hit rate is no straight line. With weights a quota
    counts cases, which need not be whole: there the points are the ends of ties.
    """
    if name not in QUOTA_KINDS or ev.facts["weighted"]:
        curve = ev.curve(name)
        if len(curve.x) > MANY_POINTS:
            curve = curve.thinned(tolerance=TOLERANCE)
        return Points(curve.x, curve.y, curve.thresholds)
    stops = quota_stops(ev.facts["rows"])
    at = at_stops(ev, stops)
    n, n_pos = ev.facts["rows"], ev.facts["positives"]
    if n_pos == 0:
        raise InputError(None, f"the {name} curve needs positives, and the sample has none")
    factor = {"gain": 1.0, "qrecall": 1 / n_pos, "hit_rate": 1 / stops, "lift": n / n_pos / stops}[name]
    return Points(stops, at.hits * factor, at.threshold)


def by_model(title: str, rows_of: Callable[..., Iterable[Mapping[str, Any]]]) -> Callable[..., Table]:
    """A function that gives rows of each model."""

    def frame(result: Any, **options: Any) -> Table:
        return Table([{"model": ev.name, **row} for ev in models_of(result) for row in rows_of(ev, **options)], title)

    return frame


def curve_frame(name: str) -> Callable[..., Table]:
    """A function that gives a curve of each model as rows."""

    def rows(ev: Evaluation, **_: Any) -> Table:
        curve = points_of(ev, name)
        return columns_table({"x": curve.x * 1.0, "y": curve.y, "threshold": curve.thresholds * 1.0})

    return by_model(name, rows)


def qrecall_rows(ev: Evaluation, **_: Any) -> Table:
    """Qrecall beside that of a random and of a perfect list."""
    curve = points_of(ev, "qrecall")
    quota, n_pos = curve.x * 1.0, ev.ranking.n_pos
    others = {"random": quota / ev.ranking.cases, "optimal": ratio(np.minimum(quota, n_pos), n_pos)}
    return columns_table({"quota": quota, "qrecall": curve.y, **others})


def tpr_fpr_rows(ev: Evaluation, **_: Any) -> Table:
    """True and false positive rate over the list, and their distance."""
    rates = rates_of(ev)
    columns = {"share": rates.share, "tpr": rates.tpr, "fpr": rates.fpr, "distance": rates.tpr - rates.fpr}
    return columns_table(columns)


@dataclass(frozen=True)
class Rates:
    """TPR and FPR over the share of the list taken, and the point (share, TPR, FPR) where they lie farthest apart."""

    share: NDArray[Any]
    tpr: NDArray[Any]
    fpr: NDArray[Any]
    farthest: tuple[float, float, float]


def rates_of(ev: Evaluation) -> Rates:
    """Both rates of a model; the farthest point is that of the full curve, whatever thinning leaves out."""
    curve: Any = ev.curve("tpr_fpr")
    at = int(np.argmax(np.abs(curve.y - curve.y2)))
    farthest = float(curve.x[at]), float(curve.y[at]), float(curve.y2[at])
    if len(curve.x) > MANY_POINTS:
        curve = curve.thinned(tolerance=TOLERANCE)
    return Rates(curve.x, curve.y, curve.y2, farthest)


def profit_rows(
    ev: Evaluation, *, cost: float | None = None, value: float | None = None, fixed_cost: float = 0.0, **_: Any
) -> Table:
    """Profit at each quota with the interval of its hits."""
    return columns_table(numbers.profit_curve(ev, cost, value, fixed_cost))


def plan_frame(result: Any, **_: Any) -> Table:
    """Cases taken, hits and profit of a plan, thinned where a line has more points than ink can show."""
    if not hasattr(result, "profits"):
        raise InputError(None, f"this plot needs a Plan, not {type(result).__name__}", "make one with plan()")
    kept = np.arange(len(result.taken))
    if len(kept) > MANY_POINTS:
        kept = thinned(result.taken, result.profits, tolerance=TOLERANCE)
    columns = {"taken": result.taken, "hits": result.hits, "profit": result.profits}
    return columns_table({name: values[kept] for name, values in columns.items()}, "profit by quota")


def dominance_frame(result: Any, *, by: str = "quota", **_: Any) -> Table:
    """Which model leads from where to where."""
    if not hasattr(result, "dominance"):
        raise InputError(None, "a dominance strip needs a Comparison of several models")
    return Table(list(result.dominance(by)), "dominance")


def forest_frame(result: Any, *, measures: Sequence[str] | None = None, **_: Any) -> Table:
    """Estimates with intervals, measure by measure."""
    models = models_of(result)
    quota = [key for key, spec in models[0].specs.items() if spec.measure.name in ("hit_rate", "qrecall")]
    wanted = list(measures) if measures is not None else [m for m in (*quota, *FOREST) if m in models[0]]
    rows = []
    for name in wanted:
        for ev in models:
            e = ev[name]
            rows.append({"measure": e.name, "model": ev.name, "value": e.value, "low": e.low, "high": e.high})
    return Table(rows, "estimates")


def extrapolation_frame(result: Any, *, until: int | None = None, **_: Any) -> Table:
    """Accuracy at every number of classes: observed up to the classes there are, extrapolated from there on.

    Up to ``until``, the largest number asked for, or ten times what was seen where none was.
    """
    if not hasattr(result, "observed") or not hasattr(result, "favorability"):
        raise InputError(None, f"this plot needs an extrapolation, not {type(result).__name__}")
    first = result.n_classes
    asked = [k for k in result.k if k > first] if until is None else [until]
    last = max([*asked, first + 1]) if asked else 10 * first
    grid = np.unique(np.append(np.geomspace(first, last, 60).round(), [k for k in asked if k >= first]))
    rows = [{"kind": "observed", "classes": k, **_ends(result.observed[k])} for k in result.observed]
    found = result.curve(grid)
    ends = {key: found[key] for key in ("accuracy", "low", "high")}
    beyond = columns_table({"classes": found["k"].astype(np.int64), **ends})
    return Table([*rows, *({"kind": "extrapolated", **row} for row in beyond)], "accuracy by number of classes")


def _ends(estimate: Any) -> dict[str, float]:
    return {"accuracy": estimate.value, "low": estimate.low, "high": estimate.high}

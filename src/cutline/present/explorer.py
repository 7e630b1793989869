"""The quota explorer of the page: every model at every quota that a reader can choose, and the charts that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..decide.planning import amount
from ..quotas import resolve_quota
from ..table import count, pluralize
from ..types import Floats
from .charts import TITLES, Chart, colour, dash
from .figures import dots_chart, found_rows, share_rows
from .plot_data import Whole, at_stops, axis_end, qrecall_intervals, quota_stops, thinned
from .words import rounded

if TYPE_CHECKING:
    from ..decide.planning import Plan
    from ..evaluation import Evaluation

_HIT_DIGITS = 4  # of a place inside a tie


QUOTA_CHARTS = {"gain": "hits", "hit_rate": "hit rate", "qrecall": "recall", "lift": "lift", "profit": "profit"}
# the rows of the table at the chosen quota: what a script fills, its name, its meaning, whether a second line is there
_ROWS = (
    ("hits", "Found", "positives with a place; interval: the average over lists like this one", True),
    ("next", "On the next list", "of this size, chosen the same way", False),
    ("rate", "Hit rate", "share of the places that go to positives", True),
    ("qrecall", "Recall", "share of the positives that get a place (Qrecall)", True),
    ("lift", "Lift", "times as many as a random choice", False),
    ("threshold", "Threshold", "everyone with a higher score gets a place", True),
    ("missed", "Missed positives", "without a place: false negatives", False),
    ("wrong", "Places without a hit", "negatives with a place: false positives", False),
    ("spared", "Negatives left out", "true negatives", False),
    ("profit", "Profit", "value × hits − cost × places", True),
)


def explorer(
    evaluations: Sequence[Evaluation],
    *,
    quota: int | float | None = None,
    cost: float | None = None,
    value: float | None = None,
    leads: Sequence[Mapping[str, Any]] | None = None,
    asked: bool = False,
    plan: Plan | None = None,
) -> dict[str, Any]:
    """What the explorer's template shows (``charts``, ``rows`` …), and the ``data`` that its script reads.

    ``leads``: who leads from which quota to which; None where that was not judged. ``asked``: the page answers a
    question about places, so its first sentence moves with the controls. ``plan``: its numbers stand at its quota.
    """
    first = evaluations[0]
    rows, positives = int(first.facts["rows"]), int(first.facts["positives"])
    asked_for = first.quota if quota is None else quota
    start = max(1, positives) if asked_for is None else int(resolve_quota(asked_for, rows))
    if quota is None and first.quotas is not None:  # the mean of a range
        start = round(float(np.dot(*first.quotas.sizes(first.ranking.cases))))
    stops = quota_stops(rows, [start])
    place = int(np.searchsorted(stops, start))
    logarithmic = rows > 2000 and start < rows * 0.02
    models = [explorer_data(ev, stops) for ev in evaluations]
    between = quota_range(evaluations)
    ends = None if between is None else (between["sizes"][0], between["sizes"][-1])
    lines = QuotaLines(models, stops, place, rows, positives, logarithmic, cost, value, ends)
    names = [ev.name for ev in evaluations]
    clear = [[row["from"], row["to"], names.index(row["leader"])] for row in leads or () if row["clear"]]
    coming = {} if plan is None or plan.quota != start else {evaluations[0].name: plan.next_hits}
    dots = (
        found_rows(evaluations, start, coming)
        if between is None
        else share_rows((ev.name, ev["hit_rate"]) for ev in evaluations)
    )
    chance = start * positives / rows if between is None else positives / rows
    planned = None
    if plan is not None and plan.quota:  # it allows for the optimism of choosing its quota, which the explorer does not
        low, high = plan.profit.interval
        expected = amount(plan.expected_profit, high - low)
        planned = {"quota": plan.quota, "next": list(plan.next_hits), "profit": [low, high], "expected": expected}
    points = {ev.name: ev.at(quota=start) for ev in evaluations}
    charts = []
    for kind in QUOTA_CHARTS:  # that follow the slider, as they are at the quota where it starts
        words = "Value × hits − cost × places."
        if kind != "profit":
            each = "; ".join(f"{name} {_at_start(kind, point)}" for name, point in points.items())
            words = f"At {pluralize(start, 'place')}: {each}."
        charts.append(quota_chart(kind, lines, words, hidden=kind == "profit" and None in (cost, value)))
    level = f"{first.settings.level:.0%}"
    picture = dots_chart(dots, start if between is None else 1.0, chance, percent=between is not None)
    picture.caption = (
        f"Dot: found in this list. Line: {level} interval of the average over lists like this one. Pale bar: what to "
        f"expect on the next list ({level})."
    )
    found = ", ".join(f"{row['name']} {row['words'].partition(' (')[0]}" for row in dots)
    return {
        "names": names,
        "rows": _ROWS,
        "stops": len(stops),
        "start": place,
        "quota": start,
        "cases": rows,
        "cost": cost,
        "value": value,
        "log": logarithmic,
        "asked": asked,
        "level": level,
        "sentence": f"With {pluralize(start, 'place')}: {found}; a random choice finds {rounded(chance)}.",
        "dots": picture,
        "charts": charts,
        "kinds": QUOTA_CHARTS,
        "kind": "profit" if plan is not None else "gain",
        "data": {
            "rows": rows,
            "stops": steps_of(stops),
            "start": place,
            "cost": cost,
            "value": value,
            "log": logarithmic,
            "models": [coded(model, stops) for model in models],
            "reference": reference_places(rows, positives).tolist(),
            "range": between,
            "colours": [colour(k) for k in range(len(models))],
            "level": level,
            "leads": clear,
            "judged": leads is not None,
            "asked": asked,
            "plan": planned,
        },
    }


def _at_start(kind: str, point: Any) -> str:
    if kind == "gain":
        return count(point.tp)
    return f"{point.lift:.2f}" if kind == "lift" else f"{getattr(point, kind):.1%}"


def explorer_data(ev: Evaluation, stops: Whole) -> dict[str, Any]:
    """One model's part of the explorer, in columns, with as many digits as a reader can see.

    ``found`` is the interval of Qrecall times the positives, so that it has the unit and the size of the hits.
    """
    at = at_stops(ev, stops)
    curves = at.hits, at.hits / stops, at.low, at.high
    axes = stops.astype(np.float64), np.log(stops)  # lines are straight on one of them only
    kept = np.union1d(*(thinned(axis, *curves) for axis in axes))
    inside_ties = bool((at.worst != at.best).any())
    positives = int(ev.facts["positives"])
    unit = _units(stops, positives)
    found = qrecall_intervals(ev, at.hits, stops) * positives
    return {
        "name": ev.name,
        "positives": positives,
        "hits": np.round(at.hits, _HIT_DIGITS),
        "expected": [np.round(ends * unit) / unit for ends in (at.low, at.high)],
        "found": [np.round(ends * unit) / unit for ends in found],
        "next": [at.next_low, at.next_high],
        "threshold": [float(f"{t:.6g}") if np.isfinite(t) else None for t in at.threshold],  # None: everyone is taken
        "worst": at.worst if inside_ties else None,
        "best": at.best if inside_ties else None,
        "drawn": kept,
    }


def _units(stops: Whole, positives: int) -> Floats:
    """Parts of a hit that a reader can see at each stop: 10,000 among few places or positives, 10 among many."""
    return np.asarray(10.0 ** (4 - np.searchsorted([10, 100, 1000], np.minimum(stops, positives), side="right")))


def steps_of(values: Any) -> list[int]:
    """Whole numbers as the first of them and the differences between neighbours: small, and alike where a line is."""
    return [int(step) for step in np.diff(np.asarray(values), prepend=0)]


def coded(model: Mapping[str, Any], stops: Whole) -> dict[str, Any]:
    """One model's columns as the page keeps them: steps of whole numbers, the intervals counted from the hits.

    Written out they would take five times the space. The page's script adds the steps up again.
    """
    hits = model["hits"]
    scale = 1.0 if bool((hits == np.round(hits)).all()) else 10.0**_HIT_DIGITS
    unit, places = _units(stops, model["positives"]), np.floor(hits + 0.5)
    from_hits = np.floor(hits * unit + 0.5)
    ends = {  # what is counted from which hits, in which unit
        "expected": (model["expected"], from_hits, unit),
        "found": (model["found"] if model["positives"] > 0 else None, from_hits, unit),
        "next": (model["next"], places, 1.0),
        "ties": (None if model["worst"] is None else (model["worst"], model["best"]), places, 1.0),
    }
    pairs = {
        name: None if columns is None else [steps_of(np.round(column * unit) - base) for column in columns]
        for name, (columns, base, unit) in ends.items()
    }

    return {
        **{key: model[key] for key in ("name", "positives", "threshold")},
        "scale": scale,
        "hits": steps_of(np.round(hits * scale)),
        **pairs,
        "drawn": steps_of(model["drawn"]),
    }


def quota_range(evaluations: Sequence[Evaluation]) -> dict[str, Any] | None:
    """The unknown quota that was asked for: its sizes and chances, and what each model gives on average; None without.

    The reader may set another range, whose quotas are all as likely.
    """
    quotas = evaluations[0].quotas
    if quotas is None:
        return None
    sizes, weights = quotas.sizes(evaluations[0].ranking.cases)
    found = []
    for ev in evaluations:
        known = {name: ev[name] for name in ("hit_rate", "qrecall") if name in ev}
        found.append({name: _digits(np.array([e.value, e.low, e.high])) for name, e in known.items()})
    words = quotas.words + (", all equally likely" if quotas.through else "")
    return {"sizes": sizes, "weights": _digits(weights, 9), "words": words, "models": found}


def _digits(values: Floats, most: int = 6) -> list[float | int | None]:
    """Rounded, whole numbers without a point; None where there is no value."""
    return [None if v != v else int(v) if v == int(v) else v for v in np.round(values, most).tolist()]


@dataclass(frozen=True)
class QuotaLines:
    """What the charts over quotas show of the models: ``models`` are the explorer's data, ``start`` a stop's number.

    ``between`` are the ends of a range of quotas.
    """

    models: Sequence[Mapping[str, Any]]
    stops: NDArray[np.int64]
    start: int
    rows: int
    positives: int
    logarithmic: bool
    cost: float | None = None
    value: float | None = None
    between: tuple[int, int] | None = None

    def values(self, kind: str, hits: Any, at: Any) -> Floats:
        """What a chart shows of so many hits at these stops."""
        found, places = np.asarray(hits, dtype=float), self.stops[at].astype(float)
        if kind == "profit":
            priced = self.cost is not None and self.value is not None
            return np.asarray(found * self.value - places * self.cost if priced else 0.0 * found)
        of = {"gain": 1.0, "hit_rate": places, "qrecall": self.positives, "lift": places * self.positives / self.rows}
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(found / np.asarray(of[kind]))

    def band(self, kind: str, model: Mapping[str, Any], at: Any) -> tuple[Floats, Floats]:
        """The interval of the share found, in the unit of the chart: never more than the places or the positives."""
        ends = (np.minimum(np.array(found, dtype=float)[at], self.stops[at]) for found in model["found"])
        low, high = (self.values(kind, hits, at) for hits in ends)
        return low, high


def reference_places(rows: int, positives: int) -> Floats:
    """Enough places for lines that are straight on one axis only."""
    return np.unique(np.concatenate([[1.0, max(positives, 1), rows], np.geomspace(1, rows, 60).round()]))


def quota_chart(kind: str, lines: QuotaLines, words: str = "", *, hidden: bool = False) -> Chart:
    """A chart over quotas, the cut marked. The script finds its marks by their ``data-`` attributes."""
    drawn = [np.array(model["drawn"]) for model in lines.models]
    curves = [
        lines.values(kind, np.array(m["hits"], dtype=float)[at], at) for m, at in zip(lines.models, drawn, strict=True)
    ]
    known = [v for curve in curves for v in curve[np.isfinite(curve)].tolist()] or [1.0]
    ends = {
        "gain": (0.0, float(max(lines.positives, 1))),
        "hit_rate": (0.0, axis_end(known)),
        "qrecall": (0.0, 1.0),
        "lift": (0.0, max(1.0, *known)),
        "profit": (min(0.0, *known), max(0.0, *known) or 1.0),
    }[kind]
    x = (1.0 if lines.logarithmic else 0.0, float(lines.rows))
    chart = Chart(TITLES[kind], words, x, ends, "places", lines.logarithmic, name=kind, hidden=hidden)
    chart.models = [model["name"] for model in lines.models] if len(lines.models) > 1 else ()
    chart.linked, chart.y_percent = f'data-kind="{kind}"', kind in ("hit_rate", "qrecall")
    first, last = (1, 1) if lines.between is None else lines.between
    chart.band([first, last], [ends[0]] * 2, [ends[1]] * 2, "#808080", f"data-range{' hidden' * (first == last)}")
    hits = [model["hits"][lines.start] for model in lines.models]
    lead = int(np.argmax(hits))
    low, high = lines.band(kind, lines.models[lead], drawn[lead])
    chart.band(lines.stops[drawn[lead]], low, high, colour(lead), "data-band")
    q = reference_places(lines.rows, lines.positives)
    lines_of = {"chance": q * lines.positives / lines.rows, "perfect": np.minimum(q, lines.positives)}
    if kind in ("lift", "profit"):  # chance is a level, and perfect would be off the chart
        lines_of = {"chance": q * 0.0 + (kind == "lift")}
    unit = {"qrecall": max(lines.positives, 1), "hit_rate": q}.get(kind, 1.0)
    for name, hits_there in lines_of.items():
        chart.reference(q, hits_there / unit, perfect=name == "perfect", tag=f'data-line="{name}"')
    place = float(lines.stops[lines.start])
    chart.line([place, place], ends, "#808080", tag="data-cut")
    for k, (at, curve) in enumerate(zip(drawn, curves, strict=True)):
        chart.line(lines.stops[at], curve, colour(k), dash(k), tag=f'data-curve="{k}"')
    for k, found in enumerate(hits):
        at_cut = float(lines.values(kind, found, lines.start))
        chart.point(place, at_cut if at_cut == at_cut else ends[0], colour(k), f'data-marker="{k}"')
    return chart

"""The quota explorer of the page: every model at every quota that a reader can choose, and the charts that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..decide.planning import amount
from ..quotas import resolve_quota
from ..table import count, pluralize
from ..types import Floats
from .charts import Chart, colour
from .figures import dots_chart, found_rows, in_unit, places_chart, reference_places, share_rows
from .plot_data import Whole, at_stops, qrecall_intervals, quota_stops, thinned
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
    ends = (1, 1) if between is None else (between["sizes"][0], between["sizes"][-1])
    how: dict[str, Any] = {"place": start, "prices": (cost, value), "log": logarithmic, "between": ends}
    charts = [quota_chart(kind, evaluations, models, stops, **how) for kind in QUOTA_CHARTS]
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
            "reference": reference_places(evaluations).tolist(),
            "range": between,
            "colours": [colour(k) for k in range(len(models))],
            "level": level,
            "leads": clear,
            "judged": leads is not None,
            "asked": asked,
            "plan": planned,
        },
    }


def quota_chart(
    kind: str, evaluations: Sequence[Evaluation], models: Sequence[Mapping[str, Any]], stops: Whole, **how: Any
) -> Chart:
    """A chart that follows the slider, as it is at the quota where that starts; ``how``: as ``places_chart`` takes it.

    The band is that of the model that finds most.
    """
    prices, points = how["prices"], {ev.name: ev.at(quota=how["place"]) for ev in evaluations}
    drawn = [(stops[model["drawn"]], model["hits"][model["drawn"]]) for model in models]
    lines = [(places, in_unit(kind, hits, places, evaluations, prices)) for places, hits in drawn]
    lead = int(np.argmax([point.tp for point in points.values()]))
    places, found = drawn[lead][0], (column[models[lead]["drawn"]] for column in models[lead]["found"])
    # never more than the places or the positives
    limits = (in_unit(kind, np.minimum(hits, places), places, evaluations, prices) for hits in found)
    chart = places_chart(kind, evaluations, lines, bands=[(lead, places, *limits)], **how)
    chart.linked = f'data-kind="{kind}"'
    if kind == "profit":
        chart.words, chart.hidden = "Value × hits − cost × places.", None in prices
        return chart
    each = []
    for name, point in points.items():
        shown = {"gain": count(point.tp), "lift": f"{point.lift:.2f}"}
        each.append(f"{name} {shown.get(kind) or f'{getattr(point, kind):.1%}'}")
    chart.words = f"At {pluralize(how['place'], 'place')}: {'; '.join(each)}."
    return chart


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

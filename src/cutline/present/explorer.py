"""The quota explorer of the page: every model at every quota that a reader can choose, and the charts that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..quotas import resolve_quota
from ..table import count, pluralize
from ..types import Floats
from .charts import Chart, colour
from .figures import dots_chart, found_rows, in_unit, places_chart, reference_places
from .plot_data import Whole, at_stops, qrecall_intervals, quota_stops, thinned
from .words import rounded

if TYPE_CHECKING:
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
) -> dict[str, Any]:
    """What the explorer's template shows (``charts``, ``rows`` …), and the ``data`` that its script reads.

    ``leads``: who leads from which quota to which; None where that was not judged. ``asked``: the page answers a
    question about places, so its first sentence moves with the controls.
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
    names = [ev.name for ev in evaluations]
    clear = [[row["from"], row["to"], names.index(row["leader"])] for row in leads or () if row["clear"]]
    dots = found_rows(evaluations, start)
    chance = start * positives / rows
    how: dict[str, Any] = {"place": start, "prices": (cost, value), "log": logarithmic}
    charts = [quota_chart(kind, evaluations, models, stops, **how) for kind in QUOTA_CHARTS]
    level = f"{first.settings.level:.0%}"
    picture = dots_chart(dots, start, chance)
    picture.caption = (
        f"Dot: found in this list. Line: {level} interval of the average over lists like this one. Pale bar: what to "
        f"expect on the next list ({level})."
    )
    found = ", ".join(f"{row['name']} {row['words'].partition(' (')[0]}" for row in dots)
    data = {
        "rows": rows,
        "stops": stops.tolist(),
        "start": place,
        "cost": cost,
        "value": value,
        "log": logarithmic,
        "models": [written_out(model) for model in models],
        "reference": reference_places(evaluations).tolist(),
        "range": None,
        "colours": [colour(k) for k in range(len(models))],
        "level": level,
        "leads": clear,
        "judged": leads is not None,
        "asked": asked,
    }
    shown = {
        "names": names,
        "rows": _ROWS,
        "stops": len(stops),
        "quota": start,
        "cases": rows,
        "sentence": f"With {pluralize(start, 'place')}: {found}; a random choice finds {rounded(chance)}.",
        "dots": picture,
        "charts": charts,
        "kinds": QUOTA_CHARTS,
        "kind": "gain",
    }
    return {**data, **shown, "data": data}


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
    chart.band([1, 1], chart.y, chart.y, "#808080", 'data-range="" hidden=""')  # that a reader may set
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
    # parts of a hit that a reader can see: 10,000 among few places or positives, 10 among many
    unit = 10.0 ** (4 - np.searchsorted([10, 100, 1000], np.minimum(stops, positives), side="right"))
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


def written_out(model: Mapping[str, Any]) -> dict[str, Any]:
    """One model's columns as the page keeps them: lists of numbers, without those that say nothing."""
    pairs = {"expected": model["expected"], "found": model["found"] if model["positives"] > 0 else None}
    pairs |= {"next": model["next"], "ties": None if model["worst"] is None else (model["worst"], model["best"])}
    return {
        **{key: model[key] for key in ("name", "positives", "threshold")},
        **{key: _digits(model[key]) for key in ("hits", "drawn")},
        **{key: None if both is None else [_digits(column) for column in both] for key, both in pairs.items()},
    }


def _digits(values: Floats, most: int = 6) -> list[float | int | None]:
    """Rounded, whole numbers without a point; None where there is no value."""
    return [None if v != v else int(v) if v == int(v) else v for v in np.round(values, most).tolist()]

"""The page: one self-contained HTML file in which a reader moves the quota and sees what happens."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from ..curves import keep_points
from ..errors import InputError
from ..inference.closed_forms import QuotaCut, expected_hits_limits, hit_rate_limits, next_hits_limits, qrecall_limits
from ..quotas import resolve_quota
from ..runtime import write_whole
from ..table import Figure, Section, count, cut_text, in_sentence, percentage, pluralize, to_jsonable
from ..types import FilePath, Floats
from .charts import Chart, colour
from .figures import Whole, dots_chart, in_unit, places_chart, quota_stops
from .render import asset, template
from .words import next_list, rounded

if TYPE_CHECKING:
    from ..evaluation import Evaluation


def write_page(result: Any, path: FilePath, **options: Any) -> Path:
    """Write the page of a result, whole or not at all; options as for :func:`page`. Gives back its path."""
    written = page(result, **options)
    with write_whole(path) as beside:
        beside.write_text(written, encoding="utf-8", newline="\n")
    return Path(path)


def page(
    result: Any,
    *,
    title: str | None = None,
    cost: float | None = None,
    value: float | None = None,
    quota: int | float | None = None,
    **options: Any,
) -> str:
    """The page as text: the answer first, the places as an explorer where the data allow one, the rest folded.

    ``quota`` is where the explorer starts (the evaluation's own quota by default); ``cost`` per place and ``value`` per
    hit add profit. Further options are those of the result's sections: ``all_measures`` (every measure, not a short
    table), ``cost_fp`` and ``cost_fn`` (what errors cost), ``source`` (file and columns).
    """
    if not hasattr(result, "to_html"):
        raise InputError(None, f"a page shows an Evaluation or a Comparison, not {type(result).__name__}")
    sections = _in_order(list(result.sections(detail=True, **options)), options)
    whole = getattr(result, "whole", result)  # of segments
    models = getattr(whole, "evaluations", None)
    title = getattr(result, "title", None) if title is None else title
    if title is None:
        title = f"Evaluation of {whole.name}" if models is None else f"Comparison of {pluralize(len(models), 'model')}"
        title += f" by {', '.join(result.by)}" if whole is not result else ""
    places = next((s for s in sections if s.name == "places"), None)
    shown = None
    if places is not None and isinstance(places.parts[0], Figure):
        models = places.parts[0].of  # the explorer takes the place of their gain curve
        figures = {part.kind: part.options for s in sections for part in s.parts if isinstance(part, Figure)}
        asked = not options.get("cost_fp") and not hasattr(result, "by") and quota is None
        asked = asked and (models[0].quota is not None or models[0].quotas is not None)
        leads = figures.get("dominance", {}).get("stretches")
        shown = explorer(models, quota=quota, cost=cost, value=value, leads=leads, asked=asked)
    return _shell(result, title, sections, shown)


# The titles of sections that have none of their own; others without one belong to the section before them.
_TITLES = {"cut": "At the cut", "leads": "Clear leaders", "places": "How many places?", "measures": "All measures"}
_TITLES |= {"pairs": "Differences between models"}
# What is not folded away: it answers a question that was asked. Others open with a click.
_OPEN = {"places", "goals", "segments", "batches", "confusion", "lead", "models", "calibration", "swaps", "consistency"}


def _in_order(sections: Sequence[Section], options: Mapping[str, Any]) -> list[Section]:
    """The sections as the page shows them: those that the question is about right after the answer.

    Pictures and tables of the answer stand below its sentences; sections without a title join the one before.
    """
    costs = next((s for s in sections if s.name == "costs"), None) if options.get("cost_fp") is not None else None
    sentences, shown = sections[0].sentences, sections[0].shown
    ordered = [Section("answer", sentences)]
    if shown:
        ordered.append(Section("lead", shown, "In numbers"))
    if costs is not None:
        told = list(takewhile(lambda part: isinstance(part, str), costs.parts))
        ordered = [Section("answer", [*told, *sentences]), replace(costs, name="lead", parts=costs.parts[len(told) :])]
    for section in sections[1:]:
        if section is costs:
            continue
        heading = section.title or _TITLES.get(section.name, "")
        if heading or len(ordered) == 1:
            ordered.append(replace(section, title=heading))
        else:
            ordered[-1] = replace(ordered[-1], parts=[*ordered[-1].parts, *section.parts])
    goals = [s for s in ordered if s.name == "goals"]
    lead = [s for s in ordered[1:] if s.name in _OPEN - {"goals"}]
    return [ordered[0], *lead, *goals, *(s for s in ordered[1:] if s.name not in _OPEN)]


def _shell(result: Any, title: str, sections: Sequence[Section], shown: Mapping[str, Any] | None = None) -> str:
    """The whole document; ``shown``: the explorer and the data that its script reads."""
    from .. import __version__

    code = data = ""
    if shown:
        code = asset("unpack.js") + asset("page.js")
        # JSON as gzip in base 64: a third of the size, and no name in it can be read as markup
        read = json.dumps(to_jsonable(shown["data"]), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        data = base64.b64encode(gzip.compress(read.encode(), mtime=0)).decode()
    # only this very script may run, and nothing may be fetched or sent
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    allowed = f"'sha256-{digest}'" if code else "'none'"
    csp = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
    csp += "base-uri 'none'; form-action 'none'"
    parts = {"css": asset("page.css"), "script": code, "csp": csp, "data": data}
    seen = any(isinstance(part, Figure) for s in sections if s.name in _OPEN for part in s.parts)
    pictured = next((s.name for s in sections if any(isinstance(part, Figure) for part in s.parts)), "")
    opened = _OPEN if seen else _OPEN | {pictured}  # a page shows a picture at once
    s = getattr(result, "settings", None)
    made = [f"Made by cutline {__version__}"]  # how the figures were made, in one line
    if getattr(result, "threshold", None) is not None:
        made.append(f"threshold {in_sentence(result.threshold)}")
    quota = getattr(result, "quotas", None) or getattr(result, "quota", None)
    if quota is not None:
        made.append(f"quota {quota:,}" if isinstance(quota, int) else f"quota {quota}")
    if s is not None:
        made.append(f"level {s.level:g}" if s.interval else "no intervals")
    if s is not None and s.interval:
        made += [f"resamples {s.n_resamples:,}"] if hasattr(s, "n_resamples") else []
        made += [f"seed {s.seed}"] if hasattr(s, "seed") else []
    return template("page.html").render(
        title=title,
        sections=sections,
        folded={s.name for s in sections} - opened,
        explorer=shown,
        settings=" · ".join(made),
        version=__version__,
        **{name: Markup(part) for name, part in parts.items()},
    )


# ------------------------------------------------------------------------------------------------- the explorer

_HIT_DIGITS = 4  # of a place inside a tie
ALIKE = "lists like this one with as many positives"  # what the interval of the hits is about
TOLERANCE = 0.001  # of an axis: less than a pixel of a chart
QUOTA_CHARTS = {"gain": "hits", "hit_rate": "hit rate", "qrecall": "recall", "lift": "lift", "profit": "profit"}
# the rows of the table at the chosen quota: what a script fills, its name, its meaning, whether a second line is there
_ROWS = (
    ("hits", "Found", f"positives with a place; interval: the average over {ALIKE}", True),
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
    chance = start * positives / rows
    how: dict[str, Any] = {"place": start, "prices": (cost, value), "log": logarithmic}
    charts = [quota_chart(kind, evaluations, models, stops, **how) for kind in QUOTA_CHARTS]
    level = f"{first.settings.level:.0%}"
    picture = dots_chart(evaluations, start, chance)
    picture.caption = (
        f"Dot: found in this list. Line: {level} interval of the average over {ALIKE}. Pale bar: what to expect on the "
        f"next list ({level})."
    )
    found = ", ".join(f"{ev.name} {count(ev.at(quota=start).tp)}" for ev in evaluations)
    data = {
        "rows": rows,
        "stops": stops.tolist(),
        "start": place,
        "cost": cost,
        "value": value,
        "log": logarithmic,
        "models": [written_out(model) for model in models],
        "reference": next(mark.x.tolist() for mark in charts[0].marks if "chance" in mark.tag),
        "range": None,
        "colours": [colour(k) for k in range(len(models))],
        "level": level,
        "leads": clear,
        "judged": leads is not None,
        "following": next_list(first).capitalize(),
        "asked": asked,
    }
    return {
        **data,
        "data": data,
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
        each.append(f"{name} {shown.get(kind) or percentage(getattr(point, kind))}")
    chart.words = f"At {pluralize(how['place'], 'place')}: {'; '.join(each)}."
    return chart


def explorer_data(ev: Evaluation, stops: Whole) -> dict[str, Any]:
    """One model's part of the explorer, in columns, with as many digits as a reader can see.

    ``found`` is the interval of Qrecall times the positives, ``rate`` that of the hit rate times the places, so that
    they have the unit and the size of the hits.
    """
    at = at_stops(ev, stops)
    # Between the points that are kept, lines stay within the tolerance of each curve. The curves keep the same points,
    # each within half: a point kept for one bends the line of another by as much again.
    kept = np.zeros(len(stops), dtype=bool)
    for axis in (stops.astype(np.float64), np.log(stops)):  # lines are straight on one of them only
        for curve in (at["hits"], at["hits"] / stops, *at["expected"]):
            kept |= keep_points(axis, curve, TOLERANCE / 2 * (float(np.ptp(curve)) or 1.0))
    inside_ties = bool((at["worst"] != at["best"]).any())
    positives = int(ev.facts["positives"])
    # parts of a hit that a reader can see: 10,000 among few places or positives, 10 among many
    unit = 10.0 ** (4 - np.searchsorted([10, 100, 1000], np.minimum(stops, positives), side="right"))
    return {
        "name": ev.name,
        "positives": positives,
        "hits": np.round(at["hits"], _HIT_DIGITS),
        "expected": np.round(at["expected"] * unit) / unit,
        "found": np.round(at["qrecall"] * positives * unit) / unit,
        "rate": np.round(at["hit_rate"] * stops * unit) / unit,
        "next": at["next"],
        "threshold": [  # None: all are taken
            float(cut_text(*cut).replace("−", "-")) if np.isfinite(cut[0]) else None
            for cut in zip(at["threshold"].tolist(), at["above"].tolist(), strict=True)
        ],
        "ties": [at["worst"], at["best"]] if inside_ties else None,
        "drawn": np.flatnonzero(kept),
    }


def written_out(model: Mapping[str, Any]) -> dict[str, Any]:
    """One model's columns as the page keeps them: lists of numbers, without those that say nothing."""
    columns = {"hits": [model["hits"]], "drawn": [model["drawn"]], "expected": model["expected"]}
    columns |= {"found": model["found"] if model["positives"] > 0 else [], "next": model["next"], "rate": model["rate"]}
    columns["ties"] = model["ties"] or []
    kept: dict[str, Any] = {key: model[key] for key in ("name", "positives", "threshold")}
    for key, each in columns.items():
        # rounded, whole numbers without a point; None where there is no value
        rounds = [np.round(column, 6).tolist() for column in each]
        lists = [[None if v != v else int(v) if v == int(v) else v for v in column] for column in rounds]
        kept[key] = lists[0] if key in ("hits", "drawn") else lists or None
    return kept


def cuts_at(ev: Evaluation, hits: Floats, stops: Whole, *, recall: bool = False) -> list[QuotaCut]:
    """What inference needs to know of many cuts, as ``ev.at(quota=…)`` takes it.

    Of clustered or weighted rows the effective size is worked out at 200 of the quotas and interpolated between them.
    """
    found = [ev.rows.cuts.at(float(k), float(h)) for k, h in zip(stops, hits, strict=True)]
    if ev.rows.independent:
        return found
    level, cases = ev.settings.level, ev.ranking.cases
    grid = np.unique(np.linspace(0, len(stops) - 1, min(200, len(stops))).round().astype(np.int64))
    known = {int(i): ev.rows.cut(float(stops[i]), float(hits[i]), level, recall=recall) for i in grid}
    share = np.interp(stops, stops[grid], [known[int(i)].size / cases for i in grid])
    return [known.get(i, replace(cut, size=cases * share[i], relief=0.0)) for i, cut in enumerate(found)]


def at_stops(ev: Evaluation, stops: Whole) -> dict[str, NDArray[Any]]:
    """What ``ev.at(quota=…)`` gives, for all stops at once; of intervals, low and high are one row each.

    ``qrecall`` is nan without positives. ``worst``, ``best``: positives taken if the places inside a tie go badly or
    well.
    """
    ranking = ev.ranking
    ends = np.concatenate([[0], np.cumsum(ranking.pos.astype(np.int64) + ranking.neg)])
    found = np.concatenate([[0], np.cumsum(ranking.pos, dtype=np.int64)])
    groups = np.searchsorted(ends[1:], stops, side="right")  # groups that are taken whole
    inside = stops - ends[groups]
    last = np.minimum(groups, len(ranking) - 1)
    pos, neg = ranking.pos[last].astype(np.float64), ranking.neg[last].astype(np.float64)
    hits = found[groups] + inside * pos / (pos + neg)
    cuts, level = cuts_at(ev, hits, stops), ev.settings.level
    of_recall = cuts if ev.rows.independent else cuts_at(ev, hits, stops, recall=True)
    limits = [expected_hits_limits(cut, level, other) for cut, other in zip(cuts, of_recall, strict=True)]
    soon = [next_hits_limits(cut, level, mean=mean) for cut, mean in zip(cuts, limits, strict=True)]
    none, score = (np.nan, np.nan), ranking.score.astype(np.float64)
    worst, best = found[groups] + np.maximum(0.0, inside - neg), found[groups] + np.minimum(pos, inside)
    left_open = np.zeros((2, len(stops)))  # what the order inside a bucket may take away, or add
    buckets = getattr(ev.rows, "buckets", None)
    if buckets is not None:
        low, high = buckets.counted.low, buckets.counted.high
        k = np.minimum(np.searchsorted(-low, -score), len(low) - 1)  # the bucket of each group
        is_open = (low[k] < high[k]) & (score <= high[k])
        score = np.where(is_open, high[k], score)
        left_open = np.where(is_open[last], [worst - hits, best - hits], 0.0)
    of_next = np.array(soon).T + left_open
    return {
        "hits": hits,
        "expected": np.array(limits).T + left_open,
        "hit_rate": np.array([hit_rate_limits(cut, level) for cut in cuts]).T + left_open / stops,
        "qrecall": np.array([qrecall_limits(cut, level) if ranking.n_pos else none for cut in of_recall]).T
        + left_open / max(float(ranking.n_pos), 1.0),
        "next": np.clip([np.floor(of_next[0]), np.ceil(of_next[1])], 0, stops).astype(np.int64),
        "threshold": np.where(groups < len(ranking), score[last], -np.inf),
        "above": np.where(groups > 0, score[groups - 1], np.nan),
        "worst": worst,
        "best": best,
    }

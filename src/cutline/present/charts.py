"""The page's charts as Vega specifications, made with Altair. Data are named here and filled in by the page.

Models go by their numbers: a name from the data never enters a specification, where it could be read as an expression.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .numbers import STEADY, axis_end
from .palette import colour, dash

if TYPE_CHECKING:
    from ..evaluation import Evaluation

HEIGHT = 230
# What all charts share. Colours of text and grid are the style sheet's, so that they follow light and dark.
CONFIG = {
    "background": None,
    "aria": False,  # each chart is one image with a text alternative; thousands of marks would only be noise
    "view": {"stroke": None},
    "axis": {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "domain": False, "tickSize": 3},
    "legend": {"labelFontSize": 11},
}
QUOTA_CHARTS = ("gain", "hit_rate", "qrecall", "lift", "profit")
TITLES = {
    "gain": "Hits found",
    "hit_rate": "Hit rate",
    "qrecall": "Qrecall: share of all positives found",
    "lift": "Lift: times better than chance",
    "profit": "Profit",
    "roc": "ROC curve",
    "precision_recall": "Precision and recall",
    "deciles": "Lift by tenths of the list",
    "histogram": "Scores of positives and negatives",
    "reliability": "Are the probabilities right?",
}
# Ticks as 500, 1k, 2.5M: each by itself, so that 0 is not "0k".
_SHORT = "datum.value === 0 ? '0' : format(datum.value, abs(datum.value) < 1000 ? ',.3~r' : '.3~s')"
_FIELDS = {"gain": "hits", "hit_rate": "rate", "qrecall": "qrecall", "lift": "lift", "profit": "profit"}


def _model_scales(alt: Any, models: int) -> tuple[Any, Any]:
    """Colour and line style by model; the page itself names the models, so no chart repeats a legend."""
    numbers = [str(i) for i in range(models)]
    colours = alt.Scale(domain=numbers, range=[colour(i) for i in range(models)])
    dashes = alt.Scale(domain=numbers, range=[list(dash(i)) or [1, 0] for i in range(models)])
    return (
        alt.Color("m:N", scale=colours, legend=None),
        alt.StrokeDash("m:N", scale=dashes, legend=None),
    )


def quota_chart(
    kind: str, models: int, rows: int, positives: int, *, logarithmic: bool, highest: float = 1.0
) -> dict[str, Any]:
    """A chart over quotas with a marker at the chosen one; ``highest`` is where the axis of the hit rate ends.

    Reads the data sets ``curve`` (m, q, the field), ``band`` (the same with low and high, of the leading model),
    ``marker`` (one row a model) and ``cut`` (q), which the page fills.
    """
    import altair as alt

    field = _FIELDS[kind]
    scale = alt.Scale(type="log", domain=[1, rows], nice=False) if logarithmic else alt.Scale(domain=[0, rows])
    x = alt.X("q:Q", title="places", scale=scale, axis=alt.Axis(labelExpr=_SHORT, tickCount=5, grid=False))
    axis = alt.Axis(format="%") if kind in ("hit_rate", "qrecall") else alt.Axis(labelExpr=_SHORT)
    ends: dict[str, list[float]] = {"hit_rate": [0, highest], "qrecall": [0, 1], "gain": [0, positives]}
    limits = ends.get(kind)
    scale_y = alt.Scale(domain=limits) if limits else alt.Scale(zero=True)
    y = alt.Y(f"{field}:Q", title=None, scale=scale_y, axis=axis)
    hue, style = _model_scales(alt, models)
    curve, marker = alt.NamedData(name="curve"), alt.NamedData(name="marker")
    layers = [
        alt.Chart(alt.NamedData(name="band"))
        .mark_area(opacity=0.13, clip=True)
        .encode(x, alt.Y(f"{field}_low:Q"), alt.Y2(f"{field}_high"), hue),
        *_references(alt, kind, rows, positives, x, y),
        alt.Chart(curve).mark_line(strokeWidth=2, clip=True).encode(x, y, hue, style),
        alt.Chart(alt.NamedData(name="cut")).mark_rule(strokeWidth=1, color="#808080").encode(x),
        alt.Chart(marker).mark_point(filled=True, size=70, opacity=1).encode(x, y, hue),
    ]
    made = _finished(alt.layer(*layers))
    if limits is None:
        # Only the curves stretch the axis: a marker that moves must not make the browser draw the curves again.
        next(s for s in made["spec"]["scales"] if s["name"] == "y")["domain"] = {"data": "curve", "field": field}
    return made


def _references(alt: Any, kind: str, rows: int, positives: int, x: Any, y: Any) -> list[Any]:
    """What chance gives, and what a perfect list would give."""
    share = positives / rows
    # Enough points for curves that are straight on one axis only.
    many = np.unique(np.concatenate([[1.0, max(positives, 1), rows], np.geomspace(1, rows, 60).round()]))
    best = np.minimum(many, positives)
    chance = {"gain": many * share, "qrecall": many / rows, "hit_rate": many * 0 + share, "lift": many * 0 + 1.0}
    perfect = {"gain": best, "qrecall": best / positives if positives else best * 0, "hit_rate": best / many}
    field, layers = _FIELDS[kind], []
    for lines, style in ((chance, [2, 3]), (perfect, [6, 4])):
        if kind in lines:
            values = [{"q": float(q), field: float(v)} for q, v in zip(many, lines[kind], strict=True)]
            line = alt.Chart(alt.InlineData(values=values)).mark_line(
                strokeWidth=1, strokeDash=style, color="#8a8a8a", clip=True
            )
            layers.append(line.encode(x, y))
    if kind == "profit":
        zero = alt.Chart(alt.InlineData(values=[{field: 0}])).mark_rule(strokeDash=[2, 3], color="#8a8a8a")
        layers.append(zero.encode(y))
    return layers


def roc_chart(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """ROC curves of all models with the chance line."""
    return _two_rates(evaluations, "roc", "false positive rate", "true positive rate", diagonal=True)


def precision_recall_chart(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """Precision against recall, with the share of positives as the base line."""
    return _two_rates(evaluations, "precision_recall", "recall", "precision", diagonal=False)


def _two_rates(evaluations: Sequence[Evaluation], name: str, across: str, up: str, *, diagonal: bool) -> dict[str, Any]:
    import altair as alt

    values: list[dict[str, Any]] = []
    for k, ev in enumerate(evaluations):
        points = ev.curve(name).thinned(tolerance=0.001)
        values += [
            {"m": str(k), "x": round(float(x), 5), "y": round(float(y), 5), "i": i}
            for i, (x, y) in enumerate(zip(points.x, points.y, strict=True))
            if x == x and y == y
        ]
    x = alt.X("x:Q", title=across, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5, grid=False))
    top = 1.0 if diagonal else axis_end(p["y"] for p in values if p["x"] >= STEADY)
    y = alt.Y("y:Q", title=up, scale=alt.Scale(domain=[0, top]), axis=alt.Axis(format="%", tickCount=5))
    hue, style = _model_scales(alt, len(evaluations))
    share = evaluations[0].facts["share_positive"]
    ends: list[dict[str, Any]] = [{"x": 0, "y": 0 if diagonal else share}, {"x": 1, "y": 1 if diagonal else share}]
    chance = alt.Chart(alt.InlineData(values=ends)).mark_line(strokeWidth=1, strokeDash=[2, 3], color="#8a8a8a")
    lines = alt.Chart(alt.NamedData(name="points")).mark_line(strokeWidth=2, clip=True)
    return _finished(alt.layer(chance.encode(x, y), lines.encode(x, y, hue, style, alt.Order("i:Q"))), values)


def deciles_chart(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """Lift in each tenth of the list, a bar for each model."""
    import altair as alt

    values = [
        {"m": str(k), "portion": row["portion"], "lift": round(row["lift"], 5)}
        for k, ev in enumerate(evaluations)
        for row in ev.lift_table(10)
    ]
    hue, _ = _model_scales(alt, len(evaluations))
    bars = alt.Chart(alt.NamedData(name="points")).mark_bar(clip=True)
    x = alt.X("portion:O", title="tenth of the list, best first", axis=alt.Axis(labelAngle=0))
    y = alt.Y("lift:Q", title=None, axis=alt.Axis(labelExpr=_SHORT))
    one = alt.Chart(alt.InlineData(values=[{"lift": 1}])).mark_rule(strokeDash=[2, 3], color="#8a8a8a").encode(y)
    offset = alt.XOffset("m:N", sort=None)
    return _finished(alt.layer(bars.encode(x, y, hue, offset), one), values)


def histogram_chart(ev: Evaluation, bins: int = 24) -> dict[str, Any]:
    """Shares of the positives and of the negatives by score."""
    import altair as alt

    from .numbers import score_histogram

    values = [
        {"from": row["from"], "to": row["to"], "share": row[f"share_of_{side}s"], "class": side}
        for row in score_histogram(ev, bins)
        for side in ("positive", "negative")
    ]
    sides = alt.Scale(domain=["positive", "negative"], range=["#2f7ec7", "#9a9a9a"])
    bars = alt.Chart(alt.NamedData(name="points")).mark_bar(opacity=0.55, binSpacing=0, stroke=None)
    return _finished(
        bars.encode(
            alt.X("from:Q", title="score", bin="binned", axis=alt.Axis(format="~g", tickCount=5, grid=False)),
            alt.X2("to"),
            alt.Y("share:Q", title="share of the class", stack=None, axis=alt.Axis(format="%")),
            alt.Color("class:N", scale=sides, legend=alt.Legend(orient="top", title=None)),
        ),
        values,
    )


def reliability_chart(evaluations: Sequence[Evaluation], bins: int = 10) -> dict[str, Any]:
    """How often what was given a probability came true, with intervals; models that give none are left out."""
    import altair as alt

    from .numbers import reliability

    values: list[dict[str, Any]] = [
        {"m": str(k), "x": row["mean_score"], "y": row["share_positive"], "low": row["low"], "high": row["high"]}
        for k, ev in enumerate(evaluations)
        if ev.rows.are_probabilities
        for row in reliability(ev, bins)
    ]
    top = axis_end(row[end] for row in values for end in ("x", "y", "high"))
    scale = alt.Scale(domain=[0, top])
    x = alt.X("x:Q", title="probability given", scale=scale, axis=alt.Axis(format="%", tickCount=5, grid=False))
    y = alt.Y("y:Q", title="share that came true", scale=scale, axis=alt.Axis(format="%", tickCount=5))
    hue, style = _model_scales(alt, len(evaluations))
    data = alt.NamedData(name="points")
    ends = alt.InlineData(values=[{"x": end, "y": end} for end in (0.0, top)])
    diagonal = alt.Chart(ends).mark_line(strokeWidth=1, strokeDash=[2, 3], color="#8a8a8a").encode(x, y)
    spread = alt.Chart(data).mark_rule(strokeWidth=1.2, opacity=0.7).encode(x, alt.Y("low:Q"), alt.Y2("high"), hue)
    lines = alt.Chart(data).mark_line(strokeWidth=1.4).encode(x, y, hue, style)
    points = alt.Chart(data).mark_point(filled=True, size=36, opacity=1).encode(x, y, hue)
    return _finished(alt.layer(diagonal, spread, lines, points), values)


def _finished(chart: Any, points: Sequence[Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """The specification, and the data set ``points`` in columns: a third of the size of rows."""
    lite = chart.properties(width="container", height=HEIGHT).to_dict(validate=False)
    # Compiled here, so that the reader's browser need not: the page opens in half the time.
    spec = converted("vegalite_to_vega", {**lite, "config": CONFIG})
    _without_checks(spec)
    if points is None:
        return {"spec": spec}
    columns = list(points[0]) if points else []
    return {"spec": spec, "points": {column: [row[column] for row in points] for column in columns}}


_LOOP = (
    "import json, sys, vl_convert\n"
    "for line in sys.stdin:\n"
    "    name, argument = json.loads(line)\n"
    "    print(json.dumps(getattr(vl_convert, name)(argument)), flush=True)\n"
)
_forked = {"is": False}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _forked.update({"is": "vl_convert" in sys.modules}))


def converted(name: str, argument: Any) -> Any:
    """What a function of vl-convert gives. Its threads do not outlive a fork: a forked child asks a fresh process."""
    if not _forked["is"]:
        import vl_convert

        return getattr(vl_convert, name)(argument)
    process = _converter(os.getpid())
    process.stdin.write(json.dumps([name, argument]) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


@cache
def _converter(owner: int) -> Any:
    """The fresh process of a forked child; it ends with the child, whose end closes its input."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", _LOOP], text=True, **pipes)  # type: ignore[call-overload]


def _without_checks(part: Any) -> None:
    """Leave out, in place, what Vega-Lite adds for data it does not know: conversions and tests of every single point.

    The page's data are finite numbers already, and under its policy every expression is interpreted, which costs time.
    """
    if isinstance(part, dict):
        part.pop("defined", None)
        if "transform" in part:
            part["transform"] = [t for t in part["transform"] if "toNumber(" not in str(t) and "isValid(" not in str(t)]
        for value in part.values():
            _without_checks(value)
    elif isinstance(part, list):
        for value in part:
            _without_checks(value)

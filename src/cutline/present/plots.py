"""Plots with matplotlib: ``plot(result, kind)`` draws, ``plot_data(result, kind)`` gives the numbers behind it.

Curves that people publish are drawn here; what a page shows as well is one of its charts, drawn on axes.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..class_evaluation import ClassEvaluation
from ..comparison import Comparison
from ..decide.operating import RiskCoverage
from ..errors import InputError, how_to_install, listed, show
from ..evaluation import Evaluation
from ..runtime import write_whole
from ..table import Table, count, pluralize
from . import figures
from . import plot_data as data
from .charts import Chart, colour, dash
from .plot_data import models_of, points_of, rates_end

GREY, LIGHT, INK = "#6e6e6e", "#d9d9d9", "#222222"
_INKS = {"currentColor": INK}  # the colour of the text around a chart, on paper
MARKS = "osD^v<>p"  # of models, where points stand beside each other
_MOST_NAMES = 60  # classes that are named along a confusion matrix; of more, every second (third, …) one
_MOST_NUMBERS = 25  # classes up to which each cell of a confusion matrix carries its number


# ------------------------------------------------------------------------------------------------- how plots look


def quiet(ax: Any, title: str = "", x: str = "", y: str = "") -> None:
    """Axes without a box, a light grid behind the data."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(GREY)
    ax.tick_params(colors="#333333", labelsize=9)
    ax.grid(True, color="#ececec", linewidth=0.8)
    ax.set_axisbelow(True)
    if title:
        ax.set_title(title, loc="left", fontsize=11, fontweight="bold")
    if x:
        ax.set_xlabel(x, fontsize=9.5)
    if y:
        ax.set_ylabel(y, fontsize=9.5)


def percent_axis(*axes: Any) -> None:
    """Shares as per cent."""
    from matplotlib.ticker import PercentFormatter

    for axis in axes:
        axis.set_major_formatter(PercentFormatter(1.0, decimals=None))


def count_axis(axis: Any) -> None:
    """Whole numbers with thousands apart."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(6, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if v == int(v) else f"{v:,.1f}"))


def line_style(index: int) -> dict[str, Any]:
    """Colour and dashes of a model."""
    dashes = dash(index)
    return {
        "color": colour(index),
        "linewidth": 1.8,
        "linestyle": (0, tuple(d * 0.6 for d in dashes)) if dashes else "-",
        "solid_capstyle": "round",
    }


def reference(ax: Any, x: Any, y: Any, *, dashed: bool = False) -> None:
    """A grey line that the eye compares with."""
    ax.plot(x, y, color=GREY, linewidth=1.0, linestyle=(0, (5, 3)) if dashed else (0, (1.5, 2)), zorder=1.5)


def shade(ax: Any, x: Any, low: Any, high: Any, paint: str, alpha: float, **options: Any) -> None:
    """The area between two lines."""
    ax.fill_between(x, low, high, color=paint, alpha=alpha, linewidth=0, **options)


def say_beside(ax: Any, x: float, y: float, text: str, **options: Any) -> None:
    """A small grey remark."""
    ax.annotate(text, (x, y), color=GREY, fontsize=8.5, **{"textcoords": "offset points", "xytext": (4, 3), **options})


def legend(ax: Any, **options: Any) -> Any:
    """A small legend without a frame."""
    return ax.legend(fontsize=8.5, frameon=False, **{"loc": "upper right", **options})


def label_lines(ax: Any, lines: Sequence[tuple[str, Any, Any]]) -> None:
    """Name each line beside it, where the others are farthest away; a single line needs no name."""
    if len(lines) < 2:
        return
    from matplotlib.patheffects import withStroke

    (low, high), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    shares = np.linspace(0.16, 0.9, 85)
    grid = low + shares * (high - low)
    heights = np.array([np.interp(grid, *_rising(x, y)) for _, x, y in lines])
    heights = np.clip((heights - bottom) / (top - bottom), 0.0, 1.0)
    places: list[tuple[float, float]] = []
    for k, (name, *_) in enumerate(lines):
        others = np.delete(heights, k, axis=0) - heights[k]
        nearest = others[np.abs(others).argmin(axis=0), np.arange(len(grid))]
        room = np.abs(nearest)
        for x, y in places:  # names keep apart: a line of words is some 0.07 of the axis high, and much wider
            room = np.minimum(room, np.hypot((shares - x) / 3.0, heights[k] - y) - 0.04)
        at = int(np.argmax(room))
        places.append((shares[at], heights[k, at]))
        above, rises = nearest[at] < 0, heights[k, min(at + 4, 84)] >= heights[k, max(at - 4, 0)]
        ax.annotate(
            name if len(name) <= 32 else name[:31] + "…",
            (grid[at], bottom + heights[k, at] * (top - bottom)),
            xytext=(-4 if above == rises else 4, 4 if above else -4),
            textcoords="offset points",
            ha="right" if above == rises else "left",
            va="bottom" if above else "top",
            color=colour(k),
            fontsize=9.5,
            fontweight="bold",
            path_effects=[withStroke(linewidth=2.5, foreground="white", alpha=0.8)],
        )


def line_legend(
    ax: Any, lines: Sequence[tuple[str, Any, Any]], words: Sequence[str], corner: str = "lower right"
) -> None:
    """Name the lines in a free corner, with a value each, the highest line first."""
    from matplotlib.lines import Line2D

    order = sorted(range(len(lines)), key=lambda k: -float(np.trapezoid(*_rising(*lines[k][1:])[::-1])))
    texts = ax.legend(
        [Line2D([], [], **line_style(k)) for k in order],
        [words[k] for k in order],
        loc=corner,
        fontsize=9,
        frameon=False,
        handlelength=2.6,
    ).get_texts()
    for k, text in zip(order, texts, strict=True):
        text.set_color(colour(k))


def _rising(x: Any, y: Any) -> tuple[Any, Any]:
    """Points in the order of x, as interpolation needs them."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    defined = np.isfinite(x) & np.isfinite(y)
    x, y = x[defined], y[defined]
    order = np.argsort(x, kind="stable")
    return x[order], y[order]


def _with_interval(e: Any) -> str:
    return f"{e.value:.3f}" + ("" if e.low != e.low else f" ({e.low:.3f} to {e.high:.3f})")


def finding(result: Any, measure: str, plain: str, words: str) -> str:
    """A title that states what the plot shows: the value of one model, or which of several is ahead, if that is clear.

    ``plain`` is what stands there without such a measure; ``words`` name the measure.
    """
    models = models_of(result)
    if measure not in models[0]:
        return plain
    if len(models) == 1:
        return f"{plain}: {words} {_with_interval(models[0][measure])}"
    try:
        verdict = result.verdict(measure)
    except (AttributeError, InputError):  # not a comparison, or no model has a value
        return plain
    if verdict.status == "clear":
        return f"{plain}: {verdict.best} has the best {words}"
    if verdict.status == "level":
        return f"{plain}: {verdict.best} and {verdict.rival.b} tie"
    return f"{plain}: {verdict.best} is ahead, but not clearly"


def at_places(result: Any, plain: str, *, quota: float | None = None) -> str:
    """The title of a plot over places: what the evaluation's quota gives, or another one; ``plain`` without one."""
    models = models_of(result)
    own = None if models[0].rows.batched else models[0].quota
    quota = own if quota is None else quota
    if quota is None:
        return plain
    places = f"With {pluralize(quota, 'place')}"
    if len(models) > 1 and quota != own:
        return f"{places}: what each model finds"
    if len(models) > 1:
        return finding(result, "hit_rate", places, "hit rate")
    point = models[0].at(quota=quota)
    return f"{places}, {models[0].name} finds {count(point.tp)} of {count(point.tp + point.fn)} positives"


def draw_chart(ax: Any, chart: Chart) -> None:
    """A chart of the page on axes: the same marks on the same scales, lines named beside them."""
    for mark in chart.marks:
        paint = _INKS.get(mark.paint, mark.paint)
        match mark.shape:
            case "line":
                dashes = (0, tuple(d * 0.6 for d in mark.dashes)) if mark.dashes else "-"
                ax.plot(
                    mark.x,
                    mark.y,
                    color=paint,
                    linewidth=1.1 * mark.size,
                    linestyle=dashes,
                    zorder=2,
                    label=mark.words or None,
                )
            case "band":
                low, high = mark.y
                shade(ax, mark.x, low, high, paint, mark.opacity)
            case "area":
                ax.fill(mark.x, mark.y, color=paint, alpha=mark.opacity, linewidth=0)
            case "point":
                ax.plot(mark.x, mark.y, "o", color=paint, markersize=1.6 * mark.size)
            case "bar":
                ax.bar(mark.x[0], mark.y, mark.x[1] * 0.94, align="edge", color=paint)
            case "whisker":
                ax.vlines(mark.x, *mark.y, color=paint, linewidth=mark.size, alpha=mark.opacity)
            case _:
                align = {"start": "left", "middle": "center", "end": "right"}[mark.anchor]
                weight = "bold" if "bold" in mark.tag else "normal"
                say_beside(ax, mark.x, mark.y, mark.words, xytext=(mark.size, 0), ha=align, fontweight=weight)
    if chart.log:
        ax.set_xscale("log")
    quiet(ax, chart.title, chart.x_name.replace(" (", "\n(", 1), chart.y_name)
    room = 0.01 * (chart.x[1] - chart.x[0]) * (not chart.log)  # whole lines at the ends
    above = 0.0 if chart.y_ticks else 0.3  # words above the first row
    ax.set(xlim=(chart.x[0] - room, chart.x[1] + room), ylim=(chart.y[0], chart.y[1] + above))
    for axis, ends, share in ((ax.xaxis, chart.x, chart.x_percent), (ax.yaxis, chart.y, chart.y_percent)):
        if share:
            percent_axis(axis)
        elif ends[1] >= 10 and not chart.log:  # cases, or money
            count_axis(axis)
    if chart.y_labels is not None:
        ax.set_yticks([y for y, _ in chart.y_labels], [label for _, label in chart.y_labels])
        ax.grid(False, axis="y")
    if not chart.y_ticks:
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
    if chart.x_labels is not None:
        turned = sum(len(label) + 2 for _, label in chart.x_labels) > 70  # characters that fit below a plot
        way = {"rotation": 45, "ha": "right"} if turned else {}
        ax.set_xticks([x for x, _ in chart.x_labels], [label for _, label in chart.x_labels], **way)
        ax.grid(False, axis="x")
    named = [(mark.words, mark.x, mark.y) for mark in chart.marks if mark.shape == "line" and mark.words]
    label_lines(ax, [] if chart.key else named)
    if chart.key:
        from matplotlib.patches import Patch

        legend(ax, loc="best", handles=[Patch(color=_INKS.get(paint, paint), label=name) for name, paint in chart.key])


# ------------------------------------------------------------------------------------------------- curves


def _draw(ax: Any, result: Any, name: str, *, band: bool | None, level: float | None) -> list[tuple[str, Any, Any]]:
    """Every model's line; by default a band of a single model, because others would cover each other."""
    models = models_of(result)
    wanted = len(models) == 1 if band is None else band
    lines = []
    for k, ev in enumerate(models):
        curve = points_of(ev, name)
        style = line_style(k)
        if wanted and (band or ev.curve(name).banded is not None):  # an audit has none
            of_list = "qrecall" if name == "gain" else name  # of this list: no more than its positives, or than places
            limits = ev.curve(of_list).band(level=ev.settings.level if level is None else level)
            ends: list[Any] = [limits.low, limits.high]
            if name == "gain":
                ends = [np.minimum(end * ev.ranking.n_pos, limits.x) for end in ends]
            shade(ax, limits.x, ends[0], ends[1], style["color"], 0.14 if len(models) == 1 else 0.09)
        ax.plot(curve.x, curve.y, label=ev.name, **style)
        lines.append((ev.name, curve.x, curve.y))
    return lines


def _name_rates(
    ax: Any, result: Any, lines: Sequence[tuple[str, Any, Any]], area: tuple[str, str, str], threshold: float | None
) -> None:
    """Shares on both axes, where a threshold lies on each line, and the areas below them (measure, words, corner)."""
    key, words, corner = area
    models = models_of(result)
    percent_axis(ax.xaxis, ax.yaxis)
    for k, ev in enumerate(models if threshold is not None else ()):
        point = ev.at(threshold=threshold)
        x, y = (point.fpr, point.recall) if key == "roc_auc" else (point.recall, point.precision)
        if x == x and y == y:
            ax.plot(x, y, "o", color=colour(k), markersize=7, markeredgecolor="white", zorder=4)
            if k == 0:
                say_beside(ax, x, y, f"score > {threshold:g}", xytext=(7, -9 if key == "roc_auc" else 6))
    texts = [f"{ev.name}: {words} {_with_interval(ev[key])}" if key in ev else ev.name for ev in models]
    line_legend(ax, lines, texts, corner)


def roc(
    ax: Any,
    result: Any,
    *,
    hull: bool = True,
    band: bool | None = None,
    level: float | None = None,
    threshold: float | None = None,
) -> None:
    """ROC curves with the chance line and the convex hull, of one model or of the family; a threshold as a point."""
    lines = _draw(ax, result, "roc", band=band, level=level)
    reference(ax, [0, 1], [0, 1])
    say_beside(ax, 0.5, 0.5, "chance", xytext=(4, -10))
    if hull:
        across, up = _hull(np.concatenate([x for _, x, _ in lines]), np.concatenate([y for *_, y in lines]))
        ax.plot(across, up, color=GREY, linewidth=1.0, linestyle=(0, (5, 3)), zorder=1.6)
        say_beside(ax, 0.42, float(np.interp(0.42, across, up)), "convex hull", xytext=(-4, 5), ha="right")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), box_aspect=1)  # one unit is as long on both axes
    quiet(ax, finding(result, "roc_auc", "ROC", "AUC"), "false positive rate", "true positive rate")
    _name_rates(ax, result, lines, ("roc_auc", "AUC", "lower right"), threshold)


def _hull(x: Any, y: Any) -> tuple[Any, Any]:
    """Upper convex hull of ROC points, from (0, 0) to (1, 1)."""
    points = sorted({(0.0, 0.0), (1.0, 1.0), *zip(x.tolist(), y.tolist(), strict=True)})
    kept: list[tuple[float, float]] = []
    for px, py in points:
        while len(kept) > 1 and (kept[-1][0] - kept[-2][0]) * (py - kept[-2][1]) >= (kept[-1][1] - kept[-2][1]) * (
            px - kept[-2][0]
        ):
            kept.pop()
        kept.append((px, py))
    return np.array([p[0] for p in kept]), np.array([p[1] for p in kept])


def precision_recall(
    ax: Any,
    result: Any,
    *,
    band: bool | None = None,
    level: float | None = None,
    threshold: float | None = None,
) -> None:
    """Precision against recall; the base line is the share of positives. A threshold is a point on each line."""
    lines = _draw(ax, result, "precision_recall", band=band, level=level)
    share = models_of(result)[0].facts["share_positive"]
    reference(ax, [0, 1], [share, share])
    say_beside(ax, 0.0, share, f"chance: {share:.1%}", xytext=(4, -11))
    ax.set(xlim=(-0.01, 1.01), ylim=(0, rates_end(models_of(result)) * 1.03))
    title = finding(result, "average_precision", "Precision and recall", "average precision")
    quiet(ax, title, "recall", "precision")
    _name_rates(ax, result, lines, ("average_precision", "AP", "best"), threshold)


def over_places(ax: Any, result: Any, *, name: str, band: bool | None = None, level: float | None = None) -> None:
    """Gain, recall, hit rate or lift at each number of places, between a random and a perfect list."""
    lines = _draw(ax, result, name, band=band, level=level)
    ranking = models_of(result)[0].ranking
    n, n_pos = ranking.cases, ranking.n_pos
    share = n_pos / n
    many = np.linspace(max(n_pos, 1), n, 200)
    chance: dict[str, Any] = {"gain": [0, n_pos], "qrecall": [0, 1], "hit_rate": [share, share], "lift": [1, 1]}
    perfect: dict[str, Any] = {
        "gain": ([0, n_pos, n], [0, n_pos, n_pos]),
        "qrecall": ([0, n_pos, n], [0, 1, 1]),
        "hit_rate": ([0, *many], [1.0, *(n_pos / many)]),
    }
    reference(ax, [0, n], chance[name])
    if name in perfect:
        reference(ax, *perfect[name], dashed=True)
    tops = {"gain": n_pos or 1, "qrecall": 1.0, "lift": n / n_pos if n_pos else 1}
    top = rates_end(models_of(result)) if name == "hit_rate" else tops[name]
    ax.set(xlim=(0, n), ylim=(0, 1.04 * top))
    if name in ("gain", "qrecall"):
        say_beside(ax, n_pos, top, "perfect", xytext=(6, -11))
        at = 0.8 if name == "gain" else 0.84
        say_beside(ax, n * at, top * at, "chance", xytext=(4 if name == "gain" else 6, -10))
    else:
        words = f"chance: {share:.1%}" if name == "hit_rate" else "chance"
        say_beside(ax, n, chance[name][0], words, xytext=(-2, -11), ha="right")
    title, axis = {
        "gain": ("Gain: positives found", "positives found"),
        "qrecall": ("Recall by number of places", "recall (Qrecall)"),
        "hit_rate": ("Hit rate by number of places", "hit rate"),
        "lift": ("Lift by number of places", "lift (times as many as by chance)"),
    }[name]
    quiet(ax, at_places(result, title), "places", axis)
    count_axis(ax.xaxis)
    if name == "gain":
        count_axis(ax.yaxis)
    elif name != "lift":
        percent_axis(ax.yaxis)
    _mark_quota(ax, result)
    label_lines(ax, lines)


def _mark_quota(ax: Any, result: Any) -> None:
    """A thin line at the evaluation's quota."""
    first = models_of(result)[0]
    if first.quota is not None and not first.rows.batched:
        ax.axvline(first.quota, color=GREY, linewidth=0.9, zorder=1.4)
        words = f" {pluralize(first.quota, 'place')}"
        ax.annotate(words, (first.quota, 0.015), xycoords=("data", "axes fraction"), fontsize=8.5, color=GREY)


def qrecall(
    ax: Any, result: Any, *, areas: bool | None = None, band: bool | None = None, level: float | None = None
) -> None:
    """Qrecall between chance and a perfect list; for one model the areas S1, S2, S3 behind PEM are shaded.

    S1: better than chance; S2: worse; S3: all that could be gained. PEM = (S1 − S2) / S3.
    """
    models = models_of(result)
    areas = len(models) == 1 if areas is None else areas
    over_places(ax, result, name="qrecall", band=not areas and band, level=level)
    if not areas:
        return
    ev, curve = models[0], points_of(models[0], "qrecall")
    n, n_pos = ev.ranking.cases, ev.ranking.n_pos
    x = np.union1d(curve.x, [0, n_pos, n]).astype(np.float64)
    model = np.interp(x, np.concatenate([[0.0], curve.x]), np.concatenate([[0.0], curve.y]))
    chance, best = x / n, np.minimum(x, n_pos) / n_pos
    shade(ax, x, chance, best, LIGHT, 0.45, label="S3: perfect over chance")
    paint = line_style(0)["color"]
    shade(ax, x, chance, model, paint, 0.35, where=model >= chance, label="S1: better than chance")
    if (model < chance - 1e-12).any():
        shade(ax, x, chance, model, "#d1560a", 0.4, where=model <= chance, label="S2: worse than chance")
    pem = f"PEM = (S1 − S2) / S3 = {ev['pem'].value:.3f}" if "pem" in ev else None
    handles, names = ax.get_legend_handles_labels()
    shown = [(h, t) for h, t in zip(handles, names, strict=True) if t.startswith("S")]
    title = ax.legend(*zip(*shown, strict=True), loc="lower right", fontsize=8.5, frameon=False, title=pem).get_title()
    title.set(fontsize=9, fontweight="bold")


def quota_rates(ax: Any, result: Any) -> None:
    """Hit rate and Qrecall of one model at each number of places (Arbel & Rokach Fig. 5).

    They meet where there are as many places as positives.
    """
    models = models_of(result)
    if len(models) > 1:
        raise InputError(None, "hit rate and Qrecall on one plot show one model", "plot one of the models")
    n, n_pos = models[0].ranking.cases, models[0].ranking.n_pos
    lines = []
    for k, (name, words) in enumerate((("hit_rate", "hit rate"), ("qrecall", "recall (Qrecall)"))):
        curve = points_of(models[0], name)
        ax.plot(curve.x, curve.y, label=words, **line_style(k))
        lines.append((words, curve.x, curve.y))
    ax.axvline(n_pos, color=GREY, linewidth=0.9, zorder=1.4)
    say_beside(ax, n_pos, 0.02, f"{count(n_pos)} positives")
    ax.set(xlim=(0, n), ylim=(0, 1.04))
    quiet(ax, at_places(result, f"{models[0].name}: hit rate and recall"), "places", "rate")
    count_axis(ax.xaxis)
    percent_axis(ax.yaxis)
    label_lines(ax, lines)


def profit(
    ax: Any,
    result: Any,
    *,
    cost: float | None = None,
    value: float | None = None,
    fixed_cost: float = 0.0,
    band: bool | None = None,
) -> None:
    """Profit at each quota; the best cut of each model is marked."""
    models = models_of(result)
    if any(ev.facts["weighted"] for ev in models):
        raise InputError(None, "the profit curve counts places, but this sample is weighted")
    lines = []
    for k, ev in enumerate(models):
        rows = data.profit_rows(ev, cost=cost, value=value, fixed_cost=fixed_cost)
        curve = {name: np.array(rows.column(name)) for name in rows.columns}
        style = line_style(k)
        if len(models) == 1 if band is None else band:
            shade(ax, curve["quota"], curve["low"], curve["high"], style["color"], 0.13)
        ax.plot(curve["quota"], curve["profit"], label=ev.name, **style)
        best = int(np.argmax(curve["profit"]))
        ax.plot(curve["quota"][best], curve["profit"][best], "o", color=style["color"], markersize=6)
        where = f"best at {curve['quota'][best]:,}"
        if len(models) == 1:
            say_beside(ax, curve["quota"][best], curve["profit"][best], where, xytext=(0, 8), ha="center")
        lines.append((f"{ev.name}: {where}", curve["quota"], curve["profit"]))
    ax.set_xlim(0, models[0].ranking.cases)
    count_axis(ax.xaxis)
    reference(ax, ax.get_xlim(), [0, 0])
    quiet(ax, f"Profit at cost {cost:g} per place and value {value:g} per hit", "places", "profit")
    count_axis(ax.yaxis)
    _mark_quota(ax, result)
    if len(lines) > 1:
        line_legend(ax, lines, [name for name, *_ in lines], "upper right")


def tpr_fpr(ax: Any, result: Any) -> None:
    """True and false positive rate over the list, and where they lie farthest apart (Kolmogorov–Smirnov)."""
    models = models_of(result)
    lines = []
    for k, ev in enumerate(models):
        curve, (where, high, low) = data.rates_of(ev)
        style = line_style(k)
        ax.plot(curve.x, curve.y, label=f"{ev.name}: TPR", **style)
        ax.plot(curve.x, curve.y2, color=style["color"], linewidth=1.2, alpha=0.75, linestyle=(0, (1.5, 1.5)))
        ax.plot([where, where], [low, high], color=style["color"], linewidth=1.4, marker="_", markersize=7)
        distance = abs(high - low)
        if len(models) == 1:
            say_beside(ax, where, (high + low) / 2, f"KS = {distance:.3f}")
            say_beside(ax, 0.55, float(np.interp(0.55, curve.x, curve.y)), "TPR", xytext=(0, 7))
            say_beside(ax, 0.55, float(np.interp(0.55, curve.x, curve.y2)), "FPR", xytext=(4, -12))
        lines.append((f"{ev.name}: KS {distance:.3f}", curve.x, curve.y))
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02))
    several = " (full: TPR, dotted: FPR)" if len(models) > 1 else ""
    quiet(ax, f"TPR and FPR{several}", "share of the list taken", "rate")
    percent_axis(ax.xaxis, ax.yaxis)
    if len(lines) > 1:
        line_legend(ax, lines, [name for name, *_ in lines])


# ------------------------------------------------------------------------------------------------- rows, bars, cells


def forest(ax: Any, result: Any, *, measures: Sequence[str] | None = None) -> None:
    """Estimates with their intervals, one line for each model and measure."""
    rows = data.forest_frame(result, measures=measures)
    names = list(dict.fromkeys(row["model"] for row in rows))
    groups = list(dict.fromkeys(row["measure"] for row in rows))
    step = 0.8 / max(1, len(names))
    for row in rows:
        k = names.index(row["model"])
        height = groups.index(row["measure"]) + (k - (len(names) - 1) / 2) * step * 0.9
        if np.isfinite(row["low"]) and np.isfinite(row["high"]):
            ax.plot([row["low"], row["high"]], [height, height], color=colour(k), linewidth=1.7, solid_capstyle="butt")
        ax.plot(row["value"], height, MARKS[k % 8], color=colour(k), markersize=5.5)
        where = row["high"] if row["high"] == row["high"] else row["value"]
        say_beside(ax, where, height, f"{row['value']:.3f}", xytext=(5, -3))
    lower = {key for key, spec in result.specs.items() if spec.better == "lower"}
    ax.set_yticks(range(len(groups)), [f"{key}\n(lower is better)" if key in lower else key for key in groups])
    ax.set_ylim(len(groups) - 0.5, -0.5)
    quiet(ax, "Estimates with intervals: higher is better" if not lower & set(groups) else "Estimates with intervals")
    ax.margins(x=0.12)
    ax.grid(False, axis="y")
    for between in range(1, len(groups)):
        ax.axhline(between - 0.5, color="#e3e3e3", linewidth=0.8)
    for k, name in enumerate(names if len(names) > 1 else ()):
        ax.plot([], [], MARKS[k % 8], color=colour(k), label=name, linestyle="-")
    if len(names) > 1:
        legend(ax, ncols=min(4, len(names)), loc="lower left", bbox_to_anchor=(0.0, -0.22))


def swaps(ax: Any, result: Any) -> None:
    """The cases that enter and those that leave, hits first, and what the difference is."""
    if not result.swapped:
        raise InputError(None, f"{result.old} and {result.new} choose the same cases, so there is nothing to draw")
    rows = result.sides
    hits, cases = np.array(rows.column("hits")), np.array(rows.column("cases"))
    at = np.arange(2)[::-1]
    ax.barh(at, hits, 0.5, color=colour(0), label="hits")
    ax.barh(at, cases - hits, 0.5, left=hits, color=LIGHT, label="no hits")
    for y, row in zip(at, rows, strict=True):
        said = f"{count(row['hits'])} of {count(row['cases'])} ({row['hit_rate']:.0%})"
        ax.annotate(said, (float(row["cases"]), y), xytext=(5, 0), textcoords="offset points", va="center", fontsize=9)
    ax.set_yticks(at, ["enter", "leave"])
    ax.set(xlim=(0, 1.35 * float(cases.max())), ylim=(-0.6, 1.9))
    d = result.difference
    said = f"difference {count(d.value)} hits ({d.level:.0%} interval {count(d.low)} to {count(d.high)})"
    say_beside(ax, 0.0, 1.6, said, xytext=(2, 0))
    quiet(ax, f"From {result.old} to {result.new} at {result.quota:,} places", "cases", "")
    ax.grid(False, axis="y")
    legend(ax)


def trend(ax: Any, result: Any) -> None:
    """A measure along ordered segments with intervals, the fitted line, and the first clear change."""
    rows = data.trend_frame(result)
    at = np.arange(len(rows))
    values, low, high = (np.array(rows.column(name)) for name in ("value", "low", "high"))
    ax.vlines(at, low, high, color=colour(0), linewidth=1.6)
    ax.plot(at, values, "o", color=colour(0), markersize=5.5)
    ax.plot(at, rows.column("line"), color=GREY, linewidth=1.2, linestyle=(0, (5, 3)))
    if result.change is not None:
        where = result.segments.index(result.change) - 0.5
        ax.axvline(where, color="#222222", linewidth=1.0)
        say_beside(ax, where, float(np.nanmax(high)), f"first clear change: {result.change}", xytext=(4, -8))
    step = max(1, -(-len(rows) // 12))
    ax.set_xticks(at[::step], [rows[int(k)]["segment"] for k in at[::step]], rotation=30 if len(rows) > 6 else 0)
    quiet(ax, f"{result.measure} along the segments", "", result.measure)


def confusion(ax: Any, ev: ClassEvaluation) -> None:
    """Heat map of the confusion matrix: shares of each real class, with the cases in the cells."""
    shares = np.nan_to_num(ev.confusion.shares)
    ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
    names = [str(label) for label in ev.confusion.labels]
    if len(names) <= _MOST_NUMBERS:
        for a in range(len(names)):
            for b in range(len(names)):
                shade = "white" if shares[a, b] > 0.55 else "black"
                ax.text(b, a, f"{ev.confusion.counts[a, b]:g}", ha="center", va="center", color=shade, fontsize=8)
    step = -(-len(names) // _MOST_NAMES)
    small = {} if len(names) <= _MOST_NUMBERS else {"fontsize": 5}
    ax.set_xticks(range(0, len(names), step), names[::step], rotation=45, ha="right", **small)
    ax.set_yticks(range(0, len(names), step), names[::step], **small)
    quiet(ax, f"{ev.name}: real and predicted classes", "predicted class", "real class")
    ax.grid(False)


# ------------------------------------------------------------------------------------------------- kinds


def as_chart(chart_of: Callable[..., Chart | None]) -> Callable[..., None]:
    """What draws a chart of the page; its options are those of the chart."""

    def draw(ax: Any, result: Any, **options: Any) -> None:
        chart = chart_of(result, **options)
        if chart is None:
            raise InputError(None, "there is nothing to draw")
        draw_chart(ax, chart)

    draw.__signature__ = inspect.signature(chart_of)  # type: ignore[attr-defined]
    return draw


def _found_chart(result: Any, *, quota: int | None = None) -> Chart:
    """A row for each model, the best first: what it finds, the interval of the average, what the next list may give."""
    numbers = data.found_frame(result, quota=quota)
    models, places = models_of(result), numbers[0]["places"]
    rows = sorted(figures.found_rows(models, places), key=lambda row: -row["value"])
    level = f"{models[0].settings.level:.0%}"
    explained = f"dot: this list · line: {level} interval of the average · pale: range to expect on the next list"
    across = f"positives among {pluralize(places, 'place')}\n{explained}"
    title, chance = at_places(result, "", quota=places), places * models[0].facts["share_positive"]
    return figures.dots_chart(rows, places, chance, title=title, x_name=across, reference="chance")


def _dominance(result: Any, *, by: str = "quota") -> Chart | None:
    return figures.dominance(
        data.dominance_frame(result, by=by), [ev.name for ev in models_of(result)], by=by, alone=True
    )


def _histogram(result: Any, *, bins: int = 24, threshold: float | None = None) -> Chart | None:
    models = models_of(result)
    if len(models) > 1:
        raise InputError(None, "a histogram shows one model", "plot one of the comparison's evaluations")
    data.score_histogram(models[0], bins)  # raises where all scores are infinite
    return figures.histogram(models[0], named=True, bins=bins, threshold=threshold)


def _voting(result: Any) -> Chart:
    chart = figures.voting(result)
    if chart is None:
        raise InputError(None, "no mark varies with the number of models, so there is nothing to draw")
    return chart


def _costs(kind: str) -> tuple[Callable[..., None], Callable[..., Table]]:
    def chart(result: Any, *, band: bool | None = None, **options: Any) -> Chart:
        decisions = {k: ev.decision_curve(**options) for k, ev in enumerate(models_of(result))}
        return figures.cost_chart(decisions, kind=kind, band=band)

    return as_chart(chart), data.by_model("Net benefit", lambda ev, **options: ev.decision_curve(**options).table)


def _risk(result: ClassEvaluation | RiskCoverage) -> RiskCoverage:
    return result.risk_coverage() if isinstance(result, ClassEvaluation) else result


def _calibrated(result: Any) -> Any:
    return result.calibration() if hasattr(result, "calibration") else result


# kind -> (draws it on axes, gives its numbers)
KINDS: dict[str, tuple[Callable[..., None], Callable[..., Table]]] = {
    "roc": (roc, data.curve_frame("roc")),
    "precision_recall": (precision_recall, data.curve_frame("precision_recall")),
    "found": (as_chart(_found_chart), data.found_frame),
    **{name: (partial(over_places, name=name), data.curve_frame(name)) for name in ("gain", "lift", "hit_rate")},
    "qrecall": (qrecall, data.by_model("qrecall", data.qrecall_rows)),
    "quota_rates": (quota_rates, data.by_model("hit rate and Qrecall", data.quota_rates_rows)),
    "tpr_fpr": (tpr_fpr, data.by_model("tpr_fpr", data.tpr_fpr_rows)),
    "profit": (profit, data.by_model("profit", data.profit_rows)),
    "plan": (as_chart(figures.profit), data.plan_frame),
    "uplift": (as_chart(lambda result: figures.uplift(data.uplifts_of(result))), data.uplift_frame),
    "deciles": (
        as_chart(lambda result, *, portions=10: figures.deciles(models_of(result), portions=portions)),
        data.by_model("lift by portions", Evaluation.lift_table),
    ),
    "histogram": (
        as_chart(_histogram),
        data.by_model("scores", lambda ev, bins=24, **_: data.score_histogram(ev, bins)),
    ),
    "reliability": (
        as_chart(lambda result, *, bins=10: figures.reliability_chart(dict(enumerate(models_of(result))), bins=bins)),
        data.by_model("reliability", data.reliability),
    ),
    "dominance": (as_chart(_dominance), data.dominance_frame),
    "calibration": (
        as_chart(lambda result: figures.calibration(_calibrated(result))),
        lambda result: _calibrated(result).bands,
    ),
    "net_benefit": _costs("net_benefit"),
    "expected_cost": _costs("expected_cost"),
    "screening": (as_chart(figures.screening), lambda result: result.stages),
    "voting": (as_chart(_voting), data.voting_frame),
    "swaps": (swaps, lambda result: result.sides),
    "forest": (forest, data.forest_frame),
    "batches": (
        as_chart(lambda result, *, quota=None: figures.batches(data.batch_points(result, quota))),
        data.batches_frame,
    ),
    "segments": (
        as_chart(lambda result, *, measure=None: figures.segments(data.segments_frame(result, measure=measure))),
        data.segments_frame,
    ),
    "trend": (trend, data.trend_frame),
    "extrapolation": (as_chart(figures.more_classes), data.extrapolation_frame),
    "list_size": (as_chart(figures.list_sizes), data.list_size_frame),
}
# of several classes
CLASS_KINDS: dict[str, tuple[Callable[..., None], Callable[..., Table]]] = {
    "confusion": (confusion, lambda ev: ev.confusion.rates),
    "risk_coverage": (
        as_chart(lambda result: figures.risk_coverage(_risk(result))),
        lambda result: Table(_risk(result).to_dicts()),
    ),
    "calibration": (as_chart(figures.confidence), lambda ev: ev.calibration()),
}


_GIVEN = ("ax", "result", "ev", "ex", "name", "title")  # what is not an option of a plot


def plot(result: Any, kind: str, ax: Any = None, **options: Any) -> Any:
    """Draw one plot of an Evaluation, a Comparison or an extrapolation on matplotlib axes, and give them back.

    ``kind`` is one of ``roc``, ``precision_recall``, ``found`` (at a quota), ``gain``, ``lift``, ``hit_rate``,
    ``qrecall``, ``quota_rates`` (hit rate and Qrecall), ``tpr_fpr``, ``profit`` (with ``cost=`` and ``value=``),
    ``plan``, ``uplift``, ``deciles``, ``histogram``, ``reliability``, ``dominance``, ``calibration``, ``net_benefit``,
    ``expected_cost``, ``screening``, ``voting``, ``swaps``, ``forest``, ``batches``, ``segments`` (with ``measure=``),
    ``trend``, ``extrapolation`` and ``list_size`` (hits at a quota by the size of the list); of several classes
    ``confusion``, ``risk_coverage`` or ``calibration``. Without ``ax`` a figure of its own is made.
    """
    draw, _ = _found(result, kind)
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError(f"plots need matplotlib: {how_to_install('plot')}") from None
        ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")[1]
    elif not hasattr(ax, "plot"):
        raise InputError("ax", f"is {show(ax)}, not Axes of matplotlib", "leave it out for a figure of its own")
    choice = [name for name in inspect.signature(draw).parameters if name not in _GIVEN]
    unknown = [name for name in options if name not in choice and "options" not in choice]
    if unknown:
        hint = f"{kind} knows {listed(choice)}" if choice else f"{kind} has no options"
        raise InputError(unknown[0], f"is not an option of the plot {kind}", hint)
    draw(ax, result, **options)
    return ax


def plot_data(result: Any, kind: str, **options: Any) -> Table:
    """The numbers that ``plot`` draws, as rows that convert to a frame."""
    _, numbers = _found(result, kind)
    return numbers(result, **options)


_FORMATS = (".png", ".svg", ".pdf")


def picture_format(path: Any) -> str:
    """The ending that decides how a picture is written."""
    ending = Path(path).suffix.lower()
    if ending not in _FORMATS:
        raise InputError("plot", f"ends in {show(ending)}", f"end it in {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}")
    return ending.removeprefix(".")


def write_picture(result: Any, path: Any, kind: str | None = None, **options: Any) -> None:
    """Draw a result into a file: one plot of that kind, or the panels that its data allow."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(f"plots need matplotlib: {how_to_install('plot')}") from None
    if kind is not None:
        low = kind == "found"  # a row for each model
        height = 1.6 + 0.6 * len(data.models_of(result)) if low else 4.6
        figure = Figure(figsize=(7.6 if low else 6.4, height), layout="constrained")
        plot(result, kind, ax=figure.add_subplot(), **options)
        with write_whole(path) as beside:
            figure.savefig(beside, dpi=150, format=picture_format(path))
        return
    kinds = result.pictures
    several = isinstance(result, ClassEvaluation)  # its panels stand in one row
    whole = isinstance(result, Evaluation | Comparison)
    if whole and any(ev.rows.batched for ev in data.models_of(result)):
        kinds = ("batches", *(kind for kind in kinds if kind != "gain" and kind != "dominance"))
    # A figure of its own, without pyplot: no window system is needed or started.
    for chosen in (kinds, [kind for kind in kinds if _is_drawn(result, kind, Figure().add_subplot())]):
        across = len(chosen) if several else min(len(chosen), 2)
        down = -(-len(chosen) // across)
        width, height = (5.6, 4.8) if several else (6.4, 4.6)
        figure = Figure(figsize=(width * across, height * down), layout="constrained")
        if all(_is_drawn(result, kind, figure.add_subplot(down, across, k)) for k, kind in enumerate(chosen, 1)):
            break
    with write_whole(path) as beside:
        figure.savefig(beside, dpi=150, format=picture_format(path))


def _is_drawn(result: Any, kind: str, ax: Any) -> bool:
    try:
        plot(result, kind, ax=ax)
    except InputError:  # this sample has no such curve
        return False
    return True


def _found(result: Any, kind: str) -> tuple[Callable[..., None], Callable[..., Table]]:
    kinds = CLASS_KINDS if isinstance(result, ClassEvaluation | RiskCoverage) else KINDS
    check_kind(kind, kinds)
    return kinds[kind]


def check_kind(kind: Any, kinds: Collection[str] | None = None) -> None:
    """Raise an error for an unknown plot; of all kinds by default, as the command line takes them."""
    argument = "kind" if kinds is not None else "plot_kind"
    kinds = {**KINDS, **CLASS_KINDS} if kinds is None else kinds
    if kind not in kinds:
        near = difflib.get_close_matches(str(kind), kinds, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(kinds)}"
        raise InputError(argument, f"is {show(kind)}", hint)

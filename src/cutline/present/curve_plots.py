"""Plots of curves, over thresholds and over quotas; and how the axes, lines and marks of every plot look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..decide.planning import amount
from ..errors import InputError, how_to_install
from ..table import count, pluralize
from .charts import colour, dash
from .plot_data import models_of, plan_frame, points_of, profit_curve, rates_end, rates_of

GREY = "#6e6e6e"
LIGHT = "#d9d9d9"


def new_axes() -> Any:
    """Axes in a figure of their own."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(f"plots need matplotlib: {how_to_install('plot')}") from None
    return plt.subplots(figsize=(6.4, 4.6), layout="constrained")[1]


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


MARKS = "osD^v<>p"  # of models, where points stand beside each other


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


def interval(ax: Any, row: Any, height: float, k: int) -> None:
    """A value with its interval, in the colour and with the mark of model ``k``."""
    if np.isfinite(row["low"]) and np.isfinite(row["high"]):
        ax.plot([row["low"], row["high"]], [height, height], color=colour(k), linewidth=1.7, solid_capstyle="butt")
    ax.plot(row["value"], height, MARKS[k % 8], color=colour(k), markersize=5.5)


def legend(ax: Any, **options: Any) -> Any:
    """A small legend without a frame."""
    return ax.legend(fontsize=8.5, frameon=False, **{"loc": "upper right", **options})


def name_marks(ax: Any, names: Sequence[str], **options: Any) -> None:
    """Name the marks of several models; one needs no name."""
    if len(names) > 1:
        for k, name in enumerate(names):
            ax.plot([], [], MARKS[k % 8], color=colour(k), label=name, linestyle="-")
        legend(ax, **options)


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


def _rising(x: Any, y: Any) -> tuple[Any, Any]:
    """Points in the order of x, as interpolation needs them."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    defined = np.isfinite(x) & np.isfinite(y)
    x, y = x[defined], y[defined]
    order = np.argsort(x, kind="stable")
    return x[order], y[order]


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


def _area_legend(
    ax: Any, result: Any, lines: Sequence[tuple[str, Any, Any]], key: str, words: str, corner: str
) -> None:
    """The name of each line with the area below it and its interval."""
    models = models_of(result)
    texts = [f"{ev.name}: {words} {_with_interval(ev[key])}" if key in ev else ev.name for ev in models]
    line_legend(ax, lines, texts, corner)


def _operating_points(ax: Any, result: Any, threshold: float | None, x: str, y: str) -> None:
    """Where a threshold lies on each line."""
    for k, ev in enumerate(models_of(result) if threshold is not None else ()):
        point = ev.at(threshold=threshold)
        across, up = getattr(point, x), getattr(point, y)
        if across == across and up == up:
            ax.plot(across, up, "o", color=colour(k), markersize=7, markeredgecolor="white", zorder=4)
            if k == 0:
                say_beside(ax, across, up, f"score > {threshold:g}", xytext=(7, -9))


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
    percent_axis(ax.xaxis, ax.yaxis)
    _operating_points(ax, result, threshold, "fpr", "recall")
    _area_legend(ax, result, lines, "roc_auc", "AUC", "lower right")


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
    top = rates_end(models_of(result))
    ax.set(xlim=(-0.01, 1.01), ylim=(0, top * 1.03))
    title = finding(result, "average_precision", "Precision and recall", "average precision")
    quiet(ax, title, "recall", "precision")
    percent_axis(ax.xaxis, ax.yaxis)
    _operating_points(ax, result, threshold, "recall", "precision")
    _area_legend(ax, result, lines, "average_precision", "AP", "best")


def _quota_axes(ax: Any, result: Any) -> tuple[float, float]:
    ranking = models_of(result)[0].ranking
    ax.set_xlim(0, ranking.cases)
    count_axis(ax.xaxis)
    return ranking.cases, ranking.n_pos


def _named(ax: Any, result: Any, lines: list[tuple[str, Any, Any]]) -> None:
    """A thin line at the evaluation's quota, and the models' names."""
    first = models_of(result)[0]
    quota = None if first.rows.batched else first.quota
    if quota is not None:
        ax.axvline(quota, color=GREY, linewidth=0.9, zorder=1.4)
        words = f" {pluralize(quota, 'place')}"
        ax.annotate(words, (quota, 0.015), xycoords=("data", "axes fraction"), fontsize=8.5, color=GREY)
    label_lines(ax, lines)


def gain(ax: Any, result: Any, *, band: bool | None = None, level: float | None = None) -> None:
    """Positives found by each quota, between a random and a perfect list."""
    lines = _draw(ax, result, "gain", band=band, level=level)
    n, n_pos = _quota_axes(ax, result)
    reference(ax, [0, n], [0, n_pos])
    reference(ax, [0, n_pos, n], [0, n_pos, n_pos], dashed=True)
    say_beside(ax, n_pos, n_pos, "perfect", xytext=(6, -11))
    say_beside(ax, n * 0.8, n_pos * 0.8, "chance", xytext=(4, -10))
    ax.set_ylim(0, n_pos * 1.04 or 1)
    quiet(ax, at_places(result, "Gain: positives found"), "places", "positives found")
    count_axis(ax.yaxis)
    _named(ax, result, lines)


def qrecall(
    ax: Any, result: Any, *, areas: bool | None = None, band: bool | None = None, level: float | None = None
) -> None:
    """Qrecall between chance and a perfect list; for one model the areas S1, S2, S3 behind PEM are shaded."""
    models = models_of(result)
    areas = len(models) == 1 if areas is None else areas
    lines = _draw(ax, result, "qrecall", band=not areas and band, level=level)
    n, n_pos = _quota_axes(ax, result)
    reference(ax, [0, n], [0, 1])
    reference(ax, [0, n_pos, n], [0, 1, 1], dashed=True)
    ax.set_ylim(0, 1.04)
    quiet(ax, at_places(result, "Recall by number of places"), "places", "recall (Qrecall)")
    percent_axis(ax.yaxis)
    if areas:
        _shade_areas(ax, models[0], n, n_pos)
    say_beside(ax, n_pos, 1.0, "perfect", xytext=(6, -11))
    say_beside(ax, n * 0.84, 0.84, "chance", xytext=(6, -10))
    _named(ax, result, lines)


def _shade_areas(ax: Any, ev: Any, n: float, n_pos: float) -> None:
    """S1: better than chance; S2: worse; S3: all that could be gained. PEM = (S1 − S2) / S3."""
    curve = points_of(ev, "qrecall")
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


def hit_rate(ax: Any, result: Any, *, band: bool | None = None, level: float | None = None) -> None:
    """Share of positives among the taken, at each quota."""
    lines = _draw(ax, result, "hit_rate", band=band, level=level)
    n, n_pos = _quota_axes(ax, result)
    reference(ax, [0, n], [n_pos / n, n_pos / n])
    many = np.linspace(max(n_pos, 1), n, 200)
    reference(ax, np.concatenate([[0], many]), np.concatenate([[1.0], n_pos / many]), dashed=True)
    say_beside(ax, n, n_pos / n, f"chance: {n_pos / n:.1%}", xytext=(-2, -11), ha="right")
    top = rates_end(models_of(result))
    ax.set_ylim(0, top * 1.04)
    quiet(ax, at_places(result, "Hit rate by number of places"), "places", "hit rate")
    percent_axis(ax.yaxis)
    _named(ax, result, lines)


def lift(ax: Any, result: Any, *, band: bool | None = None, level: float | None = None) -> None:
    """How many times as many positives the best hold as a random choice of the same size."""
    lines = _draw(ax, result, "lift", band=band, level=level)
    n, n_pos = _quota_axes(ax, result)
    reference(ax, [0, n], [1, 1])
    say_beside(ax, n, 1, "chance", xytext=(-2, -11), ha="right")
    ax.set_ylim(0, (n / n_pos if n_pos else 1) * 1.04)
    quiet(ax, at_places(result, "Lift by number of places"), "places", "lift (times as many as by chance)")
    _named(ax, result, lines)


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
        curve = profit_curve(ev, cost, value, fixed_cost)
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
    _quota_axes(ax, result)
    reference(ax, ax.get_xlim(), [0, 0])
    quiet(ax, f"Profit at cost {cost:g} per place and value {value:g} per hit", "places", "profit")
    count_axis(ax.yaxis)
    _named(ax, result, [])
    if len(lines) > 1:
        line_legend(ax, lines, [name for name, *_ in lines], "upper right")


def plan(ax: Any, result: Any) -> None:
    """Profit of a plan by number of cases taken: the best cut with its interval, and what to expect on new data."""
    frame = plan_frame(result)
    style = line_style(0)
    ax.plot(frame.column("taken"), frame.column("profit"), **style)
    low, high = result.profit.interval
    dot = {"color": style["color"], "markersize": 6, "linestyle": "none"}
    best = f"profit on these data: {amount(result.profit.value, high - low)} with {pluralize(result.quota, 'case')}"
    ax.plot(result.quota, result.profit.value, "o", label=best, **dot)
    if result.quota and low == low:
        ax.vlines(result.quota, low, high, color=style["color"], linewidth=1.4)
        words = f"profit to expect on new data: {amount(result.expected_profit, high - low)}"
        ax.plot(result.quota, result.expected_profit, "o", fillstyle="none", label=words, **dot)
    legend(ax)
    last = float(result.taken[-1])
    if result.limit < last:
        ax.axvline(result.limit, color=GREY, linewidth=0.9)
        where = f"limit: {result.limit:,}"
        ax.annotate(where, (result.limit, 0.015), xycoords=("data", "axes fraction"), fontsize=8.5, color=GREY)
    reference(ax, [0, last], [0, 0])
    ax.set_xlim(0, last)
    count_axis(ax.xaxis)
    count_axis(ax.yaxis)
    prices = result.settings
    title = f"Profit at cost {prices['cost']:g} per case and value {prices['value']:g} per hit"
    quiet(ax, title, "cases taken", "profit")


def tpr_fpr(ax: Any, result: Any) -> None:
    """True and false positive rate over the list, and where they lie farthest apart (Kolmogorov–Smirnov)."""
    models = models_of(result)
    lines = []
    for k, ev in enumerate(models):
        curve, (where, high, low) = rates_of(ev)
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

"""Plots with matplotlib: every kind is a chart of ``figures``, drawn on axes; a confusion matrix is drawn as cells."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from ..class_evaluation import ClassEvaluation
from ..decide.operating import RiskCoverage
from ..errors import InputError, how_to_install, listed, show
from ..runtime import write_whole
from .charts import Chart
from .figures import FIGURES
from .words import models_of

GREY = "#6e6e6e"
_INKS = {"currentColor": "#222222", "#8a8a8a": GREY}  # the colour of the text around a chart, on paper
_ALIGNED = {"start": "left", "middle": "center", "end": "right"}
_MOST_NAMES = 60  # classes that are named along a confusion matrix; of more, every second (third, …) one
_MOST_NUMBERS = 25  # classes up to which each cell of a confusion matrix carries its number
_OF_A_PAGE = ("differences", "confidence")
# kind -> the result that alone has it
_OF_ONE_RESULT = {"plan": "Plan", "uplift": "Uplift", "voting": "SelectiveVoting", "trend": "Trend"}
_OF_ONE_RESULT |= {"extrapolation": "Extrapolation", "who_leads": "GrowthComparison"}
_OF_CLASSES = {"confusion": "", "risk_coverage": "risk_coverage", "calibration": "confidence"}
KINDS = tuple(kind for kind in FIGURES if kind not in (*_OF_A_PAGE, "risk_coverage"))
_FORMATS = (".png", ".svg", ".pdf")


def _quiet(ax: Any, title: str, x: str, y: str) -> None:
    """Axes without a box, a light grid behind the data."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(GREY)
    ax.tick_params(colors="#333333", labelsize=9)
    ax.grid(True, color="#ececec", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.set_title(title, loc="left", fontsize=11, fontweight="bold")
    ax.set_xlabel(x, fontsize=9.5)
    ax.set_ylabel(y, fontsize=9.5)


def draw_chart(ax: Any, chart: Chart) -> None:
    """A chart on axes: the same marks on the same scales as on a page, its lines named in a free corner."""
    from matplotlib.patches import Patch
    from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

    named = []
    for mark in chart.marks:
        paint = _INKS.get(mark.paint, mark.paint)
        match mark.shape:
            case "line":
                dashes = (0, tuple(d * 0.6 for d in mark.dashes)) if mark.dashes else "-"
                style = {"color": paint, "linewidth": 1.1 * mark.size, "linestyle": dashes, "zorder": 2}
                named += ax.plot(mark.x, mark.y, label=mark.words or None, **style)[: bool(mark.words)]
            case "band":
                ax.fill_between(mark.x, *mark.y, color=paint, alpha=mark.opacity, linewidth=0)
            case "area":
                ax.fill(mark.x, mark.y, color=paint, alpha=mark.opacity, linewidth=0)
            case "point":
                ax.plot(mark.x, mark.y, "o", color=paint, markersize=1.6 * mark.size, zorder=3)
            case "bar":
                ax.bar(mark.x[0], mark.y, mark.x[1] * 0.94, align="edge", color=paint)
            case _:
                how = {"ha": _ALIGNED[mark.anchor], "fontweight": "bold" if "bold" in mark.tag else "normal"}
                beside = {"textcoords": "offset points", "xytext": (mark.size, 0)}
                ax.annotate(mark.words, (mark.x, mark.y), color=GREY, fontsize=8.5, **beside, **how)
    if chart.log:
        ax.set_xscale("log")
    _quiet(ax, chart.finding or chart.title, chart.x_name.replace(" (", "\n(", 1), chart.y_name)
    room = 0.01 * (chart.x[1] - chart.x[0]) * (not chart.log)  # whole lines at the ends
    above = 0.03 * (chart.y[1] - chart.y[0]) if chart.y_ticks else 0.3  # words above the first row
    ax.set(xlim=(chart.x[0] - room, chart.x[1] + room), ylim=(chart.y[0], chart.y[1] + above))
    for axis, ends, share in ((ax.xaxis, chart.x, chart.x_percent), (ax.yaxis, chart.y, chart.y_percent)):
        if share:
            axis.set_major_formatter(PercentFormatter(1.0, decimals=None))
        elif ends[1] >= 10:  # cases, or money: thousands apart
            if not (chart.log and axis is ax.xaxis):
                axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10], integer=True))
            axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if v == int(v) else f"{v:,.1f}"))
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
    if chart.square:
        ax.set_box_aspect(1)  # one unit is as long on both axes
    small = {"fontsize": 8.5, "frameon": False, "loc": "best"}
    if chart.key and any(mark.shape == "area" for mark in chart.marks):  # no corner is free: above the bars
        ax.set_ylim(top=chart.y[1] + 0.12 * (chart.y[1] - chart.y[0]))
        small |= {"loc": "upper right", "ncols": len(chart.key)}
    if chart.key:
        ax.legend(handles=[Patch(color=_INKS.get(paint, paint), label=name) for name, paint in chart.key], **small)
    elif len(named) > 1:
        ax.legend(handles=named, labelcolor="linecolor", handlelength=2.6, **small)


def check_kind(kind: Any, kinds: Collection[str] | None = None) -> None:
    """Raise an error for an unknown plot; of all kinds by default, as the command line takes them."""
    argument = "kind" if kinds is not None else "plot_kind"
    kinds = tuple({**dict.fromkeys(KINDS), **_OF_CLASSES}) if kinds is None else kinds
    if kind not in kinds:
        near = difflib.get_close_matches(str(kind), kinds, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(kinds)}"
        raise InputError(argument, f"is {show(kind)}", hint)


def plot(result: Any, kind: str, ax: Any = None, **options: Any) -> Any:
    """Draw one plot of an Evaluation, a Comparison or an extrapolation on matplotlib axes, and give them back.

    The kinds are those of ``FIGURES``, of several classes ``confusion``, ``risk_coverage`` and ``calibration``; the
    ``plot`` of each result lists its own. Without ``ax`` a figure of its own is made.
    """
    if ax is not None and not hasattr(ax, "plot"):
        raise InputError("ax", f"is {show(ax)}, not Axes of matplotlib", "leave it out for a figure of its own")
    of_classes = isinstance(result, ClassEvaluation | RiskCoverage)
    check_kind(kind, _OF_CLASSES if of_classes else KINDS)
    wanted, given = _OF_ONE_RESULT.get(kind, ""), type(result).__name__
    if not given.startswith(wanted):
        raise InputError(None, f"this has no plot {kind}", f"choose e.g. {result.pictures[0]}")
    described = FIGURES.get(_OF_CLASSES[kind] if of_classes else kind)
    known = [] if described is None else inspect.signature(described).parameters.values()
    choice = [one.name for one in known if one.kind is one.KEYWORD_ONLY and one.name not in ("name", "kind", "title")]
    for name in options:
        if name not in choice:
            hint = f"{kind} knows {listed(choice)}" if choice else f"{kind} has no options"
            raise InputError(name, f"is not an option of the plot {kind}", hint)
    chart = None if described is None else described(result, **options)
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError(f"plots need matplotlib: {how_to_install('plot')}") from None
        ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")[1]
    if chart is not None:
        draw_chart(ax, chart)
        return ax
    # Heat map of the confusion matrix: shares of each real class, with the cases in the cells.
    shares, names = np.nan_to_num(result.confusion.shares), [str(label) for label in result.confusion.labels]
    ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
    if len(names) <= _MOST_NUMBERS:
        for a in range(len(names)):
            for b in range(len(names)):
                ink = "white" if shares[a, b] > 0.55 else "black"
                ax.text(b, a, f"{result.confusion.counts[a, b]:g}", ha="center", va="center", color=ink, fontsize=8)
    step = -(-len(names) // _MOST_NAMES)
    small = {} if len(names) <= _MOST_NUMBERS else {"fontsize": 5}
    ax.set_xticks(range(0, len(names), step), names[::step], rotation=45, ha="right", **small)
    ax.set_yticks(range(0, len(names), step), names[::step], **small)
    _quiet(ax, f"{result.name}: real and predicted classes", "predicted class", "real class")
    ax.grid(False)
    return ax


def picture_format(path: Any) -> str:
    """The ending that decides how a picture is written."""
    ending = Path(path).suffix.lower()
    if ending not in _FORMATS:
        raise InputError("plot", f"ends in {show(ending)}", f"end it in {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}")
    return ending.removeprefix(".")


def write_picture(result: Any, path: Any, kind: str | None = None, **options: Any) -> None:
    """Draw a result into a file: the plot of that kind, or the first that its class names."""
    from matplotlib.figure import Figure

    kind = result.pictures[0] if kind is None else kind
    in_rows = kind in ("found", "dominance")  # one for each model
    figsize = (7.6, 1.6 + 0.6 * len(models_of(result))) if in_rows else (6.4, 4.6)
    # A figure of its own, without pyplot: no window system is needed or started.
    figure = Figure(figsize=figsize, layout="constrained")
    plot(result, kind, ax=figure.add_subplot(), **options)
    with write_whole(path) as beside:
        figure.savefig(beside, dpi=150, format=picture_format(path))

"""Plots that are not curves: tenths of the list, scores by class, reliability, dominance, intervals, more classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import InputError
from .. import numbers
from ..numbers import models_of
from ..palette import colour
from .axes_frames import dominance_frame, extrapolation_frame, forest_frame
from .marks import interval, legend, line_style, name_marks, reference, say_beside, shade
from .style import GREY, LIGHT, count_axis, percent_axis, quiet


def deciles(ax: Any, result: Any, *, portions: int = 10) -> None:
    """Lift in each portion of the list (not cumulative)."""
    models = models_of(result)
    width = 0.8 / len(models)
    for k, ev in enumerate(models):
        table = ev.lift_table(portions)
        places = np.arange(1, portions + 1) + (k - (len(models) - 1) / 2) * width
        bars = ax.bar(places, [row["lift"] for row in table], width * 0.94, color=colour(k), label=ev.name)
        if len(models) == 1 and portions <= 12:
            ax.bar_label(bars, fmt="%.2f", fontsize=8, color=GREY, padding=2)
    ax.axhline(1, color=GREY, linewidth=1.0, linestyle=(0, (1.5, 2)))
    ax.set_xticks(np.arange(1, portions + 1))
    word = {10: "tenth", 4: "quarter", 5: "fifth", 100: "hundredth"}.get(portions, "portion")
    quiet(ax, "Lift by portions of the list", f"{word} of the list, best first", "times as many as by chance")
    ax.grid(False, axis="x")
    if len(models) > 1:
        legend(ax)


def histogram(ax: Any, result: Any, *, bins: int = 24, threshold: float | None = None) -> None:
    """Scores of positives and negatives, each as shares of its class; at a threshold the errors are dark (Fig. 9)."""
    models = models_of(result)
    if len(models) > 1:
        raise InputError(None, "a histogram shows one model", "plot one of the comparison's evaluations")
    table = numbers.score_histogram(models[0], bins)
    edges = np.array([*(row["from"] for row in table), table[-1]["to"]])
    for side, paint, hatch in (("negatives", "#8f8f8f", ""), ("positives", colour(0), "////")):
        share = [row[f"share_of_{side}"] for row in table]
        ax.stairs(share, edges, fill=True, color=paint, alpha=0.45, label=side, hatch=hatch, edgecolor=paint)
        ax.stairs(share, edges, color=paint, linewidth=1.4)
    if threshold is not None:
        _shade_errors(ax, models[0], table, edges, threshold)
    ax.set_ylim(0, None)
    quiet(ax, f"Scores of {models[0].name} by class", "score", "share of the class")
    percent_axis(ax.yaxis)
    ax.grid(False, axis="x")
    legend(ax)


def _shade_errors(ax: Any, ev: Any, table: Any, edges: Any, threshold: float) -> None:
    """False negatives left of the threshold and false positives right of it, as shares of their class."""
    point = ev.at(threshold=threshold)
    for side, word, paint, taken in (
        ("positives", f"false negatives ({1.0 - point.recall:.0%} of the positives)", colour(0), False),
        ("negatives", f"false positives ({point.fpr:.0%} of the negatives)", "#555555", True),
    ):
        share = np.array([row[f"share_of_{side}"] for row in table])
        fine = np.union1d(edges, [np.clip(threshold, edges[0], edges[-1])])
        height = share[np.clip(np.searchsorted(edges, fine[:-1], side="right") - 1, 0, len(share) - 1)]
        middle = (fine[:-1] + fine[1:]) / 2.0
        wrong = middle > threshold if taken else middle <= threshold
        ax.stairs(np.where(wrong, height, 0.0), fine, fill=True, color=paint, alpha=0.85, label=word)
    ax.axvline(threshold, color="#222222", linewidth=1.2)


def reliability_diagram(ax: Any, result: Any, *, bins: int = 10) -> None:
    """Given against observed probability, in groups of equal size with intervals."""
    models = models_of(result)
    tables = [numbers.reliability(ev, bins) for ev in models]
    for k, table in enumerate(tables):
        x, y, low, high = (table.column(name) for name in ("mean_score", "share_positive", "low", "high"))
        style = line_style(k)
        ax.plot(x, y, marker="o", markersize=4.5, label=models[k].name, **{**style, "linewidth": 1.3})
        ax.vlines(x, low, high, color=style["color"], linewidth=1.1, alpha=0.7)
    top = numbers.axis_end(row[end] for table in tables for row in table for end in ("mean_score", "high"))
    reference(ax, [0, top], [0, top])
    say_beside(ax, 0.9 * top, 0.9 * top, "right", xytext=(4, -9))
    ax.set(xlim=(-0.02 * top, 1.02 * top), ylim=(-0.02 * top, 1.02 * top))
    quiet(ax, "Reliability: do the probabilities come true?", "probability given", "share that came true")
    percent_axis(ax.xaxis, ax.yaxis)
    if len(models) > 1:
        legend(ax, loc="upper left")


def dominance(ax: Any, result: Any, *, by: str = "quota") -> None:
    """Who clearly leads from where to where; grey across all models where nobody does."""
    rows = dominance_frame(result, by=by)
    names = [ev.name for ev in models_of(result)]
    for row in rows:
        first, last = row["from"], row["to"]
        left = first - 1 if by == "quota" else first  # the first place covers the step from 0 to 1
        if row["clear"]:
            lane = names.index(str(row["leader"]))
            ax.barh(lane, last - left, left=left, height=0.62, color=colour(lane))
        else:
            ax.barh((len(names) - 1) / 2, last - left, left=left, height=len(names) - 0.38, color=GREY, alpha=0.18)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(0, rows[-1]["to"])
    quiet(ax, f"Who leads at which {'quota' if by == 'quota' else 'false positive rate'}")
    ax.set_xlabel("places" if by == "quota" else "false positive rate", fontsize=9.5)
    if by == "quota":
        count_axis(ax.xaxis)
    else:
        percent_axis(ax.xaxis)
    ax.grid(False, axis="y")
    where = {"xycoords": "axes fraction", "ha": "right", "annotation_clip": False}
    ax.annotate("grey: no clear leader", (1, -0.16), fontsize=8, color=GREY, **where)


def forest(ax: Any, result: Any, *, measures: Sequence[str] | None = None) -> None:
    """Estimates with their intervals, one line for each model and measure."""
    rows = forest_frame(result, measures=measures)
    names = [ev.name for ev in models_of(result)]
    groups = list(dict.fromkeys(row["measure"] for row in rows))
    step = 0.8 / max(1, len(names))
    for row in rows:
        k = names.index(row["model"])
        height = groups.index(row["measure"]) + (k - (len(names) - 1) / 2) * step * 0.9
        interval(ax, row, height, k)
        where = row["high"] if row["high"] == row["high"] else row["value"]
        say_beside(ax, where, height, f"{row['value']:.3f}", xytext=(5, -3))
    ax.set_yticks(range(len(groups)), groups)
    ax.set_ylim(len(groups) - 0.5, -0.5)
    quiet(ax, "Estimates with intervals")
    ax.margins(x=0.12)
    ax.grid(False, axis="y")
    for between in range(1, len(groups)):
        ax.axhline(between - 0.5, color="#e3e3e3", linewidth=0.8)
    name_marks(ax, names, ncols=min(4, len(names)), loc="lower left", bbox_to_anchor=(0.0, -0.22))


def extrapolation(ax: Any, result: Any, *, until: int | None = None) -> None:
    """Accuracy by number of classes: observed, then extrapolated with its interval, every method as a thin line."""
    rows = extrapolation_frame(result, until=until)
    seen, beyond = ([row for row in rows if row["kind"] == kind] for kind in ("observed", "extrapolated"))
    k, accuracy, low, high = (np.array([row[key] for row in beyond]) for key in ("classes", "accuracy", "low", "high"))
    border, style = int(k[0]), line_style(0)
    every = np.unique(np.append(np.geomspace(2, k[-1], 60).round(), border))
    for name, fit in result.fits.items():
        paint = "#9a9a9a" if name in result.weights else LIGHT
        label = "methods" if name == next(iter(result.weights)) else None  # named once in the legend
        ax.plot(
            every,
            np.clip(fit.accuracy(np.maximum(every / result.classes_each, 1.0)), 0.0, 1.0),
            color=paint,
            linewidth=0.8,
            zorder=1.5,
            label=label,
        )
    if np.isfinite(low).any():
        words = f"{result.level:.0%} interval"
        # from the first class more: at the border stands the interval of what was seen, made in another way
        shade(ax, k[1:], low[1:], high[1:], style["color"], 0.18, label=words)
    ax.plot(k, accuracy, label="extrapolated", **style)
    x, y = [row["classes"] for row in seen], [row["accuracy"] for row in seen]
    ax.plot(x, y, "-" if len(x) > 8 else "o-", color="#222222", linewidth=1.8, label="observed")
    ax.axvline(border, color=GREY, linewidth=0.9, linestyle=(0, (1.5, 2)))
    say_beside(ax, border, 0.02, f"{border:,} classes seen")
    ax.set_xscale("log")
    ax.set(xlim=(2, k[-1]), ylim=(0, 1.02))
    quiet(ax, "Accuracy with more classes", "number of classes", "accuracy")
    percent_axis(ax.yaxis)
    legend(ax, loc="lower left" if accuracy[-1] > 0.5 else "upper right")

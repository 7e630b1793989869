"""Plots of decisions: calibration with its band, net benefit and expected cost, stages of a screening, votes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError
from ...table import Table, count
from ..numbers import models_of
from ..palette import colour
from .marks import label_lines, legend, line_style, reference, say_beside, shade
from .style import GREY, LIGHT, count_axis, percent_axis, quiet


def calibrated(result: Any) -> Any:
    """The calibration of an evaluation, or the one it is."""
    return result.calibration() if hasattr(result, "calibration") else result


def calibration(ax: Any, result: Any) -> None:
    """The isotonic reliability curve, the band of a calibrated model around the diagonal, and the scores below."""
    found = calibrated(result)
    rows = found.bands
    x, y = np.array(rows.column("probability")), np.array(rows.column("comes_true"))
    shade(ax, x, rows.column("low"), rows.column("high"), LIGHT, 0.7, label="if calibrated")
    shade(ax, x, rows.column("confidence_low"), rows.column("confidence_high"), colour(0), 0.15)
    reference(ax, [0, 1], [0, 1])
    ax.plot(x, y, drawstyle="default", **line_style(0))
    counts, edges = np.histogram(found.score, bins=40, range=(0.0, 1.0), weights=found.cases)
    ax.bar(edges[:-1], 0.12 * counts / max(counts.max(), 1.0), np.diff(edges), align="edge", color=GREY, alpha=0.5)
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02))
    said = f"slope {found.slope.value:.2f}, p = {found.p_value:.2g}" if found.slope.value == found.slope.value else ""
    say_beside(ax, 0.02, 0.93, said, xytext=(0, 0))
    quiet(ax, f"Calibration of {found.name}", "probability given", "share that comes true")
    percent_axis(ax.xaxis, ax.yaxis)
    legend(ax, loc="lower right")


def _draw_curves(
    ax: Any, result: Any, columns: tuple[str, str, str], band: bool | None, options: dict[str, Any]
) -> tuple[Any, list[tuple[str, Any, Any]], str]:
    """Draw one column of every model's decision curve, with its band; gives the last curve and the lines drawn.

    The axis says what the band holds.
    """
    models = models_of(result)
    lines, made = [], None
    for k, ev in enumerate(models):
        made = ev.decision_curve(**options)
        value, low, high = (getattr(made, column) for column in columns)
        if band or (band is None and len(models) <= 3):
            shade(ax, made.x, low, high, colour(k), 0.12)
        ax.plot(made.x, value, label=ev.name, **line_style(k))
        lines.append((ev.name, made.x, value))
    if made is None:
        raise InputError(None, "there is no model to draw")
    return made, lines, f" ({made.band_words})" if band or (band is None and len(models) <= 3) else ""


def net_benefit(ax: Any, result: Any, *, band: bool | None = None, **options: Any) -> None:
    """Net benefit by threshold probability, between acting on everybody and on nobody."""
    made, lines, held = _draw_curves(ax, result, ("net_benefit", "low", "high"), band, options)
    reference(ax, made.x, made.treat_all, dashed=True)
    reference(ax, made.x[[0, -1]], [0.0, 0.0])
    top = max(float(np.max(y)) for *_, y in lines)
    ax.set(xlim=(0, 1), ylim=(-0.25 * top, 1.1 * top))
    inside = made.x[made.treat_all > 0.12 * top]
    at = float(inside[-1]) if len(inside) else float(made.x[0])
    say_beside(ax, at, float(np.interp(at, made.x, made.treat_all)), "everyone", xytext=(-6, -2), ha="right")
    say_beside(ax, 0.5, 0.0, "no one", xytext=(0, -12))
    quiet(ax, "Net benefit of acting above a probability", f"threshold probability{held}", "net benefit per case")
    percent_axis(ax.xaxis)
    label_lines(ax, lines, corner="upper right")


def expected_cost(ax: Any, result: Any, *, band: bool | None = None, **options: Any) -> None:
    """Expected cost by the share of a false positive in the cost of both errors."""
    made, lines, held = _draw_curves(ax, result, ("expected_cost", "cost_low", "cost_high"), band, options)
    reference(ax, made.x, made.treat_all_cost, dashed=True)
    reference(ax, made.x, made.treat_none_cost)
    top = max(float(np.max(y)) for *_, y in lines)
    ax.set(xlim=(0, 1), ylim=(0, 1.6 * top))
    right = float(np.interp(-1.2 * top, -made.treat_none_cost, made.x))
    say_beside(ax, right, 1.2 * top, "no one", xytext=(6, 2))
    at = float(np.interp(1.45 * top, made.treat_all_cost, made.x))
    say_beside(ax, at, 1.45 * top, "everyone", xytext=(4, 0))
    quiet(ax, "Expected cost per case", f"share of a false positive in the cost of both errors{held}", "expected cost")
    percent_axis(ax.xaxis)
    label_lines(ax, lines, corner="upper right")


def screening(ax: Any, result: Any) -> None:
    """Share of the cases and of the positives that each stage leaves, the latter with its interval."""
    stages = result.stages
    names = ["at first", *(f"after {row['stage']}" for row in stages)]
    cases = np.array([stages[0]["enter"], *stages.column("keep")]) / stages[0]["enter"]
    recall = np.array([1.0, *stages.column("recall_so_far")])
    low, high = (np.array([1.0, *stages.column(f"recall_{end}")]) for end in ("low", "high"))
    at = np.arange(len(names))
    ax.bar(at - 0.2, cases, 0.38, color="#8f8f8f", alpha=0.7, label="cases left")
    ax.bar(at + 0.2, recall, 0.38, color=colour(0), alpha=0.9, label="positives left")
    ax.vlines(at + 0.2, low, high, color="#222222", linewidth=1.4)
    for x, share, kept in zip(at, cases, [stages[0]["enter"], *stages.column("keep")], strict=True):
        ax.annotate(f"{kept:,}", (x - 0.2, share), ha="center", va="bottom", fontsize=8, color=GREY)
    for x, share, top in zip(at, recall, high, strict=True):
        ax.annotate(f"{share:.0%}", (x + 0.2, max(share, top)), ha="center", va="bottom", fontsize=8, color=GREY)
    ax.set_xticks(at, names)
    ax.set_ylim(0, 1.12)
    quiet(ax, "What each stage leaves", "", "share of those at first")
    percent_axis(ax.yaxis)
    ax.grid(False, axis="x")
    legend(ax)


def voting_frame(result: Any) -> Table:
    """The marks of each number of models, and those on held-out rows."""
    held = list(result.held_out) or [float("nan")] * len(result.marks)
    rows = [{**row, "held_out": value} for row, value in zip(result.marks, held, strict=True)]
    return Table(rows, "Selective voting")


def voting(ax: Any, result: Any) -> None:
    """Each mark against the number of models, on a scale from its worst to its best, as in Fig. 10 of the paper."""
    rows = voting_frame(result)
    x = np.array(rows.column("models"), dtype=float)
    lines = []
    for k, spec in enumerate(result.specs):
        values = np.array(rows.column(str(spec)), dtype=float)
        spread = np.nanmax(values) - np.nanmin(values) if np.isfinite(values).any() else 0.0
        if not spread > 0:
            continue
        scaled = (values - np.nanmin(values)) / spread
        scaled = scaled if spec.measure.better == "higher" else 1.0 - scaled
        ax.plot(x, scaled, label=str(spec), **line_style(k))
        lines.append((str(spec), x, scaled))
        best = int(np.nanargmax(scaled))
        ax.plot(x[best], scaled[best], "o", color=colour(k), markersize=6)
    if not lines:
        raise InputError(None, "no mark varies with the number of models, so there is nothing to draw")
    ax.axvline(result.voters, color=GREY, linewidth=1.0, linestyle=(0, (1.5, 2)))
    say_beside(ax, result.voters, 1.07, f"{result.voters} chosen", xytext=(4, 0))
    ax.set_xlim(0.9, max(2.0, float(x[-1])) + 0.1)
    quiet(ax, "Marks by number of models", "models that vote, best first", "mark, from its lowest to its highest")
    percent_axis(ax.yaxis)
    ax.set_ylim(-0.03, 1.25)
    ax.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0])
    count_axis(ax.xaxis)
    legend(ax, ncols=2)


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

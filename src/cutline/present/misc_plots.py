"""Plots that are not curves: tenths, scores, calibration, leads, intervals, stages, batches, segments, classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..class_evaluation import ClassEvaluation
from ..decide.operating import RiskCoverage
from ..errors import InputError
from ..table import count, pluralize
from .charts import colour
from .curve_plots import (
    GREY,
    LIGHT,
    at_places,
    count_axis,
    interval,
    label_lines,
    legend,
    line_style,
    name_marks,
    percent_axis,
    quiet,
    reference,
    say_beside,
    shade,
)
from .plot_data import (
    axis_end,
    batch_points,
    dominance_frame,
    extrapolation_frame,
    forest_frame,
    found_frame,
    models_of,
    reliability,
    score_histogram,
    segments_frame,
    trend_frame,
    voting_frame,
)
from .words import quota_words, rounded


def found(ax: Any, result: Any, *, quota: int | None = None) -> None:
    """A row for each model, the best first: what it finds, the interval of the average, what the next list may give."""
    rows = found_frame(result, quota=quota)
    models = models_of(result)
    order = sorted(range(len(rows)), key=lambda k: -rows[k]["found"])
    places, level = rows[0]["places"], f"{models[0].settings.level:.0%}"
    for y, k in enumerate(order):
        row, paint = rows[k], colour(k)
        if row["next_low"] == row["next_low"]:
            ax.barh(y, row["next_high"] - row["next_low"], 0.26, left=row["next_low"], color=paint, alpha=0.2)
            coming = f"next list {count(row['next_low'])} to {count(row['next_high'])}"
            ax.annotate(coming, (places, y), xytext=(6, 0), textcoords="offset points", va="center", fontsize=9.5)
        ax.plot([row["low"], row["high"]], [y, y], color=paint, linewidth=3.5, solid_capstyle="butt")
        ax.plot(row["found"], y, "o", color=paint, markersize=9)
        where = {"xytext": (0, 9), "textcoords": "offset points", "ha": "center"}
        ax.annotate(count(row["found"]), (row["found"], y), fontsize=11, fontweight="bold", color=paint, **where)
    chance = places * models[0].facts["share_positive"]
    reference(ax, [chance, chance], [-0.7, len(rows) - 0.4])
    say_beside(ax, chance, -0.62, f"chance: {rounded(chance)}", xytext=(4, -2))
    ax.set(xlim=(0, places), ylim=(len(rows) - 0.4, -0.85))
    explained = f"dot: this list · line: {level} interval of the average · pale: range to expect on the next list"
    quiet(ax, at_places(result, "", quota=places), f"positives among {pluralize(places, 'place')}\n{explained}")
    ax.set_yticks(range(len(rows)), [rows[k]["model"] for k in order], fontsize=11, fontweight="bold")
    for k, tick in zip(order, ax.get_yticklabels(), strict=True):
        tick.set_color(colour(k))
    ax.grid(False, axis="y")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    count_axis(ax.xaxis)


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
    table = score_histogram(models[0], bins)
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
    tables = [reliability(ev, bins) for ev in models]
    for k, table in enumerate(tables):
        x, y, low, high = (table.column(name) for name in ("mean_score", "share_positive", "low", "high"))
        style = line_style(k)
        ax.plot(x, y, marker="o", markersize=4.5, label=models[k].name, **{**style, "linewidth": 1.3})
        ax.vlines(x, low, high, color=style["color"], linewidth=1.1, alpha=0.7)
    top = axis_end(row[end] for table in tables for row in table for end in ("mean_score", "high"))
    reference(ax, [0, top], [0, top])
    say_beside(ax, 0.9 * top, 0.9 * top, "perfect", xytext=(4, -9))
    ax.set(xlim=(-0.02 * top, 1.02 * top), ylim=(-0.02 * top, 1.02 * top))
    quiet(ax, "Calibration: do the probabilities come true?", "predicted probability", "observed share")
    percent_axis(ax.xaxis, ax.yaxis)
    if len(models) > 1:
        legend(ax, loc="upper left")


def dominance(ax: Any, result: Any, *, by: str = "quota") -> None:
    """Who clearly leads from where to where; a sentence where nobody does."""
    rows = dominance_frame(result, by=by)
    names = [ev.name for ev in models_of(result)]
    axis, across = ("number of places", "places") if by == "quota" else ("false positive rate", "false positive rate")
    clear = [row for row in rows if row["clear"]]
    leaders = list(dict.fromkeys(str(row["leader"]) for row in clear))
    for row in clear:
        left = row["from"] - 1 if by == "quota" else row["from"]  # the first place covers the step from 0 to 1
        lane = names.index(str(row["leader"]))
        ax.barh(lane, row["to"] - left, left=left, height=0.62, color=colour(lane))
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(0, rows[-1]["to"])
    if clear:
        quiet(ax, f"Clear leaders by {axis}: {', '.join(leaders)}", across)
    else:
        quiet(ax, f"No model leads clearly at any {axis}", across)
        words = f"No model leads clearly at any {axis}:\nthe leads in this sample could be chance."
        ax.annotate(words, (0.5, 0.5), xycoords="axes fraction", ha="center", va="center", fontsize=11)
    if by == "quota":
        count_axis(ax.xaxis)
    else:
        percent_axis(ax.xaxis)
    ax.grid(False, axis="y")


def forest(ax: Any, result: Any, *, measures: Sequence[str] | None = None) -> None:
    """Estimates with their intervals, one line for each model and measure."""
    rows = forest_frame(result, measures=measures)
    names = list(dict.fromkeys(row["model"] for row in rows))
    groups = list(dict.fromkeys(row["measure"] for row in rows))
    step = 0.8 / max(1, len(names))
    for row in rows:
        k = names.index(row["model"])
        height = groups.index(row["measure"]) + (k - (len(names) - 1) / 2) * step * 0.9
        interval(ax, row, height, k)
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
    quiet(ax, f"Calibration of {found.name}", "predicted probability", "observed share")
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
    shaded = len(models) == 1 if band is None else band
    for k, ev in enumerate(models):
        made = ev.decision_curve(**options)
        value, low, high = (getattr(made, column) for column in columns)
        if shaded:
            shade(ax, made.x, low, high, colour(k), 0.12)
        ax.plot(made.x, value, label=ev.name, **line_style(k))
        lines.append((ev.name, made.x, value))
    if made is None:
        raise InputError(None, "there is no model to draw")
    return made, lines, f"\n({made.band_words})" if shaded else ""


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
    label_lines(ax, lines)


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
    label_lines(ax, lines)


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


_LABELS = 14  # names of batches below the axis


def batches(ax: Any, result: Any, *, quota: int | float | None = None) -> None:
    """Hits of each batch; for one model with places, mean, and the interval for the next batch."""
    found = batch_points(result, quota)
    (first, point), several = found[0], len(found) > 1
    x = np.arange(1, len(point.names) + 1)
    if several:
        for k, (ev, one) in enumerate(found):
            style = line_style(k)
            ax.plot(x, one.cells[:, 0], marker="o", markersize=3.5, label=ev.name, **{**style, "linewidth": 1.2})
    else:
        paint = line_style(0)["color"]
        ax.bar(x, point.cells[:, 1], 0.8, color=LIGHT, label="places")
        ax.bar(x, point.cells[:, 0], 0.8, color=paint, label="hits")
        ax.axhline(point.expected_hits.value, color="#222222", linewidth=1.1, label="mean")
        low, high = point.next_hits
        if low == low:
            words = f"next batch ({first.settings.level:.0%})"
            mean = point.expected_hits.value
            ends = [[mean - low], [high - mean]]
            ax.errorbar(len(x) + 1.5, mean, ends, fmt="o", color="#222222", capsize=4, label=words)
    step = max(1, -(-len(x) // _LABELS))
    ax.set_xticks(x[::step], [str(name) for name in point.names[::step]])
    longest = max(len(str(name)) for name in point.names[::step])
    if longest * len(x[::step]) > 60:
        ax.tick_params(axis="x", labelrotation=45)
        for label in ax.get_xticklabels():
            label.set_horizontalalignment("right")
    ax.set_xlim(0.2, len(x) + (0.8 if several else 2.4))
    highest = max(float(one.cells[:, 0 if several else 1].max()) for _, one in found)
    ax.set_ylim(0, 1.16 * max(highest, 1.0))  # room for the legend
    asked = first.quota if quota is None else quota
    share = isinstance(asked, float)
    best = f"best {quota_words(asked)} of each batch" if share or asked != 1 else "first place of each batch"
    quiet(ax, f"Hits among the {best}", f"{pluralize(len(x), 'batch', 'batches')}, in order", "hits")
    count_axis(ax.yaxis)
    ax.grid(False, axis="x")
    legend(ax, ncols=4, loc="upper left", borderaxespad=0.1)
    ax.tick_params(axis="x", colors=GREY)


def segments(ax: Any, result: Any, *, measure: str | None = None) -> None:
    """A measure by segment with its interval, one line each; the dashed line is all rows."""
    rows = segments_frame(result, measure=measure)
    every = [row for row in rows if row["segment"] is not None]
    models = list(dict.fromkeys(row["model"] for row in rows))
    first = [row for row in every if row["model"] == models[0]]
    names = [row["segment"] for row in first]
    for row in rows:
        k = models.index(row["model"])
        if row["value"] != row["value"]:
            continue
        if row["segment"] is None:
            line = GREY if len(models) == 1 else colour(k)
            ax.axvline(row["value"], color=line, linewidth=1.0, linestyle=(0, (5, 3)), zorder=1.5)
        else:
            interval(ax, row, names.index(row["segment"]) + (k - (len(models) - 1) / 2) * 0.22, k)
    ax.set_yticks(range(len(names)), [f"{row['segment']} (n = {row['rows']:,})" for row in first])
    ax.set_ylim(len(names) - 0.5, -0.5)
    quiet(ax, f"{rows[0]['measure']} by segment", "dashed: all rows")
    ax.grid(False, axis="y")
    name_marks(ax, models, loc="best")


def trend(ax: Any, result: Any) -> None:
    """A measure along ordered segments with intervals, the fitted line, and the first clear change."""
    rows = trend_frame(result)
    at = np.arange(len(rows))
    values, low, high = (np.array(rows.column(name)) for name in ("value", "low", "high"))
    ax.vlines(at, low, high, color=colour(0), linewidth=1.6)
    ax.plot(at, values, "o", color=colour(0), markersize=5.5)
    ax.plot(at, rows.column("line"), color=GREY, linewidth=1.2, linestyle=(0, (5, 3)))
    if result.found is not None:
        where = result.found.at - 0.5
        ax.axvline(where, color="#222222", linewidth=1.0)
        say_beside(ax, where, float(np.nanmax(high)), f"first clear change: {result.change}", xytext=(4, -8))
    step = max(1, -(-len(rows) // 12))
    ax.set_xticks(at[::step], [rows[int(k)]["segment"] for k in at[::step]], rotation=30 if len(rows) > 6 else 0)
    quiet(ax, f"{result.measure} along the segments", "", result.measure)


_MOST_NUMBERS = 25  # classes up to which each cell carries its number


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
        ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
        ax.set_yticks(range(len(names)), names)
    quiet(ax, f"{ev.name}: real and predicted classes", "predicted class", "real class")
    ax.grid(False)


def curve_of(result: ClassEvaluation | RiskCoverage) -> RiskCoverage:
    """The curve, of an evaluation or by itself."""
    return result.risk_coverage() if isinstance(result, ClassEvaluation) else result


def risk_coverage(ax: Any, result: ClassEvaluation | RiskCoverage) -> None:
    """Error rate among the answered against the share answered, with the interval at each coverage."""
    thin = curve_of(result).thinned()
    ax.fill_between(thin.coverage, thin.low, thin.high, alpha=0.2, linewidth=0, label=f"{thin.level:.0%} at each point")
    ax.plot(thin.coverage, thin.risk, label="error rate")
    quiet(
        ax, "Errors by coverage", "share of cases answered, the most confident first", "error rate among the answered"
    )
    percent_axis(ax.xaxis, ax.yaxis)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, max(0.05, float(thin.high[len(thin) // 10 :].max()) * 1.05))
    ax.legend(frameon=False)


def confidence(ax: Any, ev: ClassEvaluation) -> None:
    """How often the predicted class is right, by the confidence in it."""
    table = ev.calibration()
    x, y = np.array(table.column("confidence")), np.array(table.column("right"))
    low, high = np.array(table.column("low")), np.array(table.column("high"))
    ax.plot([0, 1], [0, 1], linestyle=":", color="grey", linewidth=1)
    ax.errorbar(x, y, yerr=[np.maximum(y - low, 0.0), np.maximum(high - y, 0.0)], fmt="o-", capsize=2)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    quiet(ax, "Calibration of the predicted class", "confidence in the predicted class", "share that was right")

"""Measures that are areas, heights and slopes: in the ROC plot, under precision and recall, over the list."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import cutline as cl
from cutline.catalogue.declare import Measure

from .example import BLUE, GREY, HITS, N_POS, ORANGE, PALE, PLACES, QUOTA, N, P, Y, short, value_of

TPR = np.concatenate([[0], HITS / N_POS])
FPR = np.concatenate([[0], (PLACES - HITS) / (N - N_POS)])
CUT = (float(FPR[QUOTA]), float(TPR[QUOTA]))


def _axes(figure: Figure, x: str, y: str, *, square: bool = False) -> Any:
    ax = figure.subplots()
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.grid(True, color="#ececec", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.set(xlabel=x, ylabel=y)
    if square:
        ax.set_aspect("equal")
    return ax


def _roc(figure: Figure, *, curve: bool = True) -> Any:
    ax = _axes(figure, "false positive rate", "true positive rate", square=True)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=(0, (2, 2)))
    ax.annotate("chance", (0.62, 0.62), xytext=(6, -12), textcoords="offset points", color=GREY, fontsize=10)
    if curve:
        ax.plot(FPR, TPR, color=BLUE, linewidth=2, marker="o", markersize=4)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.04))
    return ax


def _cut(ax: Any) -> None:
    ax.plot(*CUT, "o", color=ORANGE, markersize=9, zorder=3)
    ax.annotate("the cut", CUT, xytext=(10, -12), textcoords="offset points", color=ORANGE)


def above_diagonal(figure: Figure, one: Measure) -> str:
    """Height of the cut's point above the diagonal."""
    ax = _roc(figure)
    x, y = CUT
    ax.plot([x, x], [x, y], color=ORANGE, linewidth=3)
    ax.annotate(f"  {short(value_of(one))}", (x, (x + y) / 2), va="center", color=ORANGE, fontweight="bold")
    _cut(ax)
    return f"How far the point of the cut lies above the diagonal of the ROC plot: {short(value_of(one))}."


def one_corner(figure: Figure, one: Measure) -> str:
    """Area under the curve that has this one cut only."""
    ax = _roc(figure, curve=False)
    x, y = CUT
    ax.fill([0, x, 1, 1], [0, y, 1, 0], color=BLUE, alpha=0.25, linewidth=0)
    ax.plot([0, x, 1], [0, y, 1], color=BLUE, linewidth=2)
    _cut(ax)
    ax.annotate(short(value_of(one)), (0.6, 0.35), ha="center", color=BLUE, fontweight="bold", fontsize=13)
    return f"The area under a ROC curve through this single cut: {short(value_of(one))}."


def slope_to_cut(figure: Figure, one: Measure) -> str:
    """Slope from the origin to the cut."""
    return _slope(figure, one, (0.0, 0.0), CUT, "from the origin to the cut")


def slope_from_cut(figure: Figure, one: Measure) -> str:
    """Slope from the cut to the upper right corner."""
    return _slope(figure, one, CUT, (1.0, 1.0), "from the cut to the upper right corner")


def _slope(figure: Figure, one: Measure, start: tuple[float, float], end: tuple[float, float], said: str) -> str:
    ax = _roc(figure)
    ax.plot(*zip(start, end, strict=True), color=ORANGE, linewidth=3)
    _cut(ax)
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    ax.annotate(
        f"slope {short(value_of(one))}", middle, xytext=(12, -14), textcoords="offset points", color=ORANGE,
        fontweight="bold",
    )  # fmt: skip
    return f"The slope of the line {said} in the ROC plot: {short(value_of(one))}. The diagonal has slope 1."


def under_roc(figure: Figure, one: Measure) -> str:
    """Area under the ROC curve."""
    ax = _roc(figure)
    ax.fill_between(FPR, TPR, color=BLUE, alpha=0.25, linewidth=0)
    ax.annotate(short(value_of(one)), (0.6, 0.35), ha="center", color=BLUE, fontweight="bold", fontsize=13)
    return f"The area under the ROC curve of the ten cases: {short(value_of(one))}."


def roc_over_diagonal(figure: Figure, one: Measure) -> str:
    """Area between curve and diagonal, against all of it."""
    ax = _roc(figure)
    ax.fill([0, 0, 1], [0, 1, 1], color=PALE, linewidth=0)
    ax.fill_between(FPR, TPR, FPR, color=BLUE, alpha=0.45, linewidth=0)
    return f"The blue area as a share of the whole triangle above the diagonal: {short(value_of(one))}."


def under_hull(figure: Figure, one: Measure) -> str:
    """Area under the convex hull."""
    ax = _roc(figure)
    hull = cl.evaluate(Y, P, measures=["roc_auc"], interval=None).hull()
    x, y = hull.column("fpr"), hull.column("tpr")
    ax.fill_between(x, y, color=BLUE, alpha=0.2, linewidth=0)
    ax.plot(x, y, color=ORANGE, linewidth=2, linestyle=(0, (5, 2)), zorder=3)
    ax.annotate("hull", (0.4, 0.9), xytext=(-6, 5), textcoords="offset points", ha="right", color=ORANGE)
    ax.annotate(short(value_of(one)), (0.6, 0.35), ha="center", color=BLUE, fontweight="bold", fontsize=13)
    return f"The area under the convex hull (dashed) of the ROC points: {short(value_of(one))}."


def _rates(figure: Figure) -> Any:
    ax = _axes(figure, "share of the list taken", "rate")
    share = np.concatenate([[0], PLACES / N])
    ax.plot(share, TPR, color=BLUE, linewidth=2, marker="o", markersize=4)
    ax.plot(share, FPR, color=ORANGE, linewidth=2, marker="o", markersize=4, markerfacecolor="white")
    ax.annotate("TPR", (share[7], TPR[7]), xytext=(-4, 8), textcoords="offset points", color=BLUE, ha="right")
    ax.annotate("FPR", (share[5], FPR[5]), xytext=(8, -12), textcoords="offset points", color=ORANGE)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.03, 1.05))
    return ax


def widest_gap(figure: Figure, one: Measure) -> str:
    """The largest distance between the rates."""
    ax = _rates(figure)
    at = int(np.argmax(TPR - FPR))
    ax.plot([at / N] * 2, [FPR[at], TPR[at]], color="black", linewidth=2.5)
    ax.annotate(f"  {short(value_of(one))}", (at / N, (FPR[at] + TPR[at]) / 2), fontweight="bold", va="center")
    return f"Where the two rates lie farthest apart as the list is taken from its top: {short(value_of(one))}."


def mean_gap(figure: Figure, one: Measure) -> str:
    """The mean distance between the rates at the inner places."""
    ax = _rates(figure)
    for at in range(1, N):
        ax.plot([at / N] * 2, [FPR[at], TPR[at]], color="black", linewidth=1.6, alpha=0.6)
    return f"The mean length of the {N - 1} vertical lines, negative where FPR is above TPR: {short(value_of(one))}."


RECALL, PRECISION = HITS / N_POS, HITS / PLACES


def _precision_recall(figure: Figure) -> Any:
    ax = _axes(figure, "recall", "precision")
    ax.set(xlim=(-0.02, 1.02), ylim=(0, 1.05))
    return ax


def precision_steps(figure: Figure, one: Measure) -> str:
    """Rectangles of precision times the recall gained."""
    ax = _precision_recall(figure)
    before = np.concatenate([[0], RECALL[:-1]])
    for left, right, height in zip(before, RECALL, PRECISION, strict=True):
        if right > left:
            ax.fill_between([left, right], height, color=BLUE, alpha=0.25, edgecolor="white")
            ax.plot([left, right], [height, height], color=BLUE, linewidth=2)
    ax.plot(RECALL, PRECISION, "o", color=BLUE, markersize=4)
    return f"Each positive found adds a step as high as the precision there; the area is {short(value_of(one))}."


def precision_trapezoids(figure: Figure, one: Measure) -> str:
    """Trapezoids through the lowest or highest precision at each recall."""
    ax = _precision_recall(figure)
    levels = np.arange(N_POS + 1) / N_POS
    low = [0.0] + [PRECISION[r == RECALL].min() for r in levels[1:]]
    high = [0.0] + [PRECISION[r == RECALL].max() for r in levels[1:]]
    start, end = {"pr_auc_min": (low, low), "pr_auc_minmax": (low, high), "pr_auc_max": (high, high)}[one.name]
    for k in range(N_POS):
        ax.fill_between(levels[k : k + 2], [start[k], end[k + 1]], color=BLUE, alpha=0.25, linewidth=0)
        ax.plot(levels[k : k + 2], [start[k], end[k + 1]], color=BLUE, linewidth=2)
    ax.plot(RECALL, PRECISION, "o", color=ORANGE, markersize=5)
    return (
        f"Dots: precision at every cut. The line takes the precision that the name says at each recall and starts at 0 "
        f"(option zero_recall_precision); the area is {short(value_of(one))}."
    )


def _gain(figure: Figure, y: str = "positives found", top: float = N_POS) -> Any:
    ax = _axes(figure, "places", y)
    ax.plot([0, N], [0, top], color=GREY, linewidth=1, linestyle=(0, (2, 2)))
    ax.annotate("chance", (8, 8 * top / N), xytext=(4, -12), textcoords="offset points", color=GREY, fontsize=10)
    ax.set(xlim=(-0.1, N + 0.2), ylim=(0, top * 1.06), xticks=range(N + 1))
    return ax


def gain_at_cut(figure: Figure, one: Measure) -> str:
    """Hits at the cut against those of a random choice."""
    ax = _gain(figure)
    ax.plot([0, *PLACES], [0, *HITS], color=BLUE, linewidth=2, marker="o", markersize=4)
    hits, chance = float(HITS[QUOTA - 1]), QUOTA * N_POS / N
    ax.plot([QUOTA, QUOTA], [0, chance], color=GREY, linewidth=3)
    ax.plot([QUOTA, QUOTA], [chance, hits], color=ORANGE, linewidth=3)
    ax.annotate(f"  {short(hits)} found", (QUOTA, hits), va="center", xytext=(6, -8), textcoords="offset points")
    ax.annotate(f"  {short(chance)} by chance", (QUOTA, chance / 2), va="center", color=GREY)
    how = f"{short(hits)} − {short(chance)}"
    said = f"The cut takes {QUOTA} cases, {short(hits)} of them positive, where chance would find {short(chance)}"
    return f"{said}: {how} = {short(value_of(one))}."


def lift_at_cut(figure: Figure, one: Measure) -> str:
    """Hits as a multiple of those of a random choice, over the places, and at the cut."""
    ax = _axes(figure, "places", "times as many as by chance")
    ratios = HITS / (PLACES * N_POS / N)
    ax.axhline(1, color=GREY, linewidth=1, linestyle=(0, (2, 2)))
    ax.annotate("chance", (1, 1), xytext=(0, -14), textcoords="offset points", color=GREY)
    ax.plot(PLACES, ratios, color=BLUE, linewidth=2, marker="o", markersize=4)
    ax.plot([QUOTA, QUOTA], [0, ratios[QUOTA - 1]], color=ORANGE, linewidth=3)
    ax.annotate(
        f"{short(value_of(one))} at the cut", (QUOTA, 0.5), xytext=(8, 0), textcoords="offset points",
        color=ORANGE, fontweight="bold",
    )  # fmt: skip
    ax.set(xlim=(0.6, N + 0.2), ylim=(0, float(ratios.max()) * 1.08), xticks=PLACES)
    hits, chance = float(HITS[QUOTA - 1]), QUOTA * N_POS / N
    return (
        f"Positives found, relative to chance, by places taken. The cut takes {QUOTA} cases, "
        f"{short(hits)} of them positive, where chance would find {short(chance)}: {short(hits)} / {short(chance)} = "
        f"{short(value_of(one))}."
    )


def gain_over_chance(figure: Figure, one: Measure) -> str:
    """Distance of the gain curve from chance, on average."""
    ax = _gain(figure)
    ax.plot([0, *PLACES], [0, *HITS], color=BLUE, linewidth=2, marker="o", markersize=4)
    for place, hits in zip(PLACES, HITS, strict=True):
        ax.plot([place, place], [place * N_POS / N, hits], color=BLUE, linewidth=3, alpha=0.4)
    return f"The mean length of the vertical lines, over {N} places: {short(value_of(one))} positives beyond chance."


def extracted_potential(figure: Figure, one: Measure) -> str:
    """The areas S1 and S3 behind PEM."""
    ax = _gain(figure, "Qrecall", 1.0)
    x = np.array([0, *PLACES])
    chance, best, ours = x / N, np.minimum(x, N_POS) / N_POS, np.array([0, *HITS]) / N_POS
    ax.fill_between(x, chance, best, color=PALE, linewidth=0)
    ax.fill_between(x, chance, ours, color=BLUE, alpha=0.45, linewidth=0)
    ax.plot(x, best, color=GREY, linewidth=1.2, linestyle=(0, (5, 3)))
    ax.plot(x, ours, color=BLUE, linewidth=2, marker="o", markersize=4)
    ax.annotate("perfect list", (N_POS, 1), xytext=(6, -11), textcoords="offset points", color=GREY, fontsize=10)
    return f"The blue area above chance, as a share of all the area up to a perfect list: {short(value_of(one))}."

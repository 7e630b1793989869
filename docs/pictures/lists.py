"""Measures that walk down the list: its places, what is found up to each, and what a place is worth."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from cutline.catalogue.declare import Measure

from .example import BLUE, GREY, HITS, N_POS, ORANGE, PALE, PLACES, QUOTA, N, P, Y, options_of, short, value_of


def _quiet(ax: Any, x: str, y: str) -> None:
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set(xlabel=x, ylabel=y)


def boxed(figure: Figure, one: Measure) -> str:
    """The list as dots, the quota boxed, the hits filled."""
    figure.set_size_inches(5.0, 2.2)
    ax = figure.subplots()
    ax.add_patch(
        FancyBboxPatch((0.55, -0.42), QUOTA - 0.1, 0.84, boxstyle="round,pad=0.05", facecolor="#f0f6fc", edgecolor=BLUE)
    )
    ax.plot(PLACES[Y == 1], np.zeros(N_POS), "o", color=BLUE, markersize=17, markerfacecolor="white", markeredgewidth=2)
    ax.plot(PLACES[Y == 0], np.zeros(N - N_POS), "o", color=GREY, markersize=17, markerfacecolor="white")
    taken = (Y == 1) & (PLACES <= QUOTA)
    ax.plot(PLACES[taken], np.zeros(taken.sum()), "o", color=BLUE, markersize=17)
    for place, label, score in zip(PLACES, Y, P, strict=True):
        inside = label == 1 and place <= QUOTA
        ax.text(place, -0.01, "+" if label else "−", ha="center", va="center", color="white" if inside else GREY)
        ax.text(place, -0.68, f"{score:g}", ha="center", va="center", fontsize=10, color=GREY)
    ax.text(0.5, 0.62, f"the best {QUOTA}", color=BLUE, ha="left")
    ax.text(0.5, -0.95, "score", color=GREY, fontsize=10)
    hits = int(HITS[QUOTA - 1])
    how = {
        "hit_rate": f"{hits} hits / {QUOTA} places",
        "qrecall": f"{hits} hits / {N_POS} positives in the list",
        "quota_lift": f"({hits} / {QUOTA}) / ({N_POS} / {N})",
    }[one.name]
    ax.text(N / 2 + 0.5, 1.1, f"{how} = {short(value_of(one))}", ha="center", fontsize=12)
    ax.set(xlim=(0.3, N + 0.7), ylim=(-1.1, 1.35))
    ax.set_axis_off()
    return f"The list, best first, with {QUOTA} places; a plus is a positive, and the filled ones are found: {how}."


def scores_and_outcomes(figure: Figure, one: Measure) -> str:
    """Score and outcome within the quota, with the line through them."""
    ax = figure.subplots()
    score, outcome = P[:QUOTA], Y[:QUOTA]
    ax.plot(P[QUOTA:], Y[QUOTA:], "o", color=PALE, markersize=9)
    ax.plot(score, outcome, "o", color=BLUE, markersize=10)
    slope, start = np.polyfit(score, outcome, 1)
    ends = np.array([score.min(), score.max()])
    ax.plot(ends, start + slope * ends, color=ORANGE, linewidth=2)
    _quiet(ax, "score", "outcome")
    ax.set(yticks=[0, 1], ylim=(-0.25, 1.25), xlim=(0, 1))
    return (
        f"Score and outcome of the best {QUOTA} (blue; the rest of the list is pale) and the line of best fit. Their "
        f"correlation is {short(value_of(one))}: within these {QUOTA}, higher scores do not say much."
    )


def mean_of_bars(figure: Figure, one: Measure) -> str:
    """A rate at every place, and the mean of those that count."""
    ax = figure.subplots()
    bars, counted, what, where = {
        "average_lift": (HITS / PLACES / (N_POS / N), PLACES > 0, "lift", "all places"),
        "average_hit_rate": (HITS / PLACES, Y == 1, "hit rate", "the places of the positives"),
        "average_qrecall": (HITS / N_POS, PLACES >= N_POS, "Qrecall", f"the places {N_POS} to {N}"),
    }[one.name]
    ax.bar(PLACES, bars, color=[BLUE if c else PALE for c in counted], width=0.7)
    mean = value_of(one)
    ax.axhline(mean, color=ORANGE, linewidth=2)
    free, side = (0.5, "left") if bars[0] < mean else (N + 0.7, "right")
    ax.annotate(f"mean {short(mean)}", (free, mean), color=ORANGE, va="bottom", ha=side, fontweight="bold")
    for place, label in zip(PLACES, Y, strict=True):
        ax.text(place, -0.055 * max(bars), "+" if label else "−", ha="center", va="center", color=GREY)
    _quiet(ax, "places taken (+ and −: the case at that place)", what)
    ax.set(xticks=PLACES, xlim=(0.4, N + 0.8), ylim=(-0.1 * max(bars), 1.12 * max(bars)))
    return f"The {what} at every place; the blue bars, {where}, are averaged: {short(mean)}."


def worth_of_places(figure: Figure, one: Measure) -> str:
    """What each place is worth; the positives' places add up."""
    ax = figure.subplots()
    worst_first = np.arange(1, N + 1)
    worth = {
        "linear_ranking": worst_first,
        "quadratic_ranking": worst_first**2,
        "misclassification_ranking": (worst_first > N - N_POS).astype(float),
        "ranking_score": np.log(worst_first),
    }[one.name]
    ax.bar(worst_first, worth, color=[BLUE if label else PALE for label in Y[::-1]], width=0.7)
    for place, label in zip(worst_first, Y[::-1], strict=True):
        ax.text(place, -0.055 * max(worth), "+" if label else "−", ha="center", va="center", color=GREY)
    _quiet(ax, "place, the worst is 1 (+ and −: the case there)", "worth of the place")
    ax.set(xticks=worst_first, ylim=(-0.1 * max(worth), 1.08 * max(worth)))
    which = " (here g = log)" if "g" in one.params else ""
    return (
        f"What each place is worth{which}; the sum of the blue bars, the positives' places, is {short(value_of(one))}."
    )


def climbing(figure: Figure, one: Measure) -> str:
    """For any measure of a list: its value as one positive climbs from the last place to the first."""
    ax = figure.subplots()
    others = np.delete(Y, int(np.flatnonzero(Y)[-1]))
    values = [value_of(one, np.insert(others, k, 1), P, **options_of(one)) for k in range(N)]
    ax.plot(PLACES[::-1], values[::-1], color=BLUE, linewidth=2, marker="o")
    ax.invert_xaxis()
    _quiet(ax, "place of one positive, the others staying in order", one.title)
    return "Its value as one positive climbs from the last place of the ten to the first."

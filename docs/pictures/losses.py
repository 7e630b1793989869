"""Measures of probabilities: what a stated probability costs when the case turns out positive, and when negative."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from cutline.catalogue.declare import Measure

from .example import BLUE, GREY, ORANGE, P, Y, said_options, short, value_of


def by_probability(figure: Figure, one: Measure) -> str:
    """The measure of a single case, over all scores that it could have been given."""
    ax = figure.subplots()
    if one.scores == "probability":
        grid, given, axis = np.linspace(0.004, 0.996, 125), P, "stated probability of a positive"
    else:
        grid, given, axis = np.linspace(-2, 2, 125), 4 * (P - 0.5), "score, a signed distance"
    needed = {one.one_class_needs: 0.5} if one.one_class_needs else {}
    for label, paint, said in ((1, BLUE, "positive"), (0, ORANGE, "negative")):
        curve = [value_of(one, [label], [x], **needed) for x in grid]
        cases = given[label == Y]
        ax.plot(grid, curve, color=paint, linewidth=2, label=f"the case is {said}")
        ax.plot(
            cases, [value_of(one, [label], [x], **needed) for x in cases], "o", color=paint,
            markerfacecolor=paint if label else "white",
        )  # fmt: skip
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.grid(True, color="#ececec", linewidth=0.8)
    better = "loss" if one.better == "lower" else "reward"
    ax.set(xlabel=axis, ylabel=f"{better} of one case")
    ax.legend(frameon=False, fontsize=10)
    own = f", with {one.one_class_needs} taken from the ten" if needed else ""
    scale = "" if one.scores == "probability" else " (their scores as distances, 4·(p − 0.5))"
    by = "predicted probability" if one.scores == "probability" else "score"
    return (
        f"The {better} of one case{said_options(one, **needed)}, by {by}; the dots are the ten "
        f"cases{scale}. Over all ten it is {short(value_of(one, Y, given))}{own}."
    )


def distances(figure: Figure, one: Measure) -> str:
    """Distance of every case from its outcome, with the two means."""
    ax = figure.subplots()
    gaps = np.abs(Y - P)
    ax.bar(np.arange(1, len(Y) + 1), gaps, width=0.7, color=[BLUE if label else "#f3c9ae" for label in Y])
    for height, said, paint, where in (
        (value_of(one), f"root of the mean square {short(value_of(one))}", ORANGE, "bottom"),
        (float(gaps.mean()), f"plain mean {short(float(gaps.mean()))}", GREY, "top"),
    ):
        ax.axhline(height, color=paint, linewidth=2)
        ax.text(
            0.4,
            height,
            said,
            color=paint,
            va=where,
            fontsize=10,
            bbox={"facecolor": "white", "alpha": 0.8, "pad": 1, "linewidth": 0},
        )
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set(
        xlabel="case, best score first (blue: positives)",
        ylabel="|outcome − probability|",
        xticks=range(1, 11),
        xlim=(0.3, 10.6),
    )
    return "How far each of the ten probabilities is from its outcome; squares weigh the large distances more."

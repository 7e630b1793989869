"""Measures of other shapes: several classes, ordered classes, embeddings. Each with a small example of its own."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import cutline as cl
from cutline.catalogue.declare import Measure

from .example import BLUE, GREY, ORANGE, short


def mean_over_classes(figure: Figure, one: Measure) -> str:
    """Average precision class by class."""
    labels = list("aabbbccabc")
    rng = np.random.default_rng(5)
    scores = rng.random((10, 3)) + 0.25 * (np.array(labels)[:, None] == np.array(list("abc")))
    scores /= scores.sum(axis=1, keepdims=True)
    each = [cl.average_precision([v == name for v in labels], scores[:, k]) for k, name in enumerate("abc")]
    mean = cl.mean_average_precision(labels, scores, classes=list("abc"))
    ax = figure.subplots()
    ax.bar(["class a", "class b", "class c"], each, color=BLUE, width=0.5)
    ax.axhline(mean, color=ORANGE, linewidth=2)
    ax.annotate(f"mean {short(mean)}", (0.5, mean), color=ORANGE, va="bottom", ha="center", fontweight="bold")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set(ylabel="average precision", ylim=(0, 1.05))
    return f"Ten simulated cases of three classes: the average precision of each class, and their mean, {short(mean)}."


def _made() -> tuple[list[str], np.ndarray]:
    """Thirty simulated cases of three classes, with rows of probabilities."""
    rng = np.random.default_rng(3)
    labels = [str(c) for c in rng.choice(list("abc"), 30)]
    scores = rng.random((30, 3)) + 0.5 * (np.array(labels)[:, None] == np.array(list("abc")))
    return labels, scores / scores.sum(axis=1, keepdims=True)


def pairs_of_classes(figure: Figure, one: Measure) -> str:
    """The area of each ordered pair of classes."""
    labels, scores = _made()
    real = np.array(labels)
    ax = figure.subplots()
    areas = np.full((3, 3), np.nan)
    for a, first in enumerate("abc"):
        for b, second in enumerate("abc"):
            if a != b:
                of_pair = np.isin(real, [first, second])
                areas[a, b] = cl.roc_auc(real[of_pair] == first, scores[of_pair, a])
                ax.text(b, a, short(areas[a, b]), ha="center", va="center")
    ax.imshow(areas, cmap="Blues", vmin=0.4, vmax=1.2)
    ax.set(xticks=range(3), yticks=range(3), xlabel="against class", ylabel="score of class")
    ax.set_xticklabels(list("abc"))
    ax.set_yticklabels(list("abc"))
    mean = cl.hand_till_auc(labels, scores, classes=list("abc"))
    return f"Thirty simulated cases of three classes: the area of each pair of classes; their mean is {short(mean)}."


def places_of_the_real_class(figure: Figure, one: Measure) -> str:
    """Share of cases whose real class is among the first t."""
    labels, scores = _made()
    shares = [cl.top_t_accuracy(labels, scores, t=t, classes=list("abc")) for t in (1, 2, 3)]
    ax = figure.subplots()
    ax.bar(["t = 1", "t = 2", "t = 3"], shares, color=[GREY, BLUE, GREY], width=0.5)
    for at, share in enumerate(shares):
        ax.text(at, share, short(share), ha="center", va="bottom")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set(ylabel="real class among the first t", ylim=(0, 1.1))
    return f"Thirty cases of three classes: the real class is among the two highest for {short(shares[1])} of them."


def errors_by_coverage(figure: Figure, one: Measure) -> str:
    """Error rate among the most confident cases."""
    labels, scores = _made()
    curve = cl.evaluate(labels, scores, classes=list("abc"), interval=None).risk_coverage()
    ax = figure.subplots()
    ax.fill_between(curve.coverage, curve.risk, step="pre", color=BLUE, alpha=0.25, linewidth=0)
    ax.step(curve.coverage, curve.risk, where="pre", color=BLUE, linewidth=2)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set(xlabel="share of cases answered, the most confident first", ylabel="error rate", xlim=(0, 1), ylim=(0, 1))
    area = cl.risk_coverage_area(labels, scores, classes=list("abc"))
    return f"Thirty cases of three classes: the shaded area, {short(area)}, is the mean error over all coverages."


def cumulative_gaps(figure: Figure, one: Measure) -> str:
    """Predicted and observed cumulative shares of one case."""
    classes, chances, happened = ["win", "draw", "lose"], [0.5, 0.3, 0.2], "draw"
    ax = figure.subplots()
    predicted = np.cumsum(chances)
    observed = (np.arange(3) >= classes.index(happened)).astype(float)
    edges = np.arange(4) - 0.5
    ax.stairs(observed, edges, baseline=None, color=GREY, linewidth=2, label=f"observed: {happened}")
    ax.stairs(predicted, edges, baseline=None, color=BLUE, linewidth=2, label="predicted")
    for k in range(2):
        ax.plot([k, k], sorted((predicted[k], observed[k])), color=ORANGE, linewidth=4)
    value = cl.ranked_probability_score([happened], [chances], classes=classes)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set(xticks=range(3), ylabel="share up to this class", ylim=(0, 1.08))
    ax.set_xticklabels([f"{c} ({p:.0%})" for c, p in zip(classes, chances, strict=True)])
    ax.legend(frameon=False, fontsize=10, loc="lower right")
    return f"One match that ended in a draw: the mean of the squared orange gaps is {short(value)}."


def triplet(figure: Figure, one: Measure) -> str:
    """Anchor, positive and negative on the unit circle."""
    ax = figure.subplots()
    angles = {"anchor": 1.2, "positive": 0.75, "negative": 1.85}
    points = {name: np.array([np.cos(a), np.sin(a)]) for name, a in angles.items()}
    around = np.linspace(0.2, 2.5, 100)
    ax.plot(np.cos(around), np.sin(around), color="#dddddd", linewidth=1.5)
    for name, paint in (("positive", BLUE), ("negative", ORANGE)):
        ends = np.array([points["anchor"], points[name]])
        ax.plot(*ends.T, color=paint, linewidth=2)
        squared = float(((ends[0] - ends[1]) ** 2).sum())
        ax.annotate(
            f"{short(squared)}",
            ends.mean(axis=0),
            xytext=(-8, -14),
            textcoords="offset points",
            color=paint,
            ha="center",
        )
    for name, paint in (("anchor", "black"), ("positive", BLUE), ("negative", ORANGE)):
        ax.plot(*points[name], "o", color=paint, markersize=10)
        ax.annotate(name, points[name], xytext=(8, 8), textcoords="offset points", color=paint)
    margin = 0.5
    value = cl.triplet_loss(*([points[name]] for name in angles), margin=margin)
    ax.set(aspect="equal", xlim=(-0.75, 1.1), ylim=(0.45, 1.2))
    ax.set_axis_off()
    return (
        f"Squared distances of one triplet on the unit circle; with a margin of {margin:g} its loss is {short(value)}."
    )

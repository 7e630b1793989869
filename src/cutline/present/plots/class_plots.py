"""Pictures of several classes (matplotlib): confusion matrix, risk and coverage, calibration of the top class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError, show
from .style import new_axes, percent_axis, quiet

if TYPE_CHECKING:
    from ...class_evaluation import ClassEvaluation
    from ...decide.abstention import RiskCoverage

KINDS = ("confusion", "risk_coverage", "calibration")
_MOST_NUMBERS = 25  # classes up to which each cell carries its number


def class_plot(ev: ClassEvaluation, kind: str, ax: Any = None) -> Any:
    """Draw one of the pictures."""
    if kind == "confusion":
        return confusion_plot(ev, ax)
    if kind == "risk_coverage":
        return risk_coverage_plot(ev.risk_coverage(), ax)
    if kind == "calibration":
        return calibration_plot(ev, ax)
    raise InputError("kind", f"is {show(kind)}", f"choose one of {', '.join(KINDS)}")


def write_class_picture(ev: ClassEvaluation, path: Any) -> None:
    """Draw the pictures that the evaluation allows into a file."""
    from matplotlib.figure import Figure

    from ...files import write_whole
    from . import picture_format

    kinds = ["confusion"]
    if ev.sample.matrix is not None:
        kinds += ["risk_coverage", *(["calibration"] if ev.sample.are_probabilities else [])]
    figure = Figure(figsize=(5.6 * len(kinds), 4.8), layout="constrained")
    for k, kind in enumerate(kinds, 1):
        class_plot(ev, kind, figure.add_subplot(1, len(kinds), k))
    with write_whole(path) as beside:
        figure.savefig(beside, dpi=150, format=picture_format(path))


def confusion_plot(ev: ClassEvaluation, ax: Any = None) -> Any:
    """Heat map of the confusion matrix: shares of each real class, with the cases in the cells."""
    ax = new_axes() if ax is None else ax
    confusion = ev.confusion
    shares = np.nan_to_num(confusion.shares)
    ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
    names = [str(label) for label in confusion.labels]
    if len(names) <= _MOST_NUMBERS:
        for a in range(len(names)):
            for b in range(len(names)):
                shade = "white" if shares[a, b] > 0.55 else "black"
                ax.text(b, a, f"{confusion.counts[a, b]:g}", ha="center", va="center", color=shade, fontsize=8)
        ax.set_xticks(range(len(names)), names, rotation=45, ha="right")
        ax.set_yticks(range(len(names)), names)
    quiet(ax, f"{ev.name}: real and predicted classes", "predicted class", "real class")
    ax.grid(False)
    return ax


def risk_coverage_plot(curve: RiskCoverage, ax: Any = None) -> Any:
    """Error rate among the answered against the share answered, with the interval at each coverage."""
    ax = new_axes() if ax is None else ax
    thin = curve.thinned()
    ax.fill_between(thin.coverage, thin.low, thin.high, alpha=0.2, linewidth=0, label=f"{thin.level:.0%} at each point")
    ax.plot(thin.coverage, thin.risk, label="error rate")
    quiet(
        ax, "Errors by coverage", "share of cases answered, the most confident first", "error rate among the answered"
    )
    percent_axis(ax.xaxis, ax.yaxis)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, max(0.05, float(thin.high[len(thin) // 10 :].max()) * 1.05))
    ax.legend(frameon=False)
    return ax


def calibration_plot(ev: ClassEvaluation, ax: Any = None) -> Any:
    """How often the predicted class is right, by the confidence in it."""
    ax = new_axes() if ax is None else ax
    table = ev.calibration()
    x, y = np.array(table.column("confidence")), np.array(table.column("right"))
    low, high = np.array(table.column("low")), np.array(table.column("high"))
    ax.plot([0, 1], [0, 1], linestyle=":", color="grey", linewidth=1)
    ax.errorbar(x, y, yerr=[np.maximum(y - low, 0.0), np.maximum(high - y, 0.0)], fmt="o-", capsize=2)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    quiet(ax, "Calibration of the predicted class", "confidence in the predicted class", "share that was right")
    return ax

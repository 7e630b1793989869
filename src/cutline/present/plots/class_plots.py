"""Pictures of several classes (matplotlib): confusion matrix, risk and coverage, calibration of the top class."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...class_evaluation import ClassEvaluation
from ...decide.abstention import RiskCoverage
from .style import percent_axis, quiet

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


def calibration(ax: Any, ev: ClassEvaluation) -> None:
    """How often the predicted class is right, by the confidence in it."""
    table = ev.calibration()
    x, y = np.array(table.column("confidence")), np.array(table.column("right"))
    low, high = np.array(table.column("low")), np.array(table.column("high"))
    ax.plot([0, 1], [0, 1], linestyle=":", color="grey", linewidth=1)
    ax.errorbar(x, y, yerr=[np.maximum(y - low, 0.0), np.maximum(high - y, 0.0)], fmt="o-", capsize=2)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    quiet(ax, "Calibration of the predicted class", "confidence in the predicted class", "share that was right")

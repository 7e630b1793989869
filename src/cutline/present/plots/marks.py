"""What plots draw: lines and marks in the colours of their models, intervals, bands, and names beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..palette import colour, dash
from .style import GREY

MARKS = "osD^v<>p"  # of models, where points stand beside each other


def line_style(index: int) -> dict[str, Any]:
    """Colour and dashes of a model."""
    dashes = dash(index)
    return {
        "color": colour(index),
        "linewidth": 1.8,
        "linestyle": (0, tuple(d * 0.6 for d in dashes)) if dashes else "-",
        "solid_capstyle": "round",
    }


def reference(ax: Any, x: Any, y: Any, *, dashed: bool = False) -> None:
    """A grey line that the eye compares with."""
    ax.plot(x, y, color=GREY, linewidth=1.0, linestyle=(0, (5, 3)) if dashed else (0, (1.5, 2)), zorder=1.5)


def shade(ax: Any, x: Any, low: Any, high: Any, paint: str, alpha: float, **options: Any) -> None:
    """The area between two lines."""
    ax.fill_between(x, low, high, color=paint, alpha=alpha, linewidth=0, **options)


def say_beside(ax: Any, x: float, y: float, text: str, **options: Any) -> None:
    """A small grey remark."""
    ax.annotate(text, (x, y), color=GREY, fontsize=8.5, **{"textcoords": "offset points", "xytext": (4, 3), **options})


def interval(ax: Any, row: Any, height: float, k: int) -> None:
    """A value with its interval, in the colour and with the mark of model ``k``."""
    if np.isfinite(row["low"]) and np.isfinite(row["high"]):
        ax.plot([row["low"], row["high"]], [height, height], color=colour(k), linewidth=1.7, solid_capstyle="butt")
    ax.plot(row["value"], height, MARKS[k % 8], color=colour(k), markersize=5.5)


def legend(ax: Any, **options: Any) -> Any:
    """A small legend without a frame."""
    return ax.legend(fontsize=8.5, frameon=False, **{"loc": "upper right", **options})


def name_marks(ax: Any, names: Sequence[str], **options: Any) -> None:
    """Name the marks of several models; one needs no name."""
    if len(names) > 1:
        for k, name in enumerate(names):
            ax.plot([], [], MARKS[k % 8], color=colour(k), label=name, linestyle="-")
        legend(ax, **options)


def label_lines(ax: Any, lines: Sequence[tuple[str, Any, Any]], *, corner: str = "lower right") -> None:
    """Name the lines in a free corner, in the order in which they lie there; a single line needs no name."""
    if len(lines) < 2:
        return
    from matplotlib.lines import Line2D

    low, high = ax.get_xlim()
    shares = np.linspace(*((0.12, 0.6) if corner.endswith("right") else (0.3, 0.9)), 60)
    grid = low * (high / low) ** shares if ax.get_xscale() == "log" else low + shares * (high - low)
    heights = np.array([np.interp(grid, *_rising(x, y)) for _, x, y in lines])
    apart = int(np.argmax(np.diff(np.sort(heights, axis=0), axis=0).min(axis=0)))  # where they are told apart best
    order = np.argsort(-heights[:, apart])
    names = [name if len(name) <= 32 else name[:31] + "…" for name, *_ in lines]
    legend = ax.legend(
        [Line2D([], [], **line_style(int(k))) for k in order],
        [names[k] for k in order],
        loc=corner,
        fontsize=9.5,
        frameon=False,
        labelcolor=[colour(int(k)) for k in order],
        handlelength=2.6,
    )
    for words in legend.get_texts():
        words.set_fontweight("bold")


def _rising(x: Any, y: Any) -> tuple[Any, Any]:
    """Points in the order of x, as interpolation needs them."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    defined = np.isfinite(x) & np.isfinite(y)
    x, y = x[defined], y[defined]
    order = np.argsort(x, kind="stable")
    return x[order], y[order]

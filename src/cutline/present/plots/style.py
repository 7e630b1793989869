"""How every plot looks: quiet axes, model colours and line styles, labels beside the lines they name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import how_to_install
from ..palette import colour, dash

GREY = "#6e6e6e"
LIGHT = "#d9d9d9"


def new_axes() -> Any:
    """Axes in a figure of their own."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(f"plots need matplotlib: {how_to_install('plot')}") from None
    return plt.subplots(figsize=(6.4, 4.6), layout="constrained")[1]


def quiet(ax: Any, title: str = "", x: str = "", y: str = "") -> None:
    """Axes without a box, a light grid behind the data."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(GREY)
    ax.tick_params(colors="#333333", labelsize=9)
    ax.grid(True, color="#ececec", linewidth=0.8)
    ax.set_axisbelow(True)
    if title:
        ax.set_title(title, loc="left", fontsize=11, fontweight="bold")
    if x:
        ax.set_xlabel(x, fontsize=9.5)
    if y:
        ax.set_ylabel(y, fontsize=9.5)


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


def say_beside(ax: Any, x: float, y: float, text: str, **options: Any) -> None:
    """A small grey remark."""
    ax.annotate(text, (x, y), color=GREY, fontsize=8.5, **{"textcoords": "offset points", "xytext": (4, 3), **options})


def label_lines(ax: Any, lines: Sequence[tuple[str, Any, Any]], *, corner: str = "lower right") -> None:
    """Name each line where there is room, with a thin leader to it; a single line needs no name.

    The names stand in a free ``corner``, in the order of the lines there; leaders start where the lines lie farthest
    apart, so that they can be told from each other.
    """
    if len(lines) < 2:
        return
    low, high = ax.get_xlim()
    logarithmic = ax.get_xscale() == "log"
    ends = (0.12, 0.6) if corner.endswith("right") else (0.3, 0.9)
    shares = np.linspace(*ends, 60)
    grid = low * (high / low) ** shares if logarithmic else low + shares * (high - low)
    heights = np.array([np.interp(grid, *_rising(x, y)) for _, x, y in lines])
    bottom, top = ax.get_ylim()
    spread = np.sort(heights, axis=0)
    gaps = np.diff(spread, axis=0).min(axis=0) / (top - bottom)
    place = int(np.argmax(gaps))
    order = np.argsort(-heights[:, place])
    step = 0.068
    first = 0.06 + step * (len(lines) - 1) if corner.startswith("lower") else 0.93
    across = min(0.66, 1.0 - 0.017 * max(len(name) for name, *_ in lines)) if corner.endswith("right") else 0.3
    for rank, index in enumerate(order):
        name = lines[index][0]
        ax.annotate(
            name if len(name) <= 32 else name[:31] + "…",
            (grid[place], heights[index, place]),
            xycoords="data",
            xytext=(across, first - rank * step),
            textcoords="axes fraction",
            color=colour(int(index)),
            fontsize=9.5,
            fontweight="bold",
            va="center",
            arrowprops={
                "arrowstyle": "-",
                "color": colour(int(index)),
                "linewidth": 0.7,
                "alpha": 0.75,
                "shrinkB": 1.5,
                "relpos": (0.0, 0.5),
            },
            bbox={"boxstyle": "square,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
            annotation_clip=False,
        )


def _rising(x: Any, y: Any) -> tuple[Any, Any]:
    """Points in the order of x, as interpolation needs them."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    defined = np.isfinite(x) & np.isfinite(y)
    x, y = x[defined], y[defined]
    order = np.argsort(x, kind="stable")
    return x[order], y[order]


def percent_axis(axis: Any) -> None:
    """Shares as per cent."""
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1.0))


def count_axis(axis: Any) -> None:
    """Whole numbers with thousands apart."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(6))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if v == int(v) else f"{v:,.1f}"))

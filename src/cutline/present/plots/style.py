"""How the axes of every plot look: no box, a light grid, shares as per cent."""

from __future__ import annotations

from typing import Any

from ...errors import how_to_install

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


def percent_axis(*axes: Any) -> None:
    """Shares as per cent."""
    from matplotlib.ticker import PercentFormatter

    for axis in axes:
        axis.set_major_formatter(PercentFormatter(1.0, decimals=None))


def count_axis(axis: Any) -> None:
    """Whole numbers with thousands apart."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(6, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if v == int(v) else f"{v:,.1f}"))

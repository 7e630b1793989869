"""Accuracy against the number of classes: seen, extrapolated with its band, and every method as a thin line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .result import Extrapolation

_POINTS = 60


def draw(ex: Extrapolation, ax: Axes | None, until: int | None) -> Axes:
    """Draws on ``ax`` or a new figure, up to the largest number asked for (ten times what was seen if none was)."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(7.0, 4.5), layout="constrained")
    last = until if until is not None else max([*ex.k, 0]) if ex.k and max(ex.k) > ex.n_classes else 10 * ex.n_classes
    k = np.unique(np.append(np.round(np.geomspace(2.0, max(last, 3), _POINTS)), ex.n_classes))
    curve = ex.curve(k)
    for number, (name, fit) in enumerate(ex.fits.items()):
        used = name in ex.weights
        ax.plot(
            k,
            np.clip(fit.accuracy(k), 0.0, 1.0),
            color="0.6" if used else "0.85",
            linewidth=0.8,
            zorder=1,
            label="methods" if used and number == list(ex.fits).index(next(iter(ex.weights))) else None,
        )
    beyond = k >= ex.n_classes
    if np.isfinite(curve["low"]).any():
        ax.fill_between(
            k, curve["low"], curve["high"], where=beyond.tolist(), color="C0", alpha=0.2, linewidth=0.0, zorder=2,
            label=f"{ex.level:.0%} interval",
        )  # fmt: skip
    ax.plot(k[beyond], curve["accuracy"][beyond], color="C0", linewidth=2.0, zorder=3, label="extrapolated")
    style = "-" if ex.observed.k.size > 8 else "o-"
    ax.plot(ex.observed.k, ex.observed.accuracy, style, color="black", linewidth=2.0, zorder=4, label="observed")
    ax.axvline(ex.n_classes, color="0.4", linewidth=0.8, linestyle=":", zorder=0)
    ax.annotate(
        f"{ex.n_classes:,} seen", (ex.n_classes, 0.02), xycoords=("data", "axes fraction"),
        xytext=(3, 0), textcoords="offset points", fontsize="small", color="0.3",
    )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlim(2.0, float(k[-1]))
    ax.set_ylim(0.0, 1.02)
    ax.set_xlabel("number of classes")
    ax.set_ylabel("accuracy")
    ax.legend(frameon=False, loc="lower left" if curve["accuracy"][-1] > 0.5 else "upper right")
    return ax

"""Measures at a threshold: the cases on the scale of the score, and the four cells that the cut makes of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cutline.catalogue.declare import Measure
from cutline.sweep import Counts

from .example import BLUE, GREY, ORANGE, THRESHOLD, P, Y, options_of, said_options, short, value_of

PLACE = {"TP": (0, 1), "FN": (1, 1), "FP": (0, 0), "TN": (1, 0)}  # column, row
NOT_COUNTED = "not\ncounted"


def counts() -> dict[str, int]:
    """The four cells at the threshold."""
    above = P > THRESHOLD
    return {
        "TP": int((above & (Y == 1)).sum()),
        "FN": int((~above & (Y == 1)).sum()),
        "FP": int((above & (Y == 0)).sum()),
        "TN": int((~above & (Y == 0)).sum()),
    }


def of_formula(figure: Figure, one: Measure) -> str:
    """The cells above and below the fraction line; where the formula is no plain fraction, what one more case does."""
    parts = re.fullmatch(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", one.latex)
    above, below = (re.findall("TP|FN|FP|TN", part) for part in parts.groups()) if parts else ([], [])
    if above and below:
        return _fraction(figure, one, set(above), set(below))
    return _one_more(figure, one)


def _fraction(figure: Figure, one: Measure, above: set[str], below: set[str]) -> str:
    table = _frame(figure)
    faces = {cell: BLUE if cell in above else "#bcd9f0" if cell in below else "white" for cell in PLACE}
    inks = {cell: "white" if cell in above else "black" for cell in PLACE}
    _draw_cells(table, faces, inks, {cell: "" if cell in below else NOT_COUNTED for cell in PLACE})
    both, only = ", ".join(c for c in PLACE if c in above), ", ".join(c for c in PLACE if c in below - above)
    return (
        f"Ten cases cut at {THRESHOLD:g}. Dark: above the fraction line ({both}); light: below it only "
        f"({only or 'none'}). Here it is {short(value_of(one))}{said_options(one)}."
    )


def _one_more(figure: Figure, one: Measure) -> str:
    table = _frame(figure)
    options = options_of(one)

    def value(cells: Mapping[str, int]) -> float:
        return float(one.compute(Counts(*(float(cells[c]) for c in ("TP", "FP", "FN", "TN"))), **options))

    now = counts()
    effects = {cell: value({**now, cell: now[cell] + 1}) - value(now) for cell in PLACE}
    sign = 1 if one.better == "higher" else -1
    faces = {cell: _tint(sign * effect) for cell, effect in effects.items()}
    words = {
        cell: f"one more:\n{effect:+.2g}".replace("-", "−").replace("+0", "0", effect == 0)
        for cell, effect in effects.items()
    }
    _draw_cells(table, faces, dict.fromkeys(PLACE, "black"), words)
    return (
        f"Ten cases cut at {THRESHOLD:g}; here it is {short(value_of(one))}{said_options(one)}. In each cell: what one "
        "more case there would change. Green makes the model look better, orange worse."
    )


def _tint(gain: float) -> str:
    return "#cfeee3" if gain > 1e-12 else "#fbdcc8" if gain < -1e-12 else "white"


def _frame(figure: Figure) -> Any:
    strip, table = figure.subplots(1, 2, width_ratios=(1.1, 1))
    _draw_strip(strip)
    return table


def _draw_strip(ax: Any) -> None:
    ax.axvspan(THRESHOLD, 1.03, color="#f3f3f3", zorder=0)
    ax.axvline(THRESHOLD, color=GREY, linewidth=1.4)
    for label, height, paint in ((1, 1.0, BLUE), (0, 0.0, ORANGE)):
        ours = P[label == Y]
        ax.plot(
            ours, [height] * len(ours), "o", color=paint, markersize=10, markerfacecolor=paint if label else "white"
        )
    ax.annotate("predicted\npositive", ((THRESHOLD + 1.03) / 2, 1.45), ha="center", fontsize=10, color=GREY)
    ax.annotate("predicted\nnegative", (THRESHOLD / 2, 1.45), ha="center", fontsize=10, color=GREY)
    ax.set(xlim=(0, 1.03), ylim=(-0.7, 1.9), yticks=[0, 1], xlabel="score")
    ax.set_yticklabels(["negatives", "positives"])
    ax.tick_params(left=False)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def _draw_cells(ax: Any, faces: Mapping[str, str], inks: Mapping[str, str], words: Mapping[str, str]) -> None:
    now = counts()
    for cell, (column, row) in PLACE.items():
        ax.add_patch(Rectangle((column, row), 1, 1, facecolor=faces[cell], edgecolor=GREY))
        ax.text(
            column + 0.5, row + 0.63, f"{cell} = {now[cell]}", ha="center", va="center", fontsize=13, color=inks[cell]
        )
        if words[cell]:
            quiet = GREY if words[cell] == NOT_COUNTED else inks[cell]
            ax.text(column + 0.5, row + 0.27, words[cell], ha="center", va="center", fontsize=10, color=quiet)
    for column, said in enumerate(("predicted\npositive", "predicted\nnegative")):
        ax.text(column + 0.5, 2.08, said, ha="center", va="bottom", fontsize=10, color=GREY)
    for row, said in enumerate(("negative", "positive")):
        ax.text(-0.06, row + 0.5, said, ha="right", va="center", fontsize=10, color=GREY, rotation=90)
    ax.set(xlim=(-0.2, 2.02), ylim=(-0.02, 2.5))
    ax.set_axis_off()

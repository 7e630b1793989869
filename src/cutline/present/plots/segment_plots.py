"""Plots of segments: a measure by segment with intervals, and the trend of ordered ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import InputError
from ...table import Table
from ..palette import colour
from .style import GREY, quiet, say_beside

_MARKS = "osD^v<>p"


def _models(result: Any) -> Mapping[str, Any]:
    if not hasattr(result, "by"):
        raise InputError(None, "this plot shows segments", "make them with evaluate_segments or compare_segments")
    return getattr(result, "models", None) or {result.overall.name: result}


def segments_frame(result: Any, *, measure: str | None = None) -> Table:
    """The values of a measure by segment and model, and of all rows."""
    models = _models(result)
    first = next(iter(models.values()))
    key = first.chosen([measure])[0] if measure is not None else first.chosen()[0]
    rows = []
    for name, seg in models.items():
        for segment, ev in [*((ev.name, ev) for ev in seg.evaluations.values()), (None, seg.overall)]:
            e = ev.estimates[key]
            rows.append(
                {"model": name, "segment": segment, "measure": key, "value": e.value, "low": e.low, "high": e.high}
            )
    return Table(rows, f"{key} by segment")


def segments(ax: Any, result: Any, *, measure: str | None = None) -> None:
    """A measure by segment with its interval, one line each; the dashed line is all rows."""
    rows = segments_frame(result, measure=measure)
    names = list(dict.fromkeys(row["segment"] for row in rows if row["segment"] is not None))
    models = list(dict.fromkeys(row["model"] for row in rows))
    for row in rows:
        k = models.index(row["model"])
        paint = colour(k)
        if row["segment"] is None:
            if row["value"] == row["value"]:
                line = GREY if len(models) == 1 else paint
                ax.axvline(row["value"], color=line, linewidth=1.0, linestyle=(0, (5, 3)), zorder=1.5)
            continue
        height = names.index(row["segment"]) + (k - (len(models) - 1) / 2) * 0.22
        if row["value"] != row["value"]:
            continue
        if math.isfinite(row["low"]) and math.isfinite(row["high"]):
            ax.plot([row["low"], row["high"]], [height, height], color=paint, linewidth=1.7, solid_capstyle="butt")
        ax.plot(row["value"], height, _MARKS[k % 8], color=paint, markersize=5.5)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    quiet(ax, f"{rows[0]['measure']} by segment", "dashed: all rows")
    ax.grid(False, axis="y")
    if len(models) > 1:
        for k, name in enumerate(models):
            ax.plot([], [], _MARKS[k % 8], color=colour(k), label=name, linestyle="-")
        ax.legend(fontsize=8.5, frameon=False, loc="best")


def trend_frame(result: Any) -> Table:
    """The segments of a trend in order, and the line through them."""
    line = np.asarray(result.fitted)
    rows = [{**row, "line": float(y)} for row, y in zip(result.to_dicts(), line, strict=True)]
    return Table(rows, f"{result.measure} along the segments")


def trend(ax: Any, result: Any) -> None:
    """A measure along ordered segments with intervals, the fitted line, and the first clear change."""
    rows = trend_frame(result)
    at = np.arange(len(rows))
    values, low, high = (np.array(rows.column(name)) for name in ("value", "low", "high"))
    ax.vlines(at, low, high, color=colour(0), linewidth=1.6)
    ax.plot(at, values, "o", color=colour(0), markersize=5.5)
    ax.plot(at, rows.column("line"), color=GREY, linewidth=1.2, linestyle=(0, (5, 3)))
    if result.found is not None:
        where = result.found.at - 0.5
        ax.axvline(where, color="#222222", linewidth=1.0)
        say_beside(ax, where, float(np.nanmax(high)), f"first clear change: {result.change}", xytext=(4, -8))
    step = max(1, -(-len(rows) // 12))
    ax.set_xticks(at[::step], [rows[int(k)]["segment"] for k in at[::step]], rotation=30 if len(rows) > 6 else 0)
    quiet(ax, f"{result.measure} along the segments", "", result.measure)

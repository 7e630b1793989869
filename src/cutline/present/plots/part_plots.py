"""Plots of parts of the rows: batches side by side, a measure by segment, and the trend of ordered segments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import InputError
from ...table import Table, pluralize
from ..numbers import models_of
from ..palette import colour
from ..words import quota_words
from .marks import interval, legend, line_style, name_marks, say_beside
from .style import GREY, LIGHT, count_axis, quiet

_LABELS = 14  # names of batches below the axis


def _points(result: Any, quota: int | float | None) -> list[tuple[Any, Any]]:
    """Each model and its batches at the quota asked for, or the evaluation's own."""
    found = []
    for ev in models_of(result):
        places = ev.quota if quota is None else quota
        if not ev.rows.batched:
            raise InputError("batch", "is missing, and this plot shows batches", "pass {batch} to evaluate()")
        if places is None:
            raise InputError("quota", "is missing", "give {quota}: places in each batch")
        found.append((ev, ev.at(quota=places)))
    return found


def batches_frame(result: Any, *, quota: int | float | None = None) -> Table:
    """What each batch holds, model by model."""
    rows = [{"model": ev.name, **row} for ev, point in _points(result, quota) for row in point.batches]
    return Table(rows, "Batch by batch")


def batches(ax: Any, result: Any, *, quota: int | float | None = None) -> None:
    """Hits of each batch; for one model with places, mean, and the interval for the next batch."""
    found = _points(result, quota)
    (first, point), several = found[0], len(found) > 1
    x = np.arange(1, len(point.names) + 1)
    if several:
        for k, (ev, one) in enumerate(found):
            style = line_style(k)
            ax.plot(x, one.cells[:, 0], marker="o", markersize=3.5, label=ev.name, **{**style, "linewidth": 1.2})
    else:
        paint = line_style(0)["color"]
        ax.bar(x, point.cells[:, 1], 0.8, color=LIGHT, label="places")
        ax.bar(x, point.cells[:, 0], 0.8, color=paint, label="hits")
        ax.axhline(point.expected_hits.value, color="#222222", linewidth=1.1, label="mean")
        low, high = point.next_hits
        if low == low:
            words = f"next batch ({first.settings.level:.0%})"
            mean = point.expected_hits.value
            ends = [[mean - low], [high - mean]]
            ax.errorbar(len(x) + 1.5, mean, ends, fmt="o", color="#222222", capsize=4, label=words)
    step = max(1, -(-len(x) // _LABELS))
    ax.set_xticks(x[::step], [str(name) for name in point.names[::step]])
    longest = max(len(str(name)) for name in point.names[::step])
    if longest * len(x[::step]) > 60:
        ax.tick_params(axis="x", labelrotation=45)
        for label in ax.get_xticklabels():
            label.set_horizontalalignment("right")
    ax.set_xlim(0.2, len(x) + (0.8 if several else 2.4))
    highest = max(float(one.cells[:, 0 if several else 1].max()) for _, one in found)
    ax.set_ylim(0, 1.16 * max(highest, 1.0))  # room for the legend
    asked = first.quota if quota is None else quota
    share = isinstance(asked, float)
    best = f"best {quota_words(asked)} of each batch" if share or asked != 1 else "first place of each batch"
    quiet(ax, f"Hits among the {best}", f"{pluralize(len(x), 'batch', 'batches')}, in order", "hits")
    count_axis(ax.yaxis)
    ax.grid(False, axis="x")
    legend(ax, ncols=4, loc="upper left", borderaxespad=0.1)
    ax.tick_params(axis="x", colors=GREY)


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
        if row["value"] != row["value"]:
            continue
        if row["segment"] is None:
            line = GREY if len(models) == 1 else colour(k)
            ax.axvline(row["value"], color=line, linewidth=1.0, linestyle=(0, (5, 3)), zorder=1.5)
        else:
            interval(ax, row, names.index(row["segment"]) + (k - (len(models) - 1) / 2) * 0.22, k)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    quiet(ax, f"{rows[0]['measure']} by segment", "dashed: all rows")
    ax.grid(False, axis="y")
    name_marks(ax, models, loc="best")


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

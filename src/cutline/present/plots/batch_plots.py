"""Batches side by side: the hits of each at its places, their mean, and what the next batch should hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError
from ...table import Table, pluralize
from ..numbers import models_of
from ..words import quota_words
from .style import GREY, LIGHT, count_axis, line_style, quiet

_LABELS = 14


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
    ax.legend(fontsize=8.5, frameon=False, ncols=4, loc="upper left", borderaxespad=0.1)
    ax.tick_params(axis="x", colors=GREY)

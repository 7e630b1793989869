"""The page's section on segments: values with intervals, differences, one list for all, prices, a trend."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..table import Markup, format_value
from ..table import escaped as text
from . import segment_words as words
from .charts import GREY, PERFECT, Chart
from .palette import colour
from .sections import figure, rows_table, section

if TYPE_CHECKING:
    from ..segments import Segments

_MOST = 40  # segments that a chart has room for


def segment_section(result: Any) -> str:
    """The section of a result that has segments; empty for others."""
    if not hasattr(result, "by") or not hasattr(result, "overall"):
        return ""
    models: Mapping[str, Segments] = getattr(result, "models", None) or {"": result}
    first = next(iter(models.values()))
    inside = "".join(f'<p class="name">{text(s)}</p>' for s in words.sentences(first)) if len(models) == 1 else ""
    inside += f'<div class="charts">{_figures(models)}</div>'
    if len(models) == 1:
        inside += _of_one(first)
    else:
        keys = first.chosen()
        inside += rows_table("Models by segment", words.model_rows(result, keys))
        inside += rows_table(
            "Differences between models, strongest evidence first", words.model_difference_rows(result, keys)
        )
    by = "" if result.by == ("segment",) else " by " + text(", ".join(result.by))
    return section("segments", f"Segments{by}", inside)


def _of_one(seg: Segments) -> str:
    made = rows_table("Each segment by itself", words.segment_rows(seg, seg.chosen()))
    if len(seg) > 1:
        against = seg.compared.reference
        made += rows_table(f"Against {against}, strongest evidence first", words.difference_rows(seg))
    if seg.trends:
        made += rows_table(words.trend_title(seg), words.trend_rows(seg))
    if seg.shared is None:
        return made
    made += rows_table(words.list_title(seg.shared), words.list_rows(seg.shared))
    made += f'<p class="note">{text(seg.shared.sentence)}</p>'
    if seg.prices is None:
        return made
    made += rows_table(words.price_title(seg.prices), words.price_rows(seg.prices))
    return made + rows_table("Places of each segment by rule", words.place_rows(seg, seg.prices))


def _figures(models: Mapping[str, Segments]) -> str:
    """One chart for each of up to four measures."""
    first = next(iter(models.values()))
    made = ""
    for k, key in enumerate(first.chosen()[:4]):
        title, chart, said = segment_chart(models, key)
        made += figure(f"segments-{k}", title, chart, said)
    return made


def segment_chart(models: Mapping[str, Segments], key: str) -> tuple[str, Markup, str]:
    """A measure by segment with intervals, its title, and what it shows in words; a dashed line is all rows."""
    first = next(iter(models.values()))
    names = first.names[:_MOST]
    found = [[ev.estimates[key] for ev in list(seg.evaluations.values())[:_MOST]] for seg in models.values()]
    whole = [seg.overall.estimates[key].value for seg in models.values()]
    ends = [v for row in found for e in row for v in (e.value, e.low, e.high) if math.isfinite(v)]
    low, high = min([*ends, *(w for w in whole if w == w)], default=0.0), max(ends, default=1.0)
    room = 0.06 * (high - low) or 0.5
    chart = Chart(key, "", (-0.6, len(names) - 0.4), (low - room, high + room), ", ".join(first.by))
    step = max(1, -(-len(names) // max(1, int(330 / (6.0 * max(map(len, names)) + 8)))))
    chart.x_labels = [(float(k), name[:24]) for k, name in enumerate(names) if k % step == 0]
    for m, row in enumerate(found):
        aside = 0.12 * (m - (len(found) - 1) / 2)
        if whole[m] == whole[m]:
            chart.line([-0.6, len(names) - 0.4], [whole[m]] * 2, GREY if len(found) == 1 else colour(m), PERFECT)
        for k, e in enumerate(row):
            if e.value == e.value:
                if math.isfinite(e.low) and math.isfinite(e.high):
                    chart.whisker(k + aside, e.low, e.high, colour(m))
                chart.point(k + aside, e.value, colour(m))
    title = first.specs[key].measure.title + (f" ({key})" if "@" in key else "")
    more = "" if len(first) <= _MOST else f" The first {_MOST} of {len(first)} segments."
    said = "; ".join(f"{n} {format_value(e.value)}" for n, e in zip(names[:6], found[0][:6], strict=True))
    return (
        title,
        chart.svg(),
        f"Dashed: all rows, {format_value(whole[0])}. {said}{' …' if len(names) > 6 else ''}.{more}",
    )

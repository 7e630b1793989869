"""The part of the page that shows batches side by side: a picture, a table, and one threshold for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..table import count, format_value
from ..table import escaped as text
from .palette import colour
from .sections import cells, columns, grid, rows_table, section
from .words import quota_words, rule_rows

if TYPE_CHECKING:
    from ..decide.batches import BatchPoint, BatchRules
    from ..evaluation import Evaluation

_SHOWN = 400  # batches in the table and the picture
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 900.0, 240.0, 44.0, 200.0


def batch_section(evaluations: Sequence[Evaluation], quota: int | float, *, carry: bool = False) -> str:
    """The days side by side, in place of the quota explorer."""
    points: list[Any] = [ev.at(quota=quota) for ev in evaluations]
    names = [ev.name for ev in evaluations]
    level = evaluations[0].settings.level
    shown = f"The best {quota_words(quota)} of each batch"
    note = f"<p>{text(points[0].note)}</p>" if points[0].note else ""
    rules = "".join(
        _rules(ev.batch_rules(quota=quota, carry=carry), ev.name, len(evaluations)) for ev in evaluations[:4]
    )
    inside = (
        f"<p>{text(shown)}: {_summary(names, points, level)}</p>{note}{_picture(names, points)}"
        '<p class="note">A quota counts in each batch. Measures without a quota are those of the whole list, across '
        "batches. Intervals come from the variation between batches.</p>"
        f"{_table(names, points)}<h3>The best of each batch, or one threshold for all?</h3>{rules}"
    )
    return section("explorer", "Batch by batch", inside)


def _summary(names: Sequence[str], points: Sequence[BatchPoint], level: float) -> str:
    said = []
    for name, point in zip(names, points, strict=True):
        low, high = point.expected_hits.interval
        ends = f" ({level:.0%} interval {low:.1f} to {high:.1f})" if low == low else ""
        first, last = point.next_hits
        coming = f"; the next batch should hold {count(first)} to {count(last)}" if first == first else ""
        said.append(f"{text(name)} holds {count(point.expected_hits.value)} hits on average{ends}{coming}")
    return ". ".join(said) + "."


def _picture(names: Sequence[str], points: Sequence[BatchPoint]) -> str:
    """Hits of each batch as bars, beside each other for several models; what the next should hold as a band."""
    first = points[0]
    shown = min(len(first.names), _SHOWN)
    top = max(1.0, *(float(p.cells[:shown, 0].max()) for p in points), first.next_hits.high if _known(first) else 0.0)
    wide = (_WIDTH - _LEFT) / shown

    def up(value: float) -> float:
        return _BOTTOM - (_BOTTOM - 14.0) * value / top

    thick = min(22.0, max(0.8, 0.7 * wide / len(points)))
    marks = ""
    if _known(first):
        low, high = first.next_hits
        box = f'x="{_LEFT:g}" y="{up(high):.1f}" width="{_WIDTH - _LEFT:g}" height="{up(low) - up(high):.1f}"'
        marks += f'<rect {box} fill="{colour(0)}" fill-opacity=".12"/>'
    for k, point in enumerate(points):
        for b in range(shown):
            x = _LEFT + wide * (b + (k + 0.5) / len(points))
            y = up(float(point.cells[b, 0]))
            bar = f'd="M{x:.1f} {_BOTTOM:g}V{y:.1f}" stroke="{colour(k)}" stroke-width="{thick:.1f}"'
            marks += f"<path {bar}/>"
        mean = up(point.expected_hits.value)
        marks += f'<path d="M{_LEFT:g} {mean:.1f}H{_WIDTH:g}" stroke="{colour(k)}" stroke-dasharray="5 3"/>'
    step = -(-shown // 12)
    for b in range(0, shown, step):
        x = _LEFT + wide * (b + 0.5)
        word = str(first.names[b])
        word = word if len(word) <= 12 else word[:11] + "…"
        marks += f'<text x="{x:.1f}" y="{_BOTTOM + 16:g}" text-anchor="middle" font-size="11">{text(word)}</text>'
    for value in (0.0, top):
        marks += f'<text x="{_LEFT - 6:g}" y="{up(value) + 4:.1f}" text-anchor="end" font-size="11">{value:,.0f}</text>'
    each = "; ".join(f"{name} {count(float(p.cells[:, 0].sum()))}" for name, p in zip(names, points, strict=True))
    words = f"Hits in each of {len(first.names):,} batches. In all: {each}."
    legend = "".join(f'<span style="color:{colour(k)}">■</span> {text(name)} ' for k, name in enumerate(names))
    band = " Shaded: what the next batch should hold" + (f" with {text(names[0])}." if len(names) > 1 else ".")
    more = f" The first {shown:,} of {len(first.names):,} batches." if shown < len(first.names) else ""
    return (
        f'<figure><h3>Hits of each batch</h3><div class="chart"><svg role="img" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" '
        f'style="max-width:none" aria-label="{text(words)}" fill="currentColor">{marks}</svg></div>'
        f"<figcaption>{legend}Dashed: the mean.{band if _known(first) else ''}{more}</figcaption></figure>"
    )


def _known(point: BatchPoint) -> bool:
    return point.next_hits.low == point.next_hits.low


def _table(names: Sequence[str], points: Sequence[BatchPoint]) -> str:
    before = [f"{name}: " if len(names) > 1 else "" for name in names]
    heads = columns("batch", kind="text") + columns("cases", "positives", "places")
    heads += columns(*(f"{name}{what}" for name in before for what in ("hits", "hit rate", "recall")))
    body, every = "", len(points[0].names)
    tables = [list(point.batches) for point in points]
    for rows in list(zip(*tables, strict=True))[:_SHOWN]:
        shown = cells(*(count(rows[0][key]) for key in ("cases", "positives", "places")))
        for row in rows:
            shown += cells(count(row["hits"]), format_value(row["hit_rate"]), format_value(row["recall"]))
        body += f'<tr><th scope="row" class="name">{text(rows[0]["batch"])}</th>{shown}</tr>'
    more = f"<p class='note'>The first {_SHOWN:,} of {every:,}.</p>" if every > _SHOWN else ""
    table = grid(heads, body, "Batches side by side", low=True)
    return f"<details open><summary>Every batch</summary>{table}{more}</details>"


def _rules(rules: BatchRules, name: str, models: int) -> str:
    said = "".join(f"<p>{text(sentence)}</p>" for sentence in rules.sentences())
    return (f"<h4>{text(name)}</h4>" if models > 1 else "") + said + rows_table("Rule by rule", rule_rows(rules))

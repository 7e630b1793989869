"""A comparison as people read it: the measures that decide, side by side and pair by pair, and advice by goal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..decide.recommendation import GOALS
from ..errors import InputError
from ..table import format_value
from .text_tables import ARROWS

if TYPE_CHECKING:
    from ..comparison import Comparison
    from ..decide.recommendation import Recommendation

# The measures that the goals argue for, and the two that most readers ask for first.
DECIDING = ("hit_rate", "roc_auc", "average_hit_rate", "average_qrecall", "accuracy", "brier_score")
MOST_STRETCHES = 40


def chosen_measures(comparison: Comparison) -> list[str]:
    """The measures a reader decides by: those that were asked for, or a short list out of all."""
    keys = list(comparison.specs)
    if len(keys) <= 12:
        return keys
    by_name = {comparison.specs[key].measure.name: key for key in keys}
    return [by_name[name] for name in DECIDING if name in by_name]


def side_by_side(comparison: Comparison, measures: Sequence[str]) -> list[dict[str, Any]]:
    """One row for each measure, one column for each model, intervals in the cells."""
    rows = []
    for key in measures:
        row: dict[str, Any] = {"measure": key, "": ARROWS[comparison.specs[key].measure.better]}
        for name, ev in comparison.evaluations.items():
            e = ev.estimates[key]
            row[name] = format_value(e.value) + (
                f"  [{format_value(e.low)}, {format_value(e.high)}]" if e.low == e.low else ""
            )
        rows.append(row)
    return rows


def differences_of(comparison: Comparison, measures: Sequence[str]) -> list[dict[str, Any]]:
    """Pair by pair for some measures, with a reading in words."""
    rows = []
    for row in sorted(
        comparison.differences, key=lambda r: measures.index(r["measure"]) if r["measure"] in measures else -1
    ):
        if row["measure"] in measures:
            interval = f"{format_value(row['low'])} … {format_value(row['high'])}" if row["low"] == row["low"] else ""
            rows.append(
                {
                    "measure": row["measure"],
                    "models": f"{row['a']} − {row['b']}",
                    "difference": format_value(row["difference"]),
                    "interval": interval,
                    "p (Holm)": p_value(row["p_adjusted"]),
                    "reading": row["reading"],
                }
            )
    return rows


def p_value(value: float) -> str:
    """A p-value as it is printed."""
    return "–" if value != value else ("< 0.001" if value < 0.001 else f"{value:.3f}")


def dominance_of(comparison: Comparison) -> list[dict[str, Any]]:
    """Who leads from which quota to which; none where the models have weights or cases of their own."""
    first = next(iter(comparison.evaluations.values()))
    if first.facts["weighted"] or not comparison.paired:
        return []
    return merged(comparison.dominance("quota").to_dicts())


def merged(rows: list[dict[str, Any]], most: int = MOST_STRETCHES) -> list[dict[str, Any]]:
    """At most so many stretches: the narrowest ones join their wider neighbour, whose leader then speaks for both."""
    rows = [dict(row) for row in rows]
    while len(rows) > most:
        widths = [row["to"] - row["from"] for row in rows]
        # Several at once: a long list may change its leader thousands of times.
        limit = sorted(widths)[max(0, (len(rows) - most) // 2)]
        kept: list[dict[str, Any]] = []
        for row, width in zip(rows, widths, strict=True):
            if kept and (width <= limit or row["leader"] == kept[-1]["leader"]):
                kept[-1]["to"] = row["to"]
            else:
                kept.append(row)
        if len(kept) == len(rows):
            break
        rows = kept
    return rows


def advice(comparison: Comparison) -> list[Recommendation]:
    """The recommendation for every goal that this comparison can speak to."""
    found = []
    for goal in GOALS:
        try:
            found.append(comparison.recommend(goal))
        except InputError:
            continue  # no quota given, no probabilities, or the measure was not evaluated: nothing to say on this goal
    return found

"""Segments in sentences and in rows of words: the same on the terminal and on the page. No group is called better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..table import Table, count, format_value
from .words import ends, p_value, tested, with_interval

if TYPE_CHECKING:
    from ..decide.segment_places import SharedList
    from ..segment_comparison import SegmentComparison
    from ..segments import Segments

SHOWN = 40  # segments, or differences, that a table for people has


def default_measures(quota: Any) -> list[str]:
    """Some measures that a table of segments has room for."""
    at_cut = ["recall", "false_positive_rate", "precision"] if quota is None else ["hit_rate", "qrecall"]
    return ["roc_auc", *at_cut, "brier_score"]


def sentences(seg: Segments) -> list[str]:
    """What the segments show, and which have few cases."""
    found = []
    if len(seg) > 1:
        made = seg.compared
        found.append(made.sentence)
        if made.left_out:
            keys, reasons = ", ".join(made.left_out), "; ".join(dict.fromkeys(made.left_out.values()))
            found.append(f"Not compared between segments: {keys} ({reasons}).")
    few = seg.small
    if few:
        named = ", ".join(few[:8]) + (f" and {len(few) - 8} more" if len(few) > 8 else "")
        found.append(f"Too few cases for clear results: {named}.")
    return [*found, *(trend.sentence for trend in seg.trends if trend.is_clear)]


def segment_rows(seg: Segments, keys: Sequence[str]) -> list[dict[str, Any]]:
    """One row for each segment, then all rows together; intervals in the cells."""
    rows = []
    for name, ev in [*((ev.name, ev) for ev in seg.evaluations.values()), ("all", seg.overall)]:
        row = {"segment": name, "rows": ev.facts["rows"], "positive": f"{ev.facts['share_positive']:.1%}"}
        row |= {key: with_interval(ev.estimates[key]) for key in keys}
        rows.append({**row, "note": next((n["note"] for n in seg.table if n["segment"] == name), "")})
    return rows


def difference_rows(seg: Segments) -> list[dict[str, Any]]:
    """Segments against the rest, strongest evidence first."""
    return [
        {
            "segment": row["segment"],
            "measure": row["measure"],
            **{key: format_value(row[key]) for key in ("value", "other", "difference")},
            "interval": ends(row["low"], row["high"]),
            "ratio": format_value(row["ratio"]),
            "p (Holm)": p_value(row["p_adjusted"]),
            "reading": row["verdict"],
            "note": row["note"],
        }
        for row in seg.compared.to_dicts()[:SHOWN]
    ]


def list_title(shared: SharedList) -> str:
    """Where the one list is cut."""
    (what, value), *_ = shared.cut.items()
    return f"One list for all, {count(value)} places" if what == "quota" else f"One list for all, score > {value:g}"


def list_rows(shared: SharedList) -> list[dict[str, Any]]:
    """One list for all, by segment."""
    return [
        {
            "segment": row["segment"],
            "cases": count(row["cases"]),
            "places": count(row["places"]),
            "selected": f"{row['selection_rate']:.1%}",
            "hit rate": format_value(row["hit_rate"]),
            "recall": format_value(row["recall"]),
            "fpr": format_value(row["fpr"]),
            "selection ratio": format_value(row["selection_ratio"]),
            "interval": ends(row["low"], row["high"]),
            "four fifths": row["four_fifths"],
        }
        for row in shared
    ]


def price_title(prices: Table) -> str:
    """What the prices compare."""
    same = len({round(row["places"], 1) for row in prices}) == 1
    return "The same places by other rules" if same else "Places by other rules"


def price_rows(prices: Table) -> list[dict[str, Any]]:
    """What other rules cost in hits."""
    rows = []
    for row in prices:
        low, high = (count(round(row[end], 1)) if row[end] == row[end] else "" for end in ("low", "high"))
        rows.append(
            {
                "rule": row["rule"],
                "places": count(round(row["places"], 1)),
                "hits": count(round(row["hits"], 1)),
                "price in hits": count(round(row["price"], 1)) if row["rule"] != "one list" else "",
                "interval": f"{low} … {high}" if low else "",
            }
        )
    return rows


def place_rows(seg: Segments, prices: Table) -> list[dict[str, Any]]:
    """The places of each segment under each rule."""
    rules = prices.to_dicts()
    return [
        {"segment": name, **{row["rule"]: count(round(row[f"places: {name}"], 1)) for row in rules}}
        for name in seg.names[:SHOWN]
    ]


def trend_title(seg: Segments) -> str:
    """From which segment to which trends go."""
    first = seg.trends[0].segments
    return f"Trend from {first[0]} to {first[-1]}, change for each step"


def trend_rows(seg: Segments) -> list[dict[str, Any]]:
    """The trend of each measure, and from which segment on its level differs from before."""
    rows = []
    for trend in seg.trends:
        where, levels = "none", ""
        if trend.found is not None:
            where = f"at {trend.change}"
            levels = f"{format_value(trend.found.before)} → {format_value(trend.found.after)}"
        row = {"measure": trend.measure, "change": format_value(trend.slope), "interval": ends(trend.low, trend.high)}
        row |= {"p": p_value(trend.p_value), "reading": trend.verdict}
        row |= {"first clear change": where, "before and after": levels}
        rows.append({**row, "note": "; ".join(f"{name}: {why}" for name, why in trend.left_out.items())})
    return rows


def model_rows(found: SegmentComparison, keys: Sequence[str]) -> list[dict[str, Any]]:
    """One row for each segment and measure, one column for each model."""
    rows = []
    for name, note, comparison in found.parts():
        for key in keys:
            values = {model: with_interval(ev.estimates[key]) for model, ev in comparison.evaluations.items()}
            rows.append({"segment": name, "measure": key, **values, "note": note})
    return rows


def model_difference_rows(found: SegmentComparison, keys: Sequence[str]) -> list[dict[str, Any]]:
    """Pairs of models in each segment, strongest evidence first."""
    return [
        {
            "segment": row["segment"],
            "measure": row["measure"],
            "models": f"{row['a']} − {row['b']}",
            **tested(row),
            "reading": row["reading"],
            "note": row["note"],
        }
        for row in found.differences(keys).to_dicts()[:SHOWN]
    ]

"""Segments in sentences and in rows of words: the same on the terminal and on the page. No group is called better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..class_evaluation import ClassComparison, ClassEvaluation
from ..errors import PYTHON, Terms
from ..evaluation import notices_of
from ..table import Figure, Section, Table, count, ends, format_value, p_value
from .class_words import class_answer, class_comparison_answer
from .words import chosen_measures, headline, side_by_side, tested

if TYPE_CHECKING:
    from ..decide.selection import SharedList
    from ..segments import SegmentComparison, Segments

_MOST_CHARTS = 4
SHOWN = 40  # segments, or differences, that a table for people has


def default_measures(quota: Any) -> list[str]:
    """Some measures that a table of segments has room for."""
    at_cut = ["recall", "false_positive_rate", "precision"] if quota is None else ["hit_rate", "qrecall"]
    return ["roc_auc", *at_cut, "brier_score"]


def segment_sections(
    seg: Segments,
    *,
    terms: Terms = PYTHON,
    all_measures: bool = False,
    detail: bool = False,
    measures: Sequence[str] = (),
    **options: Any,
) -> Iterator[Section]:
    """What an evaluation by segment has to say; ``measures``: those to show. In ``detail``, all rows follow."""
    keys = list(seg.specs) if all_measures else seg.chosen(list(measures) or None)
    overall: Any = seg.overall
    if isinstance(overall, ClassEvaluation):
        answer = class_answer(overall, terms)
    else:
        answer = [headline(overall), *notices_of([overall], terms)]
    yield Section("answer", [*answer, *sentences(seg)])
    parts: list[Table | Figure] = [*_figures({seg.overall.name: seg}), Table(segment_rows(seg, keys), "Segments")]
    if len(seg) > 1:
        parts.append(Table(difference_rows(seg), f"Against {seg.compared.reference}, strongest evidence first"))
    if seg.trends:
        first, last = seg.trends[0].segments[0], seg.trends[0].segments[-1]
        parts.append(Table(trend_rows(seg), f"Trend from {first} to {last}, change for each step"))
    yield Section("segments", parts, _title(seg.by))
    if seg.shared is not None:
        title = f"One list for all, {seg.shared.where}"
        yield Section("one_list", [Table(list_rows(seg.shared), title), seg.shared.sentence])
        if seg.prices is not None:
            places = Table(place_rows(seg, seg.prices), "Places of each segment by rule")
            same = len({round(row["places"], 1) for row in seg.prices}) == 1
            title = "The same places by other rules" if same else "Places by other rules"
            yield Section("prices", [Table(price_rows(seg.prices), title), places])
    if detail:
        whole = replace(seg.overall, by_segment=None)
        yield from islice(whole.sections(terms=terms, detail=True, **options), 1, None)


def _title(by: Sequence[str]) -> str:
    return "Segments" if tuple(by) == ("segment",) else f"Segments by {', '.join(by)}"


def _figures(models: Mapping[str, Segments]) -> list[Figure]:
    """A chart for each of up to four measures."""
    first = next(iter(models.values()))
    keys = first.chosen()[:_MOST_CHARTS]
    return [Figure("segments", models, {"key": key, "name": f"segments-{k}"}) for k, key in enumerate(keys)]


def segment_comparison_sections(
    found: SegmentComparison, *, terms: Terms = PYTHON, all_measures: bool = False, detail: bool = False, **options: Any
) -> Iterator[Section]:
    """What a comparison by segment has to say. In ``detail``, all rows together follow."""
    overall: Any = found.overall
    evaluations = list(overall.evaluations.values())
    if isinstance(overall, ClassComparison):
        keys = list(overall.specs) if all_measures else next(iter(found.models.values())).chosen()
        yield Section("answer", class_comparison_answer(overall, terms))
    else:
        keys = list(overall.specs) if all_measures else chosen_measures(overall)
        yield Section("answer", [headline(evaluations[0], named=False), *notices_of(evaluations, terms)])
    if not detail:
        yield Section("measures", [Table(side_by_side(overall, keys), "All rows")])
    rows = model_difference_rows(found, keys)
    pairs = Table(rows, "Differences between models by segment, strongest evidence first")
    by_segment = Table(model_rows(found, keys), "Models by segment", "segment")
    yield Section("segments", [*_figures(found.models), by_segment, pairs], _title(found.by))
    if detail:
        whole = replace(found.overall, by_segment=None)
        yield from islice(whole.sections(terms=terms, detail=True, **options), 1, None)


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
        row = {"segment": name, "rows": ev.facts["rows"]}
        if "share_positive" in ev.facts:
            row["positive"] = f"{ev.facts['share_positive']:.1%}"
        row |= {key: ev.estimates[key] for key in keys}
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
            values = {model: ev.estimates[key] for model, ev in comparison.evaluations.items()}
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

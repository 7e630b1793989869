"""Segments in sentences and in rows of words: the same on the terminal and on the page. No group is called better."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..class_evaluation import ClassComparison, ClassEvaluation
from ..errors import PYTHON, Terms
from ..evaluation import notices_of
from ..inference.evidence import moves
from ..segments import note_of, why_not_comparable
from ..table import Figure, Section, Table, count, ends, format_value, joined, p_value, pluralize
from .class_words import class_answer, class_comparison_answer
from .words import (
    answer,
    chosen_measures,
    cut_point,
    difference_rows,
    headline,
    name_of,
    point_sentences,
    side_by_side,
    title_of,
    written,
)

if TYPE_CHECKING:
    from ..decide.selection import SharedList
    from ..segments import SegmentComparison, Segments

_MOST_CHARTS = 4
_MOST_NAMED = 12  # measures that somebody may have asked for by name
_SHORT = 14  # segments of the short text, so that it fits on a screen
IN_FULL = "Segments in full"
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
    fairness: bool = False,
    measures: Sequence[str] = (),
    **options: Any,
) -> Iterator[Section]:
    """The sections of an evaluation by segment; ``measures``: those to show. In ``detail``, all rows follow.

    ``fairness``: also who gets the places of one list.
    """
    wide = all_measures or detail
    keys = list(seg.specs) if all_measures else seg.chosen(list(measures)) if measures else _usual_keys(seg)
    names = {spec.measure.name for spec in seg.specs.values()}
    overall: Any = seg.overall
    of_classes = isinstance(overall, ClassEvaluation)
    usual = {} if of_classes else set(default_measures(overall.quota))
    named = bool(measures) or (len(seg.specs) <= _MOST_NAMED and names != usual)
    if of_classes:
        facts = class_answer(overall, terms)
    else:
        asked = [] if overall.quota is None else point_sentences(overall, cut_point(overall))
        facts = [*asked, headline(overall), *notices_of([overall], terms)]
    yield Section("answer", [*sentences(seg, keys, named=named), *facts])
    parts: list[str | Table | Figure] = [*_figures(seg, keys, named=named)]
    if all_measures and not detail:
        parts += _wide_tables(seg, keys)
    else:
        rows = short_segment_rows(seg, keys, named=named)
        left = f"{len(rows) - 1 - _SHORT:,} more segments: {IN_FULL if detail else '--all'}"
        few = [*rows[:_SHORT], rows[-1]] if len(rows) - 1 > _SHORT else rows
        parts += [Table(few, "" if detail else _title(seg.by)), *([left] if len(few) < len(rows) else [])]
    yield Section("segments", parts, _title(seg.by))
    if detail:
        yield Section("segments_in_full", list(_wide_tables(seg, keys)), IN_FULL)
    ordered = bool(seg.trends)
    if seg.shared is not None and (fairness or (wide and not ordered)):
        yield from _one_list(seg, seg.shared)
    if detail:
        whole = seg.whole
        yield from islice(whole.sections(terms=terms, detail=True, **options), 1, None)


def _title(by: Sequence[str]) -> str:
    return "Segments" if tuple(by) == ("segment",) else f"Segments by {', '.join(by)}"


def _usual_keys(seg: Segments) -> list[str]:
    """The measures that segments are shown by; out of many, those that the command evaluates where none is named."""
    keys = seg.chosen()
    overall: Any = seg.overall
    if isinstance(overall, ClassEvaluation) or len(seg.specs) <= _MOST_NAMED:
        return keys
    names = default_measures(overall.quota)
    return [key for name in names for key in keys if seg.specs[key].measure.name == name] or keys


def _figures(result: Segments | SegmentComparison, keys: Sequence[str], *, named: bool = False) -> list[Figure]:
    """A chart for each of up to four measures that segments of any size share.

    Unless measures were ``named``, those that move with the share of positives have none.
    """
    first = next(iter(getattr(result, "models", {"": result}).values()))
    moving = [] if named else _moving(first, keys)
    alike = [key for key in keys if key not in moving and not why_not_comparable(first.specs[key])]
    figures = []
    for k, key in enumerate(alike[:_MOST_CHARTS]):
        title = first.specs[key].measure.title + (f" ({key})" if "@" in key else "")
        figures.append(Figure("segments", result, {"measure": key, "title": title, "name": f"segments-{k}"}))
    return figures


def segment_comparison_sections(
    found: SegmentComparison, *, terms: Terms = PYTHON, all_measures: bool = False, detail: bool = False, **options: Any
) -> Iterator[Section]:
    """The sections of a comparison by segment. In ``detail``, all rows together follow."""
    overall: Any = found.overall
    evaluations = list(overall.evaluations.values())
    if isinstance(overall, ClassComparison):
        keys = next(iter(found.models.values())).chosen()
        facts = class_comparison_answer(overall, terms)
    else:
        keys = chosen_measures(overall)
        about = f"{pluralize(len(evaluations), 'model')}: {headline(evaluations[0], named=False)}"
        facts = [*answer(overall), about, *notices_of(evaluations, terms)]
    keys = list(overall.specs) if all_measures else keys
    key = "roc_auc" if "roc_auc" in keys else keys[0]  # it does not move with the share of positives
    rows = short_model_rows(found, key)
    clear = [f"{row['']} ({row['clear difference?']})" for row in rows if "beats" in row["clear difference?"]]
    by = name_of(overall.specs[key])
    told = f"Clear differences in {by}: {', '.join(clear)}." if clear else f"No segment has a clear difference in {by}."
    yield Section("answer", [*facts, told])
    if all_measures and not detail:
        yield Section("measures", [Table(side_by_side(overall, keys), "All rows")])
    left = len(rows) - _SHORT
    more = f"{left:,} more segments: {IN_FULL if detail else '--all'}"
    tables: list[str | Table] = [Table(rows[:_SHORT], f"{by} by segment"), *([more] if left > 0 else [])]
    in_full: list[str | Table] = []
    if all_measures or detail:
        values = [
            {
                "segment": name,
                "measure": key,
                **{model: ev.estimates[key] for model, ev in comparison.evaluations.items()},
                "note": note,
            }
            for name, note, comparison in found.parts()
            for key in keys
        ]
        pairs = difference_rows(found.differences(keys).to_dicts()[:SHOWN])
        title = "Differences between models by segment, strongest evidence first"
        in_full = [Table(values, "Models by segment", "segment"), Table(pairs, title)]
    yield Section("segments", [*_figures(found, keys), *(tables if detail else in_full or tables)], _title(found.by))
    if detail:
        yield Section("segments_in_full", in_full, IN_FULL)
    if detail:
        whole = found.whole
        yield from islice(whole.sections(terms=terms, detail=True, **options), 1, None)


def sentences(seg: Segments, keys: Sequence[str], *, named: bool) -> list[str]:
    """Which segments differ, by measures that the share of positives does not move; and which have few cases.

    ``named``: the measures are those that were asked for, so it also names those that are not compared.
    """
    moving = _moving(seg, keys)
    found = []
    if len(seg) > 1:
        compared = seg.compared
        asked = [row for row in compared if row["measure"] in keys]
        steady = [row for row in asked if row["measure"] not in moving] or asked
        tested = dict.fromkeys(name_of(seg.specs[row["measure"]]) for row in steady if row["verdict"] != "not tested")
        clear = [
            f"{row['segment']} ({row['verdict']} {name_of(seg.specs[row['measure']])})"
            for row in steady
            if row["verdict"] in ("higher", "lower")
        ]
        more = f" and {len(clear) - 6} more" if len(clear) > 6 else ""
        if clear:
            found.append(f"Clearly different from {compared.reference}: {', '.join(clear[:6])}{more}.")
        elif tested:
            found.append(f"No segment differs clearly from {compared.reference} in {joined(list(tested))}.")
        else:
            found.append("Nothing could be compared between segments.")
        shown = [name_of(seg.specs[key]) for key in moving if named]
        if shown:
            shares = [ev.facts["share_positive"] for ev in seg.evaluations.values()]
            move = "move" if len(shown) > 1 else "moves"
            found.append(
                f"Caution: {joined(shown)} {move} with the share of positives ({min(shares):.1%} to {max(shares):.1%} "
                "here), so a difference need not come from the scores."
            )
        if compared.left_out and named:
            names = joined([name_of(seg.specs[key]) for key in compared.left_out])
            found.append(f"Not compared: {names} ({'; '.join(dict.fromkeys(compared.left_out.values()))}).")
    trends = [trend for trend in seg.trends if trend.measure in keys and trend.measure not in moving]
    found += [trend.sentence for trend in trends if trend.is_clear]
    if trends and not any(trend.is_clear for trend in trends):
        found.append(f"No clear trend from {trends[0].segments[0]} to {trends[0].segments[-1]}.")
    small = seg.small
    if small:
        others = f" and {len(small) - 8} more" if len(small) > 8 else ""
        found.append(f"Too few cases to judge: {', '.join(small[:8])}{others}.")
    return found


def _moving(seg: Segments, keys: Sequence[str]) -> list[str]:
    """The measures that move with the share of positives; of several classes none is called so."""
    overall: Any = seg.overall
    return [] if isinstance(overall, ClassEvaluation) else [key for key in keys if moves(seg.specs[key])]


def short_segment_rows(seg: Segments, keys: Sequence[str], *, named: bool) -> list[dict[str, Any]]:
    """One row for each segment, then all rows: the measures in a reader's words, the first two with intervals.

    Unless measures were ``named``, those that move with the share of positives are left out, and the places of a
    shared list are shown where it is cut at a quota.
    """
    if not named:
        moving = _moving(seg, keys)
        keys = [key for key in keys if key not in moving]
    shared = (
        {row["segment"]: row for row in seg.shared}
        if getattr(seg.overall, "quota", None) is not None and seg.shared is not None
        else {}
    )
    rows = []
    for name, ev in [*((ev.name, ev) for ev in seg.evaluations.values()), ("all", seg.overall)]:
        row: dict[str, Any] = {"": name, "rows": f"{ev.facts['rows']:,}"}
        if "share_positive" in ev.facts:
            row["positive"] = f"{ev.facts['share_positive']:.1%}"
        for k, key in enumerate(keys):
            spec, e = seg.specs[key], ev.estimates[key]
            row[title_of(spec, getattr(ev, "threshold", None))] = written(spec, e.value)
            if k < (2 if named else 1) and e.level == e.level:
                row[f"{e.level * 100:.4g}% interval" + " " * k] = (
                    f"{written(spec, e.low)} to {written(spec, e.high)}" if e.low == e.low else ""
                )
        if shared and not named:
            if ev is seg.overall:
                point = seg.overall.at(quota=seg.overall.quota)
                mine = {"places": point.taken, "hit_rate": point.hit_rate, "recall": point.recall}
            else:
                mine = shared[name]
            row["places"] = count(mine["places"])
            for head in ("hit_rate", "recall"):
                row[head.replace("_", " ")] = "" if mine[head] != mine[head] else f"{mine[head]:.0%}"
        rows.append(row)
    columns = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name, "") for name in columns} for row in rows]


def segment_rows(seg: Segments, keys: Sequence[str]) -> list[dict[str, Any]]:
    """One row for each segment, then all rows together; intervals in the cells."""
    rows = []
    for name, ev in [*((ev.name, ev) for ev in seg.evaluations.values()), ("all", seg.overall)]:
        row = {"segment": name, "rows": ev.facts["rows"]}
        if "share_positive" in ev.facts:
            row["positive"] = f"{ev.facts['share_positive']:.1%}"
        row |= {key: ev.estimates[key] for key in keys}
        rows.append({**row, "note": "" if ev is seg.overall else note_of(ev)})
    return rows


def _wide_tables(seg: Segments, keys: Sequence[str]) -> Iterator[Table]:
    """Each segment, all rows together, the differences from the rest, and the trend of each measure."""
    yield Table(segment_rows(seg, keys), "Segments")
    if len(seg) > 1:
        moving = dict.fromkeys(_moving(seg, keys), "moves with the share of positives")
        compared = [
            {
                "segment": row["segment"],
                "measure": row["measure"],
                **{key: format_value(row[key]) for key in ("value", "other", "difference")},
                "interval": ends(row["low"], row["high"]),
                "ratio": format_value(row["ratio"]),
                "p (Holm)": p_value(row["p_adjusted"]),
                "reading": row["verdict"],
                "note": row["note"] or moving.get(row["measure"], ""),
            }
            for row in seg.compared.to_dicts()[:SHOWN]
        ]
        yield Table(compared, f"Against {seg.compared.reference}, strongest evidence first")
    rows = []
    for trend in seg.trends:
        row = {"measure": trend.measure, "change": format_value(trend.slope), "interval": ends(trend.low, trend.high)}
        row |= {"p": p_value(trend.p_value), "reading": trend.verdict}
        row |= {"first clear change": "none", "from before": ""}
        if trend.change is not None:
            row["first clear change"] = f"at {trend.change}"
            row["from before"] = format_value(trend.change_difference)
        rows.append({**row, "note": "; ".join(f"{name}: {why}" for name, why in trend.left_out.items())})
    if seg.trends:
        first, last = seg.trends[0].segments[0], seg.trends[0].segments[-1]
        yield Table(rows, f"Trend from {first} to {last}, change for each step")


def _cell(value: float, form: str = ".1%") -> str:
    """A share, or another number, in a narrow cell."""
    return format(value, form) if value == value else "–"


def _one_list(seg: Segments, shared: SharedList) -> Iterator[Section]:
    """Who gets the places of one list for all, and what other rules for them would cost in hits."""
    rows = [
        {
            "segment": row["segment"],
            "places": count(row["places"]),
            "selected": f"{row['selection_rate']:.1%}",
            **{head: _cell(row[head.replace(" ", "_")]) for head in ("hit rate", "recall", "fpr")},
            "selection ratio": _cell(row["selection_ratio"], ".2f"),
            "interval": f"{row['low']:.2f} to {row['high']:.2f}" if row["low"] == row["low"] else "",
            "four fifths": row["four_fifths"],
        }
        for row in shared
    ]
    yield Section("one_list", [Table(rows, f"One list for all, {shared.where}"), shared.sentence])


def short_model_rows(found: SegmentComparison, key: str) -> list[dict[str, Any]]:
    """One row for each segment: the models by one measure, and whether a difference is clear, adjusted for segments."""
    ahead: dict[str, list[str]] = {}
    for row in found.differences([key]):
        if row["verdict"] in ("higher", "lower"):
            a, b = (row["a"], row["b"]) if row["verdict"] == found.overall.specs[key].better else (row["b"], row["a"])
            ahead.setdefault(row["segment"], []).append(f"{a} beats {b}")
    rows = []
    for name, note, comparison in found.parts():
        spec, facts = comparison.specs[key], comparison.first.facts
        values = {model: written(spec, ev.estimates[key].value) for model, ev in comparison.evaluations.items()}
        row = {"": name, "rows": f"{facts['rows']:,}"}
        row |= {"positive": f"{facts['share_positive']:.1%}"} if "share_positive" in facts else {}
        row |= values
        rows.append({**row, "clear difference?": note or "; ".join(ahead.get(name, ["no"]))})
    return rows

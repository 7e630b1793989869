"""Segments in sentences and in rows of words: the same on the terminal and on the page. No group is called better."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..class_evaluation import ClassComparison, ClassEvaluation
from ..errors import PYTHON, Terms
from ..inference.closed_forms import FEW_CASES
from ..inference.evidence import moves
from ..segments import note_of, why_not_comparable
from ..table import Figure, Section, Table, count, joined, percentage
from .words import chosen_measures, difference_table, name_of, title_of, with_interval, written

if TYPE_CHECKING:
    from ..decide.selection import SharedList
    from ..segments import SegmentComparison, Segments

_MOST_CHARTS = 4
_MOST_LISTED = 4  # segments whose places a sentence tells
_MOST_NAMED = 12  # measures that somebody may have asked for by name
_SHORT = 14  # segments of the short text, so that it fits on a screen
IN_FULL = "Segments in full"
SHOWN = 40  # segments, or differences, that a table for people has


def default_measures(quota: Any) -> list[str]:
    """Some measures that a table of segments has room for."""
    at_cut = ["recall", "false_positive_rate", "precision"] if quota is None else ["hit_rate", "qrecall"]
    return ["roc_auc", *at_cut, "brier_score"]


def segment_sections(
    result: Segments | SegmentComparison,
    *,
    terms: Terms = PYTHON,
    all_measures: bool = False,
    detail: bool = False,
    measures: Sequence[str] = (),
    **options: Any,
) -> Iterator[Section]:
    """The sections of an evaluation or a comparison by segment; ``measures``: those to show. In ``detail``, all."""
    overall: Any = result.overall
    models: Any = getattr(result, "models", None)
    first: Segments = result if models is None else next(iter(models.values()))  # type: ignore[assignment]
    of_classes = isinstance(overall, ClassEvaluation | ClassComparison)
    usual = [] if of_classes else default_measures(overall.quota)
    names = {spec.measure.name for spec in first.specs.values()}
    named = models is None and (bool(measures) or (len(first.specs) <= _MOST_NAMED and names != set(usual)))
    keys = list(first.specs) if all_measures else first.chosen(list(measures) if measures else None)
    if models is not None and not (all_measures or of_classes):
        keys = chosen_measures(overall)
    elif not (all_measures or measures or of_classes) and len(first.specs) > _MOST_NAMED:
        keys = [key for name in usual for key in keys if first.specs[key].measure.name == name] or keys
    facts = next(iter(overall.sections(terms=terms))).sentences
    rows: list[dict[str, Any]]
    title_by = "Segments" if tuple(result.by) == ("segment",) else f"Segments by {', '.join(result.by)}"
    if models is None:
        rows, title = short_segment_rows(first, keys, named=named), title_by
        yield Section("answer", sentences(first, keys, facts, named=named))
        few = [*rows[:_SHORT], rows[-1]] if len(rows) - 1 > _SHORT else rows
    else:
        key = "roc_auc" if "roc_auc" in keys else keys[0]  # it does not move with the share of positives
        by = name_of(overall.specs[key])
        rows, title = short_model_rows(result, key), f"{by} by segment"
        clear = [f"{row['']} ({row['clear difference?']})" for row in rows if "beats" in row["clear difference?"]]
        tests = result.differences([key])
        none = f"No segment has a clear difference in {by}."
        if all(row["verdict"] == "not tested" for row in tests):
            reasons = [row["method"] or row["note"] or "there are no intervals" for row in tests]
            none = f"Differences in {by} could not be tested: {'; '.join(dict.fromkeys(reasons))}."
        yield Section("answer", [*facts, f"Clear differences in {by}: {', '.join(clear)}." if clear else none])
        few = rows[:_SHORT]
    # A chart for each of up to four measures that segments of any size share. Unless measures were named, those that
    # move with the share of positives have none.
    moving = [] if named else _moving(first, keys)
    alike = [key for key in keys if key not in moving and not why_not_comparable(first.specs[key])]
    figures = []
    for k, key in enumerate(alike[:_MOST_CHARTS]):
        heading = first.specs[key].measure.title + (f" ({key})" if "@" in key else "")
        figures.append(Figure("segments", result, {"measure": key, "title": heading, "name": f"segments-{k}"}))
    wide = all_measures or detail
    in_full: list[Any] = list(_wide_tables(result, keys)) if wide else []
    left = f"{len(rows) - len(few):,} more segments: {IN_FULL if detail else '--all'}"
    tables = [Table(few, "" if detail and models is None else title), *([left] if len(few) < len(rows) else [])]
    yield Section("segments", [*figures, *(in_full if all_measures and not detail else tables)], title_by)
    if detail:
        yield Section("segments_in_full", in_full, IN_FULL)
    shared = first.shared if models is None else None
    if shared is not None and wide:
        yield _one_list(shared)
    if detail:
        how = {"all_measures": all_measures, **options}
        yield from islice(result.whole.sections(terms=terms, detail=True, **how), 1, None)


def sentences(seg: Segments, keys: Sequence[str], facts: Sequence[str], *, named: bool) -> list[str]:
    """Who gets the places of a quota; which segments differ, by measures that the share of positives does not move; and
    which have few cases. Then the ``facts`` about all rows.

    ``named``: the measures are those that were asked for, so it also names those that are not compared.
    """
    moving, judged, found, untested = _moving(seg, keys), set[str](), list[str](), list[str]()
    # a number alone would be read as one of cases
    of = "" if len(seg.by) > 1 or any(sign.isalpha() for name in seg for sign in str(name)) else f"{seg.by[0]} "
    shared = sorted(_places(seg, named=named).values(), key=lambda row: -row["places"])
    if shared and seg.shared is not None:
        gets = list[str]()
        for row in shared[:_MOST_LISTED]:
            places, about = count(row["places"]), "about " * ("places_low" in row)
            if about:  # scores came in buckets, and the order inside that of the cut is not known
                places = f"about {row['places']:,.0f} ({row['places_low']:,.0f} to {row['places_high']:,.0f})"
            share = f" and finds {about}{row['recall']:.0%}{'' if gets else ' of its positives'}"
            gets.append(f"{'' if gets else of}{row['segment']} gets {places}{share * (row['recall'] == row['recall'])}")
        rest = [row["places"] for row in shared[_MOST_LISTED:]]
        gets += [f"{len(rest)} more get {count(sum(rest))}"] if rest else []
        found.append(f"{_listed(seg.shared)} ({seg.shared.where}): {', '.join(gets)}.")
    if len(seg) > 1:
        compared = seg.compared
        asked = [row for row in compared if row["measure"] in keys]
        steady = [row for row in asked if row["measure"] not in moving] or asked
        tested = dict.fromkeys(name_of(seg.specs[row["measure"]]) for row in steady if row["verdict"] != "not tested")
        apart = [row for row in steady if row["verdict"] in ("higher", "lower")]
        ways: dict[str, dict[str, list[str]]] = {}
        for row in apart:
            way = ways.setdefault(row["segment"], {}).setdefault(row["verdict"], [])
            way.append(name_of(seg.specs[row["measure"]]))
        each = {name: [f"{verdict} {joined(told)}" for verdict, told in way.items()] for name, way in ways.items()}
        clear = [f"{name} ({', '.join(told)})" for name, told in each.items()]
        more = f" and {len(clear) - 6} more" if len(clear) > 6 else ""
        if clear:
            judged = {compared.reference, *(row["segment"] for row in apart)}
            found.append(f"Clearly different from {compared.reference}: {of}{', '.join(clear[:6])}{more}.")
        elif tested:
            found.append(f"No segment differs clearly from {compared.reference} in {joined(list(tested))}.")
        else:
            untested = [f"Nothing could be compared between segments: {compared.why_untested}."]
        shown = [name_of(seg.specs[key]) for key in moving if named]
        if shown:
            shares = [ev.facts["share_positive"] for ev in seg.evaluations.values()]
            move = "move" if len(shown) > 1 else "moves"
            part = f"the share of positives ({min(shares):.1%} to {max(shares):.1%} here)"
            found.append(f"Caution: {joined(shown)} {move} with {part}, so a difference need not come from the scores.")
        if compared.left_out and named:
            names = joined([name_of(seg.specs[key]) for key in compared.left_out])
            found.append(f"Not compared: {names} ({'; '.join(dict.fromkeys(compared.left_out.values()))}).")
    trends = [trend for trend in seg.trends if trend.measure in keys and trend.measure not in moving]
    found += [trend.sentence for trend in trends if trend.is_clear]
    if trends and not any(trend.is_clear for trend in trends):
        found.append(f"No clear trend from {trends[0].segments[0]} to {trends[0].segments[-1]}.")
    small = [name for name in seg.small if name not in judged]
    if 1 < len(small) == len(seg):
        found.append(f"Every segment has fewer than {FEW_CASES} cases of a class, so differences may go unnoticed.")
    elif small:
        others = f" and {len(small) - 8} more" if len(small) > 8 else ""
        found.append(f"Too few cases to judge: {of}{', '.join(small[:8])}{others}.")
    first = 0 if shared else 1  # the answer about all rows, where no places are shared out
    return [*facts[:first], *found, *facts[first:], *untested]


def _places(seg: Segments, *, named: bool) -> dict[str, Any]:
    """The places of the shared list by segment, where it is cut at a quota and no measures were named."""
    if named or getattr(seg.overall, "quota", None) is None or seg.shared is None:
        return {}
    return {row["segment"]: row for row in seg.shared}


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
    shared, rows = _places(seg, named=named), []
    every = [*((ev.name, ev) for ev in seg.evaluations.values()), ("all", seg.overall)]
    for name, ev in every:
        row: dict[str, Any] = {"": name, "rows": f"{ev.facts['rows']:,}"}
        if "share_positive" in ev.facts:
            row["positive"] = percentage(ev.facts["share_positive"])
        for k, key in enumerate(keys):
            spec, e = seg.specs[key], ev.estimates[key]
            row[title_of(spec, getattr(ev, "threshold", None))] = written(spec, e.value)
            levels = [of.estimates[key].level for _, of in every if of.estimates[key].level == of.estimates[key].level]
            if k < (2 if named else 1) and levels:
                row[f"{levels[0] * 100:.4g}% interval" + " " * k] = with_interval(spec, e)
        if shared:
            if ev is seg.overall:
                point = seg.overall.at(quota=seg.overall.quota)
                mine = {"places": point.taken, "hit_rate": point.hit_rate, "recall": point.recall}
            else:
                mine = shared[name]
            row["places"] = count(mine["places"])
            for head in ("hit_rate", "recall"):
                row[head.replace("_", " ")] = "" if mine[head] != mine[head] else f"{mine[head]:.0%}"
        rows.append(row)
    return rows


def _wide_tables(seg: Any, keys: Sequence[str]) -> Iterator[Table | str]:
    """Each segment, then all rows together, intervals in the cells; and the differences from the rest.

    Of several models, each of them in each segment, and the differences between models.
    """
    if hasattr(seg, "models"):
        values = [
            {"segment": name, "measure": key, **{m: ev.estimates[key] for m, ev in part.evaluations.items()}}
            | {"note": note}
            for name, note, part in seg.parts()
            for key in keys
        ]
        yield Table(values, "Models by segment", "segment")
        title = "Differences between models by segment, strongest evidence first"
        yield from difference_table(seg.differences(keys), title, seg.settings.level, "", SHOWN)
        return
    rows = []
    for name, ev in [*((ev.name, ev) for ev in seg.evaluations.values()), ("all", seg.overall)]:
        row = {"segment": name, "rows": ev.facts["rows"]}
        if "share_positive" in ev.facts:
            row["positive"] = percentage(ev.facts["share_positive"])
        row |= {key: ev.estimates[key] for key in keys}
        rows.append({**row, "note": "" if ev is seg.overall else note_of(ev)})
    yield Table(rows, "Segments")
    if len(seg) > 1:
        moving = dict.fromkeys(_moving(seg, keys), "moves with the share of positives")
        table = seg.compared.sections()[0].shown[0]
        rows = [{**row, "note": row["note"] or moving.get(row["measure"], "")} for row in table[:SHOWN]]
        yield Table(rows, f"Against {seg.compared.reference}, strongest evidence first")


def _listed(shared: SharedList) -> str:
    return "One list for each batch" if shared.batches else "One list for all"


def _one_list(shared: SharedList) -> Section:
    """Who gets the places of one list for all."""
    forms = {"hit_rate": ".1%", "recall": ".1%", "fpr": ".1%", "selection_ratio": ".2f"}
    rows = []
    for row in shared:
        line = {
            "segment": row["segment"],
            "places": count(row["places"]),
            "selected": percentage(row["selection_rate"]),
        }
        for key, form in forms.items():
            line[key.replace("_", " ")] = format(row[key], form) if row[key] == row[key] else "–"
        line["interval"] = f"{row['low']:.2f} to {row['high']:.2f}" if row["low"] == row["low"] else ""
        rows.append({**line, "four fifths": row["four_fifths"]})
    return Section("one_list", [Table(rows, f"{_listed(shared)}, {shared.where}"), shared.sentence])


def short_model_rows(found: Any, key: str) -> list[dict[str, Any]]:
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
        row |= {"positive": percentage(facts["share_positive"])} if "share_positive" in facts else {}
        row |= values
        rows.append({**row, "clear difference?": note or "; ".join(ahead.get(name, ["no"]))})
    return rows

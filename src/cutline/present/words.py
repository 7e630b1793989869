"""Results in sentences and in rows of words: the same on the terminal and on the page."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..catalogue.declare import Measure, Spec, measure, measures
from ..errors import PYTHON, InputError, Terms
from ..evaluation import notices_of
from ..table import Figure, Section, Table, count, count_range, ends, format_value, p_value, pluralize
from .plot_data import models_of

if TYPE_CHECKING:
    from ..comparison import Comparison
    from ..decide.error_costs import Cheapest
    from ..decide.operating import OperatingPoint
    from ..decide.thresholds import Cut
    from ..estimate import Estimate
    from ..evaluation import Evaluation

ARROWS = {"higher": "↑", "lower": "↓"}
FAMILY_TITLES = {
    "threshold": "At the threshold",
    "probability": "Probabilities",
    "ranking": "Ranking",
    "quota": "Limited places",
    "classes": "Several classes",
    "other": "Other",
}
OWN_CASES = "Each has its own cases, so a difference may come from the cases."
# What a reader decides by: with a number of places, with a threshold, and between models.
_WITH_QUOTA = ("hit_rate", "qrecall", "quota_lift")
_WITH_THRESHOLD = ("recall", "precision", "specificity", "f1", "matthews_correlation", "accuracy")
_ALWAYS = ("average_qrecall", "roc_auc", "average_precision", "average_hit_rate", "brier_score", "log_loss")
_BETWEEN_MODELS = ("hit_rate", "roc_auc", "average_hit_rate", "average_qrecall", "accuracy", "brier_score")
_FEW = 12  # measures of which a short table leaves out none
_SHOWN_BATCHES = 40
_MOST_RULES = 4  # models whose batches are compared with one threshold


def evaluation_sections(
    ev: Evaluation,
    *,
    terms: Terms = PYTHON,
    all_measures: bool = False,
    detail: bool = False,
    cut: Cut | None = None,
    **options: Any,
) -> Iterator[Section]:
    """What an evaluation has to say; in ``detail``, what a page adds (options: see ``page_words.detail_sections``).

    ``cut``: a cut that was chosen on these rows, which takes the quota's place.
    """
    from .page_words import chart_section, detail_sections, places_section

    point = cut_point(ev) if cut is None else cut.point
    at_cut = point_sentence(ev, point)
    if cut is not None:
        end = "the end of the list" if cut.threshold == -math.inf else f"{cut.threshold:.6g}"
        at_cut = f"Cut at {end}: {cut.note}."
    said = [headline(ev), *notices_of([ev], terms), at_cut, ties_sentence(ev)]
    yield Section("answer", list(filter(None, said)))
    if ev.by_segment is not None:
        yield from islice(ev.by_segment.sections(terms=terms, all_measures=all_measures), 1, None)
    yield from filter(None, [places_section([ev], detail=detail)])
    if point is not None:
        where = f"At {pluralize(ev.quota, 'place')}" if ev.quota is not None and cut is None else "At the threshold"
        taken = "all cases" if point.threshold == -math.inf else f"score > {point.threshold:.6g}"
        if ev.rows.batched and ev.quota is not None:
            where, taken = f"The best {quota_words(ev.quota)} of each batch", "all batches together"
        yield Section("cut", [Table(confusion_rows(point), f"{where}: {taken}")])
        if ev.rows.batched and ev.quota is not None:
            yield from batch_sections([ev])
        if cut is not None:
            yield Section("at_cut", [Table(cut_rows(ev, point))])
    if detail:
        yield from detail_sections(ev, [ev], **options)
        return
    yield from filter(None, [chart_section([ev])])
    keys = None if all_measures else applicable(ev, few_measures(ev))
    yield Section("measures", [Table(measure_rows(ev, keys), group="family")])


def batch_sections(evaluations: Sequence[Evaluation]) -> Iterator[Section]:
    """The batches side by side, and their places against one threshold."""
    points: dict[str, Any] = {ev.name: ev.at(quota=ev.quota) for ev in evaluations}
    said, rows = [], batch_rows(points)
    if len(points) > 1:
        for name, point in points.items():
            low, high = point.next_hits
            within = f" ({evaluations[0].settings.level:.0%} interval {count_range(*point.expected_hits.interval)})"
            coming = f"; the next batch should hold {count(low)} to {count(high)}" if low == low else ""
            mean = count(point.expected_hits.value)
            said.append(f"{name} holds {mean} hits on average{within if low == low else ''}{coming}.")
    left = len(rows) - _SHOWN_BATCHES
    more = [f"{left:,} more batches: --format json prints them all."] if left > 0 else []
    batch_table = Table(rows[:_SHOWN_BATCHES], "Batch by batch")
    yield Section("batches", [*said, Figure("batches", points), batch_table, *more])
    for k, ev in enumerate(evaluations[:_MOST_RULES]):
        (section,) = ev.batches.rules().sections()
        named = f": {ev.name}" if len(evaluations) > 1 else ""
        yield replace(section, name=f"rules-{k}" if k else "rules", title=f"{section.title}{named}")


def comparison_sections(
    comparison: Comparison,
    *,
    terms: Terms = PYTHON,
    all_measures: bool = False,
    detail: bool = False,
    cheapest: Cheapest | None = None,
    **options: Any,
) -> Iterator[Section]:
    """What a comparison has to say; in ``detail``, what a page adds (options: see ``page_words.detail_sections``).

    ``cheapest`` is the answer where the costs of errors were given.
    """
    from .page_words import chart_section, detail_sections, places_section

    evaluations = list(comparison.evaluations.values())
    first = evaluations[0]
    if detail and len({(ev.facts["rows"], ev.facts["positives"]) for ev in evaluations}) > 1:
        raise InputError(None, "a page shows models on the same cases, but these differ in rows or positives")
    quota = comparison.quota
    about = headline(first, named=False) if comparison.paired else "each on its own rows"
    models = f"{pluralize(len(evaluations), 'model')}, {about}"
    yield Section("answer", [*answer(comparison), models, *notices_of(evaluations, terms)])
    if comparison.by_segment is not None:
        yield from islice(comparison.by_segment.sections(terms=terms, all_measures=all_measures), 1, None)
    yield from filter(None, [places_section(evaluations, detail=detail)] if comparison.paired else [])
    if detail and first.rows.batched and quota is not None:
        yield from batch_sections(evaluations)
    keys = list(comparison.specs) if all_measures else chosen_measures(comparison)
    if not detail:
        yield from filter(None, [chart_section(evaluations)])
        yield Section("measures", [Table(side_by_side(comparison, keys), "Side by side")])
    if len(evaluations) > 1:
        pairs = Table(differences_of(comparison, keys), "Differences between models", "measure")
        forests = [Figure("forest", comparison, {"key": key, "name": f"forest-{k}"}) for k, key in enumerate(keys[:2])]
        yield Section("pairs", [*forests, pairs], "Which model?")
    stretches = dominance_of(comparison)
    if stretches:
        leads = Table(clear_leads(stretches), "Clear leaders by quota")
        none = "No model leads clearly at any quota: the leads could be chance."
        strip = Figure("dominance", stretches, {"names": list(comparison.evaluations)})
        yield Section("leads", [leads if len(leads) else none, *([strip] if detail else [])])
    if cheapest is not None:
        yield Section("costs", [*cheapest.sentences, cheapest.others], "Costs of errors")
    goals = [f"{r.goal}: {r.text}" for r in comparison.recommendations.values()]
    if goals:
        yield Section("goals", goals, "Which model for which goal")
    if detail:
        yield from detail_sections(comparison, evaluations, **options)


def cut_point(ev: Evaluation) -> Any:
    """The operating point to show: of the quota, or of the threshold; None without one."""
    if ev.quota is not None:
        return ev.at(quota=ev.quota)
    threshold = ev.threshold if ev.quotas is None else None
    return None if threshold is None else ev.at(threshold=threshold)


def headline(ev: Evaluation, *, named: bool = True) -> str:
    """How many rows and positives, what was left out; and where one class is missing, that nothing can be judged."""
    facts = ev.facts
    some = f"{facts['labelled']:,} of them labelled, about " if "labelled" in facts else ""
    said = f"{pluralize(facts['rows'], 'row')}, {some}{facts['positives']:,} positive ({facts['share_positive']:.1%})"
    if ev.prevalence is not None:
        moved = f"{len(ev.moved)} of the {len(ev.specs)} measures depend on it"
        said += f"; at a prevalence of {ev.prevalence} ({moved})"
    elif facts["weighted"] and not some:
        pos, cases = ev.ranking.n_pos, ev.ranking.cases
        said += f"; by weight {count(cases)} cases, {count(pos)} positive ({pos / cases:.1%})"
    if "batches" in facts:
        said += f"; {pluralize(facts['batches'], 'batch', 'batches')}"
    if facts.get("dropped"):
        said += f"; {pluralize(facts['dropped'], 'row')} without label or score left out"
    absent = next((kind for kind in ("positive", "negative") if facts[f"{kind}s"] == 0), None)
    if absent:
        said += f"; there are no {absent} cases, so the ranking cannot be evaluated"
    return f"{ev.name}: {said}" if named else said


def _one_class(ev: Evaluation) -> bool:
    return bool(ev.facts["positives"] == 0 or ev.facts["negatives"] == 0)


def point_sentence(ev: Evaluation, point: OperatingPoint | None) -> str:
    """What the evaluation's quota gives, and how many hits the next list will hold at this quota or threshold."""
    if ev.quotas is not None:
        return " ".join(range_answer(ev))
    if point is None or _one_class(ev):
        return ""
    low, high = point.next_hits
    if low != low:
        return quota_sentence(ev)
    within, level = count_range(*point.expected_hits.interval), f"{ev.settings.level:.0%}"
    if ev.rows.batched:
        mean = f"Expect {count(point.expected_hits.value)} hits per batch on average ({level} interval {within})"
    else:
        share = f"at the same share ({point.taken / ev.ranking.cases:.1%})"
        where = share if ev.quota is None else "at this quota"
        mean = f"In lists like this one, cut {where}, expect {within} hits on average ({level} interval)"
    one = "one" if ev.rows.batched else "list"
    coming = f"{mean} and {count(low)} to {count(high)} in the next {one} ({level} prediction interval)."
    return " ".join(filter(None, [quota_sentence(ev), coming]))


def quota_sentence(ev: Evaluation) -> str:
    """What the evaluation's quota gives; empty without one."""
    if ev.quota is None or _one_class(ev):
        return ""
    point = ev.at(quota=ev.quota)
    whose = f"{count(ev.quota)} {'includes' if ev.quota == 1 else 'include'}"
    if ev.rows.batched:
        whose = f"{quota_words(ev.quota)} of each batch include"
    return (
        f"The best {whose} {count(point.tp)} of the "
        f"{pluralize(point.tp + point.fn, 'positive')}: hit rate "
        f"{format_value(point.hit_rate)}, Qrecall {format_value(point.qrecall)}, {point.lift:.2f} times chance."
        + tie_sentence(point)
    )


def tested(row: Mapping[str, Any]) -> dict[str, str]:
    """A tested difference in cells."""
    interval = {"interval": ends(row["low"], row["high"])}
    return {"difference": format_value(row["difference"]), **interval, "p (Holm)": p_value(row["p_adjusted"])}


def quota_words(quota: int | float) -> str:
    """A quota as a reader writes it."""
    return f"{100 * quota:.4g} %" if isinstance(quota, float) else f"{quota:,}"


def batch_rows(points: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What each batch holds at its cut, models side by side."""
    rows = []
    for row in zip(*(point.batches for point in points.values()), strict=True):
        line = {"batch": str(row[0]["batch"]), **{key: count(row[0][key]) for key in ("cases", "positives", "places")}}
        for name, one in zip(points, row, strict=True):
            before = f"{name}: " if len(points) > 1 else ""
            line[f"{before}hits"] = count(one["hits"])
            line |= {f"{before}{key.replace('_', ' ')}": format_value(one[key]) for key in ("hit_rate", "recall")}
        rows.append(line if len(points) > 1 else {**line, "threshold": format_value(row[0]["threshold"])})
    return rows


def tie_sentence(point: OperatingPoint) -> str:
    """What happens where the cut falls inside a tie; empty where it does not."""
    if not (point.tied > 1 and point.from_tie < point.tied) or count(point.hits_worst) == count(point.hits_best):
        return ""
    if point.threshold != point.threshold:
        return (
            f" Some cuts fall inside a tie: {count(point.hits_worst)} to {count(point.hits_best)} positives get a "
            "place, depending on the draw."
        )
    return (
        f" The cut falls inside a tie: {count(point.from_tie)} of {count(point.tied)} cases that score "
        f"{format_value(point.threshold)} get a place, so {count(point.hits_worst)} to "
        f"{count(point.hits_best)} positives do, depending on the draw."
    )


def ties_sentence(ev: Evaluation) -> str:
    """How much is tied, where it matters."""
    tied = ev.facts["tied_pairs"]
    if not tied > 0.01:
        return ""
    return (
        f"{tied:.1%} of the positive–negative pairs are tied "
        f"({pluralize(ev.facts['distinct_scores'], 'distinct score')}); each counts one half."
    )


def confusion_rows(point: OperatingPoint) -> list[dict[str, str]]:
    """The confusion matrix: who gets a place (is predicted positive) and who does not."""

    def row(name: str, taken: float, left: float, marks: tuple[str, str] = ("", "")) -> dict[str, str]:
        cells = (f"{count(value)} {mark}".rstrip() for value, mark in zip((taken, left), marks, strict=True))
        return {"": name, **dict(zip(("taken", "left"), cells, strict=True)), "all": count(taken + left)}

    return [
        row("positive", point.tp, point.fn, ("TP", "FN")),
        row("negative", point.fp, point.tn, ("FP", "TN")),
        row("all", point.tp + point.fp, point.fn + point.tn),
    ]


def cut_rows(ev: Evaluation, point: OperatingPoint) -> list[dict[str, Any]]:
    """What a cut gives, each rate with an interval, as if the threshold had been fixed beforehand."""
    from ..inference.limits import wilson

    def rate(name: str, part: float, whole: float) -> dict[str, Any]:
        shown = "–" if whole == 0 else format_value(part / whole)
        known = whole > 0 and not ev.facts["weighted"]
        ends = wilson(part, whole, ev.settings.level) if known else ()
        return {"at this cut": name, "value": shown, "interval": " … ".join(map(format_value, ends))}

    low, high = point.expected_hits.interval
    rows = [
        {"at this cut": "threshold", "value": format_value(point.threshold), "interval": ""},
        {"at this cut": "taken", "value": count(point.taken), "interval": ""},
        {"at this cut": "hits", "value": count(point.tp), "interval": "" if low != low else count_range(low, high)},
        rate("precision", point.tp, point.taken),
        rate("recall", point.tp, point.tp + point.fn),
        rate("specificity", point.tn, point.tn + point.fp),
    ]
    first, last = point.next_hits
    if first == first:
        rows.append({"at this cut": "hits next time", "value": "", "interval": f"{count(first)} … {count(last)}"})
    return rows


def determined_by(one: Measure) -> Measure | None:
    """The measure of which this one is a function whatever the ranking, followed to its end (pem → gini → roc_auc)."""
    base = None if "where" in one.same_as else _named_in(one)  # equal only under a condition: in general another number
    return base if base is None else determined_by(base) or base


def _named_in(one: Measure) -> Measure | None:
    """The measure that a declaration names as the same number."""
    names = {m.name for m in measures() if m.of_one_score}
    return next((measure(name) for name in re.findall(r"\w+", one.same_as) if name in names), None)


def _base_here(ev: Evaluation, spec: Spec) -> str | None:
    """Where the number of a measure stands under another name: always, or on these data (no scores tie)."""
    base = determined_by(spec.measure)
    if base is not None:
        return _key_like(ev, base.name, spec)
    base = _named_in(spec.measure)
    home = None if base is None else _key_like(ev, base.name, spec)
    if home is None or abs(ev.estimates[home].value - ev.estimates[str(spec)].value) > 1e-12:
        return None
    return home


def default_measures(quota: Any) -> list[str]:
    """Some ten measures for the task: at the places or at the threshold, over the whole list, and of probabilities."""
    return [*(_WITH_THRESHOLD if quota is None else _WITH_QUOTA), *_ALWAYS]


def few_measures(ev: Evaluation) -> list[str]:
    """The measures of a short table: those of the task, or all that were asked for where they are few."""
    if len(ev.specs) <= _FEW:
        return list(ev.specs)
    names = default_measures(ev.quota if ev.quotas is None else ev.quotas)
    return [key for name in names for key, spec in ev.specs.items() if spec.measure.name == name]


def applicable(ev: Evaluation, chosen: Iterable[str]) -> list[str]:
    """The measures that go with these scores, one family after another."""
    one_class = _one_class(ev)
    keys = [key for key in chosen if one_class or ev.estimates[key].value == ev.estimates[key].value]
    families = list(dict.fromkeys(ev.specs[key].measure.family for key in keys))
    return sorted(keys, key=lambda key: families.index(ev.specs[key].measure.family))


def measure_rows(ev: Evaluation, keys: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Rows for the terminal: one per number. A measure that is another in disguise joins that one's row."""
    chosen = list(ev.specs if keys is None else keys)
    disguises: dict[str, list[str]] = {}
    shown = []
    for key in chosen:
        spec = ev.specs[key]
        home = _base_here(ev, spec)
        if home is None or home not in chosen:
            shown.append(key)
        else:
            disguises.setdefault(home, []).append(f"{spec.measure.name} {format_value(ev.estimates[key].value)}")
    rows = []
    level = next((e.level for e in ev.estimates.values() if e.level == e.level), None)
    interval = "interval" if level is None else f"{level * 100:.4g} % interval"
    for key in shown:
        e, spec = ev.estimates[key], ev.specs[key]
        one = spec.measure
        # without the threshold where that is the evaluation's own, which stands above the table
        name = str(replace(spec, threshold=None) if spec.threshold == ev.threshold else spec)
        row: dict[str, Any] = {"family": one.family, "measure": name, "": ARROWS[one.better]}
        row |= {"value": format_value(e.value), "on its scale": on_scale(one.range, e)}
        if level is not None:
            row[interval] = ends(e.low, e.high)
            row["method"] = e.method
        same = "same as " + ", ".join(disguises[key]) if key in disguises else ""
        caution = one.caution if e.low == e.low else ""
        moves = "depends on the prevalence" if key in ev.moved else ""
        row["note"] = e.reason or "; ".join(part for part in (caution, moves, unit_of(spec), same) if part)
        rows.append(row)
    return rows


def on_scale(scale: tuple[float, float], e: Estimate) -> Figure:
    """An estimate on the scale of its measure; an open end is closed a little beyond the interval."""
    known = [x for x in (e.value, e.low, e.high) if math.isfinite(x)] or [0.0]
    low, high = scale
    low = low if math.isfinite(low) else min(0.0, *known) * 1.1
    high = high if math.isfinite(high) else max(0.0, *known) * 1.1
    return Figure("bar", e, {"ends": (low, high)})


def unit_of(spec: Spec) -> str:
    """The unit of a loss that depends on a logarithm; empty for a measure without one."""
    options = dict(spec.options)
    if "base" not in spec.measure.params:
        return ""
    base = options.get("base", spec.measure.params["base"])
    return {2: "in bits", 10: "in bans"}.get(base, "in nats" if abs(base - 2.718281828459045) < 1e-9 else "")


def _key_like(ev: Evaluation, name: str, spec: Any) -> str | None:
    """The evaluated measure of that name at the same threshold and tie rule, if there is one."""
    for key, other in ev.specs.items():
        if other.measure.name == name and (other.threshold, other.ties) == (spec.threshold, spec.ties):
            return key
    return None


def answer(comparison: Comparison) -> list[str]:
    """What the quota gives by which model, and how sure that is."""
    quota, evaluations = comparison.quota, list(comparison.evaluations.values())
    first = evaluations[0]
    if quota is None:
        return range_answer(comparison)
    if _one_class(first):
        return []  # the headline says it
    if not comparison.paired:
        return _apart(comparison, quota)
    ordered = sorted(evaluations, key=lambda ev: -ev.at(quota=quota).tp)
    best, point = ordered[0], ordered[0].at(quota=quota)
    if len(ordered) == 1:
        return [point_sentence(best, point)]
    lead = _lead(comparison, ordered, quota)
    if first.rows.batched:
        return [f"With {quota_words(quota)} places in each batch, use {best.name}. {point_sentence(best, point)}", lead]
    low, high = point.expected_hits.interval
    within = "" if low != low else f" ({first.settings.level:.0%} interval {count_range(low, high)})"
    use = (
        f"With {pluralize(quota, 'place')}, use {best.name}: expect {pluralize(point.tp, 'hit')}{within}, "
        f"{point.lift:.1f} times as many as a random choice; {count(point.fn)} of the "
        f"{pluralize(point.tp + point.fn, 'positive')} {'gets' if point.fn == 1 else 'get'} no place."
    )
    luck = comparison.choice_optimism
    if not luck >= 0.1:
        return [use, lead]
    optimism = (
        f"About {luck:.1f} of these hits are optimism from choosing the best of {len(ordered)} models on the same "
        f"cases; on new cases expect about {max(0.0, point.tp - luck):.1f}."
    )
    return [use, lead, optimism]


def range_answer(result: Any) -> list[str]:
    """What an unknown quota gives on average, by which model, and how sure that is; nothing where it was not asked."""
    evaluations = models_of(result)
    first = evaluations[0]
    if first.quotas is None or _one_class(first) or "hit_rate" not in first:
        return []
    alike = ", all equally likely" if first.quotas.through else ""
    if len(evaluations) == 1:
        rate = first["hit_rate"]
        expected = f"a hit rate of {rate.value:.1%}{between(rate)}"
        if "qrecall" in first:
            share = first["qrecall"]
            expected += f" and {share.value:.1%}{between(share)} of the positives"
        return [f"With {first.quotas.words}{alike}, expect on average {expected}."]
    verdict = result.verdict("hit_rate", f"quota {first.quotas}")
    mark = ", " if verdict.status == "cannot tell" else "; "
    value = f"a hit rate of {verdict.value.value:.1%}{between(verdict.value)} on average"
    if not result.paired:
        return [f"With {first.quotas.words}{alike}, {verdict.best} has the highest: {value}.", OWN_CASES]
    return [f"With {first.quotas.words}{alike}, use {verdict.best}: {value}{mark}{verdict.sentence}."]


def between(e: Any) -> str:
    """The interval of a share in brackets; empty where there is none."""
    return f" ({e.level:.0%} interval {e.low:.1%} to {e.high:.1%})" if e.low == e.low else ""


def _apart(result: Any, quota: int | float) -> list[str]:
    """The answer where each has cases of its own, perhaps groups of people: the highest value, and no advice."""
    if "hit_rate" not in next(iter(result.evaluations.values())):
        return [OWN_CASES]
    verdict = result.verdict("hit_rate", "known quota")
    mark = ", " if verdict.status == "cannot tell" else "; "
    value = f"{format_value(verdict.value.value)}{mark}{verdict.sentence}"
    return [f"At {quota:,} places, {verdict.best} has the highest hit rate, {value}.", OWN_CASES]


def _lead(result: Any, ordered: list[Evaluation], quota: int | float) -> str:
    """How sure the best model's lead over the next one at this quota is."""
    best, second = ordered[0], ordered[1]
    gap = best.at(quota=quota).tp - second.at(quota=quota).tp
    if gap < 1e-9:
        return f"{best.name} and {second.name} are tied: both find the same number at this quota."
    lead = f"It finds {count(gap)} more than {second.name}"
    if "hit_rate" not in best:
        return f"{lead}."
    verdict = result.verdict("hit_rate", "known quota")
    row = verdict.differences[second.name]
    if row.low == row.low:
        places = best.at(quota=quota).taken if best.rows.batched else quota
        lead += f" ({result.settings.level:.0%} interval {count_range(row.low * places, row.high * places)})"
    if verdict.status == "cannot tell" and verdict.rival is row:
        return f"{lead}, {verdict.doubt}."
    return f"{lead}; {verdict.sentence}."


def chosen_measures(comparison: Comparison) -> list[str]:
    """The measures a reader decides by: those that were asked for, or a short list out of all."""
    keys = list(comparison.specs)
    if len(keys) <= 12:
        return keys
    by_name = {comparison.specs[key].measure.name: key for key in keys}
    return [by_name[name] for name in _BETWEEN_MODELS if name in by_name]


def side_by_side(comparison: Comparison, keys: Sequence[str]) -> list[dict[str, Any]]:
    """One row for each measure, one column for each model, intervals in the cells."""
    rows = []
    for key in keys:
        row: dict[str, Any] = {"measure": key, "": ARROWS[comparison.specs[key].measure.better]}
        rows.append(row | {name: ev.estimates[key] for name, ev in comparison.evaluations.items()})
    return rows


def differences_of(comparison: Comparison, keys: Sequence[str]) -> list[dict[str, Any]]:
    """Pair by pair for some measures, with a reading in words."""
    rows = [row for key in keys for row in comparison.differences if row["measure"] == key]
    return [
        {"measure": row["measure"], "models": f"{row['a']} − {row['b']}", **tested(row), "reading": row["reading"]}
        for row in rows
    ]


def dominance_of(comparison: Comparison) -> list[dict[str, Any]]:
    """Who leads from which quota to which; none where the models have weights or cases of their own."""
    first = next(iter(comparison.evaluations.values()))
    if first.facts["weighted"] or first.rows.batched or not comparison.paired:
        return []
    return comparison.dominance("quota").to_dicts()


def clear_leads(stretches: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The stretches in which one model clearly leads: what is not chance, at all places at once."""
    return [
        {
            "places": f"{row['from']:,} to {row['to']:,}" if row["from"] < row["to"] else f"{row['from']:,}",
            "leads": row["leader"],
            "more hits": f"{row['more_hits']:.1f}",
        }
        for row in stretches
        if row["clear"]
    ]

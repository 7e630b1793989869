"""Results in sentences and in rows of words: the same on the terminal and on the page."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..catalogue.declare import Measure, Spec, measure, measures
from ..table import count, format_value, pluralize
from .numbers import models_of

if TYPE_CHECKING:
    from ..comparison import Comparison
    from ..decide.batches import BatchRules
    from ..decide.operating import OperatingPoint
    from ..estimate import Estimate
    from ..evaluation import Evaluation, OneVsRest

ARROWS = {"higher": "↑", "lower": "↓"}
FAMILY_TITLES = {
    "threshold": "At the threshold",
    "probability": "Probabilities",
    "ranking": "Ranking",
    "quota": "Limited places",
    "other": "Other",
}
OWN_CASES = "Each has its own cases, so a difference may come from the cases."
# What a reader decides by: with a number of places, with a threshold, and between models.
_WITH_QUOTA = ("hit_rate", "qrecall", "quota_lift")
_WITH_THRESHOLD = ("recall", "precision", "specificity", "f1", "matthews_correlation", "accuracy")
_ALWAYS = ("average_qrecall", "roc_auc", "average_precision", "average_hit_rate", "brier_score", "log_loss")
_BETWEEN_MODELS = ("hit_rate", "roc_auc", "average_hit_rate", "average_qrecall", "accuracy", "brier_score")


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


def ends(low: float, high: float) -> str:
    """An interval in a cell of its own; empty where there is none."""
    return f"{format_value(low)} … {format_value(high)}" if low == low else ""


def with_interval(e: Estimate) -> str:
    """A value and its interval in one cell."""
    return format_value(e.value) + (f"  [{format_value(e.low)}, {format_value(e.high)}]" if e.low == e.low else "")


def tested(row: Mapping[str, Any]) -> dict[str, str]:
    """A tested difference in cells."""
    interval = {"interval": ends(row["low"], row["high"])}
    return {"difference": format_value(row["difference"]), **interval, "p (Holm)": p_value(row["p_adjusted"])}


def quota_words(quota: int | float) -> str:
    """A quota as a reader writes it."""
    return f"{100 * quota:.4g} %" if isinstance(quota, float) else f"{quota:,}"


def rule_rows(rules: BatchRules) -> list[dict[str, Any]]:
    """One row for each way to fill the places of batches; what became of a queue where there is one."""
    rows = []
    for row in rules.table:
        made = {
            "rule": row["rule"],
            "hits": count(row["hits"]),
            "places used": count(row["places"]),
            "hit rate": format_value(row["hit_rate"]),
            "hits per batch": format_value(row["hits_per_batch"]),
            "interval": ends(row["low"], row["high"]),
            "batches that overflow": count(row["overflow"]),
            "batches with empty places": count(row["unfilled"]),
        }
        if any(rule.queued for rule in rules.values()):
            queued = rules[row["rule"]].queued
            wait = {"longest queue": row["longest_queue"], "waiting at the end": row["waiting"]}
            made |= {key: count(value) if queued else "" for key, value in wait.items()}
            made["mean wait in batches"] = format_value(row["mean_wait"]) if queued else ""
        rows.append(made)
    return rows


def batch_rows(point: Any) -> list[dict[str, Any]]:
    """What each batch holds at its cut, for a reader."""
    return [
        {
            "batch": str(row["batch"]),
            **{key: count(row[key]) for key in ("cases", "positives", "places", "hits")},
            "hit rate": format_value(row["hit_rate"]),
            "recall": format_value(row["recall"]),
            "threshold": format_value(row["threshold"]),
        }
        for row in point.batches
    ]


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


def count_range(low: float, high: float) -> str:
    """An interval of counts."""
    shown = f"{low:,.1f} to {high:,.1f}" if high < 1000 else f"{low:,.0f} to {high:,.0f}"
    return shown.replace("-", "−")


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
    from ..inference.proportions import wilson

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
    names = {m.name for m in measures()}
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


def applicable(ev: Evaluation) -> list[str]:
    """The measures that go with these scores, one family after another."""
    one_class = _one_class(ev)
    keys = [key for key, e in ev.estimates.items() if one_class or e.value == e.value]
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
        row = {"family": one.family, "measure": name, "": ARROWS[one.better], "value": format_value(e.value)}
        if level is not None:
            row[interval] = ends(e.low, e.high)
            row["method"] = e.method
        same = "same as " + ", ".join(disguises[key]) if key in disguises else ""
        caution = one.caution if e.low == e.low else ""
        moves = "depends on the prevalence" if key in ev.moved else ""
        row["note"] = e.reason or "; ".join(part for part in (caution, moves, unit_of(spec), same) if part)
        rows.append(row)
    return rows


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


def class_rows(ovr: OneVsRest, keys: Sequence[str]) -> list[dict[str, Any]]:
    """One row for each class of a multi-class file, then the means."""
    rows: list[dict[str, Any]] = [
        {"class": str(label), "rows": ev.facts["positives"], **{key: ev[key].value for key in keys}}
        for label, ev in ovr.evaluations.items()
    ]
    rows.append({"class": "macro mean", "rows": None, **{key: ovr.macro(key) for key in keys}})
    rows.append({"class": "weighted mean", "rows": None, **{key: ovr.weighted(key) for key in keys}})
    return rows


def answer(result: Any, quota: int | float) -> list[str]:
    """The result in two sentences: what the quota gives by which model, and how sure that is."""
    evaluations = models_of(result)
    first = evaluations[0]
    if _one_class(first):
        return [headline(first, named=len(evaluations) == 1)]
    if not getattr(result, "paired", True):
        return _apart(result, quota)
    ordered = sorted(evaluations, key=lambda ev: -ev.at(quota=quota).tp)
    best, point = ordered[0], ordered[0].at(quota=quota)
    if first.rows.batched:
        said = point_sentence(best, point)
        if len(ordered) == 1:
            return [said]
        each = f"With {quota_words(quota)} places in each batch, use {best.name}. {said}"
        return [each, _lead(result, ordered, quota)]
    low, high = point.expected_hits.interval
    within = "" if low != low else f" ({first.settings.level:.0%} interval {count_range(low, high)})"
    what = (
        f"expect {pluralize(point.tp, 'hit')}{within}, {point.lift:.1f} times as many "
        f"as a random choice; {count(point.fn)} of the {pluralize(point.tp + point.fn, 'positive')} "
        f"{'gets' if point.fn == 1 else 'get'} no place"
    )
    if len(ordered) == 1:
        return [f"Among the best {quota:,} of {count(first.ranking.cases)}, {what}.", _how_sure(best, point)]
    luck = result.choice_optimism if quota == result.quota else math.nan
    sentences = [f"With {pluralize(quota, 'place')}, use {best.name}: {what}.", _lead(result, ordered, quota)]
    if luck >= 0.1:
        expected = max(0.0, point.tp - luck)
        sentences.append(
            f"About {luck:.1f} of these hits are optimism from choosing the best of {len(ordered)} models on the same "
            f"cases; on new cases expect about {expected:.1f}."
        )
    return sentences


def range_answer(result: Any) -> list[str]:
    """What an unknown quota gives on average, by which model, and how sure that is; nothing where it was not asked."""
    evaluations = models_of(result)
    first = evaluations[0]
    if first.quotas is None or _one_class(first) or "hit_rate" not in first:
        return []
    alike = ", all equally likely" if first.quotas.through else ""
    if len(evaluations) == 1:
        found = [f"a hit rate of {_percents(first['hit_rate'])}"]
        if "qrecall" in first:
            found.append(f"{_percents(first['qrecall'])} of the positives")
        return [f"With {first.quotas.words}{alike}, expect on average {' and '.join(found)}."]
    verdict = result.verdict("hit_rate", f"quota {first.quotas}")
    mark = ", " if verdict.status == "cannot tell" else "; "
    value = f"a hit rate of {_percents(verdict.value)} on average"
    if not result.paired:
        return [f"With {first.quotas.words}{alike}, {verdict.best} has the highest: {value}.", OWN_CASES]
    return [f"With {first.quotas.words}{alike}, use {verdict.best}: {value}{mark}{verdict.sentence}."]


def between(e: Any) -> str:
    """The interval of a share in brackets; empty where there is none."""
    return f" ({e.level:.0%} interval {e.low:.1%} to {e.high:.1%})" if e.low == e.low else ""


def _percents(e: Any) -> str:
    return f"{e.value:.1%}{between(e)}"


def _apart(result: Any, quota: int | float) -> list[str]:
    """The answer where each has cases of its own, perhaps groups of people: the highest value, and no advice."""
    if "hit_rate" not in next(iter(result.evaluations.values())):
        return [OWN_CASES]
    verdict = result.verdict("hit_rate", "known quota")
    mark = ", " if verdict.status == "cannot tell" else "; "
    value = f"{format_value(verdict.value.value)}{mark}{verdict.sentence}"
    return [f"At {quota:,} places, {verdict.best} has the highest hit rate, {value}.", OWN_CASES]


def _how_sure(ev: Evaluation, point: Any) -> str:
    rate = f"That is a hit rate of {point.hit_rate:.1%} and {point.qrecall:.1%} of all positives"
    if "roc_auc" not in ev or ev["roc_auc"].low != ev["roc_auc"].low:
        return f"{rate}."
    auc = ev["roc_auc"]
    chance = "better than chance" if auc.low > 0.5 else "not shown to be better than chance"
    spread = f"{format_value(auc.low)} to {format_value(auc.high)}"
    return f"{rate}; over the whole list the ranking is {chance} (AUC {format_value(auc.value)}, {spread})."


def _lead(result: Any, ordered: list[Evaluation], quota: int | float) -> str:
    """How sure the best model's lead over the next one at this quota is."""
    best, second = ordered[0], ordered[1]
    gap = best.at(quota=quota).tp - second.at(quota=quota).tp
    if gap < 1e-9:
        return f"{best.name} and {second.name} are tied: both find the same number at this quota."
    lead = f"It finds {count(gap)} more than {second.name}"
    if result.quota != quota or "hit_rate" not in best:
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
        rows.append(row | {name: with_interval(ev.estimates[key]) for name, ev in comparison.evaluations.items()})
    return rows


def differences_of(comparison: Comparison, keys: Sequence[str]) -> list[dict[str, Any]]:
    """Pair by pair for some measures, with a reading in words."""
    rows = [row for key in keys for row in comparison.differences if row["measure"] == key]
    return [
        {"measure": row["measure"], "models": f"{row['a']} − {row['b']}", **tested(row), "reading": row["reading"]}
        for row in rows
    ]


def p_value(value: float) -> str:
    """A p-value as it is printed."""
    return "–" if value != value else ("< 0.001" if value < 0.001 else f"{value:.3f}")


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

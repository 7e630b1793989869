"""Results in sentences: the same words on the terminal and on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..table import count, format_value, pluralize
from .numbers import models_of

if TYPE_CHECKING:
    from ..evaluation import Evaluation


def headline(ev: Evaluation) -> str:
    """How many rows, how many positives; and where one class is missing, that nothing can be judged."""
    facts = ev.facts
    weighted = ", weighted" if facts["weighted"] else ""
    absent = [kind for kind in ("positive", "negative") if facts[f"{kind}s"] == 0]
    warning = f"; there is no {absent[0]} case, so no ranking can be judged" if absent else ""
    return (
        f"{ev.name}: {pluralize(facts['rows'], 'row')}, {facts['positives']:,} positive "
        f"({facts['share_positive']:.1%}){weighted}{warning}"
    )


def _one_class(ev: Evaluation) -> bool:
    return bool(ev.facts["positives"] == 0 or ev.facts["negatives"] == 0)


def quota_sentence(ev: Evaluation) -> str:
    """What the evaluation's quota gives; empty without one."""
    if ev.quota is None or _one_class(ev):
        return ""
    point = ev.at(quota=ev.quota)
    low, high = point.expected_hits.interval
    text = (
        f"The best {ev.quota:,} {'holds' if ev.quota == 1 else 'hold'} {count(point.tp)} of the "
        f"{pluralize(ev.facts['positives'], 'positive')} "
        f"({ev.settings.level:.0%} interval {count_range(low, high)}): hit rate {format_value(point.hit_rate)}, "
        f"Qrecall {format_value(point.qrecall)}, {point.lift:.2f} times chance."
    )
    if point.tied > 1 and point.from_tie < point.tied:
        text += (
            f" The cut falls inside a tie: {count(point.from_tie)} of {count(point.tied)} cases that score "
            f"{format_value(point.threshold)} get a place, which makes it {count(point.hits_worst)} to "
            f"{count(point.hits_best)} positives depending on who."
        )
    return text


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
        f"{tied:.1%} of the pairs of a positive and a negative have the same score "
        f"({pluralize(ev.facts['distinct_scores'], 'distinct score')}): each counts half."
    )


def answer(result: Any, quota: int) -> list[str]:
    """The result in two sentences: what the quota gives by which model, and how sure that is."""
    evaluations = models_of(result)
    first = evaluations[0]
    if first.facts["weighted"] or _one_class(first):
        said = headline(first)
        return [said if len(evaluations) == 1 else said[len(first.name) + 2 :]]
    level = first.settings.level
    ordered = sorted(evaluations, key=lambda ev: -ev.at(quota=quota).tp)
    best, point = ordered[0], ordered[0].at(quota=quota)
    low, high = point.expected_hits.interval
    interval = f"{level:.0%} interval {count_range(low, high)}"
    what = (
        f"expect {pluralize(point.tp, 'hit')} ({interval}), {point.lift:.1f} times as many "
        f"as by a random choice; {count(point.fn)} of the {pluralize(point.tp + point.fn, 'positive')} "
        f"{'gets' if point.fn == 1 else 'get'} no place"
    )
    if len(ordered) == 1:
        return [f"Among the best {quota:,} of {first.facts['rows']:,}, {what}.", _how_sure(best, point)]
    return [f"With {pluralize(quota, 'place')}, choose by {best.name}: {what}.", _lead(result, ordered, quota)]


def _how_sure(ev: Evaluation, point: Any) -> str:
    rate = f"That is a hit rate of {point.hit_rate:.1%} and {point.qrecall:.1%} of all positives"
    if "roc_auc" not in ev or ev["roc_auc"].low != ev["roc_auc"].low:
        return f"{rate}."
    auc = ev["roc_auc"]
    chance = "better than chance" if auc.low > 0.5 else "not shown to be better than chance"
    spread = f"{format_value(auc.low)} to {format_value(auc.high)}"
    return f"{rate}; over the whole list the ranking is {chance} (AUC {format_value(auc.value)}, {spread})."


def _lead(result: Any, ordered: list[Evaluation], quota: int) -> str:
    """How sure the best model's lead over the next one at this quota is."""
    best, second = ordered[0], ordered[1]
    gap = best.at(quota=quota).tp - second.at(quota=quota).tp
    if gap < 1e-9:
        return f"{second.name} finds just as many, so at this quota there is nothing to choose between them."
    lead = f"It finds {count(gap)} more than {second.name}"
    if result.quota == quota and "hit_rate" in best:
        row = result.difference(best.name, second.name, "hit_rate")
        low, high = row["low"] * quota, row["high"] * quota
        if low > 0:
            return f"{lead}, and that lead is beyond chance (interval {count_range(low, high)})."
        if low == low:
            return f"{lead}, but the data cannot tell yet whether that is luck (interval {count_range(low, high)})."
    return f"{lead}."

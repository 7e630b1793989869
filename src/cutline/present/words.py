"""Results in sentences: the same words on the terminal and on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rows import show

if TYPE_CHECKING:
    from ..evaluate import Evaluation


def count(value: float) -> str:
    """A number of cases: whole where it is whole, one digit where ties make it a share."""
    return f"{round(value):,}" if abs(value - round(value)) < 1e-9 else f"{value:,.1f}"


def headline(ev: Evaluation) -> str:
    """How many rows, how many positives."""
    facts = ev.facts
    weighted = ", weighted" if facts["weighted"] else ""
    return (
        f"{ev.name}: {facts['rows']:,} rows, {facts['positives']:,} positive ({facts['share_positive']:.1%}){weighted}"
    )


def quota_sentence(ev: Evaluation) -> str:
    """What the evaluation's quota gives; empty without one."""
    if ev.quota is None or ev.facts["positives"] == 0:
        return ""
    from .explorer import hits_interval

    point = ev.at(quota=ev.quota)
    low, high = hits_interval(point.tp, ev.quota, ev.settings.level)
    text = (
        f"The best {ev.quota:,} hold {count(point.tp)} of the {count(ev.facts['positives'])} positives "
        f"({ev.settings.level:.0%} interval {count_range(low, high)}): hit rate {show(point.hit_rate)}, "
        f"Qrecall {show(point.qrecall)}, {point.lift:.2f} times chance."
    )
    if point.tied > 1 and point.from_tie < point.tied:
        text += (
            f" The cut falls inside a tie: {count(point.from_tie)} of {count(point.tied)} cases that score "
            f"{show(point.threshold)} get a place, which makes it {count(point.hits_worst)} to "
            f"{count(point.hits_best)} positives depending on who."
        )
    return text


def count_range(low: float, high: float) -> str:
    """An interval of counts."""
    return f"{low:,.1f} to {high:,.1f}" if high < 1000 else f"{low:,.0f} to {high:,.0f}"


def ties_sentence(ev: Evaluation) -> str:
    """How much is tied, where it matters."""
    tied = ev.facts["tied_pairs"]
    if not tied > 0.01:
        return ""
    return (
        f"{tied:.1%} of the pairs of a positive and a negative have the same score "
        f"({ev.facts['distinct_scores']:,} distinct scores): each counts half."
    )

"""Which model for which goal, in words, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from ..errors import InputError
from ..table import format_value

# goal -> (measure, why this measure)
GOALS: dict[str, tuple[str, str]] = {
    "known quota": (
        "hit_rate",
        "with a known number of places the best model has the most hits among them; at one quota hit rate and Qrecall "
        "always agree",
    ),
    "unknown quota": (
        "pem",
        "when the number of places is not known, PEM weighs all quotas alike; it is 2·AUC − 1, so AUC and Gini say the "
        "same",
    ),
    "no missed positives": (
        "average_qrecall",
        "average Qrecall looks at the quotas that could hold all positives, and counts those that are left out",
    ),
    "no wasted places": (
        "average_hit_rate",
        "average hit rate looks at the places of the positives, and falls most with negatives near the top of the list",
    ),
    "probabilities needed": (
        "brier_score",
        "where the probabilities themselves are used, they must be right, not only in order, and the Brier score is a "
        "strictly proper score",
    ),
    "fewest errors": (
        "linear_ranking",
        "Linear Ranking compares all pairs of cases and so finds the better classifier more often than the error rate, "
        "where scores and decisions go together (Rosset); check the error rate at your threshold beside it",
    ),
}


@dataclass(frozen=True)
class Recommendation:
    """A model for a goal. ``sure`` is whether the data tell it from every other; ``cases_needed`` how many would."""

    goal: str
    measure: str
    model: str
    sure: bool
    rival: str | None
    cases_needed: float
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Recommendation({self.goal}: {self.text})"


def recommend(comparison: Any, goal: str) -> Recommendation:
    """The model that a comparison recommends for one goal."""
    if goal not in GOALS:
        raise InputError(f"goal={goal!r} is unknown; choose one of {', '.join(GOALS)}")
    name, why = GOALS[goal]
    if goal == "known quota" and comparison.quota is None:
        raise InputError("goal='known quota' needs a quota: pass quota=… to compare()")
    key = comparison.key(name)
    best = comparison.best(name)
    others = [other for other in comparison.evaluations if other != best]
    value = comparison.evaluations[best].estimates[key]
    said = f"{best}: {key} {format_value(value.value)}"
    if value.low == value.low:
        said += f" ({value.level:.0%} interval {format_value(value.low)} to {format_value(value.high)})"
    if not others:
        return Recommendation(goal, key, best, True, None, math.nan, f"{said}. It is the only model. Why: {why}.")
    gaps = {other: comparison.difference(best, other, key) for other in others}
    without = [other for other, gap in gaps.items() if gap["difference"] != gap["difference"]]
    if without:
        said += f"; {', '.join(without)} {'has' if len(without) == 1 else 'have'} no value here"
    if all(gap["p_value"] != gap["p_value"] for gap in gaps.values()):
        untested = (
            "no other model has a value" if len(without) == len(others) else "without intervals nothing was tested"
        )
        return Recommendation(goal, key, best, False, None, math.nan, f"{said}: {untested}. Why this measure: {why}.")
    known = {other: gap for other, gap in gaps.items() if gap["p_value"] == gap["p_value"]}
    doubtful = {other: gap for other, gap in known.items() if not _clear(gap)}
    if not doubtful:
        text = f"{said}; better than {', '.join(known)} beyond chance (Holm-adjusted). Why: {why}."
        return Recommendation(goal, key, best, True, None, math.nan, text)
    rival = min(doubtful, key=lambda other: abs(doubtful[other]["difference"]))
    if doubtful[rival]["difference"] == 0:
        text = f"cannot tell yet. {said}; {rival} is level with it. Why this measure: {why}."
        return Recommendation(goal, key, best, False, rival, math.inf, text)
    needed = _needed(doubtful[rival], comparison.evaluations[best].ranking.rows)
    more = (
        f"; some {_round(needed):,} cases like these would tell them apart (80 % power)"
        if math.isfinite(needed)
        else ""
    )
    text = f"cannot tell yet. {said}, ahead of {rival} by no more than chance gives{more}. Why this measure: {why}."
    return Recommendation(goal, key, best, False, rival, needed, text)


def _clear(gap: Mapping[str, Any]) -> bool:
    return bool(gap["p_adjusted"] < 0.05 and (gap["low"] > 0 or gap["high"] < 0))


def _needed(gap: Mapping[str, Any], rows: int) -> float:
    """Cases for 80 % power at the adjusted 5 %: the standard error shrinks with the root of their number."""
    difference, error = abs(gap["difference"]), gap["standard_error"]
    if not difference > 0 or not error > 0:
        return math.inf
    adjusted = 0.05 * min(1.0, gap["p_value"] / gap["p_adjusted"]) if gap["p_adjusted"] > 0 else 0.05
    normal = NormalDist()
    z = normal.inv_cdf(1.0 - adjusted / 2.0) + normal.inv_cdf(0.8)
    return float(max(rows + 1, rows * (z * error / difference) ** 2))


def _round(value: float) -> int:
    digits = max(0, int(math.log10(max(value, 1.0))) - 1)
    return int(math.ceil(value / 10**digits) * 10**digits)

"""Which model for which goal, in words, and how sure that is."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..errors import InputError
from ..estimate import Estimate, Interval
from ..inference.differences import DifferenceTest, paired_difference, sums_by
from ..inference.leads import units_of
from ..kernels.plain_rankings import tie_starts
from ..quotas import Quotas
from ..table import KeepsFields, format_value
from ..validate import one_of
from ..verdict import Verdict, differences_of, verdict_of

_BETWEEN = re.compile(r"^\s*quota between (\S+) and (\S+)\s*$")
_FOLDS = 10
# goal -> (measure, why this measure)
GOALS: dict[str, tuple[str, str]] = {
    "known quota": (
        "hit_rate",
        "with a known number of places, the best model is the one with the most hits; at one quota, hit rate and "
        "Qrecall always agree",
    ),
    "unknown quota": (
        "pem",
        "when the number of places is unknown, PEM weights all quotas equally; it is 2·AUC − 1, so AUC and Gini agree "
        "with it",
    ),
    "no missed positives": (
        "average_qrecall",
        "average Qrecall covers the quotas that are large enough for all positives and counts the positives left out",
    ),
    "no wasted places": (
        "average_hit_rate",
        "average hit rate drops most when negatives rank near the top of the list",
    ),
    "probabilities needed": (
        "brier_score",
        "when the probabilities themselves are used, they must be right, not only well ordered; the Brier score is "
        "strictly proper",
    ),
    "rare positives": (
        "average_precision",
        "with rare positives, accuracy rewards models that find none; average precision depends on where the positives "
        "rank (at one threshold, use the Matthews correlation)",
    ),
    "fewest errors": (
        "error_rate",
        "the error rate counts the wrong decisions at the threshold in use; Linear Ranking compares all pairs of cases "
        "and supports the choice if ranking and decisions agree (Rosset)",
    ),
}


@dataclass(frozen=True, eq=False)
class Recommendation(KeepsFields):
    """A model for a goal, and the verdict that it rests on.

    ``sure`` is whether the model differs significantly from every other, adjusted for the comparisons made.
    ``cases_needed`` is the range of cases needed to detect a difference from every rival: the margin if there is one,
    otherwise the observed difference; None if no number can be given. ``support`` is the verdict by Linear Ranking, if
    the goal is the fewest errors.
    """

    goal: str
    verdict: Verdict
    why: str
    support: Verdict | None = None

    @property
    def cases_needed(self) -> Interval | None:
        """The range of cases needed to detect a difference from every rival; None if no number can be given."""
        needed = self.verdict.cases_needed
        return None if needed is None else Interval(needed.low, needed.high)

    @property
    def measure(self) -> str:
        """The measure for the goal."""
        return self.verdict.measure

    @property
    def model(self) -> str:
        """The recommended model."""
        return self.verdict.best

    @property
    def rival(self) -> str | None:
        """The closest model that does not differ significantly."""
        return None if self.verdict.rival is None else self.verdict.rival.b

    @property
    def contradicted(self) -> bool:
        """Whether the supporting measure prefers another model."""
        return self.support is not None and self.support.best != self.model and self.support.status != "level"

    @property
    def sure(self) -> bool:
        """Whether the model differs significantly from every other, and nothing contradicts it."""
        return self.verdict.sure and not self.contradicted

    @property
    def text(self) -> str:
        """The recommendation in words."""
        v, value = self.verdict, self.verdict.value
        said = f"{v.best}: {v.measure} {format_value(value.value)}"
        if value.low == value.low:
            said += f" ({value.level:.0%} interval {format_value(value.low)} to {format_value(value.high)})"
        names = ", ".join(v.without_value)
        mark = ", " if v.status == "cannot tell" else ". " if v.status == "only model" else "; "
        said += mark + v.sentence + (f" for this measure ({names})" if v.alone else "")
        if names and not v.alone:
            said += f"; {names} {'has' if len(v.without_value) == 1 else 'have'} no value for this measure"
        if not self.sure and v.status not in ("not tested", "equivalent"):
            said = f"cannot tell yet. {said}"
        return f"{said}.{self._supported()} Why this measure: {self.why}."

    def _supported(self) -> str:
        """What Linear Ranking says of it."""
        other = self.support
        if other is None or other.status == "only model" or self.verdict.status == "not tested":
            return ""
        if self.contradicted:
            return (
                f" But Linear Ranking prefers {other.best}: ranking and decisions disagree here, so another "
                "threshold could reverse this; compare the error rates at each model's own best threshold."
            )
        sure = ", and clearly so" if other.sure else ""
        return f" Linear Ranking agrees{sure}."

    def to_dict(self) -> dict[str, Any]:
        """Goal, verdict and text as plain values."""
        return {
            "goal": self.goal,
            "model": self.model,
            "measure": self.measure,
            "sure": self.sure,
            "status": self.verdict.status,
            "rival": self.rival,
            "comparisons": self.verdict.comparisons,
            **self.verdict.needs,
            "text": self.text,
        }

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Recommendation({self.goal}: {self.text})"


def recommend(
    comparison: Any, goal: str, *, best_thresholds: bool = False, compare_more: bool = False
) -> Recommendation:
    """The model that a comparison recommends for one goal; ``compare_more`` compares by its measure where need be."""
    between = _BETWEEN.match(goal) if isinstance(goal, str) else None
    if between is None:
        one_of(*GOALS, "quota between … and …")(goal, "goal")
        name, why = GOALS[goal]
    else:
        quotas = Quotas.of(f"{between[1]}-{between[2]}", "goal")
        name = f"hit_rate@{quotas}"
        why = f"with {quotas.words}, all equally likely, the best model has the most hits on average"
    if goal == "known quota" and comparison.quota is None:
        raise InputError("goal", "'known quota' needs a number of places", "pass {quota} to compare()")
    if best_thresholds and goal != "fewest errors":
        raise InputError("best_thresholds", "is for the goal 'fewest errors'", "leave it out")
    if best_thresholds and not comparison.paired:
        raise InputError("best_thresholds", "needs models on the same rows", "leave it out")
    if not comparison.paired:
        why += "; each has its own cases here, so a difference may come from the cases"
    first = next(iter(comparison.evaluations.values()))
    compared = comparison.with_measures(name) if compare_more and name not in first else comparison
    verdict = error_verdict(comparison) if best_thresholds else compared.verdict(name, goal)
    support = None
    if goal == "fewest errors" and comparison.paired and "linear_ranking" in first:  # it grows with the cases
        support = comparison.verdict("linear_ranking", goal)
    return Recommendation(goal, verdict, why, support)


def error_verdict(comparison: Any) -> Verdict:
    """By the error rate at each model's own best threshold, without the optimism of choosing it on the same cases.

    Each tenth of the cases (or clusters) is decided at the threshold that makes the fewest errors in the others.
    """
    wrong = {
        name: cross_fitted_errors(ev.rows, comparison.settings.seed) for name, ev in comparison.evaluations.items()
    }
    level, margin = comparison.settings.level, comparison.margin
    pairs = []
    for a, b in combinations(wrong, 2):
        gap = float(wrong[a].mean() - wrong[b].mean())
        pairs.append((a, b, gap, _tested(wrong[a], wrong[b], comparison, a)))
    key = "error_rate at the best threshold"
    found = differences_of(key, "lower", pairs, level, margin, comparison.cases)
    rates = {name: float(errors.mean()) for name, errors in wrong.items()}
    best = min(rates, key=rates.__getitem__)
    return verdict_of("fewest errors", key, best, Estimate(key, rates[best]), list(rates), found)


def _tested(one: Any, two: Any, comparison: Any, a: str) -> DifferenceTest:
    """The difference of two error rates on the same rows (or clusters), by sign flips."""
    rows, settings = comparison.evaluations[a].rows, comparison.settings
    unit, units = units_of(len(one), rows.clusters, settings.seed)
    gaps = one.astype(np.float64) - two
    influence = sums_by(unit, (gaps - gaps.mean()) / len(gaps), units)
    n_pos = int(np.count_nonzero(rows.sample.positive))
    rates = float(one.mean()), float(two.mean())
    few = min(n_pos, len(gaps) - n_pos)
    made = paired_difference(rates, influence, few, settings.seed, "cross-fitted, sign flips")
    if made is not None:
        return made.test(settings.level, 1.0)
    return DifferenceTest(0.0, 0.0, 0.0, 1.0, "same decisions") if rates[0] == rates[1] else DifferenceTest()


def cross_fitted_errors(rows: Any, seed: int) -> Any:
    """Which rows are decided wrongly, each at the threshold that is best in the folds that do not hold it."""
    sample = rows.sample
    if sample.weight is not None:
        raise InputError("sample_weight", "cannot be used with best thresholds", "leave it out")
    units = np.arange(len(sample)) if rows.clusters is None else rows.clusters
    rng = np.random.default_rng([seed, 4])
    fold = rng.permutation(np.arange(int(units.max()) + 1) % _FOLDS)[units]
    wrong = np.zeros(len(sample), np.bool_)
    for k in np.unique(fold):
        inside = fold == k
        cut = _best_threshold(sample.positive[~inside], sample.score[~inside])
        wrong[inside] = (sample.score[inside] > cut) != sample.positive[inside]
    return wrong


def _best_threshold(positive: Any, score: Any) -> float:
    """The threshold with the fewest errors, half way to the next score where that can be."""
    order = np.argsort(-score, kind="stable")
    ordered, right = score[order].astype(np.float64), np.where(positive[order], 1, -1)
    ends = np.append(tie_starts(ordered)[1:], len(ordered)) - 1
    saved = np.concatenate([[0], np.cumsum(right)[ends]])  # errors saved by taking so many groups
    groups = int(np.argmax(saved))
    if groups == 0:
        return math.inf
    if groups == len(ends):
        return -math.inf
    low, high = ordered[ends[groups - 1] + 1], ordered[ends[groups - 1]]
    middle = low + (high - low) / 2.0 if low > -math.inf else low
    return float(middle if low <= middle < high else low)

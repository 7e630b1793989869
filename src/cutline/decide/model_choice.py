"""Which model: for a goal, at which quota or false positive rate, and what changes when one replaces another."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import ColumnOrder
from ..curves import hull_points
from ..errors import InputError
from ..estimate import Estimate
from ..inference.bands import hits_by, units_of
from ..inference.differences import DifferenceTest, guard_freedom, paired_difference
from ..inference.limits import mover_limits, wilson, z_of
from ..kernels import compiled
from ..quotas import Quotas, resolve_quota
from ..ranking import Ranking, membership, midranks
from ..sources.arrays import Sample
from ..table import DictResult, HasSections, PicklesFields, Section, Table, count, format_value, pluralize, round_up
from ..types import Floats
from ..validate import one_of
from ..verdict import Difference, Verdict

_BETWEEN = re.compile(r"^\s*quota between (\S+) and (\S+)\s*$")
_SAME = 1e-9  # hits: what sums of tied shares may differ by rounding
NO_LEADER = "no clear leader"
_IN_BUCKETS = "Scores came in buckets: cases count at the middle of theirs, so that all numbers here are approximate."
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
        "the error rate counts the wrong decisions at the threshold in use; the ranking, which compares all pairs of "
        "cases, supports the choice if it agrees with the decisions (Rosset)",
    ),
}


@dataclass(frozen=True, eq=False)
class Recommendation(PicklesFields):
    """A model for a goal, and the verdict that it rests on.

    ``sure`` is whether the model differs significantly from every other, adjusted for the comparisons made.
    ``support`` is the verdict by Linear Ranking, if the goal is the fewest errors, and ``consistency`` tells whether it
    may decide if the error rates do not, or if it prefers another model.
    """

    goal: str
    verdict: Verdict
    why: str
    support: Verdict | None = None
    consistency: Consistency | None = None

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
    def status(self) -> str:
        """The status of the verdict; ``clear at this threshold`` if it is clear, but the ranking contradicts it."""
        status = self.verdict.status
        return f"{status} at this threshold" if status == "clear" and self.contradicted else status

    @property
    def text(self) -> str:
        """The recommendation in words."""
        v, value = self.verdict, self.verdict.value
        text = f"{v.best}: {v.measure} {format_value(value.value)}"
        if value.low == value.low:
            text += f" ({value.level:.0%} interval {format_value(value.low)} to {format_value(value.high)})"
        names = " and ".join(v.without_value)
        mark = ", " if v.status == "cannot tell" else ". " if v.status == "only model" else "; "
        alone = 0 < len(v.without_value) == len(v.differences)
        text += mark + v.sentence + (f" for this measure ({names})" if alone else "")
        if names and not alone:
            text += f"; {names} {'has' if len(v.without_value) == 1 else 'have'} no value for this measure"
        ranked = self.consistency is not None and self.consistency.verdict == "yes"
        if self.status != v.status:
            text = f"{self.status}. {text}"
        elif not self.sure and v.status not in ("not tested", "equivalent"):
            text = f"cannot tell yet{' by the decisions alone' if ranked else ''}. {text}"
        other, support = self.support, ""
        if self.contradicted and v.status != "not tested" and other is not None:
            support = f" But the ranking prefers {other.best}{'' if other.sure else ', though not clearly'}: "
            support += "ranking and decisions disagree here, so another threshold could reverse this."
        elif other is not None and other.status != "only model" and v.status != "not tested":
            support = f" The ranking agrees{', and clearly so' if other.sure else ''}."
        if self.consistency is not None:
            support += f" {self.consistency.sentence}."
        return f"{text}.{support} Why this measure: {self.why}."

    def to_dict(self) -> dict[str, Any]:
        """Goal, verdict and text as plain values."""
        document = {name: getattr(self, name) for name in ("goal", "model", "measure", "sure", "status", "rival")}
        document |= {"comparisons": self.verdict.comparisons, **self.verdict.needs}
        document |= {} if self.consistency is None else {"consistency": self.consistency.to_dict()}
        return {**document, "text": self.text}

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Recommendation({self.goal}: {self.text})"


def recommend(comparison: Any, goal: str, *, compare_more: bool = False) -> Recommendation:
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
    if not comparison.paired:
        why += "; each has its own cases here, so a difference may come from the cases"
    first = next(iter(comparison.evaluations.values()))
    compared = comparison.with_measures(name) if compare_more and name not in first else comparison
    verdict = compared.verdict(name, goal)
    support, tested = None, None
    if goal == "fewest errors" and comparison.paired and "linear_ranking" in first:  # it grows with the cases
        support = comparison.verdict("linear_ranking", goal)
        rival = None if verdict.rival is None else verdict.rival.b
        other = rival if support.best == verdict.best else support.best
        if other is not None and verdict.tested:
            with suppress(InputError):  # weights, batches and streams leave no pairs of rows to count
                tested = comparison.consistency(verdict.best, other)
    return Recommendation(goal, verdict, why, support, tested)


@dataclass(frozen=True, eq=False, repr=False)
class Consistency(HasSections, DictResult):
    """May a ranking decide which of two models makes fewer errors? (Rosset, section 7)

    A threshold crossing is a case that the models decide differently, an order switch a pair of a positive and a
    negative that they order differently (one that only one of them ties counts half). ``decisions_a`` and ``pairs_a``
    are those in which ``a`` is right: their differences from ``decisions_b`` and ``pairs_b`` are the differences of the
    correct decisions (Rosset 6.2, sign corrected) and of Linear Ranking (6.3).

    ``expected_crossings`` and ``expected_gain`` are what the order switches give at a cut at any place of the list, on
    average: Σ|place in a − place in b|/n crossings, and 2·(pairs_a − pairs_b)/n more correct decisions of ``a``.
    ``beyond`` is what ``a`` gains at the threshold less that expectation, with ``p_value`` for its being 0. Ranking and
    decisions disagree if the model with the better order clearly gains less at the threshold than its order gives.
    ``ranking`` and ``errors`` are the differences by Linear Ranking and by the error rate.
    """

    document: ClassVar[tuple[str, ...]] = (
        *("a", "b", "threshold", "crossings", "decisions_a", "decisions_b", "switches", "pairs_a", "pairs_b"),
        *("expected_crossings", "gain", "expected_gain", "beyond", "p_value", "verdict", "sentence"),
    )

    a: str
    b: str
    threshold: float
    decisions_a: int
    decisions_b: int
    pairs_a: float
    pairs_b: float
    expected_crossings: float
    expected_gain: float
    beyond: Estimate
    p_value: float
    ranking: Difference
    errors: Difference
    in_buckets: bool = False

    @property
    def crossings(self) -> int:
        """The cases that the models decide differently."""
        return self.decisions_a + self.decisions_b

    @property
    def switches(self) -> float:
        """The pairs of a positive and a negative that the models order differently; ties of one model count half."""
        return self.pairs_a + self.pairs_b

    @property
    def gain(self) -> int:
        """How many more correct decisions ``a`` makes at the threshold."""
        return self.decisions_a - self.decisions_b

    @property
    def verdict(self) -> Literal["yes", "no", "cannot tell"]:
        """Whether Linear Ranking may decide for the fewest errors.

        ``yes`` if its difference is significant, the decisions point the same way, and do not gain significantly less
        than the order gives; ``no`` if they gain significantly less, or if only the errors differ significantly.
        """
        better = self.ranking.leader
        if better is None:
            return "no" if self.errors.leader is not None or not self.switches else "cannot tell"
        sign = 1.0 if better == self.a else -1.0
        if self.p_value <= 1.0 - self.beyond.level and sign * self.beyond.value < 0:
            return "no"
        return "yes" if sign * self.gain > 0 else "cannot tell"

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        better, verdict, about = self.ranking.leader, self.verdict, "about " * self.in_buckets
        if better is None and verdict == "cannot tell":
            return f"The ranking cannot decide between {self.a} and {self.b}: it does not differ significantly"
        answer = f"The ranking can{'' if verdict == 'yes' else 'not'} decide which model makes fewer errors: "
        if verdict == "cannot tell":
            answer = "It is open whether the ranking can decide which model makes fewer errors: "
        if better is None:
            alike = "do not differ clearly in their order" if self.switches else "order positives and negatives alike"
            decided = f"{about}{pluralize(self.crossings, 'case')}"
            return f"{answer}{self.a} and {self.b} {alike} and decide {decided} differently"
        sign = 1 if better == self.a else -1
        expected, gain = (f"{about}{count(round(abs(of)))}" for of in (self.expected_gain, self.gain))
        order = f"the better order of {better} gives {expected} more correct decisions"
        here = f"{gain} {'more' if sign * self.gain >= 0 else 'fewer'}"
        here += ", which could be chance" if verdict == "cannot tell" else ""
        and_here = f"{'and' if verdict == 'yes' else 'but'} at the threshold {self.threshold:g} it makes {here}"
        return f"{answer}{order} on average over all cuts, {and_here}"

    @property
    def table(self) -> Table:
        """Decisions and pairs in which the models differ, and who is right."""
        rows = []
        for of, tested in (("decisions", self.errors), ("pairs", self.ranking)):
            a, b = getattr(self, f"{of}_a"), getattr(self, f"{of}_b")
            right = {f"{self.a} right": a, f"{self.b} right": b, "difference": a - b}
            rows.append({"of": of, "differ": a + b, **right, "adjusted p": tested.p_adjusted})
        return Table(rows, f"Where {self.a} and {self.b} differ")

    def sections(self) -> list[Section]:
        """The answer, the counts behind it, and the test."""
        d = self.beyond
        value, low, high = (f"{number:.1f}".replace("-", "−") for number in (d.value, d.low, d.high))
        value = "about " * self.in_buckets + value
        test = f"The gain of {self.a} at the threshold minus what its order gives on average is {value} decisions"
        if d.low == d.low:
            test += f" ({d.level:.0%} interval {low} to {high}, p = {format_value(self.p_value)})"
        return [Section("answer", [f"{self.sentence}.", self.table, f"{test}.", *[_IN_BUCKETS] * self.in_buckets])]


def consistency(
    one: Sample,
    two: Sample,
    threshold: float,
    ranking: Difference,
    errors: Difference,
    clusters: NDArray[np.int64] | None = None,
    seed: int = 0,
) -> Consistency:
    """Crossings and switches of two models on the same rows, and the test whether they agree.

    A row's influence on the gain per case is its own; that on 2/n²·(pairs won) comes from its pairs, by mid-ranks.
    """
    positive, n = one.positive, len(one)
    decided = [sample.score > threshold for sample in (one, two)]
    right = [int(np.count_nonzero((decided[0] != decided[1]) & (side == positive))) for side in decided]
    places = [midranks(sample.score) for sample in (one, two)]
    moved, within = places[0] - places[1], np.empty(n)
    for side in (positive, ~positive):
        within[side] = midranks(one.score[side]) - midranks(two.score[side])
    won = np.where(positive, 1.0, -1.0) * (moved - within)  # of its pairs, those that a orders rightly and b does not
    gained = float(won[positive].sum())
    share, expected = (right[0] - right[1]) / n, 2.0 * gained / n**2
    each = ((decided[0] == positive) * 1.0 - (decided[1] == positive) - share - 2.0 * (won / n - expected)) / n
    (unit, units), n_pos = units_of(n, clusters, seed), int(np.count_nonzero(positive))
    method = "decisions and pairs, sign flips"
    by_unit = np.bincount(unit, each, units).astype(np.float64)
    paired = paired_difference((share, expected), by_unit, guard_freedom(min(n_pos, n - n_pos)), method)
    value = n * (share - expected)
    same = DifferenceTest(0.0, 0.0, 0.0, 1.0) if abs(value) < 1e-9 else DifferenceTest()
    test = same if paired is None else paired.test(ranking.level, 1.0)
    beyond = Estimate("beyond", value, n * test.low, n * test.high, ranking.level, test.method)
    # Pairs ordered differently, those that one model ties counting half: with K the pairs ordered alike less those
    # ordered differently, and T those that both tie, (n⁺n⁻ − T − K)/2.
    ranked, (values, code) = ColumnOrder.of(places[0]), np.unique(places[1], return_inverse=True)
    both = np.unique(np.unique(places[0], return_inverse=True)[1] * len(values) + code, return_inverse=True)[1]
    tied = np.bincount(both[positive], minlength=n) @ np.bincount(both[~positive], minlength=n)
    alike: int = compiled.pairs_alike(ranked.order, ranked.tie, positive, code.astype(np.int32))
    crossed, switches = float(np.abs(moved).sum()) / n, (n_pos * (n - n_pos) - float(tied) - alike) / 2.0
    return Consistency(
        ranking.a,
        ranking.b,
        threshold,
        decisions_a=right[0],
        decisions_b=right[1],
        pairs_a=(switches + gained) / 2.0,
        pairs_b=(switches - gained) / 2.0,
        expected_crossings=crossed,
        expected_gain=n * expected,
        beyond=beyond,
        p_value=test.p_value,
        ranking=ranking,
        errors=errors,
    )


def leads(
    rankings: Mapping[str, Ranking], axis: str, places: Floats, grid: Floats, apart: Mapping[Any, Any], method: str
) -> Table:
    """From where to where one model clearly finds the most positives (Arbel & Rokach Fig. 4), the rest joined.

    ``apart``: where on the ``grid`` each pair of models is told apart, at all places and over all pairs at once;
    ``method`` tells how. ``more_hits``: mean lead over the next model.
    """
    names = list(rankings)
    hits = np.array([hits_by(ranking, axis, places) for ranking in rankings.values()])
    leader, ahead = np.zeros(len(places), np.int64), np.zeros(len(places))
    method = "one model" if len(names) == 1 else method
    if len(names) > 1:
        on_grid = np.array([hits_by(ranking, axis, grid) for ranking in rankings.values()]).argmax(axis=0)
        sure = np.ones(len(grid), np.bool_)
        for (a, b), told in apart.items():
            sure &= told | ((on_grid != a) & (on_grid != b))
        clear = np.where(sure, on_grid, -1)
        best, order = hits.argmax(axis=0), np.sort(hits, axis=0)
        ahead = order[-1] - order[-2]  # how many more than the next model
        leads_there = ahead > _SAME
        for before, side in ((1, "right"), (0, "left")):  # at the places of the grid on both sides
            near = np.searchsorted(grid, places, side=side) - before  # type: ignore[call-overload]
            leads_there &= clear[np.clip(near, 0, len(grid) - 1)] == best
        leader = np.where(leads_there, best, -1)
    rows, negatives = [], float(next(iter(rankings.values())).n_neg)
    for start, end in pairwise([0, *(np.flatnonzero(np.diff(leader)) + 1).tolist(), len(places)]):
        ends = float(places[start]), float(places[end - 1])
        first, last = map(int, ends) if axis == "quota" else (place / negatives for place in ends)
        who = int(leader[start])
        more = 0.0 if who < 0 else float(ahead[start:end].mean())
        row = {"from": first, "to": last, "leader": NO_LEADER if who < 0 else names[who], "clear": who >= 0}
        rows.append({**row, "more_hits": more, "method": method})
    return Table(rows, f"Who leads, by {axis}")


def family_hull(rankings: Mapping[str, Ranking]) -> Table:
    """The ROC convex hull of several models: which one, at which threshold, for which slopes.

    A vertex is optimal for slopes between ``slope_to`` and ``slope_from``, where slope = (cost of a false positive ·
    negatives) / (cost of a false negative · positives). Between two vertices a mixture of both is reached by
    choosing between them at random.
    """
    points = []  # the corners of each model's own hull: no other point lies on that of all
    for name, ranking in rankings.items():
        points += [(a, b, name, c) for a, b, c in zip(*(v.tolist() for v in hull_points(ranking)), strict=True)]
    points.sort(key=lambda p: (p[0], -p[1]))
    hull: list[tuple[float, float, str, float]] = []
    for point in points:
        if hull and point[0] == hull[-1][0] and point[1] <= hull[-1][1]:
            continue
        while len(hull) >= 2:
            a, b = hull[-2:]
            if (b[0] - a[0]) * (point[1] - b[1]) < (b[1] - a[1]) * (point[0] - b[0]) - 1e-15:
                break
            hull.pop()  # it lies under the line past it
        hull.append(point)
    if hull[0][1] > 0:  # the first vertex stands above the origin: nobody is taken at the origin
        hull.insert(0, (0.0, 0.0, hull[0][2], float(rankings[hull[0][2]].score[0])))
    slopes = [np.inf, *((b[1] - a[1]) / (b[0] - a[0]) if b[0] > a[0] else np.inf for a, b in pairwise(hull)), 0.0]
    corners = dict(zip(("fpr", "tpr", "model", "threshold"), zip(*hull, strict=True), strict=True))
    ends = {"slope_from": slopes[:-1], "slope_to": slopes[1:]}
    return Table({**corners, **ends}, "ROC convex hull of the models")


@dataclass(frozen=True, eq=False, repr=False)
class SwapSet(HasSections, DictResult):
    """What changes when one model's list replaces another's at the same quota.

    ``entering`` and ``leaving`` are rows of the input, the most certain first. All other rows are on both lists or on
    neither, so the difference in hits depends on these rows alone. ``difference`` is the hits gained with its interval
    (Newcombe's hybrid of two Wilson intervals). ``labels_needed`` is
    how many rows of such a swap set must be labelled to detect a difference of the observed size (80% power). ``plot``
    draws the cases that enter and leave, with their hits.
    """

    old: str
    new: str
    quota: int
    entering: NDArray[np.intp]
    leaving: NDArray[np.intp]
    swapped: float
    hits_entering: float
    hits_leaving: float
    difference: Estimate
    labels_needed: float
    in_buckets: bool = False

    @property
    def sides(self) -> Table:
        """The cases that enter and leave, and how many of them are hits."""
        rows = []
        for side, hits in (("enter", self.hits_entering), ("leave", self.hits_leaving)):
            rate = hits / self.swapped if self.swapped else math.nan
            rows.append({"side": side, "cases": self.swapped, "hits": hits, "hit_rate": rate})
        return Table(rows, f"From {self.old} to {self.new}")

    def sections(self) -> list[Section]:
        """What changes in one sentence, and both sides."""
        rows = [{**row, "cases": count(row["cases"]), "hits": count(row["hits"])} for row in self.sides]
        sides = Table(rows, self.sides.title)
        return [Section("answer", [f"{self.summary}.", sides, *[_IN_BUCKETS] * self.in_buckets])]

    @property
    def summary(self) -> str:
        """What changes, in one sentence."""
        about = "about " * self.in_buckets
        if self.swapped == 0:
            return f"{self.old} and {self.new} choose {about}the same {self.quota:,} cases"
        d = self.difference
        text = (
            f"{self.new} replaces {about}{count(self.swapped)} of {self.old}'s {pluralize(self.quota, 'case')}: "
            f"{about}{count(self.hits_entering)} hits enter and {about}{count(self.hits_leaving)} leave, a difference "
            f"of {about}{count(d.value)} ({d.level:.0%} interval {count(d.low)} to {count(d.high)})"
        )
        if math.isfinite(self.labels_needed) and d.low <= 0.0 <= d.high:
            text += (
                f"; you would need labels for about {round_up(self.labels_needed):,} swapped cases to detect a "
                "difference of this size (80% power)"
            )
        return text


def swaps(
    old: Sample, new: Sample, quota: int | float, *, names: tuple[str, str] = ("old", "new"), level: float = 0.95
) -> SwapSet:
    """The swap set of two models on the same rows; weighted rows are evidence by their effective number."""
    weight = old.row_weight
    places = resolve_quota(quota, len(old) if old.weight is None else float(weight.sum()))
    gained = membership(new.score, places, old.weight) - membership(old.score, places, old.weight)
    sides: list[Any] = []
    rows, hits, rates, sizes = 0.0, [], [], []
    for chance in (gained, -gained):  # of each row to enter, and to leave
        swapped = np.flatnonzero(chance > 1e-12)
        sides.append(swapped[np.argsort(-chance[swapped], kind="stable")])
        each = (weight * chance)[swapped]
        cases, squares = float(each.sum()), float((weight[swapped] * each).sum())
        hits.append(float(each[new.positive[swapped]].sum()))
        rates.append(hits[-1] / cases if cases else 0.0)
        sizes.append(cases**2 / squares if squares else 0.0)
        rows += float(chance[swapped].sum())
    low, high, needed = 0.0, 0.0, math.inf
    if cases > 0:  # as many leave as enter
        terms = ((rate, wilson(rate * size, size, level)) for rate, size in zip(rates, sizes, strict=True))
        low, high = (cases * min(max(end, -1.0), 1.0) for end in mover_limits(*terms))
    p, q = rates
    if cases > 0 and p != q:  # rows, half of them entering, for 80% power to see such a difference
        middle = (p + q) / 2.0
        spread = z_of(level) * math.sqrt(2.0 * middle * (1.0 - middle))
        spread += 0.8416 * math.sqrt(p * (1.0 - p) + q * (1.0 - q))  # z of 80%
        each_tells = rows / sum(sizes)  # rows whose weights differ tell less than as many of equal weight
        needed = max(2.0, 2.0 * (spread / (p - q)) ** 2 * each_tells)
    difference = Estimate("difference in hits", hits[0] - hits[1], low, high, level, "newcombe")
    return SwapSet(*names, places, sides[0], sides[1], cases, hits[0], hits[1], difference, needed)

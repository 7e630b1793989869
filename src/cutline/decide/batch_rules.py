"""A list that is cut batch by batch: what each batch gives, and its places against one threshold for all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from ..catalogue.declare import ratio
from ..errors import look_up
from ..estimate import Estimate, Settings
from ..inference.batch_rows import BatchLists, BatchRows, counts_of, forecast, places_in, share_limits
from ..inference.differences import DifferenceTest, skewed_mean_test
from ..inference.limits import lag_correlation
from ..table import DictResult, HasSections, PicklesFields, Section, Table, count, cut_text, pluralize, values_of
from ..types import Floats
from ..verdict import Models
from .operating import NOTHING, OperatingPoint, measured, whole

_CLEARLY_WIDER = 1.15  # independent batches seldom lengthen intervals by more


@dataclass(frozen=True, repr=False)
class BatchPoint(OperatingPoint):
    """All batches at one quota or threshold: counts over all of them, and what each contains.

    ``threshold`` is nan if each batch has its own cut; the tied cases are those at the cuts of all batches.
    ``expected_hits`` is the mean per batch, ``next_hits`` a prediction interval for the next batch. Both come from the
    variation between batches and are nan if there is only one. ``lag_correlation`` is that of the hits of a batch and
    the next, nan for batches without an order; where it is more than chance explains, intervals are ``widening`` times
    as long as those of independent batches.
    """

    names: tuple[Any, ...] = ()
    asked: int | float | None = None
    cells: Floats = field(default_factory=lambda: np.empty((0, 8)), repr=False, compare=False)
    thresholds: Floats = field(default_factory=lambda: np.empty(0), repr=False, compare=False)
    lag_correlation: float = math.nan
    widening: float = 1.0

    @property
    def batches(self) -> Table:
        """One row for each batch: cases, positives, places used, hits, hit rate, recall, and its cut's threshold."""
        hits, taken, positives, cases = self.cells[:, :4].T
        counts = {"cases": cases, "positives": positives, "places": taken, "hits": hits}
        in_cases = {key: [*map(whole, found.tolist())] for key, found in counts.items()}
        rates = {"hit_rate": ratio(hits, taken), "recall": ratio(hits, positives), "threshold": self.thresholds}
        return Table({"batch": self.names, **in_cases, **rates}, "Batch by batch")

    @property
    def short(self) -> int:
        """Batches with fewer cases than places: all of their cases are taken."""
        return _short(self.cells[:, 3], self.asked)

    @property
    def note(self) -> str:
        """Anything unusual about these batches, in words; otherwise empty."""
        notes, taken, quota = [], self.cells[:, 1], self.asked
        if isinstance(quota, float) and (none := int(np.count_nonzero(taken == 0.0))):
            few = f"{pluralize(none, 'batch', 'batches')} {'is' if none == 1 else 'are'} too small for one place"
            notes.append(f"{few} at {100 * quota:.4g}%.")
        if isinstance(quota, int) and self.short:
            used = f"{count(float(taken.sum()))} of {count(quota * len(taken))} places are used"
            few = f"{self.short:,} of {pluralize(len(taken), 'batch', 'batches')}"
            have = "has" if self.short == 1 else "have"
            notes.append(f"{few} {have} fewer than {quota:,} cases. All of these are taken: {used}.")
        if self.widening > _CLEARLY_WIDER:
            alike = f"Batches resemble the one before (correlation {self.lag_correlation:.2f} of their hits): "
            alike += f"the interval of the hit rate is {self.widening:.1f} times as long as for independent batches. "
            notes.append(f"{alike}Measures of the whole list do not allow for it; their intervals may be too short.")
        return " ".join(notes)

    def to_dict(self) -> dict[str, Any]:
        """Counts and measures over all batches, and the batches."""
        own = ("names", "asked", "cells", "thresholds")
        content = {key: value for key, value in super().to_dict().items() if key not in own}
        counts = {"n_batches": len(self.names), "short_batches": self.short}
        return {**content, **counts, "batches": self.batches.to_dicts()}

    def sections(self) -> list[Section]:
        """Every number at the cut, and what is unusual about the batches."""
        rows = [{"at this cut": name, "": value} for name, value in self.to_dict().items() if name != "batches"]
        return [Section("cut", [Table(rows), *filter(None, [self.note])])]


def _short(cases: Floats, quota: int | float | None) -> int:
    """Batches with fewer cases than a number of places."""
    return int(np.count_nonzero(cases < quota * (1.0 - 1e-12))) if isinstance(quota, int) else 0


def batch_point(rows: BatchRows, *, quota: int | float | None, threshold: float | None, level: float) -> BatchPoint:
    """All batches cut at a quota of each, or at one threshold."""
    lists = rows.lists
    places = lists.above(threshold) if quota is None else places_in(lists.cases, quota)  # type: ignore[arg-type]
    cells = lists.at(places)
    groups, part = lists.cut(places)
    inside = (part > NOTHING) & (groups < lists.first_group[1:])
    at = np.minimum(groups, len(lists.size) - 1)
    tied = np.where(inside, lists.size[at], 0.0)
    pos = np.where(inside, lists.pos[at], 0.0)
    from_tie = np.where(inside, part, 0.0)
    above = cells[:, 0] - np.where(inside, lists.pos[at] * part / lists.size[at], 0.0)
    edges = np.where(groups < lists.first_group[1:], lists.score[at], -math.inf)
    if (inside & lists.joined[at]).any():  # of a stream, at a quota that was not asked for: no tie is known there
        tied = pos = from_tie = np.full(len(tied), math.nan)
    expected = forecast(rows, cells[:, 0], cells[:, 1], level)
    return measured(
        BatchPoint,
        counts_of(cells.sum(axis=0)).plain(),
        finite=rows.outline.are_finite,
        threshold=math.nan if threshold is None else float(threshold),
        tied=float(tied.sum()),
        from_tie=float(from_tie.sum()),
        hits_worst=float((above + np.maximum(0.0, from_tie - (tied - pos))).sum()),
        hits_best=float((above + np.minimum(pos, from_tie)).sum()),
        expected_hits=expected.mean,
        next_hits=expected.next,
        names=rows.batches.names,
        asked=quota,
        cells=cells,
        thresholds=edges if threshold is None else np.full(len(cells), float(threshold)),
        lag_correlation=math.nan if rows.batches.order == "name" else lag_correlation(cells[:, 0]),
        widening=expected.widening,
    )


@dataclass(frozen=True, eq=False)
class Rule(PicklesFields):
    """One way to fill places in batches: hits and places used in each.

    ``overflow``: batches in which more cases ask for a place than there are. ``unfilled``: batches with places left.
    """

    name: str
    hits: Floats = field(repr=False)
    places: Floats = field(repr=False)
    overflow: int = 0
    unfilled: int = 0
    estimates: Mapping[str, Estimate] = field(default_factory=dict)

    def __getitem__(self, measure: str) -> Estimate:
        return look_up(self.estimates, measure, "measure")


@dataclass(frozen=True, eq=False, repr=False)
class BatchRules(HasSections, DictResult, Models[Rule]):
    """The best of each batch against one threshold within the same places. A mapping from rule to :class:`Rule`.

    ``hits`` is the mean of a batch, ``hit_rate`` hits for each place used. ``matched``: the threshold was chosen so
    that it takes as many cases overall as the quota does; its own uncertainty is then part of the intervals.
    ``uncapped`` is the threshold without the limit of places: it is shown beside the rules, not compared with them.
    """

    specs: ClassVar[Mapping[str, Any]] = MappingProxyType(  # type: ignore[misc]
        dict.fromkeys(("hits", "hit_rate"), SimpleNamespace(better="higher"))
    )

    evaluations: Mapping[str, Rule]
    settings: Settings
    quota: int | float
    threshold: float
    matched: bool
    uncapped: Rule
    rows: BatchRows = field(repr=False)
    drift: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    excess: Floats | float = field(default=0.0, repr=False)
    margin: float | None = None

    def _test(self, a: str, b: str, key: str) -> DifferenceTest:
        """The difference between two rules, batch by batch."""
        first, second, units = self.evaluations[a], self.evaluations[b], self.rows.n_units
        of_first, of_second = (self._influence(rule, key) for rule in (first, second))
        if of_first is None or of_second is None or units < 2:
            return DifferenceTest()
        if np.array_equal(first.places, second.places) and np.array_equal(first.hits, second.hits):
            return DifferenceTest(0.0, 0.0, 0.0, 1.0, "same places")
        each = units * (of_first - of_second) + first[key].value - second[key].value
        single = 1.0 / len(first.hits) if key == "hits" else 1.0 / max(first.places.sum(), second.places.sum())
        wider = self.rows.widening(of_first - of_second)
        return skewed_mean_test(each, self.settings.level, units * single, "batches, gamma", wider)

    def _influence(self, rule: Rule, key: str) -> Floats | None:
        """Influence of each unit on the mean hits or the hit rate of a rule; None where no place is used.

        A matched threshold moves with the sample: a batch with more cases above it than places (``excess``) pushes it
        up, and each of these cases changes hits and places by ``drift``.
        """
        of_hits, of_places = self.drift.get(rule.name, (0.0, 0.0))
        hits, places = rule.hits - of_hits * self.excess, rule.places - of_places * self.excess
        if key == "hits":
            return self.rows.by_unit(hits - hits.mean()) / len(hits)
        total = rule.places.sum()
        rate = rule.hits.sum() / total if total > 0 else 0.0
        return self.rows.by_unit(hits - rate * places) / total if total > 0 else None

    def _estimated(self, rule: Rule) -> Rule:
        """The rule with its mean hits and hit rate, and their intervals from the variation between batches."""
        level, units = self.settings.level, self.rows.n_units
        values = {"hits": float(rule.hits.mean()), "hit_rate": float(ratio(rule.hits.sum(), float(rule.places.sum())))}
        estimates = {}
        for key, value in values.items():
            psi = self._influence(rule, key) if self.settings.interval is not None and units > 1 else None
            most = float(rule.places.max()) if key == "hits" else 1.0
            if psi is None or not most > 0.0:
                estimates[key] = Estimate(key, value)
                continue
            error = math.sqrt(float((psi**2).sum()) * units / (units - 1.0)) * self.rows.widening(psi)
            low, high = share_limits(value / most, error / most, units - 1.0, units, level)
            estimates[key] = Estimate(key, value, most * low, most * high, level, "batches")
        return replace(rule, estimates=estimates)

    @cached_property
    def table(self) -> Table:
        """One row for each rule, the threshold without a limit last."""
        rows = []
        for rule in (*self.evaluations.values(), self.uncapped):
            row: dict[str, Any] = {"rule": rule.name, "hits": whole(float(rule.hits.sum()))}
            row |= {"places": whole(float(rule.places.sum())), "hit_rate": rule["hit_rate"].value}
            row |= {"hits_per_batch": rule["hits"].value, **rule["hits"].interval._asdict()}
            rows.append({**row, "overflow": rule.overflow, "unfilled": rule.unfilled})
        return Table(rows, "The best of each batch against one threshold")

    def sentences(self) -> list[str]:
        """The comparison in words: within the places first, the threshold without a limit as a remark."""
        top, within = self.evaluations.values()
        n, free = len(self.rows.batches), self.uncapped
        hits, used = (pluralize(float(part.sum()), name) for part, name in ((top.hits, "hit"), (top.places, "place")))
        how = "chosen to take as many cases overall" if self.matched else "as given"
        gap = self.difference(top.name, within.name, "hits")
        ends = f" ({self.settings.level:.0%} interval {_signed(gap.low)} to {_signed(gap.high)})"
        interval = ends if gap.low == gap.low else ""
        words = {"higher": f"the {top.name} find more", "lower": "one threshold finds more"}
        verdict = words.get(gap.verdict, "the difference could be chance" if interval else "nothing was tested")
        verdict = "both find the same" if gap.low == gap.high == 0.0 else verdict
        return [
            f"Over {pluralize(n, 'batch', 'batches')} the {top.name} use {used} and find {hits}.",
            f"One threshold, {free.name} ({how}), within the same places uses "
            f"{count(float(within.places.sum()))} and finds {count(float(within.hits.sum()))}; "
            f"{pluralize(within.overflow, 'batch', 'batches')} of {n:,} overflow and {within.unfilled:,} leave places "
            "empty.",
            f"Difference in hits for each batch: {_signed(gap.difference)}{interval}: {verdict}.",
            f"Without the limit the threshold would take {pluralize(float(free.places.sum()), 'case')}, up to "
            f"{count(float(free.places.max()))} in one batch, and find {count(float(free.hits.sum()))}.",
        ]

    def to_dict(self) -> dict[str, Any]:
        """The rules, their differences and verdicts."""
        return {
            **values_of(self, "quota", "threshold", "matched"),
            "batch_order": self.rows.batches.order,
            "rules": self.table.to_dicts(),
            "differences": self.differences.to_dicts(),
            "verdicts": [verdict.to_dict() for verdict in self.decided],
        }

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each rule."""
        return self.table.to_dicts()

    def sections(self) -> list[Section]:
        """The comparison in words, and a row for each rule."""
        shown = [{key.replace("_", " "): value for key, value in row.items()} for row in self.table]
        return [Section("rules", [*self.sentences(), Table(shown)], "The best of each batch, or one threshold for all")]


def _signed(value: float) -> str:
    return f"{value:+,.2f}".replace("-", "−")


def batch_rules(rows: BatchRows, quota: int | float, threshold: float | None, settings: Settings) -> BatchRules:
    """The best ``quota`` of each batch against one threshold within the same places, and without that limit."""
    lists = rows.lists
    places = places_in(lists.cases, quota)
    total, matched = float(places.sum()), threshold is None
    at = _threshold_taking(rows, total) if threshold is None else float(threshold)
    shown = f"{100 * quota:.4g}%" if isinstance(quota, float) else f"{quota:,}"
    cut = cut_text(at)
    best, free, within = f"best {shown} of each batch", f"score > {cut}", f"score > {cut}, at most {shown}"
    taken = lists.at(places)
    limits = {within: places, free: np.full(len(places), math.inf)}
    rules = {name: _by_threshold(lists, places, at, name, most) for name, most in limits.items()}
    drift, excess = {}, lists.above(at) - places
    if matched:
        half = 2.0 * math.sqrt(float((excess**2).sum())) + 1.0
        around = np.clip([total - half, total + half], 1.0, float(lists.cases.sum()))
        ends = [_threshold_taking(rows, cases) for cases in around.tolist()]
        moved = float(lists.above(ends[1]).sum() - lists.above(ends[0]).sum())
        for name, most in limits.items():
            low, high = (_by_threshold(lists, places, end, name, most) for end in ends)
            gaps = float(high.hits.sum() - low.hits.sum()), float(high.places.sum() - low.places.sum())
            drift[name] = (gaps[0] / moved, gaps[1] / moved) if moved > 0.0 else (0.0, 0.0)
    compared = {best: Rule(best, taken[:, 0], taken[:, 1], 0, _short(lists.cases, quota)), within: rules[within]}
    found = BatchRules(compared, settings, quota, at, matched, rules[free], rows, drift, excess)
    estimated = {name: found._estimated(rule) for name, rule in compared.items()}
    return replace(found, evaluations=estimated, uncapped=found._estimated(rules[free]))


def _threshold_taking(rows: BatchRows, cases: float) -> float:
    """The threshold above which the whole list has at most so many cases."""
    ranking = rows.ranking
    ends = np.cumsum(ranking.pos + ranking.neg, dtype=np.float64)
    return ranking.score_after(int(np.searchsorted(ends, cases * (1.0 + 1e-12), side="right")))


def _by_threshold(lists: BatchLists, places: Floats, threshold: float, name: str, most: Floats) -> Rule:
    """What a threshold takes, of each batch ``most`` at most."""
    asking = lists.above(threshold)
    used = np.minimum(asking, most)
    overflow = int(np.count_nonzero(asking > places * (1.0 + 1e-12)))
    unfilled = int(np.count_nonzero(used < places * (1.0 - 1e-12)))
    return Rule(name, lists.at(used)[:, 0], used, overflow, unfilled)

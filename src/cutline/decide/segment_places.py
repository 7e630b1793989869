"""One list for all segments: who gets how many of its places, and what other rules cost in hits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import ratio
from ..errors import InputError, listed, show
from ..estimate import Interval
from ..inference.proportions import z_of
from ..inference.selection_ratios import SelectionRates, selection_rates
from ..kernels.plain_rankings import tie_starts
from ..ranking import Ranking
from ..sources.arrays import Sample
from ..table import DictResult, ShownAsTable, Table, TabularResult, columns_table, text_table
from ..types import Floats
from ..validate import check_number
from .selection import given_places

Codes = NDArray[np.intp]
FOUR_FIFTHS = 0.8
EQUAL_RATES, EQUAL_RECALL, GIVEN = "equal selection rates", "equal recall", "given places"
_DRAWS, _ROWS_DRAWN = 400, 20_000_000  # replicates for a standard error, and rows in all of them


@dataclass(frozen=True, eq=False)
class ListRows:
    """The rows of one list in memory: what other rules than one cut for all can be worked out from."""

    sample: Sample
    segment: Codes
    cluster: Codes | None = None
    n_resamples: int = 2000
    seed: int = 0


@dataclass(frozen=True, eq=False)
class SharedList(ShownAsTable, DictResult, TabularResult):
    """One list for all segments, cut at a quota or threshold. Reads as rows, one for each segment.

    ``selection_ratio`` is the selection rate over that of ``reference``; without one over the highest of all segments
    that have at least 2 % of the cases, as the four-fifths rule does. ``four_fifths`` is ``below`` if the interval lies
    below 0.8, ``kept`` if it lies above, and ``cannot tell`` otherwise.
    """

    segments: tuple[str, ...]
    cut: Mapping[str, float]
    threshold: float
    rates: SelectionRates
    hits: Floats
    positives: Floats
    reference: str | None
    level: float
    rows: ListRows | None = field(default=None, repr=False)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each segment."""
        cases, places, hits = self.rates.cases, self.rates.places, self.hits
        ratios, ends = zip(*self._ratios, strict=True)
        low, high = zip(*ends, strict=True)
        columns = {
            "segment": self.segments,
            "cases": _whole(cases),
            "places": _whole(places),
            "share_of_places": ratio(places, places.sum()),
            "selection_rate": ratio(places, cases),
            "hits": _whole(hits),
            "hit_rate": ratio(hits, places),
            "recall": ratio(hits, self.positives),
            "fpr": ratio(places - hits, cases - self.positives),
            "selection_ratio": ratios,
            "low": low,
            "high": high,
            "level": [self.level] * len(self),
            "four_fifths": [*map(_four_fifths, low, high)],
        }
        return columns_table(columns).to_dicts()

    @cached_property
    def _ratios(self) -> list[tuple[float, Interval]]:
        rates, nothing = self.rates, Interval(math.nan, math.nan)
        if self.reference is None:
            return [rates.to_highest(k, self.level) for k in range(len(self.segments))]
        two = self.segments.index(self.reference)
        share = rates.rates
        return [
            (1.0, nothing) if k == two else (float(ratio(share[k], share[two])), rates.ratio(k, two, self.level))
            for k in range(len(self.segments))
        ]

    def __len__(self) -> int:
        return len(self.segments)

    def __iter__(self) -> Any:
        return iter(self.to_dicts())

    def __getitem__(self, segment: Any) -> dict[str, Any]:
        rows = self.to_dicts()
        if isinstance(segment, int) and str(segment) not in self.segments:
            return rows[segment]
        if str(segment) not in self.segments:
            raise InputError(None, f"there is no segment {show(segment)}", f"choose from {listed(self.segments)}")
        return rows[self.segments.index(str(segment))]

    @property
    def table(self) -> Table:
        """The segments as rows."""
        (what, value), *_ = self.cut.items()
        return Table(self.to_dicts(), f"One list for all segments, {what} {value:g}")

    @property
    def four_fifths(self) -> Literal["kept", "below", "cannot tell", ""]:
        """Whether every segment's rate is at least four fifths of the reference's: the same word as in the rows."""
        words = {_four_fifths(low, high) for _, (low, high) in self._ratios if low == low}
        for word in ("below", "cannot tell", "kept"):
            if word in words:
                return word
        return ""

    @property
    def sentence(self) -> str:
        """What the four-fifths rule says of this list."""
        against = "the highest" if self.reference is None else f"that of {self.reference}"
        if self.reference is None and len(self.rates.yardsticks) < len(self.segments):
            against += " among segments with at least 2 % of the cases"
        told = {word: [] for word in ("below", "cannot tell")}  # type: dict[str, list[str]]
        for name, (_, (low, high)) in zip(self.segments, self._ratios, strict=True):
            if low == low and _four_fifths(low, high) in told:
                told[_four_fifths(low, high)].append(name)
        if self.four_fifths == "":
            return "Selection rates cannot be compared here."
        if self.four_fifths == "kept":
            return f"Four-fifths rule: every selection rate is at least 0.8 of {against}."
        said = []
        if told["below"]:
            said.append(f"below 0.8 of {against} for {', '.join(told['below'])}")
        if told["cannot tell"]:
            said.append(f"undecided for {', '.join(told['cannot tell'])}")
        return f"Four-fifths rule: {'; '.join(said)}."

    def price(self, places: Mapping[Any, float] | None = None) -> Table:
        """What other rules with the same number of places cost in hits: equal selection rates, equal recall, or given
        places.

        ``price`` is the number of hits given up compared with one list for all, with a bootstrap interval over rows or
        clusters. ``places``: the number of places for each segment.
        """
        if self.rows is None:
            said = "the price of another rule would need the rows of this table, which was streamed: they were not kept"
            raise InputError(None, f"{said} in memory", "use a sample of the rows")
        number = partial(check_number, low=0.0)
        given = None if places is None else given_places(places, self.segments, self.rates.cases, "places", number)
        if not self.rates.places.any():
            raise InputError(None, "no one gets a place at this cut, so no other rule can be compared with it")
        return price_table(self.rows, self.rates.places, given, self.segments, self.level)

    def to_dict(self) -> dict[str, Any]:
        """The cut and the segments."""
        content = {**self.cut, "score_above": self.threshold, "reference": self.reference, "level": self.level}
        return {**content, "four_fifths": self.four_fifths, "text": self.sentence, "segments": self.to_dicts()}

    def __repr__(self) -> str:
        rows = [{key: v for key, v in row.items() if key != "level"} for row in self.to_dicts()]
        return text_table(rows, list(rows[0]), f"{self.table.title}\n{self.sentence}")


def _whole(values: Floats) -> list[float]:
    return [int(value) if value.is_integer() else value for value in values.tolist()]


def _four_fifths(low: float, high: float) -> str:
    if low != low or high != high:
        return ""
    return "below" if high < FOUR_FIFTHS else "kept" if low >= FOUR_FIFTHS else "cannot tell"


def share_list(
    rows: ListRows,
    ranking: Ranking,
    segments: Sequence[str],
    *,
    quota: int | None,
    threshold: float | None,
    reference: str | None,
    level: float,
) -> SharedList:
    """Cut one list at a quota (in cases) or threshold and count by segment; a tie at the cut is shared pro rata."""
    sample = rows.sample
    weight = np.ones(len(sample)) if sample.weight is None else sample.weight
    near = None
    if quota is not None:
        ends = np.cumsum(ranking.pos + ranking.neg, dtype=np.float64)
        at = min(int(np.searchsorted(ends, quota * (1.0 - 1e-12))), len(ends) - 1)
        edge, here = float(ranking.score[at]), float(ranking.pos[at] + ranking.neg[at])
        inside = min(max((quota - (float(ends[at]) - here)) / here, 0.0), 1.0)
        taken = np.where(sample.score > edge, 1.0, np.where(sample.score == edge, inside, 0.0))
        near = _cases_near(rows, ranking, ends, quota, weight, len(segments))
        cut, edge = {"quota": float(quota)}, edge
    else:
        assert threshold is not None
        edge, cut = float(threshold), {"threshold": float(threshold)}
        taken = np.where(sample.score > np.float64(threshold), 1.0, 0.0)
    rates = selection_rates(taken, weight, rows.segment, len(segments), rows.cluster, near)
    sums = [
        np.bincount(rows.segment, weights=weight * each, minlength=len(segments)).astype(np.float64)
        for each in (taken * sample.positive, sample.positive)
    ]
    return SharedList(tuple(segments), cut, edge, rates, sums[0], sums[1], reference, level, rows)


def _cases_near(rows: ListRows, ranking: Ranking, ends: Floats, quota: float, weight: Floats, segments: int) -> Floats:
    """Cases of each segment within three standard deviations of the place of the cut, ties whole."""
    whole = float(ends[-1])
    half = max(3.0 * math.sqrt(max(quota * (1.0 - quota / whole), 1.0)), 1.0)
    half = max(min(half, quota, whole - quota), 1.0)
    groups = np.searchsorted(ends, [max(quota - half, 0.0), min(quota + half, whole * (1.0 - 1e-12))], side="right")
    first, last = np.minimum(groups, len(ends) - 1).tolist()
    score = rows.sample.score
    close = (score <= ranking.score[first]) & (score >= ranking.score[last])
    return np.bincount(rows.segment[close], weights=weight[close], minlength=segments).astype(np.float64)


# --- other rules ---


@dataclass(frozen=True, eq=False)
class Lists:
    """Tie groups of one list and of each segment's own, best first: hits under any rule, for any weights of the rows.

    ``cell`` is the place of each row among the pairs (score, segment), in the order of scores.
    """

    cell: Codes
    score_of: Floats
    segment_of: Codes
    starts: Codes
    own: tuple[Codes, ...]

    @classmethod
    def of(cls, rows: ListRows, segments: int) -> Lists:
        """Group the rows once; weights come later."""
        score = rows.sample.score.astype(np.float64)
        order = np.lexsort((rows.segment, -score))
        s, g = score[order], rows.segment[order]
        first = tie_starts(s, g)
        cell = np.empty(len(order), np.intp)
        cell[order] = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(order))))
        score_of, segment_of = s[first], g[first]
        starts = tie_starts(score_of)
        own = tuple(np.flatnonzero(segment_of == k) for k in range(segments))
        return cls(cell, score_of, segment_of, starts, own)

    def weighed(self, positive: NDArray[np.bool_], weight: Floats) -> Weighed:
        """The lists with weights for their rows."""
        cells = len(self.score_of)
        pos = np.bincount(self.cell, weights=weight * positive, minlength=cells)
        every = np.bincount(self.cell, weights=weight, minlength=cells)
        whole = tuple(_curve(np.add.reduceat(side, self.starts)) for side in (every, pos))
        own = [(_curve(every[at]), _curve(pos[at])) for at in self.own]
        return Weighed((whole[0], whole[1]), own)


def _curve(values: Any) -> Floats:
    return np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])


@dataclass(frozen=True, eq=False)
class Weighed:
    """Cases and positives up to each tie group: of the one list, and of each segment."""

    whole: tuple[Floats, Floats]
    own: list[tuple[Floats, Floats]]

    @property
    def cases(self) -> Floats:
        """Cases of each segment."""
        return np.array([cases[-1] for cases, _ in self.own])

    def hits(self, quota: float) -> float:
        """Hits of one list for all."""
        return float(np.interp(quota, *self.whole))

    def hits_by(self, places: Floats) -> Floats:
        """Hits of each segment with places of its own."""
        return np.array([np.interp(k, *curve) for k, curve in zip(places, self.own, strict=True)])

    def allocate(self, quota: float, rule: str, share: Floats | None) -> Floats:
        """Places of each segment under a rule; ``share``: the given places as shares of the segments' cases."""
        if rule == EQUAL_RECALL:
            return self.equal_recall(quota)
        if share is not None and rule == GIVEN:
            return np.asarray(share * self.cases)
        return np.asarray(quota * self.cases / self.cases.sum())  # in proportion to the cases

    def equal_recall(self, quota: float) -> Floats:
        """Places so that every segment finds the same share of its positives; the fewest that do.

        Segments without positives get none, unless places are left when all positives are found: then all share what is
        left in proportion to the cases that remain.
        """

        def places(recall: float) -> Floats:
            return np.array([_fewest(recall * pos[-1], cases, pos) for cases, pos in self.own])

        low, high = 0.0, 1.0
        all_found = places(1.0)
        if all_found.sum() <= quota:
            left = self.cases - all_found
            return np.asarray(all_found + left * (quota - all_found.sum()) / max(float(left.sum()), 1e-300))
        for _ in range(60):
            middle = (low + high) / 2.0
            low, high = (middle, high) if places(middle).sum() <= quota else (low, middle)
        at, beyond = places(low), places(high)
        gap = float(beyond.sum() - at.sum())  # a stretch without positives is entered in part
        return np.asarray(at + (beyond - at) * ((quota - at.sum()) / gap if gap > 0.0 else 0.0))


def _fewest(hits: float, cases: Floats, pos: Floats) -> float:
    """The fewest places that hold so many hits."""
    if hits <= 0.0:
        return 0.0
    at = int(np.searchsorted(pos, hits * (1.0 - 1e-12)))
    rise = float(pos[at] - pos[at - 1])
    return float(cases[at - 1] + (cases[at] - cases[at - 1]) * (hits - pos[at - 1]) / rise)


def price_table(rows: ListRows, of_one: Floats, given: Floats | None, segments: Sequence[str], level: float) -> Table:
    """Hits under each rule, and what it costs compared with one list for all, which gives segments ``of_one``."""
    sample, lists, quota = rows.sample, Lists.of(rows, len(segments)), float(of_one.sum())
    weight = np.ones(len(sample)) if sample.weight is None else sample.weight
    seen = lists.weighed(sample.positive, weight)
    rules = [EQUAL_RATES, EQUAL_RECALL, *([] if given is None else [GIVEN])]
    if not sample.positive.any():
        rules.remove(EQUAL_RECALL)
    share = None if given is None else given / seen.cases
    errors = _price_errors(lists, rows, weight, quota, rules, share)
    table = []
    for rule in ("one list", *rules):
        places, found = of_one, seen.hits(quota)
        if rule in rules:
            places = seen.allocate(quota, rule, share)
            found = float(seen.hits_by(places).sum())
        total = float(places.sum())
        price, half = seen.hits(total) - found, z_of(level) * errors.get(rule, math.nan)
        row = {"rule": rule, "places": round(total, 6), "hits": round(found, 6)}
        row |= {"price": price, "low": price - half, "high": price + half}
        table.append(row | {f"places: {name}": round(float(k), 6) for name, k in zip(segments, places, strict=True)})
    return Table(table, f"Hits of {quota:g} places under other rules")


def _price_errors(
    lists: Lists, rows: ListRows, weight: Floats, quota: float, rules: Sequence[str], share: Floats | None
) -> dict[str, float]:
    """Standard error of each price: rows, or clusters, drawn again, and the same rules applied to them."""
    sample, rng = rows.sample, np.random.default_rng([rows.seed & (2**63 - 1), 13])
    n = len(sample)
    units = n if rows.cluster is None else int(rows.cluster.max()) + 1
    draws = min(rows.n_resamples, _DRAWS, max(100, _ROWS_DRAWN // n))
    whole = float(weight.sum())
    found: dict[str, list[float]] = {rule: [] for rule in rules}
    for _ in range(draws):
        times = np.bincount(rng.integers(0, units, units), minlength=units).astype(np.float64)
        drawn = weight * (times if rows.cluster is None else times[rows.cluster])
        again = lists.weighed(sample.positive, drawn)
        for rule in rules:
            places = again.allocate(quota * float(drawn.sum()) / whole, rule, share)
            found[rule].append(again.hits(float(places.sum())) - float(again.hits_by(places).sum()))
    return {rule: float(np.nanstd(values, ddof=1)) for rule, values in found.items()}

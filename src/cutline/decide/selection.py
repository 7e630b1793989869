"""Limited places: whom to take, at once or in stages, what portions of the list contain, how segments share it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import ratio
from ..errors import InputError, listed, show
from ..estimate import Estimate, Interval
from ..inference.batch_rows import BatchRows, in_batches, places_in
from ..inference.closed_forms import Cuts
from ..inference.limits import z_of
from ..inference.segment_tests import SelectionRates, selection_rates
from ..partition import Partition, label_of
from ..quotas import resolve_quota
from ..ranking import Ranking, membership, rank, tie_starts
from ..sources.arrays import Sample, as_numbers, make_sample
from ..sources.given_columns import read_columns
from ..table import (
    DictResult,
    Figure,
    HasPlot,
    HasSections,
    Section,
    ShownAsTable,
    Table,
    TabularResult,
    columns_table,
    count,
    pluralize,
    text_table,
)
from ..types import Floats, Label, Labels, Scores, TableSource
from ..validate import Rule, check_amount, check_column, check_list, check_number, check_quota, check_whole, checked

Codes = NDArray[np.intp]
FOUR_FIFTHS = 0.8
EQUAL_RATES, GIVEN = "equal selection rates", "given places"
_DRAWS, _ROWS_DRAWN = 400, 20_000_000  # replicates for a standard error, and rows in all of them
_REPLICATES = 400  # of a screening by default: enough for percentiles at 95%
TieRule = Literal["random", "expand", "shrink"]


@dataclass(frozen=True, eq=False)
class Selection:
    """The chosen rows, best first; use it as an index. Its note tells how many tied at the cut and how that was
    resolved.

    If rows were chosen within batches, they come batch by batch; ``batches`` describes each, and ``threshold`` is nan.
    If they were chosen by segment, ``places`` tells how many each segment has.
    """

    indices: NDArray[np.intp]
    quota: int | float
    threshold: float
    tied: int
    taken_of_tied: int
    ties: TieRule
    batches: Table | None = None
    places: Mapping[str, int] | None = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.indices, dtype=dtype, copy=True if copy is None else copy)

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[int]:
        return iter(self.indices.tolist())

    def __getitem__(self, item: Any) -> Any:
        return self.indices[item]

    def __contains__(self, row: object) -> bool:
        return isinstance(row, Real) and row in self.indices

    @property
    def note(self) -> str:
        """How many rows were chosen and how ties were resolved, in words."""
        if self.places is not None:
            each = ", ".join(f"{name} {places}" for name, places in self.places.items())
            return f"{len(self)} chosen; places by segment: {each}"
        if self.batches is None:
            if self.tied == 0:
                return f"{len(self)} chosen; no tie at the cut"
            drawn = f"{self.taken_of_tied} of them drawn at random"
            done = {"random": drawn, "expand": "all of them taken", "shrink": "none of them taken"}[self.ties]
            places = pluralize(self.quota, "place")
            return f"{len(self)} chosen for {places}; {self.tied} tied at {self.threshold:g}: {done}"
        quota = f"{100 * self.quota:.4g}%" if isinstance(self.quota, float) else f"{self.quota:,}"
        note = f"{len(self):,} chosen, {quota} of each of {pluralize(len(self.batches), 'batch', 'batches')}"
        split = sum(row["tied"] > 0 for row in self.batches)
        if split:
            done = {"random": "drawn at random", "expand": "all taken", "shrink": "none taken"}[self.ties]
            note += f"; ties across the cut in {pluralize(split, 'batch', 'batches')}: {done}"
        short = sum(row["places"] < self.quota for row in self.batches) if isinstance(self.quota, int) else 0
        none = sum(row["places"] == 0 for row in self.batches)
        if short:
            note += f"; {short:,} {'has' if short == 1 else 'have'} fewer cases than places: all taken"
        elif none:
            note += f"; {none:,} too small for one place"
        return note

    def __repr__(self) -> str:
        return f"Selection({self.note}; indices={np.array2string(self.indices, threshold=8)})"


@checked(quota=lambda value, name: value if isinstance(value, Mapping) else check_quota(value, name))
def select(
    y_score: Scores | TableSource,
    quota: int | float | Mapping[Any, int],
    *,
    score: str | None = None,
    ties: TieRule = "random",
    seed: int = 0,
    by: Any = None,
    batch: Labels | Partition | None = None,
) -> Selection:
    """Choose the best ``quota`` rows by score; with ``by`` (the segment of each row) those of each segment.

    For a tie at the cut, ``random`` draws from the tied rows, ``expand`` takes all of them (more rows than the
    quota), ``shrink`` takes none (fewer). Rows come best first; equal scores keep the order of the input. Segments
    share a number of places in proportion to their cases; a mapping from segment to places gives each its own. With
    ``batch`` (the batch of each row) every batch has the whole quota: a batch with fewer rows is taken whole, and
    batches come in the order that segments have: numbers, dates and months in theirs, other names by name.

    Columns of a table are named: ``select(table, 200, score="p", by="region")``; rows are numbered as they come.

    >>> select([0.9, 0.5, 0.5, 0.1], 2, ties="expand").indices.tolist()
    [0, 1, 2]
    >>> select([0.9, 0.5, 0.4, 0.1], 1, batch=["mon", "mon", "tue", "tue"]).indices.tolist()
    [0, 2]
    >>> select([0.9, 0.8, 0.5, 0.1], {"a": 1, "b": 1}, by=["a", "a", "b", "b"]).indices.tolist()
    [0, 2]
    """
    if score is not None:
        table = read_columns(y_score, None, [score], by=by, batch=batch)
        return select(table.scores[score], quota, ties=ties, seed=seed, by=table.segments, batch=table.batch)
    values, _, _ = as_numbers(y_score, "y_score")
    n = len(values)
    if by is not None:
        if batch is not None:
            raise InputError("batch", "does not go with {by}: either segments or batches have places", "leave one out")
        segments = Partition.of(by, "by", n)
        sizes, names = np.bincount(segments.codes), segments.labels
        if isinstance(quota, Mapping):
            places = given_places(quota, names, sizes, "quota", partial(check_whole, least=0)).astype(np.intp)
        else:  # whole places in proportion to the cases: what is left over goes to the largest remainders
            whole = resolve_quota(quota, n)
            exact = whole * sizes / n
            places = np.floor(exact + 1e-9).astype(np.intp)
            left = whole - int(places.sum())
            places[np.argsort(places - exact, kind="stable")[:left]] += 1
        chosen, each = _select_within(values, segments.codes, places, ties, seed)
        chosen = chosen[np.argsort(-values[chosen].astype(np.float64), kind="stable")]
        tied, drawn = (sum(each.column(name)) for name in ("tied", "from_tie"))
        by_segment = dict(zip(names, places.tolist(), strict=True))
        return Selection(chosen, int(places.sum()), float("nan"), tied, drawn, ties, places=by_segment)
    if isinstance(quota, Mapping):
        raise InputError("quota", "is a mapping, which gives segments their places", "name the segments with {by}")
    if batch is not None:
        batches = Partition.of(batch, "batch", n)
        places = places_in(np.bincount(batches.codes).astype(np.float64), quota).astype(np.intp)
        chosen, each = _select_within(values, batches.codes, places, ties, seed)
        chosen = chosen[np.lexsort((-values[chosen].astype(np.float64), batches.codes[chosen]))]
        tied, drawn = (sum(each.column(name)) for name in ("tied", "from_tie"))
        named = zip(batches.names, each, strict=True)
        shown = [{"batch": name, **{key: v for key, v in row.items() if key != "from_tie"}} for name, row in named]
        return Selection(chosen, quota, float("nan"), tied, drawn, ties, Table(shown, "Chosen in each batch"))
    rows = resolve_quota(quota, n)
    edge = np.partition(values, n - rows)[n - rows]  # the score at the last place
    above, at = np.flatnonzero(values > edge), np.flatnonzero(values == edge)
    left = rows - len(above)
    split = len(at) > left
    if not split or ties == "expand":
        taken = at
    elif ties == "shrink":
        taken = at[:0]
    else:
        taken = np.random.default_rng(seed).choice(at, size=left, replace=False)
    chosen = np.concatenate([above, np.sort(taken)])
    chosen = chosen[np.argsort(-values[chosen].astype(np.float64), kind="stable")]
    return Selection(chosen, rows, float(edge), len(at) if split else 0, len(taken) if split else 0, ties)


def _select_within(values: NDArray[Any], code: Codes, places: Codes, ties: TieRule, seed: int) -> tuple[Codes, Table]:
    """The best rows of each part for its places, in the order of the rows; and cases, ties and the cut of each part."""
    score, parts = values.astype(np.float64), len(places)
    order = in_batches(code, np.argsort(-score, kind="stable"))
    start = np.searchsorted(code[order], np.arange(parts))
    edge = np.where(places > 0, score[order[start + np.maximum(places, 1) - 1]], np.inf)  # the score at the last place
    higher, at = score > edge[code], (score == edge[code]) & (places > 0)[code]
    left = places - np.bincount(code, weights=higher, minlength=parts).astype(np.intp)
    n_tied = np.bincount(code, weights=at, minlength=parts).astype(np.intp)
    split = n_tied > left
    drawn = tied = np.flatnonzero(at & split[code])
    if ties == "shrink":
        drawn = tied[:0]
    elif ties == "random":
        mixed = tied[np.lexsort((np.random.default_rng(seed).random(len(tied)), code[tied]))]
        first = np.searchsorted(code[mixed], code[mixed])
        drawn = mixed[np.arange(len(mixed)) - first < left[code[mixed]]]
    taken = higher | (at & ~split[code])
    taken[drawn] = True
    sizes, chosen, of_tied = (np.bincount(code[rows], minlength=parts) for rows in (slice(None), taken, drawn))
    columns = {"cases": sizes, "places": places, "chosen": chosen, "tied": np.where(split, n_tied, 0)}
    return np.flatnonzero(taken), columns_table({**columns, "from_tie": of_tied, "threshold": edge})


def above(y_score: Scores, threshold: float, up_to: float = np.inf) -> Selection:
    """The rows that score above a threshold, and no more than ``up_to``, best first."""
    score, _, _ = as_numbers(y_score, "y_score")
    rows = np.flatnonzero((score > np.float64(threshold)) & (score <= np.float64(up_to)))
    rows = rows[np.argsort(-score[rows].astype(np.float64), kind="stable")]
    return Selection(rows, len(rows), float(threshold), 0, 0, "expand")


def hits_at(ranking: Ranking, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Expected positives among the first places: linear inside a tie, its share of positives at every place (Eq. 5)."""
    cuts = Cuts(ranking.pos, ranking.neg)
    return np.asarray(np.interp(places, cuts.ends, cuts.hits))


@checked
def lift_table(
    y_true: Labels, y_score: Scores, *, portions: int = 10, pos_label: Label = None, sample_weight: Scores | None = None
) -> Table:
    """Lift by portions of the ranked list (Arbel & Rokach section 2.2.5), with cumulative columns.

    Portion k of m contains the places ⌊n(k−1)/m⌋+1 … ⌊nk/m⌋: whole places, so sizes differ by at most one if n is
    not a multiple of m. A tie across a boundary is shared pro rata (Eq. 5). Of a weighted list n is the sum of weights.

    >>> table = lift_table([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2], portions=3)
    >>> [row["lift"] for row in table]
    [2.0, 1.0, 0.0]
    """
    ranking = rank(make_sample(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight))
    return lift_rows(ranking, portions)


def lift_rows(ranking: Ranking, portions: int) -> Table:
    """The lift table of a ranking."""
    n, share = ranking.cases, ranking.n_pos / ranking.cases
    check_whole(portions, "portions", 1, max(1, int(n)))
    bounds = [*(n * k // portions for k in range(portions)), n]
    hits_up_to = hits_at(ranking, np.array(bounds, dtype=np.float64))
    ends = np.cumsum(ranking.pos + ranking.neg, dtype=np.float64)
    groups = np.searchsorted(ends[:-1], np.array(bounds[1:]) * (1.0 - 1e-12))  # the group that contains the last place
    sizes, hits, last = np.diff(bounds), np.diff(hits_up_to), np.array(bounds[1:])
    columns = {
        "portion": range(1, portions + 1),
        "from": np.array(bounds[:-1]) + 1,
        "to": last,
        "rows": sizes,
        "lowest_score": ranking.score[groups].astype(np.float64),
        "positives": hits,
        "hit_rate": hits / sizes,
        "lift": ratio(hits / sizes, share),
        "cumulative_positives": hits_up_to[1:],
        "qrecall": ratio(hits_up_to[1:], ranking.n_pos),
        "cumulative_lift": ratio(hits_up_to[1:] / last, share),
    }
    return columns_table(columns, "Lift by portions of the ranked list")


def given_places(
    places: Mapping[Any, Any], names: Sequence[str], cases: NDArray[Any], argument: str, rule: Rule
) -> NDArray[np.float64]:
    """Places given by segment, in the order of the segments: a number for each, and none beyond its cases."""
    if not isinstance(places, Mapping):
        raise InputError(argument, f"is {show(places)}", f"give a number of places for each of {listed(names)}")
    asked = {label_of(key): value for key, value in places.items()}
    strange = [name for name in asked if name not in names]
    gone = [name for name in names if name not in asked]
    if strange or gone:
        why = f"names {listed(strange)}, which is not a segment" if strange else f"has no number for {listed(gone)}"
        raise InputError(argument, why, f"give a number of places for each of {listed(names)}")
    given = np.array([rule(asked[name], f"{argument}[{name!r}]") for name in names], np.float64)
    over = np.flatnonzero(given > cases * (1.0 + 1e-12))
    if len(over):
        k = int(over[0])
        why = f"gives {show(names[k])} {pluralize(given[k], 'place')}, but it has {pluralize(cases[k], 'case')}"
        raise InputError(argument, why, "give at most as many")
    if not given.any():
        raise InputError(argument, "gives no one a place", "give at least one")
    return given


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
    that have at least 2% of the cases, as the four-fifths rule does. ``four_fifths`` is ``below`` if the interval lies
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
    batches: int = 0

    @property
    def where(self) -> str:
        """Where the list is cut, in words."""
        (what, value), *_ = self.cut.items()
        if what == "threshold":
            return f"score > {value:g}"
        places = f"{100 * value:g}% of the cases" if value < 1.0 else f"{count(value)} places"
        return f"{places} in each of {self.batches} batches" if self.batches else places

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
        """What the four-fifths rule gives for this list."""
        against = "the highest" if self.reference is None else f"that of {self.reference}"
        if self.reference is None and len(self.rates.yardsticks) < len(self.segments):
            against += " among segments with at least 2% of the cases"
        if self.four_fifths == "":
            return "Selection rates cannot be compared here."
        if self.four_fifths == "kept":
            return f"Four-fifths rule: every selection rate is at least 0.8 of {against}."
        named: dict[str, list[str]] = {}
        for name, (_, ends) in zip(self.segments, self._ratios, strict=True):
            named.setdefault(_four_fifths(*ends), []).append(name)
        words = {"below": f"below 0.8 of {against} for", "cannot tell": "undecided for"}
        parts = [f"{told} {', '.join(named[word])}" for word, told in words.items() if word in named]
        return f"Four-fifths rule: {'; '.join(parts)}."

    def price(self, places: Mapping[Any, float] | None = None) -> Table:
        """What other rules with the same number of places cost in hits: equal selection rates, or given places.

        ``price`` is the number of hits given up compared with one list for all, with a bootstrap interval over rows or
        clusters. ``places``: the number of places for each segment.
        """
        if self.batches:
            problem = "the price of another rule is for one list, and this one is cut batch by batch"
            raise InputError(None, problem, "evaluate without {batch}")
        if self.rows is None:
            why = "the price of another rule would need the rows of this table, which was streamed: they were not kept"
            raise InputError(None, f"{why} in memory", "use a sample of the rows")
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
    quota: int | float | None,
    threshold: float | None,
    reference: str | None,
    level: float,
    batches: BatchRows | None = None,
) -> SharedList:
    """Cut one list at a quota (in cases) or threshold and count by segment; a tie at the cut is shared pro rata.

    With ``batches``, the list of each is cut at the quota.
    """
    sample, weight = rows.sample, rows.sample.row_weight

    def by_segment(each: NDArray[Any]) -> Floats:
        return np.bincount(rows.segment, weights=weight * each, minlength=len(segments)).astype(np.float64)

    near = None
    if quota is not None and batches is not None:
        lists = batches.lists()  # each cut depends on its own batch alone: no cut moves with other rows
        taken = lists.taken(sample.score, batches.batches.codes, lists.places(quota))
        edge, cut = math.nan, {"quota": float(quota)}
    elif quota is not None:
        ends = np.cumsum(ranking.pos + ranking.neg, dtype=np.float64)
        edge = float(ranking.score[min(int(np.searchsorted(ends, quota * (1.0 - 1e-12))), len(ends) - 1)])
        taken = membership(sample.score, quota, sample.weight)
        # cases of each segment within three standard deviations of the place of the cut, ties whole
        whole = float(ends[-1])
        half = max(3.0 * math.sqrt(max(quota * (1.0 - quota / whole), 1.0)), 1.0)
        half = max(min(half, quota, whole - quota), 1.0)
        places = [max(quota - half, 0.0), min(quota + half, whole * (1.0 - 1e-12))]
        first, last = np.minimum(np.searchsorted(ends, places, side="right"), len(ends) - 1).tolist()
        near = by_segment((sample.score <= ranking.score[first]) & (sample.score >= ranking.score[last]))
        cut = {"quota": float(quota)}
    else:
        assert threshold is not None
        edge, cut = float(threshold), {"threshold": float(threshold)}
        taken = np.where(sample.score > np.float64(threshold), 1.0, 0.0)
    rates = selection_rates(taken, weight, rows.segment, len(segments), rows.cluster, near)
    hits, positives = by_segment(taken * sample.positive), by_segment(sample.positive)
    number = 0 if batches is None else len(batches.batches)
    return SharedList(tuple(segments), cut, edge, rates, hits, positives, reference, level, rows, number)


def price_table(rows: ListRows, of_one: Floats, given: Floats | None, segments: Sequence[str], level: float) -> Table:
    """Hits under each rule, and what it costs compared with one list for all, which gives segments ``of_one``.

    A rule gives each segment a share of its cases. Standard errors: rows, or clusters, are drawn again, and the same
    shares taken of them.
    """
    sample, quota, weight = rows.sample, float(of_one.sum()), rows.sample.row_weight
    order = np.argsort(-sample.score.astype(np.float64), kind="stable")
    lists = [order, *(order[rows.segment[order] == k] for k in range(len(segments)))]
    starts = [tie_starts(sample.score[best_first]) for best_first in lists]

    def curves(weight: Floats) -> list[tuple[Floats, Floats]]:
        """Cases and positives up to each tie of the one list and of each segment's own, for weights of the rows."""
        sides = weight, weight * sample.positive
        sums = ([np.add.reduceat(side[at], ties) for side in sides] for at, ties in zip(lists, starts, strict=True))
        return [(np.append(0.0, np.cumsum(cases)), np.append(0.0, np.cumsum(hits))) for cases, hits in sums]

    def apply(share: Floats, whole: Any, *of_segments: Any) -> tuple[Floats, float, float]:
        """Places of the segments, their hits, and how many more the one list finds with as many places."""
        places = share * np.array([cases[-1] for cases, _ in of_segments])
        hits = sum(float(np.interp(k, *curve)) for k, curve in zip(places, of_segments, strict=True))
        return places, hits, float(np.interp(places.sum(), *whole)) - hits

    observed = curves(weight)
    sizes = np.array([cases[-1] for cases, _ in observed[1:]])
    shares = {EQUAL_RATES: np.full(len(sizes), quota / sizes.sum())}
    if given is not None:
        shares[GIVEN] = given / sizes
    rng = np.random.default_rng([rows.seed & (2**63 - 1), 13])
    units = len(sample) if rows.cluster is None else int(rows.cluster.max()) + 1
    prices: dict[str, list[float]] = {rule: [] for rule in shares}
    for _ in range(min(rows.n_resamples, _DRAWS, max(100, _ROWS_DRAWN // len(sample)))):
        times = np.bincount(rng.integers(0, units, units), minlength=units).astype(np.float64)
        drawn = curves(weight * (times if rows.cluster is None else times[rows.cluster]))
        for rule, share in shares.items():
            prices[rule].append(apply(share, *drawn)[2])
    table = []
    for rule in ("one list", *shares):
        places, hits, price, half = of_one, float(np.interp(quota, *observed[0])), 0.0, math.nan
        if rule in shares:
            places, hits, price = apply(shares[rule], *observed)
            half = z_of(level) * float(np.nanstd(prices[rule], ddof=1))
        row = {"rule": rule, "places": round(float(places.sum()), 6), "hits": round(hits, 6)}
        row |= {"price": price, "low": price - half, "high": price + half}
        table.append(row | {f"places: {name}": round(float(k), 6) for name, k in zip(segments, places, strict=True)})
    return Table(table, f"Hits of {quota:g} places under other rules")


# ------------------------------------------------------------------------------------------------- stage after stage


@dataclass(frozen=True, eq=False, repr=False)
class Screening(HasSections, HasPlot, DictResult):
    """The final selection, and what each stage kept, lost and cost.

    ``sizes`` are the cases kept at each stage. ``recall`` is the share of positives left in the end and
    ``cost_per_hit`` the cost of each of them, with bootstrap intervals. ``plot`` draws how many cases and positives
    each stage leaves.
    """

    pictures: ClassVar[tuple[str, ...]] = ("screening",)

    chosen: NDArray[np.intp]
    stages: Table
    sizes: tuple[int, ...]
    recall: Estimate
    cost_per_hit: Estimate

    @property
    def lost(self) -> int:
        """Positives lost over all stages."""
        return int(sum(row["positives_lost"] for row in self.stages))

    @property
    def cost(self) -> float:
        """Cost of all stages."""
        return float(sum(row["cost"] for row in self.stages))

    def to_dict(self) -> dict[str, Any]:
        """The stages and the totals."""
        return {
            "stages": self.stages.to_dicts(),
            "sizes": list(self.sizes),
            "lost": self.lost,
            "cost": self.cost,
            **self.recall.to_dict("recall"),
            **self.cost_per_hit.to_dict("cost_per_hit"),
            "level": self.recall.level,
            "chosen": self.chosen.tolist(),
        }

    @property
    def summary(self) -> str:
        """What is kept in the end and what it costs, in a sentence."""
        r = self.recall
        summary = f"The stages keep {r.value:.1%} of the positives ({r.level:.0%} interval {r.low:.1%} to {r.high:.1%})"
        if self.cost > 0:
            c = self.cost_per_hit
            summary += f" at a cost of {c.value:.3g} per positive kept ({c.low:.3g} to {c.high:.3g})"
        return summary

    def sections(self, names: Sequence[str] = ()) -> list[Section]:
        """What is kept in the end, and stage by stage; ``names`` are those of the stages' scores."""
        stages = self.stages
        if not isinstance(names, list | tuple) or len(names) not in (0, len(stages)):
            raise InputError("names", f"is {show(names)}", f"give {len(stages)} names, one for each stage")
        if names:
            stages = Table([{"score": name, **row} for name, row in zip(names, stages, strict=True)])
        return [Section("answer", [f"{self.summary}.", stages, Figure("screening", self)])]


@checked(
    cost=lambda value, name: [check_amount(price, name) for price in check_list(value, name)],
)
def screen(
    y_true: Labels | TableSource,
    stages: Sequence[tuple[Any, int | float]],
    *,
    label: str | None = None,
    cost: Sequence[float] | None = None,
    ties: TieRule = "random",
    level: float = 0.95,
    n_resamples: int = _REPLICATES,
    seed: int = 0,
    pos_label: Label = None,
) -> Screening:
    """Screen in stages: each ``(score, keep)`` keeps the best of the remaining cases.

    ``keep`` is a number of rows, or a share of those that enter the stage. Early stages usually screen negatively (drop
    the least likely cases with a cheap score), the last one positively (fill the quota). Every score covers all rows,
    because it is not known in advance who remains. ``cost`` is per case examined at each stage.

    Columns of a table are named: ``screen(table, [("cheap", 0.5), ("dear", 200)], label="y")``.

    >>> s = screen([1, 0, 1, 0], [([0.9, 0.1, 0.6, 0.5], 0.75), ([0.2, 0.1, 0.9, 0.8], 2)], cost=[1, 10])
    >>> s.chosen.tolist(), s.lost, s.cost
    ([2, 3], 1, 34.0)
    """
    if not isinstance(stages, list | tuple) or not stages:
        why = "is empty" if isinstance(stages, list | tuple) else f"is {show(stages)}"
        raise InputError("stages", why, "pass a list with at least one (score, keep)")
    prices = [0.0] * len(stages) if cost is None else list(cost)
    if len(prices) != len(stages):
        raise InputError(
            "cost", f"has {len(prices)} entries but there are {len(stages)} stages", "pass one for each stage"
        )
    for k, stage in enumerate(stages):
        if not (isinstance(stage, tuple | list) and len(stage) == 2):
            raise InputError(f"stages[{k}]", f"must be a pair (score, keep), got {type(stage).__name__}", "")
    if label is not None:
        names = [check_column(name, f"stages[{k}]") for k, (name, _) in enumerate(stages)]
        table = read_columns(y_true, label, names, pos_label=pos_label)
        y_true, pos_label = table.positive, None
        stages = [(table.scores[name], keep) for name, keep in stages]
    positive = make_sample(y_true, stages[0][0], pos_label=pos_label).positive
    scores, n = [as_numbers(values, f"stages[{k}] score")[0] for k, (values, _) in enumerate(stages)], len(positive)
    for k, score in enumerate(scores):
        if len(score) != n:
            raise InputError(f"stages[{k}]", f"has {len(score)} scores but y_true has {n} rows", "score every row")
    sizes: list[int] = []
    for _, keep in stages:
        sizes.append(resolve_quota(keep, sizes[-1] if sizes else n, "keep"))
    drawn = _replicates(positive, scores, sizes, min(n_resamples, max(50, 20_000_000 // n)), seed)
    left, rows = np.arange(n), []
    for k, (score, size) in enumerate(zip(scores, sizes, strict=True), start=1):
        kept = left[np.asarray(select(score[left], min(int(size), len(left)), ties=ties, seed=seed + k))]
        before, after = int(positive[left].sum()), int(positive[kept].sum())
        lost_low, lost_high = _middle(1.0 - ratio(drawn[:, k], drawn[:, k - 1]), level)
        low, high = _middle(ratio(drawn[:, k], drawn[:, 0]), level)
        rows.append(
            {
                "stage": k,
                "enter": len(left),
                "keep": len(kept),
                "positives_enter": before,
                "positives_keep": after,
                "positives_lost": before - after,
                "share_lost": float(1.0 - ratio(after, before)),
                "share_lost_low": lost_low,
                "share_lost_high": lost_high,
                "hit_rate": float(ratio(after, len(kept))),
                "recall_so_far": float(ratio(after, int(positive.sum()))),
                "recall_low": low,
                "recall_high": high,
                "cost": prices[k - 1] * len(left),
            }
        )
        left = kept
    recall = Estimate("recall", rows[-1]["recall_so_far"], low, high, level, "percentile")
    total = sum(row["cost"] for row in rows)
    ends_per_hit = _middle(ratio(total, drawn[:, -1]), level)
    per_hit = Estimate("cost_per_hit", float(ratio(total, after)), *ends_per_hit, level, "percentile")
    kept_sizes = tuple(int(row["keep"]) for row in rows)
    return Screening(np.sort(left), Table(rows, "Progressive screening"), kept_sizes, recall, per_hit)


def _middle(values: Floats, level: float) -> tuple[float, float]:
    """The middle of replicates that contains a share ``level`` of them; some may be infinite."""
    defined = np.sort(values[~np.isnan(values)])
    if len(defined) == 0:
        return math.nan, math.nan
    cut = round((1.0 - level) / 2.0 * (len(defined) - 1))
    return float(defined[cut]), float(defined[len(defined) - 1 - cut])


def _replicates(
    positive: NDArray[np.bool_], scores: Sequence[NDArray[Any]], sizes: Sequence[int], n_drawn: int, seed: int
) -> Floats:
    """Positives at the start and after each stage, in replicates of the rows; a tie across a cut is shared."""
    rng = np.random.default_rng([seed, 8])
    n = len(positive)
    orders = [np.argsort(-score.astype(np.float64), kind="stable") for score in scores]
    starts = [tie_starts(score[order]) for score, order in zip(scores, orders, strict=True)]
    drawn = []
    at_once = max(1, 2_000_000 // n)
    for first in range(0, n_drawn, at_once):
        many = min(at_once, n_drawn - first)
        rows = rng.integers(0, n, (many, n)) + n * np.arange(many)[:, None]
        times = np.bincount(rows.ravel(), minlength=many * n).reshape(many, n).astype(np.float64)
        positives = [times[:, positive].sum(axis=1)]
        for order, start, keep in zip(orders, starts, sizes, strict=True):
            weight = times[:, order]
            size = np.add.reduceat(weight, start, axis=1)
            before = np.cumsum(size, axis=1) - size
            share = np.clip((keep - before) / np.where(size > 0, size, 1.0), 0.0, 1.0)
            times[:, order] = weight * np.repeat(share, np.diff(np.append(start, n)), axis=1)
            positives.append(times[:, positive].sum(axis=1))
        drawn.append(np.stack(positives, axis=1))
    return np.concatenate(drawn)

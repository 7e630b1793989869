"""Limited places: whom to take, at once or in stages, what portions of the list contain, how segments share it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import ratio
from ..errors import InputError, look_up, show
from ..estimate import Estimate, Interval
from ..inference.batch_rows import BatchRows, in_batches, places_in
from ..inference.closed_forms import Cuts
from ..inference.segment_tests import SelectionRates, selection_rates
from ..partition import Partition
from ..quotas import resolve_quota
from ..ranking import Ranking, membership, rank, tie_starts
from ..sources.arrays import Sample, as_numbers, make_sample
from ..sources.given_columns import read_columns
from ..table import DictResult, HasSections, Section, Table, TabularResult, count, cut_text, ends, percentage, pluralize
from ..types import CutBy, Floats, Label, Labels, Scores, TableSource
from ..validate import check_amount, check_column, check_list, check_quota, check_whole, checked
from .operating import percentile_estimate, whole

Codes = NDArray[np.intp]
FOUR_FIFTHS = 0.8
_REPLICATES = 400  # of a screening by default: enough for percentiles at 95%
TieRule = Literal["random", "expand", "shrink"]


@dataclass(frozen=True, eq=False)
class Selection:
    """The chosen rows, best first; use it as an index. Its note tells how many tied at the cut and how that was
    resolved.

    If rows were chosen within batches, they come batch by batch; ``batches`` describes each, and ``threshold`` is nan.
    With ``cut_by``, ``threshold`` is a score × worth, or that by cost.
    """

    indices: NDArray[np.intp]
    quota: int | float
    threshold: float
    tied: int
    taken_of_tied: int
    ties: TieRule
    batches: Table | None = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.indices, dtype=dtype, copy=True if copy is None else copy)

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[int]:
        return iter(self.indices.tolist())

    def __getitem__(self, item: Any) -> Any:
        return self.indices[item]

    @property
    def note(self) -> str:
        """How many rows were chosen and how ties were resolved, in words."""
        done = {"random": "drawn at random", "expand": "all of them taken", "shrink": "none of them taken"}[self.ties]
        if self.batches is None:
            if self.tied == 0:
                return f"{len(self):,} chosen; no tie at the cut"
            done = f"{self.taken_of_tied} of them {done}" if self.ties == "random" else done
            places = pluralize(self.quota, "place")
            return f"{len(self):,} chosen for {places}; {self.tied:,} tied at {self.threshold:g}: {done}"
        quota = f"{100 * self.quota:.4g}%" if isinstance(self.quota, float) else f"{self.quota:,}"
        note = f"{len(self):,} chosen, {quota} of each of {pluralize(len(self.batches), 'batch', 'batches')}"
        split = sum(row["tied"] > 0 for row in self.batches)
        if split:
            note += f"; ties across the cut in {pluralize(split, 'batch', 'batches')}: {done}"
        short = sum(row["places"] < (self.quota if isinstance(self.quota, int) else 1) for row in self.batches)
        if short and isinstance(self.quota, int):
            note += f"; {short:,} {'has' if short == 1 else 'have'} fewer cases than places: all taken"
        elif short:
            note += f"; {short:,} too small for one place"
        return note

    def __repr__(self) -> str:
        return f"Selection({self.note}; indices={np.array2string(self.indices, threshold=8)})"


@checked(quota=check_quota, cost=lambda value, _: value)  # of each row: checked with the worth
def select(
    y_score: Scores | TableSource,
    quota: int | float,
    *,
    score: str | None = None,
    ties: TieRule = "random",
    seed: int = 0,
    batch: Labels | Partition | None = None,
    worth: Scores | str | None = None,
    cost: Scores | str | None = None,
    cut_by: CutBy = "score",
) -> Selection:
    """Choose the best ``quota`` rows by score; with ``batch`` (the batch of each row) those of each batch.

    For a tie at the cut, ``random`` draws from the tied rows, ``expand`` takes all of them (more rows than the
    quota), ``shrink`` takes none (fewer). Rows come best first; equal scores keep the order of the input. Every batch
    has the whole quota: a batch with fewer rows is taken whole, and batches come in the order that segments have:
    numbers, dates and months in theirs, other names by name. With ``cut_by`` and ``worth`` the list is that of
    :func:`plan` and :func:`evaluate` with the same ``cut_by``.

    Columns of a table are named: ``select(table, 200, score="p", batch="day")``; rows are numbered as they come.

    >>> select([0.9, 0.5, 0.5, 0.1], 2, ties="expand").indices.tolist()
    [0, 1, 2]
    >>> select([0.9, 0.5, 0.4, 0.1], 1, batch=["mon", "mon", "tue", "tue"]).indices.tolist()
    [0, 2]
    >>> select([0.9, 0.5, 0.1], 2, worth=[10, 90, 500], cut_by="value").indices.tolist()
    [2, 1]
    """
    if score is not None:
        names = [check_column(score, "score"), *(name for name in (worth, cost) if isinstance(name, str))]
        table = read_columns(y_score, None, list(dict.fromkeys(names)), batch=batch)
        worth, cost = (table.scores[name] if isinstance(name, str) else name for name in (worth, cost))
        y_score, batch = table.scores[score], table.batch
    values, _, _ = as_numbers(y_score, "y_score")
    if worth is not None and cut_by == "score":
        raise InputError("worth", "does not change the list of the score", "add {cut_by='value'}, or leave it out")
    valued = make_sample(np.zeros(len(values), np.bool_), values, worth=worth, cost=cost, cut_by=cut_by).worth
    values = values if valued is None else valued.order(values)
    n, batches = len(values), None if batch is None else Partition.of(batch, "batch", len(values))
    if batches is None:
        code, places = np.zeros(n, np.intp), np.array([resolve_quota(quota, n)])
        edge = np.partition(values, n - places[0])[n - places]  # the score at the last place
    else:
        code = batches.codes
        places = places_in(np.bincount(code).astype(np.float64), quota).astype(np.intp)
        order = in_batches(code, np.argsort(-values.astype(np.float64), kind="stable"))
        start = np.searchsorted(code[order], np.arange(len(places)))
        edge = np.where(places > 0, values[order[start + np.maximum(places, 1) - 1]], np.inf)
    higher, at = values > edge[code], (values == edge[code]) & (places > 0)[code]
    parts = len(places)
    left, n_tied = places - np.bincount(code[higher], minlength=parts), np.bincount(code[at], minlength=parts)
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
    chosen = np.flatnonzero(taken)
    chosen = chosen[np.lexsort((-values[chosen].astype(np.float64), code[chosen]))]
    if batches is None:
        return Selection(chosen, int(places[0]), float(edge[0]), len(tied), len(drawn), ties)
    sizes, of_batch = (np.bincount(codes, minlength=parts) for codes in (code, code[chosen]))
    columns = {"batch": batches.names, "cases": sizes, "places": places, "chosen": of_batch}
    each = Table({**columns, "tied": np.where(split, n_tied, 0), "threshold": edge}, "Chosen in each batch")
    return Selection(chosen, quota, math.nan, len(tied), len(drawn), ties, each)


def above(y_score: Scores, threshold: float) -> Selection:
    """The rows that score above a threshold, best first."""
    score, _, _ = as_numbers(y_score, "y_score")
    rows = np.flatnonzero(score > np.float64(threshold))
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
    return Table(columns, "Lift by portions of the ranked list")


def _four_fifths(ratio: Interval) -> str:
    verdict = "below" if ratio.high < FOUR_FIFTHS else "kept" if ratio.low >= FOUR_FIFTHS else "cannot tell"
    return "" if math.isnan(ratio.low + ratio.high) else verdict


@dataclass(frozen=True, eq=False)
class OpenRates(SelectionRates):
    """Rates of segments that share the bucket of the cut: the places of each lie between ``least`` and ``most``."""

    least: Floats
    most: Floats

    def ratio(self, one: int, two: int, level: float) -> Interval:
        """From the interval where one has its least and the other its most places to that of the other way round."""
        found = [super().ratio(one, two, level)]
        for down, up in ((one, two), (two, one)):
            places = self.places.copy()
            places[[down, up]] = self.least[down], self.most[up]
            # variances of logarithms move with the rates as those of independent cases do
            now, then = (np.sqrt((self.cases - k + 0.5) / (k + 0.5)) for k in (places, self.places))
            rates = SelectionRates(self.cases, places, self.covariance * np.outer(now / then, now / then))
            found.append(rates.ratio(one, two, level))
        return Interval(float(np.nanmin([low for low, _ in found])), float(np.nanmax([high for _, high in found])))


@dataclass(frozen=True, eq=False, repr=False)
class SharedList(HasSections, DictResult, TabularResult):
    """One list for all segments, cut at a quota or threshold. Reads as rows, one for each segment.

    ``selection_ratio`` is the selection rate over that of ``reference``; without one over the highest of all segments
    that have at least 2% of the cases, as the four-fifths rule does. ``four_fifths`` is ``below`` if the interval lies
    below 0.8, ``kept`` if it lies above, and ``cannot tell`` otherwise. Where the cut lies in a bucket of scores,
    ``places_low`` and ``places_high`` bound the places, and the interval holds for any order inside the bucket.
    """

    segments: tuple[str, ...]
    cut: Mapping[str, float]
    threshold: float
    rates: SelectionRates
    hits: Floats
    positives: Floats
    reference: str | None
    level: float
    batches: int = 0

    @property
    def where(self) -> str:
        """Where the list is cut, in words."""
        (what, value), *_ = self.cut.items()
        if what == "threshold":
            return f"score > {cut_text(value)}"
        places = f"{100 * value:g}% of the cases" if value < 1.0 else f"{count(value)} places"
        return f"{places} in each of {self.batches} batches" if self.batches else places

    @cached_property
    def table(self) -> Table:
        """The segments as rows."""
        cases, places, hits, rates = self.rates.cases, self.rates.places, self.hits, self.rates
        bounds = {"low": rates.least, "high": rates.most} if isinstance(rates, OpenRates) else {}
        ratios, ends = [], []
        for k in range(len(self)):
            if self.reference is None:
                value, limits = rates.to_highest(k, self.level)
            else:
                two = self.segments.index(self.reference)
                value, limits = float(ratio(rates.rates[k], rates.rates[two])), rates.ratio(k, two, self.level)
                if k == two:
                    value, limits = 1.0, Interval(math.nan, math.nan)
            ratios.append(value)
            ends.append(limits)
        columns = {
            "segment": self.segments,
            "cases": [*map(whole, cases.tolist())],
            "places": [*map(whole, places.tolist())],
            **{f"places_{end}": [*map(whole, of.tolist())] for end, of in bounds.items()},
            "share_of_places": ratio(places, places.sum()),
            "selection_rate": ratio(places, cases),
            "hits": [*map(whole, hits.tolist())],
            "hit_rate": ratio(hits, places),
            "recall": ratio(hits, self.positives),
            "fpr": ratio(places - hits, cases - self.positives),
            "selection_ratio": ratios,
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
            "level": [self.level] * len(self),
            "four_fifths": list(map(_four_fifths, ends)),
        }
        (what, value), *_ = self.cut.items()
        return Table(columns, f"One list for all segments, {what} {value:g}")

    def __len__(self) -> int:
        return len(self.segments)

    def __iter__(self) -> Any:
        return iter(self.to_dicts())

    def __getitem__(self, segment: Any) -> dict[str, Any]:
        rows = self.to_dicts()
        if isinstance(segment, int) and str(segment) not in self.segments:
            return rows[segment]
        return look_up(dict(zip(self.segments, rows, strict=True)), str(segment), "segment")

    @property
    def four_fifths(self) -> str:
        """Whether every segment's rate is at least four fifths of the reference's: the same word as in the rows."""
        words = set(self.table.column("four_fifths"))
        return next((word for word in ("below", "cannot tell", "kept") if word in words), "")

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
        parts = []
        for word, told in (("below", f"below 0.8 of {against} for"), ("cannot tell", "undecided for")):
            named = [row["segment"] for row in self.table if row["four_fifths"] == word]
            parts += [f"{told} {', '.join(named)}"] if named else []
        return f"Four-fifths rule: {'; '.join(parts)}."

    def to_dict(self) -> dict[str, Any]:
        """The cut and the segments."""
        content = {**self.cut, "score_above": self.threshold, "reference": self.reference, "level": self.level}
        return {**content, "four_fifths": self.four_fifths, "text": self.sentence, "segments": self.to_dicts()}

    def sections(self) -> list[Section]:
        """What the four-fifths rule gives, and the segments."""
        rows = [{key: v for key, v in row.items() if key != "level"} for row in self.to_dicts()]
        return [Section("table", [Table(rows, self.table.title), self.sentence])]


def share_list(
    sample: Sample,
    segment: Codes,
    cluster: Codes | None,
    ranking: Ranking,
    segments: Sequence[str],
    *,
    quota: int | float | None,
    threshold: float | None,
    reference: str | None,
    level: float,
    batches: BatchRows | None = None,
    is_open: NDArray[np.bool_] | None = None,
) -> SharedList:
    """Cut one list at a quota (in cases) or threshold and count by segment; a tie at the cut is shared pro rata.

    With ``batches``, the list of each is cut at the quota. ``is_open``: rows whose order among those with the same
    score is not known; at a threshold, those of which it is not known whether they lie above it.
    """
    weight = sample.row_weight

    def by_segment(each: NDArray[Any]) -> Floats:
        return np.bincount(segment, weights=weight * each, minlength=len(segments)).astype(np.float64)

    near = None
    if quota is not None and batches is not None:
        lists = batches.lists  # each cut depends on its own batch alone: no cut moves with other rows
        taken = lists.taken(sample.score, batches.batches.codes, places_in(lists.cases, quota))
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
        taken = taken if is_open is None else np.where(is_open, 0.5, taken)
    rates = selection_rates(taken, weight, segment, len(segments), cluster, near)
    inside = np.zeros(len(taken)) if is_open is None else is_open * (taken > 0.0) * (taken < 1.0)
    if inside.any():  # the cases that each segment has there in each batch, and the places that are left for all
        code, parts = (segment * 0, 1) if batches is None else (batches.batches.codes, len(batches.batches))
        held = np.bincount(code * len(segments) + segment, inside, parts * len(segments)).reshape(parts, -1)
        every = held.sum(axis=1, keepdims=True)
        left = every if quota is None else np.bincount(code, inside * taken, parts)[:, None]
        sure = rates.places - by_segment(inside * taken)
        least, most = np.maximum(left - every + held, 0.0) * (quota is not None), np.minimum(held, left)
        rates = OpenRates(
            rates.cases, rates.places, rates.covariance, sure + least.sum(axis=0), sure + most.sum(axis=0)
        )
    hits, positives = by_segment(taken * sample.positive), by_segment(sample.positive)
    number = 0 if batches is None else len(batches.batches)
    return SharedList(tuple(segments), cut, edge, rates, hits, positives, reference, level, number)


# ------------------------------------------------------------------------------------------------- stage after stage


@dataclass(frozen=True, eq=False, repr=False)
class Screening(HasSections, DictResult):
    """The final selection, and what each stage kept, lost and cost.

    ``recall`` is the share of positives left in the end, with a bootstrap interval. ``plot`` draws how many cases and
    positives each stage leaves.
    """

    chosen: NDArray[np.intp]
    stages: Table
    recall: Estimate

    document: ClassVar[tuple[str, ...]] = ("stages", "lost", "cost", "recall", "chosen")

    @property
    def lost(self) -> int:
        """Positives lost over all stages."""
        return int(sum(row["positives_lost"] for row in self.stages))

    @property
    def cost(self) -> float:
        """Cost of all stages."""
        return float(sum(row["cost"] for row in self.stages))

    @property
    def summary(self) -> str:
        """What is kept in the end and what it costs, in a sentence."""
        r = self.recall
        within = f"{percentage(r.low)} to {percentage(r.high)}"
        summary = f"The stages keep {percentage(r.value)} of the positives ({r.level:.0%} interval {within})"
        return summary if self.cost == 0 else f"{summary} at a cost of {self.cost:,.6g}"

    def sections(self) -> list[Section]:
        """What is kept in the end, and stage by stage: what ``stages`` has, without what follows from the rest."""
        hidden = {"positives_enter", "positives_keep", "share_lost", "recall_low", "recall_high"}
        short = {name: name.removeprefix("positives_").removesuffix("_so_far") for name in self.stages.columns}
        columns = {short[name]: self.stages.column(name) for name in short if name not in hidden}
        columns["interval"] = [ends(row["recall_low"], row["recall_high"]) for row in self.stages]
        return [
            Section(
                "answer", [f"{self.summary}.", Table(columns, "Progressive screening: positives lost, recall so far")]
            )
        ]


@checked(cost=lambda value, name: [check_amount(price, name) for price in check_list(value, name)])
def screen(
    y_true: Labels | TableSource,
    stages: Sequence[tuple[Scores | str, int | float]],
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
        raise InputError("stages", f"is {show(stages)}", "pass a list with at least one (score, keep)")
    prices = [0.0] * len(stages) if cost is None else list(cost)
    if len(prices) != len(stages):
        why = f"has {pluralize(len(prices), 'entry', 'entries')} for {pluralize(len(stages), 'stage')}"
        raise InputError("cost", why, "pass one for each stage")
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
        recall = float(ratio(after, int(positive.sum())))
        so_far = percentile_estimate("recall", recall, ratio(drawn[:, k], drawn[:, 0]), level)
        rows.append(
            {
                "stage": k,
                "enter": len(left),
                "keep": len(kept),
                "positives_enter": before,
                "positives_keep": after,
                "positives_lost": before - after,
                "share_lost": float(1.0 - ratio(after, before)),
                "hit_rate": float(ratio(after, len(kept))),
                "recall_so_far": recall,
                "recall_low": so_far.low,
                "recall_high": so_far.high,
                "cost": prices[k - 1] * len(left),
            }
        )
        left = kept
    return Screening(np.sort(left), Table(rows, "Progressive screening"), so_far)


def _replicates(
    positive: NDArray[np.bool_], scores: Sequence[NDArray[Any]], sizes: Sequence[int], n_drawn: int, seed: int
) -> Floats:
    """Positives at the start and after each stage, in replicates of the rows; a tie across a cut is shared."""
    rng, n = np.random.default_rng([seed, 8]), len(positive)
    orders = [np.argsort(-score.astype(np.float64), kind="stable") for score in scores]
    starts = [tie_starts(score[order]) for score, order in zip(scores, orders, strict=True)]
    drawn = np.empty((n_drawn, len(sizes) + 1))
    for replicate in drawn:
        times = np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
        replicate[0] = times[positive].sum()
        for k, (order, start, keep) in enumerate(zip(orders, starts, sizes, strict=True), start=1):
            size = np.add.reduceat(times[order], start)
            before = np.cumsum(size) - size
            share = np.clip((keep - before) / np.where(size > 0, size, 1.0), 0.0, 1.0)
            times[order] *= np.repeat(share, np.diff(np.append(start, n)))
            replicate[k] = times[positive].sum()
    return drawn

"""Limited places: whom to take, and what each portion of the ranked list holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..batches import Batches, in_batches, places_in
from ..catalogue.declare import measure as find_measure
from ..catalogue.declare import ratio
from ..errors import InputError, listed, show
from ..quotas import Quotas, resolve_quota
from ..ranking import Ranking, rank
from ..sources.arrays import Sample, as_numbers, make_sample
from ..sources.levels import as_levels, label_of
from ..table import Table, columns_table, pluralize
from ..types import Label, Labels, QuotaLike, Scores
from ..validate import Rule, check_quota, check_whole, checked

TieRule = Literal["random", "expand", "shrink"]


@dataclass(frozen=True, eq=False)
class Selection:
    """The chosen rows, best first; use it as an index. Its note says how many tied at the cut and how that was
    resolved.

    If rows were chosen within batches, they come batch by batch; ``batches`` describes each, and ``threshold`` is nan.
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

    def __contains__(self, row: object) -> bool:
        return isinstance(row, Real) and row in self.indices

    @property
    def note(self) -> str:
        """How many rows were chosen and how ties were resolved, in words."""
        if self.batches is not None:
            return self._batch_note(self.batches)
        if self.tied == 0:
            return f"{len(self)} chosen; no tie at the cut"
        done = {
            "random": f"{self.taken_of_tied} of them drawn at random",
            "expand": "all of them taken",
            "shrink": "none of them taken",
        }[self.ties]
        return (
            f"{len(self)} chosen for {pluralize(self.quota, 'place')}; {self.tied} tied at {self.threshold:g}: {done}"
        )

    def _batch_note(self, batches: Table) -> str:
        quota = f"{100 * self.quota:.4g} %" if isinstance(self.quota, float) else f"{self.quota:,}"
        said = f"{len(self):,} chosen, {quota} of each of {pluralize(len(batches), 'batch', 'batches')}"
        split = [row for row in batches if row["tied"]]
        if split:
            done = {"random": "drawn at random", "expand": "all taken", "shrink": "none taken"}[self.ties]
            said += f"; ties across the cut in {pluralize(len(split), 'batch', 'batches')}: {done}"
        short = sum(row["places"] < self.quota for row in batches) if isinstance(self.quota, int) else 0
        none = sum(row["places"] == 0 for row in batches)
        if short:
            said += f"; {short:,} {'has' if short == 1 else 'have'} fewer cases than places: all taken"
        elif none:
            said += f"; {none:,} too small for one place"
        return said

    def __repr__(self) -> str:
        return f"Selection({self.note}; indices={np.array2string(self.indices, threshold=8)})"


def _any_quota(value: Any, name: str) -> Any:
    """A quota, or a mapping from segment to places."""
    return value if isinstance(value, Mapping) else check_quota(value, name)


@checked(quota=_any_quota)
def select(
    y_score: Scores,
    quota: int | float | Mapping[Any, int],
    *,
    ties: TieRule = "random",
    seed: int = 0,
    by: Any = None,
    batch: Labels | None = None,
) -> Selection:
    """Choose the best ``quota`` rows by score; with ``by`` (the segment of each row) those of each segment.

    For a tie at the cut, ``random`` draws from the tied rows, ``expand`` takes all of them (more rows than the
    quota), ``shrink`` takes none (fewer). Rows come best first; equal scores keep the order of the input. Segments
    share a number of places in proportion to their cases; a mapping from segment to places gives each its own. With
    ``batch`` (the batch of each row) every batch has the whole quota: a batch with fewer rows is taken whole, and
    batches come in the order that segments have: numbers, dates and months in theirs, other names by name.

    >>> select([0.9, 0.5, 0.5, 0.1], 2, ties="expand").indices.tolist()
    [0, 1, 2]
    >>> select([0.9, 0.5, 0.4, 0.1], 1, batch=["mon", "mon", "tue", "tue"]).indices.tolist()
    [0, 2]
    >>> select([0.9, 0.8, 0.5, 0.1], {"a": 1, "b": 1}, by=["a", "a", "b", "b"]).indices.tolist()
    [0, 2]
    """
    if by is not None:
        if batch is not None:
            raise InputError("batch", "does not go with {by}: either segments or batches have places", "leave one out")
        return select_by(y_score, quota, by, ties=ties, seed=seed)
    if isinstance(quota, Mapping):
        raise InputError("quota", "is a mapping, which gives segments their places", "name the segments with {by}")
    score, _, _ = as_numbers(y_score, "y_score")
    n = len(score)
    if batch is not None:
        return _select_in_batches(score, quota, ties, seed, batch)
    rows = resolve_quota(quota, n)
    edge = np.partition(score, n - rows)[n - rows]  # the score at the last place
    above, at = np.flatnonzero(score > edge), np.flatnonzero(score == edge)
    left = rows - len(above)
    split = len(at) > left
    if not split or ties == "expand":
        taken = at
    elif ties == "shrink":
        taken = at[:0]
    else:
        taken = np.random.default_rng(seed).choice(at, size=left, replace=False)
    chosen = np.concatenate([above, np.sort(taken)])
    chosen = chosen[np.argsort(-score[chosen].astype(np.float64), kind="stable")]
    return Selection(chosen, rows, float(edge), len(at) if split else 0, len(taken) if split else 0, ties)


def _select_in_batches(
    score: NDArray[Any], quota: int | float, ties: TieRule, seed: int, batch: Labels | None
) -> Selection:
    values = score.astype(np.float64)
    sample = Sample(np.zeros(len(score), np.bool_), score, None, float(values.min()), float(values.max()))
    batches = Batches.of(batch, sample)
    code, cases = batches.code, np.bincount(batches.code).astype(np.float64)
    places = places_in(cases, quota).astype(np.intp)
    order = in_batches(code, np.argsort(-values, kind="stable"))
    start = np.searchsorted(code[order], np.arange(len(batches)))
    edge = np.where(places > 0, values[order[start + np.maximum(places, 1) - 1]], np.inf)  # the score at the last place
    higher, at = values > edge[code], (values == edge[code]) & (places > 0)[code]
    counts = [np.bincount(code, weights=rows, minlength=len(batches)).astype(np.intp) for rows in (higher, at)]
    left = places - counts[0]
    split = counts[1] > left
    tied = np.flatnonzero(at & split[code])
    if ties == "shrink":
        drawn = tied[:0]
    elif ties == "expand":
        drawn = tied
    else:
        mixed = tied[np.lexsort((np.random.default_rng(seed).random(len(tied)), code[tied]))]
        first = np.searchsorted(code[mixed], code[mixed])
        drawn = mixed[np.arange(len(mixed)) - first < left[code[mixed]]]
    taken = higher | (at & ~split[code])
    taken[drawn] = True
    chosen = np.flatnonzero(taken)
    chosen = chosen[np.lexsort((-values[chosen], code[chosen]))]
    sizes, found = (np.bincount(code[rows], minlength=len(batches)) for rows in (slice(None), chosen))
    columns = {"batch": batches.names, "cases": sizes, "places": places, "chosen": found}
    columns |= {"tied": np.where(split, counts[1], 0), "threshold": edge}
    each = columns_table(columns, "Chosen in each batch")
    return Selection(chosen, quota, float("nan"), len(tied), len(drawn), ties, each)


def above(y_score: Scores, threshold: float, up_to: float = np.inf) -> Selection:
    """The rows that score above a threshold, and no more than ``up_to``, best first."""
    score, _, _ = as_numbers(y_score, "y_score")
    found = np.flatnonzero((score > np.float64(threshold)) & (score <= np.float64(up_to)))
    found = found[np.argsort(-score[found].astype(np.float64), kind="stable")]
    return Selection(found, len(found), float(threshold), 0, 0, "expand")


def average_over_quotas(
    y_true: Labels,
    y_score: Scores,
    quotas: QuotaLike,
    *,
    measure: str = "qrecall",
    pos_label: Label = None,
    sample_weight: Scores | None = None,
) -> float:
    """Expected hit rate, Qrecall or lift when the quota is not known: a mean over a distribution of quotas.

    ``quotas`` is a range ``(low, high)`` of equally likely quotas, or a mapping from quota to weight. The averages of
    Arbel & Rokach are special cases: average_qrecall is the mean Qrecall over (n⁺, n); average_hit_rate the mean hit
    rate with each quota weighing the expected outcome of its last place; PEM a rescaled mean Qrecall over (1, n).

    >>> round(average_over_quotas([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1], (2, 4)), 4)
    0.8333
    """
    one = find_measure(measure)
    if one.name not in ("hit_rate", "qrecall", "quota_lift"):
        raise InputError("measure", f"is {show(measure)}", "choose hit_rate, qrecall or quota_lift")
    ranking = rank(make_sample(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight))
    sizes, weights = quota_weights(quotas, ranking.cases)
    hits = hits_at(ranking, sizes)
    by = {"hit_rate": sizes, "qrecall": ranking.n_pos, "quota_lift": sizes * (ranking.n_pos / ranking.cases)}[one.name]
    return float(np.average(ratio(hits, by), weights=weights))


def quota_weights(quotas: QuotaLike, n: float, most: int = 100_000) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Quotas in cases and their weights, from a range (low, high) or a mapping from quota to weight.

    Of a longer range ``most`` quotas are read, each for those around it.
    """
    if isinstance(quotas, Mapping):
        if not quotas:
            raise InputError("quotas", "is empty", "give at least one quota its weight")
        sizes = np.array([resolve_quota(q, n) for q in quotas], dtype=np.float64)
        weights, low, _ = as_numbers(list(quotas.values()), "quotas")
        if low < 0 or not weights.any() or not np.isfinite(weights).all():
            raise InputError("quotas", "holds weights that are negative, infinite or all zero", "weigh each quota")
        return sizes, weights.astype(np.float64)
    if not (isinstance(quotas, tuple | list) and len(quotas) == 2):
        raise InputError("quotas", f"must be a range (low, high) or a mapping from quota to weight, got {show(quotas)}")
    low_rows, high_rows = (resolve_quota(q, n) for q in quotas)
    if low_rows > high_rows:
        raise InputError("quotas", f"runs backwards: {show(quotas)}", "put the smaller quota first")
    places, weights = Quotas.of((low_rows, high_rows)).sizes(n, most)
    return np.array(places, np.float64), weights


def hits_at(ranking: Ranking, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Expected positives among the first places: linear inside a tie, its share of positives at every place (Eq. 5)."""
    ends = np.concatenate([[0.0], np.cumsum(ranking.pos.astype(np.float64) + ranking.neg)])
    return np.asarray(np.interp(places, ends, np.concatenate([[0.0], np.cumsum(ranking.pos, dtype=np.float64)])))


@checked
def lift_table(
    y_true: Labels, y_score: Scores, *, portions: int = 10, pos_label: Label = None, sample_weight: Scores | None = None
) -> Table:
    """Lift by portions of the ranked list (Arbel & Rokach section 2.2.5), with cumulative columns.

    Portion k of m holds the places ⌊n(k−1)/m⌋+1 … ⌊nk/m⌋: whole places, so sizes differ by at most one if n is
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
    found = hits_at(ranking, np.array(bounds, dtype=np.float64))
    ends = np.cumsum(ranking.pos + ranking.neg, dtype=np.float64)
    groups = np.searchsorted(ends[:-1], np.array(bounds[1:]) * (1.0 - 1e-12))  # the group that holds the last place
    sizes, hits, last = np.diff(bounds), np.diff(found), np.array(bounds[1:])
    columns = {
        "portion": range(1, portions + 1),
        "from": np.array(bounds[:-1]) + 1,
        "to": last,
        "rows": sizes,
        "lowest_score": ranking.score[groups].astype(np.float64),
        "positives": hits,
        "hit_rate": hits / sizes,
        "lift": ratio(hits / sizes, share),
        "cumulative_positives": found[1:],
        "qrecall": ratio(found[1:], ranking.n_pos),
        "cumulative_lift": ratio(found[1:] / last, share),
    }
    return columns_table(columns, "Lift by portions of the ranked list")


@dataclass(frozen=True, eq=False, repr=False)
class SegmentSelection(Selection):
    """The chosen rows of all segments, best first; ``places`` says how many each segment has."""

    places: Mapping[str, int] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """How many were chosen in each segment."""
        each = ", ".join(f"{name} {places}" for name, places in self.places.items())
        return f"{len(self)} chosen; places by segment: {each}"


def select_by(
    y_score: Scores, quota: int | float | Mapping[Any, int], segment: Labels, *, ties: TieRule = "random", seed: int = 0
) -> SegmentSelection:
    """Choose the best rows of each segment.

    ``quota``: a share of each segment's cases; a number of places in all, which segments share in proportion to their
    cases; or a mapping from segment to its places.
    """
    score, _, _ = as_numbers(y_score, "y_score")
    levels = as_levels(segment, len(score), "by")
    sizes = np.bincount(levels.codes, minlength=len(levels.keys))
    names = [label_of(key) for key in levels.keys]
    if isinstance(quota, Mapping):
        whole = partial(check_whole, least=0)
        places = given_places(quota, names, sizes, "quota", whole).astype(np.intp)
    else:
        places = _in_proportion(quota, sizes)
    chosen, tied, drawn = [], 0, 0
    for k, own in enumerate(places.tolist()):
        if own:
            rows = np.flatnonzero(levels.codes == k)
            found = select(score[rows], own, ties=ties, seed=seed)
            chosen.append(rows[found.indices])
            tied, drawn = tied + found.tied, drawn + found.taken_of_tied
    rows = np.sort(np.concatenate(chosen)) if chosen else np.empty(0, np.intp)
    rows = rows[np.argsort(-score[rows].astype(np.float64), kind="stable")]
    by_segment = dict(zip(names, places.tolist(), strict=True))
    return SegmentSelection(rows, int(places.sum()), float("nan"), tied, drawn, ties, places=by_segment)


def _in_proportion(quota: int | float, sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Whole places in proportion to the cases: what is left over goes to the largest remainders."""
    whole = resolve_quota(quota, int(sizes.sum()))
    exact = whole * sizes / sizes.sum()
    places: NDArray[np.intp] = np.floor(exact + 1e-9).astype(np.intp)
    left = whole - int(places.sum())
    places[np.argsort(places - exact, kind="stable")[:left]] += 1
    return places


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
        said = f"names {listed(strange)}, which is not a segment" if strange else f"has no number for {listed(gone)}"
        raise InputError(argument, said, f"give a number of places for each of {listed(names)}")
    found = np.array([rule(asked[name], f"{argument}[{name!r}]") for name in names], np.float64)
    over = np.flatnonzero(found > cases * (1.0 + 1e-12))
    if len(over):
        k = int(over[0])
        said = f"gives {show(names[k])} {pluralize(found[k], 'place')}, but it has {pluralize(cases[k], 'case')}"
        raise InputError(argument, said, "give at most as many")
    if not found.any():
        raise InputError(argument, "gives no one a place", "give at least one")
    return found

"""How sure a list that is cut batch by batch makes us: batches are the units, whatever happens inside them.

What a batch contains at its own cut does not depend on the other batches, so the hits of all of them are a plain sum. A
replicate draws batches, a jackknife leaves one out, and the next batch is one more draw: no cut moves from one to the
next. Where clusters contain whole batches (the days of one branch), those are the units.

Rows are sorted once, by batch and then best first. Running totals over that order give every cut of every batch by one
interpolation: a quota that falls inside a tie takes its share of it, as in a single list.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import Computed, compute
from ..catalogue.declare import Spec
from ..catalogue.value import ValueSums, gains
from ..errors import InputError
from ..estimate import Estimate, Interval, Settings
from ..partition import Partition
from ..quotas import Quotas
from ..ranking import Ranking, rank, tie_starts
from ..sources.arrays import Sample
from ..sweep import Counts, scale_of
from ..table import PicklesFields
from ..types import Floats
from .closed_forms import QuotaCut, beta_binomial_limits
from .evidence import RowEvidence
from .limits import effective_size, jackknife, serial_inflation, t_quantile, wilson_share, z_of
from .resampling import Influences, Replicates, Resampled, Resampler
from .worth import Valued, valued

_SHARES = 101  # a range of shares is read at so many of them: closer than batches of a hundred cases can tell apart
_DRAWN_AT_ONCE = 5_000_000  # batches drawn at once, over all replicates of a chunk: 40 MB
# columns of what a batch contains: positives and cases taken, positives and cases in all, and the moments of the taken
CELLS = ("hits", "taken", "positives", "cases", "x", "xx", "tt", "xt")


@dataclass(frozen=True, eq=False)
class BatchGroups(PicklesFields):
    """Cases by batch and score, batch by batch and best first: positives, and all cases.

    Where groups join neighbouring scores of a batch, ``score`` is their mean, ``joined`` marks them, and ``sums`` has
    what their scores add up to (see :func:`sums_of_groups`).
    """

    batch: NDArray[np.intp]
    score: Floats
    pos: Floats
    size: Floats
    joined: NDArray[np.bool_] | None = None
    sums: Floats | None = None

    @classmethod
    def of(cls, sample: Sample, batches: Partition) -> BatchGroups:
        """The groups of rows in memory."""
        score = sample.score.astype(np.float64)
        order = in_batches(batches.codes, np.argsort(-score))  # rows of one score need no order among themselves
        size = np.ones(len(order)) if sample.weight is None else sample.weight[order]
        return cls(*group_cases(batches.codes[order], score[order], size * sample.positive[order], size))

    @classmethod
    def together(cls, parts: Sequence[BatchGroups]) -> BatchGroups:
        """Groups of different batches, in the order of the batches."""
        order = np.argsort(np.concatenate([part.batch for part in parts]), kind="stable")
        columns: list[Any] = []
        for name in ("batch", "score", "pos", "size", "joined", "sums"):
            own = [getattr(part, name) for part in parts]
            columns.append(None if own[0] is None else np.concatenate(own, axis=-1)[..., order])
        return cls(*columns)


def group_cases(
    code: NDArray[np.intp], score: Floats, pos: Floats, size: Floats
) -> tuple[NDArray[np.intp], Floats, Floats, Floats]:
    """Equal scores of one batch added up; rows come in the order of batches, then scores, with positives and cases."""
    starts = tie_starts(code, score)
    if len(starts) == len(code):
        return code, score, pos, size
    return code[starts], score[starts], np.add.reduceat(pos, starts), np.add.reduceat(size, starts)


def sums_of_groups(x: Floats, pos: Floats, size: Floats) -> tuple[Floats, ...]:
    """What groups add to the moments of the taken (x, xx, tt, xt); ``x`` is the score on some scale."""
    return x * size, x * x * size, pos**2 / size, x * pos


class BatchLists:
    """The lists of all batches, each best first, by running totals over all of them."""

    def __init__(self, groups: BatchGroups, batches: int) -> None:
        self.score, self.batch, self.pos, self.size = groups.score, groups.batch, groups.pos, groups.size
        self.joined = np.zeros(len(self.size), np.bool_) if groups.joined is None else groups.joined
        first = np.searchsorted(self.batch, np.arange(batches + 1))
        positives = np.concatenate([[0.0], np.cumsum(self.pos)])
        sums = () if groups.sums is None else tuple(groups.sums)
        if not sums:
            finite = np.isfinite(self.score)
            score = np.where(finite, self.score, 0.0)
            if finite.any():
                score *= scale_of(np.array([score.max(), score.min()]))  # the largest scores cannot be added up
                middle = float(score[finite].mean())
                score = np.where(finite, score - middle, 0.0)
            x = score / (float(np.abs(score).max(initial=0.0)) or 1.0)
            sums = sums_of_groups(x, self.pos, self.size)
        self._ends = np.concatenate([[0.0], np.cumsum(self.size)])
        self._sums = [positives, *(np.concatenate([[0.0], np.cumsum(part)]) for part in sums)]
        self.first_group = first
        self._start = self._ends[first]
        self.cases = np.diff(self._start)
        self.positives = np.diff(self._sums[0][first])

    def at(self, places: Floats) -> Floats:
        """What each batch contains in its first ``places`` (one number for each batch): a row of ``CELLS`` for each."""
        start, ends = self._start[:-1], self._ends
        upto = np.clip(start + places, start, self._start[1:])
        hits, *moments = (np.interp(upto, ends, s) - np.interp(start, ends, s) for s in self._sums)
        return np.stack([hits, upto - start, self.positives, self.cases, *moments], axis=1)

    def totals(self, places: Floats, most: Floats) -> tuple[Floats, Floats]:
        """Hits and cases taken over all batches with so many places in each, but at most ``most`` in one of them.

        Hits rise along each group by its share of positives: from where it begins in its list to where it ends.
        """
        first = self._ends[:-1] - self._start[self.batch]
        last = np.minimum(first + self.size, most[self.batch])
        first = np.minimum(first, most[self.batch])
        rate = self.pos / self.size
        hits = _rising(np.concatenate([first, last]), np.concatenate([rate, -rate]), places)
        ends = np.concatenate([np.zeros(len(most)), most])
        return hits, _rising(ends, np.repeat([1.0, -1.0], len(most)), places)

    def cut(self, places: Floats) -> tuple[NDArray[np.intp], Floats]:
        """The group in which each batch's cut lies (one beyond its last for a batch that is taken whole),

        and the cases of that group that are taken.
        """
        upto = self._start[:-1] + places
        group = np.searchsorted(self._ends, upto * (1.0 + 1e-12), side="right") - 1
        group = np.minimum(group, self.first_group[1:])
        return group, np.maximum(upto - self._ends[group], 0.0)

    def taken(self, score: NDArray[Any], batch: NDArray[np.intp], places: Floats) -> Floats:
        """The share of each row that its batch takes with so many places; a tie across its cut is shared."""
        group, inside = self.cut(places)
        is_whole = group == self.first_group[1:]
        at = np.minimum(group, len(self.score) - 1)
        edge = np.where(is_whole, -np.inf, self.score[at])[batch]
        share = np.where(is_whole, 1.0, inside / self.size[at])[batch]
        return np.where(score > edge, 1.0, np.where(score == edge, share, 0.0))

    def above(self, threshold: float) -> Floats:
        """Cases of each batch that score above a threshold."""
        return np.bincount(self.batch, self.size * (self.score > threshold), len(self.cases)).astype(np.float64)


def places_in(cases: Floats, quota: int | float) -> Floats:
    """Places that a quota means in batches of so many cases: a number of them, at most those there are, or a share."""
    if isinstance(quota, float):
        found = np.floor(quota * cases * (1.0 + 1e-12))
        if not found.any():
            most = 100.0 / float(cases.max())
            problem = f"is {100 * quota:.4g}% of each batch, which is less than one case in every one of them"
            raise InputError("quota", problem, f"ask for at least {most:.3g}%")
        return np.asarray(found)
    return np.minimum(float(quota), cases)


def in_batches(code: NDArray[np.intp], order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rows in an order, put batch by batch; small numbers are sorted by their digits."""
    small = code.astype(np.uint16) if len(code) and int(code.max()) < 2**16 else code
    return np.asarray(order[np.argsort(small[order], kind="stable")])


def _rising(bends: Floats, slopes: Floats, places: Floats) -> Floats:
    """A function that bends at some places, where its slope changes by so much, at other places."""
    order = np.argsort(bends, kind="stable")
    x, w = bends[order], slopes[order]
    slope, shift = (np.concatenate([[0.0], np.cumsum(v)]) for v in (w, w * x))
    at = np.searchsorted(x, places, side="right")
    return np.asarray(slope[at] * places - shift[at])


def counts_of(cells: Floats) -> Counts:
    """The cut of all batches together from sums of ``CELLS`` (the last axis)."""
    hits, taken, positives, cases, x, xx, tt, xt = np.moveaxis(cells, -1, 0)
    with np.errstate(all="ignore"):
        spread = xx - x * x / taken
        outcome = tt - hits * hits / taken
        both = xt - x * hits / taken
    wrong = np.maximum(taken - hits, 0.0)
    return Counts(
        hits,
        wrong,
        np.maximum(positives - hits, 0.0),
        np.maximum(cases - positives - wrong, 0.0),
        np.where(spread > 1e-12 * xx, spread, 0.0),
        np.where(outcome > 1e-12 * tt, outcome, 0.0),
        both,
    )


def quotas_in_batches(quota: int | float | Quotas) -> tuple[list[int | float], Floats]:
    """The quotas to read, each counted within every batch, and their weights, which add up to 1."""
    if not isinstance(quota, Quotas):
        return [quota], np.ones(1)
    if quota.through and isinstance(quota.quotas[0], float):
        low, high = quota.quotas
        shares = low + (high - low) * (np.arange(_SHARES) + 0.5) / _SHARES
        return shares.tolist(), np.full(_SHARES, 1.0 / _SHARES)
    if quota.through:
        sizes, weights = quota.sizes(np.inf)
        return list(sizes), weights
    return list(quota.quotas), np.array(quota.weights)


@dataclass(frozen=True, eq=False)
class BatchRows(RowEvidence):
    """Rows in memory that come in batches. ``unit_of_batch`` numbers the unit that each batch is drawn with.

    ``grouped`` contains the cases by batch and score where rows stand for those of a table that was streamed.
    """

    batched: ClassVar[bool] = True
    independent = False
    batches: Partition = field(default_factory=lambda: Partition(np.empty(0, np.intp), ()))
    unit_of_batch: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))
    grouped: BatchGroups | None = None

    @classmethod
    def of_batches(cls, sample: Sample, batch: Any, *, paired: bool = False) -> BatchRows:
        """A checked sample with the batch of each row, and perhaps clusters of whole batches."""
        batches = Partition.of(batch, "batch", sample=sample)
        unit = np.arange(len(batches))
        if sample.cluster is not None:
            pairs = np.unique(np.stack([batches.codes, sample.cluster]), axis=1)
            if len(pairs[0]) == len(batches):  # every batch lies in one cluster
                unit = pairs[1]
            elif len(pairs[0]) > int(sample.cluster.max()) + 1:  # not every cluster lies in one batch
                problem = "neither contain whole batches nor lie within them, so there is no one unit to resample"
                raise InputError("clusters", problem, "leave {clusters} or {batch} out")
        own = unit[batches.codes] if int(unit.max()) > 0 else None
        return cls(sample, rank(sample), own, paired, batches=batches, unit_of_batch=unit)

    @cached_property
    def n_units(self) -> int:
        """Batches, or clusters of them: what is resampled."""
        return int(self.unit_of_batch.max()) + 1

    @property
    def units(self) -> float:
        return float(self.n_units)

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """Those of rows, and the number of batches."""
        return MappingProxyType({**super().facts, "batches": len(self.batches), "batch_order": self.batches.order})

    @cached_property
    def lists(self) -> BatchLists:
        """The list of each batch."""
        return BatchLists(self.groups, len(self.batches))

    @cached_property
    def groups(self) -> BatchGroups:
        """The cases by batch and score."""
        return BatchGroups.of(self.sample, self.batches) if self.grouped is None else self.grouped

    def by_unit(self, each: Floats) -> Floats:
        """What batches contain (along the first axis) added up by unit."""
        total = np.zeros((self.n_units, *each.shape[1:]))
        np.add.at(total, self.unit_of_batch, each)
        return total

    def cells(self, spec: Spec) -> Floats:
        """What each unit contains at each of the quotas that a measure is read at: unit, quota, cell.

        Of a mean over batches: the measure of each batch by itself, added up, and how many batches have a value.
        """
        key = spec if spec.measure.batch_mean else spec.quota
        if key not in self._worked_out and spec.quota is not None:
            lists = self.lists
            cells = [lists.at(places_in(lists.cases, quota)) for quota in quotas_in_batches(spec.quota)[0]]
            self._worked_out[key] = self.by_unit(np.stack(cells, axis=1))
        elif key not in self._worked_out:
            groups = self.groups
            first = np.searchsorted(groups.batch, np.arange(len(self.batches) + 1))
            each = np.zeros((len(self.batches), 1, len(CELLS)))
            for batch, (start, end) in enumerate(pairwise(first.tolist())):
                pos, neg = groups.pos[start:end], (groups.size - groups.pos)[start:end]
                ranking = Ranking(groups.score[start:end], pos, neg, end - start, self.ranking.weighted)
                value = float(spec.measure.compute(ranking.resolved(spec.ties), **spec.arguments))
                each[batch, 0, :2] = (value, 1.0) if value == value else (0.0, 0.0)
            self._worked_out[key] = self.by_unit(each)
        return np.asarray(self._worked_out[key])

    def check_quotas(self, specs: Sequence[Spec]) -> None:
        cut = [spec for spec in specs if spec.measure.by_batch and not spec.measure.batch_mean]
        if any(spec.ties != "expected" for spec in cut):
            raise InputError("ties", "are shared in each batch: other rules do not go with {batch}", "leave {ties} out")
        for quota in dict.fromkeys(spec.quota for spec in cut if spec.quota is not None):
            for each in quotas_in_batches(quota)[0]:
                places_in(self.lists.cases, each)
        super().check_quotas([spec for spec in specs if not spec.measure.by_batch])

    def compute(self, specs: Sequence[Spec]) -> Computed:
        """Measures at a quota from the cuts of all batches, means over batches, the others from the whole list."""
        of_quota = [spec for spec in specs if spec.measure.by_batch]
        whole = self.whole_list([spec for spec in specs if not spec.measure.by_batch])
        sums = {spec: self.cells(spec).sum(axis=0) for spec in of_quota}
        own = {spec: float(_values(spec, sums[spec])) for spec in of_quota}
        cuts = {spec: counts_of(sums[spec][0]).plain() for spec in of_quota}
        return Computed({**whole.values, **own}, whole.sums, cuts)

    def worth(self, spec: Spec) -> Valued:
        """At a quota from what each batch captures, else as rows in clusters of batches."""
        if spec.quota is None:
            return super().worth(spec)
        sample, lists, (quotas, shares) = self.sample, self.lists, quotas_in_batches(spec.quota)
        assert sample.worth is not None
        gain, weight, order = gains(sample), sample.row_weight, sample.worth.order(sample.score)
        if sample.worth.cut_by != "score":
            lists = BatchLists(BatchGroups.of(replace(sample, score=order), self.batches), len(self.batches))
        cuts = []
        for quota, share in zip(quotas, shares, strict=True):
            taken = lists.taken(order, self.batches.codes, places_in(lists.cases, quota))
            of_batches = (
                np.bincount(self.batches.codes, weight * column, len(self.batches)).astype(np.float64)
                for column in (gain * taken, gain, taken)
            )
            each = [self.by_unit(of_batch) for of_batch in of_batches]
            sums = ValueSums(*(float(x.sum()) for x in each))
            cuts.append((share, sums, ValueSums._make([*(x - x.mean() for x in each), 0.0])))
        found = valued(spec, effective_size(weight * gain), cuts)
        return found._replace(wider=self.widening(found.influence))

    def whole_list(self, specs: Sequence[Spec]) -> Computed:
        """Measures without a quota, which read all batches as one list."""
        return compute(specs, self.ranking)

    def replicate(
        self, wanted: Mapping[Spec, Resampled], settings: Settings, *, paired: bool = False
    ) -> dict[Spec, Replicates]:
        of_quota = [spec for spec in wanted if spec.measure.by_batch]
        others = {spec: request for spec, request in wanted.items() if not spec.measure.by_batch}
        replicates = super().replicate(others, settings, paired=paired)
        drawn: dict[Spec, list[Floats]] = {spec: [] for spec in of_quota}
        rng = np.random.default_rng([settings.seed & (2**63 - 1), 11])
        step = max(1, _DRAWN_AT_ONCE // self.n_units)
        for first in range(0, settings.n_resamples, step) if of_quota else ():  # some replicates at a time
            size = min(step, settings.n_resamples - first)
            units = rng.integers(0, self.n_units, (size, self.n_units)) + self.n_units * np.arange(size)[:, None]
            # how often each unit is drawn, a row for each replicate
            times = np.bincount(units.ravel(), minlength=units.size).reshape(units.shape).astype(np.float64)
            for spec in of_quota:
                cells = self.cells(spec)
                summed = times @ cells.reshape(self.n_units, -1)
                drawn[spec].append(_values(spec, summed.reshape(len(times), *cells.shape[1:])))
        for spec in of_quota:
            left = jackknife(self.left_out(spec))[1]
            influences = Influences(left, np.ones(len(left)))
            replicates[spec] = Replicates(wanted[spec].value, np.concatenate(drawn[spec]), influences)
        return replicates

    def left_out(self, spec: Spec) -> Floats:
        """A measure at a quota without each unit in turn."""
        cells = self.cells(spec)
        return np.asarray(_values(spec, cells.sum(axis=0) - cells), np.float64)

    def influence(self, spec: Spec) -> Floats:
        """Influence of each unit on a measure at a quota; nan where a unit cannot be left out."""
        if spec.measure.of_worth:
            return self.worth(spec).influence
        left = self.left_out(spec)
        return jackknife(left)[1] if np.isfinite(left).all() and len(left) > 1 else np.full(len(left), np.nan)

    def widening(self, each: Floats) -> float:
        """How many times as long intervals are because batches in an order resemble their neighbours: 1 or more.

        ``each``: influence of the units. Batches without an order, and clusters of them, are taken as exchangeable.
        """
        in_order = self.batches.order != "name" and len(each) == len(self.batches)
        return serial_inflation(each[self.unit_of_batch]) if in_order and np.isfinite(each).all() else 1.0

    def cut(self, taken: float, hits: float, level: float, *, recall: bool = False) -> QuotaCut:
        raise whole_list("this cut")

    def resampler(self, settings: Settings, *, stratified: bool, paired: bool = False) -> Resampler:
        if self.n_units < 2:
            raise single_batch()
        return super().resampler(settings, stratified=stratified, paired=paired)


def single_batch() -> InputError:
    """One batch tells nothing about others."""
    problem = "contains a single batch, so the variation between batches is unknown"
    return InputError("batch", problem, "leave {batch} out to take the rows as the sample")


def whole_list(what: str) -> InputError:
    """What reads one list from its first place to its last cannot be asked of batches."""
    return InputError("batch", f"cuts each list separately, but {what} needs one whole list", "leave {batch} out")


def _values(spec: Spec, sums: Floats) -> Any:
    """A measure from sums of cells (…, quota, cell): the mean over its quotas."""
    weights = quotas_in_batches(spec.quota)[1] if spec.quota is not None else np.ones(1)
    with np.errstate(all="ignore"):
        if spec.measure.batch_mean:
            return sums[..., 0, 0] / sums[..., 0, 1]
        return spec.measure.compute(counts_of(sums), **spec.arguments) @ weights


def share_limits(share: float, error: float, freedom: float, units: float, level: float) -> Interval:
    """Wilson's interval with as many trials as give the standard error of a share; few units count for fewer by t.

    Where nothing varies, or the share is 0 or 1, each unit counts as one trial.
    """
    trials = units
    if 0.0 < share < 1.0 and error > 1e-12:
        trials = share * (1.0 - share) / (error * t_quantile(level, freedom) / z_of(level)) ** 2
    return wilson_share(share, trials, level)


@dataclass(frozen=True)
class BatchForecast:
    """Hits of a batch: their mean with an interval, and what the next batch should contain.

    ``widening``: how many times as long the interval is because batches resemble their neighbours.
    """

    mean: Estimate
    next: Interval
    widening: float = 1.0


def forecast(rows: BatchRows, hits: Floats, places: Floats, level: float) -> BatchForecast:
    """From the hits that each batch has among its places.

    Mean: Wilson's interval of the share of the places, with the trials that the variation between units gives. Next: a
    beta-binomial distribution with the variance of the batches' hits plus that of their mean, times (t/z)²; at least
    the binomial variance. It has as many places as the largest batch.
    """
    count, most, units = len(hits), float(places.max()), rows.n_units
    value = float(hits.mean())
    if units < 2 or most <= 0.0:
        return BatchForecast(Estimate("expected_hits", value), Interval(math.nan, math.nan))
    each = rows.by_unit(hits - value) / count
    widening = rows.widening(each)
    error = math.sqrt(float((each**2).sum()) * units / (units - 1.0)) * widening
    low, high = share_limits(value / most, error / most, units - 1.0, units, level)
    mean = Estimate("expected_hits", value, most * low, most * high, level, "batches")
    rate = (count * value + 0.5) / (count * most + 1.0)
    binomial = most * rate * (1.0 - rate)
    spread = (float(hits.var(ddof=1)) + error**2) * (t_quantile(level, units - 1.0) / z_of(level)) ** 2
    variance = max(spread, binomial * (1.0 + 1.0 / count))
    rho = (variance / binomial - 1.0) / max(most - 1.0, 1.0) if most > 1.0 else 0.0
    return BatchForecast(mean, beta_binomial_limits(round(most), rate, rho, variance, level), widening)

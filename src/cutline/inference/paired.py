"""Differences between models: sign flips of rows, blocks or clusters; two intervals where nothing varies.

Of rows in memory each difference has a standard error from the influence of every row on it, and one reference, sign
flips, that gives the interval and the p-value. Streams, whose rows are gone, take replicates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import ClassTotals, threshold_of
from ..catalogue.declare import Spec
from ..estimate import BY_REPLICATES, Estimate, Interval, Settings
from ..quotas import quota_sizes
from ..ranking import Ranking, midranks
from ..sweep import Counts
from ..table import PicklesFields
from ..types import Floats
from . import bands, limits
from .batch_rows import BatchRows
from .class_intervals import by_unit, measure_spread, variance_of
from .closed_forms import line_of, placements
from .differences import DifferenceTest as DifferenceTest
from .differences import PairedDifference, guard_freedom, p_of_limits, paired_difference
from .evidence import RowEvidence
from .resampling import UnitInfluences
from .worth import difference_limits

_UNITS_BY_PLACES = 4_000_000  # influences of units at quotas that are kept, 32 MB; of more, those of random groups


@dataclass
class Pair:
    """Two models by one measure: all that a test may read besides the rows.

    From these: the ``values`` of the measure, the ``difference`` (the first less the second), and the ``widest``
    difference that the measure allows.
    """

    a: str
    b: str
    spec: Spec
    singles: tuple[Estimate, Estimate]
    rankings: tuple[Ranking, ...]  # none of several classes
    drawn: tuple[Floats | None, Floats | None]
    settings: Settings

    def __post_init__(self) -> None:
        self.values = self.singles[0].value, self.singles[1].value
        self.difference = self.values[0] - self.values[1]
        self.widest = self.spec.measure.range[1] - self.spec.measure.range[0]

    @property
    def slope(self) -> float | None:
        """What carries a difference of AUCs to this measure; None if it is not the same line for both models."""
        if self.spec.measure.paired_test != "delong" or self.spec.ties != "expected" or self.spec.options:
            return None
        one, two = (line_of(self.spec.measure, ranking) for ranking in self.rankings)
        return one[0] if one == two else None


@dataclass(frozen=True, eq=False)
class RowPairs(PicklesFields):
    """Pairs of models whose rows are in memory; ``specs`` are the measures that each model has a value of.

    At another share of positives ``rows`` have that share, and measures that it does not move (not in ``moved``) are
    tested on the rows as ``sampled``. ``smaller``: the size of the smaller class where the rows have streamed by, so
    that none are left to be compared.
    """

    rows: Mapping[str, RowEvidence]
    specs: Mapping[str, Sequence[Spec]]
    paired: bool
    moved: frozenset[str] = frozenset()
    sampled: RowPairs | None = None
    smaller: int | None = None

    @classmethod
    def of(cls, evaluations: Mapping[str, Any], *, paired: bool) -> RowPairs:
        """From the models' evaluations."""

        known = {
            name: [
                spec
                for spec, e in zip(ev.specs.values(), ev.estimates.values(), strict=True)
                if e.value == e.value and not spec.measure.of_worth
            ]
            for name, ev in evaluations.items()
        }
        there = {name: ev.at_prevalence for name, ev in evaluations.items() if ev.at_prevalence is not None}
        sampled = RowPairs({name: one.sampled for name, one in there.items()}, known, paired) if there else None
        moved = frozenset[str]().union(*(one.moved for one in there.values()))
        return cls({name: ev.rows for name, ev in evaluations.items()}, known, paired, moved, sampled)

    def test(self, pair: Pair) -> DifferenceTest:
        """Sign flips; replicates if they were asked for by name; two intervals where no influence can be told."""
        if self.sampled is not None and str(pair.spec) not in self.moved:
            first, second = (self.sampled.rows[name].ranking for name in (pair.a, pair.b))
            return self.sampled.test(replace(pair, rankings=(first, second)))
        if pair.settings.interval in BY_REPLICATES:
            return by_replicates(pair, self.paired)
        if pair.settings.interval == "delong":
            return self._by_delong(pair)
        influenced = self._by_influence(pair)
        if influenced is not None and pair.spec.measure.of_worth:
            return self._by_worth(pair, influenced)
        if influenced is None and pair.difference == 0.0 and self.paired and self.smaller is None:
            seen = midranks if pair.spec.measure.rank_based else np.asarray  # are they one as far as the measure sees?
            scores = [seen(self.rows[name].sample.score) for name in (pair.a, pair.b)]
            if np.array_equal(scores[0], scores[1]):
                return DifferenceTest(0.0, 0.0, 0.0, 1.0, "same scores")
        rows = [self.rows[name] for name in (pair.a, pair.b)]
        fewest = min(rows, key=lambda of_model: of_model.units)
        units = "batches" if fewest.batched else "rows" if fewest.clusters is None else "clusters"
        heed = 1.0 if pair.spec.measure.case_loss is not None else 0.0
        if pair.slope is not None and influenced is not None:  # of areas from a skewness of 0.2, all of it from 0.35
            heed = min(max((influenced.reference.skew - 0.2) / 0.15, 0.0), 1.0)
        if not all(of_model.independent for of_model in rows):
            heed = 0.0  # the flips of clusters, or of weighted rows, are wide already
        alike = 0.0  # the correlation of two models' values over samples; 0 of models on rows of their own
        if self.paired and heed and pair.slope is not None:
            one, two = (of_model.auc[1] for of_model in rows)
            shared = (one + two - self.auc_variance(pair.a, pair.b)) / 2.0
            alike = shared / math.sqrt(one * two) if min(one, two) > 0.0 else 0.0
        elif self.paired and heed:
            alike = _correlation(*(self._influences(name, pair.settings)[pair.spec] for name in (pair.a, pair.b)))
        return _judged(pair, influenced, fewest.units, units, alike, heed)

    def _by_worth(self, pair: Pair, influenced: PairedDifference) -> DifferenceTest:
        """Of skewed amounts: what only one of the models captures, and what only the other does."""
        one, two = (self.rows[name].worth(pair.spec) for name in (pair.a, pair.b))
        influence = one.influence - two.influence
        error = math.sqrt(float((influence**2).sum()) * len(influence) / (len(influence) - 1.0))
        either = max(one, two, key=lambda valued: valued.value)._replace(wider=influenced.error / error)

        def ends(level: float) -> Interval:
            low, high = difference_limits(pair.difference, influence, either, level)
            return Interval(max(low, -pair.widest), min(high, pair.widest))

        freedom = limits.effective_freedom(influence)
        return DifferenceTest(*ends(pair.settings.level), influenced.error, p_of_limits(ends), "hall", freedom)

    def _by_delong(self, pair: Pair) -> DifferenceTest:
        """DeLong's test as published: a normal z, or of models on rows of their own Welch's t, as in pROC."""
        slope, freedom = pair.slope, math.inf
        if slope is None or not all(self.rows[name].independent for name in (pair.a, pair.b)):
            return NO_DELONG
        if not self.paired:
            spreads = np.array([self.rows[name].auc[1] for name in (pair.a, pair.b)])
            rows = np.array([len(self.rows[name].sample) for name in (pair.a, pair.b)])
            freedom = limits.combined_freedom(spreads, rows - 1.0)
        variance = slope**2 * self.auc_variance(pair.a, pair.b)
        if not variance > 0.0:  # nothing varies: there is nothing to tell of a difference
            same = variance == 0.0 and pair.difference == 0.0
            return DifferenceTest(0.0, 0.0, 0.0, 1.0, "delong") if same else DifferenceTest()
        error, gap = math.sqrt(variance), pair.difference
        half = limits.t_quantile(pair.settings.level, freedom) * error
        p = limits.two_sided_p(gap / error, freedom)
        return DifferenceTest(gap - half, gap + half, error, p, "delong", freedom)

    def _by_influence(self, pair: Pair) -> PairedDifference | None:
        """From the influence of units on the difference; None where nothing varies or something is not known.

        Units are rows, clusters or batches, or groups of rows where those at many quotas would fill the memory.
        """
        names, spec, settings = (pair.a, pair.b), pair.spec, pair.settings
        rows = [self.rows[name] for name in names]
        whole = spec.ties == "expected"
        error: float | None = None
        at_quota = spec.measure.by_batch or (spec.measure.of_worth and spec.quota is not None)
        if at_quota and any(isinstance(one, BatchRows) for one in rows):
            each, method = [one.influence(spec) for one in rows if isinstance(one, BatchRows)], "batches"
            errors = []
            for gap, batches in [(each[0] - each[1], rows[0])] if self.paired else zip(each, rows, strict=True):
                assert isinstance(batches, BatchRows)
                units = len(gap)  # what batches add up to, with their dependence on each other where they have an order
                alone = math.sqrt(float((gap**2).sum()) * units / (units - 1.0)) if units > 1 else math.nan
                errors.append(alone * batches.widening(gap))
            error = math.hypot(*errors)
        elif spec.measure.of_worth:
            each, method = [one.worth(spec).influence for one in rows], "worth"
        elif pair.slope is not None and all(one.independent for one in rows):
            # DeLong's standard error, carried to a measure that is a straight line in the AUC
            variance, slope = self.auc_variance(*names), pair.slope
            if not variance > 0.0 or not slope:
                return None
            each, error, method = (
                [np.empty(len(one.sample)) for one in rows],
                abs(slope) * math.sqrt(variance),
                "delong",
            )
            for name, psi in zip(names, each, strict=True):
                positive = self.rows[name].sample.positive
                for side, values in zip((positive, ~positive), self._placements[name], strict=True):
                    psi[side] = slope * (values - values.mean()) / len(values)
        elif whole and spec.measure.paired_test == "hits":
            each, method = [self._of_hits(name, pair) for name in names], "moving cut"
        elif whole and spec.measure.paired_test == "decisions":
            each, method = [self._of_decisions(name, pair) for name in names], "decisions"
        else:
            each, method = [self._influences(name, settings)[spec] for name in names], "jackknife"
        # A large cluster pulls the mean that it is held against; (1 − 1/U)/(1 − its share) makes up for that, as the
        # jackknife does (CR3, Bell & McCaffrey 2002). It is 1 for rows and for clusters of one size.
        for k, (name, psi) in enumerate(zip(names, each, strict=True)) if method != "jackknife" else ():
            units = len(psi)
            if self.rows[name].clusters is not None and units > 1 and units == self._units(name)[1]:
                each[k] = psi * ((1.0 - 1.0 / units) / np.maximum(1.0 - self._shares(name), 1.0 / units))
        gaps = [each[0] - each[1]] if self.paired else [each[0], -each[1]]
        if error is None:
            units, total = sum(map(len, gaps)), sum(float((gap**2).sum()) for gap in gaps)
            error = math.sqrt(total if method == "jackknife" else total * units / max(units - 1.0, 1.0))
        fewest = self.smaller
        if fewest is None:
            sizes = [(int(np.count_nonzero(one.sample.positive)), len(one.sample)) for one in rows]
            fewest = min(min(n_pos, n - n_pos) for n_pos, n in sizes)
        named = [name for name in names if self.rows[name].clusters is not None]
        alike = min((1.0 / float((self._shares(name) ** 2).sum()) for name in named), default=math.inf)
        how = guard_freedom(fewest, alike), f"{method}, sign flips", error
        return paired_difference(pair.values, np.concatenate(gaps), *how)

    def _shares(self, name: str) -> Floats:
        """The share of the weight of rows that each cluster has."""
        weight, (unit, units) = self.rows[name].sample.row_weight, self._units(name)
        return np.asarray(np.bincount(unit, weight, units) / weight.sum(), np.float64)

    @cached_property
    def _placements(self) -> dict[str, tuple[Floats, Floats]]:
        """DeLong placements of the positives and of the negatives, in the sample's own order."""
        placed = {}
        for name, rows in self.rows.items():
            (of_pos, of_neg), positive = placements(rows.ranking), rows.sample.positive
            group = rows.ranking.group_of(rows.sample.score)
            placed[name] = of_pos[group[positive]], of_neg[group[~positive]]
        return placed

    def auc_variance(self, a: str, b: str) -> float:
        """Variance of AUC(a) − AUC(b) (DeLong et al. 1988); nan where a class has a single case."""
        one, two = self._placements[a], self._placements[b]
        if min(len(side) for side in (*one, *two)) < 2:
            return math.nan
        gaps = [x - y for x, y in zip(one, two, strict=True)] if self.paired else [*one, *two]
        return sum(float(np.var(gap, ddof=1)) / len(gap) for gap in gaps)

    def _units(self, name: str) -> tuple[NDArray[np.int64], int]:
        """The cluster of each row, or the row itself: what changes sides as one; and how many there are."""
        key, rows = ("units", name), self.rows[name]
        if key not in self._worked_out:
            unit = np.arange(len(rows.sample))
            if rows.clusters is not None:
                unit = np.unique(rows.clusters, return_inverse=True)[1]
            self._worked_out[key] = unit, int(unit.max()) + 1
        unit, units = self._worked_out[key]
        return unit, units

    @cached_property
    def _worked_out(self) -> dict[tuple[Any, ...], Any]:
        """What several measures or pairs ask for: units, influences at quotas, values without blocks."""
        return {}

    def _of_decisions(self, name: str, pair: Pair) -> Floats:
        """Influence of each row or cluster on the share (or number) of decisions that are right, or wrong."""
        rows, one = self.rows[name], pair.spec.measure
        sample = rows.sample
        right = (sample.score > np.float64(threshold_of(pair.spec))) == sample.positive
        weight = np.ones(len(sample)) if sample.weight is None else sample.weight
        sign = 1.0 if one.better == "higher" else -1.0
        mean = np.full(len(sample), np.average(right, weights=weight))
        if rows.classes_given:
            for side in (sample.positive, ~sample.positive):
                mean[side] = np.average(right[side], weights=weight[side])
        # what carries a share of decisions to the measure: 1, or the number of cases
        scale = 1.0 if one.scale is None else float(one.scale(Counts(0.0, 0.0, rows.ranking.n_pos, rows.ranking.n_neg)))
        each = sign * scale * weight * (right - mean)
        each = np.asarray(each / weight.sum())
        unit, units = self._units(name)
        return each if rows.clusters is None else np.bincount(unit, each, units).astype(np.float64)

    def _of_hits(self, name: str, pair: Pair) -> Floats:
        """Influence of each row or cluster on a measure that is proportional to the hits at a quota."""
        one, ranking = pair.spec.measure, self.rows[name].ranking
        sizes, weights = quota_sizes(pair.spec.quota, ranking.cases)
        places = np.array(sizes, np.float64)
        hits = bands.hits_by(ranking, "quota", places)
        assert one.proportion is not None
        cells = Counts(hits, places - hits, ranking.n_pos - hits, ranking.n_neg - places + hits)
        scale = weights * np.ones(len(places)) * (1.0 if one.scale is None else one.scale(cells))
        trials = np.asarray(one.proportion(cells)[1], np.float64)
        key = "hits", name, places.tobytes()  # of each row (or unit), worked out once for all measures and pairs
        if key not in self._worked_out:
            rows, (unit, units) = self.rows[name], self._units(name)
            if units * len(places) > _UNITS_BY_PLACES:
                unit, units = bands.units_of(len(unit), rows.clusters, pair.settings.seed)
            self._worked_out[key] = bands.curve_influence(
                rows.sample, rows.ranking, "quota", places, unit, units, by_class=rows.classes_given
            )
        return np.asarray(self._worked_out[key] @ (scale / np.where(trials > 0.0, trials, np.nan)))

    def _influences(self, name: str, settings: Settings) -> UnitInfluences:
        """The influence of a model's rows or clusters on every measure, in one order for models on the same rows."""
        key = "influences", name
        if key not in self._worked_out:
            rows = self.rows[name]
            specs = [spec for spec in self.specs[name] if not (rows.batched and spec.measure.by_batch)]
            stratified = rows.set_by_design if settings.stratify is None else settings.stratify
            resampler = rows.resampler(settings, stratified=stratified, paired=self.paired)
            self._worked_out[key] = UnitInfluences(specs, resampler)
        influences: UnitInfluences = self._worked_out[key]
        return influences


class StreamedPairs:
    """Pairs of models whose rows have streamed by: differences come from replicates on the same rows."""

    paired = True

    def test(self, pair: Pair) -> DifferenceTest:
        """The replicates; with few cases in a class, and of losses, never surer than what else is known."""
        if pair.settings.interval == "delong":
            return NO_DELONG
        tested = by_replicates(pair, paired=True)
        if pair.settings.interval in BY_REPLICATES:
            return tested
        guard, error = guard_freedom(min(pair.rankings[0].n_pos, pair.rankings[0].n_neg)), tested.standard_error
        if math.isfinite(guard) and error > 0.0:  # with few cases in the smaller class Student's t must agree
            half = limits.t_quantile(pair.settings.level, guard) * error
            low, high = min(tested.low, pair.difference - half), max(tested.high, pair.difference + half)
            p = max(tested.p_value, limits.two_sided_p(pair.difference / error, guard))
            tested = DifferenceTest(low, high, error, p, f"{tested.method}, t", guard)
        one, two = pair.drawn
        known = pair.spec.measure.case_loss is not None and one is not None and two is not None
        return _guarded_by_singles(tested, pair, _correlation(one, two)) if known else tested


def class_difference(pair: Pair, totals: Sequence[ClassTotals], units: Sequence[Floats]) -> DifferenceTest:
    """Models of several classes on the same rows, from the influences of ``units``: rows or clusters.

    By every measure both models' own intervals, which allow for classes of few cases, must agree with the flips.
    """
    (one, two), measure, settings = (of_model.sample for of_model in totals), pair.spec.measure, pair.settings
    if settings.interval in BY_REPLICATES:
        return by_replicates(pair, paired=True)
    gap, influence = pair.difference, units[0] - units[1]
    variance, freedom = measure_spread(pair.spec, influence, one)
    if settings.interval == "delta":
        half, p = limits.z_of(settings.level) * math.sqrt(variance), normal_p(gap, variance)
        return DifferenceTest(gap - half, gap + half, math.sqrt(variance), p, "delta")
    clusters = math.inf if one.cluster is None else limits.effective_size(by_unit(one.row_weight, one.cluster))
    smaller = float(len(one) - np.bincount(one.code).max())  # of two classes the smaller one
    how = min(guard_freedom(smaller, clusters), freedom), "delta, sign flips", math.sqrt(variance)
    influenced = paired_difference(pair.values, influence, *how)
    if influenced is None and gap == 0.0 and np.abs(units[0]).sum() > 1e-9:  # what varies, beyond rounding, is the same
        return DifferenceTest(0.0, 0.0, 0.0, 1.0, "same scores")
    alike, names = _correlation(*units), "rows" if one.cluster is None else "clusters"
    for part, e in zip(units, pair.singles, strict=True) if measure.interval == "information" else ():
        # the shares of the classes are what both models share; losses that were not seen, which lengthen e, are not
        known = 2.0 * limits.z_of(settings.level) * math.sqrt(variance_of(part))
        alike *= known / max(e.high - e.low, known, 1e-300)
    tested = _judged(pair, influenced, len(influence), names, alike)
    plain = one.weight is None and one.cluster is None
    if (measure.interval, measure.reads, plain) != ("wilson", "decisions", True):
        return tested
    exact = mcnemar(int(np.count_nonzero(one.right & ~two.right)), int(np.count_nonzero(two.right & ~one.right)))
    if exact >= 1.0 - settings.level:  # where the interval or the exact p-value alone leaves 0 out, it gives way
        tested = tested._replace(low=min(tested.low, 0.0), high=max(tested.high, 0.0))
    elif tested.low <= 0.0 <= tested.high:
        exact = max(tested.p_value, 1.0 - settings.level)
    return tested._replace(p_value=exact, method=f"{tested.method}, exact McNemar p")


def _judged(
    pair: Pair, influenced: PairedDifference | None, units: float, names: str, alike: float, heed: float = 1.0
) -> DifferenceTest:
    """Sign flips, and both models' own intervals as far as they are heeded; these alone without anything to flip."""
    level = pair.settings.level
    if influenced is not None:
        tested = influenced.test(level, pair.widest)
    else:  # nothing varies when rows are left out, or a value is missing then; no p below 2·2⁻ᵁ, as with flips
        low, high = limits.mover_limits(*((e.value, e.interval) for e in pair.singles))
        low, high = max(low, -pair.widest), min(high, pair.widest)
        p = max(_p_of_reach(pair.difference, low, high, level), 2.0 ** (1.0 - units)) if low < high else math.nan
        tested = DifferenceTest(low, high, math.nan, p, "mover")
    if tested.p_value < 1.0 and 2.0 ** (1.0 - units) > 1.0 - level:  # even where all agree
        tested = tested._replace(note=f"{units:.0f} {names} are too few for a test at the {100.0 * level:.4g}% level")
    return _guarded_by_singles(tested, pair, alike, heed) if heed else tested


def _correlation(one: Any, two: Any) -> float:
    known = np.isfinite(one) & np.isfinite(two)
    if known.sum() < 2 or min(np.ptp(one[known]), np.ptp(two[known])) == 0.0:
        return 0.0
    return float(np.corrcoef(one[known], two[known])[0, 1])


def _guarded_by_singles(tested: DifferenceTest, pair: Pair, alike: float, heed: float = 1.0) -> DifferenceTest:
    """Both models' own intervals must agree (MOVER): rare large losses make a mean stray further than rows can show.

    Where none of them, or one or two, fell into the sample, influences are small or lopsided, and their flips too
    sure. Each model's own interval allows for what did not happen (benchmarks/compare.py, unequal shapes). ``heed``:
    the share of what it adds to the interval that is added.
    """
    gap = pair.difference
    low, high = limits.mover_limits(*((e.value, e.interval) for e in pair.singles), alike=min(max(alike, -1.0), 1.0))
    if not math.isfinite(high - low) or tested.p_value != tested.p_value or tested.standard_error == 0.0:
        return tested  # the same scores, or nothing to compare
    low = max(tested.low - heed * max(tested.low - low, 0.0), -pair.widest)
    high = min(tested.high + heed * max(high - tested.high, 0.0), pair.widest)
    p = _p_of_reach(gap, low, high, pair.settings.level)
    longer = low < tested.low if gap > 0.0 else high > tested.high
    return tested._replace(low=low, high=high, p_value=max(p, tested.p_value) if longer else tested.p_value)


def _p_of_reach(gap: float, low: float, high: float, level: float) -> float:
    """The p-value of a normal difference with this interval."""
    reach = gap - low if gap > 0.0 else high - gap
    return math.erfc(abs(gap) / reach * limits.z_of(level) / math.sqrt(2.0)) if reach > 0.0 else float(gap == 0.0)


NO_DELONG = DifferenceTest(method="no delong interval")


def by_replicates(pair: Pair, paired: bool) -> DifferenceTest:
    """From replicates of both models, on the same rows drawn if they are on the same rows."""
    one, two = pair.drawn
    if one is None or two is None:
        return DifferenceTest()
    with np.errstate(invalid="ignore"):
        gaps = one - two
    freedom = max(min((min(r.n_pos, r.n_neg) for r in pair.rankings), default=math.inf) - 1.0, 1.0)
    return DifferenceTest(*summary(gaps, pair.settings.level), "paired bootstrap" if paired else "bootstrap", freedom)


def normal_p(difference: float, variance: float) -> float:
    """Two-sided p-value of a difference; where nothing varies, 1 if there is none, else nan: nothing can be said."""
    if not variance > 0:
        return 1.0 if difference == 0 else math.nan
    return math.erfc(abs(difference) / math.sqrt(2.0 * variance))


def mcnemar(first_only: int, second_only: int) -> float:
    """Exact two-sided McNemar test: are the cases that only one model gets right shared fairly between them?"""
    from scipy.special import bdtr

    total = first_only + second_only
    return min(1.0, 2.0 * float(bdtr(min(first_only, second_only), total, 0.5))) if total else 1.0


def summary(differences: Floats, level: float) -> tuple[float, float, float, float]:
    """Percentiles, standard error and two-sided p-value from replicates of a difference, by one sort.

    The p-value is twice the smaller share on one side of 0, never 0. Where none of many replicates crosses 0 their
    number sets a floor that adjustments for many pairs could never get under; there the normal p-value of the mean
    difference stands in, if it is smaller.
    """
    drawn = np.sort(differences)  # nan comes last
    drawn = drawn[: int(np.searchsorted(drawn, np.nan))]
    if len(drawn) == 0 or drawn[0] == drawn[-1] != 0.0:  # the same in all replicates: they cannot tell how sure that is
        return math.nan, math.nan, math.nan, math.nan
    crossing = min(int(np.searchsorted(drawn, 0.0, "right")), len(drawn) - int(np.searchsorted(drawn, 0.0, "left")))
    p = min(1.0, 2.0 * (crossing + 1.0) / (len(drawn) + 1.0))
    finite = drawn[np.isfinite(drawn)]
    if len(finite) < 2:
        return math.nan, math.nan, math.nan, p
    error = float(finite.std(ddof=1))
    if crossing == 0 and len(finite) == len(drawn) >= 500 and drawn[0] < drawn[-1]:
        p = min(p, normal_p(float(finite.mean()), error**2))
    low, high = np.quantile(finite, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high), error, p


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment; nan stays nan."""
    p = np.asarray(p_values, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    running = 0.0
    for k, index in enumerate(order):
        running = max(running, min(1.0, (len(order) - k) * float(p[index])))
        adjusted[index] = running
    return [float(value) for value in adjusted]

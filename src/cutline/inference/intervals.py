"""One estimator: values, and intervals where they are asked for, whatever the rows are.

``auto`` takes the declared method of a measure, closed form or from replicates, as simulated coverage recommends it
(benchmarks/coverage.py prints the table). Closed forms assume independent rows that count alike; weighted samples
and clusters take the bootstrap instead.

A method is a named function of what is known of one measure on one sample. A declaration names the method of a
measure's default interval; to add one, write its function here, add it to ``METHODS`` under a new name and add the
name to ``types.IntervalMethod``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import astuple, dataclass
from functools import cached_property, partial
from threading import RLock

import numpy as np

from ..catalogue.compute import Computed, compute, why_undefined
from ..catalogue.declare import Spec
from ..catalogue.ranks import WORTH_OF_PLACE, partial_span
from ..errors import InputError
from ..estimate import BY_REPLICATES, FROM_REPLICATES, OF_AUC, Estimate, Interval, Settings
from ..quotas import Quotas, quota_sizes
from ..ranking import Ranking
from ..sweep import Counts
from ..types import Floats
from . import limits
from .batch_rows import BatchRows, share_limits
from .closed_forms import (
    FEW_CARRY,
    FEW_POSITIVES,
    LossMoments,
    at_least_exact,
    auc_interval,
    delta_error,
    hit_rate_limits,
    line_of,
    loss_moments,
    mean_score_limits,
    newcombe_limits,
    qrecall_limits,
)
from .evidence import Evidence, RowEvidence
from .resampling import CASES_THAT_CARRY, DRAWN_BY_ROW, Replicates, Resampled

_FEW = 5.0  # cases of a kind on which no normal limits can rest: the usual rule of five for a normal approximation
_BIAS = 1.5  # the bootstrap sees about two thirds of the bias of a maximum
_NOT_SMOOTH = ("gaps", "hull", "ranking")  # a maximum and a hull move by jumps; any function of the list may
_NONE_DRAWN = Replicates(math.nan, np.empty(0))
_PLACES = 1e6  # that are read one by one: those far down a longer list hardly count in a measure of the top
_UNSEEN = 3.0  # of n negatives, what 3/n of the population has goes unseen in 5% of samples
_NO_AMOUNTS = "how amounts vary is not known: there are too few cases, or counts have no sums of their squares"
_NO_REPLICATES = "no interval: replicates of this measure cannot be drawn"


@dataclass(eq=False)
class IntervalInputs:
    """What a method may read: the value, the rows' ranking and AUC, the cells at the cut, and replicates if it asks.

    ``n_pos`` and ``n_neg`` are cases of the positives and the negatives, ``smaller_class`` the rows of the fewer ones.
    """

    spec: Spec
    value: float
    level: float
    evidence: Evidence
    computed: Computed
    replicates: Replicates = _NONE_DRAWN

    def __post_init__(self) -> None:
        self.measure, self.ranking = self.spec.measure, self.evidence.ranking
        self.n_pos, self.n_neg = self.ranking.n_pos, self.ranking.n_neg
        self.smaller_class = float(min(self.evidence.class_sizes))

    @cached_property
    def cells(self) -> Counts:
        """The four cells at the measure's cut; of a mean over quotas those of one quota with as many places."""
        measure, n, (n_pos, n_neg) = self.measure, self.places, (float(self.n_pos), float(self.n_neg))
        if not self.has_closed_range:
            return self.computed.cut(self.spec)
        none = Counts(0.0, n, n_pos, n_neg - n)
        trials = n_pos if measure.interval == "moving_cut_recall" else n
        hits = self.value * trials / (1.0 if measure.scale is None else measure.scale(none))
        n, hits = (x * (n_pos / hits if hits > n_pos else 1.0) for x in (n, hits))  # beyond the last positive: up to it
        return Counts(hits, max(n - hits, 0.0), n_pos - hits, max(n_neg - n + hits, 0.0))

    @property
    def has_closed_range(self) -> bool:
        """Whether it is a mean over quotas of what has a closed form at one quota."""
        rows, plain = self.evidence.independent or self.evidence.has_jackknife, self.spec.ties == "expected"
        plain = plain and isinstance(self.spec.quota, Quotas) and self.measure.proportion is not None
        return plain and rows and not self.evidence.batched

    @cached_property
    def places(self) -> float:
        """Places that carry a measure of the top: as many of equal worth g vary as much, (Σg)²/Σg²; else infinite."""
        worth, given = WORTH_OF_PLACE.get(self.measure.name), {**self.measure.params, **self.spec.arguments}
        if self.measure.interval == "partial_area":  # with 50 positives, a TPR from 0.9 on rests on five of them
            return partial_span(given["fpr"], given["tpr"]) * (self.n_neg if given["tpr"] is None else self.n_pos)
        if self.spec.quota is not None and not self.evidence.batched:
            sizes, shares = quota_sizes(self.spec.quota, self.ranking.cases)
            if self.measure.interval == "moving_cut_recall" and self.measure.scale is None:  # hits, not hit rates
                shares = shares * sizes / (shares @ sizes)
            return float(1.0 / (shares @ (1.0 / np.maximum.outer(sizes, sizes)) @ shares))
        if worth is None or given.get("k", 1) is None or self.evidence.batched:
            return math.inf
        each = worth(np.arange(1.0, min(self.ranking.cases, _PLACES) + 1.0), self.ranking.cases, **given)
        return float(each.sum() ** 2 / (each @ each))

    @cached_property
    def proportion(self) -> tuple[float, float, float]:
        """Successes, trials, and by what their ratio is multiplied."""
        assert self.measure.proportion is not None
        (successes, trials), scale = self.measure.proportion(self.cells), self.measure.scale
        return float(successes), float(trials), 1.0 if scale is None else float(scale(self.cells))

    @cached_property
    def trials(self) -> float:
        """Independent cases that could have shown a difference: of those a share is of, or of the smaller class."""
        of_share = self.measure.proportion is not None and not isinstance(self.spec.quota, Quotas)
        cases, units = self.proportion[1] if of_share else min(self.smaller_class, self.places), self.evidence.units
        return max(1.0, min(cases * min(1.0, units / self.ranking.cases), units))

    @cached_property
    def spread(self) -> tuple[float, float, float]:
        """Standard error, its degrees of freedom, and the bootstrap bias.

        Clustered or weighted rows take the larger of the bootstrap and jackknife errors. The jackknife of a sum that
        grows with n, and of places in a list, is not a standard error of theirs: those keep the bootstrap's.
        """
        drawn = self.replicates.values[np.isfinite(self.replicates.values)]
        other, freedom = self.replicates.jackknife()
        error = float(drawn.std(ddof=1)) if len(drawn) > 1 else math.nan if len(self.replicates.values) else other
        freedom = freedom if freedom == freedom else max(self.smaller_class - 1.0, 1.0)
        freedom = limits.freedom_in_small_class(freedom, self.smaller_class)
        of_places = self.measure.extensive or self.measure.needs_quota
        if not self.evidence.independent and not of_places and other == other:
            error = max(error, other)
        return error, freedom, float(drawn.mean()) - self.value if len(drawn) else math.nan


@dataclass(frozen=True)
class Method:
    """A way to make an interval: ``function`` gives it, or it and the name of what was used for it.

    ``resampled``: reads replicates, with ``jackknife`` also values without parts of the rows. ``dependent``: holds for
    clusters and weights by itself. ``rows``: reads the whole list, which a stream does not keep. ``smooth``: reads the
    standard error alone, which influences give as well as replicates where many cases carry it. ``closed``: reads
    replicates of clusters and weights only.
    """

    name: str
    function: Callable[[IntervalInputs], Interval | tuple[Interval, str]]
    resampled: bool = False
    jackknife: bool = False
    dependent: bool = False
    rows: bool = False
    smooth: bool = False
    closed: bool = False

    def make(self, inputs: IntervalInputs) -> tuple[Interval, str]:
        """The interval, and the name of the method that was used for it."""
        made = self.function(inputs)
        return (made, self.name) if isinstance(made, Interval) else made


def choose(spec: Spec, settings: Settings, evidence: Evidence) -> Method | None:
    """The method that the settings ask for, or else the declared one where it applies; None for no interval."""
    measure, wish = spec.measure, settings.interval
    declared = METHODS[measure.interval]
    if measure.of_worth:  # it holds for weights, clusters and batches by itself
        return declared if wish == "auto" else None
    if evidence.batched and measure.by_batch and wish == "auto":
        return METHODS["batches"]
    several = isinstance(spec.quota, Quotas)  # a mean over quotas is no proportion
    plain = spec.ties == "expected" and not several and not (measure.line_of_auc and spec.options)
    holds = evidence.independent and plain
    if wish is None or wish in limits.METHODS or wish in OF_AUC:
        needed = measure.proportion if wish in limits.METHODS else measure.line_of_auc
        return METHODS[wish] if wish is not None and holds and needed is not None else None
    keeps_list = evidence.has_jackknife or not evidence.ranking.weighted  # of weighted rows a stream has blocks alone
    fits = (holds or (declared.dependent and plain)) and (keeps_list or not declared.rows)
    if wish == "auto" and fits and not declared.resampled:
        return declared
    at_threshold = wish == "auto" and plain and measure.part == "cut" and spec.quota is None
    if at_threshold and evidence.set_by_design and evidence.alike_by_class:
        return METHODS["rates"]
    if not evidence.resamples(spec):
        return None
    if wish in FROM_REPLICATES:
        chosen = METHODS[wish]
        left_out = evidence.has_jackknife and measure.part != "ranking"
        return None if chosen.jackknife and not left_out else chosen
    return declared if declared.resampled and fits else METHODS["scaled"]


def _of_proportion(inputs: IntervalInputs, name: str) -> Interval:
    successes, trials, scale = inputs.proportion
    low, high = limits.METHODS[name](successes, trials, inputs.level)
    return Interval(scale * low, scale * high)


def newcombe_difference(inputs: IntervalInputs) -> Interval:
    """Youden index, and balanced accuracy: two independent proportions by their Wilson intervals (Newcombe 1998)."""
    c, (bottom, top) = inputs.cells, inputs.measure.range
    sides = ((c.tp, c.tp + c.fn), (c.fp, c.fp + c.tn))
    low, high = limits.mover_limits(*((hits / n, limits.wilson(hits, n, inputs.level)) for hits, n in sides))
    half = (top - bottom) / 2.0  # the difference runs from −1 to 1, the measure over its range
    return Interval(bottom + half * (low + 1.0), bottom + half * (high + 1.0))


def rates(inputs: IntervalInputs) -> Interval:
    """A measure of TPR and FPR alone, the prevalence being given: its extremes over pairs of their Wilson limits.

    It needs no standard error of the measure, which a few heavy cases of a rare class would carry.
    """
    c, (n_pos, n_neg) = inputs.cells, (inputs.n_pos, inputs.n_neg)

    def value(tpr: Floats, fpr: Floats) -> Floats:
        cells = Counts(n_pos * tpr, n_neg * fpr, n_pos * (1.0 - tpr), n_neg * (1.0 - fpr))
        return np.asarray(inputs.measure.compute(cells, **inputs.spec.arguments))

    return limits.pair_limits(value, (c.tp / n_pos, c.fp / n_neg), inputs.evidence.class_sizes, inputs.level)


def ratio_of_rates(inputs: IntervalInputs) -> Interval:
    """Ratio of two independent rates from their Wilson intervals (Donner & Zou 2012): LR+ and LR−."""
    c = inputs.cells
    hits, false = (c.tp, c.fp) if inputs.measure.better == "higher" else (c.fn, c.tn)
    sides = ((hits / inputs.n_pos, inputs.n_pos), (false / inputs.n_neg, inputs.n_neg))
    return limits.ratio_limits(*((share, limits.wilson_share(share, n, inputs.level)) for share, n in sides))


def wilson_f(inputs: IntervalInputs) -> Interval:
    """Wilson interval of F* = TP/(TP+FP+FN), carried over by F1 = 2F*/(1+F*) (Flores, Schlachter & Kvam 2022)."""
    c = inputs.cells
    low, high = limits.wilson(c.tp, c.tp + c.fp + c.fn, inputs.level)
    return Interval(2 * low / (1 + low), 2 * high / (1 + high))


def fisher_z(inputs: IntervalInputs) -> Interval:
    """MCC and kappa: delta method on Fisher's z (Itaya et al. 2024), also with half a case and one more in each cell.

    The widest limits count where a cell has fewer than five cases: what did not happen in this sample may yet happen.
    """
    cells = np.array(astuple(inputs.cells)[:4])
    spreads = (delta_error(lambda x: float(inputs.measure.compute(Counts(*x))), cells + m) for m in (0.0, 0.5, 1.0))
    intervals = [limits.scaled_limits(*s, float(cells.sum()) - 1.0, inputs.level, "atanh") for s in spreads]
    value = float(inputs.measure.compute(Counts(*cells)))
    if not abs(value) < 1.0 - 1e-9:
        return Interval(-1.0 if value < 0.0 else intervals[1].low, 1.0 if value > 0.0 else intervals[1].high)
    if cells.min() >= _FEW:
        return intervals[0]
    there = [ends for ends in intervals if ends.low == ends.low]
    return Interval(min(low for low, _ in there), max(high for _, high in there))


def _of_auc(inputs: IntervalInputs, name: str) -> tuple[Interval, str]:
    """Interval of the AUC, carried to a measure that is the AUC on another scale.

    ``delong_t``: on the logit scale with t quantiles; Newcombe's with few cases in a class. ``delong_logit``: as
    published, with normal quantiles. ``delong``: the same on the plain scale.
    """
    auc, variance, freedom = inputs.evidence.auc
    how = inputs.n_pos, inputs.n_neg, inputs.level, freedom if name == "delong_t" else math.inf
    (low, high), used = auc_interval(auc, variance, *how, logit=name != "delong")
    slope, start = line_of(inputs.measure, inputs.ranking)
    return Interval(start + slope * low, start + slope * high), used


def delong_total(inputs: IntervalInputs) -> tuple[Interval, str]:
    """Sums that are the AUC times the class sizes, over samples in which the number of positives varies too."""
    (auc, variance, carried), n_pos, n_neg = inputs.evidence.auc, inputs.n_pos, inputs.n_neg
    if not n_pos or not n_neg:  # no pair to be won or lost in this sample, so nothing is known of others
        return Interval(math.nan, math.nan), ""
    (low, high), _ = _of_auc(inputs, "delong_t")
    if not variance > 0.0:  # a perfect ranking: the width of the AUC's interval stands in
        slope, _ = line_of(inputs.measure, inputs.ranking)
        variance = ((high - low) / slope / (2.0 * limits.z_of(inputs.level))) ** 2
    smaller, n = min(n_pos, n_neg), n_pos + n_neg
    freedom = max(smaller - 1.0, 1.0) if smaller < FEW_POSITIVES else inputs.ranking.cases - 1.0
    if inputs.measure.range[0] == 0.0:  # Linear Ranking; else the average gain
        scale, pairs, slope = "log", n_pos * n_neg, auc * (n_neg - n_pos) + n_pos + 0.5
    else:
        scale, pairs, slope = "identity", n_pos * n_neg / n, (2.0 * auc - 1.0) * (n_neg - n_pos) / (2.0 * n)
    error = math.sqrt(variance * pairs**2 + slope**2 * n_pos * n_neg / n)  # delta method
    interval = limits.scaled_limits(inputs.value, error, freedom, inputs.level, scale)
    few = carried < FEW_CARRY  # then no surer than with these class sizes
    return Interval(min(interval.low, low) if few else interval.low, interval.high), "delong_total"


def places(inputs: IntervalInputs) -> Interval:
    """Quadratic Ranking: what each row adds, on the logit of its share of the sum of all squared places.

    A positive adds its squared place, and every row lifts the positives above it by one place.
    """
    ranking, n = inputs.ranking, float(inputs.ranking.cases)
    size = np.asarray(ranking.pos, np.float64) + ranking.neg
    middle = n - np.cumsum(size) + (size + 1.0) / 2.0  # place of each group, worst = 1
    lifted = ranking.pos * (2.0 * middle - 1.0)
    if_negative = np.cumsum(lifted) - lifted / 2.0
    if_positive = middle**2 + (size**2 - 1.0) / 12.0 + if_negative
    moments = loss_moments((ranking.pos, ranking.neg), (if_positive, if_negative))
    freedom = limits.freedom_in_small_class(moments.freedom, inputs.smaller_class)
    error, most = math.sqrt(n * moments.variance), n * (n + 1.0) * (2.0 * n + 1.0) / 6.0
    return limits.range_limits(inputs.value, error, freedom, inputs.level, 0.0, most, inputs.smaller_class)


def loss_score(inputs: IntervalInputs) -> Interval:
    """Mean losses that a score test does not reject: (v − L)² ≤ z²·(φL − L²)/n.

    Wilson's interval for losses: of 0–1 losses (φ = 1) it is Wilson's. φ = E[ℓ²]/E[ℓ] is the size of a typical loss.
    A sample in which nothing unlikely happened shows too small a φ. Where the probabilities themselves predict a larger
    one, that prediction counts like ten more cases with a large loss: much where few were seen, else hardly.
    """
    (low, high), moments = _mean_loss_limits(inputs)
    root = inputs.measure.name == "root_mean_squared_error"
    factor = (inputs.value**2 if root else inputs.value) / moments.mean if 0.0 < moments.mean < math.inf else 1.0
    factor = factor or 1.0  # sums of losses that a query rounded to 0
    low, high = (math.sqrt(factor * end) if root else factor * end for end in (low, high))
    return Interval(min(low, inputs.value), max(min(high, inputs.measure.range[1]), inputs.value))


def _mean_loss_limits(inputs: IntervalInputs) -> tuple[Interval, LossMoments]:
    """Limits of the mean loss of the groups of the ranking, and the moments that they rest on."""
    ranking, measure = inputs.ranking, inputs.measure
    given = dict(inputs.spec.arguments)
    if measure.interval == "information":
        given.setdefault("prior", ranking.n_pos / ranking.cases)
    assert measure.case_loss is not None
    p = ranking.score.astype(np.float64)
    each = measure.case_loss(p, **given)  # what a positive and a negative of each score lose
    if measure.one_class_needs and measure.one_class_needs not in given:
        # The weights of the balanced cross-entropy are the sample's class shares. With P and N the sums of losses of
        # either class, a positive counts (n⁻·ℓ + N)/n − v, a negative (n⁺·ℓ + P)/n − v: their mean is the measure v.
        n_pos, n_neg, n = float(inputs.n_pos), float(inputs.n_neg), float(inputs.n_pos) + float(inputs.n_neg)
        of_pos, of_neg = (
            limits.dot(np.asarray(c, np.float64), x) for c, x in zip((ranking.pos, ranking.neg), each, strict=True)
        )
        value = (n_neg * of_pos + n_pos * of_neg) / (n * n)
        each = (n_neg * each[0] + of_neg) / n - value, (n_pos * each[1] + of_pos) / n - value
    seen = ranking.pos, ranking.neg
    moments = loss_moments(seen, each, lambda at: (np.stack((p[at], 1.0 - p[at])), np.stack([x[at] for x in each])))
    return moments.limits(inputs.evidence.units, inputs.level), moments


def _moving_cut(inputs: IntervalInputs, recall: bool) -> Interval:
    """A measure at a quota, whose cut moves with the sample: hit rate; or Qrecall and lift.

    A place for everybody finds everybody, so that Qrecall has no width there.
    """
    cells = inputs.cells
    cut = inputs.evidence.cut(float(cells.tp + cells.fp), float(cells.tp), inputs.level, recall=recall)
    low, high = (qrecall_limits if recall else hit_rate_limits)(cut, inputs.level)
    _, _, scale = inputs.proportion
    return Interval(scale * low, scale * high)


def batches(inputs: IntervalInputs) -> Interval:
    """Any measure at a quota that counts in each batch: from how it varies between batches (or clusters of them)."""
    rows, spec, value, level = inputs.evidence, inputs.spec, inputs.value, inputs.level
    assert isinstance(rows, BatchRows)
    if rows.n_units < 2:
        return Interval(math.nan, math.nan)
    cells = rows.cells(spec)
    _, taken, _, cases = cells[:, :, :4].sum(axis=0).T
    if spec.measure.interval == "moving_cut_recall" and (taken >= cases * (1.0 - 1e-12)).all():
        return Interval(value, value)  # a place for everybody finds everybody
    error, psi = limits.jackknife(rows.left_out(spec))
    error *= rows.widening(psi)
    freedom, (low, high) = limits.effective_freedom(psi), spec.measure.range
    if (low, high) == (0.0, 1.0):
        return share_limits(value, error, freedom, float(np.count_nonzero(cells[:, :, 1].any(axis=1))), level)
    return limits.scaled_limits(value, error, freedom, level, "log" if low == 0.0 else "atanh")


def hall(inputs: IntervalInputs) -> tuple[Interval, str]:
    """Sums and means of skewed amounts by Hall's transformation, a share of all value on the logit scale."""
    share = inputs.measure.range[1] == 1.0
    return inputs.evidence.worth(inputs.spec).interval(inputs.level, share), "logit" if share else "hall"


def scaled(inputs: IntervalInputs) -> Interval:
    """Bootstrap standard error and t on the scale of the measure's range; the jackknife counts for clusters too.

    Where few hits or misses carry a measure of the top, replicates do not show what it may miss: the closed form of one
    quota with as many places, or Wilson's interval of a share of these places, stands in.
    """
    (error, freedom, _), measure, spec = inputs.spread, inputs.measure, inputs.spec
    if inputs.has_closed_range and min(astuple(inputs.cells)[:4]) < _FEW:
        return METHODS[measure.interval].make(inputs)[0]
    share = measure.range == (0.0, 1.0) and measure.interval != "moving_cut_recall" and not inputs.has_closed_range
    if share and inputs.places <= inputs.n_pos and min(inputs.value, 1.0 - inputs.value) * inputs.trials < _FEW:
        ends = limits.edge_limits(inputs.value, inputs.trials, inputs.level)
        return at_least_exact(*ends, inputs.value, inputs.trials, inputs.level)
    low, high = limits.range_limits(inputs.value, error, freedom, inputs.level, *measure.range, inputs.trials)
    if measure.part == "precision" and inputs.evidence.set_by_design and inputs.evidence.alike_by_class:
        # At a small prevalence the negatives that score highest decide the precision, and the sample may have none of
        # them: three more of its negatives on top of the list, as for the band of the ROC curve.
        r, more = inputs.ranking, _UNSEEN * inputs.n_neg / inputs.evidence.class_sizes[1]
        score, pos, neg = np.append(math.inf, r.score), np.append(0.0, r.pos), np.append(more, r.neg)
        low = min(low, compute([spec], Ranking(score, pos, neg, r.rows, weighted=True)).values[spec])
    if measure.interval == "loss_score" and not _mean_loss_limits(inputs)[1].large:  # rows with weights or in clusters
        likely = loss_score(inputs)
        alike = error <= 1e-12 * inputs.value  # all rows lose alike: the spread is that of rounding
        low, high = likely if alike else Interval(low, max(high, likely.high))
    if measure.interval == "information":
        (_, most), moments = _mean_loss_limits(inputs)
        if moments.large < _FEW:
            share = dict(spec.arguments).get("prior", inputs.n_pos / inputs.ranking.cases)
            entropy = -share * math.log(share) - (1.0 - share) * math.log1p(-share)
            perfect = inputs.value > 1.0 - 1e-12  # then the spread is that of rounding
            low = min(1.0 if perfect else low, 1.0 - most / entropy)
    if measure.part == "cut" and spec.quota is None and inputs.evidence.independent:
        cells, cases = np.array(astuple(inputs.cells)[:4]), inputs.ranking.cases

        def value(x: Floats) -> float:
            return float(measure.compute(Counts(*(cases * x / x.sum())), **spec.arguments))

        for more in (0.5, 1.0) if cells.min() < _FEW else ():  # what did not happen in this sample may yet happen
            widened = delta_error(value, cells + more)
            wider = limits.range_limits(*widened, cases - 1.0, inputs.level, *measure.range, inputs.trials)
            low, high = min(low, wider.low), max(high, wider.high)
    return Interval(low, high)


def best_cut(inputs: IntervalInputs) -> Interval:
    """Largest gap between TPR and FPR: two Wilson intervals at the best cut (Newcombe 1998), less half the bias.

    Of clustered or weighted rows: from the value less its bootstrap bias to the upper limit around the value. The
    bias is the mean of the replicates less the value.
    """
    error, freedom, bias = inputs.spread
    if not inputs.evidence.independent:
        less = min(max(inputs.value - _BIAS * max(bias, 0.0), 1e-6), 1.0 - 1e-6)
        low, _ = limits.scaled_limits(less, error, freedom, inputs.level, "logit")
        _, high = limits.scaled_limits(inputs.value, error, freedom, inputs.level, "logit")
        return Interval(low, high) if low <= high else limits.edge_limits(inputs.value, inputs.trials, inputs.level)
    ranking = inputs.ranking
    found = inputs.evidence.cuts.hits[1:]
    false = inputs.evidence.cuts.ends[1:] - found
    gap = found / ranking.n_pos - false / ranking.n_neg
    at = int(np.argmax(gap if inputs.measure.name == "max_youden_index" else np.abs(gap)))
    shares = ((float(found[at]) / ranking.n_pos, ranking.n_pos), (float(false[at]) / ranking.n_neg, ranking.n_neg))
    upper_first = sorted(shares, key=lambda one: -one[0])
    low, high = limits.mover_limits(*((share, limits.wilson_share(share, n, inputs.level)) for share, n in upper_first))
    # Smirnov's test: a gap that scores without any skill reach often enough leaves 0 inside
    tail = (1.0 - inputs.level) / (1.0 if inputs.measure.name == "max_youden_index" else 2.0)
    if inputs.value**2 <= -math.log(tail) / 2.0 * (1.0 / ranking.n_pos + 1.0 / ranking.n_neg):
        low = 0.0
    return Interval(max(0.0, max(0.0, low) - max(bias, 0.0) / 2.0), min(1.0, high))


def hull(inputs: IntervalInputs) -> Interval:
    """Area under the convex hull: from the lower limit of the AUC to the upper limit around the hull's own area.

    The hull's area is the AUC of the best mixtures and never less than the AUC; as an estimate it is too high.
    """
    auc, variance, freedom = inputs.evidence.auc
    if inputs.evidence.independent:
        (low, high), _ = auc_interval(auc, variance, inputs.n_pos, inputs.n_neg, inputs.level, freedom, logit=True)
        error = math.sqrt(variance) if variance > 0.0 else 0.0
    else:
        error, freedom, _ = inputs.spread
        low, high = limits.range_limits(auc, error, freedom, inputs.level, 0.0, 1.0, inputs.trials)
    _, above = limits.scaled_limits(inputs.value, error, freedom, inputs.level, "logit")
    return Interval(max(low, 0.5), max(above if above == above else 1.0, high))


def precision_area(inputs: IntervalInputs) -> tuple[Interval, str]:
    """Average precision, average hit rate, areas under precision–recall: logit scale, bootstrap error, t.

    The area of a perfect ranking with so many positives is 1 only in the limit for the trapezoids. They come out too
    small by up to what is missing there: the upper limit starts from half of it more. With few positives, or a perfect
    ranking, the area is also read as a share of n⁺ trials (Wilson), on the scale of the perfect one; the wider limits
    count, and the upper one is that of a list with any number of positives. Where few cases carry the variance of the
    AUC (nearly perfect models), the lower limit is at least that one.
    """
    measure, value, level = inputs.measure, inputs.value, inputs.level
    n_pos, (error, freedom, _) = inputs.n_pos, inputs.spread
    most = 1.0 if measure.perfect_area is None else max(measure.perfect_area(n_pos, inputs.ranking.cases), 1e-9)
    freedom = limits.freedom_in_small_class(freedom, n_pos)
    raised = min(value + (1.0 - most) / 2.0, (1.0 + value) / 2.0)
    low, _ = limits.scaled_limits(value, error, freedom, level, "logit")
    _, high = limits.scaled_limits(raised, error, freedom, level, "logit")
    perfect = value >= most * (1.0 - 1e-9)
    least, largest = limits.wilson_share(min(value / most, 1.0), n_pos, level)
    if n_pos >= FEW_POSITIVES and not perfect and low == low:
        return Interval(min(low, least * most) if inputs.evidence.auc[2] < FEW_CARRY else low, high), "logit"
    if perfect or low != low:
        return Interval(least * most, largest), "wilson"
    return Interval(min(least * most, low), max(largest, high)), "logit_wilson"


def qrecall_area(inputs: IntervalInputs) -> tuple[Interval, str]:
    """Average Qrecall: logit scale; with few cases in a class, or a perfect list, also Newcombe's interval of the AUC.

    Where few cases carry the variance of the AUC, the lower limit is at least Newcombe's, as for the AUC.

    1 − average Qrecall is at most 1 − AUC and close to it for good models, so that the AUC's interval at this value
    holds it.
    """
    smaller, (error, freedom, _) = inputs.smaller_class, inputs.spread
    freedom = limits.freedom_in_small_class(freedom, smaller)
    plain = limits.scaled_limits(inputs.value, error, freedom, inputs.level, "logit")
    stand_in = newcombe_limits(inputs.value, inputs.n_pos, inputs.n_neg, limits.z_of(inputs.level))
    if plain.low == plain.low and smaller >= 6:
        few = inputs.evidence.auc[2] < FEW_CARRY
        return (Interval(min(plain.low, stand_in.low), plain.high) if few else plain), "logit"
    if plain.low != plain.low:
        return stand_in, "newcombe"
    return Interval(min(plain.low, stand_in.low), max(plain.high, stand_in.high)), "newcombe"


def partial_area(inputs: IntervalInputs) -> Interval:
    """Partial AUC as a share of the part of the ROC square that it reads: logit scale, bootstrap error, t."""
    error, freedom, _ = inputs.spread
    given = {**inputs.measure.params, **inputs.spec.arguments}
    span = partial_span(given["fpr"], given["tpr"])
    freedom = min(freedom, max(inputs.places - 1.0, 2.0))  # few cases lie in the part
    # on McClish's scale an empty part lies a little below 0.5
    low, high = (0.5 - 0.5 * span / (2.0 - span), 1.0) if given["standardized"] else (0.0, span)
    return limits.range_limits(inputs.value, error, freedom, inputs.level, low, high, inputs.trials)


def mean_score(inputs: IntervalInputs) -> Interval:
    """Errors of the best n⁺ places as a mean over the list: a score interval whose spread comes from the bootstrap."""
    n = inputs.ranking.cases
    error, freedom, _ = inputs.spread
    mean = inputs.value / n
    ratio = n * (error / n) ** 2 / mean + mean if mean > 0.0 and error > 0.0 else 1.0
    low, high = mean_score_limits(mean, ratio, n, limits.t_quantile(inputs.level, freedom))
    return Interval(n * low, n * high)


_DRAWN: dict[str, bool] = {"resampled": True, "jackknife": True}
METHODS: dict[str, Method] = {
    **{name: Method(name, partial(_of_proportion, name=name)) for name in limits.METHODS},
    **{name: Method(name, partial(_of_auc, name=name)) for name in ("delong_t", *OF_AUC)},
    **{
        name: Method(name, partial(lambda i, by: i.replicates.interval(by, i.level), by=name), True, name == "bca")
        for name in FROM_REPLICATES
    },
    **{
        one.name: one
        for one in (
            Method("newcombe_difference", newcombe_difference),
            Method("ratio_of_rates", ratio_of_rates),
            Method("rates", rates, dependent=True),
            Method("wilson_f", wilson_f),
            Method("delta_z", fisher_z),
            Method("delong_total", delong_total),
            Method("places", places, rows=True),
            Method("loss_score", loss_score),
            Method("moving_cut", partial(_moving_cut, recall=False), rows=True, dependent=True),
            Method("moving_cut_recall", partial(_moving_cut, recall=True), rows=True, dependent=True),
            Method("batches", batches, dependent=True),
            Method("hall", hall, dependent=True),
            Method("scaled", scaled, **_DRAWN, smooth=True),
            # the relative information score; where few unlikely outcomes were seen, allowing for more (as loss_score)
            Method("information", scaled, **_DRAWN, smooth=True),
            Method("best_cut", best_cut, **_DRAWN, dependent=True),
            Method("hull", hull, **_DRAWN, dependent=True, closed=True),
            Method("precision_area", precision_area, **_DRAWN, smooth=True),
            Method("qrecall_area", qrecall_area, **_DRAWN, smooth=True),
            Method("partial_area", partial_area, **_DRAWN, dependent=True),
            Method("mean_score", mean_score, **_DRAWN),
        )
    },
}


def estimate(
    specs: Sequence[Spec], evidence: Evidence, obstacles: Mapping[Spec, str], settings: Settings
) -> dict[Spec, Estimate]:
    """Values of all specs with their intervals."""
    computed = evidence.compute([spec for spec in specs if not obstacles[spec] and not spec.measure.of_worth])
    values, ranking, level = dict(computed.values), evidence.ranking, settings.level
    values |= {s: evidence.worth(s).value for s in specs if s.measure.of_worth and not obstacles[s]}
    estimates: dict[Spec, Estimate] = {}
    resampled: dict[Spec, Method] = {}
    for spec in specs:
        value, reason = values.get(spec, math.nan), obstacles[spec]
        method = None if value != value else choose(spec, settings, evidence)
        if method is not None and method.resampled and not (method.closed and evidence.independent):
            resampled[spec] = method
        elif method is not None:
            (low, high), name = method.make(IntervalInputs(spec, value, level, evidence, computed))
            reason = _NO_AMOUNTS if spec.measure.of_worth and low != low else ""
            estimates[spec] = Estimate(str(spec), value, low, high, level, name, reason)
        else:
            if value != value and not reason:
                cut = computed.cut(spec) if spec.measure.part == "cut" else None
                reason = why_undefined(spec.measure, ranking.n_pos, ranking.n_neg, cut)
            elif value == value and settings.interval is not None:
                named = settings.interval not in ("auto", "bootstrap")
                dependent = not evidence.independent and settings.interval not in BY_REPLICATES
                rows = " of weighted, clustered or batched rows" if dependent else ""
                reason = f"no {settings.interval} interval for this measure{rows}" if named else _NO_REPLICATES
            estimates[spec] = Estimate(str(spec), value, reason=reason)
    if resampled:
        wanted = {}
        # blocks of a nearly perfect list are coarse where its few mistakes are
        regular = settings.interval == "auto" and evidence.independent and evidence.auc[2] >= CASES_THAT_CARRY
        for spec, method in resampled.items():
            # Replicates keep the class sizes by default where their share does not matter or was chosen.
            kept = spec.measure.stratified or evidence.set_by_design if settings.stratify is None else settings.stratify
            smooth = regular and method.smooth and method is METHODS[spec.measure.interval]
            smooth = smooth and spec.quota is None and spec.measure.part not in _NOT_SMOOTH
            wanted[spec] = Resampled(values[spec], kept, method.jackknife, smooth)
        drawn = evidence.replicate(wanted, settings)
        for spec, method in resampled.items():
            inputs = IntervalInputs(spec, values[spec], level, evidence, computed, drawn[spec])
            (low, high), name = method.make(inputs)
            name = f"poisson_{name}" if ranking.weighted and not evidence.has_jackknife else name  # as a stream draws
            if low == high and settings.interval == "auto" and math.isfinite(sum(spec.measure.range)):
                # no replicate differs (every place a hit): as a share of the places or cases that carry it
                (low, high), name = limits.edge_limits(inputs.value, inputs.trials, level, spec.measure.range), "wilson"
            undefined = inputs.replicates.undefined
            estimates[spec] = Estimate(str(spec), inputs.value, low, high, level, name, undefined_replicates=undefined)
    return {spec: estimates[spec] for spec in specs}


class Estimates(Mapping[str, Estimate]):
    """Estimates by measure string, made when they are first read and then kept; a copy or a pickle has all of them.

    What is read together is made in one pass. The seed alone decides which rows a replicate draws, so each order of
    reading gives the same numbers.
    """

    def __init__(self, evidence: Mapping[Spec, Evidence], obstacles: Mapping[Spec, str], settings: Settings) -> None:
        self._specs = {str(spec): spec for spec in evidence}
        self._evidence, self._obstacles, self._settings = evidence, obstacles, settings
        self._known: dict[str, Estimate] = {}
        self._drawn: list[Evidence] = []  # the rows of which replicates were drawn
        self._listed = False
        self._lock = RLock()

    def together(self, keys: Iterable[str] | None = None) -> Mapping[str, Estimate]:
        """Some of the estimates, or all of them; what is missing is made in one pass."""
        keys = list(self._specs if keys is None else keys)
        with self._lock:
            missing = [self._specs[key] for key in keys if key not in self._known]
            for rows in dict.fromkeys(self._evidence[spec] for spec in missing):
                specs = [spec for spec in missing if self._evidence[spec] is rows]
                resampled = [spec for spec, method in self._methods(rows).items() if method.resampled]
                if not {*specs}.isdisjoint(resampled):
                    # A draw costs much the same for one measure as for all: the second draw is the last. Blocks of
                    # long lists end at the thresholds of all measures, whichever are read: these draw the same blocks.
                    again, by_blocks = rows in self._drawn, rows.ranking.rows > DRAWN_BY_ROW
                    more = [spec for spec in resampled if again or (by_blocks and spec.measure.needs_threshold)]
                    specs += [spec for spec in more if spec not in specs]
                    self._drawn.append(rows)
                made = estimate(specs, rows, self._obstacles, self._settings)
                if isinstance(rows, RowEvidence) and rows.buckets is not None:
                    made = rows.buckets.bounded(specs, made, self._settings)
                self._known |= {str(spec): made[spec] for spec in specs}
            return {key: self._known[key] for key in keys}

    def _methods(self, rows: Evidence) -> dict[Spec, Method]:
        """How the measures that can be read from some rows get their intervals; those that have none are left out."""
        own = [spec for spec, evidence in self._evidence.items() if evidence is rows and not self._obstacles[spec]]
        chosen = ((spec, choose(spec, self._settings, rows)) for spec in own)
        return {spec: method for spec, method in chosen if method is not None}

    def has_intervals(self) -> bool:
        """Whether some measure with a value has an interval; no interval is made to know it."""
        every = dict.fromkeys(self._evidence.values())
        return any(v == v for rows in every for v in rows.compute(list(self._methods(rows))).values.values())

    def paired_replicates(self) -> dict[str, Floats]:
        """Replicates of every measure for a comparison by them: the same rows drawn in each of several models."""
        settings, known = self._settings, [s for s in self._specs.values() if self[str(s)].value == self[str(s)].value]
        drawn: dict[str, Floats] = {}
        for rows in dict.fromkeys(self._evidence.values()):
            # one draw for all measures: they are compared with each other; class sizes are given with a prevalence
            alike = rows.set_by_design if settings.stratify is None else settings.stratify
            own = [spec for spec in known if self._evidence[spec] is rows and rows.resamples(spec)]
            wanted = {spec: Resampled(self[str(spec)].value, alike, jackknife=False) for spec in own}
            replicates = rows.replicate(wanted, settings, paired=True)
            drawn |= {str(spec): one.values for spec, one in replicates.items()}
        return drawn

    def __getitem__(self, key: str) -> Estimate:
        if key not in self._known:
            if key not in self._specs:
                raise KeyError(key)
            self.together(None if self._listed else [key])
        return self._known[key]

    def __contains__(self, key: object) -> bool:
        return key in self._specs

    def __iter__(self) -> Iterator[str]:
        self._listed = True  # who goes through the names reads them all: the first that is missing brings the rest
        return iter(self._specs)

    def __len__(self) -> int:
        return len(self._specs)

    def values(self) -> ValuesView[Estimate]:
        """All estimates, made in one pass."""
        return self.together().values()

    def items(self) -> ItemsView[str, Estimate]:
        """All measure strings with their estimates, made in one pass."""
        return self.together().items()

    def __repr__(self) -> str:
        return repr(self.together())

    def __reduce__(self) -> tuple[type, tuple[Mapping[str, Estimate]]]:
        return dict, (self.together(),)


def read_together(estimates: Mapping[str, Estimate], keys: Iterable[str]) -> Mapping[str, Estimate]:
    """Some of the estimates, made in one pass if they are made when they are read."""
    return estimates.together(keys) if isinstance(estimates, Estimates) else {key: estimates[key] for key in keys}


def check_method_exists(estimates: Mapping[str, Estimate], interval: str | None) -> None:
    """Raise an error for a method asked for by name that none of the measures has."""
    if interval in (None, "auto", "bootstrap") or (isinstance(estimates, Estimates) and estimates.has_intervals()):
        return
    known = [e for e in estimates.values() if e.value == e.value]
    lacking = [e.reason for e in known if e.low != e.low and e.reason]
    if lacking and len(lacking) == len(known):
        remedy = "use 'auto', or name a measure that has it"
        raise InputError("interval", f"is {interval!r}, but there is {lacking[0]}", remedy)

"""Interval methods: each a named function of what is known of one measure on one sample.

A declaration names the method of a measure's default interval; to add one, write its function here under a new name and
add the name to ``catalogue.declare.IntervalMethod``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from ..catalogue.compute import Computed
from ..catalogue.declare import Measure, Spec
from ..estimate import Interval
from ..quotas import Quotas
from ..sweep import Counts
from ..types import Floats
from . import areas, losses, proportions
from .batches import BatchRows
from .bootstrap import Replicates
from .differences import mover_limits
from .evidence import Evidence
from .normal import t_quantile
from .proportions import wilson, wilson_share, z_of
from .quota_cut import hit_rate_limits, qrecall_limits
from .scales import (
    edge_limits,
    effective_freedom,
    freedom_in_small_class,
    freedom_of,
    jackknife,
    range_limits,
    scaled_limits,
)
from .settings import FROM_REPLICATES, OF_AUC, Settings

_PRIOR_CASES = 10.0
_FEW = 5.0  # cases of a kind on which no normal limits can rest
_BIAS = 1.5  # the bootstrap sees about two thirds of the bias of a maximum


@dataclass(frozen=True)
class Known:
    """What a method may read: the value, the rows' ranking and AUC, the cells at the cut, and replicates if it asks."""

    spec: Spec
    value: float
    level: float
    evidence: Evidence
    computed: Computed
    drawn: Replicates | None = None

    @property
    def measure(self) -> Measure:
        """The measure."""
        return self.spec.measure

    @property
    def cells(self) -> Counts:
        """The four cells at the measure's cut."""
        return self.computed.cut(self.spec)

    @property
    def replicates(self) -> Replicates:
        """The replicates, for methods that are declared to read them."""
        assert self.drawn is not None
        return self.drawn

    @property
    def proportion(self) -> tuple[float, float, float]:
        """Successes, trials, and by what their ratio is multiplied."""
        one, cells = self.measure, self.cells
        assert one.proportion is not None
        successes, trials = one.proportion(cells)
        return float(successes), float(trials), 1.0 if one.scale is None else float(one.scale(cells))

    @property
    def taken_and_hits(self) -> tuple[float, float]:
        """Cases taken at the quota, and the positives among them."""
        return float(self.cells.tp + self.cells.fp), float(self.cells.tp)

    @property
    def smaller_class(self) -> float:
        """Cases in the smaller class."""
        return float(min(self.evidence.ranking.n_pos, self.evidence.ranking.n_neg))

    @property
    def trials(self) -> float:
        """Independent cases that could have shown a difference: of those a share is of, or of the smaller class."""
        one_cut = self.measure.proportion is not None and not isinstance(self.spec.quota, Quotas)
        cases = self.proportion[1] if one_cut else self.smaller_class
        return max(1.0, min(cases * min(1.0, self.evidence.units / self.evidence.ranking.cases), self.evidence.units))

    @cached_property
    def spread(self) -> tuple[float, float, float]:
        """Standard error, its degrees of freedom, and the bootstrap bias.

        Clustered or weighted rows take the larger of the bootstrap and jackknife errors. The jackknife of a sum that
        grows with n, and of places in a list, is not a standard error of theirs: those keep the bootstrap's.
        """
        drawn = self.replicates.values[np.isfinite(self.replicates.values)]
        error = float(drawn.std(ddof=1)) if len(drawn) > 1 else math.nan
        other, influence = jackknife(self.replicates.left_out, self.replicates.strata)
        freedom = effective_freedom(influence) if len(influence) else max(self.smaller_class - 1.0, 1.0)
        freedom = freedom_in_small_class(freedom, self.smaller_class)
        of_places = self.measure.extensive or self.measure.needs_quota
        if not self.evidence.independent and not of_places and other == other:
            error = max(error, other)
        return error, freedom, float(drawn.mean()) - self.value if len(drawn) else math.nan


@dataclass(frozen=True)
class Method:
    """A way to make an interval.

    ``resampled``: reads replicates, with ``jackknife`` also values without parts of the rows. ``dependent``: holds for
    clusters and weights by itself. ``rows``: reads the whole list, which a stream does not keep.
    """

    name: str
    make: Callable[[Known], tuple[Interval, str]]
    resampled: bool = False
    jackknife: bool = False
    dependent: bool = False
    rows: bool = False


METHODS: dict[str, Method] = {}
F = TypeVar("F", bound=Callable[..., Interval | tuple[Interval, str]])


def method(name: str, **how: bool) -> Callable[[F], F]:
    """Register a method: a function that gives the interval, or the interval and the name of what was used for it."""

    def registered(function: F) -> F:
        def make(known: Known) -> tuple[Interval, str]:
            made = function(known)
            return (made, name) if isinstance(made, Interval) else made

        METHODS[name] = Method(name, make, **how)
        return function

    return registered


def choose(spec: Spec, settings: Settings, evidence: Evidence) -> Method | None:
    """The method that the settings ask for, or else the declared one where it holds; None for no interval."""
    one, wish = spec.measure, settings.interval
    own = METHODS[one.interval]
    if evidence.batched and one.needs_quota and wish == "auto":
        return METHODS["batches"]
    several = isinstance(spec.quota, Quotas)  # a mean over quotas is no proportion
    plain = spec.ties == "expected" and not several and not (one.line_of_auc and spec.options)
    holds = evidence.independent and plain
    if wish in proportions.METHODS:
        return METHODS[wish] if holds and one.proportion is not None else None
    if wish in OF_AUC:
        return METHODS[wish] if holds and one.line_of_auc is not None else None
    if wish is None:
        return None
    fits = (holds or (own.dependent and plain)) and (evidence.keeps_list or not own.rows)
    if wish == "auto" and fits and not own.resampled:
        return own
    if not evidence.resamples(spec):
        return None
    if wish in FROM_REPLICATES:
        chosen = METHODS[wish]
        left_out = evidence.has_jackknife and one.part != "ranking"
        return None if chosen.jackknife and not left_out else chosen
    return own if own.resampled and fits else METHODS["scaled"]


def _of_proportion(known: Known, name: str) -> Interval:
    successes, trials, scale = known.proportion
    low, high = proportions.METHODS[name](successes, trials, known.level)
    return Interval(scale * low, scale * high)


for _name in proportions.METHODS:
    method(_name)(partial(_of_proportion, name=_name))


@method("newcombe_difference")
def newcombe_difference(known: Known) -> Interval:
    """Youden index, and balanced accuracy: two independent proportions by their Wilson intervals (Newcombe 1998)."""
    c, (bottom, top) = known.cells, known.measure.range
    sides = ((c.tp, c.tp + c.fn), (c.fp, c.fp + c.tn))
    low, high = mover_limits(*((hits / n, wilson(hits, n, known.level)) for hits, n in sides))
    half = (top - bottom) / 2.0  # the difference runs from −1 to 1, the measure over its range
    return Interval(bottom + half * (low + 1.0), bottom + half * (high + 1.0))


@method("ratio_of_rates")
def ratio_of_rates(known: Known) -> Interval:
    """Ratio of two independent rates from their Wilson intervals (Donner & Zou 2012): LR+ and LR−."""
    c = known.cells
    hits, false = (c.tp, c.fp) if known.measure.better == "higher" else (c.fn, c.tn)
    return areas.likelihood_ratio_limits(hits, c.tp + c.fn, false, c.fp + c.tn, known.level)


@method("wilson_f")
def wilson_f(known: Known) -> Interval:
    """Wilson interval of F* = TP/(TP+FP+FN), carried over by F1 = 2F*/(1+F*) (Flores, Schlachter & Kvam 2022)."""
    c = known.cells
    low, high = wilson(c.tp, c.tp + c.fp + c.fn, known.level)
    return Interval(2 * low / (1 + low), 2 * high / (1 + high))


@method("delta_z")
def fisher_z(known: Known) -> Interval:
    """MCC and kappa: delta method on Fisher's z (Itaya et al. 2024), also with cases added where a cell has few."""
    return areas.correlation_limits(lambda x: float(known.measure.compute(Counts(*x))), _cells(known), known.level)


def _cells(known: Known) -> Floats:
    c = known.cells
    return np.array([c.tp, c.fp, c.fn, c.tn], dtype=np.float64)


def _of_auc(known: Known, name: str) -> tuple[Interval, str]:
    """Interval of the AUC, carried to a measure that is the AUC on another scale.

    ``delong_t``: on the logit scale with t quantiles; Newcombe's with few cases in a class. ``delong_logit``: as
    published, with normal quantiles. ``delong``: the same on the plain scale.
    """
    ranking = known.evidence.ranking
    freedom = known.evidence.auc_freedom if name == "delong_t" else math.inf
    auc, sizes = known.evidence.auc, (ranking.n_pos, ranking.n_neg)
    (low, high), used = areas.auc_interval(*auc, *sizes, known.level, freedom, logit=name != "delong")
    slope, start = areas.line_of(known.measure, ranking)
    return Interval(start + slope * low, start + slope * high), used


for _name in ("delong_t", *OF_AUC):
    method(_name)(partial(_of_auc, name=_name))


@method("delong_total")
def delong_total(known: Known) -> tuple[Interval, str]:
    """Sums that are the AUC times the class sizes, over samples in which the number of positives varies too."""
    ranking, (auc, variance) = known.evidence.ranking, known.evidence.auc
    n_pos, n_neg = ranking.n_pos, ranking.n_neg
    if not n_pos or not n_neg:  # no pair to be won or lost in this sample, so nothing is known of others
        return Interval(math.nan, math.nan), ""
    (low, high), _ = _of_auc(known, "delong_t")
    if not variance > 0.0:  # a perfect ranking: the width of the AUC's interval stands in
        slope, _ = areas.line_of(known.measure, ranking)
        variance = ((high - low) / slope / (2.0 * z_of(known.level))) ** 2
    smaller, n = min(n_pos, n_neg), n_pos + n_neg
    freedom = max(smaller - 1.0, 1.0) if smaller < areas.FEW_POSITIVES else ranking.cases - 1.0
    if known.measure.range[0] == 0.0:  # Linear Ranking; else the average gain
        scale, pairs, slope = "log", n_pos * n_neg, auc * (n_neg - n_pos) + n_pos + 0.5
    else:
        scale, pairs, slope = "identity", n_pos * n_neg / n, (2.0 * auc - 1.0) * (n_neg - n_pos) / (2.0 * n)
    error = math.sqrt(variance * pairs**2 + slope**2 * n_pos * n_neg / n)  # delta method
    made = scaled_limits(known.value, error, freedom, known.level, scale)
    few = known.evidence.auc_freedom < areas.FEW_CARRY  # then no surer than with these class sizes
    return Interval(min(made.low, low) if few else made.low, made.high), "delong_total"


@method("loss_score")
def loss_score(known: Known) -> Interval:
    """Mean losses that a score test does not reject: (v − L)² ≤ z²·(φL − L²)/n.

    Wilson's interval for losses: of 0–1 losses (φ = 1) it is Wilson's. φ = E[ℓ²]/E[ℓ] is the size of a typical loss.
    A sample in which nothing unlikely happened shows too small a φ. Where the probabilities themselves predict a larger
    one, that prediction counts like ten more cases with a large loss: much where few were seen, else hardly.
    """
    low, high = _mean_loss_limits(moments := _loss_moments(known), known)
    root = known.measure.name == "root_mean_squared_error"
    factor = _factor(known.value**2 if root else known.value, moments.mean)
    low, high = factor * low, factor * high
    return Interval(math.sqrt(low), math.sqrt(high)) if root else Interval(low, high)


def _loss_moments(known: Known) -> losses.LossMoments:
    ranking, one = known.evidence.ranking, known.measure
    p = ranking.score.astype(np.float64)
    assert one.case_loss is not None
    given = dict(known.spec.arguments)
    if one.interval == "information":
        given.setdefault("prior", ranking.n_pos / ranking.cases)
    each = one.case_loss(p, **given)
    if one.one_class_needs and one.one_class_needs not in given:  # weighed by the class sizes
        each = losses.balanced_losses(ranking.pos, ranking.neg, *each)
    return losses.loss_moments(ranking.pos, ranking.neg, *each, p)


def _mean_loss_limits(moments: losses.LossMoments, known: Known) -> Interval:
    v, freedom = moments.mean, moments.freedom
    ratio = moments.variance / v + v if v > 0.0 else 0.0
    if moments.expected_ratio > ratio:
        ratio = (moments.large * ratio + _PRIOR_CASES * moments.expected_ratio) / (moments.large + _PRIOR_CASES)
        freedom += _PRIOR_CASES
    return losses.mean_score_limits(
        v, ratio, min(moments.cases, known.evidence.units), t_quantile(known.level, freedom)
    )


@method("log_mean")
def log_mean(known: Known) -> Interval:
    """Mean of losses that do not come near 0 (hinge loss): t interval on the log scale."""
    ranking = known.evidence.ranking
    assert known.measure.case_loss is not None
    with np.errstate(over="ignore", invalid="ignore"):
        each = known.measure.case_loss(ranking.score.astype(np.float64), **known.spec.arguments)
        moments = losses.loss_moments(ranking.pos, ranking.neg, *each)
        error = math.sqrt(moments.variance / moments.cases)
        low, high = scaled_limits(moments.mean, error, moments.freedom, known.level, "log")
        if not moments.mean > 0.0 or not error > 0.0:
            low = high = moments.mean
    factor = _factor(known.value, moments.mean)
    return Interval(factor * low, factor * high)


def _factor(value: float, mean: float) -> float:
    """What carries the mean of the losses to the measure: exact scores of a stream."""
    return value / mean if mean > 0.0 and math.isfinite(mean) else 1.0


@method("places", rows=True)
def places(known: Known) -> Interval:
    """Sum of what the places of the positives are worth: the influence of each row on it, on the logit of its range."""
    ranking = known.evidence.ranking
    assert known.measure.worth is not None
    n = ranking.rows
    most = n * float(known.measure.worth(1.0, float(n)))
    second, fourth = areas.ranking_score_moments(ranking.pos, ranking.neg, known.measure.worth)
    error = math.sqrt(second * n / max(n - 1.0, 1.0)) / most
    freedom = freedom_of(second, fourth, n) if n > 1 and second > 0.0 else 1.0
    freedom = freedom_in_small_class(freedom, known.smaller_class)
    low, high = scaled_limits(known.value / most, error, freedom, known.level, "logit")
    if low != low:
        low, high = edge_limits(known.value / most, known.smaller_class, known.level)
    return Interval(most * low, most * high)


def _moving_cut(known: Known, recall: bool) -> Interval:
    """A measure at a quota, whose cut moves with the sample: hit rate; or Qrecall and lift.

    A place for everybody finds everybody, so that Qrecall has no width there.
    """
    cut = known.evidence.cut(*known.taken_and_hits, known.level, recall=recall)
    low, high = (qrecall_limits if recall else hit_rate_limits)(cut, known.level)
    _, _, scale = known.proportion
    return Interval(scale * low, scale * high)


method("moving_cut", rows=True, dependent=True)(partial(_moving_cut, recall=False))
method("moving_cut_recall", rows=True, dependent=True)(partial(_moving_cut, recall=True))


@method("batches", dependent=True)
def batches(known: Known) -> Interval:
    """Any measure at a quota that counts in each batch: from how it varies between batches."""
    assert isinstance(known.evidence, BatchRows)
    return known.evidence.quota_interval(known.spec, known.value, known.level)


@method("scaled", resampled=True, jackknife=True)
def scaled(known: Known) -> Interval:
    """Bootstrap standard error and t on the scale of the measure's range; the jackknife counts for clusters too."""
    error, freedom, _ = known.spread
    low, high = range_limits(known.value, error, freedom, known.level, *known.measure.range, known.trials)
    one, spec = known.measure, known.spec
    if one.interval == "loss_score" and not _loss_moments(known).large:  # rows with weights or in clusters
        likely = loss_score(known)
        alike = error <= 1e-12 * known.value  # all rows lose alike: the spread is that of rounding
        low, high = likely if alike else Interval(low, max(high, likely.high))
    if one.interval == "information" and (moments := _loss_moments(known)).large < _FEW:
        share = dict(spec.arguments).get("prior", known.evidence.ranking.n_pos / known.evidence.ranking.cases)
        entropy = -share * math.log(share) - (1.0 - share) * math.log1p(-share)
        perfect = known.value > 1.0 - 1e-12  # then the spread is that of rounding
        low = min(1.0 if perfect else low, 1.0 - _mean_loss_limits(moments, known).high / entropy)
    if one.part == "cut" and spec.quota is None and known.evidence.independent and _cells(known).min() < _FEW:
        cells = known.evidence.ranking.cases

        def value(x: Floats) -> float:
            return float(one.compute(Counts(*(cells * x / x.sum())), **spec.arguments))

        for more in (0.5, 1.0):  # what did not happen in this sample may yet happen
            made = range_limits(
                *areas.delta_error(value, _cells(known) + more), cells - 1.0, known.level, *one.range, known.trials
            )
            low, high = min(low, made.low), max(high, made.high)
    return Interval(low, high)


# the relative information score; where few unlikely outcomes were seen, allowing for more (as loss_score)
method("information", resampled=True, jackknife=True)(scaled)


@method("best_cut", resampled=True, jackknife=True, dependent=True)
def best_cut(known: Known) -> Interval:
    """Largest gap between TPR and FPR: two Wilson intervals at the best cut (Newcombe 1998), less half the bias.

    Of clustered or weighted rows: from the value less its bootstrap bias to the upper limit around the value. The
    bias is the mean of the replicates less the value.
    """
    error, freedom, bias = known.spread
    if not known.evidence.independent:
        less = min(max(known.value - _BIAS * max(bias, 0.0), 1e-6), 1.0 - 1e-6)
        low, _ = scaled_limits(less, error, freedom, known.level, "logit")
        _, high = scaled_limits(known.value, error, freedom, known.level, "logit")
        return Interval(low, high) if low <= high else edge_limits(known.value, known.trials, known.level)
    ranking = known.evidence.ranking
    found, false = np.cumsum(ranking.pos, dtype=np.float64), np.cumsum(ranking.neg, dtype=np.float64)
    gap = found / ranking.n_pos - false / ranking.n_neg
    at = int(np.argmax(gap if known.measure.name == "max_youden_index" else np.abs(gap)))
    shares = ((float(found[at]) / ranking.n_pos, ranking.n_pos), (float(false[at]) / ranking.n_neg, ranking.n_neg))
    upper_first = sorted(shares, key=lambda one: -one[0])
    low, high = mover_limits(*((share, wilson_share(share, n, known.level)) for share, n in upper_first))
    # Smirnov's test: a gap that scores without any skill reach often enough leaves 0 inside
    tail = (1.0 - known.level) / (1.0 if known.measure.name == "max_youden_index" else 2.0)
    if known.value**2 <= -math.log(tail) / 2.0 * (1.0 / ranking.n_pos + 1.0 / ranking.n_neg):
        low = 0.0
    return Interval(max(0.0, max(0.0, low) - max(bias, 0.0) / 2.0), min(1.0, high))


@method("hull", resampled=True, jackknife=True, dependent=True)
def hull(known: Known) -> Interval:
    """Area under the convex hull: from the lower limit of the AUC to the upper limit around the hull's own area.

    The hull's area is the AUC of the best mixtures and never less than the AUC; as an estimate it is too high.
    """
    ranking, (auc, variance) = known.evidence.ranking, known.evidence.auc
    error, freedom, _ = known.spread
    if known.evidence.independent:
        freedom = known.evidence.auc_freedom
        sizes = ranking.n_pos, ranking.n_neg
        (low, high), _ = areas.auc_interval(auc, variance, *sizes, known.level, freedom, logit=True)
        error = math.sqrt(variance) if variance > 0.0 else 0.0
    else:
        low, high = range_limits(auc, error, freedom, known.level, 0.0, 1.0, known.trials)
    _, above = scaled_limits(known.value, error, freedom, known.level, "logit")
    return Interval(max(low, 0.5), max(above if above == above else 1.0, high))


@method("precision_area", resampled=True, jackknife=True)
def precision_area(known: Known) -> tuple[Interval, str]:
    """Average precision, average hit rate, areas under precision–recall: logit scale, bootstrap error, t.

    The area of a perfect ranking with so many positives is 1 only in the limit for the trapezoids. They come out too
    small by up to what is missing there: the upper limit starts from half of it more. With few positives, or a perfect
    ranking, the area is also read as a share of n⁺ trials (Wilson), on the scale of the perfect one; the wider limits
    count, and the upper one is that of a list with any number of positives. Where few cases carry the variance of the
    AUC (nearly perfect models), the lower limit is at least that one.
    """
    ranking, one, value, level = known.evidence.ranking, known.measure, known.value, known.level
    n_pos, (error, freedom, _) = ranking.n_pos, known.spread
    most = 1.0 if one.perfect_area is None else max(one.perfect_area(n_pos, ranking.cases), 1e-9)
    freedom = freedom_in_small_class(freedom, n_pos)
    raised = min(value + (1.0 - most) / 2.0, (1.0 + value) / 2.0)
    low, _ = scaled_limits(value, error, freedom, level, "logit")
    _, high = scaled_limits(raised, error, freedom, level, "logit")
    perfect = value >= most * (1.0 - 1e-9)
    least, largest = wilson_share(min(value / most, 1.0), n_pos, level)
    if n_pos >= areas.FEW_POSITIVES and not perfect and low == low:
        if known.evidence.auc_freedom < areas.FEW_CARRY:
            low = min(low, least * most)
        return Interval(low, high), "logit"
    if perfect or low != low:
        return Interval(least * most, largest), "wilson"
    return Interval(min(least * most, low), max(largest, high)), "logit_wilson"


@method("qrecall_area", resampled=True, jackknife=True)
def qrecall_area(known: Known) -> tuple[Interval, str]:
    """Average Qrecall: logit scale; with few cases in a class, or a perfect list, also Newcombe's interval of the AUC.

    Where few cases carry the variance of the AUC, the lower limit is at least Newcombe's, as for the AUC.

    1 − average Qrecall is at most 1 − AUC and close to it for good models, so that the AUC's interval at this value
    holds it.
    """
    ranking, smaller, (error, freedom, _) = known.evidence.ranking, known.smaller_class, known.spread
    plain = scaled_limits(known.value, error, freedom_in_small_class(freedom, smaller), known.level, "logit")
    stand_in = areas.newcombe_limits(known.value, ranking.n_pos, ranking.n_neg, z_of(known.level))
    if plain.low == plain.low and smaller >= 6:
        few = known.evidence.auc_freedom < areas.FEW_CARRY
        return (Interval(min(plain.low, stand_in.low), plain.high) if few else plain), "logit"
    if plain.low != plain.low:
        return stand_in, "newcombe"
    return Interval(min(plain.low, stand_in.low), max(plain.high, stand_in.high)), "newcombe"


@method("mean_score", resampled=True, jackknife=True)
def mean_score(known: Known) -> Interval:
    """Errors of the best n⁺ places as a mean over the list: a score interval whose spread comes from the bootstrap."""
    n = known.evidence.ranking.cases
    error, freedom, _ = known.spread
    mean = known.value / n
    ratio = n * (error / n) ** 2 / mean + mean if mean > 0.0 and error > 0.0 else 1.0
    low, high = losses.mean_score_limits(mean, ratio, n, t_quantile(known.level, freedom))
    return Interval(n * low, n * high)


def _of_replicates(known: Known, name: str) -> Interval:
    return known.replicates.interval(name, known.level)


for _name in FROM_REPLICATES:
    method(_name, resampled=True, jackknife=_name == "bca")(partial(_of_replicates, name=_name))

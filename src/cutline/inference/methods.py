"""Interval methods: each a named function of what is known of one measure on one sample.

A declaration names the method of a measure's default interval; to add one, write its function here under a new name and
add the name to ``catalogue.declare.IntervalMethod``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ..catalogue.compute import Computed
from ..catalogue.declare import Measure, Spec
from ..estimate import Interval
from ..quotas import Quotas
from ..sample import resolve_quota
from ..sweep import Counts
from . import delong, proportions
from .bootstrap import Replicates
from .evidence import Evidence
from .proportions import wilson, z_of
from .settings import FROM_REPLICATES, OF_AUC, Settings


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


@dataclass(frozen=True)
class Method:
    """A way to make an interval. ``label`` is the name that stands in the results, where it is another."""

    name: str
    make: Callable[[Known], tuple[Interval, str]]
    resampled: bool = False
    jackknife: bool = False


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
    several = isinstance(spec.quota, Quotas)  # a mean over quotas is no proportion
    plain = spec.ties == "expected" and not several and not (one.line_of_auc and spec.options)
    holds = evidence.independent and plain
    if wish in proportions.METHODS:
        return METHODS[wish] if holds and one.proportion is not None else None
    if wish in OF_AUC:
        return METHODS[wish] if holds and one.line_of_auc is not None else None
    if wish is None:
        return None
    if wish == "auto" and holds and not own.resampled:
        return own
    if not evidence.resamples(spec):
        return None
    chosen = METHODS[wish] if wish in FROM_REPLICATES else own if own.resampled and not several else METHODS["bca"]
    return METHODS["percentile"] if chosen.jackknife and not evidence.has_jackknife else chosen


def _proportion_method(name: str) -> None:
    @method(name)
    def of_proportion(known: Known) -> Interval:
        successes, trials, scale = known.proportion
        low, high = proportions.METHODS[name](successes, trials, known.level)
        return Interval(scale * low, scale * high)


for _name in proportions.METHODS:
    _proportion_method(_name)


@method("newcombe_difference")
def newcombe_difference(known: Known) -> Interval:
    """Youden index, and balanced accuracy: two independent proportions by their Wilson intervals (Newcombe 1998)."""
    c, (bottom, top) = known.cells, known.measure.range
    p, q = c.tp / (c.tp + c.fn), c.fp / (c.fp + c.tn)
    l1, u1 = wilson(c.tp, c.tp + c.fn, known.level)
    l2, u2 = wilson(c.fp, c.fp + c.tn, known.level)
    low, high = p - q - math.hypot(p - l1, u2 - q), p - q + math.hypot(u1 - p, q - l2)
    half = (top - bottom) / 2.0  # the difference runs from −1 to 1, the measure over its range
    return Interval(bottom + half * (low + 1.0), bottom + half * (high + 1.0))


@method("log")
def log_ratio(known: Known) -> Interval:
    """Ratio of two rates on the log scale (Simel et al. 1991); for LR+ those of the taken, for LR− of those left.

    Where a cell is empty, half a case is added to each, and the open end kept.
    """
    c = known.cells
    hits, false = (c.tp, c.fp) if known.measure.better == "higher" else (c.fn, c.tn)
    n_pos, n_neg = c.tp + c.fn, c.fp + c.tn
    empty = hits == 0 or false == 0
    a, b, n, m = (hits + 0.5, false + 0.5, n_pos + 1.0, n_neg + 1.0) if empty else (hits, false, n_pos, n_neg)
    middle = math.log(a / n / (b / m))
    half = z_of(known.level) * math.sqrt(max(0.0, 1 / a - 1 / n + 1 / b - 1 / m))
    low = 0.0 if hits == 0 else math.exp(middle - half)
    return Interval(low, math.inf if false == 0 else math.exp(middle + half))


@method("wilson_f")
def wilson_f(known: Known) -> Interval:
    """Wilson interval of F* = TP/(TP+FP+FN), carried over by F1 = 2F*/(1+F*) (Flores, Schlachter & Kvam 2022)."""
    c = known.cells
    low, high = wilson(c.tp, c.tp + c.fp + c.fn, known.level)
    return Interval(2 * low / (1 + low), 2 * high / (1 + high))


@method("delta_z")
def fisher_z(known: Known) -> Interval:
    """Delta method on the scale of atanh, which keeps a correlation inside (−1, 1) (for MCC: Itaya et al. 2024)."""
    c, value = known.cells, known.value
    whole = abs(value) >= 1.0
    if whole:  # no spread to be seen: half a case more in every cell shows what may have been missed
        c = Counts(c.tp + 0.5, c.fp + 0.5, c.fn + 0.5, c.tn + 0.5)
    middle = math.atanh(float(known.measure.compute(c)) if whole else value)
    half = z_of(known.level) * _delta_error(known.measure, c) / (1.0 - math.tanh(middle) ** 2)
    low, high = math.tanh(middle - half), math.tanh(middle + half)
    return Interval(-1.0 if value <= -1.0 else low, 1.0 if value >= 1.0 else high)


def _delta_error(measure: Measure, c: Counts) -> float:
    """Standard error of a smooth function of multinomial cells, by the delta method."""
    cells = np.array([c.tp, c.fp, c.fn, c.tn], dtype=np.float64)
    n = cells.sum()
    share = cells / n
    slope = np.empty(4)
    for k in range(4):
        step = np.zeros(4)
        step[k] = 1e-6
        up, down = measure.compute(Counts(*(share + step))), measure.compute(Counts(*(share - step)))
        slope[k] = (up - down) / 2e-6
    return math.sqrt(max(0.0, float(share @ slope**2 - (share @ slope) ** 2)) / n)


@method("delong_logit")
def delong_logit(known: Known, *, logit: bool = True) -> tuple[Interval, str]:
    """DeLong's interval of the AUC, carried to a measure that is the AUC on another scale."""
    ranking = known.evidence.ranking
    n_pos, n_neg = ranking.n_pos, ranking.n_neg
    (low, high), used = delong.auc_interval(*known.evidence.auc, n_pos, n_neg, known.level, logit=logit)
    slope, start = delong.line_of(known.measure, ranking)
    return Interval(start + slope * low, start + slope * high), used


@method("delong")
def delong_plain(known: Known) -> tuple[Interval, str]:
    """DeLong's interval on the plain scale."""
    return delong_logit(known, logit=False)


@method("logit")
def logit(known: Known) -> tuple[Interval, str]:
    """Areas under precision–recall on the logit scale, SE 1/√(n⁺·v·(1−v)) (Boyd et al. 2013)."""
    value, n_pos = known.value, known.evidence.ranking.n_pos
    if not 0.0 < value < 1.0:
        return wilson(value * n_pos, n_pos, known.level), "wilson"
    middle = math.log(value / (1.0 - value))
    half = z_of(known.level) / math.sqrt(n_pos * value * (1.0 - value))
    return Interval(1.0 / (1.0 + math.exp(-(middle - half))), 1.0 / (1.0 + math.exp(-(middle + half)))), "logit"


@method("wilson_effective", resampled=True)
def wilson_effective(known: Known) -> Interval:
    """Wilson interval with as many trials as would give the replicates' variance, as in survey sampling.

    Qrecall is not a share of independent trials: the quota caps the hits. Where the replicates do not vary (all
    positives found, or none), the trials are the positives.
    """
    cases = known.evidence.ranking.cases
    if resolve_quota(known.spec.quota, cases) >= cases * (1.0 - 1e-12):  # a place for everybody finds everybody
        return Interval(known.value, known.value)
    _, positives, scale = known.proportion
    value, spread = known.value / scale, float(np.nanvar(known.replicates.values / scale, ddof=1))
    trials = value * (1.0 - value) / spread if spread > 0 and 0.0 < value < 1.0 else positives
    low, high = wilson(value * trials, trials, known.level)
    return Interval(scale * low, scale * high)


def _from_quantiles(name: str) -> None:
    @method(name, resampled=True, jackknife=name == "bca")
    def of_replicates(known: Known) -> Interval:
        return known.replicates.interval(name, known.level)


for _name in FROM_REPLICATES:
    _from_quantiles(_name)

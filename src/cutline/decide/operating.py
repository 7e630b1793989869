"""One cut: of a ranked list, what it takes and gives; and of a model's confidence, where it answers at all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from ..catalogue.declare import ratio
from ..catalogue.quota import quota_pearson
from ..errors import InputError
from ..estimate import Estimate, Interval
from ..inference.closed_forms import Cuts, QuotaCut, expected_hits_limits, next_hits_limits
from ..inference.limits import wilson_shares, z_of
from ..quotas import resolve_quota
from ..ranking import Ranking
from ..sweep import Counts, SumsRequest, counts_at, sweep
from ..table import DictResult, HasPlot, HasSections, Section, Table, TabularResult, format_value
from ..types import Floats
from ..validate import check_number, checked

if TYPE_CHECKING:
    from ..catalogue.compute import ClassTotals

CUTS = ("quota", "threshold", "recall", "precision", "fpr", "specificity")  # what a cut may be asked for by
_FEW_ERRORS = 3  # up to so many, Wilson's lower limit is too high (Brown, Cai & DasGupta 2001)
NOTHING = 1e-9  # cases: what is left of a tie by rounding
CutOf = Callable[..., QuotaCut]  # cases taken, hits, level, and whether it is for Qrecall -> what is known of the cut


@dataclass(frozen=True, repr=False)
class OperatingPoint(HasSections, DictResult):
    """Counts and measures at one cut.

    Everything with ``score > threshold`` is taken; of ``tied`` cases that score exactly ``threshold``, ``from_tie`` are
    taken too, and count with their share of positives. ``hits_worst`` and ``hits_best`` are the positives taken if the
    places within the tie go to its negatives or to its positives. ``expected_hits`` has an interval for the mean over
    many batches with as many cases and positives as this one; ``next_hits`` is a prediction interval for the next
    batch, whose number of positives may differ: it is wider. ``above`` is the lowest score above the threshold.
    """

    threshold: float
    taken: float
    tp: float
    fp: float
    fn: float
    tn: float
    precision: float
    recall: float
    fpr: float
    lift: float
    pearson: float
    tied: float
    from_tie: float
    hits_worst: float
    hits_best: float
    expected_hits: Estimate
    next_hits: Interval
    above: float = math.nan

    @property
    def hit_rate(self) -> float:
        """Share of positives among the cases taken: precision, under its name for quotas."""
        return self.precision

    @property
    def qrecall(self) -> float:
        """Share of the positives that are taken: recall, under its name for quotas."""
        return self.recall

    def to_dict(self) -> dict[str, Any]:
        """The fields, with hit rate and Qrecall under their own names too, and intervals by their ends."""
        return {**super().to_dict(), "hit_rate": self.hit_rate, "qrecall": self.qrecall}

    def sections(self) -> list[Section]:
        """Every number at this cut."""
        rows = [{"at this cut": name, "": value} for name, value in self.to_dict().items()]
        return [Section("cut", [Table(rows)])]


def operating_point(
    ranking: Ranking, *, level: float = 0.95, cut_of: CutOf | None = None, **cuts: float | None
) -> OperatingPoint:
    """The cut at a ``quota`` or ``threshold``, or the best that reaches a recall, precision, specificity or fpr here.

    ``recall``: the fewest cases that reach it; ``precision`` and ``specificity``: the most cases that keep it;
    ``fpr``: the most cases that stay within it. ``cut_of`` tells what is known of a cut where rows are not independent.
    """
    given = {name: value for name, value in cuts.items() if value is not None}
    if len(given) != 1:
        raise InputError(None, f"give exactly one of {', '.join(CUTS)}; got {', '.join(given) or 'none'}")
    ((name, value),) = given.items()
    if name == "quota":
        return at_rows(ranking, resolve_quota(value, ranking.cases), level, cut_of)
    side, cases = ("positive", ranking.n_pos) if name == "recall" else ("negative", ranking.n_neg)
    if cases == 0 and name not in ("precision", "threshold"):
        raise InputError(name, f"is undefined: the sample has no {side} cases")
    hits = np.cumsum(ranking.pos, dtype=np.float64)
    misses = np.cumsum(ranking.neg, dtype=np.float64)
    if name == "threshold":
        groups = ranking.above(value)
    elif name == "recall":
        groups = int(np.searchsorted(hits, value * cases * (1 - 1e-12))) + 1 if value > 0 else 0
    elif name == "precision":
        rates = hits / (hits + misses)
        reaching = np.flatnonzero(rates >= value * (1 - 1e-12))
        if len(reaching) == 0:
            raise InputError("precision", f"of {value:g} is reached by no cut", f"the highest is {rates.max():.4g}")
        groups = int(reaching[-1]) + 1
    else:
        allowed = (value if name == "fpr" else 1.0 - value) * cases
        room = 1e-12 * cases  # rounding must not cost a case
        groups = int(np.searchsorted(misses, allowed + room, side="right"))
    tp = float(ranking.pos[:groups].sum(dtype=np.float64))
    fp = float(ranking.neg[:groups].sum(dtype=np.float64))
    if not ranking.weighted and 0 < tp + fp:
        point = at_rows(ranking, round(tp + fp), level, cut_of)
    else:  # sums of weights may round
        cut = Counts(tp, fp, max(0.0, ranking.n_pos - tp), max(0.0, ranking.n_neg - fp))
        point = _point(ranking, cut, groups, 0.0, level, cut_of)
    return replace(point, threshold=float(value)) if name == "threshold" else point


def at_rows(ranking: Ranking, rows: int, level: float = 0.95, cut_of: CutOf | None = None) -> OperatingPoint:
    """The cut after a number of rows, which may fall inside a tie."""
    request = SumsRequest(frozenset(), (), quotas=(rows,))
    cut = counts_at(sweep(ranking, request), request.at(quota=rows))
    ends = np.cumsum(ranking.pos + ranking.neg, dtype=np.float64 if ranking.weighted else np.int64)
    room = 1e-12 * rows if ranking.weighted else 0  # sums of weights round
    groups = int(np.searchsorted(ends, rows + room, side="right"))  # whole groups that are taken
    # what is left after the last group is rounding, too
    left = 0.0 if groups == len(ends) else rows - min(float(ends[groups - 1]), rows) if groups else float(rows)
    return _point(ranking, cut, groups, left, level, cut_of)


def _point(
    ranking: Ranking, cut: Counts, groups: int, taken_of_group: float, level: float, cut_of: CutOf | None
) -> OperatingPoint:
    inside = taken_of_group > 0
    pos, neg = (float(ranking.pos[groups]), float(ranking.neg[groups])) if inside else (0.0, 0.0)
    above = float(ranking.pos[:groups].sum(dtype=np.float64))
    taken, hits = float(cut.tp + cut.fp), float(cut.tp)
    mean, soon = Estimate("expected_hits", hits), Interval(math.nan, math.nan)  # of many such lists, and of the next
    if taken > 0:
        spread = Cuts(ranking.pos, ranking.neg).at(taken, hits) if cut_of is None else cut_of(taken, hits, level)
        for_recall = None if cut_of is None else cut_of(taken, hits, level, recall=True)
        ends = expected_hits_limits(spread, level, for_recall)
        mean = Estimate("expected_hits", hits, *ends, level, "moving_cut")
        soon = next_hits_limits(spread, level, mean=ends)
    return measured(
        OperatingPoint,
        cut,
        finite=bool(np.isfinite(ranking.score[[0, -1]]).all()),
        threshold=ranking.score_after(groups),
        above=ranking.score_before(groups),
        tied=pos + neg,
        from_tie=taken_of_group,
        hits_worst=above + max(0.0, taken_of_group - neg),
        hits_best=above + min(pos, taken_of_group),
        expected_hits=mean,
        next_hits=soon,
    )


P = TypeVar("P", bound=OperatingPoint)


def measured(kind: type[P], cut: Counts, *, finite: bool, **known: Any) -> P:
    """A point with what follows from its four cells; ``finite``: whether the values of all scores can be read."""
    cases = cut.tp + cut.fp + cut.fn + cut.tn
    return kind(
        taken=float(cut.tp + cut.fp),
        tp=float(cut.tp),
        fp=float(cut.fp),
        fn=float(cut.fn),
        tn=float(cut.tn),
        precision=float(ratio(cut.tp, cut.tp + cut.fp)),
        recall=float(ratio(cut.tp, cut.tp + cut.fn)),
        fpr=float(ratio(cut.fp, cut.fp + cut.tn)),
        lift=float(ratio(ratio(cut.tp, cut.tp + cut.fp), ratio(cut.tp + cut.fn, cases))),
        pearson=float(quota_pearson.measure.compute(cut)) if finite else float("nan"),  # type: ignore[attr-defined]
        **known,
    )


def whole(value: float) -> int | float:
    """A count as a whole number, if that is all that rounding leaves open."""
    return round(value) if abs(value - round(value)) < NOTHING else value


def percentile_estimate(name: str, value: float, drawn: Floats, level: float) -> Estimate:
    """A value with the percentile interval of its replicates, of those that are defined."""
    low, high = math.nan, math.nan
    if (drawn == drawn).any():
        low, high = np.nanquantile(drawn, [(1.0 - level) / 2.0, (1.0 + level) / 2.0]).tolist()
    return Estimate(name, value, low, high, level, "percentile")


@dataclass(frozen=True, eq=False)
class RiskCoverage(HasPlot, TabularResult):
    """Error rate of the answers, by the share of cases answered, the most confident first.

    One entry for each distinct confidence: all cases at least as confident are answered. ``low`` and ``high`` are
    intervals at each coverage, not a band for the whole curve. ``area`` is the mean of the error rate over all numbers
    of cases answered. ``plot`` draws the curve with its band.
    """

    pictures: ClassVar[tuple[str, ...]] = ("risk_coverage",)

    coverage: Floats
    risk: Floats
    low: Floats
    high: Floats
    confidence: Floats
    area: Estimate
    level: float

    def __len__(self) -> int:
        return len(self.coverage)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_dicts())

    def at(self, coverage: float) -> dict[str, Any]:
        """The point with the smallest coverage that is at least the given one."""
        check_number(coverage, "coverage", 0.0, 1.0)
        at = min(int(np.searchsorted(self.coverage, coverage - 1e-12)), len(self) - 1)
        return {name: float(value) for name, value in self._columns(at).items()}

    def _columns(self, at: Any) -> dict[str, Any]:
        return {name: getattr(self, name)[at] for name in ("coverage", "risk", "low", "high", "confidence")}

    @property
    def table(self) -> Table:
        """One row for each distinct confidence."""
        return Table(self._columns(slice(None)))

    @checked
    def thinned(self, points: int = 200) -> RiskCoverage:
        """At most this many points, evenly spread over the coverage."""
        if len(self) <= points:
            return self
        at = np.unique(np.searchsorted(self.coverage, np.linspace(self.coverage[0], 1.0, points) - 1e-12))
        return replace(self, **self._columns(np.minimum(at, len(self) - 1)))

    def __repr__(self) -> str:
        rows = [self.at(share) for share in (0.2, 0.4, 0.6, 0.8, 1.0)]
        title = f"Error rate by coverage; area {format_value(self.area.value)}"
        return repr(Table(rows, title))


def risk_coverage(totals: ClassTotals, area: Estimate, level: float) -> RiskCoverage:
    """The curve of a sample; the band is Wilson's at each coverage, with a Poisson lower end for up to three errors."""
    from scipy.special import gammaincinv

    from ..inference.class_intervals import by_unit, variance_of

    sample, ranked = totals.sample, totals.confidence_order
    weight = sample.row_weight[ranked.order]
    wrong = np.where(sample.right[ranked.order], 0.0, weight)
    ends = np.flatnonzero(~ranked.tie)
    answered, errors = np.cumsum(weight)[ends], np.cumsum(wrong)[ends]
    trials = answered**2 / np.cumsum(weight**2)[ends]
    if sample.cluster is not None:  # the variance of the accuracy grows because rows belong together
        each = sample.row_weight
        parts = each * (sample.right - np.average(sample.right, weights=each)) / each.sum()
        alone = variance_of(parts)
        trials = trials / (max(1.0, variance_of(by_unit(parts, sample.cluster)) / alone) if alone > 0 else 1.0)
    risk = errors / answered
    low, high = wilson_shares(risk, trials, z_of(level))
    low = np.where(errors > 0, low, 0.0)
    few = risk * trials <= _FEW_ERRORS
    low[few] = np.minimum(low[few], gammaincinv(np.maximum(risk * trials, 1e-9)[few], 1.0 - level) / trials[few])
    high = np.where(errors < answered, high, 1.0)
    confidence = totals.sample.confidence[ranked.order][ends]
    return RiskCoverage(answered / answered[-1], risk, low, high, confidence, area, level)

"""One cut of a ranked list: where it lies, what it takes, what it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np

from ..catalogue.declare import ratio
from ..catalogue.quota import quota_pearson
from ..errors import InputError
from ..estimate import Estimate, Interval
from ..inference.quota_cut import Cuts, QuotaCut, expected_hits_limits, next_hits_limits
from ..quotas import resolve_quota
from ..ranking import Ranking
from ..sweep import Counts, Request, counts_at, sweep
from ..table import text_table

CUTS = ("quota", "threshold", "recall", "precision", "fpr", "specificity")  # what a cut may be asked for by
CutOf = Callable[[float, float, float], QuotaCut]


@dataclass(frozen=True)
class OperatingPoint:
    """Counts and measures at one cut.

    Everything with ``score > threshold`` is taken; of ``tied`` cases that score exactly ``threshold``, ``from_tie`` are
    taken too, and count with their share of positives. ``hits_worst`` and ``hits_best`` are the positives taken if the
    places within the tie go to its negatives or to its positives. ``expected_hits`` has an interval for the mean over
    many batches like this one; ``next_hits`` is a prediction interval for the next batch, which is wider.
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
        kept = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("expected_hits", "next_hits")}
        ends = {"expected_hits_low": self.expected_hits.low, "expected_hits_high": self.expected_hits.high}
        ends |= {"next_hits_low": self.next_hits.low, "next_hits_high": self.next_hits.high}
        return {**kept, "hit_rate": self.hit_rate, "qrecall": self.qrecall, **ends}

    def __repr__(self) -> str:
        rows = [{"at this cut": key, "": value} for key, value in self.to_dict().items()]
        return text_table(rows, ["at this cut", ""])

    def _repr_html_(self) -> str:
        from ..present.notebook import cut_html

        return cut_html(self)


def operating_point(
    ranking: Ranking, *, level: float = 0.95, cut_of: CutOf | None = None, **cuts: float | None
) -> OperatingPoint:
    """The cut at a ``quota`` or ``threshold``, or the best that reaches a recall, precision, specificity or fpr here.

    ``recall``: the fewest cases that reach it; ``precision`` and ``specificity``: the most cases that keep it;
    ``fpr``: the most cases that stay within it. ``cut_of`` says what is known of a cut where rows are not independent.
    """
    given = {name: value for name, value in cuts.items() if value is not None}
    if len(given) != 1:
        raise InputError(None, f"give exactly one of {', '.join(CUTS)}; got {', '.join(given) or 'none'}")
    ((name, value),) = given.items()
    if name == "quota":
        return at_rows(ranking, resolve_quota(value, ranking.cases), level, cut_of)
    if name == "threshold":
        cut = _after(ranking, ranking.above(value), level, cut_of)
        return replace(cut, threshold=float(value))
    side, cases = ("positive", ranking.n_pos) if name == "recall" else ("negative", ranking.n_neg)
    if cases == 0 and name != "precision":
        raise InputError(name, f"is undefined: the sample has no {side} cases")
    hits = np.cumsum(ranking.pos, dtype=np.float64)
    misses = np.cumsum(ranking.neg, dtype=np.float64)
    if name == "recall":
        groups = int(np.searchsorted(hits, value * cases * (1 - 1e-12))) + 1 if value > 0 else 0
    elif name == "precision":
        rates = hits / (hits + misses)
        kept = np.flatnonzero(rates >= value * (1 - 1e-12))
        if len(kept) == 0:
            raise InputError("precision", f"of {value:g} is reached by no cut", f"the highest is {rates.max():.4g}")
        groups = int(kept[-1]) + 1
    else:
        allowed = (value if name == "fpr" else 1.0 - value) * cases
        room = 1e-12 * cases  # rounding must not cost a case
        groups = int(np.searchsorted(misses, allowed + room, side="right"))
    return _after(ranking, groups, level, cut_of)


def _after(ranking: Ranking, groups: int, level: float, cut_of: CutOf | None) -> OperatingPoint:
    """The cut after a number of whole groups."""
    tp = float(ranking.pos[:groups].sum(dtype=np.float64))
    fp = float(ranking.neg[:groups].sum(dtype=np.float64))
    cut = Counts(tp, fp, max(0.0, ranking.n_pos - tp), max(0.0, ranking.n_neg - fp))  # sums of weights may round
    if not ranking.weighted and 0 < tp + fp:
        return at_rows(ranking, round(tp + fp), level, cut_of)
    return _point(ranking, cut, groups, 0.0, level, cut_of)


def at_rows(ranking: Ranking, rows: int, level: float = 0.95, cut_of: CutOf | None = None) -> OperatingPoint:
    """The cut after a number of rows, which may fall inside a tie."""
    request = Request(frozenset(), (), quotas=(rows,))
    cut = counts_at(sweep(ranking, request), request.quota_at(rows))
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
    known, taken, hits = None, float(cut.tp + cut.fp), float(cut.tp)
    mean = Estimate("expected_hits", hits)  # over many lists cut at the same quota
    if taken > 0:
        known = Cuts(ranking.pos, ranking.neg).at(taken, hits) if cut_of is None else cut_of(taken, hits, level)
        mean = Estimate("expected_hits", hits, *expected_hits_limits(known, level), level, "moving_cut")
    return measured(
        OperatingPoint,
        cut,
        finite=bool(np.isfinite(ranking.score[[0, -1]]).all()),
        threshold=ranking.score_after(groups),
        tied=pos + neg,
        from_tie=taken_of_group,
        hits_worst=above + max(0.0, taken_of_group - neg),
        hits_best=above + min(pos, taken_of_group),
        expected_hits=mean,
        next_hits=next_hits(known, level),
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


def next_hits(cut: QuotaCut | None, level: float, *, optimism: float = 0.0) -> Interval:
    """Interval for the positives that the next list of the same size will hold, cut at the same share.

    A prediction: it assumes that the next list is drawn from the same population. ``optimism``: hits that are due to
    choosing the cut on these data.
    """
    if cut is None:
        return Interval(float("nan"), float("nan"))
    return next_hits_limits(cut, level, optimism=optimism)

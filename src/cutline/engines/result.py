"""What a stream knows -> Estimates, and the Evaluation of a table whose rows are not in memory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import SweepPlan, why_undefined
from ..catalogue.declare import Spec
from ..curves import Curve, curve
from ..decide.operating import OperatingPoint
from ..errors import InputError
from ..estimate import Estimate
from ..evaluation import Evaluation
from ..inference import bootstrap
from ..inference.intervals import Settings, bootstrap_method, closed_form, effective_wilson, is_stratified
from ..ranking import Ranking
from ..sample import Sample, resolve_quota
from ..sweep import counts_at
from .poisson import drawn_by_block, hits_of_replicates, replicate
from .stream import Part, Totals

Floats = NDArray[np.float64]
_NEEDS_ROWS = "the rows of this table were not kept in memory"


@dataclass(frozen=True, eq=False, repr=False)
class TableEvaluation(Evaluation):
    """The evaluation of a table that was streamed: measures are exact, its rows are not kept.

    ``ranking`` is compact: neighbouring scores are joined to blocks within which neither class moves by more than
    ``tolerance`` of itself, nor the number taken by more than that share of the cases before or behind. Curves pass
    through exact points and are straight between them. Cuts are exact at the quotas and thresholds that were asked
    for, at every per cent of the list, and wherever ``tolerance`` is 0; elsewhere they are within the tolerance.
    """

    known: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 0.0
    single: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_), repr=False)
    pearson: Mapping[int, float] = field(default_factory=dict, repr=False)
    hits: Mapping[str, Floats] = field(default_factory=dict, repr=False)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Rows, positives, how much is tied, and rows that were dropped because something was missing."""
        return dict(self.known)

    def at(self, **cut: Any) -> OperatingPoint:
        """The cut at a quota or threshold, or the best one that keeps a recall, precision or false positive rate.

        Inside a block of the compact ranking counts are interpolated, and what is known only of single scores (ties,
        their best and worst case, the correlation) is nan.
        """
        point = super().at(**cut)
        if cut.get("quota") is not None and not self.ranking.weighted:
            rows = resolve_quota(cut["quota"], self.ranking.rows)
            if rows in self.pearson:
                point = replace(point, pearson=self.pearson[rows])
            elif self.tolerance:
                point = replace(point, pearson=math.nan)
            if point.from_tie > 0 and not self._is_single(rows):
                nan = math.nan
                point = replace(point, tied=nan, from_tie=nan, hits_worst=nan, hits_best=nan)
        elif self.tolerance:
            point = replace(point, pearson=math.nan)
        return point

    def _is_single(self, rows: int) -> bool:
        ends = np.cumsum(self.ranking.pos + self.ranking.neg)
        return bool(self.single[int(np.searchsorted(ends, rows, side="right"))])

    def curve(self, name: str) -> Curve:
        """A curve: roc, precision_recall, gain, lift, hit_rate, qrecall or tpr_fpr; without a band."""
        return curve(name, self.ranking)


def finish(
    part: Part,
    totals: Totals,
    specs: Sequence[Spec],
    readings: Sequence[SweepPlan],
    obstacles: Mapping[Spec, str],
    settings: Settings,
    *,
    name: str,
    threshold: float,
    quota: int | None,
    tolerance: float,
    keep: dict[str, Floats] | None = None,
) -> TableEvaluation:
    """The evaluation from what a stream gathered; ``keep`` takes the replicates of every measure.

    With it the evaluation also keeps the positives found in each replicate: ``hits``, by axis, replicate and share.
    """
    kind: Any = np.float64 if totals.weighted else np.int64
    columns = part.blocks[:, 2].astype(kind), part.blocks[:, 3].astype(kind)
    ranking = Ranking(part.blocks[:, 0].copy(), *columns, totals.rows, totals.weighted)
    values: dict[Spec, float] = {}
    pearson: dict[int, float] = {}
    finite = np.isfinite([totals.low, totals.high]).all()
    vectors = iter(part.vectors())
    for reading in readings:
        if not reading.specs:
            continue
        vector = next(vectors)
        values.update(zip(reading.specs, map(float, reading.values(vector)), strict=True))
        if reading.ties == "expected" and finite:
            pearson |= {q: _pearson(vector, reading, q) for q in reading.request.quotas}
    for spec in specs:
        if spec.measure.part == "ranking" and not obstacles[spec]:
            values[spec] = float(spec.measure.compute(ranking.resolved(spec.ties), **spec.arguments))
    middle = part.blocks[:, 1] / np.maximum(part.blocks[:, 2] + part.blocks[:, 3], 1e-300)
    estimates = _estimates(specs, values, ranking, middle, part, obstacles, settings, keep)
    facts = {
        "rows": totals.rows,
        "positives": totals.positives,
        "negatives": totals.rows - totals.positives,
        "share_positive": totals.positives / totals.rows,
        "distinct_scores": part.groups,
        "largest_tie": part.largest,
        "tied_pairs": part.tied / (totals.pos * totals.neg) if totals.pos and totals.neg else math.nan,
        "weighted": totals.weighted,
        "dropped": totals.dropped,
    }
    return TableEvaluation(
        name,
        empty_sample(totals),
        ranking,
        {str(spec): spec for spec in specs},
        {str(spec): estimates[spec] for spec in specs},
        settings,
        threshold,
        quota,
        known=facts,
        tolerance=tolerance,
        single=part.blocks[:, 4] == 1,
        pearson=pearson,
        hits=hits_of_replicates(ranking, part.counts) if keep is not None and part.counts is not None else {},
    )


def check_same(name: str, totals: Totals, pos: float, neg: float, total: float) -> None:
    """The sums rest on the totals: a source that changed between two passes must not go unnoticed.

    Cases are compared, and the sum of the scores, to within what adding up in another order can do to it.
    """
    close = 1e-9 if totals.weighted else 0.0
    if not np.allclose((pos, neg), (totals.pos, totals.neg), rtol=close, atol=0.0):
        raise RuntimeError(
            f"{name} changed while it was read: {totals.pos:g} positives and {totals.neg:g} negatives were counted "
            f"first, {pos:g} and {neg:g} came; is it random, or being written? Save it first"
        )
    room = 1e-9 * (totals.pos + totals.neg) * max(abs(totals.low), abs(totals.high))
    if math.isfinite(room) and abs(total - totals.sum) > room:
        raise RuntimeError(
            f"{name} changed while it was read: its scores added up to {totals.sum:g} first, then to {total:g}; is it "
            "random, or being written? Save it first"
        )


def empty_sample(totals: Totals) -> Sample:
    """A sample without rows that knows the extremes: what the checks of the measures read."""
    weight = np.empty(0) if totals.weighted else None
    return Sample(np.empty(0, np.bool_), np.empty(0), weight, totals.low, totals.high)


def _pearson(vector: Floats, reading: SweepPlan, quota: int) -> float:
    from ..catalogue.quota import quota_pearson

    cut = counts_at(vector, reading.request.quota_at(quota))
    return float(quota_pearson.measure.compute(cut))  # type: ignore[attr-defined]


def needs_rows(settings: Settings, *, weighted: bool, paired: bool) -> bool:
    """Whether replicates must be drawn row by row, while the rows stream by.

    Rows without weights that need not match other models' rows are drawn block by block instead, after the pass: the
    Poisson weights of a block of c rows add up to a Poisson number with mean c.
    """
    resampled = settings.interval in ("auto", "bootstrap", *bootstrap.METHODS)
    return (weighted and resampled) or (paired and settings.interval is not None)


def refuse_settings(settings: Settings) -> None:
    """Refuse intervals that need the rows in memory."""
    if settings.interval == "bca":
        raise InputError(
            f"interval='bca' leaves out rows in turn, but {_NEEDS_ROWS}; use 'percentile' or 'basic' (at these sizes "
            "the correction is far smaller than the interval)"
        )


def _estimates(
    specs: Sequence[Spec],
    values: dict[Spec, float],
    ranking: Ranking,
    middle: Floats,
    part: Part,
    obstacles: Mapping[Spec, str],
    settings: Settings,
    keep: dict[str, Floats] | None,
) -> dict[Spec, Estimate]:
    auc = None
    if part.of_pos.n > 1 and part.of_neg.n > 1:
        spreads = [m.squares / (m.n - 1) / m.n for m in (part.of_pos, part.of_neg)]
        auc = part.of_pos.mean, sum(spreads)
    estimates: dict[Spec, Estimate] = {}
    resampled: list[Spec] = []
    for spec in specs:
        value = values.get(spec, math.nan)
        if value != value:
            reason = obstacles[spec] or why_undefined(spec.measure, ranking.n_pos, ranking.n_neg)
            estimates[spec] = Estimate(str(spec), value, reason=reason)
            continue
        closed = None
        if settings.interval is not None and not ranking.weighted:
            closed = closed_form(spec, value, ranking, settings, auc)
        if closed is not None:
            (low, high), method = closed
            estimates[spec] = Estimate(str(spec), value, low, high, settings.level, method)
        else:
            estimates[spec] = Estimate(str(spec), value)
            if settings.interval in ("auto", "bootstrap", *bootstrap.METHODS) and spec.measure.part != "ranking":
                resampled.append(spec)
    counts = part.counts
    if counts is None:
        if not resampled or ranking.weighted:
            return estimates
        counts = drawn_by_block(ranking, settings.n_resamples, settings.seed)
    every = [s for s in specs if values.get(s, math.nan) == values.get(s, math.nan) and s.measure.part != "ranking"]
    wanted = resampled if keep is None else every
    drawn = replicate(wanted, ranking, middle, counts, values, lambda spec: is_stratified(spec, settings))
    if keep is not None:
        keep.update({str(spec): replicates for spec, replicates in drawn.items()})
    for spec in resampled:
        nothing = np.empty(0)
        found = bootstrap.Replicates(values[spec], drawn[spec], nothing, nothing, np.empty(0, np.int64))
        method = bootstrap_method(spec, settings)
        if method == "wilson_effective":
            low, high = effective_wilson(spec, found, ranking, settings.level)
        else:
            method = "basic" if method == "basic" else "percentile"  # long lists need no correction for skewness
            low, high = found.interval(method, settings.level)
        label = f"poisson_{method}"
        undefined = found.undefined
        estimates[spec] = Estimate(
            str(spec), values[spec], low, high, settings.level, label, undefined_replicates=undefined
        )
    return estimates

"""The numbers behind plots and charts, as rows: curves, histograms by class, reliability, profit, batches, segments."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import ratio
from ..curves import keep_points
from ..errors import InputError
from ..inference.closed_forms import QuotaCut, expected_hits_limits, next_hits_limits, qrecall_limits
from ..inference.limits import wilson
from ..partition import order_of
from ..table import Table, columns_table
from ..types import Floats

if TYPE_CHECKING:
    from ..evaluation import Evaluation

Whole = NDArray[np.int64]

EVERY_QUOTA_UP_TO = 2_000
TOLERANCE = 0.001  # of an axis: less than a pixel of a chart
# In a long list of rare events one early hit makes a rate of 100%, beside which the rest of the curve is flat: an axis
# need not show the first 1/2000 of the list. Of lists of up to 2000 rows it shows every place.
STEADY = 1 / 2000


def axis_end(shares: Iterable[float]) -> float:
    """Where an axis of shares ends: at 1, or just above the highest share where all are small (rare events).

    >>> axis_end([0.3, 0.8]), axis_end([0.012, 0.034]), axis_end([])
    (1.0, 0.04, 1.0)
    """
    most = 1.05 * max(shares, default=1.0)
    if not 0 < most < 0.5:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(most))
    return next(round(k * unit, 12) for k in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if k * unit >= most)


def rates_end(evaluations: Iterable[Evaluation], quota: float | None = None) -> float:
    """Where an axis of hit rates or precisions ends: above all but the very first, and above those at the quota."""
    from ..decide.selection import hits_at

    rates: list[float] = []
    for ev in evaluations:
        cases = ev.ranking.cases
        ends = np.cumsum(ev.ranking.pos + ev.ranking.neg) if ev.facts["weighted"] else quota_stops(ev.ranking.rows)
        asked = [float(q) for q in (quota, ev.quota) if q is not None and not ev.rows.batched]
        places = np.array([*ends[ends >= STEADY * cases].tolist(), *asked], dtype=np.float64)
        rates += (hits_at(ev.ranking, np.minimum(places, cases)) / places).tolist()
    return axis_end(rates)


def models_of(result: Any) -> list[Evaluation]:
    """The evaluations behind a result, in their order: of a comparison, of classes, or the one it is."""
    if isinstance(result, list | tuple):
        return list(result)
    found = list(result.evaluations.values()) if hasattr(result, "evaluations") else [result]
    if not found or any(not hasattr(ev, "ranking") for ev in found):
        raise InputError(None, f"this shows an Evaluation or a Comparison, not {type(result).__name__}")
    return found


def score_histogram(ev: Evaluation, bins: int = 24) -> Table:
    """How the scores of each class are spread, over equal steps of the score; ±inf join the outer steps."""
    ranking = ev.ranking
    score = ranking.score.astype(np.float64)
    finite = score[np.isfinite(score)]
    if len(finite) == 0:
        raise InputError(None, "a histogram needs finite scores, and all of these are infinite")
    low, high = float(finite.min()), float(finite.max())
    if ev.rows.are_probabilities:
        low, high = 0.0, 1.0
    elif low == high:
        low, high = low - 0.5, high + 0.5
    edges = 2.0 * np.linspace(low / 2.0, high / 2.0, bins + 1)  # the range itself may be too large for a number
    edges[[0, -1]] = low, high  # halves of the smallest numbers are 0
    clipped = np.clip(score, low, high)
    pos = np.histogram(clipped, edges, weights=ranking.pos.astype(np.float64))[0]
    neg = np.histogram(clipped, edges, weights=ranking.neg.astype(np.float64))[0]
    columns = {"from": edges[:-1], "to": edges[1:], "positives": pos, "negatives": neg}
    shares = {"share_of_positives": ratio(pos, ranking.n_pos), "share_of_negatives": ratio(neg, ranking.n_neg)}
    return columns_table(columns | shares, "Scores by class")


def reliability(ev: Evaluation, bins: int = 10) -> Table:
    """How often what was given a probability came true: groups of equal size, ties kept together, Wilson intervals."""
    if not ev.rows.are_probabilities:
        raise InputError(None, "a reliability diagram needs probabilities, but some scores lie outside [0, 1]")
    ranking = ev.ranking
    pos = ranking.pos[::-1].astype(np.float64)
    size = pos + ranking.neg[::-1]
    score = ranking.score[::-1].astype(np.float64)
    middle = np.cumsum(size) - size / 2  # a tie belongs to the group in which its middle lies
    group = np.minimum((middle * bins / size.sum()).astype(np.int64), bins - 1)
    weights = [np.bincount(group, w, bins) for w in (size, pos, size * score)]
    n, hits, total = (w[weights[0] > 0].astype(np.float64) for w in weights)
    low, high = np.array([wilson(h, m, ev.settings.level) for h, m in zip(hits, n, strict=True)]).T * n
    shares = {"mean_score": total / n, "share_positive": hits / n, "low": low / n, "high": high / n}
    return columns_table({**shares, "rows": n}, "Reliability")


MANY_POINTS = 1_000
INK = 0.0005  # of a height: half a pixel of a printed plot


def batch_points(result: Any, quota: int | float | None) -> dict[str, Any]:
    """The batches of each model at the quota asked for, or the evaluation's own."""
    points = {}
    for ev in models_of(result):
        places = ev.quota if quota is None else quota
        if not ev.rows.batched:
            raise InputError("batch", "is missing, and this plot shows batches", "pass {batch} to evaluate()")
        if places is None:
            raise InputError("quota", "is missing", "give {quota}: places in each batch")
        points[ev.name] = ev.at(quota=places)
    return points


def segments_frame(result: Any, *, measure: str | None = None) -> Table:
    """The values of a measure by segment and model, and of all rows."""
    if not hasattr(result, "by"):
        raise InputError(None, "this plot shows segments", "evaluate or compare with {by}, and plot .segments")
    models = getattr(result, "models", None) or {result.overall.name: result}
    first = next(iter(models.values()))
    key = first.chosen([measure])[0] if measure is not None else first.chosen()[0]
    values = [ev.estimates[key].value for ev in first.evaluations.values()]
    order = list(range(len(values)))
    if not (first.ordered or first.order is not None or order_of(list(first.evaluations)) == "time"):
        order.sort(key=lambda k: (values[k] != values[k], -values[k]))  # no order of their own: the highest first
    rows = []
    for name, seg in models.items():
        parts = list(seg.evaluations.values())
        for segment, ev in [*((parts[k].name, parts[k]) for k in order), (None, seg.overall)]:
            e = ev.estimates[key]
            row = {"model": name, "segment": segment, "measure": key, "rows": ev.facts["rows"]}
            rows.append({**row, "value": e.value, "low": e.low, "high": e.high})
    return Table(rows, f"{key} by segment")


def cuts_at(ev: Evaluation, hits: Floats, stops: Whole, *, recall: bool = False) -> list[QuotaCut]:
    """What inference needs to know of many cuts, as ``ev.at(quota=…)`` takes it.

    Of clustered or weighted rows the effective size is worked out at 200 of the quotas and interpolated between them.
    """
    found = [ev.rows.cuts.at(float(k), float(h)) for k, h in zip(stops, hits, strict=True)]
    if ev.rows.independent:
        return found
    level, cases = ev.settings.level, ev.ranking.cases
    grid = np.unique(np.linspace(0, len(stops) - 1, min(200, len(stops))).round().astype(np.int64))
    known = {int(i): ev.rows.cut(float(stops[i]), float(hits[i]), level, recall=recall) for i in grid}
    share = np.interp(stops, stops[grid], [known[int(i)].size / cases for i in grid])
    return [known.get(i, replace(cut, size=cases * share[i], relief=0.0)) for i, cut in enumerate(found)]


def qrecall_intervals(ev: Evaluation, hits: Floats, stops: Whole) -> Floats:
    """Low and high of Qrecall at many quotas, one row each; nan without positives."""
    if not ev.ranking.n_pos:
        return np.full((2, len(stops)), np.nan)
    return np.array([qrecall_limits(cut, ev.settings.level) for cut in cuts_at(ev, hits, stops, recall=True)]).T


def quota_stops(n: int, extra: Iterable[int] = ()) -> Whole:
    """The quotas a reader can choose. All of them in a short list.

    In a long one: every quota up to 500, all with three significant digits, every tenth of a per cent, and ``extra``.
    """
    if n <= EVERY_QUOTA_UP_TO:
        return np.arange(1, n + 1)
    parts: list[Any] = [np.arange(1, 501), n * np.arange(1, 1001) // 1000, list(extra), [n]]
    unit = 1
    while 100 * unit <= n:
        parts.append(np.arange(100, 1000) * unit)
        unit *= 10
    stops = np.unique(np.concatenate([np.asarray(part, dtype=np.int64) for part in parts]))
    return stops[(stops >= 1) & (stops <= n)]


@dataclass(frozen=True)
class Stops:
    """One model at every stop. ``worst``, ``best``: positives taken if the places inside a tie go badly or well."""

    quota: Whole
    hits: Floats
    low: Floats
    high: Floats
    next_low: Whole
    next_high: Whole
    threshold: Floats
    worst: Floats
    best: Floats


def at_stops(ev: Evaluation, stops: Whole) -> Stops:
    """What ``ev.at(quota=…)`` gives, for all stops at once."""
    ranking = ev.ranking
    ends = np.concatenate([[0], np.cumsum(ranking.pos.astype(np.int64) + ranking.neg)])
    found = np.concatenate([[0], np.cumsum(ranking.pos, dtype=np.int64)])
    groups = np.searchsorted(ends[1:], stops, side="right")  # groups that are taken whole
    inside = stops - ends[groups]
    last = np.minimum(groups, len(ranking) - 1)
    pos, neg = ranking.pos[last].astype(np.float64), ranking.neg[last].astype(np.float64)
    hits = found[groups] + inside * pos / (pos + neg)
    threshold = np.where(groups < len(ranking), ranking.score[last].astype(np.float64), -np.inf)
    worst = found[groups] + np.maximum(0.0, inside - neg)
    best = found[groups] + np.minimum(pos, inside)
    cuts, level = cuts_at(ev, hits, stops), ev.settings.level
    of_recall = cuts if ev.rows.independent else cuts_at(ev, hits, stops, recall=True)
    limits = [expected_hits_limits(cut, level, other) for cut, other in zip(cuts, of_recall, strict=True)]
    low, high = np.array(limits).T
    soon = [next_hits_limits(cut, level, mean=mean) for cut, mean in zip(cuts, limits, strict=True)]
    next_low, next_high = np.array(soon).T.astype(np.int64)
    return Stops(stops, hits, low, high, next_low, next_high, threshold, worst, best)


def thinned(x: Floats, *curves: Floats, tolerance: float = TOLERANCE) -> NDArray[np.intp]:
    """Points to keep so that straight lines between them stay within ``tolerance`` of each curve's range.

    The curves keep the same points, each within half: a point kept for one bends the line of another by as much again.
    """
    kept = [keep_points(x, curve, tolerance / 2 * (float(np.ptp(curve)) or 1.0)) for curve in curves]
    return np.flatnonzero(np.any(kept, axis=0))

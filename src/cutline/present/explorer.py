"""The numbers behind the quota explorer: every model at every quota that a reader can choose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..curves import keep_points
from ..inference.quota_cut import QuotaCut, expected_hits_limits, next_hits_limits, qrecall_limits
from ..types import Floats

if TYPE_CHECKING:
    from ..evaluation import Evaluation

Whole = NDArray[np.int64]

EVERY_QUOTA_UP_TO = 2_000
TOLERANCE = 0.001
_HIT_DIGITS = 4  # of a place inside a tie


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
    low, high = np.array([expected_hits_limits(cut, level) for cut in cuts]).T
    next_low, next_high = np.array([next_hits_limits(cut, level) for cut in cuts]).T.astype(np.int64)
    return Stops(stops, hits, low, high, next_low, next_high, threshold, worst, best)


def thinned(x: Floats, *curves: Floats, tolerance: float = TOLERANCE) -> NDArray[np.intp]:
    """Points to keep so that straight lines between them stay within ``tolerance`` of each curve's range.

    The curves keep the same points, each within half: a point kept for one bends the line of another by as much again.
    """
    kept = [keep_points(x, curve, tolerance / 2 * (float(np.ptp(curve)) or 1.0)) for curve in curves]
    return np.flatnonzero(np.any(kept, axis=0))


def explorer_data(ev: Evaluation, stops: Whole) -> dict[str, Any]:
    """One model's part of the explorer, in columns, with as many digits as a reader can see.

    ``found`` is the interval of Qrecall times the positives, so that it has the unit and the size of the hits.
    """
    at = at_stops(ev, stops)
    curves = at.hits, at.hits / stops, at.low, at.high
    axes = stops.astype(np.float64), np.log(stops)  # lines are straight on one of them only
    kept = np.union1d(*(thinned(axis, *curves) for axis in axes))
    inside_ties = bool((at.worst != at.best).any())
    positives = int(ev.facts["positives"])
    unit = _units(stops, positives)
    found = qrecall_intervals(ev, at.hits, stops) * positives
    return {
        "name": ev.name,
        "positives": positives,
        "hits": np.round(at.hits, _HIT_DIGITS),
        "expected": [np.round(ends * unit) / unit for ends in (at.low, at.high)],
        "found": [np.round(ends * unit) / unit for ends in found],
        "next": [at.next_low, at.next_high],
        "threshold": [float(f"{t:.6g}") if np.isfinite(t) else None for t in at.threshold],  # None: everyone is taken
        "worst": at.worst if inside_ties else None,
        "best": at.best if inside_ties else None,
        "drawn": kept,
    }


def _units(stops: Whole, positives: int) -> Floats:
    """Parts of a hit that a reader can see at each stop: 10,000 among few places or positives, 10 among many."""
    return np.asarray(10.0 ** (4 - np.searchsorted([10, 100, 1000], np.minimum(stops, positives), side="right")))


def steps_of(values: Any) -> list[int]:
    """Whole numbers as the first of them and the differences between neighbours: small, and alike where a line is."""
    return [int(step) for step in np.diff(np.asarray(values), prepend=0)]


def coded(model: Mapping[str, Any], stops: Whole) -> dict[str, Any]:
    """One model's columns as the page keeps them: steps of whole numbers, the intervals counted from the hits.

    Written out they would take five times the space. The page's script adds the steps up again.
    """
    hits = model["hits"]
    scale = 1.0 if bool((hits == np.round(hits)).all()) else 10.0**_HIT_DIGITS
    unit, places = _units(stops, model["positives"]), np.floor(hits + 0.5)
    from_hits = np.floor(hits * unit + 0.5)
    known = model["positives"] > 0

    def pair(columns: Any, base: Floats, unit: Any = 1.0) -> list[list[int]]:
        return [steps_of(np.round(column * unit) - base) for column in columns]

    return {
        **{key: model[key] for key in ("name", "positives", "threshold")},
        "scale": scale,
        "hits": steps_of(np.round(hits * scale)),
        "expected": pair(model["expected"], from_hits, unit),
        "found": pair(model["found"], from_hits, unit) if known else None,
        "next": pair(model["next"], places),
        "ties": None if model["worst"] is None else pair((model["worst"], model["best"]), places),
        "drawn": steps_of(model["drawn"]),
    }


def quota_range(evaluations: Sequence[Evaluation]) -> dict[str, Any] | None:
    """The unknown quota that was asked for: its sizes and chances, and what each model gives on average; None without.

    The reader may set another range, whose quotas are all as likely.
    """
    quotas = evaluations[0].quotas
    if quotas is None:
        return None
    sizes, weights = quotas.sizes(evaluations[0].ranking.cases)
    found = []
    for ev in evaluations:
        known = {name: ev[name] for name in ("hit_rate", "qrecall") if name in ev}
        found.append({name: _digits(np.array([e.value, e.low, e.high])) for name, e in known.items()})
    return {"sizes": sizes, "weights": _digits(weights, 9), "words": quotas.words, "models": found}


def _digits(values: Floats, most: int = 6) -> list[float | int | None]:
    """Rounded, whole numbers without a point; None where there is no value."""
    return [None if v != v else int(v) if v == int(v) else v for v in np.round(values, most).tolist()]

"""The numbers behind the quota explorer: every model at every quota that a reader can choose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..curves import keep_points
from ..inference.proportions import z_of

if TYPE_CHECKING:
    from ..evaluation import Evaluation
    from ..ranking import Ranking

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

EVERY_QUOTA_UP_TO = 2_000
TOLERANCE = 0.001


def hits_intervals(hits: Floats, quotas: NDArray[Any], level: float) -> tuple[Floats, Floats]:
    """Intervals for the expected number of hits at many quotas: Wilson's interval for the hit rate, times the quota."""
    z = z_of(level)
    rate = hits / quotas
    centre = (rate + z * z / (2 * quotas)) / (1 + z * z / quotas)
    half = z / (1 + z * z / quotas) * np.sqrt(rate * (1 - rate) / quotas + z * z / (4 * quotas.astype(float) ** 2))
    return np.maximum(centre - half, 0.0) * quotas, np.minimum(centre + half, 1.0) * quotas


def next_hits(hits: Floats, quotas: Whole, level: float) -> tuple[Whole, Whole]:
    """Predictive intervals for the hits of the next group, as ``ev.at(quota=…).next_hits`` gives them, quota by quota.

    The beta-binomial distribution is summed only where it has any weight to speak of: 12 standard deviations around
    its mean, which is a small part of a long list.
    """
    from scipy.special import betaln, gammaln

    from ..decide.operating import next_hits as of_one

    tail = (1.0 - level) / 2.0
    low, high = np.zeros(len(quotas), np.int64), np.zeros(len(quotas), np.int64)
    for i, (found, n) in enumerate(zip(hits.tolist(), quotas.tolist(), strict=True)):
        if n <= 500 or n > 10_000:
            low[i], high[i] = (int(end) for end in of_one(found, n, level))
            continue
        a, b = found + 0.5, n - found + 0.5
        mean = n * a / (a + b)
        reach = 12.0 * float(np.sqrt(mean * b / (a + b) * (a + b + n) / (a + b + 1.0))) + 30.0
        k = np.arange(max(0, int(mean - reach)), min(n, int(mean + reach)) + 1)
        log_choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        below = np.cumsum(np.exp(log_choose + betaln(k + a, n - k + b) - betaln(a, b)))
        ends = np.minimum(np.searchsorted(below, (tail, 1.0 - tail)), len(k) - 1)
        low[i], high[i] = k[ends]
    return low, high


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
    threshold: Floats
    worst: Floats
    best: Floats


def at_stops(ranking: Ranking, stops: Whole, level: float) -> Stops:
    """What ``ev.at(quota=…)`` gives, for all stops at once."""
    ends = np.concatenate([[0], np.cumsum(ranking.pos.astype(np.int64) + ranking.neg)])
    found = np.concatenate([[0], np.cumsum(ranking.pos, dtype=np.int64)])
    groups = np.searchsorted(ends[1:], stops, side="right")  # groups that are taken whole
    inside = stops - ends[groups]
    last = np.minimum(groups, len(ranking) - 1)
    pos, neg = ranking.pos[last].astype(np.float64), ranking.neg[last].astype(np.float64)
    hits = found[groups] + inside * pos / (pos + neg)
    low, high = hits_intervals(hits, stops, level)
    # who takes all finds all: no more hits than positives, no fewer than the negatives leave places for
    low, high = np.maximum(low, stops - ranking.n_neg), np.minimum(high, ranking.n_pos)
    threshold = np.where(groups < len(ranking), ranking.score[last].astype(np.float64), -np.inf)
    worst = found[groups] + np.maximum(0.0, inside - neg)
    best = found[groups] + np.minimum(pos, inside)
    return Stops(stops, hits, low, high, threshold, worst, best)


def thinned(x: Floats, *curves: Floats, tolerance: float = TOLERANCE) -> NDArray[np.intp]:
    """Points to keep so that straight lines between them stay within ``tolerance`` of each curve's range.

    The curves keep the same points, each within half: a point kept for one bends the line of another by as much again.
    """
    kept = [keep_points(x, curve, tolerance / 2 * (float(np.ptp(curve)) or 1.0)) for curve in curves]
    return np.flatnonzero(np.any(kept, axis=0))


def explorer_data(ev: Evaluation, stops: Whole) -> dict[str, Any]:
    """One model's part of the explorer, in columns, with as many digits as a reader can see."""
    at = at_stops(ev.ranking, stops, ev.settings.level)
    kept = thinned(stops.astype(np.float64), at.hits, at.hits / stops, at.low, at.high)
    inside_ties = bool((at.worst != at.best).any())
    return {
        "name": ev.name,
        "positives": int(ev.facts["positives"]),
        "hits": _digits(at.hits),
        "next": [ends.tolist() for ends in next_hits(at.hits, stops, ev.settings.level)],
        "threshold": [_significant(value) for value in at.threshold],
        "worst": _digits(at.worst) if inside_ties else None,
        "best": _digits(at.best) if inside_ties else None,
        "drawn": kept.tolist(),
    }


def _digits(values: Floats, most: int = 6) -> list[float | int]:
    return [int(v) if v == int(v) else v for v in np.round(values, most).tolist()]


def _significant(value: float) -> float | None:
    """Six significant digits; None where everyone is taken."""
    return float(f"{value:.6g}") if np.isfinite(value) else None

"""Frames of numbers that plots and page draw: histograms by class, reliability, profit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..catalogue.declare import ratio
from ..errors import InputError
from ..inference.proportions import wilson
from ..table import Table, columns_table

if TYPE_CHECKING:
    from ..evaluation import Evaluation

# In a long list of rare events one early hit makes a rate of 100 %, beside which the rest of the curve is flat: an axis
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
    from .explorer import quota_stops

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


def profit_curve(ev: Evaluation, cost: float | None, value: float | None, fixed_cost: float = 0.0) -> dict[str, Any]:
    """Profit at every quota: value times expected hits, less cost times places, with the interval of the hits."""
    if cost is None or value is None:
        prices = {"{cost} per place": cost, "{value} per hit": value}
        missing = " and ".join(name for name, price in prices.items() if price is None)
        raise InputError(None, f"the profit curve needs {missing}")
    from .explorer import at_stops, quota_stops

    stops = quota_stops(ev.ranking.rows)
    at = at_stops(ev, stops)
    spent = cost * stops + fixed_cost
    return {
        "quota": stops,
        "profit": value * at.hits - spent,
        "low": value * at.low - spent,
        "high": value * at.high - spent,
    }

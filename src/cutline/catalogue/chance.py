"""What chance gives: the mean of a measure over all orders of the cases, and values on the scale from there to perfect.

No orders are drawn. Measures that count ties by expectation have this mean as their value of a list in which all
scores are equal. The others are extremes of the path that positives (up) and negatives (down) make from the top of the
list to its end, for which the mean is known exactly: Spitzer's identity for its maximum, and the cycles of a random
permutation for the sides of its hull.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..errors import InputError
from ..ranking import Ranking, rank
from ..reference import documented
from ..sources.arrays import make_sample
from ..sweep import Counts
from ..types import Floats, Label, Labels, MeasureLike, Scores
from ..validate import check_whole
from .compute import compute, compute_one
from .declare import Measure, Spec, parse_measure
from .ranks import partial_span

# n⁺·n⁻ up to which the recursion for the two-sided maximum runs over every value that it can have: a second
_EXACT_PATHS = 4_000
_GRID = 1.04  # ratio of neighbouring places at which smooth sums over long lists are read: 0.02% apart from all places


@documented
def chance_level(measure: MeasureLike, n_pos: int, n_neg: int, *, taken: int | None = None) -> float:
    """The value that a measure has by chance: its mean over all orders of ``n_pos`` positives and ``n_neg`` negatives.

    A measure at a threshold needs ``taken``, the number of cases above it. Measures that read the scores themselves
    (losses, calibration) have no level of their own: theirs depends on the scores.

    >>> chance_level("roc_auc", 20, 80), chance_level("hit_rate@10", 20, 80)
    (0.5, 0.2)
    >>> round(chance_level("ks_statistic", 20, 80), 4), round(chance_level("max_youden_index", 20, 80), 4)
    (0.2054, 0.1448)
    """
    spec = parse_measure(measure)
    one = spec.measure
    n_pos, n_neg = check_whole(n_pos, "n_pos", 1), check_whole(n_neg, "n_neg", 1)
    spec = replace(spec, ties="expected")
    if one.needs_threshold:
        if taken is None:
            raise InputError("taken", "is missing", f"pass the number of cases above the threshold of {one.name}")
        taken = check_whole(taken, "taken", 0, n_pos + n_neg)
        hits = np.arange(max(0, taken - n_neg), min(taken, n_pos) + 1.0)  # positives that may lie above the threshold
        cells = Counts(hits, taken - hits, n_pos - hits, n_neg - taken + hits)
        with np.errstate(all="ignore"):
            values = np.asarray(one.compute(cells, **spec.arguments), np.float64) + np.zeros(len(hits))
        # the mean over those with which the value is defined
        weight = np.where(np.isnan(values), 0.0, _shares(n_pos + n_neg, n_pos, taken, hits))
        return float(np.nan_to_num(values) @ weight / weight.sum()) if weight.sum() > 0.0 else math.nan
    if taken is not None:
        raise InputError("taken", f"does not go with {one.name}, which has no threshold", "leave it out")
    if not one.rank_based:
        problem = f"is {one.name}, whose value by chance depends on the scores"
        raise InputError("measure", problem, "permutation_test compares it with shuffled labels")
    if one.name in _EXTREMES:
        return float(_EXTREMES[one.name](n_pos, n_neg, **{**one.params, **spec.arguments}))
    if isinstance(one.chance, float):
        return one.chance
    if one.tie_rule == "expectation":  # in one tie, every order counts the same
        return compute([spec], Ranking(np.zeros(1), np.array([n_pos]), np.array([n_neg]), n_pos + n_neg)).values[spec]
    return _mean_precision(n_pos, n_neg)  # average precision and average hit rate


@documented
def chance_adjusted(measure: MeasureLike, y_true: Labels, y_score: Scores, *, pos_label: Label = None) -> float:
    """A measure on the scale from chance (0) to a perfect list (1): (value − chance) / (perfect − chance).

    Average Qrecall and average hit rate have different levels by chance, so that their plain values cannot be drawn on
    one axis (Arbel & Rokach Fig. 10, whose normalization is not stated: erratum A16). Below 0 is worse than chance.

    >>> y, p = [1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.2, 0.1]
    >>> round(chance_adjusted("average_qrecall", y, p), 4), round(chance_adjusted("average_hit_rate", y, p), 4)
    (0.5833, 0.591)
    """
    spec = parse_measure(measure)
    ranking = rank(make_sample(y_true, y_score, pos_label=pos_label))
    chance, perfect = chance_and_perfect(spec, int(ranking.n_pos), int(ranking.n_neg))
    value, _ = compute_one(spec, y_true, y_score, pos_label=pos_label)
    return (value - chance) / (perfect - chance)


def chance_and_perfect(spec: Spec, n_pos: int, n_neg: int) -> tuple[float, float]:
    """What chance gives, and what a perfect list of these classes gives."""
    perfect = Ranking(np.array([1.0, 0.0]), np.array([n_pos, 0]), np.array([0, n_neg]), n_pos + n_neg)
    return chance_level(spec, n_pos, n_neg), compute([spec], perfect).values[spec]


def describe_chance(one: Measure) -> str:
    """The declared level by chance; or, where it takes a recursion, that of an example. Empty where there is none."""
    if one.chance is not None:
        return f"{one.chance:g}" if isinstance(one.chance, float) else str(one.chance)
    if one.name not in _EXTREMES:
        return ""
    example = f"chance_level('{one.name}', 100, 900)"
    return f"{chance_level(one.name, 100, 900):.3f} for 100 positives among 1,000 cases ({example})"


def _log_choose(n: Any, k: Any) -> Any:
    from scipy.special import gammaln

    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def _shares(n: Any, good: Any, drawn: Any, k: Any) -> Any:
    """Probability of k good ones among those drawn (hypergeometric), 0 where it cannot be."""
    possible = (k >= 0) & (k <= good) & (drawn - k >= 0) & (drawn - k <= n - good)
    k = np.where(possible, k, np.maximum(0, drawn - (n - good)))
    logs = _log_choose(good, k) + _log_choose(n - good, drawn - k) - _log_choose(n, drawn)
    return np.where(possible, np.exp(logs), 0.0)


def _deviation(n: Any, good: Any, drawn: Any) -> Any:
    """Mean distance of the number of good ones from its mean (Diaconis & Zabell 1991)."""
    above = np.floor(drawn * good / n) + 1.0
    return 2.0 * above * np.maximum(n - good - drawn + above, 0.0) / n * _shares(n, good, drawn, above)


def _places(n: int) -> Floats:
    """Places 1 … n: all of a short list, of a long one ever fewer."""
    near = np.arange(1.0, min(n, 64) + 1.0)
    far = np.geomspace(64.0, n, int(math.log(n / 64.0) / math.log(_GRID)) + 2).round() if n > 64 else np.empty(0)
    return np.unique(np.concatenate([near, far]))


def _sum_over(places: Floats, values: Floats) -> float:
    """Σ over all places of values that are known at some of them and are smooth between these."""
    if len(places) == int(places[-1]):
        return float(values.sum())
    every = np.arange(1.0, places[-1] + 1.0)
    return float((np.interp(np.log(every), np.log(places), values * places) / every).sum())


def _mean_precision(n_pos: int, n_neg: int) -> float:
    """Mean precision at the places of the positives."""
    n = n_pos + n_neg
    harmonic = float(np.sum(1.0 / np.arange(1, n + 1)))
    return (harmonic + (n_pos - 1.0) / max(n - 1.0, 1.0) * (n - harmonic)) / n


def _largest_gap(n_pos: int, n_neg: int) -> float:
    """Mean of the largest TPR − FPR: by Spitzer's identity Σ E[gap after k places]⁺ / k."""
    n = n_pos + n_neg
    k = np.arange(1.0, n + 1.0)
    return float((_deviation(n, n_pos, k) / 2.0 / k).sum()) * (1.0 / n_pos + 1.0 / n_neg)


@lru_cache(maxsize=64)
def _largest_distance(n_pos: int, n_neg: int) -> float:
    """Mean of the largest |TPR − FPR|.

    For short lists from the number of paths that stay within each distance, row by row. For long ones Kolmogorov's
    limit √(π/2)·ln 2·√(1/n⁺ + 1/n⁻), with the correction that the one-sided maximum, known exactly, has to its own.
    """
    if n_pos * n_neg > _EXACT_PATHS:
        scale = math.sqrt(1.0 / n_pos + 1.0 / n_neg)
        limit = math.sqrt(math.pi / 2) * math.log(2) * scale
        return limit + _largest_gap(n_pos, n_neg) - math.sqrt(math.pi / 8) * scale
    distance = np.abs(np.arange(n_pos + 1)[:, None] * n_neg - np.arange(n_neg + 1) * n_pos)
    levels = np.unique(distance)
    paths = np.ones((len(levels), 1)) * (distance[0] <= levels[:, None])
    paths = np.cumprod(paths, axis=1)  # along the first row every step stays inside, or none after it does
    for row in distance[1:]:
        inside = row <= levels[:, None]
        paths = np.cumsum(paths * inside, axis=1) * inside
    within = paths[:, -1] / math.comb(n_pos + n_neg, n_pos)
    return float(levels[0] + np.diff(levels) @ (1.0 - within[:-1])) / (n_pos * n_neg)


@lru_cache(maxsize=64)
def _hull_area(n_pos: int, n_neg: int) -> float:
    """Mean area under the convex hull.

    Sides of the hull of a random path are as long as the cycles of a random permutation (Abramson et al. 2011), and two
    sides add half of what their vectors span. There are 1/(a·b) pairs of cycles of lengths a and b on average. With s
    cases in both, t of them positive, the span is s times the distance of the positives in a from their mean.
    """
    n, total = n_pos + n_neg, []
    sizes = _places(n)[1:]
    for s in sizes:
        spread = 9.0 * math.sqrt(s * n_pos / n * n_neg / n) + 9.0  # beyond nine standard deviations nothing is left
        middle = s * n_pos / n
        t = np.arange(max(0.0, s - n_neg, math.floor(middle - spread)), min(s, n_pos, math.ceil(middle + spread)) + 1.0)
        half = _places(int(s) // 2)  # a and s − a add the same
        mean = _shares(n, n_pos, s, t) @ (_deviation(s, t[:, None], half) * s / (half * (s - half)))
        total.append(2.0 * _sum_over(half, mean) - (float(mean[-1]) if s % 2 == 0 else 0.0))
    sums = np.array(total)
    if len(sizes) < n - 1:
        sums = np.interp(np.log(np.arange(2.0, n + 1.0)), np.log(sizes), sums)
    return 0.5 + 0.25 * float(sums.sum()) / (n_pos * n_neg)


def _part(n_pos: int, n_neg: int, fpr: float | None, tpr: float | None, standardized: bool) -> float:
    """Before the next negative, (i + 1)/(n⁻ + 1) of the positives are found on average."""
    span, size = partial_span(fpr, tpr), n_neg if tpr is None else n_pos
    whole = math.floor(span * size * (1.0 + 1e-12))
    area = (whole * (whole + 1.0) / 2.0 + (span * size - whole) * (whole + 1.0)) / (size * (size + 1.0))
    least = span * span / 2.0
    return 0.5 + 0.5 * (area - least) / (span - least) if standardized else area


@lru_cache(maxsize=64)
def _saved_costs(n_pos: int, n_neg: int, severity: float | None) -> float:
    """H-measure: at a cost c the best cut is the maximum of a path with steps 1 − c and −c (Spitzer's identity).

    What that is beyond the end of the path, the better trivial rule where c is below the share of positives, is the sum
    of the parts below 0: no digits cancel.
    """
    n = n_pos + n_neg
    share = n_pos / n
    a, b = (1.0 + share, 2.0 - share) if severity is None else (2.0, 1.0 + 1.0 / severity)
    node, weight = np.polynomial.legendre.leggauss(96)
    k, saved, trivial = _places(n), 0.0, 0.0
    for low, high in ((0.0, share), (share, 1.0)):  # the better trivial rule changes there
        c = (low + high) / 2.0 + (high - low) / 2.0 * node
        density = weight * (high - low) / 2.0 * c ** (a - 1.0) * (1.0 - c) ** (b - 1.0)
        excess, sign = np.empty((len(c), len(k))), 1.0 if low else -1.0
        for at, drawn in enumerate(k):
            hits = np.arange(max(0.0, drawn - n_neg), min(drawn, n_pos) + 1.0)
            beyond = np.maximum(sign * (hits - c[:, None] * drawn), 0.0)
            excess[:, at] = beyond @ _shares(n, n_pos, drawn, hits) / drawn
        saved += float(density @ np.array([_sum_over(k, row) for row in excess]))
        trivial += float(density @ np.minimum(c * n_neg, (1.0 - c) * n_pos))
    return saved / trivial


def _precision_area(n_pos: int, n_neg: int, zero_recall_precision: int, low: bool, high: bool) -> float:
    """Areas under precision–recall by trapezoids, from the lowest precision at a recall or to the highest.

    The lowest ones add up to n⁺(n⁺ − 1)/n + n⁺/n on average, the highest ones to n⁺ times the mean precision.
    """
    n = n_pos + n_neg
    lower = (n_pos - 1.0) / n
    upper = _mean_precision(n_pos, n_neg)
    ends = lower + 0.5 / n if not high else (lower + upper) / 2.0
    if not low:  # less half of the mean of 1/place of the last positive
        last = np.arange(n_pos, n + 1.0)
        chances = np.exp(_log_choose(last - 1.0, n_pos - 1.0) - _log_choose(n, n_pos))
        ends = upper - 0.5 * float(chances @ (1.0 / last))
    return ends + 0.5 * zero_recall_precision / (n if low else n_pos)  # a list may begin with a positive


# measures whose mean over all orders is not what they give for one tie
_EXTREMES: dict[str, Callable[..., float]] = {
    "max_youden_index": _largest_gap,
    "ks_statistic": _largest_distance,
    "auch": _hull_area,
    "partial_auc": _part,
    "h_measure": _saved_costs,
    "pr_auc_min": partial(_precision_area, low=True, high=False),
    "pr_auc_minmax": partial(_precision_area, low=True, high=True),
    "pr_auc_max": partial(_precision_area, low=False, high=True),
}

"""The passes over a ranking in NumPy, with the same names, arguments and sums as the compiled ones in ``passes``.

Groups run along the last axis, so one call serves a ranking or many replicates of it. Sums are running sums, which add
in order as a loop does: whole counts give the same bits as the compiled passes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Floats

_ONE_BY_ONE = 64
_ASYMPTOTIC = 32.0
_HULL_ROUNDS = 30


def ordered_sum(values: NDArray[Any]) -> Any:
    """The sum along the groups, in order."""
    return np.cumsum(values, axis=-1)[..., -1] if values.shape[-1] else np.zeros(values.shape[:-1], values.dtype)


def _before(values: NDArray[Any], first: Any) -> NDArray[Any]:
    """What comes before each group, added up."""
    summed = first + np.cumsum(values, axis=-1)
    start = np.broadcast_to(np.asarray(first, summed.dtype), (*values.shape[:-1], 1))
    return np.concatenate((start, summed[..., :-1]), axis=-1)


def _ratio(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    return np.asarray(np.divide(a, b, out=np.zeros(np.broadcast(a, b).shape), where=b > 0))


def last_positive_group(pos: NDArray[Any], neg: NDArray[Any]) -> tuple[float, float]:
    """Cases up to the last group with a positive, and the positives in it."""
    there = np.flatnonzero(pos > 0)
    if not len(there):
        return 0.0, 0.0
    last = int(there[-1])
    return float(ordered_sum(pos[: last + 1] + neg[: last + 1])), float(pos[last])


def sum_pairs(pos: NDArray[Any], neg: NDArray[Any], a0: Any, n_pos: Any, out: Floats) -> None:
    """Twice the pairs won, and won less lost pairs."""
    pos, neg = _widened(pos), _widened(neg)
    won = ordered_sum(neg * (2 * _before(pos, a0) + pos))
    out[..., 0], out[..., 1] = won, won - n_pos * ordered_sum(neg)


def _widened(counts: NDArray[Any]) -> NDArray[Any]:
    return counts.astype(np.int64) if counts.dtype.kind in "iu" else counts


def sum_gaps(pos: NDArray[Any], neg: NDArray[Any], a0: Any, b0: Any, n_pos: Any, n_neg: Any, out: Floats) -> None:
    """The extreme gaps between the cumulative shares."""
    start = np.asarray(a0 * n_neg - b0 * n_pos)
    steps = _widened(pos) * np.asarray(n_neg)[..., None] - _widened(neg) * np.asarray(n_pos)[..., None]
    gap = np.cumsum(np.concatenate((np.broadcast_to(start[..., None], (*steps.shape[:-1], 1)), steps), -1), axis=-1)
    out[..., 0], out[..., 1] = gap.max(axis=-1), gap.min(axis=-1)


def sum_precision(
    pos: NDArray[Any], neg: NDArray[Any], a0: float, b0: float, end0: float, step0: float, out: Floats
) -> None:
    """Steps and trapezoids under the precision–recall points."""
    p = pos.astype(np.float64)
    there, m, a = p > 0, p + neg, _before(p, a0)
    n = _before(m, a0 + b0)
    places = np.broadcast_to(np.arange(p.shape[-1]), p.shape)
    latest = np.maximum.accumulate(np.where(there, places, -1), axis=-1)
    earlier = np.concatenate((np.full((*p.shape[:-1], 1), -1), latest[..., :-1]), axis=-1)  # the positive group before
    at = np.maximum(earlier, 0)
    end = np.where(earlier < 0, end0, np.take_along_axis(n + m, at, axis=-1))
    step = np.where(earlier < 0, step0, np.take_along_axis(p, at, axis=-1))
    least, most, here = _ratio(a, n), _ratio(a, end), _ratio(a + p, n + m)
    out[..., 0] = ordered_sum(p * here)
    out[..., 1] = 0.5 * ordered_sum(np.where(there, least * (step + p), 0.0))
    out[..., 2] = 0.5 * ordered_sum((least + here) * p)
    out[..., 3] = 0.5 * ordered_sum((most + here) * p)
    first = there & (earlier < 0) & (end0 == 0)
    out[..., 4] = ordered_sum(np.where(first, p, 0.0))
    out[..., 5] = ordered_sum(np.where(first & (n == 0), p, 0.0))
    last = latest[..., -1:] if p.shape[-1] else np.full((*p.shape[:-1], 1), -1)
    out[..., 6] = step0
    if p.shape[-1]:
        out[..., 6] = np.where(last < 0, step0, np.take_along_axis(p, np.maximum(last, 0), axis=-1))[..., 0]


def _harmonic(n: NDArray[np.int64], m: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Σ 1/(n+k) and Σ k/(n+k) for k = 1 … m: short sums term by term, the rest of long ones by Euler–Maclaurin."""
    inverse, share = np.zeros(len(n)), np.zeros(len(n))
    left = np.flatnonzero(m >= 1)
    k = 1
    later: list[tuple[NDArray[np.intp], int]] = []  # groups whose sum goes on in closed form, and from which k
    while len(left):
        short = (m[left] <= _ONE_BY_ONE) | (n[left] + k < _ONE_BY_ONE)
        later.append((left[~short], k))
        left = left[short]
        inverse[left] += 1.0 / (n[left] + k)
        share[left] += k / (n[left] + k)
        k += 1
        left = left[m[left] >= k]
    for at, k in later:
        if not len(at):
            continue
        low, high = (n[at] + k).astype(np.float64), (n[at] + m[at]).astype(np.float64)
        z = (m[at] - k) / low
        log = np.log1p(z)
        inverse[at] += log + 0.5 * (1 / low + 1 / high) + (1 / low**2 - 1 / high**2) / 12
        inverse[at] -= (1 / low**4 - 1 / high**4) / 120
        rest = _bend(z, log)
        share[at] += k * z + n[at] * rest + 0.5 * (k / low + m[at] / high) + n[at] * (1 / high**2 - 1 / low**2) / 12
        share[at] -= n[at] * (1 / high**4 - 1 / low**4) / 120
    return inverse, share


def _bend(z: Floats, log: Floats) -> Floats:
    """z − log(1+z), by its series where that would cancel."""
    small = np.minimum(z, 0.05)
    series = sum((1.0 if j % 2 == 0 else -1.0) * small**j / j for j in range(2, 14))
    return np.where(z < 0.05, series, z - log)


def _tail(x: Floats) -> Floats:
    z = 1.0 / (x * x)
    return np.asarray(-0.5 / x - z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z / 240))))


def harmonic_steps(n: Floats, m: Floats) -> tuple[Floats, Floats]:
    """Σ 1/(n+k) and Σ k/(n+k) for k = 1 … m, carried on to n and m that are not whole."""
    x, inverse = n + 1.0, np.zeros(np.broadcast(n, m).shape)
    near = x < _ASYMPTOTIC
    while (below := x < _ASYMPTOTIC).any():
        inverse = np.where(below, inverse + m / (x * (x + m)), inverse)
        x = np.where(below, x + 1.0, x)
    z = m / x
    log, bend = np.log1p(z), _tail(x + m) - _tail(x)
    inverse = inverse + (log + bend)
    return inverse, np.where(near, m - n * inverse, x * _bend(z, log) + log - n * bend)


def sum_places(
    pos: NDArray[Any],
    neg: NDArray[Any],
    a0: Any,
    b0: Any,
    n_pos: Any,
    cases: Any,
    whole: bool,
    harmonic: Floats,
    out: Floats,
) -> None:
    """Sums over the places of the list; a place inside a tie holds its share of positives."""
    p, m = (pos.astype(np.int64), (pos + neg).astype(np.int64)) if whole else (pos, pos + neg)
    a, n = _before(p, a0), _before(m, a0 + b0)
    share = p / np.where(m > 0, m, 1)
    total = np.asarray(cases)[..., None]
    if not whole:
        rates = np.where(m > 0, a * (steps := harmonic_steps(n, m))[0] + share * steps[1], 0.0)
    elif len(harmonic) > np.max(cases):
        inverse = harmonic[n + m] - harmonic[n]
        rates = a * inverse + share * (m - n * inverse)
    else:
        inverse, rising = _harmonic(n, m)
        rates = a * inverse + share * rising
    middle = total - n - 0.5 * (m - 1)
    out[..., 0], out[..., 1] = ordered_sum(share * rates), ordered_sum(rates)
    out[..., 3] = ordered_sum(p * (middle * middle + (m * m - 1) * (1.0 / 12.0)))
    full = np.asarray(n_pos)[..., None]
    inside = (n < full) & (n + m >= full)  # the group in which place n⁺ lies
    first = np.where(inside, full - n, 0)
    top = ordered_sum(np.where(n + m < full, p, 0)).astype(np.float64)
    out[..., 4] = top + ordered_sum(np.where(inside, share * first, 0.0))
    partly = (m - first + 1) * (a + share * 0.5 * (first + m))
    found = np.where(inside, partly, np.where(n >= full, m * a + 0.5 * p * (m + 1), 0.0))
    out[..., 2] = ordered_sum(found)


def sum_losses(
    score: NDArray[Any],
    log_p: Floats,
    log_q: Floats,
    pos: NDArray[Any],
    neg: NDArray[Any],
    options: tuple[float, float, float],
    totals: tuple[Any, Any],
    out: Floats,
) -> None:
    """Losses of scores read as probabilities, and of scores read as distances."""
    log_eps, gamma, prior = options
    a, b, p = (column.astype(np.float64) for column in (pos, neg, score))
    with np.errstate(all="ignore"):
        q = 1.0 - p
        of_pos = a * np.where(log_p > log_eps, log_p, log_eps)
        of_neg = b * np.where(log_q > log_eps, log_q, log_eps)
        out[..., 0], out[..., 1] = ordered_sum(a * q + b * p), ordered_sum(a * q * q + b * p * p)
        out[..., 2], out[..., 3] = ordered_sum(of_pos), ordered_sum(of_neg)
        if gamma == 2.0:
            out[..., 4], out[..., 5] = ordered_sum(of_pos * q * q), ordered_sum(of_neg * p * p)
        else:
            out[..., 4] = ordered_sum(of_pos * np.maximum(q, 0.0) ** gamma)
            out[..., 5] = ordered_sum(of_neg * np.maximum(p, 0.0) ** gamma)
        out[..., 6], out[..., 7] = ordered_sum(a * np.maximum(q, 0.0)), ordered_sum(b * np.maximum(1.0 + p, 0.0))
        if prior != prior:  # both shares from the counts: 1 − prior would lose a rare class's digits
            n_pos, n_neg = (np.asarray(total, dtype=np.float64) for total in totals)
            share = n_pos / (n_pos + n_neg)
            log_prior, log_other = -_log1p(n_neg / n_pos), -_log1p(n_pos / n_neg)
        else:
            share = np.asarray(prior)
            log_prior, log_other = np.asarray(_log(prior)), np.asarray(-math.inf if prior >= 1 else math.log1p(-prior))
        above = p >= share[..., None]
        gained = ordered_sum(np.where(above, (a - b) * (log_p - log_prior[..., None]), 0.0))
        out[..., 8] = gained - ordered_sum(np.where(above, 0.0, (a - b) * (log_q - log_other[..., None])))


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _log1p(x: Floats) -> Floats:
    """log(1+x) one by one, by the same function as in compiled code."""
    values = [math.log1p(v) if v == v else v for v in np.ravel(x).tolist()]
    return np.array(values).reshape(np.shape(x))


def hull_of_groups(pos: NDArray[Any], neg: NDArray[Any], a0: Any, b0: Any) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Vertices of the upper convex hull of the ROC points."""
    x, y = np.append(_before(neg, b0), b0 + neg.sum()), np.append(_before(pos, a0), a0 + pos.sum())
    there = np.append(np.append(True, pos[:-1] > 0), True) if len(pos) else np.array([True])
    x, y = x[there], y[there]
    x, y, _ = upper_hulls(x, y, np.zeros(len(x), np.intp))
    return x, y, len(x)


def upper_hulls(x: NDArray[Any], y: NDArray[Any], chain: NDArray[np.intp]) -> tuple[NDArray[Any], ...]:
    """The vertices of the upper hulls of chains of points that lie one behind the other; ``chain`` numbers them.

    A point under the chord of its neighbours is no vertex, whatever becomes of them: all such go at once, round by
    round. What is still bent after many rounds is short, and is finished point by point.
    """
    for _ in range(_HULL_ROUNDS):
        dx, dy = np.diff(x), np.diff(y)
        under = (dx[:-1] * dy[1:] >= dy[:-1] * dx[1:]) & (chain[:-2] == chain[2:])
        if not under.any():
            return x, y, chain
        keep = np.flatnonzero(np.append(np.append(True, ~under), True))
        x, y, chain = x[keep], y[keep], chain[keep]
    top: list[int] = []
    for i in range(len(x)):
        while len(top) > 1:
            j, k = top[-2:]
            if chain[j] != chain[i] or (x[k] - x[j]) * (y[i] - y[k]) < (y[k] - y[j]) * (x[i] - x[k]):
                break
            top.pop()
        top.append(i)
    return x[top], y[top], chain[top]


def twice_area(x: NDArray[Any], y: NDArray[Any], used: int) -> Any:
    """Twice the area under a chain of points, by trapezoids."""
    return ordered_sum(np.diff(x[:used]) * (y[1:used] + y[: used - 1]))


def cut_at_quotas(
    score: NDArray[Any],
    pos: NDArray[Any],
    neg: NDArray[Any],
    start: tuple[float, float],
    totals: tuple[Any, Any],
    scale: float,
    moments: Floats,
    quotas: Floats,
    is_last: bool,
    out: Floats,
) -> None:
    """For each quota that ends in this piece: the four cells, and the spread of score and outcome.

    One group after the other, as running moments must be; of many replicates at once (``quotas`` and ``out`` then have
    a row for each, ``moments`` a column).
    """
    a, b = (np.full(pos.shape[:-1], float(side)) for side in start)
    n = a + b
    weighted = bool(np.isnan(totals[0]).any())
    ended = quotas <= n[..., None]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        for g in range(pos.shape[-1]):
            if ended.all() and not weighted:
                break
            p, q = pos[..., g].astype(np.float64), neg[..., g].astype(np.float64)
            m = p + q
            if weighted:
                out[..., 2] += np.where(ended, p[..., None], 0.0)
                out[..., 3] += np.where(ended, q[..., None], 0.0)
            there = m > 0
            share = np.where(there, p / m, 0.0)
            value = scale * float(score[g])
            by_score, by_outcome = value - moments[0], share - moments[1]
            ends = ~ended & there[..., None] & (quotas <= (n + m)[..., None])
            for k in np.flatnonzero(ends.reshape(-1, ends.shape[-1]).any(axis=0)).tolist():
                part = quotas[..., k] - n
                hits = np.where(part < m, a + share * part, a + p)
                misses = np.where(part < m, (n + part) - hits, b + q)
                rests = (totals[0] - hits, totals[1] - misses)
                if weighted:
                    rests = (
                        np.where(part < m, p - share * part, 0.0),
                        np.where(part < m, np.maximum(q - (part - share * part), 0.0), 0.0),
                    )
                spreads = _spreads(moments, by_score, by_outcome, n / (n + part) * part)
                for column, found in enumerate((hits, misses, *rests, *spreads)):
                    out[..., k, column] = np.where(ends[..., k], found, out[..., k, column])
            ended = ended | ends
            spreads = _spreads(moments, by_score, by_outcome, n / (n + m) * m)
            moments[0] = np.where(there, moments[0] + by_score * (m / (n + m)), moments[0])
            moments[1] = np.where(there, moments[1] + by_outcome * (m / (n + m)), moments[1])
            for k, spread in enumerate(spreads):
                moments[2 + k] = np.where(there, spread, moments[2 + k])
            a, b, n = a + p, b + q, n + m
    if is_last:
        everybody = ~ended & (quotas <= n[..., None] * (1.0 + 1e-9))
        for column, found in enumerate((a, b, 0.0 * a, 0.0 * b, *moments[2:])):
            out[..., column] = np.where(everybody, np.asarray(found)[..., None], out[..., column])


def _spreads(moments: Floats, by_score: Any, by_outcome: Any, shrink: Any) -> tuple[Any, Any, Any]:
    return (
        moments[2] + by_score * by_score * shrink,
        moments[3] + by_outcome * by_outcome * shrink,
        moments[4] + by_score * by_outcome * shrink,
    )


def add_moments(
    score: NDArray[Any], pos: NDArray[Any], neg: NDArray[Any], n0: float, scale: float, moments: Floats
) -> None:
    """Add groups to the means and co-moments of score and outcome."""
    m = (pos + neg).astype(np.float64)
    there = m > 0
    m, value, share = m[there], scale * score[there].astype(np.float64), pos[there] / m[there]
    if not len(m):
        return
    with np.errstate(all="ignore"):  # infinite scores have no spread: nan, which is not read
        means = np.array([(m * value).sum(), (m * share).sum()]) / m.sum()
        by_score, by_outcome = value - means[0], share - means[1]
        spreads = [(m * u * v).sum() for u, v in ((by_score,) * 2, (by_outcome,) * 2, (by_score, by_outcome))]
        moments[:] = merged_moments(n0, moments, m.sum(), np.array([*means, *spreads]))


def merged_moments(n: float, one: Floats, m: float, two: Floats) -> Floats:
    """Moments (two means, squared deviations of each, their products) of two sets of cases together."""
    if n == 0 or m == 0:
        return two.copy() if n == 0 else one.copy()
    by_score, by_outcome = two[0] - one[0], two[1] - one[1]
    share, shrink = m / (n + m), n / (n + m) * m
    return np.array(
        [
            one[0] + by_score * share,
            one[1] + by_outcome * share,
            one[2] + two[2] + by_score * by_score * shrink,
            one[3] + two[3] + by_outcome * by_outcome * shrink,
            one[4] + two[4] + by_score * by_outcome * shrink,
        ]
    )


def harmonic_table(n: int) -> Floats:
    """Σ 1/j for j up to each of 0 … n."""
    return np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, n + 1))))

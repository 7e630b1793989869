"""The passes in plain NumPy: what the compiled ones mean, and what the tests compare them with, bit by bit.

Groups run along the last axis, so one call serves a ranking or many replicates of it. Sums are running sums, which add
in order as a loop does.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutline.kernels.layout import AT, CUT, FIELDS, LOSSES, PARTS, SLICE, Drawing, KernelRequest, Rows, merged_moments
from cutline.ranking import tie_starts
from cutline.types import Floats

OPEN, TOP, SCORES, POS, NEG, GROUPS, FIRST = range(7)  # the block that a stream carries from batch to batch
DRAWS_PER_NUMBER = 4  # Poisson weights from one random number of 64 bits

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


def sum_groups(pos: NDArray[Any], neg: NDArray[Any], out: Floats) -> None:
    """Positives, negatives, the cases up to the last group with a positive, and the positives in it."""
    there = np.flatnonzero(pos > 0)
    last = int(there[-1]) if len(there) else -1
    out[:2] = ordered_sum(pos), ordered_sum(neg)
    out[2:] = ordered_sum(pos[: last + 1] + neg[: last + 1]), pos[last] if last >= 0 else 0.0


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
    harmonic: Floats,
    out: Floats,
) -> None:
    """Sums over the places of the list; a place inside a tie holds its share of positives."""
    whole = pos.dtype.kind in "iu"
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
    twice = np.where(n >= full, m * (a + a) + p * (m + 1), 0)
    out[..., 2] = ordered_sum(np.where(inside, partly, 0.0)) + 0.5 * ordered_sum(twice)


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


def split(score: NDArray[Any], positive: NDArray[np.bool_], n_pos: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Scores of the positives and of the negatives."""
    return score[positive], score[~positive]


def merge_sorted(
    pos: NDArray[Any], neg: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int32], int]:
    """Two ascending arrays into descending groups of equal score."""
    both = np.sort(np.concatenate((pos, neg)))[::-1]
    score = both[tie_starts(both)]
    sides = [len(side) - np.searchsorted(side, score, side="left") for side in (pos, neg)]
    n_pos, n_neg = (np.diff(side, prepend=0).astype(np.int32) for side in sides)
    return score, n_pos, n_neg, len(score)


def group_weighted(
    score: NDArray[Any], positive: NDArray[np.bool_], weight: NDArray[np.float64], order: NDArray[np.intp]
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64], int]:
    """Weights summed over equal scores, from an ascending order of the rows, best first."""
    falling = order[::-1]
    value = score[falling]
    starts = tie_starts(value)
    sides = [np.where(side, weight, 0.0)[falling] for side in (positive, ~positive)]
    pos, neg = (np.add.reduceat(side, starts) for side in sides)
    return value[starts], pos, neg, len(starts)


_TOGETHER = 2**16  # counts that are summed together: what stays near the processor
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One step of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def seeded(seed: int) -> NDArray[np.uint64]:
    """A start that differs for neighbouring seeds."""
    return mix(np.array([seed], np.uint64) * GOLDEN + np.uint64(1))


def draw(counts: NDArray[np.uint16], start: int, size: int, seed: int, streams: Any) -> None:
    """Draw ``size`` units with replacement, for each of many replicates (a row of ``counts``, and its stream)."""
    base = seeded(seed) + np.atleast_1d(np.asarray(streams, np.uint64)) * GOLDEN
    s0, s1, s2, s3 = (mix(base + np.array([k], np.uint64) * GOLDEN) for k in (1, 2, 3, 4))
    drawn = np.empty((size + 1, len(base)), np.int64)
    for done in range(0, size, 2):
        total = s0 + s3
        value = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
        shifted = s1 << np.uint64(17)
        s2 = s2 ^ s0
        s3 = s3 ^ s1
        s1 = s1 ^ s2
        s0 = s0 ^ s3
        s2 = s2 ^ shifted
        s3 = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
        drawn[done] = ((value & np.uint64(0xFFFFFFFF)) * np.uint64(size)) >> np.uint64(32)
        drawn[done + 1] = ((value >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32)
    rows = np.arange(len(base)) * size
    found = np.bincount((drawn[:size] + rows).ravel(), minlength=len(base) * size)
    np.atleast_2d(counts)[:, start : start + size] += found.reshape(len(base), size).astype(np.uint16)


def accumulate(counts: NDArray[np.uint16], rows: Rows, a: NDArray[Any], b: NDArray[Any]) -> None:
    """Counts (times weights) of the rows of each tie group."""
    n_pos = int(rows.pos.sum())
    times: NDArray[Any] = counts[..., rows.unit] if len(rows.unit) else counts[..., : n_pos + int(rows.neg.sum())]
    times = times * rows.weight if len(rows.weight) else times.astype(np.int64)
    for side, sizes, into in ((times[..., :n_pos], rows.pos, a), (times[..., n_pos:], rows.neg, b)):
        ends = np.cumsum(sizes)
        running = np.concatenate((np.zeros((*side.shape[:-1], 1), side.dtype), np.cumsum(side, axis=-1)), axis=-1)
        into[...] = running[..., ends] - running[..., ends - sizes]


def sum_replicate(a: NDArray[Any], b: NDArray[Any], wanted: KernelRequest, out: Floats) -> None:
    """The vectors of sums of reweighted rankings, one in each row of ``a``, ``b`` and ``out``."""
    whole = a.dtype.kind in "iu"
    kind: Any = np.int64 if whole else np.float64
    a, b = np.atleast_2d(a).astype(kind), np.atleast_2d(b).astype(kind)
    out = np.atleast_2d(out)
    step = max(1, _TOGETHER // max(a.shape[-1], 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        for first in range(0, len(a), step):
            span = slice(first, first + step)
            _sum_along(a[span], b[span], wanted, out[span])
        # what goes group by group takes all replicates at once
        if wanted.parts[list(PARTS).index("hull")]:
            out[:, AT["hull_area"]] = 0.5 * _twice_hull_areas(a, b)
        if len(wanted.quotas):
            at = len(FIELDS) + len(LOSSES) * len(wanted.losses) + len(CUT) * len(wanted.above)
            _cut(a, b, whole, wanted, out[:, at:])


def _sum_along(a: NDArray[Any], b: NDArray[Any], wanted: KernelRequest, out: Floats) -> None:
    """The sums that are taken along the groups."""
    n_pos, n_neg = ordered_sum(a), ordered_sum(b)
    cases, zero = n_pos + n_neg, 0 if a.dtype.kind in "iu" else 0.0
    out[:, 0], out[:, 1], out[:, 2] = n_pos, n_neg, cases
    wished = dict(zip(PARTS, wanted.parts.tolist(), strict=True))
    if wished["pairs"]:
        sum_pairs(a, b, zero, n_pos, out[:, SLICE["pairs"]])
    if wished["gaps"]:
        sum_gaps(a, b, zero, zero, n_pos, n_neg, out[:, SLICE["gaps"]])
    if wished["precision"]:
        sum_precision(a, b, 0.0, 0.0, 0.0, 0.0, out[:, SLICE["precision"]])
        out[:, AT["pr_lower"]] += 0.5 * out[:, AT["last_step"]] * (n_pos / (n_pos + n_neg))
    if wished["places"]:
        sum_places(a, b, zero, zero, n_pos, cases, wanted.harmonic, out[:, SLICE["places"]])
    at = len(FIELDS)
    for options in wanted.losses.tolist():
        into = out[:, at : at + len(LOSSES)]
        sum_losses(wanted.score, wanted.log_p, wanted.log_q, a, b, options, (n_pos, n_neg), into)
        at += len(LOSSES)
    for above in wanted.above.tolist():
        for k, side in enumerate((a[:, :above], b[:, :above], a[:, above:], b[:, above:])):
            out[:, at + k] = ordered_sum(side)
        at += len(CUT)


def _cut(a: NDArray[Any], b: NDArray[Any], whole: bool, wanted: KernelRequest, out: Floats) -> None:
    n_pos, n_neg = (ordered_sum(side).astype(np.float64) for side in (a, b))
    cuts = np.full((len(a), len(wanted.quotas), len(CUT)), np.nan)
    quotas = wanted.quotas * ((n_pos + n_neg) / wanted.cases)[:, None]
    totals = (n_pos, n_neg) if whole else (np.nan * n_pos, np.nan * n_neg)
    moments = np.zeros((5, len(a)))
    cut_at_quotas(wanted.score, a, b, (0.0, 0.0), totals, wanted.scale, moments, quotas, True, cuts)
    out[:] = cuts.reshape(len(a), -1)


def _twice_hull_areas(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Twice the area under the hull of each row's ROC points, in counts."""
    n, groups = a.shape
    x, y = (np.concatenate((np.zeros((n, 1), a.dtype), np.cumsum(side, axis=-1)), axis=-1) for side in (b, a))
    there = np.concatenate((np.ones((n, 1), np.bool_), a > 0), axis=-1)
    there[:, -1] = True
    chain = np.repeat(np.arange(n), groups + 1).reshape(n, -1)
    hx, hy, of = upper_hulls(x[there], y[there], chain[there])
    steps = np.where(of[1:] == of[:-1], np.diff(hx) * (hy[1:] + hy[:-1]), 0)
    first = np.searchsorted(of, np.arange(n))
    running = np.concatenate(([0], np.cumsum(steps)))
    return np.asarray(running[np.append(first[1:], len(of)) - 1] - running[first])


def resample(
    first: int,
    last: int,
    drawing: Drawing,
    rows: Rows,
    wanted: KernelRequest,
    a: Any,
    b: Any,
    out: Floats,
    stop: Any,
) -> None:
    """Replicates ``first`` to ``last``, each drawn within the strata of the units."""
    counts = np.zeros((last - first, drawing.n_units), np.uint16)
    numbers = np.arange(first, last) * len(drawing.strata)
    for s, (start, size) in enumerate(drawing.strata.tolist()):
        draw(counts, start, size, drawing.seed, numbers + s)
    _sum_all(counts, rows, wanted, a, out[first:last])


def leave_out(
    first: int, last: int, block: Any, rows: Rows, wanted: KernelRequest, a: Any, b: Any, out: Floats, stop: Any
) -> None:
    """The sums without each block of units in turn."""
    counts = (np.arange(first, last)[:, None] != block).astype(np.uint16)
    _sum_all(counts, rows, wanted, a, out[first:last])


def _sum_all(counts: NDArray[np.uint16], rows: Rows, wanted: KernelRequest, a: Any, out: Floats) -> None:
    both = np.empty((2, len(counts), len(a)), a.dtype)
    accumulate(counts, rows, both[0], both[1])
    sum_replicate(both[0], both[1], wanted, out)


def group_groups(
    score: Floats, pos: NDArray[Any], neg: NDArray[Any], is_open: bool, out_score: Any, out_pos: Any, out_neg: Any
) -> int:
    """Groups in falling order, equal neighbours joined; the open group is at place 0 of ``out``."""
    return _grouped(score, pos, neg, is_open, out_score, out_pos, out_neg, np.zeros(len(score) + 1, np.int64))


def group_rows(
    score: Floats,
    positive: NDArray[Any],
    weight: Floats | None,
    is_open: bool,
    out_score: Any,
    out_pos: Any,
    out_neg: Any,
    rows: Any,
) -> int:
    """Rows in falling order into groups of equal score; they count 1, or by weight."""
    is_positive = positive.astype(np.bool_)
    each = np.ones(len(score), out_pos.dtype) if weight is None else weight
    pos, neg = np.where(is_positive, each, 0), np.where(is_positive, 0, each)
    return _grouped(score, pos, neg, is_open, out_score, out_pos, out_neg, rows)


def _grouped(
    score: Floats,
    pos: NDArray[Any],
    neg: NDArray[Any],
    is_open: bool,
    out_score: Any,
    out_pos: Any,
    out_neg: Any,
    rows: Any,
) -> int:
    before = np.concatenate((out_score[:1] if is_open else [np.inf], score[:-1]))
    same = score == before
    if not is_open:
        same[0] = False
        before[0] = np.inf
    rises = np.flatnonzero(~same & ~(score < before) & ((np.arange(len(score)) > 0) | is_open))
    if len(rises):
        return -1 - int(rises[0])
    starts = np.flatnonzero(~same)
    first = 1 if is_open else 0  # place of the first group that begins in this batch
    joins = int(starts[0]) if len(starts) else len(score)  # rows that belong to the open group
    if is_open:
        out_pos[0] += pos[:joins].sum()
        out_neg[0] += neg[:joins].sum()
        rows[0] = joins
    used = first + len(starts)
    if len(starts):
        out_score[first:used] = score[starts]
        out_pos[first:used] = np.add.reduceat(pos, starts)
        out_neg[first:used] = np.add.reduceat(neg, starts)
        rows[first:used] = np.diff(np.append(starts, len(score)))
    return used


def into_blocks(
    score: Floats,
    pos: NDArray[Any],
    neg: NDArray[Any],
    start: float,
    totals: Floats,
    tolerance: float,
    marks: Floats,
    cuts: Floats,
    state: Floats,
    out: Floats,
    block: NDArray[np.int64],
) -> int:
    """Neighbouring groups into blocks. Whether a block can reach a group is searched, not tried group by group."""
    n_pos, n_neg = (float(total) for total in totals)
    total = n_pos + n_neg
    hits, misses = (np.concatenate(([0.0], np.cumsum(side, dtype=np.float64))) for side in (pos, neg))
    seen = start + hits + misses
    passed = np.searchsorted(marks, seen, side="right")
    marked = passed[1:] > passed[:-1]
    next_mark = np.append(np.flatnonzero(marked), len(score))
    scores = score * (pos + neg)
    falling = -cuts

    def too_far(k: int, g: int, before: float, a: float, b: float, limit: float | None) -> bool:
        """Whether the block with ``a`` positives and ``b`` negatives before group g cannot reach to group k."""
        a, b = a + hits[k + 1] - hits[g], b + misses[k + 1] - misses[g]
        size = a + b
        fits = size <= tolerance * min(before, total - before - size)
        fits = fits and a <= tolerance * n_pos and b <= tolerance * n_neg
        return not (fits and (limit is None or score[k] > limit))

    done = g = 0
    while g < len(score):
        end = g
        if state[OPEN] > 0:
            cut = int(np.searchsorted(falling, -state[TOP], side="right"))  # the first cut under the block
            limit = float(cuts[cut]) if cut < len(cuts) else None
            before, a, b = state[[FIRST, POS, NEG]].tolist()
            beyond = partial(too_far, g=g, before=before, a=a, b=b, limit=limit)
            last = int(next_mark[np.searchsorted(next_mark, g)])
            if g < last and not beyond(g):
                end = bisect_left(range(last), True, lo=g, key=beyond)
        if end > g:
            _grow(state, g, end, scores, hits, misses)
            block[g:end] = done
        if end < len(score):
            if state[OPEN] > 0:
                out[done] = state[TOP : GROUPS + 1]
                done += 1
            state[[OPEN, TOP, SCORES, POS, NEG, GROUPS]] = 1.0, score[end], 0.0, 0.0, 0.0, 0.0
            state[FIRST] = -np.inf if marked[end] else seen[end]  # a marked group stays alone
            _grow(state, end, end + 1, scores, hits, misses)
            block[end] = done
        g = end + 1
    return done


def _grow(state: Floats, first: int, end: int, scores: Floats, hits: Floats, misses: Floats) -> None:
    state[SCORES] += scores[first:end].sum()
    state[POS] += hits[end] - hits[first]
    state[NEG] += misses[end] - misses[first]
    state[GROUPS] += end - first


def placement_moments(
    pos: NDArray[Any], neg: NDArray[Any], a0: Any, b0: Any, n_pos: Any, n_neg: Any
) -> tuple[float, float, float, float]:
    """Mean and squared deviations of DeLong's placements of a piece's positives, and of its negatives."""
    a, b = a0 + np.cumsum(pos) - pos, b0 + np.cumsum(neg) - neg
    found: list[float] = []
    for many, value in ((pos, (n_neg - b - 0.5 * neg) / n_neg), (neg, (a + 0.5 * pos) / n_pos)):
        cases = float(many.sum())
        mean = float((many * value).sum()) / cases if cases > 0 else 0.0
        found += [mean, float((many * (value - mean) ** 2).sum())]
    return found[0], found[1], found[2], found[3]


def draw_rows(
    row: NDArray[np.int64],
    positive: NDArray[Any],
    weight: Floats,
    rows: NDArray[np.int64],
    place: NDArray[np.int64],
    seed: int,
    table: NDArray[np.uint8],
    first: int,
    last: int,
    counts: NDArray[Any],
) -> None:
    """Add each row's Poisson weights in the replicates ``first`` to ``last`` to its block's counts."""
    key = mix(seeded(seed) + row.astype(np.uint64) * GOLDEN)
    line = 2 * np.repeat(place, rows) + np.where(positive.astype(np.bool_), 0, 1)
    order = np.argsort(line, kind="stable")
    starts = np.flatnonzero(np.diff(line[order], prepend=-1))
    into = counts.reshape(-1, counts.shape[2])
    numbers = mix(key[order, None] + np.arange(first + 1, last + 1, DRAWS_PER_NUMBER, dtype=np.uint64) * GOLDEN)
    for k in range(DRAWS_PER_NUMBER):
        drawn: NDArray[Any] = table[(numbers >> np.uint64(16 * k)) & np.uint64(0xFFFF)].astype(counts.dtype)
        if len(weight):
            drawn = drawn * weight[order, None]
        into[line[order][starts], first + k : last : DRAWS_PER_NUMBER] += np.add.reduceat(drawn, starts)

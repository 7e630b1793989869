"""The compiled passes: splitting, merging into tie groups, and the sums over a ranking.

Imported at first use only, because numba takes a moment to load. Every kernel over a ranking walks its groups best
first and carries the positives and negatives seen before, so that a piece of a ranking can be summed on its own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import inlined, kernel

_SUM_ONE_BY_ONE = 64


@kernel
def split(score: NDArray[Any], positive: NDArray[np.bool_], n_pos: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Scores of the positives and of the negatives."""
    pos = np.empty(n_pos + 1, score.dtype)  # one spare place each: both are written at every step, without a branch
    neg = np.empty(len(score) - n_pos + 1, score.dtype)
    p = 0
    q = 0
    for i in range(len(score)):
        pos[p] = score[i]
        neg[q] = score[i]
        p += positive[i]
        q += not positive[i]
    return pos[:-1], neg[:-1]


@kernel
def merge_sorted(
    pos: NDArray[Any], neg: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int32], int]:
    """Two ascending arrays into descending groups of equal score."""
    n = len(pos) + len(neg)
    score = np.empty(n, pos.dtype)
    n_pos = np.empty(n, np.int32)
    n_neg = np.empty(n, np.int32)
    p = len(pos) - 1
    q = len(neg) - 1
    used = 0
    while p >= 0 or q >= 0:
        value = pos[p] if p >= 0 and (q < 0 or pos[p] >= neg[q]) else neg[q]
        before = p
        while p >= 0 and pos[p] == value:
            p -= 1
        positives = before - p
        before = q
        while q >= 0 and neg[q] == value:
            q -= 1
        score[used] = value
        n_pos[used] = positives
        n_neg[used] = before - q
        used += 1
    return score, n_pos, n_neg, used


@kernel
def group_weighted(
    score: NDArray[Any], positive: NDArray[np.bool_], weight: NDArray[np.float64], order: NDArray[np.intp]
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64], int]:
    """Weights summed over equal scores, from an ascending order of the rows, best first."""
    n = len(order)
    value = np.empty(n, score.dtype)
    pos = np.empty(n, np.float64)
    neg = np.empty(n, np.float64)
    used = -1
    for k in range(n - 1, -1, -1):
        i = order[k]
        if used < 0 or score[i] != value[used]:
            used += 1
            value[used] = score[i]
            pos[used] = 0.0
            neg[used] = 0.0
        if positive[i]:
            pos[used] += weight[i]
        else:
            neg[used] += weight[i]
    return value, pos, neg, used + 1


@kernel
def last_positive_group(pos: NDArray[Any], neg: NDArray[Any]) -> tuple[float, float]:
    """(cases up to and including the last group that holds a positive, positives in that group); (0, 0) if none."""
    seen = 0.0
    end = 0.0
    step = 0.0
    for g in range(len(pos)):
        seen += pos[g] + neg[g]
        if pos[g] > 0:
            end = seen
            step = pos[g]
    return end, step


@kernel
def sum_pairs(pos: NDArray[Any], neg: NDArray[Any], a0: Any, b0: Any, n_pos: Any, n_neg: Any, out: Any) -> None:
    """Pairs of a positive and a negative, and the extreme gaps between the two cumulative shares."""
    a = a0
    b = b0
    won = n_pos * 0  # of the counts' own type: exact in 64-bit integers, floats for weights
    margin = n_pos * 0
    tied = n_pos * 0
    gap = a * n_neg - b * n_pos
    top = gap
    low = gap
    for g in range(len(pos)):
        p = pos[g]
        q = neg[g]
        twice = a + a + p
        won += q * twice
        margin += q * (twice - n_pos)
        tied += q * p
        a += p
        b += q
        gap = a * n_neg - b * n_pos
        top = max(top, gap)
        low = min(low, gap)
    out[0] = won
    out[1] = margin
    out[2] = tied
    out[3] = top
    out[4] = low


@kernel
def sum_precision(
    pos: NDArray[Any], neg: NDArray[Any], a0: float, b0: float, end0: float, step0: float, out: Any
) -> None:
    """Steps and trapezoids under the precision–recall points, in units of one positive.

    The precision at a recall is largest where the recall is reached and smallest just before the next positive.
    """
    a = a0
    n = a0 + b0
    end = end0
    step = step0
    steps = 0.0
    lower = 0.0
    lower_upper = 0.0
    upper = 0.0
    first = 0.0
    first_on_top = 0.0
    for g in range(len(pos)):
        p = pos[g]
        m = p + neg[g]
        if p > 0:
            least = a / n if n > 0 else 0.0
            most = a / end if end > 0 else 0.0
            here = (a + p) / (n + m)
            steps += p * here
            lower += least * (step + p)
            lower_upper += (least + here) * p
            upper += (most + here) * p
            if end == 0:
                first = p
                if n == 0:
                    first_on_top = p
            end = n + m
            step = p
            a += p
        n += m
    out[0] = steps
    out[1] = 0.5 * lower
    out[2] = 0.5 * lower_upper
    out[3] = 0.5 * upper
    out[4] = first
    out[5] = first_on_top
    out[6] = step


@inlined
def _harmonic(n: int, m: int) -> tuple[float, float]:
    """Σ 1/(n+k) and Σ k/(n+k) for k = 1 … m, neither by a difference of large numbers."""
    inverse = 0.0
    share = 0.0
    k = 1
    while k <= m and (m <= _SUM_ONE_BY_ONE or n + k < _SUM_ONE_BY_ONE):
        inverse += 1.0 / (n + k)
        share += k / (n + k)
        k += 1
    if k <= m:
        # Euler–Maclaurin from k to m; f(x) = x/(n+x) integrates to n·(z − log(1+z)) + …, z = (m−k)/(n+k)
        low = float(n + k)
        high = float(n + m)
        z = (m - k) / low
        log = math.log1p(z)
        if z < 0.05:  # z − log(1+z) as its series, which does not cancel
            rest = 0.0
            power = z * z
            for j in range(2, 14):
                rest += power / j if j % 2 == 0 else -power / j
                power *= z
        else:
            rest = z - log
        inverse += log + 0.5 * (1 / low + 1 / high) + (1 / low**2 - 1 / high**2) / 12 - (1 / low**4 - 1 / high**4) / 120
        # ∫ x/(n+x) = (m−k) − n·log = k·z + n·(z − log), because m − k = z·(n+k)
        share += k * z + n * rest + 0.5 * (k / low + m / high) + n * (1 / high**2 - 1 / low**2) / 12
        share -= n * (1 / high**4 - 1 / low**4) / 120
    return inverse, share


@kernel
def sum_places(pos: NDArray[Any], neg: NDArray[Any], a0: int, b0: int, n_pos: int, rows: int, out: Any) -> None:
    """Sums over the places of the list; a place inside a tie holds its share of positives (Arbel & Rokach Eq. 5)."""
    a = a0
    n = a0 + b0
    weighted_hit_rates = 0.0
    hit_rates = 0.0
    found = 0.0
    squares = 0.0
    top = 0.0
    for g in range(len(pos)):
        p: Any = np.int64(pos[g])
        m: Any = p + np.int64(neg[g])
        if m == 1:
            end = n + 1
            rate = (a + p) / end
            hit_rates += rate
            if p:
                weighted_hit_rates += rate
                place = float(rows - n)
                squares += place * place
                if n < n_pos:
                    top += 1.0
            if end >= n_pos:
                found += a + p
        elif m > 1:
            share = p / m
            inverse, rising = _harmonic(n, m)
            rates = a * inverse + share * rising
            hit_rates += rates
            weighted_hit_rates += share * rates
            middle = rows - n - 0.5 * (m - 1)
            squares += p * (middle * middle + (m * m - 1) / 12.0)
            first: Any = max(np.int64(1), n_pos - n)  # places from n⁺ on count for the average Qrecall
            if first <= m:
                count = m - first + 1
                found += count * (a + share * 0.5 * (first + m))
            if n < n_pos:
                top += share * min(m, n_pos - n)
        a += p
        n += m
    out[0] = weighted_hit_rates
    out[1] = hit_rates
    out[2] = found
    out[3] = squares
    out[4] = top


@kernel
def sum_losses(
    score: NDArray[Any],
    log_p: NDArray[np.float64],
    log_q: NDArray[np.float64],
    pos: NDArray[Any],
    neg: NDArray[Any],
    log_eps: float,
    gamma: float,
    prior: float,
    out: Any,
) -> None:
    """Losses of scores read as probabilities (log_p = log p, log_q = log(1−p)), and of scores read as distances."""
    log_prior = math.log(prior) if prior > 0 else -np.inf
    log_other = math.log1p(-prior) if prior < 1 else -np.inf
    absolute = 0.0
    squared = 0.0
    pos_log = 0.0
    neg_log = 0.0
    pos_focal = 0.0
    neg_focal = 0.0
    pos_hinge = 0.0
    neg_hinge = 0.0
    information = 0.0
    for g in range(len(pos)):
        a = float(pos[g])
        b = float(neg[g])
        p = float(score[g])
        q = 1.0 - p
        absolute += a * q + b * p
        squared += a * q * q + b * p * p
        if a > 0:
            clamped = max(log_p[g], log_eps)
            pos_log += a * clamped
            pos_focal += a * clamped * (q * q if gamma == 2.0 else max(q, 0.0) ** gamma)
            pos_hinge += a * max(0.0, 1.0 - p)
            information += a * (log_p[g] - log_prior if p >= prior else log_other - log_q[g])
        if b > 0:
            clamped = max(log_q[g], log_eps)
            neg_log += b * clamped
            neg_focal += b * clamped * (p * p if gamma == 2.0 else max(p, 0.0) ** gamma)
            neg_hinge += b * max(0.0, 1.0 + p)
            information += b * (log_q[g] - log_other if p <= prior else log_prior - log_p[g])
    out[0] = absolute
    out[1] = squared
    out[2] = pos_log
    out[3] = neg_log
    out[4] = pos_focal
    out[5] = neg_focal
    out[6] = pos_hinge
    out[7] = neg_hinge
    out[8] = information


@kernel
def hull_of_groups(pos: NDArray[Any], neg: NDArray[Any], a0: Any, b0: Any) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Vertices of the upper convex hull of a ranking's ROC points, in counts; collinear points are dropped."""
    hx = np.full(1024, a0 + b0)
    hy = np.full(1024, a0 + b0)
    hx[0] = b0
    hy[0] = a0
    top = 1
    a = a0
    b = b0
    for g in range(len(pos)):
        if pos[g] == 0 and neg[g] == 0:
            continue
        a += pos[g]
        b += neg[g]
        while top >= 2 and (hx[top - 1] - hx[top - 2]) * (a - hy[top - 1]) >= (hy[top - 1] - hy[top - 2]) * (
            b - hx[top - 1]
        ):
            top -= 1
        if top == len(hx):
            hx = np.concatenate((hx, np.empty_like(hx)))
            hy = np.concatenate((hy, np.empty_like(hy)))
        hx[top] = b
        hy[top] = a
        top += 1
    return hx, hy, top


@kernel
def twice_area(x: NDArray[Any], y: NDArray[Any], used: int) -> Any:
    """Twice the area under a chain of points, by trapezoids."""
    area = (x[0] - x[0]) * y[0]
    for i in range(1, used):
        area += (x[i] - x[i - 1]) * (y[i] + y[i - 1])
    return area


@kernel
def cut_at_quotas(
    score: NDArray[Any],
    pos: NDArray[Any],
    neg: NDArray[Any],
    a0: float,
    n0: float,
    moments: NDArray[np.float64],
    quotas: NDArray[np.float64],
    out: Any,
) -> None:
    """For each quota (ascending) that ends in this piece: positives in it, and the spread of score and outcome.

    ``moments`` carries the running means and co-moments from piece to piece: mean score, mean outcome, and the sums
    of squared deviations and of their products, updated so that no large numbers are subtracted.
    """
    a = a0
    n = n0
    k = 0
    while k < len(quotas) and quotas[k] <= n0:
        k += 1
    for g in range(len(pos)):
        if k == len(quotas):
            break
        m = pos[g] + neg[g]
        if m == 0:
            continue
        share = pos[g] / m
        value = float(score[g])
        while True:
            ends = k < len(quotas) and quotas[k] <= n + m
            part = quotas[k] - n if ends else float(m)
            total = n + part
            by_score = value - moments[0]
            by_outcome = share - moments[1]
            shrink = n / total * part
            spread_score = moments[2] + by_score * by_score * shrink
            spread_outcome = moments[3] + by_outcome * by_outcome * shrink
            together = moments[4] + by_score * by_outcome * shrink
            if not ends:
                break
            out[k, 0] = a + share * part
            out[k, 1] = total - out[k, 0]
            out[k, 2] = spread_score
            out[k, 3] = spread_outcome
            out[k, 4] = together
            k += 1
        moments[0] += by_score * (part / total)
        moments[1] += by_outcome * (part / total)
        moments[2] = spread_score
        moments[3] = spread_outcome
        moments[4] = together
        a += pos[g]
        n += m

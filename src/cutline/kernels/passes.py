"""The compiled passes over a ranking: every one walks its groups best first and carries what came before them.

So a piece of a ranking can be summed by itself. Counts are whole numbers, or weights.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .jit import inlined, kernel
from .layout import CUT

_SUM_ONE_BY_ONE = 64
_TERMS = 256
_BLOCK = 16
_ASYMPTOTIC = 32.0
_N_CUT = len(CUT)


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
def sum_pairs(pos: NDArray[Any], neg: NDArray[Any], a0: Any, n_pos: Any, out: Any) -> None:
    """Twice the pairs that the positive wins (a tie is half won), and won less lost pairs."""
    a = a0
    won = n_pos * 0  # of the counts' own type: exact in 64-bit integers, floats for weights
    negatives = n_pos * 0
    for g in range(len(pos)):
        p = pos[g]
        q = neg[g]
        won += q * (a + a + p)
        negatives += q
        a += p
    out[0] = won
    out[1] = won - n_pos * negatives


@kernel
def sum_gaps(pos: NDArray[Any], neg: NDArray[Any], a0: Any, b0: Any, n_pos: Any, n_neg: Any, out: Any) -> None:
    """The extreme gaps between the cumulative shares of positives and negatives, times both class sizes."""
    gap = a0 * n_neg - b0 * n_pos
    top = gap
    low = gap
    for g in range(len(pos)):
        gap += pos[g] * n_neg - neg[g] * n_pos
        top = max(top, gap)
        low = min(low, gap)
    out[0] = top
    out[1] = low


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


@inlined
def _tail(x: float) -> float:
    """ψ(x) − log x for large x: the asymptotic series of the digamma function."""
    z = 1.0 / (x * x)
    return -0.5 / x - z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z / 240)))


@kernel
def harmonic_steps(n: float, m: float) -> tuple[float, float]:
    """Σ 1/(n+k) and Σ k/(n+k) for k = 1 … m, carried on to n and m that are not whole.

    Σ 1/(n+k) = ψ(n+m+1) − ψ(n+1), so that sums of neighbouring stretches add up whatever their lengths.
    """
    x = n + 1.0
    inverse = 0.0
    while x < _ASYMPTOTIC:
        inverse += m / (x * (x + m))
        x += 1.0
    z = m / x
    log = math.log1p(z)
    bend = _tail(x + m) - _tail(x)
    inverse += log + bend
    if n + 1.0 < _ASYMPTOTIC:
        return inverse, m - n * inverse
    if z < 0.05:  # z − log(1+z) as its series, which does not cancel
        rest = 0.0
        power = z * z
        for j in range(2, 14):
            rest += power / j if j % 2 == 0 else -power / j
            power *= z
    else:
        rest = z - log
    return inverse, x * rest + log - n * bend  # m = z·x and n = x − 1


@kernel
def _sum_rates(pos: NDArray[Any], neg: NDArray[Any], a: Any, n: Any, cases: Any) -> tuple[float, float, float]:
    """Hit rates at the places of positives, at all places, and squared places (worst = 1) of the positives."""
    at_positives = 0.0
    hit_rates = 0.0
    squares = 0.0
    for g in range(len(pos)):
        p: Any = np.int64(pos[g])
        m: Any = p + np.int64(neg[g])
        share = p / max(m, 1)
        inverse, rising = _harmonic(n, m)
        rates = a * inverse + share * rising
        hit_rates += rates
        at_positives += share * rates
        middle = cases - n - 0.5 * (m - 1)
        squares += p * (middle * middle + (m * m - 1) * (1.0 / 12.0))
        a += p
        n += m
    return at_positives, hit_rates, squares


@kernel
def _sum_weighted_rates(pos: NDArray[Any], neg: NDArray[Any], a: Any, n: Any, cases: Any) -> tuple[float, float, float]:
    """The same where a row stands for any number of cases."""
    at_positives = 0.0
    hit_rates = 0.0
    squares = 0.0
    for g in range(len(pos)):
        p = float(pos[g])
        m = p + neg[g]
        if m > 0:
            share = p / m
            inverse, rising = harmonic_steps(float(n), m)
            rates = a * inverse + share * rising
            hit_rates += rates
            at_positives += share * rates
            middle = cases - n - 0.5 * (m - 1)
            squares += p * (middle * middle + (m * m - 1) * (1.0 / 12.0))
            a += p
            n += m
    return at_positives, hit_rates, squares


@kernel
def _sum_rates_by_table(
    pos: NDArray[Any], neg: NDArray[Any], a: Any, n: Any, cases: Any, harmonic: Any
) -> tuple[float, float, float]:
    """The same as ``_sum_rates`` from a table of harmonic numbers, without a branch."""
    at_positives = 0.0
    hit_rates = 0.0
    squares = 0.0
    before = harmonic[np.int64(n)]
    for g in range(len(pos)):
        p = pos[g]
        m = p + neg[g]
        share = p / (m + (m == 0))
        after = harmonic[np.int64(n + m)]
        inverse = after - before
        before = after
        rates = a * inverse + share * (m - n * inverse)
        hit_rates += rates
        at_positives += share * rates
        middle = cases - n - 0.5 * (m - 1)
        squares += p * (middle * middle + (m * m - 1) * (1.0 / 12.0))
        a += p
        n += m
    return at_positives, hit_rates, squares


@kernel
def sum_places(
    pos: NDArray[Any], neg: NDArray[Any], a0: Any, b0: Any, n_pos: Any, cases: Any, whole: bool, harmonic: Any, out: Any
) -> None:
    """Sums over the places of the list; a place inside a tie holds its share of positives (Arbel & Rokach Eq. 5).

    ``whole``: counts are whole numbers. ``harmonic`` is empty, or a table of harmonic numbers: quicker, and exact
    enough for short lists and for one of many replicates. Weights carry the sums on between whole numbers of cases:
    those of 1/place as digamma functions, those of places and their squares as polynomials.
    """
    if not whole:
        at_positives, hit_rates, squares = _sum_weighted_rates(pos, neg, a0, a0 + b0, cases)
    elif len(harmonic) > cases:
        at_positives, hit_rates, squares = _sum_rates_by_table(pos, neg, a0, a0 + b0, cases, harmonic)
    else:
        at_positives, hit_rates, squares = _sum_rates(pos, neg, a0, a0 + b0, cases)
    out[0] = at_positives
    out[1] = hit_rates
    out[2], out[4] = _around_full_quota(pos, neg, a0, a0 + b0, n_pos)
    out[3] = squares


@kernel
def _around_full_quota(pos: NDArray[Any], neg: NDArray[Any], a: Any, n: Any, n_pos: Any) -> tuple[float, float]:
    """Positives found by each place from n⁺ on, added up; and the positives among the first n⁺ places of this piece."""
    g = 0
    a_before = a
    while g < len(pos) and n + pos[g] + neg[g] < n_pos:
        a += pos[g]
        n += pos[g] + neg[g]
        g += 1
    top = float(a - a_before)
    found = 0.0
    if g < len(pos) and n < n_pos:  # the group in which place n⁺ lies
        p: Any = pos[g]
        m: Any = p + neg[g]
        first = n_pos - n
        top += p / m * first
        found += (m - first + 1) * (a + p / m * 0.5 * (first + m))
        a += p
        n += m
        g += 1
    twice = n_pos * 0  # of the counts' own type: whole numbers are added several at a time
    for k in range(g, len(pos)):
        p = pos[k]
        m = p + neg[k]
        twice += m * (a + a) + p * (m + 1)
        a += p
    return found + 0.5 * twice, top


@kernel
def _sum_plain_losses(score: Any, log_p: Any, log_q: Any, pos: Any, neg: Any, log_eps: float, out: Any) -> None:
    """Losses that are the same on both sides of the prior.

    What the groups add is computed block by block, several groups at a time; the sums keep the order of the groups.
    """
    added = np.empty((8, _TERMS))
    absolute = 0.0
    squared = 0.0
    pos_log = 0.0
    neg_log = 0.0
    pos_focal = 0.0
    neg_focal = 0.0
    pos_hinge = 0.0
    neg_hinge = 0.0
    for first in range(0, len(score), _TERMS):
        last = min(first + _TERMS, len(score))
        these, hits, misses = score[first:last], pos[first:last], neg[first:last]
        logs, others = log_p[first:last], log_q[first:last]
        for i in range(last - first):
            a = float(hits[i])
            b = float(misses[i])
            p = float(these[i])
            q = 1.0 - p
            short = 1.0 + p
            of_pos = a * (logs[i] if logs[i] > log_eps else log_eps)
            of_neg = b * (others[i] if others[i] > log_eps else log_eps)
            added[0, i] = a * q + b * p
            added[1, i] = a * q * q + b * p * p
            added[2, i] = of_pos
            added[3, i] = of_neg
            added[4, i] = of_pos * q * q
            added[5, i] = of_neg * p * p
            added[6, i] = a * (q if q > 0.0 else 0.0)
            added[7, i] = b * (short if short > 0.0 else 0.0)
        for i in range(last - first):
            absolute += added[0, i]
            squared += added[1, i]
            pos_log += added[2, i]
            neg_log += added[3, i]
            pos_focal += added[4, i]
            neg_focal += added[5, i]
            pos_hinge += added[6, i]
            neg_hinge += added[7, i]
    out[0] = absolute
    out[1] = squared
    out[2] = pos_log
    out[3] = neg_log
    out[4] = pos_focal
    out[5] = neg_focal
    out[6] = pos_hinge
    out[7] = neg_hinge


@kernel
def _sum_differences(log: Any, reference: float, pos: Any, neg: Any) -> Any:
    """Σ (positives − negatives)·(log − reference)."""
    total = 0.0
    for g in range(len(log)):
        total += (float(pos[g]) - float(neg[g])) * (log[g] - reference)
    return total


@kernel
def sum_losses(
    score: NDArray[Any],
    log_p: NDArray[np.float64],
    log_q: NDArray[np.float64],
    pos: NDArray[Any],
    neg: NDArray[Any],
    options: tuple[float, float, float],
    totals: tuple[float, float],
    out: Any,
) -> None:
    """Losses of scores read as probabilities (log_p = log p, log_q = log(1−p)), and of scores read as distances.

    ``options`` are log ε, γ and the prior, which is nan for the share of positives in ``totals``.
    """
    log_eps, gamma, prior = options
    n_pos, n_neg = totals
    log_prior = math.log(prior)
    log_other = math.log1p(-prior)
    if prior != prior:  # both shares from the counts: 1 − prior would lose a rare class's digits
        prior = n_pos / (n_pos + n_neg)
        log_prior = -math.log1p(n_neg / n_pos)
        log_other = -math.log1p(n_pos / n_neg)
    _sum_plain_losses(score, log_p, log_q, pos, neg, log_eps, out)
    if gamma != 2.0:
        out[4] = 0.0
        out[5] = 0.0
        for g in range(len(score)):
            p = float(score[g])
            out[4] += pos[g] * max(log_p[g], log_eps) * max(1.0 - p, 0.0) ** gamma
            out[5] += neg[g] * max(log_q[g], log_eps) * max(p, 0.0) ** gamma
    low = 0  # groups that score at least the prior come first
    high = len(score)
    while low < high:
        middle = (low + high) // 2
        if score[middle] >= prior:
            low = middle + 1
        else:
            high = middle
    above = _sum_differences(log_p[:low], log_prior, pos[:low], neg[:low])
    out[8] = above - _sum_differences(log_q[low:], log_other, pos[low:], neg[low:])


@inlined
def push_hull_point(hx: Any, hy: Any, top: int, x: Any, y: Any) -> int:
    """Put a point on an upper hull that grows to the right: what lies under the new chord goes."""
    while top >= 2 and (hx[top - 1] - hx[top - 2]) * (y - hy[top - 1]) >= (hy[top - 1] - hy[top - 2]) * (
        x - hx[top - 1]
    ):
        top -= 1
    hx[top] = x
    hy[top] = y
    return top + 1


@kernel
def hull_of_groups(pos: NDArray[Any], neg: NDArray[Any], a0: Any, b0: Any) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Vertices of the upper convex hull of a ranking's ROC points, in counts; collinear points are dropped.

    First the hull of every 16th point. A block between two such points lies under its upper left corner: where that is
    under the coarse hull, the block holds no vertex and is passed over. A group without positives moves to the right,
    so its end can only be a vertex if the list ends there.
    """
    n = len(pos)
    blocks = (n + _BLOCK - 1) // _BLOCK
    x = np.full(blocks + 1, a0 + b0)
    y = np.full(blocks + 1, a0 + b0)
    cx = np.full(blocks + 1, a0 + b0)
    cy = np.full(blocks + 1, a0 + b0)
    x[0] = b0
    y[0] = a0
    cx[0] = b0
    cy[0] = a0
    a = a0
    b = b0
    coarse = 1
    for k in range(blocks):
        for g in range(k * _BLOCK, min(n, (k + 1) * _BLOCK)):
            a += pos[g]
            b += neg[g]
        x[k + 1] = b
        y[k + 1] = a
        coarse = push_hull_point(cx, cy, coarse, b, a)
    keep = np.zeros(blocks, np.uint8)
    kept = 0
    s = 0
    for k in range(blocks):
        while s < coarse - 2 and cx[s + 1] <= x[k]:
            s += 1
        if (cx[s + 1] - cx[s]) * (y[k + 1] - cy[s]) >= (cy[s + 1] - cy[s]) * (x[k] - cx[s]):
            keep[k] = 1
            kept += 1
    hx = np.full(kept * _BLOCK + 2, a0 + b0)
    hy = np.full(kept * _BLOCK + 2, a0 + b0)
    hx[0] = b0
    hy[0] = a0
    top = 1
    for k in range(blocks):
        if keep[k]:
            a = y[k]
            b = x[k]
            for g in range(k * _BLOCK, min(n, (k + 1) * _BLOCK)):
                a += pos[g]
                b += neg[g]
                if pos[g] > 0:
                    top = push_hull_point(hx, hy, top, b, a)
    top = push_hull_point(hx, hy, top, x[blocks], y[blocks])
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
    start: tuple[float, float],
    totals: tuple[float, float],
    scale: float,
    moments: NDArray[np.float64],
    quotas: NDArray[np.float64],
    is_last: bool,
    out: Any,
) -> None:
    """For each quota (ascending) that ends in this piece: the four cells, and the spread of score and outcome.

    ``start`` is what came before the piece (positives, negatives). ``totals`` are those of the whole list where counts
    are whole numbers; weights have nan there, and what lies behind a cut is added up piece by piece, so that nothing
    left is 0 and not the rounding of a difference. ``moments`` carries the running means and co-moments from piece to
    piece: mean score, mean outcome, and the sums of squared deviations and of their products, updated so that no large
    numbers are subtracted. ``scale`` brings the scores to a size whose squares are numbers; the correlation does not
    feel it. ``is_last``: the list ends with this piece, and a quota that rounding puts behind the end is all of it.
    """
    a = start[0]
    b = start[1]
    n = a + b
    first = 0
    while first < len(quotas) and quotas[first] <= n:
        first += 1
    k = first
    weighted = totals[0] != totals[0]
    for g in range(len(pos)):
        if k == len(quotas) and not weighted:
            break
        m = pos[g] + neg[g]
        if m == 0:
            continue
        if weighted:
            for done in range(k):  # those behind a cut
                out[done, 2] += pos[g]
                out[done, 3] += neg[g]
        if k < len(quotas):
            share = pos[g] / m
            value = scale * float(score[g])
            while True:
                ends = k < len(quotas) and quotas[k] <= n + m
                part = quotas[k] - n if ends else float(m)
                total = n + part
                by_score = value - moments[0]
                by_outcome = share - moments[1]
                shrink = n / total * part
                spread_score = moments[2] + by_score * by_score * shrink
                spread_outcome = moments[3] + by_outcome * by_outcome * shrink
                comoment = moments[4] + by_score * by_outcome * shrink
                if not ends:
                    break
                if part < m:
                    out[k, 0] = a + share * part
                    out[k, 1] = total - out[k, 0]
                    rest_pos = pos[g] - share * part
                    rest_neg = neg[g] - (part - share * part)
                    out[k, 2] = rest_pos if weighted else totals[0] - out[k, 0]
                    out[k, 3] = max(rest_neg, 0.0) if weighted else totals[1] - out[k, 1]
                else:
                    out[k, 0] = a + pos[g]
                    out[k, 1] = b + neg[g]
                    out[k, 2] = 0.0 if weighted else totals[0] - out[k, 0]
                    out[k, 3] = 0.0 if weighted else totals[1] - out[k, 1]
                out[k, 4] = spread_score
                out[k, 5] = spread_outcome
                out[k, 6] = comoment
                k += 1
            moments[0] += by_score * (part / total)
            moments[1] += by_outcome * (part / total)
            moments[2] = spread_score
            moments[3] = spread_outcome
            moments[4] = comoment
        a += pos[g]
        b += neg[g]
        n += m
    if is_last:
        while k < len(quotas) and quotas[k] <= n * (1.0 + 1e-9):
            out[k, 0] = a
            out[k, 1] = b
            out[k, 2] = 0.0
            out[k, 3] = 0.0
            out[k, 4] = moments[2]
            out[k, 5] = moments[3]
            out[k, 6] = moments[4]
            k += 1


@kernel
def add_moments(
    score: NDArray[Any], pos: NDArray[Any], neg: NDArray[Any], n0: float, scale: float, moments: NDArray[np.float64]
) -> None:
    """Add groups to the means and co-moments of score and outcome, as they are carried from piece to piece."""
    quotas = np.array([np.inf])
    cut_at_quotas(score, pos, neg, (0.0, n0), (0.0, 0.0), scale, moments, quotas, False, np.zeros((1, _N_CUT)))

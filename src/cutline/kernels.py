"""The compiled passes over a ranking: its sums, and those of its replicates.

Imported at first use only, because numba takes a moment to load. Every kernel over a ranking walks its groups best
first and carries the positives and negatives seen before, so that a piece of a ranking can be summed on its own.

Replicates: rows are kept in the order of the ranking, the positives first, then the negatives, so that a replicate is
a small array of counts and no row is ever moved or sorted again. Each replicate is seeded by itself: results do not
depend on how replicates are shared among threads.

One file, because a cached kernel is compiled anew when its own file changes, not when one that it calls does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .jit import inlined, kernel, summing_kernel
from .sweep import CUT, FIELDS, GAPS, HULL, LOSSES, PAIRS, PLACES, PRECISION

_SUM_ONE_BY_ONE = 64
_BLOCK = 16

# places in the vector of sums
_PAIRS, _GAPS, _PRECISION, _PLACES, _HULL, _END = (
    *(FIELDS.index(part[0]) for part in (PAIRS, GAPS, PRECISION, PLACES, HULL)),
    len(FIELDS),
)
_PR_LOWER, _LAST_STEP = FIELDS.index("pr_lower"), FIELDS.index("last_step")
_N_LOSSES, _N_CUT = len(LOSSES), len(CUT)


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


@kernel
def harmonic_table(n: int) -> NDArray[np.float64]:
    """Σ 1/j for j up to each of 0 … n."""
    table = np.empty(n + 1)
    total = 0.0
    table[0] = 0.0
    for j in range(1, n + 1):
        total += 1.0 / j
        table[j] = total
    return table


@kernel
def _sum_rates(pos: NDArray[Any], neg: NDArray[Any], a: Any, n: Any, rows: int) -> tuple[float, float, float]:
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
        middle = rows - n - 0.5 * (m - 1)
        squares += p * (middle * middle + (m * m - 1) / 12.0)
        a += p
        n += m
    return at_positives, hit_rates, squares


@summing_kernel
def _sum_rates_by_table(
    pos: NDArray[Any], neg: NDArray[Any], a: Any, n: Any, rows: int, harmonic: Any
) -> tuple[float, float, float]:
    """The same from a table of harmonic numbers, without a branch: for one of many replicates."""
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
        middle = rows - n - 0.5 * (m - 1)
        squares += p * (middle * middle + (m * m - 1) * (1.0 / 12.0))
        a += p
        n += m
    return at_positives, hit_rates, squares


@kernel
def sum_places(
    pos: NDArray[Any], neg: NDArray[Any], a0: int, b0: int, n_pos: int, rows: int, harmonic: Any, out: Any
) -> None:
    """Sums over the places of the list; a place inside a tie holds its share of positives (Arbel & Rokach Eq. 5).

    ``harmonic`` is empty, or a table of harmonic numbers: quicker, and exact enough for one of many replicates.
    """
    if len(harmonic) > rows:
        at_positives, hit_rates, squares = _sum_rates_by_table(pos, neg, a0, a0 + b0, rows, harmonic)
    else:
        at_positives, hit_rates, squares = _sum_rates(pos, neg, a0, a0 + b0, rows)
    out[0] = at_positives
    out[1] = hit_rates
    out[2], out[4] = _around_full_quota(pos, neg, a0, a0 + b0, n_pos)
    out[3] = squares


@kernel
def _around_full_quota(pos: NDArray[Any], neg: NDArray[Any], a: Any, n: Any, n_pos: int) -> tuple[float, float]:
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
    for k in range(g, len(pos)):
        p = pos[k]
        m = p + neg[k]
        found += m * a + 0.5 * p * (m + 1)
        a += p
    return found, top


@summing_kernel
def _sum_plain_losses(score: Any, log_p: Any, log_q: Any, pos: Any, neg: Any, log_eps: float, out: Any) -> None:
    """Losses that are the same on both sides of the prior; no branch and no call in the loop, so it is vectorised."""
    absolute = 0.0
    squared = 0.0
    pos_log = 0.0
    neg_log = 0.0
    pos_focal = 0.0
    neg_focal = 0.0
    pos_hinge = 0.0
    neg_hinge = 0.0
    for g in range(len(score)):
        a = float(pos[g])
        b = float(neg[g])
        p = float(score[g])
        q = 1.0 - p
        short = 1.0 + p
        of_pos = a * (log_p[g] if log_p[g] > log_eps else log_eps)
        of_neg = b * (log_q[g] if log_q[g] > log_eps else log_eps)
        absolute += a * q + b * p
        squared += a * q * q + b * p * p
        pos_log += of_pos
        neg_log += of_neg
        pos_focal += of_pos * q * q
        neg_focal += of_neg * p * p
        pos_hinge += a * (q if q > 0.0 else 0.0)
        neg_hinge += b * (short if short > 0.0 else 0.0)
    out[0] = absolute
    out[1] = squared
    out[2] = pos_log
    out[3] = neg_log
    out[4] = pos_focal
    out[5] = neg_focal
    out[6] = pos_hinge
    out[7] = neg_hinge


@summing_kernel
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
    log_eps: float,
    gamma: float,
    prior: float,
    n_pos: float,
    n_neg: float,
    out: Any,
) -> None:
    """Losses of scores read as probabilities (log_p = log p, log_q = log(1−p)), and of scores read as distances.

    ``prior`` nan stands for the share n_pos / (n_pos + n_neg).
    """
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
    a0: float,
    n0: float,
    scale: float,
    moments: NDArray[np.float64],
    quotas: NDArray[np.float64],
    out: Any,
) -> None:
    """For each quota (ascending) that ends in this piece: positives in it, and the spread of score and outcome.

    ``moments`` carries the running means and co-moments from piece to piece: mean score, mean outcome, and the sums
    of squared deviations and of their products, updated so that no large numbers are subtracted. ``scale`` brings the
    scores to a size whose squares are numbers; the correlation does not feel it.
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
            out[k, 0] = a + share * part
            out[k, 1] = total - out[k, 0]
            out[k, 2] = spread_score
            out[k, 3] = spread_outcome
            out[k, 4] = comoment
            k += 1
        moments[0] += by_score * (part / total)
        moments[1] += by_outcome * (part / total)
        moments[2] = spread_score
        moments[3] = spread_outcome
        moments[4] = comoment
        a += pos[g]
        n += m


@kernel
def add_moments(
    score: NDArray[Any], pos: NDArray[Any], neg: NDArray[Any], n0: float, scale: float, moments: NDArray[np.float64]
) -> None:
    """Add groups to the means and co-moments of score and outcome, as they are carried from piece to piece."""
    cut_at_quotas(score, pos, neg, 0.0, n0, scale, moments, np.array([np.inf]), np.zeros((1, _N_CUT)))


@inlined
def _mix(x: Any) -> Any:
    """One step of splitmix64: spreads a counter over 64 bits."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def draw(counts: Any, start: int, size: int, seed: int, stream: int) -> None:
    """Draw ``size`` units with replacement from ``counts[start : start + size]``, counting how often each came.

    xoshiro256++; one 64-bit number gives two draws where the range is small enough for the rounding of 32 bits not to
    matter (a relative error in a unit's chance below 2⁻¹⁰), else one.
    """
    golden = np.uint64(0x9E3779B97F4A7C15)
    base = _mix(np.uint64(seed) * golden + np.uint64(1)) + np.uint64(stream) * golden
    s0 = _mix(base + golden)
    s1 = _mix(base + golden + golden)
    s2 = _mix(base + golden * np.uint64(3))
    s3 = _mix(base + golden * np.uint64(4))
    left = np.uint64(32)
    low = np.uint64(0xFFFFFFFF)
    wide = np.uint64(size)
    narrow = size < 1 << 22
    done = 0
    while done < size:
        total = s0 + s3
        value = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
        shifted = s1 << np.uint64(17)
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= shifted
        s3 = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
        if narrow:
            counts[start + np.int64(((value & low) * wide) >> left)] += 1
            done += 1
            if done < size:
                counts[start + np.int64(((value >> left) * wide) >> left)] += 1
                done += 1
        else:
            counts[start + np.int64((value >> np.uint64(11)) * (1.0 / 9007199254740992.0) * size)] += 1
            done += 1


@kernel
def accumulate(counts: Any, unit: Any, weight: Any, pos_rows: Any, neg_rows: Any, a: Any, b: Any) -> Any:
    """Counts (times weights) of the rows of each tie group; gives the number of rows drawn."""
    times = counts
    if len(unit):
        times = np.empty(len(unit), counts.dtype)
        for row in range(len(unit)):
            times[row] = counts[unit[row]]
    n_pos = _rows(pos_rows)
    if len(weight) == 0:
        return _add_rows(times, 0, pos_rows, a) + _add_rows(times, n_pos, neg_rows, b)
    return _add_weights(times, weight, 0, pos_rows, a) + _add_weights(times, weight, n_pos, neg_rows, b)


@kernel
def _add_weights(times: Any, weight: Any, row: Any, sizes: Any, into: Any) -> Any:
    """Weights of one class by group, each as often as its row was drawn; gives the number of rows drawn."""
    drawn = 0
    for g in range(len(sizes)):
        total = 0.0
        for _ in range(sizes[g]):
            drawn += times[row]
            total += times[row] * weight[row]
            row += 1
        into[g] = total
    return drawn


@kernel
def _rows(sizes: Any) -> Any:
    total = 0
    for g in range(len(sizes)):
        total += sizes[g]
    return total


@kernel
def _add_rows(counts: Any, row: Any, sizes: Any, into: Any) -> Any:
    """Rows of one class by group. A group has one row or none where scores do not tie: then no branch is needed."""
    drawn = 0
    last = len(counts) - 1
    for g in range(len(sizes)):
        size = sizes[g]
        if size > 1:
            total = 0
            for k in range(row, row + size):
                total += counts[k]
        else:
            total = counts[min(row, last)] * size
        row += size
        drawn += total
        into[g] = total
    return drawn


@kernel
def sum_replicate(
    a: Any,
    b: Any,
    zero: Any,
    rows: Any,
    score: Any,
    log_p: Any,
    log_q: Any,
    harmonic: Any,
    parts: Any,
    losses: Any,
    above: Any,
    scale: float,
    quotas: Any,
    out: Any,
) -> None:
    """The vector of sums of one reweighted ranking, as sweep() makes it for the sample itself."""
    # a third of the rows are not drawn: without the empty groups the passes that go by rank alone are shorter
    p = np.empty(len(a) + 1, a.dtype)
    q = np.empty(len(a) + 1, b.dtype)
    n_pos = zero
    n_neg = zero
    there = 0
    for g in range(len(a)):
        p[there] = a[g]
        q[there] = b[g]
        n_pos += a[g]
        n_neg += b[g]
        there += a[g] + b[g] > 0
    p = p[:there]
    q = q[:there]
    out[0] = n_pos
    out[1] = n_neg
    out[2] = rows
    if parts[0]:
        sum_pairs(p, q, zero, n_pos, out[_PAIRS:_GAPS])
    if parts[1]:
        sum_gaps(p, q, zero, zero, n_pos, n_neg, out[_GAPS:_PRECISION])
    if parts[2]:
        sum_precision(p, q, 0.0, 0.0, 0.0, 0.0, out[_PRECISION:_PLACES])
        out[_PR_LOWER] += 0.5 * out[_LAST_STEP] * (n_pos / (n_pos + n_neg))
    if parts[3]:
        sum_places(p, q, 0, 0, np.int64(n_pos), rows, harmonic, out[_PLACES:_HULL])
    if parts[4]:
        x, y, used = hull_of_groups(p, q, zero, zero)
        out[_HULL] = 0.5 * twice_area(x, y, used)
    at = _END
    for k in range(len(losses)):
        sum_losses(
            score,
            log_p,
            log_q,
            a,
            b,
            losses[k, 0],
            losses[k, 1],
            losses[k, 2],
            float(n_pos),
            float(n_neg),
            out[at : at + _N_LOSSES],
        )
        at += _N_LOSSES
    for k in range(len(above)):
        tp = 0.0
        fp = 0.0
        for g in range(above[k]):
            tp += a[g]
            fp += b[g]
        out[at] = tp
        out[at + 1] = fp
        at += _N_CUT
    if len(quotas):
        out[at:] = np.nan  # a quota beyond the rows drawn has no value
        cuts = out[at:].reshape(len(quotas), _N_CUT)
        cut_at_quotas(score, a, b, 0.0, 0.0, scale, np.zeros(5), quotas, cuts)


@kernel
def resample(
    first: int,
    last: int,
    seed: int,
    strata: Any,
    n_units: int,
    unit: Any,
    weight: Any,
    pos_rows: Any,
    neg_rows: Any,
    zero: Any,
    a: Any,
    b: Any,
    score: Any,
    log_p: Any,
    log_q: Any,
    harmonic: Any,
    parts: Any,
    losses: Any,
    above: Any,
    scale: float,
    quotas: Any,
    out: Any,
    stop: Any,
) -> None:
    """Replicates ``first`` to ``last``, each drawn within the strata (start, size) of the units."""
    counts = np.zeros(n_units, np.uint16)
    for r in range(first, last):
        if stop[0]:
            return
        counts[:] = 0
        for s in range(len(strata)):
            draw(counts, strata[s, 0], strata[s, 1], seed, r * len(strata) + s)
        rows = accumulate(counts, unit, weight, pos_rows, neg_rows, a, b)
        sum_replicate(a, b, zero, rows, score, log_p, log_q, harmonic, parts, losses, above, scale, quotas, out[r])


@kernel
def leave_out(
    first: int,
    last: int,
    block: Any,
    unit: Any,
    weight: Any,
    pos_rows: Any,
    neg_rows: Any,
    zero: Any,
    a: Any,
    b: Any,
    score: Any,
    log_p: Any,
    log_q: Any,
    harmonic: Any,
    parts: Any,
    losses: Any,
    above: Any,
    scale: float,
    quotas: Any,
    out: Any,
    stop: Any,
) -> None:
    """The sums without each block of units in turn."""
    counts = np.zeros(len(block), np.uint16)
    for k in range(first, last):
        if stop[0]:
            return
        for i in range(len(block)):
            counts[i] = block[i] != k
        rows = accumulate(counts, unit, weight, pos_rows, neg_rows, a, b)
        sum_replicate(a, b, zero, rows, score, log_p, log_q, harmonic, parts, losses, above, scale, quotas, out[k])


@kernel
def cut_at_shares(a: Any, b: Any, n_pos: float, n_neg: float, axis: int, grid: Any, hits: Any, misses: Any) -> None:
    """Positives and negatives above the first cut that reaches each share on an axis; a tie is entered pro rata."""
    total = n_pos + n_neg if axis == 0 else n_neg if axis == 1 else n_pos
    tp = 0.0
    fp = 0.0
    here = 0.0
    k = 0
    for g in range(len(a)):
        step = a[g] + b[g] if axis == 0 else b[g] if axis == 1 else a[g]
        while k < len(grid) and step > 0 and grid[k] * total <= here + step:
            part = (grid[k] * total - here) / step
            hits[k] = tp + part * a[g]
            misses[k] = fp + part * b[g]
            k += 1
        tp += a[g]
        fp += b[g]
        here += step
    while k < len(grid):  # the last share, missed by rounding
        hits[k] = n_pos
        misses[k] = n_neg
        k += 1


@kernel
def resample_curve(
    first: int,
    last: int,
    seed: int,
    strata: Any,
    n_units: int,
    unit: Any,
    weight: Any,
    pos_rows: Any,
    neg_rows: Any,
    zero: Any,
    a: Any,
    b: Any,
    axis: int,
    grid: Any,
    hits: Any,
    misses: Any,
    totals: Any,
    stop: Any,
) -> None:
    """For each replicate the cuts at given shares of an axis: the material of a band."""
    counts = np.zeros(n_units, np.uint16)
    for r in range(first, last):
        if stop[0]:
            return
        counts[:] = 0
        for s in range(len(strata)):
            draw(counts, strata[s, 0], strata[s, 1], seed, r * len(strata) + s)
        accumulate(counts, unit, weight, pos_rows, neg_rows, a, b)
        n_pos = zero + 0.0
        n_neg = zero + 0.0
        for g in range(len(a)):
            n_pos += a[g]
            n_neg += b[g]
        totals[r, 0] = n_pos
        totals[r, 1] = n_neg
        cut_at_shares(a, b, n_pos, n_neg, axis, grid, hits[r], misses[r])

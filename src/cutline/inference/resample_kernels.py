"""Compiled resampling: draw rows, add them up by tie group, and sum everything the catalogue needs.

Rows are kept in the order of the ranking, the positives first, then the negatives, so that a replicate is a small
array of counts and no row is ever moved or sorted again. Each replicate is seeded by itself: results do not depend on
how replicates are shared among threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled import inlined, kernel
from ..kernels import cut_at_quotas, hull_of_groups, sum_losses, sum_pairs, sum_places, sum_precision, twice_area

# places in the vector of sums, as laid out in sweep.FIELDS
_PAIRS, _PRECISION, _PLACES, _HULL, _END = 3, 8, 15, 20, 21
_PR_LOWER, _LAST_STEP = 9, 14
_N_LOSSES, _N_CUT = 9, 5


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
def add_up(counts: Any, unit: Any, weight: Any, pos_rows: Any, neg_rows: Any, a: Any, b: Any) -> Any:
    """Counts (times weights) of the rows of each tie group; gives the number of rows drawn."""
    row = 0
    drawn = 0
    for side in range(2):
        sizes = pos_rows if side == 0 else neg_rows
        into = a if side == 0 else b
        for g in range(len(sizes)):
            total = into[g] * 0
            for _ in range(sizes[g]):
                times = np.int64(counts[unit[row]] if len(unit) else counts[row])
                drawn += times
                total += times * weight[row] if len(weight) else times
                row += 1
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
    parts: Any,
    losses: Any,
    above: Any,
    quotas: Any,
    out: Any,
) -> None:
    """The vector of sums of one reweighted ranking, as sweep() makes it for the sample itself."""
    n_pos = zero
    n_neg = zero
    for g in range(len(a)):
        n_pos += a[g]
        n_neg += b[g]
    out[0] = n_pos
    out[1] = n_neg
    out[2] = rows
    if parts[0]:
        sum_pairs(a, b, zero, zero, n_pos, n_neg, out[_PAIRS:_PRECISION])
    if parts[1]:
        sum_precision(a, b, 0.0, 0.0, 0.0, 0.0, out[_PRECISION:_PLACES])
        out[_PR_LOWER] += 0.5 * out[_LAST_STEP] * (n_pos / (n_pos + n_neg))
    if parts[2]:
        sum_places(a, b, 0, 0, np.int64(n_pos), rows, out[_PLACES:_HULL])
    if parts[3]:
        x, y, used = hull_of_groups(a, b, zero, zero)
        out[_HULL] = 0.5 * twice_area(x, y, used)
    at = _END
    for k in range(len(losses)):
        prior = losses[k, 2] if losses[k, 2] == losses[k, 2] else n_pos / (n_pos + n_neg)
        sum_losses(score, log_p, log_q, a, b, losses[k, 0], losses[k, 1], prior, out[at : at + _N_LOSSES])
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
        cut_at_quotas(score, a, b, 0.0, 0.0, np.zeros(5), quotas, cuts)


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
    parts: Any,
    losses: Any,
    above: Any,
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
        rows = add_up(counts, unit, weight, pos_rows, neg_rows, a, b)
        sum_replicate(a, b, zero, rows, score, log_p, log_q, parts, losses, above, quotas, out[r])


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
    parts: Any,
    losses: Any,
    above: Any,
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
        rows = add_up(counts, unit, weight, pos_rows, neg_rows, a, b)
        sum_replicate(a, b, zero, rows, score, log_p, log_q, parts, losses, above, quotas, out[k])

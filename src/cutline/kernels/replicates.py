"""The compiled passes over many rankings with the same scores: replicates, blocks left out, simulated test sets.

Rows are kept in the order of the ranking, the positives first, then the negatives, so that a replicate is a small array
of counts and no row is ever moved or sorted again. Each replicate is seeded by itself: results do not depend on how
replicates are shared among threads.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .jit import kernel
from .layout import AT, CUT, FIELDS, LOSSES, SLICE, Wanted
from .passes import (
    cut_at_quotas,
    hull_of_groups,
    sum_gaps,
    sum_losses,
    sum_pairs,
    sum_places,
    sum_precision,
    twice_area,
)
from .rankings import next_group
from .rng import draw

_PAIRS, _GAPS, _PRECISION, _PLACES, _HULL = (
    SLICE[part].start for part in ("pairs", "gaps", "precision", "places", "hull")
)
AT_ONCE = False  # replicates come in batches that threads take in turn
_END, _PR_LOWER, _LAST_STEP = len(FIELDS), AT["pr_lower"], AT["last_step"]
_N_LOSSES, _N_CUT = len(LOSSES), len(CUT)


@kernel
def accumulate(counts: Any, rows: Any, a: Any, b: Any) -> None:
    """Counts (times weights) of the rows of each tie group; ``counts`` ends with a place that belongs to no unit."""
    times = counts
    if len(rows.unit):
        times = np.zeros(len(rows.unit) + 1, counts.dtype)
        for row in range(len(rows.unit)):
            times[row] = counts[rows.unit[row]]
    n_pos = 0
    for g in range(len(rows.pos)):
        n_pos += rows.pos[g]
    if len(rows.weight) == 0:
        _add_rows(times, n_pos, rows, a, b)
    else:
        _add_weights(times, rows.weight, 0, rows.pos, a)
        _add_weights(times, rows.weight, n_pos, rows.neg, b)


@kernel
def _add_weights(times: Any, weight: Any, row: Any, sizes: Any, into: Any) -> None:
    """Weights of one class by group, each as often as its row was drawn."""
    for g in range(len(sizes)):
        total = 0.0
        for _ in range(sizes[g]):
            total += times[row] * weight[row]
            row += 1
        into[g] = total


@kernel
def _add_rows(counts: Any, n_pos: int, rows: Any, a: Any, b: Any) -> None:
    """Rows of each class by group. A group is one row where scores do not tie: then no loop is needed.

    Row numbers without a sign spare the check for those that count from the end.
    """
    hit = np.uint64(0)
    miss = np.uint64(n_pos)
    for g in range(len(rows.pos)):
        hits = rows.pos[g]
        misses = rows.neg[g]
        if hits + misses > 1:
            total = 0
            for row in range(hit, hit + np.uint64(hits)):
                total += counts[row]
            a[g] = total
            total = 0
            for row in range(miss, miss + np.uint64(misses)):
                total += counts[row]
            b[g] = total
        else:
            a[g] = np.int32(counts[hit]) * hits
            b[g] = np.int32(counts[miss]) * misses
        hit += np.uint64(np.uint32(hits))
        miss += np.uint64(np.uint32(misses))


@kernel
def sum_replicate(a: Any, b: Any, zero: Any, wanted: Any, out: Any) -> None:
    """The vector of sums of one reweighted ranking, as sweep() makes it for the sample itself.

    ``zero`` is of the type of the counts, which says whether they are whole numbers or weights.
    """
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
    cases = n_pos + n_neg
    whole = isinstance(zero, int)
    out[0] = n_pos
    out[1] = n_neg
    out[2] = cases
    parts = wanted.parts
    if parts[0]:
        sum_pairs(p, q, zero, n_pos, out[_PAIRS:_GAPS])
    if parts[1]:
        sum_gaps(p, q, zero, zero, n_pos, n_neg, out[_GAPS:_PRECISION])
    if parts[2]:
        sum_precision(p, q, 0.0, 0.0, 0.0, 0.0, out[_PRECISION:_PLACES])
        out[_PR_LOWER] += 0.5 * out[_LAST_STEP] * (n_pos / (n_pos + n_neg))
    if parts[3]:
        sum_places(p, q, zero, zero, n_pos, cases, whole, wanted.harmonic, out[_PLACES:_HULL])
    if parts[4]:
        x, y, used = hull_of_groups(p, q, zero, zero)
        out[_HULL] = 0.5 * twice_area(x, y, used)
    at = _END
    score = wanted.score
    for k in range(len(wanted.losses)):
        options = (wanted.losses[k, 0], wanted.losses[k, 1], wanted.losses[k, 2])
        totals = (float(n_pos), float(n_neg))
        sum_losses(score, wanted.log_p, wanted.log_q, a, b, options, totals, out[at : at + _N_LOSSES])
        at += _N_LOSSES
    for k in range(len(wanted.above)):
        for side in range(2):
            count = a if side == 0 else b
            inside = zero  # whole numbers are added several at a time
            behind = zero
            for g in range(wanted.above[k]):
                inside += count[g]
            for g in range(wanted.above[k], len(count)):
                behind += count[g]
            out[at + side] = inside
            out[at + 2 + side] = behind
        at += _N_CUT
    if len(wanted.quotas):
        out[at:] = np.nan
        cuts = out[at:].reshape(len(wanted.quotas), _N_CUT)
        quotas = wanted.quotas * (cases / wanted.cases)
        totals = (float(n_pos), float(n_neg)) if whole else (np.nan, np.nan)
        cut_at_quotas(score, a, b, (0.0, 0.0), totals, wanted.scale, np.zeros(5), quotas, True, cuts)


@kernel
def resample(
    first: int, last: int, drawing: Any, rows: Any, wanted: Any, zero: Any, a: Any, b: Any, out: Any, stop: Any
) -> None:
    """Replicates ``first`` to ``last``, each drawn within the strata of the units."""
    counts = np.zeros(drawing.n_units + 1, np.uint16)
    for r in range(first, last):
        if stop[0]:
            return
        _draw_units(counts, drawing, r)
        accumulate(counts, rows, a, b)
        sum_replicate(a, b, zero, wanted, out[r])


@kernel
def _draw_units(counts: Any, drawing: Any, r: int) -> None:
    """How often each unit comes in replicate ``r``."""
    strata = drawing.strata
    counts[:] = 0
    for s in range(len(strata)):
        draw(counts, strata[s, 0], strata[s, 1], drawing.seed, r * len(strata) + s)


@kernel
def leave_out(
    first: int, last: int, block: Any, rows: Any, wanted: Any, zero: Any, a: Any, b: Any, out: Any, stop: Any
) -> None:
    """The sums without each block of units in turn."""
    counts = np.zeros(len(block) + 1, np.uint16)
    for k in range(first, last):
        if stop[0]:
            return
        for i in range(len(block)):
            counts[i] = block[i] != k
        accumulate(counts, rows, a, b)
        sum_replicate(a, b, zero, wanted, out[k])


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
    first: int, last: int, drawing: Any, rows: Any, axis: int, grid: Any, a: Any, b: Any, out: Any, stop: Any
) -> None:
    """For each replicate the cuts at given shares of an axis: the material of a band.

    ``out`` takes the positives, the negatives (replicate, share), and the class sizes (replicate, class).
    """
    hits, misses, sizes = out
    counts = np.zeros(drawing.n_units + 1, np.uint16)
    for r in range(first, last):
        if stop[0]:
            return
        _draw_units(counts, drawing, r)
        accumulate(counts, rows, a, b)
        n_pos = 0.0
        n_neg = 0.0
        for g in range(len(a)):
            n_pos += a[g]
            n_neg += b[g]
        sizes[r, 0] = n_pos
        sizes[r, 1] = n_neg
        cut_at_shares(a, b, n_pos, n_neg, axis, grid, hits[r], misses[r])


@kernel
def sum_sets(score: Any, positive: Any, ties: int, thresholds: Any, wanted: Any, out: Any) -> None:
    """Rank each of many test sets of one size (a row of ``score`` and ``positive``) and fill its vector of sums.

    ``ties``: 0 leaves tied cases together, 1 puts their positives first, −1 last. Of ``wanted``, what depends on the
    scores is made anew for each set.
    """
    n = score.shape[1]
    value = np.empty(n)
    a = np.empty(n, np.int32)
    b = np.empty(n, np.int32)
    above = np.empty(len(thresholds), np.int64)
    log_p = np.empty(n)
    log_q = np.empty(n)
    for s in range(len(score)):
        pos = np.sort(score[s][positive[s]])
        neg = np.sort(score[s][~positive[s]])
        p = len(pos) - 1
        q = len(neg) - 1
        used = 0
        while p >= 0 or q >= 0:
            here, p_after, q_after = next_group(pos, neg, p, q)
            hits = p - p_after
            misses = q - q_after
            p = p_after
            q = q_after
            value[used] = here
            if ties == 0 or hits == 0 or misses == 0:
                a[used] = hits
                b[used] = misses
            else:
                value[used + 1] = here
                a[used] = hits if ties > 0 else 0
                b[used] = 0 if ties > 0 else misses
                a[used + 1] = hits - a[used]
                b[used + 1] = misses - b[used]
                used += 1
            used += 1
        for k in range(len(thresholds)):
            above[k] = 0
            while above[k] < used and value[above[k]] > thresholds[k]:
                above[k] += 1
        if len(wanted.losses):
            for g in range(used):
                log_p[g] = math.log(value[g]) if value[g] > 0 else -np.inf
                log_q[g] = math.log1p(-value[g]) if value[g] < 1 else -np.inf
        these = Wanted(
            value[:used],
            log_p[:used],
            log_q[:used],
            wanted.harmonic,
            wanted.parts,
            wanted.losses,
            above,
            wanted.scale,
            wanted.quotas,
            wanted.cases,
        )
        sum_replicate(a[:used], b[:used], 0, these, out[s])

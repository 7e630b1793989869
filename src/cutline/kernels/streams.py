"""The compiled steps of a stream: tie groups across batches, blocks of a compact ranking, weights keyed by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .jit import kernel
from .layout import DRAWS_PER_NUMBER, FIRST, GROUPS, NEG, OPEN, POS, SCORES, TOP
from .rng import GOLDEN, mix, seeded


@kernel
def group_rows(
    score: NDArray[Any], positive: Any, is_open: bool, out_score: Any, out_pos: Any, out_neg: Any, rows: Any
) -> int:
    """Rows in falling order into groups of equal score; the group left open by the last batch is at place 0 of ``out``.

    Gives the number of groups, or −1 − i where the score rises at row i. ``rows`` counts this batch's rows by group.
    """
    used = 0 if is_open else -1
    for i in range(len(score)):
        value = score[i]
        if used < 0 or value != out_score[used]:
            if used >= 0 and not value < out_score[used]:
                return -1 - i
            used += 1
            out_score[used] = value
            out_pos[used] = 0
            out_neg[used] = 0
            rows[used] = 0
        out_pos[used] += positive[i]
        out_neg[used] += 1 - positive[i]
        rows[used] += 1
    return used + 1


@kernel
def group_weights(
    score: NDArray[Any],
    positive: Any,
    weight: NDArray[np.float64],
    is_open: bool,
    out_score: Any,
    out_pos: Any,
    out_neg: Any,
    rows: Any,
) -> int:
    """The same with weights."""
    used = 0 if is_open else -1
    for i in range(len(score)):
        value = score[i]
        if used < 0 or value != out_score[used]:
            if used >= 0 and not value < out_score[used]:
                return -1 - i
            used += 1
            out_score[used] = value
            out_pos[used] = 0.0
            out_neg[used] = 0.0
            rows[used] = 0
        if positive[i]:
            out_pos[used] += weight[i]
        else:
            out_neg[used] += weight[i]
        rows[used] += 1
    return used + 1


@kernel
def group_groups(
    score: NDArray[Any], pos: Any, neg: Any, is_open: bool, out_score: Any, out_pos: Any, out_neg: Any
) -> int:
    """The same for batches that were grouped before: only the first and the open group can be one."""
    used = 0 if is_open else -1
    for i in range(len(score)):
        value = score[i]
        if used >= 0 and value == out_score[used]:
            out_pos[used] += pos[i]
            out_neg[used] += neg[i]
            continue
        if used >= 0 and not value < out_score[used]:
            return -1 - i
        used += 1
        out_score[used] = value
        out_pos[used] = pos[i]
        out_neg[used] = neg[i]
    return used + 1


@kernel
def into_blocks(
    score: NDArray[Any],
    pos: Any,
    neg: Any,
    start: float,
    totals: NDArray[np.float64],
    tolerance: float,
    marks: NDArray[np.float64],
    cuts: NDArray[np.float64],
    state: NDArray[np.float64],
    out: NDArray[np.float64],
    block: NDArray[np.int64],
) -> int:
    """Neighbouring groups into blocks, so small that a curve through their ends is as good as the whole one.

    Within a block neither class moves by more than ``tolerance`` of itself, nor the number taken by more than that
    share of the cases before the block or of those behind it. A group that holds a marked place is a block of its
    own, and no block reaches across one of the ``cuts`` (thresholds, falling). Finished blocks go to ``out``: score of
    the first group, sum of scores, positives, negatives, groups. ``block`` tells each group's block, counted from the
    one that is open at the start. Gives the number of finished blocks.
    """
    n_pos = totals[0]
    n_neg = totals[1]
    total = n_pos + n_neg
    n = start
    done = 0
    mark = 0
    while mark < len(marks) and marks[mark] <= n:
        mark += 1
    cut = 0
    closed = False  # whether the open block may not grow
    for g in range(len(score)):
        p = float(pos[g])
        q = float(neg[g])
        m = p + q
        marked = mark < len(marks) and marks[mark] <= n + m
        while mark < len(marks) and marks[mark] <= n + m:
            mark += 1
        grows = state[OPEN] > 0 and not marked and not closed
        if grows:
            size = state[POS] + state[NEG] + m
            before = state[FIRST]
            grows = (
                size <= tolerance * min(before, total - before - size)
                and state[POS] + p <= tolerance * n_pos
                and state[NEG] + q <= tolerance * n_neg
            )
        if grows:
            while cut < len(cuts) and cuts[cut] >= state[TOP]:
                cut += 1
            grows = cut == len(cuts) or score[g] > cuts[cut]
        if not grows:
            if state[OPEN] > 0:
                out[done] = state[TOP : GROUPS + 1]
                done += 1
            state[OPEN] = 1.0
            state[TOP] = score[g]
            state[SCORES] = 0.0
            state[POS] = 0.0
            state[NEG] = 0.0
            state[GROUPS] = 0.0
            state[FIRST] = n
        state[SCORES] += score[g] * m
        state[POS] += p
        state[NEG] += q
        state[GROUPS] += 1.0
        closed = marked
        block[g] = done
        n += m
    if closed:  # the marked group stays alone in the next batch, too
        state[FIRST] = -np.inf
    return done


@kernel
def placement_moments(
    pos: Any, neg: Any, a0: Any, b0: Any, n_pos: Any, n_neg: Any
) -> tuple[float, float, float, float]:
    """Mean and squared deviations of DeLong's placements of a piece's positives, and of its negatives."""
    result = np.zeros(4)
    for side in range(2):
        mean = 0.0
        for turn in range(2):
            a = a0
            b = b0
            total = 0.0
            cases = 0.0
            for g in range(len(pos)):
                p = pos[g]
                q = neg[g]
                if side == 0:
                    value = (n_neg - b - 0.5 * q) / n_neg
                    many = p
                else:
                    value = (a + 0.5 * p) / n_pos
                    many = q
                if turn == 0:
                    total += many * value
                    cases += many
                else:
                    total += many * (value - mean) * (value - mean)
                a += p
                b += q
            if turn == 0:
                mean = total / cases if cases > 0 else 0.0
            else:
                result[2 * side + 1] = total
        result[2 * side] = mean
    return result[0], result[1], result[2], result[3]


@kernel
def draw_rows(
    row: NDArray[np.int64],
    positive: Any,
    weight: Any,
    rows: Any,
    place: NDArray[np.int64],
    seed: int,
    table: NDArray[np.uint8],
    first: int,
    last: int,
    counts: Any,
) -> None:
    """Add each row's Poisson weights in the replicates ``first`` to ``last`` (multiples of 4) to its block's counts.

    A weight depends on the seed, the row's number and the replicate's number alone: on no batch, thread or order.
    ``rows`` is the number of rows of each group, ``place`` the group's line in ``counts`` (line, class, replicate).
    """
    base = seeded(seed)
    low = np.uint64(0xFFFF)
    i = 0
    for g in range(len(rows)):
        for _ in range(rows[g]):
            key = mix(base + np.uint64(row[i]) * GOLDEN)
            line = counts[place[g], 0 if positive[i] else 1]
            if len(weight):
                w = weight[i]
                for r in range(first, last, DRAWS_PER_NUMBER):
                    number = mix(key + np.uint64(r + 1) * GOLDEN)
                    line[r] += w * table[number & low]
                    line[r + 1] += w * table[(number >> np.uint64(16)) & low]
                    line[r + 2] += w * table[(number >> np.uint64(32)) & low]
                    line[r + 3] += w * table[number >> np.uint64(48)]
            else:
                for r in range(first, last, DRAWS_PER_NUMBER):
                    number = mix(key + np.uint64(r + 1) * GOLDEN)
                    line[r] += table[number & low]
                    line[r + 1] += table[(number >> np.uint64(16)) & low]
                    line[r + 2] += table[(number >> np.uint64(32)) & low]
                    line[r + 3] += table[number >> np.uint64(48)]
            i += 1

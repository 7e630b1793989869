"""The steps of a stream in NumPy: the twins of those in ``streams``, for executors without numba."""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Floats
from .layout import DRAWS_PER_NUMBER, FIRST, GROUPS, NEG, OPEN, POS, SCORES, TOP
from .plain_replicates import GOLDEN, mix, seeded


def group_groups(
    score: Floats, pos: NDArray[Any], neg: NDArray[Any], is_open: bool, out_score: Any, out_pos: Any, out_neg: Any
) -> int:
    """Groups in falling order, equal neighbours joined; the open group is at place 0 of ``out``."""
    return _grouped(score, pos, neg, is_open, out_score, out_pos, out_neg, np.zeros(len(score) + 1, np.int64))


def group_rows(
    score: Floats, positive: NDArray[Any], is_open: bool, out_score: Any, out_pos: Any, out_neg: Any, rows: Any
) -> int:
    """Rows in falling order into groups of equal score."""
    pos = positive.astype(out_pos.dtype)
    return _grouped(score, pos, 1 - pos, is_open, out_score, out_pos, out_neg, rows)


def group_weights(
    score: Floats, positive: Any, weight: Floats, is_open: bool, out_score: Any, out_pos: Any, out_neg: Any, rows: Any
) -> int:
    """The same with weights."""
    is_positive = positive.astype(np.bool_)
    pos, neg = np.where(is_positive, weight, 0.0), np.where(is_positive, 0.0, weight)
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

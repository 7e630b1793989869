"""The compiled steps from rows to a ranking, and the thinning of curves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .jit import inlined, kernel


@kernel
def split(score: NDArray[Any], positive: NDArray[np.bool_], n_pos: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Scores of the positives (``n_pos`` of them) and of the negatives."""
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


@inlined
def next_group(pos: Any, neg: Any, p: Any, q: Any) -> Any:
    """The best score left of two ascending arrays, and where its equals end in each: one step of a merge.

    ``p`` and ``q`` are the last places not yet taken. A step always takes a row, whatever the arrays hold.
    """
    from_pos = p >= 0 and (q < 0 or pos[p] >= neg[q])
    value = pos[p] if from_pos else neg[q]
    if from_pos:
        p -= 1
    else:
        q -= 1
    while p >= 0 and pos[p] == value:
        p -= 1
    while q >= 0 and neg[q] == value:
        q -= 1
    return value, p, q


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
        value, p_after, q_after = next_group(pos, neg, p, q)
        score[used] = value
        n_pos[used] = p - p_after
        n_neg[used] = q - q_after
        p = p_after
        q = q_after
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
def keep_within(x: NDArray[np.float64], y: NDArray[np.float64], tolerance: float) -> NDArray[np.bool_]:
    """Douglas–Peucker with vertical distances: which points to keep so that chords stay within the tolerance."""
    n = len(x)
    keep = np.zeros(n, np.bool_)
    keep[0] = True
    keep[n - 1] = True
    stack = np.empty((128, 2), np.int64)
    stack[0, 0] = 0
    stack[0, 1] = n - 1
    top = 1
    while top > 0:
        top -= 1
        i = stack[top, 0]
        j = stack[top, 1]
        wide = x[j] - x[i]
        worst = -1.0
        at = -1
        for k in range(i + 1, j):
            # on a vertical stretch the chord is the stretch itself: only points beyond its ends stick out
            if wide > 0:
                gap = abs(y[k] - (y[i] + (y[j] - y[i]) * ((x[k] - x[i]) / wide)))
            else:
                gap = max(max(y[k] - max(y[i], y[j]), min(y[i], y[j]) - y[k]), 0.0)
            if gap > worst:
                worst = gap
                at = k
        if worst > tolerance:
            keep[at] = True
            if top + 2 > len(stack):
                longer = np.empty((2 * len(stack), 2), np.int64)
                longer[: len(stack)] = stack
                stack = longer
            stack[top, 0] = i
            stack[top, 1] = at
            stack[top + 1, 0] = at
            stack[top + 1, 1] = j
            top += 2
    return keep

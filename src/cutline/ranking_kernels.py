"""The compiled steps from a sample to a ranking. Imported at first use only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import kernel


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

"""The steps from rows to a ranking in NumPy; see ``rankings``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def split(score: NDArray[Any], positive: NDArray[np.bool_], n_pos: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Scores of the positives and of the negatives."""
    return score[positive], score[~positive]


def merge_sorted(
    pos: NDArray[Any], neg: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int32], int]:
    """Two ascending arrays into descending groups of equal score."""
    both = np.sort(np.concatenate((pos, neg)))[::-1]
    score = both[np.concatenate(([True], both[1:] != both[:-1]))]
    sides = [len(side) - np.searchsorted(side, score, side="left") for side in (pos, neg)]
    n_pos, n_neg = (np.diff(side, prepend=0).astype(np.int32) for side in sides)
    return score, n_pos, n_neg, len(score)


def group_weighted(
    score: NDArray[Any], positive: NDArray[np.bool_], weight: NDArray[np.float64], order: NDArray[np.intp]
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64], int]:
    """Weights summed over equal scores, from an ascending order of the rows, best first."""
    falling = order[::-1]
    value = score[falling]
    starts = np.flatnonzero(np.concatenate(([True], value[1:] != value[:-1])))
    sides = [np.where(side, weight, 0.0)[falling] for side in (positive, ~positive)]
    pos, neg = (np.add.reduceat(side, starts) for side in sides)
    return value[starts], pos, neg, len(starts)

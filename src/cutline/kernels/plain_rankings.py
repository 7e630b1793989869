"""The steps from rows to a ranking in NumPy; see ``rankings``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def tie_starts(*columns: NDArray[Any]) -> NDArray[np.intp]:
    """Where a tie begins among rows in order: where any of the columns has another value than the row before.

    Values are compared, never subtracted: equal infinities are one tie, and their difference is nan.

    >>> tie_starts(np.array([np.inf, np.inf, 1.0, 1.0, -np.inf])).tolist()
    [0, 2, 4]
    """
    changes = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return np.concatenate([[0], np.flatnonzero(changes) + 1])


def split(score: NDArray[Any], positive: NDArray[np.bool_], n_pos: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Scores of the positives and of the negatives."""
    return score[positive], score[~positive]


def merge_sorted(
    pos: NDArray[Any], neg: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int32], int]:
    """Two ascending arrays into descending groups of equal score."""
    both = np.sort(np.concatenate((pos, neg)))[::-1]
    score = both[tie_starts(both)]
    sides = [len(side) - np.searchsorted(side, score, side="left") for side in (pos, neg)]
    n_pos, n_neg = (np.diff(side, prepend=0).astype(np.int32) for side in sides)
    return score, n_pos, n_neg, len(score)


def group_weighted(
    score: NDArray[Any], positive: NDArray[np.bool_], weight: NDArray[np.float64], order: NDArray[np.intp]
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64], int]:
    """Weights summed over equal scores, from an ascending order of the rows, best first."""
    falling = order[::-1]
    value = score[falling]
    starts = tie_starts(value)
    sides = [np.where(side, weight, 0.0)[falling] for side in (positive, ~positive)]
    pos, neg = (np.add.reduceat(side, starts) for side in sides)
    return value[starts], pos, neg, len(starts)

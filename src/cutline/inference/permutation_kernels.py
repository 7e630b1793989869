"""The compiled draw behind the label permutation test. Imported at first use only, because numba takes a moment."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import kernel


@kernel
def permute_labels(size: Any, n_pos: int, rows: int, seed: int, stream: int, pos: Any, neg: Any) -> None:
    """Deal ``n_pos`` positive labels to ``rows`` rows in tie groups of the given sizes, all ways equally likely.

    Selection sampling (Knuth, The Art of Computer Programming 3.4.2, Algorithm S): a row is positive with probability
    (positives left) / (rows left). Numbers by splitmix64, started for each permutation by itself, so that results do
    not depend on which thread makes which permutation.
    """
    golden = np.uint64(0x9E3779B97F4A7C15)
    one = np.uint64(0xBF58476D1CE4E5B9)
    two = np.uint64(0x94D049BB133111EB)
    state = np.uint64(seed) * golden + np.uint64(1)
    for turn in range(2):  # seed and permutation number are mixed in one after the other
        state = (state ^ (state >> np.uint64(30))) * one
        state = (state ^ (state >> np.uint64(27))) * two
        state = (state ^ (state >> np.uint64(31))) + (np.uint64(stream) * golden if turn == 0 else np.uint64(0))
    left = float(n_pos)
    rest = float(rows)
    for g in range(len(size)):
        taken = 0
        for _ in range(size[g]):
            state += golden
            x = (state ^ (state >> np.uint64(30))) * one
            x = (x ^ (x >> np.uint64(27))) * two
            x = x ^ (x >> np.uint64(31))
            if np.float64(x >> np.uint64(11)) * (1.0 / 9007199254740992.0) * rest < left:
                taken += 1
                left -= 1.0
            rest -= 1.0
        pos[g] = taken
        neg[g] = size[g] - taken

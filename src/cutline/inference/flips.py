"""Sign flips: how far a difference between two models strays by chance.

If two models are equally good, the influence of a row (or cluster) on their difference is as likely to favour one as
the other. Flipping signs at random shows what chance does, also where a handful of rows carries the whole difference.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
EXACT_UNITS = 11


def sign_matrix(units: int, n_flips: int, seed: int) -> Floats:
    """Signs, one row for each flip; all of them (the first unit's sign fixed) with at most eleven units."""
    if units <= EXACT_UNITS:
        rest = np.array(list(itertools.product((1.0, -1.0), repeat=max(units - 1, 0)))).reshape(-1, max(units - 1, 0))
        return np.hstack([np.ones((len(rest), 1)), rest])
    rng = np.random.default_rng([seed & (2**63 - 1), 5])
    return 2.0 * rng.integers(0, 2, (n_flips, units)).astype(np.float64) - 1.0


def flipped_scale(statistic: Any, units: int) -> Any:
    """|t|/√(1 + t²/U): a statistic with centred influences on the scale of the flips."""
    size = np.abs(statistic)
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(size), math.sqrt(units), size / np.sqrt(1.0 + size * size / units))

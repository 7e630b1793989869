"""Weighted rows: how many cases they are worth, and how they are redrawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..types import Floats

SMALL_SIZE = 30.0


def effective_size(weight: Floats) -> float:
    """Kish's effective sample size (Σw)²/Σw²."""
    square = float((weight**2).sum())
    return float(weight.sum()) ** 2 / square if square > 0.0 else 0.0


def weights_follow_labels(positive: NDArray[np.bool_], weight: Floats) -> bool:
    """Whether all positives weigh alike and all negatives weigh alike, but differently: a case–control sample.

    Its class sizes were set by design, so replicates keep them (stratified).
    """
    if positive.all() or not positive.any():
        return False
    one, two = weight[positive], weight[~positive]
    alike = max(float(np.ptp(one)) / one[0], float(np.ptp(two)) / two[0]) < 1e-9
    return bool(alike and abs(one[0] / two[0] - 1.0) > 1e-9)


def small_size_note(positive: NDArray[np.bool_], weight: Floats) -> str:
    """A warning that names the effective sample size where it is small in a class; else empty."""
    small = []
    for name, rows in (("positives", weight[positive]), ("negatives", weight[~positive])):
        size = effective_size(rows)
        if size < SMALL_SIZE and size < 0.9 * len(rows):  # few rows of equal weight show in their own numbers
            small.append(f"{size:.0f} {name} ({len(rows):,} rows)")
    if not small:
        return ""
    return f"The weights leave an effective sample of {' and '.join(small)}, so intervals may be too short."

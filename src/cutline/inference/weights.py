"""Weighted rows: how many cases they are worth, and how they are redrawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
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
    sizes = {"positives": effective_size(weight[positive]), "negatives": effective_size(weight[~positive])}
    small = [f"{count:.0f} {name}" for name, count in sizes.items() if count < SMALL_SIZE]
    if not small:
        return ""
    return f"the weights leave an effective sample of {' and '.join(small)}: intervals may be too short"

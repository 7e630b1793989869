"""How sure a triplet loss is: an interval from the spread of the triplets, or of clusters of them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..catalogue.other_shapes import triplet_losses
from ..errors import InputError
from ..estimate import Estimate
from ..sources.arrays import as_column
from ..types import Labels
from ..validate import checked
from .normal import t_quantile


@checked
def triplet_loss_estimate(
    anchor: ArrayLike,
    positive: ArrayLike,
    negative: ArrayLike,
    *,
    margin: float,
    normalize: bool = False,
    clusters: Labels | None = None,
    level: float = 0.95,
) -> Estimate:
    """The triplet loss with an interval for its expected value over the same number of triplets from the same source.

    Triplets that share an anchor are not independent: number the anchors in ``clusters``. The interval is Student's,
    from the variance between triplets or clusters.

    >>> one, two = [[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]
    >>> triplet_loss_estimate(one, one, two, margin=3.0).value
    2.0
    """
    losses = triplet_losses(anchor, positive, negative, margin, normalize)
    value, n = float(losses.sum()), len(losses)
    parts = losses - value / n
    if clusters is not None:
        labels = as_column(clusters, "clusters")
        if len(labels) != n:
            raise InputError("clusters", f"has {len(labels)} rows, there are {n} triplets", "pass one for each triplet")
        parts = np.bincount(np.unique(labels, return_inverse=True)[1], weights=parts).astype(np.float64)
    units = len(parts)
    if units < 2:
        reason = "a single triplet or cluster shows no spread"
        return Estimate("triplet_loss", value, reason=reason)
    error = math.sqrt(float(parts @ parts) * units / (units - 1))
    half = t_quantile(level, units - 1) * error
    return Estimate("triplet_loss", value, max(0.0, value - half), value + half, level, "delta_t")

"""The Poisson bootstrap of a stream: every row draws its weights by its number, and blocks of rows add them up.

A replicate gives each row a weight from the Poisson distribution with mean 1, independent of all others. That is the
ordinary bootstrap without its one condition, that the weights add up to the number of rows; so no row needs to know
of any other, and a pass over the rows in any order, on any thread, gives the same replicates. Two corrections bring
the condition back: quotas are taken as shares of the rows drawn, and what of a measure's spread is due to the number
of rows (or of rows of each class, where the ordinary bootstrap keeps the class sizes) is taken out by regression.

Weights add up: those of a block of c rows make a Poisson number with mean c. So where rows have no weights of their own
and need not match the rows of other models, whole blocks are drawn after the pass, at a cost that does not grow with
the rows. Only weighted rows and paired models are drawn row by row while they stream by.

Replicates are read on the compact ranking: blocks of neighbouring groups count as ties, and the small shift that this
makes, the same in every replicate to first order, is taken out by centring on the exact value.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import plan_sweeps
from ..catalogue.declare import Spec
from ..inference.bootstrap import Resampled
from ..inference.evidence import GRID
from ..inference.leads import hits_by
from ..ranking import Ranking
from ..sweep import Request, wanted
from ..threads import cores, in_threads
from ..types import Floats

AXES = ("quota", "fpr")
SHARES = np.linspace(0.0, 1.0, GRID)


def drawn_by_block(ranking: Ranking, n_resamples: int, seed: int) -> NDArray[np.uint32]:
    """Counts by block, class and replicate, drawn for whole blocks: a Poisson number with the mean of its rows."""
    rng = np.random.default_rng([seed & (2**63 - 1), 3])
    counts = np.empty((len(ranking), 2, n_resamples), np.uint32 if ranking.rows < 2**31 else np.uint64)
    for r in range(n_resamples):
        counts[:, 0, r] = rng.poisson(ranking.pos)
        counts[:, 1, r] = rng.poisson(ranking.neg)
    return counts


def hits_of_replicates(ranking: Ranking, counts: NDArray[Any]) -> dict[str, Floats]:
    """For each axis of dominance: positives found by replicate and share of the axis, on the compact ranking."""
    found = {axis: np.empty((counts.shape[2], len(SHARES))) for axis in AXES}
    for r in range(counts.shape[2]):
        pos, neg = (counts[:, side, r].astype(np.float64) for side in range(2))
        drawn = Ranking(ranking.score, pos, neg, ranking.rows, ranking.weighted)
        for axis, whole in zip(AXES, (pos.sum() + neg.sum(), neg.sum()), strict=True):
            found[axis][r] = hits_by(drawn, axis, SHARES * whole)
    return found


def replicate(
    wanted: Mapping[Spec, Resampled], ranking: Ranking, middle: Floats, counts: NDArray[Any]
) -> dict[Spec, Floats]:
    """Replicates of many measures from the counts of a stream, centred on their exact values.

    ``middle`` is the mean score of each block.
    """
    found: dict[Spec, Floats] = {}
    drawn = counts.astype(np.float64).sum(axis=0)  # (class, replicate)
    relative = drawn / np.array([[max(ranking.n_pos, 1e-300)], [max(ranking.n_neg, 1e-300)]]) - 1.0
    whole = drawn.sum(axis=0) / (ranking.n_pos + ranking.n_neg) - 1.0
    for reading in plan_sweeps(list(wanted), ranking.cases):
        vectors = _vectors(reading.request, ranking, middle, counts, reading.ties)
        own, drawn_values = reading.values(vectors[0]), reading.values(vectors[1:])
        for k, spec in enumerate(reading.specs):
            replicates = np.asarray(drawn_values[k], dtype=np.float64)
            covariates = relative if wanted[spec].keeps_classes else whole[None, :]
            shift = wanted[spec].value - float(own[k])
            found[spec] = _conditioned(replicates, covariates) + (shift if np.isfinite(shift) else 0.0)
    return found


def _conditioned(values: Floats, covariates: Floats) -> Floats:
    """The values less what the covariates (mean 0 by design) explain linearly."""
    known = np.isfinite(values)
    usable = [c for c in covariates if np.ptp(c[known]) > 0] if known.any() else []
    if known.sum() < 4 * (len(usable) + 1) or not usable:
        return values
    design = np.column_stack([np.ones(known.sum()), *(c[known] for c in usable)])
    slopes = np.linalg.lstsq(design, values[known], rcond=None)[0][1:]
    corrected = values.copy()
    corrected[known] -= design[:, 1:] @ slopes
    return corrected


def _vectors(request: Request, ranking: Ranking, middle: Floats, counts: NDArray[Any], ties: Any) -> Floats:
    """The vector of sums of the compact ranking itself, then those of its replicates."""
    from ..kernels.replicates import sum_replicate

    n = counts.shape[2]
    zero: Any = 0.0 if ranking.weighted else 0
    dtype: Any = np.float64 if ranking.weighted else np.int64
    out = np.zeros((n + 1, request.width))
    repeat = np.arange(len(ranking)) if ties == "expected" else np.repeat(np.arange(len(ranking)), 2)
    above = [int(np.count_nonzero(ranking.score[repeat] > t)) for t in request.thresholds]
    whole = not ranking.weighted
    sums = wanted(request, middle[repeat], ranking.cases, whole=whole, above=above)

    def one(r: int) -> None:
        pair = (ranking.pos, ranking.neg) if r == 0 else (counts[:, 0, r - 1], counts[:, 1, r - 1])
        pos, neg = (np.ascontiguousarray(side, dtype=dtype) for side in pair)
        drawn = Ranking(ranking.score, pos, neg, ranking.rows).apart(ties)
        sum_replicate(drawn.pos, drawn.neg, zero, sums, out[r])

    def span(first: int, last: int) -> None:
        for r in range(first, last):
            one(r)

    step = -(-(n + 1) // cores())
    in_threads([partial(span, first, min(first + step, n + 1)) for first in range(0, n + 1, step)])
    return out

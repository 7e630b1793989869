"""Standard errors for long lists, from the spread of a measure over random blocks of the rows.

With B blocks of n/B rows each, a measure that is close to a mean over rows varies √B times as much from block to block
as it does from sample to sample. One sort and one sweep of each block cost about as much as those of the whole list,
where a bootstrap would cost thousands of sweeps; and a list this long needs no correction for skewness.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import compute
from ..catalogue.declare import Spec
from ..estimate import Interval
from ..ranking import Ranking, rank
from ..sources.arrays import Sample
from ..threads import in_threads
from .normal import t_quantile

BLOCKS = 50
_ROWS = 100_000
_OF_EACH_CLASS = 100 * BLOCKS


def are_enough(ranking: Ranking, sample: Sample) -> bool:
    """Whether blocks are long enough: 100,000 rows or more, and some 100 of either class in each block."""
    n_pos = int(np.count_nonzero(sample.positive))
    return ranking.rows >= _ROWS and min(n_pos, ranking.rows - n_pos) >= _OF_EACH_CLASS


def by_block(
    specs: Sequence[Spec], sample: Sample, seed: int, *, by_class: bool = False
) -> dict[Spec, NDArray[np.float64]]:
    """The measures on each of the blocks, rows dealt out at random; the same rows for the same seed.

    ``by_class``: each block gets its share of either class.
    """
    order = np.random.default_rng([seed & (2**63 - 1), 2]).permutation(len(sample))
    if by_class:
        sides = (np.array_split(order[sample.positive[order] == side], BLOCKS) for side in (False, True))
        dealt = [np.concatenate(parts) for parts in zip(*sides, strict=True)]
    else:
        dealt = np.array_split(order, BLOCKS)

    def values_of(rows: NDArray[np.intp]) -> list[float]:
        values = compute(specs, rank(sample.part(rows))).values
        return [values[spec] for spec in specs]

    table = np.array(in_threads([partial(values_of, rows) for rows in dealt]))
    return {spec: table[:, k] for k, spec in enumerate(specs)}


def standard_error(spec: Spec, value: float, blocks: NDArray[np.float64]) -> float:
    """Standard error of the value on the whole list; for sums that grow with n, from their relative spread."""
    spread = float(blocks.std(ddof=1)) / math.sqrt(len(blocks))
    if not spec.measure.extensive:
        return spread
    mean = float(blocks.mean())
    return abs(value / mean) * spread if mean else math.nan


def block_interval(spec: Spec, value: float, blocks: NDArray[np.float64], level: float) -> Interval:
    """value ± t·SE with B − 1 degrees of freedom, kept inside the measure's range."""
    half = t_quantile(level, len(blocks) - 1) * standard_error(spec, value, blocks)
    low, high = spec.measure.range
    return Interval(max(low, value - half), min(high, value + half))

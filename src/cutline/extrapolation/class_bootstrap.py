"""How sure an extrapolated accuracy is: the class bootstrap, and the interval made of it and of the methods' spread."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import numpy as np

from ..errors import InputError
from ..progress import Progress
from ..types import Floats
from .evidence import Evidence, ObservedTask
from .favorability import Favorability
from .methods import Blend, Method

_EDGE = 1e-5
_BINS = 1000
# A mean of methods is nearer the truth than its members are to each other: on populations with known curves this share
# of their spread gives intervals that hold the truth as often as they promise.
_OF_BETWEEN = 0.7
# Replicates serve for their spread, to which a method with less weight than this adds next to nothing.
_WORTH_REFITTING = 0.1
# Below so many scores threads wait for each other longer than they work.
_WORTH_THREADS = 100_000


def replicate_fits(
    task: ObservedTask, method: Method, n: int, seed: int, *, n_jobs: int | None = None, show: bool | None = None
) -> list[Favorability]:
    """The method refitted on ``n`` resamples of the classes, in order; those that it cannot read are left out.

    Settings that the data chose (bandwidth, tail share, weights of a blend) stay as they were found on all classes.
    Draws depend on the seed and the number of the replicate alone, so threads do not change them.
    """
    if isinstance(method, Blend):
        method = method.without_small(_WORTH_REFITTING)
    settled = method.settled(task.whole())
    cores = os.cpu_count() or 1
    if n_jobs is None:
        workers = min(4, cores) if task.n_cases * task.n_classes > _WORTH_THREADS else 1
    else:
        workers = cores if n_jobs < 0 else n_jobs

    def fitted(evidence: Evidence) -> Favorability | None:
        try:
            return compressed(evidence.whole_task(settled.fit(evidence)))
        except InputError:
            # Of few classes or coarse scores a resample can be without spread although the whole is not.
            return None

    fits: list[Favorability] = []
    with ThreadPoolExecutor(workers) as pool, Progress("resamples", n, show) as progress:
        for batch in _batches(task.resamples(n, seed), workers):
            fits.extend(fit for fit in pool.map(fitted, batch) if fit is not None)
            progress.advance(len(batch))
    return fits


def _batches(items: Iterator[Evidence], size: int) -> Iterator[list[Evidence]]:
    # Evidence with scores is large: only a handful is alive at any time.
    while batch := list(islice(items, size)):
        yield batch


def compressed(fit: Favorability) -> Favorability:
    """The same distribution with neighbouring values put together, where it has very many."""
    used = fit.span_weight != 0
    miss, weight = fit.miss, fit.miss_weight
    if miss.size > _BINS:
        place = np.searchsorted(np.geomspace(1e-16, 1.0, _BINS), miss)
        total = np.asarray(np.bincount(place, weights=weight), dtype=np.float64)
        moment = np.asarray(np.bincount(place, weights=weight * miss), dtype=np.float64)
        kept = total > 0
        miss, weight = moment[kept] / total[kept], total[kept]
    return Favorability(miss, weight, fit.span[used], fit.span_weight[used])


def logit(values: Floats | float) -> Floats:
    """Log-odds, kept finite."""
    inside = np.clip(values, _EDGE, 1.0 - _EDGE)
    return np.asarray(np.log(inside / (1.0 - inside)), dtype=np.float64)


def spread_around(values: Floats, centre: float) -> tuple[float, float]:
    """Spread below and above the centre on the logit scale, each as if the other side mirrored it.

    Two sides, because a method or a resample that falls to zero says nothing about how high the truth may be.

    >>> down, up = spread_around(np.array([0.4, 0.5, 0.5, 0.8]), 0.5)
    >>> bool(down < up)
    True
    """
    gap = logit(values) - float(logit(centre))
    below, above = gap < 0, gap > 0
    return (
        float(np.sqrt(2.0 * (gap[below] ** 2).sum() / max(values.size, 1))),
        float(np.sqrt(2.0 * (gap[above] ** 2).sum() / max(values.size, 1))),
    )


def accuracy_interval(
    value: float, replicates: Floats, members: Floats, level: float, untested: float = 0.0
) -> tuple[float, float]:
    """Interval on the logit scale from two sources: other classes (replicates) and other methods (members).

    Replicates serve for their spread alone: a resample repeats classes, which lifts its accuracies, so their place
    is off while their scatter is right. Members are all methods that the back-test does not exclude, each with the
    same weight: those that the mean leaves out because they scatter may still be right. ``untested`` is a third spread,
    of what neither of them shows.

    >>> low, high = accuracy_interval(0.5, np.array([0.4, 0.5, 0.6]), np.array([0.5]), 0.9)
    >>> round(low, 2), round(high, 2)
    (0.37, 0.63)
    """
    from scipy.special import ndtri

    reach = float(ndtri(0.5 + level / 2.0))
    centre = float(logit(value))
    sampled = spread_around(replicates, float(np.median(replicates)))
    between = spread_around(members, value) if members.size > 1 else (0.0, 0.0)
    low = centre - reach * math.hypot(sampled[0], _OF_BETWEEN * between[0], untested)
    high = centre + reach * math.hypot(sampled[1], _OF_BETWEEN * between[1], untested)
    ends = 1.0 / (1.0 + np.exp(-np.array([low, high])))
    return float(min(ends[0], value)), float(max(ends[1], value))

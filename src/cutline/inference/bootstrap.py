"""From replicates to intervals: percentile, basic, BCa."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..catalogue.compute import plan_sweeps
from ..catalogue.declare import Spec
from ..catalogue.other_shapes import triplet_losses
from ..errors import InputError, show
from ..estimate import Estimate, Interval
from ..ranking import rank
from ..sources.arrays import Sample, as_codes, make_sample
from ..types import Label, Labels, Scores
from ..validate import check_function, checked, one_of
from .normal import normal_cdf, normal_quantile, t_quantile
from .resampling import Resampler, several_clusters


class Resampled(NamedTuple):
    """What replicates of one measure need: its value, whether they keep the class sizes, and whether BCa needs more.

    ``jackknife``: also the values that leave parts of the rows out.
    """

    value: float
    keeps_classes: bool
    jackknife: bool


@dataclass(frozen=True, eq=False)
class Replicates:
    """A statistic on the sample, on its replicates, and without blocks of it (for BCa)."""

    value: float
    values: NDArray[np.float64]
    left_out: NDArray[np.float64]
    shares: NDArray[np.float64]
    strata: NDArray[np.int64]

    @property
    def undefined(self) -> int:
        """Replicates in which the statistic has no value (a class was not drawn, 0/0)."""
        return int(np.isnan(self.values).sum())

    def interval(self, method: str, level: float) -> Interval:
        """The interval by one of the methods, over the replicates that have a value."""
        kept = self.values[~np.isnan(self.values)]
        if len(kept) < 2 or self.value != self.value:
            return Interval(math.nan, math.nan)
        tail = (1.0 - level) / 2.0
        if method == "percentile":
            return Interval(*_quantiles(kept, [tail, 1.0 - tail]))
        if method == "basic":
            low, high = _quantiles(kept, [tail, 1.0 - tail])
            return Interval(2 * self.value - high, 2 * self.value - low)
        return Interval(*_quantiles(kept, self._corrected(kept, tail)))

    def _corrected(self, kept: NDArray[np.float64], tail: float) -> list[float]:
        """Levels of the percentiles, corrected for bias and skewness (Efron 1987)."""
        below = (np.count_nonzero(kept < self.value) + 0.5 * np.count_nonzero(kept == self.value)) / len(kept)
        edge = 0.5 / len(kept)
        bias = normal_quantile(min(max(below, edge), 1.0 - edge))
        skew = self.acceleration()
        levels = []
        for z in (normal_quantile(tail), normal_quantile(1.0 - tail)):
            shift = 1.0 - skew * (bias + z)
            levels.append(normal_cdf(bias + (bias + z) / shift) if shift > 0 else (0.0 if z < 0 else 1.0))
        return levels

    def acceleration(self) -> float:
        """Skewness of the influences over 6, from blocks left out; strata each about their own mean."""
        influence = np.full(len(self.left_out), np.nan)
        for s in np.unique(self.strata):
            here = self.strata == s
            gaps = np.where(np.isfinite(self.left_out[here]), self.left_out[here], np.nan)
            if not np.isnan(gaps).all():
                influence[here] = (np.nanmean(gaps) - gaps) * (1.0 - self.shares[here])
        influence = influence[np.isfinite(influence)]
        spread = float((influence**2).sum())
        return float((influence**3).sum()) / (6.0 * spread**1.5) if spread > 0 else 0.0


def _quantiles(values: NDArray[np.float64], levels: Sequence[float]) -> list[float]:
    """Quantiles by linear interpolation; where values are infinite, between which none lies, by the observed ones."""
    method = "linear" if np.isfinite(values).all() else "inverted_cdf"
    return [float(q) for q in np.quantile(values, levels, method=method)]  # type: ignore[call-overload]


def replicate(
    specs: Sequence[Spec], values: Mapping[Spec, float], resampler: Resampler, n_resamples: int, *, jackknife: bool
) -> dict[Spec, Replicates]:
    """Replicates of many measures from one pass for each tie rule among them."""
    _, shares, strata = resampler.blocks() if jackknife else (None, np.empty(0), np.empty(0, np.int64))
    found: dict[Spec, Replicates] = {}
    for reading in plan_sweeps(specs, resampler.ranking.cases):
        if reading.specs:
            drawn = reading.values(resampler.vectors(reading.request, n_resamples, reading.ties))
            left = reading.values(resampler.left_out(reading.request, reading.ties)) if jackknife else None
            for k, spec in enumerate(reading.specs):
                gaps = np.asarray(left[k], dtype=np.float64) if left is not None else np.empty(0)
                found[spec] = Replicates(values[spec], np.asarray(drawn[k], dtype=np.float64), gaps, shares, strata)
    for spec in specs:
        if spec.measure.part == "ranking":
            drawn_one = [
                float(spec.measure.compute(ranking, **spec.arguments))
                for _, ranking in resampler.each(n_resamples, spec.ties)
            ]
            found[spec] = Replicates(values[spec], np.array(drawn_one), np.empty(0), np.empty(0), np.empty(0, np.int64))
    return found


def values_left_out(specs: Sequence[Spec], resampler: Resampler) -> dict[Spec, NDArray[np.float64]]:
    """Measures that are algebra on sums without each block of units in turn."""
    found: dict[Spec, NDArray[np.float64]] = {}
    for reading in plan_sweeps(specs, resampler.ranking.cases):
        if reading.specs:
            values = reading.values(resampler.left_out(reading.request, reading.ties))
            found |= {s: np.asarray(v, np.float64) for s, v in zip(reading.specs, values, strict=True)}
    return found


@checked(method=one_of("percentile", "basic"))
def bootstrap(
    statistic: Callable[..., float],
    y_true: Labels,
    y_score: Scores,
    *,
    pos_label: Label = None,
    sample_weight: Scores | None = None,
    clusters: Labels | None = None,
    stratify: bool = False,
    method: str = "percentile",
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    progress: bool | None = None,
) -> Estimate:
    """Bootstrap interval for your own ``statistic(y_true, y_score, sample_weight)``.

    A replicate keeps the rows where they are and passes how often each was drawn (times its weight) as
    ``sample_weight``; rows that were not drawn are left out. Labels arrive as booleans.

    >>> import numpy as np
    >>> def mean_score(y_true, y_score, sample_weight):
    ...     return float(np.average(y_score, weights=sample_weight))
    >>> e = bootstrap(mean_score, [1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1], n_resamples=200)
    >>> 0.1 <= e.low <= e.value <= e.high <= 0.9
    True
    """
    check_function(
        statistic,
        "statistic",
        "three arguments",
        "pass a function of y_true, y_score and sample_weight; for a measure by name call evaluate",
    )
    sample = make_sample(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, clusters=clusters)
    drawn_as = several_clusters(sample)
    resampler = Resampler(sample, rank(sample), stratified=stratify, clusters=drawn_as, seed=seed, progress=progress)
    value = _apply(statistic, sample, np.ones(len(sample)))
    drawn = np.array(
        [_apply(statistic, sample, resampler.row_multiplicities(counts)) for counts, _ in resampler.each(n_resamples)]
    )
    result = Replicates(value, drawn, np.empty(0), np.empty(0), np.empty(0, np.int64))
    low, high = result.interval(method, level)
    name = getattr(statistic, "__name__", "statistic")
    return Estimate(name, value, low, high, level, method, undefined_replicates=result.undefined)


def _apply(statistic: Callable[..., float], sample: Sample, times: NDArray[np.float64]) -> float:
    weight = times if sample.weight is None else times * sample.weight
    drawn = weight > 0
    value = statistic(sample.positive[drawn], sample.score[drawn], weight[drawn])
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError("statistic", f"gives {show(value)}", "return one number") from None


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
        parts = np.bincount(as_codes(clusters, "clusters", n, "anchor"), weights=parts).astype(np.float64)
    units = len(parts)
    if units < 2:
        reason = "a single triplet or cluster shows no spread"
        return Estimate("triplet_loss", value, reason=reason)
    error = math.sqrt(float(parts @ parts) * units / (units - 1))
    half = t_quantile(level, units - 1) * error
    return Estimate("triplet_loss", value, max(0.0, value - half), value + half, level, "delta_t")

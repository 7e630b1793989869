"""Methods on the scores themselves: kernels, a Pareto tail, and one law for the standardised scores of all cases."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError
from ..types import Floats
from .curve_methods import climb, normal_weights
from .favorability import Favorability, row_blocks
from .tasks import BIN_WIDTH, GrowthMethod, ScoreSample, TaskEvidence

# The share of competitors called tail, and the fewest scores that show one. Chosen by hand: more follow the shape of
# the middle, fewer scatter (the mean of eight excesses is known to about a third).
FRACTION, FEWEST_IN_TAIL = 0.1, 8
# A law of this many standardised scores is as good as one of all of them.
_ENOUGH = 200_000
# Scores that take fewer distinct values than this share of what was looked at are marks, not measurements.
_CONTINUOUS = 0.5
# Above this share of rows without a spread of their own there is no scale for standings.
_MOST_FLAT = 0.5
# Six points of a stretch of tied places: exact for accuracies that are polynomials of degree 11 on it.
_TIE_NODES, _TIE_SHARES = np.polynomial.legendre.leggauss(6)
# Grids of Φ⁻¹(U) on which likelihoods are summed, and on which the fitted law stands; the smallest τ is a step of the
# first.
_STANDING, _FINE = np.linspace(-6.0, 9.0, 121), np.linspace(-8.0, 10.0, 361)
# Of α, β and log τ: standings of normal scores are favorabilities already (0, 1), nearly (τ = 0.3); a loss or two
# outweigh spreads as wide as these.
_PRIOR_MEAN, _PRIOR_SPREAD = np.array([0.0, 1.0, np.log(0.3)]), np.array([1.0, 0.5, 0.7])
_CALIBRATION_BOUNDS = np.array([[-6.0, 8.0], [0.0, 6.0], [np.log(0.13), np.log(3.0)]])


@dataclass(frozen=True)
class KernelDensity(GrowthMethod):
    """``Û_i = mean_j Φ((s_i − s_ij) / h_i)`` over the competitors ``j`` of case ``i``; ``AGA_k = mean_i Û_i^(k−1)``.

    Scores are standardised case by case, so one relative bandwidth serves all: ``h_i = h · sd_i``. It minimises the
    cross-validation criterion (Scott & Terrell 1987) averaged over the cases: biased (``kde``; smoother, the better of
    the two in the authors' final paper) or unbiased (``kde_unbiased``), searched in [0.1, 1] × the oversmoothed one.
    """

    name: str = "kde"
    bandwidth: float | None = None
    needs_scores = True

    def settled(self, evidence: TaskEvidence) -> GrowthMethod:
        """With the bandwidth of this evidence: copies in a resample would drive cross-validation to zero."""
        return replace(self, bandwidth=relative_bandwidth(evidence.known_scores(self.name, complete=True), self.name))

    def fit(self, evidence: TaskEvidence) -> Favorability:
        """One value of ``U`` per case."""
        from scipy.special import ndtr

        scores = evidence.known_scores(self.name, complete=True)
        ordered = np.sort(scores.others, axis=1)
        distinct = (ordered[:, 1:] > ordered[:, :-1]).sum(axis=1)
        if not scores.resampled and np.median(distinct / scores.count) < _CONTINUOUS:
            message = "takes few distinct values, so that no kernel fits between them"
            raise InputError("scores", message, "use 'pooled' or a rank method such as 'probit_normal'")
        bandwidth = self.bandwidth or relative_bandwidth(scores, self.name)
        _, spread = scores.mean_and_deviation
        miss = np.empty(scores.true.size)
        for rows in row_blocks(*scores.others.shape):
            # −inf, no competitor, has no chance to win and adds nothing.
            z = (scores.others[rows] - scores.true[rows, None]) / (bandwidth * spread[rows, None])
            miss[rows] = ndtr(z).sum(axis=1) / scores.count[rows]
        return Favorability(miss=np.minimum(miss, 1.0), miss_weight=scores.weight)


@dataclass(frozen=True)
class ParetoTail(GrowthMethod):
    """Above its own threshold every case's competitors follow a generalised Pareto law with one common shape.

    For case ``i`` the threshold ``t_i`` has the best ``r`` competitors above it, ``m_i`` is their mean excess, and
    the shape ``ξ`` is pooled over all cases from the ratio of the first two L-moments, ``1/(2 − ξ)``. A mean of ``r``
    excesses scatters, so ``log(m_i / sd_i)`` is drawn towards its mean over all cases as far as that scatter explains
    the differences (empirical Bayes). The right class at score ``s_i`` then loses to a random competitor with chance
    ``(r/n) · (1 + ξ (s_i − t_i) / ((1 − ξ) m_i))^(−1/ξ)``; below the threshold the plain share of better competitors
    counts, ties by the rule. Reaches far beyond ``k1`` because a tail, unlike a rank, has a slope, and needs the best
    scores alone.
    """

    name: str = "tail"
    needs_scores = True

    def fit(self, evidence: TaskEvidence) -> Favorability:
        """One value of ``U`` per case, or a stretch of values where it ties."""
        scores = evidence.known_scores(self.name)
        kept = scores.count if scores.depth is None else scores.depth
        most = min(int(kept.min()), int(scores.count.min())) - 1
        r = min(max(FEWEST_IN_TAIL, int(FRACTION * scores.count.max())), most)
        if r < 2:
            message = "has too few competitors for a tail"
            raise InputError("scores", message, "use a rank method such as 'probit_normal'")
        top = scores.others[:, : r + 1] if scores.depth is not None else largest(scores.others, r + 1)
        distinct = 1.0 + (top[:, 1:] != top[:, :-1]).sum(axis=1)
        if not scores.resampled and np.median(distinct) < _CONTINUOUS * (r + 1):
            message = "takes few distinct values, so that its best ones have no tail to follow"
            raise InputError("scores", message, "use a rank method such as 'probit_normal'")
        better, level = _shares(scores)
        beyond = chance_beyond(top, scores.true[:, None], scores.standing[1], scores.count)[:, 0]
        return _with_ties(scores, np.where(np.isnan(beyond), better, beyond), level)


@dataclass(frozen=True)
class PooledScores(GrowthMethod):
    """The competitors' scores of all cases follow one law once they are standardised case by case.

    ``U_i = F((s_i − mean_i) / sd_i)`` with ``F`` the distribution of all ``n²`` standardised scores, carried on
    beyond its last fifty by an exponential tail. Little scatter, because every case helps to tell what is rare; biased
    where cases differ in more than place and scale, which the back-test shows.
    """

    name: str = "pooled"
    needs_scores = True

    def fit(self, evidence: TaskEvidence) -> Favorability:
        """One value of ``U`` per case, or a stretch of values where it ties."""
        scores = evidence.known_scores(self.name, complete=True)
        mean, spread = scores.mean_and_deviation
        z = (scores.others - mean[:, None]) / spread[:, None]
        z = z[np.isfinite(z)]
        z = np.sort(z[:: max(1, z.size // _ENOUGH)])
        own = (scores.true - mean) / spread
        last = max(FEWEST_IN_TAIL, min(50, z.size // 20))
        if z.size <= last:
            few = f"needs more than {last} scores of wrong classes that differ, but there are {z.size}"
            remedy = "use a rank method such as 'probit_normal', or try more cases and classes"
            raise InputError("method", f"{self.name!r} {few}", remedy)
        better = 1.0 - np.searchsorted(z, own, side="right") / z.size
        threshold = z[-last - 1]
        excess = float((z[-last:] - threshold).mean())
        far = own > threshold
        if excess > 0:
            better[far] = last / z.size * np.exp(-(own[far] - threshold) / excess)
        return _with_ties(scores, better, _shares(scores)[1])


@dataclass(frozen=True)
class CalibratedScores(GrowthMethod):
    """How far the right class stands above its competitors tells its favorability, by a line that the losses fit.

    With ``z_i = (s_i − median_i) / spread_i``, the spread upwards alone (``evidence.middle_and_spread``),
    ``Φ⁻¹(U_i) ~ N(α + β z_i, τ²)``, and case ``i`` loses Binomial(k1 − 1, 1 − U_i) comparisons. Scores show how cases
    differ, losses show what that difference is worth, so the scale of the scores hardly matters; with ``β = 0`` it is
    ``probit_normal``, which knows ranks alone. Maximum a posteriori, with normal priors around ``α = 0, β = 1,
    τ = 0.3`` (normal scores, nearly) that a handful of losses outweighs; without any loss they are what is left.
    """

    name: str = "calibrated"
    needs_scores = True

    def fit(self, evidence: TaskEvidence) -> Favorability:
        """The cases' laws side by side."""
        from scipy.special import ndtr

        theta, z, mass = self._line(evidence)
        law = mass @ normal_weights(_FINE, theta[0] + theta[1] * z, np.full(z.size, float(np.exp(theta[2]))))
        return Favorability(miss=ndtr(-_FINE), miss_weight=law)

    def _line(self, evidence: TaskEvidence) -> tuple[Floats, Floats, Floats]:
        """Three parameters by damped scoring on cases grouped by ``z`` and by losses; every ``z`` with its share.

        Cases that stand equally far above their competitors and lose equally often are put together. One whose
        competitors show no spread upwards stands where its rank puts it.
        """
        from scipy.special import log_ndtr, ndtri

        scores, competitors = evidence.known_scores(self.name), evidence.n_classes - 1
        losses = scores.losses
        if losses is None:
            losses = scores.count - (scores.others < scores.true[:, None]).sum(axis=1)
        middle, spread = scores.standing
        flat = ~(spread > 0)
        if flat.mean() > _MOST_FLAT:
            message = (
                f"gives in {flat.sum():,} of {flat.size:,} rows no other class a score above the median of them all, "
                "so there is no scale to place the right one on"
            )
            raise InputError("scores", message, "use a rank method such as 'mixture'")
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(flat, -ndtri((losses + 0.5) / (competitors + 1.0)), (scores.true - middle) / spread)
        z = np.clip(np.round(5.0 * z) / 5.0, -8.0, 12.0)
        # Above sixty losses one more or less is nothing: they are put together by steps of a fiftieth.
        coarse = np.where(
            losses < 60.0,
            np.round(2.0 * losses) / 2.0,
            60.0 * np.exp(np.round(50.0 * np.log(np.maximum(losses, 60.0) / 60.0)) / 50.0),
        )
        pairs, where = np.unique(np.column_stack([z, coarse]), axis=0, return_inverse=True)
        share = np.asarray(np.bincount(where.ravel(), weights=scores.weight), dtype=np.float64)
        log = (competitors - pairs[:, 1:]) * log_ndtr(_STANDING) + pairs[:, 1:] * log_ndtr(-_STANDING)
        likelihood = np.exp(log - log.max(axis=1, keepdims=True))
        distinct, place = np.unique(pairs[:, 0], return_inverse=True)
        trials = share * max(scores.n_tested, 1)

        def read(theta: Floats) -> tuple[float, Floats]:
            tau = float(np.exp(theta[2]))
            off = (_STANDING[None, :] - (theta[0] + theta[1] * distinct)[:, None]) / tau
            law = np.exp(-0.5 * off * off)
            law /= law.sum(axis=1, keepdims=True) + 1e-300
            chance = np.einsum("ij,ij->i", likelihood, law[place]) + 1e-300
            slopes = []
            for slope in (off / tau, off * off):
                centred = law * (slope - (law * slope).sum(axis=1, keepdims=True))
                slopes.append(np.einsum("ij,ij->i", likelihood, centred[place]) / chance)
            score = np.column_stack([slopes[0], slopes[0] * distinct[place], slopes[1]])
            away = (theta - _PRIOR_MEAN) / _PRIOR_SPREAD
            return float(trials @ np.log(chance) - 0.5 * away @ away), score

        def slopes(theta: Floats, score: Floats) -> tuple[Floats, Floats]:
            gradient = trials @ score - (theta - _PRIOR_MEAN) / _PRIOR_SPREAD**2
            return gradient, (score * trials[:, None]).T @ score + np.diag(_PRIOR_SPREAD**-2.0)

        theta = climb(read, slopes, np.array([0.0, 1.0, -1.2]), _CALIBRATION_BOUNDS, gain=1e-3, move=3e-3)
        return theta, distinct, np.asarray(np.bincount(place, weights=share), dtype=np.float64)


def _shares(scores: ScoreSample) -> tuple[Floats, Floats]:
    """For every case the shares of its competitors that are better, and that are level."""
    better = (scores.others > scores.true[:, None]).sum(axis=1) / scores.count
    level = (scores.others == scores.true[:, None]).sum(axis=1) / scores.count
    return better, level  # where only the best scores are kept, a case below all of them loses to at least so many


def _with_ties(scores: ScoreSample, better: Floats, level: Floats) -> Favorability:
    """The values of ``1 − U``; a case that ties takes its stretch by the rule, random ties all places in it alike."""
    if scores.ties == "pessimistic":
        better = better + level
    tied = level > 0
    if scores.ties != "random" or not tied.any():
        return Favorability(miss=np.clip(better, 0.0, 1.0), miss_weight=scores.weight)
    places = better[tied, None] + level[tied, None] * (1.0 + _TIE_NODES) / 2.0
    shares = scores.weight[tied, None] * _TIE_SHARES / 2.0
    return Favorability(
        miss=np.clip(np.concatenate([better[~tied], places.ravel()]), 0.0, 1.0),
        miss_weight=np.concatenate([scores.weight[~tied], shares.ravel()]),
    )


def largest(rows: Floats, n: int) -> Floats:
    """The ``n`` largest values of every row, the largest first."""
    return -np.sort(np.partition(-rows, n - 1, axis=1)[:, :n], axis=1)


def chance_beyond(top: Floats, points: Floats, spread: Floats, count: Floats | int) -> Floats:
    """The chance that one of ``count`` competitors scores above each point, by a generalised Pareto tail.

    ``top`` has the best scores of every row, the largest first; the last one is the threshold of its tail. Rows share
    the shape, and their scales are drawn together. It is nan at points below the threshold, and where the best scores
    are all alike, so that there is no tail.
    """
    r = top.shape[1] - 1
    threshold, excess = top[:, r], top[:, :r] - top[:, r : r + 1]
    scale = excess.mean(axis=1)
    used = np.flatnonzero(scale > 0)
    chance = np.full((len(top), points.shape[1]), np.nan)
    if used.size:
        shape = pooled_shape(excess[used] / scale[used, None])
        steady, wide = scale[used], spread[used]
        if (wide > 0).all() and steady.size >= 3:
            # Means of r excesses each, relative to the row's spread, are drawn together as far as chance explains.
            relative = np.log(steady / wide)
            scatter = 1.0 / (r * (1.0 - 2.0 * min(shape, 0.4)))
            real, centre = max(0.0, 1.0 - scatter / max(float(relative.var()), 1e-12)), float(relative.mean())
            steady = wide * np.exp(centre + real * (relative - centre))
        height = (points[used] - threshold[used, None]) / steady[:, None]
        rate = np.broadcast_to(r / np.asarray(count, dtype=np.float64), len(top))[used, None]
        chance[used] = np.where(height > 0, rate * pareto_survival(np.maximum(height, 0.0), shape), np.nan)
    return chance


def pareto_survival(excess: Floats, shape: float) -> Floats:
    """``P(X > x)`` of a generalised Pareto law with mean one: ``(1 + ξx/(1−ξ))^(−1/ξ)``."""
    if abs(shape) < 1e-9:
        return np.asarray(np.exp(-excess), dtype=np.float64)
    inside = np.maximum(1.0 + shape * excess / (1.0 - shape), 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(inside ** (-1.0 / shape), dtype=np.float64)


def pooled_shape(excess: Floats) -> float:
    """The shape of excesses (each row largest first, scaled to mean one) from the mean ratio of their L-moments.

    ``λ₂/λ₁ = 1/(2 − ξ)``; linear in the sorted excesses, so no search, and without bias for exponential excesses
    however few a row has.
    """
    r = excess.shape[1]
    order = np.arange(r - 1.0, -1.0, -1.0) / (r - 1.0)
    ratio = float((2.0 * (excess * order).mean(axis=1) / excess.mean(axis=1)).mean() - 1.0)
    return float(np.clip(2.0 - 1.0 / max(ratio, 0.15), -4.0, 0.9))


def relative_bandwidth(scores: ScoreSample, name: str) -> float:
    """The bandwidth, in standard deviations of a case's scores, that minimises the averaged criterion."""
    per_row = scores.pairs_at_distance
    n = float(scores.count.mean())
    distance = np.arange(per_row.size) * BIN_WIDTH
    largest = 1.144 * n ** (-0.2)
    candidates = np.geomspace(0.1 * largest, largest, 60)
    delta = (distance[None, :] / candidates[:, None]) ** 2
    if name == "kde":  # biased cross-validation
        total = (np.exp(-delta / 4.0) * (delta * delta - 12.0 * delta + 12.0)) @ per_row
        loss = (1.0 + total / (32.0 * n)) / (2.0 * n * candidates * np.sqrt(np.pi))
    else:
        total = (np.exp(-delta / 4.0) - np.sqrt(8.0) * np.exp(-delta / 2.0)) @ per_row
        loss = (0.5 + total / n) / (n * candidates * np.sqrt(np.pi))
    return float(candidates[int(np.argmin(loss))])

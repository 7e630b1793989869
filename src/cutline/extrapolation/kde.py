"""`kde`: favorability of each case from a kernel estimate of its competitors' scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..errors import InputError
from .evidence import Evidence, ScoreSample
from .favorability import Favorability
from .method import Method
from .moments import Floats

Selector = Literal["biased", "unbiased"]
_WIDTH, _REACH, _LENGTH = 0.02, 10.0, 2048
_ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class KernelDensity:
    """``Û_i = mean_j Φ((s_i − s_ij) / h_i)`` over the competitors ``j`` of case ``i``; ``AGA_k = mean_i Û_i^(k−1)``.

    Scores are standardised case by case, so one relative bandwidth serves all: ``h_i = h · sd_i``. It minimises the
    cross-validation criterion (Scott & Terrell 1987) averaged over the cases: ``biased`` (default; smoother, the better
    of the two in the authors' final paper) or ``unbiased``, both searched in [0.1, 1] × the oversmoothed bandwidth.

    Examples
    --------
    >>> from cutline.extrapolation.evidence import ScoreSample
    >>> others = np.random.default_rng(0).normal(size=(50, 49))
    >>> scores = ScoreSample(np.full(50, 2.0), others, np.full(50, 49.0), np.full(50, 1 / 50))
    >>> KernelDensity().fit(Evidence(50, scores=scores)).accuracy([2]).round(1).tolist()
    [1.0]
    """

    selector: Selector = "biased"
    bandwidth: float | None = None
    needs_scores: bool = True

    @property
    def name(self) -> str:
        """``kde``, or ``kde_unbiased``."""
        return "kde" if self.selector == "biased" else "kde_unbiased"

    def variants(self) -> tuple[Method, ...]:
        """Itself: the bandwidth has its own criterion."""
        return (self,)

    def settled(self, evidence: Evidence) -> Method:
        """With the bandwidth of this evidence: copies in a resample would drive cross-validation to zero."""
        return replace(self, bandwidth=self._bandwidth(evidence.known_scores()))

    def _bandwidth(self, scores: ScoreSample) -> float:
        if self.bandwidth is not None:
            return self.bandwidth
        return relative_bandwidth(scores, self.selector)

    def fit(self, evidence: Evidence) -> Favorability:
        """One value of ``U`` per case."""
        from scipy.special import ndtr

        scores = evidence.known_scores()
        bandwidth = self._bandwidth(scores)
        _, spread = row_mean_and_spread(scores)
        miss = np.empty(scores.true.size)
        for start in range(0, miss.size, _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            # −inf, no competitor, has no chance to win and adds nothing.
            z = (scores.others[rows] - scores.true[rows, None]) / (bandwidth * spread[rows, None])
            miss[rows] = ndtr(z).sum(axis=1) / scores.count[rows]
        return Favorability(miss=np.minimum(miss, 1.0), miss_weight=scores.weight)


def row_mean_and_spread(scores: ScoreSample) -> tuple[Floats, Floats]:
    """Mean and standard deviation of every case's competitors."""
    real = np.isfinite(scores.others)
    filled = np.where(real, scores.others, 0.0)
    mean = filled.sum(axis=1) / scores.count
    gap = np.where(real, filled - mean[:, None], 0.0)
    spread = np.sqrt((gap * gap).sum(axis=1) / np.maximum(scores.count - 1.0, 1.0))
    flat = np.flatnonzero(~(spread > 0))
    if flat.size:
        raise InputError(
            f"scores: row {flat[0]} gives the same score to all other classes, so nothing can be said about the shape "
            "of its scores; use a rank method such as 'mixture'"
        )
    return mean, spread


def relative_bandwidth(scores: ScoreSample, selector: Selector) -> float:
    """The bandwidth, in standard deviations of a case's scores, that minimises the averaged criterion.

    The number of pairs at every distance comes from one Fourier transform per case of its binned scores.
    """
    mean, spread = row_mean_and_spread(scores)
    pairs = np.zeros(_LENGTH // 2)
    bins = int(2 * _REACH / _WIDTH)
    for start in range(0, mean.size, _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        z = (scores.others[rows] - mean[rows, None]) / spread[rows, None]
        place = np.where(np.isfinite(z), np.clip((z + _REACH) / _WIDTH, 0, bins - 1), bins).astype(np.intp)
        n_rows = z.shape[0]
        flat = place + np.arange(n_rows)[:, None] * (bins + 1)
        binned = np.bincount(flat.ravel(), minlength=n_rows * (bins + 1)).reshape(n_rows, bins + 1)[:, :bins]
        power = np.abs(np.fft.rfft(binned, _LENGTH, axis=1)) ** 2
        pairs += np.fft.irfft(power.sum(axis=0), _LENGTH)[: _LENGTH // 2]
    n = float(scores.count.mean())
    per_row = np.maximum(np.round(pairs), 0.0) / mean.size
    per_row[0] = max(per_row[0] - n, 0.0) / 2.0
    distance = np.arange(per_row.size) * _WIDTH
    largest = 1.144 * n ** (-0.2)
    candidates = np.geomspace(0.1 * largest, largest, 60)
    delta = (distance[None, :] / candidates[:, None]) ** 2
    if selector == "biased":
        total = (np.exp(-delta / 4.0) * (delta * delta - 12.0 * delta + 12.0)) @ per_row
        loss = (1.0 + total / (32.0 * n)) / (2.0 * n * candidates * np.sqrt(np.pi))
    else:
        total = (np.exp(-delta / 4.0) - np.sqrt(8.0) * np.exp(-delta / 2.0)) @ per_row
        loss = (0.5 + total / n) / (n * candidates * np.sqrt(np.pi))
    return float(candidates[int(np.argmin(loss))])

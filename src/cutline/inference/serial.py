"""How much longer an interval is where neighbouring units (days, months) resemble each other.

Units in an order are seldom independent: a busy day follows a busy day. What a unit adds is taken as noise plus an
autoregression of first order; how much of it there is, and how far back it remembers, is not known. One of ten series
is taken to have any before the data are seen. The likelihood of the series' cosine transforms (Whittle 1953) weighs
independence against nine such models, and the interval is that of all of them together: Student's t about the mean,
with the variance of each, mixed by their weights.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..types import Floats
from .normal import t_quantile
from .scales import two_sided_p

# Shares of the variance and memories of the dependent models, and their weight before the data are seen: rows "days in
# a row" of benchmarks/batches.py. A larger weight holds better where few units depend on each other, but lengthens the
# intervals of independent ones: 60 of them by 5 % with .1. A dozen units cannot show what they depend on, so that what
# was thought before would decide: below thirty the weight falls in proportion.
_SHARES, _MEMORIES, _DEPENDENT, _MANY = (0.5, 0.75, 1.0), (0.6, 0.8, 0.9), 0.1, 30.0
_FEWEST = 10  # fewer units say nothing of how they depend on each other
_WAVES = 1000  # the slowest ones of a long series: the variance of its mean is theirs
# Weight of dependence where segments differ by more than chance, and how many times as much they differ as it seems
# around a line, which takes up a part of what they remember: rows "months in a row" of benchmarks/segments.py.
_REMEMBERED, _TAKEN_UP = 0.7, 1.4
_HALVINGS = 40


def lag_correlation(each: Floats) -> float:
    """Correlation of each unit with the next; nan where nothing varies."""
    centred = each - each.mean()
    total = float(centred @ centred)
    return float(centred[1:] @ centred[:-1]) / total if total > 0.0 else math.nan


def serial_inflation(each: Floats, level: float) -> float:
    """How many times as long as with independent units the interval of a sum of ``each`` is; at least 1.

    >>> noise = np.random.default_rng(0).normal(size=200)
    >>> serial_inflation(noise, 0.95) < 1.05, serial_inflation(np.convolve(noise, np.ones(9)), 0.95) > 2.0
    (True, True)
    """
    from scipy.special import stdtr

    n = len(each)
    # |cosine transform|² of the series, without its mean: the spectrum of the series and its mirror image
    power = np.abs(np.fft.rfft(np.concatenate([each, each[::-1]])))[1:n] ** 2
    if n < _FEWEST or not power.max() > 1e-24 * float(np.square(each).sum()) * n:
        return 1.0
    spectra, variances = _models(n)
    waves = spectra.shape[1]
    squares = (power[:waves] / power.mean() / spectra).mean(axis=1)
    likelihood = -0.5 * np.log(spectra).sum(axis=1) - waves / 2.0 * np.log(squares)
    dependent = _DEPENDENT * min(1.0, n / _MANY)
    prior = np.full(len(variances), dependent / (len(variances) - 1))
    prior[0] = 1.0 - dependent
    weight = prior * np.exp(likelihood - likelihood.max())
    weight /= weight.sum()
    scale = np.sqrt(variances * squares)  # of Student's t, relative to that of independent units
    independent = t_quantile(level, n - 1.0)
    low, high = independent, independent * float(scale.max())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        beyond = 2.0 * float(weight @ stdtr(n - 1.0, -middle / scale))
        low, high = (middle, high) if beyond > 1.0 - level else (low, middle)
    return max(high / independent, 1.0)


def _models(n: int) -> tuple[Floats, Floats]:
    """For independence and each dependent model: its spectrum, and the variance of a mean of n over σ²/n."""
    wave = np.cos(np.pi * np.arange(1, min(n, _WAVES + 1)) / n)
    spectra, variances = [np.ones_like(wave)], [1.0]
    for memory in _MEMORIES:
        spectrum = (1.0 - memory**2) / (1.0 + memory**2 - 2.0 * memory * wave)
        lags = memory / (1.0 - memory) - memory * (1.0 - memory**n) / (n * (1.0 - memory) ** 2)  # Σ (1 − k/n)·φᵏ
        for share in _SHARES:
            spectra.append(1.0 - share + share * spectrum)
            variances.append(1.0 + 2.0 * share * lags)
    return np.array(spectra), np.array(variances)


class SerialModels(NamedTuple):
    """Ways in which values in an order may vary: the weight of each, its covariance, and the degrees of freedom."""

    weights: Floats
    covariances: Floats
    freedom: float

    def two_sided(self, contrast: Floats, size: float) -> float:
        """Chance that a contrast of values that have none lies as far from 0 as ``size``; never 0."""
        errors = np.sqrt(np.einsum("k,mkl,l->m", contrast, self.covariances, contrast))
        chances = [two_sided_p(size / error, self.freedom) for error in errors.tolist()]
        return max(float(self.weights @ np.array(chances)), 1e-300)

    def margin(self, contrast: Floats, level: float) -> float:
        """The size at which that chance is 1 − level."""
        errors = np.sqrt(np.einsum("k,mkl,l->m", contrast, self.covariances, contrast))
        low, high = (t_quantile(level, self.freedom) * float(end) for end in (errors.min(), errors.max()))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            low, high = (middle, high) if self.two_sided(contrast, middle) > 1.0 - level else (low, middle)
        return high


def serial_models(values: Floats, design: Floats, covariance: Floats, places: Floats) -> SerialModels:
    """What values in an order may vary by beside what ``design`` explains, given the covariance of their errors.

    Where they stray by no more than their errors explain, these are all there is. Where they stray by ``excess`` times
    as much, the variance grows in proportion, and up to 1 − 1/excess of it may be remembered from one place to the
    next. Restricted likelihoods weigh the models.
    """
    free = len(values) - design.shape[1]
    basis = np.linalg.svd(design)[0][:, design.shape[1] :]  # what the design leaves
    rest = basis.T @ values
    excess = _squares(rest, basis, covariance)[0] / free if free > 0 else 0.0
    whole = excess * (_TAKEN_UP if design.shape[1] > 1 else 1.0)
    if not whole > 1.0:
        return SerialModels(np.ones(1), covariance[None], math.inf)
    spread = np.sqrt(np.diag(covariance))
    joint = np.outer(spread, spread)
    lag = np.abs(places[:, None] - places)
    remembered = [(share * (1.0 - 1.0 / whole), memory) for memory in _MEMORIES for share in _SHARES]
    every = [covariance, *((1.0 - share) * covariance + share * joint * memory**lag for share, memory in remembered)]
    squares, size = (np.array(each) for each in zip(*(_squares(rest, basis, one) for one in every), strict=True))
    prior = np.full(len(every), _REMEMBERED / len(remembered))
    prior[0] = 1.0 - _REMEMBERED
    likelihood = -0.5 * size - free / 2.0 * np.log(squares)
    weight = prior * np.exp(likelihood - likelihood.max())
    scale = np.maximum(squares / free, 1.0)
    return SerialModels(
        weight / weight.sum(), np.array(every) * scale[:, None, None], float(free) if excess > 1.0 else math.inf
    )


def _squares(rest: Floats, basis: Floats, covariance: Floats) -> tuple[float, float]:
    """Squares of what is left, in units of its covariance, and the logarithm of that covariance's determinant."""
    left = basis.T @ covariance @ basis
    return float(rest @ np.linalg.solve(left, rest)), float(np.linalg.slogdet(left)[1])

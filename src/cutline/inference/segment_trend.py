"""Segments in an order (months, versions): a trend with a test, and the first clear change."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..types import Floats
from .normal import t_quantile
from .serial import SerialModels, serial_models

_SIMULATED = 4999


class Slope(NamedTuple):
    """Change of a measure from one segment to the next, with its interval and test.

    ``excess``: variance of the segments around the line, relative to what their intervals explain; 1 where it is no
    more than that.
    """

    slope: float
    low: float
    high: float
    standard_error: float
    p_value: float
    freedom: float
    excess: float


class Change(NamedTuple):
    """A change of level: the first segment behind it, the levels before and behind, and the adjusted p-value."""

    at: int
    before: float
    after: float
    low: float
    high: float
    p_adjusted: float


def fit_slope(values: Floats, covariance: Floats, sizes: Floats, places: Floats, level: float) -> Slope:
    """Weighted least squares of the values on their places.

    Weights are the segments' ``sizes``, which do not depend on the values; the variance comes from ``covariance``, that
    of the values. Where the segments stray from the line by more than that explains, the variance grows in proportion,
    neighbours may resemble each other (:func:`serial_models`), and Student's t with k − 2 degrees of freedom is used;
    else the normal distribution.
    """
    centred = places - np.average(places, weights=sizes)
    across = sizes * centred / float(sizes @ centred**2)
    slope = float(across @ values)
    models = serial_models(values, np.stack([np.ones_like(places), centred], axis=1), covariance, places)
    excess = _excess(models, covariance)
    half = models.margin(across, level)
    error = half / t_quantile(level, models.freedom)
    if not error > 0.0:
        return Slope(slope, math.nan, math.nan, error, math.nan, models.freedom, excess)
    return Slope(slope, slope - half, slope + half, error, models.two_sided(across, slope), models.freedom, excess)


def _excess(models: SerialModels, covariance: Floats) -> float:
    """Variance of independent segments relative to what their errors explain; 1 where it is no more."""
    return float(models.covariances[0, 0, 0] / covariance[0, 0])


def first_change(
    values: Floats, covariance: Floats, sizes: Floats, places: Floats, level: float, seed: int
) -> Change | None:
    """The first segment from which the level differs from before; None if there is no clear change.

    The largest difference over all places to split the series, each in its standard errors, against its distribution
    where nothing changes, simulated from the covariance. Where one is found, the segments before it are searched again,
    each time at a tenth of the error rate, until nothing is found: so the first of several clear changes is found.
    Excess variance of the segments, and neighbours that resemble each other, are allowed for as in :func:`fit_slope`.
    """
    found, end, allowed = None, len(values), 1.0 - level
    while end >= 2:
        part = slice(0, end)
        made = _largest_change(values[part], covariance[part, part], sizes[part], places[part], level, seed)
        if made is None or not made.p_adjusted < allowed:
            return found
        found, end, allowed = made, made.at, allowed / 10.0
    return found


def _largest_change(
    values: Floats, covariance: Floats, sizes: Floats, places: Floats, level: float, seed: int
) -> Change | None:
    k = len(values)
    contrasts = _contrasts(sizes)
    errors = np.sqrt(np.maximum(np.einsum("sk,kl,sl->s", contrasts, covariance, contrasts), 0.0))
    if not (errors > 0.0).all():
        return None
    contrasts = contrasts / errors[:, None]
    own, spread = _statistics(values[None], contrasts, errors, covariance, sizes)
    at = int(np.argmax(own[0]))
    excess = float(spread[0, at]) if k > 2 else 0.0
    if excess > 1.0:  # on the scale of the segments' own spread
        at = int(np.argmax(own[0] / np.sqrt(spread[0])))
    models = serial_models(values, np.ones((k, 1)), covariance, places)
    simulated, spreads = _statistics(_drawn(models, seed), contrasts, errors, covariance, sizes)
    if excess > 1.0:
        statistic = float(own[0, at] / np.sqrt(spread[0, at]))
        reference = (simulated / np.sqrt(np.maximum(spreads, 1e-300))).max(axis=1)
    else:
        statistic, reference, excess = float(own[0].max()), simulated.max(axis=1), 1.0
    p = (int((reference >= statistic).sum()) + 1.0) / (_SIMULATED + 1.0)
    before, after = (
        float(np.average(values[side], weights=sizes[side])) for side in (slice(0, at + 1), slice(at + 1, k))
    )
    half = float(np.quantile(reference, level)) * float(errors[at]) * math.sqrt(excess)
    return Change(at + 1, before, after, after - before - half, after - before + half, p)


def _drawn(models: SerialModels, seed: int) -> Floats:
    """Series in which nothing changes, as many of each model as it has weight."""
    rng, k = np.random.default_rng([seed & (2**63 - 1), 11]), models.covariances.shape[1]
    drawn = rng.standard_normal((_SIMULATED, k))
    ends = np.rint(np.cumsum(models.weights) * _SIMULATED).astype(int).tolist()
    for first, last, covariance in zip([0, *ends], ends, models.covariances, strict=False):
        root = np.linalg.cholesky(covariance + 1e-14 * np.trace(covariance) / k * np.eye(k))
        drawn[first:last] = drawn[first:last] @ root.T
    return drawn


def _contrasts(sizes: Floats) -> Floats:
    """For each split, what takes the mean before it from the mean behind it."""
    k = len(sizes)
    made = np.zeros((k - 1, k))
    for s in range(k - 1):
        made[s, : s + 1] = -sizes[: s + 1] / sizes[: s + 1].sum()
        made[s, s + 1 :] = sizes[s + 1 :] / sizes[s + 1 :].sum()
    return made


def _statistics(
    series: Floats, contrasts: Floats, errors: Floats, covariance: Floats, sizes: Floats
) -> tuple[Floats, Floats]:
    """For each series and split: |difference| in standard errors, and the variance that remains relative to the known.

    What remains: the weighted squares about the two means, by splits; with two segments nothing does.
    """
    standard = np.abs(series @ contrasts.T)
    k = series.shape[1]
    if k < 3:
        return standard, np.ones_like(standard)
    known = np.maximum(np.diag(covariance), 1e-300)
    remaining = np.empty_like(standard)
    for s in range(k - 1):
        rest = np.zeros(len(series))
        for side in (slice(0, s + 1), slice(s + 1, k)):
            mean = series[:, side] @ sizes[side] / sizes[side].sum()
            rest += ((series[:, side] - mean[:, None]) ** 2 / known[side]).sum(axis=1)
        remaining[:, s] = rest / (k - 2)
    return standard, np.maximum(remaining, 1e-300)


def standard_errors(lows: Floats, highs: Floats, level: float) -> Floats:
    """Standard errors that go with intervals: half their width over the normal quantile."""
    return (highs - lows) / (2.0 * t_quantile(level, math.inf))

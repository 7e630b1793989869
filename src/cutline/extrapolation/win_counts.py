"""From distractors beaten to the average test accuracy of every smaller task, without retraining.

A test case of a ``k1``-class task is summed up by how many of its ``k1 − 1`` distractors the right class beats
(``L``) and how many it ties (``t``). The histogram of ``L`` is all that the rank methods need.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..types import Floats

Ties = Literal["random", "optimistic", "pessimistic"]
TIE_RULES: tuple[Ties, ...] = ("random", "optimistic", "pessimistic")
_CURVE_POINTS = 120


def win_histogram(beaten: Floats, tied: Floats, weight: Floats, n_classes: int, ties: Ties) -> Floats:
    """Share of cases that beat 0, 1, …, ``n_classes − 1`` distractors, ties settled by the rule.

    Random tie-breaking puts a case with ``L`` beaten and ``t`` tied at each of ``L … L + t`` with equal chance,
    which gives the closed form ``[C(L+t+1, k) − C(L, k)] / ((t+1) C(k1−1, k−1))`` for its accuracy. Counts that
    are not whole (rescaled resamples) are split between their two neighbours.

    >>> win_histogram(np.array([1.0]), np.array([1.0]), np.array([1.0]), 3, "random").tolist()
    [0.0, 0.5, 0.5]
    """
    if ties == "optimistic":
        beaten, tied = beaten + tied, np.zeros_like(tied)
    elif ties == "pessimistic":
        tied = np.zeros_like(tied)
    most = n_classes - 1
    low = np.clip(beaten, 0.0, most)
    width = np.floor(tied + 0.5).astype(np.intp)
    whole = np.floor(low).astype(np.intp)
    part = low - whole
    histogram = np.zeros(n_classes)
    # A uniform stretch L … L+t is a difference of two running sums: no loop over the ties.
    slope = np.zeros(n_classes + 1)
    alone = width == 0
    for start, mass in ((whole, weight * (1.0 - part)), (np.minimum(whole + 1, most), weight * part)):
        histogram += np.bincount(start[alone], weights=mass[alone], minlength=n_classes)
        if alone.all():
            continue
        # A stretch that would leave the scale is shortened and keeps its mass.
        first, stop = start[~alone], np.minimum(start + width, most)[~alone]
        share = mass[~alone] / (stop - first + 1.0)
        slope += np.bincount(first, weights=share, minlength=n_classes + 1)
        slope -= np.bincount(stop + 1, weights=share, minlength=n_classes + 1)
    stretches = np.cumsum(slope)[:n_classes]
    # Rounding of the running sum leaves specks of 1e-17, some negative, in empty bins.
    stretches[stretches < 1e-15] = 0.0
    histogram += stretches
    return np.asarray(histogram / histogram.sum(), dtype=np.float64)


def average_accuracy(histogram: Floats, k: Floats | None = None, *, top: int = 1) -> Floats:
    """Average test accuracy over all subsets of ``k`` of the ``k1`` classes (Zheng et al. Eq. 4).

    ``ATA_k = Σ_L share(L) · C(L, k−1) / C(k1−1, k−1)``, by the recursion
    ``term(k+1) = term(k) · (L − k + 1) / (k1 − k)``: binomials overflow, their ratio does not.
    Returned for ``k = 1 … k1``, or for the whole numbers ``k`` given in rising order. With ``top=t``, the right class
    need only be among the first ``t``.

    >>> average_accuracy(np.array([0.25, 0.25, 0.5])).tolist()
    [1.0, 0.625, 0.5]
    >>> average_accuracy(np.array([0.25, 0.25, 0.5]), np.array([3.0]), top=2).round(12).tolist()
    [0.75]
    """
    n_classes = histogram.size
    if k is not None or top > 1:
        kk = np.arange(1.0, n_classes + 1.0) if k is None else np.asarray(k, dtype=np.float64)
        level = np.flatnonzero(histogram)
        return np.asarray(
            histogram[level] @ credit(level.astype(np.float64), kk, n_classes - 1, top=top), dtype=np.float64
        )
    level = np.flatnonzero(histogram)
    term = histogram[level].copy()
    count = level.astype(np.float64)
    out = np.zeros(n_classes)
    out[0] = term.sum()
    first = 0
    for classes in range(1, n_classes):
        # Cases that beat fewer than `classes` distractors lose every subset from here on.
        while first < level.size and level[first] < classes:
            first += 1
        if first == level.size:
            break
        term[first:] *= (count[first:] - classes + 1.0) / (n_classes - classes)
        out[classes] = term[first:].sum()
    return out


def credit(beaten: Floats, k: Floats, competitors: int, *, top: int = 1) -> Floats:
    """Share of the subsets of ``k − 1`` of ``n`` competitors in which fewer than ``top`` win, by log-gamma.

    ``Σ_{j<top} C(n−L, j) C(L, k−1−j) / C(n, k−1)`` for every case (rows) and number of classes (columns).
    """
    level = np.maximum(beaten, 0.0)[:, None]
    drawn = np.asarray(k, dtype=np.float64)[None, :] - 1.0
    total = np.zeros((level.size, drawn.size))
    for winners in range(top):
        total += np.exp(
            _log_choose(level, drawn - winners)
            + _log_choose(competitors - level, winners)
            - _log_choose(competitors, drawn)
        )
    return np.where((drawn <= competitors) & (beaten >= 0.0)[:, None], np.minimum(total, 1.0), 0.0)


def _log_choose(n: Floats | float, k: Floats | float) -> Floats:
    from scipy.special import gammaln

    with np.errstate(invalid="ignore"):
        possible = (np.asarray(k) <= n) & (np.asarray(k) >= 0.0)
        taken = np.where(possible, k, 0.0)
        log = gammaln(np.asarray(n) + 1.0) - gammaln(taken + 1.0) - gammaln(np.asarray(n) - taken + 1.0)
    return np.where(possible, log, -np.inf)


def tie_credit(beaten: Floats, tied: Floats, k: Floats, competitors: int, ties: Ties, *, top: int = 1) -> Floats:
    """Share of the subsets of ``k − 1`` competitors that a case survives, ties settled by the rule.

    Random: ``[C(L+t+1, k) − C(L, k)] / ((t+1) C(n, k−1))``; with ``top`` above 1 the mean over the places of the tie.

    >>> tie_credit(np.array([0.0]), np.array([1.0]), np.array([2.0]), 1, "random").round(12).tolist()
    [[0.5]]
    """
    wide = np.maximum(tied, 0.0)
    if ties == "optimistic":
        return credit(beaten + wide, k, competitors, top=top)
    plain = credit(beaten, k, competitors, top=top)
    if ties == "pessimistic" or not (tied > 0).any():
        return plain
    if top > 1:
        # Sums over all places up to each: a stretch of places is the difference of two.
        summed = np.cumsum(credit(np.arange(competitors + 1.0), k, competitors, top=top), axis=0)
        first, stop = beaten.astype(np.intp), (beaten + wide).astype(np.intp)
        mean = (summed[stop] - np.where(first[:, None] > 0, summed[first - 1], 0.0)) / (wide[:, None] + 1.0)
    else:
        upper = credit(np.where(beaten < 0, -1.0, beaten + wide + 1.0), k + 1.0, competitors + 1)
        lower = credit(beaten, k + 1.0, competitors + 1)
        mean = (upper - lower) * (competitors + 1.0) / (k[None, :] * (wide[:, None] + 1.0))
    return np.where(tied[:, None] > 0, mean, plain)


def class_grid(n_classes: int, points: int = _CURVE_POINTS) -> Floats:
    """Whole numbers from 2 to ``n_classes``, evenly spaced on a log scale where they are many.

    >>> class_grid(5).tolist()
    [2.0, 3.0, 4.0, 5.0]
    """
    if n_classes - 1 <= points:
        return np.arange(2.0, n_classes + 1.0)
    return np.unique(np.round(np.geomspace(2.0, n_classes, points)))

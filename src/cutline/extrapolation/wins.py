"""From distractors beaten to the average test accuracy of every smaller task, without retraining.

A test case of a ``k1``-class task is summed up by how many of its ``k1 − 1`` distractors the right class beats
(``L``) and how many it ties (``t``). The histogram of ``L`` is all that the rank methods need.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..errors import InputError
from .moments import Floats

Ties = Literal["random", "optimistic", "pessimistic"]
TIE_RULES: tuple[Ties, ...] = ("random", "optimistic", "pessimistic")


def check_ties(ties: str) -> Ties:
    """The tie rule by name, or an error that lists the rules."""
    for rule in TIE_RULES:
        if ties == rule:
            return rule
    raise InputError(f"ties: {ties!r} is no tie rule; choose one of {', '.join(TIE_RULES)}")


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
    for start, mass in ((whole, weight * (1.0 - part)), (np.minimum(whole + 1, most), weight * part)):
        alone = width == 0
        histogram += np.bincount(start[alone], weights=mass[alone], minlength=n_classes)
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


def average_accuracy(histogram: Floats, k: Floats | None = None) -> Floats:
    """Average test accuracy over all subsets of ``k`` of the ``k1`` classes (Zheng et al. Eq. 4).

    ``ATA_k = Σ_L share(L) · C(L, k−1) / C(k1−1, k−1)``, by the recursion
    ``term(k+1) = term(k) · (L − k + 1) / (k1 − k)``: binomials overflow, their ratio does not.
    Returned for ``k = 1 … k1``, or for the whole numbers ``k`` given in rising order.

    >>> average_accuracy(np.array([0.25, 0.25, 0.5])).tolist()
    [1.0, 0.625, 0.5]
    """
    n_classes = histogram.size
    if k is not None:
        return _at(histogram, np.asarray(k, dtype=np.float64))
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


def credit(beaten: Floats, k: Floats, competitors: int) -> Floats:
    """``C(L, k−1) / C(n, k−1)`` for every case (rows) and number of classes (columns), by log-gamma."""
    from scipy.special import gammaln

    with np.errstate(invalid="ignore"):
        level = np.maximum(beaten, 0.0)[:, None]
        drawn = np.asarray(k, dtype=np.float64)[None, :] - 1.0
        possible = drawn <= level
        log = (
            gammaln(level + 1.0)
            - gammaln(np.where(possible, level - drawn, 0.0) + 1.0)
            - gammaln(competitors + 1.0)
            + gammaln(np.maximum(competitors - drawn, 0.0) + 1.0)
        )
    return np.where(possible & (drawn <= competitors) & (beaten >= 0.0)[:, None], np.exp(log), 0.0)


def _at(histogram: Floats, k: Floats) -> Floats:
    level = np.flatnonzero(histogram)
    return np.asarray(histogram[level] @ credit(level.astype(np.float64), k, histogram.size - 1), dtype=np.float64)

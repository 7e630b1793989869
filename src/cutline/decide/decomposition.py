"""Rosset's decompositions of Linear Ranking and misclassification, for study; signs as in errata R4 and R5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import ratio
from ..errors import InputError, different_lengths
from ..ranking import midranks, rank
from ..sources.arrays import as_numbers, make_sample
from ..types import Label, Labels, Scores
from ..validate import checked
from .selection import hits_at


@dataclass(frozen=True)
class Decomposition:
    """``score = oracle − reducible``: what the true probabilities would score, and what the model loses of it."""

    score: float
    oracle: float
    reducible: float
    reducible_switched: float
    reducible_pairs: float


def _columns(
    y_true: Labels, y_score: Scores, true_probability: Scores, pos_label: Label
) -> tuple[NDArray[np.float64], ...]:
    sample = make_sample(y_true, y_score, pos_label=pos_label)
    truth, low, high = as_numbers(true_probability, "true_probability")
    if len(truth) != len(sample):
        raise different_lengths("true_probability", len(truth), "y_score", len(sample))
    if low < 0 or high > 1:
        row = int(np.argmax((truth < 0) | (truth > 1)))
        raise InputError("true_probability", f"is {truth[row]:g}", "pass probabilities, between 0 and 1", row=row)
    order = np.argsort(truth, kind="stable")  # 5.1–5.3 number the cases by their true probability
    return tuple(a[order].astype(np.float64) for a in (sample.positive, sample.score, truth))


def linear_ranking_decomposition(
    y_true: Labels, y_score: Scores, true_probability: Scores, *, pos_label: Label = None
) -> Decomposition:
    """Linear Ranking as oracle minus reducible part, the latter in three equal forms (Rosset 5.1, 5.2, 5.3).

    ``reducible`` sums places (5.1), ``reducible_switched`` does so with the classes and the order switched (5.2), and
    ``reducible_pairs`` counts the pairs the model orders unlike the true probabilities (5.3). Ties take mid-ranks and
    half pairs (erratum R6).

    >>> d = linear_ranking_decomposition([0, 1, 1], [0.2, 0.9, 0.5], [0.1, 0.5, 0.8])
    >>> d.score, d.oracle, d.reducible
    (5.0, 5.0, 0.0)
    """
    y, m, p = _columns(y_true, y_score, true_probability, pos_label)
    place, true_place = midranks(m), midranks(p)
    n = len(y)
    score, oracle = float(place @ y), float(true_place @ y)
    switched = float((n + 1 - true_place) @ (1 - y) - (n + 1 - place) @ (1 - y))
    pairs = (_pairs_won(y, p) - _pairs_won(y, m)) / 2.0
    return Decomposition(score, oracle, oracle - score, switched, pairs)


@checked
def misclassification_decomposition(
    y_true: Labels, y_score: Scores, true_probability: Scores, *, threshold: float = 0.5, pos_label: Label = None
) -> Decomposition:
    """Number of correct decisions as the Bayes classifier's minus a reducible part (Rosset 6.1, corrected by R4).

    ``reducible`` is the first form of 6.1, ``reducible_pairs`` the corrected second form Σ [I{p≤t} − I{m≤t}](1−2y),
    and ``reducible_switched`` the same with the classes switched.

    >>> misclassification_decomposition([0, 1, 1], [0.2, 0.9, 0.4], [0.1, 0.6, 0.8]).reducible
    1.0
    """
    y, m, p = _columns(y_true, y_score, true_probability, pos_label)
    decided, bayes = m > threshold, p > threshold
    score, oracle = float((decided == y).sum()), float((bayes == y).sum())
    first = float(((decided != bayes) * np.where(bayes == y, 1.0, -1.0)).sum())
    second = float(((~bayes).astype(float) - (~decided).astype(float)) @ (1 - 2 * y))
    switched = float((bayes.astype(float) - decided.astype(float)) @ (2 * y - 1))
    return Decomposition(score, oracle, first, switched, second)


@dataclass(frozen=True)
class SelectorDifferences:
    """How much better the second model looks: by correct decisions (6.2) and by Linear Ranking (6.3)."""

    misclassification: float
    linear_ranking: float


@checked
def selector_differences(
    y_true: Labels, first_score: Scores, second_score: Scores, *, threshold: float = 0.5, pos_label: Label = None
) -> SelectorDifferences:
    """MC(m₂) − MC(m₁) and LR(m₂) − LR(m₁) from the decisions in which the models differ (Rosset 6.2 with R5, 6.3).

    >>> d = selector_differences([0, 1], [0.6, 0.4], [0.3, 0.7])
    >>> d.misclassification, d.linear_ranking
    (2.0, 1.0)
    """
    one = make_sample(y_true, first_score, pos_label=pos_label)
    two = make_sample(y_true, second_score, pos_label=pos_label)
    y = one.positive.astype(np.float64)
    correct = float(((two.score > threshold).astype(float) - (one.score > threshold)) @ (2 * y - 1))

    gained = (_pairs_won(y, two.score) - _pairs_won(y, one.score)) / 2.0
    return SelectorDifferences(correct, gained)


def _pairs_won(y: NDArray[np.float64], score: NDArray[Any]) -> float:
    """Pairs of a positive and a negative that a score orders rightly, less those that it orders wrongly.

    Only such pairs count in the sums over pairs of cases; sorting the negatives finds them without a table of pairs.
    """
    positive = y > 0
    negatives = np.sort(score[~positive])
    below = np.searchsorted(negatives, score[positive], side="left")
    above = len(negatives) - np.searchsorted(negatives, score[positive], side="right")
    return float((below - above).sum(dtype=np.int64))


@dataclass(frozen=True)
class PemAreas:
    """The areas behind PEM (Arbel & Rokach Eq. 14): S₁ where the list finds more than a random one, S₂ where it finds
    less, S₃ between an optimal and a random list, each summed over the quotas 1 … n."""

    s1: float
    s2: float
    s3: float

    @property
    def pem(self) -> float:
        """(S₁ − S₂) / S₃."""
        return float(ratio(self.s1 - self.s2, self.s3))


def pem_areas(y_true: Labels, y_score: Scores, *, pos_label: Label = None) -> PemAreas:
    """S₁, S₂ and S₃ of PEM, summed at the quotas 1 … n as in Table 5; S₁ − S₂ over S₃ is PEM (erratum A18).

    >>> y = [1, 0, 1, 1, 0, 0, 1, 0, 0, 0]
    >>> p = [0.45, 0.34, 0.32, 0.26, 0.15, 0.14, 0.09, 0.07, 0.06, 0.03]
    >>> areas = pem_areas(y, p)
    >>> round(areas.s1, 4), areas.s2, areas.s3, round(areas.pem, 4)
    (1.75, 0.0, 3.0, 0.5833)
    """
    ranking = rank(make_sample(y_true, y_score, pos_label=pos_label))
    if ranking.n_pos == 0:
        raise InputError("y_true", "holds no positive cases, so there is nothing to extract", "pass both classes")
    places = np.arange(1, ranking.rows + 1, dtype=np.float64)
    gained = hits_at(ranking, places) / ranking.n_pos - places / ranking.rows
    gained[np.abs(gained) < 1e-12] = 0.0
    return PemAreas(float(gained[gained > 0].sum()), float(np.abs(gained[gained < 0]).sum()), ranking.n_neg / 2.0)

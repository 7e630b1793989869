"""Measures for limited places: at a quota, and averaged over quotas. A row of weight w stands for w cases."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ..sweep import Counts, Sums
from .declare import declare, declare_share, ratio
from .ranks import CHANCE_OF_PRECISION, declare_of_auc, gini_of


@declare_share(
    "Hit rate",
    "quota",
    formula="positives in the quota / quota",
    latex=r"\frac1j\sum_{k=1}^j t^{[k]}",
    reference="Arbel & Rokach Eq. 4–5",
    tie_rule="expectation",
    perfect="min(1, n⁺/j)",
    chance="n⁺/n",
    interval="moving_cut",
    paired_test="hits",
)
def hit_rate(c: Counts) -> Any:
    """Share of positives among the best ``quota`` cases; a tie at the cut counts proportionally.

    >>> hit_rate([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1], quota=2)
    0.75
    """
    return c.tp, c.tp + c.fp


@declare_share(
    "Qrecall",
    "quota",
    formula="positives in the quota / n⁺",
    latex=r"\frac1{n^+}\sum_{k=1}^j t^{[k]}",
    reference="Arbel & Rokach Eq. 6–7",
    tie_rule="expectation",
    perfect="min(1, j/n⁺)",
    chance="j/n",
    needs=("positives",),
    interval="moving_cut_recall",
    paired_test="hits",
)
def qrecall(c: Counts) -> Any:
    """Share of all positives among the best ``quota`` cases; at one quota it ranks models as the hit rate does.

    >>> qrecall([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1], quota=2)
    0.5
    """
    return c.tp, c.tp + c.fn


@declare(
    "Lift at quota",
    "quota",
    range=(0.0, inf),
    formula="hit rate / share of positives",
    latex=r"\frac{\mathrm{HitRate}(j)}{n^+ / n}",
    reference="Berrar Def. 16 at the cut of the quota (Arbel & Rokach section 2.2.5 lifts portions: see lift_table)",
    tie_rule="expectation",
    perfect="min(n/n⁺, n/j)",
    chance=1.0,
    needs=("positives",),
    interval="moving_cut_recall",
    paired_test="hits",
    proportion=lambda c: (c.tp, c.tp + c.fn),
    scale=lambda c: (c.tp + c.fp + c.fn + c.tn) / (c.tp + c.fp),
)
def quota_lift(c: Counts) -> Any:
    """Positives within the quota, relative to a random choice of the same size.

    >>> quota_lift([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1], quota=1)
    2.0
    """
    return ratio(ratio(c.tp, c.tp + c.fp), ratio(c.tp + c.fn, c.tp + c.fp + c.fn + c.tn))


@declare(
    "Pearson correlation at quota",
    "quota",
    range=(-1.0, 1.0),
    formula="correlation of score p[k] and expected outcome t[k] over the places k = 1 … quota",
    latex=r"\frac{\mathrm{Cov}_{p,t}(j)}{\sigma_p(j)\,\sigma_t(j)}",
    reference="Arbel & Rokach Eq. 8–11 (outcomes averaged over ties: erratum A12)",
    undefined="score or outcome is constant within the quota",
    scores="finite",
    perfect=None,
    rank_based=False,
    tie_rule="shared",
    caution="the interval is too short with few rows or many ties in the quota, or few cases of the rarer class",
)
def quota_pearson(c: Counts) -> Any:
    """Correlation of scores and outcomes within the quota.

    >>> quota_pearson([1, 1, 0, 0], [0.9, 0.7, 0.3, 0.1], quota=4) > 0.9
    True
    """
    with np.errstate(invalid="ignore"):
        return np.clip(ratio(c.comoment, np.sqrt(c.spread_score) * np.sqrt(c.spread_outcome)), -1.0, 1.0)


@declare(
    "Average hit rate",
    "quota",
    formula="Σⱼ t[j]·HitRate(j) / n⁺",
    latex=r"\frac{1}{n^+}\sum_{j=1}^n t^{[j]}\,\mathrm{HitRate}(j)",
    reference="Arbel & Rokach Eq. 12 (with ties neither the step nor the expected average precision: erratum A11)",
    same_as="average_precision, where no scores tie",
    part="places",
    tie_rule="shared",
    chance=CHANCE_OF_PRECISION,
    needs=("positives",),
    interval="precision_area",
)
def average_hit_rate(s: Sums) -> Any:
    """Mean hit rate over the places of the positives: for an unknown quota when places must not be wasted.

    Eq. 12 multiplies expectations, so with few positives ``ties="worst"`` can exceed the expected value (erratum A11).

    >>> round(average_hit_rate([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1]), 4)
    0.8333
    """
    return ratio(s.hit_rates_at_positives, s.n_pos)


@declare(
    "Average Qrecall",
    "quota",
    formula="mean of Qrecall(j) over j = n⁺ … n",
    latex=r"\frac{1}{n - n^+ + 1}\sum_{j=n^+}^n \mathrm{Qrecall}(j)",
    reference="Arbel & Rokach Eq. 13 (their Tables 8–9 average from n⁺+1 on: erratum A5)",
    part="places",
    tie_rule="expectation",
    chance="(n + n⁺) / (2·n)",
    needs=("positives",),
    interval="qrecall_area",
)
def average_qrecall(s: Sums) -> Any:
    """Mean Qrecall over the quotas large enough for all positives: for an unknown quota when no positive may be missed.

    >>> round(average_qrecall([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1]), 4)
    0.8333
    """
    return ratio(ratio(s.found, s.n_pos), s.n_neg + 1.0)


@declare_of_auc(
    "Potential extract measure (PEM)",
    "quota",
    range=(-1.0, 1.0),
    formula="(S₁ − S₂) / S₃ = (Σⱼ Qrecall(j) − (n+1)/2) / (n⁻/2)",
    latex=r"\frac{\sum_{j=1}^n \mathrm{Qrecall}(j) - \frac{n+1}{2}}{n^-/2}",
    reference="Arbel & Rokach Eq. 14–15",
    same_as="gini = 2·roc_auc − 1",
    chance=0.0,
    line_of_auc=lambda n_pos, n_neg, n: (2.0, -1.0),
)
def pem(s: Sums) -> Any:
    """Share of the potential between a random and a perfect list that the model extracts, over all quotas.

    >>> pem([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1])
    0.5
    """
    return gini_of(s)

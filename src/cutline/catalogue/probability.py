"""Measures that read the scores as probabilities (and the hinge loss, which reads them as signed distances)."""

from __future__ import annotations

from functools import partial
from math import inf, log, log1p
from typing import Any

import numpy as np

from ..ranking import Ranking
from ..sweep import LOG_EPS, Sums
from ..validate import Rule, check_flag, check_number, check_whole
from .declare import BOTH, check_number_but, declare, ratio


def log_losses(p: Any, eps: float = LOG_EPS, base: float = 2) -> tuple[Any, Any]:
    """Logarithmic loss of a positive and of a negative of each probability."""
    return -np.log(np.maximum(p, eps)) / log(base), -np.log(np.maximum(1.0 - p, eps)) / log(base)


def _focal_losses(p: Any, gamma: float = 2, alpha: float | None = None, eps: float = LOG_EPS) -> tuple[Any, Any]:
    """The same, with less weight for easy cases, and weights α and 1 − α of the classes where α is given."""
    of_pos, of_neg = log_losses(p, eps)
    of_pos, of_neg = (1.0 - p) ** gamma * of_pos, p**gamma * of_neg
    return (of_pos, of_neg) if alpha is None else (alpha * of_pos, (1.0 - alpha) * of_neg)


_loss = partial(declare, family="probability", better="lower", interval="loss_score")


@_loss(
    "Mean absolute error",
    formula="(1/n) Σ |y − p|",
    latex=r"\frac1n\sum_i |y_i - p_i|",
    reference="Berrar Def. 17, Eq. 17",
    proper=False,
    case_loss=lambda p: (1.0 - p, p),
    aliases=("mae",),
)
def mean_absolute_error(s: Sums) -> Any:
    """Mean absolute difference between outcome and probability.

    >>> mean_absolute_error([1, 0], [0.75, 0.25])
    0.25
    """
    return ratio(s.absolute, s.cases)


@_loss(
    "Brier score",
    formula="(1/n) Σ (y − p)²",
    latex=r"\frac1n\sum_i (y_i - p_i)^2",
    reference="Berrar Def. 18, Eq. 18",
    aliases=("mean_squared_error", "brier", "mse"),
    proper=True,
    case_loss=lambda p: ((1.0 - p) ** 2, p**2),
)
def brier_score(s: Sums) -> Any:
    """Mean squared difference between outcome and probability; a strictly proper score.

    >>> brier_score([1, 0], [0.5, 0.5])
    0.25
    """
    return ratio(s.squared, s.cases)


@_loss(
    "Root mean squared error",
    formula="√((1/n) Σ (y − p)²)",
    latex=r"\sqrt{\frac1n\sum_i (y_i - p_i)^2}",
    reference="Berrar Def. 19, Eq. 19",
    same_as="√brier_score",
    # A root of a mean over the sample: E√X is not √EX. With p = 0.3 the best forecast is 0 for one or two cases, 0.237
    # for five; only for long lists does it come near p.
    proper=False,
    case_loss=lambda p: ((1.0 - p) ** 2, p**2),
    aliases=("rmse",),
)
def root_mean_squared_error(s: Sums) -> Any:
    """Root of the Brier score, on the scale of the probabilities.

    It orders models on one sample as the Brier score does, but its expected value is not best at the true
    probabilities: the expectation of a root is not the root of the expectation.

    >>> root_mean_squared_error([1, 0], [0.5, 0.5])
    0.5
    """
    return np.sqrt(ratio(s.squared, s.cases))


_WEIGHED: dict[str, Rule] = {
    "eps": partial(check_number, low=0.0, high=0.5, open_ends=True),
    "alpha": partial(check_number, low=0.0, high=1.0),
}
_check_base = partial(
    check_number_but,
    excluded=1.0,
    problem="but no logarithm has base 1",
    remedy="use 2 for bits, or 2.718281828459045 for nats",
    low=0.0,
    open_ends=True,
)
CHECK_LOG: dict[str, Rule] = {"eps": _WEIGHED["eps"], "base": _check_base}


@_loss(
    "Log loss",
    range=(0.0, inf),
    formula="−(1/n) Σ [y·log p + (1−y)·log(1−p)], p and 1−p at least ε",
    latex=r"-\frac1n\sum_i \left[y_i\log_b p_i + (1-y_i)\log_b(1-p_i)\right]",
    reference="Berrar Def. 20, Eq. 20 (base 2; both logarithms are clamped at ε: erratum B17)",
    aliases=("cross_entropy", "logloss"),
    proper=True,
    checks=CHECK_LOG,
    case_loss=log_losses,
)
def log_loss(s: Sums, base: float = 2, eps: float = LOG_EPS) -> Any:
    """Mean negative log-likelihood of the outcomes, in bits (base 2); most other software uses nats.

    >>> log_loss([1, 0], [0.5, 0.5])
    1.0
    """
    return ratio(0.0 - (s.pos_log + s.neg_log), s.cases) / log(base)


@_loss(
    "Balanced cross-entropy",
    range=(0.0, inf),
    formula="−(1/n) Σ [α·y·log₂ p + (1−α)·(1−y)·log₂(1−p)], α = n⁻/n by default",
    latex=r"-\frac1n\sum_i \left[\alpha\, y_i\log_2 p_i + (1-\alpha)(1-y_i)\log_2(1-p_i)\right]",
    reference="Berrar Def. 21, Eq. 21",
    undefined="a class is missing and alpha is not given (the weights would make any prediction perfect)",
    one_class_needs="alpha",
    proper=False,
    checks=_WEIGHED,
    needs=BOTH,
    case_loss=partial(_focal_losses, gamma=0),
)
def balanced_cross_entropy(s: Sums, alpha: float | None = None, eps: float = LOG_EPS) -> Any:
    """Cross-entropy with weight α for positives and 1−α for negatives; by default inverse class frequencies.

    >>> balanced_cross_entropy([1, 0], [0.5, 0.5])
    0.5
    """
    both = (s.n_pos > 0) & (s.n_neg > 0)
    share = np.where(both, ratio(s.n_neg, s.cases), np.nan) if alpha is None else np.float64(alpha)
    # a class that is absent adds nothing, even at a weight of 0 · log 0
    return ratio(0.0 - (share * s.pos_log + (1.0 - share) * s.neg_log), s.cases) / log(2)


@_loss(
    "Focal loss",
    range=(0.0, inf),
    formula="−(1/n) Σ αₜ·(1−pₜ)^γ·log₂ pₜ; pₜ = p, αₜ = α where y = 1; pₜ = 1−p, αₜ = 1−α where y = 0; no α: αₜ = 1",
    latex=r"-\frac1n\sum_i \alpha_{t,i}\,(1-p_{t,i})^\gamma \log_2 p_{t,i}",
    reference="Berrar Def. 22, Eq. 23 (base 2: erratum B27)",
    proper=False,
    checks={**_WEIGHED, "gamma": partial(check_number, low=0.0)},
    case_loss=_focal_losses,
)
def focal_loss(s: Sums, gamma: float = 2, alpha: float | None = None, eps: float = LOG_EPS) -> Any:
    """Cross-entropy that down-weights easy cases; with ``alpha``, positives weigh α and negatives 1−α.

    >>> focal_loss([1, 0], [0.5, 0.5])
    0.25
    """
    weight = (1.0, 1.0) if alpha is None else (float(alpha), 1.0 - float(alpha))
    return ratio(0.0 - (weight[0] * s.pos_focal + weight[1] * s.neg_focal), s.cases) / log(2)


def _entropy(s: Sums, prior: float | None) -> Any:
    """Entropy of the prior in nats; nan where the sample's own has none."""
    if prior is not None:
        return np.asarray(-(prior * log(prior) + (1.0 - prior) * log1p(-prior)))
    odds = ratio(s.n_neg, s.n_pos)  # logs of shares by log1p of the odds: 1 − share would lose a rare class's digits
    with np.errstate(all="ignore"):
        inside = ratio(s.n_pos, s.cases) * np.log1p(odds) + ratio(s.n_neg, s.cases) * np.log1p(ratio(1.0, odds))
        return np.where((s.n_pos > 0) & (s.n_neg > 0), inside, np.nan)


_information = partial(
    declare,
    family="probability",
    undefined="a class is missing and no prior is given",
    needs=BOTH,
    one_class_needs="prior",
    proper=False,
    checks={"prior": partial(check_number, low=0.0, high=1.0, open_ends=True)},
)


@_information(
    "Information score",
    range=(-inf, inf),
    formula="mean of log₂(q/π) where q ≥ π, else log₂((1−π)/(1−q)); q, π: predicted and prior share of the real class",
    latex=r"\frac1n\sum_i I(x_i),\quad I = \begin{cases}-\log_2\pi_i + \log_2 q_i & q_i \ge \pi_i\\"
    r" \log_2(1-\pi_i) - \log_2(1-q_i) & q_i < \pi_i\end{cases}",
    reference="Berrar Def. 23, Eq. 24 (q is the score of the real class: erratum B10)",
    perfect="(n⁺·log₂(n/n⁺) + n⁻·log₂(n/n⁻)) / n",
)
def information_score(s: Sums, prior: float | None = None) -> Any:
    """Mean information, in bits, that the predictions add to the prior (by default the sample's share of positives).

    >>> information_score([1, 0], [1.0, 0.0])
    1.0
    """
    with np.errstate(invalid="ignore"):
        return ratio(s.information, s.cases) / log(2) + 0.0 * _entropy(s, prior)


def information_missing(q: Any, prior: Any) -> Any:
    """What the information of a case lacks, in nats, q being its class's probability: 0 on average if perfect."""
    with np.errstate(all="ignore"):
        return np.where(q >= prior, -np.log(q), np.log1p(-q) - np.log(prior) - np.log1p(-prior))


@_information(
    "Relative information score",
    range=(-inf, 1.0),
    interval="information",
    case_loss=lambda p, prior: (information_missing(p, prior), information_missing(1.0 - p, 1.0 - prior)),
    formula="information_score / entropy of the prior",
    latex=r"\frac{\frac1n\sum_i I(x_i)}{-\sum_k \pi_k\log_2\pi_k}",
    reference="Berrar Def. 23, Eq. 25",
)
def relative_information_score(s: Sums, prior: float | None = None) -> Any:
    """Information score as a share of the entropy of the prior.

    >>> relative_information_score([1, 0, 0, 0], [1.0, 0.0, 0.0, 0.0])
    1.0
    """
    return ratio(ratio(s.information, s.cases), _entropy(s, prior))


@_information(
    "Brier skill score",
    range=(-inf, 1.0),
    one_class_needs="",
    formula="1 − brier_score / (π·(1 − π)), π: prior, by default the sample's share of positives",
    latex=r"1 - \frac{\frac1n\sum_i (y_i - p_i)^2}{\pi_k (1 - \pi_k)}",
    reference="Brier 1950; Murphy 1973 (skill against a constant forecast)",
    proper=True,
    aliases=("bss",),
)
def brier_skill(s: Sums, prior: float | None = None) -> Any:
    """Share of the Brier score of a constant forecast (the prior) that the probabilities save.

    0 is no better than forecasting the prior for every case, 1 is perfect, below 0 is worse than the constant. It is
    proper for a given prior; with the sample's own it is nearly so in long lists.

    >>> brier_skill([1, 0], [0.75, 0.25])
    0.75
    """
    # 1 − share would lose digits where nearly all are positive, so each class has its own share
    share = ratio(s.n_pos, s.cases) if prior is None else np.float64(prior)
    spread = share * (ratio(s.n_neg, s.cases) if prior is None else 1.0 - share)
    return 1.0 - ratio(ratio(s.squared, s.cases), np.where(spread > 0.0, spread, np.nan))


@declare(
    "Expected calibration error",
    "probability",
    better="lower",
    formula="Σ over bins of n_b/n·|mean p − share of positives|, less what noise adds if all p are right",
    latex=r"\sum_b \frac{n_b}{n} |\bar p_b - \bar y_b|",
    reference="Naeini et al. 2015, Guo et al. 2017 (equal bins); the bias is removed as Ferro & Fricker 2012 do",
    part="ranking",
    proper=False,
    checks={"bins": partial(check_whole, least=1), "debiased": check_flag},
    aliases=("ece", "expected_calibration_error"),
    caution="where probabilities are right it is 0, and its interval, which begins above 0, leaves that out in about "
    "half of the samples; it depends on the bins, and is 0 for a constant forecast of the prior: calibration() tests "
    "whether the probabilities are right",
)
def calibration_error(ranking: Ranking, bins: int = 15, debiased: bool = True) -> Any:
    """Mean distance between probabilities and the share of positives, over ``bins`` bins of equal width.

    Shares vary by chance, so that the plain sum (``debiased=False``, what most libraries give) is above 0 for
    probabilities that are right: by √(2/π)·√Σp(1 − p)/n for each bin on average. By default that much is taken off,
    down to 0. Where probabilities are clearly wrong, noise adds less, and the value is too low by the difference.

    >>> round(calibration_error([1, 0, 1, 0], [0.8, 0.2, 0.8, 0.2], debiased=False), 4)
    0.2
    >>> calibration_error([1, 0, 1, 0], [0.8, 0.2, 0.8, 0.2])
    0.0
    """
    p, pos = ranking.score.astype(np.float64), ranking.pos.astype(np.float64)
    size = pos + ranking.neg
    at = np.clip(np.ceil(p * bins).astype(np.int64) - 1, 0, bins - 1)  # a bin has its upper end
    # rows of a weighted list stand for as many cases as they weigh
    gap, noise = (np.bincount(at, each, bins) for each in (p * size - pos, p * (1.0 - p) * size))
    error = np.abs(gap).sum() - (np.sqrt(2.0 / np.pi * noise).sum() if debiased else 0.0)
    return np.float64(max(0.0, error) / size.sum())


@_loss(
    "Hinge loss",
    range=(0.0, inf),
    formula="(1/n) Σ max(0, 1 − y·s), y = ±1",
    latex=r"\frac1n\sum_i \max\{0,\, 1 - y_i s_i\}",
    reference="Berrar Def. 35, Eq. 44",
    scores="distance",
    interval="scaled",
)
def hinge_loss(s: Sums) -> Any:
    """Mean distance by which cases fall short of a margin of 1; scores are signed distances, not probabilities.

    >>> hinge_loss([1, -1], [2.0, 0.5])
    0.75
    """
    return ratio(s.pos_hinge + s.neg_hinge, s.cases)

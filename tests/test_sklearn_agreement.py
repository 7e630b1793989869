"""scikit-learn gives the same number wherever it has the same definition.

Differences that are not disagreements: scikit-learn calls a case positive at ``score >= threshold``, here it is
``score > threshold`` (so its measures get the decisions made here); its logarithms are natural; it answers 0 where
0/0 is undefined (so the samples here avoid that).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

import cutline as cl
from samples import Case, random_case

T = 0.45


def sample(seed: int, weighted: bool) -> Case:
    n, levels = [(30, 5), (200, 11), (1000, 100_000), (1000, 25)][seed]
    case = random_case(seed, n, levels)
    w = np.random.default_rng(100 + seed).random(n) * 3 if weighted else None
    return Case(case.y, case.s, w)


def decided(f: Callable[..., Any], **options: Any) -> Callable[..., float]:
    """A scikit-learn measure of decisions, given those at the threshold T."""
    return lambda y, s, w: float(f(y, (s > T).astype(int), sample_weight=w, **options))


def scored(f: Callable[..., Any], **options: Any) -> Callable[..., float]:
    return lambda y, s, w: float(f(y, s, sample_weight=w, **options))


def likelihood_ratio(which: int) -> Callable[..., float]:
    return lambda y, s, w: float(metrics.class_likelihood_ratios(y, (s > T).astype(int), sample_weight=w)[which])


def confusion(row: int, column: int) -> Callable[..., float]:
    """A cell of the confusion matrix as a share of its true class."""
    return lambda y, s, w: float(
        metrics.confusion_matrix(y, (s > T).astype(int), sample_weight=w, normalize="true")[row, column]
    )


def largest_gap(y: Any, s: Any, w: Any) -> float:
    fpr, tpr, _ = metrics.roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    return float(np.max(np.abs(tpr - fpr)))


def largest_youden(y: Any, s: Any, w: Any) -> float:
    fpr, tpr, _ = metrics.roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    return float(np.max(tpr - fpr))


AT = {"threshold": T}
PAIRS: dict[str, tuple[dict[str, Any], Callable[..., float]]] = {
    "accuracy": (AT, decided(metrics.accuracy_score)),
    "error_rate": (AT, decided(metrics.zero_one_loss)),
    "zero_one_loss": (AT, decided(metrics.zero_one_loss, normalize=False)),
    "recall": (AT, decided(metrics.recall_score)),
    "specificity": (AT, decided(metrics.recall_score, pos_label=0)),
    "precision": (AT, decided(metrics.precision_score)),
    "negative_predictive_value": (AT, decided(metrics.precision_score, pos_label=0)),
    "false_positive_rate": (AT, confusion(0, 1)),
    "false_negative_rate": (AT, confusion(1, 0)),
    "balanced_accuracy": (AT, decided(metrics.balanced_accuracy_score)),
    "youden_index": (AT, decided(metrics.balanced_accuracy_score, adjusted=True)),
    "f1": (AT, decided(metrics.f1_score)),
    "f_beta": ({"beta": 2.0, **AT}, decided(metrics.fbeta_score, beta=2.0)),
    "matthews_correlation": (AT, decided(metrics.matthews_corrcoef)),
    "cohen_kappa": (AT, decided(metrics.cohen_kappa_score)),
    "positive_likelihood_ratio": (AT, likelihood_ratio(0)),
    "negative_likelihood_ratio": (AT, likelihood_ratio(1)),
    "mean_absolute_error": ({}, scored(metrics.mean_absolute_error)),
    "brier_score": ({}, scored(metrics.brier_score_loss)),
    "root_mean_squared_error": ({}, scored(metrics.root_mean_squared_error)),
    "log_loss": ({"base": math.e, "eps": 1e-15}, scored(metrics.log_loss)),
    "roc_auc": ({}, scored(metrics.roc_auc_score)),
    "gini": ({}, lambda y, s, w: 2 * float(metrics.roc_auc_score(y, s, sample_weight=w)) - 1),
    "average_precision": ({}, scored(metrics.average_precision_score)),
    "ks_statistic": ({}, largest_gap),
    "max_youden_index": ({}, largest_youden),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", PAIRS)
def test_agreement(name: str, seed: int, weighted: bool) -> None:
    y, s, w = sample(seed, weighted)
    options, theirs = PAIRS[name]
    weights = {} if w is None else {"sample_weight": w}
    ours = getattr(cl, name)(y, s, **options, **weights)
    assert ours == pytest.approx(theirs(y, s, w), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_hinge_loss(weighted: bool) -> None:
    y, s, w = sample(1, weighted)
    distance = 6 * (s - 0.5)
    weights = {} if w is None else {"sample_weight": w}
    ours = cl.hinge_loss(2 * y - 1, distance, **weights)
    assert ours == pytest.approx(metrics.hinge_loss(2 * y - 1, distance, sample_weight=w), rel=1e-12)


def test_log_loss_in_bits_is_log_loss_in_nats_over_log_two() -> None:
    y, s, _ = sample(2, False)
    assert cl.log_loss(y, s) * math.log(2) == pytest.approx(metrics.log_loss(y, s), rel=1e-12)


def test_at_a_score_the_two_libraries_differ_and_beside_it_they_do_not() -> None:
    y, s = np.array([1, 1, 0, 0]), np.array([0.9, 0.5, 0.4, 0.1])
    assert cl.recall(y, s, threshold=0.5) == 0.5
    assert metrics.recall_score(y, (s >= 0.5).astype(int)) == 1.0
    assert cl.recall(y, s, threshold=float(np.nextafter(0.5, 0.0))) == 1.0


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("seed", range(4))
def test_area_by_trapezoids_under_the_roc_curve(seed: int, weighted: bool) -> None:
    y, s, w = sample(seed, weighted)
    fpr, tpr, _ = metrics.roc_curve(y, s, sample_weight=w)
    weights = {} if w is None else {"sample_weight": w}
    assert cl.roc_auc(y, s, **weights) == pytest.approx(metrics.auc(fpr, tpr), rel=1e-12)


def test_mean_average_precision_is_the_macro_mean() -> None:
    rng = np.random.default_rng(7)
    y = rng.integers(0, 4, 120)
    m = rng.random((120, 4)) + (np.arange(4) == y[:, None])
    m = np.round(m / m.sum(axis=1, keepdims=True), 2)
    theirs = np.mean([metrics.average_precision_score(y == k, m[:, k]) for k in range(4)])
    assert cl.mean_average_precision(y, m, classes=[0, 1, 2, 3]) == pytest.approx(theirs, rel=1e-12)


def test_float32_scores_agree_too() -> None:
    y, s, _ = sample(2, False)
    s = s.astype(np.float32)
    assert cl.roc_auc(y, s) == pytest.approx(metrics.roc_auc_score(y, s), rel=1e-12)
    assert cl.average_precision(y, s) == pytest.approx(metrics.average_precision_score(y, s), rel=1e-12)


class Tensor:
    """Answers as a tensor on the CPU does: no list, no Series, an array on request."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)
        self.shape = self.values.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.values if dtype is None else self.values.astype(dtype)

    def __len__(self) -> int:
        return len(self.values)


def test_tensors_are_read() -> None:
    y, s = Tensor([0, 1, 1, 0]), Tensor(np.array([0.1, 0.9, 0.3, 0.4], dtype=np.float32))
    assert cl.roc_auc(y, s) == 0.75

"""The drop-in functions give scikit-learn's values, curves, warnings and refusals."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

import cutline as cl
import cutline.sklearn as ours

# what happens where a measure is undefined has changed between releases; values have not
UNDEFINED_AS_NOW = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 9)
as_now = pytest.mark.skipif(not UNDEFINED_AS_NOW, reason="undefined values follow scikit-learn 1.9")

LABELS = [(0, 1), (-1, 1), (False, True)]
decided = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=20)
scored = st.lists(st.tuples(st.integers(0, 1), st.integers(-3, 5), st.integers(0, 3)), min_size=1, max_size=20)


def outcome(function: Any, *arguments: Any, **options: Any) -> tuple[Any, list[tuple[type, str]]]:
    """What comes back, or the kind of error; and which warnings came."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = function(*arguments, **options)
        except ValueError:
            value = "refused"
    return value, sorted({(w.category, str(w.message)[:30]) for w in caught}, key=repr)


def same(name: str, *arguments: Any, **options: Any) -> None:
    # scikit-learn sums losses of float32 in float32
    single = any(getattr(a, "dtype", None) == np.float32 for a in arguments)
    tolerance = 3e-6 if single else 1e-9
    mine, said = outcome(getattr(ours, name), *arguments, **options)
    theirs, they_said = outcome(getattr(metrics, name), *arguments, **options)
    assert said == they_said
    if isinstance(theirs, str) or isinstance(mine, str):
        assert mine == theirs
        return
    if not isinstance(theirs, tuple):
        mine, theirs = (mine,), (theirs,)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=1e-12)


def weights(rows: Any, weighted: bool) -> Any:
    column = np.array([row[-1] for row in rows], dtype=float)
    return column / 3 if weighted and column.any() else None


@as_now
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("accuracy_score", {}),
        ("accuracy_score", {"normalize": False}),
        ("zero_one_loss", {}),
        ("zero_one_loss", {"normalize": False}),
        ("balanced_accuracy_score", {}),
        ("matthews_corrcoef", {}),
        ("cohen_kappa_score", {}),
        ("cohen_kappa_score", {"weights": "quadratic", "replace_undefined_by": 0.0}),
        ("confusion_matrix", {}),
        ("confusion_matrix", {"normalize": "true"}),
        ("confusion_matrix", {"normalize": "pred"}),
        ("confusion_matrix", {"normalize": "all"}),
        ("precision_score", {}),
        ("precision_score", {"zero_division": 1}),
        ("recall_score", {}),
        ("recall_score", {"zero_division": np.nan}),
        ("f1_score", {}),
        ("f1_score", {"zero_division": 0}),
        ("fbeta_score", {"beta": 2.0}),
        ("fbeta_score", {"beta": 0.0}),
        ("fbeta_score", {"beta": np.inf}),
        ("jaccard_score", {}),
    ],
)
@settings(max_examples=max(25, settings().max_examples // 2))
@given(decided, st.sampled_from(LABELS), st.booleans())
def test_decisions(name: str, options: Any, rows: Any, labels: Any, weighted: bool) -> None:
    true, pred = ([labels[row[k]] for row in rows] for k in (0, 1))
    if weighted and name in ("balanced_accuracy_score", "cohen_kappa_score", "matthews_corrcoef"):
        rows = [(*row[:-1], row[-1] + 1) for row in rows]  # scikit-learn divides by the zero of a weightless class
    same(name, true, pred, sample_weight=weights(rows, weighted), **options)


@as_now
@given(decided, st.sampled_from([("no", "yes"), (1, 2), (0.0, 1.0)]), st.integers(0, 1))
def test_decisions_with_a_named_label(rows: Any, labels: Any, which: int) -> None:
    true, pred = ([labels[row[k]] for row in rows] for k in (0, 1))
    for name in ("precision_score", "recall_score", "f1_score", "jaccard_score"):
        same(name, true, pred, pos_label=labels[which])
    same("accuracy_score", true, pred)


@as_now
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("roc_auc_score", {}),
        ("roc_auc_score", {"max_fpr": 0.3}),
        ("roc_auc_score", {"max_fpr": 1.0}),
        ("average_precision_score", {}),
        ("roc_curve", {}),
        ("roc_curve", {"drop_intermediate": False}),
        ("precision_recall_curve", {}),
        ("precision_recall_curve", {"drop_intermediate": True}),
        ("hinge_loss", {}),
    ],
)
@given(scored, st.sampled_from(LABELS), st.booleans(), st.sampled_from([1, 7.0]))
def test_scores(name: str, options: Any, rows: Any, labels: Any, weighted: bool, scale: float) -> None:
    true, score = [labels[row[0]] for row in rows], np.array([row[1] for row in rows]) / scale
    if weighted:
        rows = [(*row[:-1], row[-1] + 1) for row in rows]
    same(name, true, score, sample_weight=weights(rows, weighted), **options)


@as_now
@given(st.lists(st.tuples(st.integers(0, 1), st.floats(0, 1), st.integers(1, 3)), min_size=1, max_size=20), st.data())
def test_probabilities(rows: Any, data: Any) -> None:
    labels = data.draw(st.sampled_from([*LABELS, (1, 2)]))
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    true = [labels[row[0]] for row in rows]
    p = np.array([row[1] for row in rows], dtype=dtype)
    w = weights(rows, data.draw(st.booleans()))
    both = np.stack([1 - p, p], axis=1)
    for given_as in (p, both, p[:, None]):
        same("log_loss", true, given_as, sample_weight=w)
        same("log_loss", true, given_as, sample_weight=w, labels=list(labels), normalize=False)
    same("brier_score_loss", true, p, sample_weight=w)
    same("brier_score_loss", true, p, scale_by_half=False)
    same("brier_score_loss", true, p, pos_label=labels[0])
    if len(set(true)) == 2:
        same("brier_score_loss", true, both, sample_weight=w)


@as_now
def test_probabilities_that_do_not_sum_to_one() -> None:
    same("log_loss", [0, 1], [[0.5, 0.4], [0.3, 0.7]])


@as_now
def test_labels_of_scores() -> None:
    true, score = ["b", "a", "b", "a"], [0.9, 0.1, 0.3, 0.4]
    same("roc_auc_score", true, score)
    same("roc_curve", true, score, pos_label="a")
    same("roc_curve", true, score, pos_label="c")  # scikit-learn takes it: no case is positive
    same("roc_curve", true, score)
    same("precision_recall_curve", true, score, pos_label="b")
    same("average_precision_score", true, score, pos_label="b")
    same("average_precision_score", true, score)
    same("brier_score_loss", true, score, pos_label="b")
    same("brier_score_loss", true, score)
    same("roc_curve", [1, 2, 2], [0.1, 0.2, 0.3])
    same("roc_auc_score", [1, 2, 2], [0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("precision_score", ([0, 1], [0, 1]), {"average": "macro"}),
        ("recall_score", ([0, 1], [0, 1]), {"labels": [0, 1]}),
        ("f1_score", ([0, 1], [0, 1]), {"average": None}),
        ("fbeta_score", ([0, 1], [0, 1]), {"beta": 1, "average": "micro"}),
        ("roc_auc_score", ([0, 1], [0.1, 0.9]), {"multi_class": "ovr"}),
        ("roc_auc_score", ([0, 1], [0.1, 0.9]), {"labels": [0, 1]}),
        ("confusion_matrix", ([0, 1], [0, 1]), {"labels": [1, 0]}),
        ("cohen_kappa_score", ([0, 1], [0, 1]), {"labels": [1, 0]}),
        ("hinge_loss", ([0, 1], [0.1, 0.9]), {"labels": [1, 0]}),
        ("brier_score_loss", ([0, 1], [0.1, 0.9]), {"labels": [1, 0]}),
    ],
)
def test_what_is_not_supported_says_where_it_is(name: str, arguments: Any, options: Any) -> None:
    with pytest.raises(cl.InputError, match=f"use sklearn.metrics.{name}"):
        getattr(ours, name)(*arguments, **options)


def test_more_than_two_labels_are_refused() -> None:
    for name in ("accuracy_score", "f1_score", "matthews_corrcoef"):
        with pytest.raises(cl.InputError, match="two labels at most"):
            getattr(ours, name)([0, 1, 2], [0, 1, 2])
    with pytest.raises(cl.InputError, match="two labels at most"):
        ours.roc_auc_score([0, 1, 2], [0.1, 0.2, 0.3])


@pytest.mark.parametrize("bad", [[0.2, np.nan], [0.2, np.inf], [0.2], [[0.1, 0.2, 0.7], [0.1, 0.2, 0.7]]])
def test_scores_that_scikit_learn_refuses(bad: Any) -> None:
    for name in ("roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve", "hinge_loss"):
        same(name, [0, 1], bad)


def test_decisions_that_are_scores_are_refused() -> None:
    with pytest.raises(cl.InputError, match="which is no label"):
        ours.accuracy_score([0, 1], [0.3, 1.0])
    with pytest.raises(cl.InputError, match="zero_division"):
        ours.precision_score([0, 1], [0, 1], zero_division=0.5)
    with pytest.raises(cl.InputError, match="sample_weight"):
        ours.accuracy_score([0, 1], [0, 1], sample_weight=[0, -1])


def test_large_samples_agree() -> None:
    rng = np.random.default_rng(0)
    y, s, w = rng.integers(0, 2, 50_000), rng.normal(size=50_000).round(3), rng.random(50_000)
    for weight in (None, w):
        same("roc_auc_score", y, s, sample_weight=weight)
        same("roc_auc_score", y, s, sample_weight=weight, max_fpr=0.05)
        same("average_precision_score", y, s, sample_weight=weight)
        same("roc_curve", y, s, sample_weight=weight)
        same("precision_recall_curve", y, s, sample_weight=weight)


class Tensor:
    """Answers as a tensor on the CPU does: no list, no Series, an array on request."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)
        self.shape = self.values.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.values if dtype is None else self.values.astype(dtype)

    def __len__(self) -> int:
        return len(self.values)

    def detach(self) -> Tensor:
        return Tensor(self.values)


class Tracked(Tensor):
    """One that records gradients, and so gives its values only when detached."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise RuntimeError("use detach()")


def test_tensors_are_read() -> None:
    y, s = Tensor([0, 1, 1, 0]), Tensor(np.array([0.1, 0.9, 0.3, 0.4], dtype=np.float32))
    assert cl.roc_auc(y, s) == ours.roc_auc_score(y, s) == 0.75
    assert ours.accuracy_score(y, Tensor([0, 1, 0, 0])) == 0.75
    assert ours.log_loss(y, s) == pytest.approx(metrics.log_loss([0, 1, 1, 0], [0.1, 0.9, 0.3, 0.4]))
    both = np.array([[0.9, 0.1], [0.1, 0.9], [0.7, 0.3], [0.6, 0.4]])
    assert ours.log_loss(y, Tracked(both)) == pytest.approx(metrics.log_loss([0, 1, 1, 0], both))

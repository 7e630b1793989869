"""The drop-in functions give scikit-learn's values, curves, warnings and refusals."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

import cutline as cl
import cutline.sklearn as ours

# what happens where a measure is undefined has changed between releases; values have not
UNDEFINED_AS_NOW = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 9)
as_now = pytest.mark.skipif(not UNDEFINED_AS_NOW, reason="undefined values follow scikit-learn 1.9")

LABELS = [(0, 1), (-1, 1), (False, True)]
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
        ("roc_auc_score", {}),
        ("roc_auc_score", {"max_fpr": 0.3}),
        ("roc_auc_score", {"max_fpr": 1.0}),
        ("average_precision_score", {}),
        ("roc_curve", {}),
        ("roc_curve", {"drop_intermediate": False}),
        ("precision_recall_curve", {}),
        ("precision_recall_curve", {"drop_intermediate": True}),
    ],
)
@given(scored, st.sampled_from(LABELS), st.booleans(), st.sampled_from([1, 7.0]))
def test_scores(name: str, options: Any, rows: Any, labels: Any, weighted: bool, scale: float) -> None:
    true, score = [labels[row[0]] for row in rows], np.array([row[1] for row in rows]) / scale
    if weighted:
        rows = [(*row[:-1], row[-1] + 1) for row in rows]
    same(name, true, score, sample_weight=weights(rows, weighted), **options)


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
    same("roc_curve", [1, 2, 2], [0.1, 0.2, 0.3])
    same("roc_auc_score", [1, 2, 2], [0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("roc_auc_score", ([0, 1], [0.1, 0.9]), {"multi_class": "ovr"}),
        ("roc_auc_score", ([0, 1], [0.1, 0.9]), {"labels": [0, 1]}),
    ],
)
def test_what_is_not_supported_says_where_it_is(name: str, arguments: Any, options: Any) -> None:
    with pytest.raises(cl.InputError, match=f"use sklearn.metrics.{name}"):
        getattr(ours, name)(*arguments, **options)


def test_more_than_two_labels_are_refused() -> None:
    with pytest.raises(cl.InputError, match="more than two labels"):
        ours.roc_auc_score([0, 1, 2], [0.1, 0.2, 0.3])


@pytest.mark.parametrize("bad", [[0.2, np.nan], [0.2, np.inf], [0.2], [[0.1, 0.2, 0.7], [0.1, 0.2, 0.7]]])
def test_scores_that_scikit_learn_refuses(bad: Any) -> None:
    for name in ("roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve"):
        same(name, [0, 1], bad)


def test_labels_that_are_scores_and_bad_weights_are_refused() -> None:
    with pytest.raises(cl.InputError, match="which is not a label"):
        ours.roc_auc_score([0.3, 1.0], [0, 1])
    with pytest.raises(cl.InputError, match="sample_weight"):
        ours.roc_auc_score([0, 1], [0, 1], sample_weight=[0, -1])


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


def test_tensors_are_read() -> None:
    y, s = Tensor([0, 1, 1, 0]), Tensor(np.array([0.1, 0.9, 0.3, 0.4], dtype=np.float32))
    assert cl.roc_auc(y, s) == ours.roc_auc_score(y, s) == 0.75

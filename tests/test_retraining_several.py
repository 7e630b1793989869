"""Refits of models of several classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cutline as cl


class Nearest:
    """Nearest class mean; counts its fits."""

    fits = 0

    def fit(self, x: Any, y: Any) -> None:
        type(self).fits += 1
        self.classes_ = np.unique(y)
        self.means = np.array([x[y == c].mean(axis=0) for c in self.classes_])

    def distances(self, x: Any) -> Any:
        return ((x[:, None, :] - self.means) ** 2).sum(axis=2)


class WithProbabilities(Nearest):
    def predict_proba(self, x: Any) -> Any:
        p = np.exp(-self.distances(x))
        return p / p.sum(axis=1, keepdims=True)


class WithPredictions(Nearest):
    def predict(self, x: Any) -> Any:
        return self.classes_[self.distances(x).argmin(axis=1)]


def clouds(n: int, k: int, seed: int = 0, apart: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.normal(size=(n, 2)) + apart * np.column_stack([np.cos(y * 6.283 / k), np.sin(y * 6.283 / k)]), y


@pytest.mark.parametrize("model", [WithProbabilities, WithPredictions])
def test_several_classes_by_bootstrap(model: Any) -> None:
    x, y = clouds(90, 3)
    names = np.array(["a", "b", "c"])[y]
    found = cl.bootstrap_oob(model(), x, names, measure="accuracy", n_resamples=25, n_jobs=1)
    rng = np.random.default_rng([0, 4])  # replicate 4, by hand
    bag = rng.integers(90, size=90)
    out = np.setdiff1d(np.arange(90), bag)
    one = model()
    one.fit(x[bag], names[bag])
    said = one.classes_[one.distances(x[out]).argmin(axis=1)]
    assert found.values[4] == pytest.approx((said == names[out]).mean())
    means = cl.bootstrap_oob(model(), x, names, measure="macro(f1)", n_resamples=25, n_jobs=1)
    assert 0.5 < means.low < means.high <= 1.0


def test_several_classes_by_permutation() -> None:
    x, y = clouds(90, 3)
    test = cl.permutation_test(
        WithProbabilities(), x[::2], y[::2], x[1::2], y[1::2], measure="log_loss", n_permutations=40, n_jobs=1
    )
    assert test.better == "lower"
    assert test.p_value == pytest.approx(1 / 41)
    assert test.observed == pytest.approx(
        cl.evaluate(y[1::2], _fitted(x[::2], y[::2]).predict_proba(x[1::2]), interval=None)["log_loss"].value
    )


def _fitted(x: Any, y: Any) -> WithProbabilities:
    model = WithProbabilities()
    model.fit(x, y)
    return model


def test_a_class_missing_from_a_bag_has_the_lowest_score() -> None:
    x, y = clouds(30, 3)
    y = np.where(np.arange(30) < 2, 3, y)  # two cases of a fourth class: some bags miss it
    found = cl.bootstrap_oob(WithProbabilities(), x, y, measure="accuracy", n_resamples=30, n_jobs=1)
    assert found.undefined == 0
    with pytest.warns(cl.UndefinedWarning):
        cl.bootstrap_oob(WithProbabilities(), x, y, measure="hand_till_auc", n_resamples=60, n_jobs=1)


def test_what_does_not_go_together_is_refused() -> None:
    x, y = clouds(30, 3)
    with pytest.raises(cl.InputError, match="not a measure of several classes"):
        cl.bootstrap_oob(WithProbabilities(), x, y, measure="pem", n_resamples=5, n_jobs=1)


def test_without_a_measure_several_classes_take_the_accuracy() -> None:
    x, codes = clouds(60, 3)
    y = np.array(["a", "b", "c"])[codes]
    few = {"n_resamples": 5, "n_jobs": 1}
    assert cl.bootstrap_oob(WithProbabilities(), x, y, **few).measure == "accuracy"
    parts = (x[::2], y[::2], x[1::2], y[1::2])
    assert cl.permutation_test(WithPredictions(), *parts, n_permutations=5, n_jobs=1).measure == "accuracy"
    with pytest.raises(cl.InputError, match="words have none"):
        cl.bootstrap_oob(WithProbabilities(), x, y, measure="ranked_probability_score", **few)
    assert cl.bootstrap_oob(WithProbabilities(), x, codes, measure="ranked_probability_score", **few).value < 0.5

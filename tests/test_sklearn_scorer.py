"""Scorers: what they read, which sign they give, and where they can be used."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import cutline as cl
from cutline.sklearn import scorer
from cutline.sklearn.estimators import UnclearLabels

X, Y = make_classification(n_samples=240, n_informative=3, weights=[0.7], flip_y=0.15, random_state=3)
MODEL = LogisticRegression().fit(X[:120], Y[:120])
SVM = LinearSVC().fit(X[:120], Y[:120])
XT, YT = X[120:], Y[120:]
P = MODEL.predict_proba(XT)[:, 1]


# ranking_score takes a function, which no string can hold
@pytest.mark.parametrize("name", [m.name for m in cl.measures() if m.of_one_score and m.name != "ranking_score"])
def test_every_measure_can_score(name: str) -> None:
    one = cl.measure(name)
    text = {"f_beta": "f_beta(beta=2)", "bedroc": "bedroc(alpha=20)"}.get(name, name) + (
        "@10%" if one.needs_quota else ""
    )
    options = {"quota": 0.1} if one.needs_quota else {"f_beta": {"beta": 2}, "bedroc": {"alpha": 20}}.get(name, {})
    score = MODEL.decision_function(XT) if name == "hinge_loss" else P
    expected = getattr(cl, name)(YT, score, **options)
    assert scorer(text)(MODEL, XT, YT) == pytest.approx(expected if one.better == "higher" else -expected, rel=1e-12)


def test_decisions_are_those_of_predict() -> None:
    fixed = FixedThresholdClassifier(MODEL, threshold=0.2).fit(X[:120], Y[:120])
    assert scorer("recall")(fixed, XT, YT) == cl.recall(YT, P, threshold=0.2)
    assert scorer("recall(threshold=0.2)")(MODEL, XT, YT) == cl.recall(YT, P, threshold=0.2)
    assert scorer("recall")(SVM, XT, YT) == cl.recall(YT, SVM.decision_function(XT), threshold=0)


def test_what_is_read_of_an_estimator() -> None:
    assert scorer("roc_auc")(SVM, XT, YT) == cl.roc_auc(YT, SVM.decision_function(XT))
    chosen = scorer("roc_auc", response_method="decision_function")
    assert chosen(MODEL, XT, YT) == cl.roc_auc(YT, MODEL.decision_function(XT))
    with pytest.raises(AttributeError, match="predict_proba"):
        scorer("brier_score")(SVM, XT, YT)
    with pytest.raises(cl.InputError, match="response_method"):
        scorer("roc_auc", response_method="predict")


def test_labels_by_name() -> None:
    named = np.where(Y == 1, "yes", "no")
    model = LogisticRegression().fit(X[:120], named[:120])
    for text in ("roc_auc", "recall", "qrecall@10%"):
        for label, y in (("yes", YT), ("no", 1 - YT)):
            score = model.predict_proba(XT)[:, int(label == "yes")]
            quota = {"quota": 0.1} if "@" in text else {}
            expected = getattr(cl, text.partition("@")[0])(y, score, **quota)
            assert scorer(text, pos_label=label)(model, XT, named[120:]) == pytest.approx(expected)
        with pytest.raises(cl.InputError, match="pos_label"):
            scorer(text)(model, XT, named[120:])


@pytest.mark.parametrize("text", ["roc_auc", "f1"])
@pytest.mark.parametrize("several", [False, True])
def test_a_search_stops_at_the_first_fit_where_the_positive_label_is_not_clear(text: str, several: bool) -> None:
    """scikit-learn turns every Exception of a scorer into a nan score and a warning."""
    named, fits = np.where(Y == 1, "good", "bad"), []

    class Counted(LogisticRegression):
        def fit(self, *given: Any, **options: Any) -> Any:
            fits.append(1)
            return super().fit(*given, **options)

    scoring = {"cutline": scorer(text), "theirs": "accuracy"} if several else scorer(text)
    with pytest.raises(UnclearLabels, match=r"'bad' and 'good'.*pos_label"):
        cross_validate(Counted(), X, named, scoring=scoring)
    assert len(fits) == 1
    search = GridSearchCV(Counted(), {"C": [0.1, 1.0]}, scoring=scoring, refit=False)
    with pytest.raises(UnclearLabels):
        search.fit(X, named)
    assert len(fits) == 2
    with pytest.raises(cl.InputError, match="pos_label"):  # an ordinary error where nothing hides it
        cross_validate(Counted(), X, named, scoring=scoring, error_score="raise")
    assert np.isfinite(cross_val_score(Counted(), X, named, scoring=scorer(text, pos_label="good"))).all()


def test_cross_validation_and_search() -> None:
    plain = cross_val_score(LogisticRegression(), X, Y, scoring="roc_auc", cv=3)
    np.testing.assert_allclose(cross_val_score(LogisticRegression(), X, Y, scoring=scorer("roc_auc"), cv=3), plain)
    several = {"q": scorer("qrecall@5%"), "b": scorer("brier_score"), "k": scorer("matthews_correlation")}
    found = cross_validate(LogisticRegression(), X, Y, scoring=several, cv=3)
    assert (found["test_b"] < 0).all()
    assert {len(found[f"test_{k}"]) for k in several} == {3}
    grid = {"logisticregression__C": [1e-3, 1.0]}
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    ours = GridSearchCV(pipe, grid, scoring=scorer("log_loss(base=2.718281828459045, eps=1e-15)"), cv=3).fit(X, Y)
    theirs = GridSearchCV(pipe, grid, scoring="neg_log_loss", cv=3).fit(X, Y)
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_clones_and_pickles() -> None:
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring=scorer("qrecall@10%"), cv=3)
    first = clone(search).fit(X, Y)
    second = pickle.loads(pickle.dumps(search)).fit(X, Y)
    np.testing.assert_array_equal(first.cv_results_["mean_test_score"], second.cv_results_["mean_test_score"])
    again = pickle.loads(pickle.dumps(first))
    assert again.score(XT, YT) == first.score(XT, YT)
    for text in ("pem", "recall", "brier_score"):
        assert pickle.loads(pickle.dumps(scorer(text)))(MODEL, XT, YT) == scorer(text)(MODEL, XT, YT)


def test_tunes_thresholds() -> None:
    ours = TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer("f1"), cv=3).fit(X, Y)
    theirs = TunedThresholdClassifierCV(LogisticRegression(), scoring="f1", cv=3).fit(X, Y)
    assert ours.best_threshold_ == theirs.best_threshold_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    named = np.where(Y == 1, "yes", "no")
    again = TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer("f1", pos_label="yes"), cv=3).fit(X, named)
    assert again.best_threshold_ == ours.best_threshold_


def test_a_ranking_measure_tunes_no_threshold() -> None:
    tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer("qrecall@5%"), cv=3)
    with pytest.raises(cl.InputError, match="are decisions, which no longer rank the cases"):
        tuned.fit(X, Y)


def test_weights_by_routing() -> None:
    w = np.linspace(0.1, 3.0, len(Y))
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = scorer("roc_auc").set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=True)
        ours = cross_val_score(model, X, Y, scoring=weighted, cv=3, params={"sample_weight": w})
        from sklearn.metrics import get_scorer

        theirs = get_scorer("roc_auc").set_score_request(sample_weight=True)
        expected = cross_val_score(model, X, Y, scoring=theirs, cv=3, params={"sample_weight": w})
        np.testing.assert_allclose(ours, expected)
        search = GridSearchCV(model, {"C": [0.1, 1.0]}, scoring=clone(weighted, safe=False), cv=3)
        assert np.isfinite(search.fit(X, Y, sample_weight=w).best_score_)
    unweighted = cross_val_score(LogisticRegression(), X, Y, scoring=scorer("roc_auc"), cv=3)
    assert not np.allclose(ours, unweighted)


@pytest.mark.parametrize("text", ["recall", "qrecall@10%"])
def test_weights_reach_the_measure(text: str) -> None:
    weight = np.arange(len(YT)) + 1.0
    name, _, quota = text.partition("@")
    options = {"quota": 0.1} if quota else {}
    expected = getattr(cl, name)(YT, P, sample_weight=weight, **options)
    assert scorer(text)(MODEL, XT, YT, sample_weight=weight) == pytest.approx(expected)


def test_undefined_is_said() -> None:
    only: Any = np.zeros(5, dtype=int)
    with pytest.warns(cl.UndefinedWarning, match="no positive cases"):
        assert np.isnan(scorer("roc_auc")(MODEL, XT[:5], only))


@pytest.mark.parametrize(
    ("text", "why"),
    [("qrecall", "needs a quota"), ("no_such", "not in the catalogue"), ("triplet_loss(margin=1)", "no single column")],
)
def test_what_cannot_be_a_scorer(text: str, why: str) -> None:
    with pytest.raises(cl.InputError, match=why):
        scorer(text)


@pytest.mark.parametrize(("yes", "no"), [("TRUE", "false"), ("+1", "-1")])
def test_labels_that_scikit_learn_orders_the_other_way_are_never_scored_in_reverse(yes: str, no: str) -> None:
    named = np.where(Y == 1, yes, no)
    model = LogisticRegression().fit(X, named)
    with pytest.raises(cl.InputError, match=f"passes the scores of '{re.escape(no)}'; name the positive label"):
        scorer("roc_auc")(model, X, named)
    expected = scorer("roc_auc")(LogisticRegression().fit(X, Y), X, Y)
    assert scorer("roc_auc", pos_label=yes)(model, X, named) == pytest.approx(expected)

"""The classifier for quotas keeps scikit-learn's contract and its own."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import cutline as cl
from cutline.sklearn import QuotaClassifier, evaluate_cv, scorer

X, Y = make_classification(n_samples=600, n_informative=4, flip_y=0.2, random_state=0)
XT = X[400:]
X, Y = X[:400], Y[:400]


@parametrize_with_checks([QuotaClassifier(LogisticRegression(), quota=0.3, cv=3)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_contract(estimator: Any, check: Any) -> None:
    try:
        check(estimator)
    except Exception as error:
        if not refuses_unclear_labels(error):
            raise
        pytest.xfail("labels must say which is positive: 1 and 2, or words, are refused as everywhere")


def refuses_unclear_labels(error: BaseException | None) -> bool:
    """Whether an error comes from labels of a check that do not choose the positive one."""
    while error is not None:
        if isinstance(error, cl.InputError) and "choose the positive one" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


@pytest.mark.parametrize("quota", [0.1, 0.37, 40])
def test_the_threshold_is_that_of_unseen_rows(quota: Any) -> None:
    cv = StratifiedKFold(4, shuffle=True, random_state=1)
    model = QuotaClassifier(LogisticRegression(), quota=quota, cv=cv).fit(X, Y)
    unseen = cross_val_predict(LogisticRegression(), X, Y, cv=cv, method="predict_proba")[:, 1]
    places = quota if quota > 1 else int(quota * len(Y))
    assert int((unseen > model.threshold_).sum()) == places
    fitted = LogisticRegression().fit(X, Y)
    np.testing.assert_array_equal(model.predict(XT), (fitted.predict_proba(XT)[:, 1] > model.threshold_).astype(int))
    np.testing.assert_array_equal(model.predict(XT) == 1, model.decision_function(XT) > 0)
    np.testing.assert_array_equal(model.predict(XT[:1]), model.predict(XT)[:1])


def test_select_fills_the_places_of_a_batch() -> None:
    model = QuotaClassifier(LogisticRegression(), quota=0.05).fit(X, Y)
    score = model.estimator_.predict_proba(XT)[:, 1]
    assert set(model.select(XT)) == set(np.argsort(-score)[:10].tolist())
    assert len(model.set_params(quota=30).select(XT)) == 30
    assert len(model.select(XT[:7])) == 7
    same = np.repeat(XT[:1], 50, axis=0)
    assert len(model.select(same)) == 30
    assert len(model.select(same, ties="shrink")) == 0


def test_classes_by_name_and_distances() -> None:
    named = np.where(Y == 1, "yes", "no")
    with pytest.raises(cl.InputError, match=r"choose the positive one, e\.g\. with pos_label='yes'"):
        QuotaClassifier(RidgeClassifier(), quota=0.2).fit(X, named)
    yes = QuotaClassifier(RidgeClassifier(), quota=0.2, pos_label="yes").fit(X, named)
    no = QuotaClassifier(RidgeClassifier(), quota=0.2, pos_label="no").fit(X, named)
    distance = yes.estimator_.decision_function(XT)
    np.testing.assert_array_equal(yes.predict(XT) == "yes", distance > yes.threshold_)
    np.testing.assert_array_equal(no.predict(XT) == "no", -distance > no.threshold_)
    chance = QuotaClassifier(LogisticRegression(), quota=0.2, pos_label="no").fit(X, named)
    np.testing.assert_array_equal(
        chance.predict(XT) == "no", chance.estimator_.predict_proba(XT)[:, 0] > chance.threshold_
    )
    with pytest.raises(cl.InputError, match="choose one of these"):
        QuotaClassifier(RidgeClassifier(), pos_label="maybe").fit(X, named)


def test_prefit_takes_the_rows_for_the_threshold_alone() -> None:
    fitted = LogisticRegression().fit(X[:200], Y[:200])
    model = QuotaClassifier(fitted, quota=0.25, cv="prefit").fit(X[200:], Y[200:])
    assert model.estimator_ is fitted
    assert model.predict(X[200:]).sum() == 50
    with pytest.raises(cl.InputError, match="cv is 'holdout'"):
        QuotaClassifier(fitted, cv="holdout").fit(X, Y)


def test_in_searches_pipelines_and_evaluations() -> None:
    pipe = make_pipeline(StandardScaler(), QuotaClassifier(LogisticRegression(), quota=0.2, cv=3))
    search = GridSearchCV(pipe, {"quotaclassifier__quota": [0.1, 0.5]}, scoring=scorer("recall"), cv=3).fit(X, Y)
    assert search.best_params_ == {"quotaclassifier__quota": 0.5}
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(XT), search.predict(XT))
    result = evaluate_cv(clone(pipe), X, Y, cv=3, measures=["recall", "roc_auc"])
    assert result.values("recall").max() < 0.5


def test_weights_reach_the_estimator() -> None:
    w = np.where(Y == 1, 10.0, 0.1)
    plain = QuotaClassifier(LogisticRegression(), quota=0.2).fit(X, Y)
    weighted = QuotaClassifier(LogisticRegression(), quota=0.2).fit(X, Y, sample_weight=w)
    expected = LogisticRegression().fit(X, Y, sample_weight=w)
    np.testing.assert_allclose(weighted.estimator_.coef_, expected.coef_)
    assert weighted.threshold_ > plain.threshold_
    with sklearn.config_context(enable_metadata_routing=True):
        asked = QuotaClassifier(LogisticRegression().set_fit_request(sample_weight=True), quota=0.2)
        assert asked.fit(X, Y, sample_weight=w).threshold_ == pytest.approx(weighted.threshold_)


def test_a_quota_that_cannot_be_is_refused() -> None:
    for quota in (0, 401, 1.5, "5%"):
        with pytest.raises(cl.InputError, match="quota"):
            QuotaClassifier(LogisticRegression(), quota=quota).fit(X, Y)  # type: ignore[arg-type]


def test_a_batch_may_have_places_of_its_own() -> None:
    X, y = make_classification(n_samples=400, random_state=0)
    model = QuotaClassifier(LogisticRegression(), quota=0.1).fit(X[:300], y[:300])
    assert len(model.select(X[300:], quota=7)) == 7
    assert len(model.select(X[300:], quota=0.2)) == 20
    assert len(model.select(X[300:303], quota=7)) == 3

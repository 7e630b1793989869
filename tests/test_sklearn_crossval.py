"""Cross-validated evaluations: values by fold, the corrected interval, and replicates within folds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import cutline as cl
from cutline.sklearn import evaluate_cv

X, Y = make_classification(n_samples=300, n_informative=3, flip_y=0.2, weights=[0.7], random_state=5)
CV = StratifiedKFold(5, shuffle=True, random_state=0)
MODEL = LogisticRegression()
FEW = ["roc_auc", "recall", "brier_score", "qrecall@10%"]


def test_values_are_those_of_the_folds() -> None:
    result = evaluate_cv(MODEL, X, Y, cv=CV, measures=FEW)
    np.testing.assert_allclose(result.values("roc_auc"), cross_val_score(MODEL, X, Y, cv=CV, scoring="roc_auc"))
    np.testing.assert_allclose(result.values("recall"), cross_val_score(MODEL, X, Y, cv=CV, scoring="recall"))
    assert list(result) == FEW
    assert len(result) == 4
    assert "roc_auc" in result
    assert "pem" not in result
    with pytest.raises(cl.InputError, match="was not evaluated"):
        result["pem"]


@pytest.mark.parametrize("cv", [CV, RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0)])
def test_the_corrected_interval(cv: object) -> None:
    result = evaluate_cv(MODEL, X, Y, cv=cv, measures=["roc_auc"], level=0.9)
    values = cross_val_score(MODEL, X, Y, cv=cv, scoring="roc_auc")
    k = len(values)
    share = 1 / (5 if k == 5 else 4)
    error = values.std(ddof=1) * math.sqrt(1 / k + share / (1 - share))
    low, high = stats.t.interval(0.9, k - 1, loc=values.mean(), scale=error)
    e = result["roc_auc"]
    assert (e.value, e.low, e.high) == pytest.approx((values.mean(), low, high))
    assert (e.level, e.method) == (0.9, "corrected_t")
    naive = stats.t.interval(0.9, k - 1, loc=values.mean(), scale=values.std(ddof=1) / math.sqrt(k))
    assert e.high - e.low > naive[1] - naive[0]


def test_distances_weights_and_names() -> None:
    named = np.where(Y == 1, "yes", "no")
    w = np.linspace(0.0, 2.0, len(Y))
    result = evaluate_cv(LinearSVC(), X, named, cv=3, pos_label="yes", sample_weight=w, measures=["recall", "roc_auc"])
    d = cross_val_predict(LinearSVC(), X, named, cv=3, method="decision_function")
    folds = [test for _, test in StratifiedKFold(3).split(X, named)]
    recalls = [cl.recall(Y[f], d[f], threshold=0, sample_weight=w[f]) for f in folds]
    areas = [cl.roc_auc(Y[f], d[f], sample_weight=w[f]) for f in folds]
    np.testing.assert_allclose(result.values("recall"), recalls)
    np.testing.assert_allclose(result.values("roc_auc"), areas)
    with pytest.raises(cl.InputError, match="pos_label='yes'"):
        evaluate_cv(LinearSVC(), X, named, cv=3)
    with pytest.raises(cl.InputError, match="sample_weight has 3 rows"):
        evaluate_cv(MODEL, X, Y, cv=3, sample_weight=[1, 2, 3])


def test_a_quota_is_a_share() -> None:
    for options in ({"quota": 20}, {"measures": ["hit_rate@20"]}):
        with pytest.raises(cl.InputError, match="give a share"):
            evaluate_cv(MODEL, X, Y, cv=3, **options)  # type: ignore[arg-type]
    result = evaluate_cv(MODEL, X, Y, cv=3, quota=0.2, measures=["hit_rate"])
    assert result["hit_rate"].value == pytest.approx(result.values("hit_rate@20%").mean())


def test_what_has_no_value_or_no_spread() -> None:
    y = np.array([1, 0] * 6)
    x = y[:, None] + 0.0
    result = evaluate_cv(MODEL, x, y, cv=3, measures=["roc_auc", "positive_likelihood_ratio", "hinge_loss"])
    e = result["roc_auc"]
    assert e.value == 1.0
    assert math.isnan(e.low)
    assert result["positive_likelihood_ratio"].value == math.inf
    lonely = np.array([1, 1, 0, 0, 0, 0, 0, 0])
    splits = [(np.array([0, 1, 2, 3]), np.array([4, 5])), (np.array([0, 2, 4, 5]), np.array([1, 3, 6]))]
    part = evaluate_cv(MODEL, np.arange(8.0)[:, None], lonely, cv=splits, measures=["roc_auc"])
    assert part["roc_auc"].undefined_replicates == 1
    assert part["roc_auc"].value == part.values("roc_auc")[1]
    assert "undefined in 1" in repr(part)


def test_every_measure_and_the_tables() -> None:
    result = evaluate_cv(MODEL, X, Y, cv=3, quota=0.1)
    assert len(result) > 40
    assert repr(result).startswith("LogisticRegression: 3 folds, 95% intervals")
    assert "<table" in result._repr_html_()
    frame = result.to_pandas()
    assert list(frame["measure"]) == list(result)
    assert result.to_polars().height == len(result)


@pytest.mark.integration
def test_the_corrected_interval_holds_what_the_plain_one_misses() -> None:
    """On made data the mean AUC of models trained on as many rows is known. Forty samples, so the bounds are loose."""
    rng = np.random.default_rng(7)

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.random(n) < 0.5
        return rng.normal(size=(n, 5)) + 0.4 * y[:, None], y

    far, far_y = draw(5000)
    truth = np.mean([cl.roc_auc(far_y, GaussianNB().fit(*draw(80)).predict_proba(far)[:, 1]) for _ in range(100)])
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    held = plain = 0
    for _ in range(40):
        result = evaluate_cv(GaussianNB(), *draw(100), cv=cv, measures=["roc_auc"])
        e, values = result["roc_auc"], result.values("roc_auc")
        held += e.low <= truth <= e.high
        low, high = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
        plain += low <= truth <= high
    assert held >= 34
    assert plain <= 30


def test_frames_groups_and_fit_weights() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, index=np.arange(len(Y)) * 7)
    labels = pandas.Series(Y, index=frame.index)
    groups = np.arange(len(Y)) % 20
    w = np.where(Y == 1, 5.0, 1.0)
    options = {"cv": GroupKFold(4), "groups": groups, "params": {"sample_weight": w}}
    result = evaluate_cv(MODEL, frame, labels, **options, measures=["roc_auc"])  # type: ignore[arg-type]
    expected = cross_val_score(MODEL, X, Y, scoring="roc_auc", **options)
    np.testing.assert_allclose(result.values("roc_auc"), expected)
    unweighted = cross_val_score(MODEL, X, Y, scoring="roc_auc", cv=GroupKFold(4), groups=groups)
    assert not np.allclose(expected, unweighted)


MODELS = {"logistic": LogisticRegression(), "bayes": GaussianNB()}


def test_several_estimators_see_the_same_folds_and_differ_by_the_corrected_test() -> None:
    shuffled = StratifiedKFold(5, shuffle=True)  # another split at every call of its own
    result = evaluate_cv(MODELS, X, Y, cv=shuffled, measures=FEW)
    one, two = result["logistic"], result["bayes"]
    assert [fold.facts["positives"] for fold in one.folds] == [fold.facts["positives"] for fold in two.folds]
    gaps = one.values("roc_auc") - two.values("roc_auc")
    error = gaps.std(ddof=1) * math.sqrt(1 / 5 + 60 / 240)
    low, high = stats.t.interval(0.95, 4, loc=gaps.mean(), scale=error)
    d = result.difference("logistic", "bayes", "roc_auc")
    assert (d.difference, d.low, d.high) == pytest.approx((gaps.mean(), low, high))
    assert d.p_value == pytest.approx(2 * stats.t.sf(abs(gaps.mean()) / error, 4))
    assert d.method == "corrected resampled t"
    assert result.verdict("roc_auc").best == result.best("roc_auc")
    assert result.verdict("roc_auc").sentence in repr(result)


def test_equal_estimators_are_not_tested_and_bad_calls_are_refused() -> None:
    same = evaluate_cv({"a": MODEL, "b": MODEL}, X, Y, cv=CV, measures=["roc_auc"])
    assert same.difference("a", "b", "roc_auc").verdict == "not tested"
    with pytest.raises(cl.InputError, match="does not name the estimators"):
        evaluate_cv({}, X, Y)
    with pytest.raises(cl.InputError, match=r"^margin is for several estimators"):
        evaluate_cv(MODEL, X, Y, margin=0.1)


@pytest.mark.integration
def test_the_corrected_test_rejects_equal_learners_about_as_often_as_it_says() -> None:
    """Two learners that are equally good by design: each sees its own half of exchangeable features."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline

    def on(columns: slice) -> object:
        return make_pipeline(ColumnTransformer([("x", "passthrough", columns)]), GaussianNB())

    rng = np.random.default_rng(0)
    corrected = plain = 0
    for _ in range(60):
        y = rng.random(100) < 0.5
        features = rng.normal(size=(100, 4)) + 0.5 * y[:, None]
        both = {"first": on(slice(0, 2)), "second": on(slice(2, 4))}
        result = evaluate_cv(both, features, y, cv=5, measures=["brier_score"])
        gaps = result["first"].values("brier_score") - result["second"].values("brier_score")
        corrected += result.difference("first", "second", "brier_score").p_value < 0.1
        plain += stats.ttest_1samp(gaps, 0.0).pvalue < 0.1
    assert corrected <= 11  # 6 expected at a true 10 %; 12 or more in 2 % of such counts
    assert corrected < plain

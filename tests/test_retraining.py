"""Permutation tests and the out-of-bag bootstrap: printed p-value, type-I error, direction, index by index."""

from __future__ import annotations

import itertools
import json
import math
import sys
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import cutline as cl
from cutline.inference.retraining import OutOfBag, PermutationTest
from cutline.runtime import TUNING
from cutline.sklearn import evaluate_cv


class Centroid:
    """Nearest class mean, with the interface of scikit-learn but nothing else of it."""

    def fit(self, x: Any, y: Any) -> Centroid:
        self.classes_ = np.unique(y)
        self.means = np.array([np.asarray(x)[y == c].mean(axis=0) for c in self.classes_])
        return self

    def decision_function(self, x: Any) -> Any:
        gaps = ((np.asarray(x)[:, None] - self.means) ** 2).sum(axis=2)
        return gaps[:, 0] - gaps[:, 1]


class Hard(Centroid):
    """Gives labels only."""

    decision_function = property()  # type: ignore[assignment]

    def predict(self, x: Any) -> Any:
        return self.classes_[(Centroid.decision_function(self, x) > 0).astype(int)]


class Soft(Centroid):
    """Gives probabilities, in the order of its classes."""

    def predict_proba(self, x: Any) -> Any:
        p = 1 / (1 + np.exp(-Centroid.decision_function(self, x)))
        return np.column_stack([1 - p, p])


def two_clouds(seed: int, n: int, gap: float, width: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    return rng.standard_normal((n, width)) + gap * y[:, None], y


def split(seed: int = 0, n: int = 60, gap: float = 1.0) -> tuple[np.ndarray, ...]:
    x, y = two_clouds(seed, n, gap)
    return x[::2], y[::2], x[1::2], y[1::2]


# --- the p-value -----------------------------------------------------------------------------------------------


def test_printed_p_value_of_berrar() -> None:
    """Section 5.1: sensitivity 0.80 observed, 300 of 10,000 permutations at least 0.80."""
    null = np.concatenate([np.linspace(0.8, 0.95, 300), np.linspace(0.3, 0.79, 9700)])
    test = PermutationTest("recall", "higher", 0.8, null, 0)
    assert test.p_value_raw == 0.03
    assert test.p_value == 301 / 10_001


@pytest.mark.parametrize(("better", "expected"), [("higher", 3), ("lower", 2)])
def test_as_good_counts_ties_in_the_direction_of_the_measure(better: Any, expected: int) -> None:
    null = np.array([0.1, 0.3 - 1e-16, 0.4, 0.5])
    assert PermutationTest("m", better, 0.1 + 0.2, null, 0).at_least_as_good == expected


def test_no_permutation_as_good_gives_no_zero() -> None:
    test = PermutationTest("m", "higher", 1.0, np.zeros(99), 0)
    assert (test.p_value, test.p_value_raw) == (0.01, 0.0)


# --- permuting training labels ---------------------------------------------------------------------------------


def test_training_labels_alone_are_permuted() -> None:
    x, y, x_test, y_test = split()
    fitted: list[np.ndarray] = []

    class Watching(Centroid):
        def fit(self, x: Any, y: Any) -> Centroid:
            assert x is x_train
            fitted.append(y.copy())
            return super().fit(x, y)

    x_train = x
    test = cl.permutation_test(Watching(), x, y, x_test, y_test, measure="roc_auc", n_permutations=30, n_jobs=1)
    np.testing.assert_array_equal(fitted[0], y)
    assert len(fitted) == 31
    assert all(sorted(labels) == sorted(y) for labels in fitted)
    assert len({tuple(labels) for labels in fitted}) > 25
    again = [cl.roc_auc(y_test, Centroid().fit(x, labels).decision_function(x_test)) for labels in fitted]
    assert test.observed == again[0]
    np.testing.assert_array_equal(test.null, again[1:])


def test_signal_is_found_and_the_result_reads_well() -> None:
    x, y = two_clouds(0, 80, 0.0, width=20)
    x[:, 0] += 3.0 * y
    halves = (x[::2], y[::2], x[1::2], y[1::2])
    test = cl.permutation_test(Centroid(), *halves, measure="accuracy", n_permutations=200, n_jobs=1)
    assert test.p_value < 0.02
    assert (test.measure, test.better) == ("accuracy", "higher")
    assert "200 permutations of the training labels" in repr(test)
    as_dict = json.loads(json.dumps(test.to_dict()))
    assert as_dict["p_value"] == test.p_value
    assert len(as_dict["null"]) == test.n_permutations == 200


@pytest.mark.integration
def test_type_one_error_of_refitting_without_signal() -> None:
    rejected = 0
    for seed in range(200):
        test = cl.permutation_test(
            Centroid(), *split(seed, n=40, gap=0.0), measure="roc_auc", n_permutations=39, n_jobs=1, seed=seed
        )
        rejected += test.p_value <= 0.05
    assert abs(rejected / 200 - 0.05) <= 3 * math.sqrt(0.05 * 0.95 / 200)


@pytest.mark.parametrize("kind", [Centroid, Hard, Soft])
def test_the_boundary_is_the_estimators_own(kind: type[Centroid]) -> None:
    """Nearest mean by distances, labels or probabilities is one classifier: accuracy must not depend on which."""
    x, y, x_test, y_test = split(gap=0.8)
    test = cl.permutation_test(kind(), x, y, x_test, y_test, measure="accuracy", n_permutations=5, n_jobs=1)
    plain = Centroid().fit(x, y).decision_function(x_test) > 0
    assert test.observed == np.mean(plain == (y_test == 1))
    assert test.measure == "accuracy"


def test_a_threshold_in_the_measure_is_kept() -> None:
    x, y, x_test, y_test = split(gap=0.8)
    test = cl.permutation_test(
        Soft(), x, y, x_test, y_test, measure="accuracy(threshold=0.9)", n_permutations=2, n_jobs=1
    )
    p = Soft().fit(x, y).predict_proba(x_test)[:, 1]
    assert test.observed == np.mean((p > 0.9) == (y_test == 1))


@pytest.mark.parametrize("kind", [Centroid, Hard, Soft])
@pytest.mark.parametrize("positive", ["case", "control"])
def test_named_classes_either_of_which_may_be_positive(kind: type[Centroid], positive: str) -> None:
    x, y, x_test, y_test = split(gap=1.2)
    names, names_test = np.where(y == 1, "case", "control"), np.where(y_test == 1, "case", "control")
    made = cl.permutation_test(
        kind(), x, names, x_test, names_test, measure="recall", pos_label=positive, n_permutations=3, n_jobs=1
    )
    with_numbers = cl.permutation_test(
        kind(),
        x,
        y,
        x_test,
        y_test,
        measure="recall" if positive == "case" else "specificity",
        n_permutations=3,
        n_jobs=1,
    )
    assert made.observed == with_numbers.observed


def test_undefined_under_permutation_is_an_error() -> None:
    """Nothing predicted positive: precision is 0/0, so the p-value has no meaning."""

    class Reluctant(Soft):
        def predict_proba(self, x: Any) -> Any:
            p = Soft.predict_proba(self, x)[:, 1] * (1.0 if self.means[1].mean() > 0.8 else 0.4)
            return np.column_stack([1 - p, p])

    with pytest.raises(cl.InputError, match=r"precision, which has no value in \d+ of 20 permutations"):
        cl.permutation_test(Reluctant(), *split(gap=2.0), measure="precision", n_permutations=20, n_jobs=1)
    x, y, x_test, _ = split()
    with pytest.raises(cl.InputError, match="roc_auc has no value on the test set"):
        cl.permutation_test(Centroid(), x, y, x_test, [1] * 30, measure="roc_auc", n_permutations=5)


# --- workers and seeds -----------------------------------------------------------------------------------------


@pytest.fixture
def always_parallel() -> Iterator[None]:
    with mock.patch.object(TUNING, "worth_processes", 0.0):
        yield


def both(n_jobs: int) -> tuple[np.ndarray, np.ndarray]:
    x, y = two_clouds(3, 60, 0.7)
    test = cl.permutation_test(Centroid(), *split(), measure="roc_auc", n_permutations=40, n_jobs=n_jobs, seed=8)
    return test.null, cl.bootstrap_oob(Centroid(), x, y, n_resamples=40, n_jobs=n_jobs, seed=8).values


@pytest.mark.usefixtures("always_parallel")
def test_processes_change_nothing() -> None:
    pytest.importorskip("joblib")
    for one, two in zip(both(1), both(2), strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.usefixtures("always_parallel")
def test_threads_where_joblib_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = both(1)
    monkeypatch.setitem(sys.modules, "joblib", None)
    for one, three in zip(alone, both(3), strict=True):
        np.testing.assert_array_equal(one, three)


@pytest.mark.usefixtures("always_parallel")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_fit_comes_through(monkeypatch: pytest.MonkeyPatch, n_jobs: int) -> None:
    """Also from a thread; no further fits are started."""
    monkeypatch.setitem(sys.modules, "joblib", None)
    fits = itertools.count()

    class Failing(Centroid):
        def fit(self, x: Any, y: Any) -> Centroid:
            if next(fits) == 3:
                raise MemoryError("too large")
            return super().fit(x, y)

        def __deepcopy__(self, memo: Any) -> Centroid:
            return Failing()

    with pytest.raises(MemoryError, match="too large"):
        cl.permutation_test(Failing(), *split(), measure="roc_auc", n_permutations=500, n_jobs=n_jobs)
    assert next(fits) < 400


def test_seeds_matter() -> None:
    x, y = two_clouds(3, 60, 0.7)
    made = [cl.bootstrap_oob(Centroid(), x, y, n_resamples=20, n_jobs=1, seed=k).values for k in (0, 0, 1)]
    np.testing.assert_array_equal(made[0], made[1])
    assert (made[0] != made[2]).any()


def test_scikit_learn_estimators_and_their_open_random_state() -> None:
    """A forest without random_state gives the same result again; the estimator that was passed stays unfitted."""
    pytest.importorskip("sklearn")
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    forest = RandomForestClassifier(n_estimators=3)
    model = make_pipeline(StandardScaler(), forest)
    how: dict[str, Any] = {"measure": "roc_auc", "n_permutations": 6, "n_jobs": 1}
    one, two = (cl.permutation_test(model, *split(gap=0.5), **how) for _ in range(2))
    assert one.observed == two.observed
    np.testing.assert_array_equal(one.null, two.null)
    assert not hasattr(forest, "estimators_")
    assert forest.random_state is None


def test_progress_goes_to_standard_error(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import cutline.runtime

    clock = itertools.count()
    monkeypatch.setattr(cutline.runtime.time, "monotonic", lambda: float(next(clock)))
    cl.permutation_test(Centroid(), *split(), measure="roc_auc", n_permutations=5, n_jobs=1, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "permutations:" in err


# --- out of bag ------------------------------------------------------------------------------------------------


def test_out_of_bag_is_by_row_number_not_by_value() -> None:
    """Every row occurs twice: a copy of a row in the bag is still out of the bag if its own number was not drawn."""
    x, y = two_clouds(1, 12, 1.0, width=1)
    x, y = np.repeat(x, 2, axis=0), np.repeat(y, 2)
    number = np.arange(24.0)[:, None]
    seen: list[tuple[np.ndarray, np.ndarray]] = []

    class Watching(Centroid):
        def fit(self, rows: Any, y: Any) -> Centroid:
            self.bag = rows[:, 1]
            return super().fit(rows[:, :1], y)

        def decision_function(self, rows: Any) -> Any:
            seen.append((self.bag, rows[:, 1]))
            return super().decision_function(rows[:, :1])

    oob = cl.bootstrap_oob(Watching(), np.hstack([x, number]), y, n_resamples=40, n_jobs=1)
    assert len(seen) == 40
    shares = []
    for bag, out in seen:
        assert len(bag) == 24
        assert set(bag) | set(out) == set(range(24))
        assert not set(bag) & set(out)
        assert (np.diff(out) > 0).all()
        shares.append(len(out) / 24)
    assert np.mean(shares) == pytest.approx((1 - 1 / 24) ** 24, abs=0.05)
    copies = [any(out_row // 2 == row // 2 for row in bag) for bag, out in seen for out_row in out]
    assert any(copies)
    by_hand = []
    for bag, out in seen:
        inside, outside = bag.astype(int), out.astype(int)
        by_hand.append(cl.roc_auc(y[outside], Centroid().fit(x[inside], y[inside]).decision_function(x[outside])))
    np.testing.assert_allclose(oob.values, by_hand)


def test_interval_is_the_percentiles_of_the_values() -> None:
    x, y = two_clouds(2, 80, 0.8)
    oob = cl.bootstrap_oob(Centroid(), x, y, measure="accuracy", n_resamples=120, level=0.8, n_jobs=1)
    assert oob.interval == pytest.approx(tuple(np.quantile(oob.values, [0.1, 0.9])))
    assert oob.value == pytest.approx(oob.values.mean())
    assert oob.low < oob.value < oob.high
    assert (oob.undefined, oob.one_class_bags, oob.one_class_oob) == (0, 0, 0)
    assert oob.estimate.method == "oob_percentile"
    assert json.loads(json.dumps(oob.to_dict()))["n_resamples"] == 120
    assert "120 refits" in repr(oob)


def test_one_class_sets_are_counted_and_warned_of() -> None:
    """Two positives of 20: both in the bag, or both out of it, in a share of replicates that can be worked out."""
    x, y = two_clouds(2, 20, 0.8)
    y = (np.arange(20) < 2).astype(int)
    with pytest.warns(cl.UndefinedWarning, match="undefined in") as caught:
        oob = cl.bootstrap_oob(Centroid(), x, y, n_resamples=600, n_jobs=1)
    assert len(caught) == 1
    no_positive_in = (1 - 2 / 20) ** 20
    no_positive_out = 1 - 2 * (1 - 1 / 20) ** 20 + no_positive_in
    assert oob.one_class_bags / 600 == pytest.approx(no_positive_in, abs=0.06)
    assert oob.one_class_oob / 600 == pytest.approx(no_positive_out, abs=0.09)
    assert oob.undefined == oob.one_class_bags + oob.one_class_oob
    assert len(oob.values) == 600
    kept = oob.values[~np.isnan(oob.values)]
    assert oob.interval == pytest.approx(tuple(np.quantile(kept, [0.025, 0.975])))


def test_one_class_out_of_bag_still_has_an_accuracy() -> None:
    x, y = two_clouds(2, 20, 0.8)
    y = (np.arange(20) < 2).astype(int)
    with pytest.warns(cl.UndefinedWarning):
        oob = cl.bootstrap_oob(Centroid(), x, y, measure="accuracy", n_resamples=100, n_jobs=1)
    assert oob.undefined == oob.one_class_bags
    assert oob.one_class_oob > 0


@pytest.mark.parametrize("container", ["pandas", "polars", "list"])
def test_tables_are_taken_row_by_row(container: str) -> None:
    x, y = two_clouds(2, 40, 0.8)
    expected = cl.bootstrap_oob(Centroid(), x, y, n_resamples=10, n_jobs=1).values
    if container == "list":
        table: Any = x.tolist()
    else:
        frames = pytest.importorskip(container)
        table = frames.DataFrame({f"c{k}": x[:, k] for k in range(3)})
    np.testing.assert_allclose(
        cl.bootstrap_oob(Centroid(), table, y.tolist(), n_resamples=10, n_jobs=1).values, expected
    )


# --- refusals --------------------------------------------------------------------------------------------------

X, Y = two_clouds(0, 20, 1.0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: cl.permutation_test(object(), X, Y, X, Y), "pass one that has fit"),
        (lambda: cl.permutation_test(Centroid(), X, Y[:-1], X, Y), "X_train has 20 rows but y_train has 19"),
        (lambda: cl.permutation_test(Centroid(), X, Y, X, Y[:-1]), "X_test has 20 rows but y_test has 19"),
        (lambda: cl.permutation_test(Centroid(), X, [1] * 20, X, Y), "y_train contains a single class"),
        (lambda: cl.permutation_test(Centroid(), X, ["a", "b"] * 10, X, Y), "y_train has the labels"),
        (lambda: cl.permutation_test(Centroid(), X, Y, X, Y, n_permutations=0), "n_permutations"),
        (lambda: cl.permutation_test(Centroid(), X, Y, X, Y, n_jobs=0), "n_jobs"),
        (lambda: cl.permutation_test(Centroid(), X, Y, X, Y, seed=1.5), "seed"),
        (lambda: cl.permutation_test(Centroid(), X, Y, X, Y, measure="hit_rate"), "quota"),
        (lambda: cl.permutation_test(Centroid(), X, Y, X, Y, measure="log_loss"), "not probabilities"),
        (lambda: cl.permutation_test(Centroid(), X, Y, X, Y, measure="triplet_loss"), "triplet_loss"),
        (lambda: cl.bootstrap_oob(Centroid(), X, [0] * 20), "y contains a single class"),
        (lambda: cl.bootstrap_oob(Centroid(), X[:1], Y[:1]), "y contains a single class"),
        (lambda: cl.bootstrap_oob(Centroid(), X, Y, n_resamples=1), "n_resamples"),
        (lambda: cl.bootstrap_oob(Centroid(), X, Y, level=95), "level"),
        (lambda: cl.bootstrap_oob(Centroid(), X, Y, measure="hit_rate@19"), "quota"),
    ],
)
def test_refusals_say_what_is_wrong(call: Any, says: str) -> None:
    with pytest.raises(cl.InputError, match=says):
        call()


def test_result_types() -> None:
    assert isinstance(cl.bootstrap_oob(Centroid(), X, Y, n_resamples=5, n_jobs=1), OutOfBag)


def test_labels_that_are_missing_are_refused_before_anything_is_fitted() -> None:
    x, two, three = np.arange(8.0)[:, None], [0.0, 1.0] * 4, ["a", "b", "c", "d"] * 2
    said = "drop the row or fill in a value"
    for y, problem in (([*two[:-1], np.nan], "row 7 is NaN"), ([*three[:-1], None], "row 7 has a missing value")):
        with pytest.raises(cl.InputError, match=f"^y: {problem}; {said}"):
            cl.bootstrap_oob(LogisticRegression(), x, y, n_resamples=5)
        with pytest.raises(cl.InputError, match=f"^y_train: {problem}; {said}"):
            cl.permutation_test(LogisticRegression(), x, y, x, y[:-1] + y[:1], n_permutations=5)
    with pytest.raises(cl.InputError, match=f"^y: row 7 is NaN; {said}"):
        evaluate_cv(LogisticRegression(), x, [*two[:-1], np.nan])

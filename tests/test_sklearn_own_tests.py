"""scikit-learn's own tests of scorers and displays, run on ours; only the wording of its errors is its own."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, matthews_corrcoef, recall_score

from cutline.sklearn import GainDisplay, PrecisionRecallDisplay, QrecallDisplay, RocDisplay, scorer

displays = pytest.importorskip("sklearn.metrics._plot.tests.test_common_curve_display")
scorers = pytest.importorskip("sklearn.metrics.tests.test_score_objects")
NAMES = ["roc_auc", "average_precision", "brier_score", "qrecall@20%", "pem", "f1", "matthews_correlation"]
by_name = pytest.mark.parametrize("name", NAMES)
on_displays = pytest.mark.parametrize("Display", [RocDisplay, PrecisionRecallDisplay, GainDisplay, QrecallDisplay])


class AnyWords:
    """pytest for scikit-learn's module: what is raised counts, not in which words."""

    def __getattr__(self, name: str) -> Any:
        return getattr(pytest, name)

    @staticmethod
    def raises(kind: Any, match: str | None = None) -> Any:
        return pytest.raises(kind)


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their module gets our scorers for its names."""
    monkeypatch.setattr(scorers, "get_scorer", scorer)
    monkeypatch.setattr(scorers, "get_scorer_names", lambda: NAMES)
    monkeypatch.setattr(scorers, "REGRESSION_SCORERS", [])


@pytest.fixture
def any_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(displays, "pytest", AnyWords())


@pytest.fixture
def pyplot() -> Any:
    import matplotlib
    from matplotlib import pyplot

    matplotlib.use("agg")
    yield pyplot
    pyplot.close("all")


def table(two_classes: bool) -> Any:
    X, y = load_iris(return_X_y=True)
    return (X[y < 2], y[y < 2]) if two_classes else (X, y)


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("f1", f1_score),
        ("recall", recall_score),
        ("accuracy", accuracy_score),
        ("balanced_accuracy", balanced_accuracy_score),
        ("matthews_correlation", matthews_corrcoef),
    ],
)
def test_binary_scores(name: str, metric: Any, ours: None) -> None:
    scorers.test_classification_binary_scores(name, metric)


@by_name
def test_metadata_request(name: str, ours: None) -> None:
    scorers.test_scorer_metadata_request(name)


@by_name
def test_set_score_request_needs_the_flag(name: str, ours: None) -> None:
    scorers.test_scorer_set_score_request_raises(name)


def test_sample_weight(ours: None, monkeypatch: pytest.MonkeyPatch) -> None:
    made = scorers._make_estimators
    monkeypatch.setattr(scorers, "_make_estimators", lambda *data: {name: made(*data)["roc_auc"] for name in NAMES})
    scorers.test_classification_scorer_sample_weight()


def test_a_method_is_called_once_for_several_scorers() -> None:
    several = {name: scorer(name) for name in ("roc_auc", "qrecall@40%", "brier_score", "f1")}
    scorers.test_multimetric_scorer_calls_method_once(several, 1, 1, 0)
    alike = {name: scorer(name) for name in ("roc_auc", "brier_score")}
    scorers.test_multimetric_scorer_calls_method_once_classifier_no_decision(alike)


@on_displays
def test_two_classes_only(Display: Any, pyplot: Any, any_words: None) -> None:
    displays.test_display_curve_error_binary_classifier(pyplot, table(False), table(True), Display)


@on_displays
def test_no_regression(Display: Any, pyplot: Any, any_words: None) -> None:
    displays.test_display_curve_error_regression(pyplot, table(True), Display)


@on_displays
@pytest.mark.parametrize("method", ["predict_proba", "decision_function", "auto", "bad_method"])
def test_no_response_method(Display: Any, method: str, pyplot: Any, any_words: None) -> None:
    displays.test_display_curve_error_no_response_method(pyplot, table(True), method, "", Display)


@on_displays
@pytest.mark.parametrize("way", ["from_estimator", "from_predictions"])
def test_names(Display: Any, way: str, pyplot: Any, any_words: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(displays, "RocCurveDisplay", Display)  # so that it reads .name
    displays.test_display_curve_name_overwritten_by_plot_multiple_calls(pyplot, table(True), Display, way)


@on_displays
def test_not_fitted(Display: Any, pyplot: Any, any_words: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(displays, "RocCurveDisplay", Display)
    marks = displays.test_display_curve_not_fitted_errors.pytestmark
    models = next(mark.args[1] for mark in marks if mark.args[0] == "clf")
    for model in models:
        displays.test_display_curve_not_fitted_errors(pyplot, table(True), model, Display)


@on_displays
def test_lengths_and_labels(Display: Any, pyplot: Any, any_words: None) -> None:
    displays.test_display_curve_n_samples_consistency(pyplot, table(True), Display)
    displays.test_display_curve_error_pos_label(pyplot, table(True), Display)


@on_displays
@pytest.mark.parametrize("way", ["from_predictions", "from_estimator"])
def test_subclasses(Display: Any, way: str, pyplot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(displays, "RocCurveDisplay", Display)
    displays.test_classifier_display_curve_named_constructor_return_type(pyplot, table(True), Display, way)

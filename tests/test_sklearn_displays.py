"""Displays draw what the evaluations hold, from any of the three sources, and share axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.colors import to_rgb
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import cutline as cl
from cutline.sklearn import (
    GainDisplay,
    PrecisionRecallDisplay,
    QrecallDisplay,
    RocDisplay,
)

X, Y = make_classification(n_samples=200, n_informative=3, flip_y=0.2, weights=[0.7], random_state=2)
MODEL = LogisticRegression().fit(X, Y)
P = MODEL.predict_proba(X)[:, 1]
DISPLAYS: list[tuple[Any, dict[str, Any]]] = [
    (RocDisplay, {}),
    (PrecisionRecallDisplay, {}),
    (GainDisplay, {}),
    (QrecallDisplay, {}),
]
EVERY = pytest.mark.parametrize(("display", "options"), DISPLAYS, ids=[d.__name__ for d, _ in DISPLAYS])


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def main_line(display: Any, name: str) -> Any:
    """The line that carries a model's name."""
    return next(line for line in display.ax_.lines if str(line.get_label()).startswith(name))


@EVERY
def test_three_ways_to_one_curve(display: Any, options: dict[str, Any]) -> None:
    _, ax = plt.subplots()
    one = display.from_predictions(Y, P, name="logit", ax=ax, n_resamples=50, **options)
    assert one.ax_ is ax
    assert one.figure_ is ax.figure
    two = display.from_estimator(MODEL, X, Y, n_resamples=50, **options)
    a, b = main_line(one, "logit"), main_line(two, "LogisticRegression")
    np.testing.assert_array_equal(a.get_xydata(), b.get_xydata())
    reference = cl.evaluate(Y, P, name="m", measures=[], interval=None, n_resamples=50)
    drawn = reference.plot(display.kind, band=False, **options)
    line = next(line for line in drawn.lines if str(line.get_label()).startswith("m"))
    np.testing.assert_array_equal(a.get_xydata(), line.get_xydata())


@EVERY
def test_bands(display: Any, options: dict[str, Any]) -> None:
    with_band = display.from_predictions(Y, P, band=True, n_resamples=50, **options)
    without = display.from_predictions(Y, P, band=False, n_resamples=50, **options)
    assert len(with_band.ax_.collections) >= 1
    if display is not QrecallDisplay:  # which shades the areas behind PEM instead
        assert len(without.ax_.collections) == 0


def test_displays_share_axes() -> None:
    first = RocDisplay.from_predictions(Y, P, name="one", n_resamples=50)
    note = first.ax_.text(0.5, 0.5, "mine")
    second = RocDisplay.from_predictions(Y, -P, name="two", ax=first.ax_, n_resamples=50)
    assert second.ax_ is first.ax_
    one, two = main_line(second, "one"), main_line(second, "two")
    assert one.get_color() != two.get_color()
    names = [text.get_text() for text in [*second.ax_.texts, *second.ax_.get_legend().get_texts()]]
    assert "mine" in names
    assert all(any(text.startswith(f"{name}: AUC ") for text in names) for name in ("one", "two"))
    assert names.count("chance") == 1
    assert note in second.ax_.texts
    third = RocDisplay.from_predictions(Y, P**2, name="three", ax=first.ax_, n_resamples=50)
    assert [text.get_text() for text in third.ax_.texts].count("chance") == 1
    assert {main_line(third, n).get_color() for n in ("one", "two", "three")} >= {one.get_color(), two.get_color()}


def test_each_band_has_the_colour_and_the_place_of_its_own_model() -> None:
    first = RocDisplay.from_predictions(Y, P, name="one", band=True, n_resamples=50)
    both = RocDisplay.from_predictions(Y, -P, name="two", band=True, ax=first.ax_, n_resamples=50).ax_
    bands = both.collections
    assert len(bands) == 2
    for band, name, scores in zip(bands, ("one", "two"), (P, -P), strict=True):
        line = next(line for line in both.lines if str(line.get_label()).startswith(name))
        assert to_rgb(line.get_color()) == to_rgb(band.get_facecolor()[0][:3])
        shade = cl.evaluate(Y, scores, measures=[], n_resamples=50).curve("roc").band(level=0.95)
        heights = band.get_paths()[0].vertices[:, 1]
        assert (heights.min(), heights.max()) == pytest.approx((shade.low.min(), shade.high.max()))
        assert heights.mean() == pytest.approx((shade.low.mean() + shade.high.mean()) / 2, abs=0.03)


def test_the_hull_and_the_area_are_there() -> None:
    display = RocDisplay.from_predictions(Y, P, n_resamples=50)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "convex hull" in texts
    shown = [display.ax_.get_title(loc="left"), *texts]
    assert all(f"AUC {cl.roc_auc(Y, P):.3f}" in text for text in shown if text != "convex hull"), shown
    bare = RocDisplay.from_predictions(Y, P, hull=False, n_resamples=50)
    assert bare.ax_.get_legend() is None


def test_drawn_again_elsewhere_with_another_name() -> None:
    display = GainDisplay.from_predictions(Y, P, name="a", quota=20, n_resamples=50)
    assert display.ax_.get_xlabel() == "places\n(line: 20 places; 95% band for each point by itself)"
    _, ax = plt.subplots()
    again = display.plot(ax=ax, name="b")
    assert again.ax_ is ax
    assert main_line(again, "b") is not None


def test_labels_by_name() -> None:
    named = np.where(Y == 1, "yes", "no")
    model = LogisticRegression().fit(X, named)
    for label, positives in (("yes", Y.sum()), ("no", (1 - Y).sum())):
        one = RocDisplay.from_estimator(model, X, named, pos_label=label, n_resamples=50)
        assert one.evaluation.facts["positives"] == positives
        assert one.evaluation["roc_auc"].value > 0.5

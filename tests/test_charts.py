"""The numbers that charts of the page and plots draw, read back from their marks."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import cutline as cl
from cutline.present.charts import USUAL, colour
from cutline.present.figures import FIGURES, NEGATIVES, POSITIVES, histogram
from cutline.present.page import page
from cutline.present.plots import plot as draw
from cutline.sklearn import GainDisplay

LEFT, RIGHT, TOP, BOTTOM = USUAL[2:]


def plot(ev: Any, kind: str) -> Any:
    return draw(ev, kind, band=False, ax=Figure().add_subplot())


def places_of(points: str) -> tuple[Any, Any]:
    x, y = np.array([pair.split(",") for pair in points.split()], dtype=float).T
    return (x - LEFT) / (RIGHT - LEFT), (BOTTOM - y) / (BOTTOM - TOP)


def random_list(seed: int, n: int = 40) -> tuple[Any, Any, int]:
    rng = np.random.default_rng(seed)
    share = rng.choice([0.05, 0.15, 0.3, 0.6])
    y = rng.random(n) < share
    y[rng.integers(n)] = True
    y[rng.integers(n)] ^= y.all()
    score = rng.normal(size=n) + rng.choice([0.0, 1.0, 3.0]) * y
    return y, score.round(1) if seed % 2 else score, int(rng.integers(1, n))


@pytest.mark.parametrize("seed", range(60))
def test_an_axis_of_hit_rates_shows_the_whole_curve_and_the_quota(seed: int) -> None:
    y, score, quota = random_list(seed, [10, 40, 200][seed % 3])
    ev = cl.evaluate(y, score, quota=quota, interval=None)
    here = ev.at(quota=quota).precision
    for kind in ("hit_rate", "precision_recall"):
        ax = plot(ev, kind)
        top = ax.get_ylim()[1]
        curve = next(line for line in ax.get_lines() if "model" in str(line.get_label())).get_ydata()
        assert np.nanmax(curve) <= top
        assert here <= top
        # no more room than is needed: a step of a round number above the highest
        assert top <= 1.04 * max(1.0 if np.nanmax(curve) > 0.47 else 1.6 * np.nanmax(curve), 1e-9)


@pytest.mark.parametrize("seed", range(0, 60, 6))
def test_the_pages_hit_rates_are_the_curve_and_the_quota(seed: int) -> None:
    y, score, quota = random_list(seed)
    ev = cl.evaluate(y, score, quota=quota, interval=None)
    chart = re.search(r'<svg[^>]*data-kind="hit_rate".*?</svg>.*?</svg>', page(ev), re.S)[0]
    low, high = map(float, re.search(r'data-y="([^"]+)"', chart)[1].split())
    x, height = places_of(re.search(r'data-curve="0" points="([^"]+)"', chart)[1])
    assert (low, height.max() <= 1 + 1e-3) == (0.0, True)
    for share, up in zip(x, height, strict=True):
        assert up * high == pytest.approx(ev.at(quota=max(1, round(40 * share))).precision, abs=0.02)
    centre = re.search(r'<circle data-marker="0" cx="([^"]+)" cy="([^"]+)"', chart)
    assert centre is not None, chart
    x, height = places_of(f"{centre[1]},{centre[2]}")
    assert (40 * x[0], height[0] * high) == pytest.approx((quota, ev.at(quota=quota).precision), abs=0.1)


def test_a_long_list_of_rare_events_still_shows_its_quota() -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(1, 60, 20_000)
    y = rng.random(20_000) < p
    y[np.argsort(-p)[:3]] = True
    for quota in (2, 5, 400):
        ev = cl.evaluate(y, p, quota=quota, interval=None)
        assert plot(ev, "hit_rate").get_ylim()[1] >= ev.at(quota=quota).precision
    assert plot(cl.evaluate(y, p, quota=400, interval=None), "hit_rate").get_ylim()[1] < 0.7


def test_chance_is_level_in_precision_and_recall_and_the_diagonal_in_roc() -> None:
    y, score, _ = random_list(4, 200)
    ev = cl.evaluate(y, score, interval=None)
    for name, start in (("roc", 0.0), ("precision_recall", y.mean())):
        chart = FIGURES[name]([ev], band=False).svg()
        first = re.search(r'<polyline[^>]*points="([^"]+)"', chart)[1]
        x, height = places_of(first)
        top = max(plot(ev, name).get_ylim()[1] / 1.03, 0)
        top = 1.0 if name == "roc" else top
        np.testing.assert_allclose(x, [0.0, 1.0], atol=1e-3)
        np.testing.assert_allclose(height * top, [start, 1.0 if name == "roc" else start], atol=0.005)
        drawn = next(line for line in plot(ev, name).get_lines() if len(line.get_xdata()) == 2)
        np.testing.assert_allclose(drawn.get_ydata(), [start, 1.0 if name == "roc" else start])


def test_a_histogram_paints_each_class_in_its_own_colour() -> None:
    y = np.repeat([1, 0], [30, 70])
    score = np.concatenate([np.full(30, 0.95), np.full(70, 0.05)])
    chart = histogram(cl.evaluate(y, score, interval=None)).svg()
    centres = {}
    for mark in re.findall(r"<(?:path|polygon)[^>]*fill=\"#[^>]*>", chart):
        paint = re.search(r'fill="(#\w+)"', mark)[1]
        numbers = np.array(re.findall(r"-?\d+\.?\d*", re.search(r'(?:points|d)="([^"]+)"', mark)[1]), dtype=float)
        centres[paint] = numbers
    (positive, negative) = (centres[POSITIVES], centres[NEGATIVES])
    assert not np.array_equal(positive, negative)

    # the whole of a class stands in one step: the top of the frame is reached on its side
    def reaches(marks: Any) -> float:
        x, up = marks.reshape(-1, 2).T
        return float(x[up == up.min()].mean())

    assert reaches(positive) > (LEFT + RIGHT) / 2 > reaches(negative)
    named = re.findall(r'<tspan fill="(#\w+)"[^>]*>■</tspan> (positive|negative)', chart)
    assert {side: paint for paint, side in named} == {"positive": POSITIVES, "negative": NEGATIVES}


def test_a_second_display_on_the_same_axes_has_a_colour_of_its_own() -> None:
    y, score, _ = random_list(3)
    first = GainDisplay.from_predictions(y, score, name="one", ax=Figure().add_subplot(), n_resamples=50)
    second = GainDisplay.from_predictions(y, -score, name="two", ax=first.ax_, n_resamples=50)
    assert second.line_.get_color() == colour(1)
    drawn = {line.get_label(): line.get_color() for line in first.ax_.get_lines()}
    assert (drawn["one"], drawn["two"]) == (colour(0), colour(1))

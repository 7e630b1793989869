"""What a notebook shows: tables with small pictures that are sound markup, in their place, and light."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import cutline as cl
from cutline.extrapolation import Extrapolation
from cutline.present.charts import USUAL, Chart, colour
from cutline.present.figures import MOST_LINES, MOST_PAIRS

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = USUAL

HOSTILE = "</svg><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u2028\x00\x1b]]>"
Y = [1, 1, 0, 1, 1, 0, 0, 1, 0, 0]  # Berrar's ten cases
P = [0.95, 0.8, 0.75, 0.6, 0.5, 0.45, 0.3, 0.25, 0.2, 0.1]


def parsed(result: Any) -> ElementTree.Element:
    """The markup as XML, each image with its words, nothing in it that runs."""
    root = ElementTree.fromstring(result._repr_html_())
    for element in root.iter():
        tag = element.tag
        assert tag not in ("script", "img", "style", "foreignObject", "iframe")
        assert not [name for name in element.attrib if name.startswith("on")]
        if element.get("class") == "chart":
            assert element.get("role") == "img"
            assert len(element.get("aria-label") or "") > 5
            placed(element)
    return root


def placed(chart: ElementTree.Element) -> None:
    """Every mark has a number for a place."""
    for element in chart.iter():
        numbers = re.findall(r"[^\s,]+", element.get("points", ""))
        numbers += [element.attrib[name] for name in ("cx", "cy", "x1", "y2") if name in element.attrib]
        assert all(math.isfinite(float(number)) for number in numbers)


def pictures(result: Any) -> dict[str, ElementTree.Element]:
    """The pictures by their titles."""
    return {figure.find("h3").text: figure.find("div") for figure in parsed(result).iter("figure")}  # type: ignore[union-attr, misc]


def points(svg: ElementTree.Element, x: tuple[float, float], y: tuple[float, float]) -> list[list[tuple[float, float]]]:
    """The lines of a picture, back in the values they stand for."""
    lines = []
    for line in svg.iter("polyline"):
        pairs = [tuple(map(float, pair.split(","))) for pair in line.attrib["points"].split()]
        lines.append([value(pair, x, y) for pair in pairs])
    return lines


def value(place: Any, x: tuple[float, float], y: tuple[float, float]) -> tuple[float, float]:
    across, up = (place[0] - LEFT) / (RIGHT - LEFT), (BOTTOM - place[1]) / (BOTTOM - TOP)
    return x[0] + across * (x[1] - x[0]), y[0] + up * (y[1] - y[0])


def dots(svg: ElementTree.Element, x: tuple[float, float], y: tuple[float, float]) -> list[tuple[float, float]]:
    return [value((float(d.attrib["cx"]), float(d.attrib["cy"])), x, y) for d in svg.iter("circle")]


def near(found: Any, wanted: Any, x: float = 1.0, y: float = 1.0) -> bool:
    """Within a pixel."""
    return abs(found[0] - wanted[0]) <= x / (RIGHT - LEFT) and abs(found[1] - wanted[1]) <= y / (BOTTOM - TOP)


@pytest.fixture(scope="module")
def ev() -> cl.results.Evaluation:
    return cl.evaluate(Y, P, quota=4, n_resamples=50)


def test_the_roc_passes_through_its_points_and_marks_the_quota(ev: cl.results.Evaluation) -> None:
    roc = pictures(ev)["ROC curve"]
    chance, line = points(roc, (0, 1), (0, 1))
    assert near(chance[0], (0, 0))
    assert near(chance[-1], (1, 1))
    for corner in ((0, 0), (0, 0.4), (0.2, 0.4), (0.2, 0.8), (0.6, 0.8), (0.6, 1), (1, 1)):
        assert any(near(found, corner) for found in line), corner
    assert near(dots(roc, (0, 1), (0, 1))[0], (0.2, 0.6))  # three of five hits and one of five misses among four places
    assert "AUC 0.8" in roc.attrib["aria-label"]
    assert "3 of the 5 positives, 1 negative" in roc.attrib["aria-label"]


def test_the_gain_counts_places_and_marks_the_quota(ev: cl.results.Evaluation) -> None:
    gain = pictures(ev)["Hits found"]
    _, _, cut, line = points(gain, (0, 10), (0, 5))
    assert any(near(found, (2, 2), 10, 5) for found in line)
    assert near(dots(gain, (0, 10), (0, 5))[0], (4, 3), 10, 5)
    assert near(cut[0], (4, 0), 10, 5)


def test_the_cut_stands_among_the_scores(ev: cl.results.Evaluation) -> None:
    scores = pictures(ev)["Scores of positives and negatives"]
    (cut,) = points(scores, (0, 1), (0, 1))
    assert abs(cut[0][0] - 0.5) < 0.01  # the fifth score is the first that gets no place
    assert len(list(scores.iter("polygon"))) == 2


@pytest.mark.parametrize("rows", [1_000, 200_000])
def test_the_size_does_not_grow_with_the_rows(rows: int) -> None:
    rng = np.random.default_rng(0)
    score = rng.random(rows)
    ev = cl.evaluate(rng.random(rows) < score, score, quota=0.1, n_resamples=100)
    assert len(parsed(ev).findall(".//td")) > 30
    assert len(ev._repr_html_().encode()) < 60_000


def test_hostile_names_stay_text() -> None:
    ev = cl.evaluate(Y, P, name=HOSTILE, interval=None)
    assert "alert(1)" in "".join(parsed(ev).itertext())
    compared = cl.compare(Y, {HOSTILE: P, "b": P[::-1]}, n_resamples=50)
    assert "alert(1)" in "".join(parsed(compared).itertext())
    classes = np.where(np.array(Y) == 1, HOSTILE, "b")
    parsed(cl.evaluate(classes, np.column_stack([P, P[::-1]]), classes=[HOSTILE, "b"], interval=None))
    parsed(cl.papers.selective_voting(Y, {HOSTILE: P, "b": P[::-1]}))


DEGENERATE = {
    "one class": ([1, 1, 1], [0.3, 0.2, 0.1]),
    "no positives": ([0, 0, 0], [0.3, 0.2, 0.1]),
    "all tied": ([1, 0, 1, 0], [0.5] * 4),
    "one row": ([1], [0.7]),
    "one negative": ([0], [-3.0]),
    "infinite": ([1, 0, 1], [math.inf, -math.inf, math.inf]),
    "nothing above": ([1, 0, 1, 0], [-5.0, -6.0, -7.0, -8.0]),
    "wide": ([1, 0, 1, 0], [1e12, -1e12, 5.0, 1e-12]),
}


@pytest.mark.parametrize("data", DEGENERATE.values(), ids=DEGENERATE)
@pytest.mark.parametrize("options", [{}, {"quota": 1}, {"interval": None}], ids=["plain", "quota", "bare"])
def test_degenerate_data_are_shown(data: Any, options: dict[str, Any]) -> None:
    y, p = data
    parsed(cl.evaluate(y, p, n_resamples=20, **options))
    parsed(cl.compare(y, {"a": p, "b": p[::-1]}, n_resamples=20, **options))
    parsed(cl.compare(y, {"a": p}, n_resamples=20, **options))
    if all(map(math.isfinite, p)):
        parsed(cl.plan(y, p, cost=1, value=2, n_resamples=20))
    ranked = cl.evaluate(y, p, interval=None)
    parsed(ranked.at(quota=1))
    parsed(ranked.at(threshold=0.5))


def test_a_weighted_sample_shows_precision_and_recall_instead_of_places() -> None:
    found = pictures(cl.evaluate(Y, P, sample_weight=np.arange(1, 11), n_resamples=20))
    assert set(found) == {"ROC curve", "Precision and recall", "Scores of positives and negatives"}


def test_a_streamed_table_and_comparison_are_shown(tmp_path: Any) -> None:
    rng = np.random.default_rng(2)
    p, q = rng.random((2, 5_000))
    y = rng.random(5_000) < p
    path = tmp_path / "scores.csv"
    np.savetxt(path, np.column_stack([y, p, q]), delimiter=",", header="y,p,q", comments="", fmt="%.6f")
    ev = cl.evaluate(str(path), label="y", score="p", quota=500, stream=True, n_resamples=20)
    assert type(ev.rows).__name__ == "Streamed"
    roc = pictures(ev)["ROC curve"]
    whole = pictures(cl.evaluate(y, p.round(6), quota=500, interval=None))["ROC curve"]
    assert near(dots(roc, (0, 1), (0, 1))[0], dots(whole, (0, 1), (0, 1))[0])
    assert len(ev._repr_html_().encode()) < 60_000
    compared = cl.compare(str(path), label="y", score=["p", "q"], quota=500, stream=True, n_resamples=20)
    assert {"ROC curve", "Hits found", "Difference in hit rate at 500"} <= set(pictures(compared))


def test_a_comparison_shows_every_difference_around_zero() -> None:
    models = {"a": P, "b": [0.9, 0.3, 0.6, 0.5, 0.8, 0.2, 0.7, 0.4, 0.1, 0.15]}
    compared = cl.compare(Y, models, measures=["roc_auc"], n_resamples=50)
    forest = pictures(compared)["Difference in ROC AUC"]
    row = compared.difference("a", "b", "roc_auc")
    row = row.turned() if row["difference"] < 0 else row  # the better model stands first
    reach = 1.05 * max(abs(row["low"]), abs(row["high"]))
    zero, interval = points(forest, (-reach, reach), (0, 1))
    assert abs(zero[0][0]) < reach / 90
    assert interval[0][0] == pytest.approx(row["low"], abs=reach / 90)
    assert interval[-1][0] == pytest.approx(row["high"], abs=reach / 90)
    assert dots(forest, (-reach, reach), (0, 1))[0][0] == pytest.approx(row["difference"], abs=reach / 90)


def test_a_clear_difference_has_the_colour_of_the_better_model() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(400)
    models = {"right": p, "wrong": 1 - p}
    compared = cl.compare(rng.random(400) < p, models, measures=["brier_score", "roc_auc"], n_resamples=100)
    for name in ("Brier score", "ROC AUC"):  # lower is better, higher is better
        (dot,) = pictures(compared)[f"Difference in {name}"].iter("circle")
        assert dot.attrib["fill"] == colour(0)


def test_many_models_are_drawn_in_part_and_it_is_said() -> None:
    rng = np.random.default_rng(3)
    models = {f"m{k}": rng.random(60) for k in range(MOST_LINES + 3)}
    compared = cl.compare(rng.random(60) < 0.4, models, measures=["roc_auc"], n_resamples=20)
    found = pictures(compared)
    assert len(points(found["ROC curve"], (0, 1), (0, 1))) == 1 + MOST_LINES
    assert len(list(found["Difference in ROC AUC"].iter("circle"))) == MOST_PAIRS
    text = "".join(parsed(compared).itertext())
    assert "and 3 more, not drawn" in text
    assert f"{(MOST_LINES + 3) * (MOST_LINES + 2) // 2 - MOST_PAIRS} more left out" in text


def test_models_on_cases_of_their_own_are_shown() -> None:
    y, models = {"a": Y, "b": Y[:6]}, {"a": P, "b": P[:6]}
    parsed(cl.compare(y, models, paired=False, n_resamples=20))


def test_a_plan_marks_its_best_cut() -> None:
    plan = cl.plan(Y, P, cost=2, value=5, quota=8, n_resamples=50)
    profit = pictures(plan)["Profit at cost 2 per case and value 5 per hit"]
    ends = min(plan.profits.min(), plan.profit.low, 0.0), max(plan.profits.max(), plan.profit.high, 0.0)
    dot = dots(profit, (0, 10), ends)[-1]
    assert near(dot, (plan.quota, plan.profit.value), 10, ends[1] - ends[0])
    zero, line, *_ = points(profit, (0, 10), ends)
    assert abs(zero[0][1]) <= (ends[1] - ends[0]) / 90
    assert near(line[-1], (10, plan.profits[-1]), 10, ends[1] - ends[0])


@pytest.fixture(scope="module")
def ex() -> Extrapolation:
    scores = np.random.default_rng(1).normal(size=(80, 50)) + 3.5 * np.eye(50)[np.arange(80) % 50]
    return cl.extrapolate(scores, np.arange(80) % 50, k=[100, 500], method="mixture", n_resamples=10)


def test_an_extrapolation_shows_what_was_seen_and_what_is_foretold(ex: Extrapolation) -> None:
    picture = pictures(ex)["Accuracy with more classes"]
    log = (math.log(2), math.log(500))
    ends = [(math.log(k), ex.accuracy(k).value) for k in (100, 500)]
    for found, wanted in zip(dots(picture, log, (0, 1)), ends, strict=True):
        assert near(found, wanted, log[1] - log[0])
    *_, foretold, seen = points(picture, log, (0, 1))
    assert near(seen[-1], (math.log(50), ex.observed.test_accuracy), log[1] - log[0])
    assert near(foretold[0], seen[-1], log[1] - log[0])
    assert len(list(picture.iter("polygon"))) == 1


def test_other_results_are_shown(ev: cl.results.Evaluation) -> None:
    parsed(cl.screen(Y, [(P, 0.8), (P[::-1], 3)], cost=[1, 2]))
    parsed(cl.screen([0] * 10, [(P, 0.8)]))
    parsed(cl.papers.selective_voting(Y, {"a": P, "b": P[::-1], "c": [0.5] * 10}))

    def simulate(rng: np.random.Generator, n: int) -> Any:
        x = rng.normal(size=n)
        return x, rng.random(n) < 1 / (1 + np.exp(-3 * x))

    power = cl.papers.selection_power(
        simulate, {"a": lambda x: x, "b": np.round}, ["roc_auc", "ks_statistic"], n_rounds=2
    )
    assert "ks_statistic" in "".join(parsed(power).itertext())


def test_cross_validation_is_shown() -> None:
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression

    from cutline.sklearn import evaluate_cv

    x = np.random.default_rng(0).normal(size=(60, 2))
    result = evaluate_cv(LogisticRegression(), x, x[:, 0] > 0.3, cv=3, measures=["roc_auc", "log_loss"])
    assert len(points(pictures(result)["ROC curve"], (0, 1), (0, 1))) == 4


def test_a_chart_cuts_lines_off_at_its_ends() -> None:
    chart = Chart("t", "w", (0.0, 1.0))
    chart.line([-5, 0.5, 7, math.nan], [0, 9, -3, 1])
    chart.point(3.0, -2.0)
    chart.point(math.nan, 1.0)
    chart.upright(2.0)
    root = ElementTree.fromstring(chart.svg())
    placed(root)
    (inner,) = root.findall("svg")  # a frame of its own, at which the browser cuts
    assert len(list(root.iter("circle"))) == 1
    assert len(list(inner.iter("polyline"))) == len(list(root.iter("polyline"))) == 1
    assert (root.get("width"), root.get("height")) == (str(WIDTH), str(HEIGHT))


def test_no_library_beyond_the_core_is_loaded() -> None:
    code = (
        "import sys, cutline as cl\n"
        "y, p = [1, 0, 1, 0], [0.9, 0.5, 0.4, 0.1]\n"
        "for r in (cl.evaluate(y, p, interval=None), cl.compare(y, {'a': p, 'b': p}, interval=None),\n"
        "          cl.plan(y, p, n_resamples=10), cl.evaluate(y, p, interval=None).at(quota=1)): r._repr_html_()\n"
        "print({'matplotlib', 'pandas', 'polars', 'altair', 'sklearn', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "set()"


def test_a_notebook_puts_no_value_in_bold() -> None:
    """Bold type says "use this one", which only a clear difference may."""
    models = {"a": P, "b": [0.9, 0.3, 0.6, 0.5, 0.8, 0.2, 0.7, 0.4, 0.1, 0.15]}
    shown = cl.compare(Y, models, quota=3, n_resamples=50)._repr_html_()
    assert not re.search(r"<t[dh][^>]*>\s*<(b|strong)>|<td[^>]*font-weight", shown)

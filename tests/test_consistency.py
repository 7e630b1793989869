"""May a ranking decide for decisions? Rosset's condition (section 7): counts by brute force, and the test's errors."""

from __future__ import annotations

import itertools
import json
import pickle

import numpy as np
import pytest

import cutline as cl

BOTH = ["linear_ranking", "error_rate"]


def logistic(x: np.ndarray) -> np.ndarray:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))


def compared(y: np.ndarray, a: np.ndarray, b: np.ndarray, **options: object) -> cl.results.Comparison:
    return cl.compare(y, {"a": a, "b": b}, measures=BOTH, n_resamples=20, **{"threshold": 0.5, **options})


def world(
    rng: np.random.Generator, n: int, noise: tuple[float, float], shift: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two models that see one strength with noise; a threshold of 0.5 is right, unless the first is shifted."""
    strength = 1.5 * rng.normal(size=n)
    y = rng.random(n) < logistic(strength)
    first, second = (strength + size * rng.normal(size=n) for size in noise)
    return y, logistic(first + shift), logistic(second)


def by_hand(y: np.ndarray, a: np.ndarray, b: np.ndarray, threshold: float) -> dict[str, float]:
    """Every case, every pair and every cut, one by one."""
    counts = dict.fromkeys(("decisions_a", "decisions_b", "pairs_a", "pairs_b"), 0.0)
    for truth, one, two in zip(y, a > threshold, b > threshold, strict=True):
        counts["decisions_a"] += one != two and one == truth
        counts["decisions_b"] += one != two and two == truth
    for i, j in itertools.product(np.flatnonzero(y), np.flatnonzero(~y)):
        one, two = (0.5 + 0.5 * np.sign(score[i] - score[j]) for score in (a, b))
        counts["pairs_a"] += max(one - two, 0.0)
        counts["pairs_b"] += max(two - one, 0.0)
    return counts


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("levels", [2, 4, 10_000])
def test_crossings_and_switches_are_those_of_every_case_and_pair(seed: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    y = np.append([True, False], rng.random(n) < 0.4)
    a, b = (np.round(rng.random(n + 2) * levels) / levels for _ in range(2))
    found = compared(y, a, b, threshold=0.3).consistency("a", "b")
    expected = by_hand(y, a, b, 0.3)
    assert {name: getattr(found, name) for name in expected} == expected
    assert found.crossings == np.count_nonzero((a > 0.3) != (b > 0.3))
    other = cl.papers.selector_differences(y, b, a, threshold=0.3)
    assert (found.gain, found.pairs_a - found.pairs_b) == (other.misclassification, other.linear_ranking)
    turned = compared(y, b, a, threshold=0.3).consistency("a", "b")
    assert (turned.pairs_a, turned.beyond.value) == pytest.approx((found.pairs_b, -found.beyond.value))


def test_expectations_are_means_over_every_cut() -> None:
    rng = np.random.default_rng(3)
    y, a, b = world(rng, 60, (0.5, 1.5))
    found = compared(y, a, b).consistency("a", "b")
    crossings, gains = [], []
    for k in range(1, len(y) + 1):
        one, two = (np.argsort(np.argsort(-score)) < k for score in (a, b))
        crossings.append(np.count_nonzero(one != two))
        gains.append(np.count_nonzero(one == y) - np.count_nonzero(two == y))
    assert found.expected_crossings == pytest.approx(np.mean(crossings))
    assert found.expected_gain == pytest.approx(np.mean(gains))
    assert found.beyond.value == pytest.approx(found.gain - np.mean(gains))


def test_the_standard_error_is_that_of_the_bootstrap() -> None:
    y, a, b = world(np.random.default_rng(5), 400, (0.6, 1.2))
    found = compared(y, a, b).consistency("a", "b")
    drawn = []
    for rows in np.random.default_rng(6).integers(0, 400, (300, 400)):
        share, size = y[rows].mean(), len(rows)
        gain = cl.accuracy(y[rows], a[rows]) - cl.accuracy(y[rows], b[rows])
        order = cl.roc_auc(y[rows], a[rows]) - cl.roc_auc(y[rows], b[rows])
        drawn.append(size * (gain - 2 * share * (1 - share) * order))
    half = (found.beyond.high - found.beyond.low) / 2 / 1.96
    assert half == pytest.approx(np.std(drawn), rel=0.12)


def answers(noise: tuple[float, float], shift: float, n: int, samples: int) -> list[str]:
    rng = np.random.default_rng(8)
    return [compared(*world(rng, n, noise, shift)).consistency("a", "b").verdict for _ in range(samples)]


def test_the_test_keeps_its_level_and_finds_a_shifted_threshold() -> None:
    agree = answers((0.6, 1.2), 0.0, 150, 300)
    assert agree.count("no") <= 0.05 * 300  # 2 to 4% in benchmarks/consistency.py
    assert agree.count("yes") >= 0.25 * 300
    shifted = answers((0.6, 1.2), 2.5, 150, 60)
    assert shifted.count("no") >= 0.7 * 60
    assert shifted.count("yes") <= 0.05 * 60


def test_the_same_order_cannot_decide() -> None:
    y = np.tile([True, True, False, False], 20)
    a = np.tile([0.9, 0.45, 0.3, 0.2], 20)
    found = compared(y, a, a + 0.1).consistency("a", "b")
    assert (found.switches, found.crossings, found.verdict) == (0.0, 20, "no")
    assert "order positives and negatives alike and decide 20 cases differently" in found.sentence
    same = compared(y, a, a).consistency("a", "b")
    assert (same.switches, same.crossings, same.p_value, same.verdict) == (0.0, 0, 1.0, "no")


def test_clusters_widen_the_test() -> None:
    rng = np.random.default_rng(9)
    y, a, b = (np.repeat(column, 4) for column in world(rng, 80, (0.6, 1.2)))
    alone, together = (compared(y, a, b, clusters=c).consistency("a", "b") for c in (None, np.arange(320) // 4))
    assert together.beyond.high - together.beyond.low > 1.7 * (alone.beyond.high - alone.beyond.low)
    assert together.crossings == alone.crossings


def test_a_recommendation_tells_whether_the_ranking_may_decide() -> None:
    y, a, b = world(np.random.default_rng(7), 300, (0.6, 1.2))
    cmp = compared(y, a, b)
    said = cmp.recommend("fewest errors")
    assert said.consistency is not None
    assert said.verdict.status == "cannot tell"
    assert said.consistency.verdict == "yes"
    assert said.text.startswith("cannot tell yet by the decisions alone. a:")
    assert f"{said.consistency.sentence}. Why this measure" in said.text
    assert said.to_dict()["consistency"]["verdict"] == "yes"
    shifted = compared(*world(np.random.default_rng(21), 600, (0.6, 1.2), 2.5)).recommend("fewest errors")
    assert (shifted.model, shifted.sure, shifted.consistency.verdict) == ("b", False, "no")
    weighted = compared(y, a, b, sample_weight=np.full(300, 2.0)).recommend("fewest errors")
    assert weighted.consistency is None
    assert "The ranking agrees" in weighted.text


def test_measures_are_added_and_results_travel() -> None:
    y, a, b = world(np.random.default_rng(10), 300, (0.6, 1.2))
    cmp = cl.compare(y, {"a": a, "b": b}, measures=["pem"], threshold=0.5, n_resamples=20)
    found = cmp.consistency("a", "b")
    assert found.to_dict() == compared(y, a, b).consistency("a", "b").to_dict()
    content = json.loads(found.to_json())
    assert content["answer"][0] == f"{found.sentence}."
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_weight": np.full(300, 2.0)}, "counts pairs of rows"),
        ({"prevalence": 0.1}, "counts pairs of rows"),
        ({"batch": np.arange(300) % 5}, "needs one whole list"),
        ({"interval": None}, "needs differences with intervals"),
    ],
)
def test_what_cannot_be_counted_is_an_error(options: dict[str, object], message: str) -> None:
    y, a, b = world(np.random.default_rng(10), 300, (0.6, 1.2))
    with pytest.raises(cl.InputError, match=message):
        compared(y, a, b, **options).consistency("a", "b")


def test_a_threshold_and_known_models_are_needed() -> None:
    y, a, b = world(np.random.default_rng(10), 300, (0.6, 1.2))
    with pytest.raises(cl.InputError, match="threshold is missing; give threshold"):
        cl.compare(y, {"a": 9 * a, "b": 9 * b}, measures=["pem"], n_resamples=20).consistency("a", "b")
    with pytest.raises(cl.InputError, match="there is no model 'c'"):
        compared(y, a, b).consistency("a", "c")
    with pytest.raises(cl.InputError, match="there is no pair of models"):
        compared(y, a, b).consistency("a", "a")


def test_two_cases_leave_the_test_open() -> None:
    told = cl.compare([1, 0], {"a": [0.9, 0.1], "b": [0.1, 0.9]}).consistency("a", "b")
    assert np.isnan(told.beyond.low)
    assert "interval" not in str(told)

"""Which model for which goal, in words: the measure, the doubt, and the cases that would settle it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import cutline as cl
from cutline.decide.model_choice import GOALS
from cutline.estimate import Estimate
from cutline.inference.differences import DifferenceTest
from cutline.verdict import differences_of, verdict_of
from test_compare import data

MEASURE = {
    "known quota": "hit_rate@90",
    "unknown quota": "pem",
    "no missed positives": "average_qrecall",
    "no wasted places": "average_hit_rate",
    "probabilities needed": "brier_score",
    "rare positives": "average_precision",
    "fewest errors": "error_rate",
}


def probable(rng: np.random.Generator, y: np.ndarray, strength: float) -> np.ndarray:
    return ndtr(strength * (y - 0.5) + 0.6 * rng.normal(size=len(y)))


@pytest.fixture(scope="module")
def clear() -> cl.results.Comparison:
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.35).astype(int)
    models = {"weak": probable(rng, y, 0.3), "strong": probable(rng, y, 2.5), "fair": probable(rng, y, 0.7)}
    return cl.compare(y, models, quota=90, n_resamples=400)


@pytest.fixture(scope="module")
def unclear() -> cl.results.Comparison:
    y, models = data(3, 120, m=2, gap=0.05)
    return cl.compare(y, models, quota=90, n_resamples=400)


def test_goals_are_all_known() -> None:
    assert list(GOALS) == list(MEASURE)


@pytest.mark.parametrize("goal", MEASURE)
def test_a_clear_winner_is_named_with_its_measure(clear: cl.results.Comparison, goal: str) -> None:
    said = clear.recommend(goal)
    assert (said.goal, said.measure, said.model) == (goal, MEASURE[goal], "strong")
    assert said.sure
    assert said.rival is None
    assert said.verdict.cases_needed is None
    assert said.text.startswith("strong: ")
    assert "the differences from weak and fair are statistically significant" in said.text
    assert "Why" in said.text
    assert str(said) == said.text
    assert goal in repr(said)


@pytest.mark.parametrize("goal", MEASURE)
def test_doubt_is_said_with_the_rival_and_the_cases_needed(unclear: cl.results.Comparison, goal: str) -> None:
    said = unclear.recommend(goal)
    assert not said.sure
    assert said.text.startswith("cannot tell yet")
    best = unclear.best(said.measure)
    assert (said.model, said.rival) == (best, "m1" if best == "m0" else "m0")
    row = unclear.difference(said.model, said.rival, said.measure)
    assert row.verdict == "cannot tell"
    assert said.verdict.cases_needed is None  # the models cannot be told from equal: no number of cases can be named
    assert "power" not in said.text


def test_a_margin_names_the_cases_needed_for_it(unclear: cl.results.Comparison) -> None:
    said = replace(unclear, margin=0.02).recommend("unknown quota")
    row = unclear.difference(said.model, said.rival or "", said.measure)
    expected = 120 * ((1.959964 + 0.841621) * row.standard_error / 0.02) ** 2
    assert said.verdict.cases_needed == pytest.approx(expected)
    assert "to detect a difference of 0.0200 (80% power)" in said.text
    assert "80% power" in said.text


def test_without_a_margin_the_number_is_for_the_observed_difference() -> None:
    """Told apart by a single comparison, not by ten at once: from the standard error, and for which case."""
    tested = DifferenceTest(0.002, 0.098, 0.0245, 0.04, "made up", 30.0)
    pairs = [("a", "b", 0.05, tested)] + [("a", k, 0.2, tested._replace(p_value=0.001)) for k in "cdefghij"]
    found = differences_of("pem", "higher", pairs, 0.95, None, 400)
    verdict = verdict_of("which", "pem", "a", Estimate("pem", 0.5), list("abcdefghij"), found)
    assert (verdict.status, verdict.needs["cases_needed_for"]) == ("clear", None)  # the last step of Holm
    pairs = [("a", "b", 0.05, tested), ("a", "c", 0.06, tested._replace(standard_error=0.03))]
    found = differences_of("pem", "higher", pairs, 0.95, None, 400)
    verdict = verdict_of("which", "pem", "a", Estimate("pem", 0.5), list("abc"), found)
    assert verdict.status == "cannot tell"
    needed = verdict.cases_needed
    assert needed is not None
    middle = 400 * ((ndtri(1 - 0.05 / 4) + ndtri(0.8)) * 0.0245 / 0.05) ** 2  # of b, which the sentence is about
    assert needed == pytest.approx(middle)
    assert verdict.sentence.startswith("ahead of b, ")
    assert "to detect a difference of the observed size from b" in verdict.sentence
    assert verdict.to_dict()["cases_needed"] == needed
    crossing = tested._replace(low=-0.01, p_value=0.06)
    equal = differences_of("pem", "higher", [("a", "b", 0.05, crossing)], 0.95, None, 400)
    doubt = verdict_of("which", "pem", "a", Estimate("pem", 0.5), list("ab"), equal)
    assert doubt.cases_needed is None
    assert "you would need" not in doubt.sentence


def test_the_level_counts_in_the_cases_needed() -> None:
    y, models = data(3, 120, m=2, gap=0.05)
    found = []
    for level in (0.8, 0.95, 0.99):
        cmp = cl.compare(y, models, measures=["pem"], level=level, margin=0.02, n_resamples=20)
        needed = cmp.verdict("pem").cases_needed
        assert needed is not None
        found.append(needed)
    z = [ndtri(0.5 + level / 2) + ndtri(0.8) for level in (0.8, 0.95, 0.99)]
    assert np.array(found) / found[0] == pytest.approx(np.array(z) ** 2 / z[0] ** 2)


def test_equal_models_are_given_no_number() -> None:
    """Without a margin: of a hundred equal pairs none is said to need so many cases."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        y = np.arange(80) % 3 == 0
        models = {name: y + rng.normal(size=80) for name in "ab"}
        assert cl.compare(y, models, measures=["pem"], n_resamples=2).verdict("pem").cases_needed is None


def test_the_cases_needed_do_settle_it() -> None:
    """Samples of the size that was asked for: the test then finds the difference in about 80% of them."""
    strength, other, spread = 1.2, 0.9, 0.7

    def sample(rng: np.random.Generator, n: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        y = (rng.random(n) < 0.4).astype(int)
        shared = rng.normal(size=n)
        return y, {name: k * y + shared + spread * rng.normal(size=n) for name, k in (("a", strength), ("b", other))}

    # the power estimate from a large pilot, free of its own noise
    y, models = sample(np.random.default_rng(1), 40_000)
    pilot = cl.compare(y, models, measures=["pem"], n_resamples=2)
    row = pilot.difference("a", "b", "pem")
    needed = 40_000 * ((1.959964 + 0.841621) * row["standard_error"] / row["difference"]) ** 2
    assert 100 < needed < 5000
    found = 0
    for seed in range(200):
        y, models = sample(np.random.default_rng(100 + seed), round(needed))
        found += cl.compare(y, models, measures=["pem"], n_resamples=2).difference("a", "b", "pem")["p_value"] < 0.05
    assert 0.7 <= found / 200 <= 0.9


def test_no_number_of_cases_is_named_for_equal_models() -> None:
    y, models = data(3, 60, m=1)
    cmp = cl.compare(y, {"a": models["m0"], "b": models["m0"]}, quota=10, n_resamples=50)
    said = cmp.recommend("unknown quota")
    assert (said.model, said.rival, said.sure, said.verdict.cases_needed) == ("a", "b", False, None)
    assert "tied with b" in said.text


def test_the_only_model_is_recommended() -> None:
    y, models = data(3, 60, m=1)
    said = cl.compare(y, models, quota=10, n_resamples=50).recommend("known quota")
    assert (said.model, said.sure, said.rival) == ("m0", True, None)
    assert "only model" in said.text


def test_goals_can_want_different_models() -> None:
    """Sure at the top, lost at the end; against calm throughout: wasted places and missed positives disagree."""
    y = np.array([1] * 8 + [0] * 32)
    sharp = np.r_[np.arange(100, 94, -1), 1.5, 2.5, np.arange(50, 18, -1)]  # six on top, two at the bottom
    calm = np.r_[np.arange(92, 84, -1), 100, 99, 98, np.arange(50, 21, -1)]  # all eight behind three negatives
    cmp = cl.compare(y, {"sharp": sharp, "calm": calm}, quota=5, n_resamples=100)
    assert cmp.recommend("known quota").model == "sharp"
    assert cmp.recommend("no wasted places").model == "sharp"
    assert cmp.recommend("no missed positives").model == "calm"
    assert cmp.recommend("unknown quota").model == "calm"


def test_doubt_remains_with_one_equal_rival_among_weaker_models() -> None:
    rng = np.random.default_rng(5)
    y = (rng.random(300) < 0.4).astype(int)
    strong = probable(rng, y, 2.0)
    models = {
        "weak": probable(rng, y, 0.1),
        "strong": strong,
        "twin": np.clip(strong + 1e-3 * rng.normal(size=300), 0, 1),
    }
    said = cl.compare(y, models, quota=30, n_resamples=200).recommend("unknown quota")
    assert not said.sure
    assert {said.model, said.rival} == {"strong", "twin"}


def test_refusals() -> None:
    y, models = data(3, 60)
    cmp = cl.compare(y, models, n_resamples=5)
    with pytest.raises(cl.InputError, match="known quota, unknown quota"):
        cmp.recommend("best")
    with pytest.raises(cl.InputError, match=r"pass quota=…"):
        cmp.recommend("known quota")


def test_a_measure_that_was_not_compared_is_compared_for_the_goal() -> None:
    rng = np.random.default_rng(1)
    y = rng.random(300) < 0.3
    models = {"a": y + rng.normal(size=300), "b": rng.normal(size=300)}
    few = cl.compare(y, models, measures=["roc_auc"], n_resamples=50)
    all_of_them = cl.compare(y, models, quota="20-60", n_resamples=50)
    said = few.recommend("quota between 20 and 60")
    assert said.model == "a"
    assert said.verdict.value.value == all_of_them["a"]["hit_rate"].value
    assert few.recommend("rare positives").measure == "average_precision"
    assert list(few.recommendations) == []  # nothing that was not asked for
    assert few.with_measures("pem").differences[0]["measure"] == "pem"


def test_a_tied_linear_ranking_does_not_contradict() -> None:
    """Models in another order of columns: the fewest errors by b, and the ranking of both is one."""
    y = np.array([1, 1, 1, 0, 0, 0] * 20)
    score = np.tile([0.9, 0.8, 0.45, 0.3, 0.2, 0.1], 20)
    cmp = cl.compare(y, {"a": score, "b": score + 0.1}, measures=["error_rate", "linear_ranking"], n_resamples=20)
    found = cmp.recommend("fewest errors")
    assert found.model == "b"
    assert found.support is not None
    assert (found.support.best, found.support.status) == ("a", "level")
    assert not found.contradicted
    assert "But the ranking" not in found.text

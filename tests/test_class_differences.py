"""Differences between models of several classes: judged as those of two classes, whatever made the losses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.test_classes import forest

import cutline as cl
from cutline.catalogue.declare import parse_measure

LOSSES = ["log_loss(eps=0.01)", "brier_score", "ranked_probability_score", "information_score"]


def probabilities(y: np.ndarray, of_class: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Rows that give the real class a probability; the others share the rest by chance."""
    rest = rng.dirichlet(np.ones(k - 1), len(y)) * (1.0 - of_class)[:, None]
    p = np.empty((len(y), k))
    for c in range(k):
        p[y == c] = np.insert(rest[y == c], c, of_class[y == c], axis=1)
    return p


def sure_against_vague(
    seed: int, n: int, measure: str, wrong: float = 0.01
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Two models of one mean loss: sure, and wrong in 1% of the cases; and a little wrong in all of them."""
    rng = np.random.default_rng([seed, n])
    y, sure, low = np.arange(n) % 3, 0.998, 0.001
    of_class = np.where(rng.random(n) < wrong, low, sure)
    other = np.where(of_class == low, (y + 1) % 3, y)
    first = np.full((n, 3), low)
    first[np.arange(n), other] = sure

    def mean_of(of_right: float, of_wrong: float) -> np.ndarray:
        return ((1.0 - wrong) * of_right + wrong * of_wrong) * rng.uniform(0.9, 1.1, n)

    if measure == "brier_score":
        least, most = ((sure - 1.0) ** 2 + 2.0 * low**2, (low - 1.0) ** 2 + sure**2 + low**2)
        second = np.full((n, 3), 0.5 * np.sqrt(mean_of(least, most) / 1.5)[:, None])
        second[np.arange(n), y] = 1.0 - 2.0 * second[:, 0]
    elif (
        measure == "ranked_probability_score"
    ):  # all that is wrong goes to the class in the middle, or from it to the last
        far = np.arange(n) % 3 == 2  # whose next class is two away
        size = np.where(far, ((1 - low) ** 2 + sure**2) / 2, 0.5)
        share = np.sqrt(2.0 * mean_of(low**2, float(size.mean())))
        second = np.zeros((n, 3))
        second[np.arange(n), y] = 1.0 - share
        second[np.arange(n), np.where(y == 1, 2, 1)] += share
    else:
        lost = -math.log(sure), -math.log(0.01)
        if measure == "information_score":  # what a share below the prior costs, of the entropy in nats
            lost = lost[0], math.log(3.0) - math.log(2.0 / 3.0) + math.log(1.0 - low)
        second = probabilities(y, np.exp(-mean_of(*lost)), 3, rng)
    return y, {"sure": first, "vague": second}


@pytest.mark.parametrize("measure", LOSSES)
@pytest.mark.parametrize("n", [35, 100])
def test_rare_large_losses_do_not_make_equal_models_of_several_classes_differ(measure: str, n: int) -> None:
    """Most samples show no large loss: both models' own intervals alone called 30 to 75 of 100 such pairs different."""
    apart = 0
    for seed in range(30):
        y, models = sure_against_vague(seed, n, measure)
        row = cl.compare(y, models, ordered=True, classes=range(3), measures=[measure]).differences[0]
        apart += row["p_value"] <= 0.05
        assert (row["p_value"] <= 0.05) == (row["low"] > 0 or row["high"] < 0)
    assert apart <= 2


def test_two_losses_of_35_do_not_make_a_lead_clear() -> None:
    """A tree that is always sure and wrong twice, where the other model is wrong, too: p was 2e-11."""
    y = np.arange(35) % 7
    tree, other = (np.eye(7)[y] * 1.0 for _ in "ab")
    for row, said in ((3, 5), (17, 6)):
        tree[row] = np.eye(7)[said]
        other[row] = 0.9 * np.eye(7)[said] + 0.1 * np.eye(7)[y[row]]
    other[8] = 0.8 * np.eye(7)[1] + 0.2 * np.eye(7)[2]
    measure = "log_loss(eps=0.01)"
    row = cl.compare(y, {"tree": tree, "other": other}, classes=range(7), measures=[measure]).differences[0]
    assert row["difference"] == pytest.approx((2 * math.log2(10) + math.log2(0.8)) / 35)
    assert row["verdict"] == "cannot tell"
    assert row["p_value"] > 0.2
    assert row["low"] < -0.02


@pytest.mark.parametrize("rare", [False, True])
def test_two_classes_in_a_matrix_are_compared_as_one_score_is(rare: bool) -> None:
    rng = np.random.default_rng(4)
    y = rng.random(150) < 0.4
    common = rng.normal(size=150)
    one, two = (1 / (1 + np.exp(-(2.5 * y - 1.2 + common + 0.4 * rng.normal(size=150)))) for _ in "ab")
    one = np.abs(~y - rng.uniform(0.98, 0.999, 150)) if rare else one
    scores = {"a": one, "b": two}
    matrices = {name: np.column_stack((1 - s, s)) for name, s in scores.items()}
    pairs = {"brier_score": "brier_score(half=True)", "log_loss": "log_loss(eps=1e-5)"}
    several = [*pairs.values(), "ranked_probability_score", "relative_information_score"]
    of_score = cl.compare(y, scores, measures=[*pairs, "relative_information_score"])
    of_classes = cl.compare(y * 1, matrices, classes=[0, 1], ordered=True, measures=several)
    for here, there in [*pairs.items(), ("brier_score", "ranked_probability_score")]:
        want, found = of_score.difference("a", "b", here), of_classes.difference("a", "b", there)
        for part in ("difference", "low", "high", "standard_error", "p_value"):
            assert found[part] == pytest.approx(want[part], rel=1e-6), (there, part)
        for name in scores:
            assert of_classes[name][there].interval == pytest.approx(of_score[name][here].interval, rel=1e-9)
            assert of_classes[name][there].method == of_score[name][here].method == "loss_score"
    want, found = (c.difference("a", "b", "relative_information_score") for c in (of_score, of_classes))
    assert found["high"] - found["low"] == pytest.approx(want["high"] - want["low"], rel=0.15)


@pytest.mark.parametrize("measure", ["log_loss", "log_loss(base=10, eps=0.2)", "brier_score", "brier_score(half=True)"])
def test_what_each_class_would_lose_is_the_loss_if_it_were_the_real_one(measure: str) -> None:
    _, p = forest(5, 4)
    spec = parse_measure(measure, several=True)
    every = spec.measure.case_loss(p, **{**spec.measure.params, **spec.arguments})  # type: ignore[misc]
    for row, k in np.ndindex(5, 4):
        alone = cl.evaluate([k], p[[row]], classes=range(4), measures=[measure], interval=None)[measure].value
        assert every[row, k] == pytest.approx(alone)


def test_what_each_ordered_class_would_lose_is_the_loss_if_it_were_the_real_one() -> None:
    _, p = forest(5, 4)
    every = parse_measure("ranked_probability_score", several=True).measure.case_loss(p)  # type: ignore[misc]
    for row, k in np.ndindex(5, 4):
        assert every[row, k] == pytest.approx(cl.ranked_probability_score([k], p[[row]], classes=range(4)))


def test_an_interval_by_name_is_that_of_the_difference_or_refused() -> None:
    """It was that of each model, and the difference combined both whatever the name."""
    from scipy.stats import bootstrap, norm

    y, p = forest(150, 3)
    q = forest(150, 3, seed=4, strength=1.2)[1]

    def found(how: Any, **more: Any) -> Any:
        models = {"a": p, "b": q}
        return cl.compare(y, models, measures=["log_loss", "accuracy"], interval=how, **more).difference(
            "a", "b", "log_loss"
        )

    gap = np.log2(q[np.arange(150), y]) - np.log2(p[np.arange(150), y])
    for how in ("percentile", "bootstrap", "basic", "bca"):
        row = found(how, n_resamples=2000, progress=False)
        want = bootstrap((gap,), np.mean, method="percentile", n_resamples=4000, rng=1).confidence_interval
        assert row["method"] == "paired bootstrap"
        assert (row["low"], row["high"]) == pytest.approx((want.low, want.high), abs=0.07 * (want.high - want.low))
    row, error = found("delta"), gap.std(ddof=1) / math.sqrt(150)
    assert row["method"] == "delta"
    assert row["p_value"] == pytest.approx(2 * norm.sf(abs(gap.mean()) / error), rel=1e-6)
    assert (row["low"], row["high"]) == pytest.approx((gap.mean() - 1.959964 * error, gap.mean() + 1.959964 * error))
    assert math.isnan(found(None)["p_value"])
    for how in ("wilson", "jeffreys"):
        with pytest.raises(cl.InputError, match="which no difference between models has"):
            found(how)


def test_few_large_clusters_need_students_t_and_very_few_are_told() -> None:
    from scipy.stats import t

    rng = np.random.default_rng(1)
    y, p = forest(300, 3)
    q = forest(300, 3, seed=4, strength=1.0)[1]
    cluster = np.minimum(np.floor(1.0 / rng.random(300)), 15).astype(int)  # half of the rows in one of them
    row = cl.compare(y, {"a": p, "b": q}, clusters=cluster, measures=["log_loss"]).difference("a", "b", "log_loss")
    alike = 300**2 / np.sum(np.bincount(cluster) ** 2.0)
    assert row["p_value"] >= 2 * t.sf(abs(row["difference"] / row["standard_error"]), alike - 1) * (1 - 1e-9)
    four = cl.compare(y, {"a": p, "b": q}, clusters=np.arange(300) % 4, measures=["log_loss"])
    assert four.difference("a", "b", "log_loss").note == "4 clusters are too few for a test at the 95% level"


def test_models_that_are_one_by_a_measure_are_told_so() -> None:
    y, p = forest(60, 3)
    cmp = cl.compare(y, {"a": p, "b": p / 2}, measures=["hand_till_auc", "accuracy"], margin=0.01)
    assert [row["reading"] for row in cmp.differences] == ["equivalent", "equivalent"]
    perfect = {"a": np.eye(3)[y], "b": 0.8 * np.eye(3)[y] + 0.2 / 3}
    row = cl.compare(y, perfect, measures=["accuracy"]).differences[0]
    assert (row["p_value"], row["method"]) == (1.0, "mover, exact McNemar p")
    assert row["low"] < -0.05 < 0.05 < row["high"]


def test_a_class_without_cases_or_chance_leaves_the_intervals_of_information_alone() -> None:
    y, p = forest(60, 3)
    q = np.column_stack((p, np.zeros(60)))
    of_three = cl.evaluate(y, p, classes=range(3), measures=["information_score"])["information_score"]
    of_four = cl.evaluate(y, q, classes=range(4), measures=["information_score"])["information_score"]
    assert of_four.value == pytest.approx(of_three.value)
    assert of_four.interval == pytest.approx(of_three.interval, rel=1e-6)

"""Selection power: the values on many small test sets, the credit for wins, and what the result says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cutline as cl
from cutline.catalogue.declare import parse_measure
from cutline.papers import SelectionPower, judge_sets, selection_power


def simulate(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    x = rng.normal(size=n)
    return x, rng.random(n) < 1 / (1 + np.exp(-x))


def squashed(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def coarse(x: Any) -> Any:
    return np.round(squashed(x), 1)


EVERY = [
    m.name + ("@7" if m.needs_quota else "")
    for m in cl.measures()
    if m.of_one_score and m.name not in ("ranking_score", "f_beta", "bedroc")
] + [
    "f_beta(beta=2)",
    "bedroc(alpha=20)",
    "bedroc(alpha=20, ties='best')",
    "bedroc(alpha=20, ties='worst')",
    "focal_loss(gamma=1)",
    "recall(threshold=0.3)",
    "qrecall@20%",
]
TIED = [
    f"{m.name}(ties='{ties}')"
    for m in cl.measures("ranking")
    if m.tie_rule and m.name not in ("ranking_score", "bedroc")
    for ties in ("best", "worst")
]


@pytest.mark.filterwarnings("ignore::cutline.UndefinedWarning")
@pytest.mark.parametrize("measure", EVERY + TIED)
def test_every_set_gets_the_value_of_a_direct_call(measure: str) -> None:
    rng = np.random.default_rng(3)
    score = np.round(rng.random((12, 30)), 1)  # many ties, some zeros and ones
    positive = rng.random((12, 30)) < 0.4
    spec = parse_measure(measure)
    found = judge_sets(positive, score, [spec])[spec]
    options = {**spec.arguments, **({"quota": spec.quota} if spec.quota is not None else {})}
    if spec.threshold is not None:
        options["threshold"] = spec.threshold
    if spec.ties != "expected":
        options["ties"] = spec.ties
    direct = [getattr(cl, spec.measure.name)(y, s, **options) for y, s in zip(positive, score, strict=True)]
    assert found == pytest.approx(direct, rel=1e-9, abs=1e-12, nan_ok=True)
    assert np.isfinite(found).any()


def test_sets_with_one_class_have_no_value() -> None:
    spec = parse_measure("roc_auc")
    values = judge_sets(np.array([[True, True], [True, False]]), np.array([[0.2, 0.4], [0.9, 0.1]]), [spec])[spec]
    assert np.isnan(values[0])
    assert values[1] == 1.0


def test_same_seed_same_result_on_any_number_of_threads() -> None:
    models = {"a": squashed, "b": coarse}
    runs = [
        selection_power(simulate, models, ["roc_auc", "accuracy"], better="a", n_rounds=6, n_sets=20, n_jobs=jobs)
        for jobs in (1, 2)
    ]
    assert np.array_equal(runs[0].picked, runs[1].picked)
    other = selection_power(simulate, models, ["roc_auc", "accuracy"], better="a", n_rounds=6, n_sets=20, seed=1)
    assert not np.array_equal(runs[0].picked, other.picked)


def test_wins_are_counted_by_hand() -> None:
    """Four test sets of two cases: one won, one lost, one tied, one without positives."""
    y = np.array([1, 0, 1, 0, 1, 0, 0, 0])
    scores = {"m": np.array([2, 1, 1, 2, 2, 1, 2, 1]), "other": np.array([1, 2, 2, 1, 2, 1, 2, 1])}
    models = {name: lambda at, s=s: s[at] for name, s in scores.items()}
    keywords: dict[str, Any] = {"better": "m", "n_rounds": 1, "n_sets": 4, "set_size": 2}
    power = selection_power(lambda rng, n: (np.arange(n), y), models, ["roc_auc"], **keywords)
    assert power.won[0, 0] == 0.25
    assert power.shared[0, 0] == 0.25
    assert power["roc_auc"].value == 0.5
    assert power.counted("strict")["roc_auc"].value == 0.25
    assert power.undecided[0, 0] == 0.25
    assert power.mean("roc_auc", "m") == pytest.approx(2 / 3)


def test_a_lower_loss_wins() -> None:
    models = {"good": squashed, "flat": lambda x: np.full(len(x), 0.5)}
    power = selection_power(simulate, models, ["brier_score", "log_loss"], n_rounds=2, n_sets=50, set_size=200)
    assert power.better == "good"
    assert power["brier_score"].value > 0.95


def test_one_statistic_under_many_names_selects_alike() -> None:
    power = selection_power(simulate, {"a": squashed, "b": coarse}, None, better="a", n_rounds=3, quota=10)
    alike = ["roc_auc", "gini", "pem", "taks", "linear_ranking", "average_gain"]
    for name in alike[1:]:
        assert np.array_equal(power.picked[:, power.column(name)], power.picked[:, power.column(alike[0])])


def test_probability_measures_step_aside_for_other_scores() -> None:
    power = selection_power(simulate, {"a": lambda x: x, "b": np.round}, None, better="a", n_rounds=1, n_sets=5)
    assert "brier_score" not in power.measures
    assert "roc_auc" in power.measures
    with pytest.raises(cl.InputError, match="brier_score, which cannot be computed"):
        selection_power(simulate, {"a": lambda x: x, "b": np.round}, ["brier_score"], better="a", n_rounds=1)


def test_three_models_share_a_tie() -> None:
    models = dict.fromkeys("abc", squashed)
    power = selection_power(simulate, models, ["roc_auc"], better="b", n_rounds=2, n_sets=10)
    assert power["roc_auc"].value == pytest.approx(1 / 3)
    assert power.counted("strict")["roc_auc"].value == 0


def trained(rng: np.random.Generator) -> dict[str, Any]:
    shift = rng.normal(0, 0.5)
    return {"good": squashed, "noisy": lambda x: squashed(x + shift * np.sin(20 * x) * 3)}


def test_retrained_models_give_intervals_over_rounds() -> None:
    power = selection_power(simulate, trained, ["roc_auc", "accuracy"], better="good", n_rounds=30)
    one = power["roc_auc"]
    assert one.method == "t over rounds"
    assert one.low < one.value < one.high
    spread = power.picked[:, 0].std(ddof=1) / np.sqrt(30)
    assert one.high - one.value == pytest.approx(2.045 * spread, rel=1e-3)
    assert power.difference("roc_auc", "accuracy").value == pytest.approx(one.value - power["accuracy"].value)
    fixed = selection_power(simulate, {"a": squashed, "b": coarse}, ["roc_auc"], better="a", n_rounds=2)
    assert fixed["roc_auc"].method == "clopper_pearson"


def test_table_is_sorted_and_complete() -> None:
    power = selection_power(simulate, {"a": squashed, "b": coarse}, ["accuracy", "roc_auc"], better="a", n_rounds=3)
    shares = power.table.column("picks the better")
    assert shares == sorted(shares, reverse=True)
    assert set(power.table.column("measure")) == {"accuracy", "roc_auc"}
    assert "roc_auc" in repr(power)
    assert isinstance(power, SelectionPower)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"wins": "most"}, "wins is 'most'"),
        ({"n_sets": 0}, "n_sets must be"),
        ({"better": "c"}, "which is not a model"),
        ({"measures": ["ranking_score(g=1)"]}, "cannot be read from many test sets|g"),
        ({"models": {}}, "models is {}"),
        ({"models": {"a": lambda x: x * np.nan, "b": squashed}}, "model 'a'"),
        ({"simulate": lambda rng, n: simulate(rng, n - 1)}, "simulate gave"),
    ],
)
def test_bad_input_is_named(change: dict[str, Any], message: str) -> None:
    call: dict[str, Any] = {"simulate": simulate, "models": {"a": squashed, "b": coarse}, "measures": ["roc_auc"]}
    call |= {"better": "a", "n_rounds": 1, "n_sets": 2, "set_size": 10} | change
    with pytest.raises(cl.InputError, match=message):
        selection_power(**call)


def test_unknown_measure_of_the_result_is_named() -> None:
    power = selection_power(simulate, {"a": squashed, "b": coarse}, ["roc_auc"], better="a", n_rounds=1, n_sets=2)
    with pytest.raises(cl.InputError, match="which was not judged"):
        power["pem"]


def test_rows_of_ones_own_test_set_are_resampled() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.3
    good, poor = y + 0.8 * rng.normal(size=400), y + 2.5 * rng.normal(size=400)
    options = {"n_rounds": 4, "n_sets": 50, "set_size": 60, "goal": "roc_auc"}
    power = cl.papers.selection_power(y, {"poor": poor, "good": good}, ["roc_auc", "accuracy"], **options)
    assert power.better == "good"
    assert power["roc_auc"].value > 0.9

    def simulate(generator: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        rows = generator.integers(0, 400, n)
        return rows, y[rows]

    models = {"poor": lambda rows: poor[rows], "good": lambda rows: good[rows]}
    same = cl.papers.selection_power(simulate, models, ["roc_auc", "accuracy"], **options)
    assert np.array_equal(same.picked, power.picked)
    few = cl.papers.selection_power(y, {"poor": poor, "good": good}, ["roc_auc"], **{**options, "set_size": 15})
    assert few["roc_auc"].value < power["roc_auc"].value
    words = np.where(y, "yes", "no")
    named = cl.papers.selection_power(words, {"poor": poor, "good": good}, ["roc_auc"], pos_label="yes", **options)
    assert named["roc_auc"].value == power["roc_auc"].value


def test_a_test_set_of_ones_own_is_checked() -> None:
    with pytest.raises(cl.InputError, match="at least two models"):
        cl.papers.selection_power([1, 0], {"a": [1, 2]})
    with pytest.raises(cl.InputError, match="model 'b'"):
        cl.papers.selection_power([1, 0], {"a": [1, 2], "b": [1, 2, 3]})
    with pytest.raises(cl.InputError, match="pass its scores"):
        cl.papers.selection_power([1, 0], {"a": [1, 2], "b": len})
    with pytest.raises(cl.InputError, match="pos_label goes with"):
        cl.papers.selection_power(lambda rng, n: None, {"a": len, "b": len}, pos_label=1)


def test_a_share_that_floats_cannot_hold_counts_all_its_wins() -> None:
    """0.29 · 100 is 28.999…96 as a float: 29 wins, not 28."""
    from cutline.papers import SelectionPower

    spec = cl.evaluate([1, 0], [0.9, 0.1], measures=["roc_auc"], interval=None).specs["roc_auc"]
    one = np.array([[0.29]])
    made = SelectionPower(["a", "b"], "a", (spec,), one, 0 * one, np.zeros((1, 2, 1)), 0 * one, 100, 10, False)
    low, high = cl.proportion_interval(29, 100, method="clopper_pearson")
    assert made["roc_auc"].interval == pytest.approx((low, high))

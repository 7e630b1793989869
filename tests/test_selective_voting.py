"""Selective voting: the order of the models, the means of the best, their marks, and data to order on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutline as cl
from cutline.present.figures import voting
from samples import quietly

Y = [1, 0, 1, 0, 1, 0]
GOOD = [6, 1, 5, 2, 4, 3]  # perfect
FAIR = [6, 5, 4, 3, 2, 1]
POOR = [1, 6, 2, 5, 3, 4]  # reversed


def test_by_hand() -> None:
    v = cl.papers.selective_voting(Y, {"poor": POOR, "fair": FAIR, "good": GOOD}, marks=["roc_auc"])
    assert v.order == ["good", "fair", "poor"]
    assert v.marks.column("models") == [1, 2, 3]
    assert v.marks.column("added") == ["good", "fair", "poor"]
    means = [GOOD, np.mean([GOOD, FAIR], axis=0), np.mean([GOOD, FAIR, POOR], axis=0)]
    assert v.marks.column("roc_auc") == pytest.approx([cl.roc_auc(Y, mean) for mean in means])
    assert v.optimum.to_dicts() == [{"mark": "roc_auc", "models": 1, "value": 1.0, "tied": ""}]


def test_a_mean_can_beat_every_member() -> None:
    """Each model is wrong about another row: only the mean of all three is right everywhere."""
    models = {name: list(Y) for name in "abc"}
    for row, (name, wrong) in enumerate(zip("abc", (-0.4, 1.4, -0.5), strict=True)):
        models[name][row] = wrong
    v = cl.papers.selective_voting(Y, models, rank_by="roc_auc", marks=["roc_auc"])
    assert v.optimum[0]["models"] == 3
    assert v.marks.column("roc_auc")[0] < v.marks.column("roc_auc")[2] == 1


def test_models_that_tie_keep_their_order() -> None:
    scaled = {"z": GOOD, "a": [10 * s for s in GOOD], "m": [s - 3 for s in GOOD]}
    assert cl.papers.selective_voting(Y, scaled, marks=["pem"]).order == ["z", "a", "m"]
    assert cl.papers.selective_voting(Y, {"a": GOOD, "z": GOOD}, marks=["pem"]).order == ["a", "z"]


def test_the_smallest_best_number_is_the_optimum() -> None:
    v = cl.papers.selective_voting(Y, {"a": GOOD, "b": GOOD, "c": POOR}, marks=["pem"])
    assert v.marks.column("pem")[:2] == [1, 1]
    assert v.optimum[0]["models"] == 1
    assert v.optimum[0]["tied"] == "1, 2, 3"
    once = cl.papers.selective_voting(Y, {"a": GOOD, "b": GOOD, "c": [-5 * s for s in GOOD]}, marks=["pem"])
    assert once.optimum[0]["tied"] == "1, 2"


def test_losses_are_ordered_and_best_by_their_least() -> None:
    probable = {"sure": [0.9, 0.1, 0.9, 0.1, 0.9, 0.1], "coy": [0.6, 0.4, 0.6, 0.4, 0.6, 0.4], "off": [0.5] * 6}
    v = cl.papers.selective_voting(Y, probable, rank_by="brier_score", marks=["brier_score"])
    assert v.order == ["sure", "coy", "off"]
    assert v.optimum[0] == {"mark": "brier_score", "models": 1, "value": pytest.approx(0.01), "tied": ""}


def test_order_on_other_data() -> None:
    """The order comes from the first data alone, the marks from the second alone."""
    then = ([0, 1, 1, 0], {"fair": [1, 4, 3, 2], "good": [4, 1, 2, 3]})  # there, fair is perfect and good reversed
    v = cl.papers.selective_voting(Y, {"good": GOOD, "fair": FAIR}, marks=["roc_auc"], order_on=then)
    assert v.order == ["fair", "good"]
    mean = np.mean([FAIR, GOOD], axis=0)
    assert v.marks.column("roc_auc") == pytest.approx([cl.roc_auc(Y, FAIR), cl.roc_auc(Y, mean)])
    same = cl.papers.selective_voting(
        Y, {"good": GOOD, "fair": FAIR}, marks=["roc_auc"], order_on=(Y, {"fair": FAIR, "good": GOOD})
    )
    assert same.order == ["good", "fair"]


def test_peeking_flatters() -> None:
    """Models that know nothing: the best of 30 looks good where it was chosen, and does not where it was not."""
    flattered, honest = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = [np.arange(80) % 2 for _ in range(2)]
        scores = [{f"m{k}": rng.random(80) for k in range(30)} for _ in range(2)]
        flattered.append(cl.papers.selective_voting(y[1], scores[1], marks=["roc_auc"]).marks[0]["roc_auc"])
        fair = cl.papers.selective_voting(y[1], scores[1], marks=["roc_auc"], order_on=(y[0], scores[0]))
        honest.append(fair.marks[0]["roc_auc"])
    assert np.mean(flattered) > 0.6
    assert abs(np.mean(honest) - 0.5) < 0.05


def test_quota_of_the_marks() -> None:
    v = cl.papers.selective_voting(Y, {"good": GOOD, "fair": FAIR}, marks=["hit_rate", "hit_rate@2"], quota=5)
    assert v.marks[0]["hit_rate@5"] == pytest.approx(0.6)
    assert v.marks[0]["hit_rate@2"] == 1
    default = cl.papers.selective_voting(Y, {"good": GOOD})
    assert set(default.marks.columns) >= {"average_hit_rate", "average_qrecall", "pem", "quota_pearson@3"}


def test_correlation_by_hand_and_nan_for_constant_marks() -> None:
    v = cl.papers.selective_voting(
        Y, {"good": GOOD, "fair": FAIR, "poor": POOR}, marks=["roc_auc", "pem", "average_precision", "hit_rate@6"]
    )
    table = {row["mark"]: row for row in v.correlation}
    assert table["roc_auc"]["pem"] == pytest.approx(1)  # one number under two names
    columns = [v.marks.column(name) for name in ("roc_auc", "average_precision")]
    assert table["roc_auc"]["average_precision"] == pytest.approx(np.corrcoef(columns)[0, 1])
    assert table["average_precision"]["roc_auc"] == pytest.approx(table["roc_auc"]["average_precision"])
    assert set(v.marks.column("hit_rate@6")) == {0.5}
    assert all(math.isnan(table["hit_rate@6"][other]) for other in table)
    assert all(math.isnan(row["hit_rate@6"]) for row in table.values())


def test_one_model_is_itself() -> None:
    v = cl.papers.selective_voting(Y, {"only": FAIR}, marks=["pem"])
    assert v.marks.to_dicts() == [{"models": 1, "added": "only", "pem": pytest.approx(cl.pem(Y, FAIR))}]
    assert math.isnan(v.correlation[0]["pem"])


def test_undefined_marks_have_no_optimum() -> None:
    v = cl.papers.selective_voting(Y, {"flat": [1] * 6}, marks=["quota_pearson"], rank_by="roc_auc")
    assert v.optimum[0]["models"] is None
    assert math.isnan(v.optimum[0]["value"])


@given(st.integers(0, 10_000), st.integers(1, 6))
def test_marks_are_those_of_the_running_means(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.array([0, 1, *rng.integers(0, 2, 18)])
    models = {f"m{k}": rng.integers(0, 6, 20) / 4 for k in range(m)}  # sums of quarters are exact: ties stay ties
    v = cl.papers.selective_voting(y, models, rank_by="average_precision", marks=["average_qrecall", "hit_rate@4"])
    worth = [cl.average_precision(y, models[name]) for name in v.order]
    assert worth == sorted(worth, reverse=True)
    for x in range(1, m + 1):
        total = np.sum([models[name] for name in v.order[:x]], axis=0)
        assert v.marks[x - 1]["average_qrecall"] == pytest.approx(quietly(cl.average_qrecall, y, total / x))
        assert v.marks[x - 1]["hit_rate@4"] == pytest.approx(cl.hit_rate(y, total / x, quota=4))


def test_refusals() -> None:
    with pytest.raises(cl.InputError, match="at least one"):
        cl.papers.selective_voting(Y, {})
    with pytest.raises(cl.InputError, match="model 'b'"):
        cl.papers.selective_voting(Y, {"a": GOOD, "b": GOOD[:4]})
    with pytest.raises(cl.InputError, match="model 'b': row 2 is infinite"):
        cl.papers.selective_voting(Y, {"a": GOOD, "b": [1, 2, float("inf"), 3, 4, 5]})
    with pytest.raises(cl.InputError, match="same models"):
        cl.papers.selective_voting(Y, {"a": GOOD}, order_on=(Y, {"b": GOOD}))
    with pytest.raises(cl.InputError, match="cannot be ordered"):
        cl.papers.selective_voting(Y, {"a": [1] * 6}, rank_by="quota_pearson")


def crowd(seed: int, n: int = 200, m: int = 8) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    noise = np.linspace(1.0, 4.0, m)
    return y, {f"m{k}": y + noise[k] * rng.normal(size=n) for k in range(m)}


def test_the_chosen_vote_scores_new_rows() -> None:
    y, models = crowd(1)
    v = cl.papers.selective_voting(y, models, rank_by="roc_auc", marks=["roc_auc"], n_resamples=20)
    assert 1 <= v.voters <= 8
    assert v.score(models) == pytest.approx(v.scores)
    assert cl.roc_auc(y, v.scores) == pytest.approx(v.marks[v.voters - 1]["roc_auc"])
    fewer = {name: models[name] for name in v.order[: v.voters]}
    assert v.score({name: s[:3] for name, s in fewer.items()}) == pytest.approx(v.scores[:3])
    with pytest.raises(cl.InputError, match="models is"):
        v.score({})


def test_the_mark_to_expect_is_that_of_new_rows() -> None:
    """The best X on the sample flatters; the expected mark does not, over many samples."""
    looks, said, comes = [], [], []
    for seed in range(30):
        y, models = crowd(seed, 60, 12)
        v = cl.papers.selective_voting(y, models, rank_by="roc_auc", marks=["roc_auc"], n_resamples=30, seed=seed)
        looks.append(v.optimum[0]["value"])
        said.append(v.expected.value)
        new_y, new = crowd(1000 + seed, 3000, 12)
        comes.append(cl.roc_auc(new_y, v.score(new)))
    assert np.mean(looks) > np.mean(comes) + 0.01
    assert np.mean(said) == pytest.approx(np.mean(comes), abs=0.03)


def test_held_out_marks_have_a_band_and_the_chance_of_each_number() -> None:
    y, models = crowd(3)
    v = cl.papers.selective_voting(y, models, rank_by="roc_auc", marks=["roc_auc"], n_resamples=150)
    rows = v.held_out.to_dicts()
    assert [row["models"] for row in rows] == list(range(1, 9))
    assert max(rows, key=lambda row: row["roc_auc"])["models"] == v.voters
    assert all(row["low"] < row["roc_auc"] < row["high"] <= 1.0 for row in rows)
    assert sum(row["best"] for row in rows) == pytest.approx(1.0)
    # all numbers at once: wider than the interval of one evaluation, by no more than Bonferroni's eight
    one = cl.evaluate(y, models[v.order[0]], measures=["roc_auc"])["roc_auc"]
    assert 1.0 < (rows[0]["high"] - rows[0]["low"]) / (one.high - one.low) < 1.7
    best, ahead = (f"{rows[v.voters - 1][name]:.0%}" for name in ("best", "beats_1"))
    said = (
        f"On held-out rows, {v.voters} models came out best in {best} of the resamples, ahead of one model in {ahead}: "
    )
    assert v.doubt.startswith(said)
    assert f"{v.doubt}." in v.sections()[0].sentences


def test_equal_numbers_share_the_chance_of_being_best() -> None:
    y, models = crowd(4, m=2)
    v = cl.papers.selective_voting(y, {"a": models["m0"], "b": 2 * models["m0"]}, n_resamples=40)
    assert v.held_out.column("best") == [0.5, 0.5]
    assert v.optimum[0]["tied"] == "1, 2"
    assert v.voters == 1
    assert v.held_out.column("beats_1")[1] == 0.5
    assert v.doubt == "On held-out rows, 1 model (the same value as 2) came out best in 50% of the resamples"


def test_of_equal_numbers_the_one_most_often_best_is_chosen() -> None:
    """Hits are whole numbers, so that two numbers of models often find as many on the held-out rows."""
    for seed in range(40):
        y, models = crowd(seed, 120, 3)
        v = cl.papers.selective_voting(y, models, rank_by="hit_rate", marks=["hit_rate"], n_resamples=40, quota=20)
        held, best = v.held_out.column("hit_rate@20"), v.held_out.column("best")
        ties = [k for k in range(3) if held[k] == max(held)]
        assert best[v.voters - 1] == max(best[k] for k in ties)


def test_a_loss_is_best_where_it_is_least() -> None:
    y, _ = crowd(5)
    right = np.where(y, 0.8, 0.2)
    wrong = {"right": right, "other": 1.0 - right}
    v = cl.papers.selective_voting(y, wrong, rank_by="brier_score", marks=["brier_score"], n_resamples=40)
    assert v.held_out.column("best") == [1.0, 0.0]
    assert v.doubt.endswith("1 model came out best in 100% of the resamples")
    assert v.scales == {}  # a loss has no level by chance


def test_marks_have_a_scale_from_chance_to_perfect() -> None:
    y, models = crowd(6)
    v = cl.papers.selective_voting(y, models, n_resamples=5)
    n_pos, n = int(y.sum()), len(y)
    assert v.scales["average_qrecall"] == pytest.approx(((n + n_pos) / (2 * n), 1.0))
    assert v.scales[f"quota_pearson@{n_pos}"] == (0.0, 1.0)
    drawn = next(mark for mark in voting(v).marks if mark.words.startswith("average_hit_rate,"))
    first = cl.chance_adjusted("average_hit_rate", y, models[v.order[0]])
    assert drawn.y[0] == pytest.approx(first)


def test_too_few_of_a_class_leave_the_choice_open() -> None:
    v = cl.papers.selective_voting([1, 0, 0], {"a": [3, 2, 1], "b": [1, 2, 3]}, rank_by="roc_auc", marks=["roc_auc"])
    assert v.expected is None
    assert v.voters == 1


def test_bad_votes_are_refused() -> None:
    for options in ({"folds": 1}, {"rank_by": "nothing"}):
        with pytest.raises(cl.InputError):
            cl.papers.selective_voting(Y, {"a": GOOD}, **options)


def test_the_interval_of_one_model_is_as_long_as_that_of_its_evaluation() -> None:
    """Out-of-bag sets are a share 1/e of the rows, all different; without that 84 to 88 % of 95 % were covered."""
    ratios = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        y = rng.random(300) < 0.3
        s = rng.normal(size=300) + y
        one = cl.papers.selective_voting(
            y, {"a": s}, rank_by="roc_auc", marks=["roc_auc"], n_resamples=100, seed=seed
        ).expected
        other = cl.evaluate(y, s, measures=["roc_auc"])["roc_auc"]
        ratios.append((one.high - one.low) / (other.high - other.low))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.12)

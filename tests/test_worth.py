"""What a list is worth: sums of any column over the cases that a cut takes, with intervals for skewed amounts."""

from __future__ import annotations

import json
import os
import pickle
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import cutline as cl
from cutline.catalogue.value import best_possible
from cutline.commands.group import cli
from cutline.inference.limits import freedom_of
from cutline.inference.worth import Valued
from cutline.sources.arrays import make_sample

MEASURES = ["value_captured", "value_recall", "value_per_place"]
Y, S, V = [1, 0, 1, 0, 1], [0.9, 0.8, 0.5, 0.5, 0.1], [10.0, 7.0, 40.0, 3.0, 5.0]


def drawn(seed: int = 0, n: int = 800, share: float = 0.1, sigma: float = 1.0) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    worth = np.exp(sigma * rng.normal(size=n))
    return y, (1.5 * y + rng.normal(size=n)).round(1), worth, y + 1.5 * rng.normal(size=n)


def by_all_orders(y: Any, s: Any, v: Any, k: int) -> float:
    """The mean over all orders of the rows that keep the scores in order: ties by expectation, without a formula."""
    rows = range(len(y))
    orders = [o for o in permutations(rows) if all(s[a] >= s[b] for a, b in pairwise(o))]
    return float(np.mean([sum(v[i] * y[i] for i in order[:k]) for order in orders]))


def by_rows(y: Any, s: Any, v: Any, k: float, w: Any = None) -> tuple[float, float]:
    """Value captured and value recall by a loop over the tie groups, best first."""
    w = np.ones(len(y)) if w is None else w
    left, captured = float(k), 0.0
    for score in sorted(set(np.asarray(s).tolist()), reverse=True):
        group = np.asarray(s) == score
        size = w[group].sum()
        captured += min(1.0, left / size) * (w * v * y)[group].sum()
        left -= min(left, size)
    return captured, captured / (w * v * y).sum()


def test_by_hand() -> None:
    """Place 3 is one of two tied rows, one of them a hit worth 40: half of it counts."""
    assert cl.value_captured(Y, S, worth=V, quota=3) == 30
    assert cl.value_recall(Y, S, worth=V, quota=3) == pytest.approx(30 / 55)
    assert cl.value_per_place(Y, S, worth=V, quota=3) == 10
    assert cl.value_captured(Y, S, worth=V, threshold=0.5) == 10
    assert cl.value_per_place(Y, S, worth=V, threshold=0.4) == 50 / 4
    assert cl.value_captured(Y, S, worth=V, quota="2-3") == 20
    # score × worth: 9, 5.6, 20, 1.5, 0.5; with costs 1, 1, 40, 1, 1: 9, 5.6, 0.5, 1.5, 0.5
    assert cl.value_captured(Y, S, worth=V, quota=1, cut_by="value") == 40
    cost = [1, 1, 40, 1, 1]
    assert cl.value_captured(Y, S, worth=V, cost=cost, quota=1, cut_by="value_per_cost") == 10
    assert best_possible(make_sample(Y, S, worth=V), 2) == 50


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2), st.integers(0, 9)), min_size=1, max_size=6), st.data())
def test_ties_count_by_expectation(rows: list[tuple[bool, int, int]], data: st.DataObject) -> None:
    y, s, v = zip(*rows, strict=True)
    k = data.draw(st.integers(1, len(rows)))
    assert cl.value_captured(y, s, worth=v, quota=k, pos_label=True) == pytest.approx(by_all_orders(y, s, v, k))


@pytest.mark.parametrize("weighted", [False, True])
def test_values_and_intervals_do_not_depend_on_the_order_of_rows(weighted: bool) -> None:
    y, s, v, _ = drawn()
    w = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None
    ev = cl.evaluate(y, s, worth=v, sample_weight=w, quota=90, measures=MEASURES)
    captured, recall = by_rows(y, s, v, 90, w)
    assert ev["value_captured"].value == pytest.approx(captured)
    assert ev["value_recall"].value == pytest.approx(recall)
    assert ev["value_per_place"].value == pytest.approx(captured / 90)
    mixed = np.random.default_rng(2).permutation(len(y))
    other = cl.evaluate(
        y[mixed], s[mixed], worth=v[mixed], sample_weight=w if w is None else w[mixed], quota=90, measures=MEASURES
    )
    for key, e in ev.estimates.items():
        assert e.low < e.value < e.high
        assert (e.value, e.low, e.high) == pytest.approx((other[key].value, other[key].low, other[key].high), rel=1e-9)


def test_the_ends_of_the_interval_have_halls_quantiles() -> None:
    """T + aT²/3 + a²T³/27 + a/6 is Student's quantile at each end, where T is studentized and a the skewness."""
    psi = np.exp(np.random.default_rng(1).normal(size=60))
    psi -= psi.mean()
    second, third, fourth = ((psi**power).sum() for power in (2, 3, 4))
    error, a = np.sqrt(second * 60 / 59), third / second**1.5
    t = stats.t.ppf(0.975, freedom_of(second, fourth, 60))
    for end, quantile in zip(Valued(500.0, psi, 30.0, 1000.0).interval(0.95, share=False), (t, -t), strict=True):
        studentized = (500.0 - end) / error
        transformed = studentized + a * studentized**2 / 3 + a**2 * studentized**3 / 27 + a / 6
        assert transformed == pytest.approx(quantile)


def test_equal_worth_gives_the_hits() -> None:
    y, s, _, _ = drawn()
    ev = cl.evaluate(y, s, worth=np.full(len(y), 2.0), quota=60, measures=[*MEASURES, "hit_rate", "qrecall"])
    assert ev["value_recall"].value == pytest.approx(ev["qrecall"].value)
    assert ev["value_per_place"].value == pytest.approx(2 * ev["hit_rate"].value)
    for one, two, scale in (("value_recall", "qrecall", 1), ("value_per_place", "hit_rate", 2)):
        assert ev[one].interval == pytest.approx(tuple(scale * end for end in ev[two].interval), rel=0.025)


def test_rows_twice_or_with_weight_two_are_worth_the_same() -> None:
    y, s, v, _ = drawn(n=300)
    twice = cl.evaluate(np.tile(y, 2), np.tile(s, 2), worth=np.tile(v, 2), quota=60, measures=MEASURES, interval=None)
    heavy = cl.evaluate(y, s, worth=v, sample_weight=np.full(300, 2.0), quota=60, measures=MEASURES, interval=None)
    for key in twice:
        assert twice[key].value == pytest.approx(heavy[key].value)


def test_clusters_and_batches_are_units() -> None:
    y, s, v, _ = drawn(n=1000)
    day = np.arange(1000) % 25
    plain = cl.evaluate(y, s, worth=v, quota=100, measures=MEASURES)
    pairs = cl.evaluate(
        *(np.repeat(x, 2) for x in (y, s)), worth=np.repeat(v, 2), clusters=np.repeat(np.arange(1000), 2),
        quota=200, measures=MEASURES,
    )  # fmt: skip
    for key in ("value_recall", "value_per_place"):
        assert pairs[key].interval == pytest.approx(plain[key].interval, rel=0.02)
    batched = cl.evaluate(y, s, worth=v, quota=4, batch=day, measures=MEASURES)
    each = [by_rows(y[day == d], s[day == d], v[day == d], 4)[0] for d in range(25)]
    assert batched["value_captured"].value == pytest.approx(sum(each))
    assert batched["value_per_place"].value == pytest.approx(sum(each) / 100)
    assert batched["value_captured"].low < sum(each) < batched["value_captured"].high
    by_value = cl.evaluate(y, s - s.min(), worth=v, quota=4, batch=day, cut_by="value", measures=["value_captured"])
    best = [by_rows(y[day == d], ((s - s.min()) * v)[day == d], v[day == d], 4)[0] for d in range(25)]
    assert by_value["value_captured"].value == pytest.approx(sum(best))


def test_models_are_compared_row_by_row() -> None:
    y, a, v, b = drawn(n=1500)
    cmp = cl.compare(y, {"a": a, "b": b}, worth=v, quota=150, measures=MEASURES)
    gap = cmp.difference("a", "b", "value_captured")
    assert gap.difference == pytest.approx(by_rows(y, a, v, 150)[0] - by_rows(y, b, v, 150)[0])
    assert gap.low < gap.difference < gap.high
    assert 0 < gap.p_value < 1
    alike = cl.compare(y, {"a": a, "b": a * 2}, worth=v, quota=150, measures=MEASURES)
    same = alike.difference("a", "b", "value_recall")
    assert same.difference == 0
    assert same.verdict in ("cannot tell", "not tested")


def test_segments_have_values_of_their_own() -> None:
    y, s, v, _ = drawn(n=1200)
    region = np.arange(1200) % 3
    ev = cl.evaluate(y, s, worth=v, by=region, quota=0.125, measures=MEASURES)
    for k in range(3):
        inside = region == k
        assert ev.segments[k]["value_captured@12.5%"].value == pytest.approx(
            by_rows(y[inside], s[inside], v[inside], 50)[0]
        )
    assert {row["measure"] for row in ev.segments.differences()} >= {"value_recall@12.5%", "value_per_place@12.5%"}


def test_worth_adds_its_measures_and_tells_the_best_possible() -> None:
    y, s, v, _ = drawn()
    ev = cl.evaluate(y, s, worth=v, quota=80, n_resamples=50)
    assert {"value_captured@80", "value_recall@80", "value_per_place@80"} <= set(ev)
    best = np.sort(v * y)[::-1][:80].sum()
    assert ev.best_value(quota=80) == pytest.approx(best)
    assert "of the value" in repr(ev)
    again = pickle.loads(pickle.dumps(ev))
    assert again.with_measures("value_recall@40")["value_recall@40"].value == pytest.approx(by_rows(y, s, v, 40)[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"worth": [1.0]}, "worth has 1"),
        ({"worth": -1}, "worth"),
        ({"worth": "negative"}, "worth: row 3 is -1"),
        ({"worth": "v", "cost": "negative"}, "cost: row 3 is -1"),
        ({"worth": [1e308] * 100}, "worth: row 0 is 1e\\+308; pass 0, or amounts from 1e-90 to 1e\\+90"),
        ({"cost": "v"}, "cost goes with the worth"),
        ({"cut_by": "value"}, "cut_by goes with the worth"),
        ({"worth": "v", "cut_by": "value_per_cost"}, "needs the cost of each row"),
        ({"worth": "v", "cut_by": "amount"}, "cut_by"),
        ({"worth": "v", "prevalence": 0.2}, "does not go with worth"),
        ({"measures": ["value_captured@20"]}, "worth is missing"),
    ],
)
def test_what_cannot_be_honoured_is_an_error(options: dict[str, Any], message: str) -> None:
    y, s, v, _ = drawn(n=100)
    bad = v.copy()
    bad[3] = -1
    for key, value in options.items():
        if isinstance(value, str) and value in ("v", "negative"):
            options = {**options, key: v if value == "v" else bad}
    with pytest.raises(cl.InputError, match=message):
        cl.evaluate(y, s, quota=20, interval=None, **options)


@pytest.mark.parametrize("cut_by", ["amount", 5, np.arange(5), None])
def test_a_measure_by_itself_checks_which_list_is_cut(cut_by: Any) -> None:
    with pytest.raises(cl.InputError, match=r"cut_by is .*; choose one of score, value, value_per_cost"):
        cl.value_captured(Y, S, worth=V, quota=1, cut_by=cut_by)


def test_other_shapes_refuse_worth() -> None:
    y, s, v, _ = drawn(n=90)
    with pytest.raises(cl.InputError, match="worth is for two classes"):
        cl.evaluate(np.arange(90) % 3, np.random.default_rng(0).random((90, 3)), worth=v)
    with pytest.raises(cl.InputError, match="does not go with inclusion"):
        cl.evaluate(y.astype(float), s, inclusion=np.full(90, 0.5), worth=v)
    with pytest.raises(cl.InputError, match="paired does not go with worth"):
        cl.compare({"a": y, "b": y}, {"a": s, "b": s}, paired=False, worth=v)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    y, s, v, other = drawn(n=1500)
    rows = [f"{int(a)},{b!r},{c!r},{d!r}" for a, b, c, d in zip(y, s.tolist(), v.tolist(), other.tolist(), strict=True)]
    file = tmp_path_factory.mktemp("worth") / "claims.csv"
    file.write_text("fraud,p,amount,q\n" + "\n".join(rows) + "\n")
    return str(file)


@pytest.mark.parametrize(
    "cut", [{"quota": 120}, {"quota": 0.04}, {"threshold": 1.0}, {"quota": 90, "cut_by": "value"}], ids=str
)
def test_a_table_has_the_values_of_its_arrays(path: str, cut: dict[str, Any]) -> None:
    import pandas as pd

    y, s, v, _ = drawn(n=1500)
    shift = s - s.min() if "cut_by" in cut else s
    frame = pd.DataFrame({"fraud": y.astype(int), "p": shift, "amount": v})
    if "cut_by" in cut:
        path = path.replace("claims", "shifted")
        frame.to_csv(path, index=False)
    columns: dict[str, Any] = {"label": "fraud", "score": "p", "worth": "amount", "measures": MEASURES, **cut}
    arrays = cl.evaluate(y, shift, worth=v, measures=MEASURES, **cut)
    for source in (frame, path):
        ev = cl.evaluate(source, **columns)
        assert list(ev) == list(arrays)
        for key, e in arrays.estimates.items():
            found = ev[key]
            assert (found.value, found.low, found.high) == pytest.approx((e.value, e.low, e.high), rel=1e-8)
            assert found.method == e.method


def test_models_of_a_table_are_compared_by_worth(path: str) -> None:
    y, s, v, other = drawn(n=1500)
    table = cl.compare(path, label="fraud", score=["p", "q"], worth="amount", quota=100, measures=MEASURES)
    arrays = cl.compare(y, {"p": s, "q": other}, worth=v, quota=100, measures=MEASURES)
    for key in arrays.specs:
        one, two = table.difference("p", "q", key), arrays.difference("p", "q", key)
        assert (one.difference, one.low, one.high) == pytest.approx((two.difference, two.low, two.high))


def test_amounts_need_the_rows_in_memory(path: str) -> None:
    with pytest.raises(cl.InputError, match=r"worth needs the rows in memory.*stream=False"):
        cl.evaluate(path, label="fraud", score="p", worth="amount", stream=True, quota=50)


def test_the_command_line_takes_the_column(path: str) -> None:
    done = CliRunner().invoke(cli, ["evaluate", path, "--score", "p", "--worth", "amount", "--quota", "100"])
    assert done.exit_code == 0, done.output
    assert "\nThe best 100 contain 37.3% (95% interval 28.0% to 47.7%) of the value: 84 (61 to 123).\n" in done.output
    assert "The best possible list of as many places would capture" in done.output
    asked = ["compare", path, "--score", "p", "--score", "q", "--worth", "amount", "--quota", "100", "--format", "json"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert {row["measure"] for row in found["differences"]} >= {"value_captured@100", "value_recall@100"}
    done = CliRunner().invoke(cli, ["evaluate", path, "--score", "p", "--cut-by", "value", "--quota", "9"])
    assert done.exit_code == 2
    assert "--cut-by goes with the worth" in done.stderr


def test_a_plan_with_amounts_of_each_row_by_hand() -> None:
    """Costs 1, 2, 4, 1, 1: the best two bring 10 and cost 3; a budget of 3 pays for no more."""
    made = cl.plan(Y, S, cost=[1.0, 2.0, 4.0, 1.0, 1.0], value=V, budget=3, n_resamples=50)
    assert (made.limit, made.quota, made.profit.value) == (2, 1, 9.0)
    free = cl.plan(Y, S, cost=[1.0, 2.0, 4.0, 1.0, 1.0], value=V, n_resamples=50)
    # a place of the tie brings 20 on average and costs 2.5: both together bring 40 for 5
    assert free.profits.tolist() == pytest.approx([0, 9, 7, 24.5, 42, 46])
    assert (free.quota, free.profit.value) == (5, 46.0)
    best = cl.plan(Y, S, cost=[1.0, 2.0, 4.0, 1.0, 1.0], value=V, budget=4, cut_by="value", n_resamples=50)
    assert (best.quota, best.profit.value, best.cut.threshold) == (1, 36.0, 9.0)


def test_equal_amounts_give_the_plan_of_one_price() -> None:
    y, s, _, _ = drawn(n=600)
    plain = cl.plan(y, s, cost=0.5, value=3.0, budget=90, n_resamples=400)
    rows = cl.plan(y, s, cost=np.full(600, 0.5), value=np.full(600, 3.0), budget=90, n_resamples=400)
    assert (rows.quota, rows.limit) == (plain.quota, plain.limit)
    np.testing.assert_allclose(rows.profits, plain.profits, atol=1e-9)
    np.testing.assert_allclose(rows.hits, plain.hits, atol=1e-9)
    assert rows.profit.interval == pytest.approx(plain.profit.interval, rel=0.15)
    assert rows.optimism == pytest.approx(plain.optimism, abs=3.0)


def test_value_per_cost_makes_the_most_of_a_budget(path: str) -> None:
    rng = np.random.default_rng(5)
    y, s, v, _ = drawn(n=2000, sigma=0.7)
    p, cost = 1 / (1 + np.exp(2 - s)), rng.uniform(0.2, 5.0, 2000)
    how: dict[str, Any] = {"cost": cost, "value": 20 * v, "budget": 150, "n_resamples": 60}
    by_score, by_ratio = (cl.plan(y, p, cut_by=name, **how).profit.value for name in ("score", "value_per_cost"))
    assert by_ratio > by_score
    table = {"y": y, "p": p, "v": 20 * v, "c": cost}
    named = cl.plan(table, label="y", score="p", cost="c", value="v", budget=150, n_resamples=60)
    assert named.profit.value == pytest.approx(by_score)
    with pytest.raises(cl.InputError, match="needs the cost of each row"):
        cl.plan(y, p, value=v, cut_by="value_per_cost")


@pytest.mark.integration
def test_a_difference_of_skewed_amounts_is_wide_enough() -> None:
    """Two similar models on lognormal amounts: an interval by Student's t held the difference in 80 to 88%."""
    rng = np.random.default_rng(2)

    def samples(n: int) -> tuple[Any, ...]:
        y, z = rng.random(n) < 0.05, rng.normal(size=n)
        a, b = (1.5 * y + 0.3 * z * y + rng.normal(size=n) for _ in range(2))
        return y, np.exp(1.5 * z), a, 0.8 * a + 0.6 * b

    y, v, a, b = samples(1_000_000)
    truth = sum(sign * v[np.argsort(-s)[:80_000]] @ y[np.argsort(-s)[:80_000]] for sign, s in ((1, a), (-1, b)))
    inside = 0
    for _ in range(150):
        y, v, a, b = samples(1000)
        d = cl.compare(y, {"a": a, "b": b}, worth=v, quota=80, measures=["value_captured"])
        gap = d.difference("a", "b", "value_captured")
        inside += gap.low <= truth / 1000 <= gap.high
        assert (gap.low > 0 or gap.high < 0) == (gap.p_value < 0.05)
    assert inside >= 138  # 92%


def test_the_command_line_takes_columns_of_costs_and_values(tmp_path: Any) -> None:
    y, s, v, _ = drawn(n=500)
    cost = np.random.default_rng(1).uniform(0.5, 4.0, 500).round(2)
    path, picture = (str(tmp_path / name) for name in ("claims.csv", "plan.svg"))
    with open(path, "w") as file:
        file.write("fraud,p,amount,effort\n")
        file.writelines(f"{int(a)},{b},{c},{d}\n" for a, b, c, d in zip(y, s, v, cost, strict=True))
    columns = {"label": "fraud", "score": "p", "cost": "effort"}
    asked = ["plan", path, "--label", "fraud", "--score", "p", "--cost", "effort", "--value", "amount"]
    planned = cl.plan(path, **columns, value="amount", budget=30, n_resamples=50)
    more = ["--budget", "30", "--resamples", "50", "--format", "json", "--plot", picture]
    done = CliRunner().invoke(cli, [*asked, *more])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert (document["quota"], document["profit"]) == (planned.quota, pytest.approx(planned.profit.value))
    assert os.path.getsize(picture) > 1000
    worth = ["evaluate", path, "--label", "fraud", "--score", "p", "--worth", "amount", "--quota", "50"]
    done = CliRunner().invoke(cli, [*worth, "--cost", "effort", "--format", "json"])
    found = {row["measure"]: row["value"] for row in json.loads(done.stdout)["measures"]}
    named = cl.evaluate(path, **columns, worth="amount", quota=50, measures=["value_per_place"])
    assert found["value_per_place@50"] == pytest.approx(named["value_per_place"].value)
    for call, message in (
        ([*worth[:6], "--cost", "effort"], "--cost goes with the worth of each row"),
        ([*asked[:6], "--cost", "none", "--value", "1"], "has no column 'none' for the cost"),
    ):
        done = CliRunner().invoke(cli, call)
        assert done.exit_code == 2
        assert message in done.output


def test_a_list_in_another_order_is_not_described_by_the_hits_of_the_scores() -> None:
    y, _, v, other = drawn()
    p = 1.0 / (1.0 + np.exp(-other))
    ev = cl.evaluate(y, p, worth=v, quota=40, cut_by="value", n_resamples=50)
    text = str(ev)
    assert text.startswith(f"The best 40 by score × worth contain {100 * ev['value_recall'].value:.1f}%")
    assert "finds" not in text.split("\n\n")[0]
    assert "With 40 places" in str(cl.evaluate(y, p, worth=v, quota=40, n_resamples=50)).split("\n\n")[0]
    both = str(cl.compare(y, {"a": p, "b": p**2}, worth=v, quota=40, cut_by="value", n_resamples=50))
    assert "taken by score × worth" in both.split("\n")[0]


def test_the_worth_of_one_case_is_not_certain() -> None:
    """Nothing varies where one case is taken, but for rounding: that is no reason for an interval of no width."""
    y, s, v, _ = drawn(n=1500)
    y[np.argmax(s)] = True
    how: dict[str, Any] = {"threshold": float(np.sort(s)[-2]), "measures": ["value_per_place"]}
    for amount in (6.68, 1.1, 33.3, 97.0, 1234.56):
        low, high = cl.evaluate(y, s, worth=np.where(s == s.max(), amount, v), **how)["value_per_place"].interval
        assert high > 1.5 * low


def test_two_rows_cannot_tell_amounts_apart() -> None:
    both = cl.compare([1, 0], {"a": [0.9, 0.1], "b": [0.1, 0.9]}, worth=[3, 4], quota=1, measures=["value_captured"])
    assert both.difference("a", "b", "value_captured").verdict == "cannot tell"

"""How many places to fill: profits by hand, limits, luck, and quotas that are not known."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutline as cl
from samples import ANY, Case, cases
from test_select import expected_outcomes

Y = [1, 1, 0, 1, 0, 0]
S = [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]


def plan(**options: Any) -> cl.results.Plan:
    return cl.plan(Y, S, **{"cost": 2, "value": 5, "n_resamples": 200, **options})


def test_profit_by_hand() -> None:
    p = plan()
    assert p.taken.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert p.hits.tolist() == [0, 1, 2, 2, 3, 3, 3]
    assert p.profits.tolist() == [0, 3, 6, 4, 7, 5, 3]
    assert (p.quota, p.profit.value, p.limit) == (4, 7, 6)
    assert p.cut is not None
    assert p.cut.tp == 3
    assert p.profit.method == "percentile"
    assert p.profit.low <= 7 <= p.profit.high
    assert p.curve[4] == {"taken": 4, "hits": 3, "profit": 7}
    assert "Take the best 4" in repr(p)
    assert p.to_dict()["expected_profit"] == p.profit.value - p.optimism


def test_no_one_is_taken_at_a_loss() -> None:
    assert plan(cost=3).profits.tolist() == [0, 2, 4, 1, 3, 0, -3]
    assert plan(cost=3).quota == 2  # one more contact (4 − 3 … 3) would earn less
    assert (plan(cost=6).quota, plan(cost=6).profit.value, plan(cost=6).cut) == (0, 0, None)


@pytest.mark.parametrize(
    ("options", "limit", "quota"),
    [
        ({"budget": 5}, 2, 2),  # two contacts at 2 each
        ({"budget": 6}, 3, 2),
        ({"budget": 100}, 6, 4),
        ({"quota": 3}, 3, 2),
        ({"quota": 0.5}, 3, 2),
        ({"quota": 3, "budget": 2}, 1, 1),
        ({"cost": 0, "budget": 1}, 6, 4),
    ],
)
def test_budget_and_capacity(options: dict[str, Any], limit: int, quota: int) -> None:
    p = plan(**options)
    assert (p.limit, p.quota) == (limit, quota)


def test_cents_that_floats_cannot_hold_do_not_cost_a_place() -> None:
    assert plan(cost=0.1, budget=0.3).limit == 3
    assert plan(cost=0.7, budget=2.1).limit == 3


def test_rounding_alone_makes_no_loss() -> None:
    """0.3 · 1 − 0.1 · 3 is −5.6e-17 in floats, and means 0."""
    p = cl.plan([1, 0, 0], [3, 2, 1], cost=0.1, value=0.3, n_resamples=10)
    assert (p.quota, p.profits[3]) == (1, pytest.approx(0.0))


@given(cases(ANY, min_size=1), st.integers(0, 4), st.integers(0, 9), st.data())
def test_profit_is_that_of_the_expected_outcomes(case: Case, cost: int, value: int, data: st.DataObject) -> None:
    n = len(case.y)
    quota = data.draw(st.integers(1, n))
    p = cl.plan(case.y, case.s, cost=cost, value=value, quota=quota, n_resamples=2)
    outcomes = expected_outcomes(case.y, case.s)
    found = [sum(outcomes[:j], Fraction(0)) for j in range(n + 1)]
    profits = [value * hits - cost * j for j, hits in enumerate(found)]
    assert p.profits == pytest.approx([float(x) for x in profits], abs=1e-9)
    assert p.profit.value == pytest.approx(float(max(profits[: quota + 1])), abs=1e-9)
    assert p.quota <= quota


# --- how sure: interval and optimism -----------------------------------------------------------------------------


def test_the_interval_is_that_of_literal_resamples() -> None:
    """Percentiles of the profit at the same share, over resamples of the rows, by plain numpy."""
    rng = np.random.default_rng(5)
    y = rng.random(300) < 0.3
    s = rng.normal(y)
    p = cl.plan(y, s, cost=1, value=2, quota=60, n_resamples=2000, seed=1)
    assert p.quota > 20
    profits = []
    for _ in range(2000):
        rows = rng.integers(0, 300, 300)
        order = np.argsort(-s[rows], kind="stable")[: p.quota]
        profits.append(2.0 * y[rows][order].sum() - p.quota)
    low, high = np.quantile(profits, [0.025, 0.975])
    assert p.profit.low == pytest.approx(low, abs=0.15 * (high - low))
    assert p.profit.high == pytest.approx(high, abs=0.15 * (high - low))


def test_seeds_and_levels() -> None:
    rng = np.random.default_rng(5)
    y = rng.random(200) < 0.3
    s = rng.normal(y)
    first, again, other = (cl.plan(y, s, cost=1, value=3, n_resamples=300, seed=seed) for seed in (1, 1, 2))
    assert first.profit == again.profit
    assert first.profit != other.profit
    assert first.optimism == again.optimism
    wide = cl.plan(y, s, cost=1, value=3, n_resamples=300, seed=1, level=0.99)
    assert wide.profit.interval.width > first.profit.interval.width


def test_optimism_is_what_the_best_cut_promises_too_much() -> None:
    """Scores that say nothing: the best cut looks profitable, the truth is 0 everywhere; optimism admits it."""
    promised, admitted, earned = [], [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = rng.random(200) < 0.5
        p = cl.plan(y, rng.random(200), cost=1, value=2, n_resamples=100, seed=seed)
        promised.append(p.profit.value)
        admitted.append(p.optimism)
        earned.append(0.0)  # value · ½ − cost
    gap = np.mean(promised) - np.mean(earned)
    assert gap > 5
    assert 0.5 * gap < np.mean(admitted) < 1.5 * gap


def test_no_choice_no_optimism() -> None:
    """One place or none, and a top row that is worth it in nearly every resample."""
    y = np.repeat([1, 0], 100)
    s = np.repeat([1.0, 0.0], 100)
    assert cl.plan(y, s, cost=1, value=10, quota=50, n_resamples=200).optimism == pytest.approx(0, abs=1e-6)


# --- places that are not known -----------------------------------------------------------------------------------


def average_over(y: Any, s: Any, quotas: Any, measure: str = "qrecall") -> float:
    return float(getattr(cl, measure)(y, s, quota=quotas))


def test_average_over_quotas_by_hand() -> None:
    assert average_over(Y, S, (1, 3)) == pytest.approx((1 / 3 + 2 / 3 + 2 / 3) / 3)
    assert average_over(Y, S, (1, 3), measure="hit_rate") == pytest.approx((1 + 1 + 2 / 3) / 3)
    assert average_over(Y, S, (1, 3), measure="quota_lift") == pytest.approx((1 + 1 + 2 / 3) / 3 / 0.5)
    assert average_over(Y, S, {2: 1, 4: 3}, measure="hit_rate") == pytest.approx((1 + 3 * 0.75) / 4)
    assert average_over(Y, S, {4: 5}) == cl.qrecall(Y, S, quota=4)
    assert average_over(Y, S, (0.5, 0.5)) == cl.qrecall(Y, S, quota=3)


def two_classes(case: Case) -> bool:
    return 0 < case.y.sum() < len(case.y)


@given(cases(ANY, min_size=2).filter(two_classes))
def test_average_qrecall_is_the_mean_over_quotas_from_the_positives_on(case: Case) -> None:
    n, n_pos = len(case.y), int(case.y.sum())
    assert average_over(case.y, case.s, (n_pos, n)) == pytest.approx(cl.average_qrecall(case.y, case.s))


@given(cases(ANY, min_size=2).filter(two_classes))
def test_average_hit_rate_weighs_each_quota_by_the_outcome_of_its_last_place(case: Case) -> None:
    outcomes = expected_outcomes(case.y, case.s)
    weights = {j: float(t) for j, t in enumerate(outcomes, start=1)}
    mean = average_over(case.y, case.s, weights, measure="hit_rate")
    assert mean == pytest.approx(cl.average_hit_rate(case.y, case.s))


@given(cases(ANY, min_size=2).filter(two_classes))
def test_pem_is_a_rescaled_mean_over_all_quotas(case: Case) -> None:
    n, n_neg = len(case.y), int((1 - case.y).sum())
    total = n * average_over(case.y, case.s, (1, n))
    assert (total - (n + 1) / 2) / (n_neg / 2) == pytest.approx(cl.pem(case.y, case.s), abs=1e-9)


@given(cases(ANY, min_size=2).filter(two_classes))
def test_hit_rate_and_qrecall_differ_only_when_averaged(case: Case) -> None:
    """At one quota they are one number on two scales; over several quotas they are not."""
    n, n_pos = len(case.y), int(case.y.sum())
    for j in range(1, n + 1):
        by_hits = average_over(case.y, case.s, {j: 1}, measure="hit_rate")
        assert by_hits * j == pytest.approx(average_over(case.y, case.s, {j: 1}) * n_pos)


def test_averages_can_disagree_about_models() -> None:
    y = [1, 1, 0, 0, 0, 0]
    a, b = [9, 2, 7, 6, 5, 1], [8, 7, 9, 4, 3, 2]  # a: places 1 and 5; b: places 2 and 3
    prefers = {
        name: average_over(y, a, (1, 4), measure=name) > average_over(y, b, (1, 4), measure=name)
        for name in ("hit_rate", "qrecall")
    }
    assert prefers == {"hit_rate": True, "qrecall": False}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cost": -1}, "cost"),
        ({"value": float("nan")}, "value"),
        ({"budget": -3}, "budget"),
        ({"quota": 7}, "quota"),
        ({"level": 1.0}, "level"),
    ],
)
def test_refusals(options: dict[str, Any], said: str) -> None:
    with pytest.raises(cl.InputError, match=said):
        plan(**options)


@pytest.mark.parametrize("prices", [{"cost": 1e308}, {"value": 1e200}])
def test_amounts_that_cannot_be_added_up_are_refused(prices: dict[str, float]) -> None:
    with pytest.raises(cl.InputError, match=r"an amount from 1e-90 to 1e\+90"):
        cl.plan([1, 0, 1, 0], [0.9, 0.8, 0.4, 0.1], n_resamples=20, **prices)
    small = {name: price * 1e-120 for name, price in prices.items() if price < 1e300}
    assert cl.plan([1, 0, 1, 0], [0.9, 0.8, 0.4, 0.1], n_resamples=20, **small).quota >= 0


def test_the_bends_of_a_profit_say_as_much_as_every_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list with more cases than are worth listing is planned from the ends of its groups alone."""
    rng = np.random.default_rng(21)
    for k in range(40):
        n = int(rng.integers(3, 30))
        y, s = rng.random(n) < 0.4, rng.random(n).round(1 if k % 2 else 5)
        weight = rng.integers(0, 9, n) + (0.37 * rng.random(n) if k % 3 == 0 else 0.0)
        if weight.sum() < 9:
            continue
        options: dict[str, Any] = {
            "cost": [0.0, 0.1, 0.3, 0.7][k % 4],
            "n_resamples": 9,
        }
        if k % 4 == 0:
            options["quota"] = int(weight.sum() / 2)
        found = []
        for most in (10**6, 0):
            monkeypatch.setattr("cutline.decide.planning._EVERY_PLACE", most)
            found.append(cl.plan(y, s, sample_weight=weight, **options))
        one, other = (
            [
                p.quota,
                p.limit,
                p.optimism,
                *p.next_hits,
                *p.profit.interval,
            ]
            for p in found
        )
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9, nan_ok=True)
        profits = np.interp(found[0].taken, found[1].taken, found[1].profits)
        np.testing.assert_allclose(profits[1:], found[0].profits[1:], atol=1e-9)


@pytest.mark.parametrize("unit", [1e6, 1e12])
def test_a_row_may_stand_for_any_number_of_cases(unit: float) -> None:
    """In the memory of some rows; a tracer sees what NumPy allocates."""
    import tracemalloc

    y, s, w = [1, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.5], np.array([1.0, 2.0, 3.0, 1.0, 2.0])
    for options in ({}, {"quota": 0.5}):
        small = cl.plan(y, s, sample_weight=w * 1e3, cost=0.3, value=1, n_resamples=200, **options)
        tracemalloc.start()
        large = cl.plan(y, s, sample_weight=w * unit, cost=0.3, value=1, n_resamples=200, **options)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2e7
        assert large.quota / unit == pytest.approx(small.quota / 1e3)
        assert large.profit.value / unit == pytest.approx(small.profit.value / 1e3)
        assert large.limit / unit == pytest.approx(small.limit / 1e3)
    models = {"a": s, "b": s[::-1]}
    assert cl.compare(y, models, sample_weight=w * unit, measures=["roc_auc"], n_resamples=20).dominance()
    assert cl.qrecall(y, s, quota=(0.1, 0.9), sample_weight=w * unit) == pytest.approx(0.729, abs=1e-3)


def test_more_cases_than_can_be_counted_are_refused_by_name() -> None:
    for unit in (1e20, 1e38):
        with pytest.raises(cl.InputError, match=r"sample_weight adds up to .* too many to count places"):
            cl.plan(Y, S, sample_weight=np.full(len(Y), unit))
        ev = cl.evaluate(Y, S, sample_weight=np.linspace(1, 2, len(Y)) * unit, n_resamples=20)
        assert ev["roc_auc"].value == pytest.approx(
            cl.evaluate(Y, S, sample_weight=np.linspace(1, 2, len(Y)), n_resamples=20)["roc_auc"].value
        )
    with pytest.raises(cl.InputError, match="between 1e-40 and 1e40"):
        cl.plan(Y, S, sample_weight=np.full(len(Y), 1e89))
    with pytest.raises(cl.InputError, match="g is needed at every place"):
        cl.ranking_score(Y, S, sample_weight=np.full(len(Y), 1e9), g=np.sqrt)


def test_a_quota_of_all_rows_with_another_prevalence() -> None:
    rng = np.random.default_rng(22)
    for _ in range(60):
        n = int(rng.integers(4, 50))
        y, s, share = np.arange(n) % 3 == 0, rng.random(n).round(2), float(rng.uniform(0.01, 0.9))
        ev = cl.evaluate(y, s, prevalence=share, measures=["hit_rate"], quota=n, n_resamples=20)
        point = ev.at(quota=n)
        assert point.precision == pytest.approx(share)
        assert (point.recall, point.from_tie) == (pytest.approx(1.0), 0.0)


def test_the_page_of_weighted_rows_takes_its_quota_in_cases(tmp_path: Any) -> None:
    weight = np.full(len(Y), 1000.0)
    ev = cl.evaluate(Y, S, sample_weight=weight, quota=0.5, measures=["hit_rate", "roc_auc"], n_resamples=20)
    ev.to_html(tmp_path / "page.html")
    assert f"{500 * len(Y):,}" in (tmp_path / "page.html").read_text()


def test_next_hits_and_profit_leave_out_the_luck_of_the_choice() -> None:
    """Scores that say nothing: the best cut is luck, and new lists do not repeat it."""
    rng = np.random.default_rng(23)
    gap, looks, middle, hits, expected = [], [], [], [], []
    for seed in range(40):
        y = rng.random(200) < 0.3
        p = cl.plan(y, rng.random(200), cost=0.3, value=1, n_resamples=100, seed=seed)
        if p.quota < 5:
            continue
        gap.append(p.expected_profit)
        looks.append(p.profit.value)
        middle.append(sum(p.next_hits) / 2)
        hits.append(p.cut.tp)
        expected.append(0.3 * p.quota)
    assert abs(np.mean(gap)) < 0.45 * np.mean(looks)  # the true profit of every cut is 0
    assert np.mean(hits) > np.mean(expected) + 2
    assert np.mean(middle) < np.mean(hits) - 1


def test_a_fixed_cost_is_paid_once_and_only_where_someone_is_taken() -> None:
    y, p = np.array([1, 1, 0, 1, 0, 0]), np.array([0.9, 0.8, 0.7, 0.6, 0.4, 0.2])
    found = cl.plan(y, p, cost=2, value=5, fixed_cost=3, n_resamples=50)
    assert (found.quota, found.profit.value) == (4, 4.0)
    assert found.profits.tolist() == [0.0, 0.0, 3.0, 1.0, 4.0, 2.0, 0.0]
    assert found.to_dict()["fixed_cost"] == 3
    too_much = cl.plan(y, p, cost=2, value=5, fixed_cost=7.5, n_resamples=50)
    assert (too_much.quota, too_much.profit.value) == (0, 0.0)
    # of a budget of 8 there are 5 left, which pay for two cases
    assert cl.plan(y, p, cost=2, value=5, fixed_cost=3, budget=8, n_resamples=50).limit == 2
    assert cl.plan(y, p, cost=2, value=5, fixed_cost=3, budget=2, n_resamples=50).limit == 0
    plain = cl.plan(y, p, cost=2, value=5, n_resamples=50)
    assert plain.profit.value - found.profit.value == 3.0
    with pytest.raises(cl.InputError, match="fixed_cost"):
        cl.plan(y, p, fixed_cost=-1)

"""Costs: the cheapest cut by brute force, prevalence, ranges of cost ratios, optimism, net benefit by definition."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cutline as cl
from cutline.decide.error_costs import ErrorPrices, cheapest, decision_curve
from cutline.ranking import rank
from cutline.sources.arrays import make_sample


def drawn(seed: int, n: int = 400, share: float = 0.2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    z = rng.normal(size=n) + 1.35 * y
    return y, z.round(1), (0.8 * z + 0.6 * rng.normal(size=n)).round(1)


def found(y: np.ndarray, scores: dict[str, np.ndarray], prices: ErrorPrices, **options: object) -> object:
    samples = {name: make_sample(y, s) for name, s in scores.items()}
    rankings = {name: rank(s) for name, s in samples.items()}
    return cheapest(samples, rankings, prices, **{"n_resamples": 100, **options})


@pytest.mark.parametrize("prevalence", [None, 0.05])
@pytest.mark.parametrize(("cost_fp", "cost_fn"), [(1, 1), (1, 9), (3, 1), (0, 1), (1, 0)])
def test_the_cheapest_cut_by_brute_force(cost_fp: float, cost_fn: float, prevalence: float | None) -> None:
    y, a, b = drawn(1)
    share = y.mean() if prevalence is None else prevalence
    costs = {}
    for name, s in (("a", a), ("b", b)):
        for t in [*np.unique(s), -np.inf]:
            fpr, fnr = (s[~y] > t).mean(), (s[y] <= t).mean()
            costs[name, t] = cost_fp * (1 - share) * fpr + cost_fn * share * fnr
    best = found(y, {"a": a, "b": b}, ErrorPrices(cost_fp, cost_fn, prevalence))
    assert best.apparent == pytest.approx(min(costs.values()))
    assert costs[best.model, best.threshold] == pytest.approx(best.apparent)
    assert best.treat_none == pytest.approx(cost_fn * share)
    assert best.treat_all == pytest.approx(cost_fp * (1 - share))
    cut = cl.threshold_for(y, a, cost_fp=cost_fp, cost_fn=cost_fn, prevalence=prevalence, n_resamples=50)
    assert costs["a", float(cut)] == pytest.approx(min(c for (name, _), c in costs.items() if name == "a"))


def test_the_range_of_ratios_is_where_the_cut_stays_the_cheapest() -> None:
    y, a, b = drawn(2)
    best = found(y, {"a": a, "b": b}, ErrorPrices(1, 6))
    low, high = best.ratios
    assert low <= 6 <= high
    for ratio, same in ((low * 1.001, True), (high * 0.999, True), (low * 0.99, False), (high * 1.01, False)):
        other = found(y, {"a": a, "b": b}, ErrorPrices(1, ratio), n_resamples=2)
        assert ((other.model, other.threshold) == (best.model, best.threshold)) == same
    low, high = best.model_ratios
    assert low <= best.ratios[0]
    assert high >= best.ratios[1]
    inside = found(y, {"a": a, "b": b}, ErrorPrices(1, low * 1.001 if low > 0 else 0.5), n_resamples=2)
    assert inside.model == best.model


def test_optimism_is_taken_out_and_the_interval_holds_the_cost_on_new_data() -> None:
    """A model that knows nothing looks cheaper than acting on nobody; on new data it is not."""
    rng = np.random.default_rng(3)
    looks, really = [], []
    for seed in range(40):
        y = rng.random(200) < 0.5
        best = found(y, {"noise": rng.normal(size=200)}, ErrorPrices(1, 1), seed=seed)
        looks.append(best.apparent)
        really.append(best.cost.value)
    assert np.mean(looks) < 0.47
    assert np.mean(really) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_the_spread_of_a_cost_is_that_of_the_errors_of_each_case(prevalence: float | None) -> None:
    """Moments of what one case costs, written out; with a prevalence, of a case of each class."""
    n_pos, n_neg, tp, fp = 30, 70, 24, 10
    laws = [(100, [0.0, 2.0, 5.0], [1 - 18 / 102, 11 / 102, 7 / 102])]  # one error of each kind more, of two cases
    if prevalence is not None:
        wrong, missed = 11 / 72, 7 / 32
        laws = [(70, [0.0, 2.0 * 0.9], [1 - wrong, wrong]), (30, [0.0, 5.0 * 0.1], [1 - missed, missed])]
    second = third = 0.0
    for size, costs, chances in laws:
        away = np.array(costs) - np.dot(costs, chances)
        second += np.dot(away**2, chances) / size
        third += np.dot(away**3, chances) / size**2
    error, skew = ErrorPrices(2, 5, prevalence).spread(tp, fp, n_pos, n_neg)
    assert (error, skew) == pytest.approx((math.sqrt(second), third / second))


def test_the_interval_of_a_cost_grows_with_its_optimism_and_leans_with_its_skewness() -> None:
    y, a, _ = drawn(6)
    best = found(y, {"a": a}, ErrorPrices(1, 9), level=0.9)
    pos = int(y.sum())
    error, skew = ErrorPrices(1, 9).spread(best.recall * pos, best.fpr * (len(y) - pos), pos, len(y) - pos)
    low, high = best.cost.interval
    assert best.optimism > 0.005
    assert best.cost.value == pytest.approx(best.apparent + best.optimism)
    assert (high - low) / 2 == pytest.approx(1.644854 * error * math.sqrt(best.cost.value / best.apparent))
    # Hall's correction of the mean for skewness, with z² = 2.7055
    assert (low + high) / 2 - best.cost.value == pytest.approx(skew * (1 + 2 * 2.705543) / 6)


def test_other_models_cost_more_with_a_paired_interval() -> None:
    y, a, _ = drawn(4, n=2000)
    noise = np.random.default_rng(0).normal(size=2000)
    best = found(y, {"noise": noise, "a": a}, ErrorPrices(1, 5))
    assert best.model == "a"
    (row,) = best.others
    assert row["model"] == "noise"
    assert row["low"] > 0
    assert row["costs_more"] == pytest.approx(row["apparent_cost"] - best.apparent)
    assert best.to_dict()["others"][0]["model"] == "noise"
    assert "a is the cheapest model whatever errors cost" in repr(best)


def test_clusters_that_repeat_rows_widen_the_interval() -> None:
    y, a, _ = drawn(5)
    narrow = found(np.tile(y, 4), {"a": np.tile(a, 4)}, ErrorPrices(1, 5))
    wide = found(np.tile(y, 4), {"a": np.tile(a, 4)}, ErrorPrices(1, 5), clusters={"a": np.tile(np.arange(400), 4)})
    assert wide.cost.interval.width > 1.5 * narrow.cost.interval.width


def test_one_class_has_no_costs_to_weigh() -> None:
    with pytest.raises(cl.InputError, match="one class only"):
        cl.threshold_for([1, 1], [1.0, 2.0], cost_fp=1, cost_fn=1)


def probabilities(seed: int, n: int = 500) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 4, n)
    return rng.random(n) < p, p, np.clip(p + 0.1 * rng.normal(size=n), 0, 1)


@pytest.mark.parametrize("prevalence", [None, 0.4])
def test_net_benefit_by_its_definition(prevalence: float | None) -> None:
    y, p, _ = probabilities(1)
    grid = [0.05, 0.2, 0.5]
    made = decision_curve(make_sample(y, p), x=grid, prevalence=prevalence)
    share = y.mean() if prevalence is None else prevalence
    for k, t in enumerate(grid):
        tpr, fpr = (p[y] > t).mean(), (p[~y] > t).mean()
        benefit = share * tpr - (1 - share) * fpr * t / (1 - t)
        assert made.net_benefit[k] == pytest.approx(benefit)
        assert made.treat_all[k] == pytest.approx(share - (1 - share) * t / (1 - t))
        cost = t * (1 - share) * fpr + (1 - t) * share * (1 - tpr)
        assert made.expected_cost[k] == pytest.approx(cost)
        assert made.treat_none_cost[k] == pytest.approx((1 - t) * share)
        assert made.low[k] < benefit < made.high[k]


@pytest.mark.parametrize("prevalence", [None, 0.3])
def test_the_spread_of_net_benefit_is_that_of_what_each_case_adds(prevalence: float | None) -> None:
    """Against a plain bootstrap of rows (within classes, where the prevalence is given)."""
    y, p, q = probabilities(2, 3000)
    rng = np.random.default_rng(0)
    t, odds = 0.2, 0.25
    values = []
    for _ in range(1500):
        rows = rng.integers(0, len(y), len(y))
        if prevalence is not None:
            rows = np.concatenate([rng.choice(np.flatnonzero(side), side.sum()) for side in (y, ~y)])
        yy, a, b = y[rows], p[rows] > t, q[rows] > t
        share = yy.mean() if prevalence is None else prevalence
        one, two = (share * d[yy].mean() - (1 - share) * d[~yy].mean() * odds for d in (a, b))
        values.append((one, one - two))
    errors = np.std(values, axis=0)
    made = decision_curve(make_sample(y, p), x=[t], prevalence=prevalence)
    assert (made.high - made.low)[0] / 3.92 == pytest.approx(errors[0], rel=0.08)


def test_each_row_a_cluster_of_its_own_gives_the_same_band() -> None:
    y, p, _ = probabilities(3)
    one = make_sample(y, p)
    alone = np.arange(len(y))
    plain, own = (decision_curve(one, x=[0.1, 0.3], clusters=c) for c in (None, alone))
    assert own.high - own.low == pytest.approx(plain.high - plain.low, rel=0.03)


def test_scores_that_are_no_probabilities_have_no_decision_curve() -> None:
    with pytest.raises(cl.InputError, match="row 1 is 2"):
        decision_curve(make_sample([1, 0, 1], [0.5, 2.0, 0.1]))
    with pytest.raises(cl.InputError, match="strictly between 0 and 1"):
        decision_curve(make_sample([1, 0, 1], [0.5, 0.2, 0.1]), x=[0.0, 0.5])


def test_the_band_of_net_benefit_stays_below_what_true_positives_bring() -> None:
    """At a threshold of 0.99 a false positive costs 99 true ones; with none seen the upper end must not follow."""
    rng = np.random.default_rng(4)
    y = rng.random(400) < 0.25
    p = np.clip(0.25 + 0.2 * (y - 0.25) + 0.1 * rng.normal(size=400), 0.01, 0.95)
    for weight in (None, np.full(400, 2.5)):
        found = cl.evaluate(y, p, sample_weight=weight, measures=["brier_score"]).decision_curve([0.1, 0.9, 0.99])
        assert found.net_benefit[-1] == 0
        assert found.high[-1] == pytest.approx(cl.proportion_interval(0, 400, method="wilson").high)
        assert found.low[-1] == pytest.approx(-1.96 * np.hypot(1, 99) / 400, rel=1e-3)  # one false positive more
        assert found.low[0] < found.net_benefit[0] < found.high[0]


def test_cells_of_equal_rows_tell_what_the_rows_tell() -> None:
    """One model's rows are drawn in cells; a second look at the same rows, with weights of 1, draws them one by one."""
    rng = np.random.default_rng(8)
    y = rng.random(2000) < 0.2
    s = rng.normal(1.2 * y)
    cells = cl.threshold_for(y, s, cost_fp=1, cost_fn=4)
    rows = cl.threshold_for(y, s, cost_fp=1, cost_fn=4, sample_weight=np.full(2000, 1.0 + 1e-9))
    assert float(cells) == float(rows)
    assert cells.cost.value == pytest.approx(rows.cost.value, rel=0.01)


def test_the_hull_of_models_is_that_of_all_their_points() -> None:
    rng = np.random.default_rng(9)
    y = rng.random(300) < 0.3
    cmp = cl.compare(y, {"a": rng.normal(y).round(1), "b": rng.normal(1.2 * y)}, measures=["roc_auc"], interval=None)
    corners = {(row["fpr"], row["tpr"]) for row in cmp.hull()}
    points = [(0.0, 0.0)]
    for ev in cmp.values():
        curve = ev.curve("roc")
        points += zip(curve.x.tolist(), curve.y.tolist(), strict=True)
    for x, t in points:  # no point lies above a side of the hull
        ordered = sorted(corners)
        assert t <= np.interp(x, [c[0] for c in ordered], [c[1] for c in ordered]) + 1e-12
    assert corners <= {(round(x, 15), round(t, 15)) for x, t in points} | set(points)


@pytest.mark.parametrize("name", ["f1", "youden_index", "matthews_correlation", "f_beta(beta=2)", "error_rate"])
def test_the_cut_that_maximises_a_measure_is_the_best_of_all(name: str) -> None:
    rng = np.random.default_rng(10)
    y = rng.random(120) < 0.3
    s = rng.normal(y).round(1)
    cut = cl.threshold_for(y, s, maximize=name, n_resamples=50)
    lower = cl.measure(name.partition("(")[0]).better == "lower"

    def at(threshold: float) -> float:
        (value,) = cl.evaluate(y, s, measures=[name], threshold=threshold, interval=None).estimates.values()
        return value.value

    values = [at(t) for t in [*np.unique(s), -np.inf]]
    best = np.nanmin(values) if lower else np.nanmax(values)
    assert at(float(cut)) == pytest.approx(best) == cut.best.apparent
    assert (cut.best.value.value > best) if lower else (cut.best.value.value < best)  # the optimism is taken off
    assert cut.best.limits.low <= float(cut) <= cut.best.limits.high
    assert cut.goal == {"maximize": name}
    assert cut.to_dict()["threshold_interval"] == list(cut.best.limits)
    weighted = cl.threshold_for(y, s, maximize=name, n_resamples=50, sample_weight=np.full(120, 2.0))
    assert float(weighted) == float(cut)


@pytest.mark.parametrize(("n_pos", "n_neg", "gap"), [(9, 44, 2.0), (15, 15, 1.5)])
def test_few_cases_at_the_best_cut_are_not_taken_for_certain(n_pos: int, n_neg: int, gap: float) -> None:
    """Where all nine positives are found, resamples find all nine again, and others may be missed."""
    rng, y, held, runs = np.random.default_rng(12), np.arange(n_pos + n_neg) < n_pos, 0, 150
    for _ in range(runs):
        cut = cl.threshold_for(y, rng.normal(y * gap), maximize="youden_index", n_resamples=200)
        rates = [0.5 * math.erfc((float(cut) - mean) / math.sqrt(2)) for mean in (gap, 0.0)]
        value = cut.best.value
        held += value.low <= rates[0] - rates[1] <= value.high
    assert held / runs >= 0.9  # 78% and less where the width is that of replicates


@pytest.mark.parametrize(
    ("n_pos", "n_neg", "gap", "name"),
    [(10, 10, 4.0, "youden_index"), (50, 50, 5.0, "youden_index"), (20, 380, 3.0, "youden_index"), (20, 20, 4.0, "f1")],
)
def test_limits_of_a_cut_and_its_value_cover_the_truth_for_very_good_models(
    n_pos: int, n_neg: int, gap: float, name: str
) -> None:
    """Before, the value lay outside in 61, 60, 8 and 32% of samples, and the best cut in 78, 72, 30 and 67%."""
    rng, y, runs = np.random.default_rng(13), np.arange(n_pos + n_neg) < n_pos, 60

    def truth(threshold: float) -> float:
        recall, fpr = (0.5 * math.erfc((threshold - mean) / math.sqrt(2)) for mean in (gap, 0.0))
        return recall - fpr if name == "youden_index" else 2 * recall / (1 + recall + fpr)  # F1 of equal classes

    best = max(np.linspace(-1.0, gap + 1.0, 2001).tolist(), key=truth)
    value_missed = cut_missed = 0
    for _ in range(runs):
        cut = cl.threshold_for(y, rng.normal(y * gap), maximize=name, n_resamples=100)
        value_missed += not cut.best.value.low <= truth(float(cut)) <= cut.best.value.high
        cut_missed += not cut.best.limits.low <= best < cut.best.limits.high
    assert value_missed <= 4, value_missed
    assert cut_missed <= 6, cut_missed


@pytest.mark.parametrize("n", [10, 200])
@pytest.mark.parametrize(("name", "perfect"), [("youden_index", 1.0), ("f1", 1.0), ("error_rate", 0.0)])
def test_a_perfect_cut_may_be_perfect_on_new_data(n: int, name: str, perfect: float) -> None:
    y, s = np.arange(2 * n) >= n, np.arange(2 * n) / (2 * n)
    cut = cl.threshold_for(y, s, maximize=name, n_resamples=100)
    assert cut.best.apparent == perfect != cut.best.value.value
    assert perfect in (cut.best.value.low, cut.best.value.high)
    assert cut.best.limits.low <= float(cut) < s[n] <= cut.best.limits.high  # any cut in this gap is as good
    assert cl.threshold_for(y, s, cost_fp=1, cost_fn=1).note.endswith("the cheapest cut whatever errors cost")


@pytest.mark.parametrize("name", ["youden_index", "f1", "matthews_correlation", "error_rate", "balanced_accuracy"])
def test_limits_of_the_best_cut_contain_all_cuts_that_are_as_good(name: str) -> None:
    rng = np.random.default_rng(14)
    for n in (4, 6, 10, 40):
        y, s = np.arange(n) % 3 == 0, rng.normal(size=n).round(1)
        cut = cl.threshold_for(y, s + 2.0 * y, maximize=name, n_resamples=20)
        ends = np.append(np.unique(s + 2.0 * y), np.inf)
        values = [cl.evaluate(y, s + 2.0 * y, measures=[name], threshold=t, interval=None)[name].value for t in ends]
        for threshold, above, value in zip(ends, ends[1:], values, strict=False):
            if value == pytest.approx(cut.best.apparent):
                assert cut.best.limits.low <= threshold < above <= cut.best.limits.high
        low, high = cut.best.value.low, cut.best.value.high
        assert low <= cut.best.value.value <= high
        assert -1.0 <= low <= high <= 1.0


def test_no_cut_separates_equal_scores() -> None:
    cut = cl.threshold_for([1, 0, 1, 0] * 5, [0.5] * 20, maximize="youden_index", n_resamples=50)
    assert cut.best.limits == (-math.inf, math.inf)
    assert cut.best.value.low < cut.best.value.value == 0.0 < cut.best.value.high
    assert math.copysign(1.0, cut.best.value.value) == math.copysign(1.0, cut.best.apparent) == 1.0  # not −0
    assert cut.note.endswith("All scores are equal, so no cut separates the classes")


def test_a_cut_by_a_measure_of_useless_scores_admits_its_luck() -> None:
    rng = np.random.default_rng(11)
    how = {"maximize": "youden", "n_resamples": 200}
    cuts = [cl.threshold_for(rng.random(200) < 0.4, rng.random(200), **how, seed=k) for k in range(20)]
    assert np.mean([cut.best.apparent for cut in cuts]) > 0.06
    assert abs(np.mean([cut.best.value.value for cut in cuts])) < 0.04  # the truth is 0


def test_only_a_measure_of_counts_can_be_maximised() -> None:
    y, s = [1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1]
    with pytest.raises(cl.InputError, match="maximize is roc_auc, which is not a measure of the four counts"):
        cl.threshold_for(y, s, maximize="roc_auc")
    with pytest.raises(cl.InputError, match="confidence goes with"):
        cl.threshold_for(y, s, maximize="f1", confidence=0.9)
    with pytest.raises(cl.InputError, match="exactly one"):
        cl.threshold_for(y, s, maximize="f1", recall=0.5)

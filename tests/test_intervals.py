"""Every measure carries an interval or the reason why not; methods by name; ranges, levels, and counted coverage."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from scipy import optimize
from scipy.special import stdtrit

import cutline as cl
from cutline.estimate import FROM_REPLICATES as BOOTSTRAPS
from cutline.inference import limits
from cutline.inference.closed_forms import Cuts, auc_interval, newcombe_limits
from cutline.inference.differences import skewed_mean_limits
from cutline.inference.intervals import METHODS
from cutline.inference.limits import effective_freedom, freedom_in_small_class, t_quantile
from cutline.inference.resampling import Resampler, replicate
from cutline.ranking import rank
from cutline.sources.arrays import make_sample
from cutline.types import IntervalMethod, IntervalName, ProportionName
from samples import Case, random_case
from test_catalogue import SCORED

NAMES = get_args(IntervalName)
# measures of worth are ratios of amounts, not of cases, and need a worth for each row: see tests/test_worth.py
PROPORTIONS = [m.name for m in cl.measures() if m.proportion and not m.of_worth]
AUC_FAMILY = [m.name for m in cl.measures() if m.line_of_auc]
NAMES = get_args(IntervalName)
MAY_LEAVE_THE_RANGE = {"wald", "basic"}
FROM_REPLICATES = {*BOOTSTRAPS, *(m.name for m in METHODS.values() if m.resampled), "logit", "logit_wilson"}
OF_CUTS = {"moving_cut", "moving_cut_recall"}


def evaluated(case: Case, interval: str | None = "auto", **how: Any) -> cl.results.Evaluation:
    how = {"quota": 20, "n_resamples": 200, **how}
    return cl.evaluate(case.y, case.s, interval=interval, sample_weight=case.w, **how)


@pytest.fixture(scope="module")
def by_method() -> dict[str, cl.results.Evaluation]:
    case = random_case(3, 120, 40)
    return {name: evaluated(case, name) for name in NAMES}


# --- an interval or a reason -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "levels"), [(120, 40), (120, 4), (30, 1000)])
def test_every_measure_has_an_interval_that_holds_it(seed: int, n: int, levels: int) -> None:
    case = random_case(seed, n, levels)
    ev, needs_option = evaluated(case), ("f_beta", "ranking_score", "bedroc")
    by_name = [m.name for m in SCORED if m.part == "ranking" and m.name not in needs_option]  # only where named
    assert [m.name for m in SCORED if m.name not in ev and m.name not in needs_option] == by_name
    named = evaluated(case, measures=by_name)
    specs = {**ev.specs, **named.specs}
    for key, e in {**ev.estimates, **named.estimates}.items():
        low, high = specs[key].measure.range
        if math.isnan(e.value):
            assert e.reason
            assert math.isnan(e.low)
            assert math.isnan(e.high)
            continue
        assert not e.reason
        assert e.method
        assert e.level == 0.95
        slack = 1e-9 * max(1.0, abs(e.value))
        assert low - slack <= e.low <= e.value + slack, key
        assert e.value - slack <= e.high <= high + slack, key


def test_options_get_an_interval_too() -> None:
    case = random_case(1, 80, 30)
    names = ["f_beta(beta=2)", "lift(prior=0.3)", "average_gain(prior=0.3)", "recall(threshold=0.6)", "qrecall@10%"]
    names += ["hit_rate(ties='best')@40", "focal_loss(gamma=1)", "log_loss(base=10)", "information_score(prior=0.2)"]
    names += ["bedroc(alpha=20)"]
    for key, e in evaluated(case, measures=names).estimates.items():
        assert e.low < e.value < e.high, key


def test_rossets_family_takes_the_bootstrap() -> None:
    """ranking_score with g(i) = i is linear_ranking: the same replicates give the same interval."""
    from cutline.catalogue.declare import make_spec

    case = random_case(1, 50, 20)
    own = make_spec(cl.measure("ranking_score"), {"g": lambda places: places})
    ev = evaluated(case, "percentile", measures=[own, "linear_ranking"])
    a, b = ev.estimates.values()
    assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high))


DEGENERATE = {
    "perfect": ([1] * 8 + [0] * 22, np.linspace(0.99, 0.01, 30)),
    "reversed": ([0] * 22 + [1] * 8, np.linspace(0.99, 0.01, 30)),
    "one positive": ([0, 1] + [0] * 28, np.linspace(0.99, 0.01, 30)),
    "one negative": ([1, 0] + [1] * 28, np.linspace(0.99, 0.01, 30)),
    "no positives": ([0] * 30, np.linspace(0.99, 0.01, 30)),
    "no negatives": ([1] * 30, np.linspace(0.99, 0.01, 30)),
    "all tied": ([1, 0, 0] * 10, np.full(30, 0.6)),
    "two rows": ([1, 0], [0.7, 0.2]),
}


@pytest.mark.parametrize("kind", DEGENERATE)
@pytest.mark.parametrize("interval", ["auto", "percentile", "bca"])
def test_degenerate_samples_end_in_a_reason_or_a_sane_interval(kind: str, interval: str) -> None:
    y, s = DEGENERATE[kind]
    ev = cl.evaluate(y, s, quota=min(5, len(y)), interval=interval, n_resamples=100)
    for key, e in ev.estimates.items():
        low, high = ev.specs[key].measure.range
        if math.isnan(e.value):
            assert e.reason, key
        elif key in ("average_gain", "linear_ranking") and interval == "auto" and "no " in kind:
            assert math.isnan(e.low), key  # without a pair of classes their spread is not known, and not 0
        else:
            assert not math.isnan(e.low), key
            assert low - 1e-9 <= e.low <= e.high <= high + 1e-9, key


@pytest.mark.parametrize("kind", ["perfect", "one positive", "two rows"])
def test_no_proportion_and_no_area_is_certain(kind: str) -> None:
    """A share of 1 in a few cases is no certainty: closed forms keep some width where the bootstrap has none."""
    y, s = DEGENERATE[kind]
    ev = cl.evaluate(y, s, quota=1, n_resamples=50)
    for name in ["roc_auc", "gini", "pem", "accuracy", "recall", "specificity", "hit_rate", "balanced_accuracy"]:
        assert ev[name].high - ev[name].low > 0.05, name


# --- methods by name -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", limits.METHODS)
@pytest.mark.parametrize("name", PROPORTIONS)
def test_proportions_by_name_have_their_own_denominator(
    by_method: dict[str, cl.results.Evaluation], method: str, name: str
) -> None:
    ev = by_method[method]
    e = ev[name]
    at = ev.at(quota=20) if name in ("hit_rate", "qrecall", "quota_lift") else ev.at(threshold=0.5)
    tp, fp, fn, tn = at.tp, at.fp, at.fn, at.tn
    r, n = {
        "accuracy": (tp + tn, tp + fp + fn + tn),
        "error_rate": (fp + fn, tp + fp + fn + tn),
        "zero_one_loss": (fp + fn, tp + fp + fn + tn),
        "recall": (tp, tp + fn),
        "false_negative_rate": (fn, tp + fn),
        "specificity": (tn, tn + fp),
        "false_positive_rate": (fp, tn + fp),
        "precision": (tp, tp + fp),
        "false_discovery_rate": (fp, tp + fp),
        "negative_predictive_value": (tn, tn + fn),
        "hit_rate": (tp, 20),
        "qrecall": (tp, tp + fn),
        "quota_lift": (tp, tp + fn),
    }[name]
    scale = {"zero_one_loss": n, "quota_lift": (tp + fp + fn + tn) / 20}.get(name, 1.0)
    expected = limits.METHODS[method](r, n, 0.95)
    assert (e.low / scale, e.high / scale) == pytest.approx(tuple(expected), abs=1e-9)
    assert e.method == method
    assert e.value / scale == pytest.approx(r / n)


@pytest.mark.parametrize("method", limits.METHODS)
def test_a_method_for_proportions_leaves_the_others_bare(
    by_method: dict[str, cl.results.Evaluation], method: str
) -> None:
    ev = by_method[method]
    assert {key.split("@")[0] for key, e in ev.estimates.items() if e.method} == set(PROPORTIONS)
    assert math.isnan(ev["roc_auc"].low)
    assert not math.isnan(ev["roc_auc"].value)


@pytest.mark.parametrize("method", ["delong", "delong_logit"])
def test_a_method_for_the_auc_serves_its_relatives(by_method: dict[str, cl.results.Evaluation], method: str) -> None:
    assert {key for key, e in by_method[method].estimates.items() if e.method} == set(AUC_FAMILY)


@pytest.mark.parametrize("method", BOOTSTRAPS)
def test_a_bootstrap_by_name_serves_every_measure(by_method: dict[str, cl.results.Evaluation], method: str) -> None:
    for key, e in by_method[method].estimates.items():
        assert e.method == method or math.isnan(e.value), key
        assert not math.isnan(e.low) or math.isnan(e.value), key


def test_bootstrap_without_a_name_is_a_bootstrap_for_every_measure(by_method: dict[str, cl.results.Evaluation]) -> None:
    methods = {e.method for e in by_method["bootstrap"].estimates.values() if e.value == e.value}
    assert methods <= FROM_REPLICATES


def test_none_asks_for_no_interval() -> None:
    ev = evaluated(random_case(3, 120, 40), None)
    assert all(math.isnan(e.low) and not e.method for e in ev.estimates.values())


@pytest.mark.parametrize("method", sorted(set(NAMES) - MAY_LEAVE_THE_RANGE))
def test_methods_stay_inside_the_range(by_method: dict[str, cl.results.Evaluation], method: str) -> None:
    for key, e in by_method[method].estimates.items():
        if e.low == e.low:
            low, high = by_method[method].specs[key].measure.range
            assert low - 1e-9 <= e.low <= e.high <= high + 1e-9, key


@pytest.mark.parametrize("method", NAMES)
def test_a_higher_level_is_wider(method: str) -> None:
    case = random_case(3, 80, 30)
    inner, outer = (evaluated(case, method, level=level) for level in (0.8, 0.98))
    compared = 0
    for key, a in inner.estimates.items():
        b = outer.estimates[key]
        if a.low == a.low:
            assert b.low <= a.low + 1e-12, key
            assert b.high >= a.high - 1e-12, key
            compared += b.high - b.low > a.high - a.low
    assert compared >= 6  # of the six relatives of the AUC, at least, all are wider


# --- closed forms of the four cells ----------------------------------------------------------------------------


def test_closed_forms_by_hand() -> None:
    """TP 30, FP 20, FN 10, TN 140, each formula written out."""
    y = np.repeat([1, 0, 1, 0], [30, 20, 10, 140])
    s = np.repeat([0.9, 0.8, 0.2, 0.1], [30, 20, 10, 140])
    ev = cl.evaluate(y, s, n_resamples=50)
    z = limits.z_of(0.95)

    def wilson(r: float, n: float) -> tuple[float, float]:
        middle, half = r + z * z / 2, z * math.sqrt(r * (n - r) / n + z * z / 4)
        return (middle - half) / (n + z * z), (middle + half) / (n + z * z)

    (l1, u1), (l2, u2) = wilson(30, 40), wilson(20, 160)
    j = 0.75 - 0.125
    youden = j - math.hypot(0.75 - l1, u2 - 0.125), j + math.hypot(u1 - 0.75, 0.125 - l2)
    assert ev["youden_index"].interval == pytest.approx(youden)
    assert ev["balanced_accuracy"].interval == pytest.approx(tuple((x + 1) / 2 for x in youden))

    def ratio_ends(p: float, q: float, one: tuple[float, float], two: tuple[float, float]) -> list[float]:
        """Where the line p − r·q of two independent rates is as far from 0 as their Wilson limits allow (MOVER)."""

        def beyond(r: float) -> float:
            below = r < p / q
            gap = math.hypot(p - one[0], r * (two[1] - q)) if below else math.hypot(one[1] - p, r * (q - two[0]))
            return abs(p - r * q) - gap

        return [optimize.brentq(beyond, 1e-9, p / q), optimize.brentq(beyond, p / q, 1e3)]

    plus = ratio_ends(0.75, 0.125, (l1, u1), (l2, u2))
    assert ev["positive_likelihood_ratio"].interval == pytest.approx(tuple(plus), rel=1e-6)
    minus = ratio_ends(0.25, 0.875, wilson(10, 40), wilson(140, 160))
    assert ev["negative_likelihood_ratio"].interval == pytest.approx(tuple(minus), rel=1e-6)
    low, high = wilson(30, 60)
    assert ev["f1"].interval == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)))


@pytest.mark.parametrize("name", ["matthews_correlation", "cohen_kappa"])
def test_correlations_by_the_delta_method_agree_with_the_bootstrap(name: str) -> None:
    """Standard error on the scale of atanh, against that of plain replicates of the same 2,000 rows."""
    case = random_case(5, 2000, 200)
    closed = cl.evaluate(case.y, case.s, measures=[name])[name]
    drawn = cl.evaluate(case.y, case.s, measures=[name], interval="percentile", stratify=False, n_resamples=4000)[name]
    widths = [math.atanh(e.high) - math.atanh(e.low) for e in (closed, drawn)]
    assert widths[0] == pytest.approx(widths[1], rel=0.06)


@pytest.mark.parametrize("name", ["average_precision", "average_hit_rate", "pr_auc_min", "pr_auc_minmax", "pr_auc_max"])
def test_areas_under_precision_recall_take_the_logit_scale(name: str) -> None:
    """t quantile times the standard error of plain replicates; trapezoids are too small, so their upper limit is up."""
    case = random_case(5, 300, 200)
    e = cl.evaluate(case.y, case.s, measures=[name], n_resamples=1500, seed=3)[name]
    sample, spec = make_sample(case.y, case.s), cl.parse_measure(name)
    resampler = Resampler(sample, rank(sample), stratified=False, seed=3)
    error = replicate([spec], {spec: e.value}, resampler, 1500, jackknife=False)[spec].values.std(ddof=1)
    area = spec.measure.perfect_area
    raised = e.value + (0.0 if area is None else (1.0 - area(int(case.y.sum()), len(case.y))) / 2.0)
    logit = {x: math.log(x / (1 - x)) for x in (e.low, e.value, raised, e.high)}
    halves = [
        (logit[e.value] - logit[e.low]) / (error / (e.value * (1 - e.value))),
        (logit[e.high] - logit[raised]) / (error / (raised * (1 - raised))),
    ]
    assert halves[0] == pytest.approx(halves[1])
    assert 1.96 <= halves[0] < 2.3
    assert e.method == "logit"


def test_hits_at_a_quota_allow_for_the_cut_that_moves() -> None:
    """The limits solve |ĥ − h| = z·√([h(1−h) + (1−q)(h−p)²]/k), p being the share of positives around the cut."""
    rng = np.random.default_rng(6)
    y = rng.random(400) < 0.3
    case = Case(y, rng.normal(size=400) + y)
    e = cl.evaluate(case.y, case.s, measures=["hit_rate@40"])["hit_rate@40"]
    assert e.method == "moving_cut"
    cut = Cuts(*[rank(make_sample(case.y, case.s)).__dict__[side] for side in ("pos", "neg")]).at(40.0, 40 * e.value)
    order = np.argsort(-case.s)
    window = math.ceil(2 * math.sqrt(40 * 0.9))
    assert cut.chance == pytest.approx(case.y[order][40 - window : 40 + window].mean())
    z = limits.z_of(0.95)
    ends = [[], []]
    for chance in cut.chances:

        def gap(h: float, p: float = chance) -> float:
            return abs(e.value - h) - z * math.sqrt((h * (1 - h) + 0.9 * (h - p) ** 2) / 40)

        ends[0].append(optimize.brentq(gap, 0.0, e.value))
        ends[1].append(optimize.brentq(gap, e.value, 1.0))
    assert e.interval == pytest.approx((min(ends[0]), max(ends[1])))


def test_qrecall_and_lift_at_a_quota_agree_with_the_bootstrap() -> None:
    """Closed form from the influences of the rows; the lift at the quota is Qrecall times n/quota."""
    case = random_case(6, 400, 10_000)
    names = ["qrecall@40", "quota_lift@40"]
    ev = cl.evaluate(case.y, case.s, measures=names)
    drawn = cl.evaluate(case.y, case.s, measures=names, interval="percentile", n_resamples=4000)
    e, lift = ev["qrecall@40"], ev["quota_lift@40"]
    assert e.method == lift.method == "moving_cut_recall"
    assert e.interval.width == pytest.approx(drawn["qrecall@40"].interval.width, rel=0.15)
    assert lift.interval == pytest.approx((e.low * 10, e.high * 10))


def test_losses_take_wilsons_interval_where_they_are_zero_or_one() -> None:
    """Probabilities of 0 and 1 make the Brier score a share of errors."""
    y = np.repeat([1, 0, 1, 0], [30, 20, 10, 140])
    s = np.repeat([1.0, 1.0, 0.0, 0.0], [30, 20, 10, 140])
    e = cl.evaluate(y, s, measures=["brier_score"])["brier_score"]
    low, high = limits.wilson(30, 200, 0.95)
    assert (e.low, e.high) == pytest.approx((low, high), rel=0.03)  # t for z


@pytest.mark.parametrize("weight", [None, 2.0])
@pytest.mark.parametrize("score", [0.0, 0.001])
def test_the_log_loss_of_equal_losses_is_bounded_in_its_own_unit(score: float, weight: float | None) -> None:
    y = np.arange(101) < 33
    p = np.where(y, 1.0 - score, score)
    weights = None if weight is None else np.where(y, weight, 1.0)
    bits, nats = (
        cl.evaluate(y, p, measures=[name], sample_weight=weights)[name]
        for name in ("log_loss", "log_loss(base=2.718281828459045)")
    )
    assert nats.high < 1.0
    assert nats.high == pytest.approx(bits.high * math.log(2.0), rel=1e-6)


@pytest.mark.parametrize("world", ["perfect", "constant but one", "four rows"])
def test_no_interval_has_zero_width(world: str) -> None:
    y, s = {
        "perfect": (np.arange(50) < 20, np.linspace(0.999, 0.001, 50)),
        "constant but one": (np.arange(30) < 10, np.r_[0.9, np.full(29, 0.4)]),
        "four rows": (np.array([1, 0, 1, 0]), np.array([0.9, 0.8, 0.3, 0.1])),
    }[world]
    degenerate = {"lift", "gain", "average_lift", "information_score", "quota_pearson", "misclassification_ranking"}
    ev = cl.evaluate(y, s, quota=2, n_resamples=200)
    for key, e in ev.estimates.items():
        if e.low == e.low and ev.specs[key].measure.name not in degenerate:
            assert e.low < e.high, (key, e)


@pytest.mark.parametrize("hits", ["all", "none"])
def test_a_qrecall_of_all_or_none_is_not_certain(hits: str) -> None:
    s = np.linspace(0.99, 0.01, 60)
    y = np.isin(np.arange(60), [0, 1, 2] if hits == "all" else [40, 45, 50])
    e = cl.evaluate(y, s, measures=["qrecall@20"])["qrecall@20"]
    assert e.value == (1.0 if hits == "all" else 0.0)
    assert e.high - e.low > 0.2


# --- long lists ------------------------------------------------------------------------------------------------


TOP = {"hit_rate@1-5": 5, "hit_rate@20-40": 40, "hit_rate@20:0.5,40:0.5": 40, "ndcg@5": 5, "ndcg@10": 10}
TOP |= {"bedroc(alpha=160)": 10, "reciprocal_rank": 1}


@pytest.mark.parametrize(("name", "places"), TOP.items())
def test_a_perfect_top_is_no_surer_than_its_places(name: str, places: int) -> None:
    y, p = np.r_[np.ones(50), np.tile([0, 1], 175)].astype(int), np.linspace(1.0, 0.0, 400)
    for how in ({}, {"sample_weight": np.full(400, 2.0)}, {"clusters": np.arange(400) // 2}):
        e = cl.evaluate(y, p, measures=[name], **how)[name]
        assert e.value == pytest.approx(1.0)
        assert e.value <= e.high == 1.0
        assert e.low <= limits.wilson(places, places, 0.95).low, how


@pytest.mark.parametrize(("name", "places"), [("partial_auc(fpr=0.1)", 5), ("partial_auc(tpr=0.9)", 6)])
def test_a_perfect_part_of_the_curve_rests_on_the_cases_in_it(name: str, places: int) -> None:
    y, p = (np.arange(110) < 60).astype(int), np.linspace(1.0, 0.0, 110)
    for how in ({}, {"sample_weight": np.ones(110) * 2.0}, {"clusters": np.arange(110)}):
        part = cl.evaluate(y, p, measures=[name], **how)[name]
        assert part.low <= 0.1 * limits.wilson(places, places, 0.95).low + 1e-9
        assert part.high == pytest.approx(0.1)


@pytest.mark.parametrize(("name", "chance"), [("hit_rate@20-40", 0.95), ("hit_rate@5-10", 0.9), ("ndcg@10", 0.9)])
def test_intervals_of_a_nearly_perfect_top_contain_the_truth(name: str, chance: float) -> None:
    rng, found = np.random.default_rng(1), 0
    for _ in range(150):  # every place that counts is a hit with the same chance, so that is the truth
        s = rng.random(400)
        e = cl.evaluate(rng.random(400) < np.where(s > 0.85, chance, 0.4), s, measures=[name], n_resamples=200)[name]
        found += e.low <= chance <= e.high
    assert found >= 137  # 91%; 95% of 150 have a standard error of 1.8%


@pytest.mark.parametrize("interval", ["auto", "bca", "percentile"])
def test_weighted_intervals_do_not_depend_on_the_order_of_rows(interval: str) -> None:
    rng = np.random.default_rng(0)
    y, w = (rng.random(300) < 0.4).astype(int), rng.integers(1, 5, 300) / 2.0
    p = np.round(0.3 * y + 0.7 * rng.random(300), 1)  # ties, in which rows weigh differently
    order = rng.permutation(300)
    how: dict[str, Any] = {"quota": 20, "interval": interval, "n_resamples": 200}
    one, other = (cl.evaluate(y[i], p[i], sample_weight=w[i], **how) for i in (np.arange(300), order))
    for key, e in one.estimates.items():
        assert [e.low, e.high] == pytest.approx([other[key].low, other[key].high], rel=1e-9, abs=1e-9, nan_ok=True), key


def test_long_lists_get_intervals_like_those_of_the_bootstrap() -> None:
    """Methods of long lists are those of short ones, and as long as those of 150 replicates, which vary by 8%."""
    rng = np.random.default_rng(0)
    n = 100_000
    y = rng.random(n) < 0.2
    p = 1 / (1 + np.exp(-(1.35 * (rng.standard_normal(n) + 1.35 * y) - 1.35**2 / 2 + math.log(0.25))))
    names = ["brier_score", "log_loss", "information_score", "g_measure(threshold=0.2)", "lift(threshold=0.2)"]
    names += ["average_lift", "average_qrecall", "auch", "quadratic_ranking", "gain(threshold=0.2)"]
    blocked = cl.evaluate(y, p, measures=names)
    drawn = cl.evaluate(y, p, measures=names, interval="percentile", stratify=False, n_resamples=150)
    assert {e.method for e in blocked.estimates.values()} == {"logit", "hull", "scaled", "loss_score", "places"}
    ratios = {}
    for key, e in blocked.estimates.items():
        assert e.low < e.value < e.high, key
        ratios[key] = (e.high - e.low) / (drawn[key].high - drawn[key].low)
        assert 0.7 < ratios[key] < 1.45, key
    assert np.mean(list(ratios.values())) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_quadratic_ranking_varies_as_its_replicates_do(share: float) -> None:
    """Also where most rows are positive: what a row adds itself and what it adds by lifting others nearly cancel."""
    rng = np.random.default_rng(4)
    y = rng.random(600) < share
    p = np.round(rng.normal(size=600) + 1.2 * y, 1)
    one = cl.evaluate(y, p, measures=["quadratic_ranking"])["quadratic_ranking"]
    how: dict[str, Any] = {"interval": "percentile", "stratify": False, "n_resamples": 2000}
    drawn = cl.evaluate(y, p, measures=["quadratic_ranking"], **how)["quadratic_ranking"]
    assert one.method == "places"
    assert one.high - one.low == pytest.approx(drawn.high - drawn.low, rel=0.15)


# --- weights and groups ----------------------------------------------------------------------------------------


def test_weighted_samples_take_the_bootstrap() -> None:
    case = random_case(4, 100, 30, weighted=True)
    ev = evaluated(case, quota=None)
    for key, e in ev.estimates.items():
        assert e.method in FROM_REPLICATES | OF_CUTS or math.isnan(e.value), key
        assert e.low <= e.high or math.isnan(e.value), key
    assert "roc_auc" in ev


def test_equal_weights_change_no_bootstrap() -> None:
    """Weights of 2 everywhere: the same draws of the same rows, so the same intervals of intensive measures."""
    case = random_case(4, 100, 30)
    bare = evaluated(case, "percentile", quota=None)
    twice = evaluated(Case(case.y, case.s, np.full(100, 2.0)), "percentile", quota=None)
    count_cases = ("taks", "average_lift", "average_hit_rate", "average_qrecall")  # quotas of 1 to 200, not to 100
    for key, e in twice.estimates.items():
        if not twice.specs[key].measure.extensive and e.value == e.value and key not in count_cases:
            assert (e.low, e.high) == pytest.approx((bare[key].low, bare[key].high), rel=1e-9), key


def test_grouped_rows_take_the_bootstrap_and_are_wider_where_rows_repeat() -> None:
    one = random_case(4, 300, 10_000)
    case = Case(np.repeat(one.y, 3), np.repeat(one.s, 3))
    clusters = np.repeat(np.arange(300), 3)
    grouped = evaluated(case, clusters=clusters, n_resamples=1000)
    bare = evaluated(case, "percentile", n_resamples=1000)
    assert {e.method for e in grouped.estimates.values() if e.value == e.value} <= FROM_REPLICATES | OF_CUTS
    for name in ("accuracy", "roc_auc", "log_loss"):
        wider = (grouped[name].high - grouped[name].low) / (bare[name].high - bare[name].low)
        assert wider == pytest.approx(math.sqrt(3), rel=0.2), name


# --- refusals --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"interval": "normal"}, "wilson"),
        ({"level": 95}, "level"),
        ({"level": 0.0}, "level"),
        ({"n_resamples": 1}, "n_resamples"),
        ({"n_resamples": 10.5}, "n_resamples"),
        ({"seed": "x"}, "seed"),
    ],
)
def test_settings_are_checked(said: dict[str, Any], says: str) -> None:
    with pytest.raises(cl.InputError, match=says):
        cl.evaluate([1, 0], [0.9, 0.1], **said)


# --- what a reader must know of an interval ----------------------------------------------------------------------


def test_weights_that_leave_few_cases_are_named() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.3
    s = 1 / (1 + np.exp(-(y + rng.normal(size=200))))
    heavy = np.where(np.arange(200) % 10 == 0, 50.0, 1.0)
    ev = cl.evaluate(y, s, sample_weight=heavy, measures=["roc_auc"], n_resamples=100)
    sizes = [w.sum() ** 2 / (w**2).sum() for w in (heavy[y], heavy[~y])]
    assert sizes[0] < 30
    (said,) = ev.notices
    assert f"{sizes[0]:.0f} positives ({y.sum()} rows)" in said
    assert said in repr(ev)
    assert said in json.loads(ev.to_json())["notices"]
    assert np.isfinite(ev["roc_auc"].interval).all()  # the interval is given all the same
    assert cl.compare(y, {"a": s, "b": 1 - s}, sample_weight=heavy, measures=["brier_score"]).notices == [said]
    for plain in (None, np.full(200, 2.0), np.where(y, 0.2, 1.8)):
        assert cl.evaluate(y, s, sample_weight=plain, measures=["brier_score"]).notices == []


def test_pearson_at_a_quota_says_that_its_interval_is_too_short() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    ev = cl.evaluate(y, y + rng.normal(size=200), measures=["quota_pearson@60", "hit_rate@60"], n_resamples=100)
    one, other = ev.to_dicts()
    assert "too short" in one["caution"]
    assert other["caution"] == ""
    assert one["caution"] in repr(ev)


# --- counted coverage ------------------------------------------------------------------------------------------


def benchmark(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    folder = Path(__file__).parent.parent / "benchmarks"
    monkeypatch.syspath_prepend(str(folder))  # the one imports the other
    monkeypatch.setattr("cutline.inference.resampling.cores", lambda: 1)  # short passes: threads would cost more
    spec = importlib.util.spec_from_file_location(f"{name}_benchmark", folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[f"{name}_benchmark"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("world", [".83, 300", "60 × 5"])
def test_default_intervals_hold_the_truth_about_as_often_as_they_say(
    world: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """40 samples: a 95 % interval misses more than 7 of 40 once in some three hundred times."""
    worlds = benchmark("coverage_worlds", monkeypatch)
    chosen = next(one for one in worlds.WORLDS if one.name == world)
    counts = list(worlds.intervals(chosen, 40))
    assert len(counts) >= 40
    for count in counts:
        assert count.share >= 33 / 40 or count.what in worlds.MAY_FALL_SHORT, count
        assert not count.without_width, count


def test_the_count_can_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Methods side by side on 80 samples of 200 rows: replicates that fix the class sizes miss what depends on them."""
    counted = benchmark("coverage", monkeypatch)
    cell = counted.Cell(200, 0.2, False)
    _, values, found, taken = counted.chunk(cell, 0, 80, 300)
    shares = {(r.measure, r.method): r.share for r in counted.count(cell, values, found) if r.truth != "at this n"}
    assert shares["brier_score", "percentile stratified"] < 0.92
    for name in ("accuracy", "brier_score", "roc_auc", "average_precision", "hit_rate", "f1"):
        assert shares[name, "auto"] >= 71 / 80, name
        assert sum(taken[name].values()) == 80


def test_the_guide_has_a_place_for_every_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    worlds = benchmark("coverage_worlds", monkeypatch)
    page = tmp_path / "page.md"
    page.write_text(worlds.DOCS.read_text(encoding="utf-8"), encoding="utf-8")
    for name in worlds.SECTIONS:
        worlds.write(name, f"| table of {name} |", page)
    told = page.read_text(encoding="utf-8")
    assert all(f"\n\n| table of {name} |\n\n" in told for name in worlds.SECTIONS)
    assert told.count("<!-- counted:") == told.count("<!-- end:") == len(worlds.SECTIONS)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99, 0.999, 0.9999, 0.99999, 1 - 1e-6, 1 - 1e-9])
def test_t_quantiles_agree_with_scipy_at_every_level_and_freedom(level: float) -> None:
    freedoms = np.concatenate([[0.5, 1.0, 3.9, 4.0, 999.0, 1000.0], np.geomspace(1.0, 1e9, 300)])
    made = [t_quantile(level, float(freedom)) for freedom in freedoms]
    # fewer than one degree of freedom count as one
    np.testing.assert_allclose(made, stdtrit(np.maximum(freedoms, 1.0), 0.5 + level / 2), rtol=1e-8)


@pytest.mark.parametrize("number", range(12))
def test_intervals_hold_where_few_cases_carry_a_measure(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    worlds = benchmark("coverage_worlds", monkeypatch)
    counts = list(worlds.HARD[number].counts(80, population=200_000))
    assert counts
    for count in counts:  # 80 samples: two Monte-Carlo errors below the target, which the faults miss by far more
        assert not count.clearly_short, f"{count.world}: {count.what} {count.share:.3f}"


@pytest.mark.parametrize(("n", "n_pos"), [(101, 3), (101, 33), (213, 3), (213, 71)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_information_of_a_perfect_list_is_not_certain(n: int, n_pos: int, weighted: bool) -> None:
    y = np.arange(n) < n_pos
    weight = np.linspace(1.0, 2.0, n) if weighted else None
    found = cl.evaluate(
        y, y.astype(float), measures=["relative_information_score"], n_resamples=50, sample_weight=weight
    )["relative_information_score"]
    assert found.value == pytest.approx(1.0)
    assert -5.0 < found.low < 0.99
    assert found.high == 1.0


def test_intervals_answer_at_every_level() -> None:
    rng = np.random.default_rng(5)
    y = rng.random(60) < 0.3
    p = 1 / (1 + np.exp(-(rng.normal(size=60) + 1.5 * y - 1)))
    lengths = []
    for level in (0.5, 0.9, 0.95, 0.9999, 0.99999, 1 - 1e-9):
        ev = cl.evaluate(y, p, quota=10, level=level, n_resamples=20)
        lengths.append([ev[name].high - ev[name].low for name in ("roc_auc", "brier_score", "lift")])
    assert (np.diff(lengths, axis=0) > 0).all()


def test_the_method_bootstrap_is_not_the_percentile_interval() -> None:
    rng = np.random.default_rng(8)
    y = rng.random(120) < 0.3
    p = rng.normal(size=120) + y
    how: dict[str, Any] = {"measures": ["accuracy", "lift"], "n_resamples": 200, "threshold": 0.5}
    drawn = cl.evaluate(y, p, interval="bootstrap", **how)
    quantiles = cl.evaluate(y, p, interval="percentile", **how)
    for name in ("accuracy", "lift"):
        assert drawn[name].method != "percentile"
        assert drawn[name].low != quantiles[name].low
    assert quantiles["lift"].method == "percentile"


def test_effective_freedom_is_that_of_the_variance_estimate() -> None:
    rng = np.random.default_rng(3)
    normal = rng.normal(size=4000)
    assert 3000 < effective_freedom(normal) <= 3999  # Σψ² of normal influences is χ² with n degrees
    assert effective_freedom(np.r_[np.zeros(996), [1.0, -1.0, 1.0, -1.0]]) == pytest.approx(2 * 16 / (4 - 16 / 1000))
    assert effective_freedom(np.r_[1.0, np.zeros(99)]) == pytest.approx(2 / (1 - 1 / 100))
    assert freedom_in_small_class(50.0, 5.0) == 4.0
    assert freedom_in_small_class(50.0, 6.0) == 50.0


def test_no_skill_leaves_the_lower_limit_of_ks_at_0() -> None:
    rng = np.random.default_rng(6)
    y = np.arange(25) < 10
    lows = [
        cl.evaluate(y, rng.normal(size=25), measures=["ks_statistic"], n_resamples=20)["ks_statistic"].low
        for _ in range(60)
    ]
    assert np.count_nonzero(np.array(lows) == 0.0) >= 55


def test_the_auc_of_nearly_perfect_models_is_no_surer_than_newcombe_says() -> None:
    few, _ = auc_interval(0.99, 1e-6, 50, 950, 0.95, 8.0, logit=True)
    many, _ = auc_interval(0.99, 1e-6, 50, 950, 0.95, 80.0, logit=True)
    assert few.low == newcombe_limits(0.99, 50, 950, limits.z_of(0.95)).low < many.low


def test_a_hull_interval_stays_between_chance_and_one() -> None:
    rng = np.random.default_rng(4)
    y = np.arange(24) < 8
    for _ in range(10):  # no skill: the AUC's lower limit lies below ½, which no hull's area can
        auch = cl.evaluate(y, rng.normal(size=24), measures=["auch"], n_resamples=50)["auch"]
        assert 0.5 <= auch.low <= auch.value <= auch.high <= 1.0


def test_the_gamma_limits_of_a_skewed_mean_allow_for_one_more_unit() -> None:
    each = np.zeros(12)
    each[0] = 6.0  # one busy day of twelve
    low, high = skewed_mean_limits(each, 0.95, 1.0)
    mirrored = skewed_mean_limits(-each, 0.95, 1.0)
    assert (low, high) == pytest.approx((-mirrored.high, -mirrored.low))
    assert low < 0.5 < high  # the mean
    assert high > 2.0  # four such days would not be odd
    wider = skewed_mean_limits(each, 0.99, 1.0)
    assert wider.low < low
    assert wider.high > high
    for units, more in ((12, 1.0), (40, 0.75)):  # no gain and no loss seen: one more unit, whose gamma is exponential
        reach = -np.log(0.025) * more / units
        assert skewed_mean_limits(np.zeros(units), 0.95, 1.0) == pytest.approx((-reach, reach))


def test_the_declared_algebra_of_intervals_is_that_of_the_measures() -> None:
    by_name = {m.name: m for m in SCORED}
    for n_pos, n in ((3, 10), (7, 40)):
        y, p = np.arange(n) < n_pos, -np.arange(n, dtype=float)
        for name in ("pr_auc_min", "pr_auc_minmax", "pr_auc_max"):
            area = by_name[name].perfect_area
            assert area is not None
            assert area(n_pos, n) == pytest.approx(getattr(cl, name)(y, p)), name


def test_names_of_methods_stand_in_one_place() -> None:
    """What may be asked for and what declarations name: each has its function, and no function another name."""
    of_classes = {m.interval for m in cl.measures("classes")} | {"delta"}
    assert set(limits.METHODS) == set(get_args(ProportionName))
    assert set(get_args(IntervalMethod)) - set(METHODS) <= of_classes
    assert set(NAMES) - {"auto", "bootstrap"} <= set(METHODS)
    assert {m.interval for m in SCORED} <= set(METHODS)

"""One cut of the list: counts, tie range, and the interval that is to hold the hits in the next batch."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import cutline as cl
from cutline.inference.closed_forms import Cuts, QuotaCut, expected_hits_limits, next_hits_limits
from cutline.inference.limits import beta_binomial_quantiles
from cutline.table import cut_text, percentage
from samples import Case, cases

Y = [1, 1, 0, 1, 0, 0, 1, 0]
S = [0.9, 0.8, 0.8, 0.6, 0.6, 0.6, 0.3, 0.1]


def at(**cut: float) -> cl.results.OperatingPoint:
    return cl.evaluate(Y, S, interval=None).at(**cut)


def test_inside_a_tie_by_hand() -> None:
    """Five places: three whole (2 hits), two of the three at 0.6 (1 positive): 2 + 2/3 hits, at worst 2, at best 3."""
    point = at(quota=5)
    assert (point.threshold, point.taken, point.tied, point.from_tie) == (0.6, 5, 3, 2)
    assert (point.tp, point.fp, point.fn, point.tn) == pytest.approx((8 / 3, 7 / 3, 4 / 3, 5 / 3))
    assert (point.hits_worst, point.hits_best) == (2, 3)
    assert point.hit_rate == pytest.approx(8 / 15)
    assert point.qrecall == pytest.approx(2 / 3)
    assert point.fpr == pytest.approx(7 / 12)
    assert point.lift == pytest.approx((8 / 15) / 0.5)
    assert point.pearson == pytest.approx(cl.quota_pearson(Y, S, quota=5))


@pytest.mark.parametrize(
    ("y", "quota", "worst", "best"), [([1, 1, 0], 2, 1, 2), ([1, 0, 0], 2, 0, 1), ([1, 1, 1], 2, 2, 2)]
)
def test_a_tie_may_be_too_short_of_one_class(y: list[int], quota: int, worst: int, best: int) -> None:
    """Two of three tied rows: with a single negative among them, one place at least goes to a positive."""
    point = cl.evaluate(y, [0.5] * 3, interval=None, measures=["accuracy"]).at(quota=quota)
    assert (point.hits_worst, point.hits_best) == (worst, best)


def test_between_ties_nothing_is_open() -> None:
    point = at(quota=6)
    assert (point.tp, point.fp, point.tied, point.from_tie) == (3, 3, 0, 0)
    assert point.hits_worst == point.hits_best == point.tp
    assert point.threshold == 0.3  # everything above it is taken
    assert at(quota=8).threshold == float("-inf")


def test_other_ways_to_name_a_cut() -> None:
    assert at(threshold=0.6).taken == 3
    assert at(threshold=0.6).threshold == 0.6
    assert at(recall=0.75).taken == 6
    assert at(recall=0.5).taken == 3
    assert at(precision=0.6).taken == 3
    assert at(precision=0.57).taken == 7  # 4 of 7, although 3 of 6 is below
    assert at(fpr=0.5).taken == 3
    assert at(fpr=0.75).taken == 7
    with pytest.raises(cl.InputError, match="exactly one"):
        at(quota=3, threshold=0.5)
    with pytest.raises(cl.InputError, match="exactly one"):
        at()


@given(cases(("ties", "one"), min_size=1, max_size=9), st.data())
def test_tie_range_is_that_of_all_fillings(case: Case, data: st.DataObject) -> None:
    """Every way to fill the quota from the tie: fewest, most and mean hits."""
    quota = data.draw(st.integers(1, len(case.y)))
    edge = np.sort(case.s)[::-1][quota - 1]
    above, tied = np.flatnonzero(case.s > edge), np.flatnonzero(case.s == edge)
    hits = [int(case.y[above].sum() + case.y[list(taken)].sum()) for taken in combinations(tied, quota - len(above))]
    point = cl.evaluate(case.y, case.s, interval=None, measures=["roc_auc"]).at(quota=quota)
    assert (point.hits_worst, point.hits_best) == (min(hits), max(hits))
    assert point.tp == pytest.approx(np.mean(hits))
    assert point.tp + point.fp == pytest.approx(quota)
    assert point.tp + point.fn == pytest.approx(case.y.sum())


def test_expected_hits_lie_where_hit_rate_and_qrecall_agree() -> None:
    ev = cl.evaluate(Y, S, measures=["hit_rate@3", "qrecall@3"])
    point = ev.at(quota=3)
    rate, found = ev["hit_rate@3"], ev["qrecall@3"]
    positives = point.tp + point.fn
    low, high = max(3 * rate.low, positives * found.low), min(3 * rate.high, positives * found.high)
    assert (point.expected_hits.low, point.expected_hits.high) == pytest.approx((low, high))
    assert point.expected_hits.method == rate.method


@pytest.mark.parametrize("weighted", [False, True])
def test_no_interval_of_hits_goes_beyond_what_is_possible(weighted: bool) -> None:
    """A list cannot find more positives than it has, nor more than it has places; all places find them all."""
    rng = np.random.default_rng(5)
    y = rng.random(400) < 0.22
    s = rng.normal(y * 1.2)
    weight = rng.integers(1, 4, 400).astype(float) if weighted else None
    ev = cl.evaluate(y, s, sample_weight=weight, measures=["roc_auc"], interval=None)
    positives, cases = (y if weight is None else weight[y]).sum(), ev.ranking.cases
    for quota in [*range(1, int(cases), 7), int(cases)]:
        point = ev.at(quota=quota)
        mean = point.expected_hits
        assert 0 <= mean.low <= point.tp <= mean.high <= min(quota, positives) + 1e-9
        assert 0 <= point.next_hits.low <= point.next_hits.high <= quota
    assert (mean.low, mean.high) == pytest.approx((positives, positives))


def test_qrecall_and_lift_at_few_places_stay_below_what_all_hits_would_give() -> None:
    rng = np.random.default_rng(6)
    y = rng.random(3000) < 0.11
    s = rng.normal(size=3000)
    rarest = cl.proportion_interval(int(y.sum()), 3000, method="wilson").low
    for quota in (1, 2, 3, 5, 20):
        ev = cl.evaluate(y, s, quota=quota, measures=["qrecall", "quota_lift"])
        assert ev[f"quota_lift@{quota}"].high <= 1 / rarest + 1e-9
        assert ev[f"qrecall@{quota}"].high <= quota / 3000 / rarest + 1e-9


@pytest.mark.parametrize(
    ("n", "positives", "distance", "quota"), [(400, 87, 1.2, 87), (400, 87, 1.2, 350), (400, 60, 2.9, 60)]
)
def test_expected_hits_hold_the_mean_of_lists_with_as_many_positives(
    n: int, positives: int, distance: float, quota: int
) -> None:
    rng = np.random.default_rng(12)
    y = np.arange(n) < positives

    def ranked() -> np.ndarray:
        return y[np.argsort(-rng.normal(distance * y))].astype(float)

    truth = np.mean([ranked()[:quota].sum() for _ in range(3000)])
    runs, inside = 500, 0
    for _ in range(runs):
        here = ranked()
        low, high = expected_hits_limits(Cuts(here, 1.0 - here).at(float(quota), float(here[:quota].sum())), 0.95)
        inside += low <= truth <= high
    assert inside / runs >= 0.93


@pytest.mark.parametrize(("hits", "taken"), [(0, 10), (3, 10), (10, 10), (7.5, 40), (60, 200)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_next_hits_are_quantiles_of_the_beta_binomial(hits: float, taken: int, level: float) -> None:
    """Where the whole list is taken the cut cannot move: the predictive distribution after Jeffreys' prior."""
    predictive = stats.betabinom(taken, hits + 0.5, taken - hits + 0.5)
    low, high = next_hits_limits(QuotaCut(hits, taken, hits, taken, hits / taken, 0.0, taken), level)
    assert low == predictive.ppf((1 - level) / 2)
    assert high == predictive.ppf((1 + level) / 2)
    assert predictive.cdf(high) - predictive.cdf(low - 1) >= level


def test_large_batches_join_the_exact_ones() -> None:
    """Beyond 10,000 places a beta distribution stands in; there the exact quantiles are still computable."""
    for share in (0.02, 0.3, 0.9):
        n = 12_000
        a, b = share * n + 0.5, (1 - share) * n + 0.5
        exact = stats.betabinom(n, a, b)
        for q in (0.025, 0.975):
            assert abs(beta_binomial_quantiles([q], n, a, b)[0] - exact.ppf(q)) <= 3


@pytest.mark.parametrize(
    ("n", "quota", "prevalence", "distance"),
    [(400, 20, 0.1, 1.2), (400, 80, 0.25, 1.2), (1000, 50, 0.5, 1.2), (400, 60, 0.15, 2.9), (1000, 200, 0.1, 2.9)],
)
def test_next_hits_hold_the_next_batch(n: int, quota: int, prevalence: float, distance: float) -> None:
    """Two lists from one population, again and again: the interval from the first is to hold the hits of the second.

    The interval for the mean, counted alongside, must fail: it is not meant for a single batch.
    """
    rng = np.random.default_rng(11)
    runs, inside, inside_mean = 1000, 0, 0
    for _ in range(runs):
        found = []
        for _batch in range(2):
            y = rng.random(n) < prevalence
            s = rng.normal(distance * y)
            ranked = y[np.argsort(-s)].astype(float)
            found.append(Cuts(ranked, 1.0 - ranked).at(float(quota), float(ranked[:quota].sum())))
        now, then = found
        inside += then.hits in next_hits_limits(now, 0.95)
        low, high = expected_hits_limits(now, 0.95)
        inside_mean += low <= then.hits <= high
    assert 0.93 <= inside / runs <= 0.995
    assert inside_mean / runs < 0.92


def test_predictive_is_wider_than_the_mean() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.3
    point = cl.evaluate(y, rng.normal(y), interval=None, measures=["roc_auc"]).at(quota=100)
    assert point.next_hits.low < point.expected_hits.low < point.tp < point.expected_hits.high < point.next_hits.high
    assert f"{point.next_hits.low:.0f}" in repr(point)
    assert point.to_dict()["hit_rate"] == point.precision


def test_level_of_the_evaluation_is_the_level_of_the_cut() -> None:
    wide = cl.evaluate(Y * 20, S * 20, interval=None, level=0.99).at(quota=60).next_hits
    narrow = cl.evaluate(Y * 20, S * 20, interval=None, level=0.5).at(quota=60).next_hits
    assert wide.width > narrow.width > 0


def test_weighted_samples_count_cases() -> None:
    ev = cl.evaluate(Y, S, sample_weight=[2.0] * 8, interval=None)
    twice = cl.evaluate(Y * 2, S * 2, interval=None)
    one, other = ev.at(quota=3), twice.at(quota=3)
    assert [one.taken, one.tp, one.fn, one.tied, one.from_tie] == [
        other.taken,
        other.tp,
        other.fn,
        other.tied,
        other.from_tie,
    ]
    point = ev.at(threshold=0.7)
    assert point.taken == 6
    assert 0 <= point.next_hits.low < point.tp <= point.next_hits.high


def test_a_specificity_is_kept_as_a_false_positive_rate_is() -> None:
    y, s = [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], np.linspace(1, 0, 12)
    ev = cl.evaluate(y, s, interval=None)
    for share in (0.0, 0.1, 0.3, 0.7, 0.9, 1.0):
        assert ev.at(specificity=share).taken == ev.at(fpr=1 - share).taken
        assert 1 - ev.at(specificity=share).fpr >= share - 1e-12
        assert cl.threshold_for(y, s, specificity=share) == cl.threshold_for(y, s, fpr=1 - share)
    assert ev.at(specificity=0.9).fp == 1
    with pytest.raises(cl.InputError, match="specificity is undefined: the sample has no negative cases"):
        cl.evaluate([1, 1], [0.2, 0.3], interval=None).at(specificity=0.5)


@pytest.mark.parametrize("seed", range(40))
def test_the_next_list_varies_more_than_the_mean(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 200))
    y = rng.random(n) < 0.4
    y[:2] = True, False
    score = y * rng.choice([2, 4, 8, 100]) + rng.normal(size=n)  # up to perfect lists
    point = cl.evaluate(y, score, interval="auto", measures=["hit_rate@1"]).at(quota=int(rng.integers(1, n)))
    assert point.next_hits.low <= point.expected_hits.low + 1e-9
    assert point.next_hits.high >= point.expected_hits.high - 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_the_cut_that_is_printed_selects_the_same_cases(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.random(300) < 0.4
    for s in (
        rng.normal(size=300),
        1 / (1 + np.exp(-9 * rng.normal(size=300))),
        1e6 * rng.normal(size=300),
        1 - 1e-13 * rng.random(300),
    ):
        ev = cl.evaluate(y, s, threshold=0.5)
        for quota in (1, 9, 50, 120, 299):
            point = ev.at(quota=quota)
            printed = float(cut_text(point.threshold, point.above).replace("−", "-"))
            assert np.count_nonzero(s > printed) == np.count_nonzero(s > point.threshold)
        kept = cl.threshold_for(y, s, specificity=0.9)
        assert np.count_nonzero(s > float(kept.text.replace("−", "-"))) == np.count_nonzero(s > kept)


def test_a_share_below_one_is_not_printed_as_all() -> None:
    y, s = np.repeat([1, 0], 3000), np.r_[np.full(2999, 0.9), 0.1, np.full(3000, 0.2)]
    assert "99.97%" in str(cl.evaluate(y, s, measures=["recall", "accuracy"]))
    assert [percentage(x) for x in (0.0, 0.0004, 0.0999, 0.5, 0.99996, 1.0)] == [
        "0.0%", "0.04%", "10.0%", "50.0%", "99.996%", "100.0%",
    ]  # fmt: skip

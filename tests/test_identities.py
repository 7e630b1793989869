"""One number under many names: identities that hold exactly, ties included."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import cutline as cl
from samples import ANY, UNIT, Case, cases, quietly

NEEDS_OPTION: dict[str, dict[str, Any]] = {"bedroc": {"alpha": 20.0}, "ranking_score": {"g": np.sqrt}}
NO_TIES = cases(("finite", "any"), min_size=2).filter(lambda c: len(set(c.s.tolist())) == len(c.s))


def both(case: Case) -> tuple[np.ndarray, np.ndarray, int, int, int]:
    """Labels, scores, n, n+ and n-, of a sample with both classes."""
    n_pos = int(case.y.sum())
    assume(0 < n_pos < len(case.y))
    return case.y, case.s, len(case.y), n_pos, len(case.y) - n_pos


def close(a: float, b: float, abs_: float = 1e-12) -> bool:
    return math.isclose(a, b, rel_tol=1e-11, abs_tol=abs_)


TIES = pytest.mark.parametrize("ties", ["expected", "best", "worst"])


@TIES
@given(case=cases())
def test_pem_is_gini_is_twice_auc_less_one(case: Case, ties: str) -> None:
    y, s, *_ = both(case)
    auc = cl.roc_auc(y, s, ties=ties)
    assert close(cl.gini(y, s, ties=ties), 2 * auc - 1)
    assert close(cl.pem(y, s, ties=ties), 2 * auc - 1)


@TIES
@given(case=cases())
def test_taks(case: Case, ties: str) -> None:
    y, s, n, _, _ = both(case)
    assert close(cl.taks(y, s, ties=ties), n * (cl.roc_auc(y, s, ties=ties) - 0.5) / (n - 1))


@TIES
@given(case=cases())
def test_average_gain(case: Case, ties: str) -> None:
    y, s, n, n_pos, n_neg = both(case)
    assert close(cl.average_gain(y, s, ties=ties), n_pos * n_neg * (2 * cl.roc_auc(y, s, ties=ties) - 1) / (2 * n))


@TIES
@given(case=cases())
def test_linear_ranking(case: Case, ties: str) -> None:
    y, s, _, n_pos, n_neg = both(case)
    auc = cl.roc_auc(y, s, ties=ties)
    assert close(cl.linear_ranking(y, s, ties=ties), n_pos * n_neg * auc + n_pos * (n_pos + 1) / 2)


@given(case=cases())
def test_rank_sum_of_the_negatives(case: Case) -> None:
    """Berrar Eq. 32: descending mid-ranks of the negatives."""
    y, s, _, n_pos, n_neg = both(case)
    rank_sum = cl.linear_ranking(1 - y, -s)
    assert close(rank_sum, n_pos * n_neg * cl.roc_auc(y, s) + n_neg * (n_neg + 1) / 2)


@given(case=cases())
def test_sum_of_qrecall(case: Case) -> None:
    y, s, n, _, n_neg = both(case)
    total = math.fsum(cl.qrecall(y, s, quota=j) for j in range(1, n + 1))
    assert close(total, (n + 1) / 2 + n_neg * (2 * cl.roc_auc(y, s) - 1) / 2)


@given(case=cases())
def test_average_gain_is_the_mean_of_gains_at_every_quota(case: Case) -> None:
    y, s, n, n_pos, _ = both(case)
    gains = [j * cl.hit_rate(y, s, quota=j) - j * n_pos / n for j in range(1, n + 1)]
    assert close(cl.average_gain(y, s), math.fsum(gains) / n)


@given(case=cases())
def test_average_lift_is_the_mean_of_lifts_at_every_quota(case: Case) -> None:
    y, s, n, _, _ = both(case)
    assert close(cl.average_lift(y, s), math.fsum(cl.quota_lift(y, s, quota=j) for j in range(1, n + 1)) / n)


@given(case=NO_TIES)
def test_average_hit_rate_is_average_precision_without_ties(case: Case) -> None:
    y, s, *_ = both(case)
    assert close(cl.average_hit_rate(y, s), cl.average_precision(y, s))


def test_average_hit_rate_is_not_average_precision_with_ties() -> None:
    y, s = [1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1]
    assert not close(cl.average_hit_rate(y, s), cl.average_precision(y, s))


@given(case=cases())
def test_hit_rate_times_quota_is_qrecall_times_positives(case: Case) -> None:
    y, s, n, n_pos, _ = both(case)
    for j in range(1, n + 1):
        assert close(cl.hit_rate(y, s, quota=j) * j, cl.qrecall(y, s, quota=j) * n_pos)


@given(case=cases())
def test_quota_lift_is_hit_rate_over_prevalence(case: Case) -> None:
    y, s, n, n_pos, _ = both(case)
    for j in {1, n // 2 + 1, n}:
        assert close(cl.quota_lift(y, s, quota=j), cl.hit_rate(y, s, quota=j) * n / n_pos)


@given(case=cases(ANY, weighted=True))
def test_ks_and_the_hull(case: Case) -> None:
    """max |TPR - FPR| is a vertical distance under the hull: KS <= 2 AUCH - 1 where it lies above the diagonal."""
    w = case.w
    assume(w[case.y == 1].sum() > 0 < w[case.y == 0].sum())
    ks, j_max, auch, auc = (
        f(case.y, case.s, sample_weight=w) for f in (cl.ks_statistic, cl.max_youden_index, cl.auch, cl.roc_auc)
    )
    assert j_max <= ks + 1e-12
    assert j_max <= 2 * auch - 1 + 1e-12
    assert auch >= auc - 1e-12
    assert auch >= 0.5 - 1e-12
    against = cl.max_youden_index(1 - case.y, case.s, sample_weight=w)
    assert close(ks, max(j_max, against))


@given(case=cases())
def test_ks_within_the_hull_for_models_better_than_chance(case: Case) -> None:
    y, s, *_ = both(case)
    assume(cl.max_youden_index(y, s) >= cl.max_youden_index(1 - y, s))
    assert cl.ks_statistic(y, s) <= 2 * cl.auch(y, s) - 1 + 1e-12


@given(case=cases(("ties", "finite", "any")))
def test_max_youden_is_the_largest_youden_of_any_threshold(case: Case) -> None:
    y, s, *_ = both(case)
    thresholds = [*np.unique(s).tolist(), -math.inf]
    values = [cl.youden_index(y, s, threshold=t) for t in thresholds if math.isfinite(t)]
    everything = 0.0  # no threshold and every case: TPR = FPR
    assert close(cl.max_youden_index(y, s), max([*values, everything]))


@given(case=cases())
def test_turned_scores_turn_the_ranking(case: Case) -> None:
    y, s, *_ = both(case)
    assert close(cl.roc_auc(y, -s), 1 - cl.roc_auc(y, s))
    assert close(cl.pem(y, -s), -cl.pem(y, s))
    assert close(cl.ks_statistic(y, -s), cl.ks_statistic(y, s))


@given(case=cases())
def test_swapped_classes_with_turned_scores_leave_auc_and_pem(case: Case) -> None:
    """Arbel & Rokach's PEM is the same for both classes (erratum A2)."""
    y, s, *_ = both(case)
    assert close(cl.roc_auc(1 - y, -s), cl.roc_auc(y, s))
    assert close(cl.pem(1 - y, -s), cl.pem(y, s))


@given(case=cases())
def test_order_dependent_pem_of_the_two_classes_means_the_expected_one(case: Case) -> None:
    """Erratum A3: what a tie order gives one class it takes from the other."""
    y, s, *_ = both(case)
    assert close((cl.pem(y, s, ties="best") + cl.pem(1 - y, -s, ties="worst")) / 2, cl.pem(y, s)) or close(
        cl.pem(y, s, ties="best") + cl.pem(y, s, ties="worst"), 2 * cl.pem(y, s)
    )
    assert close((cl.roc_auc(y, s, ties="best") + cl.roc_auc(y, s, ties="worst")) / 2, cl.roc_auc(y, s))


@given(case=cases())
def test_expected_ties_lie_between_worst_and_best(case: Case) -> None:
    y, s, n, *_ = both(case)
    for m in cl.measures():
        # Eq. 12 multiplies expectations (erratum A11) and KS has no sign: they need not lie between
        if not m.tie_rule or m.name in ("average_hit_rate", "ks_statistic", "quota_pearson", "ranking_score"):
            continue
        options = {"quota": n // 2 + 1} if m.needs_quota else NEEDS_OPTION.get(m.name, {})
        worst, expected, best = (
            quietly(getattr(cl, m.name), y, s, ties=t, **options) for t in ("worst", "expected", "best")
        )
        low, high = (worst, best) if m.better == "higher" else (best, worst)  # the best order has the lowest error
        assert low <= expected + 1e-12, m.name
        assert expected <= high + 1e-12, m.name


@given(case=NO_TIES)
def test_tie_rules_agree_where_nothing_ties(case: Case) -> None:
    y, s, n, *_ = both(case)
    for m in cl.measures():
        if not m.tie_rule or m.name == "quota_pearson":
            continue
        options = {"quota": n // 2 + 1} if m.needs_quota else NEEDS_OPTION.get(m.name, {})
        values = [quietly(getattr(cl, m.name), y, s, ties=t, **options) for t in ("worst", "expected", "best")]
        assert close(values[0], values[1]), m.name
        assert close(values[1], values[2]), m.name


@given(case=cases())
def test_rosset_scores(case: Case) -> None:
    y, s, n, n_pos, n_neg = both(case)
    assert close(cl.ranking_score(y, s, g=lambda i: i), cl.linear_ranking(y, s))
    assert close(cl.ranking_score(y, s, g=lambda i: i**2), cl.quadratic_ranking(y, s))
    assert close(cl.ranking_score(y, s, g=lambda i: 1.0 * (i > n_neg)), cl.misclassification_ranking(y, s))
    assert close(cl.ranking_score(y, s, g=lambda i: 0 * i + 1.0), n_pos)
    # the score of the step at n - j is the number of hits at the quota j
    j = n // 2 + 1
    assert close(cl.ranking_score(y, s, g=lambda i: 1.0 * (i > n - j)), cl.hit_rate(y, s, quota=j) * j)
    assert close(cl.misclassification_ranking(y, s), n_pos * cl.qrecall(y, s, quota=n_pos))


@given(case=cases(UNIT, weighted=True))
def test_losses(case: Case) -> None:
    arguments = (case.y, case.s)
    w = {"sample_weight": case.w}
    assert close(cl.root_mean_squared_error(*arguments, **w) ** 2, cl.brier_score(*arguments, **w))
    assert close(cl.focal_loss(*arguments, gamma=0, **w), cl.log_loss(*arguments, **w))
    assert close(cl.log_loss(*arguments, base=math.e, **w), cl.log_loss(*arguments, **w) * math.log(2))
    assert close(2 * cl.balanced_cross_entropy(*arguments, alpha=0.5, **w), cl.log_loss(*arguments, **w))
    assert close(
        cl.focal_loss(*arguments, gamma=0, alpha=0.25, **w), cl.balanced_cross_entropy(*arguments, alpha=0.25, **w)
    )
    assert close(
        cl.relative_information_score(*arguments, prior=0.5, **w), cl.information_score(*arguments, prior=0.5, **w)
    )


@given(case=cases(ANY, weighted=True), threshold=st.sampled_from([-1.0, 0.0, 0.25, 0.5]))
def test_complements(case: Case, threshold: float) -> None:
    def at(name: str) -> float:
        return quietly(getattr(cl, name), case.y, case.s, threshold=threshold, sample_weight=case.w)

    def sums_to_one(a: str, b: str) -> bool:
        total = at(a) + at(b)
        return math.isnan(total) or close(total, 1.0)

    assert sums_to_one("accuracy", "error_rate")
    assert sums_to_one("recall", "false_negative_rate")
    assert sums_to_one("specificity", "false_positive_rate")
    assert sums_to_one("precision", "false_discovery_rate")
    youden = at("youden_index")
    assert math.isnan(youden) or close(youden, 2 * at("balanced_accuracy") - 1)
    assert close(at("zero_one_loss"), at("error_rate") * float(case.w.sum()), abs_=1e-9 * float(case.w.sum()))
    f1 = at("f1")
    f_beta = quietly(cl.f_beta, case.y, case.s, beta=1.0, threshold=threshold, sample_weight=case.w)
    assert (math.isnan(f1) and math.isnan(f_beta)) or close(f1, f_beta)


@given(case=cases())
def test_quota_meets_threshold_where_no_tie_is_cut(case: Case) -> None:
    """Erratum A8: HitRate(j) is the precision at any t with p[j+1] <= t < p[j]."""
    y, s, *_ = both(case)
    for t in np.unique(s)[:-1]:
        if not math.isfinite(t):
            continue
        j = int((s > t).sum())
        assert close(cl.hit_rate(y, s, quota=j), cl.precision(y, s, threshold=float(t)))
        assert close(cl.qrecall(y, s, quota=j), cl.recall(y, s, threshold=float(t)))
        assert close(cl.quota_lift(y, s, quota=j), cl.lift(y, s, threshold=float(t)))


@given(case=cases(ANY, weighted=True))
def test_order_of_the_precision_recall_areas(case: Case) -> None:
    assume(case.w[case.y == 1].sum() > 0)
    w = {"sample_weight": case.w}
    low, middle, high = (f(case.y, case.s, **w) for f in (cl.pr_auc_min, cl.pr_auc_minmax, cl.pr_auc_max))
    assert low <= middle + 1e-12
    assert middle <= high + 1e-12


@given(case=cases(("ties", "finite")), seed=st.integers(0, 2**32 - 1))
def test_eq_5_is_the_mean_over_random_tie_orders(case: Case, seed: int) -> None:
    """Exact for AUC and Qrecall: the mean over an order of the ties and its reverse is the expected value."""
    y, s, n, *_ = both(case)
    noise = np.random.default_rng(seed).permutation(n)
    up, down = np.lexsort((noise, s)), np.lexsort((-noise, s))
    forward, backward = np.empty(n), np.empty(n)
    forward[up], backward[down] = np.arange(n), np.arange(n)
    assert close((cl.roc_auc(y, forward) + cl.roc_auc(y, backward)) / 2, cl.roc_auc(y, s))
    assert close((cl.linear_ranking(y, forward) + cl.linear_ranking(y, backward)) / 2, cl.linear_ranking(y, s))


@pytest.mark.parametrize("n_pos", [1, 3, 5])
@pytest.mark.parametrize("n_neg", [1, 4])
def test_random_rankings_on_average(n_pos: int, n_neg: int) -> None:
    """All tied is what chance gives: average Qrecall (n + n+)/(2n), hit rate the prevalence (erratum A16)."""
    n = n_pos + n_neg
    y, s = [1] * n_pos + [0] * n_neg, [0.5] * n
    assert close(cl.average_qrecall(y, s), (n + n_pos) / (2 * n))
    assert close(cl.average_hit_rate(y, s), n_pos / n)
    assert close(cl.average_precision(y, s), n_pos / n)
    assert close(cl.pr_auc_min(y, s), n_pos / n / 2)
    assert close(cl.misclassification_ranking(y, s), n_pos * n_pos / n)
    assert cl.pem(y, s) == 0.0
    assert cl.taks(y, s) == 0.0
    assert cl.roc_auc(y, s) == cl.auch(y, s) == 0.5

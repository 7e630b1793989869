"""The interval of the AUC by DeLong: against its definition over pairs, at the edges, and for the AUC's relatives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from scipy.special import ndtri

import cutline as cl
from cutline.inference.closed_forms import auc_interval, auc_spread, newcombe_limits
from cutline.ranking import rank
from cutline.sources.arrays import make_sample
from samples import ANY, Case, cases, random_case

Z = float(ndtri(0.975))


def auc_variance(y: np.ndarray, s: np.ndarray) -> float:
    ranking = rank(make_sample(y, s))
    return auc_spread(ranking.pos, ranking.neg)[1]


def by_definition(y: np.ndarray, s: np.ndarray) -> tuple[float, float]:
    """AUC and DeLong's variance from all pairs: a win counts 1, a tie ½ (DeLong, DeLong & Clarke-Pearson 1988)."""
    pos, neg = s[y == 1].astype(float), s[y == 0].astype(float)
    wins = np.array([[1.0 if p > q else 0.5 if p == q else 0.0 for q in neg] for p in pos])
    of_pos, of_neg = wins.mean(axis=1), wins.mean(axis=0)
    return float(wins.mean()), float(of_pos.var(ddof=1) / len(pos) + of_neg.var(ddof=1) / len(neg))


@given(cases(ANY, min_size=4))
def test_variance_is_that_of_the_placements_of_all_pairs(case: Case) -> None:
    if min(case.y.sum(), len(case.y) - case.y.sum()) < 2:
        assert math.isnan(auc_variance(case.y, case.s))
        return
    _, variance = by_definition(case.y, case.s)
    assert auc_variance(case.y, case.s) == pytest.approx(variance, abs=1e-13)


@pytest.mark.parametrize("levels", [4, 30, 100_000])
@pytest.mark.parametrize("method", ["delong", "delong_logit"])
def test_interval_from_the_definition(levels: int, method: str) -> None:
    case = random_case(3, 200, levels)
    auc, variance = by_definition(case.y, case.s)
    e = cl.evaluate(case.y, case.s, measures=["roc_auc"], interval=method)["roc_auc"]
    if method == "delong":
        expected = auc - Z * math.sqrt(variance), auc + Z * math.sqrt(variance)
    else:
        middle, half = math.log(auc / (1 - auc)), Z * math.sqrt(variance) / (auc * (1 - auc))
        expected = tuple(1 / (1 + math.exp(-x)) for x in (middle - half, middle + half))  # type: ignore[assignment]
    assert (e.value, e.low, e.high) == pytest.approx((auc, *expected), abs=1e-12)
    assert e.method == method


@given(cases(ANY, min_size=2))
def test_stays_inside_and_holds_the_estimate(case: Case) -> None:
    for method in ("auto", "delong", "delong_logit"):
        e = cl.evaluate(case.y, case.s, measures=["roc_auc"], interval=method)["roc_auc"]
        if 0 < case.y.sum() < len(case.y):
            assert 0.0 <= e.low <= e.value <= e.high <= 1.0
            assert e.high > e.low
        else:
            assert math.isnan(e.value)
            assert "cases" in e.reason


@pytest.mark.parametrize("method", ["auto", "delong", "delong_logit"])
@pytest.mark.parametrize("wins", [True, False])
def test_perfect_and_reversed_rankings_have_width(method: str, wins: bool) -> None:
    y = np.repeat([1, 0], [10, 30])
    s = np.linspace(1, 0, 40) if wins else np.linspace(0, 1, 40)
    e = cl.evaluate(y, s, measures=["roc_auc"], interval=method)["roc_auc"]
    assert e.value == float(wins)
    near = 1 - e.low if wins else e.high
    assert 0.01 < near < 0.2
    assert (e.high if wins else e.low) == float(wins)
    assert e.method == "newcombe"


def test_a_single_positive_gets_a_wide_interval_inside() -> None:
    e = cl.evaluate([1] + [0] * 30, np.linspace(1, 0, 31), measures=["roc_auc"])["roc_auc"]
    assert e.value == 1.0
    assert e.high == 1.0
    assert 0.1 < e.low < 0.9
    e = cl.evaluate([0, 0, 0, 1] + [0] * 20, np.linspace(1, 0, 24), measures=["roc_auc"])["roc_auc"]
    assert 0.0 < e.low < e.value < e.high < 1.0


@pytest.mark.parametrize(("auc", "n_pos", "n_neg"), [(0.8, 7, 50), (1.0, 3, 3), (0.5, 1, 1), (0.02, 200, 9)])
def test_newcombe_ends_are_where_the_score_test_turns(auc: float, n_pos: int, n_neg: int) -> None:
    """Newcombe (2006), method 5: |A − auc| = z·SE(A), Hanley & McNeil's SE with n* = (n⁺+n⁻)/2 − 1 for both classes."""

    def error(a: float) -> float:
        q = a / (2 - a), 2 * a * a / (1 + a)
        n = (n_pos + n_neg) / 2 - 1
        return math.sqrt((a * (1 - a) + n * (q[0] - a * a) + n * (q[1] - a * a)) / (n_pos * n_neg))

    for end in newcombe_limits(auc, n_pos, n_neg, Z):
        assert end in (0.0, 1.0) or abs(end - auc) == pytest.approx(Z * error(end), abs=1e-9)


def test_classes_swapped_and_scores_turned_round() -> None:
    case = random_case(5, 120, 12)
    assert auc_variance(1 - case.y, -case.s) == pytest.approx(auc_variance(case.y, case.s))
    a = cl.evaluate(case.y, case.s, measures=["roc_auc"])["roc_auc"]
    b = cl.evaluate(case.y, -case.s, measures=["roc_auc"])["roc_auc"]
    assert (b.low, b.high) == pytest.approx((1 - a.high, 1 - a.low))


@pytest.mark.parametrize("name", [m.name for m in cl.measures() if m.line_of_auc])
def test_relatives_carry_the_interval_of_the_auc(name: str) -> None:
    """The ends are what the relative would be at the AUC's ends, with the same class sizes (DESIGN: one number)."""
    case = random_case(2, 90, 15)
    n, p = len(case.y), int(case.y.sum())
    q = n - p
    ev = cl.evaluate(case.y, case.s, measures=["roc_auc", name], interval="delong_logit")
    scale = {
        "roc_auc": lambda a: a,
        "gini": lambda a: 2 * a - 1,
        "pem": lambda a: 2 * a - 1,
        "taks": lambda a: (2 * a - 1) * n / (2 * (n - 1)),
        "average_gain": lambda a: (2 * a - 1) * p * q / (2 * n),
        "linear_ranking": lambda a: a * p * q + p * (p + 1) / 2,
    }[name]
    auc, e = ev["roc_auc"], ev[name]
    assert (e.value, e.low, e.high) == pytest.approx([scale(x) for x in (auc.value, auc.low, auc.high)])


def test_interval_narrows_with_the_level() -> None:
    inner, _ = auc_interval(0.8, 0.002, 50, 50, 0.8, 98.0, logit=True)
    outer, _ = auc_interval(0.8, 0.002, 50, 50, 0.99, 98.0, logit=True)
    assert outer.low < inner.low < 0.8 < inner.high < outer.high

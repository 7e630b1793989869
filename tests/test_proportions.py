"""Intervals for a proportion: printed values, definitions, exact coverage, refusals."""

from __future__ import annotations

import math
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import cutline as cl
from cutline.inference.limits import METHODS, ApproximationWarning

ALL = sorted(METHODS)
INSIDE = sorted(set(METHODS) - {"wald"})
by_method = pytest.mark.parametrize("method", ALL)
trials = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def interval(r: int, n: int, level: float = 0.95, method: str = "clopper_pearson") -> cl.results.Interval:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        return cl.proportion_interval(r, n, level, method)


def at_most(r: int, n: int, p: float) -> float:
    """P(X ≤ r) for X binomial, by adding up."""
    return math.fsum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(r + 1))


def bisect(above: bool, r: int, n: int, tail: float) -> float:
    """The p at which P(X ≥ r) (above) or P(X ≤ r) equals ``tail``."""
    low, high = 0.0, 1.0
    for _ in range(100):
        p = (low + high) / 2
        larger = 1 - at_most(r - 1, n, p) < tail if above else at_most(r, n, p) > tail
        low, high = (p, high) if larger else (low, p)
    return low


def test_printed_values_of_berrar() -> None:
    """Section 5.2 and 5.3: sensitivity 3 of 5."""
    with pytest.warns(ApproximationWarning, match="more than 5"):
        low, high = cl.proportion_interval(3, 5, method="wald")
    assert (round(low, 4), round(high, 4)) == (0.1706, 1.0294)
    low, high = cl.proportion_interval(3, 5)
    assert (round(low, 4), round(high, 4)) == (0.1466, 0.9473)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 37])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_clopper_pearson_against_bisection_on_the_binomial_tail(n: int, level: float) -> None:
    tail = (1 - level) / 2
    for r in range(n + 1):
        low, high = interval(r, n, level)
        assert low == pytest.approx(0.0 if r == 0 else bisect(True, r, n, tail), abs=1e-10)
        assert high == pytest.approx(1.0 if r == n else bisect(False, r, n, tail), abs=1e-10)


@pytest.mark.parametrize("n", [1, 4, 50])
def test_clopper_pearson_at_the_ends(n: int) -> None:
    assert interval(0, n) == pytest.approx((0.0, 1 - 0.025 ** (1 / n)), abs=1e-12)
    assert interval(n, n) == pytest.approx((0.025 ** (1 / n), 1.0), abs=1e-12)


def test_clopper_pearson_never_covers_less_than_its_level() -> None:
    n = 12
    bounds = [interval(r, n) for r in range(n + 1)]
    for k in range(1, 200):
        p = k / 200
        held = sum(math.comb(n, r) * p**r * (1 - p) ** (n - r) for r in range(n + 1) if p in bounds[r])
        assert held >= 0.95 - 1e-12


@given(trials, st.floats(0.05, 0.999))
def test_wilson_ends_are_where_the_score_test_turns(rn: tuple[int, int], level: float) -> None:
    r, n = rn
    z = math.sqrt(2) * special.erfinv(level)
    for end in interval(r, n, level, "wilson"):
        if 0 < end < 1:
            assert abs(r / n - end) == pytest.approx(z * math.sqrt(end * (1 - end) / n), abs=1e-9)
    assert interval(r, n, level, "wilson").low == 0.0 or r > 0
    assert interval(r, n, level, "wilson").high == 1.0 or r < n


@given(trials)
def test_jeffreys_ends_are_quantiles_of_its_posterior(rn: tuple[int, int]) -> None:
    r, n = rn
    low, high = interval(r, n, 0.9, "jeffreys")
    assert low == 0.0 if r == 0 else special.betainc(r + 0.5, n - r + 0.5, low) == pytest.approx(0.05)
    assert high == 1.0 if r == n else special.betainc(r + 0.5, n - r + 0.5, high) == pytest.approx(0.95)


def test_agresti_coull_adds_two_of_each_at_95_percent() -> None:
    z2 = special.ndtri(0.975) ** 2
    p = (7 + z2 / 2) / (20 + z2)
    half = math.sqrt(z2 * p * (1 - p) / (20 + z2))
    assert interval(7, 20, 0.95, "agresti_coull") == pytest.approx((p - half, p + half))
    assert interval(0, 20, 0.95, "agresti_coull").low == 0.0


@by_method
@given(rn=trials, level=st.floats(0.05, 0.99))
def test_failures_mirror_successes(method: str, rn: tuple[int, int], level: float) -> None:
    r, n = rn
    low, high = interval(r, n, level, method)
    assert interval(n - r, n, level, method) == pytest.approx((1 - high, 1 - low), abs=1e-9)


@by_method
@given(rn=trials, level=st.floats(0.05, 0.98))
def test_a_higher_level_is_wider_and_holds_the_share(method: str, rn: tuple[int, int], level: float) -> None:
    r, n = rn
    inner, outer = interval(r, n, level, method), interval(r, n, level + 0.01, method)
    slack = 1e-12
    assert outer.low <= inner.low + slack
    assert inner.high <= outer.high + slack
    if method == "clopper_pearson" or (method != "jeffreys" and method != "agresti_coull"):
        assert inner.low - slack <= r / n <= inner.high + slack


@pytest.mark.parametrize("method", INSIDE)
@given(rn=trials, level=st.floats(0.05, 0.9999))
def test_all_but_wald_stay_inside(method: str, rn: tuple[int, int], level: float) -> None:
    low, high = interval(*rn, level, method)
    assert 0.0 <= low < high <= 1.0


@pytest.mark.parametrize(("r", "says"), [(0, "no width"), (20, "no width"), (5, "more than 5"), (15, "more than 5")])
def test_wald_warns_where_it_should_not_be_used(r: int, says: str) -> None:
    with pytest.warns(ApproximationWarning, match=says):
        low, high = cl.proportion_interval(r, 20, method="wald")
    assert (low == high) == (r in (0, 20))


def test_wald_is_silent_with_more_than_five_of_each() -> None:
    low, high = cl.proportion_interval(6, 12, method="wald")  # a warning would be an error
    assert low < 0.5 < high


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((1.5, 5), "successes"),
        ((-1, 5), "successes"),
        ((6, 5), "successes"),
        ((0, 0), "n"),
        ((True, 5), "successes"),
        ((1, 5, 0.0), "level"),
        ((1, 5, 1.0), "level"),
        ((1, 5, 95), "level"),
        ((1, 5, 0.95, "normal"), "wilson"),
    ],
)
def test_refusals_name_the_argument(arguments: tuple[float, ...], says: str) -> None:
    with pytest.raises(cl.InputError, match=says):
        cl.proportion_interval(*arguments)  # type: ignore[arg-type]

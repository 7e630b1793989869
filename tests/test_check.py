"""Conditions on measures: pass, fail or undecided by the interval."""

from __future__ import annotations

import contextlib
import math
import pickle
import time
from collections.abc import Callable
from typing import Any

import pytest

import cutline as cl
from cutline.catalogue.declare import parse_measure
from cutline.estimate import Estimate
from cutline.quotas import parse_quota
from cutline.verdict import Condition, check_conditions, parse_condition


def parse_class_measure(text: str) -> Any:
    return parse_measure(text, several=True)


PARSERS = [parse_condition, parse_measure, parse_class_measure, parse_quota]


def seen(value: float, low: float, high: float) -> Estimate:
    return Estimate("roc_auc", value, low, high, 0.95, "delong")


@pytest.mark.parametrize(
    ("condition", "low", "high", "outcome"),
    [
        ("roc_auc >= .8", 0.8, 0.9, "pass"),
        ("roc_auc > .8", 0.8, 0.9, "undecided"),
        ("roc_auc >= .8", 0.7, 0.9, "undecided"),
        ("roc_auc >= .8", 0.7, 0.8, "undecided"),
        ("roc_auc >= .8", 0.7, 0.79, "fail"),
        ("roc_auc > .8", 0.7, 0.8, "fail"),
        ("roc_auc <= .8", 0.7, 0.8, "pass"),
        ("roc_auc < .8", 0.7, 0.8, "undecided"),
        ("roc_auc < .8", 0.8, 0.9, "fail"),
        ("roc_auc ≥ 80%", 0.8, 0.9, "pass"),
    ],
)
def test_the_interval_decides(condition: str, low: float, high: float, outcome: str) -> None:
    measure = parse_condition(condition).measure
    assert check_conditions({measure: seen((low + high) / 2, low, high)}, [condition]) == outcome


def test_several_conditions_fail_where_one_fails_and_pass_where_all_pass() -> None:
    ev = cl.evaluate([1, 1, 1, 0, 0, 0] * 30, [6, 5, 4, 3, 2, 1] * 30, quota=20, measures=["roc_auc", "hit_rate@20"])
    assert cl.check(ev, "roc_auc >= 0.8", "hit_rate@20 >= .5") == "pass"
    assert cl.check(ev, "roc_auc >= 0.8", "hit_rate@20 <= .5") == "fail"
    assert cl.check(ev, "roc_auc >= 0.8", "hit_rate >= .99") == "undecided"
    found = cl.check(ev, "roc_auc >= 0.8", "hit_rate@20 <= .5")
    assert [row["outcome"] for row in found.table] == ["pass", "fail"]
    again = pickle.loads(pickle.dumps(found))
    assert again == "fail"
    assert again.table[1]["outcome"] == "fail"
    assert "hit_rate@20 <= 0.5" in repr(found)


def test_a_value_that_is_not_defined_is_undecided() -> None:
    ev = cl.evaluate([1, 1], [0.4, 0.6], measures=["roc_auc"])
    found = cl.check(ev, "roc_auc >= 0.8")
    assert found == "undecided"
    assert "no value" in found.table[0]["evidence"]


@pytest.mark.parametrize("text", ["roc_auc", "roc_auc == 1", "roc_auc >= high", ">= .5", "", 5, None, "roc_auc >= nan"])
def test_what_is_no_condition_is_refused(text: object) -> None:
    with pytest.raises(cl.InputError):
        parse_condition(text)


def test_unknown_measures_and_missing_intervals_are_refused() -> None:
    ev = cl.evaluate([1, 0, 1, 0], [4, 3, 2, 1], measures=["roc_auc"], interval=None)
    with pytest.raises(cl.InputError, match="no interval"):
        cl.check(ev, "roc_auc >= 0.8")
    with pytest.raises(cl.InputError, match="pem"):
        cl.check(ev, "pem >= 0.8")
    with pytest.raises(cl.InputError, match="at least one condition"):
        cl.check(ev)


def test_conditions_read_options_and_quotas() -> None:
    assert parse_condition(" f_beta(beta=2, threshold=0.3) >= 0.5 ") == Condition(
        "f_beta(beta=2, threshold=0.3)", ">=", 0.5
    )
    assert parse_condition("qrecall@5%<10%") == Condition("qrecall@5%", "<", 0.1)


def test_measures_that_were_not_evaluated_are_evaluated_for_the_check() -> None:
    y, s = [1, 1, 1, 0, 0, 0] * 20, [6, 5, 4, 3, 2, 1] * 20
    ev = cl.evaluate(y, s, measures=["roc_auc"])
    found = cl.check(ev, "hit_rate@30 >= .5", "roc_auc >= .8")
    assert found == "pass"
    assert found.table[0]["low"] == cl.evaluate(y, s, measures=["hit_rate@30"])["hit_rate@30"].low


@pytest.mark.parametrize("parse", PARSERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("start", ["roc_auc", "macro(", "f_beta(beta=", "a(", "", "1", "hit_rate@", "a >= ", "a@ "])
@pytest.mark.parametrize("part", [" ", "1", ")", "(", "[", "-", "> ", "=", ",", "a", ".", "\t"])
def test_long_text_is_refused_at_once(parse: Callable[[str], Any], start: str, part: str) -> None:
    """In time that grows with its length: patterns whose parts can share what they take need its square."""
    began = time.perf_counter()
    for end in ("", "!", ")", ") !"):
        with contextlib.suppress(cl.InputError):
            parse(start + part * 30_000 + end)
    assert time.perf_counter() - began < 5.0  # a square takes minutes


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("roc_auc>=.8", ("roc_auc", ">=", 0.8)),
        ("  f_beta(beta=2)  ≤ 80% ", ("f_beta(beta=2)", "<=", 0.8)),
        ("brier_score < 1e-1", ("brier_score", "<", 0.1)),
        ("ks_statistic > inf", ("ks_statistic", ">", math.inf)),
    ],
)
def test_conditions_as_they_are_written(text: str, read: tuple[str, str, float]) -> None:
    found = parse_condition(text)
    assert (found.measure, found.sign, found.limit) == read


@pytest.mark.parametrize(
    "text", ["roc_auc", "roc_auc >=", ">= .8", "roc_auc == .8", "roc_auc => .8", "a >== .8", "a >= nan", 3]
)
def test_what_is_no_condition(text: Any) -> None:
    with pytest.raises(cl.InputError, match=r"is not a (condition|number)"):
        parse_condition(text)

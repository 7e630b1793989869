"""Conditions on measures: pass, fail or undecided by the interval."""

from __future__ import annotations

import contextlib
import math
import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np
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


def rows_of_two_models(n: int = 600) -> tuple[Any, dict[str, Any], Any]:
    """Labels, an old and a slightly noisier new score, and a region in which the scores are worthless."""
    rng = np.random.default_rng(3)
    y, region = rng.random(n) < 0.4, np.repeat(["north", "south", "west"], n // 3)
    old = y + rng.normal(size=n)
    old[region == "west"] = rng.normal(size=n // 3)
    return y, {"old": old, "new": old + 0.1 * rng.normal(size=n)}, region


def test_each_segment_must_pass_and_the_one_that_fails_is_named() -> None:
    y, scores, region = rows_of_two_models()
    ev = cl.evaluate(y, scores["old"], measures=["roc_auc"], by=region)
    found = cl.check(ev, "roc_auc >= 0.65")
    assert found == "fail"
    assert [(row["segment"], row["outcome"]) for row in found.table] == [
        ("north", "pass"),
        ("south", "pass"),
        ("west", "fail"),
    ]
    assert "Fail in 'west'." in repr(found)
    assert found.table[0]["low"] == ev.segments["north"]["roc_auc"].low
    assert cl.check(ev.segments, "roc_auc >= 0.65").table.to_dicts() == found.table.to_dicts()
    table = {"y": y, "p": scores["old"], "region": region}
    again = cl.check(table, "roc_auc >= 0.65", label="y", score="p", by="region")
    assert again.table.to_dicts() == found.table.to_dicts()


def test_a_segment_without_a_value_or_interval_is_undecided() -> None:
    y, scores, region = rows_of_two_models()
    y = y & (region != "west")
    found = cl.check(cl.evaluate(y, scores["old"], measures=["roc_auc"], by=region), "roc_auc >= 0.5")
    assert [row["outcome"] for row in found.table] == ["pass", "pass", "undecided"]
    assert "Undecided in 'west': a measure has no value here." in repr(found)
    person = np.where(region == "north", 0, np.arange(len(y)))
    found = cl.check(cl.evaluate(y, scores["old"], measures=["roc_auc"], by=region, clusters=person), "roc_auc >= 0.5")
    assert "no interval here" in found.table[0]["evidence"]
    ev = cl.evaluate(y, scores["old"], by=region, measures=["hit_rate@250"])
    found = cl.check(ev, "hit_rate@250 >= 0")
    assert {row["outcome"] for row in found.table} == {"undecided"}
    assert "larger than the segment" in found.table[0]["evidence"]


@pytest.mark.parametrize(("limit", "outcome"), [(-0.1, "pass"), (0.1, "fail"), (0.0, "undecided")])
def test_a_difference_is_decided_by_the_paired_interval(limit: float, outcome: str) -> None:
    y, scores, _ = rows_of_two_models()
    cmp = cl.compare(y, scores, measures=["roc_auc"])
    found = cl.check(cmp, f"roc_auc(new) - roc_auc(old) >= {limit}")
    assert found == outcome
    d = cmp.difference("new", "old", "roc_auc")
    assert [found.table[0][name] for name in ("value", "low", "high")] == [d.difference, d.low, d.high]
    # the interval of the difference is much shorter than those of the models, which share their luck
    assert d.high - d.low < 0.5 * (cmp["new"]["roc_auc"].high - cmp["new"]["roc_auc"].low)
    table = {"y": y, **scores}
    assert cl.check(table, f"roc_auc(new) − roc_auc(old) >= {limit}", label="y", score=["old", "new"]) == outcome


def test_conditions_of_a_comparison_name_its_models() -> None:
    y, scores, region = rows_of_two_models()
    cmp = cl.compare(y, scores, measures=["roc_auc"], by=region)
    found = cl.check(cmp, "roc_auc(new) >= 0.6", "pem(new) - pem(old) >= -0.2")  # pem was not compared yet
    assert [row["segment"] for row in found.table] == ["north"] * 2 + ["south"] * 2 + ["west"] * 2
    assert found.table[0]["low"] == cmp.segments["north"]["new"]["roc_auc"].low
    with pytest.raises(cl.InputError, match=r"does not name one of the models; write e.g. 'roc_auc\(old\) >= 0.6'"):
        cl.check(cmp, "roc_auc >= 0.6")
    with pytest.raises(cl.InputError, match="there is no model 'newer'"):
        cl.check(cmp, "roc_auc(newer) >= 0.6")
    with pytest.raises(cl.InputError, match="names a model, but one model is checked"):
        cl.check(cmp["new"], "roc_auc(new) >= 0.6")


def test_models_of_several_classes_are_checked() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], 300)
    models = {name: np.where(rng.random(300) < right, y, "a") for name, right in (("old", 0.6), ("new", 0.9))}
    cmp = cl.compare(y, predicted=models, measures=["accuracy"])
    found = cl.check(cmp, "macro(f1)(new) - macro(f1)(old) > 0", "macro(f1)(new) >= .8", "accuracy(new) > .8")
    assert found == "pass"
    assert found.table[0]["low"] == cl.compare(y, predicted=models).difference("new", "old", "macro(f1)").low
    assert cl.check(cmp["new"], "macro(f1) >= .8", "accuracy > .8") == "pass"


def test_several_conditions_are_several_tests() -> None:
    y, scores, _ = rows_of_two_models()
    ev = cl.evaluate(y, scores["old"], measures=["roc_auc"])
    assert cl.check(ev, "roc_auc >= 0.6").tests_sentence == ""
    plain = cl.check(ev, "roc_auc >= 0.6", "pem >= 0")
    assert "2 tests: the chance of a wrong fail adds up to at most 5%" in repr(plain)
    assert "a wrong pass is at most 2.5%" in repr(plain)
    assert pickle.loads(pickle.dumps(plain)).tests == 2


def test_the_error_of_a_condition_tells_what_is_missing() -> None:
    with pytest.raises(cl.InputError, match=r"'roc_auc >' is not a condition; write a measure"):
        parse_condition("roc_auc >")
    with pytest.raises(cl.InputError, match="is not a difference of two models by one measure"):
        parse_condition("roc_auc(new) - f1(old) >= 0")
    assert parse_condition("f_beta(beta=2)(a b) - f_beta(beta=2)(c-d) > −1%").models == ("a b", "c-d")
    assert parse_condition("macro(f1) > 1%").models == ()
    assert parse_condition("macro(f1)(new) > 1%") == Condition("macro(f1)", ">", 0.01, ("new",))


def test_a_quota_larger_than_a_segment_leaves_it_undecided() -> None:
    """Also where the measure was not evaluated before."""
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    p, by = rng.random(300) / 2 + 0.4 * y, np.where(np.arange(300) < 12, "tiny", "big")
    q = p + 0.1 * rng.random(300)
    outcome = cl.check(cl.evaluate(y, p, by=by, measures=["roc_auc"]), "hit_rate@20 >= 0.2", "roc_auc >= 0.5")
    rows = {(row["segment"], row["condition"].split()[0]): row for row in outcome.table}
    assert rows["tiny", "hit_rate@20"]["outcome"] == "undecided"
    assert "the quota is larger than the segment, which has 12 cases" in rows["tiny", "hit_rate@20"]["evidence"]
    assert rows["big", "hit_rate@20"]["outcome"] == "pass"
    both = cl.compare(y, {"p": p, "q": q}, by=by, measures=["roc_auc"])
    assert cl.check(both, "hit_rate@20(p) - hit_rate@20(q) >= -0.3").table[1]["outcome"] == "undecided"


@pytest.mark.parametrize("condition", ["error_rate <= 5", "recall >= 80", "roc_auc >= 1.5", "gini >= -2"])
def test_a_limit_that_the_measure_cannot_have_is_an_error(condition: str) -> None:
    ev = cl.evaluate([1, 0, 1, 0, 1, 0], [0.9, 0.2, 0.7, 0.4, 0.3, 0.6])
    with pytest.raises(cl.InputError, match="cannot have; write"):
        cl.check(ev, condition)
    cl.check(ev, "roc_auc >= 1", "gini > -1", "log_loss <= 3", "positive_likelihood_ratio >= 2")


def test_a_difference_may_be_as_large_as_the_range_of_its_measure() -> None:
    y, p = [1, 0, 1, 0, 1, 0], [0.9, 0.2, 0.7, 0.4, 0.3, 0.6]
    cmp = cl.compare(y, {"a": p, "b": p[::-1]}, measures=["gini"], n_resamples=50)
    cl.check(cmp, "gini(a) - gini(b) <= 1.5", "gini(a) - gini(b) >= -2")
    with pytest.raises(cl.InputError, match="write a number from -2 to 2"):
        cl.check(cmp, "gini(a) - gini(b) <= 3")


def test_two_conditions_in_one_are_an_error() -> None:
    with pytest.raises(cl.InputError, match="more than one condition; give each by itself"):
        parse_condition("roc_auc > 0.8 and recall > .5")

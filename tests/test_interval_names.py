"""A method asked for by name is used wherever it exists, and refused by name where it does not."""

from __future__ import annotations

import json
import math
from statistics import NormalDist
from typing import get_args

import numpy as np
import pytest
from click.testing import CliRunner

import cutline as cl
from cutline.commands.group import cli
from cutline.types import ClassIntervalName, IntervalName

RNG = np.random.default_rng(3)
N = 120
Y = RNG.random(N) < 0.4
A = 1 / (1 + np.exp(-(2.0 * Y - 1 + RNG.normal(size=N))))
B = 1 / (1 + np.exp(-(0.8 * Y - 0.5 + RNG.normal(size=N))))
PART = RNG.integers(0, 2, N)
DAY = np.arange(N) // 10
NAMED = [name for name in get_args(IntervalName) if name not in ("auto", "bootstrap")]
# what a method gives instead where its formula has no value: documented, and named in the result
STAND_IN = {"delong": {"newcombe"}, "delong_logit": {"newcombe"}}
WAYS = {
    "evaluate": lambda how, **more: [cl.evaluate(Y, A, interval=how, n_resamples=50, quota=0.2, **more)],
    "clusters": lambda how, **more: [cl.evaluate(Y, A, interval=how, n_resamples=50, quota=12, clusters=DAY, **more)],
    "weights": lambda how, **more: [
        cl.evaluate(Y, A, interval=how, n_resamples=50, quota=0.2, sample_weight=1.0 + PART, **more)
    ],
    "batch": lambda how, **more: [cl.evaluate(Y, A, interval=how, n_resamples=50, quota=2, batch=DAY, **more)],
    "prevalence": lambda how, **more: [
        cl.evaluate(Y, A, interval=how, n_resamples=50, quota=0.2, prevalence=0.2, **more)
    ],
    "segments": lambda how, **more: list(
        cl.evaluate(Y, A, by=PART, interval=how, n_resamples=50, quota=0.2, **more).segments.evaluations.values()
    ),
}


def asked(how, make):
    """What was made, or None where the method was refused by name."""
    try:
        return make()
    except cl.InputError as error:
        if error.argument != "interval" or how not in str(error):
            raise
        return None


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("how", NAMED)
def test_every_measure_has_the_method_asked_for_or_says_that_it_lacks_it(how, way):
    found = asked(how, lambda: WAYS[way](how))
    if found is None:
        return
    for ev in found:
        for key, e in ev.estimates.items():
            if e.value != e.value:
                continue
            if e.low == e.low:
                assert {e.method.split(",")[0].split(" ")[0]} & {how, *STAND_IN.get(how, ())}, (key, e.method)
            else:
                assert f"no {how} interval" in e.reason, (key, e.reason)
                assert any(row["reason"] == e.reason for row in ev.to_dicts() if row["measure"] == key)


@pytest.mark.parametrize("way", WAYS)
def test_a_method_that_no_measure_has_is_refused(way):
    with pytest.raises(cl.InputError, match="no delong interval for this measure"):
        WAYS[way]("delong", measures=["brier_score", "average_precision"])


@pytest.mark.parametrize("how", NAMED)
def test_differences_have_the_method_asked_for_or_are_refused(how):
    models = {"a": A, "b": B}
    ways = (
        lambda: cl.compare(Y, models, interval=how, n_resamples=50, quota=0.2),
        lambda: cl.compare(Y, models, by=PART, interval=how, n_resamples=50).segments[0],
        lambda: cl.compare(Y, models, interval=how, n_resamples=50, quota=2, batch=DAY),
        lambda: cl.compare(
            Y, models, interval=how, n_resamples=50, quota=12, clusters=DAY, measures=["hit_rate", "f1"]
        ),
    )
    for way in ways:
        cmp = asked(how, way)
        for rows in map(cmp._differences_by, cmp.specs) if cmp is not None else ():
            for d in rows:
                if d.verdict == "not tested":
                    lacking = d.difference != d.difference or f"no {how} interval" in d.method or how == "bca"
                    assert lacking, (d.measure, d.method)
                else:
                    assert d.method in ("paired bootstrap", "delong"), d.measure


@pytest.mark.parametrize("how", [name for name in get_args(ClassIntervalName) if name not in ("auto", "bootstrap")])
def test_several_classes_have_the_method_asked_for_or_say_that_they_lack_it(how):
    code = RNG.integers(0, 3, N)
    matrix = RNG.dirichlet([1.0] * 3, N) * 0.5 + np.eye(3)[code] * 0.5 * (RNG.random((N, 1)) < 0.7)
    ev = cl.evaluate(code, matrix / matrix.sum(1, keepdims=True), interval=how, n_resamples=50)
    for key, e in ev.estimates.items():
        if e.low == e.low:
            assert e.method == how, (key, e.method)
        elif e.value == e.value:
            assert f"no {how} interval" in e.reason, key
    assert any(e.low == e.low for e in ev.estimates.values())
    if how in ("wald", "wilson"):
        with pytest.raises(cl.InputError, match=f"no {how} interval"):
            cl.evaluate(code, matrix / matrix.sum(1, keepdims=True), interval=how, measures=["macro(roc_auc)"])


def delong_by_hand(y, a, b):
    """AUC(a) − AUC(b) and its variance, every pair of a positive and a negative written out."""
    of_pos, of_neg = [], []
    for s in (a, b):
        won = (s[y][:, None] > s[~y][None]) + 0.5 * (s[y][:, None] == s[~y][None])
        of_pos.append(won.mean(1))
        of_neg.append(won.mean(0))
    variance = sum(np.var(x - z, ddof=1) / len(x) for x, z in (of_pos, of_neg))
    return float(of_pos[0].mean() - of_pos[1].mean()), float(variance)


@pytest.mark.parametrize(("measure", "slope"), [("roc_auc", 1.0), ("gini", 2.0), ("pem", 2.0)])
def test_delong_by_name_is_the_normal_test_and_interval(measure, slope):
    y, a, b = Y, np.round(A, 1), B
    gap, variance = delong_by_hand(y, a, b)
    found = cl.compare(y, {"a": a, "b": b}, measures=[measure], interval="delong", level=0.9).difference(
        "a", "b", measure
    )
    normal = NormalDist()
    z, half = gap / math.sqrt(variance), normal.inv_cdf(0.95) * math.sqrt(variance)
    assert found.p_value == pytest.approx(2.0 * normal.cdf(-abs(z)), rel=1e-9)
    assert (found.low, found.high) == pytest.approx((slope * (gap - half), slope * (gap + half)), rel=1e-9)
    assert found.method == "delong"
    assert found.standard_error == pytest.approx(slope * math.sqrt(variance))


def test_delong_of_models_on_their_own_rows_has_welchs_freedom():
    """As pROC's: t with (V₁ + V₂)² / (V₁²/(n₁ − 1) + V₂²/(n₂ − 1)) degrees of freedom."""
    from scipy.stats import t

    m = 50
    how = {"measures": ["roc_auc"], "interval": "delong", "paired": False}
    found = cl.compare({"a": Y, "b": Y[:m]}, {"a": A, "b": B[:m]}, **how).difference("a", "b", "roc_auc")
    parts = []
    for y, s in ((Y, A), (Y[:m], B[:m])):
        won = (s[y][:, None] > s[~y][None]) * 1.0
        parts.append(np.var(won.mean(1), ddof=1) / y.sum() + np.var(won.mean(0), ddof=1) / (~y).sum())
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / (N - 1) + parts[1] ** 2 / (m - 1))
    assert found.freedom == pytest.approx(freedom)
    assert found.p_value == pytest.approx(2.0 * t.sf(abs(found.difference) / math.sqrt(sum(parts)), freedom))


@pytest.mark.parametrize("how", ["percentile", "bca"])
def test_replicates_by_name_give_that_interval_of_the_difference(how):
    """Against SciPy's bootstrap of the same statistic; their draws differ, so within some per cent of the length."""
    from scipy.stats import bootstrap

    loss = (A - Y) ** 2, (0.3 * B - Y) ** 2
    got = cl.compare(Y, {"a": A, "b": 0.3 * B}, measures=["brier_score"], interval=how, n_resamples=4000)
    found = got.difference("a", "b", "brier_score")
    want = bootstrap((loss[0] - loss[1],), np.mean, n_resamples=4000, method="percentile", rng=1).confidence_interval
    assert (found.low, found.high) == pytest.approx((want.low, want.high), abs=0.07 * (want.high - want.low))


def test_the_interval_excludes_0_where_the_p_value_is_below_its_level():
    rng = np.random.default_rng(8)
    from cutline.inference.paired import summary

    for shift in np.linspace(0.0, 3.0, 40):
        for sign in (1.0, -1.0):
            drawn = sign * (rng.gamma(4.0, 0.5, 1999) - 2.0 + shift)
            low, high, _, p = summary(drawn, 0.95)
            if not 0.04 < p < 0.06:
                assert (p < 0.05) == (low > 0 or high < 0), (shift, low, high, p)


def test_the_command_line_takes_a_method_by_name(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("y,a,b\n" + "".join(f"{int(y)},{a},{b}\n" for y, a, b in zip(Y, A, B, strict=True)))

    def run(*arguments):
        return CliRunner().invoke(cli, [*arguments, "--format", "json", "--quiet"], catch_exceptions=False)

    both = ("compare", str(path), "--label", "y", "--score", "a", "--score", "b", "--measure", "roc_auc")
    found = json.loads(run(*both, "--interval", "delong").stdout)["differences"][0]
    want = cl.compare(Y, {"a": A, "b": B}, measures=["roc_auc"], interval="delong").difference("a", "b", "roc_auc")
    assert found["method"] == "delong"
    assert found["p_value"] == pytest.approx(want.p_value)
    assert found["p_value"] != pytest.approx(json.loads(run(*both).stdout)["differences"][0]["p_value"])
    one = ("evaluate", str(path), "--label", "y", "--score", "a", "--measure", "recall")
    assert json.loads(run(*one, "--interval", "jeffreys").stdout)["measures"][0]["method"] == "jeffreys"
    for refused, words in (
        ((*both, "--interval", "wilson"), "no difference between models has"),
        ((*one, "--interval", "delong"), "no delong interval"),
        ((*one, "--interval", "wilson", "--no-intervals"), "does not go with"),
    ):
        done = run(*refused)
        assert (done.exit_code, words in done.stderr) == (2, True), done.stderr

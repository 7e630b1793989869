"""Uplift at a quota: values against brute force and peers, standard errors, paired comparison, and every medium."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutline as cl
from cutline.inference.uplift import Trial, UpliftSums


def trial(n: int, seed: int = 7, treated: float = 0.4) -> tuple[Any, Any, Any, Any]:
    """Who was treated, a binary outcome, an amount, and a score that finds whom the treatment helps."""
    rng = np.random.default_rng(seed)
    s, t = rng.random(n), rng.random(n) < treated
    y = (rng.random(n) < 0.2 + 0.4 * s * t).astype(int)
    return t, y, np.round(np.exp(rng.normal(size=n)), 3) * y, s


def difference_of_means(t: Any, y: Any, w: Any) -> float:
    """Of weighted rows."""
    return float(np.average(y[t], weights=w[t]) - np.average(y[~t], weights=w[~t]))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_tie_counts_as_the_mean_over_all_orders(weighted: bool) -> None:
    """The sums of both arms among the best k, over every order of the tied rows."""
    rng = np.random.default_rng(3)
    t = np.array([1, 0, 1, 0, 1, 0, 0, 1], bool)
    y, s = rng.random(8).round(2), np.array([3.0, 3, 2, 2, 2, 2, 1, 1])
    e = rng.uniform(0.2, 0.8, 8) if weighted else np.full(8, 0.5)
    w = 1.0 / np.where(t, e, 1 - e)
    sums = UpliftSums(Trial(t, y, w), s)
    orders = [
        [*a, *b, *c]
        for a in itertools.permutations([0, 1])
        for b in itertools.permutations([2, 3, 4, 5])
        for c in itertools.permutations([6, 7])
    ]
    for k in range(1, 9):
        means = []
        for arm in (t, ~t):
            columns = (
                [(w * arm)[order[:k]].sum() for order in orders],
                [(w * arm * y)[order[:k]].sum() for order in orders],
            )
            means.append(np.mean(columns[1]) / np.mean(columns[0]))
        assert sums.lift[k] == pytest.approx(means[0] - means[1], abs=1e-12)
        assert sums.at(k).value == pytest.approx(means[0] - means[1], abs=1e-12)


def test_the_order_of_rows_does_not_matter() -> None:
    t, y, _, s = trial(300)
    s = s.round(1)
    first = cl.uplift(t, y, s)
    mixed = np.random.default_rng(0).permutation(300)
    again = cl.uplift(t[mixed], y[mixed], s[mixed])
    for key, e in first.estimates.items():
        assert again[key].value == pytest.approx(e.value, abs=1e-12)
        assert again[key].interval == pytest.approx(e.interval, abs=1e-9)


def test_values_are_those_of_causalml_and_scikit_uplift() -> None:
    """Recorded from causalml 0.18.0 (auuc_score, get_cumlift, get_qini) and scikit-uplift 0.5.1 (uplift_at_k)."""
    t, y, amount, s = trial(200)
    recorded = {
        "y": (27.175498304116765, 0.8406344807681688, (7 / 12, 0.5, 0.33618931048551615, 0.1616368286445013)),
        "amount": (
            31.94928948130816,
            0.8134852391576839,
            (0.686625, 0.5579375, 0.3288784169726641, 0.1963728900255754),
        ),
    }
    for outcome, (area, normalized, lifts) in zip((y, amount), recorded.values(), strict=True):
        up = cl.uplift(t, outcome, s)
        assert up["auuc"].value * 200**2 / 201 == pytest.approx(area, rel=1e-12)
        assert up["auuc"].value * 200**2 / 201 / up["everyone"].value == pytest.approx(normalized, rel=1e-12)
        for k, lift in zip((20, 40, 100), lifts, strict=False):
            assert cl.uplift(t, outcome, s, quota=k)["uplift"].value == pytest.approx(lift, rel=1e-12)
        assert up["everyone"].value == pytest.approx(200 * lifts[-1], rel=1e-12)
    # Radcliffe's Qini curve, which theirs is: the uplift times the treated rows so far
    sums = cl.uplift(t, y, s).sums
    so_far = np.concatenate([[0], np.cumsum(t[np.argsort(-s)])])
    curve = so_far * sums.lift
    assert curve[[20, 40, 100, 200]] == pytest.approx([14 / 3, 8.0, 14.456140350877192, 13.73913043478261], rel=1e-12)


def test_qini_and_auuc_are_their_definitions() -> None:
    t, y, _, s = trial(150)
    up, order = cl.uplift(t, y, s), np.argsort(-s)
    lift = np.array([_lift(t[order[:k]], y[order[:k]]) for k in range(151)])
    lift[0] = 0.0
    there = ~np.isnan(lift)
    gain = np.arange(151) * np.interp(np.arange(151), np.flatnonzero(there), lift[there])
    assert up["auuc"].value == pytest.approx(np.mean(gain[1:] / 150))
    assert up["qini"].value == pytest.approx(np.mean((gain - np.arange(151) * lift[-1])[1:] / 150))
    assert up["over_random"].value == pytest.approx(gain[30] - 30 * lift[-1])


def _lift(t: Any, y: Any) -> float:
    return math.nan if t.all() or not t.any() else difference_of_means(t, y, np.ones(len(t)))


def test_propensities_weigh_the_rows_of_each_arm() -> None:
    rng = np.random.default_rng(5)
    s, e = rng.random(400), rng.uniform(0.1, 0.9, 400)
    t = rng.random(400) < e
    y = rng.normal(size=400) + t * s
    up, best = cl.uplift(t, y, s, propensity=e), np.argsort(-s)[:80]
    w = 1.0 / np.where(t, e, 1 - e)
    assert up["uplift"].value == pytest.approx(difference_of_means(t[best], y[best], w[best]))
    same, plain = cl.uplift(t, y, s, propensity=float(t.mean())), cl.uplift(t, y, s)
    for key, estimate in plain.estimates.items():
        assert same[key].value == pytest.approx(estimate.value)
        assert same[key].interval == pytest.approx(estimate.interval)


@pytest.mark.parametrize("places", [200, 700])
def test_standard_errors_are_those_of_maq(places: int) -> None:
    """maq's error is that of half-samples: new cuts at the same share in random halves of the rows.

    Its scores are doubly robust ones (AIPW) with the mean outcomes of the arms among the best as regressions.
    """
    t, y, _, s = trial(2000, 1)
    up = cl.uplift(t, y, s, quota=places)
    best, e = np.argsort(-s)[:places], t.mean()
    means = [y[best][t[best]].mean(), y[best][~t[best]].mean()]
    scores = means[0] - means[1] + np.where(t, (y - means[0]) / e, -(y - means[1]) / (1 - e))
    scores = scores[np.argsort(-s)]
    rng, drawn = np.random.default_rng(0), []
    for _ in range(60):
        half = np.argsort(rng.random((200, 2000)), axis=1) < 1000
        taken = np.cumsum(half, axis=1) <= places / 2
        drawn.append((half * taken) @ scores / 1000)
    error = float(np.concatenate(drawn).std())
    influence = up.influences[f"gain@{places}"]
    assert math.sqrt((influence**2).sum()) / 2000 == pytest.approx(error, rel=0.02)


@pytest.mark.parametrize("key", ["qini", "auuc"])
@pytest.mark.parametrize("digits", [1, 9])
def test_influences_are_those_of_leaving_rows_out(key: str, digits: int) -> None:
    t, y, _, s = trial(400, 2)
    s = s.round(digits)
    up = cl.uplift(t, y, s)
    left = np.array([cl.uplift(*(np.delete(c, row) for c in (t, y, s)))[key].value for row in range(400)])
    jackknife = math.sqrt(399 / 400 * ((left - left.mean()) ** 2).sum())
    assert math.sqrt((up.influences[key] ** 2).sum()) == pytest.approx(jackknife, rel=0.03)


def test_two_scores_are_compared_on_the_same_rows() -> None:
    t, y, _, s = trial(4000, 4)
    other = s + np.random.default_rng(1).normal(size=4000)
    both = cl.uplift(t, y, {"good": s, "noisy": other}, quota=0.2)
    d = both.difference("good", "noisy", "gain")
    assert d.difference == pytest.approx(both["good"]["gain"].value - both["noisy"]["gain"].value)
    influence = both["good"].influences["gain@20%"] - both["noisy"].influences["gain@20%"]
    assert d.standard_error == pytest.approx(math.sqrt((influence**2).sum() * 4000 / 3999))
    assert (d.low > 0) == (d.p_value < 0.05)
    verdict = both.verdict("gain")
    assert verdict.best == "good"
    assert verdict.sure
    assert isinstance(verdict, cl.results.Verdict)
    assert "Use good: the difference from noisy is statistically significant." in both.sentences()
    alike = cl.uplift(t, y, {"a": s, "b": s}, quota=0.2)
    assert alike.difference("a", "b", "gain").verdict == "not tested"
    assert both.to_dict()["verdicts"][1]["best"] == "good"


def test_the_first_sentence_answers_with_its_doubt() -> None:
    t, y, amount, s = trial(2000, 3)
    up = cl.uplift(t, y, s)
    first = up.sentences()[0]
    assert first.startswith("Treating the best 20% (400 of 2,000) by score brings about ")
    assert "more outcomes than treating nobody (95% interval " in first
    assert "outcomes" not in cl.uplift(t, amount, s).sentences()[0]
    worse = cl.uplift(t, 1 - y, s).sentences()
    assert "fewer outcomes than treating nobody (95% interval −" in worse[0]
    assert cl.uplift(t, 1 - y, -s)["gain"].value < 0
    nothing = cl.uplift(t, np.random.default_rng(0).permutation(y), s, quota=10).sentences()[0]
    assert nothing.endswith(", which could be chance.")
    unknown = cl.uplift([1, 1, 0, 0], [1, 0, 1, 0], [4, 3, 2, 1], quota=2)
    assert unknown.sentences() == [
        "What treating the best 50% (2 of 4) by score brings is not known: no control is among them."
    ]
    assert math.isnan(unknown["gain"].value)
    assert unknown["everyone"].value == 0.0


def test_a_table_gives_what_its_columns_give(tmp_path: Path) -> None:
    t, y, _, s = trial(300)
    arm = np.where(t, "B", "A")
    columns = {"arm": arm.tolist(), "y": y, "p": s, "q": s[::-1], "e": np.full(300, 0.4)}
    named = cl.uplift(columns, treated="arm", outcome="y", score="p", propensity="e", pos_label="B")
    assert named.name == "p"
    plain = cl.uplift(t, y, s)
    assert [e.value for e in named.estimates.values()] == pytest.approx([e.value for e in plain.estimates.values()])
    both = cl.uplift(columns, treated="arm", outcome="y", score=["p", "q"], pos_label="B")
    assert list(both) == ["p", "q"]
    page = tmp_path / "page.html"
    both.to_html(page)
    assert next(iter(both.sections())).sentences[0] in page.read_text(encoding="utf-8")


T, Y, P = [1, 0, 1, 0, 1, 0], [1, 0, 0, 1, 1, 0], [6, 5, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((T, [1e308, 0, 0, 1, 1, 0], P), "outcome: row 0 is 1e+308, beyond ±1e+100, too far out to be added up"),
        ((T, Y), "y_score is missing; pass it, or name the columns of a table: treated=…, outcome=…, score=…"),
        ((T, Y[:5], P), "outcome has 5 rows but treated has 6"),
        ((T, Y, P[:5]), "y_score has 5 rows but treated has 6"),
        (([1] * 6, Y, P), "treated has one arm only: every row was treated"),
        (([0] * 6, Y, P), "treated has one arm only: no row was treated"),
        (([1, 2, 3, 1, 2, 3], Y, P), "treated contains more than two labels"),
        ((T, [1, 0, 0, 1, 1, math.inf], P), "outcome: row 5 is inf"),
        ((T, [1, 0, 0, 1, 1, math.nan], P), "outcome: row 5 is NaN"),
        ((T, ["a", 0, 0, 1, 1, 0], P), "outcome: row 0 is 'a', which is not a number"),
        ((T, Y, {"a": P, "b": P[:5]}), "model 'b': y_score has 5 rows but treated has 6"),
        ((T, Y, {}), "y_score is {}"),
        ((T, Y, P, {"propensity": 1.0}), "propensity: row 0 is 1; pass the probability"),
        ((T, Y, P, {"propensity": [0.5] * 5}), "propensity has 5 rows but treated has 6"),
        ((T, Y, P, {"propensity": [0.5, 0, 0.5, 0.5, 0.5, 0.5]}), "propensity: row 1 is 0"),
        ((T, Y, P, {"score": "p"}), "arrays and names of columns are mixed"),
        ((T, Y, P, {"quota": 0.1}), "quota is 10% of 6 cases, which is less than one case"),
        ((T, Y, P, {"quota": 7}), "quota is 7; it must be from 1 to the number of cases, 6"),
    ],
)
def test_bad_input_is_one_clear_error(arguments: tuple[Any, ...], message: str) -> None:
    options = arguments[-1] if isinstance(arguments[-1], dict) and len(arguments) == 4 else {}
    with pytest.raises(cl.InputError) as error:
        cl.uplift(*arguments[: 3 if options else None], **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_arrays_may_be_named_too() -> None:
    assert cl.uplift(treated=T, outcome=Y, y_score=P)["auuc"] == cl.uplift(T, Y, P)["auuc"]
    with pytest.raises(cl.InputError, match="treated is given twice"):
        cl.uplift(T, Y, P, treated=T)
    with pytest.raises(cl.InputError, match="treated is missing"):
        cl.uplift(outcome=Y, y_score=P)


def test_an_arm_of_one_row_leaves_amounts_without_an_interval() -> None:
    rng = np.random.default_rng(0)
    treated = np.ones(40, int)
    treated[7] = 0
    up = cl.uplift(treated, rng.normal(size=40), rng.random(40), quota=40)
    assert all(np.isnan(e.low) for e in up.estimates.values())


def test_few_controls_have_wide_enough_intervals() -> None:
    held = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        treated = np.r_[np.ones(20, int), np.zeros(2, int)]
        e = cl.uplift(treated, rng.normal(size=22), rng.random(22), quota=5)["everyone"]
        held.append(e.low <= 0.0 <= e.high)
    assert np.mean(held) > 0.9


def test_equal_orders_do_not_differ_and_a_constant_score_is_random() -> None:
    rng = np.random.default_rng(1)
    treated, outcome, score = rng.integers(0, 2, 200), (rng.random(200) < 0.3).astype(int), rng.random(200)
    both = cl.uplift(treated, outcome, {"a": score, "b": 2 * score})
    assert {row["verdict"] for row in both.differences} == {"not tested"}
    constant = cl.uplift(treated, outcome, np.ones(200), quota=0.3)
    assert constant["over_random"].value == 0.0
    assert not any("random:" in sentence for sentence in constant.sentences())
    assert cl.uplift(treated, outcome, {"a": score}).sentences() == both["a"].sentences()

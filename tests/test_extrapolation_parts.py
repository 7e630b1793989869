"""The parts that an extrapolation is made of, each against its formula."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from scipy import stats

import cutline as cl
from cutline.commands import extrapolate as command
from cutline.extrapolation.extrapolator import BacktestRow, back_test, every_method, weigh
from cutline.extrapolation.favorability import Favorability
from cutline.extrapolation.tasks import from_scores


def spread_out(n: int, noise: float = 0.5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n, 4))
    return -np.linalg.norm((centres + noise * rng.normal(size=centres.shape))[:, None] - centres, axis=2)


def test_the_back_test_measures_predicted_less_seen() -> None:
    task = from_scores(spread_out(40))
    (row,) = back_test(task, {"exponential": every_method()["exponential"]}, 3)
    method, seen = every_method()["exponential"], task.whole().last_accuracy
    ends = {
        share: np.array([method.fit(part).accuracy([40.0, 400.0]) for part in task.parts(share, n, 3)])
        for share, n in ((0.5, 8), (0.25, 12))
    }
    off = ends[0.5][:, 0] - seen
    assert row.bias == pytest.approx(off.mean())
    assert row.error_half == pytest.approx(math.sqrt((off**2).mean()))
    assert row.error_quarter == pytest.approx(math.sqrt(((ends[0.25][:, 0] - seen) ** 2).mean()))
    assert row.spread == pytest.approx(ends[0.5][:, 1].std(ddof=1))
    noise = seen * (1 - seen) / 40
    risk = 0.25 * row.error_half**2 + 0.25 * row.error_quarter**2 + 0.3 * row.spread**2 + 0.1 * noise
    assert row.risk == pytest.approx(math.sqrt(risk))


def test_weights_fall_with_the_square_of_the_risk() -> None:
    methods = every_method()
    pair = [BacktestRow(methods[name], name, risk=risk, error=risk) for name, risk in (("mixture", 9), ("tail", 1))]
    pair.append(BacktestRow(methods["probit_normal"], "probit_normal", risk=2.0, error=2.0))
    weights = {row.name: row.weight for row in weigh(tuple(pair))}
    assert weights["tail"] == pytest.approx(4 * weights["probit_normal"]) == pytest.approx(0.8)
    assert weights["mixture"] == 0.0


def test_the_jackknife_leaves_each_class_out() -> None:
    scores, n = spread_out(12), 12
    found = from_scores(scores).standard_error(np.array([3.0, 6.0]))[0]
    without = []
    for gone in range(n):
        kept = [c for c in range(n) if c != gone]
        without.append(from_scores(scores[np.ix_(kept, kept)]).whole().curve[1][[1, 4]])
    expected = np.sqrt((n - 1) / n * ((np.array(without) - np.mean(without, axis=0)) ** 2).sum(axis=0))
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_a_resample_counts_its_copies_and_scales_wins_to_all_competitors() -> None:
    scores, n = spread_out(15), 15
    task = from_scores(scores)
    (evidence,) = task.resamples(1, 7)
    copies = np.bincount(np.random.default_rng([7, 2, 0]).integers(0, n, n), minlength=n)
    shares = np.zeros(n)
    for case in np.flatnonzero(copies):
        beaten = sum(copies[c] * (scores[case, c] < scores[case, case]) for c in range(n) if c != case)
        wins = beaten * (n - 1) / (n - copies[case])
        low = math.floor(wins)
        shares[low] += copies[case] * (1 - (wins - low))
        shares[min(low + 1, n - 1)] += copies[case] * (wins - low)
    np.testing.assert_allclose(evidence.histogram, shares / n, atol=1e-6)


def test_the_curve_is_led_on_by_the_square_of_the_distance() -> None:
    ex = cl.extrapolate(spread_out(30), interval=False)
    flat = Favorability(miss=np.array([0.9]), miss_weight=np.ones(1))  # far below what was seen
    low = type(ex)(**{**vars(ex), "favorability": flat})
    at = np.array([30.0, 60.0, 90.0])
    fitted = flat.accuracy(at)
    gap = ex.observed.test_accuracy - fitted[0]
    np.testing.assert_allclose(low.predict(at), fitted + gap * (30.0 / at) ** 2)


def test_a_cost_has_the_error_of_a_jackknife_over_classes() -> None:
    n = 10
    scores, cost = spread_out(n, 0.9), np.random.default_rng(1).uniform(1, 5, size=(n, n)) * (1 - np.eye(n))
    found = cl.extrapolate(scores, costs=cost, k=[2], n_resamples=2)
    accuracy = cl.extrapolate(scores, n_resamples=2).accuracy(2)

    def price(kept: list[int]) -> float:
        wrong = [(a, b) for a in kept for b in kept if scores[a, b] > scores[a, a]]
        return math.log(sum(cost[pair] for pair in wrong) / len(wrong))

    without = [price([c for c in range(n) if c != gone]) for gone in range(n)]
    error = math.sqrt((n - 1) * np.var(without))
    steps = np.diff(np.log(1.0 - np.array([accuracy.high, accuracy.value, accuracy.low])))
    reach = stats.norm.ppf(0.975) * error
    centre = math.log(1.0 - accuracy.value) + price(list(range(n)))
    assert found[2].value == pytest.approx(math.exp(centre))
    assert found[2].low == pytest.approx(math.exp(centre - math.hypot(steps[0], reach)))
    assert found[2].high == pytest.approx(min(math.exp(centre + math.hypot(steps[1], reach)), cost.max()))


def test_options_that_are_not_given_have_the_defaults_of_the_library() -> None:
    defaults = {option.name: option.default for option in command.extrapolate.params}
    wanted = {name: value.default for name, value in inspect.signature(cl.extrapolate).parameters.items()}
    assert int(defaults["resamples"]) == wanted["n_resamples"]
    assert float(defaults["level"]) == wanted["level"]
    assert int(defaults["seed"]) == wanted["seed"]
    for name in ("ties", "method"):
        assert defaults[name] == wanted[name]

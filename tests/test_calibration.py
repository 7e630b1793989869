"""Calibration: isotonic fit against scikit-learn, exact decomposition, slope and intercept, a test."""

from __future__ import annotations

import numpy as np
import pytest

import cutline as cl
from cutline.decide.calibration import (
    EPS,
    PARTS,
    SCORES,
    _logistic,
    calibrate,
    decompose,
    isotonic,
)
from cutline.ranking import rank
from cutline.sources.arrays import make_sample
from cutline.table import Table


def drawn(seed: int, n: int = 400, shift: float = 0.0, stretch: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    z = 1.2 * rng.normal(size=n) - 1.0
    return rng.random(n) < 1 / (1 + np.exp(-z)), 1 / (1 + np.exp(-(shift + stretch * z)))


def judged(y: np.ndarray, p: np.ndarray, **options: object) -> object:
    sample = make_sample(y, p)
    return calibrate(sample, rank(sample), **{"n_resamples": 99, **options})


@pytest.mark.parametrize("digits", [1, 2, 8])
def test_the_curve_is_the_isotonic_regression(digits: int) -> None:
    model = pytest.importorskip("sklearn.isotonic").IsotonicRegression(out_of_bounds="clip")
    y, p = drawn(1)
    p = p.round(digits)
    ranking = rank(make_sample(y, p))
    expected = model.fit(p, y).predict(ranking.score)
    assert isotonic(ranking.pos, ranking.neg) == pytest.approx(expected, abs=1e-9)


def test_the_parts_add_up_and_are_proper() -> None:
    y, p = drawn(2, stretch=2.0)
    ranking = rank(make_sample(y, p))
    found = decompose(ranking.score, ranking.pos, ranking.neg)
    for row, name in zip(found, SCORES, strict=True):
        score, miscalibration, discrimination, uncertainty = row
        assert score == pytest.approx(getattr(cl, name)(y, p) if hasattr(cl, name) else score)
        assert score == pytest.approx(miscalibration - discrimination + uncertainty)
        assert miscalibration > 0
        assert discrimination > 0
    assert found[0, 3] == pytest.approx(y.mean() * (1 - y.mean()))


def test_a_perfect_fit_has_no_miscalibration() -> None:
    y, p = drawn(3)
    ranking = rank(make_sample(y, p))
    fitted = isotonic(ranking.pos, ranking.neg)
    assert decompose(fitted, ranking.pos, ranking.neg)[0, 1] == pytest.approx(0.0, abs=1e-12)


def test_slope_and_intercept_are_those_of_a_logistic_regression() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    y, p = drawn(4, shift=0.4, stretch=1.6)
    found = judged(y, p)
    logit = np.log(p / (1 - p))[:, None]
    model = linear.LogisticRegression(C=1e9, tol=1e-10, max_iter=1000).fit(logit, y)
    assert found.slope.value == pytest.approx(model.coef_[0, 0], abs=1e-4)
    assert found.intercept.value == pytest.approx(model.intercept_[0], abs=1e-4)
    assert found.slope.high < 1
    q = 1 / (1 + np.exp(-(logit[:, 0] + found.in_the_large.value)))
    assert q.sum() == pytest.approx(y.sum())


def test_the_test_errs_as_often_as_it_says_and_finds_what_is_wrong() -> None:
    right = [judged(*drawn(seed, 80), seed=seed).p_value <= 0.1 for seed in range(40)]
    assert np.mean(right) < 0.25  # 0.1 and 3 standard errors
    wrong = [judged(*drawn(seed, 400, stretch=2.5), seed=seed).p_value <= 0.1 for seed in range(8)]
    assert np.mean(wrong) >= 0.7


def test_bands_hold_the_diagonal_and_the_curve() -> None:
    found = judged(*drawn(5, 600))
    assert all(row["low"] <= row["probability"] <= row["high"] for row in found.band)
    assert all(row["confidence_low"] <= row["comes_true"] <= row["confidence_high"] for row in found.band)
    assert found.band[0]["probability"] < found.band[-1]["probability"]
    inside = [row["low"] <= row["comes_true"] <= row["high"] for row in found.band]
    assert np.mean(inside) > 0.85  # a calibrated model stays in the band


def test_parts_are_named_and_have_intervals() -> None:
    found = judged(*drawn(6, stretch=2.0))
    for measure in SCORES:
        for part in PARTS:
            one = found[f"{measure}.{part}"]
            assert one.low <= one.value <= one.high
    assert "the probabilities are not calibrated" in repr(found)
    assert found.to_dict()["p_value"] == found.p_value
    with pytest.raises(cl.InputError, match="choose one of"):
        found["brier_score.nothing"]


def test_what_has_no_calibration_is_refused() -> None:
    with pytest.raises(cl.InputError, match="row 0 is 3"):
        judged([1, 0], [3.0, 0.1])
    with pytest.raises(cl.InputError, match="one class only"):
        judged([1, 1], [0.3, 0.1])
    with pytest.raises(cl.InputError, match="clusters cannot be used"):
        cl.evaluate([1, 0, 1], [0.3, 0.1, 0.2], clusters=[1, 1, 2], measures=["brier_score"]).calibration()


def test_separated_and_constant_probabilities_say_why_there_is_no_slope() -> None:
    found = judged(np.array([0, 0, 1, 1]), np.array([0.1, 0.2, 0.8, 0.9]))
    assert "separate" in found.slope.reason
    assert "equal" in judged(np.array([0, 1, 0]), np.array([0.3, 0.3, 0.3])).slope.reason


def test_weights_stand_for_repeated_cases_but_tell_no_more_than_their_rows() -> None:
    y, p = drawn(7, 300, stretch=1.6)
    weight = np.random.default_rng(7).integers(1, 5, len(y))
    found = cl.evaluate(y, p, sample_weight=weight, measures=["brier_score"], n_resamples=150).calibration()
    same = judged(np.repeat(y, weight), np.repeat(p, weight))
    assert found.slope.value == pytest.approx(same.slope.value)
    assert found.in_the_large.value == pytest.approx(same.in_the_large.value)
    np.testing.assert_allclose(found.parts.column("on_sample"), same.parts.column("on_sample"), rtol=1e-9)
    np.testing.assert_allclose(found.fitted, same.fitted, rtol=1e-9)
    assert found.slope.high - found.slope.low > 1.2 * (same.slope.high - same.slope.low)
    equal = make_sample(y, p, sample_weight=np.full(len(y), 3.0))
    error, plain = calibrate(equal, rank(equal), n_resamples=99), judged(y, p)
    assert error.slope.high - error.slope.low == pytest.approx(plain.slope.high - plain.slope.low, rel=1e-6)
    widths = [np.mean(np.subtract(c.band.column("high"), c.band.column("low"))) for c in (error, plain)]
    assert widths[0] == pytest.approx(widths[1], rel=0.15)


def test_the_test_errs_as_often_as_it_says_with_weights() -> None:
    rejected = []
    for seed in range(25):
        y, p = drawn(seed, 50)
        sample = make_sample(y, p, sample_weight=np.exp(np.random.default_rng(seed).normal(size=50)))
        rejected.append(calibrate(sample, rank(sample), n_resamples=99, seed=seed).p_value <= 0.1)
    assert np.mean(rejected) < 0.29  # 0.1 and 3 standard errors


def test_weights_too_unequal_to_add_have_a_calibration() -> None:
    how = {"sample_weight": [1e15, 1e-3, 1e-3, 1e-3], "measures": [], "interval": None}
    assert cl.evaluate([1, 0, 0, 1], [0.2, 0.1, 0.8, 0.3], **how).calibration().in_the_large.value > 10


def lines(y: np.ndarray, p: np.ndarray, weight: np.ndarray | None = None) -> list[cl.results.Estimate]:
    sample = make_sample(y, p, sample_weight=weight)
    return _logistic(sample, rank(sample), 0.95)


def test_lines_maximise_the_likelihood_however_extreme_the_probabilities() -> None:
    """Against a general optimiser: over- and under-confident, reversed, rounded and 0/1 scores, wild weights."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(11)
    fitted = 0
    for k in range(150):
        n = int(rng.integers(3, 200))
        z = rng.normal(rng.normal(), 2.0, n)
        y, p = rng.random(n) < 1 / (1 + np.exp(-z)), 1 / (1 + np.exp(-z * np.exp(rng.normal()) - (k % 3)))
        p = [p, 1.0 - p, p.round(1), p.round()][k % 4]
        if y.all() or not y.any():
            continue
        weight = None if k % 3 else np.exp(2.0 * rng.normal(size=n)) * 10.0 ** rng.integers(-5, 30)
        intercept, slope, large = lines(y, p, weight)
        clipped = np.clip(p, EPS, 1 - EPS)
        x, w = np.log(clipped / (1 - clipped)), np.ones(n) if weight is None else weight / weight.sum() * n

        def loss(a: float, b: float, x: np.ndarray = x, w: np.ndarray = w, y: np.ndarray = y) -> float:
            return float(w @ np.logaddexp(0.0, np.where(y, -1.0, 1.0) * (a + b * x)))

        assert loss(large.value, 1.0) <= minimize(lambda at: loss(at[0], 1.0), [0.0], method="Nelder-Mead").fun + 1e-9
        if slope.value == slope.value:
            fitted += 1
            best = min(minimize(lambda at: loss(*at), start).fun for start in ([0.0, 0.0], [0.0, 1.0]))
            assert loss(intercept.value, slope.value) <= best + 1e-9
        else:
            assert slope.reason == intercept.reason != ""
    assert fitted > 80


@pytest.mark.parametrize("stretch", [0.5, 3.0])
def test_intervals_of_slope_and_in_the_large_cover_when_probabilities_are_too_extreme(stretch: float) -> None:
    rng = np.random.default_rng(12)
    held = []
    for _ in range(200):
        z = rng.logistic(size=600)
        y, p = rng.random(600) < 1 / (1 + np.exp(-z)), 1 / (1 + np.exp(-stretch * z))
        _, slope, large = lines(y, p)
        held.append((slope.low <= 1 / stretch <= slope.high, large.low <= 0 <= large.high))
    assert np.mean(held, axis=0).min() >= 0.91  # 0.95 less 2.6 standard errors; symmetric, so in_the_large is 0


def test_labels_as_scores_and_rounded_scores_have_a_calibration_or_a_reason(tmp_path: pytest.TempPathFactory) -> None:
    from click.testing import CliRunner

    from cutline.commands.group import cli

    rng = np.random.default_rng(13)
    for k in range(24):
        y = rng.random(30) < 0.5
        p = np.where(rng.random(30) < [0.0, 0.1, 0.4][k % 3], ~y, y).astype(float)
        p = p if k % 2 else (0.3 * rng.random(30) + 0.35 * y).round(1)
        found = judged(y, p)
        assert (found.slope.value == found.slope.value) == (found.slope.reason == "")
        assert np.isfinite([found.in_the_large.value, found.in_the_large.low, found.in_the_large.high]).all()
    path, page = tmp_path / "hard.csv", tmp_path / "page.html"
    path.write_text(
        "y,p\n" + "".join(f"{int(a)},{int(b)}\n" for a, b in zip(y, y ^ (rng.random(30) < 0.1), strict=True))
    )
    words = ["evaluate", str(path), "--html", str(page), "--resamples", "50", "--label", "y", "--score", "p"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert "slope<" in page.read_text()


@pytest.mark.parametrize(("p", "n"), [(0.001, 80), (0.02, 80), (0.05, 200)])
def test_in_the_large_of_sure_and_right_probabilities_covers_0(p: float, n: int) -> None:
    """A sample without one of the rare errors shows no spread, but the probabilities predict it."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(40):
        says = rng.random(n) < 0.4
        y = np.where(rng.random(n) < p, ~says, says)
        if y.all() or not y.any():
            continue
        x = np.where(says, 1.0 - p, p)
        made = cl.evaluate(y, x, measures=["brier_score"], n_resamples=20).calibration().in_the_large
        held += made.low <= 0.0 <= made.high
    assert held >= 36


def test_the_page_tells_the_same_numbers_as_the_command() -> None:
    y, p = drawn(3, 700, shift=0.4)
    ev = cl.evaluate(y, p, measures=["roc_auc"], seed=5)
    parts = [part for section in ev.sections(detail=True) for part in section.parts]
    made = ev.calibration()
    assert f"{made.summary}." in parts
    rows = [row for part in parts if isinstance(part, Table) for row in part if row.get("") == "slope"]
    assert [row["value"] for row in rows] == [f"{made.slope.value:.4f}"]


def test_a_p_value_that_simulations_cannot_go_below_is_told_as_a_bound() -> None:
    y, p = drawn(3, 700, shift=1.5)
    for least, made in ((0.001, calibrate(make_sample(y, p), rank(make_sample(y, p)))), (0.01, judged(y, p))):
        assert made.p_value == pytest.approx(least) == made.to_dict()["p_value"]
        assert made.summary == f"model: the probabilities are not calibrated (p ≤ {least:g})"
        assert made.plot().texts[0].get_text().endswith(f", p ≤ {least:g}")
    assert "(p = 0." in judged(*drawn(3, 700)).summary


def test_scores_that_the_slope_clips_are_counted() -> None:
    y, p = drawn(3, 300)
    p[:3], p[3] = (0.0, 1e-6, 1.0 - 1e-7), 1e-5
    made = judged(y, p)
    assert "3 of 300 probabilities lie within 0.00001 of 0 or 1, and count as so far from there" in repr(made)
    assert "lie within" not in repr(judged(*drawn(3, 300)))


def test_blocks_of_a_long_list_tell_what_every_score_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    y, p = drawn(4, 3000, shift=0.3)
    blocks = judged(y, p)
    monkeypatch.setattr("cutline.decide.calibration._BLOCKS", 10**9)
    every = judged(y, p)
    assert blocks.fitted.tolist() == every.fitted.tolist()
    assert blocks.slope.value == pytest.approx(every.slope.value, rel=1e-6)
    for name in ("brier_score.miscalibration", "brier_score.discrimination", "log_loss.miscalibration"):
        one, other = blocks[name], every[name]
        assert one.value == pytest.approx(other.value, abs=0.1 * (other.high - other.low))
        assert one.high - one.low == pytest.approx(other.high - other.low, rel=0.25)
    assert blocks.p_value <= 0.01 >= every.p_value
    quiet = [judged(*drawn(seed, 3000)).p_value for seed in range(4)]
    monkeypatch.setattr("cutline.decide.calibration._BLOCKS", 400)
    assert [judged(*drawn(seed, 3000)).p_value for seed in range(4)] == pytest.approx(quiet, abs=0.25)

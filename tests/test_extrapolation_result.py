"""The answer: estimates, intervals, notes, shapes of output, the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from cutline.commands.extrapolate import extrapolate as command
from cutline.errors import InputError
from cutline.estimate import Estimate
from cutline.extrapolation import Extrapolation, Favorability, extrapolate, extrapolator
from test_extrapolation_methods import POPULATIONS, gaussian_task

QUICK = {"n_resamples": 10, "seed": 3}


@pytest.fixture(scope="module")
def ex() -> Extrapolation:
    return extrapolate(gaussian_task(60, 1), k=[60, 120, 900], n_resamples=20, seed=5)


def test_the_promised_surface(ex: Extrapolation) -> None:
    assert isinstance(ex.accuracy(1000), Estimate)
    assert isinstance(ex.observed[50], Estimate)
    assert ex.observed[60].value == pytest.approx(ex.observed.test_accuracy)
    assert list(ex.observed) == list(range(2, 61))
    assert 60 in ex.observed
    assert 61 not in ex.observed
    assert ex.observed.test_accuracy == pytest.approx((ex.observed.wins.beaten == ex.n_classes - 1).mean())
    assert (ex.observed.standard_error > 0).all()
    with pytest.raises(InputError, match="is 61, which was not observed"):
        ex.observed[61]


def test_estimates_fall_and_intervals_hold_them(ex: Extrapolation) -> None:
    values = [ex.accuracy(k) for k in (1, 2, 60, 120, 900, 10**6)]
    assert values[0].value == 1.0
    assert all(a.value >= b.value for a, b in pairwise(values))
    assert all(0 <= e.low <= e.value <= e.high <= 1 for e in values)
    seen, far = values[2], values[4]
    assert far.high - far.low > 0
    assert far.method == "model of the error"
    assert seen == ex.observed[60]
    assert seen.method == "class jackknife"


def test_what_was_seen_is_reported_and_the_curve_begins_there(ex: Extrapolation) -> None:
    for k in (2, 17, 60):
        assert ex.accuracy(k) == ex.observed[k]
    whole = np.arange(1, 2000)
    curve = ex.predict(whole)
    assert (np.diff(curve) <= 1e-12).all()
    np.testing.assert_allclose(curve[1:60], ex.observed.accuracy)
    assert curve[59] - curve[60] < 0.01  # no jump
    far = ex.favorability.accuracy(1999)[0]
    gap = ex.observed.test_accuracy - ex.favorability.accuracy(60)[0]
    assert curve[-1] - far == pytest.approx(max(gap, 0.0) * (60 / 1999) ** 2)


def test_a_fit_that_begins_too_high_waits_at_what_was_seen(ex: Extrapolation) -> None:
    high = replace(ex, favorability=Favorability(miss=[1e-4], miss_weight=[1.0]))
    value = ex.observed.test_accuracy
    assert high.predict([61, 500]).tolist() == [value, value]
    assert high.predict(10**4)[0] == pytest.approx((1 - 1e-4) ** 9999)
    assert high.classes_until(value).value == pytest.approx(1 + np.log(value) / np.log(1 - 1e-4), abs=1)
    assert high.classes_until(float(ex.observed[30].value)).value == 30


def test_without_a_wish_multiples_of_what_was_seen_are_answered(scores_file: Path) -> None:
    scores = gaussian_task(30, 7)
    assert [row["classes"] for row in extrapolate(scores, method="mixture", interval=False).to_dicts()] == [
        60,
        150,
        300,
    ]
    fitted = extrapolate(scores, method="mixture", interval=False)
    assert "\n     60 " in repr(fitted)
    assert extrapolate(scores, k=[], method="mixture", interval=False).to_dicts() == []
    out = run(
        scores_file, "--label", "person", "--score", "d_*", "--no-intervals", "--method", "mixture", "--format", "csv"
    )[1]
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == ["40", "100", "200"]


def test_curve_is_the_estimates(ex: Extrapolation) -> None:
    curve = ex.curve([120, 900])
    for place, k in enumerate((120, 900)):
        estimate = ex.accuracy(k)
        assert curve["accuracy"][place] == pytest.approx(estimate.value)
        assert curve["low"][place] == pytest.approx(estimate.low)
        assert curve["high"][place] == pytest.approx(estimate.high)


def test_top_t(ex: Extrapolation) -> None:
    first, five = ex.accuracy(900), ex.accuracy(900, top=5)
    assert five.value > first.value
    assert five.low <= five.value <= five.high
    assert ex.accuracy(4, top=4).value == 1.0


def test_inverse_question(ex: Extrapolation) -> None:
    until = ex.classes_until(0.5)
    assert ex.accuracy(int(until.value)).value >= 0.5 > ex.accuracy(int(until.value) + 1).value
    assert until.low <= until.value <= until.high
    with pytest.raises(InputError, match="accuracy is 0"):
        ex.classes_until(0)


def test_favorability_is_a_distribution(ex: Extrapolation) -> None:
    grid = np.linspace(0, 1, 50)
    d = ex.favorability(grid)
    assert (np.diff(d) >= -1e-12).all()
    assert d[-1] == pytest.approx(1.0)
    assert ex.favorability.accuracy(2)[0] == pytest.approx(ex.accuracy(2).value, abs=0.02)


def test_auto_shows_its_back_test(ex: Extrapolation) -> None:
    assert sum(row.weight for row in ex.backtest) == pytest.approx(1.0)
    assert sum(ex.weights.values()) == pytest.approx(1.0)
    left_out = [row for row in ex.backtest if row.weight == 0]
    assert left_out
    assert all(row.reason for row in left_out)
    low, high = ex.range_over_methods(900)
    assert low <= ex.accuracy(900).value <= high
    assert set(ex.weights) <= set(ex.by_method(900))


def test_auto_leaves_out_what_the_data_refute() -> None:
    # Squared distances end at zero: kernels leak beyond the end and fail, ranks do not care.
    scores = -(gaussian_task(120, 2) ** 2)
    ex = extrapolate(scores, interval=False)
    kernels = [row for row in ex.backtest if row.family.startswith("kde")]
    assert max(row.weight for row in kernels) < 0.05
    truth = POPULATIONS.GaussianRecognition(5, 0.5).accuracy(240)[0]
    assert ex.accuracy(240).value == pytest.approx(truth, abs=0.12)


def test_same_seed_same_answer_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = gaussian_task(30, 4)
    one, third = (extrapolate(scores, method="kde", n_resamples=10, seed=seed) for seed in (3, 4))
    monkeypatch.setattr(extrapolator, "_WORTH_THREADS", 0)
    other = extrapolate(scores, method="kde", **QUICK)
    assert one.accuracy(100) == other.accuracy(100)
    assert one.accuracy(100).low != third.accuracy(100).low


def test_permuting_classes_changes_no_prediction() -> None:
    scores, order = gaussian_task(25, 6), np.random.default_rng(0).permutation(25)
    for method in ("mixture", "probit_normal", "kde", "tail"):
        one = extrapolate(scores, method=method, interval=False)
        # The settings of `tail` come from random halves, which a permutation changes: they are fixed here.
        chosen = next(iter(one.weights)) if method != "tail" else "tail"
        other = extrapolate(scores[np.ix_(order, order)], method=method, interval=False)
        if chosen in other.weights:
            np.testing.assert_allclose(one.predict([50, 500]), other.predict([50, 500]), rtol=1e-7)
        else:
            assert method == "tail"


def test_prediction_and_estimate_agree() -> None:
    ex = extrapolate(gaussian_task(30, 7), method="gaussian", interval=False)
    assert ex.predict([300])[0] == ex.accuracy(300).value
    assert np.isnan(ex.accuracy(300).low)


def test_no_error_seen() -> None:
    scores = np.random.default_rng(0).normal(size=(100, 100)) + 20.0 * np.eye(100)
    scores[0, 1] = -np.inf  # ranks alone
    ex = extrapolate(scores, k=[100, 300], level=0.9, **QUICK)
    assert any("There were no errors" in note for note in ex.notes)
    assert ex.accuracy(300).value > 0.99
    # Exact binomial at k1, carried on by E[U^(k−1)] ≥ E[U^(k1−1)]^((k−1)/(k1−1)).
    assert ex.accuracy(300).low == pytest.approx(0.05 ** (299 / 99 / 100), abs=1e-9)
    assert ex.observed[100].low == pytest.approx(0.05 ** (1 / 100))


def test_notes_say_what_to_mind() -> None:
    scores = gaussian_task(30, 2, noise=0.05)
    ex = extrapolate(scores, k=[90, 1000], interval=False, method="mixture")
    text = " ".join(ex.notes)
    assert "33 times the 30 observed" in text
    assert "no errors" in text
    assert extrapolate(gaussian_task(40, 2, noise=1.0), k=[80], interval=False, method="mixture").notes == ()


def test_the_papers_spline_is_cut_off_and_says_so() -> None:
    for seed in range(12):
        ex = extrapolate(gaussian_task(40, seed), k=[4000], method="spline", interval=False)
        if ex.favorability.accuracy(4000)[0] < 0:
            assert ex.accuracy(4000).value == 0.0
            assert any("leaves [0, 1]" in note for note in ex.notes)
            return
    raise AssertionError("no draw made the spline leave [0, 1]")


@pytest.mark.parametrize("n_classes", [2, 3, 4, 7])
def test_tiny_tasks_get_an_answer_with_a_note(n_classes: int) -> None:
    ex = extrapolate(gaussian_task(n_classes, 3), k=[20], **QUICK)
    assert any("too few for a back-test" in note for note in ex.notes)
    assert 0 <= ex.accuracy(20).value <= 1


def test_all_tied_is_guessing() -> None:
    ex = extrapolate(np.zeros((20, 20)), k=[40], **QUICK)
    assert ex.accuracy(40).value == pytest.approx(1 / 40, abs=0.01)
    assert all(row.weight == 0 for row in ex.backtest if row.family.startswith("kde"))


def test_intervals_hold_the_truth_about_as_often_as_promised() -> None:
    problem, rng = POPULATIONS.GaussianRecognition(5, 0.5), np.random.default_rng(12)
    truth = problem.accuracy([120, 600])
    hits = np.zeros(2)
    for number in range(20):
        ex = extrapolate(problem.draw(60, rng), method="exponential", level=0.9, n_resamples=20, seed=number)
        hits += [ex.accuracy(k).low <= t <= ex.accuracy(k).high for k, t in zip((120, 600), truth, strict=True)]
    assert (hits >= 14).all()  # P(< 14 of 20 | 0.9) = 0.002


def test_outputs(ex: Extrapolation) -> None:
    rows = ex.to_dicts()
    assert [row["classes"] for row in rows] == [60, 120, 900]
    document = json.loads(ex.to_json())
    assert document["classes_seen"] == 60
    assert len(document["backtest"]) == len(ex.backtest)
    assert "\n    120 " in repr(ex)
    assert "<table" in ex._repr_html_()
    pandas = pytest.importorskip("pandas")
    assert isinstance(ex.to_pandas(), pandas.DataFrame)


def test_plot_shows_what_was_seen_and_what_is_foretold(ex: Extrapolation) -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axes = ex.plot(figure.add_subplot())
    assert axes.get_xscale() == "log"
    labels = {text.get_text() for text in axes.get_legend().get_texts()}
    assert {"observed", "extrapolated", "methods"} <= labels
    assert axes.collections  # the interval is shaded
    assert len(axes.get_lines()) >= len(ex.fits) + 2


def test_import_is_light() -> None:
    code = "import sys, cutline.extrapolation; print([m for m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    for heavy in ("'scipy.stats'", "'matplotlib'", "'pandas'", "'scipy.optimize'", "'click'"):
        assert heavy not in loaded


# --- command line


@pytest.fixture
def scores_file(tmp_path: Path) -> Path:
    scores = -gaussian_task(20, 1)
    lines = ["person," + ",".join(f"d_p{n}" for n in range(20))]
    lines += [f"p{n}," + ",".join(f"{value:.6f}" for value in row) for n, row in enumerate(scores)]
    path = tmp_path / "distances.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def run(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(command, [str(argument) for argument in arguments])
    return done.exit_code, done.stdout, done.stderr


def test_command_reads_scores(scores_file: Path) -> None:
    status, out, err = run(
        scores_file, "--label", "person", "--score", "d_*", "--distance", "--classes", "50,900", "--resamples", 5,
        "--until", 0.5, "--format", "json",
    )  # fmt: skip
    assert status == 0, err
    document = json.loads(out)
    expected = extrapolate(gaussian_task(20, 1).round(6), k=[50, 900], n_resamples=5)
    assert document["predictions"][0]["accuracy"] == pytest.approx(expected.accuracy(50).value)
    assert document["classes_until"]["accuracy"] == 0.5
    assert "note: 900 classes are 45 times" in err


def test_command_prints_every_form_and_a_picture(scores_file: Path, tmp_path: Path) -> None:
    asked = (scores_file, "--label", "person", "--score", "d_*", "--distance", "--method", "mixture")
    for form in ("table", "csv", "markdown"):
        status, out, err = run(*asked, "--no-intervals", "--format", form)
        assert status == 0, err
        assert "40" in out
    picture = tmp_path / "curve.png"
    assert run(*asked, "--resamples", 5, "--plot", picture)[0] == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_command_refuses_in_one_line(scores_file: Path) -> None:
    status, _, err = run(scores_file, "--classes", "50")
    assert status == 2
    assert "--label COLUMN is missing" in err
    status, _, err = run(scores_file, "--label", "person", "--classes", "many")
    assert status == 2
    assert "give whole numbers" in err


def test_command_counts_first_places(tmp_path: Path) -> None:
    people = np.random.default_rng(3).normal(size=(20, 3))
    probes = people + 0.4 * np.random.default_rng(4).normal(size=people.shape)
    scores, names = -np.linalg.norm(probes[:, None] - people, axis=2), [f"p{n}" for n in range(20)]
    lines = [
        ",".join(["person", *names]),
        *(f"{n}," + ",".join(map(str, r)) for n, r in zip(names, scores, strict=True)),
    ]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    common = ("--label", "person", "--resamples", 5)
    asked = (tmp_path / "scores.csv", *common, "--classes", 100)
    status, out, err = run(*asked, "--top", 3, "--until", 0.9, "--format", "json", "--plot", tmp_path / "curve.png")
    assert status == 0, err
    assert "the plot shows the accuracy of first places" in err
    document = json.loads(out)
    expected = extrapolate(scores, names, k=[100], classes=names, n_resamples=5)
    among_three = expected.accuracy(100, top=3)
    assert document["predictions"][0]["accuracy"] == pytest.approx(among_three.value)
    assert document["accuracy_seen"] == pytest.approx(expected.accuracy(20, top=3).value)
    answers = {name: fit.top_t_accuracy(3, 100)[0] for name, fit in expected.fits.items()}
    assert document["by_method"]["100"] == pytest.approx(answers)
    assert document["predictions"][0]["methods_high"] <= max(answers.values()) + 1e-9
    reach = document["classes_until"]
    assert (
        expected.accuracy(reach["classes"], top=3).value >= 0.9 > expected.accuracy(reach["classes"] + 1, top=3).value
    )
    assert reach["low"] <= reach["classes"] <= reach["high"]
    table = run(*asked, "--top", 3, "--until", 0.9)[1]
    assert f"down from {expected.accuracy(20, top=3).value:.0%} with 20" in table
    assert f"Top-3 accuracy stays above 0.9 up to {reach['classes']} classes" in table
    assert "--half-width plans for first places" in run(*asked, "--top", 3, "--half-width", 0.05)[2]
    assert run(*asked, "--top", 0)[0] != 0
    needed = json.loads(run(*asked, "--half-width", 0.05, "--format", "json")[1])
    assert needed["classes_needed"] == expected.classes_needed(0.05)
    table = run(*asked, "--half-width", 0.05)[1]
    assert "For an interval of ± 0.05 at 100 classes, collect about" in table
    assert "stays above 0.9999999 up to" in run(*asked, "--until", 0.9999999)[1]

"""Growth as a decision: intervals to act on, two recognisers at k₂, measures of rank, what the command line takes."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from cutline.commands.extrapolate import extrapolate as command
from cutline.errors import InputError
from cutline.extrapolation import Extrapolation, Favorability, GrowthComparison, extrapolate
from test_extrapolation_methods import POPULATIONS, gaussian_task


def similarity(points: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    probes = points + noise * rng.normal(size=points.shape)
    return -np.linalg.norm(probes[:, None] - points[None], axis=2)


@pytest.fixture(scope="module")
def ex() -> Extrapolation:
    return extrapolate(gaussian_task(50, 1), k=[100, 500], level=0.9)


@pytest.fixture(scope="module")
def crossing() -> GrowthComparison:
    # One recogniser is perfect but for a fifth of the cases, which it always misses; the other falls with every class.
    rng = np.random.default_rng(1)
    points = rng.normal(size=(60, 24))
    flat = similarity(points, 0.1, rng)
    lost = rng.choice(60, 12, replace=False)
    flat[lost, lost] -= 100.0
    return extrapolate({"falls": similarity(points[:, :4], 0.15, rng), "flat": flat}, k=[120, 6000], n_resamples=20)


# --- intervals


def test_an_interval_neither_jumps_nor_collapses_at_the_border(ex: Extrapolation) -> None:
    seen, next_one = ex.accuracy(50), ex.accuracy(51)
    assert next_one.low == pytest.approx(seen.low, abs=0.01)
    assert next_one.high == pytest.approx(seen.high, abs=0.01)
    widths = [ex.accuracy(k).interval.width for k in (51, 100, 500, 5000)]
    assert widths[0] > 0.1
    lows = [ex.accuracy(k).low for k in (50, 51, 60, 100, 500, 5000)]
    assert lows == sorted(lows, reverse=True)


def test_a_higher_level_is_longer_by_student_t(ex: Extrapolation) -> None:
    wide = extrapolate(gaussian_task(50, 1), k=[500], level=0.99)
    assert wide.accuracy(500).low < ex.accuracy(500).low < ex.accuracy(500).high < wide.accuracy(500).high
    assert wide.accuracy(500).value == ex.accuracy(500).value


def test_the_half_width_is_that_of_the_formula(ex: Extrapolation) -> None:
    k, n = 500, 50
    estimate, law = ex.accuracy(k), ex.favorability
    seen, error = ex.observed.test_accuracy, ex.observed.standard_error[-1]
    alone = (law.accuracy(2 * n - 1) - law.accuracy(n) ** 2)[0] / n
    fitted = float(law.accuracy(n)[0])
    settled = alone * n / (fitted * (1 - fitted))
    variance = error**2 / alone * (law.accuracy(2 * k - 1) - law.accuracy(k) ** 2)[0] / n
    inside, growth = (n * estimate.value + 0.5) / (n + 1), np.log(k / n)
    centre, scatter = np.log(inside / (1 - inside)), np.sqrt(variance) / (inside * (1 - inside))
    assert error**2 > alone  # so that the cases of a class do not count as more errors

    def place(accuracy: float) -> float:
        smooth = (n * accuracy + 0.5) / (n + 1)
        return float(np.log(smooth / (1 - smooth)))

    lowest = min(ex.by_method(k)[name] for name in ex.plausible)
    untested = 1.05 * (1 + 0.1 * growth) / np.sqrt(0.65 + (1 - seen) * n)
    below = np.sqrt((2 * settled * scatter) ** 2 + untested**2 + (0.25 * (centre - place(lowest))) ** 2)
    gap = max(place(seen) - place(fitted), 0.0)
    above = np.sqrt((1.2 * scatter) ** 2 + (0.25 * untested**2) ** 2 + (1.5 * gap) ** 2)
    for end, sign, half in ((estimate.low, -1, below), (estimate.high, 1, above)):
        expected = ((n + 1) / (1 + np.exp(-centre - sign * half)) - 0.5) / n
        assert end == pytest.approx(expected, abs=0.002)  # near k1 the ends are led on from those seen


def test_nine_in_ten_intervals_hold_the_truth() -> None:
    problem, rng = POPULATIONS.GaussianRecognition(5, 0.5), np.random.default_rng(5)
    truth = float(problem.accuracy([400])[0])
    hits = 0
    for number in range(16):
        estimate = extrapolate(problem.draw(40, rng), k=[400], level=0.9, seed=number).accuracy(400)
        hits += estimate.low <= truth <= estimate.high
    assert hits >= 11  # P(< 11 of 16 | 0.9) = 0.003


def test_without_an_error_the_accuracy_is_not_called_certain() -> None:
    rng = np.random.default_rng(3)
    found = extrapolate(similarity(rng.normal(size=(30, 12)), 0.02, rng), k=[60, 300], level=0.9)
    assert found.observed.test_accuracy == 1.0
    assert found.accuracy(31).value > 0.999  # no jump
    assert found.accuracy(300).value <= 1 - 0.05 / 30 * 2
    assert f"{found.accuracy(300).value:.4f}" != "1.0000"


def test_the_variance_between_cases_is_that_of_draws() -> None:
    law = Favorability(miss=[0.02, 0.3], miss_weight=[0.3, 0.2], span=[0.1], span_weight=[0.5])
    rng = np.random.default_rng(0)
    kind = rng.choice(3, 200_000, p=[0.3, 0.2, 0.5])
    miss = np.where(kind == 0, 0.02, np.where(kind == 1, 0.3, 0.1 * rng.random(kind.size)))
    assert law.case_variance(20) == pytest.approx(((1 - miss) ** 19).var(), rel=0.01)
    within_two = (1 - miss) ** 19 + 19 * miss * (1 - miss) ** 18
    assert law.case_variance(20, 2) == pytest.approx(within_two.var(), rel=0.01)
    assert law.top_t_accuracy(2, 20)[0] == pytest.approx(within_two.mean(), rel=0.01)


# --- measures of rank


def test_ranks_up_to_the_classes_seen_are_means_over_all_smaller_tasks() -> None:
    scores = gaussian_task(7, 4, noise=1.2)
    found = extrapolate(scores, k=[14], method="probit_normal", n_resamples=5)
    for k in (4, 7):
        ranks = [
            1 + sum(scores[case, other] > scores[case, case] for other in task if other != case)
            for task in combinations(range(7), k)
            for case in task
        ]
        assert found.rank_measure("reciprocal_rank", k).value == pytest.approx(np.mean([1 / r for r in ranks]))
        assert found.rank_measure("mean_rank", k).value == pytest.approx(np.mean(ranks))
        assert found.rank_measure("top(2)", k).value == pytest.approx(np.mean([r <= 2 for r in ranks]))
        assert found.rank_measure(np.sqrt, k).value == pytest.approx(np.mean(np.sqrt(k + 1 - np.array(ranks))))
        assert found.rank_measure("median_rank", k).value == np.quantile(ranks, 0.5, method="inverted_cdf")


def test_ranks_among_more_classes_are_those_of_draws(ex: Extrapolation) -> None:
    k, rng = 5000, np.random.default_rng(2)
    law = ex.favorability
    miss = rng.choice(law.miss, 100_000, p=law.miss_weight / law.miss_weight.sum())
    ranks = 1 + rng.binomial(k - 1, np.clip(miss, 0, 1))
    found = ex.rank_measure("reciprocal_rank", k)
    assert found.value == pytest.approx((1 / ranks).mean(), abs=0.005)
    assert found.low < found.value < found.high
    middle = ex.rank_measure("median_rank", k)
    assert middle.value == pytest.approx(np.median(ranks), rel=0.1)
    assert middle.low <= np.median(ranks) <= middle.high
    gain = ex.rank_measure(lambda place: 1 / np.log2(2 + k - place), k)
    assert gain.value == pytest.approx((1 / np.log2(1 + ranks)).mean(), abs=0.005)


def test_measures_of_rank_that_make_no_sense_are_named(ex: Extrapolation) -> None:
    with pytest.raises(InputError, match="measure is 'rank'"):
        ex.rank_measure("rank", 100)
    with pytest.raises(InputError, match="falls from a worse place"):
        ex.rank_measure(lambda place: -place, 100)
    families = extrapolate(gaussian_task(20, 1), groups=[n // 2 for n in range(20)], method="mixture", interval=False)
    with pytest.raises(InputError, match="families"):
        families.rank_measure("mean_rank", 100)


# --- two recognisers


def test_two_recognisers_that_cross(crossing: GrowthComparison) -> None:
    assert list(crossing.models) == ["falls", "flat"]
    few, many = crossing.difference(120), crossing.difference(6000)
    assert few.difference == pytest.approx(crossing["falls"].accuracy(120).value - crossing["flat"].accuracy(120).value)
    assert few.difference > 0 > many.difference
    assert many.low < many.difference < many.high
    cross = crossing.crossing
    assert cross is not None
    assert crossing._gap(cross.value - 1)[0] >= 0 >= crossing._gap(cross.value + 1)[0]
    assert cross.low <= cross.value <= cross.high
    assert [row["leader"] for row in crossing.leads][-1] == "flat"
    assert {row["leader"] for row in crossing.leads} >= {"falls", "flat"}
    verdict = crossing.verdict()
    assert verdict.best == "flat"
    assert verdict.to_dict()["measure"] == "accuracy@6000"
    assert any("flat leads from about" in sentence for sentence in crossing.sentences())


def test_the_band_is_wider_than_single_intervals_and_power_needs_classes(crossing: GrowthComparison) -> None:
    band = crossing.band([500])
    alone = crossing.difference(500)
    assert band["low"][0] <= alone.low + 0.02
    assert band["high"][0] >= alone.high - 0.02
    d = crossing.difference(500)
    needed = crossing.classes_to_tell(500)
    assert needed == pytest.approx(60 * (2.8016 * d.standard_error / abs(d.difference)) ** 2, abs=1.5)
    assert crossing.classes_to_tell(500, power=0.9) > needed


def test_the_error_of_an_observed_difference_is_the_paired_jackknife() -> None:
    rng = np.random.default_rng(4)
    points = rng.normal(size=(12, 6))
    scores = {"a": similarity(points, 0.8, rng), "b": similarity(points[:, :3], 0.8, rng)}
    found = extrapolate(scores, k=[24], n_resamples=5, method="probit_normal")
    gaps = []
    for left in range(12):
        inside = [n for n in range(12) if n != left]
        right = [(matrix[np.ix_(inside, inside)].argmax(axis=1) == range(11)).mean() for matrix in scores.values()]
        gaps.append(right[0] - right[1])
    expected = np.sqrt(11 / 12 * ((np.array(gaps) - np.mean(gaps)) ** 2).sum())
    assert found.difference(11).standard_error == pytest.approx(expected, rel=0.02)


def test_a_recogniser_ties_with_itself() -> None:
    scores = gaussian_task(20, 3)
    same = extrapolate({"a": scores, "b": scores}, k=[40], n_resamples=5)
    assert same.difference(40).difference == 0
    assert same.crossing is None
    assert same.classes_to_tell(40) == np.inf
    assert same.verdict().status in ("level", "not tested")
    with pytest.raises(InputError, match="3 recognisers"):
        extrapolate({"a": scores, "b": scores, "c": scores})


def test_a_comparison_is_drawn_and_told(crossing: GrowthComparison) -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axes = crossing.plot(figure.add_subplot())
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["falls − flat, 95% band"]
    assert "With 6,000 classes expect" in repr(crossing)
    assert [row["classes"] for row in crossing.to_dicts()] == [120, 6000]
    json.dumps({key: crossing.to_dict()[key] for key in ("leads", "crossing")})


# --- words and the command line


def test_the_answer_is_a_sentence_and_methods_wait_behind_all(ex: Extrapolation) -> None:
    first = ex.sentences()[0]
    assert first.startswith("With 500 classes expect accuracy ")
    assert "90% interval" in first
    assert f"down from {ex.observed.test_accuracy:.0%} with 50" in first
    assert "blend" not in repr(ex)
    text = [part for section in ex.sections(detail=True) for part in section.sentences]
    assert any("blend" in part for part in text)


def run(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(command, [str(argument) for argument in arguments])
    error = str(done.exception) if isinstance(done.exception, InputError) else ""
    return done.exit_code, done.stdout, done.stderr + error


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(16, 5))
    old, new = similarity(points, 0.8, rng), similarity(points[:, :3], 0.8, rng)
    names = [f"p{n}" for n in range(16)]
    head = ["person", "family", *(f"old_{n}" for n in names), *(f"new_{n}" for n in names)]
    lines = [",".join(head)]
    lists = ["person," + ",".join(names)]
    for n, name in enumerate(names):
        lines.append(",".join([name, f"f{n // 2}", *map(str, old[n]), *map(str, new[n])]))
        listed = set(np.argsort(-old[n])[:6].tolist()) | {n}
        lists.append(",".join([name, *(str(v) if c in listed else "" for c, v in enumerate(old[n]))]))
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "lists.csv").write_text("\n".join(lists) + "\n")
    (tmp_path / "families.csv").write_text("class,family\n" + "".join(f"p{n},f{n // 2}\n" for n in range(16)))
    cost = ["class," + ",".join(names), *(f"{a}," + ",".join("0" if a == b else "3" for b in names) for a in names)]
    (tmp_path / "costs.csv").write_text("\n".join(cost) + "\n")
    return tmp_path


def test_command_compares_two_recognisers(files: Path) -> None:
    asked = (files / "scores.csv", "--label", "person", "--classes", "32,64", "--resamples", 5, "--method", "mixture")
    two = ("--score", "old_*", "--score", "new_*")
    status, out, err = run(*asked, *two, "--format", "json", "--plot", files / "two.png")
    assert status == 0, err
    document = json.loads(out)
    assert list(document["models"]) == ["old", "new"]
    assert [row["classes"] for row in document["differences"]] == [32, 64]
    assert document["verdict"]["best"] in ("old", "new")
    assert (files / "two.png").stat().st_size > 1000
    assert "With 64 classes expect" in run(*asked, *two)[1]
    assert "apply to one recogniser" in run(*asked, *two, "--top", 2)[2]
    assert "two recognisers at a time" in run(*asked, *two, "--score", "p*")[2]


def test_command_takes_families_costs_and_candidate_lists(files: Path) -> None:
    quick = ("--label", "person", "--classes", 32, "--method", "mixture", "--no-intervals", "--format", "json")
    asked = (files / "scores.csv", "--score", "old_*")
    by_column = json.loads(run(*asked, *quick, "--groups", "family")[1])
    by_file = json.loads(run(*asked, *quick, "--groups", files / "families.csv")[1])
    alone = json.loads(run(*asked, *quick)[1])
    assert by_column["predictions"] == by_file["predictions"] != alone["predictions"]
    listed = json.loads(run(files / "lists.csv", *quick, "--candidates")[1])
    assert listed["accuracy_seen"] == alone["accuracy_seen"]
    assert run(files / "lists.csv", *quick)[0] != 0  # a missing score is not a candidate list by itself
    costs = ("--label", "person", "--classes", 32, "--costs", files / "costs.csv", "--format", "json")
    priced = json.loads(run(*asked, *costs)[1])["predictions"][0]
    assert priced["cost"] == pytest.approx(3 * (1 - priced["accuracy"]))
    for option in (("--top", 2), ("--half-width", 0.1), ("--method", "tail"), ("--no-intervals",)):
        assert f"{option[0]} does not apply with --costs" in run(*asked, *costs[:-2], *option)[2]


def test_command_plans_a_review_and_writes_pages(files: Path) -> None:
    asked = (files / "scores.csv", "--label", "person", "--classes", "16,64")
    one = (*asked, "--score", "old_*")
    status, out, err = run(*one, "--review", 0.25, "--format", "json", "--html", files / "review.html")
    assert status == 0, err
    document = json.loads(out)
    assert (document["review"], [row["classes"] for row in document["predictions"]]) == (0.25, [16, 64])
    assert 0.0 <= document["predictions"][1]["caught"] <= 1.0
    assert "reviewing 25% of the answers" in (files / "review.html").read_text()
    for option in (
        ("--groups", "family"),
        ("--candidates",),
        ("--top", 2),
        ("--until", 0.5),
        ("--costs", files / "costs.csv"),
    ):
        assert f"{option[0]} does not apply with --review" in run(*one, "--review", 0.25, *option)[2]
    two = ("--score", "old_*", "--score", "new_*", "--method", "mixture", "--resamples", 5)
    for name, more in (("one", ("--score", "old_*", "--no-intervals")), ("two", two)):
        assert run(*asked, *more, "--html", files / f"{name}.html")[0] == 0
        text = (files / f"{name}.html").read_text()
        assert "<svg" in text  # the curve
        assert ("Who leads" in text and "old − new, 95% band" in text) == (name == "two")
        assert "With 64 classes expect" in text


def test_ends_do_not_jump_or_collapse_near_the_classes_seen(ex: Extrapolation) -> None:
    seen = ex.accuracy(50)
    for k in (51, 52, 55):
        at = ex.accuracy(k)
        assert at.low == pytest.approx(seen.low, abs=0.02)
        assert at.high == pytest.approx(seen.high, abs=0.02)
        assert at.high - at.low > 0.8 * (seen.high - seen.low)
    widths = [ex.accuracy(k).interval.width for k in (100, 200, 400)]
    assert min(widths) > 0.05

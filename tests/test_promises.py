"""Cuts that keep a promise on new data: exact by definition, kept in simulations, refused where data are too few."""

from __future__ import annotations

import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import binom, norm

import cutline as cl
from cutline.commands.group import cli
from cutline.decide.thresholds import Cut, cases_needed, chance_kept, first_test, promised_groups, read_cut_file
from cutline.ranking import rank
from cutline.sources.arrays import make_sample

SEPARATION = 1.35


def drawn(rng: np.random.Generator, n: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    y = rng.random(n) < share
    return y, rng.normal(size=n) + SEPARATION * y


def test_recall_by_order_statistics_without_ties() -> None:
    """The cut lies just under the k-th lowest positive, k the largest with P(Bin(n, 1 − r) ≥ k) ≥ confidence."""
    rng = np.random.default_rng(3)
    y, s = drawn(rng, 400, 0.2)
    positives = np.sort(s[y])
    n = len(positives)
    k = max(k for k in range(1, n + 1) if binom.sf(k - 1, n, 0.2) >= 0.9)
    cut = cl.threshold_for(y, s, recall=0.8, confidence=0.9)
    assert cut < positives[k - 1]
    assert (s[s < positives[k - 1]] <= cut).all()  # the highest score that is not taken
    assert cut.chance == pytest.approx(binom.sf(k - 1, n, 0.2))
    assert cut.goal == {"recall": 0.8, "confidence": 0.9}
    assert "90% confidence" in cut.note


def test_specificity_by_order_statistics_without_ties() -> None:
    rng = np.random.default_rng(4)
    y, s = drawn(rng, 300, 0.3)
    negatives = np.sort(s[~y])
    n = len(negatives)
    m = min(m for m in range(1, n + 1) if binom.cdf(m - 1, n, 0.9) >= 0.95)
    cut = cl.threshold_for(y, s, specificity=0.9, confidence=0.95)
    assert cut == negatives[m - 1]
    assert cut == cl.threshold_for(y, s, fpr=0.1, confidence=0.95)
    assert cut.chance == pytest.approx(binom.cdf(m - 1, n, 0.9))


def test_precision_by_a_fixed_sequence_of_tests() -> None:
    rng = np.random.default_rng(5)
    y, s = drawn(rng, 2000, 0.1)
    order = np.argsort(-s)
    hits = np.cumsum(y[order])
    k = first_test(0.4, 0.1)
    while binom.sf(hits[k - 1] - 1, k, 0.4) <= 0.1:
        k += 1
    cut = cl.threshold_for(y, s, precision=0.4, confidence=0.9)
    assert (s > cut).sum() == k - 1


@pytest.mark.parametrize("target", [0.01, 0.1, 0.5, 0.9, 0.99])
def test_the_first_test_can_find_three_times_the_odds(target: float) -> None:
    k = first_test(target, 0.1)
    higher = 3 * target / (1 + 2 * target)
    needed = binom.isf(0.1, k, target) + 1
    assert binom.sf(needed - 1, k, target) <= 0.1
    assert binom.sf(needed - 1, k, higher) >= 0.8


@pytest.mark.parametrize("step", [None, 0.5])
@pytest.mark.parametrize(
    ("promise", "target"), [("recall", 0.8), ("specificity", 0.9), ("fpr", 0.1), ("precision", 0.3)]
)
def test_promises_are_kept_on_new_data(promise: str, target: float, step: float | None) -> None:
    """In at least 90 % of samples, less what 300 samples may deviate; scores in steps keep them more often."""
    rng = np.random.default_rng(6)
    share, kept = 0.1, 0
    for _ in range(300):
        y, s = drawn(rng, 800, share)
        if step is not None:
            s = np.floor(s / step) * step
        ranking = rank(make_sample(y, s))
        try:
            groups = promised_groups(ranking, promise, target, 0.9)
        except cl.InputError:  # a promise that is not made is not broken
            assert promise == "precision"
            kept += 1
            continue
        t = float(ranking.score[groups]) if groups < len(ranking) else -math.inf
        edge = t if step is None else t + step  # score > t means at least one step more
        recall, fpr = norm.sf(edge - SEPARATION), norm.sf(edge)
        found = {"recall": recall, "specificity": 1 - fpr, "fpr": fpr}
        found["precision"] = share * recall / (share * recall + (1 - share) * fpr)
        kept += found[promise] <= target if promise == "fpr" else found[promise] >= target
    assert kept / 300 > 0.9 - 2.6 * math.sqrt(0.09 / 300)


def test_without_confidence_the_chance_is_about_half() -> None:
    rng = np.random.default_rng(7)
    y, s = drawn(rng, 1000, 0.2)
    cut = cl.threshold_for(y, s, recall=0.8)
    assert 0.35 < cut.chance < 0.65
    assert "with a probability of about" in cut.note
    assert "about half the time" in cl.threshold_for(y, s, precision=0.4).note


def test_chance_kept_at_the_ends() -> None:
    ranking = rank(make_sample([1, 1, 0, 0], [4.0, 3.0, 2.0, 1.0]))
    assert chance_kept(ranking, "recall", 0.5, 0) == 0.0
    assert chance_kept(ranking, "specificity", 0.5, 4) == 0.0
    assert chance_kept(ranking, "recall", 0.5, 2) == pytest.approx(0.75)  # 1 − 0.5²


def test_too_few_cases_are_refused_with_the_number_needed() -> None:
    assert cases_needed(0.8, 0.9) == 11
    y, s = [1] * 10 + [0] * 90, list(range(100, 0, -1))
    with pytest.raises(cl.InputError, match="11 positive cases would be needed, there are 10"):
        cl.threshold_for(y, s, recall=0.8, confidence=0.9)
    assert cl.threshold_for([1, *y], [101, *s], recall=0.8, confidence=0.9) == 90
    with pytest.raises(cl.InputError, match="22 negative cases would be needed"):
        cl.threshold_for([1, 0], [2.0, 1.0], fpr=0.1, confidence=0.9)
    with pytest.raises(cl.InputError, match="cannot be promised at 1"):
        cl.threshold_for(y, s, recall=1, confidence=0.9)
    with pytest.raises(cl.InputError, match="about 78 positive cases would be needed, there are 10"):
        cl.threshold_for(y, s, precision=0.9, confidence=0.9)
    with pytest.raises(cl.InputError, match="too few to be sure of"):
        cl.threshold_for([0, 1] * 50, s, precision=0.9, confidence=0.9)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"recall": 0.8, "confidence": 1.0}, "confidence"),
        ({"recall": 0.8, "confidence": "high"}, "confidence"),
        ({"quota": 2, "confidence": 0.9}, "confidence goes with"),
        ({"recall": 1.2, "confidence": 0.9}, "recall"),
        ({"recall": 0.8, "prevalence": 0.1}, "prevalence goes with costs"),
        ({"cost_fp": 1}, "cost_fn is missing"),
        ({"cost_fp": 0, "cost_fn": 0}, "both 0"),
        ({"cost_fp": -1, "cost_fn": 1}, "cost_fp"),
        ({"cost_fp": 1, "cost_fn": math.inf}, "cost_fn"),
        ({"cost_fp": 1, "cost_fn": 1, "prevalence": 1.0}, "prevalence"),
        ({"cost_fp": 1, "cost_fn": 1, "recall": 0.8}, "exactly one"),
        ({}, "exactly one"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(options: dict, said: str) -> None:
    with pytest.raises(cl.InputError, match=said) as caught:
        cl.threshold_for([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], **options)
    assert "\n" not in str(caught.value)


def test_a_promised_precision_says_over_which_samples_it_holds() -> None:
    y, s = drawn(np.random.default_rng(32), 2000, 0.3)
    note = cl.threshold_for(y, s, precision=0.5, confidence=0.9).note
    assert "(at most 10% of samples give a cut that breaks it)" in note
    broken = 0
    for seed in range(300):
        y, s = drawn(np.random.default_rng(seed), 60, 0.3)
        try:
            cut = cl.threshold_for(y, s, precision=0.6, confidence=0.9)
        except cl.InputError:
            continue
        recall, fpr = norm.sf(cut - SEPARATION), norm.sf(cut)
        broken += 0.3 * recall / (0.3 * recall + 0.7 * fpr) < 0.6
    assert broken / 300 <= 0.1 + 2 * math.sqrt(0.09 / 300)


def test_weights_do_not_go_with_a_confidence() -> None:
    with pytest.raises(cl.InputError, match="sample_weight cannot be used with confidence"):
        cl.threshold_for([1, 0], [2.0, 1.0], recall=0.5, confidence=0.6, sample_weight=[1, 2])


def test_a_cut_is_a_float_that_pickles_and_saves(tmp_path) -> None:
    y, s = [1, 1, 0, 1, 0, 0] * 5, [0.9, 0.8, 0.7, 0.6, 0.4, 0.2] * 5
    cut = cl.threshold_for(y, s, recall=0.6, confidence=0.8)
    assert isinstance(cut, float)
    assert (np.array(s) > cut).sum() == cut.point.taken
    again = pickle.loads(pickle.dumps(cut))
    assert again == cut
    assert again.goal == cut.goal
    assert again.note == cut.note
    path = tmp_path / "cut.json"
    cut.save(path, score="p")
    content = read_cut_file(path)
    assert content["threshold"] == cut
    assert content["score"] == "p"
    assert Cut.load(path) == cut
    assert Cut.load(path).goal == cut.goal
    everyone = cl.threshold_for(y, s, recall=1.0)
    everyone.save(path)
    assert Cut.load(path) == everyone


@pytest.mark.parametrize("content", ["", "{}", '{"threshold": null}', '{"threshold": true}', "[1]"])
def test_what_is_no_cut_file_is_refused(tmp_path, content: str) -> None:
    path = tmp_path / "cut.json"
    path.write_text(content)
    with pytest.raises(cl.InputError, match=r"cut\.json"):
        Cut.load(path)
    with pytest.raises(cl.InputError, match="there is no cut file"):
        Cut.load(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[" * 100_000, "is not a cut file"),
        ('{"threshold": ' + "[" * 100_000, "is not a cut file"),
        ("\xff", "contains no threshold|is not a cut file"),
        ("[1, 2]", "is not a cut file"),
        ("[]", "contains no threshold"),
        ("{}", "contains no threshold"),
        ('{"threshold": true}', "contains True as its threshold"),
        ('{"threshold": null}', "contains None as its threshold"),
        ('{"threshold": "nan"}', "contains 'nan' as its threshold"),
        ('{"threshold": [0.5]}', "as its threshold"),
        ('{"threshold": 1' + "0" * 400 + "}", "as its threshold"),
        ('{"threshold": 0.5, "score": ["p"]}', "as its score"),
        ('{"threshold": 0.5, "goal": 3}', "contains 3 as its goal"),
        ('{"threshold": 0.5, "sample": "x"}', "as its sample"),
        ('{"threshold": 0.5, "chance_kept": {}}', "as its chance_kept"),
    ],
)
def test_a_cut_file_that_is_none_is_refused_in_one_sentence(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text(content)
    with pytest.raises(cl.InputError, match=said):
        Cut.load(path)
    (tmp_path / "a.csv").write_text("y,p\n1,.9\n0,.2\n")
    done = CliRunner().invoke(cli, ["select", str(tmp_path / "a.csv"), "--cut", str(path)])
    assert done.exit_code == 2, done.output
    assert re.fullmatch(f"cutline: .*({said}).*\n", done.stderr)

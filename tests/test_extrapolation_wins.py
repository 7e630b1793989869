"""Average test accuracy of smaller tasks, held against enumeration of all of them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutline.extrapolation.tasks import average_accuracy, from_scores, tie_credit, win_histogram

GLYPHS = Path(__file__).parents[1].parent / "shared" / "data" / "manyclass" / "cjk-glyphs"


def won(row: np.ndarray, own: int, rivals: tuple[int, ...], ties: str) -> Fraction:
    """What one case earns against some rivals, by the definition."""
    best = max(row[list(rivals)], default=-np.inf)
    if row[own] > best:
        return Fraction(1)
    if row[own] < best:
        return Fraction(0)
    equal = sum(row[r] == row[own] for r in rivals)
    return {"random": Fraction(1, int(equal) + 1), "optimistic": Fraction(1), "pessimistic": Fraction(0)}[ties]


def enumerated(scores: np.ndarray, labels: list[int], k: int, ties: str) -> float:
    """Mean accuracy over all subsets of k classes that hold the case's own, classes weighing equally."""
    n_classes = scores.shape[1]
    by_class: dict[int, list[Fraction]] = {}
    for row, own in zip(scores, labels, strict=True):
        others = [c for c in range(n_classes) if c != own]
        tasks = [won(row, own, rivals, ties) for rivals in combinations(others, k - 1)]
        by_class.setdefault(own, []).append(sum(tasks, Fraction(0)) / len(tasks))
    means = [sum(values, Fraction(0)) / len(values) for values in by_class.values()]
    return float(sum(means, Fraction(0)) / len(means))


@pytest.mark.parametrize("ties", ["random", "optimistic", "pessimistic"])
@pytest.mark.parametrize("n_classes", [2, 3, 5, 8])
def test_every_smaller_task_by_enumeration_with_ties_and_unequal_classes(ties: str, n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    labels = [*range(n_classes), 0, 0, 1]  # classes 0 and 1 have more cases than the others
    scores = rng.integers(0, 4, size=(len(labels), n_classes)).astype(float)
    histogram = from_scores(scores, labels, ties=ties).whole().histogram
    for k, accuracy in enumerate(average_accuracy(histogram), start=1):
        assert accuracy == pytest.approx(enumerated(scores, labels, k, ties), abs=1e-14)


@given(beaten=st.integers(0, 12), tied=st.integers(0, 12), k=st.integers(1, 13))
def test_random_ties_have_the_closed_form(beaten: int, tied: int, k: int) -> None:
    n_classes = 13
    if beaten + tied > n_classes - 1 or k > n_classes:
        return
    closed = Fraction(comb(beaten + tied + 1, k) - comb(beaten, k), (tied + 1) * comb(n_classes - 1, k - 1))
    histogram = win_histogram(np.array([float(beaten)]), np.array([float(tied)]), np.ones(1), n_classes, "random")
    assert average_accuracy(histogram)[k - 1] == pytest.approx(float(closed), abs=1e-14)
    credit = tie_credit(
        np.array([float(beaten)]), np.array([float(tied)]), np.array([float(k)]), n_classes - 1, "random"
    )
    assert credit[0, 0] == pytest.approx(float(closed), rel=1e-11, abs=1e-14)


def test_recursion_is_exact_where_binomials_overflow() -> None:
    n_classes = 2000
    rng = np.random.default_rng(0)
    levels = np.minimum((n_classes * rng.beta(5, 0.3, size=40)).astype(int), n_classes - 1)
    histogram = np.bincount(levels, minlength=n_classes) / levels.size
    accuracy = average_accuracy(histogram)
    at = average_accuracy(histogram, np.array([2.0, 37.0, 500.0, 1999.0, 2000.0]))
    for place, k in enumerate((2, 37, 500, 1999, 2000)):
        exact = sum(Fraction(comb(int(level), k - 1), comb(n_classes - 1, k - 1)) for level in levels) / levels.size
        assert accuracy[k - 1] == pytest.approx(float(exact), rel=1e-12, abs=1e-14)
        assert at[place] == pytest.approx(float(exact), rel=1e-9, abs=1e-14)


def test_all_tied_is_a_guess_among_k_or_a_sure_win_by_the_papers_rule() -> None:
    same = np.zeros((6, 6))
    k = np.arange(1, 7)
    for ties, expected in (("random", 1 / k), ("optimistic", np.ones(6)), ("pessimistic", (k == 1).astype(float))):
        histogram = from_scores(same, ties=ties).whole().histogram
        np.testing.assert_allclose(average_accuracy(histogram), expected, atol=1e-14)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_permuting_classes_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 6, size=(7, 7)).astype(float)
    order = rng.permutation(7)
    one = from_scores(scores, np.arange(7)).whole().histogram
    other = from_scores(scores[:, order], np.argsort(order)).whole().histogram
    np.testing.assert_allclose(one, other, atol=1e-15)


def test_standard_error_is_the_spread_over_fresh_tasks() -> None:
    rng = np.random.default_rng(4)
    k = np.array([2.0, 10.0, 40.0])
    values, errors = [], []
    for _ in range(150):
        centres = rng.normal(size=(40, 3))
        probes = centres + 0.5 * rng.normal(size=centres.shape)
        distance = np.linalg.norm(probes[:, None] - centres[None], axis=2)
        source = from_scores(distance, distance=True)
        histogram = source.whole().histogram
        values.append(average_accuracy(histogram, k))
        errors.append(source.standard_error(k)[0])
    ratio = np.mean(errors, axis=0) / np.std(values, axis=0)
    assert (ratio > 0.8).all()
    assert (ratio < 1.3).all()


def test_jackknife_by_leaving_classes_out_one_by_one() -> None:
    scores = np.random.default_rng(5).integers(0, 6, size=(9, 9)).astype(float)
    k = np.array([2.0, 4.0, 8.0])
    without = []
    for left_out in range(9):
        rest = np.delete(np.arange(9), left_out)
        histogram = from_scores(scores[np.ix_(rest, rest)]).whole().histogram
        without.append(average_accuracy(histogram, k))
    spread = np.array(without)
    expected = np.sqrt(8 / 9 * ((spread - spread.mean(axis=0)) ** 2).sum(axis=0))
    found, how = from_scores(scores).standard_error(k)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert how == "class jackknife"


@pytest.mark.skipif(not GLYPHS.exists(), reason="the glyph data are not here")
@pytest.mark.parametrize(
    ("font", "known"),
    [
        ("uming", {100: 0.9685, 400: 0.9323, 1672: 0.8636, 5000: 0.7819, 17840: 0.6507}),
        ("ukai", {100: 0.4285, 400: 0.2695, 1672: 0.1520, 5000: 0.0926, 17840: 0.0484}),
    ],
)
def test_glyphs_at_every_size(font: str, known: dict[int, float]) -> None:
    wins = np.loadtxt(GLYPHS / f"cjk_wins_full_{font}.txt")
    histogram = np.bincount(wins.astype(int), minlength=17840) / wins.size
    found = average_accuracy(histogram, np.array(list(known), dtype=float))
    np.testing.assert_allclose(found, list(known.values()), atol=5.1e-5)

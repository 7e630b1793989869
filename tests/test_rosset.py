"""Rosset's decompositions, corrected: the oracle's score less what the model loses against it.

(6.1) and (6.2) are printed with the wrong sign (errata R4, R5); the paper's own example in its section 7 says which
sign is meant: a positive case that only the second model puts above the threshold counts +1 for it. Ties take
mid-ranks (erratum R6).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutline as cl
import oracle
from oracle import Data

LEVELS = st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9])


@st.composite
def designs(draw: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Labels, true probabilities (distinct) and the scores of two models."""
    n = draw(st.integers(1, 15))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    p = draw(st.permutations(range(n)))
    m1, m2 = (draw(st.lists(LEVELS, min_size=n, max_size=n)) for _ in range(2))
    return np.array(y), (np.array(p) + 0.5) / n, np.array(m1), np.array(m2)


def linear(y: Any, s: Any) -> Fraction:
    return oracle.linear_ranking(Data.of(y, s))


def correct(y: Any, s: Any, t: float) -> int:
    """Rosset's MC counts correct decisions (erratum R10)."""
    return sum(int(bool(a) == (b > t)) for a, b in zip(y, s, strict=True))


def switches(y: Any, p: Any, m: Any) -> Fraction:
    """(5.3): over the pairs in the order of the true probabilities, those the model turns round; ties count half."""
    order = np.argsort(p)
    y, m = np.asarray(y)[order], np.asarray(m)[order]
    total = Fraction(0)
    for i in range(len(y)):
        for j in range(i + 1, len(y)):
            turned = Fraction(int(m[i] > m[j])) + Fraction(int(m[i] == m[j]), 2)
            total += int(y[j] - y[i]) * turned
    return total


def value(decomposition: Any, name: str) -> float:
    return float(getattr(decomposition, name))


FORMS = ("reducible", "reducible_switched", "reducible_pairs")


@given(designs())
def test_5_1_score_is_oracle_less_reducible(design: Any) -> None:
    y, p, m, _ = design
    d = cl.papers.linear_ranking_decomposition(y, m, p)
    assert value(d, "score") == pytest.approx(float(linear(y, m)), rel=1e-12)
    assert value(d, "oracle") == pytest.approx(float(linear(y, p)), rel=1e-12)
    assert value(d, "score") == pytest.approx(value(d, "oracle") - value(d, "reducible"), rel=1e-12, abs=1e-12)


@given(designs())
def test_5_3_reducible_part_by_pairs(design: Any) -> None:
    y, p, m, _ = design
    d = cl.papers.linear_ranking_decomposition(y, m, p)
    for form in FORMS:
        assert value(d, form) == pytest.approx(float(switches(y, p, m)), rel=1e-12, abs=1e-12)


@given(designs())
def test_5_2_switched_labels_and_turned_scores_leave_the_reducible_part(design: Any) -> None:
    y, p, m, _ = design
    one = cl.papers.linear_ranking_decomposition(y, m, p)
    other = cl.papers.linear_ranking_decomposition(1 - y, -m, 1 - p)
    assert value(one, "reducible") == pytest.approx(value(other, "reducible"), rel=1e-12, abs=1e-12)


@given(designs())
def test_6_1_corrected(design: Any) -> None:
    """Erratum R4: the sum of [I{p <= t} - I{m <= t}] (1 - 2y) is MC(oracle) - MC(model); smaller is better."""
    y, p, m, _ = design
    d = cl.papers.misclassification_decomposition(y, m, p, threshold=0.5)
    expected = sum((int(a <= 0.5) - int(b <= 0.5)) * (1 - 2 * int(c)) for a, b, c in zip(p, m, y, strict=True))
    for form in FORMS:
        assert value(d, form) == expected
    assert value(d, "score") == correct(y, m, 0.5)
    assert value(d, "oracle") == correct(y, p, 0.5)
    assert value(d, "score") == value(d, "oracle") - value(d, "reducible")


@given(designs())
def test_6_2_corrected(design: Any) -> None:
    """Erratum R5: MC(m2) - MC(m1) is the sum of [I{m1 <= t} - I{m2 <= t}] (2y - 1)."""
    y, p, m1, m2 = design
    one, two = (cl.papers.misclassification_decomposition(y, m, p, threshold=0.5) for m in (m1, m2))
    expected = sum((int(a <= 0.5) - int(b <= 0.5)) * (2 * int(c) - 1) for a, b, c in zip(m1, m2, y, strict=True))
    assert value(one, "reducible") - value(two, "reducible") == expected
    assert correct(y, m2, 0.5) - correct(y, m1, 0.5) == expected
    assert cl.papers.selector_differences(y, m1, m2, threshold=0.5).misclassification == expected


@given(designs())
def test_6_3(design: Any) -> None:
    y, p, m1, m2 = design
    one, two = (cl.papers.linear_ranking_decomposition(y, m, p) for m in (m1, m2))
    assert value(one, "reducible") - value(two, "reducible") == pytest.approx(
        float(linear(y, m2) - linear(y, m1)), rel=1e-12, abs=1e-12
    )
    assert cl.papers.selector_differences(y, m1, m2).linear_ranking == pytest.approx(
        float(switches(y, p, m1) - switches(y, p, m2)), rel=1e-12, abs=1e-12
    )


def test_example_of_section_7() -> None:
    """m1 <= t < m2 with y = 1: the second model was right, so the difference is +1."""
    assert cl.papers.selector_differences([1], [0.4], [0.6]).misclassification == 1
    one = cl.papers.misclassification_decomposition([1], [0.4], [0.9], threshold=0.5)
    two = cl.papers.misclassification_decomposition([1], [0.6], [0.9], threshold=0.5)
    assert value(one, "reducible") - value(two, "reducible") == 1


def test_a_model_that_is_the_oracle_loses_nothing() -> None:
    y, p = [0, 1, 0, 1, 1], [0.1, 0.2, 0.4, 0.6, 0.9]
    assert value(cl.papers.linear_ranking_decomposition(y, p, p), "reducible") == 0
    assert value(cl.papers.misclassification_decomposition(y, p, p, threshold=0.5), "reducible") == 0


def test_the_threshold_is_not_part_of_positive() -> None:
    d = cl.papers.misclassification_decomposition([1, 0], [0.5, 0.5], [0.9, 0.1], threshold=0.5)
    assert value(d, "score") == 1  # neither is above 0.5: the negative case is right, the positive is not


def test_design_of_section_4_1() -> None:
    """Erratum R16: Pr(y = 1 | x) is uniform, so the Bayes error is 1/4; here as a fine grid with expected labels."""
    p = (np.arange(2000) + 0.5) / 2000
    y = np.concatenate([np.ones(2000), np.zeros(2000)])
    w = np.concatenate([p, 1 - p])
    assert cl.error_rate(y, np.concatenate([p, p]), sample_weight=w) == pytest.approx(0.25, abs=1e-9)
    # all pairs: P(p+ > p-) with densities 2p and 2(1-p) is 5/6
    assert cl.roc_auc(y, np.concatenate([p, p]), sample_weight=w) == pytest.approx(5 / 6, abs=1e-6)


@given(designs(), st.data())
def test_ties_in_the_true_probabilities_take_mid_ranks_too(design: Any, data: Any) -> None:
    y, _, m, _ = design
    p = np.array(data.draw(st.lists(LEVELS, min_size=len(y), max_size=len(y))))
    d = cl.papers.linear_ranking_decomposition(y, m, p)
    assert value(d, "oracle") == pytest.approx(float(linear(y, p)), rel=1e-12)
    for form in FORMS:
        assert value(d, form) == pytest.approx(float(linear(y, p) - linear(y, m)), rel=1e-12, abs=1e-12)


def test_row_order_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    y, m, p = rng.integers(0, 2, 30), rng.integers(0, 6, 30) / 5, rng.random(30)
    order = rng.permutation(30)
    assert cl.papers.linear_ranking_decomposition(y, m, p) == cl.papers.linear_ranking_decomposition(
        y[order], m[order], p[order]
    )


def test_true_probabilities_are_probabilities() -> None:
    for f in (cl.papers.linear_ranking_decomposition, cl.papers.misclassification_decomposition):
        with pytest.raises(cl.InputError, match="true_probability"):
            f([1, 0], [0.4, 0.6], [0.5, 1.5])


def test_lengths_must_match() -> None:
    with pytest.raises(cl.InputError):
        cl.papers.linear_ranking_decomposition([1, 0], [0.4, 0.6], [0.5])
    with pytest.raises(cl.InputError):
        cl.papers.misclassification_decomposition([1, 0], [0.4, 0.6], [0.5, 0.5, 0.5])


def test_a_million_rows_are_taken_apart_without_a_table_of_pairs() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(1_000_000)
    y = rng.random(1_000_000) < p
    d = cl.papers.linear_ranking_decomposition(y, p + 0.1 * rng.normal(size=len(p)), p)
    assert d.reducible == pytest.approx(d.reducible_pairs, rel=1e-9)
    gap = cl.papers.selector_differences(y, p + 0.1 * rng.normal(size=len(p)), p)
    assert gap.linear_ranking > 0

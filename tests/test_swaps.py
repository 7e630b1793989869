"""Swap sets: who enters and leaves, hits by count, Newcombe's interval, labels needed."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cutline as cl
from cutline.decide.model_choice import membership, swaps
from cutline.inference.limits import mover_limits, wilson
from cutline.sources.arrays import make_sample


def test_entering_and_leaving_by_hand() -> None:
    y = [1, 0, 1, 0, 1, 0]
    old, new = make_sample(y, [6, 5, 4, 3, 2, 1]), make_sample(y, [6, 1, 4, 3, 5, 2])
    found = swaps(old, new, 3)
    assert found.entering.tolist() == [4]
    assert found.leaving.tolist() == [1]
    assert (found.hits_entering, found.hits_leaving, found.difference.value) == (1, 0, 1)
    assert found.swapped == 1
    assert "replaces 1 of old's 3 cases" in repr(found)
    assert found.to_dict()["entering"] == [4]


def test_ties_at_the_cut_are_shared() -> None:
    assert membership(np.array([3.0, 2.0, 2.0, 1.0]), 2).tolist() == [1.0, 0.5, 0.5, 0.0]
    y = [0, 1, 0, 1]
    found = swaps(make_sample(y, [4, 3, 2, 1]), make_sample(y, [4, 2, 2, 1]), 2)
    assert found.swapped == 0.5
    assert found.difference.value == -0.5


def test_the_difference_in_hits_is_that_of_the_lists() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.2
    a, b = (np.round(rng.normal(size=500) + y, 1) for _ in range(2))
    found = swaps(make_sample(y, a), make_sample(y, b), 60)
    hits = [cl.hit_rate(y, s, quota=60) * 60 for s in (a, b)]
    assert found.difference.value == pytest.approx(hits[1] - hits[0])
    assert found.difference.low < found.difference.value < found.difference.high


def test_the_same_list_swaps_nobody() -> None:
    one = make_sample([1, 0, 1], [3, 2, 1])
    found = swaps(one, make_sample([1, 0, 1], [30, 20, 10]), 2)
    assert found.swapped == 0
    assert math.isinf(found.labels_needed)
    assert "choose the same" in repr(found)


def test_newcombe_holds_the_true_difference() -> None:
    """Simulated coverage of the 95 % interval, 40 rows on either side."""
    rng = np.random.default_rng(1)
    for p, q in ((0.3, 0.1), (0.05, 0.02), (0.5, 0.5)):
        inside = 0
        for a, b in zip(rng.binomial(40, p, 1000), rng.binomial(40, q, 1000), strict=True):
            low, high = mover_limits(*((hits / 40, wilson(hits, 40, 0.95)) for hits in (a, b)))
            inside += low <= p - q <= high
        assert inside / 1000 > 0.93


def test_labels_needed_give_the_power_they_promise() -> None:
    from scipy.stats import fisher_exact

    y = np.array([1] * 12 + [0] * 28 + [1] * 4 + [0] * 36, dtype=bool)
    old = make_sample(y, np.r_[np.zeros(40), np.ones(40)])
    new = make_sample(y, np.r_[np.ones(40), np.zeros(40)])
    found = swaps(old, new, 40)
    side = math.ceil(found.labels_needed / 2)
    rng = np.random.default_rng(2)
    draws = zip(rng.binomial(side, 0.3, 400), rng.binomial(side, 0.1, 400), strict=True)
    seen = [fisher_exact([[a, side - a], [b, side - b]])[1] < 0.05 for a, b in draws]
    assert 0.65 < np.mean(seen) < 0.9


def test_bad_input_is_refused() -> None:
    one = make_sample([1, 0, 1], [3, 2, 1])
    with pytest.raises(cl.InputError, match="quota"):
        swaps(one, one, 4)


def test_a_weighted_row_swaps_the_cases_that_it_stands_for() -> None:
    """Hits are those of the repeated rows; what they tell is that of the effective number of cases."""
    rng = np.random.default_rng(5)
    y, a, weight = rng.random(300) < 0.3, rng.normal(size=300), rng.integers(1, 4, 300)
    b = a + rng.normal(size=300)
    repeated = [np.repeat(column, weight) for column in (y, a, b)]
    found = swaps(make_sample(y, a, sample_weight=weight), make_sample(y, b, sample_weight=weight), 90)
    same = swaps(make_sample(repeated[0], repeated[1]), make_sample(repeated[0], repeated[2]), 90)
    for name in ("swapped", "hits_entering", "hits_leaving"):
        assert getattr(found, name) == pytest.approx(getattr(same, name))
    assert found.difference.value == pytest.approx(same.difference.value)
    assert found.difference.high - found.difference.low > same.difference.high - same.difference.low
    equal = swaps(
        make_sample(y, a, sample_weight=np.full(300, 2.0)), make_sample(y, b, sample_weight=np.full(300, 2.0)), 60
    )
    plain = swaps(make_sample(y, a), make_sample(y, b), 30)
    assert equal.difference.low == pytest.approx(2 * plain.difference.low)
    assert equal.labels_needed == pytest.approx(plain.labels_needed)


def test_the_interval_of_a_weighted_swap_holds_the_difference() -> None:
    """All of ``old``'s places change hands; rates 0.5 and 0.3 at either side, weights that vary."""
    rng, inside = np.random.default_rng(6), 0
    for _ in range(400):
        y = np.r_[rng.random(60) < 0.5, rng.random(60) < 0.3]
        weight = np.exp(0.7 * rng.normal(size=120))
        weight[60:] *= weight[:60].sum() / weight[60:].sum()
        old, new = np.r_[np.zeros(60), np.ones(60)], np.r_[np.ones(60), np.zeros(60)]
        quota = int(weight[:60].sum())
        samples = (make_sample(y, score, sample_weight=weight) for score in (old, new))
        d = swaps(*samples, quota).difference
        inside += d.low <= quota * 0.2 <= d.high
    assert inside / 400 > 0.925

"""Errors among the least certain answers when the gallery grows."""

from __future__ import annotations

import numpy as np
import pytest

import cutline as cl
from cutline.errors import InputError


def people(n: int, noise: float = 0.5, d: int = 8, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n, d))
    return -np.linalg.norm((centres + noise * rng.normal(size=centres.shape))[:, None] - centres, axis=2)


def caught(scores: np.ndarray, review: float) -> tuple[float, float]:
    """Error rate, and the share of errors among the answers of smallest margin."""
    best = -np.sort(-scores, axis=1)[:, :2]
    wrong = scores.argmax(axis=1) != np.arange(len(scores))
    first = np.argsort(best[:, 0] - best[:, 1])[: round(review * len(scores))]
    return float(wrong.mean()), float(wrong[first].sum() / max(wrong.sum(), 1))


def test_among_the_classes_seen_it_is_what_a_reviewer_would_find() -> None:
    scores = people(150)
    error, share = caught(scores, 0.2)
    plan = cl.extrapolate(scores, review=0.2, k=[150], n_resamples=20)
    row = plan.to_dicts()[0]
    assert plan[150].value == pytest.approx(share)
    assert row["error_rate"] == pytest.approx(error)
    assert row["left"] == pytest.approx(error * (1 - share))
    assert row["wrong_among_reviewed"] == pytest.approx(error * share / 0.2)


def test_among_fewer_classes_it_is_that_of_many_smaller_galleries() -> None:
    scores, rng = people(100), np.random.default_rng(1)
    margins, wrong = [], []
    for _ in range(400):
        chosen = rng.permutation(100)[:40]
        part = scores[np.ix_(chosen, chosen)]
        best = -np.sort(-part, axis=1)[:, :2]
        margins.append(best[:, 0] - best[:, 1])
        wrong.append(part.argmax(axis=1) != np.arange(40))
    order = np.argsort(np.concatenate(margins))
    errors = np.concatenate(wrong)[order]
    expected = errors[: errors.size // 5].sum() / errors.sum()
    assert cl.extrapolate(scores, review=0.2, k=[40], n_resamples=5)[40].value == pytest.approx(expected, abs=0.06)


def test_among_more_classes_it_is_near_what_is_found_there() -> None:
    off = []
    for seed in range(4):
        scores = people(1500, seed=seed)
        plan = cl.extrapolate(scores[:150, :150], review=0.2, k=[150, 1500], n_resamples=20)
        share = caught(scores, 0.2)[1]
        off.append(plan[1500].value - share)
        assert plan[1500].low < share < plan[1500].high
        assert plan.to_dicts()[1]["review_for_same"] > 0.2 - 0.05
    assert abs(np.mean(off)) < 0.05


def test_there_is_no_jump_at_the_classes_seen_and_the_answer_is_a_sentence() -> None:
    plan = cl.extrapolate(people(150), review=0.2, k=[150, 151, 1500], n_resamples=20)
    assert plan[151].value == pytest.approx(plan[150].value, abs=0.02)
    said = next(iter(plan.sections())).sentences[0]
    assert said.startswith("With 1,500 classes, reviewing 20% of the answers finds ")
    assert plan[1500] == cl.extrapolate(people(150), review=0.2, k=[1500], n_resamples=20)[1500]


def test_without_an_error_only_larger_galleries_have_some() -> None:
    plan = cl.extrapolate(people(60, noise=0.05), review=0.1, k=[60, 6000], n_resamples=5)
    assert np.isnan(plan[60].value)
    assert plan[6000].value > 0.5
    with pytest.raises(InputError, match="review must be strictly between 0 and 1"):
        cl.extrapolate(people(20), review=2)

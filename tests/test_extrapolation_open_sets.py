"""Strangers, as an argument of ``extrapolate``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cutline as cl
from cutline.errors import InputError


def near(probes: np.ndarray, gallery: np.ndarray) -> np.ndarray:
    square = (probes**2).sum(axis=1)[:, None] + (gallery**2).sum(axis=1)[None] - 2 * probes @ gallery.T
    return -np.sqrt(np.maximum(square, 0.0))


def test_open_set_rates_at_ten_times_the_gallery() -> None:
    rng = np.random.default_rng(1)
    gallery = rng.normal(size=(3000, 12))
    probes, strangers = gallery + 0.35 * rng.normal(size=gallery.shape), rng.normal(size=(1500, 12))
    known = slice(0, 300)
    asked = {"strangers": near(strangers[:600], gallery[known]), "k": [300, 3000], "fpir": 0.05}
    ex = cl.extrapolate(near(probes[known], gallery[known]), **asked)
    of_strangers = near(strangers, gallery).max(axis=1)
    threshold = np.quantile(of_strangers, 0.95)
    scores = near(probes, gallery)
    right = scores.argmax(axis=1) == np.arange(3000)
    truth = 1.0 - np.mean(right & (scores[np.arange(3000), np.arange(3000)] > threshold))
    assert ex[3000].value == pytest.approx(truth, abs=0.08)
    assert ex[3000].low <= truth <= ex[3000].high
    assert ex[300].value < ex[3000].value
    rows = ex.to_dicts()
    assert rows[1]["threshold"] > rows[0]["threshold"]
    assert rows[0]["fpir_at_current_threshold"] == pytest.approx(0.05, abs=0.005)
    # The threshold of the small gallery lets many more strangers pass in the large one.
    assert rows[1]["fpir_at_current_threshold"] == pytest.approx(np.mean(of_strangers > rows[0]["threshold"]), abs=0.15)
    assert "With 3,000 classes expect to miss" in ex.to_markdown()


def people(n: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Scores of one probe per class, and of strangers."""
    rng = np.random.default_rng(2)
    gallery = rng.normal(size=(n, 8))
    return near(gallery + 0.3 * rng.normal(size=gallery.shape), gallery), near(rng.normal(size=(100, 8)), gallery)


def test_distances_count_alike() -> None:
    probes, strangers = people()
    one = cl.extrapolate(probes, strangers=strangers, k=[800], fpir=0.1, n_resamples=20)
    other = cl.extrapolate(-probes, strangers=-strangers, k=[800], fpir=0.1, n_resamples=20, distance=True)
    assert one[800] == other[800]
    assert one.to_dicts()[0]["threshold"] == -other.to_dicts()[0]["threshold"]
    # 1% of 100 strangers is one of them
    assert [note.kind for note in cl.extrapolate(probes, strangers=strangers, n_resamples=2).notes] == ["few_strangers"]
    two = cl.extrapolate(probes[:2, :2], strangers=strangers[:, :2], k=[2, 4], fpir=0.2, n_resamples=2)
    assert (two[4].low, two[4].high, two[4].method) == (0.0, 1.0, "bounds without a model")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strangers": np.zeros((5, 79))}, "strangers does not have the 80 columns"),
        ({"strangers": np.full((5, 80), np.inf)}, "strangers: row 0 must have rows, and finite scores"),
        ({"strangers": np.zeros((0, 80))}, "strangers must have rows"),
        ({"strangers": np.zeros((5, 80)), "ties": "pessimistic"}, "ties cannot be used with strangers"),
        ({"strangers": np.zeros((5, 80)), "fpir": 1.5}, "fpir"),
        ({"fpir": 0.1}, "fpir needs strangers"),
    ],
)
def test_what_an_open_set_cannot_use_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        cl.extrapolate(people()[0], **options)


def test_probabilities_and_templates_are_refused() -> None:
    probes, strangers = (np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True) for scores in people())
    with pytest.raises(InputError, match="scores are probabilities"):
        cl.extrapolate(probes, strangers=strangers)
    names = np.repeat(np.arange(40), 2)
    with pytest.raises(InputError, match="classes gives a class several columns"):
        cl.extrapolate(people()[0], names, classes=names, strangers=people()[1])

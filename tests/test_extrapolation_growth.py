"""Retraining with more classes, and the level of a tree: predictions against what larger tasks give."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

import cutline as cl
from cutline.extrapolation import extrapolate_training


def clouds(classes: int, rows: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(classes), rows)
    return rng.normal(size=(classes, 6))[y] + noise * rng.normal(size=(classes * rows, 6)), y


def test_numbers_of_classes_are_read_as_elsewhere_and_sparse_rows_as_dense_ones() -> None:
    x, y = clouds(8, 20, 0.5, 1)
    asked = {"sizes": np.array([4, 8]), "n_rounds": 2}
    one = extrapolate_training(KNeighborsClassifier(1), x, y, k=60, **asked)
    for k in (np.int64(60), 60.0, [60], np.array([60])):
        assert extrapolate_training(KNeighborsClassifier(1), sparse.csr_matrix(x), y, k=k, **asked) == one


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"sizes": 4}, r"sizes is \[4\] for 8 classes; give two or more"),
        ({"sizes": [4, 8], "k": "60"}, "k is '60'; give whole numbers"),
        ({"sizes": [4, 8], "k": 60.5}, "k must be a whole number of at least 1, got 60.5"),
        ({"sizes": [4, 8], "k": []}, "k is empty"),
        ({"sizes": [4, 8], "test_share": 0}, "test_share must be strictly between 0 and 1, got 0"),
        ({"sizes": [4, 8], "test_share": 1}, "test_share must be strictly between 0 and 1, got 1"),
        ({"sizes": [2, 8], "test_share": 0.999}, "test_share is 0.999, which leaves . of 40 cases for training"),
        ({"sizes": [2, 8], "test_share": 0.001}, "test_share is 0.001, which leaves 40 of 40 cases for training"),
    ],
)
def test_retraining_that_cannot_be_is_refused(asked: dict[str, object], words: str) -> None:
    x, y = clouds(8, 20, 0.5, 1)
    with pytest.raises(cl.InputError, match=words):
        extrapolate_training(KNeighborsClassifier(1), x, y, n_rounds=2, **asked)


def test_a_level_of_a_tree_counts_families() -> None:
    rng = np.random.default_rng(2)
    family = np.repeat(np.arange(60), 4)
    centre = rng.normal(size=(60, 5))[family] + 0.4 * rng.normal(size=(240, 5))
    probe = centre + 0.4 * rng.normal(size=centre.shape)
    scores = -np.linalg.norm(probe[:, None] - centre, axis=2)
    right = float(np.mean(family[scores.argmax(axis=1)] == family))
    whole = cl.extrapolate(scores, family, classes=family, interval=False)
    assert whole.observed.test_accuracy == pytest.approx(right)
    few = family < 20
    part = cl.extrapolate(scores[np.ix_(few, few)], family[few], classes=family[few], k=[60], n_resamples=20)
    found = part.accuracy(60)
    assert found.low <= right <= found.high

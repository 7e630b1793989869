"""Every way to hand data over means the same task, and what cannot be used is refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from cutline.errors import InputError
from cutline.extrapolation import extrapolate
from cutline.extrapolation.tasks import from_embeddings, from_scores, middle_and_spread
from cutline.runtime import TUNING

MANYCLASS = Path(__file__).parents[1].parent / "shared" / "data" / "manyclass"


@pytest.fixture
def task() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    gallery = rng.normal(size=(30, 4))
    probes = gallery + 0.5 * rng.normal(size=gallery.shape)
    return gallery, probes, np.linalg.norm(probes[:, None] - gallery[None], axis=2)


def test_scores_distances_and_embeddings_are_one_task(task: tuple[np.ndarray, ...]) -> None:
    gallery, probes, distance = task
    sources = [
        from_scores(-distance),
        from_scores(distance, distance=True),
        from_embeddings(gallery, probes),
    ]
    first = sources[0].whole().histogram
    for source in sources[1:]:
        np.testing.assert_allclose(source.whole().histogram, first, atol=1e-15)


def test_cosine_ignores_lengths(task: tuple[np.ndarray, ...]) -> None:
    gallery, probes, _ = task
    lengths = np.random.default_rng(1).uniform(0.1, 9, size=(30, 1))
    one = from_embeddings(gallery, probes, metric="cosine")
    other = from_embeddings(gallery * lengths, probes / lengths, metric="cosine")
    np.testing.assert_allclose(one.whole().histogram, other.whole().histogram, atol=1e-15)


def test_blocks_do_not_show(task: tuple[np.ndarray, ...]) -> None:
    gallery, probes, _ = task
    whole = from_embeddings(gallery, probes)
    with mock.patch.object(TUNING, "cells_at_once", 70):
        blocks = from_embeddings(gallery, probes)
    np.testing.assert_array_equal(whole.beaten, blocks.beaten)
    np.testing.assert_allclose(
        whole.standard_error(np.arange(2.0, 31.0))[0], blocks.standard_error(np.arange(2.0, 31.0))[0]
    )


def test_any_label_type_in_any_order(task: tuple[np.ndarray, ...]) -> None:
    _, _, distance = task
    names = [f"person {n}" for n in range(30)]
    order = np.random.default_rng(2).permutation(30)
    expected = from_scores(distance, distance=True).whole().histogram
    by_name = from_scores(distance[order], [names[i] for i in order], classes=names, distance=True)
    by_number = from_scores(distance[order], order, distance=True)
    by_pair = from_scores(distance, list(range(100, 130)), classes=range(100, 130), distance=True)
    for source in (by_name, by_number, by_pair):
        np.testing.assert_allclose(source.whole().histogram, expected, atol=1e-15)


@pytest.mark.parametrize("first", [1, 3, -1, 0.5])
def test_labels_that_are_no_column_numbers_need_the_names_of_the_columns(first: float) -> None:
    pandas = pytest.importorskip("pandas")
    scores, labels = np.random.default_rng(0).normal(size=(8, 8)) + 3.0 * np.eye(8), np.arange(8) + first
    with pytest.raises(InputError, match=r"labels: row \d is .* labels are column numbers, 0 to 7; name .* classes"):
        from_scores(scores, labels)
    named = from_scores(scores, labels, classes=labels).whole().histogram
    np.testing.assert_array_equal(named, from_scores(scores, np.arange(8.0)).whole().histogram)
    if first == 1:  # where columns are named by numbers, labels are these names, also where one is no such name
        frame = pandas.DataFrame(scores, columns=range(1, 9))
        np.testing.assert_array_equal(named, from_scores(frame, labels).whole().histogram)
        with pytest.raises(InputError, match="labels: row 0 is 0, which is none of the 8 classes"):
            from_scores(frame, np.arange(8))


def test_frames_are_read(task: tuple[np.ndarray, ...]) -> None:
    pandas = pytest.importorskip("pandas")
    _, _, distance = task
    frame = pandas.DataFrame(distance, columns=[f"c{n}" for n in range(30)])
    labels = pandas.Series(list(frame.columns))
    source = from_scores(frame, labels, classes=list(frame.columns), distance=True)
    np.testing.assert_allclose(source.whole().histogram, from_scores(-distance).whole().histogram, atol=1e-15)


def test_classes_weigh_equally_however_many_cases_they_have() -> None:
    scores = np.array([[2.0, 1.0], [2.0, 1.0], [2.0, 1.0], [9.0, 1.0]])
    # Class 0 is right three times in three, class 1 never: one half, not three quarters.
    assert from_scores(scores, [0, 0, 0, 1]).whole().last_accuracy == pytest.approx(0.5)


def test_classes_without_cases_are_competitors() -> None:
    scores = np.array([[3.0, 1.0, 5.0], [0.0, 2.0, 1.0]])
    source = from_scores(scores, [0, 1])
    assert source.beaten.tolist() == [1.0, 2.0]
    assert source.whole().last_accuracy == pytest.approx(0.5)


def test_infinite_scores_have_ranks_but_no_scale() -> None:
    scores = np.random.default_rng(3).normal(size=(20, 20)) + 3 * np.eye(20)
    scores[3, 4] = -np.inf
    assert from_scores(scores).scores is None
    ex = extrapolate(scores, k=40, interval=False)
    assert any("not finite" in note for note in ex.notes)
    with pytest.raises(InputError, match="'tail' needs finite scores"):
        extrapolate(scores, method="tail", interval=False)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: from_scores(np.zeros((3, 1))), "scores has 1 column"),
        (lambda: from_scores(np.zeros(3)), "scores has 1 dimension"),
        (lambda: from_scores([["a", "b"]]), "scores contains values that are not numbers"),
        (lambda: from_scores(np.zeros((2, 3))), "labels is missing for 2 cases and 3 classes"),
        (lambda: from_scores(np.zeros((2, 3)), [0]), "labels has 1 values for 2 cases"),
        (lambda: from_scores(np.zeros((2, 3)), ["x", None], classes=list("xyz")), "labels: row 1 has a missing value"),
        (lambda: from_scores(np.zeros((2, 3)), ["x", "q"], classes=list("xyz")), "labels: row 1 is 'q'"),
        (lambda: from_scores(np.zeros((2, 3)), ["x", "y"]), "labels: row 0 is 'x', but without names labels"),
        (lambda: from_scores(np.zeros((2, 3)), ["x", "y"], classes=list("xy")), "classes has 2 values for 3 columns"),
        (lambda: from_scores([[1.0, np.nan], [0.0, 1.0]]), "scores: row 0 has a missing value (nan) in column 1"),
        (lambda: extrapolate(np.eye(3), ties="fair"), "ties is 'fair'; choose one of random, optimistic, pessimistic"),
        (lambda: from_embeddings(np.zeros((3, 2)), np.zeros((3, 4))), "probes has 4 dimensions against 2"),
        (lambda: from_embeddings(np.zeros((1, 2)), np.zeros((1, 2))), "gallery has 1 row"),
        (lambda: from_embeddings([[1.0, np.inf], [0, 0]], [[0, 0], [0, 1]]), "gallery: row 0 has a value"),
        (lambda: from_embeddings(np.eye(3), np.zeros((3, 3)), metric="cosine"), "probes: row 0 has a value that is"),
        (lambda: extrapolate(gallery=np.eye(3), probes=np.eye(3), metric="manhattan"), "metric is 'manhattan'"),
        (lambda: extrapolate(gallery=np.eye(3), probes=np.eye(3), distance=True), "distance goes with scores="),
        (lambda: extrapolate(np.eye(3), probes=np.eye(3)), "probes goes with gallery="),
        (lambda: extrapolate(), "needs exactly one of scores"),
        (lambda: extrapolate(np.eye(3), gallery=np.eye(3)), "found scores and gallery"),
        (lambda: extrapolate(gallery=np.eye(3)), "probes is missing"),
        (lambda: extrapolate(np.eye(3), k=0), "k must be a whole number of at least 1, got 0"),
        (lambda: extrapolate(np.eye(3), method="magic"), "method is 'magic'"),
        (lambda: extrapolate(np.eye(3), level=95), "level must be strictly between 0 and 1"),
        (lambda: extrapolate(np.eye(3), n_resamples=1), "n_resamples must be a whole number of at least 2"),
    ],
)  # fmt: skip
def test_refusals_name_argument_place_and_remedy(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError) as refusal:
        call()
    assert message in str(refusal.value)


@pytest.mark.skipif(not MANYCLASS.exists(), reason="the glyph and face data are not here")
def test_faces_are_recognised_as_often_as_known() -> None:
    stored = np.load(MANYCLASS / "lfw-dlib" / "lfw_dlib.npz")
    people = stored["ids"]
    order = np.argsort(people, kind="stable")
    starts = np.unique(people[order], return_index=True)[1]
    gallery, probes = stored["X"][order[starts]], stored["X"][order[starts + 1]]
    accuracy = from_embeddings(gallery, probes).whole().last_accuracy
    assert accuracy == pytest.approx(0.6226, abs=0.03)  # another choice of two photographs per person


@pytest.mark.skipif(not MANYCLASS.exists(), reason="the glyph and face data are not here")
def test_glyph_wins_are_those_of_the_full_task() -> None:
    stored = np.load(MANYCLASS / "cjk-glyphs" / "cjk_glyph_embeddings.npz")
    gallery, probes = stored["gallery_noto_sans"], stored["probe_ukai"][:200]
    known = np.loadtxt(MANYCLASS / "cjk-glyphs" / "cjk_wins_full_ukai.txt")[:200]
    source = from_embeddings(gallery, probes, probe_labels=np.arange(200), gallery_labels=np.arange(len(gallery)))
    np.testing.assert_array_equal(source.beaten, known)


@pytest.mark.parametrize("keep", [10_000_000, 10])
def test_the_callers_matrix_is_left_as_it_is(keep: int) -> None:
    matrix = np.random.default_rng(0).normal(size=(30, 30)) + 2.0 * np.eye(30)
    before = matrix.copy()
    task = from_scores(matrix, keep=keep)
    assert np.array_equal(matrix, before)
    assert task.scores is not None
    assert not np.shares_memory(task.scores.values, matrix)


def test_far_competitors_do_not_widen_the_scale() -> None:
    scores = np.random.default_rng(0).normal(size=(199, 199))
    middle, spread = middle_and_spread(scores)
    assert np.array_equal(middle, np.median(scores, axis=1))
    assert abs(spread.mean() - 1.0) < 0.02
    far = np.where(scores < middle[:, None], scores - 1e6, scores)
    assert np.array_equal(middle_and_spread(far)[1], spread)
    missing = scores.copy()
    np.fill_diagonal(missing, -np.inf)
    left = np.array([np.delete(row, number) for number, row in enumerate(scores)])
    for found, expected in zip(middle_and_spread(missing), middle_and_spread(left), strict=True):
        assert np.allclose(found, expected)


def test_what_is_no_table_and_no_column_is_refused_with_its_name() -> None:
    scores = np.eye(12) * 3 + np.random.default_rng(0).normal(size=(12, 12))
    inside = np.empty(12, dtype=object)
    inside[:] = [np.arange(2)] * 12  # an array in each cell, whose truth is ambiguous
    tables = [[[1, 2], [3]], "x", 5, [[None]], np.zeros((2, 2, 2)), scores.astype(complex), [["a"] * 12] * 12, len]
    tables += [np.full((12, 12), 1e308), np.zeros((12, 12), "datetime64[D]"), np.full((12, 12), np.nan), 10**400]
    columns = [[[1, 2], [3]], inside, [None] * 12, 5, [np.nan] * 12, {"a": 1}]
    growth: dict[str, Callable[..., Any]] = {
        "scores": lambda value: extrapolate(value, np.arange(12)),
        "gallery": lambda value: extrapolate(gallery=value, probes=scores),
        "probes": lambda value: extrapolate(gallery=scores, probes=value),
        "costs": lambda value: extrapolate(scores, costs=value),
        "labels": lambda value: extrapolate(scores, value),
        "classes": lambda value: extrapolate(scores, np.arange(12), classes=value),
        "groups": lambda value: extrapolate(scores, groups=value),
        "k": lambda value: extrapolate(scores, k=value),
        "metric": lambda value: extrapolate(gallery=scores, probes=scores, metric=value),
    }
    given = {"labels": columns, "classes": columns, "groups": columns}
    given |= {"k": [[[1, 2], [3]], "x", [[None]], np.zeros((2, 2, 2)), [1j], len, 10**400]}
    given |= {"metric": [scores, "x", 5, None, np.array([]), [1, 2]]}
    for name, call in growth.items():
        for value in given.get(name, tables):
            with pytest.raises(InputError) as refusal:
                call(value)
            assert name in str(refusal.value), (name, value)


class Tensor:
    """Stands in for a tensor elsewhere: gives an array only once detached and brought to the CPU."""

    def __init__(self, values: np.ndarray, *, there: bool = True) -> None:
        self.values, self.there = values, there

    def detach(self) -> Tensor:
        return Tensor(self.values)

    def cpu(self) -> Tensor:
        return Tensor(self.values, there=False)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        if self.there:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad")
        return self.values


def test_scores_may_be_tensors_with_gradients() -> None:
    scores = np.random.default_rng(0).normal(size=(12, 12)) + 2 * np.eye(12)
    one, other = (extrapolate(given, k=24, interval=False) for given in (scores, Tensor(scores)))
    assert one.to_dict() == other.to_dict()


def test_candidate_lists_are_ranks_with_the_rest_below() -> None:
    rng = np.random.default_rng(4)
    people = rng.normal(size=(60, 5))
    scores = -np.linalg.norm((people + 0.4 * rng.normal(size=people.shape))[:, None] - people, axis=2)
    listed = np.where(scores >= np.sort(scores, axis=1)[:, -10:-9], scores, np.nan)
    whole = extrapolate(scores, method="mixture", interval=False)
    ex = extrapolate(listed, k=[120], candidates=True, method="mixture", interval=False)
    assert ex.observed.test_accuracy == whole.observed.test_accuracy
    assert ex.observed[30].value == pytest.approx(whole.observed[30].value, abs=0.02)
    with pytest.raises(InputError, match=r"candidates=True"):
        extrapolate(listed)

"""More than two classes: each in turn against the rest, and their means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutline as cl

CLASSES = ["ash", "birch", "cedar"]


def forest(seed: int = 0, n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    k = rng.choice(3, n, p=[0.2, 0.5, 0.3])
    m = rng.random((n, 3)) + 0.7 * (np.arange(3) == k[:, None])
    return np.array(CLASSES)[k], np.round(m / m.sum(axis=1, keepdims=True), 2)


Y, M = forest()


@pytest.fixture(scope="module")
def trees() -> Any:
    return cl.one_vs_rest(Y, M, classes=CLASSES, quota=10, interval=None)


def test_every_class_is_an_evaluation_of_its_column(trees: Any) -> None:
    assert list(trees) == CLASSES
    assert len(trees) == 3
    for k, name in enumerate(CLASSES):
        for measure in ("roc_auc", "average_precision", "brier_score"):
            assert trees[name][measure].value == pytest.approx(getattr(cl, measure)(name == Y, M[:, k]), rel=1e-13)
        assert trees[name]["qrecall@10"].value == cl.qrecall(name == Y, M[:, k], quota=10)


def test_smallest_and_largest_class(trees: Any) -> None:
    sizes = {name: int((name == Y).sum()) for name in CLASSES}
    assert trees.smallest == min(sizes, key=sizes.__getitem__)
    assert trees.largest == max(sizes, key=sizes.__getitem__)


def test_means(trees: Any) -> None:
    values = [cl.roc_auc(name == Y, M[:, k]) for k, name in enumerate(CLASSES)]
    sizes = [(name == Y).sum() for name in CLASSES]
    assert trees.macro("roc_auc") == pytest.approx(np.mean(values), rel=1e-13)
    assert trees.weighted("roc_auc") == pytest.approx(np.average(values, weights=sizes), rel=1e-13)
    assert trees.macro("average_precision") == pytest.approx(
        cl.mean_average_precision(Y, M, classes=CLASSES), rel=1e-13
    )


def test_rows_hold_every_class_and_the_means(trees: Any) -> None:
    rows = trees.to_dicts()
    assert {row["class"] for row in rows} == {*CLASSES, "macro mean", "weighted mean"}
    macro = [row["value"] for row in rows if row["class"] == "macro mean" and row["measure"] == "roc_auc"]
    assert macro == [trees.macro("roc_auc")]
    assert len(trees.to_pandas()) == len(rows)


def test_classes_by_default_are_the_sorted_labels() -> None:
    ours, said = (cl.one_vs_rest(Y, M, interval=None, **o) for o in ({}, {"classes": CLASSES}))
    assert ours.macro("roc_auc") == said.macro("roc_auc")
    frame = pytest.importorskip("pandas").DataFrame(M[:, ::-1], columns=CLASSES[::-1])
    assert cl.one_vs_rest(Y, frame, interval=None)["ash"]["roc_auc"].value == said["ash"]["roc_auc"].value
    assert cl.mean_average_precision(Y, frame) == pytest.approx(cl.mean_average_precision(Y, M), rel=1e-13)


def test_numbers_as_classes() -> None:
    k = np.array([CLASSES.index(name) for name in Y])
    assert cl.one_vs_rest(k, M, interval=None).macro("pem") == pytest.approx(
        cl.one_vs_rest(Y, M, interval=None).macro("pem"), rel=1e-13
    )


def test_a_class_without_cases_has_no_value_and_is_not_zero() -> None:
    ovr = cl.one_vs_rest(Y[Y != "ash"], M[Y != "ash"], classes=CLASSES, interval=None)
    assert math.isnan(ovr["ash"]["roc_auc"].value)
    assert ovr["ash"]["roc_auc"].reason
    assert math.isnan(ovr.macro("roc_auc")) or ovr.macro("roc_auc") == pytest.approx(
        np.mean([ovr[c]["roc_auc"].value for c in ("birch", "cedar")])
    )


def test_what_does_not_fit_is_refused() -> None:
    for arguments in (
        {"y_true": Y[:5], "score_matrix": M},
        {"y_true": Y, "score_matrix": M[:, :2], "classes": CLASSES},
        {"y_true": Y, "score_matrix": M, "classes": ["ash", "birch", "oak"]},
        {"y_true": Y, "score_matrix": M, "pos_label": "ash"},
        {"y_true": Y, "score_matrix": np.where(M > 0.9, np.nan, M) * np.nan},
        {"y_true": Y, "score_matrix": M[:, 0]},
        {"y_true": [], "score_matrix": np.empty((0, 3)), "classes": CLASSES},
    ):
        with pytest.raises(cl.InputError):
            cl.one_vs_rest(**{"interval": None, **arguments})


def test_hostile_class_names_are_text() -> None:
    hostile = np.where(Y == "ash", "<script>x</script>", Y)
    page = cl.one_vs_rest(hostile, M, interval=None, classes=["<script>x</script>", "birch", "cedar"])._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_repr_names_the_classes(trees: Any) -> None:
    assert all(name in repr(trees) for name in CLASSES)


@given(st.integers(0, 2**32 - 1))
def test_two_classes_are_one_model_seen_from_both_sides(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = rng.integers(0, 9, 20) / 8
    y = np.where(rng.permutation(20) < 8, "a", "b")
    ovr = cl.one_vs_rest(y, np.column_stack([p, 1 - p]), classes=["a", "b"], interval=None, measures=["roc_auc", "pem"])
    assert ovr["a"]["roc_auc"].value == pytest.approx(ovr["b"]["roc_auc"].value, rel=1e-12)
    assert ovr["a"]["pem"].value == pytest.approx(ovr["b"]["pem"].value, abs=1e-12)

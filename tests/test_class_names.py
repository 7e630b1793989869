"""Which column belongs to which class: by names, categories and order, never by a guess."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.test_classes import NAMES, forest

import cutline as cl

CODES, P = forest(80, 4)
Y = np.array(NAMES)[CODES]
HARD = np.array(NAMES)[P.argmax(axis=1)]
RIGHT = float((HARD == Y).mean())


def accuracy(y: Any, p: Any, **options: Any) -> float:
    return cl.evaluate(y, p, interval=None, measures=["accuracy"], **options)["accuracy"].value


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda d: pl.DataFrame(d), lambda d: pa.table(d)])
@pytest.mark.parametrize(("before", "after"), [("", ""), ("p_", ""), ("prob ", ".net")])
def test_frames_name_their_classes_in_any_order(frame: Any, before: str, after: str) -> None:
    columns = {f"{before}{NAMES[k]}{after}": P[:, k] for k in (2, 0, 3, 1)}
    assert accuracy(Y, frame(columns)) == RIGHT
    assert accuracy(Y, frame(columns), classes=NAMES) == RIGHT  # by name, not by place


def test_numbered_columns_are_numbers_only_for_numbered_classes() -> None:
    assert accuracy(Y, pd.DataFrame(P), classes=NAMES) == RIGHT
    assert accuracy(np.sort(np.unique(Y))[CODES], pd.DataFrame(P)) == RIGHT
    shuffled = [3, 1, 0, 2]
    assert accuracy(CODES, pd.DataFrame(P[:, shuffled], columns=[f"p{k}" for k in shuffled])) == RIGHT
    absent = CODES != 3
    ev = cl.evaluate(CODES[absent], pd.DataFrame(P[absent], columns=[f"p{k}" for k in range(4)]), interval=None)
    assert ev.classes == (0, 1, 2, 3)


def test_a_frame_of_other_classes_is_refused() -> None:
    with pytest.raises(cl.InputError, match="not for the classes"):
        accuracy(Y, pd.DataFrame(P, columns=NAMES), classes=[*NAMES[:3], "other"])


def test_categories_give_the_classes_and_their_order() -> None:
    backwards = NAMES[::-1]
    for label in (pd.Series(pd.Categorical(Y, categories=backwards)), pl.Series(Y, dtype=pl.Enum(backwards))):
        ev = cl.evaluate(label, predicted=HARD, ordered=True, interval=None)
        assert ev.classes == tuple(backwards)
        with pytest.raises(cl.InputError, match="are not sorted"):
            cl.evaluate(label, P)
    in_order = pd.Series(pd.Categorical(Y[Y != NAMES[2]], categories=sorted(NAMES)))
    columns = [NAMES.index(name) for name in sorted(NAMES)]
    assert cl.evaluate(in_order, P[Y != NAMES[2]][:, columns], interval=None).classes == tuple(sorted(NAMES))


def test_an_order_that_nobody_named_is_not_made_up() -> None:
    for asked in ({"ordered": True}, {"measures": ["cohen_kappa(weights='linear')"]}):
        with pytest.raises(cl.InputError, match="order of the alphabet"):
            cl.evaluate(Y, predicted=HARD, **asked)
        assert len(cl.evaluate(CODES, P, **asked, interval=None))
        assert len(cl.evaluate(Y, predicted=HARD, classes=NAMES, **asked, interval=None))
    with pytest.raises(cl.InputError, match="order of the alphabet"):
        cl.compare(Y, predicted={"a": HARD, "b": HARD}, ordered=True)


def test_models_agree_on_their_classes() -> None:
    frame = pd.DataFrame(P[:, ::-1], columns=[f"q_{name}" for name in NAMES[::-1]])
    for models in ({"hard": HARD, "frame": frame}, {"frame": frame, "array": P[:, ::-1]}):
        compared = cl.compare(Y, models, interval=None)
        assert {ev["accuracy"].value for ev in compared.evaluations.values()} == {RIGHT}
    for models in ({"hard": HARD, "soft": frame}, {"soft": frame, "hard": HARD}):  # all that any of them supports
        compared = cl.compare(Y, models, interval=None)
        assert "log_loss" in compared["soft"]
        assert np.isnan(compared["hard"]["log_loss"].value)


def test_columns_in_place_of_a_table_are_refused_with_what_to_do() -> None:
    with pytest.raises(cl.InputError, match="is not a number"):
        cl.evaluate(Y, HARD)
    with pytest.raises(cl.InputError, match="the class of each case"):
        cl.evaluate(np.eye(4)[CODES], P)
    with pytest.raises(cl.InputError, match="clusters: row 0 has a missing value"):
        cl.evaluate(Y, P, classes=NAMES, clusters=[None, *["a"] * 79])


@pytest.mark.parametrize(
    ("asked", "words"),
    [("f1", r"macro\(f1\), weighted\(f1\), micro\(f1\)"), ("roc_auc", r"macro\(roc_auc\)"), ("top_3", r"t=3")],
)
def test_a_measure_of_one_class_says_which_mean(asked: str, words: str) -> None:
    with pytest.raises(cl.InputError, match=words):
        cl.evaluate(Y, P, classes=NAMES, measures=[asked])


def test_values_say_their_unit() -> None:
    ev = cl.evaluate(CODES, P, interval=None, measures=["log_loss", "log_loss(base=2.718281828459045)", "brier_score"])
    assert [row["remark"] for row in ev.to_dicts()] == ["in bits", "in nats", "sum over the classes"]
    assert "bits" in repr(ev)


def test_what_looks_wrong_is_said() -> None:
    wrong = cl.evaluate(Y, np.roll(P, 1, axis=1), classes=NAMES)
    assert "less often than chance" in wrong.notices[0]
    assert wrong.notices[0] in repr(wrong)
    perfect = cl.evaluate(np.tile(Y, 2), predicted=np.tile(Y, 2))
    assert "without an error" in perfect.notices[0]
    assert not cl.evaluate(Y, P, classes=NAMES).notices

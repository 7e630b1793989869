"""Several classes in files, queries and relations: the same values as from arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from tests.test_classes import NAMES, forest

import cutline as cl

CODES, P = forest(90, 4)
Y = np.array(NAMES)[CODES]
Q = np.roll(P, 1, axis=0)
WEIGHT = np.arange(1, 91) / 10
UNIT = np.arange(90) // 3
FAST = {"interval": None}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    frame = pd.DataFrame({"kind": Y, "w": WEIGHT, "unit": UNIT, "said": np.array(NAMES)[Q.argmax(axis=1)]})
    for k in (3, 1, 0, 2):
        frame[f"a_{NAMES[k]}"] = P[:, k]
    for k in range(4):
        frame[f"b_{NAMES[k]}"] = Q[:, k]
    path = tmp_path_factory.mktemp("classes") / "t.parquet"
    frame.to_parquet(path)
    return path


def same(one: Any, two: Any) -> None:
    assert list(one) == list(two)
    for key in one:
        for end in ("value", "low", "high"):
            assert getattr(one[key], end) == pytest.approx(getattr(two[key], end), nan_ok=True), key


def test_a_file_gives_what_arrays_give(table: Path) -> None:
    arrays = cl.evaluate(Y, P, classes=NAMES, sample_weight=WEIGHT, clusters=UNIT)
    same(cl.evaluate(table, label="kind", score="a_*", weight="w", clusters="unit"), arrays)
    columns = [f"a_{name}" for name in NAMES]
    named = cl.evaluate(table, label="kind", score=columns, weight="w", clusters="unit")
    same(named, arrays)
    assert named.classes == tuple(NAMES)
    hard = cl.evaluate(table, label="kind", predicted="said", memory_limit="1GB")
    same(hard, cl.evaluate(Y, predicted=np.array(NAMES)[Q.argmax(axis=1)]))
    ordered = cl.evaluate(table, label="kind", score="b_*", classes=NAMES[::-1], ordered=True, **FAST)
    same(ordered, cl.evaluate(Y, Q[:, ::-1], classes=NAMES[::-1], ordered=True, **FAST))


def test_relations_and_queries(table: Path) -> None:
    arrays = cl.evaluate(Y, P, classes=NAMES, **FAST)
    connection = duckdb.connect()
    relation = connection.sql(f"SELECT * FROM '{table}'")
    same(cl.evaluate(relation, label="kind", score="a_*", **FAST), arrays)
    query = f"SELECT kind, {', '.join(f'a_{name}' for name in NAMES)} FROM '{table}'"
    same(cl.evaluate(connection, query=query, label="kind", **FAST), arrays)


def test_models_in_one_file_are_compared(table: Path) -> None:
    said = np.array(NAMES)[Q.argmax(axis=1)]
    ours = cl.compare(table, label="kind", score=["a_*", "b_*"], predicted={"hard": "said"})
    arrays = cl.compare(Y, {"a": P, "b": Q, "hard": said}, classes=NAMES)
    for key in ("accuracy", "log_loss"):
        assert ours.difference("a", "b", key) == pytest.approx(arrays.difference("a", "b", key))
    assert ours.difference("b", "hard", "accuracy")["difference"] == 0.0


def test_incomplete_rows_are_refused_or_left_out(table: Path, tmp_path: Path) -> None:
    frame = pd.read_parquet(table)
    frame.loc[4, f"a_{NAMES[0]}"] = np.nan
    frame.loc[7, "kind"] = None
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    with pytest.raises(cl.InputError, match="missing"):
        cl.evaluate(tmp_path / "gaps.csv", label="kind", score="a_*")
    ev = cl.evaluate(tmp_path / "gaps.csv", label="kind", score="a_*", missing="drop", **FAST)
    assert (ev.facts["dropped"], ev.facts["rows"]) == (2, 88)


def test_what_cannot_be_read_is_refused(table: Path) -> None:
    with pytest.raises(cl.InputError, match=r"'a_\*', 'b_\*'"):
        cl.evaluate(table, label="kind")
    for how in ({"score": "a_*"}, {"score": [f"a_{name}" for name in NAMES]}, {"predicted": "said"}):
        of_frame, of_file = (cl.evaluate(t, label="kind", **how, **FAST) for t in (pd.read_parquet(table), table))
        assert of_frame.to_dicts() == of_file.to_dicts()
    with pytest.raises(cl.InputError, match="order of the alphabet"):
        cl.evaluate(table, label="kind", predicted="said", ordered=True)
    with pytest.raises(cl.InputError, match="the same classes"):
        cl.compare(table, label="kind", score=["a_*", "b_*"], classes=[*NAMES[:3], "other"])


@pytest.mark.parametrize("before", ["", "p_"])
def test_classes_without_a_case_keep_their_columns(before: str, tmp_path: Path) -> None:
    seen = CODES != 2  # the model knows a class that does not occur in these rows, and predicts it
    frame = pd.DataFrame({"kind": Y[seen], "age": np.arange(seen.sum()), "note": "text"})
    for k, name in enumerate(NAMES):
        frame[before + name] = np.round(P[seen, k], 3)
    frame.to_csv(tmp_path / "t.csv", index=False)
    right = np.array(NAMES)[frame[[before + name for name in NAMES]].to_numpy().argmax(axis=1)] == Y[seen]
    for source in (frame, tmp_path / "t.csv"):
        ev = cl.evaluate(source, label="kind", **FAST)
        assert len(ev.classes) == 4
        assert ev["accuracy"].value == pytest.approx(right.mean())
        assert ev["log_loss"].value > 0.0
    frame[before + NAMES[2]] /= 2.0  # a column that does not fill the rows up to 1 is something else
    assert len(cl.evaluate(frame, label="kind", **FAST).classes) == 3


def test_two_classes_without_a_score_are_told_so() -> None:
    with pytest.raises(cl.InputError, match="name the score column with score="):
        cl.evaluate({"y": [0, 1, 1], "a": [0.1, 0.2, 0.3]}, label="y")

"""One rule for the labels of a table, whatever the source; sources and names that are no table or no column."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

import cutline as cl
from cutline.verbs import compare, evaluate
from test_cli import refused, run, shell
from test_cli_input import write

Y = [1, 0, 1, 1, 0]
P = [0.9, 0.8, 0.7, 0.4, 0.1]
PLAIN: dict[str, Any] = {"label": "y", "score": "p", "interval": None}
LABELS: list[tuple[list[Any], Any]] = [
    ([["False", "True"][y] for y in Y], None),
    ([["FALSE", "true"][y] for y in Y], None),
    ([Decimal(y) for y in Y], None),
    ([y == 1 for y in Y], "true"),
    ([y == 0 for y in Y], False),
    ([1 + y for y in Y], "2"),
    ([1 + y for y in Y], 2.0),
    ([date(2020, 1, 1 + y) for y in Y], "2020-01-02"),
    ([date(2020, 1, 1 + y) for y in Y], date(2020, 1, 2)),
    ([[b"a", b"b"][y] for y in Y], b"b"),
    ([["no", "yes"][y] for y in Y], "yes"),
]


def sources(labels: list[Any], folder: Path) -> list[Any]:
    table = pyarrow.table({"y": labels, "p": P})
    path = folder / "t.parquet"
    pyarrow.parquet.write_table(table, path)
    return [path, table, table.to_pandas(), polars.DataFrame({"y": labels, "p": P}), {"y": labels, "p": P}]


@pytest.mark.parametrize(("labels", "positive"), LABELS)
def test_every_source_reads_labels_alike(labels: list[Any], positive: Any, tmp_path: Path) -> None:
    expected = cl.evaluate(Y, P, interval=None)
    for source in sources(labels, tmp_path):
        found = evaluate(source, pos_label=positive, **PLAIN)
        assert found["roc_auc"].value == expected["roc_auc"].value, type(source)
        assert found.facts["positives"] == 3


@pytest.mark.parametrize(
    ("labels", "positive", "words"),
    [
        (["no", "yes", "no", "yes", "no"], "may", "pos_label is 'may', but the labels are 'no', 'yes'"),
        ([1, 2, 1, 2, 1], "x", "pos_label is 'x', but the labels are 1, 2"),
        ([True, False, True, False, True], "x", "pos_label is 'x', but the labels are False, True"),
        ([[1], [2], [1], [2], [1]], None, "column 'y'"),
    ],
)
def test_labels_that_are_refused_alike(labels: list[Any], positive: Any, words: str, tmp_path: Path) -> None:
    for source in sources(labels, tmp_path):
        with pytest.raises(cl.InputError, match=words):
            evaluate(source, pos_label=positive, **PLAIN)


def test_what_promises_a_table_is_loaded() -> None:
    table = pyarrow.table({"y": Y, "p": P})
    for source in (
        polars.LazyFrame({"y": Y, "p": P}),
        table.to_batches()[0],
        table.to_reader(),
        pyarrow.dataset.dataset(table),
    ):
        assert evaluate(source, **PLAIN).facts["rows"] == 5
    for column in (pandas.Series(P), polars.Series(P), pyarrow.array(P)):
        with pytest.raises(cl.InputError, match="a table is a path"):
            evaluate(column, **PLAIN)


def test_names_of_columns_and_models() -> None:
    table = {"y": Y, "p": P, "q": P}
    for wrong, words in (("label", "label is missing"), ("score", "name the score column with score=")):
        with pytest.raises(cl.InputError, match=words):
            evaluate(table, **{**PLAIN, wrong: None})
    assert list(compare(table, label="y", score={1: "p", 2: "q"}, interval=None).evaluations) == ["1", "2"]
    for twice in (["p", "p"], {1: "p", "1": "q"}):
        with pytest.raises(cl.InputError, match="twice; name each model once"):
            compare(table, label="y", score=twice, interval=None)
    names = ["y", "p", "p", "z", "z"]
    arrow = pyarrow.Table.from_arrays([pyarrow.array(Y)] * 5, names=names)
    frame = pandas.DataFrame([[y] * 5 for y in Y], columns=names)
    for source in (arrow, frame):
        with pytest.raises(cl.InputError, match="several columns called 'p'"):
            evaluate(source, **PLAIN)
    rest = ["y", "p", "z", "z"]
    for source in (pyarrow.Table.from_arrays([pyarrow.array(Y)] * 4, names=rest), frame.iloc[:, [0, 1, 3, 4]]):
        assert evaluate(source, **PLAIN).facts["rows"] == 5


def test_what_the_machine_cannot_give_is_one_line(tmp_path: Path) -> None:
    path, columns = write(tmp_path / "t.csv"), ("--label", "y", "--score", "p")
    assert "--threads must be" in refused("evaluate", path, *columns, "--threads", "0")
    piped = run("evaluate", "-", *columns, "--engine", "duckdb", "--measure", "pem", input=path.read_text())
    assert "200 rows" in piped.stdout
    assert "--score names 'p' twice" in refused("compare", path, *columns, "--score", "p")
    done = shell("evaluate", path, *columns, "--memory-limit", "1KB")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "could not be sorted" in done.stderr

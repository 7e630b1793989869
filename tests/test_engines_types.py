"""Types that hold for every row: of several files, of text whose first rows say too little, of numbers kept as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest

import cutline as cl
from cutline.verbs import compare, evaluate
from test_cli import refused, run

PLAIN: dict[str, Any] = {"label": "y", "score": "p", "interval": None}
Y = np.tile([1, 0, 1, 1, 0], 20)
P = np.round(np.linspace(0.01, 0.99, 100), 2)
FIRST = "1,1\n0,0\n" * 30_000  # more rows than DuckDB guesses the types from
LATE = "1,0.4\n0,0.6\n" * 30_000


def parts(folder: Path, first: dict[str, Any], second: dict[str, Any]) -> str:
    for k, columns in enumerate((first, second)):
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / f"part-{k}.parquet")
    return str(folder / "part-*.parquet")


def said(source: Any, **asked: Any) -> str:
    with pytest.raises(cl.InputError) as caught:
        evaluate(source, **{**PLAIN, **asked})
    return str(caught.value)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("kind", ["int64", "float32", "decimal"])
def test_files_of_a_pattern_are_not_cast_to_the_types_of_the_first(kind: str, stream: bool, tmp_path: Path) -> None:
    whole = np.round(P)
    first: Any = whole.astype(kind) if kind != "decimal" else pyarrow.array(whole).cast(pyarrow.decimal128(3, 1))
    shifted = P + 1e-9 * np.arange(100)
    path = parts(tmp_path, {"y": Y, "p": first}, {"p": shifted, "y": Y})  # the order of columns differs as well
    expected = cl.evaluate(np.r_[Y, Y], np.r_[whole, shifted], interval=None)
    found = evaluate(path, stream=stream, **PLAIN)
    for key in ("roc_auc", "accuracy", "brier_score"):
        assert found[key].value == pytest.approx(expected[key].value, rel=1e-12)


def test_labels_of_a_pattern_keep_their_values(tmp_path: Path) -> None:
    path = parts(tmp_path, {"y": Y == 1, "p": P}, {"y": Y * 3, "p": P})
    assert "more than two labels (0, 1, 3)" in said(path)
    with pytest.warns(cl.LabelWarning, match=r"all but 3 count as negative: 0 \(80 rows\), 1 \(60 rows\)"):
        assert evaluate(path, pos_label=3, **PLAIN).facts["positives"] == 60


def test_a_column_that_one_file_lacks_is_missing_there(tmp_path: Path) -> None:
    path = parts(tmp_path, {"y": Y, "q": P}, {"y": Y, "p": P})
    assert "column 'p': data row 1 has a missing value; fill it in, or leave such rows (100 in all) out" in said(path)
    assert evaluate(path, missing="drop", **PLAIN).facts["dropped"] == 100


def test_files_of_several_kinds(tmp_path: Path) -> None:
    (tmp_path / "part-1.csv").write_text("y,p\n1,0.5\n")
    parts(tmp_path, {"y": Y, "p": P}, {"y": Y, "p": P})
    assert "part-* means files of several kinds, such as part-0.parquet and part-1.csv" in said(
        str(tmp_path / "part-*")
    )
    (tmp_path / "a.parquet.gz").write_text("x")
    assert ".parquet is compressed inside" in said(tmp_path / "a.parquet.gz")
    assert ".parquet is compressed inside" in refused("evaluate", tmp_path / "a.parquet.gz")


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_fractions_behind_many_integers_are_not_rounded(kind: str, stream: bool, tmp_path: Path) -> None:
    path = tmp_path / f"late.{kind}"
    text = FIRST + LATE
    if kind == "jsonl":
        path.write_text("".join(f'{{"y": {c[0]}, "p": {c[2:]}}}\n' for c in text.splitlines()))
    else:
        path.write_text(("y,p\n" + text).replace(",", "\t" if kind == "tsv" else ","))
    found = evaluate(path, stream=stream, **PLAIN)
    assert (found["roc_auc"].value, found["brier_score"].value) == pytest.approx((0.75, 0.18))
    if not stream:
        memory = run("evaluate", path, "--measure", "brier_score", "--format", "csv", "--no-intervals", "--score", "p")
        assert ",0.18" in memory.stdout


def test_labels_that_are_fractions_far_down(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("y,p\n" + FIRST + "0.6,1\n")
    assert "more than two labels (0, 0.6, 1)" in said(path)
    assert "more than two labels" in refused("evaluate", path, "--label", "y", "--score", "p")


def test_chosen_rows_keep_their_fractions(tmp_path: Path) -> None:
    path, out = tmp_path / "t.csv", tmp_path / "out.parquet"
    path.write_text("y,p\n" + FIRST + "0,1.5\n")
    run("select", path, "--score", "p", "--quota", "1", "-o", out)
    assert pandas.read_parquet(out)["p"].tolist() == [1.5]


@pytest.mark.parametrize("lines", ["1,18446744073709551616\n0,3\n", FIRST + "1,9223372036854775808\n"])
def test_integers_that_floats_confuse(lines: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("y,p\n" + lines)
    row = 1 + lines[: lines.index("1844" if "1844" in lines else "9223")].count("\n")
    words = f"column 'p': data row {row:,} is an integer beyond 2^53"
    assert words in said(path)
    assert words in refused("evaluate", path, "--label", "y", "--score", "p")


def test_integers_that_floats_confuse_from_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pandas.DataFrame({"y": [1, 0], "p": [2**53 + 1, 2**53]}).to_parquet(path)
    assert "data row 1 is an integer beyond 2^53" in refused("evaluate", path, "--label", "y", "--score", "p")


def test_numbers_and_words_that_are_kept_as_text(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    text = [str(value) for value in P]
    expected = cl.evaluate(Y, P, interval=None)["brier_score"].value
    pandas.DataFrame({"y": Y, "p": text, "w": ["1"] * 100}).to_parquet(path)
    for stream in (True, False):
        found = evaluate(path, weight="w", stream=stream, **PLAIN)
        assert found["brier_score"].value == pytest.approx(expected)
        both = compare(path, label="y", score={"a": "p", "b": "p"}, interval=None, stream=stream)
        assert both["b"]["brier_score"].value == pytest.approx(expected)
    pandas.DataFrame({"y": Y, "p": [*text[:5], "1_000", *text[6:]]}).to_parquet(path)
    assert "column 'p': data row 6 is '1_000', which is not a number" in said(path)
    words = tmp_path / "t.csv"
    words.write_text("y,p\n1,true\n0,False\n")
    assert evaluate(words, **PLAIN)["accuracy"].value == 1.0
    words.write_text("y;p\n1;0,5\n0;0,3\n")
    comma = evaluate(words, **PLAIN)
    assert comma["brier_score"].value == pytest.approx((0.5**2 + 0.3**2) / 2)
    assert comma.facts["understood"] == "delimiter ';'; score 'p' as decimal comma"
    words.write_text("y;p\n1;0.5\n0;0,3\n")
    assert "data row 2 is '0,3', which is not a number; write a decimal point" in said(words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"y,p\n1,0.5\n0\n1,0.4\n", "line 3 has 1 field, the header 2"),
        (b"y,p,c\n1,0.5,\0\n", "is not a text file (line 2 contains a zero byte)"),
        (b"y,p\n", "t.csv has no rows"),
        (b"y,p\n1,\n0,\n", "every row of t.csv lacks a label, a score or a weight"),
        (b"y,p\n1,0.5\n0,1_000\n", "data row 2 is '1_000', which is not a number"),
        (b"y,p,p\n1,0.5,0.1\n", "t.csv has several columns called 'p'; name one of them: 'p_1', 'p_2'"),
    ],
)
def test_bad_text_is_told_as_on_the_command_line(text: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(text)
    assert words in said(tmp_path / "t.csv", missing="drop")


def test_one_bad_file_of_a_pattern_is_named(tmp_path: Path) -> None:
    (tmp_path / "t-0.csv").write_text("y,p,c\n1,0.5,a\n")
    (tmp_path / "t-1.csv").write_bytes(b"y,p,c\n1,0.5,a\n0,0.5\n")
    assert "t-1.csv: line 3 has 2 fields, the header 3" in said(str(tmp_path / "t-*.csv"))
    (tmp_path / "t-1.csv").write_text("y,q\n1,0.5\n")
    assert "t-1.csv has other columns than t-0.csv" in said(str(tmp_path / "t-*.csv"))
    (tmp_path / "t-1.csv").write_text("p;c;y\n0.25;b;0\n")  # another order and delimiter are no trouble
    assert evaluate(str(tmp_path / "t-*.csv"), **PLAIN)["brier_score"].value == pytest.approx(0.15625)


def test_names_that_occur_twice(tmp_path: Path) -> None:
    con = duckdb.connect()
    relation = con.sql("SELECT 1 AS y, 0.5 AS p, 0.6 AS p, 1 AS z, 2 AS z")
    assert "the relation has several columns called 'p'" in said(relation)
    assert "several columns called 'p'" in said(con, query="SELECT 1 AS y, 0.5 AS p, 0.6 AS p")
    assert evaluate(con.sql("SELECT 1 AS y, 0.5 AS p, 1 AS z, 2 AS z"), **PLAIN).facts["rows"] == 1
    path = tmp_path / "t.parquet"
    twice = pyarrow.Table.from_arrays([pyarrow.array([1, 0])] * 3, names=["y", "p", "p"])
    pyarrow.parquet.write_table(twice, path)
    assert "t.parquet has several columns called 'p'" in said(path)
    (tmp_path / "t.csv").write_text("y,Y,p\n1,5,0.5\n0,6,0.4\n")
    assert "pos_label=6" in said(tmp_path / "t.csv", label="Y")
    pyarrow.parquet.write_table(pyarrow.table({"y": [1, 0], "Y": [5, 6], "p": [0.5, 0.4]}), path)
    assert "column 'Y' has the labels 5 and 6" in said(path, label="Y")


@pytest.mark.parametrize("end", [";", " -- all of them", "; -- all of them\n", "\n"])
def test_what_stands_behind_a_query(end: str) -> None:
    con = duckdb.connect()
    assert evaluate(con, query=f"SELECT 1 AS y, 0.5 AS p{end}", **PLAIN).facts["rows"] == 1
    assert "one SQL statement, got 2" in said(con, query="SELECT 1; SELECT 2")


@pytest.mark.parametrize(
    ("option", "value"),
    [("threads", 10**6), ("threads", 1.5), ("threads", 0), ("threads", True), ("memory_limit", "-1GB")],
)
def test_options_of_the_machine(option: str, value: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("y,p\n1,0.5\n0,0.4\n")
    assert f"{option} must be a" in said(tmp_path / "t.csv", **{option: value})

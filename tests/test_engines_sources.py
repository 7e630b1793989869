"""Sources of tables, and what is said about bad ones: the column, the first offending row, the remedy."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pytest

import cutline as cl
from cutline.verbs import compare, evaluate

Y = [1, 0, 1, 0, 1, 1, 0, 0]
P = [0.9, 0.8, 0.7, 0.4, 0.4, 0.3, 0.2, 0.1]
PLAIN: dict[str, Any] = {"label": "y", "score": "p", "interval": None}
EXPECTED = cl.evaluate(Y, P, interval=None)


def text(separator: str = ",", rows: list[tuple[Any, Any]] | None = None) -> str:
    lines = [f"y{separator}p", *(f"{y}{separator}{p}" for y, p in rows or zip(Y, P, strict=True))]
    return "\n".join(lines) + "\n"


def csv(folder: Path, rows: list[tuple[Any, Any]], name: str = "t.csv") -> str:
    path = folder / name
    path.write_text(text(rows=rows))
    return str(path)


def same(found: cl.results.Evaluation) -> None:
    assert len(found) == len(EXPECTED)
    for key in EXPECTED:
        assert found[key].value == pytest.approx(EXPECTED[key].value, rel=1e-12, nan_ok=True), key


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet", "t.jsonl", "t.csv.gz", "t.txt", "t.json.gz"])
def test_files_of_every_kind(name: str, stream: bool, tmp_path: Path) -> None:
    path = tmp_path / name
    if name.endswith(".csv.gz"):
        path.write_bytes(gzip.compress(text().encode()))
    elif name.endswith((".csv", ".txt")):
        path.write_text(text())
    elif name.endswith(".tsv"):
        path.write_text(text("\t"))
    elif name.endswith(".json.gz"):
        lines = "".join(f'{{"y": {y}, "p": {p}}}\n' for y, p in zip(Y, P, strict=True))
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        con = duckdb.connect()
        con.execute("CREATE TABLE t (y INTEGER, p DOUBLE)")
        con.executemany("INSERT INTO t VALUES (?, ?)", list(zip(Y, P, strict=True)))
        kind = {"parquet": "PARQUET", "jsonl": "JSON"}[name.rpartition(".")[2]]
        con.execute(f"COPY t TO '{path}' (FORMAT {kind})")
        con.close()
    same(evaluate(path, stream=stream, **PLAIN))


def test_patterns_and_hostile_paths(tmp_path: Path) -> None:
    rows = list(zip(Y, P, strict=True))
    csv(tmp_path, rows[:3], "part-1.csv")
    csv(tmp_path, rows[3:], "part-2.csv")
    same(evaluate(str(tmp_path / "part-*.csv"), **PLAIN))
    hostile = tmp_path / "it's; DROP TABLE [x] *"
    hostile.mkdir()
    same(evaluate(csv(hostile, rows, "a\"b'[1]?.csv"), stream=True, **PLAIN))


@pytest.mark.parametrize("name", ["select", "a b", 'quo"te', "it's", "x; DROP TABLE t; --", "ünïcode", "cutline_row"])
def test_hostile_column_names(name: str, tmp_path: Path) -> None:
    frame = pandas.DataFrame({name + "_y": Y, name: P, name + "_w": np.ones(8)})
    path = str(tmp_path / "t.parquet")
    frame.to_parquet(path)
    for stream in (True, False):
        found = evaluate(path, label=name + "_y", score=name, quota=3, n_resamples=20, stream=stream)
        assert found["roc_auc"].value == EXPECTED["roc_auc"].value
    weighted = evaluate(path, label=name + "_y", score=name, weight=name + "_w", interval=None, stream=True)
    assert weighted["brier_score"].value == pytest.approx(EXPECTED["brier_score"].value, rel=1e-12)


def test_relations_connections_and_frames() -> None:
    con = duckdb.connect()
    con.execute("CREATE TABLE t (y INTEGER, p DOUBLE)")
    con.executemany("INSERT INTO t VALUES (?, ?)", list(zip(Y, P, strict=True)))
    for stream in (True, False):
        same(evaluate(con.sql("SELECT * FROM t"), stream=stream, **PLAIN))
        same(evaluate(con, query="SELECT y, p FROM t", stream=stream, **PLAIN))
    assert con.execute("SELECT count(*) FROM t").fetchone() == (8,)
    columns = {"y": Y, "p": P}
    for frame in (pandas.DataFrame(columns), polars.DataFrame(columns), pyarrow.table(columns), columns):
        same(evaluate(frame, **PLAIN))
        both = compare(frame, label="y", score=["p"], interval=None)
        same(both["p"])
    with pytest.raises(cl.InputError, match="belongs to your DuckDB connection"):
        evaluate(con, query="SELECT y, p FROM t", memory_limit="1GB", **PLAIN)
    with pytest.raises(cl.InputError, match="needs a query"):
        evaluate(con, **PLAIN)
    with pytest.raises(cl.InputError, match="in memory already"):
        evaluate(columns, stream=True, **PLAIN)
    with pytest.raises(cl.InputError, match="memory_limit does not go with a table in memory"):
        evaluate(columns, memory_limit="1GB", **PLAIN)
    with pytest.raises(cl.InputError, match="not int"):
        evaluate(3, **PLAIN)


def test_a_database_without_its_extension_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cutline.sources import duckdb as room

    connect = room._connect

    def bare(module: Any, machine: Any, folder: str) -> Any:
        connection = connect(module, machine, folder)
        connection.execute(f"SET extension_directory = '{tmp_path}'")
        return connection

    monkeypatch.setattr(room, "_connect", bare)
    with pytest.raises(cl.InputError, match="INSTALL postgres"):
        evaluate("postgres:dbname=none host=127.0.0.1", query="SELECT 1", **PLAIN)
    assert list(tmp_path.iterdir()) == []  # no network is tried, and no folder made


def test_a_file_of_a_database_is_queried(tmp_path: Path) -> None:
    path = tmp_path / "lake.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE cases AS SELECT x % 2 AS y, x / 10 AS p FROM range(9) AS t(x)")
    for source in (path, f"duckdb:{path}"):
        assert evaluate(source, query="SELECT * FROM cases WHERE p > .05", **PLAIN)["roc_auc"].value == 6 / 16
        with pytest.raises(cl.InputError, match="a database needs a query; add query='SELECT …' in Python, or export"):
            evaluate(source, **PLAIN)
    (tmp_path / "t.sqlite").write_bytes(b"SQLite format 3\0" + bytes(100))
    with pytest.raises(cl.InputError, match="a database needs a query"):
        evaluate(tmp_path / "t.sqlite", **PLAIN)
    # a text that has DuckDB's name where a database has it is a text
    (tmp_path / "t.csv").write_text("y,p,xyz,DUCK,b\n1,.9,1,1,1\n0,.1,1,1,1\n", encoding="utf-8")
    assert evaluate(tmp_path / "t.csv", **PLAIN)["roc_auc"].value == 1


BAD: list[tuple[str, list[tuple[Any, Any]], list[str]]] = [
    (
        "missing score",
        [(1, 0.5), (0, ""), (1, 0.2)],
        ["'p'", "data row 2 has a missing value", "(1 in all)", "missing='drop'"],
    ),
    ("missing label", [(1, 0.5), (0, 0.4), ("", 0.2)], ["'y'", "data row 3 has a missing value"]),
    ("nan score", [(1, 0.5), (0, "nan"), (1, "nan")], ["'p'", "data row 2", "(2 in all)"]),
    ("text score", [(1, 0.5), (0, 0.1), (1, "high")], ["'p'", "'high'", "data row 3", "not a number"]),
    ("third label", [(1, 0.5), (0, 0.1), (2, 0.3)], ["'y'", "more than two labels (0, 1, 2)", "pos_label=…"]),
    ("two words", [("good", 0.5), ("bad", 0.1)], ["'y'", "'bad' and 'good'", "pos_label='good'"]),
]


@pytest.mark.parametrize(("rows", "words"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
@pytest.mark.parametrize("stream", [True, False])
def test_bad_cells(rows: list[tuple[Any, Any]], words: list[str], stream: bool, tmp_path: Path) -> None:
    with pytest.raises(cl.InputError) as caught:
        evaluate(csv(tmp_path, rows), stream=stream, **PLAIN)
    for word in ["t.csv", *words]:
        assert word in str(caught.value), str(caught.value)


def test_text_far_down_a_column_of_numbers(tmp_path: Path) -> None:
    rows: list[tuple[Any, Any]] = [(k % 2, k / 60_000) for k in range(60_000)]
    rows[50_001] = (1, "oops")
    with pytest.raises(cl.InputError, match=r"'p': data row 50,002 is 'oops', which is not a number"):
        evaluate(csv(tmp_path, rows), **PLAIN)
    rows[50_001] = (1, 0.5)
    rows[50_002] = ("x", 0.5)
    with pytest.raises(cl.InputError, match=r"'y' contains more than two labels \(0, 1, 'x'\)"):
        evaluate(csv(tmp_path, rows), **PLAIN)


def test_dropped_rows_are_counted(tmp_path: Path) -> None:
    rows: list[tuple[Any, Any]] = [*zip(Y, P, strict=True), (1, ""), ("", 0.5), (0, "nan")]
    path = csv(tmp_path, rows)
    for stream in (True, False):
        found = evaluate(path, missing="drop", stream=stream, **PLAIN)
        same(found)
        assert found.facts["dropped"] == 3
    frame = pandas.DataFrame({"y": [*Y, 1, 0], "p": [*P, np.nan, np.nan]})
    found = evaluate(frame, missing="drop", **PLAIN)
    same(found)
    assert found.facts["dropped"] == 2
    with pytest.raises(cl.InputError, match="'p'"):
        evaluate(frame, **PLAIN)
    with pytest.raises(cl.InputError, match="choose one of error, drop"):
        evaluate(path, missing="ignore", **PLAIN)
    with pytest.raises(cl.InputError, match=r"every row of none\.csv lacks"):
        evaluate(csv(tmp_path, [(1, "nan"), ("", 0.5)], "none.csv"), missing="drop", **PLAIN)


def test_compared_models_keep_the_same_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("y,a,b\n1,0.9,0.7\n0,0.8,\n0,0.3,0.9\n1,,0.1\n1,0.2,0.6\n0,0.1,0.3\n")
    for stream in (True, False):
        both = compare(path, label="y", score=["a", "b"], missing="drop", interval=None, stream=stream)
        assert [both[m].facts["rows"] for m in "ab"] == [4, 4]
        assert [both[m].facts["dropped"] for m in "ab"] == [2, 2]
    with pytest.raises(cl.InputError, match="'a': data row 4 has a missing value"):
        compare(path, label="y", score=["a", "b"], interval=None)
    with pytest.raises(cl.InputError, match="list of column names"):
        compare(path, label="y", score="a", interval=None)
    with pytest.raises(cl.InputError, match="did you mean"):
        compare(path, label="y", score=["a", "B"], interval=None)


def test_missing_columns_files_and_rows(tmp_path: Path) -> None:
    path = csv(tmp_path, list(zip(Y, P, strict=True)))
    for wrong, words in (({"score": "P"}, "did you mean 'p'"), ({"label": "target"}, "it has 'y', 'p'")):
        with pytest.raises(cl.InputError, match=words):
            evaluate(path, **{**PLAIN, **wrong})
    with pytest.raises(cl.InputError, match="no column 'w' for the weight"):
        evaluate(path, weight="w", **PLAIN)
    with pytest.raises(cl.InputError, match="there is no file"):
        evaluate(str(tmp_path / "none.csv"), **PLAIN)
    with pytest.raises(cl.InputError, match="is a folder"):
        evaluate(tmp_path, **PLAIN)
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(cl.InputError, match=r"empty\.csv is empty"):
        evaluate(tmp_path / "empty.csv", **PLAIN)
    (tmp_path / "header.csv").write_text("y,p\n")
    with pytest.raises(cl.InputError, match=r"header\.csv"):
        evaluate(tmp_path / "header.csv", **PLAIN)
    pandas.DataFrame({"y": Y[:0], "p": P[:0]}).astype(float).to_parquet(tmp_path / "none.parquet")
    with pytest.raises(cl.InputError, match="has no rows"):
        evaluate(tmp_path / "none.parquet", **PLAIN)
    (tmp_path / "what.bin").write_text("y,p\n1,0.5\n0,0.25\n")  # its content tells what it is
    assert evaluate(tmp_path / "what.bin", **PLAIN).facts["rows"] == 2
    (tmp_path / "what.bin").write_bytes(b"\0\1\2")
    with pytest.raises(cl.InputError, match="is not a text file"):
        evaluate(tmp_path / "what.bin", **PLAIN)


def test_truncated_parquet(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pandas.DataFrame({"y": Y * 1000, "p": P * 1000}).to_parquet(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(cl.InputError, match=r"t\.parquet cannot be read"):
        evaluate(path, **PLAIN)


def test_weights_positive_and_options(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("y,p,w,c\n1,0.9,1,a\n0,0.5,-2,b\n1,0.4,3,c\n")
    with pytest.raises(cl.InputError, match="'w': data row 2 is -2"):
        evaluate(path, weight="w", **PLAIN)
    path.write_text("y,p,w,c\n1,0.9,0,a\n0,0.5,0,b\n")
    with pytest.raises(cl.InputError, match="'w' is zero in every row"):
        evaluate(path, weight="w", **PLAIN)
    for label, positive in (("c", "z"), ("y", "yes"), ("y", 5)):
        with pytest.raises(cl.InputError, match=f"pos_label is {positive!r}, but the labels are"):
            evaluate(path, label=label, score="p", pos_label=positive, interval=None)
    with pytest.raises(cl.InputError, match="memory_limit"):
        evaluate(path, memory_limit="much", **PLAIN)
    with pytest.raises(cl.InputError, match="temp_directory"):
        evaluate(path, temp_directory=str(tmp_path / "nowhere"), **PLAIN)
    with pytest.raises(cl.InputError, match="quota"):
        evaluate(path, quota=100, stream=True, **PLAIN)


def test_nothing_is_left_in_the_temporary_directory(tmp_path: Path) -> None:
    path, folder = csv(tmp_path, [(1, 0.5), (0, "high")]), tmp_path / "temp"
    folder.mkdir()
    with pytest.raises(cl.InputError):
        evaluate(path, temp_directory=folder, **PLAIN)
    assert os.listdir(folder) == []


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_nan_is_found_in_files_whose_statistics_leave_it_out(kind: type, stream: bool, tmp_path: Path) -> None:
    """Other writers than DuckDB leave NaN out of a column's smallest and largest value."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    p = rng.random(300).astype(kind)
    y, w = (rng.random(300) < p).astype(np.float64), rng.random(300) + 0.1
    gone = {"p": [7, 200], "y": [3], "w": [200, 250]}
    columns = {"p": p, "y": y, "w": w}
    for name, rows in gone.items():
        columns[name] = columns[name].copy()
        columns[name][rows] = np.nan
    path = str(tmp_path / "t.parquet")
    pq.write_table(pa.table(columns), path)
    asked: dict[str, Any] = {"label": "y", "score": "p", "weight": "w", "interval": None, "stream": stream}
    with pytest.raises(cl.InputError, match=r"column 'y': data row 4 is NaN.*\(4 in all\)"):
        evaluate(path, **asked)
    found = evaluate(path, missing="drop", **asked)
    assert found.facts["dropped"] == 4
    kept = np.setdiff1d(np.arange(300), np.concatenate(list(gone.values())))
    expected = cl.evaluate(y[kept], p[kept].astype(np.float64), sample_weight=w[kept], interval=None)
    for key in expected:
        assert found[key].value == pytest.approx(expected[key].value, rel=1e-12, nan_ok=True), key


@pytest.mark.parametrize("stream", [False, True])
def test_scores_that_change_between_passes_are_noticed(stream: bool) -> None:
    """As many rows of each class as before, but other scores."""
    con = duckdb.connect()  # kept, as a relation of DuckDB 1 does not keep it
    relation = con.sql("SELECT (i % 3 = 0)::INT AS y, random() AS p FROM range(20000) t(i)")
    with pytest.raises(cl.InputError, match="changed while it was read: its scores added up to"):
        evaluate(relation, label="y", score="p", interval=None, stream=stream)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("quota", [3, 17, 0.5, 55])
def test_a_quota_counts_cases_of_weighted_rows(quota: float, stream: bool, tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    duckdb.sql("SELECT i % 2 AS y, i / 10 AS p, 1 + i AS w FROM range(10) t(i)").write_parquet(path)
    found = evaluate(path, label="y", score="p", weight="w", quota=quota, interval=None, stream=stream)
    times = np.arange(1, 11)
    y, p = np.repeat(np.arange(10) % 2, times), np.repeat(np.arange(10) / 10, times)
    expected = cl.evaluate(y, p, quota=quota, interval=None)
    assert list(found) == list(expected)
    for key in expected:
        assert found[key].value == pytest.approx(expected[key].value, rel=1e-11, abs=1e-12, nan_ok=True), key
    compare(path, label="y", score=["p", "w"], weight="w", quota=quota, stream=stream, n_resamples=5)


@pytest.mark.parametrize("weight", [1e-200, 1e200, -1.0])
def test_weights_that_cannot_be_multiplied_are_refused(weight: float, tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    rows = ", ".join(f"({i % 2}, {i / 10}, {weight if i == 4 else 1.0}::DOUBLE)" for i in range(10))
    duckdb.sql(f"SELECT * FROM (VALUES {rows}) t(y, p, w)").write_parquet(path)
    why = ", which is negative" if weight < 0 else ""
    words = rf"'w': data row 5 is {weight:g}{why}; a weight must be 0 or between"
    with pytest.raises(cl.InputError, match=words.replace("+", r"\+")):
        evaluate(path, label="y", score="p", weight="w")
    with pytest.raises(cl.InputError, match="sample_weight: row 1 is"):
        cl.roc_auc([1, 0, 1], [0.9, 0.5, 0.4], sample_weight=[1.0, weight, 1.0])


def test_decimals_beyond_what_floats_tell_apart_are_refused() -> None:
    con = duckdb.connect()
    relation = con.sql("SELECT (i % 2)::INT AS y, (9007199254740993 - i)::DECIMAL(38, 0) AS p FROM range(20) t(i)")
    with pytest.raises(cl.InputError, match=r"beyond 2\^53"):
        evaluate(relation, label="y", score="p", interval=None)


@pytest.mark.parametrize("levels", [50, 10**9], ids=["ties", "no ties"])
@pytest.mark.parametrize("interval", [None, "percentile"])
def test_weighted_streams_give_the_same_bytes_on_any_number_of_threads(
    levels: int, interval: str | None, tmp_path: Path
) -> None:
    path = str(tmp_path / "t.parquet")
    made = f"(hash(i) % 7 < 3)::INT AS y, floor(hash(i, 1) % 1000003 / 1000003 * {levels}) / {levels} AS p"
    weight = "0.1 + hash(i, 2) % 1009 / 1009 AS w"
    duckdb.sql(f"SELECT {made}, {weight} FROM range(120_000) t(i)").write_parquet(path, row_group_size=10_000)
    options = {"label": "y", "score": "p", "weight": "w", "quota": 500, "stream": True, "n_resamples": 8}
    found = set()
    for threads in (1, 2, 4, 4):
        connection = duckdb.connect(config={"threads": threads})
        found.add(evaluate(connection.read_parquet(path), interval=interval, name="m", **options).to_json())
    assert len(found) == 1


def test_nothing_missed_in_a_weighted_stream_is_nothing(tmp_path: Path) -> None:
    """What lies behind a cut is added up by itself: 0 where nothing is, not the rounding of a difference."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    p = np.where(y == 1, 0.6 + 0.4 * rng.random(3000), 0.59 * rng.random(3000))
    w = rng.random(3000) + 0.01
    path = str(tmp_path / "t.parquet")
    pandas.DataFrame({"y": y, "p": p, "w": w}).to_parquet(path)
    streamed = evaluate(path, label="y", score="p", weight="w", interval=None, stream=True, threshold=0.0)
    here = cl.evaluate(y, p, sample_weight=w, interval=None, threshold=0.0)
    point = streamed.at(threshold=0.0)
    assert (point.fn, point.tn) == (0, 0)
    for name in ("negative_predictive_value", "negative_likelihood_ratio", "matthews_correlation"):
        assert np.isnan([streamed[name].value, here[name].value]).all(), name

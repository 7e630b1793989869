"""Files as people have them, and as they should not be: nothing vanishes, nothing is guessed in silence."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import cutline as cl
from cutline.runtime import cores, write_whole
from cutline.verbs import compare, evaluate
from test_cli import refused, run

PLAIN: dict[str, Any] = {"label": "y", "score": "p", "interval": None}
MAIN = [sys.executable, "-c", "from cutline.cli import main; main()"]


def text(path: Path, content: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(content.encode(encoding))
    return path


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("column", ["y", "p", "w"])
@pytest.mark.parametrize("shape", ["one value", "two values", "many", "a whole row group"])
def test_nan_that_statistics_leave_out(column: str, shape: str, stream: bool, tmp_path: Path) -> None:
    """DuckDB answers some questions from a file's statistics, which know nothing of NaN."""
    rng = np.random.default_rng(0)
    n = 300
    table = {"y": rng.integers(0, 2, n).astype(float), "p": rng.random(n), "w": rng.random(n) + 0.5}
    if shape == "one value":
        table[column][:] = 1.0
    elif shape == "two values":
        table[column] = rng.integers(1, 3, n).astype(float) if column != "y" else table["y"]
    gone = slice(100, 200) if shape == "a whole row group" else slice(9, 10)
    table[column][gone] = math.nan
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table(table), path, row_group_size=100)
    asked = {**PLAIN, "weight": "w", "stream": stream}
    with pytest.raises(cl.InputError, match=f"column '{column}': data row {gone.start + 1} is NaN"):
        evaluate(path, **asked)
    found = evaluate(path, missing="drop", **asked)
    kept = ~np.isnan(table[column])
    expected = cl.evaluate(table["y"][kept], table["p"][kept], sample_weight=table["w"][kept], interval=None)
    assert found.facts["dropped"] == n - kept.sum()
    for key in expected:
        assert found[key].value == pytest.approx(expected[key].value, rel=1e-9, abs=1e-12, nan_ok=True), key


@pytest.mark.parametrize("stream", [True, False])
def test_rows_that_begin_with_a_number_sign_are_rows(stream: bool, tmp_path: Path) -> None:
    lines = [f"{'#' if k % 10 == 0 else ''}{k},{k % 2},{k / 200}" for k in range(200)]
    path = text(tmp_path / "t.csv", "\n".join(["id,y,p", *lines]) + "\n")
    assert evaluate(path, stream=stream, **PLAIN).facts["rows"] == 200
    chosen = run("select", path, "--score", "p", "--quota", 200).stdout.splitlines()
    assert len(chosen) == 201


def test_names_of_folders_are_no_columns(tmp_path: Path) -> None:
    folder = tmp_path / "p=0.5" / "y=1"
    folder.mkdir(parents=True)
    table = {"y": [1, 0, 1, 0], "p": [0.9, 0.1, 0.8, 0.2]}
    pyarrow.parquet.write_table(pyarrow.table(table), folder / "s.parquet")
    lines = "".join(f"{y},{p}\n" for y, p in zip(*table.values(), strict=True))
    text(folder / "s.csv", "y,p\n" + lines)
    text(
        folder / "s.jsonl",
        "".join(json.dumps(dict(zip(table, row, strict=True))) + "\n" for row in zip(*table.values(), strict=True)),
    )
    for ending in ("parquet", "csv", "jsonl"):
        for path in (folder / f"s.{ending}", tmp_path / "*" / "*" / f"*.{ending}"):
            assert evaluate(path, **PLAIN)["roc_auc"].value == 1.0
    assert run("select", folder / "s.csv", "--score", "p", "--quota", 2).stdout == "place,y,p\n1,1,0.9\n2,1,0.8\n"


def test_quotes_that_appear_late_are_quotes(tmp_path: Path) -> None:
    rows = ["yes,0.9,a" if k % 3 == 0 else "no,0.1,a" for k in range(42_000)]
    rows += ['"yes",0.9,"a, b"'] * 1000
    path = text(tmp_path / "t.csv", "\n".join(["y,p,note", *rows]) + "\n")
    for stream in (True, False):
        found = evaluate(path, pos_label="yes", stream=stream, **PLAIN)
        assert (found.facts["rows"], found.facts["positives"]) == (43_000, 15_000)


def test_a_column_called_like_one_of_ours(tmp_path: Path) -> None:
    rows = "".join(f"{k % 2},{k / 10},{9 - k}\n" for k in range(10))
    path = text(tmp_path / "t.csv", "y,p,cutline_row\n" + rows)
    assert run("select", path, "--score", "p", "--quota", 2).stdout == "place,y,p,cutline_row\n1,1,0.9,0\n2,0,0.8,1\n"
    out = tmp_path / "out.parquet"
    run("select", path, "--score", "p", "--quota", 2, "-o", out)
    assert pyarrow.parquet.read_table(out)["cutline_row"].to_pylist() == [0, 1]
    odd = tmp_path / "odd.parquet"
    cells = {"Cutline_Row": [9, 7, 8], "y": [1, 0, 1], "p": [0.9, None, 0.8]}
    pyarrow.parquet.write_table(pyarrow.table(cells), odd)
    for stream in (True, False):
        with pytest.raises(cl.InputError, match="data row 2"):
            evaluate(odd, stream=stream, **PLAIN)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_named_pipes_can_be_read(engine: str, tmp_path: Path) -> None:
    pipe = tmp_path / "scores.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("y,p\n1,0.9\n0,0.2\n1,0.1\n"))
    writer.start()
    done = run("evaluate", pipe, "--engine", engine, "--measure", "roc_auc", "--no-intervals", "--format", "csv")
    writer.join()
    assert ",ranking,0.5," in done.stdout


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no file descriptors by name here")
def test_file_descriptors_can_be_read(tmp_path: Path) -> None:
    path = text(tmp_path / "t.csv", "y,p\n1,0.9\n0,0.2\n")
    command = (
        " ".join(f"'{part}'" for part in [*MAIN, "evaluate"])
        + " <(cat t.csv) --measure pem --format csv --no-intervals"
    )
    done = subprocess.run(
        ["bash", "-c", command], cwd=path.parent, capture_output=True, text=True, timeout=120, check=False
    )
    assert ",quota,1.0," in done.stdout, done.stderr


@pytest.mark.parametrize(
    "name", ["~", "~/t.csv", "http:t.csv", "https:", "s3:t.csv", "file:t.csv", "postgres:x", "a*b?[c].csv", "-o"]
)
def test_names_that_mean_something_elsewhere(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text("y,p\n1,0.9\n0,0.2\n1,0.1\n")
    for stream in (True, False):
        assert evaluate(name, stream=stream, **PLAIN)["roc_auc"].value == 0.5
    assert not (tmp_path / "home").exists()  # nothing is installed, and no folder made


def test_a_file_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    text(tmp_path / "t.csv", "y,p\n1,0.9\n0,0.2\n")
    assert evaluate("~/t.csv", **PLAIN)["roc_auc"].value == 1.0


@pytest.mark.parametrize(
    ("content", "encoding", "understood"),
    [
        ("y,p,c\n1,0.9,Köln\n0,0.2,x\n", "utf-8", ""),
        ("y,p,c\n1,0.9,Köln\n0,0.2,x\n", "utf-8-sig", ""),
        ("y,p,c\n1,0.9,Köln\n0,0.2,x\n", "latin-1", "encoding Latin-1 (Windows-1252)"),
        ("y,p,c\n1,0.9,Köln\n0,0.2,x\n", "utf-16", "encoding UTF-16"),
        (
            "y;p;c\n1;0,9;Köln\n0;0,25;x\n",
            "latin-1",
            "encoding Latin-1 (Windows-1252); delimiter ';'; score 'p' as decimal comma",
        ),
        ("y\tp\n1\t90 %\n0\t9.7%\n", "utf-8", "delimiter tab; score 'p' as percent"),
        ("y|p\n1|0.9\n0|0.2\n", "utf-8", "delimiter '|'"),
        ("'y','p'\n'1','0.9'\n'0','0.2'\n", "utf-8", "quote '"),
        ("y,p\r\n1,0.9\r\n0,0.2\r\n", "utf-8", ""),
        ("y,p\r\n1,0.9\n0,0.2\r\n", "utf-8", ""),
        ("y,p\r1,0.9\r0,0.2\r", "utf-8", ""),
        ("y,p\n\n1,0.9\n\n\n0,0.2", "utf-8", ""),
        ("y,p,\n1,0.9,\n0,0.2,\n", "utf-8", ""),
        (" y , p \n 1 , 0.9 \n 0 , 0.2 \n", "utf-8", ""),
        ('"y","p"\n"1","0.9"\n"0","0.2"\n', "utf-8", ""),
    ],
)
def test_how_a_text_file_is_understood(content: str, encoding: str, understood: str, tmp_path: Path) -> None:
    path = text(tmp_path / "t.csv", content, encoding)
    for stream in (True, False):
        found = evaluate(path, stream=stream, **PLAIN)
        assert found["roc_auc"].value == 1.0
        assert found.facts["rows"] == 2
    assert found.facts.get("understood", "") == understood
    said = run("evaluate", path, "--label", "y", "--score", "p", "--measure", "pem", "--no-intervals").stderr
    assert said == (f"detected: {understood}\n" if understood else "")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("y:p\n1:0.9\n0:0.2\n", {"delimiter": ":"}),
        ("y;p,q\n1;0.9,3\n0;0.2,4\n", {"delimiter": ";", "score": "p,q", "decimal": ","}),
        ("y,p\n1,`0.9`\n0,`0.2`\n", {"quote": "`"}),
        ('y,p\n1,"1,234"\n0,"0,900"\n', {"decimal": ","}),
    ],
)
def test_what_the_user_says_of_a_text_file_holds(content: str, told: dict[str, str], tmp_path: Path) -> None:
    path = text(tmp_path / "t.csv", content)
    if "score" in told:
        with pytest.raises(cl.InputError, match=r"is '0\.9,3', which is not a number"):
            evaluate(path, **{**PLAIN, **told})
        return
    assert evaluate(path, **{**PLAIN, **told})["roc_auc"].value == 1.0
    options = [part for key, value in told.items() for part in (f"--{key}", value)]
    run("evaluate", path, "--label", "y", "--score", "p", "--measure", "pem", "--no-intervals", *options)


def test_what_cannot_be_understood_is_asked(tmp_path: Path) -> None:
    path = text(tmp_path / "t.csv", "y;p,q\n1;0.9,3\n0;0.2,4\n")
    assert "may be split at ',' or ';'; choose one with --delimiter" in refused("evaluate", path)
    path = text(tmp_path / "t.csv", "y,p\n1,0.9\n0,0.2,0.3\n")
    assert "t.csv: line 3 has 3 fields, the header 2" in refused("evaluate", path)
    assert "--delimiter must be a single character" in refused("evaluate", path, "--delimiter", ";;")
    assert "--encoding is 'klingon', which is unknown" in refused("evaluate", path, "--encoding", "klingon")
    for source, option in (({"y": [1, 0], "p": [1, 0]}, "delimiter"), (duckdb.sql("SELECT 1 AS y, 2 AS p"), "quote")):
        with pytest.raises(cl.InputError, match=option):
            evaluate(source, **PLAIN, **{option: ";"})


def test_many_columns_do_not_take_minutes(tmp_path: Path) -> None:
    n = 5_000
    names = ["y", *(f"c{k}" for k in range(n))]
    rng = np.random.default_rng(0)
    rows = [[str(k % 2), *(f"{v:.3f}" for v in rng.random(n))] for k in range(6)]
    path = text(tmp_path / "wide.csv", "\n".join(",".join(row) for row in [names, *rows]) + "\n")
    began = time.monotonic()
    found = evaluate(path, label="y", score="c3333", interval=None)
    expected = cl.roc_auc([k % 2 for k in range(6)], [float(row[3_334]) for row in rows])
    assert found["roc_auc"].value == expected
    assert "name those to use with --label and --score" in refused("evaluate", path)
    assert time.monotonic() - began < 60


def test_excel_sheets(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["Fall", "y", "p"], ["a", True, 0.9], ["b", False, 0.2], [None, None, None], ["c", True, 0.1]):
        sheet.append(row)
    book.save(tmp_path / "t.xlsx")
    assert evaluate(tmp_path / "t.xlsx", **PLAIN)["roc_auc"].value == 0.5
    assert "score: column 'p'" in run("evaluate", tmp_path / "t.xlsx", "--measure", "pem", "--no-intervals").stderr
    chosen = run("select", tmp_path / "t.xlsx", "--score", "p", "--quota", 1).stdout
    assert chosen == "place,Fall,y,p\n1,a,True,0.9\n"
    assert "understood" not in run("evaluate", tmp_path / "t.xlsx", "--no-intervals").stderr
    book.create_sheet("notes")
    book.save(tmp_path / "t.xlsx")
    assert "detected: sheet 'Sheet' of 2" in run("evaluate", tmp_path / "t.xlsx", "--no-intervals").stderr
    (tmp_path / "bad.xlsx").write_bytes(b"PK\x03\x04 nothing")
    assert "cannot be read as an Excel workbook" in refused("evaluate", tmp_path / "bad.xlsx")


def test_clusters_are_read_from_a_column(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    p = rng.random(200)
    table = {
        "y": (rng.random(200) < p).astype(int),
        "p": p,
        "q": rng.random(200),
        "who": [f"k{k % 40}" for k in range(200)],
    }
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table(table), path)
    asked = {"measures": ["roc_auc"], "n_resamples": 200}
    expected = cl.evaluate(table["y"], p, clusters=table["who"], **asked)["roc_auc"]
    for source in (table, path):
        found = evaluate(source, label="y", score="p", clusters="who", **asked)["roc_auc"]
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    both = compare(path, label="y", score=["p", "q"], clusters="who", **asked)
    truth = cl.compare(table["y"], {"p": p, "q": table["q"]}, clusters=table["who"], **asked)
    assert both.difference("p", "q", "roc_auc")["low"] == pytest.approx(truth.difference("p", "q", "roc_auc")["low"])
    with pytest.raises(cl.InputError, match="clusters needs the rows in memory, but this table is streamed"):
        evaluate(path, label="y", score="p", clusters="who", stream=True)


def test_the_row_number_is_no_score(tmp_path: Path) -> None:
    lines = [f"{k},{k % 2},{(k * 37 % 100)}%" for k in range(60)]
    for name in ("", "Unnamed: 0", "id"):
        path = text(tmp_path / "t.csv", "\n".join([f"{name},y,p", *lines]) + "\n")
        done = run("evaluate", path, "--measure", "pem", "--no-intervals")
        assert "score: column 'p'" in done.stderr
        assert "detected: score 'p' as percent" in done.stderr
    path = text(tmp_path / "t.csv", "\n".join(["id,y", *(line.rpartition(",")[0] for line in lines)]) + "\n")
    assert "no column of numbers that could be the score ('id' only numbers the rows)" in refused("evaluate", path)
    run("evaluate", path, "--score", "id", "--measure", "pem", "--no-intervals")
    ids = [f"{100_000 + 37 * k % 1009},{k % 2},{k % 7}" for k in range(60)]
    path = text(tmp_path / "t.csv", "\n".join(["customer,y,p", *ids]) + "\n")
    assert "score: column 'p'" in run("evaluate", path, "--measure", "pem", "--no-intervals").stderr


def test_missing_rows_are_dropped_by_every_command(tmp_path: Path) -> None:
    rows = [f"{k % 2},{k / 50}" for k in range(50)]
    rows[7], rows[30] = "1,", "0,NA"
    path = text(tmp_path / "t.csv", "\n".join(["y,p", *rows]) + "\n")
    for command in (["plan", path, "--cost", 1, "--value", 2, "--resamples", 50], ["select", path, "--quota", 3]):
        assert "data row 8 has a missing value" in refused(
            *command, "--score", "p", *(["--label", "y"] if command[0] == "plan" else [])
        )
    done = run("select", path, "--quota", 50 - 2, "--score", "p", "--missing", "drop")
    chosen = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["p"] for row in chosen] == [str(k / 50) for k in reversed(range(50)) if k not in (7, 30)]
    assert "note: 2 of 50 rows have missing values and are left out" in done.stderr


def test_no_call_that_only_some_systems_have_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("chown", "sched_getaffinity"):
        monkeypatch.delattr(os, name, raising=False)
    goal = tmp_path / "there.txt"
    goal.write_text("before", encoding="utf-8")
    with write_whole(goal) as beside:
        beside.write_text("after", encoding="utf-8")
    assert goal.read_text(encoding="utf-8") == "after"
    assert cores() == (os.cpu_count() or 1)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    evaluation = cl.evaluate([1, 0, 1, 0], [0.9, 0.2, 0.8, 0.4], interval=None)
    with pytest.raises(FileNotFoundError, match=r"Create its folder first.*'.*gone.*page\.html'"):
        evaluation.to_html(tmp_path / "gone" / "page.html")


def test_a_cell_that_is_no_number_is_not_left_out_as_a_missing_one(tmp_path: Path) -> None:
    path = text(tmp_path / "t.csv", "y,p\n1,0.95\n0,x\n1,0.25\n0,\n")
    with pytest.raises(cl.InputError, match="data row 2 is 'x'"):
        evaluate(path, label="y", score="p", missing="drop")
    path = text(tmp_path / "u.csv", "y,p\n1,0.95\n0,0.5\n2,0.25\n0,\n")
    with pytest.raises(cl.InputError, match="more than two labels"):
        evaluate(path, label="y", score="p", missing="drop")

"""Where a file is read, from the command line: in memory, through DuckDB, on Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import cutline as cl
from cutline.runtime import TUNING
from test_cli import refused, run
from test_cli_input import write

COLUMNS = ("--label", "y", "--score", "p")
MAIN = "from cutline.cli import main; main()"
QUICK = ("--measure", "roc_auc", "--measure", "hit_rate@20", "--measure", "log_loss", "--format", "json")


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return write(tmp_path / "ok.csv")


def values(text: str) -> dict[str, float]:
    return {row["measure"]: row["value"] for row in json.loads(text)["measures"]}


def test_engines_give_the_same(two: Path) -> None:
    first = values(run("evaluate", two, *COLUMNS, *QUICK).stdout)
    options = (["--engine", "memory"], ["--engine", "duckdb"], ["--memory-limit", "500MB", "--threads", "1"])
    for how in options:
        assert values(run("evaluate", two, *COLUMNS, *QUICK, *how).stdout) == pytest.approx(first)
    models = ("--label", "y", "--score", "p", "--score", "q", "--measure", "roc_auc", "--format", "json")
    one, other = (json.loads(run("compare", two, *models, *how).stdout) for how in ([], ["--engine", "duckdb"]))
    assert other["differences"] == [pytest.approx(row, nan_ok=True) for row in one["differences"]]


def test_columns_that_can_only_be_meant_need_not_be_named(two: Path) -> None:
    said = run("compare", two, "--engine", "duckdb", "--measure", "pem")
    assert "score: columns 'p', 'q'" in said.stderr


def test_a_pattern_of_files_is_streamed(tmp_path: Path) -> None:
    for k in range(3):
        write(tmp_path / f"part-{k}.csv")
    found = run("evaluate", tmp_path / "part-*.csv", *COLUMNS, *QUICK)
    assert json.loads(found.stdout)["data"]["rows"] == 600
    assert "name its columns with --label and --score" in refused("evaluate", tmp_path / "part-*.csv")


def test_rows_that_lack_something_are_named_or_left_out_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "gaps.csv", cells={(40, 2): "", (50, 1): ""})
    said = refused("evaluate", path, *COLUMNS, "--engine", "duckdb")
    assert "column 'y': data row 51 has a missing value; fill it in, or leave such rows (2 in all) out" in said
    assert "--missing drop" in said
    found = run("evaluate", path, *COLUMNS, "--missing", "drop", "--measure", "pem")
    assert "p: 198 rows, 105 positive (53.0%); 2 rows without label or score left out" in found.stdout
    pair = run("compare", path, "--label", "y", "--score", "p", "--score", "q", "--missing", "drop", "--measure", "pem")
    assert "2 rows without label or score left out" in pair.stdout


def test_a_large_file_is_streamed_and_says_so(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TUNING, "large_text", 1000)
    found = run("evaluate", two, *COLUMNS, *QUICK)
    assert "is streamed through DuckDB (--engine memory loads it)" in found.stderr
    assert "streamed" not in run("evaluate", two, *COLUMNS, *QUICK, "--engine", "memory").stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--engine", "memory", "--memory-limit", "1GB"], "--memory-limit goes with --engine duckdb, not with memory"),
        (["--engine", "duckdb", "--master", "local"], "--master goes with --engine spark, not with duckdb"),
        (["--master", "local", "--temp-directory", "x"], "--temp-directory goes with --engine duckdb, not with spark"),
        (["--memory-limit", "plenty"], "--memory-limit must be a size such as '2GB', got 'plenty'"),
        (["--engine", "duckdb", "--score", "[pq]"], "the columns 'p', 'q' are not called as the classes in 'y'"),
    ],
)
def test_options_that_do_not_go_together(two: Path, options: list[str], words: str) -> None:
    columns = COLUMNS[:2] if "[pq]" in options else COLUMNS
    assert words in refused("evaluate", two, *columns, *options)


def test_streamed_models_make_a_page(two: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run("compare", two, "--engine", "duckdb", "--quota", "20", "--html", page, "--resamples", "100")
    assert "Clear leaders" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["t.csv", "t.tsv.gz", "t.jsonl", "part-*.json", "t.txt", "folder.csv/", "t.xlsx"])
def test_text_is_refused_on_spark(name: str, tmp_path: Path) -> None:
    """Spark would find types, cells and records by rules of its own."""
    said = refused("evaluate", tmp_path / name, *COLUMNS, "--engine", "spark")
    assert "convert it to Parquet, or use --engine duckdb" in said


def test_spark_without_java_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    said = refused("evaluate", tmp_path / "t.parquet", *COLUMNS, "--engine", "spark")
    assert (
        "Spark runs on Java, and there is none on this machine; install a Java runtime, or use --engine duckdb" in said
    )


@pytest.mark.integration
@pytest.mark.xdist_group("spark")
@pytest.mark.skipif(not os.environ.get("JAVA_HOME") and not os.path.exists("/usr/bin/java"), reason="no Java")
def test_spark_from_the_command_line(two: Path) -> None:
    """In a process of its own: a session of this one would stay."""
    pytest.importorskip("pyspark")
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    typed = two.with_name("two[1].parquet")
    duckdb.sql(f"FROM read_csv('{two}')").write_parquet(str(typed))
    command = [sys.executable, "-c", MAIN, "evaluate", str(typed), *COLUMNS, *QUICK, "--no-intervals"]
    command += ["--engine", "spark", "--master", "local[1]"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert values(done.stdout) == pytest.approx(values(run("evaluate", two, *COLUMNS, *QUICK).stdout))
    command[4] = str(two.with_name("nothing.parquet"))
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == 2
    assert "PATH_NOT_FOUND" in done.stderr
    assert cl.__version__ in run("--version").stdout

"""Where a file is read, from the command line: in memory, through DuckDB, on Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
    for name, apart in (("difference", 1e-6), ("standard_error", 0.1)):  # a stream finds the second from replicates
        expected = pytest.approx([row[name] for row in one["differences"]], rel=apart)
        assert [row[name] for row in other["differences"]] == expected


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


@pytest.mark.parametrize(
    ("options", "words"),
    [
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

"""Careless input on the command line: what is said of it names the file, the row and the value."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from test_cli import EXAMPLE, FAST, refused, run


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A file with a label and two scores."""
    return write(tmp_path / "ok.csv")


def write(path: Path, header: str = "id,y,p,q", cells: dict[tuple[int, int], str] | None = None) -> Path:
    """Two hundred rows; ``cells`` replaces some by (row, column), a column beyond the last is added to that row."""
    rng = np.random.default_rng(5)
    p, q = rng.random(200), rng.random(200)
    y = rng.random(200) < p
    rows = [[f"{k:03}", str(int(y[k])), f"{p[k]:.5f}", f"{q[k]:.5f}"] for k in range(200)]
    for (row, column), cell in (cells or {}).items():
        rows[row][column : column + 1] = [cell]
    path.write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("command", [["evaluate"], ["select", "--quota", "3"], ["plan", "--cost", "1", "--value", "2"]])
def test_one_score_means_one(two: Path, command: list[str]) -> None:
    name, *more = command
    said = refused(name, two, *more, "--score", "p", "--score", "q")
    assert said == "--score is given 2 times; give it once; for several models use: cutline compare"


@pytest.mark.parametrize("command", [["select", "--quota", "3"], ["plan", "--cost", "1", "--value", "2"]])
def test_select_and_plan_take_one_column(two: Path, command: list[str]) -> None:
    name, *more = command
    assert "p_*" not in run(name, "--help").stdout
    label = ["--label", "y"] if name == "plan" else []
    assert "[pq] means 'p', 'q'; name one of them with --score" in refused(name, two, *more, *label, "--score", "[pq]")


@pytest.mark.parametrize("cells", [{(40, 1): '"1'}, {(40, 2): '"0.5'}], ids=["label", "score"])
@pytest.mark.parametrize("more", [[], ["--positive", "1"]], ids=["plain", "positive"])
def test_a_quote_that_is_never_closed_is_named_by_its_line(
    tmp_path: Path, cells: dict[tuple[int, int], str], more: list[str]
) -> None:
    said = refused("evaluate", write(tmp_path / "open.csv", cells=cells), "--label", "y", "--score", "p", *more)
    assert "a quote opens in line 42 (data row 41) and is not closed there" in said


def test_a_quote_among_quotes_is_named_too(tmp_path: Path) -> None:
    path = tmp_path / "open.csv"
    rows = [f'"{"yes" if k % 3 else "no"}",0.{k}' for k in range(10, 60)]
    rows[20] = '"yes,0.5'
    path.write_text("y,p\n" + "\n".join(rows) + "\n")
    said = refused("evaluate", path, "--label", "y", "--score", "p", "--positive", "yes")
    assert "a quote opens in line 22 (data row 21)" in said


def test_quotes_that_are_closed_are_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    rows = [f'{k % 2},0.{k},"5"" pipe\non two lines"' for k in range(10, 60)]
    path.write_text("y,p,note\n" + "\n".join(rows) + "\n")
    assert run("evaluate", path, "--label", "y", "--score", "p", "--no-intervals").exit_code == 0


def test_the_label_is_no_score(two: Path) -> None:
    assert "column 'y' is the label" in refused("evaluate", two, "--label", "y", "--score", "y")


def test_weights_are_told_by_file_column_and_data_row(tmp_path: Path) -> None:
    for bad, why in (("-1", "negative"), ("inf", "not finite")):
        path = tmp_path / "weights.csv"
        path.write_text("y,p,w\n1,0.9,1.5\n0,0.2,2.5\n" + f"1,0.3,{bad}\n0,0.1,1.5\n")
        for command in (["evaluate", "--score", "p"], ["compare", "--score", "p", "--score", "w"]):
            name, *more = command
            said = refused(name, path, "--label", "y", *more, "--weight", "w")
            assert (
                f"weights.csv: column 'w': data row 3 is {bad}, which is {why}; a weight must be 0 or between" in said
            )


def test_text_among_the_scores_is_shown_with_its_row(tmp_path: Path) -> None:
    path = write(tmp_path / "na.csv", cells={(57, 2): "n.k."})
    said = refused("evaluate", path, "--label", "y", "--score", "p")
    remedy = "correct it, or empty the cell and add --missing drop"
    assert said == f"na.csv: column 'p': data row 58 is 'n.k.', which is not a number; {remedy}"
    path.write_text('y;p\n1;"0,9"\n0;"0,123"\n')
    assert "detected: delimiter ';'; score 'p' as decimal comma" in run("evaluate", path, "--measure", "pem").stderr


def test_chosen_rows_keep_the_delimiter_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "german.csv"
    path.write_text("id;p\na;0,9\nb;0,3\nc;0,4\n")
    wanted = "place;id;p\n1;a;0,9\n2;c;0,4\n"
    chosen = ("select", path, "--score", "p", "--quota", "2")
    assert run(*chosen).stdout == wanted
    run(*chosen, "-o", tmp_path / "chosen.csv")
    assert (tmp_path / "chosen.csv").read_text() == wanted
    run(*chosen, "-o", tmp_path / "chosen.tsv")
    assert (tmp_path / "chosen.tsv").read_text() == wanted.replace(";", "\t")


def test_shares_are_written_as_fractions_or_per_cent(two: Path) -> None:
    asked = ("cut", two, "--label", "y", "--score", "p", "--format", "json")
    fraction = run(*asked, "--recall", "0.8", "--confidence", "0.9").stdout
    assert run(*asked, "--recall", "80%", "--confidence", "90 %", "--level", "95%").stdout == fraction
    assert "no target given; give one of --recall, --precision" in refused(*asked)
    screened = ("screen", two, "--label", "y", "--stage", "p=50%", "--stage", "q=300")
    assert "--stage is 300; it must be from 1 to the number of cases, 100" in refused(*screened)
    assert "--recall is 'most', which is not a share; write e.g. 0.8 or 80%" in refused(*asked, "--recall", "most")


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_a_line_with_another_number_of_fields_is_named(tmp_path: Path, ending: str) -> None:
    import gzip

    text = write(tmp_path / "plain.csv", cells={(7, 4): "extra"}).read_bytes()
    path = tmp_path / f"ragged.{ending}"
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    assert f"ragged.{ending}: line 9 has 5 fields, the header 4" in refused("evaluate", path, "--score", "p")


def test_one_column_is_not_taken_for_ragged(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text('"a,b"\n0.5\n0.25\n')
    assert run("select", path, "--score", "a,b", "--quota", 1).stdout == 'place,"a,b"\n1,0.5\n'


def test_other_encodings_and_binary_files(tmp_path: Path) -> None:
    path = tmp_path / "lat.csv"
    path.write_bytes("y,p,place\n1,0.9,Rom\n0,0.2,Köln\n".encode("latin-1"))
    said = run("evaluate", path, "--label", "y", "--score", "p", "--measure", "pem").stderr
    assert said == "detected: encoding Latin-1 (Windows-1252)\n"
    path.write_bytes(b"\x00\x01\x9f" * 500)
    assert "lat.csv is not a text file (line 1 contains a zero byte)" in refused("evaluate", path)
    path = tmp_path / "no.parquet"
    path.write_bytes(b"hello")
    assert "no.parquet cannot be read as Parquet" in refused("evaluate", path)


def test_a_header_alone_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "head.csv"
    path.write_text("y,p\n")
    for named in ([], ["--label", "y", "--score", "p"]):
        assert refused("evaluate", path, *named) == "head.csv has no rows below its header; give at least one"


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_what_select_writes_can_be_read_again(two: Path, tmp_path: Path, ending: str) -> None:
    import duckdb

    chosen = tmp_path / f"chosen.{ending}"
    run("select", two, "--score", "p", "--quota", 120, "-o", chosen)
    wanted = ("--label", "y", "--score", "p", "--measure", "pem", "--format", "json", "--no-intervals")
    run("select", two, "--score", "p", "--quota", 120, "-o", tmp_path / "chosen.csv")
    again, plain = (json.loads(run("evaluate", p, *wanted).stdout) for p in (chosen, tmp_path / "chosen.csv"))
    assert again["measures"] == plain["measures"]
    if ending == "parquet":
        types = dict(duckdb.sql(f"SELECT column_name, column_type FROM (DESCRIBE FROM '{chosen}')").fetchall())
        assert types == {"place": "BIGINT", "id": "VARCHAR", "y": "BIGINT", "p": "DOUBLE", "q": "DOUBLE"}
    first = duckdb.sql(f"SELECT id FROM '{chosen}' ORDER BY place").fetchall()[:5]
    assert [str(i).strip('"') for (i,) in first] == [
        row["id"] for row in csv.DictReader((tmp_path / "chosen.csv").read_text().splitlines())
    ][:5]


def test_numbers_that_a_file_keeps_as_text(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "text.parquet"
    duckdb.sql(
        "COPY (SELECT * FROM (VALUES ('1', '0.9'), ('0', '0.2'), ('1', '0.6'), ('0', '0.7')) t(y, p)) "
        f"TO '{path}' (FORMAT parquet)"
    )
    arguments = ("--label", "y", "--score", "p", "--measure", "roc_auc", "--format", "json", *FAST)
    assert json.loads(run("evaluate", path, *arguments).stdout)["measures"][0]["value"] == 0.75


def test_an_ending_that_names_no_format_is_refused(two: Path, tmp_path: Path) -> None:
    for ending in ("xlsx", "csv.gz"):
        said = refused("select", two, "--score", "p", "--quota", 3, "-o", tmp_path / f"x.{ending}")
        assert "is not a known format; end it in .csv, .tsv, .parquet or .jsonl" in said


def test_a_budget_that_pays_for_nobody_says_so(two: Path) -> None:
    def first(*more: object) -> str:
        done = run("plan", two, "--label", "y", "--score", "p", "--value", 5, *FAST, *more)
        return done.stdout.splitlines()[0]

    assert first("--cost", 2, "--budget", 1) == "Take no one: a budget of 1 does not pay for one case."
    assert first("--cost", 6) == "Take no one: no cut makes a profit."


def test_plan_as_json_has_what_the_table_has() -> None:
    arguments = ("plan", EXAMPLE, "--score", "network", "--cost", 5, "--value", 20, *FAST)
    out = json.loads(run(*arguments, "--format", "json").stdout)
    lines = [re.split(r"\s{2,}", line.strip()) for line in run(*arguments).stdout.splitlines()]
    table = {line[0]: line[1] for line in lines if len(line) == 2}
    assert float(table["threshold"]) == pytest.approx(out["threshold"], abs=1e-4)
    assert float(table["hits here"]) == pytest.approx(out["hits_here"], abs=0.1)
    assert out["next_hits_low"] <= out["hits_here"] <= out["next_hits_high"]
    assert out["n_resamples"] == 50
    nobody = json.loads(run(*arguments[:4], "--cost", 50, "--value", 20, *FAST, "--format", "json").stdout)
    assert nobody["threshold"] is None


def test_the_settings_line_makes_the_result_again(tmp_path: Path) -> None:
    path = tmp_path / "yn.csv"
    path.write_text("bought,p,q,w\nyes,0.9,0.8,1\nno,0.2,0.1,2\nyes,0.6,0.7,1\nno,0.7,0.3,3\n")
    said = ("--label", "bought", "--positive", "yes", "--weight", "w", "--measure", "pem", "--measure", "roc_auc")
    for command, scores in (("evaluate", ["p"]), ("compare", ["p", "q"])):
        named = [part for name in scores for part in ("--score", name)]
        line = run(command, path, *said, *named, "--all", *FAST).stdout.strip().splitlines()[-1]
        for part in ("label bought", "positive yes", "weight w", "measures pem, roc_auc"):
            assert f" · {part} · " in line
        out = json.loads(run(command, path, *said, *named, *FAST, "--format", "json").stdout)
        assert (out["positive"], out["weight"]) == ("yes", "w")
    line = run("compare", path, *said, "--score", "?", "--margin", 0.02, "--all", *FAST).stdout.strip().splitlines()[-1]
    assert " · margin 0.02 · " in line
    priced = ("plan", path, "--label", "bought", "--positive", "yes", "--score", "p", "--cost", 1, "--value", 2, *FAST)
    assert " · positive yes · " in run(*priced, "--format", "markdown").stdout
    assert json.loads(run(*priced, "--format", "json").stdout)["settings"]["cost"] == 1


def test_a_column_of_many_values_is_no_label(two: Path) -> None:
    said = refused("evaluate", two, "--label", "id", "--score", "p")
    assert "column 'id' contains more than two labels ('000', '001', '002', '003', '004', '005', …)" in said


def test_many_classes_are_counted_right(tmp_path: Path) -> None:
    path = tmp_path / "eight.csv"
    path.write_text("y,p\n" + "".join(f"{name},0.{k}\n" for k, name in enumerate("abcdefgh")))
    assert "('a', 'b', 'c', 'd', 'e', 'f', …)" in refused("evaluate", path, "--label", "y", "--score", "p")


def test_columns_named_twice_and_files_without_header(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("y,p,p\n1,0.9,0.1\n0,0.2,0.3\n")
    assert "has several columns called 'p'" in refused("evaluate", path, "--label", "y", "--score", "p")
    path.write_text("y,p,p_1\n1,0.9,0.1\n0,0.2,0.3\n")
    run("evaluate", path, "--label", "y", "--score", "p", "--measure", "pem", *FAST)
    path.write_text("1,0.9\n0,0.2\n1,0.6\n")
    result = run("evaluate", path, "--measure", "pem", *FAST)
    assert "detected: no header: the columns are called column0, column1" in result.stderr


def test_select_does_not_advise_a_comparison(two: Path) -> None:
    said = refused("select", two, "--quota", 3)
    assert "several columns could be the score: 'p', 'q'; choose one with --score (cutline doctor" in said
    assert "compare" not in said


def test_the_story_says_what_it_needs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import importlib.util
    import runpy

    story = runpy.run_path(str(EXAMPLE.parent / "bank_marketing.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, package=None: None)
    assert story["main"](["--data", "absent"]) == 2
    assert "this example needs pandas and sklearn: pip install '.[sklearn,frames]'" in capsys.readouterr().err
    code = (
        "import sys; sys.modules['pandas'] = sys.modules['sklearn'] = None; import runpy; sys.argv[1:] = ['--help']; "
    )
    code += f"runpy.run_path({str(EXAMPLE.parent / 'bank_marketing.py')!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert "--credit" in done.stdout


def test_rows_without_weight_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "weights.csv"
    path.write_text("y,p,w\n1,0.9,1\n0,0.2,0\n1,0.3,2\n0,0.1,1\n")
    result = run("evaluate", path, "--label", "y", "--score", "p", "--weight", "w", "--measure", "pem", *FAST)
    assert "detected: 1 of 4 rows has weight 0 and does not count" in result.stderr

"""Files as offices send them: each wart takes one option, with the same word and the same answer at every door."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

import cutline as cl
from cutline.commands.group import cli
from cutline.sources.sql_table import named_apart

N = 240
RNG = np.random.default_rng(5)
Y = RNG.integers(0, 2, N)
MARKER = np.round(RNG.normal(size=N) * 900.0 - 800.0 * Y + 2000.0, 2)  # falls with disease
MONTH = RNG.integers(1, 13, N)
WORDS = np.where(Y == 1, np.where(MONTH > 6, "Yes ", "yes"), np.where(MONTH > 6, "NO", " no"))
TABLE: dict[str, Any] = {"y": Y, "marker": MARKER, "month": MONTH, "word": WORDS}
TABLE["day"] = [f"2024-{month:02d}-{k % 28 + 1:02d}" for k, month in enumerate(MONTH)]
FILES = ["csv", "parquet", "xlsx", "relation"]  # what a condition is for
DOORS = ["mapping", "pandas", "polars", "arrow", "csv", "parquet", "xlsx", "relation"]


def source(door: str, folder: Path, table: dict[str, Any] = TABLE) -> Any:
    frame = pd.DataFrame(table)
    if door == "xlsx":
        pytest.importorskip("openpyxl")
    make = {
        "mapping": lambda: table,
        "pandas": lambda: frame,
        "polars": lambda: pl.DataFrame(table),
        "arrow": lambda: pa.table(frame),
        "csv": lambda: frame.to_csv(folder / "t.csv", index=False) or str(folder / "t.csv"),
        "parquet": lambda: frame.to_parquet(folder / "t.parquet") or str(folder / "t.parquet"),
        "xlsx": lambda: frame.to_excel(folder / "t.xlsx", index=False) or str(folder / "t.xlsx"),
        "relation": lambda: duckdb.from_arrow(pa.table(frame)),
    }
    return make[door]()


def auc(table: Any, **how: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.LabelWarning)
        return cl.evaluate(table, **{"label": "y", "score": "marker", "interval": None, **how})["roc_auc"].value


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


CONDITIONS: list[tuple[str, Any]] = [
    ("month >= 6", MONTH >= 6),
    ("month != 3 and not month in (7, 8)", (MONTH != 3) & ~np.isin(MONTH, (7, 8))),
    ("(month = 1 or month > 10) and word <> 'NO'", ((MONTH == 1) | (MONTH > 10)) & (WORDS != "NO")),
    ("word in ('yes', ' no') or \"month\" = 12", np.isin(WORDS, ("yes", " no")) | (MONTH == 12)),
    ("day >= '2024-06-15'", np.array(TABLE["day"]) >= "2024-06-15"),
    ("day is not null and marker < 2.5e3", MARKER < 2500),
]


@pytest.mark.parametrize("door", FILES)
def test_a_condition_leaves_the_same_rows_at_every_door(door: str, tmp_path: Path) -> None:
    table = source(door, tmp_path)
    for condition, rows in CONDITIONS:
        assert auc(table, where=condition) == cl.roc_auc(Y[rows], MARKER[rows]), condition


@pytest.mark.parametrize("door", ["parquet", "relation"])
def test_a_stream_counts_the_rows_that_fulfil_a_condition(door: str, tmp_path: Path) -> None:
    rows = MONTH >= 6
    streamed = auc(source(door, tmp_path), where="month >= 6", stream=True)
    assert streamed == pytest.approx(cl.roc_auc(Y[rows], MARKER[rows]), abs=1e-12)


@given(st.text(alphabet="month y=<>!()'\"; 0123.and or not in,--", max_size=40))
def test_text_that_is_no_condition_is_an_error_of_the_input(text: str) -> None:
    table = duckdb.sql("SELECT k % 2 AS y, k AS marker, k AS month FROM range(1, 5) t(k)")
    with contextlib.suppress(cl.InputError):  # any other error would be one of SQL
        auc(table, where=text)


def test_rows_without_the_cell_are_left_out_also_behind_not(tmp_path: Path) -> None:
    table = {"y": [0, 1, 0, 1, 1], "p": [0.1, 0.2, 0.3, 0.4, 0.5], "m": [1.0, None, 3.0, 4.0, None]}
    for door in FILES:
        for condition, rows in (("not m > 3", 2), ("m <= 3 or m > 3", 3), ("m is null or m = 1", 3)):
            ev = cl.evaluate(source(door, tmp_path, table), label="y", score="p", where=condition, interval=None)
            assert ev.facts["rows"] == rows, (door, condition)


@pytest.mark.parametrize("door", FILES)
def test_a_row_that_is_wrong_has_its_number_in_the_source(door: str, tmp_path: Path) -> None:
    table = {"y": ["0", "1", "0", "1"], "p": ["0.1", "0.2", "0.3", "x"], "m": [1, 2, 3, 4]}
    with pytest.raises(cl.InputError) as caught:
        cl.evaluate(source(door, tmp_path, table), label="y", score="p", where="m >= 2")
    assert caught.value.row == 3


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("month >=", "syntax error"),
        ("month @@@ 3", "where is 'month @@@ 3'"),
        ("month = 1); drop table t; --", "syntax error|more than a condition"),
        ("nothing > 1", "no column 'nothing'"),
        ("c0 > 1", "no column 'c0'"),
        ("month > 99", "leaves no row"),
        ("word > 3", "where is 'word > 3'"),
        ("month = 'June'", "June"),
    ],
)
def test_a_condition_that_means_nothing_is_an_error(condition: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(cl.InputError, match=told):
        auc(source("parquet", tmp_path), where=condition)


def test_rows_of_a_table_in_memory_are_left_out_there() -> None:
    with pytest.raises(cl.InputError, match="this table is in memory"):
        auc(TABLE, where="month >= 6")


@pytest.mark.parametrize("door", DOORS)
def test_a_marker_that_falls_with_disease_is_negated(door: str, tmp_path: Path) -> None:
    table = source(door, tmp_path)
    for negate in (True, "marker", ["marker"]):
        assert auc(table, negate=negate) == cl.roc_auc(Y, -MARKER)
    with pytest.raises(cl.InputError, match="not a score"):
        auc(table, negate="month")


def test_the_sign_of_arrays_is_changed_by_the_caller() -> None:
    with pytest.raises(cl.InputError, match="negate is for columns of a table"):
        cl.evaluate(Y, MARKER, negate=True)


@pytest.mark.parametrize("door", DOORS)
def test_labels_in_several_spellings_are_joined_on_request(door: str, tmp_path: Path) -> None:
    table = source(door, tmp_path)
    with pytest.raises(cl.InputError, match="ignore_case=True"):
        auc(table, label="word", pos_label="yes", neg_label=["NO", " no"])
    joined = auc(table, label="word", pos_label="YES", neg_label="no", ignore_case=True)
    assert joined == cl.roc_auc(Y, MARKER)


@pytest.mark.parametrize("door", DOORS)
def test_several_labels_may_be_positive(door: str, tmp_path: Path) -> None:
    table = source(door, tmp_path)
    assert auc(table, label="month", pos_label=[11, 12]) == cl.roc_auc(MONTH >= 11, MARKER)
    assert auc(table, label="word", pos_label=["yes", "Yes "], neg_label=["NO", " no"]) == cl.roc_auc(Y, MARKER)


def german(value: float) -> str:
    return f"{value:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")


@pytest.mark.parametrize("door", DOORS)
def test_marks_between_thousands_are_read(door: str, tmp_path: Path) -> None:
    for write, words in ((german, "points between"), (lambda value: f"{value:,.2f}", "commas between")):
        table = source(door, tmp_path, {"y": Y, "marker": [write(value) for value in MARKER]})
        assert auc(table) == cl.roc_auc(Y, MARKER)
        assert words in cl.evaluate(table, label="y", score="marker", interval=None).facts["understood"]


@pytest.mark.parametrize("door", ["mapping", "csv"])
def test_marks_that_may_mean_either_are_an_error(door: str, tmp_path: Path) -> None:
    table = source(door, tmp_path, {"y": [0, 1, 0, 1], "marker": ["1.073", "1,500", "2.000", "3,250"]})
    with pytest.raises(cl.InputError, match="thousands or decimals"):
        auc(table)
    assert auc(table, decimal=",") == cl.roc_auc([0, 1, 0, 1], [1073, 1.5, 2000, 3.25])
    assert auc(table, decimal=".") == cl.roc_auc([0, 1, 0, 1], [1.073, 1500, 2, 3250])


def test_columns_that_are_called_alike_are_named_apart(tmp_path: Path) -> None:
    assert named_apart(["y", "p", "p", "p_1"]) == ["y", "p_2", "p_3", "p_1"]
    twice = pd.DataFrame(np.column_stack([Y, MARKER, -MARKER]), columns=["y", "p", "p"])
    twice.to_csv(tmp_path / "t.csv", index=False)
    for table in (twice, pa.table([Y, MARKER, -MARKER], names=["y", "p", "p"]), str(tmp_path / "t.csv")):
        with pytest.raises(cl.InputError, match="'p_1', 'p_2'"):
            auc(table, score="p")
        assert auc(table, score="p_1") == cl.roc_auc(Y, MARKER)
        assert auc(table, score="p_2") == cl.roc_auc(Y, -MARKER)
    chosen = run("select", tmp_path / "t.csv", "--score", "p_2", "--quota", 1)
    assert chosen.stdout.splitlines()[0] == "place,y,p,p"


@pytest.fixture
def cover(tmp_path: Path) -> Path:
    """A text file with a title above its header and a total below its rows."""
    rows = [f"c{k};{y};{german(m)};{d}" for k, (y, m, d) in enumerate(zip(Y, MARKER, TABLE["day"], strict=True))]
    path = tmp_path / "cover.csv"
    lines = ["Report of the year", "", "name;y;marker;day", *rows, f"Total;;{german(MARKER.sum())};"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Cover"
    book.active["A1"] = "Made by hand"
    sheet = book.create_sheet("Data 2024")
    for row in (["Results"], [], ["y", "marker"], *zip(Y.tolist(), MARKER.tolist(), strict=True)):
        sheet.append(row)
    book.save(tmp_path / "book.xlsx")
    return tmp_path / "book.xlsx"


def test_lines_above_the_header_are_skipped(cover: Path) -> None:
    with pytest.raises(cl.InputError, match="2 lines above the header; leave them out with skip_rows=2"):
        auc(str(cover))
    assert auc(str(cover), skip_rows=2, where="name <> 'Total'") == cl.roc_auc(Y, MARKER)


def test_a_sheet_is_chosen_by_name_or_number(workbook: Path) -> None:
    for sheet in ("Data 2024", 2, "2"):
        assert auc(str(workbook), sheet=sheet, skip_rows=2) == cl.roc_auc(Y, MARKER)
    for sheet in ("nothing", 3, 0):
        with pytest.raises(cl.InputError, match="'Cover', 'Data 2024'"):
            auc(str(workbook), sheet=sheet)
    with pytest.raises(cl.InputError, match="sheet"):
        auc(TABLE, sheet=1)


def test_the_doctor_finds_what_stands_around_a_table(cover: Path, workbook: Path) -> None:
    found = cl.doctor(str(cover))
    assert "--skip-rows 2" in found.command
    assert "--where \"name <> 'Total'\"" in found.command
    assert found.rows == N
    sheet = cl.doctor(str(workbook))
    assert "--sheet 'Data 2024' --skip-rows 2" in sheet.command


def test_the_doctor_suggests_clusters_and_the_sign(tmp_path: Path) -> None:
    found = " ".join(cl.doctor(pd.DataFrame(TABLE), label="y").findings)
    assert "--cluster day" in found
    assert "--negate marker" in found


def test_one_wart_takes_one_command(cover: Path, workbook: Path, tmp_path: Path) -> None:
    frame = pd.DataFrame(TABLE)
    frame.to_csv(tmp_path / "t.csv", index=False)
    rows = MONTH >= 6
    named = ["--label", "y", "--score", "marker", "--no-intervals", "--format", "csv", "--measure", "roc_auc"]
    commands: list[tuple[list[Any], float]] = [
        ([cover, "--skip-rows", 2, "--where", "name <> 'Total'", *named], cl.roc_auc(Y, MARKER)),
        ([workbook, "--sheet", "Data 2024", "--skip-rows", 2, *named], cl.roc_auc(Y, MARKER)),
        ([tmp_path / "t.csv", "--where", "month >= 6", *named], cl.roc_auc(Y[rows], MARKER[rows])),
        ([tmp_path / "t.csv", "--negate", "marker", *named], cl.roc_auc(Y, -MARKER)),
    ]
    words = ["--label", "word", *named[2:]]
    joined = ["--positive", "yes", "--negative", "no", "--ignore-case"]
    spelled = ["--positive", "yes", "--positive", "Yes ", "--rest-negative"]
    commands += [([tmp_path / "t.csv", *words, *how], cl.roc_auc(Y, MARKER)) for how in (joined, spelled)]
    for arguments, value in commands:
        result = run("evaluate", *arguments)
        assert result.exit_code == 0, result.output
        assert f",{value!r}," in result.stdout, (arguments, result.stdout)


def test_the_message_on_a_reversed_score_names_the_option(tmp_path: Path) -> None:
    pd.DataFrame(TABLE).to_csv(tmp_path / "t.csv", index=False)
    assert "--negate" in run("evaluate", tmp_path / "t.csv", "--label", "y", "--score", "marker").output


@pytest.mark.integration
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")  # Spark warns about pandas
def test_the_same_options_on_a_cluster(spark: Any, tmp_path: Path) -> None:
    """Conditions, a changed sign and labels spelled in several ways: as in memory."""
    source("parquet", tmp_path)
    table = spark.read.parquet(str(tmp_path / "t.parquet"))
    for condition, rows in CONDITIONS:
        assert auc(table, where=condition) == pytest.approx(cl.roc_auc(Y[rows], MARKER[rows]), abs=1e-12), condition
    assert auc(table, negate=["marker"]) == pytest.approx(cl.roc_auc(Y, -MARKER), abs=1e-12)
    how = {"label": "word", "pos_label": "yes", "ignore_case": True}
    assert auc(table, **how) == pytest.approx(cl.roc_auc(Y, MARKER), abs=1e-12)


TITLES = {
    "shorter lines": "Campaign;;\nmade on;1.5.2024;\n\n",
    "lines that a spreadsheet filled up": "Campaign;;;\nmade on;1.5.2024;;\n;;;\n",
}


@pytest.mark.parametrize("title", list(TITLES))
def test_a_title_of_several_cells_is_skipped(title: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = "\n".join(f"{k};{'ja' if k % 3 else 'nein'};{k % 7},{k % 10};x" for k in range(1, 40))
    path.write_text(f"{TITLES[title]}number;bought;score;note\n{rows}\n")
    done = run("evaluate", path, "--label", "bought", "--positive", "ja", "--score", "score")
    assert done.exit_code == 2
    assert "has 3 lines above the header; leave them out with --skip-rows 3" in done.stderr
    assert cl.doctor(str(path)).command.endswith("--skip-rows 3")
    assert run("evaluate", path, "--positive", "ja", "--skip-rows", 3).exit_code == 0


def test_a_line_with_a_field_too_many_is_no_title(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("y,p,q\n1,0.5,1\n0,0.4,2\n1,0.5,1,9\n0,0.1,3\n1,0.7,5\n")
    assert "line 4 has 4 fields" in run("evaluate", path, "--label", "y", "--score", "p").stderr


@pytest.mark.parametrize("cover", [[["Report"], ["made in 2024"]], [["Report", "2024"], ["by", "me"]]])
def test_a_cover_sheet_is_named_in_the_error(cover: list[list[str]], tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Cover"
    for cells in cover:
        book.active.append(cells)
    sheet = book.create_sheet("Data")
    for cells in [["y", "p"], *([int(y), float(p)] for y, p in zip(Y, MARKER, strict=True))]:
        sheet.append(cells)
    book.save(tmp_path / "t.xlsx")
    told = run("evaluate", tmp_path / "t.xlsx", "--label", "y", "--score", "p").stderr
    if len(cover[0]) == 1:
        assert told.endswith("'Cover', has no table; choose the sheet 'Data' with --sheet Data\n")
    else:
        assert "t.xlsx (sheet 'Cover' of 2) has no column" in told
    assert "--sheet Data" in cl.doctor(str(tmp_path / "t.xlsx")).command


@pytest.mark.parametrize("mark", ["?", ".", "#NV", "n/a"])
def test_marks_of_missing_cells_are_dropped(mark: str, tmp_path: Path) -> None:
    cells = ["0.5", mark, "0.25", "0.75", "0.5"]
    table = {"y": ["no", "yes", "no", "yes", "yes"], "p": cells}
    for door in ("pandas", "csv", "relation"):
        how: Any = {"label": "y", "score": "p", "pos_label": "yes", "interval": None}
        ev = cl.evaluate(source(door, tmp_path, table), missing="drop", **how)
        assert (ev.dropped, ev["roc_auc"].value) == (1, 0.875)
        with pytest.raises(cl.InputError, match="missing value"):
            cl.evaluate(source(door, tmp_path, table), **how)


def test_doctor_finds_the_outcome_among_columns_with_two_values(tmp_path: Path) -> None:
    table = {"sex": np.where(MONTH > 6, "m", "f"), "left": WORDS, "age": MONTH * 3, "p": MARKER / 10_000}
    path = source("csv", tmp_path, table)
    found = cl.doctor(path)
    assert found.label == "left"
    assert "'left' spells a label in several ways: --ignore-case joins them" in found.findings
    assert found.command == f"cutline evaluate {path} --label left --positive yes --ignore-case --score p"
    assert not any("--cluster" in sentence for sentence in found.findings)  # an age repeats, and clusters nothing
    assert run(*found.command.split()[1:]).exit_code == 0
    told = run("evaluate", path, "--label", "left", "--score", "p").stderr
    assert "join those that differ only in case or spaces with --ignore-case" in told


def test_a_changed_sign_is_told_with_what_it_means_for_thresholds(tmp_path: Path) -> None:
    told = run(
        "cut", source("csv", tmp_path), "--score", "marker", "--negate", "marker", "--maximize", "f1", "--label", "y"
    )
    assert "score > -3 means marker < 3" in told.stderr

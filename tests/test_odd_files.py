"""Files as attackers and accidents make them: odd names and bytes, damaged packing; one answer, or words of refusal."""

from __future__ import annotations

import datetime
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow
import pyarrow.parquet
import pytest

import cutline as cl
from cutline.partition import Partition, natural_key, order_of
from cutline.sources import rules
from cutline.sources.duckdb import DuckTable
from cutline.sources.file_formats import TextFormat, find_files
from cutline.verbs import evaluate

PLAIN: dict[str, Any] = {"label": "y", "score": "p", "interval": None}
Y, P = [1, 0, 1, 0], [0.9, 0.1, 0.8, 0.2]
ROWS = "".join(f"{y},{p}\n" for y, p in zip(Y, P, strict=True))
NAMES = (
    *("data[1]", "data1", "a*b", "a\\b", "a?b", "a{1,2}", "a1", "a2", "{label}", "a\nb", "-p", 'it\'s "it"', "a]b"),
    *("a\\[1]", "a\\*", "[!a]", "**", "~", "$HOME", "%20", "#", " ", "é", os.fsdecode(b"\xff")),
)


def auc(path: Any, **options: Any) -> float:
    return evaluate(path, **PLAIN, **options)["roc_auc"].value


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no such names")
@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_a_file_is_read_whatever_it_is_called(kind: str, tmp_path: Path) -> None:
    """Each file has its columns in another order and its own scores: nothing is read from a neighbour."""
    for k, name in enumerate(NAMES):
        table = {"y": [0, 1] * (k + 1), "p": np.arange(2 * (k + 1)).tolist(), "x": [-1] * (2 * (k + 1))}
        order = [("y", "p", "x"), ("x", "y", "p"), ("p", "x", "y")][k % 3]
        own = pyarrow.table({column: table[column] for column in order})
        path = tmp_path / f"{name}.{kind}"
        if kind == "parquet":
            pyarrow.parquet.write_table(own, str(tmp_path / "plain"))
        elif kind == "jsonl":
            lines = own.to_pandas().to_json(orient="records", lines=True)
            (tmp_path / "plain").write_text(lines)
        else:
            content = own.to_pandas().to_csv(index=False).encode()
            (tmp_path / "plain").write_bytes(content)
        os.rename(tmp_path / "plain", path)
    for k, name in enumerate(NAMES):
        found = evaluate(tmp_path / f"{name}.{kind}", stream=True, measures=["roc_auc"], **PLAIN)
        n = k + 1  # the positive of each pair lies above its negative, and above those of the pairs before it
        assert (found.facts["rows"], found["roc_auc"].value) == (2 * n, pytest.approx((n + 1) / (2 * n))), name


def test_a_name_with_braces_stands_in_messages_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "{label}.csv"
    path.write_text("y,p\n1,0.5\n0,x\n")
    with pytest.raises(cl.InputError, match=r"^\{label\}\.csv: column 'p': data row 2 is 'x'"):
        auc(path)
    with pytest.raises(cl.InputError, match=r"^\{label\}\.csv has no column 'q'"):
        evaluate(path, label="y", score="q")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs rights as Unix has them")
def test_a_file_without_permission_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("y,p\n" + ROWS)
    if os.geteuid() == 0:  # to whom nothing is forbidden

        def forbidden(*_: Any, **__: Any) -> Any:
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr("builtins.open", forbidden)
    else:
        path.chmod(0)
    with pytest.raises(cl.InputError, match=r"t\.csv cannot be read: Permission denied"):
        auc(path)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    "content",
    [
        "\n\ny,p\n" + ROWS,
        "\r\n\r\n\r\ny,p\r\n" + ROWS.replace("\n", "\r\n"),
        "\ufeff\n\ny,p\n" + ROWS,
        "y,p\r\n" + ROWS,
        "y,p\n" + ROWS.replace("\n", "\r\n", 1),
        "y,p\r" + ROWS,
        'y, "p"\n' + ROWS,
        "y,p,a\u2028b\n" + ROWS.replace("\n", ",1\n"),
        "y,a\x85b,p,a\x0cb,\x0b,a\x1cb\x1d\n" + "".join(f"{y},1,{p},,x\x0cy,\n" for y, p in zip(Y, P, strict=True)),
        "y,100%,p\n" + ROWS.replace(",", ",7,"),
        "y,p,0.05,0.5\n" + ROWS.replace("\n", ",0.1,0.2\n"),
        "y,p,note\n" + ROWS.replace("\n", "," + "n" * 200_000 + "\n"),
        'y,p,note\n0,0.05,"' + "n" * 3_000_000 + '"\n' + ROWS.replace("\n", ",\n"),
        f'y,p,"{"n" * 1_500_000}"\n' + ROWS.replace("\n", ",\n"),
    ],
    ids=lambda content: repr(content[:24]),
)
def test_odd_text_is_read_as_it_is_meant(content: str, stream: bool, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode())
    assert auc(path, stream=stream) == 1.0


@pytest.mark.parametrize("packed", [False, True])
def test_line_ends_that_change_after_the_first_megabyte(packed: bool, tmp_path: Path) -> None:
    n = 60_000
    lines = [f'{k % 2},{k % 2 + k / n},"some words"' + ("\r\n" if k > 50_000 else "\n") for k in range(n)]
    content = ("y,p,note\n" + "".join(lines)).encode()
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    found = evaluate(path, **PLAIN)
    assert found.facts["rows"] == n
    assert found["roc_auc"].value == 1.0


def test_line_ends_in_quotes_are_part_of_the_cell(tmp_path: Path) -> None:
    """Whatever lines end with, and also where the file is recoded: three segments stay three."""
    cells = ["a\nb", "a\r\nb", "a\rb", 'a""', '5" pipe', "a"]
    for ends in ("\n", "\r\n", "\r"):
        for encoding in ("utf-8", "utf-16", "latin-1"):
            rows = [(k % 2, k, cells[k // 8]) for k in range(8 * len(cells))]
            quoted = [f'{y},{p},"{cell}"' if cell != '5" pipe' else f"{y},{p},{cell}" for y, p, cell in rows]
            content = "y,p,ä" + ends + "".join(line + (ends, "\n")[k == 3] for k, line in enumerate(quoted))
            path = tmp_path / "t.csv"
            path.write_bytes(content.encode(encoding))
            found = evaluate(path, by="ä", **PLAIN).segments
            assert set(found) == {"a\nb", "a\r\nb", "a\rb", 'a"', '5" pipe', "a"}, (ends, encoding)


def test_every_byte_of_latin_1_is_a_sign_of_its_own(tmp_path: Path) -> None:
    signs = [bytes([k]) for k in range(0x80, 0x100)]
    rows = [b"%d,%d,x%sx\n" % (k % 2, k, sign) for sign in signs for k in range(4)]
    path = tmp_path / "t.csv"
    path.write_bytes(b"y,p,who\n" + b"".join(rows))
    found = evaluate(path, by="who", measures=["roc_auc"], **PLAIN).segments
    assert len(found) == len(signs)
    assert {"x\x81x", "x\x8dx", "xéx", "x€x"} <= set(found)


def test_utf_32_and_packed_utf_16(tmp_path: Path) -> None:
    for name, encoding in (("t.csv", "utf-32"), ("t.csv.gz", "utf-16"), ("u.csv", "utf-16")):
        data = ("y,p\n" + ROWS).encode(encoding)
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        assert auc(tmp_path / name) == 1.0
    (tmp_path / "u.csv").write_bytes(("y,p\n" + ROWS + "1\0,0.5\n").encode("utf-16"))
    with pytest.raises(cl.InputError, match=r"line 6 contains a zero byte"):
        auc(tmp_path / "u.csv")
    (tmp_path / "u.csv").write_bytes(("ä,y,p\n1,1,0.5\n").encode("latin-1"))
    with pytest.raises(cl.InputError, match=r"u\.csv is not in UTF-8; give another encoding"):
        auc(tmp_path / "u.csv", encoding="utf-8")


def test_damaged_files_are_refused_in_words(tmp_path: Path) -> None:
    packed = gzip.compress(("y,p\n" + ROWS * 500).encode())
    for k, damaged in enumerate((packed[:-20], packed[:40] + b"\x00" * 9 + packed[49:], packed[:10] + b"\xff" * 60)):
        for name in (f"{k}.csv.gz", f"{k}.data"):
            (tmp_path / name).write_bytes(damaged)
            with pytest.raises(cl.InputError, match=r"cannot be unpacked|cannot be read|is empty"):
                auc(tmp_path / name)
    book = openpyxl.Workbook()
    for row in [("y", "p"), *zip(Y, P, strict=True)]:
        book.active.append(row)
    book.save(tmp_path / "whole.xlsx")
    assert auc(tmp_path / "whole.xlsx") == 1.0
    with zipfile.ZipFile(tmp_path / "whole.xlsx") as whole, zipfile.ZipFile(tmp_path / "bad.xlsx", "w") as bad:
        for part in whole.namelist():
            content = whole.read(part)
            bad.writestr(part, content[: len(content) // 2] if "sheet1" in part else content)
    with pytest.raises(cl.InputError, match=r"bad\.xlsx cannot be read as an Excel workbook"):
        auc(tmp_path / "bad.xlsx")


def test_days_of_a_sheet_are_days(tmp_path: Path) -> None:
    days = [datetime.date(2020, 1, 1 + y) for y in Y]
    book = openpyxl.Workbook()
    for row in [("y", "p", "at"), *zip(days, P, [datetime.datetime(2020, 1, 1, 12 * y) for y in Y], strict=True)]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    assert auc(tmp_path / "t.xlsx", pos_label="2020-01-02") == 1.0
    assert evaluate(tmp_path / "t.xlsx", label="at", score="p", pos_label="2020-01-01 12:00:00")["roc_auc"].value


@pytest.mark.parametrize(
    ("first", "is_header"),
    [
        ("y,100%", True),
        ("y,0.5", True),
        ("y,97.5%", True),
        ("2019,2020", False),
        ("1,0.93", False),
        ("yes,0.93", False),
        ("label,2020", True),
    ],
)
def test_a_header_is_told_from_data(first: str, is_header: bool, tmp_path: Path) -> None:
    rows = "yes,0.2\nno,0.3\n" if first.startswith("yes") else "1,0.2\n0,0.3\n"
    (tmp_path / "t.csv").write_text(f"{first}\n{rows}")
    (file,) = find_files(str(tmp_path / "t.csv"), TextFormat(), str(tmp_path)).files
    assert file.has_header == is_header
    assert file.names == (tuple(first.split(",")) if is_header else ("column0", "column1"))


def test_a_record_cut_off_by_the_first_megabyte_is_no_evidence(tmp_path: Path) -> None:
    """The bytes that are looked at end inside a record, of one or of several bytes to a sign."""
    for sign in ("x", "é"):
        row = f"{sign * (600_000 // len(sign.encode()))};1;0.5\n"  # the second is cut off
        content = "note, or, not, this;y;p\n" + row * 3
        (tmp_path / "t.csv").write_text(content)
        (file,) = find_files(str(tmp_path / "t.csv"), TextFormat(), str(tmp_path)).files
        assert (file.delimiter, file.names) == (";", ("note, or, not, this", "y", "p"))


LONG = ("1" * 8_000, " " * 8_000, "1" + " " * 8_000, "1" + ".111" * 2000, "1" + ",111" * 2000, "1e" + "1" * 8_000)


@pytest.mark.parametrize("pattern", list(rules._WHOLE))
def test_a_long_cell_is_matched_in_a_time_that_grows_with_its_length(pattern: str) -> None:
    began = time.process_time()
    for cell in LONG:
        assert not rules.matches(pattern, cell + "x")
    assert time.process_time() - began < 1.0  # some seconds where digits may be split in two ways


def test_long_cells_and_headers_are_refused_at_once(tmp_path: Path) -> None:
    for cell in LONG:
        with pytest.raises(cl.InputError, match="is not a number"):
            evaluate({"y": Y, "p": [*P[:3], cell + "x"]}, **PLAIN)
    (tmp_path / "t.csv").write_text(f"y,p,{LONG[0]}x\n" + ROWS.replace("\n", ",1\n"))
    assert auc(tmp_path / "t.csv") == 1.0


def test_numbers_in_names_have_any_length() -> None:
    names = ["m 2", "m 10", "m " + "9" * 5000, "m 1" + "0" * 5000, "m x"]
    assert sorted(names, key=natural_key, reverse=True) == names[::-1]


@pytest.mark.parametrize("mark", [".0", ".", ".50", ",0"])
def test_integers_beyond_2_53_are_refused_also_with_a_fraction(mark: str, tmp_path: Path) -> None:
    text = [f"{2**53 + 1 + y}{mark}" for y in Y]
    fits = [f"{2**53 - 2 + y}{mark}" for y in Y]
    roles = ("score",) if mark == ",0" else ("score", "label")
    for role in roles:
        for cells, beyond in ((text, True), (fits, False)):
            table = {"y": Y, "p": P, "big": cells}
            (tmp_path / "t.jsonl").write_text(
                "".join(
                    json.dumps(dict(zip(table, row, strict=True))) + "\n" for row in zip(*table.values(), strict=True)
                )
            )
            asked = {**PLAIN, role: "big", "pos_label": None if role == "score" else cells[0]}
            for source in (table, tmp_path / "t.jsonl"):
                if beyond:
                    with pytest.raises(cl.InputError, match=r"beyond 2\^53"):
                        evaluate(source, **asked)
                else:
                    assert evaluate(source, **asked)["roc_auc"].value == 1.0


def test_json_booleans_and_names_that_occur_twice(tmp_path: Path) -> None:
    lines = [f'{{"y": {y}, "p": {p}, "new": {str(y < 0.5 or p > 0.8).lower()}}}\n' for y, p in zip(Y, P, strict=True)]
    (tmp_path / "t.jsonl").write_text("".join(lines))
    table = {"y": Y, "p": P, "new": [str(y < 0.5 or p > 0.8) for y, p in zip(Y, P, strict=True)]}
    found, expected = (
        evaluate(source, by="new", measures=["roc_auc"], **PLAIN).segments for source in (tmp_path / "t.jsonl", table)
    )
    assert list(found) == list(expected) == ["False", "True"]
    (tmp_path / "t.jsonl").write_text("".join(lines) + '{"y": 1, "p": 0.5, "p": 0.1}\n')
    with pytest.raises(cl.InputError, match="several columns called 'p'"):
        auc(tmp_path / "t.jsonl")


def test_a_query_may_end_in_anything() -> None:
    import duckdb

    con = duckdb.connect()
    con.execute("CREATE TABLE t AS SELECT i % 2 AS y, i / 10 AS p FROM range(10) r(i)")
    for end in ("", ";", " ; -- done", " -- x\n;\n-- y\n", "--;", " " * 200_000 + "\n-- a"):
        assert evaluate(con, query="SELECT y, p FROM t" + end, **PLAIN).facts["rows"] == 10


def test_september_has_two_short_names() -> None:
    months = ["aug", "Sept.", "oct", "SEP"]
    assert Partition.of(["oct", "SEP", "aug", "Sept."]).keys == ("aug", "SEP", "Sept.", "oct")
    assert order_of(months) == "time"


@pytest.mark.parametrize("stream", [None, True])
@pytest.mark.parametrize("many", [10, 3_000])
def test_lines_may_end_in_different_ways(stream: bool | None, many: int, tmp_path: Path) -> None:
    for first, last in (("\n", "\r\n"), ("\r\n", "\n"), ("\n", "\r"), ("\r", "\n")):
        ends = [first if k < many - 5 else last for k in range(many)]
        content = f"y,p,note{first}" + "".join(f'{k % 2},{k},"a b"{end}' for k, end in enumerate(ends))
        (tmp_path / "t.csv").write_bytes(content.encode())
        assert evaluate(tmp_path / "t.csv", stream=stream, **PLAIN).facts["rows"] == many


def test_what_is_compressed_with_zstd_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with pyarrow.CompressedOutputStream(str(tmp_path / "t.csv.zst"), "zstd") as packed:
        packed.write(b"y,p\n1,0.5\n0,0.2\n")
    with pytest.raises(cl.InputError, match="zstd; unpack it first"):
        evaluate(tmp_path / "t.csv.zst", **PLAIN)


def test_a_record_too_long_for_duckdb_is_named(tmp_path: Path) -> None:
    cell = '"' + ("x" * 99 + "\n") * 30_000 + '"'
    content = f"y,p,note\n1,.9,a\n0,.2,{cell}\n1,.4,b\n0,.3,c\n"
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(cl.InputError, match=r"the record in line 3 is longer than 2 MB; .* convert the file"):
        evaluate(tmp_path / "t.csv", **PLAIN)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl", "parquet"])
@pytest.mark.parametrize("change", ["other", "more", "cut", "gone"])
def test_a_file_that_changes_while_it_is_read_is_refused(
    change: str, ending: str, stream: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"t.{ending}"

    def write(scores: list[float]) -> None:
        table = pyarrow.table({"y": [k % 2 for k in range(len(scores))], "p": scores})
        if ending == "parquet":
            pyarrow.parquet.write_table(table, path)
            return
        lines = [json.dumps(row) for row in table.to_pylist()]
        if ending != "jsonl":
            lines = ["y,p", *(f"{row['y']},{row['p']}" for row in table.to_pylist())]
        content = "".join(line + "\n" for line in lines).encode()
        path.write_bytes(gzip.compress(content) if ending == "csv.gz" else content)

    def change_file(*_: Any) -> None:
        if change == "gone":
            path.unlink()
        elif change == "cut":
            os.truncate(path, path.stat().st_size // 2)
        else:
            write([k / 7 for k in range(1000 + 500 * (change == "more"))])

    reads = "_stream" if stream else "values"
    read = getattr(DuckTable, reads)
    monkeypatch.setattr(DuckTable, reads, lambda *given: (change_file(), read(*given))[1])
    write([k / 5 for k in range(1000)])
    # text is read only once: a small file as it is then, a streamed one before its rows are sorted
    if ending != "parquet" and (stream or change in ("other", "more")):
        assert evaluate(path, stream=stream, **PLAIN).facts["rows"] == (
            1500 if change == "more" and not stream else 1000
        )
        return
    with pytest.raises(cl.InputError, match=r"changed while it was read|cannot be (read|unpacked)|has 1 field"):
        evaluate(path, stream=stream, **PLAIN)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs users as Unix has them")
def test_files_that_the_user_may_not_read_are_refused() -> None:
    """Every kind of file, as a user without rights; all modules are loaded before, which may stand in a home."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    pyarrow.parquet.write_table(pyarrow.table({"y": Y, "p": P}), folder / "t.parquet")
    for name in ("t.csv", "t.csv.gz", "t.jsonl", "t.xlsx", "t"):
        (folder / name).write_text("y,p\n" + ROWS)
    names = sorted(path.name for path in folder.iterdir())
    script = """if True:
        import os, sys
        from cutline import InputError
        from cutline.verbs import evaluate
        os.chdir(sys.argv[1])
        names = sys.argv[2:]
        for name in ["t.csv", "t.parquet", *names]:
            try:
                evaluate(name, label="y", score="p", interval=None)
            except InputError as error:
                print(error)
            if name == "t.parquet" and os.stat(name).st_mode & 0o777:
                for each in names:
                    os.chmod(each, 0)
                os.getuid() or os.seteuid(65534)
    """
    try:
        done = subprocess.run(
            [sys.executable, "-c", script, folder, *names], capture_output=True, text=True, check=True, timeout=60
        )
    finally:
        shutil.rmtree(folder)
    said = [f"{name} cannot be read: Permission denied; check its name and rights" for name in names]
    assert done.stdout.splitlines() == said


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("cell", ["1_000", "+-1", "0x1A", "nan(1)", "1\n", "\x0b1", "1,5", "9007199254740993", ""])
def test_one_odd_cell_far_down_is_found(cell: str, quoted: bool, tmp_path: Path) -> None:
    """Numbers are cast at once; what only DuckDB's cast takes for a number is none, wherever it stands."""
    cells = [f"{k}.25" for k in range(3000)]
    cells[2500] = f'"{cell}"' if quoted or {"\n", ","} & set(cell) else cell
    path = tmp_path / "t.csv"
    path.write_text("y,p\n" + "".join(f"{k % 2},{p}\n" for k, p in enumerate(cells)))
    with pytest.raises(cl.InputError, match="data row 2,501") as refused:
        evaluate(path, **PLAIN)
    assert "t.csv" in str(refused.value)


@pytest.mark.parametrize(("cell", "said"), [("01", "has the labels|more than two"), ("2", "more than two labels")])
def test_a_label_that_the_first_rows_have_not_is_found(cell: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    labels = [str(k % 2) for k in range(3000)] + [cell]
    path.write_text("y,p\n" + "".join(f"{y},{k}.25\n" for k, y in enumerate(labels)))
    with pytest.raises(cl.InputError, match=said):
        evaluate(path, **PLAIN)


def test_whole_numbers_beside_points_stay_unclear(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("y,p\n" + "".join(f"{k % 2},{k % 900 + 1}{'.500' if k % 3 else ''}\n" for k in range(3000)))
    with pytest.raises(cl.InputError, match="may separate thousands or decimals"):
        evaluate(path, **PLAIN)

"""Random odd files, written in random ways: every door gives what the columns in memory give, or refuses as they do."""

from __future__ import annotations

import contextlib
import gzip
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import openpyxl
import polars
import pyarrow
import pyarrow.parquet
import pytest

from cutline import InputError
from cutline.verbs import evaluate
from test_sources import Outcome, Table, arrow, asked, outcome

FILES = int(os.environ.get("CUTLINE_RANDOM_FILES", "40"))  # in every run; `make packages` tries 2,000
CONNECTION = duckdb.connect()
ODD_TEXT = ["", "#", "a,b", 'say "yes"', "two\nlines", "ünï", "'", "; |", "\t", "NULL", "0", " x ", "1_000", "{}", "%s"]
ODD_TEXT += ["a\rb", "a\r\nb", "a\u2028b", "a\x0cb", "a\x1cb", "a\x85b", '""', "=1+1"]
ODD_PATHS = ["t", "t[1]", "a*b", "a\\b", "a\\*", "a?b", "{label}", "t{1,2}", "-t", "it's", 'a"b', "a\nb", "~", "%20"]
ODD_NAMES = ["id", "#", "note, or not", 'a "name"', "Y", "P", "select", "cutline_row", "ä", "x'y", "kept", "score", "n"]


def random_table(rng: np.random.Generator) -> tuple[Table, dict[str, Any]]:
    """Labels, scores and sometimes weights, mostly good, with columns beside them that nobody asked for."""
    n = int(rng.choice([1, 2, 3, 10, 200]))
    table: Table = {}
    for name in rng.choice(ODD_NAMES, size=rng.integers(0, 4), replace=False).tolist():
        table[name] = [str(rng.choice(ODD_TEXT)) for _ in range(n)]
        if rng.random() < 0.05:
            table[name][rng.integers(n)] = "x" * 140_000  # longer than the csv module allows
    options: dict[str, Any] = {}
    positive = rng.random(n) < 0.4
    pairs: list[list[Any]] = [[0, 1], [-1, 1], [False, True], ["0", "1"], ["false", "True"], [0.0, 1.0], ["-1", "+1"]]
    said: list[list[Any]] = [["no", "yes"], [1, 2], ["1", "2"], ["01", "1"], ["a,b", '"'], ["x", "#x"], ["-", "é"]]
    if rng.random() < 0.6:
        pair = pairs[rng.integers(len(pairs))]
    else:
        pair = said[rng.integers(len(said))]
        if rng.random() < 0.9:
            options["pos_label"] = pair[rng.integers(2)] if rng.random() < 0.9 else "other"
    table["y"] = [pair[int(p)] for p in positive]
    table["p"] = random_scores(rng, n)
    if rng.random() < 0.4:
        weights: list[Any] = np.round(rng.random(n) * 3, int(rng.integers(0, 3))).tolist()
        if rng.random() < 0.2:
            weights[rng.integers(n)] = [-1.0, math.inf, math.nan, 1e200, None][rng.integers(5)]
        table["w"], options["weight"] = weights, "w"
    if rng.random() < 0.3:
        holes = ["y", "p"]
        for _ in range(rng.integers(1, 3)):
            table[holes[rng.integers(2)]][rng.integers(n)] = None
    if rng.random() < 0.5:
        options["missing"] = "drop"
    order = list(table)
    rng.shuffle(order)
    return {name: table[name] for name in order}, options


def random_scores(rng: np.random.Generator, n: int) -> list[Any]:
    values = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4)
    kind = rng.integers(9)
    if kind == 0:
        return values.tolist()
    if kind == 1:
        return np.round(values).astype(int).tolist()
    if kind == 2:
        return np.round(values, 1).tolist()  # ties
    if kind == 3:
        return np.full(n, 0.5).tolist()
    if kind == 4:
        return [repr(v) for v in values.tolist()]
    if kind == 5:
        return [f"{v:.3f}%" for v in values]
    if kind == 6:
        return [f"{v:.2f}".replace(".", ",") for v in values]  # two decimals: no thousands
    scores = values.tolist()
    odd = [math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -1.7e308] if kind == 7 else [math.nan]
    for _ in range(rng.integers(1, 4)):
        scores[rng.integers(n)] = odd[rng.integers(len(odd))]
    return scores


def doors(table: Table, rng: np.random.Generator, folder: Path) -> dict[str, Callable[[], Any]]:
    """The ways to hand the table over, each made when it is called."""
    own = arrow(table)
    made = {
        "text": lambda: text_file(table, rng, folder),
        "Arrow": lambda: own,
        "pandas": own.to_pandas,
        "polars": lambda: polars.from_arrow(own),
        "Parquet": lambda: parquet_file(own, rng, folder),
    }
    if len({name.casefold() for name in table}) == len(table):  # DuckDB has no columns p and P beside each other
        made["relation"] = lambda: CONNECTION.from_arrow(own)
    cells = [v for column in table.values() for v in column]
    if any(isinstance(v, float) and not math.isfinite(v) for v in cells):
        return made
    records = list(zip(*table.values(), strict=True))
    made["JSON lines"] = lambda: json_lines(table, rng, folder)
    # a sheet holds no control characters, long cells or empty rows, and takes = for the start of a formula
    texts = [v for v in cells if isinstance(v, str)]
    odd = any(len(v) > 32_767 or v.startswith("=") or set(v) & set("\r\x0c\x1c") for v in texts)
    if not odd and len(records) < 50 and all(any(v not in (None, "") for v in record) for record in records):
        made["Excel"] = lambda: sheet([list(table), *map(list, records)], folder)
    return made


def parquet_file(own: Any, rng: np.random.Generator, folder: Path) -> Path:
    """A file whose neighbours, which its name may mean as a pattern, have other rows."""
    for name in ("t1", "ab", "axb", "t2"):
        pyarrow.parquet.write_table(pyarrow.table({"p": [0.5], "y": [0], "w": [1.0]}), folder / f"{name}.parquet")
    pyarrow.parquet.write_table(own, str(folder / "own"), row_group_size=int(rng.choice([1, 7, 100])))
    return (folder / "own").rename(folder / f"{rng.choice(ODD_PATHS)}.parquet")


def json_lines(table: Table, rng: np.random.Generator, folder: Path) -> Path:
    path = folder / f"{rng.choice(ODD_PATHS)}.jsonl"
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    path.write_text("".join(json.dumps(row, ensure_ascii=bool(rng.integers(2))) + "\n" for row in rows), "utf-8")
    return path


def sheet(records: list[list[Any]], folder: Path) -> Path:
    book = openpyxl.Workbook()
    for record in records:
        book.active.append(record)
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def text_file(table: Table, rng: np.random.Generator, folder: Path, ragged: bool = False) -> Path:
    for name in ("t1", "ab", "axb", "t2"):
        (folder / f"{name}.csv").write_text("p,y,w\n0.5,0,1\n")
    delimiter, newline = str(rng.choice([",", ";", "\t", "|"])), str(rng.choice(["\n", "\r\n", "\r", "mixed"]))
    always = rng.random() < 0.3

    def cell(value: Any) -> str:
        text = "" if value is None else str(value)
        needs = (
            always or any(sign in text for sign in (",", ";", "\t", "|", '"', "\n", "\r", "'")) or text != text.strip()
        )
        return '"' + text.replace('"', '""') + '"' if needs and value is not None else text

    records = [list(map(cell, record)) for record in [list(table), *zip(*table.values(), strict=True)]]
    if ragged:
        records[rng.integers(1, len(records))].extend(["more", "cells"])
    lines = [delimiter.join(record) for record in records]
    lines[:0] = [""] * int(rng.choice([0, 0, 0, 1, 2]))
    ends = [str(rng.choice(["\n", "\r\n"])) if newline == "mixed" else newline for _ in lines]
    ends[-1] = "" if rng.random() < 0.2 else ends[-1]
    content = "".join(line + end for line, end in zip(lines, ends, strict=True))
    encoding = str(rng.choice(["utf-8", "utf-8-sig", "utf-16", "latin-1", "utf-32"], p=[0.6, 0.1, 0.1, 0.1, 0.1]))
    path = folder / (str(rng.choice(ODD_PATHS)) + str(rng.choice([".csv", ".txt", ".csv.gz", ""])))
    data = content.encode("utf-8" if encoding == "latin-1" and max(content) > "\xff" else encoding)
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    return path


def same(found: Outcome, expected: Outcome) -> bool:
    if found[0] != expected[0]:
        return False
    if found[0] == "refused":
        return bool(found[1] == expected[1])
    return found[1][1:] == expected[1][1:] and found[1][0] == pytest.approx(expected[1][0], rel=1e-9, nan_ok=True)


def differing(seed: int, folder: Path, spark: Any = None) -> list[Any]:
    """The doors that give another answer, or another refusal, than the columns in memory: text and one more."""
    rng = np.random.default_rng([seed, 77])
    table, options = random_table(rng)
    expected = outcome(lambda: evaluate(table, **asked(options)))
    folder.mkdir()
    if spark is None and rng.random() < 0.2:
        ragged = text_file(table, rng, folder, ragged=True)
        with contextlib.suppress(InputError):
            return [(seed, "ragged", str(ragged)[-40:], evaluate(ragged, **asked(options)))]
        return []
    wrong = []
    made = doors(table, rng, folder)
    for door in ("text", rng.choice([name for name in made if name != "text"])):
        source = made[door]()
        stream = bool(rng.integers(2)) if door not in ("Arrow", "pandas", "polars") else None
        found = outcome(lambda s=source, how=stream: evaluate(s, stream=how, **asked(options)))
        if not same(found, expected):
            wrong.append((seed, door, stream, str(source)[-40:], found, expected, options))
    if spark is not None:
        pyarrow.parquet.write_table(arrow(table), folder / "spark.parquet")
        frame = spark.read.parquet(str(folder / "spark.parquet"))
        found = outcome(lambda: evaluate(frame, **asked(options)))
        if not same(found, expected):
            wrong.append((seed, "Spark", found, expected, options))
    return wrong


@pytest.mark.parametrize("part", range(4))
def test_random_files_read_as_their_columns(part: int, tmp_path: Path) -> None:
    for seed in range(part * FILES // 4, (part + 1) * FILES // 4):
        assert not differing(seed, tmp_path / str(seed))


@pytest.mark.integration
@pytest.mark.parametrize("part", range(20))
def test_two_thousand_random_files_read_as_their_columns(part: int, tmp_path: Path) -> None:
    wrong = [w for seed in range(100 * part, 100 * part + 100) for w in differing(seed, tmp_path / str(seed))]
    assert not wrong, wrong[:5]


@pytest.mark.integration
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")
def test_random_tables_read_on_spark_as_their_columns(spark: Any, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.caseSensitive", "true")  # some tables have y beside Y
    try:
        wrong = [w for seed in range(3000, 3030) for w in differing(seed, tmp_path / str(seed), spark)]
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    assert not wrong, wrong[:5]

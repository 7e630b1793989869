"""Random odd files, written in random ways: every door gives what the columns in memory give, or refuses as they do."""

from __future__ import annotations

import gzip
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from cutline.tables import evaluate_table
from test_sources import Outcome, Table, arrow, asked, outcome

FILES = int(os.environ.get("CUTLINE_RANDOM_FILES", "60"))
ODD_TEXT = ["", "#", "a,b", 'say "yes"', "two\nlines", "ünï", "'", "; |", "\t", "NULL", "0", " x ", "1_000", "{}", "%s"]
ODD_NAMES = ["id", "#", "note, or not", 'a "name"', "Y", "P", "select", "cutline_row", "ä", "x'y", "kept", "score", "n"]


def random_table(rng: np.random.Generator) -> tuple[Table, dict[str, Any]]:
    """Labels, scores and sometimes weights, mostly good, with columns beside them that nobody asked for."""
    n = int(rng.choice([1, 2, 3, 10, 200]))
    table: Table = {}
    for name in rng.choice(ODD_NAMES, size=rng.integers(0, 4), replace=False).tolist():
        table[name] = [str(rng.choice(ODD_TEXT)) for _ in range(n)]
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


def written(table: Table, rng: np.random.Generator, folder: Path) -> list[tuple[str, Path]]:
    """The table as text in a random dialect, as JSON lines, and as Parquet with random row groups."""
    files = [("text", text_file(table, rng, folder))]
    own = arrow(table)
    parquet = folder / "t.parquet"
    pyarrow.parquet.write_table(own, parquet, row_group_size=int(rng.choice([1, 7, 100])))
    files.append(("Parquet", parquet))
    if all(v is None or not isinstance(v, float) or math.isfinite(v) for c in table.values() for v in c):
        lines = folder / "t.jsonl"
        rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        lines.write_text("".join(json.dumps(row, ensure_ascii=bool(rng.integers(2))) + "\n" for row in rows), "utf-8")
        files.append(("JSON lines", lines))
    return files


def text_file(table: Table, rng: np.random.Generator, folder: Path) -> Path:
    delimiter, newline = str(rng.choice([",", ";", "\t", "|"])), str(rng.choice(["\n", "\r\n"]))
    always = rng.random() < 0.3

    def cell(value: Any) -> str:
        text = "" if value is None else str(value)
        needs = (
            always or any(sign in text for sign in (",", ";", "\t", "|", '"', "\n", "\r", "'")) or text != text.strip()
        )
        return '"' + text.replace('"', '""') + '"' if needs and value is not None else text

    records = [list(table), *zip(*table.values(), strict=True)]
    content = newline.join(delimiter.join(map(cell, record)) for record in records)
    content += "" if rng.random() < 0.2 else newline
    encoding = str(rng.choice(["utf-8", "utf-8-sig", "utf-16", "latin-1"], p=[0.7, 0.1, 0.1, 0.1]))
    path = folder / str(rng.choice(["t.csv", "t.txt", "t.csv.gz", "no ending"]))
    data = content.encode(encoding)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def same(found: Outcome, expected: Outcome) -> bool:
    if found[0] != expected[0]:
        return False
    if found[0] == "refused":
        return bool(found[1] == expected[1])
    return found[1][1:] == expected[1][1:] and found[1][0] == pytest.approx(expected[1][0], rel=1e-9, nan_ok=True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("part", range(4))
def test_random_files_read_as_their_columns(part: int, tmp_path: Path) -> None:
    for seed in range(part * FILES // 4, (part + 1) * FILES // 4):
        rng = np.random.default_rng([seed, 77])
        table, options = random_table(rng)
        expected = outcome(lambda t=table, o=options: evaluate_table(t, **asked(o)))
        folder = tmp_path / str(seed)
        folder.mkdir()
        for door, path in written(table, rng, folder):
            for stream in (False, True):
                found = outcome(lambda p=path, s=stream, o=options: evaluate_table(p, stream=s, **asked(o)))
                assert same(found, expected), (seed, door, stream, path, found, expected, options)

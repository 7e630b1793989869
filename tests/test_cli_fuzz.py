"""Odd values for every option of every command: an answer or one line, never a traceback."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from cutline.commands.group import COMMANDS, cli

ODD = [
    *("", " ", "-1", "0", "1", "2", "0.5", "1e308", "-1e308", "1e-320", "nan", "inf", "-inf", "1_000", "0x10", "１２"),
    *("99999999999999999999", "100%", "0%", "50%", "-5%", "1e5%", "%", "5 %", "20-60", "60-20", "5%-10%"),
    *(
        "*",
        "?",
        "[",
        "p_*",
        "y",
        "p",
        "q",
        "name",
        "nothing",
        "'; DROP TABLE x; --",
        "é",
        "\u202e",
        "\x1b[2J",
        "{quota}",
    ),
    *("hit_rate@5", "f_beta(beta=2)", "f_beta(beta=", "pem@", "@", "roc_auc(threshold=1)", "100,1000", "2,1,x", "1KB"),
]
OUTPUTS = {"html", "plot", "output", "temp_directory"}  # these take paths, tried by themselves
SKIPPED = {"experiment", "demo"}  # these take no options of this kind


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("fuzz")
    rows = random.Random(0)
    lines = []
    for k in range(40):
        p = rows.random()
        of_classes = ",".join(f"{rows.random():.4f}" for _ in range(3))
        lines.append(f"{int(rows.random() < p)},{p:.4f},{rows.random():.4f},n{k % 3},{k % 2},{of_classes}")
    usual = folder / "usual.csv"
    usual.write_text("y,p,q,name,t,s_n0,s_n1,s_n2\n" + "\n".join(lines) + "\n")
    strange = {
        "empty.csv": b"",
        "header.csv": b"y,p\n",
        "one.csv": b"y,p\n1,0.5\n",
        "zeros.csv": b"y,p\n" + b"0,0.5\n" * 5,
        "text.csv": b"y,p\n1,abc\n0,def\n",
        "bytes.csv": bytes(range(256)),
        "huge.csv": b"y,p\n1,1e308\n0,-1e308\n1,1e-320\n0,5\n",
        "infinite.csv": b"y,p\n1,inf\n0,-inf\n1,2\n0,nan\n",
        "ragged.csv": b"y,p\n1\n0,1,2,3\n",
        "quotes.csv": b'y,p\n"1,0.5\n0,0.2\n',
        "no.parquet": b"PAR1 not at all",
        "x.json": b"[1, 2",
        "blank.csv": b",,\n,,\n",
    }
    for name, content in strange.items():
        (folder / name).write_bytes(content)
    return {"usual": usual, **{name: folder / name for name in strange}}


def _said(arguments: list[str]) -> str:
    """Run a command; give what is wrong with how it ended, or nothing."""
    result = CliRunner().invoke(cli, arguments)
    if result.exit_code not in (0, 1, 2, 3, 4):
        return f"exit status {result.exit_code}"
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return repr(result.exception)
    if result.exit_code and "Traceback" in result.output:
        return "traceback"
    if result.exit_code in (1, 2) and not result.stderr.strip():
        return "no word"
    return ""


def _base(call: str, path: Path) -> list[str]:
    """A command line that works."""
    one, quick = ["--label", "y", "--score", "p"], ["--resamples", "10"]
    two = [*one, "--score", "q"]
    more = {
        "doctor": [],
        "evaluate": [*one, *quick],
        "evaluate --inclusion": ["1", *one],
        "compare": [*two, *quick],
        "check": ["roc_auc > 0", *one, *quick],
        "select": ["--score", "p", "--quota", "3"],
        "cut": [*one, "--recall", ".5", *quick],
        "plan": [*one, "--cost", "1", "--value", "3", *quick],
        "screen": ["--label", "y", "--stage", "p=50%", "--stage", "q=3", *quick],
        "uplift": ["--treated", "t", "--outcome", "y", "--score", "p"],
        "vote": [*two, *quick],
        "label-plan": ["--score", "p", "--budget", "9", "--measure", "roc_auc"],
        "extrapolate": ["--label", "name", "--score", "s_*", "--no-intervals"],
    }
    command, *option = call.split()
    if call == "sql":  # it reads no rows; a file may be the result of its query
        return ["sql", *one, "--table", "t", "--dialect", "postgres"]
    return ["measures"] if call == "measures" else [command, str(path), *option, *more[call]]


CALLS = [*(name for name in COMMANDS if name not in SKIPPED), "evaluate --inclusion"]


def _options(call: str) -> list[click.Option]:
    found = cli.get_command(click.Context(cli), call.split()[0])
    assert found is not None
    return [p for p in found.params if isinstance(p, click.Option) and not p.is_flag and p.name not in OUTPUTS]


def _tries() -> list[tuple[str, str, str]]:
    return [(call, option.opts[-1], value) for call in CALLS for option in _options(call) for value in ODD]


def test_odd_values_of_options(files: dict[str, Path]) -> None:
    """Some hundred of them; CUTLINE_FUZZ=all tries every one."""
    tries = _tries()
    assert len(tries) > 2000
    chosen = tries if os.environ.get("CUTLINE_FUZZ") == "all" else random.Random(7).sample(tries, 150)
    broken: dict[str, Any] = {}
    for call, option, value in chosen:
        said = _said([*_base(call, files["usual"]), option, value])
        if said:
            broken[f"{call} {option} {value!r}"] = said
    assert broken == {}


def test_every_call_works(files: dict[str, Path]) -> None:
    for call in CALLS:
        done = CliRunner().invoke(cli, _base(call, files["usual"]))
        assert done.exit_code == 0, (call, done.output)


@pytest.mark.parametrize("call", [call for call in CALLS if call != "measures"])
def test_odd_files(call: str, files: dict[str, Path], tmp_path: Path) -> None:
    broken = {}
    for name in [*files, "absent.csv", ".", "", "-x"]:
        path = files.get(name, Path(name))
        tried = [_base(call, path), [call.split()[0], str(path)]]
        if call == "sql":
            tried += [["sql", "--refine", str(path), "--quota", "3"], [*_base(call, path), "--edges", str(path)]]
        for arguments in tried:
            said = _said(arguments)
            if said:
                broken[f"{name}: {arguments}"] = said
    assert broken == {}


def test_odd_outputs(files: dict[str, Path], tmp_path: Path) -> None:
    usual = files["usual"]
    broken = {}
    for value in ("", ".", "/", "/nowhere/x.csv", "/dev/full", str(tmp_path), str(usual), "x" * 300 + ".csv"):
        for arguments in (
            [*_base("select", usual), "-o", value],
            [*_base("evaluate", usual), "--html", value],
            [*_base("evaluate", usual), "--plot", value],
            [*_base("plan", usual), "--plot", value],
        ):
            said = _said(arguments)
            if said:
                broken[str(arguments)] = said
    assert broken == {}

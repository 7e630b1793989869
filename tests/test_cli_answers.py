"""What the commands answer: a default that fits a screen, the cut in full, pictures, and plans in plain words."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutline as cl
from cutline.decide.planning import amount
from test_cli import EXAMPLE, FAST, refused, run

ONE = ("evaluate", EXAMPLE, "--label", "completed", "--score", "logistic", *FAST)


def test_the_default_fits_a_screen_and_all_prints_the_catalogue() -> None:
    short = run(*ONE, "--quota", 20).stdout.splitlines()
    assert len(short) <= 30
    assert short[0].startswith("With 20 places, logistic finds 16 of the 87 positives")
    assert short[1].startswith("logistic: 400 rows, 87 positive")
    assert not any("pem" in line for line in short)
    assert len(run(*ONE, "--quota", 20, "--all").stdout.splitlines()) > 50


def test_the_confusion_matrix_is_in_the_table_and_in_the_document() -> None:
    text = run(*ONE, "--quota", 20).stdout
    cells = dict(re.findall(r"\b(\d+) (TP|FN|FP|TN)\b", text))
    assert cells == {"16": "TP", "71": "FN", "4": "FP", "309": "TN"}
    point = json.loads(run(*ONE, "--quota", 20, "--format", "json").stdout)["operating_point"]
    assert (point["tp"], point["fp"], point["fn"], point["tn"]) == (16, 4, 71, 309)
    assert point["next_hits_low"] <= 16 <= point["next_hits_high"]
    at_half = json.loads(run(*ONE, "--format", "json").stdout)["operating_point"]
    assert at_half["threshold"] == 0.5


@pytest.mark.parametrize("columns", [80, 120])
def test_a_terminal_shows_the_names_of_rows(columns: int) -> None:
    """Tables for a terminal are drawn by other code than those for a pipe."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    words = [
        sys.executable,
        "-c",
        "from cutline.cli import main; main()",
        *(str(word) for word in ONE),
        "--quota",
        "20",
    ]
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}
    process = subprocess.Popen(words, stdout=theirs, stderr=subprocess.DEVNULL, env=environment)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the end of a terminal whose program has ended
        while piece := os.read(ours, 65536):
            shown += piece
    os.close(ours)
    assert process.wait() == 0
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())
    for name in ("positive", "negative", "all"):
        assert re.search(rf"(?m)^ *{name}\b", text), text


def test_rows_left_out_are_in_the_headline(tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text("y,p\n1,.9\n0,\n0,.4\n1,.7\n,.5\n0,.2\n")
    lines = run("evaluate", path, "--label", "y", "--score", "p", "--missing", "drop", *FAST).stdout.splitlines()
    assert lines[1] == "p: 4 rows, 2 positive (50.0%); 2 rows without label or score left out"


def test_quiet_says_nothing_beside_the_result(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("y,p\n1,.9\n0,.3\n0,.4\n1,.7\n")
    assert "label: column 'y'" in run("evaluate", path, *FAST).stderr
    assert run("evaluate", path, "--quiet", *FAST).stderr == ""


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_pictures(ending: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    two = ("compare", EXAMPLE, "--label", "completed", "--score", "tree", "--score", "network", *FAST)
    for name, command in {
        "one": (*ONE, "--quota", 20),
        "two": two,
        "plan": ("plan", EXAMPLE, "--label", "completed", "--score", "tree", "--cost", 1, "--value", 3, *FAST),
    }.items():
        path = tmp_path / f"{name}.{ending}"
        assert f"picture: {path}" in run(*command, "--plot", path).stderr
        assert path.read_bytes().startswith(start)


def test_a_picture_of_one_kind(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    both = [tmp_path / "all.svg", tmp_path / "roc.svg"]
    run(*ONE, "--plot", both[0])
    run(*ONE, "--plot", both[1], "--plot-kind", "roc")
    assert all(path.read_text(encoding="utf-8").count('id="axes_') == 1 for path in both)
    assert refused(*ONE, "--plot", both[1], "--plot-kind", "rok") == "--plot-kind is 'rok'; did you mean 'roc'?"
    assert refused(*ONE, "--plot-kind", "roc") == "--plot-kind needs a file to draw into; add --plot PATH"
    for kind in ("roc", "precision_recall"):
        run(*ONE, "--plot", both[1], "--plot-kind", kind)
        assert "score &gt; 0.4" not in Path(both[1]).read_text()
        run(*ONE, "--plot", both[1], "--plot-kind", kind, "--threshold", 0.4)
        assert "score &gt; 0.4" in Path(both[1]).read_text()


def test_a_picture_of_no_known_kind_is_refused() -> None:
    assert refused(*ONE, "--plot", "x.bmp") == "--plot ends in '.bmp'; end it in .png, .svg or .pdf"


def test_only_clear_leads_are_printed(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    good = rng.random(300)
    y = rng.random(300) < good
    path = tmp_path / "s.csv"
    lines = (f"{int(a)},{b:.6f},{c:.6f}\n" for a, b, c in zip(y, good, rng.random(300), strict=True))
    path.write_text("y,good,bad\n" + "".join(lines))
    clear = run("compare", path, "--pairs", *FAST).stdout
    rows = clear.partition("Clear leaders by quota")[2].splitlines()
    assert any(re.match(r"\d+ to \d+ +good +\d+\.\d$", row.strip()) for row in rows)
    assert not any(re.match(r"\d.* bad ", row) for row in rows)


def test_a_plan_says_what_to_expect_in_round_numbers(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    p = rng.random(300)
    y = rng.random(300) < p * 0.5
    path = tmp_path / "s.csv"
    path.write_text("y,p\n" + "".join(f"{int(a)},{b:.6f}\n" for a, b in zip(y, p, strict=True)))
    text = run("plan", path, "--cost", 2, "--value", 7, *FAST).stdout
    plan = cl.plan(y, p.round(6), cost=2, value=7, n_resamples=50)
    shown = plan.amounts
    expected = f"expect {shown['expected']} (95% interval {shown['low']} to {shown['high']}) on new data like these."
    assert f"About {shown['optimism']} of this profit is optimism from choosing the best cut; {expected}" in text
    table = dict(re.split(r"  +", line.strip()) for line in text.splitlines() if re.search(r"\S  +\S", line))
    assert table["profit on these data"] == shown["profit"]
    assert table["optimism in the profit"] == shown["optimism"]
    assert table["profit to expect"] == shown["expected"]
    assert table["interval of the profit to expect"] == f"{shown['low']} … {shown['high']}"
    assert shown["expected"] == amount(plan.expected_profit, plan.profit.high - plan.profit.low)
    assert plan.expected_profit == plan.profit.value - plan.optimism
    assert plan.plot().get_ylabel() == "profit"


def test_a_picture_answers_what_was_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    from click.testing import CliRunner

    from cutline.commands.group import cli
    from cutline.present import plots

    drawn, real = [], plots.plot

    def plot(result: Any, kind: str, **options: Any) -> None:
        if kind == "batches":  # which need a number of places
            real(result, kind, **options)
        drawn.append(kind)

    monkeypatch.setattr(plots, "plot", plot)
    rng = np.random.default_rng(1)
    y = rng.random(200) < 0.4
    p, q = (np.clip(0.4 + 0.3 * (y - 0.4) + 0.1 * rng.normal(size=200), 0.01, 0.99) for _ in range(2))
    rows = np.column_stack([y, p, q, np.arange(200) % 4, rng.random(200)])
    path = tmp_path / "rows.csv"
    np.savetxt(path, rows, delimiter=",", header="y,p,q,day,amount", comments="", fmt="%.6g")
    one = ["evaluate", path, "--label", "y", "--score", "p"]
    two = ["compare", path, "--label", "y", "--score", "p", "--score", "q"]
    for asked, kind in (
        ([*one], "roc"),
        ([*one, "--calibration"], "calibration"),
        ([*one, "--quota", 20], "found"),
        ([*one, "--quota", 20, "--list-size", 900], "list_size"),
        ([*one, "--quota", 5, "--batch", "day"], "batches"),
        ([*one, "--batch", "day"], "roc"),
        ([*one, "--quota", 20, "--worth", "amount"], "forest"),
        ([*one, "--quota", 20, "--by", "day"], "segments"),
        ([*two, "--cost-fp", 1, "--cost-fn", 4], "expected_cost"),
        ([*two, "--cost-fp", 1, "--cost-fn", 4, "--plot-kind", "gain"], "gain"),
    ):
        words = [*asked, "--plot", tmp_path / "x.png", *FAST]
        done = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        assert drawn[-1] == kind, asked


def test_unknown_kinds_of_plots_are_listed_once(tmp_path: Path) -> None:
    said = refused(*ONE, "--plot", tmp_path / "x.png", "--plot-kind", "xyz")
    kinds = said.partition("choose one of ")[2].split(", ")
    assert "calibration" in kinds
    assert len(kinds) == len(set(kinds))

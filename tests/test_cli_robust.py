"""What a command leaves behind: outputs, exit statuses after signals, and a terminal that names cannot steer."""

from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from cutline.runtime import write_whole
from test_cli import EXAMPLE, refused, run, shell

MAIN = [sys.executable, "-c", "from cutline.cli import main; main()"]
SELECT = ("select", EXAMPLE, "--score", "logistic", "--quota", "20", "-o")


def test_a_file_that_is_replaced_keeps_its_rights_and_links(tmp_path: Path) -> None:
    goal, link = tmp_path / "chosen.csv", tmp_path / "link.csv"
    goal.write_text("old")
    goal.chmod(0o600)
    link.symlink_to(goal)
    run(*SELECT, link)
    assert link.is_symlink()
    assert stat.S_IMODE(goal.stat().st_mode) == 0o600
    assert goal.read_text().startswith("place,")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["chosen.csv", "link.csv"]


def test_pipes_and_devices_are_written_to_and_stay(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    run(*SELECT, pipe)
    reader.join(60)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert len(read[0].splitlines()) == 21
    run(*SELECT, "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert len(shell(*SELECT, "/dev/stdout").stdout.splitlines()) == 21


def test_the_file_that_is_read_is_not_overwritten(tmp_path: Path) -> None:
    source, link = tmp_path / "f.csv", tmp_path / "link.csv"
    source.write_text(EXAMPLE.read_text())
    link.symlink_to(source)
    for goal in (source, link):
        said = refused("select", source, "--score", "logistic", "--quota", 2, "-o", goal)
        assert said == f"-o {goal}: that file is an input (FILE); give another name"
    assert source.read_text() == EXAMPLE.read_text()


def _break_off(goal: Path) -> None:
    with write_whole(goal) as beside:
        beside.write_text("half")
        raise KeyError


def test_nothing_changes_where_writing_fails(tmp_path: Path) -> None:
    goal = tmp_path / "page.html"
    goal.write_text("old")
    with pytest.raises(KeyError):
        _break_off(goal)
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]
    assert goal.read_text() == "old"


def test_signs_that_steer_a_terminal_are_shown_not_sent(tmp_path: Path) -> None:
    evil = "p\x1b[2J\x9b\u202e\x07"
    path = tmp_path / f"{evil}.csv"
    path.write_text(f'y,"{evil}"\n1,.9\n0,.2\n1,.6\n0,.7\n')
    for form in ("table", "markdown", "json"):
        done = shell("evaluate", path, "--format", form, "--no-intervals")
        assert done.returncode == 0, done.stderr
        assert not {"\x1b", "\x9b", "\u202e", "\x07"} & set(done.stdout + done.stderr)
    done = shell("evaluate", path, "--score", evil + "x")
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert "\\x1b[2J" in done.stderr


def test_data_that_ends_early_is_not_called_an_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    from cutline.commands import start
    from cutline.commands.group import cli

    def end(*_: Any, **how: Any) -> None:
        raise EOFError("compressed file ended before its end mark")

    monkeypatch.setattr(start, "say", end)
    from click.testing import CliRunner

    result = CliRunner().invoke(cli, ["measures"])
    assert result.exit_code == 1
    assert result.stderr == "cutline: unexpected end of data: compressed file ended before its end mark\n"


def _catches(process: subprocess.Popen[str]) -> bool:
    """Whether the program has set its own handler for SIGTERM."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return False
    caught = next((int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigCgt")), 0)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_command_at_any_moment_with_one_line_and_no_files(number: int, tmp_path: Path) -> None:
    word = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}[signal.Signals(number)]
    moments = random.Random(int(number))
    goals, temporary = tmp_path / "out", tmp_path / "tmp"
    goals.mkdir()
    temporary.mkdir()
    page = ["--html", goals / "page.html"] if number == signal.SIGINT else ["--engine", "duckdb"]
    command = [*MAIN, "evaluate", EXAMPLE, "--label", "completed", "--score", "logistic", "--resamples", "20000", *page]
    stopped = 0
    for _ in range(8):
        with subprocess.Popen(
            list(map(str, command)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(temporary)},
        ) as process:
            while not _catches(process) and process.poll() is None:
                time.sleep(0.002)
            time.sleep(moments.random() * 2.5)
            process.send_signal(number)
            _, said = process.communicate(timeout=60)
        if process.returncode == 128 + number:
            stopped += 1
            assert said.removeprefix(f"page: {goals / 'page.html'}\n") == f"cutline: {word}\n"
        else:  # it was done before the signal came
            assert process.returncode == 0, said
        assert list(temporary.iterdir()) == []
        assert all(path.name == "page.html" for path in goals.iterdir())
    assert stopped


def test_an_interrupt_during_a_bootstrap_leaves_one_line_and_no_new_file(tmp_path: Path) -> None:
    """The signal comes while replicates are drawn, for certain."""
    script = (
        "import time; from cutline.inference.resampling import Resampler; from cutline.cli import main\n"
        "def draw(*_): print('draws', flush=True); time.sleep(60)\n"
        "Resampler.vectors = draw; main()"
    )
    page = tmp_path / "page.html"
    page.write_text("old")
    asked = ["evaluate", EXAMPLE, "--label", "completed", "--score", "logistic", "--html", page]
    with subprocess.Popen(
        [sys.executable, "-c", script, *map(str, asked)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "draws\n"
        process.send_signal(signal.SIGINT)
        found = process.communicate(timeout=60)
    assert (process.returncode, *found) == (130, "", "cutline: interrupted\n")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]

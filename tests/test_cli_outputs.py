"""What commands write: never over a file that they read or write besides, whole or not at all, and safe to look at."""

from __future__ import annotations

import itertools
import os
import pty
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import click
import pytest

import cutline as cl
from cutline.commands.group import COMMANDS, cli
from cutline.commands.options import Command, InputFile, OutputFile
from cutline.runtime import write_whole
from test_cli import EXAMPLE, refused, run, shell

CONTENT = "y,p\n1,.9\n0,.2\n1,.6\n0,.7\n"
COMMAND = {name: cli.get_command(click.Context(cli), name) for name in COMMANDS}


def files_of(command: click.Command, kind: type[click.Path]) -> list[click.Parameter]:
    return [param for param in command.params if isinstance(param.type, kind)]


PAIRS = [
    (name, source, goal)
    for name, command in COMMAND.items()
    for source in files_of(command, InputFile)
    for goal in files_of(command, OutputFile)
]
TWINS = [
    (name, *pair)
    for name, command in COMMAND.items()
    for pair in itertools.permutations(files_of(command, OutputFile), 2)
]


def call(name: str, given: dict[str, object]) -> list[str]:
    """A call of a command with some files; what else it requires is made up."""
    words = [name]
    for param in COMMAND[name].params:
        if param.name in given or param.required:
            value = str(given.get(param.name, "1=1" if param.name == "stages" else "1"))
            words += [value] if isinstance(param, click.Argument) else [param.opts[0], value]
    return words


def test_every_command_declares_what_it_reads_and_writes() -> None:
    for command in COMMAND.values():
        assert isinstance(command, Command)
        for param in command.params:
            named = param.metavar in ("PATH", "FILE") or param.name in ("file", "output", "html", "plot")
            if named and param.name != "temp_directory":
                assert isinstance(param.type, InputFile | OutputFile), (command.name, param.name)
    assert len(PAIRS) >= 15
    assert len(TWINS) >= 6


@pytest.mark.parametrize(("name", "source", "goal"), PAIRS, ids=lambda p: p if isinstance(p, str) else p.name)
def test_no_output_is_an_input(
    name: str, source: click.Parameter, goal: click.Parameter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under any of its names: relative, linked, or one of the files of a pattern."""
    monkeypatch.chdir(tmp_path)
    first, other = tmp_path / "part-1.svg", tmp_path / "part-2.svg"
    for file in (first, other):
        file.write_text(CONTENT)
    (tmp_path / "soft.svg").symlink_to(first)
    os.link(first, tmp_path / "hard.svg")
    (tmp_path / "folder").mkdir()
    for given, written in [
        *[(first, out) for out in (first, "part-1.svg", "./folder/../part-1.svg", "no/../part-1.svg")],
        *[(first, out) for out in ("soft.svg", "hard.svg")],
        *[(pattern, "part-2.svg") for pattern in ("part-*.svg", "part-[12].svg", "*/../part-?.svg")],
        ("soft.svg", "part-1.svg"),
    ]:
        files = {"file": tmp_path / "elsewhere.csv", source.name: given, goal.name: written}
        said = refused(*call(name, files))
        argument = "COUNTS" if source.name == "more" else "FILE"
        shown = argument if isinstance(source, click.Argument) else source.opts[0]
        assert said == f"{goal.opts[0]} {written}: that file is an input ({shown}); give another name"
    assert first.read_text() == other.read_text() == CONTENT


@pytest.mark.parametrize(("name", "one", "two"), TWINS, ids=lambda p: p if isinstance(p, str) else p.name)
def test_no_output_is_another_output(name: str, one: click.Parameter, two: click.Parameter, tmp_path: Path) -> None:
    (tmp_path / "link.svg").symlink_to(tmp_path / "o.svg")
    for other in ("o.svg", "O.svg", "link.svg"):
        files = {"file": EXAMPLE, one.name: tmp_path / "o.svg", two.name: tmp_path / other}
        assert "that file is written by --" in refused(*call(name, files))
    assert not (tmp_path / "o.svg").exists()


def test_what_is_redirected_is_an_output_and_an_input(tmp_path: Path) -> None:
    path, command = tmp_path / "a.csv", [sys.executable, "-c", "from cutline.cli import main; main()"]
    path.write_text(CONTENT)
    chosen = ["select", "--score", "p", "--quota", "2"]
    for words, redirected in (([path], "stdout"), (["-", "-o", path], "stdin"), (["/dev/stdin", "-o", path], "stdin")):
        with open(path, "a" if redirected == "stdout" else "r") as stream:
            streams = {"stderr": subprocess.PIPE, "text": True, redirected: stream}
            done = subprocess.run([*command, *chosen, *map(str, words)], check=False, **streams)
        assert done.returncode == 2
        assert "that file is an input (FILE); give another name" in done.stderr
        assert path.read_text() == CONTENT
    with open(tmp_path / "out.csv", "w") as stream:
        subprocess.run([*command, *chosen, "/dev/stdin", "-o", "/dev/stdout"], input=CONTENT, text=True, stdout=stream)
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 3


def test_files_that_differ_in_case_are_two_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CONTENT)
    (tmp_path / "A.csv").write_text("other")
    if (tmp_path / "a.csv").read_text() != CONTENT:
        pytest.skip("this file system does not know case")
    run("select", tmp_path / "a.csv", "--score", "p", "--quota", 2, "-o", tmp_path / "A.csv")
    assert (tmp_path / "a.csv").read_text() == CONTENT


def test_new_files_have_the_rights_of_the_process_and_its_mask_stays(tmp_path: Path) -> None:
    ev = cl.evaluate([1, 0, 1, 0], [0.9, 0.2, 0.8, 0.4], interval=None)
    before = os.umask(0o027)
    try:
        seen: list[int] = []
        done = threading.Event()

        def watch() -> None:
            while not done.is_set():
                seen.append(int(Path("/proc/self/status").read_text().split("Umask:")[1].split()[0], 8))

        watcher = threading.Thread(target=watch)
        watcher.start()
        work = [threading.Thread(target=ev.to_html, args=(tmp_path / f"{k}.html",)) for k in range(6)]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()
        done.set()
        watcher.join()
        assert set(seen) == {0o027}
        assert os.umask(0o027) == 0o027
        rights = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("*.html")}
        assert rights == {0o640}
    finally:
        os.umask(before)


def _few_bytes() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


@pytest.mark.parametrize("there", [False, True])
def test_a_full_disk_leaves_what_was_there_and_names_the_file(there: bool, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    if there:
        page.write_text("old")
    words = ("evaluate", EXAMPLE, "--label", "completed", "--score", "logistic", "--no-intervals", "--html")
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # or compiled modules are cut off, too
    done = shell(*words, page, preexec_fn=_few_bytes, env=environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == f"cutline: {page}: File too large"
    assert [path.read_text() for path in tmp_path.iterdir()] == (["old"] if there else [])
    done = shell(*words, "/dev/full")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "cutline: /dev/full: No space left on device")


def test_an_error_without_a_name_gets_that_of_the_file(tmp_path: Path) -> None:
    def fill() -> None:
        with write_whole(tmp_path / "a.txt"):
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left on device") as error:
        fill()
    assert error.value.filename == str(tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


def on_terminal(*arguments: object) -> str:
    """What the real program sends to a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from cutline.cli import main; main()", *map(str, arguments)]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        sent = b""
        try:
            while piece := os.read(ours, 65536):
                sent += piece
        except OSError:  # Linux says so at the end
            pass
        process.wait(60)
    os.close(ours)
    return sent.decode()


def test_cells_do_not_steer_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('name,p\n"a\x1b[2Jb\x9b",.9\n"\u202ec",.8\nd,.1\n')
    sent = on_terminal("select", path, "--score", "p", "--quota", "2")
    assert "\\x1b[2J" in sent
    assert not {"\x1b", "\x9b", "\u202e"} & set(sent)
    piped = shell("select", path, "--score", "p", "--quota", "2").stdout
    assert "\x1b[2J" in piped  # a program gets the cells as they stand


BY = ["--by", "region"]


@pytest.mark.parametrize("more", [[], ["--quota", "10%"], ["--quota", "20-40"], BY, [*BY, "--format", "json"]], ids=str)
def test_a_page_does_not_change_what_is_printed(more: list[str], tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{int(k % 3 == 0)},{(k * 37 % 101 + 20 * (k % 3 == 0)) / 130:.3f},{'ns'[k % 2]}" for k in range(120)]
    path.write_text("\n".join(["y,p,region", *rows]) + "\n")
    words = ["evaluate", path, "--label", "y", "--score", "p", "--resamples", 50, *more]
    offer = " · --html report.html"  # of what was not given
    assert run(*words, "--html", tmp_path / "p.html").stdout == run(*words).stdout.replace(offer, "")


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["screen", EXAMPLE, "--label", "completed", "--stage", "tree=50", "--costs", "1,2,3"], "--costs"),
        (["screen", EXAMPLE, "--label", "completed", "--stage", "tree=50", "--costs", "-1"], "--costs"),
        (["check", EXAMPLE, "nonsense > 1", "--label", "completed", "--score", "tree"], "the measure of the condition"),
        (
            ["check", EXAMPLE, "hit_rate@9999 > 0", "--label", "completed", "--score", "tree"],
            "the quota of the condition",
        ),
    ],
)
def test_messages_name_the_option_that_was_typed(words: list[object], option: str) -> None:
    said = refused(*words)
    assert option in said
    known = {opt for param in COMMAND[str(words[0])].params for opt in param.opts}
    assert {part.strip(";:,.()") for part in said.split() if part.startswith("--")} <= known, said

"""The commands that the documentation prints run as printed."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cutline import __version__
from cutline.commands.group import cli

ROOT = Path(__file__).parents[1]
PAGES = {page.name: page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md")}
LINES = sorted(
    {
        line
        for name in ("command-line.md", "cheat-sheet.md")
        for block in re.findall(r"```sh\n(.*?)```", PAGES[name], re.DOTALL)
        for line in block.splitlines()
        if ("cutline " in line and "examples/" in line) or line.startswith("cutline measures")
    }
)
TRANSCRIPTS = [
    (name, command, shown)
    for name in ("first-steps.md", "how-do-i.md")
    for command, shown in re.findall(r"```text\n\$ cutline (.*?)\n(.*?)```", PAGES[name], re.DOTALL)
]


def test_there_are_lines_to_run() -> None:
    assert len(LINES) >= 7


def _example(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (folder / "examples").mkdir()
    monkeypatch.chdir(folder)
    return Path(shutil.copy(ROOT / "examples" / "applicants.csv", folder / "examples"))


@pytest.mark.parametrize(("page", "command", "shown"), TRANSCRIPTS, ids=[name for name, _, _ in TRANSCRIPTS])
def test_printed_output_is_what_comes_out(
    page: str, command: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each stretch of output between dots is printed as shown, in that order; lines may be wrapped on the page."""
    _example(tmp_path, monkeypatch)
    printed = " ".join(CliRunner().invoke(cli, shlex.split(command), catch_exceptions=False).stdout.split())
    shown = re.sub(r"\bcutline \d[\d.]*", f"cutline {__version__}", shown)  # a page need not change with the version
    for stretch in filter(None, (" ".join(part.split()) for part in re.split(r"^…$", shown, flags=re.MULTILINE))):
        _, found, printed = printed.partition(stretch)
        assert found, f"{page}: {stretch}"


def test_every_option_of_every_command_is_in_the_guide() -> None:
    guide = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        assert re.search(rf"(cutline |`){name}\b", guide) or name == "experiment", name
        for option in (opt for param in command.params for opt in param.opts if opt.startswith("--")):
            assert re.search(rf"`[^`]*{option}(?![\w-])", guide), (name, option)


@pytest.mark.parametrize("line", LINES)
def test_printed_line_runs(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = _example(tmp_path, monkeypatch)
    before, _, command = line.rpartition("cutline ")
    given = example.read_bytes() if before.startswith("cat ") else None
    quick = ["--resamples", "40"] if command.split()[0] not in ("doctor", "select", "measures") else []
    result = CliRunner().invoke(cli, [*shlex.split(command), *quick], input=given, catch_exceptions=False)
    assert result.exit_code == 0
    assert result.stdout or (tmp_path / "chosen.csv").exists()

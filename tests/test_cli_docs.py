"""The commands that the documentation prints run as printed."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cutline.commands.group import cli

ROOT = Path(__file__).parents[1]
PRINTED = re.search(r"```sh\n(.*?)```", (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8"), re.DOTALL)
assert PRINTED is not None
LINES = [line for line in PRINTED[1].splitlines() if "cutline demo" not in line]  # the demo has tests of its own


def test_there_are_lines_to_run() -> None:
    assert len(LINES) >= 7


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
    (tmp_path / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "applicants.csv", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    before, _, command = line.rpartition("cutline ")
    given = (tmp_path / "examples" / "applicants.csv").read_bytes() if before.startswith("cat ") else None
    quick = ["--resamples", "40"] if command.split()[0] not in ("doctor", "select", "measures") else []
    result = CliRunner().invoke(cli, [*shlex.split(command), *quick], input=given, catch_exceptions=False)
    assert result.exit_code == 0
    assert result.stdout or (tmp_path / "chosen.csv").exists()

"""What a type checker tells a user of the installed package: py.typed is there, and the types are real."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "tests" / "packages"


def mypy(script: Path, elsewhere: Path) -> subprocess.CompletedProcess[str]:
    """As a user runs it: strict, without this project's settings, and away from its folder."""
    options = ["--strict", "--config-file=", "--no-error-summary", "--cache-dir", str(ROOT / ".mypy_cache" / "user")]
    command = [sys.executable, "-m", "mypy", *options, "--python-executable", sys.executable, str(script)]
    return subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, timeout=600)


@pytest.mark.integration
@pytest.mark.xdist_group("mypy")  # they share a cache
def test_a_users_script_is_understood(tmp_path: Path) -> None:
    done = mypy(SCRIPTS / "typed_right.py", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.integration
@pytest.mark.xdist_group("mypy")
def test_every_mistake_is_found(tmp_path: Path) -> None:
    script = SCRIPTS / "typed_wrong.py"
    wanted = {
        (number, line.rpartition("# ")[2])
        for number, line in enumerate(script.read_text(encoding="utf-8").splitlines(), start=1)
        if "  # " in line
    }
    done = mypy(script, tmp_path)
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    found = {(int(line.split(":")[-3]), line.rpartition("[")[2].rstrip("]")) for line in errors}
    assert len(wanted) == 7
    assert found == wanted, done.stdout

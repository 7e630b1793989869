"""The example repository for continuous integration works, and its page says what is in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "ci"
GUIDE = (ROOT / "docs" / "continuous-integration.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("limits", "status"), [(None, 0), ("roc_auc >= 0.99\n", 3), ("roc_auc >= 0.7\n", 4)])
def test_the_script_gives_the_status_of_the_limits(limits: str | None, status: int, tmp_path: Path) -> None:
    for file in EXAMPLE.iterdir():
        shutil.copy(file, tmp_path)
    if limits is not None:
        (tmp_path / "limits.txt").write_text(limits, encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = ["sh", str(tmp_path / "check_model.sh"), str(ROOT / "examples" / "applicants.csv")]
    done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stdout + done.stderr


def test_the_page_shows_the_files() -> None:
    limits = [line for line in (EXAMPLE / "limits.txt").read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    assert "\n".join(limits) in GUIDE
    steps = yaml.safe_load((EXAMPLE / "workflow.yml").read_text(encoding="utf-8"))["jobs"]["check"]["steps"]
    shown = yaml.safe_load(GUIDE.partition("```yaml\n")[2].partition("```")[0])
    assert {step["run"] for step in shown} <= {step["run"] for step in steps if "run" in step}

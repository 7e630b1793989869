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


@pytest.mark.parametrize(
    ("conditions", "undecided", "status", "verdict"),
    [
        ("roc_auc >= 0.6\n# a remark\n\nhit_rate@20 >= 0.3", "fail", 0, "pass"),
        ("roc_auc >= 0.99", "fail", 3, "fail"),
        ("roc_auc >= 0.7", "fail", 4, "undecided"),
        ("roc_auc >= 0.7", "warn", 0, "undecided"),
        ("no_such_measure >= 0.7", "warn", 2, None),
    ],
)
def test_the_gate_gives_its_verdict_and_a_summary(
    conditions: str, undecided: str, status: int, verdict: str | None, tmp_path: Path
) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    words = {"FILE": str(ROOT / "examples" / "applicants.csv"), "LABEL": "completed", "SCORE": "network"}
    written = {"SUMMARY": str(tmp_path / "summary.md"), "GITHUB_OUTPUT": str(tmp_path / "output")}
    asked = {"CONDITIONS": conditions, "UNDECIDED": undecided, "OPTIONS": "--seed\n0\n"}
    command = ["bash", str(EXAMPLE / "gate.sh")]
    environment = {**os.environ, "PATH": path, **words, **written, **asked}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stdout + done.stderr
    if verdict is None:
        assert "no_such_measure" in done.stderr
        assert not (tmp_path / "summary.md").exists()
    else:
        assert (tmp_path / "summary.md").read_text(encoding="utf-8").startswith(f"### Model check: {verdict}\n\n")
        assert (tmp_path / "output").read_text(encoding="utf-8") == f"verdict={verdict}\n"


def test_the_action_runs_the_gate_with_what_the_gate_reads() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    gate = (EXAMPLE / "gate.sh").read_text(encoding="utf-8")
    step = action["runs"]["steps"][-1]
    assert (ROOT / step["run"].partition("PATH/")[2].rstrip('"')).is_file()
    assert {value.partition("inputs.")[2].partition(" ")[0] for value in step["env"].values()} <= set(action["inputs"])
    assert all(f"${{{name}" in gate for name in step["env"])

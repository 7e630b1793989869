"""The example repository for continuous integration works, and its page says what is in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
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
        ("roc_auc(network) - roc_auc(tree) >= -0.3", "fail", 0, "pass"),
    ],
)
def test_the_gate_gives_its_verdict_and_a_summary(
    conditions: str, undecided: str, status: int, verdict: str | None, tmp_path: Path
) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    words = {"FILE": str(ROOT / "examples" / "applicants.csv"), "LABEL": "completed", "SCORE": "network"}
    words |= {"SCORE": "tree\nnetwork"} if "tree" in conditions else {}
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


def test_the_fixture_fails_with_the_evidence(tmp_path: Path) -> None:
    """In a process without other plugins, so that the fixture comes from the module that is declared."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    plugin = project["entry-points"]["pytest11"]["cutline"]
    guide = GUIDE.partition("def test_the_model_is_good_enough")[2].partition("```")[0]
    (tmp_path / "scores").mkdir()
    shutil.copy(ROOT / "examples" / "applicants.csv", tmp_path / "scores" / "holdout.csv")
    bad = "\n".join(
        f"def test_{name}(cutline_check):\n"
        f"    cutline_check('scores/holdout.csv', {condition!r}, label='completed', score='network'{more})\n"
        for name, condition, more in [
            ("fails", "roc_auc >= 0.99", ""),
            ("undecided", "roc_auc >= 0.7", ""),
            ("skipped", "roc_auc >= 0.7", ", undecided='skip'"),
            ("misspelt", "roc_auc >= 0.7", ", undecided='warn'"),
        ]
    )
    file = tmp_path / "test_model.py"
    file.write_text(f"def test_the_model_is_good_enough{guide}\n\n{bad}", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        plugin,
        "-rs",
        "--rootdir",
        ".",
        "-p",
        "no:cacheprovider",
        file.name,
    ]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert "3 failed, 1 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    assert "roc_auc >= 0.99  fail" in done.stdout
    assert "Undecided: the interval contains the limit." in done.stdout
    assert "undecided is 'warn'" in done.stdout


def test_the_package_does_not_need_pytest() -> None:
    code = "import sys, cutline; cutline.check; print('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_every_action_is_named_by_its_full_version() -> None:
    """A tag such as v4 moves; a full version is what was read."""
    files = [*(ROOT / ".github" / "workflows").glob("*.yml"), EXAMPLE / "workflow.yml"]
    used = [name for path in files for name in re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8"))]
    assert len(used) > 10
    assert [name for name in used if not re.fullmatch(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+", name)] == []

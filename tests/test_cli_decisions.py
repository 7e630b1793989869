"""``cutline cut``, ``cutline select --cut`` and ``cutline check``: what they print, write and exit with."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import cutline as cl
from cutline.commands.group import cli


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> str:
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.2
    s = y + rng.normal(size=2000)
    path = tmp_path_factory.mktemp("cut") / "scores.csv"
    rows = "\n".join(f"{int(a)},{b!r}" for a, b in zip(y, s.tolist(), strict=True))
    path.write_text(f"y,p\n{rows}\n")
    return str(path)


def run(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(cli, [str(word) for word in words])
    return done.exit_code, done.stdout, done.stderr if done.stderr_bytes else ""


def columns(scores: str) -> tuple[np.ndarray, np.ndarray]:
    table = np.genfromtxt(scores, delimiter=",", names=True)
    return table["y"].astype(int), table["p"]


def test_a_cut_is_found_written_and_applied(scores: str, tmp_path) -> None:
    path = tmp_path / "cut.json"
    status, out, _ = run(
        "cut", scores, "--label", "y", "--score", "p", "--recall", ".8", "--confidence", ".9", "-o", path
    )
    assert status == 0
    assert "90% confidence" in out
    y, p = columns(scores)
    expected = cl.threshold_for(y, p, recall=0.8, confidence=0.9)
    written = json.loads(path.read_text())
    assert written["threshold"] == expected
    assert written["goal"] == {"recall": 0.8, "confidence": 0.9}
    assert written["sample"]["sha256"] == expected.sample["sha256"]
    status, out, _ = run("select", scores, "--cut", path)
    assert status == 0
    assert len(out.strip().splitlines()) - 1 == (p > expected).sum()


def test_cuts_by_cost_and_with_a_reviewer(scores: str) -> None:
    status, out, _ = run("cut", scores, "--cost-fp", "1", "--cost-fn", "5", "--resamples", "50", "--format", "json")
    assert status == 0
    found = json.loads(out)
    assert found["goal"] == {"cost_fp": 1.0, "cost_fn": 5.0}
    assert found["expected_cost"]["low"] < found["expected_cost"]["value"] < found["expected_cost"]["high"]
    status, out, _ = run("cut", scores, "--precision", ".5", "--confidence", ".9", "--capacity", "100")
    assert status == 0
    assert "review" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--recall", "1.5"], "--recall"),
        (["--recall", ".999", "--confidence", ".999"], "would be needed"),
        ([], "exactly one"),
        (["--cost-fp", "1"], "--cost-fn"),
        (["--quota-x", "1"], "no such option"),
    ],
)
def test_bad_cuts_exit_with_2(scores: str, words: list[str], said: str) -> None:
    status, _, err = run("cut", scores, *words)
    assert status == 2
    assert said.lower() in err.lower()


@pytest.mark.parametrize(
    ("condition", "status"), [("roc_auc >= .6", 0), ("roc_auc >= .95", 3), ("hit_rate@20-60 >= .6", 4)]
)
def test_check_exits_by_the_outcome(scores: str, condition: str, status: int) -> None:
    y, p = columns(scores)
    if status == 4:
        limit = cl.hit_rate(y, p, quota="20-60")
        condition = f"hit_rate@20-60 >= {limit:.3f}"
    found, out, _ = run("check", scores, "--label", "y", "--score", "p", condition, "--resamples", "200")
    assert found == status
    assert {0: "pass", 3: "fail", 4: "undecided"}[status] in out


def test_check_prints_json_and_refuses_what_is_no_condition(scores: str) -> None:
    status, out, _ = run("check", scores, "roc_auc >= .6", "--format", "json")
    assert status == 0
    assert json.loads(out)["outcome"] == "pass"
    status, _, err = run("check", scores, "roc_auc is good")
    assert status == 2
    assert "not a condition" in err


def test_select_needs_a_quota_or_a_cut(scores: str, tmp_path) -> None:
    assert run("select", scores)[0] == 2
    assert run("select", scores, "--cut", tmp_path / "none.json")[0] == 2


def test_screen_and_vote_print_what_the_library_finds(tmp_path) -> None:
    rng = np.random.default_rng(1)
    y = rng.random(600) < 0.2
    columns = {"a": y + rng.normal(size=600), "b": y + 2 * rng.normal(size=600)}
    path = tmp_path / "models.csv"
    rows = "\n".join(
        f"{int(t)},{a!r},{b!r}" for t, a, b in zip(y, *(c.tolist() for c in columns.values()), strict=True)
    )
    path.write_text(f"y,a,b\n{rows}\n")
    words = (
        "screen",
        path,
        "--label",
        "y",
        "--stage",
        "b=50%",
        "--stage",
        "a=60",
        "--costs",
        "1,10",
        "--resamples",
        "50",
    )
    status, out, _ = run(*words, "--format", "json")
    assert status == 0
    found = json.loads(out)
    expected = cl.screen(y, [(columns["b"], 0.5), (columns["a"], 60)], cost=[1, 10], n_resamples=50)
    assert found["sizes"] == [300, 60]
    assert found["recall"] == expected.recall.value
    assert run(*words[:-4], "--max-loss", "x")[0] == 2
    status, out, _ = run("screen", path, "--label", "y", "--stage", "b", "--stage", "a=200", "--costs", "1,5")
    assert status == 2
    status, out, _ = run("vote", path, "--label", "y", "--score", "a", "--score", "b", "--resamples", "20")
    assert status == 0
    assert "vote: expect pem" in out

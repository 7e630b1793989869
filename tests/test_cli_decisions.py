"""``cutline cut``, ``cutline select --cut`` and ``cutline check``: what they print, write and exit with."""

from __future__ import annotations

import html
import json

import numpy as np
import pytest
from click.testing import CliRunner

import cutline as cl
from cutline.commands.group import cli
from cutline.table import cut_text


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
    status, out, _ = run("select", scores, "--cut", path)
    assert status == 0
    assert len(out.strip().splitlines()) - 1 == (p > expected).sum()


def test_cuts_by_cost_and_by_a_measure(scores: str) -> None:
    status, out, _ = run("cut", scores, "--cost-fp", "1", "--cost-fn", "5", "--resamples", "50", "--format", "json")
    assert status == 0
    found = json.loads(out)
    assert found["goal"] == {"cost_fp": 1.0, "cost_fn": 5.0}
    assert found["expected_cost"]["low"] < found["expected_cost"]["value"] < found["expected_cost"]["high"]
    status, out, _ = run("cut", scores, "--maximize", "f1", "--resamples", "50", "--format", "json")
    assert status == 0
    found = json.loads(out)
    assert found["goal"] == {"maximize": "f1"}
    assert found["threshold_interval"][0] <= found["threshold"] <= found["threshold_interval"][1]
    assert found["expected"]["low"] < found["expected"]["value"] < found["expected"]["high"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--recall", "1.5"], "--recall"),
        (["--recall", ".999", "--confidence", ".999"], "would be needed"),
        ([], "give one of --recall"),
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


def test_check_takes_segments_batches_and_differences(tmp_path) -> None:
    path = tmp_path / "two.csv"
    rng = np.random.default_rng(1)
    y, region, day = rng.random(600) < 0.4, np.arange(600) % 2, np.arange(600) // 30
    old = np.where(region == 0, y, 0) + rng.normal(size=600)
    new = old + 0.05 * rng.normal(size=600)
    lines = (f"{int(a)},{b},{c},{d},{e}" for a, b, c, d, e in zip(y, region, day, old, new, strict=True))
    path.write_text("\n".join(["y,region,day,old,new", *lines]))
    given = (path, "--label", "y")
    status, out, _ = run("check", *given, "--score", "old", "--by", "region", "roc_auc >= .65")
    assert (status, "Fail in '1'." in out) == (3, True)
    assert "2 tests" in out
    status, out, _ = run("check", *given, "--score", "old", "--batch", "day", "hit_rate@5 >= .4", "--format", "json")
    found = json.loads(out)["conditions"][0]
    ev = cl.evaluate(path, label="y", score="old", batch="day", quota=5, measures=["hit_rate"])
    assert found["low"] == ev["hit_rate"].low
    both = ("--score", "old", "--score", "new")
    status, out, _ = run("check", *given, *both, "roc_auc(new) - roc_auc(old) >= -0.05", "--format", "markdown")
    assert (status, "| roc_auc(new) - roc_auc(old) >= -0.05 | pass" in out) == (0, True)
    assert run("check", *given, *both, "roc_auc(new) - roc_auc(old) >= 0.05")[0] == 3
    status, out, _ = run(
        "check", *given, *both, "--by", "region", "roc_auc(new) - roc_auc(old) >= 0", "--format", "json"
    )
    document = json.loads(out)
    assert (status, document["tests"]) == (4, 2)
    status, _, err = run("check", *given, *both, "roc_auc >= .5")
    assert (status, "does not name one of the models" in err) == (2, True)


def test_check_says_that_a_measure_has_no_value(tmp_path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("y,p\n" + "".join(f"1,{k / 10}\n" for k in range(1, 9)))
    status, out, _ = run("check", path, "--label", "y", "--score", "p", "--positive", "1", "roc_auc >= .88")
    assert status == 4
    assert "Undecided: a measure has no value here." in out


def test_a_cut_made_for_another_score_is_noted(scores: str, tmp_path) -> None:
    path, other = tmp_path / "cut.json", tmp_path / "other.csv"
    assert (
        run("cut", scores, "--label", "y", "--score", "p", "--recall", ".8", "--confidence", ".9", "-o", path)[0] == 0
    )
    other.write_text("q\n0.1\n0.9\n0.7\n0.2\n")
    _, _, said = run("select", other, "--score", "q", "--cut", path)
    assert "the cut was made for the score 'p', and 'q' is used here" in said
    assert "was made for" not in run("select", scores, "--score", "p", "--cut", path)[2]


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
    assert [row["keep"] for row in found["stages"]] == [300, 60]
    assert found["recall"] == expected.recall.value
    status, _, message = run("screen", path, "--label", "y", "--stage", "b", "--stage", "a=200", "--costs", "1,5")
    assert "--stage b: a stage keeps one number of cases" in message
    assert status == 2
    _, out, _ = run(*words)
    assert max(map(len, out.splitlines()[1:])) <= 80
    status, out, _ = run("vote", path, "--label", "y", "--score", "a", "--score", "b", "--resamples", "20")
    assert status == 0
    assert ": expect PEM" in out
    assert "Correlation of the measures" in out
    vote = ("vote", path, "--label", "y", "--score", "a", "--score", "b", "--resamples", "20", "--quota", "60")
    models = {"a": columns["a"], "b": columns["b"]}
    made = cl.papers.selective_voting(y, models, rank_by="hit_rate", quota=60, n_resamples=20)
    hits = [f"{60 * share:.0f}" for share in (made.expected.value, made.expected.low, made.expected.high)]
    assert f" expect {hits[0]} hits in 60 places on new rows (95% interval {hits[1]} to {hits[2]})" in run(*vote)[1]
    assert "expect PEM" in run(*vote, "--rank-by", "pem")[1]
    status, out, _ = run(
        "vote", path, "--label", "y", "--score", "a", "--score", "b", "--resamples", "20", "--format", "json"
    )
    said = {row["mark"]: row for row in json.loads(out)["correlation"]}
    assert said["pem"]["pem"] == pytest.approx(1.0)
    assert said["pem"]["average_qrecall"] == pytest.approx(said["average_qrecall"]["pem"])


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Probabilities of two models with text labels, and weights."""
    rng = np.random.default_rng(3)
    y = rng.random(600) < 0.3
    z = rng.normal(size=600) + 1.3 * y
    old, new = 1 / (1 + np.exp(1.7 - 1.3 * z)), 1 / (1 + np.exp(1.7 - 1.3 * (z + 0.5 * rng.normal(size=600))))
    path = tmp_path_factory.mktemp("models") / "models.csv"
    lines = zip(np.where(y, "yes", "no"), old.round(3), new.round(3), rng.integers(1, 4, 600), strict=True)
    path.write_text("bought,old,new,w\n" + "\n".join(",".join(map(str, line)) for line in lines) + "\n")
    return str(path)


def arrays(models: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    table = np.genfromtxt(models, delimiter=",", names=True, dtype=None, encoding="utf-8")
    return table["bought"] == "yes", table["old"], table["new"], table["w"]


def test_costs_of_errors_choose_the_cheapest(models: str) -> None:
    words = ["--label", "bought", "--positive", "yes", "--cost-fp", "1", "--cost-fn", "4", "--resamples", "60"]
    status, out, _ = run("compare", models, "--score", "old", "--score", "new", *words, "--format", "json")
    assert status == 0
    y, old, new, _ = arrays(models)
    made = cl.compare(y, {"old": old, "new": new}, n_resamples=60, measures=["roc_auc"]).cheapest(cost_fp=1, cost_fn=4)
    found = json.loads(out)["cheapest"]
    assert (found["model"], found["threshold"]) == (made.model, made.threshold)
    status, out, _ = run("compare", models, "--score", "old", "--score", "new", *words)
    assert "expect a cost of" in out.splitlines()[0]
    status, out, _ = run("compare", models, "--score", "old", "--score", "new", *words, "--all")
    assert "Costs of errors" in out
    status, _, said = run("compare", models, "--label", "bought", "--score", "old", "--score", "new", "--cost-fp", "1")
    assert (status, "--cost-fn is missing: --cost-fp needs it" in said) == (2, True)


def test_a_weighted_cut_is_that_of_python(models: str) -> None:
    words = ["--label", "bought", "--positive", "yes", "--score", "old", "--weight", "w"]
    y, old, _, w = arrays(models)
    status, out, _ = run("cut", models, *words, "--recall", ".7", "--format", "json")
    assert status == 0
    assert json.loads(out)["threshold"] == cl.threshold_for(y, old, sample_weight=w, recall=0.7)


def test_an_unknown_quota_is_told_in_words(models: str) -> None:
    words = ["--label", "bought", "--positive", "yes", "--quota", "20-60", "--resamples", "60"]
    status, out, _ = run("evaluate", models, "--score", "old", *words)
    assert status == 0
    assert "With 20 to 60 places, all equally likely, expect on average a hit rate of" in out
    assert "At the threshold" not in out
    assert "Hit rate at 20-60" in out
    status, out, _ = run("compare", models, "--score", "old", "--score", "new", *words)
    assert "With 20 to 60 places, all equally likely, " in out
    status, out, _ = run("compare", models, "--score", "old", "--score", "new", *words, "--format", "json")
    assert json.loads(out)["quota"] == "20-60"


# ------------------------------------------------------------- answers that options add to evaluate and compare


@pytest.fixture(scope="module")
def probabilities(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two models' probabilities, and a trial: who was treated, what came of it."""
    rng = np.random.default_rng(1)
    y = rng.random(400) < 0.3
    old, new = (np.clip(rng.normal(0.3 + lift * y, 0.2), 0.0, 1.0) for lift in (0.15, 0.3))
    treated = rng.random(400) < 0.5
    bought = rng.random(400) < 0.2 + 0.3 * treated * new
    path = tmp_path_factory.mktemp("beside") / "scores.csv"
    rows = zip(y.tolist(), old.tolist(), new.tolist(), treated.tolist(), bought.tolist(), strict=True)
    lines = "\n".join(",".join(str(float(cell)) for cell in row) for row in rows)
    path.write_text(f"y,old,new,treated,bought\n{lines}\n")
    return str(path)


def named(path: str) -> dict[str, np.ndarray]:
    table = np.genfromtxt(path, delimiter=",", names=True)
    return {name: table[name] for name in table.dtype.names}


@pytest.mark.parametrize(("goal", "value"), [("recall", 0.8), ("precision", 0.5), ("specificity", 0.9), ("fpr", 0.2)])
def test_evaluate_cuts_where_a_goal_is_kept(goal: str, value: float, probabilities: str) -> None:
    words = [
        "evaluate",
        probabilities,
        "--label",
        "y",
        "--score",
        "new",
        f"--{goal}",
        str(value),
        "--measure",
        "recall",
    ]
    status, out, _ = run(*words, "--format", "json")
    found, c = json.loads(out), named(probabilities)
    point = cl.evaluate(c["y"], c["new"], measures=["roc_auc"]).at(**{goal: value})
    assert status == 0
    assert found["threshold"] == found["operating_point"]["threshold"] == point.threshold
    assert found["operating_point"]["tp"] == point.tp
    assert found["answer"][0].startswith("Of all cuts with a ")
    assert f"score > {cut_text(point.threshold, point.above)} " in found["answer"][0]
    status, _, err = run(*words, "--quota", "20")
    assert status == 2
    assert f"--{goal} and --quota each set the cut" in err


def test_evaluate_tests_the_calibration(probabilities: str, tmp_path) -> None:
    page = tmp_path / "page.html"
    words = ["evaluate", probabilities, "--label", "y", "--score", "new", "--calibration", "--resamples", "200"]
    status, out, _ = run(*words, "--html", page)
    c = named(probabilities)
    made = cl.evaluate(c["y"], c["new"], name="new", n_resamples=200).calibration()
    assert status == 0
    assert out.startswith(f"{made.summary}.")
    assert "average bias" in out
    assert page.read_text().count(f"<p>{made.summary}.</p>") == 1
    document = json.loads(run(*words, "--format", "json")[1])
    assert document["answer"][0] == f"{made.summary}."
    assert document["calibration"][0]["p_value"] == made.p_value
    assert run(*words, "--by", "treated")[0] == 2


def test_compare_names_who_enters_and_whether_a_ranking_may_decide(probabilities: str, tmp_path) -> None:
    page = tmp_path / "page.html"
    words = ["compare", probabilities, "--label", "y", "--score", "old", "--score", "new", "--quota", "40"]
    words += ["--resamples", "50", "--swaps", "old", "new", "--consistency"]
    status, out, _ = run(*words, "--html", page)
    c = named(probabilities)
    made = cl.compare(c["y"], {"old": c["old"], "new": c["new"]}, quota=40, n_resamples=50)
    assert status == 0
    for sentence in (made.swaps("old", "new").summary, made.consistency("old", "new").sentence):
        assert f"{sentence}." in out
        assert f"<p>{sentence}.</p>" in html.unescape(page.read_text())
    document = json.loads(run(*words, "--format", "json")[1])
    assert document["answer"][0] == f"{made.swaps('old', 'new').summary}."
    assert document["swaps"][0]["hits_entering"] == made.swaps("old", "new").hits_entering
    assert document["consistency"][0]["verdict"] == made.consistency("old", "new").verdict
    assert run(*words, "--by", "treated")[0] == 2
    status, _, err = run(*words[:-4], "--swaps", "old", "third")
    assert status == 2
    assert "third" in err


def test_uplift_reads_a_trial(probabilities: str, tmp_path) -> None:
    page, words = tmp_path / "page.html", ["uplift", probabilities, "--treated", "treated", "--outcome", "bought"]
    status, out, _ = run(*words, "--score", "new", "--quota", "10%", "--html", page)
    c = named(probabilities)
    made = cl.uplift(c["treated"], c["bought"], c["new"], quota=0.1)
    assert status == 0
    assert out.splitlines()[0] == made.sentences()[0].replace("by score", "by new")
    assert out.splitlines()[0] in page.read_text()
    document = json.loads(run(*words, "--score", "old", "--score", "new", "--format", "json")[1])
    assert document["answer"][0].startswith("Treating the best 20% (80 of 400) by")
    status, _, err = run(*words)
    assert status == 2
    assert "--score is missing" in err

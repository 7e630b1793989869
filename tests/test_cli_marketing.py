"""What a marketing manager asked of the command line: a value, a threshold, and commands that run when copied."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import cutline as cl
from test_cli import EXAMPLE, FAST, refused, run

BY = ("--label", "completed", "--score", "logistic")


@pytest.fixture(scope="module")
def buyers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Buyers with what they spent, which nobody else did."""
    rng, n = np.random.default_rng(1), 600
    score = rng.permutation(n) / n
    bought = rng.random(n) < 0.3 * score
    table = pandas.DataFrame(
        {"y": np.where(bought, "yes", "no"), "p": score, "q": (score + rng.random(n) / 2).round(4)}
    )
    table["q"] = (table.q / 1.5).round(4)
    table["spent"] = np.where(bought, rng.integers(5, 90, n), 0)
    table["margin"] = rng.integers(5, 90, n)
    path = tmp_path_factory.mktemp("buyers") / "buyers of may.csv"
    table.to_csv(path, index=False)
    return path


def test_the_first_sentence_tells_the_value(buyers: Path, tmp_path: Path) -> None:
    asked = ("evaluate", buyers, "--label", "y", "--positive", "yes", "--score", "p", "--quota", 60, "--worth", "spent")
    answer = json.loads(run(*asked, "--format", "json").stdout)["answer"]
    table = pandas.read_csv(buyers)
    best = table.sort_values("p", ascending=False)[:60]
    share = best.spent.sum() / table.spent.sum()
    assert answer[0].startswith(f"The best 60 contain {100 * share:.1f}% (95% interval ")
    assert f"of the value: {best.spent.sum():,} (" in answer[0]
    assert any(sentence.startswith("With 60 places, p finds") for sentence in answer)
    run(*asked, "--html", page := tmp_path / "page.html")
    assert answer[0] in page.read_text(encoding="utf-8")


def test_an_amount_known_afterwards_cannot_order_a_list(buyers: Path) -> None:
    asked = (
        "evaluate",
        buyers,
        "--label",
        "y",
        "--positive",
        "yes",
        "--score",
        "p",
        "--quota",
        60,
        "--cut-by",
        "value",
    )
    warned = "Only positives have a worth"
    assert warned in run(*asked, "--worth", "spent").stdout
    assert warned not in run(*asked, "--worth", "margin").stdout
    assert warned not in run(*asked[:-2], "--worth", "spent").stdout


def test_a_threshold_is_answered_first(buyers: Path) -> None:
    asked = ("compare", buyers, "--label", "y", "--positive", "yes", "--score", "p", "--score", "q", *FAST)
    for threshold in ("0.2", "0.5"):
        assert run(*asked, "--threshold", threshold).stdout.startswith(f"By accuracy at {threshold}, ")
    assert run(*asked, "--threshold", "0.2", "--measure", "f1").stdout.startswith("By F1 at 0.2, ")
    assert run(*asked).stdout.startswith("By ROC AUC, ")
    table = pandas.read_csv(buyers)
    told = cl.compare(table.y == "yes", {"p": table.p, "q": table.q}, threshold=0.2).sections()
    assert next(iter(told)).sentences[0].startswith("By accuracy at 0.2, ")


def test_a_threshold_beside_a_quota_has_its_rows() -> None:
    out = run("evaluate", EXAMPLE, *BY, "--quota", 20, "--threshold", "30%", *FAST).stdout
    assert "Hit rate at 20" in out
    assert "Precision at 0.3" in out
    assert "Precision" not in run("evaluate", EXAMPLE, *BY, "--quota", 20, *FAST).stdout.replace("Average p", "")


def test_a_plan_tells_why_it_expects_fewer_hits() -> None:
    out = run("plan", EXAMPLE, *BY, "--cost", 1, "--value", 3).stdout
    assert "is optimism from choosing the best cut" in out
    assert " in the next one, allowing for the same optimism." in out


def test_a_share_of_labels_where_all_are_there_is_an_error() -> None:
    said = refused("evaluate", EXAMPLE, *BY, "--inclusion", "10%")
    assert said.endswith("--inclusion is 0.1, but every row has a label; leave it out")


def test_the_command_that_is_suggested_runs(buyers: Path) -> None:
    asked = ("evaluate", buyers, "--label", "y", "--positive", "yes", "--score", "p", "--where", "spent < 80")
    out = run(*asked, "--recall", "80%").stdout
    (line,) = (line for line in out.splitlines() if line.startswith("To keep it on new data: "))
    words = shlex.split(line.partition(": ")[2])
    assert words[:3] == ["cutline", "cut", str(buyers)]
    assert run(*words[1:]).stdout.startswith("Take score > ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("plan", *BY, "--cost", 1, "--value", 3, "--cut-by", "value_per_cost"),
            "--cut-by is 'value_per_cost', which needs the cost of each row; name a column with --cost: one cost for "
            "all changes no order",
        ),
        (
            ("cut", *BY, "--recall", ".8", "--precision", ".5"),
            "--recall and --precision each set the cut; give one of --recall, --precision, --specificity, --fpr, "
            "--maximize, or --cost-fp with --cost-fn",
        ),
        (
            ("compare", "--score", "tree", "--score", "logistic", "--swaps", "tree", "logistic"),
            "--quota is missing; give --quota",
        ),
        (
            ("select", "--score", "tree", "--quota", "20-60"),
            "--quota must be a number of cases or a share between 0 and 1, got 20-60",
        ),
        (
            ("screen", "--label", "completed", "--stage", "tree=50%", "--costs", "1,2"),
            "--costs has 2 entries for 1 stage; pass one for each stage",
        ),
        (
            ("plan", *BY, "--cost", "1,5", "--value", 3),
            "--cost is '1,5'; write an amount with digits and a point alone, such as 1.5",
        ),
        (
            ("plan", *BY, "--cost", "1.5€", "--value", 3),
            "--cost is '1.5€'; write an amount with digits and a point alone, such as 1.5",
        ),
        (
            ("evaluate", *BY, "--threshold", "half"),
            "--threshold is 'half', which is not a number; write e.g. 0.8 or 80%",
        ),
        (("evaluate", *BY, "--html", "r.txt"), "--html is 'r.txt'; end the name of a page in .html"),
    ],
)
def test_messages_speak_of_what_was_typed(words: tuple[Any, ...], said: str) -> None:
    assert refused(words[0], EXAMPLE, *words[1:]) == said


def test_plots_of_other_results_and_orders_without_segments(tmp_path: Path) -> None:
    picture = ("--plot", tmp_path / "x.png", "--plot-kind")
    said = refused("plan", EXAMPLE, *BY, "--cost", 1, "--value", 3, *picture, "roc")
    assert said == "only an evaluation or a comparison has such a plot; this has 'plan'"
    assert refused("evaluate", EXAMPLE, *BY, *picture, "plan", *FAST) == "this has no plot plan; choose e.g. roc"
    assert refused("evaluate", EXAMPLE, *BY, "--order", "a,b").endswith("with segments, name their column with --by")


def test_several_positive_labels_are_named_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "mixed.csv"
    path.write_text("y,p\n" + "".join(f"{y},0.{k}\n" for k, y in enumerate(["yes", "Yes", "no", "maybe", "no", "yes"])))
    said = refused("evaluate", path, "--label", "y", "--score", "p", "--positive", "Yes", "--ignore-case")
    assert "contains several labels besides 'yes': 'no'" in said


def test_extrapolate_finds_the_columns_of_one_prefix(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(rng.random((36, 12)).round(3), columns=[f"s_c{k}" for k in range(12)])
    table.insert(0, "item", [f"c{k % 12}" for k in range(36)])
    table.to_csv(path := tmp_path / "many.csv", index=False)
    fast = ("--no-intervals", "--classes", "24", "--format", "csv")
    assert (
        run("extrapolate", path, "--label", "item", *fast).stdout
        == run("extrapolate", path, "--label", "item", "--score", "s_*", *fast).stdout
    )


def test_scores_above_a_threshold_between_0_and_1_are_noticed() -> None:
    y, p = np.arange(40) % 2, np.linspace(0.1, 0.9, 40)
    assert cl.evaluate(y, 100 * p, threshold=0.5).notices == [
        "The threshold 0.5 lies beyond all scores of model (10 to 90): it takes everybody."
    ]
    assert cl.evaluate(y, p / 4).notices == []


def test_segments_are_told_one_by_one_after_the_model(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(8), 1200
    table = pandas.DataFrame({"age": rng.integers(20, 23, n), "contact": rng.choice(["mail", "phone"], n)})
    table["p"] = rng.permutation(n) / n
    sharp = np.where(table.contact == "mail", 1.0, 0.1)
    table["y"] = (rng.random(n) < 0.5 + sharp * (table.p - 0.5)).astype(int)
    table["day"] = rng.integers(0, 5, n)
    table.to_csv(path := tmp_path / "calls.csv", index=False)
    asked = ("evaluate", path, "--label", "y", "--score", "p", *FAST)
    first, second, *_ = run(*asked, "--by", "contact").stdout.splitlines()
    assert first.startswith("At a threshold of 0.5, p selects")
    assert second.count("mail (") + second.count("phone (") == 1
    assert second.startswith("Clearly different from ")
    assert " and " in second
    out = run(*asked, "--by", "age", "--quota", 30).stdout
    assert out.startswith("One list for all (30 places): age 2")
    out = run(*asked, "--by", "contact", "--quota", 30, "--batch", "day").stdout
    assert out.startswith("One list for each batch (30 places in each of 5 batches): ")


def test_positives_are_counted_with_their_word(tmp_path: Path) -> None:
    rows = [f"{'ja' if k % 3 else 'nein'},{k / 40:g}" for k in range(1, 40)]
    (path := tmp_path / "de.csv").write_text("\n".join(["gekauft,p", *rows]))
    out = run("evaluate", path, "--label", "gekauft", "--positive", "ja", "--quota", 5, *FAST).stdout
    assert "of the 26 with ja;" in out


def test_uplift_names_its_amount(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(2), 800
    table = pandas.DataFrame({"mailed": rng.integers(0, 2, n), "p": rng.random(n)})
    table["spend"] = rng.gamma(2, 20, n).round(2) + 10 * table.mailed
    table.to_csv(path := tmp_path / "trial.csv", index=False)
    out = run("uplift", path, "--treated", "mailed", "--outcome", "spend", "--score", "p").stdout
    assert " more spend than treating nobody" in out
    assert " more than treating nobody" in " ".join(cl.uplift(table.mailed, table.spend, table.p).sentences())


def test_a_labelling_plan_tells_where_its_share_comes_from() -> None:
    asked = ("label-plan", EXAMPLE, "--score", "logistic", "--budget", 30, "--measure", "qrecall@50")
    done = run(*asked)
    assert "positive (the mean of the scores), expect a standard error" in done.stdout
    assert "rows to label: add -o to_label.csv, or --format csv" in done.stderr
    assert "positive (as given), expect" in run(*asked, "--prevalence", "20%").stdout


def test_extrapolate_tells_what_half_the_loss_is(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(rng.normal(size=(90, 30)).round(3), columns=[f"c{k}" for k in range(30)])
    for row in range(90):
        table.iloc[row, row % 30] += 2.5
    table.insert(0, "item", [f"c{k % 30}" for k in range(90)])
    table.to_csv(path := tmp_path / "many.csv", index=False)
    out = run("extrapolate", path, "--label", "item", "--all", "--classes", "600").stdout
    assert "; half of the loss comes by about " in out
    assert "everything" not in out.splitlines()[-1]
    assert "None" not in out.splitlines()[-1]


def test_one_class_has_no_value_of_the_order() -> None:
    p = np.linspace(0.2, 0.9, 5)
    told = cl.evaluate(np.ones(5, int), p).to_markdown()
    assert "there are no negative cases, so the ranking cannot be evaluated" in told
    assert "Average precision" not in told
    assert "| ROC AUC | – |" in told
    few = cl.evaluate([1, 0, 0, 0, 1], p)
    assert 0 < few["average_precision"].low < 1e-6
    assert "| Average precision | 0.700 | 0 to 1.000 |" in few.to_markdown()


def test_a_measure_alone_is_not_told_beside_a_cut() -> None:
    asked = ("evaluate", EXAMPLE, *BY, *FAST)
    out = run(*asked, "--measure", "partial_auc(fpr=0.1)").stdout
    assert "threshold" not in out
    for measure, more in (("recall", ()), ("roc_auc", ("--threshold", "0.3")), ("roc_auc", ("--recall", "80%"))):
        assert "At a threshold of " in run(*asked, "--measure", measure, *more).stdout
    assert " bits (95% interval" in run(*asked, "--measure", "log_loss").stdout.splitlines()[0]


def test_one_probability_lies_near_0() -> None:
    rng = np.random.default_rng(0)
    p = np.append(rng.uniform(0.2, 0.8, 199), 0.0)
    told = cl.evaluate(rng.random(200) < p, p).calibration().to_markdown()
    assert "1 of 200 probabilities lies within" in told


def test_shares_have_the_same_decimals_and_round_half_up() -> None:
    from cutline.table import percentage

    assert percentage(238 / 4000) == "6.0%"
    assert percentage(0.25) == "25.0%"
    lines = run("evaluate", EXAMPLE, *BY, *FAST).stdout.splitlines()
    rows = [line for line in lines if line.startswith(("Recall", "Precision", "Specificity", "Accuracy"))]
    shares = [share for line in rows for share in re.findall(r"[0-9.]+%", line)]
    assert len(shares) == 12
    assert all(re.fullmatch(r"[0-9]+\.[0-9]%", share) for share in shares)

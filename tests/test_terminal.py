"""What a person sees: every command through a pseudo-terminal, at the widths that people have."""

from __future__ import annotations

import csv
import fcntl
import itertools
import json
import os
import random
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import cutline as cl
from cutline.commands.group import cli
from cutline.present.words import by_measure, goal_rows

pty = pytest.importorskip("pty")
ROOT = Path(__file__).parents[1]
APPLICANTS = str(ROOT / "examples" / "applicants.csv")
HEIGHT = 30
IDENTIFIERS = re.compile(r"\b[a-z]+_[a-z_]+\b|\d+e-\d\d")


def shown(*arguments: str, width: int = 80) -> tuple[str, int]:
    """What a terminal shows of a command, standard error included, and its exit status."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, width, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-c", "import sys; from cutline.cli import main; sys.exit(main())", *arguments]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env={**environment, "TERM": "xterm"}
    )
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    return b"".join(parts).decode().replace("\r\n", "\n"), process.wait()


def plain(*arguments: str) -> str:
    done = CliRunner().invoke(cli, list(arguments))
    assert done.exit_code in (0, 3, 4), done.output
    return done.stdout


@pytest.fixture(scope="module")
def months(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The applicants five times, with months, days and regions."""
    draw = random.Random(3)
    with open(APPLICANTS, encoding="utf-8") as file:
        rows = [dict(row) for row in csv.DictReader(file) for _ in range(5)]
    draw.shuffle(rows)
    for k, row in enumerate(rows):
        row["month"] = f"2024-{k * 12 // len(rows) + 1:02d}"
        row["day"] = f"2024-01-{k * 20 // len(rows) + 1:02d}"
        row["region"] = draw.choice(["north", "south", "east", "west"])
        row["outcome"] = "completed" if row["completed"] == "1" else "dropped out"
    path = tmp_path_factory.mktemp("months") / "months.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two models of four classes."""
    rng = np.random.default_rng(0)
    names = ["cat", "dog", "owl", "fox"]
    y = rng.integers(0, 4, 200)
    path = tmp_path_factory.mktemp("classes") / "classes.csv"
    models = {"a": 1.5, "b": 0.8}
    lines = [",".join(["kind", *(f"{m}_{n}" for m in models for n in names)])]
    for code in y:
        cells = []
        for strength in models.values():
            score = np.exp(rng.normal(size=4) + strength * (np.arange(4) == code))
            cells += [f"{p:.4f}" for p in score / score.sum()]
        lines.append(",".join([names[code], *cells]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def commands(months: str, classes: str) -> dict[str, list[str]]:
    one = [APPLICANTS, "--score", "network"]
    by = [months, "--label", "completed", "--score", "network"]
    return {
        "evaluate": ["evaluate", *one],
        "quota": ["evaluate", *one, "--quota", "20"],
        "range": ["evaluate", *one, "--quota", "20-60"],
        "compare": ["compare", APPLICANTS],
        "compare at a quota": ["compare", APPLICANTS, "--quota", "20"],
        "compare costs": ["compare", APPLICANTS, "--cost-fp", "1", "--cost-fn", "8"],
        "plan": ["plan", *one, "--cost", "2", "--value", "5"],
        "cut": ["cut", *one, "--recall", ".8", "--confidence", ".9"],
        "select": ["select", *one, "--quota", "5"],
        "check": ["check", *one, "roc_auc >= .7"],
        "doctor": ["doctor", APPLICANTS],
        "months": ["evaluate", *by, "--by", "month", "--quota", "200"],
        "regions": ["evaluate", *by, "--by", "region"],
        "models by region": ["compare", months, "--label", "completed", "--by", "region", "--quota", "200"],
        "batches": ["evaluate", *by, "--batch", "day", "--quota", "10"],
        "classes": ["evaluate", classes, "--label", "kind", "--score", "a_*"],
        "models of classes": ["compare", classes, "--label", "kind", "--score", "a_*", "--score", "b_*"],
    }


NAMES = list(commands("", ""))


@pytest.mark.parametrize("name", NAMES)
def test_a_default_answer_fits_on_a_screen(name: str, months: str, classes: str) -> None:
    text, status = shown(*commands(months, classes)[name])
    assert status in (0, 3, 4), text
    lines = text.rstrip("\n").split("\n")
    wrapped = [line for line in lines if not line.startswith("Next: ")]  # a command is left whole, to be copied
    assert max(map(len, wrapped)) <= 80, text
    assert len(lines) <= HEIGHT, text


@pytest.mark.parametrize("more", [[], ["--all"]], ids=["short", "all"])
@pytest.mark.parametrize("names", [["not_recom", "recommend", "very_recom", "priority", "spec_prior"], "ABCDEFGHIJKL"])
def test_a_confusion_matrix_with_long_names_fits(names: list[str], more: list[str], tmp_path: Path) -> None:
    names = [name if len(name) > 1 else f"A rather-long_name{name}" for name in names]
    rows = [f"{names[k % len(names)]},{names[k * k % len(names)]}" for k in range(1500)]
    (tmp_path / "a.csv").write_text("\n".join(["y,p", *rows]) + "\n")
    text, _ = shown("evaluate", str(tmp_path / "a.csv"), "--label", "y", "--predicted", "p", *more)
    assert "─" * len(names[0]) in text
    matrix = text.partition("by predicted class (columns)")[2].partition("\r\n\r\n")[0].splitlines()
    assert max(map(len, matrix), default=0) <= 80, text
    assert not more or len(matrix) > len(names)


@pytest.mark.parametrize(
    ("name", "width"), list(itertools.product(["quota", "compare at a quota", "months"], [100, 120]))
)
def test_wider_terminals_are_used_and_not_exceeded(name: str, width: int, months: str, classes: str) -> None:
    text, _ = shown(*commands(months, classes)[name], width=width)
    assert max(map(len, text.split("\n"))) <= width
    assert len(text.rstrip("\n").split("\n")) <= HEIGHT


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("select", "check")])
def test_no_raw_identifiers_and_no_exponents_in_an_answer(name: str, months: str, classes: str) -> None:
    text = plain(*commands(months, classes)[name]).replace("nb_", "").replace("a_*", "")
    assert not IDENTIFIERS.findall(text), text


def test_a_terminal_shows_the_names_of_rows_and_the_same_words_as_a_pipe() -> None:
    call = ["evaluate", APPLICANTS, "--score", "network", "--label", "completed", "--quota", "20"]
    text, _ = shown(*call)
    assert re.search(r"^positive +19 TP +68 FN +87$", text, re.MULTILINE), text
    assert re.search(r"^negative +1 FP +312 TN +313$", text, re.MULTILINE), text
    assert text.split() == plain(*call).split()


def test_arrows_are_shown_on_a_terminal() -> None:
    text, _ = shown("compare", APPLICANTS, "--all", width=140)
    assert "↑" in text
    assert "↓" in text


def test_costs_that_were_asked_for_are_answered_first() -> None:
    text = plain("compare", APPLICANTS, "--cost-fp", "1", "--cost-fn", "8")
    assert text.startswith(
        "Where a false positive costs 1 and a false negative 8, logistic at score > 0.0706 is cheapest"
    )
    assert "places" not in text.split("\n\n")[0]


def test_no_quota_is_invented(months: str) -> None:
    answer = json.loads(
        plain("evaluate", months, "--label", "completed", "--score", "network", "--by", "month", "--format", "json")
    )
    assert answer["overall"]["quota"] is None
    assert "place" not in " ".join(answer["answer"])


def three(hits: tuple[int, int], cases: int = 400) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Two models that find so many positives in the first 40 places, on the same cases."""
    y = np.arange(cases) % 4 == 0
    scores = {}
    for name, found in zip(("logreg", "boost"), hits, strict=True):
        rng = np.random.default_rng(len(name))
        order = np.concatenate([np.flatnonzero(y)[:found], np.flatnonzero(~y)[: 40 - found]])
        score = rng.random(cases) / 2
        score[order] = 0.5 + rng.random(40) / 2
        scores[name] = score
    return y, scores


def test_a_tie_is_told_alike_whatever_the_order_of_the_columns() -> None:
    y, scores = three((30, 30))
    told = []
    for names in (["logreg", "boost"], ["boost", "logreg"]):
        both = cl.compare(y, {name: scores[name] for name in names}, quota=40)
        answer = next(iter(both.sections())).sentences[0]
        told.append(answer)
        assert both.verdict("hit_rate").status == "level"
        assert both.verdict("hit_rate").tied == ["boost", "logreg"]
        assert "use " not in answer
    assert told[0] == told[1]
    assert told[0].startswith("With 40 places, boost or logreg: both find 30 of the 100 positives.")


@pytest.mark.parametrize(
    ("hits", "said"),
    [((39, 5), "use logreg: it finds 39"), ((31, 30), "logreg is ahead, but not clearly: it finds 31")],
)
def test_use_is_said_only_where_it_is_clear(hits: tuple[int, int], said: str) -> None:
    y, scores = three(hits)
    both = cl.compare(y, scores, quota=40)
    text = repr(both)
    assert text.startswith(f"With 40 places, {said} of the 100 positives")
    assert ("use " in text.split("\n\n")[0]) == both.verdict("hit_rate").sure


def test_with_a_quota_measures_at_a_threshold_carry_their_cut() -> None:
    text = plain("evaluate", APPLICANTS, "--score", "network", "--quota", "20", "--all")
    assert re.search(r"recall \(score > 0\.5\) +↑ +0\.4138", text)
    text = plain("compare", APPLICANTS, "--quota", "20")
    assert "Accuracy at 0.5" in text


def test_printing_a_result_shows_what_the_command_shows() -> None:
    for quota in (None, 20):
        ev = cl.evaluate(APPLICANTS, label="completed", score="network", quota=quota)
        call = ["evaluate", APPLICANTS, "--label", "completed", "--score", "network"]
        text = plain(*call, *(["--quota", str(quota)] if quota else []))
        assert text.startswith(repr(ev))
        assert text[len(repr(ev)) :].strip().startswith("More: ")
    both = cl.compare(APPLICANTS, label="completed", score=["tree", "network"], quota=20)
    call = ["compare", APPLICANTS, "--label", "completed", "--score", "tree", "--score", "network", "--quota", "20"]
    assert plain(*call).startswith(repr(both))


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_a_page_does_not_change_what_is_printed(command: str, tmp_path: Path) -> None:
    call = [command, APPLICANTS, *(["--score", "network"] if command == "evaluate" else []), "--quota", "20"]
    printed = [plain(*call, "--html", str(tmp_path / "page.html")), plain(*call)]
    with_page, without = (re.sub(r"(?m)^More: .*$", "", text) for text in printed)  # which offers the page no more
    assert with_page == without


def test_pairs_and_methods_are_behind_options() -> None:
    call = ["compare", APPLICANTS, "--quota", "20"]
    text = plain(*call)
    for words in ("tree − logistic", "delong"):
        assert words not in text
    assert "tree − logistic" in plain(*call, "--pairs")
    assert "delong" in plain("evaluate", APPLICANTS, "--score", "network", "--all", "--format", "markdown")


def test_measures_that_move_with_the_base_rate_carry_a_caution(months: str) -> None:
    call = ["evaluate", months, "--label", "completed", "--score", "network", "--by", "month"]
    text = plain(*call)
    assert "Brier" not in text
    assert "\nNo segment differs clearly from the rest in " in text
    text = plain(*call, "--measure", "brier_score", "--measure", "roc_auc")
    assert "\nNo segment differs clearly from the rest in ROC AUC." in text
    assert "Caution: Brier score moves with the share of positives" in text


def test_fairness_tables_are_shown_on_request(months: str) -> None:
    call = ["evaluate", months, "--label", "completed", "--score", "network", "--by", "region", "--quota", "200"]
    assert "Four-fifths" not in plain(*call)
    assert "Four-fifths" in plain(*call, "--all")


def test_overconfidence_has_no_better_end(classes: str) -> None:
    text = plain("evaluate", classes, "--label", "kind", "--score", "a_*", "--all")
    assert re.search(r"overconfidence +→ 0", text)


def test_small_numbers_have_no_exponent(tmp_path: Path) -> None:
    assert not re.search(r"\de-\d", plain("doctor", APPLICANTS))


def test_many_models_stand_below_each_other(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    names = [f"model_{k}" for k in range(9)]
    columns = {name: y * 0.2 + rng.random(300) * 0.8 for name in names}
    lines = [",".join(["y", *names])]
    lines += [",".join([str(int(y[i])), *(f"{columns[name][i]:.4f}" for name in names)]) for i in range(300)]
    path = tmp_path / "many.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    text, _ = shown("compare", str(path), "--label", "y", "--score", "model_*", "--quota", "30")
    assert max(map(len, text.split("\n"))) <= 80
    assert all(re.search(rf"^{name} ", text, re.MULTILINE) for name in names)


def test_a_label_that_is_a_word_is_used(months: str) -> None:
    call = ["evaluate", months, "--label", "outcome", "--positive", "completed", "--score", "network", "--quota", "100"]
    text = plain(*call)
    assert text.startswith("With 100 places, network finds 95 of the 435 with completed;")
    assert "435 with completed (21.8%)" in text
    assert re.search(r"^completed +95 TP", text, re.MULTILINE)
    ev = cl.evaluate(months, label="outcome", score="network", pos_label="completed", quota=100)
    assert ev.positive_name == "completed"
    assert text.startswith(repr(ev))
    yes = cl.evaluate({"bought": ["yes", "no"] * 20, "p": list(range(40))}, label="bought", score="p", pos_label="yes")
    assert "20 with bought = yes (50.0%)" in repr(yes)
    assert cl.evaluate([2, 1, 2, 1], [3, 1, 2, 0], pos_label=2).positive_name == ""


COMPARED = ("compare", APPLICANTS, "--label", "completed", "--score", "tree", "--score", "network", "--seed", "1")


@pytest.mark.parametrize("names", [("tree", "network"), ("tree", "logistic", "network")])
@pytest.mark.parametrize("measure", ["roc_auc", "brier_score", "accuracy"])
def test_the_lead_by_a_measure_is_told_with_its_interval(names: tuple[str, ...], measure: str) -> None:
    """However many models and measures there are, and also where the answer is clear."""
    both = cl.compare(APPLICANTS, label="completed", score=list(names))
    first, *more = by_measure(both, measure)
    verdict = both.verdict(measure)
    if verdict.status == "level":
        assert (more, verdict.lead) == ([], "logistic and tree are tied")
        return
    (lead,) = more
    row = verdict.rival or min(verdict.tested.values(), key=lambda d: abs(d.difference))
    assert verdict.lead in first
    sign = 100.0 if measure == "accuracy" else 1.0
    sign *= 1.0 if row.better == "higher" else -1.0
    assert lead.startswith(f"Its lead over {row.b}, ")
    told = [float(number) for number in re.findall(r"-?[\d.]+\d", lead.replace("−", "-"))]
    assert told[0] == pytest.approx(sign * row.difference, abs=0.06 if measure == "accuracy" else 0.006)
    assert told[2:4] == pytest.approx(sorted([sign * row.low, sign * row.high]), rel=0.3, abs=0.001)
    assert (", is clear" in lead) == verdict.sure
    assert ("adjusted for 3 comparisons" in lead) == (len(names) == 3)


def test_sentences_about_ties_and_margins_have_a_verb() -> None:
    y = np.tile([1, 0, 0], 40)
    rng = np.random.default_rng(2)
    p = 0.4 * y + 0.6 * rng.random(120)
    models = {"b": p, "a": p, "c": 0.2 * y + 0.8 * rng.random(120)}
    answer = str(cl.compare(y, models, measures=["roc_auc"]))
    assert re.match(r"By ROC AUC, a and b are tied: 0\.\d+, c 0\.\d+\.\n", answer)
    answer = str(cl.compare(y, models, measures=["roc_auc"], margin=0.9))
    assert re.match(
        r"By ROC AUC, a, b and c differ by less than the margin: b 0\.\d+, a 0\.\d+ and c 0\.\d+\.\n", answer
    )
    assert re.search(r"The difference of b from c, 0\.\d+ \(.*\), is less than the margin of 0\.900\.", answer)
    del models["b"]
    models["d"] = p + 0.05 * rng.random(120)
    text = str(cl.compare(y, models, measures=["roc_auc"], margin=0.001)).split("\n")[1]
    rival = re.match(r"Its lead over (.), ", text)
    assert rival is not None
    assert text.endswith(f"to detect a difference of 0.001 from {rival[1]} (80% power).")


def test_pairs_tell_what_is_adjusted_and_leave_out_what_has_no_value(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    rows = zip(y, y + rng.normal(size=200), y + rng.normal(size=200), y + 2 * rng.normal(size=200), strict=True)
    path.write_text("y,a,b,c\n" + "".join(f"{int(u)},{v:.4f},{w:.4f},{x:.4f}\n" for u, v, w, x in rows))
    text = plain("compare", str(path), "--label", "y", "--score", "a", "--score", "b", "--score", "c", "--pairs")
    pairs = text[text.index("Differences between models") :].split("if your goal is")[0]
    assert "95% interval" in pairs
    assert "p is adjusted for 3 comparisons by each measure (Holm), intervals are not" in pairs
    assert "accuracy" not in pairs
    assert "…" not in pairs
    for low, high in re.findall(r"(−?[\d.]+) to (−?[\d.]+)", pairs.split("Clear leaders")[0]):
        assert len(low.partition(".")[2]) == len(high.partition(".")[2])
    assert not re.search(r" -\d", pairs)
    two = plain("compare", str(path), "--label", "y", "--score", "a", "--score", "b", "--pairs")
    assert "p is adjusted" not in two


def test_why_has_the_goals_of_the_table_or_tells_why() -> None:
    both = cl.compare(APPLICANTS, label="completed", score=["tree", "network"], quota=20)
    table = {row["if your goal is"] for row in goal_rows(both)}
    (reasons,) = (section.sentences for section in both.sections(why=True) if section.name == "goals")
    told = {text.partition(":")[0] for text in reasons}
    assert table < told
    assert all(name.endswith(")") for name in told - table)


def test_pairs_name_their_measure_and_fit() -> None:
    text, status = shown(*COMPARED, "--quota", "20", "--pairs")
    assert status == 0
    pairs = text[text.index("Differences between models") :]
    for name in ("hit_rate@20", "roc_auc", "average_precision", "accuracy", "brier_score"):
        assert re.search(rf"^{re.escape(name)}\b", pairs, re.M), pairs
    assert "hidden" not in pairs
    assert max(map(len, text.splitlines())) <= 80


def test_the_table_of_one_list_fits(months: str) -> None:
    given = ("evaluate", months, "--label", "completed", "--score", "tree", "--by", "region", "--quota", "100")
    text, status = shown(*given, "--all")
    assert status == 0
    assert "One list for all" in text
    table = text[text.index("One list for all") :].replace("\r", "").partition("\n\n")[0]
    assert max(map(len, table.splitlines())) <= 80


def test_a_measure_that_is_asked_for_is_answered_first() -> None:
    given = ("evaluate", APPLICANTS, "--label", "completed", "--score", "tree", "--measure", "brier_score")
    e = cl.evaluate(APPLICANTS, label="completed", score="tree", measures=["brier_score"])["brier_score"]
    first = f"Brier score is {e.value:.3f} (95% interval {e.low:.3f} to {e.high:.3f})."
    assert plain(*given).startswith(first)
    assert plain(*given, "--quota", "20").startswith(first)
    both = plain(*COMPARED, "--measure", "f1", "--quota", "20")
    assert both.startswith("By F1 at 0.5, ")
    assert "With 20 places, " in both


def test_the_page_answers_the_measure_that_is_asked_for_first(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    plain(*COMPARED, "--measure", "f1", "--quota", "20", "--html", str(path))
    text = re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8").partition("<body")[2])
    assert text.index("By F1 at 0.5, ") < text.index("With 20 places, ")


def test_an_error_is_wrapped_on_a_terminal_and_one_line_elsewhere() -> None:
    words = ("evaluate", APPLICANTS, "--label", "completed", "--score", "no such column", "--quota", "20")
    text, status = shown(*words, width=60)
    assert status == 2
    assert max(map(len, text.splitlines())) <= 60
    assert " ".join(text.split()) == CliRunner().invoke(cli, list(words)).stderr.strip()
    assert "\n" not in CliRunner().invoke(cli, list(words)).stderr.rstrip("\n")


def test_one_class_is_an_error_unless_a_measure_is_named(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("y,p,q\n1,.3,.2\n1,.4,.9\n1,.6,.1\n", encoding="utf-8")
    for words in (("evaluate", str(path), "--label", "y", "--score", "p"), ("compare", str(path), "--label", "y")):
        done = CliRunner().invoke(cli, list(words))
        assert done.exit_code == 2
        assert "there are no negative cases, so the ranking cannot be evaluated" in done.stderr
        assert "*" not in done.stdout
        assert "if your goal is" not in done.stdout
        assert CliRunner().invoke(cli, [*words, "--measure", "brier_score"]).exit_code == 0


def test_the_document_of_a_comparison_has_the_next_list_of_each_model() -> None:
    document = json.loads(plain(*COMPARED, "--quota", "20", "--format", "json"))
    compared = cl.compare(APPLICANTS, label="completed", score=["tree", "network"], quota=20, seed=1)
    for model in document["models"]:
        point = compared[model["name"]].at(quota=20)
        assert model["operating_point"]["next_hits_low"] == point.next_hits.low
        assert model["operating_point"]["next_hits_high"] == point.next_hits.high
        assert model["operating_point"]["tp"] == point.tp
    assert "operating_point" not in json.loads(plain(*COMPARED, "--format", "json"))["models"][0]


def test_costs_without_an_upper_end_are_told_in_words() -> None:
    text = plain(*COMPARED, "--cost-fp", "1", "--cost-fn", "300", "--all")
    (sentence,) = re.findall(r"as long as a false negative costs [^\n]*", text)
    assert "inf" not in sentence
    assert re.search(r"costs (anything|at least [\d.]+ times)", sentence)

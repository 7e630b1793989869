"""The command line speaks of its options, refuses what it lacks before computing, and fits the terminal."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cutline.commands.group import cli
from cutline.table import text_table
from test_cli import EXAMPLE, FAST, refused, run


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--quota", "500%"], "--quota is '500%'; a share lies between 0% and 100%; or give a number of cases"),
        (["--quota", "401"], "--quota is 401; it must be from 1 to the number of cases, 400"),
        (["--quota", "0.1%"], "--quota is 0.1% of 400 cases, which is less than one case; ask for at least 0.25%"),
        (["--resamples", "0"], "--resamples must be a whole number of at least 2, got 0"),
        (["--measure", "hit_rate"], "--measure hit_rate needs a quota; write 'hit_rate@200'"),
        (["--level", "2"], "--level must be strictly between 0 and 1, got 2"),
    ],
)
def test_the_library_is_heard_in_options(arguments: list[str], said: str) -> None:
    assert refused("evaluate", EXAMPLE, "--score", "tree", *arguments) == said


def test_plan_compare_and_select_speak_of_options_too() -> None:
    priced = ("plan", EXAMPLE, "--score", "tree", "--value", 2)
    assert refused(*priced, "--cost", -1) == "--cost must be at least 0, got -1"
    assert refused("compare", EXAMPLE, "--margin", -1, *FAST).startswith("--margin must be at least 0")
    assert refused("compare", EXAMPLE, "--margin", 10, *FAST).startswith("--margin is 10, but no measure is above 1")
    assert refused("compare", EXAMPLE, "--margin", "1pp", *FAST).startswith("--margin is '1pp', which is not a share")
    assert refused("select", EXAMPLE, "--score", "tree", "--quota", 0).startswith("--quota must be a whole number")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("person,a,b,c\na,0.9,0.1,0.3\nb,0.2,0.8,0.4\nc,0.7,0.6,0.5\n")
    return path


def test_extrapolate_names_the_column_the_row_and_the_option(people: Path) -> None:
    assert "has no column 'nobody' for the label; it has 'person', 'a', 'b', 'c'" in refused(
        "extrapolate", people, "--label", "nobody"
    )
    said = refused("extrapolate", people, "--label", "a")
    assert "column 'a': data row 1 is '0.9', but there is no score column for it" in said
    assert "the classes 'person', 'b', 'c'" in said
    said = refused("extrapolate", people, "--label", "person", "--classes", 0)
    assert said == "--classes must be a whole number of at least 1, got 0"


def test_extrapolate_refuses_before_it_reads(tmp_path: Path) -> None:
    assert refused("extrapolate", "absent.csv", "--until", 1.5).startswith("--until is 1.5;")
    assert refused("extrapolate", "absent.csv", "--method", "nosuch").startswith("--method is 'nosuch'")
    assert "does not exist; give another name" in refused(
        "extrapolate", "absent.csv", "--plot", tmp_path / "no" / "x.png"
    )


@pytest.mark.parametrize(
    ("arguments", "module", "extra"),
    [
        (["extrapolate", "absent.csv", "--plot", "x.png"], "matplotlib", "plot"),
        (["experiment", "berrar"], "matplotlib", "experiments"),
        (["experiment", "arbel-rokach"], "sklearn", "experiments"),
    ],
)
def test_a_library_that_is_left_out_is_named_first(
    arguments: list[str], module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> Any:
        return None if name == module else found(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    assert refused(*arguments) == (f"this needs {module}: pip install 'cutline[{extra}]' (in a checkout: '.[{extra}]')")


def test_extrapolate_ends_with_its_settings(people: Path) -> None:
    arguments = (
        "extrapolate",
        people,
        "--label",
        "person",
        "--score",
        "?",
        "--classes",
        "10,20",
        "--method",
        "mixture",
    )
    line = run(*arguments, "--no-intervals", "--until", 0.5, "--format", "markdown").stdout.strip().splitlines()[-1]
    for part in ("label person", "score ?", "classes 10,20", "method mixture", "until 0.5", "intervals none"):
        assert f" · {part}" in line
    assert "resamples 5 · seed 3" in run(*arguments, "--resamples", 5, "--seed", 3, "--format", "csv").stderr
    out = json.loads(run(*arguments, "--resamples", 5, "--format", "json").stdout)
    assert (out["file"], out["label"], out["n_resamples"], out["seed"]) == (str(people), "person", 5, 0)


@pytest.mark.parametrize("command", ["evaluate", "compare", "select", "plan", "extrapolate", "measures"])
def test_examples_stand_after_the_options(command: str) -> None:
    text = run(command, "--help").stdout
    assert text.index("--help") < text.index("Examples:")


def on_screen(columns: int, rows: list[dict[str, Any]]) -> list[str]:
    return text_table(rows, list(rows[0]), group="family", width=columns).splitlines()


def test_narrow_terminals_lose_columns_and_break_no_word() -> None:
    import cutline as cl
    from cutline.present.render import readable
    from cutline.present.words import measure_rows
    from cutline.table import Section, Table

    ev = cl.evaluate([0, 1] * 40, [k / 80 for k in range(80)], n_resamples=20)
    (table,) = readable([Section("measures", [Table(measure_rows(ev))])])
    rows = list(table)
    for columns in (80, 60, 200):
        lines = on_screen(columns, rows)
        for row in rows:
            assert any(row["measure"] in line.split() and row["value"] in line.split() for line in lines)
    lines = on_screen(80, rows)
    assert max(map(len, lines)) <= 80
    assert lines[-1] == "(hidden: method, note; widen the terminal or use --format markdown)"
    assert any("wilson" in line for line in on_screen(200, rows))


def test_prose_is_wrapped_between_words() -> None:
    rows = [{"family": "quota", "title": "Potential extract measure", "name": "pem"}]
    text = " ".join(on_screen(34, rows))
    for word in ("quota", "Potential", "extract", "measure", "pem"):
        assert word in text.split()


def test_one_class_alone_is_said_and_one_is_singular(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("y,p,q\n" + "".join(f"1,0.{k},0.{9 - k}\n" for k in range(1, 9)))
    named = ("--label", "y", "--quota", 2, *FAST)
    said = "there are no negative cases, so the ranking cannot be evaluated; name measures that one class is enough for"
    for command in (("evaluate", path, "--score", "p"), ("compare", path)):  # an error, and no report beside it
        result = CliRunner().invoke(cli, [str(a) for a in (*command, *named)], catch_exceptions=False)
        assert (result.exit_code, result.stdout) == (2, "")
        assert f"cutline: {said} with --measure brier_score" in result.stderr
    assert "expect" not in run("evaluate", path, "--score", "p", *named, "--measure", "pem").stdout
    path.write_text("y,p,q\n0,0.25,0.5\n")
    first = run("evaluate", path, "--label", "y", "--score", "p", "--measure", "pem", *FAST).stdout.splitlines()[0]
    assert first == "p: 1 row, 0 positive (0.0%); there are no positive cases, so the ranking cannot be evaluated"
    only = run("compare", EXAMPLE, "--score", "network", "--score", "tree", "--quota", 1, *FAST).stdout
    assert only.startswith("With 1 place, network is ahead, but not clearly: it finds 1 of the 87 positives, ")


def test_the_last_lines_offer_only_options_that_were_not_given(tmp_path: Path) -> None:
    def offered(*arguments: object) -> str:
        lines = run(*arguments, *FAST).stdout.splitlines()
        return next((line for line in lines if line.startswith("More: ")), "")

    one, two = ("evaluate", EXAMPLE, "--score", "tree"), ("compare", EXAMPLE, "--score", "tree", "--score", "network")
    assert offered(*one) == "More: --all (61 measures) · --html report.html · cutline measures NAME"
    assert "--html" not in offered(*one, "--html", tmp_path / "t.html")
    assert "--all" not in offered(*two, "--all")
    assert offered(*two, "--pairs", "--why").startswith("More: --all (")


def test_an_option_of_other_commands_is_told_by_what_this_one_calls_it() -> None:
    said = refused("check", EXAMPLE, "--quota", 300, "hit_rate >= .4")
    assert said.startswith("--quota is the quota of the condition here, as in: cutline check scores.csv")
    assert 'hit_rate@200 >= .5"' in said
    assert refused("screen", EXAMPLE, "--score", "tree").startswith("--score is part of --stage here, as in: ")
    assert refused("check", EXAMPLE, "--quotas", 300).startswith("No such option '--quotas'")


@pytest.mark.parametrize(
    ("condition", "near"),
    [("hit rate >= 40%", "hit_rate"), ("hits@300 >= 120", "hit_rate@300"), ("roc_auc >> .8", "roc_auc")],
)
def test_a_condition_that_is_no_measure_names_the_nearest(condition: str, near: str) -> None:
    said = refused("check", EXAMPLE, "--label", "completed", "--score", "tree", condition)
    assert f"; did you mean {near}, " in said

"""The doctor: which columns could be what, what looks wrong, what to run next."""

from __future__ import annotations

import io
import json
import shlex
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas
import pytest
from click.testing import CliRunner

import cutline as cl
from cutline.commands.group import cli
from cutline.sources import rules
from test_cli import FAST, refused, run


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A file with everything that the doctor looks for."""
    rng = np.random.default_rng(0)
    n = 400
    p = rng.random(n)
    y = rng.random(n) < p
    lines = [",customer,bought,p,turned,margin,leak,region,visit,same,w"]
    for k in range(n):
        word = "yes" if y[k] else "no"
        leak = y[k] + 0.001 * p[k]
        cells = [k, 10_000 + k * 7 % 1009, word, f"{100 * p[k]:.1f}%", f"{1 - p[k]:.4f}", f"{4 * p[k] - 2:.3f}"]
        cells += [f"{leak:.4f}", "NSEW"[k % 4], k % 90, 1, 1 + k % 3]
        lines.append(",".join(map(str, cells)))
    lines.append(f"{n},77,,50%,0.5,0.3,0.2,N,3,1,1")
    path = tmp_path / "odd.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_what_each_column_could_be(odd: Path) -> None:
    found = cl.doctor(odd)
    roles = {row["column"]: row["could be"] for row in found.to_dicts()}
    assert roles == {
        "": "index",
        "customer": "identifier",
        "bought": "label",
        "p": "score",
        "turned": "score",
        "margin": "score",
        "leak": "score",
        "region": "segment",
        "visit": "cluster",
        "same": "-",
        "w": "weight, segment",
    }
    assert (found.label, found.pos_label, found.rows) == ("bought", "yes", 401)
    assert "yes (" in found.balance


@pytest.mark.parametrize(
    "words",
    [
        "the column without a name only numbers the rows",
        "the labels 'no', 'yes' do not show which one is positive: the command below uses 'yes'",
        "'bought' has no value in 1 row",
        "'same' has the same value in every row",
        "'turned' ranks significantly worse than chance",
        "'margin', 'leak' do not lie between 0 and 1, so they are not probabilities",
        "'leak' separates the classes (almost) perfectly, AUC 1.0000",
    ],
)
def test_what_looks_wrong(odd: Path, words: str) -> None:
    findings = cl.doctor(odd).findings
    assert any(words in sentence for sentence in findings), findings


def test_the_command_that_it_gives_runs(odd: Path) -> None:
    found = json.loads(run("doctor", odd, "--format", "json").stdout)
    command = shlex.split(found["command"])
    assert command[:3] == ["cutline", "compare", str(odd)]
    assert run(*command[1:], "--measure", "roc_auc", *FAST).exit_code == 0
    text = run("doctor", odd).stdout
    assert f"Next: {found['command']}" in text
    assert "understood" not in text


def test_copies_frames_and_tables_without_a_label(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame({"y": rng.integers(0, 2, 50), "a": rng.random(50)})
    frame["b"] = frame["a"]
    frame = pandas.concat([frame, frame.iloc[:5]])
    found = cl.doctor(frame)
    assert any("5 rows repeat another row in every column" in sentence for sentence in found.findings)
    assert found.command == "cutline compare FILE --label y --score a --score b"
    path = tmp_path / "t.csv"
    path.write_text("a,b\n0.5,0.25\n0.75,0.125\n0.1,0.2\n")
    assert "no column has two values" in run("doctor", path).stdout
    path.write_text("x,z,p\n1,0,0.5\n0,1,0.25\n1,1,0.75\n")
    done = run("doctor", path).stdout
    assert "several columns could be the label: 'x', 'z'" in done
    assert f"Next: cutline doctor {path} --label x" in done
    with pytest.raises(cl.InputError, match="cannot be examined"):
        cl.doctor({"y": [1, 0], "p": [1, 0]})


def test_distinct_values_are_counted_and_rounded_scores_are_no_copies(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    lines = [f"#{k},{rng.integers(0, 2)},{rng.random():.1f}" for k in range(997)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["id,y,p", *lines]) + "\n")
    found = cl.doctor(path)
    assert {row["column"]: row["distinct"] for row in found.to_dicts()} == {"id": 997, "y": 2, "p": 11}
    assert not any("repeat" in sentence for sentence in found.findings)


@pytest.mark.parametrize(("words", "positive"), [(("no", "yes"), "yes"), (("ja", "nein"), "ja"), (("b", "g"), "b")])
def test_the_positive_label_it_suggests_says_yes_or_is_the_rarer(words: tuple[str, str], positive: str) -> None:
    rng = np.random.default_rng(4)
    common, rare = [word for word in words if word != positive], positive
    frame = pandas.DataFrame({"y": rng.permutation([*common * 80, *[rare] * 20]), "p": rng.random(100)})
    found = cl.doctor(frame)
    assert found.pos_label == positive
    assert any(f"the command below uses {positive!r}" in sentence for sentence in found.findings)


def test_inputs_beside_probabilities_stay_out_of_the_command(odd: Path) -> None:
    found = cl.doctor(odd)
    assert "--score p --score turned" in found.command
    assert "margin" not in found.command
    assert any("add --score for 'margin', 'leak' if they are scores too" in sentence for sentence in found.findings)
    assert any(
        "'w' may be a weight (how many cases a row represents): if so, add --weight w" in s for s in found.findings
    )


def test_counts_of_equal_rows_are_not_taken_for_weights() -> None:
    rng = np.random.default_rng(0)
    for name, weight in (("weight", True), ("count", False), ("frequency", False)):
        frame = pandas.DataFrame({"y": rng.integers(0, 2, 60), "p": rng.random(60), name: rng.integers(1, 9, 60)})
        assert any("--weight" in sentence for sentence in cl.doctor(frame).findings) == weight


def test_several_classes_are_seen_as_evaluate_sees_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    frame = pandas.DataFrame(rng.dirichlet(np.ones(3), 60), columns=["p_cat", "p_dog", "p_owl"])
    frame.insert(0, "animal", rng.choice(["cat", "dog", "owl"], 60))
    path = tmp_path / "animals.csv"
    frame.to_csv(path)
    found = cl.doctor(path)
    assert (found.label, found.command) == ("animal", f"cutline evaluate {path} --label animal")
    assert any("several classes" in sentence for sentence in found.findings)
    assert "the right class in" in run(*shlex.split(found.command)[1:], *FAST).stdout


def test_labels_with_a_third_value(tmp_path: Path) -> None:
    path = tmp_path / "third.csv"
    rows = [f"{('no', 'yes')[k % 3 == 0]},0.{k % 89 + 10}" for k in range(60)]
    path.write_text("\n".join(["y,p", *rows, "unknown,0.5"]) + "\n")
    found = cl.doctor(path)
    assert "no column has two values ('y' has a few more)" in found.findings[0]
    assert found.command == f"cutline doctor {path} --label y"
    named = cl.doctor(path, label="y")
    assert (
        "'y' has more than two values: the command below uses 'yes', and the others count as negative" in named.findings
    )
    assert "61 rows" in run(*shlex.split(named.command)[1:], *FAST).stdout


def _letters(rng: np.random.Generator, models: tuple[str, ...] = ("lda_", "trees_"), n: int = 120) -> str:
    letters = list("ABCDEFGH")
    names = [f"{model}{letter}" for model in models for letter in letters]
    p = np.concatenate([rng.dirichlet(np.ones(8), n) for _ in models], axis=1).round(4)
    rows = [f"{letters[rng.integers(8)]}," + ",".join(map(str, row)) for row in p]
    return "\n".join([f"letter,{','.join(names)}", *rows]) + "\n"


def _binary(rng: np.random.Generator, header: str = "y,p,q", labels: Any = (0, 1), n: int = 60) -> str:
    rows = [f"{labels[rng.integers(len(labels))]},{rng.random():.3f},{rng.random():.3f}" for _ in range(n)]
    return "\n".join([header, *rows]) + "\n"


def _odd_files() -> dict[str, str]:
    rng = np.random.default_rng(8)
    plain = _binary(rng)
    words = _binary(rng, labels=("low", "mid", "high"))
    return {
        "two models of eight classes": _letters(rng),
        "one model of eight classes": _letters(rng, ("p_",)),
        "three models, one nested": _letters(rng, ("a_", "a_b_", "c_")),
        "plain": plain,
        "duplicate columns": _binary(rng, "y,p,p"),
        "duplicate labels": _binary(rng, "y,y,p"),
        "cover sheet": "Report of the quarter\nmade by the department\n\n" + plain,
        "title row": "Scores of all models,,\n" + plain,
        "three values": words,
        "three numbers": _binary(rng, labels=(1, 2, 3)),
        "yes, no, unknown": _binary(rng, labels=("yes", "no", "unknown")),
        "one class": _binary(rng, labels=(1,)),
        "predicted classes": "kind,said,other\n"
        + "".join(f"{'abc'[k % 3]},{'abcb'[k % 4]},{k % 7}\n" for k in range(60)),
        "constant score": "y,p\n" + "".join(f"{k % 2},0.5\n" for k in range(40)),
        "no numbers": "y,who\n" + "".join(f"{k % 2},n{k}\n" for k in range(40)),
        "numbers alone": "a,b\n" + "".join(f"{rng.random()},{rng.random()}\n" for _ in range(40)),
        "missing cells": plain + "1,,0.5\n,0.25,0.5\n",
        "strange cells": plain + "1,x,0.5\n0,n/a,0.1\n",
        "semicolons": plain.replace(".", ",").replace(",0,", ";0,").replace("y,p,q", "y;p;q"),
        "names with spaces": plain.replace("y,p,q", "has bought,p of it,q's"),
        "a name like an option": plain.replace("y,p,q", "y,--score,-q"),
        "stars": plain.replace("y,p,q", "y,p*,p?"),
        "two labels": "".join(
            f"{a},{b},{c}\n" for a, b, c in [("y", "z", "p"), *((k % 2, k % 3 % 2, k / 60) for k in range(60))]
        ),
        "one column": "p\n" + "".join(f"{rng.random():.3f}\n" for _ in range(40)),
        "one label": "y\n" + "1\n0\n" * 20,
        "words alone": "who,where\n" + "".join(f"n{k},{'NSEW'[k % 4]}\n" for k in range(40)),
        "a mark of the byte order": "\ufeff" + plain,
        "tabs and percentages": plain.replace(",0.", "\t").replace("y,p,q", "y\tp\tq"),
        "a quote in a name": plain.replace("y,p,q", "it's,p,q"),
        "a wide matrix of classes": _letters(rng, ("",), 40),
        "a row of totals": "who,y,p\n"
        + "".join(f"n{k},{k % 2},{rng.random():.3f}\n" for k in range(40))
        + "Total,,20.5\n",
        "labels spelled in several ways": _binary(rng, labels=("yes", "no", "Yes ", "NO")),
        "counts": "score,positives,rows\n" + "".join(f"0.{k},{k + 1},{9 + k}\n" for k in range(1, 9)),
        "counts of fraud": "region,p,fraud,n\n"
        + "".join(f"{'NS'[k % 2]},0.{k // 2},{k},{20 + k % 5}\n" for k in range(2, 18)),
        "counts of two classes": "pos;neg;p\n" + "".join(f"{k};{9 - k};0,{k}\n" for k in range(1, 9)),
        "counts of buckets": "low,high,events,n\n" + "".join(f"0.{k},0.{k}9,{k + 2},30\n" for k in range(1, 9)),
        "counts with a gap": "p,pos,n\n0.5,3,9\n,2,4\n0.25,2,8\n",
        "counts that cannot be": "score,positives,rows\n0.25,9,4\n0.5,2,6\n0.75,3,8\n",
        "an index": ",y,p\n" + "".join(f"{k},{k % 2},{rng.random():.3f}\n" for k in range(40)),
        "few rows": "y,p\n1,0.5\n0,0.25\n",
    }


@pytest.mark.parametrize("kind", _odd_files())
def test_every_command_that_it_gives_runs_and_fits_on_a_screen(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text(_odd_files()[kind])
    words = ["cutline", "doctor", str(path)]
    for _ in range(3):
        done = CliRunner().invoke(cli, [*words[1:], *([] if words[1] == "doctor" else FAST)])
        if len(words) == 3 and done.exit_code == 2:
            return  # the file itself is refused, and nothing is proposed
        assert done.exit_code == 0, (words, done.output)
        if words[1] != "doctor":
            return
        assert len(done.stdout.splitlines()) <= 60
        found = [line for line in done.stdout.splitlines() if line.startswith("Next: ")]
        if not found:
            assert "What to check:" in done.stdout
            assert done.stdout.startswith("Nothing can be evaluated yet: see what to check below\n")
            return
        words = shlex.split(found[0].removeprefix("Next: "))
        answers = {"doctor": "Choose the label first", "evaluate": "You can run cutline evaluate"}
        answer = answers.get(words[1], "You can run cutline compare")
        assert done.stdout.startswith(f"{answer}: see Next below\n")
    pytest.fail(f"the doctor goes round in circles: {words}")


@pytest.mark.parametrize("how", ["evaluate", "compare", "gaps", "segments"])
def test_counts_of_a_query_are_known(how: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    frame = pandas.DataFrame({"y": rng.integers(0, 2, 90), "p": rng.random(90), "q": rng.random(90), "r": "NS" * 45})
    frame["r"] = list("NS" * 45)
    frame.loc[: 3 if how == "gaps" else -1, "p"] = np.nan
    asked: dict[str, Any] = {"score": ["p", "q"] if how == "compare" else "p"}
    asked |= {"by": ["r"]} if how == "segments" else {}
    query = cl.sql(dialect="duckdb", table="frame", label="y", **asked)
    path = tmp_path / "counts.csv"
    duckdb.sql(query).df().to_csv(path, index=False)
    found = cl.doctor(path)
    verb = "compare" if how == "compare" else "evaluate"
    gaps = " --missing drop" if how == "gaps" else ""
    assert found.command == f"cutline {verb} {path}{gaps}"
    assert found.balance.startswith(f"counts of {86 if gaps else 90} cases, ")
    assert run(*shlex.split(found.command)[1:], *FAST).exit_code == 0


def test_counts_are_told_from_rows_by_what_they_contain(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(_odd_files()["counts of fraud"])
    found = cl.doctor(path)
    assert found.command == f"cutline evaluate {path} --score p --positives fraud --rows n"
    roles = {row["column"]: row["could be"] for row in found.to_dicts()}
    assert roles == {"region": "segment", "p": "score", "fraud": "positives", "n": "rows"}
    rng = np.random.default_rng(1)
    rows = pandas.DataFrame({"y": rng.integers(0, 2, 60), "p": rng.random(60), "hits": rng.integers(0, 5, 60)})
    rows["total"] = rows["hits"] + rng.integers(1, 9, 60)
    assert cl.doctor(rows).command == "cutline evaluate FILE --label y --score p"


@pytest.mark.parametrize("kind", ["plain", "counts", "a wide matrix of classes", "three values"])
def test_every_command_for_a_workbook_runs(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.xlsx"
    pytest.importorskip("openpyxl")
    pandas.read_csv(io.StringIO(_odd_files()[kind])).to_excel(path, index=False)
    command = cl.doctor(path).command
    label = "y" if kind == "three values" else None
    command = cl.doctor(path, label=label).command if label else command
    assert run(*shlex.split(command)[1:], *FAST).exit_code == 0


def test_models_of_several_classes_are_told_by_what_their_columns_begin_with(tmp_path: Path) -> None:
    path = tmp_path / "letters.csv"
    path.write_text(_odd_files()["two models of eight classes"])
    for label in (None, "letter"):
        found = cl.doctor(path, label=label)
        assert (found.label, len(found.scores)) == ("letter", 0)
        assert found.findings == ("several classes: columns of 2 models named after the classes ('lda_*', 'trees_*')",)
        assert found.command == f"cutline compare {path} --label letter --score 'lda_*' --score 'trees_*'"
        assert {row["could be"] for row in found.to_dicts()} == {"label", "score"}
    for words in (
        [],
        ["--label", "letter"],
        ["--score", "lda_*", "--score", "trees_*"],
    ):  # named or not, they are known
        assert "2 models: 120 rows, 8 classes" in run("compare", path, *words, *FAST).stdout
    said = refused("evaluate", path)
    assert said.endswith("choose one with --score 'lda_*', or compare them")


def test_the_doctor_does_not_repeat_what_was_given(tmp_path: Path) -> None:
    path = tmp_path / "cover.csv"
    path.write_text(_odd_files()["cover sheet"])
    assert "3 lines above the header: --skip-rows 3" in cl.doctor(path).findings
    assert not any("above the header" in sentence for sentence in cl.doctor(path, skip_rows=3).findings)
    assert "--skip-rows 3" in cl.doctor(path, skip_rows=3).command


def test_amounts_with_a_currency_sign_are_known(tmp_path: Path) -> None:
    path = tmp_path / "amounts.csv"
    for amount in ("{},51 €", "EUR {}.50", "${},000", "{} 200,00\u00a0€"):
        cells = [f'{k % 2},{(k * 7 % 41) / 41:.3f},"{amount.format(k + 1)}"' for k in range(40)]
        path.write_text("\n".join(["y,p,amount", *cells]) + "\n", encoding="utf-8")
        found = cl.doctor(path)
        assert found.to_dicts()[2]["could be"] == "-"
        assert any("'amount' contains amounts with a currency sign" in sentence for sentence in found.findings)
        said = refused("evaluate", path, "--score", "p", "--worth", "amount", "--quota", 9)
        assert said.endswith("which is not a number; " + rules.NO_CURRENCY)
    assert cl.doctor(pandas.DataFrame({"y": [0, 1] * 20, "p": ["A1", "B2"] * 20})).to_dicts()[1]["contents"] == "words"


def test_the_doctor_speaks_in_options(tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    path.write_text("y;p\n" + "".join(f"{k % 2};{'1.' if k % 3 else ''}{100 + k}\n" for k in range(40)))
    said = "write --decimal . if they are decimal points, --decimal , if they separate thousands"
    assert any(said in sentence for sentence in cl.doctor(path).findings)
    path.write_text("y,p\n" + "".join(f"{('Yes', 'yes', 'no', 'maybe')[k % 4]},0.{k}\n" for k in range(40)))
    found = cl.doctor(path, label="y", pos_label="Yes")
    assert any("join such labels with --ignore-case" in sentence for sentence in found.findings)
    assert not any("_" in sentence or "True" in sentence for sentence in found.findings)


def test_the_command_says_how_the_file_is_written(tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_text(_odd_files()["plain"].replace(",", "~"))
    found = cl.doctor(path, delimiter="~")
    assert found.command.endswith("--delimiter '~'")
    assert run(*shlex.split(found.command)[1:], *FAST).exit_code == 0


def test_a_labelling_plan_is_evaluated_with_its_inclusion(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(3), 600
    table = pandas.DataFrame({"p": rng.random(n), "q": rng.random(n)}).round(4)
    table.insert(0, "inclusion", np.where(table.p > 0.5, 0.8, 0.4))
    table.insert(0, "to_label", (rng.random(n) < table.inclusion).astype(int))
    table["bought"] = (rng.random(n) < 0.3).astype(int)
    table.to_csv(whole := tmp_path / "whole.csv", index=False)
    assert "inclusion" not in cl.doctor(whole).command  # all labels are known
    table["bought"] = table.bought.where(table.to_label == 1).astype("Int64")
    table.to_csv(path := tmp_path / "plan.csv", index=False)
    found = cl.doctor(path)
    assert found.command == f"cutline evaluate {path} --label bought --inclusion inclusion --score p"
    assert {row["column"]: row["could be"] for row in found.to_dicts()}["to_label"] == "to label"
    assert not any("--missing drop" in finding for finding in found.findings)
    run(*shlex.split(found.command)[1:], *FAST[:0])
    dropped = run("evaluate", path, "--label", "bought", "--score", "p", "--missing", "drop").stderr
    assert "add --inclusion inclusion" in dropped


def test_a_trial_is_sent_to_uplift(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(4), 400
    table = pandas.DataFrame({"mailed": rng.integers(0, 2, n), "bought": rng.integers(0, 2, n)})
    table["p"], table["q"] = rng.random(n).round(4), rng.random(n).round(4)
    table.to_csv(path := tmp_path / "trial.csv", index=False)
    found = cl.doctor(path)
    assert (found.label, found.to_dicts()[0]["could be"]) == ("bought", "treatment")
    (trial,) = (finding for finding in found.findings if "uplift" in finding)
    command = trial.partition("run ")[2]
    assert command == f"cutline uplift {path} --treated mailed --outcome bought --score p --score q"
    run(*shlex.split(command)[1:])
    assert cl.doctor(path, label="mailed").label == "mailed"

"""The command line on files with several classes: found by name, by pattern, as predictions, in long form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.test_classes import NAMES, forest
from tests.test_cli import FAST, refused, run

import cutline as cl


def write(path: Path, columns: dict[str, Any]) -> Path:
    rows = zip(*columns.values(), strict=True)
    path.write_text(",".join(columns) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def trees() -> tuple[np.ndarray, np.ndarray]:
    y, p = forest(120, 4)
    return np.array(NAMES)[y], p


def columns_of(p: np.ndarray, before: str = "", after: str = "") -> dict[str, Any]:
    return {f"{before}{name}{after}": p[:, k] for k, name in enumerate(NAMES)}


@pytest.mark.parametrize(("before", "after"), [("", ""), ("p_", ""), ("prob.", "_net")])
@pytest.mark.parametrize("said", [True, False])
def test_columns_named_after_the_classes_are_found(
    trees: Any, tmp_path: Path, before: str, after: str, said: bool
) -> None:
    y, p = trees
    path = write(tmp_path / "t.csv", {"id": range(120), "kind": y, **columns_of(p, before, after)})
    label = ["--label", "kind"] if said else []
    result = run("evaluate", path, *label, "--format", "json", *FAST)
    assert "several classes" in result.stderr
    out = json.loads(result.stdout)
    ev = cl.evaluate(y, p, classes=NAMES)
    assert out["classes"] == NAMES
    found = {row["measure"]: row for row in out["measures"]}
    for name in ev:
        assert found[name]["value"] == pytest.approx(ev[name].value), name
        assert found[name]["low"] == pytest.approx(ev[name].low), name
    assert out["confusion"] == ev.confusion.counts.tolist()


def test_accuracy_is_the_accuracy(trees: Any, tmp_path: Path) -> None:
    y, p = trees
    path = write(tmp_path / "t.csv", {"kind": y, **columns_of(p, "p_")})
    out = json.loads(
        run("evaluate", path, "--score", "p_*", "--label", "kind", "--measure", "accuracy", "--format", "json").stdout
    )
    assert out["measures"][0]["value"] == pytest.approx((np.array(NAMES)[p.argmax(axis=1)] == y).mean())
    assert len(out["measures"]) == 1


def test_tables_for_people(trees: Any, tmp_path: Path) -> None:
    y, p = trees
    path = write(tmp_path / "t.csv", {"kind": y, **columns_of(p)})
    text = run("evaluate", path, "--label", "kind", *FAST).stdout
    assert "120 cases of 4 classes" in text
    assert "predicts the right class in" in text
    assert "Real class (rows) by predicted class (columns)" in text
    assert "Macro F1" in text
    markdown = run("evaluate", path, "--label", "kind", "--all", "--format", "markdown", *FAST).stdout
    assert "| accuracy" in markdown
    assert "| macro(f1)" in markdown
    rows = run("evaluate", path, "--label", "kind", "--format", "csv", *FAST).stdout.splitlines()
    assert rows[0].startswith("measure,")


def test_hard_predictions(trees: Any, tmp_path: Path) -> None:
    y, p = trees
    said = np.array(NAMES)[p.argmax(axis=1)]
    path = write(tmp_path / "t.csv", {"kind": y, "guess": said})
    out = json.loads(run("evaluate", path, "--label", "kind", "--predicted", "guess", "--format", "json").stdout)
    ours = cl.evaluate(y, predicted=said)
    assert {row["measure"]: row["value"] for row in out["measures"]} == {k: pytest.approx(ours[k].value) for k in ours}


def test_models_of_several_classes_are_compared(trees: Any, tmp_path: Path) -> None:
    y, p = trees
    _, q = forest(120, 4, strength=0.5)
    path = write(tmp_path / "t.csv", {"kind": y, **columns_of(p, "good_"), **columns_of(q, "poor_")})
    arguments = ("compare", path, "--label", "kind", "--score", "good_*", "--score", "poor_*", *FAST)
    out = json.loads(run(*arguments, "--format", "json").stdout)
    cmp = cl.compare(y, {"good": p, "poor": q}, classes=NAMES)
    for row in out["differences"]:
        assert row["p_value"] == pytest.approx(cmp.difference(row["a"], row["b"], row["measure"])["p_value"])
    assert run(*arguments).stdout.startswith(f"By accuracy, {cmp.verdict('accuracy').lead}: ")
    assert {v["measure"]: v["text"] for v in out["verdicts"]}["accuracy"] == cmp.verdict("accuracy").sentence


def test_what_does_not_fit_is_refused(trees: Any, tmp_path: Path) -> None:
    y, p = trees
    path = write(tmp_path / "t.csv", {"kind": y, **columns_of(p, "p_")})
    arguments = ("evaluate", path, "--label", "kind", "--score", "p_*")
    assert "p_* means" in refused(*arguments, "--positive", "ash")
    for option in (("--threshold", "0.4"), ("--by", "kind")):
        assert f"{option[0]} works with two classes only" in refused(*arguments, *option)
    assert "no column 'unit' for the cluster" in refused(*arguments, "--cluster", "unit")
    assert "no column 'said' for the predicted class" in refused(
        "evaluate", path, "--label", "kind", "--predicted", "said"
    )
    assert "not a measure of several classes" in refused(*arguments, "--measure", "pem")
    path.write_text("kind,p_a,p_b\na,0.5,0.5\nz,0.1,0.9\nb,0.2,0.8\n")
    assert "'z'" in refused(*arguments)


def test_predictions_are_evaluated_compared_and_ordered(trees: Any, tmp_path: Path) -> None:
    y, p = trees
    said = np.array(NAMES)[p.argmax(axis=1)]
    hard = write(tmp_path / "hard.csv", {"kind": y, "said": said})
    result = run("evaluate", hard, "--label", "kind", "--predicted", "said", "--format", "json", *FAST)
    assert json.loads(result.stdout)["measures"][0]["value"] == pytest.approx((said == y).mean())
    assert "order of the alphabet" in refused("evaluate", hard, "--label", "kind", "--predicted", "said", "--ordered")
    order = ",".join(NAMES[::-1])
    named = ("--label", "kind", "--predicted", "said", "--order", order)
    out = json.loads(run("evaluate", hard, *named, "--format", "json", *FAST).stdout)
    assert out["classes"] == NAMES[::-1]
    assert "cohen_kappa(weights='linear')" in [row["measure"] for row in out["measures"]]
    both = write(tmp_path / "both.csv", {"kind": y, "one": said, "two": np.roll(said, 1), **columns_of(p, "a_")})
    told = ("--label", "kind", "--predicted", "one", "--predicted", "two")
    out = json.loads(run("compare", both, *told, "--score", "a_*", "--format", "json", *FAST).stdout)
    assert {model["name"] for model in out["models"]} == {"one", "two", "a"}
    assert "cannot be used when models of several classes are compared" in refused(
        "compare", both, *told, "--quota", "5"
    )
    assert "two models" in refused("compare", both, "--label", "kind", "--predicted", "one")


def test_rows_that_belong_together_are_resampled_together(trees: Any, tmp_path: Path) -> None:
    y, p = trees
    unit = np.arange(120) // 4
    path = write(tmp_path / "t.csv", {"kind": y, "unit": unit, **columns_of(p, "a_"), **columns_of(p[::-1], "b_")})
    told = ("--label", "kind", "--cluster", "unit", "--format", "json", *FAST)
    found = json.loads(run("evaluate", path, *told, "--score", "a_*").stdout)
    ev = cl.evaluate(y, p, classes=NAMES, clusters=unit)
    assert found["measures"][0]["low"] == pytest.approx(ev["accuracy"].low)
    assert found["data"]["clusters"] == 30
    compared = json.loads(run("compare", path, *told, "--score", "a_*", "--score", "b_*").stdout)
    arrays = cl.compare(y, {"a": p, "b": p[::-1]}, classes=NAMES, clusters=unit)
    assert compared["differences"][0]["low"] == pytest.approx(arrays.differences[0]["low"])


def test_document_and_engines(trees: Any, tmp_path: Path) -> None:
    y, p = trees
    path = write(tmp_path / "t.csv", {"kind": y, **columns_of(p, "a_"), **columns_of(p[::-1], "b_")})
    told = ("--label", "kind", "--score", "a_*")
    out = json.loads(run("evaluate", path, *told, "--format", "json", *FAST).stdout)
    assert out["score"] == [f"a_{name}" for name in NAMES]
    assert out["risk_coverage"][-1]["coverage"] == 1.0
    assert {"class", "predicted", "low", "high"} <= set(out["confusion_shares"][0])
    streamed = run("evaluate", path, *told, "--engine", "duckdb", "--memory-limit", "1GB", "--format", "json", *FAST)
    assert json.loads(streamed.stdout)["measures"] == out["measures"]
    assert "'a_*', 'b_*'" in refused("evaluate", path, "--label", "kind")
    assert "works with two classes only" in refused("evaluate", path, *told, "--threshold", "0.5")
    compared = ("compare", path, *told, "--score", "b_*", "--by", "kind")
    assert "--by works with two classes only" in refused(*compared)


def test_page_and_picture(trees: Any, tmp_path: Path) -> None:
    y, p = trees
    path = write(tmp_path / "t.csv", {"kind": y, **columns_of(p)})
    run("evaluate", path, "--label", "kind", "--html", tmp_path / "t.html", "--plot", tmp_path / "t.svg", *FAST)
    assert "Which classes are confused" in (tmp_path / "t.html").read_text(encoding="utf-8")
    assert "<svg" in (tmp_path / "t.svg").read_text(encoding="utf-8")

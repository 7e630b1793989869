"""``--by``: segments on the command line, from tables of every kind."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import cutline as cl
from cutline.commands.group import cli

RNG = np.random.default_rng(6)
N = 300
FRAME = pd.DataFrame({"y": np.where(RNG.random(N) < 0.4, "yes", "no"), "region": RNG.choice(["n", "s", "o"], N)})
FRAME["month"] = RNG.integers(1, 13, N)
FRAME["p"] = np.round(0.5 * RNG.random(N) + 0.3 * (FRAME.y == "yes"), 3)
FRAME["q"] = np.round(RNG.random(N), 3)
NAMED: dict[str, Any] = {"label": "y", "pos_label": "yes", "measures": ["roc_auc", "recall"], "n_resamples": 50}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("segments") / "scores.csv"
    FRAME.to_csv(path, index=False)
    return path


def run(status: int, command: str, file: Path, *more: object) -> str:
    options = ["--label", "y", "--positive", "yes"] if command != "select" else []
    result = CliRunner().invoke(cli, [command, str(file), *options, *map(str, more)], catch_exceptions=False)
    assert result.exit_code == status, result.output
    return result.stdout if status == 0 else result.stderr


def cells(printed: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(printed)))


def test_every_door_gives_the_same_segments(file: Path) -> None:
    parquet = file.with_suffix(".parquet")
    FRAME.to_parquet(parquet)
    expected = cl.evaluate(
        FRAME.y, FRAME.p, by=FRAME.region, pos_label="yes", measures=NAMED["measures"], n_resamples=50
    ).segments
    for source in (FRAME, pl.from_pandas(FRAME), file, parquet, dict(FRAME.items())):
        found = cl.evaluate(source, score="p", by="region", **NAMED).segments
        assert found.by == ("region",)
        assert found.to_dicts() == expected.to_dicts()
        both = cl.evaluate(source, score="p", by=["region", "month"], **NAMED, interval=None).segments
        assert both.names[:2] == ["n × 1", "n × 2"]
        assert both.names.index("n × 10") > both.names.index("n × 9")


def test_rows_without_a_segment(file: Path, tmp_path: Path) -> None:
    frame = FRAME.copy()
    frame.loc[[3, 7], "region"] = None
    path = tmp_path / "gaps.csv"
    frame.to_csv(path, index=False)
    for source in (frame, path):
        with pytest.raises(cl.InputError, match=r"column 'region': .*has a missing value; fill it in, or leave such"):
            cl.evaluate(source, score="p", by="region", **NAMED)
        assert (
            cl.evaluate(source, score="p", by="region", missing="drop", **NAMED).segments.overall.facts["dropped"] == 2
        )
    weighted = FRAME.assign(w=np.where(np.arange(N) < 10, 0, 2))
    found = cl.evaluate(weighted, score="p", weight="w", by="region", **NAMED).segments
    assert sum(ev.facts["rows"] for ev in found.values()) == N - 10


def test_refusals_of_tables(file: Path) -> None:
    for by, words in ((["region", "region"], "twice"), ([], "by is empty"), ("regio", "did you mean 'region'")):
        with pytest.raises(cl.InputError, match=words):
            cl.evaluate(file, score="p", by=by, **NAMED)


def test_evaluate_by_prints_segments_differences_and_the_list(file: Path) -> None:
    asked = ("evaluate", file, "--score", "p", "--quota", 30, "--by", "region", "--resamples", 50)
    first, second, *_ = run(0, *asked).splitlines()
    n, o, s = cl.evaluate(FRAME, label="y", pos_label="yes", score="p", by="region", quota=30).segments.at()
    places = (
        f"s gets {s['places']:.0f} and finds {s['recall']:.0%} of its positives, n gets {n['places']:.0f} and finds "
    )
    assert first == f"One list for all (30 places): {places}{n['recall']:.0%}, o gets 7 and finds {o['recall']:.0%}."
    assert second == "No segment differs clearly from the rest in ROC AUC."
    printed = run(0, *asked, "--all")
    for words in (
        "Segments",
        "Against the rest",
        "One list for all, 30 places",
        "Four-fifths rule",
    ):
        assert words in printed
    more = ("--score", "p", "--quota", 30, "--by", "region", "--format", "json", "--measure", "pem")
    found = json.loads(run(0, "evaluate", file, *more))
    seg = cl.evaluate(FRAME, label="y", pos_label="yes", score="p", by="region", quota=30, measures=["pem"]).segments
    assert [s["segment"] for s in found["segments"]] == list(seg) == ["n", "o", "s"]
    assert found["one_list"]["segments"][0]["places"] == seg.at()["n"]["places"]
    assert found["differences"][0]["segment"] == seg.differences().to_dicts()[0]["segment"]
    assert found["overall"]["measures"][0]["value"] == seg.overall["pem"].value
    rows = cells(run(0, "evaluate", file, "--score", "p", "--by", "region", "--by", "month", "--format", "csv"))
    assert {"by region", "by month", "value", "note"} <= set(rows[0])


def test_evaluate_by_prints_the_trend(file: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    some = ("--score", "p", "--by", "region", "--measure", "roc_auc", "--resamples", 50, "--html", page)
    given = ("--quota", 50, "--order", "s,o,n")
    text, found = run(0, "evaluate", file, *some, *given), run(0, "evaluate", file, *some, *given, "--format", "json")
    document = json.loads(found)
    (trend,) = document["trends"]
    assert trend["segments"] == ["s", "o", "n"]
    assert document["one_list"]["quota"] == 50
    assert "No clear trend from s to n." in text
    assert "No clear trend from s to n." in page.read_text()
    same = json.loads(run(0, "evaluate", file, *some[:-2], "--ordered", "--format", "json"))["trends"]
    assert same[0]["segments"] == ["n", "o", "s"]
    assert "trend" not in run(0, "evaluate", file, *some[:-2])
    for problem, options in {
        "--order leaves out 'o', 's'": (*some[:-2], "--order", "n"),
    }.items():
        assert problem in run(2, "evaluate", file, *options)


def test_page_and_terminal_tell_the_same_of_segments_at_a_quota(file: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    text = run(0, "evaluate", file, "--score", "p", "--by", "region", "--quota", 30, "--html", page)
    shown = page.read_text(encoding="utf-8")
    answer = text.splitlines()[:3]
    assert answer[1].startswith(("No segment differs", "Clearly different"))
    assert answer[2].startswith("With 30 places, p finds ")
    for sentence in answer:
        assert sentence in shown
    # thirty places are a larger share of a segment than of all rows, so no picture puts the two side by side
    charts = shown[shown.index('id="segments"') : shown.index('id="explorer"')]
    assert "Area under the ROC curve" in charts
    assert "hit_rate@30" not in charts
    together = next(line for line in text.splitlines() if line.startswith("all "))
    assert together.split()[-3] == "30"


def test_compare_by(file: Path) -> None:
    more = ("--score", "p", "--score", "q", "--by", "region", "--resamples", 50)
    assert "ROC AUC by segment" in run(0, "compare", file, *more)
    assert "Differences between models by segment" in run(0, "compare", file, *more, "--all")
    found = json.loads(run(0, "compare", file, *more, "--format", "json", "--measure", "roc_auc"))
    assert {row["segment"] for row in found["differences"]} == {"n", "o", "s"}


def test_options_that_do_not_go_with_segments_are_refused(file: Path) -> None:
    assert "has no column 'nope' for the segment" in run(2, "evaluate", file, "--score", "p", "--by", "nope")
    assert "has no column 'nope' for the batch" in run(2, "evaluate", file, "--score", "p", "--batch", "nope")
    assert "--by names 'region' twice" in run(2, "evaluate", file, "--score", "p", "--by", "region", "--by", "region")
    said = run(2, "evaluate", file, "--score", "p", "--by", "region", "--prevalence", 0.1)
    assert "--prevalence does not go with --by" in said


def test_segments_in_batches_share_one_list_in_each_batch(file: Path) -> None:
    asked = ("evaluate", file, "--score", "p", "--by", "region", "--batch", "month", "--quota", 2)
    told = run(0, *asked, "--all")
    assert "One list for each batch, 2 places in each of 12 batches" in told


@pytest.mark.parametrize("weight", [None, "w"])
def test_a_stream_gives_the_same_segments_from_one_pass(file: Path, tmp_path: Path, weight: str | None) -> None:
    frame = FRAME.assign(w=np.arange(N) % 3 + 1, p=FRAME.p.round(2))
    frame.loc[4, "p"] = None
    path = tmp_path / "long.csv"
    frame.to_csv(path, index=False)
    how: dict[str, Any] = {**NAMED, "score": "p", "by": ["region", "month"], "quota": 40, "missing": "drop"}
    how |= {"weight": weight, "threshold": 0.4, "measures": ["roc_auc", "recall", "hit_rate", "brier_score"]}
    one, two = (cl.evaluate(path, **how, stream=stream).segments for stream in (False, True))
    assert list(one) == list(two)
    assert one.overall.facts["dropped"] == two.overall.facts["dropped"] == 1
    for key, ev in [*one.items(), (None, one.overall)]:
        other = two.overall if key is None else two[key]
        for measure, e in ev.estimates.items():
            f = other.estimates[measure]
            assert (e.value, e.reason) == (pytest.approx(f.value, abs=1e-12, nan_ok=True), f.reason), (key, measure)
            if weight is None and min(ev.facts["positives"], ev.facts["negatives"]) > 1:
                assert np.allclose([e.low, e.high], [f.low, f.high], equal_nan=True), (key, measure)
    for where in ({"quota": 40}, {"threshold": 0.4}, {"quota": 40, "reference": "n × 1"}):
        for a, b in zip(one.at(**where), two.at(**where), strict=True):
            for name, value in a.items():
                text = isinstance(value, str)
                assert value == (b[name] if text else pytest.approx(b[name], rel=1e-6, nan_ok=True)), name
    assert len(two.differences("n × 1", measures=["roc_auc"])) == len(one) - 1
    largest = max(two, key=lambda key: two[key].facts["rows"])
    assert json.loads(two.to_json())["differences"] == json.loads(two.differences(largest).to_json())
    assert two.compared is two.compared
    with pytest.raises(cl.InputError, match="streamed"):
        two.differences()
    with pytest.raises(cl.InputError, match="cut elsewhere"):
        two.at(quota=7)

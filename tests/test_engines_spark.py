"""One answer on Spark, too: local mode, skew, ranges with one class or no rows; a cluster that loses a worker."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.integration,  # every door is tried on Spark by test_sources, which `make test` runs
    pytest.mark.xdist_group("spark"),  # one Java at a time
    pytest.mark.filterwarnings("ignore"),
]  # Spark warns about pandas, sockets and its own past

import duckdb  # noqa: E402
import pyarrow  # noqa: E402
import pyarrow.parquet  # noqa: E402

import cutline as cl  # noqa: E402
from cutline.catalogue.declare import parse_measure  # noqa: E402
from cutline.engines import spark_engine  # noqa: E402
from cutline.evaluation import choose_specs  # noqa: E402
from cutline.runtime import TUNING  # noqa: E402
from cutline.verbs import compare, evaluate  # noqa: E402

CLOSE = {"rel": 1e-12, "abs": 1e-14}
TIES = [parse_measure(text) for text in ("pr_auc_max(ties='best')", "pr_auc_min(ties='worst')", "roc_auc(ties='best')")]


def make_table(kind: str, n: int = 3000) -> dict[str, np.ndarray]:
    """Columns whose ranges of scores are of every sort."""
    rng = np.random.default_rng(len(kind))
    score = rng.random(n)
    if kind == "half the rows tie":
        score[: n // 2] = 0.5
    elif kind == "two scores":
        score = np.where(score < 0.3, 0.0, np.where(rng.random(n) < 0.5, -0.0, 1.0))
    elif kind == "distances":
        score = rng.normal(size=n) * 3
    positive = rng.random(n) < np.clip(score, 0.05, 0.95) ** 2
    if kind == "ranges with one class":
        positive = (score > 0.8) | ((score > 0.2) & (score < 0.25))
    return {"label": positive, "score": score, "weight": np.round(rng.random(n) * 3, 2)}


def frame(spark: Any, table: dict[str, np.ndarray], folder: Path, names: tuple[str, str, str] = ("y", "p", "w")) -> Any:
    con = duckdb.connect()
    con.execute("CREATE TABLE t (y TINYINT, p DOUBLE, w DOUBLE)")
    con.register("source", {"y": table["label"].astype(np.int8), "p": table["score"], "w": table["weight"]})
    con.execute("INSERT INTO t SELECT y, p, w FROM source")
    con.sql("FROM t").write_parquet(str(folder / "t.parquet"))
    con.close()
    return spark.read.parquet(str(folder / "t.parquet")).toDF(*names)


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("kind", ["plain", "half the rows tie", "two scores", "distances", "ranges with one class"])
def test_every_measure_is_the_same_on_spark(
    kind: str, compact: bool, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TUNING, "rows_per_partition", 500)
    if compact:
        monkeypatch.setattr(TUNING, "keep_all_scores", 0)
        monkeypatch.setattr(TUNING, "tied_share", 0.0)  # rows as they are, not added up first
    table = make_table(kind)
    names = ("the `label`", "p.q; DROP", "w'\"")
    rows = frame(spark, table, tmp_path, names)
    measures = [*choose_specs(None, threshold=0.5, quota=37), *TIES, "recall(threshold=0.31)", "quota_pearson@60%"]
    expected = cl.evaluate(table["label"], table["score"], quota=37, measures=measures, interval=None)
    found = evaluate(rows, label=names[0], score=names[1], quota=37, measures=measures, interval=None)
    for key in expected:
        assert found[key].value == pytest.approx(expected[key].value, nan_ok=True, **CLOSE), key
    facts = {key: value for key, value in found.facts.items() if key != "dropped"}
    assert facts == pytest.approx(expected.facts, nan_ok=True)
    at = found.at(quota=37).to_dict()
    assert at == pytest.approx(expected.at(quota=37).to_dict(), nan_ok=True)


def test_weights_and_intervals_on_spark(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TUNING, "rows_per_partition", 700)
    table = make_table("plain")
    rows = frame(spark, table, tmp_path)
    expected = cl.evaluate(table["label"], table["score"], sample_weight=table["weight"], interval=None)
    found = evaluate(rows, label="y", score="p", weight="w", interval=None)
    for key in expected:
        assert found[key].value == pytest.approx(expected[key].value, nan_ok=True, **CLOSE), key
    measures = ["roc_auc", "f1", "hit_rate@50", "auch", "log_loss"]
    truth = cl.evaluate(table["label"], table["score"], measures=measures, n_resamples=500)
    drawn = evaluate(rows, label="y", score="p", measures=measures, n_resamples=500)
    for key in measures[:3]:
        assert (drawn[key].low, drawn[key].high) == pytest.approx((truth[key].low, truth[key].high), rel=1e-5)
    for key in measures[3:]:
        width = truth[key].high - truth[key].low
        assert drawn[key].method == {"auch": "hull", "log_loss": "loss_score"}[key]
        assert drawn[key].high - drawn[key].low == pytest.approx(width, rel=0.2)


def test_bad_tables_on_spark(spark: Any, tmp_path: Path) -> None:
    rows = spark.createDataFrame([(1, 0.5, "a"), (0, None, "b"), (2, 0.3, None)], "y int, p double, c string")
    plain: dict[str, Any] = {"label": "y", "score": "p", "interval": None}
    cases = [
        ({}, r"column 'p': the row \(y=0, p=None, c='b'\) has a missing value; fill it in, or leave such rows"),
        ({"missing": "drop"}, "has the labels 1 and 2"),
        ({"score": "q"}, "did you mean 'p'|no column 'q'"),
        ({"score": "c", "missing": "drop"}, "is 'a', which is not a number"),
        ({"label": "c", "missing": "drop"}, "has the label 'a'; choose the positive one"),
        ({"missing": "drop", "pos_label": 7}, "pos_label is 7, but the labels are 1, 2"),
        ({"missing": "drop", "pos_label": 1, "memory_limit": "1GB"}, "memory_limit does not go with a Spark DataFrame"),
        ({"missing": "drop", "pos_label": 1, "stream": False}, "toPandas"),
    ]
    for wrong, words in cases:
        with pytest.raises(cl.InputError, match=words):
            evaluate(rows, **{**plain, **wrong})
    found = evaluate(rows, missing="drop", pos_label=1, **plain)
    assert found.facts["dropped"] == 1
    assert found["roc_auc"].value == 1.0
    with pytest.raises(cl.InputError, match="no rows"):
        evaluate(rows.where("y > 5"), **plain)
    with pytest.raises(cl.InputError, match="y=0, p=None, c='b'"):  # a row is shown in place of a number
        evaluate(rows, **plain)
    negative = rows.selectExpr("y", "1.0 AS p", "-1.0 AS w").where("y < 2")
    with pytest.raises(cl.InputError, match=r"'w': the row \(y=.* is -1, which is negative; a weight must be"):
        evaluate(negative, weight="w", **plain)


def test_columns_that_spark_cannot_take_are_refused_in_words(spark: Any) -> None:
    plain: dict[str, Any] = {"label": "y", "score": "p", "interval": None}
    cases = [
        ("SELECT id % 2 y, 9007199254740993 + id p FROM range(9)", {}, "'p': the row .* is an integer beyond 2\\^53"),
        ("SELECT id % 2 y, CAST(9007199254740993 + id AS decimal(38,0)) p FROM range(9)", {}, "beyond 2\\^53"),
        (
            "SELECT id % 2 y, 1.0 p, 9007199254740993 + id w FROM range(9)",
            {"weight": "w"},
            "'w': the row .* is an integer beyond",
        ),
        ("SELECT id % 2 y, 0.5 p, 0.4 p FROM range(9)", {}, "several columns called 'p'"),
        ("SELECT id % 2 y, 0.5 p, 0.4 P FROM range(9)", {}, "several columns called 'p' \\('p', 'P'\\)"),
        ("SELECT make_interval(id % 2) y, id p FROM range(9)", {"pos_label": "x"}, "contains interval, not labels"),
        ("SELECT map('a', id % 2) y, id p FROM range(9)", {"pos_label": "x"}, "contains map<string,bigint>, not label"),
        ("SELECT id > 4 y, id p FROM range(9)", {"pos_label": "x"}, "pos_label is 'x', but the labels are False, True"),
        ("SELECT array(id % 2) y, id p FROM range(9)", {}, "contains array<bigint>, not labels"),
    ]
    for query, more, words in cases:
        with pytest.raises(cl.InputError, match=words):
            evaluate(spark.sql(query), **plain, **more)
    unused = spark.sql("SELECT id % 2 y, CAST(id AS double) p, 1 z, 2 z, 3 Z FROM range(9)")
    assert evaluate(unused, **plain).facts["rows"] == 9


def test_a_table_that_changes_between_passes_fails_loudly(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = frame(spark, make_table("plain", 500), tmp_path)
    summed = spark_engine.Passes._summed

    def with_a_row_less(passes: Any, keyed: Any, *rest: Any) -> Any:
        return summed(passes, keyed.limit(keyed.count() - 1), *rest)

    monkeypatch.setattr(spark_engine.Passes, "_summed", with_a_row_less)
    with pytest.raises(cl.InputError, match="changed while it was read"):
        evaluate(rows, label="y", score="p", interval=None)


def test_partitions_without_rows_add_nothing(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Partitions of the source that are empty, and ranges of scores that no row falls into."""
    rows = [(1, 0.9), (0, 0.4), (1, 0.4), (0, 0.1)]
    table = spark.createDataFrame(rows, "y int, p double").repartition(7)  # more partitions than rows
    table = table.union(table.where("p > 5"))
    bounds = [[0.95, 0.9, 0.7, 0.6, 0.4, 0.05]]
    monkeypatch.setattr(spark_engine, "_bounds", lambda *_: bounds)
    measures = ["roc_auc", "average_precision", "auch", "log_loss", "quota_pearson@3", "pr_auc_min", "hit_rate@2"]
    found = evaluate(table, label="y", score="p", measures=measures, interval=None)
    expected = cl.evaluate([y for y, _ in rows], [p for _, p in rows], measures=measures, interval=None)
    assert {key: found[key].value for key in found} == {key: pytest.approx(expected[key].value) for key in expected}


def test_weighted_rows_have_intervals_on_spark(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TUNING, "rows_per_partition", 700)
    table = make_table("plain")
    rows = frame(spark, table, tmp_path)
    measures = ["roc_auc", "f1", "log_loss", "average_precision"]
    asked: dict[str, Any] = {"measures": measures, "n_resamples": 500}
    truth = cl.evaluate(table["label"], table["score"], sample_weight=table["weight"], **asked)
    found = evaluate(rows, label="y", score="p", weight="w", **asked)
    again = evaluate(rows, label="y", score="p", weight="w", **asked)
    for key in measures:
        assert found[key].value == pytest.approx(truth[key].value, **CLOSE)
        assert found[key].method.startswith("poisson_")
        width = truth[key].high - truth[key].low
        assert found[key].high - found[key].low == pytest.approx(width, rel=0.2), key
        assert abs(found[key].low - truth[key].low) < 0.3 * width, key
        assert (again[key].low, again[key].high) == (found[key].low, found[key].high)


def two_models(spark: Any, folder: Path, n: int = 3000) -> tuple[Any, dict[str, np.ndarray]]:
    """A table with two models and a column with gaps."""
    table = make_table("plain", n)
    rng = np.random.default_rng(9)
    other = np.round(np.clip(table["score"] + rng.normal(size=n) * 0.2, 0, 1), 2)
    path = str(folder / "two.parquet")
    con = duckdb.connect()
    columns = {"y": table["label"].astype(np.int8), "p": table["score"], "q": other}
    con.register("source", columns)
    con.sql("SELECT y, p, q, CASE WHEN p > 0.99 THEN NULL ELSE q END AS gaps FROM source").write_parquet(path)
    con.close()
    return spark.read.parquet(path), {"y": table["label"], "p": table["score"], "q": other}


def test_models_are_compared_on_spark(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TUNING, "rows_per_partition", 700)
    rows, columns = two_models(spark, tmp_path)
    scores = {"first": columns["p"], "second": columns["q"]}
    measures = ["roc_auc", "pem", "accuracy", "average_precision", "hit_rate@50", "log_loss"]
    truth = cl.compare(columns["y"], scores, measures=measures, quota=50, n_resamples=600)
    found = compare(rows, label="y", score={"first": "p", "second": "q"}, measures=measures, quota=50, n_resamples=600)
    for key in measures:
        for model in scores:
            expected = truth.evaluations[model][key].value
            assert found.evaluations[model][key].value == pytest.approx(expected, **CLOSE), key
        one, other = truth.difference("first", "second", key), found.difference("first", "second", key)
        assert other["difference"] == pytest.approx(one["difference"], rel=1e-11), key
        width = one["high"] - one["low"]
        assert other["high"] - other["low"] == pytest.approx(width, rel=0.25), key
    assert found.best("pem") == truth.best("pem") == "first"
    assert found.recommend("known quota").model == truth.recommend("known quota").model
    for axis in ("quota", "fpr"):
        leads, expected = found.dominance(axis), truth.dominance(axis)
        wide, wide_expected = (max(table, key=lambda row: row["to"] - row["from"]) for table in (leads, expected))
        assert wide["leader"] == wide_expected["leader"]
    with pytest.raises(cl.InputError, match=r"column 'gaps': the row .* has a missing value"):
        compare(rows, label="y", score=["p", "gaps"], interval=None)
    kept = compare(rows, label="y", score=["p", "gaps"], interval=None, missing="drop")
    there = columns["p"] <= 0.99
    assert kept.evaluations["p"].facts["rows"] == there.sum()
    expected_auc = cl.roc_auc(columns["y"][there], columns["p"][there])
    assert kept.evaluations["p"]["roc_auc"].value == pytest.approx(expected_auc, **CLOSE)
    with pytest.raises(cl.InputError, match="would need the rows of this table"):
        found.swaps("first", "second", quota=10)


def test_segments_and_batches_have_the_order_of_every_door(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql.functions import to_date

    rng, names = np.random.default_rng(0), {"month": ["mar", "jan", "feb"], "version": ["v10", "v2", "v1"]}
    names |= {"period": ["2024-10", "2024-9", "2024-1"], "day": ["2024-03-01", "2024-02-01", "2023-12-31"]}
    want = {"month": ["jan", "feb", "mar"], "version": ["v1", "v2", "v10"], "period": ["2024-1", "2024-9", "2024-10"]}
    want["day"] = ["2023-12-31", "2024-02-01", "2024-03-01"]
    y, p = rng.integers(0, 2, 90), np.round(rng.random(90), 2)
    columns = {"y": y, "p": p} | {name: np.array(values)[np.arange(90) % 3] for name, values in names.items()}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    table = spark.read.parquet(str(tmp_path / "t.parquet")).withColumn("day", to_date("day"))
    how: dict[str, Any] = {"label": "y", "score": "p", "measures": ["hit_rate"], "quota": 3, "interval": None}
    for name, order in want.items():
        memory = cl.evaluate(y, p, batch=columns[name], **{k: how[k] for k in ("measures", "quota", "interval")})
        ev = evaluate(table, **how, batch=name)
        assert [str(row["batch"]) for row in ev.at(quota=3).batches.to_dicts()] == order
        waits = [e.batches.rules(threshold=0.5).to_dicts()[1]["hits"] for e in (ev, memory)]
        assert waits[0] == pytest.approx(waits[1], rel=1e-12)
    assert [str(key) for key in evaluate(table, **how, by="day").segments] == want["day"]
    assert list(evaluate(table, **how, by=["month", "version"]).segments) == [
        *(("jan", "v2"), ("feb", "v1"), ("mar", "v10"))
    ]


def test_the_driver_is_told_the_same_whatever_the_batches(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches of 97 rows are gathered before they are summed; a boundary inside a tie changes nothing."""
    monkeypatch.setattr(TUNING, "rows_per_partition", 10**9)
    table = make_table("half the rows tie", 2000)
    rows = frame(spark, table, tmp_path)
    asked: dict[str, Any] = {"label": "y", "score": "p", "interval": None}
    monkeypatch.setattr(TUNING, "tied_share", 0.0)
    whole = evaluate(rows, **asked)
    sums = spark_engine.sums_of_ranges

    def in_small_batches(*arguments: Any) -> Any:
        work = sums(*arguments)

        def small(batches: Any) -> Any:
            from unittest import mock

            from cutline.runtime import TUNING

            with mock.patch.object(TUNING, "rows_together", 1):
                yield from work(batches)

        return small

    monkeypatch.setattr(spark_engine, "sums_of_ranges", in_small_batches)
    small = evaluate(rows, **asked)
    for key in whole:
        assert small[key].value == pytest.approx(whole[key].value, nan_ok=True, **CLOSE), key


def test_the_guide_shows_what_runs(spark: Any, tmp_path: Path) -> None:
    guide = (Path(__file__).parents[1] / "docs" / "files-and-clusters.md").read_text(encoding="utf-8")
    code = "".join(block for block in re.findall(r"```python\n(.*?)```", guide, re.DOTALL) if "spark.read" in block)
    rows, _ = two_models(spark, tmp_path)
    rows.selectExpr("y", "p", "p AS p_new", "q AS p_old", "100 * q AS amount").write.parquet(str(tmp_path / "lake"))
    names: dict[str, Any] = {"cl": cl, "spark": spark}
    exec(code.replace("s3://lake/scores", str(tmp_path / "lake")), names)
    assert names["ev"].quota == 30
    assert names["both"].best("roc_auc") == "p_new"
    assert names["valued"]["value_recall@1%"].value > 0


def test_worth_brings_the_columns_to_the_driver(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _ = two_models(spark, tmp_path)
    asked = ["CASE WHEN y = 1 THEN 'yes' ELSE 'no' END AS y", "p", "q", "100 * q + 1 AS `an amount`", "q + 1 AS cost"]
    rows = rows.selectExpr(*asked, "y AS z")
    here = rows.toPandas()
    how: dict[str, Any] = {"label": "y", "pos_label": "yes", "worth": "an amount", "quota": 30}
    for options in ({}, {"cut_by": "value"}, {"cost": "cost"}, {"by": "z"}):
        one, two = (evaluate(table, score="p", **{**how, **options}) for table in (rows, here))
        for key in ("value_captured@30", "value_recall@30", "value_per_place@30", "roc_auc"):
            ends = [(ev[key].value, ev[key].low, ev[key].high) for ev in (one, two)]
            assert ends[0] == pytest.approx(ends[1], nan_ok=True, rel=1e-9)
    one, two = (compare(t, score=["p", "q"], **how).difference("p", "q", "value_recall@30") for t in (rows, here))
    assert (one.difference, one.low, one.high) == pytest.approx((two.difference, two.low, two.high))
    with pytest.raises(cl.InputError, match="no column"):
        evaluate(rows, score="p", **{**how, "worth": "none"})
    monkeypatch.setattr(TUNING, "brought_rows", 10)
    with pytest.raises(cl.InputError, match=r"up to 10 are brought there.*cl\.sql"):
        evaluate(rows, score="p", **how)


@pytest.mark.parametrize(
    ("kind", "words", "positive"),
    [
        ("BOOLEAN", ("true", "false"), None),
        ("BOOLEAN", ("false", "true"), False),
        ("INTEGER", ("1", "-1"), None),
        ("DOUBLE", ("1.0", "0.0"), None),
        ("DECIMAL(4,1)", ("1.0", "0.0"), None),
        ("BIGINT", ("7", "3"), 7),
        ("VARCHAR", ("'True'", "'false'"), None),
        ("VARCHAR", ("'yes it''s'", "'no'"), "yes it's"),
        ("DATE", ("DATE '2024-01-31'", "DATE '2024-02-01'"), "2024-01-31"),
    ],
)
def test_every_type_of_label_on_spark(
    kind: str, words: tuple[str, str], positive: Any, spark: Any, tmp_path: Path
) -> None:
    label, score = [True, False, True, False, False], [0.9, 0.8, 0.7, 0.2, 0.1]
    rows = ", ".join(f"({words[0] if y else words[1]}, {p})" for y, p in zip(label, score, strict=True))
    path = str(tmp_path / "t.parquet")
    duckdb.sql(f"SELECT y::{kind} AS y, p::DOUBLE AS p FROM (VALUES {rows}) t(y, p)").write_parquet(path)
    asked: dict[str, Any] = {"pos_label": positive, "interval": None, "measures": ["roc_auc", "f1"]}
    found = evaluate(spark.read.parquet(path), label="y", score="p", **asked)
    assert found["roc_auc"].value == pytest.approx(cl.roc_auc(label, score))
    assert found["f1"].value == pytest.approx(cl.f1(label, score))

"""One answer on Spark, too: local mode, skew, ranges with one class or no rows; a cluster that loses a worker."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
]  # Spark warns about pandas, sockets and its own past

import duckdb  # noqa: E402

import cutline as cl  # noqa: E402
from cutline.engines import spark_engine, wishes  # noqa: E402
from cutline.evaluate import choose_specs  # noqa: E402
from cutline.measures.catalogue import parse_measure  # noqa: E402
from cutline.tables import compare_table, evaluate_table  # noqa: E402

CLOSE = {"rel": 1e-12, "abs": 1e-14}
TIES = [parse_measure(text) for text in ("pr_auc_max(ties='best')", "pr_auc_min(ties='worst')", "roc_auc(ties='best')")]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = (
            SparkSession.builder.master("local[2]")
            .appName("cutline-tests")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.memory", "1g")
            .config("spark.sql.execution.arrow.maxRecordsPerBatch", "97")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


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
    monkeypatch.setattr(spark_engine, "_ROWS_PER_PARTITION", 500)
    if compact:
        monkeypatch.setattr(wishes, "KEEP_ALL_SCORES", 0)
        monkeypatch.setattr(spark_engine, "_TIED", 0.0)  # rows as they are, not added up first
    table = make_table(kind)
    names = ("the `label`", "p.q; DROP", "w'\"")
    rows = frame(spark, table, tmp_path, names)
    measures = [*choose_specs(None, threshold=0.5, quota=37), *TIES, "recall(threshold=0.31)", "quota_pearson@60%"]
    expected = cl.evaluate(table["label"], table["score"], quota=37, measures=measures, interval=None)
    found = evaluate_table(rows, label=names[0], score=names[1], quota=37, measures=measures, interval=None)
    for key in expected:
        assert found[key].value == pytest.approx(expected[key].value, nan_ok=True, **CLOSE), key
    facts = {key: value for key, value in found.facts.items() if key != "dropped"}
    assert facts == pytest.approx(expected.facts, nan_ok=True)
    at = found.at(quota=37).to_dict()
    assert at == pytest.approx(expected.at(quota=37).to_dict(), nan_ok=True)


def test_weights_and_intervals_on_spark(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_engine, "_ROWS_PER_PARTITION", 700)
    table = make_table("plain")
    rows = frame(spark, table, tmp_path)
    expected = cl.evaluate(table["label"], table["score"], sample_weight=table["weight"], interval=None)
    found = evaluate_table(rows, label="y", score="p", weight="w", interval=None)
    for key in expected:
        assert found[key].value == pytest.approx(expected[key].value, nan_ok=True, **CLOSE), key
    measures = ["roc_auc", "f1", "hit_rate@50", "auch", "log_loss"]
    truth = cl.evaluate(table["label"], table["score"], measures=measures, n_resamples=500)
    drawn = evaluate_table(rows, label="y", score="p", measures=measures, n_resamples=500)
    for key in measures[:3]:
        assert (drawn[key].low, drawn[key].high) == pytest.approx((truth[key].low, truth[key].high), rel=1e-10)
    for key in measures[3:]:
        width = truth[key].high - truth[key].low
        assert drawn[key].method == "poisson_percentile"
        assert drawn[key].high - drawn[key].low == pytest.approx(width, rel=0.2)


def test_bad_tables_on_spark(spark: Any, tmp_path: Path) -> None:
    rows = spark.createDataFrame([(1, 0.5, "a"), (0, None, "b"), (2, 0.3, None)], "y int, p double, c string")
    plain: dict[str, Any] = {"label": "y", "score": "p", "interval": None}
    cases = [
        ({}, "'p' has no score in 1 of 3 rows"),
        ({"missing": "drop"}, "holds the labels 1, 2"),
        ({"score": "q"}, "did you mean 'p'|no column 'q'"),
        ({"score": "c"}, "holds string, not numbers"),
        ({"label": "c"}, "say which value is positive"),
        ({"missing": "drop", "positive": 7}, "positive=7 is no value"),
        ({"missing": "drop", "positive": 1, "memory_limit": "1GB"}, "memory_limit goes with DuckDB"),
        ({"missing": "drop", "positive": 1, "stream": False}, "toPandas"),
    ]
    for wrong, words in cases:
        with pytest.raises(cl.InputError, match=words):
            evaluate_table(rows, **{**plain, **wrong})
    found = evaluate_table(rows, missing="drop", positive=1, **plain)
    assert found.facts["dropped"] == 1
    assert found["roc_auc"].value == 1.0
    with pytest.raises(cl.InputError, match="no rows"):
        evaluate_table(rows.where("y > 5"), **plain)
    with pytest.raises(cl.InputError, match="evaluate_table takes a Spark table"):
        compare_table(rows, label="y", scores=["p"])


def test_a_table_that_changes_between_passes_fails_loudly(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = frame(spark, make_table("plain", 500), tmp_path)
    starts = spark_engine._starts

    def other(keyed: Any, keys: list[int]) -> dict[int, tuple[float, float, float, float]]:
        return {key: (a, b, p + 1, n) for key, (a, b, p, n) in starts(keyed, keys).items()}

    monkeypatch.setattr(spark_engine, "_starts", other)
    with pytest.raises(RuntimeError, match="changed while it was read"):
        evaluate_table(rows, label="y", score="p", interval=None)

"""One answer everywhere: every measure, on every engine, for tables with ties, weights and hostile names."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import numpy as np
import pytest

import cutline as cl
from cutline.catalogue.declare import make_spec, parse_measure
from cutline.engines import stream as streams
from cutline.engines.stream import Moments, StreamSums, joined
from cutline.engines.streamed import Streamed
from cutline.evaluation import choose_specs
from cutline.runtime import TUNING
from cutline.sources.duckdb import DuckTable
from cutline.verbs import compare, evaluate

HOSTILE = "p\"; DROP TABLE x; -- ' select"
TIES = [
    parse_measure(text)
    for text in ("roc_auc(ties='best')", "pr_auc_min(ties='worst')", "average_hit_rate(ties='best')")
]
CLOSE = {"rel": 1e-12, "abs": 1e-14}


def make_table(kind: str, n: int = 4000, seed: int = 0) -> dict[str, np.ndarray]:
    """Labels, scores and weights of a table; the kinds differ in how scores tie and how classes mix."""
    rng = np.random.default_rng([seed, n])
    score = rng.random(n)
    if kind == "distances":
        score = rng.normal(size=n) * 3
    elif kind == "few":
        score = np.round(score, 1)
    elif kind == "one tie":
        score[: n // 2] = 0.5
    elif kind == "signed zero":
        score = np.where(rng.random(n) < 0.5, 0.0, -0.0)
    positive = rng.random(n) < np.clip(score, 0.05, 0.95) ** 2
    if kind == "apart":
        positive = score > 0.7
    elif kind == "no positives":
        positive[:] = False
    return {"label": positive, "score": score, "weight": np.round(rng.random(n) * 3, 2)}


def write(path: Path, table: dict[str, np.ndarray], names: dict[str, str] | None = None) -> str:
    """Write a table as Parquet with the given column names; the label as 0/1."""
    con = duckdb.connect()
    columns = []
    names = names or {}
    con.execute("CREATE TABLE t (label TINYINT, score DOUBLE, weight DOUBLE)")
    frame = {"label": table["label"].astype(np.int8), "score": table["score"], "weight": table["weight"]}
    con.register("source", {k: np.ascontiguousarray(v) for k, v in frame.items()})
    con.execute("INSERT INTO t SELECT label, score, weight FROM source")
    for name in frame:
        quoted = names.get(name, name).replace('"', '""')
        columns.append(f'{name} AS "{quoted}"')
    con.sql(f"SELECT {', '.join(columns)} FROM t").write_parquet(str(path))
    con.close()
    return str(path)


ENGINES = {
    "loaded": {"stream": False},
    "streamed, 1 thread": {"stream": True, "threads": 1},
    "streamed, 2 threads": {"stream": True, "threads": 2},
    "tiny batches": {"stream": True, "batch": 7},
    "batches of one row": {"stream": True, "batch": 1, "n": 300},
    "compact": {"stream": True, "compact": True, "batch": 101},
    "floats for giant counts": {"stream": True, "giant": True},
    "grouped first": {"stream": True, "group": True},
    "sorted though few": {"stream": True, "group": False},
}


def engine(options: dict, monkeypatch: pytest.MonkeyPatch) -> dict:
    """Set what an engine needs and give the options of the call."""
    options = dict(options)
    monkeypatch.setattr(TUNING, "batch_rows", options.pop("batch", None))
    if options.pop("compact", False):
        monkeypatch.setattr(TUNING, "keep_all_scores", 0)
    if options.pop("giant", False):
        monkeypatch.setattr(TUNING, "exact_pairs", 10)
    if "group" in options:
        monkeypatch.setattr(TUNING, "group_first", 0 if options.pop("group") else 10**9)
    options.pop("n", None)
    return options


def assert_same(one: cl.results.Evaluation, other: cl.results.Evaluation, **close: float) -> None:
    assert list(one) == list(other)
    for key in other:
        assert one[key].value == pytest.approx(other[key].value, nan_ok=True, **(close or CLOSE)), key
        assert one[key].reason == other[key].reason, key


@pytest.mark.parametrize("kind", ["plain", "distances", "few", "one tie", "signed zero", "apart", "no positives"])
@pytest.mark.parametrize("name", ENGINES)
def test_every_measure_is_the_same_on_every_engine(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make_table(kind, ENGINES[name].get("n", 4000))
    names = {"label": "the label", "score": HOSTILE}
    path = write(tmp_path / "t.parquet", table, names)
    measures = [*choose_specs(None, threshold=0.5, quota=37), *TIES, "recall(threshold=0.31)", "qrecall@5%"]
    expected = cl.evaluate(table["label"], table["score"], quota=37, measures=measures, interval=None)
    found = evaluate(
        path,
        label="the label",
        score=HOSTILE,
        quota=37,
        measures=measures,
        interval=None,
        **engine(ENGINES[name], monkeypatch),
    )
    assert isinstance(found.rows, Streamed) == (name != "loaded")
    assert_same(found, expected)
    facts = {key: value for key, value in found.facts.items() if key != "dropped"}
    assert facts == pytest.approx(expected.facts, nan_ok=True)


@pytest.mark.parametrize("name", [n for n in ENGINES if "giant" not in n])
def test_every_measure_is_the_same_with_weights(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("plain", "few", "distances"):
        table = make_table(kind, ENGINES[name].get("n", 4000))
        path = write(tmp_path / f"{kind}.parquet", table)
        expected = cl.evaluate(table["label"], table["score"], sample_weight=table["weight"], interval=None)
        options = engine(ENGINES[name], monkeypatch)
        found = evaluate(path, label="label", score="score", weight="weight", interval=None, **options)
        assert_same(found, expected)
        assert found.facts["rows"] == expected.facts["rows"] == int((table["weight"] > 0).sum())


@pytest.mark.parametrize(
    ("values", "positive"),
    [
        ((False, True), None),
        ((0, 1), None),
        ((-1, 1), None),
        ((0.0, 1.0), None),
        (("bad", "good"), "good"),
        (("good", "it's; DROP"), "it's; DROP"),
        ((3, 7), 7),
        ((3, 7), "7"),
        (("false", "true"), None),
        ((True, False), False),
    ],
)
def test_every_type_of_label(values: tuple, positive: object, tmp_path: Path) -> None:
    table = make_table("plain", 500)
    con = duckdb.connect()
    con.execute("CREATE TABLE t (y " + con.execute("SELECT typeof(?)", [values[0]]).fetchone()[0] + ", p DOUBLE)")
    rows = [(values[int(y)], float(p)) for y, p in zip(table["label"], table["score"], strict=True)]
    con.executemany("INSERT INTO t VALUES (?, ?)", rows)
    path = str(tmp_path / "t.parquet")
    con.sql("FROM t").write_parquet(path)
    expected = cl.evaluate(table["label"], table["score"], interval=None)
    for stream in (True, False):
        found = evaluate(path, label="y", score="p", pos_label=positive, interval=None, stream=stream)
        assert_same(found, expected)


def test_a_sort_that_spills_gives_the_same(tmp_path: Path) -> None:
    n = 3_000_000
    path = str(tmp_path / "long.parquet")
    duckdb.sql(
        f"SELECT hash(i) / 2.0**64 AS p, hash(i + 1e9)::UBIGINT % 5 = 0 AS y FROM range({n}) r(i)"
    ).write_parquet(path)
    columns = duckdb.sql(f"FROM '{path}'").fetchnumpy()
    expected = cl.evaluate(columns["y"], columns["p"], quota=0.01, interval=None)
    folder = tmp_path / "spill"
    folder.mkdir()
    found = evaluate(
        path, label="y", score="p", quota=0.01, interval=None, memory_limit="48MB", threads=2, temp_directory=folder
    )
    assert isinstance(found.rows, Streamed)
    assert_same(found, expected)
    assert os.listdir(folder) == []


def test_analytic_intervals_are_those_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TUNING, "keep_all_scores", 0)
    table = make_table("plain", 20_000)
    path = write(tmp_path / "t.parquet", table)
    measures = [
        "roc_auc", "pem", "linear_ranking", "brier_score", "recall", "f1", "youden_index",
        "matthews_correlation", "hit_rate@77", "positive_likelihood_ratio", "zero_one_loss",
        "precision(threshold=0.83)",
    ]  # fmt: skip
    expected = cl.evaluate(table["label"], table["score"], measures=measures)
    found = evaluate(path, label="label", score="score", measures=measures, stream=True)
    assert len(found.ranking) < len(expected.ranking)
    for key in expected:
        assert (found[key].low, found[key].high) == pytest.approx((expected[key].low, expected[key].high), rel=1e-4), (
            key
        )
        assert found[key].method == expected[key].method


def test_cuts_curves_and_lift_table_of_a_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table("plain", 40_000)
    path = write(tmp_path / "t.parquet", table)
    expected = cl.evaluate(table["label"], table["score"], quota=1234, threshold=0.61, interval=None)
    exact = evaluate(path, label="label", score="score", quota=1234, threshold=0.61, interval=None, stream=True)
    monkeypatch.setattr(TUNING, "keep_all_scores", 0)
    compact = evaluate(path, label="label", score="score", quota=1234, threshold=0.61, interval=None, stream=True)
    assert exact.rows.tolerance == 0
    assert compact.rows.tolerance == streams.TOLERANCE
    assert exact.at(quota=777).to_dict() == pytest.approx(expected.at(quota=777).to_dict())
    for ev in (exact, compact):
        assert ev.at(quota=1234).to_dict() == pytest.approx(expected.at(quota=1234).to_dict())
        at = {k: v for k, v in ev.at(threshold=0.61).to_dict().items() if k != "pearson"}
        rest = {k: v for k, v in expected.at(threshold=0.61).to_dict().items() if k != "pearson"}
        assert at == pytest.approx(rest, rel=1e-5)
        assert [dict(row) for row in ev.lift_table(20)] == [pytest.approx(dict(row)) for row in expected.lift_table(20)]
    for quota in (5, 501, 9_999, 31_007, 39_990):
        near, truth = compact.at(quota=quota), expected.at(quota=quota)
        assert near.recall == pytest.approx(truth.recall, abs=compact.rows.tolerance)
        assert near.fpr == pytest.approx(truth.fpr, abs=compact.rows.tolerance)
    whole, thin = expected.curve("roc"), compact.curve("roc")
    assert len(thin) < len(whole) / 2
    points = set(zip(whole.x.tolist(), whole.y.tolist(), whole.thresholds.tolist(), strict=True))
    assert points.issuperset(zip(thin.x.tolist(), thin.y.tolist(), thin.thresholds.tolist(), strict=True))
    found, truth = compact.curve("qrecall"), expected.curve("qrecall")
    assert np.abs(np.interp(truth.x, found.x, found.y) - truth.y).max() <= compact.rows.tolerance
    json.loads(compact.to_json())
    assert "ROC AUC" in repr(compact)


@pytest.mark.parametrize("weight", [None, "weight"])
def test_poisson_replicates_depend_on_neither_batches_nor_threads(
    weight: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make_table("few", 3000)
    path = write(tmp_path / "t.parquet", table)
    results = []
    for threads, batch in ((1, None), (2, 13), (2, 1000)):
        monkeypatch.setattr(TUNING, "batch_rows", batch)
        ev = evaluate(
            path,
            label="label",
            score="score",
            weight=weight,
            stream=True,
            threads=threads,
            n_resamples=50,
            seed=3,
            measures=["average_lift", "information_score"],
        )
        results.append([end for e in ev.estimates.values() for end in (e.low, e.high)])
    assert results[0] == pytest.approx(results[1], rel=1e-13)
    assert results[0] == pytest.approx(results[2], rel=1e-13)
    options = {"weight": weight, "n_resamples": 50, "measures": ["average_lift", "information_score"]}
    other = evaluate(path, label="label", score="score", stream=True, seed=4, **options)
    ends = [end for e in other.estimates.values() for end in (e.low, e.high)]
    assert ends != pytest.approx(results[0], rel=1e-6)


@pytest.mark.parametrize("weight", [None, "weight"])
def test_poisson_intervals_are_close_to_the_ordinary_bootstrap(
    weight: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TUNING, "keep_all_scores", 0)
    table = make_table("plain", 20_000)
    path = write(tmp_path / "t.parquet", table)
    options = {
        "interval": "percentile",
        "n_resamples": 1000,
        "measures": ["roc_auc", "average_precision", "log_loss", "f1", "auch"],
    }
    if weight is None:
        options["measures"] += ["quadratic_ranking", "average_lift", "linear_ranking"]
    expected = cl.evaluate(
        table["label"], table["score"], sample_weight=None if weight is None else table["weight"], **options
    )
    found = evaluate(path, label="label", score="score", weight=weight, stream=True, **options)
    for key in expected:
        width = expected[key].high - expected[key].low
        assert found[key].method == ("percentile" if weight is None else "poisson_percentile")
        assert found[key].high - found[key].low == pytest.approx(width, rel=0.12), key
        assert found[key].low == pytest.approx(expected[key].low, abs=0.12 * width), key


def test_comparison_of_a_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TUNING, "keep_all_scores", 0)
    table = make_table("plain", 20_000)
    rng = np.random.default_rng(5)
    other = np.clip(table["score"] + rng.normal(size=20_000) * 0.1, 0, 1)
    path = write(tmp_path / "t.parquet", {**table, "weight": other})
    measures = ["roc_auc", "pem", "accuracy", "log_loss", "qrecall@500"]
    expected = cl.compare(table["label"], {"a": table["score"], "b": other}, measures=measures, n_resamples=1000)
    found = compare(
        path, label="label", score={"a": "score", "b": "weight"}, measures=measures, n_resamples=1000, stream=True
    )
    assert found.best("pem") == expected.best("pem")
    for one, two in zip(found.differences, expected.differences, strict=True):
        assert one["difference"] == pytest.approx(two["difference"], rel=1e-10)
        assert one["standard_error"] == pytest.approx(two["standard_error"], rel=0.15)
        assert one["p_value"] == pytest.approx(two["p_value"], abs=0.03)
        assert one["method"] == "paired bootstrap"
    loaded = compare(path, label="label", score={"a": "score", "b": "weight"}, measures=measures, n_resamples=100)
    again = cl.compare(table["label"], {"a": table["score"], "b": other}, measures=measures, n_resamples=100)
    assert [dict(row) for row in loaded.differences] == [
        pytest.approx(dict(row), nan_ok=True) for row in again.differences
    ]
    with pytest.raises(cl.InputError, match="not kept in memory"):
        found.swaps("a", "b", quota=10)


def test_dominance_of_a_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two models that lead in different parts of the list: where the lead changes, and in what share of replicates."""
    rng = np.random.default_rng(3)
    n = 20_000
    table = make_table("plain", n)
    noise = rng.random(n)
    top, bottom = table["score"] > 0.6, table["score"] < 0.4
    first = np.where(bottom, noise * 0.4, table["score"])  # ranks well above, at random below
    second = np.where(top, 0.6 + noise * 0.4, table["score"])
    path = write(tmp_path / "t.parquet", {**table, "score": first, "weight": second})
    models = {"a": "score", "b": "weight"}
    truth = cl.compare(table["label"], {"a": first, "b": second}, measures=["roc_auc"], n_resamples=300)
    for compact in (False, True):
        monkeypatch.setattr(TUNING, "keep_all_scores", 0 if compact else 2**16)
        options = {"label": "label", "score": models, "measures": ["roc_auc"], "stream": True}
        found = compare(path, n_resamples=300, **options)
        for axis in ("quota", "fpr"):
            clear, streamed = truth.dominance(axis), found.dominance(axis)
            assert {row["method"] for row in streamed} == {"replicates, all places at once"}
            at = 0.2 * clear[-1]["to"], 0.8 * clear[-1]["to"]
            for place in at:
                told = [next(r["leader"] for r in rows if r["to"] >= place) for rows in (clear, streamed)]
                assert told[0] == told[1]
        values = compare(path, interval=None, **options)
        assert {row["method"] for row in values.dominance()} == {"not judged: no replicates"}
    found.to_html(tmp_path / "page.html")
    assert "Clear leaders" in (tmp_path / "page.html").read_text(encoding="utf-8")
    with pytest.raises(cl.InputError, match="by is 'tpr'; choose one of quota, fpr"):
        found.dominance("tpr")


def test_models_of_a_stream_draw_the_same_rows(tmp_path: Path) -> None:
    table = make_table("plain", 3000)
    path = write(tmp_path / "t.parquet", {**table, "weight": table["score"] * 0.5})
    measures = ["auch", "quadratic_ranking", "average_lift"]
    both = compare(path, label="label", score=["score", "weight"], measures=measures, n_resamples=50, stream=True)
    for key in measures:
        one, two = (both.replicates[model][key] for model in ("score", "weight"))
        assert one == pytest.approx(two, rel=1e-12)
        assert one.std() > 0


def test_rows_out_of_order_fail_loudly() -> None:
    totals = streams.Totals(4, 2, 2, 2, 0.0, 1.0)
    for feeds in ([[0.9, 0.5, 0.6]], [[0.9, 0.5], [0.6, 0.1]], [[0.5], [float("nan")]]):
        stream = streams.Stream(totals, [])
        for scores in feeds[:-1]:
            stream.feed(np.array(scores), np.ones(len(scores), np.uint8))
        with pytest.raises(RuntimeError, match="falling order"):
            stream.feed(np.array(feeds[-1]), np.ones(len(feeds[-1]), np.uint8))


def test_a_source_that_changes_between_the_passes_fails_loudly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "t.parquet", make_table("plain", 100))
    batches = DuckTable._stream

    def fewer(*arguments: object):  # type: ignore[no-untyped-def]
        for batch in batches(*arguments):  # type: ignore[arg-type]
            yield {name: column[1:] for name, column in batch.items()}

    monkeypatch.setattr(DuckTable, "_stream", fewer)
    with pytest.raises(cl.InputError, match="changed while it was read"):
        evaluate(path, label="label", score="score", stream=True, interval=None)


def test_a_stream_has_no_bca_and_gives_the_reason_for_whole_list_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TUNING, "keep_all_scores", 0)
    path = write(tmp_path / "t.parquet", make_table("plain", 100))
    with pytest.raises(cl.InputError, match="bca"):
        evaluate(path, label="label", score="score", interval="bca", stream=True)
    spec = make_spec(cl.measure("ranking_score"), {"g": np.log})
    found = evaluate(path, label="label", score="score", interval=None, stream=True, measures=[spec, "roc_auc"])
    lacking = found[str(spec)]
    assert np.isnan(lacking.value)
    assert "needs every place in memory" in lacking.reason
    assert not np.isnan(found["roc_auc"].value)  # the others have their values


def test_an_interrupted_sort_stops_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "t.parquet", make_table("plain", 4000))
    folder = tmp_path / "temp"
    folder.mkdir()

    def interrupted(self: object, *_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(streams.Stream, "feed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        evaluate(path, label="label", score="score", stream=True, interval=None, temp_directory=folder)
    assert os.listdir(folder) == []
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("cutline-fetch")]


def test_ctrl_c_during_a_long_sort_ends_it_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "long.parquet")
    duckdb.sql("SELECT hash(i) / 2.0**64 AS p, i % 5 = 0 AS y FROM range(40000000) r(i)").write_parquet(path)
    folder = tmp_path / "temp"
    folder.mkdir()
    script = (
        "import signal, sys; from cutline.verbs import evaluate\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored in what a shell runs in the background
        "print('begins', flush=True)\n"
        "options = {'interval': None, 'memory_limit': '150MB', 'temp_directory': sys.argv[2]}\n"
        "evaluate(sys.argv[1], label='y', score='p', **options)"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", script, path, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert running.stdout is not None
    running.stdout.readline()
    deadline = time.monotonic() + 60
    while not any(file.is_file() for file in folder.rglob("*")):  # it has begun to spill
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode != 0
    assert b"KeyboardInterrupt" in errors
    assert os.listdir(folder) == []


def test_a_full_disk_says_so_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "long.parquet")
    duckdb.sql("SELECT hash(i) / 2.0**64 AS p, i % 5 = 0 AS y FROM range(2000000) r(i)").write_parquet(path)
    folder = tmp_path / "temp"
    folder.mkdir()
    from cutline.sources import duckdb as room

    connect = room._connect

    def small(module: object, options: object, where: str) -> object:
        connection = connect(module, options, where)
        connection.execute("SET max_temp_directory_size = '1MB'")
        return connection

    monkeypatch.setattr(room, "_connect", small)
    with pytest.raises((MemoryError, OSError), match="could not be sorted"):
        evaluate(path, label="y", score="p", stream=True, interval=None, memory_limit="30MB", temp_directory=folder)
    assert os.listdir(folder) == []


def test_moments_of_parts_are_those_of_the_whole() -> None:
    values = np.concatenate([np.random.default_rng(0).normal(size=30), 5.0 + np.random.default_rng(1).normal(size=12)])
    parts = [Moments(float(len(v)), v.mean(), ((v - v.mean()) ** 2).sum()) for v in (values[:30], values[30:])]
    whole = parts[0].joined(parts[1]).joined(Moments())
    assert (whole.n, whole.mean) == pytest.approx((42.0, values.mean()))
    assert whole.squares == pytest.approx(((values - values.mean()) ** 2).sum())


def test_parts_of_a_stream_keep_the_largest_tie() -> None:
    blocks = np.zeros((1, 5))
    parts = [
        StreamSums([], blocks, Moments(), Moments(), 2, largest, tied) for largest, tied in ((3.0, 2.0), (5.0, 1.0))
    ]
    whole = joined(parts, [])
    assert (whole.largest, whole.tied, whole.groups, len(whole.blocks)) == (5.0, 3.0, 4, 2)

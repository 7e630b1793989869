"""``batch=`` and ``by=`` where rows are not in memory: the same answers and refusals from DuckDB and Spark."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import cutline as cl
from cutline.commands.group import cli
from cutline.engines.streamed import StreamedBatches
from cutline.evaluation import choose_specs
from cutline.quotas import parse_quota
from cutline.runtime import TUNING

RNG = np.random.default_rng(11)
N = 900


def made() -> pd.DataFrame:
    """Days of very different sizes, one with a single class and one with three rows; ties, weights, text, gaps."""
    day = np.minimum(RNG.geometric(0.25, N), 11)
    day[:3] = 12
    positive = RNG.random(N) < 0.1 + 0.04 * (day % 4)
    positive[day == 5] = False
    p = np.round(1 / (1 + np.exp(-RNG.normal(size=N) - positive)), 2)
    frame = pd.DataFrame({"y": np.where(positive, "yes", "no"), "p": p, "q": np.round((p + RNG.random(N)) / 2, 3)})
    frame["w"] = RNG.integers(1, 5, N) / 2.0
    frame["day"] = [f"2024-03-{k:02d}" for k in day]
    frame["team"] = np.array(["t'eam × 1", "blau", "rot;", "a b"])[day % 4]
    frame["region"] = np.where(day == 5, "five", np.where(RNG.random(N) < 0.3, "north", "süd"))
    frame.loc[[4, 9], "day"] = None
    frame.loc[[5, 9], "region"] = None
    frame.loc[7, "p"] = None
    return frame


FRAME = made()
NAMED: dict[str, Any] = {"label": "y", "pos_label": "yes", "missing": "drop", "n_resamples": 60}
ON_SPARK = [pytest.mark.integration, pytest.mark.xdist_group("spark")]
ENGINES = ["duckdb", pytest.param("spark", marks=ON_SPARK)]


def cases(*options: tuple[Any, ...]) -> list[Any]:
    """Every option on DuckDB, the last one on Spark too."""
    return [*(("duckdb", *one) for one in options), pytest.param("spark", *options[-1], marks=ON_SPARK)]


pytestmark = pytest.mark.filterwarnings("ignore")  # Spark warns about pandas, sockets and its own past


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keyed") / "rows.parquet"
    FRAME.to_parquet(path)
    return path


@pytest.fixture(params=["duckdb"])
def streamed(request: pytest.FixtureRequest, file: Path) -> Any:
    """The table, and how its rows are kept out of memory."""
    if request.param == "duckdb":
        return {"y_true": file, "stream": True}
    return {"y_true": request.getfixturevalue("spark").read.parquet(str(file))}


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small pieces, so that ties and batches reach across them."""
    monkeypatch.setattr(TUNING, "batch_rows", 37)
    monkeypatch.setattr(TUNING, "rows_per_partition", 300)


def same(one: Any, two: Any, close: float = 1e-9) -> bool:
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(value, two[key], close) for key, value in one.items())
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(same(a, b, close) for a, b in zip(one, two, strict=True))
    if isinstance(one, float) or isinstance(two, float):
        return bool(np.isclose(one, two, rtol=close, atol=close, equal_nan=True))
    return bool(one == two)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize(
    ("streamed", "weight", "quota"),
    cases((None, 20), (None, range(5, 9)), ("w", 7), ("w", 0.1)),
    indirect=["streamed"],
)
def test_batches_are_those_of_rows_in_memory(streamed: Any, file: Path, weight: str | None, quota: Any) -> None:
    how = {**NAMED, "score": "p", "batch": "day", "weight": weight, "quota": quota, "threshold": 0.6}
    measures = [
        *choose_specs(None, threshold=0.6, quota=parse_quota(quota)),
        "quota_pearson@9",
    ]
    one = cl.evaluate(file, **how, measures=measures)
    two = cl.evaluate(**streamed, **how, measures=measures)
    assert isinstance(two.rows, StreamedBatches)
    assert list(one) == list(two)
    for key, e in one.estimates.items():
        f = two.estimates[key]
        assert f.value == pytest.approx(e.value, rel=1e-12, abs=1e-12, nan_ok=True), key
        assert (e.method, e.reason) == (f.method, f.reason), key
        assert same([e.low, e.high], [f.low, f.high]), key
    assert same(dict(one.facts), dict(two.facts))
    assert one.facts["dropped"] == 3
    asked = 20 if isinstance(quota, range) else quota
    for at in ({"quota": asked}, {"quota": 3}, {"threshold": 0.6}, {"recall": 0.5}):
        assert same(one.at(**at).to_dict(), two.at(**at).to_dict()), at
    assert same(one.batches.rules(quota=asked).to_dict(), two.batches.rules(quota=asked).to_dict())
    assert one.notices == two.notices


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize(("streamed", "weight"), cases(("w",), (None,)), indirect=["streamed"])
def test_joined_scores_leave_values_exact(
    streamed: Any, file: Path, weight: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TUNING, "batch_cells", 0)
    monkeypatch.setattr(TUNING, "keep_all_scores", 0)
    how = {**NAMED, "score": "q", "batch": "day", "weight": weight, "quota": 11, "threshold": 0.4}
    measures = [s for s in choose_specs(None, threshold=0.4, quota=11) if s.measure.part != "ranking"]
    measures += ["quota_pearson@20%", "hit_rate@4"]
    one, two = (
        cl.evaluate(file, **how, measures=measures),
        cl.evaluate(**streamed, **how, measures=measures),
    )
    assert len(two.rows.grouped.size) < 0.8 * len(one.rows.groups.size)
    for key, e in one.estimates.items():
        f = two.estimates[key]
        assert f.value == pytest.approx(e.value, rel=1e-12, abs=1e-12, nan_ok=True), key
        if e.high > e.low:
            assert abs(f.low - e.low) + abs(f.high - e.high) < 0.2 * (e.high - e.low), key
    assert same(one.at(quota=11).to_dict(), two.at(quota=11).to_dict())
    assert same(one.at(threshold=0.4).to_dict(), two.at(threshold=0.4).to_dict())
    elsewhere = two.at(quota=25)
    assert elsewhere.tp == pytest.approx(one.at(quota=25).tp, rel=0.1)
    assert np.isnan([elsewhere.tied, elsewhere.hits_worst]).all()
    rules = two.batches.rules(threshold=0.4)
    assert same(
        *([rule.places.tolist() for rule in found.values()] for found in (rules, one.batches.rules(threshold=0.4)))
    )


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("streamed", ENGINES, indirect=True)
def test_models_are_compared_batch_by_batch(streamed: Any, file: Path, tmp_path: Path) -> None:
    how = {**NAMED, "score": ["p", "q"], "batch": "day", "quota": 9, "threshold": 0.6}
    for interval in ("auto", "percentile"):
        one = cl.compare(file, **how, interval=interval)
        two = cl.compare(**streamed, **how, interval=interval)
        assert same(one.differences.to_dicts(), two.differences.to_dicts())
        assert one.dominance("fpr").to_dicts() == two.dominance("fpr").to_dicts()
    assert one.verdict("hit_rate").sentence == two.verdict("hit_rate").sentence
    for again in (pickle.loads(pickle.dumps(two)), copy.deepcopy(two)):
        assert repr(again) == repr(two)
    json.loads(two.to_json())
    two.to_html(tmp_path / "page.html")
    assert "Batch by batch" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("streamed", ENGINES, indirect=True)
def test_batches_that_need_their_rows_say_so(streamed: Any, file: Path) -> None:
    how: dict[str, Any] = {**NAMED, "score": "p", "batch": "day", "quota": 9, "measures": ["hit_rate", "roc_auc"]}
    ev = cl.evaluate(**streamed, **how)
    for ask in (lambda: ev.sample, ev.calibration, lambda: ev.with_measures("pem"), lambda: ev.curve("roc").band()):
        with pytest.raises(cl.InputError, match="streamed"):
            ask()
    for options in ({"stratify": True}, {"quota": 0.001}, {"missing": "error"}, {"prevalence": 0.1}):
        said = []
        for source in ({"y_true": file}, streamed):
            with pytest.raises(cl.InputError) as error:
                cl.evaluate(**source, **{**how, **options})
            said.append(str(error.value))
        if "missing" not in options:
            assert said[0] == said[1]
    with pytest.raises(cl.InputError, match="batch needs the rows in memory"):
        cl.evaluate(**streamed, **how, by="region")
    with pytest.raises(cl.InputError, match="clusters needs the rows in memory"):
        cl.evaluate(**streamed, **how, clusters="region")
    with pytest.raises(cl.InputError, match="batch needs the rows in memory"):
        cl.evaluate(**streamed, **how, by="region")


@pytest.mark.parametrize("streamed", ENGINES, indirect=True)
def test_batches_have_their_order_and_may_be_single(streamed: Any, file: Path, tmp_path: Path) -> None:
    how: dict[str, Any] = {**NAMED, "score": "p", "quota": 9, "measures": ["hit_rate"]}
    one, two = cl.evaluate(file, **how, batch="team"), cl.evaluate(**streamed, **how, batch="team")
    assert same(one.at(quota=9).batches.to_dicts(), two.at(quota=9).batches.to_dicts())
    assert two["hit_rate"].interval == pytest.approx(one["hit_rate"].interval)
    only = streamed["y_true"]
    path = tmp_path / "one.parquet"
    FRAME[FRAME.day == "2024-03-02"].to_parquet(path)
    only = path if isinstance(only, Path) else only.where("day = '2024-03-02'")
    single = cl.evaluate(**{**streamed, "y_true": only}, **how, batch="day")
    assert np.isnan(single["hit_rate"].low)
    assert "single batch" in single.notices[0]


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize(
    ("streamed", "weight", "by"), cases(("w", "region"), (None, ["region", "team"])), indirect=["streamed"]
)
def test_segments_are_those_of_rows_in_memory(streamed: Any, file: Path, weight: str | None, by: Any) -> None:
    how: dict[str, Any] = {**NAMED, "score": "p", "by": by, "weight": weight, "quota": 60, "threshold": 0.6}
    how["measures"] = ["roc_auc", "recall", "hit_rate", "brier_score", "quota_pearson@5%", "average_precision"]
    one, two = cl.evaluate(file, **how).segments, cl.evaluate(**streamed, **how).segments
    assert list(one) == list(two)
    assert one.by == two.by
    assert one.small == two.small
    for key, ev in [*one.items(), (None, one.overall)]:
        other = two.overall if key is None else two[key]
        assert same(dict(ev.facts), dict(other.facts))
        for measure, e in ev.estimates.items():
            f = other.estimates[measure]
            assert f.value == pytest.approx(e.value, abs=1e-12, nan_ok=True), (key, measure)
            assert e.reason == f.reason
            closed = weight is None and not f.method.startswith("poisson")
            if closed and min(ev.facts["positives"], ev.facts["negatives"]) > 1:
                assert same([e.low, e.high], [f.low, f.high]), (key, measure)
    for where in ({"quota": 60}, {"threshold": 0.6}, {"quota": 60, "reference": one.names[1]}):
        for a, b in zip(one.at(**where), two.at(**where), strict=True):
            assert same(dict(a), dict(b), 1e-6), where
    json.loads(two.to_json())
    assert repr(pickle.loads(pickle.dumps(two))) == repr(two)
    if weight is None:
        order = list(one)
        mine, theirs = two.trend("roc_auc", order=order), one.trend("roc_auc", order=order)
        assert same(mine.to_dicts(), theirs.to_dicts(), 1e-6)
    for ask in (two.differences, lambda: two.at(quota=7)):
        with pytest.raises(cl.InputError, match="streamed"):
            ask()


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize(("streamed", "weight"), cases(("w",), (None,)), indirect=["streamed"])
def test_models_are_compared_in_segments(streamed: Any, file: Path, weight: str | None, tmp_path: Path) -> None:
    how: dict[str, Any] = {**NAMED, "score": {"a": "p", "b": "q"}, "by": "region", "weight": weight, "threshold": 0.6}
    how |= {"quota": 30, "measures": ["roc_auc", "accuracy", "hit_rate", "brier_score"], "n_resamples": 300}
    one, two = cl.compare(file, **how).segments, cl.compare(**streamed, **how).segments
    assert list(one) == list(two)
    for key, comparison in [*one.items(), (None, one.overall)]:
        for a, b in zip(comparison.differences, (two.overall if key is None else two[key]).differences, strict=True):
            assert same([a["a"], a["b"], a["difference"]], [b["a"], b["b"], b["difference"]])
            if a["standard_error"] > 0 and b["standard_error"] > 0:
                assert b["standard_error"] == pytest.approx(a["standard_error"], rel=0.25), (key, a["measure"])
    assert same([row["segment"] for row in two.to_dicts()], [row["segment"] for row in one.to_dicts()])
    assert len(two.differences()) == len(one.differences())
    assert same(two.models["b"].overall["roc_auc"].value, one.models["b"].overall["roc_auc"].value)
    json.loads(two.to_json())
    two.to_html(tmp_path / "page.html")


def test_batches_and_segments_on_the_command_line(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutline.sources.open_source.IN_MEMORY", 0)  # DuckDB streams every table
    options = ["--label", "y", "--positive", "yes", "--quota", "9", "--missing", "drop", "--format", "json"]
    options += ["--resamples", "50", "--measure", "hit_rate", "--score", "p"]
    for command, more in (
        ("evaluate", ["--batch", "day"]),
        ("evaluate", ["--by", "region"]),
        ("compare", ["--score", "q", "--batch", "day"]),
        ("compare", ["--score", "q", "--by", "region"]),
    ):
        one, two = (
            CliRunner().invoke(cli, [command, str(file), *options, *more, "--engine", engine], catch_exceptions=False)
            for engine in ("memory", "duckdb")
        )
        assert (one.exit_code, two.exit_code) == (0, 0), (one.output, two.output)
        first, second = json.loads(one.stdout), json.loads(two.stdout)
        assert first.keys() == second.keys() or "price" in first.keys() - second.keys()
        for name in ("operating_point", "batch_rules"):
            assert same(first.get(name), second.get(name))
        for a, b in zip(first.get("segments", []), second.get("segments", []), strict=True):
            assert a["segment"] == b["segment"]


def test_rows_of_a_query_stay_together_whatever_order_it_gives_them_in() -> None:
    """A connection may drop the order of rows; every column of a row still belongs to it."""
    con = duckdb.connect(config={"threads": 4, "preserve_insertion_order": "false"})
    con.execute("CREATE TABLE t AS SELECT i, i % 3 AS k, i % 2 AS y, (i * 7919) % 50021 AS p FROM range(50000) r(i)")
    query = "SELECT t.*, 1 - k AS a0, k % 2 AS a1, k // 2 AS a2 FROM t JOIN (SELECT i FROM t) AS u USING (i)"
    rows = con.sql("SELECT y, p, k FROM t ORDER BY i").fetchnumpy()
    how: dict[str, Any] = {"measures": ["roc_auc"], "interval": None}
    expected = cl.evaluate(rows["y"], rows["p"], by=rows["k"], **how)
    for _ in range(3):
        found = cl.evaluate(con, query=query, label="y", score="p", by="k", **how)
        assert [e["roc_auc"].value for e in found.segments.values()] == pytest.approx(
            [e["roc_auc"].value for e in expected.segments.values()], rel=1e-12
        )
        classes = cl.evaluate(con, query=query, label="k", score="a*", interval=None, measures=["accuracy"])
        assert classes["accuracy"].value == 1.0


@pytest.mark.parametrize("how", [{}, {"weight": "w"}, {"by": "g"}, {"batch": "g", "quota": 5}])
def test_without_intervals_memory_and_stream_say_the_same(how: dict[str, Any], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    columns = {"y": y.astype(int), "a": np.round(y + rng.normal(size=200), 2), "b": np.round(rng.normal(size=200), 2)}
    columns |= {"g": np.array(["v10", "v9"])[np.arange(200) % 2], "w": rng.integers(1, 4, 200)}
    lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(columns), *lines]))
    for verb, score in ((cl.evaluate, "a"), (cl.compare, ["a", "b"])):
        memory, stream = (
            json.loads(verb(tmp_path / "t.csv", label="y", score=score, interval=None, stream=s, **how).to_json())
            for s in (False, True)
        )
        assert _rounded(memory) == _rounded(stream)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value

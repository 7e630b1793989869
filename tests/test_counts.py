"""Counts in place of rows: the same values and intervals, and certain bounds where scores come in buckets."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

import cutline as cl
from cutline.commands.group import cli
from cutline.engines.count_query import Scheme
from cutline.sources.counts import ratio_ends
from cutline.sources.duckdb import DuckTable

pd = pytest.importorskip("pandas")


def rows_of(n: int = 600, k: int = 40, seed: int = 1) -> Any:
    """Rows with ties, in three segments and on twelve days."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    p = np.clip(np.round((y * 0.2 + rng.random(n) * 0.8) * k) / k, 0, 1)
    return pd.DataFrame({"y": y, "p": p, "site": rng.choice(list("abc"), n), "day": rng.integers(0, 12, n)})


def counts_of(rows: Any, *by: str) -> Any:
    """The counts of rows, in no order."""
    counts = rows.groupby(["p", *by]).y.agg(["sum", "size"]).reset_index()
    counts = counts.rename(columns={"sum": "pos", "size": "n"})
    counts["neg"] = counts.n - counts.pos
    return counts.sample(frac=1, random_state=0)


def check_same(counted: Any, plain: Any) -> None:
    """The same values to 1e-12, and the same intervals to 1e-9, by the same methods."""
    assert list(counted.specs) == list(plain.specs)
    for key in plain.specs:
        one, two = counted[key], plain[key]
        assert one.method == two.method
        for end, close in (("value", 1e-12), ("low", 1e-9), ("high", 1e-9)):
            assert getattr(one, end) == pytest.approx(getattr(two, end), rel=close, abs=close, nan_ok=True), (key, end)


OPTIONS = {"bedroc": "(alpha=20)", "f_beta": "(beta=2)", "partial_auc": "(fpr=0.2)"}
EVERY = [
    one.name + OPTIONS.get(one.name, "") + "@50" * one.needs_quota
    for one in cl.measures()
    if one.family not in ("value", "classes", "other") and one.name != "ranking_score"  # which takes a function
]
ROWS = {"positives": "pos", "rows": "n"}
BOTH = {"positives": "pos", "negatives": "neg"}


@pytest.mark.parametrize("n", [600, 6000])  # drawn row by row, and by blocks
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"quota": 50, "seed": 3},
        {"quota": "20-60"},
        {"threshold": 0.3},
        {"interval": "bootstrap"},
        {"interval": "bca"},
        {"stratify": True},
        {"measures": EVERY},
    ],
    ids=lambda options: "every measure" if "measures" in options else str(options),
)
def test_values_and_intervals_are_those_of_the_rows(n: int, options: dict[str, Any]) -> None:
    rows = rows_of(n)
    plain = cl.evaluate(rows.y, rows.p, **options)
    check_same(cl.evaluate(counts_of(rows), score="p", **ROWS, **options), plain)
    check_same(cl.evaluate(counts_of(rows), score="p", **BOTH, **options), plain)


def test_segments_and_batches() -> None:
    rows = rows_of()
    for by in (["site"], ["site", "day"]):
        how: dict[str, Any] = {"by": by[:1], "batch": "day" if len(by) > 1 else None, "quota": 5}
        plain = cl.evaluate(rows, label="y", score="p", **how)
        counted = cl.evaluate(counts_of(rows, *by), score="p", **ROWS, **how)
        check_same(counted, plain)
        for site in plain.segments:
            check_same(counted.segments[site], plain.segments[site])
        one, two = (pd.DataFrame(ev.segments.at(quota=5).to_dicts()) for ev in (counted, plain))
        pd.testing.assert_frame_equal(one, two, rtol=1e-9)
        one, two = (ev.segments.differences().to_pandas() for ev in (counted, plain))
        pd.testing.assert_frame_equal(one, two, rtol=1e-9)
    plain = cl.evaluate(rows, label="y", score="p", batch="day", quota=5)
    counted = cl.evaluate(counts_of(rows, "day"), score="p", **ROWS, batch="day", quota=5)
    check_same(counted, plain)
    assert counted.at(quota=5).next_hits == plain.at(quota=5).next_hits


def test_what_follows_from_an_evaluation(tmp_path: Any) -> None:
    rows = rows_of(6000)
    plain = cl.evaluate(rows.y, rows.p)
    counted = cl.evaluate(counts_of(rows), score="p", **ROWS, name="model")
    assert counted.calibration().to_dict() == plain.calibration().to_dict()
    assert counted.at(quota=100).to_dict() == pytest.approx(plain.at(quota=100).to_dict(), nan_ok=True)
    for name in ("roc", "gain", "precision_recall"):
        one, two = (ev.curve(name).band() for ev in (counted, plain))
        np.testing.assert_allclose(one.low, two.low, atol=1e-12)
    assert counted.with_measures("f1")["f1"].value == plain.with_measures("f1")["f1"].value
    prices = {"cost": 2, "value": 9}
    one, two = cl.plan(counts_of(rows), score="p", **ROWS, **prices), cl.plan(rows.y, rows.p, **prices)
    assert (one.quota, one.profit.value) == (two.quota, two.profit.value)
    assert one.profit.low == pytest.approx(two.profit.low, rel=1e-9)
    goal = {"cost_fp": 1, "cost_fn": 4}
    one, two = cl.threshold_for(counts_of(rows), score="p", **BOTH, **goal), cl.threshold_for(rows.y, rows.p, **goal)
    assert float(one) == float(two)
    assert "counts of" in counted.facts["understood"]
    counted.to_html(tmp_path / "page.html")
    assert "<html" in (tmp_path / "page.html").read_text()


def test_a_thousand_million_cases_cost_nothing() -> None:
    table = {"p": np.arange(1, 1000) / 1000, "pos": np.arange(1, 1000) * 1000, "n": np.full(999, 1_000_000)}
    ev = cl.evaluate(table, score="p", **ROWS, quota=1000)
    assert ev.facts["rows"] == 999_000_000
    assert ev["roc_auc"].value == pytest.approx(0.833, abs=1e-3)
    assert 0 < ev["roc_auc"].high - ev["roc_auc"].low < 1e-4
    ev.calibration()
    ev.curve("roc").band()
    with pytest.raises(cl.InputError, match="one by one"):
        ev.decision_curve()


BAD = [
    ({"pos": [1, -1], "n": [2, 3]}, ROWS, "negative"),
    ({"pos": [1, 0.5], "n": [2, 3]}, ROWS, "not a whole number"),
    ({"pos": [1, 4], "n": [2, 3]}, ROWS, "4 positives among 3 cases"),
    ({"pos": [0, 0], "n": [0, 0]}, ROWS, "zero in every row"),
    ({"pos": [1, 1], "n": [2, 3]}, {"positives": "pos"}, "goes with one other count"),
    ({"pos": [1, 1], "n": [2, 3]}, {"rows": "n"}, "positives goes with one other count"),
    ({"pos": [1, 1], "n": [2, 3], "neg": [1, 2]}, ROWS | BOTH, "goes with one other count"),
    ({"pos": [1, 1], "n": [2, 3]}, ROWS | {"clusters": "p"}, "counts do not show which cases belong together"),
    ({"pos": [1, 1], "n": [2, 3]}, ROWS | {"label": "p"}, "does not go with counts"),
    ({"pos": [1, 1], "n": [2, 3]}, ROWS | {"weight": "n"}, "does not go with counts"),
]


@pytest.mark.parametrize(("columns", "options", "words"), BAD, ids=[words for *_, words in BAD])
def test_bad_counts(columns: dict[str, Any], options: dict[str, Any], words: str) -> None:
    with pytest.raises(cl.InputError, match=words):
        cl.evaluate({"p": [0.2, 0.8], **columns}, score="p", **options)


def run(*arguments: str) -> Any:
    """The command line's answer."""
    return CliRunner().invoke(cli, arguments)


def test_command_line(tmp_path: Any) -> None:
    rows = rows_of()
    (tmp_path / "rows.csv").write_text(rows.to_csv(index=False))
    (tmp_path / "counts.csv").write_text(counts_of(rows).to_csv(index=False))
    counted = [str(tmp_path / "counts.csv"), "--score", "p", "--positives", "pos", "--rows", "n"]
    plain = [str(tmp_path / "rows.csv"), "--label", "y", "--score", "p"]
    for command, *more in (
        ["evaluate", "--quota", "50"],
        ["plan", "--cost", "1", "--value", "4"],
        ["cut", "--recall", "0.8"],
    ):
        one, two = run(command, *counted, *more), run(command, *plain, *more)
        assert one.exit_code == 0, one.output
        assert one.stdout == two.stdout
    assert run("check", *counted, "AUC >= 0.5").exit_code == 0
    assert "counts do not show" in run("evaluate", *counted, "--cluster", "p").output
    assert "does not go with counts" in run("evaluate", *counted, "--label", "p").output


def in_buckets(y: Any, p: Any, edges: Any, *, actual: bool) -> dict[str, list[float]]:
    """Counts by bucket (a, b], with the lowest and highest score in each, or with the ends of the bucket."""
    number = np.searchsorted(edges, p)
    table: dict[str, list[float]] = {"low": [], "high": [], "pos": [], "neg": []}
    for k in np.unique(number):
        here = number == k
        ends = (p[here].min(), p[here].max()) if actual else (edges[k - 1], edges[k])
        for name, value in zip(table, (*ends, int(y[here].sum()), int((~y[here]).sum())), strict=True):
            table[name].append(value)
    return table


BUCKETS: dict[str, Any] = {"low": "low", "high": "high", **BOTH}


@st.composite
def lists(draw: st.DrawFn) -> tuple[Any, Any, Any, bool, float, int]:
    """Labels, scores (ties, skewed, few distinct, extreme), the edges of buckets, a threshold and a quota."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.sampled_from([3, 8, 30, 200]))
    y = rng.random(n) < draw(st.sampled_from([0.05, 0.3, 0.5, 0.9]))
    y[:2] = True, False
    p = 1 / (1 + np.exp(-rng.normal(size=n) - draw(st.sampled_from([-0.5, 0, 0.3, 1, 3])) * y))
    kind = draw(st.sampled_from(["plain", "tenths", "thirds", "skewed", "extreme"]))
    if kind in ("tenths", "thirds"):
        p = np.round(p * (10 if kind == "tenths" else 3)) / (10 if kind == "tenths" else 3)
    elif kind == "skewed":
        p = p**8
    elif kind == "extreme":
        p = np.where(rng.random(n) < 0.3, rng.choice([0.0, 1.0, 0.5], n), p)
    inner = rng.random(draw(st.sampled_from([1, 3, 7, 20, 100])))
    inner = inner if draw(st.booleans()) else np.quantile(p, inner)
    edges = np.unique(np.concatenate([[-1e-9], np.clip(inner, 0.0, 1.0), [1.0]]))
    threshold = draw(st.sampled_from([0.5, 0.1, float(rng.choice(p))]))
    return y, p, edges, draw(st.booleans()), threshold, draw(st.integers(1, n))


def check_truth(drawn: Any) -> None:
    y, p, edges, actual, threshold, quota = drawn
    how: dict[str, Any] = {"threshold": threshold, "quota": quota, "interval": None}
    truth = cl.evaluate(y, p, **how)
    counts = in_buckets(y, p, edges, actual=actual)
    counts["low"] = np.maximum(counts["low"], 0.0).tolist()
    ev = cl.evaluate(counts, **BUCKETS, **how)
    for key in truth.specs:
        value, (low, high), close = truth[key].value, ev[key].bounds, 1e-9 * max(1.0, abs(truth[key].value))
        if value == value and low == low:
            assert value in (low, high) or low - close <= value <= high + close, (key, value, low, high)
            assert ev[key].value == high or low - close <= ev[key].value <= high + close, (key, ev[key].value)


TIED = np.array([1, 1, 2, 3, 2, 2, 2, 3])  # a bucket whose first positive is alone and whose others tie


@settings(max_examples=150, deadline=None)
@given(lists())
@example((np.isin(np.arange(8), [0, 3, 4, 7]), 1 - (TIED - 1) / 3, np.array([-1e-9, 2 / 3, 1]), False, 0.5, 1))
def test_the_truth_lies_inside_the_bounds(drawn: Any) -> None:
    check_truth(drawn)


@pytest.mark.integration
@settings(max_examples=500, deadline=None)
@given(lists())
def test_the_truth_of_five_hundred_lists_lies_inside_the_bounds(drawn: Any) -> None:
    check_truth(drawn)


@pytest.mark.parametrize("before", [0, 1, 5])
def test_ties_of_some_positives_of_a_bucket_lie_inside_the_bounds(before: int) -> None:
    """Every way to divide the positives of a bucket into ties, after so many positives and some negatives."""
    score, label = [0.9] * before, [True] * before
    for misses in (0, 1, 7):
        counts = {"low": [0.8, 0.5], "high": [0.9, 0.6], "pos": [before, 4], "neg": [misses, 3]}
        bounds = {
            key: cl.evaluate(counts, **BUCKETS, measures=[key], interval=None)[key].bounds
            for key in ("average_precision", "pr_auc_min", "pr_auc_minmax", "pr_auc_max", "average_hit_rate")
        }
        for cut in product([0, 1], repeat=6):  # where another score begins, in one order of the classes
            for places in ((0, 1, 2, 3), (3, 4, 5, 6), (0, 2, 4, 6)):
                inside = 0.6 - np.concatenate([[0], np.cumsum(cut)]) / 100
                y = np.array([*label, *[False] * misses, *(k in places for k in range(7))])
                p = np.array([*score, *[0.8] * misses, *inside])
                for key, (low, high) in bounds.items():
                    value = cl.evaluate(y, p, measures=[key], interval=None)[key].value
                    assert low - 1e-9 <= value <= high + 1e-9, (key, cut, places)


def test_intervals_contain_both_doubts_and_words_say_what_would_do() -> None:
    rng = np.random.default_rng(5)
    y = rng.random(20_000) < 0.3
    p = 1 / (1 + np.exp(-rng.normal(size=20_000) - 1.5 * y))
    plain = cl.evaluate(y, p, quota=500)
    for buckets, wide in ((8, True), (1024, False)):
        ev = cl.evaluate(in_buckets(y, p, np.linspace(0, 1, buckets + 1), actual=True), **BUCKETS, quota=500)
        auc, truth = ev["roc_auc"], plain["roc_auc"]
        assert auc.low <= auc.bounds.low <= truth.value <= auc.bounds.high <= auc.high
        assert auc.low < truth.low + 1e-5
        assert auc.high > truth.high - 1e-5
        assert any("buckets would do" in said for said in ev.notices) == wide
        assert any("certainly lies between" in said for said in ev.notices)
        row = next(row for row in ev.to_dicts() if row["measure"] == "roc_auc")
        assert (row["bound_low"], row["bound_high"]) == auc.bounds
    assert plain["roc_auc"].bounds == (plain["roc_auc"].value,) * 2
    table = in_buckets(y, p, np.linspace(0, 1, 65), actual=False)
    segments = {**table, "site": ["ab"[k % 2] for k in range(len(table["low"]))]}
    by_site = cl.evaluate(segments, **BUCKETS, by="site").segments["a"]["roc_auc"]
    assert by_site.low < by_site.bounds.low < by_site.bounds.high < by_site.high


def test_buckets_in_batches() -> None:
    rows = rows_of(3000, 1000)
    edges = np.linspace(-1e-9, 1, 20)
    parts = []
    for day, here in rows.groupby("day"):
        parts.append(pd.DataFrame(in_buckets(here.y.to_numpy(), here.p.to_numpy(), edges, actual=True)).assign(day=day))
    table = pd.concat(parts)
    table["bucket"] = np.searchsorted(edges, table.high)
    table["low"] = table.groupby("bucket").low.transform("min")
    table["high"] = table.groupby("bucket").high.transform("max")
    ev = cl.evaluate(table, **BUCKETS, batch="day", quota=20)
    truth = cl.evaluate(rows, label="y", score="p", batch="day", quota=20)
    for key in ("hit_rate@20", "qrecall@20", "roc_auc"):
        low, high = ev[key].bounds
        assert low < high
        assert low <= truth[key].value <= high
        assert ev[key].low <= low
        assert ev[key].high >= high


BAD_BUCKETS = [
    ({"low": [0.0, 0.4], "high": [0.5, 1.0]}, {}, "overlap"),
    ({"low": [0.0, 1.0], "high": [0.5, 0.6]}, {}, "above the upper end"),
    ({"low": [0.0, 0.5], "high": [0.5, 1.0]}, {"high": None}, "a bucket has two ends"),
    ({"low": [0.0, 0.5], "high": [0.5, 1.0]}, {"score": "low"}, "is one score"),
    ({"low": [0.0, 0.5], "high": [0.5, 1.0]}, {"prevalence": 0.1}, "buckets of scores"),
]


@pytest.mark.parametrize(("ends", "options", "words"), BAD_BUCKETS, ids=[words for *_, words in BAD_BUCKETS])
def test_bad_buckets(ends: dict[str, Any], options: dict[str, Any], words: str) -> None:
    with pytest.raises(cl.InputError, match=words):
        cl.evaluate({**ends, "pos": [1, 2], "neg": [2, 1]}, **{**BUCKETS, **options})


def check_bounds(approximate: Any, exact: Any) -> None:
    """Every exact value lies inside its bounds, and some bounds have a width."""
    for key in exact.specs:
        value, (low, high), close = exact[key].value, approximate[key].bounds, 1e-9 * max(1.0, abs(exact[key].value))
        if value == value and low == low:
            assert value in (low, high) or low - close <= value <= high + close, key


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file with probabilities, other scores, and a score with few values; in segments and batches."""
    pytest.importorskip("pyarrow")
    rows = rows_of(70_000, 10**9)
    rows["s"] = 100 * rows.p - 30
    rows["k"] = (rows.p * 20).round()
    path = str(tmp_path_factory.mktemp("counts") / "rows.parquet")
    rows.to_parquet(path)
    return path


@pytest.mark.parametrize("score", ["p", "s", "k"])
@pytest.mark.parametrize("options", [{}, {"by": "site", "batch": "day", "quota": 50}], ids=str)
def test_a_file_answers_from_counts(parquet: str, score: str, options: dict[str, Any]) -> None:
    how: dict[str, Any] = {"label": "y", "score": score, "interval": None, **options}
    approximate, exact = cl.evaluate(parquet, **how, exact=False), cl.evaluate(parquet, **how, stream=False)
    check_bounds(approximate, exact)
    for site in exact.segments if "by" in options else ():
        check_bounds(approximate.segments[site], exact.segments[site])
    width = approximate["roc_auc"].bounds.width
    assert width == 0.0 if score == "k" else 0.0 < width < 1e-4


def test_a_tolerance_leads_to_the_exact_values(parquet: str) -> None:
    how: dict[str, Any] = {"label": "y", "score": "p", "measures": ["roc_auc", "brier_score"]}
    assert cl.evaluate(parquet, **how, tolerance=1e-3)["roc_auc"].bounds.width > 0.0
    sure = cl.evaluate(parquet, **how, tolerance=1e-9)
    assert sure["roc_auc"].bounds.width == 0.0
    assert sure["roc_auc"].value == cl.evaluate(parquet, **how)["roc_auc"].value
    with pytest.raises(cl.InputError, match="which cases belong together"):
        cl.evaluate(parquet, **how, exact=False, clusters="day")
    with pytest.raises(cl.InputError, match="does not go with counts"):
        cl.evaluate(parquet, **how, exact=False, weight="p")
    with pytest.raises(cl.InputError, match="for one model"):
        cl.compare(parquet, label="y", score=["p", "s"], exact=False)
    asked = [parquet, "--label", "y", "--score", "p", "--format", "json"]
    assert '"bound_low"' in run("evaluate", *asked, "--approximate").stdout
    assert '"bound_low"' not in run("evaluate", *asked).stdout


@pytest.mark.integration
def test_spark_answers_from_counts(parquet: str, spark: Any) -> None:
    frame = spark.read.parquet(parquet)
    for score in ("p", "s", "k"):
        how: dict[str, Any] = {"label": "y", "score": score, "interval": None, "by": "site"}
        approximate, exact = cl.evaluate(frame, **how, exact=False), cl.evaluate(parquet, **how, stream=False)
        check_bounds(approximate, exact)
        check_bounds(approximate.segments["a"], exact.segments["a"])


def test_ends_of_buckets_are_those_of_the_query() -> None:
    duckdb = pytest.importorskip("duckdb")
    rng, buckets = np.random.default_rng(4), 4096
    p = np.concatenate([rng.random(2000), 10.0 ** rng.uniform(-12, 0, 2000), 1 - 10.0 ** rng.uniform(-12, 0, 2000)])
    ends = ratio_ends(np.arange(buckets + 2), buckets)
    p = np.unique(np.concatenate([p, ends, np.nextafter(ends, 1.0), [5e-324, 0.5, np.nextafter(0.5, 1.0)]]))
    scores = {"p": p}
    number = duckdb.from_arrow(pytest.importorskip("pyarrow").table(scores)).project(Scheme(buckets).bucket_sql("p"))
    bucket = np.array([row[0] for row in number.fetchall()])
    assert (np.diff(bucket) >= 0).all()
    assert (bucket[[0, -1]] == [0, buckets + 1]).all()
    assert (p <= ends[bucket]).all()
    assert (p[bucket > 0] > ends[bucket[bucket > 0] - 1]).all()
    assert ends[buckets // 2] == 0.5


LABELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "truth": (lambda y: y, {}),
    "0 and 1": (lambda y: y.astype(np.int8), {}),
    "-1 and 1": (lambda y: 2.0 * y - 1.0, {}),
    "words": (lambda y: np.where(y, "yes", "no"), {"pos_label": "yes"}),
    "a number of two": (lambda y: 1 + y, {"pos_label": 2}),
    "missing": (lambda y: [None if k % 100 == 0 else bool(v) for k, v in enumerate(y)], {"missing": "drop"}),
}


@pytest.mark.parametrize("name", LABELS)
def test_one_pass_counts_and_checks(name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(70_000, 10**9)
    labels, options = LABELS[name]
    rows["y"] = labels(rows.y.to_numpy() == 1)
    path = str(tmp_path / "rows.parquet")
    rows.to_parquet(path)
    how: dict[str, Any] = {"label": "y", "score": "p", "interval": None, **options}
    exact = cl.evaluate(path, **how, stream=False)
    queries: list[str] = []
    asked = DuckTable.rows
    monkeypatch.setattr(DuckTable, "rows", lambda table, sql: [queries.append(sql), asked(table, sql)][1])
    approximate = cl.evaluate(path, **how, exact=False)
    check_bounds(approximate, exact)
    assert len(queries) == 2  # of the first rows, and of all
    for fact in ("rows", "positives", "dropped"):
        assert approximate.facts[fact] == exact.facts[fact]


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("p", np.nan, "row 70,000 has a missing value"),
        ("p", np.inf, "infinite"),
        ("y", 2.0, "more than two labels"),
        ("y", np.nan, "row 70,000 has a missing value"),
    ],
)
def test_what_one_pass_does_not_expect_is_checked(column: str, value: float, words: str, tmp_path: Any) -> None:
    rows = rows_of(70_000, 10**9)
    rows[column] = rows[column].astype(float)
    rows.loc[69_999, column] = value
    rows.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(cl.InputError, match=words):
        cl.evaluate(str(tmp_path / "rows.parquet"), label="y", score="p", exact=False)


def few_buckets(seed: int = 0, *, last: bool = True) -> tuple[np.ndarray, np.ndarray, dict[str, list[float]]]:
    """4,000 rows, their positives last inside each of four buckets (or first), and the counts of those."""
    rng = np.random.default_rng(seed)
    s = np.sort(rng.random(4000))
    bucket = (4 * s).astype(int)
    y = np.zeros(4000, bool)
    for k in range(4):
        rows = np.flatnonzero(bucket == k)
        positives = int(len(rows) * (0.1 + 0.25 * k))
        y[rows[:positives] if last else rows[-positives:]] = True
    sides = [[float(of[bucket == k].sum()) for k in range(4)] for of in (y, np.ones(4000))]
    ends = [[float(f(s[bucket == k])) for k in range(4)] for f in (np.min, np.max)]
    return y, s, dict(zip(("lo", "hi", "f", "n"), [*ends, *sides], strict=True))


OF_BUCKETS: dict[str, str] = {"low": "lo", "high": "hi", "positives": "f", "rows": "n"}


def test_a_cut_of_buckets_takes_of_the_rows_what_it_says(tmp_path: Path) -> None:
    """A threshold lies between two buckets, so whoever applies it to the rows gets the cases that were counted."""
    y, s, table = few_buckets()
    for goal in ({"precision": 0.8}, {"recall": 0.5, "confidence": 0.9}, {"fpr": 0.2}, {"cost_fp": 1, "cost_fn": 3}):
        cut = cl.threshold_for(table, **OF_BUCKETS, **goal)  # type: ignore[arg-type]
        assert ((s > cut).sum(), (y & (s > cut)).sum()) == (cut.point.taken, cut.point.tp), goal
    best = cl.plan(table, cost=20, value=40, **OF_BUCKETS)  # type: ignore[arg-type]
    assert (s > best.cut.threshold).sum() == best.quota
    path, options = tmp_path / "counts.csv", [f"--{name}={column}" for name, column in OF_BUCKETS.items()]
    path.write_text("\n".join(",".join(map(repr, row)) for row in zip(*table.values(), strict=True)))
    path.write_text(",".join(table) + "\n" + path.read_text())
    done = CliRunner().invoke(cli, ["cut", str(path), *options, "--precision", ".8", "--format", "json"])
    found = json.loads(done.stdout)
    assert (s > found["threshold"]).sum() == found["here"]["taken"]
    assert found["here"]["pearson"] is None


def test_a_gate_counts_what_buckets_leave_open(tmp_path: Path) -> None:
    """The rows fail the condition, or do not decide it: counts that hide the order must not pass it."""
    y, s, table = few_buckets()
    path, options = tmp_path / "counts.csv", [f"--{name}={column}" for name, column in OF_BUCKETS.items()]
    lines = [",".join(map(repr, row)) for row in zip(*table.values(), strict=True)]
    path.write_text("\n".join([",".join(table), *lines]))
    rows = cl.evaluate(y, s, measures=["roc_auc", "hit_rate@1300"])
    counts = cl.evaluate(table, measures=["roc_auc", "hit_rate@1300"], **OF_BUCKETS)  # type: ignore[arg-type]
    for measure in ("roc_auc", "hit_rate@1300"):
        middle = (rows[measure].value + counts[measure].value) / 2
        condition = f"{measure} >= {middle:.3f}"
        assert rows[measure].value < middle < counts[measure].value
        assert str(cl.check(counts, condition)) == "undecided"
        done = CliRunner().invoke(cli, ["check", str(path), *options, condition])
        assert (done.exit_code, done.stdout[:9]) == (4, "Undecided"), done.output


@pytest.mark.parametrize("last", [True, False])
def test_at_a_threshold_inside_a_bucket_half_of_it_is_taken_and_told(last: bool) -> None:
    y, s, table = few_buckets(last=last)
    ev = cl.evaluate(table, threshold=0.6, **OF_BUCKETS)  # type: ignore[arg-type]
    point, above = ev.at(threshold=0.6), s > 0.6
    ends = [(s > end).sum() for end in (0.75, 0.5)]
    assert point.taken == pytest.approx(sum(ends) / 2)
    assert point.hits_worst <= (y & above).sum() <= point.hits_best
    for name, value in (("recall", point.recall), ("precision", point.precision), ("f1", None)):
        assert value is None or ev[name].value == pytest.approx(value)
        low, high = ev[name].bounds
        assert low <= getattr(cl, name)(y, s, threshold=0.6) <= high
        assert low <= ev[name].value <= high
    assert math.isnan(point.pearson)
    sentence = next(iter(ev.sections())).sentences[0]
    assert f"{ends[0]:,} to {ends[1]:,} cases and" in sentence
    assert "selects about" in sentence


def test_a_correlation_at_a_quota_takes_single_scores() -> None:
    _, _, table = few_buckets()
    e = cl.evaluate(table, quota=300, **OF_BUCKETS)["quota_pearson@300"]  # type: ignore[arg-type]
    assert math.isnan(e.value)
    assert e.reason == "it takes single scores, and buckets hide them"
    single = {"p": [0.9, 0.8, 0.5], "f": [30, 20, 10], "n": [40, 60, 200]}
    assert cl.evaluate(single, score="p", positives="f", rows="n", quota=70)["quota_pearson@70"].value > 0


def test_the_page_forecasts_for_buckets_what_the_answer_does() -> None:
    from cutline.present.page import at_stops

    _, _, table = few_buckets()
    stops = np.array([7, 300, 1300, 2500, 4000])
    measures = [f"{name}@{k}" for name in ("hit_rate", "qrecall") for k in stops]
    ev = cl.evaluate(table, measures=measures, **OF_BUCKETS)  # type: ignore[arg-type]
    shown = at_stops(ev, stops)
    for i, k in enumerate(stops.tolist()):
        point = ev.at(quota=k)
        assert (point.next_hits.low, point.next_hits.high) == tuple(shown["next"][:, i]), k
        mean = point.expected_hits
        assert (mean.low, mean.high) == pytest.approx(tuple(shown["expected"][:, i]))
        assert point.threshold == shown["threshold"][i]
        for name in ("hit_rate", "qrecall"):
            ends = ev[f"{name}@{k}"].interval
            assert np.clip(shown[name][:, i], 0, 1).tolist() == pytest.approx(np.clip(list(ends), 0, 1).tolist()), (
                name,
                k,
            )


def of_query(y: Any, p: Any, **named: Any) -> tuple[Any, Any]:
    """Rows, and what a query counts of them."""
    rows = pd.DataFrame({"y": y, "p": p})
    query = cl.sql(table="rows", label="y", score="p", pos_label=1, neg_label=0, dialect="duckdb", **named)
    con = pytest.importorskip("duckdb").connect()
    con.register("rows", rows)
    return rows, con.sql(query).df()


def test_intervals_of_likelihood_ratios_contain_infinite_bounds() -> None:
    table = {"lo": [0.8, 0.2], "hi": [0.8, 0.204], "pos": [8, 8], "n": [8, 40]}
    ev = cl.evaluate(table, low="lo", high="hi", positives="pos", rows="n", threshold=0.2025)
    rows = cl.evaluate([1] * 16 + [0] * 32, [0.8] * 8 + [0.2] * 8 + [0.204] * 32, threshold=0.2025)
    for name, condition in (
        ("positive", "positive_likelihood_ratio >= 3"),
        ("negative", "negative_likelihood_ratio <= .8"),
    ):
        one = ev[f"{name}_likelihood_ratio"]
        assert one.low <= one.bounds.low <= one.value <= one.bounds.high <= one.high == math.inf
        assert one.low <= rows[f"{name}_likelihood_ratio"].low
        assert str(cl.check(ev, condition)) == "undecided"


LOSSES = ("brier_score", "log_loss", "mean_absolute_error", "root_mean_squared_error")


@pytest.mark.parametrize("seed", [None, *range(6)])
def test_intervals_of_losses_allow_for_the_largest_spread_inside_a_bucket(seed: int | None) -> None:
    y, p = np.zeros(15), np.array([1 - 1e-6] * 12 + [0.75, 0.73, 0.95])
    if seed is not None:
        rng = np.random.default_rng(seed)
        p = rng.random(60)
        y = rng.random(60) < p
    rows, counts = of_query(y.astype(int), p, buckets=2)
    exact, ev = (
        cl.evaluate(one, measures=LOSSES, **how) for one, how in ((rows, {"label": "y", "score": "p"}), (counts, {}))
    )
    for name in LOSSES:
        assert ev[name].value == pytest.approx(exact[name].value)
        assert ev[name].bounds.width < 1e-9
        assert ev[name].low < ev[name].value < ev[name].high
        assert ev[name].high - ev[name].low > 0.98 * (exact[name].high - exact[name].low), name


@pytest.mark.parametrize("name", ["precision", "false_discovery_rate", "f1"])
def test_at_a_threshold_inside_a_bucket_intervals_have_the_cases_of_either_end(name: str) -> None:
    rows, counts = of_query(
        [0] * 40 + [1] * (5 if name == "f1" else 0),
        [0.2] * 18 + [0.204] * 22 + [0.1] * (5 if name == "f1" else 0),
        buckets=16,
    )
    exact = cl.evaluate(rows, label="y", score="p", pos_label=1, threshold=0.202, measures=[name])[name]
    e = cl.evaluate(counts, threshold=0.202, measures=[name])[name]
    assert e.low <= exact.low < exact.high <= e.high


@pytest.mark.parametrize(
    ("y", "p"), [([0, 0, 1], [0, 0, 0]), ([0, 0], [3.5e-9, 2.55e-7]), ([1, 1, 1], [1 - 1e-10, 1 - 2e-10, 1 - 3e-10])]
)
def test_intervals_of_losses_stay_in_their_range_and_contain_the_value(y: list[int], p: list[float]) -> None:
    rows, counts = of_query(y, p, buckets=2)
    for ev in (
        cl.evaluate(rows, label="y", score="p", pos_label=1, measures=LOSSES),
        cl.evaluate(counts, measures=LOSSES),
    ):
        for name, e in ev.estimates.items():
            assert 0 <= e.low <= e.value <= e.high
            assert e.high <= (math.inf if name == "log_loss" else 1)


def test_where_it_is_not_known_whether_a_case_is_taken_no_reason_denies_it() -> None:
    table = {"lo": [0.2], "hi": [0.9], "pos": [10], "n": [40]}
    e = cl.evaluate(table, low="lo", high="hi", positives="pos", rows="n", threshold=0.85)["precision"]
    assert (e.value, e.bounds, e.interval, e.reason) == (0.25, (0, 1), (0, 1), "")


def test_what_is_read_at_the_middle_of_buckets_is_told_to_be_approximate() -> None:
    rng = np.random.default_rng(2)
    p = rng.beta(1, 27, 6000)
    rows, counts = of_query((rng.random(6000) < p) * 1, p, buckets=16)
    ev = cl.evaluate(counts)
    calibration, exact = ev.calibration(), cl.evaluate(rows, label="y", score="p")
    note = "Scores came in buckets: slope, bias and miscalibration are approximate."
    assert note in next(iter(calibration.sections())).sentences
    assert note not in str(exact.calibration())
    for name in ("brier_score", "log_loss"):
        assert calibration[f"{name}.score"].value == pytest.approx(exact[name].value)
    rows["q"] = np.clip(p + rng.normal(0, 0.02, 6000), 0, 1)
    con = pytest.importorskip("duckdb").connect()
    con.register("two", rows)
    query = cl.sql(table="two", label="y", score=["p", "q"], pos_label=1, neg_label=0, dialect="duckdb", buckets=16)
    joint = cl.compare(con.sql(query).df(), quota=200, threshold=0.05)
    plain = cl.compare(rows, label="y", score=["p", "q"], quota=200, threshold=0.05)
    for made, of_rows in zip(
        (joint.swaps("p", "q"), joint.consistency("p", "q")),
        (plain.swaps("p", "q"), plain.consistency("p", "q")),
        strict=True,
    ):
        assert "about " in str(made)
        assert str(made).count("Scores came in buckets: ") == 1
        assert "Scores came" not in str(of_rows)


def test_an_overlap_is_told_by_the_ends_that_were_given() -> None:
    ends = {"low": [0.2, 0.0, 0.0], "high": [0.2, 0.2, 0.0], "pos": [1, 2, 1], "neg": [2, 1, 1]}
    with pytest.raises(cl.InputError, match=r"two buckets overlap: 0 to 0\.2 and 0\.2 to 0\.2"):
        cl.evaluate(ends, **BUCKETS)

"""Lists cut batch by batch: what each holds, how sure that is, the next batch, and one threshold for all of them."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import tracemalloc
from datetime import date
from typing import Any

import numpy as np
import pandas
import pytest
from scipy import stats

import cutline as cl
from cutline.inference.differences import skewed_mean_limits, skewed_mean_test
from cutline.inference.limits import serial_inflation
from cutline.partition import Partition

BOTH = list(itertools.product([False, True], repeat=2))


def lists(batches: int = 12, seed: int = 0, *, ties: bool = False, weights: bool = False) -> tuple[Any, ...]:
    """Labels, scores, days and weights: rates vary from day to day, rows come in no order."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(15, 60, batches)
    day = np.repeat(np.arange(batches), sizes)
    rate = 0.2 * np.exp(0.4 * rng.normal(size=batches))
    y = rng.random(len(day)) < rate[day]
    score = rng.normal(size=len(day)) + 1.3 * y
    score = np.round(score, 1) if ties else score
    weight = rng.uniform(0.5, 3.0, len(day)) if weights else None
    order = rng.permutation(len(day))
    return y[order], score[order], day[order], None if weight is None else weight[order]


def held(y: Any, score: Any, weight: Any, places: float) -> float:
    """Positives among the first places of one list, a tie pro rata: by brute force."""
    weight = np.ones(len(y)) if weight is None else weight
    found, room = 0.0, places
    for value in sorted(set(score.tolist()), reverse=True):
        tied = score == value
        share = min(1.0, room / weight[tied].sum())
        found += share * weight[tied & y].sum()
        room -= share * weight[tied].sum()
        if room <= 1e-12:
            break
    return float(found)


@pytest.mark.parametrize("quota", [1, 7, 20, 40, 0.1, 0.35])
@pytest.mark.parametrize(("ties", "weights"), BOTH)
def test_measures_at_a_quota_count_in_each_batch(quota: float, ties: bool, weights: bool) -> None:
    y, s, day, w = lists(ties=ties, weights=weights)
    hits = taken = 0.0
    for one in range(12):
        here = day == one
        cases = float(here.sum() if w is None else w[here].sum())
        places = np.floor(quota * cases * (1 + 1e-12)) if isinstance(quota, float) else min(quota, cases)
        hits += held(y[here], s[here], None if w is None else w[here], places)
        taken += places
    everyone = float(len(y) if w is None else w.sum())
    positives = float(y.sum() if w is None else w[y].sum())
    names = ["hit_rate", "qrecall", "quota_lift"]
    ev = cl.evaluate(y, s, batch=day, quota=quota, sample_weight=w, measures=names)
    assert ev["hit_rate"].value == pytest.approx(hits / taken)
    assert ev["qrecall"].value == pytest.approx(hits / positives)
    assert ev["quota_lift"].value == pytest.approx(hits / taken / (positives / everyone))
    point = ev.at(quota=quota)
    assert (point.tp, point.taken) == pytest.approx((hits, taken))
    assert sum(point.batches.column("hits")) == pytest.approx(hits)
    assert point.tp + point.fp + point.fn + point.tn == pytest.approx(everyone)
    assert point.hits_worst <= point.tp + 1e-9 <= point.hits_best + 2e-9
    for e in ev.estimates.values():
        assert e.low < e.value < e.high


def test_one_batch_gives_the_values_of_a_plain_list_and_claims_no_interval() -> None:
    y, s, _, _ = lists(ties=True)
    plain, one = cl.evaluate(y, s, quota=30), cl.evaluate(y, s, quota=30, batch=np.zeros(len(y)))
    for key, e in plain.estimates.items():
        assert one[key].value == pytest.approx(e.value, nan_ok=True), key
        assert np.isnan(one[key].low), key
    there, here = one.at(quota=30), plain.at(quota=30)
    for name in ("tp", "fp", "fn", "tn", "tied", "from_tie", "hits_worst", "hits_best", "lift", "pearson"):
        assert getattr(there, name) == pytest.approx(getattr(here, name)), name
    assert there.batches[0]["threshold"] == here.threshold
    assert np.isnan(there.next_hits.low)
    assert np.isnan(there.expected_hits.low)
    assert any("single batch" in said for said in one.notices)
    assert "single batch" in repr(one)


def test_whole_list_measures_keep_their_values_and_resample_batches() -> None:
    y, s, day, _ = lists()
    names = ["roc_auc", "average_precision", "pem"]
    batched = cl.evaluate(y, s, batch=day, measures=names, n_resamples=300)
    by_clusters = cl.evaluate(y, s, clusters=day, measures=names, n_resamples=300)
    for name in names:
        assert batched[name] == by_clusters[name]


def test_pearson_reads_the_taken_of_all_batches() -> None:
    y, s, day, _ = lists()
    taken = np.concatenate([np.flatnonzero(day == k)[np.argsort(-s[day == k])[:9]] for k in range(12)])
    expected = np.corrcoef(s[taken], y[taken])[0, 1]
    ev = cl.evaluate(y, s, batch=day, quota=9, measures=["quota_pearson"])
    assert ev["quota_pearson"].value == pytest.approx(expected)


def test_a_range_of_quotas_is_the_mean_over_them() -> None:
    y, s, day, _ = lists()
    ev = cl.evaluate(y, s, batch=day, quota=range(3, 8), measures=["hit_rate"])
    each = [cl.evaluate(y, s, batch=day, quota=k, measures=["hit_rate"])["hit_rate"].value for k in range(3, 8)]
    assert ev["hit_rate"].value == pytest.approx(np.mean(each))
    assert ev["hit_rate"].low < ev["hit_rate"].value < ev["hit_rate"].high
    shares = cl.evaluate(y, s, batch=day, quota="5%-40%", measures=["qrecall"])["qrecall"]
    assert 0.1 < shares.value < 0.9


def test_a_batch_smaller_than_the_quota_is_taken_whole_and_says_so() -> None:
    y, s, day, _ = lists()
    ev = cl.evaluate(y, s, batch=day, quota=40, measures=["hit_rate"])
    point = ev.at(quota=40)
    sizes = np.bincount(day)
    assert point.short == np.count_nonzero(sizes < 40) > 0
    assert point.taken == np.minimum(sizes, 40).sum()
    assert "fewer than 40 cases" in ev.notices[0]
    assert f"{point.taken:,.0f} of 480 places are used" in ev.notices[0]
    assert "fewer than 40 cases" in repr(point)


def test_batches_without_positives_or_too_small_for_a_share() -> None:
    y = np.array([0, 0, 0, 1, 0, 1, 0, 0, 1, 1])
    s = np.linspace(1, 0.1, 10)
    day = ["a"] * 3 + ["b"] * 3 + ["c"] * 4
    ev = cl.evaluate(y, s, batch=day, quota=1, measures=["hit_rate", "qrecall"])
    rows = ev.at(quota=1).batches.to_dicts()
    assert [row["hits"] for row in rows] == [0, 1, 0]
    assert np.isnan(rows[0]["recall"])
    assert ev["hit_rate"].value == pytest.approx(1 / 3)
    ev = cl.evaluate(y, s, batch=day, quota=0.3, measures=["hit_rate"])
    assert [row["places"] for row in ev.at(quota=0.3).batches] == [0, 0, 1]
    assert "2 batches are too small for one place" in ev.notices[0]
    with pytest.raises(cl.InputError, match="less than one case in every one"):
        cl.evaluate(y, s, batch=day, quota=0.2, measures=["hit_rate"])
    none = cl.evaluate(np.zeros(10), s, batch=day, quota=2, measures=["hit_rate", "qrecall"])
    assert none["hit_rate"].value == 0.0
    assert none["qrecall"].value != none["qrecall"].value
    assert none["qrecall"].reason
    assert none.at(quota=2).next_hits.low == 0.0


def test_a_place_for_everybody_finds_everybody() -> None:
    y, s, day, _ = lists()
    ev = cl.evaluate(y, s, batch=day, quota=100, measures=["qrecall", "quota_lift", "hit_rate"])
    assert ev["qrecall"].interval == (1.0, 1.0)
    assert ev["quota_lift"].interval == pytest.approx((1.0, 1.0))
    assert ev["hit_rate"].low < ev["hit_rate"].value == pytest.approx(y.mean())
    first = np.array([np.count_nonzero(s[day == day[k]] > s[k]) for k in range(len(s))])  # rank in its batch
    same = cl.evaluate(y, -first, batch=day, quota=3, measures=["hit_rate"]).batches.rules()
    assert "both find the same" in same.sentences()[2]


def test_every_place_a_hit_leaves_room_for_doubt() -> None:
    ev = cl.evaluate([1, 1, 0] * 20, [3, 2, 1] * 20, batch=np.repeat(np.arange(20), 3), quota=2, measures=["hit_rate"])
    assert ev["hit_rate"].value == 1.0
    assert 0.8 < ev["hit_rate"].low < 0.95
    assert ev.at(quota=2).next_hits.high == 2.0


@pytest.mark.parametrize(
    ("values", "names", "order"),
    [
        ([10, 9, 10, 2], (2, 9, 10), "number"),
        (["10", "9", "10", "2"], ("2", "9", "10"), "number"),
        (["2024-10-01", "2024-02-01", "2023-12-31", "2024-02-01"], ("2023-12-31", "2024-02-01", "2024-10-01"), "time"),
        ([date(2024, 3, 1), date(2024, 2, 1), date(2024, 3, 1)], ("2024-02-01", "2024-03-01"), "time"),
        (np.array(["2024-03-01", "2024-02-01"], "M8[ns]"), ("2024-02-01", "2024-03-01"), "time"),
        (["may", "apr", "jun", "apr"], ("apr", "may", "jun"), "time"),
        (["2024-05", "2024-4", "2024-06", "2024-4"], ("2024-4", "2024-05", "2024-06"), "time"),
        (["v10", "v2", "v1", "v2"], ("v1", "v2", "v10"), "number"),
        (["south", "north", "south"], ("north", "south"), "name"),
        (pandas.Categorical(["s", "l", "m"], ["s", "m", "l"], ordered=True), ("s", "m", "l"), "given"),
        (["a" + "9" * 5000, "a2"], ("a2", "a" + "9" * 5000), "number"),  # more digits than int() takes
    ],
)  # fmt: skip
def test_the_order_of_batches(values: Any, names: tuple[Any, ...], order: str) -> None:
    parts = Partition.of(values, "batch", len(values))
    assert (parts.names, parts.order) == (names, order)
    if isinstance(values, list):
        assert [str(parts.names[k]) for k in parts.codes] == [str(v) for v in values]


@pytest.mark.parametrize("names", [["feb", "jan", "mar"], ["v10", "v2", "v1"], ["2024-10", "2024-9", "2024-11"]])
def test_batches_segments_and_rules_have_one_order_everywhere(names: list[str], tmp_path: Any) -> None:
    y, p, day, _ = lists(3, 5)
    frame = pandas.DataFrame({"y": y.astype(int), "p": p, "b": np.array(names)[day]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    how: dict[str, Any] = {"label": "y", "score": "p", "quota": 5, "measures": ["hit_rate"], "interval": None}
    want = sorted(
        names, key=lambda name: {"jan": 1, "feb": 2, "mar": 3}.get(name) or int(name.split("-")[-1].strip("v"))
    )
    rules = []
    for source, stream in ((frame, False), (tmp_path / "rows.csv", False), (tmp_path / "rows.csv", True)):
        ev = cl.evaluate(source, **how, batch="b", stream=stream)
        assert [row["batch"] for row in ev.at(quota=5).batches.to_dicts()] == want
        assert list(cl.evaluate(source, **how, by="b", stream=stream).segments) == want
        rules.append(ev.batches.rules(threshold=0.5))
    own = cl.evaluate(y, p, batch=[want.index(name) for name in frame.b], quota=5, measures=["hit_rate"])
    for found in rules:
        assert found.uncapped.hits.tolist() == own.batches.rules(threshold=0.5).uncapped.hits.tolist()
    picked = cl.select(p, 5, batch=frame.b)
    assert [row["batch"] for row in picked.batches.to_dicts()] == want


@pytest.mark.parametrize("role", ["batch", "clusters", "segment"])
def test_a_long_key_takes_its_room_once(role: str, tmp_path: Any) -> None:
    n, long = 3000, "k" * 100_000  # as an array of text, 1.2 GB
    keys = [long, *(f"k{k % 40}" for k in range(1, n))]
    y, p = [k % 3 == 0 for k in range(n)], np.arange(n) % 97
    frame = pandas.DataFrame({"y": np.array(y, int), "p": p, "k": keys})
    frame.to_parquet(tmp_path / "t.parquet")
    how: dict[str, Any] = {"measures": ["accuracy"], "interval": None, "threshold": 50}
    named: dict[str, Any] = {"by" if role == "segment" else role: "k", "label": "y", "score": "p"}
    tracemalloc.start()
    cl.evaluate(y, p, by=keys, **how).segments if role == "segment" else cl.evaluate(y, p, **{role: keys}, **how)
    for source in (frame, tmp_path / "t.parquet"):
        cl.evaluate(source, **named, **how)
    if role != "clusters":
        cl.evaluate(tmp_path / "t.parquet", **named, **how, stream=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


def test_keys_that_differ_by_zero_bytes_or_line_ends_are_two(tmp_path: Any) -> None:
    keys = ["a", "a\0", "a\r\nb", "a\nb", "a\rb"] * 8
    y, p = [k % 3 == 0 for k in range(40)], list(range(40))
    frame = pandas.DataFrame({"y": np.array(y, int), "p": p, "k": keys})
    assert len(Partition.of(keys, "batch", 40)) == 5
    frame.to_parquet(tmp_path / "t.parquet")
    how: dict[str, Any] = {"label": "y", "score": "p", "quota": 2, "measures": ["hit_rate"], "interval": None}
    for source, stream in ((frame, False), (tmp_path / "t.parquet", False), (tmp_path / "t.parquet", True)):
        assert cl.evaluate(source, **how, batch="k", stream=stream).facts["batches"] == 5, source
        assert len(cl.evaluate(source, **how, by="k", stream=stream).segments) == 5, source


def test_missing_and_short_batch_columns_are_refused() -> None:
    for bad in (
        ["a", None, "b", "b"],
        [1.0, np.nan, 2.0, 2.0],
        np.array(["2024-01-01", "NaT", "2024-01-02"] * 2, "M8[D]")[:4],
    ):
        with pytest.raises(cl.InputError, match="batch: row 1"):
            cl.evaluate([1, 0, 1, 0], [4, 3, 2, 1], batch=bad, quota=1)
    with pytest.raises(cl.InputError, match="batch has 3 rows but y_score has 4"):
        cl.evaluate([1, 0, 1, 0], [4, 3, 2, 1], batch=[1, 2, 3], quota=1)
    with pytest.raises(cl.InputError, match="stratify"):
        cl.evaluate([1, 0, 1, 0], [4, 3, 2, 1], batch=[1, 1, 2, 2], quota=1, stratify=True)


def test_a_row_of_weight_zero_is_not_there() -> None:
    y, s, day, w = lists(weights=True)
    w[day == 3] = 0.0
    there = w > 0
    one = cl.evaluate(y, s, batch=day, quota=5, sample_weight=w, measures=["hit_rate", "roc_auc"])
    two = cl.evaluate(
        y[there], s[there], batch=day[there], quota=5, sample_weight=w[there], measures=["hit_rate", "roc_auc"]
    )
    assert one["hit_rate"] == two["hit_rate"]
    assert one["roc_auc"].interval == pytest.approx(two["roc_auc"].interval, rel=0.1)
    assert len(one.at(quota=5).batches) == 11


def test_clusters_hold_whole_batches_or_lie_within_them() -> None:
    y, s, day, _ = lists()
    how: dict[str, Any] = {"batch": day, "quota": 6, "measures": ["hit_rate"]}
    alone = cl.evaluate(y, s, **how)["hit_rate"]
    within = cl.evaluate(y, s, clusters=day * 100 + np.arange(len(y)) % 5, **how)["hit_rate"]
    assert within == alone
    pairs = cl.evaluate(y, s, clusters=day // 2, **how)["hit_rate"]
    assert pairs.value == alone.value
    assert pairs.interval != alone.interval
    with pytest.raises(cl.InputError, match="neither contain whole batches nor lie within them"):
        cl.evaluate(y, s, clusters=np.arange(len(y)) % 7, **how)


def test_intervals_by_name() -> None:
    y, s, day, _ = lists(30)
    widths = {}
    for interval in ("auto", "bootstrap", "percentile", "bca"):
        e = cl.evaluate(y, s, batch=day, quota=6, measures=["hit_rate"], interval=interval)["hit_rate"]
        widths[interval] = e.high - e.low
    assert all(widths[name] == pytest.approx(widths["auto"], rel=0.25) for name in widths)
    with pytest.raises(cl.InputError, match="no wilson interval"):
        cl.evaluate(y, s, batch=day, quota=6, measures=["hit_rate"], interval="wilson")


def test_a_comparison_counts_in_each_batch_and_flips_batches() -> None:
    y, s, day, _ = lists(20)
    noise = s + np.random.default_rng(5).normal(size=len(s))
    cmp = cl.compare(
        y, {"good": s, "noisy": noise}, batch=day, quota=6, measures=["hit_rate", "quota_pearson", "roc_auc"]
    )
    assert cmp["good"]["hit_rate"].value == cl.evaluate(y, s, batch=day, quota=6, interval=None)["hit_rate"].value
    row = cmp.difference("good", "noisy", "hit_rate")
    assert row.method == "batches, sign flips"
    # the standard error of a mean of batch differences, by hand
    each = [held(y[day == k], s[day == k], None, 6) - held(y[day == k], noise[day == k], None, 6) for k in range(20)]
    assert row.difference == pytest.approx(np.mean(each) / 6)
    wider = serial_inflation(np.array(each))
    assert row.standard_error == pytest.approx(wider * np.std(each, ddof=1) / np.sqrt(20) / 6, rel=0.03)
    assert cmp.verdict("hit_rate").best == "good"
    same = cl.compare(y, {"a": s, "b": 2 * s}, batch=day, quota=6, measures=["hit_rate"])
    assert same.difference("a", "b", "hit_rate").p_value == 1.0
    for refused in (
        lambda: cmp.dominance("quota"),
        lambda: cmp.swaps("good", "noisy"),
    ):
        with pytest.raises(cl.InputError, match="one whole list"):
            refused()
    assert cmp.dominance("fpr")
    two = {"a": y, "b": y}, {"a": s, "b": noise}
    apart = cl.compare(*two, batch={"a": day, "b": day}, quota=6, paired=False, measures=["hit_rate"])
    alone = [[held(y[day == k], one[day == k], None, 6) / 6 for k in range(20)] for one in (s, noise)]
    errors = [serial_inflation(np.array(one)) * np.std(one, ddof=1) / np.sqrt(20) for one in alone]
    assert apart.difference("a", "b", "hit_rate").standard_error == pytest.approx(np.hypot(*errors), rel=0.03)
    with pytest.raises(cl.InputError, match="batch"):
        cl.compare(*two, batch=day, quota=6, paired=False)


def test_what_reads_one_whole_list_is_refused() -> None:
    y, s, day, _ = lists()
    ev = cl.evaluate(y, s, batch=day, quota=6, measures=["hit_rate"])
    for curve in ("gain", "lift", "hit_rate", "qrecall"):
        with pytest.raises(cl.InputError, match="one whole list"):
            ev.curve(curve)
    assert ev.curve("roc").band().low.shape
    with pytest.raises(cl.InputError, match="batch is missing"):
        cl.evaluate(y, s, quota=6, measures=["hit_rate"]).batches.rules()


def test_at_a_threshold_all_batches_share_it() -> None:
    y, s, day, _ = lists()
    ev = cl.evaluate(y, s, batch=day, measures=["roc_auc"])
    point = ev.at(threshold=0.5)
    assert point.tp == np.count_nonzero(y & (s > 0.5))
    assert point.batches[2]["places"] == np.count_nonzero((s > 0.5) & (day == 2))
    low, high = point.next_hits
    assert low <= point.expected_hits.value <= high
    assert ev.at(recall=0.8).recall >= 0.8
    with pytest.raises(cl.InputError, match="exactly one of"):
        ev.at(quota=3, threshold=0.5)
    with pytest.raises(cl.InputError, match="exactly one of"):
        ev.at(recall=0.8, precision=0.5)


def simulated_coverage(days: int, spread: float, repetitions: int, seed: int = 0) -> float:
    """How often the next day's hits lie in next_hits, where rates vary from day to day."""
    rng = np.random.default_rng(seed)
    covered, n, k, new = 0.0, 200, 20, 20
    for _ in range(repetitions):
        rate = np.minimum(0.08 * np.exp(spread * rng.normal(size=days + new) - spread**2 / 2), 0.9)
        y = rng.random((days + new, n)) < rate[:, None]
        s = rng.normal(size=y.shape) + 1.5 * y
        top = np.take_along_axis(y, np.argpartition(-s, k, axis=1)[:, :k], 1).sum(axis=1)
        day = np.repeat(np.arange(days), n)
        ev = cl.evaluate(y[:days].ravel(), s[:days].ravel(), batch=day, measures=["hit_rate@20"], interval=None)
        low, high = ev.at(quota=k).next_hits
        covered += float(np.mean((top[days:] >= low) & (top[days:] <= high)))
    return covered / repetitions


@pytest.mark.parametrize(("days", "spread"), [(12, 0.0), (12, 0.6), (60, 0.6)])
def test_the_next_batch_is_held_where_batches_vary(days: int, spread: float) -> None:
    assert simulated_coverage(days, spread, 80) > 0.92  # benchmarks/batches.py counts more


def test_one_threshold_against_the_best_of_each_batch() -> None:
    y, s, day, _ = lists(30, ties=True)
    ev = cl.evaluate(y, s, batch=day, quota=6, measures=["hit_rate"])
    rules = ev.batches.rules(threshold=1.0)
    (top, capped), free = rules.values(), rules.uncapped
    assert top.hits.sum() == pytest.approx(sum(held(y[day == k], s[day == k], None, 6) for k in range(30)))
    above = s > 1.0
    taken = np.bincount(day[above], minlength=30)
    np.testing.assert_allclose(free.places, taken)
    np.testing.assert_allclose(free.hits, np.bincount(day[above & y], minlength=30))
    np.testing.assert_allclose(capped.places, np.minimum(taken, 6))
    assert free.overflow == capped.overflow == np.count_nonzero(taken > 6)
    assert free.unfilled == np.count_nonzero(taken < 6)
    gap = rules.difference(top.name, capped.name, "hits")
    each = top.hits - capped.hits
    assert gap.difference == pytest.approx(each.mean())
    wider = serial_inflation(each)
    assert gap.standard_error == pytest.approx(wider * each.std(ddof=1) / np.sqrt(30), rel=1e-6)
    assert gap.comparisons == 1
    verdict = rules.verdict("hits")
    assert verdict.best == max(rules.values(), key=lambda rule: rule.hits.sum()).name
    assert {v["measure"] for v in rules.to_dict()["verdicts"]} == {"hits", "hit_rate"}
    assert rules["best 6 of each batch"]["hit_rate"].value == pytest.approx(top.hits.sum() / 180)


def test_rules_that_take_other_cases_are_not_surely_alike_because_they_found_as_many() -> None:
    day = np.repeat(np.arange(12), 20)
    s = np.tile(np.arange(20.0), 12) + (day % 2)  # every other day leaves a place empty
    y = s > 17.5  # no hits where the rules differ
    gap = (
        rules := cl.evaluate(y, s, batch=day, quota=4, measures=["hit_rate"]).batches.rules(threshold=16.5)
    ).difference(*list(rules)[:2], "hits")
    assert (gap.difference, gap.p_value) == (0.0, 1.0)
    assert -0.5 < gap.low < 0.0 < gap.high < 0.5


def test_differences_that_few_batches_carry_hold_their_interval() -> None:
    # a threshold loses a little on most days and gains much on a few
    rng = np.random.default_rng(2)
    days = np.exp(1.1 * rng.normal(size=(400, 30))) - 1.0
    mean = np.exp(1.1**2 / 2) - 1.0
    held = [low <= mean <= high for low, high in (skewed_mean_limits(each, 0.95, 1.0) for each in days)]
    t = np.abs(days.mean(axis=1) - mean) <= 2.045 * days.std(axis=1, ddof=1) / np.sqrt(30)
    assert t.mean() < 0.89
    assert np.mean(held) >= 0.92
    even = rng.normal(size=60)
    low, high = skewed_mean_limits(even, 0.95, 1.0)
    assert high - low < 1.25 * 2.0 * 2.0 * even.std() / np.sqrt(60)  # not much wider where nothing is skewed
    for shift in (0.0, 0.2, 0.4, 0.8):
        test = skewed_mean_test(even + shift, 0.95, 1.0, "")
        assert (test.p_value <= 0.05) == (test.low > 0.0 or test.high < 0.0)


def test_a_threshold_that_overflows_does_not_win_by_places_that_are_not_there() -> None:
    """One busy day has all the positives: a threshold would take them all, but there are six places."""
    day = np.repeat(np.arange(20), 40)
    s = np.tile(np.arange(40.0), 20) + 100.0 * (day == 3)
    y = (day == 3) | (s == 34.0)
    rules = cl.evaluate(y, s, batch=day, quota=6, measures=["hit_rate"]).batches.rules()
    top, within = rules.values()
    assert rules.uncapped.hits.sum() > top.hits.sum() > within.hits.sum()
    assert rules.uncapped.overflow == 1
    assert all(rule.places.max() <= 6 for rule in rules.values())
    assert rules.verdict("hits").best == top.name
    told = rules.sentences()
    assert "threshold finds more" not in " ".join(told)
    assert told[-1] == "Without the limit the threshold would take 116 cases, up to 40 in one batch, and find 40."


def test_without_a_threshold_the_one_that_uses_as_many_places() -> None:
    y, s, day, _ = lists(30)
    rules = cl.evaluate(y, s, batch=day, quota=6, measures=["hit_rate"]).batches.rules()
    (top, capped), free = rules.values(), rules.uncapped
    assert rules.matched
    assert free.places.sum() == top.places.sum() == 180
    assert capped.places.sum() < 180
    assert capped.hits.sum() <= top.hits.sum()
    assert "30 batches" in repr(rules)
    assert "overflow" in rules.sentences()[1]


@pytest.mark.parametrize("ties", ["random", "expand", "shrink"])
def test_select_within_batches_as_if_each_were_a_list(ties: Any) -> None:
    _, s, day, _ = lists(ties=True)
    chosen = cl.select(s, 9, batch=day, ties=ties)
    for k in range(12):
        here = np.flatnonzero(day == k)
        own = here[cl.select(s[here], 9, ties=ties).indices]
        got = [i for i in chosen.indices if day[i] == k]
        assert len(got) == len(own)
        assert sorted(s[got]) == sorted(s[own])
    assert (np.diff(day[chosen.indices]) >= 0).all()
    assert cl.select(s, 9, batch=day, ties=ties, seed=0).indices.tolist() == chosen.indices.tolist()
    assert "of each of 12 batches" in chosen.note
    few = cl.select(s, 50, batch=day)
    assert len(few) == np.minimum(np.bincount(day), 50).sum()
    assert "all taken" in few.note
    assert few.batches[0]["chosen"] == min(50, np.count_nonzero(day == 0))


def test_tables_name_the_batch_column(tmp_path: Any) -> None:
    pd = pytest.importorskip("pandas")
    y, s, day, _ = lists(14)
    names = np.array([f"2024-05-{k + 1:02d}" for k in range(14)])[day]
    frame = pd.DataFrame({"y": y.astype(int), "p": s, "day": names, "date": pd.to_datetime(names), "n": day})
    direct = cl.evaluate(y, s, batch=day, quota=6, measures=["hit_rate"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    for source, column in itertools.product((frame, tmp_path / "a.csv", tmp_path / "a.parquet"), ("day", "date", "n")):
        ev = cl.evaluate(source, label="y", score="p", batch=column, quota=6, measures=["hit_rate"])
        assert ev["hit_rate"] == direct["hit_rate"]
        assert ev.at(quota=6).batches.column("hits") == direct.at(quota=6).batches.column("hits")
        assert ev.facts["batch_order"] == ("number" if column == "n" else "time")
    cmp = cl.compare(frame, label="y", score={"a": "p", "b": "n"}, batch="day", quota=6, measures=["hit_rate"])
    assert cmp["a"]["hit_rate"].value == direct["hit_rate"].value
    frame.loc[3, "day"] = None
    with pytest.raises(cl.InputError, match="'day': row 3"):
        cl.evaluate(frame, label="y", score="p", batch="day", quota=6)
    assert cl.evaluate(frame, label="y", score="p", batch="day", quota=6, missing="drop").facts["dropped"] == 1


def test_results_pickle_copy_print_and_convert() -> None:
    y, s, day, _ = lists()
    ev = cl.evaluate(y, s, batch=day, quota=6, measures=["hit_rate", "roc_auc"])
    point, rules = ev.at(quota=6), ev.batches.rules()
    for result in (ev, point, rules, cl.select(s, 3, batch=day)):
        for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
            assert repr(again) == repr(result)
    again = pickle.loads(pickle.dumps(ev))
    assert again.at(quota=6).to_dict() == point.to_dict()
    json.loads(rules.to_json())
    json.loads(ev.to_json())
    assert len(rules.to_pandas()) == 3
    assert "<table" in rules._repr_html_()
    assert ev._repr_html_()
    assert point._repr_html_()
    assert len(point.batches) == 12
    assert json.loads(json.dumps(point.to_dict()["batches"]))


@pytest.fixture
def claims(tmp_path: Any) -> Any:
    """A file with days, two models, and branches that hold whole days."""
    y, s, day, _ = lists(14, ties=True)
    other = np.round(s + np.random.default_rng(1).normal(size=len(s)), 1)
    rows = [
        f"2024-05-{k + 1:02d},{int(a)},{b},{c},north{k // 4}"
        for k, a, b, c in zip(day.tolist(), y.tolist(), s.tolist(), other.tolist(), strict=True)
    ]
    path = tmp_path / "claims.csv"
    path.write_text("\n".join(["day,fraud,p,q,branch", *rows]), encoding="utf-8")
    return path, y, s, day


def run(*arguments: Any) -> Any:
    from click.testing import CliRunner

    from cutline.commands.group import cli

    return CliRunner().invoke(cli, [str(one) for one in arguments])


def test_rules_are_told_alike_in_text_page_and_json(claims: Any, tmp_path: Any) -> None:
    path, y, s, day = claims
    page = tmp_path / "page.html"
    how = ("--label", "fraud", "--score", "p", "--batch", "day", "--quota", 5, "--measure", "hit_rate")
    rules = cl.evaluate(y, s, batch=day, quota=5, measures=["hit_rate"]).batches.rules()
    found = json.loads(run("evaluate", path, *how, "--format", "json").stdout)["batch_rules"]["rules"]
    assert [row["rule"] for row in found] == [*rules, rules.uncapped.name]
    text = " ".join(run("evaluate", path, *how, "--html", page).stdout.split())
    for medium in (text, page.read_text(encoding="utf-8").replace("&gt;", ">")):
        for sentence in rules.sentences():
            assert sentence in medium


def test_the_command_line_counts_in_each_batch(claims: Any) -> None:
    path, y, s, day = claims
    direct = cl.evaluate(y, s, batch=day, quota=5, measures=["hit_rate"])
    how = ("--label", "fraud", "--score", "p", "--batch", "day")
    found = json.loads(run("evaluate", path, *how, "--quota", 5, "--measure", "hit_rate", "--format", "json").stdout)
    assert found["measures"][0]["value"] == pytest.approx(direct["hit_rate"].value)
    assert found["batch"] == "day"
    point = found["operating_point"]
    assert point["next_hits_high"] == direct.at(quota=5).next_hits.high
    assert [row["batch"] for row in point["batches"]] == [f"2024-05-{k + 1:02d}" for k in range(14)]
    assert len(found["batch_rules"]["rules"]) == 3
    said = run("evaluate", path, *how, "--quota", "10%").stdout
    assert said.startswith("With 10% of each batch, p finds ")
    assert "overflow" in said
    assert "2024-05-14" in run("evaluate", path, *how, "--quota", "10%", "--all").stdout
    both = run("compare", path, "--label", "fraud", "--score", "p", "--score", "q", "--batch", "day", "--quota", 5)
    assert "With 5 places in each batch" in both.stdout
    chosen = run("select", path, "--score", "p", "--quota", 3, "--batch", "day").stdout.splitlines()
    assert len(chosen) == 1 + 3 * 14
    assert [line.split(",")[0] for line in chosen[1:7]] == ["1", "2", "3"] * 2
    by_branch = run(
        "evaluate", path, *how[:4], "--quota", 5, "--cluster", "branch", "--measure", "roc_auc", "--format", "json"
    )
    clustered = cl.evaluate(path, label="fraud", score="p", clusters="branch", measures=["roc_auc"])["roc_auc"]
    assert json.loads(by_branch.stdout)["measures"][0]["low"] == pytest.approx(clustered.low)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--batch", "dya"), "dya"),
        (("--batch", "day", "--quota", "5", "--recall", "0.8"), "--recall"),
        (("--batch", "day", "--prevalence", "0.1"), "--batch"),
    ],
)
def test_the_command_line_refuses_what_batches_cannot_do(claims: Any, options: Any, words: str) -> None:
    done = run("evaluate", claims[0], "--label", "fraud", "--score", "p", *options)
    assert done.exit_code != 0
    assert words in str(done.exception) + done.output


def test_the_page_shows_the_batches_side_by_side(claims: Any, tmp_path: Any) -> None:
    path, *_ = claims
    ev = cl.evaluate(path, label="fraud", score="p", batch="day", quota=5, measures=["hit_rate", "roc_auc"])
    page = ev.to_html(tmp_path / "one.html").read_text(encoding="utf-8")
    for text in ("Batch by batch", "2024-05-14", "one threshold for all", "what to expect in the next batch"):
        assert text in page
    both = cl.compare(path, label="fraud", score=["p", "q"], batch="day", quota=0.1, measures=["hit_rate", "roc_auc"])
    page = both.to_html(tmp_path / "two.html").read_text(encoding="utf-8")
    assert "p: hits" in page
    assert "q: hits" in page
    single = cl.evaluate([1, 0, 1, 0], [4, 3, 2, 1], batch=["<b>"] * 4, quota=1, measures=["hit_rate", "roc_auc"])
    assert "&lt;b&gt;" in single.to_html(tmp_path / "three.html").read_text(encoding="utf-8")


def test_the_plot_of_batches(claims: Any) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    _, y, s, day = claims
    ev = cl.evaluate(y, s, batch=day, quota=5, measures=["hit_rate"])
    axes = ev.plot("batches")
    assert [bar.get_height() for bar in axes.patches] == ev.at(quota=5).batches.column("hits")
    both = cl.compare(y, {"a": s, "b": -s}, batch=day, quota=5, measures=["hit_rate"])
    axes = both.plot("batches")
    assert (len(axes.patches), len(axes.lines)) == (2 * 14, 2)
    with pytest.raises(cl.InputError, match="batch is missing"):
        cl.evaluate(y, s, quota=5, measures=["hit_rate"]).plot("batches")


def test_many_small_batches_are_dealt_into_groups() -> None:
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(1500), 4)
    y = rng.random(6000) < 0.3
    s, t = rng.normal(size=6000) + y, rng.normal(size=6000)
    cmp = cl.compare(y, {"a": s, "b": t}, batch=query, quota=1, measures=["hit_rate"])
    row = cmp.difference("a", "b", "hit_rate")
    top = [np.maximum.reduceat(x, np.arange(0, 6000, 4)) for x in (s, t)]
    each = [y[np.isin(x, best)].astype(float) for x, best in zip((s, t), top, strict=True)]
    assert row.standard_error == pytest.approx((each[0] - each[1]).std(ddof=1) / np.sqrt(1500), rel=0.1)
    assert cmp["a"].batches.rules(quota=1).verdict("hits").best


@pytest.mark.parametrize("weights", [False, True])
def test_infinite_scores_of_a_batch_are_tied(weights: bool, tmp_path: Any) -> None:
    y, _, day, weight = lists(6, 3, weights=weights)
    score = np.random.default_rng(4).choice([np.inf, -np.inf, 0.5, 1.5], len(y))
    ev = cl.evaluate(y, score, batch=day, quota=9, sample_weight=weight, measures=["hit_rate", "qrecall"])
    each = [held(y[day == d], score[day == d], None if weight is None else weight[day == d], 9) for d in range(6)]
    assert ev.at(quota=9).tp == pytest.approx(sum(each))
    assert ev["hit_rate"].value == pytest.approx(sum(each) / 54)
    columns = {"y": y.astype(int), "p": score, "day": day, **({} if weight is None else {"w": weight})}
    pandas.DataFrame(columns).to_parquet(tmp_path / "t.parquet")
    how: dict[str, Any] = {"label": "y", "score": "p", "batch": "day", "quota": 9, "measures": ["hit_rate"]}
    how["weight"] = None if weight is None else "w"
    one, two = (cl.evaluate(tmp_path / "t.parquet", **how, stream=stream) for stream in (False, True))
    assert one["hit_rate"].value == pytest.approx(ev["hit_rate"].value)
    assert two["hit_rate"].value == pytest.approx(ev["hit_rate"].value)
    rules = [found.batches.rules(quota=9, threshold=0.5).to_dicts()[1] for found in (ev, one, two)]
    assert rules[0] == pytest.approx(rules[1], nan_ok=True)
    assert rules[0] == pytest.approx(rules[2], nan_ok=True)


def in_a_row(rng: np.random.Generator, count: int, memory: float) -> np.ndarray:
    drawn = rng.normal(size=count)
    for k in range(1, count):
        drawn[k] = memory * drawn[k - 1] + np.sqrt(1.0 - memory**2) * drawn[k]
    return drawn


@pytest.mark.parametrize(("memory", "share"), [(0.0, 0.6), (0.4, 0.6), (0.8, 0.6), (0.8, 1.0)])
def test_days_that_resemble_the_day_before_lengthen_intervals(memory: float, share: float) -> None:
    # taken as independent, the intervals of these cells hold in 95, 86, 60 and 47% of the samples
    rng, held, widths = np.random.default_rng(5), 0, []
    for _ in range(300):
        each = np.sqrt(share) * in_a_row(rng, 60, memory) + np.sqrt(1.0 - share) * rng.normal(size=60)
        widths.append(serial_inflation(each - each.mean()))
        held += abs(each.mean()) <= widths[-1] * stats.t.ppf(0.975, 59) * each.std(ddof=1) / np.sqrt(60)
    assert held / 300 >= 0.9
    if memory == 0.0:
        assert np.mean(widths) < 1.06


def test_dependence_is_allowed_for_in_every_interval_of_batches_in_an_order() -> None:
    rng = np.random.default_rng(2)
    day = np.repeat(np.arange(60), 100)
    rate = 0.2 * np.exp(0.9 * np.sort(in_a_row(rng, 60, 0.0)))  # rates that rise from day to day
    y = rng.random(6000) < np.minimum(rate, 0.9)[day]
    p, q = (rng.normal(size=6000) + gap[day] * y for gap in (np.linspace(0, 2, 60), np.linspace(2, 0, 60)))
    shuffled = np.array([f"store {chr(97 + k // 26)}{chr(97 + k % 26)}" for k in range(60)])[
        day
    ]  # no order of their own
    ways = {}
    for name, batch in (("order", day), ("none", shuffled)):
        ev = cl.evaluate(y, p, batch=batch, quota=10, measures=["hit_rate", "qrecall", "quota_lift"])
        pair = cl.compare(y, {"p": p, "q": q}, batch=batch, quota=10, measures=["hit_rate"])
        rules = ev.batches.rules()
        top, within = rules
        ways[name] = [*ev.estimates.values(), ev.at(quota=10).expected_hits, rules[top]["hits"]]
        ways[name] += [pair.difference("p", "q", "hit_rate"), rules.difference(top, within, "hits")]
        point, notes = ev.at(quota=10), " ".join(ev.notices)
        assert ("resemble the one before" in notes) == (name == "order")
        assert (point.widening > 1.5, point.lag_correlation > 0.4) == (
            (True, True) if name == "order" else (False, False)
        )
        hits = point.cells[:, 0] - point.cells[:, 0].mean()
        if name == "order":
            assert point.lag_correlation == pytest.approx((hits[1:] * hits[:-1]).sum() / (hits**2).sum())
            assert point.to_dict()["widening"] == point.widening
    for wide, narrow in zip(ways["order"], ways["none"], strict=True):
        assert wide.high - wide.low > 1.2 * (narrow.high - narrow.low), wide


def test_batches_too_small_for_a_place_are_no_trials() -> None:
    # six batches of 20 cases with one place each, all hits; six of 4 cases, for which 5% are no place
    day = np.concatenate([np.repeat(np.arange(6), 20), np.repeat(np.arange(6, 12), 4)])
    score = np.tile(np.arange(20.0), 6).tolist() + [0.0] * 24
    y = [value == 19.0 or k % 7 == 0 for k, value in enumerate(score)]
    rate = cl.evaluate(y, score, batch=day, quota=0.05, measures=["hit_rate"])["hit_rate"]
    z = 1.959964
    assert (rate.value, rate.low) == pytest.approx((1.0, 6 / (6 + z * z)))


def test_a_matched_threshold_moves_with_the_cases() -> None:
    # one score decides: every batch has the same scores, so that each case more above the cut is a hit more or none
    day, s = np.repeat(np.arange(12), 10), np.tile(np.arange(10.0), 12)
    rng = np.random.default_rng(8)
    s = s + rng.normal(size=120) * 0.01
    rules = cl.evaluate(s > 3.5, s, batch=day, quota=3, measures=["hit_rate"]).batches.rules()
    assert rules.drift[rules.uncapped.name] == pytest.approx((1.0, 1.0), abs=0.01)  # all near the cut are hits
    rules = cl.evaluate(s > 8.5, s, batch=day, quota=5, measures=["hit_rate"]).batches.rules()
    assert rules.drift[rules.uncapped.name] == pytest.approx((0.0, 1.0), abs=0.01)


def test_ties_are_shared_in_each_batch() -> None:
    y, s, day, _ = lists(ties=True)
    with pytest.raises(cl.InputError, match="ties are shared in each batch"):
        cl.evaluate(y, s, batch=day, quota=6, measures=["hit_rate(ties='worst')"])

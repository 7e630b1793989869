"""Segments: each as if it were alone, against the rest, on one list, and in their order."""

from __future__ import annotations

import copy
import itertools
import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import cutline as cl
from cutline import segments
from cutline.inference import segment_tests
from cutline.inference.limits import mover_limits
from cutline.inference.paired import holm
from cutline.inference.segment_tests import first_change, fit_slope
from cutline.partition import Partition
from cutline.table import Table

RNG = np.random.default_rng(3)
N = 600
Y = RNG.random(N) < 0.3
P = np.round(1.0 / (1.0 + np.exp(-(RNG.normal(size=N) + 1.3 * Y - 1.0))), 2)  # with ties
G = RNG.choice(["north", "south", "east"], N, p=[0.6, 0.3, 0.1])
MEASURES = ["roc_auc", "recall", "hit_rate@10%", "brier_score", "average_precision"]
FEW: dict[str, Any] = {"measures": MEASURES, "n_resamples": 100}


@pytest.fixture(scope="module")
def seg() -> cl.results.Segments:
    return cl.evaluate(Y, P, by=G, **FEW).segments


def same(one: cl.results.Evaluation, two: cl.results.Evaluation) -> None:
    assert list(one.estimates) == list(two.estimates)
    for key, e in one.estimates.items():
        f = two.estimates[key]
        assert np.array_equal([e.value, e.low, e.high], [f.value, f.low, f.high], equal_nan=True), key


def test_a_segment_has_the_evaluation_of_its_rows_alone(seg: cl.results.Segments) -> None:
    assert list(seg) == ["east", "north", "south"]
    for key, ev in seg.items():
        same(ev, cl.evaluate(Y[key == G], P[key == G], **FEW))
    same(seg.overall, cl.evaluate(Y, P, **FEW))


@pytest.mark.parametrize("weights", [False, True])
def test_the_whole_catalogue_by_segment(weights: bool) -> None:
    w = RNG.integers(0, 4, N).astype(float) if weights else None
    seg = cl.evaluate(Y, P, by=G, quota=0.1, interval=None, sample_weight=w).segments
    for key, ev in seg.items():
        own = None if w is None else w[key == G]
        same(ev, cl.evaluate(Y[key == G], P[key == G], quota=0.1, interval=None, sample_weight=own))


@pytest.mark.parametrize("make", [list, pd.Series, lambda v: pl.Series(v.tolist()), lambda v: pd.Categorical(v)])
def test_any_column_makes_the_same_segments(make: Any, seg: cl.results.Segments) -> None:
    again = cl.evaluate(list(Y), pd.Series(P), by=make(G), measures=["roc_auc"], interval=None).segments
    assert {k: ev["roc_auc"].value for k, ev in again.items()} == {k: ev["roc_auc"].value for k, ev in seg.items()}


def test_text_labels_and_missing_segments() -> None:
    label = np.where(Y, "bad", "good")
    seg = cl.evaluate(label, P, by=G, pos_label="bad", measures=["recall"], interval=None).segments
    assert seg["north"].facts["positives"] == int(Y[G == "north"].sum())
    with pytest.raises(cl.InputError, match=r"by: row 1 has a missing value"):
        cl.evaluate([1, 0, 1], [0.1, 0.2, 0.3], by=["a", None, "b"])
    with pytest.raises(cl.InputError, match=r"by: row 2 is NaN"):
        cl.evaluate([1, 0, 1], [0.1, 0.2, 0.3], by=[1.0, 2.0, math.nan])
    with pytest.raises(cl.InputError, match="by has 2 rows but y_score has 3"):
        cl.evaluate([1, 0, 1], [0.1, 0.2, 0.3], by=["a", "b"])


def test_the_order_of_segments() -> None:
    def keys(values: Any) -> list[Any]:
        return list(Partition.of(values).keys)

    assert keys(["month 10", "month 2", "month 1"]) == ["month 1", "month 2", "month 10"]
    assert keys(["10", "9", "-1"]) == ["-1", "9", "10"]
    assert keys(np.array([10, 9, -1])) == [-1, 9, 10]
    assert keys([3.5, 10**12, -1]) == [-1, 3.5, 10**12]
    assert keys(pd.Series(["lo", "hi", "mid"]).astype(pd.CategoricalDtype(["lo", "mid", "hi"], ordered=True))) == [
        *("lo", "mid", "hi")
    ]
    assert keys(pl.Series(["lo", "hi", "lo"], dtype=pl.Enum(["lo", "mid", "hi"]))) == ["lo", "hi"]
    assert keys(pl.Series(["b", "a", "b"], dtype=pl.Categorical)) == ["a", "b"]
    assert [str(d) for d in keys(pd.to_datetime(pd.Series(["2024-02-01", "2024-01-01"])))] == [
        *("2024-01-01", "2024-02-01")
    ]
    assert keys([True, False, True]) == [False, True]


def test_several_columns_are_crossed() -> None:
    kind = np.where(np.arange(N) % 3 == 0, "new", "old")
    for both in (pd.DataFrame({"region": G, "kind": kind}), {"region": G, "kind": kind}):
        seg = cl.evaluate(Y, P, by=both, measures=["roc_auc"], interval=None).segments
        assert seg.by == ("region", "kind")
        assert list(seg)[:2] == [("east", "new"), ("east", "old")]
        here = (G == "east") & (kind == "old")
        assert seg["east", "old"].facts["rows"] == int(here.sum())
        assert seg["east", "old"].name == "east × old"
        assert seg.to_dicts()[0]["by kind"] == "new"


def test_small_segments_are_noted_and_never_dropped() -> None:
    g = G.copy()
    g[:2], g[2] = "tiny", "alone"
    y = Y.copy()
    y[:2] = True
    seg = cl.evaluate(y, P, by=g, quota=5, n_resamples=50).segments
    assert set(seg.small) >= {"tiny", "alone"}
    assert "alone" in seg.names
    assert seg["tiny"]["roc_auc"].value != seg["tiny"]["roc_auc"].value
    assert seg["tiny"]["roc_auc"].reason
    assert seg["tiny"]["hit_rate@5"].reason == "the quota is larger than the segment, which has 2 cases"
    rows = seg.differences(measures=["roc_auc"]).to_dicts()
    (tiny,) = [row for row in rows if row["segment"] == "tiny"]
    assert (tiny["verdict"], rows[-1]["verdict"]) == ("not tested", "not tested")
    assert "no negatives" in tiny["note"]
    seg.at().to_dicts()


def test_scores_that_are_no_probabilities_are_so_in_every_segment() -> None:
    seg = cl.evaluate([1, 0, 1, 0], [0.2, 0.1, 3.0, 0.4], by=["a", "a", "b", "b"], interval=None).segments
    assert seg["a"]["brier_score"].reason == seg["b"]["brier_score"].reason != ""
    with pytest.raises(cl.InputError, match="no cut is known"):
        seg.at()


def test_differences_are_those_of_the_segment_and_the_rest(seg: cl.results.Segments) -> None:
    found = seg.differences()
    rows = found.to_dicts()
    assert [d["p_adjusted"] for d in found] == sorted(d["p_adjusted"] for d in found)
    for row in rows:
        here = row["segment"] == G
        one, two = (cl.evaluate(Y[side], P[side], **FEW)[row["measure"]] for side in (here, ~here))
        assert (row["value"], row["other"]) == (one.value, pytest.approx(two.value, abs=1e-12))
        gap = one.value - two.value
        assert row["low"] == pytest.approx(gap - math.hypot(one.value - one.low, two.high - two.value))
        assert row["high"] == pytest.approx(gap + math.hypot(one.high - one.value, two.value - two.low))
        assert (row["p_value"] < 0.05) == (row["low"] > 0 or row["high"] < 0)
        assert row["ratio_low"] <= row["ratio"] <= row["ratio_high"]
    for measure in seg.specs:
        mine = [row for row in rows if row["measure"] == measure]
        assert [row["p_adjusted"] for row in mine] == pytest.approx(holm([row["p_value"] for row in mine]))


def test_a_reference_segment(seg: cl.results.Segments) -> None:
    rows = seg.differences("north", measures=["roc_auc"]).to_dicts()
    assert {row["segment"] for row in rows} == {"east", "south"}
    assert {row["other"] for row in rows} == {seg["north"]["roc_auc"].value}
    with pytest.raises(cl.InputError, match="no segment 'west'"):
        seg.differences("west")
    sums = cl.evaluate(Y, P, by=G, measures=["linear_ranking"]).segments
    assert sums.differences().left_out == {"linear_ranking": "is a sum that grows with the number of cases"}
    with pytest.raises(cl.InputError, match="grows with the number of cases"):
        sums.differences(measures=["linear_ranking"])
    with pytest.raises(cl.InputError, match="a single segment"):
        cl.evaluate(Y, P, by=["a"] * N, measures=["roc_auc"]).segments.differences()
    with pytest.raises(cl.InputError, match="there is no difference of "):
        sums.differences()[()]
    with pytest.raises(cl.InputError, match="measures is empty, and models are compared in each segment"):
        cl.compare(Y, {"a": P, "b": P}, by=G, measures=[])


def test_a_clear_difference_is_called_and_nobody_is_called_better_or_worse() -> None:
    rng = np.random.default_rng(0)
    g = rng.integers(0, 3, 3000)
    y = rng.random(3000) < 0.3
    p = rng.normal(size=3000) + np.array([0.2, 1.5, 1.5])[g] * y
    seg = cl.evaluate(y, p, by=g, quota=0.1, measures=["roc_auc", "hit_rate"]).segments
    found = seg.differences()
    assert found[0, "roc_auc"]["verdict"] == "lower"
    words = " ".join(map(str, (seg, found, found.sentence, seg.at(), seg.at().sentence))).lower()
    for word in ("better", "worse", "best", "worst", "leader"):
        assert word not in words


def test_segments_that_share_clusters_are_compared_by_leaving_clusters_out_of_both() -> None:
    rng = np.random.default_rng(1)
    cluster = rng.integers(0, 40, N)
    seg = cl.evaluate(Y, P, by=G, clusters=cluster, measures=["roc_auc", "recall"], n_resamples=60).segments
    assert {d["method"] for d in seg.differences()} == {"MOVER, clusters of both"}
    assert seg.trend("roc_auc", order=list(seg)).verdict == "cannot tell"
    within = {key: k for k, key in enumerate(sorted(set(zip(G.tolist(), cluster.tolist(), strict=True))))}
    apart = [within[pair] for pair in zip(G.tolist(), cluster.tolist(), strict=True)]
    seg = cl.evaluate(Y, P, by=G, clusters=apart, measures=["roc_auc"], n_resamples=60).segments
    assert {d["method"] for d in seg.differences()} == {"MOVER"}
    pickle.loads(pickle.dumps(seg)).differences()


def test_clusters_that_move_both_segments_alike_cancel_in_the_difference() -> None:
    """Each cluster has a row in both segments with the same outcome, so that the difference has nearly no spread."""
    rng = np.random.default_rng(5)
    y, p = np.tile(rng.random(200) < 0.4, 2), np.tile(rng.random(200), 2)
    p[200:] = np.clip(p[200:] + rng.normal(0, 0.01, 200), 0, 1)
    segment, cluster = np.repeat(["a", "b"], 200), np.tile(np.arange(200), 2)
    joint = cl.evaluate(y, p, by=segment, clusters=cluster, measures=["roc_auc"], n_resamples=60).segments
    plain = cl.evaluate(y, p, by=segment, measures=["roc_auc"]).segments
    one, two = (s.differences("b")[0] for s in (joint, plain))
    assert one["high"] - one["low"] < 0.2 * (two["high"] - two["low"])


def test_no_p_value_of_segments_that_share_many_clusters_depends_on_the_seed() -> None:
    """300 clusters, which are more than are left out in turn."""
    rng = np.random.default_rng(8)
    y, cluster = rng.random(1200) < 0.4, np.arange(1200) % 300
    how = {"by": rng.choice(["a", "b"], 1200), "clusters": cluster, "measures": ["roc_auc", "recall"]}
    p = rng.random(1200) + 0.3 * y
    found = [cl.evaluate(y, p, **how, threshold=0.5, seed=seed).segments.differences("b") for seed in (0, 1)]
    one, two = ([(d["method"], d["p_value"]) for d in rows] for rows in found)
    assert {method for method, _ in one} == {"MOVER, clusters of both"}
    assert [p for _, p in one] == pytest.approx([p for _, p in two], abs=0.02)
    assert 0.001 < one[0][1] < 0.999


def test_a_segment_that_has_no_value_without_one_cluster_is_not_tested_and_says_why() -> None:
    y = np.array([1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 0])
    p = np.linspace(0.1, 0.9, 12)
    segment = np.array(["a"] * 8 + ["b"] * 4)
    cluster = np.array([0, 0, 1, 1, 2, 2, 0, 1, 0, 0, 1, 2])  # both positives of b are in one cluster
    found = cl.evaluate(y, p, by=segment, clusters=cluster, measures=["roc_auc"], n_resamples=60).segments.differences()
    assert (found[0]["verdict"], found[0]["p_value"] == found[0]["p_value"]) == ("not tested", False)
    assert found[0]["method"] == "a segment has no value without one of its clusters or batches"


def test_one_list_counts_by_segment_and_shares_ties(seg: cl.results.Segments) -> None:
    shared = seg.at(quota=100)
    edge = np.sort(P)[-100]
    inside = (100 - (edge < P).sum()) / (edge == P).sum()
    taken = np.where(edge < P, 1.0, np.where(edge == P, inside, 0.0))
    for row in shared:
        here = row["segment"] == G
        places, hits = taken[here].sum(), (taken * Y)[here].sum()
        assert (row["cases"], row["places"]) == (here.sum(), pytest.approx(places))
        assert row["selection_rate"] == pytest.approx(places / here.sum())
        assert row["hit_rate"] == pytest.approx(hits / places)
        assert row["recall"] == pytest.approx(hits / (Y & here).sum())
        assert row["fpr"] == pytest.approx((places - hits) / (~Y & here).sum())
        assert row["low"] <= row["selection_ratio"] <= row["high"] <= 1.0
    assert sum(row["places"] for row in shared) == pytest.approx(100)
    named = seg.at(threshold=0.5, reference="south")
    rates = {row["segment"]: row["selection_rate"] for row in named}
    assert named["north"]["selection_ratio"] == pytest.approx(rates["north"] / rates["south"])
    assert named["north"]["places"] == int((P[G == "north"] > 0.5).sum())
    with pytest.raises(cl.InputError, match="each set the cut"):
        seg.at(quota=5, threshold=0.5)


def test_weights_count_cases_on_the_list() -> None:
    w = RNG.integers(1, 4, N)
    often = np.repeat(np.arange(N), w)
    options: dict[str, Any] = {"measures": ["roc_auc"], "interval": None}
    one = cl.evaluate(Y, P, by=G, sample_weight=w, **options).segments.at(quota=200)
    two = cl.evaluate(Y[often], P[often], by=G[often], **options).segments.at(quota=200)
    for a, b in zip(one, two, strict=True):
        for key in ("cases", "places", "hits", "selection_rate", "selection_ratio", "recall", "fpr"):
            assert a[key] == pytest.approx(b[key]), key
        assert a["low"] < b["low"]  # fewer rows than cases: less is known


def test_the_four_fifths_rule() -> None:
    rng = np.random.default_rng(2)
    g = np.repeat(["a", "b", "c"], [4000, 4000, 60])
    p = rng.normal(size=len(g)) + np.where(g == "b", -0.8, 0.0)
    shared = cl.evaluate(rng.random(len(g)) < 0.2, p, by=g, interval=None, measures=["roc_auc"]).segments.at(quota=800)
    assert [row["four_fifths"] for row in shared] == ["kept", "below", "cannot tell"]
    assert shared.four_fifths == "below"
    assert "below 0.8 of the highest among segments with at least 2% of the cases for b" in shared.sentence


def test_a_number_of_places_is_not_compared_between_segments_of_different_sizes() -> None:
    """100 places are half of a small segment and a tenth of a large one: recall there says nothing of the scores."""
    rng = np.random.default_rng(1)
    g = np.repeat(["small", "large"], [200, 1000])
    p = rng.random(1200)
    seg = cl.evaluate(
        rng.random(1200) < p, p, by=g, quota=100, measures=["qrecall", "roc_auc"], n_resamples=50
    ).segments
    found = seg.differences()
    assert {d["measure"] for d in found} == {"roc_auc"}
    assert list(found.left_out) == ["qrecall@100"]
    with pytest.raises(cl.InputError, match="names qrecall@100, which depends on the size"):
        seg.differences(measures=["qrecall@100"])
    share = cl.evaluate(rng.random(1200) < p, p, by=g, quota=0.1, measures=["qrecall"], n_resamples=50).segments
    assert {d["measure"] for d in share.differences()} == {"qrecall@10%"}
    alone = cl.evaluate(rng.random(1200) < p, p, by=g, measures=["qrecall@100"], n_resamples=50).segments
    assert len(alone.differences()) == 0
    why = "depends on the size of the segment: a fixed number of places is a larger share of a small one"
    assert alone.differences().sentence == f"Nothing could be compared: qrecall@100 ({why})."
    plain = cl.evaluate(rng.random(1200) < p, p, by=g, measures=["roc_auc"], interval=None).segments
    assert plain.differences().sentence == "Nothing could be compared: there are no intervals."
    assert "between segments: there are no intervals." in str(plain)
    models = cl.compare(rng.random(1200) < p, {"a": p, "b": p**2}, by=g, measures=["brier_score"], interval=None)
    assert "Differences in Brier score could not be tested: there are no intervals." in str(models.segments)
    assert json.loads(alone.to_json())["differences"] == []


def test_a_tiny_segment_without_a_place_decides_nothing() -> None:
    """None of 12 cases taken is what chance gives with a tenth of the places; its ratio may be anything up to 1."""
    rng = np.random.default_rng(0)
    g = np.repeat(["a", "b", "tiny"], [500, 500, 12])
    p = np.where(g == "tiny", -1.0, rng.random(len(g)))
    shared = cl.evaluate(rng.random(len(g)) < 0.2, p, by=g, interval=None, measures=["roc_auc"]).segments.at(quota=100)
    row = shared["tiny"]
    assert (row["places"], row["selection_ratio"], row["low"]) == (0.0, 0.0, 0.0)
    assert row["high"] > 0.8
    assert row["four_fifths"] == "cannot tell"


def test_a_trend_and_the_first_change() -> None:
    rng = np.random.default_rng(8)
    month = np.repeat([f"2024-{m}" for m in range(1, 13)], 400)
    late = np.repeat(np.arange(12), 400) >= 7
    y = rng.random(len(month)) < 0.3
    p = rng.normal(size=len(month)) + np.where(late, 0.4, 1.6) * y
    seg = cl.evaluate(y, p, by=month, measures=["roc_auc"]).segments
    found = seg.trend("roc_auc")
    assert (found.segments[0], found.segments[-1]) == ("2024-1", "2024-12")
    assert found.change == "2024-8"
    assert found.low < found.slope < 0
    assert found.change_p < 0.05
    back = seg.trend("roc_auc", order=list(seg)[::-1])
    assert back.slope == pytest.approx(-found.slope)
    assert back.change == "2024-7"
    flat = cl.evaluate(y, rng.random(len(y)), by=month, measures=["roc_auc"]).segments.trend("roc_auc")
    assert (flat.verdict, flat.change) == ("cannot tell", None)
    assert json.loads(found.to_json())["change"] == "2024-8"
    steady = rng.normal(size=len(month)) + np.linspace(1.6, 0.4, len(month)) * y
    line = cl.evaluate(y, steady, by=month, measures=["roc_auc"]).segments.trend("roc_auc")
    assert line.verdict == "falling"
    assert line.low < line.slope < line.high < 0
    assert "falls by" in line.sentence
    with pytest.raises(cl.InputError, match="leaves out"):
        seg.trend("roc_auc", order=["2024-1", "2024-2"])
    with pytest.raises(cl.InputError, match="three or more"):
        cl.evaluate(Y, P, by=Y, measures=["recall"]).segments.trend("recall")


def test_names_follow_the_calendar_or_need_an_order() -> None:
    names = np.array(["apr", "aug", "dec", "feb"])[np.arange(N) % 4]
    seg = cl.evaluate(Y, P, by=names, measures=["roc_auc"]).segments
    assert seg.names == ["feb", "apr", "aug", "dec"]
    assert seg.trend("roc_auc").segments == ("feb", "apr", "aug", "dec")
    assert [trend.measure for trend in seg.trends] == ["roc_auc"]
    assert cl.evaluate(Y, P, by=pd.Series(names, dtype="category"), interval=None).segments.names == seg.names
    days = np.array(["Wed", "Mon", "Sun"])[np.arange(N) % 3]
    assert cl.evaluate(Y, P, by=days, interval=None).segments.names == ["Mon", "Wed", "Sun"]
    for unordered in (["north", "east", "south"], ["1/2023", "2/2023", "1/2024"], ["May 2008", "Jun 2008", "Jan 2009"]):
        seg = cl.evaluate(Y, P, by=np.array(unordered)[np.arange(N) % 3], measures=["roc_auc"]).segments
        assert seg.trends == []
        with pytest.raises(cl.InputError, match="has no order of its own"):
            seg.trend("roc_auc")
        assert seg.trend("roc_auc", order=unordered).segments == tuple(unordered)
        shown = seg.shown_with(order=unordered)
        assert shown.trends[0].segments == tuple(unordered)
        assert json.loads(shown.to_json())["trends"][0]["segments"] == unordered
    with pytest.raises(cl.InputError, match="leaves out"):
        seg.shown_with(order=unordered[:2])
    sizes = pd.Categorical(np.array(["s", "m", "l"])[np.arange(N) % 3], ["s", "m", "l"], ordered=True)
    assert cl.evaluate(Y, P, by=sizes, measures=["roc_auc"]).segments.trends[0].segments == ("s", "m", "l")
    numbers = cl.evaluate(Y, P, by=np.arange(N) % 3, measures=["roc_auc"]).segments
    assert numbers.trends == []  # codes of branches are numbers, too
    assert numbers.trend("roc_auc").segments == ("0", "1", "2")


def test_results_pickle_copy_and_convert(seg: cl.results.Segments) -> None:
    compared = cl.compare(Y, {"a": P, "b": 1 - P}, by=G, measures=["roc_auc"], n_resamples=50).segments
    for result in (seg, seg.differences(), seg.at(quota=50), seg.trend("recall", order=list(seg)), compared):
        assert repr(pickle.loads(pickle.dumps(result))) == repr(result)
        assert repr(copy.deepcopy(result)) == repr(result)
        assert len(result.to_pandas()) == len(result.to_dicts()) == len(result.to_polars())
        json.loads(result.to_json())
        assert "<table" in result._repr_html_()


def test_models_are_compared_in_each_segment() -> None:
    scores = {"a": P, "b": np.round(P + RNG.normal(0, 0.3, N), 2)}
    found = cl.compare(Y, scores, by=G, measures=["roc_auc", "hit_rate@10%"], n_resamples=100).segments
    for key, one in found.items():
        alone = cl.compare(
            Y[key == G], {m: s[key == G] for m, s in scores.items()}, measures=["roc_auc", "hit_rate@10%"]
        )
        for row, other in zip(one.differences, alone.differences, strict=True):
            assert (row["difference"], row["p_value"]) == (other["difference"], other["p_value"])
    rows = found.differences().to_dicts()
    for measure in ("roc_auc", "hit_rate@10%"):
        mine = [row for row in rows if row["measure"] == measure]
        assert len(mine) == 3
        assert [row["p_adjusted"] for row in mine] == pytest.approx(holm([row["p_value"] for row in mine]))
    assert found.models["a"]["north"]["roc_auc"].value == found["north"]["a"]["roc_auc"].value
    same(found.overall["a"], cl.compare(Y, scores, measures=["roc_auc", "hit_rate@10%"], n_resamples=100)["a"])


def test_plots_and_the_page_show_every_segment_with_its_interval(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    from cutline.present.figures import segments_frame

    g = np.where(np.arange(N) == 0, "<b>alone</b>", G)
    seg = cl.evaluate(Y, P, by=g, quota=50, measures=["roc_auc", "hit_rate"]).segments
    data = segments_frame(seg, measure="roc_auc")
    assert sorted(data.column("segment")[:-1]) == sorted(seg.names)
    assert data[-1]["segment"] is None
    assert {row["segment"]: row["low"] for row in data}["east"] == seg["east"]["roc_auc"].low
    seg.plot(ax=Figure().add_subplot())
    trend = cl.evaluate(Y, P, by=np.arange(N) % 4, measures=["roc_auc"]).segments.trend("roc_auc")
    assert np.polyfit(np.arange(len(trend.fitted)), trend.fitted, 1)[0] == pytest.approx(trend.slope)
    trend.plot(ax=Figure().add_subplot())
    both = cl.compare(Y, {"a": P, "b": 1 - P}, by=g, quota=50, measures=["roc_auc"], n_resamples=50).segments
    both.plot(ax=Figure().add_subplot())
    for result in (seg, both):
        text = Path(result.to_html(tmp_path / "page.html")).read_text(encoding="utf-8")
        assert "segments-title" in text
        assert "<b>alone</b>" not in text
        assert "&lt;b&gt;alone&lt;/b&gt;" in text


def months(rng: np.random.Generator, memory: float, count: int = 24) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of months in a row, without a trend, the covariance of their errors, and their sizes."""
    strays = rng.normal(size=count)
    for k in range(1, count):
        strays[k] = memory * strays[k - 1] + math.sqrt(1.0 - memory**2) * strays[k]
    sizes = rng.uniform(100, 500, count)
    errors = np.sqrt(300 / sizes)
    return 2.0 * strays + errors * rng.normal(size=count), np.diag(errors**2), sizes


@pytest.mark.parametrize("memory", [0.0, 0.4, 0.7])
def test_months_that_resemble_each_other_are_no_trend(memory: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # as independent months, a memory of .7 shows a slope in 25% and a change in 40% of such series
    monkeypatch.setattr(segment_tests, "_SIMULATED", 199)
    rng, places = np.random.default_rng(7), np.arange(24.0)
    rows = [months(rng, memory) for _ in range(150)]
    slopes = [fit_slope(*row, places, 0.95).p_value < 0.05 for row in rows]
    changes = [first_change(*row, places, 0.95, 0) is not None for row in rows]
    assert np.mean(slopes) <= 0.1
    assert np.mean(changes) <= 0.1


def test_a_slope_without_excess_is_weighted_least_squares() -> None:
    rng = np.random.default_rng(1)
    _, covariance, sizes = months(rng, 0.0, 8)
    places = np.arange(8.0)
    design = np.stack([np.ones(8), places], axis=1)
    values = 0.5 * places + 0.1 * rng.normal(size=8)  # closer to the line than their errors
    found = fit_slope(values, covariance, sizes, places, 0.95)
    weighted = np.linalg.solve(design.T @ (sizes[:, None] * design), design.T * sizes)
    error = math.sqrt((weighted @ covariance @ weighted.T)[1, 1])
    assert found.slope == pytest.approx((weighted @ values)[1])
    assert (found.excess, found.freedom) == (1.0, math.inf)
    assert found.high - found.slope == pytest.approx(1.959964 * error)
    # with errors a hundredth as large the spread about the line takes their place, with k − 2 degrees of freedom
    small = fit_slope(values, covariance / 1e4, sizes, places, 0.95)
    rest = values - design @ (weighted @ values)
    assert small.excess == pytest.approx(1e4 * (rest**2 / np.diag(covariance)).sum() / 6)
    assert small.freedom == 6
    known = math.sqrt(small.excess / 1e4) * error * stats.t.ppf(0.975, 6)
    assert known * (1 - 1e-9) <= small.high - small.slope < 2 * known
    assert small.p_value >= 2 * stats.t.sf(abs(small.slope) / (known / stats.t.ppf(0.975, 6)), 6)


@pytest.mark.parametrize("quota", [0.05, 20])
def test_a_quota_that_all_rows_lack_is_refused_in_memory_and_streams(quota: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame({"y": [0, 1] * 5 + [1], "p": range(11), "g": list("aabbabababa"), "w": 1.0})
    frame.to_parquet(tmp_path / "t.parquet")
    said = set()
    for source, stream in ((frame, False), (tmp_path / "t.parquet", False), (tmp_path / "t.parquet", True)):
        how: dict[str, Any] = {"label": "y", "score": "p", "weight": "w", "by": "g", "interval": None, "stream": stream}
        with pytest.raises(cl.InputError) as caught:
            cl.evaluate(source, **how, quota=quota, measures=["roc_auc"])
        said.add(f"{caught.value.problem}; {caught.value.remedy}")
    assert len(said) == 1


def test_a_segment_without_a_cut_at_the_quota_says_why(tmp_path: Path) -> None:
    y, p = [k % 3 == 0 for k in range(300)], [(37 * k) % 100 for k in range(300)]
    frame = pd.DataFrame({"y": np.array(y, int), "p": p, "g": ["tiny" if k < 30 else "big" for k in range(300)]})
    frame.to_parquet(tmp_path / "t.parquet")
    wanted = {50: "the quota is larger than the segment, which has 30 cases"}
    wanted[0.02] = "the quota is 2% of 30 cases, which is less than one case"
    for (quota, why), stream in itertools.product(wanted.items(), (False, True)):
        how: dict[str, Any] = {
            "label": "y",
            "score": "p",
            "by": "g",
            "quota": quota,
            "interval": None,
            "stream": stream,
        }
        seg = cl.evaluate(tmp_path / "t.parquet", **how, measures=["hit_rate", "roc_auc"]).segments
        notes = {row["segment"]: row["note"] for row in seg.to_dicts()}
        assert (notes["tiny"], notes["big"]) == (why, "")
        assert seg.small == []
        shown = (part for section in seg.sections(all_measures=True) for part in section.shown)
        table = next(part for part in shown if isinstance(part, Table) and part.title == "Segments")
        rows = {row["segment"]: row["note"] for row in table}
        assert (rows["tiny"], rows["big"], rows["all"]) == (why, "", "")
        assert why in json.dumps(seg.to_dicts())
        assert why in json.dumps(json.loads(seg.to_json()), ensure_ascii=False)
        seg.to_html(tmp_path / "page.html")
        assert why in (tmp_path / "page.html").read_text()


def test_small_segments_have_few_degrees_of_freedom_and_little_weight() -> None:
    y = np.array([True] * 4 + [False] * 40 + [True] * 60 + [False] * 60)
    p = np.random.default_rng(1).normal(size=len(y)) + y
    seg = cl.evaluate(y, p, by=["s"] * 44 + ["l"] * 120, measures=["roc_auc", "accuracy"]).segments
    small, large = seg["s"], seg["l"]
    assert segments._freedom(small, seg.specs["roc_auc"]) == 3.0
    assert segments._freedom(large, seg.specs["roc_auc"]) == 59.0
    # both classes where their share does not matter, all cases where it does
    part = [0] * 44 + [1] * 60 + [2] * 60

    def sizes(measure: str) -> float:
        trend = cl.evaluate(y, p, by=part, measures=[measure], threshold=0.5, n_resamples=50).segments.trend(measure)
        return trend.sizes[0]

    y[104:] = np.arange(60) % 2 == 0
    y[44:104] = np.arange(60) % 3 == 0
    assert sizes("roc_auc") == pytest.approx(4 * 40 / 44)
    assert sizes("accuracy") == 44.0
    assert segments.few_cases(small) == "few cases: 4 positives"
    gap = seg.differences(measures=["roc_auc"])[0]
    assert gap["p_value"] > 2 * stats.norm.sf(abs(gap["difference"]) / gap["standard_error"])


# --- segments that come in batches ---

DAY = RNG.integers(0, 9, N)


@pytest.mark.parametrize("quota", [4, 0.2])
def test_a_segment_in_batches_is_cut_batch_by_batch_in_its_own_lists(quota: float) -> None:
    seg = cl.evaluate(Y, P, by=G, batch=DAY, quota=quota, n_resamples=100).segments
    for key, ev in seg.items():
        own = key == G
        same(ev, cl.evaluate(Y[own], P[own], batch=DAY[own], quota=quota, n_resamples=100))
    same(seg.overall, cl.evaluate(Y, P, batch=DAY, quota=quota, n_resamples=100))


@pytest.mark.parametrize("quota", [4, 0.2])
def test_one_list_in_each_batch_by_brute_force(quota: float) -> None:
    shared = cl.evaluate(Y, P, by=G, batch=DAY, measures=["roc_auc"], n_resamples=100).segments.at(quota=quota)
    places, hits = dict.fromkeys(np.unique(G), 0.0), dict.fromkeys(np.unique(G), 0.0)
    for day in np.unique(DAY):
        here = np.flatnonzero(DAY == day)
        left = min(quota, len(here)) if isinstance(quota, int) else math.floor(quota * len(here))
        for score in np.unique(P[here])[::-1]:
            tie = here[P[here] == score]
            share = min(1.0, left / len(tie))
            for row in tie:
                places[G[row]] += share
                hits[G[row]] += share * Y[row]
            left -= share * len(tie)
    for row in shared:
        assert row["places"] == pytest.approx(places[row["segment"]])
        assert row["hits"] == pytest.approx(hits[row["segment"]])
    assert "in each of 9 batches" in shared.where


def test_segments_that_share_batches_are_compared_by_leaving_batches_out() -> None:
    seg = cl.evaluate(Y, P, by=G, batch=DAY, measures=["hit_rate@20%", "roc_auc"], n_resamples=100).segments
    found = seg.differences("south", measures=["hit_rate@20%"])["north", "hit_rate@20%"]

    def rate(rows: Any) -> float:
        how: dict[str, Any] = {"measures": ["hit_rate@20%"], "interval": None}
        return float(cl.evaluate(Y[rows], P[rows], batch=DAY[rows], **how)["hit_rate@20%"].value)

    left = np.array([[rate((G == name) & (DAY != d)) for name in ("north", "south")] for d in range(9)])
    one, two = (left - left.mean(axis=0)).T
    one_e, two_e = (seg[name]["hit_rate@20%"] for name in ("north", "south"))
    sizes = [np.bincount(DAY[G == name]) / (G == name).sum() for name in ("north", "south")]
    spread = np.array([one @ one, two @ two])
    freedom = spread.sum() ** 2 / (spread**2 / [1 / (size @ size) - 1 for size in sizes]).sum()
    least = stats.t.ppf(0.975, freedom) * math.sqrt(8 / 9 * float(((one - two) ** 2).sum()))
    alike = one @ two / math.sqrt(spread.prod())
    alone = (one_e.value, one_e.interval), (two_e.value, two_e.interval)
    own = found["difference"] - mover_limits(*alone, alike=alike).low
    assert found["difference"] - found["low"] == pytest.approx(max(least, own))
    assert found["method"] == "MOVER, clusters of both"


def test_tables_and_comparisons_take_segments_in_batches(tmp_path: Path) -> None:
    frame = pd.DataFrame({"y": Y.astype(int), "p": P, "q": 1.0 - P, "g": G, "day": DAY})
    frame.to_csv(tmp_path / "scores.csv", index=False)
    how: dict[str, Any] = {"label": "y", "by": "g", "batch": "day", "quota": 3, "n_resamples": 100}
    arrays = cl.evaluate(Y, P, by=G, batch=DAY, quota=3, n_resamples=100).segments
    for source in (frame, str(tmp_path / "scores.csv")):
        for key, ev in cl.evaluate(source, score="p", **how).segments.items():
            same(ev, arrays[key])
    with pytest.raises(cl.InputError, match="these are streamed"):
        cl.evaluate(str(tmp_path / "scores.csv"), score="p", stream=True, **how)
    few = cl.compare(frame, score=["p", "q"], measures=["hit_rate@3"], **how).segments["east"]
    own = G == "east"
    alone = cl.compare(
        Y[own], {"p": P[own], "q": 1.0 - P[own]}, batch=DAY[own], measures=["hit_rate@3"], n_resamples=100
    )
    assert dict(few.difference("p", "q", "hit_rate@3")) == dict(alone.difference("p", "q", "hit_rate@3"))


def test_a_segment_is_not_both_judged_and_too_small_to_judge() -> None:
    rng = np.random.default_rng(4)
    y = np.r_[np.tile([1, 0], 30), rng.random(60) < 0.05]
    p = np.where(np.arange(120) < 60, 0.1 + 0.8 * rng.random(120), 0.4 * rng.random(120))
    by = np.repeat(["even", "rare", "tiny"], [60, 56, 4])
    seg = cl.evaluate(y, p, by=by).segments
    told = str(seg).split("\n")
    assert seg.small == ["rare", "tiny"]
    assert told[1].startswith("Clearly different from the rest: ")
    assert "rare (lower false positive rate)" in told[1]
    assert "Too few cases to judge: tiny." in told
    few = str(cl.evaluate(y[60:], p[60:], by=by[60:]).segments)
    assert "Too few cases" not in few
    assert "Every segment has fewer than 10 cases of a class, so differences may go unnoticed." in few


def test_what_could_not_be_compared_is_told_last_and_shortly() -> None:
    ev = cl.evaluate(Y, P, by=DAY, batch=DAY, quota=5, n_resamples=50)
    sentences = next(iter(ev.segments.sections())).sentences
    assert sentences[0].startswith("One list for each batch (5 places in each of ")
    assert sentences[-1] == "Nothing could be compared between segments: a segment has no interval."


def test_a_segment_with_one_batch_has_values_without_intervals() -> None:
    day = np.where(G == "east", 0, DAY)
    ev = cl.evaluate(Y, P, by=G, batch=day, measures=["roc_auc", "hit_rate@5"], n_resamples=100).segments
    assert math.isnan(ev["east"]["roc_auc"].low)
    assert not math.isnan(ev["north"]["roc_auc"].low)


@pytest.mark.parametrize("batch", [None, "day"])
@pytest.mark.parametrize("buckets", [8, 64])
def test_segments_that_share_the_bucket_of_the_cut_share_its_places(buckets: int, batch: str | None) -> None:
    duckdb = pytest.importorskip("duckdb")
    pd = pytest.importorskip("pandas")
    rng, n = np.random.default_rng(0), 2000
    p = rng.random(n) * 0.2 + 0.4
    rows = pd.DataFrame({"y": (rng.random(n) < p) * 1, "p": p, "g": np.where(np.arange(n) % 2, "b", "a")})
    rows["day"] = np.arange(n) // 500
    con = duckdb.connect()
    con.register("rows", rows)
    quota = 200 if batch is None else 50
    named = {"label": "y", "score": "p", "by": "g", "batch": batch}
    counts = con.sql(cl.sql(table="rows", dialect="duckdb", buckets=buckets, **named)).df()
    ev = cl.evaluate(counts, quota=quota)
    shared = ev.segments.at(quota=quota)
    exact = cl.evaluate(rows, quota=quota, **named).segments.at(quota=quota)
    for row, of_rows in zip(shared, exact, strict=True):
        assert row["places"] == pytest.approx(of_rows["places"], abs=20)
        assert row["places_low"] <= of_rows["places"] <= row["places_high"]
        assert row["low"] <= of_rows["low"]
        assert row["high"] >= of_rows["high"]
        assert row["four_fifths"] == "cannot tell"
    assert sum(row["places"] for row in shared) == pytest.approx(200)
    first = next(iter(ev.segments.sections())).sentences[0]
    assert "a gets about 102 (0 to" in first or "a gets about 103 (0 to" in first
    at = ev.segments.at(threshold=0.52)
    for row, of_rows in zip(at, cl.evaluate(rows, **named).segments.at(threshold=0.52), strict=True):
        assert row["places_low"] <= of_rows["places"] <= row["places_high"]
    assert "places_low" not in exact[0]

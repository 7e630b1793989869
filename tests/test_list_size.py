"""The same places on a list of another size: shorter lists by brute force, longer ones by simulation."""

from __future__ import annotations

import itertools
import json
import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutline as cl
from cutline.decide.list_size import thinned_hits
from cutline.present.figures import list_sizes
from cutline.results import ListSizePoint
from test_cli import refused, run

Y = [1, 0, 1, 1, 0, 0, 1, 0]
S = [8, 7, 7, 6, 5, 5, 5, 1]


def evaluated(y: Any, s: Any, **options: Any) -> cl.results.Evaluation:
    return cl.evaluate(y, s, measures=["roc_auc"], interval=None, **options)


def sample(seed: int, n: int, prevalence: float = 0.2, distance: float = 1.35) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < prevalence
    return y, rng.normal(distance * y)


def by_enumeration(y: list[int], s: list[float], places: int, size: int) -> float:
    """Mean hits over every list of so many of the cases; a tie at the cut gives its places at random."""
    total = 0.0
    for chosen in combinations(range(len(y)), size):
        order = sorted((s[i] for i in chosen), reverse=True)
        edge = order[places - 1]
        above = [y[i] for i in chosen if s[i] > edge]
        tied = [y[i] for i in chosen if s[i] == edge]
        total += sum(above) + (places - len(above)) * sum(tied) / len(tied)
    return total / math.comb(len(y), size)


@pytest.mark.parametrize("size", range(1, 9))
def test_shorter_lists_are_the_mean_over_all_of_them(size: int) -> None:
    for places in range(1, size + 1):
        point = evaluated(Y, S).at(quota=places, list_size=size)
        assert point.tp == pytest.approx(by_enumeration(Y, S, places, size), abs=1e-12)
        assert point.tp + point.fp == pytest.approx(places)
        assert point.tp + point.fp + point.fn + point.tn == pytest.approx(size)


def test_a_row_of_weight_two_counts_as_two_cases() -> None:
    weight = [1, 2, 1, 3, 1, 1, 2, 1]
    repeated = [list(np.repeat(column, weight)) for column in (Y, S)]
    weighted = evaluated(Y, S, sample_weight=weight)
    for size, places in ((3, 1), (5, 2), (9, 4)):
        hits = weighted.at(quota=places, list_size=size).tp
        assert hits == pytest.approx(by_enumeration(*repeated, places, size), abs=1e-12)
    tenths = evaluated(Y, S, sample_weight=np.array(weight) * 1.05)  # 12.6 cases: scaled to 12 of them
    assert tenths.at(quota=2, list_size=5).tp == pytest.approx(weighted.at(quota=2, list_size=5).tp, rel=0.01)


def test_a_very_long_list_is_thinned_by_steps() -> None:
    """Counts may stand for more cases than there are positions to read: the binomial law is the limit."""
    bins = np.linspace(1, 0, 2000)
    pos, cases = np.round(1e6 * bins**4).astype(np.int64), np.full(2000, 10**6)
    ranking = evaluated_counts(bins, pos, cases).ranking
    hits = thinned_hits(ranking, 200_000_000, 1_000_000_000)  # the best fifth
    assert hits / 2e8 == pytest.approx(np.mean(bins[:400] ** 4), rel=1e-4)


def evaluated_counts(score: Any, pos: Any, cases: Any) -> cl.results.Evaluation:
    table = {"p": score, "pos": pos, "n": cases}
    ev: cl.results.Evaluation = cl.evaluate(
        table, score="p", positives="pos", rows="n", interval=None, measures=["roc_auc"]
    )
    return ev


def test_a_list_of_the_same_size_is_the_list_itself() -> None:
    ev = evaluated(*sample(1, 300))
    for quota in (5, 20, 150, 300):
        one, other = ev.at(quota=quota), ev.at(quota=quota, list_size=300)
        assert isinstance(other, ListSizePoint)
        assert other.tp == pytest.approx(one.tp, abs=1e-9)
        assert (other.expected_hits.interval, other.next_hits) == (one.expected_hits.interval, one.next_hits)
        assert other.extrapolated == 0.0
        for size in (299, 301):  # no jump on either side
            if quota <= size:
                near = ev.at(quota=quota, list_size=size)
                assert near.tp == pytest.approx(one.tp, abs=0.6)
                assert abs(near.next_hits.low - one.next_hits.low) <= 2
                assert abs(near.next_hits.high - one.next_hits.high) <= 2


def test_counts_give_what_their_rows_give() -> None:
    score, cases = np.array([0.9, 0.7, 0.4, 0.1]), np.array([30, 50, 200, 400])
    pos = np.array([25, 20, 30, 10])
    counted = evaluated_counts(score, pos, cases)
    y = np.concatenate([np.arange(n) < p for n, p in zip(cases, pos, strict=True)])
    plain = evaluated(y, np.repeat(score, cases))
    for size in (100, 680, 5000):
        mine, rows = (ev.at(quota=20, list_size=size).to_dict() for ev in (counted, plain))
        assert mine == pytest.approx(rows, nan_ok=True)


def test_within_a_tie_at_the_top_nothing_is_extrapolated_beyond_it() -> None:
    """A tree's best leaf: a longer list fills its places from it, so they have its share of positives."""
    y = np.concatenate([np.arange(100) < 60, np.arange(900) < 90])
    s = np.repeat([0.6, 0.1], [100, 900])
    point = evaluated(y, s).at(quota=50, list_size=100_000)
    assert point.hit_rate == pytest.approx(0.6, abs=0.02)
    assert point.threshold == 0.6


def test_a_longer_list_has_more_hits_and_more_doubt() -> None:
    ev = evaluated(*sample(3, 2000))
    points: list[Any] = [ev.at(quota=100, list_size=size) for size in (200, 2000, 6000, 20_000, 200_000, 2_000_000)]
    hits = [p.tp for p in points]
    assert hits == sorted(hits)
    assert [p.guess for p in points] == [False] * 4 + [True] * 2
    assert 0 == points[1].extrapolated < points[2].extrapolated < points[3].extrapolated < 1
    assert points[5].next_hits.width > points[4].next_hits.width > points[3].next_hits.width
    for p in points:
        assert 0 <= p.next_hits.low <= p.expected_hits.low <= p.tp <= p.expected_hits.high <= p.next_hits.high <= 100
    assert math.isnan(ev.at(quota=100, list_size=2_000_000).threshold)  # above the best score


def test_a_reversed_list_is_not_thought_to_rise() -> None:
    """Where the top has fewer positives than the rest, the line is flat, never falling or rising against the data."""
    y, s = sample(4, 1000)
    point = evaluated(y, -s).at(quota=50, list_size=10_000)
    assert point.hit_rate < 0.1


@pytest.mark.parametrize(
    ("n", "quota", "times", "distance"),
    [(300, 30, 0.2, 1.35), (300, 15, 10.0, 1.35), (400, 60, 3.0, 2.9), (60, 6, 10.0, 1.35)],
)
def test_next_hits_hold_the_next_list(n: int, quota: int, times: float, distance: float) -> None:
    runs, held = 200, 0
    for i in range(runs):
        now, (y, s) = sample(2 * i, n, distance=distance), sample(2 * i + 1, round(times * n), distance=distance)
        low, high = evaluated(*now).at(quota=quota, list_size=len(y)).next_hits
        held += low <= y[np.argsort(-s)[:quota]].sum() <= high
    assert held / runs >= 0.92


def test_clusters_widen_the_interval_of_a_shorter_list() -> None:
    """Cases of a cluster come together in the next list too."""
    rng = np.random.default_rng(0)
    code = np.repeat(np.arange(20), 15)
    shared = rng.normal(size=20)[code]
    y = shared + 0.5 * rng.normal(size=300) > 0.8
    s = shared + rng.normal(y)
    plain, clustered = (evaluated(y, s, **how).at(quota=15, list_size=60) for how in ({}, {"clusters": code}))
    assert plain.tp == clustered.tp
    assert clustered.next_hits.width > plain.next_hits.width


def test_another_prevalence() -> None:
    y, s = sample(5, 500)
    usual, exact = (evaluated(y, s, prevalence=share).at(quota=20, list_size=2000) for share in (None, 0.05))
    assert exact.tp < usual.tp
    assert exact.tp + exact.fn == pytest.approx(100)


def test_a_share_is_one_of_that_list() -> None:
    ev = cl.evaluate(*sample(6, 400), quota=0.05, interval=None)
    assert ev.at(quota=0.05, list_size=4000).taken == 200
    assert ev.at(quota=0.05).taken == 20
    (given,) = [mark for mark in list_sizes(ev, list_size=4000).marks if mark.shape == "point"]
    assert (given.x, given.y) == (4000, ev.at(quota=0.05, list_size=4000).tp)
    assert "in 200 places" in next(iter(ev.sections(list_size=4000))).sentences[0]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"quota": 20, "list_size": 10}, "list_size is 10, but there are 20 places; give at least 20"),
        ({"quota": 20, "list_size": 0}, "list_size must be a whole number of at least 1, got 0"),
        ({"quota": 20, "list_size": -5}, "list_size must be a whole number of at least 1, got -5"),
        ({"quota": 20, "list_size": 40.5}, "list_size must be a whole number of at least 1, got 40.5"),
        ({"quota": 0.01, "list_size": 50}, "quota is 1% of 50 cases, which is less than one case"),
        ({"threshold": 0.5, "list_size": 50}, "list_size is for a quota alone"),
        ({"list_size": 50}, "list_size is for a quota alone"),
    ],
)
def test_what_cannot_be_answered_is_an_error(how: dict[str, Any], message: str) -> None:
    with pytest.raises(cl.InputError, match=message):
        evaluated(*sample(7, 100)).at(**how)


def test_batches_and_streams_have_no_list_of_another_size(tmp_path: Path) -> None:
    y, s = sample(8, 200)
    with pytest.raises(cl.InputError, match="list_size needs every place of one list"):
        evaluated(y, s, batch=np.arange(200) % 4).at(quota=5, list_size=500)
    path = tmp_path / "scores.csv"
    path.write_text("y,p\n" + "".join(f"{int(a)},{b:.4f}\n" for a, b in zip(y, s, strict=True)))
    streamed = cl.evaluate(path, label="y", score="p", quota=20, stream=True, interval=None)
    with pytest.raises(cl.InputError, match="list_size needs every place of one list"):
        streamed.at(quota=20, list_size=500)


def test_a_share_as_quota_is_one_of_each_segment() -> None:
    y, s = sample(9, 300)
    part = np.where(np.arange(300) < 200, "a", "b")
    ev = cl.evaluate(y, s, by=part, quota=0.1, interval=None)
    assert [segment.quota for segment in ev.segments.values()] == [20, 10]
    for segment in ev.segments.values():
        assert segment["hit_rate"] == segment["hit_rate@10%"]
        assert segment["hit_rate"].value == segment.at(quota=segment.quota).hit_rate


def test_the_command_answers_first_and_in_every_form(tmp_path: Path) -> None:
    y, s = sample(10, 400)
    path, page, picture = tmp_path / "scores.csv", tmp_path / "page.html", tmp_path / "sizes.png"
    path.write_text("y,p,q\n" + "".join(f"{int(a)},{b:.4f},{-b:.4f}\n" for a, b in zip(y, s, strict=True)))
    asked = ["evaluate", path, "--label", "y", "--score", "p", "--quota", 20]
    more = ["--html", page, "--plot", picture, "--plot-kind", "list_size"]
    out = run(*asked, "--list-size", 4000, *more).stdout
    assert out.startswith("On a list of 4,000 cases, expect ")
    assert "next list" in out
    html = page.read_text()
    assert "On a shorter or longer list" in html
    assert "On a list of 4,000 cases, expect " in html
    assert picture.stat().st_size > 1000
    document = json.loads(run(*asked, "--list-size", 100_000, "--format", "json").stdout)
    assert "take the answer as a guess" in document["answer"][0]
    point = document["list_size_point"]
    assert (point["guess"], point["list_size"]) == (True, 100_000)
    assert point["next_hits_low"] <= point["tp"] <= point["next_hits_high"]
    both = ["compare", path, "--label", "y", "--score", "p", "--score", "q", "--quota", 20, "--list-size", 200]
    points = json.loads(run(*both, "--format", "json").stdout)["list_size_points"]
    assert points["p"]["tp"] > points["q"]["tp"]
    assert "On a list of 200 cases, expect these hits in 20 places: p " in run(*both).stdout


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--list-size", "300"], "--list-size is for a quota alone; give --quota: a number of places, or a share"),
        (["--quota", "5-9", "--list-size", "300"], "--list-size is for a quota alone; give --quota"),
        (["--quota", "9", "--list-size", "300", "--by", "g"], "--by does not go with --list-size"),
        (["--quota", "9", "--list-size", "300", "--batch", "g"], "--batch does not go with --list-size"),
        (["--quota", "9", "--list-size", "8"], "--list-size is 8, but there are 9 places; give at least 9"),
    ],
)
def test_the_command_names_what_is_in_the_way(more: list[str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("y,p,g\n" + "".join(f"{k % 3 == 0:d},{k / 40},{k % 2}\n" for k in range(40)))
    assert message in refused("evaluate", path, "--label", "y", "--score", "p", *more)


def test_a_plot_of_list_sizes_needs_one_quota() -> None:
    ev = cl.evaluate([1, 0, 1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1, 0.7, 0.3], quota=cl.Quotas((1, 2), (0.5, 0.5)))
    with pytest.raises(cl.InputError, match="quota is a range"):
        ev.plot("list_size")


def test_next_hits_at_a_sharp_cut_of_few_cases_do_not_jump() -> None:
    y, s = np.arange(60) < 12, -np.arange(60.0)
    lows = [cl.evaluate(y, s, quota=k, measures=[]).at(quota=k).next_hits.low for k in range(9, 17)]
    assert min(lows) >= 3.0  # a resample of these rows has 6 to 12 positives
    assert max(abs(a - b) for a, b in itertools.pairwise(lows)) <= 1.0


def test_the_mean_is_of_lists_with_as_many_positives_only_where_the_list_is_as_long() -> None:
    y, s = np.arange(200) % 5 == 0, np.random.default_rng(0).random(200)
    ev = cl.evaluate(y, s, interval=None)
    assert " on average over lists with as many positives (" in ev.at(quota=20, list_size=200).sentences[0]
    for size in (150, 400):
        assert " on average over such lists (" in ev.at(quota=20, list_size=size).sentences[0]

"""Choosing rows for a number of places: ties across the cut, fairness of the draw, portions of the list."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import cutline as cl
from samples import ANY, Case, cases
from test_cli import refused, run

SCORES = [0.2, 0.9, 0.5, 0.5, 0.1, 0.5, 0.8]  # by score: rows 1, 6, then 2 = 3 = 5, then 0, 4


def test_best_first_without_a_tie_at_the_cut() -> None:
    chosen = cl.select(SCORES, 5)
    assert chosen.indices.tolist() == [1, 6, 2, 3, 5]
    assert (chosen.tied, chosen.taken_of_tied, chosen.threshold) == (0, 0, 0.5)
    assert chosen.note == "5 chosen; no tie at the cut"


@pytest.mark.parametrize(("ties", "rows", "taken"), [("expand", [1, 6, 2, 3, 5], 3), ("shrink", [1, 6], 0)])
def test_a_tie_taken_whole_or_left(ties: str, rows: list[int], taken: int) -> None:
    chosen = cl.select(SCORES, 3, ties=ties)
    assert chosen.indices.tolist() == rows
    assert (chosen.quota, chosen.tied, chosen.taken_of_tied) == (3, 3, taken)
    assert ("all" if ties == "expand" else "none") in chosen.note
    assert "3 tied at 0.5" in chosen.note


def test_a_tie_drawn_at_random_fills_the_quota() -> None:
    seen = set()
    for seed in range(30):
        chosen = cl.select(SCORES, 3, seed=seed)
        assert chosen.indices[:2].tolist() == [1, 6]
        assert (len(chosen), chosen.tied, chosen.taken_of_tied) == (3, 3, 1)
        assert "1 of them drawn at random" in chosen.note
        seen.add(int(chosen.indices[2]))
    assert seen == {2, 3, 5}
    assert cl.select(SCORES, 3, seed=4).indices.tolist() == cl.select(SCORES, 3, seed=4).indices.tolist()


def test_the_draw_is_fair_to_every_set_of_tied_rows() -> None:
    """Two of five tied rows: all ten pairs equally likely over seeds, whatever stands before or after them."""
    scores = [0.5, 0.1, 0.5, 0.9, 0.5, 0.5, 0.3, 0.5]
    pairs = Counter(tuple(sorted(cl.select(scores, 3, seed=seed).indices[1:].tolist())) for seed in range(4000))
    assert len(pairs) == 10
    assert stats.chisquare(list(pairs.values())).pvalue > 0.001
    assert stats.chisquare([3000, *[1000 / 9] * 9], [400] * 10).pvalue < 1e-6  # the test itself can tell


def test_the_list_by_value_is_that_of_the_plan_and_of_the_evaluation(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    p, v, c = rng.random(60).round(3), rng.integers(1, 90, 60) + 0.5, rng.integers(1, 9, 60)
    y, day = rng.random(60) < p, np.arange(60) % 3
    frame = pandas.DataFrame({"y": y.astype(int), "p": p, "v": v, "c": c, "day": day})
    path = tmp_path / "claims.csv"
    frame.to_csv(path, index=False)
    for by, order in (("value", p * v), ("value_per_cost", p * v / c)):
        amounts = {"worth": v, "cost": c} if by == "value_per_cost" else {"worth": v}
        names = {"worth": "v", "cost": "c"} if by == "value_per_cost" else {"worth": "v"}
        chosen = cl.select(p, 20, cut_by=by, **amounts)
        assert chosen.indices.tolist() == np.argsort(-order, kind="stable")[:20].tolist()
        captured = cl.evaluate(y, p, quota=20, cut_by=by, measures=["value_captured"], interval=None, **amounts)
        assert (v * y)[chosen].sum() == pytest.approx(captured["value_captured@20"].value)
        assert cl.select(frame, 20, score="p", cut_by=by, **names).indices.tolist() == chosen.indices.tolist()
        options = [part for name, column in names.items() for part in (f"--{name}", column)]
        done = run("select", path, "--score", "p", "--quota", 20, "--cut-by", by, *options)
        assert [float(line.split(",")[2]) for line in done.stdout.splitlines()[1:]] == p[chosen].tolist()
        assert f"worth v{' · cost c' * ('cost' in names)} · cut_by {by}" in done.stderr
        plan = run("plan", path, "--label", "y", "--score", "p", "--value", "v", "--cost", "c", "--cut-by", by).stdout
        said = "score × value" + " / cost" * (by == "value_per_cost")
        assert f" by {said}: profit " in plan
        assert f"threshold of {said} " in plan
    each = cl.select(p, 2, cut_by="value", worth=v, batch=day)
    assert [day[k] for k in each] == [0, 0, 1, 1, 2, 2]
    assert "score: column 'p'" in run("select", path, "--quota", 3, "--worth", "v", "--cut-by", "value").stderr
    for words, said in (
        (["--quota", 3, "--worth", "v"], "--worth does not change the list of the score; add --cut-by value"),
        (["--quota", 3, "--cut-by", "value"], "--cut-by goes with the worth of each row; give --worth"),
        (["--cut", path, "--worth", "v"], "--worth goes with a --quota; leave it out"),
        (["--quota", 3, "--worth", "w", "--cut-by", "value"], "has no column 'w' for the worth"),
    ):
        assert said in refused("select", path, "--score", "p", *words)
    with pytest.raises(cl.InputError, match="some scores are negative; pass probabilities"):
        cl.select([0.5, -0.1], 1, worth=[1, 2], cut_by="value")


def test_reads_like_an_index() -> None:
    chosen = cl.select(SCORES, 2)
    names = np.array(list("abcdefg"))
    assert names[chosen].tolist() == ["b", "g"]
    assert list(chosen) == [1, 6]
    assert chosen[0] == 1
    assert 6 in chosen
    assert 2 not in chosen
    assert "2 chosen" in repr(chosen)


@pytest.mark.parametrize(("quota", "rows"), [(1, 1), (7, 7), (0.5, 3), (0.29, 2), (0.999, 6)])
def test_quota_as_rows_or_share(quota: float, rows: int) -> None:
    assert len(cl.select(SCORES, quota)) == rows


@pytest.mark.parametrize("quota", [0, 8, -1, 0.0, 1.0, 1.5, 0.01, True, "3x", None])
def test_refused_quotas(quota: object) -> None:
    with pytest.raises(cl.InputError, match="quota"):
        cl.select(SCORES, quota)  # type: ignore[arg-type]


def test_refused_tie_rule_and_scores() -> None:
    with pytest.raises(cl.InputError, match="random, expand, shrink"):
        cl.select(SCORES, 3, ties="first")  # type: ignore[arg-type]
    with pytest.raises(cl.InputError, match="y_score"):
        cl.select([0.1, float("nan")], 1)
    with pytest.raises(cl.InputError, match="y_score"):
        cl.select([], 1)


@given(cases(ANY), st.data())
def test_nobody_left_out_scores_more(case: Case, data: st.DataObject) -> None:
    n = len(case.s)
    quota = data.draw(st.integers(1, n))
    for ties in ("random", "expand", "shrink"):
        chosen = cl.select(case.s, quota, ties=ties, seed=3)
        rows = chosen.indices
        assert len(set(rows.tolist())) == len(rows)
        assert (case.s[rows][1:] <= case.s[rows][:-1]).all()
        left = np.setdiff1d(np.arange(n), rows)
        if len(rows) and len(left):
            assert case.s[left].max() <= case.s[rows].min()
        if ties == "random":
            assert len(rows) == quota
        elif ties == "expand":
            assert set(rows) == set(np.flatnonzero(case.s >= np.sort(case.s)[::-1][quota - 1]))
        else:
            assert len(rows) <= quota
            assert len(left) == 0 or len(rows) == 0 or case.s[left].max() < case.s[rows].min()


# --- portions of the list ----------------------------------------------------------------------------------------


def expected_outcomes(y: np.ndarray, s: np.ndarray) -> list[Fraction]:
    """The share of positives at every place (Arbel & Rokach Eq. 5), best place first."""
    outcomes: list[Fraction] = []
    for value in sorted(set(s.tolist()), reverse=True):
        here = y[s == value]
        outcomes += [Fraction(int(here.sum()), len(here))] * len(here)
    return outcomes


def test_lift_table_by_hand() -> None:
    """Seven places in three portions (2, 2, 3); the tie of rows 2, 3, 5 (one positive) lies across a boundary."""
    table = cl.lift_table([0, 1, 1, 0, 0, 0, 1], SCORES, portions=3)
    assert table.column("rows") == [2, 2, 3]
    assert [(row["from"], row["to"]) for row in table] == [(1, 2), (3, 4), (5, 7)]
    assert table.column("positives") == pytest.approx([2, 2 / 3, 1 / 3])
    assert table.column("lift") == pytest.approx([1 / (3 / 7), (1 / 3) / (3 / 7), (1 / 9) / (3 / 7)])
    assert table.column("qrecall") == pytest.approx([2 / 3, 8 / 9, 1])
    assert table.column("cumulative_lift") == pytest.approx([7 / 3, (2 / 3) / (3 / 7), 1])
    assert table.column("lowest_score") == [0.8, 0.5, 0.1]


@given(cases(ANY, min_size=2), st.data())
def test_lift_table_is_the_sum_of_expected_outcomes(case: Case, data: st.DataObject) -> None:
    n, n_pos = len(case.y), int(case.y.sum())
    portions = data.draw(st.integers(1, n))
    outcomes = expected_outcomes(case.y, case.s)
    table = cl.lift_table(case.y, case.s, portions=portions)
    assert sum(table.column("rows")) == n
    assert max(table.column("rows")) - min(table.column("rows")) <= 1
    ordered = np.sort(case.s.astype(float))[::-1]
    for k, row in enumerate(table):
        first, last = n * k // portions, n * (k + 1) // portions
        assert (row["from"], row["to"]) == (first + 1, last)
        positives = sum(outcomes[first:last], Fraction(0))
        assert row["positives"] == pytest.approx(float(positives), abs=1e-9)
        assert row["hit_rate"] == pytest.approx(float(positives / (last - first)), abs=1e-9)
        assert row["lowest_score"] == ordered[last - 1]
        if n_pos:
            assert row["lift"] == pytest.approx(float(positives / (last - first) / Fraction(n_pos, n)), abs=1e-9)
            cumulative = sum(outcomes[:last], Fraction(0))
            assert row["cumulative_lift"] == pytest.approx(float(cumulative / last / Fraction(n_pos, n)), abs=1e-9)
        else:
            assert np.isnan(row["lift"])


@pytest.mark.parametrize("portions", [0, 8, 2.5, True, "10"])
def test_refused_portions(portions: object) -> None:
    with pytest.raises(cl.InputError, match="portions"):
        cl.lift_table([0, 1, 1, 0, 0, 0, 1], SCORES, portions=portions)  # type: ignore[arg-type]

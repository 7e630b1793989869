"""Progressive screening: who is left after each stage, what was lost and what it cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import cutline as cl
from samples import ANY, Case, cases

Y = [1, 0, 1, 0, 1, 0, 0, 0]
CHEAP = [8, 7, 6, 5, 2, 4, 3, 1]
DEAR = [3, 1, 8, 7, 9, 2, 6, 5]


def test_two_stages_by_hand() -> None:
    """Keep 6 of 8 on the cheap score (rows 0, 1, 2, 3, 5, 6: one positive lost), then the 2 best on the dear one."""
    s = cl.screen(Y, [(CHEAP, 0.75), (DEAR, 2)], cost=[1, 10])
    assert s.chosen.tolist() == [2, 3]
    first, second = s.stages
    assert (first["enter"], first["keep"], first["positives_enter"], first["positives_keep"]) == (8, 6, 3, 2)
    assert (first["positives_lost"], first["cost"]) == (1, 8)
    assert first["recall_so_far"] == pytest.approx(2 / 3)
    assert (second["enter"], second["keep"], second["positives_lost"], second["cost"]) == (6, 2, 1, 60)
    assert second["hit_rate"] == 0.5
    assert second["recall_so_far"] == pytest.approx(1 / 3)
    assert (s.lost, s.cost) == (2, 68)
    assert "Progressive screening" in repr(s)


def test_screening_saves_the_dear_score() -> None:
    """The dear score on everybody finds more, and costs more."""
    once = cl.screen(Y, [(DEAR, 2)], cost=[10])
    twice = cl.screen(Y, [(CHEAP, 0.75), (DEAR, 2)], cost=[1, 10])
    assert once.chosen.tolist() == [2, 4]
    assert (once.lost, once.cost) == (1, 80)
    assert twice.cost < once.cost
    assert twice.lost > once.lost


def test_one_stage_is_a_selection() -> None:
    for ties in ("expand", "shrink"):
        s = cl.screen(Y, [([1, 1, 2, 2, 2, 0, 0, 0], 2)], ties=ties)
        assert s.chosen.tolist() == sorted(cl.select([1, 1, 2, 2, 2, 0, 0, 0], 2, ties=ties))


def test_shares_are_of_those_who_enter() -> None:
    s = cl.screen(Y, [(CHEAP, 0.5), (DEAR, 0.5)])
    assert s.stages.column("keep") == [4, 2]
    assert s.cost == 0


def test_ties_are_drawn_by_seed() -> None:
    flat = [1.0] * 8
    chosen = {
        tuple(cl.screen(Y, [(flat, 4), (flat, 2)], seed=seed, n_resamples=2).chosen.tolist()) for seed in range(60)
    }
    assert len(chosen) > 15  # of 28 pairs
    assert cl.screen(Y, [(flat, 4)], seed=3).chosen.tolist() == cl.screen(Y, [(flat, 4)], seed=3).chosen.tolist()


def test_stages_of_one_tied_score_are_drawn_anew() -> None:
    """Four of eight, then two of the four: all pairs must come up alike, so the stages may not repeat their draw."""
    flat = [1.0] * 8
    times = np.zeros(8)
    for seed in range(2000):
        times[cl.screen(Y, [(flat, 4), (flat, 2)], seed=seed, n_resamples=2).chosen] += 1
    assert stats.chisquare(times).pvalue > 0.001


@given(cases(ANY, min_size=3), st.data())
def test_stages_are_selections_of_what_is_left(case: Case, data: st.DataObject) -> None:
    n = len(case.y)
    other = np.random.default_rng(n).permutation(n).astype(float)  # no ties
    first, second = sorted(data.draw(st.tuples(st.integers(1, n), st.integers(1, n))), reverse=True)
    s = cl.screen(case.y, [(other, first), (case.s, second)], ties="expand")
    left = np.argsort(-other)[:first]
    edge = np.sort(case.s[left])[::-1][second - 1]
    kept = left[case.s[left] >= edge]
    assert s.chosen.tolist() == sorted(kept.tolist())
    assert s.lost == case.y.sum() - case.y[kept].sum()
    assert [row["positives_enter"] for row in s.stages] == [case.y.sum(), case.y[left].sum()]


@pytest.mark.parametrize(
    ("stages", "options", "said"),
    [
        ([], {}, "at least one"),
        ([(CHEAP, 2)], {"cost": [1, 2]}, "one for each"),
        ([(CHEAP, 2)], {"cost": [-1]}, "cost"),
        ([(CHEAP, 4), (DEAR[:5], 2)], {}, r"stages\[1\] has 5 scores"),
        ([(CHEAP, 4), (DEAR, 5)], {}, "keep is 5; it must be from 1 to the number of cases"),
        ([CHEAP], {}, "pair"),
        ([(CHEAP, 4)], {"ties": "maybe"}, "ties"),
    ],
)
def test_refusals(stages: list[Any], options: dict[str, Any], said: str) -> None:
    with pytest.raises(cl.InputError, match=said):
        cl.screen(Y, stages, **options)


def staged(seed: int, n: int = 600) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.15
    return y, y + 1.2 * rng.normal(size=n), 2 * y + rng.normal(size=n)


def test_intervals_hold_what_is_lost_in_new_samples() -> None:
    """Coverage of the 95 % interval of the final recall, counted against the mean of many samples."""
    truth = np.mean(
        [cl.screen(y, [(a, 0.4), (b, 60)], n_resamples=2).recall.value for y, a, b in map(staged, range(400))]
    )
    inside = 0
    for seed in range(1000, 1040):
        y, a, b = staged(seed)
        r = cl.screen(y, [(a, 0.4), (b, 60)], n_resamples=200).recall
        inside += r.low <= truth <= r.high
    assert inside >= 34

"""One sort, one sweep: pieces merge to the whole, long lists are exact, results do not depend on rows or threads."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutline as cl
import plain_kernels as plain
from cutline.kernels import compiled
from cutline.ranking import Ranking, rank
from cutline.sources.arrays import make_sample
from cutline.sweep import Start, Sums, SumsRequest, merge, scale_of, sweep, sweep_piece
from samples import Case, cases, quietly

# --- the ranking -----------------------------------------------------------------------------------------------


@given(case=cases())
def test_a_ranking_has_one_row_for_each_distinct_score(case: Case) -> None:
    r = rank(make_sample(case.y, case.s))
    distinct = sorted(set(case.s.tolist()), reverse=True)
    assert r.score.tolist() == distinct
    assert r.pos.tolist() == [int(((case.s == v) & (case.y == 1)).sum()) for v in distinct]
    assert r.neg.tolist() == [int(((case.s == v) & (case.y == 0)).sum()) for v in distinct]
    assert r.rows == len(case.y)
    assert r.score.dtype == case.s.dtype


@given(case=cases(weighted=True))
def test_a_weighted_ranking_sums_the_weights(case: Case) -> None:
    r = rank(make_sample(case.y, case.s, sample_weight=case.w))
    distinct = sorted(set(case.s[case.w > 0].tolist()), reverse=True)
    assert r.score.tolist() == distinct
    for column, label in ((r.pos, 1), (r.neg, 0)):
        expected = [math.fsum(case.w[(case.s == v) & (case.y == label)]) for v in distinct]
        assert column.tolist() == pytest.approx(expected, rel=1e-12)


@given(case=cases(), ties=st.sampled_from(["best", "worst"]))
def test_ties_taken_apart(case: Case, ties: Any) -> None:
    r = rank(make_sample(case.y, case.s)).resolved(ties)
    order = np.lexsort((-case.y if ties == "best" else case.y, -case.s.astype(float)))
    expanded = [label for p, n in zip(r.pos, r.neg, strict=True) for label in [1] * int(p) + [0] * int(n)]
    assert expanded == case.y[order].tolist()
    assert all(p == 0 or n == 0 for p, n in zip(r.pos, r.neg, strict=True))


def test_a_ranking_does_not_depend_on_row_order() -> None:
    rng = np.random.default_rng(4)
    y, s = rng.integers(0, 2, 5000), rng.integers(0, 700, 5000) / 7
    order = rng.permutation(5000)
    one, two = rank(make_sample(y, s)), rank(make_sample(y[order], s[order]))
    for column in ("score", "pos", "neg"):
        assert np.array_equal(getattr(one, column), getattr(two, column))


# --- sums merge ------------------------------------------------------------------------------------------------


def in_pieces(r: Ranking, edges: list[int], request: SumsRequest) -> np.ndarray:
    """Sums of consecutive pieces, each from what came before it, merged."""
    totals = r.n_pos, r.n_neg
    start, pieces = Start(0 * r.n_pos, 0 * r.n_neg), []
    for a, b in pairwise(edges):
        part = Ranking(r.score[a:b], r.pos[a:b], r.neg[a:b], r.rows, r.weighted)
        pieces.append(sweep_piece(part, start, totals, request))
        start = start.after(part.pos, part.neg)
    return merge(pieces)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@given(data=st.data())
def test_any_pieces_merge_to_the_whole(weighted: bool, data: Any) -> None:
    case = data.draw(cases(("ties", "unit"), weighted=weighted, max_size=40))
    r = rank(make_sample(case.y, case.s, sample_weight=case.w))
    inner = data.draw(st.lists(st.integers(0, len(r)), max_size=6))
    request = SumsRequest()
    whole = sweep(r, request)
    scale = max(1.0, float(np.nanmax(np.abs(whole))))  # sums over pairs of weights of very different size
    merged = in_pieces(r, sorted([0, *inner, len(r)]), request)
    assert merged == pytest.approx(whole, rel=1e-11, abs=1e-12 * scale, nan_ok=True)


def test_pieces_of_one_row_each() -> None:
    rng = np.random.default_rng(6)
    y, s = rng.integers(0, 2, 400), rng.integers(0, 150, 400) / 150
    r = rank(make_sample(y, s))
    request = SumsRequest()
    assert in_pieces(r, list(range(len(r) + 1)), request) == pytest.approx(sweep(r, request), rel=1e-12, abs=1e-9)


@given(case=cases(("ties", "unit", "finite"), max_size=40), data=st.data())
def test_quotas_are_cut_in_any_pieces(case: Case, data: Any) -> None:
    """What a stream of pieces carries along (positives, rows, moments) gives the cuts of the whole list."""
    weight = data.draw(st.sampled_from([None, np.arange(len(case.y)) % 3 + 1.7]))
    r = rank(make_sample(case.y, case.s, sample_weight=weight))
    quotas = tuple(sorted(data.draw(st.sets(st.integers(1, max(1, int(r.cases))), min_size=1, max_size=5))))
    request = SumsRequest(parts=frozenset(), losses=(), quotas=quotas)
    whole = sweep(r, request)[request.at(quota=quotas[0]) :].reshape(len(quotas), -1)
    inner = data.draw(st.lists(st.integers(0, len(r)), max_size=6))
    totals = (math.nan, math.nan) if r.weighted else (float(r.n_pos), float(r.n_neg))
    for kernels in (compiled, plain):
        cuts, moments, scale = np.full_like(whole, np.nan), np.zeros(5), scale_of(r.score)
        found, missed = 0.0, 0.0
        for a, b in pairwise(sorted([0, *inner, len(r)])):
            part = r.score[a:b], r.pos[a:b], r.neg[a:b]
            before = (found, missed)
            wished = np.array(quotas, dtype=float)
            kernels.cut_at_quotas(*part, before, totals, scale, moments, wished, b == len(r), cuts)
            found += float(r.pos[a:b].sum())
            missed += float(r.neg[a:b].sum())
        assert cuts == pytest.approx(whole, rel=1e-11, abs=1e-12)
    rates = [cl.hit_rate(case.y, case.s, quota=q, sample_weight=weight) * q for q in quotas]
    assert cuts[:, 0] == pytest.approx(rates, rel=1e-12)


# --- long lists: threads, many pieces, large ties --------------------------------------------------------------


def reference(y: np.ndarray, s: np.ndarray) -> dict[str, float]:
    """The main measures of a long list from its expected outcomes t[k], in plain array arithmetic."""
    n, n_pos = len(y), int(y.sum())
    order = np.argsort(-s, kind="stable")
    _, inverse, counts = np.unique(-s[order], return_inverse=True, return_counts=True)
    t = (np.bincount(inverse, y[order]) / counts)[inverse]
    hits = np.cumsum(t)
    places = np.arange(1, n + 1)
    rate = hits / places
    margin = math.fsum(hits / n_pos - places / n)
    return {
        "roc_auc": margin / (n - n_pos) + 0.5,
        "pem": 2 * margin / (n - n_pos),
        "average_lift": math.fsum(rate) / n_pos,
        "average_hit_rate": math.fsum(t * rate) / n_pos,
        "average_qrecall": math.fsum(hits[n_pos - 1 :] / n_pos) / (n - n_pos + 1),
        "quadratic_ranking": math.fsum(t * (n + 1.0 - places) ** 2),
        "misclassification_ranking": float(hits[n_pos - 1]),
    }


@pytest.mark.parametrize("levels", [None, 3, 100, 40_000], ids=["no ties", "3", "100", "40000"])
@pytest.mark.parametrize("n", [2_000, 60_000, 400_000])
def test_long_lists(n: int, levels: int | None) -> None:
    rng = np.random.default_rng(n)
    y = (rng.random(n) < 0.2).astype(int)
    s = 0.3 * y + rng.random(n) if levels is None else np.floor((0.3 * y + rng.random(n)) / 1.3 * levels) / levels
    for name, expected in reference(y, s).items():
        assert getattr(cl, name)(y, s) == pytest.approx(expected, rel=1e-10), name


def test_a_long_list_in_pieces_is_a_long_list() -> None:
    """400,000 distinct scores are swept in threads; the sums are those of one pass, and of every run."""
    rng = np.random.default_rng(12)
    y, s = rng.integers(0, 2, 400_000), rng.random(400_000)
    r = rank(make_sample(y, s))
    request = SumsRequest()
    threaded = sweep(r, request)
    one = merge([sweep_piece(r, Start(0, 0), (r.n_pos, r.n_neg), request)])
    assert threaded == pytest.approx(one, rel=1e-10)
    assert np.array_equal(threaded, sweep(r, request))


@pytest.mark.parametrize("before", [0, 1, 10, 70, 1000, 50_000])
@pytest.mark.parametrize("tied", [2, 63, 64, 65, 66, 1000, 30_000])
def test_harmonic_sums_inside_large_ties(before: int, tied: int) -> None:
    """Hit rates over the places of one large tie, against a plain sum."""
    rng = np.random.default_rng(before + tied)
    y = np.concatenate([rng.integers(0, 2, before), np.repeat([1, 0], [tied - tied // 3 - 1, tied // 3 + 1])])
    s = np.concatenate([np.arange(before, 0, -1) + 1.0, np.zeros(tied)])
    expected = reference(y, s)
    assert cl.average_lift(y, s) == pytest.approx(expected["average_lift"], rel=1e-12)
    assert cl.average_hit_rate(y, s) == pytest.approx(expected["average_hit_rate"], rel=1e-12)


# --- no digits lost --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1_000, 100_000])
def test_a_model_that_knows_next_to_nothing(n: int) -> None:
    """PEM of one pair more won than lost: 1/(n+ n-), to the last digits, not a difference of two large numbers."""
    y = np.tile([1, 0], n // 2)
    s = np.zeros(n)
    s[0] = 1.0  # one positive above the tie: wins half a pair more against each negative
    exact = Fraction(n // 2, 1) / Fraction(n // 2) ** 2
    assert cl.pem(y, s) == pytest.approx(float(exact), rel=1e-13)
    assert cl.gini(y, s) == cl.pem(y, s)


def test_weights_that_nearly_cancel() -> None:
    """Alternating labels with weights of many sizes, against exact fractions."""
    rng = np.random.default_rng(9)
    n = 300
    y = np.tile([1, 0], n // 2)
    s = np.repeat(np.arange(n // 2), 2).astype(float)
    w = 10.0 ** rng.integers(-6, 7, n)
    pos = [(v, Fraction(x)) for v, x, label in zip(s, w, y, strict=True) if label]
    neg = [(v, Fraction(x)) for v, x, label in zip(s, w, y, strict=True) if not label]
    won = sum(a * b * (2 if u > v else 1 if u == v else 0) for u, a in pos for v, b in neg)
    exact = won / (2 * sum(a for _, a in pos) * sum(b for _, b in neg))
    assert cl.roc_auc(y, s, sample_weight=w) == pytest.approx(float(exact), rel=1e-12)


def test_counts_of_a_billion_stay_whole() -> None:
    """A ranking of three groups that stand for 10^9 rows: pairs are counted in whole numbers."""
    pos = np.array([100_000_000, 300_000_000, 99_999_999])
    neg = np.array([200_000_000, 1, 300_000_000])
    r = Ranking(np.array([3.0, 2.0, 1.0]), pos, neg, int(pos.sum() + neg.sum()))
    names = ("roc_auc", "gini", "auch", "ks_statistic")
    vector = sweep(r, SumsRequest(parts=frozenset(cl.measure(name).part for name in names), losses=()))
    values = {name: float(cl.measure(name).compute(Sums(vector))) for name in names}
    a, b = [int(v) for v in pos], [int(v) for v in neg]
    n_pos, n_neg = sum(a), sum(b)
    won = sum(2 * a[i] * b[j] * (i < j) + a[i] * b[i] * (i == j) for i in range(3) for j in range(3))
    assert values["roc_auc"] == pytest.approx(float(Fraction(won, 2 * n_pos * n_neg)), rel=1e-15)
    assert values["gini"] == pytest.approx(float(Fraction(won, n_pos * n_neg) - 1), rel=1e-14)
    points = [(Fraction(sum(b[:k]), n_neg), Fraction(sum(a[:k]), n_pos)) for k in range(4)]
    assert values["ks_statistic"] == pytest.approx(float(max(abs(y - x) for x, y in points)), rel=1e-14)


@given(case=cases())
def test_rounding_never_leaves_the_range_nor_a_minus_zero(case: Case) -> None:
    for name in ("roc_auc", "auch", "ks_statistic", "average_precision", "average_hit_rate", "average_qrecall"):
        value = quietly(getattr(cl, name), case.y, case.s)
        assert math.isnan(value) or 0.0 <= value <= 1.0
        assert math.isnan(value) or math.copysign(1.0, value) == 1.0, f"{name} is -0.0"

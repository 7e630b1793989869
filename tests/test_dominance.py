"""Who leads where, against brute force at every quota and false positive rate; the hull of a family of models."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutline as cl
from cutline.decide.model_choice import NO_LEADER
from cutline.inference.bands import curve_influence, hits_by, units_of
from cutline.present import figures, words
from test_compare import data
from test_select import expected_outcomes


def hits_by_quota(y: np.ndarray, s: np.ndarray) -> list[Fraction]:
    outcomes = expected_outcomes(y, s)
    return [sum(outcomes[:j], Fraction(0)) for j in range(1, len(y) + 1)]


def hits_by_misses(y: np.ndarray, s: np.ndarray) -> list[Fraction]:
    """Most positives with k negatives taken, k = 0 … n⁻: a walk down the list, ties entered in proportion."""
    corners = [(0, 0)]
    for value in sorted(set(s.tolist()), reverse=True):
        here = y[s == value]
        corners.append((corners[-1][0] + int((here == 0).sum()), corners[-1][1] + int(here.sum())))
    found = []
    for k in range(int((y == 0).sum()) + 1):
        best = Fraction(0)
        for (x0, y0), (x1, y1) in pairwise(corners):
            if x0 <= k <= x1:
                best = max(best, Fraction(y1) if x1 == x0 else y0 + Fraction(y1 - y0, x1 - x0) * (k - x0))
        found.append(best)
    return found


@given(st.integers(0, 10**6), st.integers(2, 25), st.integers(1, 4), st.integers(2, 12))
def test_every_quota_and_every_rate_by_brute_force(seed: int, n: int, m: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.array([0, 1, *rng.integers(0, 2, n)])
    models = {f"m{k}": rng.integers(0, levels, len(y)).astype(float) for k in range(m)}
    cmp = cl.compare(y, models, measures=["roc_auc"], n_resamples=3)
    n_neg = int((y == 0).sum())
    for axis, curve, places in (
        ("quota", hits_by_quota, range(1, len(y) + 1)),
        ("fpr", hits_by_misses, range(n_neg + 1)),
    ):
        curves = {name: curve(y, s) for name, s in models.items()}
        rows = cmp.dominance(axis)
        first, last = (1, len(y)) if axis == "quota" else (0, 1)
        assert (rows[0]["from"], rows[-1]["to"]) == (first, last)
        assert all(a["leader"] != b["leader"] for a, b in pairwise(rows))
        for name, ev in cmp.items():
            assert hits_by(ev.ranking, axis, np.array(places, float)) == pytest.approx([*map(float, curves[name])])


@pytest.mark.parametrize("axis", ["quota", "fpr"])
@pytest.mark.parametrize("together", [1, 5])
def test_few_equal_pairs_show_a_clear_lead(axis: str, together: int) -> None:
    """5 % may, of 100 pairs of one quality: up to 10 by luck. With clusters, whose rows share their luck, too."""
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(100):
        clusters = np.repeat(np.arange(200 // together), together)
        y = (rng.random(200 // together) < 0.3)[clusters] if together > 1 else rng.random(200) < 0.3
        luck = 0.8 * rng.normal(size=(2, 200 // together))[:, clusters] if together > 1 else np.zeros((2, 200))
        models = {name: rng.normal(1.3 * y) + luck[k] for k, name in enumerate("ab")}
        own = {"clusters": clusters} if together > 1 else {}
        rows = cl.compare(y, models, measures=["roc_auc"], interval=None, **own).dominance(axis)
        clear = any(row["clear"] for row in rows)
        assert clear or [row["leader"] for row in rows] == [NO_LEADER]  # one line for two equal models
        wrong += clear
    assert wrong <= 10


@pytest.mark.parametrize("axis", ["quota", "fpr"])
def test_a_clear_lead_is_found_and_doubtful_stretches_are_joined(axis: str) -> None:
    rng = np.random.default_rng(8)
    y = rng.random(600) < 0.3
    models = {"bad": rng.normal(0.3 * y), "good": rng.normal(2 * y), "noise": rng.normal(size=600)}
    cmp = cl.compare(y, models, measures=["roc_auc"], interval=None)
    rows = cmp.dominance(axis)
    long = max(rows, key=lambda row: row["to"] - row["from"])
    assert (long["leader"], long["clear"], long["more_hits"] > 10) == ("good", True, True)
    assert {row["leader"] for row in rows} == {"good", NO_LEADER}
    assert all(a["leader"] != b["leader"] for a, b in pairwise(rows))
    whole = (1, 600) if axis == "quota" else (0, 1)
    assert (rows[0]["from"], rows[-1]["to"]) == whole
    four = cl.compare([1, 1, 0, 0], {"a": [4, 3, 2, 1], "b": [1, 1, 1, 1]}, interval=None)
    assert [row["leader"] for row in four.dominance(axis)] == [NO_LEADER]


@pytest.mark.parametrize("axis", ["quota", "fpr"])
def test_influences_are_those_of_leaving_each_row_out(axis: str) -> None:
    """At every tenth of the list they add up to 0 and have the spread of the positives found over fresh samples."""
    rng = np.random.default_rng(5)

    def sample(n: int) -> tuple[np.ndarray, np.ndarray]:
        y = np.arange(n) % 5 < 2 if axis == "fpr" else rng.random(n) < 0.4
        return y, rng.normal(1.2 * y).round(1)

    tenths = np.arange(1, 10) / 10
    found, spread = [], []
    for _ in range(200):
        ev = cl.evaluate(*sample(400), measures=["roc_auc"], interval=None)
        places = tenths * (400 if axis == "quota" else ev.ranking.n_neg)
        psi = curve_influence(ev.sample, ev.ranking, axis, places, *units_of(400, None, 0))
        assert psi.sum(axis=0) == pytest.approx(0, abs=1e-9)
        found.append(hits_by(ev.ranking, axis, places))
        spread.append((psi**2).sum(axis=0))
    assert np.sqrt(np.mean(spread, axis=0)) == pytest.approx(np.std(found, axis=0), rel=0.2)


def test_equal_models_lead_together_everywhere() -> None:
    y, models = data(4, 30, m=1)
    cmp = cl.compare(
        y, {"a": models["m0"], "b": models["m0"] * 2, "c": models["m0"]}, measures=["roc_auc"], n_resamples=9
    )
    for axis, first, last in (("quota", 1, 30), ("fpr", 0, 1)):
        (joined,) = cmp.dominance(axis)
        assert (joined["from"], joined["to"], joined["leader"], joined["clear"]) == (first, last, NO_LEADER, False)


def test_one_model_leads_alone() -> None:
    y, models = data(5, 30, m=1)
    rows = cl.compare(y, models, measures=["roc_auc"], n_resamples=5).dominance()
    assert [(r["from"], r["to"], r["leader"], r["more_hits"]) for r in rows] == [(1, 30, "m0", 0)]


def test_refusals() -> None:
    cmp = cl.compare([1, 0, 1, 0], {"a": [4, 3, 2, 1]}, n_resamples=5)
    with pytest.raises(cl.InputError, match="by is 'threshold'; choose one of quota, fpr"):
        cmp.dominance("threshold")
    with pytest.raises(cl.InputError, match="both classes"):
        cl.compare([1, 1], {"a": [2, 1]}, measures=["roc_auc"], n_resamples=5).hull()


# --- the hull ----------------------------------------------------------------------------------------------------


def roc_points(y: np.ndarray, s: np.ndarray) -> list[tuple[Fraction, Fraction]]:
    n_pos, n_neg = int(y.sum()), int((y == 0).sum())
    cuts = [math.inf, *sorted(set(s.tolist()), reverse=True)]
    return [(Fraction(int((y[s >= t] == 0).sum()), n_neg), Fraction(int(y[s >= t].sum()), n_pos)) for t in cuts]


def envelope(points: list[tuple[Fraction, Fraction]], x: Fraction) -> Fraction:
    """Highest point above x of any segment between two points."""
    best = max((b for a, b in points if a == x), default=Fraction(-1))
    for (x0, y0), (x1, y1) in combinations(points, 2):
        if min(x0, x1) < x < max(x0, x1):
            best = max(best, y0 + (y1 - y0) * (x - x0) / (x1 - x0))
    return best


@given(st.integers(0, 10**6), st.integers(1, 14), st.integers(1, 3), st.integers(2, 8))
def test_hull_is_the_upper_envelope(seed: int, n: int, m: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.array([0, 1, *rng.integers(0, 2, n)])
    models = {f"m{k}": rng.integers(0, levels, len(y)).astype(float) for k in range(m)}
    hull = cl.compare(y, models, measures=["roc_auc"], n_resamples=2).hull()
    points = {p for s in models.values() for p in roc_points(y, s)}
    xs, ys = np.array(hull.column("fpr")), np.array(hull.column("tpr"))
    assert (xs[0], ys[0], xs[-1], ys[-1]) == (0, 0, 1, 1)
    assert (np.diff(xs) >= 0).all()
    grid = sorted({a for a, _ in points} | {Fraction(k, 13) for k in range(14)})
    for x in grid:
        top = ys[xs == float(x)].max() if (xs == float(x)).any() else np.interp(float(x), xs, ys)
        assert top == pytest.approx(float(envelope(list(points), x)), abs=1e-12)
    for row in hull:  # each vertex is a point of the model that it names, at the threshold that it names
        s = models[row["model"]]
        assert row["fpr"] == pytest.approx((s[y == 0] > row["threshold"]).mean())
        assert row["tpr"] == pytest.approx((s[y == 1] > row["threshold"]).mean())


@given(st.integers(0, 10**6), st.integers(2, 14), st.floats(0.05, 20))
def test_at_each_slope_the_named_vertex_costs_least(seed: int, n: int, slope: float) -> None:
    """Cost ∝ slope·FPR + (1 − TPR): no cut of any model is cheaper than the vertex whose slopes hold this one."""
    rng = np.random.default_rng(seed)
    y = np.array([0, 1, *rng.integers(0, 2, n)])
    models = {f"m{k}": rng.integers(0, 6, len(y)).astype(float) for k in range(2)}
    hull = cl.compare(y, models, measures=["roc_auc"], n_resamples=2).hull()
    named = [row for row in hull if row["slope_to"] <= slope <= row["slope_from"]]
    assert named
    cheapest = min(slope * float(a) + 1 - float(b) for s in models.values() for a, b in roc_points(y, s))
    for row in named:
        assert slope * row["fpr"] + 1 - row["tpr"] == pytest.approx(cheapest, abs=1e-9)


def test_hull_by_hand() -> None:
    """a finds two of three without an error; b finds all three with two of four errors."""
    y = np.array([1, 1, 1, 0, 0, 0, 0])
    a = np.array([7, 6, 1, 5, 4, 3, 2])
    b = np.array([5, 4, 3, 7, 6, 2, 1])
    hull = cl.compare(y, {"a": a, "b": b}, measures=["roc_auc"], n_resamples=2).hull()
    shown = [(r["fpr"], r["tpr"], r["model"], r["threshold"], r["slope_from"], r["slope_to"]) for r in hull]
    assert [s[:4] for s in shown] == [
        (0, 0, "a", 7),
        (0, pytest.approx(2 / 3), "a", 5),
        (0.5, 1, "b", 2),
        (1, 1, "a", -math.inf),
    ]
    assert [s[4] for s in shown] == [math.inf, math.inf, pytest.approx(2 / 3), 0]
    assert [s[5] for s in shown] == [math.inf, pytest.approx(2 / 3), 0, 0]


def test_hull_of_one_model_has_its_area() -> None:
    y, models = data(6, 200, m=1, levels=40)
    hull = cl.compare(y, models, measures=["roc_auc"], n_resamples=2).hull()
    area = np.trapezoid(hull.column("tpr"), hull.column("fpr"))
    assert area == pytest.approx(cl.auch(y, models["m0"]))


def test_models_that_no_slope_wants_are_not_on_the_hull() -> None:
    rng = np.random.default_rng(2)
    y = rng.random(300) < 0.4
    good = rng.normal(2 * y)
    hull = cl.compare(
        y, {"worse": good + 3 * rng.normal(size=300), "good": good}, measures=["roc_auc"], n_resamples=2
    ).hull()
    inner = [row["model"] for row in hull if 0 < row["fpr"] < 0.95]
    assert set(inner) == {"good"}


def test_a_lead_at_one_quota_is_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    cmp = cl.compare(*data(3, 60, m=2), n_resamples=5)
    open_to = {"from": 1, "to": 4, "leader": NO_LEADER, "clear": False, "more_hits": 0.0}
    stretches = [open_to, {**open_to, "from": 5, "to": 5, "leader": "m0", "clear": True, "more_hits": 2.0}]
    assert figures.dominance(cmp, stretches=stretches).words.startswith("m0: 5. Elsewhere")
    monkeypatch.setattr(words, "dominance_of", lambda comparison: stretches)
    table = next(section.parts[0] for section in cmp.sections(pairs=True) if section.name == "leads")
    assert table[0]["places"] == "5"

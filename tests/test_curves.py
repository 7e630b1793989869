"""Curves: their points, areas, hulls, thinning and bands."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import cutline as cl
from cutline.curves import NAMES

RNG = np.random.default_rng(7)
Y = np.array([1, 1, 0, 1, 1, 0, 0, 1, 0, 0])
P = np.array([0.95, 0.8, 0.75, 0.6, 0.5, 0.45, 0.3, 0.25, 0.2, 0.1])


def binormal(n: int, seed: int, decimals: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    s = 1.0 / (1.0 + np.exp(-(rng.normal(size=n) + 1.2 * y - 1.0)))
    return y, s if decimals is None else s.round(decimals)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=2, max_size=60).filter(
        lambda rows: len({y for y, _ in rows}) == 2
    )
)
def test_points_are_the_cuts_of_every_distinct_score(rows: list[tuple[bool, int]]) -> None:
    y, s = np.array([r[0] for r in rows]), np.array([float(r[1]) for r in rows])
    ev = cl.evaluate(y, s, interval=None)
    n_pos, n_neg, n = y.sum(), (~y).sum(), len(y)
    for name in NAMES:
        curve = ev.curve(name)
        for x, height, threshold in zip(curve.x, curve.y, curve.thresholds, strict=True):
            tp, fp = (y & (s > threshold)).sum(), (~y & (s > threshold)).sum()
            expected = {
                "roc": lambda tp=tp, fp=fp: (fp / n_neg, tp / n_pos),
                "precision_recall": lambda tp=tp, fp=fp: (tp / n_pos, tp / (tp + fp)),
                "gain": lambda tp=tp, fp=fp: (tp + fp, tp),
                "lift": lambda tp=tp, fp=fp: (tp + fp, tp / (tp + fp) / (n_pos / n)),
                "hit_rate": lambda tp=tp, fp=fp: (tp + fp, tp / (tp + fp)),
                "qrecall": lambda tp=tp, fp=fp: (tp + fp, tp / n_pos),
                "tpr_fpr": lambda tp=tp, fp=fp: ((tp + fp) / n, tp / n_pos),
            }[name]()
            assert (x, height) == pytest.approx(expected, abs=1e-12)
    assert ev.curve("roc").area() == pytest.approx(ev["roc_auc"].value, abs=1e-12)
    assert len(ev.curve("roc")) == len(np.unique(s)) + 1


def test_areas_of_berrars_example() -> None:
    ev = cl.evaluate(Y, P, interval=None)
    assert ev.curve("roc").area() == pytest.approx(0.8)
    gap = ev.curve("tpr_fpr")
    assert np.max(gap.y - gap.y2) == pytest.approx(ev["ks_statistic"].value) == pytest.approx(0.6)
    hull = ev.hull()
    assert (
        np.trapezoid(hull.column("tpr"), hull.column("fpr")) == pytest.approx(ev["auch"].value) == pytest.approx(0.88)
    )
    assert (hull[0]["fpr"], hull[0]["tpr"], hull[-1]["fpr"], hull[-1]["tpr"]) == (0, 0, 1, 1)


@pytest.mark.parametrize("decimals", [None, 2])
def test_hull_vertices_are_cuts_and_no_point_lies_above(decimals: int | None) -> None:
    y, s = binormal(3000, 1, decimals)
    ev = cl.evaluate(y, s, interval=None)
    hull, roc = ev.hull(), ev.curve("roc")
    x, top = np.array(hull.column("fpr")), np.array(hull.column("tpr"))
    assert (np.interp(roc.x, x, top) >= roc.y - 1e-12).all()
    slopes = np.diff(top)[np.diff(x) > 0] / np.diff(x)[np.diff(x) > 0]
    assert (np.diff(slopes) < 0).all()
    for row in hull:
        assert (y & (s > row["threshold"])).sum() / y.sum() == pytest.approx(row["tpr"])
        assert (~y & (s > row["threshold"])).sum() / (~y).sum() == pytest.approx(row["fpr"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-2])
def test_thinning_keeps_within_the_tolerance(name: str, tolerance: float) -> None:
    y, s = binormal(20_000, 2)
    curve = cl.evaluate(y, s, interval=None).curve(name)
    thin = curve.thinned(tolerance)
    assert len(thin) < len(curve) / 5
    height = np.nanmax(curve.y)
    # between kept points the straight line stays near every left-out point; kept points stand where they stood
    between = np.interp(curve.x, thin.x, thin.y)
    steep = np.isin(curve.x, curve.x[:-1][np.diff(curve.x) == 0])  # on a vertical stretch interp gives one of its ends
    assert np.max(np.abs(between - curve.y)[~steep]) <= tolerance * height * (1 + 1e-9)
    assert abs(thin.area() - curve.area()) <= tolerance * height * (curve.x.max() - curve.x.min())
    assert set(zip(thin.x, thin.y, strict=True)) <= set(zip(curve.x, curve.y, strict=True))
    assert (thin.x[0], thin.y[0], thin.x[-1], thin.y[-1]) == (curve.x[0], curve.y[0], curve.x[-1], curve.y[-1])


def test_a_band_is_the_quantiles_of_literal_resamples() -> None:
    y, s = binormal(80, 3, 1)
    ev = cl.evaluate(y, s, n_resamples=400, seed=5, stratify=False)
    band = ev.curve("qrecall").band(level=0.9)
    from cutline.inference.resampling import Resampler

    resampler = Resampler(ev.sample, ev.ranking, stratified=False, seed=5)
    heights = []
    for counts, _ in resampler.each(400):
        times = counts[resampler.unit_of_row()].astype(int)
        y_drawn, s_drawn = np.repeat(y, times), np.repeat(s, times)
        heights.append([cl.qrecall(y_drawn, s_drawn, quota=int(j)) if j else 0.0 for j in band.x])
    low, high = np.quantile(heights, [0.05, 0.95], axis=0)
    middle, value = np.median(heights, axis=0), np.interp(band.x, ev.curve("qrecall").x, ev.curve("qrecall").y)
    n_pos = int(y.sum())
    small = stats.t.ppf(0.95, n_pos - 1) / stats.norm.ppf(0.95)
    ends = []
    for x, down, up, v in list(zip(band.x, middle - low, high - middle, value, strict=True))[1:-1]:
        # at least as wide as the share of so many positives
        least = [abs(end - v) for end in cl.proportion_interval(round(v * n_pos), n_pos, 0.9, "wilson")]
        fewest = 1 - (1 - x / 80) / cl.proportion_interval(n_pos, 80, 0.9, "wilson").low  # if all left are positive
        ends.append((max(0, fewest, v - small * max(down, least[0])), min(1, v + small * max(up, least[1]))))
    below, above = np.array(ends).T  # a curve that never falls: limits count for what follows, or comes before
    np.testing.assert_allclose(band.low[1:-1], np.maximum.accumulate(below), atol=1e-9)
    np.testing.assert_allclose(band.high[1:-1], np.minimum.accumulate(above[::-1])[::-1], atol=1e-9)
    assert (band.low[-1], band.high[-1]) == (1.0, 1.0)  # a place for everybody finds everybody


@pytest.mark.parametrize("name", ["roc", "gain", "qrecall", "tpr_fpr"])
def test_the_band_of_a_curve_that_never_falls_does_not_fall(name: str) -> None:
    y, s = binormal(53, 9)
    for simultaneous in (False, True):
        band = cl.evaluate(y, s, n_resamples=300).curve(name).band(simultaneous=simultaneous)
        assert (np.diff(band.low) >= 0).all()
        assert (np.diff(band.high) >= 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_bands_are_ordered_and_nested(name: str) -> None:
    y, s = binormal(200, 4)
    ev = cl.evaluate(y, s, n_resamples=300)
    narrow, wide = ev.curve(name).band(level=0.8), ev.curve(name).band(level=0.99)
    whole = ev.curve(name).band(level=0.8, simultaneous=True)
    assert (narrow.low <= narrow.high + 1e-12).all()
    assert (wide.low <= narrow.low + 1e-12).all()
    assert (wide.high >= narrow.high - 1e-12).all()
    assert (whole.low <= narrow.low + 1e-12).all()
    assert (whole.high >= narrow.high - 1e-12).all()
    if name not in ("gain", "lift"):
        assert whole.low.min() >= 0
        assert whole.high.max() <= 1


def test_roc_bands_cover_the_true_curve() -> None:
    from scipy.special import ndtr, ndtri

    at, inside, whole = 0.2, 0, 0
    grid = np.linspace(0.02, 0.98, 49)
    truth = ndtr(1.2 + ndtri(grid))
    for seed in range(100):
        y, s = binormal(300, 100 + seed)
        curve = cl.evaluate(y, s, measures=["roc_auc"], n_resamples=300, seed=seed).curve("roc")
        band = curve.band()
        inside += np.interp(at, band.x, band.low) <= ndtr(1.2 + ndtri(at)) <= np.interp(at, band.x, band.high)
        broad = curve.band(simultaneous=True)
        low, high = np.interp(grid, broad.x, broad.low), np.interp(grid, broad.x, broad.high)
        whole += bool(((low <= truth) & (truth <= high)).all())
    assert inside >= 86  # nominal 95 of 100
    assert whole >= 84


def test_curves_say_what_they_need() -> None:
    with pytest.raises(cl.InputError, match=r"is 'rock', which is not a curve.*roc"):
        cl.evaluate(Y, P, interval=None).curve("rock")
    with pytest.raises(cl.InputError, match="no positive"):
        cl.evaluate(np.zeros(4, bool), P[:4], interval=None).curve("roc")
    weighted = cl.evaluate(Y, P, sample_weight=np.arange(1, 11), interval=None)
    assert weighted.curve("hit_rate").x[-1] == 55  # cases, of which a row of weight w stands for w
    assert weighted.curve("roc").area() == pytest.approx(weighted["roc_auc"].value)

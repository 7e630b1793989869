"""Plots: the data drawn, the axes given back, and how they look, against reference images."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutline as cl
from cutline.errors import InputError
from cutline.present.charts import colour
from cutline.present.figures import FIGURES, reliability, score_histogram
from cutline.present.plots import KINDS, plot

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

pytestmark = pytest.mark.xdist_group("plots")  # what they share is made once

REFERENCE = Path(__file__).parent / "reference"
ARTEFACTS = Path(__file__).parents[1] / "artefacts"
# Share of cells (4 × 4 pixels) whose grey (0–255) may differ by more than a thin line makes: letters of another build.
DIFFERENT = 20
SHARE = 0.003


@pytest.fixture(scope="module")
def columns() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    path = Path(__file__).parents[1] / "examples" / "applicants.csv"
    table = np.genfromtxt(path, delimiter=",", names=True, dtype=None, encoding="utf-8")
    return table["completed"], {name: table[name] for name in ("tree", "logistic", "network")}


@pytest.fixture(scope="module")
def comparison(columns: Any) -> cl.results.Comparison:
    return cl.compare(*columns, quota=20, n_resamples=100)


@pytest.fixture(scope="module")
def one(comparison: cl.results.Comparison) -> cl.results.Evaluation:
    return comparison.evaluations["tree"]


@pytest.fixture(scope="module")
def extrapolated() -> Any:
    """A small extrapolation, by one quick method."""
    scores = np.random.default_rng(1).normal(size=(80, 50)) + 3.5 * np.eye(50)[np.arange(80) % 50]
    return cl.extrapolate(scores, np.arange(80) % 50, k=[100, 1000], method="mixture", n_resamples=40)


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def subject(kind: str, comparison: Any, one: Any, extrapolated: Any) -> tuple[Any, dict[str, Any]]:
    """What each kind is drawn of, and with which options."""
    options: dict[str, Any] = {}
    if kind == "plan":
        sample = one.sample
        return cl.plan(sample.positive, sample.score, cost=1, value=3, quota=100, n_resamples=100), {}
    if kind == "uplift":
        return cl.uplift(np.arange(len(one.sample)) % 2, one.sample.positive, one.sample.score), {}
    if kind == "voting":
        scores = {name: ev.sample.score for name, ev in comparison.evaluations.items()}
        marks = ["pem", "average_hit_rate"]
        return cl.papers.selective_voting(one.sample.positive, scores, marks=marks, n_resamples=10), {}
    if kind == "calibration":
        return one.calibration(), {}
    if kind == "who_leads":
        rng, labels = np.random.default_rng(3), np.repeat(np.arange(20), 2)
        scores = {name: rng.normal(size=(40, 20)) + 2.0 * (labels[:, None] == np.arange(20)) for name in "ab"}
        return cl.extrapolate(scores, labels, k=[40], method="mixture", n_resamples=20), {}
    if kind in ("segments", "trend"):
        part = np.arange(len(one.sample)) % 3
        seg = cl.evaluate(one.sample.positive, one.sample.score, by=part, measures=["roc_auc"]).segments
        return (seg if kind == "segments" else seg.trend("roc_auc")), {}
    if kind == "batches":
        batch = np.arange(len(one.sample)) % 10
        return cl.evaluate(one.sample.positive, one.sample.score, batch=batch, quota=8, measures=["hit_rate"]), {}
    alone = {"histogram": one, "extrapolation": extrapolated}
    return alone.get(kind, comparison), options


@pytest.mark.parametrize("kind", KINDS)
def test_every_plot_draws_on_the_axes_it_is_given(kind: str, comparison: Any, one: Any, extrapolated: Any) -> None:
    result, options = subject(kind, comparison, one, extrapolated)
    figure, ax = plt.subplots()
    assert plot(result, kind, ax=ax, **options) is ax
    assert ax.get_title(loc="left")
    assert figure.axes == [ax]
    assert FIGURES[kind](result, **options).marks


def cells(result: Any, kind: str, *, keep: bool = False, **options: Any) -> np.ndarray:
    """A plot in grey at a quarter of its size: layout and lines count, the edges of letters do not."""
    with plt.rc_context(rc={**matplotlib.rcParamsDefault, "backend": "agg"}):
        figure = plot(result, kind, **options).figure
        figure.canvas.draw()
        drawn = np.asarray(figure.canvas.buffer_rgba())[..., :3].mean(axis=2)
        if keep:
            ARTEFACTS.mkdir(exist_ok=True)
            figure.savefig(ARTEFACTS / f"plot-{kind}.png", dpi=150)
    drawn = drawn[: drawn.shape[0] // 4 * 4, : drawn.shape[1] // 4 * 4]
    return drawn.reshape(drawn.shape[0] // 4, 4, -1, 4).mean(axis=(1, 3))


def share_different(kind: str, seen: np.ndarray) -> float:
    """Share of cells that are not as in the reference image."""
    expected = np.round(plt.imread(REFERENCE / f"{kind}.png")[..., 0] * 255)
    assert expected.shape == seen.shape
    return float((np.abs(expected - seen) > DIFFERENT).mean())


@pytest.fixture
def _settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fixed bands and leads: images test the drawing; what resampling gives is compared as data, further down."""

    def band(curve: cl.results.Curve, level: float = 0.95, simultaneous: bool = False) -> cl.results.Band:
        half = 0.08 * float(np.ptp(curve.y))
        return cl.results.Band(curve.x, curve.y - half, curve.y + half, level, simultaneous)

    stretches = [(1, 40, "network"), (41, 60, "no clear leader"), (61, 400, "logistic")]
    rows = [{"from": a, "to": b, "leader": who, "clear": who != "no clear leader"} for a, b, who in stretches]
    monkeypatch.setattr(cl.results.Curve, "band", band)
    monkeypatch.setattr(cl.results.Comparison, "dominance", lambda *_: cl.results.Table(rows))


@pytest.mark.usefixtures("_settled")
@pytest.mark.parametrize("kind", KINDS)
def test_every_plot_looks_as_it_did(kind: str, comparison: Any, one: Any, extrapolated: Any) -> None:
    """Set CUTLINE_WRITE_REFERENCES=1 to write the images anew, and look at them."""
    result, options = subject(kind, comparison, one, extrapolated)
    if kind == "forest":  # intervals in closed form
        options = {"measures": ["hit_rate@20", "qrecall@20", "roc_auc", "accuracy"]}
    seen = cells(result, kind, keep=True, **options)
    if os.environ.get("CUTLINE_WRITE_REFERENCES"):
        REFERENCE.mkdir(exist_ok=True)
        plt.imsave(REFERENCE / f"{kind}.png", seen, cmap="gray", vmin=0, vmax=255)
    assert share_different(kind, seen) < SHARE


@pytest.mark.usefixtures("_settled")
def test_a_missing_line_is_noticed(comparison: Any) -> None:
    assert share_different("roc", cells(comparison, "roc", hull=False)) > SHARE
    assert share_different("roc", cells(comparison, "roc", band=True)) > SHARE


def line(ax: Any, label: str) -> tuple[np.ndarray, np.ndarray]:
    found = [drawn for drawn in ax.get_lines() if str(drawn.get_label()).partition(":")[0] == label]
    assert len(found) == 1
    return np.asarray(found[0].get_xdata(), float), np.asarray(found[0].get_ydata(), float)


def test_roc_is_the_curve_and_its_area(columns: Any, comparison: Any) -> None:
    y, models = columns
    ax = plot(comparison, "roc")
    for name, score in models.items():
        across, up = line(ax, name)
        assert np.trapezoid(up, across) == pytest.approx(cl.roc_auc(y, score), abs=1e-12)


@pytest.mark.parametrize("kind", ["roc", "precision_recall", "gain", "hit_rate", "lift"])
def test_the_band_drawn_is_the_curves_own(kind: str, one: Any) -> None:
    shade = one.curve("qrecall" if kind == "gain" else kind).band()
    drawn = plot(one, kind).collections[0].get_paths()[0].vertices
    ends = [shade.low, shade.high]
    if kind == "gain":  # within the positives of this list
        ends = [np.minimum(end * one.facts["positives"], shade.x) for end in ends]
    for end in ends:
        known = np.isfinite(shade.low + shade.high)
        points = {(round(x, 9), round(y, 9)) for x, y in drawn}
        assert {(round(x, 9), round(y, 9)) for x, y in zip(shade.x[known], end[known], strict=True)} <= points


@pytest.mark.parametrize("kind", ["gain", "hit_rate", "qrecall", "lift"])
def test_curves_over_quotas_are_what_at_gives(kind: str, comparison: Any) -> None:
    ax = plot(comparison, kind)
    field = {"gain": "tp"}.get(kind, kind)
    for name, ev in comparison.evaluations.items():
        places, values = line(ax, name)
        for quota in (1, 7, 20, 23, 150, 400):
            assert values[places == quota][0] == pytest.approx(getattr(ev.at(quota=quota), field), abs=1e-12)


def test_qrecall_areas_give_pem(one: Any) -> None:
    places, model = line(plot(one, "qrecall"), one.name)
    assert places.tolist() == list(range(1, 401))
    n_pos = one.facts["positives"]
    chance, best = places / 400, np.minimum(places, n_pos) / n_pos
    assert (model - chance).sum() / (best - chance).sum() == pytest.approx(one["pem"].value, abs=1e-12)
    legend = plot(one, "qrecall").get_legend()
    words = {text.get_text() for text in legend.get_texts()}
    pem = f"PEM = (S1 − S2) / S3 = {one['pem'].value:.3f}"
    assert {"S1: better than chance", "S3: perfect over chance", pem} <= words


def test_tpr_fpr_shows_the_ks_distance(columns: Any, comparison: Any) -> None:
    y, models = columns
    words = plot(comparison, "tpr_fpr").get_legend().get_texts()
    assert any(f"{cl.ks_statistic(y, models['tree']):.3f}" in t.get_text() for t in words)


def test_histogram_holds_every_case_once(one: Any) -> None:
    rows = score_histogram(one, bins=10)
    assert sum(row["positives"] for row in rows) == one.facts["positives"]
    assert sum(row["negatives"] for row in rows) == one.facts["negatives"]
    assert (rows[0]["from"], rows[-1]["to"]) == (0.0, 1.0)
    infinite = cl.evaluate([1, 0, 1], [np.inf, -np.inf, 0.0], interval=None)
    assert sum(row["positives"] for row in score_histogram(infinite, bins=4)) == 2


def test_reliability_keeps_ties_together_and_every_row(one: Any) -> None:
    rows = reliability(one, bins=5)
    assert sum(row["rows"] for row in rows) == 400
    assert sum(row["rows"] * row["share_positive"] for row in rows) == pytest.approx(one.facts["positives"])
    assert all(row["low"] <= row["share_positive"] <= row["high"] for row in rows)
    with pytest.raises(InputError, match="outside"):
        plot(cl.evaluate([0, 1], [-1.0, 2.0], interval=None), "reliability")


def test_forest_and_dominance_draw_their_rows(comparison: Any) -> None:
    ax = plot(comparison, "forest", measures=["roc_auc", "hit_rate@20"])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["roc_auc", "hit_rate@20"]
    values = {float(mark.get_xdata()[0]) for mark in ax.get_lines() if mark.get_marker() == "o"}
    assert values == {ev[key].value for ev in comparison.evaluations.values() for key in ("roc_auc", "hit_rate@20")}
    stretches = comparison.dominance()
    bars = plot(comparison, "dominance").patches
    assert len(bars) == sum(row["clear"] for row in stretches)


def test_unknown_and_impossible_plots_say_so(comparison: Any, one: Any) -> None:
    with pytest.raises(InputError, match="did you mean 'qrecall'"):
        plot(one, "qrecal")
    with pytest.raises(InputError, match="one model"):
        plot(comparison, "histogram")
    with pytest.raises(InputError, match="Comparison"):
        plot(one, "dominance")
    with pytest.raises(InputError, match="extrapolation"):
        plot(one, "extrapolation")
    weighted = cl.evaluate([0, 1, 1], [0.1, 0.4, 0.9], sample_weight=[1, 2, 1], interval=None)
    assert plot(weighted, "roc", band=False) is not None


@pytest.mark.parametrize("kind", ["gain", "lift", "hit_rate", "qrecall"])
def test_weights_are_cases_on_the_axis_of_a_quota(kind: str) -> None:
    y, s, w = [0, 1, 1, 0], [0.1, 0.4, 0.9, 0.7], [1, 2, 1, 3]
    weighted = cl.evaluate(y, s, sample_weight=w, interval=None)
    repeated = cl.evaluate(np.repeat(y, w), np.repeat(s, w), interval=None)
    drawn = plot(weighted, kind, band=False)
    everywhere = dict(zip(*line(plot(repeated, kind, band=False), "model"), strict=True))
    for place, value in zip(*line(drawn, "model"), strict=True):
        assert place == 0 or everywhere[place] == pytest.approx(value)
    low, high = drawn.get_xlim()
    assert low <= 0 < 7 <= high < 7.2


def test_what_is_not_axes_is_refused(extrapolated: Any) -> None:
    with pytest.raises(InputError, match="ax is 'roc', not Axes"):
        extrapolated.plot("roc")


def test_the_extrapolation_plot_is_one_and_the_same(extrapolated: Any) -> None:
    by_method, by_kind = extrapolated.plot(until=400), plot(extrapolated, "extrapolation", until=400)
    assert len(by_method.lines) == len(by_kind.lines)
    assert by_method.get_xlim() == by_kind.get_xlim() == (2, 400)
    lines = [drawn for drawn in by_kind.lines if drawn.get_color() in ("#222222", colour(0))]
    joint = [np.interp(50, drawn.get_xdata(), drawn.get_ydata()) for drawn in lines if len(drawn.get_xdata()) > 2]
    assert joint[0] == pytest.approx(joint[1], abs=1e-9)


def test_without_matplotlib_a_plot_says_what_to_install(monkeypatch: pytest.MonkeyPatch, one: Any) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'cutline\[plot\]' \(in a checkout: '\.\[plot\]'\)"):
        one.plot("roc")


def test_titles_state_the_finding(comparison: Any, one: Any) -> None:
    point, auc = one.at(quota=20), one["roc_auc"]
    found = f"With 20 places, {one.name} finds {point.tp:.1f} of the {point.tp + point.fn:g} positives"
    assert one.plot("gain").get_title(loc="left") == found
    within = f"{auc.value:.3f} ({auc.low:.3f} to {auc.high:.3f})"
    assert one.plot("roc").get_title(loc="left") == f"ROC: AUC {within}"
    ahead = comparison.verdict("hit_rate")
    assert ahead.status == "cannot tell"
    title = f"With 20 places: {ahead.best} is ahead, but not clearly"
    assert comparison.plot("hit_rate").get_title(loc="left") == title


def test_cuts_and_bands_are_explained_where_no_line_crosses_the_words(comparison: Any, one: Any) -> None:
    dots, band = "\n(dot: 20 places", "95% band for each point by itself)"
    assert comparison.plot("roc").get_xlabel() == f"false positive rate{dots})"
    assert one.plot("roc").get_xlabel() == f"false positive rate{dots}; {band}"
    assert one.plot("precision_recall").get_xlabel() == f"recall{dots}; {band}"
    assert one.plot("gain").get_xlabel() == f"places\n(line: 20 places; {band}"
    assert one.plot("net_benefit").get_xlabel() == f"threshold probability\n({band}"
    assert one.calibration().plot().get_xlabel() == f"predicted probability\n({band}"
    at_cut = comparison.plot("roc", threshold=0.25)
    assert at_cut.get_xlabel() == "false positive rate\n(dot: score > 0.25)"
    assert "convex hull" in [text.get_text() for text in at_cut.get_legend().get_texts()]
    assert [text.get_text() for text in at_cut.texts] == ["chance"]


@pytest.mark.parametrize("kind", ["roc", "precision_recall", "gain", "qrecall", "tpr_fpr"])
def test_a_plot_shows_the_simultaneous_band_of_its_curve(kind: str, one: Any) -> None:
    ax = one.plot(kind, simultaneous=True)
    assert "95% band for the whole curve" in ax.get_xlabel()
    drawn = ax.collections[0].get_paths()[0].vertices
    band = one.curve("qrecall" if kind == "gain" else kind).band(simultaneous=True)
    highest = np.minimum(band.high * one.ranking.n_pos, band.x) if kind == "gain" else band.high
    np.testing.assert_allclose(drawn[:, 1].max(), np.nanmax(highest))


def test_the_line_of_a_random_choice_crosses_no_name(comparison: Any) -> None:
    ax = comparison.plot("found")
    names = [text.xy[1] for text in ax.texts if text.get_text() in comparison]
    spans = [line.get_ydata() for line in ax.lines if line.get_linestyle() == "--"]
    assert len(spans) == len(names) == len(comparison)
    assert not any(low <= y <= high for y in names for low, high in spans)


def test_axes_of_rare_events_show_them() -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(1, 60, 20_000)
    ev = cl.evaluate(rng.random(20_000) < p, p, interval=None)
    for kind in ("precision_recall", "hit_rate"):
        assert plot(ev, kind, band=False).get_ylim()[1] < 0.3
    across = plot(ev, "reliability")
    assert max(across.get_xlim()[1], across.get_ylim()[1]) < 0.3


def test_roc_is_square_and_its_legend_has_the_areas(comparison: Any) -> None:
    ax = plot(comparison, "roc")
    assert ax.get_box_aspect() == 1
    words = {text.get_text() for text in ax.get_legend().get_texts()}
    for name, ev in comparison.evaluations.items():
        e = ev["roc_auc"]
        assert f"{name}: AUC {e.value:.3f} ({e.low:.3f} to {e.high:.3f})" in words


def test_lines_over_places_are_named_in_their_colours(comparison: Any) -> None:
    names = {text.get_text(): text.get_color() for text in plot(comparison, "gain").get_legend().get_texts()}
    assert names == {name: colour(k) for k, name in enumerate(comparison.evaluations)}


def test_one_model_is_shaded_unless_all_are_asked_for(comparison: Any, one: Any) -> None:
    assert [len(plot(one, "gain").collections), len(plot(comparison, "gain").collections)] == [1, 0]
    assert len(plot(comparison, "gain", band=True).collections) == 3
    top = plot(one, "gain").collections[0].get_paths()[0].vertices[:, 1].max()
    assert top <= one.facts["positives"] + 1e-9


@pytest.mark.parametrize(("kind", "axes"), [("roc", ("fpr", "recall")), ("precision_recall", ("recall", "precision"))])
def test_a_threshold_is_a_point_on_the_curve(kind: str, axes: tuple[str, str], one: Any) -> None:
    point = one.at(threshold=0.5)
    marks = [
        mark.get_xydata()[0].tolist() for mark in plot(one, kind, threshold=0.5).get_lines() if mark.get_marker() == "o"
    ]
    assert [getattr(point, axis) for axis in axes] in marks


def test_an_option_that_a_plot_does_not_know_is_named(one: Any) -> None:
    with pytest.raises(InputError, match="treshold is not an option of the plot roc; roc knows 'hull'"):
        one.plot("roc", treshold=0.5)


def test_where_nobody_leads_a_sentence_stands_instead(comparison: Any) -> None:
    ax = plot(comparison, "dominance")
    assert not ax.patches
    assert "could be chance" in ax.texts[0].get_text()
    assert "No model leads clearly" in ax.get_title(loc="left")


def test_segments_are_sorted_and_tell_how_many_rows_they_have(one: Any) -> None:
    part = np.array(["north", "south", "west"])[np.arange(len(one.sample)) % 3]
    seg = cl.evaluate(one.sample.positive, one.sample.score, by=part, measures=["roc_auc"]).segments
    labels = [tick.get_text() for tick in plot(seg, "segments").get_yticklabels()]
    values = {ev.name: ev["roc_auc"].value for ev in seg.evaluations.values()}
    best = sorted(values, key=lambda name: -values[name])
    assert labels == [f"{name} (n = {seg[name].facts['rows']})" for name in best]
    months = np.array(["2024-01", "2024-02", "2024-03"])[np.arange(len(one.sample)) % 3]
    seg = cl.evaluate(one.sample.positive, one.sample.score, by=months, measures=["roc_auc"]).segments
    assert [t.get_text()[:7] for t in plot(seg, "segments").get_yticklabels()] == ["2024-01", "2024-02", "2024-03"]


# How people without red and without green cones see linear red, green and blue (Machado, Oliveira & Fernandes 2009).
SIGHT = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "all cones": np.eye(3).tolist(),
}


def _lab(paint: str, sight: list[list[float]]) -> Any:
    """A colour in CIE L*a*b*, as somebody sees it."""
    channel = np.array([int(paint[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(channel <= 0.04045, channel / 12.92, ((channel + 0.055) / 1.055) ** 2.4)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x = xyz @ np.clip(np.array(sight) @ linear, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_of_models_are_told_apart(sight: str) -> None:
    seen = [_lab(colour(k), SIGHT[sight]) for k in range(8)]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 15

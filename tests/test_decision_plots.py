"""Plots of decisions: what they draw, and the numbers behind them."""

from __future__ import annotations

import numpy as np
import pytest

import cutline as cl

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    z = rng.normal(size=300) - 1
    return rng.random(300) < 1 / (1 + np.exp(-z)), 1 / (1 + np.exp(-z)), 1 / (1 + np.exp(-0.5 * z))


def test_calibration_is_drawn_with_its_band(data) -> None:
    y, p, _ = data
    found = cl.evaluate(y, p, measures=["brier_score"], n_resamples=99).calibration()
    ax = found.plot()
    assert ax.get_title(loc="left") == "Calibration of model"
    assert len(ax.collections) >= 2
    plt.close(ax.figure)


@pytest.mark.parametrize("kind", ["net_benefit", "expected_cost"])
def test_decision_curves_show_every_model_and_both_extremes(data, kind: str) -> None:
    y, p, q = data
    cmp = cl.compare(y, {"a": p, "b": q}, measures=["roc_auc"], n_resamples=20)
    ax = cmp.plot(kind)
    assert len(ax.lines) == 4
    assert {"everyone", "no one"} <= {text.get_text() for text in ax.get_legend().get_texts()}
    assert sum(len(line.get_xdata()) == 99 for line in ax.lines) == 4
    plt.close(ax.figure)


def test_votes_are_drawn(data) -> None:
    y, p, _ = data
    rng = np.random.default_rng(1)
    models = {f"m{k}": p + 0.2 * k * rng.random(300) for k in range(4)}
    v = cl.papers.selective_voting(y, models, marks=["pem", "average_hit_rate"], n_resamples=10)
    ax = v.plot()
    assert f"{v.voters} chosen" in {text.get_text() for text in ax.texts}
    plt.close(ax.figure)


@pytest.mark.parametrize("kind", ["net_benefit", "expected_cost"])
def test_bands_of_decision_curves_say_what_they_hold(data, kind: str) -> None:
    y, p, _ = data
    ev = cl.evaluate(y, p, measures=["roc_auc"], interval=None)
    ax = ev.plot(kind)
    assert "95% band for each point by itself" in ax.get_xlabel()
    plt.close(ax.figure)
    ax = ev.plot(kind, band=False)
    assert "band" not in ax.get_xlabel()
    plt.close(ax.figure)
    from cutline.present.figures import cost_chart

    assert "band for each point by itself" in cost_chart({0: ev.decision_curve()}, kind=kind).svg()


def test_a_loss_is_drawn_so_that_its_best_is_on_top(data) -> None:
    y, p, q = data
    rng = np.random.default_rng(1)
    models = {"good": p, **{f"m{k}": np.clip(q * rng.random(300), 0, 1) for k in range(3)}}
    v = cl.papers.selective_voting(y, models, marks=["brier_score", "pem"], n_resamples=10)
    ax = v.plot()
    for spec in v.specs:
        values = np.array(v.marks.column(str(spec)), float)
        drawn = next(line for line in ax.lines if line.get_label().startswith(f"{spec}, best ")).get_ydata()
        best = np.nanargmin(values) if spec.better == "lower" else np.nanargmax(values)
        assert drawn[best] == 1.0
        assert drawn[np.nanargmax(values) if spec.better == "lower" else np.nanargmin(values)] == 0.0
    plt.close(ax.figure)


def test_each_model_is_drawn_with_its_own_segments(data) -> None:
    from cutline.present.figures import segments_frame

    y, p, _ = data
    q = np.random.default_rng(5).random(300)
    part = np.arange(300) % 3
    cmp = cl.compare(y, {"a": p, "b": q}, by=part, measures=["roc_auc"], n_resamples=20).segments
    rows = segments_frame(cmp, measure="roc_auc")
    for row in rows:
        if row["segment"] is not None:
            here = part == int(row["segment"])
            own = cl.roc_auc(y[here], {"a": p, "b": q}[row["model"]][here])
            assert row["value"] == pytest.approx(own)
    assert len({row["value"] for row in rows}) == 8

"""Extreme levels, weights, costs and scores, odd encodings and devices: an answer or a plain refusal, never a crash."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import cutline as cl
from cutline import InputError

Y = [1, 0, 1, 0, 1, 0]
P = [0.9, 0.8, 0.7, 0.4, 0.3, 0.2]
INF = np.inf


@pytest.mark.parametrize("level", [1e-9, 0.999999999, 1 - 1e-9])
def test_levels_up_to_nine_nines_are_answered(level: float) -> None:
    ev = cl.evaluate(Y, P, quota=2, level=level, n_resamples=20)
    assert all(e.low <= e.value + 1e-12 <= e.high + 2e-12 for e in ev.estimates.values() if e.low == e.low)
    assert cl.threshold_for(Y, P, recall=0.5, level=level).threshold < 0.9


@pytest.mark.parametrize("level", [1e-300, 1e-10, 1 - 1e-10, 1 - 1e-16])
def test_levels_beyond_nine_nines_are_refused(level: float) -> None:
    for call in (cl.evaluate, cl.plan):
        with pytest.raises(InputError, match="choose one from 1e-9 to 1 - 1e-9"):
            call(Y, P, level=level)
    with pytest.raises(InputError, match="confidence is too near"):
        cl.threshold_for(Y, P, recall=0.5, confidence=level)


@pytest.mark.parametrize(("cost_fp", "cost_fn"), [(1e-300, 1e-300), (1.0, 1e300), (0.0, 1e300)])
def test_costs_whose_cubes_are_no_numbers_are_refused(cost_fp: float, cost_fn: float) -> None:
    with pytest.raises(InputError, match=r"an amount from 1e-90 to 1e\+90"):
        cl.threshold_for(Y, P, cost_fp=cost_fp, cost_fn=cost_fn)


@pytest.mark.parametrize(("cost_fp", "cost_fn"), [(1e-90, 1e-90), (1e90, 1e90), (0.0, 1e90)])
@pytest.mark.parametrize("prevalence", [None, 0.001])
def test_the_largest_and_smallest_costs_scale_the_answer(cost_fp: float, cost_fn: float, prevalence: Any) -> None:
    size = max(cost_fp, cost_fn)
    large = cl.threshold_for(Y, P, cost_fp=cost_fp, cost_fn=cost_fn, prevalence=prevalence, n_resamples=50).cost
    plain = cl.threshold_for(
        Y, P, cost_fp=cost_fp / size, cost_fn=cost_fn / size, prevalence=prevalence, n_resamples=50
    ).cost
    assert large is not None
    assert plain is not None
    assert [large.value, large.high] == pytest.approx([size * plain.value, size * plain.high], rel=1e-6)


@pytest.mark.parametrize("goal", [{"recall": 1.0}, {"quota": 4}, {"fpr": 1.0}, {"cost_fp": 1, "cost_fn": 1000}])
def test_no_threshold_is_promised_to_take_rows_that_score_minus_infinity(goal: dict[str, Any]) -> None:
    scores = [INF, -INF, -INF, 1.0]
    with pytest.raises(InputError, match="no threshold lies below −inf"):
        cl.threshold_for(Y[:4], scores, n_resamples=20, **goal)


def test_the_cheapest_cut_above_rows_that_score_minus_infinity_is_found() -> None:
    cut = cl.threshold_for([1, 1, 1, 0, 0, 0], [INF, 2.0, 1.0, 0.0, -INF, -INF], cost_fp=1, cost_fn=1, n_resamples=20)
    assert cut.threshold == 0.0


@pytest.mark.parametrize(
    "call",
    [
        lambda name: cl.evaluate(Y, P, measures=[name]),
        lambda name: cl.evaluate(Y, P, measures=[name], batch=[0, 1] * 3, quota=1),
        lambda name: cl.evaluate(Y, P, by=[0, 1] * 3, measures=[name]).segments,
    ],
)
def test_measures_of_score_matrices_are_refused_for_one_score(call: Any) -> None:
    with pytest.raises(InputError, match="does not read one score for each case"):
        call("mean_average_precision")


@pytest.mark.parametrize("scores", [[1.7e308, -1.7e308, 0.0, 1.0], [5e-324, 0.0, 5e-324, 0.0], [1e308] * 4])
def test_the_histogram_holds_every_case_of_the_widest_and_narrowest_scores(scores: list[float]) -> None:
    from cutline.present.figures import score_histogram

    rows = score_histogram(cl.evaluate([1, 0, 1, 0], scores, measures=["roc_auc"])).to_dicts()
    assert sum(row["positives"] for row in rows) == sum(row["negatives"] for row in rows) == 2


def test_chances_of_nearly_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="inclusion: row 0 is 1e-300"):
        cl.evaluate([1, 0, 1, None, 0, 1], P, inclusion=[1e-300] * 6)


def test_differences_of_numbers_too_large_to_square() -> None:
    from cutline.inference.limits import mover_limits

    terms = (3.0, cl.results.Interval(1.0, 4.0)), (2.0, cl.results.Interval(1.5, 4.0))
    low, high = mover_limits(*terms)
    large = mover_limits(*((1e300 * value, cl.results.Interval(1e300 * a, 1e300 * b)) for value, (a, b) in terms))
    assert [low, high] == pytest.approx([1.0 - 8.0**0.5, 1.0 + 1.25**0.5])
    assert large == pytest.approx((1e300 * low, 1e300 * high))


@pytest.mark.parametrize("key", ["by", "batch", "clusters"])
def test_rows_of_many_row_groups_keep_their_segment(key: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names = np.array(["one", "two", "three"])[rng.integers(0, 3, 400)]
    # every score is its own, and a row of weight 0 or without a label makes the others move up
    table = {"y": rng.integers(0, 2, 400), "p": rng.random(400), "w": rng.integers(0, 2, 400), "g": names}
    options: Any = {"label": "y", "score": "p", "weight": "w", key: "g", "n_resamples": 20, "measures": ["hit_rate@3"]}
    options["name"] = "m"
    expected = cl.evaluate(table, **options).to_dict()
    pyarrow.parquet.write_table(pyarrow.table(table), tmp_path / "t.parquet", row_group_size=2)
    for _ in range(5):  # the order of threads changes
        found = cl.evaluate(tmp_path / "t.parquet", stream=False, threads=4, **options).to_dict()
        assert found == expected


@pytest.mark.parametrize("encoding", ["base64", "zlib", "rot13", "hex", "a\0b"])
def test_encodings_that_make_no_text_are_refused(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("y,p\n1,0.5\n0,0.2\n")
    with pytest.raises(InputError, match=r"encoding is .* which is unknown"):
        cl.doctor(path, encoding=encoding)


def test_devices_sockets_and_links_to_themselves_are_refused(tmp_path: Path) -> None:
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match=r"loop\.csv cannot be read"):
        cl.evaluate(loop, label="y", score="p")
    if os.path.exists("/dev/zero"):
        with pytest.raises(InputError, match="zero is a device"):
            cl.evaluate("/dev/zero", label="y", score="p")
        with pytest.raises(InputError, match="is not a cut file"):
            cl.Cut.load("/dev/zero")


def test_scores_whose_sum_is_no_number_have_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("y,p\n" + "1,1e308\n0,1e308\n1,-1e308\n0,-1e308\n1,-1e308\n" * 3)
    for stream in (False, True):
        assert cl.evaluate(path, label="y", score="p", measures=["roc_auc"], stream=stream)["roc_auc"].value < 0.5


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("how", [{}, {"batch": [0, 0, 0, 1, 1, 1] * 4}, {"interval": "bootstrap", "n_resamples": 50}])
def test_scores_too_large_to_add_up_have_ranks_but_no_losses(how: Any) -> None:
    y, small = np.array([1, 0, 1, 0, 0, 1] * 4), np.random.default_rng(0).normal(size=24)
    for scale in (2.0**400, 2.0**1020):
        ev = cl.evaluate(y, small * scale, quota=3, **how)
        assert "beyond ±1e100" in ev["hinge_loss"].reason
        assert ev["roc_auc"] == cl.evaluate(y, small, quota=3, **how)["roc_auc"]
        found, expected = (e["quota_pearson@3"].value for e in (ev, cl.evaluate(y, small, quota=3, **how)))
        assert found == pytest.approx(expected, rel=1e-9)
    assert cl.evaluate(y, small * 1e99, **how)["hinge_loss"].value > 1e97
    with pytest.raises(InputError, match="beyond ±1e100"):
        cl.hinge_loss(y, small * 1e101)

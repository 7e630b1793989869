"""Answers that must not say more than was seen: nothing tested, nobody ahead, no value, nothing to be unsure of."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import cutline as cl
from cutline.extrapolation import extrapolate

RNG = np.random.default_rng(11)
Y = RNG.random(120) < 0.3
GOOD = Y + RNG.normal(size=120)
POOR = 0.3 * Y + RNG.normal(size=120)


def test_without_intervals_nothing_is_said_to_be_tested() -> None:
    said = cl.compare(Y, {"good": GOOD, "poor": POOR}, interval=None).recommend("unknown quota")
    assert not said.sure
    assert "differences are not tested without intervals" in said.text
    assert "chance" not in said.text.split("Why")[0]


def test_a_model_without_a_value_is_named_not_beaten() -> None:
    cmp = cl.compare(Y, {"p": np.clip(0.3 + 0.3 * Y, 0, 1), "id": np.arange(120.0)}, n_resamples=50)
    said = cmp.recommend("probabilities needed")
    assert said.model == "p"
    assert not said.sure
    assert "no other model has a value for this measure (id)" in said.text


def test_models_that_are_level_are_said_to_be_level() -> None:
    said = cl.compare(Y, {"a": GOOD, "b": 2 * GOOD}, quota=20, n_resamples=50).recommend("known quota")
    assert "tied with b" in said.text
    assert "ahead" not in said.text


def test_a_frame_is_one_model_in_each_column() -> None:
    frame = pd.DataFrame({"good": GOOD, "poor": POOR})
    cmp = cl.compare(Y, frame, n_resamples=50)
    assert list(cmp.evaluations) == ["good", "poor"]
    assert cmp["good"]["roc_auc"].value == cl.roc_auc(Y, GOOD)


@pytest.mark.parametrize("name", ["qrecall", "quota_lift", "hit_rate"])
def test_a_place_for_everybody_leaves_nothing_to_chance(name: str) -> None:
    estimate = cl.evaluate(Y, GOOD, quota=len(Y), n_resamples=50)[name]
    if name == "hit_rate":  # the share of positives itself is still a sample's
        assert estimate.low < estimate.value < estimate.high
    else:
        assert (estimate.value, estimate.low, estimate.high) == (1, 1, 1)


@pytest.mark.parametrize("call", [cl.evaluate, lambda y, s, **o: cl.compare(y, {"a": s}, **o)])
def test_a_quota_beyond_the_cases_is_refused(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(cl.InputError, match=r"quota is 70; it must be from 1 to the number of cases, 60"):
        call(Y, GOOD, quota=70, sample_weight=np.full(120, 0.5))


def test_class_names_are_not_matched_to_columns_by_guess() -> None:
    scores = RNG.normal(size=(6, 6)) + 3 * np.eye(6)
    names = ["n2", "n10", "n1", "n0", "n3", "n4"]
    with pytest.raises(cl.InputError, match=r"^labels: row 0 is 'n2'.*classes=…"):
        extrapolate(scores, names, k=[12], interval=False)
    seen = extrapolate(scores, names, classes=names, k=[12], interval=False).observed.test_accuracy
    assert float(seen) == float(extrapolate(scores, np.arange(6), k=[12], interval=False).observed.test_accuracy)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"polars.*frames"):
        cl.lift_table(Y, GOOD, portions=4).to_polars()


@pytest.mark.parametrize("label", [True, False])
def test_one_class_compares_without_a_word_of_warning(label: bool) -> None:
    models = {"a": GOOD[:20], "b": POOR[:20]}
    cmp = cl.compare(np.full(20, label), models, quota=5, threshold=0, n_resamples=20)
    rows = {row["measure"]: row for row in cmp.differences}
    assert np.isnan(rows["roc_auc"]["difference"])
    assert not np.isnan(cmp.difference("a", "b", "accuracy")["difference"])

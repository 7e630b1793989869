"""Labels of some rows only: audits by known chances, and which rows to label for them."""

from __future__ import annotations

import copy
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner

import cutline as cl
from cutline.catalogue.declare import parse_measure
from cutline.commands.group import cli
from cutline.inference.known_labels import mass_influence
from cutline.ranking import Ranking

MEASURES = ["hit_rate@100", "qrecall@100", "roc_auc", "precision(threshold=1)", "recall(threshold=1)"]


def world(n: int, seed: int, share: float = 0.05, gap: float = 1.35) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    return y, rng.normal(size=n) + gap * y


def hide(y: np.ndarray, known: np.ndarray) -> np.ndarray:
    return np.where(known, y, np.nan)


def strata(s: np.ndarray) -> np.ndarray:
    """More chances for better scores."""
    return np.array([0.05, 0.15, 0.6])[np.searchsorted(np.quantile(s, [0.7, 0.95]), s)]


def test_with_all_labels_it_is_the_evaluation_itself() -> None:
    y, s = world(300, 1, share=0.3)
    real = cl.evaluate(y, s, quota=50, threshold=1.0, interval=None)
    ev = cl.evaluate(y, s, inclusion=1.0, quota=50, threshold=1.0)
    for key in real:
        if key.startswith("quota_pearson"):
            continue
        assert ev[key].value == pytest.approx(real[key].value, nan_ok=True), key
        assert ev[key].low == ev[key].high or np.isnan(ev[key].low), key
    assert ev["roc_auc"].method == "known"


def test_a_measure_is_the_same_whatever_else_is_asked() -> None:
    y, s = world(2000, 22, share=0.1)
    chance = strata(s)
    label = hide(y, np.random.default_rng(3).random(2000) < chance)
    names = ["roc_auc", "average_precision", "hit_rate@100", "qrecall@300", "hit_rate@20-60", "recall(threshold=1)"]
    how = {"inclusion": chance}
    every = cl.evaluate(label, s, measures=[*names, "precision(threshold=0.3)", "qrecall@700"], **how)
    for name in names:
        one = cl.evaluate(label, s, measures=[name], **how)[name]
        assert (one.value, one.low, one.high) == (every[name].value, every[name].low, every[name].high), name
    alone = cl.evaluate(label, s, measures=["hit_rate@100"], **how)
    for cut in ({"quota": 100}, {"threshold": 1.0}):
        one, other = alone.at(**cut), every.at(**cut)
        assert (one.tp, one.fp, one.expected_hits) == (other.tp, other.fp, other.expected_hits)
    assert every.at(quota=100).hit_rate == pytest.approx(every["hit_rate@100"].value)
    assert every.at(threshold=1.0).recall == pytest.approx(every["recall(threshold=1)"].value)


@pytest.mark.parametrize("design", ["strata", "acted on"])
def test_intervals_hold_the_value_of_the_whole_list(design: str) -> None:
    held, runs = dict.fromkeys(MEASURES, 0), 20
    for k in range(runs):
        y, s = world(1500, 100 + k, share=0.1)
        chance = strata(s) if design == "strata" else np.where(s >= np.sort(s)[-100], 1.0, 0.1)
        known = np.random.default_rng(k).random(len(s)) < chance
        ev = cl.evaluate(hide(y, known), s, inclusion=chance, measures=MEASURES)
        for key, value in cl.evaluate(y, s, measures=MEASURES, interval=None).estimates.items():
            held[key] += ev[key].low - 1e-9 <= value.value <= ev[key].high + 1e-9
    assert all(n >= 0.85 * runs for n in held.values()), held
    if design == "acted on":
        assert ev["hit_rate@100"].method == "known"


def test_scores_of_unlabelled_rows_help() -> None:
    errors: dict[str, list[float]] = {"assisted": [], "labelled rows alone": []}
    for k in range(25):
        y, s = world(4000, 300 + k, share=0.03)
        known = np.random.default_rng(k).random(len(s)) < 0.08
        truth, top = cl.qrecall(y, s, quota=200), s >= np.sort(s)[-200]
        ev = cl.evaluate(hide(y, known), s, inclusion=0.08, measures=["qrecall@200"])
        errors["assisted"].append(ev["qrecall@200"].value - truth)
        errors["labelled rows alone"].append((y & known & top).sum() / (y & known).sum() - truth)
    rmse = {kind: np.sqrt(np.mean(np.square(found))) for kind, found in errors.items()}
    assert rmse["assisted"] < 0.9 * rmse["labelled rows alone"], rmse


def test_labels_of_every_kind_are_read_by_the_one_rule() -> None:
    y, s = world(400, 5, share=0.3)
    chance = strata(s)
    known = np.random.default_rng(1).random(400) < chance
    numbers = hide(y, known)
    words = [None if not k else "yes" if v else "no" for v, k in zip(y, known, strict=True)]
    truths = [None if not k else bool(v) for v, k in zip(y, known, strict=True)]
    expected = cl.evaluate(numbers, s, inclusion=chance, measures=["hit_rate@40"])["hit_rate@40"]
    plain = [
        numbers,
        list(numbers),
        truths,
        pd.Series(numbers),
        pd.Series(numbers).astype("Int64"),
        pl.Series(truths),
        pa.array(truths),
    ]
    for label in plain:
        assert cl.evaluate(label, s, inclusion=chance, measures=["hit_rate@40"])["hit_rate@40"] == expected
    for label in (
        words,
        pd.Series(words),
        pl.Series(words),
        pd.Index(words),
        pa.array(words),
        pa.array(words).dictionary_encode(),
    ):
        found = cl.evaluate(label, s, inclusion=chance, measures=["hit_rate@40"], pos_label="yes")
        assert found["hit_rate@40"] == expected
    with pytest.raises(cl.InputError, match="label"):
        cl.evaluate(words, s, inclusion=chance)


def test_what_cannot_be_known_is_refused_and_what_can_is_told() -> None:
    y, s = world(500, 6, share=0.2)
    chance = np.where(s >= np.sort(s)[-50], 1.0, 0.0)
    label = hide(y, chance == 1.0)
    for measures in (None, ["roc_auc"], ["qrecall@50"], ["hit_rate@51"]):
        with pytest.raises(cl.InputError, match="up to 50 places") as refused:
            cl.evaluate(label, s, inclusion=chance, measures=measures)
        assert "hit_rate@50" in str(refused.value)
    ev = cl.evaluate(label, s, inclusion=chance, measures=["hit_rate@50", "hit_rate@20"])
    assert ev["hit_rate@20"].value == cl.hit_rate(y, s, quota=20)
    above = float(np.sort(s)[-20])
    assert cl.evaluate(label, s, inclusion=chance, measures=[f"precision(threshold={above})"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"inclusion": 2.0}, "inclusion"),
        ({"inclusion": np.full(100, 1.5)}, "1 / weight"),
        ({"inclusion": np.zeros(100)}, "has a label"),
        ({"inclusion": 1.0}, "no label"),
        ({"inclusion": [0.5, 0.5]}, "2 rows"),
        ({"y_true": [None] * 100}, "no label"),
        ({"y_true": [1, None]}, "2 rows"),
        ({"y_true": 1}, "type int"),
        ({"y_true": np.ones((100, 2))}, "one column"),
        ({"interval": "wilson"}, "interval"),
    ],
)
def test_refuses_what_is_no_audit(change: dict[str, object], said: str) -> None:
    y, s = world(100, 7, share=0.4)
    given = {"y_true": hide(y, np.arange(100) % 2 == 0), "inclusion": 0.5, **change}
    with pytest.raises(cl.InputError, match=said):
        cl.evaluate(y_score=s, **given)


def test_an_audit_is_an_evaluation(tmp_path) -> None:
    y, s = world(600, 8, share=0.2)
    chance, s = strata(s), 1.0 / (1.0 + np.exp(-s))
    ev = cl.evaluate(hide(y, np.random.default_rng(2).random(600) < chance), s, inclusion=chance, quota=60)
    point = ev.at(quota=60)
    assert point.expected_hits.low <= point.tp <= point.expected_hits.high
    assert point.next_hits.width >= point.expected_hits.interval.width - 1
    assert point.hit_rate == pytest.approx(ev["hit_rate"].value)
    assert pickle.loads(pickle.dumps(ev)).at(quota=60) == point
    assert copy.deepcopy(ev)["roc_auc"] == ev["roc_auc"]
    assert json.loads(ev.to_json())["data"]["labelled"] == ev.facts["labelled"]
    assert "labelled" in repr(ev)
    assert len(ev.curve("roc").x)
    page = ev.to_html(tmp_path / "audit.html").read_text(encoding="utf-8")
    assert "of them labelled" in page
    assert "Are the probabilities right" not in page
    for refused in (ev.calibration, lambda: ev.sample):
        with pytest.raises(cl.InputError):
            refused()


def test_counts_of_an_audit_are_told_as_estimates() -> None:
    y, s = world(2000, 8, share=0.2)
    chance = np.full(2000, 0.2)
    ev = cl.evaluate(hide(y, np.random.default_rng(2).random(2000) < chance), s, inclusion=chance, quota=300)
    point = ev.at(quota=300)
    found, positives, negatives = (f"{round(cases):,}" for cases in (point.tp, point.tp + point.fn, point.fp))
    assert f"finds an estimated {found} of {positives} positives" in repr(ev)
    assert f"{found} TP" in repr(ev)
    assert f"{negatives} FP" in repr(ev)
    assert "; counts are estimates" in repr(ev)
    assert f"an estimated {found} of {positives} positives" in ev.plot("found").get_title(loc="left")
    looked_up = chance.copy()
    looked_up[np.argsort(-s)[:300]] = 1.0  # all labels at these places
    ev = cl.evaluate(hide(y, np.random.default_rng(2).random(2000) < looked_up), s, inclusion=looked_up, quota=300)
    assert f"finds {y[np.argsort(-s)[:300]].sum()} of an estimated " in repr(ev)


def test_tiny_lists_and_infinite_values_make_no_noise() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(cl.evaluate([None, 1], [0.1, 0.9], inclusion=0.5)["roc_auc"].value)
        y, s = world(60, 13, share=0.4)
        ev = cl.evaluate(y, np.where(s > 1, np.inf, s), inclusion=1.0, threshold=5.0, quota=10)
        assert ev["hit_rate"].method == "known"


def test_says_when_the_probabilities_do_not_fit_the_labels() -> None:
    y, s = world(1000, 14, share=0.3)
    label = hide(y, np.arange(1000) < 500)
    assert any("probabilities of being labelled" in said for said in cl.evaluate(label, s, inclusion=0.05).notices)
    assert not cl.evaluate(label, s, inclusion=0.5, threshold=1.0).notices


def test_derivatives_are_those_of_the_measures() -> None:
    rng = np.random.default_rng(3)
    pos = rng.random(30)
    ranking = Ranking(np.linspace(1, 0, 30), pos, 1.0 - pos, 30, True)
    names = ["hit_rate@10", "f1", "roc_auc", "brier_score", "average_precision", "hit_rate@5-9"]
    specs = [parse_measure(name) for name in names]
    found = mass_influence(specs, ranking)
    from cutline.catalogue.compute import compute

    for spec in specs:
        for at in (0, 7, 20):
            ends = []
            for step in (-1e-5, 1e-5):
                moved = pos.copy()
                moved[at] += step
                ends.append(compute([spec], Ranking(ranking.score, moved, 1.0 - moved, 30, True)).values[spec])
            effect = found[spec][at]
            assert effect == pytest.approx((ends[1] - ends[0]) / 2e-5, rel=0.02, abs=1e-6), (str(spec), at)


def test_a_plan_draws_by_its_chances() -> None:
    _, s = world(3000, 9, share=0.02)
    plans = [cl.label_plan(s, budget=150, measure="qrecall@100", seed=seed) for seed in range(60)]
    assert all(len(plan.rows) == len(set(plan.rows.tolist())) == 150 for plan in plans)
    inclusion = plans[0].inclusion
    assert inclusion.sum() == pytest.approx(150)
    assert inclusion.min() > 0
    drawn = np.bincount(np.concatenate([plan.rows for plan in plans]), minlength=3000) / 60
    top = np.argsort(-s)[:100]
    assert drawn[top].mean() == pytest.approx(inclusion[top].mean(), rel=0.1)
    assert inclusion[top].mean() > 5 * inclusion.mean()
    assert np.array_equal(plans[3].rows, cl.label_plan(s, budget=150, measure="qrecall@100", seed=3).rows)
    cubed = cl.label_plan(s**3, budget=150, measure="qrecall@100", seed=3)
    assert np.array_equal(cubed.rows, plans[3].rows)  # only the order of the scores counts
    assert plans[0].standard_error < plans[0].simple_random_error
    assert "standard error" in repr(plans[0])
    assert len(plans[0].to_pandas()) == 150
    assert len(json.loads(plans[0].to_json())["rows"]) == 150


def test_planned_labels_beat_those_drawn_evenly() -> None:
    gaps: dict[str, list[float]] = {"planned": [], "even": []}
    held = 0
    for k in range(15):
        y, s = world(10_000, 400 + k, share=0.02)
        truth = cl.qrecall(y, s, quota=200)
        plan = cl.label_plan(s, budget=300, measure="qrecall@200", seed=k)
        known = np.zeros(len(y), np.bool_)
        known[plan.rows] = True
        found = cl.evaluate(hide(y, known), s, inclusion=plan.inclusion, measures=["qrecall@200"])["qrecall@200"]
        gaps["planned"].append(found.value - truth)
        held += found.low <= truth <= found.high
        few = np.random.default_rng(k).choice(len(y), 300, replace=False)
        at = np.isin(few, np.argsort(-s)[:200])
        gaps["even"].append((at & y[few]).sum() / max(y[few].sum(), 1) - truth)
    rmse = {kind: float(np.sqrt(np.mean(np.square(found)))) for kind, found in gaps.items()}
    assert rmse["planned"] < 0.6 * rmse["even"], rmse
    assert held >= 12


@pytest.mark.parametrize(
    "measure", ["roc_auc", "hit_rate@50", "precision", "accuracy", "brier_score", "hit_rate@20-60"]
)
def test_plans_for_other_measures(measure: str) -> None:
    rng = np.random.default_rng(1)
    p = rng.beta(1, 8, 2000)
    plan = cl.label_plan(p, budget=100, measure=measure)
    assert len(plan.rows) == 100
    assert plan.standard_error <= plan.simple_random_error * 1.02


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"budget": 0}, "budget"),
        ({"budget": 2.5}, "budget"),
        ({"budget": 101}, "100 rows"),
        ({"measure": "nonsense"}, "measure"),
        ({"measure": "hit_rate"}, "quota"),
        ({"measure": "hit_rate@200"}, "quota"),
        ({"measure": "precision"}, "threshold"),
        ({"measure": "brier_score"}, "probabilities"),
        ({"measure": "quota_pearson@10"}, "planned"),
        ({"measure": "mean_average_precision"}, "measure"),
        ({"measure": "roc_auc(ties='best')"}, "ties"),
        ({"prevalence": 1.0}, "prevalence"),
        ({"seed": -1}, "seed"),
    ],
)
def test_refuses_what_cannot_be_planned(change: dict[str, object], said: str) -> None:
    _, s = world(100, 11)
    with pytest.raises(cl.InputError, match=said):
        cl.label_plan(s, **{"budget": 10, "measure": "roc_auc", **change})


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_command_line_plans_and_audits(tmp_path, ending: str) -> None:
    y, s = world(800, 12, share=0.2)
    file, planned = tmp_path / "scores.csv", tmp_path / f"to_label.{ending}"
    pd.DataFrame({"id": np.arange(800), "p": s, "inclusion": "x"}).to_csv(file, index=False)
    given = ["label-plan", str(file), "--score", "p", "--budget", "120", "--measure", "qrecall@80", "-o", str(planned)]
    done = CliRunner().invoke(cli, given)
    assert done.exit_code == 0, done.output
    assert "standard error" in done.stdout
    found = pd.read_csv(planned) if ending == "csv" else pd.read_parquet(planned)
    assert list(found.columns[:2]) == ["to_label", "inclusion_"]
    assert found["to_label"].sum() == 120
    assert list(found["id"].astype(int)) == list(range(800))
    found["y"] = np.where(found["to_label"] == 1, np.where(y, "yes", "no"), None)
    labelled = tmp_path / "labelled.csv"
    found.to_csv(labelled, index=False)
    base = ["evaluate", str(labelled), "--label", "y", "--positive", "yes", "--score", "p", "--inclusion", "inclusion_"]
    done = CliRunner().invoke(cli, [*base, "--quota", "80", "--format", "json", "--measure", "qrecall"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    label = np.where(found["to_label"] == 1, y, np.nan)
    expected = cl.evaluate(label, s, inclusion=found["inclusion_"], measures=["qrecall@80"])["qrecall@80"]
    (row,) = document["measures"]
    assert (row["value"], row["low"]) == (pytest.approx(expected.value), pytest.approx(expected.low))
    assert document["labelled"] == 120
    table = CliRunner().invoke(cli, [*base, "--quota", "80"])
    assert "120 of them labelled" in table.stdout
    wrong = CliRunner().invoke(cli, [*base[:-1], "nothing"])
    assert (wrong.exit_code, "nothing" in wrong.output) == (2, True)


def test_weights_of_thinned_negatives_agree_with_the_whole_list() -> None:
    gaps, held, runs = [], 0, 40
    for k in range(runs):
        y, s = world(20_000, 500 + k, share=0.03)
        kept = y | (np.random.default_rng(k).random(len(y)) < 1 / 40)
        weight = np.where(y, 1.0, 40.0)[kept]
        found = cl.evaluate(y[kept], s[kept], sample_weight=weight, measures=["hit_rate@500"])["hit_rate@500"]
        full = cl.hit_rate(y, s, quota=500)
        gaps.append(found.value - full)
        held += found.low <= full <= found.high
    assert abs(np.mean(gaps)) < 0.02
    assert held >= 0.88 * runs


def test_intervals_keep_to_what_the_known_labels_allow() -> None:
    score = np.arange(400.0)[::-1]
    certain, drawn = np.arange(10), np.arange(10, 400, 8)
    inclusion = np.full(400, 1 / 8)
    inclusion[certain] = 1.0
    label = np.full(400, np.nan)
    label[drawn] = drawn < 60
    label[certain] = certain >= 3  # three of the first ten are negative, for sure
    how = {"inclusion": inclusion, "measures": ["hit_rate@20", "recall(threshold=360)"]}
    ev = cl.evaluate(label, score, **how)
    assert ev["hit_rate@20"].high == pytest.approx(17 / 20)  # all drawn ones are positive, so the others may be, too
    assert 9 / 20 <= ev["hit_rate@20"].low < 17 / 20  # nine are known to be
    assert ev["recall(threshold=360)"].high < 1.0  # positives are known below
    label[drawn] = drawn < 20
    assert cl.evaluate(label, score, **how)["recall(threshold=360)"].high == 1.0
    label[drawn] = 0.0
    none = cl.evaluate(label, score, **how)["hit_rate@20"]
    assert none.low == pytest.approx(7 / 20)
    assert none.high <= 15 / 20


def test_intervals_of_a_very_good_model_hold_and_say_something() -> None:
    """Some five labelled positives, all at the top: neither a curve too flat nor an interval of length 1."""
    rng = np.random.default_rng(51)
    held, length = [], []
    for _ in range(30):
        y = rng.random(4000) < 0.02
        s = rng.normal(size=4000) + 3.5 * y
        known = rng.random(4000) < 0.05
        if not y[known].any():
            continue
        label = np.where(known, y, np.nan)
        names = ["average_precision", "roc_auc"]
        ev = cl.evaluate(label, s, inclusion=0.05, measures=names)
        truth = cl.evaluate(y, s, measures=names, interval=None)
        held.append([ev[m].low <= truth[m].value <= ev[m].high for m in names])
        length.append(ev["roc_auc"].high - ev["roc_auc"].low)
    assert np.mean(held, axis=0).min() >= 0.85
    assert np.mean(length) < 0.65

"""Another share of positives than the sample's: values by definition, what moves, intervals, and every door."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest
from click.testing import CliRunner

import cutline as cl
from cutline.catalogue.declare import REQUIRED, make_spec
from cutline.catalogue.declare import measures as catalogue
from cutline.commands.group import cli
from cutline.inference.evidence import moves


def sample(n: int = 400, share: float = 0.3, seed: int = 0, gap: float = 1.3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    return y, 1.0 / (1.0 + np.exp(-(rng.normal(size=n) + gap * y - 1.0)))


def specs_of_catalogue() -> list[str]:
    names = []
    for one in catalogue():
        if not one.of_one_score or REQUIRED in one.params.values():
            continue
        names.append(f"{one.name}@25%" if one.needs_quota else one.name)
    return names


def test_values_are_those_of_a_sample_with_that_share() -> None:
    """Positives once and negatives six times: the share of positives is that of the longer list."""
    y, p = sample(120)
    once, more = np.flatnonzero(y), np.repeat(np.flatnonzero(~y), 6)
    rows = np.concatenate([once, more])
    share = len(once) / len(rows)
    measures = [name for name in specs_of_catalogue() if not cl.measure(name.partition("@")[0]).extensive]
    there = cl.evaluate(y, p, measures=measures, prevalence=share, interval=None)
    real = cl.evaluate(y[rows], p[rows], measures=measures, interval=None)
    # with weights that add up to the longer list, each row stands for as many cases as there: all values are equal
    weight = np.full(len(y), len(rows) / len(y))
    as_long = cl.evaluate(y, p, measures=measures, prevalence=share, interval=None, sample_weight=weight)
    for key in there:
        assert as_long[key].value == pytest.approx(real[key].value, rel=1e-9, nan_ok=True), key
        if key in ("calibration_error", "ndcg"):
            continue  # the noise taken off and the discount of a place depend on how many cases there are
        by_place = there.specs[key].measure.part == "places" or key == "taks"  # a longer list has finer places
        tolerance = 0.03 if by_place else 1e-9
        assert there[key].value == pytest.approx(real[key].value, rel=tolerance, nan_ok=True), key


def test_what_moves_is_what_changes() -> None:
    y, p = sample(300, seed=3)
    y[np.argmax(p)] = False  # with a positive at the first place the reciprocal rank is 1 for any share
    measures = specs_of_catalogue()
    plain = cl.evaluate(y, p, measures=measures, interval=None)
    there = cl.evaluate(y, p, measures=measures, interval=None, prevalence=0.01)
    for key in there:
        same = there[key].value == pytest.approx(plain[key].value, rel=1e-9)
        assert same != (key in there.moved), key
    assert {"recall", "roc_auc", "specificity", "ks_statistic"}.isdisjoint(there.moved)
    assert {"precision", "brier_score", "hit_rate@25%", "quota_lift@25%"} <= set(there.moved)
    assert moves(make_spec(cl.measure("f_beta"), {"beta": 2.0}))


def test_what_does_not_move_keeps_its_interval() -> None:
    y, p = sample()
    plain = cl.evaluate(y, p, n_resamples=50, quota=40)
    there = cl.evaluate(y, p, n_resamples=50, quota=40, prevalence=0.02)
    for key in set(there) - set(there.moved):
        a, b = plain[key], there[key]
        assert (a.low, a.high, a.method) == (b.low, b.high, b.method) or math.isnan(a.low), key
    rows = {row["measure"]: row["moved_by_prevalence"] for row in there.to_dicts()}
    assert rows["recall"] is False
    assert rows["precision"] is True
    document = json.loads(there.to_json())
    assert document["prevalence"] == 0.02
    assert "prevalence of 2%" in repr(there)


def test_intervals_hold_with_the_classes_given() -> None:
    share, at = 0.05, 0.1
    rng = np.random.default_rng(11)
    big = rng.random(400_000) < share
    scores = rng.normal(size=len(big)) + 1.3 * big
    taken = scores >= np.quantile(scores, 1 - at)
    truth = {"hit_rate@10%": big[taken].mean(), "precision(threshold=1)": big[scores > 1].mean()}
    held = dict.fromkeys(truth, 0)
    runs = 120
    for _ in range(runs):
        y = np.arange(400) < 120
        s = rng.normal(size=400) + 1.3 * y
        ev = cl.evaluate(y, s, measures=list(truth), prevalence=share, n_resamples=120)
        for key, value in truth.items():
            held[key] += ev[key].low <= value <= ev[key].high
    assert all(0.89 <= n / runs <= 0.995 for n in held.values()), held


@pytest.mark.parametrize(
    ("n_pos", "n_neg", "share", "gap"), [(50, 50, 0.01, 1.5), (9, 44, 0.02, 2.0), (100, 100, 0.001, 2.0)]
)
def test_a_rare_class_there_does_not_make_few_cases_of_many_here(
    n_pos: int, n_neg: int, share: float, gap: float
) -> None:
    """Only recall and FPR vary: precision lies between those of likely rates, neither missed nor anywhere in [0, 1]."""
    cut, rng = 1.2, np.random.default_rng(12)
    recall, false = (0.5 * math.erfc((cut - mean) / math.sqrt(2)) for mean in (gap, 0.0))
    here = share * recall / (share * recall + (1 - share) * false)
    truth = {"precision": here, "lift": here / share, "accuracy": share * recall + (1 - share) * (1 - false)}
    held, ratios, runs = dict.fromkeys(truth, 0), [], 150
    y = np.arange(n_pos + n_neg) < n_pos
    for _ in range(runs):
        ev = cl.evaluate(y, rng.normal(y * gap), measures=list(truth), prevalence=share, threshold=cut)
        for key, value in truth.items():
            held[key] += ev[key].low <= value <= ev[key].high
        assert ev["precision"].method == "rates"
        ratios.append(ev["precision"].high / max(ev["precision"].low, 1e-9))
    assert all(n / runs >= 0.9 for n in held.values()), held
    assert np.median(ratios) < 14


def test_negatives_that_the_sample_has_not_seen_lower_the_average_precision_elsewhere() -> None:
    """At 0.1% the best of a thousand negatives decides it, and a sample of a hundred does not contain that one."""
    rng, y, share = np.random.default_rng(13), np.arange(200) < 100, 0.001
    edges = np.linspace(-6.0, 9.0, 30_001)
    above, false = (np.array([0.5 * math.erfc((x - m) / math.sqrt(2)) for x in edges]) for m in (2.0, 0.0))
    precision = share * above / (share * above + (1 - share) * false)
    truth = float((-np.diff(above) * (precision[1:] + precision[:-1]) / 2).sum())
    for _ in range(20):
        e = cl.evaluate(y, rng.normal(y * 2.0), prevalence=share, measures=["average_precision"])["average_precision"]
        assert e.low <= truth <= e.high


def test_cuts_and_comparisons_take_it() -> None:
    y, p = sample(600)
    ev, known = (cl.evaluate(y, p, n_resamples=50, prevalence=share) for share in (None, 0.05))
    there = known.at(quota=60)
    assert there.hit_rate == pytest.approx(
        cl.evaluate(y, p, measures=["hit_rate@60"], prevalence=0.05)["hit_rate@60"].value
    )
    assert known.at(recall=0.5).recall == pytest.approx(ev.at(recall=0.5).recall)
    other = np.clip(p + np.random.default_rng(5).normal(size=600) * 0.2, 0, 1)
    asked = {
        "quota": 60,
        "n_resamples": 60,
        "measures": ["roc_auc", "hit_rate", "precision", "brier_score", "accuracy"],
    }
    plain = cl.compare(y, {"a": p, "b": other}, **asked)
    moved = cl.compare(y, {"a": p, "b": other}, **asked, prevalence=0.05)
    assert moved.difference("a", "b", "roc_auc")["low"] == plain.difference("a", "b", "roc_auc")["low"]
    for key in ("hit_rate@60", "precision", "brier_score", "accuracy"):
        expected = moved["a"][key].value - moved["b"][key].value
        found = moved.difference("a", "b", key)
        assert found["difference"] == pytest.approx(expected)
        assert found["low"] < expected < found["high"]
    one = moved.difference("a", "b", "precision")
    assert moved.dominance("quota")
    assert json.loads(moved.to_json())["prevalence"] == 0.05
    with pytest.raises(cl.InputError, match="prevalence"):
        moved.swaps("a", "b")
    copied = pickle.loads(pickle.dumps(moved))
    assert copied["a"].at(quota=60) == moved["a"].at(quota=60)
    assert copied.difference("a", "b", "precision")["p_value"] == one["p_value"]


def test_weights_are_honoured() -> None:
    y, p = sample(200)
    weight = np.where(p > 0.5, 2.0, 1.0)
    rows = np.repeat(np.arange(200), weight.astype(int))
    weighted = cl.evaluate(y, p, sample_weight=weight, measures=["precision", "recall"], prevalence=0.1, interval=None)
    repeated = cl.evaluate(y[rows], p[rows], measures=["precision", "recall"], prevalence=0.1, interval=None)
    assert weighted["precision"].value == pytest.approx(repeated["precision"].value)
    assert weighted["recall"].value == pytest.approx(repeated["recall"].value)


@pytest.mark.parametrize("bad", [0, 1, -0.1, 1.5, "x", True, float("nan"), (0.1,), (0.1, -1), (0.1, 0.6), (2, 0.1)])
def test_refuses_what_is_no_prevalence(bad: object) -> None:
    with pytest.raises(cl.InputError, match="prevalence"):
        cl.evaluate([1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1], prevalence=bad)


def test_refuses_what_it_cannot_honour(tmp_path) -> None:
    y, p = sample(60)
    for options in ({"clusters": np.arange(60) // 2}, {"stratify": False}):
        with pytest.raises(cl.InputError):
            cl.evaluate(y, p, prevalence=0.1, **options)
    with pytest.raises(cl.InputError, match="both classes"):
        cl.evaluate([1, 1], [0.5, 0.6], prevalence=0.1)
    with pytest.raises(cl.InputError, match="in memory"):
        cl.evaluate({"y": y, "p": p}, label="y", score="p", prevalence=0.1, stream=True)


def test_the_command_line_takes_it(tmp_path) -> None:
    y, p = sample(200)
    file = tmp_path / "scores.csv"
    file.write_text("y,p,q\n" + "".join(f"{int(a)},{b:.6f},{1 - b:.6f}\n" for a, b in zip(y, p, strict=True)))
    base = [str(file), "--label", "y", "--resamples", "50"]
    done = CliRunner().invoke(cli, ["evaluate", *base, "--score", "p", "--prevalence", "2%", "--format", "json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    expected = cl.evaluate(y, np.round(p, 6), prevalence=0.02, interval=None)["precision"].value
    found = {row["measure"]: row for row in document["measures"]}
    assert found["precision"]["value"] == pytest.approx(expected)
    assert document["prevalence"] == 0.02
    table = CliRunner().invoke(cli, ["evaluate", *base, "--score", "p", "--prevalence", "0.02"])
    assert "prevalence of 2% (" in table.stdout
    assert "depends on the prevalence" in table.stdout
    compared = CliRunner().invoke(cli, ["compare", *base, "--score", "p", "--score", "q", "--prevalence", "0.02"])
    assert compared.exit_code == 0, compared.output
    wrong = CliRunner().invoke(cli, ["evaluate", *base, "--score", "p", "--prevalence", "often"])
    assert (wrong.exit_code, "prevalence" in wrong.output) == (2, True)

"""Estimates are made when they are read: the same numbers in every order, and no more work than what is read needs."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import cutline as cl
from cutline.errors import InputError
from cutline.inference import intervals
from cutline.inference.resampling import Resampler

NAMED = ["roc_auc", "average_precision", "f_beta(beta=2)", "f_beta(beta=2,threshold=0.7)", "gain(threshold=0.4)"]
NAMED += ["brier_skill", "ndcg@30", "hit_rate@40", "quota_lift@10%", "pr_auc_max(ties='best')", "log_loss(eps=0.01)"]
NAMED += ["average_hit_rate(ties='worst')", "pem"]


def rows(n: int) -> dict[str, Any]:
    """Labels, scores with ties, weights, clusters, batches and amounts."""
    rng = np.random.default_rng(3)
    y = (rng.random(n) < 0.3).astype(np.int64)
    p = np.round(1.0 / (1.0 + np.exp(1.5 - rng.normal(size=n) - 1.2 * y)), 3)
    columns = {"w": rng.random(n) + 0.5, "patient": rng.integers(0, n // 5, n), "day": rng.integers(0, 15, n)}
    return {"y": y, "p": p, **columns, "worth": rng.gamma(1.0, 50.0, n)}


def evaluated(kind: str, n: int, **options: Any) -> cl.results.Evaluation:
    """One evaluation of its kind, nothing of it read yet."""
    t = rows(n)
    options = {"quota": 50, "n_resamples": 60, **options}
    given = {
        "weighted": {"sample_weight": t["w"]},
        "clustered": {"clusters": t["patient"]},
        "batched": {"batch": t["day"]},
        "prevalence": {"prevalence": 0.05},
        "worth": {"worth": t["worth"]},
    }
    if kind in ("counted", "buckets"):
        p = t["p"] if kind == "counted" else np.floor(8.0 * t["p"]) / 8.0
        scores, at = np.unique(p, return_inverse=True)
        counts = {"p": scores, "pos": np.bincount(at, t["y"]).astype(int), "n": np.bincount(at)}
        counts |= {"low": scores, "high": scores + 0.125}
        columns = {"score": "p"} if kind == "counted" else {"low": "low", "high": "high"}
        return cl.evaluate(counts, positives="pos", rows="n", **columns, **options)
    return cl.evaluate(t["y"], t["p"], **given.get(kind, {}), **options)


KINDS = ["plain", "weighted", "clustered", "batched", "prevalence", "counted", "buckets", "worth"]


# 600 rows are drawn one by one, 5,000 by blocks of the ranking, which end at the thresholds of all measures
@pytest.mark.parametrize("n", [600, 5000])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("interval", ["auto", "bca"])
def test_every_order_of_reading_gives_the_same_numbers(kind: str, n: int, interval: str) -> None:
    for measures in (None, NAMED):
        if measures is not None and kind in ("batched", "buckets"):
            continue
        how = {"interval": interval, "measures": measures}
        expected = repr(evaluated(kind, n, **how).estimates)
        keys = list(evaluated(kind, n, **how).specs)
        for seed in range(2):
            order, ev = np.random.default_rng(seed).permutation(keys).tolist(), evaluated(kind, n, **how)
            read = {key: ev[key] for key in order}
            assert repr({key: read[key] for key in keys}) == expected, (kind, measures, seed)
        ev = evaluated(kind, n, **how)
        halves = [ev.estimates[key] for key in keys[::3]], ev.estimates.values()
        assert repr(dict(zip(keys, halves[1], strict=True))) == expected
        assert [e.name for e in halves[0]] == keys[::3]


def drawing(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the passes that draw replicates."""
    passes: list[int] = []
    draw = Resampler.vectors

    def counted(resampler: Resampler, *given: Any, **how: Any) -> Any:
        passes.append(1)
        return draw(resampler, *given, **how)

    monkeypatch.setattr(Resampler, "vectors", counted)
    return passes


def estimated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The measures that are estimated, in order."""
    made: list[str] = []
    estimate = intervals.estimate

    def noted(specs: Any, *how: Any) -> Any:
        made.extend(map(str, specs))
        return estimate(specs, *how)

    monkeypatch.setattr(intervals, "estimate", noted)
    return made


def test_only_what_is_read_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made, passes = estimated(monkeypatch), drawing(monkeypatch)
    ev = evaluated("plain", 600)
    assert "roc_auc" in ev
    assert "hit_rate" in ev
    assert "no such measure" not in ev
    assert len(ev) == len(list(ev.specs)) > 40
    assert made == []
    first = ev["roc_auc"]
    assert made == ["roc_auc"]
    assert ev["roc_auc"] is first
    assert ev.notices == []
    assert made == ["roc_auc"]
    assert not passes


def test_printing_makes_what_it_shows_in_one_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    made, passes = estimated(monkeypatch), drawing(monkeypatch)
    ev = evaluated("plain", 600)
    text = str(ev)
    assert "Average precision" in text
    assert len(made) < 12
    assert len(passes) == 1
    assert str(ev) == text
    assert len(passes) == 1


def test_who_reads_all_draws_at_most_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = drawing(monkeypatch)
    evaluated("plain", 600).to_dict()
    once = len(passes)
    for names in ("specs", "estimates"):
        passes.clear()
        ev = evaluated("plain", 600)
        for key in getattr(ev, names):
            assert ev[key].name == key
        assert len(passes) <= (2 * once if names == "specs" else once)


@pytest.mark.parametrize("kind", ["plain", "clustered"])
def test_copies_pickles_and_threads_have_the_same_numbers(kind: str) -> None:
    expected = repr(evaluated(kind, 600).estimates)
    for again in (lambda ev: pickle.loads(pickle.dumps(ev)), copy.deepcopy, copy.copy):
        ev = evaluated(kind, 600)
        assert ev["average_precision"].low > 0.0
        assert repr(dict(again(ev).estimates)) == expected
    ev = evaluated(kind, 600)
    with ThreadPoolExecutor(8) as pool:
        read = dict(zip(ev.specs, pool.map(ev.__getitem__, list(ev.specs)), strict=True))
    assert repr(read) == expected
    assert ev.estimates == read


@pytest.mark.parametrize(
    ("kind", "options", "problem"),
    [
        ("plain", {"measures": ["hit_rate@5000"]}, "quota is 5000"),
        ("plain", {"measures": ["hit_rate@0.01%"]}, "less than one case"),
        ("plain", {"quota": 5000}, "quota is 5000"),
        ("batched", {"measures": ["hit_rate@0.01%"]}, "less than one case in every one of them"),
        ("batched", {"measures": ["hit_rate(quota=5,ties='best')"]}, "ties are shared in each batch"),
        ("worth", {"measures": ["value_recall@5000"]}, "quota is 5000"),
        ("plain", {"interval": "wilson", "measures": ["roc_auc", "pem"]}, "no wilson interval for this measure"),
        # precision has such an interval, but no value where nobody is taken
        ("plain", {"interval": "wilson", "measures": ["roc_auc", "precision(threshold=1)"]}, "no wilson interval"),
        ("clustered", {"interval": "delong"}, "no delong interval for this measure of weighted, clustered"),
    ],
)
def test_what_cannot_be_honoured_is_told_at_the_call(kind: str, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        evaluated(kind, 600, **options)

"""Rows that belong together: every door that takes clusters, or inherits them, honours or refuses them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import cutline as cl

N, SIZE = 60, 4


def twins(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Each case four times over: labels, two models' scores, and the case that a row copies."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(N) % 3 == 0, SIZE)
    one, two = (np.repeat(ndtr(1.5 * y[::SIZE] + rng.normal(size=N) - 0.5), SIZE) for _ in range(2))
    jitter = 1e-9 * rng.normal(size=(2, N * SIZE))  # copies are not ties
    return y, np.clip(one + jitter[0], 0, 1), np.clip(two + jitter[1], 0, 1), np.repeat(np.arange(N), SIZE)


Y, A, B, CASE = twins()
HOW: dict[str, Any] = {"n_resamples": 300, "quota": 40}


def evaluated(clusters: Any) -> cl.results.Evaluation:
    return cl.evaluate(Y, A, clusters=clusters, **HOW)


def compared(clusters: Any) -> cl.results.Comparison:
    return cl.compare(Y, {"a": A, "b": B}, clusters=clusters, **HOW)


def span(low_high: Any) -> float:
    return float(low_high.high - low_high.low)


# each gives a width, or a p-value turned around, that must grow where rows are four copies of one case
DOORS: dict[str, Callable[[Any], float]] = {
    "evaluate, AUC": lambda c: span(evaluated(c)["roc_auc"]),
    "evaluate, AP": lambda c: span(evaluated(c)["average_precision"]),
    "evaluate, Brier score": lambda c: span(evaluated(c)["brier_score"]),
    "evaluate, recall": lambda c: span(evaluated(c)["recall"]),
    "evaluate, hit rate": lambda c: span(evaluated(c)["hit_rate@40"]),
    "evaluate, KS": lambda c: span(evaluated(c)["ks_statistic"]),
    "at, expected hits": lambda c: span(evaluated(c).at(quota=40).expected_hits),
    "at a threshold": lambda c: span(evaluated(c).at(threshold=0.5).expected_hits),
    "at, next hits": lambda c: span(evaluated(c).at(quota=40).next_hits),
    "band of the ROC curve": lambda c: band_width(evaluated(c), "roc"),
    "band of the gain curve": lambda c: band_width(evaluated(c), "gain"),
    "band of precision-recall": lambda c: band_width(evaluated(c), "precision_recall"),
    "decision curve": lambda c: mean_width(evaluated(c).decision_curve(x=[0.3, 0.5])),
    "compare, AUC": lambda c: span(compared(c).difference("a", "b", "roc_auc")),
    "compare, accuracy": lambda c: span(compared(c).difference("a", "b", "accuracy")),
    "compare, hit rate": lambda c: span(compared(c).difference("a", "b", "hit_rate")),
    "compare, log loss": lambda c: span(compared(c).difference("a", "b", "log_loss")),
    "compare by replicates": lambda c: span(
        cl.compare(Y, {"a": A, "b": B}, clusters=c, interval="percentile", **HOW).difference("a", "b", "roc_auc")
    ),
    "compare unpaired": lambda c: span(
        cl.compare(
            {"a": Y, "b": Y}, {"a": A, "b": B}, clusters=None if c is None else {"a": c, "b": c}, paired=False, **HOW
        ).difference("a", "b", "roc_auc")
    ),
    "cheapest": lambda c: span(compared(c).cheapest(cost_fp=1, cost_fn=2).cost),
    "plan, profit": lambda c: span(cl.plan(Y, A, cost=0.4, clusters=c, n_resamples=300).profit),
    "plan, next hits": lambda c: span(cl.plan(Y, A, cost=0.4, clusters=c, n_resamples=300).next_hits),
    "a table in memory": lambda c: span(
        cl.evaluate(
            {"y": Y.astype(int), "p": A, **({} if c is None else {"who": c})},
            label="y",
            score="p",
            clusters=None if c is None else "who",
            **HOW,
        )["roc_auc"]
    ),
}


def mean_width(rows: Any) -> float:
    table = rows.table if hasattr(rows, "table") else rows
    return float(np.mean([row["high"] - row["low"] for row in table.to_dicts() if row["low"] == row["low"]]))


def band_width(ev: cl.results.Evaluation, name: str) -> float:
    band = ev.curve(name).band(simultaneous=True)
    return float(np.nanmean(band.high - band.low))


@pytest.mark.parametrize("door", DOORS)
def test_copies_are_not_taken_for_new_cases(door: str) -> None:
    """Four copies of each case hold as much as one: about twice the width that 240 independent rows would have."""
    alone, together = DOORS[door](None), DOORS[door](CASE)
    assert together > 1.3 * alone


REFUSED: dict[str, Callable[[], Any]] = {
    "calibration": lambda: evaluated(CASE).calibration(),
    "a swap set": lambda: compared(CASE).swaps("a", "b"),
    "one list of clusters for models on rows of their own": lambda: cl.compare(
        {"a": Y, "b": Y}, {"a": A, "b": B}, clusters=CASE, paired=False
    ),
}


@pytest.mark.parametrize("door", REFUSED)
def test_what_cannot_honour_clusters_refuses_them(door: str) -> None:
    with pytest.raises(cl.InputError, match="clusters"):
        REFUSED[door]()


def test_clusters_are_matched_to_the_rows_that_count() -> None:
    """Rows of weight 0 are left out, and so are their clusters."""
    weight = np.where(np.arange(len(Y)) < SIZE * 5, 0.0, 1.0)
    kept = weight > 0
    whole = cl.compare(Y, {"a": A, "b": B}, clusters=CASE, sample_weight=weight, **HOW)
    part = cl.compare(Y[kept], {"a": A[kept], "b": B[kept]}, clusters=CASE[kept], sample_weight=weight[kept], **HOW)
    one, two = (c.difference("a", "b", "hit_rate").standard_error for c in (whole, part))
    assert one == pytest.approx(two)
    assert whole.dominance("quota").to_dicts() == part.dominance("quota").to_dicts()


def clustered(rng: np.random.Generator, clusters: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels and equally good models whose rows go together in clusters."""
    code = np.repeat(np.arange(clusters), size)
    label = 0.6 * rng.normal(size=clusters)[code] + 0.8 * rng.normal(size=len(code)) > 0.5
    noise = 0.7 * rng.normal(size=(2, clusters))[:, code] + 0.7 * rng.normal(size=(2, len(code)))
    return label, 1.3 * label + noise, code


def test_equal_models_on_clusters_are_told_apart_rarely() -> None:
    """40 clusters of 8 rows: at most 8 % of equal pairs, where rows taken for independent give far more."""
    counts = dict.fromkeys(itertools.product(("flips", "hits"), (True, False)), 0)
    runs = 80
    for seed in range(runs):
        y, models, code = clustered(np.random.default_rng([seed, 1]), 40, 8)
        for honoured in (True, False):
            how: Any = {"clusters": code if honoured else None}
            cmp = cl.compare(
                y, dict(zip("ab", models, strict=True)), measures=["roc_auc", "hit_rate@30"], n_resamples=2, **how
            )
            counts["flips", honoured] += cmp.difference("a", "b", "roc_auc").p_value <= 0.05
            counts["hits", honoured] += cmp.difference("a", "b", "hit_rate@30").p_value <= 0.05
    assert counts["flips", True] <= 0.125 * runs < counts["flips", False] + 1
    assert counts["hits", True] <= 0.125 * runs


def zipf_pair(seed: int, rows: int, clusters: int) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Two equally good models; the k-th cluster holds a share of the rows that falls as 1/k."""
    rng = np.random.default_rng([seed, clusters, 3])
    sizes = np.maximum(1, np.round(rows / np.arange(1, clusters + 1) / (1 / np.arange(1, clusters + 1)).sum()))
    code = np.repeat(np.arange(clusters), sizes.astype(int))

    def noise() -> np.ndarray:
        return np.sqrt(0.4) * rng.normal(size=clusters)[code] + np.sqrt(0.6) * rng.normal(size=len(code))

    y = noise() < -0.84
    shared = noise()
    return y, {name: np.sqrt(0.5) * (shared + noise()) + 1.35 * y for name in "ab"}, code


def test_few_large_clusters_do_not_make_equal_models_differ() -> None:
    """Flips of 15 clusters alone call one in ten of these pairs different."""
    apart = tried = 0
    for seed in range(250):
        y, scores, code = zipf_pair(seed, 400, 15)
        if y.any():
            row = cl.compare(y, scores, measures=["hit_rate@10%"], clusters=code, n_resamples=2).differences[0]
            apart, tried = apart + (row["p_value"] <= 0.05), tried + 1
            assert (row["p_value"] <= 0.05) == (row["low"] > 0 or row["high"] < 0)
    assert apart <= 0.075 * tried


def test_large_clusters_count_for_more_than_their_influence() -> None:
    """The error of a difference of accuracies is the jackknife's over clusters, each left out from scratch."""
    y, scores, code = zipf_pair(4, 400, 12)
    hard = {name: np.where(s > 0.6, 0.9, 0.1) for name, s in scores.items()}
    row = cl.compare(y, hard, measures=["accuracy"], clusters=code, n_resamples=2).differences[0]
    gap = (((hard["a"] > 0.5) == y).astype(float) - ((hard["b"] > 0.5) == y)).astype(float)
    left = np.array([gap[code != k].mean() for k in range(12)])
    share = np.bincount(code) / len(code)
    psi = (np.bincount(code, weights=gap - gap.mean()) / len(code)) / (1 - share)
    assert row["standard_error"] == pytest.approx(np.sqrt((psi**2).sum() * 11 / 12), rel=1e-9)
    assert row["standard_error"] == pytest.approx(np.sqrt(((left - gap.mean()) ** 2).sum() * 11 / 12), rel=1e-9)
    from scipy.stats import t

    freedom = 1 / (share**2).sum() - 1  # as many equal clusters, less one
    assert row["p_value"] >= 2 * t.sf(abs(row["difference"]) / row["standard_error"], freedom) * (1 - 1e-9)
    assert row["high"] - row["difference"] >= t.ppf(0.975, freedom) * row["standard_error"] * (1 - 1e-9)


def test_answers_tell_how_many_clusters_there_are_and_what_that_means() -> None:
    clustered = f"{N * SIZE} rows in {N} clusters (intervals allow for them)"
    for made in (evaluated(CASE), compared(CASE)):
        answer = json.loads(made.to_json())["answer"]
        assert any(clustered in sentence for sentence in answer)
        assert any("n the next list like this one, if its rows are independent, expect " in text for text in answer)
    bare = repr(cl.evaluate(Y, A, clusters=CASE, interval=None))
    assert f"in {N} clusters, " in bare
    assert "clusters" not in repr(evaluated(None))
    assert "if its rows" not in repr(compared(None))
    scores = np.column_stack([A, B, 1 - A])
    several = cl.evaluate(CASE % 3, scores, clusters=CASE, measures=["accuracy"])
    assert f"3 classes in {N} clusters (intervals allow for them)" in repr(several)
    both = cl.compare(CASE % 3, {"a": scores, "b": scores[:, ::-1]}, clusters=CASE, measures=["accuracy"])
    assert clustered in repr(both)

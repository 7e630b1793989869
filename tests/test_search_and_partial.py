"""Partial AUC, equal error rate, H-measure, nDCG, reciprocal rank, Brier skill and calibration error against others.

Values of other software are recorded with their source; scikit-learn is asked itself.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import ndcg_score, roc_auc_score

import cutline as cl

# WFNS grade of 72 patients with a good and 41 with a poor outcome (aSAH, Turck et al. 2010), worst grade first
GOOD, POOR = [4, 8, 3, 20, 37], [18, 8, 1, 12, 2]
WFNS = np.concatenate([np.repeat([5, 4, 3, 2, 1], GOOD), np.repeat([5, 4, 3, 2, 1], POOR)])
OUTCOME = np.repeat([0, 1], [sum(GOOD), sum(POOR)])


def drawn(seed: int, n: int = 200, digits: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    y[:2] = 0, 1
    return y, np.round(rng.normal(size=n) + y, digits)


@pytest.mark.parametrize(
    ("options", "value"),
    [  # tests of pROC 1.18 (tests/testthat/test-auc.R): specificity 1 to 0.9, sensitivity 1 to 0.9, corrected and not
        ({"fpr": 0.1}, 0.0334417344173442),
        ({"tpr": 0.9}, 0.0400999322493225),
        ({"fpr": 0.1, "standardized": True}, 0.649693339038653),
        ({"tpr": 0.9, "standardized": True}, 0.68473648552275),
        ({"fpr": 1.0}, 0.823678861788618),
    ],
)
def test_partial_auc_is_that_of_proc(options: dict[str, Any], value: float) -> None:
    assert cl.partial_auc(OUTCOME, WFNS, **options) == pytest.approx(value, abs=1e-13)


@pytest.mark.parametrize("fpr", [0.03, 0.1, 0.5, 1.0])
def test_partial_auc_is_that_of_scikit_learn(fpr: float) -> None:
    for seed in range(5):
        y, s = drawn(seed)
        ours = cl.partial_auc(y, s, fpr=fpr, standardized=True)
        assert ours == pytest.approx(roc_auc_score(y, s, max_fpr=fpr), abs=1e-12)


def test_both_axes_or_an_empty_part_raise() -> None:
    with pytest.raises(cl.InputError, match="both given, but the area reads one of the axes; leave one of them out"):
        cl.partial_auc(OUTCOME, WFNS, fpr=0.1, tpr=0.9)
    for bad in ({"fpr": 0.0}, {"tpr": 1.0}, {"fpr": 1.5}, {"standardized": "yes"}):
        with pytest.raises(cl.InputError):
            cl.partial_auc(OUTCOME, WFNS, **bad)


def test_the_interval_stays_inside_the_part() -> None:
    y, s = drawn(3)
    names = ["partial_auc(fpr=0.2)", "partial_auc(tpr=0.8)", "partial_auc(fpr=0.2, standardized=True)"]
    ev = cl.evaluate(y, s, measures=names, n_resamples=200)
    for name in names[:2]:
        assert 0.0 < ev[name].low < ev[name].value < ev[name].high <= 0.2
    assert ev[names[2]].high <= 1.0
    cmp = cl.compare(y, {"a": s, "b": drawn(4)[1]}, measures=[names[0]], n_resamples=200)
    assert cmp.difference("a", "b", names[0]).low > 0.0


@pytest.mark.parametrize(
    ("severity", "value"),
    [  # example in the docstring of h_score, PyPI hmeasure 0.1.6; its −0.7 stands for Beta(1 + π₁, 1 + π₀)
        (None, 0.18310946512079307),
        (7 / 3, 0.18889596344769588),
        (0.7, 0.13502616807120948),
        (0.5, 0.10750123502531805),
        (0.1, 0.001212529211507385),
    ],
)
def test_h_measure_is_that_of_the_package(severity: float | None, value: float) -> None:
    y = [1, 1, 0, 1, 1, 0, 1, 1, 1, 0]
    s = [0.84901876, 0.10282827, 0.43752488, 0.46004468, 0.90878931]
    s += [0.79177719, 0.5297229, 0.13803906, 0.73166264, 0.22959056]
    assert cl.h_measure(y, s, severity=severity) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("k", [None, 1, 10, 150])
def test_ndcg_is_that_of_scikit_learn(k: int | None) -> None:
    for seed in range(5):
        y, s = drawn(seed)
        assert cl.ndcg(y, s, k=k) == pytest.approx(ndcg_score([y], [s], k=k), abs=1e-12)


def test_a_cut_is_written_like_a_quota() -> None:
    y, s = drawn(1)
    ev = cl.evaluate(y, s, measures=["ndcg@10", "NDCG"], interval=None)
    assert [*ev.estimates] == ["ndcg@10", "ndcg"]
    assert ev["ndcg@10"].value == cl.ndcg(y, s, k=10) == ev["ndcg(k=10)"].value
    for bad in ("ndcg@5%", "ndcg(k=0)", "reciprocal_rank@10"):
        with pytest.raises(cl.InputError):
            cl.evaluate(y, s, measures=[bad], interval=None)


def test_a_batch_is_a_query() -> None:
    """The mean over the queries that have a positive, drawn and left out query by query."""
    y, s = drawn(2, 300)
    query = np.arange(300) // 15
    y[::15] = 1
    y[query == 4] = 0
    names = ["ndcg@5", "reciprocal_rank", "roc_auc"]
    key = np.array([f"query {chr(97 + q)}" for q in query])  # queries have no order
    ev = cl.evaluate(y, s, batch=key, measures=names, n_resamples=200)
    for name, one in (("ndcg@5", lambda a, b: cl.ndcg(a, b, k=5)), ("reciprocal_rank", cl.reciprocal_rank)):
        each = np.array([one(y[query == q], s[query == q]) for q in range(20) if q != 4])
        assert ev[name].value == pytest.approx(each.mean(), abs=1e-12)
        error = each.std(ddof=1) / math.sqrt(19)
        assert ev[name].high - ev[name].low == pytest.approx(2 * 2.1 * error, rel=0.15)
        assert ev[name].method == "batches"
    ties = cl.evaluate(y, s, batch=key, measures=["reciprocal_rank(ties='best')"], interval=None)
    assert next(iter(ties.estimates.values())).value >= ev["reciprocal_rank"].value
    cmp = cl.compare(y, {"a": s, "b": drawn(5, 300)[1]}, batch=key, measures=names, n_resamples=200)
    assert cmp.difference("a", "b", "ndcg@5").low < cmp.difference("a", "b", "ndcg@5").difference
    assert cmp.difference("a", "b", "ndcg@5").method == "batches, sign flips"
    drawn_too = cl.evaluate(y, s, batch=key, measures=names, n_resamples=400, interval="percentile")
    assert drawn_too["ndcg@5"].low < ev["ndcg@5"].value < drawn_too["ndcg@5"].high


def test_streams_give_the_value_or_a_reason(tmp_path: Any) -> None:
    y, s = drawn(6, 400)
    path = tmp_path / "scores.csv"
    np.savetxt(path, np.column_stack([y, s, np.arange(400) // 20]), "%.17g", ",", header="y,p,q", comments="")
    names = ["ndcg@10", "partial_auc(fpr=0.2)", "h_measure", "roc_auc"]
    streamed = cl.evaluate(path, label="y", score="p", measures=names, stream=True, n_resamples=100)
    memory = cl.evaluate(y, s, measures=names, n_resamples=100)
    for name in names:
        assert streamed[name].value == pytest.approx(memory[name].value, abs=1e-12)
        assert streamed[name].low < streamed[name].value
    batched = cl.evaluate(path, label="y", score="p", batch="q", measures=names, stream=True, interval=None)
    assert "mean over batches" in batched["ndcg@10"].reason
    assert batched["roc_auc"].value == pytest.approx(memory["roc_auc"].value, abs=1e-12)


def test_brier_skill_and_calibration_error() -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(2, 5, 20_000)
    y = rng.random(20_000) < p
    share = y.mean()
    assert cl.brier_skill(y, p) == pytest.approx(1 - cl.brier_score(y, p) / (share * (1 - share)))
    assert cl.brier_skill(y, p, prior=0.5) == pytest.approx(1 - 4 * cl.brier_score(y, p))
    small = [
        cl.calibration_error(y[k : k + 200], p[k : k + 200], debiased=d)
        for d in (False, True)
        for k in range(0, 20_000, 200)
    ]
    plain, less = np.mean(small[:100]), np.mean(small[100:])
    assert plain > 0.06  # right probabilities, and yet the plain sum is far from 0
    assert less < 0.015
    wrong = p**0.5
    assert cl.calibration_error(y, wrong) == pytest.approx(abs(wrong - p).mean(), abs=0.01)
    for bad in ({"bins": 0}, {"bins": 2.5}, {"debiased": 3}):
        with pytest.raises(cl.InputError):
            cl.calibration_error(y, p, **bad)

"""An unknown quota: a range, or quotas with probabilities; measures at it are means, with intervals, at every door."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import cutline as cl
from cutline.catalogue.declare import parse_measure
from cutline.quotas import MOST, Quotas, parse_quota
from test_select import expected_outcomes


def drawn(seed: int = 0, n: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    return y, (y + rng.normal(size=n)).round(1), y + 2 * rng.normal(size=n)


@pytest.mark.parametrize("name", ["hit_rate", "qrecall", "quota_lift", "quota_pearson"])
@pytest.mark.parametrize("quota", [range(20, 61), "20-60", (20, 60)])
def test_a_range_is_the_mean_over_its_quotas(name: str, quota: object) -> None:
    y, s, _ = drawn()
    measure = getattr(cl, name)
    expected = np.mean([measure(y, s, quota=j) for j in range(20, 61)])
    assert measure(y, s, quota=quota) == pytest.approx(expected)
    ev = cl.evaluate(y, s, measures=[f"{name}@20-60"], n_resamples=100)
    assert ev[f"{name}@20-60"].value == pytest.approx(expected)
    assert ev[f"{name}@20-60"].low < expected < ev[f"{name}@20-60"].high
    assert cl.evaluate(y, s, quota=quota, measures=[name], interval=None)[name].value == pytest.approx(expected)


def test_probabilities_weigh_the_quotas() -> None:
    y, s, _ = drawn()
    expected = 0.25 * cl.qrecall(y, s, quota=20) + 0.75 * cl.qrecall(y, s, quota=60)
    assert cl.qrecall(y, s, quota={20: 1, 60: 3}) == pytest.approx(expected)
    assert cl.evaluate(y, s, measures=["qrecall@20:1,60:3"], interval=None)["qrecall@20:1,60:3"].value == pytest.approx(
        expected
    )
    one, two = (cl.qrecall(y, s, quota=q) for q in ("10%-20%", (30, 60)))
    assert one == pytest.approx(two)


@pytest.mark.parametrize("quota", [range(20, 41), "5%-10%", dict.fromkeys(range(3, 50), 1), {1: 0.1, 9: 0.7, 12: 0.2}])
def test_a_mean_of_ones_is_one_in_any_order(quota: object) -> None:
    y, p = (np.arange(400) < 60).astype(int), np.linspace(1.0, 0.0, 400)
    assert cl.hit_rate(y, p, quota=quota) == 1.0
    _, shares = Quotas.of(quota).sizes(400.0)
    for seed in range(20):
        shares = np.random.default_rng(seed).permutation(shares)
        assert sum(shares.tolist()) == shares.sum() == shares @ np.ones(len(shares)) == 1.0


def test_a_long_range_is_read_at_evenly_spread_quotas() -> None:
    y, s, _ = drawn(1, 5000)
    sizes, weights = Quotas.of((100, 4000)).sizes(5000)
    assert len(sizes) == MOST
    assert weights.sum() == pytest.approx(1.0)
    for name in ("qrecall", "hit_rate"):
        hits = np.cumsum(expected_outcomes(y, s))[99:4000]
        exact = np.mean(hits / (y.sum() if name == "qrecall" else np.arange(100, 4001)))
        assert getattr(cl, name)(y, s, quota="100-4000") == pytest.approx(exact, abs=2e-4)


def test_models_are_compared_by_the_mean() -> None:
    y, a, b = drawn(2, 600)
    cmp = cl.compare(y, {"a": a, "b": b}, quota="20-60", n_resamples=200)
    gap = cmp.difference("a", "b", "hit_rate")
    assert gap["difference"] == pytest.approx(cl.hit_rate(y, a, quota="20-60") - cl.hit_rate(y, b, quota="20-60"))
    assert gap["low"] < gap["difference"] < gap["high"]
    assert cmp.best("hit_rate") == "a"


def test_streams_agree_with_memory(tmp_path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    y, s, _ = drawn(3, 2000)
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table({"y": y.astype(int), "p": s}), path)
    measures = ["hit_rate@20-60", "qrecall@5%-10%"]
    memory = cl.evaluate(y, s, measures=measures, interval=None)
    streamed = cl.evaluate(str(path), label="y", score="p", measures=measures, stream=True, n_resamples=20)
    for name in measures:
        assert streamed[name].value == pytest.approx(memory[name].value)


def test_scorers_take_a_range() -> None:
    pytest.importorskip("sklearn")
    from sklearn.base import BaseEstimator, ClassifierMixin

    from cutline.sklearn import scorer

    y, s, _ = drawn(4)

    class Model(ClassifierMixin, BaseEstimator):
        classes_ = np.array([0, 1])

        def predict_proba(self, x: np.ndarray) -> np.ndarray:
            return np.column_stack([1 - x[:, 0], x[:, 0]])

    p = 1 / (1 + np.exp(-s))
    score = scorer("hit_rate@20-60")(Model(), p[:, None], y.astype(int))
    assert score == pytest.approx(cl.hit_rate(y, p, quota="20-60"))


def test_specs_with_ranges_are_written_read_hashed_and_pickled() -> None:
    for text in ("hit_rate@20-60", "qrecall@5%-10%", "qrecall@20:0.25,60:0.75"):
        spec = parse_measure(text)
        assert str(spec) == text
        assert parse_measure(str(spec)) == spec
        assert pickle.loads(pickle.dumps(spec)) == spec
        assert hash(spec) == hash(parse_measure(text))


@pytest.mark.parametrize(
    "quota", ["60-20", "20-5%", "x-5", "20:", "20:a", {}, {20: -1}, {20: 0}, range(0), (0, 5), [1, 2, 3], "0-5", {0: 1}]
)
def test_bad_quotas_are_refused(quota: object) -> None:
    y, s, _ = drawn()
    with pytest.raises(cl.InputError):
        cl.hit_rate(y, s, quota=quota)


def test_what_needs_one_quota_refuses_a_range() -> None:
    y, s, _ = drawn()
    for call in (lambda: cl.select(s, "20-60"), lambda: cl.evaluate(y, s, interval=None).at(quota=range(2, 5))):
        with pytest.raises(cl.InputError):
            call()
    with pytest.raises(cl.InputError, match="quota"):
        cl.hit_rate(y, s, quota="20-400")


def test_parse_quota_reads_every_form() -> None:
    assert parse_quota("200") == 200
    assert parse_quota("5%") == 0.05
    assert str(parse_quota("20 - 60")) == "20-60"


def test_a_range_and_rare_positives_are_goals() -> None:
    y, a, b = drawn(2, 600)
    cmp = cl.compare(y, {"a": a, "b": b}, quota="20-60", measures=["hit_rate", "average_precision"], n_resamples=100)
    found = cmp.recommend("quota between 20 and 60")
    assert found.model == "a"
    assert found.measure == "hit_rate@20-60"
    assert cmp.recommend("rare positives").measure == "average_precision"
    for goal in ("quota between 60 and 20", "quota between many and more", "nothing"):
        with pytest.raises(cl.InputError):
            cmp.recommend(goal)

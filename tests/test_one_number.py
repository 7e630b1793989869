"""One quantity, one number: the interval of a measure is the same whichever way the same rows come in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import cutline as cl


def table_of(n: int, tied: bool) -> dict[str, Any]:
    """Labels, two models, segments, weights, clusters and batches."""
    rng = np.random.default_rng(8)
    y = (rng.random(n) < 0.3).astype(np.int64)
    a, b = (1.0 / (1.0 + np.exp(1.5 - rng.normal(size=n) - skill * y)) for skill in (1.3, 0.4))
    if tied:
        a, b = np.round(a, 2), np.round(b, 2)
    columns = {"y": y, "a": a, "b": b, "region": rng.integers(0, 3, n), "w": rng.integers(1, 4, n).astype(float)}
    return {**columns, "patient": rng.integers(0, n // 4, n), "day": rng.integers(0, 15, n)}


def same_estimates(expected: cl.results.Evaluation, other: cl.results.Evaluation, where: str) -> None:
    """The same value, ends and method of every measure."""
    assert list(other.estimates) == list(expected.estimates)
    for key, e in expected.estimates.items():
        f = other[key]
        numbers = [(x.value, x.low, x.high) for x in (e, f)]
        np.testing.assert_allclose(*numbers, rtol=1e-9, atol=1e-12, err_msg=f"{key} by {where}")
        assert e.method == f.method, (key, where)


# 500 rows are drawn one by one, 9,000 by blocks of the ranking
@pytest.mark.parametrize(("n", "tied"), [(500, False), (500, True), (9000, False)])
@pytest.mark.parametrize("interval", ["auto", "percentile", "bca"])
def test_every_measure_has_one_interval_at_every_door(tmp_path: Path, n: int, tied: bool, interval: str) -> None:
    table, path = table_of(n, tied), str(tmp_path / "table.parquet")
    duckdb.from_arrow(_arrow(table)).write_parquet(path)
    how: Any = {"quota": 20, "seed": 3, "n_resamples": 200, "interval": interval}
    named: Any = {"label": "y", **how}
    expected = cl.evaluate(table["y"], table["a"], **how)
    assert len(expected.estimates) > 40
    models = {"a": table["a"], "b": table["b"]}
    doors = {
        "compare": cl.compare(table["y"], models, **how)["a"],
        "other order of rows": cl.evaluate(table["y"][::-1], table["a"][::-1], **how),
        "table": cl.evaluate(table, score="a", **named),
        "comparison of a table": cl.compare(table, score=["b", "a"], **named)["a"],
        "segments": cl.evaluate(table, score="a", by="region", **named),
        "comparison by segments": cl.compare(table, score=["a", "b"], by="region", **named)["a"],
    }
    if interval != "bca":  # which a stream does not have
        doors |= {
            "stream": cl.evaluate(path, score="a", stream=True, **named),
            "comparison of a stream": cl.compare(path, score=["a", "b"], stream=True, **named)["a"],
            "segments of a stream": cl.evaluate(path, score="a", by="region", stream=True, **named),
        }
    for where, ev in doors.items():
        same_estimates(expected, ev, where)


@pytest.mark.parametrize("role", ["weight", "clusters", "batch", "prevalence"])
def test_weights_clusters_batches_and_prevalence_do_not_change_that(role: str) -> None:
    table = table_of(500, tied=False)
    column = {"weight": "w", "clusters": "patient", "batch": "day", "prevalence": 0.1}[role]
    given = column if role == "prevalence" else table[str(column)]
    how: Any = {"quota": 20, "seed": 3, "n_resamples": 100}
    expected = cl.evaluate(table["y"], table["a"], **{"sample_weight" if role == "weight" else role: given}, **how)
    named: Any = {"label": "y", role: column, **how}
    same_estimates(expected, cl.evaluate(table, score="a", **named), "table")
    same_estimates(expected, cl.compare(table, score=["a", "b"], **named)["a"], "compare")
    if role in ("weight", "clusters"):
        same_estimates(expected, cl.evaluate(table, score="a", by="region", **named), "segments")


def _arrow(table: dict[str, Any]) -> Any:
    pa = pytest.importorskip("pyarrow")
    return pa.table(table)

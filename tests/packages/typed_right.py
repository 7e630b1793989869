"""A user's script, for the type checker alone: what cutline hands back has real types, and none is Any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import cutline as cl
from cutline.extrapolation import Extrapolation
from cutline.sklearn import scorer

rng = np.random.default_rng(0)
y = rng.random(200) < 0.3
p = np.clip(0.3 * y + 0.7 * rng.random(200), 0.0, 1.0)

assert_type(cl.roc_auc(y, p), float)
assert_type(cl.hit_rate(y, p, quota=20), float)
assert_type(cl.__version__, str)

ev = cl.evaluate(y, p, name="first", quota=20, measures=["pem", "hit_rate"], seed=1)
assert_type(ev, cl.results.Evaluation)
assert_type(ev["pem"], cl.results.Estimate)
assert_type(ev["pem"].value, float)
assert_type(ev["pem"].interval, cl.results.Interval)
assert_type(ev["pem"].method, str)

cut = ev.at(quota=20)
assert_type(cut, cl.results.OperatingPoint)
assert_type(cut.hit_rate, float)
assert_type(cut.next_hits, cl.results.Interval)
low, high = cut.next_hits
assert_type(low, float)

roc = ev.curve("roc")
assert_type(roc, cl.results.Curve)
assert_type(roc.x, NDArray[np.float64])
assert_type(roc.band(), cl.results.Band)

cmp = cl.compare(y, {"first": p, "second": rng.random(200)}, quota=20, n_resamples=100)
assert_type(cmp, cl.results.Comparison)
assert_type(cmp.best("pem"), str)
assert_type(cmp["first"], cl.results.Evaluation)
assert_type(cmp.dominance("quota"), cl.results.Table)
assert_type(cmp.recommend("known quota").sure, bool)

chosen = cl.select(p, 20, ties="expand")
assert_type(chosen, cl.results.Selection)
assert_type(chosen.indices, NDArray[np.intp])
assert_type(cl.plan(y, p, cost=2, value=5).profit, cl.results.Estimate)
assert_type(cl.screen(y, [(p, 0.5), (p, 20)]).stages, cl.results.Table)
assert_type(cl.uplift(y, y, p), cl.results.Uplift)
assert_type(cl.uplift(y, y, {"a": p, "b": p}), cl.results.UpliftComparison)
assert_type(cl.evaluate("scores.csv", label="y", score="p"), cl.results.Evaluation)
assert_type(cl.proportion_interval(8, 10), cl.results.Interval)

ex = cl.extrapolate(rng.random((30, 10)), np.arange(30) % 10, k=[100, 1000])
assert_type(ex, Extrapolation)
assert_type(ex.accuracy(1000), cl.results.Estimate)
assert_type(ex.observed[5], cl.results.Estimate)
assert_type(ex.classes_until(0.9).value, float)

assert_type(scorer("qrecall@5%"), Callable[..., float])


def promise(cut: cl.results.OperatingPoint) -> dict[str, float]:
    """Types can be named where a user needs them."""
    return {"from": cut.next_hits.low, "to": cut.next_hits.high}


def rows_of(result: cl.results.Evaluation | cl.results.Comparison) -> list[dict[str, Any]]:
    """Results share their exports."""
    return result.to_dicts()

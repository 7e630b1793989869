"""A threshold under a constraint keeps it, and no other threshold does so with more (or fewer) cases taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutline as cl
from cutline.decide.thresholds import threshold_for

samples = st.lists(st.tuples(st.booleans(), st.integers(0, 6), st.integers(1, 3)), min_size=2, max_size=25).filter(
    lambda rows: len({label for label, *_ in rows}) == 2
)


def cuts(y: Any, s: Any, w: Any) -> dict[float, tuple[float, float, float, float]]:
    """Recall, precision, false positive rate and weight taken for every cut, by counting."""
    out = {}
    for t in [-np.inf, *np.unique(s)]:
        taken = s > t
        hits, total = w[taken & y].sum(), w[taken].sum()
        precision = hits / total if total else np.nan
        out[float(t)] = (hits / w[y].sum(), precision, w[taken & ~y].sum() / w[~y].sum(), total)
    return out


@given(samples, st.sampled_from(["recall", "precision", "fpr"]), st.sampled_from([0.1, 1 / 3, 0.5, 0.75, 1.0]))
def test_the_best_cut_that_keeps_the_promise(rows: Any, promise: str, level: float) -> None:
    y, s, w = (np.array(column) for column in zip(*rows, strict=True))
    s = s / 6
    every = cuts(y, s, w)
    tolerance = 1e-9
    keeps: dict[str, Any] = {
        "recall": lambda c: c[0] >= level - tolerance,
        "precision": lambda c: c[1] >= level - tolerance,
        "fpr": lambda c: c[2] <= level + tolerance,
    }
    kept = {t: c for t, c in every.items() if keeps[promise](c)}
    if not kept:
        with pytest.raises(cl.InputError, match="is reached by no cut"):
            threshold_for(y, s, **{promise: level}, sample_weight=w)
        return
    t = threshold_for(y, s, **{promise: level}, sample_weight=w)
    best = (min if promise == "recall" else max)(c[3] for c in kept.values())
    assert every[t][3] == best
    assert t in kept


@given(samples, st.integers(1, 25))
def test_a_quota_is_never_passed(rows: Any, quota: int) -> None:
    y, s, _ = (np.array(column) for column in zip(*rows, strict=True))
    quota = min(quota, len(y))
    t = threshold_for(y, s, quota=quota)
    taken = int((s > t).sum())
    assert taken <= quota
    more = [int((s > u).sum()) for u in [-np.inf, *np.unique(s)] if (s > u).sum() > taken]
    assert all(m > quota for m in more)


def test_exactly_one_constraint() -> None:
    y, s = [1, 0, 1], [0.9, 0.5, 0.4]
    with pytest.raises(cl.InputError, match="exactly one"):
        threshold_for(y, s)
    with pytest.raises(cl.InputError, match="exactly one"):
        threshold_for(y, s, recall=0.5, quota=1)


@pytest.mark.parametrize(("quota", "cut"), [(1, 0.5), (2, 0.5), (3, 0.4), (5, 0.4), (6, -np.inf), (0.5, 0.4)])
def test_a_quota_of_weighted_rows_counts_cases(quota: float, cut: float) -> None:
    y, s, w = [1, 0, 1], [0.9, 0.5, 0.4], [1, 2, 3]
    assert threshold_for(y, s, quota=quota, sample_weight=w) == cut
    assert threshold_for(np.repeat(y, w), np.repeat(s, w), quota=quota) == cut


def test_labels_by_name_and_shares() -> None:
    y, s = ["no", "yes", "no", "yes"], [0.1, 0.9, 0.3, 0.2]
    assert threshold_for(y, s, recall=1.0, pos_label="yes") == 0.1
    assert threshold_for(y, s, quota=0.5, pos_label="yes") == 0.2
    assert threshold_for(y, s, precision=0.2, pos_label="yes") == -np.inf

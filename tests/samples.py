"""Samples for property tests: ties, one class, extreme scores, weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

import cutline as cl

EXTREME = [
    float("-inf"),
    -1.7e308,
    -1e300,
    -1.0,
    -1e-300,
    -5e-324,
    -0.0,
    0.0,
    5e-324,
    1e-310,
    2.2e-308,
    0.5,
    0.5000000000000001,
    0.49999999999999994,
    1.0,
    1.0000000000000002,
    1e300,
    1.7e308,
    float("inf"),
]
EDGES = [0.0, 5e-324, 1e-300, 1e-16, 9e-6, 1e-5, 1.1e-5, 0.25, 0.5, 0.75, 1 - 1e-5, 0.9999999999999999, 1.0]


class Case(NamedTuple):
    """One sample, ready for ``measure(*case.columns, **case.weights)``."""

    y: np.ndarray
    s: np.ndarray
    w: np.ndarray | None = None


def scores(kind: str) -> st.SearchStrategy[float]:
    return {
        "ties": st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]),
        "one": st.just(0.5),
        "unit": st.one_of(st.floats(0, 1), st.sampled_from(EDGES)),
        "finite": st.one_of(st.floats(-8, 8), st.sampled_from([-1.0, 0.0, 1.0, 2.0])),
        "any": st.one_of(st.floats(allow_nan=False), st.sampled_from(EXTREME)),
        "float32": st.floats(width=32, allow_nan=False),
    }[kind]


ANY = ("ties", "one", "unit", "finite", "any", "float32")
FINITE = ("ties", "one", "unit", "finite")
UNIT = ("ties", "one", "unit")


@st.composite
def cases(
    draw: Any, kinds: tuple[str, ...] = ANY, weighted: bool = False, min_size: int = 1, max_size: int = 25
) -> Case:
    """Both classes or one, any length, any amount of ties."""
    kind = draw(st.sampled_from(kinds))
    s = draw(st.lists(scores(kind), min_size=min_size, max_size=max_size))
    labels = draw(st.sampled_from(["mixed", "mixed", "mixed", "mixed", "positive", "negative"]))
    n = len(s)
    if labels == "mixed":
        y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    else:
        y = [int(labels == "positive")] * n
    w = None
    if weighted:
        weight = draw(
            st.sampled_from(
                [st.integers(0, 3).map(float), st.floats(0.01, 100), st.sampled_from([0.0, 1e-6, 0.5, 1.0, 1e6])]
            )
        )
        w = np.array(draw(st.lists(weight, min_size=n, max_size=n).filter(lambda v: sum(v) > 0)))
    return Case(np.array(y), np.array(s, dtype=np.float32 if kind == "float32" else np.float64), w)


def random_case(seed: int, n: int, levels: int, prevalence: float = 0.4, weighted: bool = False) -> Case:
    """A larger sample: scores in (0, 1) on a grid of `levels` values, better than chance."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < prevalence).astype(int)
    s = np.floor(np.clip(0.35 * y + 0.65 * rng.random(n), 0, 0.999999) * levels + 0.5) / (levels + 1) + 1 / (4 * levels)
    w = rng.integers(0, 4, n) * rng.choice([0.25, 1.0, 3.5], n) if weighted else None
    return Case(y, s / s.max() * 0.99, w)


def quietly(function: Callable[..., float], *args: Any, **options: Any) -> float:
    """The value, nan included, without its warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.UndefinedWarning)
        return function(*args, **options)

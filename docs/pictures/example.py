"""The ten cases that every picture shows, and the numbers the library gives for them."""

from __future__ import annotations

from typing import Any

import numpy as np

import cutline as cl
from cutline.catalogue.declare import REQUIRED, Measure

Y = np.array([1, 1, 0, 1, 1, 0, 0, 1, 0, 0])  # Berrar's example, best first
P = np.array([0.95, 0.8, 0.75, 0.6, 0.5, 0.45, 0.3, 0.25, 0.2, 0.1])
THRESHOLD, QUOTA = 0.5, 4  # both take the same four cases
N, N_POS = len(Y), int(Y.sum())
HITS = np.cumsum(Y)
PLACES = np.arange(1, N + 1)

BLUE, ORANGE, GREEN, GREY, PALE = "#2f7ec7", "#d1560a", "#0e9472", "#6e6e6e", "#e4e4e4"


def options_of(one: Measure) -> dict[str, Any]:
    """The options without which the measure has no value: an even-handed one for each."""
    needed = {name: 2 for name, default in one.params.items() if default is REQUIRED}
    if "g" in needed:
        needed["g"] = np.log
    if one.needs_quota:
        needed["quota"] = QUOTA
    return needed


SIGN = {"alpha": "α", "beta": "β", "gamma": "γ", "eps": "ε"}


def said_options(one: Measure, **more: Any) -> str:
    """The numbers that its formula was drawn with, for a caption: those that are required, given or not None."""
    values = {name: value for name, value in one.params.items() if value is not None}
    values.update({k: v for k, v in {**options_of(one), **more}.items() if k in one.params})
    named = [f"{SIGN.get(k, k)} = {getattr(v, '__name__', v)}" for k, v in values.items()]
    return f" ({', '.join(named)})" if named else ""


def value_of(one: Measure, y: Any = Y, p: Any = P, **options: Any) -> float:
    """The measure on the ten cases, or on others."""
    return float(getattr(cl, one.name)(y, p, **{**options_of(one), **options}))


def short(value: float) -> str:
    """A number for a caption."""
    return f"{value:.4g}".replace("-", "−")

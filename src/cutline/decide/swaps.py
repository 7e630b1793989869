"""The swap set of two models at a quota: who enters, who leaves, and what that says about the models."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..estimate import Estimate
from ..inference.proportions import wilson, z_of
from ..sample import Sample, resolve_quota
from ..table import format_value, pluralize
from .promises import round_up

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SwapSet:
    """What changes when one model's list replaces another's at the same quota.

    ``entering`` and ``leaving`` are rows of the input, the surest first; both lists agree on everybody else, so the
    difference in hits rests on these rows alone. ``difference`` is the hits gained with its interval, ``p_value`` that
    of Fisher's exact test that entering and leaving rows are hits equally often. ``labels_needed`` is how many rows of
    such a swap set must be labelled to tell two models apart that differ as much as these seem to (80 % power).
    """

    old: str
    new: str
    quota: int
    entering: NDArray[np.intp]
    leaving: NDArray[np.intp]
    swapped: float
    hits_entering: float
    hits_leaving: float
    difference: Estimate
    p_value: float
    labels_needed: float

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        d = self.difference
        return {
            "old": self.old,
            "new": self.new,
            "quota": self.quota,
            "swapped": self.swapped,
            "hits_entering": self.hits_entering,
            "hits_leaving": self.hits_leaving,
            "difference": d.value,
            "low": d.low,
            "high": d.high,
            "level": d.level,
            "method": d.method,
            "p_value": self.p_value,
            "labels_needed": self.labels_needed,
            "entering": self.entering.tolist(),
            "leaving": self.leaving.tolist(),
        }

    def __repr__(self) -> str:
        if self.swapped == 0:
            return f"{self.old} and {self.new} choose the same {self.quota:,} cases"
        d = self.difference
        text = (
            f"{self.new} replaces {format_value(self.swapped)} of {self.old}'s {pluralize(self.quota, 'case')}: "
            f"{format_value(self.hits_entering)} hits enter and {format_value(self.hits_leaving)} leave, a difference "
            f"of {format_value(d.value)} ({d.level:.0%} interval {format_value(d.low)} to {format_value(d.high)})"
        )
        if math.isfinite(self.labels_needed):
            text += (
                f"; labels for about {round_up(self.labels_needed):,} swapped cases would tell such models apart "
                "(80 % power)"
            )
        return text


def membership(score: NDArray[Any], quota: int) -> Floats:
    """Chance of each row to be among the best ``quota``: 1 above the cut, 0 under it, shared inside a tie."""
    edge = np.partition(score, len(score) - quota)[len(score) - quota]
    above, at = score > edge, score == edge
    share = (quota - np.count_nonzero(above)) / np.count_nonzero(at)
    return np.where(above, 1.0, np.where(at, share, 0.0))


def swaps(
    old: Sample, new: Sample, quota: int | float, *, names: tuple[str, str] = ("old", "new"), level: float = 0.95
) -> SwapSet:
    """The swap set of two models on the same rows."""
    if old.weight is not None:
        raise InputError("sample_weight", "cannot be used here, because a swap set counts rows", "leave it out")
    places = resolve_quota(quota, len(old))
    gained = membership(new.score, places) - membership(old.score, places)
    enter, leave = gained > 1e-12, gained < -1e-12
    k = float(gained[enter].sum())
    a, b = float(gained[enter & new.positive].sum()), float(-gained[leave & new.positive].sum())
    low, high = newcombe(a, b, k, level)
    return SwapSet(
        *names,
        places,
        _surest(gained, enter),
        _surest(-gained, leave),
        k,
        a,
        b,
        Estimate("difference in hits", a - b, low, high, level, "newcombe"),
        _fisher(a, b, k),
        _labels_needed(a, b, k, level),
    )


def _surest(gained: Floats, rows: NDArray[np.bool_]) -> NDArray[np.intp]:
    found = np.flatnonzero(rows)
    return found[np.argsort(-gained[found], kind="stable")]


def newcombe(a: float, b: float, k: float, level: float) -> tuple[float, float]:
    """Interval for the difference in hits: Newcombe's hybrid of two Wilson intervals, ``k`` rows on either side."""
    if k <= 0:
        return 0.0, 0.0
    p, q = a / k, b / k
    (p_low, p_high), (q_low, q_high) = wilson(a, k, level), wilson(b, k, level)
    down = math.hypot(p - p_low, q_high - q)
    up = math.hypot(p_high - p, q - q_low)
    return k * max(-1.0, p - q - down), k * min(1.0, p - q + up)


def _fisher(a: float, b: float, k: float) -> float:
    """Two-sided exact p-value that the hits fall to either side alike; shares inside ties are rounded."""
    from scipy.stats import fisher_exact

    n = max(1, round(k))
    x, y = min(n, round(a)), min(n, round(b))
    return float(fisher_exact([[x, n - x], [y, n - y]])[1]) if k > 0 else 1.0


def _labels_needed(a: float, b: float, k: float, level: float) -> float:
    """Rows of a swap set, half of them entering, for 80 % power to see a difference like this one."""
    if k <= 0 or a == b:
        return math.inf
    p, q = a / k, b / k
    middle = (p + q) / 2.0
    spread = z_of(level) * math.sqrt(2.0 * middle * (1.0 - middle))
    spread += 0.8416 * math.sqrt(p * (1.0 - p) + q * (1.0 - q))
    return max(2.0, 2.0 * (spread / (p - q)) ** 2)

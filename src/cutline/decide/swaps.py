"""The swap set of two models at a quota: who enters, who leaves, and what that says about the models."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimate import Estimate
from ..inference.proportions import wilson, z_of
from ..quotas import resolve_quota
from ..sources.arrays import Sample
from ..table import DictResult, Drawn, Table, count, pluralize, round_up
from ..types import Floats


@dataclass(frozen=True, eq=False)
class SwapSet(Drawn, DictResult):
    """What changes when one model's list replaces another's at the same quota.

    ``entering`` and ``leaving`` are rows of the input, the most certain first. All other rows are on both lists or on
    neither, so the difference in hits depends on these rows alone. ``difference`` is the hits gained with its interval,
    ``p_value`` that of Fisher's exact test that entering and leaving rows are hits equally often. ``labels_needed`` is
    how many rows of such a swap set must be labelled to detect a difference of the observed size (80 % power). ``plot``
    draws the cases that enter and leave, with their hits.
    """

    picture: ClassVar[str] = "swaps"

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
        difference = self.difference.to_dict()
        return {
            "old": self.old,
            "new": self.new,
            "quota": self.quota,
            "swapped": self.swapped,
            "hits_entering": self.hits_entering,
            "hits_leaving": self.hits_leaving,
            "difference": difference.pop("value"),
            **difference,
            "p_value": self.p_value,
            "labels_needed": self.labels_needed,
            "entering": self.entering.tolist(),
            "leaving": self.leaving.tolist(),
        }

    @property
    def sides(self) -> Table:
        """The cases that enter and leave, and how many of them are hits."""
        rows = []
        for side, hits in (("enter", self.hits_entering), ("leave", self.hits_leaving)):
            rate = hits / self.swapped if self.swapped else math.nan
            rows.append({"side": side, "cases": self.swapped, "hits": hits, "hit_rate": rate})
        return Table(rows, f"From {self.old} to {self.new}")

    def __repr__(self) -> str:
        if self.swapped == 0:
            return f"{self.old} and {self.new} choose the same {self.quota:,} cases"
        d = self.difference
        text = (
            f"{self.new} replaces {count(self.swapped)} of {self.old}'s {pluralize(self.quota, 'case')}: "
            f"{count(self.hits_entering)} hits enter and {count(self.hits_leaving)} leave, a difference "
            f"of {count(d.value)} ({d.level:.0%} interval {count(d.low)} to {count(d.high)})"
        )
        if math.isfinite(self.labels_needed):
            text += (
                f"; you would need labels for about {round_up(self.labels_needed):,} swapped cases to detect a "
                "difference of this size (80 % power)"
            )
        return text


def membership(score: NDArray[Any], quota: int, weight: Floats | None = None) -> Floats:
    """Chance of each row to be among the best ``quota`` cases: 1 above the cut, 0 under it, shared inside a tie."""
    if weight is None:
        edge = np.partition(score, len(score) - quota)[len(score) - quota]
        weight = np.ones(len(score))
    else:
        order = np.argsort(-score, kind="stable")
        last = np.searchsorted(np.cumsum(weight[order]), quota * (1.0 - 1e-12))
        edge = score[order[min(int(last), len(score) - 1)]]
    above, at = score > edge, score == edge
    share = (quota - float(weight[above].sum())) / float(weight[at].sum())
    return np.where(above, 1.0, np.where(at, min(share, 1.0), 0.0))


class Side(NamedTuple):
    """One side of a swap: its cases, their hits, the cases of equal weight that they are worth, and their rows."""

    cases: float
    hits: float
    size: float
    rows: float

    @classmethod
    def of(cls, chance: Floats, weight: Floats, positive: NDArray[np.bool_]) -> Side:
        """From the chance of each row to be swapped."""
        cases, squares = float((weight * chance).sum()), float((weight**2 * chance).sum())
        hits = float((weight * chance)[positive].sum())
        return cls(cases, hits, cases**2 / squares if squares else 0.0, float(chance.sum()))

    @property
    def rate(self) -> float:
        """Hits for each case."""
        return self.hits / self.cases if self.cases else 0.0


def swaps(
    old: Sample, new: Sample, quota: int | float, *, names: tuple[str, str] = ("old", "new"), level: float = 0.95
) -> SwapSet:
    """The swap set of two models on the same rows.

    Rows with weights count as the cases that they stand for, and as evidence by their effective number.
    """
    weight = np.ones(len(old)) if old.weight is None else old.weight
    places = resolve_quota(quota, len(old) if old.weight is None else float(weight.sum()))
    gained = membership(new.score, places, old.weight) - membership(old.score, places, old.weight)
    enter, leave = gained > 1e-12, gained < -1e-12
    a = Side.of(gained[enter], weight[enter], new.positive[enter])
    b = Side.of(-gained[leave], weight[leave], new.positive[leave])
    low, high = newcombe(a, b, level)
    return SwapSet(
        *names,
        places,
        _surest(gained, enter),
        _surest(-gained, leave),
        a.cases,
        a.hits,
        b.hits,
        Estimate("difference in hits", a.hits - b.hits, low, high, level, "newcombe"),
        _fisher(a, b),
        _labels_needed(a, b, level),
    )


def _surest(gained: Floats, rows: NDArray[np.bool_]) -> NDArray[np.intp]:
    found = np.flatnonzero(rows)
    return found[np.argsort(-gained[found], kind="stable")]


def newcombe(a: Side, b: Side, level: float) -> tuple[float, float]:
    """Interval for the difference in hits: Newcombe's hybrid of two Wilson intervals for the rates of either side."""
    if a.cases <= 0:
        return 0.0, 0.0
    p, q = a.rate, b.rate
    p_low, p_high = wilson(p * a.size, a.size, level)
    q_low, q_high = wilson(q * b.size, b.size, level)
    down = math.hypot(p - p_low, q_high - q)
    up = math.hypot(p_high - p, q - q_low)
    return a.cases * max(-1.0, p - q - down), a.cases * min(1.0, p - q + up)


def _fisher(a: Side, b: Side) -> float:
    """Two-sided exact p-value that the hits fall to either side alike; shares inside ties are rounded."""
    from scipy.stats import fisher_exact

    if a.cases <= 0:
        return 1.0
    table = []
    for side in (a, b):
        n = max(1, round(side.size))
        hits = min(n, round(side.rate * side.size))
        table.append([hits, n - hits])
    return float(fisher_exact(table)[1])


def _labels_needed(a: Side, b: Side, level: float) -> float:
    """Rows of a swap set, half of them entering, for 80 % power to see a difference like this one."""
    p, q = a.rate, b.rate
    if a.cases <= 0 or p == q:
        return math.inf
    middle = (p + q) / 2.0
    spread = z_of(level) * math.sqrt(2.0 * middle * (1.0 - middle))
    spread += 0.8416 * math.sqrt(p * (1.0 - p) + q * (1.0 - q))
    each = (a.rows + b.rows) / (a.size + b.size)  # rows whose weights differ tell less than as many of equal weight
    return max(2.0, 2.0 * (spread / (p - q)) ** 2 * each)

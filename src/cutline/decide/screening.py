"""Progressive screening: stage after stage, each with its own score; what is kept, what is lost, what it costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import ratio
from ..errors import InputError, show
from ..estimate import Estimate
from ..quotas import resolve_quota
from ..ranking import tie_starts
from ..sources.arrays import as_numbers, make_sample
from ..sources.given_columns import read_columns
from ..table import DictResult, Figure, HasPlot, HasSections, Section, Table
from ..types import Floats, Label, Labels, TableSource
from ..validate import check_amount, check_column, check_list, checked
from .selection import TieRule, select

_REPLICATES = 400  # by default: enough for percentiles at 95%


@dataclass(frozen=True, eq=False, repr=False)
class Screening(HasSections, HasPlot, DictResult):
    """The final selection, and what each stage kept, lost and cost.

    ``sizes`` are the cases kept at each stage. ``recall`` is the share of positives left in the end and
    ``cost_per_hit`` the cost of each of them, with bootstrap intervals. ``plot`` draws how many cases and positives
    each stage leaves.
    """

    pictures: ClassVar[tuple[str, ...]] = ("screening",)

    chosen: NDArray[np.intp]
    stages: Table
    sizes: tuple[int, ...]
    recall: Estimate
    cost_per_hit: Estimate

    @property
    def lost(self) -> int:
        """Positives lost over all stages."""
        return int(sum(row["positives_lost"] for row in self.stages))

    @property
    def cost(self) -> float:
        """Cost of all stages."""
        return float(sum(row["cost"] for row in self.stages))

    def to_dict(self) -> dict[str, Any]:
        """The stages and the totals."""
        return {
            "stages": self.stages.to_dicts(),
            "sizes": list(self.sizes),
            "lost": self.lost,
            "cost": self.cost,
            **self.recall.to_dict("recall"),
            **self.cost_per_hit.to_dict("cost_per_hit"),
            "level": self.recall.level,
            "chosen": self.chosen.tolist(),
        }

    @property
    def summary(self) -> str:
        """What is kept in the end and what it costs, in a sentence."""
        r = self.recall
        summary = f"The stages keep {r.value:.1%} of the positives ({r.level:.0%} interval {r.low:.1%} to {r.high:.1%})"
        if self.cost > 0:
            c = self.cost_per_hit
            summary += f" at a cost of {c.value:.3g} per positive kept ({c.low:.3g} to {c.high:.3g})"
        return summary

    def sections(self, names: Sequence[str] = ()) -> list[Section]:
        """What is kept in the end, and stage by stage; ``names`` are those of the stages' scores."""
        stages = self.stages
        if not isinstance(names, list | tuple) or len(names) not in (0, len(stages)):
            raise InputError("names", f"is {show(names)}", f"give {len(stages)} names, one for each stage")
        if names:
            stages = Table([{"score": name, **row} for name, row in zip(names, stages, strict=True)])
        return [Section("answer", [f"{self.summary}.", stages, Figure("screening", self)])]


@checked(
    cost=lambda value, name: [check_amount(price, name) for price in check_list(value, name)],
)
def screen(
    y_true: Labels | TableSource,
    stages: Sequence[tuple[Any, int | float]],
    *,
    label: str | None = None,
    cost: Sequence[float] | None = None,
    ties: TieRule = "random",
    level: float = 0.95,
    n_resamples: int = _REPLICATES,
    seed: int = 0,
    pos_label: Label = None,
) -> Screening:
    """Screen in stages: each ``(score, keep)`` keeps the best of the remaining cases.

    ``keep`` is a number of rows, or a share of those that enter the stage. Early stages usually screen negatively (drop
    the least likely cases with a cheap score), the last one positively (fill the quota). Every score covers all rows,
    because it is not known in advance who remains. ``cost`` is per case examined at each stage.

    Columns of a table are named: ``screen(table, [("cheap", 0.5), ("dear", 200)], label="y")``.

    >>> s = screen([1, 0, 1, 0], [([0.9, 0.1, 0.6, 0.5], 0.75), ([0.2, 0.1, 0.9, 0.8], 2)], cost=[1, 10])
    >>> s.chosen.tolist(), s.lost, s.cost
    ([2, 3], 1, 34.0)
    """
    if not isinstance(stages, list | tuple) or not stages:
        why = "is empty" if isinstance(stages, list | tuple) else f"is {show(stages)}"
        raise InputError("stages", why, "pass a list with at least one (score, keep)")
    prices = [0.0] * len(stages) if cost is None else list(cost)
    if len(prices) != len(stages):
        raise InputError(
            "cost", f"has {len(prices)} entries but there are {len(stages)} stages", "pass one for each stage"
        )
    for k, stage in enumerate(stages):
        if not (isinstance(stage, tuple | list) and len(stage) == 2):
            raise InputError(f"stages[{k}]", f"must be a pair (score, keep), got {type(stage).__name__}", "")
    if label is not None:
        names = [check_column(name, f"stages[{k}]") for k, (name, _) in enumerate(stages)]
        table = read_columns(y_true, label, names, pos_label=pos_label)
        y_true, pos_label = table.positive, None
        stages = [(table.scores[name], keep) for name, keep in stages]
    positive = make_sample(y_true, stages[0][0], pos_label=pos_label).positive
    scores, n = [as_numbers(values, f"stages[{k}] score")[0] for k, (values, _) in enumerate(stages)], len(positive)
    for k, score in enumerate(scores):
        if len(score) != n:
            raise InputError(f"stages[{k}]", f"has {len(score)} scores but y_true has {n} rows", "score every row")
    sizes: list[int] = []
    for _, keep in stages:
        sizes.append(resolve_quota(keep, sizes[-1] if sizes else n, "keep"))
    drawn = _replicates(positive, scores, sizes, min(n_resamples, max(50, 20_000_000 // n)), seed)
    left, rows = np.arange(n), []
    for k, (score, size) in enumerate(zip(scores, sizes, strict=True), start=1):
        kept = left[np.asarray(select(score[left], min(int(size), len(left)), ties=ties, seed=seed + k))]
        before, after = int(positive[left].sum()), int(positive[kept].sum())
        lost_low, lost_high = _middle(1.0 - ratio(drawn[:, k], drawn[:, k - 1]), level)
        low, high = _middle(ratio(drawn[:, k], drawn[:, 0]), level)
        rows.append(
            {
                "stage": k,
                "enter": len(left),
                "keep": len(kept),
                "positives_enter": before,
                "positives_keep": after,
                "positives_lost": before - after,
                "share_lost": float(1.0 - ratio(after, before)),
                "share_lost_low": lost_low,
                "share_lost_high": lost_high,
                "hit_rate": float(ratio(after, len(kept))),
                "recall_so_far": float(ratio(after, int(positive.sum()))),
                "recall_low": low,
                "recall_high": high,
                "cost": prices[k - 1] * len(left),
            }
        )
        left = kept
    recall = Estimate("recall", rows[-1]["recall_so_far"], low, high, level, "percentile")
    total = sum(row["cost"] for row in rows)
    ends_per_hit = _middle(ratio(total, drawn[:, -1]), level)
    per_hit = Estimate("cost_per_hit", float(ratio(total, after)), *ends_per_hit, level, "percentile")
    kept_sizes = tuple(int(row["keep"]) for row in rows)
    return Screening(np.sort(left), Table(rows, "Progressive screening"), kept_sizes, recall, per_hit)


def _middle(values: Floats, level: float) -> tuple[float, float]:
    """The middle of replicates that contains a share ``level`` of them; some may be infinite."""
    defined = np.sort(values[~np.isnan(values)])
    if len(defined) == 0:
        return math.nan, math.nan
    cut = round((1.0 - level) / 2.0 * (len(defined) - 1))
    return float(defined[cut]), float(defined[len(defined) - 1 - cut])


def _replicates(
    positive: NDArray[np.bool_], scores: Sequence[NDArray[Any]], sizes: Sequence[int], n_drawn: int, seed: int
) -> Floats:
    """Positives at the start and after each stage, in replicates of the rows; a tie across a cut is shared."""
    rng = np.random.default_rng([seed, 8])
    n = len(positive)
    orders = [np.argsort(-score.astype(np.float64), kind="stable") for score in scores]
    starts = [tie_starts(score[order]) for score, order in zip(scores, orders, strict=True)]
    drawn = []
    at_once = max(1, 2_000_000 // n)
    for first in range(0, n_drawn, at_once):
        many = min(at_once, n_drawn - first)
        rows = rng.integers(0, n, (many, n)) + n * np.arange(many)[:, None]
        times = np.bincount(rows.ravel(), minlength=many * n).reshape(many, n).astype(np.float64)
        positives = [times[:, positive].sum(axis=1)]
        for order, start, keep in zip(orders, starts, sizes, strict=True):
            weight = times[:, order]
            size = np.add.reduceat(weight, start, axis=1)
            before = np.cumsum(size, axis=1) - size
            share = np.clip((keep - before) / np.where(size > 0, size, 1.0), 0.0, 1.0)
            times[:, order] = weight * np.repeat(share, np.diff(np.append(start, n)), axis=1)
            positives.append(times[:, positive].sum(axis=1))
        drawn.append(np.stack(positives, axis=1))
    return np.concatenate(drawn)

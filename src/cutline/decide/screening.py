"""Progressive screening: stage after stage, each with its own score; how many to keep, what is lost, what it costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
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
from ..validate import check_amount, check_column, check_list, check_number, checked
from .selection import TieRule, select

_REPLICATES = 400  # by default: enough for percentiles at 95 %
_SHARES = 24  # sizes tried for a stage whose size is to be chosen: every 4 % of those who enter
_FOLDS, _REPEATS = 5, 4  # for the optimism of chosen sizes: a mean of 20 gaps, in about as many times one choice


@dataclass(frozen=True, eq=False, repr=False)
class Screening(HasSections, HasPlot, DictResult):
    """The final selection, and what each stage kept, lost and cost.

    ``sizes`` are the cases kept at each stage. ``recall`` is the share of positives left in the end and
    ``cost_per_hit`` the cost of each of them, with bootstrap intervals. If sizes were chosen on these data,
    ``optimism`` is a cross-validated estimate of how much of the recall is due to that choice; the interval is for the
    recall without it. ``plot`` draws how many cases and positives each stage leaves.
    """

    pictures: ClassVar[tuple[str, ...]] = ("screening",)

    chosen: NDArray[np.intp]
    stages: Table
    sizes: tuple[int, ...]
    recall: Estimate
    cost_per_hit: Estimate
    optimism: float | None = None

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
            "optimism": self.optimism,
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
        if self.optimism is not None:
            summary += (
                f"; about {self.optimism:.1%} of this recall is optimism from choosing the sizes on the same data"
            )
        return summary

    def sections(self, names: Sequence[str] = ()) -> list[Section]:
        """What is kept in the end, and stage by stage; ``names`` are those of the stages' scores."""
        stages = self.stages
        if not isinstance(names, list | tuple) or len(names) not in (0, len(stages)):
            raise InputError("names", f"is {show(names)}", f"give {len(stages)} names, one for each stage")
        if names:
            stages = Table([{"score": name, **row} for name, row in zip(names, stages, strict=True)])
        return [Section("answer", [f"{self.summary}.", stages, Figure("screening", self)])]


@dataclass(frozen=True)
class _Order:
    """The rows by one score, best first, and where each tie starts."""

    rows: NDArray[np.intp]
    start: NDArray[np.intp]
    length: NDArray[np.intp]

    @classmethod
    def of(cls, score: NDArray[Any]) -> _Order:
        rows = np.argsort(-score.astype(np.float64), kind="stable")
        ordered = score[rows]
        start = tie_starts(ordered)
        return cls(rows, start, np.diff(np.append(start, len(rows))))

    def kept(self, times: Floats, keep: float) -> Floats:
        """How often each row (of each replicate) is left after the best ``keep``; a tie across the cut is shared."""
        weight = times[..., self.rows]
        size = np.add.reduceat(weight, self.start, axis=-1)
        before = np.cumsum(size, axis=-1) - size
        share = np.clip((keep - before) / np.where(size > 0, size, 1.0), 0.0, 1.0)
        left = np.empty_like(times)
        left[..., self.rows] = weight * np.repeat(share, self.length, axis=-1)
        return left


@checked(
    cost=lambda value, name: [check_amount(price, name) for price in check_list(value, name)],
    max_loss=lambda value, name: check_number(value, name, 0.0, 1.0),
)
def screen(
    y_true: Labels | TableSource,
    stages: Sequence[tuple[Any, int | float | None]],
    *,
    label: str | None = None,
    cost: Sequence[float] | None = None,
    budget: float | None = None,
    max_loss: float | None = None,
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

    A ``keep`` of None is chosen for you: with ``max_loss`` (a share of the positives), the cheapest sizes that lose no
    more; with ``budget``, the sizes that keep the most positives within it; with both, the cheapest sizes that meet
    both.

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
    keeps = [keep for _, keep in stages]
    free = [k for k, keep in enumerate(keeps) if keep is None]
    if free and budget is None and max_loss is None:
        raise InputError(
            "stages", f"leaves the size of stage {free[0] + 1} open", "give its size, or {budget} or {max_loss}"
        )
    if not free and (budget is not None or max_loss is not None):
        name = "budget" if budget is not None else "max_loss"
        raise InputError(name, "chooses sizes, and every stage has one", "pass None as the size of a stage")
    problem = _Problem(positive, [_Order.of(s) for s in scores], keeps, prices, budget, max_loss)
    sizes = problem.best(np.ones(n)) if free else problem.sizes(n)
    optimism = problem.optimism(seed) if free else None
    drawn = problem.replicates(sizes, min(n_resamples, max(50, 20_000_000 // n)), seed)
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
    method = "percentile" if optimism is None else "percentile, optimism removed"
    low, high = (max(0.0, end - (optimism or 0.0)) for end in (low, high))
    recall = Estimate("recall", rows[-1]["recall_so_far"], low, high, level, method)
    total = sum(row["cost"] for row in rows)
    ends_per_hit = _middle(ratio(total, drawn[:, -1]), level)
    per_hit = Estimate("cost_per_hit", float(ratio(total, after)), *ends_per_hit, level, "percentile")
    kept_sizes = tuple(int(row["keep"]) for row in rows)
    return Screening(np.sort(left), Table(rows, "Progressive screening"), kept_sizes, recall, per_hit, optimism)


def _middle(values: Floats, level: float) -> tuple[float, float]:
    """The middle of replicates that holds a share ``level`` of them; some may be infinite."""
    defined = np.sort(values[~np.isnan(values)])
    if len(defined) == 0:
        return math.nan, math.nan
    cut = round((1.0 - level) / 2.0 * (len(defined) - 1))
    return float(defined[cut]), float(defined[len(defined) - 1 - cut])


@dataclass(frozen=True)
class _Problem:
    """Stages whose sizes are known or to be chosen; rows may come several times, or not at all."""

    positive: NDArray[np.bool_]
    orders: Sequence[_Order]
    keeps: Sequence[Any]
    prices: Sequence[float]
    budget: float | None
    max_loss: float | None

    def sizes(self, n: int, shares: Sequence[float] = ()) -> list[int]:
        """Cases kept at each stage: what was asked for, and shares of those entering where it was left open."""
        sizes: list[int] = []
        left, open_shares = n, iter(shares)
        for keep in self.keeps:
            size = max(1, round(next(open_shares) * left)) if keep is None else resolve_quota(keep, left, "keep")
            left = min(left, size)
            sizes.append(left)
        return sizes

    def left(self, times: Floats, sizes: Sequence[float]) -> Floats:
        """Positives at the start and after each stage; ``times`` may have a row for each replicate."""
        positives = [times[..., self.positive].sum(axis=-1)]
        for order, size in zip(self.orders, sizes, strict=True):
            times = order.kept(times, size)
            positives.append(times[..., self.positive].sum(axis=-1))
        return np.stack(positives, axis=-1)

    def best(self, times: Floats) -> list[int]:
        """The best sizes for rows that come so often."""
        n, rows = len(times), float(times.sum())
        best: tuple[tuple[float, float], list[int]] | None = None
        cheapest, least = math.inf, math.inf
        n_open = sum(keep is None for keep in self.keeps)
        per_stage = max(4, min(_SHARES, int(600 ** (1.0 / n_open))))  # some 600 combinations in all
        for shares in product(np.linspace(1.0 / per_stage, 1.0, per_stage).tolist(), repeat=n_open):
            try:
                sizes = self.sizes(n, shares)
            except InputError:  # a later stage asks for more than are left
                continue
            cost = float(np.dot(self.prices, [n, *sizes[:-1]]))  # each stage for those who enter it
            start, *_, end = self.left(times, [size * rows / n for size in sizes]).tolist()
            loss = 1.0 - end / start if start else math.nan
            cheapest, least = min(cheapest, cost), min(least, loss)
            if self.budget is not None and cost > self.budget * (1 + 1e-12):
                continue
            if self.max_loss is not None and not loss <= self.max_loss + 1e-12:
                continue
            rank = (cost, loss) if self.max_loss is not None else (loss, cost)
            if best is None or rank < best[0]:
                best = rank, sizes
        if best is None:
            if self.max_loss is None or cheapest > (math.inf if self.budget is None else self.budget):
                raise InputError("budget", f"is too small: the stages cost at least {cheapest:g}", "raise it")
            raise InputError(
                "max_loss",
                f"cannot be met: the stages lose at least {least:.1%} of the positives",
                "allow a larger loss",
            )
        return best[1]

    def optimism(self, seed: int) -> float:
        """Recall on the data that the sizes were chosen on, less that on rows held out of choosing."""
        rng = np.random.default_rng([seed, 7])
        n = len(self.positive)
        gaps = []
        for _ in range(_REPEATS):
            fold = rng.permutation(np.arange(n) % _FOLDS)
            for k in range(_FOLDS):
                inside, outside = (fold != k).astype(np.float64), (fold == k).astype(np.float64)
                try:
                    chosen = self.best(inside)
                except InputError:
                    continue
                recalls = []
                for times in (inside, outside):
                    positives = self.left(times, [size * times.sum() / n for size in chosen])
                    recalls.append(positives[-1] / positives[0] if positives[0] else math.nan)
                gaps.append(recalls[0] - recalls[1])
        return max(0.0, float(np.nanmean(gaps))) if np.isfinite(gaps).any() else 0.0

    def replicates(self, sizes: Sequence[int], n_drawn: int, seed: int) -> Floats:
        """Positives at the start and after each stage, in replicates of the rows."""
        rng = np.random.default_rng([seed, 8])
        n = len(self.positive)
        positives = []
        at_once = max(1, 2_000_000 // n)
        for first in range(0, n_drawn, at_once):
            many = min(at_once, n_drawn - first)
            rows = rng.integers(0, n, (many, n)) + n * np.arange(many)[:, None]
            times = np.bincount(rows.ravel(), minlength=many * n).reshape(many, n).astype(np.float64)
            positives.append(self.left(times, sizes))
        return np.concatenate(positives)

"""How many places to fill: profit by quota, the best cut, and what it will give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..estimate import Estimate
from ..inference.resampling import Resampler, enough_replicates
from ..ranking import Ranking, rank
from ..sample import make_sample, resolve_quota
from ..table import Table, format_value, pluralize
from ..validate import checked
from .operating import OperatingPoint, at_rows
from .selection import hits_at, quota_weights

Floats = NDArray[np.float64]
_GRID = 400


@dataclass(frozen=True, eq=False)
class Plan:
    """Profit by number of cases taken, and the cut that makes most of it.

    ``profit`` is the profit at the best quota with a bootstrap interval; ``optimism`` is how much of it is due to
    choosing the best cut on the same data (its bootstrap estimate: subtract it for an honest forecast).
    ``marginal_value`` is what one more place is worth where the limit binds, on average over the stretch of the list
    where it lies; at most 0 where it does not. ``break_even`` is the largest quota that does not lose money, ``limit``
    the most cases that budget and capacity allow.
    """

    quota: int
    profit: Estimate
    optimism: float
    break_even: int
    marginal_value: float
    limit: int
    cut: OperatingPoint | None
    taken: Floats
    hits: Floats
    profits: Floats
    settings: dict[str, Any]
    over_quotas: Estimate | None = None

    @property
    def curve(self) -> Table:
        """Cases taken, expected hits and profit, row by row."""
        columns = zip(self.taken.tolist(), self.hits.tolist(), self.profits.tolist(), strict=True)
        return Table([{"taken": j, "hits": h, "profit": p} for j, h, p in columns], "Profit by quota")

    def to_dict(self) -> dict[str, Any]:
        """The plan without its curve."""
        forecast = {} if self.over_quotas is None else {"expected_over_quotas": self.over_quotas.value}
        return {
            "quota": self.quota,
            "profit": self.profit.value,
            "profit_low": self.profit.low,
            "profit_high": self.profit.high,
            "optimism": self.optimism,
            "break_even": self.break_even,
            "one_more_place": self.marginal_value,
            "limit": self.limit,
            **forecast,
            **self.settings,
        }

    def __repr__(self) -> str:
        p = self.profit
        lines = [
            f"take {self.quota} (at most {self.limit} allowed)",
            f"profit {format_value(p.value)} [{format_value(p.low)}, {format_value(p.high)}], "
            f"of which {format_value(self.optimism)} may be optimism",
            f"break even at {self.break_even}; one more place is worth about {format_value(self.marginal_value)}",
        ]
        if self.cut is not None:
            low, high = self.cut.next_hits
            hits = pluralize(self.cut.tp, "hit")
            lines.insert(1, f"expect {hits}; the next batch should hold {format_value(low)} to {format_value(high)}")
        if self.over_quotas is not None:
            o = self.over_quotas
            lines.append(
                f"over the given quotas: profit {format_value(o.value)} [{format_value(o.low)}, {format_value(o.high)}]"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from ..present.notebook import plan_html

        return plan_html(self)


@checked
def plan(
    y_true: Any,
    y_score: Any,
    *,
    cost: float = 0.0,
    value: float = 1.0,
    fixed_cost: float = 0.0,
    budget: float | None = None,
    quota: int | float | None = None,
    quotas: Any = None,
    pos_label: Any = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    progress: bool | None = None,
) -> Plan:
    """The best cut for a cost per contact and a value per hit.

    profit(j) = value · hits(j) − cost · j − fixed_cost, for j ≥ 1, and 0 for nobody. ``budget`` limits cost · j +
    fixed_cost, ``quota`` the number of cases. ``quotas`` (a range, or a mapping from quota to weight) adds the expected
    profit when the number of places is not known.

    >>> p = plan([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2], cost=2, value=5)
    >>> p.quota, p.profit.value, p.break_even
    (4, 7.0, 6)
    """
    prices = {"cost": cost, "value": value, "fixed_cost": fixed_cost}
    sample = make_sample(y_true, y_score, pos_label=pos_label)
    ranking = rank(sample)
    n = ranking.rows
    limit = _limit(n, prices, budget, quota)
    taken = np.arange(n + 1, dtype=np.float64)
    hits = hits_at(ranking, taken)
    profits = _profit(taken, hits, prices)
    # amounts like 0.1 are not exact in floats: what differs by rounding alone is equal, and the smaller quota wins
    rounding = 1e-12 * (prices["value"] * hits + prices["cost"] * taken + prices["fixed_cost"])
    allowed = profits[: limit + 1]
    best = int(np.argmax(allowed >= allowed.max() - rounding[: limit + 1]))
    afloat = np.flatnonzero(profits >= -rounding)
    resampler = Resampler(sample, ranking, stratified=False, seed=seed, progress=progress)
    n_resamples = enough_replicates(n_resamples, n)
    estimate, optimism = _forecast(best, limit, profits, prices, resampler, level, n_resamples)
    known: dict[str, Any] = {**prices, "budget": budget, "capacity": quota, "level": level, "seed": seed}
    return Plan(
        best,
        estimate,
        optimism,
        int(afloat[-1]),
        _marginal_value(*_least_concave(ranking), best, limit, prices),
        limit,
        at_rows(ranking, best, level) if best else None,
        taken,
        hits,
        profits,
        known,
        None if quotas is None else _over(quotas, hits, prices, resampler, level, n_resamples),
    )


def _limit(n: int, prices: dict[str, float], budget: float | None, quota: int | float | None) -> int:
    limit = n if quota is None else resolve_quota(quota, n)
    if budget is None:
        return limit
    left = budget - prices["fixed_cost"]
    if left < 0:
        raise InputError(
            f"budget={budget:g} does not cover fixed_cost={prices['fixed_cost']:g}; raise it or plan nothing"
        )
    return limit if prices["cost"] == 0 else min(limit, int(left / prices["cost"] + 1e-9))


def _profit(taken: Floats, hits: Floats, prices: dict[str, float]) -> Floats:
    return np.where(taken > 0, prices["value"] * hits - prices["cost"] * taken - prices["fixed_cost"], 0.0)


def _least_concave(ranking: Ranking) -> tuple[Floats, Floats]:
    """The least concave curve above the hits, as its corners.

    Its slope is the chance of a hit at the next place; the single next outcome would be 0 or 1.
    """
    from ..kernels import hull_of_groups

    x, y, used = hull_of_groups(ranking.pos, ranking.neg, 0, 0)
    return (x[:used] + y[:used]).astype(np.float64), y[:used].astype(np.float64)


def _marginal_value(places: Floats, found: Floats, best: int, limit: int, prices: dict[str, float]) -> float:
    """Value of a hit times its chance at the next place, less the cost; nan where nobody is left.

    A limit binds where the stretch of the list behind it still pays, though the best cut may lie some places before it
    because the last of them happen to be no hits. Otherwise there is nothing to gain by lifting it.
    """
    if best >= places[-1]:
        return float("nan")

    def after(place: int) -> float:
        k = int(np.searchsorted(places, place, side="right"))
        slope = (found[k] - found[k - 1]) / (places[k] - places[k - 1])
        return float(prices["value"] * slope - prices["cost"])

    beyond = after(limit) if limit < places[-1] else 0.0
    return beyond if best == limit or beyond > 0 else min(after(best), 0.0)


def _forecast(
    best: int,
    limit: int,
    profits: Floats,
    prices: dict[str, float],
    resampler: Resampler,
    level: float,
    n_resamples: int,
) -> tuple[Estimate, float]:
    """Percentile interval of the profit at the best quota, and the optimism of having chosen it on this sample."""
    n = resampler.ranking.rows
    quotas = np.unique(np.append(np.linspace(0, limit, min(limit + 1, _GRID)).round(), best)).astype(np.int64)
    drawn_hits = resampler.curves(0, quotas / n, n_resamples)[0]
    drawn = _profit(np.broadcast_to(quotas.astype(np.float64), drawn_hits.shape), drawn_hits, prices)
    here = drawn[:, np.searchsorted(quotas, best)]
    low, high = np.quantile(here, [(1 - level) / 2, (1 + level) / 2])
    chosen = np.argmax(drawn, axis=1)
    optimism = float(np.mean(drawn[np.arange(len(drawn)), chosen] - profits[quotas[chosen]]))
    return Estimate("profit", float(profits[best]), float(low), float(high), level, "percentile"), max(0.0, optimism)


def _over(
    quotas: Any, hits: Floats, prices: dict[str, float], resampler: Resampler, level: float, n_resamples: int
) -> Estimate:
    """Expected profit over a distribution of quotas, with a percentile interval."""
    n = resampler.ranking.rows
    sizes, weights = quota_weights(quotas, n)
    order = np.argsort(sizes)
    sizes, weights = sizes[order], weights[order] / weights.sum()
    drawn_hits = resampler.curves(0, sizes / n, n_resamples)[0]
    drawn = _profit(np.broadcast_to(sizes, drawn_hits.shape), drawn_hits, prices) @ weights
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    value = float(_profit(sizes, hits[sizes.astype(np.int64)], prices) @ weights)
    return Estimate("profit over quotas", value, float(low), float(high), level, "percentile")

"""How many places to fill: profit by quota, the best cut, and what it will give."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..estimate import Estimate, Interval
from ..inference.evidence import Rows
from ..inference.prevalence import Prevalence, as_prevalence, at_prevalence, reweighted_ranking, widened_limits
from ..inference.quota_cut import QuotaCut
from ..inference.resampling import Resampler, enough_replicates
from ..inference.settings import Settings
from ..kernels.backend import passes
from ..ranking import Ranking
from ..sample import make_sample, resolve_quota
from ..table import DictResult, Table, count, format_value, pluralize
from ..validate import checked
from .operating import OperatingPoint, at_rows, next_hits
from .selection import hits_at, quota_weights

Floats = NDArray[np.float64]
_GRID = 400


@dataclass(frozen=True, eq=False)
class Plan(DictResult):
    """Profit by number of cases taken, and the most profitable cut.

    ``profit`` is the profit at the best quota with a bootstrap interval; ``optimism`` is how much of it is due to
    choosing the best cut on the same data (a bootstrap estimate), and ``expected_profit`` what is left without it.
    ``next_hits`` is a prediction interval for the hits in the next batch, cut at the same share; it allows for that
    optimism too.
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
    next_hits: Interval
    taken: Floats
    hits: Floats
    profits: Floats
    settings: dict[str, Any]
    over_quotas: Estimate | None = None

    @property
    def expected_profit(self) -> float:
        """The expected profit on new data, without the optimism of choosing the best cut on the same data."""
        return self.profit.value - self.optimism

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
            "expected_profit": self.expected_profit,
            "break_even": self.break_even,
            "one_more_place": self.marginal_value,
            "limit": self.limit,
            **forecast,
            **self.settings,
        }

    def sentences(self) -> list[str]:
        """The plan in words; amounts are rounded to what the interval supports."""
        s = self.settings
        if self.limit == 0:
            return [f"Take nobody: a budget of {s['budget']:g} does not pay for one case at a cost of {s['cost']:g}."]
        if self.quota == 0 and self.profits.max() > 0:
            allowed = pluralize(self.limit, "case")
            return [f"Take nobody: among the {allowed} allowed no cut makes a profit; a higher limit would."]
        if self.quota == 0:
            return [f"Take nobody: at cost {s['cost']:g} and value {s['value']:g} no cut makes a profit."]
        p, (low, high) = self.profit, self.next_hits
        spread = p.high - p.low
        words = [
            f"Take the best {self.quota:,}: profit {amount(p.value, spread)} on these data ({p.level:.0%} interval "
            f"{amount(p.low, spread)} to {amount(p.high, spread)})."
        ]
        shown, expected = amount(p.value, spread), amount(self.expected_profit, spread)
        if shown != expected:
            part = amount(_rounded(p.value, spread) - _rounded(self.expected_profit, spread), spread)
            words.append(f"About {part} of this profit is optimism from choosing the best cut; expect {expected}.")
        if self.cut is not None:
            hits = pluralize(self.cut.tp, "hit")
            words.append(f"It holds {hits} here; the next batch should hold {count(low)} to {count(high)}.")
        words.append(f"The largest quota without a loss is {self.break_even:,}; at most {self.limit:,} are allowed.")
        if self.marginal_value > 0:
            worth = amount(self.marginal_value, self.marginal_value)
            words.append(f"A place beyond the {self.limit:,} allowed would be worth about {worth}.")
        if self.over_quotas is not None:
            o = self.over_quotas
            wide = o.high - o.low
            words.append(
                f"Over the given quotas the profit is {amount(o.value, wide)} ({amount(o.low, wide)} to "
                f"{amount(o.high, wide)})."
            )
        return words

    def __repr__(self) -> str:
        return "\n".join(self.sentences())

    def plot(self, ax: Any = None) -> Any:
        """Draw the profit by number of cases taken, with the best cut and its interval; returns the matplotlib Axes."""
        from ..present.plots import plot

        return plot(self, "plan", ax=ax)

    def _repr_html_(self) -> str:
        from ..present.notebook import plan_html

        return plan_html(self)


_LARGEST = 1e150  # sums of money; their squares are added up, too


@checked(prevalence=as_prevalence)
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
    sample_weight: Any = None,
    clusters: Any = None,
    prevalence: Any = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    progress: bool | None = None,
) -> Plan:
    """Find the most profitable cut for a cost per case and a value per hit.

    profit(j) = value · hits(j) − cost · j − fixed_cost, for j ≥ 1, and 0 for nobody. ``budget`` limits cost · j +
    fixed_cost, ``quota`` the number of cases. ``quotas`` (a range, or a mapping from quota to weight) adds the expected
    profit when the number of places is not known. ``sample_weight`` is how many cases a row stands for; rows of one of
    the ``clusters`` belong together. ``prevalence`` is the share of positives where the scores will be used, if the
    sample's differs, or a pair of it and its standard error, which is then in the interval of the profit.

    >>> p = plan([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2], cost=2, value=5)
    >>> p.quota, p.profit.value, p.break_even
    (4, 7.0, 6)
    """
    prices = {"cost": cost, "value": value, "fixed_cost": fixed_cost}
    sample = make_sample(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    sampled = Rows.of(sample, clusters=clusters)
    rows = sampled if prevalence is None else at_prevalence(sampled, prevalence.value)
    ranking = rows.ranking
    n = resolve_quota(max(1, int(ranking.cases * (1.0 + 1e-12))), ranking.cases)  # whole cases that can be taken
    for name, price in prices.items():
        if abs(price) * n > _LARGEST:
            raise InputError(name, f"is {price:g}, too large to add up over {n:,} cases", "count in a larger unit")
    limit = _limit(n, prices, budget, quota)
    taken = np.arange(n + 1, dtype=np.float64)
    hits = hits_at(ranking, taken)
    profits = _profit(taken, hits, prices)
    # amounts like 0.1 are not exact in floats: what differs by rounding alone is equal, and the smaller quota wins
    rounding = 1e-12 * (prices["value"] * hits + prices["cost"] * taken + prices["fixed_cost"])
    allowed = profits[: limit + 1]
    best = int(np.argmax(allowed >= allowed.max() - rounding[: limit + 1]))
    afloat = np.flatnonzero(profits >= -rounding)
    resampler = rows.resampler(Settings(seed=seed, progress=progress), stratified=rows.classes_given)
    n_resamples = enough_replicates(n_resamples, ranking.rows)
    estimate, optimism, luck = _forecast(best, limit, profits, hits, prices, resampler, level, n_resamples)
    if prevalence is not None:
        estimate = _with_error_of(prevalence, estimate, best, sampled.ranking, prices, level)
    known: dict[str, Any] = {**prices, "budget": budget, "capacity": quota, "level": level, "seed": seed}
    if prevalence is not None:
        known |= {"prevalence": prevalence.value, "prevalence_standard_error": prevalence.standard_error}
    return Plan(
        best,
        estimate,
        optimism,
        int(afloat[-1]),
        _marginal_value(*_least_concave(ranking), best, limit, prices),
        limit,
        at_rows(ranking, best, level, rows.cut) if best else None,
        next_hits(_chosen_cut(rows, best, float(hits[best]), level), level, optimism=luck),
        taken,
        hits,
        profits,
        known,
        None if quotas is None else _over(quotas, hits, prices, resampler, level, n_resamples),
    )


def _chosen_cut(rows: Rows, best: int, hits: float, level: float) -> QuotaCut | None:
    """The chosen cut. A drop of the hit chance there is taken for chance: the cut was chosen where the list drops."""
    return replace(rows.cut(float(best), hits, level), slope=0.0) if best else None


def amount(value: float, spread: float) -> str:
    """An amount with as many digits as its spread supports: two of the spread's own.

    >>> amount(93.4567, 54.4), amount(1234.5, 900), amount(-0.1234, 0.02)
    ('93', '1,230', '−0.123')
    """
    if not np.isfinite(value):
        return format_value(value)
    if not (np.isfinite(spread) and spread > 0):
        return format_value(value)
    return f"{_rounded(value, spread):,.{max(0, _digits(spread))}f}".replace("-", "−")


def _digits(spread: float) -> int:
    """Decimals of which two are the spread's own; negative for tens, hundreds and so on."""
    return 1 - int(np.floor(np.log10(spread)))


def _rounded(value: float, spread: float) -> float:
    return round(value, _digits(spread)) + 0.0


def _limit(n: int, prices: dict[str, float], budget: float | None, quota: int | float | None) -> int:
    limit = n if quota is None else resolve_quota(quota, n)
    if budget is None:
        return limit
    left = budget - prices["fixed_cost"]
    if left < 0:
        fixed = prices["fixed_cost"]
        raise InputError("budget", f"is {budget:g}, which does not cover {{fixed_cost={fixed:g}}}", "raise it")
    return limit if prices["cost"] == 0 else min(limit, int(left / prices["cost"] + 1e-9))


def _profit(taken: Floats, hits: Floats, prices: dict[str, float]) -> Floats:
    return np.where(taken > 0, prices["value"] * hits - prices["cost"] * taken - prices["fixed_cost"], 0.0)


def _least_concave(ranking: Ranking) -> tuple[Floats, Floats]:
    """The least concave curve above the hits, as its corners.

    Its slope is the chance of a hit at the next place; the single next outcome would be 0 or 1.
    """
    zero = 0 * ranking.n_pos
    x, y, used = passes(ranking.rows, weighted=ranking.weighted).hull_of_groups(ranking.pos, ranking.neg, zero, zero)
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
    hits: Floats,
    prices: dict[str, float],
    resampler: Resampler,
    level: float,
    n_resamples: int,
) -> tuple[Estimate, float, float]:
    """Percentile interval of the profit at the best quota, and the optimism of its choice in profit and in hits."""
    n = resampler.ranking.cases
    quotas = np.unique(np.append(np.linspace(0, limit, min(limit + 1, _GRID)).round(), best)).astype(np.int64)
    drawn_hits = resampler.curves(0, quotas / n, n_resamples)[0]
    drawn = _profit(np.broadcast_to(quotas.astype(np.float64), drawn_hits.shape), drawn_hits, prices)
    here = drawn[:, np.searchsorted(quotas, best)]
    low, high = np.quantile(here, [(1 - level) / 2, (1 + level) / 2])
    chosen = np.argmax(drawn, axis=1)
    every = np.arange(len(drawn))
    optimism = max(0.0, float(np.mean(drawn[every, chosen] - profits[quotas[chosen]])))
    luck = max(0.0, float(np.mean(drawn_hits[every, chosen] - hits[quotas[chosen]])))
    return Estimate("profit", float(profits[best]), float(low), float(high), level, "percentile"), optimism, luck


def _with_error_of(
    prevalence: Prevalence, profit: Estimate, best: int, ranking: Ranking, prices: dict[str, float], level: float
) -> Estimate:
    """The profit with the error of the prevalence in its interval."""
    if not prevalence.standard_error or not best:
        return profit
    taken = np.array([float(best)])
    ends = [
        float(_profit(taken, hits_at(reweighted_ranking(ranking, share), taken), prices)[0])
        for share in prevalence.limits(level)
    ]
    low, high = widened_limits(profit.value, profit.interval, (ends[0], ends[1]))
    return replace(profit, low=low, high=high)


def _over(
    quotas: Any, hits: Floats, prices: dict[str, float], resampler: Resampler, level: float, n_resamples: int
) -> Estimate:
    """Expected profit over a distribution of quotas, with a percentile interval."""
    n = resampler.ranking.cases
    sizes, weights = quota_weights(quotas, n)
    order = np.argsort(sizes)
    sizes, weights = sizes[order], weights[order] / weights.sum()
    drawn_hits = resampler.curves(0, sizes / n, n_resamples)[0]
    drawn = _profit(np.broadcast_to(sizes, drawn_hits.shape), drawn_hits, prices) @ weights
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    value = float(_profit(sizes, hits[sizes.astype(np.int64)], prices) @ weights)
    return Estimate("profit over quotas", value, float(low), float(high), level, "percentile")

"""How many places to fill: profit by quota, the best cut, and what it will give."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from ..catalogue.value import gains
from ..errors import InputError
from ..estimate import Estimate, Interval, Settings
from ..inference.closed_forms import next_hits_limits
from ..inference.evidence import RowEvidence
from ..inference.resampling import enough_replicates
from ..quotas import resolve_quota, whole_cases
from ..sources.given_columns import sample_from
from ..table import DictResult, Figure, HasPlot, HasSections, Section, Table, count, format_value, pluralize
from ..types import CutBy, Floats, Label, Labels, Scores, TableSource
from ..validate import check_amount, checked
from .operating import OperatingPoint, at_rows, percentile_estimate
from .selection import hits_at

_BY = {"score": "", "value": " by score × value", "value_per_cost": " by score × value / cost"}  # how a list is sorted
_GRID = 400  # quotas tried in each replicate: their profits are nearly those of all quotas
_EVERY_PLACE = 100_000  # cases up to which the curve has every place
_ROWS_DRAWN = 40_000_000  # in all replicates where amounts differ by row: some seconds


@dataclass(frozen=True, eq=False, repr=False)
class Plan(HasSections, HasPlot, DictResult):
    """Profit by number of cases taken, and the most profitable cut.

    ``profit`` is the profit at the best quota; ``optimism`` is how much of it is due to choosing the best cut on the
    same data (a bootstrap estimate), and ``expected_profit`` is the profit without it. The interval of ``profit``, from
    the same replicates, is for the profit to expect of this cut (it held it in 96 to 97.5% of 600 simulated samples).
    ``next_hits`` is a prediction interval for the hits in the next list, cut at the same share; it allows for that
    optimism too. ``limit`` is the most cases that budget and capacity allow. ``plot`` draws the profit by number of
    cases taken, with the best cut and its interval.
    """

    pictures: ClassVar[tuple[str, ...]] = ("plan",)
    document: ClassVar[tuple[str, ...]] = ("quota", "profit", "optimism", "expected_profit", "limit")

    quota: int
    profit: Estimate
    optimism: float
    limit: int
    cut: OperatingPoint | None
    next_hits: Interval
    taken: Floats
    hits: Floats
    profits: Floats
    settings: dict[str, Any]

    @property
    def expected_profit(self) -> float:
        """The expected profit on new data, without the optimism of choosing the best cut on the same data."""
        return self.profit.value - self.optimism

    @property
    def amounts(self) -> dict[str, str]:
        """The profit here, the optimism in it, what to expect and its interval, in the digits that every medium shows.

        Without replicates there is no interval, and amounts keep their digits.
        """
        p = self.profit
        spread = p.high - p.low
        values = {"expected": self.expected_profit, "low": p.low, "high": p.high}
        shown = {name: amount(value, spread) for name, value in values.items() if value == value}
        gap = self.optimism
        if spread > 0:
            gap = _rounded(p.value, spread)[0] - _rounded(self.expected_profit, spread)[0]
        exact = amount(p.value, min(spread, 99.0))  # what these data gave is known to the unit
        return {"profit": exact, "optimism": amount(gap, spread), **shown}

    @property
    def curve(self) -> Table:
        """Cases taken, expected hits and profit, row by row; of more than 100,000 cases only where the profit bends."""
        return Table({"taken": self.taken, "hits": self.hits, "profit": self.profits}, "Profit by quota")

    def to_dict(self) -> dict[str, Any]:
        """The plan without its curve."""
        return {**super().to_dict(), **self.settings}

    def sentences(self) -> list[str]:
        """The plan in words; amounts are rounded to what the interval supports."""
        s = self.settings
        if self.limit == 0:
            return [f"Take no one: a budget of {s['budget']:g} does not pay for one case."]
        if self.quota == 0:
            allowed = f"within the limit of {pluralize(self.limit, 'case')} " if self.profits.max() > 0 else ""
            return [f"Take no one: no cut {allowed}makes a profit{'; a higher limit would' if allowed else ''}."]
        shown, (low, high) = self.amounts, self.next_hits
        by = _BY[s.get("cut_by", "score")]
        words = [f"Take the best {self.quota:,}{by}: profit {shown['profit']} on these data."]
        within = "" if "low" not in shown else f" ({self.profit.level:.0%} interval {shown['low']} to {shown['high']})"
        if shown["optimism"].strip("0."):
            part = f"About {shown['optimism']} of this profit is optimism from choosing the best cut"
            words.append(f"{part}; expect {shown['expected']}{within} on new data like these.")
        elif within:
            words.append(f"Expect about as much{within} on new data like these.")
        if self.cut is not None:
            coming = f"; expect {count(low)} to {count(high)} in the next one" if low == low else ""
            coming += ", allowing for the same optimism" if coming and shown["optimism"].strip("0.") else ""
            words.append(f"This list has {pluralize(self.cut.tp, 'hit')}{coming}.")
        return words

    def sections(self) -> list[Section]:
        """The plan in words and in numbers, with the profit by number of cases."""
        shown, by = self.amounts, _BY[self.settings.get("cut_by", "score")]
        lines = [("cases to take", f"{self.quota:,}"), ("cases allowed", f"{self.limit:,}")]
        if self.cut is not None:
            low, high = self.next_hits
            lines += [("threshold" + by.replace("by", "of"), format_value(self.cut.threshold))]
            lines += [("hits here", count(self.cut.tp)), ("hits in the next list", f"{count(low)} … {count(high)}")]
            lines += [("profit on these data", shown["profit"]), ("optimism in the profit", shown["optimism"])]
            lines += [("profit to expect", shown["expected"])]
            if "low" in shown:
                lines.append(("interval of the profit to expect", f"{shown['low']} … {shown['high']}"))
        numbers = Table([{"": name, "value": value} for name, value in lines])
        return [Section("answer", [*self.sentences(), Figure("plan", self), numbers])]


def _price(value: Any, name: str) -> Any:
    """An amount for all cases, or one for each: an array, or the name of a column."""
    return check_amount(value, name) if value is None or isinstance(value, Real) else value


@checked(cost=_price, value=_price, fixed_cost=check_amount)
def plan(
    y_true: Labels | TableSource,
    y_score: Scores | None = None,
    *,
    label: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    positives: str | None = None,
    negatives: str | None = None,
    rows: str | None = None,
    low: str | None = None,
    high: str | None = None,
    cost: float | Scores | str = 0.0,
    value: float | Scores | str = 1.0,
    fixed_cost: float = 0.0,
    cut_by: CutBy = "score",
    budget: float | None = None,
    quota: int | float | None = None,
    pos_label: Label = None,
    sample_weight: Scores | None = None,
    clusters: Labels | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    progress: bool | None = None,
) -> Plan:
    """Find the most profitable cut for a cost per case and a value per hit.

    profit(j) = value · hits(j) − cost · j − fixed_cost, and 0 where no one is taken. ``budget`` limits cost · j +
    fixed_cost, ``quota`` the number of cases. Costs and values
    may differ from row to row: give arrays, or names of columns of a table. The list may then be cut by ``value``
    (score × value) or by ``value_per_cost``, which makes the most of a budget. ``sample_weight`` is how many cases a
    row represents; rows of the same cluster (``clusters``) belong together.

    Columns of a table are named: ``plan(table, label="y", score="p")``; those of counts too:
    ``plan(counts, score="p", positives="pos", rows="n")``.

    >>> p = plan([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2], cost=2, value=5)
    >>> p.quota, p.profit.value
    (4, 7.0)
    """
    wished: dict[str, Any] = {"cost": cost, "value": value, "budget": budget, "capacity": quota}
    wished |= {"level": level, "seed": seed, **({"fixed_cost": fixed_cost} if fixed_cost else {})}
    columns: dict[str, Any] = {"label": label, "score": score, "weight": weight, "sample_weight": sample_weight}
    columns |= {"pos_label": pos_label, "clusters": clusters, "batch": None}
    columns |= {"positives": positives, "negatives": negatives, "rows": rows, "low": low, "high": high}
    if cut_by != "score" or not all(isinstance(price, Real) for price in (cost, value)):
        columns["amounts"] = {"worth": value, "cost": None if isinstance(cost, Real) else cost, "cut_by": cut_by}
        wished |= {"cost": "by row", "value": "by row", "cut_by": cut_by}
    try:
        sample, _ = sample_from(y_true, y_score, **columns)
    except InputError as error:
        remedy = "name a column with {cost}: one cost for all changes no order" * (error.argument == "cut_by")
        named = "value" if error.argument == "worth" else error.argument
        raise error.but(argument=named, remedy=remedy or error.remedy) from None
    if sample.worth is not None:
        order = sample.worth.order(sample.score)
        sample = replace(sample, score=order, low=float(order.min()), high=float(order.max()))
    evidence = RowEvidence.of(sample)
    ranking, unit = evidence.ranking, evidence.clusters
    n = whole_cases(ranking.cases)
    if n < 1:
        why = f"adds up to {ranking.cases:.6g} cases, and a place takes one"
        raise InputError("sample_weight", why, "give each row the number of cases that it represents")
    if sample.worth is None:
        group, amounts = np.arange(len(ranking)), np.stack([ranking.pos + ranking.neg, ranking.pos]).astype(np.float64)
        amounts = np.stack([amounts[0], float(value) * amounts[1], float(cost) * amounts[0]])  # type: ignore[arg-type]
    else:
        group, each = ranking.group_of(sample.score), sample.row_weight
        spent = np.full(len(sample), cost, np.float64) if sample.worth.cost is None else sample.worth.cost
        amounts = np.stack([each, each * gains(sample), each * spent])

    def running(times: Floats | float = 1.0) -> Floats:
        """Running sums of cases, value and cost over the tied groups of the list, where rows come so often."""
        sums = [np.bincount(group, column * times, len(ranking)) for column in amounts]
        return np.concatenate([np.zeros((3, 1)), np.cumsum(sums, axis=1)], axis=1)

    ends, values, costs = running()
    limit = n if quota is None else resolve_quota(quota, n)
    if budget is not None:  # all groups that it pays for, and as many cases of the next
        left = budget - fixed_cost
        paid = int(np.searchsorted(costs, left * (1.0 + 1e-12), side="right")) - 1
        if left < 0.0:
            limit = 0
        elif paid < len(ranking):
            part = (left - costs[paid]) / (costs[paid + 1] - costs[paid])
            limit = min(limit, int(ends[paid] + part * (ends[paid + 1] - ends[paid]) + 1e-9))
    # all places of a short list; else the whole places around the ends of groups, where alone the profit can bend
    if n <= _EVERY_PLACE:
        places = np.arange(n + 1, dtype=np.float64)
    else:
        around = [np.floor(ends * (1.0 + 1e-15)), np.ceil(ends * (1.0 - 1e-15)), np.array([0.0, 1.0, limit, n])]
        places = np.unique(np.minimum(np.concatenate(around), n))

    def profit_at(at: Any) -> Floats:
        return np.asarray(np.interp(at, ends, values) - np.interp(at, ends, costs) - fixed_cost * (np.asarray(at) > 0))

    profits = profit_at(places)
    allowed = profits[: int(np.searchsorted(places, limit, side="right"))]
    # amounts like 0.1 are not exact in floats: what differs by rounding alone is equal
    rounding = 1e-12 * (np.interp(places, ends, values) + np.interp(places, ends, costs))[: len(allowed)]
    best = int(places[np.argmax(allowed >= allowed.max() - rounding)])
    # The optimism, in profit and in value, is how much better the best quota of a replicate looks in it than here.
    quotas = np.unique(np.append(np.linspace(0, limit, min(limit + 1, _GRID)).round(), best))
    if sample.worth is None:
        resampler = evidence.resampler(Settings(seed=seed, progress=progress), stratified=evidence.classes_given)
        drawn = resampler.curves(0, quotas / ranking.cases, enough_replicates(n_resamples, ranking.rows))[0]
        drawn_values, drawn_costs = drawn * float(value), quotas * float(cost)  # type: ignore[arg-type]
    else:
        rng, units = np.random.default_rng([seed, 17]), len(sample) if unit is None else int(unit.max()) + 1
        drawn = np.empty((2, min(n_resamples, max(100, _ROWS_DRAWN // len(sample))), len(quotas)))
        for k in range(drawn.shape[1]):
            times = np.bincount(rng.integers(0, units, units), minlength=units).astype(np.float64)
            cases, *sums = running(times if unit is None else times[unit])
            drawn[:, k] = [np.interp(quotas * cases[-1] / ends[-1], cases, total) for total in sums]
        drawn_values, drawn_costs = drawn
    gained = drawn_values - drawn_costs - fixed_cost * (quotas > 0)
    profit = percentile_estimate("profit", float(profit_at(best)), gained[:, np.searchsorted(quotas, best)], level)
    chosen, every = np.argmax(gained, axis=1), np.arange(len(gained))
    optimism = max(0.0, float(np.mean(gained[every, chosen] - profit_at(quotas)[chosen])))
    luck = max(0.0, float(np.mean(drawn_values[every, chosen] - np.interp(quotas, ends, values)[chosen])))
    cut, soon = None, Interval(np.nan, np.nan)
    if best:
        cut, found = at_rows(ranking, best, level, evidence.cut), float(np.interp(best, ends, values))
        # a drop of the hit chance at the cut is taken for chance, because the cut was chosen where the list drops
        known = replace(evidence.cut(float(best), cut.tp, level), slope=0.0)
        soon = next_hits_limits(known, level, optimism=luck * cut.tp / found if found > 0.0 else 0.0)
    return Plan(best, profit, optimism, limit, cut, soon, places, hits_at(ranking, places), profits, wished)


def amount(value: float, spread: float) -> str:
    """An amount in the digits that its spread supports: two of the spread's own, or three where it is 100 or more.

    >>> amount(93.4567, 54.4), amount(1234.5, 900), amount(77085, 66300), amount(-0.1234, 0.02)
    ('93', '1,234', '77,100', '−0.123')
    """
    if not (np.isfinite(value) and np.isfinite(spread) and spread > 0):
        return format_value(value)
    rounded, decimals = _rounded(value, spread)
    return f"{rounded:,.{max(0, decimals)}f}".replace("-", "−")


def _rounded(value: float, spread: float) -> tuple[float, int]:
    """An amount in the digits that its spread supports, and its decimals; negative for tens, hundreds and so on."""
    size = int(np.floor(np.log10(spread)))
    decimals = 1 - size if size < 2 else 2 - size
    return round(value, decimals) + 0.0, decimals

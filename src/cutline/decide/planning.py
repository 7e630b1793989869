"""How many places to fill: profit by quota, the best cut, and what it will give."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..catalogue.value import worth_columns
from ..errors import InputError
from ..estimate import Estimate, Interval, Settings
from ..inference.batch_rows import BatchRows, forecast, whole_list
from ..inference.evidence import RowEvidence, as_prevalence, at_prevalence
from ..inference.resampling import enough_replicates
from ..kernels import compiled
from ..quotas import resolve_quota, whole_cases
from ..sources.arrays import Sample
from ..sources.given_columns import sample_from
from ..table import (
    DictResult,
    Figure,
    HasPlot,
    HasSections,
    Section,
    Table,
    columns_table,
    count,
    format_value,
    pluralize,
    values_of,
)
from ..types import CutBy, Floats, Label, Labels, Scores, TableSource
from ..validate import check_amount, checked
from .batch_rules import batch_point
from .operating import OperatingPoint, at_rows, next_hits, percentile_estimate
from .selection import hits_at

_GRID = 400  # quotas tried in each replicate: their profits are nearly those of all quotas
_EVERY_PLACE = 100_000  # cases up to which the curve has every place
_ROWS_DRAWN = 40_000_000  # in all replicates where amounts differ by row: some seconds
_CELLS = 4_000_000  # hits that are kept of all batches, over the quotas that are tried


@dataclass(frozen=True, eq=False, repr=False)
class Plan(HasSections, HasPlot, DictResult):
    """Profit by number of cases taken, and the most profitable cut.

    ``profit`` is the profit at the best quota; ``optimism`` is how much of it is due to choosing the best cut on the
    same data (a bootstrap estimate), and ``expected_profit`` is the profit without it. The interval of ``profit``, from
    the same replicates, is for the profit to expect of this cut (it held it in 96 to 97.5% of 600 simulated samples).
    ``next_hits`` is a prediction interval for the hits in the next batch, cut at the same share; it allows for that
    optimism too. ``marginal_value`` is what one more place would be worth, averaged over that part of the list; it is
    positive only if the limit binds. ``break_even`` is the largest quota that does not lose money, ``limit`` the most
    cases that budget and capacity allow. With ``batches`` all numbers are those of one batch, on average. ``plot``
    draws the profit by number of cases taken, with the best cut and its interval.
    """

    pictures: ClassVar[tuple[str, ...]] = ("plan",)

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
    batches: int | None = None

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
        gap = _rounded(p.value, spread) - _rounded(self.expected_profit, spread) if spread > 0 else self.optimism
        exact = amount(p.value, min(spread, 99.0))  # what these data gave is known to the unit
        return {"profit": exact, "optimism": amount(gap, spread), **shown}

    @property
    def curve(self) -> Table:
        """Cases taken, expected hits and profit, row by row; of more than 100,000 cases only where the profit bends."""
        return columns_table({"taken": self.taken, "hits": self.hits, "profit": self.profits}, "Profit by quota")

    def to_dict(self) -> dict[str, Any]:
        """The plan without its curve."""
        return {
            "quota": self.quota,
            **self.profit.to_dict("profit"),
            **values_of(self, "optimism", "expected_profit", "break_even"),
            "one_more_place": self.marginal_value,
            "limit": self.limit,
            **({} if self.batches is None else {"batches": self.batches}),
            **self.settings,
        }

    def sentences(self) -> list[str]:
        """The plan in words; amounts are rounded to what the interval supports."""
        s = self.settings
        if self.limit == 0:
            at_cost = "" if isinstance(s["cost"], str) else f" at a cost of {s['cost']:g}"
            return [f"Take no one: a budget of {s['budget']:g} does not pay for one case{at_cost}."]
        if self.quota == 0 and self.profits.max() > 0:
            allowed = pluralize(self.limit, "case")
            return [f"Take no one: no cut within the limit of {allowed} makes a profit; a higher limit would."]
        if self.quota == 0:
            prices = "" if isinstance(s["cost"], str) else f"at cost {s['cost']:g} and value {s['value']:g} "
            return [f"Take no one: {prices}no cut makes a profit."]
        shown, (low, high) = self.amounts, self.next_hits
        each = "" if self.batches is None else " of each batch"
        mean = "" if self.batches is None else f" for each of {pluralize(self.batches, 'batch', 'batches')}"
        words = [f"Take the best {self.quota:,}{each}: profit {shown['profit']}{mean} on these data."]
        within = "" if "low" not in shown else f" ({self.profit.level:.0%} interval {shown['low']} to {shown['high']})"
        if shown["optimism"].strip("0."):
            part = f"About {shown['optimism']} of this profit is optimism from choosing the best cut"
            words.append(f"{part}; expect {shown['expected']}{within} on new data like these.")
        elif within:
            words.append(f"Expect about as much{within} on new data like these.")
        if self.cut is not None:
            hits = pluralize(self.cut.tp / (self.batches or 1), "hit")
            here, soon = (hits, "one") if self.batches is None else (f"{hits} per batch on average", "batch")
            coming = f"; expect {count(low)} to {count(high)} in the next {soon}" if low == low else ""
            words.append(f"This list has {here}{coming}.")
        words.append(f"The largest quota without a loss is {self.break_even:,}; the limit is {self.limit:,}.")
        if self.marginal_value > 0:
            worth = amount(self.marginal_value, self.marginal_value)
            words.append(f"A place beyond this limit would be worth about {worth}.")
        return words

    def sections(self) -> list[Section]:
        """The plan in words and in numbers, with the profit by number of cases."""
        shown = self.amounts
        lines = [("cases to take", f"{self.quota:,}"), ("cases allowed", f"{self.limit:,}")]
        if self.cut is not None:
            low, high = self.next_hits
            threshold = [("threshold", format_value(self.cut.threshold))] if self.batches is None else []
            lines += [
                *threshold,
                ("hits here" if self.batches is None else "hits in all batches", count(self.cut.tp)),
                ("hits in the next list", f"{count(low)} … {count(high)}"),
                ("profit on these data", shown["profit"]),
                ("optimism in the profit", shown["optimism"]),
                ("profit to expect", shown["expected"]),
            ]
            if "low" in shown:
                lines.append(("interval of the profit to expect", f"{shown['low']} … {shown['high']}"))
        lines += [
            ("largest quota without a loss", f"{self.break_even:,}"),
            ("one more place is worth", amount(self.marginal_value, abs(self.marginal_value) / 10)),
        ]
        numbers = Table([{"": name, "value": value} for name, value in lines])
        return [Section("answer", [*self.sentences(), Figure("plan", self), numbers])]


def _price(value: Any, name: str) -> Any:
    """An amount for all cases, or one for each: an array, or the name of a column."""
    return check_amount(value, name) if value is None or isinstance(value, Real) else value


@checked(prevalence=as_prevalence, cost=_price, value=_price)
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
    cut_by: CutBy = "score",
    fixed_cost: float = 0.0,
    budget: float | None = None,
    quota: int | float | None = None,
    pos_label: Label = None,
    sample_weight: Scores | None = None,
    clusters: Labels | None = None,
    prevalence: float | None = None,
    batch: Labels | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    progress: bool | None = None,
) -> Plan:
    """Find the most profitable cut for a cost per case and a value per hit.

    profit(j) = value · hits(j) − cost · j − fixed_cost, for j ≥ 1, and 0 if no one is taken. ``budget`` limits
    fixed_cost + cost · j, ``quota`` the number of cases. Costs and values may differ from row to row: give arrays, or
    names of columns of a table. The list may then be cut by ``value`` (score × value) or by ``value_per_cost``, which
    makes the most of a budget. ``sample_weight`` is how many cases a row represents;
    rows of the same cluster (``clusters``) belong together. ``prevalence`` is the share of positives where the scores
    will be used, if the sample's differs. With ``batch`` (the batch of each row, such as a day) the plan is per batch:
    the number of places, the budget and the fixed cost are those of one batch, and the profit is the mean per batch.

    Columns of a table are named: ``plan(table, label="y", score="p", batch="day")``; those of counts too:
    ``plan(counts, score="p", positives="pos", rows="n")``.

    >>> p = plan([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2], cost=2, value=5)
    >>> p.quota, p.profit.value, p.break_even
    (4, 7.0, 6)
    """
    given: dict[str, Any] = {"value": value, "cost": cost}
    by_row = [name for name, amount in given.items() if not isinstance(amount, Real)]
    each = {name: 1.0 if name in by_row else float(amount) for name, amount in given.items()}
    prices = Gains(each["value"], each["cost"], fixed_cost)
    wished = {"cost": cost, "value": value, "fixed_cost": fixed_cost, "budget": budget, "capacity": quota}
    wished |= {"level": level, "seed": seed}
    columns: dict[str, Any] = {"label": label, "score": score, "weight": weight, "sample_weight": sample_weight}
    columns |= {"pos_label": pos_label, "clusters": clusters, "batch": batch}
    columns |= {"positives": positives, "negatives": negatives, "rows": rows, "low": low, "high": high}
    if by_row or cut_by != "score":
        columns["amounts"] = {"worth": value, "cost": cost if "cost" in by_row else None, "cut_by": cut_by}
        wished |= {"cost": "by row", "value": "by row", "cut_by": cut_by}
    try:
        sample, batch = sample_from(y_true, y_score, **columns)
    except InputError as error:
        raise error.but(argument="value" if error.argument == "worth" else error.argument) from None
    if sample.worth is not None:
        if batch is not None or prevalence is not None:
            name = "prevalence" if batch is None else "batch"
            raise InputError(name, "does not go with amounts that differ from row to row", "leave it out")
        return _plan_amounts(sample, prices, wished, Settings("auto", level, n_resamples, seed))
    if batch is not None:
        if prevalence is not None:
            raise whole_list("{prevalence}")
        in_batches = BatchRows.of_batches(sample, batch)
        return _plan_batches(in_batches, prices, wished, Settings("auto", level, n_resamples, seed))
    sampled = RowEvidence.of(sample)
    evidence = sampled if prevalence is None else at_prevalence(sampled, prevalence)
    ranking = evidence.ranking
    n = whole_cases(ranking.cases)
    if n < 1:
        raise _too_few(ranking.cases)
    limit = min(n if quota is None else resolve_quota(quota, n), prices.affordable(n, budget))
    taken = _bends(np.cumsum(ranking.pos.astype(np.float64) + ranking.neg), n, limit)
    curve = ProfitCurve(taken, hits_at(ranking, taken), taken, prices, (ranking.pos, ranking.neg))
    resampler = evidence.resampler(Settings(seed=seed, progress=progress), stratified=evidence.classes_given)
    n_resamples = enough_replicates(n_resamples, ranking.rows)

    def draw(quotas: Floats) -> tuple[Floats, Floats]:
        drawn = resampler.curves(0, quotas / ranking.cases, n_resamples)[0]
        return drawn, np.broadcast_to(quotas, drawn.shape)

    def coming(best: int, luck: float) -> Interval:
        # a drop of the hit chance at the cut is taken for chance, because the cut was chosen where the list drops
        chosen = replace(evidence.cut(float(best), float(curve.at(best)[0]), level), slope=0.0) if best else None
        return next_hits(chosen, level, optimism=luck)

    def cut_at(best: int) -> OperatingPoint:
        return at_rows(ranking, best, level, evidence.cut)

    wished |= {} if prevalence is None else {"prevalence": prevalence}
    return _plan_of(curve, limit, draw, wished, cut_at, coming)


def _plan_amounts(sample: Sample, prices: Gains, wished: dict[str, Any], settings: Settings) -> Plan:
    """The plan where values or costs differ from row to row: sums of the two columns stand for hits and cases."""
    assert sample.worth is not None
    order, cost, level = sample.worth.order(sample.score), sample.worth.cost, settings.level
    sample = replace(sample, score=order, low=float(order.min()), high=float(order.max()))
    evidence = RowEvidence.of(sample)
    ranking, gain = evidence.ranking, worth_columns(sample)[0] / prices.value
    spend = np.ones(len(sample)) if cost is None else cost
    group, weight, n = ranking.group_of(order), sample.row_weight, whole_cases(ranking.cases)
    if n < 1:
        raise _too_few(ranking.cases)
    rows = np.stack([weight, weight * gain, weight * spend])

    def curves(times: Floats | float = 1.0) -> Floats:
        """Running sums of cases, value and cost over the tied groups of the list, where rows come so often."""
        sums = [np.bincount(group, column * times, len(ranking)) for column in rows]
        return np.concatenate([np.zeros((3, 1)), np.cumsum(sums, axis=1)], axis=1)

    ends, values, costs = curves()
    places = np.arange(n + 1, dtype=np.float64) if n <= _EVERY_PLACE else np.unique(np.linspace(0, n, _GRID).round())
    taken = np.interp(places, ends, costs)
    limit = n if wished["capacity"] is None else resolve_quota(wished["capacity"], n)
    if wished["budget"] is not None:
        prices.affordable(0, wished["budget"])  # it covers the fixed cost
        left = wished["budget"] - prices.fixed_cost
        paid = np.flatnonzero(prices.cost * taken <= left * (1.0 + 1e-12))
        limit = min(limit, int(places[paid[-1]]))
    curve = ProfitCurve(places, np.interp(places, ends, values), taken, prices, None)
    rng, unit = np.random.default_rng([settings.seed, 17]), evidence.clusters
    units = len(sample) if unit is None else int(unit.max()) + 1
    n_drawn = min(settings.n_resamples, max(100, _ROWS_DRAWN // len(sample)))

    def draw(quotas: Floats) -> tuple[Floats, Floats]:
        drawn = np.empty((2, n_drawn, len(quotas)))
        for k in range(n_drawn):
            times = np.bincount(rng.integers(0, units, units), minlength=units).astype(np.float64)
            cases, *sums = curves(times if unit is None else times[unit])
            for column, total in enumerate(sums):
                drawn[column, k] = np.interp(quotas * cases[-1] / ends[-1], cases, total)
        return drawn[0], drawn[1]

    def coming(best: int, luck: float) -> Interval:
        found = float(np.interp(best, ends, values))  # the optimism is in amounts: as many hits as they are worth
        hits = float(hits_at(ranking, np.array([float(best)]))[0])
        chosen = replace(evidence.cut(float(best), hits, level), slope=0.0) if best else None
        return next_hits(chosen, level, optimism=luck * hits / found if found > 0.0 else 0.0)

    planned = _plan_of(curve, limit, draw, wished, lambda best: at_rows(ranking, best, level, evidence.cut), coming)
    return replace(planned, hits=hits_at(ranking, places))


def _too_few(cases: float, where: str = "") -> InputError:
    why = f"adds up to {cases:.6g} cases{where}, and a place takes one"
    return InputError("sample_weight", why, "give each row the number of cases that it represents")


def _plan_batches(rows: BatchRows, prices: Gains, wished: dict[str, Any], settings: Settings) -> Plan:
    """The same number of places in every batch: mean hits, places used and profit of a batch.

    A batch with fewer cases than places leaves places empty, so that the mean of the cases taken (what is paid for)
    grows more slowly than the places.
    """
    lists, level, quota = rows.lists(), settings.level, wished["capacity"]
    cap = np.array([whole_cases(cases) for cases in lists.cases], np.float64)
    if cap.max() < 1.0:
        raise _too_few(max(lists.cases), " in the largest batch")
    most = cap if quota is None else lists.places(quota)  # places of each batch
    cap = most if isinstance(quota, float) else cap
    n = max(1, int(cap.max()))
    limit = min(int(most.max()), prices.affordable(n, wished["budget"]))
    places = _bends(np.concatenate([lists.ends_in_batch, cap]), n, limit)
    hits, taken = (total / len(rows.batches) for total in lists.totals(places, cap))
    steps = np.diff(hits), np.maximum(np.diff(taken) - np.diff(hits), 0.0)
    curve = ProfitCurve(places, hits, taken, prices, steps)

    def draw(quotas: Floats) -> tuple[Floats, Floats]:
        planned = np.stack([lists.at(np.minimum(q, cap))[:, :2] for q in quotas.tolist()], axis=1)
        of_unit = rows.by_unit(np.concatenate([planned, np.ones((len(planned), len(quotas), 1))], axis=2))
        drawn = [times @ of_unit.reshape(rows.n_units, -1) for times in rows.multiplicities(settings)]
        summed = np.concatenate(drawn).reshape(-1, len(quotas), 3)
        return summed[:, :, 0] / summed[:, :, 2], summed[:, :, 1] / summed[:, :, 2]

    def coming(best: int, luck: float) -> Interval:
        chosen = lists.at(np.minimum(float(best), cap))
        return forecast(rows, chosen[:, 0], chosen[:, 1], level, optimism=luck).next

    def cut_at(best: int) -> OperatingPoint:
        return batch_point(rows, quota=best, threshold=None, level=level)

    several = rows.n_units > 1  # one batch shows no variation between batches
    grid = max(20, min(_GRID, _CELLS // len(rows.batches)))
    planned = _plan_of(curve, limit, draw if several else None, wished, cut_at, coming, grid)
    return replace(planned, batches=len(rows.batches))


Draw = Callable[[Floats], tuple[Floats, Floats]]  # quotas -> hits and cases taken there in each replicate


def _plan_of(
    curve: ProfitCurve,
    limit: int,
    draw: Draw | None,
    wished: dict[str, Any],
    cut_at: Callable[[int], OperatingPoint],
    coming: Callable[[int, float], Interval],
    grid: int = _GRID,
) -> Plan:
    """The plan of a curve: its best quota, the interval of the profit there, and the optimism of that choice.

    The optimism, in profit and in hits (``luck``), is how much better the best quota of a replicate looks in it than on
    the sample.
    """
    best, level, prices = curve.best(limit), wished["level"], curve.prices
    profit, optimism, luck = Estimate("profit", float(curve.profit_at(best))), 0.0, 0.0
    if draw is not None:
        quotas = np.unique(np.append(np.linspace(0, limit, min(limit + 1, grid)).round(), best))
        drawn_hits, drawn_taken = draw(quotas)
        drawn = prices.profit(drawn_taken, drawn_hits)
        profit = percentile_estimate("profit", profit.value, drawn[:, np.searchsorted(quotas, best)], level)
        chosen = np.argmax(drawn, axis=1)
        every = np.arange(len(drawn))
        optimism = max(0.0, float(np.mean(drawn[every, chosen] - curve.profit_at(quotas)[chosen])))
        luck = max(0.0, float(np.mean(drawn_hits[every, chosen] - curve.at(quotas)[0][chosen])))
    return Plan(
        best,
        profit,
        optimism,
        curve.break_even(),
        curve.marginal_value(best, limit),
        limit,
        cut_at(best) if best else None,
        coming(best, luck),
        curve.places,
        curve.hits,
        curve.profits,
        wished,
    )


def _bends(ends: Floats, n: int, limit: int) -> Floats:
    """The numbers of places at which a profit is computed: all of a short list, else those where it can bend.

    These are the whole places on either side of the ends of groups. In between the profit is a straight line, so that
    they say all, however many cases a row stands for.
    """
    if n <= _EVERY_PLACE:
        return np.arange(n + 1, dtype=np.float64)
    around = [np.floor(ends * (1.0 + 1e-15)), np.ceil(ends * (1.0 - 1e-15)), np.array([0.0, 1.0, limit, n])]
    return np.unique(np.minimum(np.concatenate(around), n))


class Gains(NamedTuple):
    """What a hit brings, what a case costs, and what taking anyone at all costs."""

    value: float
    cost: float
    fixed_cost: float

    def profit(self, taken: Floats, hits: Floats) -> Floats:
        """value · hits − cost · taken − fixed_cost, and 0 if no one is taken."""
        return np.where(taken > 0, self.value * hits - self.cost * taken - self.fixed_cost, 0.0)

    def affordable(self, n: int, budget: float | None) -> int:
        """How many of n cases a budget pays for."""
        if budget is None:
            return n
        left = budget - self.fixed_cost
        if left < 0:
            fixed = f"{{fixed_cost={self.fixed_cost:g}}}"
            raise InputError("budget", f"is {budget:g}, which does not cover {fixed}", "raise it")
        return n if self.cost == 0 else min(n, int(left / self.cost + 1e-9))


class ProfitCurve:
    """Profit by number of places, as straight lines between ``places``; ``taken``: cases that fill them.

    ``steps`` are the positives and the negatives of each stretch of the list; None where amounts differ by row.
    """

    def __init__(
        self,
        places: Floats,
        hits: Floats,
        taken: Floats,
        prices: Gains,
        steps: tuple[NDArray[Any], NDArray[Any]] | None,
    ) -> None:
        self.places, self.hits, self.taken, self.prices, self.steps = places, hits, taken, prices, steps
        self.profits = prices.profit(taken, hits)
        # amounts like 0.1 are not exact in floats: what differs by rounding alone is equal
        self._rounding = 1e-12 * (prices.value * hits + prices.cost * taken + prices.fixed_cost)

    def at(self, places: Any) -> tuple[Floats, Floats]:
        """Hits and cases taken."""
        hits, taken = (np.interp(places, self.places, column) for column in (self.hits, self.taken))
        return np.asarray(hits), np.asarray(taken)

    def profit_at(self, places: Any) -> Floats:
        """The profit at some numbers of places."""
        hits, taken = self.at(places)
        return self.prices.profit(taken, hits)

    def best(self, limit: int) -> int:
        """The quota with the highest profit; of equal ones the smallest."""
        allowed = self.profits[: int(np.searchsorted(self.places, limit, side="right"))]
        return int(self.places[np.argmax(allowed >= allowed.max() - self._rounding[: len(allowed)])])

    def break_even(self) -> int:
        """The largest quota without a loss: the last bend without one, and as far as its profit lasts behind it."""
        last = int(np.flatnonzero(self.profits >= -self._rounding)[-1])
        place, left = self.places[last], self.profits[last] + self._rounding[last]
        if last + 1 == len(self.places) or not place:
            return int(place)
        loss = (self.profits[last] - self.profits[last + 1]) / (self.places[last + 1] - place)
        return int(min(place + np.floor(left / loss), self.places[last + 1] - 1.0))

    def marginal_value(self, best: int, limit: int) -> float:
        """Value of a hit times its chance at the next place, less the cost; nan where nobody is left.

        The chance is the slope of the least concave curve above the hits; the single next outcome would be 0 or 1. A
        limit binds where the stretch of the list behind it still pays, though the best cut may lie some places before
        it because the last of them happen to be no hits. Otherwise there is nothing to gain by lifting it.
        """
        if self.steps is None:  # the mean of the next places, as many as new samples would move the cut by
            last = float(self.places[-1])

            def ahead(place: float) -> float:
                following = min(place + max(5.0, math.sqrt(place)), last)
                gained = float(self.profit_at(following) - self.profit_at(max(place, 1.0)))
                return gained / (following - place) if following > place else 0.0

            beyond = ahead(float(limit))
            if best >= last:
                return math.nan
            return beyond if best == limit or beyond > 0 else min(ahead(float(best)), 0.0)
        pos, neg = self.steps
        weighted = pos.dtype.kind == "f"
        zero = 0.0 if weighted else 0
        x, y, used = compiled.hull_of_groups(pos, neg, zero, zero)
        cases, hits = (x[:used] + y[:used]).astype(np.float64), y[:used].astype(np.float64)
        end = cases[-1] * (1.0 - 1e-12)  # mean cases of batches round
        at_best, at_limit = (float(self.at(place)[1]) for place in (best, limit))
        if at_best >= end:
            return float("nan")

        def after(taken: float) -> float:
            k = int(np.searchsorted(cases, taken * (1.0 + 1e-12), side="right"))
            slope = (hits[k] - hits[k - 1]) / (cases[k] - cases[k - 1])
            return float(self.prices.value * slope - self.prices.cost)

        beyond = after(at_limit) if at_limit < end else 0.0
        return beyond if at_best == at_limit or beyond > 0 else min(after(at_best), 0.0)


def amount(value: float, spread: float) -> str:
    """An amount in the digits that its spread supports: two of the spread's own, or three where it is 100 or more.

    >>> amount(93.4567, 54.4), amount(1234.5, 900), amount(77085, 66300), amount(-0.1234, 0.02)
    ('93', '1,234', '77,100', '−0.123')
    """
    if not (np.isfinite(value) and np.isfinite(spread) and spread > 0):
        return format_value(value)
    return f"{_rounded(value, spread):,.{max(0, _digits(spread))}f}".replace("-", "−")


def _digits(spread: float) -> int:
    """Decimals to show; negative for tens, hundreds and so on."""
    size = int(np.floor(np.log10(spread)))
    return 1 - size if size < 2 else 2 - size


def _rounded(value: float, spread: float) -> float:
    return round(value, _digits(spread)) + 0.0

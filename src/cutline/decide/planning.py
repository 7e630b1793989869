"""How many places to fill: profit by quota, the best cut, and what it will give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..estimate import Estimate, Interval
from ..inference.batches import BatchRows, forecast, whole_list
from ..inference.evidence import Rows
from ..inference.prevalence import Prevalence, as_prevalence, at_prevalence, reweighted_ranking, widened_limits
from ..inference.resampling import enough_replicates
from ..inference.settings import Settings
from ..kernels.backend import passes
from ..quotas import MOST, resolve_quota, whole_cases
from ..ranking import Ranking
from ..sources.arrays import make_sample
from ..table import DictResult, Drawn, Table, columns_table, count, format_value, pluralize
from ..types import Floats, Label, Labels, QuotaLike, Scores
from ..validate import checked
from .batches import batch_point
from .operating import OperatingPoint, at_rows, next_hits
from .selection import hits_at, quota_weights

_GRID = 400
_EVERY_PLACE = 100_000  # cases up to which the curve has every place
_CELLS = 4_000_000  # hits that are kept of all batches, over the quotas that are tried


@dataclass(frozen=True, eq=False)
class Plan(Drawn, DictResult):
    """Profit by number of cases taken, and the most profitable cut.

    ``profit`` is the profit at the best quota with a bootstrap interval; ``optimism`` is how much of it is due to
    choosing the best cut on the same data (a bootstrap estimate), and ``expected_profit`` is the profit without it.
    ``next_hits`` is a prediction interval for the hits in the next batch, cut at the same share; it allows for that
    optimism too. ``marginal_value`` is what one more place would be worth, averaged over that part of the list; it is
    positive only if the limit binds. ``break_even`` is the largest quota that does not lose money, ``limit`` the most
    cases that budget and capacity allow. With ``batches`` all numbers are those of one batch, on average. ``plot``
    draws the profit by number of cases taken, with the best cut and its interval.
    """

    picture: ClassVar[str] = "plan"

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
    batches: int | None = None

    @property
    def expected_profit(self) -> float:
        """The expected profit on new data, without the optimism of choosing the best cut on the same data."""
        return self.profit.value - self.optimism

    @property
    def curve(self) -> Table:
        """Cases taken, expected hits and profit, row by row; of more than 100,000 cases only where the profit bends."""
        return columns_table({"taken": self.taken, "hits": self.hits, "profit": self.profits}, "Profit by quota")

    def to_dict(self) -> dict[str, Any]:
        """The plan without its curve."""
        forecast = {} if self.over_quotas is None else {"expected_over_quotas": self.over_quotas.value}
        return {
            "quota": self.quota,
            **self.profit.to_dict("profit"),
            "optimism": self.optimism,
            "expected_profit": self.expected_profit,
            "break_even": self.break_even,
            "one_more_place": self.marginal_value,
            "limit": self.limit,
            **forecast,
            **({} if self.batches is None else {"batches": self.batches}),
            **self.settings,
        }

    def sentences(self) -> list[str]:
        """The plan in words; amounts are rounded to what the interval supports."""
        s = self.settings
        if self.limit == 0:
            return [f"Take no one: a budget of {s['budget']:g} does not pay for one case at a cost of {s['cost']:g}."]
        if self.quota == 0 and self.profits.max() > 0:
            allowed = pluralize(self.limit, "case")
            return [f"Take no one: no cut within the limit of {allowed} makes a profit; a higher limit would."]
        if self.quota == 0:
            return [f"Take no one: at cost {s['cost']:g} and value {s['value']:g} no cut makes a profit."]
        p, (low, high) = self.profit, self.next_hits
        spread = p.high - p.low
        each = "" if self.batches is None else " of each batch"
        mean = "" if self.batches is None else f" for each of {pluralize(self.batches, 'batch', 'batches')}"
        words = [
            f"Take the best {self.quota:,}{each}: profit {amount(p.value, spread)}{mean} on these data"
            + (
                f" ({p.level:.0%} interval {amount(p.low, spread)} to {amount(p.high, spread)})."
                if spread == spread
                else "."
            )
        ]
        shown, expected = amount(p.value, spread), amount(self.expected_profit, spread)
        if shown != expected:
            part = amount(_rounded(p.value, spread) - _rounded(self.expected_profit, spread), spread)
            words.append(f"About {part} of this profit is optimism from choosing the best cut; expect {expected}.")
        if self.cut is not None:
            mean_hits = self.cut.tp / (self.batches or 1)
            hits = (
                f"{pluralize(mean_hits, 'hit')} {'on these data' if self.batches is None else 'per batch on average'}"
            )
            coming = f"expect {count(low)} to {count(high)} in the next batch"
            words.append(f"This list has {hits}; {coming}." if low == low else f"This list has {hits}.")
        words.append(f"The largest quota without a loss is {self.break_even:,}; the limit is {self.limit:,}.")
        if self.marginal_value > 0:
            worth = amount(self.marginal_value, self.marginal_value)
            words.append(f"A place beyond this limit would be worth about {worth}.")
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

    def _repr_html_(self) -> str:
        from ..present.notebook import plan_html

        return plan_html(self)


@checked(prevalence=as_prevalence)
def plan(
    y_true: Labels,
    y_score: Scores,
    *,
    cost: float = 0.0,
    value: float = 1.0,
    fixed_cost: float = 0.0,
    budget: float | None = None,
    quota: int | float | None = None,
    quotas: QuotaLike | None = None,
    pos_label: Label = None,
    sample_weight: Scores | None = None,
    clusters: Labels | None = None,
    prevalence: Any = None,
    batch: Labels | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    progress: bool | None = None,
) -> Plan:
    """Find the most profitable cut for a cost per case and a value per hit.

    profit(j) = value · hits(j) − cost · j − fixed_cost, for j ≥ 1, and 0 if no one is taken. ``budget`` limits
    fixed_cost + cost · j, ``quota`` the number of cases. ``quotas`` (a range, or a mapping from quota to weight) adds
    the expected profit when the number of places is not known. ``sample_weight`` is how many cases a row represents;
    rows of the same cluster (``clusters``) belong together. ``prevalence`` is the share of positives where the scores
    will be used, if the sample's differs, or a pair of it and its standard error, which then widens the interval of the
    profit. With ``batch`` (the batch of each row: a day, a branch) the plan is per batch: the number of places, the
    budget and the fixed cost are those of one batch, and the profit is the mean per batch.

    >>> p = plan([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2], cost=2, value=5)
    >>> p.quota, p.profit.value, p.break_even
    (4, 7.0, 6)
    """
    prices = {"cost": cost, "value": value, "fixed_cost": fixed_cost}
    sample = make_sample(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, clusters=clusters)
    if batch is not None:
        if prevalence is not None:
            raise whole_list("{prevalence}")
        in_batches = BatchRows.of_batches(sample, batch)
        how = Settings("auto", level, n_resamples, seed)
        return _plan_batches(in_batches, prices, budget, quota, quotas, how)
    sampled = Rows.of(sample)
    rows = sampled if prevalence is None else at_prevalence(sampled, prevalence.value)
    ranking = rows.ranking
    n = whole_cases(ranking.cases)
    if n < 1:
        raise _too_few(ranking.cases)
    limit = _limit(n, prices, budget, quota)
    taken = _bends(np.cumsum(ranking.pos.astype(np.float64) + ranking.neg), n, limit)
    hits = hits_at(ranking, taken)
    curve = _Curve(taken, hits, taken, prices)
    best, afloat = curve.best(limit), curve.break_even()
    resampler = rows.resampler(Settings(seed=seed, progress=progress), stratified=rows.classes_given)
    n_resamples = enough_replicates(n_resamples, ranking.rows)

    def draw(quotas: Floats) -> tuple[Floats, Floats]:
        drawn = resampler.curves(0, quotas / ranking.cases, n_resamples)[0]
        return drawn, np.broadcast_to(quotas, drawn.shape)

    estimate, optimism, luck = _forecast(curve, best, limit, draw, level)
    known: dict[str, Any] = {**prices, "budget": budget, "capacity": quota, "level": level, "seed": seed}
    if prevalence is not None:
        estimate = _with_error_of(prevalence, estimate, best, sampled.ranking, prices, level)
        known |= {"prevalence": prevalence.value, "prevalence_standard_error": prevalence.standard_error}
    # a drop of the hit chance at the cut is taken for chance, because the cut was chosen where the list drops
    at_best = float(curve.at(best)[0])
    chosen = replace(rows.cut(float(best), at_best, level), slope=0.0) if best else None
    return Plan(
        best,
        estimate,
        optimism,
        afloat,
        _marginal_value(*_least_concave(ranking.pos, ranking.neg), best, limit, prices),
        limit,
        at_rows(ranking, best, level, rows.cut) if best else None,
        next_hits(chosen, level, optimism=luck),
        taken,
        hits,
        curve.profits,
        known,
        None if quotas is None else _over(quotas, ranking.cases, curve, draw, level),
    )


def _too_few(cases: float, where: str = "") -> InputError:
    said = f"adds up to {cases:.6g} cases{where}, and a place takes one"
    return InputError("sample_weight", said, "give each row the number of cases that it represents")


def _plan_batches(
    rows: BatchRows,
    prices: dict[str, float],
    budget: float | None,
    quota: int | float | None,
    quotas: QuotaLike | None,
    settings: Settings,
) -> Plan:
    """The same number of places in every batch: mean hits, places used and profit of a batch."""
    lists, level = rows.lists(), settings.level
    known: dict[str, Any] = {**prices, "budget": budget, "capacity": quota, "level": level, "seed": settings.seed}
    if isinstance(quotas, Mapping) and any(isinstance(q, float | np.floating) for q in quotas):
        raise InputError("quotas", "holds a share, which differs from batch to batch", "give numbers of places")
    cap = np.array([whole_cases(cases) for cases in lists.cases], np.float64)
    if cap.max() < 1.0:
        raise _too_few(max(lists.cases), " in the largest batch")
    most = cap if quota is None else lists.places(quota)  # places of each batch
    cap = most if isinstance(quota, float) else cap
    n = max(1, int(cap.max()))
    limit = min(int(most.max()), _limit(n, prices, budget, None))
    places = _bends(np.concatenate([lists.ends_in_batch, cap]), n, limit)
    hits, taken = (total / len(rows.batches) for total in lists.totals(places, cap))
    curve = _Curve(places, hits, taken, prices)
    best, afloat = curve.best(limit), curve.break_even()

    def draw(quotas: Floats) -> tuple[Floats, Floats]:
        found = np.stack([lists.at(np.minimum(q, cap))[:, :2] for q in quotas.tolist()], axis=1)
        of_unit = rows.by_unit(np.concatenate([found, np.ones((len(found), len(quotas), 1))], axis=2))
        drawn = [times @ of_unit.reshape(rows.n_units, -1) for times in rows.multiplicities(settings)]
        summed = np.concatenate(drawn).reshape(-1, len(quotas), 3)
        return summed[:, :, 0] / summed[:, :, 2], summed[:, :, 1] / summed[:, :, 2]

    grid = max(20, min(_GRID, _CELLS // len(rows.batches)))
    if rows.n_units > 1:
        estimate, optimism, luck = _forecast(curve, best, limit, draw, level, grid)
    else:
        estimate, optimism, luck = Estimate("profit", float(curve.profit_at(best))), 0.0, 0.0
    chosen = lists.at(np.minimum(float(best), cap))
    steps = np.diff(hits), np.maximum(np.diff(taken) - np.diff(hits), 0.0)
    corners = _least_concave(*steps)
    return Plan(
        best,
        estimate,
        optimism,
        afloat,
        _marginal_value(*corners, float(curve.at(best)[1]), float(curve.at(limit)[1]), prices),
        limit,
        batch_point(rows, quota=best, threshold=None, level=level) if best else None,
        forecast(rows, chosen[:, 0], chosen[:, 1], level, optimism=luck).next,
        places,
        hits,
        curve.profits,
        known,
        None if quotas is None or rows.n_units < 2 else _over(quotas, n, curve, draw, level),
        len(rows.batches),
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


class _Curve:
    """Profit by number of places, as straight lines between ``places``; ``taken``: cases that fill them."""

    def __init__(self, places: Floats, hits: Floats, taken: Floats, prices: dict[str, float]) -> None:
        self.places, self.hits, self.taken, self.prices = places, hits, taken, prices
        self.profits = _profit(taken, hits, prices)
        # amounts like 0.1 are not exact in floats: what differs by rounding alone is equal
        self._rounding = 1e-12 * (prices["value"] * hits + prices["cost"] * taken + prices["fixed_cost"])

    def at(self, places: Any) -> tuple[Floats, Floats]:
        """Hits and cases taken."""
        hits, taken = (np.interp(places, self.places, column) for column in (self.hits, self.taken))
        return np.asarray(hits), np.asarray(taken)

    def profit_at(self, places: Any) -> Floats:
        hits, taken = self.at(places)
        return _profit(taken, hits, self.prices)

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


def amount(value: float, spread: float) -> str:
    """An amount with as many digits as its spread supports: two of the spread's own.

    >>> amount(93.4567, 54.4), amount(1234.5, 900), amount(-0.1234, 0.02)
    ('93', '1,230', '−0.123')
    """
    if not (np.isfinite(value) and np.isfinite(spread) and spread > 0):
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


def _least_concave(pos: NDArray[Any], neg: NDArray[Any]) -> tuple[Floats, Floats]:
    """The least concave curve above the hits, as its corners.

    Its slope is the chance of a hit at the next place; the single next outcome would be 0 or 1.
    """
    weighted = pos.dtype.kind == "f"
    zero = 0.0 if weighted else 0
    x, y, used = passes(len(pos), weighted=weighted).hull_of_groups(pos, neg, zero, zero)
    return (x[:used] + y[:used]).astype(np.float64), y[:used].astype(np.float64)


def _marginal_value(places: Floats, found: Floats, best: float, limit: float, prices: dict[str, float]) -> float:
    """Value of a hit times its chance at the next place, less the cost; nan where nobody is left.

    A limit binds where the stretch of the list behind it still pays, though the best cut may lie some places before it
    because the last of them happen to be no hits. Otherwise there is nothing to gain by lifting it.
    """
    end = places[-1] * (1.0 - 1e-12)  # mean cases of batches round
    if best >= end:
        return float("nan")

    def after(place: float) -> float:
        k = int(np.searchsorted(places, place * (1.0 + 1e-12), side="right"))
        slope = (found[k] - found[k - 1]) / (places[k] - places[k - 1])
        return float(prices["value"] * slope - prices["cost"])

    beyond = after(limit) if limit < end else 0.0
    return beyond if best == limit or beyond > 0 else min(after(best), 0.0)


Draw = Callable[[Floats], tuple[Floats, Floats]]  # quotas -> hits and cases taken there in each replicate


def _forecast(
    curve: _Curve, best: int, limit: int, draw: Draw, level: float, grid: int = _GRID
) -> tuple[Estimate, float, float]:
    """Percentile interval of the profit at the best quota, and the optimism of its choice in profit and in hits."""
    quotas = np.unique(np.append(np.linspace(0, limit, min(limit + 1, grid)).round(), best))
    drawn_hits, drawn_taken = draw(quotas)
    drawn = _profit(drawn_taken, drawn_hits, curve.prices)
    here = drawn[:, np.searchsorted(quotas, best)]
    low, high = np.quantile(here, [(1 - level) / 2, (1 + level) / 2])
    chosen = np.argmax(drawn, axis=1)
    every = np.arange(len(drawn))
    optimism = max(0.0, float(np.mean(drawn[every, chosen] - curve.profit_at(quotas)[chosen])))
    luck = max(0.0, float(np.mean(drawn_hits[every, chosen] - curve.at(quotas)[0][chosen])))
    profit = float(curve.profit_at(best))
    return Estimate("profit", profit, float(low), float(high), level, "percentile"), optimism, luck


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


def _over(quotas: QuotaLike, n: float, curve: _Curve, draw: Draw, level: float) -> Estimate:
    """Expected profit over a distribution of quotas, with a percentile interval."""
    sizes, weights = quota_weights(quotas, n, MOST)
    order = np.argsort(sizes)
    sizes, weights = sizes[order], weights[order] / weights.sum()
    drawn_hits, drawn_taken = draw(sizes)
    drawn = _profit(drawn_taken, drawn_hits, curve.prices) @ weights
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    value = float(curve.profit_at(sizes) @ weights)
    return Estimate("profit over quotas", value, float(low), float(high), level, "percentile")

"""Costs of errors: the cheapest cut and model, what it costs on new data, and net benefit by threshold probability."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..catalogue.declare import Spec, ratio
from ..curves import hull_points
from ..errors import InputError
from ..estimate import Estimate, Interval
from ..inference.limits import effective_size, pair_limits, wilson, wilson_share, z_of
from ..ranking import Ranking
from ..runtime import Progress
from ..sources.arrays import Sample
from ..sweep import Counts
from ..table import DictResult, HasSections, Section, ShownAsTable, Table, cut_text, in_sentence, joined, values_of
from ..types import Floats
from ..validate import check_amount
from .operating import percentile_estimate

_GRID = 200  # thresholds tried in each replicate, beside the corners of the hull
_REPLICATES = 200  # enough for a mean and a spread
_ROWS_DRAWN = 20_000_000  # in all replicates: about a second
_UNSEEN = 3  # of n cases of a class, what 3/n of the population has goes unseen in 5% of samples
_SAME = 1e-12  # relative to the costs of both errors: what rounding may add to a sum


@dataclass(frozen=True)
class ErrorPrices(DictResult):
    """What errors cost: a false positive, a false negative, and the share of positives where the scores are used."""

    fp: float
    fn: float
    prevalence: float | None = None

    @classmethod
    def checked(cls, cost_fp: Any, cost_fn: Any, prevalence: Any = None) -> ErrorPrices:
        """ErrorPrices from a user's arguments."""
        fp, fn = check_amount(cost_fp, "cost_fp"), check_amount(cost_fn, "cost_fn")
        if fp == fn == 0:
            raise InputError("cost_fp", "and {cost_fn} are both 0, so every cut costs the same", "price one of them")
        return cls(fp, fn, prevalence)

    def expected(self, tp: Any, fp: Any, n_pos: Any, n_neg: Any) -> Any:
        """Expected cost for each case at a cut."""
        if self.prevalence is None:
            return (self.fp * fp + self.fn * (n_pos - tp)) / (n_pos + n_neg)
        return self.fp * (1.0 - self.prevalence) * ratio(fp, n_neg) + self.fn * self.prevalence * ratio(
            n_pos - tp, n_pos
        )

    def spread(self, tp: float, fp: float, n_pos: float, n_neg: float) -> tuple[float, float]:
        """Standard error of the expected cost at a fixed cut, and its third moment over its variance.

        One error of each kind is added first, so that a cut without errors is not taken to be without doubt.
        """
        fn, n = n_pos - tp, n_pos + n_neg
        if self.prevalence is None:
            a, b = (fp + 1.0) / (n + 2.0), (fn + 1.0) / (n + 2.0)
            m1, m2, m3 = (self.fp**k * a + self.fn**k * b for k in (1, 2, 3))
            variance, third = (m2 - m1**2) / n, (m3 - 3.0 * m1 * m2 + 2.0 * m1**3) / n**2
            return math.sqrt(variance), third / variance
        variance = third = 0.0
        for price, errors, size in (
            (self.fp * (1.0 - self.prevalence), fp, n_neg),
            (self.fn * self.prevalence, fn, n_pos),
        ):
            p = (errors + 1.0) / (size + 2.0)
            variance += price**2 * p * (1.0 - p) / size
            third += price**3 * p * (1.0 - p) * (1.0 - 2.0 * p) / size**2
        return math.sqrt(variance), third / variance


@dataclass(frozen=True, eq=False, repr=False)
class Cheapest(HasSections, DictResult):
    """The model and cut with the lowest expected cost per case.

    ``cost`` is the expected cost on new data, corrected for the optimism of choosing the cut on this sample
    (``optimism``, a bootstrap estimate; ``apparent`` is the cost on the sample itself). The cut stays the cheapest as
    long as ``cost_fn / cost_fp`` lies in ``ratios``, and the model (at some cut) as long as it lies in
    ``model_ratios``. ``treat_all`` and ``treat_none`` are the costs of taking everyone and no one. ``above``
    is the lowest score above the threshold.
    """

    model: str
    threshold: float
    cost: Estimate
    apparent: float
    optimism: float
    ratios: tuple[float, float]
    model_ratios: tuple[float, float]
    treat_all: float
    treat_none: float
    recall: float
    fpr: float
    prices: ErrorPrices
    others: Table
    above: float

    @property
    def answer(self) -> list[str]:
        """Which model and threshold cost least, how sure that is, and what the others, everyone and no one cost."""
        c, prices = self.cost, self.prices
        within = f" ({c.level:.0%} interval {money(c.low)} to {money(c.high)})" if c.low == c.low else ""
        fp, fn = in_sentence(prices.fp), in_sentence(prices.fn)
        errors = f"Where a false positive costs {fp} and a false negative {fn}"
        where = f"{self.model} at score > {cut_text(self.threshold, self.above)}"
        clear = all(row["low"] > 0 for row in self.others)
        told = f"{errors}, use {where}" if clear else f"{errors}, {where} is cheapest, but not clearly"
        more = [
            f"{row['model']} costs {money(row['costs_more'])} more ({money(row['low'])} to {money(row['high'])})"
            for row in self.others
        ]
        return [
            f"{told}: expect a cost of {money(c.value)} per case on new data{within}; "
            f"it is {money(self.apparent)} here.",
            *([f"Here, {joined(more)}."] if more else []),
            f"Selecting everyone costs {money(self.treat_all)}, selecting no one {money(self.treat_none)}.",
        ]

    @property
    def conditions(self) -> list[str]:
        """What the choice of the cut flatters the cost by on this sample, and for which costs the model stays best."""
        return [
            f"On this sample it costs {money(self.apparent)}, which is too low by about {money(self.optimism)} because "
            "it was chosen there; what the others cost more compares all on this sample.",
            f"{self.model} is the cheapest model {for_costs(*self.model_ratios)}.",
        ]

    def sections(self) -> list[Section]:
        """The cheapest model and cut, and what the others cost."""
        return [Section("costs", [*self.answer, *self.conditions, self.others])]


def money(value: float) -> str:
    """An amount with three decimals, a large one in whole units, a tiny one with its first digits; a real minus."""
    shown = f"{value:.3f}" if abs(value) < 100 else f"{value:,.0f}"
    return (shown if float(shown.replace(",", "")) or not value else f"{value:.2g}").replace("-", "−")


def for_costs(least: float, most: float) -> str:
    """For which costs of a false negative a cut or model is the cheapest, as multiples of a false positive's."""
    if math.isinf(most) and not least:
        return "whatever errors cost"
    times = f"at least {least:.3g}" if math.isinf(most) else f"{least:.3g} to {most:.3g}"
    return f"as long as a false negative costs {times} times as much as a false positive"


class _TriedCuts:
    """The thresholds of one model that are tried in each replicate, ascending; the first takes all rows.

    They are the corners of the hull and evenly spread places of the list. ``stretch`` tells between which of them each
    row lies, so that a replicate is two counts of rows and no sort. ``in_cells`` joins the rows that lie in the same
    stretch and class, so that a replicate does not grow with the rows.
    """

    def __init__(self, sample: Sample, ranking: Ranking, best: float, in_cells: bool) -> None:
        places = np.linspace(0, len(ranking) - 1, min(len(ranking), _GRID)).round().astype(np.int64)
        listed = ranking.score[places].astype(np.float64)
        self.thresholds = np.unique(np.concatenate([[best, -np.inf], hull_points(ranking)[2], listed]))
        self.at_best = int(np.searchsorted(self.thresholds, best))
        self.positive, self.weight, self.in_cells = sample.positive, sample.row_weight, in_cells
        self.stretch = np.maximum(np.searchsorted(self.thresholds, sample.score, side="left") - 1, 0)
        self.spread = np.bincount(self.stretch, self.weight, len(self.thresholds)) / self.weight.sum()
        self.one_case = [self.weight[side].mean() for side in (self.positive, ~self.positive)]
        if in_cells:
            sizes = np.bincount(2 * self.stretch + self.positive)
            cells = np.flatnonzero(sizes)
            self.stretch, self.positive, self.weight = cells // 2, cells % 2 == 1, sizes[cells].astype(np.float64)

    def draw(self, rng: np.random.Generator, unit: NDArray[np.int64] | None) -> tuple[Floats, Floats]:
        """Weights of the rows (or clusters) drawn again, and of those left out."""
        if self.in_cells:  # of m rows drawn k times, m(1 − 1/m)^k are left out on average
            n = int(self.weight.sum())
            times = rng.multinomial(n, self.weight / n).astype(np.float64)
            return times, self.weight * (1.0 - 1.0 / self.weight) ** times
        n = len(self.weight) if unit is None else int(unit.max()) + 1
        times = np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
        times = times if unit is None else times[unit]
        return self.weight * times, self.weight * (times == 0)

    def losses(self, loss: _Loss, weight: Floats, unseen: Any = (0.0, 0.0)) -> Floats:
        """The loss above each threshold where rows have these weights; ``unseen`` positives and negatives are added."""
        above = []
        for side, more in zip((self.positive, ~self.positive), unseen, strict=True):
            counts = np.bincount(self.stretch[side], weight[side], len(self.thresholds)) + more
            above.append(np.cumsum(counts[::-1], dtype=np.float64)[::-1])
        return np.asarray(loss(above[0], above[1], float(above[0][0]), float(above[1][0])))

    def best_between(self, loss: _Loss, weight: Floats, rng: np.random.Generator) -> tuple[float, float]:
        """The ends of all cuts that are best, with some more cases of each class at the scores of random rows.

        A replicate by itself has no positive below the lowest of the sample, and no negative above the highest.
        """
        unseen = [case * rng.multinomial(_UNSEEN, self.spread) for case in self.one_case]
        best = _least(self.losses(loss, weight, unseen))
        return float(self.thresholds[best[0]]), float(np.append(self.thresholds, np.inf)[best[-1] + 1])


def _least(losses: Floats) -> NDArray[np.intp]:
    """Where the losses are lowest, but for rounding."""
    least = float(np.nanmin(losses))
    return np.flatnonzero(losses <= least + _SAME * max(1.0, abs(least)))


_Loss = Callable[[Any, Any, float, float], Any]  # positives and negatives taken at each cut, and in all -> loss there


class _ChosenAgain(NamedTuple):
    """The best cut of each replicate: the optimism of choosing it, and the losses at the own cuts."""

    optimism: float
    at_best: Floats


def _choose_again(
    samples: Mapping[str, Sample],
    rankings: Mapping[str, Ranking],
    best: Mapping[str, tuple[float, float]],
    loss: _Loss,
    *,
    n_resamples: int,
    seed: int,
    clusters: Mapping[str, NDArray[np.int64]] | None = None,
    paired: bool = True,
    progress: bool | None = None,
    between_out: list[tuple[float, float]] | None = None,
) -> _ChosenAgain:
    """Choose model and cut again in each replicate; ``best`` has the threshold and the loss of each model's best cut.

    The cut that is best in a replicate loses more on the sample, and still more on the rows left out of the replicate.
    The first difference is smaller than the optimism and the second larger: their mean is taken.
    """
    in_cells = len(samples) == 1 and clusters is None and not any(ranking.weighted for ranking in rankings.values())
    models = [_TriedCuts(samples[name], rankings[name], best[name][0], in_cells) for name in samples]
    units = [None if clusters is None else clusters[name] for name in samples]
    if not in_cells:
        n_resamples = min(n_resamples, max(50, _ROWS_DRAWN // max(map(len, samples.values()))))
    rng, placing = np.random.default_rng([seed, 3]), np.random.default_rng([seed, 4])
    first = np.cumsum([0, *(len(cuts.thresholds) for cuts in models)])
    here = np.concatenate([cuts.losses(loss, cuts.weight) for cuts in models])
    at_best, gaps, left_out = np.empty((n_resamples, len(models))), [], []
    with Progress("costs", n_resamples, progress) as counter:
        for replicate in at_best:
            counter.advance()
            drawn: list[tuple[Floats, Floats]] = []
            for cuts, unit in zip(models, units, strict=True):  # models on the same rows share their draws
                drawn.append(drawn[0] if drawn and paired else cuts.draw(rng, unit))
            losses = [cuts.losses(loss, inside) for cuts, (inside, _) in zip(models, drawn, strict=True)]
            replicate[:] = [each[cuts.at_best] for each, cuts in zip(losses, models, strict=True)]
            every = np.concatenate(losses)
            if np.isnan(every).all():
                continue
            at = int(np.nanargmin(every))
            k = int(np.searchsorted(first, at, side="right")) - 1
            if between_out is not None:
                between_out.append(models[k].best_between(loss, drawn[k][0], placing))
            gaps.append(here[at] - every[at])
            if drawn[k][1].any():  # of a few rows a replicate may leave out none
                left_out.append(models[k].losses(loss, drawn[k][1])[at - first[k]])
    optimism = 0.0
    if np.isfinite(gaps).any() and np.isfinite(left_out).any():
        apparent = min(lost for _, lost in best.values())
        optimism = max(0.0, float(np.nanmean(gaps) + np.nanmean(left_out) - apparent) / 2.0)
    return _ChosenAgain(optimism, at_best)


def cheapest(
    samples: Mapping[str, Sample],
    rankings: Mapping[str, Ranking],
    prices: ErrorPrices,
    *,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    clusters: Mapping[str, NDArray[np.int64]] | None = None,
    progress: bool | None = None,
    paired: bool = True,
) -> Cheapest:
    """The cheapest model and cut of several models; ``clusters`` numbers the cluster of each row of each model."""
    cuts = {}  # the cheapest of each model; of several that cost the same, the one that takes the fewest cases
    for name, ranking in rankings.items():
        need_both_classes(ranking.n_pos, ranking.n_neg, "costs of errors cannot be compared")
        hull = hull_points(ranking)
        found, wrong = hull[1] * ranking.n_pos, hull[0] * ranking.n_neg
        costs = prices.expected(found, wrong, float(ranking.n_pos), float(ranking.n_neg))
        at = int(np.argmax(costs <= costs.min() + _SAME * (prices.fp + prices.fn)))
        cuts[name] = float(hull[2][at]), float(found[at]), float(wrong[at]), float(costs[at])
    model = min(cuts, key=lambda name: cuts[name][3])
    threshold, tp, fp, apparent = cuts[model]
    n_pos, n_neg = float(rankings[model].n_pos), float(rankings[model].n_neg)
    best = {name: (cut[0], cut[3]) for name, cut in cuts.items()}
    how: dict[str, Any] = {"clusters": clusters, "paired": paired, "progress": progress, "seed": seed}
    again = _choose_again(samples, rankings, best, prices.expected, n_resamples=min(n_resamples, _REPLICATES), **how)
    drawn = dict(zip(samples, again.at_best.T, strict=True))
    value, z = apparent + again.optimism, z_of(level)
    error, skew = prices.spread(tp, fp, n_pos, n_neg)
    if rankings[model].weighted or clusters is not None:
        error, skew = float(np.nanstd(drawn[model], ddof=1)), 0.0
    if apparent > 0:  # on new data there are more errors than on the sample, and so more spread
        error *= math.sqrt(value / apparent)
    middle = value + skew * (1.0 + 2.0 * z * z) / 6.0
    low, high = max(0.0, middle - z * error), middle + z * error
    ratios, model_ratios = _ratios(rankings, model, threshold, prices)
    others = []
    for name, (own_cut, _, _, cost) in cuts.items():
        if name != model:  # at its own cheapest cut, with the interval of the paired difference
            row = {"model": name, "threshold": own_cut, "apparent_cost": cost, "costs_more": cost - apparent}
            gap = percentile_estimate("costs_more", cost - apparent, drawn[name] - drawn[model], level)
            others.append({**row, "low": gap.low, "high": gap.high, "level": level})
    return Cheapest(
        model,
        threshold,
        Estimate("expected_cost", value, low, high, level, "normal with skewness, optimism removed"),
        apparent,
        again.optimism,
        ratios,
        model_ratios,
        treat_all=float(prices.expected(n_pos, n_neg, n_pos, n_neg)),
        treat_none=float(prices.expected(0.0, 0.0, n_pos, n_neg)),
        recall=tp / n_pos,
        fpr=fp / n_neg,
        prices=prices,
        others=Table(others, f"What the other models cost more than {model}"),
        above=rankings[model].score_before(rankings[model].above(threshold)),
    )


class BestCut(NamedTuple):
    """The cut at which a measure is best: its threshold with an interval, and the measure without the optimism."""

    threshold: float
    limits: Interval
    value: Estimate
    apparent: float
    optimism: float


def best_cut(
    sample: Sample,
    ranking: Ranking,
    spec: Spec,
    *,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    clusters: NDArray[np.int64] | None = None,
) -> BestCut:
    """The cut at which a measure of the four counts is best; of several that are as good, the one that takes fewest.

    The best cuts of replicates give the optimism, as for costs, and the interval of the threshold, which contains all
    cuts that are as good. See docs/decisions.md for simulated coverage.
    """
    need_both_classes(ranking.n_pos, ranking.n_neg, f"no cut is the best by {spec}")
    sign = -1.0 if spec.better == "higher" else 1.0

    def loss(tp: Floats, fp: Floats, n_pos: float, n_neg: float) -> Floats:
        cells = Counts(tp, fp, np.maximum(n_pos - tp, 0.0), np.maximum(n_neg - fp, 0.0))
        return np.asarray(sign * spec.measure.compute(cells, **spec.arguments), np.float64)

    tp, fp = (np.append(0.0, np.cumsum(side, dtype=np.float64)) for side in (ranking.pos, ranking.neg))
    here = loss(tp, fp, float(ranking.n_pos), float(ranking.n_neg))
    if np.isnan(here).all():
        raise InputError("maximize", f"is {spec}, which has no value at any cut", "choose another measure")
    as_good = _least(here)
    at, least = int(as_good[0]), float(np.nanmin(here))
    threshold = ranking.score_after(at)
    of_rows = None if clusters is None else {"": clusters}
    between = [(ranking.score_after(int(as_good[-1])), float(ranking.score[at - 1]) if at else math.inf)]
    how: dict[str, Any] = {"n_resamples": n_resamples, "seed": seed, "clusters": of_rows, "between_out": between}
    again = _choose_again({"": sample}, {"": ranking}, {"": (threshold, least)}, loss, **how)
    own = percentile_estimate("", math.nan, again.at_best[:, 0], level)
    # at least as long as from the rates and the share of positives by themselves: replicates show nothing where no case
    # is on the wrong side
    n_pos, n_neg = float(ranking.n_pos), float(ranking.n_neg)
    weight, n = sample.row_weight, n_pos + n_neg
    sizes = effective_size(weight[sample.positive]), effective_size(weight[~sample.positive])
    shares = np.array([tp[at] / n_pos, fp[at] / n_neg])
    rates = pair_limits(lambda t, f: loss(n_pos * t, n_neg * f, n_pos, n_neg), shares, sizes, level)
    moved = [
        float(loss(n * pi * shares[:1], n * (1.0 - pi) * shares[1:], n * pi, n * (1.0 - pi))[0])
        for pi in wilson_share(n_pos / n, sum(sizes), level)
    ]
    most = max(0.0, *(abs(end - least) for end in moved if end == end))
    # what was chosen for having hardly an error may have as few on new data: its best end keeps the luck
    few = min(1.0, (1.0 - shares[0]) * sizes[0] / _UNSEEN, shares[1] * sizes[1] / _UNSEEN)
    low = min(own.low, least - math.hypot(least - rates.low, most)) + few * again.optimism
    high = max(own.high, least + math.hypot(rates.high - least, most)) + again.optimism
    found = np.array([least + again.optimism, least, *((high, low) if sign < 0 else (low, high))])
    value, apparent, low, high = (np.clip(sign * found, *spec.measure.range) + 0.0).tolist()  # 0.0: no −0
    lowest, highest = np.array(between).T
    least_cut = min(between[0][0], float(np.quantile(lowest, (1.0 - level) / 2.0, method="lower")))
    most_cut = max(between[0][1], float(np.quantile(highest, (1.0 + level) / 2.0, method="higher")))
    expected = Estimate(str(spec), value, low, high, level, "percentile, optimism removed")
    return BestCut(threshold, Interval(least_cut, most_cut), expected, apparent, again.optimism)


def _ratios(
    rankings: Mapping[str, Ranking], model: str, threshold: float, prices: ErrorPrices
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Ratios cost_fn / cost_fp for which the cut, and for which the model, is the cheapest of all.

    A corner of the family's hull is best for slopes = (cost_fp · negatives) / (cost_fn · positives) between those of
    the lines that meet in it. Neighbouring corners of one model join.
    """
    from .model_choice import family_hull

    hull = family_hull(rankings)
    at = next((k for k, row in enumerate(hull) if row["model"] == model and row["threshold"] == threshold), None)
    if at is None:  # level with another model's corner, which stands in its place
        return (math.nan, math.nan), (math.nan, math.nan)
    first, last = at, at
    while first > 0 and hull[first - 1]["model"] == model:
        first -= 1
    while last + 1 < len(hull) and hull[last + 1]["model"] == model:
        last += 1
    ranking = rankings[model]
    odds = float(ranking.n_neg) / float(ranking.n_pos)
    if prices.prevalence is not None:
        odds = (1.0 - prices.prevalence) / prices.prevalence
    slopes = (hull[at]["slope_from"], hull[at]["slope_to"], hull[first]["slope_from"], hull[last]["slope_to"])
    low, high, model_low, model_high = (odds / slope if slope else math.inf for slope in slopes)
    return (low, high), (model_low, model_high)


# -------------------------------------------------------------------------------------------------- net benefit


@dataclass(frozen=True, eq=False, repr=False)
class DecisionCurve(ShownAsTable, DictResult):
    """Net benefit and expected cost by threshold probability, for one model.

    At threshold probability ``x`` you act on cases with a probability above ``x``: a false positive costs x / (1 − x)
    times what a true positive brings. ``net_benefit`` is the number of true positives minus that multiple of the false
    positives, per case. ``expected_cost`` is the cost per case if a false positive costs x and a false negative 1 − x.
    ``treat_all`` is the net benefit of acting on everyone; acting on no one has 0.
    """

    document: ClassVar[tuple[str, ...]] = ("name", "level", "table")

    name: str
    x: Floats
    net_benefit: Floats
    low: Floats
    high: Floats
    expected_cost: Floats
    cost_low: Floats
    cost_high: Floats
    treat_all: Floats
    treat_all_cost: Floats
    treat_none_cost: Floats
    level: float

    @property
    def table(self) -> Table:
        """The curve as rows."""
        names = ("net_benefit", "low", "high", "treat_all", "expected_cost", "cost_low", "cost_high")
        columns = {"threshold_probability": self.x, **values_of(self, *names)}
        return Table(columns, f"Net benefit of {self.name}")


def check_probabilities(sample: Sample, what: str) -> None:
    """Raise an error for scores that are not probabilities, naming the row."""
    if sample.are_probabilities:
        return
    bad = (sample.score < 0) | (sample.score > 1)
    raise InputError(
        "y_score",
        f"is {float(sample.score[np.argmax(bad)]):g}, which is not a probability, and {what} needs probabilities",
        "pass scores between 0 and 1",
        row=sample.first_row(bad),
    )


def need_both_classes(n_pos: float, n_neg: float, so: str) -> None:
    """Raise an error for rows of one class, and name what cannot be done with them."""
    if 0 in (n_pos, n_neg):
        raise InputError("y_true", f"contains one class only, so {so}", "pass both classes")


def decision_curve(
    sample: Sample,
    *,
    name: str = "model",
    x: ArrayLike | None = None,
    prevalence: float | None = None,
    level: float = 0.95,
    clusters: NDArray[np.int64] | None = None,
) -> DecisionCurve:
    """Net benefit and expected cost of acting on ``score > x``, with a band.

    The band is normal, from the spread of what each case (or cluster of cases) adds, and ends above where true
    positives alone would bring no more. It is valid point by point: in four simulated worlds the whole curve lay
    inside in 60 to 72 of 100 samples. Where hardly any case lies above a high threshold, its lower end shows what one
    unseen false positive would cost.
    """
    try:
        grid = np.unique(np.asarray(np.arange(1, 100) / 100.0 if x is None else x, dtype=np.float64).ravel())
    except (TypeError, ValueError, OverflowError):
        grid = np.empty(0)
    if len(grid) == 0 or not (grid > 0).all() or not (grid < 1).all():
        raise InputError("x", "must contain threshold probabilities strictly between 0 and 1", "pass e.g. [0.1, 0.2]")
    check_probabilities(sample, "a decision curve")
    weight, t, odds = sample.row_weight, len(grid), grid / (1.0 - grid)
    n_pos, n_neg = float(weight[sample.positive].sum()), float(weight[~sample.positive].sum())
    need_both_classes(n_pos, n_neg, "there is no net benefit to show")
    total = n_pos + n_neg
    share = n_pos / total if prevalence is None else prevalence
    scales = (share / n_pos, (1.0 - share) / n_neg)
    above = np.searchsorted(grid, sample.score.astype(np.float64), side="left")  # thresholds that a row lies above
    benefit, variance = np.zeros(t), np.zeros(t)

    def taken(side: Any, each: Floats) -> Floats:
        """The sum over rows that lie above each threshold."""
        return np.asarray(np.cumsum(np.bincount(above[side], each[side], t + 1)[::-1])[::-1][1:])

    # a row adds its own amount to the thresholds below its score: a true positive 1, a false positive −x / (1 − x)
    for side, amount, scale in zip((sample.positive, ~sample.positive), (np.ones(t), -odds), scales, strict=True):
        part = taken(side, weight) * scale * amount
        benefit += part
        variance += taken(side, weight**2) * (scale * amount) ** 2
        if prevalence is not None:  # each class has its own fixed share
            variance -= part**2 * float(weight[side] @ weight[side]) / float(weight[side].sum()) ** 2
    squares = float(weight @ weight)
    if clusters is None:
        if prevalence is None:
            variance -= benefit**2 * squares / total**2
        variance += (1.0 + odds**2) * (squares / total**2) ** 2  # an error of each kind: none seen is not none to come
    else:  # the spread of what whole clusters add
        n_clusters = int(clusters.max()) + 1
        size = np.bincount(clusters, weight * np.where(sample.positive, *scales), n_clusters)
        for k in range(t):
            each = np.where(sample.positive, scales[0], -odds[k] * scales[1]) * weight * (above > k)
            added = np.bincount(clusters, each, n_clusters) - benefit[k] * size
            variance[k] = float(added @ added) * n_clusters / max(1, n_clusters - 1)
    z, error = z_of(level), np.sqrt(variance)
    # the true positives alone bring no more; that binds where a false positive costs much
    among = weight if prevalence is None else weight[sample.positive]
    whole, level_of = effective_size(among), math.erf(z / math.sqrt(2.0))
    found = taken(sample.positive, weight) / float(among.sum())
    most = np.array([wilson(whole * min(1.0, part), whole, level_of)[1] for part in found.tolist()])
    low, high = benefit - z * error, np.minimum(benefit + z * error, most * (1.0 if prevalence is None else prevalence))
    cost, cost_low, cost_high = ((1.0 - grid) * (share - b) for b in (benefit, high, low))
    return DecisionCurve(
        name,
        grid,
        benefit,
        low,
        high,
        expected_cost=cost,
        cost_low=np.maximum(0.0, cost_low),
        cost_high=cost_high,
        treat_all=share - (1.0 - share) * odds,
        treat_all_cost=grid * (1.0 - share),
        treat_none_cost=(1.0 - grid) * share,
        level=level,
    )

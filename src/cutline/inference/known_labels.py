"""A list of which some labels are known, each with a known chance of being looked up: estimates, and which to look up.

How likely each row is positive is a curve over the places of the list, so that any scale of scores will do: z, the
normal score of a place, is what a model of normal scores would have given. log odds = a + b·z + c·z², fitted with
priors that keep few labels from bending it. Every row without a label counts as the share of a positive that the curve
gives it, corrected stretch by stretch so that the weighted residuals (y − m)·(1/π − 1) of the known labels add up to
zero; cuts are exact, because all scores are known.

Where π depends on the score alone, the correction of a stretch counts in so far as its variance is small against what
the curve may be wrong by (a share ``_MISFIT`` of the positives there). The intervals do not use that gain: they are
as wide as those of the full correction.

Which rows to label for one measure: the best chances are proportional to √(m(1 − m))·|D|, m how likely the row is
positive, D by how much its label moves the measure. Nothing is known of m before there are labels, so several slopes of
the log odds over the places of the list are averaged; a floor keeps every row within reach, should all be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import compute, threshold_of
from ..catalogue.declare import Spec
from ..errors import InputError
from ..estimate import Estimate, Interval, Settings
from ..quotas import quota_sizes
from ..ranking import Ranking, rank
from ..sources.arrays import Sample
from ..sweep import Counts
from ..table import PicklesFields
from ..types import Floats
from .closed_forms import QuotaCut
from .evidence import Evidence
from .limits import effective_freedom, range_limits, scaled_limits, wilson_share

_CENTRE = np.array([0.0, 1.0, 0.0])  # a slope of 1: an AUC of about .75 where positives are rare
# Wide enough for a very good model: with a spread of 0.7 of the slope, the 95% interval of average precision covered
# 84% where d′ is 3.5 (benchmarks/sampled_labels.py --part good).
_SPREAD = np.array([4.0, 2.0, 0.3])
_MOST_ODDS = 60.0  # log odds beyond those of every list
_STEPS = 60  # of Newton, each of at most 1; six are the rule


def normal_scores(size: NDArray[np.float64]) -> Floats:
    """Normal score of each group of a list, best first; ``size``: rows of each group."""
    from scipy.special import ndtri

    ends = np.cumsum(size)
    return np.asarray(ndtri(1.0 - (ends - size / 2.0) / ends[-1]), np.float64)


def logistic(x: Floats) -> Floats:
    """1/(1 + e^−x), without overflow."""
    from scipy.special import expit

    return np.asarray(expit(x), np.float64)


def fit_log_odds(columns: Floats, pos: Floats, cases: Floats, centre: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Coefficients of log odds and their information, with normal priors of some information about a centre."""
    coefficients, information = centre, np.diag(prior)
    for _ in range(_STEPS):
        p = logistic(columns @ coefficients)
        information = (columns * (cases * p * (1.0 - p))[:, None]).T @ columns + np.diag(prior)
        slope = columns.T @ (pos - cases * p) - prior * (coefficients - centre)
        step = np.clip(np.linalg.solve(information, slope), -1.0, 1.0)
        coefficients = coefficients + step
        if float(np.abs(step).max()) < 1e-9:
            break
    return coefficients, information


Flags = NDArray[np.bool_]
# The curve may be wrong by this share of Σm(1 − m) of a stretch. Chosen by hand: 0 trusts the curve alone and is biased
# where it bends otherwise, much more leaves the noise of the correction in.
_MISFIT = 0.4
# standard errors: 2 and 1.5 cover d′ 4.5 in 81 and 90 of 100 samples, 1.2 in 98; 1 makes ordinary intervals 5% longer
_AGAINST = 1.2
_FEW = 5  # labels drawn by chance that a stretch of the list needs
_MANY = 60  # labels from which a stretch is divided
_ROUGH = 0.1  # share of the variance of log π between neighbours above which π is no function of the score


# How much a measure moves with a little more of a list at some place. Cuts are algebra on four cells, so that their
# derivatives are exact. Measures of the whole list are swept again with a little mass added at some places, and read
# between them.
_PLACES = 96  # chosen by hand: where a list is swept again; two sweeps a place, smooth between them
_MASS_STEP = 1e-3  # of a case: small against one, large against the rounding of sums over long lists


def mass_influence(specs: Sequence[Spec], ranking: Ranking) -> dict[Spec, Floats]:
    """By how much each measure moves if a case of each group of a ranking is positive instead of negative."""
    of_cuts = {spec: _of_cut(spec, ranking) for spec in specs if is_algebra(spec)}
    others = [spec for spec in specs if not is_algebra(spec)]
    if not others:
        return of_cuts
    sides, last = {side: np.asarray(getattr(ranking, side), np.float64) for side in ("pos", "neg")}, len(ranking) - 1
    # places spread over the list, denser at its top, and at both sides of a cut
    asked: list[Any] = [np.linspace(0, last, _PLACES // 2), np.geomspace(1, last + 1, _PLACES // 2) - 1]
    for spec in others:
        if spec.quota is not None:
            at = np.searchsorted(np.cumsum(sides["pos"] + sides["neg"]), quota_sizes(spec.quota, ranking.cases)[0])
            asked += [at - 1, at, at + 1]
    places = np.unique(np.concatenate(asked).round().clip(0, last)).astype(np.intp)
    effects: dict[Spec, list[float]] = {spec: [] for spec in others}
    for at in places.tolist():
        moved = []
        for side, cases in sides.items():
            more: dict[str, Any] = {**sides, side: cases.copy()}
            more[side][at] += _MASS_STEP
            moved.append(compute(others, replace(ranking, weighted=True, **more)).values)
        for spec in others:
            effects[spec].append((moved[0][spec] - moved[1][spec]) / _MASS_STEP)
    return of_cuts | {spec: np.interp(np.arange(last + 1), places, effect) for spec, effect in effects.items()}


def is_algebra(spec: Spec) -> bool:
    """Whether a measure reads nothing but the four cells at a cut."""
    return spec.measure.part == "cut" and spec.measure.scores == "any"


def share_taken(ranking: Ranking, places: float) -> Floats:
    """Share of each group of a ranking that lies in its first places."""
    size = np.asarray(ranking.pos + ranking.neg, np.float64)
    return np.clip((places - (np.cumsum(size) - size)) / np.where(size > 0.0, size, 1.0), 0.0, 1.0)


def _of_cut(spec: Spec, ranking: Ranking) -> Floats:
    sizes, weights = ([None], np.ones(1)) if spec.quota is None else quota_sizes(spec.quota, ranking.cases)
    effect = np.zeros(len(ranking))
    for size, weight in zip(sizes, weights, strict=True):
        if size is None:
            above = (np.arange(len(ranking)) < ranking.above(threshold_of(spec))).astype(np.float64)
        else:
            above = share_taken(ranking, size)
        tp, fp = float((above * ranking.pos).sum()), float((above * ranking.neg).sum())
        cells = np.array([tp, fp, max(ranking.n_pos - tp, 0.0), max(ranking.n_neg - fp, 0.0)])
        step = 1e-6 * max(float(cells.sum()), 1.0)
        low, high = np.maximum(cells - step * np.eye(4), 0.0), cells + step * np.eye(4)  # a row for each cell moved
        with np.errstate(all="ignore"):
            ends = [spec.measure.compute(Counts(*rows.T), **spec.arguments) for rows in (low, high)]
            slope = (np.asarray(ends[1], np.float64) - ends[0]) / (high - low).sum(axis=1)
        slope = np.where(np.isfinite(slope), slope, np.nan)  # of a measure that is infinite here
        effect += weight * (above * (slope[0] - slope[1]) + (1.0 - above) * (slope[2] - slope[3]))
    return effect


@dataclass(frozen=True, eq=False)
class KnownLabels:
    """The rows of a list: all scores, the labels that are known, and the chance that each had of being known."""

    score: NDArray[Any]
    known: Flags
    positive: Flags
    inclusion: Floats

    def __len__(self) -> int:
        return len(self.score)

    @cached_property
    def groups(self) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """The distinct scores, best first, and the number of each row's score among them."""
        score, at = np.unique(self.score, return_inverse=True)
        return score[::-1].copy(), len(score) - 1 - at.reshape(-1)

    @cached_property
    def size(self) -> Floats:
        """Rows of each distinct score."""
        return np.bincount(self.groups[1]).astype(np.float64)

    @cached_property
    def by_score(self) -> bool:
        """Whether the chance of being known follows the score, so that the known labels tell of the others beside."""
        there = self.inclusion > 0.0
        order = np.argsort(self.groups[1][there], kind="stable")
        chance = np.log(self.inclusion[there][order])
        spread = float(chance.var())
        rough = float(np.mean(np.diff(chance) ** 2)) / 2.0 if len(chance) > 1 else 0.0
        return spread < 1e-12 or rough < _ROUGH * spread

    @cached_property
    def fitted(self) -> Floats:
        """The chance of every row to be positive by a curve through the known labels."""
        z = normal_scores(self.size)[self.groups[1]]
        columns, positive = np.stack([np.ones_like(z), z, z * z], axis=1), self.positive[self.known]
        weight = np.ones(len(positive))
        if not self.by_score:
            weight = 1.0 / self.inclusion[self.known]
            weight *= len(weight) / weight.sum()
        share = (float(weight @ positive) + 0.5) / (float(weight.sum()) + 1.0)
        centre = _CENTRE + np.array([np.log(share / (1.0 - share)), 0.0, 0.0])
        found, _ = fit_log_odds(columns[self.known], weight * positive, weight, centre, 1.0 / _SPREAD**2)
        return logistic(columns @ found)

    @cached_property
    def surplus(self) -> Floats:
        """1/π − 1 of each known row: for how many unknown ones it stands."""
        return np.where(self.known, 1.0 / np.where(self.known, self.inclusion, 1.0) - 1.0, 0.0)


def cut_edges(rows: KnownLabels, quotas: Sequence[float] = (), threshold: float | None = None) -> tuple[int, ...]:
    """Groups at which cuts lie: the places of quotas, or a threshold."""
    score, _ = rows.groups
    edges = {int(at) + 1 for at in np.searchsorted(np.cumsum(rows.size), np.asarray(quotas, np.float64) - 0.5)}
    if threshold is not None:
        edges.add(len(score) - int(np.searchsorted(score[::-1], threshold, side="right")))
    return tuple(sorted(edge for edge in edges if 0 < edge < len(score)))


def stretches(rows: KnownLabels, edges: Sequence[int]) -> NDArray[np.intp]:
    """The stretch of the list that each group belongs to.

    Stretches end at the cuts, and after the rows at the top that are always labelled. Where many labels were drawn
    between two cuts they are divided; where hardly any were, though some are unknown, they are joined with the next.
    """
    score, group = rows.groups
    drawn, unknown = (
        np.concatenate([[0], np.cumsum(np.bincount(group[which], minlength=len(score)))])
        for which in (rows.known & (rows.inclusion < 1.0), ~rows.known)
    )
    ends, before = list[int](), 0
    certain = int(group[rows.inclusion < 1.0].min(initial=len(score)))  # groups at the top that are always labelled
    for edge in sorted({*edges, *([certain] if certain else []), len(score)}):
        inside = int(drawn[edge] - drawn[before])
        parts = max(1, min(4, inside // _MANY))
        ends += [int(np.searchsorted(drawn, drawn[before] + inside * k / parts)) for k in range(1, parts)]
        ends.append(edge)
        before = edge
    joined = [0]
    for edge in ends:
        enough = drawn[edge] - drawn[joined[-1]] >= _FEW or unknown[edge] == unknown[joined[-1]]
        if enough and edge > joined[-1]:
            joined.append(edge)
    if joined[-1] != len(score):  # too few at the end: they join the stretch before, unless all of that is known
        known_before = len(joined) > 1 and unknown[joined[-1]] == unknown[joined[-2]]
        if len(joined) > 1 and not known_before:
            joined.pop()
        joined.append(len(score))
    starts = np.zeros(len(score), np.intp)
    starts[joined[1:-1]] = 1
    return np.cumsum(starts)


@dataclass(frozen=True, eq=False)
class Audited(PicklesFields, Evidence):
    """What is known of a list with some labels: the evidence that its evaluation is made from."""

    known: KnownLabels
    ranking: Ranking
    chance: Floats  # the estimated share of a positive of each row, known or not
    cell: NDArray[np.intp]  # the stretch of the list that each row belongs to
    level: float
    independent = False  # some labels are known, by chances that may differ
    auc = (math.nan, math.nan, 1.0)  # not told apart from the other measures

    def at_cut(self, quota: float | None, threshold: float | None) -> Audited:
        """The list with a stretch that ends at a cut, as the measures at this cut see it."""
        edges = cut_edges(self.known, () if quota is None else (quota,), threshold)
        return audited(self.known, edges, self.level) if edges else self

    @property
    def sample(self) -> Sample:
        """Raises an error: most rows have no label."""
        problem = "results row by row need all labels, and an audit knows only some"
        raise InputError(None, problem, "evaluate the labelled rows alone with {sample_weight}: 1 / inclusion")

    @property
    def units(self) -> float:
        """Labels that are known."""
        return float(np.count_nonzero(self.known.known))

    @property
    def smaller_class(self) -> float:
        """Labels that are known of the class with fewer of them."""
        positive = float(np.count_nonzero(self.known.positive))
        return max(min(positive, self.units - positive), 1.0)

    @property
    def outline(self) -> Sample:
        low, high = float(self.known.score.min()), float(self.known.score.max())
        return Sample(np.empty(0, np.bool_), np.empty(0), None, low, high)

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """Rows, known labels, and the estimated number of positives."""
        rows, n, positives = self.known, len(self.known), self.ranking.n_pos
        facts: dict[str, Any] = {"rows": n, "labelled": int(self.units)}
        facts |= {"labelled_positives": int(rows.positive.sum()), "labels_expected": float(rows.inclusion.sum())}
        facts |= {"positives": round(positives), "negatives": n - round(positives), "share_positive": positives / n}
        facts |= {"distinct_scores": len(rows.size), "largest_tie": float(rows.size.max()), "tied_pairs": math.nan}
        return MappingProxyType({**facts, "weighted": True})

    @property
    def surprise(self) -> float:
        """By how many standard deviations the number of labels differs from what the probabilities let expect."""
        pi = self.known.inclusion
        spread = math.sqrt(float((pi * (1.0 - pi)).sum()))
        return abs(self.units - float(pi.sum())) / spread if spread > 0.0 else 0.0

    def resamples(self, spec: Spec) -> bool:
        return False  # intervals come from the known chances of being labelled

    def cut(self, taken: float, hits: float, level: float, *, recall: bool = False) -> QuotaCut:
        """The cut as one of a list from a population: labels that are not known make its size smaller."""
        cut = super().cut(taken, hits, level)
        error, _ = self.error_of(share_taken(self.ranking, taken))
        plain = taken * cut.hit_rate * (1.0 - cut.hit_rate)
        return replace(cut, size=cut.cases / (1.0 + error**2 / plain) if plain > 0.0 else cut.size, relief=0.0)

    def settle(self, point: Any, rows: int | None) -> Any:
        """The cut with the interval of its hits in this very list."""
        if not point.taken:
            return point
        error, freedom = self.error_of(share_taken(self.ranking, point.taken))
        low, high = share_limits(point.tp / point.taken, error / point.taken, freedom, self.level, self.units)
        ends = Estimate("expected_hits", point.tp, point.taken * low, point.taken * high, self.level, "assisted")
        return replace(point, expected_hits=ends)

    def error_of(self, effect: Floats) -> tuple[float, float]:
        """Standard error of a measure by the effect of each group's labels, and degrees of freedom; 0: all known.

        The variance is Σ(1 − π)/π²·ψ² over the labels that were drawn, or what the chances of all rows let expect,
        Σ(1/π − 1)·E ψ², where that is more: few positives among the labels tell little about how much they vary.
        """
        rows = self.known
        drawn = rows.known & (rows.inclusion < 1.0)
        open_ = (rows.inclusion > 0.0) & (rows.inclusion < 1.0)
        effect = effect[rows.groups[1]]
        if_pos, if_neg, weight = effect * (1.0 - self.chance), -effect * self.chance, rows.surplus + rows.known
        psi = (np.sqrt(1.0 - rows.inclusion) * weight * np.where(rows.positive, if_pos, if_neg))[drawn]
        size = np.bincount(self.cell, rows.surplus) ** 2 / np.maximum(np.bincount(self.cell, rows.surplus**2), 1e-300)
        # half a case of prior mass in the whole list: half a case in every stretch put many positives among its last
        # rows, and made the interval of the AUC of a very good model as long as its range
        p = ((self.chance * size.sum() + 0.5) / (size.sum() + 1.0))[open_]
        square = p * if_pos[open_] ** 2 + (1.0 - p) * if_neg[open_] ** 2
        expected = float(((1.0 / rows.inclusion[open_] - 1.0) * square).sum())
        observed, freedom = float((psi**2).sum()), max(effective_freedom(psi), 2.0)
        if expected > observed:  # this variance rests on the chances of all rows, not on the few drawn that carry it
            freedom = max(freedom, self.smaller_class)
        return math.sqrt(max(observed, expected)), freedom


def share_limits(value: float, error: float, freedom: float, level: float, trials: float) -> Interval:
    """Interval of a share; the share itself where nothing is left to chance.

    The wider of a t interval on the logit scale and Wilson's with as many trials as give the variance: near 0 and 1 a
    few labels leave more open than either alone.
    """
    if error <= 1e-12:
        return Interval(value, value)
    by_error = range_limits(value, error, freedom, level, 0.0, 1.0, trials)
    inside = min(max(value, 0.5 / (trials + 1.0)), 1.0 - 0.5 / (trials + 1.0))
    low, high = wilson_share(value, inside * (1.0 - inside) / error**2, level)
    return Interval(min(by_error.low, low), max(by_error.high, high))


def audited(rows: KnownLabels, edges: Sequence[int], level: float) -> Audited:
    """The evidence of a list with some labels, some of its stretches ending at the cuts given.

    The chance of every row to be positive: a curve through the known labels, corrected by stretches of the list.
    """
    cell, known, m = stretches(rows, edges)[rows.groups[1]], rows.known, rows.fitted
    p = np.clip(m, 1e-12, 1.0 - 1e-12)  # away from 0 and 1, where log odds are infinite
    odds = np.log(p) - np.log1p(-p)
    for k in range(int(cell.max()) + 1):
        here = cell == k
        open_, drawn = here & ~known & (rows.inclusion > 0.0), here & known & (rows.inclusion < 1.0)
        stands = float(rows.surplus[drawn].sum())
        if not open_.any() or stands <= 0.0:
            continue
        factor = float(open_.sum()) / stands
        surplus, p = rows.surplus[drawn], m[drawn]
        correction = factor * float((surplus * (rows.positive[drawn] - p)).sum())
        noise = factor**2 * float((surplus**2 * p * (1.0 - p)).sum())
        scale = _MISFIT * float((m[open_] * (1.0 - m[open_])).sum())
        trust = scale**2 / (scale**2 + noise) if rows.by_score else 1.0
        total = float(m[open_].sum()) + trust * correction
        if 0.0 < total < open_.sum():  # what must be added to the log odds so that the chances add up to the total
            odds[here] += _root(odds[open_], np.ones(1), total)
        else:
            odds[here] += -_MOST_ODDS if total <= 0.0 else _MOST_ODDS
    chance = logistic(odds)
    return Audited(rows, _whole_list(rows, np.where(rows.known, rows.positive, chance)), chance, cell, level)


def _labelled_rows(rows: KnownLabels, cell: NDArray[np.intp]) -> Ranking:
    """The labelled rows ranked, each weighted by 1/π, the weights of each stretch adding up to its rows."""
    weight = rows.surplus + rows.known
    total = np.bincount(cell, weight)
    size = np.bincount(cell[rows.inclusion > 0.0], minlength=len(total))
    weight = (weight * (size / np.where(total > 0.0, total, 1.0))[cell])[rows.known]
    return rank(Sample(rows.positive[rows.known], rows.score[rows.known], weight, math.nan, math.nan))


def _whole_list(rows: KnownLabels, share: Any) -> Ranking:
    """All rows ranked, each with its share of a positive."""
    score, group = rows.groups
    pos = np.bincount(group, weights=share, minlength=len(score))
    return Ranking(score, pos, np.maximum(rows.size - pos, 0.0), len(rows), True)


def audit_estimates(
    specs: Sequence[Spec], rows: KnownLabels, obstacles: Mapping[Spec, str], settings: Settings
) -> dict[Spec, Estimate]:
    """Values with intervals; raises an error for measures that rest on labels which had no chance of being known.

    The stretches of each measure end at its own cuts alone: the other measures asked for do not change it.
    """
    by_edges: dict[tuple[int, ...], list[Spec]] = {}
    for spec in specs:
        quotas: Sequence[float] = ()
        if spec.measure.needs_quota and not obstacles[spec]:
            quotas = quota_sizes(spec.quota, float(len(rows)))[0]
        threshold = threshold_of(spec) if spec.measure.needs_threshold and not obstacles[spec] else None
        by_edges.setdefault(cut_edges(rows, quotas, threshold), []).append(spec)
    estimates: dict[Spec, Estimate] = {}
    for edges, some in by_edges.items():
        estimates |= _estimates(some, audited(rows, edges, settings.level), obstacles, settings)
    return estimates


def _estimates(
    specs: Sequence[Spec], evidence: Audited, obstacles: Mapping[Spec, str], settings: Settings
) -> dict[Spec, Estimate]:
    readable = [spec for spec in specs if not obstacles[spec]]
    values = evidence.compute(readable).values
    effects = mass_influence(readable, evidence.ranking)
    estimates = {}
    for spec in specs:
        value = values.get(spec, math.nan)
        if value != value:
            reason = obstacles[spec] or spec.measure.undefined or "0/0"
            estimates[spec] = Estimate(str(spec), value, reason=reason)
            continue
        effect = effects[spec][evidence.known.groups[1]]
        if (np.abs(effect[evidence.known.inclusion == 0.0]) > 1e-15).any():  # labels matter that cannot be known
            raise unreachable(evidence.known, str(spec))
        if settings.interval is None:
            estimates[spec] = Estimate(str(spec), value)
            continue
        error, freedom = evidence.error_of(effects[spec])
        (low, high), method = spec.measure.range, "assisted"
        if error <= 1e-12 * max(1.0, abs(value)):
            limits, method = Interval(value, value), "known"
        elif spec.measure.proportion is not None and (low, high) == (0.0, 1.0):
            limits = share_limits(value, error, freedom, settings.level, evidence.units)
            limits = within_possible(spec, evidence, limits)
        else:
            limits = range_limits(value, error, freedom, settings.level, low, high, evidence.smaller_class)
            if (low, high) == (0.0, 1.0):
                # few labelled positives leave open where the others are; and a curve that is too flat for the best of
                # models must not rule out what the labelled rows themselves show
                plain = scaled_limits(value, error, freedom, settings.level)
                if error > 1.0 - value:  # the logit has no straight piece that long: it would tell nothing at all
                    limits = Interval(max(limits.low, plain.low), limits.high)
                least = wilson_share(value, evidence.smaller_class, settings.level).low
                alone = float(compute([spec], _labelled_rows(evidence.known, evidence.cell)).values[spec])
                if alone - value > _AGAINST * error:  # the labels contradict the curve: open as far as they leave it
                    alone = wilson_share(alone, evidence.smaller_class, settings.level).high
                limits = Interval(min(limits.low, least), float(np.fmax(limits.high, alone)))
        estimates[spec] = Estimate(str(spec), value, limits.low, limits.high, settings.level, method)
    return estimates


def within_possible(spec: Spec, evidence: Audited, limits: Interval) -> Interval:
    """Limits of a share within what the known labels allow, and out to that where no drawn label is against it.

    A list of which every label drawn is positive may have positives only: its share is then open up to 1, which neither
    Wilson's interval nor one on the logit scale reaches.
    """
    rows = evidence.known
    effect = mass_influence([spec], _whole_list(rows, evidence.chance))[spec][rows.groups[1]]

    def extreme(sign: float, known: Flags) -> float:
        labels = np.where(known, rows.positive, sign * effect > 0.0)
        return float(compute([spec], _whole_list(rows, labels)).values[spec])

    ends = []
    for sign, end in ((-1.0, limits.low), (1.0, limits.high)):
        possible = extreme(sign, rows.known)
        free = possible == extreme(sign, rows.known & (rows.inclusion == 1.0))
        ends.append(possible if free or sign * (end - possible) > 0.0 else end)  # end if there is none
    return Interval(*ends)


def unreachable(rows: KnownLabels, measure: str) -> InputError:
    """A measure that rests on rows which had no chance of being labelled; says which quotas have an answer."""
    none = rows.inclusion == 0.0
    first = int(rows.groups[1][none].min())
    places = int(rows.size[:first].sum())
    problem = f"is 0 for {int(none.sum()):,} of {len(rows):,} rows, so {measure} cannot be estimated"
    remedy = "label some of them, chosen at random with a known probability"
    if places:
        before = f"places, the rows before the first of them: {{measures=['hit_rate@{places}']}}"
        remedy = f"label some of them at random, or ask for hit rates of up to {places:,} {before}"
    return InputError("inclusion", problem, remedy)


SLOPES = (0.8, 1.5, 2.3)  # weak, usual and good models: AUC of about .7, .85 and .95
FLOOR = 0.1  # share of the budget that is spread evenly


def _root(odds: Floats, weight: Floats, total: float) -> float:
    """What must be added to log odds so that their weighted chances add up to a total."""
    from scipy.optimize import brentq

    return float(brentq(lambda more: float((weight * logistic(odds + more)).sum()) - total, -_MOST_ODDS, _MOST_ODDS))


class DrawnLabels(NamedTuple):
    """Rows to label, best first; the chance of each row, and the standard errors to expect with these and even chances.

    ``prevalence`` is the share of positives that was expected.
    """

    rows: NDArray[np.intp]
    inclusion: Floats
    standard_error: float
    simple_random_error: float
    prevalence: float


def draw_labels(spec: Spec, rows: KnownLabels, share: float, budget: int, seed: int) -> DrawnLabels:
    """Draw the rows to label for a measure, if a share of the rows is positive; the chances add up to the budget.

    The standard error to expect is √(Σ (1/π − 1)·m(1 − m)·D²), the mean square over the guesses.
    """
    n, group, guesses = len(rows), rows.groups[1], []
    for slope in SLOPES:  # how likely each distinct score is positive, and how much a label there moves the measure
        odds = slope * normal_scores(rows.size)
        m = logistic(odds + _root(odds, rows.size / rows.size.sum(), share))
        ranking = Ranking(rows.groups[0], m * rows.size, (1.0 - m) * rows.size, n, True)
        guesses.append((m, np.abs(mass_influence([spec], ranking)[spec])))
    if not all(np.isfinite(effect).all() and effect.max() > 1e-12 for _, effect in guesses):
        raise InputError("measure", f"{spec} does not tell which labels would move it", "plan for another measure")
    each = [np.sqrt(m * (1.0 - m)) * effect for m, effect in guesses]
    worth = np.sqrt(sum((one / max(float(one @ rows.size), 1e-300)) ** 2 for one in each))[group]
    worth = (1.0 - FLOOR) * worth / worth.sum() + FLOOR / n
    inclusion = np.ones(n)
    free, left = np.ones(n, np.bool_), float(budget)
    while free.any():  # rows whose chance would be above 1 have 1, and the others share what is left of the budget
        chance = left * worth / worth[free].sum()
        above = free & (chance >= 1.0)
        if not above.any():
            inclusion[free] = chance[free]
            break
        free &= ~above
        left = budget - float(np.count_nonzero(~free))
    squares = [(one**2)[group] for one in each]
    planned, even = (
        math.sqrt(sum(float(((1.0 / pi - 1.0) * square).sum()) for square in squares) / len(squares))
        for pi in (inclusion, np.full(n, budget / n))
    )
    # evenly along the list: one random start, then every whole step
    rng = np.random.default_rng([seed & (2**63 - 1), 18])
    order = np.lexsort((rng.random(n), group))
    ends = np.cumsum(inclusion[order])
    whole = round(float(ends[-1]))
    at = np.searchsorted(ends, np.arange(whole) + rng.random() * (float(ends[-1]) / whole), side="right")
    drawn = np.asarray(order[np.unique(np.minimum(at, n - 1))], np.intp)
    return DrawnLabels(drawn, inclusion, planned, even, float((guesses[0][0] * rows.size).sum() / n))

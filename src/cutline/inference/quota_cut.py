"""Intervals and predictions at a quota.

The cut of a quota moves with the sample: a case that enters above the cut pushes another one out, which is a hit with
the chance ``p`` that holds at the cut. Hits among k places are therefore not binomial. With h the hit rate and q the
share of the list that is taken, the influence of a case on the hits is (y − p)·T − q·(h − p), T = 1 above the cut, so

    Var(hits) = k · [h(1 − h) + (1 − q)(h − p)²]

which is the binomial variance only where p = h or q = 1. All functions take cases (weights add up to cases).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimate import Interval
from ..ranking import Ranking
from ..sources.arrays import Sample
from ..types import Floats
from .normal import t_quantile
from .proportions import beta_binomial_quantiles, clopper_pearson, wilson_share, z_of
from .scales import effective_freedom

Codes = NDArray[Any] | None
_SHARP_CUT = 0.3
_FEW = 5.0


@dataclass(frozen=True)
class QuotaCut:
    """What inference at a quota needs, and all it needs: six numbers, which a stream can gather too.

    ``chance`` is the share of positives among the cases around the cut, ``slope`` how much it differs just above and
    just below the cut from that, beyond noise. ``size`` is the effective number of cases of the whole list: the number
    of rows, or less where rows differ in weight or belong together. ``relief``: variance of the hits that a cut inside
    a tie takes away, f(1 − f)·m·p(1 − p) for a share f of m tied cases, which count with their mean.
    """

    hits: float
    taken: float
    positives: float
    cases: float
    chance: float
    slope: float
    size: float
    relief: float = 0.0

    @property
    def chances(self) -> tuple[float, float, float]:
        """Hit chances to reckon with: around the cut, just above it, just below it."""
        return self.chance, min(1.0, self.chance + self.slope), max(0.0, self.chance - self.slope)

    @property
    def hit_rate(self) -> float:
        """Share of positives among the taken."""
        return self.hits / self.taken

    @property
    def share(self) -> float:
        """Share of the list that is taken."""
        return self.taken / self.cases

    @property
    def trials(self) -> float:
        """Effective number of cases above the cut."""
        return self.share * self.size


def cut_window(taken: float, cases: float, rows: float) -> float:
    """Half-width, in cases, of the window around the cut: twice the standard deviation of the cut's place.

    At a fixed threshold the number taken varies by √(k(1 − q)) from sample to sample; that is the stretch of the list
    over which the hit chance at the cut must be known. ``rows``: effective number of rows, with ``cases`` their weight.
    """
    share = taken / cases
    places = 2.0 * math.sqrt(max(share * rows * (1.0 - share), 1.0))
    return max(1.0, math.ceil(places)) * cases / rows


class Cuts:
    """Every cut of one ranking, for inference at a quota."""

    def __init__(self, pos: NDArray[Any], neg: NDArray[Any], *, ties: bool = True) -> None:
        """``ties``: whether cases of one group are tied; not so in blocks of neighbouring scores."""
        self._ends = np.concatenate([[0.0], np.cumsum(np.asarray(pos, np.float64) + neg)])
        self._hits = np.concatenate([[0.0], np.cumsum(pos, dtype=np.float64)])
        self._ties = ties

    def at(self, taken: float, hits: float, *, rows: float | None = None) -> QuotaCut:
        """The cut after ``taken`` cases; ``rows``: how many there are, where they are not independent cases."""
        cases, positives = float(self._ends[-1]), float(self._hits[-1])
        count = cases if rows is None else float(rows)
        chance, slope = self._chance(taken, cut_window(taken, cases, count), cases / count)
        relief = self._relief(taken) if rows is None and self._ties else 0.0
        return QuotaCut(hits, taken, positives, cases, chance, slope, cases, relief)

    def _chance(self, taken: float, window: float, per_row: float) -> tuple[float, float]:
        """Share of positives within ``window`` cases of the cut, and half its drop across the cut.

        Ties are entered pro rata. The window is as long on both sides, also near the ends of the list. The drop counts
        only as far as it exceeds the noise of two shares of ``window`` cases; ``per_row``: cases of one row.
        """
        cases = float(self._ends[-1])
        half = min(window, max(taken, 1.0), max(cases - taken, 0.0))
        if half <= 0.0:
            return float(self._hits[-1]) / cases, 0.0
        below, here, above = np.interp([taken - half, taken, taken + half], self._ends, self._hits)
        chance = float((above - below) / (2.0 * half))
        drop = float(2.0 * here - below - above) / (2.0 * half)
        noise = chance * (1.0 - chance) * per_row / (2.0 * half)
        return chance, math.sqrt(drop * drop - noise) if drop > 0.0 and drop * drop > noise else 0.0

    def _relief(self, taken: float) -> float:
        """Variance of the hits that a cut inside a tie takes away; 0 where the cut lies between two scores."""
        at = int(np.searchsorted(self._ends[1:], taken * (1.0 + 1e-12)))
        if at >= len(self._ends) - 1:
            return 0.0
        size = float(self._ends[at + 1] - self._ends[at])
        share = (taken - float(self._ends[at])) / size
        chance = float(self._hits[at + 1] - self._hits[at]) / size
        return max(share * (1.0 - share), 0.0) * size * chance * (1.0 - chance) if size > 1.0 else 0.0


def hit_rate_limits(cut: QuotaCut, level: float) -> Interval:
    """Hit rates that a score test does not reject: |ĥ − h| ≤ z·√([h(1 − h) + (1 − q)(h − p)²]/k).

    Wilson's interval, with the variance of a moving cut; Wilson's own where q = 1. Where the hit chance drops at the
    cut, the widest of the intervals for the chances above, at and below it. With fewer than five hits, or misses, near
    the end of the range the limit next to that end is at least Clopper and Pearson's.
    """
    if cut.relief > 0.0 and 0.0 < cut.hit_rate < 1.0:
        return wilson_share(cut.hit_rate, _trials_inside_tie(cut), level)
    limits = [_score_limits(cut, chance, level) for chance in cut.chances]
    low, high = min(low for low, _ in limits), max(high for _, high in limits)
    return _at_least_exact(low, high, cut.hit_rate, cut.trials, level)


def _at_least_exact(low: float, high: float, share: float, trials: float, level: float) -> Interval:
    """Limits of a share, at least Clopper and Pearson's next to an end of the range with fewer than five cases."""
    if 0.0 < share < 0.1 and share * trials < _FEW:
        low = min(low, clopper_pearson(share * trials, trials, level).low)
    if 0.9 < share < 1.0 and (1.0 - share) * trials < _FEW:
        high = max(high, clopper_pearson(share * trials, trials, level).high)
    return Interval(low, high)


def _trials_inside_tie(cut: QuotaCut) -> float:
    """Trials that give the variance of the hit rate at a cut inside a tie, whose cases count with their mean."""
    h = cut.hit_rate
    moving = (1.0 - cut.share) * max((h - chance) ** 2 for chance in cut.chances)
    variance = (h * (1.0 - h) + moving) / cut.trials - cut.relief / cut.taken**2 * cut.cases / cut.size
    return h * (1.0 - h) / max(variance, h * (1.0 - h) / cut.size)


def _score_limits(cut: QuotaCut, p: float, level: float) -> Interval:
    """The two roots of the score equation, a quadratic in h."""
    z2, k, h = z_of(level) ** 2, cut.trials, cut.hit_rate
    moving = max(0.0, 1.0 - cut.share)
    a = k + z2 * (1.0 - moving)
    b = 2.0 * k * h + z2 * (1.0 - 2.0 * moving * p)
    c = k * h * h - z2 * (moving * p * p - cut.relief / cut.taken)
    root = math.sqrt(max(b * b - 4.0 * a * c, 0.0))
    low = 0.0 if h <= 0.0 else max(0.0, (b - root) / (2.0 * a))
    return Interval(low, 1.0 if h >= 1.0 else min(1.0, (b + root) / (2.0 * a)))


def qrecall_variance(cut: QuotaCut, found: float, p: float) -> float:
    """Variance of Qrecall from the influences (y − p)·T + p·q − R·y, by the four cells of the cut; R = ``found``.

    The cells are those that ``found`` would give with as many positives.
    """
    q, rate = cut.share, cut.positives / cut.cases
    both, missed = rate * found, rate * (1.0 - found)
    wasted = max(0.0, q - both)
    spared = max(0.0, 1.0 - both - missed - wasted)
    mean_square = (
        both * (1.0 - p + p * q - found) ** 2
        + missed * (p * q - found) ** 2
        + wasted * (p * q - p) ** 2
        + spared * (p * q) ** 2
    )
    variance = mean_square / (cut.size * rate**2)
    return max(variance - cut.relief / cut.positives**2 * cut.cases / cut.size, 0.01 * variance)


def qrecall_limits(cut: QuotaCut, level: float) -> Interval:
    """Wilson interval of Qrecall with as many trials as give its variance, which is taken inside (0, 1).

    A place for everybody finds everybody: no width there. Near either end of the range the limit next to it is at
    least Clopper and Pearson's, as for the hit rate. Where fewer than five negatives are left out, they carry the
    variance, and no normal limits hold: the limits are at least those of the cases left out as a list of their own.
    """
    found, trials = cut.hits / cut.positives, cut.positives / cut.cases * cut.size
    if cut.taken >= cut.cases * (1.0 - 1e-12):
        return Interval(1.0, 1.0)
    inner = min(
        (found * trials + 1.0) / (trials + 2.0), (cut.hits + 0.5) / (cut.taken + 1.0) * cut.taken / cut.positives
    )
    sharp = cut.slope > _SHARP_CUT or (cut.hit_rate >= 0.9 and cut.slope > 0.1)
    variance = max(qrecall_variance(cut, inner, chance) for chance in (cut.chances if sharp else cut.chances[:1]))
    ratio = inner * (1.0 - inner) / max(variance * trials, 1e-300)
    low, high = wilson_share(found, trials * min(ratio, 1000.0), level)
    if sharp and found > 0.0:
        # all above the cut are hits, none below: Qrecall is q/prevalence, so that 1/Qrecall, not Qrecall, is a mean
        half = z_of(level) * math.sqrt(variance) / found**2
        low, high = min(low, 1.0 / (1.0 / found + half)), min(1.0, max(high, 1.0 / max(1.0 / found - half, 1.0)))
    low, high = _at_least_exact(low, high, found, trials, level)
    left = replace(cut, hits=cut.positives - cut.hits, taken=cut.cases - cut.taken)
    if (1.0 - left.hit_rate) * left.trials < _FEW:
        least, most = (left.taken / cut.positives * limit for limit in hit_rate_limits(left, level))
        low, high = min(low, max(1.0 - most, 0.0)), max(high, 1.0 - least)
    return Interval(low, high)


def expected_hits_limits(cut: QuotaCut, level: float) -> Interval:
    """Mean hits of many lists like this one, cut at the same quota."""
    low, high = hit_rate_limits(cut, level)
    return Interval(cut.taken * low, cut.taken * high)


def next_hits_limits(cut: QuotaCut, level: float, *, optimism: float = 0.0) -> Interval:
    """Hits among the same number of places in the next list, if it comes from the same population.

    Beta-binomial: with f = Var(hits)/binomial variance, a next list varies by f and so does the estimate from this one;
    the two parameters of the beta distribution are chosen so that the variance of both together, 2f, is matched. At
    f = 1 it is the predictive distribution after Jeffreys' prior. Where nearly all above a sharp cut are hits no beta
    distribution of that variance has one peak, and normal limits are kept as well. ``optimism``: hits that are due to
    choosing the cut on these data; they are taken off.
    """
    k = cut.taken
    scale = cut.trials / k  # effective cases above the cut for each case there
    least = max(0.25 / (k + 1.0), 2.0**-53)  # floats have no rate between that and none, or all
    rate = min(max((cut.hits - optimism + 0.5) / (k + 1.0), least), 1.0 - least)
    binomial = rate * (1.0 - rate)
    factor = 1.0 + (1.0 - cut.share) * max((rate - chance) ** 2 for chance in cut.chances) / binomial
    rho = ((1.0 + 1.0 / scale) * factor - 1.0) / (k + 2.0)
    return beta_binomial_limits(round(k), rate, rho, (1.0 + 1.0 / scale) * k * binomial * factor, level)


def beta_binomial_limits(places: int, rate: float, rho: float, variance: float, level: float) -> Interval:
    """Hits among some places at a rate, whose outcomes correlate by ``rho``; ``variance`` is that of the hits."""
    size = 1.0 / max(min(rho, 0.95), 1e-9) - 1.0
    tail = (1.0 - level) / 2.0
    low, high = beta_binomial_quantiles((tail, 1.0 - tail), places, rate * size, (1.0 - rate) * size)
    if min(rate, 1.0 - rate) * size < 0.499:  # so much variance so near an end would be a coin between the two ends
        half = z_of(level) * math.sqrt(variance)
        low, high = min(low, math.floor(places * rate - half)), max(high, math.ceil(places * rate + half))
    return Interval(max(float(low), 0.0), min(float(high), float(places)))


def inflation(
    influence: Floats,
    plain: float,
    taken: float,
    level: float,
    clusters: NDArray[Any] | None = None,
    heaviest: float = 0.0,
) -> float:
    """Variance over rows or clusters relative to ``plain``, that of independent cases of weight 1; times (t/z)².

    ``influence``: of each row on the hit rate or on Qrecall. t has the degrees of freedom of the variance estimate, so
    that few clusters count for fewer. Where nothing varies (all taken are hits) the ratio is that of the cases taken to
    the rows or clusters that they come from. ``heaviest``: see :func:`heaviest_unseen`; the ratio is at least that.
    """
    psi = influence if clusters is None else np.bincount(clusters, weights=influence).astype(np.float64)
    units = len(psi)
    observed = float((psi**2).sum()) * units / max(units - 1.0, 1.0)
    carrying = max(int(np.count_nonzero(np.abs(psi) > 1e-15)), 1)
    small = t_quantile(level, effective_freedom(psi)) / z_of(level) if observed > 0.0 else 1.0
    ratio = observed / plain if plain > 0.0 and observed > 0.0 else max(taken / carrying, 1.0)
    return max(ratio * small**2, heaviest, 1e-6)


def heaviest_unseen(
    positive: NDArray[np.bool_], taken: Floats, weight: Floats, order: NDArray[np.intp], quota: float
) -> float:
    """Cases that one row of the rarer outcome would bring, where fewer than three such rows are taken; else 0.

    A list whose first places are all light positives may yet meet a heavy negative. Looked for among the rows that hold
    the first two quotas of cases; ``order``: rows from best to worst.
    """
    among = taken > 0.0
    hits, misses = int(np.count_nonzero(among & positive)), int(np.count_nonzero(among & ~positive))
    if min(hits, misses) >= 3:
        return 0.0
    near = order[: int(np.searchsorted(np.cumsum(weight[order]), 2.0 * quota)) + 1]
    rare = weight[near][positive[near] == (hits < misses)]
    return float(rare.max()) if len(rare) else float(weight[positive == (hits < misses)].max(initial=0.0))


def dependent_cut(
    cuts: Cuts,
    sample: Sample,
    ranking: Ranking,
    taken: float,
    hits: float,
    level: float,
    clusters: Codes,
    recall: bool,
    by_class: bool = False,
) -> QuotaCut:
    """The cut of rows that differ in weight or belong together: its effective size is that of their influences.

    ``recall``: for Qrecall and lift, else for the hit rate. ``by_class``: the share of positives is given, so that
    influences vary about the mean of each class.
    """
    cut = cuts.at(taken, hits, rows=ranking.rows)
    weight = np.ones(len(sample)) if sample.weight is None else sample.weight
    score = sample.score.astype(np.float64)
    ends = np.cumsum(ranking.pos + ranking.neg, dtype=np.float64)
    at = min(int(np.searchsorted(ends, taken * (1.0 - 1e-12))), len(ends) - 1)
    here, edge = float(ranking.pos[at] + ranking.neg[at]), float(ranking.score[at])
    inside = min(max((taken - (float(ends[at]) - here)) / here, 0.0), 1.0)
    above = np.where(score > edge, 1.0, np.where(score == edge, inside, 0.0))
    positive, p, cases = sample.positive, cut.chance, float(weight.sum())
    hit = float(weight @ (positive * above))
    if recall:  # w·[(y − p)T + pq − Ry]/n⁺
        n_pos = float(weight @ positive)
        share, found = float(weight @ above) / cases, hit / n_pos
        influence = weight * ((positive - p) * above + p * share - found * positive) / n_pos
        plain = qrecall_variance(cut, cut.hits / cut.positives, cut.chance)
    else:  # w·[(y − p)T − q(h − p)]/k
        influence = weight * ((positive - p) * above - taken / cases * (hit / taken - p)) / taken
        plain = (cut.hit_rate * (1.0 - cut.hit_rate) + (1.0 - cut.share) * (cut.hit_rate - cut.chance) ** 2) / taken
    if by_class:
        for side in (positive, ~positive):
            influence[side] -= weight[side] * (influence[side].sum() / weight[side].sum())
    heaviest = 0.0
    if sample.weight is not None:
        heaviest = heaviest_unseen(positive, above, weight, np.argsort(-score, kind="stable"), taken)
    return replace(cut, size=cut.cases / inflation(influence, plain, taken, level, clusters, heaviest))

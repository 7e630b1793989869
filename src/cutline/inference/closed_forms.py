"""Closed forms: limits of areas, ratios of rates, correlations, mean losses, and of hits at a quota.

Mean losses look good until something unlikely happens; their limits allow for what was not seen.

The cut of a quota moves with the sample: a case that enters above the cut pushes another one out, which is a hit with
the chance ``p`` that holds at the cut. Hits among k places are therefore not binomial. With h the hit rate and q the
share of the list that is taken, the influence of a case on the hits is (y − p)·T − q·(h − p), T = 1 above the cut, so

    Var(hits) = k · [h(1 − h) + (1 − q)(h − p)²]

which is the binomial variance only where p = h or q = 1. All functions take cases (weights add up to cases).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import Measure, ratio
from ..estimate import Interval
from ..ranking import Ranking
from ..types import Floats
from . import limits

if TYPE_CHECKING:
    from .evidence import RowEvidence

_PIECE = 2**14  # groups that are read at a time: a few columns of them fit into a core's own cache
FEW_CASES = 10  # fewer in a class: Newcombe's score interval of the AUC
FEW_CARRY = 30  # fewer degrees of freedom: nearly perfect models, at which a case far out on the wrong side counts much
FEW_POSITIVES = 30  # fewer: areas under precision–recall are also taken as shares of the positives


def pieces(groups: int, wide: int = 2) -> list[slice]:
    """A long list in pieces that are read one after another: what is made of each stays in the cache."""
    size = max(2 * _PIECE // wide, 1)
    return [slice(first, first + size) for first in range(0, groups, size)]


def auc_spread(pos: NDArray[Any], neg: NDArray[Any]) -> tuple[float, float, float]:
    """AUC, DeLong's variance, and the degrees of freedom of that variance, from tie groups; O(groups)."""
    a, b = np.asarray(pos, np.float64), np.asarray(neg, np.float64)
    n_pos, n_neg = float(a.sum()), float(b.sum())
    if not n_pos or not n_neg:
        return math.nan, math.nan, 1.0
    below = (n_neg - np.cumsum(b) + b / 2.0) / n_neg
    above = (np.cumsum(a) - a / 2.0) / n_pos
    auc = limits.dot(below, a) / n_pos
    if min(n_pos, n_neg) < 2:
        return auc, math.nan, 1.0
    variances, freedoms = np.zeros(2), np.zeros(2)
    for k, (placed, counts, n) in enumerate(((below, a, n_pos), (above, b, n_neg))):
        mean, second, fourth = limits.dot(placed, counts) / n, 0.0, 0.0
        for at in pieces(len(placed)):
            square = np.square(placed[at] - mean)
            second += limits.dot(square, counts[at])
            fourth += limits.dot(np.square(square), counts[at])
        variances[k] = second / (n - 1.0) / n
        freedoms[k] = limits.freedom_of(second, fourth, n)
    return auc, float(variances.sum()), limits.combined_freedom(variances, freedoms)


def newcombe_limits(auc: float, n_pos: float, n_neg: float, z: float) -> Interval:
    """Areas A with |A − auc| ≤ z·SE(A), SE by Hanley & McNeil with equalised class sizes."""
    if min(n_pos, n_neg) <= 0.0:
        return Interval(0.0, 1.0)  # one class alone tells nothing of an area
    half, ends = (n_pos + n_neg) / 2.0 - 1.0, [0.0, 1.0]
    for k in np.flatnonzero([auc > 0.0, auc < 1.0]):
        inside, outside = auc, ends[k]
        for _ in range(60):  # halvings: more than a float has digits
            a = (inside + outside) / 2.0
            spread = a * (1 - a) * (1 + half * ((1 - a) / (2 - a) + a / (1 + a))) / (n_pos * n_neg)
            rejected = abs(a - auc) > z * math.sqrt(max(spread, 0.0))
            inside, outside = (inside, a) if rejected else (a, outside)
        ends[k] = (inside + outside) / 2.0
    return Interval(*ends)


def placements(ranking: Ranking) -> tuple[Floats, Floats]:
    """For each tie group: the share of negatives below a positive of it, and of positives above a negative of it."""
    pos, neg = ranking.pos.astype(np.float64), ranking.neg.astype(np.float64)  # nan where the other class is missing
    below = ranking.n_neg - np.cumsum(neg) + neg / 2.0
    above = np.cumsum(pos) - pos / 2.0
    return ratio(below, ranking.n_neg), ratio(above, ranking.n_pos)


def line_of(one: Measure, ranking: Ranking) -> tuple[float, float]:
    """Slope and intercept of the straight line that carries the AUC to one of its relatives."""
    assert one.line_of_auc is not None
    return one.line_of_auc(ranking.n_pos, ranking.n_neg, ranking.cases)


def auc_interval(
    auc: float, variance: float, n_pos: float, n_neg: float, level: float, freedom: float, *, logit: bool
) -> tuple[Interval, str]:
    """DeLong's interval with t, on the logit scale or plain, and the name of the method that was used.

    ``freedom``: degrees of freedom of the variance, inf for normal quantiles. Where the variance is 0 (a perfect
    ranking), and with t where a class has fewer than ten cases, Newcombe's score interval (2006, method 5) stands in.
    With t and few degrees of freedom the lower limit is at least Newcombe's: a sample without the few cases far out on
    the wrong side, which carry the variance of a nearly perfect ranking with heavy tails, shows next to none.
    """
    if not variance > 0.0 or not 0.0 < auc < 1.0 or (math.isfinite(freedom) and min(n_pos, n_neg) < FEW_CASES):
        return newcombe_limits(auc, n_pos, n_neg, limits.z_of(level)), "newcombe"
    error = math.sqrt(variance)
    if logit:
        low, high = limits.scaled_limits(auc, error, freedom, level, "logit")
        if freedom < FEW_CARRY:
            low = min(low, newcombe_limits(auc, n_pos, n_neg, limits.z_of(level)).low)
        return Interval(low, high), "delong_t" if math.isfinite(freedom) else "delong_logit"
    low, high = limits.scaled_limits(auc, error, math.inf, level)
    return Interval(max(0.0, low), min(1.0, high)), "delong"


def delta_error(statistic: Callable[[Floats], float], cells: Floats) -> tuple[float, float]:
    """A function of the shares of four cells, and its standard error by the delta method."""
    n = float(cells.sum())
    share, step = cells / n, 1e-6
    moves = step * np.eye(4)
    slope = np.array([(statistic(share + move) - statistic(share - move)) / (2.0 * step) for move in moves])
    error = math.sqrt(max(0.0, float(share @ slope**2 - (share @ slope) ** 2)) / n)
    return float(statistic(share)), error


_UNSURE = 1e-12  # scores of exactly 0 and 1 exclude every loss; a little doubt leaves the size of one that comes anyway


# Cases with a large loss that the scores' own prediction counts for. Chosen by hand: with 10, a sample in which no
# unlikely case came yet has a long enough interval, and one with dozens of them is hardly moved.
_PRIOR_CASES = 10.0
Outcomes = Callable[[slice], tuple[Floats, Floats]]  # of some groups: chance and loss, a line for each outcome


@dataclass(frozen=True)
class LossMoments:
    """Mean, variance of one case, its degrees of freedom; and what the scores say of large losses, if they are right.

    ``expected_ratio`` is E[ℓ²]/E[ℓ] when each case has the classes with the probabilities that its scores say; nan
    where the scores are not probabilities. ``large``: cases that lost more than half of it, those that carry the mean.
    """

    cases: float
    mean: float
    variance: float
    freedom: float
    expected_ratio: float = math.nan
    large: float = 0.0

    def limits(self, units: float, level: float) -> Interval:
        """Limits of the mean; ``units``: the most cases that are independent."""
        v, freedom = self.mean, self.freedom
        ratio = self.variance / v + v if v > 0.0 else 0.0
        if self.expected_ratio > ratio:
            ratio = (self.large * ratio + _PRIOR_CASES * self.expected_ratio) / (self.large + _PRIOR_CASES)
            freedom += _PRIOR_CASES
        return mean_score_limits(v, ratio, min(self.cases, units), limits.t_quantile(level, freedom))


def loss_moments(count: Sequence[Any], loss: Sequence[Floats], outcomes: Outcomes | None = None) -> LossMoments:
    """Moments of a mean of losses: for each outcome how many cases of each group had it, and what each of them lost."""
    n = total = second = fourth = large = 0.0
    each = [(np.asarray(c[at], np.float64), x[at]) for c, x in zip(count, loss, strict=True) for at in pieces(len(c))]
    for cases, lost in each:
        n += float(cases.sum())
        total += limits.dot(cases, lost)
    mean, ratio = total / n, math.nan if outcomes is None else _expected_ratio(count, outcomes)
    for cases, lost in each:
        square = np.square(lost - mean)
        second += limits.dot(cases, square)
        fourth += limits.dot(cases, np.square(square))
        large += float(cases[lost > ratio / 2.0].sum())
    freedom, variance = limits.freedom_of(second, fourth, n), second / max(n - 1.0, 1.0)
    if outcomes is not None and not large:  # small losses, which add to E[ℓ], say nothing of the size of a large one
        ratio = max(ratio, _expected_ratio(count, outcomes, above_least=True))
    return LossMoments(n, mean, variance, freedom, ratio, large)


def _expected_ratio(count: Sequence[Any], outcomes: Outcomes, *, above_least: bool = False) -> float:
    """E[ℓ²]/E[ℓ] where each outcome has its chance, or of what exceeds the least loss of a group; nan without any."""
    first = second = 0.0
    for at in pieces(len(count[0]), len(outcomes(slice(1))[0])):
        chance, loss = outcomes(at)
        cases = np.clip(chance, _UNSURE, 1.0 - _UNSURE) * sum(c[at] for c in count)
        loss = loss - loss.min(axis=0) if above_least else loss
        first += float(np.einsum("ij,ij->", cases, loss))
        second += float(np.einsum("ij,ij->", cases, np.square(loss)))
    return second / first if first > 0.0 else math.nan


def mean_score_limits(mean: float, ratio: float, cases: float, z: float) -> Interval:
    """Roots of (v − L)²·n = z²(φL − L²), the score interval of a mean of numbers ≥ 0 with E[x²]/E[x] = φ."""
    z2 = z * z
    middle = 2.0 * cases * mean + z2 * ratio
    spread = math.sqrt(max(z2 * z2 * ratio * ratio + 4.0 * cases * z2 * mean * (ratio - mean), 0.0))
    most = middle + spread
    return Interval(2.0 * cases * mean * mean / most if most > 0.0 else 0.0, most / (2.0 * (cases + z2)))


# By how much the hit chance drops on either side of a cut that counts as sharp: above it nearly all are hits, below it
# hardly any. Chosen by hand with the coverage table (benchmarks/coverage.py): a smaller drop is covered by Wilson's
# limits alone, and treating every cut as sharp makes ordinary intervals longer than they need to be.
_SHARP_CUT = 0.3
_FEW = 5.0  # hits or misses below which a limit is at least the exact one: the usual rule of five


@dataclass
class QuotaCut:
    """What inference at a quota needs, and all it needs: six numbers, which a stream can gather too.

    ``chance`` is the share of positives among the cases around the cut, ``slope`` how much it differs just above and
    just below the cut from that, beyond noise. ``size`` is the effective number of cases of the whole list: the number
    of rows, or less where rows differ in weight or belong together. ``relief``: variance of the hits that a cut inside
    a tie takes away, f(1 − f)·m·p(1 − p) for a share f of m tied cases, which count with their mean.

    From these: ``hit_rate``, ``share`` of the list that is taken, ``trials`` (effective cases above the cut), and
    ``chances`` to reckon with: around the cut, just above it, just below it.
    """

    hits: float
    taken: float
    positives: float
    cases: float
    chance: float
    slope: float
    size: float
    relief: float = 0.0

    def __post_init__(self) -> None:
        self.hit_rate = self.hits / self.taken if self.taken else math.nan
        self.share = self.taken / self.cases
        self.trials = self.share * self.size
        self.chances = self.chance, min(1.0, self.chance + self.slope), max(0.0, self.chance - self.slope)


class Cuts:
    """Every cut of one ranking, for inference at a quota: cases (``ends``) and positives (``hits``) above it."""

    def __init__(self, pos: NDArray[Any], neg: NDArray[Any], *, ties: bool = True) -> None:
        """``ties``: whether cases of one group are tied; not so in blocks of neighbouring scores."""
        self.ends = np.concatenate([[0.0], np.cumsum(np.asarray(pos, np.float64) + neg)])
        self.hits = np.concatenate([[0.0], np.cumsum(pos, dtype=np.float64)])
        self._ties = ties

    def at(self, taken: float, hits: float, *, rows: float | None = None) -> QuotaCut:
        """The cut after ``taken`` cases; ``rows``: how many there are, where they are not independent cases."""
        ends, found = self.ends, self.hits
        cases, positives = float(ends[-1]), float(found[-1])
        count = cases if rows is None else float(rows)
        # At a fixed threshold the number taken varies by √(k(1 − q)) from sample to sample. The hit chance is read over
        # twice that on both sides, as long on each also near the ends of the list; ties are entered pro rata. Its drop
        # across the cut counts as far as it exceeds the noise of two shares of the window.
        places = math.ceil(2.0 * math.sqrt(max(taken / cases * count * (1.0 - taken / cases), 1.0)))
        half = min(max(1.0, places) * cases / count, max(taken, 1.0), max(cases - taken, 0.0))
        chance, slope, relief = positives / cases, 0.0, 0.0
        if half > 0.0:
            below, here, above = np.interp([taken - half, taken, taken + half], ends, found)
            chance = float((above - below) / (2.0 * half))
            drop = float(2.0 * here - below - above) / (2.0 * half)
            noise = chance * (1.0 - chance) * (cases / count) / (2.0 * half)
            slope = math.sqrt(drop * drop - noise) if drop > 0.0 and drop * drop > noise else 0.0
        at = int(np.searchsorted(ends[1:], taken * (1.0 + 1e-12)))  # the group that the cut lies in
        if rows is None and self._ties and at < len(ends) - 1:
            size = float(ends[at + 1] - ends[at])
            share, tied = (taken - float(ends[at])) / size, float(found[at + 1] - found[at]) / size
            relief = max(share * (1.0 - share), 0.0) * size * tied * (1.0 - tied) if size > 1.0 else 0.0
        return QuotaCut(hits, taken, positives, cases, chance, slope, cases, relief)


def hit_rate_limits(cut: QuotaCut, level: float) -> Interval:
    """Hit rates that a score test does not reject: |ĥ − h| ≤ z·√([h(1 − h) + (1 − q)(h − p)²]/k).

    Wilson's interval, with the variance of a moving cut; Wilson's own where q = 1. Where the hit chance drops at the
    cut, the widest of the intervals for the chances above, at and below it. With fewer than five hits, or misses, near
    the end of the range the limit next to that end is at least Clopper and Pearson's.
    """
    h, k, moving = cut.hit_rate, cut.trials, max(0.0, 1.0 - cut.share)
    if cut.relief > 0.0 and 0.0 < h < 1.0:  # inside a tie, whose cases count with their mean: as many trials as vary so
        variance = (h * (1.0 - h) + (1.0 - cut.share) * max((h - chance) ** 2 for chance in cut.chances)) / k
        variance -= cut.relief / cut.taken**2 * cut.cases / cut.size
        return limits.wilson_share(h, h * (1.0 - h) / max(variance, h * (1.0 - h) / cut.size), level)
    z2, lows, highs = limits.z_of(level) ** 2, [], []
    for p in cut.chances:  # the two roots of the score equation, a quadratic in h
        a = k + z2 * (1.0 - moving)
        b = 2.0 * k * h + z2 * (1.0 - 2.0 * moving * p)
        c = k * h * h - z2 * (moving * p * p - cut.relief / cut.taken)
        root = math.sqrt(max(b * b - 4.0 * a * c, 0.0))
        lows.append(0.0 if h <= 0.0 else max(0.0, (b - root) / (2.0 * a)))
        highs.append(1.0 if h >= 1.0 else min(1.0, (b + root) / (2.0 * a)))
    return at_least_exact(min(lows), max(highs), h, k, level)


def at_least_exact(low: float, high: float, share: float, trials: float, level: float) -> Interval:
    """Limits of a share, at least Clopper and Pearson's next to an end of the range with fewer than five cases.

    Near an end is within a tenth of it, or one case away: Wilson's limit is too close to a single miss of a few trials.
    """
    near = max(0.1, 1.5 / max(trials, 1.0))
    if 0.0 < share < near and share * trials < _FEW:
        low = min(low, limits.clopper_pearson(share * trials, trials, level).low)
    if 1.0 - near < share < 1.0 and (1.0 - share) * trials < _FEW:
        high = max(high, limits.clopper_pearson(share * trials, trials, level).high)
    return Interval(low, high)


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
    variance, and no normal limits apply: the limits are at least those of the cases left out as a list of their own.
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
    low, high = limits.wilson_share(found, trials * min(ratio, 1000.0), level)
    if sharp and found > 0.0:
        # all above the cut are hits, none below: Qrecall is q/prevalence, so that 1/Qrecall, not Qrecall, is a mean
        half = limits.z_of(level) * math.sqrt(variance) / found**2
        low, high = min(low, 1.0 / (1.0 / found + half)), min(1.0, max(high, 1.0 / max(1.0 / found - half, 1.0)))
    low, high = at_least_exact(low, high, found, trials, level)
    left = replace(cut, hits=cut.positives - cut.hits, taken=cut.cases - cut.taken)
    if (1.0 - left.hit_rate) * left.trials < _FEW:
        least, most = (left.taken / cut.positives * limit for limit in hit_rate_limits(left, level))
        low, high = min(low, max(1.0 - most, 0.0)), max(high, 1.0 - least)
    # every place a hit: Qrecall is q/prevalence, of which the lowest prevalence that the sample allows has the most
    rarest = limits.wilson_share(cut.positives / cut.cases, cut.size, level).low
    return Interval(low, min(high, cut.share / rarest) if rarest > 0.0 else high)


def expected_hits_limits(cut: QuotaCut, level: float, for_recall: QuotaCut | None = None) -> Interval:
    """Mean hits of many lists with as many cases and positives as this one, cut at the same quota.

    The part that two intervals share: that of the hit rate times the places, and that of Qrecall times the positives.
    Each allows for another number of positives in its own way. With a fixed number hits vary less than either, so what
    both contain is wide enough (it held the mean in 95.4 to 100% of 1,500 samples in fifteen worlds), and never more
    than there are places or positives. ``for_recall``: the cut for Qrecall where rows are not independent.
    """
    low, high = (cut.taken * limit for limit in hit_rate_limits(cut, level))
    if not cut.positives:
        return Interval(0.0, 0.0)
    least, most = (cut.positives * limit for limit in qrecall_limits(for_recall or cut, level))
    return Interval(min(max(low, least), cut.hits), max(min(high, most), cut.hits))


def next_hits_limits(
    cut: QuotaCut, level: float, *, optimism: float = 0.0, mean: tuple[float, float] | None = None
) -> Interval:
    """Hits among the same number of places in the next list, if it comes from the same population.

    Beta-binomial: with f = Var(hits)/binomial variance, a next list varies by f and so does the estimate from this one;
    the two parameters of the beta distribution are chosen so that the variance of both together, 2f, is matched. At
    f = 1 it is the predictive distribution after Jeffreys' prior. Where nearly all above a sharp cut are hits no beta
    distribution of that variance has one peak, and normal limits are kept as well. ``optimism``: hits that are due to
    choosing the cut on these data; they are taken off. ``mean``: the interval of the mean over such lists. A single one
    varies more, so what is given contains it.
    """
    k = cut.taken
    scale = cut.trials / k  # effective cases above the cut for each case there
    least = max(0.25 / (k + 1.0), 2.0**-53)  # floats have no rate between that and none, or all
    rate = min(max((cut.hits - optimism + 0.5) / (k + 1.0), least), 1.0 - least)
    binomial = rate * (1.0 - rate)
    factor = 1.0 + (1.0 - cut.share) * max((rate - chance) ** 2 for chance in cut.chances) / binomial
    rho = ((1.0 + 1.0 / scale) * factor - 1.0) / (k + 2.0)
    low, high = beta_binomial_limits(round(k), rate, rho, (1.0 + 1.0 / scale) * k * binomial * factor, level)
    if mean is not None:
        low, high = min(low, math.floor(mean[0] + 1e-9)), max(high, math.ceil(mean[1] - 1e-9))
    return Interval(low, high)


def beta_binomial_limits(places: int, rate: float, rho: float, variance: float, level: float) -> Interval:
    """Hits among some places at a rate, whose outcomes correlate by ``rho``; ``variance`` is that of the hits."""
    size = 1.0 / max(min(rho, 0.95), 1e-9) - 1.0
    tail = (1.0 - level) / 2.0
    low, high = limits.beta_binomial_quantiles((tail, 1.0 - tail), places, rate * size, (1.0 - rate) * size)
    if min(rate, 1.0 - rate) * size < 0.499:  # so much variance so near an end
        half = limits.z_of(level) * math.sqrt(variance)
        least, most = math.floor(places * rate - half), math.ceil(places * rate + half)
        # a beta distribution of a small size is a coin between none and all
        low, high = (least, most) if size < 2.0 else (min(low, least), max(high, most))
    return Interval(max(float(low), 0.0), min(float(high), float(places)))


def dependent_cut(rows: RowEvidence, taken: float, hits: float, level: float, recall: bool) -> QuotaCut:
    """The cut of rows that differ in weight or belong together: its effective size is that of their influences.

    Limits are those of independent cases, of which there are as many as would vary as these rows or clusters do: so
    every rule for few hits, ties and sharp cuts holds for them, too.

    ``recall``: for Qrecall and lift, else for the hit rate. Where the share of positives is given (``classes_given``),
    influences vary about the mean of each class.
    """
    sample, ranking, clusters = rows.sample, rows.ranking, rows.clusters
    cut, weight = rows.cuts.at(taken, hits, rows=ranking.rows), sample.row_weight
    score = sample.score.astype(np.float64)
    ends = np.cumsum(ranking.pos + ranking.neg, dtype=np.float64)
    at = min(int(np.searchsorted(ends, taken * (1.0 - 1e-12))), len(ends) - 1)
    here, edge = float(ranking.pos[at] + ranking.neg[at]), float(ranking.score[at])
    inside = min(max((taken - (float(ends[at]) - here)) / here, 0.0), 1.0)
    above = np.where(score > edge, 1.0, np.where(score == edge, inside, 0.0))
    positive, p, cases = sample.positive, cut.chance, float(weight.sum())
    hit = float(weight @ (positive * above))
    n_pos = float(weight @ positive)
    if recall and n_pos:  # w·[(y − p)T + pq − Ry]/n⁺
        share, found = float(weight @ above) / cases, hit / n_pos
        influence = weight * ((positive - p) * above + p * share - found * positive) / n_pos
        plain = qrecall_variance(cut, cut.hits / cut.positives, cut.chance)
    else:  # w·[(y − p)T − q(h − p)]/k
        influence = weight * ((positive - p) * above - taken / cases * (hit / taken - p)) / taken
        plain = (cut.hit_rate * (1.0 - cut.hit_rate) + (1.0 - cut.share) * (cut.hit_rate - cut.chance) ** 2) / taken
    if rows.classes_given:
        for side in (positive, ~positive):
            influence[side] -= weight[side] * (influence[side].sum() / weight[side].sum())
    heaviest, among = 0.0, above > 0.0
    hits_taken, misses_taken = (int(np.count_nonzero(among & side)) for side in (positive, ~positive))
    if sample.weight is not None and min(hits_taken, misses_taken) < 3:
        # A list whose first places are all light positives may yet meet a heavy negative: no surer than with one row of
        # the rarer outcome more, as heavy as the heaviest among the rows that have the first two quotas of cases.
        order, rare = np.argsort(-score), positive == (hits_taken < misses_taken)
        last = order[min(int(np.searchsorted(np.cumsum(weight[order]), 2.0 * taken)), len(order) - 1)]
        near = rare & (score >= score[last])  # with all rows of a tie: their order tells nothing
        heaviest = float(weight[near if near.any() else rare].max(initial=0.0))
    # Variance over rows or clusters relative to that of independent cases of weight 1, times (t/z)²: t has the degrees
    # of freedom of the variance estimate, so that few clusters count for fewer. Where nothing varies (all taken are
    # hits) the ratio is that of the cases taken to the rows or clusters that they come from.
    psi = influence if clusters is None else np.bincount(clusters, weights=influence).astype(np.float64)
    observed = float((psi**2).sum()) * len(psi) / max(len(psi) - 1.0, 1.0)
    carrying = max(int(np.count_nonzero(np.abs(psi) > 1e-15)), 1)
    small = limits.t_quantile(level, limits.effective_freedom(psi)) / limits.z_of(level) if observed > 0.0 else 1.0
    ratio = observed / plain if plain > 0.0 and observed > 0.0 else max(taken / carrying, 1.0)
    return replace(cut, size=cut.cases / max(ratio * small**2, heaviest, 1e-6))

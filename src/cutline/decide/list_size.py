"""The same places on another list: the hits to expect where the next list is shorter or longer than the sample."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..estimate import Estimate, Interval
from ..inference.closed_forms import Cuts, beta_binomial_limits
from ..inference.evidence import RowEvidence
from ..inference.known_labels import fit_log_odds
from ..quotas import resolve_quota, whole_cases
from ..ranking import Ranking
from ..sweep import Counts
from ..table import Section, count, count_range, pluralize
from .operating import OperatingPoint, measured, operating_point

TESTED = 10  # times as long as the sample: so far coverage was simulated, and beyond it the answer is called a guess
# The line that continues the list upwards is fitted to its top: as many cases as half the positives, and at least 40.
# A line through the whole list missed by more where the share of positives levels off (real lists, tails of t₄).
_TOP_POSITIVES, _TOP_CASES = 0.5, 40
# Where the top decides nothing, log odds grow by 1 with each standard deviation, about as at an AUC of 0.75; the prior
# counts for as much as half a case at distance 1.
_SLOPE, _SLOPE_WEIGHT = 1.0, 0.5
# No law says how a tail goes on: beside the cases above the cut, the line counts for 20/(1 + ln(length)) at most, where
# the list is so many times as long; 6 where it is 10 times as long. Chosen by back-tests on thinned lists.
_DOUBT = 0.05
_MOST_POSITIONS = 1_000_000  # of the last place taken: more are read at equal steps
_TAILS = 40.0  # standard deviations to either side; e⁻⁴⁰ is left out where a single place makes the law exponential


@dataclass(frozen=True, repr=False)
class ListSizePoint(OperatingPoint):
    """A quota on a list of another size: expected counts, and the hits of the next list.

    ``list_size`` cases are drawn from the population of the sample, which has ``sample_size``. ``cases_above``: cases
    of the sample above the cut. ``extrapolated``: the share of ``tp`` that comes from the line that continues the top
    of the sample; 0 for lists up to its size. ``threshold`` is nan if the cut lies above the best score; ``pearson``
    and what is known of a tie at the cut always are.
    """

    list_size: int = 0
    sample_size: float = 0.0
    cases_above: float = 0.0
    extrapolated: float = 0.0

    @property
    def guess(self) -> bool:
        """Whether the list is longer than any for which the coverage of the intervals was simulated."""
        return self.list_size > TESTED * self.sample_size * (1.0 + 1e-12)

    @property
    def sentences(self) -> list[str]:
        """The hits to expect, and what they rest on."""
        places, level = pluralize(round(self.taken), "place"), f"{self.expected_hits.level:.0%}"
        # at the size of the sample the interval is that of a quota
        over = "lists with as many positives" if self.list_size == whole_cases(self.sample_size) else "such lists"
        mean = f"{self.tp:,.1f} on average over {over} ({count_range(*self.expected_hits.interval)})"
        low, high = map(count, self.next_hits)
        answer = f"On a list of {self.list_size:,} cases, expect {low} to {high} hits in {places} ({level} prediction "
        answer += f"interval), and {mean}."
        if self.extrapolated <= 0.0:
            return [answer]
        best = f"among the best {count(round(self.cases_above, 1))}" if self.cases_above >= 1.0 else "above the best"
        rest = f"The cut of that list lies {best} of these {count(self.sample_size)} cases, so {self.extrapolated:.0%} "
        rest += "of the estimate is extrapolated from the top of the list."
        guess = f"The list is more than {TESTED} times as long as the sample, where the interval has not been tested: "
        guess += "take the answer as a guess."
        return [answer, rest, *([guess] if self.guess else [])]

    def to_dict(self) -> dict[str, Any]:
        """The fields, and whether they are a guess."""
        return {**super().to_dict(), "guess": self.guess}

    def sections(self) -> list[Section]:
        """What to expect, and every number at this cut."""
        (numbers,) = super().sections()
        return [Section("answer", self.sentences), numbers]


def list_size_point(rows: Any, quota: int | float, size: int, level: float) -> ListSizePoint:
    """The best ``quota`` of a list of ``size`` cases from the same population; a share is one of that list.

    Up to the size of the sample the mean is that of lists drawn from it (:func:`thinned_hits`). The cut of a longer
    list lies among the best quota·n/size cases of the sample, or above them all. Their hits are joined with those that
    a line through the top of the list predicts (:func:`_line_above`), which counts for as many cases as its own
    variance and a doubt that grows with the length allow. The next list is beta-binomial, with the variance of a moving
    cut in both lists, as for a list of the same size.
    """
    from scipy.special import betaincinv

    if not isinstance(rows, RowEvidence) or rows.batched or rows.buckets is not None:
        problem = "needs every place of one list, which batches, streams, buckets and sampled labels do not have"
        raise InputError("list_size", problem, "evaluate the rows of one list in memory, or leave it out")
    if isinstance(quota, int) and quota > size:
        raise InputError("list_size", f"is {size:,}, but there are {quota:,} places", f"give at least {quota:,}")
    ranking, places = rows.ranking, resolve_quota(quota, size)
    cases, share = float(ranking.cases), places / size
    taken, weight, longer = share * cases, 0.0, max(0.0, 1.0 - cases / size)
    alike = operating_point(ranking, quota=places, level=level, cut_of=rows.cut) if size == whole_cases(cases) else None
    if alike is not None:
        hits = alike.tp * taken / places
    elif size <= cases:
        hits = thinned_hits(ranking, places, size) * taken / places
    else:
        # over where the cut of the next list may lie in the sample, which a list of the same size leaves no room for
        at = betaincinv(places / longer, (size - places) / longer + 1.0, (np.arange(64) + 0.5) / 64) * cases
        hits = float((np.interp(at, rows.cuts.ends, rows.cuts.hits) / at).mean()) * taken
    cut = rows.cut(taken, hits, level)
    rate = (hits + 0.5) / (taken + 1.0)
    # inside a tie, whose cases count with their mean, as many cases as vary so
    variance = rate * (1.0 - rate) / taken - cut.relief / taken**2
    trials = min(rate * (1.0 - rate) / max(variance, 1e-300), cases) * cut.size / cases
    value, chance = hits / taken, cut.chance
    if size > cases:
        above, here, spread = _line_above(rows.cuts, share, cut.size / cases)
        weight = longer / (spread * above * (1.0 - above) + _DOUBT * (1.0 + math.log(size / cases)))
        value = (trials * value + weight * above) / (trials + weight)
        chance = (trials * chance + weight * here) / (trials + weight)
    total = trials + weight
    rate = min(max((value * total + 0.5) / (total + 1.0), 1e-9), 1.0 - 1e-9)
    chances = chance, min(1.0, chance + cut.slope), max(0.0, chance - cut.slope)
    factor = 1.0 + (1.0 - share) * max((rate - p) ** 2 for p in chances) / (rate * (1.0 - rate))
    # the variance of the next list, whose cases come in clusters too, and of the estimate; by the binomial one
    both = ((1.0 if rows.clusters is None else max(1.0, cases / cut.size)) + places / total) * factor
    rho = (both - 1.0) / (places * (total + 2.0) / total)
    soon = beta_binomial_limits(places, rate, rho, both * places * rate * (1.0 - rate), level)
    trials, tp = total / factor + 1.0, value * places
    low, high = places * betaincinv(rate * trials, (1.0 - rate) * trials, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    expected = Estimate("expected_hits", tp, min(float(low), tp), max(float(high), tp), level, "beta")
    if alike is not None:
        expected, soon = alike.expected_hits, alike.next_hits
    fn = max(0.0, ranking.n_pos / cases * size - tp)
    groups = int(np.searchsorted(rows.cuts.ends, taken * (1.0 + 1e-12), side="right")) - 1  # whole ones above the cut
    ends = min(soon.low, math.floor(expected.low + 1e-9)), max(soon.high, math.ceil(expected.high - 1e-9))
    return measured(
        ListSizePoint,
        Counts(tp, max(0.0, places - tp), fn, max(0.0, size - places - fn)),
        finite=False,
        threshold=math.nan if taken < 1.0 and rows.cuts.ends[1] <= 1.0 else ranking.score_after(groups),
        **dict.fromkeys(("tied", "from_tie", "hits_worst", "hits_best"), math.nan),
        expected_hits=expected,
        next_hits=Interval(*ends),
        list_size=size,
        sample_size=cases,
        cases_above=taken,
        extrapolated=weight / total,
    )


def thinned_hits(ranking: Ranking, places: int, size: int) -> float:
    """Mean hits in the best ``places`` of ``size`` cases that are drawn from the list without replacement.

    The last place falls on case t of the list with the negative hypergeometric probability
    C(t−1, places−1)·C(n−t, size−places)/C(n, size), and the others on any of the t − 1 before it. A tie's cases count
    with their mean, and a row of weight w as w cases; a sum of weights that is not whole is scaled to the whole number
    below it.

    >>> ranking = Ranking(np.array([3.0, 2.0, 1.0]), np.array([1, 0, 1]), np.array([0, 1, 0]), 3)
    >>> round(thinned_hits(ranking, 1, 2), 12)  # of the pairs 3-2, 3-1 and 2-1, the first two begin with a positive
    0.666666666667
    """
    from scipy.special import gammaln

    n = whole_cases(ranking.cases)
    cuts = Cuts(ranking.pos, ranking.neg)
    ends, hits = cuts.ends * (n / ranking.cases), cuts.hits * (n / ranking.cases)
    middle = places * (n + 1.0) / (size + 1.0)
    spread = places * (n + 1.0) * (n - size) * (size + 1.0 - places) / ((size + 1.0) ** 2 * (size + 2.0))
    first = max(places, math.floor(middle - _TAILS * math.sqrt(spread)))
    last = min(n - size + places, math.ceil(middle + _TAILS * math.sqrt(spread)))
    t = np.arange(first, last + 1, max(1, (last - first) // _MOST_POSITIONS), dtype=np.float64)
    chance = gammaln(t) - gammaln(t - places + 1.0) + gammaln(n - t + 1.0) - gammaln(n - t - (size - places) + 1.0)
    chance = np.exp(chance - chance.max())
    before, upto = np.interp(t - 1.0, ends, hits), np.interp(t, ends, hits)
    mean = (places - 1.0) / np.maximum(t - 1.0, 1.0) * before + upto - before
    return float(chance @ mean / chance.sum())


def _line_above(cuts: Cuts, share: float, size: float) -> tuple[float, float, float]:
    """Share of positives above the cut and at it, and the variance of its log odds, from a line through the list's top.

    logit P(positive at u) = a + b·Φ⁻¹(1 − u) for a case with a share u of the list above it, b ≥ 0: straight where both
    classes are normal with one variance, and nearly flat where the top has levelled off. ``size``: independent cases
    that a case counts for. Within a tie at the top the share of positives is the tie's, so the line ends there.
    """
    from scipy.special import expit, logit, ndtri

    n, positives = float(cuts.ends[-1]), float(cuts.hits[-1])
    top = max(_TOP_POSITIVES * positives, _TOP_CASES / size)
    groups = max(int(np.searchsorted(cuts.ends, min(top, n) * (1.0 - 1e-12))), 1)
    middle = (cuts.ends[1 : groups + 1] + cuts.ends[:groups]) / (2.0 * n)
    x = -ndtri(np.clip(middle, 1e-300, 1.0 - 1e-12))
    pos, cases = (np.diff(along[: groups + 1]) * size for along in (cuts.hits, cuts.ends))
    start = float(logit((pos.sum() + 0.5) / (cases.sum() + 1.0)))
    basis = np.stack([np.ones_like(x), x], axis=1)
    line, information = fit_log_odds(basis, pos, cases, np.array([0.0, _SLOPE]), np.array([1e-3, _SLOPE_WEIGHT]))
    if line[1] < 0.0:
        line = np.array([start, 0.0])
    first_tie = max(float(cuts.ends[1]) - 1.0 / size, 0.0) / (2.0 * n)
    u = share * ((np.arange(400) + 0.5) / 400) ** 3  # closer together near the top, where the line is steep
    density = np.diff(share * (np.arange(401) / 400) ** 3) / share
    along, last = (-np.asarray(ndtri(np.maximum(at, max(first_tie, 1e-300)))) for at in (u, share))
    each = expit(line[0] + line[1] * along)
    above = float(np.clip(density @ each, 1e-9, 1.0 - 1e-9))
    spread = density * each * (1.0 - each) / (above * (1.0 - above))  # of its log odds, by those of each u
    gradient = np.array([spread.sum(), spread @ along])
    here = float(expit(line[0] + line[1] * last))
    return above, here, float(gradient @ np.linalg.solve(information, gradient))

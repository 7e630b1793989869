"""Cuts that keep a promise on new data with a stated confidence: recall, specificity, false positive rate, precision.

Recall and specificity are promised by order statistics of one class, which is exact for continuous scores and errs on
the safe side where scores tie. Precision is promised by a fixed sequence of binomial tests from the top of the list.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..ranking import Ranking
from ..sources.arrays import Sample
from ..table import round_up
from ..types import Floats

PROMISES = ("recall", "precision", "specificity", "fpr")
# The sequence of tests starts where odds this many times those promised would be found with this probability.
START_ODDS, START_POWER = 3.0, 0.8


class Weighing(NamedTuple):
    """Sums of squared weights of the positives and of the negatives of each group; of weighted rows only."""

    pos: Floats
    neg: Floats

    @classmethod
    def of(cls, sample: Sample, ranking: Ranking) -> Weighing | None:
        """From the rows behind a ranking; None where they count alike."""
        if sample.weight is None:
            return None
        group = ranking.group_of(sample.score)
        squares = sample.weight.astype(np.float64) ** 2
        pos = np.bincount(group, np.where(sample.positive, squares, 0.0), len(ranking))
        neg = np.bincount(group, np.where(sample.positive, 0.0, squares), len(ranking))
        return cls(pos.astype(np.float64), neg.astype(np.float64))


def promised_groups(
    ranking: Ranking, promise: str, target: float, confidence: float, weighing: Weighing | None = None
) -> int:
    """How many of the best distinct scores to take so that the promise is kept on new data with that confidence.

    At most 1 − confidence of samples give a cut that breaks the promise; samples that are refused one count as kept.

    Weighted rows need their ``weighing``. They count as so many cases of equal weight as tell as much about the share
    at the cut and about its errors, and never as more than Kish's effective size; with equal weights the promise is
    exact again.
    """
    if promise == "precision":
        return _for_precision(ranking, target, confidence, weighing)
    allowed = target if promise == "fpr" else 1.0 - target
    n = _errors_of(ranking, promise, weighing)[1]
    without_errors = float(n[-1 if promise == "recall" else 0])
    _check_reachable(promise, 1.0 - allowed, confidence, without_errors, ranking.weighted)
    if allowed >= 1.0:
        return 0 if promise == "recall" else len(ranking)
    kept = class_chances(ranking, promise, allowed, weighing) >= confidence
    # the cuts are tried in a fixed order, from the one without errors on, up to the first that fails
    if promise == "recall":
        return len(ranking) - int(np.argmin(np.append(kept[-2::-1], False)))
    return int(np.argmin(np.append(kept, False))) - 1


def class_chances(ranking: Ranking, promise: str, allowed: float, weighing: Weighing | None = None) -> Floats:
    """Chance of each cut, from taking nobody to taking all, that the class errs no more often than ``allowed``.

    That is P(Bin(n, allowed) ≥ errors + 1), the chance of an order statistic: exact where scores do not tie, a lower
    bound where they do.
    """
    from scipy.special import betainc

    errors, n = _errors_of(ranking, promise, weighing)
    lost = np.minimum(errors + 1.0, n)
    found = np.where(errors >= n, 0.0, betainc(lost, np.maximum(n - lost + 1.0, 1e-9), allowed))
    if promise == "recall":
        found[-1] = 1.0  # all are taken, whatever they score
    return np.asarray(found)


def _errors_of(ranking: Ranking, promise: str, weighing: Weighing | None) -> tuple[Floats, Floats]:
    """Errors in the class at each cut, from taking nobody to taking all, among so many cases of equal weight."""
    total, squares = _totals(ranking, promise, weighing)
    of_class = (ranking.pos if promise == "recall" else ranking.neg).astype(np.float64)
    taken = np.append(0.0, np.cumsum(of_class))
    errors = np.maximum(total - taken, 0.0) if promise == "recall" else taken
    if weighing is None:
        return errors, np.full(len(errors), total)
    own = weighing.pos if promise == "recall" else weighing.neg
    above = np.append(0.0, np.cumsum(own))
    of_errors = np.maximum(squares - above, 0.0) if promise == "recall" else above
    # One case among the errors and one more weighs Σw²/Σw (as in the gamma limits of Fay & Feuer 1997): where a tail
    # was rarely labelled, few of its rows stand for much, however many rows there are in all. The one more was not
    # seen: it weighs between the nearest case of its class and the mean case beyond, of either class (their geometric
    # mean; the first alone kept a recall of 0.9 in 84 % of samples: benchmarks/decisions.py tails).
    there, side = np.flatnonzero(of_class > 0), slice(None, None, -1 if promise == "recall" else 1)
    if not len(there):
        return errors, np.zeros(len(errors))
    beyond = [np.cumsum(v[side])[side] for v in (weighing.pos + weighing.neg, ranking.pos + ranking.neg)]
    at = np.searchsorted(there, np.arange(len(errors))) - (promise == "recall")  # the last taken, or first not taken
    last = there[np.clip(at, 0, len(there) - 1)]
    nearest = own[last] / of_class[last]
    one_more = np.sqrt(nearest * np.maximum(nearest, (beyond[0] / beyond[1])[last]))
    unit = (of_errors + one_more**2) / (errors + one_more)
    n = np.minimum(_effective(total, squares, errors, of_errors), total / unit)
    return errors * n / total, n


def _totals(ranking: Ranking, promise: str, weighing: Weighing | None) -> tuple[float, float]:
    """Weight of the class that a promise is about, and the sum of its squared weights."""
    total = float(ranking.n_pos if promise == "recall" else ranking.n_neg)
    if weighing is None:
        return total, total
    return total, float((weighing.pos if promise == "recall" else weighing.neg).sum())


def _effective(total: Any, squares: Any, part: Any = 0.0, part_squares: Any = 0.0) -> Any:
    """Cases of equal weight that would tell the share part / total as well as weighted rows do; at most Kish's size."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.divide(part, total)
        kish = np.where(np.asarray(squares) > 0, np.square(total) / squares, 0.0)
        variance = (np.square(1.0 - share) * part_squares + np.square(share) * (squares - part_squares)) / total**2
        local = share * (1.0 - share) / variance
    return np.where(local > 0, np.minimum(kish, local), kish)


def chance_kept(ranking: Ranking, promise: str, target: float, groups: int, weighing: Weighing | None = None) -> float:
    """Chance that the cut after so many groups keeps a recall or specificity on new data, over samples like this one.

    nan for precision, whose chance depends on the whole list.
    """
    if promise == "precision":
        return math.nan
    allowed = target if promise == "fpr" else 1.0 - target
    total, _ = _totals(ranking, promise, weighing)
    if allowed >= 1.0:
        return 1.0
    return float(class_chances(ranking, promise, allowed, weighing)[groups]) if total else math.nan


def cases_needed(share: float, confidence: float) -> int:
    """Cases of a class for any cut to promise a share of them: the least n with 1 − shareⁿ ≥ confidence.

    >>> cases_needed(0.8, 0.9)
    11
    """
    return max(1, math.ceil(math.log1p(-confidence) / math.log(share) - 1e-9))


def _check_reachable(promise: str, share: float, confidence: float, n: float, weighted: bool) -> None:
    kind = "positive" if promise == "recall" else "negative"
    if share >= 1.0:
        raise InputError(
            promise,
            f"cannot be promised at {0 if promise == 'fpr' else 1}: no sample rules out one more {kind} case",
            "promise a little less",
        )
    needed = cases_needed(share, confidence) if share > 0 else 0
    if n < needed - 1e-9:
        there = f"the weights leave about {n:,.3g}" if weighted else f"there are {n:,.0f}"
        raise InputError(
            promise,
            f"cannot be promised from these data: {needed:,} {kind} cases would be needed, {there}",
            "label more cases, ask for less, or lower {confidence}",
        )


@lru_cache(maxsize=256)
def first_test(target: float, error: float) -> int:
    """Cases in the first test of a precision: so many that odds three times as high are found in 80 % of samples.

    It depends on the promise alone, not on the data, so that the sequence of tests is fixed beforehand.
    """
    from scipy.stats import binom

    higher = START_ODDS * target / (1.0 - target + START_ODDS * target)
    least = max(1.0, math.log(error) / math.log(target))  # below, no test can reject
    cases = np.unique(np.ceil(np.geomspace(least, 400.0 * least + 400.0 / target, 2000)))
    hits = binom.isf(error, cases, target) + 1.0  # the fewest whose chance is at most ``error``
    found = (hits <= cases) & (_at_least(hits, cases, higher) >= START_POWER)
    return int(cases[np.argmax(found)]) if found.any() else int(cases[-1])


def _at_least(hits: Floats, cases: Floats, share: float) -> Floats:
    """P(Bin(cases, share) ≥ hits)."""
    from scipy.special import betainc

    inside = np.clip(hits, 1.0, cases)
    return np.where(hits <= 0, 1.0, np.where(hits > cases, 0.0, betainc(inside, cases - inside + 1.0, share)))


def _for_precision(ranking: Ranking, target: float, confidence: float, weighing: Weighing | None) -> int:
    """The last cut, from the first test on, up to which every binomial test of "precision ≤ target" rejects."""
    if target >= 1.0:
        raise InputError(
            "precision", "cannot be promised at 1: no sample rules out one more negative case", "promise a little less"
        )
    if target <= 0.0:
        return len(ranking)
    hits = np.cumsum(ranking.pos, dtype=np.float64)
    taken = hits + np.cumsum(ranking.neg, dtype=np.float64)
    if weighing is not None:
        of_hits = np.cumsum(weighing.pos)
        n = np.maximum.accumulate(_effective(taken, of_hits + np.cumsum(weighing.neg), hits, of_hits))
        hits, taken = hits / taken * n, n
    error = 1.0 - confidence
    start = int(np.searchsorted(taken, first_test(target, error)))
    rejects = _at_least(hits[start:], taken[start:], target) <= error * (1 + 1e-9)
    if len(rejects) and rejects[0]:
        return start + (len(rejects) if rejects.all() else int(np.argmin(rejects)))
    raise _unreachable_precision(hits, taken, min(start, len(taken) - 1), target, error)


def _unreachable_precision(
    hits: NDArray[np.float64], taken: NDArray[np.float64], start: int, target: float, error: float
) -> InputError:
    """Why a precision cannot be promised, and how many positives would do if the list stayed as good as it looks."""
    from scipy.special import ndtri
    from scipy.stats import binom

    rates = hits / taken
    few = min(int(np.searchsorted(taken, 10)), start)  # the rate of still fewer says nothing
    at = few + int(np.argmax(((rates - target) * np.sqrt(taken))[few:]))  # the cut with the most evidence for it
    rate = float(rates[at])
    if rate <= target:
        return InputError(
            "precision",
            f"cannot be promised from these data: no cut that takes {taken[start]:,.0f} cases or more reaches "
            f"{target:g} (the highest is {rates[start:].max():.3g})",
            "ask for less",
        )
    z = max(0.0, -float(ndtri(error))) + 0.8416  # a chance of 80 % that the promise can be made
    wanted = max((z / (rate - target)) ** 2 * target * (1.0 - target), first_test(target, error))
    needed = hits[-1] * wanted / taken[at]
    if needed <= hits[-1]:  # enough in all, but the top of the list does not bear it out
        least = float(binom.isf(error, taken[start], target)) + 1.0
        return InputError(
            "precision",
            f"cannot be promised from these data: of the best {taken[start]:,.0f} cases {hits[start]:,.0f} are "
            f"positive, {least:,.0f} would be needed",
            "ask for less, or lower {confidence}",
        )
    return InputError(
        "precision",
        f"cannot be promised from these data: about {round_up(needed):,} positive cases would be needed, there are "
        f"{hits[-1]:,.0f}",
        "label more cases, ask for less, or lower {confidence}",
    )

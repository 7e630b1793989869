"""Cuts that keep a promise on new data with a stated confidence: recall, specificity, false positive rate, precision.

Recall and specificity are promised by order statistics of one class, which is exact for continuous scores and errs on
the safe side where scores tie. Precision is promised by a fixed sequence of binomial tests from the top of the list.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..ranking import Ranking

Floats = NDArray[np.float64]

PROMISES = ("recall", "precision", "specificity", "fpr")
# The sequence of tests starts where odds this many times those promised would be found with this probability.
START_ODDS, START_POWER = 3.0, 0.8


def promised_groups(ranking: Ranking, promise: str, target: float, confidence: float) -> int:
    """How many of the best distinct scores to take so that the promise is kept on new data with that confidence."""
    if ranking.weighted:
        raise InputError(
            "sample_weight",
            "cannot be used with {confidence}, because a promise rests on independent rows that count alike",
            "leave one of the two out",
        )
    if promise == "recall":
        return _for_recall(ranking, target, confidence)
    if promise == "precision":
        return _for_precision(ranking, target, confidence)
    return _for_specificity(ranking, promise, 1.0 - target if promise == "fpr" else target, confidence)


def chance_kept(ranking: Ranking, promise: str, target: float, groups: int) -> float:
    """Chance that the cut after so many groups keeps a recall or specificity on new data, over samples like this one.

    It is that of an order statistic: exact where scores do not tie, a lower bound where they do. nan for precision,
    whose chance depends on the whole list, and for weighted rows.
    """
    from scipy.special import bdtr, bdtrc

    if promise == "precision" or ranking.weighted:
        return math.nan
    if promise == "recall":
        if groups >= len(ranking):  # all are taken, whatever they score
            return 1.0
        n, lost = int(ranking.n_pos), int(ranking.n_pos) - int(ranking.pos[:groups].sum())
        if lost >= n:
            return float(target <= 0.0)
        return float(bdtrc(lost, n, 1.0 - target)) if target < 1.0 else 0.0
    share = 1.0 - target if promise == "fpr" else target
    n, kept = int(ranking.n_neg), int(ranking.n_neg) - int(ranking.neg[:groups].sum())
    return float(bdtr(kept - 1, n, share)) if kept else float(share <= 0.0)


def cases_needed(share: float, confidence: float) -> int:
    """Cases of a class for any cut to promise a share of them: the least n with 1 − shareⁿ ≥ confidence.

    >>> cases_needed(0.8, 0.9)
    11
    """
    return max(1, math.ceil(math.log1p(-confidence) / math.log(share) - 1e-9))


def _for_recall(ranking: Ranking, target: float, confidence: float) -> int:
    """The cut lies under the k-th lowest positive, k the largest with P(Bin(n⁺, 1 − target) ≥ k) ≥ confidence."""
    from scipy.special import bdtrc

    n = int(ranking.n_pos)
    _check_reachable("recall", target, confidence, n, "positive")
    if target == 0.0:
        return 0
    k = np.arange(1, n + 1)
    lost = int(np.count_nonzero(bdtrc(k - 1, n, 1.0 - target) >= confidence)) - 1  # positives the cut may lose
    return int(np.searchsorted(np.cumsum(ranking.pos, dtype=np.int64), n - lost)) + 1


def _for_specificity(ranking: Ranking, promise: str, target: float, confidence: float) -> int:
    """The cut is the m-th lowest negative, m the smallest with P(Bin(n⁻, target) ≤ m − 1) ≥ confidence."""
    from scipy.special import bdtr

    n = int(ranking.n_neg)
    _check_reachable(promise, target, confidence, n, "negative")
    if target == 0.0:
        return len(ranking)
    m = int(np.argmax(bdtr(np.arange(n), n, target) >= confidence)) + 1
    return int(np.searchsorted(np.cumsum(ranking.neg, dtype=np.int64), n - m, side="right"))


def _check_reachable(promise: str, share: float, confidence: float, n: int, kind: str) -> None:
    if share >= 1.0:
        raise InputError(
            promise,
            f"cannot be promised at {0 if promise == 'fpr' else 1}: no sample rules out one more {kind} case",
            "promise a little less",
        )
    needed = cases_needed(share, confidence) if share > 0 else 0
    if n < needed:
        raise InputError(
            promise,
            f"cannot be promised from these data: {needed:,} {kind} cases would be needed, there are {n:,}",
            "label more cases, ask for less, or lower {confidence}",
        )


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


def _for_precision(ranking: Ranking, target: float, confidence: float) -> int:
    """The last cut, from the first test on, up to which every binomial test of "precision ≤ target" rejects."""
    if target >= 1.0:
        raise InputError(
            "precision", "cannot be promised at 1: no sample rules out one more negative case", "promise a little less"
        )
    if target <= 0.0:
        return len(ranking)
    hits = np.cumsum(ranking.pos, dtype=np.float64)
    taken = hits + np.cumsum(ranking.neg, dtype=np.float64)
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


def round_up(value: float) -> int:
    """Up to two significant digits, for a number that is itself an estimate.

    >>> round_up(1234), round_up(57)
    (1300, 57)
    """
    digits = max(0, int(math.log10(max(value, 1.0))) - 1)
    return int(math.ceil(value / 10**digits - 1e-9) * 10**digits)

"""What treating the best of a list brings, from a randomised trial: running sums of both arms along the list.

The gain of treating the best k is k times the difference of the arms' mean outcomes among them, each row weighted by
the inverse probability of its arm (Hájek). Where that probability is the same for all rows, this is the plain
difference of means. Every value here has the influence of each row on it; the cut at a quota moves with the sample, so
that a row above it pushes another one out, which would have gained as much as those about the cut do.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimate import Interval
from ..ranking import membership, tie_starts
from ..types import Floats
from . import limits
from .differences import DifferenceTest
from .worth import half_window

_NOTHING = 1e-10  # relative to the influences on either term: what rounding leaves where both cancel


class Trial(NamedTuple):
    """The rows of a randomised trial: who was treated, what came of it, and 1/probability of the arm of each row."""

    treated: NDArray[np.bool_]
    outcome: Floats
    weight: Floats

    @property
    def arms(self) -> tuple[Floats, Floats]:
        """The weights of the treated rows, 0 elsewhere, and those of the controls."""
        return np.where(self.treated, self.weight, 0.0), np.where(self.treated, 0.0, self.weight)

    @property
    def binary(self) -> bool:
        """Whether the outcome happens or not."""
        return bool(((self.outcome == 0.0) | (self.outcome == 1.0)).all())


class UpliftSums:
    """The gain of treating the best k of a list, for every k, and what it rests on.

    A tie counts pro rata: the sums of both arms at a cut inside it are their means over all orders of the tied
    rows. ``size`` and ``mean`` are the weight and the mean outcome of the arms (treated, controls) among the best k =
    0 … n; ``lift`` is the difference of the means. Before both arms are there it rises in a straight line from 0.
    """

    def __init__(self, trial: Trial, score: NDArray[np.float64]) -> None:
        self.trial, self.score, self.n = trial, score, len(score)
        order = np.argsort(-score, kind="stable")
        self.starts = tie_starts(score[order])
        self.sizes = np.diff(np.append(self.starts, self.n))
        self.group = np.empty(self.n, np.intp)  # the tie in which each row stands
        self.group[order] = np.repeat(np.arange(len(self.starts)), self.sizes)

        def running(column: Floats) -> Floats:
            of_tie = np.add.reduceat(column[order], self.starts) / self.sizes
            return np.concatenate([[0.0], np.cumsum(np.repeat(of_tie, self.sizes))])

        self.size = np.stack([running(arm) for arm in trial.arms])
        total = np.stack([running(arm * trial.outcome) for arm in trial.arms])
        self.mean = np.divide(total, self.size, out=np.full_like(total, np.nan), where=self.size > 0.0)
        self.places = np.arange(self.n + 1, dtype=np.float64)
        self.lift = self.mean[0] - self.mean[1]
        self.lift[0] = 0.0
        there = np.isfinite(self.lift)
        self.lift = np.interp(self.places, self.places[there], self.lift[there])
        self.gain = self.places * self.lift

    def at(self, places: int) -> UpliftCut:
        """The uplift among the best so many."""
        taken = membership(self.score, places)
        residuals, arms = np.zeros(self.n), []
        for arm, sign, size, mean in zip(self.trial.arms, (1.0, -1.0), self.size, self.mean, strict=True):
            with np.errstate(invalid="ignore"):  # an arm of which nobody is taken has no mean
                each = taken * arm * (self.trial.outcome - mean[places]) / size[places]
            residuals += sign * each
            arms.append(Arm(float(mean[places]), limits.effective_size(taken * arm), each))
        # what one more place gains about the cut: the mean over as many places as new samples move it by
        half = half_window(float(places), float(self.n))
        about = np.clip([places - half, places + half], 0.0, float(self.n))
        low, high = np.interp(about, self.places, self.gain)
        moved = (taken / places - 1.0 / self.n) * (self.lift[places] - (high - low) / (about[1] - about[0]))
        value = arms[0].mean - arms[1].mean
        return UpliftCut(value, residuals + moved, arms, math.sqrt(float((moved**2).sum())))

    @property
    def auuc(self) -> tuple[float, Floats]:
        """The mean of gain(k)/n over k = 1 … n, and the influence of each row on it.

        A row at place r is among the best k for k ≥ r, and the sum of what one more place gains from r to n is
        gain(n) − gain(r − 1).
        """
        n, there = self.n, self.size.min(axis=0) > 0.0

        def from_place(column: Floats) -> Floats:
            """Σ of a column over k ≥ r, for the row at each place r, the mean of its tie."""
            sums = np.cumsum(column[:0:-1])[::-1]
            return (np.add.reduceat(sums, self.starts) / self.sizes)[self.group]

        each = from_place(self.lift - np.diff(self.gain, prepend=0.0))
        for arm, sign, size, mean in zip(self.trial.arms, (1.0, -1.0), self.size, self.mean, strict=True):
            share = np.divide(self.places, size, out=np.zeros(n + 1), where=there)
            drawn = from_place(share * np.where(there, mean, 0.0))
            each += sign * arm * (self.trial.outcome * from_place(share) - drawn)
        return float(self.gain[1:].sum()) / n**2, (each - each.mean()) / n**2


class Arm(NamedTuple):
    """The mean outcome of an arm among the best, the effective number of rows behind it, and their influences on it."""

    mean: float
    rows: float
    influence: Floats

    def interval(self, level: float, binary: bool) -> Interval:
        """Wilson's of a share, which also has a width where nobody had the outcome; of amounts, Student's t."""
        if binary:
            return limits.wilson_share(self.mean, self.rows, level)
        if not self.rows > 1.0:  # one row does not tell how much others differ
            return Interval(math.nan, math.nan)
        error = math.sqrt(float((self.influence**2).sum()) * self.rows / (self.rows - 1.0))
        freedom = min(limits.effective_freedom(self.influence), max(self.rows - 1.0, 1.0))
        half = limits.t_quantile(level, freedom) * error
        return Interval(self.mean - half, self.mean + half)


class UpliftCut(NamedTuple):
    """The uplift among the best of a list, the influence of each row on it, and what its interval rests on.

    ``arms``: the treated and the controls taken; ``moved``: the standard error that comes from the place of the cut.
    """

    value: float
    influence: Floats
    arms: list[Arm]
    moved: float

    def interval(self, level: float, binary: bool) -> Interval:
        """Newcombe's interval of a difference (1998, method 10), from that of each arm; nan where nothing varies."""
        treated, control = self.arms
        if self.value != self.value:
            return Interval(math.nan, math.nan)
        (low, high), (control_low, control_high) = (arm.interval(level, binary) for arm in self.arms)
        moved = (limits.z_of(level) * self.moved) ** 2
        down = math.sqrt((treated.mean - low) ** 2 + (control_high - control.mean) ** 2 + moved)
        up = math.sqrt((high - treated.mean) ** 2 + (control.mean - control_low) ** 2 + moved)
        if not down + up > 0.0:
            return Interval(math.nan, math.nan)
        widest = 1.0 if binary else math.inf
        return Interval(max(-widest, self.value - down), min(widest, self.value + up))


def t_test(value: float, one: Floats, other: Floats, trial: Trial, level: float) -> DifferenceTest:
    """Interval and p-value of a difference from the influences of the rows on its two terms, by Student's t.

    With fewer than six outcomes of the rarer kind in an arm it has at most one degree of freedom less than there are.
    """
    rows, influence, arms = len(one), one - other, (trial.outcome[trial.treated], trial.outcome[~trial.treated])
    # outcomes of the rarer kind in the arm that has fewer of them; of numbers, rows of the smaller arm
    fewest = float(min(min(arm.sum(), len(arm) - arm.sum()) if trial.binary else len(arm) for arm in arms))
    error = math.sqrt(float((influence**2).sum()) * rows / (rows - 1.0)) if rows > 1 else math.nan
    rounding = _NOTHING * max(float(np.abs(one).max()), float(np.abs(other).max()))
    if not rounding < error < math.inf or (fewest <= 1.0 and not trial.binary):
        return DifferenceTest(method="both treat the same rows, or outcomes do not vary in the others")
    freedom = limits.freedom_in_small_class(limits.effective_freedom(influence), fewest)
    half = limits.t_quantile(level, freedom) * error
    return DifferenceTest(value - half, value + half, error, limits.two_sided_p(value / error, freedom), "t", freedom)

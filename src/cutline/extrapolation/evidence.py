"""What a method may look at: the histogram of wins, the accuracy curve of smaller tasks, and perhaps the scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np

from ..errors import InputError
from ..types import Floats
from .favorability import Favorability, mix
from .notes import Note
from .win_counts import Ties, average_accuracy, class_grid, credit

_SMALL = 300
ROWS_AT_ONCE = 256
# Distances between standardised scores are counted in bins of this width, up to this many deviations from the mean.
BIN_WIDTH, _REACH, _LENGTH = 0.02, 10.0, 2048


@dataclass(frozen=True)
class ScoreSample:
    """Scores of every case: of its own class, and of the others (higher is better).

    Rows are as long as the longest; a shorter row (its own class drawn twice in a resample, or only its best scores
    kept) is filled up with −inf. ``count`` is the number of competitors, ``depth`` how many of them, from the best
    down, are in the row; ``middle`` and ``spread`` (see :func:`middle_and_spread`) are of all its competitors.
    ``losses`` are the competitors, out of ``n_classes − 1``, that the right class does not beat. In a resample
    (``resampled``) scores are repeated with their classes.
    """

    true: Floats
    others: Floats
    count: Floats
    weight: Floats
    depth: Floats | None = None
    middle: Floats | None = None
    spread: Floats | None = None
    losses: Floats | None = None
    n_tested: int = 0
    resampled: bool = False
    ties: Ties = "random"

    def standing(self) -> tuple[Floats, Floats]:
        """Middle and spread of every row, found from the row itself where they were not given."""
        if self.middle is not None and self.spread is not None:
            return self.middle, self.spread
        return middle_and_spread(self.others)

    @cached_property
    def mean_and_deviation(self) -> tuple[Floats, Floats]:
        """Mean and standard deviation of every case's competitors."""
        real = np.isfinite(self.others)
        filled = np.where(real, self.others, 0.0)
        mean = filled.sum(axis=1) / self.count
        gap = np.where(real, filled - mean[:, None], 0.0)
        deviation = np.sqrt((gap * gap).sum(axis=1) / np.maximum(self.count - 1.0, 1.0))
        flat = np.flatnonzero(~(deviation > 0))
        if flat.size:
            raise InputError(
                "scores",
                "gives the same score to all other classes, so nothing can be said about the shape of its scores",
                "use a rank method such as 'mixture'",
                row=int(flat[0]),
            )
        return mean, deviation

    @cached_property
    def pairs_at_distance(self) -> Floats:
        """Pairs of competitors, per case, by how many bins their standardised scores are apart.

        From one Fourier transform per case of its binned scores.
        """
        mean, deviation = self.mean_and_deviation
        pairs = np.zeros(_LENGTH // 2)
        bins = int(2 * _REACH / BIN_WIDTH)
        for start in range(0, mean.size, ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            z = (self.others[rows] - mean[rows, None]) / deviation[rows, None]
            place = np.where(np.isfinite(z), np.clip((z + _REACH) / BIN_WIDTH, 0, bins - 1), bins).astype(np.intp)
            n_rows = z.shape[0]
            flat = place + np.arange(n_rows)[:, None] * (bins + 1)
            binned = np.bincount(flat.ravel(), minlength=n_rows * (bins + 1)).reshape(n_rows, bins + 1)[:, :bins]
            power = np.abs(np.fft.rfft(binned, _LENGTH, axis=1)) ** 2
            pairs += np.fft.irfft(power.sum(axis=0), _LENGTH)[: _LENGTH // 2]
        per_row = np.maximum(np.round(pairs), 0.0) / mean.size
        per_row[0] = max(per_row[0] - float(self.count.mean()), 0.0) / 2.0
        return per_row

    @property
    def complete(self) -> bool:
        """Whether the scores of all competitors are there."""
        return self.depth is None


def middle_and_spread(rows: Floats) -> tuple[Floats, Floats]:
    """Median of every row, and ``√(2π)·mean((s − median)₊)``: its spread upwards, which for a normal law is its σ.

    Only competitors near the top matter. Those far below, and there may be very far ones, count as below and no more.
    ``−inf`` is no competitor.

    >>> middle_and_spread(np.array([[0.0, 1.0, 2.0, -np.inf], [-1e9, 1.0, 2.0, -np.inf]]))[1].round(3).tolist()
    [0.836, 0.836]
    """
    ordered = np.sort(rows, axis=1)
    count = np.isfinite(rows).sum(axis=1)
    first, last = rows.shape[1] - count, rows.shape[1] - 1
    pair = np.stack([first + (count - 1) // 2, first + count // 2], axis=1)
    middle = np.take_along_axis(ordered, np.clip(pair, 0, last), axis=1).mean(axis=1)
    with np.errstate(invalid="ignore"):
        above = np.where(ordered > middle[:, None], ordered - middle[:, None], 0.0).sum(axis=1)
        return middle, np.sqrt(2.0 * np.pi) * above / np.maximum(count, 1)


@dataclass(frozen=True)
class Evidence:
    """One task of ``n_classes`` classes as the methods see it.

    ``histogram[L]`` is the share of cases (classes weighing equally) that beat ``L`` distractors. It is missing
    where only accuracies were given, and ``scores`` where only wins were. ``kept`` is the share of cases that beat
    the rest of their own family; everything else is about those alone.
    """

    n_classes: int
    histogram: Floats | None = None
    scores: ScoreSample | None = None
    pairs: tuple[Floats, Floats] | None = None
    kept: float = 1.0

    @cached_property
    def curve(self) -> tuple[Floats, Floats]:
        """Every known ``k`` ≥ 2 and the average test accuracy there."""
        if self.pairs is not None:
            return self.pairs
        assert self.histogram is not None
        k = np.arange(2.0, self.n_classes + 1.0)
        if self.n_classes <= _SMALL:
            return k, np.asarray(self.histogram @ _credits(self.n_classes), dtype=np.float64)
        return k, average_accuracy(self.histogram)[1:]

    @cached_property
    def sketch(self) -> tuple[Floats, Floats, Floats]:
        """About a hundred log-spaced points of the curve, each with the number of ``k`` it stands for.

        A curve of thousands of points has a few dozen degrees of freedom: least squares on these points, each
        weighted by its stretch, is least squares on all of them.
        """
        if self.pairs is not None:
            k, accuracy = self.pairs
            return k, accuracy, np.ones(k.size)
        assert self.histogram is not None
        k = class_grid(self.n_classes)
        edges = np.concatenate([[1.5], (k[1:] + k[:-1]) / 2.0, [self.n_classes + 0.5]])
        accuracy = (
            self.curve[1][k.astype(np.intp) - 2] if self.n_classes <= _SMALL else average_accuracy(self.histogram, k)
        )
        return k, accuracy, np.diff(edges)

    def known_scores(self) -> ScoreSample:
        """The scores, for a method that cannot do without them."""
        if self.scores is None:
            raise InputError("method", "needs the scores themselves, not only wins", "use a rank method or give scores")
        return self.scores

    @property
    def last_accuracy(self) -> float:
        """Accuracy at the largest number of classes seen, losses inside the own family included."""
        last = float(self.histogram[-1]) if self.histogram is not None else float(self.curve[1][-1])
        return self.kept * last

    def whole_task(self, fit: Favorability) -> Favorability:
        """A fit to the cases that beat their own family, with those that did not: these never win again."""
        if self.kept >= 1.0:
            return fit
        return mix([fit, Favorability(miss=np.ones(1), miss_weight=np.ones(1))], [self.kept, 1.0 - self.kept])


@lru_cache(maxsize=8)
def _credits(n_classes: int) -> Floats:
    """What every number of wins (rows) is worth at 2 … ``n_classes`` classes: the same for all resamples of a task."""
    return credit(np.arange(float(n_classes)), np.arange(2.0, n_classes + 1.0), n_classes - 1)


class ObservedTask(Protocol):
    """Data that can show itself whole, by parts of its classes, and resampled."""

    @property
    def n_classes(self) -> int:
        """Classes (or families of classes) in the observed task."""

    @property
    def n_cases(self) -> int:
        """Test cases."""

    @property
    def n_tested(self) -> int:
        """Classes (or families) with test cases of their own; 0 where cases are unknown."""

    @property
    def classes_each(self) -> float:
        """Classes in a family; 1 where classes come one by one."""

    @property
    def has_scores(self) -> bool:
        """Whether the values of the scores are at hand, if only the best of every case."""

    @property
    def hints(self) -> tuple[Note, ...]:
        """What was noticed while the data were read."""

    def whole(self) -> Evidence:
        """All of it."""

    def parts(self, share: float, n: int, seed: int) -> Iterator[Evidence]:
        """``n`` random parts of the classes, each with about ``share`` of them."""

    def resamples(self, n: int, seed: int) -> Iterator[Evidence]:
        """``n`` bootstrap resamples of the classes."""

    def standard_error(self, k: Floats) -> tuple[Floats, str]:
        """Standard errors of the average test accuracy at ``k``, and how they were found."""

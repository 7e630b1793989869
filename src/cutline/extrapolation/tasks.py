"""The observed task in its three forms: cases compared with every class, wins alone, accuracies alone.

Each can show itself whole, by random parts of its classes (for the back-test) and resampled (for the interval).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..types import Floats
from .favorability import row_blocks
from .task_evidence import LOST_OF_TIES, Note, ScoreSample, TaskEvidence, Ties, tie_credit, win_histogram

Bits = NDArray[np.uint8]
Indices = NDArray[np.intp]
# Numbers of classes at which standard errors are found; between them they hardly bend on a log scale.
_JACKKNIFE_POINTS = 40
# Cases of a part or a resample of a very large task. Chosen by hand: their shape and spread are steady enough.
_ENOUGH_CASES = 5000


@dataclass(frozen=True)
class KeptScores:
    """The scores of every case: all of them (``best`` None), or the best of each case with the classes they are of."""

    values: Floats
    true: Floats
    middle: Floats
    spread: Floats
    best: NDArray[np.int32] | None = None


@dataclass(frozen=True)
class ScoreTask:
    """Test cases × classes, kept as bits: who beat whom (and who tied, where ties exist); 20,000 classes need 50 MB.

    Where classes come in families, ``n_classes`` counts families: a case competes with the best class of every other
    family, and ``own_family`` is its chance to come out first in its own. Where scores are logarithms of probabilities,
    ``probability_total`` is what those of a row sum to.
    """

    n_classes: int
    case_class: Indices
    case_share: Floats
    beaten_bits: Bits
    tied_bits: Bits | None
    ties: Ties
    scores: KeptScores | None = None
    own_family: Floats | None = None
    classes_each: float = 1.0
    hints: tuple[Note, ...] = ()
    probability_total: float | None = None

    @property
    def n_cases(self) -> int:
        """Test cases."""
        return int(self.case_class.size)

    @cached_property
    def n_tested(self) -> int:
        """Classes (or families) with test cases of their own."""
        return int(np.unique(self.case_class).size)

    @property
    def has_scores(self) -> bool:
        """Whether the values of the scores are at hand."""
        return self.scores is not None

    def counts(self, class_weight: Floats) -> tuple[Floats, Floats]:
        """Beaten and tied distractors of every case (rows) when classes weigh as in each column."""
        weight = np.ascontiguousarray(class_weight, dtype=np.float32)
        return self._product(self.beaten_bits, weight), self._product(self.tied_bits, weight)

    def _product(self, bits: Bits | None, weight: NDArray[np.float32]) -> Floats:
        out = np.zeros((self.n_cases, weight.shape[1]))
        for rows, block in self._unpacked(bits) if bits is not None else ():
            out[rows] = block @ weight
        return out

    def _unpacked(self, bits: Bits) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        for rows in row_blocks(self.n_cases, self.n_classes):
            yield rows, np.unpackbits(bits[rows], axis=1, count=self.n_classes).astype(np.float32)

    @cached_property
    def wins(self) -> tuple[Floats, Floats]:
        """Beaten and tied distractors of every case in the whole task."""
        beaten, tied = self.counts(np.ones((self.n_classes, 1)))
        return beaten[:, 0], tied[:, 0]

    def case_weight(self, class_weight: Floats) -> Floats:
        """Weights of the cases, summing to one, so that classes weigh as given however many cases they have."""
        weight = class_weight[self.case_class] * self.case_share
        return np.asarray(weight / weight.sum(), dtype=np.float64)

    def _evidence(self, copies: Floats, beaten: Floats, tied: Floats, n_classes: int) -> TaskEvidence:
        """The task in which every class appears as often as ``copies`` says; wins of the cases drawn into it."""
        drawn = copies[self.case_class] > 0
        weight = self.case_weight(copies)
        kept = 1.0
        if self.own_family is not None:
            weight = weight * self.own_family
            kept = float(weight.sum())
            drawn &= weight > 0
            weight = weight / kept if kept > 0 else weight
        if not drawn.any():
            return TaskEvidence(n_classes, np.eye(n_classes)[0], None, kept=0.0)
        histogram = win_histogram(beaten[drawn], tied[drawn], weight[drawn], n_classes, self.ties)
        losses = np.maximum(n_classes - 1.0 - beaten - (1.0 - LOST_OF_TIES[self.ties]) * tied, 0.0)
        sample = self._sample(np.flatnonzero(drawn), copies, weight, losses)
        return TaskEvidence(n_classes, histogram, sample, kept=kept)

    def whole(self) -> TaskEvidence:
        """All classes."""
        return self._evidence(np.ones(self.n_classes), *self.wins, self.n_classes)

    def parts(self, share: float, n: int, seed: int) -> Iterator[TaskEvidence]:
        """Random parts of the classes without replacement; successive ones are disjoint as far as they fit, so that all
        classes are used evenly.
        """
        size = max(2, round(share * self.n_classes))
        inside = np.zeros((self.n_classes, n))
        column, split = 0, 0
        while column < n:
            order = np.random.default_rng([seed, 1, split]).permutation(self.n_classes)
            for start in range(0, self.n_classes - size + 1, size):
                part = order[start : start + size]
                if column < n and np.isin(part, self.case_class).any():
                    inside[part, column] = 1.0
                    column += 1
            split += 1
        beaten, tied = self.counts(inside)
        for column in range(n):
            yield self._evidence(inside[:, column], beaten[:, column], tied[:, column], size)

    def resamples(self, n: int, seed: int) -> Iterator[TaskEvidence]:
        """Class bootstrap: copies of the own class are no competitors, and wins are rescaled to ``k1 − 1``."""
        draws = [self._resample(seed, number) for number in range(n)]
        copies = np.stack([np.bincount(draw, minlength=self.n_classes) for draw in draws], axis=1).astype(np.float64)
        beaten, tied = self.counts(copies)
        for column in range(n):
            competitors = self.n_classes - copies[self.case_class, column]
            scale = (self.n_classes - 1.0) / np.maximum(competitors, 1.0)
            yield self._evidence(copies[:, column], beaten[:, column] * scale, tied[:, column] * scale, self.n_classes)

    def _sample(self, cases: Indices, copies: Floats, weight: Floats, losses: Floats) -> ScoreSample | None:
        if self.scores is None:
            return None
        kept = self.scores
        if kept.best is not None and copies.min() < 1:
            # A part or a resample of a very large task: some thousands of its cases, in no order, tell as much.
            cases = np.sort(np.random.default_rng(0).permutation(cases)[:_ENOUGH_CASES])
        own, weight = self.case_class[cases], weight / weight[cases].sum()
        count = copies.sum() - copies[own]
        depth = None
        if kept.best is None:
            classes = np.repeat(np.arange(self.n_classes), copies.astype(np.intp))
            others = kept.values[np.ix_(cases, classes)]
            others[classes[None, :] == own[:, None]] = -np.inf
        else:
            # The best scores of each case, as often as their class was drawn; their order stays.
            often = copies[kept.best[cases]].astype(np.intp)
            long = often.sum(axis=1)
            flat = np.repeat(kept.values[cases].ravel(), often.ravel())
            place = np.arange(flat.size) - np.repeat(np.cumsum(long) - long, long)
            others = np.full((cases.size, int(long.max())), -np.inf)
            others[np.repeat(np.arange(cases.size), long), place] = flat
            depth = long.astype(np.float64)
        return ScoreSample(
            kept.true[cases],
            others,
            count,
            weight[cases],
            depth,
            kept.middle[cases],
            kept.spread[cases],
            losses[cases],
            int(np.count_nonzero(np.bincount(own))),
            bool(copies.max() > 1),
            self.ties,
        )

    def standard_error(self, k: Floats) -> tuple[Floats, str]:
        """Delete-one-class jackknife: a class counts as a task and as everybody's competitor.

        Found at some forty numbers of classes and interpolated between them.
        """
        if self.n_classes < 3 or self.n_tested < 2:
            return np.full(k.size, np.nan), "none: too few classes to leave one out"
        points, without = self.without_each
        return np.interp(np.log(k), np.log(points), jackknife_error(without)), "class jackknife"

    @cached_property
    def without_each(self) -> tuple[Floats, Floats]:
        """Some forty numbers of classes, and the accuracies there (columns) with each class left out (rows)."""
        # With one class left out there is no task of all k1: its error is taken from k1 − 1.
        points = np.unique(np.round(np.geomspace(2.0, max(self.n_classes - 1.0, 2.0), _JACKKNIFE_POINTS)))
        beaten, tied = self.wins
        share_of_case = self.case_weight(np.ones(self.n_classes))
        weight = share_of_case if self.own_family is None else share_of_case * self.own_family
        left = self.n_classes - 2
        kept = tie_credit(beaten, tied, points, left, self.ties) * weight[:, None]
        total = np.tile(kept.sum(axis=0), (self.n_classes, 1))
        for bits, wins, ties in ((self.beaten_bits, beaten - 1.0, tied), (self.tied_bits, beaten, tied - 1.0)):
            if bits is not None:
                lost = tie_credit(wins, ties, points, left, self.ties) * weight[:, None] - kept
                for rows, block in self._unpacked(bits):
                    total += block.T @ lost[rows].astype(np.float32)
        np.subtract.at(total, self.case_class, kept)
        share = np.bincount(self.case_class, weights=share_of_case, minlength=self.n_classes)
        return points, total / (1.0 - share)[:, None]

    def _resample(self, seed: int, number: int) -> Indices:
        rng = np.random.default_rng([seed, 2, number])
        while True:
            draw = np.sort(rng.integers(0, self.n_classes, self.n_classes))
            # A resample without any tested class is no task, and with one competitor, drawn again and again, no scale.
            if np.isin(draw, self.case_class).any() and np.unique(draw).size >= min(3, self.n_classes):
                return draw


@dataclass(frozen=True)
class WinsTask:
    """Distractors beaten and tied per case, out of ``n_classes − 1``.

    Which distractors they were is unknown, so a smaller or resampled set of competitors is drawn for every case
    on its own. What cases share, a class that beats many of them, cannot be seen: intervals are a little short.
    """

    n_classes: int
    beaten: Floats
    tied: Floats
    case_class: Indices
    ties: Ties
    classes_each: float = 1.0
    has_scores: bool = False
    hints: tuple[Note, ...] = ()

    @property
    def n_cases(self) -> int:
        """Test cases."""
        return int(self.beaten.size)

    @property
    def n_tested(self) -> int:
        """Classes with test cases of their own."""
        return int(self.case_class.max()) + 1

    @property
    def wins(self) -> tuple[Floats, Floats]:
        """Beaten and tied distractors of every case."""
        return self.beaten, self.tied

    def _evidence(self, copies: Floats, beaten: Floats, tied: Floats, n_classes: int) -> TaskEvidence:
        drawn = copies[self.case_class] > 0
        weight = copies[self.case_class] / np.bincount(self.case_class)[self.case_class]
        return TaskEvidence(
            n_classes, win_histogram(beaten, tied, weight[drawn] / weight[drawn].sum(), n_classes, self.ties)
        )

    def whole(self) -> TaskEvidence:
        """All cases."""
        return self._evidence(np.ones(self.n_tested), self.beaten, self.tied, self.n_classes)

    def parts(self, share: float, n: int, seed: int) -> Iterator[TaskEvidence]:
        """A random part of the tested classes, each case against a random part of its competitors."""
        size = max(2, round(share * self.n_classes))
        tested = max(1, round(share * self.n_tested))
        for number in range(n):
            rng = np.random.default_rng([seed, 3, number])
            copies = np.zeros(self.n_tested)
            copies[rng.choice(self.n_tested, tested, replace=False)] = 1.0
            drawn = copies[self.case_class] > 0
            beaten, tied = self.beaten[drawn].astype(np.int64), self.tied[drawn].astype(np.int64)
            fewer = rng.hypergeometric(beaten, self.n_classes - 1 - beaten, size - 1)
            equal = rng.hypergeometric(tied, self.n_classes - 1 - beaten - tied, size - 1 - fewer)
            yield self._evidence(copies, fewer.astype(float), equal.astype(float), size)

    def resamples(self, n: int, seed: int) -> Iterator[TaskEvidence]:
        """Resampled classes, each case against competitors resampled for it alone."""
        most = self.n_classes - 1
        for number in range(n):
            rng = np.random.default_rng([seed, 4, number])
            copies = np.bincount(rng.integers(0, self.n_tested, self.n_tested), minlength=self.n_tested).astype(float)
            drawn = copies[self.case_class] > 0
            beaten, tied = self.beaten[drawn], self.tied[drawn]
            more = rng.binomial(most, beaten / most)
            equal = rng.binomial(most - more, np.minimum(tied / np.maximum(most - beaten, 1.0), 1.0))
            yield self._evidence(copies, more.astype(float), equal.astype(float), self.n_classes)

    def standard_error(self, k: Floats) -> tuple[Floats, str]:
        """Spread between classes; the competitors are taken as given, because who they were is unknown."""
        if self.n_tested < 2:
            return np.full(k.size, np.nan), "none: one class"
        credit = tie_credit(self.beaten, self.tied, k, self.n_classes - 1, self.ties)
        return spread_between_classes(credit, self.case_class), "spread between classes"


def jackknife_error(without: Floats) -> Floats:
    """Standard errors from what was found with each class left out (rows)."""
    n = without.shape[0]
    return np.asarray(np.sqrt(((without - without.mean(axis=0)) ** 2).sum(axis=0) * (n - 1.0) / n), dtype=np.float64)


def spread_between_classes(credit: Floats, case_class: Indices) -> Floats:
    """Standard error of a mean over classes, from the classes' own means (columns are numbers of classes)."""
    number = np.unique(case_class, return_inverse=True)[1]
    counts = np.bincount(number)
    means = np.stack([np.bincount(number, weights=column) / counts for column in credit.T], axis=1)
    return np.asarray(means.std(axis=0, ddof=1) / np.sqrt(counts.size), dtype=np.float64)


@dataclass(frozen=True)
class CurveTask:
    """Known accuracies at some numbers of classes; nothing to resample, so no interval."""

    k: Floats
    accuracy: Floats
    n_cases: int = 0
    n_tested: int = 0
    classes_each: float = 1.0
    has_scores: bool = False
    hints: tuple[Note, ...] = ()

    @property
    def n_classes(self) -> int:
        """The largest number of classes seen."""
        return int(self.k[-1])

    def whole(self) -> TaskEvidence:
        """All pairs."""
        return TaskEvidence(self.n_classes, pairs=(self.k, self.accuracy))

    def parts(self, share: float, n: int, seed: int) -> Iterator[TaskEvidence]:
        """The lower end of the curve: one part, whatever ``n``, because there is nothing random about it."""
        lower = self.k <= share * self.k[-1]
        if lower.any() and n > 0:
            yield TaskEvidence(int(self.k[lower][-1]), pairs=(self.k[lower], self.accuracy[lower]))

    def resamples(self, n: int, seed: int) -> Iterator[TaskEvidence]:
        """None: pairs do not say how many cases or classes stand behind them."""
        yield from ()

    def standard_error(self, k: Floats) -> tuple[Floats, str]:
        """Unknown."""
        return np.full(k.size, np.nan), "none: accuracies without counts"


ObservedTask = ScoreTask | WinsTask | CurveTask

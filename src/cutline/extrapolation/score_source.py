"""Cases compared with every class: wins, random halves of the classes, class resamples, jackknife errors.

The comparisons are kept as bits (beaten; tied only where ties exist): 20,000 classes need 50 MB.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .evidence import Evidence, ScoreSample
from .moments import Floats
from .wins import Ties, credit, win_histogram

Bits = NDArray[np.uint8]
_CELLS_AT_ONCE = 4_000_000
_JACKKNIFE_POINTS = 40


@dataclass(frozen=True)
class ScoreSource:
    """Test cases × classes, reduced to who beat whom; the scores themselves too where they are few enough."""

    n_classes: int
    case_class: NDArray[np.intp]
    beaten_bits: Bits
    tied_bits: Bits | None
    ties: Ties
    scores: Floats | None = None

    @property
    def n_cases(self) -> int:
        """Test cases."""
        return int(self.case_class.size)

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
        if bits is None:
            return out
        step = max(1, _CELLS_AT_ONCE // self.n_classes)
        for start in range(0, self.n_cases, step):
            block = np.unpackbits(bits[start : start + step], axis=1, count=self.n_classes)
            out[start : start + step] = block.astype(np.float32) @ weight
        return out

    def wins(self) -> tuple[Floats, Floats]:
        """Beaten and tied distractors of every case in the whole task."""
        beaten, tied = self.counts(np.ones((self.n_classes, 1)))
        return beaten[:, 0], tied[:, 0]

    def case_weight(self, class_weight: Floats) -> Floats:
        """Weights of the cases, summing to one, so that classes weigh as given however many cases they have."""
        per_class = np.bincount(self.case_class, minlength=self.n_classes)
        weight = class_weight[self.case_class] / per_class[self.case_class]
        return np.asarray(weight / weight.sum(), dtype=np.float64)

    def whole(self) -> Evidence:
        """All classes."""
        beaten, tied = self.wins()
        every = np.ones(self.n_classes)
        histogram = win_histogram(beaten, tied, self.case_weight(every), self.n_classes, self.ties)
        return Evidence(self.n_classes, histogram, self._sample(np.arange(self.n_classes), every))

    def parts(self, share: float, n: int, seed: int) -> Iterator[Evidence]:
        """Random parts of the classes without replacement; two halves of one split come one after the other."""
        size = max(2, round(share * self.n_classes))
        chosen = _parts(self.n_classes, size, n, seed, self.case_class)
        inside = np.zeros((self.n_classes, len(chosen)))
        for column, classes in enumerate(chosen):
            inside[classes, column] = 1.0
        beaten, tied = self.counts(inside)
        for column, classes in enumerate(chosen):
            own = inside[self.case_class, column] > 0
            weight = self.case_weight(inside[:, column])[own]
            histogram = win_histogram(beaten[own, column], tied[own, column], weight, size, self.ties)
            yield Evidence(size, histogram, self._sample(classes, inside[:, column]))

    def resamples(self, n: int, seed: int) -> Iterator[Evidence]:
        """Class bootstrap: copies of the own class are no competitors, and wins are rescaled to ``k1 − 1``."""
        draws = [_resample(self.n_classes, seed, number, self.case_class) for number in range(n)]
        copies = np.stack([np.bincount(draw, minlength=self.n_classes) for draw in draws], axis=1).astype(np.float64)
        beaten, tied = self.counts(copies)
        for column, draw in enumerate(draws):
            own = copies[self.case_class, column]
            drawn = own > 0
            competitors = self.n_classes - own[drawn]
            scale = (self.n_classes - 1.0) / np.maximum(competitors, 1.0)
            weight = self.case_weight(copies[:, column])[drawn]
            histogram = win_histogram(
                beaten[drawn, column] * scale, tied[drawn, column] * scale, weight, self.n_classes, self.ties
            )
            yield Evidence(self.n_classes, histogram, self._sample(draw, copies[:, column]))

    def _sample(self, classes: NDArray[np.intp], copies: Floats) -> ScoreSample | None:
        if self.scores is None:
            return None
        cases = np.flatnonzero(copies[self.case_class] > 0)
        own_class = self.case_class[cases]
        others = self.scores[np.ix_(cases, classes)]
        others[classes[None, :] == own_class[:, None]] = -np.inf
        count = classes.size - copies[own_class]
        return ScoreSample(self.scores[cases, own_class], others, count, self.case_weight(copies)[cases])

    def standard_error(self, k: Floats) -> tuple[Floats, str]:
        """Delete-one-class jackknife: a class counts as a task and as everybody's competitor.

        Found at some forty numbers of classes and interpolated between them.
        """
        if self.n_classes < 3 or np.unique(self.case_class).size < 2:
            return np.full(k.size, np.nan), "none: too few classes to leave one out"
        # With one class left out there is no task of all k1: its error is taken from k1 − 1.
        points = np.unique(np.round(np.geomspace(2.0, max(self.n_classes - 1.0, 2.0), _JACKKNIFE_POINTS)))
        beaten, tied = self.wins()
        weight = self.case_weight(np.ones(self.n_classes))
        left = self.n_classes - 2
        kept = tie_credit(beaten, tied, points, left, self.ties) * weight[:, None]
        lost_win = tie_credit(beaten - 1.0, tied, points, left, self.ties) * weight[:, None] - kept
        total = np.tile(kept.sum(axis=0), (self.n_classes, 1))
        self._add_effect(total, self.beaten_bits, lost_win)
        if self.tied_bits is not None:
            lost_tie = tie_credit(beaten, tied - 1.0, points, left, self.ties) * weight[:, None] - kept
            self._add_effect(total, self.tied_bits, lost_tie)
        np.subtract.at(total, self.case_class, kept)
        share = np.bincount(self.case_class, weights=weight, minlength=self.n_classes)
        without = total / (1.0 - share)[:, None]
        spread = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
        error = np.sqrt(spread * (self.n_classes - 1.0) / self.n_classes)
        return np.interp(np.log(k), np.log(points), error), "class jackknife"

    def _add_effect(self, total: Floats, bits: Bits, effect: Floats) -> None:
        step = max(1, _CELLS_AT_ONCE // self.n_classes)
        small = effect.astype(np.float32)
        for start in range(0, self.n_cases, step):
            block = np.unpackbits(bits[start : start + step], axis=1, count=self.n_classes).astype(np.float32)
            total += block.T @ small[start : start + step]


def tie_credit(beaten: Floats, tied: Floats, k: Floats, competitors: int, ties: Ties) -> Floats:
    """Share of the subsets of ``k − 1`` competitors that a case survives, ties settled by the rule.

    Random: ``[C(L+t+1, k) − C(L, k)] / ((t+1) C(n, k−1))``.

    >>> tie_credit(np.array([0.0]), np.array([1.0]), np.array([2.0]), 1, "random").round(12).tolist()
    [[0.5]]
    """
    if ties == "optimistic":
        return credit(beaten + np.maximum(tied, 0.0), k, competitors)
    plain = credit(beaten, k, competitors)
    if ties == "pessimistic" or not (tied > 0).any():
        return plain
    wide = np.maximum(tied, 0.0)
    upper = credit(np.where(beaten < 0, -1.0, beaten + wide + 1.0), k + 1.0, competitors + 1)
    lower = credit(beaten, k + 1.0, competitors + 1)
    mean = (upper - lower) * (competitors + 1.0) / (k[None, :] * (wide[:, None] + 1.0))
    return np.where(tied[:, None] > 0, mean, plain)


def _parts(n_classes: int, size: int, n: int, seed: int, case_class: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Random parts; successive ones are disjoint as far as they fit, so that all classes are used evenly."""
    chosen: list[NDArray[np.intp]] = []
    split = 0
    with_cases = np.zeros(n_classes, dtype=bool)
    with_cases[case_class] = True
    while len(chosen) < n:
        order = np.random.default_rng([seed, 1, split]).permutation(n_classes)
        for start in range(0, n_classes - size + 1, size):
            part = np.sort(order[start : start + size])
            if len(chosen) < n and with_cases[part].any():
                chosen.append(part)
        split += 1
    return chosen


def _resample(n_classes: int, seed: int, number: int, case_class: NDArray[np.intp]) -> NDArray[np.intp]:
    rng = np.random.default_rng([seed, 2, number])
    while True:
        draw = np.sort(rng.integers(0, n_classes, n_classes))
        # A resample without any tested class, or of one class alone, is no task.
        if np.isin(draw, case_class).any() and draw[0] != draw[-1]:
            return draw

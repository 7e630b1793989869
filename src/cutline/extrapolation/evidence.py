"""What a method may look at: the histogram of wins, the accuracy curve of smaller tasks, and perhaps the scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ..errors import InputError
from .moments import Floats
from .wins import average_accuracy

_CURVE_POINTS = 120


@dataclass(frozen=True)
class ScoreSample:
    """Scores of every case: of its own class, and of the others (higher is better).

    Rows are as long as the longest; a row with fewer competitors (its own class drawn twice in a resample) is
    filled up with −inf and ``count`` says how many are real.
    """

    true: Floats
    others: Floats
    count: Floats
    weight: Floats


@dataclass(frozen=True)
class Evidence:
    """One task of ``n_classes`` classes as the methods see it.

    ``histogram[L]`` is the share of cases (classes weighing equally) that beat ``L`` distractors. It is missing
    where only accuracies were given, and ``scores`` where only wins were.
    """

    n_classes: int
    histogram: Floats | None = None
    scores: ScoreSample | None = None
    pairs: tuple[Floats, Floats] | None = None

    @cached_property
    def curve(self) -> tuple[Floats, Floats]:
        """Every known ``k`` ≥ 2 and the average test accuracy there."""
        if self.pairs is not None:
            return self.pairs
        assert self.histogram is not None
        return np.arange(2.0, self.n_classes + 1.0), average_accuracy(self.histogram)[1:]

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
        return k, average_accuracy(self.histogram, k), np.diff(edges)

    def known_scores(self) -> ScoreSample:
        """The scores, for a method that cannot do without them."""
        if self.scores is None:
            raise InputError(
                "method: this one needs the scores themselves, not only wins; use a rank method or give scores"
            )
        return self.scores

    @property
    def last_accuracy(self) -> float:
        """Accuracy at the largest number of classes seen."""
        return float(self.histogram[-1]) if self.histogram is not None else float(self.curve[1][-1])


def class_grid(n_classes: int, points: int = _CURVE_POINTS) -> Floats:
    """Whole numbers from 2 to ``n_classes``, evenly spaced on a log scale where they are many.

    >>> class_grid(5).tolist()
    [2.0, 3.0, 4.0, 5.0]
    """
    if n_classes - 1 <= points:
        return np.arange(2.0, n_classes + 1.0)
    return np.unique(np.round(np.geomspace(2.0, n_classes, points)))


class Source(Protocol):
    """Data that can show itself whole, by halves of its classes, and resampled."""

    @property
    def n_classes(self) -> int:
        """Classes in the observed task."""

    @property
    def n_cases(self) -> int:
        """Test cases."""

    @property
    def has_scores(self) -> bool:
        """Whether the values of the scores are at hand."""

    def whole(self) -> Evidence:
        """All of it."""

    def parts(self, share: float, n: int, seed: int) -> Iterator[Evidence]:
        """``n`` random parts of the classes, each with about ``share`` of them."""

    def resamples(self, n: int, seed: int) -> Iterator[Evidence]:
        """``n`` bootstrap resamples of the classes."""

    def standard_error(self, k: Floats) -> tuple[Floats, str]:
        """Standard errors of the average test accuracy at ``k``, and how they were found."""

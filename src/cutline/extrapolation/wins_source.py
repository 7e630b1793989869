"""Wins alone: each case says how many distractors it beat and tied, not which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .evidence import Evidence
from .moments import Floats
from .score_source import tie_credit
from .wins import Ties, win_histogram


@dataclass(frozen=True)
class WinsSource:
    """Distractors beaten and tied per case, out of ``n_classes − 1``.

    Which distractors they were is unknown, so a smaller or resampled set of competitors is drawn for every case
    on its own. What cases share, a class that beats many of them, cannot be seen: intervals are a little short.
    """

    n_classes: int
    beaten: Floats
    tied: Floats
    case_class: NDArray[np.intp]
    ties: Ties

    @property
    def n_cases(self) -> int:
        """Test cases."""
        return int(self.beaten.size)

    @property
    def has_scores(self) -> bool:
        """Never: only ranks are known."""
        return False

    def _weight(self, copies: Floats) -> Floats:
        per_class = np.bincount(self.case_class)
        weight = copies[self.case_class] / per_class[self.case_class]
        return np.asarray(weight / weight.sum(), dtype=np.float64)

    @property
    def _tested(self) -> int:
        return int(self.case_class.max()) + 1

    def wins(self) -> tuple[Floats, Floats]:
        """Beaten and tied distractors of every case."""
        return self.beaten, self.tied

    def whole(self) -> Evidence:
        """All cases."""
        weight = self._weight(np.ones(self._tested))
        return Evidence(self.n_classes, win_histogram(self.beaten, self.tied, weight, self.n_classes, self.ties))

    def parts(self, share: float, n: int, seed: int) -> Iterator[Evidence]:
        """A random part of the tested classes, each case against a random part of its competitors."""
        size = max(2, round(share * self.n_classes))
        tested = max(1, round(share * self._tested))
        for number in range(n):
            rng = np.random.default_rng([seed, 3, number])
            copies = np.zeros(self._tested)
            copies[rng.choice(self._tested, tested, replace=False)] = 1.0
            drawn = copies[self.case_class] > 0
            beaten, tied = self.beaten[drawn].astype(np.int64), self.tied[drawn].astype(np.int64)
            fewer = rng.hypergeometric(beaten, self.n_classes - 1 - beaten, size - 1)
            equal = rng.hypergeometric(tied, self.n_classes - 1 - beaten - tied, size - 1 - fewer)
            weight = self._weight(copies)[drawn]
            histogram = win_histogram(fewer.astype(float), equal.astype(float), weight, size, self.ties)
            yield Evidence(size, histogram)

    def resamples(self, n: int, seed: int) -> Iterator[Evidence]:
        """Resampled classes, each case against competitors resampled for it alone."""
        most = self.n_classes - 1
        for number in range(n):
            rng = np.random.default_rng([seed, 4, number])
            copies = np.bincount(rng.integers(0, self._tested, self._tested), minlength=self._tested).astype(float)
            drawn = copies[self.case_class] > 0
            beaten, tied = self.beaten[drawn], self.tied[drawn]
            more = rng.binomial(most, beaten / most)
            rest = np.maximum(most - beaten, 1.0)
            equal = rng.binomial(most - more, np.minimum(tied / rest, 1.0))
            weight = self._weight(copies)[drawn]
            histogram = win_histogram(more.astype(float), equal.astype(float), weight, self.n_classes, self.ties)
            yield Evidence(self.n_classes, histogram)

    def standard_error(self, k: Floats) -> tuple[Floats, str]:
        """Spread between classes; the competitors are taken as given, because who they were is unknown."""
        per_case = tie_credit(self.beaten, self.tied, k, self.n_classes - 1, self.ties)
        counts = np.bincount(self.case_class)
        means = np.stack([np.bincount(self.case_class, weights=column) / counts for column in per_case.T], axis=1)
        if self._tested < 2:
            return np.full(k.size, np.nan), "none: one class"
        return means.std(axis=0, ddof=1) / np.sqrt(self._tested), "spread between classes"

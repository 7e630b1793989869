"""Accuracies alone: pairs of a number of classes and the accuracy there, as a paper prints them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .evidence import Evidence
from .moments import Floats


@dataclass(frozen=True)
class CurveSource:
    """Known accuracies at some numbers of classes; nothing to resample, so no interval."""

    k: Floats
    accuracy: Floats

    @property
    def n_classes(self) -> int:
        """The largest number of classes seen."""
        return int(self.k[-1])

    @property
    def n_cases(self) -> int:
        """Unknown, told as none."""
        return 0

    @property
    def has_scores(self) -> bool:
        """Never."""
        return False

    def whole(self) -> Evidence:
        """All pairs."""
        return Evidence(self.n_classes, pairs=(self.k, self.accuracy))

    def parts(self, share: float, n: int, seed: int) -> Iterator[Evidence]:
        """The lower end of the curve: one part, whatever ``n``, because there is nothing random about it."""
        lower = self.k <= share * self.k[-1]
        if lower.any() and n > 0:
            yield Evidence(int(self.k[lower][-1]), pairs=(self.k[lower], self.accuracy[lower]))

    def resamples(self, n: int, seed: int) -> Iterator[Evidence]:
        """None: pairs do not say how many cases or classes stand behind them."""
        yield from ()

    def standard_error(self, k: Floats) -> tuple[Floats, str]:
        """Unknown."""
        return np.full(k.size, np.nan), "none: accuracies without counts"

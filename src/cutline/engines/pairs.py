"""Pairs of models on the same rows: how far a row's placements in two rankings lie apart (DeLong)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Floats
from .stream import Moments

Pair = tuple[str, str]


class Gaps:
    """Moments of the gaps between placements, for every pair of models and each class, row after row in any order.

    ``steps`` gives each model's scores, falling, and the placement of a positive and of a negative that has them. A
    row's placement is read from the compact ranking, where it is known to within the tolerance.
    """

    def __init__(self, steps: Mapping[str, tuple[Floats, Floats, Floats]]) -> None:
        self._steps = {model: (score[::-1].copy(), of_pos, of_neg) for model, (score, of_pos, of_neg) in steps.items()}
        self.pairs: list[Pair] = list(combinations(steps, 2))
        self.moments = {(pair, side): Moments() for pair in self.pairs for side in range(2)}

    def add(self, positive: NDArray[np.bool_], scores: Sequence[Floats]) -> None:
        """Add rows; ``scores`` has a column for each model."""
        found: dict[str, tuple[Floats, Floats]] = {}
        for (model, (ascending, of_pos, of_neg)), score in zip(self._steps.items(), scores, strict=True):
            block = len(ascending) - np.searchsorted(ascending, score, side="left") - 1
            found[model] = of_pos[block[positive]], of_neg[block[~positive]]
        for a, b in self.pairs:
            for side in range(2):
                gap = found[a][side] - found[b][side]
                if len(gap):
                    mean = float(gap.mean())
                    self._join((a, b), side, Moments(len(gap), mean, float(((gap - mean) ** 2).sum())))

    def join(self, moments: Mapping[tuple[Pair, int], Moments]) -> None:
        """Add the rows that another pass has seen."""
        for (pair, side), those in moments.items():
            self._join(pair, side, those)

    def _join(self, pair: Pair, side: int, those: Moments) -> None:
        self.moments[pair, side] = self.moments[pair, side].joined(those)

    def variances(self) -> dict[Pair, float]:
        """Variance of each pair's difference of AUCs."""
        both: Any = {pair: (self.moments[pair, 0], self.moments[pair, 1]) for pair in self.pairs}
        return {pair: sum(m.squares / (m.n - 1) / m.n for m in classes) for pair, classes in both.items()}


def add_to_all(
    gaps: Sequence[Gaps | None], code: NDArray[np.intp] | None, positive: NDArray[np.bool_], scores: Sequence[Floats]
) -> None:
    """Add rows to the gaps of their segments, where there are any, and of all rows, the last."""
    parts = [] if code is None else split_by(code, len(gaps) - 1)
    everything: Any = slice(None)
    for k, rows in [*parts, (len(gaps) - 1, everything)]:
        one = gaps[k]
        if one is not None:
            one.add(positive[rows], [score[rows] for score in scores])


def split_by(code: NDArray[np.intp], segments: int) -> list[tuple[int, NDArray[np.intp]]]:
    """The rows of each segment that a piece has, in their order."""
    order = np.argsort(code, kind="stable")
    ends = np.cumsum(np.bincount(code, minlength=segments))
    return [(k, rows) for k, rows in enumerate(np.split(order, ends[:-1])) if len(rows)]

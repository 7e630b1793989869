"""Scores or embeddings to comparisons: which classes the right one beats, case by case, in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .moments import Floats
from .score_source import Bits, ScoreSource
from .wins import Ties

Metric = str | Callable[[Floats, Floats], Floats]
_CELLS_AT_ONCE = 2_000_000
# Score methods resample the matrix itself; above this size it would not be kept in memory lightly (80 MB).
LARGEST_KEPT = 10_000_000


@dataclass
class _Gatherer:
    """Collects blocks of scores into bits, and keeps the scores while they are few."""

    n_classes: int
    case_class: NDArray[np.intp]
    beaten: list[Bits] = field(default_factory=list)
    tied: list[Bits] = field(default_factory=list)
    any_tie: bool = False
    kept: list[Floats] | None = None

    def add(self, start: int, block: Floats) -> None:
        """One block of rows, higher meaning better."""
        rows = np.arange(block.shape[0])
        own = self.case_class[start : start + block.shape[0]]
        true = block[rows, own][:, None]
        self.beaten.append(np.packbits(block < true, axis=1))
        equal = block == true
        equal[rows, own] = False
        if not self.any_tie and equal.any():
            self.any_tie = True
        self.tied.append(np.packbits(equal, axis=1) if equal.any() else np.zeros((0, 0), dtype=np.uint8))
        if self.kept is not None:
            self.kept.append(block)

    def source(self, ties: Ties) -> ScoreSource:
        """The finished source."""
        beaten = np.concatenate(self.beaten)
        tied = None
        if self.any_tie:
            blank = [
                part if part.size else np.zeros_like(full) for part, full in zip(self.tied, self.beaten, strict=True)
            ]
            tied = np.concatenate(blank)
        scores = None if self.kept is None else np.concatenate(self.kept)
        return ScoreSource(self.n_classes, self.case_class, beaten, tied, ties, scores)


def compare_scores(
    scores: NDArray[np.generic], case_class: NDArray[np.intp], *, distance: bool, ties: Ties
) -> ScoreSource:
    """Comparisons from a matrix of cases × classes."""
    n_cases, n_classes = scores.shape
    kept: list[Floats] | None = [] if scores.size <= LARGEST_KEPT else None
    gather = _Gatherer(n_classes, case_class, kept=kept)
    step = max(1, _CELLS_AT_ONCE // n_classes)
    finite = True
    for start in range(0, n_cases, step):
        block = np.asarray(scores[start : start + step], dtype=np.float64)
        bad = np.isnan(block)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            raise InputError(
                f"scores: row {start + row}, column {column} is missing (nan); drop the case, or give the score a value"
            )
        finite = finite and bool(np.isfinite(block).all())
        gather.add(start, -block if distance else block)
    if not finite:
        # ±inf has a rank but no place on a scale: the rank methods stay.
        gather.kept = None
    return gather.source(ties)


def compare_embeddings(
    gallery: Floats, probes: Floats, case_class: NDArray[np.intp], *, metric: Metric, distance: bool | None, ties: Ties
) -> ScoreSource:
    """Comparisons of probes with a gallery of one embedding per class, a block of probes at a time."""
    n_classes = gallery.shape[0]
    kept: list[Floats] | None = [] if n_classes * probes.shape[0] <= LARGEST_KEPT else None
    gather = _Gatherer(n_classes, case_class, kept=kept)
    for start, block in _similarity_blocks(gallery, probes, metric, distance):
        if np.isnan(block).any():
            row, column = np.argwhere(np.isnan(block))[0]
            raise InputError(
                f"metric: probe {start + row} and gallery row {column} have no similarity (nan); "
                "remove embeddings of length zero or choose metric='euclidean'"
            )
        gather.add(start, block)
    return gather.source(ties)


def _similarity_blocks(
    gallery: Floats, probes: Floats, metric: Metric, distance: bool | None
) -> Iterator[tuple[int, Floats]]:
    step = max(1, _CELLS_AT_ONCE // gallery.shape[0])
    if callable(metric):
        for start in range(0, probes.shape[0], step):
            part = probes[start : start + step]
            block = np.asarray(metric(part, gallery), dtype=np.float64)
            if block.shape != (part.shape[0], gallery.shape[0]):
                raise InputError(
                    f"metric: returned an array of shape {block.shape} for {part.shape[0]} probes and "
                    f"{gallery.shape[0]} gallery rows; return one score per probe (rows) and gallery row (columns)"
                )
            yield start, -block if distance else block
    elif metric == "cosine":
        with np.errstate(invalid="ignore", divide="ignore"):
            unit = gallery / np.linalg.norm(gallery, axis=1, keepdims=True)
            for start in range(0, probes.shape[0], step):
                part = probes[start : start + step]
                yield start, (part / np.linalg.norm(part, axis=1, keepdims=True)) @ unit.T
    elif metric == "euclidean":
        # Distances do not change when all points move; near the origin their squares lose fewer digits.
        centre = gallery.mean(axis=0)
        moved = gallery - centre
        length = (moved * moved).sum(axis=1)
        for start in range(0, probes.shape[0], step):
            part = probes[start : start + step] - centre
            block = part @ moved.T
            block *= -2.0
            block += length
            block += (part * part).sum(axis=1)[:, None]
            np.sqrt(np.maximum(block, 0.0, out=block), out=block)
            yield start, np.negative(block, out=block)
    else:
        raise InputError(f"metric: {metric!r} is unknown; choose 'euclidean', 'cosine' or give a function")

"""Sorted batches -> everything an evaluation needs, in one pass and in memory that does not grow with the rows.

A Stream takes rows in falling order of score, in batches of any size, and hands each closed piece of the ranking to
the sweep. What it keeps is small: the vectors of sums, the hull, DeLong's moments, and a compact ranking for curves.
A part of a list can be streamed by itself, given what comes before it, and joined with the others afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import SweepPlan
from ..kernels.backend import passes, stream_steps
from ..ranking import Ranking
from ..sweep import Piece, Start, fill_quotas, fill_thresholds, folded, merge, scale_of, sweep_piece
from ..tuning import TUNING
from ..types import Floats
from .draws import Draws

TOLERANCE = 2.0**-11


@dataclass(frozen=True)
class Totals:
    """What must be known of a table before its rows are summed. ``pos`` and ``neg`` are rows, or sums of weights."""

    rows: int
    positives: int
    pos: float
    neg: float
    low: float
    high: float
    weighted: bool = False
    dropped: int = 0
    distinct: int = 0
    sum: float = 0.0  # of the scores, times weights: a table that changes between passes shows in it
    weight_bits: tuple[int, int] = (0, 0)  # weights of each class times 2 to this power are added up as whole numbers

    @property
    def scale(self) -> float:
        """A power of two that brings the largest score near 1, as for a ranking in memory."""
        return scale_of(np.array([self.high, self.low]))

    @property
    def sums(self) -> tuple[float, float]:
        """Positives and negatives, as the sweep takes them."""
        if self.weighted or self.rows > TUNING.exact_pairs:
            return float(self.pos), float(self.neg)
        return int(self.pos), int(self.neg)

    @property
    def cases(self) -> float:
        """Cases that the rows stand for."""
        return self.sums[0] + self.sums[1]


@dataclass
class Moments:
    """Cases, mean and squared deviations of one class's placements; parts of a list are joined without cancelling."""

    n: float = 0.0
    mean: float = 0.0
    squares: float = 0.0

    def joined(self, other: Moments) -> Moments:
        """With those of another part."""
        n, total = other.n, self.n + other.n
        if total == 0:
            return self
        gap = other.mean - self.mean
        squares = self.squares + other.squares + gap * gap * self.n * n / total
        return Moments(total, self.mean + gap * n / total, squares)


@dataclass
class Part:
    """What a stream, or a part of one, leaves behind."""

    pieces: list[Piece]
    blocks: Floats
    of_pos: Moments
    of_neg: Moments
    groups: int = 0
    largest: float = 0.0
    tied: float = 0.0
    counts: NDArray[Any] | None = field(default=None, repr=False)

    def vectors(self) -> list[Floats]:
        """The finished vector of sums of each reading."""
        return [merge([piece]) for piece in self.pieces]


def joined(parts: Sequence[Part]) -> Part:
    """One part from consecutive ones; a part without rows adds nothing."""
    parts = [part for part in parts if part.groups]
    of_pos, of_neg = Moments(), Moments()
    for part in parts:
        of_pos, of_neg = of_pos.joined(part.of_pos), of_neg.joined(part.of_neg)
    return Part(
        [folded(pieces) for pieces in zip(*(part.pieces for part in parts), strict=True)],
        np.concatenate([part.blocks for part in parts]),
        of_pos,
        of_neg,
        sum(part.groups for part in parts),
        max(part.largest for part in parts),
        sum(part.tied for part in parts),
        None if parts[0].counts is None else np.concatenate([part.counts for part in parts if part.counts is not None]),
    )


class Stream:
    """One pass over the rows of a table, best first."""

    def __init__(
        self,
        totals: Totals,
        readings: Sequence[SweepPlan],
        *,
        tolerance: float = TOLERANCE,
        marks: Sequence[float] = (),
        start: Start | None = None,
        draws: Draws | None = None,
    ) -> None:
        self.totals, self.readings, self.tolerance, self.draws = totals, list(readings), tolerance, draws
        first = start if start is not None else Start()
        kind = float if isinstance(totals.sums[0], float) else int
        self._dtype = np.float64 if totals.weighted else np.int64
        self._starts = [Start(kind(first.pos), kind(first.neg), first.end, first.step) for _ in self.readings]
        self._before = Start(kind(first.pos), kind(first.neg))
        self._moments = [np.zeros(5) for _ in self.readings]
        self._pieces: list[list[Piece]] = [[] for _ in self.readings]
        thresholds = {t for reading in self.readings for t in reading.request.thresholds}
        places = {*marks, *(q for reading in self.readings for q in reading.request.quotas)}
        self._cuts = np.array(sorted(thresholds, reverse=True), dtype=np.float64)
        self._marks = np.array(sorted(places), dtype=np.float64)
        self._open: tuple[float, float, float] | None = None
        self._state = np.zeros(7)
        self._blocks: list[Floats] = []
        self._n_blocks = 0
        self._part = Part([], np.empty((0, 5)), Moments(), Moments())

    def feed(
        self,
        score: Floats,
        positive: NDArray[np.uint8],
        weight: Floats | None = None,
        row: NDArray[np.int64] | None = None,
    ) -> None:
        """Take the next rows."""
        if len(score) == 0:
            return
        kernels = stream_steps()
        out, rows = self._room(len(score)), np.zeros(len(score) + 1, np.int64)
        is_open = self._open is not None
        if weight is None:
            used = kernels.group_rows(score, positive, is_open, *out, rows)
        else:
            used = kernels.group_weights(score, positive, weight, is_open, *out, rows)
        self._take(used, out, score)
        if self.draws is not None:
            self.draws.add(row, positive, weight, rows[:used])

    def feed_groups(self, score: Floats, pos: NDArray[Any], neg: NDArray[Any]) -> None:
        """Take the next rows, grouped by score."""
        if len(score) == 0:
            return
        kernels = stream_steps()
        out = self._room(len(score))
        kinds = (pos.astype(self._dtype), neg.astype(self._dtype))
        self._take(kernels.group_groups(score, *kinds, self._open is not None, *out), out, score)

    def finish(self) -> Part:
        """Close the last group and give what was gathered."""
        if self._open is not None:
            value, pos, neg = self._open
            self._sum(np.array([value]), np.array([pos], self._dtype), np.array([neg], self._dtype))
            self._open = None
        self._close()
        part = self._part
        if self._state[0]:
            self._blocks.append(self._state[1:6].copy()[None, :])
            self._state[:] = 0.0
        part.pieces = [folded(pieces) for pieces in self._pieces if pieces]
        part.blocks = np.concatenate(self._blocks) if self._blocks else part.blocks
        part.counts = self.draws.result(len(part.blocks)) if self.draws is not None else None
        return part

    def _room(self, n: int) -> tuple[Floats, NDArray[Any], NDArray[Any]]:
        out = np.empty(n + 1), np.empty(n + 1, self._dtype), np.empty(n + 1, self._dtype)
        if self._open is not None:
            out[0][0], out[1][0], out[2][0] = self._open
        return out

    def _take(self, used: int, out: tuple[Floats, NDArray[Any], NDArray[Any]], score: Floats) -> None:
        if used < 0:
            at = -1 - used
            before = score[at - 1] if at else self._open[0] if self._open is not None else np.nan
            raise RuntimeError(
                f"the rows did not come in falling order of score: {before!r} is followed by {score[at]!r}; the sums "
                "would be wrong, so nothing is reported"
            )
        closed = used - 1
        self._open = (float(out[0][closed]), out[1][closed].item(), out[2][closed].item())
        self._sum(out[0][:closed], out[1][:closed], out[2][:closed])

    def _sum(self, score: Floats, pos: NDArray[Any], neg: NDArray[Any]) -> None:
        """Sum a piece whose groups are complete."""
        if len(score) == 0:
            return
        kernels = stream_steps()
        totals = self.totals
        if isinstance(totals.sums[0], float) and not totals.weighted:
            pos, neg = pos.astype(np.float64), neg.astype(np.float64)
        for k, reading in enumerate(self.readings):
            ranking = Ranking(score, pos, neg, totals.rows, totals.weighted).resolved(reading.ties)
            self._pieces[k].append(self._piece(ranking, k, reading))
            if len(self._pieces[k]) >= 64:
                self._pieces[k] = [folded(self._pieces[k])]
        before, part = self._before, self._part
        self._before = Start(before.pos + pos.sum().item(), before.neg + neg.sum().item())
        if not totals.weighted and totals.pos and totals.neg:
            found = kernels.placement_moments(pos, neg, before.pos, before.neg, totals.sums[0], totals.sums[1])
            part.of_pos = part.of_pos.joined(Moments(float(self._before.pos - before.pos), found[0], found[1]))
            part.of_neg = part.of_neg.joined(Moments(float(self._before.neg - before.neg), found[2], found[3]))
        part.groups += len(score)
        part.largest = max(part.largest, float((pos + neg).max()))
        part.tied += float((pos.astype(np.float64) * neg).sum())
        out, block = np.empty((len(score) + 1, 5)), np.empty(len(score), np.int64)
        done = kernels.into_blocks(
            score,
            pos,
            neg,
            float(before.pos + before.neg),
            np.array([totals.pos, totals.neg], dtype=np.float64),
            self.tolerance,
            self._marks,
            self._cuts,
            self._state,
            out,
            block,
        )
        if self.draws is not None:
            self.draws.place(self._n_blocks + block)
        self._n_blocks += done
        if done:
            self._blocks.append(out[:done].copy())

    def _piece(self, ranking: Ranking, k: int, reading: SweepPlan) -> Piece:
        start, request = self._starts[k], reading.request
        piece = sweep_piece(ranking, start, self.totals.sums, request)
        fill_thresholds(piece.vector, ranking, request)
        if request.quotas:
            self._cut(ranking, k, reading, piece)
        self._starts[k] = start.after(ranking.pos, ranking.neg)
        return piece

    def _cut(self, ranking: Ranking, k: int, reading: SweepPlan, piece: Piece, *, is_last: bool = False) -> None:
        """Cells and spreads at the quotas that end in this piece."""
        fill_quotas(
            piece.vector,
            ranking,
            reading.request,
            self._starts[k],
            self.totals.scale,
            self._moments[k],
            is_last=is_last,
            kernels=passes(),
            totals=self.totals.sums,
        )

    def _close(self) -> None:
        """A quota of everybody that rounding puts behind the last row is cut there."""
        nothing = np.empty(0, self._dtype)
        end = Ranking(np.empty(0), nothing, nothing, self.totals.rows, self.totals.weighted)
        for k, reading in enumerate(self.readings):
            if reading.request.quotas and self._pieces[k]:
                nobody = Piece(np.zeros(reading.request.width), totals=self.totals.sums)
                self._cut(end, k, reading, nobody, is_last=True)
                self._pieces[k][-1].vector += nobody.vector

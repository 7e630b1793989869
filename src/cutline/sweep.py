"""Ranking -> Sums: one pass over the groups, best first, gathers every running total the catalogue needs.

The pass goes piece by piece. A piece is summed from what came before it (its ``Start``) and the totals of the whole
list, so pieces can be summed in any order, on any thread or machine, and merged: totals add, extremes compare,
hulls join.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import compiled
from .kernels.layout import AT, CUT, FIELDS, LOSSES, PARTS, SLICE, TOTALS, KernelRequest, Loss, harmonic_table
from .ranking import Ranking
from .runtime import in_threads

_PIECE = 32_768  # groups of one piece: its columns stay in the cache of one core
_SWEEP_IN_THREADS = 8 * _PIECE  # groups below which one pass is over before threads have started
_NO_TABLE = np.empty(0)
SHORT_LIST = 2**10  # cases up to which differences of a table of harmonic numbers are exact enough

# The least probability in a logarithm of two classes: Ferri et al.'s, as in Berrar Def. 20.
LOG_EPS = 1e-5


class LossOptions(NamedTuple):
    """What the sums of losses depend on; ``prior`` None stands for the sample's own share of positives."""

    eps: float = LOG_EPS
    gamma: float = 2.0
    prior: float | None = None


@dataclass(frozen=True)
class SumsRequest:
    """What to gather in a pass: which parts, which sets of loss options, which thresholds and quotas (ascending)."""

    parts: frozenset[str] = frozenset(PARTS)
    losses: tuple[LossOptions, ...] = (LossOptions(),)
    thresholds: tuple[float, ...] = ()
    quotas: tuple[int, ...] = ()

    @cached_property
    def width(self) -> int:
        """Numbers in one vector of sums."""
        return len(FIELDS) + len(LOSSES) * len(self.losses) + len(CUT) * (len(self.thresholds) + len(self.quotas))

    def at(self, *, losses: LossOptions | None = None, threshold: float | None = None, quota: int | None = None) -> int:
        """Where the losses with some options, or the cut at a threshold or a quota, start in the vector."""
        if losses is not None:
            return len(FIELDS) + len(LOSSES) * self.losses.index(losses)
        cut = self.thresholds.index(threshold) if quota is None else len(self.thresholds) + self.quotas.index(quota)
        return len(FIELDS) + len(LOSSES) * len(self.losses) + len(CUT) * cut


class Sums:
    """Named view of vectors of sums, one or many: ``sums.won`` is a number, or an array with one for each replicate."""

    __slots__ = ("_columns", "_losses")

    def __init__(self, values: NDArray[np.float64], losses_at: int = len(FIELDS)) -> None:
        self._columns = values.T  # of one vector a column is a number, of many an array
        self._losses = losses_at

    def __getattr__(self, name: str) -> Any:
        if name in AT:
            return self._columns[AT[name]]
        try:
            return self._columns[self._losses + LOSSES.index(name)]
        except ValueError:
            raise AttributeError(name) from None


@dataclass(frozen=True, slots=True)
class Counts:
    """The four cells at one cut, numbers or arrays. At a quota, also the spread of score and outcome above the cut."""

    tp: Any
    fp: Any
    fn: Any
    tn: Any
    spread_score: Any = float("nan")
    spread_outcome: Any = float("nan")
    comoment: Any = float("nan")

    def plain(self) -> Counts:
        """The cells of one sample as Python's own numbers."""
        return Counts(*(float(getattr(self, name)) for name in self.__slots__))


def counts_at(values: NDArray[np.float64], at: int) -> Counts:
    """The cut that starts at place ``at`` of the vectors."""
    return Counts(*values.T[at : at + len(CUT)])


class Start(NamedTuple):
    """What came before a piece: positives, negatives, cases up to the last group with a positive, positives in it."""

    pos: float = 0
    neg: float = 0
    end: float = 0.0
    step: float = 0.0

    def after(self, pos: NDArray[Any], neg: NDArray[Any]) -> Start:
        """The start of the next piece."""
        sums = np.empty(4)
        compiled.sum_groups(pos, neg, sums)
        hits, misses, end, step = sums.tolist()
        kind = type(self.pos)
        a, b = self.pos + kind(hits), self.neg + kind(misses)
        return Start(a, b, self.pos + self.neg + end, step) if step > 0 else Start(a, b, self.end, self.step)


@dataclass
class PieceSums:
    """Sums of one piece of a ranking: the vector, and the hull's vertices (in counts)."""

    vector: NDArray[np.float64]
    hull: tuple[NDArray[Any], NDArray[Any]] | None = None
    totals: tuple[float, float] = field(default=(0, 0))


def sweep_piece(ranking: Ranking, start: Start, totals: tuple[float, float], request: SumsRequest) -> PieceSums:
    """Sum one piece, given what came before it and the totals (positives, negatives) of the whole list."""
    pos, neg = ranking.pos, ranking.neg
    n_pos, n_neg = totals
    cases, whole = n_pos + n_neg, not isinstance(n_pos, float)
    out = np.zeros(request.width)
    piece = PieceSums(out, totals=totals)
    if "pairs" in request.parts:
        compiled.sum_pairs(pos, neg, start.pos, n_pos, out[SLICE["pairs"]])
    if "gaps" in request.parts:
        compiled.sum_gaps(pos, neg, start.pos, start.neg, n_pos, n_neg, out[SLICE["gaps"]])
    if "precision" in request.parts:
        compiled.sum_precision(pos, neg, start.pos, start.neg, start.end, start.step, out[SLICE["precision"]])
    if "places" in request.parts:
        table = harmonic_table(int(cases)) if whole and cases <= SHORT_LIST else _NO_TABLE
        compiled.sum_places(pos, neg, start.pos, start.neg, n_pos, cases, table, out[SLICE["places"]])
    if "hull" in request.parts:
        x, y, used = compiled.hull_of_groups(pos, neg, start.pos, start.neg)
        piece.hull = x[:used], y[:used]
    if "losses" in request.parts:
        losses = _loss_inputs(ranking.score, request)
        for options, given in zip(request.losses, losses[2], strict=True):
            at = request.at(losses=options)
            into, both = out[at : at + len(LOSSES)], (float(n_pos), float(n_neg))
            compiled.sum_losses(ranking.score, *losses[:2], pos, neg, tuple(given), both, into)
    return piece


def _loss_inputs(
    score: NDArray[Any], request: SumsRequest
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[Loss]]:
    """log p and log(1−p), nan or −inf where p is not a probability (then unused); the options as passes take them."""
    p = score.astype(np.float64, copy=False)
    q = np.negative(p)
    losses = [Loss(float(np.log(eps)), g, math.nan if prior is None else prior) for eps, g, prior in request.losses]
    with np.errstate(all="ignore"):
        return np.log(p), np.log1p(q, out=q), losses


def kernel_request(
    request: SumsRequest, score: NDArray[Any], cases: float, *, whole: bool, above: Sequence[int] = (), most: int = 0
) -> KernelRequest:
    """What the passes over many replicates of a ranking with these scores need to know.

    ``above`` is the number of groups above each of the request's thresholds. Places are summed by a table of harmonic
    numbers, for up to ``most`` cases.
    """
    log_p, log_q, losses = _loss_inputs(score, request) if "losses" in request.parts else (_NO_TABLE, _NO_TABLE, [])
    return KernelRequest(
        score,
        log_p,
        log_q,
        harmonic_table(most) if most and whole and "places" in request.parts else _NO_TABLE,
        np.array([part in request.parts for part in PARTS]),
        np.array(losses, dtype=np.float64).reshape(len(losses), len(Loss._fields)),
        np.array(above, dtype=np.int64),
        scale_of(score),
        np.array(request.quotas, dtype=np.float64),
        float(cases),
    )


def folded(pieces: Sequence[PieceSums]) -> PieceSums:
    """One piece from consecutive ones: totals add, in order; extremes compare; hulls join."""
    if len(pieces) == 1:
        return pieces[0]
    every = np.array([piece.vector for piece in pieces])
    total = every.sum(axis=0)
    total[AT["top_gap"]], total[AT["low_gap"]] = every[:, AT["top_gap"]].max(), every[:, AT["low_gap"]].min()
    total[AT["last_step"]] = next((v for v in every[::-1, AT["last_step"]] if v > 0), 0.0)
    hulls = [piece.hull for piece in pieces if piece.hull is not None]
    hull = None
    if hulls:
        x, y = (np.concatenate([h[k] for h in hulls]) for k in range(2))
        hx, hy, used = compiled.hull_of_groups(np.diff(y), np.diff(x), y[0], x[0])
        hull = hx[:used].copy(), hy[:used].copy()
    return PieceSums(total, hull, pieces[0].totals)


def merge(pieces: Sequence[PieceSums]) -> NDArray[np.float64]:
    """The vector of a whole ranking from those of its pieces, in order."""
    whole = folded(pieces) if len(pieces) > 1 else pieces[0]
    total, (n_pos, n_neg) = whole.vector.copy(), whole.totals
    total[: len(TOTALS)] = n_pos, n_neg, n_pos + n_neg
    if whole.hull is not None:
        x, y = whole.hull
        total[AT["hull_area"]] = 0.5 * np.cumsum(np.append(0, np.diff(x) * (y[1:] + y[:-1])))[-1]
    share = n_pos / (n_pos + n_neg) if n_pos + n_neg else math.nan
    total[AT["pr_lower"]] += 0.5 * total[AT["last_step"]] * share  # the last recall's least precision
    return total


def sweep(ranking: Ranking, request: SumsRequest) -> NDArray[np.float64]:
    """The vector of sums of a ranking, in threads where it is long."""
    totals = ranking.n_pos, ranking.n_neg
    first = Start(0 * totals[0], 0 * totals[1])  # nothing before: zeros of the type of the counts, integer or float
    if not request.parts:  # cuts alone need no pass over the whole list
        vector = np.zeros(request.width)
        vector[: len(TOTALS)] = *totals, ranking.cases
    elif len(ranking) <= _SWEEP_IN_THREADS:
        vector = merge([sweep_piece(ranking, first, totals, request)])
    else:
        start, tasks = first, []
        for at in range(0, len(ranking), _PIECE):
            score, pos, neg = (column[at : at + _PIECE] for column in (ranking.score, ranking.pos, ranking.neg))
            part = Ranking(score, pos, neg, ranking.rows, ranking.weighted)
            tasks.append(partial(sweep_piece, part, start, totals, request))
            start = start.after(pos, neg)
        vector = merge(in_threads(tasks))
    fill_thresholds(vector, ranking, request)
    if request.quotas:
        cuts = vector[request.at(quota=request.quotas[0]) :].reshape(len(request.quotas), len(CUT))
        sizes = (math.nan, math.nan) if ranking.weighted else tuple(map(float, totals))
        quotas, scale = np.array(request.quotas, dtype=np.float64), scale_of(ranking.score)
        columns = ranking.score, ranking.pos, ranking.neg
        compiled.cut_at_quotas(*columns, (0.0, 0.0), sizes, scale, np.zeros(5), quotas, True, cuts)
    return vector


def fill_thresholds(vector: NDArray[np.float64], ranking: Ranking, request: SumsRequest) -> None:
    """The cells at the thresholds, each added up by itself: what is empty is 0."""
    for threshold in request.thresholds:
        at, above = request.at(threshold=threshold), ranking.above(threshold)
        sides = (ranking.pos[:above], ranking.neg[:above], ranking.pos[above:], ranking.neg[above:])
        vector[at : at + 4] = [side.sum(dtype=np.float64) for side in sides]


def scale_of(score: NDArray[Any]) -> float:
    """A power of two that brings the largest score near 1: squares of the scaled scores neither overflow nor vanish."""
    largest = float(np.abs(score[[0, -1]].astype(np.float64)).max())
    if not 0.0 < largest < np.inf:
        return 1.0
    return float(np.ldexp(1.0, -max(-1022, int(np.frexp(largest)[1]))))

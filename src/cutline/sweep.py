"""Ranking -> Sums: one pass over the groups, best first, gathers every running total the catalogue needs.

The pass goes piece by piece. A piece is summed from what came before it (its ``Start``) and the totals of the whole
list, so pieces can be summed in any order, on any thread or machine, and merged: totals add, extremes compare,
hulls join.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels.backend import is_small, passes
from .kernels.layout import AT, CUT, FIELDS, LOSSES, PARTS, SLICE, TOTALS, Loss, Wanted
from .kernels.plain import harmonic_table
from .ranking import Ranking
from .threads import in_threads

_PIECE = 32_768
_SWEEP_IN_THREADS = 8 * _PIECE
_NO_TABLE = np.empty(0)


# The least probability in a logarithm of two classes: Ferri et al.'s, as in Berrar Def. 20.
LOG_EPS = 1e-5


class Losses(NamedTuple):
    """What the sums of losses depend on; ``prior`` None stands for the sample's own share of positives."""

    eps: float = LOG_EPS
    gamma: float = 2.0
    prior: float | None = None


@dataclass(frozen=True)
class Request:
    """What to gather in a pass: which parts, which sets of loss options, which thresholds and quotas (ascending)."""

    parts: frozenset[str] = frozenset(PARTS)
    losses: tuple[Losses, ...] = (Losses(),)
    thresholds: tuple[float, ...] = ()
    quotas: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        """Numbers in one vector of sums."""
        return len(FIELDS) + len(LOSSES) * len(self.losses) + len(CUT) * (len(self.thresholds) + len(self.quotas))

    def losses_at(self, options: Losses) -> int:
        """Where the losses with these options start in the vector."""
        return len(FIELDS) + len(LOSSES) * self.losses.index(options)

    def threshold_at(self, threshold: float) -> int:
        """Where the cut at this threshold starts in the vector."""
        return len(FIELDS) + len(LOSSES) * len(self.losses) + len(CUT) * self.thresholds.index(threshold)

    def quota_at(self, quota: int) -> int:
        """Where the cut at this quota starts in the vector."""
        before = len(FIELDS) + len(LOSSES) * len(self.losses) + len(CUT) * len(self.thresholds)
        return before + len(CUT) * self.quotas.index(quota)


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
        end, step = passes(len(pos)).last_positive_group(pos, neg)
        start = self.pos + self.neg
        a, b = self.pos + pos.sum().item(), self.neg + neg.sum().item()
        return Start(a, b, start + end, step) if step > 0 else Start(a, b, self.end, self.step)


@dataclass
class Piece:
    """Sums of one piece of a ranking: the vector, and the hull's vertices (in counts)."""

    vector: NDArray[np.float64]
    hull: tuple[NDArray[Any], NDArray[Any]] | None = None
    totals: tuple[float, float] = field(default=(0, 0))


def sweep_piece(ranking: Ranking, start: Start, totals: tuple[float, float], request: Request) -> Piece:
    """Sum one piece, given what came before it and the totals (positives, negatives) of the whole list."""
    pos, neg = ranking.pos, ranking.neg
    n_pos, n_neg = totals
    cases, whole = n_pos + n_neg, not isinstance(n_pos, float)
    small = whole and is_small(int(cases))
    kernels = passes(len(ranking) if small else None, weighted=not whole)
    out = np.zeros(request.width)
    piece = Piece(out, totals=totals)
    if "pairs" in request.parts:
        kernels.sum_pairs(pos, neg, start.pos, n_pos, out[SLICE["pairs"]])
    if "gaps" in request.parts:
        kernels.sum_gaps(pos, neg, start.pos, start.neg, n_pos, n_neg, out[SLICE["gaps"]])
    if "precision" in request.parts:
        kernels.sum_precision(pos, neg, *map(float, start), out[SLICE["precision"]])
    if "places" in request.parts:
        table = harmonic_table(int(cases)) if small else _NO_TABLE
        kernels.sum_places(pos, neg, start.pos, start.neg, n_pos, cases, whole, table, out[SLICE["places"]])
    if "hull" in request.parts:
        x, y, used = kernels.hull_of_groups(pos, neg, start.pos, start.neg)
        piece.hull = x[:used], y[:used]
    if "losses" in request.parts:
        log_p, log_q = loss_columns(ranking.score)
        both = float(n_pos), float(n_neg)
        for options in request.losses:
            at = request.losses_at(options)
            into = out[at : at + len(LOSSES)]
            kernels.sum_losses(ranking.score, log_p, log_q, pos, neg, tuple(loss_options(options)), both, into)
    return piece


def loss_columns(score: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """log p and log(1−p), nan or −inf where p is not a probability; the losses are then unused."""
    p = score.astype(np.float64)
    with np.errstate(all="ignore"):
        return np.log(p), np.log1p(-p)


def loss_options(options: Losses) -> Loss:
    """The options as the passes take them."""
    prior = float("nan") if options.prior is None else options.prior
    return Loss(float(np.log(options.eps)), options.gamma, prior)


def wanted(
    request: Request, score: NDArray[Any], cases: float, *, whole: bool, above: Sequence[int] = (), most: int = 0
) -> Wanted:
    """What the passes over many replicates of a ranking with these scores need to know.

    ``above`` is the number of groups above each of the request's thresholds. Places are summed by a table of harmonic
    numbers, for up to ``most`` cases.
    """
    with_losses = "losses" in request.parts
    log_p, log_q = loss_columns(score) if with_losses else (np.empty(0), np.empty(0))
    losses = [loss_options(options) for options in request.losses if with_losses]
    return Wanted(
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


def folded(pieces: Sequence[Piece]) -> Piece:
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
        hx, hy, used = passes().hull_of_groups(np.diff(y), np.diff(x), y[0], x[0])
        hull = hx[:used].copy(), hy[:used].copy()
    return Piece(total, hull, pieces[0].totals)


def merge(pieces: Sequence[Piece]) -> NDArray[np.float64]:
    """The vector of a whole ranking from those of its pieces, in order."""
    whole = folded(pieces)
    total, (n_pos, n_neg) = whole.vector.copy(), whole.totals
    total[: len(TOTALS)] = n_pos, n_neg, n_pos + n_neg
    if whole.hull is not None:
        x, y = whole.hull
        total[AT["hull_area"]] = 0.5 * passes(len(x)).twice_area(x, y, len(x))
    with np.errstate(invalid="ignore"):
        share = np.float64(n_pos) / (n_pos + n_neg)
    total[AT["pr_lower"]] += 0.5 * total[AT["last_step"]] * share  # the last recall's least precision
    return total


def sweep(ranking: Ranking, request: Request) -> NDArray[np.float64]:
    """The vector of sums of a ranking, in threads where it is long."""
    totals = ranking.n_pos, ranking.n_neg
    if not request.parts:  # cuts alone need no pass over the whole list
        vector = np.zeros(request.width)
        vector[: len(TOTALS)] = *totals, ranking.cases
    elif len(ranking) <= _SWEEP_IN_THREADS:
        vector = merge([sweep_piece(ranking, _first(ranking), totals, request)])
    else:
        starts, slices = _starts(ranking)

        def summed(start: Start, span: slice) -> Piece:
            part = Ranking(ranking.score[span], ranking.pos[span], ranking.neg[span], ranking.rows, ranking.weighted)
            return sweep_piece(part, start, totals, request)

        tasks = [partial(summed, start, span) for start, span in zip(starts, slices, strict=True)]
        vector = merge(in_threads(tasks))
    _fill_cuts(vector, ranking, request)
    return vector


def _first(ranking: Ranking) -> Start:
    """Nothing before: zeros of the type of the counts, integer or float."""
    return Start(0 * ranking.n_pos, 0 * ranking.n_neg)


def _starts(ranking: Ranking) -> tuple[list[Start], list[slice]]:
    slices = [slice(i, i + _PIECE) for i in range(0, len(ranking), _PIECE)]
    starts = [_first(ranking)]
    for span in slices[:-1]:
        starts.append(starts[-1].after(ranking.pos[span], ranking.neg[span]))
    return starts, slices


def _fill_cuts(vector: NDArray[np.float64], ranking: Ranking, request: Request) -> None:
    fill_thresholds(vector, ranking, request)
    if request.quotas:
        small = not ranking.weighted and is_small(ranking.rows)
        kernels = passes(ranking.rows if small else None)
        scale = scale_of(ranking.score)
        fill_quotas(vector, ranking, request, _first(ranking), scale, np.zeros(5), is_last=True, kernels=kernels)


def fill_thresholds(vector: NDArray[np.float64], ranking: Ranking, request: Request) -> None:
    """The cells at the thresholds, each added up by itself: what is empty is 0."""
    for threshold in request.thresholds:
        at, above = request.threshold_at(threshold), ranking.above(threshold)
        sides = (ranking.pos[:above], ranking.neg[:above], ranking.pos[above:], ranking.neg[above:])
        vector[at : at + 4] = [side.sum(dtype=np.float64) for side in sides]


def fill_quotas(
    vector: NDArray[np.float64],
    ranking: Ranking,
    request: Request,
    start: Start,
    scale: float,
    moments: NDArray[np.float64],
    *,
    is_last: bool,
    kernels: Any,
    totals: tuple[float, float] | None = None,
) -> None:
    """The cells and spreads at the quotas that end in a piece of a list, and what of it lies behind those before."""
    cuts = vector[request.quota_at(request.quotas[0]) :].reshape(len(request.quotas), len(CUT))
    n_pos, n_neg = totals or (ranking.n_pos, ranking.n_neg)
    known = (float("nan"),) * 2 if ranking.weighted else (float(n_pos), float(n_neg))
    kernels.cut_at_quotas(
        ranking.score,
        ranking.pos,
        ranking.neg,
        (float(start.pos), float(start.neg)),
        known,
        scale,
        moments,
        np.array(request.quotas, dtype=np.float64),
        is_last,
        cuts,
    )


def scale_of(score: NDArray[Any]) -> float:
    """A power of two that brings the largest score near 1: squares of the scaled scores neither overflow nor vanish."""
    largest = float(np.abs(score[[0, -1]].astype(np.float64)).max())
    if not 0.0 < largest < np.inf:
        return 1.0
    return float(np.ldexp(1.0, -max(-1022, int(np.frexp(largest)[1]))))

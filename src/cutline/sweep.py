"""Ranking -> Sums: one pass over the groups, best first, gathers every running total the catalogue needs.

The pass goes piece by piece. A piece is summed from what came before it (its ``Start``) and the totals of the whole
list, so pieces can be summed in any order, on any thread or machine, and merged: totals add, extremes compare,
hulls join.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .backend import passes
from .ranking import Ranking

# Which pass fills which fields. The names are the attributes of Sums.
PAIRS = ("won", "margin")
GAPS = ("top_gap", "low_gap")
PRECISION = (
    "precision_steps",
    "pr_lower",
    "pr_lower_upper",
    "pr_upper",
    "first_step",
    "first_step_on_top",
    "last_step",
)
PLACES = ("hit_rates_at_positives", "hit_rates", "found", "squares", "top_hits")
HULL = ("hull_area",)
LOSSES = (
    "absolute",
    "squared",
    "pos_log",
    "neg_log",
    "pos_focal",
    "neg_focal",
    "pos_hinge",
    "neg_hinge",
    "information",
)
TOTALS = ("n_pos", "n_neg", "rows")
PARTS = {"pairs": PAIRS, "gaps": GAPS, "precision": PRECISION, "places": PLACES, "hull": HULL, "losses": LOSSES}
FIELDS = TOTALS + PAIRS + GAPS + PRECISION + PLACES + HULL
CUT = ("tp", "fp", "spread_score", "spread_outcome", "comoment")

_AT = {name: i for i, name in enumerate(FIELDS)}
_SLICE = {part: slice(_AT[names[0]], _AT[names[-1]] + 1) for part, names in PARTS.items() if part != "losses"}
_PIECE = 32_768
_SWEEP_IN_THREADS = 8 * _PIECE


class Losses(NamedTuple):
    """What the sums of losses depend on; ``prior`` None stands for the sample's own share of positives."""

    eps: float = 1e-5
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

    __slots__ = ("_losses", "_values")

    def __init__(self, values: NDArray[np.float64], losses_at: int = len(FIELDS)) -> None:
        self._values = values
        self._losses = losses_at

    def __getattr__(self, name: str) -> Any:
        if name in _AT:
            return self._values[..., _AT[name]]
        try:
            return self._values[..., self._losses + LOSSES.index(name)]
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
    tp, fp = values[..., at], values[..., at + 1]
    fn, tn = values[..., _AT["n_pos"]] - tp, values[..., _AT["n_neg"]] - fp
    return Counts(tp, fp, fn, tn, values[..., at + 2], values[..., at + 3], values[..., at + 4])


class Start(NamedTuple):
    """What came before a piece: positives, negatives, cases up to the last group with a positive, positives in it."""

    pos: float = 0
    neg: float = 0
    end: float = 0.0
    step: float = 0.0

    def after(self, pos: NDArray[Any], neg: NDArray[Any]) -> Start:
        """The start of the next piece."""
        end, step = passes().last_positive_group(pos, neg)
        start = self.pos + self.neg
        a, b = self.pos + pos.sum().item(), self.neg + neg.sum().item()
        return Start(a, b, start + end, step) if step > 0 else Start(a, b, self.end, self.step)


@dataclass
class Piece:
    """Sums of one piece of a ranking: the vector, and the hull's vertices (in counts)."""

    vector: NDArray[np.float64]
    hull: tuple[NDArray[Any], NDArray[Any]] | None = None
    totals: tuple[float, float, int] = field(default=(0, 0, 0))


def sweep_piece(ranking: Ranking, start: Start, totals: tuple[float, float, int], request: Request) -> Piece:
    """Sum one piece, given what came before it and the totals (positives, negatives, rows) of the whole list."""
    kernels = passes()
    pos, neg = ranking.pos, ranking.neg
    n_pos, n_neg, rows = totals
    out = np.zeros(request.width)
    piece = Piece(out, totals=totals)
    if "pairs" in request.parts:
        kernels.sum_pairs(pos, neg, start.pos, n_pos, out[_SLICE["pairs"]])
    if "gaps" in request.parts:
        kernels.sum_gaps(pos, neg, start.pos, start.neg, n_pos, n_neg, out[_SLICE["gaps"]])
    if "precision" in request.parts:
        kernels.sum_precision(pos, neg, *map(float, start), out[_SLICE["precision"]])
    if "places" in request.parts and not ranking.weighted:
        kernels.sum_places(pos, neg, start.pos, start.neg, n_pos, rows, np.empty(0), out[_SLICE["places"]])
    if "hull" in request.parts:
        x, y, used = kernels.hull_of_groups(pos, neg, start.pos, start.neg)
        piece.hull = x[:used], y[:used]
    if "losses" in request.parts:
        log_p, log_q = loss_columns(ranking.score)
        for options in request.losses:
            at = request.losses_at(options)
            arguments = (*loss_arguments(options), float(n_pos), float(n_neg), out[at : at + len(LOSSES)])
            kernels.sum_losses(ranking.score, log_p, log_q, pos, neg, *arguments)
    return piece


def loss_columns(score: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """log p and log(1−p), nan or −inf where p is no probability: then the losses are not read."""
    p = score.astype(np.float64)
    with np.errstate(all="ignore"):
        return np.log(p), np.log1p(-p)


def loss_arguments(options: Losses) -> tuple[float, float, float]:
    """The kernel's arguments: log ε, γ, prior (nan for the sample's own)."""
    return float(np.log(options.eps)), options.gamma, float("nan") if options.prior is None else options.prior


def merge(pieces: Iterable[Piece]) -> NDArray[np.float64]:
    """The vector of a whole ranking from those of its pieces, in order."""
    from . import kernels

    parts = list(pieces)
    total = parts[0].vector.copy() if len(parts) == 1 else np.sum([piece.vector for piece in parts], axis=0)
    if len(parts) > 1:
        every = np.array([piece.vector for piece in parts])
        total[_AT["top_gap"]] = every[:, _AT["top_gap"]].max()
        total[_AT["low_gap"]] = every[:, _AT["low_gap"]].min()
        total[_AT["last_step"]] = next((v for v in every[::-1, _AT["last_step"]] if v > 0), 0.0)
    n_pos, n_neg, rows = parts[0].totals
    total[: len(TOTALS)] = n_pos, n_neg, rows
    hulls = [piece.hull for piece in parts if piece.hull is not None]
    if hulls:
        x, y = (
            hulls[0]
            if len(hulls) == 1
            else (np.concatenate([h[0] for h in hulls]), np.concatenate([h[1] for h in hulls]))
        )
        used = len(x)
        if len(hulls) > 1:
            x, y, used = kernels.hull_of_groups(np.diff(y), np.diff(x), y[0], x[0])
        total[_AT["hull_area"]] = 0.5 * kernels.twice_area(x, y, used)
    total[_AT["pr_lower"]] += (
        0.5 * total[_AT["last_step"]] * (n_pos / (n_pos + n_neg))
    )  # the last recall's least precision
    return total


def merged_moments(n: float, one: NDArray[np.float64], m: float, two: NDArray[np.float64]) -> NDArray[np.float64]:
    """Moments (two means, squared deviations of each, their products) of two sets of cases together."""
    if n == 0 or m == 0:
        return two.copy() if n == 0 else one.copy()
    by_score, by_outcome = two[0] - one[0], two[1] - one[1]
    share, shrink = m / (n + m), n / (n + m) * m
    return np.array(
        [
            one[0] + by_score * share,
            one[1] + by_outcome * share,
            one[2] + two[2] + by_score * by_score * shrink,
            one[3] + two[3] + by_outcome * by_outcome * shrink,
            one[4] + two[4] + by_score * by_outcome * shrink,
        ]
    )


def sweep(ranking: Ranking, request: Request) -> NDArray[np.float64]:
    """The vector of sums of a ranking, in threads where it is long."""
    totals = ranking.n_pos, ranking.n_neg, ranking.rows
    if not request.parts:  # cuts alone need no pass over the whole list
        vector = np.zeros(request.width)
        vector[: len(TOTALS)] = totals
    elif len(ranking) <= _SWEEP_IN_THREADS:
        vector = merge([sweep_piece(ranking, _first(ranking), totals, request)])
    else:
        from .jit import in_threads

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
    for threshold in request.thresholds:
        at = request.threshold_at(threshold)
        above = ranking.above(threshold)
        vector[at] = ranking.pos[:above].sum(dtype=np.float64)
        vector[at + 1] = ranking.neg[:above].sum(dtype=np.float64)
    if request.quotas:
        from . import kernels

        at = request.quota_at(request.quotas[0])
        cuts = vector[at:].reshape(len(request.quotas), len(CUT))
        quotas = np.array(request.quotas, dtype=np.float64)
        scale = scale_of(ranking.score)
        kernels.cut_at_quotas(ranking.score, ranking.pos, ranking.neg, 0.0, 0.0, scale, np.zeros(5), quotas, cuts)


def scale_of(score: NDArray[Any]) -> float:
    """A power of two that brings the largest score near 1: squares of the scaled scores neither overflow nor vanish."""
    largest = float(np.abs(score[[0, -1]].astype(np.float64)).max())
    if not 0.0 < largest < np.inf:
        return 1.0
    return float(np.ldexp(1.0, -max(-1022, int(np.frexp(largest)[1]))))

"""The passes over many rankings with the same scores in NumPy; see ``replicates``. Replicates are made all at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Floats
from . import plain
from .layout import AT, CUT, FIELDS, LOSSES, PARTS, SLICE, Drawing, Rows, Wanted

AT_ONCE = True
_TOGETHER = 2**16  # counts that are summed together: what stays near the processor
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One step of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def seeded(seed: int) -> NDArray[np.uint64]:
    """A start that differs for neighbouring seeds."""
    return mix(np.array([seed], np.uint64) * GOLDEN + np.uint64(1))


def draw(counts: NDArray[np.uint16], start: int, size: int, seed: int, streams: Any) -> None:
    """Draw ``size`` units with replacement, for each of many replicates (a row of ``counts``, and its stream)."""
    base = seeded(seed) + np.atleast_1d(np.asarray(streams, np.uint64)) * GOLDEN
    s0, s1, s2, s3 = (mix(base + np.array([k], np.uint64) * GOLDEN) for k in (1, 2, 3, 4))
    drawn = np.empty((size + 1, len(base)), np.int64)
    for done in range(0, size, 2):
        total = s0 + s3
        value = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
        shifted = s1 << np.uint64(17)
        s2 = s2 ^ s0
        s3 = s3 ^ s1
        s1 = s1 ^ s2
        s0 = s0 ^ s3
        s2 = s2 ^ shifted
        s3 = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
        drawn[done] = ((value & np.uint64(0xFFFFFFFF)) * np.uint64(size)) >> np.uint64(32)
        drawn[done + 1] = ((value >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32)
    rows = np.arange(len(base)) * size
    found = np.bincount((drawn[:size] + rows).ravel(), minlength=len(base) * size)
    np.atleast_2d(counts)[:, start : start + size] += found.reshape(len(base), size).astype(np.uint16)


def accumulate(counts: NDArray[np.uint16], rows: Rows, a: NDArray[Any], b: NDArray[Any]) -> None:
    """Counts (times weights) of the rows of each tie group."""
    n_pos = int(rows.pos.sum())
    times: NDArray[Any] = counts[..., rows.unit] if len(rows.unit) else counts[..., : n_pos + int(rows.neg.sum())]
    times = times * rows.weight if len(rows.weight) else times.astype(np.int64)
    for side, sizes, into in ((times[..., :n_pos], rows.pos, a), (times[..., n_pos:], rows.neg, b)):
        ends = np.cumsum(sizes)
        running = np.concatenate((np.zeros((*side.shape[:-1], 1), side.dtype), np.cumsum(side, axis=-1)), axis=-1)
        into[...] = running[..., ends] - running[..., ends - sizes]


def sum_replicate(a: NDArray[Any], b: NDArray[Any], zero: Any, wanted: Wanted, out: Floats) -> None:
    """The vectors of sums of reweighted rankings, one in each row of ``a``, ``b`` and ``out``."""
    whole = isinstance(zero, int)
    kind: Any = np.int64 if whole else np.float64
    a, b = np.atleast_2d(a).astype(kind), np.atleast_2d(b).astype(kind)
    out = np.atleast_2d(out)
    step = max(1, _TOGETHER // max(a.shape[-1], 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        for first in range(0, len(a), step):
            span = slice(first, first + step)
            _sum_along(a[span], b[span], zero, wanted, out[span])
        # what goes group by group takes all replicates at once
        if wanted.parts[list(PARTS).index("hull")]:
            out[:, AT["hull_area"]] = 0.5 * _twice_hull_areas(a, b)
        if len(wanted.quotas):
            at = len(FIELDS) + len(LOSSES) * len(wanted.losses) + len(CUT) * len(wanted.above)
            _cut(a, b, whole, wanted, out[:, at:])


def _sum_along(a: NDArray[Any], b: NDArray[Any], zero: Any, wanted: Wanted, out: Floats) -> None:
    """The sums that are taken along the groups."""
    n_pos, n_neg = plain.ordered_sum(a), plain.ordered_sum(b)
    cases, whole = n_pos + n_neg, isinstance(zero, int)
    out[:, 0], out[:, 1], out[:, 2] = n_pos, n_neg, cases
    wished = dict(zip(PARTS, wanted.parts.tolist(), strict=True))
    if wished["pairs"]:
        plain.sum_pairs(a, b, zero, n_pos, out[:, SLICE["pairs"]])
    if wished["gaps"]:
        plain.sum_gaps(a, b, zero, zero, n_pos, n_neg, out[:, SLICE["gaps"]])
    if wished["precision"]:
        plain.sum_precision(a, b, 0.0, 0.0, 0.0, 0.0, out[:, SLICE["precision"]])
        out[:, AT["pr_lower"]] += 0.5 * out[:, AT["last_step"]] * (n_pos / (n_pos + n_neg))
    if wished["places"]:
        plain.sum_places(a, b, zero, zero, n_pos, cases, whole, wanted.harmonic, out[:, SLICE["places"]])
    at = len(FIELDS)
    for options in wanted.losses.tolist():
        into = out[:, at : at + len(LOSSES)]
        plain.sum_losses(wanted.score, wanted.log_p, wanted.log_q, a, b, options, (n_pos, n_neg), into)
        at += len(LOSSES)
    for above in wanted.above.tolist():
        for k, side in enumerate((a[:, :above], b[:, :above], a[:, above:], b[:, above:])):
            out[:, at + k] = plain.ordered_sum(side)
        at += len(CUT)


def _cut(a: NDArray[Any], b: NDArray[Any], whole: bool, wanted: Wanted, out: Floats) -> None:
    n_pos, n_neg = (plain.ordered_sum(side).astype(np.float64) for side in (a, b))
    cuts = np.full((len(a), len(wanted.quotas), len(CUT)), np.nan)
    quotas = wanted.quotas * ((n_pos + n_neg) / wanted.cases)[:, None]
    totals = (n_pos, n_neg) if whole else (np.nan * n_pos, np.nan * n_neg)
    moments = np.zeros((5, len(a)))
    plain.cut_at_quotas(wanted.score, a, b, (0.0, 0.0), totals, wanted.scale, moments, quotas, True, cuts)
    out[:] = cuts.reshape(len(a), -1)


def _twice_hull_areas(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Twice the area under the hull of each row's ROC points, in counts."""
    n, groups = a.shape
    x, y = (np.concatenate((np.zeros((n, 1), a.dtype), np.cumsum(side, axis=-1)), axis=-1) for side in (b, a))
    there = np.concatenate((np.ones((n, 1), np.bool_), a > 0), axis=-1)
    there[:, -1] = True
    chain = np.repeat(np.arange(n), groups + 1).reshape(n, -1)
    hx, hy, of = plain.upper_hulls(x[there], y[there], chain[there])
    steps = np.where(of[1:] == of[:-1], np.diff(hx) * (hy[1:] + hy[:-1]), 0)
    first = np.searchsorted(of, np.arange(n))
    running = np.concatenate(([0], np.cumsum(steps)))
    return np.asarray(running[np.append(first[1:], len(of)) - 1] - running[first])


def resample(
    first: int,
    last: int,
    drawing: Drawing,
    rows: Rows,
    wanted: Wanted,
    zero: Any,
    a: Any,
    b: Any,
    out: Floats,
    stop: Any,
) -> None:
    """Replicates ``first`` to ``last``, each drawn within the strata of the units."""
    counts = np.zeros((last - first, drawing.n_units), np.uint16)
    numbers = np.arange(first, last) * len(drawing.strata)
    for s, (start, size) in enumerate(drawing.strata.tolist()):
        draw(counts, start, size, drawing.seed, numbers + s)
    _sum_all(counts, rows, wanted, zero, a, out[first:last])


def leave_out(
    first: int, last: int, block: Any, rows: Rows, wanted: Wanted, zero: Any, a: Any, b: Any, out: Floats, stop: Any
) -> None:
    """The sums without each block of units in turn."""
    counts = (np.arange(first, last)[:, None] != block).astype(np.uint16)
    _sum_all(counts, rows, wanted, zero, a, out[first:last])


def _sum_all(counts: NDArray[np.uint16], rows: Rows, wanted: Wanted, zero: Any, a: Any, out: Floats) -> None:
    both = np.empty((2, len(counts), len(a)), a.dtype)
    accumulate(counts, rows, both[0], both[1])
    sum_replicate(both[0], both[1], zero, wanted, out)

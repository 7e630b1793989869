"""The passes over many rankings with the same scores in NumPy; see ``replicates``. Replicates are made by the batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import plain
from .layout import AT, CUT, FIELDS, LOSSES, SLICE, Drawing, Rows, Wanted

Floats = NDArray[np.float64]
_TOGETHER = 2**16  # rows of all replicates in a batch: what stays near the processor
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
    times: NDArray[Any] = counts[..., rows.unit] if len(rows.unit) else counts
    times = times * rows.weight if len(rows.weight) else times.astype(np.int64)
    n_pos = int(rows.pos.sum())
    for side, sizes, into in ((times[..., :n_pos], rows.pos, a), (times[..., n_pos:], rows.neg, b)):
        ends = np.cumsum(sizes)
        running = np.concatenate((np.zeros((*side.shape[:-1], 1), side.dtype), np.cumsum(side, axis=-1)), axis=-1)
        into[...] = running[..., ends] - running[..., ends - sizes]


def sum_replicate(a: NDArray[Any], b: NDArray[Any], zero: Any, wanted: Wanted, out: Floats) -> None:
    """The vectors of sums of reweighted rankings, one in each row of ``a``, ``b`` and ``out``."""
    whole = isinstance(zero, int)
    kind: Any = np.int64 if whole else np.float64
    a, b = a.astype(kind), b.astype(kind)
    n_pos, n_neg = plain.ordered_sum(a), plain.ordered_sum(b)
    cases = n_pos + n_neg
    out[..., 0], out[..., 1], out[..., 2] = n_pos, n_neg, cases
    pairs, gaps, precision, places, hull, _ = wanted.parts.tolist()
    with np.errstate(invalid="ignore", divide="ignore"):
        if pairs:
            plain.sum_pairs(a, b, zero, n_pos, out[..., SLICE["pairs"]])
        if gaps:
            plain.sum_gaps(a, b, zero, zero, n_pos, n_neg, out[..., SLICE["gaps"]])
        if precision:
            plain.sum_precision(a, b, 0.0, 0.0, 0.0, 0.0, out[..., SLICE["precision"]])
            out[..., AT["pr_lower"]] += 0.5 * out[..., AT["last_step"]] * (n_pos / (n_pos + n_neg))
        if places:
            plain.sum_places(a, b, zero, zero, n_pos, cases, whole, wanted.harmonic, out[..., SLICE["places"]])
        if hull:
            out[..., AT["hull_area"]] = 0.5 * _twice_hull_area(a, b)
        at = len(FIELDS)
        for options in wanted.losses.tolist():
            into = out[..., at : at + len(LOSSES)]
            plain.sum_losses(wanted.score, wanted.log_p, wanted.log_q, a, b, options, (n_pos, n_neg), into)
            at += len(LOSSES)
        for above in wanted.above.tolist():
            cells = (a[..., :above], b[..., :above], a[..., above:], b[..., above:])
            for k, side in enumerate(cells):
                out[..., at + k] = plain.ordered_sum(side)
            at += len(CUT)
        if len(wanted.quotas):
            out[..., at:] = np.nan
            cuts = np.full((*a.shape[:-1], len(wanted.quotas), len(CUT)), np.nan)
            quotas = wanted.quotas * (np.asarray(cases) / wanted.cases)[..., None]
            totals = (n_pos.astype(np.float64), n_neg.astype(np.float64)) if whole else (np.nan * n_pos, np.nan * n_neg)
            moments = np.zeros((5, *a.shape[:-1]))
            start = (0.0, 0.0)
            plain.cut_at_quotas(wanted.score, a, b, start, totals, wanted.scale, moments, quotas, True, cuts)
            out[..., at:] = cuts.reshape(*a.shape[:-1], -1)


def _twice_hull_area(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Twice the area under the hull of each row's ROC points, in counts: group after group, all rows at once."""
    shape = a.shape[:-1]
    a, b = a.reshape(-1, a.shape[-1]), b.reshape(-1, b.shape[-1])
    n = len(a)
    x, y = (np.zeros((n, a.shape[-1] + 2), a.dtype) for _ in range(2))
    top = np.ones(n, np.intp)
    row = np.arange(n)
    right, up = np.cumsum(b, axis=-1), np.cumsum(a, axis=-1)
    for g in range(a.shape[-1]):
        last = g == a.shape[-1] - 1
        who = row if last else np.flatnonzero(a[:, g] > 0)
        px, py = right[who, g], up[who, g]
        rest, rx, ry = who, px, py
        while len(rest):
            k = top[rest]
            deep = k >= 2
            rest, rx, ry, k = rest[deep], rx[deep], ry[deep], k[deep]
            x1, y1, x2, y2 = x[rest, k - 1], y[rest, k - 1], x[rest, k - 2], y[rest, k - 2]
            under = (x1 - x2) * (ry - y1) >= (y1 - y2) * (rx - x1)
            rest, rx, ry = rest[under], rx[under], ry[under]
            top[rest] -= 1
        x[who, top[who]] = px
        y[who, top[who]] = py
        top[who] += 1
    steps = np.diff(x, axis=-1) * (y[:, 1:] + y[:, :-1])
    inside = np.arange(1, x.shape[-1]) < top[:, None]
    return np.asarray(plain.ordered_sum(np.where(inside, steps, 0)).reshape(shape))


def _by_batch(first: int, last: int, size: int) -> list[tuple[int, int]]:
    step = max(1, _TOGETHER // max(size, 1))
    return [(begin, min(begin + step, last)) for begin in range(first, last, step)]


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
    for begin, end in _by_batch(first, last, len(a)):
        if stop[0]:
            return
        counts = np.zeros((end - begin, drawing.n_units), np.uint16)
        numbers = np.arange(begin, end) * len(drawing.strata)
        for s, (start, size) in enumerate(drawing.strata.tolist()):
            draw(counts, start, size, drawing.seed, numbers + s)
        _sum_batch(counts, rows, wanted, zero, a, out[begin:end])


def leave_out(
    first: int, last: int, block: Any, rows: Rows, wanted: Wanted, zero: Any, a: Any, b: Any, out: Floats, stop: Any
) -> None:
    """The sums without each block of units in turn."""
    for begin, end in _by_batch(first, last, len(a)):
        if stop[0]:
            return
        counts = (np.arange(begin, end)[:, None] != block).astype(np.uint16)
        _sum_batch(counts, rows, wanted, zero, a, out[begin:end])


def _sum_batch(counts: NDArray[np.uint16], rows: Rows, wanted: Wanted, zero: Any, a: Any, out: Floats) -> None:
    both = np.empty((2, len(counts), len(a)), a.dtype)
    accumulate(counts, rows, both[0], both[1])
    sum_replicate(both[0], both[1], zero, wanted, out)

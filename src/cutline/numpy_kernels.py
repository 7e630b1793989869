"""The passes over a ranking in NumPy: the twins of those in ``kernels`` that executors without numba need.

Names, arguments and results are the same; tests hold the two together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sweep import merged_moments

Floats = NDArray[np.float64]
_ONE_BY_ONE = 64
_HULL_ROUNDS = 30


def _before(values: NDArray[Any], first: Any) -> NDArray[Any]:
    """What comes before each group, added up."""
    return np.concatenate(([first], first + np.cumsum(values[:-1])))


def last_positive_group(pos: NDArray[Any], neg: NDArray[Any]) -> tuple[float, float]:
    """Cases up to the last group with a positive, and the positives in it."""
    there = np.flatnonzero(pos > 0)
    if not len(there):
        return 0.0, 0.0
    last = int(there[-1])
    return float(pos[: last + 1].sum() + neg[: last + 1].sum()), float(pos[last])


def sum_pairs(pos: NDArray[Any], neg: NDArray[Any], a0: Any, n_pos: Any, out: Floats) -> None:
    """Twice the pairs won, and won less lost pairs."""
    won = (neg * (2 * _before(pos, a0) + pos)).sum()
    out[0], out[1] = won, won - n_pos * neg.sum()


def sum_gaps(pos: NDArray[Any], neg: NDArray[Any], a0: Any, b0: Any, n_pos: Any, n_neg: Any, out: Floats) -> None:
    """The extreme gaps between the cumulative shares."""
    gap = np.cumsum(np.concatenate(([a0 * n_neg - b0 * n_pos], pos * n_neg - neg * n_pos)))
    out[0], out[1] = gap.max(), gap.min()


def sum_precision(
    pos: NDArray[Any], neg: NDArray[Any], a0: float, b0: float, end0: float, step0: float, out: Floats
) -> None:
    """Steps and trapezoids under the precision–recall points."""
    there = np.flatnonzero(pos > 0)
    out[:7] = 0.0
    out[6] = step0
    if not len(there):
        return
    size = pos + neg
    p, m, n = pos[there].astype(np.float64), size[there], _before(size, a0 + b0)[there]
    a = _before(p, a0)
    end, step = np.concatenate(([end0], (n + m)[:-1])), np.concatenate(([step0], p[:-1]))
    least, most, here = _ratio(a, n), _ratio(a, end), (a + p) / (n + m)
    out[0] = (p * here).sum()
    out[1] = 0.5 * (least * (step + p)).sum()
    out[2] = 0.5 * ((least + here) * p).sum()
    out[3] = 0.5 * ((most + here) * p).sum()
    if end0 == 0:
        out[4] = p[0]
        out[5] = p[0] if n[0] == 0 else 0.0
    out[6] = p[-1]


def _ratio(a: Floats, b: NDArray[Any]) -> Floats:
    return np.asarray(np.divide(a, b, out=np.zeros(len(a)), where=b > 0))


def _harmonic(n: NDArray[np.int64], m: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Σ 1/(n+k) and Σ k/(n+k) for k = 1 … m: short sums term by term, the rest of long ones by Euler–Maclaurin."""
    inverse, share = np.zeros(len(n)), np.zeros(len(n))
    left = np.flatnonzero(m >= 1)
    k = 1
    later: list[tuple[NDArray[np.intp], int]] = []  # groups whose sum goes on in closed form, and from which k
    while len(left):
        short = (m[left] <= _ONE_BY_ONE) | (n[left] + k < _ONE_BY_ONE)
        later.append((left[~short], k))
        left = left[short]
        inverse[left] += 1.0 / (n[left] + k)
        share[left] += k / (n[left] + k)
        k += 1
        left = left[m[left] >= k]
    for at, k in later:
        if not len(at):
            continue
        low, high = (n[at] + k).astype(np.float64), (n[at] + m[at]).astype(np.float64)
        z = (m[at] - k) / low
        log = np.log1p(z)
        small = np.minimum(z, 0.05)
        series = sum((1.0 if j % 2 == 0 else -1.0) * small**j / j for j in range(2, 14))
        rest = np.where(z < 0.05, series, z - log)
        inverse[at] += log + 0.5 * (1 / low + 1 / high) + (1 / low**2 - 1 / high**2) / 12
        inverse[at] -= (1 / low**4 - 1 / high**4) / 120
        share[at] += k * z + n[at] * rest + 0.5 * (k / low + m[at] / high) + n[at] * (1 / high**2 - 1 / low**2) / 12
        share[at] -= n[at] * (1 / high**4 - 1 / low**4) / 120
    return inverse, share


def sum_places(
    pos: NDArray[Any], neg: NDArray[Any], a0: Any, b0: Any, n_pos: Any, rows: int, harmonic: Any, out: Floats
) -> None:
    """Sums over the places of the list; a place inside a tie holds its share of positives."""
    p, m = pos.astype(np.int64), (pos + neg).astype(np.int64)
    a, n = _before(p, int(a0)), _before(m, int(a0 + b0))
    share = p / np.maximum(m, 1)
    inverse, rising = _harmonic(n, m)
    rates = a * inverse + share * rising
    middle = rows - n - 0.5 * (m - 1)
    out[0], out[1] = (share * rates).sum(), rates.sum()
    out[3] = (p * (middle * middle + (m * m - 1) / 12.0)).sum()
    at = int(np.searchsorted(n + m, n_pos))  # the group in which place n⁺ lies
    top, found = float(p[:at].sum()), 0.0
    if at < len(p) and n[at] < n_pos:
        first = n_pos - n[at]
        top += share[at] * first
        found += (m[at] - first + 1) * (a[at] + share[at] * 0.5 * (first + m[at]))
        at += 1
    a, p, m = a[at:].astype(np.float64), p[at:], m[at:]
    out[2], out[4] = found + (m * a + 0.5 * p * (m + 1)).sum(), top


def sum_losses(
    score: NDArray[Any],
    log_p: Floats,
    log_q: Floats,
    pos: NDArray[Any],
    neg: NDArray[Any],
    log_eps: float,
    gamma: float,
    prior: float,
    n_pos: float,
    n_neg: float,
    out: Floats,
) -> None:
    """Losses of scores read as probabilities, and of scores read as distances."""
    a, b, p = (column.astype(np.float64) for column in (pos, neg, score))
    own, cases = prior != prior, np.array([n_pos, n_neg])
    with np.errstate(all="ignore"):
        q = 1.0 - p
        of_pos = a * np.where(log_p > log_eps, log_p, log_eps)
        of_neg = b * np.where(log_q > log_eps, log_q, log_eps)
        out[0], out[1] = (a * q + b * p).sum(), (a * q * q + b * p * p).sum()
        out[2], out[3] = of_pos.sum(), of_neg.sum()
        if gamma == 2.0:
            out[4], out[5] = (of_pos * q * q).sum(), (of_neg * p * p).sum()
        else:
            out[4] = (of_pos * np.maximum(q, 0.0) ** gamma).sum()
            out[5] = (of_neg * np.maximum(p, 0.0) ** gamma).sum()
        out[6], out[7] = (a * np.maximum(q, 0.0)).sum(), (b * np.maximum(1.0 + p, 0.0)).sum()
        # both shares from the counts: 1 − prior would lose a rare class's digits
        log_prior, log_other = -np.log1p(cases[::-1] / cases) if own else (np.log(prior), np.log1p(-prior))
        share = cases[0] / cases.sum() if own else prior
        above = len(p) - int(np.searchsorted(p[::-1], share))
        gained = ((a - b)[:above] * (log_p[:above] - log_prior)).sum()
        out[8] = gained - ((a - b)[above:] * (log_q[above:] - log_other)).sum()


def hull_of_groups(pos: NDArray[Any], neg: NDArray[Any], a0: Any, b0: Any) -> tuple[NDArray[Any], NDArray[Any], int]:
    """Vertices of the upper convex hull of the ROC points.

    A point under the chord of its neighbours is no vertex, whatever becomes of them: all such go at once, round by
    round. A chain that is still bent after many rounds is short, and is finished point by point.
    """
    x, y = np.append(_before(neg, b0), b0 + neg.sum()), np.append(_before(pos, a0), a0 + pos.sum())
    there = np.append(np.append(True, pos[:-1] > 0), True) if len(pos) else np.array([True])
    x, y = x[there], y[there]
    for _ in range(_HULL_ROUNDS):
        dx, dy = np.diff(x), np.diff(y)
        under = dx[:-1] * dy[1:] >= dy[:-1] * dx[1:]
        if not under.any():
            return x, y, len(x)
        keep = np.append(np.append(True, ~under), True)
        x, y = x[keep], y[keep]
    top: list[int] = []
    for i in range(len(x)):
        while len(top) > 1:
            j, k = top[-2:]
            if (x[k] - x[j]) * (y[i] - y[k]) < (y[k] - y[j]) * (x[i] - x[k]):
                break
            top.pop()
        top.append(i)
    return x[top], y[top], len(top)


def add_moments(
    score: NDArray[Any], pos: NDArray[Any], neg: NDArray[Any], n0: float, scale: float, moments: Floats
) -> None:
    """Add groups to the means and co-moments of score and outcome."""
    m = (pos + neg).astype(np.float64)
    there = m > 0
    m, value, share = m[there], scale * score[there].astype(np.float64), pos[there] / m[there]
    if not len(m):
        return
    with np.errstate(all="ignore"):  # infinite scores have no spread: nan, which is not read
        means = np.array([(m * value).sum(), (m * share).sum()]) / m.sum()
        by_score, by_outcome = value - means[0], share - means[1]
        spreads = [(m * u * v).sum() for u, v in ((by_score,) * 2, (by_outcome,) * 2, (by_score, by_outcome))]
        moments[:] = merged_moments(n0, moments, m.sum(), np.array([*means, *spreads]))

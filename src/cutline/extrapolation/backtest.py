"""Back-test: predict the task that was seen from random halves and quarters of its classes, and weigh by it.

For every method three things are measured: the error of predictions from half the classes to all of them (E½), the same
from a quarter (E¼), and how far predictions for ten times as many classes differ between halves. The first two show
bias, the third noise, which grows with distance and which no comparison inside the data shows. With the noise of what
was seen, they make the method's risk:

    risk² = E½²/4 + E¼²/4 + 0.3 spread² + 0.1 noise²

The mean is taken by risk; what stays possible is judged by the two errors alone, since noise refutes nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError
from ..progress import Progress
from ..types import Floats
from .evidence import Evidence, ObservedTask
from .methods import Blend, Method

HALVES, QUARTERS = 8, 12
HORIZON = 10.0
FEWEST_CLASSES = 8
# Methods with a risk beyond this multiple of the smallest are out: the data speak against them.
TOLERANCE = 6.0
_OF_HALF, _OF_QUARTER, _OF_SPREAD, _OF_NOISE = 0.25, 0.25, 0.3, 0.1
# Methods whose errors are within this multiple of the smallest, noise included, cannot be told from it.
_TOLD_APART = 3.0
_INFORMED = 3.0
_ERRORS_NEEDED = {"kde": 10.0, "pooled": 10.0}
# Beside scores, ranks know half as much, whatever a back-test of few classes says.
_OF_RANKS = 0.5
# Flexible or rigid to a fault: they scatter, or cannot bend, so that a mean is better without them.
NOT_IN_MEAN = ("mixture", "pitman_yor")
# Two settings of one idea: the better one stands for both.
FAMILIES = {"kde_unbiased": "kde"}


@dataclass(frozen=True)
class BacktestRow:
    """One method in the back-test; ``weight`` is its share in `auto`, 0 where it was left out, ``reason`` says why.

    ``bias`` is the mean error (predicted − seen) from half the classes; ``plausible`` says whether the data leave the
    method possible: its answers stay inside the interval even where its weight is 0.
    """

    method: Method
    family: str
    error_half: float = float("nan")
    error_quarter: float = float("nan")
    bias: float = float("nan")
    spread: float = float("nan")
    risk: float = float("inf")
    error: float = float("inf")
    weight: float = 0.0
    plausible: bool = False
    reason: str = ""

    @property
    def name(self) -> str:
        """The method's name, with its settings."""
        return self.method.name


def back_test(
    task: ObservedTask, methods: Mapping[str, Method], seed: int, *, show: bool | None = None
) -> tuple[BacktestRow, ...]:
    """Every variant of every method tried on the same random halves and quarters of the classes."""
    candidates = [(FAMILIES.get(name, name), v) for name, method in methods.items() for v in method.variants()]
    halves = list(task.parts(0.5, HALVES, seed)) if task.n_classes >= FEWEST_CLASSES else []
    quarters = list(task.parts(0.25, QUARTERS, seed)) if task.n_classes >= 2 * FEWEST_CLASSES else []
    seen = task.whole().last_accuracy
    # What was seen is itself a draw: errors smaller than its own say nothing.
    noise = float(np.sqrt(max(seen * (1.0 - seen), 0.5 / max(task.n_tested, 1)) / max(task.n_tested, 1)))
    target = np.array([float(task.n_classes), HORIZON * task.n_classes])
    rows = []
    with Progress("back-test", len(candidates), show) as progress:
        for family, method in candidates:
            rows.append(_try(family, method, halves, quarters, target, seen, noise))
            progress.advance()
    return tuple(rows)


def _try(
    family: str,
    method: Method,
    halves: Sequence[Evidence],
    quarters: Sequence[Evidence],
    target: Floats,
    seen: float,
    noise: float,
) -> BacktestRow:
    def predicted(parts: Sequence[Evidence]) -> Floats:
        fits = [part.kept * method.fit(part).accuracy(target) for part in parts if part.kept > 0]
        return np.array(fits).reshape(-1, 2)

    try:
        from_half, from_quarter = predicted(halves), predicted(quarters)
    except InputError as refusal:
        # The method cannot read these data (no scores, no spread): it stays in the table with the reason.
        return BacktestRow(method, family, reason=str(refusal))
    if not from_half.size:
        return BacktestRow(method, family, reason="too few classes for a back-test")
    half = float(np.sqrt(np.mean((from_half[:, 0] - seen) ** 2)))
    quarter = float(np.sqrt(np.mean((from_quarter[:, 0] - seen) ** 2))) if from_quarter.size else half
    spread = float(from_half[:, 1].std(ddof=1)) if len(from_half) > 1 else 0.0
    risk = np.sqrt(_OF_HALF * half**2 + _OF_QUARTER * quarter**2 + _OF_SPREAD * spread**2 + _OF_NOISE * noise**2)
    bias = float(from_half[:, 0].mean() - seen)
    error = float(np.sqrt(_OF_HALF * half**2 + _OF_QUARTER * quarter**2 + 0.5 * noise**2))
    return BacktestRow(method, family, half, quarter, bias, spread, float(risk), error)


def best_of_families(rows: Sequence[BacktestRow]) -> dict[str, BacktestRow]:
    """The variant of every family with the smallest risk."""
    best: dict[str, BacktestRow] = {}
    for row in rows:
        if np.isfinite(row.risk) and (row.family not in best or row.risk < best[row.family].risk):
            best[row.family] = row
    return best


def weigh(rows: tuple[BacktestRow, ...], errors: float = float("inf")) -> tuple[BacktestRow, ...]:
    """The best variant of every family gets a weight in inverse proportion to its squared risk, unless refuted.

    ``errors`` is how many classes' worth of errors was seen. Without errors ranks say nothing about where accuracy
    begins to fall, and with two or three not much: where scores are at hand, methods on ranks count by
    ``½ errors / (errors + 3)``. Nor do few errors show that a kernel or one law for all is wrong, by much where scores
    have a hard end: ``kde`` and ``pooled`` count by ``errors / (errors + 10)``.
    """
    best = best_of_families(rows)
    if not best:
        return rows
    limit = TOLERANCE * min(row.risk for row in best.values())
    asked = [row for row in best.values() if row.family not in NOT_IN_MEAN] or list(best.values())
    scored = any(row.method.needs_scores and row.risk <= limit for row in asked)

    def trust(row: BacktestRow) -> float:
        if not scored or not np.isfinite(errors):
            return 1.0
        if row.method.needs_scores:
            needed = _ERRORS_NEEDED.get(row.family, 0.0)
            return errors / (errors + needed) if needed else 1.0
        return _OF_RANKS * errors / (errors + _INFORMED)

    kept = {id(row): row.risk**-2.0 * trust(row) for row in asked if row.risk <= limit and trust(row) > 0.0}
    if not kept:
        kept = {id(row): row.risk**-2.0 for row in asked if row.risk <= limit}
    total = sum(kept.values())
    possible = _TOLD_APART * min(row.error for row in best.values())
    out = []
    for row in rows:
        plausible = best.get(row.family) is row and row.error <= possible
        if id(row) in kept:
            out.append(replace(row, weight=kept[id(row)] / total, plausible=plausible))
        elif row.reason or best.get(row.family) is not row:
            out.append(row if row.reason else replace(row, reason=f"{best[row.family].name} did better"))
        elif row.family in NOT_IN_MEAN:
            out.append(replace(row, plausible=plausible, reason="never in the mean: it scatters or cannot bend"))
        else:
            reason = f"risk above {TOLERANCE:g} times the smallest" if row.risk > limit else "no error was seen"
            out.append(replace(row, plausible=plausible, reason=reason))
    return tuple(out)


def blend_of(rows: tuple[BacktestRow, ...]) -> Method | None:
    """The weighted methods as one; None where nothing could be tested."""
    kept = [row for row in rows if row.weight > 0.0]
    if not kept:
        return None
    if len(kept) == 1:
        return kept[0].method
    return Blend(tuple(row.method for row in kept), tuple(row.weight for row in kept))

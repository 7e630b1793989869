"""Back-test: predict the task that was seen from random halves and quarters of its classes.

`auto` weighs the methods by it. For every method three things are measured: the error of predictions from half the
classes to all of them, the same from a quarter, and how far predictions for ten times as many classes differ between
halves. The first two show bias, the third noise, which grows with distance and which no comparison inside the data
shows. Their sum is the method's risk:

    risk² = E½² / 4 + E¼² / 10 + spread² / 2

Errors from a half or a quarter overstate those from the whole, hence the factors; the variance of a fit to the whole
is half that of a fit to half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import InputError
from ..progress import Progress
from .blend import Blend
from .evidence import Evidence, Source
from .method import Method
from .moments import Floats

HALVES, QUARTERS = 6, 8
HORIZON = 10.0
FEWEST_CLASSES = 8
# Methods with a risk beyond this multiple of the smallest are out: the data speak against them.
TOLERANCE = 4.0
# Rounding-size risks (a curve without any error) must not blow up the weights.
_FLOOR = 1e-6


@dataclass(frozen=True)
class BacktestRow:
    """One method in the back-test; ``weight`` is its share in `auto`, 0 where it was left out, ``reason`` says why."""

    method: Method
    family: str
    error_half: float = float("nan")
    error_quarter: float = float("nan")
    spread: float = float("nan")
    risk: float = float("inf")
    weight: float = 0.0
    reason: str = ""

    @property
    def name(self) -> str:
        """The method's name, with its settings."""
        return self.method.name


def back_test(
    source: Source, methods: dict[str, Method], seed: int, *, show: bool | None = None
) -> tuple[BacktestRow, ...]:
    """Every variant of every method tried on the same random halves and quarters of the classes."""
    candidates = [(family, variant) for family, method in methods.items() for variant in method.variants()]
    halves = list(source.parts(0.5, HALVES, seed)) if source.n_classes >= FEWEST_CLASSES else []
    quarters = list(source.parts(0.25, QUARTERS, seed)) if source.n_classes >= 2 * FEWEST_CLASSES else []
    seen = source.whole().last_accuracy
    target = np.array([float(source.n_classes), HORIZON * source.n_classes])
    rows = []
    with Progress("back-test", len(candidates), show) as progress:
        for family, method in candidates:
            rows.append(_try(family, method, halves, quarters, target, seen))
            progress.advance()
    return tuple(rows)


def _try(
    family: str, method: Method, halves: Sequence[Evidence], quarters: Sequence[Evidence], target: Floats, seen: float
) -> BacktestRow:
    try:
        from_half = np.array([method.fit(part).accuracy(target) for part in halves]).reshape(-1, 2)
        from_quarter = np.array([method.fit(part).accuracy(target) for part in quarters]).reshape(-1, 2)
    except InputError as refusal:
        # The method cannot read these data (no scores, no spread): it stays in the table with the reason.
        return BacktestRow(method, family, reason=str(refusal))
    if not halves:
        return BacktestRow(method, family, reason="too few classes for a back-test")
    half = float(np.sqrt(np.mean((from_half[:, 0] - seen) ** 2)))
    quarter = float(np.sqrt(np.mean((from_quarter[:, 0] - seen) ** 2))) if quarters else half
    spread = float(from_half[:, 1].std(ddof=1)) if len(halves) > 1 else 0.0
    risk = float(np.sqrt(half**2 / 4.0 + quarter**2 / 10.0 + spread**2 / 2.0))
    return BacktestRow(method, family, half, quarter, spread, risk)


def weigh(rows: tuple[BacktestRow, ...]) -> tuple[BacktestRow, ...]:
    """The best variant of every family gets a weight in inverse proportion to its risk, unless it is refuted."""
    best: dict[str, BacktestRow] = {}
    for row in rows:
        if np.isfinite(row.risk) and (row.family not in best or row.risk < best[row.family].risk):
            best[row.family] = row
    if not best:
        return rows
    limit = TOLERANCE * max(min(row.risk for row in best.values()), _FLOOR)
    kept = {id(row): 1.0 / max(row.risk, _FLOOR) for row in best.values() if row.risk <= limit}
    total = sum(kept.values())
    out = []
    for row in rows:
        if id(row) in kept:
            out.append(replace(row, weight=kept[id(row)] / total))
        elif row.reason or best.get(row.family) is not row:
            out.append(row if row.reason else replace(row, reason=f"{best[row.family].name} did better"))
        else:
            out.append(replace(row, reason=f"risk above {TOLERANCE:g} times the smallest"))
    return tuple(out)


def blend_of(rows: tuple[BacktestRow, ...]) -> Method | None:
    """The weighted methods as one; None where nothing could be tested."""
    kept = [row for row in rows if row.weight > 0.0]
    if not kept:
        return None
    if len(kept) == 1:
        return kept[0].method
    return Blend(tuple(row.method for row in kept), tuple(row.weight for row in kept))

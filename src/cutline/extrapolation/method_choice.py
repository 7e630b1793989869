"""All methods by name, their weighted mean, and the back-test that weighs them.

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
from functools import cache
from types import MappingProxyType

import numpy as np

from ..errors import InputError, show
from ..runtime import Progress
from . import curve_methods, score_methods
from .favorability import Favorability, mix
from .tasks import GrowthMethod, ObservedTask, TaskEvidence

# Four splits into halves and three into quarters; chosen by hand, about as much work as a fifth of the resamples.
HALVES, QUARTERS = 8, 12
# Noise is compared at ten times as many classes, as far as results are given without the note that they are far out.
HORIZON = 10.0
# From so many classes on, a half has four: fewer leave too little of a curve to predict from.
FEWEST_CLASSES = 8
# Methods with a risk beyond this multiple of the smallest are out: the data speak against them.
TOLERANCE = 6.0
# Parts of risk²: both errors alike, and noise by what it adds at the horizon. Chosen by hand; over the 37 problems of
# benchmarks/extrapolation_families.py no other rule is better by more than 2%, and weights fitted to some kinds of
# problems did not help on the others (docs/extrapolation.md lists those that were tried).
_OF_HALF, _OF_QUARTER, _OF_SPREAD, _OF_NOISE = 0.25, 0.25, 0.3, 0.1
# Methods whose errors are within this multiple of the smallest, noise included, cannot be told from it.
_TOLD_APART = 3.0
# Classes' worth of errors at which ranks, and these methods on scores, get half of their weight: few errors do not show
# what is wrong with them. Chosen by hand on problems with no or few errors.
_INFORMED = 3.0
_ERRORS_NEEDED = {"kde": 10.0, "pooled": 10.0}
# Beside scores, ranks know half as much, whatever a back-test of few classes says.
_OF_RANKS = 0.5
# Flexible to a fault: it scatters, so that a mean is better without it.
NOT_IN_MEAN = ("mixture",)
# Two settings of one idea: the better one stands for both.
FAMILIES = {"kde_unbiased": "kde"}


@dataclass(frozen=True)
class Blend(GrowthMethod):
    """Several methods side by side: ``AGA_k = Σ_i w_i AGA_k^(i)``.

    Methods err in different directions (kernels smooth, tails bend, ranks scatter), so a mean of methods that a
    back-test cannot tell apart is steadier than any of them.

    Examples
    --------
    >>> methods = every_method()
    >>> Blend((methods["mixture"], methods["exponential"]), (0.5, 0.5)).name
    'blend(mixture 0.50, exponential 0.50)'
    """

    members: tuple[GrowthMethod, ...]
    weights: tuple[float, ...]

    @property
    def name(self) -> str:
        """The members with their weights."""
        pairs = zip(self.members, self.weights, strict=True)
        return f"blend({', '.join(f'{method.name} {weight:.2f}' for method, weight in pairs)})"

    @property
    def needs_scores(self) -> bool:
        """As its members."""
        return any(method.needs_scores for method in self.members)

    def settled(self, evidence: TaskEvidence) -> GrowthMethod:
        """Every member settled."""
        return replace(self, members=tuple(method.settled(evidence) for method in self.members))

    def without_small(self, least: float) -> Blend:
        """Only the members that count for at least so much (the largest always), in the same proportions."""
        limit = min(least, max(self.weights))
        kept = [(m, w) for m, w in zip(self.members, self.weights, strict=True) if w >= limit]
        total = sum(weight for _, weight in kept)
        return Blend(tuple(member for member, _ in kept), tuple(weight / total for _, weight in kept))

    def fit(self, evidence: TaskEvidence) -> Favorability:
        """All members fitted, their distributions mixed; one that cannot read a resample is left out of it."""
        fits, shares = [], []
        for method, weight in zip(self.members, self.weights, strict=True):
            try:
                fits.append(method.fit(evidence))
                shares.append(weight)
            except InputError:
                if method is self.members[-1] and not fits:
                    raise
        return mix(fits, [weight / sum(shares) for weight in shares])


@cache
def every_method() -> Mapping[str, GrowthMethod]:
    """All methods with their default settings, by name.

    >>> list(every_method())  # doctest: +NORMALIZE_WHITESPACE
    ['spline', 'mixture', 'gaussian', 'probit_normal', 'exponential', 'kde', 'kde_unbiased', 'tail', 'pooled',
     'calibrated']
    """

    methods: tuple[GrowthMethod, ...] = (
        curve_methods.LinearSpline(),
        curve_methods.UniformMixture(),
        curve_methods.GaussianBasis(),
        curve_methods.ProbitNormal(),
        curve_methods.Exponential(),
        score_methods.KernelDensity(),
        score_methods.KernelDensity(selector="unbiased"),
        score_methods.ParetoTail(),
        score_methods.PooledScores(),
        score_methods.CalibratedScores(),
    )
    return MappingProxyType({method.name: method for method in methods})


def find_method(method: str | GrowthMethod) -> GrowthMethod:
    """A method by name, or the object itself."""
    if isinstance(method, GrowthMethod):
        return method
    known = every_method()
    if not isinstance(method, str) or method not in known:
        raise InputError("method", f"is {show(method)}", f"choose 'auto' or one of {', '.join(known)}")
    return known[method]


@dataclass(frozen=True)
class BacktestRow:
    """One method in the back-test; ``weight`` is its share in `auto`, 0 where it was left out, ``reason`` explains why.

    ``bias`` is the mean error (predicted − seen) from half the classes; ``plausible`` tells whether the data leave the
    method possible: its answers stay inside the interval even where its weight is 0.
    """

    method: GrowthMethod
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
    task: ObservedTask, methods: Mapping[str, GrowthMethod], seed: int, *, show: bool | None = None
) -> tuple[BacktestRow, ...]:
    """Every variant of every method tried on the same random halves and quarters of the classes."""
    candidates = [(FAMILIES.get(name, name), v) for name, method in methods.items() for v in method.variants()]
    halves = list(task.parts(0.5, HALVES, seed)) if task.n_classes >= FEWEST_CLASSES else []
    quarters = list(task.parts(0.25, QUARTERS, seed)) if task.n_classes >= 2 * FEWEST_CLASSES else []
    seen = task.whole().last_accuracy
    # What was seen is itself a draw: errors smaller than its own tell nothing.
    noise = float(np.sqrt(max(seen * (1.0 - seen), 0.5 / max(task.n_tested, 1)) / max(task.n_tested, 1)))
    target = np.array([float(task.n_classes), HORIZON * task.n_classes])

    def tried(family: str, method: GrowthMethod) -> BacktestRow:
        try:
            from_half, from_quarter = (
                np.array([part.kept * method.fit(part).accuracy(target) for part in parts if part.kept > 0])
                for parts in (halves, quarters)
            )
        except InputError as refusal:
            # The method cannot read these data (no scores, no spread): it stays in the table with the reason.
            return BacktestRow(method, family, reason=str(refusal))
        if not from_half.size:
            return BacktestRow(method, family, reason="too few classes for a back-test")
        half = float(np.sqrt(np.mean((from_half[:, 0] - seen) ** 2)))
        quarter = float(np.sqrt(np.mean((from_quarter[:, 0] - seen) ** 2))) if from_quarter.size else half
        spread = float(from_half[:, 1].std(ddof=1)) if len(from_half) > 1 else 0.0
        bias = float(from_half[:, 0].mean() - seen)
        errors = _OF_HALF * half**2 + _OF_QUARTER * quarter**2
        risk = float(np.sqrt(errors + _OF_SPREAD * spread**2 + _OF_NOISE * noise**2))
        return BacktestRow(method, family, half, quarter, bias, spread, risk, float(np.sqrt(errors + 0.5 * noise**2)))

    rows = []
    with Progress("back-test", len(candidates), show) as progress:
        for family, method in candidates:
            rows.append(tried(family, method))
            progress.advance()
    return tuple(rows)


def best_of_families(rows: Sequence[BacktestRow]) -> dict[str, BacktestRow]:
    """The variant of every family with the smallest risk."""
    best: dict[str, BacktestRow] = {}
    for row in rows:
        if np.isfinite(row.risk) and (row.family not in best or row.risk < best[row.family].risk):
            best[row.family] = row
    return best


def weigh(rows: tuple[BacktestRow, ...], errors: float = float("inf")) -> tuple[BacktestRow, ...]:
    """The best variant of every family gets a weight in inverse proportion to its squared risk, unless refuted.

    ``errors`` is how many classes' worth of errors was seen. Without errors ranks tell nothing about where accuracy
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

    near = [row for row in asked if row.risk <= limit]
    kept = {id(row): row.risk**-2.0 * trust(row) for row in near if trust(row) > 0.0}
    kept = kept or {id(row): row.risk**-2.0 for row in near}
    total = sum(kept.values())
    possible = _TOLD_APART * min(row.error for row in best.values())

    def weighed(row: BacktestRow) -> BacktestRow:
        if row.reason:
            return row
        if best.get(row.family) is not row:
            return replace(row, reason=f"{best[row.family].name} did better")
        weight = kept[id(row)] / total if id(row) in kept else 0.0
        row = replace(row, plausible=row.error <= possible, weight=weight)
        if weight > 0.0:
            return row
        if row.family in NOT_IN_MEAN:
            return replace(row, reason="never in the mean: it scatters")
        unseen = "no error was seen" if row.risk <= limit else f"risk above {TOLERANCE:g} times the smallest"
        return replace(row, reason=unseen)

    return tuple(map(weighed, rows))


def blend_of(rows: tuple[BacktestRow, ...]) -> GrowthMethod | None:
    """The weighted methods as one; None where nothing could be tested."""
    kept = [row for row in rows if row.weight > 0.0]
    if not kept:
        return None
    if len(kept) == 1:
        return kept[0].method
    return Blend(tuple(row.method for row in kept), tuple(row.weight for row in kept))

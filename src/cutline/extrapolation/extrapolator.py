"""`extrapolate`, also costs and reviews: methods are weighed by a back-test and fitted, classes resampled.

For every method three things are measured: the error of predictions from half the classes to all of them (E½), the same
from a quarter (E¼), and how far predictions for ten times as many classes differ between halves. The first two show
bias, the third noise, which grows with distance and which no comparison inside the data shows. With the noise of what
was seen, they make the method's risk:

    risk² = E½²/4 + E¼²/4 + 0.3 spread² + 0.1 noise²

The mean is taken by risk; what stays possible is judged by the two errors alone, since noise refutes nobody.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from types import MappingProxyType
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, listed, show
from ..estimate import Estimate
from ..inference.limits import t_quantile, z_of
from ..runtime import Progress
from ..table import format_value
from ..types import Floats, Labels, ScoreMatrix
from ..validate import check_flag, check_number, checked, one_of
from . import extrapolation_result as answers
from . import methods as m
from . import tasks as t
from .extrapolation_result import FEWEST_CLASSES, BacktestRow, Extrapolation, GrowthComparison, GrowthTable, Observed
from .favorability import Favorability, mix
from .open_sets import missed_by_size
from .tasks import TIE_RULES, GrowthMethod, KeptScores, Note, ScoreTask, TaskEvidence

# Four splits into halves and three into quarters; chosen by hand, about as much work as a fifth of the resamples.
HALVES, QUARTERS = 8, 12
# Noise is compared at ten times as many classes, as far as results are given without the note that they are far out.
HORIZON = 10.0
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
# Asked for nothing in particular: how many times the classes that were seen.
_TIMES = (2, 5, 10)
# The paper's own spline takes no part in `auto`: `mixture` is the same model with its missing constraint.
_NOT_IN_AUTO = ("spline",)
# From this share of tied comparisons on, the tie rule moves the second digit of the accuracy.
_MANY_TIES = 0.01
# Fewer cases that were not clearly recognised than ten, and the result hangs on single ones.
_FEW_ERRORS = 9.5
# Replicates serve for their spread, to which a method with less weight than this adds next to nothing.
_WORTH_REFITTING = 0.1
# Numbers of classes at which the difference is followed, from 2 to the largest asked for.
_POINTS = 60
# How far the two errors of extrapolation cancel: this share of their summed variance is left. On 44 differences (22
# pairs of samples of 11 populations) 95% of 90% intervals then covered the truth, 93% with half of it, 82% with none.
_OF_MODEL = 0.2
# Of one recogniser's error on the logit scale, for each e-fold of classes.
_OF_DISTANCE = 0.08
# Below so many scores threads wait for each other longer than they work.
_WORTH_THREADS = 100_000
# Costs.
# Twentieths of the classes are left out in turn: enough for a standard error within a sixth, and twenty fits to make.
_PARTS = 20
# The line is fitted at so many numbers of classes, from this share of the classes on: smaller tasks tell little about
# larger ones. Three halvings leave enough of a curve to have a slope.
_COST_POINTS, _FROM = 20, 0.125
# No error rate and no place between two costs is taken to be nearer to its end than this.
_COST_EDGE = 1e-6

# Reviews.
# Random galleries below the classes seen; their mean scatters less than the cases do.
_GALLERIES = 40
# Margins of wrong and of right answers as two normal laws: z(share of wrong) = a + 1.4 z(share of right). In six normal
# and heavy-tailed populations from 20 to 3,000 classes the slope was 1.34 to 1.49.
_SLOPE = 1.4
# z(AUC) of margins at an error rate with −z(error) = x: 0.75 + 0.2 x + x²/8, on the same populations. Its place is that
# of the margins seen, drawn to this one by so many classes' worth of errors; its bend is kept.
_PLACE, _RISE, _BEND, _PRIOR_ERRORS = 0.75, 0.2, 0.125, 4.0
# Standard error of z(AUC) for each step of −z(error) away from what was seen; chosen on seed 5 of
# benchmarks/extrapolation_review.py, as the next.
_OF_MARGIN = 0.2
# No share is known better than this on the scale of z: the two laws are not exactly normal.
_LEAST_SPREAD = 0.1
_EDGE = 1e-3  # shares are kept so far from 0 and 1 on the scale of z
_OPTIONS: dict[str, Any] = {"ties": one_of(*TIE_RULES), "interval": check_flag, "metric": one_of("euclidean", "cosine")}
_OPTIONS |= dict.fromkeys(("review", "fpir"), lambda value, name: check_number(value, name, 0.0, 1.0, open_ends=True))
# What else may be given with a question that is answered by a table.
_ASKED_WITH: dict[str, tuple[str, ...]] = {
    "": (),
    "costs": ("labels", "classes", "groups", "distance", "ties"),
    "review": ("labels", "classes", "distance", "ties"),
    "strangers": ("labels", "classes", "distance", "fpir"),
}


@dataclass(frozen=True)
class Blend(GrowthMethod):
    """Several methods side by side: ``AGA_k = Σ_i w_i AGA_k^(i)``.

    Methods err in different directions (kernels smooth, tails bend, ranks scatter), so a mean of methods that a
    back-test cannot tell apart is steadier than any of them.
    """

    members: tuple[GrowthMethod, ...]
    weights: tuple[float, ...]
    name: str = "blend"

    def settled(self, evidence: TaskEvidence) -> GrowthMethod:
        """Every member settled."""
        return replace(self, members=tuple(method.settled(evidence) for method in self.members))

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

    >>> [name for name, method in every_method().items() if method.needs_scores]
    ['kde', 'kde_unbiased', 'tail', 'pooled', 'calibrated']
    """
    on_ranks = (m.LinearSpline(), m.UniformMixture(), m.GaussianBasis(), m.ProbitNormal(), m.Exponential())
    kernels = (m.KernelDensity(), m.KernelDensity("kde_unbiased"))
    methods = (*on_ranks, *kernels, m.ParetoTail(), m.PooledScores(), m.CalibratedScores())
    return MappingProxyType({method.name: method for method in methods})


def find_method(method: str | GrowthMethod) -> GrowthMethod:
    """A method by name, or the object itself."""
    if isinstance(method, GrowthMethod):
        return method
    known = every_method()
    if not isinstance(method, str) or method not in known:
        raise InputError("method", f"is {show(method)}", f"choose 'auto' or one of {', '.join(known)}")
    return known[method]


def back_test(task: ScoreTask, methods: Mapping[str, GrowthMethod], seed: int) -> tuple[BacktestRow, ...]:
    """Every variant of every method tried on the same random halves and quarters of the classes."""
    candidates = [(FAMILIES.get(name, name), v) for name, method in methods.items() for v in method.variants()]
    shares = ((0.5, HALVES, FEWEST_CLASSES), (0.25, QUARTERS, 2 * FEWEST_CLASSES))
    parts = [list(task.parts(share, n, seed)) if task.n_classes >= fewest else [] for share, n, fewest in shares]
    seen = task.whole().last_accuracy
    # What was seen is itself a draw: errors smaller than its own tell nothing.
    noise = float(np.sqrt(max(seen * (1.0 - seen), 0.5 / max(task.n_tested, 1)) / max(task.n_tested, 1)))
    target = np.array([float(task.n_classes), HORIZON * task.n_classes])
    rows = []
    for family, method in candidates:
        try:
            tried = [[part.kept * method.fit(part).accuracy(target) for part in p if part.kept > 0] for p in parts]
        except InputError as refusal:
            # The method cannot read these data (no scores, no spread): it stays in the table with the reason.
            rows.append(BacktestRow(method, family, reason=str(refusal)))
            continue
        from_half, from_quarter = map(np.array, tried)
        if not from_half.size:
            rows.append(BacktestRow(method, family, reason="too few classes for a back-test"))
            continue
        half = float(np.sqrt(np.mean((from_half[:, 0] - seen) ** 2)))
        quarter = float(np.sqrt(np.mean((from_quarter[:, 0] - seen) ** 2))) if from_quarter.size else half
        spread = float(from_half[:, 1].std(ddof=1)) if len(from_half) > 1 else 0.0
        bias = float(from_half[:, 0].mean() - seen)
        errors = _OF_HALF * half**2 + _OF_QUARTER * quarter**2
        risk = float(np.sqrt(errors + _OF_SPREAD * spread**2 + _OF_NOISE * noise**2))
        error = float(np.sqrt(errors + 0.5 * noise**2))
        rows.append(BacktestRow(method, family, half, quarter, bias, spread, risk, error))
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

    ``errors``: how many classes' worth of errors was seen. Of few of them, and where scores are at hand, methods on
    ranks count by ``½ errors / (errors + 3)``, ``kde`` and ``pooled`` by ``errors / (errors + 10)``.
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
        if not row.method.needs_scores:
            return _OF_RANKS * errors / (errors + _INFORMED)
        needed = _ERRORS_NEEDED.get(row.family, 0.0)
        return errors / (errors + needed) if needed else 1.0

    near = [row for row in asked if row.risk <= limit]
    kept = {id(row): row.risk**-2.0 * trust(row) for row in near if trust(row) > 0.0}
    kept = kept or {id(row): row.risk**-2.0 for row in near}
    total = sum(kept.values())
    possible = _TOLD_APART * min(row.error for row in best.values())
    weighed = []
    for row in rows:
        found: dict[str, Any] = {}
        if not row.reason and best.get(row.family) is not row:
            found = {"reason": f"{best[row.family].name} did better"}
        elif not row.reason:
            found = {"plausible": row.error <= possible, "weight": kept.get(id(row), 0.0) / total}
            if row.family in NOT_IN_MEAN and id(row) not in kept:
                found["reason"] = "never in the mean: it scatters"
            elif id(row) not in kept:
                out = f"risk above {TOLERANCE:g} times the smallest"
                found["reason"] = "no error was seen" if row.risk <= limit else out
        weighed.append(replace(row, **found))
    return tuple(weighed)


def fit_task(
    task: ScoreTask,
    k: tuple[int, ...] | None = None,
    method: str | GrowthMethod = "auto",
    *,
    interval: bool = True,
    level: float = 0.95,
    n_resamples: int = 100,
    seed: int = 0,
) -> tuple[Extrapolation, GrowthMethod]:
    """The extrapolation of a task that was read, and the method that was used."""
    n_classes = round(task.n_classes * task.classes_each)
    whole = task.whole()
    notes = [*task.hints, *notes_on(task, whole)]
    chosen, rows, fits = _choose(task, whole, method, seed)
    weights = {chosen.name: 1.0}
    if isinstance(chosen, Blend):
        weights = dict(zip((member.name for member in chosen.members), chosen.weights, strict=True))
    elif task.n_classes < FEWEST_CLASSES and not any(row.weight > 0.0 for row in rows):
        units = "families" if task.classes_each > 1.0 else "classes"
        text = f"{task.n_classes} {units} are too few for a back-test: {chosen.name!r} was used untested, and the "
        notes.append(Note("few_classes", text + "interval holds for any method."))
    # The error of `auto` is modelled; how a single method scatters is seen on resamples alone.
    calibrated = interval and method == "auto"
    replicates: list[Favorability] = []
    if interval and not calibrated:
        replicates = [fit for fit in resampled_fits(task, chosen, n_resamples, seed) if fit is not None]
        if len(replicates) < n_resamples / 2:
            text = f"No interval: {chosen.name!r} could read only {len(replicates)} of {n_resamples} resamples of the "
            notes.append(Note("no_interval", text + "classes. A rank method such as 'probit_normal' reads them all."))
            replicates = []
    k_seen, accuracy = whole.curve
    error, how = task.standard_error(k_seen) if interval else (np.full(k_seen.size, np.nan), "")
    if task.classes_each > 1.0:
        # One family alone: what its own members take.
        k_seen, accuracy, error = np.append(1.0, k_seen), np.append(1.0, accuracy), np.append(error[0], error)
        k_seen, accuracy = k_seen * task.classes_each, accuracy * whole.kept
    result = Extrapolation(
        n_classes=n_classes,
        n_cases=task.n_cases,
        observed=Observed(k_seen, accuracy, error, how, level, task.wins, task.classes_each),
        method=chosen.name,
        favorability=mix([fits[name] for name in weights], list(weights.values())),
        fits=fits,
        weights=weights,
        plausible=tuple(row.name for row in rows if row.plausible and row.name in fits) or tuple(weights),
        backtest=rows,
        replicates=tuple(replicates),
        k=tuple(times * n_classes for times in _TIMES) if k is None else k,
        level=level,
        general_notes=tuple(notes),
        classes_each=task.classes_each,
        calibrated=calibrated,
    )
    return result, chosen


def _choose(
    task: ScoreTask, whole: TaskEvidence, method: str | GrowthMethod, seed: int
) -> tuple[GrowthMethod, tuple[BacktestRow, ...], dict[str, Favorability]]:
    """The method to use, the back-test, and every method's fit to the whole, the chosen one's among them."""
    fitting = (one for one in every_method().values() if task.scores is not None or not one.needs_scores)
    usable = {one.name: one for one in fitting if one.name not in _NOT_IN_AUTO}
    rows: tuple[BacktestRow, ...] = ()
    fits: dict[str, Favorability] = {}
    if isinstance(method, str) and not task.beaten.any() and np.ptp(whole.histogram) < 1e-12:
        method = usable["mixture"]  # all scores tie: chance, 1/k, which one piece from 0 to 1 gives exactly
    if isinstance(method, str):
        rows = back_test(task, usable, seed)
        # The best variant of every family is fitted to the whole. Parts of coarse scores can look continuous where the
        # whole does not: where a variant cannot read the whole, the next best takes its place.
        while waiting := [row for row in best_of_families(rows).values() if row.name not in fits]:
            for row in waiting:
                try:
                    fits[row.name] = whole.whole_task(row.method.fit(whole))
                except InputError as error:
                    unreadable = BacktestRow(row.method, row.family, reason=str(error))
                    rows = tuple(unreadable if other is row else other for other in rows)
        rows = weigh(rows, (1.0 - whole.last_accuracy) * task.n_tested)
        used = [row for row in rows if row.weight > 0.0]
        chosen = used[0].method if used else usable["probit_normal"]
        if len(used) > 1:
            members = ", ".join(f"{row.name} {row.weight:.2f}" for row in used)
            chosen = Blend(tuple(r.method for r in used), tuple(r.weight for r in used), f"blend({members})")
    else:
        chosen = method.variants()[0]
        if len(method.variants()) > 1:  # the back-test chooses among the settings
            best = min(back_test(task, {method.name: method}, seed), key=lambda row: row.risk)
            chosen = best.method if np.isfinite(best.risk) else chosen
        for other in usable.values():
            # A method that cannot read these data has no answer to compare with the chosen one.
            with suppress(InputError):
                fits[other.name] = whole.whole_task(other.fit(whole))
    if not isinstance(chosen, Blend):
        fits = {chosen.name: whole.whole_task(chosen.fit(whole))} | fits
    return chosen, rows, fits


def resampled_fits(task: ScoreTask, method: GrowthMethod, n_resamples: int, seed: int) -> list[Favorability | None]:
    """The method refitted on resamples of the classes, its settings kept; None for those that it cannot read."""
    if isinstance(method, Blend):
        limit = min(_WORTH_REFITTING, max(method.weights))
        heavy = [(m, weight) for m, weight in zip(method.members, method.weights, strict=True) if weight >= limit]
        total = sum(weight for _, weight in heavy)
        method = Blend(tuple(member for member, _ in heavy), tuple(weight / total for _, weight in heavy))
    settled = method.settled(task.whole())
    workers = min(4, os.cpu_count() or 1) if task.n_cases * task.n_classes > _WORTH_THREADS else 1

    def fitted(evidence: TaskEvidence) -> Favorability | None:
        try:
            return evidence.whole_task(settled.fit(evidence)).compressed()
        except InputError:
            # Of few classes or coarse scores a resample can be without spread although the whole is not.
            return None

    fits: list[Favorability | None] = []
    samples = task.resamples(n_resamples, seed)
    with ThreadPoolExecutor(workers) as pool, Progress("resamples", n_resamples) as bar:
        # Evidence with scores is large: only a handful is alive at any time.
        while batch := list(islice(samples, workers)):
            fits.extend(pool.map(fitted, batch))
            bar.advance(len(batch))
    return fits


def compare_growth(
    tasks: Mapping[str, ScoreTask], k: tuple[int, ...] | None, method: Any, *, n_resamples: int, seed: int, **how: Any
) -> GrowthComparison:
    """Both tasks fitted, and the difference followed over the numbers of classes."""
    how |= {"n_resamples": n_resamples, "seed": seed}
    fitted = {name: fit_task(task, k, method, **how) for name, task in tasks.items()}
    models = {name: ex for name, (ex, _) in fitted.items()}
    first = next(iter(models.values()))
    asked, seen, last = first.k, float(first.n_classes), float(max([*first.k, first.n_classes]))
    sizes = np.unique(np.append(np.round(np.geomspace(2.0, last, _POINTS)), [*asked, seen]))
    sizes = sizes[sizes >= 2.0]
    drawn = [resampled_fits(task, fitted[name][1], n_resamples, seed) for name, task in tasks.items()]
    units = np.maximum(sizes / first.classes_each, 1.0)
    gaps = np.array([a.accuracy(units) - b.accuracy(units) for a, b in zip(*drawn, strict=True) if a and b])
    known = [task.without_each for task in tasks.values() if task.n_classes > 2 and task.n_tested > 1]
    if len(known) < 2 or len(gaps) < n_resamples / 2:
        return GrowthComparison(models, sizes, np.full(sizes.size, np.nan), math.nan, first.level, asked)
    paired = t.jackknife_error(known[0][1] - known[1][1])
    inside = np.interp(np.log(sizes), np.log(known[0][0]), paired)
    spread = gaps.std(axis=0, ddof=1)
    at_last = float(np.interp(math.log(seen), np.log(sizes), spread))
    # Resamples repeat classes, which moves their spread; at k1 the jackknife shows what it is.
    scale = min(max(float(paired[-1]) / at_last, 0.5), 2.0) if at_last > 0 else 1.0
    beyond = np.maximum(1.0 - seen / sizes, 0.0)
    modelled = np.zeros(sizes.size)
    for ex in models.values():
        # What errors could not test, and the distance to k, as the standard error of an accuracy.
        n = ex.observed.wins.n_tested
        inside_one = (n * ex.predict(sizes) + 0.5) / (n + 1.0)
        untested = 1.0 / math.sqrt(1.0 + (1.0 - ex.observed.test_accuracy) * n)
        spread_of_one = np.hypot(untested, _OF_DISTANCE * np.maximum(np.log(sizes / seen), 0.0))
        modelled += (inside_one * (1.0 - inside_one) * spread_of_one / t_quantile(0.9, 1e9)) ** 2
    errors = np.where(sizes <= seen, inside, np.hypot(scale * spread, np.sqrt(_OF_MODEL * beyond * modelled)))
    # The band: what the largest of the standardised deviations of the resamples stays below.
    away = np.abs(gaps - np.median(gaps, axis=0)) / np.maximum(spread, 1e-12)
    critical = float(np.quantile(away.max(axis=1), first.level))
    return GrowthComparison(models, sizes, errors, critical, first.level, asked)


@overload
def extrapolate(scores: Mapping[str, Any], labels: Labels | None = None, **options: Any) -> GrowthComparison: ...
@overload
def extrapolate(scores: Any, labels: Labels | None = None, *, costs: ArrayLike, **options: Any) -> GrowthTable: ...
@overload
def extrapolate(scores: Any, labels: Labels | None = None, *, review: float, **options: Any) -> GrowthTable: ...
@overload
def extrapolate(
    scores: Any, labels: Labels | None = None, *, strangers: ScoreMatrix, **options: Any
) -> GrowthTable: ...
@overload
def extrapolate(scores: Any = None, labels: Labels | None = None, **options: Any) -> Extrapolation: ...


@checked(**_OPTIONS)  # type: ignore[misc]  # the overloads take its options as they come
def extrapolate(
    scores: Any = None,
    labels: Labels | None = None,
    *,
    k: int | Iterable[int] | None = None,
    method: str | GrowthMethod = "auto",
    ties: str = "random",
    interval: bool = True,
    level: float = 0.95,
    n_resamples: int = 100,
    seed: int = 0,
    classes: Labels | None = None,
    groups: Labels | None = None,
    distance: bool = False,
    gallery: ArrayLike | None = None,
    probes: ArrayLike | None = None,
    gallery_labels: Labels | None = None,
    metric: str = "euclidean",
    candidates: bool = False,
    costs: ArrayLike | None = None,
    review: float | None = None,
    strangers: ScoreMatrix | None = None,
    fpir: float | None = None,
) -> Any:
    """Predict the accuracy of a recogniser with more classes than the ``k1`` it was tested on.

    Give ``scores`` (cases × classes) with ``labels``, or ``gallery`` and ``probes`` (embeddings, probe labels in
    ``labels``).

    ``k`` are the numbers of classes to predict for; by default 2, 5 and 10 times the number tested. For any other
    number, call ``ex.accuracy(k)``.

    Scores of two recognisers by name, ``{"a": S, "b": T}``, are compared at every number of classes: the result is then
    a :class:`GrowthComparison`.

    ``groups`` is the family of each class (its font, its series, its siblings), if classes come in whole families:
    smaller tasks and resamples then consist of whole families, and ``k`` classes of as many families as that takes.

    Without ``classes`` (and without the names of a frame) labels are column numbers, from 0.
    Several columns or gallery rows of one class (``classes`` or ``gallery_labels`` repeat its name) are its templates:
    their best score counts. With ``candidates=True`` a row is a candidate list: a missing score (nan) ranks below all
    others, and only ranks are used.

    ``costs[a, b]`` is what it costs to call class ``a`` class ``b``, with zeros on the diagonal; the names of a frame
    are matched with the classes. The result is then a :class:`GrowthTable` of the expected cost per case. Up to ``k1``
    classes it is the mean over all tasks of ``k`` of them, which needs no model. Beyond, it is the error rate times the
    mean cost of an error, whose log-odds between the cheapest and the dearest confusion go on as a line in ``log k``.
    Costs of new classes must be like those of the classes seen.

    ``review`` is the share of answers that is reviewed, those with the smallest margin between the best and the second
    best score first: the result is then a :class:`GrowthTable` of the share of errors that is found. Up to ``k1`` it is
    seen in random galleries. Beyond, margins of wrong and right answers are two normal laws, and how well margins
    separate the two falls with the error rate as in populations of known margins. Its rows also have the error rate
    that is left, the share of reviewed answers that is wrong, and the share to review to find as large a share of the
    errors as today (``review_for_same``).

    ``strangers`` are scores (the same columns) of probes whose class is not in the gallery: the result is then a
    :class:`GrowthTable` of the share of enrolled people that is missed (FNIR) where at most a share ``fpir`` of
    strangers (1% by default) is falsely identified. Among ``k`` classes a stranger is with chance ``1 − (1 − p)^k``,
    ``p`` the chance that one random class reaches the threshold, so the threshold must rise with ``k``. An enrolled
    person is missed if the own score does not reach it, or another's is higher. Each probe's best tenth of competitors
    follows a generalised Pareto tail. The rows have the threshold, and the FPIR if today's threshold were kept.
    Without ``k`` costs, reviews and strangers take the classes 1, 2, 5 and 10 times.

    ``AGA_k = E[U^(k−1)]``, where ``U`` is the probability that the right class outscores one random competitor (Zheng,
    Achanta & Benjamini, Theorem 2). ``method`` estimates the distribution of ``U``, which gives the accuracy at every
    ``k``.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> centres = rng.normal(size=(80, 5))
    >>> probes = centres + 0.4 * rng.normal(size=centres.shape)
    >>> ex = extrapolate(gallery=centres, probes=probes, k=[800], method="mixture", interval=False)
    >>> round(ex.observed.test_accuracy, 6)
    0.725
    >>> 0.3 < ex.accuracy(800).value < 0.7
    True
    """
    used = method if isinstance(method, str) and method == "auto" else find_method(method)
    questions = {"costs": costs, "review": review, "strangers": strangers}
    question = next((name for name, value in questions.items() if value is not None), "")
    given = {"fpir": fpir is not None, "scores": isinstance(scores, Mapping), "labels": labels is not None}
    given |= {"classes": classes is not None, "groups": groups is not None, "distance": distance}
    given |= {"ties": ties != "random", "candidates": candidates, "method": used != "auto", "interval": not interval}
    others = {"gallery": gallery, "probes": probes, "gallery_labels": gallery_labels, **questions}
    given |= {name: value is not None and name != question for name, value in others.items()}
    for name in filter(given.get, given if question else ["fpir"]):
        if name not in _ASKED_WITH[question]:
            beside = f"cannot be used with {{{question}}}" if question else "needs {strangers}"
            raise InputError(name, beside, "leave one of them out" if question else "leave it out")
    if question:
        drawn: dict[str, Any] = {"k": k, "level": level, "seed": seed, "classes": classes}
        drawn |= {"distance": distance, "ties": ties}
        if question == "costs":
            return _costs_by_size(scores, labels, costs, groups=groups, **drawn)
        if question == "review":
            return _errors_found(scores, labels, float(review or 0.0), n_resamples=n_resamples, **drawn)
        return missed_by_size(scores, labels, strangers, fpir or 0.01, n_resamples=n_resamples, **drawn)
    asked = None if k is None else tuple(answers.sizes_asked(k, 1, empty=True))
    if (scores is None) == (gallery is None):
        found = "none" if scores is None else "scores and gallery"
        raise InputError(None, "extrapolate needs exactly one of scores, gallery with probes", f"found {found}")
    other, unused = "scores", ["classes", "candidates", "distance"]
    if gallery is None:
        other, unused = "gallery", ["gallery_labels", "probes"]
    for name in filter(given.get, unused):
        raise InputError(name, f"goes with {{{other}}} alone", "leave it out")
    how: dict[str, Any] = {"ties": ties, "groups": groups}
    fitting: dict[str, Any] = {"interval": interval, "level": level, "n_resamples": n_resamples, "seed": seed}
    if gallery is not None:
        if probes is None:
            raise InputError("probes", "is missing", "a gallery needs probes to be recognised")
        how |= {"metric": metric, "gallery_labels": gallery_labels, "probe_labels": labels}
        return fit_task(t.from_embeddings(gallery, probes, **how), asked, used, **fitting)[0]
    how |= {"classes": classes, "candidates": candidates, "distance": distance}
    if not isinstance(scores, Mapping):
        return fit_task(t.from_scores(scores, labels, **how), asked, used, **fitting)[0]
    if len(scores) != 2:
        raise InputError("scores", f"has {len(scores)} recognisers", "compare two at a time")
    tasks = {str(name): t.from_scores(matrix, labels, **how) for name, matrix in scores.items()}
    return compare_growth(tasks, asked, used, **fitting)


def notes_on(task: ScoreTask, whole: TaskEvidence) -> Iterator[Note]:
    """Sentences about the data and the classifier."""
    beaten, tied, competitors = task.beaten, task.tied, task.n_classes - 1
    unclear = (beaten + tied < competitors) | (tied > 0)
    if task.own_family is not None:
        unclear |= task.own_family < 1.0
    if whole.last_accuracy > 1.0 - 1e-12:
        rests_on = "the result rests on the scores." if task.scores is not None else "only the lower limit holds."
        text = f"There were no errors among {round(task.n_classes * task.classes_each):,} classes, so ranks do not "
        yield Note("no_errors", f"{text}show where accuracy begins to fall; {rests_on}")
    elif unclear.sum() < _FEW_ERRORS:
        text = f"Only {unclear.sum()} of {task.n_cases:,} cases were not clearly recognised; the result rests on those "
        yield Note("few_errors", f"{text}few.")
    lowest = float(np.mean((beaten == 0) & (tied == 0)))
    often_lowest = lowest > max(whole.last_accuracy, 2.0 / task.n_classes) and beaten.mean() < competitors / 2
    no_better = task.n_cases >= 20 and abs(float((beaten + tied / 2).mean()) / competitors - 0.5) < 0.02
    if competitors > 1 and often_lowest:
        text = f"The true class scored lowest in {lowest:.0%} of the cases, as if the scale were upside down: set "
        text += "'distance' if these are distances, and leave it out if they are similarities."
        yield Note("upside_down", text)
    elif competitors > 1 and no_better:
        text = "The true class scores no better than a random one: check that the labels belong to these rows and that "
        yield Note("upside_down", f"{text}the columns are in the order of the classes.")
    share = float(tied.mean()) / competitors
    if share > _MANY_TIES:
        text = f"{share:.1%} of the comparisons are ties, broken by ties={task.ties!r}; "
        yield Note("ties", f"{text}the result depends on that rule.")
    if (each := task.classes_each) > 1.0:
        text = f"Classes come in families of {each:.1f} on average: accuracy at k classes is that of k/{each:.1f} "
        text += f"whole families, and the interval counts {task.n_classes:,} families, not classes."
        yield Note("families", text)
    if task.scores is None:
        yield Note("no_scores", "Score-based methods were left out: some scores are not finite.")
    elif task.scores.best is not None:
        text = f"{task.n_cases * task.n_classes:,} scores are too many to keep: 'tail', which uses the best of each "
        yield Note("no_scores", f"{text}case, and 'calibrated' were used; the kernels and 'pooled' were not.")


def _errors_of(
    task: ScoreTask, alone: ScoreTask, scores: KeptScores, groups: Any, cost: Floats
) -> Callable[[Floats], Floats]:
    """By number of families below the winner: how much of the cases errors are, what they cost, and both for siblings.

    ``alone`` are the classes one by one, ``task`` their families. Every case meets the best class of each other family.
    The right class is the best of its own family by chance; otherwise a sibling is, with its score and cost.
    """
    rows, own = np.arange(alone.n_cases), task.case_class
    best, price = scores.values.copy(), cost[alone.case_class]
    family = t.family_numbers(groups, alone.n_classes)
    for number in range(task.n_classes if family is not None else 0):
        part = scores.values[:, family == number]
        best[:, number] = part.max(axis=1)
        tied = part == best[:, number, None]
        price[:, number] = (cost[alone.case_class][:, family == number] * tied).sum(axis=1) / tied.sum(axis=1)
    best, price = best[:, : task.n_classes], price[:, : task.n_classes]
    sibling_score, sibling_cost = best[rows, own], price[rows, own]
    best[rows, own] = -np.inf  # the own family comes first and is no competitor
    order = np.argsort(best, axis=1)[:, 1:]
    comes_first = np.ones(rows.size) if task.own_family is None else task.own_family
    values, prices = (np.take_along_axis(table, order, axis=1) for table in (best, price))

    def errors(kept: Floats) -> Floats:
        m = int(kept.sum()) - 1
        weight = task.case_weight(kept)
        sums = np.zeros((4, m + 1))
        for case in np.flatnonzero(kept[own]).tolist():
            inside = kept[order[case]] > 0
            value, price = values[case, inside], prices[case, inside]
            # Tied families take their places by chance, so each place costs what they cost on average.
            group = np.append(0, np.cumsum(np.diff(value) > 0))
            price = (np.bincount(group, weights=price) / np.bincount(group))[group]
            first = comes_first[case]
            for score, chance, is_sibling in ((scores.true, first, False), (sibling_score, 1.0 - first, True)):
                if chance <= 0.0:
                    continue
                rule = "random" if is_sibling else task.ties  # the rule is about the right class
                place, stop = (int(np.searchsorted(value, score[case], side)) for side in ("left", "right"))
                above = np.full(m - place, chance * weight[case])
                if rule == "random":
                    # Of t tied families and the right class, the one in place j is above it with chance j / (t + 1).
                    above[: stop - place] *= np.arange(1.0, stop - place + 1.0) / (stop - place + 1.0)
                elif rule == "optimistic":
                    above[: stop - place] = 0.0
                sums[0, place + 1 :] += above
                sums[1, place + 1 :] += above * price[place:]
                if is_sibling:
                    alone_first = chance * weight[case] / (stop - place + 1.0)
                    sums[2, place : stop + 1] += alone_first
                    sums[3, place : stop + 1] += alone_first * sibling_cost[case]
        return sums

    return errors


def _cost_of_error(errors: Floats, sizes: Floats, bounds: tuple[float, float]) -> Floats:
    """Mean cost of an error: observed up to the classes there are, beyond by a line of its log-odds in log k.

    The log-odds are those of the place between the cheapest and the dearest confusion, so that the line stays there.
    A competitor with ``r`` families below it, the right one among them, wins a task of ``k`` with it in it with chance
    ``C(r − 1, k−2) / C(m, k−1)``, over all tasks of ``k − 1`` of the ``m`` competitors. A sibling of the right class,
    in its own family and so in every task, wins over ``r`` of them with chance ``C(r, k−1) / C(m, k−1)``.
    """
    (low, high), m = bounds, errors.shape[1] - 1
    seen, below = m + 1.0, np.arange(m + 1.0)
    k = np.unique(np.round(np.geomspace(max(2.0, _FROM * seen), seen, _COST_POINTS)))
    at = np.concatenate([k, np.minimum(sizes, seen)])
    beats = t.credit(below, at, m)
    chance = beats * (at - 1.0) / np.maximum(below, 1.0)[:, None]
    wrong, cost = (errors[first] @ chance + errors[first + 2] @ beats for first in (0, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(wrong > 0, cost / wrong, (low + high) / 2.0)
    if high <= low:
        return np.full(sizes.size, high)
    odds = answers.logit((mean - low) / (high - low), _COST_EDGE)
    slope = float(np.polyfit(np.log(k), odds[: k.size], 1)[0]) if k.size > 1 else 0.0
    beyond = odds[k.size :] + slope * np.log(np.maximum(sizes / seen, 1.0))
    return np.asarray(low + (high - low) / (1.0 + np.exp(-beyond)), dtype=np.float64)


def _costs_by_size(
    scores: Any, labels: Any, costs: Any, *, k: Any, groups: Any, level: float, seed: int, **options: Any
) -> GrowthTable:
    """Expected cost per case, with the interval of the error rate and a class jackknife of an error's mean cost."""
    alone, kept = t.whole_rows(scores, labels, **options)
    task = alone if groups is None else t.whole_rows(scores, labels, groups=groups, **options)[0]
    n = alone.n_classes
    sizes = answers.sizes_asked([n, 2 * n, 5 * n, 10 * n] if k is None else k)
    prices = _checked_costs(costs, scores, options["classes"], n)
    apart = prices[~np.eye(n, dtype=bool)]
    bounds = float(apart.min()), float(apart.max())
    units = np.maximum(np.array(sizes) / task.classes_each, 1.0)
    errors = _errors_of(task, alone, kept, groups, prices)
    each = _cost_of_error(errors(np.ones(task.n_classes)), units, bounds)
    # Each twentieth of the classes is left out in turn, on the scale of logarithms.
    part = np.random.default_rng([seed, 1]).permutation(np.arange(task.n_classes) % min(_PARTS, task.n_classes))
    without = []
    for number in range(part.max() + 1):
        others = (part != number).astype(np.float64)
        if others.sum() >= 2 and others[task.case_class].any():
            without.append(np.log(np.maximum(_cost_of_error(errors(others), units, bounds), 1e-300)))
    spread = np.full(units.size, np.nan)
    if len(without) > 1:
        spread = np.sqrt((len(without) - 1.0) * np.var(without, axis=0))
    fitted, _ = fit_task(task, tuple(sizes), level=level, seed=seed)
    columns, estimates = {}, {}
    for size, price, error in zip(sizes, each.tolist(), spread.tolist(), strict=True):
        accuracy = fitted.accuracy(size)
        value = (1.0 - accuracy.value) * price
        low, high = _ends(accuracy, price, error, level, bounds)
        tested = "costs seen" if math.isnan(error) else "class jackknife"
        method = "" if math.isnan(low) else f"{accuracy.method}, {tested}"
        estimates[size] = Estimate(f"cost@{size}", value, low, high, level, method)
        columns[size] = {"accuracy": accuracy.value, "cost_per_error": price}
    notes = fitted.general_notes + answers.far_note(sizes, n)
    blank = [size for size in sizes if math.isnan(estimates[size].low)][:1]
    notes += tuple(Note("no_interval", f"No interval among {k:,} classes: too few to leave one out.") for k in blank)
    last, at = max(sizes), estimates[max(sizes)]
    answer = f"With {last:,} classes expect a cost per case of {format_value(at.value)}"
    answer += f"{answers.in_brackets(at, format_value)}."
    title = f"Expected cost per case, from {n:,} classes"
    return GrowthTable(title, "cost", estimates, columns, notes, {"classes_seen": n}, (answer,))


def _checked_costs(costs: Any, scores: Any, classes: Any, n: int) -> Floats:
    """Costs in the order of the classes: by their names where a frame has names, or as they come."""
    prices = np.asarray(t.number_matrix(costs, "costs"), dtype=np.float64)
    if prices.shape != (n, n):
        shape = " × ".join(map(str, prices.shape))
        raise InputError("costs", f"is {shape} for {n} classes", "give one row and one column for each class")
    wrong = np.flatnonzero(~(np.isfinite(prices) & (prices >= 0.0)).all(axis=1))
    if wrong.size:
        message = "has a cost that is missing, infinite or below 0"
        raise InputError("costs", message, "give costs of 0 or more", row=int(wrong[0]))
    order = list(range(n))
    columns = _names(getattr(costs, "column_names", getattr(costs, "columns", None)))
    rows = _names(costs.index) if hasattr(costs, "columns") and hasattr(costs, "index") else None
    columns, rows = columns or rows, rows or columns
    named = _names(classes) or _names(getattr(scores, "column_names", getattr(scores, "columns", None)))
    known = list(dict.fromkeys(named or map(str, range(n))))  # without names, classes are column numbers
    if columns is not None and rows is not None and (named or set(columns) == set(known)):
        for names in (rows, columns):
            if sorted(names) != sorted(known):
                message = f"is named after {listed(names, 3)}, but the classes are {listed(known, 3)}"
                raise InputError("costs", message, "use the same names, or give an array in the order of the classes")
        order = [rows.index(name) for name in known]
        prices = prices[np.ix_(order, [columns.index(name) for name in known])]
    dear = np.flatnonzero(np.diag(prices) != 0.0)
    if dear.size:
        raise InputError("costs", "gives a cost to a right answer", "put zeros on the diagonal", row=order[dear[0]])
    return prices


def _names(names: Any) -> list[str] | None:
    """Names as text; None where they only count from 0, as those that nobody has given."""
    if names is None:
        return None
    texts = [str(name) for name in np.ravel(np.asarray(names, dtype=object)).tolist()]
    return None if texts == [str(number) for number in range(len(texts))] else texts


def _ends(accuracy: Estimate, price: float, error: float, level: float, bounds: Sequence[float]) -> tuple[float, float]:
    """Interval of error rate × cost of an error: both parts side by side on the scale of logarithms."""
    if math.isnan(error):
        # What an error costs could not be tested: any of the costs seen.
        return (1.0 - accuracy.high) * bounds[0], (1.0 - accuracy.low) * bounds[1]
    reach = z_of(level) * error
    wrong = 1.0 - np.array([accuracy.high, accuracy.value, accuracy.low])
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.diff(np.log(np.maximum(wrong, _COST_EDGE)))
    centre = np.log(max(wrong[1], _COST_EDGE)) + np.log(max(price, _COST_EDGE * max(bounds[1], _COST_EDGE)))
    low, high = centre - np.hypot(steps[0], reach), centre + np.hypot(steps[1], reach)
    value = float(wrong[1] * price)
    return float(min(np.exp(low), value)), float(max(min(np.exp(high), bounds[1]), value))


def _errors_found(
    scores: Any, labels: Any, review: float, *, k: Any, level: float, n_resamples: int, seed: int, **options: Any
) -> GrowthTable:
    """The share of errors that is found by reviewing the least certain answers, among ``k`` classes."""
    from scipy.special import ndtr

    task, kept = t.whole_rows(scores, labels, **options)
    n = task.n_classes
    sizes = answers.sizes_asked([n, 2 * n, 5 * n, 10 * n] if k is None else k)
    fitted, _ = fit_task(task, tuple(sizes), level=level, seed=seed)
    rng = np.random.default_rng([seed, 5])
    copies = [np.bincount(rng.integers(0, n, n), minlength=n).astype(float) for _ in range(n_resamples)]
    seen = _Margins(task, kept, n, rng)
    x_seen = float(-_z(1.0 - fitted.accuracy(n).value))
    standing = np.array([seen.place(c, x_seen) for c in (np.ones(n), *copies)])
    today = _reached(review, *seen.curve(np.ones(n)))
    estimates, columns, reach = {}, {}, z_of(level)
    for size in sizes:
        at = fitted.accuracy(size)
        errors = 1.0 - np.array([at.value, at.high, at.low])
        if size <= n:
            margins = seen if size == n else _Margins(task, kept, size, rng)
            curve = margins.curve(np.ones(n))
            value, method = _reached(review, *curve), "class bootstrap"
            drawn = np.array([share for c in copies if np.isfinite(share := _reached(review, *margins.curve(c)))])
            spread = float(_z(drawn).std()) if drawn.size > n_resamples / 2 else float("nan")
            same = _reached(today, *curve[::-1])
        else:
            shares = [_reached(review, *_curve(error, standing[0])) for error in errors]
            same, value = _reached(today, *_curve(errors[0], standing[0])[::-1]), shares[0]
            method = "margins and errors"
            if np.isfinite(today):  # without a jump at the classes seen
                fit = _curve(1.0 - fitted.accuracy(n).value, standing[0])
                jump = float(_z(today) - _z(_reached(review, *fit)))
                value = float(ndtr(_z(value) + jump * (n / size) ** 2))
            moved = [_reached(review, *_curve(errors[0], place)) for place in standing[1:]]
            far = _reached(review, *_curve(errors[0], standing[0] - _OF_MARGIN * abs(-float(_z(errors[0])) - x_seen)))
            of_errors = float(np.abs(np.diff(_z(np.array(shares[1:])))[0]) / (2.0 * reach))
            of_place, of_distance = float(np.std(_z(np.array(moved)))), float(_z(far) - _z(shares[0]))
            spread = math.hypot(of_place, of_distance, of_errors, _LEAST_SPREAD)
        low, high = ndtr(_z(value) + np.array([-reach, reach]) * spread) if np.isfinite(spread) else (np.nan, np.nan)
        low, high = min(float(low), value), max(float(high), value)
        estimates[size] = Estimate(f"caught@{size}", value, low, high, level, method if np.isfinite(low) else "")
        error, wrong = float(errors[0]), float(min(errors[0] * value / review, 1.0))
        columns[size] = {"error_rate": error, "left": error * (1.0 - value), "wrong_among_reviewed": wrong}
        columns[size]["review_for_same"] = same
    title = f"Errors found by reviewing {answers.rounded_share(review)} of the answers, from {n:,} classes"
    last, shown = max(sizes), answers.rounded_share
    at, row = estimates[last], columns[last]
    before = f", against {shown(today)} with {n:,}" if last > n and np.isfinite(today) else ""
    text = f"With {last:,} classes, reviewing {shown(review)} of the answers finds {shown(at.value)}"
    text += f" of the errors{answers.in_brackets(at)}{before}; {shown(row['left'])} of all stay wrong."
    answer = [text] if np.isfinite(at.value) else ["There was no error to find."]
    if last > n and np.isfinite(same := row["review_for_same"]):
        answer.append(f"To find as large a share as today, review {shown(same)} of the answers.")
    notes, facts = fitted.general_notes + answers.far_note(sizes, n), {"review": review, "classes_seen": n}
    return GrowthTable(title, "caught", estimates, columns, notes, facts, tuple(answer))


def _z(share: Floats | float) -> Floats:
    """Φ⁻¹ of a share, kept finite."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(share, _EDGE, 1.0 - _EDGE)))


def _curve(error: float, place: float) -> tuple[Floats, Floats]:
    """Shares of answers and of errors up to each margin, where wrong and right margins are two normal laws."""
    from scipy.special import ndtr

    x = float(-_z(error))
    separation = max(place + _RISE * x + _BEND * x * abs(x), 0.0) * np.sqrt(1.0 + _SLOPE**2)
    right = np.linspace(-8.0, 8.0, 801)
    wrong = ndtr(separation + _SLOPE * right)
    return error * wrong + (1.0 - error) * ndtr(right), wrong


def _reached(share: float, of: Floats, other: Floats) -> float:
    """Where one of two rising shares reaches ``share``, what the other is; nan where there was no error."""
    return float(np.interp(share, of, other)) if np.isfinite(share + of[-1] + other[-1]) else math.nan


class _Margins:
    """The answers in random galleries of some classes, from the least certain to the surest."""

    def __init__(self, task: ScoreTask, kept: KeptScores, size: int, rng: np.random.Generator) -> None:
        n, true = task.n_classes, kept.true
        margin, wrong, weight = [], [], []
        for _ in range(1 if size == n else _GALLERIES):
            inside = np.zeros(n, dtype=np.bool_)
            inside[rng.permutation(n)[:size]] = True
            best = m.largest(np.where(inside, kept.values, -np.inf), 2)
            lost = np.where(best[:, 0] == true, t.LOST_OF_TIES[task.ties], best[:, 0] > true)
            with np.errstate(invalid="ignore"):
                margin.append(np.abs(best[:, 0] - np.where(lost > 0.5, np.maximum(true, best[:, 1]), true)))
            wrong.append(lost)
            weight.append(task.case_share * inside[task.case_class])
        order = np.argsort(np.concatenate(margin), kind="stable")
        self.case_class = np.tile(task.case_class, len(margin))[order]
        self.wrong, self.weight = np.concatenate(wrong)[order], np.concatenate(weight)[order]
        self.errors = float(self.weight @ self.wrong / self.weight.sum()) * task.n_tested

    def curve(self, copies: Floats) -> tuple[Floats, Floats]:
        """Shares of answers and of errors up to each margin, with each class as often as ``copies`` tells."""
        weight = self.weight * copies[self.case_class]
        answers, errors = np.cumsum(weight), np.cumsum(weight * self.wrong)
        with np.errstate(invalid="ignore"):
            return answers / answers[-1], errors / errors[-1]

    def place(self, copies: Floats, x: float) -> float:
        """What z(AUC) of the margins is above its usual rise and bend, drawn to the usual place."""
        weight = self.weight * copies[self.case_class]
        wrong, right = weight * self.wrong, weight * (1.0 - self.wrong)
        if not (wrong.sum() > 0 and right.sum() > 0):
            return _PLACE
        area = float((np.cumsum(wrong) - wrong / 2.0) @ right / (wrong.sum() * right.sum()))
        seen = float(_z(area)) - _RISE * x - _BEND * x * abs(x)
        return (self.errors * seen + _PRIOR_ERRORS * _PLACE) / (self.errors + _PRIOR_ERRORS)

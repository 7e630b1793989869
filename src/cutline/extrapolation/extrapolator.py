"""`extrapolate`: what was given is read as a task, methods are weighed by a back-test and fitted, classes resampled."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..runtime import Progress
from ..types import Labels
from ..validate import check_flag, checked, one_of
from .extrapolation_result import Extrapolation, Observed, sizes_asked
from .favorability import Favorability, mix
from .method_choice import (
    FEWEST_CLASSES,
    BacktestRow,
    Blend,
    back_test,
    best_of_families,
    blend_of,
    every_method,
    find_method,
    weigh,
)
from .task_inputs import Metric, from_accuracies, from_embeddings, from_scores, from_wins
from .tasks import TIE_RULES, CurveTask, GrowthMethod, Note, ObservedTask, ScoreTask, TaskEvidence, WinsTask

if TYPE_CHECKING:
    from .growth_comparison import GrowthComparison

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
# Below so many scores threads wait for each other longer than they work.
_WORTH_THREADS = 100_000
_OPTIONS = {"ties": one_of(*TIE_RULES), "interval": check_flag, "templates": one_of("best", "mean")}


def fit_task(
    task: ObservedTask,
    k: tuple[int, ...] | None = None,
    method: str | GrowthMethod = "auto",
    *,
    interval: bool = True,
    level: float = 0.95,
    n_resamples: int = 100,
    marginal: bool = True,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> tuple[Extrapolation, GrowthMethod]:
    """The extrapolation of a task that was read, and the method that was used."""
    n_classes = round(task.n_classes * task.classes_each)
    whole = task.whole()
    notes = [*task.hints, *notes_on(task, whole, marginal)]
    chosen, rows, fits = _choose(task, whole, method if method == "auto" else find_method(method), seed, progress)
    if isinstance(chosen, Blend):
        weights = dict(zip((member.name for member in chosen.members), chosen.weights, strict=True))
    else:
        weights = {chosen.name: 1.0}
        too_few = task.n_classes < FEWEST_CLASSES and not isinstance(task, CurveTask)
        if too_few and not any(row.weight > 0.0 for row in rows):
            text = (
                "{n} {units} are too few for a back-test: {method!r} was used untested, and the interval holds for "
                "any method."
            )
            units = "families" if task.classes_each > 1.0 else "classes"
            notes.append(Note("few_classes", text, n=task.n_classes, units=units, method=chosen.name))
    # The error of `auto` is modelled; how a single method scatters is seen on resamples alone.
    calibrated = interval and method == "auto" and not isinstance(task, CurveTask)
    resampled = interval and not calibrated
    replicates: list[Favorability] = []
    if resampled:
        drawn = resampled_fits(task, chosen, n_resamples, seed, n_jobs, progress)
        replicates = [fit for fit in drawn if fit is not None]
    if resampled and len(replicates) < n_resamples / 2:
        text = "No interval: accuracies alone do not show how many cases and classes they rest on."
        if not isinstance(task, CurveTask):
            text = (
                "No interval: {method!r} could read only {read} of {n} resamples of the classes. A rank method "
                "such as 'probit_normal' reads them all."
            )
        notes.append(Note("no_interval", text, method=chosen.name, read=len(replicates), n=n_resamples))
        replicates = []
    k_seen, accuracy = whole.curve
    error, how = task.standard_error(k_seen) if interval else (np.full(k_seen.size, np.nan), "")
    wins = None
    if isinstance(task, WinsTask):
        wins = WinsTask(task.n_classes, task.case_class, task.case_share, task.beaten, task.tied, task.ties)
    if task.classes_each > 1.0:
        # One family alone: what its own members take.
        k_seen, accuracy, error = np.append(1.0, k_seen), np.append(1.0, accuracy), np.append(error[0], error)
        k_seen, accuracy = k_seen * task.classes_each, accuracy * whole.kept
    result = Extrapolation(
        n_classes=n_classes,
        n_cases=task.n_cases,
        observed=Observed(k_seen, accuracy, error, how, level, task.n_tested, wins, task.classes_each),
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
    task: ObservedTask, whole: TaskEvidence, method: str | GrowthMethod, seed: int, progress: bool | None
) -> tuple[GrowthMethod, tuple[BacktestRow, ...], dict[str, Favorability]]:
    """The method to use, the back-test, and every method's fit to the whole, the chosen one's among them."""
    usable = {
        name: method
        for name, method in every_method().items()
        if name not in _NOT_IN_AUTO and (task.has_scores or not method.needs_scores)
    }
    rows: tuple[BacktestRow, ...] = ()
    fits: dict[str, Favorability] = {}
    if isinstance(method, str):
        rows = back_test(task, usable, seed, show=progress)
        # The best variant of every family is fitted to the whole. Parts of coarse scores can look continuous where the
        # whole does not: where a variant cannot read the whole, the next best takes its place.
        while waiting := [row for row in best_of_families(rows).values() if row.name not in fits]:
            for row in waiting:
                try:
                    fits[row.name] = whole.whole_task(row.method.fit(whole))
                except InputError as error:
                    unreadable = BacktestRow(row.method, row.family, reason=str(error))
                    rows = tuple(unreadable if other is row else other for other in rows)
        rows = weigh(rows, (1.0 - whole.last_accuracy) * task.n_tested if task.n_tested else float("inf"))
        chosen = blend_of(rows) or usable["probit_normal"]
    else:
        if method.needs_scores and whole.scores is None:
            wanted, remedy = "the scores themselves", "use a rank method such as 'probit_normal' or give scores"
            if isinstance(task, ScoreTask):
                wanted, remedy = "finite scores", "replace ±inf or use a rank method such as 'probit_normal'"
            raise InputError("method", f"{method.name!r} needs {wanted}", remedy)
        chosen = method.variants()[0]
        if len(method.variants()) > 1:  # the back-test chooses among the settings
            best = min(back_test(task, {method.name: method}, seed, show=progress), key=lambda row: row.risk)
            chosen = best.method if np.isfinite(best.risk) else chosen
        for other in usable.values():
            # A method that cannot read these data has no answer to compare with the chosen one.
            with suppress(InputError):
                fits[other.name] = whole.whole_task(other.fit(whole))
    if not isinstance(chosen, Blend):
        fits = {chosen.name: whole.whole_task(chosen.fit(whole))} | fits
    return chosen, rows, fits


def resampled_fits(
    task: ObservedTask,
    method: GrowthMethod,
    n_resamples: int,
    seed: int,
    n_jobs: int | None,
    progress: bool | None,
) -> list[Favorability | None]:
    """The method refitted on resamples of the classes, in order; None for those that it cannot read.

    Settings that the data chose (bandwidth, tail share, weights of a blend) stay as they were found on all classes.
    Draws depend on the seed and the number of the replicate alone, so threads do not change them.
    """
    if isinstance(method, Blend):
        method = method.without_small(_WORTH_REFITTING)
    settled = method.settled(task.whole())
    cores = os.cpu_count() or 1
    if n_jobs is None:
        workers = min(4, cores) if task.n_cases * task.n_classes > _WORTH_THREADS else 1
    else:
        workers = cores if n_jobs < 0 else n_jobs

    def fitted(evidence: TaskEvidence) -> Favorability | None:
        try:
            return evidence.whole_task(settled.fit(evidence)).compressed()
        except InputError:
            # Of few classes or coarse scores a resample can be without spread although the whole is not.
            return None

    fits: list[Favorability | None] = []
    samples = task.resamples(n_resamples, seed)
    with ThreadPoolExecutor(workers) as pool, Progress("resamples", n_resamples, progress) as bar:
        # Evidence with scores is large: only a handful is alive at any time.
        while batch := list(islice(samples, workers)):
            fits.extend(pool.map(fitted, batch))
            bar.advance(len(batch))
    return fits


class ExtrapolateOptions(TypedDict, total=False):
    """What :func:`extrapolate` takes beside scores and labels, for type checkers."""

    k: int | Iterable[int] | None
    method: str | GrowthMethod
    ties: str
    interval: bool
    level: float
    n_resamples: int
    seed: int
    classes: Labels | None
    groups: Labels | None
    distance: bool | None
    gallery: ArrayLike | None
    probes: ArrayLike | None
    gallery_labels: Labels | None
    metric: Metric
    templates: str
    candidates: bool
    wins: ArrayLike | None
    tied: ArrayLike | None
    n_classes: int | None
    accuracies: ArrayLike | None
    marginal: bool
    n_jobs: int | None
    progress: bool | None


@overload
def extrapolate(
    scores: Mapping[str, Any], labels: Labels | None = None, **options: Unpack[ExtrapolateOptions]
) -> GrowthComparison: ...
@overload
def extrapolate(
    scores: Any = None, labels: Labels | None = None, **options: Unpack[ExtrapolateOptions]
) -> Extrapolation: ...


@checked(**_OPTIONS)
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
    distance: bool | None = None,
    gallery: ArrayLike | None = None,
    probes: ArrayLike | None = None,
    gallery_labels: Labels | None = None,
    metric: Metric = "euclidean",
    templates: str = "best",
    candidates: bool = False,
    wins: ArrayLike | None = None,
    tied: ArrayLike | None = None,
    n_classes: int | None = None,
    accuracies: ArrayLike | None = None,
    marginal: bool = True,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Any:
    """Predict the accuracy of a recogniser with more classes than the ``k1`` it was tested on.

    Give one of: ``scores`` (cases × classes) with ``labels``; ``gallery`` and ``probes`` (embeddings, probe labels in
    ``labels``); ``wins`` (distractors beaten per case, ``tied`` beside it) with ``n_classes``; ``accuracies`` (pairs).

    ``k`` are the numbers of classes to predict for; by default 2, 5 and 10 times the number tested. For any other
    number, call ``ex.accuracy(k)``.

    Scores of two recognisers by name, ``{"a": S, "b": T}``, are compared at every number of classes: the result is then
    a :class:`GrowthComparison`.

    ``groups`` is the family of each class (its font, its series, its siblings), if classes come in whole families:
    smaller tasks and resamples then consist of whole families, and ``k`` classes of as many families as that takes.

    Several columns or gallery rows of one class (``classes`` or ``gallery_labels`` repeat its name) are its templates:
    their best score counts, or with ``templates="mean"`` their mean. With ``candidates=True`` a row is a candidate
    list: a missing score (nan) ranks below all others, and only ranks are used.

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
    if not (isinstance(method, str) and method == "auto"):
        find_method(method)
    asked = None if k is None else tuple(sizes_asked(k, 1, empty=True))
    sources = {"scores": scores, "gallery": gallery, "wins": wins, "accuracies": accuracies}
    named = [name for name, value in sources.items() if value is not None]
    if len(named) != 1:
        message = "extrapolate needs exactly one of scores, gallery with probes, wins, accuracies"
        raise InputError(None, message, f"found {' and '.join(named) or 'none'}")
    for name, given, needs, there in (
        ("classes", classes is not None, "scores", scores),
        ("candidates", candidates, "scores", scores),
        ("gallery_labels", gallery_labels is not None, "gallery", gallery),
        ("probes", probes is not None, "gallery", gallery),
        ("tied", tied is not None, "wins", wins),
        ("n_classes", n_classes is not None, "wins", wins),
    ):
        if given and there is None:
            raise InputError(name, f"goes with {{{needs}}} alone", "leave it out")
    if groups is not None and (wins is not None or accuracies is not None):
        raise InputError("groups", "needs to know which class beat which", "give {scores}, or {gallery} and {probes}")
    task: ObservedTask
    how: dict[str, Any] = {"classes": classes, "groups": groups, "templates": templates, "candidates": candidates}
    fitting: dict[str, Any] = {
        "interval": interval,
        "level": level,
        "n_resamples": n_resamples,
        "marginal": marginal,
        "seed": seed,
        "n_jobs": n_jobs,
        "progress": progress,
    }
    if isinstance(scores, Mapping):
        if len(scores) != 2:
            raise InputError("scores", f"has {len(scores)} recognisers", "compare two at a time")
        from .growth_comparison import compare_growth

        tasks = {
            str(name): from_scores(matrix, labels, distance=bool(distance), ties=ties, **how)
            for name, matrix in scores.items()
        }
        return compare_growth(tasks, asked, method, **fitting)
    if scores is not None:
        task = from_scores(scores, labels, distance=bool(distance), ties=ties, **how)
    elif gallery is not None:
        if probes is None:
            raise InputError("probes", "is missing", "a gallery needs probes to be recognised")
        how = {"metric": metric, "distance": distance, "templates": templates, "groups": groups}
        task = from_embeddings(gallery, probes, gallery_labels=gallery_labels, probe_labels=labels, ties=ties, **how)
    elif wins is not None:
        task = from_wins(wins, n_classes=n_classes, tied=tied, labels=labels, ties=ties)
    else:
        task = from_accuracies(accuracies)
    return fit_task(task, asked, method, **fitting)[0]


def notes_on(task: ObservedTask, whole: TaskEvidence, marginal: bool) -> Iterator[Note]:
    """Sentences about the data and the classifier."""
    if not marginal:
        yield Note(
            "not_marginal",
            "The classifier is declared not marginal: scores of a class change with the other classes, so neither the "
            "average accuracy of smaller tasks nor the extrapolation is exact; extrapolate_training retrains at "
            "several sizes and extrapolates from these.",
        )
    scored = isinstance(task, ScoreTask)
    if isinstance(task, WinsTask):
        beaten, tied, competitors = task.beaten, task.tied, task.n_classes - 1
        unclear = (beaten + tied < competitors) | (tied > 0)
        if isinstance(task, ScoreTask) and task.own_family is not None:
            unclear |= task.own_family < 1.0
        if whole.last_accuracy > 1.0 - 1e-12:
            rests_on = "the result rests on the scores." if task.has_scores else "only the lower limit holds."
            text = (
                "There were no errors among {n_classes:,} classes, so ranks do not show where accuracy begins to fall; "
            )
            yield Note("no_errors", text + rests_on, n_classes=round(task.n_classes * task.classes_each))
        elif unclear.sum() < _FEW_ERRORS:
            text = "Only {wrong:.0f} of {n_cases:,} cases were not clearly recognised; the result rests on those few."
            yield Note("few_errors", text, wrong=float(unclear.sum()), n_cases=task.n_cases)
        lowest = float(np.mean((beaten == 0) & (tied == 0)))
        often_lowest = lowest > max(whole.last_accuracy, 2.0 / task.n_classes) and beaten.mean() < competitors / 2
        no_better = task.n_cases >= 20 and abs(float((beaten + tied / 2).mean()) / competitors - 0.5) < 0.02
        if competitors > 1 and often_lowest:
            text = (
                "The true class scored lowest in {share:.0%} of the cases, as if the scale were upside down: set "
                "'distance' if these are distances, and leave it out if they are similarities."
            )
            yield Note("upside_down", text, share=lowest)
        elif competitors > 1 and no_better:
            text = (
                "The true class scores no better than a random one: check that the labels belong to these rows and "
                "that the columns are in the order of the classes."
            )
            yield Note("upside_down", text)
        share = float(tied.mean()) / competitors
        if share > _MANY_TIES:
            text = "{share:.1%} of the comparisons are ties, broken by ties={rule!r}; the result depends on that rule."
            yield Note("ties", text, share=share, rule=task.ties)
    if task.classes_each > 1.0:
        text = (
            "Classes come in families of {each:.1f} on average: accuracy at k classes is that of k/{each:.1f} whole "
            "families, and the interval counts {families:,} families, not classes."
        )
        yield Note("families", text, each=task.classes_each, families=task.n_classes)
    if isinstance(task, WinsTask) and not scored:
        text = "Wins alone do not show which distractors won, so the interval misses a competitor that beats many."
        yield Note("wins_alone", text)
    if isinstance(task, ScoreTask) and task.scores is None:
        yield Note("no_scores", "Score-based methods were left out: some scores are not finite.")
    elif isinstance(task, ScoreTask) and task.scores is not None and task.scores.best is not None:
        text = (
            "{n:,} scores are too many to keep: 'tail', which uses the best of each case, and 'calibrated' were used; "
            "the kernels and 'pooled' were not."
        )
        yield Note("no_scores", text, n=task.n_cases * task.n_classes)

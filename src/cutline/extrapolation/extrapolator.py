"""The two doors: `extrapolate` in one call, `AccuracyExtrapolator` with fit and predict behind it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..reference import documented
from ..runtime import Progress
from ..types import Floats, Labels
from ..validate import check_flag, checked, one_of
from .extrapolation_result import CaseWins, Extrapolation, Observed, sizes_asked
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
from .task_evidence import TIE_RULES, GrowthMethod, Note, TaskEvidence
from .task_inputs import Metric, from_accuracies, from_embeddings, from_scores, from_wins
from .tasks import CurveTask, ObservedTask, ScoreTask, WinsTask

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


@documented
class AccuracyExtrapolator:
    """Predicts accuracy among more classes from a task with fewer, after Zheng, Achanta & Benjamini.

    Parameters
    ----------
    method
        ``"auto"`` weighs all methods by a back-test; or one by name: ``spline``, ``mixture``, ``gaussian``,
        ``probit_normal``, ``pitman_yor``, ``exponential``, ``kde``, ``kde_unbiased``, ``tail``, ``pooled``,
        ``calibrated``; or an object.
    ties
        ``"random"`` (a tie is won by chance, as in the paper), ``"optimistic"`` (a tie is a win) or ``"pessimistic"``.
    interval, level, n_resamples
        Class bootstrap intervals of that level.
    marginal
        Say False where scores of a class depend on which other classes are there (soft-max networks, k-nearest
        neighbours with k > 1, trees); the result then carries a warning in its notes.
    seed, n_jobs, progress
        Same seed, same result, on any number of threads; progress True, False, or None for "on a terminal".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> centres = rng.normal(size=(60, 5))
    >>> probes = centres + 0.5 * rng.normal(size=centres.shape)
    >>> model = AccuracyExtrapolator(method="probit_normal", interval=False)
    >>> model.fit_embeddings(centres, probes).predict([60, 600]).round(2).tolist()
    [0.78, 0.53]
    """

    @checked(**_OPTIONS)
    def __init__(
        self,
        method: str | GrowthMethod = "auto",
        *,
        ties: str = "random",
        interval: bool = True,
        level: float = 0.95,
        n_resamples: int = 100,
        marginal: bool = True,
        seed: int = 0,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.method = method if isinstance(method, str) and method == "auto" else find_method(method)
        self.ties = ties
        self.interval = interval
        self.level = level
        self.n_resamples = n_resamples
        self.marginal = marginal
        self.seed = seed
        self.n_jobs = n_jobs
        self.progress = progress
        self._result: Extrapolation | None = None

    @checked(**_OPTIONS)
    def fit(
        self,
        scores: Any,
        labels: Labels | None = None,
        *,
        classes: Labels | None = None,
        distance: bool = False,
        groups: Labels | None = None,
        templates: str = "best",
    ) -> AccuracyExtrapolator:
        """Fit to scores of test cases (rows) for all classes (columns); ``distance=True`` if small means close.

        ``groups`` is the family of each class, if classes come in whole families. For a class with several columns
        (templates), the ``"best"`` or the ``"mean"`` of their scores counts.
        """
        how: dict[str, Any] = {"classes": classes, "distance": distance, "groups": groups, "templates": templates}
        return self.fit_task(from_scores(scores, labels, ties=self.ties, **how))

    @checked(**_OPTIONS)
    def fit_embeddings(
        self,
        gallery: ArrayLike,
        probes: ArrayLike,
        *,
        gallery_labels: Labels | None = None,
        probe_labels: Labels | None = None,
        metric: Metric = "euclidean",
        distance: bool | None = None,
        groups: Labels | None = None,
        templates: str = "best",
    ) -> AccuracyExtrapolator:
        """Fit to embeddings of a gallery and of probes, compared in blocks: 20,000 classes fit in memory."""
        labels: dict[str, Any] = {"gallery_labels": gallery_labels, "probe_labels": probe_labels, "groups": groups}
        how: dict[str, Any] = {"metric": metric, "distance": distance, "templates": templates}
        return self.fit_task(from_embeddings(gallery, probes, ties=self.ties, **labels, **how))

    def fit_wins(
        self, wins: ArrayLike, *, n_classes: int | None, tied: ArrayLike | None = None, labels: Labels | None = None
    ) -> AccuracyExtrapolator:
        """Fit to the number of wrong classes that each case's right class beats, and ties."""
        return self.fit_task(from_wins(wins, n_classes=n_classes, tied=tied, labels=labels, ties=self.ties))

    def fit_accuracies(self, accuracies: ArrayLike) -> AccuracyExtrapolator:
        """Fit to known pairs (number of classes, accuracy)."""
        return self.fit_task(from_accuracies(accuracies))

    def predict(self, k: ArrayLike) -> Floats:
        """Expected accuracy at each number of classes."""
        return self.result.predict(k)

    @property
    def result(self) -> Extrapolation:
        """The fitted :class:`Extrapolation`."""
        if self._result is None:
            raise InputError(
                None, "AccuracyExtrapolator is not fitted yet", "call fit, fit_embeddings, fit_wins or fit_accuracies"
            )
        return self._result

    def fit_task(self, task: ObservedTask, k: tuple[int, ...] | None = None) -> AccuracyExtrapolator:
        """Fit to a task that the other methods have built; ``k`` are the numbers of classes to predict for."""
        n_classes = round(task.n_classes * task.classes_each)
        whole = task.whole()
        notes = [*task.hints, *_notes_on(task, whole, self.marginal)]
        method, rows, fits = self._choose(task, whole)
        if isinstance(method, Blend):
            weights = dict(zip((member.name for member in method.members), method.weights, strict=True))
        else:
            weights = {method.name: 1.0}
            too_few = task.n_classes < FEWEST_CLASSES and not isinstance(task, CurveTask)
            if too_few and not any(row.weight > 0.0 for row in rows):
                text = (
                    "{n} {units} are too few for a back-test: {method!r} was used untested, and the interval holds for "
                    "any method."
                )
                units = "families" if task.classes_each > 1.0 else "classes"
                notes.append(Note("few_classes", text, n=task.n_classes, units=units, method=method.name))
        replicates = self._replicates(task, method, whole) if self.interval else []
        if self.interval and len(replicates) < self.n_resamples / 2:
            text = "No interval: accuracies alone do not show how many cases and classes they rest on."
            if not isinstance(task, CurveTask):
                text = (
                    "No interval: {method!r} could read only {read} of {n} resamples of the classes. A rank method "
                    "such as 'probit_normal' reads them all."
                )
            read = len(replicates)
            notes.append(Note("no_interval", text, method=method.name, read=read, n=self.n_resamples))
            replicates = []
        self._result = Extrapolation(
            n_classes=n_classes,
            n_cases=task.n_cases,
            observed=_observed(task, whole, self.level, self.interval),
            method=method.name,
            favorability=mix([fits[name] for name in weights], list(weights.values())),
            fits=fits,
            weights=weights,
            plausible=tuple(row.name for row in rows if row.plausible and row.name in fits) or tuple(weights),
            backtest=rows,
            replicates=tuple(replicates),
            k=tuple(times * n_classes for times in _TIMES) if k is None else k,
            level=self.level,
            general_notes=tuple(notes),
            classes_each=task.classes_each,
        )
        return self

    def _choose(
        self, task: ObservedTask, whole: TaskEvidence
    ) -> tuple[GrowthMethod, tuple[BacktestRow, ...], dict[str, Favorability]]:
        """The method to use, the back-test, and every method's fit to the whole, the chosen one's among them."""
        usable = {
            name: method
            for name, method in every_method().items()
            if name not in _NOT_IN_AUTO and (task.has_scores or not method.needs_scores)
        }
        fits: dict[str, Favorability] = {}
        if isinstance(self.method, str):
            errors = (1.0 - whole.last_accuracy) * task.n_tested if task.n_tested else float("inf")
            rows, fits = _fit_best(back_test(task, usable, self.seed, show=self.progress), whole)
            rows = weigh(rows, errors)
            chosen = blend_of(rows) or usable["probit_normal"]
        else:
            rows = ()
            chosen = self._settle(task, self.method, whole)
            for method in usable.values():
                try:
                    fits[method.name] = whole.whole_task(method.fit(whole))
                except InputError:
                    # A method that cannot read these data has no answer to compare with the chosen one.
                    continue
        if not isinstance(chosen, Blend):
            fits = {chosen.name: whole.whole_task(chosen.fit(whole))} | fits
        return chosen, rows, fits

    def _settle(self, task: ObservedTask, method: GrowthMethod, whole: TaskEvidence) -> GrowthMethod:
        """A named method with its best setting, by the back-test where there is something to choose."""
        if method.needs_scores and whole.scores is None:
            if isinstance(task, ScoreTask):
                wanted, remedy = "finite scores", "replace ±inf or use a rank method such as 'probit_normal'"
            else:
                wanted, remedy = "the scores themselves", "use a rank method such as 'probit_normal' or give scores"
            raise InputError("method", f"{method.name!r} needs {wanted}", remedy)
        options = method.variants()
        if len(options) == 1:
            return options[0]
        rows = back_test(task, {method.name: method}, self.seed, show=self.progress)
        best = min(rows, key=lambda row: row.risk)
        return best.method if np.isfinite(best.risk) else options[0]

    def _replicates(self, task: ObservedTask, method: GrowthMethod, whole: TaskEvidence) -> list[Favorability]:
        """The method refitted on resamples of the classes, in order; those that it cannot read are left out.

        Settings that the data chose (bandwidth, tail share, weights of a blend) stay as they were found on all classes.
        Draws depend on the seed and the number of the replicate alone, so threads do not change them.
        """
        if isinstance(method, Blend):
            method = method.without_small(_WORTH_REFITTING)
        settled = method.settled(whole)
        cores = os.cpu_count() or 1
        if self.n_jobs is None:
            workers = min(4, cores) if task.n_cases * task.n_classes > _WORTH_THREADS else 1
        else:
            workers = cores if self.n_jobs < 0 else self.n_jobs

        def fitted(evidence: TaskEvidence) -> Favorability | None:
            try:
                return evidence.whole_task(settled.fit(evidence)).compressed()
            except InputError:
                # Of few classes or coarse scores a resample can be without spread although the whole is not.
                return None

        fits: list[Favorability] = []
        samples = task.resamples(self.n_resamples, self.seed)
        with ThreadPoolExecutor(workers) as pool, Progress("resamples", self.n_resamples, self.progress) as progress:
            # Evidence with scores is large: only a handful is alive at any time.
            while batch := list(islice(samples, workers)):
                fits.extend(fit for fit in pool.map(fitted, batch) if fit is not None)
                progress.advance(len(batch))
        return fits


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
) -> Extrapolation:
    """Predict the accuracy of a recogniser with more classes than the ``k1`` it was tested on.

    Give one of: ``scores`` (cases × classes) with ``labels``; ``gallery`` and ``probes`` (embeddings, probe labels in
    ``labels``); ``wins`` (distractors beaten per case, ``tied`` beside it) with ``n_classes``; ``accuracies`` (pairs).

    ``k`` are the numbers of classes to predict for; by default 2, 5 and 10 times the number tested. For any other
    number, call ``ex.accuracy(k)``.

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
    model = AccuracyExtrapolator(
        method,
        ties=ties,
        interval=interval,
        level=level,
        n_resamples=n_resamples,
        marginal=marginal,
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
    )
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
    if scores is not None:
        how: dict[str, Any] = {"classes": classes, "groups": groups, "templates": templates, "candidates": candidates}
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
    return model.fit_task(task, asked).result


def _fit_best(
    rows: tuple[BacktestRow, ...], whole: TaskEvidence
) -> tuple[tuple[BacktestRow, ...], dict[str, Favorability]]:
    """The best variant of every family fitted to the whole; where it is refused there, the next best takes its place.

    Parts of coarse scores can look continuous where the whole does not: a method may read every part and not the whole.
    """
    fits: dict[str, Favorability] = {}
    while waiting := [row for row in best_of_families(rows).values() if row.name not in fits]:
        for row in waiting:
            try:
                fits[row.name] = whole.whole_task(row.method.fit(whole))
            except InputError as refusal:
                refused = BacktestRow(row.method, row.family, reason=str(refusal))
                rows = tuple(refused if other is row else other for other in rows)
    return rows, fits


def _observed(task: ObservedTask, whole: TaskEvidence, level: float, interval: bool) -> Observed:
    k, accuracy = whole.curve
    error, how = task.standard_error(k) if interval else (np.full(k.size, np.nan), "")
    wins = None
    if isinstance(task, ScoreTask | WinsTask):
        beaten, tied = task.wins
        weight = (
            task.case_weight(np.ones(task.n_classes))
            if isinstance(task, ScoreTask)
            else 1.0 / np.bincount(task.case_class)[task.case_class] / task.n_tested
        )
        wins = CaseWins(beaten, tied, task.case_class, weight, task.ties)
    if task.classes_each > 1.0:
        # One family alone: what its own members take.
        k, accuracy, error = np.append(1.0, k), np.append(1.0, accuracy), np.append(error[0], error)
        k, accuracy = k * task.classes_each, accuracy * whole.kept
    return Observed(k, accuracy, error, how, level, task.n_tested, wins, task.classes_each)


def _notes_on(task: ObservedTask, whole: TaskEvidence, marginal: bool) -> Iterator[Note]:
    """Sentences about the data and the classifier."""
    if not marginal:
        yield Note(
            "not_marginal",
            "The classifier is declared not marginal: scores of a class change with the other classes, so neither the "
            "average accuracy of smaller tasks nor the extrapolation is exact; extrapolate_training retrains at "
            "several sizes and extrapolates from these.",
        )
    if not isinstance(task, CurveTask):
        yield from _notes_on_errors(task, whole)
    if task.classes_each > 1.0:
        text = (
            "Classes come in families of {each:.1f} on average: accuracy at k classes is that of k/{each:.1f} whole "
            "families, and the interval counts {families:,} families, not classes."
        )
        yield Note("families", text, each=task.classes_each, families=task.n_classes)
    if isinstance(task, WinsTask):
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


def _notes_on_errors(task: ScoreTask | WinsTask, whole: TaskEvidence) -> Iterator[Note]:
    """Sentences about errors that are few, the wrong way round, or ties."""
    beaten, tied = task.wins
    competitors = task.n_classes - 1
    unclear = (beaten + tied < competitors) | (tied > 0)
    if isinstance(task, ScoreTask) and task.own_family is not None:
        unclear |= task.own_family < 1.0
    if whole.last_accuracy > 1.0 - 1e-12:
        rests_on = "the result rests on the scores." if task.has_scores else "only the lower limit holds."
        text = "There were no errors among {n_classes:,} classes, so ranks do not show where accuracy begins to fall; "
        yield Note("no_errors", text + rests_on, n_classes=round(task.n_classes * task.classes_each))
    elif unclear.sum() < _FEW_ERRORS:
        text = "Only {wrong:.0f} of {n_cases:,} cases were not clearly recognised; the result rests on those few."
        yield Note("few_errors", text, wrong=float(unclear.sum()), n_cases=task.n_cases)
    lowest = float(np.mean((beaten == 0) & (tied == 0)))
    often_lowest = lowest > max(whole.last_accuracy, 2.0 / task.n_classes) and beaten.mean() < competitors / 2
    if competitors > 1 and often_lowest:
        text = (
            "The true class scored lowest in {share:.0%} of the cases, as if the scale were upside down: set "
            "'distance' if these are distances, and leave it out if they are similarities."
        )
        yield Note("upside_down", text, share=lowest)
    elif competitors > 1 and task.n_cases >= 20 and abs(float((beaten + tied / 2).mean()) / competitors - 0.5) < 0.02:
        text = (
            "The true class scores no better than a random one: check that the labels belong to these rows and that "
            "the columns are in the order of the classes."
        )
        yield Note("upside_down", text)
    share = float(tied.mean()) / competitors
    if share > _MANY_TIES:
        text = "{share:.1%} of the comparisons are ties, broken by ties={rule!r}; the result depends on that rule."
        yield Note("ties", text, share=share, rule=task.ties)

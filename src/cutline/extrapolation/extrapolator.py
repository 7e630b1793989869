"""The two doors: `extrapolate` in one call, `AccuracyExtrapolator` with fit and predict behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..types import Floats, Labels
from ..validate import check_flag, checked, one_of
from .backtest import FEWEST_CLASSES, BacktestRow, back_test, best_of_families, blend_of, weigh
from .by_size import sizes_asked
from .class_bootstrap import replicate_fits
from .evidence import Evidence, ObservedTask
from .extrapolation_result import CaseWins, Extrapolation, Observed
from .favorability import Favorability, mix
from .methods import Blend, Method, every_method, find_method
from .notes import (
    FAMILIES,
    FEW_CLASSES,
    FEW_ERRORS,
    NO_ERRORS,
    NO_INTERVAL,
    NO_SCORES,
    NOT_MARGINAL,
    TIES,
    UPSIDE_DOWN,
    WINS_ALONE,
    Note,
)
from .task_inputs import Metric, from_accuracies, from_embeddings, from_scores, from_wins
from .tasks import CurveTask, ScoreTask, WinsTask
from .win_counts import TIE_RULES

# Asked for nothing in particular: how many times the classes that were seen.
_TIMES = (2, 5, 10)
# The paper's own spline takes no part in `auto`: `mixture` is the same model with its missing constraint.
_NOT_IN_AUTO = ("spline",)
_MANY_TIES = 0.01
_OPTIONS = {"ties": one_of(*TIE_RULES), "interval": check_flag, "templates": one_of("best", "mean")}


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
        method: str | Method = "auto",
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
        options: dict[str, Any] = {"classes": classes, "distance": distance, "groups": groups, "templates": templates}
        return self.fit_task(from_scores(scores, labels, ties=self.ties, **options))

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
        notes = _notes_on(task, whole, self.marginal)
        chosen, rows, fits, weights = self._choose(task, whole, notes)
        replicates: list[Favorability] = []
        if self.interval:
            replicates = replicate_fits(
                task, chosen, self.n_resamples, self.seed, n_jobs=self.n_jobs, show=self.progress
            )
            if len(replicates) < self.n_resamples / 2:
                text = (
                    "No interval: accuracies alone do not show how many cases and classes they rest on."
                    if isinstance(task, CurveTask)
                    else "No interval: {method!r} could read only {read} of {n} resamples of the classes. A rank "
                    "method such as 'probit_normal' reads them all."
                )
                notes.append(Note(NO_INTERVAL, text, method=chosen.name, read=len(replicates), n=self.n_resamples))
                replicates = []
        mixed = mix([fits[name] for name in weights], list(weights.values()))
        plausible = tuple(row.name for row in rows if row.plausible and row.name in fits)
        self._result = Extrapolation(
            n_classes=n_classes,
            n_cases=task.n_cases,
            observed=_observed(task, whole, self.level, self.interval),
            method=chosen.name,
            favorability=mixed,
            fits=fits,
            weights=weights,
            plausible=plausible or tuple(weights),
            backtest=rows,
            replicates=tuple(replicates),
            k=tuple(times * n_classes for times in _TIMES) if k is None else k,
            level=self.level,
            general_notes=tuple(notes),
            classes_each=task.classes_each,
        )
        return self

    def _choose(
        self, task: ObservedTask, whole: Evidence, notes: list[Note]
    ) -> tuple[Method, tuple[BacktestRow, ...], dict[str, Favorability], dict[str, float]]:
        """The method to use, the back-test, every method's fit to the whole, and the weights of the chosen."""
        usable = {
            name: method
            for name, method in every_method().items()
            if name not in _NOT_IN_AUTO and (task.has_scores or not method.needs_scores)
        }
        if isinstance(self.method, str):
            errors = (1.0 - whole.last_accuracy) * task.n_tested if task.n_tested else float("inf")
            rows, others = _fit_best(back_test(task, usable, self.seed, show=self.progress), whole)
            rows = weigh(rows, errors)
            chosen = blend_of(rows)
            if chosen is None:
                chosen = usable["probit_normal"]
        else:
            rows = ()
            chosen = self._settle(task, self.method, whole)
            others = _fit_all(usable.values(), whole)
        if not isinstance(chosen, Blend) and not any(row.weight > 0.0 for row in rows):
            notes += _note_on_few(task, chosen.name)
        if isinstance(chosen, Blend):
            weights = dict(zip((member.name for member in chosen.members), chosen.weights, strict=True))
        else:
            others = {chosen.name: whole.whole_task(chosen.fit(whole))} | others
            weights = {chosen.name: 1.0}
        return chosen, rows, others, weights

    def _settle(self, task: ObservedTask, method: Method, whole: Evidence) -> Method:
        """A named method with its best setting, by the back-test where there is something to choose."""
        if method.needs_scores and whole.scores is None:
            raise _no_scores(task, method)
        options = method.variants()
        if len(options) == 1:
            return options[0]
        rows = back_test(task, {method.name: method}, self.seed, show=self.progress)
        best = min(rows, key=lambda row: row.risk)
        return best.method if np.isfinite(best.risk) else options[0]


@checked(**_OPTIONS)
def extrapolate(
    scores: Any = None,
    labels: Labels | None = None,
    *,
    k: int | Iterable[int] | None = None,
    method: str | Method = "auto",
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
    asked = None if k is None else tuple(sizes_asked(k, 1)) if np.size(k) else ()  # type: ignore[arg-type]
    _one_of({"scores": scores, "gallery": gallery, "wins": wins, "accuracies": accuracies})
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
        options: dict[str, Any] = {"classes": classes, "distance": bool(distance), "groups": groups}
        options |= {"templates": templates, "candidates": candidates}
        task = from_scores(scores, labels, ties=ties, **options)
    elif gallery is not None:
        if probes is None:
            raise InputError("probes", "is missing", "a gallery needs probes to be recognised")
        how: dict[str, Any] = {"metric": metric, "distance": distance, "templates": templates, "groups": groups}
        task = from_embeddings(gallery, probes, gallery_labels=gallery_labels, probe_labels=labels, ties=ties, **how)
    elif wins is not None:
        task = from_wins(wins, n_classes=n_classes, tied=tied, labels=labels, ties=ties)
    else:
        task = from_accuracies(accuracies)
    return model.fit_task(task, asked).result


def _one_of(given: Mapping[str, Any]) -> None:
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        found = "none" if not named else " and ".join(named)
        raise InputError(
            None, "extrapolate needs exactly one of scores, gallery with probes, wins, accuracies", f"found {found}"
        )


def _fit_best(
    rows: tuple[BacktestRow, ...], whole: Evidence
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


def _fit_all(methods: Iterable[Method], whole: Evidence) -> dict[str, Favorability]:
    fits = {}
    for method in methods:
        try:
            fits[method.name] = whole.whole_task(method.fit(whole))
        except InputError:
            # A method that cannot read these data has no answer to compare with the chosen one.
            continue
    return fits


def _observed(task: ObservedTask, whole: Evidence, level: float, interval: bool) -> Observed:
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


def _notes_on(task: ObservedTask, whole: Evidence, marginal: bool) -> list[Note]:
    """Sentences about the data and the classifier."""
    notes = list(task.hints)
    if not marginal:
        notes.append(
            Note(
                NOT_MARGINAL,
                "The classifier is declared not marginal: scores of a class change with the other classes, so neither "
                "the average accuracy of smaller tasks nor the extrapolation is exact; extrapolate_training retrains "
                "at several sizes and extrapolates from these.",
            )
        )
    if not isinstance(task, CurveTask):
        notes += _notes_on_errors(task, whole)
    if task.classes_each > 1.0:
        notes.append(
            Note(
                FAMILIES,
                "Classes come in families of {each:.1f} on average: accuracy at k classes is that of k/{each:.1f} "
                "whole families, and the interval counts {families:,} families, not classes.",
                each=task.classes_each,
                families=task.n_classes,
            )
        )
    if isinstance(task, WinsTask):
        notes.append(
            Note(
                WINS_ALONE,
                "Wins alone do not show which distractors won, so the interval misses a competitor that beats many.",
            )
        )
    if isinstance(task, ScoreTask):
        if not task.has_scores:
            notes.append(Note(NO_SCORES, "Score-based methods were left out: some scores are not finite."))
        elif task.scores is not None and task.scores.best is not None:
            notes.append(
                Note(
                    NO_SCORES,
                    "{n:,} scores are too many to keep: 'tail', which uses the best of each case, and 'calibrated' "
                    "were used; the kernels and 'pooled' were not.",
                    n=task.n_cases * task.n_classes,
                )
            )
    return notes


def _notes_on_errors(task: ScoreTask | WinsTask | ObservedTask, whole: Evidence) -> list[Note]:
    assert isinstance(task, ScoreTask | WinsTask)
    notes = []
    beaten, tied = task.wins
    competitors = task.n_classes - 1
    unclear = (beaten + tied < competitors) | (tied > 0)
    if isinstance(task, ScoreTask) and task.own_family is not None:
        unclear |= task.own_family < 1.0
    wrong = float(unclear.sum())
    if whole.last_accuracy > 1.0 - 1e-12:
        notes.append(
            Note(
                NO_ERRORS,
                "There were no errors among {n_classes:,} classes, so ranks do not show where accuracy begins to fall"
                + ("; the result rests on the scores." if task.has_scores else "; only the lower limit holds."),
                n_classes=round(task.n_classes * task.classes_each),
            )
        )
    elif wrong < 9.5:
        notes.append(
            Note(
                FEW_ERRORS,
                "Only {wrong:.0f} of {n_cases:,} cases were not clearly recognised; the result rests on those few.",
                wrong=wrong,
                n_cases=task.n_cases,
            )
        )
    backwards = float(np.mean((beaten == 0) & (tied == 0)))
    if (
        competitors > 1
        and backwards > max(whole.last_accuracy, 2.0 / task.n_classes)
        and beaten.mean() < competitors / 2
    ):
        notes.append(
            Note(
                UPSIDE_DOWN,
                "The true class scored lowest in {share:.0%} of the cases, as if the scale were upside down: set "
                "'distance' if these are distances, and leave it out if they are similarities.",
                share=backwards,
            )
        )
    elif competitors > 1 and task.n_cases >= 20 and abs(float((beaten + tied / 2).mean()) / competitors - 0.5) < 0.02:
        notes.append(
            Note(
                UPSIDE_DOWN,
                "The true class scores no better than a random one: check that the labels belong to these rows and "
                "that the columns are in the order of the classes.",
            )
        )
    share = float(tied.mean()) / competitors
    if share > _MANY_TIES:
        notes.append(
            Note(
                TIES,
                "{share:.1%} of the comparisons are ties, broken by ties={rule!r}; the result depends on that rule.",
                share=share,
                rule=task.ties,
            )
        )
    return notes


def _note_on_few(task: ObservedTask, method: str) -> list[Note]:
    """A method that no back-test stands behind, because there were too few classes (or families) for one."""
    if task.n_classes >= FEWEST_CLASSES or isinstance(task, CurveTask):
        return []
    return [
        Note(
            FEW_CLASSES,
            "{n} {units} are too few for a back-test: {method!r} was used untested, and the interval holds for any "
            "method.",
            n=task.n_classes,
            units="families" if task.classes_each > 1.0 else "classes",
            method=method,
        )
    ]


def _no_scores(task: ObservedTask, method: Method) -> InputError:
    """Why a method on scores has none to read."""
    if isinstance(task, ScoreTask):
        return InputError(
            "method",
            f"{method.name!r} needs finite scores",
            "replace ±inf or use a rank method such as 'probit_normal'",
        )
    return InputError(
        "method",
        f"{method.name!r} needs the scores themselves",
        "use a rank method such as 'probit_normal' or give scores",
    )

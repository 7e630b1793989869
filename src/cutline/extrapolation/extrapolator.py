"""The two doors: `extrapolate` in one call, `AccuracyExtrapolator` with fit and predict behind it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..validate import RULES, checked, one_of
from .backtest import BacktestRow, back_test, blend_of, weigh
from .blend import Blend
from .bootstrap import replicate_fits
from .caveats import caveats, classes_tested, no_scores
from .comparisons import Metric
from .evidence import Evidence, Source
from .favorability import Favorability
from .inputs import from_accuracies, from_embeddings, from_scores, from_wins
from .method import Method, every_method, find_method
from .moments import Floats
from .observed import Observed
from .result import Extrapolation
from .score_source import ScoreSource
from .wins import TIE_RULES
from .wins_source import WinsSource

# Asked for nothing in particular: how many times the classes that were seen.
_TIMES = (2, 5, 10)
# The paper's own spline takes no part in `auto`: `mixture` is the same model with its missing constraint.
_NOT_IN_AUTO = ("spline",)


class AccuracyExtrapolator:
    """Predicts accuracy among more classes from a task with fewer, after Zheng, Achanta & Benjamini.

    Parameters
    ----------
    method
        ``"auto"`` weighs all methods by a back-test; or one by name: ``spline``, ``mixture``, ``gaussian``,
        ``probit_normal``, ``kde``, ``kde_unbiased``, ``pitman_yor``, ``exponential``, ``tail``; or an object.
    ties
        ``"random"`` (a tie is won by chance), ``"optimistic"`` (the paper: a tie is a win) or ``"pessimistic"``.
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
        if not 0.0 < level < 1.0:
            raise InputError(f"level: {level:g} is no confidence level; give a number between 0 and 1, such as 0.95")
        if n_resamples < 2:
            raise InputError(f"n_resamples: {n_resamples} resamples have no spread; give 2 or more, or interval=False")
        self.method = method if method == "auto" else find_method(method)
        self.ties = ties
        self.interval = interval
        self.level = level
        self.n_resamples = n_resamples
        self.marginal = marginal
        self.seed = seed
        self.n_jobs = n_jobs
        self.progress = progress
        self._result: Extrapolation | None = None

    def fit(
        self, scores: Any, labels: Any = None, *, classes: Any = None, distance: bool = False
    ) -> AccuracyExtrapolator:
        """From scores of test cases (rows) for all classes (columns); ``distance=True`` where small is near."""
        return self._fit(from_scores(scores, labels, classes=classes, distance=distance, ties=self.ties))

    def fit_embeddings(
        self,
        gallery: Any,
        probes: Any,
        *,
        gallery_labels: Any = None,
        probe_labels: Any = None,
        metric: Metric = "euclidean",
        distance: bool | None = None,
    ) -> AccuracyExtrapolator:
        """From one embedding per class and probes, compared in blocks: 20,000 classes fit in memory."""
        return self._fit(
            from_embeddings(
                gallery,
                probes,
                gallery_labels=gallery_labels,
                probe_labels=probe_labels,
                metric=metric,
                distance=distance,
                ties=self.ties,
            )
        )

    def fit_wins(
        self, wins: Any, *, n_classes: int | None, tied: Any = None, labels: Any = None
    ) -> AccuracyExtrapolator:
        """From the number of distractors that each case's right class beats, and ties."""
        return self._fit(from_wins(wins, n_classes=n_classes, tied=tied, labels=labels, ties=self.ties))

    def fit_accuracies(self, accuracies: Any) -> AccuracyExtrapolator:
        """From known pairs (number of classes, accuracy)."""
        return self._fit(from_accuracies(accuracies))

    def predict(self, k: ArrayLike) -> Floats:
        """Expected accuracy at each number of classes."""
        return self.result.predict(k)

    @property
    def result(self) -> Extrapolation:
        """The fitted :class:`Extrapolation`."""
        if self._result is None:
            raise InputError(
                "AccuracyExtrapolator: not fitted yet; call fit, fit_embeddings, fit_wins or fit_accuracies"
            )
        return self._result

    def _fit(self, source: Source, k: tuple[int, ...] | None = None) -> AccuracyExtrapolator:
        if k is None:
            k = tuple(times * source.n_classes for times in _TIMES)
        whole = source.whole()
        notes = caveats(source, whole, self.marginal)
        chosen, rows, fits, weights = self._choose(source, whole, notes)
        replicates: list[Favorability] = []
        if self.interval:
            replicates = replicate_fits(
                source, chosen, self.n_resamples, self.seed, n_jobs=self.n_jobs, show=self.progress
            )
            if not replicates:
                notes.append("No interval: accuracies alone do not say how many cases and classes stand behind them.")
        favorability = chosen.fit(whole) if not isinstance(chosen, Blend) else _mix(chosen, fits)
        self._result = Extrapolation(
            n_classes=source.n_classes,
            n_cases=source.n_cases,
            observed=_observed(source, whole, self.level, self.interval),
            method=chosen.name,
            favorability=favorability,
            fits=fits,
            weights=weights,
            backtest=rows,
            replicates=tuple(replicates),
            k=k,
            level=self.level,
            general_notes=tuple(notes),
            n_tested=classes_tested(source),
        )
        return self

    def _choose(
        self, source: Source, whole: Evidence, notes: list[str]
    ) -> tuple[Method, tuple[BacktestRow, ...], dict[str, Favorability], dict[str, float]]:
        """The method to use, the back-test, every method's fit to the whole, and the weights of the chosen."""
        usable = {
            name: method
            for name, method in every_method().items()
            if name not in _NOT_IN_AUTO and (source.has_scores or not method.needs_scores)
        }
        if isinstance(self.method, str):
            rows = weigh(back_test(source, usable, self.seed, show=self.progress))
            chosen = blend_of(rows)
            if chosen is None:
                chosen = usable["probit_normal"]
                notes.append(
                    f"{source.n_classes} classes are too few for a back-test: 'probit_normal' was taken unseen."
                )
            others = _fit_best(rows, whole)
        else:
            rows = ()
            chosen = self._settle(source, self.method, whole)
            others = _fit_all(usable, whole)
        if isinstance(chosen, Blend):
            weights = dict(zip((member.name for member in chosen.members), chosen.weights, strict=True))
        else:
            others = {chosen.name: chosen.fit(whole)} | others
            weights = {chosen.name: 1.0}
        return chosen, rows, others, weights

    def _settle(self, source: Source, method: Method, whole: Evidence) -> Method:
        """A named method with its best setting, by the back-test where there is something to choose."""
        if method.needs_scores and whole.scores is None:
            raise InputError(no_scores(source, method))
        options = method.variants()
        if len(options) == 1:
            return options[0]
        rows = back_test(source, {method.name: method}, self.seed, show=self.progress)
        best = min(rows, key=lambda row: row.risk)
        return best.method if np.isfinite(best.risk) else options[0]


@checked(ties=one_of(*TIE_RULES), interval=RULES["marginal"])
def extrapolate(
    scores: Any = None,
    labels: Any = None,
    *,
    k: int | Iterable[int] | None = None,
    method: str | Method = "auto",
    ties: str = "random",
    interval: bool = True,
    level: float = 0.95,
    n_resamples: int = 100,
    seed: int = 0,
    classes: Any = None,
    distance: bool | None = None,
    gallery: Any = None,
    probes: Any = None,
    gallery_labels: Any = None,
    metric: Metric = "euclidean",
    wins: Any = None,
    tied: Any = None,
    n_classes: int | None = None,
    accuracies: Any = None,
    marginal: bool = True,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Extrapolation:
    """A recogniser was tested among ``k1`` classes; what will its accuracy be among more?

    Give one of: ``scores`` (cases × classes) with ``labels``; ``gallery`` and ``probes`` (embeddings, probe labels in
    ``labels``); ``wins`` (distractors beaten per case, ``tied`` beside it) with ``n_classes``; ``accuracies`` (pairs).

    ``k`` are the numbers of classes to print; by default 2, 5 and 10 times those seen. Any other is ``ex.accuracy(k)``.

    ``AGA_k = E[U^(k−1)]``, where ``U`` is the chance that the right class outscores one random competitor (Zheng,
    Achanta & Benjamini, Theorem 2): the distribution of ``U`` is estimated by ``method`` and read at every ``k``.

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
    given = {"scores": scores, "gallery": gallery, "wins": wins, "accuracies": accuracies}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        found = "none" if not named else " and ".join(named)
        raise InputError(
            f"extrapolate: give exactly one of scores, gallery with probes, wins, accuracies; found {found}"
        )
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
    source: Source
    if scores is not None:
        source = from_scores(scores, labels, classes=classes, distance=bool(distance), ties=ties)
    elif gallery is not None:
        if probes is None:
            raise InputError("probes: missing; a gallery needs probes to be recognised")
        source = from_embeddings(
            gallery,
            probes,
            gallery_labels=gallery_labels,
            probe_labels=labels,
            metric=metric,
            distance=distance,
            ties=ties,
        )
    elif wins is not None:
        source = from_wins(wins, n_classes=n_classes, tied=tied, labels=labels, ties=ties)
    else:
        source = from_accuracies(accuracies)
    return model._fit(source, _asked(k)).result


def _asked(k: int | Iterable[int] | None) -> tuple[int, ...] | None:
    if k is None:
        return None
    asked = [k] if isinstance(k, int | np.integer) else list(k)
    for value in asked:
        if value != int(value) or value < 1:
            raise InputError(f"k: {value} is no number of classes; give whole numbers of 1 or more")
    return tuple(int(value) for value in asked)


def _fit_best(rows: tuple[BacktestRow, ...], whole: Evidence) -> dict[str, Favorability]:
    """The best variant of every family fitted to everything, refuted ones too: the plot shows them."""
    best: dict[str, BacktestRow] = {}
    for row in rows:
        if np.isfinite(row.risk) and (row.family not in best or row.risk < best[row.family].risk):
            best[row.family] = row
    return {row.name: row.method.fit(whole) for row in best.values()}


def _fit_all(methods: dict[str, Method], whole: Evidence) -> dict[str, Favorability]:
    fits = {}
    for method in methods.values():
        try:
            fits[method.name] = method.fit(whole)
        except InputError:
            # A method that cannot read these data has no answer to compare with the chosen one.
            continue
    return fits


def _mix(blend: Blend, fits: dict[str, Favorability]) -> Favorability:
    from .blend import mix

    return mix([fits[member.name] for member in blend.members], blend.weights)


def _observed(source: Source, whole: Evidence, level: float, interval: bool) -> Observed:
    k, accuracy = whole.curve
    error, how = source.standard_error(k) if interval else (np.full(k.size, np.nan), "")
    ranks = None
    if isinstance(source, ScoreSource | WinsSource):
        beaten, tied = source.wins()
        lost_ties = {"random": 0.5, "optimistic": 0.0, "pessimistic": 1.0}[source.ties]
        ranks = source.n_classes - beaten - tied + lost_ties * tied
    return Observed(k, accuracy, error, how, level, classes_tested(source), ranks)

"""Tests and intervals that fit the model again: training labels permuted, and out-of-bag bootstrap.

Estimators are whatever has ``fit`` and one of ``predict_proba``, ``decision_function`` and ``predict``. Each fit takes
an unfitted copy, and draws from a generator of its own number, so that results do not depend on ``n_jobs``.
"""

from __future__ import annotations

import copy
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..catalogue.class_compute import ClassTotals
from ..catalogue.classes import ClassSpec, parse_class_measure, why_inapplicable_to_classes
from ..catalogue.declare import Measure, Spec
from ..class_sample import codes_of, make_class_sample
from ..errors import InputError, UndefinedWarning, different_lengths, listed, look_up, show
from ..estimate import Estimate, Interval
from ..progress import Progress
from ..sources.arrays import as_column, read_labels
from ..tuning import TUNING
from ..types import Estimator, Label, Labels
from ..validate import checked
from .permutation import (
    Better,
    PermutationTest,
    Statistic,
    apply,
    as_statistic,
    label_permutation_test,
    refuse_undefined,
)

__all__ = ["OutOfBag", "PermutationTest", "bootstrap_oob", "label_permutation_test", "permutation_test"]


@dataclass(frozen=True, eq=False, repr=False)
class OutOfBag:
    """Values of a measure on out-of-bag cases, one for each refitted model, and their percentile interval.

    ``values`` is nan if a replicate has no value; ``undefined`` counts these. ``one_class_bags`` counts bootstrap sets
    with a single class, on which nothing is fitted; ``one_class_oob`` counts out-of-bag sets with a single class or no
    cases.
    """

    measure: str
    values: NDArray[np.float64]
    low: float
    high: float
    level: float
    one_class_bags: int
    one_class_oob: int
    seed: int

    @property
    def value(self) -> float:
        """Mean over the replicates that have a value."""
        return float(np.nanmean(self.values))

    @property
    def undefined(self) -> int:
        """Replicates without a value; they are left out of the mean and the interval."""
        return int(np.isnan(self.values).sum())

    @property
    def n_resamples(self) -> int:
        """How many replicates were drawn."""
        return len(self.values)

    @property
    def interval(self) -> Interval:
        """The interval as a pair."""
        return Interval(self.low, self.high)

    @property
    def estimate(self) -> Estimate:
        """Mean and interval as an :class:`Estimate`."""
        return Estimate(self.measure, self.value, self.low, self.high, self.level, "oob_percentile", "", self.undefined)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "measure": self.measure,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "n_resamples": self.n_resamples,
            "undefined": self.undefined,
            "one_class_bags": self.one_class_bags,
            "one_class_oob": self.one_class_oob,
            "seed": self.seed,
            "values": self.values.tolist(),
        }

    def __repr__(self) -> str:
        left = f", {self.undefined} undefined" if self.undefined else ""
        return (
            f"OutOfBag({self.measure}={self.value:.6g} [{self.low:.6g}, {self.high:.6g}] {self.level:.0%}, "
            f"{self.n_resamples} refits{left})"
        )

    def _repr_html_(self) -> str:
        from ..present.notebook import spread_html

        return spread_html(self.values, self.value, self.measure, repr(self))


@dataclass(frozen=True, eq=False)
class _TwoClasses:
    """How to read measures from a model of two classes: scores of the positive one, as booleans and numbers."""

    positive_label: Any
    pos_label: Label
    statistics: tuple[Statistic, ...]
    names: tuple[str, ...]

    def truth(self, labels: NDArray[Any], argument: str) -> NDArray[Any]:
        return read_labels(labels, argument, self.pos_label)[1]

    def values(self, model: Any, x: Any, truth: NDArray[np.bool_], fitted_on: NDArray[Any]) -> list[float]:
        score, boundary = _scores(model, x, self.positive_label, fitted_on)
        found = []
        for statistic in self.statistics:
            if isinstance(statistic, Spec) and statistic.measure.needs_threshold and statistic.threshold is None:
                statistic = replace(statistic, threshold=boundary)
            found.append(apply(statistic, truth, score))
        return found


@dataclass(frozen=True, eq=False)
class _SeveralClasses:
    """How to read measures from a model of several classes: a column of scores for each, or its predictions."""

    classes: tuple[Any, ...]
    specs: tuple[ClassSpec, ...]
    names: tuple[str, ...]

    def truth(self, labels: NDArray[Any], argument: str) -> NDArray[Any]:
        return codes_of(labels, self.classes, argument)

    def values(self, model: Any, x: Any, truth: NDArray[Any], fitted_on: NDArray[Any]) -> list[float]:
        numbers = range(len(self.classes))
        scores, said = _class_scores(model, x, self.classes, fitted_on)
        sample = make_class_sample(truth, scores, y_pred=said, classes=numbers)
        possible = [spec for spec in self.specs if not why_inapplicable_to_classes(spec, sample)]
        values = ClassTotals(sample).values(possible)
        return [values.get(spec, float("nan")) for spec in self.specs]


@dataclass(frozen=True, eq=False)
class _Learner:
    """An estimator and how its copies are read."""

    estimator: Estimator
    reader: _TwoClasses | _SeveralClasses
    seed: int

    def values(self, rng: np.random.Generator, x: Any, labels: Any, x_test: Any, truth: NDArray[Any]) -> list[float]:
        """Fit a copy, score the test rows, read every measure."""
        model = _seeded(_unfitted(self.estimator), rng)
        model.fit(x, labels)
        return self.reader.values(model, x_test, truth, labels)

    def generator(self, check_number: int) -> np.random.Generator:
        """The generator of one replicate; number 0 is the model on the labels as they are."""
        return np.random.default_rng([self.seed, check_number])


def _reader(
    labels: NDArray[Any], pos_label: Label, measure: Any, better: str | None, argument: str, default: str
) -> tuple[_TwoClasses | _SeveralClasses, dict[str, Better]]:
    """How measures are read from models of these labels, and which way each is better."""
    try:
        distinct = {label for label in labels.tolist() if label is not None and label == label}
        several = pos_label is None and len(distinct) > 2
    except TypeError:
        several = False
    if measure is None:
        measure = "accuracy" if several else default
    wanted = list(measure) if isinstance(measure, list | tuple) else [measure]
    if not wanted:
        raise InputError("measure", "is empty", "name at least one")
    if not several:
        _, positive = read_labels(labels, argument, pos_label)
        if _one_class(positive):
            only = "permute" if argument == "y_train" else "learn"
            raise InputError(argument, f"holds a single class, so there is nothing to {only}")
        made = [as_statistic(one, better) for one in wanted]
        names = tuple(name for _, name, _ in made)
        statistics = tuple(statistic for statistic, _, _ in made)
        return _TwoClasses(labels[positive][0], pos_label, statistics, names), {name: way for _, name, way in made}
    classes = tuple(sorted(distinct, key=lambda v: (str(type(v)), v)))
    codes_of(labels, classes, argument)  # refuses labels that are missing
    for one in wanted:
        if callable(one):
            raise InputError("measure", "is a function, which reads two classes", "name measures of several classes")
    specs = tuple(dict.fromkeys(parse_class_measure(one) for one in wanted))
    ordered = next((spec for spec in specs if spec.ordered), None)
    if ordered is not None and any(isinstance(label, str) for label in classes):
        said = f"holds {ordered}, which reads the order of the classes, and words have none"
        raise InputError("measure", said, "number the classes in their order")
    return _SeveralClasses(classes, specs, tuple(map(str, specs))), {str(spec): spec.better for spec in specs}


def _class_scores(
    model: Any, x: Any, classes: tuple[Any, ...], labels: NDArray[Any]
) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Scores with a column for each class, or the number of each predicted class where there are no scores.

    A class that the model has not seen gets the lowest score: probability 0, or −∞.
    """
    known = list(getattr(model, "classes_", np.unique(labels)))
    place = {label: k for k, label in enumerate(classes)}
    for answer, lowest in (("predict_proba", 0.0), ("decision_function", -np.inf)):
        if hasattr(model, answer):
            given = np.asarray(getattr(model, answer)(x), dtype=np.float64)
            if given.ndim == 1:  # two classes were seen: a signed distance to the second
                given = np.column_stack([-given, given])
            if given.shape[1] != len(known):
                continue  # one column for each pair of classes: the predictions say more
            scores = np.full((len(given), len(classes)), lowest)
            for column, label in enumerate(known):
                scores[:, look_up(place, label, "a class of the estimator")] = given[:, column]
            return scores, None
    said = np.asarray(model.predict(x)).tolist()
    return None, np.array([look_up(place, label, "a class of the estimator") for label in said])


def _unfitted(estimator: Estimator) -> Any:
    """scikit-learn's own way to copy its estimators, where they are in use; else a deep copy."""
    base = sys.modules.get("sklearn.base")
    if base is not None and isinstance(estimator, base.BaseEstimator):
        return base.clone(estimator)
    return copy.deepcopy(estimator)


def _seeded(model: Any, rng: np.random.Generator) -> Any:
    """Give a seed to every ``random_state`` that was left open, so that a result can be made again."""
    if hasattr(model, "get_params") and hasattr(model, "set_params"):
        names = [
            name
            for name, value in model.get_params().items()
            if value is None and (name == "random_state" or name.endswith("__random_state"))
        ]
        if names:
            model.set_params(**{name: int(rng.integers(2**31 - 1)) for name in sorted(names)})
    return model


def _scores(model: Any, x: Any, positive_label: Any, labels: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """Scores for the positive class, and the model's own boundary between the classes on their scale."""
    classes = list(getattr(model, "classes_", np.unique(labels)))
    if positive_label not in classes:
        said = f"does not know the class {show(positive_label)}: it was fitted to {listed(classes)}"
        raise InputError("estimator", said, "fit it to rows of both classes")
    at = classes.index(positive_label)
    if hasattr(model, "predict_proba"):
        return np.ascontiguousarray(np.asarray(model.predict_proba(x))[:, at]), 0.5
    if hasattr(model, "decision_function"):
        distance = np.asarray(model.decision_function(x))
        if distance.ndim == 1:
            return (distance if at == 1 else -distance), 0.0
        return np.ascontiguousarray(distance[:, at]), 0.0
    return (np.asarray(model.predict(x)) == positive_label).astype(np.float64), 0.5


def _length(x: Any, name: str) -> int:
    try:
        return int(x.shape[0]) if hasattr(x, "shape") else len(x)
    except (IndexError, TypeError):  # an array of no dimensions, and what has no rows at all
        raise InputError(name, f"is {show(x)}", "pass a table, an array or a list of rows") from None


def _take(x: Any, rows: NDArray[np.intp]) -> Any:
    """Rows of an array, a sparse matrix, a list, or a table."""
    if hasattr(x, "iloc"):
        return x.iloc[rows]
    return x[rows] if hasattr(x, "shape") else np.asarray(x)[rows]


def _same_length(x: Any, y: NDArray[Any], x_name: str, y_name: str) -> None:
    if (rows := _length(x, x_name)) != len(y):
        raise different_lengths(x_name, rows, y_name, len(y))


def _check_estimator(estimator: Estimator) -> None:
    answers = ("predict_proba", "decision_function", "predict")
    if not hasattr(estimator, "fit") or not any(hasattr(estimator, a) for a in answers):
        said = f"is of type {type(estimator).__name__}, which cannot be fitted"
        raise InputError("estimator", said, f"pass one that has fit and one of {', '.join(answers)}")


def _jobs(n_jobs: int) -> int:
    from ..threads import cores

    return n_jobs if n_jobs > 0 else max(1, cores() + 1 + int(n_jobs))


def _batches(
    job: Callable[[int, int], list[Any]], first: int, last: int, n_jobs: int, seconds_each: float
) -> Iterator[list[Any]]:
    """Results of replicates first … last−1, batch by batch in order: here, in joblib's processes, or in threads."""
    total = last - first
    n_jobs = min(n_jobs, total)
    if n_jobs == 1 or total * seconds_each < TUNING.worth_processes:
        yield from (job(i, i + 1) for i in range(first, last))
        return
    step = max(1, min(total // (8 * n_jobs), int(1.0 / max(seconds_each, 1e-6))))
    spans = [(i, min(i + step, last)) for i in range(first, last, step)]
    try:
        import joblib  # type: ignore[import-untyped]
    except ImportError:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(n_jobs) as pool:
            futures = [pool.submit(job, *span) for span in spans]
            try:
                for future in futures:
                    yield future.result()
            finally:  # after an error or an interrupt, nothing more is started
                for future in futures:
                    future.cancel()
        return
    yield from joblib.Parallel(n_jobs=n_jobs, return_as="generator")(joblib.delayed(job)(*span) for span in spans)


@dataclass(frozen=True, eq=False)
class _Permuting:
    """What a process needs to fit on permuted training labels."""

    learner: _Learner
    x_train: Any
    labels: NDArray[Any]
    x_test: Any
    truth: NDArray[Any]

    def __call__(self, first: int, last: int) -> list[list[float]]:
        values = []
        for i in range(first, last):
            rng = self.learner.generator(i + 1)
            shuffled = rng.permutation(self.labels)
            values.append(self.learner.values(rng, self.x_train, shuffled, self.x_test, self.truth))
        return values


@overload
def permutation_test(
    estimator: Estimator,
    X_train: Any,
    y_train: Labels,
    X_test: Any,
    y_test: Labels,
    *,
    measure: list[Any] | tuple[Any, ...],
    pos_label: Label = None,
    n_permutations: int = 10_000,
    better: str | None = None,
    n_jobs: int = -1,
    seed: int = 0,
    progress: bool | None = None,
) -> dict[str, PermutationTest]: ...
@overload
def permutation_test(
    estimator: Estimator,
    X_train: Any,
    y_train: Labels,
    X_test: Any,
    y_test: Labels,
    *,
    measure: str | Spec | Measure | ClassSpec | Callable[..., float] | None = None,
    pos_label: Label = None,
    n_permutations: int = 10_000,
    better: str | None = None,
    n_jobs: int = -1,
    seed: int = 0,
    progress: bool | None = None,
) -> PermutationTest: ...
@checked
def permutation_test(
    estimator: Estimator,
    X_train: Any,
    y_train: Labels,
    X_test: Any,
    y_test: Labels,
    *,
    measure: Any = None,
    pos_label: Label = None,
    n_permutations: int = 10_000,
    better: str | None = None,
    n_jobs: int = -1,
    seed: int = 0,
    progress: bool | None = None,
) -> Any:
    """Is there anything to learn? Permutes the training labels, refits, and scores the same test set each time.

    Under the null hypothesis, labels and attributes are unrelated, so all permutations of the labels are equally
    likely. ``p_value`` = (b + 1)/(m + 1), ``p_value_raw`` = b/m, where b of the m refitted models are at least as good
    as the original one (Berrar section 5.1; Phipson & Smyth 2010).

    ``estimator`` has ``fit`` and one of ``predict_proba``, ``decision_function``, ``predict``; measures at a threshold
    cut at its own boundary (0.5; 0 for a decision function) unless the measure string names another. ``measure`` may
    also be a function of ``(y_true, y_score)``, with ``better="lower"`` if it is a loss. A list of measures shares the
    refits and gives a dict of results by name; by default it is the recall. Labels of more than two classes (and no
    ``pos_label``) take measures of several classes, such as ``macro(f1)``; by default it is the accuracy. A
    ``random_state`` left open is seeded for each fit.

    >>> class Nearest:
    ...     def fit(self, x, y):
    ...         self.x, self.y = x, y
    ...     def predict(self, x):
    ...         return self.y[abs(x[:, None] - self.x).argmin(axis=1)]
    >>> x = np.linspace(0, 1, 40)
    >>> y = (x > 0.5).astype(int)
    >>> test = permutation_test(Nearest(), x[::2], y[::2], x[1::2], y[1::2], measure="accuracy", n_permutations=199)
    >>> test.observed, test.p_value
    (0.95, 0.005)
    """
    m, jobs = n_permutations, _jobs(n_jobs)
    _check_estimator(estimator)
    labels, tested = as_column(y_train, "y_train"), as_column(y_test, "y_test")
    _same_length(X_train, labels, "X_train", "y_train")
    _same_length(X_test, tested, "X_test", "y_test")
    reader, ways = _reader(labels, pos_label, measure, better, "y_train", "recall")
    truth = reader.truth(tested, "y_test")
    learner = _Learner(estimator, reader, seed)
    begun = time.perf_counter()
    observed = dict(zip(ways, learner.values(learner.generator(0), X_train, labels, X_test, truth), strict=True))
    seconds = time.perf_counter() - begun
    for name, value in observed.items():
        if value != value:
            raise InputError("measure", f"{name} has no value on the test set (0/0), so there is nothing to test")
    null = np.full((m, len(observed)), np.nan)
    done = 0
    with Progress("permutations", m, progress) as shown:
        for values in _batches(_Permuting(learner, X_train, labels, X_test, truth), 0, m, jobs, seconds):
            null[done : done + len(values)] = values
            done += len(values)
            shown.advance(len(values))
    made = {}
    for at, (name, way) in enumerate(ways.items()):
        refuse_undefined(null[:, at], name, "0/0 on the test set, as when nothing is predicted positive")
        made[name] = PermutationTest(name, way, observed[name], null[:, at], "training labels", seed)
    return made if isinstance(measure, list | tuple) else next(iter(made.values()))


@dataclass(frozen=True, eq=False)
class _Bagging:
    """What a process needs to fit on bootstrap sets and score the cases outside them."""

    learner: _Learner
    x: Any
    labels: NDArray[Any]
    truth: NDArray[Any]

    def __call__(self, first: int, last: int) -> list[tuple[list[float], bool, bool]]:
        """Values, whether the bag held one class, whether the cases outside it did (or none was outside)."""
        return [self.replicate(i) for i in range(first, last)]

    def replicate(self, i: int) -> tuple[list[float], bool, bool]:
        """One bootstrap set and what lies outside it, by row number: equal rows are different cases."""
        rng = self.learner.generator(i)
        n = len(self.labels)
        bag = rng.integers(n, size=n)
        inside = np.zeros(n, dtype=np.bool_)
        inside[bag] = True
        outside = np.flatnonzero(~inside)
        single_bag, single_out = _one_class(self.truth[bag]), _one_class(self.truth[outside])
        if single_bag or not len(outside):
            return [float("nan")] * len(self.learner.reader.names), single_bag, single_out
        found = self.learner.values(
            rng, _take(self.x, bag), self.labels[bag], _take(self.x, outside), self.truth[outside]
        )
        return found, single_bag, single_out


def _one_class(truth: NDArray[Any]) -> bool:
    return not len(truth) or bool((truth == truth[0]).all())


@overload
def bootstrap_oob(
    estimator: Estimator,
    X: Any,
    y: Labels,
    *,
    measure: list[Any] | tuple[Any, ...],
    pos_label: Label = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    n_jobs: int = -1,
    seed: int = 0,
    progress: bool | None = None,
) -> dict[str, OutOfBag]: ...
@overload
def bootstrap_oob(
    estimator: Estimator,
    X: Any,
    y: Labels,
    *,
    measure: str | Spec | Measure | ClassSpec | Callable[..., float] | None = None,
    pos_label: Label = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    n_jobs: int = -1,
    seed: int = 0,
    progress: bool | None = None,
) -> OutOfBag: ...
@checked
def bootstrap_oob(
    estimator: Estimator,
    X: Any,
    y: Labels,
    *,
    measure: Any = None,
    pos_label: Label = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    n_jobs: int = -1,
    seed: int = 0,
    progress: bool | None = None,
) -> Any:
    """Percentile interval of a measure over models fitted on bootstrap sets and scored on the cases left out of them.

    Bootstrap set i draws n of the n cases with replacement; the model fitted on it scores the cases whose row number
    was not drawn; the interval runs from the (1−level)/2 to the (1+level)/2 quantile of the values, interpolated
    linearly (Berrar Def. 38). It includes the variation from training and from testing, for models fitted on about 63 %
    of the distinct cases. Replicates without a value (a class is missing) are left out, counted, and reported in a
    warning.

    Estimators, measures (one, or a list that shares the refits; by default ``roc_auc``, of several classes the
    accuracy) and boundaries as in :func:`permutation_test`.

    >>> class Nearest:
    ...     def fit(self, x, y):
    ...         self.middle = [x[y == c].mean() for c in (0, 1)]
    ...     def decision_function(self, x):
    ...         return abs(x - self.middle[0]) - abs(x - self.middle[1])
    >>> x = np.linspace(0, 1, 40)
    >>> oob = bootstrap_oob(Nearest(), x, (x > 0.5).astype(int), n_resamples=50, n_jobs=1)
    >>> oob.value, oob.undefined
    (1.0, 0)
    """
    b, jobs = n_resamples, _jobs(n_jobs)
    _check_estimator(estimator)
    labels = as_column(y, "y")
    _same_length(X, labels, "X", "y")
    reader, ways = _reader(labels, pos_label, measure, None, "y", "roc_auc")
    job = _Bagging(_Learner(estimator, reader, seed), X, labels, reader.truth(labels, "y"))
    with Progress("out-of-bag bootstrap", b, progress) as shown:
        begun = time.perf_counter()
        results = job(0, 1)
        shown.advance()
        for batch in _batches(job, 1, b, jobs, time.perf_counter() - begun):
            results += batch
            shown.advance(len(batch))
    drawn = np.array([values for values, _, _ in results])
    bags, outs = sum(single for _, single, _ in results), sum(single for _, _, single in results)
    made = {}
    for at, name in enumerate(ways):
        values = np.ascontiguousarray(drawn[:, at])
        kept = values[~np.isnan(values)]
        if len(kept) < 2:
            raise InputError(
                "measure",
                f"{name} has a value in {len(kept)} of {b} replicates ({bags} bags of one class)",
                "add cases",
            )
        if len(kept) < b:
            warnings.warn(
                f"{name} is undefined in {b - len(kept)} of {b} replicates, which are left out: {bags} bags and {outs} "
                "out-of-bag sets hold a single class",
                UndefinedWarning,
                stacklevel=2,
            )
        low, high = np.quantile(kept, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        made[name] = OutOfBag(name, values, float(low), float(high), level, bags, outs, seed)
    return made if isinstance(measure, list | tuple) else next(iter(made.values()))

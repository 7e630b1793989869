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
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import Spec
from ..errors import InputError, UndefinedWarning
from ..estimate import Estimate, Interval
from ..progress import Progress
from ..sample import as_column, make_sample
from ..validate import checked
from .permutation import (
    PermutationTest,
    Statistic,
    apply,
    as_statistic,
    label_permutation_test,
    refuse_undefined,
)

__all__ = ["OutOfBag", "PermutationTest", "bootstrap_oob", "label_permutation_test", "permutation_test"]

_WORTH_PROCESSES = 2.0  # seconds of fitting below which starting processes costs more than it saves


@dataclass(frozen=True, eq=False, repr=False)
class OutOfBag:
    """Values of a measure on out-of-bag cases, one for each refitted model, and their percentile interval.

    ``values`` holds nan where a replicate has no value; ``undefined`` counts them. ``one_class_bags`` counts bootstrap
    sets that hold a single class, on which nothing is fitted; ``one_class_oob`` counts out-of-bag sets that hold a
    single class or nobody.
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
        """Replicates without a value; they take no part in mean and interval."""
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
        """Mean and interval in the form of every other estimate."""
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
class _Learner:
    """An estimator with the labels' meaning: how to fit a copy and read scores for the positive class from it."""

    estimator: Any
    positive_label: Any
    statistic: Statistic
    seed: int

    def value(self, rng: np.random.Generator, x: Any, labels: Any, x_test: Any, positive: NDArray[np.bool_]) -> float:
        """Fit a copy, score the test rows, read the statistic."""
        model = _seeded(_unfitted(self.estimator), rng)
        model.fit(x, labels)
        score, boundary = _scores(model, x_test, self.positive_label, labels)
        statistic = self.statistic
        if isinstance(statistic, Spec) and statistic.measure.needs_threshold and statistic.threshold is None:
            statistic = replace(statistic, threshold=boundary)
        return apply(statistic, positive, score)

    def generator(self, check_number: int) -> np.random.Generator:
        """The generator of one replicate; number 0 is the model on the labels as they are."""
        return np.random.default_rng([self.seed, check_number])


def _unfitted(estimator: Any) -> Any:
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
        raise InputError(f"the estimator does not know the class {positive_label!r}; its classes are {classes!r}")
    at = classes.index(positive_label)
    if hasattr(model, "predict_proba"):
        return np.ascontiguousarray(np.asarray(model.predict_proba(x))[:, at]), 0.5
    if hasattr(model, "decision_function"):
        distance = np.asarray(model.decision_function(x))
        if distance.ndim == 1:
            return (distance if at == 1 else -distance), 0.0
        return np.ascontiguousarray(distance[:, at]), 0.0
    return (np.asarray(model.predict(x)) == positive_label).astype(np.float64), 0.5


def _labels(y: Any, argument: str, pos_label: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Labels as they are, for the estimator, and as booleans."""
    labels = as_column(y, argument)
    try:
        return labels, make_sample(labels, np.zeros(len(labels)), pos_label=pos_label).positive
    except InputError as error:
        raise InputError(str(error).replace("y_true", argument)) from None


def _length(x: Any) -> int:
    return int(x.shape[0]) if hasattr(x, "shape") else len(x)


def _take(x: Any, rows: NDArray[np.intp]) -> Any:
    """Rows of an array, a sparse matrix, a list, or a table."""
    if hasattr(x, "iloc"):
        return x.iloc[rows]
    return x[rows] if hasattr(x, "shape") else np.asarray(x)[rows]


def _same_length(x: Any, y: NDArray[Any], x_name: str, y_name: str) -> None:
    if _length(x) != len(y):
        raise InputError(f"{x_name} has {_length(x)} rows but {y_name} has {len(y)}: pass one label for each case")


def _check_estimator(estimator: Any) -> None:
    answers = ("predict_proba", "decision_function", "predict")
    if not hasattr(estimator, "fit") or not any(hasattr(estimator, a) for a in answers):
        raise InputError(f"estimator must have fit and one of {', '.join(answers)}; got {type(estimator).__name__}")


def _jobs(n_jobs: int) -> int:
    from ..jit import cores

    return n_jobs if n_jobs > 0 else max(1, cores() + 1 + int(n_jobs))


def _batches(job: Callable[[int, int], list[Any]], total: int, n_jobs: int, seconds_each: float) -> Iterator[list[Any]]:
    """Results of replicates 0 … total−1, batch by batch in order: here, in joblib's processes, or in threads."""
    n_jobs = min(n_jobs, total)
    if n_jobs == 1 or total * seconds_each < _WORTH_PROCESSES:
        yield from (job(i, i + 1) for i in range(total))
        return
    step = max(1, min(total // (8 * n_jobs), int(1.0 / max(seconds_each, 1e-6))))
    spans = [(i, min(i + step, total)) for i in range(0, total, step)]
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
    positive: NDArray[np.bool_]

    def __call__(self, first: int, last: int) -> list[float]:
        values = []
        for i in range(first, last):
            rng = self.learner.generator(i + 1)
            shuffled = rng.permutation(self.labels)
            values.append(self.learner.value(rng, self.x_train, shuffled, self.x_test, self.positive))
        return values


@checked
def permutation_test(
    estimator: Any,
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any,
    *,
    measure: Any = "recall",
    pos_label: Any = None,
    n_permutations: int = 10_000,
    better: str | None = None,
    n_jobs: int = -1,
    seed: int = 0,
    progress: bool | None = None,
) -> PermutationTest:
    """Is there anything to learn? Permutes the training labels, refits, and scores the same test set each time.

    The null hypothesis is that labels and attributes have nothing to do with each other; then the labels as they are
    were as likely as any other order of them. ``p_value`` = (b + 1)/(m + 1), ``p_value_raw`` = b/m, where b of the m
    refitted models are at least as good as the one that was observed (Berrar section 5.1; Phipson & Smyth 2010).

    ``estimator`` has ``fit`` and one of ``predict_proba``, ``decision_function``, ``predict``; measures at a threshold
    cut at its own boundary (0.5; 0 for a decision function) unless the measure string names another. ``measure`` may
    also be a function of ``(y_true, y_score)``, with ``better="lower"`` if it is a loss. A ``random_state`` left open
    is seeded for each fit.

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
    statistic, name, direction = as_statistic(measure, better)
    m, jobs = n_permutations, _jobs(n_jobs)
    _check_estimator(estimator)
    labels, is_positive = _labels(y_train, "y_train", pos_label)
    _, positive = _labels(y_test, "y_test", pos_label)
    _same_length(X_train, labels, "X_train", "y_train")
    _same_length(X_test, positive, "X_test", "y_test")
    if is_positive.all() or not is_positive.any():
        raise InputError("y_train holds a single class, so there is nothing to permute")
    learner = _Learner(estimator, labels[is_positive][0], statistic, seed)
    begun = time.perf_counter()
    observed = learner.value(learner.generator(0), X_train, labels, X_test, positive)
    seconds = time.perf_counter() - begun
    if observed != observed:
        raise InputError(f"{name} has no value on the test set (0/0), so there is nothing to test")
    null = np.full(m, np.nan)
    done = 0
    with Progress("permutations", m, progress) as shown:
        for values in _batches(_Permuting(learner, X_train, labels, X_test, positive), m, jobs, seconds):
            null[done : done + len(values)] = values
            done += len(values)
            shown.advance(len(values))
    refuse_undefined(null, name, "0/0 on the test set, as when nothing is predicted positive")
    return PermutationTest(name, direction, observed, null, "training labels", seed)


@dataclass(frozen=True, eq=False)
class _Bagging:
    """What a process needs to fit on bootstrap sets and score the cases outside them."""

    learner: _Learner
    x: Any
    labels: NDArray[Any]
    positive: NDArray[np.bool_]

    def __call__(self, first: int, last: int) -> list[tuple[float, bool, bool]]:
        """Value, whether the bag held one class, whether the cases outside it did (or none was outside)."""
        return [self.replicate(i) for i in range(first, last)]

    def replicate(self, i: int) -> tuple[float, bool, bool]:
        """One bootstrap set and what lies outside it, by row number: equal rows are different cases."""
        rng = self.learner.generator(i)
        n = len(self.labels)
        bag = rng.integers(n, size=n)
        inside = np.zeros(n, dtype=np.bool_)
        inside[bag] = True
        outside = np.flatnonzero(~inside)
        single_bag, single_out = _one_class(self.positive[bag]), _one_class(self.positive[outside])
        if single_bag or not len(outside):
            return float("nan"), single_bag, single_out
        value = self.learner.value(
            rng, _take(self.x, bag), self.labels[bag], _take(self.x, outside), self.positive[outside]
        )
        return value, single_bag, single_out


def _one_class(positive: NDArray[np.bool_]) -> bool:
    return not len(positive) or bool(positive.all()) or not positive.any()


@checked
def bootstrap_oob(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    measure: Any = "roc_auc",
    pos_label: Any = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    n_jobs: int = -1,
    seed: int = 0,
    progress: bool | None = None,
) -> OutOfBag:
    """Percentile interval of a measure over models fitted on bootstrap sets and scored on the cases left out of them.

    Bootstrap set i draws n of the n cases with replacement; the model fitted on it scores the cases whose row number
    was not drawn; the interval runs from the (1−level)/2 to the (1+level)/2 quantile of the values, interpolated
    linearly (Berrar Def. 38). It holds the variation of both training and testing, for models fitted on some 63 % of
    the distinct cases. Replicates without a value (a class missing) are left out, counted, and warned of.

    Estimators, measures and boundaries as in :func:`permutation_test`.

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
    statistic, name, _ = as_statistic(measure, None)
    b, jobs = n_resamples, _jobs(n_jobs)
    _check_estimator(estimator)
    labels, positive = _labels(y, "y", pos_label)
    _same_length(X, labels, "X", "y")
    if _one_class(positive):
        raise InputError("y holds a single class, so there is nothing to learn")
    job = _Bagging(_Learner(estimator, labels[positive][0], statistic, seed), X, labels, positive)
    with Progress("out-of-bag bootstrap", b, progress) as shown:
        begun = time.perf_counter()
        results = job(0, 1)
        shown.advance()
        rest = partial(_shifted, job)
        for batch in _batches(rest, b - 1, jobs, time.perf_counter() - begun):
            results += batch
            shown.advance(len(batch))
    values = np.array([value for value, _, _ in results])
    bags, outs = sum(single for _, single, _ in results), sum(single for _, _, single in results)
    kept = values[~np.isnan(values)]
    if len(kept) < 2:
        raise InputError(f"{name} has a value in {len(kept)} of {b} replicates ({bags} bags of one class); add cases")
    if len(kept) < b:
        warnings.warn(
            f"{name} is undefined in {b - len(kept)} of {b} replicates, which are left out: {bags} bags and {outs} "
            "out-of-bag sets hold a single class",
            UndefinedWarning,
            stacklevel=2,
        )
    low, high = np.quantile(kept, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return OutOfBag(name, values, float(low), float(high), level, bags, outs, seed)


def _shifted(job: _Bagging, first: int, last: int) -> list[tuple[float, bool, bool]]:
    """Replicate 0 has been made already, to see how long one takes."""
    return job(first + 1, last + 1)

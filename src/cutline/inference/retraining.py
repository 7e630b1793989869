"""Tests and intervals that fit the model again: to permuted labels, and to bootstrap sets.

Estimators are whatever has ``fit`` and one of ``predict_proba``, ``decision_function`` and ``predict``. Each fit takes
an unfitted copy, and draws from a generator of its own number, so that results do not depend on ``n_jobs``.
"""

from __future__ import annotations

import copy
import re
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import compute_one
from ..catalogue.declare import Spec, parse_measure
from ..errors import InputError, UndefinedWarning, different_lengths, listed, show
from ..estimate import Estimate, Interval
from ..runtime import TUNING, Progress, cores
from ..sources.arrays import as_column, read_labels
from ..table import values_of
from ..types import Estimator, Label, Labels, MeasureLike
from ..validate import checked

_SAME = 1e-12  # values closer than this, relative to the observed one, are equal but for rounding


@dataclass(frozen=True, eq=False, repr=False)
class PermutationTest:
    """The observed value, and the values with permuted labels (``null``).

    ``p_value`` = (b + 1)/(m + 1), where b of the m permutations are at least as good as what was observed: it is never
    0, and valid for any m (Phipson & Smyth 2010). ``p_value_raw`` = b/m, as in Berrar section 5.1.
    """

    measure: str
    better: str
    observed: float
    null: NDArray[np.float64]
    seed: int

    @property
    def n_permutations(self) -> int:
        """How many permutations were made: m."""
        return len(self.null)

    @property
    def at_least_as_good(self) -> int:
        """Permutations at least as good as the observed value: b. Ties count, including those hidden by rounding."""
        slack = _SAME * max(1.0, abs(self.observed)) if np.isfinite(self.observed) else 0.0
        if self.better == "higher":
            return int(np.count_nonzero(self.null >= self.observed - slack))
        return int(np.count_nonzero(self.null <= self.observed + slack))

    @property
    def p_value(self) -> float:
        """(b + 1)/(m + 1)."""
        return (self.at_least_as_good + 1) / (self.n_permutations + 1)

    @property
    def p_value_raw(self) -> float:
        """b/m, which can be 0."""
        return self.at_least_as_good / self.n_permutations

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        names = ("measure", "better", "observed", "p_value", "p_value_raw", "at_least_as_good", "n_permutations")
        return {**values_of(self, *names, "seed"), "null": self.null.tolist()}

    def __repr__(self) -> str:
        return (
            f"PermutationTest({self.measure}={self.observed:.6g}, p={self.p_value:.3g}: {self.at_least_as_good} of "
            f"{self.n_permutations} permutations of the training labels are at least as good)"
        )


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
        names = ("measure", "value", "low", "high", "level", "n_resamples", "undefined", "one_class_bags")
        return {**values_of(self, *names, "one_class_oob", "seed"), "values": self.values.tolist()}

    def __repr__(self) -> str:
        left = f", {self.undefined} undefined" if self.undefined else ""
        return (
            f"OutOfBag({self.measure}={self.value:.6g} [{self.low:.6g}, {self.high:.6g}] {self.level:.0%}, "
            f"{self.n_resamples} refits{left})"
        )


@dataclass(frozen=True, eq=False)
class _Refits:
    """An estimator, and how the measure of its fitted copies is read: from the scores of the label ``positive``."""

    estimator: Estimator
    seed: int
    spec: Spec
    positive: Any

    @classmethod
    def of(
        cls, estimator: Estimator, seed: int, labels: NDArray[Any], pos_label: Label, measure: Any, argument: str
    ) -> _Refits:
        """From the labels, whose name is ``argument``, and the measure."""
        spec = parse_measure(("recall" if argument == "y_train" else "roc_auc") if measure is None else measure)
        if not spec.measure.of_one_score:
            problem = f"is {spec.measure.name}, which does not read one score for each case"
            raise InputError("measure", problem, "name another")
        if spec.measure.needs_quota and spec.quota is None:
            name = spec.measure.name
            raise InputError("measure", f"is {name}, which needs a quota", f"write '{name}@200' or '{name}@5%'")
        _, positive = read_labels(labels, argument, pos_label)
        if _one_class(positive):
            only = "permute" if argument == "y_train" else "learn"
            raise InputError(argument, f"contains a single class, so there is nothing to {only}")
        return cls(estimator, seed, spec, labels[positive][0])

    def value(self, rng: np.random.Generator, x: Any, labels: Any, x_test: Any, truth: NDArray[Any]) -> float:
        """Fit a copy, score the test rows, read the measure, at the model's own boundary where it names no threshold.

        scikit-learn copies its own estimators, where it is in use; others are copied as they are. Every
        ``random_state`` that was left open is given a seed, so that a result can be made again.
        """
        base = sys.modules.get("sklearn.base")
        if base is not None and isinstance(self.estimator, base.BaseEstimator):
            model = base.clone(self.estimator)
        else:
            model = copy.deepcopy(self.estimator)
        if hasattr(model, "get_params") and hasattr(model, "set_params"):
            given = model.get_params().items()
            unset = [k for k, value in given if value is None and re.fullmatch(r"(.*__)?random_state", k)]
            if unset:
                model.set_params(**{name: int(rng.integers(2**31 - 1)) for name in sorted(unset)})
        model.fit(x, labels)
        seen = list(getattr(model, "classes_", np.unique(labels)))
        if self.positive not in seen:
            problem = f"does not know the class {show(self.positive)}: it was fitted to {listed(seen)}"
            raise InputError("estimator", problem, "fit it to rows of both classes")
        score = None
        for answer, boundary in (("predict_proba", 0.5), ("decision_function", 0.0)):
            if score is None and hasattr(model, answer):
                columns = np.asarray(getattr(model, answer)(x_test))
                if columns.ndim == 1:  # a signed distance to the second of two classes
                    columns = np.column_stack([-columns, columns])
                if columns.shape[1] == len(seen):  # not a column for each pair of classes
                    score, middle = np.ascontiguousarray(columns[:, seen.index(self.positive)]), boundary
        if score is None:
            score, middle = (np.asarray(model.predict(x_test)) == self.positive).astype(np.float64), 0.5
        spec = self.spec
        if spec.measure.needs_threshold and spec.threshold is None:
            spec = replace(spec, threshold=middle)
        return compute_one(spec, truth, score)[0]

    def permuted(self, x: Any, labels: Any, x_test: Any, truth: Any, number: int) -> float:
        """Value of a model fitted to permuted training labels; number 0 is fitted to the labels as they are."""
        rng = np.random.default_rng([self.seed, number])
        return self.value(rng, x, rng.permutation(labels) if number else labels, x_test, truth)

    def bagged(self, x: Any, labels: Any, truth: Any, number: int) -> tuple[float, bool, bool]:
        """Value of a model fitted to a bootstrap set, on the cases outside; is the bag, is the rest of one class?

        By row number: equal rows are different cases. A bag of one class, or one that has all cases, is not fitted.
        """
        rng, n = np.random.default_rng([self.seed, number]), len(labels)
        bag = rng.integers(n, size=n)
        outside = np.setdiff1d(np.arange(n), bag)
        single_bag, single_out = _one_class(truth[bag]), _one_class(truth[outside])
        value = float("nan")
        if not single_bag and len(outside):
            value = self.value(rng, _take(x, bag), labels[bag], _take(x, outside), truth[outside])
        return value, single_bag, single_out


def _take(x: Any, rows: NDArray[np.intp]) -> Any:
    """Rows of an array, a sparse matrix, a list, or a table."""
    if hasattr(x, "iloc"):
        return x.iloc[rows]
    return x[rows] if hasattr(x, "shape") else np.asarray(x)[rows]


def _one_class(truth: NDArray[Any]) -> bool:
    return not len(truth) or bool((truth == truth[0]).all())


def _check_inputs(estimator: Estimator, *tables: tuple[str, Any, str, NDArray[Any]]) -> None:
    """An estimator that can be fitted, and tables with a row for each label."""
    answers = ("predict_proba", "decision_function", "predict")
    if not hasattr(estimator, "fit") or not any(hasattr(estimator, a) for a in answers):
        problem = f"is of type {type(estimator).__name__}, which cannot be fitted"
        raise InputError("estimator", problem, f"pass one that has fit and one of {', '.join(answers)}")
    for x_name, x, y_name, y in tables:
        try:
            rows = int(x.shape[0]) if hasattr(x, "shape") else len(x)
        except (IndexError, TypeError):  # an array of no dimensions, and what has no rows at all
            raise InputError(x_name, f"is {show(x)}", "pass a table, an array or a list of rows") from None
        if rows != len(y):
            raise different_lengths(x_name, rows, y_name, len(y))


def _replicates(
    job: Callable[[int], Any], first: int, last: int, n_jobs: int, seconds_each: float, shown: Progress
) -> list[Any]:
    """Results of replicates first … last−1, in order: made here, in joblib's processes, or in threads."""
    total, results = last - first, []
    n_jobs = min(n_jobs if n_jobs > 0 else max(1, cores() + 1 + n_jobs), total)
    if n_jobs == 1 or total * seconds_each < TUNING.worth_processes:
        for number in range(first, last):
            results.append(job(number))
            shown.advance()
        return results
    step = max(1, min(total // (8 * n_jobs), int(1.0 / max(seconds_each, 1e-6))))
    spans = [range(i, min(i + step, last)) for i in range(first, last, step)]
    try:
        import joblib  # type: ignore[import-untyped]
    except ImportError:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(n_jobs) as pool:
            for batch in pool.map(partial(_several, job), spans):
                results += batch
                shown.advance(len(batch))
        return results
    for batch in joblib.Parallel(n_jobs=n_jobs, return_as="generator")(joblib.delayed(_several)(job, s) for s in spans):
        results += batch
        shown.advance(len(batch))
    return results


def _several(job: Callable[[int], Any], numbers: range) -> list[Any]:
    return [job(number) for number in numbers]


@checked
def permutation_test(
    estimator: Estimator,
    X_train: Any,
    y_train: Labels,
    X_test: Any,
    y_test: Labels,
    *,
    measure: MeasureLike | None = None,
    pos_label: Label = None,
    n_permutations: int = 10_000,
    n_jobs: int = -1,
    seed: int = 0,
    progress: bool | None = None,
) -> PermutationTest:
    """Is there anything to learn? Permutes the training labels, refits, and scores the same test set each time.

    Under the null hypothesis, labels and attributes are unrelated, so all permutations of the labels are equally
    likely. ``p_value`` = (b + 1)/(m + 1), ``p_value_raw`` = b/m, where b of the m refitted models are at least as good
    as the original one (Berrar section 5.1; Phipson & Smyth 2010).

    ``estimator`` has ``fit`` and one of ``predict_proba``, ``decision_function``, ``predict``; measures at a threshold
    cut at its own boundary (0.5; 0 for a decision function) unless the measure string names another; by default it is
    the recall. A ``random_state`` left open is seeded for each fit.

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
    labels, tested = as_column(y_train, "y_train"), as_column(y_test, "y_test")
    _check_inputs(estimator, ("X_train", X_train, "y_train", labels), ("X_test", X_test, "y_test", tested))
    refits = _Refits.of(estimator, seed, labels, pos_label, measure, "y_train")
    name = str(refits.spec)
    job = partial(refits.permuted, X_train, labels, X_test, read_labels(tested, "y_test", pos_label)[1])
    begun = time.perf_counter()
    observed = job(0)
    seconds = time.perf_counter() - begun
    if observed != observed:
        raise InputError("measure", f"{name} has no value on the test set (0/0), so there is nothing to test")
    with Progress("permutations", n_permutations, progress) as shown:
        null = np.array(_replicates(job, 1, n_permutations + 1, n_jobs, seconds, shown))
    bad = np.isnan(null)
    if bad.any():  # a permutation without a value leaves the p-value without a meaning
        where = f"{int(bad.sum())} of {len(null)} permutations, first in permutation {int(np.argmax(bad))}"
        problem = f"is {name}, which has no value in {where} (0/0, as when nothing is predicted positive)"
        raise InputError("measure", problem, "use a measure, threshold or quota that always has one")
    return PermutationTest(name, refits.spec.better, observed, null, seed)


@checked
def bootstrap_oob(
    estimator: Estimator,
    X: Any,
    y: Labels,
    *,
    measure: MeasureLike | None = None,
    pos_label: Label = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    n_jobs: int = -1,
    seed: int = 0,
    progress: bool | None = None,
) -> OutOfBag:
    """Percentile interval of a measure over models fitted on bootstrap sets and scored on the cases left out of them.

    Bootstrap set i draws n of the n cases with replacement; the model fitted on it scores the cases whose row number
    was not drawn; the interval runs from the (1−level)/2 to the (1+level)/2 quantile of the values, interpolated
    linearly (Berrar Def. 38). It includes the variation from training and from testing, for models fitted on about 63%
    of the distinct cases. Replicates without a value (a class is missing) are left out, counted, and reported in a
    warning.

    Estimators, measures (by default ``roc_auc``) and boundaries as in
    :func:`permutation_test`.

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
    b, labels = n_resamples, as_column(y, "y")
    _check_inputs(estimator, ("X", X, "y", labels))
    refits = _Refits.of(estimator, seed, labels, pos_label, measure, "y")
    name = str(refits.spec)
    job = partial(refits.bagged, X, labels, read_labels(labels, "y", pos_label)[1])
    with Progress("out-of-bag bootstrap", b, progress) as shown:
        begun = time.perf_counter()
        results = [job(0)]
        shown.advance()
        results += _replicates(job, 1, b, n_jobs, time.perf_counter() - begun, shown)
    drawn, one_class_bags, one_class_rest = (np.array(column) for column in zip(*results, strict=True))
    bags, outs = int(one_class_bags.sum()), int(one_class_rest.sum())
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < 2:
        problem = f"{name} has a value in {len(defined)} of {b} replicates ({bags} bags of one class)"
        raise InputError("measure", problem, "add cases")
    if len(defined) < b:
        message = (
            f"{name} is undefined in {b - len(defined)} of {b} replicates, which are left out: {bags} bags and "
            f"{outs} out-of-bag sets contain a single class"
        )
        warnings.warn(message, UndefinedWarning, stacklevel=2)
    low, high = np.quantile(defined, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return OutOfBag(name, drawn, float(low), float(high), level, bags, outs, seed)

"""Tests that permute labels, and tests and intervals that fit the model again, also on out-of-bag bootstrap.

Estimators are whatever has ``fit`` and one of ``predict_proba``, ``decision_function`` and ``predict``. Each fit takes
an unfitted copy, and draws from a generator of its own number, so that results do not depend on ``n_jobs``.
"""

from __future__ import annotations

import copy
import math
import re
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import (
    ClassTotals,
    check_applicable,
    check_threshold,
    compute,
    compute_one,
    plan_sweeps,
    why_inapplicable_to_classes,
    why_undefined,
)
from ..catalogue.declare import Spec, parse_measure
from ..class_sample import codes_of, make_class_sample
from ..errors import InputError, UndefinedWarning, different_lengths, listed, look_up, show
from ..estimate import Estimate, Interval
from ..kernels import compiled
from ..ranking import Ranking, rank
from ..runtime import TUNING, Progress, cores
from ..sources.arrays import Sample, as_column, make_sample, read_labels
from ..table import ShownAsSpread, values_of
from ..types import Estimator, Label, Labels, Scores
from ..validate import check_function, checked, one_of
from .resampling import Resampler, one_number, several_clusters

Better = Literal["higher", "lower"]
Statistic = Spec | Callable[[NDArray[np.bool_], NDArray[Any]], float]
_FEWEST_WAYS = 5.0  # log₂: with 32 ways the smallest p-value is 1/32, the first below 5%
_SAME = 1e-12  # values closer than this, relative to the observed one, are equal but for rounding


@dataclass(frozen=True, eq=False, repr=False)
class PermutationTest(ShownAsSpread):
    """The observed value, and the values with permuted labels (``null``).

    ``p_value`` = (b + 1)/(m + 1), where b of the m permutations are at least as good as what was observed: it is never
    0, and valid for any m (Phipson & Smyth 2010). ``p_value_raw`` = b/m, as in Berrar section 5.1.
    """

    measure: str
    better: Better
    observed: float
    null: NDArray[np.float64]
    permuted: str
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
        return {**values_of(self, *names, "permuted", "seed"), "null": self.null.tolist()}

    def __repr__(self) -> str:
        return (
            f"PermutationTest({self.measure}={self.observed:.6g}, p={self.p_value:.3g}: {self.at_least_as_good} of "
            f"{self.n_permutations} permutations of the {self.permuted} are at least as good)"
        )


def as_statistic(measure: Any, better: str | None) -> tuple[Statistic, str, Better]:
    """A measure string or a function of your own, its name, and which way is better."""
    one_of(None, "higher", "lower")(better, "better")
    if callable(measure) and not hasattr(measure, "measure"):
        check_function(
            measure, "measure", "two arguments", "pass a function of labels and scores, or a measure by name"
        )
        return measure, getattr(measure, "__name__", "statistic"), better or "higher"  # type: ignore[return-value]
    spec = parse_measure(measure)
    if not spec.measure.of_one_score:
        raise InputError(
            "measure", f"is {spec.measure.name}, which does not read one score for each case", "name another"
        )
    if spec.measure.needs_quota and spec.quota is None:
        name = spec.measure.name
        raise InputError("measure", f"is {name}, which needs a quota", f"write '{name}@200' or '{name}@5%'")
    if better not in (None, spec.measure.better):
        raise InputError(
            "better", f"is {show(better)}, but {spec.measure.name} is better {spec.measure.better}", "leave it out"
        )
    return spec, str(spec), spec.measure.better


def apply(statistic: Statistic, positive: NDArray[np.bool_], score: NDArray[Any]) -> float:
    """The statistic of labels and scores; nan where it is undefined."""
    if isinstance(statistic, Spec):
        return compute_one(statistic, positive, score)[0]
    return one_number(statistic(positive, score), "measure")


def refuse_undefined(null: NDArray[np.float64], name: str, why: str) -> None:
    """A permutation without a value leaves the p-value without a meaning."""
    bad = np.isnan(null)
    if bad.any():
        told = f"{int(bad.sum())} of {len(null)} permutations ({why}), first in permutation {int(np.argmax(bad))}"
        raise InputError(
            "measure",
            f"is {name}, which has no value in {told}",
            "use a measure, threshold or quota that always has one",
        )


@checked
def label_permutation_test(
    y_true: Labels,
    y_score: Scores,
    *,
    measure: Any = "roc_auc",
    pos_label: Label = None,
    n_permutations: int = 10_000,
    better: str | None = None,
    clusters: Labels | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> PermutationTest:
    """Test whether the measure is better than with permuted test labels; the model is not refitted.

    Under the null hypothesis the labels of the test cases are unrelated to their scores, so every permutation is
    equally likely; p = (b + 1)/(m + 1) (Phipson & Smyth 2010). This tests whether these scores separate the classes;
    :func:`permutation_test` tests whether the attributes do, and refits the model.

    With ``clusters``, labels are not permuted row by row: the labels of whole clusters are exchanged between clusters
    of the same size, and shuffled within. If too few clusters have the same size, you get an error.

    >>> test = label_permutation_test([1, 1, 1, 0, 0, 0], [0.9, 0.8, 0.7, 0.3, 0.2, 0.1], n_permutations=999)
    >>> test.observed, test.p_value < 0.1  # 1 of the 20 ways to deal three labels is as good
    (1.0, True)
    """
    statistic, name, direction = as_statistic(measure, better)
    sample = make_sample(y_true, y_score, pos_label=pos_label, clusters=clusters)
    ranking = rank(sample)
    if isinstance(statistic, Spec):
        check_applicable(statistic.measure, sample)
        check_threshold(statistic, sample)
        observed = compute([statistic], ranking).values[statistic]
        why = why_undefined(statistic.measure, ranking.n_pos, ranking.n_neg)
    else:
        observed, why = apply(statistic, sample.positive, sample.score), "the function gives nan"
    if observed != observed:
        raise InputError("measure", f"is {name}, which has no value on this sample ({why})", "use one that has")
    codes, permuted = several_clusters(sample), "test labels"
    if codes is not None:
        permuted = "labels of whole clusters"
        ways = ways_to_permute(codes)
        if ways < _FEWEST_WAYS:
            problem = f"leave only {2**ways:.0f} ways to exchange the labels of clusters of the same size"
            raise InputError("clusters", problem, "it takes 32 for a test at 5%; use an interval instead (evaluate)")
    null = _null(statistic, sample, ranking, codes, n_permutations, seed, progress)
    refuse_undefined(null, name, why)
    return PermutationTest(name, direction, observed, null, permuted, seed)


def _null(
    statistic: Statistic,
    sample: Sample,
    ranking: Ranking,
    codes: NDArray[Any] | None,
    m: int,
    seed: int,
    progress: bool | None,
) -> NDArray[np.float64]:
    """The statistic with the labels of rows permuted, or those of whole clusters.

    Labels are dealt to the groups of one ranking, so that nothing is sorted again: summed in one compiled pass each;
    one by one for measures that are no algebra on sums, and for tie rules that take each permuted tie apart.
    """
    by_row = codes is None
    if isinstance(statistic, Spec) and by_row and statistic.measure.part != "ranking" and statistic.ties == "expected":
        (reading,) = plan_sweeps([statistic], ranking.cases)
        resampler = Resampler(sample, ranking, stratified=False, seed=seed, progress=progress)
        return np.asarray(reading.values(resampler.permutations(reading.request, m))[0], dtype=np.float64)
    group, size = ranking.group_of(sample.score), ranking.pos + ranking.neg

    def value(i: int) -> float:
        if isinstance(statistic, Spec) and by_row:
            pos, neg = np.empty_like(size), np.empty_like(size)
            compiled.permute_labels(size, int(ranking.n_pos), ranking.rows, seed, i, pos, neg)
        else:
            rng = np.random.default_rng([seed, i])
            moved = (
                permuted_labels(sample.positive, codes, rng) if codes is not None else rng.permutation(sample.positive)
            )
            if not isinstance(statistic, Spec):
                return float(statistic(moved, sample.score))
            pos = np.bincount(group[moved], minlength=len(ranking))
            neg = size - pos
        return compute([statistic], Ranking(ranking.score, pos, neg, ranking.rows)).values[statistic]

    null = np.empty(m)
    with Progress("permutations", m, progress) as shown:
        for i in range(m):
            null[i] = value(i)
            shown.advance()
    return null


def permuted_labels(positive: NDArray[np.bool_], codes: NDArray[Any], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Labels moved between clusters as whole blocks, each to a cluster of the same size; sizes that occur once stay.

    Exact where clusters of one size are exchangeable. Rows are shuffled inside the block they move as, which changes
    nothing if rows of one cluster are exchangeable too.
    """
    order, sizes = np.argsort(codes, kind="stable"), np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    moved = positive.copy()
    for size in np.unique(sizes):
        members = np.flatnonzero(sizes == size)
        rows = order[starts[members][:, None] + np.arange(size)]
        moved[rows] = rng.permuted(positive[rows[rng.permutation(len(members))]], axis=1)
    return moved


def ways_to_permute(codes: NDArray[Any]) -> float:
    """Log₂ of the number of ways in which clusters of equal size can change places; below 5 no test at 5% rejects."""
    return float(sum(math.lgamma(count + 1.0) for count in np.bincount(np.bincount(codes)))) / math.log(2.0)


@dataclass(frozen=True, eq=False, repr=False)
class OutOfBag(ShownAsSpread):
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
    """An estimator, and how the measures of its fitted copies are read.

    ``classes`` are those of a model of several classes; of a model of two they are empty, and ``positive`` is the
    label whose scores are read. ``ways``: the name of each measure, and which way it is better.
    """

    estimator: Estimator
    seed: int
    statistics: tuple[Any, ...]
    ways: dict[str, Better]
    pos_label: Label
    positive: Any = None
    classes: tuple[Any, ...] = ()

    @classmethod
    def of(
        cls,
        estimator: Estimator,
        seed: int,
        labels: NDArray[Any],
        pos_label: Label,
        measure: Any,
        default: str,
        *,
        argument: str,
        better: str | None = None,
    ) -> _Refits:
        """From the labels, whose name is ``argument``, and the measures asked for, or else the ``default`` one."""
        try:
            distinct = {label for label in labels.tolist() if label is not None and label == label}
            several = pos_label is None and len(distinct) > 2
        except TypeError:
            several = False
        if measure is None:
            measure = "accuracy" if several else default
        measures = list(measure) if isinstance(measure, list | tuple) else [measure]
        if not measures:
            raise InputError("measure", "is empty", "name at least one")
        if not several:
            _, positive = read_labels(labels, argument, pos_label)
            if _one_class(positive):
                only = "permute" if argument == "y_train" else "learn"
                raise InputError(argument, f"contains a single class, so there is nothing to {only}")
            statistics, names, ways = zip(*(as_statistic(one, better) for one in measures), strict=True)
            return cls(estimator, seed, statistics, dict(zip(names, ways, strict=True)), pos_label, labels[positive][0])
        classes = tuple(sorted(distinct, key=lambda v: (str(type(v)), v)))
        codes_of(labels, classes, argument)  # raises where labels are missing
        if any(callable(one) for one in measures):
            raise InputError("measure", "is a function, which reads two classes", "name measures of several classes")
        specs = tuple(dict.fromkeys(parse_measure(one, several=True) for one in measures))
        ordered = next((spec for spec in specs if spec.ordered), None)
        if ordered is not None and any(isinstance(label, str) for label in classes):
            problem = f"contains {ordered}, which reads the order of the classes, and words have none"
            raise InputError("measure", problem, "number the classes in their order")
        return cls(estimator, seed, specs, {str(spec): spec.better for spec in specs}, pos_label, classes=classes)

    def truth(self, labels: NDArray[Any], argument: str) -> NDArray[Any]:
        """Labels as measures read them: numbers of the classes, or which are positive."""
        if self.classes:
            return codes_of(labels, self.classes, argument)
        return read_labels(labels, argument, self.pos_label)[1]

    def values(self, rng: np.random.Generator, x: Any, labels: Any, x_test: Any, truth: NDArray[Any]) -> list[float]:
        """Fit a copy, score the test rows, read every measure.

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
        return (self._of_several if self.classes else self._of_two)(model, x_test, truth, labels)

    def _of_two(self, model: Any, x: Any, truth: NDArray[np.bool_], labels: NDArray[Any]) -> list[float]:
        """From the scores of the positive class, cut at the model's own boundary where a measure names no threshold."""
        seen = list(getattr(model, "classes_", np.unique(labels)))
        if self.positive not in seen:
            problem = f"does not know the class {show(self.positive)}: it was fitted to {listed(seen)}"
            raise InputError("estimator", problem, "fit it to rows of both classes")
        scores, boundary, _ = _scores(model, x, len(seen))
        if scores is None:
            score = (np.asarray(model.predict(x)) == self.positive).astype(np.float64)
        else:
            score = np.ascontiguousarray(scores[:, seen.index(self.positive)])
        values = []
        for statistic in self.statistics:
            if isinstance(statistic, Spec) and statistic.measure.needs_threshold and statistic.threshold is None:
                statistic = replace(statistic, threshold=boundary)
            values.append(apply(statistic, truth, score))
        return values

    def _of_several(self, model: Any, x: Any, truth: NDArray[Any], labels: NDArray[Any]) -> list[float]:
        """From a column of scores for each class, or the predicted classes where there are no scores.

        A class that the model has not seen gets the lowest score: probability 0, or −∞.
        """
        seen = list(getattr(model, "classes_", np.unique(labels)))
        place = {label: k for k, label in enumerate(self.classes)}
        scores, _, lowest = _scores(model, x, len(seen))
        predicted, columns = None, None
        if scores is None:
            answers = np.asarray(model.predict(x)).tolist()
            predicted = np.array([look_up(place, label, "a class of the estimator") for label in answers])
        else:
            columns = np.full((len(scores), len(self.classes)), lowest)
            columns[:, [look_up(place, label, "a class of the estimator") for label in seen]] = scores
        sample = make_class_sample(truth, columns, predicted=predicted, classes=range(len(self.classes)))
        possible = [spec for spec in self.statistics if not why_inapplicable_to_classes(spec.measure, sample)]
        values = ClassTotals(sample).values(possible)
        return [values.get(spec, float("nan")) for spec in self.statistics]

    def permuted(self, x: Any, labels: Any, x_test: Any, truth: Any, number: int) -> list[float]:
        """Values of a model fitted to permuted training labels; number 0 is fitted to the labels as they are."""
        rng = np.random.default_rng([self.seed, number])
        return self.values(rng, x, rng.permutation(labels) if number else labels, x_test, truth)

    def bagged(self, x: Any, labels: Any, truth: Any, number: int) -> tuple[list[float], bool, bool]:
        """Values of a model fitted to a bootstrap set, on the cases outside; is the bag, is the rest of one class?

        By row number: equal rows are different cases. A bag of one class, or one that has all cases, is not fitted.
        """
        rng, n = np.random.default_rng([self.seed, number]), len(labels)
        bag = rng.integers(n, size=n)
        inside = np.zeros(n, dtype=np.bool_)
        inside[bag] = True
        outside = np.flatnonzero(~inside)
        single_bag, single_out = _one_class(truth[bag]), _one_class(truth[outside])
        values = [float("nan")] * len(self.ways)
        if not single_bag and len(outside):
            values = self.values(rng, _take(x, bag), labels[bag], _take(x, outside), truth[outside])
        return values, single_bag, single_out


def _scores(model: Any, x: Any, classes: int) -> tuple[NDArray[Any] | None, float, float]:
    """A column of scores for each class that a model has seen, its boundary between two, and its lowest score.

    None for models that only predict, or have a column for each pair of classes, of which the predictions tell more.
    """
    for answer, boundary, lowest in (("predict_proba", 0.5, 0.0), ("decision_function", 0.0, -np.inf)):
        if hasattr(model, answer):
            given = np.asarray(getattr(model, answer)(x))
            if given.ndim == 1:  # a signed distance to the second of two classes
                given = np.column_stack([-given, given])
            if given.shape[1] == classes:
                return given, boundary, lowest
    return None, 0.5, 0.0


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
            futures = [pool.submit(_several, job, span) for span in spans]
            try:
                for future in futures:
                    results += future.result()
                    shown.advance(len(future.result()))
            finally:  # after an error or an interrupt, nothing more is started
                for future in futures:
                    future.cancel()
        return results
    for batch in joblib.Parallel(n_jobs=n_jobs, return_as="generator")(joblib.delayed(_several)(job, s) for s in spans):
        results += batch
        shown.advance(len(batch))
    return results


def _several(job: Callable[[int], Any], numbers: range) -> list[Any]:
    return [job(number) for number in numbers]


@overload
def permutation_test(
    estimator: Estimator,
    X_train: Any,
    y_train: Labels,
    X_test: Any,
    y_test: Labels,
    *,
    measure: list[Any] | tuple[Any, ...],
    **options: Any,
) -> dict[str, PermutationTest]: ...
@overload
def permutation_test(
    estimator: Estimator, X_train: Any, y_train: Labels, X_test: Any, y_test: Labels, **options: Any
) -> PermutationTest: ...
@checked  # type: ignore[misc]  # the overloads leave the arguments to the signature below
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
    labels, tested = as_column(y_train, "y_train"), as_column(y_test, "y_test")
    _check_inputs(estimator, ("X_train", X_train, "y_train", labels), ("X_test", X_test, "y_test", tested))
    refits = _Refits.of(estimator, seed, labels, pos_label, measure, "recall", argument="y_train", better=better)
    job = partial(refits.permuted, X_train, labels, X_test, refits.truth(tested, "y_test"))
    begun = time.perf_counter()
    observed = dict(zip(refits.ways, job(0), strict=True))
    seconds = time.perf_counter() - begun
    for name, value in observed.items():
        if value != value:
            raise InputError("measure", f"{name} has no value on the test set (0/0), so there is nothing to test")
    with Progress("permutations", n_permutations, progress) as shown:
        null = np.array(_replicates(job, 1, n_permutations + 1, n_jobs, seconds, shown))
    tests = {}
    for at, (name, way) in enumerate(refits.ways.items()):
        refuse_undefined(null[:, at], name, "0/0 on the test set, as when nothing is predicted positive")
        tests[name] = PermutationTest(name, way, observed[name], null[:, at], "training labels", seed)
    return tests if isinstance(measure, list | tuple) else next(iter(tests.values()))


@overload
def bootstrap_oob(
    estimator: Estimator, X: Any, y: Labels, *, measure: list[Any] | tuple[Any, ...], **options: Any
) -> dict[str, OutOfBag]: ...
@overload
def bootstrap_oob(estimator: Estimator, X: Any, y: Labels, **options: Any) -> OutOfBag: ...
@checked  # type: ignore[misc]  # the overloads leave the arguments to the signature below
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
    linearly (Berrar Def. 38). It includes the variation from training and from testing, for models fitted on about 63%
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
    b, labels = n_resamples, as_column(y, "y")
    _check_inputs(estimator, ("X", X, "y", labels))
    refits = _Refits.of(estimator, seed, labels, pos_label, measure, "roc_auc", argument="y")
    job = partial(refits.bagged, X, labels, refits.truth(labels, "y"))
    with Progress("out-of-bag bootstrap", b, progress) as shown:
        begun = time.perf_counter()
        results = [job(0)]
        shown.advance()
        results += _replicates(job, 1, b, n_jobs, time.perf_counter() - begun, shown)
    drawn = np.array([values for values, _, _ in results])
    bags, outs = sum(single for _, single, _ in results), sum(single for _, _, single in results)
    intervals = {}
    for at, name in enumerate(refits.ways):
        values = np.ascontiguousarray(drawn[:, at])
        defined = values[~np.isnan(values)]
        if len(defined) < 2:
            raise InputError(
                "measure",
                f"{name} has a value in {len(defined)} of {b} replicates ({bags} bags of one class)",
                "add cases",
            )
        if len(defined) < b:
            warnings.warn(
                f"{name} is undefined in {b - len(defined)} of {b} replicates, which are left out: {bags} bags and "
                f"{outs} out-of-bag sets contain a single class",
                UndefinedWarning,
                stacklevel=2,
            )
        low, high = np.quantile(defined, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        intervals[name] = OutOfBag(name, values, float(low), float(high), level, bags, outs, seed)
    return intervals if isinstance(measure, list | tuple) else next(iter(intervals.values()))

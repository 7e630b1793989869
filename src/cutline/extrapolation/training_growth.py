"""Classifiers that learn all classes together: retrain at several sizes, and follow the accuracy that is seen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Required, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, listed, show
from ..estimate import Estimate
from ..inference.limits import t_quantile
from ..sources.arrays import as_column, check_present
from ..table import Table, TabularResult
from ..types import Estimator, Floats, Labels
from ..validate import check_estimator, check_number, check_whole, checked
from .extrapolation_result import Extrapolation, Observed, logit, sizes_asked
from .favorability import ComparedByContent, Favorability, mix
from .method_choice import every_method
from .tasks import CurveTask, Note

# The shapes whose mean is followed: of the methods that read a curve alone, those that may take part in `auto`'s mean.
_METHODS = ("gaussian", "probit_normal", "exponential")
_EDGE = 1e-4  # accuracies are kept this far from 0 and 1, where their logit would be infinite
_FLOORS = 40  # floors of the error that are tried: to a fortieth of the smallest error
_FEWEST = 3  # numbers of training cases from which a floor can be seen


def _fits(sizes: Any, accuracy: Any) -> dict[str, Favorability]:
    evidence = CurveTask(np.array(sizes, dtype=np.float64), np.clip(accuracy, 0.0, 1.0)).whole()
    return {name: every_method()[name].variants()[-1].fit(evidence) for name in _METHODS}


def retrained_curve(sizes: Sequence[int], accuracy: Any) -> Favorability:
    """The curve through accuracies that were seen at some numbers of classes: the mean of three shapes."""
    fits = _fits(sizes, accuracy)
    return mix(list(fits.values()), [1.0 / len(fits)] * len(fits))


@dataclass(frozen=True, eq=False)
class TrainingGrowth(ComparedByContent, TabularResult):
    """Accuracies at several numbers of classes and of training cases per class, and the surface through them.

    ``seen`` has the accuracy of each round, size and number of cases. ``growth.accuracy(k, cases)`` is an Estimate.
    """

    sizes: tuple[int, ...]
    cases: tuple[int, ...]
    seen: Floats = field(repr=False)
    level: float

    @property
    def observed(self) -> Table:
        """The mean accuracy at each number of classes and of training cases per class."""
        mean = self.seen.mean(axis=0)
        rows = [
            {"classes": k, "cases": m, "accuracy": float(mean[a, b])}
            for a, k in enumerate(self.sizes)
            for b, m in enumerate(self.cases)
        ]
        return Table(rows, "Accuracy by classes and training cases per class")

    def accuracy(self, k: int, cases: int) -> Estimate:
        """The accuracy among ``k`` classes with ``cases`` training cases each.

        Over classes it follows the curve for each number of cases; over cases, a power law of the error down to a
        floor. The interval also covers a learning curve without a floor (the logit grows with the logarithm of the
        cases) and the spread between rounds. With two numbers of cases a floor cannot be estimated, so the value comes
        from the curve without one: treat it as a best case.
        """
        check_whole(k, "k", 1)
        check_whole(cases, "cases", 1)

        def reached(grid: Floats) -> list[float]:
            at_k = [float(retrained_curve(self.sizes, column).accuracy(k)[0]) for column in grid.T]
            return learning_curves(self.cases, np.array(at_k), cases)

        models = reached(self.seen.mean(axis=0))
        rounds = [reached(grid)[-1] for grid in self.seen]
        value = models[-1]
        if len(rounds) < 2:
            return Estimate(f"accuracy({k}, {cases})", value)
        reach = t_quantile(self.level, len(rounds) - 1.0) * float(np.std(rounds, ddof=1))
        low, high = max(min(models) - reach, 0.0), min(max(models) + reach, 1.0)
        return Estimate(f"accuracy({k}, {cases})", value, low, high, self.level, "rounds and curves")

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each number of classes and of cases that was tried."""
        return self.observed.to_dicts()

    def __repr__(self) -> str:
        return repr(self.observed)


def learning_curves(cases: Sequence[int], accuracy: Floats, wanted: int) -> list[float]:
    """The accuracy at another number of training cases: by a line of the logit, and by a power law with a floor."""
    if wanted in cases:
        return [float(accuracy[list(cases).index(wanted)])]
    x, at = np.log(np.array(cases, dtype=np.float64)), math.log(wanted)
    odds = logit(accuracy, _EDGE)
    slope, start = np.polyfit(x, odds, 1)
    reached = slope * at + start if slope > 0 else float(odds.mean())
    answers = [1.0 / (1.0 + math.exp(-reached))]
    if len(cases) >= _FEWEST:
        error = np.clip(1.0 - accuracy, _EDGE, 1.0)
        best = (math.inf, error.min())
        for floor in np.linspace(0.0, error.min(), _FLOORS, endpoint=False):
            power, scale = np.polyfit(x, np.log(error - floor), 1)
            power = min(power, 0.0)
            gap = float(np.sum((floor + np.exp(scale + power * x) - error) ** 2))
            best = min(best, (gap, floor + math.exp(scale + power * at)))
        answers.append(min(max(1.0 - best[1], 0.0), 1.0))
    return answers


class TrainingOptions(TypedDict, total=False):
    """What both ways of retraining take."""

    sizes: Required[Sequence[int]]
    k: int | Iterable[int] | None
    n_rounds: int
    test_share: float
    level: float
    seed: int


@overload
def extrapolate_training(
    estimator: Estimator, X: Any, y: Labels, *, cases: Sequence[int], **options: Unpack[TrainingOptions]
) -> TrainingGrowth: ...
@overload
def extrapolate_training(
    estimator: Estimator, X: Any, y: Labels, *, cases: None = None, **options: Unpack[TrainingOptions]
) -> Extrapolation: ...


@checked(estimator=check_estimator)
def extrapolate_training(
    estimator: Estimator,
    X: Any,
    y: Labels,
    *,
    sizes: Sequence[int],
    cases: Sequence[int] | None = None,
    k: int | Iterable[int] | None = None,
    n_rounds: int = 10,
    test_share: float = 0.5,
    level: float = 0.95,
    seed: int = 0,
) -> Extrapolation | TrainingGrowth:
    """Predict the accuracy with more classes for a classifier that is not marginal (softmax, k-nearest neighbours,
    trees).

    In every round the estimator is cloned and trained on random classes of each of ``sizes``, as many as there are at
    most, and tested on held-out cases of those classes; the mean accuracies by size are extrapolated by the methods
    that read curves alone. The interval comes from refitting the curve of every round, so it shows how accuracy varies
    with the classes drawn and with the split; rounds overlap in their classes, so the interval is too short if the
    largest size is close to all classes. The number of training cases per class stays the same.

    If it will grow as well, give two or more numbers of training ``cases`` per class: the estimator is then trained on
    each number of classes with each number of cases, and the result is a :class:`TrainingGrowth`, whose
    ``accuracy(k, cases)`` predicts for other numbers of both. No theory tells how accuracy grows with training, so look
    at the interval, which covers two learning curves, and do not go beyond a few times the largest numbers tried.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(40), 10)
    >>> X = rng.normal(size=(40, 4))[y] + 0.4 * rng.normal(size=(400, 4))
    >>> ex = extrapolate_training(KNeighborsClassifier(3), X, y, sizes=[5, 10, 20, 40], k=[80], n_rounds=3)
    >>> ex.accuracy(80).value < ex.observed[5].value
    True
    >>> growth = extrapolate_training(KNeighborsClassifier(1), X, y, sizes=[10, 20, 40], cases=[2, 4, 8], n_rounds=3)
    >>> growth.accuracy(80, 8).value < growth.accuracy(40, 8).value
    True
    """
    from sklearn.base import clone

    try:
        points = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    except ValueError:
        raise InputError("X", "has rows of different lengths", "give every row the same number of columns") from None
    labels = as_column(y, "y")
    check_present(labels, "y")
    if points.shape[:1] != labels.shape:
        n_rows = points.shape[0] if points.shape else 0
        raise InputError("y", f"has {labels.size} labels for {n_rows} rows", "give one per row")
    try:
        classes, per_class = np.unique(labels, return_counts=True)
    except (TypeError, ValueError):
        message = "contains values of different kinds, or missing ones"
        raise InputError("y", message, "give one kind of label") from None
    check_number(test_share, "test_share", 0.0, 1.0, open_ends=True)
    wanted = sorted(sizes_asked(sizes, 2, "sizes"))
    if len(wanted) < 2 or wanted[-1] > classes.size:
        message = f"is {show(wanted)} for {classes.size} classes"
        raise InputError("sizes", message, "give two or more sizes, none above that")
    asked = [2 * wanted[-1], 5 * wanted[-1]] if k is None else sizes_asked(k, 1)
    per_round = _checked_cases(cases, classes, per_class, k)
    seen = np.empty((n_rounds, len(wanted), max(len(per_round), 1)))
    for number in range(n_rounds):
        rng = np.random.default_rng([seed, number])
        order = rng.permutation(classes)
        if per_round:
            place = np.empty(labels.size, dtype=np.intp)  # of each row among those of its class, in random order
            test = np.empty(labels.size, dtype=np.bool_)
            for label, count in zip(classes, per_class, strict=True):
                rows = rng.permutation(np.flatnonzero(labels == label))
                place[rows] = np.arange(count)
                # A small share of few cases leaves one of them for the test.
                test[rows] = np.arange(count) >= min(max(per_round[-1], round(count * (1.0 - test_share))), count - 1)
            training = [place < most for most in per_round]
        else:
            test = rng.random(labels.size) < test_share
            training = [~test]
        for a, size in enumerate(wanted):
            inside = np.isin(labels, order[:size])
            for b, chosen in enumerate(training):
                trained, tested = inside & chosen, inside & test
                if not (tested.any() and np.unique(labels[trained]).size > 1):
                    message = f"is {test_share:g}, which leaves {trained.sum()} of {inside.sum()} cases for training"
                    raise InputError("test_share", message, "choose a share nearer to a half, or larger {sizes}")
                model = clone(estimator).fit(points[trained], labels[trained])
                seen[number, a, b] = np.mean(model.predict(points[tested]) == labels[tested])
    if per_round:
        return TrainingGrowth(tuple(wanted), tuple(per_round), seen, level)
    curves = seen[:, :, 0]
    fits = _fits(wanted, curves.mean(axis=0))
    error = curves.std(axis=0, ddof=1) / np.sqrt(n_rounds) if n_rounds > 1 else np.full(len(wanted), np.nan)
    curve = np.array(wanted, dtype=np.float64), curves.mean(axis=0), error
    listing = ", ".join(map(str, wanted))
    text = (
        "The estimator was retrained at {sizes} classes. The extrapolation follows the shape of these accuracies; no "
        "theory supports it."
    )
    return Extrapolation(
        n_classes=wanted[-1],
        n_cases=int(labels.size),
        observed=Observed(*curve, "spread between rounds", level, wanted[-1]),
        method=f"retrained at {listing} classes",
        favorability=retrained_curve(wanted, curves.mean(axis=0)),
        fits=fits,
        weights=dict.fromkeys(fits, 1.0 / len(fits)),
        plausible=tuple(fits),
        replicates=tuple(retrained_curve(wanted, row).compressed() for row in curves) if n_rounds > 1 else (),
        k=tuple(asked),
        level=level,
        general_notes=(Note("not_marginal", text, sizes=listing),),
    )


def _checked_cases(cases: Any, classes: NDArray[Any], per_class: NDArray[np.intp], k: Any) -> list[int]:
    """Numbers of training cases per class, in order; none where every case that is not tested is used."""
    if cases is None:
        return []
    if k is not None:
        raise InputError("k", "does not go with {cases}", "ask the result: {accuracy(k, cases)}")
    numbers = sorted(sizes_asked(cases, 1, "cases"))
    if len(numbers) < 2:
        raise InputError("cases", f"is {show(numbers)}", "give two numbers of training cases per class or more")
    if numbers[-1] >= per_class.min():
        few = listed([classes[int(np.argmin(per_class))]], 1)
        message = f"asks for {numbers[-1]} training cases, but class {few} has {per_class.min()} in all"
        raise InputError("cases", message, "leave some of them for the test")
    return numbers

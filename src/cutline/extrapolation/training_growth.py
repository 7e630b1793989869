"""Accuracy with more classes and more training cases per class: retrain on a grid of both, and follow what is seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import InputError, listed, show
from ..estimate import Estimate
from ..inference.normal import t_quantile
from ..table import Table, TabularResult
from ..types import Floats
from ..validate import check_estimator, check_number, check_whole, checked
from .by_size import sizes_asked
from .favorability import ComparedByContent
from .retrained_sizes import retrained_curve, training_rows, training_sizes

_EDGE = 1e-4  # accuracies are kept this far from 0 and 1, where their logit would be infinite
_FLOORS = 40  # floors of the error that are tried
_FEWEST = 3  # numbers of training cases from which a floor can be seen


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
        check_whole(cases, "cases", 1)
        models = learning_curves(self.cases, self.at_classes(k), cases)
        rounds = [learning_curves(self.cases, self._at(one, k), cases)[-1] for one in self.seen]
        value = models[-1]
        if len(rounds) < 2:
            return Estimate(f"accuracy({k}, {cases})", value)
        reach = t_quantile(self.level, len(rounds) - 1.0) * float(np.std(rounds, ddof=1))
        low, high = max(min(models) - reach, 0.0), min(max(models) + reach, 1.0)
        return Estimate(f"accuracy({k}, {cases})", value, low, high, self.level, "rounds and curves")

    def at_classes(self, k: int) -> Floats:
        """The accuracies at ``k`` classes, one for each of the numbers of training cases tried."""
        check_whole(k, "k", 1)
        return self._at(self.seen.mean(axis=0), k)

    def _at(self, grid: Floats, k: int) -> Floats:
        return np.array([float(retrained_curve(self.sizes, column).accuracy(k)[0]) for column in grid.T])

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
    slope, start = np.polyfit(x, _logit(accuracy), 1)
    found = [_accuracy(max(slope, 0.0) * at + (start if slope > 0 else float(_logit(accuracy).mean())))]
    if len(cases) >= _FEWEST:
        error = np.clip(1.0 - accuracy, _EDGE, 1.0)
        best = (math.inf, error.min())
        for floor in np.linspace(0.0, error.min(), _FLOORS, endpoint=False):
            power, scale = np.polyfit(x, np.log(error - floor), 1)
            power = min(power, 0.0)
            gap = float(np.sum((floor + np.exp(scale + power * x) - error) ** 2))
            best = min(best, (gap, floor + math.exp(scale + power * at)))
        found.append(min(max(1.0 - best[1], 0.0), 1.0))
    return found


@checked(estimator=check_estimator)
def extrapolate_training_growth(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sizes: Sequence[int],
    cases: Sequence[int],
    n_rounds: int = 10,
    test_share: float = 0.5,
    level: float = 0.95,
    seed: int = 0,
) -> TrainingGrowth:
    """Predict the accuracy with more classes and with more training cases per class.

    As :func:`extrapolate_training`, but in every round the estimator is trained on each of ``sizes`` numbers of classes
    with each of ``cases`` training cases per class, and tested on held-out cases of those classes. No theory says how
    accuracy grows with training, so look at the interval, which covers two learning curves, and do not go beyond a few
    times the largest numbers tried.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(20), 24)
    >>> X = rng.normal(size=(20, 3))[y] + 0.5 * rng.normal(size=(480, 3))
    >>> growth = extrapolate_training_growth(
    ...     KNeighborsClassifier(1), X, y, sizes=[5, 10, 20], cases=[2, 4, 8], n_rounds=3
    ... )
    >>> growth.accuracy(40, 8).value < growth.accuracy(20, 8).value
    True
    """
    from sklearn.base import clone

    points, labels, classes = training_rows(X, y)
    check_number(test_share, "test_share", 0.0, 1.0, open_ends=True)
    sized = np.unique(labels, return_counts=True)[1]
    wanted = training_sizes(sizes, classes.size)
    trained = sorted(sizes_asked(cases, 1, "cases"))
    if len(trained) < 2:
        raise InputError("cases", f"is {show(trained)}", "give two numbers of training cases per class or more")
    if trained[-1] >= sized.min():
        few = listed([classes[int(np.argmin(sized))]], 1)
        said = f"asks for {trained[-1]} training cases, but class {few} has {sized.min()} in all"
        raise InputError("cases", said, "leave some of them for the test")
    seen = np.empty((n_rounds, len(wanted), len(trained)))
    for number in range(n_rounds):
        rng = np.random.default_rng([seed, number])
        order = rng.permutation(classes)
        place = np.empty(labels.size, dtype=np.intp)  # of each row among those of its class, in random order
        held = np.empty(labels.size, dtype=np.bool_)
        for label, count in zip(classes, sized, strict=True):
            rows = rng.permutation(np.flatnonzero(labels == label))
            place[rows] = np.arange(count)
            # A small share of few cases leaves one of them for the test.
            held[rows] = np.arange(count) >= min(max(trained[-1], round(count * (1.0 - test_share))), count - 1)
        for a, size in enumerate(wanted):
            inside = np.isin(labels, order[:size])
            for b, most in enumerate(trained):
                rows = inside & (place < most)
                model = clone(estimator).fit(points[rows], labels[rows])
                tested = inside & held
                seen[number, a, b] = np.mean(model.predict(points[tested]) == labels[tested])
    return TrainingGrowth(tuple(wanted), tuple(trained), seen, level)


def _logit(accuracy: Floats) -> Floats:
    inside = np.clip(accuracy, _EDGE, 1.0 - _EDGE)
    return np.asarray(np.log(inside / (1.0 - inside)))


def _accuracy(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))

"""Classifiers that learn all classes together: retrain at several sizes, and follow the accuracy that is seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, show
from ..sources.arrays import as_column, check_present
from ..types import Estimator, Labels
from ..validate import check_estimator, check_number, checked
from .by_size import sizes_asked
from .class_bootstrap import compressed
from .extrapolation_result import Extrapolation, Observed
from .favorability import Favorability, mix
from .methods import every_method
from .notes import NOT_MARGINAL, Note
from .tasks import CurveTask

_METHODS = ("gaussian", "probit_normal", "exponential")


def retrained_curve(sizes: Sequence[int], accuracy: Any) -> Favorability:
    """The curve through accuracies that were seen at some numbers of classes: the mean of three shapes."""
    fits = _fitted(np.array(sizes, dtype=np.float64), accuracy)
    return mix(list(fits.values()), [1.0 / len(fits)] * len(fits))


def _fitted(sizes: Any, accuracy: Any) -> dict[str, Favorability]:
    evidence = CurveTask(sizes, np.clip(accuracy, 0.0, 1.0)).whole()
    return {name: every_method()[name].variants()[-1].fit(evidence) for name in _METHODS}


def training_rows(X: Any, y: Any) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    """Rows that can be chosen by a mask, dense or sparse, their labels, and the classes."""
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
        return points, labels, np.unique(labels)
    except TypeError:
        raise InputError("y", "holds values of different kinds, or missing ones", "give one kind of label") from None


def training_sizes(sizes: Any, n_classes: int) -> list[int]:
    """The numbers of classes to train on, two or more of those there are."""
    wanted = sorted(sizes_asked(sizes, 2, "sizes"))
    if len(wanted) < 2 or wanted[-1] > n_classes:
        raise InputError(
            "sizes", f"is {show(wanted)} for {n_classes} classes", "give two or more sizes, none above that"
        )
    return wanted


@checked(estimator=check_estimator)
def extrapolate_training(
    estimator: Estimator,
    X: Any,
    y: Labels,
    *,
    sizes: Sequence[int],
    k: int | Iterable[int] | None = None,
    n_rounds: int = 10,
    test_share: float = 0.5,
    level: float = 0.95,
    seed: int = 0,
) -> Extrapolation:
    """Predict the accuracy with more classes for a classifier that is not marginal (softmax, k-nearest neighbours,
    trees).

    In every round the estimator is cloned and trained on random classes of each of ``sizes``, as many as there are at
    most, and tested on held-out cases of those classes; the mean accuracies by size are extrapolated by the methods
    that read curves alone. The interval comes from refitting the curve of every round, so it shows how accuracy varies
    with the classes drawn and with the split; rounds overlap in their classes, so the interval is too short if the
    largest size is close to all classes. The number of training cases per class stays the same.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(40), 10)
    >>> X = rng.normal(size=(40, 4))[y] + 0.4 * rng.normal(size=(400, 4))
    >>> ex = extrapolate_training(KNeighborsClassifier(3), X, y, sizes=[5, 10, 20, 40], k=[80], n_rounds=3)
    >>> ex.accuracy(80).value < ex.observed[5].value
    True
    """
    from sklearn.base import clone

    points, labels, classes = training_rows(X, y)
    check_number(test_share, "test_share", 0.0, 1.0, open_ends=True)
    wanted = training_sizes(sizes, classes.size)
    asked = [2 * wanted[-1], 5 * wanted[-1]] if k is None else sizes_asked(k, 1)
    seen = np.empty((n_rounds, len(wanted)))
    for number in range(n_rounds):
        rng = np.random.default_rng([seed, number])
        order = rng.permutation(classes)
        test = rng.random(labels.size) < test_share
        for place, size in enumerate(wanted):
            inside = np.isin(labels, order[:size])
            trained, tested = inside & ~test, inside & test
            if not (tested.any() and np.unique(labels[trained]).size > 1):
                said = f"is {test_share:g}, which leaves {trained.sum()} of {inside.sum()} cases for training"
                raise InputError("test_share", said, "choose a share nearer to a half, or larger {sizes}")
            model = clone(estimator).fit(points[trained], labels[trained])
            seen[number, place] = np.mean(model.predict(points[tested]) == labels[tested])
    sizes_seen = np.array(wanted, dtype=np.float64)

    share = [1.0 / len(_METHODS)] * len(_METHODS)
    fits = _fitted(sizes_seen, seen.mean(axis=0))
    error = seen.std(axis=0, ddof=1) / np.sqrt(n_rounds) if n_rounds > 1 else np.full(sizes_seen.size, np.nan)
    largest = wanted[-1]
    return Extrapolation(
        n_classes=largest,
        n_cases=int(labels.size),
        observed=Observed(sizes_seen, seen.mean(axis=0), error, "spread between rounds", level, largest),
        method=f"retrained at {', '.join(map(str, wanted))} classes",
        favorability=mix(list(fits.values()), share),
        fits=fits,
        weights=dict(zip(fits, share, strict=True)),
        plausible=tuple(fits),
        replicates=tuple(compressed(retrained_curve(wanted, row)) for row in seen) if n_rounds > 1 else (),
        k=tuple(asked),
        level=level,
        general_notes=(
            Note(
                NOT_MARGINAL,
                "The estimator was retrained at {sizes} classes. The extrapolation follows the shape of these "
                "accuracies; no theory supports it.",
                sizes=", ".join(map(str, wanted)),
            ),
        ),
    )

"""Classifiers that learn all classes together: retrain at several sizes, and follow the accuracy that is seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import InputError, show
from ..sources.arrays import as_column, check_present
from ..types import Estimator, Floats, Labels
from ..validate import check_estimator, check_number, checked
from .extrapolation_result import Extrapolation, Observed, sizes_asked
from .extrapolator import every_method
from .favorability import Favorability, mix
from .tasks import CurveTask, Note

# The shapes whose mean is followed: of the methods that read a curve alone, those that may take part in `auto`'s mean.
_METHODS = ("gaussian", "probit_normal", "exponential")


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
        classes = np.unique(labels)
    except (TypeError, ValueError):
        message = "contains values of different kinds, or missing ones"
        raise InputError("y", message, "give one kind of label") from None
    check_number(test_share, "test_share", 0.0, 1.0, open_ends=True)
    wanted = sorted(sizes_asked(sizes, 2, "sizes"))
    if len(wanted) < 2 or wanted[-1] > classes.size:
        message = f"is {show(wanted)} for {classes.size} classes"
        raise InputError("sizes", message, "give two or more sizes, none above that")
    asked = [2 * wanted[-1], 5 * wanted[-1]] if k is None else sizes_asked(k, 1)
    curves = np.empty((n_rounds, len(wanted)))
    for number in range(n_rounds):
        rng = np.random.default_rng([seed, number])
        order, test = rng.permutation(classes), rng.random(labels.size) < test_share
        for place, size in enumerate(wanted):
            inside = np.isin(labels, order[:size])
            trained, tested = inside & ~test, inside & test
            if not (tested.any() and np.unique(labels[trained]).size > 1):
                message = f"is {test_share:g}, which leaves {trained.sum()} of {inside.sum()} cases for training"
                raise InputError("test_share", message, "choose a share nearer to a half, or larger {sizes}")
            model = clone(estimator).fit(points[trained], labels[trained])
            curves[number, place] = np.mean(model.predict(points[tested]) == labels[tested])
    k_seen, accuracy = np.array(wanted, dtype=np.float64), curves.mean(axis=0)
    share = 1.0 / len(_METHODS)

    def fitted(curve: Floats) -> dict[str, Favorability]:
        evidence = CurveTask(k_seen, np.clip(curve, 0.0, 1.0)).whole()
        return {name: every_method()[name].variants()[-1].fit(evidence) for name in _METHODS}

    def mean(fits: dict[str, Favorability]) -> Favorability:
        return mix(list(fits.values()), [share] * len(fits))

    fits = fitted(accuracy)
    error = curves.std(axis=0, ddof=1) / np.sqrt(n_rounds) if n_rounds > 1 else np.full(len(wanted), np.nan)
    listing = ", ".join(map(str, wanted))
    text = (
        "The estimator was retrained at {sizes} classes. The extrapolation follows the shape of these accuracies; no "
        "theory supports it."
    )
    return Extrapolation(
        n_classes=wanted[-1],
        n_cases=int(labels.size),
        observed=Observed(k_seen, accuracy, error, "spread between rounds", level, wanted[-1]),
        method=f"retrained at {listing} classes",
        favorability=mean(fits),
        fits=fits,
        weights=dict.fromkeys(fits, share),
        plausible=tuple(fits),
        replicates=tuple(mean(fitted(row)).compressed() for row in curves) if n_rounds > 1 else (),
        k=tuple(asked),
        level=level,
        general_notes=(Note("not_marginal", text, sizes=listing),),
    )

"""What a user hands over, checked once and turned into a source: scores, embeddings, wins, or accuracies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .comparisons import Metric, compare_embeddings, compare_scores
from .curve_source import CurveSource
from .moments import Floats
from .score_source import ScoreSource
from .wins import check_ties
from .wins_source import WinsSource


def from_scores(
    scores: Any, labels: Any = None, *, classes: Any = None, distance: bool = False, ties: str = "random"
) -> ScoreSource:
    """A matrix of test cases × classes and the true class of every case."""
    rule = check_ties(ties)
    matrix = _matrix(scores, "scores")
    n_cases, n_classes = matrix.shape
    if n_classes < 2:
        raise InputError(f"scores: {n_classes} column(s); a task needs at least two classes, one column each")
    if n_cases < 1:
        raise InputError("scores: no rows; give at least one test case")
    return compare_scores(matrix, _columns(labels, classes, n_cases, n_classes), distance=distance, ties=rule)


def from_embeddings(
    gallery: Any,
    probes: Any,
    *,
    gallery_labels: Any = None,
    probe_labels: Any = None,
    metric: Metric = "euclidean",
    distance: bool | None = None,
    ties: str = "random",
) -> ScoreSource:
    """One gallery embedding per class, and probes to be recognised."""
    rule = check_ties(ties)
    known, asked = _floats(_matrix(gallery, "gallery"), "gallery"), _floats(_matrix(probes, "probes"), "probes")
    if known.shape[1] != asked.shape[1]:
        raise InputError(
            f"probes: {asked.shape[1]} dimensions against {known.shape[1]} in gallery; embed both by the same model"
        )
    if known.shape[0] < 2:
        raise InputError(f"gallery: {known.shape[0]} row(s); a task needs at least two classes, one row each")
    if callable(metric) and distance is None:
        raise InputError(
            "distance: say distance=True or distance=False, whether a large value of your metric is far or near"
        )
    if not callable(metric) and distance is not None:
        raise InputError(f"distance: the direction of metric={metric!r} is known; leave it out")
    case_class = _columns(
        probe_labels, gallery_labels, asked.shape[0], known.shape[0], "probe_labels", "gallery_labels"
    )
    return compare_embeddings(known, asked, case_class, metric=metric, distance=distance, ties=rule)


def from_wins(
    wins: Any, *, n_classes: int | None, tied: Any = None, labels: Any = None, ties: str = "random"
) -> WinsSource:
    """Distractors beaten (and tied) per case; ``labels`` say which cases are of one class."""
    rule = check_ties(ties)
    beaten = _counts(wins, "wins")
    equal = np.zeros_like(beaten) if tied is None else _counts(tied, "tied")
    if n_classes is None:
        raise InputError("n_classes: say among how many classes the wins were counted")
    if n_classes < 2:
        raise InputError(f"n_classes: {n_classes}; a task needs at least two classes")
    if equal.size != beaten.size:
        raise InputError(f"tied: {equal.size} values for {beaten.size} cases in wins; give one per case")
    beyond = np.flatnonzero(beaten + equal > n_classes - 1)
    if beyond.size:
        row = int(beyond[0])
        raise InputError(
            f"wins: row {row} beats {beaten[row]:g} and ties {equal[row]:g} distractors, but {n_classes} classes have "
            f"only {n_classes - 1}; count distractors, not the class itself, or correct n_classes"
        )
    groups = _groups(labels, beaten.size)
    return WinsSource(n_classes, beaten, equal, groups, rule)


def from_accuracies(accuracies: Any) -> CurveSource:
    """Pairs of a number of classes and the accuracy there: a mapping or a list of pairs."""
    pairs = list(accuracies.items()) if isinstance(accuracies, Mapping) else list(accuracies)
    try:
        table = np.asarray(pairs, dtype=np.float64).reshape(-1, 2)
    except (TypeError, ValueError):
        raise InputError("accuracies: give pairs (number of classes, accuracy), or a dictionary of them") from None
    table = table[np.argsort(table[:, 0], kind="stable")]
    for row, (k, value) in enumerate(table):
        if not (k >= 1 and np.isfinite(k)):
            raise InputError(f"accuracies: pair {row} has {k:g} classes; give 1 or more")
        if not 0.0 <= value <= 1.0:
            raise InputError(f"accuracies: {value:g} at {k:g} classes is no share; divide per cent by 100")
    table = table[table[:, 0] >= 2.0]
    if np.unique(table[:, 0]).size != table.shape[0]:
        raise InputError("accuracies: a number of classes appears twice; average its accuracies first")
    if table.shape[0] < 2:
        raise InputError("accuracies: at least two pairs with 2 or more classes are needed to see a trend")
    return CurveSource(table[:, 0], table[:, 1])


def _matrix(values: Any, name: str) -> NDArray[Any]:
    array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if array.ndim != 2:
        raise InputError(f"{name}: a table with two dimensions is needed, this has {array.ndim}")
    if array.dtype == object or array.dtype.kind not in "biuf":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"{name}: holds values that are no numbers; leave labels and names out of the table"
            ) from None
    return np.asarray(array)


def _floats(matrix: NDArray[Any], name: str) -> Floats:
    array = np.asarray(matrix, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if bad.size:
        raise InputError(
            f"{name}: row {bad[0]} has a value that is missing or infinite; drop the row or embed it again"
        )
    return array


def _list(values: Any) -> NDArray[Any]:
    array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    return np.asarray(array).ravel()


def _columns(
    labels: Any, classes: Any, n_cases: int, n_classes: int, label_name: str = "labels", class_name: str = "classes"
) -> NDArray[np.intp]:
    """For every case the column of its true class."""
    if labels is None:
        if n_cases != n_classes:
            raise InputError(
                f"{label_name}: {n_cases} cases and {n_classes} classes; without labels case i must belong to class i"
            )
        return np.arange(n_cases)
    given = _list(labels)
    if given.size != n_cases:
        raise InputError(f"{label_name}: {given.size} values for {n_cases} cases; give one per case")
    missing = [row for row, value in enumerate(given) if value is None or value != value]
    if missing:
        raise InputError(f"{label_name}: row {missing[0]} is missing; drop the case or label it")
    names = _class_names(given, classes, n_classes, label_name, class_name)
    place = {name: column for column, name in enumerate(names)}
    if len(place) != len(names):
        twice = next(name for column, name in enumerate(names) if place[name] != column)
        raise InputError(f"{class_name}: {twice!r} appears twice; every column is one class")
    columns = np.empty(n_cases, dtype=np.intp)
    for row, value in enumerate(given.tolist()):
        if value not in place:
            raise InputError(f"{label_name}: row {row} is {value!r}, which is none of the {n_classes} classes")
        columns[row] = place[value]
    return columns


def _class_names(given: NDArray[Any], classes: Any, n_classes: int, label_name: str, class_name: str) -> list[Any]:
    if classes is not None:
        names = _list(classes).tolist()
        if len(names) != n_classes:
            raise InputError(f"{class_name}: {len(names)} names for {n_classes} classes; give one per class, in order")
        return list(names)
    distinct = sorted(set(given.tolist()))
    if given.dtype.kind in "iu" and distinct[0] >= 0 and distinct[-1] < n_classes:
        return list(range(n_classes))
    if len(distinct) == n_classes and given.dtype.kind in "iufb":
        return distinct
    if len(distinct) == n_classes:  # names do not say which column is whose; their sorted order would be a guess
        raise InputError(
            f"{class_name}: {label_name} are names such as {distinct[0]!r}; say which class each one is with "
            f"{class_name}=[…], in order"
        )
    raise InputError(
        f"{class_name}: {len(distinct)} distinct values in {label_name} for {n_classes} classes; "
        f"say which class each one is with {class_name}="
    )


def _counts(values: Any, name: str) -> Floats:
    try:
        array = _list(values).astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name}: holds values that are no numbers; give one count per case") from None
    if array.size == 0:
        raise InputError(f"{name}: empty; give one count per case")
    bad = np.flatnonzero(~(array >= 0) | (array != np.floor(array)))
    if bad.size:
        raise InputError(f"{name}: row {bad[0]} is {array[bad[0]]:g}; counts are whole numbers from 0")
    return np.asarray(array, dtype=np.float64)


def _groups(labels: Any, n_cases: int) -> NDArray[np.intp]:
    if labels is None:
        return np.arange(n_cases)
    given = _list(labels)
    if given.size != n_cases:
        raise InputError(f"labels: {given.size} values for {n_cases} cases in wins; give one per case")
    number: dict[Any, int] = {}
    return np.array([number.setdefault(value, len(number)) for value in given.tolist()], dtype=np.intp)

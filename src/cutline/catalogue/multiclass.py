"""Measures of other shapes: a matrix of class scores, ordered classes, embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..ranking import rank
from ..sample import Sample, as_column
from ..validate import checked
from .compute import compute
from .declare import declare, parse_measure


def score_matrix_of(values: Any, argument: str = "score_matrix") -> NDArray[np.float64]:
    """A table of numbers as a two-dimensional array without missing values."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    try:
        matrix = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{argument} must be a table of numbers; convert its columns to floats") from None
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(
            f"{argument} must have one row for each case and one column for each class, got {matrix.shape}"
        )
    if np.isnan(matrix).any():
        row, column = np.argwhere(np.isnan(matrix))[0]
        raise InputError(f"{argument}: row {row}, column {column} is NaN; drop the row or give it a score")
    return matrix


def labelled_matrix(
    y_true: Any, score_matrix: Any, classes: Sequence[Any] | None
) -> tuple[NDArray[Any], NDArray[np.float64], list[Any]]:
    """Labels, matrix and the class of each column, checked against each other."""
    label = as_column(y_true, "y_true")
    if classes is None and hasattr(score_matrix, "columns"):
        classes = list(score_matrix.columns)
    matrix = score_matrix_of(score_matrix)
    if len(label) != len(matrix):
        raise InputError(f"y_true has {len(label)} rows but score_matrix has {len(matrix)}: pass one row for each case")
    present = sorted(set(label.tolist()), key=lambda v: (str(type(v)), v))
    names = present if classes is None else list(classes)
    if len(names) != matrix.shape[1]:
        raise InputError(
            f"score_matrix has {matrix.shape[1]} columns but there are {len(names)} classes; "
            "name the class of each column with classes=[…]"
        )
    if len(set(names)) != len(names):
        raise InputError("classes names a class twice; each column needs its own")
    known = set(names)
    for row, value in enumerate(label.tolist()):
        if value not in known:
            raise InputError(f"y_true: row {row} is {value!r}, which is not among the classes {names[:6]!r}")
    return label, matrix, names


@declare(
    "Mean average precision",
    "other",
    better="higher",
    range=(0.0, 1.0),
    formula="mean of average_precision over the classes, each in turn the positive one",
    latex=r"\frac1K\sum_{k=1}^K \mathrm{AP}_k",
    reference="Berrar Def. 32 and after Def. 33 (macro mean over classes: erratum B31)",
    undefined="a class has no cases, hence no average precision",
    rank_based=True,
    perfect=1.0,
)
def mean_average_precision(y_true: Any, score_matrix: Any, *, classes: Sequence[Any] | None = None) -> float:
    """Arithmetic mean of the average precisions of all classes.

    >>> mean_average_precision(["a", "b", "b"], [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
    1.0
    """
    label, matrix, names = labelled_matrix(y_true, score_matrix, classes)
    spec = parse_measure("average_precision")
    values = []
    for column, name in enumerate(names):
        positive = np.array([value == name for value in label.tolist()])
        if not positive.any():
            raise InputError(f"no case is of class {name!r}, so it has no average precision; leave its column out")
        score = np.ascontiguousarray(matrix[:, column])
        sample = Sample(positive, score, None, float(score.min()), float(score.max()))
        values.append(compute([spec], rank(sample)).values[spec])
    return float(np.mean(values))


@declare(
    "Ranked probability score",
    "other",
    better="lower",
    range=(0.0, 1.0),
    formula="(1/n) Σᵢ (1/(K−1)) Σₖ (F_ik − O_ik)², F and O: cumulative predicted and observed shares",
    latex=r"\frac{1}{n(K-1)}\sum_i\sum_{k=1}^{K-1}\left(\sum_{l\le k} p_{il} - I\{y_i \le k\}\right)^2",
    reference="Berrar Def. 18 (named there for ordered classes)",
    perfect=0.0,
)
def ranked_probability_score(y_true: Any, score_matrix: Any, *, classes: Sequence[Any] | None = None) -> float:
    """Squared distance between cumulative distributions over ordered classes; ``classes`` gives their order.

    >>> ranked_probability_score(["win"], [[0.0, 1.0, 0.0]], classes=["win", "draw", "lose"])
    0.5
    """
    label, matrix, names = labelled_matrix(y_true, score_matrix, classes)
    if len(names) < 2:
        raise InputError("ranked_probability_score needs at least two ordered classes")
    bad = (matrix < 0) | (matrix > 1) | (np.abs(matrix.sum(axis=1) - 1.0) > 1e-6)[:, None]
    if bad.any():
        row = int(np.argmax(bad.any(axis=1)))
        raise InputError(f"score_matrix: row {row} is no distribution; each row needs probabilities that sum to 1")
    place = {name: k for k, name in enumerate(names)}
    observed = np.array([place[value] for value in label.tolist()])[:, None] <= np.arange(len(names) - 1)
    gaps = np.cumsum(matrix, axis=1)[:, :-1] - observed
    return float((gaps**2).sum() / (len(label) * (len(names) - 1)))


@declare(
    "Triplet loss",
    "other",
    better="lower",
    range=(0.0, inf),
    formula="Σ max(0, ‖a − p‖² − ‖a − n‖² + margin) over the triplets",
    latex=r"\sum_{i=1}^N \max\{0, \|f(x_i^a) - f(x_i^p)\|^2 - \|f(x_i^a) - f(x_i^n)\|^2 + \mathrm{margin}\}",
    reference="Berrar Def. 34, Eq. 42 (N counts triplets: erratum B19)",
    perfect=0.0,
)
@checked
def triplet_loss(anchor: Any, positive: Any, negative: Any, *, margin: float, normalize: bool = False) -> float:
    """Sum over triplets of embeddings by how much the negative is not farther than the positive plus a margin.

    Embeddings must be of length 1 (Def. 34); ``normalize=True`` scales them.

    >>> triplet_loss([[1.0, 0.0]], [[1.0, 0.0]], [[0.0, 1.0]], margin=0.5)
    0.0
    """
    tables = {"anchor": anchor, "positive": positive, "negative": negative}
    a, p, n = (_embedding(values, name, normalize) for name, values in tables.items())
    if not a.shape == p.shape == n.shape:
        raise InputError(f"anchor, positive and negative must have one shape, got {a.shape}, {p.shape}, {n.shape}")
    gap = ((a - p) ** 2).sum(axis=1) - ((a - n) ** 2).sum(axis=1) + margin
    return float(np.maximum(gap, 0.0).sum())


def _embedding(values: Any, argument: str, normalize: bool) -> NDArray[np.float64]:
    table = score_matrix_of(values, argument)
    if not np.isfinite(table).all():
        raise InputError(
            f"{argument}: row {int(np.argwhere(~np.isfinite(table))[0][0])} is infinite; pass finite numbers"
        )
    length = np.sqrt((table**2).sum(axis=1))
    if normalize and length.all():
        return np.asarray(table / length[:, None])
    off = np.abs(length - 1.0) > 1e-6
    if off.any():
        row = int(np.argmax(off))
        raise InputError(
            f"{argument}: row {row} has length {length[row]:.6g}, not 1; pass normalize=True to scale the rows"
        )
    return table

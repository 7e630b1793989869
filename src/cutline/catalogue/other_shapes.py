"""Measures of other shapes as functions: a matrix of class scores, embeddings.

The measures of class scores are declared in ``classes``; here they become functions that users call.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..class_sample import SUM_TOLERANCE, make_class_sample, score_matrix_of
from ..errors import InputError, UndefinedWarning
from ..types import Labels, ScoreMatrix, Scores
from ..validate import checked
from .class_compute import ClassTotals
from .classes import class_measure, class_reason, make_class_spec, why_inapplicable_to_classes
from .declare import declare


def _of_scores(name: str, example: str) -> Callable[..., float]:
    """A measure of several classes as a function of labels and scores; its facts and words are those declared."""
    one = class_measure(name)

    @checked
    def function(
        y_true: Labels,
        score_matrix: ScoreMatrix,
        *,
        classes: Sequence[Any] | None = None,
        sample_weight: Scores | None = None,
        **options: Any,
    ) -> float:
        sample = make_class_sample(y_true, score_matrix, classes=classes, sample_weight=sample_weight)
        spec = make_class_spec(one, options)
        if why_inapplicable_to_classes(spec, sample):
            assert sample.matrix is not None
            sums = sample.matrix.sum(axis=1)
            bad = (sample.matrix < 0).any(axis=1) | (sample.matrix > 1).any(axis=1) | (np.abs(sums - 1) > SUM_TOLERANCE)
            raise InputError(
                "score_matrix",
                "is not a distribution over the classes",
                "each row needs probabilities that sum to 1",
                row=sample.first_row(bad),
            )
        totals = ClassTotals(sample)
        value = totals.values([spec])[spec]
        if value != value:
            reason = class_reason(spec, totals.sums([spec]), sample.classes)
            warnings.warn(f"{name} is undefined here: {reason}", UndefinedWarning, stacklevel=2)
        return value

    shape, own = inspect.signature(function), inspect.signature(one.compute).parameters
    labels, scores, *others, _ = shape.parameters.values()
    options = [own[option].replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in one.params]
    function.__signature__ = shape.replace(parameters=[labels, scores, *options, *others])  # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{one.summary}\n\n{inspect.cleandoc(example)}"
    return declare(
        one.title,
        "other",
        formula=one.formula,
        latex=one.latex,
        reference=one.reference,
        better=one.better,
        range=one.range,
        undefined=one.undefined,
        rank_based=one.reads == "scores",
        perfect=one.perfect,
    )(function)


hand_till_auc = _of_scores(
    "hand_till_auc",
    """
    >>> hand_till_auc(["a", "b", "c"], [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])
    1.0
    """,
)
top_t_accuracy = _of_scores(
    "top_t_accuracy",
    """
    >>> top_t_accuracy(["a", "b", "c"], [[0.6, 0.3, 0.1], [0.6, 0.3, 0.1], [0.6, 0.3, 0.1]], t=2)
    0.6666666666666666
    """,
)
risk_coverage_area = _of_scores(
    "risk_coverage_area",
    """
    >>> round(risk_coverage_area(["a", "b"], [[0.9, 0.1], [0.6, 0.4]]), 9)
    0.25
    """,
)
mean_average_precision = _of_scores(
    "mean_average_precision",
    """
    >>> mean_average_precision(["a", "b", "b"], [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
    1.0
    """,
)
ranked_probability_score = _of_scores(
    "ranked_probability_score",
    """
    >>> ranked_probability_score(["win"], [[0.0, 1.0, 0.0]], classes=["win", "draw", "lose"])
    0.5
    """,
)


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
def triplet_loss(
    anchor: ArrayLike, positive: ArrayLike, negative: ArrayLike, *, margin: float, normalize: bool = False
) -> float:
    """Sum over triplets of the amount by which the negative is not farther away than the positive plus a margin.

    Embeddings must be of length 1 (Def. 34); ``normalize=True`` scales them.

    >>> triplet_loss([[1.0, 0.0]], [[1.0, 0.0]], [[0.0, 1.0]], margin=0.5)
    0.0
    """
    return float(triplet_losses(anchor, positive, negative, margin, normalize).sum())


def triplet_losses(
    anchor: ArrayLike, positive: ArrayLike, negative: ArrayLike, margin: float, normalize: bool = False
) -> NDArray[np.float64]:
    """The loss of each triplet."""
    tables = {"anchor": anchor, "positive": positive, "negative": negative}
    a, p, n = (_embedding(values, name, normalize) for name, values in tables.items())
    if not a.shape == p.shape == n.shape:
        shapes = f"has shape {a.shape}, but positive and negative have {p.shape} and {n.shape}"
        raise InputError("anchor", shapes, "pass one row of the same length for each triplet")
    gap = ((a - p) ** 2).sum(axis=1) - ((a - n) ** 2).sum(axis=1) + margin
    return np.asarray(np.maximum(gap, 0.0))


def _embedding(values: Any, argument: str, normalize: bool) -> NDArray[np.float64]:
    table = score_matrix_of(values, argument).astype(np.float64)
    if not np.isfinite(table).all():
        row = int(np.argwhere(~np.isfinite(table))[0][0])
        raise InputError(argument, "is not finite", "pass finite numbers", row=row)
    length = np.sqrt((table**2).sum(axis=1))
    if normalize and length.all():
        return np.asarray(table / length[:, None])
    off = np.abs(length - 1.0) > 1e-6
    if off.any():
        row = int(np.argmax(off))
        raise InputError(
            argument, f"has length {length[row]:.6g}, not 1", "scale the rows with {normalize=True}", row=row
        )
    return table

"""Drop-in functions that read decisions: scikit-learn's names, arguments, values and warnings, for two labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from ..catalogue.declare import check_number
from ..errors import InputError
from .labels import Decisions, refuse_unless

_ONE_LABEL = (
    "A single label was found in 'y_true' and 'y_pred'. For the confusion matrix to have the correct shape, "
    "use the 'labels' parameter to pass all known labels."
)


def _correct(y_true: Any, y_pred: Any, normalize: bool, sample_weight: Any) -> tuple[float, float]:
    table = Decisions.of(y_true, y_pred, sample_weight).table
    right, total = float(np.trace(table)), float(table.sum())
    return (right / total, 1.0) if normalize else (right, total)


def accuracy_score(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> float:
    """Share (``normalize=False``: number) of right decisions.

    >>> accuracy_score(["a", "b", "b"], ["a", "b", "a"])
    0.6666666666666666
    """
    return _correct(y_true, y_pred, normalize, sample_weight)[0]


def zero_one_loss(y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None) -> float:
    """Share (``normalize=False``: number) of wrong decisions.

    >>> zero_one_loss([0, 1, 1, 0], [0, 1, 0, 0], normalize=False)
    1.0
    """
    right, of = _correct(y_true, y_pred, normalize, sample_weight)
    return of - right


def confusion_matrix(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None, normalize: str | None = None
) -> NDArray[Any]:
    """Cells by true (rows) and predicted (columns) label.

    >>> confusion_matrix([0, 1, 1, 0], [0, 1, 0, 0]).tolist()
    [[2, 0], [1, 1]]
    """
    refuse_unless("confusion_matrix", "labels", labels, (None,))
    refuse_unless("confusion_matrix", "normalize", normalize, (None, "true", "pred", "all"))
    table = Decisions.of(y_true, y_pred, sample_weight).table
    if normalize is not None:
        by = {"true": table.sum(axis=1, keepdims=True), "pred": table.sum(axis=0, keepdims=True), "all": table.sum()}
        with np.errstate(all="ignore"):
            table = np.nan_to_num(table / by[normalize])
    if len(table) == 1:
        warnings.warn(_ONE_LABEL, UserWarning, stacklevel=2)
    return table


def balanced_accuracy_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None, adjusted: bool = False) -> float:
    """Mean of the recalls of the labels that occur in ``y_true``; ``adjusted``: 0 for chance.

    >>> balanced_accuracy_score([0, 1, 1, 0], [0, 1, 0, 0])
    0.75
    """
    table = Decisions.of(y_true, y_pred, sample_weight).table
    if len(table) == 1:
        warnings.warn(_ONE_LABEL, UserWarning, stacklevel=2)
    true = table.sum(axis=1)
    recalls = np.diagonal(table)[true > 0] / true[true > 0]
    if len(recalls) < len(true):
        warnings.warn("y_pred contains classes not in y_true", UserWarning, stacklevel=2)
    score = np.mean(recalls)
    if adjusted:
        chance = 1.0 / len(recalls)
        score = (score - chance) / np.float64(1.0 - chance)
    return float(score)


def matthews_corrcoef(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Matthews' correlation of decisions and labels; 0 where either does not vary.

    >>> round(matthews_corrcoef([0, 1, 1, 0], [0, 1, 0, 0]), 4)
    0.5774
    """
    table = Decisions.of(y_true, y_pred, sample_weight).table.astype(np.float64)
    if len(table) == 1:
        warnings.warn(_ONE_LABEL, UserWarning, stacklevel=2)
        return 0.0
    (tn, fp), (fn, tp) = table
    spread = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return float((tp * tn - fp * fn) / np.sqrt(spread)) if spread > 0 else 0.0


def cohen_kappa_score(
    y1: Any,
    y2: Any,
    *,
    labels: Any = None,
    weights: str | None = None,
    sample_weight: Any = None,
    replace_undefined_by: float = np.nan,
) -> float:
    """Agreement of two raters beyond chance; with two labels all ``weights`` give the same number.

    >>> cohen_kappa_score([0, 1, 1, 0], [0, 1, 0, 0])
    0.5
    """
    refuse_unless("cohen_kappa_score", "labels", labels, (None,))
    refuse_unless("cohen_kappa_score", "weights", weights, (None, "linear", "quadratic"))
    table = Decisions.of(y1, y2, sample_weight, names=("y1", "y2")).table.astype(np.float64)
    if len(table) == 1:
        warnings.warn(_ONE_LABEL, UserWarning, stacklevel=2)
    second, first = table.sum(axis=0), table.sum(axis=1)
    expected = np.outer(second, first) / second.sum()
    off = ~np.eye(len(table), dtype=bool)
    if expected[off].sum() == 0:
        warnings.warn(
            "`y1`, `y2` and `labels` have only one label in common. `cohen_kappa_score` is undefined and set to "
            f"{replace_undefined_by}.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        return replace_undefined_by
    return float(1.0 - table[off].sum() / expected[off].sum())


def _divide(above: float, below: float, zero_division: Any, name: str, lacking: str) -> float:
    """A ratio with scikit-learn's answer to 0/0."""
    if below != 0:
        return above / below
    if isinstance(zero_division, str):
        warnings.warn(
            f"{name} is ill-defined and being set to 0.0 due to no {lacking} samples. Use `zero_division` parameter "
            "to control this behavior.",
            UndefinedMetricWarning,
            stacklevel=3,
        )
        return 0.0
    return float(zero_division)


def _binary_cells(
    function: str, y_true: Any, y_pred: Any, options: dict[str, Any], sample_weight: Any
) -> tuple[float, float, float]:
    """True positives, predicted and true ones, after the options that only scikit-learn's function takes."""
    refuse_unless(function, "labels", options["labels"], (None,))
    refuse_unless(function, "average", options["average"], ("binary",))
    zero = options["zero_division"]
    known = zero == "warn" if isinstance(zero, str) else zero != zero or zero in (0, 1)
    if not known:
        raise InputError(f"zero_division must be 'warn', 0, 1 or nan, got {zero!r}")
    tp, fp, fn, _ = Decisions.of(y_true, y_pred, sample_weight).cells(options["pos_label"])
    return tp, tp + fp, tp + fn


def precision_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> float:
    """Share of positives among the cases called positive.

    >>> precision_score([0, 1, 1, 0], [0, 1, 0, 1])
    0.5
    """
    options = {"labels": labels, "pos_label": pos_label, "average": average, "zero_division": zero_division}
    tp, called, _ = _binary_cells("precision_score", y_true, y_pred, options, sample_weight)
    return _divide(tp, called, zero_division, "Precision", "predicted")


def recall_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> float:
    """Share of the positives that are called positive.

    >>> recall_score([0, 1, 1, 0], [0, 1, 0, 0])
    0.5
    """
    options = {"labels": labels, "pos_label": pos_label, "average": average, "zero_division": zero_division}
    tp, _, true = _binary_cells("recall_score", y_true, y_pred, options, sample_weight)
    return _divide(tp, true, zero_division, "Recall", "true")


def fbeta_score(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float,
    labels: Any = None,
    pos_label: Any = 1,
    average: str = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> float:
    """Weighted harmonic mean of precision and recall; ``beta`` > 1 leans to recall.

    >>> round(fbeta_score([0, 1, 1, 0], [0, 1, 0, 0], beta=2), 4)
    0.5556
    """
    options = {"labels": labels, "pos_label": pos_label, "average": average, "zero_division": zero_division}
    tp, called, true = _binary_cells("fbeta_score", y_true, y_pred, options, sample_weight)
    square = check_number(beta, "beta", 0.0) ** 2
    # scikit-learn warns of the F-measure alone, so its limits at beta = 0 and infinity give 0 without a word
    quiet = 0.0 if isinstance(zero_division, str) else zero_division
    if np.isinf(square):
        return _divide(tp, true, quiet, "", "")
    if square == 0:
        return _divide(tp, called, quiet, "", "")
    return _divide((1 + square) * tp, square * true + called, zero_division, "F-score", "true nor predicted")


def f1_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> float:
    """Harmonic mean of precision and recall.

    >>> round(f1_score([0, 1, 1, 0], [0, 1, 0, 0]), 4)
    0.6667
    """
    options = {"labels": labels, "pos_label": pos_label, "average": average, "zero_division": zero_division}
    tp, called, true = _binary_cells("f1_score", y_true, y_pred, options, sample_weight)
    return _divide(2 * tp, true + called, zero_division, "F-score", "true nor predicted")


def jaccard_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> float:
    """Right positives among the cases that are positive or called so.

    >>> jaccard_score([0, 1, 1, 0], [0, 1, 0, 0])
    0.5
    """
    options = {"labels": labels, "pos_label": pos_label, "average": average, "zero_division": zero_division}
    tp, called, true = _binary_cells("jaccard_score", y_true, y_pred, options, sample_weight)
    return _divide(tp, called + true - tp, zero_division, "Jaccard", "true or predicted")

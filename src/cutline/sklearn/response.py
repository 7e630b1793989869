"""What an estimator says about rows, as one column of scores for the positive class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError, show
from ..sources.arrays import is_positive
from ..types import Label

AUTO = ("predict_proba", "decision_function")
BOUNDARY = {"predict_proba": 0.5, "decision_function": 0.0}


class NoResponseError(InputError, AttributeError):
    """An estimator that gives no scores; an AttributeError too, as scikit-learn's tools expect."""


def response_names(response_method: Any) -> tuple[str, ...]:
    """The methods to try, in order."""
    if isinstance(response_method, str):
        response_method = AUTO if response_method == "auto" else (response_method,)
    if not isinstance(response_method, Sequence) or not response_method or not set(response_method) <= set(AUTO):
        raise NoResponseError(
            "response_method", f"is {show(response_method)}", "choose 'auto', 'predict_proba' or 'decision_function'"
        )
    return tuple(response_method)


def find_response(estimator: Any, response_method: Any = "auto") -> str:
    """The first of the methods that the estimator has."""
    names = response_names(response_method)
    for name in names:
        if hasattr(estimator, name):
            return name
    raise NoResponseError("estimator", f"has no {' and no '.join(names)}, so it gives no scores", "pass one that does")


def positive_class(estimator: Any, pos_label: Label = None) -> Any:
    """The class of two that counts as positive, by the one rule for labels: as named, or as they say by themselves."""
    if not hasattr(estimator, "classes_"):
        if hasattr(estimator, "fit"):
            check_is_fitted(estimator)
        said = f"is a {type(estimator).__name__}, which has no classes"
        raise InputError("estimator", said, "pass a fitted classifier")
    classes = np.asarray(estimator.classes_)
    if len(classes) != 2:
        raise InputError(
            "estimator", f"knows {len(classes)} classes, and two are needed", "see cutline.evaluate_classes"
        )
    return classes.tolist()[int(np.argmax(is_positive(classes, pos_label)))]


def scores_of(estimator: Any, X: Any, method: str, pos_label: Label) -> NDArray[Any]:
    """Scores for the class ``pos_label``: higher means more likely."""
    return scores_among(estimator.classes_, getattr(estimator, method)(X), pos_label)


def scores_among(classes: Any, answer: Any, pos_label: Label) -> NDArray[Any]:
    """Scores for one class of two out of an estimator's answer: a column for each, or a signed distance."""
    at, given = np.asarray(classes).tolist().index(pos_label), np.asarray(answer)
    if given.ndim == 2:
        return np.ascontiguousarray(given[:, at])
    return given if at == 1 else -given

"""Measure strings as scikit-learn scorers."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import make_scorer

from ..catalogue.compute import compute_one
from ..catalogue.declare import Spec, parse_measure
from ..errors import InputError, UndefinedWarning, show
from ..sources.arrays import as_column, is_positive
from ..types import Label, Labels, Scores
from .response import AUTO, response_names


class MeasureFunction:
    """A measure string as a function of labels and what an estimator said; pickles, since it keeps only the string."""

    def __init__(self, text: str, reads_decisions: bool) -> None:
        self.text, self.reads_decisions = text, reads_decisions
        self.__name__ = text
        keyword = inspect.Parameter.KEYWORD_ONLY
        added = ["pos_label", *(["sample_weight"] if parse_measure(text).measure.family != "other" else [])]
        # scikit-learn reads from the signature whether weights may be passed on
        self.__signature__ = inspect.Signature(
            [
                inspect.Parameter("y_true", inspect.Parameter.POSITIONAL_OR_KEYWORD),
                inspect.Parameter("y_pred", inspect.Parameter.POSITIONAL_OR_KEYWORD),
                *(inspect.Parameter(name, keyword, default=None) for name in added),
            ]
        )

    def __call__(
        self, y_true: Labels, y_pred: Labels | None, *, pos_label: Label = None, sample_weight: Scores | None = None
    ) -> float:
        spec = parse_measure(self.text)
        said = np.asarray(y_pred)
        if self.reads_decisions:
            positive = _positive(as_column(y_true, "y_true"), said, pos_label)
            score = positive[1].astype(np.float64)
            y_true, pos_label = positive[0], None
        elif said.dtype.kind != "f":
            problem = f"are decisions, which no longer rank the cases, but {spec} reads scores"
            raise InputError("y_pred", problem, "to tune a decision threshold take a measure of decisions, such as f1")
        else:
            score = said
            if pos_label is None:
                _check_order(as_column(y_true, "y_true"))
        value, why = compute_one(spec, y_true, score, pos_label=pos_label, sample_weight=sample_weight)
        if value != value:
            warnings.warn(f"{spec} is undefined here: {why}", UndefinedWarning, stacklevel=2)
        return value

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, MeasureFunction) and self.text == other.text
        return same and self.reads_decisions == other.reads_decisions  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((self.text, self.reads_decisions))


def _positive(true: Any, said: Any, pos_label: Label) -> tuple[Any, Any]:
    """Which labels and which decisions are positive, by the one rule for labels."""
    both = is_positive(np.concatenate([true, said]), pos_label)
    return both[: len(true)], both[len(true) :]


def _check_order(labels: Any) -> None:
    """Refuse labels that say by themselves which is positive, where scikit-learn takes the scores of the other one.

    It takes those of the class that sorts last, unless ``pos_label`` names one: of 'TRUE' and 'false' that is 'false'.
    """
    positive = is_positive(labels, None)
    if labels.dtype.kind in "OUS" and positive.any() and not positive.all():
        yes, no = labels[positive][0], labels[~positive][0]
        if not no < yes:
            said = f"holds {show(yes)} and {show(no)}, and scikit-learn passes the scores of {show(no)}"
            raise InputError("y_true", said, f"name the positive label: {{pos_label={show(yes)}}}")


def scorer(measure: Any, *, pos_label: Label = None, response_method: Any = "auto") -> Callable[..., float]:
    """A scikit-learn scorer for a measure string: for ``scoring=`` in searches and cross-validation.

    What it reads of the estimator: a measure at a threshold without a threshold of its own reads the decisions of
    ``predict``, so that it also tunes thresholds in ``TunedThresholdClassifierCV``; ``hinge_loss`` reads
    ``decision_function``; measures of probabilities read ``predict_proba``; all others take ``predict_proba``, else
    ``decision_function``, unless ``response_method`` names one. Losses are negated, since scikit-learn maximises.

    ``pos_label`` is needed unless the labels are 0/1 or −1/+1. A quota counts rows of whatever set is scored: in
    cross-validation a share (``qrecall@5%``) means the same in every fold. An undefined value is nan with a warning.

    >>> scorer("qrecall@5%")
    make_scorer(qrecall@5%, response_method=('predict_proba', 'decision_function'))
    >>> scorer("brier_score")
    make_scorer(brier_score, greater_is_better=False, response_method='predict_proba')
    """
    spec: Spec = parse_measure(measure)
    one = spec.measure
    if one.family == "other":
        raise InputError("measure", f"{one.name} reads no single column of scores, so it cannot be a scorer")
    if one.needs_quota and spec.quota is None:
        raise InputError("measure", f"{one.name} needs a quota", f"write '{one.name}@5%' or '{one.name}@200'")
    methods: Any = response_names(response_method)
    reads_decisions = one.needs_threshold and spec.threshold is None and response_method == "auto"
    if reads_decisions:
        methods = "predict"
    elif response_method == "auto" and one.name == "hinge_loss":
        methods = "decision_function"
    elif response_method == "auto" and one.scores == "probability":
        methods = "predict_proba"
    elif methods != AUTO:
        methods = methods[0] if len(methods) == 1 else methods
    options = {} if pos_label is None else {"pos_label": pos_label}
    function = MeasureFunction(measure if isinstance(measure, str) else str(spec), reads_decisions)
    better = one.better == "higher"
    made: Callable[..., float] = make_scorer(function, response_method=methods, greater_is_better=better, **options)
    return made

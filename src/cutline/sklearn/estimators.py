"""What an estimator predicts for rows, and a measure of that as a scorer."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import make_scorer
from sklearn.utils.validation import check_is_fitted

from ..catalogue.compute import compute_one
from ..catalogue.declare import Spec, parse_measure
from ..errors import InputError, UndefinedWarning, show
from ..reference import documented
from ..sources.arrays import as_column, is_positive
from ..types import Label, Labels, MeasureLike, Scores

AUTO = ("predict_proba", "decision_function")
BOUNDARY = {"predict_proba": 0.5, "decision_function": 0.0}


class NoResponseError(InputError, AttributeError):
    """An estimator that gives no scores; an AttributeError too, as scikit-learn's tools expect."""


def response_names(response_method: Any) -> tuple[str, ...]:
    """The methods to try, in order."""
    names = response_method
    if isinstance(names, str):
        names = AUTO if names == "auto" else (names,)
    if not isinstance(names, list | tuple) or not names or not set(map(str, names)) <= {*AUTO}:
        remedy = "choose 'auto', 'predict_proba' or 'decision_function'"
        raise NoResponseError("response_method", f"is {show(response_method)}", remedy)
    return tuple(names)


def find_response(estimator: Any, response_method: Any = "auto") -> str:
    """The first of the methods that the estimator has."""
    names = response_names(response_method)
    for name in names:
        if hasattr(estimator, name):
            return name
    raise NoResponseError("estimator", f"has no {' and no '.join(names)}, so it gives no scores", "pass one that does")


def positive_class(estimator: Any, pos_label: Label = None) -> Any:
    """The class of two that counts as positive, by the one rule for labels: as named, or as they show by themselves."""
    if not hasattr(estimator, "classes_"):
        if hasattr(estimator, "fit"):
            check_is_fitted(estimator)
        said = f"is a {type(estimator).__name__}, which has no classes"
        raise InputError("estimator", said, "pass a fitted classifier")
    classes = np.asarray(estimator.classes_)
    if len(classes) != 2:
        raise InputError("estimator", f"knows {len(classes)} classes, and two are needed", "see cutline.evaluate")
    return classes.tolist()[int(np.argmax(is_positive(classes, pos_label)))]


def scores_of(estimator: Any, X: Any, method: str, pos_label: Label) -> NDArray[Any]:
    """Scores for the class ``pos_label``: higher means more likely. An answer is a column for each, or a distance."""
    at, given = np.asarray(estimator.classes_).tolist().index(pos_label), np.asarray(getattr(estimator, method)(X))
    return np.ascontiguousarray(given[:, at]) if given.ndim == 2 else given if at == 1 else -given


@dataclass(frozen=True, repr=False)
class MeasureFunction:
    """A measure string as a function of labels and predictions; pickles, since it keeps only the string."""

    text: str
    reads_decisions: bool

    @property
    def __name__(self) -> str:
        return self.text

    @property
    def __signature__(self) -> inspect.Signature:
        """From which scikit-learn reads whether weights may be passed on."""
        added = ["pos_label", *(["sample_weight"] if parse_measure(self.text).measure.of_one_score else [])]
        both = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("y_true", "y_pred")]
        more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in added]
        return inspect.Signature([*both, *more])

    def __call__(
        self, y_true: Labels, y_pred: Labels | None, *, pos_label: Label = None, sample_weight: Scores | None = None
    ) -> float:
        spec = parse_measure(self.text)
        score, true = np.asarray(y_pred), as_column(y_true, "y_true")
        if pos_label is None:
            _check_labels(true, ordered=not self.reads_decisions)
        if self.reads_decisions:
            # Which labels and which decisions are positive, by the one rule for labels.
            positive = is_positive(np.concatenate([true, score]), pos_label)
            y_true, score, pos_label = positive[: len(true)], positive[len(true) :].astype(np.float64), None
        elif score.dtype.kind != "f":
            problem = f"are decisions, which no longer rank the cases, but {spec} reads scores"
            raise InputError("y_pred", problem, "to tune a decision threshold take a measure of decisions, such as f1")
        value, why = compute_one(spec, y_true, score, pos_label=pos_label, sample_weight=sample_weight)
        if value != value:
            warnings.warn(f"{spec} is undefined here: {why}", UndefinedWarning, stacklevel=2)
        return value

    def __repr__(self) -> str:
        return self.text


class UnclearLabels(BaseException):
    """Labels that do not tell which is positive, in a search or a cross-validation that hides the errors of scorers.

    Not an ``Exception``: scikit-learn turns each of those into a nan score and a warning, and goes on.
    """


def _check_labels(labels: Any, *, ordered: bool) -> None:
    """Raise an error for labels that need ``pos_label``: which is positive is not clear, or scikit-learn means another.

    Where scores are read (``ordered``), it takes those of the class that sorts last, unless ``pos_label`` names one: of
    'TRUE' and 'false' that is 'false'.
    """
    try:
        positive = is_positive(labels, None)
        if ordered and labels.dtype.kind in "OUS" and positive.any() and not positive.all():
            yes, no = labels[positive][0], labels[~positive][0]
            if not no < yes:
                problem = f"contains {show(yes)} and {show(no)}, and scikit-learn passes the scores of {show(no)}"
                raise InputError("y_true", problem, f"name the positive label: {{pos_label={show(yes)}}}")
    except InputError as error:
        frame = inspect.currentframe()
        while frame is not None:
            # where scikit-learn catches what a scorer raises: error_score is what it puts in its place
            if frame.f_code.co_name == "_score" and frame.f_locals.get("error_score", "raise") != "raise":
                raise UnclearLabels(f"{error} (in scorer: scorer(…, pos_label=…))") from error
            frame = frame.f_back
        raise


@documented
def scorer(
    measure: MeasureLike, *, pos_label: Label = None, response_method: str | Sequence[str] = "auto"
) -> Callable[..., float]:
    """A scikit-learn scorer for a measure string: for ``scoring=`` in searches and cross-validation.

    What it reads of the estimator: a measure at a threshold without a threshold of its own reads the decisions of
    ``predict``, so that it also tunes thresholds in ``TunedThresholdClassifierCV``; ``hinge_loss`` reads
    ``decision_function``; measures of probabilities read ``predict_proba``; all others take ``predict_proba``, else
    ``decision_function``, unless ``response_method`` names one. Losses are negated, since scikit-learn maximises.

    ``pos_label`` is needed unless the labels are 0/1 or −1/+1; without it, a search stops at its first fit with an
    error. A quota counts rows of whatever set is scored: in cross-validation a share (``qrecall@5%``) means the same in
    every fold. An undefined value is nan with a warning.

    >>> scorer("qrecall@5%")
    make_scorer(qrecall@5%, response_method=('predict_proba', 'decision_function'))
    >>> scorer("brier_score")
    make_scorer(brier_score, greater_is_better=False, response_method='predict_proba')
    """
    spec: Spec = parse_measure(measure)
    one = spec.measure
    if not one.of_one_score:
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

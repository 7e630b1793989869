"""Cross-validation -> evaluations fold by fold, and their mean with an interval for overlapping training sets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv, cross_validate
from sklearn.utils import _safe_indexing

from ..catalogue.declare import Spec
from ..errors import InputError, different_lengths, show, verbatim
from ..estimate import Estimate, Settings
from ..evaluation import Evaluation, choose_specs
from ..inference.differences import DifferenceTest
from ..inference.limits import t_quantile, two_sided_p
from ..sources.arrays import as_column, as_numbers, read_labels
from ..table import ByMeasure, DictResult, Figure, HasSections, Section, Table, ends, format_value, pluralize
from ..types import Axes, Label, Labels, MeasureLike, Scores
from ..validate import checked
from ..verbs import evaluate
from ..verdict import Models
from .estimators import BOUNDARY, find_response, positive_class, scores_of


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(HasSections, ByMeasure):
    """Evaluations of cross-validated models. ``cv["roc_auc"]`` is the mean over the folds with its interval.

    ``folds`` are the evaluations of the test sets.
    """

    name: str
    folds: tuple[Evaluation, ...]
    trained_on: tuple[int, ...]
    estimates: Mapping[str, Estimate]
    level: float
    tested_share: float

    def __getitem__(self, name: str) -> Estimate:
        return self.estimates[self.folds[0][name].name]

    def values(self, name: str) -> NDArray[np.float64]:
        """The value of a measure in each fold."""
        return np.array([fold[name].value for fold in self.folds])

    @property
    def evaluations(self) -> Mapping[str, Evaluation]:
        """The folds' evaluations by name."""
        return MappingProxyType({fold.name: fold for fold in self.folds})

    @checked
    def plot(self, kind: str = "roc", ax: Axes | None = None, **options: Any) -> Any:
        """Draw the folds' curves; returns the Axes."""
        from ..present.plots import plot

        return plot(self, kind, ax=ax, **options)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each measure: mean over folds with interval, and the spread of the folds."""
        rows = []
        for key, e in self.estimates.items():
            values = self.values(key)
            spread = {"lowest_fold": float(np.min(values)), "highest_fold": float(np.max(values))}
            spread["undefined_folds"] = e.undefined_replicates
            rows.append({"measure": key, **e.to_dict(), **spread, "reason": e.reason})
        return rows

    def sections(self) -> list[Section]:
        """The means with their intervals, and the folds' curves."""
        rows = []
        for row, (key, e) in zip(self.to_dicts(), self.estimates.items(), strict=True):
            lost, folds = row["undefined_folds"], ends(row["lowest_fold"], row["highest_fold"])
            shown = {"measure": key, "mean": format_value(e.value), "interval": ends(e.low, e.high), "folds": folds}
            rows.append({**shown, "note": row["reason"] or (f"undefined in {lost}" if lost else "")})
        answer = f"{self.name}: {len(self.folds)} folds, {self.level:.0%} intervals"
        curves = [Figure(kind, self.folds) for kind in ("roc", "precision_recall")]
        return [Section("answer", [answer, *curves, Table(rows)])]


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidatedComparison(HasSections, DictResult, Models[CrossValidation]):
    """Several estimators on the same splits. Reads as a mapping from model to :class:`CrossValidation`.

    A difference is the mean over the folds of the difference in a fold, tested by the corrected resampled t-test of
    Nadeau & Bengio (2003).
    """

    evaluations: Mapping[str, CrossValidation]
    specs: Mapping[str, Spec]
    settings: Settings
    margin: float | None

    def _test(self, a: str, b: str, key: str) -> DifferenceTest:
        """The difference of two models by one measure, over the folds in which both have a value."""
        one, two = self.evaluations[a], self.evaluations[b]
        gaps = one.values(key) - two.values(key)
        gaps = gaps[np.isfinite(gaps)]
        error, freedom = corrected_error(gaps, one.tested_share), len(gaps) - 1.0
        if not error > 0:
            return DifferenceTest()
        mean, half = float(gaps.mean()), t_quantile(self.settings.level, freedom) * error
        p_value = two_sided_p(mean / error, freedom)
        return DifferenceTest(mean - half, mean + half, error, p_value, "corrected resampled t")

    def to_dict(self) -> dict[str, Any]:
        """Each model's measures, the differences, and the verdict by each measure."""
        return {
            **self.settings.to_dict(),
            "margin": self.margin,
            "folds": len(self.first.folds),
            "models": [{"name": name, "measures": cv.to_dicts()} for name, cv in self.evaluations.items()],
            "differences": self.differences.to_dicts(),
            "verdicts": [verdict.to_dict() for verdict in self.decided],
        }

    def sections(self) -> list[Section]:
        """The models side by side, and the verdict by each measure."""
        title = f"{pluralize(len(self.evaluations), 'model')}, mean over {len(self.first.folds)} folds"
        verdicts = [f"{verdict.measure}: {verdict.best}; {verdict.sentence}" for verdict in self.decided]
        return [Section("answer", [title, Table(self.table)]), Section("verdicts", verdicts)]


def corrected_error(values: NDArray[np.float64], tested_share: float) -> float:
    """Standard error of a mean over k overlapping folds: √(variance · (1/k + n_test/n_train)), Nadeau & Bengio 2003."""
    k = len(values)
    return math.sqrt(float(values.var(ddof=1)) * (1.0 / k + tested_share)) if k > 1 else math.nan


def _no_score(*of: Any) -> float:
    """The estimators are scored later, by every measure at once. (A lambda would not go to another process.)"""
    return 0.0


@overload
def evaluate_cv(estimator: Mapping[str, Any], X: Any, y: Labels, **options: Any) -> CrossValidatedComparison: ...
@overload
def evaluate_cv(estimator: Any, X: Any, y: Labels, **options: Any) -> CrossValidation: ...


@checked  # type: ignore[misc]  # the overloads leave the options to the signature below
def evaluate_cv(
    estimator: Any,
    X: Any,
    y: Labels,
    *,
    cv: Any = None,
    groups: Labels | None = None,
    params: Mapping[str, Any] | None = None,
    sample_weight: Scores | None = None,
    pos_label: Label = None,
    response_method: Any = "auto",
    threshold: float | None = None,
    quota: float | None = None,
    measures: Sequence[MeasureLike] | None = None,
    level: float = 0.95,
    margin: float | None = None,
    n_jobs: int | None = None,
) -> CrossValidation | CrossValidatedComparison:
    """Evaluate an estimator by cross-validation, or compare several on the same splits.

    The mean of the folds' values comes with the corrected resampled t interval of Nadeau & Bengio (2003): variance of
    the values × (1/k + n_test/n_train), k − 1 degrees of freedom. Training sets overlap, so folds are not independent;
    the second term allows for that. It is for models trained on n_train rows, and includes the variation from training.
    It assumes values near normal and a correlation of about n_test/(n_test + n_train) between folds. If all folds
    agree, there is no spread and no interval.

    With a mapping from name to estimator, every estimator sees the same splits, and differences are taken fold by
    fold.

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = make_classification(n_samples=200, random_state=0)
    >>> result = evaluate_cv(LogisticRegression(), X, y, cv=5, measures=["roc_auc", "qrecall@20%"])
    >>> len(result.values("roc_auc")), result["roc_auc"].method
    (5, 'corrected_t')
    >>> models = {"logistic": LogisticRegression(), "bayes": GaussianNB()}
    >>> evaluate_cv(models, X, y, cv=5, measures=["roc_auc"]).verdict("roc_auc").status
    'cannot tell'
    """
    several = isinstance(estimator, Mapping)
    if params is not None and not (isinstance(params, Mapping) and all(isinstance(name, str) for name in params)):
        raise InputError("params", f"is {show(params)}", "pass a mapping from name to what fit is given")
    if several and not estimator:
        remedy = "pass one estimator, or a mapping from name to estimator"
        raise InputError("estimator", "does not name the estimators", remedy)
    if not several and margin is not None:
        remedy = "leave it out, or pass a mapping from name to estimator"
        raise InputError("margin", "is for several estimators", remedy)
    labels, rows = as_column(y, "y"), len(read_labels(y, "y", pos_label)[0])
    weights = None if sample_weight is None else as_numbers(sample_weight, "sample_weight")[0]
    if weights is not None and len(weights) != rows:
        raise different_lengths("sample_weight", len(weights), "y", rows)
    models = dict(estimator) if several else {type(estimator).__name__: estimator}
    for model in models.values():  # what scikit-learn can clone and fit
        if isinstance(model, type) or not (hasattr(model, "fit") and hasattr(model, "get_params")):
            remedy = "pass an estimator of scikit-learn, with fit and get_params"
            raise InputError("estimator", f"is {show(model)}", remedy)
    quotas = [quota, *(spec.quota for spec in choose_specs(measures, threshold=threshold, quota=quota))]
    if any(isinstance(each, int) for each in quotas):
        message = "counts rows, which mean one thing in a fold and another in the whole"
        raise InputError("quota", message, "give a share, such as 0.05 or '@5%'")
    try:
        splits = list(check_cv(cv, y, classifier=True).split(X, y, groups))  # drawn once: the same for all
    except (TypeError, ValueError) as error:  # rows, groups and folds that do not go together, in scikit-learn's words
        raise InputError(None, f"scikit-learn cannot split the rows: {verbatim(str(error))}") from error
    parts = [np.asarray(part) for pair in splits for part in (pair if isinstance(pair, tuple | list) else [pair])]
    if not parts or any(p.ndim != 1 or not p.size or p.dtype.kind not in "iub" or p.max() >= rows for p in parts):
        raise InputError("cv", f"is {show(cv)}", "give a number of folds, a splitter, or pairs of row numbers")
    trained_on = tuple(len(train) for train, _ in splits)
    share = float(np.mean([len(test) / len(train) for train, test in splits]))
    validated: dict[str, CrossValidation] = {}
    how: dict[str, Any] = {"n_jobs": n_jobs, "params": None if params is None else dict(params)}
    how |= {"scoring": _no_score, "return_estimator": True, "error_score": "raise"}
    for title, model in models.items():
        fitted = cross_validate(model, X, y, cv=splits, **how)["estimator"]
        folds = []
        for number, (one, (_, test)) in enumerate(zip(fitted, splits, strict=True), 1):
            label, method = positive_class(one, pos_label), find_response(one, response_method)
            score = scores_of(one, _safe_indexing(X, test), method, label)
            read: dict[str, Any] = {"quota": quota, "measures": measures, "interval": None, "name": f"fold {number}"}
            read["threshold"] = BOUNDARY[method] if threshold is None else threshold
            read["sample_weight"] = None if weights is None else weights[test]
            folds.append(evaluate(labels[test] == label, score, **read))
        estimates = {key: _over_folds(key, folds, share, level) for key in folds[0]}
        validated[title] = CrossValidation(title, tuple(folds), trained_on, estimates, level, share)
    if not several:
        return next(iter(validated.values()))
    specs = next(iter(validated.values())).folds[0].specs
    return CrossValidatedComparison(validated, specs, Settings("auto", level, 0, 0), margin)


def _over_folds(key: str, folds: Sequence[Evaluation], tested_share: float, level: float) -> Estimate:
    """Mean over the folds that have a value, with the corrected t interval."""
    values = np.array([fold[key].value for fold in folds])
    known = values[~np.isnan(values)]
    if not len(known):
        return Estimate(key, math.nan, reason=folds[0][key].reason, undefined_replicates=len(values))
    mean, lost = float(known.mean()), len(values) - len(known)
    error = corrected_error(known, tested_share) if np.isfinite(mean) else math.nan
    if not error > 0:
        return Estimate(key, mean, undefined_replicates=lost)
    half = t_quantile(level, len(known) - 1.0) * error
    low, high = np.clip([mean - half, mean + half], *folds[0].specs[key].measure.range)
    return Estimate(key, mean, float(low), float(high), level, "corrected_t", undefined_replicates=lost)

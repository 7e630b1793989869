"""A classifier that calls positive no more cases than there are places."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import cross_val_predict
from sklearn.utils import assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from ..decide.selection import Selection, select
from ..decide.thresholds import threshold_for
from ..errors import InputError, show
from ..quotas import resolve_quota
from ..types import Estimator, Label
from .response import find_response, positive_class, scores_among, scores_of


class QuotaClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Calls the best share ``quota`` of the cases positive.

    ``fit`` learns a threshold, and ``predict`` applies it row by row, as scikit-learn expects of a classifier: what is
    said of a case does not depend on the cases that come with it. The threshold is that which a share ``quota`` of the
    training rows passes, by scores of models that were not fitted to them (``cv``), since a model's scores on its own
    training rows are not what it gives to new ones. New rows from the same population pass it about as often, not
    exactly so often. Where there are exactly so many places and a whole batch is at hand, ``select(X)`` takes the best
    of that batch, no more than the quota.

    ``quota``: a share of the rows, or a number of rows: for ``predict`` so many of as many rows as ``fit`` was given,
    for ``select`` so many of the batch. ``cv="prefit"`` takes the estimator as it is fitted, and the rows given to
    ``fit`` for the threshold alone. ``pos_label``: needed unless the labels are 0/1, −1/+1 or booleans, as everywhere.

    ``decision_function`` is the estimator's score less the threshold: positive means taken. There is no
    ``predict_proba``: probabilities that contradict the decisions are to be had from ``estimator_``.

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(n_samples=400, random_state=0)
    >>> model = QuotaClassifier(LogisticRegression(), quota=0.1).fit(X[:300], y[:300])
    >>> len(model.select(X[300:]))
    10
    """

    def __init__(
        self,
        estimator: Estimator,
        *,
        quota: int | float = 0.1,
        cv: Any = 5,
        pos_label: Label = None,
        response_method: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.quota = quota
        self.cv = cv
        self.pos_label = pos_label
        self.response_method = response_method
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, **params: Any) -> QuotaClassifier:
        """Fit the estimator, and learn the threshold from out-of-fold scores; ``params`` go to the estimator's fit."""
        X, y = indexable(X, y)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        weight = params.get("sample_weight")
        if weight is not None and len(np.unique(y[np.asarray(weight) > 0])) < 2:
            raise ValueError("sample_weight leaves cases of a single class; give cases of both classes a weight")
        if isinstance(self.cv, str):
            if self.cv != "prefit":
                raise InputError("cv", f"is {show(self.cv)}", "pass a number of folds, a splitter, or 'prefit'")
            check_is_fitted(self.estimator)
            self.estimator_: Any = self.estimator
        else:
            self.estimator_ = self._fitted(X, y, params)
        self.classes_ = self.estimator_.classes_
        if len(self.classes_) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: {self.classes_.tolist()!r}")
        self.response_method_ = find_response(self.estimator_, self.response_method)
        self.threshold_ = self._threshold(X, y, params)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _fitted(self, X: Any, y: Any, params: dict[str, Any]) -> Any:
        if params and get_config()["enable_metadata_routing"]:
            params = process_routing(self, "fit", **params).estimator.fit
        return clone(self.estimator).fit(X, y, **params)

    def _threshold(self, X: Any, y: Any, params: dict[str, Any]) -> float:
        """The score that a share ``quota`` of the rows exceeds."""
        if isinstance(self.cv, str):
            score = self._scores(X)
        else:
            how = {"cv": self.cv, "method": self.response_method_, "params": params or None, "n_jobs": self.n_jobs}
            score = scores_among(self.classes_, cross_val_predict(self.estimator, X, y, **how), self._positive)
        resolve_quota(self.quota, len(score))
        return float(threshold_for(np.zeros(len(score), np.bool_), np.ascontiguousarray(score), quota=self.quota))

    @property
    def _positive(self) -> Any:
        return positive_class(self, self.pos_label)

    def _scores(self, X: Any) -> NDArray[Any]:
        return scores_of(self.estimator_, X, self.response_method_, self._positive)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """How far each score lies above the threshold."""
        check_is_fitted(self)
        return self._scores(X) - self.threshold_

    def predict(self, X: Any) -> NDArray[Any]:
        """The positive class for every row whose score exceeds the threshold learnt by ``fit``."""
        taken = self.decision_function(X) > 0
        at = self.classes_.tolist().index(self._positive)
        chosen: NDArray[Any] = self.classes_[np.where(taken, at, 1 - at)]
        return chosen

    def select(self, X: Any, *, quota: int | float | None = None, ties: Any = "random", seed: int = 0) -> Selection:
        """Rows of this batch that fill the quota, best first; ties across the last place as in :func:`cutline.select`.

        A batch with no more rows than places is taken whole.
        """
        check_is_fitted(self)
        score = self._scores(X)
        places = self.quota if quota is None else quota
        places = places if isinstance(places, float) else min(places, len(score))
        return select(score, places, ties=ties, seed=seed)

    def get_metadata_routing(self) -> Any:
        """Metadata given to ``fit`` goes to the estimator's ``fit``."""
        return MetadataRouter(owner=self).add(
            estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit")
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # it fills places; how many are positive is not its to choose
        return tags

"""Cross-validation -> evaluations: fold by fold, and of all out-of-fold scores together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import cross_validate
from sklearn.utils import _safe_indexing

from ..catalogue.declare import Spec
from ..errors import InputError, different_lengths
from ..estimate import Estimate
from ..evaluation import Evaluation, choose_specs, evaluate, evaluation_of, obstacle_of
from ..inference.evidence import Rows
from ..inference.settings import Settings
from ..sample import as_column, as_numbers, make_sample
from ..table import Table, TabularResult, format_value, text_table
from ..validate import checked
from .response import BOUNDARY, find_response, positive_class, scores_of


@dataclass(frozen=True, eq=False)
class Fold:
    """The test rows of one split: where they are, whether they are positive, what the model fitted without them says.

    ``boundary`` is the model's own limit between the classes on the scale of the scores.
    """

    rows: NDArray[np.intp]
    trained_on: int
    positive: NDArray[np.bool_]
    score: NDArray[Any]
    boundary: float


def read_folds(cv_results: Mapping[str, Any], X: Any, y: Any, *, pos_label: Any, response_method: Any) -> list[Fold]:
    """Score the test rows of each split with the estimator of that split."""
    if "estimator" not in cv_results or "indices" not in cv_results:
        remedy = "call cross_validate(…, return_estimator=True, return_indices=True)"
        raise InputError("cv_results", "holds no estimators or no indices", remedy)
    labels = as_column(y, "y")
    folds = []
    splits = zip(cv_results["indices"]["train"], cv_results["indices"]["test"], strict=True)
    for model, (train, test) in zip(cv_results["estimator"], splits, strict=True):
        positive = positive_class(model, pos_label)
        method = find_response(model, response_method)
        score = scores_of(model, _safe_indexing(X, test), method, positive)
        folds.append(Fold(test, len(train), np.asarray(labels[test] == positive), score, BOUNDARY[method]))
    return folds


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(TabularResult):
    """Evaluations of cross-validated models. ``cv["roc_auc"]`` is the mean over the folds with its interval.

    ``folds`` are the evaluations of the test sets; ``pooled`` is the evaluation of all out-of-fold scores as one list,
    None where rows are tested more than once.
    """

    name: str
    folds: tuple[Evaluation, ...]
    trained_on: tuple[int, ...]
    pooled: Evaluation | None
    estimates: Mapping[str, Estimate]
    level: float

    def __getitem__(self, name: str) -> Estimate:
        return self.estimates[self._key(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __contains__(self, name: object) -> bool:
        return name in self.folds[0]

    def _key(self, name: str) -> str:
        return self.folds[0][name].name

    def values(self, name: str) -> NDArray[np.float64]:
        """The value of a measure in each fold."""
        return np.array([fold[name].value for fold in self.folds])

    @property
    def evaluations(self) -> dict[str, Evaluation]:
        """The folds' evaluations by name."""
        return {fold.name: fold for fold in self.folds}

    def plot(self, kind: str = "roc", ax: Any = None, *, pooled: bool = False, **options: Any) -> Any:
        """Draw the folds' curves, or that of the pooled scores; gives the Axes."""
        from ..present.plots import plot

        if pooled and self.pooled is None:
            said = "cannot be drawn: rows are tested more than once, so there is no pooled evaluation"
            raise InputError("pooled", said, "plot the folds")
        return plot(self.pooled if pooled else self, kind, ax=ax, **options)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each measure: mean over folds with interval, spread, and the pooled value with its own."""
        rows = []
        for key, e in self.estimates.items():
            values = self.values(key)
            whole = Estimate(key, math.nan) if self.pooled is None else self.pooled.estimates[key]
            rows.append(
                {
                    "measure": key,
                    "value": e.value,
                    "low": e.low,
                    "high": e.high,
                    "level": e.level,
                    "method": e.method,
                    "lowest_fold": float(np.min(values)),
                    "highest_fold": float(np.max(values)),
                    "undefined_folds": e.undefined_replicates,
                    "pooled": whole.value,
                    "pooled_low": whole.low,
                    "pooled_high": whole.high,
                    "pooled_method": whole.method,
                    "reason": e.reason,
                }
            )
        return rows

    @property
    def table(self) -> Table:
        """The measures as rows."""
        return Table(self.to_dicts(), self.name)

    def _shown(self) -> tuple[list[dict[str, str]], list[str], str]:
        def between(low: float, high: float) -> str:
            return f"[{format_value(low)}, {format_value(high)}]" if low == low else ""

        rows = [
            {
                "measure": row["measure"],
                "mean": format_value(row["value"]),
                "interval": between(row["low"], row["high"]),
                "folds": f"{format_value(row['lowest_fold'])} … {format_value(row['highest_fold'])}",
                "pooled": format_value(row["pooled"]),
                "pooled interval": between(row["pooled_low"], row["pooled_high"]),
                "note": row["reason"] or (f"undefined in {row['undefined_folds']}" if row["undefined_folds"] else ""),
            }
            for row in self.to_dicts()
        ]
        return rows, list(rows[0]) if rows else [], f"{self.name}: {len(self.folds)} folds, {self.level:.0%} intervals"

    def __repr__(self) -> str:
        return text_table(*self._shown())

    def _repr_html_(self) -> str:
        from ..present.notebook import cross_validation_html

        return cross_validation_html(self.folds, self.estimates, *self._shown())


def _nothing(estimator: Any, X: Any, y: Any) -> float:
    """A score that costs nothing: the estimators are scored later, by every measure at once."""
    return 0.0


@checked
def evaluate_cv(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    groups: Any = None,
    params: Mapping[str, Any] | None = None,
    sample_weight: Any = None,
    clusters: Any = None,
    pos_label: Any = None,
    response_method: Any = "auto",
    name: str | None = None,
    threshold: float | None = None,
    quota: float | None = None,
    measures: Sequence[Any] | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    n_jobs: int | None = None,
) -> CrossValidation:
    """Evaluate an estimator by cross-validation, with intervals that respect the folds.

    Two readings stand side by side:

    * Fold by fold: the mean of the folds' values, with the corrected resampled t interval of Nadeau & Bengio (2003):
      variance of the values × (1/k + n_test/n_train), k − 1 degrees of freedom. Training sets overlap, so folds are
      not independent; the second term allows for that. It speaks of models trained on n_train rows, training
      included. It assumes values near normal and a correlation of about n_test/(n_test + n_train) between folds.
    * Pooled: all out-of-fold scores as one list, with bootstrap intervals of rows drawn within their fold. It takes
      the fitted models as given, so it leaves out that other training rows would give other models, and it assumes
      that scores of different folds' models mean the same; where they do not, ranking measures of the pooled list
      come out lower than in any fold.

    ``cv``, ``groups``, ``params`` (for ``fit``) and ``n_jobs`` are those of ``cross_validate``; ``sample_weight``
    weighs the test rows. ``clusters`` marks rows that belong together and are resampled as one; by default these are
    the ``groups``. No cluster may reach into two folds: the folds would not be independent. ``threshold``: by default
    0.5 for probabilities, 0 for distances. ``quota``: a share, which means the same in a fold and in the whole. Where
    all folds agree there is no spread, and no interval.

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(n_samples=200, random_state=0)
    >>> result = evaluate_cv(LogisticRegression(), X, y, cv=5, measures=["roc_auc", "qrecall@20%"])
    >>> len(result.values("roc_auc")), result["roc_auc"].method
    (5, 'corrected_t')
    """
    settings = Settings("auto", level, n_resamples, seed, None, None)
    results = cross_validate(
        estimator,
        X,
        y,
        groups=groups,
        scoring=_nothing,
        cv=cv,
        n_jobs=n_jobs,
        params=None if params is None else dict(params),
        return_estimator=True,
        return_indices=True,
        error_score="raise",
    )
    folds = read_folds(results, X, y, pos_label=pos_label, response_method=response_method)
    cut = folds[0].boundary if threshold is None else threshold
    weights = None if sample_weight is None else as_numbers(sample_weight, "sample_weight")[0]
    if weights is not None and len(weights) != len(as_column(y, "y")):
        raise different_lengths("sample_weight", len(weights), "y", len(as_column(y, "y")))
    codes = _cluster_codes(groups if clusters is None else clusters, folds, len(as_column(y, "y")))
    specs = choose_specs(measures, threshold=cut, quota=quota)
    if isinstance(quota, int) or any(isinstance(spec.quota, int) for spec in specs):
        said = "counts rows, which mean one thing in a fold and another in the whole"
        raise InputError("quota", said, "give a share, such as 0.05 or '@5%'")
    title = type(estimator).__name__ if name is None else name
    evaluations = tuple(
        evaluate(
            fold.positive,
            fold.score,
            name=f"fold {k}",
            threshold=cut,
            quota=quota,
            measures=measures,
            sample_weight=None if weights is None else weights[fold.rows],
            interval=None,
            level=level,
            n_resamples=n_resamples,
            seed=seed,
        )
        for k, fold in enumerate(folds, 1)
    )
    return CrossValidation(
        title,
        evaluations,
        tuple(fold.trained_on for fold in folds),
        pooled_evaluation(folds, weights, codes, specs, title, cut, quota, measures is None, settings),
        {str(spec): _over_folds(spec, evaluations, folds, level) for spec in specs},
        level,
    )


def _cluster_codes(clusters: Any, folds: Sequence[Fold], rows: int) -> NDArray[Any] | None:
    """The cluster of each row as a number; refused where one reaches into two folds of a split."""
    if clusters is None:
        return None
    labels = as_column(clusters, "clusters")
    if len(labels) != rows:
        raise different_lengths("clusters", len(labels), "y", rows)
    codes = np.unique(labels, return_inverse=True)[1]
    tested = np.concatenate([fold.rows for fold in folds])
    if len(np.unique(tested)) == len(tested):
        parts = sum(len(np.unique(codes[fold.rows])) for fold in folds)
        if parts > len(np.unique(codes[tested])):
            remedy = "split with one of scikit-learn's group splitters, such as GroupKFold, and pass {groups}"
            raise InputError("clusters", "has rows of one cluster in several folds", remedy)
    return codes


def _over_folds(spec: Spec, evaluations: Sequence[Evaluation], folds: Sequence[Fold], level: float) -> Estimate:
    """Mean over the folds that have a value, with the corrected t interval."""
    from scipy.stats import t

    every = [ev[str(spec)] for ev in evaluations]
    values = np.array([e.value for e in every])
    there = ~np.isnan(values)
    k = int(there.sum())
    if k == 0:
        return Estimate(str(spec), math.nan, reason=every[0].reason, undefined_replicates=len(values))
    mean, lost = float(values[there].mean()), len(values) - k
    spread = float(values[there].var(ddof=1)) if k > 1 and np.isfinite(mean) else math.nan
    if not spread > 0:
        return Estimate(str(spec), mean, undefined_replicates=lost)
    tested = float(np.mean([len(fold.rows) / fold.trained_on for fold in folds]))
    half = float(t.ppf((1.0 + level) / 2.0, k - 1)) * math.sqrt(spread * (1.0 / k + tested))
    low, high = np.clip([mean - half, mean + half], *spec.measure.range)
    return Estimate(str(spec), mean, float(low), float(high), level, "corrected_t", undefined_replicates=lost)


def pooled_evaluation(
    folds: Sequence[Fold],
    weights: NDArray[Any] | None,
    clusters: NDArray[Any] | None,
    specs: Sequence[Spec],
    name: str,
    threshold: float,
    quota: float | None,
    by_default: bool,
    settings: Settings,
) -> Evaluation | None:
    """All out-of-fold scores as one list, replicates drawn within folds; None where a row is tested more than once."""
    rows = np.concatenate([fold.rows for fold in folds])
    if len(np.unique(rows)) < len(rows):
        return None
    sample = make_sample(
        np.concatenate([fold.positive for fold in folds]),
        np.concatenate([fold.score for fold in folds]),
        sample_weight=None if weights is None else weights[rows],
    )
    fold_of = np.repeat(np.arange(len(folds)), [len(fold.rows) for fold in folds])
    if sample.source_rows is not None:
        fold_of = fold_of[sample.source_rows]
    obstacles = {spec: obstacle_of(spec, sample, threshold, by_default) for spec in specs}
    pooled = Rows.of(sample, fold=fold_of, clusters=None if clusters is None else clusters[rows])
    return evaluation_of(pooled, specs, obstacles, settings, name=name, threshold=threshold, quota=quota)

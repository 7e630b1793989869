"""Cross-validation -> evaluations: fold by fold, and of all out-of-fold scores together."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv, cross_validate
from sklearn.utils import _safe_indexing

from ..catalogue.declare import Spec
from ..comparison import Comparison, compare
from ..errors import InputError, different_lengths, show, verbatim
from ..estimate import Estimate
from ..evaluation import Evaluation, choose_specs, evaluate, evaluation_of, obstacle_of
from ..inference.differences import DifferenceTest
from ..inference.evidence import Rows
from ..inference.normal import t_quantile
from ..inference.scales import two_sided_p
from ..inference.settings import Settings
from ..sources.arrays import as_codes, as_column, as_numbers, make_sample, read_labels
from ..table import ByMeasure, Table, TabularResult, format_value, pluralize, text_table, to_jsonable
from ..types import Axes, Label, Labels, MeasureLike, Scores
from ..validate import check_estimator, checked
from ..verdict import Models
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


def read_folds(
    cv_results: Mapping[str, Any], X: Any, y: Labels, *, pos_label: Label, response_method: Any
) -> list[Fold]:
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


def evaluated_folds(
    folds: Sequence[Fold], weights: NDArray[Any] | None, name: str, **options: Any
) -> tuple[Evaluation, ...]:
    """Each fold evaluated by itself; ``name`` goes before its number, ``options`` are those of ``evaluate``."""
    own = (None if weights is None else weights[fold.rows] for fold in folds)
    return tuple(
        evaluate(fold.positive, fold.score, name=f"{name} {k}", sample_weight=weight, **options)
        for k, (fold, weight) in enumerate(zip(folds, own, strict=True), 1)
    )


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(ByMeasure, TabularResult):
    """Evaluations of cross-validated models. ``cv["roc_auc"]`` is the mean over the folds with its interval.

    ``folds`` are the evaluations of the test sets; ``pooled`` is the evaluation of all out-of-fold scores as one list,
    None if rows are tested more than once.
    """

    name: str
    folds: tuple[Evaluation, ...]
    trained_on: tuple[int, ...]
    pooled: Evaluation | None
    estimates: Mapping[str, Estimate]
    level: float
    tested_share: float

    def __getitem__(self, name: str) -> Estimate:
        return self.estimates[self._key(name)]

    def _key(self, name: str) -> str:
        return self.folds[0][name].name

    def values(self, name: str) -> NDArray[np.float64]:
        """The value of a measure in each fold."""
        return np.array([fold[name].value for fold in self.folds])

    @property
    def evaluations(self) -> Mapping[str, Evaluation]:
        """The folds' evaluations by name."""
        return MappingProxyType({fold.name: fold for fold in self.folds})

    @checked
    def plot(self, kind: str = "roc", ax: Axes | None = None, *, pooled: bool = False, **options: Any) -> Any:
        """Draw the folds' curves, or that of the pooled scores; returns the Axes."""
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
                    **e.to_dict(),
                    "lowest_fold": float(np.min(values)),
                    "highest_fold": float(np.max(values)),
                    "undefined_folds": e.undefined_replicates,
                    **whole.to_dict("pooled"),
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

        rows, _, title = self._shown()
        return cross_validation_html(self.folds, self.estimates, rows, title)


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidatedComparison(Models[CrossValidation]):
    """Several estimators on the same splits. Reads as a mapping from model to :class:`CrossValidation`.

    A difference is the mean over the folds of the difference in a fold, tested by the corrected resampled t-test of
    Nadeau & Bengio (2003). ``pooled`` compares the out-of-fold scores as one list, by the measures that look at each
    row separately; None if rows are tested more than once or models use different scales.
    """

    evaluations: Mapping[str, CrossValidation]
    specs: Mapping[str, Spec]
    settings: Settings
    margin: float | None
    pooled: Comparison | None

    def _test(self, a: str, b: str, key: str) -> DifferenceTest:
        """The difference of two models by one measure, over the folds in which both have a value."""
        one, two = self.evaluations[a], self.evaluations[b]
        gaps = one.values(key) - two.values(key)
        gaps = gaps[np.isfinite(gaps)]
        error, freedom = corrected_error(gaps, one.tested_share), len(gaps) - 1.0
        if not error > 0:
            return DifferenceTest()
        mean = float(gaps.mean())
        half = t_quantile(self.settings.level, freedom) * error
        p_value = two_sided_p(mean / error, freedom)
        return DifferenceTest(mean - half, mean + half, error, p_value, "corrected resampled t")

    @checked
    def to_json(self, *, indent: int | None = None) -> str:
        """Each model's measures, the differences, and the verdict by each measure."""
        content = {
            **self.settings.to_dict(),
            "margin": self.margin,
            "folds": len(self.first.folds),
            "models": [{"name": name, "measures": cv.to_dicts()} for name, cv in self.evaluations.items()],
            "differences": self.differences.to_dicts(),
            "verdicts": [verdict.to_dict() for verdict in self.decided],
        }
        return json.dumps(to_jsonable(content), indent=indent, ensure_ascii=False)

    def __repr__(self) -> str:
        said = f"{pluralize(len(self.evaluations), 'model')}, mean over {len(self.first.folds)} folds"
        table = text_table(self.table.to_dicts(), self.table.columns, said)
        return "\n".join([table, "", *(f"{v.measure}: {v.best}; {v.sentence}" for v in self.decided)])


def corrected_error(values: NDArray[np.float64], tested_share: float) -> float:
    """Standard error of a mean over k folds whose training sets overlap: √(variance × (1/k + n_test/n_train)).

    Nadeau & Bengio (2003). nan with fewer than two folds.
    """
    k = len(values)
    return math.sqrt(float(values.var(ddof=1)) * (1.0 / k + tested_share)) if k > 1 else math.nan


def _nothing(estimator: Any, X: Any, y: Labels) -> float:
    """A score that costs nothing: the estimators are scored later, by every measure at once."""
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
    clusters: Labels | None = None,
    pos_label: Label = None,
    response_method: Any = "auto",
    name: str | None = None,
    threshold: float | None = None,
    quota: float | None = None,
    measures: Sequence[MeasureLike] | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    margin: float | None = None,
    n_jobs: int | None = None,
) -> CrossValidation | CrossValidatedComparison:
    """Evaluate an estimator by cross-validation, or compare several on the same splits.

    There are two results:

    * Fold by fold: the mean of the folds' values, with the corrected resampled t interval of Nadeau & Bengio (2003):
      variance of the values × (1/k + n_test/n_train), k − 1 degrees of freedom. Training sets overlap, so folds are
      not independent; the second term allows for that. It is for models trained on n_train rows, and includes
      the variation from training. It assumes values near normal and a correlation of about n_test/(n_test + n_train)
      between folds.
    * Pooled: all out-of-fold scores as one list, with bootstrap intervals of rows drawn within their fold. It takes
      the fitted models as given, so it does not include the variation from training, and it assumes that scores from
      different folds are comparable; if they are not, ranking measures of the pooled list are lower than in any
      fold.

    With a mapping from name to estimator, every estimator sees the same splits, and differences are taken fold by
    fold. A cluster must not be split between folds: the folds would not be independent. If all folds agree, there is no
    spread and no interval.

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
    settings = Settings("auto", level, n_resamples, seed)
    several = isinstance(estimator, Mapping)
    if params is not None and not isinstance(params, Mapping):
        raise InputError("params", f"is {show(params)}", "pass a mapping from name to what fit is given")
    if several and not estimator:
        raise InputError(
            "estimator", "does not name the estimators", "pass one estimator, or a mapping from name to estimator"
        )
    if several and name is not None:
        raise InputError("name", "is for one estimator", "leave it out: the mapping names them")
    if not several and margin is not None:
        raise InputError(
            "margin", "is for several estimators", "leave it out, or pass a mapping from name to estimator"
        )
    rows = len(read_labels(y, "y", pos_label)[0])
    weights = None if sample_weight is None else as_numbers(sample_weight, "sample_weight")[0]
    if weights is not None and len(weights) != rows:
        raise different_lengths("sample_weight", len(weights), "y", rows)
    models = dict(estimator) if several else {type(estimator).__name__ if name is None else name: estimator}
    for one in models.values():
        check_estimator(one, "estimator")
    if isinstance(quota, int) or any(
        isinstance(s.quota, int) for s in choose_specs(measures, threshold=threshold, quota=quota)
    ):
        said = "counts rows, which mean one thing in a fold and another in the whole"
        raise InputError("quota", said, "give a share, such as 0.05 or '@5%'")
    try:
        splits = list(check_cv(cv, y, classifier=True).split(X, y, groups))  # drawn once: the same for all
    except (TypeError, ValueError) as error:  # rows, groups and folds that do not go together, in scikit-learn's words
        raise InputError(None, f"scikit-learn cannot split the rows: {verbatim(str(error))}") from error
    parts = [np.asarray(part) for pair in splits for part in (pair if isinstance(pair, tuple | list) else [pair])]
    if not parts or any(p.ndim != 1 or not p.size or p.dtype.kind not in "iub" or p.max() >= rows for p in parts):
        raise InputError("cv", f"is {show(cv)}", "give a number of folds, a splitter, or pairs of row numbers")
    codes = _cluster_codes(groups if clusters is None else clusters, [test for _, test in splits], rows)
    found: dict[str, CrossValidation] = {}
    scored: dict[str, list[Fold]] = {}
    specs: list[Spec] = []
    for title, model in models.items():
        results = cross_validate(
            model,
            X,
            y,
            scoring=_nothing,
            cv=splits,
            n_jobs=n_jobs,
            params=None if params is None else dict(params),
            return_estimator=True,
            return_indices=True,
            error_score="raise",
        )
        folds = scored[title] = read_folds(results, X, y, pos_label=pos_label, response_method=response_method)
        cut = folds[0].boundary if threshold is None else threshold
        specs = choose_specs(measures, threshold=cut, quota=quota)
        options = {**asdict(settings), "interval": None, "threshold": cut, "quota": quota, "measures": measures}
        evaluations = evaluated_folds(folds, weights, "fold", **options)
        share = float(np.mean([len(fold.rows) / fold.trained_on for fold in folds]))
        found[title] = CrossValidation(
            title,
            evaluations,
            tuple(fold.trained_on for fold in folds),
            pooled_evaluation(folds, weights, codes, specs, title, cut, quota, measures is None, settings),
            {str(spec): _over_folds(spec, evaluations, share, level) for spec in specs},
            level,
            share,
        )
    if not several:
        return next(iter(found.values()))
    pooled = _pooled_comparison(scored, weights, codes, specs, threshold, settings, margin)
    return CrossValidatedComparison(found, {str(spec): spec for spec in specs}, settings, margin, pooled)


def _pooled_comparison(
    scored: Mapping[str, Sequence[Fold]],
    weights: NDArray[Any] | None,
    clusters: NDArray[Any] | None,
    specs: Sequence[Spec],
    threshold: float | None,
    settings: Settings,
    margin: float | None,
) -> Comparison | None:
    """All out-of-fold scores compared, by measures that look at each row alone: ranks across folds would mix models."""
    folds = next(iter(scored.values()))
    rows = np.concatenate([fold.rows for fold in folds])
    cuts = {fold.boundary for each in scored.values() for fold in each} if threshold is None else {threshold}
    measures = [spec for spec in specs if spec.measure.family in ("threshold", "probability")]
    if len(np.unique(rows)) < len(rows) or len(cuts) > 1 or not measures:
        return None
    return compare(
        np.concatenate([fold.positive for fold in folds]),
        {name: np.concatenate([fold.score for fold in each]) for name, each in scored.items()},
        sample_weight=None if weights is None else weights[rows],
        clusters=None if clusters is None else clusters[rows],
        threshold=cuts.pop(),
        measures=measures,
        level=settings.level,
        n_resamples=settings.n_resamples,
        seed=settings.seed,
        margin=margin,
    )


def _cluster_codes(clusters: Labels | None, tests: Sequence[NDArray[np.intp]], rows: int) -> NDArray[Any] | None:
    """The cluster of each row as a number; refused where one reaches into two folds of a split."""
    if clusters is None:
        return None
    codes = as_codes(clusters, "clusters", rows, "y")
    tested = np.concatenate(tests)
    if len(np.unique(tested)) == len(tested):
        parts = sum(len(np.unique(codes[test])) for test in tests)
        if parts > len(np.unique(codes[tested])):
            remedy = "split with one of scikit-learn's group splitters, such as GroupKFold, and pass {groups}"
            raise InputError("clusters", "has rows of one cluster in several folds", remedy)
    return codes


def _over_folds(spec: Spec, evaluations: Sequence[Evaluation], tested_share: float, level: float) -> Estimate:
    """Mean over the folds that have a value, with the corrected t interval."""
    every = [ev[str(spec)] for ev in evaluations]
    values = np.array([e.value for e in every])
    known = values[~np.isnan(values)]
    if not len(known):
        return Estimate(str(spec), math.nan, reason=every[0].reason, undefined_replicates=len(values))
    mean, lost = float(known.mean()), len(values) - len(known)
    error = corrected_error(known, tested_share) if np.isfinite(mean) else math.nan
    if not error > 0:
        return Estimate(str(spec), mean, undefined_replicates=lost)
    half = t_quantile(level, len(known) - 1.0) * error
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
        clusters=None if clusters is None else clusters[rows],
    )
    fold_of = np.repeat(np.arange(len(folds)), [len(fold.rows) for fold in folds])
    if sample.source_rows is not None:
        fold_of = fold_of[sample.source_rows]
    obstacles = {spec: obstacle_of(spec, sample, threshold, by_default) for spec in specs}
    pooled = Rows.of(sample, fold=fold_of)
    return evaluation_of(pooled, specs, obstacles, settings, name=name, threshold=threshold, quota=quota)

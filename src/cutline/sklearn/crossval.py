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
from ..comparison import Comparison
from ..errors import InputError, different_lengths, show, verbatim
from ..estimate import Estimate, Settings
from ..evaluation import Evaluation, choose_specs, evaluation_of, obstacle_of
from ..inference.differences import DifferenceTest
from ..inference.evidence import RowEvidence
from ..inference.limits import t_quantile, two_sided_p
from ..partition import Partition
from ..sources.arrays import as_column, as_numbers, make_sample, read_labels
from ..table import (
    ByMeasure,
    Figure,
    HasSections,
    Section,
    Table,
    ends,
    format_value,
    pluralize,
    to_jsonable,
)
from ..types import Axes, Label, Labels, MeasureLike, Scores
from ..validate import check_estimator, checked
from ..verbs import compare, evaluate
from ..verdict import Models
from .estimators import BOUNDARY, find_response, positive_class, scores_of


def folds_of(tests: Sequence[NDArray[Any]]) -> Partition:
    """The test rows of all splits, one after the other, divided into folds that are numbered from 1."""
    codes = np.repeat(np.arange(len(tests)), [len(test) for test in tests])
    return Partition(codes, tuple(range(1, len(tests) + 1)), "number", ("fold",))


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """The test rows of all splits, one after the other, as the models that were fitted without them score them.

    ``boundary`` is the models' own limit between the classes on the scale of the scores; ``trained_on`` has how many
    rows the model of each split was fitted to.
    """

    rows: NDArray[np.intp]
    folds: Partition
    positive: NDArray[np.bool_]
    score: NDArray[Any]
    weight: NDArray[Any] | None
    cluster: NDArray[Any] | None
    trained_on: tuple[int, ...]
    boundary: float

    @staticmethod
    def read(
        cv_results: Mapping[str, Any],
        X: Any,
        y: Labels,
        *,
        pos_label: Label,
        response_method: Any,
        weights: NDArray[Any] | None = None,
        clusters: NDArray[Any] | None = None,
    ) -> OutOfFold:
        """Score the test rows of each split with the estimator of that split."""
        if "estimator" not in cv_results or "indices" not in cv_results:
            remedy = "call cross_validate(…, return_estimator=True, return_indices=True)"
            raise InputError("cv_results", "contains no estimators or no indices", remedy)
        labels, models, tests = as_column(y, "y"), cv_results["estimator"], cv_results["indices"]["test"]
        positive, score, method = [], [], ""
        for model, test in zip(models, tests, strict=True):
            label, method = positive_class(model, pos_label), find_response(model, response_method)
            positive.append(np.asarray(labels[test] == label))
            score.append(scores_of(model, _safe_indexing(X, test), method, label))
        rows = np.concatenate(tests)
        return OutOfFold(
            rows,
            folds_of(tests),
            np.concatenate(positive),
            np.concatenate(score),
            None if weights is None else weights[rows],
            None if clusters is None else clusters[rows],
            tuple(len(train) for train in cv_results["indices"]["train"]),
            BOUNDARY[method],
        )

    @property
    def each_once(self) -> bool:
        """Whether no row is tested in two splits, so that all of them are one list."""
        return len(np.unique(self.rows)) == len(self.rows)

    def evaluations(self, name: str, **options: Any) -> tuple[Evaluation, ...]:
        """Each fold by itself; ``name`` goes before its number, ``options`` are those of ``evaluate``."""
        evaluations = []
        for k, key in enumerate(self.folds.keys):
            part = self.folds.codes == k
            weight = None if self.weight is None else self.weight[part]
            how = {"name": f"{name} {key}", "sample_weight": weight, **options}
            evaluations.append(evaluate(self.positive[part], self.score[part], **how))
        return tuple(evaluations)

    def pooled(
        self,
        specs: Sequence[Spec],
        settings: Settings,
        *,
        name: str,
        threshold: float,
        quota: float | None = None,
        by_default: bool = False,
    ) -> Evaluation | None:
        """All scores as one list, replicates drawn within folds; None where a row is tested more than once."""
        if not self.each_once:
            return None
        sample = make_sample(self.positive, self.score, sample_weight=self.weight, clusters=self.cluster)
        codes = self.folds.codes
        obstacles = {spec: obstacle_of(spec, sample, threshold, by_default) for spec in specs}
        rows = RowEvidence.of(sample, fold=codes if sample.source_rows is None else codes[sample.source_rows])
        return evaluation_of(rows, specs, obstacles, settings, name=name, threshold=threshold, quota=quota)


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(HasSections, ByMeasure):
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
        return self.estimates[self.folds[0][name].name]

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

    def sections(self) -> list[Section]:
        """The means with their intervals, the folds' curves, and the pooled values."""
        rows = []
        for row, (key, e) in zip(self.to_dicts(), self.estimates.items(), strict=True):
            low, high = self.folds[0].specs[key].measure.range
            note = row["reason"] or (f"undefined in {row['undefined_folds']}" if row["undefined_folds"] else "")
            rows.append(
                {
                    "measure": key,
                    "mean": format_value(e.value),
                    "on its scale": Figure("bar", e, {"ends": (low, high)}),
                    "interval": ends(e.low, e.high),
                    "folds": f"{format_value(row['lowest_fold'])} … {format_value(row['highest_fold'])}",
                    "pooled": format_value(row["pooled"]),
                    "pooled interval": ends(row["pooled_low"], row["pooled_high"]),
                    "note": note,
                }
            )
        answer = f"{self.name}: {len(self.folds)} folds, {self.level:.0%} intervals"
        curves = [Figure(kind, self.folds) for kind in ("roc", "precision_recall")]
        return [Section("answer", [answer, *curves, Table(rows)])]


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidatedComparison(HasSections, Models[CrossValidation]):
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

    def sections(self) -> list[Section]:
        """The models side by side, and the verdict by each measure."""
        said = f"{pluralize(len(self.evaluations), 'model')}, mean over {len(self.first.folds)} folds"
        verdicts = [f"{verdict.measure}: {verdict.best}; {verdict.sentence}" for verdict in self.decided]
        return [Section("answer", [said, Table(self.table)]), Section("verdicts", verdicts)]


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
    if params is not None and not (isinstance(params, Mapping) and all(isinstance(name, str) for name in params)):
        raise InputError("params", f"is {show(params)}", "pass a mapping from name to what fit is given")
    if several and not estimator:
        remedy = "pass one estimator, or a mapping from name to estimator"
        raise InputError("estimator", "does not name the estimators", remedy)
    if several and name is not None:
        raise InputError("name", "is for one estimator", "leave it out: the mapping names them")
    if not several and margin is not None:
        remedy = "leave it out, or pass a mapping from name to estimator"
        raise InputError("margin", "is for several estimators", remedy)
    rows = len(read_labels(y, "y", pos_label)[0])
    weights = None if sample_weight is None else as_numbers(sample_weight, "sample_weight")[0]
    if weights is not None and len(weights) != rows:
        raise different_lengths("sample_weight", len(weights), "y", rows)
    models = dict(estimator) if several else {type(estimator).__name__ if name is None else name: estimator}
    for model in models.values():
        check_estimator(model, "estimator")
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
    clusters, codes = groups if clusters is None else clusters, None
    if clusters is not None:
        codes, tested_rows = Partition.of(clusters, "clusters", rows, "y").codes, np.concatenate([t for _, t in splits])
        each_once = len(np.unique(tested_rows)) == len(tested_rows)
        if each_once and folds_of([test for _, test in splits]).divides(codes[tested_rows]):
            remedy = "split with one of scikit-learn's group splitters, such as GroupKFold, and pass {groups}"
            raise InputError("clusters", "has rows of one cluster in several folds", remedy)
    validated: dict[str, CrossValidation] = {}
    scored: dict[str, OutOfFold] = {}
    specs: list[Spec] = []
    given = {"pos_label": pos_label, "response_method": response_method, "weights": weights, "clusters": codes}
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
        tested = scored[title] = OutOfFold.read(results, X, y, **given)
        cut = tested.boundary if threshold is None else threshold
        specs = choose_specs(measures, threshold=cut, quota=quota)
        options = {**asdict(settings), "interval": None, "threshold": cut, "quota": quota, "measures": measures}
        evaluations = tested.evaluations("fold", **options)
        share = float(np.mean(np.bincount(tested.folds.codes) / tested.trained_on))
        how: dict[str, Any] = {"threshold": cut, "quota": quota, "by_default": measures is None}
        validated[title] = CrossValidation(
            title,
            evaluations,
            tested.trained_on,
            tested.pooled(specs, settings, name=title, **how),
            {str(spec): _over_folds(spec, evaluations, share, level) for spec in specs},
            level,
            share,
        )
    if not several:
        return next(iter(validated.values()))
    # Pooled are measures that look at each row alone: ranks across folds would mix models.
    row_by_row = [spec for spec in specs if spec.measure.family in ("threshold", "probability")]
    cuts = {tested.boundary for tested in scored.values()} if threshold is None else {threshold}
    pooled = None
    if tested.each_once and len(cuts) == 1 and row_by_row:
        pooled = compare(
            tested.positive,
            {name: model.score for name, model in scored.items()},
            sample_weight=tested.weight,
            clusters=tested.cluster,
            threshold=cuts.pop(),
            measures=row_by_row,
            level=level,
            n_resamples=n_resamples,
            seed=seed,
            margin=margin,
        )
    return CrossValidatedComparison(validated, {str(spec): spec for spec in specs}, settings, margin, pooled)


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

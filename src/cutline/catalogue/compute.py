"""From measure specs to numbers: what must be gathered for them, and their algebra on what was gathered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..class_sample import SUM_TOLERANCE, ClassSample, make_class_sample
from ..errors import InputError, show
from ..kernels import compiled
from ..kernels.layout import CUT
from ..quotas import Quotas, quota_sizes
from ..ranking import Ranking, Ties, rank, sort_values
from ..runtime import in_threads
from ..sources.arrays import Sample, make_sample
from ..sources.rules import LARGEST_SUMMED
from ..sweep import Counts, LossOptions, Sums, SumsRequest, counts_at, sweep
from ..types import Floats, Label, Labels, ScoreMatrix, Scores
from ..validate import check_list
from .declare import NEEDS, Measure, Spec
from .value import taken_rows, value_sums

DEFAULT_THRESHOLD = 0.5
# the areas of a score column that stand for measures of two classes, one class against the rest
AREA_OF = {"roc_auc": "auc", "average_precision": "precision"}
COLUMN_AREAS = ("auc", "pair_auc", "precision")
_ROUNDING = 1e-12  # of sums of weights
_GATHERED = 8  # columns that are copied out of the matrix at once: a cache line of its row
_OF_SUMS = ("pairs", "gaps", "precision", "places", "hull", "losses")


@dataclass(frozen=True)
class SweepPlan:
    """Specs that read one and the same vector of sums: those with the same tie rule."""

    specs: tuple[Spec, ...]
    request: SumsRequest
    cases: float
    ties: Ties

    def values(self, vectors: NDArray[np.float64]) -> list[Any]:
        """The specs' values on a vector of sums, or on many at once (one row each)."""
        readers, steps = self.steps
        read = [reader(vectors, at) for reader, at in readers]
        with np.errstate(all="ignore"):  # 0/0 is nan, and what is too large for a number is infinite
            return [
                compute(read[places[0]])
                if weights is None
                else sum(w * compute(read[place]) for place, w in zip(places, weights, strict=True))
                for compute, places, weights in steps
            ]

    @cached_property
    def steps(self) -> tuple[list[tuple[Callable[..., Any], int]], list[tuple[Callable[[Any], Any], list[int], Any]]]:
        """What is read, where; and for each spec what is computed from which of it, for a mean with its weights."""
        readers: dict[tuple[Callable[..., Any], int], int] = {}  # many measures read the same cut
        steps: list[tuple[Callable[[Any], Any], list[int], Any]] = []
        for spec in self.specs:
            compute = partial(spec.measure.compute, **spec.arguments) if spec.options else spec.measure.compute
            reader: Callable[..., Any] = Sums if spec.measure.part in _OF_SUMS else counts_at
            weights = None
            if reader is Sums:
                places = [self.request.at(losses=_losses(spec)) if spec.measure.part == "losses" else 0]
            elif spec.measure.needs_quota:
                sizes, shares = quota_sizes(spec.quota, self.cases)
                weights = shares if isinstance(spec.quota, Quotas) else None
                places = [self.request.at(quota=size) for size in sizes]
            else:
                places = [self.request.at(threshold=threshold_of(spec))]
            steps.append((compute, [readers.setdefault((reader, at), len(readers)) for at in places], weights))
        return list(readers), steps

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "steps"}  # the rest makes them again


def threshold_of(spec: Spec) -> float:
    """The threshold of a spec; the default where it names none."""
    return DEFAULT_THRESHOLD if spec.threshold is None else spec.threshold


def _losses(spec: Spec) -> LossOptions:
    """The loss options that change what is summed; those that are algebra on the sums stay at their default."""
    options = spec.arguments
    prior = options.get("prior")
    return LossOptions(
        float(options.get("eps", LossOptions().eps)),
        float(options.get("gamma", LossOptions().gamma)),
        None if prior is None else float(prior),
    )


@lru_cache(maxsize=16)
def plan_sweeps(specs: tuple[Spec, ...], cases: float) -> tuple[SweepPlan, ...]:
    """Group the specs by tie rule and list what each group needs from a pass over the ranking."""
    plans = []
    for ties in dict.fromkeys(spec.ties for spec in specs):
        group = tuple(spec for spec in specs if spec.ties == ties and spec.measure.part != "ranking")
        request = SumsRequest(
            parts=frozenset(spec.measure.part for spec in group) - {"cut"},
            losses=tuple(dict.fromkeys(_losses(s) for s in group if s.measure.part == "losses")),
            thresholds=tuple(sorted({threshold_of(s) for s in group if s.measure.needs_threshold})),
            quotas=tuple(sorted({q for s in group if s.measure.needs_quota for q in quota_sizes(s.quota, cases)[0]})),
        )
        plans.append(SweepPlan(group, request, cases, ties))
    return tuple(plans)


@dataclass(frozen=True, eq=False)
class Computed:
    """The values of specs on one ranking, and the sums that they came from: nothing has to be swept again.

    ``cuts``: of measures at a quota that counts in each batch, the cuts of all batches together.
    """

    values: Mapping[Spec, float]
    sums: tuple[tuple[SweepPlan, NDArray[np.float64]], ...]
    cuts: Mapping[Spec, Counts] = field(default_factory=dict)

    def cut(self, spec: Spec) -> Counts:
        """The four cells at the threshold or quota of one of the specs, as plain numbers."""
        if spec in self.cuts:
            return self.cuts[spec]
        for plan, vector in self.sums:
            if plan.ties == spec.ties:
                readers, steps = plan.steps
                _, (place, *_), _ = steps[plan.specs.index(spec)]
                at = readers[place][1]
                return Counts(*vector[at : at + len(CUT)].tolist())
        raise KeyError(str(spec))


def compute(specs: Sequence[Spec], ranking: Ranking) -> Computed:
    """The values of specs on one ranking, from one pass for each tie rule among them."""
    values: dict[Spec, float] = {}
    sums = []
    for plan in plan_sweeps(tuple(specs), ranking.cases):
        ordered = ranking.resolved(plan.ties)
        if plan.specs:
            vector = sweep(ordered, plan.request)
            sums.append((plan, vector))
            values.update(zip(plan.specs, map(float, plan.values(vector)), strict=True))
        for spec in specs:
            if spec.measure.part == "ranking" and spec.ties == plan.ties:
                values[spec] = float(spec.measure.compute(ordered, **spec.arguments))
    return Computed(values, tuple(sums))


def why_inapplicable(one: Measure, sample: Sample) -> str:
    """Why a measure cannot be read from this sample at all; empty where it can."""
    if one.scores == "probability" and not sample.are_probabilities:
        return "the scores are not probabilities: some lie outside [0, 1]"
    if one.scores in ("finite", "distance") and not sample.are_finite:
        return "some scores are infinite, and here their values matter"
    if one.scores == "distance" and max(-sample.low, sample.high) > LARGEST_SUMMED:
        return "some scores lie beyond ±1e100, too far out to be added up"
    return ""


def why_undefined(one: Measure, n_pos: float, n_neg: float, cut: Counts | None = None) -> str:
    """Why a value is nan, as precisely as the counts tell."""
    sizes: dict[str, Any] = {"positives": n_pos, "negatives": n_neg}
    if cut is not None:
        sizes |= {"taken": cut.tp + cut.fp, "left": cut.fn + cut.tn}
    for need in one.needs:
        if sizes.get(need, 1) == 0:
            return NEEDS[need]
    return one.undefined or "0/0"


def compute_one(
    spec: Spec,
    y_true: Labels,
    y_score: Scores,
    *,
    pos_label: Label = None,
    sample_weight: Scores | None = None,
    **worth: Any,
) -> tuple[float, str]:
    """Value of one measure from columns, and the reason where it is nan; ``worth``: what rows are worth and cost."""
    one = spec.measure
    sample = make_sample(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, **worth)
    check_applicable(one, sample)
    if one.needs_quota and spec.quota is None:
        raise InputError("measure", f"{one.name} needs a quota", "give {quota}: a number of cases or a share of them")
    n_pos = float(np.count_nonzero(sample.positive))
    n_neg = len(sample) - n_pos
    if one.one_class_needs and 0 in (n_pos, n_neg) and spec.arguments.get(one.one_class_needs) is None:
        only = "negative" if n_pos == 0 else "positive"
        problem = f"contains only {only} cases, so {one.name} cannot take {one.one_class_needs} from the sample"
        raise InputError("y_true", problem, f"give {{{one.one_class_needs}}}")
    cut = None
    check_threshold(spec, sample)
    if one.of_worth:
        if sample.worth is None:
            raise InputError("worth", f"is missing: {one.name} needs the worth of each row", "give {worth}")
        cases = float(sample.row_weight.sum())
        sizes, shares = ([None], np.ones(1)) if spec.quota is None else quota_sizes(spec.quota, cases)
        cuts = (taken_rows(sample, size, threshold_of(spec)) for size in sizes)
        values = [float(one.compute(value_sums(sample, taken))) for taken in cuts]
        value = float(np.dot(values, shares))  # over several quotas their mean
    elif one.needs_threshold:  # one pass over the rows; no sort needed
        above, positive = sample.score > np.float64(threshold_of(spec)), sample.positive
        sides = (above & positive, above & ~positive, ~above & positive, ~above & ~positive)
        w = sample.weight
        cut = Counts(*(np.float64(np.count_nonzero(side) if w is None else w[side].sum()) for side in sides))
        value = float(one.compute(cut, **spec.arguments))
    else:
        ranking = rank(sample)
        (plan,) = plan_sweeps((spec,), ranking.cases)
        ordered = ranking.resolved(plan.ties)
        if plan.specs:
            (value,) = plan.values(sweep(ordered, plan.request))
        else:
            value = one.compute(ordered, **spec.arguments)
        value = float(value)
    return value, why_undefined(one, n_pos, n_neg, cut) if value != value else ""


def check_threshold(spec: Spec, sample: Sample) -> None:
    """Raise where a measure at a threshold has none: scores that are not probabilities have no default."""
    at_threshold = spec.measure.needs_threshold or (spec.measure.of_worth and spec.quota is None)
    if at_threshold and default_threshold(spec.threshold, sample) is None:
        problem = "is missing: the scores are not probabilities, so it has no default"
        raise InputError("threshold", problem, "pass {threshold}")


def check_applicable(one: Measure, sample: Sample) -> None:
    """Raise where the sample cannot be read by this measure, naming the row."""
    problem = why_inapplicable(one, sample)
    if not problem:
        return
    score = sample.score
    bad = (score < 0) | (score > 1) if one.scores == "probability" else np.isinf(score)
    bad = bad if bad.any() else np.abs(score) > LARGEST_SUMMED
    row = sample.first_row(bad)
    remedy = "pass probabilities" if one.scores == "probability" else "pass finite scores, none beyond ±1e100"
    raise InputError("y_score", f"is {float(score[bad][0]):g}, which {one.name} cannot use: {problem}", remedy, row=row)


def default_threshold(threshold: float | None, sample: Sample) -> float | None:
    """The threshold that was given; else 0.5 where scores are probabilities. Other scores have no default."""
    return DEFAULT_THRESHOLD if threshold is None and sample.are_probabilities else threshold


def with_defaults(spec: Spec, *, threshold: float | None, quota: int | float | Quotas | None) -> Spec:
    """The spec with an evaluation's threshold or quota filled in where it names none; it must read one score."""
    if not (spec.measure.of_one_score or spec.measure.of_worth):
        problem = f"is {show(spec.measure.name)}, which does not read one score for each case"
        raise InputError("measure", problem, "choose another")
    of_worth = spec.measure.of_worth and spec.quota is None and spec.threshold is None
    if of_worth and quota is not None:
        return replace(spec, quota=quota)
    at_threshold = of_worth or (spec.measure.needs_threshold and spec.threshold is None)
    if at_threshold and threshold not in (None, DEFAULT_THRESHOLD):
        return replace(spec, threshold=threshold)
    if spec.measure.needs_quota and spec.quota is None:
        if quota is None:
            name = spec.measure.name
            raise InputError("measure", f"{name} needs a quota", f"write '{name}@200'")
        return replace(spec, quota=quota)
    return spec


# --- several classes: totals of a class matrix, from one pass over rows and one over each column


@dataclass(frozen=True)
class ClassSums:
    """What measures of several classes read; arrays over the classes, with the replicates as leading axes.

    ``hits``, ``truth``, ``answers``: cases predicted right, real cases and predictions of each class; ``mean``: mean of
    the measure's own value of each row; ``information``: mean information score in nats; ``risk``: area under the
    risk–coverage curve; ``auc``, ``pair_auc``, ``precision``: of each class, the area under the ROC curve against the
    rest, its mean against each other class alone, and the average precision.
    """

    hits: Any
    truth: Any
    answers: Any
    mean: Any = np.nan
    information: Any = np.nan
    risk: Any = np.nan
    auc: Any = np.nan
    pair_auc: Any = np.nan
    precision: Any = np.nan

    @property
    def total(self) -> Any:
        """Number of cases."""
        return np.sum(self.truth, axis=-1)

    @property
    def cells(self) -> Counts:
        """The four cells of each class against the rest."""
        tp, answers, truth = self.hits, self.answers, self.truth
        return Counts(tp, answers - tp, truth - tp, np.expand_dims(self.total, -1) - truth - answers + tp)

    def of_each(self, spec: Spec) -> Any:
        """A measure of two classes for each class against the rest."""
        area = AREA_OF.get(spec.measure.name)
        return spec.measure.compute(self.cells, **spec.arguments) if area is None else getattr(self, area)

    def value(self, spec: Spec) -> Any:
        """The value of a measure of several classes, or its values in many replicates."""
        with np.errstate(all="ignore"):
            return spec.measure.compute(self, **spec.arguments)

    def settled(self, spec: Spec) -> Any:
        """The same, at an end of its range where rounding alone keeps it from there.

        Weights round: 1 + 2⁻⁵² has no logit, and 1 − 2⁻⁵² would look as if it had been seen to vary.
        """
        value = self.value(spec)
        with np.errstate(invalid="ignore"):
            for end in spec.measure.range if spec.measure.reads != "probabilities" else ():
                value = np.where(np.abs(value - end) < _ROUNDING, end, value)
        return value


@dataclass(frozen=True, eq=False)
class ColumnOrder:
    """Rows by one column of scores, highest first; ``tie[i]``: place i has the score of the next one."""

    order: NDArray[np.int32]
    tie: NDArray[np.bool_]

    @classmethod
    def of(cls, score: NDArray[Any]) -> ColumnOrder:
        """Sort one column."""
        order = np.argsort(-score).astype(np.int32)
        ordered = score[order]
        return cls(order, np.append(ordered[1:] == ordered[:-1], False))


class ClassTotals:
    """The totals of one class sample, each computed when first asked for."""

    def __init__(self, sample: ClassSample) -> None:
        self.sample = sample

    @cached_property
    def confusion(self) -> Floats:
        """Weight of the cases of each class (rows) by predicted class (columns)."""
        s, k = self.sample, self.sample.n_classes
        cell = s.code.astype(np.int64) * k + s.predicted
        return np.bincount(cell, weights=s.weight, minlength=k * k).reshape(k, k).astype(np.float64)

    @cached_property
    def decisions(self) -> ClassSums:
        """Totals by class of hard predictions."""
        s, k = self.sample, self.sample.n_classes
        hits, truth, answers = (
            np.bincount(code, weights=None if s.weight is None else s.weight[at], minlength=k).astype(np.float64)
            for code, at in ((s.code[s.right], s.right), (s.code, slice(None)), (s.predicted, slice(None)))
        )
        return ClassSums(hits, truth, answers)

    def rows(self, specs: Sequence[Spec]) -> dict[Spec, Floats]:
        """Each row's own value, of the measures that have one."""
        return {
            spec: spec.measure.row_value(self.sample, **{**spec.measure.params, **spec.arguments})
            for spec in specs
            if spec.measure.row_value is not None
        }

    @cached_property
    def row_information(self) -> Floats:
        """Information score of each row in nats, with the sample's own shares of the classes as the prior."""
        assert self.sample.facts is not None
        prior, code = self.decisions.truth / self.decisions.truth.sum(), self.sample.code
        with np.errstate(all="ignore"):
            gain, loss = self.log_true[0] - np.log(prior)[code], np.log1p(-prior)[code] - self.log_true[1]
        return np.asarray(np.where(self.sample.facts.true >= prior[code], gain, loss))

    @cached_property
    def log_true(self) -> tuple[Floats, Floats]:
        """The logarithms of the real class's score and of what is left of 1, of each row."""
        assert self.sample.facts is not None
        with np.errstate(all="ignore"):
            return np.log(self.sample.facts.true), np.log1p(-self.sample.facts.true)

    @cached_property
    def information(self) -> float:
        """Mean information score in nats."""
        return float(np.average(self.row_information, weights=self.sample.weight))

    @cached_property
    def confidence_order(self) -> ColumnOrder:
        """Rows by the score of the predicted class, the most confident first."""
        return ColumnOrder.of(self.sample.confidence)

    @cached_property
    def risk(self) -> float:
        """Area under the risk–coverage curve."""
        ranked = self.confidence_order
        return float(compiled.sum_risk(ranked.order, ranked.tie, self.sample.right, self.sample.row_weight))

    @cached_property
    def areas(self) -> Floats:
        """For each class, in lines: AUC against the rest, mean AUC against each other class, average precision."""
        s, k = self.sample, self.sample.n_classes
        out = np.empty((k, 3))
        if s.weight is not None:
            for at in range(k):
                ranked = self.column_order(at)
                compiled.sum_column(ranked.order, ranked.tie, s.code, s.weight, at, self.decisions.truth, out[at])
            return np.where(np.abs(out.T - 1.0) < _ROUNDING, 1.0, out.T)
        assert s.matrix is not None
        matrix = s.matrix
        start = np.concatenate([[0], np.cumsum(np.bincount(s.code, minlength=k))]).astype(np.int64)

        def sum_columns(first: int) -> None:
            columns = np.empty((min(_GATHERED, k - first), len(s)), matrix.dtype)
            compiled.spread_columns(matrix, s.code, start, first, columns)
            negatives = np.empty(len(s), np.int64)
            for at, values in enumerate(columns):
                for j in range(k):
                    sort_values(values[start[j] : start[j + 1]])
                compiled.sum_sorted_column(values, start, first + at, negatives, out[first + at])

        in_threads([partial(sum_columns, first) for first in range(0, k, _GATHERED)])
        return np.ascontiguousarray(out.T)

    def column_order(self, k: int) -> ColumnOrder:
        """Rows by the scores of class ``k``; sorted anew at each call, since all columns together may be large."""
        assert self.sample.matrix is not None
        return ColumnOrder.of(np.ascontiguousarray(self.sample.matrix[:, k]))

    def sums(self, specs: Sequence[Spec]) -> ClassSums:
        """The totals that the specs read, but for the means of their own rows."""
        needed = {area for spec in specs for area in spec.measure.areas}
        totals: dict[str, Any] = {name: getattr(self, name) for name in ("information", "risk") if name in needed}
        if needed & set(COLUMN_AREAS):
            totals |= dict(zip(COLUMN_AREAS, self.areas, strict=True))
        return replace(self.decisions, **totals)

    def sums_with_means(self, specs: Sequence[Spec]) -> dict[Spec, ClassSums]:
        """The totals that each spec reads, with the mean of its own rows where it has one."""
        sums, rows, weight = self.sums(specs), self.rows(specs), self.sample.weight
        means = {spec: float(np.average(values, weights=weight)) for spec, values in rows.items()}
        return {spec: replace(sums, mean=means[spec]) if spec in means else sums for spec in specs}

    def values(self, specs: Sequence[Spec]) -> dict[Spec, float]:
        """The value of each spec."""
        return {spec: float(sums.settled(spec)) for spec, sums in self.sums_with_means(specs).items()}


def why_inapplicable_to_classes(one: Measure, sample: ClassSample) -> str:
    """Why a measure cannot be read from this sample; empty where it can."""
    if one.reads != "decisions" and sample.matrix is None:
        return "needs scores; only predicted classes are known"
    if one.reads == "probabilities" and not sample.are_probabilities:
        return "the rows of scores are not probabilities that sum to 1"
    return ""


def why_undefined_in_classes(one: Measure, sums: ClassSums, classes: tuple[Any, ...]) -> str:
    """Why a value is nan, naming the class where one is at fault."""
    if one.mean_of is not None and one.mean != "micro":
        with np.errstate(all="ignore"):
            at = int(np.argmax(np.isnan(np.atleast_1d(sums.of_each(one.mean_of)))))
        name, inner = show(classes[at]), one.mean_of.measure.name
        if sums.truth[at] > 0 and sums.answers[at] == 0:
            return f"class {name} is never predicted, so its {inner} is undefined"
        return f"class {name} has no cases" if sums.truth[at] == 0 else f"{inner} is undefined for class {name}"
    if one.by_class and not np.all(sums.truth):
        return f"class {show(classes[int(np.argmin(sums.truth != 0))])} has no cases"
    return one.undefined or "0/0"


def compute_one_of_classes(
    spec: Spec, y_true: Labels, score_matrix: ScoreMatrix, classes: Sequence[Any] | None, sample_weight: Scores | None
) -> tuple[float, str]:
    """Value of one measure of several classes from labels and scores, and the reason where it is nan."""
    names = None if classes is None else check_list(classes, "classes")
    sample = make_class_sample(y_true, score_matrix, classes=names, sample_weight=sample_weight)
    if why_inapplicable_to_classes(spec.measure, sample):
        assert sample.matrix is not None
        p, sums = sample.matrix, sample.matrix.sum(axis=1)
        bad = (p < 0).any(axis=1) | (p > 1).any(axis=1) | (np.abs(sums - 1) > SUM_TOLERANCE)
        raise InputError(
            "score_matrix",
            "is not a distribution over the classes",
            "each row needs probabilities that sum to 1",
            row=sample.first_row(bad),
        )
    totals = ClassTotals(sample)
    value = totals.values([spec])[spec]
    if value == value:
        return value, ""
    return value, why_undefined_in_classes(spec.measure, totals.sums([spec]), sample.classes)

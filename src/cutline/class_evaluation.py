"""Models of several classes: ClassEvaluation of one, with confusions and decisions; ClassComparison of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .catalogue.compute import ClassTotals
from .catalogue.declare import Spec, parse_measure
from .catalogue.matrix_measures import default_class_specs
from .class_sample import ClassSample, find_classes, make_class_sample, score_matrix_of, unordered
from .comparison import compare_samples
from .decide.operating import RiskCoverage, risk_coverage
from .errors import PYTHON, InputError, Terms, look_up, show, verbatim
from .estimate import Estimate, Settings
from .evaluation import Evaluation, evaluate_sample
from .inference import paired as tests
from .inference.class_intervals import column_estimates, estimate_classes, share_of
from .inference.differences import DifferenceTest
from .inference.limits import wilson_shares, z_of
from .partition import rows_by
from .quotas import parse_quota
from .sources.arrays import Sample, as_column, is_matrix, make_sample, renumber
from .table import (
    ByMeasure,
    DictResult,
    HasReport,
    HasSections,
    HasSegments,
    Section,
    Table,
    TabularResult,
    format_value,
    pluralize,
)
from .types import Floats, Labels, MeasureLike, QuotaLike, Scores
from .validate import check_whole, checked
from .verdict import Models, differences_of

if TYPE_CHECKING:
    from .segments import SegmentComparison, Segments

MOST_ROWS = 60  # classes in a table, and compared one by one without being asked
_MANY = 100  # rows from which predictions without an error look too good
_POINTS_KEPT = 100  # of the risk–coverage curve in JSON


@dataclass(frozen=True, eq=False, repr=False)
class Confusion(HasSections, TabularResult):
    """Real classes in rows, predicted ones in columns: how many cases, or their weight.

    ``labels`` are the classes; ``rates`` gives the share of each real class that was predicted as each class, with
    intervals.
    """

    counts: Floats
    labels: tuple[Any, ...]
    low: Floats
    high: Floats
    level: float

    @property
    def shares(self) -> Floats:
        """Each row as shares of its class; nan if a class has no cases."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.counts / self.counts.sum(axis=1, keepdims=True))

    @cached_property
    def rates(self) -> Table:
        """One row for each real and predicted class: cases, share of the real class, and its interval."""
        return Table(self._cells(np.ndindex(self.counts.shape)), "Real and predicted classes")

    def _cells(self, cells: Iterable[Any]) -> list[dict[str, Any]]:
        """The rows of :attr:`rates` for some cells of the matrix."""
        shares = self.shares
        return [
            {
                "class": self.labels[a],
                "predicted": self.labels[b],
                "cases": float(self.counts[a, b]),
                "share": float(shares[a, b]),
                "low": float(self.low[a, b]),
                "high": float(self.high[a, b]),
            }
            for a, b in cells
        ]

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each real class, with a count for each predicted one."""
        return [
            {"class": real, **{str(said): float(self.counts[a, b]) for b, said in enumerate(self.labels)}}
            for a, real in enumerate(self.labels)
        ]

    def sections(self) -> list[Section]:
        """The matrix; a darker cell has a larger share of its real class."""
        from .present.class_words import confusion_table

        return [Section("confusion", [confusion_table(self)])]


@dataclass(frozen=True, eq=False, repr=False)
class ClassEvaluation(HasReport, HasSegments["Segments"], DictResult, ByMeasure):
    """The evaluation of a model of several classes. ``ev["macro(f1)"]`` is an Estimate; ``ev.confusion`` the matrix."""

    words: ClassVar[str] = "class_words.class_sections"
    pictures: ClassVar[tuple[str, ...]] = ("confusion",)
    name: str
    sample: ClassSample = field(repr=False)
    specs: Mapping[str, Spec]
    estimates: Mapping[str, Estimate]
    settings: Settings
    ordered: bool = False
    units: Mapping[Spec, Floats] = field(default_factory=dict, repr=False)
    totals: ClassTotals = field(default=None, repr=False)  # type: ignore[assignment]
    dropped: int = 0
    drawn: Mapping[Spec, Floats] = field(default_factory=dict, repr=False)  # replicates, where they were asked for
    by_segment: Segments | None = field(default=None, repr=False)  # where ``by`` was given

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, in the order of the columns."""
        return self.sample.classes

    def __getitem__(self, name: str) -> Estimate:
        """By measure string; names of one number find each other (``micro(f1)`` is the accuracy)."""
        if isinstance(name, str) and name in self.estimates:
            return self.estimates[name]
        spec = parse_measure(name, several=True)
        for key in (str(spec), spec.measure.same_as):
            if key in self.estimates:
                return self.estimates[key]
        raise InputError("measures", f"do not contain {show(name)}", f"evaluate it: {{measures=[{name!r}]}}")

    def with_measures(self, *measures: str) -> ClassEvaluation:
        """The same rows by other measures."""
        how: dict[str, Any] = {"name": self.name, "ordered": self.ordered, "dropped": self.dropped}
        return evaluate_class_sample(self.sample, measures=measures, settings=self.settings, **how)

    @property
    def _clusters(self) -> Any:
        """The cluster of each row as a number, None where rows were drawn one by one."""
        return self.sample.cluster

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """Rows, classes, their sizes, and how many rows have a tie for the highest score."""
        s = self.sample
        sizes = np.bincount(s.code, minlength=s.n_classes)
        facts = {
            "rows": len(s),
            "classes": s.n_classes,
            "smallest_class": self.classes[int(np.argmin(sizes))],
            "smallest_size": int(sizes.min()),
            "largest_class": self.classes[int(np.argmax(sizes))],
            "largest_size": int(sizes.max()),
            "largest_share": float(sizes.max() / len(s)),
            "scores": "none" if s.matrix is None else "probabilities" if s.are_probabilities else "scores",
            "tied_predictions": 0 if s.facts is None or s.own_predictions else s.facts.tied,
            "zero_probabilities": int(np.count_nonzero(s.facts.true == 0.0)) if s.facts and s.are_probabilities else 0,
            "weighted": s.weight is not None,
            "clusters": None if s.cluster is None else int(s.cluster.max()) + 1,
            "dropped": self.dropped,
        }
        return MappingProxyType(facts)

    @property
    def notices(self) -> list[str]:
        """What looks wrong with these scores or predictions, each in one sentence with what to try."""
        return class_notices([self])

    @cached_property
    def confusion(self) -> Confusion:
        """Real by predicted class, with Wilson intervals for the shares of each row."""
        s, k = self.sample, self.sample.n_classes
        low, high = np.full((k, k), np.nan), np.full((k, k), np.nan)
        for a, rows in enumerate(rows_by(s.code, k)):
            if not len(rows):
                continue
            if s.weight is None and s.cluster is None:
                shares = np.bincount(s.predicted[rows], minlength=k) / len(rows)
                low[a], high[a] = wilson_shares(shares, np.full(k, float(len(rows))), z_of(self.settings.level))
                continue
            for b in range(k):
                _, (low[a, b], high[a, b]) = share_of(s, rows, s.predicted[rows] == b, self.settings.level)
        return Confusion(self.totals.confusion, self.classes, low, high, self.settings.level)

    @cached_property
    def per_class(self) -> Table:
        """For each class: cases, predictions, and precision, recall, F1, AUC and average precision with intervals."""
        s, level = self.sample, self.settings.level
        sums = self.totals.decisions
        areas = None if s.matrix is None else column_estimates(self.totals, level)
        rows = []
        real, said = (rows_by(code, s.n_classes) for code in (s.code, s.predicted))
        for k, label in enumerate(self.classes):
            row = {"class": label, "cases": float(sums.truth[k]), "predicted": float(sums.answers[k])}
            either = np.union1d(real[k], said[k])
            overlap, (least, most) = share_of(s, either, s.right[either], level)
            shares = {
                "precision": share_of(s, said[k], s.right[said[k]], level),
                "recall": share_of(s, real[k], s.right[real[k]], level),
                "f1": (2 * overlap / (1 + overlap), (2 * least / (1 + least), 2 * most / (1 + most))),
            }
            for name, (value, (low, high)) in shares.items():
                row |= {name: value, f"{name}_low": low, f"{name}_high": high}
            for name in ("roc_auc", "average_precision") if areas is not None else ():
                row |= areas[k][name].to_dict(name)  # type: ignore[index]
            rows.append(row)
        return Table(rows, f"Each class against the rest ({level:.0%} intervals)")

    def most_confused(self, n: int = 10) -> Table:
        """The pairs of classes that are mistaken for each other most often, as real and predicted class."""
        check_whole(n, "n", 1)
        confusion = self.confusion
        wrong = np.array(confusion.counts)
        np.fill_diagonal(wrong, 0.0)
        total = float(wrong.sum())
        order = np.argsort(-wrong, axis=None, kind="stable")[:n]
        rows = []
        for cell in confusion._cells([divmod(int(at), len(self.classes)) for at in order if wrong.flat[at] > 0]):
            share = {"share_of_class": cell.pop("share"), "low": cell.pop("low"), "high": cell.pop("high")}
            rows.append({**cell, **share, "share_of_errors": cell["cases"] / total})
        return Table(rows, "Most confused classes")

    @checked
    def calibration(self, bins: int = 10) -> Table:
        """Confidence in the predicted class against how often it is right, in groups of equal size."""
        self._need_scores("calibration")
        if not self.sample.are_probabilities:
            raise InputError("y_score", "does not contain probabilities, and calibration needs them")
        order, s, rows = self.totals.confidence_order.order[::-1], self.sample, []
        for part in np.array_split(order.astype(np.intp), min(bins, len(order))):
            share, (low, high) = share_of(s, part, s.right[part], self.settings.level)
            weight = None if s.weight is None else s.weight[part]
            cases = float(len(part)) if weight is None else float(weight.sum())
            confidence = float(np.average(s.confidence[part], weights=weight))
            rows.append({"cases": cases, "confidence": confidence, "right": share, "low": low, "high": high})
        return Table(rows, "Confidence in the predicted class, and how often it is right")

    def risk_coverage(self) -> RiskCoverage:
        """Error rate if only the most confident cases are answered, by the share answered."""
        self._need_scores("the risk–coverage curve")
        spec = parse_measure("risk_coverage_area", several=True)
        area = self.estimates.get(str(spec)) or estimate_classes(self.totals, [spec], self.settings)[0][spec]
        return risk_coverage(self.totals, area, self.settings.level)

    @checked(quota=parse_quota)
    def of(
        self,
        label: Any,
        *,
        threshold: float | None = None,
        quota: QuotaLike | None = None,
        measures: Sequence[MeasureLike] | None = None,
        prevalence: float | None = None,
    ) -> Evaluation:
        """One class against the rest as a binary Evaluation, with every tool for quotas; options as for evaluate()."""
        at = look_up({name: k for k, name in enumerate(self.classes)}, label, "label")
        self._need_scores("an evaluation of one class")
        how: dict[str, Any] = {"threshold": threshold, "quota": quota, "measures": measures, "prevalence": prevalence}
        sample, settings = self._against_rest(at)
        return evaluate_sample(sample, name=str(label), settings=settings, **how)

    def _against_rest(self, at: int, *, decided: bool = False) -> tuple[Sample, Settings]:
        """The rows as those of one class and of the rest, with its scores or (``decided``) its predictions.

        And how the intervals of two classes are made.
        """
        s, settings = self.sample, self.settings
        score = (s.predicted == at).astype(np.float64) if decided or s.matrix is None else s.matrix[:, at]
        sample = make_sample(s.code == at, np.ascontiguousarray(score), sample_weight=s.weight, clusters=s.cluster)
        return sample, replace(settings, interval="auto") if settings.interval == "delta" else settings

    def _need_scores(self, what: str) -> None:
        if self.sample.matrix is None:
            raise InputError("y_score", f"is missing, and {what} needs it", "pass the scores of every class")

    def to_dict(self) -> dict[str, Any]:
        """Settings, facts, measures, confusion matrix, classes, and by confidence: errors and calibration.

        ``confusion_shares`` has the cells of the matrix with cases, with intervals.
        """
        content: dict[str, Any] = {
            "name": self.name,
            **self.settings.to_dict(),
            "ordered": self.ordered,
            "data": dict(self.facts),
            "notices": self.notices,
            "classes": list(self.classes),
            "measures": self.to_dicts(),
            "confusion": self.confusion.counts.tolist(),
            "confusion_shares": self.confusion._cells(np.argwhere(self.confusion.counts > 0)),
            "per_class": self.per_class.to_dicts(),
        }
        if self.sample.matrix is not None:
            content["risk_coverage"] = self.risk_coverage().thinned(_POINTS_KEPT).to_dicts()
        if self.sample.are_probabilities:
            content["calibration"] = self.calibration().to_dicts()
        return {**content, **self._of_segments}


def class_notices(evaluations: Sequence[ClassEvaluation], terms: Terms = PYTHON) -> list[str]:
    """What looks wrong with the scores of some models, in the terms of a front end."""
    sentences = []
    for ev in evaluations:
        kappa, right = ev.estimates.get("cohen_kappa"), ev.estimates.get("accuracy")
        if kappa is not None and kappa.high < 0.0:
            sentences.append(
                f"{verbatim(ev.name)} agrees with the real classes less often than chance (kappa "
                f"{format_value(kappa.value)}): does each score column belong to the class that it stands for "
                "({classes})?"
            )
        elif right is not None and right.value == 1.0 and len(ev.sample) >= _MANY:
            sentences.append(
                f"{verbatim(ev.name)} names every class without an error: was it made from the labels, or fitted on "
                "these rows?"
            )
        zeros = ev.facts["zero_probabilities"]
        for key, spec in ev.specs.items() if zeros else ():
            if spec.measure.name == "log_loss":
                cases = f"{pluralize(zeros, 'case')} ({zeros / len(ev.sample):.1%})"
                least = {**spec.measure.params, **spec.arguments}["eps"]
                sentences.append(
                    f"{verbatim(ev.name)} gives the real class probability 0 in {cases}: {key} counts it as "
                    f"{least:.2g}, because the loss would be infinite. The option eps sets another floor: "
                    "log_loss(eps=1e-5)."
                )
    return [terms.fill(sentence) for sentence in sentences]


def evaluate_class_sample(
    sample: ClassSample,
    *,
    name: str,
    ordered: bool,
    measures: Sequence[MeasureLike] | None,
    settings: Settings,
    dropped: int = 0,
) -> ClassEvaluation:
    """Evaluate a checked sample, by the measures that were asked for; by default by every one that it supports."""
    if measures is None:
        specs = default_class_specs(sample, ordered=ordered)
    else:
        specs = list(dict.fromkeys(parse_measure(m, several=True) for m in measures))
    if not sample.in_order and any(spec.ordered for spec in specs):
        raise unordered(sample.classes)
    totals = ClassTotals(sample)
    estimates, units, drawn = estimate_classes(totals, specs, settings)
    by_key = {str(spec): spec for spec in specs}, {str(spec): estimates[spec] for spec in specs}
    return ClassEvaluation(name, sample, *by_key, settings, ordered, units, totals, dropped, drawn)


def evaluate_class_part(
    ev: ClassEvaluation, numbers: NDArray[np.intp], *, name: str = "", specs: Sequence[Spec] = ()
) -> ClassEvaluation:
    """The same evaluation of some of the rows, as if they were alone, with the classes of all rows.

    It has no intervals where there is a single cluster, which cannot be resampled.
    """
    whole, settings = ev.sample, ev.settings
    taken: dict[str, Any] = {"source_rows": numbers if whole.source_rows is None else whole.source_rows[numbers]}
    for column in ("code", "predicted", "matrix", "weight", "cluster"):
        values = getattr(whole, column)
        taken[column] = None if values is None else values[numbers]
    if whole.facts is not None:
        each = ("top", "place", "true", "square", "cumulative", "highest")
        taken["facts"] = facts = replace(whole.facts, **{fact: getattr(whole.facts, fact)[numbers] for fact in each})
        if taken["matrix"] is not None:
            highest = taken["matrix"] == facts.highest[:, None]
            taken["facts"] = replace(facts, tied=int(np.count_nonzero(highest.sum(axis=1) > 1)))
    sample = replace(whole, **taken)
    if sample.cluster is not None:
        cluster = renumber(sample.cluster.astype(np.intp)).astype(np.int32)
        sample = replace(sample, cluster=cluster)
        settings = settings if cluster.any() else replace(settings, interval=None)
    how: dict[str, Any] = {"ordered": ev.ordered, "measures": list(specs or ev.specs.values())}
    return evaluate_class_sample(sample, name=name, settings=settings, **how)


@dataclass(frozen=True, eq=False, repr=False)
class ClassComparison(HasReport, HasSegments["SegmentComparison"], DictResult, Models[ClassEvaluation]):
    """Models of several classes on the same cases. Reads as a mapping from model to ClassEvaluation."""

    words: ClassVar[str] = "class_words.class_comparison_sections"
    pictures: ClassVar[tuple[str, ...]] = ("forest",)

    evaluations: Mapping[str, ClassEvaluation]
    specs: Mapping[str, Spec]
    settings: Settings
    margin: float | None = None
    by_segment: SegmentComparison | None = field(default=None, repr=False)  # where ``by`` was given

    def with_measures(self, *measures: str) -> ClassComparison:
        """The same models by other measures."""
        evaluations = {name: ev.with_measures(*measures) for name, ev in self.evaluations.items()}
        return replace(self, evaluations=evaluations, specs=next(iter(evaluations.values())).specs)

    def _test(self, first: str, second: str, key: str) -> tests.DifferenceTest:
        """The difference of two models by one measure, tested as that of two models of two classes."""
        one, two, spec = self.evaluations[first], self.evaluations[second], self.specs[key]
        singles, drawn = (one.estimates[key], two.estimates[key]), (one.drawn.get(spec), two.drawn.get(spec))
        pair = tests.Pair(first, second, spec, singles, (), drawn, self.settings)
        if pair.difference != pair.difference or self.settings.interval is None:
            return tests.DifferenceTest()
        return tests.class_difference(pair, (one.totals, two.totals), (one.units[spec], two.units[spec]))

    @checked
    def per_class(self, measure: str = "recall") -> Table:
        """For each class and each pair of models: the difference (a − b) by a measure of that class against the rest.

        A measure at a threshold (recall, precision, F1 …) reads the predicted classes, others the class's scores.
        ``p_adjusted`` is Holm's over all classes and pairs; ``verdict`` and ``reading`` are as in :attr:`differences`.
        Intervals of a class with fewer than about 30 cases are too short: with 14 of them, 87 to 89% contained the true
        difference in a simulation.
        """
        decides = parse_measure(measure).measure.needs_threshold
        rows = []
        pairs: list[tuple[str, str, float, DifferenceTest]] = []
        for k, label in enumerate(self.first.classes):
            samples = {}
            for name, ev in self.evaluations.items():
                if not decides:
                    ev._need_scores(measure)
                samples[name], settings = ev._against_rest(k, decided=decides)
            how: dict[str, Any] = {"threshold": 0.5 if decides else None, "quota": None, "measures": [measure]}
            models = compare_samples(samples, settings=settings, **how)
            ((key, spec),) = models.specs.items()
            for a, b in combinations(samples, 2):
                gap = models[a].estimates[key].value - models[b].estimates[key].value
                pairs.append((a, b, gap, models._test(a, b, key)))
                rows.append({"class": label, "cases": int(np.count_nonzero(self.first.sample.code == k))})
        compared = differences_of(measure, spec.better, pairs, self.settings.level, self.margin)
        title = f"Differences between models by class (a − b), adjusted for {pluralize(len(pairs), 'comparison')}"
        return Table([{**row, **d} for row, d in zip(rows, compared, strict=True)], title)

    def to_dict(self) -> dict[str, Any]:
        """Settings, each model's measures, the differences, and those in each class, of up to 60 classes."""
        return {
            **self.settings.to_dict(),
            "margin": self.margin,
            "models": [ev.to_dict() for ev in self.evaluations.values()],
            "differences": self.differences.to_dicts(),
            "per_class": self.per_class().to_dicts() if len(self.first.classes) <= MOST_ROWS else [],
            "verdicts": [verdict.to_dict() for verdict in self.decided],
            **self._of_segments,
        }


def compare_matrices(
    y_true: Labels,
    models: Mapping[str, Any],
    *,
    classes: Sequence[Any] | None,
    sample_weight: Scores | None,
    clusters: Labels | None,
    measures: Sequence[MeasureLike] | None,
    margin: float | None,
    **how: Any,
) -> ClassComparison:
    """Compare models of several classes: score matrices, or columns of predicted classes, by name.

    ``how``: as for :func:`evaluate_class_sample`.
    """
    # the classes of all models: as named, by the columns of a frame, or those of labels and hard predictions
    matrices = {name: given for name, given in models.items() if is_matrix(given)}
    hard = {f"scores[{name!r}]": given for name, given in models.items() if name not in matrices}
    named = next((given for given in matrices.values() if hasattr(given, "columns")), None)
    first = next(iter(matrices.values()), None) if named is None else named
    wide = None if first is None else score_matrix_of(first).shape[1]
    labels = {argument: as_column(given, argument) for argument, given in {"y_true": y_true, **hard}.items()}
    common = find_classes(y_true, named, classes, labels, wide)
    samples: dict[str, ClassSample] = {}
    for name, given in models.items():
        scores, predicted = (given, None) if name in matrices else (None, given)
        rows: dict[str, Any] = {"classes": common.names, "sample_weight": sample_weight, "clusters": clusters}
        try:
            sample = make_class_sample(y_true, scores, predicted=predicted, **rows)
        except InputError as error:
            if error.argument not in ("score_matrix", "predicted"):
                raise
            raise error.but(argument=f"scores[{name!r}]") from None
        samples[str(name)] = replace(sample, in_order=common.in_order)
    if measures is None:  # all that any model supports; neither end of the overconfidence is better
        richest = max(samples.values(), key=lambda sample: (sample.matrix is not None, sample.are_probabilities))
        every = default_class_specs(richest, ordered=how["ordered"])
        measures = [spec for spec in every if spec.measure.name != "overconfidence"]
    evaluations = {
        name: evaluate_class_sample(sample, name=name, measures=measures, **how) for name, sample in samples.items()
    }
    first = next(iter(evaluations.values()))
    return ClassComparison(evaluations, first.specs, first.settings, margin)

"""One model of several classes -> ClassEvaluation: every measure with its interval, confusions, classes, decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .catalogue.class_compute import ClassTotals
from .catalogue.classes import ClassSpec, default_class_specs, log_loss, parse_class_measure
from .class_names import unordered
from .class_sample import ClassSample, make_class_sample
from .decide.abstention import Abstention, RiskCoverage, abstain, risk_coverage
from .errors import PYTHON, InputError, Terms, look_up, show, verbatim
from .estimate import Estimate
from .evaluation import Evaluation, OneVsRest, evaluate
from .inference.class_columns import column_estimates, share_of
from .inference.class_intervals import NAMES, estimate_classes
from .inference.proportions import wilson_shares
from .inference.settings import ClassSettings
from .table import ByMeasure, DictResult, Reported, Table, TabularResult, format_value, pluralize, reading_row
from .types import ClassIntervalName, ClassMeasureLike, Floats, Labels, ScoreMatrix, Scores
from .validate import check_number, check_whole, checked, one_of

CLASS_INTERVAL = one_of(None, *NAMES)
_MANY = 100  # rows from which predictions without an error look too good
_POINTS_KEPT = 100  # of the risk–coverage curve in JSON


@dataclass(frozen=True, eq=False)
class Confusion(TabularResult):
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

    @property
    def filled(self) -> Table:
        """The rows of :attr:`rates` that hold cases."""
        return Table(self._cells(np.argwhere(self.counts > 0)), "Real and predicted classes")

    def _cells(self, cells: Iterable[Any]) -> list[dict[str, Any]]:
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

    def __repr__(self) -> str:
        return repr(Table(self.to_dicts(), "Real class (rows) by predicted class (columns)"))

    def _repr_html_(self) -> str:
        from .present.class_sections import confusion_table

        return confusion_table(self)


@dataclass(frozen=True, eq=False)
class ClassEvaluation(Reported, DictResult, ByMeasure):
    """The evaluation of a model of several classes. ``ev["macro(f1)"]`` is an Estimate; ``ev.confusion`` the matrix."""

    picture: ClassVar[str] = "confusion"
    name: str
    sample: ClassSample = field(repr=False)
    specs: Mapping[str, ClassSpec]
    estimates: Mapping[str, Estimate]
    settings: ClassSettings
    ordered: bool = False
    units: Mapping[ClassSpec, Floats] = field(default_factory=dict, repr=False)
    totals: ClassTotals = field(default=None, repr=False)  # type: ignore[assignment]
    dropped: int = 0

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, in the order of the columns."""
        return self.sample.classes

    def __getitem__(self, name: str) -> Estimate:
        """By measure string; names of one number find each other (``micro(f1)`` is the accuracy)."""
        if isinstance(name, str) and name in self.estimates:
            return self.estimates[name]
        spec = parse_class_measure(name)
        for key in (str(spec), spec.same_as):
            if key in self.estimates:
                return self.estimates[key]
        raise InputError("measures", f"do not hold {show(name)}", f"evaluate it: {{measures=[{name!r}]}}")

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
        for a, rows in enumerate(_rows_by(s.code, k)):
            if not len(rows):
                continue
            if s.weight is None and s.cluster is None:
                shares = np.bincount(s.predicted[rows], minlength=k) / len(rows)
                low[a], high[a] = wilson_shares(shares, np.full(k, float(len(rows))), self.settings.level)
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
        real, said = (_rows_by(code, s.n_classes) for code in (s.code, s.predicted))
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
            raise InputError("score_matrix", "does not hold probabilities, and calibration needs them")
        ranked, s = self.totals.confidence_order, self.sample
        order = ranked.order[::-1]
        rows = []
        for part in np.array_split(order.astype(np.intp), min(bins, len(order))):
            share, (low, high) = share_of(s, part, s.right[part], self.settings.level)
            weight = None if s.weight is None else s.weight[part]
            rows.append(
                {
                    "cases": float(len(part)) if weight is None else float(weight.sum()),
                    "confidence": float(np.average(self.sample.confidence[part], weights=weight)),
                    "right": share,
                    "low": low,
                    "high": high,
                }
            )
        return Table(rows, "Confidence in the predicted class, and how often it is right")

    def risk_coverage(self) -> RiskCoverage:
        """Error rate if only the most confident cases are answered, by the share answered."""
        self._need_scores("the risk–coverage curve")
        return self._risk_coverage

    @cached_property
    def _risk_coverage(self) -> RiskCoverage:
        spec = parse_class_measure("risk_coverage_area")
        area = self.estimates.get(str(spec)) or estimate_classes(self.totals, [spec], self.settings)[0][spec]
        return risk_coverage(self.totals, area, self.settings.level)

    @checked
    def abstain(self, accuracy: float, *, confidence: float = 0.95) -> Abstention:
        """The lowest confidence at which to answer so that new answers keep an accuracy, with a stated confidence."""
        self._need_scores("abstention")
        check_number(accuracy, "accuracy", 0.0, 1.0, open_ends=True)
        return abstain(self.totals, accuracy, confidence)

    def of(self, label: Any, **options: Any) -> Evaluation:
        """One class against the rest as a binary Evaluation, with every tool for quotas; options as for evaluate()."""
        at = look_up({name: k for k, name in enumerate(self.classes)}, label, "label")
        self._need_scores("an evaluation of one class")
        s = self.sample
        assert s.matrix is not None
        given = {
            "name": str(label),
            "sample_weight": s.weight,
            "clusters": s.cluster,
            "level": self.settings.level,
            "seed": self.settings.seed,
            "n_resamples": self.settings.n_resamples,
            "interval": "auto" if self.settings.interval == "delta" else self.settings.interval,
        }
        return evaluate(s.code == at, np.ascontiguousarray(s.matrix[:, at]), **{**given, **options})

    def one_vs_rest(self, **options: Any) -> OneVsRest:
        """Every class against the rest."""
        return OneVsRest({label: self.of(label, **options) for label in self.classes})

    def places(self, places: Mapping[Any, int | float] | int | float) -> Table:
        """The hits of each class if it gets a number of places: a cut of its own list of scores.

        ``places``: a quota for each class, or one for all. A case may take a place in several lists.
        """
        wanted = dict(places) if isinstance(places, Mapping) else dict.fromkeys(self.classes, places)
        rows = []
        for label, quota in wanted.items():
            ev = self.of(label, measures=["hit_rate", "qrecall"], quota=quota)
            cut = ev.at(quota=quota)
            rows.append(
                {
                    "class": label,
                    "cases": ev.facts["positives"],
                    "places": cut.taken,
                    "threshold": cut.threshold,
                    "hits": cut.tp,
                    **ev["hit_rate"].to_dict("hit_rate"),
                    **ev["qrecall"].to_dict("qrecall"),
                }
            )
        return Table(rows, "Each class's best places")

    def _need_scores(self, what: str) -> None:
        if self.sample.matrix is None:
            raise InputError("score_matrix", f"is missing, and {what} needs it", "pass the scores of every class")

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each measure."""
        return [
            {
                "measure": key,
                "title": spec.title,
                "family": spec.family,
                **e.to_dict(),
                "better": spec.better,
                "same_as": spec.same_as,
                "remark": spec.remark,
                "reason": e.reason,
                "undefined_replicates": e.undefined_replicates,
            }
            for (key, spec), e in zip(self.specs.items(), self.estimates.values(), strict=True)
        ]

    @property
    def table(self) -> Table:
        """The measures as rows."""
        return Table(self.to_dicts(), self.name)

    def to_dict(self) -> dict[str, Any]:
        """Settings, facts, measures, confusion matrix, classes, and by confidence: errors and calibration.

        ``confusion_shares`` has the cells of the matrix that hold cases, with intervals.
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
            "confusion_shares": self.confusion.filled.to_dicts(),
            "per_class": self.per_class.to_dicts(),
        }
        if self.sample.matrix is not None:
            content["risk_coverage"] = self.risk_coverage().thinned(_POINTS_KEPT).to_dicts()
        if self.sample.are_probabilities:
            content["calibration"] = self.calibration().to_dicts()
        return content

    def headline(self) -> str:
        """How many rows and classes, and how they are distributed, in one sentence."""
        f = self.facts
        largest = f"the largest, {f['largest_class']}, holds {f['largest_share']:.1%}"
        return f"{self.name}: {pluralize(f['rows'], 'row')}, {pluralize(f['classes'], 'class', 'classes')}; {largest}"

    def reading_rows(self) -> list[dict[str, str]]:
        """The measures, formatted for reading."""
        with_interval = any(e.low == e.low for e in self.estimates.values())
        rows = []
        for spec, e in zip(self.specs.values(), self.estimates.values(), strict=True):
            note = e.reason or "; ".join(filter(None, [spec.remark, spec.same_as and f"same as {spec.same_as}"]))
            rows.append(reading_row(spec.family, spec.better, e, note, with_interval=with_interval))
        return rows

    def __repr__(self) -> str:
        return repr(Table(self.reading_rows(), "\n".join([self.headline(), *self.notices])))

    def _repr_html_(self) -> str:
        from .present.class_sections import class_evaluation_html

        return class_evaluation_html(self)


def class_notices(evaluations: Sequence[ClassEvaluation], terms: Terms = PYTHON) -> list[str]:
    """What looks wrong with the scores of some models, in the terms of a front end."""
    found = []
    for ev in evaluations:
        kappa, right = ev.estimates.get("cohen_kappa"), ev.estimates.get("accuracy")
        if kappa is not None and kappa.high < 0.0:
            found.append(
                f"{verbatim(ev.name)} agrees with the real classes less often than chance (kappa "
                f"{format_value(kappa.value)}): does each score column belong to the class that it stands for "
                "({classes})?"
            )
        elif right is not None and right.value == 1.0 and len(ev.sample) >= _MANY:
            found.append(
                f"{verbatim(ev.name)} names every class without an error: was it made from the labels, or fitted on "
                "these rows?"
            )
        zeros = ev.facts["zero_probabilities"]
        for key, spec in ev.specs.items() if zeros else ():
            if spec.measure is log_loss:
                cases = f"{pluralize(zeros, 'case')} ({zeros / len(ev.sample):.1%})"
                least = {**spec.measure.params, **spec.arguments}["eps"]
                found.append(
                    f"{verbatim(ev.name)} gives the real class probability 0 in {cases}: {key} counts it as "
                    f"{least:.2g}, because the loss would be infinite. The option eps sets another floor: "
                    "log_loss(eps=1e-5)."
                )
    return [terms.fill(sentence) for sentence in found]


def _rows_by(code: NDArray[np.int32], k: int) -> list[NDArray[np.intp]]:
    order = np.argsort(code, kind="stable")
    return np.split(order, np.searchsorted(code[order], np.arange(1, k)))


@checked(interval=CLASS_INTERVAL)
def evaluate_classes(
    y_true: Labels,
    score_matrix: ScoreMatrix | None = None,
    *,
    y_pred: Labels | None = None,
    classes: Sequence[Any] | None = None,
    ordered: bool = False,
    name: str = "model",
    sample_weight: Scores | None = None,
    clusters: Labels | None = None,
    measures: Sequence[ClassMeasureLike] | None = None,
    interval: ClassIntervalName | None = "auto",
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    progress: bool | None = None,
) -> ClassEvaluation:
    """Evaluate a model of several classes: every measure, or those named, each with an interval.

    ``score_matrix`` has a row for each case and a column for each class; ``classes`` names the columns (by default the
    sorted labels, or a frame's column names). The predicted class is the one with the highest score, the first of equal
    ones, unless ``y_pred`` says otherwise; ``y_pred`` alone gives the measures of predicted classes. ``ordered=True``
    adds the measures for ordered classes. ``interval``: ``"auto"`` (a closed form: Wilson, the delta method, or a mean
    of the classes' own intervals), ``"delta"``, ``"bootstrap"`` (rows or clusters reweighted), a method by name, or
    None.

    >>> y = ["a", "b", "c", "c"]
    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.1, 0.2, 0.7], [0.5, 0.2, 0.3]]
    >>> ev = evaluate_classes(y, p, interval=None)
    >>> ev["accuracy"].value, round(ev["macro(f1)"].value, 4)
    (0.75, 0.7778)
    """
    sample = make_class_sample(
        y_true, score_matrix, y_pred=y_pred, classes=classes, sample_weight=sample_weight, clusters=clusters
    )
    settings = ClassSettings(interval, level, n_resamples, seed, progress=progress)
    return evaluate_class_sample(sample, name=name, ordered=ordered, measures=measures, settings=settings)


def evaluate_class_sample(
    sample: ClassSample,
    *,
    name: str,
    ordered: bool,
    measures: Sequence[ClassMeasureLike] | None,
    settings: ClassSettings,
) -> ClassEvaluation:
    """Evaluate a checked sample."""
    specs = choose_class_specs(sample, measures, ordered=ordered)
    totals = ClassTotals(sample)
    estimates, units = estimate_classes(totals, specs, settings)
    return ClassEvaluation(
        name,
        sample,
        {str(spec): spec for spec in specs},
        {str(spec): estimates[spec] for spec in specs},
        settings,
        ordered,
        units,
        totals,
    )


def choose_class_specs(
    sample: ClassSample, measures: Sequence[ClassMeasureLike] | None, *, ordered: bool
) -> list[ClassSpec]:
    """The specs that were asked for; by default every measure that the sample supports."""
    if measures is None:
        specs = default_class_specs(sample, ordered=ordered)
    else:
        specs = list(dict.fromkeys(parse_class_measure(m) for m in measures))
    if not sample.in_order and any(spec.ordered for spec in specs):
        raise unordered(sample.classes)
    return specs

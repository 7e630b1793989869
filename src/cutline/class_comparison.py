"""Several models of the same classes -> ClassComparison: paired differences, adjusted, with one verdict each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .catalogue.classes import ClassSpec, default_class_specs
from .class_evaluation import CLASS_INTERVAL, ClassEvaluation, evaluate_class_sample
from .class_names import ClassNames, find_classes
from .class_sample import ClassSample, make_class_sample, score_matrix_of
from .errors import InputError
from .inference import paired as tests
from .inference.class_influence import acceleration, has_few, measure_spread
from .inference.class_intervals import BOOTSTRAP, class_replicates
from .inference.normal import t_quantile
from .inference.proportions import z_of
from .inference.resampling import enough_replicates
from .inference.settings import ClassSettings
from .sources.arrays import as_column
from .table import DictResult, Table, pluralize
from .types import ClassIntervalName, ClassMeasureLike, Floats, Labels, Scores
from .validate import checked
from .verdict import Models


@dataclass(frozen=True, eq=False)
class ClassComparison(DictResult, Models[ClassEvaluation]):
    """Models of several classes on the same cases. Reads as a mapping from model to ClassEvaluation."""

    evaluations: Mapping[str, ClassEvaluation]
    specs: Mapping[str, ClassSpec]
    settings: ClassSettings
    margin: float | None = None
    replicates: Mapping[str, Mapping[ClassSpec, Floats]] = field(default_factory=dict, repr=False)

    def _test(self, a: str, b: str, key: str) -> tests.DifferenceTest:
        """The difference of two models by one measure; of accuracy, with McNemar's exact p-value."""
        one, two, spec = self.evaluations[a], self.evaluations[b], self.specs[key]
        gap = one.estimates[key].value - two.estimates[key].value
        if gap != gap or self.settings.interval is None:
            return tests.DifferenceTest()
        level = self.settings.level
        if self.replicates:
            how, drawn = str(self.settings.interval), self.replicates[a][spec] - self.replicates[b][spec]
            found = tests.summary(drawn, level, how, gap, acceleration(one.units[spec] - two.units[spec]))
            named = f", {how}" if how in ("basic", "bca") else ""
            made = tests.DifferenceTest(*found, f"paired bootstrap{named}")
        else:
            made = tests.DifferenceTest(*_paired(one, two, key, spec, level), "paired mover")
        plain = one.sample.weight is None and one.sample.cluster is None
        if spec.measure.proportion and spec.measure.reads == "decisions" and plain:
            exact = tests.mcnemar(*tests.discordant(one.sample.right, two.sample.right))
            return _agreeing(made, exact, level)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Settings, each model's measures, and the differences."""
        return {
            **self.settings.to_dict(),
            "margin": self.margin,
            "models": [ev.to_dict() for ev in self.evaluations.values()],
            "differences": self.differences.to_dicts(),
            "verdicts": [verdict.to_dict() for verdict in self.decided],
        }

    def headline(self) -> str:
        """How many models, rows and classes."""
        f = self.first.facts
        on = f"{pluralize(f['rows'], 'row')}, {pluralize(f['classes'], 'class', 'classes')}"
        return f"{pluralize(len(self.evaluations), 'model')}, {on}"

    def __repr__(self) -> str:
        return repr(Table(self.table, self.headline()))

    def _repr_html_(self) -> str:
        from .present.class_sections import class_comparison_html

        return class_comparison_html(self)


def _paired(
    one: ClassEvaluation, two: ClassEvaluation, key: str, spec: ClassSpec, level: float
) -> tuple[float, float, float, float]:
    """Interval, standard error and p-value of a difference, from both models' own intervals and their correlation.

    The method of variance estimates recovery (Zou & Donner 2008; for shares Newcombe 1998): the distances to the ends
    of each interval stand for standard errors. The p-value is on the side of 0, so that it and the interval agree.
    """
    a, b = one.estimates[key], two.estimates[key]
    units = one.units[spec], two.units[spec]
    found = [measure_spread(spec, part, one.sample) for part in (*units, units[0] - units[1])]
    spreads = [variance for variance, _ in found]
    shared = (spreads[0] + spreads[1] - spreads[2]) / 2.0
    alike = min(max(shared / math.sqrt(spreads[0] * spreads[1]), -1.0), 1.0) if min(spreads[:2]) > 0 else 0.0

    # of a class of three cases the correlation may be ±1 by chance: there the difference's own spread must agree
    least = t_quantile(level, found[2][1]) * math.sqrt(spreads[2]) if spec.by_class and has_few(one.sample) else 0.0

    def reach(first: float, second: float) -> float:
        return max(math.sqrt(max(first**2 + second**2 - 2.0 * alike * first * second, 0.0)), least)

    gap = a.value - b.value
    down, up = reach(a.value - a.low, b.high - b.value), reach(a.high - a.value, b.value - b.low)
    z = z_of(level)
    error = (down if gap > 0 else up) / z
    return gap - down, gap + up, error, tests.normal_p(gap, error**2)


def _agreeing(made: tests.DifferenceTest, exact: float, level: float) -> tests.DifferenceTest:
    """The interval with McNemar's exact p-value; where one alone leaves 0 out, it gives way, so that both agree."""
    inside = made.low <= 0.0 <= made.high
    if inside and exact < 1.0 - level:
        exact = max(exact, made.p_value, 1.0 - level)
    elif not inside and exact >= 1.0 - level:
        made = made._replace(low=min(made.low, 0.0), high=max(made.high, 0.0))
    return made._replace(p_value=exact, method=f"{made.method}, exact McNemar p")


@checked(interval=CLASS_INTERVAL)
def compare_classes(
    y_true: Labels,
    models: Mapping[str, Any],
    *,
    classes: Sequence[Any] | None = None,
    ordered: bool = False,
    sample_weight: Scores | None = None,
    clusters: Labels | None = None,
    measures: Sequence[ClassMeasureLike] | None = None,
    interval: ClassIntervalName | None = "auto",
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    margin: float | None = None,
    progress: bool | None = None,
) -> ClassComparison:
    """Compare models of several classes on the same cases; ``models`` maps names to score matrices.

    A model given as one column is taken as hard predictions. Differences are paired: their intervals come from both
    models' own intervals and the correlation between the rows' (or clusters') parts in both values; with
    ``interval="bootstrap"`` both models share the resampled rows. The accuracy's p-value is exact (McNemar).
    ``margin``: differences inside ± margin count as equivalent.

    >>> y = ["a", "b", "c", "c"] * 10
    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.1, 0.2, 0.7], [0.5, 0.2, 0.3]] * 10
    >>> q = [[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.1, 0.2, 0.7], [0.1, 0.2, 0.7]] * 10
    >>> compare_classes(y, {"p": p, "q": q}, measures=["accuracy"]).difference("q", "p", "accuracy")["difference"]
    0.25
    """
    if not isinstance(models, Mapping) or len(models) < 2:
        raise InputError("models", "must map at least two names to score matrices", "write {{'a': P, 'b': Q}}")
    settings = ClassSettings(interval, level, n_resamples, seed, progress=progress)
    found = _common_classes(y_true, models, classes)
    samples: dict[str, ClassSample] = {}
    for name, given in models.items():
        scores, said = (given, None) if _is_matrix(given) else (None, given)
        try:
            sample = make_class_sample(
                y_true, scores, y_pred=said, classes=found.names, sample_weight=sample_weight, clusters=clusters
            )
        except InputError as error:
            if error.argument not in ("score_matrix", "y_pred"):
                raise
            raise InputError(f"models[{name!r}]", error.problem, error.remedy, row=error.row) from None
        samples[str(name)] = replace(sample, in_order=found.in_order)
    if measures is None:  # all that any model supports; neither end of the overconfidence is better
        richest = max(samples.values(), key=lambda sample: (sample.matrix is not None, sample.are_probabilities))
        measures = [s for s in default_class_specs(richest, ordered=ordered) if s.measure.name != "overconfidence"]
    evaluations = {
        name: evaluate_class_sample(sample, name=name, ordered=ordered, measures=measures, settings=settings)
        for name, sample in samples.items()
    }
    specs = evaluations[next(iter(evaluations))].specs
    drawn = {}
    if interval in ("bootstrap", *BOOTSTRAP):
        for name, ev in evaluations.items():
            known = [spec for key, spec in specs.items() if ev.estimates[key].value == ev.estimates[key].value]
            count = enough_replicates(n_resamples, len(ev.sample))
            drawn[name] = class_replicates(ev.totals, known, count, seed, progress)
    return ClassComparison(evaluations, specs, settings, margin, drawn)


def _is_matrix(given: Any) -> bool:
    shape = getattr(given, "shape", None)
    if shape is not None:
        return len(shape) == 2
    return bool(len(given)) and isinstance(given[0], list | tuple | np.ndarray)


def _common_classes(y_true: Labels, models: Mapping[str, Any], classes: Sequence[Any] | None) -> ClassNames:
    """The classes of all models: as named, by the columns of a frame, or those of labels and hard predictions."""
    matrices = {name: given for name, given in models.items() if _is_matrix(given)}
    hard = {f"models[{name!r}]": given for name, given in models.items() if name not in matrices}
    named = next((given for given in matrices.values() if hasattr(given, "columns")), None)
    first = next(iter(matrices.values()), None) if named is None else named
    wide = None if first is None else score_matrix_of(first).shape[1]
    labels = {argument: as_column(given, argument) for argument, given in {"y_true": y_true, **hard}.items()}
    return find_classes(y_true, named, classes, labels, wide)

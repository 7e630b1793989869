"""Several models of the same classes -> ClassComparison: paired differences, adjusted, with one verdict each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .catalogue.classes import ClassSpec
from .class_evaluation import (
    CLASS_INTERVAL,
    ClassEvaluation,
    ClassSettings,
    evaluate_class_sample,
)
from .class_sample import make_class_sample
from .errors import InputError, listed
from .inference import paired as tests
from .inference.class_influence import variance_of
from .inference.class_intervals import BOOTSTRAP
from .inference.class_resampling import class_replicates
from .inference.resampling import enough_replicates
from .table import Table, TabularResult, pluralize, text_table, to_jsonable
from .validate import checked

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClassComparison(TabularResult):
    """Models of several classes on the same cases. Reads as a mapping from model to ClassEvaluation."""

    evaluations: Mapping[str, ClassEvaluation]
    specs: Mapping[str, ClassSpec]
    settings: ClassSettings
    margin: float | None = None
    replicates: Mapping[str, Mapping[ClassSpec, Floats]] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> ClassEvaluation:
        return self.evaluations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    def key(self, measure: str) -> str:
        """The measure string under which a measure stands here."""
        return self._first[measure].name

    @property
    def _first(self) -> ClassEvaluation:
        return next(iter(self.evaluations.values()))

    def best(self, measure: str) -> str:
        """Name of the best model by a measure; the first of them where several are equal."""
        key = self.key(measure)
        sign = 1.0 if self.specs[key].better == "higher" else -1.0
        values = {name: sign * ev.estimates[key].value for name, ev in self.evaluations.items()}
        known = {name: value for name, value in values.items() if value == value}
        if not known:
            raise InputError("measure", f"{measure} is undefined for every model: {self._first[measure].reason}")
        return max(known, key=known.__getitem__)

    @cached_property
    def table(self) -> Table:
        """One row for each measure, one column for each model."""
        rows = []
        for key, spec in self.specs.items():
            values = {name: ev.estimates[key].value for name, ev in self.evaluations.items()}
            rows.append({"measure": key, "better": spec.better, **values})
        return Table(rows, "Models side by side")

    @cached_property
    def differences(self) -> Table:
        """For each pair of models and each measure: difference (a − b), interval, p-values, and a reading.

        ``p_adjusted`` is Holm's over the pairs of one measure. The accuracy's p-value is McNemar's exact one.
        """
        rows: list[dict[str, Any]] = []
        for key, spec in self.specs.items():
            pairs = [self._pair(a, b, key, spec) for a, b in combinations(self.evaluations, 2)]
            for row, adjusted in zip(pairs, tests.holm([row["p_value"] for row in pairs]), strict=True):
                row["p_adjusted"] = adjusted
                row["reading"] = self._reading(row, spec)
            rows += pairs
        return Table(rows, "Differences between models (a − b)")

    def difference(self, a: str, b: str, measure: str) -> dict[str, Any]:
        """The row of one pair and measure, as a − b."""
        key = self.key(measure)
        for row in self.differences:
            if row["measure"] == key and {row["a"], row["b"]} == {a, b}:
                if row["a"] == a:
                    return dict(row)
                turned = {"a": a, "b": b, "difference": -row["difference"], "low": -row["high"], "high": -row["low"]}
                return {**row, **turned}
        raise InputError("a, b", f"name no pair of models: {a!r}, {b!r}", f"the models are {listed(self.evaluations)}")

    def _pair(self, a: str, b: str, key: str, spec: ClassSpec) -> dict[str, Any]:
        one, two = self.evaluations[a], self.evaluations[b]
        gap = one.estimates[key].value - two.estimates[key].value
        row: dict[str, Any] = {"a": a, "b": b, "measure": key, "difference": gap}
        nothing = {"low": np.nan, "high": np.nan, "standard_error": np.nan, "p_value": np.nan, "method": ""}
        if gap != gap or self.settings.interval is None:
            return {**row, **nothing}
        level = self.settings.level
        if self.replicates:
            low, high, error, p = tests.summary(self.replicates[a][spec] - self.replicates[b][spec], level)
            method = "paired bootstrap"
        else:
            variance = variance_of(one.units[spec] - two.units[spec])
            low, high = tests.normal_interval(gap, variance, level)
            error, p, method = float(np.sqrt(variance)), tests.normal_p(gap, variance), "paired delta"
        found = {"low": low, "high": high, "standard_error": error, "p_value": p, "method": method}
        plain = one.sample.weight is None and one.sample.cluster is None
        if spec.measure.name in ("accuracy", "error_rate") and plain:
            exact = tests.mcnemar(*tests.discordant(one.sample.right, two.sample.right))
            found |= {"p_value": exact, "method": f"{method}, exact McNemar p"}
        return {**row, **found}

    def _reading(self, row: Mapping[str, Any], spec: ClassSpec) -> str:
        low, high, margin = row["low"], row["high"], self.margin
        if low != low:
            return ""
        if margin is not None and -margin < low and high < margin:
            return "equivalent"
        if low > 0 or high < 0:
            winner = row["a"] if (low > 0) == (spec.better == "higher") else row["b"]
            alone = row["p_adjusted"] >= 1.0 - self.settings.level
            return f"{winner} better" + (" (not after Holm)" if alone else "")
        return "cannot tell"

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each model and measure."""
        return [{"model": name, **row} for name, ev in self.evaluations.items() for row in ev.to_dicts()]

    def to_json(self, *, indent: int | None = None) -> str:
        """Settings, each model's measures, and the differences."""
        content = {
            **self.settings.to_dict(),
            "margin": self.margin,
            "models": [json.loads(ev.to_json()) for ev in self.evaluations.values()],
            "differences": self.differences.to_dicts(),
        }
        return json.dumps(to_jsonable(content), indent=indent, ensure_ascii=False)

    def headline(self) -> str:
        """How many models, rows and classes."""
        f = self._first.facts
        on = f"{pluralize(f['rows'], 'row')}, {pluralize(f['classes'], 'class', 'classes')}"
        return f"{pluralize(len(self.evaluations), 'model')}, {on}"

    def __repr__(self) -> str:
        return text_table(self.table.to_dicts(), self.table.columns, self.headline())

    def _repr_html_(self) -> str:
        from .present.class_sections import class_comparison_html

        return class_comparison_html(self)


@checked(interval=CLASS_INTERVAL)
def compare_classes(
    y_true: Any,
    models: Mapping[str, Any],
    *,
    classes: Sequence[Any] | None = None,
    ordered: bool = False,
    sample_weight: Any = None,
    clusters: Any = None,
    measures: Sequence[Any] | None = None,
    interval: str | None = "auto",
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    margin: float | None = None,
    progress: bool | None = None,
) -> ClassComparison:
    """Compare models of several classes on the same cases; ``models`` maps names to score matrices.

    A model given as one column is taken as hard predictions. Differences are paired: the rows' (or clusters') parts in
    both values are subtracted before their spread is taken, or, with ``interval="bootstrap"``, both models see the same
    rows drawn. The accuracy's p-value is exact (McNemar). ``margin``: differences inside ± margin count as equivalent.

    >>> y = ["a", "b", "c", "c"] * 10
    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.1, 0.2, 0.7], [0.5, 0.2, 0.3]] * 10
    >>> q = [[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.1, 0.2, 0.7], [0.1, 0.2, 0.7]] * 10
    >>> compare_classes(y, {"p": p, "q": q}, measures=["accuracy"]).difference("q", "p", "accuracy")["difference"]
    0.25
    """
    if not isinstance(models, Mapping) or len(models) < 2:
        raise InputError("models", "must map at least two names to score matrices", "write {{'a': P, 'b': Q}}")
    settings = ClassSettings(interval, level, n_resamples, seed, progress)
    classes = _common_classes(y_true, models, classes)
    evaluations: dict[str, ClassEvaluation] = {}
    for name, given in models.items():
        scores, said = (given, None) if _is_matrix(given) else (None, given)
        try:
            sample = make_class_sample(
                y_true, scores, y_pred=said, classes=classes, sample_weight=sample_weight, clusters=clusters
            )
        except InputError as error:
            if error.argument not in ("score_matrix", "y_pred"):
                raise
            raise InputError(f"models[{name!r}]", error.problem, error.remedy, row=error.row) from None
        chosen = measures if measures is not None or not evaluations else list(_specs(evaluations))
        evaluations[str(name)] = evaluate_class_sample(
            sample, name=str(name), ordered=ordered, measures=chosen, settings=settings
        )
    specs = next(iter(evaluations.values())).specs
    drawn = {}
    if interval in ("bootstrap", *BOOTSTRAP):
        for name, ev in evaluations.items():
            known = [spec for key, spec in specs.items() if ev.estimates[key].value == ev.estimates[key].value]
            count = enough_replicates(n_resamples, len(ev.sample))
            drawn[name] = class_replicates(ev.totals, known, count, seed, progress)
    return ClassComparison(evaluations, specs, settings, margin, drawn)


def _specs(evaluations: Mapping[str, ClassEvaluation]) -> list[ClassSpec]:
    """The first model's measures: what all models are compared by."""
    return list(next(iter(evaluations.values())).specs.values())


def _is_matrix(given: Any) -> bool:
    shape = getattr(given, "shape", None)
    if shape is not None:
        return len(shape) == 2
    return bool(len(given)) and isinstance(given[0], list | tuple | np.ndarray)


def _common_classes(y_true: Any, models: Mapping[str, Any], classes: Sequence[Any] | None) -> Sequence[Any] | None:
    """The classes of all models: as named, or those that labels and hard predictions hold together."""
    hard = [given for given in models.values() if not _is_matrix(given)]
    if classes is not None or not hard:
        return classes
    found: list[Any] | None = None
    for given in hard:
        names = make_class_sample(y_true, y_pred=given, classes=None).classes
        found = sorted({*(found or []), *names}, key=lambda v: (str(type(v)), v))
    return found

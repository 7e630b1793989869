"""Selective voting (Arbel & Rokach section 4.2): how many of the best models to average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import compute
from ..catalogue.declare import Spec
from ..errors import InputError
from ..evaluation import choose_specs
from ..ranking import rank
from ..sample import make_sample
from ..table import Table
from ..validate import checked

DEFAULT_MARKS = ("average_hit_rate", "average_qrecall", "pem", "quota_pearson")


@dataclass(frozen=True, eq=False)
class SelectiveVoting:
    """Marks of the mean of the best X models, for X = 1 … M.

    ``order`` names the models, best first by ``rank_by``; ``marks`` has a row for each X.
    """

    order: list[str]
    marks: Table
    specs: tuple[Spec, ...]

    @property
    def optimum(self) -> Table:
        """For each mark the X with the best value (the smallest such X), and the value there."""
        rows = []
        for spec in self.specs:
            values = np.array(self.marks.column(str(spec)), dtype=np.float64)
            if np.isnan(values).all():
                rows.append({"mark": str(spec), "models": None, "value": float("nan")})
                continue
            at = int(np.nanargmax(values if spec.measure.better == "higher" else -values))
            rows.append({"mark": str(spec), "models": at + 1, "value": float(values[at])})
        return Table(rows, "Best number of models")

    @property
    def correlation(self) -> Table:
        """Pearson correlation between marks over X; nan for a mark that does not vary."""
        names = [str(spec) for spec in self.specs]
        table: NDArray[np.float64] = np.array([self.marks.column(name) for name in names], dtype=np.float64)
        rows = []
        for i, name in enumerate(names):
            rows.append({"mark": name, **{other: _correlation(table[i], table[j]) for j, other in enumerate(names)}})
        return Table(rows, "Correlation of the marks")

    def __repr__(self) -> str:
        return f"{self.marks!r}\n\n{self.optimum!r}"

    def _repr_html_(self) -> str:
        from ..present.notebook import voting_html

        return voting_html(self)


def _correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    both = ~(np.isnan(a) | np.isnan(b))
    a, b = a[both], b[both]
    if len(a) < 2 or a.min() == a.max() or b.min() == b.max():
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


@checked
def selective_voting(
    y_true: Any,
    models: Mapping[str, Any],
    *,
    rank_by: str = "pem",
    marks: Sequence[str] = DEFAULT_MARKS,
    quota: int | float | None = None,
    threshold: float = 0.5,
    order_on: tuple[Any, Mapping[str, Any]] | None = None,
    pos_label: Any = None,
) -> SelectiveVoting:
    """Order models by a measure, average the scores of the best X, and mark each X by several measures.

    ``order_on`` gives other data, as (labels, scores by model), to order the models on. Without it the models are
    ordered and marked on the same cases: the best X of many is then partly luck, and the marks flatter it. Models that
    tie in the order keep the order they are given in. ``quota`` (default: the number of positives) serves marks at a
    quota.

    >>> y = [1, 0, 1, 0]
    >>> v = selective_voting(y, {"a": [4, 3, 2, 1], "b": [4, 1, 3, 2]}, rank_by="roc_auc", marks=["pem"])
    >>> v.order, v.optimum[0]["models"]
    (['b', 'a'], 1)
    """
    if not models:
        raise InputError("models is empty; pass at least one model's scores")
    names, table = _table(y_true, models, pos_label)
    n_pos = int(make_sample(y_true, table[0], pos_label=pos_label).positive.sum())
    places = quota if quota is not None else max(1, n_pos)
    by = choose_specs([rank_by], threshold=threshold, quota=places)[0]
    specs = tuple(choose_specs(list(marks), threshold=threshold, quota=places))
    ordering = (y_true, models) if order_on is None else order_on
    order_names, order_table = _table(ordering[0], ordering[1], pos_label)
    if set(order_names) != set(names):
        raise InputError("order_on must hold the same models as models")
    worth = {
        name: _read([by], ordering[0], scores, pos_label)[by]
        for name, scores in zip(order_names, order_table, strict=True)
    }
    unknown = [name for name in names if worth[name] != worth[name]]
    if unknown:
        raise InputError(f"{rank_by} is undefined for model {unknown[0]!r}, so the models cannot be ordered by it")
    sign = -1.0 if by.measure.better == "higher" else 1.0
    order = sorted(range(len(names)), key=lambda k: sign * worth[names[k]])  # sorted() is stable
    mean = np.cumsum(table[order], axis=0) / np.arange(1, len(names) + 1)[:, None]
    rows = []
    for x, scores in enumerate(mean, start=1):
        values = _read(specs, y_true, scores, pos_label)
        rows.append({"models": x, "added": names[order[x - 1]], **{str(s): values[s] for s in specs}})
    return SelectiveVoting([names[k] for k in order], Table(rows, "Selective voting"), specs)


def _table(y_true: Any, models: Mapping[str, Any], pos_label: Any) -> tuple[list[str], NDArray[np.float64]]:
    columns = []
    for name, scores in models.items():
        try:
            sample = make_sample(y_true, scores, pos_label=pos_label)
        except InputError as error:
            raise InputError(f"model {name!r}: {error}") from None
        if not sample.are_finite:
            row = sample.first_row(np.isinf(sample.score))
            raise InputError(f"model {name!r}: row {row} is infinite; averages need finite scores")
        columns.append(sample.score.astype(np.float64))
    return list(models), np.array(columns)


def _read(specs: Sequence[Spec], y_true: Any, scores: Any, pos_label: Any) -> dict[Spec, float]:
    return dict(compute(specs, rank(make_sample(y_true, scores, pos_label=pos_label))).values)

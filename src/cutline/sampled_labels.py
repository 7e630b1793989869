"""Labels of some rows only: an audit by known chances of being labelled, and which rows to label for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .catalogue.compute import check_applicable, check_threshold, default_threshold, with_defaults
from .catalogue.declare import parse_measure
from .errors import InputError, different_lengths
from .estimate import Settings
from .evaluation import Evaluation, choose_specs, obstacle_of
from .inference import known_labels as audits
from .inference.known_labels import KnownLabels, is_algebra
from .quotas import Quotas, quota_sizes, resolve_quota
from .sources.arrays import Sample, as_numbers, make_sample
from .sources.frames import lacking_cells, taken_cells
from .sources.given_columns import read_columns
from .table import DictResult, HasSections, Section, TabularResult, format_value, pluralize, values_of
from .types import MeasureLike, Scores, TableSource
from .validate import check_number, check_whole, checked


def evaluate_sampled_labels(
    label: Any,
    y_score: Any,
    inclusion: Any,
    *,
    name: str,
    pos_label: Any,
    threshold: float | None,
    quota: int | float | Quotas | None,
    measures: Sequence[Any] | None,
    interval: str | None,
    level: float,
) -> Evaluation:
    """Evaluate a list of which some labels are None, nan or empty, with a known probability of being labelled."""
    settings = Settings(interval, level)
    rows, scores = _known_labels(y_score, label, inclusion, pos_label)
    specs = choose_specs(measures, threshold=threshold, quota=quota)
    threshold = default_threshold(threshold, scores)
    obstacles = {}
    for spec in specs:
        obstacles[spec] = obstacle_of(spec, scores, threshold, measures is None)
        if spec.ties != "expected":
            obstacles[spec] = "rows without a label have no best or worst order"
        elif spec.measure.part == "cut" and not is_algebra(spec):
            obstacles[spec] = "estimated labels do not have the spread of real ones"
    if measures is None and (rows.inclusion == 0.0).any():
        raise audits.unreachable(rows, "the whole list")
    estimates = audits.audit_estimates(specs, rows, obstacles, settings)
    quotas = () if quota is None else quota_sizes(quota, float(len(rows)))[0]
    evidence = audits.audited(rows, audits.cut_edges(rows, quotas), level)  # for curves, and pages that show the quota
    return Evaluation(
        name,
        evidence,
        {str(spec): spec for spec in specs},
        {str(spec): estimates[spec] for spec in specs},
        settings,
        threshold,
        None if quota is None or isinstance(quota, Quotas) else resolve_quota(quota, float(len(rows))),
        quotas=quota if isinstance(quota, Quotas) else None,
    )


def _known_labels(y_score: Any, label: Any, inclusion: Any, pos_label: Any) -> tuple[KnownLabels, Sample]:
    """The rows, checked; and their scores as a sample without labels of its own."""
    score, low, high = as_numbers(y_score, "y_score")
    n = len(score)
    scores = Sample(np.zeros(n, np.bool_), score, None, low, high)
    if isinstance(label, str | bytes | dict | set) or not hasattr(label, "__len__"):
        raise InputError("y_true", f"is of type {type(label).__name__}", "pass an array, a list or a Series")
    if len(getattr(label, "shape", (n,))) != 1:
        raise InputError("y_true", "is a table, not one column", "pass one of its columns")
    known = ~lacking_cells(label)
    if len(known) != n:
        raise different_lengths("y_true", len(known), "y_score", n)
    positive, kept = np.zeros(n, np.bool_), np.flatnonzero(known)
    if not len(kept):
        raise InputError("y_true", "contains no label", "label some of the rows; label_plan chooses them")
    cells = taken_cells(label, kept)
    if (isinstance(cells, np.ndarray) and cells.dtype.kind == "O") or isinstance(cells, list):
        # NumPy reads a list by the type of its cells: these were objects because some were missing
        cells = [cell.item() if isinstance(cell, np.generic) else cell for cell in cells]
    try:
        positive[kept] = make_sample(cells, score[kept], pos_label=pos_label).positive
    except InputError as error:
        raise error.but(row=int(kept[error.row]) if isinstance(error.row, int) else error.row) from None
    if isinstance(inclusion, int | float | np.number) and not isinstance(inclusion, bool):
        chance = np.full(n, check_number(inclusion, "inclusion", 0.0, 1.0))
        if known.all() and inclusion**n < 1e-6:
            raise InputError("inclusion", f"is {inclusion:g}, but every row has a label", "leave it out")
    else:
        chance = as_numbers(inclusion, "inclusion")[0].astype(np.float64)
    if len(chance) != n:
        raise different_lengths("inclusion", len(chance), "y_score", n)
    bad = (chance < 0.0) | (chance > 1.0) | ((chance > 0.0) & (chance < 1e-12))  # 1/π is squared and added up
    if bad.any():
        said = f"is {float(chance[bad][0]):g}, which is not a probability"
        raise InputError("inclusion", said, "give one from 0 to 1; of a weight, 1 / weight", row=int(np.argmax(bad)))
    bad = chance == np.where(known, 0.0, 1.0)
    if bad.any():
        row = int(np.argmax(bad))
        problem = f"is {chance[row]:g}, but the row has {'a' if known[row] else 'no'} label"
        raise InputError("inclusion", problem, "give the probability that a label is there", row=row)
    return KnownLabels(score, known, positive, chance), scores


@dataclass(frozen=True, eq=False, repr=False)
class LabelPlan(HasSections, DictResult, TabularResult):
    """Which rows to label for one measure.

    ``rows`` are the rows to look up, best score first. ``inclusion`` is the probability of each row of being drawn;
    pass it to :func:`evaluate`. ``standard_error`` is the expected standard error of the measure if a share
    ``prevalence`` of the rows is positive, not counting the gain from the curve that the evaluation fits.
    ``simple_random_error`` is that of the same number of labels drawn evenly.
    """

    measure: str
    rows: NDArray[np.intp]
    inclusion: NDArray[np.float64]
    standard_error: float
    simple_random_error: float
    prevalence: float
    score: NDArray[Any]
    seed: int
    prevalence_by: str = "as given"

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each row to label."""
        score, inclusion = self.score, self.inclusion
        return [{"row": r, "score": float(score[r]), "inclusion": float(inclusion[r])} for r in self.rows.tolist()]

    def to_dict(self) -> dict[str, Any]:
        """The plan with its rows."""
        sizes = {"measure": self.measure, "labels": len(self.rows), "list": len(self.inclusion)}
        errors = values_of(self, "standard_error", "simple_random_error", "prevalence", "seed")
        return {**sizes, **errors, "rows": self.to_dicts()}

    def sections(self) -> list[Section]:
        """How many rows to label, and how sure the measure will be."""
        planned, even = format_value(self.standard_error), format_value(self.simple_random_error)
        labels = f"{pluralize(len(self.rows), 'row')} of {len(self.inclusion):,}"
        said = (
            f"Label {labels} for {self.measure}: if {self.prevalence:.2%} are positive ({self.prevalence_by}), expect"
        )
        return [Section("answer", [f"{said} a standard error of about {planned} ({even} if drawn evenly)."])]


@checked(budget=lambda value, name: check_whole(value, name, 1))
def label_plan(
    y_score: Scores | TableSource,
    *,
    score: str | None = None,
    budget: int,
    measure: MeasureLike,
    prevalence: float | None = None,
    seed: int = 0,
) -> LabelPlan:
    """Choose which rows to label so that one measure is estimated as precisely as ``budget`` labels allow.

    Rows are drawn along the list, each with a probability that grows with the uncertainty of its label and with the
    effect of that label on the measure; no probability is 0. Look up ``plan.rows`` and pass ``plan.inclusion`` to
    :func:`evaluate`. Only the order of the scores matters, except for measures of probabilities.

    ``prevalence`` is the expected share of positives (by default the mean of the scores if they are probabilities,
    otherwise 5%). The column of a table is named: ``label_plan(table, score="p", budget=200, measure="pem")``.

    >>> import numpy as np
    >>> score = np.random.default_rng(0).random(10_000)
    >>> plan = label_plan(score, budget=200, measure="qrecall@500", prevalence=0.02)
    >>> len(plan.rows), round(float(plan.inclusion.sum()))
    (200, 200)
    >>> plan.standard_error < plan.simple_random_error
    True
    """
    if score is not None:
        y_score = read_columns(y_score, None, [score]).scores[score]
    values, low, high = as_numbers(y_score, "y_score")
    n = len(values)
    scores = Sample(np.zeros(n, np.bool_), values, None, low, high)
    spec = with_defaults(parse_measure(measure), threshold=None, quota=None)
    if spec.ties != "expected":
        problem = "asks for the best or worst order of ties, which labels do not tell"
        raise InputError("measure", problem, "leave it out")
    if spec.measure.part == "cut" and not is_algebra(spec):
        raise InputError("measure", f"{spec} depends on more than the labels' sums, so it cannot be planned for")
    check_applicable(spec.measure, scores)
    check_threshold(spec, scores)
    if spec.measure.needs_quota and not isinstance(spec.quota, Quotas):
        resolve_quota(spec.quota, float(n))
    nothing = np.zeros(n, np.bool_)
    rows = KnownLabels(values, nothing, nothing, np.ones(n))
    if budget > n:
        raise InputError("budget", f"is {budget:,}, but there are {n:,} rows", "label at most that many")
    share, by = (0.05, "assumed") if prevalence is None else (prevalence, "as given")
    if prevalence is None and scores.are_probabilities:
        share, by = float(np.clip(values.astype(np.float64).mean(), 1e-4, 0.5)), "the mean of the scores"
    return LabelPlan(str(spec), *audits.draw_labels(spec, rows, share, budget, seed), values, seed, by)

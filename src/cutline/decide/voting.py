"""Selective voting (Arbel & Rokach section 4.2): how many of the best models to average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import compute
from ..catalogue.declare import Spec
from ..errors import InputError, show
from ..estimate import Estimate
from ..evaluation import choose_specs
from ..quotas import resolve_quota
from ..ranking import rank
from ..sources.arrays import as_numbers, make_sample
from ..table import DictResult, Drawn, Table, columns_table, format_value
from ..types import Floats, Label, Labels
from ..validate import check_models, check_whole, checked, one_of
from .power import judge_sets, model_samples

DEFAULT_MARKS = ("average_hit_rate", "average_qrecall", "pem", "quota_pearson")
Vote = Literal["score", "rank"]


@dataclass(frozen=True)
class _Case:
    """What is averaged and judged: labels, one row of scores for each model, and how a vote is cast."""

    positive: NDArray[np.bool_]
    table: Floats
    vote: Vote

    def votes(self, known: NDArray[np.intp], rows: NDArray[np.intp]) -> Floats:
        """The votes of every model on some rows; ranks are places among the scores of the rows that are known."""
        if self.vote == "score":
            return self.table[:, rows]
        return np.array([places_among(scores[known], scores[rows]) for scores in self.table])


def places_among(known: Floats, new: Floats) -> Floats:
    """The share of known scores that lie below each new one, half of those that are equal counted."""
    ascending = np.sort(known)
    below = np.searchsorted(ascending, new, side="left")
    upto = np.searchsorted(ascending, new, side="right")
    return np.asarray((below + upto) / (2.0 * len(ascending)))


@dataclass(frozen=True, eq=False)
class SelectiveVoting(Drawn, DictResult):
    """Marks of the mean of the best X models, for X = 1 … M, and the X to use.

    ``order`` names the models, best first by ``rank_by``; ``marks`` has a row for each X. ``voters`` is the number of
    models chosen by inner cross-validation (models are ordered without the rows they are judged on), ``held_out`` the
    mark of each X there. ``expected`` is the mark to expect of the chosen vote on new rows, with its interval: the
    optimism from choosing the best X (``optimism``) is estimated and subtracted, by choosing again in each replicate
    and evaluating on the rows left out of it. ``scores`` are the combined scores of the chosen vote; ``score`` gives
    those of new rows. ``plot`` draws the marks against the number of models, as in Fig. 10.
    """

    picture: ClassVar[str] = "voting"

    order: list[str]
    marks: Table
    specs: tuple[Spec, ...]
    vote: Vote = "score"
    chosen_by: str = ""
    voters: int = 1
    expected: Estimate | None = None
    optimism: float = float("nan")
    held_out: tuple[float, ...] = ()
    scores: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    known: Mapping[str, Floats] = field(default_factory=dict, repr=False)

    @cached_property
    def optimum(self) -> Table:
        """For each mark the X with the best value (the smallest such X), the value there, and all X that share it."""
        rows = []
        for spec in self.specs:
            values = np.array(self.marks.column(str(spec)), dtype=np.float64)
            if np.isnan(values).all():
                rows.append({"mark": str(spec), "models": None, "value": float("nan"), "tied": ""})
                continue
            best = np.nanmax(values) if spec.measure.better == "higher" else np.nanmin(values)
            every = np.flatnonzero(np.abs(values - best) <= 1e-12 * abs(best)) + 1  # sums round
            tied = ", ".join(map(str, every.tolist())) if len(every) > 1 else ""
            rows.append({"mark": str(spec), "models": int(every[0]), "value": float(best), "tied": tied})
        return Table(rows, "Best number of models")

    @property
    def correlation(self) -> Table:
        """Pearson correlation between marks over X; nan for a mark that does not vary."""
        names = [str(spec) for spec in self.specs]
        table: Floats = np.array([self.marks.column(name) for name in names], dtype=np.float64)
        columns = {other: [_correlation(one, two) for one in table] for other, two in zip(names, table, strict=True)}
        return columns_table({"mark": names, **columns}, "Correlation of the marks")

    @checked
    def score(self, models: Mapping[str, Any]) -> Floats:
        """Combined scores of new rows: the mean vote of the chosen models.

        ``models`` maps names to the scores of the new rows; models that were not chosen may be left out.
        """
        wanted = self.order[: self.voters]
        missing = [name for name in wanted if name not in models]
        if missing:
            raise InputError(
                "models", f"lacks {show(missing[0])}, one of the {self.voters} that vote", "add its scores"
            )
        columns = []
        for name in wanted:
            new = _finite(models[name], name)
            columns.append(new if self.vote == "score" else places_among(self.known[name], new))
        if len({len(column) for column in columns}) > 1:
            raise InputError("models", "have different numbers of rows", "pass one score for each row and model")
        return np.asarray(np.mean(columns, axis=0))

    def to_dict(self) -> dict[str, Any]:
        """What was chosen, and the marks."""
        found = {} if self.expected is None else self.expected.to_dict()
        found.pop("method", None)
        return {
            "order": self.order,
            "vote": self.vote,
            "voters": self.order[: self.voters],
            "chosen_by": self.chosen_by,
            "expected": {**found, "optimism": self.optimism},
            "held_out": list(self.held_out),
            "marks": self.marks.to_dicts(),
            "optimum": self.optimum.to_dicts(),
            "correlation": self.correlation.to_dicts(),
        }

    @property
    def summary(self) -> str:
        """How many models to average and what to expect, in one sentence; empty if unknown."""
        e = self.expected
        if e is None:
            return ""
        best = "Use the best model alone" if self.voters == 1 else f"Average the best {self.voters} models"
        said = f"{best}: expect {self.chosen_by} {format_value(e.value)}"
        if e.low == e.low:
            said += f" ({e.level:.0%} interval {format_value(e.low)} to {format_value(e.high)})"
        return f"{said}, after subtracting {format_value(self.optimism)} of optimism"

    def __repr__(self) -> str:
        return f"{self.marks!r}\n\n{self.optimum!r}\n\n{self.correlation!r}\n\n{self.summary}".rstrip()

    def _repr_html_(self) -> str:
        from ..present.notebook import voting_html

        return voting_html(self)


def _correlation(a: Floats, b: Floats) -> float:
    both = ~(np.isnan(a) | np.isnan(b))
    a, b = a[both], b[both]
    if len(a) < 2 or a.min() == a.max() or b.min() == b.max():
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


@checked(vote=one_of("score", "rank"), folds=lambda value, name: check_whole(value, name, 2))
def selective_voting(
    y_true: Labels,
    models: Mapping[str, Any],
    *,
    rank_by: str = "pem",
    marks: Sequence[str] = DEFAULT_MARKS,
    vote: Vote = "score",
    choose_by: str | None = None,
    quota: int | float | None = None,
    threshold: float = 0.5,
    order_on: tuple[Any, Mapping[str, Any]] | None = None,
    folds: int = 5,
    level: float = 0.95,
    n_resamples: int = 200,
    seed: int = 0,
    pos_label: Label = None,
) -> SelectiveVoting:
    """Order models by a measure, average the votes of the best X, mark each X by several measures, and choose X.

    A vote is the model's ``score``, or its ``rank`` among the known scores, which suits models on different scales.
    ``order_on`` gives other data, as (labels, scores by model), to order the models on. Without it the models are
    ordered and evaluated on the same cases: the best X is then partly luck, and its marks are optimistic. Models that
    tie in the order keep the order they are given in. ``quota`` (by default the number of positives) is for marks at a
    quota.

    The X to use (``voters``) is chosen by ``choose_by`` (by default ``rank_by``) in ``folds``-fold cross-validation,
    and the expected mark is corrected for the optimism of that choice.

    >>> y = [1, 0, 1, 0]
    >>> v = selective_voting(y, {"a": [4, 3, 2, 1], "b": [4, 1, 3, 2]}, rank_by="roc_auc", marks=["pem"])
    >>> v.order, v.optimum[0]["models"]
    (['b', 'a'], 1)
    """
    names, table = _table(y_true, models, pos_label)
    positive = make_sample(y_true, table[0], pos_label=pos_label).positive
    n_pos = int(positive.sum())
    places = quota if quota is not None else max(1, n_pos)
    how: dict[str, Any] = {"threshold": threshold, "quota": places}
    (by,) = choose_specs([rank_by], **how, argument="rank_by")
    judge = by if choose_by is None else choose_specs([choose_by], **how, argument="choose_by")[0]
    specs = tuple(choose_specs(list(marks), **how, argument="marks"))
    case = _Case(positive, table, vote)
    every = np.arange(len(positive))
    if order_on is None:
        ordering = case
    elif not isinstance(order_on, tuple | list) or len(order_on) != 2:
        raise InputError("order_on", f"is {show(order_on)}", "pass a pair: labels, and a mapping from name to scores")
    else:
        check_models(order_on[1], "order_on")
        order_names, order_table = _table(order_on[0], order_on[1], pos_label)
        if set(order_names) != set(names):
            raise InputError("order_on", "must hold the same models as {models}", "")
        known = make_sample(order_on[0], order_table[0], pos_label=pos_label).positive
        ordering = _Case(known, order_table[[order_names.index(name) for name in names]], vote)
    order = _best_first(by, ordering, np.arange(len(ordering.positive)), names)
    means = _means(case.votes(every, every)[order])
    rows = []
    for x, scores in enumerate(means, start=1):
        values = _read(specs, positive, scores)
        rows.append({"models": x, "added": names[order[x - 1]], **{str(s): values[s] for s in specs}})
    held = _held_out(case, None if order_on is None else order, by, names, folds, seed)
    voters, on_folds, expected, optimism = _chosen(judge, positive, held, level, n_resamples, seed)
    return SelectiveVoting(
        [names[k] for k in order],
        Table(rows, "Selective voting"),
        specs,
        vote,
        str(judge),
        voters,
        expected,
        optimism,
        tuple(on_folds.tolist()),
        means[voters - 1],
        {names[k]: np.sort(table[k]) for k in order[:voters]} if vote == "rank" else {},
    )


def _means(votes: Floats) -> Floats:
    """The mean vote of the first X models, a row for each X."""
    return np.asarray(np.cumsum(votes, axis=0) / np.arange(1, len(votes) + 1)[:, None])


def _best_first(by: Spec, case: _Case, rows: NDArray[np.intp], names: Sequence[str]) -> list[int]:
    """The models by a measure on some rows, best first."""
    worth = [_read([by], case.positive[rows], scores[rows])[by] for scores in case.table]
    unknown = [name for name, value in zip(names, worth, strict=True) if value != value]
    if unknown:
        raise InputError(
            "rank_by", f"{show(str(by))} is undefined for model {show(unknown[0])}, so the models cannot be ordered", ""
        )
    sign = -1.0 if by.measure.better == "higher" else 1.0
    return sorted(range(len(names)), key=lambda k: sign * worth[k])  # sorted() is stable


def _held_out(
    case: _Case, fixed: list[int] | None, by: Spec, names: Sequence[str], folds: int, seed: int
) -> Floats | None:
    """Combined scores of each X on rows that had no part in ordering the models; None where a class is too small."""
    sides = [np.flatnonzero(side) for side in (case.positive, ~case.positive)]
    folds = min([folds, *(len(side) for side in sides)])
    if folds < 2:
        return None
    fold = np.empty(len(case.positive), np.int64)
    rng = np.random.default_rng([seed, 11])
    for side in sides:
        fold[side] = rng.permutation(np.arange(len(side)) % folds)
    out = np.empty(case.table.shape)
    for k in range(folds):
        inside, outside = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        order = _best_first(by, case, inside, names) if fixed is None else fixed
        out[:, outside] = _means(case.votes(inside, outside)[order])
    return out


def _chosen(
    judge: Spec, positive: NDArray[np.bool_], held: Floats | None, level: float, n_resamples: int, seed: int
) -> tuple[int, Floats, Estimate | None, float]:
    """The best X on held-out rows, the mark of each X there, and the mark to expect without optimism."""
    if held is None:
        return 1, np.empty(0), None, float("nan")
    sign = 1.0 if judge.measure.better == "higher" else -1.0
    on_folds = np.array([_read([judge], positive, scores)[judge] for scores in held])
    if np.isnan(on_folds).all():
        return 1, on_folds, None, float("nan")
    best = int(np.nanargmax(sign * on_folds))
    rng = np.random.default_rng([seed, 12])
    n = len(positive)
    drawn = rng.integers(0, n, (n_resamples, n))
    seen = positive[drawn].sum(axis=1)
    drawn = drawn[(seen > 0) & (seen < n)]
    values = sign * np.array([_on_sets(judge, positive[drawn], scores[drawn]) for scores in held])
    honest = []
    for inside, worth in zip(drawn, values.T, strict=True):
        outside = np.setdiff1d(np.arange(n), inside)
        if np.isnan(worth).all() or positive[outside].all() or not positive[outside].any():
            continue
        scaled = _scaled(judge, n, len(outside))
        honest.append(_read([scaled], positive[outside], held[int(np.nanargmax(worth)), outside])[scaled])
    known = np.array(honest)
    known = known[~np.isnan(known)]
    if len(known) < 2:
        return best + 1, on_folds, Estimate(str(judge), float(on_folds[best])), float("nan")
    value = float(known.mean())
    # replicates judge on a share f = 1/e of the rows, all different: their variance is (1 − f)/f times that of all rows
    half = (np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) - value) / np.sqrt(np.e - 1.0)
    expected = Estimate(str(judge), value, value + float(half[0]), value + float(half[1]), level, "out of bag")
    return best + 1, on_folds, expected, sign * (float(on_folds[best]) - value)


def _on_sets(spec: Spec, positive: NDArray[np.bool_], scores: Floats) -> Floats:
    """The values of a spec on many sets of rows of one size."""
    if len(scores) == 0:
        return np.empty(0)
    return judge_sets(np.ascontiguousarray(positive), np.ascontiguousarray(scores), [spec])[spec]


def _scaled(spec: Spec, n: int, rows: int) -> Spec:
    """The spec with its quota as the same share of fewer rows."""
    if spec.quota is None:
        return spec
    return replace(spec, quota=max(1, round(resolve_quota(spec.quota, n) * rows / n)))


def _finite(scores: Any, name: str) -> Floats:
    column, low, high = as_numbers(scores, f"models[{name!r}]")
    if not (np.isfinite(low) and np.isfinite(high)):
        row = int(np.argmax(np.isinf(column)))
        raise InputError("models", f"is infinite for model {show(name)}; averages need finite scores", "", row=row)
    return column.astype(np.float64)


def _table(y_true: Labels, models: Mapping[str, Any], pos_label: Label) -> tuple[list[str], Floats]:
    samples = model_samples(y_true, models, pos_label)
    for name, sample in samples.items():
        if not sample.are_finite:
            row = sample.first_row(np.isinf(sample.score))
            raise InputError(None, f"row {row} is infinite; averages need finite scores", model=name)
    return list(models), np.array([sample.score.astype(np.float64) for sample in samples.values()])


def _read(specs: Sequence[Spec], positive: NDArray[np.bool_], scores: Any) -> dict[Spec, float]:
    return dict(compute(specs, rank(make_sample(positive, scores))).values)

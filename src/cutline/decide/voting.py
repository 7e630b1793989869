"""Arbel & Rokach's demonstrations: selective voting (section 4.2) and the areas behind PEM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import compute
from ..catalogue.declare import Spec, ratio
from ..errors import InputError, show
from ..estimate import Estimate
from ..evaluation import choose_specs
from ..quotas import resolve_quota
from ..ranking import rank
from ..reference import documented
from ..sources.arrays import as_numbers, make_sample
from ..table import DictResult, Figure, HasPlot, HasSections, Section, Table, columns_table, format_value
from ..types import Floats, Label, Labels, Scores
from ..validate import check_models, check_whole, checked, one_of
from .power import judge_sets, model_samples
from .selection import hits_at

DEFAULT_MARKS = ("average_hit_rate", "average_qrecall", "pem", "quota_pearson")
Vote = Literal["score", "rank"]


@dataclass(frozen=True)
class _Case:
    """What is averaged and judged: labels, one row of scores for each model, and how a vote is cast."""

    names: list[str]
    positive: NDArray[np.bool_]
    table: Floats
    vote: Vote

    @classmethod
    def of(cls, y_true: Labels, models: Mapping[str, Any], pos_label: Label, vote: Vote) -> _Case:
        """From the arrays that users pass."""
        samples = model_samples(y_true, models, pos_label)
        for name, sample in samples.items():
            if not sample.are_finite:
                row = sample.first_row(np.isinf(sample.score))
                raise InputError(None, f"row {row} is infinite; averages need finite scores", model=name)
        table = np.array([sample.score.astype(np.float64) for sample in samples.values()])
        return cls(list(models), next(iter(samples.values())).positive, table, vote)

    def best_first(self, by: Spec, rows: NDArray[np.intp]) -> list[int]:
        """The models by a measure on some rows, best first."""
        worth = [_read([by], self.positive[rows], scores[rows])[by] for scores in self.table]
        for name, value in zip(self.names, worth, strict=True):
            if value != value:
                why = f"{show(str(by))} is undefined for model {show(name)}, so the models cannot be ordered"
                raise InputError("rank_by", why, "")
        sign = -1.0 if by.measure.better == "higher" else 1.0
        return sorted(range(len(self.names)), key=lambda k: sign * worth[k])  # sorted() is stable

    def means(self, order: list[int], known: NDArray[np.intp], rows: NDArray[np.intp]) -> Floats:
        """The mean vote of the first X models on some rows, a row for each X; ranks are places among known rows."""
        votes = self.table[:, rows]
        if self.vote == "rank":
            votes = np.array([places_among(scores[known], scores[rows]) for scores in self.table])
        return np.asarray(np.cumsum(votes[order], axis=0) / np.arange(1, len(order) + 1)[:, None])


def places_among(known: Floats, new: Floats) -> Floats:
    """The share of known scores that lie below each new one, half of those that are equal counted."""
    ascending = np.sort(known)
    below = np.searchsorted(ascending, new, side="left")
    upto = np.searchsorted(ascending, new, side="right")
    return np.asarray((below + upto) / (2.0 * len(ascending)))


@dataclass(frozen=True, eq=False, repr=False)
class SelectiveVoting(HasSections, HasPlot, DictResult):
    """Marks of the mean of the best X models, for X = 1 … M, and the X to use.

    ``order`` names the models, best first by ``rank_by``; ``marks`` has a row for each X. ``voters`` is the number of
    models chosen by inner cross-validation (models are ordered without the rows they are judged on), ``held_out`` the
    mark of each X there. ``expected`` is the mark to expect of the chosen vote on new rows, with its interval: the
    optimism from choosing the best X (``optimism``) is estimated and subtracted, by choosing again in each replicate
    and evaluating on the rows left out of it. ``scores`` are the combined scores of the chosen vote; ``score`` gives
    those of new rows. ``plot`` draws the marks against the number of models, as in Fig. 10.
    """

    pictures: ClassVar[tuple[str, ...]] = ("voting",)

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

        def correlation(a: Floats, b: Floats) -> float:
            both = ~(np.isnan(a) | np.isnan(b))
            a, b = a[both], b[both]
            if len(a) < 2 or a.min() == a.max() or b.min() == b.max():
                return float("nan")
            return float(np.corrcoef(a, b)[0, 1])

        columns = {other: [correlation(a, b) for a in table] for other, b in zip(names, table, strict=True)}
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
            scores, low, high = as_numbers(models[name], f"models[{name!r}]")
            if not (np.isfinite(low) and np.isfinite(high)):
                why = f"is infinite for model {show(name)}; averages need finite scores"
                raise InputError("models", why, "", row=int(np.argmax(np.isinf(scores))))
            new = scores.astype(np.float64)
            columns.append(new if self.vote == "score" else places_among(self.known[name], new))
        if len({len(column) for column in columns}) > 1:
            raise InputError("models", "have different numbers of rows", "pass one score for each row and model")
        return np.asarray(np.mean(columns, axis=0))

    def to_dict(self) -> dict[str, Any]:
        """What was chosen, and the marks."""
        expected = {} if self.expected is None else self.expected.to_dict()
        expected.pop("method", None)
        return {
            "order": self.order,
            "vote": self.vote,
            "voters": self.order[: self.voters],
            "chosen_by": self.chosen_by,
            "expected": {**expected, "optimism": self.optimism},
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
        summary = f"{best}: expect {self.chosen_by} {format_value(e.value)}"
        if e.low == e.low:
            summary += f" ({e.level:.0%} interval {format_value(e.low)} to {format_value(e.high)})"
        return f"{summary}, after subtracting {format_value(self.optimism)} of optimism"

    def sections(self) -> list[Section]:
        """How many models to average, and the marks of every number of them."""
        answer = [f"{self.summary}."] if self.summary else []
        charts = [Figure("voting", self, {"measure": k, "name": f"voting-{k}"}) for k in range(len(self.specs))]
        return [
            Section("answer", [*answer, *charts, self.marks]),
            Section("optimum", [self.optimum]),
            Section("correlation", [self.correlation]),
        ]


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
    case = _Case.of(y_true, models, pos_label, vote)
    names, positive, every = case.names, case.positive, np.arange(len(case.positive))
    places = max(1, int(positive.sum())) if quota is None else quota
    how: dict[str, Any] = {"threshold": threshold, "quota": places}
    (by,) = choose_specs([rank_by], **how, argument="rank_by")
    judge = by if choose_by is None else choose_specs([choose_by], **how, argument="choose_by")[0]
    specs = tuple(choose_specs(list(marks), **how, argument="marks"))
    if order_on is None:
        order = case.best_first(by, every)
    elif not isinstance(order_on, tuple | list) or len(order_on) != 2:
        raise InputError("order_on", f"is {show(order_on)}", "pass a pair: labels, and a mapping from name to scores")
    else:
        check_models(order_on[1], "order_on")
        if set(map(str, order_on[1])) != set(map(str, names)):
            raise InputError("order_on", "must hold the same models as {models}", "")
        other = _Case.of(order_on[0], {name: order_on[1][name] for name in names}, pos_label, vote)
        order = other.best_first(by, np.arange(len(other.positive)))
    means = case.means(order, every, every)
    rows = []
    for x, scores in enumerate(means, start=1):
        values = _read(specs, positive, scores)
        rows.append({"models": x, "added": names[order[x - 1]], **{str(s): values[s] for s in specs}})
    held = _held_out(case, by, None if order_on is None else order, folds, seed)
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
        {names[k]: np.sort(case.table[k]) for k in order[:voters]} if vote == "rank" else {},
    )


def _held_out(case: _Case, by: Spec, fixed: list[int] | None, folds: int, seed: int) -> Floats | None:
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
        order = case.best_first(by, inside) if fixed is None else fixed
        out[:, outside] = case.means(order, inside, outside)
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
    honest = []
    values = np.empty((len(held), 0))
    if len(drawn):
        sets = np.ascontiguousarray(positive[drawn])
        values = np.array([judge_sets(sets, np.ascontiguousarray(scores[drawn]), [judge])[judge] for scores in held])
    for inside, worth in zip(drawn, sign * values.T, strict=True):
        outside = np.setdiff1d(np.arange(n), inside)
        if np.isnan(worth).all() or positive[outside].all() or not positive[outside].any():
            continue
        scaled = judge  # with its quota as the same share of fewer rows
        if judge.quota is not None:
            scaled = replace(judge, quota=max(1, round(resolve_quota(judge.quota, n) * len(outside) / n)))
        honest.append(_read([scaled], positive[outside], held[int(np.nanargmax(worth)), outside])[scaled])
    judged = np.array(honest)
    judged = judged[~np.isnan(judged)]
    if len(judged) < 2:
        return best + 1, on_folds, Estimate(str(judge), float(on_folds[best])), float("nan")
    value = float(judged.mean())
    # replicates judge on a share f = 1/e of the rows, all different: their variance is (1 − f)/f times that of all rows
    half = (np.quantile(judged, [(1 - level) / 2, (1 + level) / 2]) - value) / np.sqrt(np.e - 1.0)
    expected = Estimate(str(judge), value, value + float(half[0]), value + float(half[1]), level, "out of bag")
    return best + 1, on_folds, expected, sign * (float(on_folds[best]) - value)


def _read(specs: Sequence[Spec], positive: NDArray[np.bool_], scores: Any) -> dict[Spec, float]:
    return dict(compute(specs, rank(make_sample(positive, scores))).values)


@dataclass(frozen=True)
class PemAreas:
    """The areas behind PEM (Arbel & Rokach Eq. 14): S₁ where the list finds more than a random one, S₂ where it finds
    less, S₃ between an optimal and a random list, each summed over the quotas 1 … n."""

    s1: float
    s2: float
    s3: float

    @property
    def pem(self) -> float:
        """(S₁ − S₂) / S₃."""
        return float(ratio(self.s1 - self.s2, self.s3))


@documented
def pem_areas(y_true: Labels, y_score: Scores, *, pos_label: Label = None) -> PemAreas:
    """S₁, S₂ and S₃ of PEM, summed at the quotas 1 … n as in Table 5; S₁ − S₂ over S₃ is PEM (erratum A18).

    >>> y = [1, 0, 1, 1, 0, 0, 1, 0, 0, 0]
    >>> p = [0.45, 0.34, 0.32, 0.26, 0.15, 0.14, 0.09, 0.07, 0.06, 0.03]
    >>> areas = pem_areas(y, p)
    >>> round(areas.s1, 4), areas.s2, areas.s3, round(areas.pem, 4)
    (1.75, 0.0, 3.0, 0.5833)
    """
    ranking = rank(make_sample(y_true, y_score, pos_label=pos_label))
    if ranking.n_pos == 0:
        raise InputError("y_true", "holds no positive cases, so there is nothing to extract", "pass both classes")
    places = np.arange(1, ranking.rows + 1, dtype=np.float64)
    gained = hits_at(ranking, places) / ranking.n_pos - places / ranking.rows
    gained[np.abs(gained) < 1e-12] = 0.0
    return PemAreas(float(gained[gained > 0].sum()), float(np.abs(gained[gained < 0]).sum()), ranking.n_neg / 2.0)

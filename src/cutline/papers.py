"""The papers' own decompositions and demonstrations (Rosset; Arbel & Rokach).

Rosset: how often a measure picks the better model on small test sets, and his decompositions. Arbel & Rokach: selective
voting (section 4.2) and the areas behind PEM.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from .catalogue.chance import chance_and_perfect
from .catalogue.compute import compute, plan_sweeps, why_inapplicable
from .catalogue.declare import Spec, parse_measure, ratio
from .decide.selection import hits_at
from .errors import InputError, different_lengths, listed, look_up, show
from .estimate import Estimate
from .evaluation import choose_specs
from .inference.limits import proportion_interval, t_quantile
from .kernels import compiled
from .quotas import resolve_quota
from .ranking import midranks, rank
from .reference import documented
from .runtime import Progress, cores
from .sources.arrays import Sample, as_numbers, make_sample
from .sweep import kernel_request
from .table import DictResult, Figure, HasPlot, HasSections, Section, Table, format_value, pluralize
from .types import Floats, Label, Labels, MeasureLike, Scores
from .validate import check_function, check_models, check_whole, checked, one_of

__all__ = ["PemAreas", "SelectionPower", "SelectiveVoting", "pem_areas", "selection_power", "selective_voting"]
__all__ += ["linear_ranking_decomposition", "misclassification_decomposition", "selector_differences"]

Scorer = Callable[[Any], Any]
Wins = Literal["half", "strict"]
WINS = one_of("half", "strict")
DEFAULT_MARKS = ("average_hit_rate", "average_qrecall", "pem", "quota_pearson")

_SAME = 1e-12  # values closer than this (relative) are equal: sums of the same terms in another order


@documented
@dataclass(frozen=True, eq=False, repr=False)
class SelectionPower(HasSections):
    """How often each measure picked the better model.

    ``won`` and ``shared`` have a row for each round and a column for each measure: the share of the round's test sets
    on which the measure gave the better model alone the best value, and its part of those on which several models had
    it. ``means`` (rounds × models × measures) is the mean value of each measure, ``undecided`` the share of test sets
    on which a measure had no value for some model.
    """

    models: list[str]
    better: str
    specs: tuple[Spec, ...]
    won: Floats
    shared: Floats
    means: Floats
    undecided: Floats
    n_sets: int
    set_size: int
    retrained: bool
    wins: Wins = "half"
    level: float = 0.95

    @property
    def picked(self) -> Floats:
        """The share of each round's test sets (rows) on which each measure (columns) picked the better model."""
        return self.won + self.shared if self.wins == "half" else self.won

    def counted(self, wins: Wins) -> SelectionPower:
        """The same test sets with ties counted by the other rule."""
        return replace(self, wins=WINS(wins, "wins"))

    @property
    def measures(self) -> list[str]:
        """The measure strings."""
        return [str(spec) for spec in self.specs]

    def column(self, measure: str) -> int:
        """The column of a measure in ``picked``."""
        names = self.measures
        if isinstance(measure, str) and measure in names:
            return names.index(measure)
        columns = [k for k, spec in enumerate(self.specs) if isinstance(measure, str) and spec.measure.name == measure]
        if len(columns) != 1:
            raise InputError("measure", f"is {show(measure)}, which was not judged", f"choose one of {listed(names)}")
        return columns[0]

    def __getitem__(self, measure: str) -> Estimate:
        """The share of test sets on which a measure picks the better model, with its interval."""
        k = self.column(measure)
        share = self.picked[:, k]
        mean, sets = float(share.mean()), len(share) * self.n_sets
        if self.retrained and len(share) > 1 and np.ptp(share) > 0:
            half = self._half_width(share)  # the sets of a round share their models: rounds are what is independent
            low, high, method = max(0.0, mean - half), min(1.0, mean + half), "t over rounds"
        else:
            won = int(np.floor(share.mean() * sets + 1e-9))
            low, high = proportion_interval(won, sets, level=self.level, method="clopper_pearson")
            method = "clopper_pearson"
        return Estimate(self.measures[k], mean, low, high, self.level, method)

    def _half_width(self, values: Floats) -> float:
        """Half of the t interval of a mean over rounds."""
        return t_quantile(self.level, len(values) - 1.0) * float(values.std(ddof=1)) / math.sqrt(len(values))

    def mean(self, measure: str, model: str) -> float:
        """The mean value of a measure over all test sets (those where it is defined)."""
        place = look_up({name: k for k, name in enumerate(self.models)}, model, "model")
        return float(np.nanmean(self.means[:, place, self.column(measure)]))

    def difference(self, a: str, b: str) -> Estimate:
        """How much more often measure ``a`` picks the better model than ``b``, round by round, with its interval."""
        gap = self.picked[:, self.column(a)] - self.picked[:, self.column(b)]
        mean, half = float(gap.mean()), self._half_width(gap) if len(gap) > 1 else float("nan")
        return Estimate(f"{a} − {b}", mean, mean - half, mean + half, self.level, "t over rounds")

    @property
    def table(self) -> Table:
        """One row for each measure, the best selector first."""
        rows = []
        for k in np.argsort(-self.picked.mean(axis=0), kind="stable"):
            share, one = self.picked[:, k], self[self.measures[k]]
            row = {"measure": one.name, "picks the better": one.value, **one.interval._asdict()}
            row |= {"worst round": float(share.min()), "perfect rounds": int((share == 1.0).sum())}
            rows.append({**row, "undecided": float(self.undecided[:, k].mean())})
        return Table(rows, f"How often each measure picks {self.better} ({pluralize(len(self.picked), 'round')})")

    def sections(self) -> list[Section]:
        """How often each measure picks the better model."""
        return [Section("answer", [self.table])]


@checked(wins=WINS, models=lambda value, name: value if callable(value) else check_models(value, name))
def selection_power(
    simulate: Callable[[np.random.Generator, int], tuple[Any, Any]] | Any,
    models: Mapping[str, Any] | Callable[[np.random.Generator], Mapping[str, Scorer]],
    measures: Sequence[MeasureLike] | None = None,
    *,
    better: str | None = None,
    goal: str = "accuracy",
    n_rounds: int = 20,
    n_sets: int = 100,
    set_size: int = 100,
    wins: Wins = "half",
    threshold: float = 0.5,
    quota: int | float | None = None,
    level: float = 0.95,
    seed: int = 0,
    n_jobs: int | None = None,
    pos_label: Label = None,
    progress: bool | None = None,
) -> SelectionPower:
    """How often does each measure pick the better of several models, on test sets of a given size?

    ``simulate(rng, n)`` draws ``n`` cases from the population: whatever the models read, and the labels. ``models``
    maps names to functions that score cases; or it is a function of ``rng`` that trains new models for each round. Each
    round draws ``n_sets`` test sets of ``set_size`` cases; models must score each case independently, because all cases
    of a round are scored in one call.

    Instead of ``simulate``, pass the labels of a test set of your own, with ``models`` mapping names to scores: its
    rows are then drawn with replacement, as if it were the population. This shows how often each measure would pick the
    model that is better on this test set, given only ``set_size`` cases.

    The better model is ``better``; without a name, the one that the ``goal`` calls better over all cases of all rounds.
    ``wins``: if the better model ties with others for the best value, ``half`` gives it its share of the win,
    ``strict`` nothing. A test set on which a measure is undefined for some model counts as a tie of all.

    ``measures`` are measure strings; by default every measure of the catalogue that the options and
    the scores allow (probability measures need scores in [0, 1]).

    >>> def simulate(rng, n):
    ...     x = rng.normal(size=n)
    ...     return x, rng.random(n) < 1 / (1 + np.exp(-3 * x))
    >>> noise = {"good": lambda x: x, "blunt": lambda x: np.round(x)}
    >>> power = selection_power(simulate, noise, ["roc_auc", "accuracy(threshold=0)"], better="good", n_rounds=2)
    >>> power["roc_auc"].value > power["accuracy"].value
    True
    """
    if not callable(simulate):  # a population of the rows of one test set: a model looks up the scores of those drawn
        if not isinstance(models, Mapping) or len(models) < 2:
            raise InputError("models", "must map the names of at least two models to their scores", "")
        for name, scores in models.items():
            if callable(scores):
                why = f"maps {name!r} to a function, but the labels given are those of a test set"
                raise InputError("models", why, "pass its scores")
        samples = model_samples(simulate, models, pos_label)
        positive = next(iter(samples.values())).positive
        models = {name: sample.score.take for name, sample in samples.items()}

        def simulate(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
            rows = rng.integers(0, len(positive), n)
            return rows, positive[rows]

    elif pos_label is not None:
        raise InputError("pos_label", "goes with labels of your own", "let the simulator give true and false")
    check_function(simulate, "simulate", "two arguments", "pass a function of a random generator and a number")
    if callable(models):
        check_function(models, "models", "one argument", "pass a function of a random generator")
    if quota is not None:  # also where no measure has use for it
        resolve_quota(quota, set_size)
    specs = choose_specs(measures, threshold=threshold, quota=quota)
    (best_by,) = choose_specs([goal], threshold=threshold, quota=quota, argument="goal")
    every = list(dict.fromkeys([*specs, best_by])) if better is None else specs

    def judge_round(seed: np.random.SeedSequence) -> dict[str, dict[Spec, Floats]]:
        """Train, draw, score and judge: by model and measure, a value for each test set."""
        for_training, for_testing = (np.random.default_rng(child) for child in seed.spawn(2))
        scorers = check_models(models(for_training) if callable(models) else models, "models")
        drawn = simulate(for_testing, n_sets * set_size)
        if not isinstance(drawn, tuple | list) or len(drawn) != 2:
            raise InputError("simulate", f"gives {show(drawn)}", "return the cases and their labels")
        cases, labels = drawn
        values = {}
        for name, scorer in scorers.items():
            check_function(scorer, f"models[{name!r}]", "one argument", "pass a function of the cases")
            (sample,) = model_samples(labels, {name: scorer(cases)}, None).values()
            if len(sample) != n_sets * set_size:
                why = f"gave {len(sample)} cases where {n_sets * set_size} were asked for"
                raise InputError("simulate", why, "return as many cases as its argument asks for")
            problems = {spec: why_inapplicable(spec.measure, sample) for spec in every}
            for spec, problem in problems.items():
                if problem and measures is not None:
                    why = f"name {spec}, which cannot be computed: {problem}"
                    raise InputError("measures", why, "leave it out", model=name)
            score = sample.score.astype(np.float64).reshape(n_sets, set_size)
            readable = [spec for spec, problem in problems.items() if not problem]
            values[name] = judge_sets(sample.positive.reshape(score.shape), score, readable)
        return values

    workers = min(n_rounds, cores() if n_jobs is None or n_jobs < 0 else max(1, n_jobs))
    rounds = []
    with Progress("selection power", n_rounds, progress) as counter, ThreadPoolExecutor(workers) as pool:
        for values in pool.map(judge_round, np.random.SeedSequence(seed).spawn(n_rounds)):
            rounds.append(values)
            counter.advance()
    names = list(rounds[0])
    if any(list(values) != names for values in rounds):
        raise InputError("models", "change from round to round", "give the same names in the same order in every round")
    # Scores that are no probabilities in one round leave the probability measures out of all rounds.
    readable = [spec for spec in every if all(spec in row for values in rounds for row in values.values())]
    specs = [spec for spec in specs if spec in readable]
    if not specs:
        raise InputError("measures", "can none of them read these scores", "name the measures you want")

    # values by round, model, measure and test set, and the means of those that are defined
    whole = np.array([[[row[spec] for spec in readable] for row in values.values()] for values in rounds])
    defined = ~np.isnan(whole)
    every_mean = np.asarray(ratio(np.where(defined, whole, 0.0).sum(axis=-1), defined.sum(axis=-1)))
    columns = [readable.index(spec) for spec in specs]
    table, chosen = whole[:, :, columns], better
    if chosen is None:
        if best_by not in readable:
            why = f"is {best_by}, which cannot read these scores"
            raise InputError("goal", why, "name the better model with {better}")
        worth = every_mean[:, :, readable.index(best_by)].mean(axis=0)
        if np.isnan(worth).any():
            raise InputError("goal", f"is {best_by}, which has no value here", "name the better model with {better}")
        chosen = names[int(np.argmax(worth if best_by.measure.better == "higher" else -worth))]
    if chosen not in names:
        raise InputError("better", f"is {show(chosen)}, which is not a model", f"choose one of {listed(names)}")
    sign = np.array([1.0 if spec.measure.better == "higher" else -1.0 for spec in specs])
    undefined = np.asarray(np.isnan(table).any(axis=1))
    worth = np.where(undefined[:, None], 0.0, sign[:, None] * table)
    top = worth.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):  # inf − inf where both are infinite: those are equal
        near = (worth == top) | (top - worth <= _SAME * np.abs(top))
    tied = near.sum(axis=1)
    credit = np.where(near[:, names.index(chosen)], 1.0 / tied, 0.0)
    won, shared = (np.where(side, credit, 0.0).sum(axis=2) / n_sets for side in (tied == 1, tied > 1))
    found: dict[str, Any] = {"won": won, "shared": shared, "means": every_mean[:, :, columns]}
    found |= {"n_sets": n_sets, "set_size": set_size, "retrained": callable(models), "wins": wins, "level": level}
    return SelectionPower(models=names, better=chosen, specs=tuple(specs), undecided=undefined.mean(axis=2), **found)


def model_samples(y_true: Labels, models: Mapping[str, Any], pos_label: Label) -> dict[str, Sample]:
    """The sample of each model; an error names the model."""
    samples = {}
    for name, scores in models.items():
        try:
            samples[str(name)] = make_sample(y_true, scores, pos_label=pos_label)
        except InputError as error:
            raise error.but(model=str(name)) from None
    return samples


def judge_sets(positive: NDArray[np.bool_], score: Floats, specs: Sequence[Spec]) -> dict[Spec, Floats]:
    """The values of specs on many test sets of one size: a row of ``positive`` and ``score`` is a test set."""
    sets, size = score.shape
    extremes = np.array([score.max(), score.min()])
    values: dict[Spec, Floats] = {}
    for reading in plan_sweeps(tuple(specs), size):
        out = np.zeros((sets, reading.request.width))
        thresholds = np.array(reading.request.thresholds, dtype=np.float64)
        ties = {"expected": 0, "best": 1, "worst": -1}[reading.ties]
        request = kernel_request(reading.request, extremes, size, whole=True, most=size)
        compiled.sum_sets(score, positive, ties, thresholds, request, out)
        read = (np.broadcast_to(np.asarray(v, dtype=np.float64), sets) for v in reading.values(out))
        values.update(zip(reading.specs, read, strict=True))
    for spec in specs:
        if spec.measure.part == "ranking":  # read set by set
            by_set = (_read([spec], y, s)[spec] for y, s in zip(positive, score, strict=True))
            values[spec] = np.fromiter(by_set, np.float64, sets)
    return values


@dataclass(frozen=True)
class Decomposition:
    """``score = oracle − reducible``: what the true probabilities would score, and what the model loses of it."""

    score: float
    oracle: float
    reducible: float
    reducible_switched: float
    reducible_pairs: float


def _columns(
    y_true: Labels, y_score: Scores, true_probability: Scores, pos_label: Label
) -> tuple[NDArray[np.float64], ...]:
    sample = make_sample(y_true, y_score, pos_label=pos_label)
    truth, low, high = as_numbers(true_probability, "true_probability")
    if len(truth) != len(sample):
        raise different_lengths("true_probability", len(truth), "y_score", len(sample))
    if low < 0 or high > 1:
        row = int(np.argmax((truth < 0) | (truth > 1)))
        raise InputError("true_probability", f"is {truth[row]:g}", "pass probabilities, between 0 and 1", row=row)
    order = np.argsort(truth, kind="stable")  # 5.1–5.3 number the cases by their true probability
    return tuple(a[order].astype(np.float64) for a in (sample.positive, sample.score, truth))


@documented
def linear_ranking_decomposition(
    y_true: Labels, y_score: Scores, true_probability: Scores, *, pos_label: Label = None
) -> Decomposition:
    """Linear Ranking as oracle minus reducible part, the latter in three equal forms (Rosset 5.1, 5.2, 5.3).

    ``reducible`` sums places (5.1), ``reducible_switched`` does so with the classes and the order switched (5.2), and
    ``reducible_pairs`` counts the pairs the model orders unlike the true probabilities (5.3). Ties take mid-ranks and
    half pairs (erratum R6).

    >>> d = linear_ranking_decomposition([0, 1, 1], [0.2, 0.9, 0.5], [0.1, 0.5, 0.8])
    >>> d.score, d.oracle, d.reducible
    (5.0, 5.0, 0.0)
    """
    y, m, p = _columns(y_true, y_score, true_probability, pos_label)
    place, true_place = midranks(m), midranks(p)
    n = len(y)
    score, oracle = float(place @ y), float(true_place @ y)
    switched = float((n + 1 - true_place) @ (1 - y) - (n + 1 - place) @ (1 - y))
    return Decomposition(score, oracle, oracle - score, switched, (_pairs_won(y, p) - _pairs_won(y, m)) / 2.0)


@checked
def misclassification_decomposition(
    y_true: Labels, y_score: Scores, true_probability: Scores, *, threshold: float = 0.5, pos_label: Label = None
) -> Decomposition:
    """Number of correct decisions as the Bayes classifier's minus a reducible part (Rosset 6.1, corrected by R4).

    ``reducible`` is the first form of 6.1, ``reducible_pairs`` the corrected second form Σ [I{p≤t} − I{m≤t}](1−2y),
    and ``reducible_switched`` the same with the classes switched.

    >>> misclassification_decomposition([0, 1, 1], [0.2, 0.9, 0.4], [0.1, 0.6, 0.8]).reducible
    1.0
    """
    y, m, p = _columns(y_true, y_score, true_probability, pos_label)
    decided, bayes = m > threshold, p > threshold
    score, oracle = float((decided == y).sum()), float((bayes == y).sum())
    first = float(((decided != bayes) * np.where(bayes == y, 1.0, -1.0)).sum())
    second = float(((~bayes).astype(float) - (~decided).astype(float)) @ (1 - 2 * y))
    switched = float((bayes.astype(float) - decided.astype(float)) @ (2 * y - 1))
    return Decomposition(score, oracle, first, switched, second)


@dataclass(frozen=True)
class SelectorDifferences:
    """How much better the second model looks: by correct decisions (6.2) and by Linear Ranking (6.3)."""

    misclassification: float
    linear_ranking: float


@checked
def selector_differences(
    y_true: Labels, first_score: Scores, second_score: Scores, *, threshold: float = 0.5, pos_label: Label = None
) -> SelectorDifferences:
    """MC(m₂) − MC(m₁) and LR(m₂) − LR(m₁) from the decisions in which the models differ (Rosset 6.2 with R5, 6.3).

    >>> d = selector_differences([0, 1], [0.6, 0.4], [0.3, 0.7])
    >>> d.misclassification, d.linear_ranking
    (2.0, 1.0)
    """
    first = make_sample(y_true, first_score, pos_label=pos_label)
    second = make_sample(y_true, second_score, pos_label=pos_label)
    y = first.positive.astype(np.float64)
    correct = float(((second.score > threshold).astype(float) - (first.score > threshold)) @ (2 * y - 1))
    return SelectorDifferences(correct, (_pairs_won(y, second.score) - _pairs_won(y, first.score)) / 2.0)


def _pairs_won(y: NDArray[np.float64], score: NDArray[Any]) -> float:
    """Pairs of a positive and a negative that a score orders rightly, less those that it orders wrongly."""
    positive = y > 0
    negatives = np.sort(score[~positive])
    below = np.searchsorted(negatives, score[positive], side="left")
    above = len(negatives) - np.searchsorted(negatives, score[positive], side="right")
    return float((below - above).sum(dtype=np.int64))


@dataclass(frozen=True)
class _Case:
    """What is averaged and judged: labels, and one row of scores for each model."""

    names: list[str]
    positive: NDArray[np.bool_]
    table: Floats

    @classmethod
    def of(cls, y_true: Labels, models: Mapping[str, Any], pos_label: Label) -> _Case:
        """From the arrays that users pass."""
        samples = model_samples(y_true, models, pos_label)
        for name, sample in samples.items():
            if not sample.are_finite:
                row = sample.first_row(np.isinf(sample.score))
                raise InputError(None, f"row {row} is infinite; averages need finite scores", model=name)
        table = np.array([sample.score.astype(np.float64) for sample in samples.values()])
        return cls(list(models), next(iter(samples.values())).positive, table)

    def best_first(self, by: Spec, rows: NDArray[np.intp]) -> list[int]:
        """The models by a measure on some rows, best first."""
        worth = [_read([by], self.positive[rows], scores[rows])[by] for scores in self.table]
        for name, value in zip(self.names, worth, strict=True):
            if value != value:
                why = f"{show(str(by))} is undefined for model {show(name)}, so the models cannot be ordered"
                raise InputError("rank_by", why, "")
        sign = -1.0 if by.measure.better == "higher" else 1.0
        return sorted(range(len(self.names)), key=lambda k: sign * worth[k])  # sorted() is stable

    def means(self, order: list[int], rows: NDArray[np.intp]) -> Floats:
        """The mean score of the first X models on some rows, a row for each X."""
        return np.asarray(np.cumsum(self.table[order][:, rows], axis=0) / np.arange(1, len(order) + 1)[:, None])


@dataclass(frozen=True, eq=False, repr=False)
class SelectiveVoting(HasSections, HasPlot, DictResult):
    """Marks of the mean of the best X models, for X = 1 … M, and the X to use.

    ``order`` names the models, best first by ``rank_by``; ``marks`` has a row for each X. ``voters`` is the number of
    models chosen by inner cross-validation (models are ordered without the rows they are judged on). ``held_out`` has
    the mark of each X there, with a band for all X at once, and the share of bootstrap resamples in which X is ``best``
    (equal ones share it). ``expected`` is the mark to expect of the chosen vote on new rows, with its interval: the
    optimism from choosing the best X (``optimism``) is estimated and subtracted, by choosing again in each replicate
    and evaluating on the rows left out of it. ``scores`` are the combined scores of the chosen vote; ``score`` gives
    those of new rows. ``plot`` draws the marks against the number of models, as in Fig. 10. ``classes`` are the numbers
    of positives and negatives.
    """

    pictures: ClassVar[tuple[str, ...]] = ("voting",)

    order: list[str]
    marks: Table
    specs: tuple[Spec, ...]
    chosen_by: str = ""
    voters: int = 1
    expected: Estimate | None = None
    optimism: float = float("nan")
    held_out: Table = field(default_factory=lambda: Table([], "On rows that did not order the models"))
    classes: tuple[int, int] = (0, 0)
    scores: Floats = field(default_factory=lambda: np.empty(0), repr=False)

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
        return Table(rows, "Best number by each mark on all these rows (the number above: by held-out rows)")

    @cached_property
    def scales(self) -> dict[str, tuple[float, float]]:
        """What chance and a perfect list give for each mark; empty if a mark has no level by chance.

        A correlation, which reads the scores themselves, has 0 and 1.
        """
        scales = {}
        for spec in self.specs:
            try:
                scales[str(spec)] = chance_and_perfect(spec, *self.classes)
            except InputError:
                if spec.measure.range != (-1.0, 1.0):
                    return {}
                scales[str(spec)] = (0.0, 1.0)
        return scales

    @property
    def doubt(self) -> str:
        """How often the chosen number of models is the best and better than one model; empty if it is not known."""
        rows = self.held_out.to_dicts()
        own = rows[self.voters - 1] if rows else {"best": math.nan}
        if math.isnan(own["best"]):
            return ""
        value = own[self.chosen_by]
        equal = [row["models"] for row in rows if row is not own and abs(row[self.chosen_by] - value) <= _SAME]
        number = pluralize(self.voters, "model") + f" (the same value as {listed(equal)})" * bool(equal)
        doubt = f"On held-out rows, {number} came out best in {own['best']:.0%} of the resamples"
        gain = f", ahead of one model in {own['beats_1']:.0%}: the gain "
        return doubt + (gain + ("is clear" if own["beats_1"] >= 0.975 else "could be chance")) * (self.voters > 1)

    @property
    def correlation(self) -> Table:
        """Pearson correlation between marks over X; nan for a mark that does not vary."""
        names = [str(spec) for spec in self.specs]
        table: Floats = np.array([self.marks.column(name) for name in names], dtype=np.float64)
        columns: dict[str, list[Any]] = {"mark": names, **{name: [] for name in names}}
        for (_, one), (other, two) in product(zip(names, table, strict=True), repeat=2):
            both = ~(np.isnan(one) | np.isnan(two))
            a, b = one[both], two[both]
            varies = len(a) > 1 and a.min() < a.max() and b.min() < b.max()
            columns[other].append(float(np.corrcoef(a, b)[0, 1]) if varies else float("nan"))
        return Table(columns, "Correlation of the measures")

    @checked
    def score(self, models: Mapping[str, Any]) -> Floats:
        """Combined scores of new rows: the mean vote of the chosen models.

        ``models`` maps names to the scores of the new rows; models that were not chosen may be left out.
        """
        wanted = self.order[: self.voters]
        missing = [name for name in wanted if name not in models]
        if missing:
            why = f"lacks {show(missing[0])}, one of the {self.voters} that vote"
            raise InputError("models", why, "add its scores")
        columns = []
        for name in wanted:
            scores, low, high = as_numbers(models[name], f"models[{name!r}]")
            if not (np.isfinite(low) and np.isfinite(high)):
                why = f"is infinite for model {show(name)}; averages need finite scores"
                raise InputError("models", why, "", row=int(np.argmax(np.isinf(scores))))
            columns.append(scores.astype(np.float64))
        if len({len(column) for column in columns}) > 1:
            raise InputError("models", "have different numbers of rows", "pass one score for each row and model")
        return np.asarray(np.mean(columns, axis=0))

    def to_dict(self) -> dict[str, Any]:
        """What was chosen, and the marks."""
        expected = {} if self.expected is None else self.expected.to_dict()
        expected.pop("method", None)
        tables = {name: getattr(self, name).to_dicts() for name in ("held_out", "marks", "optimum", "correlation")}
        chosen = {"order": self.order, "voters": self.order[: self.voters], "chosen_by": self.chosen_by}
        return {**chosen, "expected": {**expected, "optimism": self.optimism}, **tables}

    @property
    def summary(self) -> str:
        """How many models to average and what to expect, in one sentence; empty if unknown."""
        e = self.expected
        if e is None:
            return ""
        best = f"Use {self.order[0]} alone" if self.voters == 1 else f"Average the best {self.voters} models"
        judge, shown = parse_measure(self.chosen_by), format_value
        what = f"{self.chosen_by.upper() if len(self.chosen_by) < 4 else self.chosen_by} {shown(e.value)}"
        if judge.measure.name == "hit_rate" and isinstance(judge.quota, int | float):
            places = resolve_quota(judge.quota, sum(self.classes))
            shown = lambda value: f"{places * value:,.0f}"  # noqa: E731
            what = f"{shown(e.value)} hits in {pluralize(places, 'place')}"
        summary = f"{best}: expect {what} on new rows"
        if e.low == e.low:
            summary += f" ({e.level:.0%} interval {shown(e.low)} to {shown(e.high)})"
        return summary

    def sections(self) -> list[Section]:
        """How many models to average, and the marks of every number of them."""
        answer = [f"{sentence}." for sentence in (self.summary, self.doubt) if sentence]
        meant = [f"{s}: correlation of scores and outcomes in these places." for s in self.specs if "pearson" in str(s)]
        held_out = [Section("held_out", [self.held_out])] if len(self.held_out) else []
        first = Section("answer", [*answer, Figure("voting", self), self.marks, *meant])
        return [first, *held_out, Section("optimum", [self.optimum]), Section("correlation", [self.correlation])]


@checked(folds=lambda value, name: check_whole(value, name, 2))
def selective_voting(
    y_true: Labels,
    models: Mapping[str, Scores],
    *,
    rank_by: str = "pem",
    marks: Sequence[str] = DEFAULT_MARKS,
    choose_by: str | None = None,
    quota: int | float | None = None,
    threshold: float = 0.5,
    order_on: tuple[Labels, Mapping[str, Scores]] | None = None,
    folds: int = 5,
    level: float = 0.95,
    n_resamples: int = 200,
    seed: int = 0,
    pos_label: Label = None,
) -> SelectiveVoting:
    """Order models by a measure, average the votes of the best X, mark each X by several measures, and choose X.

    Scores are averaged as they are, so models should score on one scale. ``order_on`` gives other data, as (labels,
    scores by model), to order the models on. Without it the models are ordered and evaluated on the same cases: the
    best X is then partly luck, and its marks are optimistic. Models that tie in the order keep the order they are given
    in. ``quota`` (by default the number of positives) is for marks at a quota.

    The X to use (``voters``) is chosen by ``choose_by`` (by default ``rank_by``) in ``folds``-fold cross-validation,
    and the expected mark is corrected for the optimism of that choice.

    >>> y = [1, 0, 1, 0]
    >>> v = selective_voting(y, {"a": [4, 3, 2, 1], "b": [4, 1, 3, 2]}, rank_by="roc_auc", marks=["pem"])
    >>> v.order, v.optimum[0]["models"]
    (['b', 'a'], 1)
    """
    case = _Case.of(y_true, models, pos_label)
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
            raise InputError("order_on", "must contain the same models as {models}", "")
        other = _Case.of(order_on[0], {name: order_on[1][name] for name in names}, pos_label)
        order = other.best_first(by, np.arange(len(other.positive)))
    means = case.means(order, every)
    rows = []
    for x, scores in enumerate(means, start=1):
        values = _read(specs, positive, scores)
        rows.append({"models": x, "added": names[order[x - 1]], **{str(s): values[s] for s in specs}})
    fixed, how_drawn = None if order_on is None else order, (folds, level, n_resamples, seed)
    voters, on_folds, expected, optimism = _choose_voters(case, by, fixed, judge, *how_drawn)
    chosen = str(judge), voters, expected, optimism, on_folds
    classes, table = (int(positive.sum()), int((~positive).sum())), Table(rows, "Selective voting")
    return SelectiveVoting([names[k] for k in order], table, specs, *chosen, classes, means[voters - 1])


def _choose_voters(
    case: _Case, by: Spec, fixed: list[int] | None, judge: Spec, folds: int, level: float, n_resamples: int, seed: int
) -> tuple[int, Table, Estimate | None, float]:
    """The best X on held-out rows, the marks of all X there, the best one's without its optimism, and that optimism."""
    positive, n = case.positive, len(case.positive)
    sides = [np.flatnonzero(side) for side in (positive, ~positive)]
    folds = min([folds, *(len(side) for side in sides)])
    if folds < 2:
        return 1, Table([], "On rows that did not order the models"), None, float("nan")
    fold, rng = np.empty(n, np.int64), np.random.default_rng([seed, 11])
    for side in sides:
        fold[side] = rng.permutation(np.arange(len(side)) % folds)
    held = np.empty(case.table.shape)  # combined scores of each X
    for k in range(folds):
        inside, outside = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        order = case.best_first(by, inside) if fixed is None else fixed
        held[:, outside] = case.means(order, outside)
    sign = 1.0 if judge.measure.better == "higher" else -1.0
    on_folds = np.array([_read([judge], positive, scores)[judge] for scores in held])
    if np.isnan(on_folds).all():
        return 1, held_out_marks(judge, on_folds, np.empty((len(held), 0)), level), None, float("nan")
    drawn = np.random.default_rng([seed, 12]).integers(0, n, (n_resamples, n))
    seen = positive[drawn].sum(axis=1)
    drawn = drawn[(seen > 0) & (seen < n)]
    honest, values = [], np.empty((len(held), 0))
    if len(drawn):
        sets = np.ascontiguousarray(positive[drawn])
        values = np.array([judge_sets(sets, np.ascontiguousarray(scores[drawn]), [judge])[judge] for scores in held])
    marks = held_out_marks(judge, on_folds, values, level)
    equal = np.abs(on_folds - sign * np.nanmax(sign * on_folds)) <= _SAME  # of these, the one most often the best
    best = int(np.argmax(np.where(equal, np.nan_to_num(np.array(marks.column("best"))), -1.0)))
    for inside, worth in zip(drawn, sign * values.T, strict=True):
        outside = np.setdiff1d(np.arange(n), inside)
        if np.isnan(worth).all() or positive[outside].all() or not positive[outside].any():
            continue
        scaled = judge  # with its quota as the same share of fewer rows
        if judge.quota is not None:
            scaled = replace(judge, quota=max(1, round(resolve_quota(judge.quota, n) * len(outside) / n)))
        honest.append(_read([scaled], positive[outside], held[int(np.nanargmax(worth)), outside])[scaled])
    judged = np.array([value for value in honest if value == value])
    if len(judged) < 2:
        return best + 1, marks, Estimate(str(judge), float(on_folds[best])), float("nan")
    value = float(judged.mean())
    # replicates judge on a share f = 1/e of the rows, all different: their variance is (1 − f)/f times that of all rows
    half = (np.quantile(judged, [(1 - level) / 2, (1 + level) / 2]) - value) / np.sqrt(np.e - 1.0)
    expected = Estimate(str(judge), value, value + float(half[0]), value + float(half[1]), level, "out of bag")
    return best + 1, marks, expected, sign * (float(on_folds[best]) - value)


def held_out_marks(judge: Spec, on_folds: Floats, values: Floats, level: float) -> Table:
    """The mark of each X with a simultaneous band (max-t over the resamples), and how often each is the best."""
    spread, best, ahead = np.full((3, len(on_folds)), np.nan)
    reach, defined = float("nan"), values[:, ~np.isnan(values).any(axis=0)]
    if defined.shape[1] > 1:
        spread = defined.std(axis=1, ddof=1)
        deviations = ratio(np.abs(defined - defined.mean(axis=1, keepdims=True)), spread[:, None])
        reach = float(np.quantile(np.nan_to_num(deviations).max(axis=0), level))
        worth = defined if judge.measure.better == "higher" else -defined
        top = worth >= worth.max(axis=0) - _SAME * np.abs(worth.max(axis=0))
        best = (top / top.sum(axis=0)).mean(axis=1)
        ahead[1:] = ((worth > worth[0] + _SAME) + 0.5 * (np.abs(worth - worth[0]) <= _SAME)).mean(axis=1)[1:]
    ends = (np.clip(on_folds + side * reach * spread, *judge.measure.range) for side in (-1, 1))
    columns = {str(judge): on_folds, **dict(zip(("low", "high"), ends, strict=True)), "best": best, "beats_1": ahead}
    return Table({"models": np.arange(1, len(on_folds) + 1), **columns}, "On rows that did not order the models")


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
        raise InputError("y_true", "contains no positive cases, so there is nothing to extract", "pass both classes")
    places = np.arange(1, ranking.rows + 1, dtype=np.float64)
    gained = hits_at(ranking, places) / ranking.n_pos - places / ranking.rows
    gained[np.abs(gained) < 1e-12] = 0.0
    return PemAreas(float(gained[gained > 0].sum()), float(np.abs(gained[gained < 0]).sum()), ranking.n_neg / 2.0)

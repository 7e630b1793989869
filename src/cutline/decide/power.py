"""Rosset's demonstrations: how often a measure picks the better model on small test sets, and his decompositions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import compute, plan_sweeps, why_inapplicable
from ..catalogue.declare import Spec, ratio
from ..errors import InputError, different_lengths, listed, look_up, show
from ..estimate import Estimate
from ..evaluation import choose_specs
from ..inference.limits import proportion_interval
from ..kernels import compiled
from ..quotas import resolve_quota
from ..ranking import midranks, rank
from ..reference import documented
from ..runtime import Progress, cores
from ..sources.arrays import Sample, as_numbers, make_sample
from ..sweep import kernel_request
from ..table import Figure, HasSections, Section, Table, pluralize
from ..types import Floats, Label, Labels, MeasureLike, Scores
from ..validate import check_function, check_models, checked, one_of

Scorer = Callable[[Any], Any]
Wins = Literal["half", "strict"]
WINS = one_of("half", "strict")

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
        from scipy.stats import t

        return float(t.ppf((1 + self.level) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))

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
            rows.append(
                {
                    "measure": one.name,
                    "picks the better": one.value,
                    **one.interval._asdict(),
                    "worst round": float(share.min()),
                    "perfect rounds": int((share == 1.0).sum()),
                    "undecided": float(self.undecided[:, k].mean()),
                }
            )
        return Table(rows, f"How often each measure picks {self.better} ({pluralize(len(self.picked), 'round')})")

    def sections(self) -> list[Section]:
        """How often each measure picks the better model, on a scale from 0 to 1."""
        rows = [
            {
                "measure": row["measure"],
                "between 0 and 1": Figure("bar", self[row["measure"]], {"ends": (0.0, 1.0)}),
                **row,
            }
            for row in self.table
        ]
        return [Section("answer", [Table(rows, self.table.title)])]


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
    if not callable(simulate):
        simulate, models = _own_rows(simulate, models, pos_label)
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
    design = _Design(simulate, models, n_sets, set_size)
    workers = min(n_rounds, cores() if n_jobs is None or n_jobs < 0 else max(1, n_jobs))
    rounds: list[Round] = []
    with Progress("selection power", n_rounds, progress) as counter, ThreadPoolExecutor(workers) as pool:
        seeds = np.random.SeedSequence(seed).spawn(n_rounds)
        for values in pool.map(lambda s: design.round(s, every, measures is None), seeds):
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

    def table_of(specs: Sequence[Spec]) -> Floats:
        """Values by round, model, measure and test set."""
        return np.array([[[row[spec] for spec in specs] for row in values.values()] for values in rounds])

    table = table_of(specs)
    chosen = better
    if chosen is None:
        if best_by not in readable:
            why = f"is {best_by}, which cannot read these scores"
            raise InputError("goal", why, "name the better model with {better}")
        worth = _mean_of(table_of([best_by]))[:, :, 0].mean(axis=0)
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
    return SelectionPower(
        models=names,
        better=chosen,
        specs=tuple(specs),
        won=np.where(tied == 1, credit, 0.0).sum(axis=2) / n_sets,
        shared=np.where(tied > 1, credit, 0.0).sum(axis=2) / n_sets,
        means=_mean_of(table),
        undecided=undefined.mean(axis=2),
        n_sets=n_sets,
        set_size=set_size,
        retrained=callable(models),
        wins=wins,
        level=level,
    )


def _mean_of(values: Floats) -> Floats:
    """Means of the defined values along the last axis; nan where there is none."""
    defined = ~np.isnan(values)
    return np.asarray(ratio(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1)))


def _own_rows(
    y_true: Labels, models: Any, pos_label: Label
) -> tuple[Callable[[np.random.Generator, int], tuple[Any, Any]], dict[str, Scorer]]:
    """A population of the rows of one test set: what is drawn are row numbers, and a model looks its scores up."""
    if not isinstance(models, Mapping) or len(models) < 2:
        raise InputError("models", "must map the names of at least two models to their scores", "")
    for name, scores in models.items():
        if callable(scores):
            why = f"maps {name!r} to a function, but the labels given are those of a test set"
            raise InputError("models", why, "pass its scores")
    samples = model_samples(y_true, models, pos_label)
    positive = next(iter(samples.values())).positive

    def simulate(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
        rows = rng.integers(0, len(positive), n)
        return rows, positive[rows]

    return simulate, {name: sample.score.take for name, sample in samples.items()}


def model_samples(y_true: Labels, models: Mapping[str, Any], pos_label: Label) -> dict[str, Sample]:
    """The sample of each model; an error names the model."""
    samples = {}
    for name, scores in models.items():
        try:
            samples[str(name)] = make_sample(y_true, scores, pos_label=pos_label)
        except InputError as error:
            raise error.but(model=str(name)) from None
    return samples


Round = dict[str, dict[Spec, Floats]]  # values of one round: by model and measure, one for each test set


class _Design(NamedTuple):
    """Where cases and models come from."""

    simulate: Callable[[np.random.Generator, int], tuple[Any, Any]]
    models: Mapping[str, Scorer] | Callable[[np.random.Generator], Mapping[str, Scorer]]
    n_sets: int
    set_size: int

    def round(self, seed: np.random.SeedSequence, specs: Sequence[Spec], may_skip: bool) -> Round:
        """Train, draw, score and judge; the training and the test cases have random numbers of their own."""
        for_training, for_testing = (np.random.default_rng(child) for child in seed.spawn(2))
        models = check_models(self.models(for_training) if callable(self.models) else self.models, "models")
        drawn = self.simulate(for_testing, self.n_sets * self.set_size)
        if not isinstance(drawn, tuple | list) or len(drawn) != 2:
            raise InputError("simulate", f"gives {show(drawn)}", "return the cases and their labels")
        cases, labels = drawn
        values: Round = {}
        for name, scorer in models.items():
            check_function(scorer, f"models[{name!r}]", "one argument", "pass a function of the cases")
            (sample,) = model_samples(labels, {name: scorer(cases)}, None).values()
            if len(sample) != self.n_sets * self.set_size:
                why = f"gave {len(sample)} cases where {self.n_sets * self.set_size} were asked for"
                raise InputError("simulate", why, "return as many cases as its argument says")
            problems = {spec: why_inapplicable(spec.measure, sample) for spec in specs}
            for spec, problem in problems.items():
                if problem and not may_skip:
                    why = f"name {spec}, which cannot be computed: {problem}"
                    raise InputError("measures", why, "leave it out", model=name)
            score = sample.score.astype(np.float64).reshape(self.n_sets, self.set_size)
            readable = [spec for spec, problem in problems.items() if not problem]
            values[name] = judge_sets(sample.positive.reshape(score.shape), score, readable)
        return values


def judge_sets(positive: NDArray[np.bool_], score: Floats, specs: Sequence[Spec]) -> dict[Spec, Floats]:
    """The values of specs on many test sets of one size: a row of ``positive`` and ``score`` is a test set."""

    sets, size = score.shape
    extremes = np.array([score.max(), score.min()])
    values: dict[Spec, Floats] = {}
    for reading in plan_sweeps(specs, size):
        out = np.zeros((sets, reading.request.width))
        thresholds = np.array(reading.request.thresholds, dtype=np.float64)
        ties = {"expected": 0, "best": 1, "worst": -1}[reading.ties]
        compiled.sum_sets(
            score,
            positive,
            ties,
            thresholds,
            kernel_request(reading.request, extremes, size, whole=True, most=size),
            out,
        )
        read = (np.broadcast_to(np.asarray(v, dtype=np.float64), sets) for v in reading.values(out))
        values.update(zip(reading.specs, read, strict=True))
    for spec in specs:
        if spec.measure.part == "ranking":  # read set by set
            by_set = (
                compute([spec], rank(make_sample(y, s))).values[spec] for y, s in zip(positive, score, strict=True)
            )
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
    pairs = (_pairs_won(y, p) - _pairs_won(y, m)) / 2.0
    return Decomposition(score, oracle, oracle - score, switched, pairs)


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

    gained = (_pairs_won(y, second.score) - _pairs_won(y, first.score)) / 2.0
    return SelectorDifferences(correct, gained)


def _pairs_won(y: NDArray[np.float64], score: NDArray[Any]) -> float:
    """Pairs of a positive and a negative that a score orders rightly, less those that it orders wrongly.

    Only such pairs count in the sums over pairs of cases; sorting the negatives finds them without a table of pairs.
    """
    positive = y > 0
    negatives = np.sort(score[~positive])
    below = np.searchsorted(negatives, score[positive], side="left")
    above = len(negatives) - np.searchsorted(negatives, score[positive], side="right")
    return float((below - above).sum(dtype=np.int64))

"""How often does a measure pick the better model? Many small test sets, judged by many measures at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import compute, plan_sweeps, why_inapplicable
from ..catalogue.declare import Spec
from ..errors import InputError, listed, look_up, show
from ..estimate import Estimate
from ..evaluation import choose_specs
from ..inference.proportions import proportion_interval
from ..progress import Progress
from ..quotas import resolve_quota
from ..ranking import rank
from ..sources.arrays import Sample, make_sample
from ..sweep import wanted
from ..table import Table, pluralize
from ..threads import cores
from ..types import Floats, Label, Labels, MeasureLike
from ..validate import check_function, check_models, checked, one_of

Scorer = Callable[[Any], Any]
Wins = Literal["half", "strict"]
WINS = one_of("half", "strict")

_SAME = 1e-12  # values closer than this (relative) are equal: sums of the same terms in another order


@dataclass(frozen=True, eq=False)
class SelectionPower:
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
        found = [k for k, spec in enumerate(self.specs) if isinstance(measure, str) and spec.measure.name == measure]
        if len(found) != 1:
            raise InputError("measure", f"is {show(measure)}, which was not judged", f"choose one of {listed(names)}")
        return found[0]

    def __getitem__(self, measure: str) -> Estimate:
        """The share of test sets on which a measure picks the better model, with its interval."""
        k = self.column(measure)
        share = self.picked[:, k]
        low, high, method = self._interval(share)
        return Estimate(self.measures[k], float(share.mean()), low, high, self.level, method)

    def _interval(self, share: Floats) -> tuple[float, float, str]:
        sets = len(share) * self.n_sets
        if self.retrained and len(share) > 1 and np.ptp(share) > 0:
            half = self._half_width(share)  # the sets of a round share their models: rounds are what is independent
            return max(0.0, float(share.mean() - half)), min(1.0, float(share.mean() + half)), "t over rounds"
        won = int(np.floor(share.mean() * sets + 1e-9))
        low, high = proportion_interval(won, sets, level=self.level, method="clopper_pearson")
        return low, high, "clopper_pearson"

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

    def __repr__(self) -> str:
        return repr(self.table)

    def _repr_html_(self) -> str:
        from ..present.notebook import power_html

        return power_html(self)


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
    train, fixed = (models, None) if callable(models) else (None, dict(models))
    if quota is not None:  # also where no measure has use for it
        resolve_quota(quota, set_size)
    specs = choose_specs(measures, threshold=threshold, quota=quota)
    (best_by,) = choose_specs([goal], threshold=threshold, quota=quota, argument="goal")
    design = _Design(simulate, train, fixed, n_sets, set_size)
    every = list(dict.fromkeys([*specs, best_by])) if better is None else specs
    seeds = np.random.SeedSequence(seed).spawn(n_rounds)
    rounds: list[_Round] = []
    workers = min(n_rounds, cores() if n_jobs is None or n_jobs < 0 else max(1, n_jobs))
    with Progress("selection power", n_rounds, progress) as counter, ThreadPoolExecutor(workers) as pool:
        for one in pool.map(lambda s: design.round(s, every, measures is None), seeds):
            rounds.append(one)
            counter.advance()
    names = rounds[0].models
    if any(one.models != names for one in rounds):
        raise InputError("models", "change from round to round", "give the same names in the same order in every round")
    # Scores that are no probabilities in one round leave the probability measures out of all rounds.
    specs = [spec for spec in specs if all(spec in one.values for one in rounds)]
    if not specs:
        raise InputError("measures", "can none of them read these scores", "name the measures you want")
    chosen = _better_by(best_by, rounds, names) if better is None else better
    if chosen not in names:
        raise InputError("better", f"is {show(chosen)}, which is not a model", f"choose one of {listed(names)}")
    at = names.index(chosen)
    credit = np.array([[_credit(one.values[spec], spec, at) for spec in specs] for one in rounds])
    undecided = np.array([[np.isnan(one.values[spec]).any(axis=0).mean() for spec in specs] for one in rounds])
    means = np.array([[[_mean(row) for row in one.values[spec]] for spec in specs] for one in rounds])
    return SelectionPower(
        models=names,
        better=chosen,
        specs=tuple(specs),
        won=credit[:, :, 0],
        shared=credit[:, :, 1],
        means=means.swapaxes(1, 2),
        undecided=undecided,
        n_sets=n_sets,
        set_size=set_size,
        retrained=train is not None,
        wins=wins,
        level=level,
    )


def _own_rows(
    y_true: Labels, models: Any, pos_label: Label
) -> tuple[Callable[[np.random.Generator, int], tuple[Any, Any]], dict[str, Scorer]]:
    """A population of the rows of one test set: what is drawn are row numbers, and a model looks its scores up."""
    if not isinstance(models, Mapping) or len(models) < 2:
        raise InputError("models", "must map the names of at least two models to their scores", "")
    for name, scores in models.items():
        if callable(scores):
            said = f"maps {name!r} to a function, but the labels given are those of a test set"
            raise InputError("models", said, "pass its scores")
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


@dataclass(frozen=True)
class _Round:
    """The values of one round: for each spec an array models × test sets."""

    models: list[str]
    values: dict[Spec, Floats]


@dataclass(frozen=True)
class _Design:
    """Where cases and models come from."""

    simulate: Callable[[np.random.Generator, int], tuple[Any, Any]]
    train: Callable[[np.random.Generator], Mapping[str, Scorer]] | None
    fixed: Mapping[str, Scorer] | None
    n_sets: int
    set_size: int

    def round(self, seed: np.random.SeedSequence, specs: Sequence[Spec], may_skip: bool) -> _Round:
        """Train, draw, score and judge; the training and the test cases have random numbers of their own."""
        for_training, for_testing = (np.random.default_rng(child) for child in seed.spawn(2))
        models = check_models(self.fixed if self.train is None else self.train(for_training), "models")
        drawn = self.simulate(for_testing, self.n_sets * self.set_size)
        if not isinstance(drawn, tuple | list) or len(drawn) != 2:
            raise InputError("simulate", f"gives {show(drawn)}", "return the cases and their labels")
        cases, labels = drawn
        table: list[dict[Spec, Floats]] = []
        for name, scorer in models.items():
            check_function(scorer, f"models[{name!r}]", "one argument", "pass a function of the cases")
            try:
                sample = make_sample(labels, scorer(cases))
            except InputError as error:
                raise error.but(model=name) from None
            if len(sample) != self.n_sets * self.set_size:
                said = f"gave {len(sample)} cases where {self.n_sets * self.set_size} were asked for"
                raise InputError("simulate", said, "return as many cases as its argument says")
            readable = [s for s in specs if _readable(s, sample, may_skip, name)]
            score = sample.score.astype(np.float64).reshape(self.n_sets, self.set_size)
            table.append(judge_sets(sample.positive.reshape(score.shape), score, readable))
        common = [spec for spec in specs if all(spec in row for row in table)]
        return _Round(list(models), {spec: np.array([row[spec] for row in table]) for spec in common})


def judge_sets(positive: NDArray[np.bool_], score: Floats, specs: Sequence[Spec]) -> dict[Spec, Floats]:
    """The values of specs on many test sets of one size: a row of ``positive`` and ``score`` is a test set."""
    from ..kernels.replicates import sum_sets

    sets, size = score.shape
    extremes = np.array([score.max(), score.min()])
    values: dict[Spec, Floats] = {}
    for reading in plan_sweeps(specs, size):
        out = np.zeros((sets, reading.request.width))
        thresholds = np.array(reading.request.thresholds, dtype=np.float64)
        ties = {"expected": 0, "best": 1, "worst": -1}[reading.ties]
        sum_sets(score, positive, ties, thresholds, wanted(reading.request, extremes, size, whole=True, most=size), out)
        read = (np.broadcast_to(np.asarray(v, dtype=np.float64), sets) for v in reading.values(out))
        values.update(zip(reading.specs, read, strict=True))
    for spec in specs:
        if spec.measure.part == "ranking":  # read set by set
            found = (
                compute([spec], rank(make_sample(y, s))).values[spec] for y, s in zip(positive, score, strict=True)
            )
            values[spec] = np.fromiter(found, np.float64, sets)
    return values


def _readable(spec: Spec, sample: Any, may_skip: bool, model: str) -> bool:
    problem = why_inapplicable(spec.measure, sample)
    if problem and not may_skip:
        raise InputError("measures", f"name {spec}, which cannot be computed: {problem}", "leave it out", model=model)
    return not problem


def _better_by(goal: Spec, rounds: Sequence[_Round], names: Sequence[str]) -> str:
    if any(goal not in one.values for one in rounds):
        raise InputError("goal", f"is {goal}, which cannot read these scores", "name the better model with {better}")
    worth = np.mean([[_mean(row) for row in one.values[goal]] for one in rounds], axis=0)
    if np.isnan(worth).any():
        raise InputError("goal", f"is {goal}, which has no value here", "name the better model with {better}")
    return names[int(np.argmax(worth if goal.measure.better == "higher" else -worth))]


def _mean(values: Floats) -> float:
    """Mean of the defined values; nan where there is none."""
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else float("nan")


def _credit(values: Floats, spec: Spec, at: int) -> tuple[float, float]:
    """The shares of test sets that model ``at`` wins alone, and its part of those it wins with others."""
    worth = values if spec.measure.better == "higher" else -values
    worth = np.where(np.isnan(worth).any(axis=0), 0.0, worth)
    best = worth.max(axis=0)
    with np.errstate(invalid="ignore"):  # inf − inf where both are infinite: those are equal
        near = (worth == best) | (best - worth <= _SAME * np.abs(best))
    tied = near.sum(axis=0)
    credit = np.where(near[at], 1.0 / tied, 0.0)
    return float(credit[tied == 1].sum()) / len(credit), float(credit[tied > 1].sum()) / len(credit)

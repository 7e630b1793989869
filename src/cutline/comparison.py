"""Several models -> Comparison: paired differences, who leads where, and which to use for what."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .catalogue.declare import Spec
from .decide import model_choice
from .decide.error_costs import Cheapest, ErrorPrices, cheapest
from .decide.model_choice import GOALS, Consistency, Recommendation, SwapSet
from .errors import InputError, show
from .estimate import Interval, Settings
from .evaluation import Evaluation, evaluate_sample, notices_of
from .inference import bands
from .inference import paired as tests
from .inference.batch_rows import BatchRows, single_batch, whole_list
from .inference.evidence import EVERY_PLACE, GRID
from .quotas import Quotas
from .sources.arrays import Sample, make_sample
from .table import DictResult, HasReport, HasSegments, Table, values_of
from .types import Floats
from .validate import checked, one_of
from .verdict import Models

if TYPE_CHECKING:
    from .segments import SegmentComparison


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(HasReport, HasSegments["SegmentComparison"], DictResult, Models[Evaluation]):
    """Several models on the same cases (or each on its own cases, with ``paired=False``).

    ``replicates[model][measure]`` are the bootstrap replicates of measures whose intervals need them, or of all if the
    interval is a bootstrap method; models on the same cases share the resampled rows.
    """

    words: ClassVar[str] = "words.comparison_sections"

    evaluations: Mapping[str, Evaluation]
    specs: Mapping[str, Spec]
    settings: Settings
    quota: int | float | None
    threshold: float | None
    margin: float | None
    pairs: tests.RowPairs | tests.StreamedPairs = field(repr=False)
    replicates: Mapping[str, Mapping[str, Floats]] = field(default_factory=dict, repr=False)
    by_segment: SegmentComparison | None = field(default=None, repr=False)  # where ``by`` was given

    @property
    def paired(self) -> bool:
        """Whether the models were compared on the same cases."""
        return self.pairs.paired

    @property
    def prevalence(self) -> float | None:
        """The share of positives that this comparison is for; None if it is the sample's own."""
        return self.first.prevalence

    @property
    def quotas(self) -> Quotas | None:
        """The quotas that measures were averaged over, if the quota is not known; otherwise None."""
        return self.first.quotas

    @property
    def notices(self) -> list[str]:
        """What looks wrong with the scores of these models, each in one sentence with what to try."""
        return notices_of(list(self.evaluations.values()))

    @property
    def cases(self) -> float:
        """The number of rows of each model; the smallest, if models have their own rows."""
        return float(min(ev.ranking.rows for ev in self.evaluations.values()))

    @checked(by=one_of("quota", "fpr"))
    def dominance(self, by: str = "quota") -> Table:
        """The clear leader by quota (or false positive rate); elsewhere "no clear leader".

        A lead is clear if it is so at all places and over all models at once: at most 1 − level of comparisons of equal
        models show any. To test it, rows (or clusters) change sides at random; streamed tables are tested with their
        replicates, at the ends of blocks.
        """
        self._need_common_rows("dominance by quota" if by == "quota" else "dominance", one_list=by == "quota")
        s, rankings = self.settings, {name: ev.ranking for name, ev in self.evaluations.items()}
        if isinstance(self.pairs, tests.RowPairs):
            rows = [self.pairs.rows[name] for name in self.evaluations]
            ranking = rows[0].ranking
            first, whole = (1, int(ranking.cases)) if by == "quota" else (0, int(ranking.n_neg))
            most = max(ranking.rows, EVERY_PLACE)  # rows that stand for very many cases are read at some of them
            places = np.linspace(first, whole, min(whole - first + 1, most)).round()
            some = np.linspace(0, len(places) - 1, min(GRID, len(places))).round().astype(np.int64)
            grid = places[np.unique(some)]
            hits, influence = np.array([bands.hits_by(model.ranking, by, grid) for model in rows]), []
            for model in rows:
                if model.clusters is None and isinstance(model, BatchRows) and model.grouped is not None:
                    raise single_batch()  # rows that stand for others are not those of the other models
                unit = bands.units_of(len(model.sample), model.clusters, s.seed)
                how: dict[str, Any] = {"by_class": model.classes_given}
                influence.append(bands.curve_influence(model.sample, model.ranking, by, grid, *unit, **how))
            # at a false positive rate: where influences are valid, with five negatives on either side of the cut; the
            # positives found before the very first negatives vary more than the rows taken can show
            few = bands.FEW_NEGATIVES if by == "fpr" else 0.0
            judged = (grid >= few) & (grid <= places[-1] - few)
            clear = bands.clear_places(hits, influence, s.level, judged, s.seed) if len(rows) > 1 else {}
            return model_choice.leads(rankings, by, places, grid, clear, "sign flips, all places at once")
        of_each, grids, replicated = zip(*(ev.rows.lead(by, s) for ev in self.evaluations.values()), strict=True)
        places, grid, drawn = np.unique(np.concatenate(of_each)), grids[0], np.array(replicated)
        hits = np.array([bands.hits_by(ranking, by, grid) for ranking in rankings.values()])
        if np.isnan(drawn).any():
            none = {pair: np.zeros(len(grid), np.bool_) for pair in combinations(range(len(hits)), 2)}
            return model_choice.leads(rankings, by, places, grid, none, "not judged: no replicates")
        clear = bands.clear_places(hits, drawn, s.level)
        return model_choice.leads(rankings, by, places, grid, clear, "replicates, all places at once")

    def hull(self) -> Table:
        """The ROC convex hull of all models: which one at which operating range."""
        for ev in self.evaluations.values():
            if 0 in (ev.ranking.n_pos, ev.ranking.n_neg):
                raise InputError(None, "the ROC convex hull needs both classes")
        return model_choice.family_hull({name: ev.ranking for name, ev in self.evaluations.items()})

    def with_measures(self, *measures: str) -> Comparison:
        """The same models by other measures; an error if tables were streamed, because their rows were not kept."""
        drawn: dict[str, dict[str, Floats]] = {name: {} for name in self.evaluations}
        models = self.evaluations.items()
        evaluations = {name: ev.with_measures(*measures, replicates_out=drawn[name]) for name, ev in models}
        specs = next(iter(evaluations.values())).specs
        pairs = tests.RowPairs.of(evaluations, paired=self.paired)
        return replace(self, evaluations=evaluations, specs=specs, pairs=pairs, replicates=drawn)

    @checked
    def recommend(self, goal: str = "unknown quota") -> Recommendation:
        """Recommend a model for a goal: known quota, quota between … and …, unknown quota, no missed positives, …

        Measures that were not compared yet are added. ``fewest errors`` uses the threshold in use.
        """
        return model_choice.recommend(self, goal, compare_more=True)

    @cached_property
    def recommendations(self) -> Mapping[str, Recommendation]:
        """The recommendation for every goal that this comparison supports."""
        supported = {}
        for goal in GOALS:
            with suppress(InputError):
                supported[goal] = model_choice.recommend(self, goal)
        return MappingProxyType(supported)

    @checked
    def cheapest(self, *, cost_fp: float, cost_fn: float, prevalence: float | None = None) -> Cheapest:
        """The model and cut with the lowest expected cost per case, with an interval and the cost ratios for which they
        stay the cheapest.

        ``prevalence`` is the share of positives where the scores will be used, if the sample's differs.
        """
        models = self.evaluations.items()
        samples, rankings = {name: ev.sample for name, ev in models}, {name: ev.ranking for name, ev in models}
        clusters = {name: ev._clusters for name, ev in models if ev._clusters is not None} or None
        prices = ErrorPrices.checked(cost_fp, cost_fn, prevalence)
        how = values_of(self.settings, "level", "n_resamples", "seed", "progress")
        return cheapest(samples, rankings, prices, clusters=clusters, paired=self.paired, **how)

    @checked
    def swaps(self, old: str, new: str, *, quota: int | float | None = None) -> SwapSet:
        """Which cases enter and leave the list when ``new`` replaces ``old``, and the difference in hits."""
        self._need_common_rows("a swap set", one_list=True)
        first, second = self._of_models(old, new)
        places = self.quota if quota is None else quota
        if places is None:
            raise InputError("quota", "is missing", "give {quota}")
        if self.prevalence is not None:
            raise InputError("prevalence", "cannot be used here, because a swap set counts rows", "leave it out")
        if first._clusters is not None:
            raise InputError("clusters", "cannot be used here, because a swap set counts rows", "leave it out")
        made = model_choice.swaps(first.sample, second.sample, places, names=(old, new), level=self.settings.level)
        key = f"hit_rate@{made.quota}"
        gap = (self if key in first else self.with_measures(key)).difference(new, old, key)  # one number, one interval
        ends = {end: getattr(gap, end) * made.quota for end in ("low", "high")}
        difference = replace(made.difference, **ends, method=gap.method) if gap.low == gap.low else made.difference
        return replace(made, difference=difference, in_buckets=first._in_buckets or second._in_buckets)

    @checked
    def consistency(self, a: str, b: str) -> Consistency:
        """May a ranking decide which of two models makes fewer errors? Counts and a test of Rosset's condition.

        Linear Ranking (n⁺n⁻·AUC plus a constant) sees every pair of cases, so it separates models with fewer cases than
        the error rate does. That helps only if the better order also gives better decisions at the threshold in use.
        """
        what = "the test of ranking against decisions"
        self._need_common_rows(what, one_list=True)
        first, second = self._of_models(a, b)
        for name, given in (("prevalence", self.prevalence), ("sample_weight", first.sample.weight)):
            if given is not None:
                raise InputError(name, f"cannot be used here, because {what} counts pairs of rows", "leave it out")
        if self.threshold is None:
            raise InputError("threshold", "is missing", "give {threshold}")
        measures = ("linear_ranking", "error_rate")
        tested = self if all(name in first for name in measures) else self.with_measures(*measures)
        pair = [tested.difference(a, b, name) for name in measures]
        if any(difference.verdict == "not tested" for difference in pair):
            raise InputError(None, f"{what} needs differences with intervals", "pass both classes, and an interval")
        samples, seed = (first.sample, second.sample), self.settings.seed
        made = model_choice.consistency(*samples, self.threshold, pair[0], pair[1], first._clusters, seed)
        return replace(made, in_buckets=first._in_buckets or second._in_buckets)

    def _need_common_rows(self, what: str, *, one_list: bool = False) -> None:
        if not self.paired:
            problem = f"{what} needs models on the same rows, and these were compared with {{paired=False}}"
            raise InputError(None, problem)
        if one_list and any(ev.rows.batched for ev in self.evaluations.values()):
            raise whole_list(what)

    def _test(self, a: str, b: str, key: str) -> tests.DifferenceTest:
        """The difference of two models by one measure, tested as the measure declares."""
        first, second = self.evaluations[a], self.evaluations[b]
        estimates, rankings = (first.estimates[key], second.estimates[key]), (first.ranking, second.ranking)
        drawn = self.replicates[a].get(key), self.replicates[b].get(key)
        pair = tests.Pair(a, b, self.specs[key], estimates, rankings, drawn, self.settings)
        known = pair.difference == pair.difference and self.settings.interval is not None
        tested = self.pairs.test(pair) if known else tests.DifferenceTest()
        if all(e.certain is None for e in estimates):
            return tested
        bounds = self.bounds(a, b, key)  # scores came in buckets: the interval also has what they leave open
        low, high = tested.low + bounds.low - pair.difference, tested.high + bounds.high - pair.difference
        return tested._replace(low=low, high=high)

    def bounds(self, a: str, b: str, measure: str) -> Interval:
        """Between which ends the difference of two models (a − b) lies for certain, if scores came in buckets."""
        one, two = (ev[measure].bounds for ev in self._of_models(a, b))
        return Interval(one.low - two.high, one.high - two.low)

    def to_dict(self) -> dict[str, Any]:
        """Settings, each model's measures and what it gives at the quota, and the differences."""
        models = [ev.to_dict() for ev in self.evaluations.values()]
        if self.quota is not None:
            points = (ev.at(quota=self.quota).to_dict() for ev in self.evaluations.values())
            models = [{**model, "operating_point": point} for model, point in zip(models, points, strict=True)]
        return {
            **self.settings.to_dict(),
            **({} if self.prevalence is None else {"prevalence": self.prevalence}),
            "quota": self.quota if self.quotas is None else str(self.quotas),
            "threshold": self.threshold,
            "paired": self.paired,
            "margin": self.margin,
            "notices": self.notices,
            "models": models,
            "differences": self.differences.to_dicts(),
            "recommendations": [said.to_dict() for said in self.recommendations.values()],
            **self._of_segments,
        }


def compare_samples(
    samples: Mapping[str, Sample],
    *,
    settings: Settings,
    paired: bool = True,
    margin: float | None = None,
    batch: Any = None,
    **how: Any,
) -> Comparison:
    """Compare models on checked samples; ``how``: as for :func:`evaluate_sample`."""
    drawn: dict[str, dict[str, Floats]] = {str(name): {} for name in samples}
    evaluations = {
        str(name): evaluate_sample(
            sample,
            name=str(name),
            # models on rows of their own must not share their luck
            settings=settings if paired else replace(settings, seed=settings.seed + 1_000_003 * k),
            batch=batch[name] if isinstance(batch, Mapping) and not paired else batch,
            replicates_out=drawn[str(name)],
            **how,
        )
        for k, (name, sample) in enumerate(samples.items())
    }
    first = next(iter(evaluations.values()))
    specs = dict(first.specs)
    settings = replace(settings, interval=first.settings.interval)
    models = evaluations, specs, settings, first.quota, common_threshold(evaluations), margin
    return Comparison(*models, tests.RowPairs.of(evaluations, paired=paired), drawn)


def common_threshold(evaluations: Mapping[str, Evaluation]) -> float | None:
    """The threshold of all models; None where one of them has none."""
    thresholds = {ev.threshold for ev in evaluations.values()}
    return thresholds.pop() if len(thresholds) == 1 else None


def samples_of(
    y_true: Any, scores: Mapping[str, Any], labelled: dict[str, Any], clusters: Any, paired: bool
) -> dict[str, Sample]:
    """A checked sample for each model; ``labelled`` are the options of ``make_sample`` that all share."""
    samples = {}
    for name, column in scores.items():
        if paired and isinstance(y_true, Mapping):
            raise InputError("y_true", "is a mapping: each model has its own rows", "pass {paired=False}")
        if not paired and (not isinstance(y_true, Mapping) or name not in y_true):
            said = f"contains no labels for the model {show(name)}, and {{paired=False}} needs them for each"
            raise InputError("y_true", said, "pass a mapping from model to labels")
        label = y_true if paired else y_true[name]
        own = clusters if paired or clusters is None else clusters[name]
        try:
            samples[name] = make_sample(label, column, clusters=own, **labelled)
        except InputError as error:
            raise error.but(model=name) from None
    return samples

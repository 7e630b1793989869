"""One model -> Evaluation: every measure with its interval, cuts, curves and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .catalogue.compute import DEFAULT_THRESHOLD, default_threshold, why_inapplicable, with_defaults
from .catalogue.declare import REQUIRED, Measure, Spec, make_spec, parse_measure
from .catalogue.declare import measures as all_measures
from .catalogue.value import best_possible
from .curves import Curve, curve, hull_points
from .decide.operating import OperatingPoint, operating_point
from .errors import PYTHON, InputError, Terms, show, verbatim
from .estimate import BY_REPLICATES, Estimate, Settings
from .inference.batch_rows import BatchRows, places_in, quotas_in_batches, whole_list
from .inference.evidence import AtPrevalence, Evidence, RowEvidence, at_prevalence, moves, small_size_note
from .inference.intervals import Estimates, check_method_exists
from .quotas import Quotas, quota_sizes, resolve_quota, why_no_cut
from .ranking import Ranking, rank
from .sources.arrays import Sample, Worth, renumber
from .table import ByMeasure, DictResult, HasReport, HasSegments, PicklesFields, Table, in_sentence, values_of
from .types import Labels, MeasureLike
from .validate import checked

if TYPE_CHECKING:
    from .decide.batch_rules import BatchRules
    from .decide.calibration import Calibration
    from .decide.error_costs import DecisionCurve
    from .segments import Segments

_SURPRISING = 6.0  # standard deviations
_MANY = 20  # cases of each class from which a ranking without any error is suspicious
_NO_THRESHOLD = "the scores are not probabilities, so there is no default threshold: give one"


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(HasReport, HasSegments["Segments"], DictResult, ByMeasure):
    """The evaluation of one model. ``ev["pem"]`` is an Estimate; ``ev.at(quota=20)`` a cut of the list.

    A measure and its interval are computed when they are first read, those that are read together in one pass.
    """

    words: ClassVar[str] = "words.evaluation_sections"
    name: str
    rows: Evidence
    specs: Mapping[str, Spec]
    estimates: Mapping[str, Estimate]
    settings: Settings
    threshold: float | None
    quota: int | float | None  # of batches a share stays a share, because each has its own number of cases
    dropped: int | None = None
    quotas: Quotas | None = None  # an unknown quota, over which quota measures are averaged
    understood: str = ""
    positive_name: str = ""  # the positive label, where that is a word
    at_prevalence: AtPrevalence | None = None  # where the share of positives was given
    by_segment: Segments | None = field(default=None, repr=False)  # where ``by`` was given
    quota_share: float | None = None  # where a share was given, of which the quota is the number of cases
    cut_by: str = "score"  # in what order measures of worth take the cases

    @property
    def ranking(self) -> Ranking:
        """The list, best first, one row for each distinct score; compact if the table was streamed."""
        return self.rows.ranking

    @property
    def sample(self) -> Sample:
        """Labels and scores, row by row; raises an error if a table was streamed, because its rows were not kept."""
        return self.rows.sample

    @property
    def _outline(self) -> Sample:
        """The rows, or of counts the extremes of their scores."""
        return self.rows.outline if isinstance(self.rows, RowEvidence) and self.rows.keeps_rows else self.sample

    def __getitem__(self, name: str) -> Estimate:
        """By measure string or plain name; a plain name finds the measure at the evaluation's threshold or quota."""
        return self.estimates[self._key(name)]

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and bool(self._key(name))
        except InputError:
            return False

    def _key(self, name: str) -> str:
        """The measure string under which a measure stands here."""
        if isinstance(name, str) and name in self.specs:
            return name
        spec = with_defaults(parse_measure(name), threshold=self.threshold, quota=self.asked_quota)
        if str(spec) in self.specs:
            return str(spec)
        for key, other in self.specs.items():
            both = spec.quota is not None and other.quota is not None and not self.rows.batched
            if both and replace(other, quota=spec.quota) == spec:
                # the same cut of the list by another name: 10% of 2,000 cases are 200
                one, two = (quota_sizes(each.quota, self.rows.ranking.cases) for each in (other, spec))
                if one[0] == two[0] and one[1].tolist() == two[1].tolist():
                    return key
        raise InputError("measure", f"{show(name)} was not evaluated", f"evaluate with {{measures=[…, {show(name)}]}}")

    @property
    def asked_quota(self) -> int | float | Quotas | None:
        """The quota as it was given, known or not: a share of another list means another number of places there."""
        known = self.quota if self.quota_share is None else self.quota_share
        return known if self.quotas is None else self.quotas

    def with_measures(self, *measures: str, replicates_out: dict[str, Any] | None = None) -> Evaluation:
        """The same rows by other measures; an error if a table was streamed, because its rows were not kept.

        ``replicates_out`` takes the replicates of every measure, for a comparison.
        """
        sample, quota = self._outline, self.asked_quota
        specs = choose_specs(measures, threshold=self.threshold, quota=quota)
        obstacles = {spec: obstacle_of(spec, sample, self.threshold, False) for spec in specs}
        rows = self.rows if self.at_prevalence is None else self.at_prevalence.sampled
        how = values_of(self, "name", "threshold", "prevalence", "dropped")
        return evaluation_of(rows, specs, obstacles, self.settings, quota=quota, replicates_out=replicates_out, **how)

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """Rows, positives, how much is tied; for a table also how many rows were dropped because a value was missing,
        and what was detected about it if not obvious.
        """
        own: dict[str, Any] = {} if self.dropped is None else {"dropped": self.dropped}
        own |= {"understood": self.understood} if self.understood else {}
        return MappingProxyType({**self.rows.facts, **own})

    @property
    def prevalence(self) -> float | None:
        """The share of positives that this evaluation is for; None if it is the sample's own."""
        return None if self.at_prevalence is None else self.at_prevalence.prevalence

    @property
    def moved(self) -> list[str]:
        """The measures that depend on the share of positives, if one was given; the others keep the sample's values."""
        found = self.at_prevalence
        return [] if found is None else [key for key in self.specs if key in found.moved]

    @property
    def notices(self) -> list[str]:
        """What looks wrong with these scores, each in one sentence with what to try."""
        return notices_of([self])

    @checked
    def at(
        self,
        *,
        quota: int | float | None = None,
        threshold: float | None = None,
        recall: float | None = None,
        precision: float | None = None,
        fpr: float | None = None,
        specificity: float | None = None,
        list_size: int | None = None,
    ) -> OperatingPoint:
        """The cut at a quota or threshold, or the best one that keeps a recall, precision, specificity or fpr.

        With batches, the quota applies to each batch, and a threshold or goal gives one threshold for all of them; the
        point then also has ``batches``, and ``next_hits`` are those of the next batch. ``list_size``: the cases of the
        next list, shorter or longer than this one. The point (a :class:`ListSizePoint`) then has the hits to expect
        there at the quota; a share is one of that list.
        """
        cuts: dict[str, Any] = {"quota": quota, "threshold": threshold, "recall": recall, "precision": precision}
        cuts |= {"fpr": fpr, "specificity": specificity}
        by_quota = [name for name, value in cuts.items() if value is not None] == ["quota"]
        if list_size is not None:
            from .decide.list_size import list_size_point

            if not by_quota:
                raise InputError("list_size", "is for a quota alone", "give {quota}, and no other cut")
            how: Any = quota, list_size, self.settings.level
            return list_size_point(self.rows, *how)
        if isinstance(self.rows, BatchRows):
            from .decide.batch_rules import batch_point

            if not by_quota:
                threshold = operating_point(self.ranking, **cuts).threshold
            return batch_point(self.rows, quota=quota, threshold=threshold, level=self.settings.level)
        places = None if quota is None else resolve_quota(quota, self.ranking.cases)
        rows = self.rows.at_cut(places, threshold)
        point = operating_point(rows.ranking, **cuts, level=self.settings.level, cut_of=rows.cut)
        settled: OperatingPoint = rows.settle(point, places)
        return settled

    @checked
    def best_value(self, *, quota: int | float) -> float:
        """The value that the best of all lists would capture with as many places, if ``worth`` was given."""
        if self.sample.worth is None:
            raise InputError("worth", "of each case is not known", "pass the rows and their {worth} to evaluate()")
        if self.rows.batched:
            raise whole_list("the best possible value")
        return best_possible(self.sample, resolve_quota(quota, self.ranking.cases))

    @property
    def batches(self) -> EvaluatedBatches:
        """Rules for the places of batches, and the order within them, if ``batch`` was given."""
        if not isinstance(self.rows, BatchRows):
            raise InputError("batch", "is missing, so there are no batches", "pass {batch} to evaluate()")
        return EvaluatedBatches(self.rows, self.settings, self.quota)

    def calibration(self) -> Calibration:
        """Check calibration: a curve with bands, the parts of the Brier score and the log loss, and a test."""
        from .decide.calibration import SCORES, calibrate

        how = values_of(self.settings, "level", "n_resamples", "seed")
        scores = [] if self.prevalence is not None else list(self.with_measures(*SCORES).estimates.values())
        made = calibrate(self._outline, self.ranking, name=self.name, clusters=self._clusters, scores=scores, **how)
        return replace(made, in_buckets=self._in_buckets)

    @checked
    def decision_curve(self, x: ArrayLike | None = None, *, prevalence: float | None = None) -> DecisionCurve:
        """Net benefit and expected cost by threshold probability (``x``), with a band for each point separately."""
        from .decide.error_costs import decision_curve

        how: dict[str, Any] = {"x": x, "prevalence": prevalence, "clusters": self._clusters}
        return decision_curve(self.sample, name=self.name, level=self.settings.level, **how)

    @property
    def _in_buckets(self) -> bool:
        """Whether scores came in buckets, so that a case counts at the middle of its own."""
        return getattr(self.rows, "buckets", None) is not None

    @property
    def _clusters(self) -> Any:
        """The cluster of each row as a number, None where rows were drawn one by one."""
        return getattr(self.rows, "clusters", None)

    def curve(self, name: str) -> Curve:
        """A curve: roc, precision_recall, gain, lift, hit_rate, qrecall or tpr_fpr; ``.band()`` for its uncertainty."""
        if self.rows.batched and name in ("gain", "lift", "hit_rate", "qrecall"):
            raise whole_list(f"the curve {show(name)}")
        return curve(name, self.ranking, self.rows.band(name, self.settings))

    def hull(self) -> Table:
        """Vertices of the ROC convex hull: false and true positive rate, and the threshold to use there."""
        return Table(dict(zip(("fpr", "tpr", "threshold"), hull_points(self.ranking), strict=True)), "ROC convex hull")

    @checked
    def lift_table(self, portions: int = 10) -> Table:
        """Lift by portions of the ranked list."""
        from .decide.selection import lift_rows

        return lift_rows(self.ranking, portions)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each measure."""
        rows, known = super().to_dicts(), self.at_prevalence
        return rows if known is None else [{**r, "moved_by_prevalence": r["measure"] in known.moved} for r in rows]

    def to_dict(self) -> dict[str, Any]:
        """Name, settings, facts about the data, and the measures."""
        return {
            "name": self.name,
            "threshold": self.threshold,
            "quota": self.quota if self.quotas is None else str(self.quotas),
            **self.settings.to_dict(),
            **({} if self.prevalence is None else {"prevalence": self.prevalence}),
            "data": dict(self.facts),
            "notices": self.notices,
            "measures": self.to_dicts(),
            **self._of_segments,
        }


def evaluate_part(
    ev: Evaluation,
    numbers: NDArray[np.intp],
    *,
    name: str = "",
    specs: Sequence[Spec] = (),
    counted: RowEvidence | None = None,
    replicates_out: dict[str, Any] | None = None,
) -> Evaluation:
    """The same evaluation of some of the rows, as if they were alone; ``counted``: what is known of their counts.

    It has no intervals where there is a single cluster or batch, which cannot be resampled.
    """
    rows, paired = counted, replicates_out is not None
    if rows is None or ev.rows.batched:
        part, cluster = ev.sample.part(numbers), ev.sample.cluster
        cluster = None if cluster is None else renumber(cluster[numbers])
        if isinstance(ev.rows, BatchRows):
            part, batches = replace(part, cluster=cluster), ev.rows.batches.only(numbers)
            rows = BatchRows.of_batches(part, batches, paired=paired)
            rows = rows if counted is None else replace(rows, buckets=counted.buckets)
        else:
            rows = RowEvidence(part, rank(part), cluster, paired=paired)
    single = rows.clusters is not None and not rows.clusters.any()
    single = rows.n_units < 2 if isinstance(rows, BatchRows) else single
    obstacles: dict[Spec, str] = {}
    for key, e in ev.estimates.items():
        spec = ev.specs[key]
        no_cut = "" if spec.quota is None else _why_no_cut(spec.quota, rows)
        obstacles[spec] = e.reason if e.value != e.value else no_cut
    settings = replace(ev.settings, interval=None) if single else ev.settings
    quota, specs = ev.asked_quota, list(specs or ev.specs.values())
    quota = None if quota is not None and _why_no_cut(quota, rows) else quota
    how: dict[str, Any] = {"name": name, "threshold": ev.threshold, "replicates_out": replicates_out}
    return evaluation_of(rows, specs, obstacles, settings, quota=quota, **how)


@dataclass(frozen=True, eq=False)
class EvaluatedBatches(PicklesFields):
    """The batches of an evaluation: :meth:`rules` for their places, and how well each list is ordered."""

    batch_rows: BatchRows = field(repr=False)
    settings: Settings
    quota: int | float | None

    @property
    def names(self) -> list[str]:
        """The batches, in order."""
        return list(self.batch_rows.batches.names)

    def __len__(self) -> int:
        return len(self.batch_rows.batches)

    @checked
    def rules(self, *, quota: int | float | None = None, threshold: float | None = None) -> BatchRules:
        """Compare the best ``quota`` of each batch with one threshold for all batches: hits, places used, overflow.

        The default ``threshold`` is the one that takes the same number of cases in total. Both rules have the places
        of the quota: cases above the threshold beyond them are lost. What the threshold would find without that limit
        is told beside the comparison. Batches come in the order that segments have: numbers, dates and months in
        theirs, other names by name.
        """
        from .decide.batch_rules import batch_rules

        places = self.quota if quota is None else quota
        if places is None:
            raise InputError("quota", "is missing", "pass it here or to evaluate()")
        return batch_rules(self.batch_rows, places, threshold, self.settings)


def notices_of(evaluations: Sequence[Evaluation], terms: Terms = PYTHON) -> list[str]:
    """What looks wrong with the scores of some models, in the terms of a front end."""
    sentences: list[str] = []
    cutless = [ev for ev in evaluations if any(_lacks_threshold(spec, ev.threshold) for spec in ev.specs.values())]
    ends = {ev.name: tuple(map(in_sentence, ev.ranking.score[[-1, 0]].astype(float).tolist())) for ev in evaluations}
    for ev in evaluations:
        auc = ev.estimates.get("roc_auc")
        if auc is not None and auc.high < 0.5:
            sentences.append(
                f"{verbatim(ev.name)} ranks significantly worse than chance (AUC {auc.value:.3f}, "
                f"{auc.level:.0%} interval {auc.low:.3f} to {auc.high:.3f}): are these scores of the other class? Try "
                "the other label as the positive one ({pos_label}), or change the sign of the scores "
                + ("({negate})." if getattr(ev.rows, "buckets", None) is None else "in the query that counts them.")
            )
        elif auc is not None and auc.value == 1.0 and min(ev.ranking.n_pos, ev.ranking.n_neg) >= _MANY:
            sentences.append(
                f"{verbatim(ev.name)} separates the classes without an error (AUC 1): was it derived from the label, "
                "or fitted on these rows?"
            )
    if cutless:
        ranges = ", ".join(f"{verbatim(ev.name)} {' to '.join(ends[ev.name])}" for ev in cutless)
        sentences.append(
            f"Not probabilities ({ranges}), so there is no default threshold: recall, precision and other measures "
            "that need one have no value. Set one with {threshold}"
            + ("." if cutless[0].asked_quota is not None else ", or a number of places with {quota}.")
        )
    for ev in evaluations:
        at, scores = ev.threshold, ev.ranking.score
        usual = at is None or (at == DEFAULT_THRESHOLD and ev.rows.outline.are_probabilities)
        if at is not None and not usual and not scores[-1] <= at <= scores[0]:
            taken = "nobody" if at > scores[0] else "everybody"
            ranges = f"{verbatim(ev.name)} ({' to '.join(ends[ev.name])})"
            sentences.append(f"The threshold {in_sentence(at)} lies beyond all scores of {ranges}: it takes {taken}.")
    for ev in evaluations:
        if isinstance(ev.rows, BatchRows):
            if ev.rows.n_units < 2:
                single = "batch" if len(ev.rows.batches) < 2 else "cluster of batches"
                sentences.append(
                    f"There is a single {single}, so the variation between batches is unknown and there are no "
                    "intervals. Without {batch} the rows are taken as the sample."
                )
            sentences.append("" if ev.quota is None else getattr(ev.at(quota=ev.quota), "note", ""))
        if isinstance(ev.rows, RowEvidence) and ev.rows.buckets is not None:
            of = f"{ev.name}: " if len(evaluations) > 1 else ""
            sentences += (verbatim(of + sentence) for sentence in ev.rows.buckets.words(ev.specs, ev.estimates))
            if ev.rows.batched or ev.by_segment is not None:
                parts = "one threshold for all batches" if ev.rows.batched else "the segments' places on one list"
                sentences.append(f"Cases of {parts} are counted at the middle of their bucket, and so approximately.")
        if getattr(ev.rows, "surprise", 0.0) > _SURPRISING:
            expected = f"{ev.facts['labels_expected']:,.0f} labels on average, but {ev.facts['labelled']:,} are there"
            sentences.append(f"The probabilities of being labelled give {expected}: are they those of these rows?")
    for ev in evaluations:  # that the weights leave few cases, where something rests on them
        known = isinstance(ev.rows, RowEvidence) and ev.rows.keeps_rows and ev.settings.interval is not None
        if known and ev.ranking.weighted and ev.sample.weight is not None:
            sentences.append(small_size_note(ev.sample.positive, ev.sample.weight))
    return [terms.fill(sentence) for sentence in dict.fromkeys(filter(None, sentences))]


def choose_specs(
    measures: Sequence[MeasureLike] | None,
    *,
    threshold: float | None,
    quota: int | float | Quotas | None,
    argument: str = "measure",
    worth: Worth | None = None,
) -> list[Spec]:
    """The requested specs; by default, all that the options allow. ``argument`` is the one that names them.

    ``worth``: what rows are worth, which adds the measures of worth to those by default.
    """
    if measures is not None:
        try:
            specs = [with_defaults(parse_measure(m), threshold=threshold, quota=quota) for m in measures]
        except InputError as error:
            raise error.but(argument=argument) if error.argument == "measure" else error from None
        return list(dict.fromkeys(specs))
    specs = list(_every_spec(tuple(all_measures()), threshold, quota))
    if worth is not None:
        specs += [with_defaults(make_spec(m, {}), threshold=threshold, quota=quota) for m in all_measures("value")]
    return specs


@lru_cache(maxsize=16)
def _every_spec(catalogue: tuple[Measure, ...], threshold: float | None, quota: int | float | None) -> tuple[Spec, ...]:
    return tuple(
        with_defaults(make_spec(m, {}), threshold=threshold, quota=quota)
        for m in catalogue
        # a measure that reads the list place by place is drawn in Python: only where it is named
        if m.of_one_score
        and REQUIRED not in m.params.values()
        and not (m.needs_quota and quota is None)
        and m.part != "ranking"
    )


def evaluate_sample(
    sample: Sample,
    *,
    name: str,
    threshold: float | None,
    quota: int | float | Quotas | None,
    measures: Sequence[MeasureLike] | None,
    settings: Settings,
    prevalence: float | None = None,
    batch: Labels | None = None,
    replicates_out: dict[str, Any] | None = None,
    facts: Mapping[str, Any] = MappingProxyType({}),
    counted: RowEvidence | None = None,
) -> Evaluation:
    """Evaluate a checked sample; ``replicates_out`` takes the replicates of every measure, for a comparison.

    ``facts``: what is known of the table that the rows came from. ``counted``: what is known of counts, of which the
    sample is then only the outline.
    """
    specs = choose_specs(measures, threshold=threshold, quota=quota, worth=sample.worth)
    threshold = default_threshold(threshold, sample)
    obstacles = {spec: obstacle_of(spec, sample, threshold, measures is None) for spec in specs}
    paired = replicates_out is not None
    if batch is not None:
        check_batch_options(settings, prevalence)
    if counted is not None:
        rows = counted
    else:
        batched = batch is not None
        rows = BatchRows.of_batches(sample, batch, paired=paired) if batched else RowEvidence.of(sample, paired=paired)
    if isinstance(rows, BatchRows) and rows.n_units < 2:
        settings = replace(settings, interval=None)
    how: dict[str, Any] = {"name": name, "threshold": threshold, "quota": quota, "prevalence": prevalence}
    ev = evaluation_of(rows, specs, obstacles, settings, **how, replicates_out=replicates_out)
    check_method_exists(ev.estimates, settings.interval)
    return replace(ev, **facts) if facts else ev


def evaluation_of(
    rows: Evidence,
    specs: Sequence[Spec],
    obstacles: Mapping[Spec, str],
    settings: Settings,
    *,
    name: str,
    threshold: float | None,
    quota: int | float | Quotas | None,
    prevalence: float | None = None,
    replicates_out: dict[str, Any] | None = None,
    dropped: int | None = None,
) -> Evaluation:
    """The evaluation of what is known of one model's rows; ``replicates_out`` takes the replicates of every measure.

    For another ``prevalence``, the measures that it moves are those of reweighted rows, the others as sampled.
    """
    known, evidence = None, dict.fromkeys(specs, rows)
    if prevalence is not None:
        if settings.stratify is False:
            problem = "cannot be False with {prevalence}, which gives the class sizes"
            raise InputError("stratify", problem, "leave it out")
        assert isinstance(rows, RowEvidence)
        sampled, rows = rows, at_prevalence(rows, prevalence)
        known = AtPrevalence(prevalence, frozenset(str(s) for s in specs if not obstacles[s] and moves(s)), sampled)
        evidence = {spec: rows if str(spec) in known.moved else sampled for spec in specs}
    estimates = Estimates(evidence, obstacles, settings)
    for part in dict.fromkeys(evidence.values()):  # what is wrong with a quota is told now, not when a measure is read
        part.check_quotas([spec for spec in specs if evidence[spec] is part and not obstacles[spec]])
    estimates.together(str(spec) for spec in specs if spec.measure.of_worth)  # the same of what amounts lack
    # Models are compared by the influence of rows, unless rows are gone or replicates were asked for.
    by_replicates = settings.interval in BY_REPLICATES or (not rows.has_jackknife and settings.interval is not None)
    if replicates_out is not None and by_replicates:
        replicates_out.update(estimates.paired_replicates())
    in_memory = isinstance(rows, RowEvidence) and rows.keeps_rows
    read = estimates if in_memory else dict(estimates.items())  # a stream gathered what it was to gather
    places, quotas = (None, quota) if isinstance(quota, Quotas) else (quota, None)
    share: float | None = None
    if places is not None and not rows.batched:  # of each batch, the quota as it is
        share = places if isinstance(places, float) else None
        places = resolve_quota(places, rows.ranking.cases)
    worth = getattr(getattr(rows, "kept", None), "worth", None)
    by_key = {str(spec): spec for spec in specs}, read
    more: dict[str, Any] = {"at_prevalence": known, "quota_share": share}
    more["cut_by"] = "score" if worth is None else worth.cut_by
    return Evaluation(name, rows, *by_key, settings, threshold, places, dropped, quotas, **more)


def _why_no_cut(quota: int | float | Quotas, rows: RowEvidence) -> str:
    """Why some rows have no cut at a quota; empty where they have one. A batch with too few cases is taken whole."""
    if not isinstance(rows, BatchRows):
        return why_no_cut(quota, rows.ranking.cases)
    try:
        for each in quotas_in_batches(quota)[0]:
            places_in(rows.lists.cases, each)
    except InputError as error:
        return f"the quota {error.problem}"
    return ""


def check_batch_options(settings: Settings, prevalence: float | None) -> None:
    """Raise an error for what batches as units leave no room for."""
    if prevalence is not None:
        raise whole_list("{prevalence}")
    if settings.stratify:
        raise InputError("stratify", "does not go with {batch}: whole batches are resampled", "leave it out")


def _lacks_threshold(spec: Spec, threshold: float | None) -> bool:
    """Whether a measure is read at a threshold, and neither it nor the evaluation has one."""
    of_worth = spec.measure.of_worth and spec.quota is None
    return (spec.measure.needs_threshold or of_worth) and spec.threshold is None and threshold is None


def obstacle_of(spec: Spec, sample: Sample, threshold: float | None, by_default: bool) -> str:
    """Why a measure cannot be read from a sample, or should not be where it was not asked for."""
    one = spec.measure
    if one.of_worth and sample.worth is None:
        raise InputError("worth", f"is missing: {one.name} needs the worth of each row", "give {worth}")
    if _lacks_threshold(spec, threshold):
        return _NO_THRESHOLD
    if by_default and one.scores == "distance" and sample.are_probabilities:
        return f"the scores look like probabilities; {one.title.lower()} needs signed distances"
    return why_inapplicable(one, sample)

"""From measure specs to numbers: what must be gathered for them, and their algebra on what was gathered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, show
from ..quotas import Quotas, quota_sizes
from ..ranking import Ranking, Ties, rank
from ..sources.arrays import Sample, make_sample
from ..sweep import Counts, Losses, Request, Sums, counts_at, sweep
from ..types import Label, Labels, Scores
from .declare import NEEDS, Measure, Spec

DEFAULT_THRESHOLD = 0.5
_OF_SUMS = ("pairs", "gaps", "precision", "places", "hull", "losses")


@dataclass(frozen=True)
class SweepPlan:
    """Specs that read one and the same vector of sums: those with the same tie rule."""

    specs: tuple[Spec, ...]
    request: Request
    cases: float
    ties: Ties

    def values(self, vectors: NDArray[np.float64]) -> list[Any]:
        """The specs' values on a vector of sums, or on many at once (one row each)."""
        read = cache(lambda reader, at: reader(vectors, at))  # many measures read the same cut
        with np.errstate(all="ignore"):  # 0/0 is nan, and what is too large for a number is infinite
            return [
                compute(read(*places[0]))
                if weights is None
                else sum(w * compute(read(*place)) for place, w in zip(places, weights, strict=True))
                for compute, places, weights in self._steps
            ]

    @cached_property
    def _steps(self) -> list[tuple[Callable[[Any], Any], list[tuple[Callable[..., Any], int]], Any]]:
        """For each spec what is computed, from what, and of a mean over quotas their weights."""
        steps: list[tuple[Callable[[Any], Any], list[tuple[Callable[..., Any], int]], Any]] = []
        for spec in self.specs:
            compute = partial(spec.measure.compute, **spec.arguments) if spec.options else spec.measure.compute
            if spec.measure.part in _OF_SUMS:
                at = self.request.losses_at(_losses(spec)) if spec.measure.part == "losses" else 0
                steps.append((compute, [(Sums, at)], None))
            elif isinstance(spec.quota, Quotas):
                sizes, weights = spec.quota.sizes(self.cases)
                steps.append((compute, [(counts_at, self.request.quota_at(size)) for size in sizes], weights))
            else:
                steps.append((compute, [(counts_at, self._cut_at(spec))], None))
        return steps

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_steps"}  # the rest makes them again

    def _cut_at(self, spec: Spec) -> int:
        if spec.measure.needs_quota:
            return self.request.quota_at(quota_sizes(spec.quota, self.cases)[0][0])
        return self.request.threshold_at(threshold_of(spec))

    def cut(self, spec: Spec, vectors: NDArray[np.float64]) -> Counts:
        """The cells at the threshold or quota of a spec."""
        return counts_at(vectors, self._cut_at(spec))


def threshold_of(spec: Spec) -> float:
    """The threshold of a spec; the default where it names none."""
    return DEFAULT_THRESHOLD if spec.threshold is None else spec.threshold


def _losses(spec: Spec) -> Losses:
    """The loss options that change what is summed; those that are algebra on the sums stay at their default."""
    options = spec.arguments
    prior = options.get("prior")
    return Losses(
        float(options.get("eps", Losses().eps)),
        float(options.get("gamma", Losses().gamma)),
        None if prior is None else float(prior),
    )


def plan_sweeps(specs: Sequence[Spec], cases: float) -> list[SweepPlan]:
    """Group the specs by tie rule and say what each group needs from a pass over the ranking."""
    return list(_planned(tuple(specs), cases))


@lru_cache(maxsize=16)
def _planned(specs: tuple[Spec, ...], cases: float) -> tuple[SweepPlan, ...]:
    readings = []
    for ties in dict.fromkeys(spec.ties for spec in specs):
        group = tuple(spec for spec in specs if spec.ties == ties and spec.measure.part != "ranking")
        request = Request(
            parts=frozenset(spec.measure.part for spec in group) - {"cut"},
            losses=tuple(dict.fromkeys(_losses(s) for s in group if s.measure.part == "losses")),
            thresholds=tuple(sorted({threshold_of(s) for s in group if s.measure.needs_threshold})),
            quotas=tuple(sorted({q for s in group if s.measure.needs_quota for q in quota_sizes(s.quota, cases)[0]})),
        )
        readings.append(SweepPlan(group, request, cases, ties))
    return tuple(readings)


@dataclass(frozen=True, eq=False)
class Computed:
    """The values of specs on one ranking, and the sums that they came from: nothing has to be swept again."""

    values: Mapping[Spec, float]
    sums: tuple[tuple[SweepPlan, NDArray[np.float64]], ...]

    def cut(self, spec: Spec) -> Counts:
        """The four cells at the threshold or quota of one of the specs, as plain numbers."""
        for reading, vector in self.sums:
            if reading.ties == spec.ties:
                return reading.cut(spec, vector).plain()
        raise KeyError(str(spec))


def compute(specs: Sequence[Spec], ranking: Ranking) -> Computed:
    """The values of specs on one ranking, from one pass for each tie rule among them."""
    values: dict[Spec, float] = {}
    sums = []
    for reading in plan_sweeps(specs, ranking.cases):
        ordered = ranking.resolved(reading.ties)
        if reading.specs:
            vector = sweep(ordered, reading.request)
            sums.append((reading, vector))
            values.update(zip(reading.specs, map(float, reading.values(vector)), strict=True))
        for spec in specs:
            if spec.measure.part == "ranking" and spec.ties == reading.ties:
                values[spec] = float(spec.measure.compute(ordered, **spec.arguments))
    return Computed(values, tuple(sums))


def why_inapplicable(one: Measure, sample: Sample) -> str:
    """Why a measure cannot be read from this sample at all; empty where it can."""
    if one.scores == "probability" and not sample.are_probabilities:
        return "the scores are not probabilities: some lie outside [0, 1]"
    if one.scores in ("finite", "distance") and not sample.are_finite:
        return "some scores are infinite, and here their values matter"
    return ""


def why_undefined(one: Measure, n_pos: float, n_neg: float, cut: Counts | None = None) -> str:
    """Why a value is nan, as precisely as the counts tell."""
    sizes: dict[str, Any] = {"positives": n_pos, "negatives": n_neg}
    if cut is not None:
        sizes |= {"taken": cut.tp + cut.fp, "left": cut.fn + cut.tn}
    for need in one.needs:
        if sizes.get(need, 1) == 0:
            return NEEDS[need]
    return one.undefined or "0/0"


def compute_one(
    spec: Spec, y_true: Labels, y_score: Scores, *, pos_label: Label = None, sample_weight: Scores | None = None
) -> tuple[float, str]:
    """Value of one measure from columns, and the reason where it is nan."""
    one = spec.measure
    sample = make_sample(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    check_applicable(one, sample)
    if one.needs_quota and spec.quota is None:
        raise InputError("measure", f"{one.name} needs a quota", "give {quota}: a number of cases or a share of them")
    n_pos = float(np.count_nonzero(sample.positive))
    n_neg = len(sample) - n_pos
    if one.one_class_needs and 0 in (n_pos, n_neg) and spec.arguments.get(one.one_class_needs) is None:
        only = "negative" if n_pos == 0 else "positive"
        said = f"holds only {only} cases, so {one.name} cannot take {one.one_class_needs} from the sample"
        raise InputError("y_true", said, f"give {{{one.one_class_needs}}}")
    cut = None
    check_threshold(spec, sample)
    if one.needs_threshold:  # one pass over the rows; no sort needed
        cut = _count(sample, threshold_of(spec))
        value = float(one.compute(cut, **spec.arguments))
    else:
        value = compute([spec], rank(sample)).values[spec]
    return value, why_undefined(one, n_pos, n_neg, cut) if value != value else ""


def check_threshold(spec: Spec, sample: Sample) -> None:
    """Raise where a measure at a threshold has none: scores that are not probabilities have no default."""
    if spec.measure.needs_threshold and default_threshold(spec.threshold, sample) is None:
        problem = "is missing: the scores are not probabilities, so it has no default"
        raise InputError("threshold", problem, "pass {threshold}")


def check_applicable(one: Measure, sample: Sample) -> None:
    """Raise where the sample cannot be read by this measure, naming the row."""
    problem = why_inapplicable(one, sample)
    if not problem:
        return
    score = sample.score
    bad = (score < 0) | (score > 1) if one.scores == "probability" else np.isinf(score)
    row = sample.first_row(bad)
    remedy = "pass probabilities" if one.scores == "probability" else "pass finite scores"
    said = f"is {float(score[bad][0]):g}, which {one.name} cannot use: {problem}"
    raise InputError("y_score", said, remedy, row=row)


def _count(sample: Sample, threshold: float) -> Counts:
    above = sample.score > np.float64(threshold)
    if sample.weight is None:
        tp = np.count_nonzero(above & sample.positive)
        fp = np.count_nonzero(above) - tp
        n_pos = np.count_nonzero(sample.positive)
        cells = [tp, fp, n_pos - tp, len(sample) - n_pos - fp]
    else:
        w, y = sample.weight, sample.positive
        cells = [w[above & y].sum(), w[above & ~y].sum(), w[~above & y].sum(), w[~above & ~y].sum()]
    return Counts(*map(np.float64, cells))


def default_threshold(threshold: float | None, sample: Sample) -> float | None:
    """The threshold that was given; else 0.5 where scores are probabilities. Other scores have no default."""
    return DEFAULT_THRESHOLD if threshold is None and sample.are_probabilities else threshold


def with_defaults(spec: Spec, *, threshold: float | None, quota: int | float | Quotas | None) -> Spec:
    """The spec with an evaluation's threshold or quota filled in where it names none; it must read one score."""
    if spec.measure.family == "other":
        problem = f"is {show(spec.measure.name)}, which does not read one score for each case"
        raise InputError("measure", problem, "choose another")
    if spec.measure.needs_threshold and spec.threshold is None and threshold not in (None, DEFAULT_THRESHOLD):
        return replace(spec, threshold=threshold)
    if spec.measure.needs_quota and spec.quota is None:
        if quota is None:
            one = spec.measure.name
            raise InputError("measure", f"{one} needs a quota", f"write '{one}@200', or give {{quota}}")
        return replace(spec, quota=quota)
    return spec

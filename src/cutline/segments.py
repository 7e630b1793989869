"""Segments of the rows (regions, months, groups) -> each evaluated apart, told apart, and on one shared list."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from .catalogue.compute import default_threshold
from .catalogue.declare import Spec
from .decide.segment_places import SharedList
from .errors import InputError, NoSuchKey, listed, show
from .evaluation import Evaluation, choose_specs, obstacle_of
from .inference.resampling import several_clusters
from .inference.settings import INTERVAL, Settings, check_method_exists
from .quotas import Quotas, check_any_quota, quota_sizes, resolve_quota, settled
from .segment_results import COMPARABLE, SegmentDifferences, Trend, few_cases, note_of, ordered_keys, why_not_comparable
from .segment_rows import Pool, RowPool
from .sources.arrays import Sample, make_sample
from .sources.levels import Levels, as_levels, label_of, order_of
from .table import DictResult, Members, Reported, ShownAsTable, Table, pluralize
from .types import Floats, IntervalName, Label, Labels, MeasureLike, QuotaLike, Scores, SegmentLike
from .validate import checked

_SHOWN = ("hit_rate", "qrecall", "roc_auc", "recall", "false_positive_rate", "precision", "brier_score")
_FEW_MEASURES = 12  # named or not, so many measures are shown and compared without asking


@dataclass(frozen=True, eq=False, repr=False)
class Segments(ShownAsTable, Reported, DictResult, Members[Any, Evaluation]):
    """Each segment of the rows evaluated separately. Reads as a mapping from segment to Evaluation.

    With several columns, a segment is a tuple of values. ``overall`` evaluates all rows together. ``differences()``
    compares each segment with the rest, ``at(quota=…)`` shows one list for all, ``trend(measure)`` follows ordered
    segments. ``ordered``: the data say that the segments are in order. ``order`` and ``places``: the order and the
    places of each segment that text, page and JSON show (:meth:`shown_with`).
    """

    picture: ClassVar[str] = "segments"
    evaluations: Mapping[Any, Evaluation]
    by: tuple[str, ...]
    settings: Settings
    pool: Pool = field(repr=False)
    quota: int | float | Quotas | None = None
    threshold: float | None = None
    dropped: int | None = None
    understood: str = ""
    ordered: bool = False
    order: tuple[Any, ...] | None = None
    places: Mapping[Any, float] | None = None

    def __getitem__(self, segment: Labels) -> Evaluation:
        if isinstance(segment, Hashable) and segment in self.evaluations:
            return self.evaluations[segment]
        return self.evaluations[self._key(segment)]

    def _key(self, segment: Labels) -> Any:
        """A segment by its value, or by its name in tables."""
        found = [
            key
            for key in self.evaluations
            if (isinstance(segment, Hashable) and key == segment) or label_of(key) == label_of(segment)
        ]
        if not found:
            raise NoSuchKey(None, f"there is no segment {show(segment)}", f"choose from {listed(self.names)}")
        return found[0]

    @cached_property
    def names(self) -> list[str]:
        """The segments as tables name them."""
        return [ev.name for ev in self.evaluations.values()]

    @cached_property
    def overall(self) -> Evaluation:
        """All rows as one."""
        return replace(self.pool.overall(), dropped=self.dropped, understood=self.understood)

    @property
    def specs(self) -> Mapping[str, Spec]:
        """The measures."""
        return self.first.specs

    @property
    def small(self) -> list[str]:
        """Segments with fewer than ten positives or negatives: they are kept, and their intervals are wide."""
        return [ev.name for ev in self.evaluations.values() if few_cases(ev)]

    @checked
    def chosen(self, measures: Sequence[str] | None = None) -> list[str]:
        """Measure strings: those requested; otherwise those evaluated, or a short list of them if there are many."""
        if measures is not None:
            return [self._measure(name) for name in measures]
        keys = list(self.specs)
        if len(keys) <= _FEW_MEASURES:
            return keys
        every = list(self.evaluations.values())
        known = {key for key in keys if any(ev.estimates[key].value == ev.estimates[key].value for ev in every)}
        by_name = {spec.measure.name: key for key, spec in reversed(list(self.specs.items()))}
        return [by_name[name] for name in _SHOWN if by_name.get(name) in known]

    def _measure(self, name: str) -> str:
        return str(self.first[name].name)

    @checked
    def differences(self, reference: Any = None, *, measures: Sequence[str] | None = None) -> SegmentDifferences:
        """Each segment against the rest, or against a ``reference`` segment, by each measure; strongest evidence first.

        If there are two segments, the first is compared with the second. Intervals of differences and ratios combine
        those of the two independent estimates (MOVER); if clusters span both, they come from leaving out each cluster's
        rows in both. ``p_adjusted`` is Holm's over the segments for each measure. Sums over cases and measures at a
        number of places are left out (``left_out`` says why): segments of different sizes do not share them.
        """
        keys = self.chosen(measures)
        if measures is not None:
            for key in keys:
                if why := why_not_comparable(self.specs[key]):
                    raise InputError("measures", f"names {key}, which {why}", COMPARABLE)
        if reference is None and len(self) == 2:  # the rest of one is the other: one question, not two
            reference = list(self.evaluations)[1]
        at = None if reference is None else list(self.evaluations).index(self._key(reference))
        return SegmentDifferences.of(self, keys, at)

    @cached_property
    def compared(self) -> SegmentDifferences:
        """The differences that text, page and JSON show: to the rest, or in a stream to the largest segment."""
        if self.pool.knows_rest:
            return self.differences()
        return self.differences(max(self, key=lambda key: self[key].ranking.cases))

    @checked
    def at(
        self, *, quota: int | float | None = None, threshold: float | None = None, reference: Any = None
    ) -> SharedList:
        """One list for all segments, cut at a quota or threshold: places, rates and selection ratios by segment.

        By default it is cut at the quota or threshold of the evaluation. ``reference`` is the segment that selection
        rates are compared with; by default the one with the highest.
        """
        if quota is not None and threshold is not None:
            raise InputError(None, "quota and threshold each set the cut", "give one of them")
        if quota is None and threshold is None:
            if isinstance(self.quota, Quotas):
                raise InputError("quota", "is a range here, but one list has one number of places", "give {quota}")
            quota, threshold = self.quota, self.threshold if self.quota is None else None
        if quota is None and threshold is None:
            raise InputError(None, "no cut is known for one list", "give {quota} or {threshold}")
        cases = sum(ev.ranking.cases for ev in self.evaluations.values())
        places = None if quota is None else resolve_quota(quota, cases)
        name = None if reference is None else self.evaluations[self._key(reference)].name
        return self.pool.shared_list(self.names, places, threshold, reference=name, level=self.settings.level)

    @checked
    def trend(self, measure: str = "roc_auc", *, order: Sequence[Any] | None = None) -> Trend:
        """Whether a measure rises or falls along ordered segments, and from which segment it has changed.

        ``order`` lists the segments in order, if that differs from their own order. Names without an order of their own
        (regions) need it. Segments without a value are left out and named.
        """
        return Trend.of(self, self._measure(measure), order)

    @checked
    def shown_with(self, *, order: Sequence[Any] | None = None, places: Mapping[Any, float] | None = None) -> Segments:
        """The same segments, whose page and JSON show the trend in an ``order``, and what given ``places`` cost.

        Without ``order`` they show the trend of segments in time: dates and months.
        """
        made = replace(self, order=None if order is None else tuple(order), places=places)
        if order is not None:
            ordered_keys(made, order)
        if places is not None:
            made.at().price(places)
        return made

    @cached_property
    def shared(self) -> SharedList | None:
        """One list for all, where a quota or threshold says where to cut it."""
        try:
            return self.at()
        except InputError:
            return None

    @cached_property
    def prices(self) -> Table | None:
        """What other rules cost; None where the rows are gone, nobody gets a place, or there is one segment."""
        if self.shared is None or len(self) < 2:
            return None
        try:
            return self.shared.price(self.places)
        except InputError:
            if self.places is not None:
                raise
            return None

    @cached_property
    def trends(self) -> list[Trend]:
        """Trends by the measures shown, of segments in time or in an order that was given."""
        if self.order is None and not self.ordered and order_of(list(self.evaluations)) != "time":
            return []
        found, refused = [], None
        for key in self.chosen():
            try:
                found.append(Trend.of(self, key, None))
            except InputError as error:  # counts, and measures that fewer than three segments have
                refused = error
        if self.order is not None and not found and refused is not None:
            raise refused
        return found

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each segment and measure."""
        rows = []
        for key, ev in self.evaluations.items():
            crossed = zip(self.by, key, strict=True) if len(self.by) > 1 else ()
            values = {f"by {name}": value for name, value in crossed}
            rows += [{"segment": ev.name, **values, **row, "note": note_of(ev)} for row in ev.to_dicts()]
        return rows

    @property
    def table(self) -> Table:
        """One row for each segment: its cases, and some measures."""
        return Table([self._row(ev) for ev in self.evaluations.values()], self._headline())

    def _row(self, ev: Evaluation) -> dict[str, Any]:
        facts = {"cases": ev.facts["rows"], **{key: ev.facts[key] for key in ("positives", "share_positive")}}
        values = {key: ev.estimates[key].value for key in self.chosen()}
        return {"segment": ev.name, **facts, **values, "note": note_of(ev)}

    def _headline(self) -> str:
        first = f"{pluralize(len(self), 'segment')} by {', '.join(self.by)}"
        return f"{first}; few cases in {', '.join(self.small)}" if 0 < len(self.small) <= 8 else first

    def to_dict(self) -> dict[str, Any]:
        """The overall evaluation, each segment's, and the differences."""
        return {
            "by": list(self.by),
            "small": self.small,
            "overall": self.overall.to_dict(),
            "segments": [{"segment": ev.name, **ev.to_dict()} for ev in self.evaluations.values()],
            "differences": self.compared.to_dicts() if len(self) > 1 else [],
            "trends": [{**trend.to_dict(), "segments": list(trend.segments)} for trend in self.trends],
        }


@checked(interval=INTERVAL, quota=check_any_quota)
def evaluate_segments(
    y_true: Labels,
    y_score: Scores,
    segment: SegmentLike,
    *,
    name: str = "model",
    pos_label: Label = None,
    sample_weight: Scores | None = None,
    threshold: float | None = None,
    quota: QuotaLike | None = None,
    measures: Sequence[MeasureLike] | None = None,
    interval: IntervalName | None = "auto",
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
    stratify: bool | None = None,
    clusters: Labels | None = None,
    progress: bool | None = None,
) -> Segments:
    """Evaluate each segment of the rows separately; options as for :func:`evaluate`.

    ``segment`` is the segment of each row: a column of any values. A frame with several columns, or a mapping from
    names to columns, crosses them. Each segment has the evaluation that its rows alone would have. A ``quota`` of 200
    means the best 200 of each segment's own list (usually you want a share); in ``at()`` it means the best 200 of one
    list for all. Segments with few cases are flagged, but none is left out. If a class is missing, values are nan, with
    the reason.

    >>> y, p = [1, 0, 1, 0, 1, 0], [0.9, 0.6, 0.5, 0.4, 0.8, 0.1]
    >>> seg = evaluate_segments(y, p, ["a", "a", "a", "b", "b", "b"], interval=None)
    >>> seg["a"]["roc_auc"].value, seg["b"]["roc_auc"].value
    (0.5, 1.0)
    >>> [(row["segment"], row["places"]) for row in seg.at(quota=3)]
    [('a', 2), ('b', 1)]
    """
    settings = Settings(interval, level, n_resamples, seed, stratify, progress=progress)
    sample = make_sample(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, clusters=clusters)
    several_clusters(sample)  # checked before anything is computed
    levels = levels_of(segment, sample)
    places = settled(quota)
    specs = choose_specs(measures, threshold=threshold, quota=places)
    threshold = default_threshold(threshold, sample)
    obstacles = {spec: obstacle_of(spec, sample, threshold, measures is None) for spec in specs}
    cases = float(len(sample)) if sample.weight is None else float(sample.weight.sum())
    for each in (None if isinstance(places, Quotas) else places, *(spec.quota for spec in specs)):
        if each is not None:
            quota_sizes(each, cases)  # refused where not even all rows have so many cases
    pool = RowPool(sample, levels.codes, len(levels.keys), specs, obstacles, settings, threshold, places, name)
    found = segments_of(pool, levels)
    check_method_exists((e for ev in found.evaluations.values() for e in ev.estimates.values()), interval)
    return found


def segments_of(pool: RowPool, levels: Levels, keep: Sequence[dict[str, Floats]] | None = None) -> Segments:
    """Evaluate every segment of a pool."""
    names = [label_of(key) for key in levels.keys]
    found = dict(zip(levels.keys, pool.evaluate(names, keep), strict=True))
    return Segments(found, levels.by, pool.settings, pool, pool.quota, pool.threshold, ordered=levels.ordered)


def levels_of(segment: SegmentLike, sample: Sample) -> Levels:
    """The segments of a sample's rows."""
    levels = as_levels(segment, sample.input_rows)
    return levels if sample.source_rows is None else levels.only(sample.source_rows)

"""Segments of the rows (regions, months, groups): each by itself, compared, followed, and on one shared list."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import table as tables
from .catalogue.declare import Spec
from .class_evaluation import ClassComparison, ClassEvaluation, evaluate_class_part
from .comparison import Comparison
from .decide.selection import SharedList, share_list
from .errors import InputError, NoSuchKey, listed, show
from .estimate import Estimate, Settings
from .evaluation import Evaluation, evaluate_part
from .inference import segment_tests
from .inference.batch_rows import BatchRows
from .inference.bucket_bounds import Buckets
from .inference.closed_forms import FEW_CASES
from .inference.differences import DifferenceTest
from .inference.evidence import RowEvidence
from .inference.intervals import read_together
from .inference.limits import effective_size, z_of
from .inference.paired import RowPairs, holm
from .inference.segment_tests import SharedUnits, independent_ratio
from .partition import Partition, label_of, order_of
from .quotas import Quotas, resolve_quota
from .sources.arrays import make_sample
from .sources.counts import Counted, Side
from .table import DictResult, HasPlot, HasReport, HasSections, MappingResult, Section, Table, format_value, values_of
from .types import Floats, Labels
from .validate import checked
from .verdict import Difference, Models, differences_of

V = TypeVar("V")
REST = "the rest"
COMPARABLE = "name a rate, a mean or an area, and give a quota as a share, such as 5%"
_SHOWN = ("hit_rate", "qrecall", "roc_auc", "recall", "false_positive_rate", "precision", "brier_score")
_SHOWN_OF_CLASSES = ("accuracy", "macro(f1)", "cohen_kappa", "hand_till_auc", "log_loss", "brier_score")
_FEW_MEASURES = 12  # named or not, so many measures are shown and compared without asking


class SegmentedRows(tables.PicklesFields):
    """All segments' rows together: what one segment is compared with. Unless told otherwise, rows are independent.

    ``whole`` evaluates all rows as one; ``knows_rest``: whether the rows outside a segment can be evaluated.
    """

    knows_rest: ClassVar[bool] = False
    whole: Any
    shared_list: Callable[..., SharedList]

    def part(self, at: int, *, outside: bool = False, **how: Any) -> Any:
        """The rows inside or outside a segment, evaluated as if they were alone; an error where they were not kept."""
        problem = "is missing: this table was streamed, and the rows outside a segment were not summed"
        raise InputError("reference", problem, "name the segment to compare with")

    def shared_units(self, parts: Sequence[Any], specs: Iterable[Spec], *, outside: bool = False) -> list[SharedUnits]:
        """What clusters or batches that reach into several segments move in each, or outside it; empty without any."""
        return []


@dataclass(frozen=True, eq=False)
class LoadedSegments(SegmentedRows):
    """All rows in memory, with the segment of each; rows of counts (``counted``) are made where they are needed."""

    knows_rest: ClassVar[bool] = True
    whole: Any
    partition: Partition
    counted: Counted | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        state, rows = super().__getstate__(), getattr(self.whole, "rows", None)
        if isinstance(rows, RowEvidence):  # segments number the rows, which therefore keep their order
            state["whole"] = replace(self.whole, rows=replace(rows, paired=True))
        return state

    def part(self, at: int, *, outside: bool = False, **how: Any) -> Any:
        """The rows inside or outside a segment, evaluated as if they were alone."""
        numbers = np.flatnonzero(self.partition.codes != at) if outside else self.partition.rows[at]
        if self.counted is not None and self.counted.segments is not None:
            counts = np.flatnonzero((self.counted.segments.codes == at) != outside)
            how["counted"] = counted_evidence(self.counted.only(counts))
        evaluate = evaluate_class_part if isinstance(self.whole, ClassEvaluation) else evaluate_part
        return evaluate(self.whole, numbers, **how)

    def shared_units(self, parts: Sequence[Any], specs: Iterable[Spec], *, outside: bool = False) -> list[SharedUnits]:
        """What clusters or batches that reach into several segments move in each, or outside it; empty without any."""
        shared, settings, clusters = list[SharedUnits](), self.whole.settings, self.whole._clusters
        if settings.interval is None or clusters is None:
            return shared
        pairs = np.unique(clusters.astype(np.int64) * len(self.partition) + self.partition.codes)
        if len(pairs) == len(np.unique(clusters)):  # none has rows in several segments
            return shared
        units = int(clusters.max()) + 1
        for at, ev in enumerate(parts):
            numbers = np.flatnonzero((self.partition.codes == at) != outside)
            unit, weight = clusters[numbers], self.whole.sample.row_weight[numbers]
            if isinstance(ev, ClassEvaluation):
                influences = {spec: np.zeros(units) for spec in ev.units}
                for spec, each in ev.units.items():
                    influences[spec][np.unique(unit)] = each
            else:
                valued = [spec for spec in specs if ev.estimates[str(spec)].value == ev.estimates[str(spec)].value]
                influences = segment_tests.influences_of_units(valued, ev.rows, unit, units, settings.seed)
            size = effective_size(np.bincount(unit, weight, units).astype(np.float64))
            shared.append(SharedUnits(influences, max(size - 1.0, 1.0)))
        return shared

    def shared_list(
        self, segments: Sequence[str], quota: int | float | None, threshold: float | None, **how: Any
    ) -> SharedList:
        """One list for all; with batches, one in each batch."""
        whole, codes = self.whole, self.partition.codes
        if self.counted is None or self.counted.batch is not None:
            sample = whole.sample
        else:
            rows = self.counted.rows()
            assert rows.segments is not None
            sample, codes = make_sample(rows.positive, rows.scores["score"]), rows.segments.codes
        how |= {"quota": quota, "threshold": threshold}
        if isinstance(whole.rows, BatchRows):
            how |= {"batches": whole.rows}
        if isinstance(whole.rows, RowEvidence) and whole.rows.buckets is not None:
            counts = whole.rows.buckets.counted
            at = counts.is_open
            if threshold is not None:
                at = at & (counts.low <= threshold) & (counts.high > threshold)
            how |= {"is_open": np.isin(sample.score, counts.middle[at])}
        return share_list(sample, codes, whole._clusters, whole.ranking, segments, **how)


def counted_evidence(counted: Counted) -> RowEvidence:
    """What is known of counts: their ranking, or the lists of their batches; and what buckets of scores leave open."""

    def evidence(side: Side) -> tuple[RowEvidence, NDArray[np.bool_]]:
        ranking, is_open = counted.ranking(side)
        if counted.batch is None:
            return RowEvidence(None, ranking), is_open
        rows = counted.rows(side)
        batched = BatchRows.of_batches(make_sample(rows.positive, rows.scores["score"]), rows.batch)
        return batched, np.full(len(batched.ranking), is_open.any())  # each batch has ends of its own in a bucket

    middle, is_open = evidence("middle")
    middle = replace(middle, amounts=counted.whole if "worth" in counted.sums else None)
    if not is_open.any():
        return middle
    (best, first), (worst, last) = evidence("best"), evidence("worst")
    return replace(middle, buckets=Buckets(best, worst, (first, last), counted.whole))


class BySegment(HasReport, DictResult, MappingResult[Any, V]):
    """A result for each segment of the rows, and what they have in common. ``overall`` is that of all rows together."""

    pictures: ClassVar[tuple[str, ...]] = ("segments",)
    by: tuple[str, ...]
    whole: Any

    def __getitem__(self, segment: Labels) -> V:
        return self.evaluations[self.key_of(segment)]

    def key_of(self, segment: Labels) -> Any:
        """The key of a segment, from its value or its name in tables."""
        if isinstance(segment, Hashable) and segment in self.evaluations:
            return segment
        key = next((key for key in self.evaluations if label_of(key) == label_of(segment)), None)
        if key is None:
            names = listed(map(label_of, self.evaluations))
            raise NoSuchKey(None, f"there is no segment {show(segment)}", f"choose from {names}")
        return key

    @cached_property
    def overall(self) -> Any:
        """All rows as one."""
        return replace(self.whole, by_segment=self)

    @property
    def settings(self) -> Settings:
        """How intervals are made."""
        settings: Settings = self.whole.settings
        return settings

    def to_dict(self) -> dict[str, Any]:
        """The result of all rows, that of each segment, and the differences."""
        return {"overall": self.whole.to_dict(), **self.parts_dict()}

    @property
    def small(self) -> list[str]:
        """Segments with fewer than ten positives or negatives: they are kept, and their intervals are wide."""
        return [label_of(key) for key, one in self.evaluations.items() if few_cases(getattr(one, "first", one))]

    def parts_dict(self) -> dict[str, Any]:
        """The result of each segment, and the differences."""
        parts: Any = self.evaluations.items()
        segments = [{"segment": label_of(key), **one.to_dict()} for key, one in parts]
        return {"by": list(self.by), "small": self.small, "segments": segments}


@dataclass(frozen=True, eq=False, repr=False)
class Segments(BySegment[Any]):
    """Each segment of the rows evaluated separately. Reads as a mapping from segment to Evaluation.

    With several columns, a segment is a tuple of values. ``overall`` evaluates all rows together. ``differences()``
    compares each segment with the rest, ``at(quota=…)`` shows one list for all, ``trend(measure)`` follows ordered
    segments. ``ordered``: the data show that the segments are in order. ``order``: the order that text,
    page and JSON show (:meth:`shown_with`).
    """

    words: ClassVar[str] = "segment_words.segment_sections"
    evaluations: Mapping[Any, Any]
    by: tuple[str, ...]
    pool: SegmentedRows = field(repr=False)
    ordered: bool = False
    order: tuple[Any, ...] | None = None

    @cached_property
    def names(self) -> list[str]:
        """The segments as tables name them."""
        return [ev.name for ev in self.evaluations.values()]

    @property
    def whole(self) -> Any:
        """The evaluation of all rows, without its segments."""
        return self.pool.whole

    @property
    def specs(self) -> Mapping[str, Spec]:
        """The measures."""
        specs: Mapping[str, Spec] = self.first.specs
        return specs

    @checked
    def chosen(self, measures: Sequence[str] | None = None) -> list[str]:
        """Measure strings: those requested; otherwise those evaluated, or a short list of them if there are many."""
        if measures is not None:
            return [self.first[name].name for name in measures]
        if len(self.specs) <= _FEW_MEASURES:
            return list(self.specs)
        names = _SHOWN_OF_CLASSES if (of_classes := isinstance(self.whole, ClassEvaluation)) else _SHOWN
        named = {key: key if of_classes else spec.measure.name for key, spec in self.specs.items()}
        shown = [key for key, name in named.items() if name in names]
        every = [read_together(ev.estimates, shown) for ev in self.evaluations.values()]
        valued = [key for key in shown if any(e[key].value == e[key].value for e in every)]
        by_name = {named[key]: key for key in reversed(valued)}
        return [by_name[name] for name in names if name in by_name]

    @checked
    def differences(self, reference: Any = None, *, measures: Sequence[str] | None = None) -> SegmentDifferences:
        """Each segment against the rest, or against a ``reference`` segment, by each measure; strongest evidence first.

        If there are two segments, the first is compared with the second. Intervals of differences and ratios combine
        those of the two estimates (MOVER), with the correlation that clusters or batches of both give them.
        ``p_adjusted`` is Holm's over the segments for each measure. Sums over cases and measures at a number of places
        are left out (``left_out`` explains why): segments of different sizes do not share them.
        """
        if len(self) < 2:
            raise InputError("by", "gives a single segment", "give at least two to compare")
        if reference is None and len(self) == 2:  # the rest of one is the other: one question, not two
            reference = list(self.evaluations)[1]
        other = None if reference is None else list(self.evaluations).index(self.key_of(reference))
        evaluations, pool, level = list(self.evaluations.values()), self.pool, self.settings.level
        left_out = {key: why for key in self.chosen(measures) if (why := why_not_comparable(self.specs[key]))}
        if measures is not None and left_out:
            key, why = next(iter(left_out.items()))
            raise InputError("measures", f"names {key}, which {why}", COMPARABLE)
        specs = {key: self.specs[key] for key in self.chosen(measures) if key not in left_out}
        against = REST if other is None else evaluations[other].name
        units = pool.shared_units(evaluations, specs.values())
        if other is None:
            others = [pool.part(at, outside=True, specs=list(specs.values())) for at in range(len(evaluations))]
            units_of_others = pool.shared_units(others, specs.values(), outside=True)
        else:
            others = [evaluations[other]] * len(evaluations)
            units_of_others = units and [units[other]] * len(units)
        rows: list[tuple[tuple[float, ...], dict[str, Any]]] = []
        for key, spec in specs.items():
            pairs, columns = [], []
            for at, (ev, theirs) in enumerate(zip(evaluations, others, strict=True)):
                if at == other:
                    continue
                pair = ev.estimates[key], theirs.estimates[key]
                reason = pair[0].reason or (f"{against}: {pair[1].reason}" if pair[1].reason else "")
                tested = DifferenceTest(method=reason or "there are no intervals")
                if all(e.value == e.value for e in pair) and self.settings.interval is not None:
                    freedoms = _freedom(ev, spec), math.inf if other is None else _freedom(theirs, spec)
                    shared = (units[at], units_of_others[at]) if units else None
                    tested = segment_tests.segment_difference(spec, pair, level, freedoms, shared)
                low, high = independent_ratio(*pair) if spec.measure.range[0] >= 0.0 else (math.nan, math.nan)
                value, compared = pair[0].value, pair[1].value
                values = {"cases": ev.facts["rows"], "value": value, "other": compared}
                ratio = {"ratio": value / compared if compared > 0.0 and low == low else math.nan}
                ratio |= {"ratio_low": low, "ratio_high": high}
                columns.append((values, ratio, {"note": "; ".join(filter(None, [note_of(ev), reason]))}))
                pairs.append((ev.name, against, value - compared, tested))
            for d, (values, ratio, note) in zip(differences_of(key, spec.better, pairs, level), columns, strict=True):
                ends = values_of(d, "difference", "low", "high")
                judged = values_of(d, "standard_error", "p_value", "p_adjusted", "method", "verdict")
                row = {"segment": d.a, "against": against, "measure": key, **values, **ends, **ratio, **judged, **note}
                rows.append((evidence(d), row))
        rows.sort(key=lambda pair: pair[0])
        return SegmentDifferences([row for _, row in rows], against, left_out)

    @cached_property
    def compared(self) -> SegmentDifferences:
        """The differences that text, page and JSON show: to the rest, or in a stream to the largest segment."""
        if self.pool.knows_rest or len(self) == 2:  # of two, the other one is the rest
            return self.differences()
        return self.differences(max(self, key=lambda key: self[key].ranking.cases))

    @checked
    def at(
        self, *, quota: int | float | None = None, threshold: float | None = None, reference: Any = None
    ) -> SharedList:
        """One list for all segments, cut at a quota or threshold: places, rates and selection ratios by segment.

        With batches there is one list in each batch, and a quota counts in each of them. By default it is cut at the
        quota or threshold of the evaluation. ``reference`` is the segment that selection
        rates are compared with; by default the one with the highest.
        """
        whole, problem = self.whole, "several classes have no one list for all segments"
        if isinstance(whole, ClassEvaluation):
            raise InputError(None, problem, "evaluate one class: {by} with its scores")
        if quota is not None and threshold is not None:
            raise InputError(None, "quota and threshold each set the cut", "give one of them")
        if quota is None and threshold is None:
            if whole.quotas is not None:
                raise InputError("quota", "is a range here, but one list has one number of places", "give {quota}")
            quota, threshold = whole.quota, whole.threshold if whole.quota is None else None
        if quota is None and threshold is None:
            raise InputError(None, "no cut is known for one list", "give {quota} or {threshold}")
        if quota is not None and not whole.rows.batched:
            quota = resolve_quota(quota, whole.ranking.cases)
        name = None if reference is None else self.evaluations[self.key_of(reference)].name
        return self.pool.shared_list(self.names, quota, threshold, reference=name, level=self.settings.level)

    @checked
    def trend(self, measure: str = "roc_auc", *, order: Sequence[Any] | None = None) -> Trend:
        """Whether a measure rises or falls along ordered segments, and from which segment it has changed.

        ``order`` lists the segments in order, if that differs from their own order. Names without an order of their own
        (regions) need it. Segments without a value are left out and named.
        """
        key, keys = self.first[measure].name, self._in_order(order)
        spec = self.specs[key]
        if why := why_not_comparable(spec):
            raise InputError("measure", f"{key} {why}", COMPARABLE)
        if self.settings.interval is None:
            raise InputError("interval", "is None, but a trend needs intervals", "evaluate with {interval='auto'}")
        valued, left_out = [], {}
        for segment in keys:
            e = self.evaluations[segment].estimates[key]
            if e.value == e.value and math.isfinite(e.low) and math.isfinite(e.high) and e.high > e.low:
                valued.append(segment)
            else:
                left_out[label_of(segment)] = e.reason or "no interval"
        if len(valued) < 3:
            raise InputError("by", f"gives {len(valued)} segments with a value of {key}", "a trend needs three or more")
        evaluations = [self.evaluations[segment] for segment in valued]
        estimates = [ev.estimates[key] for ev in evaluations]
        values, lows, highs = (np.array([getattr(e, end) for e in estimates]) for end in ("value", "low", "high"))
        level, seed = self.settings.level, self.settings.seed
        errors = (highs - lows) / (2.0 * z_of(level))  # those that go with intervals
        units = self.pool.shared_units(list(self.evaluations.values()), [spec])
        by_segment = dict(zip(self.evaluations, units, strict=False))  # none where segments are independent
        psi = np.array([by_segment[segment].influences[spec] for segment in valued if units])
        covariance = segment_tests.joint_covariance(psi, errors) if len(psi) else np.diag(errors**2)
        # cases that a measure's variance goes with: of both classes where their share does not matter, else all
        if isinstance(self.whole, ClassEvaluation):
            sizes = np.array([float(ev.facts["rows"]) for ev in evaluations])
        else:
            pos, neg = (np.array([float(getattr(ev.ranking, n)) for ev in evaluations]) for n in ("n_pos", "n_neg"))
            sizes = np.where(spec.measure.stratified & (pos * neg > 0.0), pos * neg / (pos + neg), pos + neg)
        places = np.array([keys.index(segment) for segment in valued], np.float64)
        line = segment_tests.fit_slope(values, covariance, sizes, places, level)
        fitted = np.average(values, weights=sizes) + line.slope * (places - np.average(places, weights=sizes))
        fit = line.slope, line.low, line.high, line.p_value, line.excess, tuple(fitted.tolist()), tuple(sizes.tolist())
        names = tuple(ev.name for ev in evaluations)
        found = segment_tests.first_change(values, covariance, sizes, places, level, seed)
        change: tuple[Any, ...] = ()
        if found is not None:
            change = (names[found.at], found.after - found.before, found.low, found.high, found.p_adjusted)
        return Trend(key, names, tuple(estimates), *fit, level, left_out, *change)

    def _in_order(self, order: Sequence[Any] | None) -> list[Any]:
        """The segments in the order given, or in their own; names in alphabetical order have none."""
        every = list(self.evaluations)
        order = self.order if order is None else order
        if order is None:
            if not self.ordered and not order_of(every):
                said = f"has no order of its own ({listed(self.names[:3])}{', …' if len(every) > 3 else ''})"
                raise InputError("by", said, "name the segments in their {order}")
            return every
        keys = [self.key_of(one) for one in order]
        if len(set(map(label_of, keys))) < len(keys) or len(keys) != len(every):
            gone = [label_of(k) for k in every if k not in keys]
            said = f"leaves out {listed(gone)}" if gone else "names a segment twice"
            raise InputError("order", said, "name each segment once")
        return keys

    @checked
    def shown_with(self, *, order: Sequence[Any] | None = None) -> Segments:
        """The same segments, whose page and JSON show the trend in an ``order``.

        Without ``order`` they show the trend of segments in time: dates and months.
        """
        shown = replace(self, order=None if order is None else tuple(order))
        if order is not None:
            shown._in_order(order)
        return shown

    @cached_property
    def shared(self) -> SharedList | None:
        """One list for all, where a quota or threshold says where to cut it."""
        with suppress(InputError):
            return self.at()
        return None

    @cached_property
    def trends(self) -> list[Trend]:
        """Trends by the measures shown, of segments in time or in an order that was given."""
        if self.order is None and not self.ordered and order_of(list(self.evaluations)) != "time":
            return []
        trends, refused = [], None
        for key in self.chosen():
            try:
                trends.append(self.trend(key))
            except InputError as error:  # counts, and measures that fewer than three segments have
                refused = error
        if self.order is not None and not trends and refused is not None:
            raise refused
        return trends

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each segment and measure."""
        rows = []
        for key, ev in self.evaluations.items():
            crossed = zip(self.by, key, strict=True) if len(self.by) > 1 else ()
            values = {f"by {name}": value for name, value in crossed}
            rows += [{"segment": ev.name, **values, **row, "note": note_of(ev)} for row in ev.to_dicts()]
        return rows

    def parts_dict(self) -> dict[str, Any]:
        """Each segment's evaluation, the differences and the trends."""
        differences = self.compared.to_dicts() if len(self) > 1 else []
        trends = [{**trend.to_dict(), "segments": list(trend.segments)} for trend in self.trends]
        return {**super().parts_dict(), "differences": differences, "trends": trends}


def why_not_comparable(spec: Spec) -> str:
    """Why segments of different sizes do not share a measure; empty where they do."""
    if spec.measure.extensive:
        return "is a sum that grows with the number of cases"
    quotas = spec.quota.quotas if isinstance(spec.quota, Quotas) else (spec.quota,)
    if any(isinstance(quota, int) for quota in quotas):
        return "depends on the size of the segment: a fixed number of places is a larger share of a small one"
    return ""


def note_of(ev: Evaluation) -> str:
    """That a segment has few cases, and why measures at a quota have no value; empty where nothing is missing."""
    at_quota = (ev.estimates[key].reason for key, spec in ev.specs.items() if spec.quota is not None)
    both = all(class_sizes(ev).values())  # else the missing class says it
    return "; ".join(dict.fromkeys(filter(None, [few_cases(ev), *(at_quota if both else ())])))


def few_cases(ev: Any) -> str:
    """What is missing in a segment, or that it has few cases; empty where it has enough."""
    several, sizes = isinstance(ev, ClassEvaluation), class_sizes(ev)
    few = [f"{n or 'none'} of {name}" for name, n in sizes.items() if n < FEW_CASES]
    if not several:
        few = [f"{n or 'no'} {name[:-1] if n == 1 else name}" for name, n in sizes.items() if n < FEW_CASES]
    more = [f"and {len(few) - 3} more classes"] if len(few) > 3 else []
    return f"few cases: {', '.join([*few[:3], *more])}" if few else ""


def class_sizes(ev: Any) -> dict[Any, int]:
    """How many rows each class has."""
    if isinstance(ev, ClassEvaluation):
        return dict(zip(ev.classes, np.bincount(ev.sample.code, minlength=len(ev.classes)).tolist(), strict=True))
    return {side: ev.facts[side] for side in ("positives", "negatives")}


class SegmentDifferences(HasSections, Table):
    """Segments against the rest or a reference, by each measure: a row for each, strongest evidence first.

    ``found["north", "roc_auc"]`` is the row of one segment and measure. ``reference`` is what segments were compared
    with; ``left_out`` tells why some measures were not.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]], reference: str, left_out: Mapping[str, str]) -> None:
        super().__init__(rows, f"Segments against {reference}, strongest evidence first")
        self.reference, self.left_out = reference, left_out

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, tuple):
            return super().__getitem__(index)
        segment, measure = index if len(index) == 2 else (index, None)
        for row in self:
            if row["segment"] == label_of(segment) and row["measure"] == measure:
                return row
        raise InputError(None, f"there is no difference of {show(segment)} by {show(measure)}")

    @property
    def sentence(self) -> str:
        """What the data show, in words that judge nobody: which segments have a higher or lower value."""
        clear = [row for row in self if row["verdict"] in ("higher", "lower")]
        if clear:
            some = "; ".join(f"{row['segment']}: {row['verdict']} {row['measure']}" for row in clear[:6])
            more = f"; and {len(clear) - 6} more." if len(clear) > 6 else "."
            return f"Significantly different from {self.reference}: {some}{more}"
        if any(row["verdict"] != "not tested" for row in self):
            return f"No segment differs significantly from {self.reference}."
        return f"Nothing could be compared: {self.why_untested}."

    @property
    def why_untested(self) -> str:
        """Why no difference was tested; if no measure could be compared, why not."""
        left_out = f"{', '.join(self.left_out)} ({'; '.join(dict.fromkeys(self.left_out.values()))})"
        return "; ".join(dict.fromkeys(row["method"] for row in self)) or left_out

    def sections(self) -> list[Section]:
        """Which segments differ, and the differences."""
        shown = ("segment", "measure", "value", "other", "difference", "low", "high", "p_adjusted", "verdict", "note")
        rows = [{name: row[name] for name in shown} for row in self]
        return [Section("answer", [self.sentence, Table(rows, self.title)])]


def evidence(d: Difference) -> tuple[float, ...]:
    """Smallest adjusted p-value first, then the smallest plain one; what was not tested comes last."""
    known = d.p_value == d.p_value
    size = abs(d.difference) / d.standard_error if d.standard_error > 0.0 else 0.0
    return (0.0, d.p_adjusted, d.p_value, -size) if known else (1.0, 0.0, 0.0, 0.0)


def _freedom(ev: Any, spec: Spec) -> float:
    """Degrees of freedom of a segment's interval: its smallest class less one, or its rows where classes are pooled."""
    pooled = isinstance(ev, ClassEvaluation) and not spec.measure.sums_classes
    return max(float(ev.facts["rows"] if pooled else min(class_sizes(ev).values())) - 1.0, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Trend(HasPlot, tables.ShownAsTable, DictResult):
    """A measure along ordered segments: its slope per step, and the first clear change.

    ``slope``, ``low``, ``high``, ``p_value``: change from one segment to the next, by weighted least squares.
    ``change`` is the first segment from which the level differs from before, None if there is no clear change;
    ``change_p`` is its p-value, adjusted for all segments at which the change could have occurred. ``excess`` is the
    variance of the segments around the line, relative to what their intervals explain: above 1 segments differ by more
    than chance. ``plot`` draws the values with their intervals, the line, and the first clear change.
    """

    pictures: ClassVar[tuple[str, ...]] = ("trend",)
    document: ClassVar[tuple[str, ...]] = (
        *("measure", "slope", "low", "high", "p_value", "excess", "verdict"),
        *("change", "change_difference", "change_low", "change_high", "change_p", "left_out"),
    )
    measure: str
    segments: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    slope: float
    low: float
    high: float
    p_value: float
    excess: float
    fitted: tuple[float, ...]
    sizes: tuple[float, ...]
    level: float
    left_out: Mapping[str, str]
    change: str | None = None
    change_difference: float | None = None
    change_low: float | None = None
    change_high: float | None = None
    change_p: float | None = None

    @property
    def verdict(self) -> str:
        """``rising``, ``falling`` or ``cannot tell``."""
        if self.p_value != self.p_value:
            return "not tested"
        if self.p_value >= 1.0 - self.level:
            return "cannot tell"
        return "rising" if self.slope > 0.0 else "falling"

    @property
    def is_clear(self) -> bool:
        """Whether a trend or a change of level is shown."""
        return self.verdict in ("rising", "falling") or self.change is not None

    @property
    def sentence(self) -> str:
        """The trend and the first clear change in words."""
        each = f"by {format_value(abs(self.slope))} per step"
        ends = f"{self.level:.0%} interval {format_value(self.low)} to {format_value(self.high)}"
        said = f"{self.measure} has no clear trend: {format_value(self.slope)} per step ({ends})."
        if self.verdict in ("rising", "falling"):
            said = f"{self.measure} {'rises' if self.verdict == 'rising' else 'falls'} {each} ({ends})."
        if self.change is None:
            return f"{said} There is no clear change of level."
        gap, low, high = map(format_value, (self.change_difference, self.change_low, self.change_high))
        return f"{said} The first clear change is at {self.change}: {gap} from before ({low} to {high}, adjusted)."

    @property
    def table(self) -> Table:
        """The segments as rows, in order; ``changed``: whether the first clear change lies at or before it."""
        since = len(self.segments) if self.change is None else self.segments.index(self.change)
        rows = [
            {"segment": name, "measure": self.measure, "value": e.value, **e.interval._asdict(), "changed": k >= since}
            for k, (name, e) in enumerate(zip(self.segments, self.estimates, strict=True))
        ]
        return Table(rows, self.sentence)

    def to_dict(self) -> dict[str, Any]:
        """The trend and the segments as plain values."""
        return {**super().to_dict(), "text": self.sentence, "segments": self.to_dicts()}


@dataclass(frozen=True, eq=False, repr=False)
class SegmentComparison(BySegment[Comparison]):
    """Several models compared in each segment. Reads as a mapping from segment to Comparison.

    ``whole`` compares them on all rows. ``differences(measure)`` shows each pair of models in each segment, adjusted
    for the number of segments; ``models`` has each model's :class:`Segments`.
    """

    words: ClassVar[str] = "segment_words.segment_sections"
    evaluations: Mapping[Any, Comparison]
    whole: Comparison
    models: Mapping[str, Segments] = field(repr=False)
    by: tuple[str, ...] = ("segment",)

    @checked
    def differences(self, measures: Sequence[str] | None = None) -> Table:
        """Each pair of models in each segment, strongest evidence first; adjusted over pairs and segments (Holm)."""
        rows, notes = [], {name: note for name, note, _ in self.parts()}
        for key in next(iter(self.models.values())).chosen(measures):
            valued = [(segment, one) for segment, one in self.evaluations.items() if key in one.specs]
            found = [(segment, d) for segment, one in valued for d in one._differences_by(key)]
            adjusted = holm([d.p_value for _, d in found])
            made = sum(p == p for p in adjusted)
            for (segment, one), p in zip(found, adjusted, strict=True):
                d, name = replace(one, p_adjusted=p, comparisons=made), label_of(segment)
                rows.append((evidence(d), {"segment": name, **d, "note": notes[name]}))
        rows.sort(key=lambda pair: pair[0])
        title = "Differences between models by segment (a − b), strongest evidence first"
        return Table([row for _, row in rows], title)

    def parts(self) -> Iterator[tuple[str, str, Comparison]]:
        """The segments' names, notes and comparisons."""
        first = next(iter(self.models.values()))
        for key, comparison in self.evaluations.items():
            yield label_of(key), note_of(first.evaluations[key]), comparison

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each segment, model and measure."""
        return [{"segment": label_of(key), **row} for key, one in self.evaluations.items() for row in one.to_dicts()]

    def parts_dict(self) -> dict[str, Any]:
        """The comparison in each segment, and the differences adjusted for the segments."""
        return {**super().parts_dict(), "differences": self.differences().to_dicts()}


def in_segments(overall: Any, by: Any) -> Any:
    """An evaluation or comparison with that of each segment of rows in memory, or of counts (``by`` are these)."""
    counted = by if isinstance(by, Counted) else None
    evaluations = overall.evaluations if isinstance(overall, Models) else {"": overall}
    first = next(iter(evaluations.values()))
    if counted is None:
        other = "y_true" if isinstance(first, ClassEvaluation) else "y_score"
        partition: Any = Partition.of(by, "by", other=other, sample=first.sample)
    else:
        partition = counted.segments if counted.batch is None else counted.rows().segments
    models: dict[str, Segments] = {}
    drawn: dict[str, list[dict[str, Floats]]] = {}
    for name, ev in evaluations.items():
        rows = LoadedSegments(ev, partition, counted)
        drawn[name] = [{} for _ in partition.keys]
        hows: Any = [{"replicates_out": out} if isinstance(overall, Comparison) else {} for out in drawn[name]]
        segments = {key: rows.part(k, name=label_of(key), **hows[k]) for k, key in enumerate(partition.keys)}
        models[name] = Segments(segments, partition.by, rows, partition.order == "given")
    if first is overall:
        return models[""].overall
    comparisons: dict[Any, Any] = {}
    for k, key in enumerate(partition.keys):
        parts = {name: segments.evaluations[key] for name, segments in models.items()}
        here = next(iter(parts.values()))
        changed: dict[str, Any] = {"evaluations": parts, "settings": here.settings}
        if not isinstance(overall, ClassComparison):
            replicates = {name: of_segments[k] for name, of_segments in drawn.items()}
            changed |= {"quota": here.quota, "pairs": RowPairs.of(parts, paired=True), "replicates": replicates}
        comparisons[key] = replace(overall, **changed)
    return SegmentComparison(comparisons, overall, models, partition.by).overall

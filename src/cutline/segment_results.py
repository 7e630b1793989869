"""What segments tell: their differences, strongest evidence first, and the trend of ordered ones."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .catalogue.declare import Spec
from .errors import InputError, listed, show
from .estimate import Estimate
from .evaluation import Evaluation
from .inference.areas import FEW_CASES
from .inference.differences import DifferenceTest
from .inference.segment_differences import independent_difference, independent_ratio
from .inference.segment_trend import Change, Slope, first_change, fit_slope, standard_errors
from .quotas import Quotas
from .sources.levels import label_of, order_of
from .table import Drawn, ShownAsTable, Table, TabularResult, format_value, text_table, to_jsonable
from .validate import checked
from .verdict import Difference, differences_of

if TYPE_CHECKING:
    from .segments import Segments

REST = "the rest"
COMPARABLE = "name a rate, a mean or an area, and give a quota as a share, such as 5%"


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
    both = ev.facts["positives"] and ev.facts["negatives"]  # else the missing class says it
    return "; ".join(dict.fromkeys(filter(None, [few_cases(ev), *(at_quota if both else ())])))


def few_cases(ev: Evaluation) -> str:
    """What is missing in a segment, or that it has few cases; empty where it has enough."""
    few = [
        f"{'no' if ev.facts[side] == 0 else ev.facts[side]} {side if ev.facts[side] != 1 else side[:-1]}"
        for side in ("positives", "negatives")
        if ev.facts[side] < FEW_CASES
    ]
    return f"few cases: {', '.join(few)}" if few else ""


@dataclass(frozen=True, eq=False)
class SegmentDifferences(ShownAsTable, TabularResult, Sequence[Difference]):
    """Segments against the rest or a reference, by each measure: Difference objects, strongest evidence first."""

    found: tuple[Difference, ...]
    rows: tuple[Mapping[str, Any], ...]
    reference: str
    left_out: Mapping[str, str]

    @classmethod
    def of(cls, segments: Segments, keys: Sequence[str], reference: int | None) -> SegmentDifferences:
        """Compare, measure by measure, and sort by evidence; ``left_out`` says which measures have no comparison."""
        if len(segments) < 2:
            raise InputError("segment", "holds a single segment", "give at least two to compare")
        evaluations, pool, level = list(segments.evaluations.values()), segments.pool, segments.settings.level
        left_out = {key: why for key in keys if (why := why_not_comparable(segments.specs[key]))}
        specs = {key: segments.specs[key] for key in keys if key not in left_out}
        made: list[tuple[Difference, dict[str, Any]]] = []
        others: list[tuple[int, Evaluation, str, Mapping[str, Estimate]]] = []
        for at, ev in enumerate(evaluations):
            if at == reference:
                continue
            if reference is None:
                rest = pool.rest(at, list(specs.values()))
                others.append((at, ev, REST, {str(spec): e for spec, e in rest.items()}))
            else:
                others.append((at, ev, evaluations[reference].name, evaluations[reference].estimates))
        for key, spec in specs.items():
            pairs, columns = [], []
            for at, ev, against, theirs in others:
                pair = ev.estimates[key], theirs[key]
                tested = DifferenceTest()
                if all(e.value == e.value for e in pair) and segments.settings.interval is not None:
                    joint = pool.test(at, reference, spec, pair)
                    freedoms = _freedom(ev), math.inf if reference is None else _freedom(evaluations[reference])
                    tested = independent_difference(*pair, level, freedoms) if joint is None else joint
                ratios = independent_ratio(*pair) if spec.measure.range[0] >= 0.0 else (math.nan, math.nan)
                columns.append((ev, pair, ratios))
                pairs.append((ev.name, against, pair[0].value - pair[1].value, tested))
            judged = differences_of(key, spec.better, pairs, level, None)
            made += [(d, _difference_row(d, *column)) for d, column in zip(judged, columns, strict=True)]
        made.sort(key=lambda pair: evidence(pair[0]))
        name = REST if reference is None else evaluations[reference].name
        return cls(tuple(d for d, _ in made), tuple(row for _, row in made), name, left_out)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple) and len(index) == 2 and isinstance(index[0], str):
            return self.of_segment(*index)
        return self.found[index]

    def __len__(self) -> int:
        return len(self.found)

    def of_segment(self, segment: Any, measure: str) -> Difference:
        """The difference of one segment by one measure."""
        for one in self.found if isinstance(measure, str) else ():
            if one.a == label_of(segment) and one.measure == measure:
                return one
        raise InputError(None, f"there is no difference of {show(segment)} by {show(measure)}")

    @property
    def table(self) -> Table:
        """The differences as rows, strongest evidence first."""
        return Table(self.rows, f"Segments against {self.reference}, strongest evidence first")

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each segment and measure, strongest evidence first."""
        return self.table.to_dicts()

    def to_json(self, *, indent: int | None = None) -> str:
        """The rows as JSON."""
        return self.table.to_json(indent=indent)

    @property
    def sentence(self) -> str:
        """What the data show, in words that judge nobody: which segments have a higher or lower value."""
        clear = [d for d in self.found if d.verdict in ("higher", "lower")]
        if not clear:
            tested = [d for d in self.found if d.verdict != "not tested"]
            return (
                f"No segment differs significantly from {self.reference}." if tested else "Nothing could be compared."
            )
        said = "; ".join(f"{d.a}: {d.verdict} {d.measure}" for d in clear[:6])
        return f"Significantly different from {self.reference}: {said}" + (
            f"; and {len(clear) - 6} more." if len(clear) > 6 else "."
        )

    def __repr__(self) -> str:
        columns = ("segment", "measure", "value", "other", "difference", "low", "high", "p_adjusted", "verdict", "note")
        return text_table(self.rows, columns, f"{self.table.title}\n{self.sentence}")


def _difference_row(d: Difference, ev: Evaluation, pair: tuple[Estimate, Estimate], ratios: Any) -> dict[str, Any]:
    value, other = pair[0].value, pair[1].value
    reason = pair[0].reason or (f"{d.b}: {pair[1].reason}" if pair[1].reason else "")
    return {
        "segment": d.a,
        "against": d.b,
        "measure": d.measure,
        "cases": ev.facts["rows"],
        "value": value,
        "other": other,
        **{key: d[key] for key in ("difference", "low", "high")},
        "ratio": value / other if other > 0.0 and d.measure and ratios[0] == ratios[0] else math.nan,
        "ratio_low": ratios[0],
        "ratio_high": ratios[1],
        **{key: d[key] for key in ("p_value", "p_adjusted", "method", "verdict")},
        "note": "; ".join(filter(None, [note_of(ev), reason])),
    }


def evidence(d: Difference) -> tuple[float, ...]:
    """Smallest adjusted p-value first, then the smallest plain one; what was not tested comes last."""
    known = d.p_value == d.p_value
    size = abs(d.difference) / d.standard_error if d.standard_error > 0.0 else 0.0
    return (0.0, d.p_adjusted, d.p_value, -size) if known else (1.0, 0.0, 0.0, 0.0)


def _freedom(ev: Evaluation) -> float:
    """Degrees of freedom of a segment's interval: its smaller class less one."""
    return max(float(min(ev.facts["positives"], ev.facts["negatives"])) - 1.0, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Trend(Drawn, ShownAsTable, TabularResult):
    """A measure along ordered segments: its slope per step, and the first clear change.

    ``slope``, ``low``, ``high``, ``p_value``: change from one segment to the next, by weighted least squares.
    ``change`` is the first segment from which the level differs from before, None if there is no clear change;
    ``change_p`` is its p-value, adjusted for all segments at which the change could have occurred. ``excess`` is the
    variance of the segments around the line, relative to what their intervals explain: above 1 segments differ by more
    than chance. ``plot`` draws the values with their intervals, the line, and the first clear change.
    """

    picture: ClassVar[str] = "trend"

    measure: str
    segments: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    line: Slope
    found: Change | None
    level: float
    better: str
    left_out: Mapping[str, str]
    places: tuple[float, ...] = ()
    sizes: tuple[float, ...] = ()

    @classmethod
    def of(cls, segments: Segments, key: str, order: Sequence[Any] | None) -> Trend:
        """Fit the trend of a measure."""
        every, keys = list(segments.evaluations), ordered_keys(segments, order)
        spec = segments.specs[key]
        if why := why_not_comparable(spec):
            raise InputError("measure", f"{key} {why}", COMPARABLE)
        if segments.settings.interval is None:
            raise InputError("interval", "is None, but a trend needs intervals", "evaluate with {interval='auto'}")
        known, left_out = [], {}
        for one in keys:
            e = segments.evaluations[one].estimates[key]
            if e.value == e.value and math.isfinite(e.low) and math.isfinite(e.high) and e.high > e.low:
                known.append(one)
            else:
                left_out[label_of(one)] = e.reason or "no interval"
        if len(known) < 3:
            raise InputError(
                "segment", f"has {len(known)} segments with a value of {key}", "a trend needs three or more"
            )
        found = [segments.evaluations[one] for one in known]
        estimates = [ev.estimates[key] for ev in found]
        values, lows, highs = (np.array([getattr(e, end) for e in estimates]) for end in ("value", "low", "high"))
        level, seed = segments.settings.level, segments.settings.seed
        errors = np.zeros(len(every))
        at = [every.index(one) for one in known]
        errors[at] = standard_errors(lows, highs, level)
        covariance = segments.pool.covariance(spec, errors)[np.ix_(at, at)]
        sizes = np.array([_size(ev, spec) for ev in found])
        places = np.array([keys.index(one) for one in known], np.float64)
        line = fit_slope(values, covariance, sizes, places, level)
        change = first_change(values, covariance, sizes, places, level, seed)
        names = tuple(ev.name for ev in found)
        shape = tuple(places.tolist()), tuple(sizes.tolist())
        return cls(key, names, tuple(estimates), line, change, level, spec.better, left_out, *shape)

    slope = property(lambda self: self.line.slope, doc="Change from one segment to the next.")
    low = property(lambda self: self.line.low, doc="Lower limit of the slope.")
    high = property(lambda self: self.line.high, doc="Upper limit of the slope.")
    p_value = property(lambda self: self.line.p_value, doc="The p-value of the test that the slope is 0.")
    excess = property(lambda self: self.line.excess, doc="Variance around the line relative to what chance explains.")

    @property
    def fitted(self) -> list[float]:
        """The line at each of the segments."""
        sizes, places = np.array(self.sizes), np.array(self.places)
        values = np.array([e.value for e in self.estimates])
        level = np.average(values, weights=sizes)
        return [float(v) for v in level + self.line.slope * (places - np.average(places, weights=sizes))]

    @property
    def change(self) -> str | None:
        """The first segment from which the level differs from before."""
        return None if self.found is None else self.segments[self.found.at]

    @property
    def change_p(self) -> float:
        """The p-value of that change, adjusted for all segments at which it could have occurred."""
        return math.nan if self.found is None else self.found.p_adjusted

    @property
    def verdict(self) -> str:
        """``rising``, ``falling`` or ``cannot tell``."""
        if self.line.p_value != self.line.p_value:
            return "not tested"
        if self.line.p_value >= 1.0 - self.level:
            return "cannot tell"
        return "rising" if self.line.slope > 0.0 else "falling"

    @property
    def is_clear(self) -> bool:
        """Whether a trend or a change of level is shown."""
        return self.verdict in ("rising", "falling") or self.found is not None

    @property
    def sentence(self) -> str:
        """The trend and the first clear change in words."""
        line, each = self.line, f"by {format_value(abs(self.line.slope))} per step"
        ends = f"{self.level:.0%} interval {format_value(line.low)} to {format_value(line.high)}"
        said = {
            "rising": f"{self.measure} rises {each} ({ends}).",
            "falling": f"{self.measure} falls {each} ({ends}).",
        }.get(self.verdict, f"{self.measure} has no clear trend: {format_value(line.slope)} per step ({ends}).")
        if self.found is None:
            return f"{said} There is no clear change of level."
        low, high = format_value(self.found.low), format_value(self.found.high)
        gap = format_value(self.found.after - self.found.before)
        return f"{said} The first clear change is at {self.change}: {gap} from before ({low} to {high}, adjusted)."

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each segment, in order."""
        since = math.inf if self.found is None else self.found.at
        rows = zip(self.segments, self.estimates, strict=True)
        return [
            {"segment": name, "measure": self.measure, "value": e.value, **e.interval._asdict(), "changed": k >= since}
            for k, (name, e) in enumerate(rows)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The trend as plain values."""
        found, line = self.found, self.line
        changed = None if found is None else (found.after - found.before, found.low, found.high, found.p_adjusted)
        names = ("change_difference", "change_low", "change_high", "change_p")
        return {
            "measure": self.measure,
            **{name: getattr(line, name) for name in ("slope", "low", "high", "p_value", "excess")},
            "verdict": self.verdict,
            "change": self.change,
            **(dict.fromkeys(names) if changed is None else dict(zip(names, changed, strict=True))),
            "left_out": dict(self.left_out),
            "text": self.sentence,
        }

    @checked
    def to_json(self, *, indent: int | None = None) -> str:
        """The trend and its segments."""
        content = {**self.to_dict(), "segments": self.to_dicts()}
        return json.dumps(to_jsonable(content), indent=indent, ensure_ascii=False)

    @property
    def table(self) -> Table:
        """The segments as rows, in order."""
        return Table(self.to_dicts(), self.sentence)


def ordered_keys(segments: Segments, order: Sequence[Any] | None) -> list[Any]:
    """The segments in the order given, or in their own; refused where they have none: names in alphabetical order."""
    every = list(segments.evaluations)
    order = segments.order if order is None else order
    if order is None:
        if not segments.ordered and not order_of(every):
            said = f"has no order of its own ({listed(segments.names[:3])}{', …' if len(every) > 3 else ''})"
            raise InputError("segment", said, "name the segments in their {order}")
        return every
    keys = [segments._key(one) for one in order]
    if len(set(map(label_of, keys))) < len(keys) or len(keys) != len(every):
        gone = [label_of(k) for k in every if k not in keys]
        said = f"leaves out {listed(gone)}" if gone else "names a segment twice"
        raise InputError("order", said, "name each segment once")
    return keys


def _size(ev: Evaluation, spec: Spec) -> float:
    """Cases that a measure's variance goes with: of both classes where their share does not matter, else all."""
    pos, neg = float(ev.ranking.n_pos), float(ev.ranking.n_neg)
    return pos * neg / (pos + neg) if spec.measure.stratified and pos and neg else pos + neg

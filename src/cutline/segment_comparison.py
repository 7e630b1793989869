"""Several models in each segment of the rows -> a Comparison for each, adjusted for the number of segments."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from .comparison import Comparison, compare
from .errors import look_up
from .evaluation import obstacle_of
from .inference.paired import RowPairs, holm
from .inference.settings import Settings, check_paired_interval
from .quotas import check_any_quota, settled
from .segment_results import evidence, note_of
from .segment_rows import RowPool
from .segments import Segments, levels_of, segments_of
from .sources.levels import label_of
from .table import DictResult, Reported, ShownAsTable, Table, TabularResult, pluralize
from .types import Floats, IntervalName, Label, Labels, MeasureLike, QuotaLike, Scores, SegmentLike
from .validate import checked


@dataclass(frozen=True, eq=False, repr=False)
class SegmentComparison(ShownAsTable, Reported, DictResult, TabularResult, Mapping[Any, Comparison]):
    """Several models compared in each segment. Reads as a mapping from segment to Comparison.

    ``overall`` compares them on all rows. ``differences(measure)`` shows each pair of models in each segment, adjusted
    for the number of segments; ``of_model(name)`` gives one model's :class:`Segments`.
    """

    picture: ClassVar[str] = "segments"
    comparisons: Mapping[Any, Comparison]
    overall: Comparison
    models: Mapping[str, Segments] = field(repr=False)
    by: tuple[str, ...] = ("segment",)

    def __getitem__(self, segment: Labels) -> Comparison:
        if isinstance(segment, Hashable) and segment in self.comparisons:
            return self.comparisons[segment]
        return self.comparisons[self._first._key(segment)]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def _first(self) -> Segments:
        return next(iter(self.models.values()))

    @property
    def settings(self) -> Settings:
        """How intervals are made."""
        return self.overall.settings

    def of_model(self, name: str) -> Segments:
        """The segments of one model."""
        return look_up(self.models, name, "name")

    @checked
    def differences(self, measures: Sequence[str] | None = None) -> Table:
        """Each pair of models in each segment, strongest evidence first; adjusted over pairs and segments (Holm)."""
        rows = []
        for key in self._first.chosen(measures):
            found = [
                (segment, d)
                for segment, comparison in self.comparisons.items()
                for d in comparison._differences.get(key, [])
            ]
            adjusted = holm([d.p_value for _, d in found])
            made = sum(p == p for p in adjusted)
            for (segment, one), p in zip(found, adjusted, strict=True):
                d = replace(one, p_adjusted=p, comparisons=made)
                rows.append((evidence(d), {"segment": label_of(segment), **d, "note": self._note(segment)}))
        rows.sort(key=lambda pair: pair[0])
        return Table(
            [row for _, row in rows], "Differences between models by segment (a − b), strongest evidence first"
        )

    def parts(self) -> Iterator[tuple[str, str, Comparison]]:
        """The segments' names, notes and comparisons."""
        for key, comparison in self.comparisons.items():
            yield label_of(key), self._note(key), comparison

    def _note(self, segment: Labels) -> str:
        return note_of(self._first.evaluations[segment])

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict for each segment, model and measure."""
        return [{"segment": label_of(key), **row} for key, one in self.comparisons.items() for row in one.to_dicts()]

    @property
    def table(self) -> Table:
        """One row for each segment and measure, one column for each model."""
        rows = []
        for segment, comparison in self.comparisons.items():
            for key in self._first.chosen():
                row = {"segment": label_of(segment), "cases": comparison.first.facts["rows"], "measure": key}
                row |= {name: ev.estimates[key].value for name, ev in comparison.evaluations.items()}
                rows.append({**row, "note": self._note(segment)})
        return Table(rows, f"{len(self.models)} models in {pluralize(len(self), 'segment')}")

    def to_dict(self) -> dict[str, Any]:
        """The comparison of all rows, that of each segment, and the differences adjusted for the segments."""
        return {
            "by": list(self.by),
            "small": self._first.small,
            "overall": self.overall.to_dict(),
            "segments": [{"segment": label_of(k), **c.to_dict()} for k, c in self.comparisons.items()],
            "differences": self.differences().to_dicts(),
        }


@checked(interval=check_paired_interval, quota=check_any_quota)
def compare_segments(
    y_true: Labels,
    scores: Any,
    segment: SegmentLike,
    *,
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
    margin: float | None = None,
    progress: bool | None = None,
) -> SegmentComparison:
    """Compare models in each segment of the rows; options as for :func:`compare`, ``segment`` as for
    :func:`evaluate_segments`.

    >>> y, segment = [1, 0, 1, 0, 1, 0, 1, 0], ["a", "a", "a", "a", "b", "b", "b", "b"]
    >>> scores = {"one": [4, 3, 2, 1, 1, 2, 3, 4], "two": [4, 1, 3, 2, 4, 1, 3, 2]}
    >>> c = compare_segments(y, scores, segment, measures=["roc_auc"])
    >>> {key: one.best("roc_auc") for key, one in c.items()}
    {'a': 'two', 'b': 'two'}
    """
    how: dict[str, Any] = {
        "threshold": threshold,
        "quota": quota,
        "measures": measures,
        "interval": interval,
        "level": level,
        "n_resamples": n_resamples,
        "seed": seed,
        "stratify": stratify,
        "progress": progress,
    }
    both: dict[str, Any] = {"pos_label": pos_label, "sample_weight": sample_weight, "clusters": clusters}
    overall = compare(y_true, scores, margin=margin, **both, **how)
    levels = levels_of(segment, overall.first.sample)
    models: dict[str, Segments] = {}
    drawn: dict[str, list[dict[str, Floats]]] = {}
    for name, ev in overall.evaluations.items():
        specs = list(ev.specs.values())
        obstacles = {spec: obstacle_of(spec, ev.sample, ev.threshold, measures is None) for spec in specs}
        settings = (specs, obstacles, overall.settings, ev.threshold, settled(quota), name)
        pool = RowPool(ev.sample, levels.codes, len(levels.keys), *settings)
        drawn[name] = [{} for _ in levels.keys]
        models[name] = segments_of(pool, levels, drawn[name])
    comparisons: dict[Any, Comparison] = {}
    for k, key in enumerate(levels.keys):
        parts = {name: one.evaluations[key] for name, one in models.items()}
        pairs = RowPairs.of(parts, paired=True)
        kept = {name: found[k] for name, found in drawn.items()}
        one = next(iter(parts.values()))
        how = {"quota": one.quota, "threshold": overall.threshold, "margin": margin, "pairs": pairs}
        comparisons[key] = Comparison(parts, overall.specs, one.settings, replicates=kept, **how)
    return SegmentComparison(comparisons, overall, models, levels.by)

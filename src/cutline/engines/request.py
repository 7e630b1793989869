"""What to evaluate, and what that takes of a table whose totals are known: the same for every engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..catalogue.compute import SweepPlan, default_threshold, plan_sweeps
from ..catalogue.declare import Spec
from ..errors import InputError
from ..evaluation import choose_specs, obstacle_of
from ..inference.settings import Settings
from ..quotas import Quotas, why_no_cut
from ..sources.arrays import Sample
from ..tuning import TUNING
from .stream import TOLERANCE, Totals

STREAMED_RESAMPLES = 200
_PORTIONS = 100


def empty_sample(totals: Totals) -> Sample:
    """A sample without rows that knows the extremes: what the checks of the measures read."""
    weight = np.empty(0) if totals.weighted else None
    return Sample(np.empty(0, np.bool_), np.empty(0), weight, totals.low, totals.high)


@dataclass(frozen=True)
class EvaluationRequest:
    """What to evaluate, whatever the source."""

    threshold: float | None
    quota: int | float | Quotas | None
    measures: Sequence[Any] | None
    settings: Settings
    resamples: int | None
    stream: bool | None


@dataclass(frozen=True)
class Job:
    """Measures, their readings and obstacles for a table whose totals are known."""

    specs: list[Spec]
    readings: list[SweepPlan]
    obstacles: Mapping[Spec, str]
    tolerance: float
    threshold: float | None
    settings: Settings

    @classmethod
    def of(cls, request: EvaluationRequest, totals: Totals, *, segment: bool = False, batched: bool = False) -> Job:
        """Plan a streamed evaluation; in a ``segment`` a quota may be larger than the list, which then has no value.

        Where the list is ``batched``, quotas count in each batch and are not read from the whole list.
        """
        specs = choose_specs(request.measures, threshold=request.threshold, quota=request.quota)
        sample = empty_sample(totals)
        threshold = default_threshold(request.threshold, sample)
        obstacles = {spec: obstacle_of(spec, sample, threshold, request.measures is None) for spec in specs}
        if segment:
            cut = {spec: "" if spec.quota is None else why_no_cut(spec.quota, totals.cases) for spec in specs}
            obstacles = {spec: why or cut[spec] for spec, why in obstacles.items()}
        tolerance = 0.0 if totals.distinct <= TUNING.keep_all_scores else TOLERANCE
        whole = [spec for spec in specs if spec.measure.part == "ranking"]
        if whole and tolerance:
            many = f"the table has some {totals.distinct:,} distinct scores"
            said = f"name {whole[0]}, which needs every place in memory, and {many}"
            raise InputError("measures", said, "leave it out, or evaluate a sample of the rows")
        swept = [spec for spec in specs if not obstacles[spec] and not (batched and spec.measure.needs_quota)]
        readings = plan_sweeps(swept, totals.cases)
        if request.settings.interval == "bca" and not batched:
            raise InputError(
                "interval",
                "'bca' leaves out rows in turn, but the rows of this table are not kept in memory",
                "use 'percentile' or 'basic' (at these sizes the correction is far smaller than the interval)",
            )
        resamples = STREAMED_RESAMPLES if request.resamples is None else request.resamples
        settings = replace(request.settings, n_resamples=resamples)
        return cls(specs, [r for r in readings if r.specs], obstacles, tolerance, threshold, settings)

    def marks(self, cases: float) -> list[float]:
        """Places whose cuts are kept exact: every per cent of the list, as lift tables have them."""
        return [cases * k // _PORTIONS for k in range(1, _PORTIONS + 1)]

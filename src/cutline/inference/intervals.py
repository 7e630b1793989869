"""One estimator: values, and intervals where they are asked for, whatever the rows are.

``auto`` takes the declared method of a measure, closed form or from replicates, as simulated coverage recommends it
(benchmarks/coverage.py prints the table). Closed forms assume independent rows that count alike; weighted samples,
clusters and folds take the bootstrap instead.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..catalogue.compute import Computed, why_undefined
from ..catalogue.declare import Spec
from ..estimate import Estimate
from ..quotas import Quotas
from ..types import Floats
from . import blocks
from .bootstrap import Resampled
from .evidence import Evidence
from .methods import METHODS, Known, Method, choose
from .resampling import enough_replicates
from .settings import BY_REPLICATES, Settings


def estimate(
    specs: Sequence[Spec],
    evidence: Evidence,
    obstacles: Mapping[Spec, str],
    settings: Settings,
    keep: dict[str, Floats] | None = None,
) -> dict[Spec, Estimate]:
    """Values of all specs with their intervals.

    A comparison passes ``keep`` to get replicates (or, of long lists, values by block) back: of every measure where it
    compares by them.
    """
    computed = evidence.compute([spec for spec in specs if not obstacles[spec]])
    values = computed.values
    found: dict[Spec, Estimate] = {}
    resampled: dict[Spec, Method] = {}
    for spec in specs:
        value = values.get(spec, math.nan)
        method = None if value != value or settings.interval is None else choose(spec, settings, evidence)
        if value != value:
            found[spec] = Estimate(str(spec), value, reason=obstacles[spec] or _why_undefined(spec, evidence, computed))
        elif method is None:
            why = "" if settings.interval is None else _lacking(settings.interval, evidence)
            found[spec] = Estimate(str(spec), value, reason=why)
        elif method.resampled:
            resampled[spec] = method
        else:
            (low, high), name = method.make(Known(spec, value, settings.level, evidence, computed))
            found[spec] = Estimate(str(spec), value, low, high, settings.level, name)
    wanted = list(resampled)
    if keep is not None and _compares_replicates(settings, evidence):
        wanted = [spec for spec in specs if values.get(spec, math.nan) == values.get(spec) and evidence.resamples(spec)]
    if settings.interval == "auto" and evidence.is_long:
        of_blocks = [spec for spec in wanted if not spec.measure.needs_quota]
        for spec, spread in evidence.by_block(of_blocks, settings).items():
            if keep is not None:
                keep[str(spec)] = spread
            if resampled.pop(spec, None):
                low, high = blocks.block_interval(spec, values[spec], spread, settings.level)
                found[spec] = Estimate(str(spec), values[spec], low, high, settings.level, "blocks")
        wanted = [spec for spec in resampled if spec.measure.needs_quota]
        settings = replace(settings, n_resamples=enough_replicates(settings.n_resamples, evidence.ranking.rows))
    if wanted:
        jackknife = {spec for spec, method in resampled.items() if method.jackknife}
        how = {s: Resampled(values[s], is_stratified(s, settings, evidence), s in jackknife) for s in wanted}
        drawn = evidence.replicate(how, settings)
        if keep is not None:
            keep.update({str(spec): replicates.values for spec, replicates in drawn.items()})
        for spec, method in resampled.items():
            known = Known(spec, values[spec], settings.level, evidence, computed, drawn[spec])
            found[spec] = _from_replicates(known, method, settings)
    return {spec: found[spec] for spec in specs}


def _compares_replicates(settings: Settings, evidence: Evidence) -> bool:
    """Whether models are compared by replicates or blocks, not by leaving rows out."""
    if settings.interval is None or not evidence.has_jackknife:
        return settings.interval is not None
    return settings.interval in BY_REPLICATES or (settings.interval == "auto" and evidence.is_long)


def _lacking(interval: str, evidence: Evidence) -> str:
    """That a method does not exist here."""
    if interval in ("auto", "bootstrap"):
        return "no interval: replicates of this measure cannot be drawn"
    rows = "" if evidence.independent or interval in BY_REPLICATES else " of weighted, clustered or batched rows"
    return f"no {interval} interval for this measure{rows}"


def is_stratified(spec: Spec, settings: Settings, evidence: Evidence | None = None) -> bool:
    """Whether replicates keep the class sizes: by default where their share does not matter or was chosen."""
    if settings.stratify is not None:
        return settings.stratify
    return spec.measure.stratified or (evidence is not None and evidence.set_by_design)


def _from_replicates(known: Known, method: Method, settings: Settings) -> Estimate:
    (low, high), name = method.make(known)
    name = known.evidence.label(name)
    own = METHODS[known.measure.interval]
    one_cut = not isinstance(known.spec.quota, Quotas)
    plain = (
        one_cut
        and settings.interval == "auto"
        and not known.evidence.ranking.weighted
        and known.spec.ties == "expected"
    )
    if low == high and plain and not own.resampled:
        # no replicate differs (every place a hit): the closed form says more than an interval of no width
        (low, high), name = own.make(known)
    undefined = known.replicates.undefined
    return Estimate(str(known.spec), known.value, low, high, known.level, name, undefined_replicates=undefined)


def _why_undefined(spec: Spec, evidence: Evidence, computed: Computed) -> str:
    cut = computed.cut(spec) if spec.measure.part == "cut" else None
    return why_undefined(spec.measure, evidence.ranking.n_pos, evidence.ranking.n_neg, cut)

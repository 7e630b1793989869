"""Intervals of measures of several classes: closed forms by the delta method, or the bootstrap by reweighting rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..catalogue.class_compute import COLUMN_AREAS, ClassTotals
from ..catalogue.classes import ClassSpec, ClassSums, class_reason, why_inapplicable_to_classes
from ..catalogue.declare import Spec, parse_measure
from ..class_sample import ClassSample
from ..estimate import Estimate, Interval
from ..kernels.plain import harmonic_table
from ..progress import Progress
from ..types import Floats
from .class_influence import Influence, acceleration, by_unit, has_few, influences, measure_spread, variance_of
from .normal import t_quantile
from .proportions import METHODS as PROPORTION_METHODS
from .proportions import wilson, wilson_shares, z_of
from .resampling import enough_replicates
from .scales import edge_limits, expit
from .settings import ClassSettings, check_method_exists

_BLOCK = 16  # replicates summed side by side


def class_replicates(
    totals: ClassTotals, specs: Sequence[ClassSpec], n_resamples: int, seed: int, progress: bool | None = None
) -> dict[ClassSpec, Floats]:
    """The values of each spec in ``n_resamples`` replicates; the same seed draws the same rows for every model."""
    from ..kernels import classes as class_kernels
    from ..threads import in_threads

    sample = totals.sample
    n, k = len(sample), sample.n_classes
    rows = totals.rows(specs)
    values = np.stack(list(rows.values()), axis=1) if rows else np.empty((n, 0))
    unit = np.empty(0, np.int32) if sample.cluster is None else sample.cluster
    n_units = n if sample.cluster is None else int(sample.cluster.max()) + 1
    weight, code = sample.row_weight, sample.code
    blocks = -(-n_resamples // _BLOCK)
    areas = {area for spec in specs for area in spec.areas}
    times = np.empty((blocks, n, _BLOCK), np.uint8)
    hits, truth, answers = (np.zeros((blocks, k, _BLOCK)) for _ in range(3))
    sums = np.zeros((blocks, len(rows), _BLOCK))
    information, risk = np.zeros((blocks, _BLOCK)), np.zeros((blocks, _BLOCK))
    harmonic = harmonic_table(n_drawn(sample, n_units)) if sample.weight is None else np.empty(0)

    def draw(block: int) -> None:
        counts = np.empty(n_units, np.uint16)
        class_kernels.draw_times(seed, block * _BLOCK, unit, n_units, counts, times[block])
        of_block = (times[block], weight, code)
        class_kernels.resample_rows(
            *of_block, sample.predicted, values, hits[block], truth[block], answers[block], sums[block]
        )
        if "information" in areas:
            assert sample.facts is not None
            class_kernels.resample_information(*of_block, sample.facts.true, truth[block], information[block])
        if "risk" in areas:
            ranked = totals.confidence_order
            class_kernels.resample_risk(
                times[block], weight, ranked.order, ranked.tie, sample.right, harmonic, risk[block]
            )
        shown.advance(_BLOCK)

    wanted = [at for at, area in enumerate(COLUMN_AREAS) if area in areas]
    columns = np.full((3, k, blocks * _BLOCK), np.nan)
    if "risk" in areas:
        _ = totals.confidence_order  # sorted once, before the threads
    with Progress("bootstrap", blocks * _BLOCK, progress) as shown:
        in_threads([lambda block=block: draw(block) for block in range(blocks)])  # type: ignore[misc]
    if wanted:
        with np.errstate(divide="ignore"):
            shares = 1.0 / truth

        def column(at: int) -> None:
            ranked = totals.column_order(at)
            kinds, out = code[ranked.order], np.empty((3, _BLOCK))
            for block in range(blocks):
                class_kernels.resample_column(
                    times[block], weight, ranked.order, ranked.tie, kinds, at, truth[block], shares[block], out
                )
                columns[:, at, block * _BLOCK : (block + 1) * _BLOCK] = out
            shown.advance()

        with Progress("bootstrap", k, progress) as shown:
            in_threads([lambda at=at: column(at) for at in range(k)])  # type: ignore[misc]

    def by_replicate(blocks: Floats) -> Floats:
        return np.moveaxis(blocks, 1, 2).reshape(blocks.shape[0] * _BLOCK, blocks.shape[1])[:n_resamples]

    total = by_replicate(truth).sum(axis=1)
    means = by_replicate(sums) / total[:, None]
    whole = ClassSums(
        by_replicate(hits),
        by_replicate(truth),
        by_replicate(answers),
        information=information.reshape(-1)[:n_resamples] / total,
        risk=risk.reshape(-1)[:n_resamples],
        **{area: columns[at].T[:n_resamples] for at, area in enumerate(COLUMN_AREAS)},
    )
    place = {spec: at for at, spec in enumerate(rows)}
    return {
        spec: np.asarray(spec.compute(replace(whole, mean=means[:, place[spec]]) if spec in place else whole))
        for spec in specs
    }


def n_drawn(sample: Any, n_units: int) -> int:
    """The most rows that a replicate can hold."""
    return len(sample) if sample.cluster is None else n_units * int(np.bincount(sample.cluster).max())


BOOTSTRAP = ("percentile", "basic", "bca")
NAMES = ("auto", "delta", "bootstrap", *PROPORTION_METHODS, *BOOTSTRAP)


def estimate_classes(
    totals: ClassTotals, specs: Sequence[ClassSpec], settings: ClassSettings
) -> tuple[dict[ClassSpec, Estimate], dict[ClassSpec, Floats]]:
    """Values with intervals, and the part of each independent unit in each value, for comparisons."""
    sample, interval, level = totals.sample, settings.interval, settings.level
    obstacles = {spec: why_inapplicable_to_classes(spec, sample) for spec in specs}
    possible = [spec for spec in specs if not obstacles[spec]]
    values = totals.values(possible)
    estimates = {}
    for spec in specs:
        value = values.get(spec, math.nan)
        if value != value:
            reason = obstacles[spec] or class_reason(spec, totals.sums([spec]), sample.classes)
            estimates[spec] = Estimate(str(spec), value, reason=reason)
    known = [spec for spec in specs if spec not in estimates]
    if interval is None:
        return estimates | {spec: Estimate(str(spec), values[spec]) for spec in known}, {}
    influence = influences(totals, known)
    units = {spec: by_unit(part, sample.cluster) for spec, part in influence.parts.items()}
    drawn: Mapping[ClassSpec, Floats] = {}
    if interval in ("bootstrap", *BOOTSTRAP) and known:
        enough = enough_replicates(settings.n_resamples, len(sample))
        drawn = class_replicates(totals, known, enough, settings.seed, settings.progress)
    for spec in known:
        if spec in drawn:
            method = "bca" if interval == "bootstrap" else interval
            low, high = replicate_interval(values[spec], drawn[spec], acceleration(units[spec]), method, level)
            undefined = int(np.isnan(drawn[spec]).sum())
        else:
            (low, high), method = closed_interval(spec, values[spec], units[spec], totals, influence, interval, level)
            undefined = 0
        given = level if low == low else math.nan
        why = f"no {interval} interval for this measure" if low != low and interval in PROPORTION_METHODS else ""
        estimates[spec] = Estimate(str(spec), values[spec], low, high, given, method, why, undefined)
    check_method_exists((estimates[spec] for spec in specs), interval)
    return {spec: estimates[spec] for spec in specs}, units


def closed_interval(
    spec: ClassSpec,
    value: float,
    units: Floats,
    totals: ClassTotals,
    influence: Influence,
    interval: str,
    level: float,
) -> tuple[Interval, str]:
    """The closed form of a measure on its scale; Wilson's for a share of cases that count alike."""
    sample = totals.sample
    plain = sample.weight is None and sample.cluster is None
    n = float(len(sample))
    if spec.measure.proportion and plain and interval != "delta":
        method = interval if interval in PROPORTION_METHODS else "wilson"
        return PROPORTION_METHODS[method](round(value * n), n, level), method
    if interval in PROPORTION_METHODS:
        return Interval(math.nan, math.nan), ""
    if interval == "auto":
        joined = mean_interval(spec, value, units, totals, influence, level)
        if joined is not None:
            return _without_bias(joined, value, spec, totals, influence), "mover"
    error = math.sqrt(_widened(spec, units, sample, level)) if len(units) > 1 else math.nan
    scale = "plain" if interval == "delta" else spec.scale
    trials = _trials_at_edge(spec, totals)
    limits, method = delta_interval(value, error, scale, spec.range, trials, level)
    if method == "delta_logit" and trials * (1.0 - value) < 1.0 and has_few(sample):  # less than one loss in all
        low, high = wilson(value * trials, trials, level)
        limits = Interval(min(limits.low, low), max(limits.high, high))
    return _without_bias(limits, value, spec, totals, influence), method


def _without_bias(
    limits: Interval, value: float, spec: ClassSpec, totals: ClassTotals, influence: Influence
) -> Interval:
    """The interval of a mean of average precisions, moved by their bias, which does not average out over classes.

    The few best places of a class look too good: of ten unbalanced classes with 600 cases, a mean of .22 is .24 on
    average. The bias falls as log n/n, of which the jackknife sees about two thirds (benchmarks/classes.py, unbalanced
    classes), hence its estimate times 1.5. The target is the value in a large sample. The value itself stays inside.
    """
    if "precision" not in spec.areas:
        return limits
    share = totals.decisions.truth if spec.measure.name == "weighted" else np.ones(totals.sample.n_classes)
    bias = 1.5 * max(float(np.average(influence.column_variance[:, 2], weights=share)), 0.0)
    down = 0.0 if has_few(totals.sample) else bias  # of classes of three cases the bias itself is too little known
    return Interval(max(limits.low - bias, 0.0), max(limits.high - down, value))


def _widened(spec: ClassSpec, units: Floats, sample: ClassSample, level: float) -> float:
    """Variance of a measure, times (t/z)² where it rests on few cases of a class."""
    variance, freedom = measure_spread(spec, units, sample)
    return variance * (t_quantile(level, freedom) / z_of(level)) ** 2 if freedom < math.inf else variance


def delta_interval(
    value: float, error: float, scale: str, limits: tuple[float, float], trials: float, level: float
) -> tuple[Interval, str]:
    """value ± z·error on the scale of the measure; ``trials`` stand in where no spread is to be seen at an end."""
    z = z_of(level)
    if not math.isfinite(error):
        return Interval(math.nan, math.nan), ""
    bounded = (max(limits[0], -1.0), limits[1])  # a perfect kappa may fall short as one of two equal classes does
    if limits[1] < math.inf and bounded[0] <= value and (value in bounded or error == 0.0):
        return edge_limits(value, trials, level, bounded), "wilson_effective"
    if scale == "wilson":
        effective = value * (1.0 - value) / error**2
        return wilson(value * effective, effective, level), "wilson_effective"
    if scale == "logit":
        middle, half = math.log(value / (1.0 - value)), z * error / (value * (1.0 - value))
        return Interval(expit(middle - half), expit(middle + half)), "delta_logit"
    if scale == "atanh" and abs(value) < 1.0:
        middle, half = math.atanh(value), z * error / (1.0 - value * value)
        return Interval(math.tanh(middle - half), math.tanh(middle + half)), "delta_z"
    if scale == "log" and value > 0.0:
        ratio = math.exp(z * error / value)
        return Interval(value / ratio, min(value * ratio, limits[1])), "delta_log"
    low, high = value - z * error, value + z * error
    return Interval(max(low, limits[0]), min(high, limits[1])), "delta"


def mean_interval(
    spec: ClassSpec, value: float, units: Floats, totals: ClassTotals, influence: Influence, level: float
) -> Interval | None:
    """Interval of a mean over classes from the intervals of its classes; None where these have no closed form.

    A class of ten cases, all of them right, shows no spread, so that the delta method alone is too sure. The distances
    from each class's value to the ends of its own interval take the place of its standard error, and what the classes
    have in common is kept (Zou & Donner 2008, the method of variance estimates recovery).
    """
    sample, sums = totals.sample, totals.decisions
    name = spec.measure.name
    inner = parse_measure(spec.measure.mean_of) if spec.measure.mean_of else spec.inner
    if inner is None or name == "micro" or (name == "weighted" and inner.measure.name in _AREA_OF):
        return None
    share = sums.truth / sums.total if name == "weighted" else np.full(sample.n_classes, 1.0 / sample.n_classes)
    found = class_distances(inner, totals, influence, level)
    if found is None:
        return None
    low, high, variance = (np.where(share > 0, part, 0.0) for part in found)
    z = z_of(level)
    whole = z**2 * _widened(spec, units, sample, level)
    rows = float(len(sample)) if sample.cluster is None else float(len(units))
    design = variance_of(units) / max(variance_of(influence.parts[spec]), 1e-300) if rows < len(sample) else 1.0
    shared = whole - z**2 * design * float(share**2 @ variance)
    down, up = (math.sqrt(max(shared + design * float(share**2 @ gap**2), 0.0)) for gap in (low, high))
    return Interval(max(value - down, spec.range[0]), min(value + up, spec.range[1]))


def class_distances(
    inner: Spec, totals: ClassTotals, influence: Influence, level: float
) -> tuple[Floats, Floats, Floats] | None:
    """For each class: how far the ends of its interval lie from its value, and the variance behind it."""
    sample, sums = totals.sample, totals.decisions
    cases = len(sample) if sample.weight is None else sums.total**2 / float(sample.weight @ sample.weight)
    scale = cases / sums.total  # as many cases as carry the information of the weighted rows
    cells = sums.cells
    name = inner.measure.name
    with np.errstate(all="ignore"):
        if inner.measure.interval == "wilson_f":  # F1 = 2F/(1 + F), F = TP/(TP + FP + FN) (Flores et al. 2022)
            trials = (sums.truth + sums.answers - sums.hits) * scale
            share = sums.hits * scale / trials
            low, high = (2.0 * end / (1.0 + end) for end in wilson_shares(share, trials, level))
            value = 2.0 * share / (1.0 + share)
            variance = share * (1.0 - share) / trials * (2.0 / (1.0 + share) ** 2) ** 2
        elif inner.measure.proportion is not None and inner.measure.scale is None:
            hits, trials = (part * scale for part in inner.measure.proportion(cells))
            value = hits / trials
            low, high = wilson_shares(value, trials, level)
            variance = value * (1.0 - value) / trials
        elif name in _AREA_OF:
            line, at = _AREA_OF[name]
            value, variance = totals.areas[line], influence.column_variance[:, at]
            positives = np.minimum(sums.truth, sums.total - sums.truth) * scale
            seen = (variance > 0) & (value > 0) & (value < 1) & (positives >= 2.0)  # a single case shows no spread
            trials = np.where(seen, value * (1.0 - value) / variance, positives)
            if name == "average_precision":  # no surer than a share of the positives (Boyd et al. 2013)
                trials = np.minimum(trials, sums.truth * scale)
            low, high = wilson_shares(value, trials, level)
        else:
            return None
    return value - low, high - value, variance


_AREA_OF = {"roc_auc": (0, 0), "average_precision": (2, 1)}


def _trials_at_edge(spec: ClassSpec, totals: ClassTotals) -> float:
    """As many trials as give a mean over classes of equal rates its variance; all cases where classes do not count."""
    sample, truth = totals.sample, totals.decisions.truth
    rows = float(len(sample)) if sample.cluster is None else float(sample.cluster.max() + 1)
    if spec.measure.proportion or spec.measure.name in ("micro", "weighted"):
        return rows
    present = truth[truth > 0] * rows / truth.sum()
    return float(len(present) ** 2 / np.sum(1.0 / present))


def replicate_interval(value: float, drawn: Floats, bend: float, method: str, level: float) -> Interval:
    """Percentile, basic or BCa interval from replicates; ``bend`` is BCa's acceleration."""
    from scipy.special import ndtr, ndtri

    kept = drawn[~np.isnan(drawn)]
    if len(kept) < 2:
        return Interval(math.nan, math.nan)
    tails = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    if method == "basic":
        low, high = np.quantile(kept, tails)
        return Interval(2.0 * value - float(high), 2.0 * value - float(low))
    if method == "bca":
        slack = 1e-9 * max(1.0, abs(value))
        below = np.count_nonzero(kept < value - slack) + 0.5 * np.count_nonzero(np.abs(kept - value) <= slack)
        share = min(max(below / len(kept), 0.5 / len(kept)), 1.0 - 0.5 / len(kept))
        shift = float(ndtri(share))
        z = shift + ndtri(tails)
        tails = ndtr(shift + z / (1.0 - bend * z))
    low, high = np.quantile(kept, tails)
    return Interval(float(low), float(high))

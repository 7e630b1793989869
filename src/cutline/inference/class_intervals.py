"""Intervals of measures of several classes: closed forms by the delta method, or the bootstrap by reweighting rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import (
    COLUMN_AREAS,
    ClassSums,
    ClassTotals,
    ColumnOrder,
    why_inapplicable_to_classes,
    why_undefined_in_classes,
)
from ..catalogue.declare import Spec
from ..class_sample import ClassSample
from ..estimate import BY_REPLICATES, Estimate, Interval, Settings
from ..kernels import compiled
from ..kernels.layout import harmonic_table
from ..runtime import Progress
from ..types import Floats
from .closed_forms import auc_interval, auc_spread, newcombe_limits
from .influence import Influence, add_column, by_unit, has_few, influences, measure_spread, variance_of
from .intervals import check_method_exists
from .limits import METHODS as PROPORTION_METHODS
from .limits import edge_limits, effective_freedom, expit, t_quantile, wilson, wilson_shares, z_of
from .resampling import Replicates, acceleration, enough_replicates

_BLOCK = 16  # replicates summed side by side: the counts of one row in them fill half a cache line
# lines of ClassTotals.areas and columns of Influence.column_variance for the two-class measures that a column has
_AREA_OF = {"roc_auc": (0, 0), "average_precision": (2, 1)}
_NO_INTERVAL = Interval(math.nan, math.nan)


def class_replicates(
    totals: ClassTotals, specs: Sequence[Spec], n_resamples: int, seed: int, progress: bool | None = None
) -> dict[Spec, Floats]:
    """The values of each spec in ``n_resamples`` replicates; the same seed draws the same rows for every model."""
    from ..runtime import in_threads

    sample = totals.sample
    n, k = len(sample), sample.n_classes
    rows = totals.rows(specs)
    values = np.stack(list(rows.values()), axis=1) if rows else np.empty((n, 0))
    unit, n_units, most = np.empty(0, np.int32), n, n
    if sample.cluster is not None:  # clusters differ in size: a replicate may have more rows than the sample
        unit, n_units = sample.cluster, int(sample.cluster.max()) + 1
        most = n_units * int(np.bincount(sample.cluster).max())
    weight, code = sample.row_weight, sample.code
    areas = {area for spec in specs for area in spec.measure.areas}
    blocks = -(-n_resamples // _BLOCK)
    times = np.empty((blocks, n, _BLOCK), np.uint8)
    hits, truth, answers = (np.zeros((blocks, k, _BLOCK)) for _ in range(3))
    sums = np.zeros((blocks, len(rows), _BLOCK))
    information, risk = np.zeros((blocks, _BLOCK)), np.zeros((blocks, _BLOCK))
    columns = np.full((3, k, blocks * _BLOCK), np.nan)
    harmonic = harmonic_table(most) if sample.weight is None else np.empty(0)
    by_confidence = totals.confidence_order if "risk" in areas else None  # sorted once, before the threads

    def draw(block: int) -> None:
        drawn = times[block]
        compiled.draw_times(seed, block * _BLOCK, unit, n_units, drawn)
        out = hits[block], truth[block], answers[block], sums[block]
        compiled.resample_rows(drawn, weight, code, sample.predicted, values, *out)
        if "information" in areas:
            assert sample.facts is not None
            compiled.resample_information(drawn, weight, code, sample.facts.true, truth[block], information[block])
        if by_confidence is not None:
            order, tie = by_confidence.order, by_confidence.tie
            compiled.resample_risk(drawn, weight, order, tie, sample.right, harmonic, risk[block])
        shown.advance(_BLOCK)

    def column(at: int) -> None:
        ranked = totals.column_order(at)
        kinds, out = code[ranked.order], np.empty((3, _BLOCK))
        for block in range(blocks):
            compiled.resample_column(
                times[block], weight, ranked.order, ranked.tie, kinds, at, truth[block], shares[block], out
            )
            columns[:, at, block * _BLOCK : (block + 1) * _BLOCK] = out
        shown.advance()

    with Progress("bootstrap", blocks * _BLOCK, progress) as shown:
        in_threads([lambda block=block: draw(block) for block in range(blocks)])  # type: ignore[misc]
    if areas & set(COLUMN_AREAS):
        with np.errstate(divide="ignore"):
            shares = 1.0 / truth
        with Progress("bootstrap", k, progress) as shown:
            in_threads([lambda at=at: column(at) for at in range(k)])  # type: ignore[misc]

    def by_replicate(blocks: Floats) -> Floats:
        return np.moveaxis(blocks, 1, 2).reshape(blocks.shape[0] * _BLOCK, blocks.shape[1])[:n_resamples]

    total = by_replicate(truth).sum(axis=1)
    means = dict(zip(rows, (by_replicate(sums) / total[:, None]).T, strict=True))
    whole = ClassSums(
        by_replicate(hits),
        by_replicate(truth),
        by_replicate(answers),
        information=information.reshape(-1)[:n_resamples] / total,
        risk=risk.reshape(-1)[:n_resamples],
        **{area: columns[at].T[:n_resamples] for at, area in enumerate(COLUMN_AREAS)},
    )
    return {
        spec: np.asarray((replace(whole, mean=means[spec]) if spec in means else whole).value(spec)) for spec in specs
    }


def estimate_classes(
    totals: ClassTotals, specs: Sequence[Spec], settings: Settings
) -> tuple[dict[Spec, Estimate], dict[Spec, Floats]]:
    """Values with intervals, and the part of each independent unit in each value, for comparisons."""
    sample, interval, level = totals.sample, settings.interval, settings.level
    obstacles = {spec: why_inapplicable_to_classes(spec.measure, sample) for spec in specs}
    values = totals.values([spec for spec in specs if not obstacles[spec]])
    estimates = {}
    for spec in specs:
        value = values.get(spec, math.nan)
        if value != value:
            reason = obstacles[spec] or why_undefined_in_classes(spec.measure, totals.sums([spec]), sample.classes)
            estimates[spec] = Estimate(str(spec), value, reason=reason)
    defined = [spec for spec in specs if spec not in estimates]
    if interval is None:
        return estimates | {spec: Estimate(str(spec), values[spec]) for spec in defined}, {}
    influence = influences(totals, defined)
    units = {spec: by_unit(part, sample.cluster) for spec, part in influence.parts.items()}
    drawn: Mapping[Spec, Floats] = {}
    if interval in BY_REPLICATES and defined:
        enough = enough_replicates(settings.n_resamples, len(sample))
        drawn = class_replicates(totals, defined, enough, settings.seed, settings.progress)
    for spec in defined:
        value, undefined = values[spec], 0
        if spec in drawn:
            method = "bca" if interval == "bootstrap" else interval
            rounding = 1e-9 * max(1.0, abs(value))  # of sums of weights
            replicates = Replicates(value, drawn[spec], skew=acceleration(units[spec]), rounding=rounding)
            (low, high), undefined = replicates.interval(method, level), replicates.undefined
        else:
            inputs = _ClassInputs(spec, value, units[spec], totals, influence, level)
            (low, high), method = inputs.closed_interval(interval)
        given = level if low == low else math.nan
        why = f"no {interval} interval for this measure" if low != low and interval in PROPORTION_METHODS else ""
        estimates[spec] = Estimate(str(spec), value, low, high, given, method, why, undefined)
    check_method_exists((estimates[spec] for spec in specs), interval)
    return {spec: estimates[spec] for spec in specs}, units


@dataclass(frozen=True, eq=False)
class _ClassInputs:
    """What a closed form may read of one measure: its value, and the part of each independent unit in it."""

    spec: Spec
    value: float
    units: Floats
    totals: ClassTotals
    influence: Influence
    level: float

    def closed_interval(self, interval: str) -> tuple[Interval, str]:
        """The closed form of a measure on its scale; Wilson's for a share of cases that count alike."""
        one, sample, value, level = self.spec.measure, self.totals.sample, self.value, self.level
        if one.interval == "wilson" and sample.weight is None and sample.cluster is None and interval != "delta":
            method = interval if interval in PROPORTION_METHODS else "wilson"
            n = float(len(sample))
            return PROPORTION_METHODS[method](round(value * n), n, level), method
        if interval in PROPORTION_METHODS:
            return _NO_INTERVAL, ""
        joined = self.mean_interval() if interval == "auto" else None
        if joined is not None:
            return self.without_bias(joined), "mover"
        error = math.sqrt(self.widened_variance) if len(self.units) > 1 else math.nan
        trials = self.trials_at_edge
        how = "delta" if interval == "delta" else one.interval
        limits, method = delta_interval(value, error, how, one.range, trials, level)
        if method == "delta_logit" and trials * (1.0 - value) < 1.0 and has_few(sample):  # less than one loss in all
            low, high = wilson(value * trials, trials, level)
            limits = Interval(min(limits.low, low), max(limits.high, high))
        return self.without_bias(limits), method

    @property
    def widened_variance(self) -> float:
        """Variance of the measure, times (t/z)² where it rests on few cases of a class."""
        variance, freedom = measure_spread(self.spec, self.units, self.totals.sample)
        return variance * (t_quantile(self.level, freedom) / z_of(self.level)) ** 2 if freedom < math.inf else variance

    @property
    def trials_at_edge(self) -> float:
        """Trials that give a mean over classes of equal rates its variance; all cases where classes do not count."""
        one, sample, truth = self.spec.measure, self.totals.sample, self.totals.decisions.truth
        rows = float(len(sample)) if sample.cluster is None else float(sample.cluster.max() + 1)
        if one.interval == "wilson" or one.mean in ("micro", "weighted"):
            return rows
        present = truth[truth > 0] * rows / truth.sum()
        return float(len(present) ** 2 / np.sum(1.0 / present))

    def without_bias(self, limits: Interval) -> Interval:
        """The interval of a mean of average precisions, moved by their bias, which does not average out over classes.

        The few best places of a class look too good: of ten unbalanced classes with 600 cases, a mean of .22 is .24 on
        average. The bias falls as log n/n, of which the jackknife sees about two thirds (benchmarks/classes.py,
        unbalanced classes), hence its estimate times 1.5. The target is the value in a large sample. The value itself
        stays inside.
        """
        one, sample = self.spec.measure, self.totals.sample
        if "precision" not in one.areas:
            return limits
        share = self.totals.decisions.truth if one.mean == "weighted" else np.ones(sample.n_classes)
        bias = 1.5 * max(float(np.average(self.influence.column_variance[:, 2], weights=share)), 0.0)
        down = 0.0 if has_few(sample) else bias  # of classes of three cases the bias itself is too little known
        return Interval(max(limits.low - bias, 0.0), max(limits.high - down, self.value))

    def mean_interval(self) -> Interval | None:
        """Interval of a mean over classes from the intervals of its classes; None where these have no closed form.

        A class of ten cases, all of them right, shows no spread, so that the delta method alone is too sure. The
        distances from each class's value to the ends of its own interval take the place of its standard error, and what
        the classes have in common is kept (Zou & Donner 2008, the method of variance estimates recovery).
        """
        one, sample, sums = self.spec.measure, self.totals.sample, self.totals.decisions
        inner = one.mean_of
        if inner is None or one.mean == "micro" or (one.mean == "weighted" and one.areas):
            return None
        share = np.full(sample.n_classes, 1.0 / sample.n_classes)
        if one.mean == "weighted":
            share = sums.truth / sums.total
        distances = class_distances(inner, self.totals, self.influence, self.level)
        if distances is None:
            return None
        low, high, variance = (np.where(share > 0, part, 0.0) for part in distances)
        z = z_of(self.level)
        design = 1.0
        if sample.cluster is not None and len(self.units) < len(sample):
            design = variance_of(self.units) / max(variance_of(self.influence.parts[self.spec]), 1e-300)
        shared = z**2 * self.widened_variance - z**2 * design * float(share**2 @ variance)
        down, up = (math.sqrt(max(shared + design * float(share**2 @ gap**2), 0.0)) for gap in (low, high))
        return Interval(max(self.value - down, one.range[0]), min(self.value + up, one.range[1]))


def delta_interval(
    value: float, error: float, how: str, limits: tuple[float, float], trials: float, level: float
) -> tuple[Interval, str]:
    """value ± z·error on the scale of the method; ``trials`` stand in where no spread is to be seen at an end."""
    z = z_of(level)
    if not math.isfinite(error):
        return _NO_INTERVAL, ""
    bounded = (max(limits[0], -1.0), limits[1])  # a perfect kappa may fall short as one of two equal classes does
    if limits[1] < math.inf and bounded[0] <= value and (value in bounded or error == 0.0):
        return edge_limits(value, trials, level, bounded), "wilson_effective"
    if how in ("wilson", "wilson_effective"):
        effective = value * (1.0 - value) / error**2
        return wilson(value * effective, effective, level), "wilson_effective"
    if how == "delta_logit":
        middle, half = math.log(value / (1.0 - value)), z * error / (value * (1.0 - value))
        return Interval(expit(middle - half), expit(middle + half)), how
    if how == "delta_z" and abs(value) < 1.0:
        middle, half = math.atanh(value), z * error / (1.0 - value * value)
        return Interval(math.tanh(middle - half), math.tanh(middle + half)), how
    if how == "delta_log" and value > 0.0:
        ratio = math.exp(z * error / value)
        return Interval(value / ratio, min(value * ratio, limits[1])), how
    low, high = value - z * error, value + z * error
    return Interval(max(low, limits[0]), min(high, limits[1])), "delta"


def class_distances(
    inner: Spec, totals: ClassTotals, influence: Influence, level: float
) -> tuple[Floats, Floats, Floats] | None:
    """For each class: how far the ends of its interval lie from its value, and the variance behind it."""
    sample, sums, one = totals.sample, totals.decisions, inner.measure
    cases = len(sample) if sample.weight is None else sums.total**2 / float(sample.weight @ sample.weight)
    scale = cases / sums.total  # as many cases as carry the information of the weighted rows
    with np.errstate(all="ignore"):
        if one.interval == "wilson_f":  # F1 = 2F/(1 + F), F = TP/(TP + FP + FN) (Flores et al. 2022)
            trials = (sums.truth + sums.answers - sums.hits) * scale
            share = sums.hits * scale / trials
            low, high = (2.0 * end / (1.0 + end) for end in wilson_shares(share, trials, level))
            value = 2.0 * share / (1.0 + share)
            variance = share * (1.0 - share) / trials * (2.0 / (1.0 + share) ** 2) ** 2
        elif one.proportion is not None and one.scale is None:
            hits, trials = (part * scale for part in one.proportion(sums.cells))
            value = hits / trials
            low, high = wilson_shares(value, trials, level)
            variance = value * (1.0 - value) / trials
        elif one.name in _AREA_OF:
            line, at = _AREA_OF[one.name]
            value, variance = totals.areas[line], influence.column_variance[:, at]
            positives = np.minimum(sums.truth, sums.total - sums.truth) * scale
            seen = (variance > 0) & (value > 0) & (value < 1) & (positives >= 2.0)  # a single case shows no spread
            trials = np.where(seen, value * (1.0 - value) / variance, positives)
            if one.name == "average_precision":  # no surer than a share of the positives (Boyd et al. 2013)
                trials = np.minimum(trials, sums.truth * scale)
            low, high = wilson_shares(value, trials, level)
        else:
            return None
    return value - low, high - value, variance


def column_estimates(totals: ClassTotals, level: float) -> list[dict[str, Estimate]]:
    """Estimates of ``roc_auc`` and ``average_precision`` for each class; the rows may weigh and cluster."""
    sample, truth = totals.sample, totals.decisions.truth
    n, k = len(sample), sample.n_classes
    squares = np.zeros(3)
    estimates = []
    for at in range(k):
        auc, precision = float(totals.areas[0, at]), float(totals.areas[2, at])
        if auc != auc or precision != precision:
            reason = "no case is of this class" if truth[at] == 0 else "every case is of this class"
            values = {"roc_auc": auc, "average_precision": precision}
            estimates.append({name: Estimate(name, v, reason=reason if v != v else "") for name, v in values.items()})
            continue
        ranked, out, slopes = totals.column_order(at), np.zeros((n, 2)), np.zeros((2, 3, k))
        slopes[0, 0, at] = slopes[1, 2, at] = 1.0
        add_column(totals, ranked, at, slopes, out, squares)
        of_auc, of_precision = (by_unit(part * sample.row_weight, sample.cluster) for part in out.T)
        (low, high), method = _of_area(auc, of_auc, ranked, sample, at, level)
        area = Estimate("roc_auc", auc, low, high, level, method)
        # Wilson's interval with no more trials than positives (Boyd et al. 2013), nor than the spread allows
        trials, error = float(np.count_nonzero(sample.code == at)), math.sqrt(variance_of(of_precision))
        if error > 0 and precision < 1.0:
            trials = min(precision * (1.0 - precision) / error**2, trials)
        low, high = wilson(precision * trials, trials, level)
        of_list = Estimate("average_precision", precision, low, high, level, "wilson_effective")
        estimates.append({"roc_auc": area, "average_precision": of_list})
    return estimates


def _of_area(
    auc: float, units: Floats, ranked: ColumnOrder, sample: ClassSample, at: int, level: float
) -> tuple[Interval, str]:
    """As of two classes: DeLong's interval with t; with weights or clusters the delta method, also with t."""
    positive = sample.code[ranked.order] == at
    n_pos = float(np.count_nonzero(positive))
    n_neg = len(sample) - n_pos
    if min(n_pos, n_neg) < 2:
        return newcombe_limits(auc, n_pos, n_neg, z_of(level)), "newcombe"
    if sample.cluster is not None or sample.weight is not None:
        error = math.sqrt(variance_of(units)) * t_quantile(level, effective_freedom(units)) / z_of(level)
        return delta_interval(auc, error, "delta_logit", (0.0, 1.0), min(n_pos, n_neg), level)
    starts = np.flatnonzero(np.concatenate([[True], ~ranked.tie[:-1]]))
    of_group = [np.add.reduceat(rows.astype(np.float64), starts) for rows in (positive, ~positive)]
    _, variance, freedom = auc_spread(*of_group)
    return auc_interval(auc, variance, n_pos, n_neg, level, freedom, logit=True)


def share_of(
    sample: ClassSample, rows: NDArray[np.intp], hit: NDArray[np.bool_], level: float
) -> tuple[float, Interval]:
    """Share of ``hit`` among ``rows`` of a sample, and its interval; nan where there are no rows.

    The trials are the rows; with weights as many as carry the same information (Kish 1965); with clusters as many as
    give the variance between clusters, where that can be seen.
    """
    if not len(rows):
        return math.nan, _NO_INTERVAL
    weight = np.ones(len(rows)) if sample.weight is None else sample.weight[rows]
    total = float(weight.sum())
    value = float(weight[hit].sum()) / total
    trials = total**2 / float(weight @ weight)
    if sample.cluster is not None:
        units, at = np.unique(sample.cluster[rows], return_inverse=True)
        trials = min(trials, float(len(units))) if value in (0.0, 1.0) else trials
        if 0.0 < value < 1.0 and len(units) > 1:
            spread = variance_of(np.bincount(at, weights=weight * (hit - value)) / total)
            trials = value * (1.0 - value) / spread if spread > 0 else trials
    hits = round(value * trials) if sample.weight is None and sample.cluster is None else value * trials
    return value, wilson(float(hits), trials, level)

"""Intervals of measures of several classes: closed forms by the delta method, or the bootstrap by reweighting rows.

The delta method: how much a measure moves when a row weighs a little more. The squares of the rows' parts, summed over
independent rows (or clusters of rows), estimate its variance; DeLong's variance of an AUC is one case. Weights and
clusters need nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from typing import Any

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
from ..runtime import Progress, in_threads
from ..types import Floats
from .closed_forms import auc_interval, auc_spread, loss_moments, newcombe_limits
from .intervals import check_method_exists
from .limits import METHODS as PROPORTION_METHODS
from .limits import edge_limits, effective_freedom, scaled_limits, t_quantile, wilson, wilson_shares, z_of
from .resampling import Influences, Replicates, enough_replicates

_BLOCK = 16  # replicates that a thread draws in one go
# lines of ClassTotals.areas and columns of Influence.column_variance for the two-class measures that a column has
_AREA_OF = {"roc_auc": (0, 0), "average_precision": (2, 1)}
_NO_INTERVAL = Interval(math.nan, math.nan)
_SHARE_STEP = 1e-6  # of a share of the cases: near the cube root of the rounding of floats, best for two-sided steps
_BATCH = 2_000_000  # numbers of a table of steps that is held at once: 16 MB
_FEW = 6  # cases of a class below which its own spread is not trusted alone
_PRIOR = 2.0  # cases' worth of the classes' mean variance that such a class gets (benchmarks/classes.py, small classes)


@dataclass(frozen=True, eq=False)
class Influence:
    """Each row's part in each measure; for each class the variances of its AUC and average precision, and the bias."""

    parts: Mapping[Spec, Floats]
    column_variance: Floats


def influences(totals: ClassTotals, specs: Sequence[Spec]) -> Influence:
    """Each row's part in each measure: its weight times the derivative of the measure by that weight.

    The parts of one measure sum to 0, because a measure does not change when all weights grow alike.
    """
    sample, rows = totals.sample, totals.rows(specs)
    total = float(totals.decisions.total)
    slopes: dict[Spec, dict[str, Floats]] = {}
    parts: dict[Spec, Floats] = {}
    for spec, sums in totals.sums_with_means(specs).items():
        areas = spec.measure.areas
        slope = slopes[spec] = slopes_of(spec, sums)
        part = slope["truth"][sample.code] + slope["answers"][sample.predicted]
        part += np.where(sample.right, slope["hits"][sample.code], 0.0)
        part /= total
        if spec in rows:
            part += slope["mean"] * (rows[spec] - sums.mean) / total
        if "information" in areas:
            assert sample.facts is not None
            share = totals.decisions.truth / totals.decisions.truth.sum()
            prior = share[sample.code]
            with np.errstate(all="ignore"):
                # both branches are 0 where the predicted share is the prior
                by_prior = np.where(sample.facts.true >= prior, -1.0 / prior, -1.0 / (1.0 - prior))
                of_prior = np.bincount(sample.code, weights=sample.row_weight * by_prior, minlength=len(share)) / total
            of_prior = np.where(share > 0, of_prior, 0.0)
            gain = totals.row_information - totals.information
            part += slope["information"] * ((gain + of_prior[sample.code] - share @ of_prior) / total)
        if "risk" in areas:
            ranked, of_risk = totals.confidence_order, np.zeros(len(sample))
            compiled.add_risk_influence(ranked.order, ranked.tie, sample.right, sample.row_weight, of_risk)
            part += slope["risk"] * of_risk
        parts[spec] = part
    variance = np.full((sample.n_classes, 3), np.nan)
    ranked_specs = [spec for spec in specs if set(spec.measure.areas) & set(COLUMN_AREAS)]
    if ranked_specs:  # what comes through the areas of the columns, one column at a time
        truth = totals.decisions.truth
        table = np.stack([np.stack([slopes[spec][area] for area in COLUMN_AREAS]) for spec in ranked_specs])
        out, variance = np.zeros((len(sample), len(ranked_specs))), np.zeros((sample.n_classes, 3))
        for k in range(sample.n_classes):
            if truth[k] > 0 and truth[k] != truth.sum() and table[:, :, k].any():
                add_column(totals, totals.column_order(k), k, table, out, variance[k])
        for spec, added in zip(ranked_specs, np.ascontiguousarray(out.T), strict=True):
            if "pair_auc" in spec.measure.areas:  # a pair's area does not change when all cases of a class grow alike
                means = np.bincount(sample.code, weights=added * sample.row_weight, minlength=len(truth)) / truth
                added -= means[sample.code]
            parts[spec] += added
    return Influence({spec: part * sample.row_weight for spec, part in parts.items()}, variance)


def slopes_of(spec: Spec, sums: ClassSums) -> dict[str, Floats]:
    """Derivatives of a measure by the totals that it reads; cases as shares of all, so that they are of one size."""
    counts = ("hits", "truth", "answers")
    base = replace(sums, **{name: getattr(sums, name) / float(sums.total) for name in counts})
    k, areas = len(sums.truth), spec.measure.areas
    batch = max(1, _BATCH // k)
    slopes: dict[str, Floats] = {name: np.zeros(k) for name in (*counts, *COLUMN_AREAS)}
    for name in (*counts, *(area for area in areas if area in COLUMN_AREAS)):
        for first in range(0, k, batch):
            here = np.arange(first, min(first + batch, k))
            step = np.zeros((len(here), k))
            step[np.arange(len(here)), here] = _SHARE_STEP
            # the totals with one of them in many versions; the others get the axis too, for sums over classes
            others = {other: np.broadcast_to(getattr(base, other), step.shape) for other in counts}
            ends = (replace(base, **{**others, name: getattr(base, name) + s * step}).value(spec) for s in (1.0, -1.0))
            above, below = (np.broadcast_to(np.asarray(end), len(here)) for end in ends)
            slopes[name][here] = (above - below) / (2.0 * _SHARE_STEP)
    for name in ("mean", *(area for area in areas if area not in COLUMN_AREAS)):
        steps = (getattr(base, name) + sign * _SHARE_STEP for sign in (1.0, -1.0))
        above, below = (replace(base, **{name: value}).value(spec) for value in steps)
        slopes[name] = np.asarray((above - below) / (2.0 * _SHARE_STEP))
    return slopes


def add_column(totals: ClassTotals, ranked: ColumnOrder, k: int, slopes: Floats, out: Floats, squares: Floats) -> None:
    """Add each row's part in the areas of class ``k`` to ``out``, times the slope of each measure in each area."""
    rows = ranked.order, ranked.tie, totals.sample.code, totals.sample.row_weight
    of_class = k, totals.decisions.truth, totals.areas[:, k]
    compiled.add_influence(*rows, *of_class, slopes, out, squares)


def by_unit(part: Floats, cluster: NDArray[np.int32] | None) -> Floats:
    """Parts of the units that are independent: the rows, or the clusters."""
    return part if cluster is None else np.bincount(cluster, weights=part).astype(np.float64)


def variance_of(units: Floats) -> float:
    """Variance of a measure from the parts of its independent units."""
    m = len(units)
    return float(units @ units) * m / (m - 1.0) if m > 1 else float("nan")


def has_few(sample: ClassSample) -> bool:
    """Whether a class has fewer than six independent cases."""
    sizes = np.bincount(sample.code)
    return sample.cluster is None and int(sizes[sizes > 0].min()) < _FEW


def measure_spread(spec: Spec, units: Floats, sample: ClassSample) -> tuple[float, float]:
    """Variance of a measure and its degrees of freedom, inf where they are many."""
    one = spec.measure
    if not one.sums_classes or sample.cluster is not None:
        return variance_of(units), math.inf
    return spread_by_class(units, sample.code, every=one.by_class, areas=bool(one.areas))


def spread_by_class(units: Floats, code: NDArray[np.int32], *, every: bool, areas: bool) -> tuple[float, float]:
    """Variance of a measure to which each class adds a part of its own, and its degrees of freedom.

    Three cases of a class that are all right, or all wrong, show no spread, and on average they show only 2/3 of it.
    Below six cases (with ``every`` in all classes) a class's part is the unbiased variance; below six it also leans on
    the mean of the classes, above all of the other small ones. The degrees of freedom are Welch's (1947), for these
    classes only; an area of so few cases is skewed, so that what it leans on adds none.
    """
    sizes = np.bincount(code).astype(np.float64)
    with np.errstate(all="ignore"):
        mean = np.nan_to_num(np.bincount(code, weights=units) / sizes)
        within = np.bincount(code, weights=(units - mean[code]) ** 2)
        of_case = sizes**2 * within / (sizes - 1.0)  # variance of a case's part on the scale of its class
        freedom = sizes - 1.0
        few = (sizes > 0) & (sizes < _FEW)
        near = np.where(sizes > 1, 1.0 / sizes**2, 0.0)  # a large class may count rows on another scale
        usual = float(np.nan_to_num(of_case) @ near / near.sum())
        leaning = (np.where(sizes > 1, within * sizes**2, 0.0) + _PRIOR * usual) / (freedom + _PRIOR) / sizes
        plain = of_case / sizes if every else within * len(units) / (len(units) - 1.0)
    parts = np.where(few, leaning, np.where(sizes > 0, plain, 0.0))
    counted = np.where(few, np.maximum(freedom, 1.0) if areas else freedom + _PRIOR, freedom if every else math.inf)
    variance = float(parts.sum() + sizes @ mean**2)
    doubt = float((parts[sizes > 0] ** 2 / counted[sizes > 0]).sum())
    return variance, variance**2 / doubt if doubt > 0.0 else math.inf


def class_replicates(
    totals: ClassTotals, specs: Sequence[Spec], n_resamples: int, seed: int, progress: bool | None = None
) -> dict[Spec, Floats]:
    """The values of each spec in ``n_resamples`` replicates; the same seed draws the same rows for every model."""
    sample, rows = totals.sample, totals.rows(specs)
    shared: dict[str, Any] = {"column_order": cache(totals.column_order)}  # what no draw changes: sorted once
    for area, name in (("risk", "confidence_order"), ("information", "log_true")):
        if any(area in spec.measure.areas for spec in specs):
            shared[name] = getattr(totals, name)
    each = np.array(list(rows.values())) if rows else np.empty((0, len(sample)))
    unit = np.arange(len(sample)) if sample.cluster is None else sample.cluster
    drawn = np.empty((n_resamples, len(specs)))

    def draw(first: int) -> None:
        redrawn, numbers = [], range(first, min(first + _BLOCK, n_resamples))
        for number in numbers:
            counts = np.zeros(int(unit.max()) + 1, np.uint16)
            compiled.draw(counts, 0, len(counts), seed, number)
            weight = sample.row_weight * counts[unit]  # rows count as often as they were drawn
            one = ClassTotals(replace(sample, weight=weight))
            one.__dict__.update(shared)
            with np.errstate(all="ignore"):
                redrawn.append((one.sums(specs), np.einsum("ij,j->i", each, weight) / weight.sum()))
            shown.advance()
        means = np.array([mean for _, mean in redrawn]).T
        sums = ClassSums(*(np.array([getattr(one, part.name) for one, _ in redrawn]) for part in fields(ClassSums)))
        for at, spec in enumerate(specs):  # of all replicates at once
            mean = means[list(rows).index(spec)] if spec in rows else math.nan
            drawn[numbers.start : numbers.stop, at] = replace(sums, mean=mean).settled(spec)

    with Progress("bootstrap", n_resamples, progress) as shown:
        in_threads([partial(draw, first) for first in range(0, n_resamples, _BLOCK)])
    return dict(zip(specs, drawn.T, strict=True))


def estimate_classes(
    totals: ClassTotals, specs: Sequence[Spec], settings: Settings
) -> tuple[dict[Spec, Estimate], dict[Spec, Floats], Mapping[Spec, Floats]]:
    """Values with intervals; for comparisons the part of each independent unit in each value, and the replicates."""
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
        return estimates | {spec: Estimate(str(spec), values[spec]) for spec in defined}, {}, {}
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
            replicates = Replicates(value, drawn[spec], Influences(units[spec], np.ones(len(units[spec]))))
            (low, high), undefined = replicates.interval(method, level), replicates.undefined
        else:
            how = (spec, value, units[spec], totals, influence, level)
            (low, high), method = closed_interval(*how, interval)
        given = level if low == low else math.nan
        why = f"no {interval} interval for this measure" if low != low and interval in PROPORTION_METHODS else ""
        estimates[spec] = Estimate(str(spec), value, low, high, given, method, why, undefined)
    check_method_exists({str(spec): estimates[spec] for spec in specs}, interval)
    return {spec: estimates[spec] for spec in specs}, units, drawn


def closed_interval(
    spec: Spec, value: float, units: Floats, totals: ClassTotals, influence: Influence, level: float, interval: str
) -> tuple[Interval, str]:
    """The closed form of a measure on its scale, and its name; Wilson's for a share of cases that count alike.

    ``units``: the part of each independent unit in the value. The interval of a mean of average precisions is moved by
    their bias, which does not average out over classes: the few best places of a class look too good. Of ten unbalanced
    classes with 600 cases, a mean of .22 is .24 on average. The bias falls as log n/n, of which the jackknife sees
    about two thirds (benchmarks/classes.py, unbalanced classes), hence its estimate times 1.5. The target is the value
    in a large sample. The value itself stays inside.
    """
    one, sample, truth = spec.measure, totals.sample, totals.decisions.truth
    if one.interval == "wilson" and sample.weight is None and sample.cluster is None and interval != "delta":
        method = interval if interval in PROPORTION_METHODS else "wilson"
        n = float(len(sample))
        return PROPORTION_METHODS[method](round(value * n), n, level), method
    if interval in PROPORTION_METHODS:
        return _NO_INTERVAL, ""
    variance, freedom = measure_spread(spec, units, sample)
    if freedom < math.inf:  # it rests on few cases of a class
        variance *= (t_quantile(level, freedom) / z_of(level)) ** 2
    joined = mean_interval(spec, value, units, totals, influence, level, variance) if interval == "auto" else None
    limits, method = joined or _NO_INTERVAL, "mover"
    if joined is None:
        # Trials that give a mean over classes of equal rates its variance; all cases where classes do not count
        trials = float(len(sample)) if sample.cluster is None else float(sample.cluster.max() + 1)
        if one.interval != "wilson" and one.mean not in ("micro", "weighted"):
            present = truth[truth > 0] * trials / truth.sum()
            trials = float(len(present) ** 2 / np.sum(1.0 / present))
        error = math.sqrt(variance) if len(units) > 1 else math.nan
        how = "delta" if interval == "delta" else one.interval.replace("loss_score", "delta_log")
        limits, method = delta_interval(value, error, how, one.range, trials, level)
        if one.case_loss is not None and interval == "auto":
            limits, method = loss_limits(spec, (limits, method), totals, level)
        if method == "delta_logit" and trials * (1.0 - value) < 1.0 and has_few(sample):  # less than one loss in all
            low, high = wilson(value * trials, trials, level)
            limits = Interval(min(limits.low, low), max(limits.high, high))
    if "precision" in one.areas:
        share = truth if one.mean == "weighted" else np.ones(sample.n_classes)
        bias = 1.5 * max(float(np.average(influence.column_variance[:, 2], weights=share)), 0.0)
        down = 0.0 if has_few(sample) else bias  # of classes of three cases the bias itself is too little known
        limits = Interval(max(limits.low - bias, 0.0), max(limits.high - down, value))
    return limits, method


def loss_limits(spec: Spec, made: tuple[Interval, str], totals: ClassTotals, level: float) -> tuple[Interval, str]:
    """Limits of a mean loss that allow for large losses that were not seen, as :func:`intervals.loss_score`.

    Of weighted rows and clusters without a large loss the limits ``made`` by the delta method reach as far. So do those
    of an information score, which is the entropy (whose variance the delta method knows) less a mean loss.
    """
    one, sample, ((low, high), method) = spec.measure, totals.sample, made
    given, weight, lost = {**one.params, **spec.arguments}, sample.row_weight, totals.rows([spec])
    if one.interval == "information":
        given["prior"] = np.maximum(totals.decisions.truth / totals.decisions.total, 1e-9)  # of a class without cases
        lost[spec] = -np.log(given["prior"][sample.code]) - totals.row_information

    def outcomes(at: slice) -> tuple[Floats, Floats]:
        assert sample.matrix is not None
        assert one.case_loss is not None
        chance = np.asarray(sample.matrix[at], np.float64)
        return chance.T, one.case_loss(chance, **given).T

    moments = loss_moments((weight,), (lost[spec],), outcomes)
    alike, units = sample.weight is None and sample.cluster is None, by_unit(weight, sample.cluster)
    if moments.large and not alike:
        return made
    likely = moments.limits(units.sum() ** 2 / float(units @ units), level)
    if one.interval == "information":
        perfect = totals.information + moments.mean  # in nats
        least = (perfect - likely.high) / (math.log(2.0) if one.range[1] > 1.0 else perfect)
        return Interval(min(low, least), high), method
    most = min(likely.high, one.range[1])
    return (Interval(likely.low, most), "loss_score") if alike else (Interval(low, max(high, most)), method)


def mean_interval(
    spec: Spec, value: float, units: Floats, totals: ClassTotals, influence: Influence, level: float, variance: float
) -> Interval | None:
    """Interval of a mean over classes from the intervals of its classes; None where these have no closed form.

    A class of ten cases, all of them right, shows no spread, so that the delta method alone is too sure. The
    distances from each class's value to the ends of its own interval take the place of its standard error, and what
    the classes have in common is kept (Zou & Donner 2008, the method of variance estimates recovery).
    """
    one, sample, sums = spec.measure, totals.sample, totals.decisions
    inner = one.mean_of
    if inner is None or one.mean == "micro" or (one.mean == "weighted" and one.areas):
        return None
    cases = len(sample) if sample.weight is None else sums.total**2 / float(sample.weight @ sample.weight)
    scale, two = cases / sums.total, inner.measure  # as many cases as carry the information of the weighted rows
    with np.errstate(all="ignore"):
        if two.interval == "wilson_f":  # F1 = 2F/(1 + F), F = TP/(TP + FP + FN) (Flores et al. 2022)
            trials = (sums.truth + sums.answers - sums.hits) * scale
            found = sums.hits * scale / trials
            low, high = (2.0 * end / (1.0 + end) for end in wilson_shares(found, trials, z_of(level)))
            each = 2.0 * found / (1.0 + found)
            of_class = found * (1.0 - found) / trials * (2.0 / (1.0 + found) ** 2) ** 2
        elif two.proportion is not None and two.scale is None:
            hits, trials = (part * scale for part in two.proportion(sums.cells))
            each = hits / trials
            low, high = wilson_shares(each, trials, z_of(level))
            of_class = each * (1.0 - each) / trials
        elif two.name in _AREA_OF:
            line, at = _AREA_OF[two.name]
            each, of_class = totals.areas[line], influence.column_variance[:, at]
            positives = np.minimum(sums.truth, sums.total - sums.truth) * scale
            seen = (of_class > 0) & (each > 0) & (each < 1) & (positives >= 2.0)  # a single case shows no spread
            trials = np.where(seen, each * (1.0 - each) / of_class, positives)
            if two.name == "average_precision":  # no surer than a share of the positives (Boyd et al. 2013)
                trials = np.minimum(trials, sums.truth * scale)
            low, high = wilson_shares(each, trials, z_of(level))
        else:
            return None
    share = sums.truth / sums.total if one.mean == "weighted" else np.full(sample.n_classes, 1.0 / sample.n_classes)
    # how far the ends of each class's interval lie from its value, and the variance behind it
    below, above, of_class = (np.where(share > 0, part, 0.0) for part in (each - low, high - each, of_class))
    design = 1.0
    if sample.cluster is not None and len(units) < len(sample):
        design = variance_of(units) / max(variance_of(influence.parts[spec]), 1e-300)
    z = z_of(level)
    shared = z**2 * variance - z**2 * design * float(share**2 @ of_class)
    down, up = (math.sqrt(max(shared + design * float(share**2 @ gap**2), 0.0)) for gap in (below, above))
    return Interval(max(value - down, one.range[0]), min(value + up, one.range[1]))


def delta_interval(
    value: float, error: float, how: str, limits: tuple[float, float], trials: float, level: float
) -> tuple[Interval, str]:
    """value ± z·error on the scale of the method; ``trials`` stand in where no spread is to be seen at an end."""
    if not math.isfinite(error):
        return _NO_INTERVAL, ""
    bounded = (max(limits[0], -1.0), limits[1])  # a perfect kappa may fall short as one of two equal classes does
    if limits[1] < math.inf and bounded[0] <= value and (value in bounded or error == 0.0):
        return edge_limits(value, trials, level, bounded), "wilson_effective"
    if how in ("wilson", "wilson_effective"):
        effective = value * (1.0 - value) / error**2
        return wilson(value * effective, effective, level), "wilson_effective"
    scale = {"delta_logit": "logit", "delta_z": "atanh", "delta_log": "log"}.get(how, "identity")
    low, high = scaled_limits(value, error, math.inf, level, scale)
    if low != low:  # at the edge of its scale
        how, (low, high) = "delta", Interval(value - z_of(level) * error, value + z_of(level) * error)
    return Interval(max(low, limits[0]), min(high, limits[1])), how if scale != "identity" else "delta"


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
        positive = sample.code[ranked.order] == at
        n_pos = float(np.count_nonzero(positive))
        n_neg = n - n_pos
        if min(n_pos, n_neg) < 2:
            (low, high), method = newcombe_limits(auc, n_pos, n_neg, z_of(level)), "newcombe"
        elif sample.cluster is not None or sample.weight is not None:  # the delta method, also with t
            error = math.sqrt(variance_of(of_auc)) * t_quantile(level, effective_freedom(of_auc)) / z_of(level)
            fewest = min(n_pos, n_neg)
            (low, high), method = delta_interval(auc, error, "delta_logit", (0.0, 1.0), fewest, level)
        else:  # as of two classes: DeLong's interval with t
            starts = np.flatnonzero(np.concatenate([[True], ~ranked.tie[:-1]]))
            of_group = [np.add.reduceat(rows.astype(np.float64), starts) for rows in (positive, ~positive)]
            _, variance, freedom = auc_spread(*of_group)
            (low, high), method = auc_interval(auc, variance, n_pos, n_neg, level, freedom, logit=True)
        area = Estimate("roc_auc", auc, low, high, level, method)
        # Wilson's interval with no more trials than positives (Boyd et al. 2013), nor than the spread allows
        trials, error = n_pos, math.sqrt(variance_of(of_precision))
        if error > 0 and precision < 1.0:
            trials = min(precision * (1.0 - precision) / error**2, trials)
        low, high = wilson(precision * trials, trials, level)
        of_list = Estimate("average_precision", precision, low, high, level, "wilson_effective")
        estimates.append({"roc_auc": area, "average_precision": of_list})
    return estimates


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

"""Which interval for which measure, and the estimates that an evaluation prints.

``auto`` takes a closed form where one exists and has been counted to cover (benchmarks/coverage.py prints the table),
else the bootstrap. Weighted samples and grouped rows always take the bootstrap: the closed forms assume independent
rows that count alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import compute, plan_sweeps, why_undefined
from ..catalogue.declare import Spec
from ..estimate import Estimate, Interval
from ..ranking import Ranking
from ..sample import Sample, resolve_quota
from ..sweep import Counts, sweep
from ..validate import one_of
from . import blocks, bootstrap, cells, delong, proportions
from .resampling import Resampler, enough_replicates

AUC_FAMILY = ("roc_auc", "gini", "pem", "taks", "average_gain", "linear_ranking")
NAMES = ("auto", "bootstrap", *proportions.METHODS, "delong", "delong_logit", *bootstrap.METHODS)
INTERVAL = one_of(None, *NAMES)
DEFAULT_PROPORTION = "wilson"

# What ``auto`` takes, by counted coverage (benchmarks/coverage.py; the table is in docs/how-sure-are-we.md).
ON_LOGIT_SCALE = ("average_precision", "average_hit_rate", "pr_auc_min", "pr_auc_minmax", "pr_auc_max")
BY_EFFECTIVE_SIZE = ("qrecall", "quota_lift")
BY_PERCENTILE = ("quota_pearson", "information_score", "relative_information_score", "hinge_loss")
# Measures that do not feel how frequent positives are; for the others fixed class sizes make intervals too short.
STRATIFIED = ("roc_auc", "gini", "pem", "taks", "auch", "ks_statistic", "max_youden_index")


@dataclass(frozen=True)
class Settings:
    """How intervals are made; enough to make them again."""

    interval: str | None = "auto"
    level: float = 0.95
    n_resamples: int = 2000
    seed: int = 0
    stratify: bool | None = None
    progress: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """What a reader needs to make the same intervals again."""
        kept = asdict(self)
        del kept["progress"]
        return kept


def estimate_all(
    specs: Sequence[Spec],
    sample: Sample,
    ranking: Ranking,
    obstacles: Mapping[Spec, str],
    settings: Settings,
    clusters: Any = None,
    keep: dict[str, NDArray[np.float64]] | None = None,
) -> dict[Spec, Estimate]:
    """Values, and intervals where they are asked for, of all specs.

    A comparison passes ``keep`` to get every measure's replicates (or, of long lists, values by block) back, drawn so
    that models on the same rows match.
    """
    possible = [spec for spec in specs if not obstacles[spec]]
    values = dict(compute(possible, ranking).values)
    by_delong = settings.interval in ("auto", "delong", "delong_logit") and clusters is None and not ranking.weighted
    auc = _auc(ranking) if by_delong and any(spec.measure.name in AUC_FAMILY for spec in possible) else None
    estimates = {}
    resampled = []
    for spec in specs:
        value = values.get(spec, math.nan)
        reason = obstacles[spec]
        if value != value:
            reason = reason or why_undefined(spec.measure, ranking.n_pos, ranking.n_neg)
            estimates[spec] = Estimate(str(spec), value, reason=reason)
            continue
        closed = None
        if settings.interval is not None and not ranking.weighted and clusters is None:
            closed = closed_form(spec, value, ranking, settings, auc)
        if closed is not None:
            (low, high), method = closed
            estimates[spec] = Estimate(str(spec), value, low, high, settings.level, method)
        elif settings.interval in ("auto", "bootstrap", *bootstrap.METHODS):
            resampled.append(spec)
        else:
            estimates[spec] = Estimate(str(spec), value)
    if settings.interval == "auto" and clusters is None and blocks.are_enough(ranking, sample):
        chosen = [s for s in (possible if keep is not None else resampled) if not s.measure.needs_quota]
        for spec, spread in blocks.by_block(chosen, sample, settings.seed).items():
            if keep is not None:
                keep[str(spec)] = spread
            if spec in resampled:
                low, high = blocks.block_interval(spec, values[spec], spread, settings.level)
                estimates[spec] = Estimate(str(spec), values[spec], low, high, settings.level, "blocks")
        resampled = [spec for spec in resampled if spec.measure.needs_quota]
        possible = [spec for spec in possible if spec.measure.needs_quota]
        settings = replace(settings, n_resamples=enough_replicates(settings.n_resamples, ranking.rows))
    wanted = resampled if keep is None or settings.interval is None else [s for s in possible if values[s] == values[s]]
    for stratified in (True, False):
        chosen = [spec for spec in wanted if is_stratified(spec, settings) == stratified]
        if chosen:
            resampler = Resampler(
                sample,
                ranking,
                stratified=stratified,
                clusters=clusters,
                seed=settings.seed,
                progress=settings.progress,
                paired=keep is not None,
            )
            drawn = bootstrapped(chosen, set(resampled), values, resampler, settings, keep)
            estimates.update(drawn)
    return {spec: estimates[spec] for spec in specs}


def is_stratified(spec: Spec, settings: Settings) -> bool:
    """Whether replicates keep the class sizes: by default where the share of positives does not matter."""
    return spec.measure.name in STRATIFIED if settings.stratify is None else settings.stratify


def bootstrapped(
    specs: Sequence[Spec],
    wanted: set[Spec],
    values: dict[Spec, float],
    resampler: Resampler,
    settings: Settings,
    keep: dict[str, NDArray[np.float64]] | None = None,
) -> dict[Spec, Estimate]:
    """Estimates with bootstrap intervals of the ``wanted`` specs; the replicates of all go into ``keep``."""
    jackknife = any(spec in wanted and bootstrap_method(spec, settings) == "bca" for spec in specs)
    drawn = bootstrap.replicate(specs, values, resampler, settings.n_resamples, jackknife=jackknife)
    estimates = {}
    for spec, replicates in drawn.items():
        if keep is not None:
            keep[str(spec)] = replicates.values
        if spec not in wanted:
            continue
        method = bootstrap_method(spec, settings)
        if method == "wilson_effective":
            low, high = effective_wilson(spec, replicates, resampler.ranking, settings.level)
        else:
            low, high = replicates.interval(method, settings.level)
        estimates[spec] = Estimate(
            str(spec), values[spec], low, high, settings.level, method, undefined_replicates=replicates.undefined
        )
    return estimates


def bootstrap_method(spec: Spec, settings: Settings) -> str:
    """How replicates become an interval: as asked for, else what covers best."""
    if settings.interval in bootstrap.METHODS:
        return str(settings.interval)
    if spec.measure.name in BY_EFFECTIVE_SIZE:
        return "wilson_effective"
    return "percentile" if spec.measure.name in BY_PERCENTILE else "bca"


def effective_wilson(spec: Spec, replicates: bootstrap.Replicates, ranking: Ranking, level: float) -> Interval:
    """Wilson interval with as many trials as would give the replicates' variance, as in survey sampling.

    Qrecall is no share of independent trials: the quota caps the hits. The lift at a quota is Qrecall times n/quota.
    Where the replicates do not vary (all positives found, or none), the trials are the positives.
    """
    rows = ranking.rows
    if resolve_quota(spec.quota, rows) == rows:  # a place for everybody: all are found, whatever the sample
        return Interval(replicates.value, replicates.value)
    scale = rows / resolve_quota(spec.quota, rows) if spec.measure.name == "quota_lift" else 1.0
    value, spread = replicates.value / scale, float(np.nanvar(replicates.values / scale, ddof=1))
    trials = value * (1.0 - value) / spread if spread > 0 and 0.0 < value < 1.0 else float(ranking.n_pos)
    low, high = proportions.wilson(value * trials, trials, level)
    return Interval(scale * low, scale * high)


def closed_form(
    spec: Spec, value: float, ranking: Ranking, settings: Settings, auc: tuple[float, float] | None = None
) -> tuple[Interval, str] | None:
    """The closed-form interval of a measure, where the settings ask for one and one exists.

    ``auc``: the area under the ROC curve and its variance, where they are known better than the ranking tells.
    """
    name, wish, level = spec.measure.name, settings.interval, settings.level
    if spec.ties != "expected" or "prior" in spec.arguments:
        return None
    if name in AUC_FAMILY and wish in ("auto", "delong", "delong_logit"):
        return _auc_relative(name, ranking, level, logit=wish != "delong", known=auc)
    if name in ON_LOGIT_SCALE and wish == "auto":
        if 0.0 < value < 1.0:
            return _logit(value, ranking.n_pos, level), "logit"
        return proportions.wilson(value * ranking.n_pos, ranking.n_pos, level), "wilson"
    if spec.measure.part != "cut" or (wish == "auto" and name in BY_EFFECTIVE_SIZE):
        return None
    cut = _counts(spec, ranking)
    if name in cells.PROPORTIONS or name == "zero_one_loss":
        method = wish if wish in proportions.METHODS else DEFAULT_PROPORTION if wish == "auto" else None
        return None if method is None else (cells.proportion(name, cut, level, method), method)
    if wish != "auto":
        return None
    if name in cells.CLOSED:
        label, interval = cells.CLOSED[name]
        return interval(cut, level), label
    if name in cells.CORRELATIONS:
        return cells.fisher_z(spec.measure, value, cut, level), "delta_z"
    return None


def _counts(spec: Spec, ranking: Ranking) -> Counts:
    reading = plan_sweeps([spec], ranking.rows)[0]
    cut = reading.cut(spec, sweep(ranking, reading.request))
    return Counts(float(cut.tp), float(cut.fp), float(cut.fn), float(cut.tn))


def _auc_relative(
    name: str, ranking: Ranking, level: float, *, logit: bool, known: tuple[float, float] | None
) -> tuple[Interval, str]:
    """Interval of the AUC, carried to a measure that is the AUC on another scale."""
    n_pos, n_neg = ranking.n_pos, ranking.n_neg
    (low, high), method = delong.auc_interval(*(known or _auc(ranking)), n_pos, n_neg, level, logit=logit)
    slope, start = auc_line(name, ranking)
    return Interval(start + slope * low, start + slope * high), method


def _auc(ranking: Ranking) -> tuple[float, float]:
    """The area under the ROC curve and its variance; nan without both classes."""
    if not ranking.n_pos or not ranking.n_neg:
        return math.nan, math.nan
    of_pos, _ = delong.placements(ranking)
    return float(of_pos @ ranking.pos) / ranking.n_pos, delong.auc_variance(ranking)


def auc_line(name: str, ranking: Ranking) -> tuple[float, float]:
    """Slope and start of the straight line that carries the AUC to one of its relatives."""
    n_pos, n_neg, n = ranking.n_pos, ranking.n_neg, ranking.rows
    gini = {"gini": 1.0, "pem": 1.0, "average_gain": n_pos * n_neg / (2.0 * n)}
    if name == "linear_ranking":
        return n_pos * n_neg, n_pos * (n_pos + 1.0) / 2.0
    if name == "roc_auc":
        return 1.0, 0.0
    of_gini = n / (2.0 * (n - 1.0)) if name == "taks" else gini[name]
    return 2.0 * of_gini, -of_gini


def _logit(value: float, n_pos: float, level: float) -> Interval:
    """Interval for areas under precision–recall on the logit scale, SE 1/√(n⁺·v·(1−v)) (Boyd et al. 2013)."""
    middle = math.log(value / (1.0 - value))
    half = proportions.z_of(level) / math.sqrt(n_pos * value * (1.0 - value))
    return Interval(1.0 / (1.0 + math.exp(-(middle - half))), 1.0 / (1.0 + math.exp(-(middle + half))))

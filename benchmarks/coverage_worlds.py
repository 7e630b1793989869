"""Worlds in which people use intervals, bands, predictions and tests; each counted through the public functions.

Run by ``coverage.py --full`` (which writes the tables into docs/coverage.md) and ``coverage.py --section``.

Populations are binormal: the score of a negative is N(0, 1), of a positive N(d, 1), mapped to the probability of being
positive. Truths are the population's values; for measures that grow with n, and for Pearson at a quota, their mean over
samples of this size. Thresholds are at the prevalence, quotas at 10 % of the cases unless said.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

import cutline as cl

Floats = NDArray[np.float64]
LEVEL = 0.95
DOCS = Path(__file__).resolve().parents[1] / "docs" / "coverage.md"
LOSSES = {
    "mean_absolute_error",
    "brier_score",
    "root_mean_squared_error",
    "log_loss",
    "balanced_cross_entropy",
    "focal_loss",
    "information_score",
    "relative_information_score",
}
MEAN_AT_N = {
    "gain",
    "average_gain",
    "linear_ranking",
    "quadratic_ranking",
    "misclassification_ranking",
    "zero_one_loss",
    "quota_pearson",
}
MAY_FALL_SHORT = {"quota_pearson"}
# another measure on a linear scale: their intervals hold the truth in the same samples
MIRRORED = {
    "error_rate",
    "zero_one_loss",
    "false_negative_rate",
    "false_positive_rate",
    "false_discovery_rate",
    "balanced_accuracy",
    "gini",
    "pem",
    "taks",
    "max_youden_index",
}


@dataclass(frozen=True)
class Drawn:
    """One sample as the public functions take it."""

    label: NDArray[np.bool_]
    score: Floats
    weight: Floats | None = None
    cluster: NDArray[np.int64] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments for what this sample has."""
        given = {"sample_weight": self.weight, "clusters": self.cluster}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class World:
    """A population, how it is sampled, and how often intervals must hold in it.

    ``design``: ``rows``, ``even:G:m`` (G clusters of m rows), ``uneven:G``, ``informative`` (weights that depend on the
    score) or ``case_control``. ``levels``: so many distinct scores; ``step``: scores rounded to such steps.
    """

    name: str
    n: int
    prevalence: float
    auc: float = 0.83
    levels: int = 0
    step: float = 0.0
    design: str = "rows"
    least: float = 0.92
    least_losses: float = 0.92

    @property
    def distance(self) -> float:
        """Distance of the two normal distributions."""
        return math.sqrt(2.0) * float(ndtri(self.auc))

    def probability(self, z: Floats) -> Floats:
        """Probability of being positive at z."""
        if self.step:
            z = (np.floor(z / self.step) + 0.5) * self.step
        log_odds = self.distance * z - self.distance**2 / 2 + math.log(self.prevalence / (1 - self.prevalence))
        p = 1.0 / (1.0 + np.exp(-log_odds))
        if not self.levels:
            return np.asarray(p)
        edges, values = _steps(self)
        return np.asarray(values[np.searchsorted(edges, p)])

    def draw(self, rng: np.random.Generator) -> Drawn:
        """One sample with both classes."""
        while True:
            drawn = self._draw(rng)
            if 0 < drawn.label.sum() < len(drawn.label):
                return drawn

    def _draw(self, rng: np.random.Generator) -> Drawn:
        kind, *sizes = self.design.split(":")
        if kind in ("even", "uneven"):
            return self._clustered(rng, kind, [int(size) for size in sizes])
        if kind == "case_control":
            y = np.arange(self.n) < self.n // 2
            weight = np.where(y, 2 * self.prevalence, 2 * (1 - self.prevalence))
            return Drawn(y, self.probability(rng.standard_normal(self.n) + self.distance * y), weight)
        many = self.n if kind == "rows" else 40 * self.n
        y = rng.random(many) < self.prevalence
        z = rng.standard_normal(many) + self.distance * y
        if kind == "rows":
            return Drawn(y, self.probability(z))
        chance = 0.05 + 0.95 / (1.0 + np.exp(-1.5 * (z - 1.0)))  # high scores are sampled more often
        kept = np.flatnonzero(rng.random(many) < chance)[: self.n]
        return Drawn(y[kept], self.probability(z[kept]), 1.0 / chance[kept])

    def _clustered(self, rng: np.random.Generator, kind: str, sizes: list[int]) -> Drawn:
        count = sizes[0]
        size = np.full(count, sizes[-1])
        if kind == "uneven":
            size = rng.choice([1, 2, 3, 4, 8, 20], count, p=[0.3, 0.2, 0.2, 0.15, 0.1, 0.05])
        code = np.repeat(np.arange(count), size)
        shared, own = rng.standard_normal((2, count)), rng.standard_normal((2, len(code)))
        y = math.sqrt(0.4) * shared[0][code] + math.sqrt(0.6) * own[0] < ndtri(self.prevalence)
        z = math.sqrt(0.5) * (shared[1][code] + own[1]) + self.distance * y
        return Drawn(y, self.probability(z), None, code)

    def drawn_again(self, cases: int, rng: np.random.Generator) -> Drawn:
        """A list of about so many cases of the population, all of which count alike; clusters come whole."""
        kind, *sizes = self.design.split(":")
        if kind not in ("even", "uneven"):
            return replace(self, n=max(cases, 1), design="rows")._draw(rng)
        clusters = max(1, round(int(sizes[0]) * cases / self.n))
        return replace(self, design=":".join([kind, str(clusters), *sizes[1:]]))._draw(rng)

    def population(self, size: int = 400_000) -> Drawn:
        """The population in exact quantiles of either class, weighted by its share."""
        half = size // 2
        z = ndtri((np.arange(half) + 0.5) / half)
        weight = np.repeat([self.prevalence, 1 - self.prevalence], half) / half
        return Drawn(np.repeat([True, False], half), self.probability(np.concatenate([z + self.distance, z])), weight)


@cache
def _steps(world: World) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < world.prevalence
    p = np.sort(replace(world, levels=0).probability(rng.standard_normal(200_000) + world.distance * y))
    parts = np.array_split(p, world.levels)
    return np.array([part[-1] for part in parts[:-1]]), np.array([part.mean() for part in parts])


WORLDS = [
    World(".83, 300", 300, 0.2),
    World(".83, 1000", 1000, 0.2),
    World(".98, 300", 300, 0.2, 0.98),
    World(".98, 1000", 1000, 0.1, 0.98),
    World("5 levels", 300, 0.2, levels=5),
    World("1 % of 2000", 2000, 0.01),
    World("n = 30", 30, 0.3),
    World("90 % pos.", 300, 0.9),
    World(".998, 50", 50, 0.3, 0.998, least=0.90, least_losses=0.85),
    World("60 × 5", 300, 0.3, design="even:60:5"),
    World("uneven", 300, 0.3, design="uneven:90"),
    World("20 × 15", 300, 0.3, design="even:20:15", least=0.90, least_losses=0.90),
    World("inform. w.", 400, 0.2, design="informative", least=0.90, least_losses=0.90),
    World("case–control", 400, 0.1, design="case_control", least=0.90, least_losses=0.90),
]
# sizes and prevalences, with and without ties: no bound is asked for with 2 or 3 positives
GRID = [
    World(f"{n} · {p:.0%}{' ties' if ties else ''}", n, p, step=0.5 if ties else 0.0, least=0.0, least_losses=0.0)
    for n, p, ties in itertools.product((50, 200, 1000), (0.05, 0.2, 0.5), (False, True))
]
QUOTAS = (0.01, 0.05, 0.2)
NEXT_CELLS = [
    (400, 0.15, 0.98, 60),
    (400, 0.15, 0.98, 80),
    (1000, 0.1, 0.98, 100),
    (1000, 0.1, 0.98, 200),
    (300, 0.2, 0.83, 15),
    (300, 0.2, 0.83, 60),
    (1000, 0.2, 0.83, 50),
    (2000, 0.01, 0.83, 100),
]
BAND_WORLDS = [
    World("n = 60", 60, 0.3),
    World("n = 200", 200, 0.2),
    World("n = 1000", 1000, 0.1),
    World(".98, n = 60", 60, 0.3, 0.98),
    World(".98, n = 200", 200, 0.2, 0.98),
    World(".98, n = 1000", 1000, 0.1, 0.98),
]
CURVES = ("roc", "gain", "lift", "hit_rate", "qrecall", "precision_recall")


@dataclass(frozen=True)
class Count:
    """One cell of a table: how often something held, and how often it must."""

    world: str
    what: str
    share: float
    least: float
    most: float = 1.0
    samples: int = 0
    length: float = math.nan
    without_width: int = 0

    @property
    def error(self) -> float:
        """Monte-Carlo standard error of the share."""
        return math.sqrt(max(self.share * (1.0 - self.share), 0.01) / max(self.samples, 1))

    @property
    def short(self) -> bool:
        """Whether the count is outside its bounds."""
        return not self.least - 1e-9 <= self.share <= self.most + 1e-9

    @property
    def clearly_short(self) -> bool:
        """Whether it is so by more than two Monte-Carlo errors."""
        return not self.least - 2 * self.error <= self.share <= self.most + 2 * self.error


def truths(world: World, specs: list[str]) -> dict[str, float]:
    """Values on the population."""
    rows = world.population()
    assert rows.weight is not None
    weight = rows.weight * len(rows.label)  # so many cases: a quota is a share of them
    how: dict[str, Any] = {"sample_weight": weight, "interval": None, "threshold": world.prevalence}
    ev = cl.evaluate(rows.label, rows.score, measures=specs, **how)
    return {spec: ev[spec].value for spec in specs}


def intervals(world: World, samples: int) -> Iterator[Count]:
    """Every default interval of evaluate()."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for i in range(samples):
        rows = world.draw(np.random.default_rng([*world.name.encode(), i]))
        how: dict[str, Any] = {"threshold": world.prevalence, "quota": 0.1, "n_resamples": 500, "seed": i}
        for row in cl.evaluate(rows.label, rows.score, **how, **rows.options).to_dicts():
            if row["measure"].split("(")[0].split("@")[0] not in MIRRORED:
                found.setdefault(row["measure"], []).append((row["value"], row["low"], row["high"]))
    true = truths(world, list(found))
    for spec, made in found.items():
        value, low, high = np.array(made).T
        known = np.isfinite(value)
        if known.sum() < min(20, samples):
            continue
        name = spec.split("(")[0].split("@")[0]
        target = float(value[known].mean()) if name in MEAN_AT_N else true[spec]
        slack = 1e-9 * max(1.0, abs(target))
        held = float(((low <= target + slack) & (high >= target - slack))[known].mean())
        spread = float(value[known].std())
        length = float(np.median((high - low)[known])) / (3.92 * spread) if spread > 0 else math.nan
        flat = int(np.count_nonzero(high[known] - low[known] <= 0.0))
        least = 0.0 if name in MAY_FALL_SHORT else world.least_losses if name in LOSSES else world.least
        yield Count(world.name, name, held, least, 1.0, int(known.sum()), length, flat)


def quota_truth(world: World, share: float) -> tuple[float, float]:
    """Hit rate and Qrecall of the population at a share of the list; inside a tie pro rata."""
    rows = world.population()
    order = np.argsort(-rows.score, kind="stable")
    assert rows.weight is not None
    weight, hits = rows.weight[order], (rows.weight * rows.label)[order]
    ends = np.flatnonzero(np.append(np.diff(rows.score[order]) != 0, True))
    taken, found = (np.concatenate([[0.0], np.cumsum(column)[ends]]) for column in (weight, hits))
    got = float(np.interp(share, taken, found))
    return got / share, got / world.prevalence


def quotas(samples: int) -> Iterator[Count]:
    """Hit rate, Qrecall and lift at several quotas; expected hits and next hits where models are good."""
    for world in WORLDS:
        for share in QUOTAS:
            if world.n * share >= 1:
                yield from _quota_cell(world, share, samples)


def _quota_cell(world: World, share: float, samples: int) -> Iterator[Count]:
    specs = [f"{name}@{100 * share:g}%" for name in ("hit_rate", "qrecall")]
    held, made = np.zeros(2), 0
    for i in range(samples):
        rows = world.draw(np.random.default_rng([*world.name.encode(), i, 1]))
        cases = len(rows.label) if rows.weight is None else rows.weight.sum()
        if int(share * cases * (1 + 1e-12)) < 1:
            continue
        ev = cl.evaluate(rows.label, rows.score, measures=specs, seed=i, **rows.options)
        # a share means a whole number of places: the truth is that of so many
        true = quota_truth_at(world, round(int(share * cases * (1 + 1e-12)) / cases, 6))
        held += [ev[s].low - 1e-9 <= t <= ev[s].high + 1e-9 for s, t in zip(specs, true, strict=True)]
        made += 1
    for spec, share_held in zip(specs, held / max(made, 1), strict=True):
        yield Count(world.name, spec, float(share_held), world.least, samples=made)


quota_truth_at = cache(quota_truth)


def next_hits(samples: int) -> Iterator[Count]:
    """The hits to expect, and those of the next batch, at a quota."""
    for n, prevalence, auc, k in NEXT_CELLS:
        world = World(f"{n} · {prevalence:.0%} · {auc:g} · {k}", n, prevalence, auc)
        held = np.zeros(2)
        for i in range(samples):
            rng = np.random.default_rng([n, k, i])
            now, later = world.draw(rng), world.draw(rng)
            cut = cl.evaluate(now.label, now.score, measures=["roc_auc"], interval=None).at(quota=k)
            hits = later.label[np.argsort(-later.score, kind="stable")[:k]].sum()
            expected, coming = cut.expected_hits, cut.next_hits
            rate, _ = quota_truth_at(replace(world, prevalence=float(now.label.mean())), k / n)  # as many positives
            held += [expected.low <= k * rate <= expected.high, coming.low <= hits <= coming.high]
        yield Count(world.name, "expected_hits", held[0] / samples, 0.92, samples=samples)
        yield Count(world.name, "next_hits", held[1] / samples, 0.93, samples=samples)


def list_sizes(worlds: list[tuple[World, int]]) -> Callable[[int], Iterator[Count]]:
    """The hits in the same places of a list that is shorter or longer than the sample."""

    def counted(samples: int) -> Iterator[Count]:
        for (world, k), times in itertools.product(worlds, (0.1, 0.3, 3, 10, 100)):
            held, made = 0, 0
            # a longer list takes as long to draw as so many samples; beyond ten times no coverage is asked for
            for i in range(samples if times <= 10 else samples // 4):
                rng = np.random.default_rng([*world.name.encode(), k, i, 7])
                now = world.draw(rng)
                cases = len(now.label) if now.weight is None else now.weight.sum()
                later = world.drawn_again(round(times * cases), rng)
                k_later = min(k, len(later.label))
                ev = cl.evaluate(now.label, now.score, measures=["roc_auc"], interval=None, **now.options)
                low, high = ev.at(quota=k_later, list_size=len(later.label)).next_hits
                order = np.lexsort((rng.random(len(later.label)), -later.score))
                held += low <= later.label[order[:k_later]].sum() <= high
                made += 1
            yield Count(world.name, f"{times:g} × as long", held / made, 0.93 if times <= 10 else 0.0, samples=made)

    return counted


def bands(samples: int) -> Iterator[Count]:
    """Simultaneous bands hold the population's curve everywhere."""
    for world in BAND_WORLDS:
        held = dict.fromkeys(CURVES, 0)
        for i in range(samples):
            rows = world.draw(np.random.default_rng([world.n, i, 2]))
            ev = cl.evaluate(rows.label, rows.score, measures=["roc_auc"], interval=None, n_resamples=500, seed=i)
            for name in CURVES:
                band = ev.curve(name).band(LEVEL, simultaneous=True)
                true = true_curve(world, name, band.x, len(rows.label))
                held[name] += bool(((band.low <= true + 1e-9) & (true <= band.high + 1e-9)).all())
        for name, count in held.items():
            yield Count(world.name, name, count / samples, 0.87 if name == "precision_recall" else 0.9, samples=samples)


def true_curve(world: World, name: str, x: Floats, n: int) -> Floats:
    """The population's curve at the abscissas of a band."""
    t = np.linspace(14.0, -12.0, 40_001)
    tpr, fpr = 1 - ndtr(t - world.distance), 1 - ndtr(t)
    if name == "roc":
        return np.asarray(np.interp(x, fpr, tpr))
    hits, taken = world.prevalence * tpr, world.prevalence * tpr + (1 - world.prevalence) * fpr
    if name == "precision_recall":
        return np.asarray(np.interp(x, tpr[1:], (hits / np.maximum(taken, 1e-300))[1:]))
    found = np.interp(x / n, taken, hits)
    with np.errstate(all="ignore"):
        by_name = {"gain": found * n, "hit_rate": found * n / x, "qrecall": found / world.prevalence}
        return np.asarray(by_name.get(name, found * n / x / world.prevalence))


def pair(
    rng: np.random.Generator, n: int, prevalence: float, distances: tuple[float, ...], clusters: int = 0
) -> tuple[NDArray[np.bool_], dict[str, Floats], NDArray[np.int64] | None]:
    """Labels and correlated, calibrated scores of several models on the same rows."""
    code = np.repeat(np.arange(clusters), n // clusters) if clusters else None

    def noise() -> Floats:
        own = rng.standard_normal(n)
        return own if code is None else math.sqrt(0.4) * rng.standard_normal(clusters)[code] + math.sqrt(0.6) * own

    y = noise() < ndtri(prevalence)
    shared = noise()
    scores = {}
    for k, d in enumerate(distances):
        z = math.sqrt(0.5) * (shared + noise()) + d * y
        scores["abcdef"[k]] = 1 / (1 + np.exp(-(d * z - d * d / 2 + math.log(prevalence / (1 - prevalence)))))
    return y, scores, code


TESTS = [  # rows, prevalence, clusters, least and most type I error
    (100, 0.2, 0, 0.025, 0.075),
    (300, 0.2, 0, 0.025, 0.075),
    (400, 0.04, 0, 0.025, 0.075),
    (60, 0.05, 0, 0.0, 0.08),
    (16, 0.4, 0, 0.0, 0.08),
    (8, 0.5, 0, 0.0, 0.08),
    (320, 0.3, 40, 0.0, 0.08),
]


def tests(samples: int) -> Iterator[Count]:
    """Type I error of every paired difference at 5 %, and how often interval and p-value contradict each other."""
    for n, prevalence, clusters, least, most in TESTS:
        yield from _test_cell(n, prevalence, clusters, least, most, samples)


def _test_cell(n: int, prevalence: float, clusters: int, least: float, most: float, samples: int) -> Iterator[Count]:
    where = f"{n} · {prevalence:.0%}" + (f", {clusters} clusters" if clusters else "")
    rejected: dict[str, list[bool]] = {}
    contradictions = 0
    for i in range(samples):
        y, scores, code = pair(np.random.default_rng([n, clusters, i]), n, prevalence, (1.35, 1.35), clusters)
        if not 0 < y.sum() < n:
            continue
        given: dict[str, Any] = {} if code is None else {"clusters": code}
        cmp = cl.compare(y, scores, threshold=prevalence, quota=max(1, n // 10), n_resamples=20, seed=i, **given)
        for row in cmp.differences:
            name = row["measure"].split("(")[0].split("@")[0]
            if row["p_value"] == row["p_value"] and name not in MIRRORED:
                apart = bool(row["p_value"] <= 0.05)
                rejected.setdefault(name, []).append(apart)
                flips = row["method"].endswith("sign flips")
                contradictions += flips and apart != (row["low"] > 0 or row["high"] < 0)
    for measure, found in rejected.items():
        if len(found) >= samples / 2:
            yield Count(where, measure, float(np.mean(found)), least, most, samples=len(found))
    yield Count(where, "p and interval contradict", contradictions / samples, 0.0, 0.0, samples=samples)


def lopsided(samples: int) -> Iterator[Count]:
    """Type I error at 5 % where few rows or clusters carry a difference: rare large losses, Zipf's clusters."""
    for n, rare in ((200, 0.01), (1000, 0.01), (1000, 0.003)):
        apart = 0
        for i in range(samples):
            rng = np.random.default_rng([n, i, 21])
            y, wrong = rng.random(n) < 0.5, rng.random(n) < rare
            small = np.sqrt((rare * 0.999**2 + (1 - rare) * 0.001**2) * rng.uniform(0.9, 1.1, n))
            scores = {"a": np.where(y ^ wrong, 0.999, 0.001), "b": np.where(y, 1 - small, small)}
            apart += cl.compare(y, scores, measures=["brier_score"], n_resamples=2).differences[0]["p_value"] <= 0.05
        yield Count(f"n = {n}, {rare:.1%} large losses", "brier_score", apart / samples, 0.0, 0.075, samples=samples)
    for n, clusters in ((400, 15), (600, 25), (1000, 40)):
        code = np.repeat(np.arange(clusters), np.ceil(n / np.arange(1, clusters + 1) / 4).astype(int))
        apart = 0
        for i in range(samples):
            rng = np.random.default_rng([n, i, 22])
            both = [
                math.sqrt(0.4) * rng.standard_normal(clusters)[code] + math.sqrt(0.6) * rng.standard_normal(len(code))
                for _ in range(4)
            ]
            y = both[0] < ndtri(0.2)
            scores = {"ab"[k]: math.sqrt(0.5) * (both[1] + both[2 + k]) + 1.35 * y for k in range(2)}
            cmp = cl.compare(y, scores, measures=["hit_rate@10%"], clusters=code, n_resamples=2)
            apart += cmp.differences[0]["p_value"] <= 0.05
        yield Count(f"{clusters} Zipf clusters", "hit_rate@10%", apart / samples, 0.0, 0.075, samples=samples)


def power(samples: int) -> Iterator[Count]:
    """How often a true difference of hit rates at a quota is found."""
    found = 0
    for i in range(2 * samples):
        y, scores, _ = pair(np.random.default_rng([i, 5]), 300, 0.2, (1.35, 1.75))
        found += cl.compare(y, scores, measures=["hit_rate@10%"], n_resamples=2).differences[0]["p_value"] <= 0.05
    yield Count("300 · 20 %, d′ 1.35 and 1.75", "hit_rate@10%", found / (2 * samples), 0.29, samples=2 * samples)


def dominance(samples: int) -> Iterator[Count]:
    """Share of comparisons of equal models that show a clear stretch."""
    for n, prevalence, models in ((60, 0.3, 2), (200, 0.2, 2), (300, 0.2, 4)):
        shown = 0
        for i in range(samples):
            y, scores, _ = pair(np.random.default_rng([n, i, 3]), n, prevalence, (1.35,) * models)
            cmp = cl.compare(y, scores, measures=["roc_auc"], interval=None, seed=i)
            shown += any(row["leader"] != "no clear leader" for row in cmp.dominance("quota"))
        yield Count(f"n = {n}, {models} models", "any clear stretch", shown / samples, 0.0, 0.05, samples=samples)


def plan(samples: int) -> Iterator[Count]:
    """The next batch at the cut that plan() chooses."""
    for n, prevalence, auc in ((300, 0.2, 0.83), (300, 0.2, 0.98), (1000, 0.1, 0.83)):
        world, held, made = World("", n, prevalence, auc), 0, 0
        for i in range(samples):
            rng = np.random.default_rng([n, i, 4])
            now, later = world.draw(rng), world.draw(rng)
            chosen = cl.plan(now.label, now.score, cost=2.0, value=5.0, n_resamples=200, seed=i)
            if chosen.cut is None:
                continue
            hits = later.label[np.argsort(-later.score, kind="stable")[: chosen.quota]].sum()
            held += bool(chosen.next_hits.low <= hits <= chosen.next_hits.high)
            made += 1
        yield Count(f"n = {n}, AUC {auc:g}", "next batch", held / max(made, 1), 0.93, samples=made)


def _confident(share: float, wrong: float) -> Callable[[np.random.Generator, int], Drawn]:
    """Scores of ``share`` and 1 − ``share``, of which some are on the wrong side."""

    def draw(rng: np.random.Generator, n: int) -> Drawn:
        says = rng.random(n) < 0.3
        return Drawn(says ^ (rng.random(n) < wrong), np.where(says, share, 1.0 - share))

    return draw


def _binormal(prevalence: float, auc: float) -> Callable[[np.random.Generator, int], Drawn]:
    return lambda rng, n: World("", n, prevalence, auc).draw(rng)


def _heavy(prevalence: float, distance: float) -> Callable[[np.random.Generator, int], Drawn]:
    """Scores with the tails of Student's t with four degrees of freedom."""

    def draw(rng: np.random.Generator, n: int) -> Drawn:
        y = rng.random(n) < prevalence
        return Drawn(y, ndtr((rng.standard_t(4, n) + distance * y - distance / 2.0) / 3.0))

    return draw


@dataclass(frozen=True)
class HardWorld:
    """Few cases carry a measure: where intervals fail that do not allow for what a sample has not shown."""

    name: str
    n: int
    draw: Callable[[np.random.Generator, int], Drawn]
    measures: tuple[str, ...]
    threshold: float = 0.5
    least: float = 0.92

    def counts(self, samples: int, population: int = 1_000_000) -> Iterator[Count]:
        """How often the default intervals hold the value of a sample of a million rows."""

        def scaled_up(spec: str) -> str:  # a quota of so many of n is a share of the population
            name, _, places = spec.partition("@")
            return f"{name}@{int(places) * population // self.n}" if places else spec

        rows = self.draw(np.random.default_rng(0), population)
        how: dict[str, Any] = {"threshold": self.threshold}
        names = {spec: scaled_up(spec) for spec in self.measures}
        ev = cl.evaluate(rows.label, rows.score, measures=list(names.values()), interval=None, **how, **rows.options)
        true = {spec: ev[name].value for spec, name in names.items()}
        held: dict[str, list[bool]] = {spec: [] for spec in names}
        for i in range(samples):
            rows = self.draw(np.random.default_rng([*self.name.encode(), i]), self.n)
            ev = cl.evaluate(
                rows.label, rows.score, measures=list(names), n_resamples=100, seed=i, **how, **rows.options
            )
            for spec, found in held.items():
                if ev[spec].value == ev[spec].value:
                    found.append(ev[spec].low - 1e-9 <= true[spec] <= ev[spec].high + 1e-9)
        for spec, found in held.items():
            yield Count(self.name, spec.split("@")[0], float(np.mean(found)), self.least, samples=len(found))


_LOSSES = ("brier_score", "log_loss", "mean_absolute_error", "focal_loss", "relative_information_score")
_AREAS = ("roc_auc", "average_qrecall", "average_precision", "auch")
_FEW_TAKEN = ("matthews_correlation", "cohen_kappa", "f1", "g_measure", "lift")
HARD = [
    HardWorld("96 of 100", 100, _binormal(0.95, 0.7), ("qrecall@96", "quota_lift@96")),
    HardWorld("270 of 300", 300, _binormal(0.99, 0.7), ("qrecall@270", "quota_lift@270")),
    HardWorld("297 of 300", 300, _binormal(0.7, 0.7), ("qrecall@297", "quota_lift@297")),
    HardWorld("3 of 2000", 2000, _binormal(0.1, 0.6), ("qrecall@3", "hit_rate@3")),
    HardWorld(".999, 1 % wrong", 100, _confident(0.999, 0.01), _LOSSES),
    HardWorld("1, 1 % wrong", 100, _confident(1.0, 0.01), _LOSSES[:-1]),
    HardWorld("t₄, .989, 1000", 1000, _heavy(0.05, 4.57), _AREAS),
    HardWorld("t₄, .997, 400", 400, _heavy(0.5, 6.35), _AREAS),
    HardWorld("20 %, cut .6, 300", 300, _binormal(0.2, 0.75), _FEW_TAKEN, threshold=0.6),
    HardWorld("2 %, cut .3, 500", 500, _binormal(0.02, 0.83), _FEW_TAKEN, threshold=0.3),
    HardWorld("n = 25", 25, _binormal(0.5, 0.7), ("ks_statistic", "auch"), least=0.9),
    HardWorld("n = 25, no skill", 25, _binormal(0.4, 0.5001), ("ks_statistic", "auch"), least=0.9),
]


def _one_decimal(rng: np.random.Generator, n: int) -> Drawn:
    """One score in ten is exactly 0, and 3 % of those are positive."""
    y = rng.random(n) < 0.3
    return Drawn(y, np.round(1.0 / (1.0 + np.exp(1.6 - 1.2 * (rng.standard_normal(n) + 1.2 * y))), 1))


def _weighted(prevalence: float, distance: float, freedom: float = math.inf) -> Callable[..., Drawn]:
    """Weights between 1 and 5."""

    def draw(rng: np.random.Generator, n: int) -> Drawn:
        y = rng.random(n) < prevalence
        z = (rng.standard_normal(n) if math.isinf(freedom) else rng.standard_t(freedom, n)) + distance * y
        return Drawn(y, 1.0 / (1.0 + np.exp(2.5 - 1.3 * z)), rng.uniform(1.0, 5.0, n))

    return draw


# designs counted after the methods were chosen, where some measure fell short
OTHER = [
    HardWorld("weights, 150", 150, _weighted(0.3, 1.5), ("positive_likelihood_ratio",), least=0.9),
    HardWorld("weights, 5 % of 400", 400, _weighted(0.05, 2.5), ("ks_statistic",), least=0.9),
    HardWorld("weights, t₃, 400", 400, _weighted(0.3, 5.0, 3.0), _AREAS[:3], least=0.9),
    HardWorld("one decimal, 400", 400, _one_decimal, ("log_loss", "balanced_cross_entropy", "focal_loss")),
]


def other(samples: int) -> Iterator[Count]:
    """Other designs."""
    return (count for world in OTHER for count in world.counts(samples))


def hard(samples: int) -> Iterator[Count]:
    """The intervals where few cases carry a measure."""
    return (count for world in HARD for count in world.counts(samples))


def over(worlds: list[World]) -> Callable[[int], Iterator[Count]]:
    """The intervals in some worlds."""
    return lambda samples: (count for world in worlds for count in intervals(world, samples))


SECTIONS: dict[str, Callable[[int], Iterator[Count]]] = {
    "intervals": over(WORLDS),
    "quotas": quotas,
    "next hits": next_hits,
    "list sizes": list_sizes([(world, max(2, world.n // 20)) for world in WORLDS]),
    "list sizes, next hits": list_sizes(
        [(World(f"{n} · {p:.0%} · {auc:g} · {k}", n, p, auc), k) for n, p, auc, k in NEXT_CELLS]
    ),
    "bands": bands,
    "tests": tests,
    "lopsided": lopsided,
    "power": power,
    "dominance": dominance,
    "plan": plan,
    "grid": over(GRID),
    "hard": hard,
    "other": other,
}


def table(counts: list[Count]) -> str:
    """Percent held: a line for each measure, a column for each world; what falls outside its bounds in bold."""
    worlds = list(dict.fromkeys(c.world for c in counts))
    cells = {(c.what, c.world): c for c in counts}
    lines = ["| | " + " | ".join(worlds) + " |", "|---|" + "---:|" * len(worlds)]
    for what in dict.fromkeys(c.what for c in counts):
        shown = []
        for world in worlds:
            c = cells.get((what, world))
            text = "" if c is None else f"{100 * c.share:.1f}"
            shown.append(f"**{text}**" if c is not None and c.short else text)
        lines.append(f"| {what} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def write(name: str, text: str, page: Path = DOCS) -> None:
    """Put a table between its markers in the guide."""
    start, end = f"<!-- counted: {name} -->", f"<!-- end: {name} -->"
    before, rest = page.read_text(encoding="utf-8").split(start, 1)
    page.write_text(f"{before}{start}\n\n{text}\n\n{end}{rest.split(end, 1)[1]}", encoding="utf-8")


HALVED = ("bands", "dominance", "plan", "grid")  # longer to count: half the samples


def run(names: list[str], all_samples: int, *, to_docs: bool) -> int:
    """Count, print, write, and say what falls short; 1 where something clearly does."""
    clearly = 0
    for name in names:
        samples = all_samples // 2 if name in HALVED else all_samples
        counts = list(SECTIONS[name](samples))
        error = 100 * math.sqrt(0.95 * 0.05 / samples)
        said = f"{samples} samples each, Monte-Carlo error {error:.1f} points at 95 %"
        text = f"{table(counts)}\n\n({said}.)" if name != "power" else f"{table(counts)}\n\n({2 * samples} samples.)"
        print(f"\n{name}: {said}\n\n{text}\n", flush=True)
        for c in counts:
            if c.clearly_short or c.without_width:
                length = f", length {c.length:.2f}" if c.length == c.length else ""
                flat = f", {c.without_width} without width" if c.without_width else ""
                print(f"short: {name} · {c.world} · {c.what}: {100 * c.share:.1f} %{length}{flat}", flush=True)
            long = c.length > 1.15 and c.share > 0.97
            if long:
                print(f"long: {name} · {c.world} · {c.what}: {100 * c.share:.1f} %, length {c.length:.2f}", flush=True)
        clearly |= any(c.clearly_short for c in counts)
        if to_docs:
            write(name, text)
    return int(clearly)

"""Coverage of measures that are evaluated only where they are named, of checked differences and of classes compared.

    python benchmarks/coverage_named.py [--sims 150]

prints the tables of "Measures that you name" in docs/coverage.md. Populations are those of ``coverage_worlds``:
binormal scores, mapped to probabilities. Truths are the population's values; those of one list of n rows (nDCG) the
mean over samples. It takes about five minutes of one processor.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

import cutline as cl
from coverage_worlds import World, pair

Floats = NDArray[np.float64]
TARGET = 92.0  # of a hundred 95% intervals; what is below is printed in bold
MEASURES = [
    *("partial_auc(fpr=0.1)", "partial_auc(tpr=0.9)", "equal_error_rate", "h_measure", "brier_skill"),
    *("calibration_error", "ndcg"),
]
WORLDS = [
    World(".83, 300", 300, 0.2),
    World(".98, 300", 300, 0.2, 0.98),
    World("2% of 1000", 1000, 0.02),
    World("5 levels", 300, 0.2, levels=5),
    World("n = 50", 50, 0.3),
    World("40 × 8", 320, 0.3, design="even:40:8"),
]
QUERIES = {
    "100 × 20": (100, 20, 0.2),
    "30 × 10": (30, 10, 0.3),
    "15 × 10": (15, 10, 0.3),
    "60 × 50, rare": (60, 50, 0.03),
}
SEARCH = ["ndcg", "ndcg@5", "reciprocal_rank"]
PAIRS = {"300 · 20%": (300, 0.2, 0), "1000 · 2%": (1000, 0.02, 0), "60 · 30%": (60, 0.3, 0), "40 × 8": (320, 0.3, 40)}
DISTANCES = (1.6, 1.1)  # of the classes, by the better and the worse model
CLASSES = {"300, even": (300, (1, 1, 1)), "300, one rare": (300, (10, 10, 1)), "60, even": (60, (1, 1, 1))}


def bold(share: float) -> str:
    """A share in per cent, bold below the target."""
    if math.isnan(share):
        return ""
    return f"{100 * share:.1f}" if 100 * share >= TARGET - 1e-9 else f"**{100 * share:.1f}**"


def table(columns: list[str], rows: dict[str, list[float]]) -> str:
    """A Markdown table of shares."""
    lines = [f"| | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    return "\n".join([*lines, *(f"| {name} | {' | '.join(map(bold, shares))} |" for name, shares in rows.items())])


def held(made: list[tuple[float, float, float]], truth: float | None) -> float:
    """The share of the intervals (value, low, high) that contain the truth, or else the mean of the values."""
    value, low, high = np.array(made, dtype=np.float64).T
    known = np.isfinite(value) & np.isfinite(low)
    if known.sum() < 20:
        return math.nan
    target = float(value[known].mean()) if truth is None else truth
    return float(((low <= target + 1e-9) & (high >= target - 1e-9))[known].mean())


def sharpened(p: Floats, by: float = 1.5) -> Floats:
    """Probabilities whose log odds are multiplied: a calibration error that is not 0."""
    odds = (p / (1.0 - p)) ** by
    return np.asarray(odds / (1.0 + odds))


# by what is added to a measure's name: measures, and what they read of the probabilities
VIEWS: dict[str, tuple[list[str], Callable[[Floats], Floats]]] = {
    "": (MEASURES, np.asarray),
    ", too sure": (["calibration_error", "brier_skill"], sharpened),
    " of log odds": (["hinge_loss"], lambda p: np.log(p / (1.0 - p))),
}


def ends(estimate: Any) -> tuple[float, float, float]:
    """Value and interval; reads an estimate and a row of differences."""
    return float(getattr(estimate, "value", math.nan)), float(estimate.low), float(estimate.high)


def one_list(sims: int) -> str:
    """Every measure of one list, in each population."""
    shares: dict[str, list[float]] = {}
    for world in WORLDS:
        whole = world.population()
        assert whole.weight is not None
        weight = whole.weight * len(whole.label)
        for view, (measures, seen) in VIEWS.items():
            true = cl.evaluate(whole.label, seen(whole.score), measures=measures, sample_weight=weight, interval=None)
            made: dict[str, list[tuple[float, float, float]]] = {measure: [] for measure in measures}
            for i in range(sims):
                rows = world.draw(np.random.default_rng([*world.name.encode(), i]))
                options: dict[str, Any] = {"measures": measures, "n_resamples": 500, "seed": i, **rows.options}
                ev = cl.evaluate(rows.label, seen(rows.score), **options)
                for measure in measures:
                    made[measure].append(ends(ev[measure]))
            for measure in measures:
                truth = None if measure == "ndcg" else true[measure].value
                shares.setdefault(measure + view, []).append(held(made[measure], truth))
    return table([world.name for world in WORLDS], shares)


def queries(sims: int) -> str:
    """Means over queries; the truth is the mean of many thousand queries."""

    def draw(rng: np.random.Generator, count: int, size: int, prevalence: float) -> dict[str, Any]:
        hard = np.repeat(rng.uniform(0.3, 2.0, count), size)  # queries differ in how well they are answered
        y = rng.random(count * size) < prevalence
        score = rng.standard_normal(count * size) + hard * y
        return {"y_true": y, "y_score": score, "batch": np.repeat(np.arange(count), size)}

    shares: dict[str, list[float]] = {measure: [] for measure in SEARCH}
    for count, size, prevalence in QUERIES.values():
        rng = np.random.default_rng([count, size])
        whole = cl.evaluate(**draw(rng, 200_000 // size, size, prevalence), measures=SEARCH, interval=None)
        made: dict[str, list[tuple[float, float, float]]] = {measure: [] for measure in SEARCH}
        for i in range(sims):
            rows = draw(np.random.default_rng([count, size, i]), count, size, prevalence)
            ev = cl.evaluate(**rows, measures=SEARCH, n_resamples=500, seed=i)
            for measure in SEARCH:
                made[measure].append(ends(ev[measure]))
        for measure in SEARCH:
            shares[measure].append(held(made[measure], whole[measure].value))
    return table(list(QUERIES), shares)


def differences(sims: int) -> str:
    """The paired differences that ``check`` judges."""
    measures = ["roc_auc", "brier_score", "hit_rate@10%", "partial_auc(fpr=0.1)", "h_measure", "equal_error_rate"]
    shares: dict[str, list[float]] = {measure: [] for measure in measures}
    for n, prevalence, clusters in PAIRS.values():
        rng = np.random.default_rng([n, clusters])
        y, scores, _ = pair(rng, 200_000, prevalence, DISTANCES)
        true = {name: cl.evaluate(y, score, measures=measures, interval=None) for name, score in scores.items()}
        made: dict[str, list[tuple[float, float, float]]] = {measure: [] for measure in measures}
        for i in range(sims):
            y, scores, code = pair(np.random.default_rng([n, clusters, i, 7]), n, prevalence, DISTANCES, clusters)
            if not 0 < y.sum() < n:
                continue
            given: dict[str, Any] = {} if code is None else {"clusters": code}
            cmp = cl.compare(y, scores, measures=measures, n_resamples=200, seed=i, **given)
            for measure in measures:
                gap = cmp.difference("a", "b", measure)
                made[measure].append((gap.difference, gap.low, gap.high))
        for measure in measures:
            shares[measure].append(held(made[measure], true["a"][measure].value - true["b"][measure].value))
    return table(list(PAIRS), shares)


def classes(sims: int) -> str:
    """Differences of two models by class."""

    def draw(rng: np.random.Generator, n: int, parts: tuple[int, ...]) -> tuple[NDArray[np.intp], dict[str, Floats]]:
        y = rng.choice(len(parts), n, p=np.array(parts) / sum(parts))
        shared = rng.normal(size=(n, len(parts)))
        made = {}
        for name, sure in (("a", 1.8), ("b", 1.3)):
            z = math.sqrt(0.5) * (shared + rng.normal(size=shared.shape)) + sure * np.eye(len(parts))[y]
            z += np.log(np.array(parts) / sum(parts)) / sure
            made[name] = np.exp(sure * z) / np.exp(sure * z).sum(axis=1, keepdims=True)
        return y, made

    measures = ("recall", "precision", "f1", "roc_auc")
    shares: dict[str, list[float]] = {f"{measure}, {which}": [] for measure in measures for which in ("first", "last")}
    for n, parts in CLASSES.values():
        y, models = draw(np.random.default_rng([n, *parts]), 300_000, parts)
        each = {name: cl.evaluate(y, score, measures=["accuracy"], interval=None) for name, score in models.items()}
        values = {name: ev.per_class.to_dicts() for name, ev in each.items()}
        true = {m: [a[m] - b[m] for a, b in zip(values["a"], values["b"], strict=True)] for m in measures}
        made: dict[str, list[tuple[float, float, float]]] = {name: [] for name in shares}
        for i in range(sims):
            y, models = draw(np.random.default_rng([n, *parts, i]), n, parts)
            if len(np.unique(y)) < len(parts):
                continue
            cmp = cl.compare(y, models, measures=["accuracy"], n_resamples=100, seed=i)
            for measure in measures:
                rows = list(cmp.per_class(measure))
                for which, row in (("first", rows[0]), ("last", rows[-1])):
                    made[f"{measure}, {which}"].append((row["difference"], row["low"], row["high"]))
        for name, found in made.items():
            measure, _, which = name.partition(", ")
            shares[name].append(held(found, true[measure][0 if which == "first" else -1]))
    return table(list(CLASSES), shares)


SECTIONS: dict[str, Callable[[int], str]] = {
    "One list": one_list,
    "Means over queries": queries,
    "Differences that check judges": differences,
    "Differences by class": classes,
}


def report(sims: int) -> Iterator[str]:
    """The tables in Markdown."""
    for title, count in SECTIONS.items():
        yield f"### {title}\n\n{count(sims)}\n"
    error = 100 * math.sqrt(0.95 * 0.05 / sims)
    yield f"({sims} samples each, Monte-Carlo error {error:.1f} points at 95%.)"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sims", type=int, default=150, help="samples for each population")
    for part in report(parser.parse_args().sims):
        print(part, flush=True)

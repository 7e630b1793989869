"""How often intervals of `auto` contain the true accuracy, and how long they are, family by family.

    python benchmarks/extrapolation_intervals.py [--seed 4] [--populations 12] [--draws 3] [--former]
        [--only clumps,far] [--level 0.9]
    python benchmarks/extrapolation_intervals.py --other [--seed 4] [--populations 12]
    python benchmarks/extrapolation_intervals.py --stored [--draws 12] [--former]

Every population is drawn by a random seed: its dimension, its noise, its tails and the number of classes seen. Its
true accuracies come from many thousands of its classes. The constants of the intervals were chosen on seed 20, with and
without ``--other``; seed 30 was looked at before their last change. ``--other`` draws other kinds of
populations: binary codes, classes that attract answers, irregular noise of the scores, clumps inside clumps, few
dimensions out of many, skewed places and noise, rounded squares, easy and hard classes, and accuracies close to 1.
``--stored`` takes random parts of Chinese characters, faces, handwritten characters and letters instead
(``../shared/data/manyclass``). ``--former`` also computes the intervals that came before, from resampled classes and
the spread between methods, and prints the lengths relative to those (geometric mean).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from cutline.extrapolation.extrapolation_result import Extrapolation, accuracy_interval  # noqa: E402
from cutline.extrapolation.extrapolator import fit_task, resampled_fits  # noqa: E402
from cutline.extrapolation.tasks import (  # noqa: E402
    average_accuracy,
    from_scores,
    win_histogram,
)
from extrapolation_families import characters, distances, faces, glyphs, letter_scores  # noqa: E402

# Classes of a population from which its true accuracies are computed, and how many of them are tried.
MANY, TRIED = 8000, 3000
OTHERS = (
    "binary",
    "hubs",
    "irregular",
    "nested",
    "few dimensions",
    "skewed",
    "rounded squares",
    "easy and hard",
    "perfect",
)
FAMILIES = ("normal", "heavy", "unequal", "clumps", "scales", "ties", "several", "few", "accurate", "far")


@dataclass(frozen=True)
class Population:
    """Draws scores and labels of some classes; ``truth(k)`` is the accuracy among ``k`` of its classes."""

    name: str
    seen: int
    sizes: tuple[int, ...]
    draw: Callable[..., tuple[Any, Any]]
    truth: Callable[[int], float]


def population(family: str, number: int, seed: int) -> Population:
    """One random population of a family: centres of classes, noise around them, and a way to score."""
    rng = np.random.default_rng([seed, number, FAMILIES.index(family)])
    d = int(rng.integers(3, 40))
    seen = int(np.exp(rng.uniform(np.log(25), np.log(250))))
    several = ("few", "accurate", "far", "several")  # of any of the first three kinds
    kind = str(rng.choice(["normal", "heavy", "unequal"])) if family in several else family
    degrees, unequal = float(rng.uniform(2.5, 6.0)), float(rng.uniform(0.3, 0.9))
    clumps, within = int(rng.integers(8, 150)), float(rng.uniform(0.2, 0.6))
    places = rng.normal(size=(clumps, d))
    step = float(rng.uniform(0.05, 0.4))
    scale = str(rng.choice(["square", "cosine", "exponential"]))
    each = int(rng.integers(2, 6)) if family == "several" else 1
    wanted = float(rng.uniform(0.97, 1.0) if family == "accurate" else rng.uniform(0.35, 0.97))
    if family == "few":
        seen = int(rng.integers(10, 25))
    if family == "far":
        seen = int(rng.integers(20, 75))
    times = (10, 100) if family == "far" else (1.2, 3, 12)
    sizes = tuple(min(round(seen * t), MANY) for t in times)

    def centres(k: int, r: np.random.Generator) -> Any:
        if kind == "clumps":
            return places[r.integers(0, clumps, k)] + within * r.normal(size=(k, d))
        return r.standard_t(degrees, (k, d)) if kind == "heavy" else r.normal(size=(k, d))

    def around(centre: Any, noise: float, r: np.random.Generator) -> Any:
        off = r.standard_t(degrees, centre.shape) if kind == "heavy" else r.normal(size=centre.shape)
        if kind == "unequal":
            off = off * np.exp(unequal * r.normal(size=(len(centre), 1)))
        return centre + noise * off

    def score(probes: Any, gallery: Any) -> Any:
        if family == "scales" and scale == "cosine":
            lengths = np.linalg.norm(probes, axis=1)[:, None] * np.linalg.norm(gallery, axis=1)
            return probes @ gallery.T / lengths
        far = distances(probes, gallery)
        if family == "scales":
            return -(far**2) if scale == "square" else np.exp(-(far**2) / (2.0 * d))
        return np.round(-far / step) * step if family == "ties" else -far

    return _population(f"{family} {number}", seen, sizes, (centres, around, score), wanted, (seed, number), each)


def other_population(family: str, number: int, seed: int) -> Population:
    """One random population of another kind; its last column is a class's pull or difficulty."""
    rng = np.random.default_rng([seed, number, 1000 + OTHERS.index(family)])
    seen = int(np.exp(rng.uniform(np.log(25), np.log(250))))
    sizes = tuple(min(round(seen * t), MANY) for t in (1.2, 3, 12))
    wanted = float(rng.uniform(0.97, 0.998) if family == "perfect" else rng.uniform(0.35, 0.97))
    d = int(rng.integers(24, 96) if family == "binary" else rng.integers(3, 40))
    few = int(rng.integers(2, 6))
    plane, shape, step = rng.normal(size=(few, d)), rng.uniform(0.5, 3.0), rng.uniform(0.1, 0.6)
    pull, hard, within = rng.uniform(0.1, 0.4), rng.uniform(0.05, 0.3), rng.uniform(0.1, 0.4)
    outer = rng.normal(size=(int(rng.integers(4, 20)), 1, d))
    inner = outer + rng.uniform(0.2, 0.7) * rng.normal(size=(len(outer), int(rng.integers(3, 12)), d))

    def centres(k: int, r: np.random.Generator) -> Any:
        places = {
            "binary": lambda: (r.random((k, d)) < 0.5).astype(float),
            "nested": lambda: (
                inner[r.integers(0, inner.shape[0], k), r.integers(0, inner.shape[1], k)]
                + within * r.normal(size=(k, d))
            ),
            "few dimensions": lambda: r.normal(size=(k, few)) @ plane / few**0.5 + 0.1 * r.normal(size=(k, d)),
            "skewed": lambda: r.gamma(shape, 1.0, (k, d)) / shape**0.5,
        }.get(family, lambda: r.normal(size=(k, d)))()
        return np.column_stack([places, r.normal(size=k) if family == "hubs" else r.random(k)])

    def around(centre: Any, noise: float, r: np.random.Generator) -> Any:
        points, last = centre[:, :d], centre[:, d:]
        if family == "binary":
            moved = np.where(r.random(points.shape) < min(noise / 8.0, 0.5), 1.0 - points, points)
        else:
            off = r.gamma(shape, 1.0, points.shape) / shape**0.5 if family == "skewed" else r.normal(size=points.shape)
            factor = np.where(last < hard, 2.5, 0.6) if family == "easy and hard" else 1.0
            moved = points + noise * factor * off
        return np.column_stack([moved, last])

    def score(probes: Any, gallery: Any) -> Any:
        far = distances(probes[:, :d], gallery[:, :d])
        if family in ("binary", "rounded squares"):
            return -np.round(far**2 / (1.0 if family == "binary" else step * d**0.5))
        if family == "hubs":
            return pull * far.std() * gallery[:, d] - far
        if family == "irregular":  # the same for the same two points, but without any pattern
            wave = np.sin(1e4 * (probes[:, :1] @ gallery[:, :1].T) + 1e3 * gallery[:, 1])
            return 0.3 * far.std() * wave**3 - far
        return -far

    return _population(f"{family} {number}", seen, sizes, (centres, around, score), wanted, (seed, number), 1)


def _population(
    name: str, seen: int, sizes: tuple[int, ...], parts: Any, wanted: float, seeds: tuple[int, int], each: int
) -> Population:
    """With the noise that gives about the accuracy wanted among the classes seen, by bisection on one small task."""
    centres, around, score = parts
    small = centres(600, np.random.default_rng([*seeds, 77]))
    low, high = 0.01, 6.0
    for _ in range(12):
        noise = (low * high) ** 0.5
        probes = around(small, noise, np.random.default_rng(5))
        above = true_accuracies(small, probes, score, (min(seen, 600),))[0] > wanted
        low, high = (noise, high) if above else (low, noise)
    all_centres = centres(MANY, np.random.default_rng([*seeds, 99]))
    all_probes = around(all_centres, noise, np.random.default_rng([*seeds, 98]))
    known: dict[int, float] = {}

    def truth(k: int) -> float:
        if not known:
            values = true_accuracies(all_centres, all_probes[:TRIED], score, sizes)
            known.update(zip(sizes, values, strict=True))
        return known[k]

    def draw(r: np.random.Generator, k: int = seen, most: int = 10**9) -> tuple[Any, Any]:
        gallery, labels = centres(k, r), np.repeat(np.arange(k), each)[:most]
        return score(around(gallery[labels], noise, r), gallery), labels

    return Population(name, seen, sizes, draw, truth)


def true_accuracies(gallery: Any, probes: Any, score: Any, sizes: tuple[int, ...]) -> list[float]:
    """Mean accuracy over all tasks of each number of the gallery's classes; ``probes`` belong to its first rows."""
    counts: list[Any] = [[], []]
    for start in range(0, len(probes), 500):
        block = score(probes[start : start + 500], gallery)
        own = block[np.arange(len(block)), start + np.arange(len(block))][:, None]
        counts[0].append((block < own).sum(axis=1))
        counts[1].append((block == own).sum(axis=1) - 1)
    beaten, tied = (np.concatenate(part).astype(float) for part in counts)
    histogram = win_histogram(beaten, tied, np.full(len(probes), 1.0 / len(probes)), len(gallery), "random")
    return [float(value) for value in average_accuracy(histogram, np.array(sizes, dtype=float))]


def stored() -> Iterator[tuple[str, Population]]:
    """Random parts of data with many classes; the accuracy among all of them is known."""

    def of_points(name: str, seen: int, load: Any) -> Population:
        gallery, probes = load()
        sizes = tuple(sorted({min(round(seen * t), len(gallery)) for t in (1.2, 3, 1000)}))
        score = lambda p, g: -distances(p, g)  # noqa: E731
        values = dict(zip(sizes, true_accuracies(gallery, probes, score, sizes), strict=True))

        def draw(r: np.random.Generator) -> tuple[Any, Any]:
            chosen = r.choice(len(gallery), seen, replace=False)
            return score(probes[chosen], gallery[chosen]), np.arange(seen)

        return Population(f"{name} {seen}", seen, sizes, draw, values.__getitem__)

    for seen in (50, 150, 400):
        yield "glyphs, UMing", of_points("uming", seen, lambda: glyphs("uming"))
        yield "glyphs, UKai", of_points("ukai", seen, lambda: glyphs("ukai"))
        yield "faces", of_points("faces", seen, faces)
        yield "characters", of_points("characters", seen, characters)
    for bayes in ("naive", "full"):
        scores, labels = letter_scores(bayes)
        right = float(np.mean(scores.argmax(axis=1) == labels))

        def draw(r: np.random.Generator, scores: Any = scores, labels: Any = labels) -> tuple[Any, Any]:
            chosen = np.sort(r.choice(26, 13, replace=False))
            inside = np.isin(labels, chosen)
            return scores[np.ix_(inside, chosen)], np.searchsorted(chosen, labels[inside])

        yield "letters", Population(f"letters {bayes}", 13, (26,), draw, lambda k, right=right: right)


def former_interval(ex: Extrapolation, drawn: list[Any], k: int) -> tuple[float, float]:
    """What came before: resampled classes, the spread between methods and what errors could not test, led on."""
    untested = 1.0 / np.sqrt(1.0 + (1.0 - ex.observed.test_accuracy) * ex.observed.wins.n_tested)
    ends = []
    for size, value in ((k, ex.accuracy(k).value), (ex.n_classes, ex.observed.test_accuracy)):
        read = [float(np.clip(fit.accuracy(size)[0], 0.0, 1.0)) for fit in drawn if fit is not None]
        members = np.array([float(np.clip(ex.fits[name].accuracy(size)[0], 0.0, 1.0)) for name in ex.plausible])
        ends.append(accuracy_interval(value, np.array(read), members, ex.level, untested))
    (low, high), (low_seen, high_seen) = ends
    seen, shrunk = ex.observed.at(ex.n_classes), (ex.n_classes / k) ** 2
    low = float(np.clip(low + max(seen.low - low_seen, 0.0) * shrunk, 0.0, seen.low))
    return low, float(np.clip(high + max(seen.high - high_seen, 0.0) * shrunk, 0.0, seen.high))


def main() -> None:
    """Print coverage and length by family."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--populations", type=int, default=12)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--level", type=float, default=0.9)
    parser.add_argument("--other", action="store_true")
    parser.add_argument("--stored", action="store_true")
    parser.add_argument("--former", action="store_true")
    parser.add_argument("--save", default="", help="file for every row, to choose constants from")
    asked = parser.parse_args()
    families, make = (OTHERS, other_population) if asked.other else (FAMILIES, population)
    chosen = [name for name in families if not asked.only or name in asked.only.split(",")]
    worlds = (
        stored()
        if asked.stored
        else ((f, make(f, number, asked.seed)) for number in range(asked.populations) for f in chosen)
    )
    rows: list[dict[str, Any]] = []
    begun = time.process_time()
    for family, world in worlds:
        for number in range(asked.draws):
            task = from_scores(*world.draw(np.random.default_rng([asked.seed, number, 3, world.seen])))
            ex, method = fit_task(task, world.sizes, level=asked.level, seed=number)
            drawn = resampled_fits(task, method, 40, number) if asked.former else []
            seen = ex.observed.at(ex.n_classes)
            for k in world.sizes:
                e, truth = ex.accuracy(k), world.truth(k)
                row = {"family": family, "name": world.name, "k1": world.seen, "k": k, "truth": truth}
                row |= {"value": e.value, "low": e.low, "high": e.high, "seen": ex.observed.test_accuracy}
                row |= {"error": ex.observed.value_and_error(ex.n_classes)[1], "cases": ex.n_cases}
                row |= {"tested": ex.observed.wins.n_tested, "seen_low": seen.low, "seen_high": seen.high}
                row |= {f"variance{n}": ex.favorability.case_variance(float(c)) for n, c in ((1, ex.n_classes), (2, k))}
                if drawn:
                    before = former_interval(ex, drawn, k)
                    row["former_held"] = before[0] <= truth <= before[1]
                    row["former"] = (e.high - e.low) / max(before[1] - before[0], 1e-9)
                rows.append(row)
        if asked.save:
            np.save(asked.save, np.array(rows, dtype=object), allow_pickle=True)
    report(rows, time.process_time() - begun)


def report(rows: list[dict[str, Any]], seconds: float) -> None:
    """By family, by growth and by what was seen: how many, coverage, misses on each side, mean length."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["family"]].append(row)
    for low, high in ((1, 2), (2, 5), (5, 20), (20, 10**9)):
        name = f"{low} to {high} times the classes" if high < 10**9 else f"more than {low} times the classes"
        groups[name] = [row for row in rows if low < row["k"] / row["k1"] <= high]
    groups["no error seen"] = [row for row in rows if row["seen"] >= 1.0]
    groups["all"] = rows
    print("| family | draws × sizes | coverage | truth below | above | mean length | ÷ former | former coverage |")
    print("|---|---|---|---|---|---|---|---|")
    for name, part in groups.items():
        if not part:
            continue
        below = np.mean([row["truth"] < row["low"] for row in part])
        above = np.mean([row["truth"] > row["high"] for row in part])
        length = np.mean([row["high"] - row["low"] for row in part])
        former = " | "
        if "former" in part[0]:
            ratio = np.exp(np.mean([np.log(max(row["former"], 1e-3)) for row in part]))
            former = f"{ratio:.2f} | {np.mean([row['former_held'] for row in part]):.0%}"
        counts = f"{len(part)} | {1.0 - below - above:.1%} | {below:.1%} | {above:.1%}"
        print(f"| {name} | {counts} | {length:.3f} | {former} |")
    error = np.sqrt(np.mean([(row["value"] - row["truth"]) ** 2 for row in rows]))
    print(f"RMSE of the point estimates {error:.4f}; {seconds:.0f} s of processor time")


if __name__ == "__main__":
    main()

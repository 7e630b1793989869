"""Two recognisers at more classes: how often the band and the intervals of the difference contain the truth.

    python benchmarks/extrapolation_two.py [--seed 0] [--populations 10] [--draws 3] [--resamples 60]
    python benchmarks/extrapolation_two.py --power [--draws 12]

Both recognisers see the same classes and cases: one embedding each, with noise that is partly shared. The truth at
every number of classes comes from 6,000 classes of the population. The first command counts, at a level of 90%, how
often the simultaneous band contains the whole true difference from 2 classes to the largest, how often the interval at
single numbers of classes contains it, and how often a leader that is called clear is the wrong one. The second draws
new tests of as many classes as ``classes_to_tell`` asks for, and counts how many find the difference (80% asked).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cutline as cl
from extrapolation_families import distances
from extrapolation_intervals import true_accuracies

LEVEL, MANY, TRIED = 0.9, 6000, 2500
Draw = Callable[[int, np.random.Generator], dict[str, Any]]


def score(probes: Any, gallery: Any) -> Any:
    """The plain score."""
    return -distances(probes, gallery)


def population(number: int, seed: int) -> tuple[int, int, Draw, Callable[[tuple[int, ...]], Any]]:
    """Classes seen, the largest number, a way to draw both recognisers' scores, and the true differences."""
    rng = np.random.default_rng([seed, number, 8])
    seen, times = int(rng.integers(40, 160)), float(rng.choice([3, 10]))
    dimensions = rng.integers(4, 24, size=2)
    shared, heavy = float(rng.uniform(0.0, 0.8)), bool(rng.random() < 0.4)
    wanted = rng.uniform(0.5, 0.95) + np.array([0.0, rng.uniform(-0.2, 0.2)])
    most = int(dimensions.max())

    def embedded(k: int, noise: Any, r: np.random.Generator) -> list[tuple[Any, Any]]:
        centre = r.normal(size=(k, most))
        common = r.standard_t(4, (k, most)) if heavy else r.normal(size=(k, most))
        pairs = []
        for d, sigma in zip(dimensions, noise, strict=True):
            off = np.sqrt(shared) * common + np.sqrt(1.0 - shared) * r.normal(size=(k, most))
            pairs.append((centre[:, :d], (centre + sigma * off)[:, :d]))
        return pairs

    low, high = np.full(2, 0.01), np.full(2, 6.0)
    for _ in range(12):
        noise = np.sqrt(low * high)
        pairs = embedded(500, noise, np.random.default_rng(3))
        above = np.array([true_accuracies(g, p, score, (seen,))[0] for g, p in pairs]) > np.minimum(wanted, 0.98)
        low, high = np.where(above, noise, low), np.where(above, high, noise)
    everyone = embedded(MANY, noise, np.random.default_rng([seed, number, 99]))

    def draw(k: int, r: np.random.Generator) -> dict[str, Any]:
        return {name: score(p, g) for name, (g, p) in zip("ab", embedded(k, noise, r), strict=True)}

    def truth(sizes: tuple[int, ...]) -> Any:
        first, second = (np.array(true_accuracies(g, p[:TRIED], score, sizes)) for g, p in everyone)
        return first - second

    return seen, round(seen * times), draw, truth


def coverage(asked: argparse.Namespace) -> None:
    """Count bands and intervals that contain the truth, and wrong leaders."""
    bands, inside, beyond, wrong, clear, lengths = [], [], [], 0, 0, []
    for number in range(asked.populations):
        seen, last, draw, truth = population(number, asked.seed)
        for repeat in range(asked.draws):
            scores = draw(seen, np.random.default_rng([asked.seed, number, repeat]))
            both = cl.extrapolate(scores, k=[last], level=LEVEL, n_resamples=asked.resamples, seed=repeat)
            sizes = tuple(int(size) for size in both.sizes)
            true, band = truth(sizes), both.band()
            held = (band["low"] - 1e-12 <= true) & (true <= band["high"] + 1e-12)
            bands.append(bool(held.all()))
            for k in (max(seen // 2, 2), seen, last):
                d, at = both.difference(k), float(np.interp(np.log(k), np.log(sizes), true))
                (inside if k <= seen else beyond).append(d.low <= at <= d.high)
            lengths.append(both.difference(last).high - both.difference(last).low)
            said = np.where(band["low"] > 0, 1, np.where(band["high"] < 0, -1, 0))
            clear += bool(said.any())
            wrong += bool((said * np.sign(true) < 0).any())
    n = len(bands)
    print(f"{n} samples of {asked.populations} populations, level {LEVEL:.0%}:")
    print(f"simultaneous band contains the whole difference: {np.mean(bands):.1%}")
    print(
        f"interval at k ≤ k1: {np.mean(inside):.1%} of {len(inside)}; at 3 or 10 times k1: {np.mean(beyond):.1%} of {n}"
    )
    print(f"mean length at the largest k: {np.mean(lengths):.3f}")
    print(f"a leader called clear somewhere: {clear} of {n}; the wrong one: {wrong}")


def power(asked: argparse.Namespace) -> None:
    """Ask how many classes are needed, test as many, and count how often the difference is found."""
    for number in range(asked.populations):
        seen, last, draw, truth = population(number, asked.seed)
        scores = draw(seen, np.random.default_rng([asked.seed, number, 50]))
        how: dict[str, Any] = {"level": LEVEL, "n_resamples": asked.resamples}
        first = cl.extrapolate(scores, k=[last], **how)
        needed, true = first.classes_to_tell(last), float(truth((last,))[0])
        if not 20 <= needed <= 500:
            print(f"population {number}: {needed:,.0f} classes asked for; not tried")
            continue
        found = []
        for repeat in range(asked.draws):
            again = draw(int(needed), np.random.default_rng([asked.seed, number, 60 + repeat]))
            found.append(cl.extrapolate(again, k=[last], seed=repeat, **how).difference(last).leader is not None)
        seen_gap = first.difference(last).difference
        print(
            f"population {number}: {seen} classes seen, difference {seen_gap:+.3f} predicted and {true:+.3f} true at "
            f"{last:,}; {needed:,.0f} classes asked for; found in {np.mean(found):.0%} of {len(found)}",
            flush=True,
        )


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--populations", type=int, default=10)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--resamples", type=int, default=60)
    parser.add_argument("--power", action="store_true")
    asked = parser.parse_args()
    begun = time.process_time()
    (power if asked.power else coverage)(asked)
    print(f"{time.process_time() - begun:.0f} s of processor time")


if __name__ == "__main__":
    main()

"""Simulated coverage of uplift, gain, Qini, AUUC and paired differences, away from the easy case.

    python benchmarks/uplift.py [SAMPLES]

For each world and number of rows, the share of 95% intervals that contain the value of the population. ``uplift`` also
stands for the gain, which is the same number times the places.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

import cutline as cl

KEYS = ("uplift", "over_random", "everyone", "qini", "auuc")
PAIRED = ("uplift", "auuc")
QUOTA = 0.2
FAR = 3_000_000  # rows that stand for the population
# what differs from the easy world: 10% outcomes without treatment, half of the rows treated
WORLDS = (
    "easy",
    "rare",
    "unequal propensities",
    "few treated",
    "ties",
    "no effect",
    "skewed amounts",
    "skewed, unequal",
)


def logistic(x: Any) -> Any:
    """1/(1 + e^−x)."""
    return 1.0 / (1.0 + np.exp(-x))


def drawn(world: str, rng: np.random.Generator, n: int) -> dict[str, Any]:
    """A trial: both outcomes of each row, of which one is seen, its propensity, and two targeting scores."""
    a = rng.normal(size=n)
    b = a + rng.normal(size=n)
    base, effect, e = 0.1, 0.08 * logistic(2.0 * a), np.full(n, 0.5)
    if world == "rare":  # 1 in 100, and the effect is skewed: a few rows have most of it
        base, effect = 0.01, 0.01 * np.exp(a - 0.5)
    if world == "no effect":
        effect = np.zeros(n)
    if world == "few treated":
        e = np.full(n, 0.1)
    if world in ("unequal propensities", "skewed, unequal"):  # they depend on the score and on something else
        e = np.clip(logistic(0.7 * a + 0.5 * rng.normal(size=n) - 1.0), 0.05, 0.95)
    chance = np.clip(base * np.exp(0.5 * rng.normal(size=n) - 0.125), 0.0, 0.9)
    without = (rng.random(n) < chance).astype(np.float64)
    treated = (rng.random(n) < np.clip(chance + effect, 0.0, 1.0)).astype(np.float64)
    if world.startswith("skewed"):
        size = np.exp(1.2 * rng.normal(size=n))
        without, treated = without * size, treated * size * np.exp(0.3 * np.maximum(a, 0.0))
    if world == "ties":
        a, b = a.round(), b.round()
    return {"t": rng.random(n) < e, "e": e, "without": without, "with": treated, "a": a, "b": b}


def truth(world: str) -> dict[str, dict[str, float]]:
    """The values of the population, of each score: both outcomes of its rows are known."""
    rows = drawn(world, np.random.default_rng(99), FAR)
    gain, values = rows["with"] - rows["without"], {}
    for score in "ab":
        order = np.argsort(-rows[score], kind="stable")
        _, first, sizes = np.unique(-rows[score][order], return_index=True, return_counts=True)
        curve = np.cumsum(np.repeat(np.add.reduceat(gain[order], first) / sizes, sizes)) / FAR
        everyone, at = curve[-1], curve[int(QUOTA * FAR) - 1]
        area = {"auuc": curve.mean(), "qini": curve.mean() - everyone / 2.0}
        values[score] = {"uplift": at / QUOTA, "over_random": at - QUOTA * everyone, "everyone": everyone, **area}
    return values


def main(samples: int = 500) -> None:
    """Print a row for each world and size."""
    for world in WORLDS:
        goal = truth(world)
        for n in (300, 1000, 5000):
            rng, inside = np.random.default_rng(1), dict.fromkeys([*KEYS, *(f"{key} a − b" for key in PAIRED)], 0)
            for _ in range(samples):
                rows = drawn(world, rng, n)
                y = np.where(rows["t"], rows["with"], rows["without"])
                scores: Mapping[str, Any] = {"a": rows["a"], "b": rows["b"]}
                both = cl.uplift(rows["t"], y, scores, propensity=rows["e"], quota=QUOTA)
                for key in KEYS:
                    e, times = both["a"][key], n if key in ("over_random", "everyone") else 1.0
                    inside[key] += e.low <= times * goal["a"][key] <= e.high
                for key in PAIRED:
                    d, gap = both.difference("a", "b", key), goal["a"][key] - goal["b"][key]
                    inside[f"{key} a − b"] += d.low <= gap <= d.high
            shown = " | ".join(f"{100 * count / samples:.1f}" for count in inside.values())
            print(f"| {world} | {n:,} | {shown} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

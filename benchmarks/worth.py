"""Simulated coverage of the worth of a list: lognormal amounts, at a quota and at a threshold, and paired differences.

    python benchmarks/worth.py [SAMPLES]

For each world, the share of 95% intervals that contain the value of the population. ``percentile`` is what the plain
bootstrap of value_captured holds in the same samples.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import cutline as cl

MEASURES = ["value_captured", "value_recall", "value_per_place"]
FAR = 3_000_000  # rows that stand for the population


def drawn(rng: np.random.Generator, n: int, share: float, sigma: float, digits: int | None) -> dict[str, Any]:
    """Labels, amounts, and the scores of two models; large amounts are a little easier to find."""
    y = rng.random(n) < share
    z = rng.normal(size=n)
    a, b = (1.5 * y + 0.3 * z * y + rng.normal(size=n) for _ in range(2))
    if digits is not None:
        a, b = a.round(digits), b.round(digits)
    return {"y": y, "worth": np.exp(sigma * z), "a": a, "b": 0.6 * b + 0.8 * a if digits is None else b}


def truth(far: dict[str, Any], model: str, quota: float, n: int) -> dict[str, float]:
    """What the population gives for a list of n cases cut at the same share."""
    ev = cl.evaluate(far["y"], far[model], worth=far["worth"], quota=quota, measures=MEASURES, interval=None)
    values = {name: ev[name].value for name in MEASURES}
    return {**values, "value_captured": values["value_captured"] * n / FAR}


def percentile(world: dict[str, Any], places: int, rng: np.random.Generator) -> tuple[float, float]:
    """The plain bootstrap of the value captured."""
    gain, order = (world["y"] * world["worth"]), np.argsort(-world["a"], kind="stable")
    gain, n, found = gain[order], len(gain), []
    for _ in range(300):
        times = np.bincount(rng.integers(0, n, n), minlength=n)
        ends = np.cumsum(times)
        found.append(np.interp(places, ends, np.cumsum(times * gain)))
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def main(samples: int = 300) -> None:
    """Print a row for each world."""
    rng = np.random.default_rng(0)
    for sigma in (0.5, 1.5, 2.0):
        for n, positives in ((1000, 50), (5000, 250)):
            for kind in ("plain", "ties", "weights"):
                share, quota = positives / n, 0.08
                digits = 0 if kind == "ties" else None
                far = drawn(rng, FAR, share, sigma, digits)
                goal = {model: truth(far, model, quota, n) for model in "ab"}
                inside: dict[str, int] = {}
                for seed in range(samples):
                    world = drawn(rng, n, share, sigma, digits)
                    y, models = world["y"], {model: world[model] for model in "ab"}
                    how: dict[str, Any] = {"worth": world["worth"], "quota": quota, "measures": MEASURES}
                    if kind == "weights":
                        w = np.exp(0.5 * rng.normal(size=n))
                        how["sample_weight"] = w * n / w.sum()
                    cmp = cl.compare(y, models, seed=seed, **how)
                    for name in MEASURES:
                        e = cmp["a"][name]
                        inside[name] = inside.get(name, 0) + (e.low <= goal["a"][name] <= e.high)
                        gap, key = goal["a"][name] - goal["b"][name], f"{name} a − b"
                        d = cmp.difference("a", "b", e.name)
                        inside[key] = inside.get(key, 0) + (d.low <= gap <= d.high)
                    if kind == "plain":
                        low, high = percentile(world, round(quota * n), rng)
                        hit = low <= goal["a"]["value_captured"] <= high
                        inside["percentile"] = inside.get("percentile", 0) + hit
                shown = ", ".join(f"{name} {100 * k / samples:.1f}" for name, k in inside.items())
                print(f"σ {sigma} {positives:>4} positives {kind:8} {shown}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

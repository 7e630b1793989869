"""How often the intervals of lists that are cut batch by batch hold, where the rate varies from batch to batch.

    python benchmarks/batches.py              every table (some minutes of processor time)
    python benchmarks/batches.py --sims 100   a glance
    python benchmarks/batches.py --only rows  days in a row alone (or: worlds)

A day has 400 rows, 20 places, and a share of positives of 6 % times exp(s·Z − s²/2), Z normal: s (log-sd) is 0, 0.3 or
0.6. Rare positives: 1 % of the rows, 5 places. Scores are N(0, 1) for negatives and N(1.5, 1) for positives.
``next_hits``: share of 30 further days whose hits lie in it. The others: share of samples whose interval holds the mean
over 40,000 days. In brackets: mean width. ``threshold − best``: hits per day of one threshold less those of the best of
each day; the threshold is given, or matched (chosen so that it takes as many cases in all; the truth then is that of
the threshold that does so in the population).

Days in a row: Z is an autoregression of first order with memory φ (0: independent days), s is .6. ``model − model``:
difference in hit rate of two models of equal merit; which of them is better on a day has the same memory.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

import cutline as cl

ROWS, APART, NEW = 400, 1.5, 30
MANY = 40_000


class World(NamedTuple):
    """Places of a day, and the mean share of positives."""

    places: int
    rate: float


WORLDS = {"common": World(20, 0.06), "rare": World(5, 0.01)}


def in_a_row(rng: np.random.Generator, count: int, memory: float) -> np.ndarray:
    """Standard normal numbers, each the last one times the memory plus something new."""
    drawn = rng.normal(size=count)
    for k in range(1, count):
        drawn[k] = memory * drawn[k - 1] + np.sqrt(1.0 - memory**2) * drawn[k]
    return drawn


def days(
    rng: np.random.Generator, count: int, spread: float, world: World, memory: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Labels and scores, a row for each day."""
    rate = np.minimum(world.rate * np.exp(spread * in_a_row(rng, count, memory) - spread**2 / 2), 0.95)
    y = rng.random((count, ROWS)) < rate[:, None]
    return y, rng.normal(size=y.shape) + APART * y


def best_hits(y: np.ndarray, s: np.ndarray, places: int) -> np.ndarray:
    """Positives among the best of each day."""
    top = np.argpartition(-s, places, axis=1)[:, :places]
    return np.take_along_axis(y, top, 1).sum(axis=1)


def truth(spread: float, world: World) -> dict[str, float]:
    """Means over many days: hits, hit rate, Qrecall, and the difference of the two rules."""
    rng = np.random.default_rng(99)
    hits = positives = above = 0.0
    parts = [days(rng, 2_000, spread, world) for _ in range(MANY // 2_000)]
    scores = np.concatenate([s.ravel() for _, s in parts])
    threshold = float(np.partition(scores, -MANY * world.places)[-MANY * world.places])
    for y, s in parts:
        hits += best_hits(y, s, world.places).sum()
        positives += y.sum()
        above += best_hits(y & (s > threshold), s, world.places).sum()  # the threshold has as many places
    return {
        "hits": hits / MANY,
        "hit_rate": hits / (MANY * world.places),
        "qrecall": hits / positives,
        "gap": (above - hits) / MANY,
        "threshold": threshold,
    }


def counted(count: int, spread: float, sims: int, world: World) -> dict[str, str]:
    """Coverage and mean width of each interval with so many days."""
    rng = np.random.default_rng([count, int(100 * spread)])
    real = truth(spread, world)
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(sims):
        y, s = days(rng, count + NEW, spread, world)
        coming = best_hits(y[count:], s[count:], world.places)
        label, score, day = y[:count].ravel(), s[:count].ravel(), np.repeat(np.arange(count), ROWS)
        ev = cl.evaluate(label, score, batch=day, quota=world.places, measures=["hit_rate", "qrecall"])
        point = ev.at(quota=world.places)
        low, high = point.next_hits
        inside = float(np.mean((coming >= low) & (coming <= high)))
        found.setdefault("next_hits", []).append((inside, high - low))
        intervals = {"hits per batch": (point.expected_hits, real["hits"])}
        intervals |= {name: (ev[name], real[name]) for name in ("hit_rate", "qrecall")}
        for name, threshold in (("given", real["threshold"]), ("matched", None)):
            top, within = (rules := ev.batches.rules(threshold=threshold)).values()
            intervals[f"threshold − best, {name}"] = (rules.difference(within.name, top.name, "hits"), real["gap"])
        for name, (e, value) in intervals.items():
            found.setdefault(name, []).append((float(e.low <= value <= e.high), e.high - e.low))
    return {name: "{:.1%} ({:.2f})".format(*np.mean(rows, axis=0)) for name, rows in found.items()}


def in_rows(count: int, memory: float, sims: int, real: dict[str, float]) -> dict[str, str]:
    """Coverage and mean width where days resemble the day before; error rates of a difference that is nothing."""
    rng, world = np.random.default_rng([count, int(100 * memory), 5]), WORLDS["common"]
    found: dict[str, list[tuple[float, float]]] = {}
    how = {"batch": np.repeat(np.arange(count), ROWS), "quota": world.places, "measures": ["hit_rate"]}
    for _ in range(sims):
        y, s = days(rng, count + 1, 0.6, world, memory)
        better = 0.3 * in_a_row(rng, count, memory)[:, None] * y[:count]
        models = {name: (s[:count] + sign * better).ravel() for name, sign in (("a", 1.0), ("b", -1.0))}
        label, coming = y[:count].ravel(), best_hits(y[count:], s[count:], world.places)[0]
        ev = cl.evaluate(label, s[:count].ravel(), **how)
        gap = cl.compare(label, models, **how).difference("a", "b", "hit_rate")
        low, high = ev.at(quota=world.places).next_hits
        rate = ev["hit_rate"]
        found.setdefault("hit_rate", []).append((rate.low <= real["hit_rate"] <= rate.high, rate.high - rate.low))
        found.setdefault("next_hits, the next day", []).append((low <= coming <= high, high - low))
        found.setdefault("model − model", []).append((gap.low <= 0.0 <= gap.high, gap.high - gap.low))
    return {name: "{:.1%} ({:.3f})".format(*np.mean(rows, axis=0)) for name, rows in found.items()}


def main() -> None:
    """Print one row for each interval, one column for each spread, for several numbers of days."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sims", type=int, default=400)
    parser.add_argument("--days", type=int, nargs="*", default=[60, 30, 12])
    parser.add_argument("--world", choices=list(WORLDS), nargs="*", default=list(WORLDS))
    parser.add_argument("--only", choices=["worlds", "rows"], nargs="*", default=["worlds", "rows"])
    asked = parser.parse_args()
    if "rows" in asked.only:
        real = truth(0.6, WORLDS["common"])
        for count in asked.days:
            columns = {memory: in_rows(count, memory, asked.sims, real) for memory in (0.0, 0.4, 0.6, 0.8)}
            print(f"\n{count} days in a row, {asked.sims} samples: coverage of 95 % intervals (mean width)")
            print(f"{'':28}" + "".join(f"{f'φ {memory:g}':>18}" for memory in columns))
            for name in columns[0.0]:
                print(f"{name:28}" + "".join(f"{column[name]:>18}" for column in columns.values()), flush=True)
    for world in asked.world if "worlds" in asked.only else ():
        for count in asked.days:
            columns = {spread: counted(count, spread, asked.sims, WORLDS[world]) for spread in (0.0, 0.3, 0.6)}
            print(f"\n{world}, {count} days, {asked.sims} samples: coverage of 95 % intervals (mean width)")
            print(f"{'':28}" + "".join(f"{f'log-sd {spread:g}':>18}" for spread in columns))
            for name in columns[0.0]:
                print(f"{name:28}" + "".join(f"{column[name]:>18}" for column in columns.values()), flush=True)


if __name__ == "__main__":
    main()

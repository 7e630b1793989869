"""Several classes: speed against scikit-learn, memory, and how often the intervals hold the true value.

    python benchmarks/classes.py                     all of it, a few minutes
    python benchmarks/classes.py --only speed        ratios from one run, warm, best of several
    python benchmarks/classes.py --only memory       1,000 classes × 100,000 rows
    python benchmarks/classes.py --only coverage     simulated coverage of the 95 % intervals (--samples 400)
    python benchmarks/classes.py --only small        classes of three cases, and unbalanced ones: coverage and type I
    python benchmarks/classes.py --only shapes       models of one mean loss and unlike shapes: type I

Coverage: a population of known shares and scores (rows of softmax of normal scores, the real class raised); the truth
is the value on 400,000 further rows. A sample in which a measure has no value is left out of its count.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.metrics import (
    classification_report,
    confusion_matrix,
    log_loss,
    roc_auc_score,
)

import cutline as cl
from core import best, line

TRUTH_ROWS = 400_000


def population(
    rng: np.random.Generator, n: int, shares: Sequence[float], strength: float, spread: float = 1.3
) -> tuple[np.ndarray, np.ndarray]:
    """Classes and rows of probabilities."""
    share = np.asarray(shares) / np.sum(shares)
    code = rng.choice(len(share), n, p=share)
    z = spread * rng.normal(size=(n, len(share))) + np.log(share)
    z[np.arange(n), code] += strength
    p = np.exp(z - z.max(axis=1, keepdims=True))
    return code, p / p.sum(axis=1, keepdims=True)


def speed() -> None:
    """The whole catalogue, and 1,000 replicates of it, against scikit-learn's functions."""
    y, p = population(np.random.default_rng(0), 100_000, [1.0] * 10, 2.0)
    said = p.argmax(axis=1)

    def theirs() -> None:
        classification_report(y, said)
        log_loss(y, p)
        roc_auc_score(y, p, multi_class="ovr")
        confusion_matrix(y, said)

    def ours() -> object:
        return cl.evaluate(y, p, ordered=True, interval=None).confusion

    base = best(theirs, 3)
    line("catalogue, 10⁵ rows × 10 classes, times faster", f"{base / best(ours, 7):.1f}×", "5×", "")
    with_intervals = best(lambda: cl.evaluate(y, p, ordered=True), 3)
    line("the same with closed-form intervals, times faster", f"{base / with_intervals:.1f}×", "", "")


MEMORY = """
import numpy as np, sys, time
import cutline as cl
from core import high_water
from classes import population
y, p = population(np.random.default_rng(0), 1000, [1.0] * 1000, 3.0)
cl.evaluate(np.arange(1000), p, interval={interval!r}, classes=range(1000))
rng = np.random.default_rng(0)
n, k = 100_000, 1000
y = rng.integers(0, k, n)
p = np.empty((n, k))
for i in range(0, n, 10_000):
    z = rng.random((10_000, k)) ** 8
    z[np.arange(10_000), y[i : i + 10_000]] += 0.5
    p[i : i + 10_000] = z / z.sum(axis=1, keepdims=True)
before = high_water()
begun = time.perf_counter()
ev = cl.evaluate(y, p, interval={interval!r})
print(high_water() / p.nbytes, time.perf_counter() - begun)
"""


def memory() -> None:
    """Peak memory of the whole process, in multiples of the matrix of scores."""
    for interval, what in ((None, "without"), ("auto", "with")):
        code = MEMORY.format(interval=interval)
        done = subprocess.run(
            [sys.executable, "-c", code], check=True, cwd=Path(__file__).parent, capture_output=True, text=True
        )
        peak, seconds = map(float, done.stdout.split())
        line(
            f"1,000 classes × 10⁵ rows {what} intervals: process's peak, × the matrix",
            f"{peak:.2f}×, {seconds:.0f} s",
            "≤ 2×",
            "",
        )


OF_CLASS = ("precision", "recall", "f1", "roc_auc", "average_precision")
DESIGNS = {
    "4 classes, one 5 %, accuracy .66": ([0.4, 0.35, 0.2, 0.05], 1.5, 200),
    "4 classes, one 5 %, accuracy .93": ([0.4, 0.35, 0.2, 0.05], 3.5, 200),
    "10 equal classes": ([1.0] * 10, 2.5, 300),
    "3 classes, n = 1,000": ([0.5, 0.3, 0.2], 2.0, 1000),
}


def parts_of(ev: cl.results.ClassEvaluation) -> dict[str, tuple[float, float, float]]:
    """What else has an interval: the last class against the rest, confusions of the first, errors by coverage."""
    row = ev.per_class[len(ev.classes) - 1]
    found = {f"last class: {name}": (row[name], row[f"{name}_low"], row[f"{name}_high"]) for name in OF_CLASS}
    first = ev.confusion
    found["first class predicted as the second"] = (first.shares[0, 1], first.low[0, 1], first.high[0, 1])
    curve = ev.risk_coverage()
    for share in (0.25, 0.5, 0.75):
        at = curve.at(share)
        found[f"error rate of the {share:.0%} most confident"] = (at["risk"], at["low"], at["high"])
    return found


def coverage(samples: int, interval: str) -> None:
    """Share of samples whose interval holds the truth, by measure and design; and of differences between models."""
    table: dict[str, dict[str, str]] = defaultdict(dict)
    for name, (shares, strength, n) in DESIGNS.items():
        rng = np.random.default_rng(7)
        classes = range(len(shares))
        y, p = population(rng, TRUTH_ROWS, shares, strength)
        truth = cl.evaluate(y, p, ordered=True, interval=None, classes=classes)
        real = parts_of(truth)
        held: dict[str, list[bool]] = defaultdict(list)
        for s in range(samples):
            y, p = population(rng, n, shares, strength)
            ev = cl.evaluate(
                y, p, ordered=True, classes=classes, interval=interval, n_resamples=500, seed=s, progress=False
            )
            for key in ev:
                if ev[key].value == ev[key].value:
                    held[key].append(ev[key].low <= truth[key].value <= ev[key].high)
            for key, (_, low, high) in parts_of(ev).items():
                if low == low:
                    held[key].append(low <= real[key][0] <= high)
        for key, found in held.items():
            table[key][name] = f"{np.mean(found):.3f}" + ("" if len(found) == samples else f" ({len(found)})")
    _print(table, list(DESIGNS), f"95 % intervals ({interval}), {samples} samples each")


def differences(samples: int) -> None:
    """Coverage of differences between two models on the same cases, and how often equal models are called unequal."""
    table: dict[str, dict[str, str]] = defaultdict(dict)
    shares, n = [0.4, 0.35, 0.2, 0.05], 200
    for name, (one, two) in {"unequal models": (2.5, 1.8), "equal models": (2.0, 2.0)}.items():
        rng = np.random.default_rng(11)

        def draw(rows: int, one: float = one, two: float = two, rng: np.random.Generator = rng) -> tuple:
            share = np.asarray(shares)
            code = rng.choice(4, rows, p=share)
            common = rng.normal(size=(rows, 4))
            made = []
            for strength in (one, two):
                z = 0.9 * common + 0.9 * rng.normal(size=(rows, 4)) + np.log(share)
                z[np.arange(rows), code] += strength
                q = np.exp(z)
                made.append(q / q.sum(axis=1, keepdims=True))
            return code, *made

        y, p, q = draw(TRUTH_ROWS)
        truth = cl.compare(y, {"a": p, "b": q}, ordered=True, interval=None, classes=range(4))
        held: dict[str, list[bool]] = defaultdict(list)
        for _ in range(samples):
            y, p, q = draw(n)
            cmp = cl.compare(y, {"a": p, "b": q}, ordered=True, classes=range(4))
            for row in cmp.differences:
                if row["low"] == row["low"]:
                    real = truth.difference("a", "b", row["measure"])["difference"]
                    held[row["measure"]].append(row["low"] <= real <= row["high"])
        for key, found in held.items():
            table[key][name] = f"{np.mean(found):.3f}"
    _print(
        table, ["unequal models", "equal models"], f"95 % intervals of paired differences, n = 200, {samples} samples"
    )


SMALL = {  # cases of each class, how much the real class is raised, whether these sizes are fixed
    "60, 30, 3, 3, 3": ([60, 30, 3, 3, 3], 1.5, True),
    "20 classes of 3": ([3] * 20, 3.0, True),
    "20 of 3, weak": ([3] * 20, 1.5, True),
    "200 and 6 of 3": ([200] + [3] * 6, 3.0, True),
    "10 unbalanced, 150": ([45, 30, 22, 16, 12, 8, 6, 5, 3, 3], 1.0, False),
    "10 unbalanced, 600": ([180, 120, 88, 64, 48, 32, 24, 20, 12, 12], 1.0, False),
}
OF_SMALL = ("balanced_accuracy", "macro(f1)", "hand_till_auc", "macro(roc_auc)", "mean_average_precision")


def small(samples: int) -> None:
    """Small and unbalanced classes: coverage, mean length, and how often equal models are told apart (of 5)."""
    table: dict[str, dict[str, str]] = defaultdict(dict)
    for name, (sizes, strength, fixed) in SMALL.items():
        rng, k = np.random.default_rng(5), len(sizes)

        def drawn(times: int = 1, models: int = 1, rng=rng, k=k, sizes=sizes, strength=strength, fixed=fixed) -> tuple:
            of_class = np.asarray(sizes) * times
            y = np.repeat(np.arange(k), of_class)
            y = y if fixed else rng.choice(y, len(y))
            common, made = rng.normal(size=(len(y), k)), []
            for _ in range(models):
                z = 0.9 * common + 0.9 * rng.normal(size=(len(y), k))
                z[np.arange(len(y)), y] += strength
                made.append(z)
            return y, *made

        asked = {"classes": range(k), "measures": OF_SMALL}
        truth = cl.evaluate(*drawn(times=100_000 // sum(sizes)), interval=None, **asked)
        found: dict[str, list[tuple[bool, float, bool]]] = defaultdict(list)
        for _ in range(samples):
            y, a, b = drawn(models=2)
            cmp = cl.compare(y, {"a": a, "b": b}, **asked)
            for row in cmp.differences:
                e = cmp["a"][row["measure"]]
                if e.low == e.low:
                    held = e.low <= truth[row["measure"]].value <= e.high
                    found[row["measure"]].append((held, e.high - e.low, row["p_value"] < 0.05))
        for key, rows in found.items():
            held, length, told = np.mean(rows, axis=0)
            table[key][name] = f"{100 * held:.1f} ({length:.3f}), {100 * told:.1f}"
    _print(table, list(SMALL), f"small classes: coverage (length), type I of 5; {samples} samples")


def sure_and_vague(rng: np.random.Generator, n: int, measure: str, wrong: float) -> tuple[np.ndarray, dict]:
    """Three classes, two models of one mean loss: sure and wrong in a few cases, and a little wrong in all of them."""
    y, sure, low = rng.integers(0, 3, n), 0.998, 0.001
    missed = rng.random(n) < wrong
    first = np.full((n, 3), low)
    first[np.arange(n), np.where(missed, (y + 1) % 3, y)] = sure
    if measure == "brier_score":
        right, most = (1 - sure) ** 2 + 2 * low**2, (1 - low) ** 2 + sure**2 + low**2
        share = np.sqrt(((1 - wrong) * right + wrong * most) * rng.uniform(0.9, 1.1, n) / 1.5)
    else:
        mean = -(1 - wrong) * np.log(sure) - wrong * np.log(0.01 if "eps" in measure else low)
        share = -np.expm1(-mean * rng.uniform(0.9, 1.1, n))
    second = np.repeat(share[:, None] / 2.0, 3, axis=1)
    second[np.arange(n), y] = 1.0 - share
    return y, {"sure": first, "vague": second}


def shapes(samples: int) -> None:
    """How often such models are told apart at 5%."""
    table: dict[str, dict[str, str]] = defaultdict(dict)
    for wrong in (0.01, 0.003):
        for measure in ("log_loss", "log_loss(eps=0.01)", "brier_score"):
            for n in (35, 100, 300, 1000):
                rng, told = np.random.default_rng(3), 0
                for _ in range(samples):
                    y, models = sure_and_vague(rng, n, measure, wrong)
                    cmp = cl.compare(y, models, classes=range(3), measures=[measure])
                    told += cmp.differences[0]["p_value"] <= 0.05
                table[f"{measure}, wrong in {wrong:.1%}"][f"n = {n}"] = f"{100 * told / samples:.1f}"
    _print(table, [f"n = {n}" for n in (35, 100, 300, 1000)], f"equal mean losses, unlike shapes: type I; {samples}")


def _print(table: dict[str, dict[str, str]], columns: list[str], title: str) -> None:
    print(f"\n{title}")
    print(f"{'measure':<34}" + "".join(f"{column:>36}" for column in columns))
    for key, row in table.items():
        print(f"{key:<34}" + "".join(f"{row.get(column, ''):>36}" for column in columns), flush=True)


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("speed", "memory", "coverage", "small", "shapes"))
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--interval", default="auto")
    asked = parser.parse_args()
    if asked.only in (None, "speed"):
        line("work", "measured", "must", "aim")
        speed()
    if asked.only in (None, "memory"):
        memory()
    if asked.only in (None, "small"):
        small(asked.samples)
    if asked.only in (None, "shapes"):
        shapes(asked.samples)
    if asked.only in (None, "coverage"):
        coverage(asked.samples, asked.interval)
        differences(asked.samples)


if __name__ == "__main__":
    main()

"""How well the share of errors that a review finds is predicted for more classes.

    python benchmarks/extrapolation_review.py [--seed 1] [--populations 10] [--draws 2] [--review 0.2]

The populations are those of ``extrapolation_intervals.py``; the truth comes from one task of the larger size. The laws
of the margins were chosen on six normal and heavy-tailed populations that are not among them. Prints, by family, the
mean predicted and true share at 3 and 12 (10 and 100) times the classes, RMSE, and coverage of the 90% intervals.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import cutline as cl
from extrapolation_intervals import FAMILIES, population

# Cases of the large task, and its largest size: a table of scores must fit into memory.
CASES, LARGEST = 1500, 4000


def main() -> None:
    """Print what was predicted and what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--populations", type=int, default=10)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--review", type=float, default=0.2)
    asked = parser.parse_args()
    begun, rows = time.process_time(), defaultdict(list)
    for number in range(asked.populations):
        for family in FAMILIES:
            if family in ("several", "few", "accurate"):  # several cases of a class, or next to no errors
                continue
            world = population(family, number, asked.seed)
            for k in (size for size in world.sizes[-2:] if size <= LARGEST):
                scores, _ = world.draw(np.random.default_rng([asked.seed, number, 41]), k, CASES)
                best = -np.partition(-scores, 1, axis=1)[:, :2]
                wrong = scores.argmax(axis=1) != np.arange(len(scores))
                first = np.argsort(np.abs(best[:, 0] - best[:, 1]))[: round(asked.review * len(scores))]
                truth = float(wrong[first].sum() / wrong.sum())
                for draw in range(asked.draws):
                    seen, labels = world.draw(np.random.default_rng([asked.seed, number, draw, 42]))
                    plan = cl.extrapolate(seen, labels, review=asked.review, k=[k], level=0.9, n_resamples=40)
                    e = plan[k]
                    rows[family].append((e.value, truth, e.low <= truth <= e.high, e.high - e.low))
    print("| family | samples | predicted | found there | RMSE | coverage of 90% | mean length |")
    print("|---|---|---|---|---|---|---|")
    rows["all"] = [row for part in rows.values() for row in part]
    for family, part in rows.items():
        value, truth, held, length = np.array(part, dtype=float).T
        error = np.sqrt(np.mean((value - truth) ** 2))
        means = f"{value.mean():.3f} | {truth.mean():.3f} | {error:.3f} | {held.mean():.0%} | {length.mean():.3f}"
        print(f"| {family} | {len(part)} | {means} |")
    print(f"{time.process_time() - begun:.0f} s of processor time")


if __name__ == "__main__":
    main()

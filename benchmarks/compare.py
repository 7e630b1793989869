"""Comparing models: cutline against a loop over scikit-learn, in one run on one machine, as ratios.

    python benchmarks/compare.py                     both figures
    python benchmarks/compare.py --rows 20000        a smaller speed test
    python benchmarks/compare.py --memory            only the memory of 50 models, in a process of its own

Speed: three models, 10⁵ cases, 1,000 paired replicates of every measure of the catalogue with all differences,
intervals and p-values; against a loop that resamples the rows and calls ``roc_auc_score`` for each model. Twenty turns
of the loop are timed, before and after, and scaled; the rows of a turn are drawn once for all models, which favours the
loop. So does the count of measures: one there, all of them here.

The replicates are asked for by name (``interval="percentile"``, and ``"bootstrap"`` for BCa, which adds a jackknife),
and the script stops if any measure has fewer. It matters: on lists this long ``interval="auto"`` takes standard errors
from 50 blocks of rows for nearly all measures. That is quicker, and is shown too, but it is not 1,000 replicates: its
ratio to the loop is not one of equal work.

Memory: 50 models, 10⁴ cases, 1,000 replicates; the highest resident size of a fresh process, and what it was before.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

Scores = dict[str, np.ndarray]
INTERVALS = {
    "percentile": "all measures (wanted: 20)",
    "bootstrap": "all measures, BCa",
    "auto": "auto (not replicates)",
}


def make_data(rows: int, models: int, *, levels: int | None = None) -> tuple[np.ndarray, Scores]:
    """Labels (20 % positive) and models of slightly different quality, as probabilities; ``levels`` makes ties."""
    rng = np.random.default_rng(0)
    y = (rng.random(rows) < 0.2).astype(np.int64)
    shared = rng.normal(size=rows)
    scores = {}
    for k in range(models):
        p = 1 / (1 + np.exp(-(1.2 + 0.2 * k / models) * y - 0.7 * shared - 0.7 * rng.normal(size=rows) + 2.0))
        scores[f"model {k + 1}"] = p if levels is None else np.round(p * levels) / levels
    return y, scores


def seconds(function: Callable[[], object]) -> float:
    """Processor time of all threads: other work on the machine hardly counts."""
    start = time.process_time()
    function()
    return time.process_time() - start


def loop(y: np.ndarray, scores: Scores, replicates: int) -> None:
    """What one writes without cutline: one measure, no pairing beyond the rows, no intervals yet."""
    from sklearn.metrics import roc_auc_score
    from sklearn.utils import resample

    found: dict[str, list[float]] = {name: [] for name in scores}
    for r in range(replicates):
        rows = resample(np.arange(len(y)), random_state=r)
        for name, s in scores.items():
            found[name].append(float(roc_auc_score(y[rows], s[rows])))


def comparison(y: np.ndarray, scores: Scores, replicates: int, interval: str = "percentile") -> int:
    """Every measure of every model, and every difference. Unless ``auto`` chooses, all by that many replicates."""
    import cutline as cl

    cmp = cl.compare(y, scores, quota=0.01, n_resamples=replicates, interval=interval, progress=False)
    count = len(cmp.differences)
    if interval != "auto":
        for name, drawn in cmp.replicates.items():
            defined = {key for key, e in cmp[name].estimates.items() if e.value == e.value}
            if set(drawn) != defined or any(len(values) != replicates for values in drawn.values()):
                sys.exit(
                    f"{name}: not every measure has {replicates} replicates; the timing would not mean what it says"
                )
    return count


def speed(rows: int, replicates: int, turns: int, levels: int | None) -> dict[str, float]:
    small = make_data(2000, 3, levels=levels)
    for interval in INTERVALS:
        comparison(*small, 10, interval)  # compiled code is loaded before the clock starts
    loop(*small, 2)
    y, scores = make_data(rows, 3, levels=levels)
    loop(y, scores, 1)
    before = seconds(lambda: loop(y, scores, turns))
    ours = {interval: seconds(lambda i=interval: comparison(y, scores, replicates, i)) for interval in INTERVALS}
    after = seconds(lambda: loop(y, scores, turns))
    theirs = min(before, after) / turns * replicates
    return {"loop": theirs, **ours}


def highest_mb() -> float:
    """Highest resident size of this process. ``ru_maxrss`` would remember the parent's from before exec."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)


def memory(rows: int, models: int, replicates: int) -> dict[str, float]:
    """To be called in a fresh process."""
    y, scores = make_data(200, 3)
    comparison(y, scores, 5)
    before = highest_mb()
    y, scores = make_data(rows, models)
    start = time.perf_counter()
    pairs = comparison(y, scores, replicates)
    taken = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "models": models,
        "rows": rows,
        "differences": pairs,
        "seconds": taken,
        "before_mb": before,
        "peak_mb": peak,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=20, help="turns of the loop that are timed")
    parser.add_argument("--memory", action="store_true", help="only the memory, in this very process")
    said = parser.parse_args()
    if said.memory:
        print(json.dumps(memory(10_000, 50, said.replicates)))
        return
    print(f"{os.cpu_count()} cores")
    for kind, levels in (("scores all different", None), ("scores on 1,000 levels", 1000)):
        s = speed(said.rows, said.replicates, said.turns, levels)
        print(f"3 models, {said.rows:,} cases, {said.replicates:,} paired replicates, {kind}:")
        print(f"  roc_auc_score in a loop, one measure     {s['loop']:8.1f} s (scaled from {said.turns} turns)")
        for interval, note in INTERVALS.items():
            print(f"  cutline, {note:<32}{s[interval]:8.1f} s  ratio {s['loop'] / s[interval]:6.1f}", flush=True)
    command = [sys.executable, __file__, "--memory", "--replicates", str(said.replicates)]
    m = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    what = f"{m['models']} models, {m['rows']:,} cases, {said.replicates:,} replicates"
    print(
        f"{what}, {m['differences']:,} differences:\n"
        f"  highest resident memory   {m['peak_mb']:8.0f} MB (before: {m['before_mb']:.0f}; wanted: at most 500 MB)\n"
        f"  time                      {m['seconds']:8.1f} s"
    )


if __name__ == "__main__":
    main()

"""Intervals against the alternatives, as ratios from one run: `python benchmarks/inference.py [--quick]`.

Processor time of all threads, best of several runs each, warm. Slow alternatives are timed on 20 replicates and
scaled. The yardstick is scikit-learn in a loop of ``resample`` and ``roc_auc_score``; scipy's vectorised bootstrap
and the packages confidenceinterval, stambo and rapidstats are printed beside it where they are installed (`pip
install confidenceinterval stambo rapidstats`, or a folder of them on PYTHONPATH).
"""

from __future__ import annotations

import argparse
import importlib.metadata
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.utils import resample

import cutline as cl
from core import best, sample
from cutline.ranking import rank
from cutline.sources.arrays import make_sample

FEW = 20
N = 100_000
LONG = 1_000_000

PEAK = """
import sys
import numpy as np
import cutline as cl
from core import sample as made
from cutline.evaluation import choose_specs
from cutline.inference.resampling import replicate
from cutline.inference.resampling import Resampler
from cutline.catalogue.compute import compute
from cutline.ranking import Ranking, rank
from cutline.sources.arrays import Sample, make_sample

def work(sample, ranking, n_resamples):
    specs = choose_specs(None, threshold=0.5, quota=0.001)
    values = compute(specs, ranking).values
    resampler = Resampler(sample, ranking, stratified=False)
    return lambda: replicate(specs, values, resampler, n_resamples, jackknife=False)

small = make_sample(*made(5000))
work(small, rank(small), 50)()  # compiles, or loads the compiled passes
stored = np.load(sys.argv[1])
sample = Sample(stored["positive"], stored["s"], None, 0.0, 1.0)
ranking = Ranking(stored["score"], stored["pos"], stored["neg"], len(sample))
job = work(sample, ranking, int(sys.argv[2]))
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # forget the peak so far

def peak():  # not ru_maxrss, which a process inherits from the one that started it
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))

before = peak()
job()
print((peak() - before) / 1024)
"""


def peak_megabytes(n_resamples: int) -> float:
    """Peak memory that replicates of the whole catalogue add to a sample of 10⁶ rows and its ranking, in MB."""
    y, s = sample(LONG)
    made = make_sample(y, s)
    ranking = rank(made)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ranking.npz"
        np.savez(path, positive=made.positive, s=made.score, score=ranking.score, pos=ranking.pos, neg=ranking.neg)
        done = subprocess.run(
            [sys.executable, "-c", PEAK, str(path), str(n_resamples)],
            check=True,
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
        )
    return float(done.stdout)


def once(work: Callable[[], object], repeats: int = 3) -> float:
    """Least processor time of a few runs, for slow work; the first run is not thrown away."""
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


def loop_of_scikit_learn(y: np.ndarray, s: np.ndarray, replicates: int) -> None:
    """What a user writes today."""
    for i in range(replicates):
        a, b = resample(y, s, random_state=i)
        roc_auc_score(a, b)


def scipy_bootstrap(y: np.ndarray, s: np.ndarray, replicates: int) -> None:
    """scipy.stats.bootstrap with an AUC that is vectorised over replicates, classes resampled separately."""
    from scipy.stats import bootstrap, rankdata

    def auc(pos: np.ndarray, neg: np.ndarray, axis: int = -1) -> np.ndarray:
        n_pos, n_neg = pos.shape[-1], neg.shape[-1]
        ranks = rankdata(np.concatenate([pos, neg], axis=-1), axis=-1)
        return (ranks[..., :n_pos].sum(axis=-1) - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)

    bootstrap((s[y == 1], s[y == 0]), auc, n_resamples=replicates, vectorized=True, batch=5, method="percentile", rng=0)


def confidenceinterval_bootstrap(y: np.ndarray, s: np.ndarray, replicates: int) -> None:
    """The package confidenceinterval."""
    from confidenceinterval.bootstrap import bootstrap_ci

    bootstrap_ci(
        y, s, metric=roc_auc_score, confidence_level=0.95, n_resamples=replicates, method="bootstrap_percentile"
    )


def stambo_bootstrap(y: np.ndarray, s: np.ndarray, replicates: int) -> None:
    """The package stambo, which compares two models: the same one twice."""
    from stambo import compare_models
    from stambo.metrics import ROCAUC

    compare_models(y, s, s, metrics=(ROCAUC(),), n_bootstrap=replicates, seed=0, silent=True)


def rapidstats_bootstrap(y: np.ndarray, s: np.ndarray, replicates: int) -> None:
    """The package rapidstats (compiled, threaded)."""
    from rapidstats import Bootstrap

    Bootstrap(iterations=replicates, seed=0).roc_auc(y, s)


PEERS = {
    "scipy": scipy_bootstrap,
    "confidenceinterval": confidenceinterval_bootstrap,
    "stambo": stambo_bootstrap,
    "rapidstats": rapidstats_bootstrap,
}


def version(package: str) -> str:
    """The installed version, or nothing."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def line(what: str, figure: str, must: str = "", aim: str = "") -> None:
    """One row of the table."""
    print(f"{what:<78} {figure:>14} {must:>10} {aim:>8}", flush=True)


def bootstrap_table(replicates: int) -> None:
    """1,000 replicates at n = 10⁵."""
    y, s = sample(N)
    scale = replicates / FEW
    yardstick = once(lambda: loop_of_scikit_learn(y, s, FEW)) * scale

    def read(interval: str, **options: Any) -> Any:
        """All measures: they are computed when they are read."""
        return cl.evaluate(y, s, interval=interval, n_resamples=replicates, **options).estimates.values()

    auc = best(lambda: read("percentile", measures=["roc_auc"]), 5)
    every, corrected, auto = (best(partial(read, how, quota=1000), 3) for how in ("percentile", "bca", "auto"))
    line(f"scikit-learn, {replicates:,} × (resample + roc_auc_score), n = 10⁵", f"{yardstick:.1f} s")
    line(f"AUC, {replicates:,} replicates, times faster", f"{yardstick / auc:.0f}×", "60×", "150×")
    line(
        "whole catalogue, percentile, times faster than AUC in scikit-learn", f"{yardstick / every:.0f}×", "20×", "60×"
    )
    line("whole catalogue, BCa", f"{yardstick / corrected:.0f}×")
    line("whole catalogue, auto (closed forms where they are best)", f"{yardstick / auto:.0f}×")
    for package, work in PEERS.items():
        installed = version(package)
        if not installed:
            line(f"AUC against {package}", "not installed")
            continue
        few = replicates if package == "rapidstats" else FEW
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other packages' warnings are not ours to fix
            work(y[:2000], s[:2000], FEW)
            theirs = once(lambda work=work, few=few: work(y, s, few), 3) * replicates / few
        line(f"AUC, times faster than {package} {installed}", f"{theirs / auc:.0f}×")


def delong_table() -> None:
    """DeLong's interval at n = 10⁶."""
    y, s = sample(LONG)
    yardstick = best(lambda: roc_auc_score(y, s), 5)
    ours = best(lambda: cl.evaluate(y, s, measures=["roc_auc"], interval="delong")["roc_auc"], 5)
    line("DeLong interval, n = 10⁶, times faster than roc_auc_score alone", f"{yardstick / ours:.1f}×", "1×", "3×")
    if version("confidenceinterval"):
        from confidenceinterval import roc_auc_score as with_interval

        theirs = once(lambda: with_interval(y, s), 3)
        line("DeLong interval, n = 10⁶, times faster than confidenceinterval", f"{theirs / ours:.1f}×")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Intervals against the alternatives.")
    parser.add_argument("--quick", action="store_true", help="fewer replicates for the memory row")
    options = parser.parse_args()
    line("work", "measured", "must", "aim")
    bootstrap_table(1000)
    delong_table()
    replicates = 200 if options.quick else 2000
    used = peak_megabytes(replicates)
    line(
        f"{replicates:,} replicates of the whole catalogue, n = 10⁶, memory added",
        f"{used:.0f} MB",
        "≤ 200 MB",
        "≤ 50 MB",
    )


if __name__ == "__main__":
    main()

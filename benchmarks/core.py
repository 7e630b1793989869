"""The core against scikit-learn, as ratios from one run: `python benchmarks/core.py`.

Processor time, best of several runs each, warm. The ratios depend on the processor, which is printed first: NumPy's
sort is slow on Zen 4, where cutline sorts by a kernel of its own (`cutline.ranking.sort_values` chooses).
"""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

import cutline as cl
from cutline.kernels import compiled


def best(work: Callable[[], object], repeats: int = 7) -> float:
    """Least processor time of several runs, of all threads, in seconds: other work on the machine hardly counts."""
    work()
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


def sample(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Labels and probabilities of a fairly good model, 30 % positive."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(np.int64)
    return y, 1.0 / (1.0 + np.exp(-(rng.normal(size=n) + 1.2 * y - 1.0)))


def processor() -> str:
    """What this processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = dict([part.strip() for part in entry.split(":", 1)] for entry in lines if ":" in entry)
    return (
        f"{named.get('model name', platform.machine())}, family {named.get('cpu family')}, model {named.get('model')}"
    )


def best_sort(values: np.ndarray) -> float:
    """The faster of NumPy's sort and the kernel's on this machine, in seconds."""
    return min(best(lambda: values.copy().sort()), best(lambda: compiled.sort(values.copy())))


def cold_seconds(code: str) -> float:
    """Wall time of a fresh interpreter running some code."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent)
    return time.perf_counter() - begun


def high_water() -> int:
    """Most memory this process has held, in bytes; not ru_maxrss, which a child takes over from its parent."""
    for entry in Path("/proc/self/status").read_text().splitlines():
        if entry.startswith("VmHWM"):
            return 1024 * int(entry.split()[1])
    raise OSError("this system does not tell a process's peak memory")


PEAK = """
import numpy as np, cutline as cl
from core import high_water, sample
cl.evaluate(*sample(5000), interval=None).estimates.values()  # which loads what a first call loads
y, s = np.load("{folder}/y.npy"), np.load("{folder}/s.npy")
before = high_water()
cl.evaluate(y, s, interval=None).estimates.values()  # measures are computed when they are read
print((high_water() - before) / (y.nbytes + s.nbytes))
"""


def peak(n: int, label: str) -> float:
    """Peak memory that evaluate() and reading all measures add, in multiples of its input arrays."""
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory() as folder:  # made elsewhere, so that making them does not count
        y, s = sample(n)
        np.save(f"{folder}/y.npy", y.astype(label))
        np.save(f"{folder}/s.npy", s)
        code = PEAK.format(folder=folder)
        done = subprocess.run([sys.executable, "-c", code], check=True, cwd=here, capture_output=True, text=True)
    return float(done.stdout)


def line(what: str, figure: str, must: str, aim: str) -> None:
    """One row of the table."""
    print(f"{what:<66} {figure:>16} {must:>12} {aim:>10}", flush=True)


def main() -> None:
    """Print the table."""
    print(processor())
    line("work", "measured", "must", "aim")
    y, s = sample(1_000_000)
    theirs = best(lambda: roc_auc_score(y, s), 5)
    auc = best(lambda: cl.roc_auc(y, s))
    whole = best(lambda: cl.evaluate(y, s, quota=1000, interval=None).estimates.values())
    sort = best_sort(s)
    line("roc_auc, n = 10⁶, times faster than scikit-learn", f"{theirs / auc:.1f}×", "12×", "15×")
    line("roc_auc, n = 10⁶, in times of the best sort of its scores", f"{auc / sort:.1f}×", "≤ 2.2×", "")
    line("whole catalogue, n = 10⁶, times faster than its roc_auc_score", f"{theirs / whole:.1f}×", "7×", "")
    line("whole catalogue, n = 10⁶, in times of that sort", f"{whole / sort:.1f}×", "≤ 8×", "≤ 4×")
    line("np.sort, n = 10⁶, in times of that sort", f"{best(lambda: s.copy().sort()) / sort:.1f}×", "", "")
    y, s = sample(1000)
    one = best(lambda: cl.roc_auc(y, s), 500)
    line("roc_auc, n = 1,000, with all checks", f"{1e6 * one:.0f} µs", "≤ 50 µs", "")
    line("roc_auc, n = 1,000, times faster", f"{best(lambda: roc_auc_score(y, s), 50) / one:.1f}×", "5×", "10×")
    line("peak memory of evaluate, n = 10⁷, int64 labels, × input", f"{peak(10**7, 'int64'):.2f}×", "≤ 4×", "≤ 2.5×")
    line("peak memory of evaluate, n = 10⁷, bool labels, × input", f"{peak(10**7, 'bool'):.2f}×", "≤ 4×", "≤ 2.5×")
    call = "cl.evaluate([1, 0, 1, 0], [.9, .6, .5, .1], quota=2, interval=None).estimates.values()"
    call = f"import cutline as cl; {call}"
    first = min(cold_seconds(call) for _ in range(3))
    plain = cold_seconds("import numpy")
    ours = cold_seconds("import cutline")
    line("first evaluate of a process, in times of import numpy", f"{first / plain:.2f}×", "", "")
    line("import cutline, in times of import numpy", f"{ours / plain:.2f}×", "", "")


if __name__ == "__main__":
    main()

"""Accuracy at more classes, measured: errors against known truth, interval coverage, time, memory.

    python benchmarks/extrapolation.py [--draws 30] [--repeats 100] [--only errors,joint,coverage,time,memory]

The real data are looked for beside the project (``../shared/data/manyclass``); without them only the synthetic part
runs. The paper's spline is measured in the same run as everything else.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

# One thread for everything, so that times compare whatever else the machine does.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from experiments.populations import GaussianRecognition  # noqa: E402

from cutline.extrapolation import every_method, extrapolate  # noqa: E402
from cutline.extrapolation.favorability import spline_moment  # noqa: E402
from cutline.extrapolation.tasks import (  # noqa: E402
    TaskEvidence,
    average_accuracy,
    from_embeddings,
)

DATA = ROOT.parent / "shared" / "data" / "manyclass"
TARGET = 1672


def glyphs(font: str) -> tuple[Any, Any, float]:
    """Gallery, probes and the true accuracy at 1,672 classes from all 17,840."""
    stored = np.load(DATA / "cjk-glyphs" / "cjk_glyph_embeddings.npz")
    wins = np.loadtxt(DATA / "cjk-glyphs" / f"cjk_wins_full_{font}.txt", dtype=np.intp)
    histogram = np.bincount(wins, minlength=wins.size) / wins.size
    truth = float(average_accuracy(histogram, np.array([float(TARGET)]))[0])
    return stored["gallery_noto_sans"].astype(float), stored[f"probe_{font}"].astype(float), truth


def faces(seed: int = 0) -> tuple[Any, Any, float]:
    """Two photographs of each of 1,680 people; the truth is what all of them give at 1,672."""
    stored = np.load(DATA / "lfw-dlib" / "lfw_dlib.npz")
    people, rng = stored["ids"], np.random.default_rng(seed)
    order = np.argsort(people, kind="stable")
    bounds = np.append(np.unique(people[order], return_index=True)[1], order.size)
    chosen = np.array([order[rng.permutation(np.arange(a, b))[:2]] for a, b in pairwise(bounds)])
    gallery, probes = stored["X"][chosen[:, 0]].astype(float), stored["X"][chosen[:, 1]].astype(float)
    histogram = from_embeddings(gallery, probes).whole().histogram
    assert histogram is not None
    return gallery, probes, float(average_accuracy(histogram, np.array([float(TARGET)]))[0])


SETS: dict[str, Callable[[], tuple[Any, Any, float]]] = {
    "cjk UMing": lambda: glyphs("uming"),
    "cjk UKai": lambda: glyphs("ukai"),
    "lfw dlib": faces,
}


def predictions(gallery: Any, probes: Any, n_classes: int, rng: np.random.Generator, seed: int) -> dict[str, float]:
    """Every method's prediction for 1,672 classes from one random draw."""
    drawn = rng.choice(len(gallery), n_classes, replace=False)
    g, p = gallery[drawn], probes[drawn]
    ex = extrapolate(gallery=g, probes=p, interval=False, seed=seed)
    found = {"auto": ex.accuracy(TARGET).value}
    best = {row.family: row.name for row in ex.backtest if row.reason == "" or row.reason.startswith("risk above")}
    for family, name in best.items():
        found[family] = ex.by_method(TARGET)[name]
    spline = every_method()["spline"].fit(from_embeddings(g, p).whole())
    found["spline"] = float(np.clip(spline.accuracy(TARGET)[0], 0.0, 1.0))
    found["spline, not clipped"] = float(spline.accuracy(TARGET)[0])
    return found


def errors(draws: int) -> dict[tuple[str, int], dict[str, float]]:
    """RMSE over repeated draws, as in the paper's Table 1."""
    table: dict[tuple[str, int], dict[str, float]] = {}
    for name, load in SETS.items():
        gallery, probes, truth = load()
        print(f"\n{name}: accuracy at {TARGET} classes {truth:.4f}; RMSE over {draws} draws")
        for n_classes in (100, 200, 400, 800):
            rng = np.random.default_rng([n_classes, 5])
            rows = [predictions(gallery, probes, n_classes, rng, number) for number in range(draws)]
            table[name, n_classes] = {
                method: float(np.sqrt(np.mean([(row[method] - truth) ** 2 for row in rows]))) for method in rows[0]
            }
            print(
                f"  {n_classes:>4}: " + "  ".join(f"{m} {e:.4f}" for m, e in table[name, n_classes].items()), flush=True
            )
    print("\n| data, from k1 | " + " | ".join(method for method in table["cjk UMing", 100]) + " |")
    print("|---|" + "---|" * len(table["cjk UMing", 100]))
    for (name, n_classes), row in table.items():
        print(f"| {name}, {n_classes} | " + " | ".join(f"{value:.3f}" for value in row.values()) + " |")
    return table


def joint(draws: int) -> None:
    """Where the fitted curve meets the observed one: RMSE of both at k1, and at 1,672 of three ways to go on.

    ``fit`` is the fitted curve as it is, ``answer`` the one led over from the observed accuracy, ``shifted`` the fit
    moved to it by the same step on the logit scale at every k.
    """
    print(f"\n| data, from k1 | observed at k1 | fit at k1 | fit at {TARGET} | answer | shifted |")
    print("|---|" + "---|" * 5)
    for name, load in SETS.items():
        gallery, probes, truth = load()
        at_k1 = from_embeddings(gallery, probes).whole().histogram
        for n_classes in (100, 200, 400, 800):
            rng, rows = np.random.default_rng([n_classes, 5]), []
            known = float(average_accuracy(at_k1, np.array([float(n_classes)]))[0])
            for number in range(draws):
                drawn = rng.choice(len(gallery), n_classes, replace=False)
                ex = extrapolate(gallery=gallery[drawn], probes=probes[drawn], interval=False, seed=number)
                near, far = np.clip(ex.favorability.accuracy([n_classes, TARGET]), 1e-9, 1 - 1e-9)
                seen = float(np.clip(ex.observed.test_accuracy, 1e-9, 1 - 1e-9))
                odds = far / (1 - far) * seen / (1 - seen) / (near / (1 - near))
                rows.append([seen - known, near - known, far - truth, ex.predict(TARGET)[0] - truth])
                rows[-1].append(odds / (1 + odds) - truth)
            shown = " | ".join(f"{value:.4f}" for value in np.sqrt(np.mean(np.square(rows), axis=0)))
            print(f"| {name}, {n_classes} | {shown} |", flush=True)


def coverage(repeats: int, resamples: int, dimensions: list[int], level: float = 0.9) -> dict[int, float]:
    """How often the interval holds the truth on Gaussian recognition problems."""
    hits: dict[int, list[bool]] = {2: [], 10: []}
    for dimension, noise in ((5, 0.5), (10, 0.7)):
        if dimension not in dimensions:
            continue
        problem, n_classes = GaussianRecognition(dimension, noise), 100
        truth = dict(zip((2, 10), problem.accuracy([2 * n_classes, 10 * n_classes]), strict=True))
        rng = np.random.default_rng([dimension, 17])
        inside: dict[int, list[bool]] = {2: [], 10: []}
        widths: dict[int, list[float]] = {2: [], 10: []}
        for number in range(repeats):
            ex = extrapolate(problem.draw(n_classes, rng), level=level, n_resamples=resamples, seed=number)
            for factor in (2, 10):
                estimate = ex.accuracy(factor * n_classes)
                inside[factor].append(estimate.low <= truth[factor] <= estimate.high)
                widths[factor].append(estimate.high - estimate.low)
        for factor in (2, 10):
            hits[factor] += inside[factor]
            print(
                f"coverage, {dimension} dimensions, {factor}×: {np.mean(inside[factor]):.3f} of {repeats}, "
                f"mean width {np.mean(widths[factor]):.3f}, truth {truth[factor]:.3f}",
                flush=True,
            )
    return {factor: float(np.mean(found)) for factor, found in hits.items()}


def fit_times() -> dict[str, float]:
    """CPU seconds per rank method at k1 = 1,672, nothing cached, as shares of plain NNLS on the paper's matrix."""
    from scipy.optimize import nnls

    gallery, probes, _ = glyphs("ukai")
    drawn = np.random.default_rng(3).choice(len(gallery), TARGET, replace=False)
    histogram = from_embeddings(gallery[drawn], probes[drawn]).whole().histogram
    evidence = TaskEvidence(TARGET, histogram)
    k, accuracy = evidence.curve
    matrix = spline_moment(1.0 - (np.arange(10_000) / 10_000)[None, :], k[:, None])
    begun = time.process_time()
    nnls(matrix, 1.0 - accuracy, maxiter=100_000)
    plain = time.process_time() - begun
    print(f"\nscipy.optimize.nnls on {matrix.shape[0]} × {matrix.shape[1]}: {plain:.2f} s of CPU")
    shares = {}
    for method in every_method().values():
        if method.needs_scores:
            continue
        for variant in method.variants():
            _forget()
            begun = time.process_time()
            variant.fit(TaskEvidence(TARGET, histogram))
            first = time.process_time() - begun
            begun = time.process_time()
            variant.fit(TaskEvidence(TARGET, histogram))
            again = time.process_time() - begun
            shares[variant.name] = first / plain
            print(f"  {variant.name:<16} {first * 1e3:8.1f} ms (1/{plain / first:.0f})   again {again * 1e3:6.1f} ms")
    return shares


def _forget() -> None:
    from cutline.extrapolation import methods

    for name in dir(methods):
        if hasattr(getattr(methods, name), "cache_clear"):
            getattr(methods, name).cache_clear()


def memory() -> float:
    """Peak memory in MB of a process that finds the wins of 17,840 probes among 17,840 classes."""
    done = subprocess.run(
        [sys.executable, __file__, "--child"], capture_output=True, text=True, check=True, timeout=1800
    )
    print("\nwins from embeddings, 17,840 × 17,840, 32 dimensions: " + done.stdout.strip())
    return float(done.stdout.split()[0])


def _child() -> None:
    gallery, probes, _ = glyphs("uming")
    begun = time.perf_counter()
    task = from_embeddings(gallery, probes)
    beaten, tied = task.beaten, task.tied
    took = time.perf_counter() - begun
    known = np.loadtxt(DATA / "cjk-glyphs" / "cjk_wins_full_uming.txt")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print(
        f"{peak:.0f} MB at most, {took:.1f} s, share of wins equal to the known ones {np.mean(beaten == known):.5f}, "
        f"ties {tied.sum():.0f}"
    )


def verdicts(found: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """What was to be reached, and what was."""
    if "errors" in found:
        table = found["errors"]
        for name in ("cjk UMing", "cjk UKai"):
            row = table[name, 400]
            yield (
                f"RMSE auto, {name}, 400 → 1672",
                "≤ .030",
                "≤ .018",
                f"{row['auto']:.4f} (spline {row['spline']:.4f})",
            )
        rows = [table[name, 100] for name in ("cjk UMing", "cjk UKai")]
        worst, spline = max(row["auto"] for row in rows), max(row["spline"] for row in rows)
        each = ", ".join(f"{row['auto'] / row['spline']:.2f}" for row in rows)
        yield "RMSE auto / spline, 100 → 1672, worst", "≤ .50", "≤ .25", f"{worst / spline:.2f} (each: {each})"
    if "coverage" in found:
        for factor, share in found["coverage"].items():
            yield f"coverage at {factor}×, 90 % nominal", "85–99 %", "88–95 %", f"{share:.1%}"
    if "time" in found:
        slowest = max(found["time"], key=found["time"].get)
        others = {name: share for name, share in found["time"].items() if name != "spline"}
        yield (
            "fit at 1672 / plain NNLS",
            "≤ 1/20",
            "≤ 1/500",
            f"1/{1 / found['time'][slowest]:.0f} ({slowest}); without it 1/{1 / max(others.values()):.0f}",
        )
    if "memory" in found:
        yield "peak memory, 17,840² wins", "≤ 1000 MB", "≤ 300 MB", f"{found['memory']:.0f} MB"


def main() -> None:
    """Runs what was asked for and prints the table of figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--resamples", type=int, default=100)
    parser.add_argument("--dimensions", default="5,10", help="of the Gaussian problems, for coverage")
    parser.add_argument("--only", default="errors,coverage,time,memory")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        _child()
        return
    wanted = asked.only.split(",")
    if not DATA.exists():
        print(f"{DATA.name}: not here, only coverage can be measured", file=sys.stderr)
        wanted = [part for part in wanted if part == "coverage"]
    found: dict[str, Any] = {}
    if "memory" in wanted:
        found["memory"] = memory()
    if "time" in wanted:
        found["time"] = fit_times()
    if "errors" in wanted:
        found["errors"] = errors(asked.draws)
    if "joint" in wanted:
        joint(asked.draws)
    if "coverage" in wanted:
        found["coverage"] = coverage(asked.repeats, asked.resamples, [int(d) for d in asked.dimensions.split(",")])
    print("\n| what | must reach | aim for | measured |\n|---|---|---|---|")
    for row in verdicts(found):
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()

"""Segments: coverage of their differences and selection ratios, errors of trends, and times as ratios from one run.

python benchmarks/segments.py [--samples 400] [--only differences,batches,ratios,trend,rows,times]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cutline as cl

SIZES = np.array([2000, 800, 300, 120, 40])
MEASURES = ["roc_auc", "recall", "false_positive_rate", "precision", "hit_rate@10%", "qrecall@10%", "brier_score"]


def draw(
    rng: np.random.Generator, segment: NDArray[np.intp], shift: NDArray[Any], share: NDArray[Any], gap: NDArray[Any]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Labels and probabilities: by segment a share of positives, a shift of all scores, and a gap between classes."""
    y = rng.random(len(segment)) < share[segment]
    x = rng.normal(size=len(segment)) + shift[segment] + gap[segment] * y - 1.0
    return y, 1.0 / (1.0 + np.exp(-x))


def world(kind: str) -> tuple[NDArray[Any], ...]:
    """Shifts, shares and gaps of five segments: all alike, or each its own."""
    if kind == "alike":
        return np.zeros(5), np.full(5, 0.2), np.full(5, 1.2)
    return (
        np.array([0.0, 0.3, -0.3, 0.2, 0.4]),
        np.array([0.2, 0.15, 0.3, 0.25, 0.2]),
        np.array([1.2, 0.9, 1.5, 1.2, 0.8]),
    )


def truth(kind: str) -> dict[tuple[str, str], float]:
    """Each segment's value less that of the rest, from a very large sample."""
    rng = np.random.default_rng(99)
    segment = np.repeat(np.arange(5), SIZES * 600)
    y, p = draw(rng, segment, *world(kind))
    seg = cl.evaluate(y, p, by=segment, measures=MEASURES, interval=None).segments
    return {(row["segment"], row["measure"]): row["difference"] for row in seg.differences().to_dicts()}


def differences(samples: int) -> None:
    """Coverage of each segment's difference to the rest, and how often any of five is called where none differs."""
    for kind in ("alike", "apart"):
        real = truth(kind)
        covered: dict[tuple[str, str], list[bool]] = {key: [] for key in real}
        called: dict[str, list[bool]] = {measure: [] for measure in MEASURES}
        for r in range(samples):
            rng = np.random.default_rng([r, 1])
            segment = rng.permutation(np.repeat(np.arange(5), SIZES))
            y, p = draw(rng, segment, *world(kind))
            rows = cl.evaluate(y, p, by=segment, measures=MEASURES).segments.differences().to_dicts()
            for measure in MEASURES:
                mine = [row for row in rows if row["measure"] == measure]
                called[measure].append(any(row["verdict"] in ("higher", "lower") for row in mine))
            for row in rows:
                if row["low"] == row["low"]:
                    gap = real[row["segment"], row["measure"]]
                    covered[row["segment"], row["measure"]].append(row["low"] <= gap <= row["high"])
        print(f"\nDifferences to the rest, segments {kind}: share of {samples} intervals that hold the truth (aim .95)")
        print(f"{'measure':22}" + "".join(f"{f'n={n}':>9}" for n in SIZES) + "   any of five called")
        for measure in MEASURES:
            shares = "".join(f"{np.mean(covered[str(k), measure]):9.3f}" for k in range(5))
            print(f"{measure:22}{shares}   {np.mean(called[measure]):.3f}")


def batches(samples: int) -> None:
    """How often equal segments that share a few batches are called different.

    Batches vary in size, in the share of the smaller segment (none in a quarter of them), in their shares of positives
    and in their scores; and both segments vary within each batch, by nothing on average.
    """
    print(f"\nEqual segments in the same batches: share of {samples} samples called different (aim at most .05)")
    measures = ["roc_auc", "recall", "precision", "accuracy", "brier_score", "hit_rate@20%"]
    for count, how in ((8, "batch"), (14, "batch"), (8, "clusters"), (14, "clusters")):
        called: dict[str, list[bool]] = {measure: [] for measure in measures}
        for r in range(samples):
            rng = np.random.default_rng([r, count, 5])
            unit = np.repeat(np.arange(count), np.maximum(rng.lognormal(3.6, 0.7, count).astype(int), 8))
            rare = np.where(rng.random(count) < 0.25, 0.0, rng.beta(1.5, 6.0, count))
            rare[:3] = np.maximum(rare[:3], 0.1)
            segment = (rng.random(len(unit)) < rare[unit]).astype(int)
            shift, base = rng.normal(0, 0.8, count)[unit], rng.normal(-0.8, 0.7, count)[unit]
            shift, base = (x + rng.normal(0, 0.5, (count, 2))[unit, segment] for x in (shift, base))
            y = rng.random(len(unit)) < 1.0 / (1.0 + np.exp(-base))
            x = rng.normal(size=len(unit)) + shift + np.maximum(rng.normal(1.2, 0.5, count), 0.0)[unit] * y - 0.8
            given: dict[str, Any] = {how: unit}
            p = 1.0 / (1.0 + np.exp(-x))
            seg = cl.evaluate(y, p, by=segment, measures=measures, n_resamples=200, **given).segments
            for row in seg.differences() if len(seg) > 1 else ():
                if row["verdict"] != "not tested":
                    called[row["measure"]].append(row["verdict"] != "cannot tell")
        shares = "  ".join(f"{name} {np.mean(each):.3f} of {len(each)}" for name, each in called.items())
        print(f"{count} as {how}: {shares}")


def ratios(samples: int) -> None:
    """Coverage of selection ratios at a shared quota, at a threshold, with ties, and with clusters."""
    print(f"\nSelection ratios: share of {samples} intervals that hold the truth (aim .95)")
    print(f"{'world':34}" + "".join(f"{f'n={n}':>9}" for n in SIZES))
    for kind in ("alike", "apart"):
        for cut, reference, ties in (("quota", "0", 0), ("quota", None, 0), ("quota", "0", 10), ("threshold", "0", 0)):
            real = _true_ratios(kind, cut, reference, ties)
            held: list[list[bool]] = [[] for _ in SIZES]
            for r in range(samples):
                rng = np.random.default_rng([r, 77])
                segment = rng.permutation(np.repeat(np.arange(5), SIZES))
                for k, row in enumerate(_ratios(rng, segment, kind, cut, reference, ties)):
                    if row["low"] == row["low"]:
                        held[k].append(row["low"] <= real[k] * (1 + 1e-9) and real[k] <= row["high"] * (1 + 1e-9))
            against = "the highest" if reference is None else "n=2000"
            name = f"{kind}, {cut}{', ties' if ties else ''}, to {against}"
            print(f"{name:34}" + "".join(f"{np.mean(one):9.3f}" if one else f"{'–':>9}" for one in held))


def _ratios(
    rng: np.random.Generator, segment: NDArray[np.intp], kind: str, cut: str, reference: str | None, ties: int
) -> list[dict[str, Any]]:
    y, p = draw(rng, segment, *world(kind))
    p = np.round(p, 1) if ties else p
    seg = cl.evaluate(y, p, by=segment, measures=["roc_auc"], interval=None).segments
    where: dict[str, Any] = {"quota": 0.1} if cut == "quota" else {"threshold": 0.5}
    return seg.at(**where, reference=reference).to_dicts()


def _true_ratios(kind: str, cut: str, reference: str | None, ties: int) -> list[float]:
    segment = np.repeat(np.arange(5), SIZES * 600)
    rows = _ratios(np.random.default_rng(98), segment, kind, cut, reference, ties)
    if kind == "alike" and not ties:
        return [1.0] * 5
    return [row["selection_ratio"] for row in rows]


def trend(samples: int) -> None:
    """How often a slope, and a change, is called in months that are alike; and how often a real one is found."""
    print(f"\nTrend over 12 months of 100 to 500 rows: share of {samples} samples in which one is called (aim .05)")
    print(f"{'world':42}{'measure':>16}{'slope':>8}{'change':>8}")
    for kind in ("alike", "months vary", "clusters over months", "slope", "change at 7"):
        for measure in ("roc_auc", "recall", "brier_score"):
            found = np.array([_trend(np.random.default_rng([r, 3]), kind, measure) for r in range(samples)])
            note = f"  at the right month ±1: {found[:, 2].mean():.3f}" if kind == "change at 7" else ""
            print(f"{kind:42}{measure:>16}{found[:, 0].mean():8.3f}{found[:, 1].mean():8.3f}{note}")


def in_rows(samples: int) -> None:
    """Months in a row: how often a slope, and a change, is called where the share of positives only remembers."""
    print(f"\nMonths in a row, 300 rows each, nothing changes: share of {samples} samples with a call (aim .05)")
    print(f"{'months':>8}{'memory':>8}{'measure':>16}{'slope':>8}{'change':>8}")
    for months, memory in ((24, 0.0), (24, 0.4), (24, 0.7), (12, 0.4), (12, 0.7), (48, 0.7)):
        for measure in ("precision", "roc_auc"):
            found = np.array([_in_row(np.random.default_rng([r, 9]), months, memory, measure) for r in range(samples)])
            print(f"{months:8}{memory:8}{measure:>16}{found[:, 0].mean():8.3f}{found[:, 1].mean():8.3f}", flush=True)


def _in_row(rng: np.random.Generator, months: int, memory: float, measure: str) -> tuple[bool, bool]:
    """Shares of positives (precision) and gaps between classes (AUC) stray from month to month, and remember."""
    strays = rng.normal(size=months)
    for k in range(1, months):
        strays[k] = memory * strays[k - 1] + np.sqrt(1.0 - memory**2) * strays[k]
    month = np.repeat(np.arange(months), 300)
    y = rng.random(len(month)) < (0.3 * np.exp(0.3 * strays) if measure == "precision" else np.full(months, 0.3))[month]
    gap = np.full(months, 1.2) if measure == "precision" else 1.2 + 0.35 * strays
    p = 1.0 / (1.0 + np.exp(-(rng.normal(size=len(month)) + gap[month] * y - 0.5)))
    found = cl.evaluate(y, p, by=month, measures=[measure], n_resamples=100).segments.trend(measure)
    return found.p_value < 0.05, found.change is not None


def _trend(rng: np.random.Generator, kind: str, measure: str) -> tuple[bool, bool, bool]:
    month = np.repeat(np.arange(1, 13), rng.integers(100, 500, 12))
    y = rng.random(len(month)) < 0.2
    moved = {
        "alike": np.zeros(12),
        "months vary": rng.normal(0, 0.25, 12),
        "clusters over months": np.zeros(12),
        "slope": np.linspace(0.4, -0.4, 12),
        "change at 7": np.where(np.arange(12) >= 6, -0.5, 0.0),
    }[kind]
    x = rng.normal(size=len(month)) + (1.2 + moved[month - 1]) * y - 1.0
    clusters = None
    if kind == "clusters over months":
        clusters = rng.integers(0, 150, len(month))
        x += rng.normal(0, 0.7, 150)[clusters]
        y = rng.random(len(month)) < 1.0 / (1.0 + np.exp(1.5 - rng.normal(0, 1.0, 150)[clusters]))
        x += 1.2 * y
    p = 1.0 / (1.0 + np.exp(-x))
    found = cl.evaluate(y, p, by=month, measures=[measure], clusters=clusters, n_resamples=100).segments.trend(measure)
    called = found.change is not None
    return found.p_value < 0.05, called, called and abs(int(found.change) - 7) <= 1


def times(_: int) -> None:
    """Segments against one evaluation of the same rows, and many segments by AUC alone."""
    rng = np.random.default_rng(0)
    n = 100_000
    y = rng.random(n) < 0.1
    p = 1.0 / (1.0 + np.exp(-(rng.normal(size=n) + 1.2 * y)))
    five = rng.integers(0, 5, n)
    for how in ("bootstrap", "auto"):
        options: dict[str, Any] = {"quota": 0.05, "n_resamples": 1000, "interval": how}
        one = _fastest(lambda options=options: cl.evaluate(y, p, **options).estimates.values())
        all_five = _fastest(lambda options=options: _read(cl.evaluate(y, p, by=five, **options)))
        print(f"\n5 segments, whole catalogue, 1,000 replicates ({how}), 10⁵ rows: {all_five:.2f} s, ", end="")
        print(f"one evaluation {one:.2f} s, ratio {all_five / one:.2f} (aim 1.3)")
    n = 1_000_000
    y, p, many = rng.random(n) < 0.1, rng.random(n), rng.integers(0, 1000, n)
    options = {"measures": ["roc_auc"], "interval": None}
    took = _fastest(lambda: _read(cl.evaluate(y, p, by=many, **options)), 5)
    print(f"1,000 segments of 10⁶ rows, AUC alone: {took:.3f} s (aim .18)")


def _read(ev: Any) -> Any:
    """All measures of an evaluation and of its segments: they are computed when they are read."""
    return [one.estimates.values() for one in (ev, *ev.segments.values())]


def _fastest(run: Callable[[], Any], times: int = 2) -> float:
    run()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


PARTS: dict[str, Callable[[int], None]] = {
    "differences": differences,
    "batches": batches,
    "ratios": ratios,
    "trend": trend,
    "rows": in_rows,
    "times": times,
}


def _chosen(only: str) -> Iterator[Callable[[int], None]]:
    for name in only.split(","):
        yield PARTS[name]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--only", default=",".join(PARTS))
    arguments = parser.parse_args()
    for part in _chosen(arguments.only):
        part(arguments.samples)

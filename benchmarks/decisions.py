"""Do promises hold, and do the intervals of decisions hold the truth? Counted on known populations.

    python benchmarks/decisions.py              some minutes of processor time
    python benchmarks/decisions.py promises     one part: promises, costs, benefit, calibration

The score of a negative is N(0, 1), of a positive N(1.35, 1) (AUC 0.83), mapped to the probability of being positive
where probabilities are needed. "kept" is the share of samples whose cut keeps the promise in the population; a promise
that was refused is not broken. The best cut of somebody who knows the population is shown beside it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
from scipy.stats import norm

from cutline.decide.calibration import calibrate
from cutline.decide.costs import Prices, benefit_difference, cheapest, decision_curve
from cutline.decide.promises import promised_groups
from cutline.errors import InputError
from cutline.ranking import rank
from cutline.sample import make_sample

SEPARATION = 1.35


def drawn(rng: np.random.Generator, n: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Labels and scores of one sample."""
    y = rng.random(n) < share
    return y, rng.normal(size=n) + SEPARATION * y


def rates(cut: float, share: float) -> dict[str, float]:
    """What a cut gives in the population."""
    recall, fpr = float(norm.sf(cut - SEPARATION)), float(norm.sf(cut))
    taken = share * recall + (1 - share) * fpr
    precision = share * recall / taken if taken else math.nan
    return {"recall": recall, "specificity": 1 - fpr, "precision": precision, "taken": taken}


def promises(samples: int = 400) -> None:
    """How often promises are kept, and how many cases they take."""
    print(f"{'n':>6} {'positive':>8} {'promise':>16} {'kept':>6} {'refused':>7} {'taken':>6} {'who knows':>9}")
    rng = np.random.default_rng(0)
    for n, share, promise, target in (
        (10_000, 0.01, "recall", 0.8),
        (2000, 0.1, "recall", 0.9),
        (500, 0.1, "specificity", 0.9),
        (10_000, 0.01, "precision", 0.05),
        (2000, 0.1, "precision", 0.4),
        (500, 0.3, "precision", 0.6),
        (10_000, 0.1, "precision", 0.2),
    ):
        grid = np.linspace(-4, 6, 20_001)
        of_grid = [rates(cut, share) for cut in grid]
        ideal = [r["taken"] for r in of_grid if r[promise] >= target]
        best = min(ideal) if promise == "recall" else max(ideal)
        kept, refused, taken = 0, 0, []
        for _ in range(samples):
            ranking = rank(make_sample(*drawn(rng, n, share)))
            try:
                groups = promised_groups(ranking, promise, target, 0.9)
            except InputError:
                kept, refused = kept + 1, refused + 1
                continue
            found = rates(float(ranking.score[groups]) if groups < len(ranking) else -math.inf, share)
            kept += found[promise] >= target
            taken.append(found["taken"])
        said = f"{promise} ≥ {target:g}"
        print(
            f"{n:>6} {share:>8g} {said:>16} {kept / samples:>6.3f} {refused:>7} {np.mean(taken):>6.3f} {best:>9.3f}",
            flush=True,
        )


def costs(samples: int = 200) -> None:
    """Coverage of the interval of the cheapest cut's cost, two models, and the bias with and without optimism."""
    print(f"{'n':>6} {'positive':>8} {'costs':>8} {'holds':>6} {'bias':>8} {'on sample':>9}")
    rng = np.random.default_rng(1)
    for n, share, fp, fn in ((500, 0.1, 1, 9), (2000, 0.1, 1, 5), (500, 0.3, 1, 1), (2000, 0.02, 1, 40)):
        inside, bias, flattered = 0, [], []
        for seed in range(samples):
            y, a = drawn(rng, n, share)
            pair = {"a": make_sample(y, a), "b": make_sample(y, 0.8 * a + 0.6 * rng.normal(size=n))}
            made = cheapest(pair, {k: rank(s) for k, s in pair.items()}, Prices(fp, fn), seed=seed)
            shift = SEPARATION if made.model == "a" else 0.8 * SEPARATION
            truth = fp * (1 - share) * norm.sf(made.threshold) + fn * share * norm.cdf(made.threshold - shift)
            inside += made.cost.low <= truth <= made.cost.high
            bias.append(made.cost.value - truth)
            flattered.append(made.apparent - truth)
        said = f"{fp} : {fn}"
        print(
            f"{n:>6} {share:>8g} {said:>8} {inside / samples:>6.3f} {np.mean(bias):>8.4f} {np.mean(flattered):>9.4f}",
            flush=True,
        )


def benefit(samples: int = 600) -> None:
    """Coverage of net benefit and of its paired difference, threshold by threshold."""
    x = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99])
    print("coverage at", x.tolist())
    rng = np.random.default_rng(2)
    for n, share in ((500, 0.1), (2000, 0.1), (2000, 0.02)):
        start = -(SEPARATION**2) / 2 + math.log(share / (1 - share))
        cut = (np.log(x / (1 - x)) - start) / SEPARATION
        truth = [
            share * norm.sf(cut - shift) - (1 - share) * norm.sf(cut) * x / (1 - x)
            for shift in (SEPARATION, 0.8 * SEPARATION)
        ]
        alone, paired = [], []
        for _ in range(samples):
            y, z = drawn(rng, n, share)
            other = 0.8 * z + 0.6 * rng.normal(size=n)
            one, two = (make_sample(y, 1 / (1 + np.exp(-start - SEPARATION * s))) for s in (z, other))
            made = decision_curve(one, x=x)
            alone.append((made.low <= truth[0]) & (truth[0] <= made.high))
            rows = benefit_difference(one, two, x=x)
            gap = truth[0] - truth[1]
            paired.append((np.array(rows.column("low")) <= gap) & (gap <= np.array(rows.column("high"))))
        print(
            f"{n:>6} {share:>5g} one model {np.mean(alone, axis=0).round(3)} "
            f"difference {np.mean(paired, axis=0).round(3)}"
        )


def calibration(samples: int = 100) -> None:
    """How often the test rejects at 5 %, and coverage of the parts of the Brier score and of the slope."""
    rng = np.random.default_rng(3)
    for n, shift, stretch in ((400, 0.0, 1.0), (400, 0.0, 1.5), (1500, 0.3, 1.0)):
        z = 1.2 * rng.normal(size=2_000_000) - 2
        q, p = 1 / (1 + np.exp(-z)), 1 / (1 + np.exp(-shift - stretch * z))
        share = q.mean()
        truth = {
            "miscalibration": ((p - q) ** 2).mean(),
            "discrimination": ((q - share) ** 2).mean(),
            "uncertainty": share * (1 - share),
        }
        rejected, slopes, parts = [], [], []
        for seed in range(samples):
            z = 1.2 * rng.normal(size=n) - 2
            sample = make_sample(rng.random(n) < 1 / (1 + np.exp(-z)), 1 / (1 + np.exp(-shift - stretch * z)))
            made = calibrate(sample, rank(sample), n_resamples=199, seed=seed)
            rejected.append(made.p_value <= 0.05)
            slopes.append(made.slope.low <= 1 / stretch <= made.slope.high)
            found = {name: made[f"brier_score.{name}"] for name in truth}
            parts.append([e.low - 1e-12 <= truth[name] <= e.high for name, e in found.items()])
        held = dict(zip(truth, np.mean(parts, axis=0).round(3).tolist(), strict=True))
        print(
            f"{n:>6} slope {1 / stretch:.2f} rejects {np.mean(rejected):.3f} slope holds {np.mean(slopes):.3f} {held}",
            flush=True,
        )


PARTS: dict[str, Callable[[], None]] = {
    "promises": promises,
    "costs": costs,
    "benefit": benefit,
    "calibration": calibration,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        print(f"\n{name}")
        PARTS[name]()

"""Do promises hold, and do the intervals of decisions hold the truth? Counted on known populations.

    python benchmarks/decisions.py              some minutes of processor time
    python benchmarks/decisions.py promises     one part: promises, costs, benefit, calibration,
                                                calibration_lines, type_one, quotas, swapped, screens, votes,
                                                best_cuts, speed

The score of a negative is N(0, 1), of a positive N(1.35, 1) (AUC 0.83), mapped to the probability of being positive
where probabilities are needed. "kept" is the share of samples whose cut keeps the promise in the population; a promise
that was refused is not broken. The best cut of somebody who knows the population is shown beside it.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable

import numpy as np
from scipy.stats import norm

import cutline as cl
from cutline.decide.calibration import calibrate
from cutline.decide.error_costs import ErrorPrices, cheapest, decision_curve
from cutline.decide.model_choice import family_hull, swaps
from cutline.decide.thresholds import promised_groups
from cutline.errors import InputError
from cutline.ranking import rank
from cutline.sources.arrays import make_sample
from cutline.sweep import Counts
from cutline.table import pluralize

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
    return {"recall": recall, "specificity": 1 - fpr, "fpr": -fpr, "precision": precision, "taken": taken}


def promises(samples: int = 400) -> None:
    """How often promises are kept, and how many cases they take."""
    print(f"{'n':>6} {'positive':>8} {'promise':>16} {'kept':>6} {'refused':>7} {'taken':>6} {'who knows':>9}")
    rng = np.random.default_rng(0)
    for n, share, promise, target in (
        (10_000, 0.01, "recall", 0.8),
        (2000, 0.1, "recall", 0.9),
        (500, 0.1, "specificity", 0.9),
        (500, 0.1, "fpr", 0.1),
        (10_000, 0.01, "precision", 0.05),
        (2000, 0.1, "precision", 0.4),
        (500, 0.3, "precision", 0.6),
        (10_000, 0.1, "precision", 0.2),
    ):
        grid = np.linspace(-4, 6, 20_001)
        of_grid = [rates(cut, share) for cut in grid]
        goal = -target if promise == "fpr" else target
        ideal = [r["taken"] for r in of_grid if r[promise] >= goal]
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
            kept += found[promise] >= goal
            taken.append(found["taken"])
        said = f"{promise} {'≤' if promise == 'fpr' else '≥'} {target:g}"
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
            made = cheapest(pair, {k: rank(s) for k, s in pair.items()}, ErrorPrices(fp, fn), seed=seed)
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


BEST_CUTS = (  # positives, negatives, distance of the classes, spread of the positives, step of rounding, measure
    *((100, 100, 1.35, 1, 0, "youden_index"), (100, 100, 0.5, 1, 0, "youden_index")),
    *((60, 140, 1.35, 1, 0, "youden_index"), (50, 150, 2, 2, 0, "youden_index"), (50, 50, 2, 1, 0, "f1")),
    *((50, 450, 2, 1, 0, "error_rate"), (30, 970, 1.35, 1, 0, "youden_index"), (30, 970, 1.35, 1, 0, "f1")),
    *((100, 100, 1.35, 1, 0.5, "youden_index"), (50, 50, 3, 1, 0.5, "youden_index")),
    *((15, 15, 1.5, 1, 0, "youden_index"), (15, 15, 2.5, 1, 0, "youden_index"), (9, 44, 2, 1, 0, "youden_index")),
    *((5, 45, 2, 1, 0, "f1"), (100, 100, 3.5, 1, 0, "youden_index"), (40, 40, 3, 1, 0, "matthews_correlation")),
    *((20, 380, 3, 1, 0, "youden_index"), (380, 20, 3, 1, 0, "youden_index"), (20, 380, 3, 1, 0, "f1")),
    *((20, 1980, 2.5, 1, 0, "youden_index"), (10, 990, 3, 1, 0, "youden_index"), (9, 44, 3, 1, 0, "youden_index")),
    *((10, 10, 4, 1, 0, "youden_index"), (10, 10, 6, 1, 0, "youden_index"), (10, 10, 5, 1, 0.5, "youden_index")),
    *((25, 25, 4, 1, 0, "youden_index"), (50, 50, 5, 1, 0, "youden_index"), (200, 200, 6, 1, 0, "youden_index")),
    (20, 20, 4, 1, 0, "f1"),
)


def at_cut(cut: float | np.ndarray, world: tuple[int, int, float, float, float, str]) -> np.ndarray:
    """The measure at cuts in the population."""
    n_pos, n_neg, gap, spread, step, name = world
    edge = np.floor(np.asarray(cut) / step + 1e-9) * step + step / 2 if step else np.asarray(cut)
    tp, fp = n_pos * norm.sf((edge - gap) / spread), n_neg * norm.sf(edge)
    return np.asarray(cl.measure(name).compute(Counts(tp, fp, n_pos - tp, n_neg - fp)))


def best_cuts(samples: int = 400) -> None:
    """Cuts that maximize a measure: are the true value there, and the best cut of the population, in their limits?"""
    print(f"{'positives':>9} {'negatives':>9} {'distance':>8} {'measure':>20} {'value':>6} {'width':>6} {'cut':>6}")
    for world in BEST_CUTS:
        n_pos, n_neg, gap, spread, step, name = world
        rng, y = np.random.default_rng(1), np.arange(n_pos + n_neg) < n_pos
        grid = np.arange(-20, 40) * step if step else np.linspace(-3, gap + 4, 7001)
        best = grid[np.argmax(at_cut(grid, world) * (-1 if cl.measure(name).better == "lower" else 1))]
        inside, cut_inside, width = 0, 0, 0.0
        for seed in range(samples):
            score = rng.normal(size=len(y)) * np.where(y, spread, 1) + gap * y
            score = np.round(score / step) * step if step else score
            cut = cl.threshold_for(y, score, maximize=name, n_resamples=200, seed=seed)
            (low, high), value = cut.best.limits, cut.best.value
            inside += bool(value.low - 1e-12 <= at_cut(float(cut), world) <= value.high + 1e-12)
            cut_inside += bool(low - 1e-9 <= best < high)
            width += value.high - value.low
        shares = f"{inside / samples:6.1%} {width / samples:6.3f} {cut_inside / samples:6.1%}"
        print(f"{n_pos:>9} {n_neg:>9} {gap:>8} {name + ' ~' * (step > 0):>20} {shares}", flush=True)


def benefit(samples: int = 600) -> None:
    """Coverage of net benefit, threshold by threshold."""
    x = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99])
    print("coverage at", x.tolist())
    rng = np.random.default_rng(2)
    for n, share in ((500, 0.1), (2000, 0.1), (2000, 0.02)):
        start = -(SEPARATION**2) / 2 + math.log(share / (1 - share))
        cut = (np.log(x / (1 - x)) - start) / SEPARATION
        truth = share * norm.sf(cut - SEPARATION) - (1 - share) * norm.sf(cut) * x / (1 - x)
        inside = []
        for _ in range(samples):
            y, z = drawn(rng, n, share)
            made = decision_curve(make_sample(y, 1 / (1 + np.exp(-start - SEPARATION * z))), x=x)
            inside.append((made.low <= truth) & (truth <= made.high))
        print(f"{n:>6} {share:>5g} {np.mean(inside, axis=0).round(3)}")


def calibration_lines(samples: int = 400) -> None:
    """Coverage of the slope and of the intercept at slope 1 where log odds are too extreme by a factor."""
    rng = np.random.default_rng(13)
    for n, factor, weights in ((300, 2, False), (1000, 3, False), (60, 3, False), (300, 0.5, False), (300, 2, True)):
        inside = []
        for _ in range(samples):
            q = rng.beta(0.8, 0.8, n)
            p = 1 / (1 + ((1 - q) / q) ** factor)
            weight = np.exp(0.8 * rng.normal(size=n)) if weights else None
            sample = make_sample(rng.random(n) < q, p, sample_weight=weight)
            made = calibrate(sample, rank(sample), n_resamples=2)
            # symmetric about 1/2, so that in_the_large is 0; the slope differs from 1/factor by the clip of log odds
            target = 0.338 if factor == 3 else 1 / factor
            inside.append(
                [made.slope.low <= target <= made.slope.high, made.in_the_large.low <= 0 <= made.in_the_large.high]
            )
        held = np.mean(inside, axis=0)
        said = "weights" if weights else ""
        print(f"{n:>6} factor {factor:g} {said:>8} slope {held[0]:.3f} in the large {held[1]:.3f}", flush=True)


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


def type_one(samples: int = 1000) -> None:
    """How often the test of calibration rejects right probabilities at 5 %."""
    rng = np.random.default_rng(5)
    for n in (60, 300):
        rejected = 0
        for k in range(samples):
            p = 1 / (1 + np.exp(2 - 1.2 * rng.normal(size=n)))
            sample = make_sample(rng.random(n) < p, p)
            if 0 < sample.positive.sum() < n:
                rejected += calibrate(sample, rank(sample), n_resamples=99, seed=k).p_value <= 0.05
        print(f"{n:>6} rejects {rejected / samples:.3f}", flush=True)


def quotas(samples: int = 300) -> None:
    """Coverage of measures over a range of quotas, and of their paired difference."""
    rng = np.random.default_rng(6)
    y, z = drawn(rng, 4_000_000, 0.1)
    other = 0.8 * z + 0.6 * rng.normal(size=len(z))
    truth = {}
    for name, score in (("a", z), ("b", other)):
        hits = np.cumsum(y[np.argsort(-score)])
        truth[name] = {}
        for n in (500, 2000):
            q = np.arange(round(0.02 * n), round(0.06 * n) + 1)
            at = hits[(q / n * len(y)).astype(int) - 1] / len(y) * n
            truth[name][n] = {"hit_rate": np.mean(at / q), "qrecall": np.mean(at) / (y.mean() * n)}
    for n in (500, 2000):
        inside = {"hit_rate": 0, "qrecall": 0, "difference": 0}
        for seed in range(samples):
            y, z = drawn(rng, n, 0.1)
            pair = {"a": z, "b": 0.8 * z + 0.6 * rng.normal(size=n)}
            quota = f"{round(0.02 * n)}-{round(0.06 * n)}"
            made = cl.compare(y, pair, quota=quota, measures=["hit_rate", "qrecall"], n_resamples=400, seed=seed)
            for name in ("hit_rate", "qrecall"):
                e = made["a"][name]
                inside[name] += e.low <= truth["a"][n][name] <= e.high
            gap = truth["a"][n]["hit_rate"] - truth["b"][n]["hit_rate"]
            d = made.difference("a", "b", "hit_rate")
            inside["difference"] += d.low <= gap <= d.high
        print(f"{n:>6} { ({k: round(v / samples, 3) for k, v in inside.items()}) }", flush=True)


def swapped(samples: int = 2000) -> None:
    """Coverage of the difference in hits, and how often Fisher's test rejects where both sides hit alike."""
    rng = np.random.default_rng(7)
    for k, p, q in ((20, 0.3, 0.3), (50, 0.4, 0.2), (200, 0.1, 0.1)):
        inside = rejected = 0
        old, new = np.r_[np.zeros(k), np.ones(k)], np.r_[np.ones(k), np.zeros(k)]
        for _ in range(samples):
            y = np.r_[rng.random(k) < p, rng.random(k) < q]
            found = swaps(make_sample(y, old), make_sample(y, new), k)
            inside += found.difference.low <= k * (p - q) <= found.difference.high
            rejected += found.p_value <= 0.05
        print(f"{k:>6} rates {p:g} and {q:g}: holds {inside / samples:.3f}, rejects {rejected / samples:.3f}")


def screens(samples: int = 100) -> None:
    """Coverage of what a screening keeps."""
    rng = np.random.default_rng(8)
    n, share, far = 1000, 0.1, 400_000

    def two_stages(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y, z = drawn(rng, size, share)
        return y, 0.6 * z + 0.8 * rng.normal(size=size), z

    y_far, cheap_far, dear_far = two_stages(far)
    inside = 0
    for seed in range(samples):
        y, cheap, dear = two_stages(n)
        made = cl.screen(y, [(cheap, 0.3), (dear, 50)], cost=[1.0, 10.0], n_resamples=200, seed=seed)
        sizes = [round(k * far / n) for k in made.stages.column("keep")]
        left = np.argsort(-cheap_far)[: sizes[0]]
        left = left[np.argsort(-dear_far[left])[: sizes[1]]]
        truth = y_far[left].sum() / y_far.sum()
        inside += made.recall.low <= truth <= made.recall.high
    print(f"recall holds {inside / samples:.3f}", flush=True)


def votes(samples: int = 200) -> None:
    """Coverage of what the chosen vote is worth on new rows."""
    rng = np.random.default_rng(9)
    y_far, z_far = drawn(rng, 100_000, 0.2)
    for n, noises in ((300, [0.6, 0.8, 1.0, 1.2, 1.5, 2.0]), (200, [1.0] * 8), (200, [0.6])):
        far = {f"m{k}": z_far + s * rng.normal(size=len(z_far)) for k, s in enumerate(noises)}
        inside = 0
        for seed in range(samples):
            y, z = drawn(rng, n, 0.2)
            models = {f"m{k}": z + s * rng.normal(size=n) for k, s in enumerate(noises)}
            made = cl.papers.selective_voting(y, models, marks=["pem"], n_resamples=100, seed=seed)
            inside += made.expected.low <= cl.pem(y_far, made.score(far)) <= made.expected.high
        print(
            f"{n:>6} rows, {pluralize(len(noises), 'model')}: PEM of the chosen vote holds {inside / samples:.3f}",
            flush=True,
        )


def speed(repeats: int = 3) -> None:
    """Processor time of what draws replicates, the best of some runs: it must not grow with them."""
    print(f"{'rows':>10} {'calibration with its test':>26} {'threshold for costs':>20} {'hull of two models':>19}")
    rng = np.random.default_rng(0)
    for n in (10_000, 1_000_000):
        p = rng.beta(1, 4, n)
        y = rng.random(n) < p**1.05
        ev = cl.evaluate(y, p, measures=["roc_auc"], interval=None)
        rankings = {"a": ev.ranking, "b": rank(make_sample(y, p + 0.1 * rng.random(n)))}
        asked: tuple[Callable[[], object], ...] = (
            ev.calibration,
            lambda y=y, p=p: cl.threshold_for(y, p, cost_fp=1, cost_fn=5),
            lambda rankings=rankings: family_hull(rankings),
        )
        took = []
        for call in asked:
            runs = []
            for _ in range(repeats):
                begun = time.process_time()
                call()
                runs.append(time.process_time() - begun)
            took.append(min(runs))
        print(f"{n:>10,} {took[0]:>24.3f} s {took[1]:>18.3f} s {took[2]:>17.3f} s", flush=True)


PARTS: dict[str, Callable[[], None]] = {
    "speed": speed,
    "type_one": type_one,
    "quotas": quotas,
    "swapped": swapped,
    "screens": screens,
    "votes": votes,
    "promises": promises,
    "costs": costs,
    "best_cuts": best_cuts,
    "benefit": benefit,
    "calibration": calibration,
    "calibration_lines": calibration_lines,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        print(f"\n{name}")
        PARTS[name]()

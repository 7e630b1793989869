"""Labels of some rows only, and another share of positives: errors and coverage, counted on known lists.

    python benchmarks/sampled_labels.py                   every part (several minutes of processor time)
    python benchmarks/sampled_labels.py --part plan       one part: plan, audit, good, prevalence or weights
    python benchmarks/sampled_labels.py --sims 40         fewer samples

plan        100,000 rows, 1 % positive, 500 labels: the error of qrecall@1000 against the whole list, by drawing rows
            evenly and by ``label_plan``; coverage of its 95 % intervals
audit       10,000 rows: an even draw, a draw by strata of the score, labels for the first 200 and a random 5 %, and
            labels for cases that were acted on for other reasons; coverage of the interval for the list's own values
good        very good models with few labelled positives: coverage and length
prevalence  400 rows, 30 % positive, told for 5 %: coverage of the population's values there
weights     all positives and one negative in forty, weighted: the value and interval of hit_rate@500
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import cutline as cl

Sample = tuple[np.ndarray, np.ndarray]


def normal(rng: np.random.Generator, n: int, share: float, gap: float) -> Sample:
    """Scores N(0, 1) of negatives and N(gap, 1) of positives."""
    y = rng.random(n) < share
    return y, rng.normal(size=n) + gap * y


def half_blind(rng: np.random.Generator, n: int, share: float, gap: float) -> Sample:
    """A model that knows nothing of half of the positives, and ranks the others well."""
    y = rng.random(n) < share
    seen = y & (rng.random(n) < 0.5)
    return y, rng.normal(size=n) + (gap + 1.0) * seen


def heavy(rng: np.random.Generator, n: int, share: float, gap: float) -> Sample:
    """Scores with long tails: the very best are negatives."""
    y = rng.random(n) < share
    return y, rng.standard_t(3, size=n) + gap * y


def ties(rng: np.random.Generator, n: int, share: float, gap: float) -> Sample:
    """Some dozen distinct scores."""
    y, s = normal(rng, n, share, gap)
    return y, np.round(s * 2.0) / 2.0


def hidden(y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Labels of some rows, nan elsewhere."""
    label = np.full(len(y), np.nan)
    label[rows] = y[rows]
    return label


def part_plan(sims: int) -> None:
    worlds = [(normal, 0.8), (normal, 1.35), (normal, 2.0), (normal, 2.5), (half_blind, 1.5), (heavy, 1.8)]
    print("plan: RMSE of qrecall@1000 and coverage of its interval; 100,000 rows, 1 % positive, 500 labels")
    print(f"{'world':<16}{'Qrecall':>8}{'even':>8}{'planned':>9}{'coverage':>9}{'expected':>9}")
    for world, gap in worlds:
        rng = np.random.default_rng(1)
        errors: dict[str, list[float]] = {"even": [], "planned": []}
        held, truths, told = 0, [], []
        for k in range(sims):
            y, s = world(rng, 100_000, 0.01, gap)
            truth = cl.qrecall(y, s, quota=1000)
            truths.append(truth)
            few = rng.choice(len(y), 500, replace=False)
            top = np.argsort(-s)[:1000]
            errors["even"].append((np.isin(few, top) @ y[few]) / max(y[few].sum(), 1) - truth)
            plan = cl.label_plan(s, budget=500, measure="qrecall@1000", seed=k, prevalence=0.01)
            told.append(plan.standard_error)
            label = hidden(y, plan.rows)
            found = cl.evaluate(label, s, inclusion=plan.inclusion, measures=["qrecall@1000"])["qrecall@1000"]
            errors["planned"].append(found.value - truth)
            held += found.low <= truth <= found.high
        rmse = {kind: np.sqrt(np.nanmean(np.square(v))) for kind, v in errors.items()}
        print(
            f"{world.__name__ + f' {gap:g}':<16}{np.mean(truths):8.3f}{rmse['even']:8.3f}{rmse['planned']:9.3f}"
            f"{held / sims:9.1%}{np.mean(told):9.3f}",
            flush=True,
        )


MEASURES = [
    "hit_rate@200", "qrecall@200", "roc_auc", "average_precision", "precision(threshold=1.5)", "recall(threshold=1.5)",
    "accuracy(threshold=1.5)", "f1(threshold=1.5)", "ks_statistic", "specificity(threshold=1.5)",
]  # fmt: skip


def even(rng: np.random.Generator, y: np.ndarray, s: np.ndarray) -> np.ndarray:
    """The same chance for all."""
    return np.full(len(s), 0.06)


def by_strata(rng: np.random.Generator, y: np.ndarray, s: np.ndarray) -> np.ndarray:
    """More of the better scores, in four strata."""
    edges = np.quantile(s, [0.5, 0.85, 0.97])
    return np.array([0.015, 0.04, 0.2, 0.7])[np.searchsorted(edges, s)]


def acted_on(rng: np.random.Generator, y: np.ndarray, s: np.ndarray) -> np.ndarray:
    """The first 200, and a random twentieth of the others."""
    chance = np.full(len(s), 0.05)
    chance[np.argsort(-s)[:200]] = 1.0
    return chance


def other_reasons(rng: np.random.Generator, y: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Another score, which also knows of the outcome, decided whom to act on; a random twentieth of the others."""
    other = rng.normal(size=len(s)) + 1.0 * y
    return np.where(other > np.quantile(other, 0.97), 1.0, 0.05)


def part_audit(sims: int) -> None:
    print("audit: coverage of 95 % intervals (error against that of labelled rows by 1 / inclusion); 10,000 rows")
    designs: list[Callable[..., Any]] = [even, by_strata, acted_on, other_reasons]
    worlds = [
        (normal, 0.05, 1.35),
        (normal, 0.01, 1.35),
        (normal, 0.05, 2.5),
        (half_blind, 0.05, 1.5),
        (ties, 0.1, 1.0),
    ]
    shown = {name: name.partition("(")[0][:11] for name in MEASURES}
    print(f"{'world':<20}{'design':<15}" + "".join(f"{name:>12}" for name in shown.values()))
    for world, share, gap in worlds:
        for design in designs:
            rng = np.random.default_rng(2)
            held = dict.fromkeys(MEASURES, 0)
            gaps: dict[str, list[tuple[float, float]]] = {m: [] for m in MEASURES}
            for _ in range(sims):
                y, s = world(rng, 10_000, share, gap)
                chance = design(rng, y, s)
                label = hidden(y, np.flatnonzero(rng.random(len(y)) < chance))
                real = cl.evaluate(y, s, measures=MEASURES, interval=None)
                ev = cl.evaluate(label, s, inclusion=chance, measures=MEASURES)
                there = np.flatnonzero(label == label)
                plain = cl.evaluate(
                    y[there], s[there], sample_weight=1.0 / chance[there], measures=MEASURES, interval=None
                )
                for m in MEASURES:
                    held[m] += ev[m].low - 1e-9 <= real[m].value <= ev[m].high + 1e-9
                    gaps[m].append((ev[m].value - real[m].value, plain[m].value - real[m].value))
            cells = []
            for m in MEASURES:
                one, two = np.sqrt(np.nanmean(np.square(gaps[m]), axis=0))
                cells.append(f"{held[m] / sims:6.0%}{f'({one / two:.2f})' if two > 0 else '':<6}")
            name = f"{world.__name__} {share:g} {gap:g}"
            print(f"{name:<20}{design.__name__:<15}" + "".join(cells), flush=True)


def part_good(sims: int) -> None:
    print("good: coverage (mean length) of 95 % intervals for very good models; 5,000 rows, 2 % positive, 5 % labelled")
    names = ["average_precision", "roc_auc", "hit_rate@200", "qrecall@200"]
    for gap in (2.5, 3.5, 4.5):
        rng = np.random.default_rng(5)
        held: dict[str, list[bool]] = {m: [] for m in names}
        length: dict[str, list[float]] = {m: [] for m in names}
        for _ in range(sims):
            y, s = normal(rng, 5000, 0.02, gap)
            known = rng.random(len(y)) < 0.05
            if not y[known].any():
                continue
            ev = cl.evaluate(hidden(y, np.flatnonzero(known)), s, inclusion=0.05, measures=names)
            real = cl.evaluate(y, s, measures=names, interval=None)
            for m in names:
                held[m].append(ev[m].low - 1e-9 <= real[m].value <= ev[m].high + 1e-9)
                length[m].append(ev[m].high - ev[m].low)
        cells = "".join(f"{m:>20} {np.mean(held[m]):4.0%} ({np.mean(length[m]):.2f})" for m in names)
        print(f"d′ {gap:g} {cells}", flush=True)


def part_prevalence(sims: int) -> None:
    share, cuts = 0.05, ["precision(threshold=1)", "f1(threshold=1)"]
    names = ["hit_rate@10%", "qrecall@10%", *cuts, "average_precision", "roc_auc"]
    print("prevalence: coverage of the values where 5 % are positive; 400 rows, 30 % positive")
    rng = np.random.default_rng(3)
    y, s = normal(rng, 3_000_000, share, 1.35)
    truth = {name: cl.evaluate(y, s, measures=[name], interval=None)[name].value for name in names}
    held = dict.fromkeys(names, 0)
    for k in range(sims):
        y, s = normal(rng, 400, 0.3, 1.35)
        ev = cl.evaluate(y, s, measures=names, prevalence=share, n_resamples=500, seed=k)
        for name in names:
            held[name] += ev[name].low <= truth[name] <= ev[name].high
    print("  " + "  ".join(f"{name} {held[name] / sims:.1%}" for name in names), flush=True)


def part_weights(sims: int) -> None:
    print("weights: hit_rate@500 of 20,000 rows from all positives and one negative in forty, weighted by 40")
    rng = np.random.default_rng(4)
    y, s = normal(rng, 3_000_000, 0.02, 1.35)
    truth = cl.hit_rate(y, s, quota=0.025)
    whole, list_, gaps = 0, 0, []
    for _ in range(sims):
        y, s = normal(rng, 20_000, 0.02, 1.35)
        kept = y | (rng.random(len(y)) < 1 / 40)
        weight = np.where(y, 1.0, 40.0)[kept]
        found = cl.evaluate(y[kept], s[kept], sample_weight=weight, measures=["hit_rate@500"])["hit_rate@500"]
        full = cl.hit_rate(y, s, quota=500)
        gaps.append(found.value - full)
        whole += found.low <= truth <= found.high
        list_ += found.low <= full <= found.high
    print(
        f"  mean gap {np.mean(gaps):+.4f}, coverage of the population {whole / sims:.1%}, the list {list_ / sims:.1%}"
    )


PARTS = {
    "plan": part_plan,
    "audit": part_audit,
    "good": part_good,
    "prevalence": part_prevalence,
    "weights": part_weights,
}


def main() -> None:
    """Print the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=list(PARTS))
    parser.add_argument("--sims", type=int, default=200)
    asked = parser.parse_args()
    for name in [asked.part] if asked.part else PARTS:
        PARTS[name](asked.sims)


if __name__ == "__main__":
    main()

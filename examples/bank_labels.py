"""How good is a list of which few labels are known? A bank's campaign with most outcomes hidden, against the truth.

    python examples/bank_labels.py --data DIR     the bank's clients (see examples/bank_marketing.py for DIR)
    python examples/bank_labels.py --made         invented clients

Prints every number quoted in docs/sampled-labels.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import cutline as cl
from bank_marketing import BANK, find, made_clients, read_bank, train

CALLS, SEED = 1000, 0
MEASURES = [f"hit_rate@{CALLS}", f"qrecall@{CALLS}", "roc_auc", "average_precision", "brier_score", "recall"]


def show(title: str, ev: cl.results.Evaluation, truth: cl.results.Evaluation) -> None:
    """Estimates beside the values that all labels give."""
    print(f"\n{title}: {ev.facts['labelled']:,} of {ev.facts['rows']:,} labels")
    for name in MEASURES:
        e = ev[name]
        print(f"  {name:<20} {e.value:.3f} [{e.low:.3f}, {e.high:.3f}]   all labels {truth[name].value:.3f}")


def hidden(y: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The labels of some rows, nan elsewhere."""
    return np.where(known, y, np.nan)


def acted_on(y: np.ndarray, p: np.ndarray, truth: cl.results.Evaluation) -> None:
    """Those who were called are known, and a random few of the others."""
    called = np.zeros(len(p), np.bool_)
    called[cl.select(p, CALLS, seed=SEED).indices] = True
    inclusion = np.where(called, 1.0, 0.03)
    known = np.random.default_rng(SEED).random(len(p)) < inclusion
    naive = cl.evaluate(y[known], p[known], measures=MEASURES, interval=None)
    print("\nThe labelled rows as if they were the list:")
    print("  " + ", ".join(f"{name} {naive[name].value:.3f}" for name in MEASURES))
    ev = cl.evaluate(hidden(y, known), p, inclusion=inclusion, measures=MEASURES)
    show("Called, and a random 3 % of the others", ev, truth)
    name, held, gaps, times = f"qrecall@{CALLS}", 0, [], 100
    for seed in range(times):
        known = called | (np.random.default_rng(seed).random(len(p)) < 0.03)
        e = cl.evaluate(hidden(y, known), p, inclusion=inclusion, measures=[name])[name]
        held += e.low <= truth[name].value <= e.high
        gaps.append(e.value - truth[name].value)
    rmse = np.sqrt(np.mean(np.square(gaps)))
    print(f"\n{times} times a random 3 %: {name} errs by {rmse:.3f}, its interval holds the truth {held} times")
    try:
        cl.evaluate(hidden(y, called), p, inclusion=called.astype(float))
    except cl.InputError as refused:
        print(f"\nWithout the random few: {refused}")


def planned(y: np.ndarray, p: np.ndarray, truth: cl.results.Evaluation) -> None:
    """Four hundred labels for one measure, many times."""
    name = f"qrecall@{CALLS}"
    plan = cl.label_plan(p, budget=400, measure=name, seed=SEED)
    print(f"\n{plan}")
    known = np.isin(np.arange(len(p)), plan.rows)
    show("Planned labels", cl.evaluate(hidden(y, known), p, inclusion=plan.inclusion, measures=MEASURES), truth)
    gaps: dict[str, list[float]] = {"planned": [], "drawn evenly": []}
    held, times = dict.fromkeys(gaps, 0), 100
    rng = np.random.default_rng(SEED)
    for seed in range(times):
        plan = cl.label_plan(p, budget=400, measure=name, seed=seed)
        even = rng.choice(len(p), 400, replace=False)
        for kind, rows, inclusion in (
            ("planned", plan.rows, plan.inclusion),
            ("drawn evenly", even, np.full(len(p), 400 / len(p))),
        ):
            label = hidden(y, np.isin(np.arange(len(p)), rows))
            e = cl.evaluate(label, p, inclusion=inclusion, measures=[name])[name]
            gaps[kind].append(e.value - truth[name].value)
            held[kind] += e.low <= truth[name].value <= e.high
    print(f"\n{times} times 400 labels, {name} (all labels: {truth[name].value:.3f})")
    for kind, found in gaps.items():
        rmse = np.sqrt(np.mean(np.square(found)))
        print(f"  {kind:<13} root mean square error {rmse:.3f}, interval holds the truth {held[kind]} times")


def elsewhere(y: np.ndarray, p: np.ndarray) -> None:
    """The same scores where one client in fifty subscribes."""
    names = ["precision", f"hit_rate@{CALLS}", f"qrecall@{CALLS}", "brier_score", "recall", "roc_auc"]
    here = cl.evaluate(y, p, measures=names)
    there = cl.evaluate(y, p, measures=names, prevalence=0.02)
    print("\nWhere 2 % subscribe")
    for name in names:
        a, b = here[name], there[name]
        moved = "moves" if name in there.moved else "stays"
        print(f"  {name:<16} {a.value:.3f} here, {b.value:.3f} [{b.low:.3f}, {b.high:.3f}] there ({moved})")


def main() -> None:
    """Print the figures of the guide."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--made", action="store_true")
    asked = parser.parse_args()
    path = None if asked.data is None else find(asked.data, BANK)
    if path is None and not asked.made:
        parser.error(f"give --data DIR, a folder with {BANK}, or --made")
    scored = train(*(made_clients() if path is None else read_bank(path)))
    y, p = scored.y, scored.scores["boosting"]
    truth = cl.evaluate(y, p, measures=MEASURES, interval=None)
    print(f"{len(y):,} clients, {int(y.sum()):,} of whom subscribed")
    acted_on(y, p, truth)
    planned(y, p, truth)
    elsewhere(y, p)


if __name__ == "__main__":
    main()

"""Decisions on a bank's campaign: promised cuts, costs, calibration, stages, votes, swaps and unknown quotas.

    python examples/decisions.py --data DIR     the bank's clients
    python examples/decisions.py --made         invented clients

DIR holds ``bank-full.csv`` of the UCI Machine Learning Repository (Bank Marketing,
https://archive.ics.uci.edu/dataset/222), packed or not, at any depth. Needs scikit-learn and pandas: ``pip install
'.[sklearn,frames]'``. Prints every number of the bank that docs/decisions.md quotes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

import cutline as cl
from bank_marketing import find, made_clients

BANK = "bank-full.csv"
PART = 6000  # rows to learn from, and rows to decide on; the rest are the new rows


def clients(folder: Path | None) -> tuple[Any, np.ndarray]:
    """Clients as numbers, without the length of the call, and whether they subscribed."""
    import pandas as pd

    if folder is None:
        table, y = made_clients(4 * PART)
        return pd.get_dummies(table).astype(float), y
    path = find(folder, BANK)
    if path is None:
        sys.exit(f"there is no {BANK} below {folder}")
    table = pd.read_csv(path, sep=";")
    return pd.get_dummies(table.drop(columns=["y", "duration"])).astype(float), (table["y"] == "yes").to_numpy()


def scored(features: Any, y: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Scores of all rows by two models that saw the first part only, the rows to decide on, and the new ones."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    order = np.random.default_rng(0).permutation(len(y))
    known, test, new = order[:PART], order[PART : 2 * PART], order[2 * PART :]
    models = {
        "logit": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        "forest": RandomForestClassifier(60, min_samples_leaf=10, random_state=0),
    }
    scores = {}
    for name, model in models.items():
        model.fit(features.iloc[known], y[known])
        scores[name] = model.predict_proba(features)[:, 1]
    return scores, test, new


def title(words: str) -> None:
    print(f"\n== {words}")


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--data", type=Path, help="folder with bank-full.csv")
    source.add_argument("--made", action="store_true", help="invented clients")
    parser.add_argument("--resamples", type=int, default=2000, help="bootstrap resamples")
    args = parser.parse_args(given)
    features, y = clients(args.data)
    scores, test, new = scored(features, y)
    y_test, forest, logit = y[test], scores["forest"][test], scores["logit"][test]
    print(f"{len(test):,} rows to decide on, {y_test.mean():.1%} subscribe; {len(new):,} new rows")

    title("promised cuts")
    for goal in ({"recall": 0.6}, {"precision": 0.5}, {"fpr": 0.1}):
        (name,) = goal
        for confidence in (None, 0.9):
            try:
                cut = cl.threshold_for(y_test, forest, confidence=confidence, **goal)
            except cl.InputError as error:  # too few cases
                print(error)
                continue
            there = cl.evaluate(y[new], scores["forest"][new], measures=["roc_auc"], interval=None).at(threshold=cut)
            taken = there.taken / len(new)
            print(f"{cut.note}\n  on the new rows: takes {taken:.1%}, its {name} there is {getattr(there, name):.1%}")

    how: dict[str, Any] = {"n_resamples": args.resamples}
    both = {"logit": logit, "forest": forest}
    cmp = cl.compare(y_test, both, quota="300-900", measures=["hit_rate", "roc_auc", "brier_score"], **how)
    title("costs: a false negative costs 8 times a false positive")
    print(cmp.cheapest(cost_fp=1, cost_fn=8))

    title("are the probabilities right")
    for ev in cmp.values():
        print(ev.calibration())

    title("a quota of 300 to 900, not known yet")
    print(cmp.recommend("quota between 300 and 900"))

    title("swaps at 500 places")
    print(cmp.swaps("logit", "forest", quota=500))

    title("stages: a free score first, the models for those who remain")
    cheap = -features["campaign" if "campaign" in features else "calls"].to_numpy()[test]
    stages = [(cheap, 0.75), (logit, 0.5), (forest, 0.2)]
    print(cl.screen(y_test, stages, cost=[0.1, 1, 5], n_resamples=min(400, args.resamples)))

    title("votes of noisy copies of the forest")
    rng = np.random.default_rng(1)
    noisy = {f"m{k}": forest + 0.15 * k * forest.std() * rng.normal(size=len(forest)) for k in range(1, 9)}
    few = {name: score[:1500] for name, score in noisy.items()}
    print(cl.papers.selective_voting(y_test[:1500], few, quota=100, n_resamples=min(100, args.resamples)).summary)

    title("a gate")
    print(repr(cl.check(cmp["forest"], "roc_auc >= 0.7", "hit_rate@500 >= 0.45")))

    title("how often a measure picks the better model with 300 cases")
    measures = ["roc_auc", "average_precision", "hit_rate@30", "accuracy"]
    print(cl.papers.selection_power(y_test, both, measures, goal="roc_auc", set_size=300))


if __name__ == "__main__":
    main()

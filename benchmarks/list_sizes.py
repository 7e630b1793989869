"""Back-tests of hits on a longer list: a tenth of a list predicts the other nine tenths.

    python benchmarks/list_sizes.py [--draws 200] [--data ../shared/data/quota]

Lists: the test rows of three public tables (bank marketing, credit default, caravan insurance; looked for beside the
project), each scored by four models that were fitted on other rows; and simulated lists whose top does not follow the
normal law. For each there are ``--draws`` random tenths; the rest is a list nine times as long, cut at 20 and at 100
places. Printed: the hit rate of the rest, the error of the prediction (its mean, and the root of its mean square, both
in shares of the places), the share of draws in which the 95 % interval contains the hits, and its length in shares of
the places.

The last lines compare the method with parts of it: only the cases above the cut (``counts``), a line through the whole
list (``whole``), and the line without doubt (``sure``). Coverage in known populations: ``coverage.py --section "list
sizes"``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import cutline as cl
from cutline.decide import list_size

# what is changed in the module for a variant of the method
VARIANTS: dict[str, dict[str, float]] = {
    "cutline": {},
    "counts": {"_DOUBT": 1e9},
    "whole": {"_TOP_CASES": 1e9},
    "sure": {"_DOUBT": 1e-9},
}
List = tuple[str, np.ndarray, np.ndarray]


def simulated(n: int = 4000) -> Iterator[List]:
    """Lists whose top levels off, falls, or rises faster than the normal law says."""
    rng = np.random.default_rng(1)
    y = rng.random(n) < 0.15
    yield "t₄", y, rng.standard_t(4, n) + 1.5 * y
    yield "wide pos.", y, rng.normal(size=n) * np.where(y, 1.5, 1.0) + y
    yield "narrow pos.", y, rng.normal(size=n) * np.where(y, 0.7, 1.0) + 1.4 * y
    yield "exponential", y, rng.exponential(size=n) * np.where(y, 2.0, 1.0)
    real = rng.random(n) < 0.25
    yield "60 % at most", real & (rng.random(n) < 0.6), rng.normal(size=n) + 2.0 * real


def scored(data: Path) -> Iterator[List]:
    """The test rows of real tables by four models each; none where the data or the libraries are absent."""
    try:
        import pandas as pd
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.naive_bayes import GaussianNB
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        return
    if not data.is_dir():
        return
    bank = pd.read_csv(data / "bank-marketing/bank-additional-full.csv.gz", sep=None, engine="python")
    bank = bank.drop(columns="duration")  # known only after the call
    credit = pd.read_csv(data / "credit-default-taiwan/UCI_Credit_Card.csv.gz").select_dtypes("number")
    caravan = np.loadtxt(data / "coil2000-caravan/ticdata2000.txt")
    tables = {
        "bank": (bank.pop("y") == "yes", pd.get_dummies(bank)),
        "credit": (credit.pop("default-payment-next-month") == 1, credit),
        "caravan": (caravan[:, -1] == 1, caravan[:, :-1]),
    }
    models = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        "bayes": GaussianNB(),
        "tree": DecisionTreeClassifier(min_samples_leaf=30, random_state=0),
        "boosting": HistGradientBoostingClassifier(max_iter=80, random_state=0),
    }
    for table, (label, columns) in tables.items():
        y, x = np.asarray(label), np.asarray(columns, dtype=float)
        order = np.random.default_rng(0).permutation(len(y))
        train, test = order[: len(y) // 3], order[len(y) // 3 :]
        for name, model in models.items():
            yield f"{table}, {name}", y[test], model.fit(x[train], y[train]).predict_proba(x[test])[:, 1]


def back_test(y: Any, score: Any, places: int, draws: int) -> dict[str, float]:
    """One list: tenths of it predict the hits of the rest."""
    rows = []
    for i in range(draws):
        rng = np.random.default_rng([i, places])
        order = rng.permutation(len(y))
        now, later = order[: len(y) // 10], order[len(y) // 10 :]
        ev = cl.evaluate(y[now], score[now], measures=["roc_auc"], interval=None)
        point = ev.at(quota=places, list_size=len(later))
        best = later[np.lexsort((rng.random(len(later)), -score[later]))[:places]]
        hits = y[best].sum()
        low, high = point.next_hits
        rows.append((hits, point.tp - hits, (point.tp - hits) ** 2 / places, low <= hits <= high, high - low))
    hits, error, square, held, length = np.mean(rows, axis=0)
    rates = {"hit rate": hits / places, "error": error / places, "rms": (square / places) ** 0.5}
    return {**rates, "held": held, "length": length / places}


def main() -> None:
    """Print a line for each list, and the means of each variant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200)
    default = Path(__file__).resolve().parents[2] / "shared/data/quota"
    parser.add_argument("--data", type=Path, default=default)
    asked = parser.parse_args()
    lists = {"simulated": list(simulated()), "real": list(scored(asked.data))}
    results: dict[str, dict[str, list[dict[str, float]]]] = {}
    print(f"{'list':22}{'places':>7}{'hit rate':>10}{'error':>8}{'rms':>7}{'held':>8}{'length':>8}")
    for variant, constants in VARIANTS.items():
        before = {name: getattr(list_size, name) for name in constants}
        for name, value in constants.items():
            setattr(list_size, name, value)
        for kind, each in lists.items():
            for name, y, score in each:
                for places in (20, 100):
                    row = back_test(y, score, places, asked.draws)
                    results.setdefault(variant, {}).setdefault(kind, []).append(row)
                    if variant == "cutline":
                        shown = f"{row['hit rate']:>10.2f}{row['error']:>+8.2f}{row['rms']:>7.2f}"
                        print(f"{name:22}{places:>7}{shown}{row['held']:>8.1%}{row['length']:>8.2f}", flush=True)
        for name, value in before.items():
            setattr(list_size, name, value)
    for variant, kinds in results.items():
        for kind, rows in kinds.items():
            mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
            least = min(row["held"] for row in rows)
            print(
                f"{variant:8} {kind:10} rms {mean['rms']:.3f}  held {mean['held']:.1%} (least {least:.1%})  "
                f"length {mean['length']:.2f}"
            )


if __name__ == "__main__":
    main()

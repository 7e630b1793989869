"""Credit defaults by sex and education: does one model, and one list, serve all groups alike?

    python examples/credit_segments.py --data DIR

DIR holds ``UCI_Credit_Card.csv`` (Default of Credit Card Clients, https://archive.ics.uci.edu/dataset/350), packed or
not, at any depth. Needs scikit-learn and pandas: ``pip install '.[sklearn,frames]'``. Prints every number quoted in
docs/segments.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import cutline as cl

CREDIT = "UCI_Credit_Card.csv"
LABEL = "default-payment-next-month"
EDUCATION = {1: "graduate school", 2: "university", 3: "high school"}
GROUPS = ("SEX", "EDUCATION", "MARRIAGE", "AGE")


def scored(path: Path) -> pd.DataFrame:
    """The third of the clients that was held back: outcome, probability, sex and education.

    Sex, education, marriage and age are not given to the model.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import train_test_split

    table = pd.read_csv(path)
    kinds = table[[f"EDUCATION_{k}" for k in range(7)]].to_numpy().argmax(axis=1)
    groups = pd.DataFrame(
        {
            "sex": table.SEX.map({0: "men", 1: "women"}),
            "education": [EDUCATION.get(int(kind), "other") for kind in kinds],
        }
    )
    facts = table.drop(columns=["ID", LABEL, *(c for c in table.columns if c.startswith(GROUPS))])
    y = table[LABEL].to_numpy()
    train, test = train_test_split(np.arange(len(y)), test_size=1 / 3, random_state=0, stratify=y)
    model = HistGradientBoostingClassifier(random_state=0, max_depth=4).fit(facts.iloc[train], y[train])
    found = groups.iloc[test].reset_index(drop=True)
    return found.assign(default=y[test], p=model.predict_proba(facts.iloc[test])[:, 1])


def main() -> None:
    """Print what the guide quotes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    found = sorted(parser.parse_args().data.rglob(CREDIT + "*"))
    if not found:
        raise SystemExit(f"{CREDIT} is not there; see https://archive.ics.uci.edu/dataset/350")
    rows = scored(found[0])
    for by in ("sex", "education"):
        seg = cl.evaluate(
            rows,
            label="default",
            score="p",
            by=by,
            quota=1000,
            measures=["roc_auc", "recall", "false_positive_rate", "brier_score"],
        ).segments
        shared = seg.at(quota=1000)
        for part in (seg, seg.differences(), shared):
            print(part, end="\n\n")
    both = cl.evaluate(rows, label="default", score="p", by=["sex", "education"], measures=["roc_auc"]).segments
    print(both, both.differences(), sep="\n\n")


if __name__ == "__main__":
    main()

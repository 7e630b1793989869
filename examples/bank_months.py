"""A hundred calls every month: the scores of a bank's clients, month by month, for the guide to batches.

    python examples/bank_months.py --data DIR --out months.csv

DIR holds ``bank-full.csv`` of Bank Marketing (https://archive.ics.uci.edu/dataset/222), packed or not, at any depth.
Its rows stand in the order of the calls, from May 2008 to November 2010, so that the year can be counted. Writes one
row for each client: the month, whether the client bought, and the score of a logistic regression that was fitted on
other clients (ten folds). Needs scikit-learn and pandas: ``pip install '.[sklearn,frames]'``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def find(folder: Path, name: str) -> Path:
    """A file of that name, or packed as .gz, anywhere below a folder."""
    found = [path for end in ("", ".gz") for path in sorted(folder.rglob(name + end))]
    if not found:
        raise SystemExit(f"{folder} has no {name} (Bank Marketing, https://archive.ics.uci.edu/dataset/222)")
    return found[0]


def calendar(months: list[str], first: int = 2008) -> list[str]:
    """Months in the order of time as year and month: where the month steps back, a new year has begun.

    >>> calendar(["may", "may", "nov", "feb"])
    ['2008-05', '2008-05', '2008-11', '2009-02']
    """
    named, year, last = [], first, 0
    for month in (MONTHS.index(name) + 1 for name in months):
        year, last = year + (month < last), month
        named.append(f"{year}-{month:02d}")
    return named


def main() -> None:
    """Score the clients and write them."""
    import pandas as pd
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    table = pd.read_csv(find(asked.data, "bank-full.csv"), sep=";")
    bought = (table["y"] == "yes").to_numpy()
    clients = table.drop(columns=["y", "duration", "month", "day"])  # what is known before the call
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        (StandardScaler(), make_column_selector(dtype_include="number")),
    )
    model = make_pipeline(columns, LogisticRegression(max_iter=500))
    mixed = np.random.default_rng(0).permutation(len(bought))  # folds across the whole time
    score = np.empty(len(bought))
    score[mixed] = cross_val_predict(model, clients.iloc[mixed], bought[mixed], cv=10, method="predict_proba")[:, 1]
    month = calendar(table["month"].tolist())
    pd.DataFrame({"month": month, "bought": bought.astype(int), "score": score.round(6)}).to_csv(asked.out, index=False)


if __name__ == "__main__":
    main()

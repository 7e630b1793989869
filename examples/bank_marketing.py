"""Whom to call, by which model, and what will come of it: a telephone campaign of a bank, and credit defaults.

    python examples/bank_marketing.py --data DIR            the campaign
    python examples/bank_marketing.py --data DIR --credit   credit defaults
    python examples/bank_marketing.py --made                the campaign, on invented clients

DIR holds the files of the UCI Machine Learning Repository, packed or not, at any depth: ``bank-additional-full.csv``
(Bank Marketing, https://archive.ics.uci.edu/dataset/222) and ``UCI_Credit_Card.csv`` (Default of Credit Card Clients,
https://archive.ics.uci.edu/dataset/350). Needs scikit-learn and pandas: ``pip install '.[sklearn,frames]'``.
Prints every number quoted in docs/quota-story.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import cutline as cl

if TYPE_CHECKING:
    import pandas as pd

SEED = 0
BANK = "bank-additional-full.csv"
CREDIT = "UCI_Credit_Card.csv"
SOURCES = {
    BANK: "Bank Marketing, https://archive.ics.uci.edu/dataset/222",
    CREDIT: "Default of Credit Card Clients, https://archive.ics.uci.edu/dataset/350",
}


class Scored(NamedTuple):
    """Outcomes of the cases that were held back, and each model's scores for them."""

    y: np.ndarray
    scores: dict[str, np.ndarray]


def find(folder: Path, name: str) -> Path | None:
    """A file of that name, or packed as .gz, anywhere below a folder."""
    found = [path for end in ("", ".gz") for path in sorted(folder.rglob(name + end))] if folder.is_dir() else []
    return found[0] if found else None


def read_bank(path: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """Clients and whether they subscribed. The length of the call goes: it is known only once the call is over."""
    import pandas as pd

    table = pd.read_csv(path, sep=";")
    return table.drop(columns=["y", "duration"]), (table["y"] == "yes").to_numpy()


def made_clients(rows: int = 41_188, *, seed: int = SEED) -> tuple[pd.DataFrame, np.ndarray]:
    """Invented clients in the manner of the bank's, for want of its file: one in nine subscribes."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    age = rng.normal(40, 11, rows).clip(18, 90).round()
    job = rng.choice(["clerk", "worker", "manager", "student", "retired"], rows, p=[0.35, 0.35, 0.2, 0.05, 0.05])
    before = rng.choice(["never", "failure", "success"], rows, p=[0.86, 0.1, 0.04])
    interest = rng.choice([0.7, 1.3, 4.1, 4.9], rows, p=[0.1, 0.2, 0.1, 0.6])
    calls = rng.geometric(0.45, rows)
    odds = -2.6 + 2.2 * (before == "success") + 0.5 * np.isin(job, ["student", "retired"])
    odds += np.where(interest < 2, 1.5, -0.5) - 0.12 * calls
    odds += 1.2 * ((np.abs(age - 42) > 18) & (interest < 2))  # the young and the old, when interest is low
    table = pd.DataFrame({"age": age, "job": job, "poutcome": before, "euribor3m": interest, "campaign": calls})
    return table, rng.random(rows) < 1 / (1 + np.exp(-odds))


def read_credit(path: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """Clients and whether they defaulted on the next payment."""
    import pandas as pd

    table = pd.read_csv(path)
    label = "default-payment-next-month"
    return table.drop(columns=["ID", label]), (table[label] == 1).to_numpy()


def train(table: pd.DataFrame, y: np.ndarray, *, rows: int | None = None) -> Scored:
    """Fit a tree, naive Bayes and boosted trees on two thirds of the cases, score the other third."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    if rows is not None and rows < len(y):
        keep = np.random.default_rng(SEED).choice(len(y), rows, replace=False)
        table, y = table.iloc[keep].reset_index(drop=True), y[keep]
    texts = make_column_selector(dtype_exclude="number")
    numbers = make_column_selector(dtype_include="number")
    wide = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts), (StandardScaler(), numbers)
    )
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    narrow = make_column_transformer((codes, texts), ("passthrough", numbers))
    models: dict[str, Any] = {
        "tree": make_pipeline(narrow, DecisionTreeClassifier(min_samples_leaf=40, random_state=SEED)),
        "bayes": make_pipeline(wide, GaussianNB(var_smoothing=1e-2)),
        "boosting": make_pipeline(narrow, HistGradientBoostingClassifier(learning_rate=0.05, random_state=SEED)),
    }
    x_train, x_test, y_train, y_test = train_test_split(table, y, test_size=1 / 3, random_state=SEED, stratify=y)
    return Scored(y_test, {name: m.fit(x_train, y_train).predict_proba(x_test)[:, 1] for name, m in models.items()})


def show(title: str, content: object) -> None:
    print(f"\n## {title}\n\n{content}")


def campaign(data: Scored, *, quota: int, cost: float, value: float, n_resamples: int = 2000) -> cl.results.Comparison:
    """Everything the story tells of the campaign."""
    y, scores = data
    print(
        f"{len(y):,} clients held back, {y.sum():,} of them subscribe ({y.mean():.1%}); {quota:,} calls can be paid for"
    )
    cmp = cl.compare(y, scores, quota=quota, n_resamples=n_resamples, seed=SEED, margin=0.01)
    show("Models side by side", _some(cmp))
    show("Differences at the quota, and over all quotas", _differences(cmp, ["hit_rate", "average_hit_rate", "pem"]))
    best = cmp.best("hit_rate")
    show("Whom to call", cl.select(scores[best], quota, seed=SEED).note)
    for name in scores:
        show(f"What we will get: {name}", at_quota(cmp[name], quota))
    rows = cmp.dominance("quota")
    show("Who leads, stretches of 100 quotas and more", _long(rows, 100))
    at = [q for q in (50, 100, 200, 500, 1000, 3000) if q <= len(y)]
    show("Who leads at some quotas (shares are of the whole stretch)", _leaders(rows, at))
    hull = cmp.hull()
    shares = {name: sum(row["model"] == name for row in hull) for name in scores}
    show("The hull of the family", f"vertices by model: {shares}")
    show("By the cost of a wasted call against a missed subscriber", slopes(cmp, [1 / 20, 1 / 11, 1 / 2]))
    for goal in ("known quota", "unknown quota", "no missed positives", "no wasted places", "probabilities needed"):
        show(f"Recommended for: {goal}", cmp.recommend(goal))
    budget = quota * cost
    plans = {
        "with the budget": cl.plan(
            y, scores[best], cost=cost, value=value, budget=budget, n_resamples=n_resamples, seed=SEED
        ),
        "without one": cl.plan(y, scores[best], cost=cost, value=value, n_resamples=n_resamples, seed=SEED),
    }
    for name, plan in plans.items():
        show(f"Profit by {best}, {name} (a call costs {cost:g}, a subscriber is worth {value:g})", plan)
    show("The list in tenths", cl.lift_table(y, scores[best]))
    return cmp


def at_quota(ev: cl.results.Evaluation, quota: int) -> str:
    """The cut in one sentence."""
    cut = ev.at(quota=quota)
    mean, following = cut.expected_hits, cut.next_hits
    return (
        f"{cut.tp:.1f} hits in {quota:,} ({cut.hit_rate:.1%}, lift {cut.lift:.2f}, {cut.qrecall:.1%} of all); "
        f"mean over many lists {mean.low:.0f} to {mean.high:.0f}, "
        f"the next list {following.low:.0f} to {following.high:.0f}; "
        f"{cut.tied:.0f} tied at the cut, so {cut.hits_worst:.0f} to {cut.hits_best:.0f} by the luck of the draw"
    )


def slopes(cmp: cl.results.Comparison, ratios: list[float]) -> str:
    """Which vertex of the hull is cheapest when a false positive costs ``ratio`` times a false negative."""
    facts = next(iter(cmp.evaluations.values())).facts
    lines = []
    for ratio in ratios:
        slope = ratio * facts["negatives"] / facts["positives"]
        row = next(r for r in cmp.hull() if r["slope_to"] <= slope <= r["slope_from"])
        lines.append(
            f"1 : {1 / ratio:g} (slope {slope:.3f}): {row['model']} above {row['threshold']:.4f}, "
            f"true positive rate {row['tpr']:.3f}, false positive rate {row['fpr']:.3f}"
        )
    return "\n".join(lines)


def credit(data: Scored, *, quota: int, n_resamples: int = 2000) -> cl.results.Comparison:
    """The shorter story: which clients to review before they default."""
    y, scores = data
    print(f"{len(y):,} clients held back, {y.sum():,} of them default ({y.mean():.1%}); {quota:,} can be reviewed")
    cmp = cl.compare(y, scores, quota=quota, n_resamples=n_resamples, seed=SEED, margin=0.01)
    show("Models side by side", _some(cmp))
    show("Differences", _differences(cmp, ["hit_rate", "pem", "brier_score"]))
    best = cmp.best("hit_rate")
    show(f"What we will get: {best}", at_quota(cmp[best], quota))
    show("Who leads, stretches of 100 quotas and more", _long(cmp.dominance("quota"), 100))
    for goal in ("known quota", "unknown quota", "probabilities needed"):
        show(f"Recommended for: {goal}", cmp.recommend(goal))
    cheap = scores["bayes"]
    stages = cl.screen(y, [(cheap, 0.5), (scores[best], quota)], cost=[0.1, 1.0], seed=SEED)
    show("In two stages: half of all by naive Bayes, then the best of those", stages)
    return cmp


def _some(cmp: cl.results.Comparison) -> cl.results.Table:
    names = ["hit_rate", "qrecall", "average_hit_rate", "average_qrecall", "pem", "brier_score", "accuracy"]
    keys = {cmp.key(name) for name in names}
    rows = []
    for row in cmp.table:
        if row["measure"] in keys:
            cells = {name: cmp[name][row["measure"]] for name in cmp.evaluations}
            texts = {name: f"{e.value:.4f} [{e.low:.4f}, {e.high:.4f}]" for name, e in cells.items()}
            rows.append({"measure": row["measure"], **texts})
    return cl.results.Table(rows)


def _differences(cmp: cl.results.Comparison, names: list[str]) -> cl.results.Table:
    keys = {cmp.key(name) for name in names}
    shown = ("a", "b", "measure", "difference", "low", "high", "p_adjusted", "reading")
    return cl.results.Table([{key: row[key] for key in shown} for row in cmp.differences if row["measure"] in keys])


def _long(rows: cl.results.Table, length: int) -> cl.results.Table:
    return cl.results.Table([row for row in rows if row["to"] - row["from"] + 1 >= length])


def _leaders(rows: cl.results.Table, quotas: list[int]) -> cl.results.Table:
    return cl.results.Table([{"quota": q, **next(r for r in rows if r["from"] <= q <= r["to"])} for q in quotas])


def main(arguments: list[str] | None = None) -> int:
    """Run one of the stories; 2 where the file is not there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder with the files (default: data)")
    story = parser.add_mutually_exclusive_group()
    story.add_argument("--credit", action="store_true", help="credit defaults instead of the campaign")
    story.add_argument("--made", action="store_true", help="invented clients: no file needed")
    parser.add_argument("--rows", type=int, help="use a random part of the rows, to try things out")
    parser.add_argument("--quota", type=int, default=1000, help="places (default: 1000)")
    parser.add_argument("--resamples", type=int, default=2000, help="bootstrap replicates (default: 2000)")
    said = parser.parse_args(arguments)
    missing = [name for name in ("pandas", "sklearn") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"this example needs {' and '.join(missing)}: pip install '.[sklearn,frames]'", file=sys.stderr)
        return 2
    name = CREDIT if said.credit else BANK
    path = None if said.made else find(said.data, name)
    if path is None and not said.made:
        print(f"{name} is not below {said.data}; get it from the UCI repository ({SOURCES[name]})", file=sys.stderr)
        return 2
    if said.credit:
        credit(train(*read_credit(path), rows=said.rows), quota=said.quota, n_resamples=said.resamples)
    else:
        data = train(*(read_bank(path) if path else made_clients()), rows=said.rows)
        campaign(data, quota=said.quota, cost=5.0, value=60.0, n_resamples=said.resamples)
    return 0


if __name__ == "__main__":
    sys.exit(main())

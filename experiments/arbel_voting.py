"""Arbel & Rokach, section 4.2: selective voting over 52 missions, on made applicants.

The company's data are private. Here an applicant has three hidden skills; each mission tests one mix of them and
records continuous, binary and transformed features; a weak model is trained on each mission. Only the shape of the
paper's results can be compared: how alike the four marks behave, and where each is best.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import cutline as cl

MISSIONS, TRAINING, TESTING, POSITIVE_SHARE = 52, 250, 50, 0.2
PEARSON = f"quota_pearson@{TESTING}"
MARKS = ("average_hit_rate", "average_qrecall", "pem", PEARSON)

Floats = NDArray[np.float64]


def applicants(rng: np.random.Generator, n: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Hidden skills, and who finishes the training: the best fifth by skill and luck."""
    skill = rng.normal(size=(n, 3))
    fitness = skill @ np.array([0.9, 0.6, 0.3]) + rng.normal(0, 1.0, n)
    finished = np.zeros(n, dtype=bool)
    finished[np.argsort(-fitness)[: round(POSITIVE_SHARE * n)]] = True
    return skill, finished


def mission(rng: np.random.Generator, skill: Floats) -> Floats:
    """What one mission records: four continuous features, two binary ones, and two that are made from others."""
    mix = rng.dirichlet(np.ones(3))
    shown = skill @ mix * rng.uniform(0.1, 0.9)
    continuous = shown[:, None] * rng.uniform(0.2, 1.0, 4) + rng.normal(size=(len(skill), 4))
    binary = shown[:, None] + rng.normal(size=(len(skill), 2)) > rng.normal(size=2)
    made = np.column_stack([continuous[:, 0] ** 2, continuous[:, 1] * continuous[:, 2]])
    return np.column_stack([continuous, binary, made])


def experiment(seed: int, order_on: str) -> cl.papers.SelectiveVoting:
    """One experiment: 52 models trained on 250 applicants, voting on 50 others."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(seed)
    skill, y = (
        np.concatenate(parts) for parts in zip(applicants(rng, TRAINING), applicants(rng, TESTING), strict=True)
    )
    train, test = slice(0, TRAINING), slice(TRAINING, None)
    scores, seen = {}, {}
    for k in range(MISSIONS):
        x = mission(rng, skill)
        spread = x[train].std(axis=0)
        x = (x - x[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)  # a binary feature may be the same for all
        model = LogisticRegression()
        name = f"mission {k + 1}"
        scores[name] = model.fit(x[train], y[train]).predict_proba(x[test])[:, 1]
        if order_on == "train":  # each fifth is scored by a model that has not seen it
            fifth = np.arange(TRAINING) % 5
            seen[name] = np.empty(TRAINING)
            for part in range(5):
                model.fit(x[train][fifth != part], y[train][fifth != part])
                seen[name][fifth == part] = model.predict_proba(x[train][fifth == part])[:, 1]
    known = (y[train], seen) if order_on == "train" else None
    return cl.papers.selective_voting(y[test], scores, rank_by="pem", marks=MARKS, order_on=known)


def table_6(votes: list[cl.papers.SelectiveVoting], printed: dict[str, Any]) -> list[dict[str, Any]]:
    """The number of models at which each mark is best."""
    rows = []
    for mark in MARKS:
        best = np.array([next(o["models"] for o in vote.optimum if o["mark"] == mark) for vote in votes])
        theirs = printed[mark.partition("@")[0]]
        first = [x[0] for x in theirs]
        low, high = best.min(), best.max()
        inside = sum(bool(low <= x <= high) for x in first)
        rows.append(
            {
                "what": f"best X by {mark}",
                "printed": ", ".join(" and ".join(map(str, x)) for x in theirs),
                "ours": ", ".join(map(str, best[:4])),
                "spread": f"{low}–{high} over {len(best)}, median {np.median(best):g}",
                "verdict": f"shape only: {inside} of {len(first)} printed within our range",
            }
        )
    return rows


def correlations(votes: list[cl.papers.SelectiveVoting], a: str, b: str) -> Floats:
    """The correlation of two marks over X, in each experiment."""
    one, other = (next(m for m in MARKS if m.startswith(name)) for name in (a, b))
    return np.array([next(r[other] for r in vote.correlation if r["mark"] == one) for vote in votes])


def table_7(votes: list[cl.papers.SelectiveVoting], printed: dict[str, Any]) -> list[dict[str, Any]]:
    """Correlation between marks over X."""
    rows = []
    for a, b, theirs in printed["rows"]:
        ours = correlations(votes, a, b)
        inside = sum(bool(ours.min() <= x <= ours.max()) for x in theirs)
        rows.append(
            {
                "what": f"correlation of {a} and {b}",
                "printed": ", ".join(f"{x:.2f}" for x in theirs),
                "ours": ", ".join(f"{x:.2f}" for x in ours[:4]),
                "spread": f"{ours.min():.2f}–{ours.max():.2f}, median {np.median(ours):.2f}",
                "verdict": f"shape only: {inside} of {len(theirs)} printed within our range",
            }
        )
    return rows


def draw(figure: Any, axes: Any, votes: list[cl.papers.SelectiveVoting]) -> None:
    """Figure 10: the marks of the mean of the best X models."""
    for k, (ax, vote) in enumerate(zip(axes.flat, votes, strict=False)):
        x = vote.marks.column("models")
        for mark in MARKS:
            label = {PEARSON: "Pearson"}.get(mark, mark.replace("_", " "))
            chance, perfect = vote.scales[mark]  # the paper does not tell how it normalised its own
            values = (np.array(vote.marks.column(mark)) - chance) / (perfect - chance)
            ax.plot(x, values, label=label, linewidth=1.4)
        ax.set_title(f"experiment {k + 1}", fontsize=10)
        ax.grid(alpha=0.3)
    for ax in axes[-1]:
        ax.set_xlabel("models averaged, best first")
    for ax in axes[:, 0]:
        ax.set_ylabel("mark (chance = 0, perfect = 1)")
    axes[0, 0].legend(fontsize=8)
    figure.suptitle("Selective voting on made applicants", fontsize=11)


def draw_correlations(figure: Any, axes: Any, votes: list[cl.papers.SelectiveVoting], printed: dict[str, Any]) -> None:
    """Figure 11: correlation between the marks, a line for each experiment; as printed, and on made data."""
    names = [f"{a.replace('_', ' ')}\n{b.replace('_', ' ')}" for a, b, _ in printed["rows"]]
    theirs = np.array([row[2] for row in printed["rows"]])
    ours = np.array([correlations(votes, a, b) for a, b, _ in printed["rows"]])
    for ax, title, found in zip(axes.flat, ("printed", "made applicants"), (theirs, ours), strict=True):
        for k in range(min(4, found.shape[1])):
            ax.plot(found[:, k], range(len(names)), "o-", label=f"experiment {k + 1}", linewidth=1.2, markersize=4)
        ax.axvline(0.95, color="grey", linewidth=0.8, linestyle="--")  # the paper's line for a high correlation
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("correlation over the number of models")
        ax.grid(alpha=0.3)
    axes.flat[0].set_yticks(range(len(names)), names, fontsize=8)
    axes.flat[0].invert_yaxis()
    axes.flat[0].legend(fontsize=8)
    figure.suptitle("Correlation between marks in selective voting", fontsize=11)

"""Berrar: the ten-case example, every number of definitions 1–37 beside its definition, and figures 2 and 4 to 8.

The printed numbers, their places and the errata are kept in tests/golden/berrar.json, where the tests read them too.
"""

from __future__ import annotations

import itertools
import json
import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np

import cutline as cl
from report import PROJECT, Report, new_figure, options, row

PAPER = json.loads((PROJECT / "tests" / "golden" / "berrar.json").read_text(encoding="utf-8"))
Y = np.array(PAPER["sample"]["y_true"])
S = np.array(PAPER["sample"]["y_score"])
T5 = 0.55  # the paper's threshold t₅, between the scores of rank 4 and 5
SIGNED = 4 * (S - 0.5)  # figure 8 needs distances of this scale (B16)

# Definitions that the paper gives without a number for the example.
NOT_PRINTED = (
    ("Definition 13", "f_beta", {"beta": 2}),
    ("Definition 21", "balanced_cross_entropy", {}),
    ("Definition 22", "focal_loss", {}),
    ("Definition 33", "pr_auc_minmax", {}),
    ("Definition 33", "pr_auc_max", {}),
)


def between() -> list[float]:
    """The paper's thresholds t₁ … t₁₁."""
    return [1.0, *((S[:-1] + S[1:]) / 2), 0.0]


def best_youden_threshold() -> float:
    """Which of t₁ … t₁₁ has the largest Youden index."""
    return 1.0 + int(np.argmax([cl.youden_index(Y, S, threshold=t) for t in between()]))


def alpha_of_10_in_1000() -> float:
    """The weight that balanced cross-entropy gives a positive: it mixes the losses of α = 0 and α = 1."""
    y, s = np.repeat([1, 0], [10, 990]), np.linspace(0.9, 0.1, 1000)
    none, all_ = (cl.balanced_cross_entropy(y, s, alpha=a) for a in (0.0, 1.0))
    return (cl.balanced_cross_entropy(y, s) - none) / (all_ - none)


def chance_agreement() -> float:
    """P_e from accuracy and kappa."""
    accuracy, kappa = cl.accuracy(Y, S, threshold=T5), cl.cohen_kappa(Y, S, threshold=T5)
    return (accuracy - kappa) / (1 - kappa)


def expected_average_precision() -> float:
    """The mean over all rankings of five positives among ten cases."""
    values = []
    for chosen in itertools.combinations(range(len(Y)), int(Y.sum())):
        y = np.zeros(len(Y), dtype=int)
        y[list(chosen)] = 1
        values.append(cl.average_precision(y, S))
    return math.fsum(values) / len(values)


# Numbers of the example that follow from measures: what they are, and how.
DERIVED = {
    "best_youden_threshold": ("argmax over t₁ … t₁₁ of the Youden index", best_youden_threshold),
    "expected_by_chance": (
        "TP − gain",
        lambda: cl.evaluate(Y, S, interval=None).at(threshold=T5).tp - cl.gain(Y, S, threshold=T5),
    ),
    "alpha_of_10_in_1000": ("share of the other class", alpha_of_10_in_1000),
    "chance_agreement": ("(accuracy − κ)/(1 − κ)", chance_agreement),
    "negative_rank_sum": ("Linear Ranking of the negatives, scores turned", lambda: cl.linear_ranking(1 - Y, -S)),
    "half_gini": ("Gini/2", lambda: cl.gini(Y, S) / 2),
    "mean_precision": ("average lift · prevalence", lambda: cl.average_lift(Y, S) * Y.mean()),
    "expected_average_precision": ("mean AP of all 252 rankings", expected_average_precision),
}


def from_arithmetic(quantity: str) -> tuple[str, float]:
    """Printed numbers that no measure of a scored sample gives."""
    if "permutation" in quantity:
        return "b/m", 300 / 10_000
    p, q = 0.3, 0.6
    return "p(1 − (1−q)²) + (1−p)(1 − q²)", p * (1 - (1 - q) ** 2) + (1 - p) * (1 - q**2)


def value_of(one: dict[str, Any]) -> tuple[str, float]:
    """How a printed number is defined, and what the library gives for it."""
    check = one["check"]
    if "measure" in check:
        given = {k: v for k, v in check.items() if k not in ("measure", "rank", "scale")}
        y, s = Y, SIGNED if "scale" in check else S
        if "rank" in check:
            y, s = y[[check["rank"] - 1]], s[[check["rank"] - 1]]
        return cl.measure(check["measure"]).formula, float(getattr(cl, check["measure"])(y, s, **given))
    if "at" in check:
        return "count at the threshold", float(
            getattr(cl.evaluate(Y, S, interval=None).at(threshold=check["threshold"]), check["at"])
        )
    if "hull" in check:
        vertices = cl.evaluate(Y, S, interval=None).hull()
        return "vertex of the ROC convex hull", float(vertices[check["vertex"]][check["hull"]])
    if "interval" in check:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Wald on five cases: the paper shows why not
            low, high = cl.proportion_interval(3, 5, level=0.95, method=check["interval"])
        ends = {"half": (high - low) / 2, "lower": low, "upper": high}
        return f"{check['interval']} interval of 3/5", ends[check["end"]]
    if "derived" in check:
        how, value = DERIVED[check["derived"]]
        return how, float(value())
    return from_arithmetic(one["quantity"])


def is_printed(value: float, printed: str) -> bool:
    """Whether the value, rounded as the paper rounds, is what is printed; fractions are exact."""
    decimals = len(printed.partition(".")[2])
    tolerance = 1e-12 if "/" in printed else 0.5 * 10.0**-decimals
    return abs(value - float(Fraction(printed))) <= tolerance + 1e-12


def number_rows() -> list[dict[str, Any]]:
    """Every printed number of the example, then the definitions that print none."""
    rows = []
    for one in PAPER["rows"]:
        how, value = value_of(one)
        printed = one["printed"] if isinstance(one["printed"], str) else f"{one['printed']:.6g}"
        right = is_printed(value, printed)
        erratum = one["erratum"]
        note = f"{erratum}: {PAPER['errata'][erratum]}" if erratum else ""
        verdict = "agrees" if right else f"wrong in print ({erratum})"
        what = f"{one['place']}: {one['quantity']}"
        rows.append(row(what, printed, value, "exact", verdict, definition=how, note=note))
    for place, name, given in NOT_PRINTED:
        value = getattr(cl, name)(Y, S, **given)
        rows.append(
            row(f"{place}: {name}", "–", value, "exact", "not printed", definition=cl.measure(name).formula, note="")
        )
    hinge = cl.hinge_loss(Y, SIGNED)
    formula = cl.measure("hinge_loss").formula
    rows.append(row("Definition 35: mean hinge loss", "–", hinge, "exact", "not printed", definition=formula, note=""))
    triplet = cl.triplet_loss([[0.0, 1.0]], [[0.0, 1.0]], [[1.0, 0.0]], margin=0.2)
    formula = cl.measure("triplet_loss").formula
    rows.append(
        row("Definition 34: one easy triplet", "–", triplet, "exact", "not printed", definition=formula, note="")
    )
    return rows


def ranking_table(report: Report) -> None:
    """Figure 2: what the top 1, 2, … cases give."""
    ev = cl.evaluate(Y, S, interval=None)
    cells = []
    for j, (case, y, s, t) in enumerate(zip(PAPER["sample"]["case"], Y, S, between()[1:], strict=True), start=1):
        point = ev.at(threshold=t)
        shares = [Fraction(int(point.tp), 5), Fraction(int(point.fp), 5), Fraction(int(point.tp), j)]
        lift = 2 * Fraction(int(point.tp), j)
        cells.append([j, f"#{case}", y, s, *map(str, shares), int(point.tp), str(lift), f"{t:.3f}"])
    names = ["rank", "case", "class", "score", "TPR", "FPR", "precision", "hits", "lift", "cut below"]
    figure, ax = new_figure(size=(8, 3.6))
    ax.axis("off")
    ax.set_title("Ranking table: what the cases down to each rank give", fontsize=11)
    table = ax.table([[str(c) for c in line] for line in cells], colLabels=names, loc="center", cellLoc="center")
    table.scale(1, 1.3)
    for (line, _), cell in table.get_celld().items():
        cell.set_edgecolor("0.8")
        if line == 0:
            cell.set_text_props(weight="bold")
        elif Y[line - 1]:
            cell.set_facecolor("#e8f0fa")
    report.figure(figure, "figure-2-ranking-table")
    columns = [dict(zip(names, line, strict=True)) for line in cells]
    report.table("Figure 2: the ranking table", columns, "ranking-table")


def figures(report: Report) -> None:
    """Figures 4 and 5, drawn by the library; the point is what the threshold t₅ gives."""
    ev = cl.evaluate(Y, S, name="ten cases", interval=None)
    figure, axes = new_figure(1, 2, (11, 4.4))
    ev.plot("gain", ax=axes[0], band=False)
    ev.plot("lift", ax=axes[1], band=False)
    report.figure(figure, "figure-4-gain-and-lift")
    for kind, name, how in (
        ("roc", "figure-5a-roc-with-hull", {"hull": True, "band": False, "threshold": T5}),
        ("tpr_fpr", "figure-5b-tpr-fpr", {}),
        ("precision_recall", "figure-5c-precision-recall", {"band": False, "threshold": T5}),
    ):
        figure, ax = new_figure()
        ev.plot(kind, ax=ax, **how)
        report.figure(figure, name)
    areas(report, ev)
    hinge(report)


def areas(report: Report, ev: Any) -> None:
    """Figure 6: the areas behind AUC, Gini index, AUCH and the lower trapezoid of precision and recall."""
    point, roc, pr = ev.at(threshold=T5), ev.curve("roc"), ev.curve("precision_recall")
    corners = cl.compare(Y, {"a": S, "b": S}, interval=None).hull()
    hull = np.array(corners.column("fpr")), np.array(corners.column("tpr"))
    recall = np.unique(np.append(0.0, pr.x))
    lowest = np.array(
        [0.0, *(pr.y[pr.x == at].min() for at in recall[1:])]
    )  # the paper's precision before any case is 0
    panels: tuple[tuple[str, Any, Any, Any], ...] = (
        (f"(a) AUC = {cl.roc_auc(Y, S):.2f}", roc.x, roc.y, 0.0),
        (f"(b) Gini index = {cl.gini(Y, S):.2f}: area / 0.5", roc.x, roc.y, roc.x),
        (f"(c) AUCH = {cl.auch(Y, S):.2f}", *hull, 0.0),
        (f"(d) AUCPR_min = {cl.pr_auc_min(Y, S):.4f}", recall, lowest, 0.0),
    )
    figure, axes = new_figure(2, 2, (9.5, 8.6))
    for ax, (title, x, y, ground) in zip(axes.flat, panels, strict=True):
        of_rates = title.startswith("(d)")
        area = float(np.trapezoid(y - ground, x))
        ax.fill_between(x, ground, y, color="#7b4fb5", alpha=0.25, linewidth=0)
        curve, at = (pr, (point.recall, point.precision)) if of_rates else (roc, (point.fpr, point.recall))
        ax.plot(curve.x, curve.y, "-", color="0.15", linewidth=1.4)
        ax.plot([0, 1], [0.5, 0.5] if of_rates else [0, 1], color="#c0392b", linewidth=1)
        ax.plot(*at, "o", color="0.15", markerfacecolor="white", markersize=7)
        ax.annotate(f"t₅: ({at[0]:g}, {at[1]:g})", at, xytext=(7, -12), textcoords="offset points", fontsize=9)
        ax.set_title(f"{title} (shaded: {area:.4g})", fontsize=10)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.05))
        names = ("recall", "precision") if of_rates else ("false positive rate", "true positive rate")
        ax.set(xlabel=names[0], ylabel=names[1])
        ax.grid(alpha=0.3)
    report.figure(figure, "figure-6-areas")


def hinge(report: Report) -> None:
    """Figures 7 and 8: the hinge loss and the 0–1 loss of a positive, and the hinge losses of the ten cases."""
    figure, ax = new_figure(size=(6.4, 4.2))
    distance = np.linspace(-2, 2, 401)
    ax.plot(
        distance,
        [cl.hinge_loss([1, -1], [d, -9.0], pos_label=1) * 2 for d in distance],
        color="#c0392b",
        label="hinge loss",
    )
    ax.step(distance, (distance <= 0) * 1.0, color="#2f7ed8", label="0–1 loss")
    ax.set(xlabel="signed distance from the boundary, real class +1", ylabel="loss")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    report.figure(figure, "figure-7-losses")
    sign, cases = np.where(Y, 1, -1), PAPER["sample"]["case"]
    losses = np.maximum(0.0, 1.0 - sign * SIGNED)
    figure, axes = new_figure(1, 2, (10.5, 4.4))
    rank = np.arange(1, len(Y) + 1)
    for side, marker, colour, name in ((1, "o", "#2f7ed8", "positive"), (-1, "s", "#7f8c8d", "negative")):
        of = sign == side
        axes[0].plot(SIGNED[of], rank[of], marker, color=colour, label=name)
        axes[1].barh(rank[of], losses[of], color=colour)
    axes[0].axvline(0, color="0.15")
    for x, y, case, loss in zip(SIGNED, rank, cases, losses, strict=True):
        axes[0].annotate(f"#{case}", (x, y), xytext=(6, -3), textcoords="offset points", fontsize=9)
        axes[1].annotate(f"{loss:.2g}", (loss, y), xytext=(4, -3), textcoords="offset points", fontsize=9)
    axes[0].set(xlabel="signed distance from the boundary", ylabel="rank", title="(a) the ten cases", xlim=(-2, 2.3))
    axes[1].set(xlabel="hinge loss", xlim=(0, 2.3), title=f"(b) hinge losses, mean {losses.mean():.2f}")
    axes[1].set_yticks(rank, [f"#{case}" for case in cases])
    for ax in axes:
        ax.invert_yaxis()
        ax.grid(alpha=0.3)
    axes[0].legend(frameon=False, loc="lower right")
    report.figure(figure, "figure-8-hinge-losses")


def main(given: list[str] | None = None) -> list[dict[str, Any]]:
    """Run, print, write."""
    args = options("berrar", __doc__.partition("\n")[0]).parse_args(given)
    report = Report("berrar", args.out)
    rows = number_rows()
    report.table("The ten-case example", rows, "numbers", but=("note",))
    wrong = [one for one in rows if one["verdict"].startswith("wrong")]
    printed = [one for one in rows if one["printed"] != "–"]
    report.text(
        f"{len(printed) - len(wrong)} of {len(printed)} printed numbers agree to their last digit; wrong in print:",
        *(f"  {one['what']}: printed {one['printed']}, right {one['ours']:.6g}. {one['note']}" for one in wrong),
    )
    ranking_table(report)
    figures(report)
    report.done()
    return rows


if __name__ == "__main__":
    main()

"""One picture for each measure, drawn from Berrar's ten cases when the site is built.

A picture shows what the measure reads: the cells behind a ratio, the area under a curve, the places in a list, the loss
of a stated probability. What it draws it computes with the library. A measure without a picture of its own gets the
one of its family, so a new declaration needs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from cutline.catalogue.declare import Measure

from . import cells, curves, lists, losses, others

Painter = Callable[[Figure, Measure], str]

OWN: dict[str, Painter] = {
    "youden_index": curves.above_diagonal,
    "balanced_accuracy": curves.one_corner,
    "positive_likelihood_ratio": curves.slope_to_cut,
    "negative_likelihood_ratio": curves.slope_from_cut,
    "lift": curves.lift_at_cut,
    "gain": curves.gain_at_cut,
    "roc_auc": curves.under_roc,
    "gini": curves.roc_over_diagonal,
    "auch": curves.under_hull,
    "ks_statistic": curves.widest_gap,
    "max_youden_index": curves.widest_gap,
    "taks": curves.mean_gap,
    "average_precision": curves.precision_steps,
    "pr_auc_min": curves.precision_trapezoids,
    "pr_auc_minmax": curves.precision_trapezoids,
    "pr_auc_max": curves.precision_trapezoids,
    "average_gain": curves.gain_over_chance,
    "pem": curves.extracted_potential,
    "average_lift": lists.mean_of_bars,
    "average_hit_rate": lists.mean_of_bars,
    "average_qrecall": lists.mean_of_bars,
    "linear_ranking": lists.worth_of_places,
    "quadratic_ranking": lists.worth_of_places,
    "misclassification_ranking": lists.worth_of_places,
    "ranking_score": lists.worth_of_places,
    "hit_rate": lists.boxed,
    "qrecall": lists.boxed,
    "quota_lift": lists.boxed,
    "quota_pearson": lists.scores_and_outcomes,
    "root_mean_squared_error": losses.distances,
    "mean_average_precision": others.mean_over_classes,
    "ranked_probability_score": others.cumulative_gaps,
    "hand_till_auc": others.pairs_of_classes,
    "top_t_accuracy": others.places_of_the_real_class,
    "risk_coverage_area": others.errors_by_coverage,
    "triplet_loss": others.triplet,
}


def amounts(figure: Figure, one: Measure) -> str:
    """Ten places of a list with what each is worth: bars of the hits, those within four places filled."""
    ax = figure.subplots()
    worth, hit = [30, 12, 45, 8, 22, 60, 10, 15, 5, 9], [1, 0, 1, 1, 0, 1, 0, 0, 1, 0]
    for place, (value, is_hit) in enumerate(zip(worth, hit, strict=True), start=1):
        taken = "#2f7ec7" if place <= 4 else "white"
        ax.bar(place, value, color=taken if is_hit else "#e4e4e4", edgecolor="#2f7ec7" if is_hit else "#bbbbbb")
    ax.axvline(4.5, color="#555555", linestyle="--")
    ax.set(title=one.title, xlabel="place of the list", ylabel="worth", xticks=range(1, 11))
    return "Bars show what each case is worth. The filled ones are hits within the four places: their sum is captured."


BY_FAMILY: dict[str, Painter] = {
    "value": amounts,
    "threshold": cells.of_formula,
    "probability": losses.by_probability,
    "ranking": lists.climbing,
    "quota": lists.climbing,
}
WIDE = (5.0, 3.2)  # inches: small, so that letters can be read where a telephone shrinks it
STYLE = {
    "font.size": 11,
    "axes.titlesize": 12,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "svg.hashsalt": "cutline",  # the same picture is the same file
}


def draw(one: Measure, goal: Path) -> str:
    """Draw a measure's picture into a file, and give the words that go with it."""
    paint = OWN.get(one.name) or BY_FAMILY.get(one.family)
    if paint is None:
        raise LookupError(f"{one.name} reads neither a cut nor a list: draw it in docs/pictures and name it there")
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=WIDE, layout="constrained")
        words = paint(figure, one)
        figure.savefig(goal, metadata={"Date": None} if goal.suffix == ".svg" else None, dpi=100)
    return words

"""Measures of a whole ranking. Each says how it counts ties (``tie_rule``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf
from numbers import Real
from typing import Any

import numpy as np

from ..errors import InputError, show
from ..ranking import Ranking
from ..reference import documented
from ..sweep import Sums
from ..validate import check_function, check_number
from .declare import BOTH, Measure, OwnFunction, check_prior, declare, declare_own, free_name, ratio

CHANCE_OF_PRECISION = "(H(n) + (n⁺ − 1)/(n − 1)·(n − H(n))) / n"  # of averages over the places of the positives


def gini_of(s: Sums) -> Any:
    """2·AUC − 1 from the difference of won and lost pairs, which does not cancel."""
    return ratio(s.margin, s.n_pos * s.n_neg)


# the AUC on another scale
declare_of_auc = partial(
    declare,
    part="pairs",
    tie_rule="expectation",
    needs=BOTH,
    stratified=True,
    interval="delong_t",
    paired_test="delong",
)


@declare_of_auc(
    "Area under the ROC curve",
    "ranking",
    formula="P(p₊ > p₋) + ½·P(p₊ = p₋)",
    latex=r"P(p_+ > p_-) + \tfrac12 P(p_+ = p_-)",
    reference="Berrar Def. 27, Eq. 31–32 (ties count one half: erratum B12)",
    aliases=("auc", "auroc", "c_statistic"),
    chance=0.5,
    line_of_auc=lambda n_pos, n_neg, n: (1.0, 0.0),
)
def roc_auc(s: Sums) -> Any:
    """Probability that a positive is ranked before a negative.

    >>> roc_auc([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1])
    0.875
    """
    return ratio(s.won, 2.0 * s.n_pos * s.n_neg)


@declare_of_auc(
    "Gini index",
    "ranking",
    range=(-1.0, 1.0),
    formula="2·AUC − 1",
    latex=r"2\,\mathrm{AUC} - 1",
    reference="Berrar Def. 28, Eq. 33",
    same_as="2·roc_auc − 1",
    chance=0.0,
    line_of_auc=lambda n_pos, n_neg, n: (2.0, -1.0),
)
def gini(s: Sums) -> Any:
    """Area between ROC curve and diagonal, as a share of the area above the diagonal.

    >>> gini([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1])
    0.75
    """
    return gini_of(s)


@declare(
    "Area under the ROC convex hull",
    "ranking",
    range=(0.5, 1.0),
    formula="area under the upper convex hull of the ROC points",
    latex=r"\sum_{i=1}^{k-1} \tfrac12 (\mathrm{TPR}_i + \mathrm{TPR}_{i+1})(\mathrm{FPR}_{i+1} - \mathrm{FPR}_i)",
    reference="Berrar Def. 29, Eq. 34",
    part="hull",
    tie_rule="together",
    needs=BOTH,
    stratified=True,
    interval="hull",
)
def auch(s: Sums) -> Any:
    """Largest area reachable by the model's thresholds and by randomising between them.

    >>> auch([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1])
    0.875
    """
    return ratio(s.hull_area, s.n_pos * s.n_neg)


_largest_gap = partial(
    declare,
    family="ranking",
    part="gaps",
    tie_rule="together",
    needs=BOTH,
    stratified=True,
    interval="best_cut",
)


@_largest_gap(
    "Kolmogorov–Smirnov statistic",
    formula="max over thresholds of |TPR − FPR|",
    latex=r"\max_t |\mathrm{TPR}(t) - \mathrm{FPR}(t)|",
    reference="Berrar Def. 30, Eq. 35 (the example's 0.2 should read 0.6: erratum B2)",
    aliases=("ks",),
)
def ks_statistic(s: Sums) -> Any:
    """Largest distance between the cumulative shares of positives and negatives, in either direction.

    Sensitive to noise, and therefore not recommended by Berrar for model evaluation and comparison.

    >>> ks_statistic([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1])
    0.5
    """
    return ratio(np.maximum(s.top_gap, 0.0 - s.low_gap), s.n_pos * s.n_neg)


@_largest_gap(
    "Maximum Youden index",
    formula="max over thresholds of TPR − FPR",
    latex=r"\max_t \{\mathrm{TPR}(t) - \mathrm{FPR}(t)\}",
    reference="Berrar Def. 8",
    same_as="ks_statistic, where the largest gap has TPR > FPR",
)
def max_youden_index(s: Sums) -> Any:
    """Youden index at its best threshold.

    >>> max_youden_index([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1])
    0.5
    """
    return ratio(s.top_gap, s.n_pos * s.n_neg)


@declare_of_auc(
    "Truncated average KS",
    "ranking",
    range=(-1.0, 1.0),
    formula="mean of TPR − FPR over the n−1 inner places = n·(2·AUC−1) / (2(n−1))",
    latex=r"\frac{1}{n-1}\sum_{j=1}^{n-1} [\mathrm{TPR}(j) - \mathrm{FPR}(j)]",
    reference="Berrar Def. 31, Eq. 36 (signed: erratum B15)",
    same_as="(2·roc_auc − 1)·n / (2(n − 1))",
    perfect="n / (2·(n − 1))",
    chance=0.0,
    line_of_auc=lambda n_pos, n_neg, n: (n / (n - 1.0), -n / (2.0 * (n - 1.0))),
)
def taks(s: Sums) -> Any:
    """Mean distance between the curves of TPR and FPR, without their end points.

    >>> round(taks([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1]), 4)
    0.3333
    """
    return gini_of(s) * ratio(s.cases, 2.0 * np.where(s.cases > 1.0, s.cases - 1.0, np.nan))


@declare(
    "Average precision",
    "ranking",
    formula="Σ precision·Δrecall over distinct thresholds",
    latex=r"\sum_i p(t_i)\,[r(t_i) - r(t_{i-1})]",
    reference="Berrar Def. 32, Eq. 38 (a step sum: erratum B4)",
    part="precision",
    tie_rule="together",
    chance=CHANCE_OF_PRECISION,
    needs=("positives",),
    interval="precision_area",
    aliases=("ap",),
)
def average_precision(s: Sums) -> Any:
    """Area under the precision–recall curve, by steps; tied cases enter together.

    >>> round(average_precision([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1]), 4)
    0.8333
    """
    return ratio(s.precision_steps, s.n_pos)


def _check_zero(value: Any, name: str) -> None:
    if not isinstance(value, Real) or value not in (0, 1):
        raise InputError(name, f"is {show(value)}", "use 0 (as printed) or 1")


_area_under_precision_recall = partial(
    declare,
    family="ranking",
    needs=("positives",),
    part="precision",
    tie_rule="together",
    checks={"zero_recall_precision": _check_zero},
    interval="precision_area",
)


@_area_under_precision_recall(
    "Area under precision–recall, lower trapezoids",
    formula="Σ ½·(p_min(r) + p_min(r′))·Δr over distinct recalls",
    latex=r"\sum_i \tfrac12 [p_{\min}(t_i) + p_{\min}(t_{i+1})]\,[r(t_{i+1}) - r(t_i)]",
    reference="Berrar Def. 33, Eq. 39 (precision at zero recall is 0 as printed: erratum B13)",
    perfect="1 − 1/n⁺ + 1/(2·n)",
    perfect_area=lambda n_pos, n: 1.0 - 1.0 / n_pos + 0.5 / n,
)
def pr_auc_min(s: Sums, zero_recall_precision: int = 0) -> Any:
    """Trapezoids through the lowest precision at each recall.

    >>> round(pr_auc_min([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1]), 4)
    0.375
    """
    return ratio(s.pr_lower + 0.5 * zero_recall_precision * s.first_step_on_top, s.n_pos)


@_area_under_precision_recall(
    "Area under precision–recall, min–max trapezoids",
    formula="Σ ½·(p_min(r) + p_max(r′))·Δr over distinct recalls",
    latex=r"\sum_i \tfrac12 [p_{\min}(t_i) + p_{\max}(t_{i+1})]\,[r(t_{i+1}) - r(t_i)]",
    reference="Berrar Def. 33, Eq. 40 (precision at zero recall is 0 as printed: erratum B13)",
    perfect="1 − 1/(2·n⁺)",
    perfect_area=lambda n_pos, n: 1.0 - 0.5 / n_pos,
)
def pr_auc_minmax(s: Sums, zero_recall_precision: int = 0) -> Any:
    """Trapezoids from the lowest precision at a recall to the highest at the next.

    >>> round(pr_auc_minmax([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1]), 4)
    0.5417
    """
    return ratio(s.pr_lower_upper + 0.5 * zero_recall_precision * s.first_step_on_top, s.n_pos)


@_area_under_precision_recall(
    "Area under precision–recall, upper trapezoids",
    formula="Σ ½·(p_max(r) + p_max(r′))·Δr over distinct recalls",
    latex=r"\sum_i \tfrac12 [p_{\max}(t_i) + p_{\max}(t_{i+1})]\,[r(t_{i+1}) - r(t_i)]",
    reference="Berrar Def. 33, Eq. 41 (precision at zero recall is 0 as printed: erratum B13)",
    perfect="1 − 1/(2·n⁺)",
    perfect_area=lambda n_pos, n: 1.0 - 0.5 / n_pos,
)
def pr_auc_max(s: Sums, zero_recall_precision: int = 0) -> Any:
    """Trapezoids through the highest precision at each recall.

    >>> round(pr_auc_max([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1]), 4)
    0.6667
    """
    return ratio(s.pr_upper + 0.5 * zero_recall_precision * s.first_step, s.n_pos)


@declare(
    "Average gain",
    "ranking",
    range=(-inf, inf),
    formula="(1/n) Σⱼ (positives in the top j − prior·j)",
    latex=r"\frac1n\sum_{j=1}^n [g_c(j) - g_{\mathrm{null}}(j)]",
    reference="Berrar Def. 25, Eq. 28–29",
    same_as="(2·roc_auc − 1)·n⁺n⁻ / (2n), with the sample's own prior",
    part="pairs",
    tie_rule="expectation",
    extensive=True,
    checks={"prior": check_prior},
    perfect="n⁺·n⁻ / (2·n)",
    chance=0.0,
    interval="delong_total",
    paired_test="delong",
    line_of_auc=lambda n_pos, n_neg, n: (n_pos * n_neg / n, -n_pos * n_neg / (2.0 * n)),
)
def average_gain(s: Sums, prior: float | None = None) -> Any:
    """Mean number of positives found beyond chance, over all cuts.

    >>> average_gain([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1])
    0.25
    """
    gain = ratio(s.margin, 2.0 * s.cases)
    if prior is None:
        return gain
    return gain + (ratio(s.n_pos, s.cases) - prior) * (s.cases + 1.0) / 2.0


@declare(
    "Average lift",
    "ranking",
    range=(0.0, inf),
    formula="(1/n) Σⱼ hit rate(j) / prior",
    latex=r"\frac1n\sum_{j=1}^n \mathrm{lift}(j)",
    reference="Berrar Def. 26, Eq. 30",
    part="places",
    tie_rule="expectation",
    checks={"prior": check_prior},
    perfect="1 + H(n) − H(n⁺)",
    chance=1.0,
    needs=("positives",),
)
def average_lift(s: Sums, prior: float | None = None) -> Any:
    """Mean cumulative lift over all cuts.

    >>> round(average_lift([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1]), 4)
    1.3333
    """
    share = ratio(s.n_pos, s.cases) if prior is None else prior
    return ratio(ratio(s.hit_rates, s.cases), share)


_sum_of_places = partial(declare, family="ranking", tie_rule="expectation", extensive=True)


@_sum_of_places(
    "Linear Ranking",
    range=(0.0, inf),
    formula="Σ of the places (worst = 1) of the positives",
    latex=r"\sum_{i=1}^n i\, I\{y_{h(i)} = 1\}",
    reference="Rosset section 3.2",
    same_as="n⁺n⁻·roc_auc + n⁺(n⁺+1)/2",
    part="pairs",
    perfect="n⁺·n⁻ + n⁺·(n⁺ + 1)/2",
    chance="n⁺·(n + 1)/2",
    interval="delong_total",
    paired_test="delong",
    line_of_auc=lambda n_pos, n_neg, n: (n_pos * n_neg, n_pos * (n_pos + 1.0) / 2.0),
)
def linear_ranking(s: Sums) -> Any:
    """Rosset's ranking score with g(i) = i.

    >>> linear_ranking([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1])
    6.0
    """
    return s.won / 2.0 + s.n_pos * (s.n_pos + 1.0) / 2.0


@_sum_of_places(
    "Quadratic Ranking",
    range=(0.0, inf),
    formula="Σ of the squared places (worst = 1) of the positives",
    latex=r"\sum_{i=1}^n i^2\, I\{y_{h(i)} = 1\}",
    reference="Rosset section 3.3",
    part="places",
    perfect="n·(n + 1)·(2·n + 1)/6 − n⁻·(n⁻ + 1)·(2·n⁻ + 1)/6",
    chance="n⁺·(n + 1)·(2·n + 1)/6",
    interval="places",
    worth=lambda first, last: ((first + last) / 2.0) ** 2 + ((last - first + 1.0) ** 2 - 1.0) / 12.0,
)
def quadratic_ranking(s: Sums) -> Any:
    """Rosset's ranking score with g(i) = i²: order at the top of the list counts most.

    >>> quadratic_ranking([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1])
    20.0
    """
    return s.squares + 0.0


@_sum_of_places(
    "Misclassification Ranking",
    range=(0.0, inf),
    formula="positives among the n⁺ best places = n⁺ − e/2, e: errors when exactly n⁺ cases are called positive",
    latex=r"\sum_{i=1}^n I\{i > n^-\}\, I\{y_{h(i)} = 1\}",
    reference="Rosset section 3.1 (e is not the least number of errors over thresholds: erratum R1)",
    part="places",
    perfect="n⁺",
    chance="n⁺·n⁺/n",
    interval="mean_score",
)
def misclassification_ranking(s: Sums) -> Any:
    """Rosset's ranking score with g(i) = 1 for the n⁺ best places, 0 elsewhere.

    >>> misclassification_ranking([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1])
    1.0
    """
    return s.top_hits + 0.0


_check_g = partial(check_function, arguments="one argument", remedy="pass a function of the places 1 … n (worst = 1)")


@_sum_of_places(
    "Ranking score",
    range=(-inf, inf),
    formula="Σ of g(place) over the positives, worst place = 1",
    latex=r"\sum_{i=1}^n g(i)\, I\{y_{h(i)} = 1\}",
    reference="Rosset section 2",
    perfect=None,
    part="ranking",
    checks={"g": _check_g},
)
def ranking_score(ranking: Ranking, g: Callable[[Any], Any]) -> Any:
    """Rosset's family: any non-decreasing g of the place, given as a vectorised function; ties take its mean.

    >>> import numpy as np
    >>> round(ranking_score([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1], g=np.log), 4)
    2.0794
    """
    if ranking.cases > 1e8:  # g may be any function, so that it is asked at every place
        problem = f"adds up to {ranking.cases:.3g} cases, and g is needed at every place"
        raise InputError("sample_weight", problem, "divide all weights by the same number")
    places = np.arange(1, int(np.ceil(ranking.cases * (1.0 - 1e-12))) + 1)
    with np.errstate(divide="ignore", invalid="ignore"):  # what is not finite is refused below
        worth = np.asarray(g(places))
    if worth.dtype.kind not in "biuf":
        raise InputError("g", f"gives {show(worth)}", "return a number for each place")
    worth = worth.astype(np.float64)
    if worth.shape != places.shape:
        problem = f"gives values of shape {worth.shape} for {len(places)} places"
        raise InputError("g", problem, "return one value for each place")
    if not np.isfinite(worth).all():
        at = int(np.argmin(np.isfinite(worth)))
        raise InputError("g", f"gives {worth[at]:g} for place {at + 1}", "return a finite number for each place")
    if not (np.diff(worth) >= 0).all():
        at = int(np.argmin(np.diff(worth) >= 0)) + 1
        problem = f"decreases: g({at}) = {worth[at - 1]:g} but g({at + 1}) = {worth[at]:g}"
        raise InputError("g", problem, "pass a function that does not decrease")
    # a place that is shared between groups, because rows stand for parts of cases, is worth its share to each
    pos, size = ranking.pos.astype(np.float64), ranking.pos.astype(np.float64) + ranking.neg
    behind = np.append(np.cumsum(size[::-1])[::-1], 0.0)  # cases from each group on, down to the worst
    up_to = np.interp(behind, np.append(0, places), np.append(0.0, np.cumsum(worth)))
    return np.float64(((up_to[:-1] - up_to[1:]) / size) @ pos)


@declare(
    "Boltzmann-enhanced discrimination (BEDROC)",
    "ranking",
    formula="Σ of exp(−alpha·place/n) over the positives, best place = 1, on the scale from the worst list to the best",
    latex=r"\frac{\sum_{i=1}^n e^{-\alpha (n+1-i)/n} I\{y_{h(i)} = 1\} - \min}{\max - \min}",
    reference="Truchon & Bayly 2007, a Ranking score of Rosset's family (section 2)",
    part="ranking",
    tie_rule="expectation",
    undefined="there are no positive or no negative cases",
    needs=BOTH,
    checks={"alpha": partial(check_number, low=0.0, open_ends=True)},
)
def bedroc(ranking: Ranking, alpha: float) -> Any:
    """How early the positives come: a place counts exp(−alpha·place/n); with alpha 20, the top 8 % dominate.

    >>> round(bedroc([1, 0, 1, 0, 0, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1], alpha=20), 4)
    0.9304
    """
    pos, size = ranking.pos.astype(np.float64), ranking.pos.astype(np.float64) + ranking.neg
    n, n_pos = float(size.sum()), float(pos.sum())
    ends = np.append(0.0, np.cumsum(size))

    def worth(first: Any, last: Any) -> Any:
        """Mean worth of the places after ``first`` up to ``last``, best first, up to a constant."""
        return (np.exp(-alpha * first / n) - np.exp(-alpha * last / n)) / (last - first)

    if n_pos in (0.0, n):
        return np.float64(np.nan)
    best, worst = worth(0.0, n_pos) * n_pos, worth(n - n_pos, n) * n_pos
    return np.float64((worth(ends[:-1], ends[1:]) @ pos - worst) / (best - worst))


@documented
def ranking_measure(name: str, g: Callable[[Any], Any], *, title: str = "") -> OwnFunction:
    """Register your own Ranking score (Rosset section 2): the sum of g over the places of the positives.

    ``g`` is a non-decreasing, vectorised function of the places 1 … n, where 1 is the worst: the profit of a place,
    say. Returns the measure as a function and registers its name for ``measures=[…]``,
    comparisons and scorers. Registering a name again replaces your measure; names of the catalogue cannot be used.

    >>> import numpy as np
    >>> profit = ranking_measure("profit_of_place", np.sqrt)
    >>> round(profit([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1]), 4)
    3.4142
    """
    _check_g(g, "g")
    free_name(name)
    family: Measure = ranking_score.measure  # type: ignore[attr-defined]

    def compute(ranking: Ranking) -> Any:
        return family.compute(ranking, g)

    compute.__name__ = name
    one = replace(
        family,
        name=name,
        title=title or name,
        compute=compute,
        params={},
        checks={},
        summary="Ranking score with a g of your own.",
        own=True,
        remake=(declare_own, (ranking_measure, name, g, {"title": title})),
    )
    return OwnFunction(one)

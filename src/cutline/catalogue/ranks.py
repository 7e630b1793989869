"""Measures of a whole ranking. Each declares how it counts ties (``tie_rule``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from math import inf
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, show
from ..kernels import compiled
from ..ranking import Ranking
from ..reference import documented
from ..sweep import Sums
from ..validate import check_flag, check_function, check_number, check_whole
from .declare import BOTH, Measure, OwnFunction, check_number_but, check_prior, declare, declare_own, free_name, ratio

CHANCE_OF_PRECISION = "(H(n) + (n⁺ − 1)/(n − 1)·(n − H(n))) / n"  # of averages over the places of the positives


def gini_of(s: Sums) -> Any:
    """2·AUC − 1 from the difference of won and lost pairs, which does not cancel."""
    return ratio(s.margin, s.n_pos * s.n_neg)


# the AUC on another scale
_declare_of_pairs = partial(declare, part="pairs", tie_rule="expectation", needs=BOTH, stratified=True)
declare_of_auc = partial(_declare_of_pairs, interval="delong_t", paired_test="delong")


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
    declare, family="ranking", part="gaps", tie_rule="together", needs=BOTH, stratified=True, interval="best_cut"
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
    more = 0.0 if prior is None else ratio(s.n_pos, s.cases) - prior
    return ratio(s.margin, 2.0 * s.cases) + more * (s.cases + 1.0) / 2.0


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
def ranking_score(ranking: Ranking, g: Callable[[NDArray[Any]], ArrayLike]) -> Any:
    """Rosset's family: any non-decreasing g of the place, given as a vectorised function; ties take its mean.

    >>> import numpy as np
    >>> round(ranking_score([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1], g=np.log), 4)
    2.0794
    """
    if ranking.cases > 1e8:  # g may be any function, so that it is asked at every place
        problem = f"adds up to {ranking.cases:.3g} cases, and g is needed at every place"
        raise InputError("sample_weight", problem, "divide all weights by the same number")
    places = np.arange(1, int(np.ceil(ranking.cases * (1.0 - 1e-12))) + 1)
    try:
        with np.errstate(divide="ignore", invalid="ignore"):  # what is not finite raises an error below
            worth = np.asarray(g(places))
    except (TypeError, ValueError) as error:
        problem = f"fails on an array of places ({error})"
        raise InputError("g", problem, "compute with arrays: np.where in place of if, or np.vectorize(g)") from None
    if worth.dtype.kind not in "biuf":
        raise InputError("g", f"gives {show(worth)}", "return a number for each place")
    worth = worth.astype(np.float64)
    if worth.shape != places.shape:
        raise InputError("g", f"gives {worth.shape} values for {len(places)} places", "return one for each place")
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
    """How early the positives come: a place counts exp(−alpha·place/n); with alpha 20, the top 8% dominate.

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


def _roc_points(ranking: Ranking) -> tuple[Any, Any]:
    """FPR and TPR at every cut, from 0 to 1; nan where a class is missing."""
    both = (np.append(0.0, np.cumsum(side, dtype=np.float64)) for side in (ranking.neg, ranking.pos))
    false, found = (ratio(counts, counts[-1]) for counts in both)
    return false, found


_NO_PART: Any = {"problem": "which leaves no part of the ROC curve", "remedy": "it must lie between 0 and 1"}
_check_part = partial(check_number_but, **_NO_PART, low=0.0, high=1.0)


def partial_span(fpr: float | None, tpr: float | None) -> float:
    """Width of the part of the ROC square that a partial area reads."""
    if fpr is not None and tpr is not None:
        raise InputError("fpr", "and {tpr} are both given, but the area reads one of the axes", "leave one of them out")
    return 1.0 - tpr if tpr is not None else 0.1 if fpr is None else fpr


@declare(
    "Partial area under the ROC curve",
    "ranking",
    formula="area under the ROC curve for FPR up to fpr; or, with tpr, area of specificity for TPR from tpr on",
    latex=r"\int_0^{f} \mathrm{TPR}\; d\mathrm{FPR}",
    reference="McClish 1989; Robin et al. 2011 (pROC), with straight lines between the cuts",
    part="ranking",
    tie_rule="together",
    needs=BOTH,
    perfect=0.1,
    stratified=True,
    interval="partial_area",
    aliases=("pauc",),
    checks={
        "fpr": partial(_check_part, excluded=0.0),
        "tpr": partial(_check_part, excluded=1.0),
        "standardized": check_flag,
    },
)
def partial_auc(
    ranking: Ranking, fpr: float | None = None, tpr: float | None = None, standardized: bool = False
) -> Any:
    """Area of the part of the ROC curve that you can use: few false positives (``fpr``), or few misses (``tpr``).

    ``fpr=0.1`` (the default) reads FPR from 0 to 0.1; ``tpr=0.9`` reads TPR from 0.9 to 1 (pROC's focus on
    sensitivity). The area is at most as large as that part is wide. ``standardized`` brings it to McClish's scale,
    where 0.5 is the diagonal and 1 is perfect: with ``fpr`` this is scikit-learn's ``roc_auc_score(max_fpr=…)``.

    >>> partial_auc([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1], fpr=0.5)
    0.25
    >>> round(partial_auc([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1], fpr=0.5, standardized=True), 4)
    0.6667
    """
    span = partial_span(fpr, tpr)
    x, y = _roc_points(ranking)
    if not (x[-1] == 1.0 and y[-1] == 1.0):
        return np.float64(np.nan)
    if tpr is not None:  # the same list read from its end, with the classes exchanged
        x, y = 1.0 - y[::-1], 1.0 - x[::-1]
    inside = int(np.searchsorted(x, span, side="right"))
    x, y = np.append(x[:inside], span), np.append(y[:inside], np.interp(span, x, y))
    area = float(np.diff(x) @ (y[1:] + y[:-1])) / 2.0
    least = span * span / 2.0
    return np.float64(0.5 + 0.5 * (area - least) / (span - least) if standardized else area)


@declare(
    "Equal error rate",
    "ranking",
    better="lower",
    formula="FPR = FNR, where they are equal on the ROC curve with straight lines between the cuts",
    latex=r"\mathrm{FPR}(t) = 1 - \mathrm{TPR}(t)",
    reference="Martin et al. 1997 (detection error trade-off), with straight lines between the cuts",
    part="ranking",
    tie_rule="together",
    needs=BOTH,
    chance=0.5,
    stratified=True,
    aliases=("eer",),
)
def equal_error_rate(ranking: Ranking) -> Any:
    """The error rate at the threshold where positives and negatives are misclassified equally often.

    >>> equal_error_rate([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1])
    0.5
    """
    x, y = _roc_points(ranking)
    return np.float64(np.interp(1.0, x + y, x)) if x[-1] == 1.0 and y[-1] == 1.0 else np.float64(np.nan)


@declare(
    "H-measure",
    "ranking",
    formula="1 − ∫ L(c)·w(c) dc / ∫ L₀(c)·w(c) dc; L: least cost of any threshold, L₀: of the better trivial rule",
    latex=r"1 - \frac{\int L(c)\, w(c)\, d c}{\int L_0(c)\, w(c)\, d c}",
    reference="Hand 2009; Hand & Anagnostopoulos 2014 (Beta(1 + π₁, 1 + π₀))",
    part="ranking",
    tie_rule="together",
    needs=BOTH,
    caution="it reads the convex hull, which makes it too high on small samples: simulated 95% intervals contained the "
    "true value in 78 to 88% (94% with five distinct scores); differences between models are not affected",
    checks={"severity": partial(check_number, low=0.0, open_ends=True)},
)
def h_measure(ranking: Ranking, severity: float | None = None) -> Any:
    """Share of the cost of a trivial rule that the scores save, over a distribution of costs that no model chooses.

    A false positive costs c and a false negative 1 − c, with c drawn from Beta(1 + π₁, 1 + π₀), where π₁ is the share
    of positives. With ``severity``, from Beta(2, 1 + 1/severity): its mode is at that ratio of the two costs, as in the
    R package hmeasure, whose default is n⁺/n⁻.

    >>> round(h_measure([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1]), 4)
    0.5
    """
    from scipy.special import betainc

    n_pos, n_neg = float(ranking.n_pos), float(ranking.n_neg)
    if not n_pos or not n_neg:
        return np.float64(np.nan)
    zero = 0 * ranking.pos[0]
    false, found, used = compiled.hull_of_groups(ranking.pos, ranking.neg, zero, zero)
    share = n_pos / (n_pos + n_neg)
    a, b = (1.0 + share, 2.0 - share) if severity is None else (2.0, 1.0 + 1.0 / severity)

    def loss(false: Any, found: Any) -> float:
        """Cost of the best of these cuts, over all c: each is the best between the slopes of its two sides."""
        gained = np.diff(found)
        c = np.concatenate([[1.0], gained / (gained + np.diff(false)), [0.0]])
        of_false, of_missed = -np.diff(betainc(a + 1.0, b, c)) * a, -np.diff(betainc(a, b + 1.0, c)) * b
        return float(false @ of_false + (n_pos - found) @ of_missed)

    trivial = loss(np.array([0.0, n_neg]), np.array([0.0, n_pos]))
    return np.float64(max(0.0, 1.0 - loss(*(side[:used].astype(np.float64) for side in (false, found))) / trivial))


_LONGEST = 1e8  # cases; a table of what places are worth takes 8 bytes for each


@lru_cache(maxsize=2)
def _discounts(places: int) -> Any:
    """Σ 1/log₂(1 + place) up to each of 0 … ``places``."""
    return np.append(0.0, np.cumsum(1.0 / np.log2(np.arange(2.0, places + 2.0))))


_of_search = partial(
    declare, family="ranking", part="ranking", tie_rule="expectation", needs=("positives",), batch_mean=True
)


@_of_search(
    "Normalized discounted cumulative gain (nDCG)",
    formula="Σ 1/log₂(1 + place) over the positives (best place = 1; up to place k), as a share of the perfect list's",
    latex=r"\frac{\sum_{i=1}^{n^+} 1/\log_2(1 + r_i)}{\sum_{i=1}^{n^+} 1/\log_2(1 + i)}",
    reference="Järvelin & Kekäläinen 2002, binary relevance; ties as McSherry & Najork 2008",
    checks={"k": partial(check_whole, least=1)},
)
def ndcg(ranking: Ranking, k: int | None = None) -> Any:
    """How early the positives come: a place counts 1/log₂(1 + place). Write ``ndcg@10`` for the first ten places.

    With ``batch=`` (a batch is a query) it is the mean over the batches that have a positive. scikit-learn's
    ``ndcg_score`` gives the same, but counts queries without a positive as 0.

    >>> round(ndcg([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1]), 4)
    0.9197
    """
    size = ranking.pos.astype(np.float64) + ranking.neg
    ends, n_pos = np.append(0.0, np.cumsum(size)), float(ranking.n_pos)
    last = ends[-1] if k is None else min(float(k), ends[-1])
    if last > _LONGEST:
        problem = f"adds up to {last:.3g} cases, and every place has a worth of its own"
        raise InputError("sample_weight", problem, "divide all weights by the same number, or name a cut: ndcg@10")
    table = _discounts(2 ** int(np.ceil(np.log2(last + 1.0))))
    # a place that is shared between groups, because rows stand for parts of cases, is worth its share to each
    up_to = np.interp(np.minimum(ends, last), np.arange(len(table)), table)
    ideal = np.interp(min(n_pos, last), np.arange(len(table)), table)
    return ratio(np.float64(np.diff(up_to) / size @ ranking.pos), np.float64(ideal))


@_of_search(
    "Reciprocal rank",
    formula="1 / place of the first positive (best place = 1)",
    latex=r"\frac{1}{\min_i r_i}",
    reference="Voorhees 1999 (TREC-8)",
    aliases=("mrr", "mean_reciprocal_rank"),
    interval="percentile",
    caution="of one list it rests on a single place: the interval needs batches (queries) to rely on",
)
def reciprocal_rank(ranking: Ranking) -> Any:
    """How far down the first positive is. With ``batch=``, the mean over the batches that have a positive.

    >>> reciprocal_rank([0, 1, 1, 0], [0.9, 0.6, 0.5, 0.1])
    0.5
    """
    first = int(np.argmax(ranking.pos > 0))
    pos, neg = float(ranking.pos[first]), float(ranking.neg[first])
    if not pos:
        return np.float64(np.nan)
    before = float((ranking.pos[:first] + ranking.neg[:first]).sum())
    # within a tie j negatives come first with a chance of neg/size · (neg − 1)/(size − 1) ···; rows that stand for
    # parts of cases are taken as if they were whole ones, the last of them by its part
    whole = np.arange(min(np.ceil(neg), np.ceil(_NEGLIGIBLE * (pos + neg) / pos)))
    survives = np.cumprod(np.append(1.0, np.maximum(neg - whole, 0.0) / np.maximum(pos + neg - whole, pos)))
    return np.float64(-np.diff(np.append(survives, 0.0)) @ (1.0 / (before + np.arange(1.0, len(survives) + 1.0))))


WORTH_OF_PLACE: dict[str, Callable[..., Any]] = {  # of measures of the top, by place (best = 1) among n
    "ndcg": lambda place, n, k: (place <= k) / np.log2(1.0 + place),
    "bedroc": lambda place, n, alpha: np.exp(-alpha * place / n),
    "reciprocal_rank": lambda place, n: 1.0 * (place == 1.0),
}
_NEGLIGIBLE = 40.0  # e⁻⁴⁰: what is left of a chance after so many expected positives


@documented
def ranking_measure(name: str, g: Callable[[NDArray[Any]], ArrayLike], *, title: str = "") -> OwnFunction:
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

"""Measures of a matrix: of several classes, over the totals of a class matrix, and of embeddings.

A measure of two classes becomes one of several by a mean over them: ``macro(f1)``, ``micro(f1)``, ``weighted(f1)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial, wraps
from inspect import getdoc
from math import exp, inf, isclose, log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..class_sample import ClassSample, score_matrix_of
from ..errors import InputError
from ..sweep import Counts
from ..types import Floats
from ..validate import check_flag, check_whole, checked, one_of
from .compute import AREA_OF, ClassSums
from .declare import Measure, Spec, combinators, declare, parse_measure, publish, ratio
from .probability import CHECK_LOG, information_missing, log_losses

# The least probability in a logarithm: the spacing of floats at 1, where scikit-learn and yardstick clip too.
_LOG_EPS = 2.0**-52

_declare = partial(declare, family="classes")


def _declare_row_mean(title: str, **facts: Any) -> Callable[[Callable[..., Any]], Callable[..., float]]:
    """Declare a mean over rows: its function gives each row's own value."""
    return lambda function: _declare(title, row_value=function, **facts)(wraps(function)(lambda sums, **_: sums.mean))


@_declare(
    "Accuracy",
    reads="decisions",
    formula="Σ n_kk / n",
    latex=r"\frac1n\sum_k n_{kk}",
    reference="Berrar Def. 1, for any number of classes",
    interval="wilson",
    same_as="micro(f1)",
)
def accuracy(s: ClassSums) -> Any:
    """Share of cases whose predicted class is the real one.

    The predicted class is ``predicted``, or the class with the highest score; the first of several equal ones.
    """
    return ratio(np.sum(s.hits, axis=-1), s.total)


@_declare(
    "Error rate",
    reads="decisions",
    better="lower",
    formula="1 − Σ n_kk / n",
    latex=r"1 - \frac1n\sum_k n_{kk}",
    reference="Berrar Def. 2, for any number of classes",
    interval="wilson",
    same_as="1 − accuracy",
)
def error_rate(s: ClassSums) -> Any:
    """Share of cases whose predicted class is not the real one."""
    return 1.0 - ratio(np.sum(s.hits, axis=-1), s.total)


@_declare(
    "Balanced accuracy",
    reads="decisions",
    formula="mean over the classes of n_kk / n_k·",
    latex=r"\frac1K\sum_k \frac{n_{kk}}{n_{k\cdot}}",
    reference="Brodersen et al. (2010), for any number of classes",
    undefined="a class has no cases",
    interval="wilson_effective",
    mean="macro",
    mean_of=parse_measure("recall"),
    same_as="macro(recall)",
    chance="1/K",
)
def balanced_accuracy(s: ClassSums) -> Any:
    """Mean recall over the classes: every class counts the same, however rare."""
    return np.mean(ratio(s.hits, s.truth), axis=-1)


@_declare_row_mean(
    "Top-t accuracy",
    reads="scores",
    formula="share of cases whose real class is among the t with the highest scores",
    latex=r"\frac1n\sum_i I\{r_i \le t\}",
    reference="Russakovsky et al. (2015), top-5 accuracy",
    interval="wilson",
    checks={"t": partial(check_whole, least=1)},
    chance="t/K",
)
def top_t_accuracy(sample: ClassSample, t: int = 2) -> Any:
    """Share of cases whose real class is among the t highest; equal scores keep the order of the columns.

    >>> top_t_accuracy(["a", "b", "c"], [[0.6, 0.3, 0.1], [0.6, 0.3, 0.1], [0.6, 0.3, 0.1]], t=2)
    0.6666666666666666
    """
    assert sample.facts is not None
    return (sample.facts.place < t).astype(np.float64)


def _gap(sample: ClassSample, weights: str | None = None) -> Floats:
    if weights is None:
        return (~sample.right).astype(np.float64)
    gap = np.abs(sample.code - sample.predicted) / float(sample.n_classes - 1)
    return np.asarray(gap if weights == "linear" else gap * gap)


@_declare(
    "Cohen's kappa",
    reads="decisions",
    range=(-inf, 1.0),
    formula="1 − Σ v_kl n_kl / Σ v_kl n_k· n_·l / n; v = 1 off the diagonal, |k − l| or (k − l)² with weights",
    latex=r"1 - \frac{\sum_{kl} v_{kl} n_{kl}}{\sum_{kl} v_{kl} n_{k\cdot} n_{\cdot l}/n}",
    reference="Berrar Def. 24; with weights Cohen (1968)",
    undefined="every case is of one class and predicted as that class",
    interval="delta_z",
    row_value=_gap,
    checks={"weights": one_of(None, "linear", "quadratic")},
    chance="0",
)
def cohen_kappa(s: ClassSums, weights: str | None = None) -> Any:
    """Agreement corrected for chance; ``weights`` makes near misses between ordered classes count less."""
    n = s.total
    k = np.shape(s.truth)[-1]
    if weights is None:
        expected = n - ratio(np.sum(s.truth * s.answers, axis=-1), n)
    elif weights == "linear":  # Σ|k − l| aₖ bₗ from cumulative totals
        a, b = np.cumsum(s.truth, axis=-1), np.cumsum(s.answers, axis=-1)
        total = np.expand_dims(n, -1)
        expected = ratio(np.sum(a * (total - b) + b * (total - a), axis=-1), n) / (k - 1)
    else:
        place = np.arange(k, dtype=np.float64)
        first, second = ((s.truth * place**p).sum(axis=-1) for p in (1, 2))
        other, more = ((s.answers * place**p).sum(axis=-1) for p in (1, 2))
        expected = (second + more - 2.0 * ratio(first * other, n)) / (k - 1) ** 2
    return 1.0 - ratio(s.mean * n, expected)


@_declare(
    "Matthews correlation",
    reads="decisions",
    range=(-1.0, 1.0),
    formula="(n·Σ n_kk − Σ n_k· n_·k) / √((n² − Σ n_k·²)(n² − Σ n_·k²))",
    latex=r"\frac{n\sum_k n_{kk} - \sum_k n_{k\cdot}n_{\cdot k}}"
    r"{\sqrt{(n^2 - \sum_k n_{k\cdot}^2)(n^2 - \sum_k n_{\cdot k}^2)}}",
    reference="Gorodkin (2004); for two classes Berrar Def. 15",
    undefined="all cases are of one class, or all are predicted as one",
    interval="delta_z",
    chance="0",
)
def matthews_correlation(s: ClassSums) -> Any:
    """Correlation between real and predicted class, for any number of classes."""
    n = s.total
    above = n * np.sum(s.hits, axis=-1) - np.sum(s.truth * s.answers, axis=-1)
    spread = [n * n - np.sum(part * part, axis=-1) for part in (s.truth, s.answers)]
    return ratio(above, np.sqrt(spread[0]) * np.sqrt(spread[1]))


@_declare_row_mean(
    "Log loss",
    reads="probabilities",
    better="lower",
    range=(0.0, inf),
    formula="−(1/n) Σ log₂ p_iy, p_iy: probability of the real class, at least ε",
    latex=r"-\frac1n\sum_i \log_b p_{iy_i}",
    reference="Berrar Def. 20, for any number of classes (base 2: erratum B17)",
    interval="loss_score",
    case_loss=lambda p, base, eps: -np.log(np.maximum(p, eps)) / log(base),
    checks=CHECK_LOG,
    remark=lambda base, eps: "in bits" if base == 2 else "in nats" if isclose(base, exp(1)) else f"base {base:g}",
)
def log_loss(sample: ClassSample, base: float = 2, eps: float = _LOG_EPS) -> Any:
    """Mean negative log-likelihood of the real class, in bits."""
    assert sample.facts is not None
    return log_losses(sample.facts.true, eps, base)[0]


@_declare_row_mean(
    "Brier score",
    reads="probabilities",
    better="lower",
    range=(0.0, 2.0),
    formula="(1/n) Σᵢ Σₖ (p_ik − o_ik)²",
    latex=r"\frac1n\sum_i\sum_k (p_{ik} - o_{ik})^2",
    reference="Brier (1950); for two classes twice Berrar Def. 18",
    interval="loss_score",
    case_loss=lambda p, half: (1.0 + np.einsum("ij,ij->i", p, p)[:, None] - 2.0 * p) * (0.5 if half else 1.0),
    checks={"half": check_flag},
    remark=lambda half: f"{'half the sum' if half else 'sum'} over the classes",
)
def brier_score(sample: ClassSample, half: bool = False) -> Any:
    """Squared distance between the predicted distribution and the real class, summed over the classes."""
    assert sample.facts is not None
    return (1.0 - 2.0 * sample.facts.true + sample.facts.square) * (0.5 if half else 1.0)


def _ranked_losses(p: Floats) -> Any:
    """Σ (F − O)² over the classes, were each in turn the real one: O is 1 from it on, where F² is 1 − 2F + F² less."""
    share = np.cumsum(p, axis=1)
    from_class = np.cumsum((1.0 - 2.0 * share)[:, ::-1], axis=1)[:, ::-1]
    return (from_class + (share * share).sum(axis=1, keepdims=True)) / (p.shape[1] - 1)


@_declare_row_mean(
    "Ranked probability score",
    reads="probabilities",
    better="lower",
    formula="(1/n) Σᵢ (1/(K−1)) Σₖ (F_ik − O_ik)², F and O: cumulative predicted and observed shares",
    latex=r"\frac{1}{n(K-1)}\sum_i\sum_{k=1}^{K-1}\left(\sum_{l\le k} p_{il} - I\{y_i \le k\}\right)^2",
    reference="Berrar after Def. 18 (named there for ordered classes); Epstein (1969)",
    interval="loss_score",
    case_loss=_ranked_losses,
    ordered=True,
)
def ranked_probability_score(sample: ClassSample) -> Any:
    """Squared distance between cumulative distributions over ordered classes; ``classes`` gives their order.

    >>> ranked_probability_score(["win"], [[0.0, 1.0, 0.0]], classes=["win", "draw", "lose"])
    0.5
    """
    assert sample.facts is not None
    return sample.facts.cumulative / (sample.n_classes - 1)


def _entropy(s: ClassSums) -> Any:
    share = ratio(s.truth, np.expand_dims(s.total, -1))
    return -np.sum(share * np.log(np.where(share > 0.0, share, 1.0)), axis=-1)


@_declare(
    "Information score",
    reads="probabilities",
    range=(-inf, inf),
    formula="mean of log₂(q/π) where q ≥ π, else log₂((1−π)/(1−q)); q, π: predicted and sample share of the real class",
    latex=r"\frac1n\sum_i I(x_i),\quad I = \begin{cases}-\log_2\pi_{y_i} + \log_2 p_{iy_i} & p_{iy_i} \ge \pi_{y_i}\\"
    r" \log_2(1-\pi_{y_i}) - \log_2(1-p_{iy_i}) & p_{iy_i} < \pi_{y_i}\end{cases}",
    reference="Berrar Def. 23, for any number of classes; Kononenko & Bratko (1991)",
    undefined="all cases are of one class",
    interval="information",
    case_loss=information_missing,
    areas=("information",),
    perfect=None,
    remark=lambda: "in bits",
)
def information_score(s: ClassSums) -> Any:
    """Mean information, in bits, that the predictions add to the shares of the classes."""
    return np.where(_entropy(s) > 0.0, s.information / np.log(2.0), np.nan)


@_declare(
    "Relative information score",
    reads="probabilities",
    range=(-inf, 1.0),
    formula="information_score / entropy of the class shares",
    latex=r"\frac{\frac1n\sum_i I(x_i)}{-\sum_k \pi_k\log_2\pi_k}",
    reference="Berrar Def. 23, Eq. 25, for any number of classes",
    undefined="all cases are of one class",
    interval="information",
    case_loss=information_missing,
    areas=("information",),
)
def relative_information_score(s: ClassSums) -> Any:
    """Information score as a share of the entropy of the class shares."""
    entropy = _entropy(s)
    return ratio(np.where(entropy > 0.0, s.information, np.nan), entropy)


@_declare(
    "Hand–Till AUC",
    reads="scores",
    formula="mean over ordered pairs of classes of A(k|l), the AUC of column k between classes k and l",
    latex=r"\frac{1}{K(K-1)}\sum_{k\ne l} A(k\mid l)",
    reference="Hand & Till (2001)",
    undefined="a class has no cases",
    interval="delta_logit",
    by_class=True,
    areas=("pair_auc",),
    chance="½",
)
def hand_till_auc(s: ClassSums) -> Any:
    """Area under the ROC curve averaged over pairs of classes; it does not depend on the class shares.

    >>> hand_till_auc(["a", "b", "c"], [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])
    1.0
    """
    return np.mean(s.pair_auc, axis=-1)


@_declare(
    "Mean average precision",
    reads="scores",
    formula="mean of average_precision over the classes, each in turn the positive one",
    latex=r"\frac1K\sum_{k=1}^K \mathrm{AP}_k",
    reference="Berrar Def. 32 and after Def. 33 (macro mean over classes: erratum B31)",
    undefined="a class has no cases, hence no average precision",
    interval="delta_logit",
    mean="macro",
    mean_of=parse_measure("average_precision"),
    areas=("precision",),
    same_as="macro(average_precision)",
)
def mean_average_precision(s: ClassSums) -> Any:
    """Mean of the average precisions of all classes.

    >>> mean_average_precision(["a", "b", "b"], [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
    1.0
    """
    return np.mean(s.precision, axis=-1)


@_declare_row_mean(
    "Overconfidence",
    reads="probabilities",
    better="lower",
    range=(-1.0, 1.0),
    formula="mean probability of the predicted class − accuracy",
    latex=r"\frac1n\sum_i \left(p_{i\hat y_i} - I\{\hat y_i = y_i\}\right)",
    reference="calibration of the top class in the large; Guo et al. (2017) by bins",
    interval="delta",
    perfect=0.0,
)
def overconfidence(sample: ClassSample) -> Any:
    """Mean confidence in the predicted class minus accuracy; negative values mean underconfidence."""
    return sample.confidence - sample.right


@_declare(
    "Area under the risk–coverage curve",
    reads="scores",
    better="lower",
    formula="(1/n) Σⱼ error rate among the j most confident predictions",
    latex=r"\frac1n\sum_{j=1}^n e_j",
    reference="Geifman, Uziel & El-Yaniv (2019); equal confidences share their errors (Arbel & Rokach Eq. 5)",
    interval="delta_log",
    areas=("risk",),
    chance="error_rate",
)
def risk_coverage_area(s: ClassSums) -> Any:
    """Mean error rate when only the most confident cases are answered, over all numbers of cases answered.

    >>> round(risk_coverage_area(["a", "b"], [[0.9, 0.1], [0.6, 0.4]]), 9)
    0.25
    """
    return s.risk


_ONE_NUMBER = {
    "macro(recall)": "balanced_accuracy",
    "weighted(recall)": "accuracy",
    "micro(precision)": "accuracy",
    "micro(recall)": "accuracy",
    "micro(f1)": "accuracy",
    "macro(average_precision)": "mean_average_precision",
}


def _declare_mean(title: str, **facts: Any) -> Callable[[Callable[..., Any]], Callable[[Spec], Measure]]:
    """Declare a mean over the classes: its function gives the mean from the totals and a measure of two classes."""

    def declared(function: Callable[..., Any]) -> Callable[[Spec], Measure]:
        name: Any = function.__name__
        of_all: Any = {"reads": "decisions", "part": "columns", "interval": "wilson_effective", "perfect": None}
        of_all |= {"name": name, "mean": name, "compute": function, "summary": getdoc(function) or ""}
        mean = Measure(title, "classes", **of_all, **facts)
        publish(mean)

        @cache
        @wraps(function)
        def combine(inner: Spec) -> Measure:
            one, text = inner.measure, f"{name}({inner})"
            areas = (AREA_OF[one.name],) if one.name in AREA_OF else ()
            averaged = name != "micro" and inner.ties == "expected" if areas else one.family == "threshold"
            if not averaged or (not areas and (inner.threshold is not None or one.extensive)):
                others = "" if name == "micro" else f", and {', '.join(AREA_OF)}"
                fits = f"measures of decisions such as precision, recall, f1{others}"
                problem = f"asks for the {name} mean of {inner}"
                raise InputError("measure", problem, f"means over classes exist for {fits}")
            scale = {(0.0, 1.0): "wilson_effective", (-1.0, 1.0): "delta_z"}.get(one.range, "delta")
            own: Any = {"name": text, "title": f"{title} of {one.title}", "same_as": _ONE_NUMBER.get(text, "")}
            own |= {"reads": "scores", "interval": "delta_logit"} if areas else {"interval": scale}
            own |= {"better": one.better, "range": one.range, "areas": areas, "mean_of": inner}
            own |= {"compute": partial(function, inner=inner), "remake": (combine, (inner,))}
            return replace(mean, perfect=one.perfect if isinstance(one.perfect, float) else None, **own)

        combinators[name] = combine
        return combine

    return declared


@_declare_mean(
    "Macro mean",
    formula="mean over the classes of a binary measure, each class in turn the positive one",
    latex=r"\frac1K\sum_k m_k",
    reference="Sokolova & Lapalme (2009)",
    undefined="the measure is undefined for a class",
)
def macro(s: ClassSums, inner: Spec) -> Any:
    """Mean over the classes with equal weights: ``macro(f1)``, ``macro(roc_auc)``."""
    return np.mean(s.of_each(inner), axis=-1)


@_declare_mean(
    "Weighted mean",
    formula="mean over the classes of a binary measure, each class counting as many cases as it has",
    latex=r"\sum_k \frac{n_{k\cdot}}{n} m_k",
    reference="Sokolova & Lapalme (2009); scikit-learn's average='weighted'",
    undefined="the measure is undefined for a class that has cases",
)
def weighted(s: ClassSums, inner: Spec) -> Any:
    """Mean over the classes, weighted by their cases: ``weighted(f1)``, ``weighted(roc_auc)``."""
    values = np.where(s.truth > 0.0, s.of_each(inner), 0.0)
    return ratio(np.sum(s.truth * values, axis=-1), s.total)


@_declare_mean(
    "Micro mean",
    formula="a binary measure of the four cells summed over the classes",
    latex=r"m\left(\sum_k TP_k, \sum_k FP_k, \sum_k FN_k, \sum_k TN_k\right)",
    reference="Sokolova & Lapalme (2009)",
    undefined="the measure is undefined for the summed cells",
)
def micro(s: ClassSums, inner: Spec) -> Any:
    """A measure of the summed cells of all classes; precision, recall and F1 all equal the accuracy."""
    cells = s.cells
    summed = Counts(*(np.sum(part, axis=-1) for part in (cells.tp, cells.fp, cells.fn, cells.tn)))
    return inner.measure.compute(summed, **inner.arguments)


def default_class_specs(sample: ClassSample, *, ordered: bool) -> list[Spec]:
    """What is evaluated unasked: every measure that the sample supports, each number once."""
    names = ["accuracy", "balanced_accuracy", "macro(precision)", "macro(f1)", "weighted(precision)", "weighted(f1)"]
    names += ["cohen_kappa", "matthews_correlation"]
    if ordered:
        names += ["cohen_kappa(weights='linear')", "cohen_kappa(weights='quadratic')"]
    if sample.matrix is not None:
        names += [f"top_t_accuracy(t={t})" for t in (2, 5) if 2 * t <= sample.n_classes]
        names += ["hand_till_auc", "macro(roc_auc)", "weighted(roc_auc)", "mean_average_precision"]
        names += [
            "risk_coverage_area",
            "log_loss",
            "brier_score",
            "information_score",
            "relative_information_score",
            "overconfidence",
        ]
        if ordered:
            names.append("ranked_probability_score")
    return [parse_measure(name, several=True) for name in names]


@declare(
    "Triplet loss",
    "other",
    better="lower",
    range=(0.0, inf),
    formula="Σ max(0, ‖a − p‖² − ‖a − n‖² + margin) over the triplets",
    latex=r"\sum_{i=1}^N \max\{0, \|f(x_i^a) - f(x_i^p)\|^2 - \|f(x_i^a) - f(x_i^n)\|^2 + \mathrm{margin}\}",
    reference="Berrar Def. 34, Eq. 42 (N counts triplets: erratum B19)",
)
@checked
def triplet_loss(
    anchor: ArrayLike, positive: ArrayLike, negative: ArrayLike, *, margin: float, normalize: bool = False
) -> float:
    """Sum over triplets of the amount by which the negative is not farther away than the positive plus a margin.

    Embeddings must be of length 1 (Def. 34); ``normalize=True`` scales them.

    >>> triplet_loss([[1.0, 0.0]], [[1.0, 0.0]], [[0.0, 1.0]], margin=0.5)
    0.0
    """
    tables = {"anchor": anchor, "positive": positive, "negative": negative}
    embeddings = []
    for argument, values in tables.items():
        table = score_matrix_of(values, argument).astype(np.float64)
        if not np.isfinite(table).all():
            row = int(np.argwhere(~np.isfinite(table))[0][0])
            raise InputError(argument, "is not finite", "pass finite numbers", row=row)
        length = np.sqrt((table**2).sum(axis=1))
        off = np.abs(length - 1.0) > 1e-6
        if normalize and length.all():
            table = table / length[:, None]
        elif off.any():
            row = int(np.argmax(off))
            problem = f"has length {length[row]:.6g}, not 1"
            raise InputError(argument, problem, "scale the rows with {normalize=True}", row=row)
        embeddings.append(table)
    a, p, n = embeddings
    if not a.shape == p.shape == n.shape:
        shapes = f"has shape {a.shape}, but positive and negative have {p.shape} and {n.shape}"
        raise InputError("anchor", shapes, "pass one row of the same length for each triplet")
    gap = ((a - p) ** 2).sum(axis=1) - ((a - n) ** 2).sum(axis=1) + margin
    return float(np.maximum(gap, 0.0).sum())

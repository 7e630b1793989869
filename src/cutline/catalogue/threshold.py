"""Measures at one threshold: algebra on the four cells. Predicted positive means score > threshold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any, Literal

import numpy as np

from ..errors import InputError, show
from ..reference import documented
from ..sweep import Counts
from ..validate import check_function, check_number, one_of
from .declare import BOTH, Measure, OwnFunction, check_prior, declare, declare_own, declare_share, free_name, ratio

_declare, _declare_share = (partial(kind, family="threshold") for kind in (declare, declare_share))


@_declare_share(
    "Accuracy",
    formula="(TP + TN) / n",
    latex=r"\frac{TP + TN}{TP + FP + FN + TN}",
    reference="Berrar Def. 1, Eq. 1",
    paired_test="decisions",
    aliases=("acc",),
)
def accuracy(c: Counts) -> Any:
    """Share of cases that are classified correctly.

    >>> accuracy([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    0.5
    """
    return c.tp + c.tn, c.tp + c.fp + c.fn + c.tn


@_declare_share(
    "Error rate",
    better="lower",
    formula="(FP + FN) / n",
    latex=r"\frac{FP + FN}{TP + FP + FN + TN}",
    reference="Berrar Def. 2, Eq. 2",
    same_as="1 − accuracy",
    paired_test="decisions",
)
def error_rate(c: Counts) -> Any:
    """Share of cases that are classified wrongly.

    >>> error_rate([1, 1, 0, 0, 0], [0.9, 0.4, 0.6, 0.1, 0.2])
    0.4
    """
    return c.fp + c.fn, c.tp + c.fp + c.fn + c.tn


@_declare(
    "0-1 loss",
    better="lower",
    range=(0.0, inf),
    formula="FP + FN",
    latex=r"FP + FN",
    reference="Berrar section 1 (a count, where the error rate is a share: erratum B20)",
    same_as="n · error_rate",
    extensive=True,
    interval="wilson",
    proportion=lambda c: (c.fp + c.fn, c.tp + c.fp + c.fn + c.tn),
    scale=lambda c: c.tp + c.fp + c.fn + c.tn,
    paired_test="decisions",
)
def zero_one_loss(c: Counts) -> Any:
    """Number (or weight) of wrongly classified cases.

    >>> zero_one_loss([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    2.0
    """
    return np.add(c.fp, c.fn)


@_declare_share(
    "Recall",
    formula="TP / (TP + FN)",
    latex=r"\frac{TP}{TP + FN}",
    reference="Berrar Def. 3, Eq. 3; Arbel & Rokach Eq. 3",
    aliases=("sensitivity", "true_positive_rate", "tpr"),
    needs=("positives",),
)
def recall(c: Counts) -> Any:
    """Share of the positives that are found.

    >>> recall([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    0.5
    """
    return c.tp, c.tp + c.fn


@_declare_share(
    "Specificity",
    formula="TN / (FP + TN)",
    latex=r"\frac{TN}{FP + TN}",
    reference="Berrar Def. 4, Eq. 4",
    aliases=("true_negative_rate", "tnr"),
    needs=("negatives",),
)
def specificity(c: Counts) -> Any:
    """Share of the negatives that are left out.

    >>> specificity([1, 0, 0, 0, 0], [0.9, 0.8, 0.3, 0.2, 0.1])
    0.75
    """
    return c.tn, c.fp + c.tn


@_declare_share(
    "Precision",
    formula="TP / (TP + FP)",
    latex=r"\frac{TP}{TP + FP}",
    reference="Berrar Def. 5, Eq. 5; Arbel & Rokach Eq. 2",
    aliases=("positive_predictive_value", "ppv"),
    chance="n⁺/n",
    needs=("taken",),
)
def precision(c: Counts) -> Any:
    """Share of the predicted positives that are positive.

    >>> precision([1, 1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.1])
    0.5
    """
    return c.tp, c.tp + c.fp


@_declare_share(
    "Negative predictive value",
    formula="TN / (TN + FN)",
    latex=r"\frac{TN}{TN + FN}",
    reference="Berrar Def. 6, Eq. 6",
    chance="n⁻/n",
    needs=("left",),
    aliases=("npv",),
)
def negative_predictive_value(c: Counts) -> Any:
    """Share of the predicted negatives that are negative.

    >>> negative_predictive_value([1, 0, 0, 0, 1], [0.9, 0.3, 0.2, 0.1, 0.4])
    0.75
    """
    return c.tn, c.tn + c.fn


@_declare_share(
    "False discovery rate",
    better="lower",
    formula="FP / (FP + TP)",
    latex=r"\frac{FP}{FP + TP}",
    reference="Berrar Def. 7, Eq. 7",
    same_as="1 − precision",
    chance="n⁻/n",
    needs=("taken",),
    aliases=("fdr",),
)
def false_discovery_rate(c: Counts) -> Any:
    """Share of the predicted positives that are negative.

    >>> false_discovery_rate([1, 1, 1, 0], [0.9, 0.8, 0.7, 0.6])
    0.25
    """
    return c.fp, c.tp + c.fp


@_declare_share(
    "False positive rate",
    better="lower",
    formula="FP / (FP + TN)",
    latex=r"\frac{FP}{FP + TN}",
    reference="Berrar Def. 27 (x-axis of the ROC curve)",
    same_as="1 − specificity",
    needs=("negatives",),
    aliases=("fpr", "fall_out"),
)
def false_positive_rate(c: Counts) -> Any:
    """Share of the negatives that are predicted positive (type I errors as a rate).

    >>> false_positive_rate([1, 0, 0, 0, 0], [0.9, 0.8, 0.3, 0.2, 0.1])
    0.25
    """
    return c.fp, c.fp + c.tn


@_declare_share(
    "False negative rate",
    better="lower",
    formula="FN / (TP + FN)",
    latex=r"\frac{FN}{TP + FN}",
    reference="Berrar Fig. 3 (type II errors as a rate)",
    same_as="1 − recall",
    needs=("positives",),
    aliases=("fnr", "miss_rate"),
)
def false_negative_rate(c: Counts) -> Any:
    """Share of the positives that are missed.

    >>> false_negative_rate([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    0.5
    """
    return c.fn, c.tp + c.fn


@_declare(
    "Youden index",
    range=(-1.0, 1.0),
    formula="recall + specificity − 1",
    latex=r"\frac{TP}{TP + FN} + \frac{TN}{FP + TN} - 1",
    reference="Berrar Def. 8, Eq. 8",
    chance=0.0,
    needs=BOTH,
    interval="newcombe_difference",
    aliases=("youden", "informedness"),
)
def youden_index(c: Counts) -> Any:
    """How far the point of this threshold lies above the diagonal of the ROC plot.

    >>> youden_index([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.6, 0.1, 0.2, 0.3])
    0.25
    """
    return ratio(c.tp, c.tp + c.fn) - ratio(c.fp, c.fp + c.tn)


@_declare(
    "Positive likelihood ratio",
    range=(0.0, inf),
    formula="recall / (1 − specificity)",
    latex=r"\frac{TP / (TP + FN)}{FP / (FP + TN)}",
    reference="Berrar Def. 9, Eq. 9",
    undefined="a class is missing, or nothing is predicted positive; inf if no negative is predicted positive",
    needs=(*BOTH, "taken"),
    interval="ratio_of_rates",
    aliases=("lr_plus",),
)
def positive_likelihood_ratio(c: Counts) -> Any:
    """How much more often positives are predicted positive than negatives: recall / false positive rate.

    >>> positive_likelihood_ratio([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.6, 0.1, 0.2, 0.3])
    2.0
    """
    return ratio(ratio(c.tp, c.tp + c.fn), ratio(c.fp, c.fp + c.tn))


@_declare(
    "Negative likelihood ratio",
    better="lower",
    range=(0.0, inf),
    formula="(1 − recall) / specificity",
    latex=r"\frac{FN / (TP + FN)}{TN / (FP + TN)}",
    reference="Berrar Def. 10, Eq. 10",
    undefined="a class is missing, or nothing is predicted negative; inf if no negative is predicted negative",
    needs=(*BOTH, "left"),
    interval="ratio_of_rates",
    aliases=("lr_minus",),
)
def negative_likelihood_ratio(c: Counts) -> Any:
    """How much more often positives are predicted negative than negatives: false negative rate / specificity.

    >>> negative_likelihood_ratio([1, 1, 0, 0], [0.9, 0.4, 0.3, 0.1])
    0.5
    """
    return ratio(ratio(c.fn, c.tp + c.fn), ratio(c.tn, c.fp + c.tn))


@_declare(
    "Balanced accuracy",
    formula="(recall + specificity) / 2",
    latex=r"\frac12\left(\frac{TP}{TP + FN} + \frac{TN}{FP + TN}\right)",
    reference="Berrar Def. 11, Eq. 11",
    same_as="(youden_index + 1) / 2",
    chance=0.5,
    needs=BOTH,
    interval="newcombe_difference",
    aliases=("bacc",),
)
def balanced_accuracy(c: Counts) -> Any:
    """Mean of recall and specificity: accuracy as if both classes were equally frequent.

    >>> balanced_accuracy([1, 1, 0, 0], [0.9, 0.4, 0.3, 0.1])
    0.75
    """
    return (ratio(c.tp, c.tp + c.fn) + ratio(c.tn, c.fp + c.tn)) / 2.0


@_declare(
    "F1",
    formula="2·TP / (2·TP + FN + FP)",
    latex=r"\frac{2\,TP}{2\,TP + FN + FP}",
    reference="Berrar Def. 12, Eq. 12",
    undefined="there are no positive cases and nothing is predicted positive",
    aliases=("f_measure", "f1_score", "f_score"),
    interval="wilson_f",
)
def f1(c: Counts) -> Any:
    """Harmonic mean of precision and recall.

    >>> f1([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    0.5
    """
    # the count form: the continuous extension of the harmonic mean to TP = 0, where Eq. 12 reads 0/0
    return ratio(2.0 * c.tp, 2.0 * c.tp + c.fn + c.fp)


@_declare(
    "F-beta",
    formula="(1+β²)·TP / ((1+β²)·TP + β²·FN + FP)",
    latex=r"\frac{(1+\beta^2)\,TP}{(1+\beta^2)\,TP + \beta^2 FN + FP}",
    reference="Berrar Def. 13, Eq. 13",
    undefined="there are no positive cases and nothing is predicted positive",
    checks={"beta": partial(check_number, low=0.0, open_ends=True)},
    aliases=("fbeta",),
)
def f_beta(c: Counts, beta: float) -> Any:
    """Weighted harmonic mean of precision and recall; recall has β² times the weight of precision.

    >>> round(f_beta([1, 1, 1, 0], [0.9, 0.8, 0.4, 0.1], beta=2), 4)
    0.7143
    """
    weight = float(beta) * float(beta)
    return ratio((1.0 + weight) * c.tp, (1.0 + weight) * c.tp + weight * c.fn + c.fp)


@_declare(
    "G-measure",
    formula="√(precision · recall)",
    latex=r"\sqrt{\frac{TP}{TP + FP}\cdot\frac{TP}{TP + FN}}",
    reference="Berrar Def. 14, Eq. 14",
    needs=("positives", "taken"),
)
def g_measure(c: Counts) -> Any:
    """Geometric mean of precision and recall.

    >>> g_measure([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    0.5
    """
    with np.errstate(invalid="ignore"):
        return np.sqrt(ratio(c.tp, c.tp + c.fp) * ratio(c.tp, c.tp + c.fn))


@_declare(
    "Matthews correlation",
    range=(-1.0, 1.0),
    formula="(TP·TN − FP·FN) / √((TP+FN)(TP+FP)(TN+FP)(TN+FN))",
    latex=r"\frac{TP\cdot TN - FP\cdot FN}{\sqrt{(TP+FN)(TP+FP)(TN+FP)(TN+FN)}}",
    reference="Berrar Def. 15, Eq. 15 (any empty margin gives 0/0: erratum B8)",
    undefined="a class is missing, or all predictions are the same",
    chance=0.0,
    needs=(*BOTH, "taken", "left"),
    interval="delta_z",
    aliases=("mcc", "phi"),
)
def matthews_correlation(c: Counts) -> Any:
    """Correlation between predicted and real classes.

    >>> matthews_correlation([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    0.0
    """
    n = c.tp + c.fp + c.fn + c.tn
    # shares first: the product of four counts overflows exactness, that of four shares does not
    margins = [ratio(m, n) for m in (c.tp + c.fn, c.tp + c.fp, c.tn + c.fp, c.tn + c.fn)]
    with np.errstate(invalid="ignore"):
        below = np.sqrt(margins[0] * margins[2]) * np.sqrt(margins[1] * margins[3])
    return np.clip(ratio(ratio(c.tp, n) * ratio(c.tn, n) - ratio(c.fp, n) * ratio(c.fn, n), below), -1.0, 1.0)


@_declare(
    "Cohen's kappa",
    range=(-1.0, 1.0),
    formula="(P₀ − Pₑ) / (1 − Pₑ),  P₀ = accuracy, Pₑ = chance agreement",
    latex=r"\frac{P_0 - P_e}{1 - P_e}",
    reference="Berrar Def. 24, Eq. 26–27 (the example prints Pₑ for κ: erratum B1)",
    undefined="all cases and all predictions belong to the same class",
    chance=0.0,
    interval="delta_z",
    aliases=("kappa",),
)
def cohen_kappa(c: Counts) -> Any:
    """Agreement of predicted and real classes, corrected for chance.

    >>> round(cohen_kappa([1, 1, 0, 0], [0.9, 0.4, 0.3, 0.1]), 3)
    0.5
    """
    chance_errors = (c.tp + c.fp) * (c.fp + c.tn) + (c.fn + c.tn) * (c.tp + c.fn)
    return 1.0 - ratio((c.tp + c.fp + c.fn + c.tn) * (c.fp + c.fn), chance_errors)


@_declare(
    "Lift",
    range=(0.0, inf),
    formula="precision / prior",
    latex=r"\frac{TP / (TP + FP)}{P(y = 1)}",
    reference="Berrar Def. 16, Eq. 16 (cumulative lift; Arbel & Rokach's lift by portions is lift_table: erratum A14)",
    checks={"prior": check_prior},
    perfect="n/n⁺",
    chance=1.0,
    needs=("positives", "taken"),
)
def lift(c: Counts, prior: float | None = None) -> Any:
    """Positives among the predicted positives, relative to a random choice of the same size.

    >>> lift([1, 1, 0, 0], [0.9, 0.6, 0.2, 0.1])
    2.0
    """
    share = ratio(c.tp + c.fn, c.tp + c.fp + c.fn + c.tn) if prior is None else prior
    return ratio(ratio(c.tp, c.tp + c.fp), share)


@_declare(
    "Gain",
    range=(-inf, inf),
    formula="TP − prior·(TP + FP)",
    latex=r"TP - P(y = 1)\,(TP + FP)",
    reference="Berrar Def. 16 and Def. 25, Eq. 28",
    extensive=True,
    checks={"prior": check_prior},
    perfect="n⁺·n⁻/n",
    chance=0.0,
)
def gain(c: Counts, prior: float | None = None) -> Any:
    """True positives beyond those expected by chance.

    >>> gain([1, 1, 0, 0], [0.9, 0.6, 0.2, 0.1])
    1.0
    """
    if prior is None:
        return ratio(c.tp * c.tn - c.fp * c.fn, c.tp + c.fp + c.fn + c.tn)
    return c.tp - prior * (c.tp + c.fp)


@documented
def count_measure(
    name: str,
    f: Callable[[Counts], Any],
    *,
    title: str = "",
    better: Literal["higher", "lower"] = "higher",
    at: Literal["threshold", "quota"] = "threshold",
) -> OwnFunction:
    """Register your own measure of the four cells at a cut: ``f`` gets them as ``c.tp``, ``c.fp``, ``c.fn``, ``c.tn``.

    Returns the measure as a function and registers its name for ``measures=[…]``, comparisons, scorers, streams and
    pages, with a bootstrap interval. Cells may be weights, and not whole where a quota falls inside a tie. ``f`` also
    gets arrays of cells, one for each replicate; if it cannot take them it is called for each of them. Registering a
    name again replaces your measure; names of the catalogue cannot be used.

    >>> critical_success = count_measure("critical_success", lambda c: c.tp / (c.tp + c.fp + c.fn))
    >>> critical_success([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    0.3333333333333333
    """
    check_function(f, "f", "one argument", "pass a function of the cells c.tp, c.fp, c.fn, c.tn")
    one_of("higher", "lower")(better, "better")
    one_of("threshold", "quota")(at, "at")
    trial = f(Counts(*map(np.float64, (3, 1, 2, 4))))  # any cells, none of them empty
    if np.ndim(trial) or np.asarray(trial).dtype.kind not in "biuf":
        raise InputError("f", f"gives {show(trial)}", "return one number")
    free_name(name)

    def compute(c: Counts) -> Any:
        shape = np.shape(c.tp)
        with np.errstate(all="ignore"):  # 0/0 is nan
            try:
                values = np.asarray(f(c), dtype=np.float64)
            except (TypeError, ValueError):
                values = None
            if values is None or values.shape not in ((), shape):
                rows = zip(*(np.ravel(side) for side in (c.tp, c.fp, c.fn, c.tn)), strict=True)
                values = np.array([f(Counts(*row)) for row in rows], dtype=np.float64).reshape(shape)
        return np.broadcast_to(values, shape)[()]

    compute.__name__ = name
    facts: dict[str, Any] = {"range": (-inf, inf), "undefined": "your function gives nan", "perfect": None, "own": True}
    facts |= {"formula": "your function of TP, FP, FN and TN", "latex": r"f(TP, FP, FN, TN)", "reference": "your own"}
    facts |= {"summary": "A measure of your own, of the four cells at a cut.", "rank_based": at == "quota"}
    remake = (declare_own, (count_measure, name, f, {"title": title, "better": better, "at": at}))
    return OwnFunction(Measure(title or name, at, name=name, better=better, compute=compute, remake=remake, **facts))

"""Closed-form intervals for measures of the four cells at a threshold or quota."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..catalogue.declare import Measure
from ..estimate import Interval
from ..sweep import Counts
from .proportions import METHODS, wilson, z_of

# Each proportion with its own denominator: (successes, trials).
PROPORTIONS: dict[str, Callable[[Counts], tuple[float, float]]] = {
    "accuracy": lambda c: (c.tp + c.tn, c.tp + c.fp + c.fn + c.tn),
    "error_rate": lambda c: (c.fp + c.fn, c.tp + c.fp + c.fn + c.tn),
    "recall": lambda c: (c.tp, c.tp + c.fn),
    "false_negative_rate": lambda c: (c.fn, c.tp + c.fn),
    "specificity": lambda c: (c.tn, c.fp + c.tn),
    "false_positive_rate": lambda c: (c.fp, c.fp + c.tn),
    "precision": lambda c: (c.tp, c.tp + c.fp),
    "false_discovery_rate": lambda c: (c.fp, c.tp + c.fp),
    "negative_predictive_value": lambda c: (c.tn, c.tn + c.fn),
    "hit_rate": lambda c: (c.tp, c.tp + c.fp),
    "qrecall": lambda c: (c.tp, c.tp + c.fn),
}


def proportion(name: str, c: Counts, level: float, method: str) -> Interval:
    """Interval of one of the proportions; the 0-1 loss is the error rate times n."""
    if name == "zero_one_loss":
        r, n = PROPORTIONS["error_rate"](c)
        low, high = METHODS[method](r, n, level)
        return Interval(n * low, n * high)
    return METHODS[method](*PROPORTIONS[name](c), level)


def youden(c: Counts, level: float) -> Interval:
    """Difference of two independent proportions, from their Wilson intervals (Newcombe 1998, method 10)."""
    p, q = c.tp / (c.tp + c.fn), c.fp / (c.fp + c.tn)
    l1, u1 = wilson(c.tp, c.tp + c.fn, level)
    l2, u2 = wilson(c.fp, c.fp + c.tn, level)
    return Interval(p - q - math.hypot(p - l1, u2 - q), p - q + math.hypot(u1 - p, q - l2))


def balanced_accuracy(c: Counts, level: float) -> Interval:
    """(J + 1)/2 of the Youden index's interval."""
    low, high = youden(c, level)
    return Interval((low + 1.0) / 2.0, (high + 1.0) / 2.0)


def _likelihood_ratio(hits: float, n_pos: float, false: float, n_neg: float, level: float) -> Interval:
    """Log method (Simel et al. 1991); where a cell is empty, half a case is added to each (and the open end kept)."""
    empty = hits == 0 or false == 0
    a, b, n, m = (hits + 0.5, false + 0.5, n_pos + 1.0, n_neg + 1.0) if empty else (hits, false, n_pos, n_neg)
    middle = math.log(a / n / (b / m))
    half = z_of(level) * math.sqrt(max(0.0, 1 / a - 1 / n + 1 / b - 1 / m))
    low = 0.0 if hits == 0 else math.exp(middle - half)
    return Interval(low, math.inf if false == 0 else math.exp(middle + half))


def positive_likelihood_ratio(c: Counts, level: float) -> Interval:
    """LR+ = TPR / FPR."""
    return _likelihood_ratio(c.tp, c.tp + c.fn, c.fp, c.fp + c.tn, level)


def negative_likelihood_ratio(c: Counts, level: float) -> Interval:
    """LR− = FNR / TNR."""
    return _likelihood_ratio(c.fn, c.tp + c.fn, c.tn, c.fp + c.tn, level)


def f1(c: Counts, level: float) -> Interval:
    """Wilson interval of F* = TP/(TP+FP+FN), carried over by F1 = 2F*/(1+F*) (Flores, Schlachter & Kvam 2022)."""
    low, high = wilson(c.tp, c.tp + c.fp + c.fn, level)
    return Interval(2 * low / (1 + low), 2 * high / (1 + high))


def _delta_error(measure: Measure, c: Counts) -> float:
    """Standard error of a smooth function of multinomial cells, by the delta method."""
    cells = np.array([c.tp, c.fp, c.fn, c.tn], dtype=np.float64)
    n = cells.sum()
    share = cells / n
    slope = np.empty(4)
    for k in range(4):
        step = np.zeros(4)
        step[k] = 1e-6
        up, down = measure.compute(Counts(*(share + step))), measure.compute(Counts(*(share - step)))
        slope[k] = (up - down) / 2e-6
    return math.sqrt(max(0.0, float(share @ slope**2 - (share @ slope) ** 2)) / n)


def fisher_z(measure: Measure, value: float, c: Counts, level: float) -> Interval:
    """Delta method on the scale of atanh, which keeps a correlation inside (−1, 1) (for MCC: Itaya et al. 2024)."""
    whole = abs(value) >= 1.0
    if whole:  # no spread to be seen: half a case more in every cell shows what may have been missed
        c = Counts(c.tp + 0.5, c.fp + 0.5, c.fn + 0.5, c.tn + 0.5)
    middle = math.atanh(float(measure.compute(c)) if whole else value)
    half = z_of(level) * _delta_error(measure, c) / (1.0 - math.tanh(middle) ** 2)
    low, high = math.tanh(middle - half), math.tanh(middle + half)
    return Interval(-1.0 if value <= -1.0 else low, 1.0 if value >= 1.0 else high)


CLOSED: dict[str, tuple[str, Callable[[Counts, float], Interval]]] = {
    "youden_index": ("newcombe_difference", youden),
    "balanced_accuracy": ("newcombe_difference", balanced_accuracy),
    "positive_likelihood_ratio": ("log", positive_likelihood_ratio),
    "negative_likelihood_ratio": ("log", negative_likelihood_ratio),
    "f1": ("wilson_f", f1),
}
CORRELATIONS = ("matthews_correlation", "cohen_kappa")

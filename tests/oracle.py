"""Every measure straight from its definition: slow, plain and exact.

Nothing here is shared with the library. Counts, weights and positions are fractions, so the only rounding is
in the last step (and in logarithms and roots). A case of weight zero is no case, so it is dropped first.
``nan`` stands for 0/0, ``inf`` for a/0 with a > 0, and `Refused` for input the definition cannot take.

References: B = Berrar, Performance Measures for Binary Classification; A = Arbel & Rokach, Classifier
Evaluation under Limited Resources; R = Rosset, Ranking.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

NAN = float("nan")
INF = float("inf")
EPS = 1e-5  # the least probability of a logarithm


class Refused(Exception):
    """The definition cannot take this input: the library must raise its InputError."""


@dataclass(frozen=True)
class Data:
    """Labels, scores and weights, cases of weight zero left out."""

    y: tuple[bool, ...]
    s: tuple[float, ...]
    w: tuple[Fraction, ...]

    @classmethod
    def of(cls, y: Sequence[Any], s: Sequence[float], w: Sequence[float] | None = None) -> Data:
        weights = [Fraction(1)] * len(y) if w is None else [Fraction(float(v)) for v in w]
        rows = [(bool(a), float(b), c) for a, b, c in zip(y, s, weights, strict=True) if c > 0]
        return cls(tuple(r[0] for r in rows), tuple(r[1] for r in rows), tuple(r[2] for r in rows))

    @property
    def rows(self) -> list[tuple[bool, float, Fraction]]:
        return list(zip(self.y, self.s, self.w, strict=True))

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def n_pos(self) -> int:
        return sum(self.y)

    @property
    def n_neg(self) -> int:
        return self.n - self.n_pos

    @property
    def total(self) -> Fraction:
        return sum(self.w, Fraction(0))

    @property
    def pos(self) -> Fraction:
        return sum((w for y, _, w in self.rows if y), Fraction(0))

    @property
    def neg(self) -> Fraction:
        return self.total - self.pos


def ratio(a: Any, b: Any) -> Any:
    """a/b with 0/0 = nan and a/0 = inf; nan in, nan out."""
    if a != a or b != b:
        return NAN
    if b == 0:
        return NAN if a == 0 else math.copysign(INF, a)
    return a / b


# --- one threshold (B 1-16, 24; A Eq. 1-3) ---------------------------------------------------------------------


@dataclass(frozen=True)
class Counts:
    tp: Fraction
    fp: Fraction
    fn: Fraction
    tn: Fraction

    @property
    def n(self) -> Fraction:
        return self.tp + self.fp + self.fn + self.tn


def counts(d: Data, threshold: float = 0.5) -> Counts:
    cell = {(a, b): Fraction(0) for a in (True, False) for b in (True, False)}
    for y, s, w in d.rows:
        cell[y, s > threshold] += w
    return Counts(tp=cell[True, True], fp=cell[False, True], fn=cell[True, False], tn=cell[False, False])


def accuracy(d: Data, threshold: float = 0.5) -> Any:
    c = counts(d, threshold)
    return ratio(c.tp + c.tn, c.n)


def error_rate(d: Data, threshold: float = 0.5) -> Any:
    c = counts(d, threshold)
    return ratio(c.fp + c.fn, c.n)


def zero_one_loss(d: Data, threshold: float = 0.5) -> Any:
    c = counts(d, threshold)
    return c.fp + c.fn


def recall(d: Data, threshold: float = 0.5) -> Any:
    c = counts(d, threshold)
    return ratio(c.tp, c.tp + c.fn)


def specificity(d: Data, threshold: float = 0.5) -> Any:
    c = counts(d, threshold)
    return ratio(c.tn, c.fp + c.tn)


def precision(d: Data, threshold: float = 0.5) -> Any:
    c = counts(d, threshold)
    return ratio(c.tp, c.tp + c.fp)


def negative_predictive_value(d: Data, threshold: float = 0.5) -> Any:
    c = counts(d, threshold)
    return ratio(c.tn, c.tn + c.fn)


def false_discovery_rate(d: Data, threshold: float = 0.5) -> Any:
    c = counts(d, threshold)
    return ratio(c.fp, c.fp + c.tp)


def false_positive_rate(d: Data, threshold: float = 0.5) -> Any:
    c = counts(d, threshold)
    return ratio(c.fp, c.fp + c.tn)


def false_negative_rate(d: Data, threshold: float = 0.5) -> Any:
    c = counts(d, threshold)
    return ratio(c.fn, c.tp + c.fn)


def youden_index(d: Data, threshold: float = 0.5) -> Any:
    return recall(d, threshold) + specificity(d, threshold) - 1


def balanced_accuracy(d: Data, threshold: float = 0.5) -> Any:
    return (recall(d, threshold) + specificity(d, threshold)) / 2


def positive_likelihood_ratio(d: Data, threshold: float = 0.5) -> Any:
    return ratio(recall(d, threshold), false_positive_rate(d, threshold))


def negative_likelihood_ratio(d: Data, threshold: float = 0.5) -> Any:
    return ratio(false_negative_rate(d, threshold), specificity(d, threshold))


def f_beta(d: Data, threshold: float = 0.5, beta: float = 1.0) -> Any:
    """Count form: the continuous extension of B Def 13 to tp = 0."""
    c = counts(d, threshold)
    b2 = Fraction(beta) ** 2
    return ratio((1 + b2) * c.tp, (1 + b2) * c.tp + b2 * c.fn + c.fp)


def f1(d: Data, threshold: float = 0.5) -> Any:
    return f_beta(d, threshold, 1.0)


def g_measure(d: Data, threshold: float = 0.5) -> Any:
    product = precision(d, threshold) * recall(d, threshold)
    return math.sqrt(product) if product == product else NAN


def matthews_correlation(d: Data, threshold: float = 0.5) -> Any:
    c = counts(d, threshold)
    margins = (c.tp + c.fn) * (c.tp + c.fp) * (c.tn + c.fp) * (c.tn + c.fn)
    if margins == 0:
        return NAN
    top = c.tp * c.tn - c.fp * c.fn
    return math.copysign(math.sqrt(top * top / margins), top)


def cohen_kappa(d: Data, threshold: float = 0.5) -> Any:
    c = counts(d, threshold)
    n = c.n
    observed = (c.tp + c.tn) / n
    chance = (c.tp + c.fp) / n * (c.tp + c.fn) / n + (c.fn + c.tn) / n * (c.fp + c.tn) / n
    return ratio(observed - chance, 1 - chance)


def _prior(d: Data, prior: float | None) -> Fraction:
    return d.pos / d.total if prior is None else Fraction(prior)


def lift(d: Data, threshold: float = 0.5, prior: float | None = None) -> Any:
    return ratio(precision(d, threshold), _prior(d, prior))


def gain(d: Data, threshold: float = 0.5, prior: float | None = None) -> Any:
    c = counts(d, threshold)
    return c.tp - _prior(d, prior) * (c.tp + c.fp)


# --- probabilities (B 17-23, 35) -------------------------------------------------------------------------------


def _mean(d: Data, loss: Callable[[bool, float], float], extra: float = 1.0) -> float:
    return math.fsum(float(w) * loss(y, s) for y, s, w in d.rows) / float(d.total) * extra


def _probabilities(d: Data) -> None:
    if not all(0 <= s <= 1 for s in d.s):
        raise Refused("probabilities must lie in [0, 1]")


def mean_absolute_error(d: Data) -> Any:
    _probabilities(d)
    return _mean(d, lambda y, s: abs(y - s))


def brier_score(d: Data) -> Any:
    _probabilities(d)
    return _mean(d, lambda y, s: (y - s) ** 2)


def root_mean_squared_error(d: Data) -> Any:
    return math.sqrt(brier_score(d))


def _minus_log(q: float, base: float, eps: float) -> float:
    """-log max(q, eps); 0 rather than -0 for q = 1."""
    return 0.0 - math.log(max(q, eps)) / math.log(base)


def log_loss(d: Data, base: float = 2.0, eps: float = EPS) -> Any:
    _probabilities(d)
    return _mean(d, lambda y, s: _minus_log(s if y else 1 - s, base, eps))


def balanced_cross_entropy(d: Data, alpha: float | None = None, base: float = 2.0, eps: float = EPS) -> Any:
    _probabilities(d)
    if alpha is None:
        if d.pos == 0 or d.neg == 0:
            raise Refused("class frequencies of one class")
        alpha = float(d.neg / d.total)
    a = alpha
    return _mean(d, lambda y, s: (a if y else 1 - a) * _minus_log(s if y else 1 - s, base, eps))


def focal_loss(d: Data, gamma: float = 2.0, alpha: float | None = None, base: float = 2.0, eps: float = EPS) -> Any:
    _probabilities(d)

    def loss(y: bool, s: float) -> float:
        q = s if y else 1 - s
        balance = 1.0 if alpha is None else (alpha if y else 1 - alpha)
        return float(balance * (1 - q) ** gamma * _minus_log(q, base, eps))

    return _mean(d, loss)


def _log2(share: Fraction) -> float:
    """Logarithm of an exact share, near 1 by its distance from 1."""
    return math.log1p(float(share - 1)) / math.log(2) if share > Fraction(1, 2) else math.log2(share)


def information_score(d: Data, prior: float | None = None) -> Any:
    _probabilities(d)
    if prior is None:
        if d.pos == 0 or d.neg == 0:
            raise Refused("the prior of one class is 0")
        shares = {True: d.pos / d.total, False: d.neg / d.total}
    else:
        shares = {True: Fraction(prior), False: 1 - Fraction(prior)}

    def info(y: bool, s: float) -> float:
        q, r = (Fraction(s) if y else 1 - Fraction(s)), Fraction(shares[y])
        if q >= r:
            return _log2(q) - _log2(r)
        return _log2(1 - r) - _log2(1 - q)

    return _mean(d, info)


def relative_information_score(d: Data, prior: float | None = None) -> Any:
    score = information_score(d, prior)
    p = Fraction(d.pos) / Fraction(d.total) if prior is None else Fraction(prior)
    return score / -(float(p) * _log2(p) + float(1 - p) * _log2(1 - p))


def brier_skill(d: Data, prior: float | None = None) -> Any:
    if prior is None and (d.pos == 0 or d.neg == 0):
        _probabilities(d)
        return NAN
    share = d.pos / d.total if prior is None else Fraction(prior)
    return 1 - brier_score(d) / (share * (1 - share))


def calibration_error(d: Data, bins: int = 15, debiased: bool = True) -> Any:
    _probabilities(d)
    total = 0.0
    for b in range(bins):
        inside = [(y, s, w) for y, s, w in d.rows if b < math.ceil(s * bins) <= b + 1 or (b == 0 and s == 0)]
        gap = sum((w * (Fraction(s) - y) for y, s, w in inside), Fraction(0))
        noise = sum((w * Fraction(s) * (1 - Fraction(s)) for y, s, w in inside), Fraction(0))
        total += float(abs(gap)) - (math.sqrt(2 / math.pi * noise) if debiased else 0.0)
    return max(0.0, total) / float(d.total)


def hinge_loss(d: Data) -> Any:
    if not all(math.isfinite(s) for s in d.s):
        raise Refused("distances must be finite")
    return _mean(d, lambda y, s: max(0.0, 1 - (s if y else -s)))


# --- the ranked list (A Eq. 4-15; B 8, 25-33; R 2-3) -----------------------------------------------------------


def outcomes(d: Data, ties: str = "expected") -> list[Fraction]:
    """t[1..n], best score first. Expected: A Eq. 5. Best and worst: positives, or negatives, lead every tie."""
    order = {"expected": lambda r: -r[1], "best": lambda r: (-r[1], not r[0]), "worst": lambda r: (-r[1], r[0])}[ties]
    ranked = sorted(d.rows, key=order)
    if ties != "expected":
        return [Fraction(int(y)) for y, _, _ in ranked]
    t = []
    for _, p, _ in ranked:
        here = [y for y, s, _ in d.rows if s == p]
        t.append(Fraction(sum(here), len(here)))
    return t


def cuts(d: Data, ties: str = "expected") -> list[tuple[Fraction, Fraction]]:
    """(true positives, false positives) at every distinct cut, from nothing to everything.

    With ties broken for or against the positives, every tie is two cuts: its positives and its negatives.
    """
    key = {"expected": lambda r: (-r[1],), "best": lambda r: (-r[1], not r[0]), "worst": lambda r: (-r[1], r[0])}[ties]
    points = [(Fraction(0), Fraction(0))]
    for level in sorted({key(r) for r in d.rows}):
        tp = sum((w for y, s, w in d.rows if y and key((y, s, w)) <= level), Fraction(0))
        fp = sum((w for y, s, w in d.rows if not y and key((y, s, w)) <= level), Fraction(0))
        points.append((tp, fp))
    return points


def _roc(d: Data, ties: str) -> list[tuple[Fraction, Fraction]]:
    """(FPR, TPR) at every cut."""
    return [(fp / d.neg, tp / d.pos) for tp, fp in cuts(d, ties)]


def roc_auc(d: Data, ties: str = "expected") -> Any:
    if d.pos == 0 or d.neg == 0:
        return NAN
    tied = {"expected": Fraction(1, 2), "best": Fraction(1), "worst": Fraction(0)}[ties]
    negatives = [(s, w) for y, s, w in d.rows if not y]
    won = Fraction(0)
    for y, s, w in d.rows:
        if y:
            below = sum((v for z, v in negatives if s > z), Fraction(0))
            equal = sum((v for z, v in negatives if s == z), Fraction(0))
            won += w * (below + tied * equal)
    return won / (d.pos * d.neg)


def gini(d: Data, ties: str = "expected") -> Any:
    return 2 * roc_auc(d, ties) - 1


def trapezoid(points: Sequence[tuple[Any, Any]]) -> Any:
    return sum(
        (y0 * (x1 - x0) + (y1 - y0) * (x1 - x0) / 2 for (x0, y0), (x1, y1) in pairwise(points)),
        Fraction(0),
    )


def hull(points: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Vertices of the upper hull from (0, 0) to (1, 1), by always walking on along the steepest line."""
    here = (Fraction(0), Fraction(0))
    vertices = [here]
    while here != (1, 1):
        ahead = [p for p in points if p[0] >= here[0] and p[1] >= here[1] and p != here]

        def steepness(p: tuple[Fraction, Fraction], at: tuple[Fraction, Fraction] = here) -> tuple[Any, Any]:
            return ratio(p[1] - at[1], p[0] - at[0]), p[0] + p[1]

        here = max(ahead, key=steepness)
        vertices.append(here)
    return vertices


def auch(d: Data, ties: str = "expected") -> Any:
    return NAN if d.pos == 0 or d.neg == 0 else trapezoid(hull(_roc(d, ties)))


def ks_statistic(d: Data, ties: str = "expected") -> Any:
    return NAN if d.pos == 0 or d.neg == 0 else max(abs(tpr - fpr) for fpr, tpr in _roc(d, ties))


def max_youden_index(d: Data, ties: str = "expected") -> Any:
    return NAN if d.pos == 0 or d.neg == 0 else max(tpr - fpr for fpr, tpr in _roc(d, ties))


def _line_at(points: Sequence[tuple[Any, Any]], x: Any) -> Any:
    """The height of a line through points at x."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 <= x <= x1 and x0 < x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    raise AssertionError(x)


def partial_auc(d: Data, ties: str = "expected", fpr: float = 0.1, tpr: float | None = None) -> Any:
    """Area up to an FPR, or of specificity from a TPR on, corner by corner."""
    if d.pos == 0 or d.neg == 0:
        return NAN
    points = _roc(d, ties)
    end = Fraction(fpr)
    if tpr is not None:
        points, end = [(1 - y, 1 - x) for x, y in reversed(points)], 1 - Fraction(tpr)
    last = max(y for x, y in points if x == end) if end in [x for x, _ in points] else _line_at(points, end)
    return trapezoid([*(p for p in points if p[0] <= end), (end, last)])


def equal_error_rate(d: Data, ties: str = "expected") -> Any:
    if d.pos == 0 or d.neg == 0:
        return NAN
    return _line_at([(fpr + tpr, fpr) for fpr, tpr in _roc(d, ties)], 1)


def h_measure(d: Data, ties: str = "expected") -> Any:
    """Costs of every cut between all places where two of them cost the same; the cheapest there is taken."""
    from scipy.special import betainc

    if d.pos == 0 or d.neg == 0:
        return NAN
    share = float(d.pos / d.total)
    a, b = 1 + share, 2 - share

    def cost(points: list[tuple[Fraction, Fraction]]) -> float:
        ends = {Fraction(0), Fraction(1)}
        for (tp, fp), (tp2, fp2) in combinations(points, 2):  # c·fp + (1 − c)·(n⁺ − tp) is the same
            if (fp2 - fp) + (tp2 - tp) != 0:
                ends.add(min(max((tp2 - tp) / ((fp2 - fp) + (tp2 - tp)), Fraction(0)), Fraction(1)))
        total = 0.0
        for low, high in pairwise(sorted(ends)):
            c = (low + high) / 2
            tp, fp = min(points, key=lambda p: c * p[1] + (1 - c) * (d.pos - p[0]))
            of_c = a / (a + b) * (betainc(a + 1, b, float(high)) - betainc(a + 1, b, float(low)))
            of_rest = b / (a + b) * (betainc(a, b + 1, float(high)) - betainc(a, b + 1, float(low)))
            total += float(fp) * of_c + float(d.pos - tp) * of_rest
        return total

    points = list(dict.fromkeys(cuts(d, ties)))
    return 1 - cost(points) / cost([(Fraction(0), Fraction(0)), (d.pos, d.neg)])


def ndcg(d: Data, ties: str = "expected", k: int | None = None) -> Any:
    if d.n_pos == 0:
        return NAN
    worth = [1 / math.log2(1 + j) if k is None or j <= k else 0.0 for j in range(1, d.n + 1)]
    found = math.fsum(float(t) * w for t, w in zip(outcomes(d, ties), worth, strict=True))
    return found / math.fsum(worth[: d.n_pos])


def reciprocal_rank(d: Data, ties: str = "expected") -> Any:
    """The mean over the places that the first positive may have in its tie, by the number of ways."""
    if d.n_pos == 0:
        return NAN
    top = max(s for y, s, _ in d.rows if y)
    before = sum(s > top for s in d.s)
    size, pos = sum(s == top for s in d.s), sum(s == top and y for y, s, _ in d.rows)
    if ties != "expected":
        return Fraction(1, before + 1 + (size - pos if ties == "worst" else 0))
    ways = [math.comb(size - j, pos - 1) for j in range(1, size - pos + 2)]
    return sum((Fraction(w, before + j) for j, w in enumerate(ways, 1)), Fraction(0)) / math.comb(size, pos)


def taks(d: Data, ties: str = "expected") -> Any:
    if d.n_pos == 0 or d.n_neg == 0:
        return NAN
    t = outcomes(d, ties)
    total = Fraction(0)
    for j in range(1, d.n):
        hits = sum(t[:j], Fraction(0))
        total += hits / d.n_pos - (j - hits) / d.n_neg
    return ratio(total, d.n - 1)


def average_gain(d: Data, ties: str = "expected", prior: float | None = None) -> Any:
    t, p = outcomes(d, ties), _prior(d, prior)
    return sum((sum(t[:j], Fraction(0)) - j * p for j in range(1, d.n + 1)), Fraction(0)) / d.n


def average_lift(d: Data, ties: str = "expected", prior: float | None = None) -> Any:
    t, p = outcomes(d, ties), _prior(d, prior)
    return ratio(sum((sum(t[:j], Fraction(0)) / j for j in range(1, d.n + 1)), Fraction(0)) / d.n, p)


def average_precision(d: Data, ties: str = "expected") -> Any:
    """B Eq. 38: precision at every distinct cut times the step in recall."""
    if d.pos == 0:
        return NAN
    points = cuts(d, ties)
    return sum(
        (tp / (tp + fp) * (tp - before) / d.pos for (before, _), (tp, fp) in pairwise(points)),
        Fraction(0),
    )


def _pr_auc(d: Data, left: Callable[..., Any], right: Callable[..., Any], start: int, ties: str) -> Any:
    if d.pos == 0:
        return NAN
    at: dict[Fraction, list[Fraction]] = {}
    for tp, fp in cuts(d, ties):
        at.setdefault(tp / d.pos, []).append(tp / (tp + fp) if tp + fp > 0 else Fraction(start))
    recalls = sorted(at)
    return sum(
        ((left(at[a]) + right(at[b])) / 2 * (b - a) for a, b in pairwise(recalls)),
        Fraction(0),
    )


def pr_auc_min(d: Data, start: int = 0, ties: str = "expected") -> Any:
    return _pr_auc(d, min, min, start, ties)


def pr_auc_minmax(d: Data, start: int = 0, ties: str = "expected") -> Any:
    return _pr_auc(d, min, max, start, ties)


def pr_auc_max(d: Data, start: int = 0, ties: str = "expected") -> Any:
    return _pr_auc(d, max, max, start, ties)


def ranking_score(d: Data, g: Callable[[int], Any], ties: str = "expected") -> Any:
    """R section 2, positions ascending; tied cases share the mean of g over their positions."""
    t = outcomes(d, ties)[::-1]
    values = [Fraction(g(i)) for i in range(1, d.n + 1)]
    return sum((a * b for a, b in zip(t, values, strict=True)), Fraction(0))


def linear_ranking(d: Data, ties: str = "expected") -> Any:
    return ranking_score(d, lambda i: i, ties)


def quadratic_ranking(d: Data, ties: str = "expected") -> Any:
    return ranking_score(d, lambda i: i * i, ties)


def misclassification_ranking(d: Data, ties: str = "expected") -> Any:
    return ranking_score(d, lambda i: int(i > d.n_neg), ties)


# --- limited places (A Eq. 4-15) -------------------------------------------------------------------------------


def hits(d: Data, quota: int, ties: str = "expected") -> Fraction:
    return sum(outcomes(d, ties)[:quota], Fraction(0))


def hit_rate(d: Data, quota: int, ties: str = "expected") -> Any:
    return hits(d, quota, ties) / quota


def qrecall(d: Data, quota: int, ties: str = "expected") -> Any:
    return ratio(hits(d, quota, ties), d.n_pos)


def quota_lift(d: Data, quota: int, ties: str = "expected") -> Any:
    return ratio(hit_rate(d, quota, ties), Fraction(d.n_pos, d.n))


def quota_pearson(d: Data, quota: int, ties: str = "expected") -> Any:
    if not all(math.isfinite(s) for s in d.s):
        raise Refused("Pearson's correlation needs finite scores")
    p = sorted((Fraction(s) for s in d.s), reverse=True)[:quota]
    t = outcomes(d, ties)[:quota]
    p_mean, t_mean = sum(p, Fraction(0)) / quota, sum(t, Fraction(0)) / quota
    covariance = sum(((a - p_mean) * (b - t_mean) for a, b in zip(p, t, strict=True)), Fraction(0))
    p_square = sum(((a - p_mean) ** 2 for a in p), Fraction(0))
    t_square = sum(((b - t_mean) ** 2 for b in t), Fraction(0))
    if p_square == 0 or t_square == 0:
        return NAN
    return math.copysign(math.sqrt(covariance**2 / (p_square * t_square)), covariance)


def average_hit_rate(d: Data, ties: str = "expected") -> Any:
    t = outcomes(d, ties)
    return ratio(sum((t[j - 1] * sum(t[:j], Fraction(0)) / j for j in range(1, d.n + 1)), Fraction(0)), d.n_pos)


def average_qrecall(d: Data, ties: str = "expected") -> Any:
    if d.n_pos == 0:
        return NAN
    total = sum((qrecall(d, j, ties) for j in range(d.n_pos, d.n + 1)), Fraction(0))
    return total / (d.n - (d.n_pos - 1))


def pem_areas(d: Data, ties: str = "expected") -> list[tuple[Fraction, Fraction, Fraction]]:
    """Columns S1, S2, S3 of A Table 5, position by position."""
    rows = []
    t = outcomes(d, ties)
    for j in range(1, d.n + 1):
        model, chance = sum(t[:j], Fraction(0)) / d.n_pos, Fraction(j, d.n)
        best = min(Fraction(j, d.n_pos), Fraction(1))
        rows.append((max(model - chance, Fraction(0)), max(chance - model, Fraction(0)), best - chance))
    return rows


def pem(d: Data, ties: str = "expected") -> Any:
    if d.n_pos == 0 or d.n_neg == 0:
        return NAN
    s1, s2, s3 = (sum(column, Fraction(0)) for column in zip(*pem_areas(d, ties), strict=True))
    return (s1 - s2) / s3


def lift_portions(d: Data, portions: int) -> list[Any]:
    """A 2.2.5: portion k holds the whole places from floor(n (k-1) / portions) + 1 to floor(n k / portions)."""
    t = outcomes(d)
    edges = [d.n * k // portions for k in range(portions + 1)]
    return [ratio(sum(t[a:b], Fraction(0)) / (b - a), Fraction(d.n_pos, d.n)) for a, b in pairwise(edges)]


# --- other shapes (B 18, 33, 34) -------------------------------------------------------------------------------


def mean_average_precision(y: Sequence[Any], matrix: Sequence[Sequence[float]], classes: Sequence[Any]) -> Any:
    values = [
        average_precision(Data.of([label == c for label in y], [row[k] for row in matrix]))
        for k, c in enumerate(classes)
    ]
    return sum(values, Fraction(0)) / len(values)


def ranked_probability_score(y: Sequence[Any], matrix: Sequence[Sequence[float]], classes: Sequence[Any]) -> float:
    """Mean over cases of the mean squared difference between the two cumulative distributions."""
    total = []
    for label, row in zip(y, matrix, strict=True):
        truth = [float(label == c) for c in classes]
        steps = range(1, len(classes))
        total.append(math.fsum((math.fsum(row[:k]) - math.fsum(truth[:k])) ** 2 for k in steps) / len(steps))
    return math.fsum(total) / len(total)


def triplet_loss(
    anchor: Sequence[Sequence[float]],
    positive: Sequence[Sequence[float]],
    negative: Sequence[Sequence[float]],
    margin: float,
) -> float:
    def square(u: Sequence[float], v: Sequence[float]) -> float:
        return math.fsum((a - b) ** 2 for a, b in zip(u, v, strict=True))

    rows = zip(anchor, positive, negative, strict=True)
    return math.fsum(max(0.0, square(a, p) - square(a, n) + margin) for a, p, n in rows)


THRESHOLD = (
    accuracy,
    error_rate,
    zero_one_loss,
    recall,
    specificity,
    precision,
    negative_predictive_value,
    false_discovery_rate,
    false_positive_rate,
    false_negative_rate,
    youden_index,
    positive_likelihood_ratio,
    negative_likelihood_ratio,
    balanced_accuracy,
    f1,
    f_beta,
    g_measure,
    matthews_correlation,
    cohen_kappa,
    lift,
    gain,
)
PROBABILITY = (
    mean_absolute_error,
    brier_score,
    root_mean_squared_error,
    log_loss,
    balanced_cross_entropy,
    focal_loss,
    information_score,
    relative_information_score,
    brier_skill,
    calibration_error,
)
RANKING = (
    roc_auc,
    gini,
    auch,
    ks_statistic,
    max_youden_index,
    partial_auc,
    equal_error_rate,
    h_measure,
    average_precision,
    pr_auc_min,
    pr_auc_minmax,
    pr_auc_max,
)
PLACES = (
    taks,
    average_gain,
    average_lift,
    ndcg,
    reciprocal_rank,
    linear_ranking,
    quadratic_ranking,
    misclassification_ranking,
    average_hit_rate,
    average_qrecall,
    pem,
)
QUOTA = (hit_rate, qrecall, quota_lift, quota_pearson)
ORACLES: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (*THRESHOLD, *PROBABILITY, hinge_loss, *RANKING, *PLACES, *QUOTA, ranking_score)
}

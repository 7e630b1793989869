"""Measures of several classes: each declared once, over the totals of a class matrix.

A measure of the binary catalogue becomes one of several classes by a mean over them: ``macro(f1)``, ``micro(f1)``,
``weighted(roc_auc)``. A declaration is all that the evaluation, tables, pages, the command line, the docs and the
tests read.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial, wraps
from math import exp, inf, isclose
from typing import Any, Literal

import numpy as np

from ..class_sample import ClassSample
from ..errors import InputError, show
from ..sweep import Counts
from ..types import Floats
from ..validate import check_flag, check_whole, one_of
from .declare import REQUIRED, Measure, Spec, measures, parse_measure, parse_options, ratio, says
from .probability import check_log, log_losses

Reads = Literal["decisions", "scores", "probabilities"]
Scale = Literal["wilson", "logit", "atanh", "log", "plain"]
# The least probability in a logarithm: the spacing of floats at 1, where scikit-learn and yardstick clip too.
_LOG_EPS = 2.0**-52

OPTIONS = {
    "t": "how many of the highest-scoring classes count",
    "weights": "how much confusing two ordered classes counts: None the same for all, 'linear' by their distance, "
    "'quadratic' by its square",
    "base": "base of the logarithm",
    "eps": "probabilities below this are raised to it, so one case cannot make the loss infinite",
    "half": "whether to halve the sum over classes, which makes two classes agree with the binary Brier score",
}

SYMBOLS = {
    r"n, K": "number of cases, of classes",
    r"n_{kl}, n_{k\cdot}, n_{\cdot k}": "cases of class k predicted as class l, cases of class k, cases predicted as k",
    r"y_i, \hat y_i": "real and predicted class of case i",
    r"p_{ik}": "score, or predicted probability, of class k for case i",
    r"o_{ik}": "1 if case i belongs to class k, else 0",
    r"r_i": "place of the real class of case i when its scores are sorted, 1 being the highest",
    r"v_{kl}": "weight of the confusion of classes k and l",
    r"A(k\mid l)": "probability that a case of class k scores higher for class k than one of class l; ties count ½",
    r"m_k": "the binary measure of class k against the rest",
    r"\mathrm{AP}_k, \pi_k": "average precision of class k against the rest; share of class k",
    r"e_j": "share of errors among the j most confident predictions",
}


@dataclass(frozen=True)
class ClassSums:
    """What measures of several classes read; arrays over the classes, with the replicates as leading axes.

    ``hits``, ``truth``, ``answers``: cases predicted right, real cases and predictions of each class; ``mean``: mean of
    the measure's own value of each row; ``information``: mean information score in nats; ``risk``: area under the
    risk–coverage curve; ``auc``, ``pair_auc``, ``precision``: of each class, the area under the ROC curve against the
    rest, its mean against each other class alone, and the average precision.
    """

    hits: Any
    truth: Any
    answers: Any
    mean: Any = np.nan
    information: Any = np.nan
    risk: Any = np.nan
    auc: Any = np.nan
    pair_auc: Any = np.nan
    precision: Any = np.nan

    @property
    def total(self) -> Any:
        """Number of cases."""
        return np.sum(self.truth, axis=-1)

    @property
    def cells(self) -> Counts:
        """The four cells of each class against the rest."""
        total = np.expand_dims(self.total, -1)
        return Counts(
            self.hits, self.answers - self.hits, self.truth - self.hits, total - self.truth - self.answers + self.hits
        )


RowValue = Callable[..., Floats]


@dataclass(frozen=True)
class ClassMeasure:
    """One measure of several classes: what it means, where it comes from, and how it is computed.

    ``reads`` says what it needs: hard predictions, scores, or rows of probabilities. ``row_value`` gives each row's own
    contribution where the measure is, or contains, a mean over rows. ``areas`` names the totals beyond the confusion
    matrix that it reads. ``scale`` is the one on which its interval is made. ``ordered`` measures need an order.
    ``proportion``: it is a share of the cases; ``mean_of``: it is the mean of this binary measure over the classes;
    ``by_class``: it compares classes that were sampled by themselves, so that each adds a variance of its own.
    ``remark`` says of the options in which unit the value is, where that differs between libraries.
    """

    title: str
    reads: Reads
    formula: str
    latex: str
    reference: str
    scale: Scale
    better: Literal["higher", "lower"] = "higher"
    range: tuple[float, float] = (0.0, 1.0)
    undefined: str = ""
    proportion: bool = False
    mean_of: str = ""
    by_class: bool = False
    row_value: RowValue | None = None
    areas: tuple[str, ...] = ()
    same_as: str = ""
    ordered: bool = False
    perfect: float | None = None
    chance: str = ""
    checks: Callable[..., object] | None = None
    remark: Callable[..., str] | None = None
    name: str = ""
    compute: Callable[..., Any] = field(default=lambda: None)
    params: Mapping[str, Any] = field(default_factory=dict)
    summary: str = ""

    def __post_init__(self) -> None:
        if self.mean_of and self.same_as != f"macro({self.mean_of})":
            raise ValueError(f"declaration of {self.name}: it is the mean of {self.mean_of}, so say what it is same as")

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return class_measure, (self.name,)  # the one declared, also in another process

    @property
    def family(self) -> str:
        """Its section in tables: what it reads."""
        return {"decisions": "decisions", "scores": "ranking", "probabilities": "probability"}[self.reads]

    def __repr__(self) -> str:
        arrow = "↑" if self.better == "higher" else "↓"
        return f"<{self.name}: {self.title} {arrow} {self.reference}>"


@dataclass(frozen=True)
class ClassSpec:
    """A measure of several classes with its options: ``top_t_accuracy(t=3)``, ``macro(f1)``."""

    measure: ClassMeasure
    options: tuple[tuple[str, Any], ...] = ()
    inner: Spec | None = None

    def __str__(self) -> str:
        if self.inner is not None:
            return f"{self.measure.name}({self.inner})"
        inside = ", ".join(f"{key}={value!r}" for key, value in self.options)
        return f"{self.measure.name}({inside})" if inside else self.measure.name

    @property
    def arguments(self) -> dict[str, Any]:
        """The measure's own options."""
        return dict(self.options)

    @property
    def better(self) -> Literal["higher", "lower"]:
        """Which way is better."""
        return self.measure.better if self.inner is None else self.inner.measure.better

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest value."""
        return self.measure.range if self.inner is None else self.inner.measure.range

    @property
    def title(self) -> str:
        """What it is called in tables."""
        return self.measure.title if self.inner is None else f"{self.measure.title} of {self.inner.measure.title}"

    @property
    def areas(self) -> tuple[str, ...]:
        """Totals beyond the confusion matrix that it reads."""
        if self.inner is None:
            return self.measure.areas
        return tuple(area for name, area in _OF_AREAS.items() if self.inner.measure.name == name)

    @property
    def reads(self) -> Reads:
        """What it needs."""
        return "scores" if self.inner is not None and self.areas else self.measure.reads

    @property
    def family(self) -> str:
        """Its section in tables."""
        return "ranking" if self.reads == "scores" else self.measure.family

    @property
    def scale(self) -> Scale:
        """The scale on which its interval is made."""
        if self.inner is None:
            return self.measure.scale
        low, high = self.range
        if self.areas:
            return "logit"
        return "wilson" if (low, high) == (0.0, 1.0) else "atanh" if (low, high) == (-1.0, 1.0) else "plain"

    @property
    def by_class(self) -> bool:
        """Whether each class adds a part of its own, also one of few cases."""
        mean = self.measure.name == "macro" or (self.measure.name == "weighted" and bool(self.areas))
        return mean or self.measure.by_class or bool(self.measure.mean_of)

    @property
    def same_as(self) -> str:
        """Another name of the same number."""
        if self.inner is None:
            return self.measure.same_as
        return _ONE_NUMBER.get(str(self), "")

    @property
    def remark(self) -> str:
        """In which unit the value is, where that differs between libraries."""
        say = self.measure.remark
        return "" if say is None else say(**{**self.measure.params, **self.arguments})

    @property
    def ordered(self) -> bool:
        """Whether it reads the order of the classes."""
        return self.measure.ordered or self.arguments.get("weights") is not None

    @property
    def perfect(self) -> float | None:
        """Value of a perfect model."""
        if self.inner is None:
            return self.measure.perfect
        return self.inner.measure.perfect if isinstance(self.inner.measure.perfect, float) else None

    def compute(self, sums: ClassSums) -> Any:
        """Its value, or its values in many replicates."""
        with np.errstate(all="ignore"):
            if self.inner is None:
                return self.measure.compute(sums, **self.arguments)
            return self.measure.compute(sums, self.inner)

    def row_values(self, sample: ClassSample) -> Floats | None:
        """Each row's own contribution, where the measure has one."""
        rows = self.measure.row_value
        return None if rows is None else rows(sample, **{**self.measure.params, **self.arguments})


_OF_AREAS = {"roc_auc": "auc", "average_precision": "precision"}
_ONE_NUMBER = {
    "macro(recall)": "balanced_accuracy",
    "weighted(recall)": "accuracy",
    "micro(precision)": "accuracy",
    "micro(recall)": "accuracy",
    "micro(f1)": "accuracy",
    "macro(average_precision)": "mean_average_precision",
}

_measures: dict[str, ClassMeasure] = {}


def class_measures() -> list[ClassMeasure]:
    """The catalogue of measures of several classes.

    >>> [m.name for m in class_measures()][:3]
    ['accuracy', 'error_rate', 'balanced_accuracy']
    """
    return list(_measures.values())


@says(ClassMeasure)
def _declare(title: str, reads: Reads, **facts: Any) -> Callable[[Callable[..., Any]], ClassMeasure]:
    def declared(function: Callable[..., Any]) -> ClassMeasure:
        parameters = list(inspect.signature(function).parameters.values())[1:]
        own = {p.name: p.default for p in parameters if p.default is not REQUIRED}
        summary = inspect.getdoc(function) or ""
        made: dict[str, Any] = {"name": function.__name__, "compute": function, "summary": summary}
        one = ClassMeasure(title, reads, params=own, **made, **facts)
        _measures[one.name] = one
        return one

    return declared


@says(ClassMeasure)
def _declare_mean(title: str, reads: Reads, **facts: Any) -> Callable[[Callable[..., Any]], ClassMeasure]:
    """Declare a mean over rows: its function gives each row's own value."""

    def declared(function: Callable[..., Any]) -> ClassMeasure:
        @wraps(function)
        def compute(sums: ClassSums, **_: Any) -> Any:
            return sums.mean

        return _declare(title, reads, row_value=function, **facts)(compute)

    return declared


@_declare(
    "Accuracy",
    reads="decisions",
    formula="Σ n_kk / n",
    latex=r"\frac1n\sum_k n_{kk}",
    reference="Berrar Def. 1, for any number of classes",
    scale="wilson",
    proportion=True,
    same_as="micro(f1)",
    perfect=1.0,
)
def accuracy(s: ClassSums) -> Any:
    """Share of cases whose predicted class is the real one.

    The predicted class is ``y_pred``, or the class with the highest score; the first of several equal ones.
    """
    return ratio(np.sum(s.hits, axis=-1), s.total)


@_declare(
    "Error rate",
    reads="decisions",
    better="lower",
    formula="1 − Σ n_kk / n",
    latex=r"1 - \frac1n\sum_k n_{kk}",
    reference="Berrar Def. 2, for any number of classes",
    scale="wilson",
    proportion=True,
    same_as="1 − accuracy",
    perfect=0.0,
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
    scale="wilson",
    mean_of="recall",
    same_as="macro(recall)",
    perfect=1.0,
    chance="1/K",
)
def balanced_accuracy(s: ClassSums) -> Any:
    """Mean recall over the classes: every class counts the same, however rare."""
    return np.mean(ratio(s.hits, s.truth), axis=-1)


@_declare_mean(
    "Top-t accuracy",
    reads="scores",
    formula="share of cases whose real class is among the t with the highest scores",
    latex=r"\frac1n\sum_i I\{r_i \le t\}",
    reference="Russakovsky et al. (2015), top-5 accuracy",
    scale="wilson",
    proportion=True,
    checks=lambda t=2: check_whole(t, "t", 1),
    perfect=1.0,
    chance="t/K",
)
def top_t_accuracy(sample: ClassSample, t: int = 2) -> Any:
    """Share of cases whose real class is among the t highest; equal scores keep the order of the columns."""
    assert sample.facts is not None
    return (sample.facts.place < t).astype(np.float64)


@_declare(
    "Cohen's kappa",
    reads="decisions",
    range=(-inf, 1.0),
    formula="1 − Σ v_kl n_kl / Σ v_kl n_k· n_·l / n; v = 1 off the diagonal, |k − l| or (k − l)² with weights",
    latex=r"1 - \frac{\sum_{kl} v_{kl} n_{kl}}{\sum_{kl} v_{kl} n_{k\cdot} n_{\cdot l}/n}",
    reference="Berrar Def. 24; with weights Cohen (1968)",
    undefined="every case is of one class and predicted as that class",
    scale="atanh",
    row_value=lambda sample, weights=None: _gap(sample, weights),
    checks=lambda weights=None: one_of(None, "linear", "quadratic")(weights, "weights"),
    perfect=1.0,
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


def _gap(sample: ClassSample, weights: str | None) -> Floats:
    if weights is None:
        return (~sample.right).astype(np.float64)
    gap = np.abs(sample.code - sample.predicted) / float(sample.n_classes - 1)
    return np.asarray(gap if weights == "linear" else gap * gap)


@_declare(
    "Matthews correlation",
    reads="decisions",
    range=(-1.0, 1.0),
    formula="(n·Σ n_kk − Σ n_k· n_·k) / √((n² − Σ n_k·²)(n² − Σ n_·k²))",
    latex=r"\frac{n\sum_k n_{kk} - \sum_k n_{k\cdot}n_{\cdot k}}"
    r"{\sqrt{(n^2 - \sum_k n_{k\cdot}^2)(n^2 - \sum_k n_{\cdot k}^2)}}",
    reference="Gorodkin (2004); for two classes Berrar Def. 15",
    undefined="all cases are of one class, or all are predicted as one",
    scale="atanh",
    perfect=1.0,
    chance="0",
)
def matthews_correlation(s: ClassSums) -> Any:
    """Correlation between real and predicted class, for any number of classes."""
    n = s.total
    above = n * np.sum(s.hits, axis=-1) - np.sum(s.truth * s.answers, axis=-1)
    spread = [n * n - np.sum(part * part, axis=-1) for part in (s.truth, s.answers)]
    return ratio(above, np.sqrt(spread[0]) * np.sqrt(spread[1]))


@_declare_mean(
    "Log loss",
    reads="probabilities",
    better="lower",
    range=(0.0, inf),
    formula="−(1/n) Σ log₂ p_iy, p_iy: probability of the real class, at least ε",
    latex=r"-\frac1n\sum_i \log_b p_{iy_i}",
    reference="Berrar Def. 20, for any number of classes (base 2: erratum B17)",
    scale="log",
    checks=check_log,
    perfect=0.0,
    remark=lambda base, eps: "in bits" if base == 2 else "in nats" if isclose(base, exp(1)) else f"base {base:g}",
)
def log_loss(sample: ClassSample, base: float = 2, eps: float = _LOG_EPS) -> Any:
    """Mean negative log-likelihood of the real class, in bits."""
    assert sample.facts is not None
    return log_losses(sample.facts.true, eps, base)[0]


@_declare_mean(
    "Brier score",
    reads="probabilities",
    better="lower",
    range=(0.0, 2.0),
    formula="(1/n) Σᵢ Σₖ (p_ik − o_ik)²",
    latex=r"\frac1n\sum_i\sum_k (p_{ik} - o_{ik})^2",
    reference="Brier (1950); for two classes twice Berrar Def. 18",
    scale="log",
    checks=lambda half=False: check_flag(half, "half"),
    perfect=0.0,
    remark=lambda half: f"{'half the sum' if half else 'sum'} over the classes",
)
def brier_score(sample: ClassSample, half: bool = False) -> Any:
    """Squared distance between the predicted distribution and the real class, summed over the classes."""
    assert sample.facts is not None
    return (1.0 - 2.0 * sample.facts.true + sample.facts.square) * (0.5 if half else 1.0)


@_declare_mean(
    "Ranked probability score",
    reads="probabilities",
    better="lower",
    formula="(1/n) Σᵢ (1/(K−1)) Σₖ (F_ik − O_ik)², F and O: cumulative predicted and observed shares",
    latex=r"\frac{1}{n(K-1)}\sum_i\sum_{k=1}^{K-1}\left(\sum_{l\le k} p_{il} - I\{y_i \le k\}\right)^2",
    reference="Berrar after Def. 18 (named there for ordered classes); Epstein (1969)",
    scale="log",
    ordered=True,
    perfect=0.0,
)
def ranked_probability_score(sample: ClassSample) -> Any:
    """Squared distance between cumulative distributions over ordered classes; ``classes`` gives their order."""
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
    scale="plain",
    areas=("information",),
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
    scale="plain",
    areas=("information",),
    perfect=1.0,
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
    scale="logit",
    by_class=True,
    areas=("pair_auc",),
    perfect=1.0,
    chance="½",
)
def hand_till_auc(s: ClassSums) -> Any:
    """Area under the ROC curve averaged over pairs of classes; it does not depend on the class shares."""
    return np.mean(s.pair_auc, axis=-1)


@_declare(
    "Mean average precision",
    reads="scores",
    formula="mean of average_precision over the classes, each in turn the positive one",
    latex=r"\frac1K\sum_{k=1}^K \mathrm{AP}_k",
    reference="Berrar Def. 32 and after Def. 33 (macro mean over classes: erratum B31)",
    undefined="a class has no cases, hence no average precision",
    scale="logit",
    mean_of="average_precision",
    areas=("precision",),
    same_as="macro(average_precision)",
    perfect=1.0,
)
def mean_average_precision(s: ClassSums) -> Any:
    """Mean of the average precisions of all classes."""
    return np.mean(s.precision, axis=-1)


@_declare_mean(
    "Overconfidence",
    reads="probabilities",
    better="lower",
    range=(-1.0, 1.0),
    formula="mean probability of the predicted class − accuracy",
    latex=r"\frac1n\sum_i \left(p_{i\hat y_i} - I\{\hat y_i = y_i\}\right)",
    reference="calibration of the top class in the large; Guo et al. (2017) by bins",
    scale="plain",
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
    scale="log",
    areas=("risk",),
    perfect=0.0,
    chance="error_rate",
)
def risk_coverage_area(s: ClassSums) -> Any:
    """Mean error rate when only the most confident cases are answered, over all numbers of cases answered."""
    return s.risk


def _of_classes(s: ClassSums, inner: Spec) -> Any:
    area = _OF_AREAS.get(inner.measure.name)
    if area is not None:
        return getattr(s, area)
    return inner.measure.compute(s.cells, **inner.arguments)


_mean_over_classes = partial(_declare, reads="decisions", scale="wilson")


@_mean_over_classes(
    "Macro mean",
    formula="mean over the classes of a binary measure, each class in turn the positive one",
    latex=r"\frac1K\sum_k m_k",
    reference="Sokolova & Lapalme (2009)",
    undefined="the measure is undefined for a class",
)
def macro(s: ClassSums, inner: Spec = REQUIRED) -> Any:
    """Mean over the classes with equal weights: ``macro(f1)``, ``macro(roc_auc)``."""
    return np.mean(_of_classes(s, inner), axis=-1)


@_mean_over_classes(
    "Weighted mean",
    formula="mean over the classes of a binary measure, each class counting as many cases as it has",
    latex=r"\sum_k \frac{n_{k\cdot}}{n} m_k",
    reference="Sokolova & Lapalme (2009); scikit-learn's average='weighted'",
    undefined="the measure is undefined for a class that has cases",
)
def weighted(s: ClassSums, inner: Spec = REQUIRED) -> Any:
    """Mean over the classes, weighted by their cases: ``weighted(f1)``, ``weighted(roc_auc)``."""
    values = np.where(s.truth > 0.0, _of_classes(s, inner), 0.0)
    return ratio(np.sum(s.truth * values, axis=-1), s.total)


@_mean_over_classes(
    "Micro mean",
    formula="a binary measure of the four cells summed over the classes",
    latex=r"m\left(\sum_k TP_k, \sum_k FP_k, \sum_k FN_k, \sum_k TN_k\right)",
    reference="Sokolova & Lapalme (2009)",
    undefined="the measure is undefined for the summed cells",
)
def micro(s: ClassSums, inner: Spec = REQUIRED) -> Any:
    """A measure of the summed cells of all classes; precision, recall and F1 all equal the accuracy."""
    cells = s.cells
    summed = Counts(*(np.sum(part, axis=-1) for part in (cells.tp, cells.fp, cells.fn, cells.tn)))
    return inner.measure.compute(summed, **inner.arguments)


MEANS = ("macro", "weighted", "micro")
_ALWAYS_SAID = ("t",)  # an option without which the name does not say what is meant
_MEAN = re.compile(r"\s*+(macro|weighted|micro)\s*+\((.*)\)\s*+")
_PLAIN = re.compile(r"\s*+(?P<name>\w++)\s*+(\((?P<options>.*)\))?\s*+")


def class_measure(name: str) -> ClassMeasure:
    """Describe one measure of several classes.

    >>> class_measure("hand_till_auc").title
    'Hand–Till AUC'
    """
    if not isinstance(name, str):
        raise InputError("measures", f"names {show(name)}, which is not a string", "write e.g. 'accuracy'")
    if name not in _measures:
        if name in _OF_AREAS or name in {one.name for one in measures("threshold")}:
            means = [f"macro({name})", f"weighted({name})", *([] if name in _OF_AREAS else [f"micro({name})"])]
            said = f"names {show(name)}, which each class has for itself"
            raise InputError("measures", said, f"say which mean over the classes: {', '.join(means)}")
        top = re.fullmatch(r"top_?(\d+)(_accuracy)?", name)
        near = (
            [f"top_t_accuracy(t={top[1]})"]
            if top
            else difflib.get_close_matches(name, list(_measures), n=3, cutoff=0.5)
        )
        raise InputError(
            "measures",
            f"names {show(name)}, which is not a measure of several classes",
            f"did you mean {', '.join(near)}?" if near else "class_measures() lists them",
        )
    return _measures[name]


def parse_class_measure(text: str | ClassSpec | ClassMeasure) -> ClassSpec:
    """Read a measure string of several classes.

    >>> str(parse_class_measure("macro(f1)")), str(parse_class_measure("top_t_accuracy(t=3)"))
    ('macro(f1)', 'top_t_accuracy(t=3)')
    """
    if isinstance(text, ClassSpec):
        return text
    if isinstance(text, ClassMeasure):
        text = text.name
    if not isinstance(text, str):
        raise InputError("measures", f"holds {show(text)}", "name a measure by a string such as 'macro(f1)'")
    mean = _MEAN.fullmatch(text)
    if mean is not None and mean[2].strip():
        return ClassSpec(_measures[mean[1]], (), _inner(mean[1], mean[2]))
    match = _PLAIN.fullmatch(text)
    if match is None:
        raise InputError("measures", f"holds {show(text)}", "write 'macro(f1)', 'accuracy' or 'top_t_accuracy(t=3)'")
    if match["name"] in MEANS:
        raise InputError("measures", f"holds {show(text)}", f"say of what: '{match['name']}(f1)'")
    one = class_measure(match["name"])
    options = parse_options(match["options"] or "")
    if None in options:
        raise InputError("measures", f"holds {show(text)}", "write options like 't=3'")
    return make_class_spec(one, options)


def make_class_spec(one: ClassMeasure, options: Mapping[str, Any]) -> ClassSpec:
    """Check a measure's options; defaults are left out."""
    unknown = next((key for key in options if key not in one.params), None)
    if unknown is not None:
        known = ", ".join(one.params) or "none"
        raise InputError("measures", f"gives {one.name} the option {show(unknown)}", f"its options: {known}")
    if one.checks is not None:
        one.checks(**options)
    settled = {**{key: one.params[key] for key in _ALWAYS_SAID if key in one.params}, **options}
    kept = ((k, settled[k]) for k in one.params if k in settled and (k in _ALWAYS_SAID or settled[k] != one.params[k]))
    return ClassSpec(one, tuple(kept))


def _inner(mean: str, text: str) -> Spec:
    spec = parse_measure(text)
    binary: Measure = spec.measure
    if binary.name in _OF_AREAS and mean != "micro" and spec.ties == "expected":
        return spec
    if binary.family != "threshold" or spec.threshold is not None or binary.extensive:
        fits = "measures of decisions such as precision, recall, f1" + (
            "" if mean == "micro" else ", and roc_auc, average_precision"
        )
        raise InputError("measures", f"asks for the {mean} mean of {spec}", f"means over classes exist for {fits}")
    return spec


def class_reason(spec: ClassSpec, sums: ClassSums, classes: tuple[Any, ...]) -> str:
    """Why a value is nan, naming the class where one is at fault."""
    empty = next((show(name) for name, size in zip(classes, sums.truth, strict=True) if size == 0), None)
    if spec.inner is not None and spec.measure.name != "micro":
        with np.errstate(all="ignore"):
            values = np.atleast_1d(_of_classes(sums, spec.inner))
        at = int(np.argmax(np.isnan(values)))
        if sums.truth[at] > 0 and sums.answers[at] == 0:
            return f"class {show(classes[at])} is never predicted, so its {spec.inner.measure.name} is undefined"
        if sums.truth[at] == 0:
            return f"class {show(classes[at])} has no cases"
        return f"{spec.inner.measure.name} is undefined for class {show(classes[at])}"
    if empty is not None and (spec.measure.mean_of or spec.measure.by_class):
        return f"class {empty} has no cases"
    return spec.measure.undefined or "0/0"


def why_inapplicable_to_classes(spec: ClassSpec, sample: ClassSample) -> str:
    """Why a measure cannot be read from this sample; empty where it can."""
    if spec.reads != "decisions" and sample.matrix is None:
        return "needs scores; only predicted classes are known"
    if spec.reads == "probabilities" and not sample.are_probabilities:
        return "the rows of scores are not probabilities that sum to 1"
    return ""


def default_class_specs(sample: ClassSample, *, ordered: bool) -> list[ClassSpec]:
    """What is evaluated unasked: every measure that the sample supports, each number once."""
    names = ["accuracy", "balanced_accuracy", "macro(precision)", "macro(f1)", "weighted(precision)", "weighted(f1)"]
    names += ["cohen_kappa", "matthews_correlation"]
    if ordered:
        names += ["cohen_kappa(weights='linear')", "cohen_kappa(weights='quadratic')"]
    if sample.matrix is not None:
        names += [f"top_t_accuracy(t={t})" for t in (2, 5) if 2 * t <= sample.n_classes]
        names += [
            "hand_till_auc",
            "macro(roc_auc)",
            "weighted(roc_auc)",
            "mean_average_precision",
            "risk_coverage_area",
        ]
        names += ["log_loss", "brier_score", "information_score", "relative_information_score", "overconfidence"]
        if ordered:
            names.append("ranked_probability_score")
    return [parse_class_measure(name) for name in names]

"""The catalogue: each measure is declared once, over a pure function of counts or sums.

A declaration is all that evaluation, tables, pages, the command line, the docs and the catalogue-wide tests read.
"""

from __future__ import annotations

import ast
import difflib
import functools
import inspect
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, ParamSpec, TypeVar, get_args

import numpy as np

from ..errors import InputError, UndefinedWarning, show
from ..quotas import Quotas, check_any_quota, parse_quota
from ..ranking import Ties
from ..reference.docstrings import explain
from ..types import Label, Labels, Scores
from ..validate import check_number, one_of

P = ParamSpec("P")
R = TypeVar("R")
Family = Literal["threshold", "probability", "ranking", "quota", "other"]
REQUIRED: Any = inspect.Parameter.empty
FAMILIES: tuple[Family, ...] = ("threshold", "probability", "ranking", "quota", "other")

# what the signs in formulas mean
SYMBOLS = {
    r"TP, FP, FN, TN": "true positives, false positives, false negatives, true negatives at the cut: how many, or "
    "their weight",
    r"n, n^+, n^-": "number of cases, of positives and of negatives",
    r"i": "a case; in Rosset's formulas, a place in the list, where 1 is the worst",
    r"y_i": "outcome of case i: 1 positive, 0 negative (hinge loss: 1 and −1; several classes: the class)",
    r"p_i": "predicted probability that case i is positive",
    r"p_{il}, l": "predicted probability that case i is of class l; a class, in their order",
    r"p_+, p_-": "scores of a positive and of a negative case, drawn at random",
    r"s_i": "score of case i as a signed distance",
    r"\log_b": "logarithm to base b",
    r"\alpha, \beta, \gamma, g": "the options `alpha`, `beta`, `gamma`, `g` of the measure",
    r"\alpha_{t,i}, p_{t,i}": "focal loss: weight and predicted probability of the real class of case i",
    r"\pi_i, q_i": "prior and predicted probability of the real class of case i",
    r"\pi_k": "prior probability of class k",
    r"I(x_i)": "information score of the prediction for case i, in bits",
    r"I\{\ldots\}": "1 if the condition holds, else 0",
    r"P(\ldots)": "probability, or share of the sample",
    r"P_0, P_e": "share of cases where prediction and outcome agree, and the share expected by chance",
    r"t, t_i": "a threshold; the distinct thresholds, highest first",
    r"\mathrm{TPR}, \mathrm{FPR}": "true positive rate TP / (TP + FN) and false positive rate FP / (FP + TN), at a "
    "threshold, at the best j places, or at corner i of the convex hull, which has k corners",
    r"\mathrm{AUC}": "area under the ROC curve",
    r"p(t), r(t)": "precision and recall at threshold t",
    r"p_{\min}(t), p_{\max}(t)": "lowest and highest precision among the cuts with the recall of t",
    r"\mathrm{AP}_k, K": "average precision with class k as the positive one; number of classes",
    r"j, k": "a number of places, the quota; a place of the list, where 1 is the best",
    r"t^{[k]}": "outcome at place k of the list; within a tie, the share of positives",
    r"\mathrm{HitRate}(j), \mathrm{Qrecall}(j), \mathrm{lift}(j)": "these measures at the best j places",
    r"\mathrm{Cov}_{p,t}(j), \sigma_p(j), \sigma_t(j)": "covariance and standard deviations of scores and outcomes "
    "over the best j places",
    r"g_c(j), g_{\mathrm{null}}(j)": "positives among the best j places, and among j cases taken at random",
    r"S_1, S_2, S_3": "areas of PEM: where the list finds more than a random one, where it finds less, and between a "
    "perfect and a random list",
    r"h(i)": "the case at place i, where 1 is the worst",
    r"f(x^a_i), f(x^p_i), f(x^n_i), N": "embeddings of anchor, positive and negative of triplet i; number of triplets",
    r"\mathrm{margin}": "the option `margin`",
    r"H(n)": "harmonic number 1 + 1/2 + … + 1/n",
}

# how a measure counts cases of equal score; the places that they share have no order
TIE_RULES = {
    "expectation": "equal scores count by expectation: the mean over all orders of the tied cases",
    "together": "tied cases enter together, at one threshold",
    "shared": "outcomes are averaged within the tie: every place in it holds the tie's share of positives "
    "(Arbel & Rokach Eq. 5)",
}


# how the default interval of a measure is made; ``inference.methods`` has the functions
IntervalMethod = Literal[
    "wilson", "wilson_f", "newcombe_difference", "ratio_of_rates", "delta_z", "delong_t", "delong_total", "hull",
    "best_cut", "loss_score", "log_mean", "information", "moving_cut", "moving_cut_recall", "precision_area",
    "qrecall_area", "places", "mean_score", "scaled",
]  # fmt: skip
# the influence of a row on a difference between two models: its placements, its decision, its hit at a quota, or the
# difference without it
PairedTest = Literal["delong", "decisions", "hits", "jackknife"]
# what must not be empty for a measure to have a value, and what to say where it is
Need = Literal["positives", "negatives", "taken", "left"]
NEEDS: dict[Need, str] = {
    "positives": "no positive cases",
    "negatives": "no negative cases",
    "taken": "nothing is predicted positive",
    "left": "nothing is predicted negative",
}
BOTH: tuple[Need, Need] = ("positives", "negatives")
PARTS = ("cut", "pairs", "gaps", "precision", "places", "hull", "losses", "ranking", "columns")
# what holds for a family unless a declaration says otherwise
_OF_FAMILY: dict[Family, dict[str, Any]] = {
    "probability": {"part": "losses", "scores": "probability"},
    "ranking": {"rank_based": True},
    "quota": {"rank_based": True},
    "other": {"part": "columns"},
}
OfCells = Callable[[Any], Any]
Line = Callable[[float, float, float], tuple[float, float]]


@dataclass(frozen=True)
class Measure:
    """One measure of the catalogue: what it means, where it comes from, how it is computed, and how sure it can be.

    ``compute`` is the pure function behind it; ``part`` names what it reads (``cut``, ``ranking``, ``columns``, or a
    part of the sums) and ``scores`` what the scores must be (``any``, ``finite``, ``probability``, or a signed
    ``distance``). ``needs`` says what must not be empty, ``undefined`` when it has no value (by default, when a need is
    not met). ``perfect`` is the value of a perfect model, ``chance`` the mean over all orders of the cases (at a
    threshold: with as many above it), each a number or a formula in ``SYMBOLS``; ``one_class_needs`` is the option
    without which both classes must be there. ``tie_rule`` says how equal scores count (``TIE_RULES``); empty where
    their order cannot matter.

    ``interval`` is the method of its default interval, ``stratified`` whether replicates keep the class sizes (where
    the share of positives does not matter), ``paired_test`` how two models are compared. ``proportion`` gives successes
    and trials from the four cells where the measure is ``scale`` (1 where not given) times their ratio;
    ``line_of_auc`` gives slope and intercept from n⁺, n⁻ and n where it is the AUC on another scale. ``case_loss``
    gives what a positive and what a negative of each score loses where the measure is (up to a factor) their mean;
    ``worth`` the mean worth of the places from one to another (worst = 1) where it is the sum over the positives;
    ``perfect_area`` the area of a perfect list of n⁺ among n where that is not 1. ``proper``: whether the true
    probabilities have the best expected value, and they alone; None where it reads no probabilities. ``caution`` says
    where its interval falls short.

    ``own``: declared by the user, so it is computed only where it is named.
    """

    own: ClassVar[bool] = False
    title: str
    family: Family
    formula: str
    latex: str
    reference: str
    better: Literal["higher", "lower"] = "higher"
    range: tuple[float, float] = (0.0, 1.0)
    undefined: str = ""
    needs: tuple[Need, ...] = ()
    aliases: tuple[str, ...] = ()
    same_as: str = ""
    part: str = "cut"
    scores: Literal["any", "finite", "probability", "distance"] = "any"
    tie_rule: Literal["", "expectation", "together", "shared"] = ""
    rank_based: bool = False
    extensive: bool = False
    perfect: float | str | None = None
    chance: float | str | None = None
    one_class_needs: str = ""
    checks: Callable[..., None] | None = None
    interval: IntervalMethod = "scaled"
    stratified: bool = False
    paired_test: PairedTest = "jackknife"
    proportion: Callable[[Any], tuple[Any, Any]] | None = None
    scale: OfCells | None = None
    line_of_auc: Line | None = None
    case_loss: Callable[..., tuple[Any, Any]] | None = None
    worth: Callable[[Any, Any], Any] | None = None
    perfect_area: Callable[[float, float], float] | None = None
    proper: bool | None = None
    caution: str = ""
    name: str = ""
    compute: Callable[..., Any] = field(default=lambda: None)
    params: Mapping[str, Any] = field(default_factory=dict)
    summary: str = ""

    def __post_init__(self) -> None:
        if not self.undefined:
            object.__setattr__(self, "undefined", _undefined_without(self.needs))
        for problem, found in self._contradictions():
            if found:
                raise ValueError(f"declaration of {self.name}: {problem}")

    def _contradictions(self) -> Iterator[tuple[str, bool]]:
        low, high = self.range
        yield "the family is unknown", self.family not in FAMILIES
        yield "the part is unknown", self.part not in PARTS or (self.part == "columns") != (self.family == "other")
        yield "the interval method is unknown", self.interval not in get_args(IntervalMethod)
        yield "the paired test is unknown", self.paired_test not in get_args(PairedTest)
        yield "the tie rule is unknown", self.tie_rule not in ("", *TIE_RULES)
        yield "a need is unknown", not set(self.needs) <= set(NEEDS)
        yield "the range is empty", not low < high
        outside = isinstance(self.perfect, float) and not low <= self.perfect <= high
        yield "a perfect model lies outside the range", outside
        yield "only what is read at a cut is a proportion", self.proportion is not None and self.part != "cut"
        shares = self.interval in ("wilson", "moving_cut", "moving_cut_recall")
        shares |= self.paired_test in ("decisions", "hits")
        yield "this interval or test needs its proportion", shares and self.proportion is None
        losses = self.interval in ("loss_score", "log_mean", "information")
        yield "this interval needs the loss of a case", losses != (self.case_loss is not None)
        yield "this interval needs the worth of a place", (self.interval == "places") != (self.worth is not None)
        yield "a scale needs a proportion", self.scale is not None and self.proportion is None
        of_auc = self.line_of_auc is not None
        yield "what is a line of the AUC takes its interval", of_auc != self.interval.startswith("delong")
        yield "what is a line of the AUC takes its test", of_auc != (self.paired_test == "delong")
        yield (
            "decisions are at a threshold, and hits at a quota",
            self.paired_test in ("decisions", "hits")
            and self.family != {"decisions": "threshold", "hits": "quota"}[self.paired_test],
        )
        of_probabilities = self.family == "probability" and self.scores == "probability"
        yield "say whether it is proper", of_probabilities != (self.proper is not None)
        unexplained = [name for name in self.params if not explain(self.name, name)]
        yield f"its options {unexplained} are not explained in reference/parameters.py", bool(unexplained)
        yield "the option that one class needs is none of its own", self.one_class_needs not in ("", *self.params)
        taken = [name for name in (self.name, *self.aliases) if _by_alias.get(name, name) in _measures]
        yield f"the name {' and '.join(taken)} is taken", bool(taken)

    def __reduce__(self) -> tuple[Any, ...]:
        return measure, (self.name,)

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def ties(self) -> bool:
        """Whether the order of equal scores could matter, so that there is an option ``ties``."""
        return bool(self.tie_rule)

    @property
    def propriety(self) -> str:
        """Whether the true probabilities have the best expected value, in words; empty where none are read."""
        if self.proper is None:
            return ""
        return (
            "yes: the true probabilities have the best expected value"
            if self.proper
            else "no: probabilities other than the true ones can have a better expected value"
        )

    @property
    def when_undefined(self) -> str:
        """What becomes of an undefined value."""
        if self.family == "other":
            return "nan"
        return "refused; nan, with the reason, in an evaluation" if self.one_class_needs else "nan"

    @property
    def needs_quota(self) -> bool:
        """Whether it is a measure at a quota."""
        return self.family == "quota" and self.part == "cut"

    @property
    def needs_threshold(self) -> bool:
        """Whether it is a measure at a threshold."""
        return self.family == "threshold"

    def __repr__(self) -> str:
        arrow = "↑" if self.better == "higher" else "↓"
        return f"<{self.name}: {self.title} {arrow} {self.reference}>"


def _undefined_without(needs: tuple[Need, ...]) -> str:
    """When a measure with these needs has no value."""
    said = ["a class is missing"] if set(BOTH) <= set(needs) else [f"there are {NEEDS[n]}" for n in BOTH if n in needs]
    return ", or ".join([*said, *(NEEDS[need] for need in needs if need not in BOTH)])


_measures: dict[str, Measure] = {}
_by_alias: dict[str, str] = {}


def says(kind: Callable[P, Any]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Type a function that declares a kind of measure: it takes what that kind may say."""
    return lambda function: function


@says(Measure)
def declare(title: str, family: Family, **facts: Any) -> Callable[[Callable[..., Any]], Callable[..., float]]:
    """Declare a measure over a pure function of counts or sums; gives back the function that users call.

    The options of the pure function after its first argument become options of the measure. A measure of another shape
    (family ``other``: a score matrix, embeddings) is public as it stands, with its keyword-only options.
    """

    def declared(function: Callable[..., Any]) -> Callable[..., float]:
        other = family == "other"
        parameters = list(inspect.signature(function).parameters.values())
        own = [p for p in parameters if p.kind is p.KEYWORD_ONLY] if other else parameters[1:]
        summary = inspect.getdoc(function) or ""
        made: dict[str, Any] = {"name": function.__name__, "compute": function, "summary": summary}
        made |= _OF_FAMILY.get(family, {}) | facts
        one = Measure(title, family, params={p.name: p.default for p in own}, **made)
        _measures[one.name] = one
        _by_alias.update(dict.fromkeys(one.aliases, one.name))
        if not other:
            return _public(one)
        function.__doc__ = _docstring(one)
        return function

    return declared


@says(Measure)
def declare_share(title: str, family: Family, **facts: Any) -> Callable[[Callable[..., Any]], Callable[..., float]]:
    """Declare a measure that is a share of cases: its function gives successes and trials from the four cells."""

    def declared(function: Callable[..., Any]) -> Callable[..., float]:
        @functools.wraps(function)
        def compute(cells: Any) -> Any:
            return ratio(*function(cells))

        return declare(title, family, **{"interval": "wilson", "proportion": function, **facts})(compute)

    return declared


def publish(one: Measure) -> Callable[..., float]:
    """Make a measure known by its name; gives the function that users call."""
    _measures[one.name] = one
    return _public(one)


def known_measure(name: str) -> Measure | None:
    """The measure of a name or an alias, if there is one."""
    return _measures.get(_by_alias.get(name, name))


def withdraw(name: str) -> None:
    """Forget a measure."""
    del _measures[name]


def measures(family: Family | None = None) -> list[Measure]:
    """The catalogue, family by family, without your own measures (:func:`ranking_measure`).

    >>> [m.name for m in measures("quota")][:4]
    ['hit_rate', 'qrecall', 'quota_lift', 'quota_pearson']
    """
    one_of(None, *FAMILIES)(family, "family")
    return [m for f in FAMILIES if family in (None, f) for m in _measures.values() if m.family == f and not m.own]


def measure(name: str) -> Measure:
    """Describe one measure, found by its name or an alias.

    >>> measure("sensitivity").name
    'recall'
    """
    found = _measures.get(_by_alias.get(name, name)) if isinstance(name, str) else None
    if found is None:
        near = difflib.get_close_matches(str(name), [*_measures, *_by_alias], n=3, cutoff=0.0)
        hint = f"did you mean {', '.join(near)}?"
        raise InputError("measure", f"is {show(name)}, which is not in the catalogue", hint)
    return found


@dataclass(frozen=True)
class Spec:
    """A measure with its options, as named by a measure string such as ``qrecall@5%`` or ``f_beta(beta=2)``."""

    measure: Measure
    options: tuple[tuple[str, Any], ...] = ()
    quota: int | float | Quotas | None = None
    threshold: float | None = None
    ties: Ties = "expected"

    def __str__(self) -> str:
        return self._text

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:  # what is kept below differs from process to process
        return Spec, (self.measure, self.options, self.quota, self.threshold, self.ties)

    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.measure, self.options, self.quota, self.threshold, self.ties))

    @functools.cached_property
    def _text(self) -> str:
        options = [*self.options]
        if self.threshold is not None:
            options.append(("threshold", self.threshold))
        if self.ties != "expected":
            options.append(("ties", self.ties))
        inside = ", ".join(f"{key}={_number(value)}" for key, value in options)
        text = f"{self.measure.name}({inside})" if inside else self.measure.name
        if self.quota is None:
            return text
        at = f"{_number(self.quota * 100)}%" if isinstance(self.quota, float) else str(self.quota)  # or several
        return f"{text}@{at}"

    @property
    def better(self) -> Literal["higher", "lower"]:
        """Which values are better."""
        return self.measure.better

    @property
    def arguments(self) -> dict[str, Any]:
        """The measure's own options."""
        return dict(self.options)


def _number(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.12g}" if isinstance(value, float) else repr(value)


# "+" behind a repetition keeps what it took: neighbours that can take the same signs would share them in n² ways
_STRING = re.compile(r"\s*+(?P<name>\w++)\s*+(\((?P<options>.*)\))?\s*+(@(?P<quota>[^@()]++))?")


def parse_measure(text: str | Spec | Measure | Callable[..., float]) -> Spec:
    """Read a measure string.

    >>> str(parse_measure("qrecall@5%")), str(parse_measure("f_beta(beta=2)"))
    ('qrecall@5%', 'f_beta(beta=2)')
    """
    if isinstance(text, Spec):
        return text
    if isinstance(text, Measure):
        return make_spec(text, {})
    if callable(text) and hasattr(text, "measure"):
        return make_spec(text.measure, {})
    if not isinstance(text, str):
        raise InputError("measure", f"must be a string such as 'pem' or 'qrecall@5%', got {show(text)}")
    match = _STRING.fullmatch(text)
    if match is None:
        raise InputError("measure", f"is {show(text)}", "write it like 'pem', 'hit_rate@200' or 'f_beta(beta=2)'")
    options = parse_options(match["options"] or "")
    if None in options:
        said = f"is {show(text)}, where {show(options[None])} is not an option"
        raise InputError("measure", said, "write it like 'beta=2'")
    if match["quota"] is not None:
        options["quota"] = parse_quota(match["quota"])
    return make_spec(measure(match["name"]), options)


def parse_options(text: str) -> dict[Any, Any]:
    """Read ``beta=2, prior=0.1``; what is not an option stands under None."""
    options: dict[Any, Any] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = item.partition("=")
        try:
            options[key.strip() if equals else None] = ast.literal_eval(value.strip()) if equals else item
        except (ValueError, SyntaxError, MemoryError, RecursionError):  # the last two: brackets in brackets
            options[None] = item
    return options


def make_spec(one: Measure, options: Mapping[str, Any]) -> Spec:
    """Check a measure's options and bring them in one form: defaults are left out."""
    left = dict(options)
    quota, threshold, ties = left.pop("quota", None), left.pop("threshold", None), left.pop("ties", "expected")
    if quota is not None and not one.needs_quota:
        at_quota = ", ".join(m.name for m in _measures.values() if m.needs_quota)
        raise InputError("measure", f"{one.name} takes no quota", f"measures at a quota are {at_quota}")
    if quota is not None:
        quota = check_any_quota(quota)
    if threshold is not None:
        if not one.needs_threshold:
            raise InputError("measure", f"{one.name} takes no threshold", "leave it out: it reads the whole list")
        threshold = check_number(threshold, "threshold")
    one_of("expected", "best", "worst")(ties, "ties")
    if ties != "expected" and not one.ties:
        raise InputError("measure", f"{one.name} does not depend on the order within ties", "leave ties out")
    unknown = [key for key in left if key not in one.params]
    if unknown:
        known = ", ".join([*one.params, *(["quota"] if one.needs_quota else [])]) or "none"
        raise InputError("measure", f"{one.name} has no option {show(unknown[0])}", f"its options: {known}")
    missing = [key for key, default in one.params.items() if default is REQUIRED and key not in left]
    if missing:
        raise InputError("measure", f"{one.name} needs the option {missing[0]}", f"write {one.name}({missing[0]}=…)")
    if one.checks is not None:
        one.checks(**left)
    kept = tuple((k, left[k]) for k in one.params if k in left and not _same(left[k], one.params[k]))
    return Spec(one, kept, quota, threshold, ties)


def _same(value: Any, default: Any) -> bool:
    return value is default or (
        isinstance(value, int | float) and isinstance(default, int | float) and value == default
    )


def check_prior(prior: Any = None) -> None:
    """A given prior must be in (0, 1]: nothing is a multiple of no positives."""
    if prior is not None and check_number(prior, "prior", 0.0, 1.0) == 0:
        raise InputError("prior", "is 0, which leaves nothing to compare with", "it must lie in (0, 1]")


def ratio(above: Any, below: Any) -> Any:
    """Division that gives nan for 0/0 and inf for a/0, quietly, for numbers and arrays alike."""
    if isinstance(above, float) and isinstance(below, float) and below != 0.0:
        return np.float64(float(above) / float(below))  # what NumPy gives, without its ceremony
    with np.errstate(all="ignore"):
        return np.divide(above, below)


def _public(one: Measure) -> Callable[..., float]:
    """The function users call: checks the sample, ranks it, sums it, and applies the algebra."""

    @functools.wraps(one.compute)
    def function(
        y_true: Labels, y_score: Scores, *, pos_label: Label = None, sample_weight: Scores | None = None, **options: Any
    ) -> float:
        from .compute import compute_one

        spec = make_spec(one, options)
        value, why = compute_one(spec, y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
        if value != value:
            warnings.warn(f"{one.name} is undefined here: {why}", UndefinedWarning, stacklevel=2)
        return value

    keyword = inspect.Parameter.KEYWORD_ONLY
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    own = inspect.signature(one.compute).parameters

    def option(name: str, default: Any, annotation: str) -> inspect.Parameter:
        return inspect.Parameter(name, keyword, default=default, annotation=annotation)

    added = [option("pos_label", None, "Label")]
    if one.family != "other":
        added.append(option("sample_weight", None, "Scores | None"))
    if one.needs_threshold:
        added.append(option("threshold", None, "float | None"))
    if one.needs_quota:
        added.append(option("quota", REQUIRED, "QuotaLike"))
    added += [option(name, given, own[name].annotation if name in own else "Any") for name, given in one.params.items()]
    if one.ties:
        added.append(option("ties", "expected", "Ties"))
    data = [("y_true", "Labels"), ("y_score", "Scores")]
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*(inspect.Parameter(name, positional, annotation=kind) for name, kind in data), *added],
        return_annotation=float,
    )
    function.__annotations__ = {"return": float}
    function.__doc__ = _docstring(one)
    function.measure = one  # type: ignore[attr-defined]
    return function


def _docstring(one: Measure) -> str:
    """Title, meaning, and the declared facts, in one order for every measure."""
    meaning, mark, example = one.summary.partition(">>>")
    low, high = one.range
    facts = [
        f"Better: {one.better}. Range: {low:g} to {high:g}.",
        f"Formula: {one.formula}",
        f"Undefined ({one.when_undefined}) if {one.undefined}" if one.undefined else "",
        f"Same as: {one.same_as}" if one.same_as else "",
        f"Proper: {one.propriety}." if one.propriety else "",
        f"Also called: {', '.join(one.aliases)}" if one.aliases else "",
        f"Ties: {TIE_RULES[one.tie_rule]}; ties='best' and ties='worst' give the best and the worst order."
        if one.ties
        else "",
        f"Reference: {one.reference}",
    ]
    body = "\n".join(textwrap.fill(fact, 110) for fact in facts if fact)
    return f"{one.title}. {meaning.strip()}\n\n{body}\n\n{mark}{example}".rstrip() + "\n"

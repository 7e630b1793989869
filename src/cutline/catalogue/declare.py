"""The catalogue: each measure is declared once, over a pure function of counts, sums or a class matrix's totals.

A declaration is all that evaluation, tables, pages, the command line, the docs and the catalogue-wide tests read.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import functools
import inspect
import math
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, ParamSpec, TypeVar, get_args

import numpy as np

from ..errors import InputError, UndefinedWarning, show, verbatim
from ..quotas import Quotas, parse_quota
from ..ranking import Ties
from ..reference import documented, explain
from ..types import Better, IntervalMethod, Label, Labels, ScoreMatrix, Scores
from ..validate import Rule, check_flag, check_number, one_of

P = ParamSpec("P")
R = TypeVar("R")
Family = Literal["threshold", "probability", "ranking", "quota", "value", "classes", "other"]
Reads = Literal["", "decisions", "scores", "probabilities"]
REQUIRED: Any = inspect.Parameter.empty
FAMILIES: tuple[Family, ...] = get_args(Family)

# how a measure counts cases of equal score; the places that they share have no order
TIE_RULES = {
    "expectation": "equal scores count by expectation: the mean over all orders of the tied cases",
    "together": "tied cases enter together, at one threshold",
    "shared": "outcomes are averaged within the tie: every place in it counts as the share of positives in the tie "
    "(Arbel & Rokach Eq. 5)",
}

# the influence of a row on a difference between two models: its placements, its decision, its hit at a quota, or the
# difference without it
PairedTest = Literal["delong", "decisions", "hits", "jackknife"]
# what must not be empty for a measure to have a value, and the reason given where it is
Need = Literal["positives", "negatives", "taken", "left"]
NEEDS: dict[Need, str] = {
    "positives": "no positive cases",
    "negatives": "no negative cases",
    "taken": "nothing is predicted positive",
    "left": "nothing is predicted negative",
}
BOTH: tuple[Need, Need] = ("positives", "negatives")
PARTS = ("cut", "pairs", "gaps", "precision", "places", "hull", "losses", "ranking", "columns")
# what applies to a family unless a declaration overrides it
_OF_FAMILY: dict[Family, dict[str, Any]] = {
    "probability": {"part": "losses", "scores": "probability"},
    "ranking": {"rank_based": True},
    "quota": {"rank_based": True},
    "value": {"part": "columns", "range": (0.0, math.inf)},
    "classes": {"part": "columns"},
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
    not met). ``perfect`` is the value of a perfect model (by default the best end of the range), ``chance`` the mean
    over all orders of the cases (at a threshold: with as many above it), each a number or a formula;
    ``one_class_needs`` is the option without which both classes must be there; ``checks`` has the rules of its options.
    ``tie_rule`` tells how equal scores count (``TIE_RULES``); empty where their order cannot matter.

    ``interval`` is the method of its default interval, ``stratified`` whether replicates keep the class sizes (where
    the share of positives does not matter), ``paired_test`` how two models are compared. ``proportion`` gives successes
    and trials from the four cells where the measure is ``scale`` (1 where not given) times their ratio;
    ``line_of_auc`` gives slope and intercept from n⁺, n⁻ and n where it is the AUC on another scale. ``case_loss``
    gives what a positive and what a negative of each score loses where the measure is (up to a factor) their mean; of
    several classes, from rows of probabilities, what each class would lose;
    ``perfect_area`` the area of a perfect list of n⁺ among n where that is not 1. ``proper``: whether the true
    probabilities have the best expected value, and they alone; None where it reads no probabilities. ``caution`` says
    where its interval falls short.

    A measure of several classes (family ``classes``) ``reads`` hard predictions, scores, or rows of probabilities.
    ``areas`` names the totals beyond the confusion matrix that it needs, ``row_value`` gives each row's own
    contribution where it is, or contains, a mean over rows. ``mean``: which mean over the classes it is, of the
    two-class measure ``mean_of``; ``by_class``: it compares classes that were sampled by themselves, so that each adds
    a variance of its own. ``ordered``: it reads the order of the classes. ``remark`` tells for options in which unit
    the value is, where that differs between libraries.

    ``batch_mean``: of a list in batches it is the mean over them, as search engines are judged query by query.
    ``own``: declared by the user, so it is computed only where it is named. ``remake``: how to make it in another
    process, where it may not be declared yet; empty for the measures of the catalogue.

    From these follow: ``needs_quota`` and ``needs_threshold``, whether it is read at a cut of that kind; ``of_worth``,
    whether it reads what rows are worth (at a quota, or else at a threshold); ``of_one_score``, whether it reads one
    score for each case, of two classes, and nothing else; ``by_batch``, whether batches are read one by one: at a
    quota, or because it is a mean over them; ``sums_classes``, whether each class adds a part of its own, also one of
    few cases.
    """

    title: str
    family: Family
    formula: str
    latex: str
    reference: str
    better: Better = "higher"
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
    perfect: float | str | None = "best"
    chance: float | str | None = None
    one_class_needs: str = ""
    checks: Mapping[str, Rule] = field(default_factory=dict)
    interval: IntervalMethod = "scaled"
    stratified: bool = False
    paired_test: PairedTest = "jackknife"
    proportion: Callable[[Any], tuple[Any, Any]] | None = None
    scale: OfCells | None = None
    line_of_auc: Line | None = None
    case_loss: Callable[..., Any] | None = None
    perfect_area: Callable[[float, float], float] | None = None
    proper: bool | None = None
    caution: str = ""
    reads: Reads = ""
    areas: tuple[str, ...] = ()
    row_value: Callable[..., Any] | None = None
    mean: Literal["", "macro", "weighted", "micro"] = ""
    mean_of: Spec | None = None
    by_class: bool = False
    ordered: bool = False
    remark: Callable[..., str] | None = None
    batch_mean: bool = False
    own: bool = False
    remake: tuple[Any, ...] = ()
    name: str = ""
    compute: Callable[..., Any] = field(default=lambda: None)
    params: Mapping[str, Any] = field(default_factory=dict)
    summary: str = ""
    needs_quota: bool = field(init=False, repr=False)
    needs_threshold: bool = field(init=False, repr=False)
    of_worth: bool = field(init=False, repr=False)
    of_one_score: bool = field(init=False, repr=False)
    by_batch: bool = field(init=False, repr=False)
    sums_classes: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        at_quota = self.family == "quota" and self.part == "cut"
        follows = {"needs_quota": at_quota, "by_batch": at_quota or self.batch_mean}
        follows |= {"needs_threshold": self.family == "threshold", "of_worth": self.family == "value"}
        follows["of_one_score"] = self.family not in ("value", "classes", "other")
        by_parts = self.mean == "macro" or (self.mean == "weighted" and bool(self.areas))
        follows["sums_classes"] = self.by_class or by_parts
        for name, value in follows.items():
            object.__setattr__(self, name, value)
        if not self.undefined:
            both = set(BOTH) <= set(self.needs)
            causes = ["a class is missing"] if both else [f"there are {NEEDS[n]}" for n in BOTH if n in self.needs]
            causes += [NEEDS[need] for need in self.needs if need not in BOTH]
            object.__setattr__(self, "undefined", ", or ".join(causes))
        if self.perfect == "best":
            object.__setattr__(self, "perfect", self.range[1] if self.better == "higher" else self.range[0])
        for problem, there in self._contradictions():
            if there:
                raise ValueError(f"declaration of {self.name}: {problem}")

    def _contradictions(self) -> Iterator[tuple[str, bool]]:
        low, high = self.range
        yield "the family is unknown", self.family not in FAMILIES
        yield "the part is unknown", self.part not in PARTS or (self.part == "columns") == self.of_one_score
        yield "the interval method is unknown", self.interval not in get_args(IntervalMethod)
        yield "the range is empty", not low < high
        outside = isinstance(self.perfect, float) and not low <= self.perfect <= high
        yield "a perfect model lies outside the range", outside
        names = _several if self.family == "classes" else _measures
        taken = [name for name in (self.name, *self.aliases) if _by_alias.get(name, name) in names]
        yield f"the name {' and '.join(taken)} is taken", bool(taken)
        yield "what reads several classes is of the family classes", (self.family == "classes") != bool(self.reads)
        unexplained = [name for name in self.params if not explain(self.name, name)]
        yield f"its options {unexplained} are not explained in reference.py", bool(unexplained)
        if self.family == "classes":
            return
        yield "the paired test is unknown", self.paired_test not in get_args(PairedTest)
        yield "the tie rule is unknown", self.tie_rule not in ("", *TIE_RULES)
        yield "a need is unknown", not set(self.needs) <= set(NEEDS)
        at_cut = self.part == "cut" or self.family == "value"
        yield "only what is read at a cut is a proportion", self.proportion is not None and not at_cut
        shares = self.interval in ("wilson", "moving_cut", "moving_cut_recall")
        shares |= self.paired_test in ("decisions", "hits")
        yield "this interval or test needs its proportion", shares and self.proportion is None
        losses = self.interval in ("loss_score", "information")
        yield "this interval needs the loss of a case", losses != (self.case_loss is not None)
        yield "a scale needs a proportion", self.scale is not None and self.proportion is None
        of_auc = self.line_of_auc is not None
        yield "what is a line of the AUC takes its interval", of_auc != self.interval.startswith("delong")
        yield "what is a line of the AUC takes its test", of_auc != (self.paired_test == "delong")
        family = {"decisions": "threshold", "hits": "quota"}.get(self.paired_test, self.family)
        yield "decisions are at a threshold, and hits at a quota", family != self.family
        of_probabilities = self.family == "probability" and self.scores == "probability"
        yield "say whether it is proper", of_probabilities != (self.proper is not None)
        yield "the option that one class needs is none of its own", self.one_class_needs not in ("", *self.params)

    def __reduce__(self) -> tuple[Any, ...]:
        # the one declared, also in another process
        return self.remake or (functools.partial(measure, several=self.family == "classes"), (self.name,))

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def section(self) -> str:
        """Its section in tables."""
        if self.family != "classes":
            return self.family
        return {"decisions": "decisions", "scores": "ranking", "probabilities": "probability"}[self.reads]

    @property
    def propriety(self) -> str:
        """Whether the true probabilities have the best expected value, in words; empty where none are read."""
        yes = "yes: the true probabilities have the best expected value"
        no = "no: probabilities other than the true ones can have a better expected value"
        return "" if self.proper is None else yes if self.proper else no

    def __repr__(self) -> str:
        return f"<{self.name}: {self.title} {'↑' if self.better == 'higher' else '↓'} {self.reference}>"


_measures: dict[str, Measure] = {}  # of two classes, and of other shapes
_several: dict[str, Measure] = {}  # of several classes: some have a measure of two classes of the same name
_by_alias: dict[str, str] = {}
# what makes a measure of several classes from one of two, by the name that measure strings call it by: macro(f1)
combinators: dict[str, Callable[[Spec], Measure]] = {}


def typed_as(kind: Callable[P, Any]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Type a function that declares a measure: it takes what a declaration may contain."""
    return lambda function: function


@typed_as(Measure)
def declare(title: str, family: Family, **facts: Any) -> Callable[[Callable[..., Any]], Callable[..., float]]:
    """Declare a measure over a pure function of counts, sums or totals; gives back the function that users call.

    The options of the pure function after its first argument become options of the measure. A measure of another shape
    (family ``other``: embeddings) is public as it stands, with its keyword-only options.
    """

    def declared(function: Callable[..., Any]) -> Callable[..., float]:
        parameters = list(inspect.signature(function).parameters.values())
        options = [p for p in parameters if p.kind is p.KEYWORD_ONLY] if family == "other" else parameters[1:]
        given: dict[str, Any] = {"name": function.__name__, "compute": function}
        given |= {"summary": inspect.getdoc(function) or "", "params": {p.name: p.default for p in options}}
        return publish(Measure(title, family, **{**given, **_OF_FAMILY.get(family, {}), **facts}))

    return declared


@typed_as(Measure)
def declare_share(title: str, family: Family, **facts: Any) -> Callable[[Callable[..., Any]], Callable[..., float]]:
    """Declare a measure that is a share of cases: its function gives successes and trials from the four cells."""
    return lambda function: declare(title, family, **{"interval": "wilson", "proportion": function, **facts})(
        functools.wraps(function)(lambda cells: ratio(*function(cells)))
    )


def publish(one: Measure) -> Callable[..., float]:
    """Make a measure known by its name; gives the function that users call."""
    (_several if one.family == "classes" else _measures)[one.name] = one
    _by_alias.update(dict.fromkeys(one.aliases, one.name))
    return _public(one)


def known_measure(name: str) -> Measure | None:
    """The measure of a name or an alias, in any case; of two classes where it is of both kinds."""
    for written in (name, name.lower()):
        written = _by_alias.get(written, written)
        if known := _measures.get(written) or _several.get(written):
            return known
    return None


@functools.cache
def _load_packages() -> dict[str, str]:
    """Let installed packages declare their measures, once; gives those that failed, with the error.

    An entry point of the group ``cutline.measures`` names what declares them when imported, or a function to call.
    """
    from importlib.metadata import entry_points

    failed = {}
    for entry in entry_points(group="cutline.measures"):
        try:
            loaded = entry.load()
            if inspect.isfunction(loaded):
                loaded()
        except Exception as error:  # a package may fail in any way; the one who asks is told which
            failed[entry.value] = f"{type(error).__name__}: {error}"
    return failed


def free_name(name: Any) -> None:
    """Make a name free for a measure of the user's own, who may declare it again; those of the catalogue stay."""
    if not isinstance(name, str) or not name.isidentifier():
        raise InputError("name", f"must be a word that can name a measure, got {name!r}", "use letters, digits and _")
    known = known_measure(name)
    if known is not None and not known.own:
        raise InputError("name", f"{name!r} is a measure of the catalogue", "choose another name")
    _measures.pop(name, None)


def declare_own(make: Callable[..., OwnFunction], name: str, function: Any, options: dict[str, Any]) -> Measure:
    """A measure of the user's own in another process: declared there by ``make`` if it is not yet."""
    known = known_measure(name)
    return known if known is not None and known.own else make(name, function, **options).measure


class OwnFunction:
    """A measure of the user's own as a function of labels and scores; it pickles if what it was made of does."""

    measure: Measure

    def __init__(self, one: Measure) -> None:
        functools.update_wrapper(self, publish(one))  # the measure comes with it

    def __call__(self, *arguments: Any, **options: Any) -> float:
        return self.__wrapped__(*arguments, **options)  # type: ignore[attr-defined,no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        return OwnFunction, (self.measure,)

    def __repr__(self) -> str:
        return f"<your measure {self.measure.name}>"


@documented
def measures(family: Family | None = None) -> list[Measure]:
    """The catalogue, family by family, without your own measures (:func:`count_measure`, :func:`ranking_measure`).

    ``"classes"`` gives every measure of several classes, also those that two classes have under the same name.

    >>> [m.name for m in measures("quota")][:4]
    ['hit_rate', 'qrecall', 'quota_lift', 'quota_pearson']
    >>> [m.name for m in measures("classes")][:3]
    ['accuracy', 'error_rate', 'balanced_accuracy']
    """
    if family is not None:
        one_of(*FAMILIES)(family, "family")
    listed = [m for m in _several.values() if family is not None or m.name not in _measures]
    listed += [m for m in _measures.values() if not m.own]
    return [m for f in FAMILIES if family in (None, f) for m in listed if m.family == f]


@documented
def measure(name: str, *, several: bool = False) -> Measure:
    """Describe one measure, found by its name or an alias; ``several=True``: as it is for several classes.

    >>> measure("sensitivity").name, measure("AUC").name
    ('recall', 'roc_auc')
    >>> measure("brier_score").range, measure("brier_score", several=True).range
    ((0.0, 1.0), (0.0, 2.0))
    >>> measure("precision@300").name, measure("f_beta(beta=2)").name
    ('hit_rate', 'f_beta')
    """
    if isinstance(name, str) and re.search("[@(]", name):
        return parse_measure(name, several=several).measure
    return _named(name, check_flag(several, "several"))


def _named(name: str, several: bool) -> Measure:
    """The measure of this name; what follows an @ helps with suggestions alone."""
    alone = name.partition("@")[0] if isinstance(name, str) else ""  # of pem@5%, whose quota the suggestions keep
    failed = _load_packages() if known_measure(alone) is None else {}
    known = of_two = known_measure(alone)
    if several and known is not None:
        known = _several.get(known.name)
    if known is not None:
        return known
    if of_two is not None:
        means = []
        for mean, combine in combinators.items():
            with contextlib.suppress(InputError):  # some measures have no mean over classes, or not this one
                combine(Spec(of_two))
                means.append(f"{mean}({alone})")
        if means:
            remedy = f"choose a mean over the classes: {', '.join(means)}; of two, score the positive class alone"
            raise InputError("measure", f"is {show(name)}, which each class has for itself", remedy)
    problem = f"is {show(name)}, which is not {'a measure of several classes' if several else 'in the catalogue'}"
    if failed:
        problem += f" (and {'; '.join(f'{entry} declares no measures: {why}' for entry, why in failed.items())})"
    raise InputError("measure", problem, _did_you_mean(str(name), several))


def _did_you_mean(text: str, several: bool) -> str:
    """The three measures most likely meant: those with a word in common come before those with like letters."""
    name, at, quota = text.lower()[:60].partition("@")  # longer than any name: comparing letters takes time
    if top := re.fullmatch(r"top_?(\d+)(_accuracy)?", name):
        return f"did you mean top_t_accuracy(t={top[1]})?"
    words = {word.removesuffix("s") for word in re.split(r"[\W_]+", name)} - {""}
    at_quota = (known for known, one in _measures.items() if one.needs_quota or known in _AT_QUOTA)
    likeness = {
        known: difflib.SequenceMatcher(None, name, known).ratio()
        + len(words & set(known.split("_"))) / max(len(words), 1)
        for known in ([*_several] if several else at_quota if at else [*_measures, *_by_alias, *_several])
    }
    near = sorted(likeness, key=likeness.__getitem__, reverse=True)[:3]
    return f"did you mean {verbatim(', '.join(known + at + quota for known in near))}?"


@dataclass(frozen=True)
class Spec:
    """A measure with its options, as named by a measure string such as ``qrecall@5%`` or ``f_beta(beta=2)``."""

    measure: Measure
    options: tuple[tuple[str, Any], ...] = ()
    quota: int | float | Quotas | None = None
    threshold: float | None = None
    ties: Ties = "expected"

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:  # what is kept below differs from process to process
        return Spec, (self.measure, self.options, self.quota, self.threshold, self.ties)

    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.measure, self.options, self.quota, self.threshold, self.ties))

    def __str__(self) -> str:
        options, quota = [*self.options], self.quota
        if quota is None and self.measure.batch_mean:  # the cut of a search measure: ndcg@10
            quota, options = dict(options).get("k"), [option for option in options if option[0] != "k"]
        if self.threshold is not None:
            options.append(("threshold", self.threshold))
        if self.ties != "expected":
            options.append(("ties", self.ties))
        inside = ", ".join(f"{key}={_number(value)}" for key, value in options)
        text = f"{self.measure.name}({inside})" if inside else self.measure.name
        if quota is None:
            return text
        return f"{text}@{_number(quota * 100)}%" if isinstance(quota, float) else f"{text}@{quota}"

    @property
    def better(self) -> Better:
        """Which values are better."""
        return self.measure.better

    @functools.cached_property
    def arguments(self) -> Mapping[str, Any]:
        """The measure's own options."""
        return dict(self.options)

    @property
    def ordered(self) -> bool:
        """Whether it reads the order of the classes."""
        return self.measure.ordered or self.arguments.get("weights") is not None

    @property
    def remark(self) -> str:
        """In which unit the value is, where that differs between libraries."""
        tell = self.measure.remark
        return "" if tell is None else tell(**{**self.measure.params, **self.arguments})


def _number(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.12g}" if isinstance(value, float) else repr(value)


# what a measure at a threshold is called at a quota: precision@300 is the hit rate of 300 places
_AT_QUOTA = {"precision": "hit_rate", "recall": "qrecall", "lift": "quota_lift"}
# "+" behind a repetition keeps what it took: neighbours that can take the same signs would share them in n² ways
_STRING = re.compile(r"\s*+(?P<name>\w++)\s*+(\((?P<options>.*)\))?\s*+(@(?P<quota>[^@()]++))?")


@documented
def parse_measure(text: str | Spec | Measure | Callable[..., float], *, several: bool = False) -> Spec:
    """Read a measure string; ``several=True``: as a measure of several classes.

    >>> str(parse_measure("qrecall@5%")), str(parse_measure("f_beta(beta=2)")), str(parse_measure("macro(f1)"))
    ('qrecall@5%', 'f_beta(beta=2)', 'macro(f1)')
    >>> str(parse_measure("MCC")), str(parse_measure("precision@300"))
    ('matthews_correlation', 'hit_rate@300')
    """
    several = check_flag(several, "several")
    if callable(text) and hasattr(text, "measure"):
        text = text.measure
    if isinstance(text, Measure):
        text = text.name if text.name in combinators else make_spec(text, {})
    if isinstance(text, Spec):
        if not several or text.measure.family == "classes":
            return text
        text = str(text)
    if not isinstance(text, str):
        example = "'macro(f1)'" if several else "'qrecall@5%'"
        raise InputError("measure", f"must be a string such as 'pem' or {example}, got {show(text)}")
    match = _STRING.fullmatch(text)
    if match is None:
        remedy = f"{_did_you_mean(text, several)} Write it like 'pem', 'hit_rate@200' or 'f_beta(beta=2)'"
        raise InputError("measure", f"is {show(text)}", remedy)
    if match["name"].lower() in combinators:
        if not (match["options"] or "").strip() or match["quota"]:
            raise InputError("measure", f"is {show(text)}", f"name what it averages: '{match['name']}(f1)'")
        return Spec(combinators[match["name"].lower()](parse_measure(match["options"])))
    options: dict[str, Any] = {}
    for item in filter(None, (part.strip() for part in (match["options"] or "").split(","))):
        key, equals, value = item.partition("=")
        try:
            options[key.strip()] = ast.literal_eval(value.strip() if equals else "")
        except (ValueError, SyntaxError, MemoryError, RecursionError):  # the last two: brackets in brackets
            problem = f"is {show(text)}, where {show(item)} is not an option"
            raise InputError("measure", problem, "write it like 'beta=2'") from None
    named = _named("@".join(filter(None, match.group("name", "quota"))), several)
    if match["quota"] is not None:
        options["k" if "k" in named.params else "quota"] = parse_quota(match["quota"])
        named = measure(_AT_QUOTA.get(named.name, named.name))
    return make_spec(named, options)


def make_spec(one: Measure, options: Mapping[str, Any]) -> Spec:
    """Check a measure's options and bring them in one form: defaults are left out."""
    left = dict(options)
    quota, threshold, ties = left.pop("quota", None), left.pop("threshold", None), left.pop("ties", "expected")
    if quota is not None and not (one.needs_quota or one.of_worth):
        at_quota = ", ".join(m.name for m in _measures.values() if m.needs_quota)
        own = "declare it with at='quota', or choose one of "
        remedy = f"{own if one.own and one.needs_threshold else 'measures at a quota are '}{at_quota}"
        raise InputError("measure", f"{one.name} takes no quota", remedy)
    if quota is not None:
        quota = parse_quota(quota)
    if threshold is not None:
        if not (one.needs_threshold or (one.of_worth and quota is None)):
            raise InputError("measure", f"{one.name} takes no threshold", "leave it out: it reads the whole list")
        threshold = check_number(threshold, "threshold")
    one_of("expected", "best", "worst")(ties, "ties")
    if ties != "expected" and not one.tie_rule:
        raise InputError("measure", f"{one.name} does not depend on the order within ties", "leave ties out")
    unknown = [key for key in left if key not in one.params]
    if unknown:
        known = ", ".join([*one.params, *(["quota"] if one.needs_quota else [])]) or "none"
        raise InputError("measure", f"{one.name} has no option {show(unknown[0])}", f"its options: {known}")
    missing = [key for key, default in one.params.items() if default is REQUIRED and key not in left]
    if missing:
        raise InputError("measure", f"{one.name} needs the option {missing[0]}", f"write {one.name}({missing[0]}=…)")
    for key, rule in one.checks.items():
        if key in left and not (left[key] is None is one.params[key]):
            rule(left[key], key)
    chosen = []
    for key, default in one.params.items():
        value = left.get(key, default)
        numbers = isinstance(value, int | float) and isinstance(default, int | float)
        # top_t_accuracy: without t the name does not say what is meant
        if key == "t" or not (value is default or (numbers and value == default)):
            chosen.append((key, value))
    return Spec(one, tuple(chosen), quota, threshold, ties)


def check_number_but(value: Any, name: str, excluded: float, problem: str, remedy: str, **bounds: Any) -> None:
    """Raise an error for an option that is not a number within bounds, or is the one number that means nothing."""
    if check_number(value, name, **bounds) == excluded:
        raise InputError(name, f"is {excluded:g}, {problem}", remedy)


# nothing is a multiple of no positives
_NO_PRIOR = {"problem": "which leaves nothing to compare with", "remedy": "it must lie in (0, 1]"}
check_prior = functools.partial(check_number_but, excluded=0.0, **_NO_PRIOR, low=0.0, high=1.0)


def ratio(above: Any, below: Any) -> Any:
    """Division that gives nan for 0/0 and inf for a/0, quietly, for numbers and arrays alike."""
    if isinstance(above, float) and isinstance(below, float) and below != 0.0:
        return np.float64(float(above) / float(below))  # what NumPy gives, without its ceremony
    with np.errstate(all="ignore"):
        return np.divide(above, below)


def _public(one: Measure) -> Callable[..., float]:
    """The function users call: checks the sample, sums it, and applies the algebra; with the measure's own options."""

    def warned(value: float, why: str) -> float:
        if value != value:
            warnings.warn(f"{one.name} is undefined here: {why}", UndefinedWarning, stacklevel=3)
        return value

    plain = functools.cache(lambda: make_spec(one, {}))  # most calls name no option; one that is required fails there

    def of_scores(
        y_true: Labels, y_score: Scores, *, pos_label: Label = None, sample_weight: Scores | None = None, **options: Any
    ) -> float:
        from .compute import compute_one

        worth = ("worth", "cost", "cut_by") if one.of_worth else ()
        given = {name: options.pop(name) for name in worth if name in options}
        spec = make_spec(one, options) if options else plain()
        return warned(*compute_one(spec, y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, **given))

    def of_classes(
        y_true: Labels,
        score_matrix: ScoreMatrix,
        *,
        classes: Sequence[Any] | None = None,
        sample_weight: Scores | None = None,
        **options: Any,
    ) -> float:
        from .compute import compute_one_of_classes

        spec = make_spec(one, options)
        return warned(*compute_one_of_classes(spec, y_true, score_matrix, classes, sample_weight))

    def option(name: str, default: Any, annotation: str) -> inspect.Parameter:
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

    function: Any = one.compute
    if one.family != "other":
        function = of_classes if one.family == "classes" else of_scores
        *columns, _ = inspect.signature(function).parameters.values()
        declared = inspect.signature(one.compute).parameters
        options = [option(name, default, declared[name].annotation) for name, default in one.params.items()]
        if one.family == "classes":
            parameters = [*columns[:2], *options, *columns[2:]]
        else:
            threshold = [option("threshold", None, "float | None")] if one.needs_threshold or one.of_worth else []
            quota = [option("quota", REQUIRED, "QuotaLike")] if one.needs_quota else []
            if one.of_worth:
                quota = [option("worth", REQUIRED, "Scores"), option("quota", None, "QuotaLike | None")]
                quota += [option("cost", None, "Scores | None"), option("cut_by", "score", "CutBy")]
            ties = [option("ties", "expected", "Ties")] if one.tie_rule else []
            parameters = [*columns, *threshold, *quota, *options, *ties]
        function = functools.wraps(one.compute)(function)
        function.__signature__ = inspect.Signature(parameters, return_annotation=float)
        function.__annotations__ = {"return": float}
    function.__doc__ = _docstring(one)
    function.measure = one
    return documented(function)  # type: ignore[no-any-return]


def _docstring(one: Measure) -> str:
    """Title, meaning, and the declared facts, in one order for every measure."""
    meaning, mark, example = one.summary.partition(">>>")
    without = "an error; nan, with the reason, in an evaluation" if one.one_class_needs else "nan"
    ties = "ties='best' and ties='worst' give the best and the worst order."
    facts = [
        f"Better: {one.better}. Range: {one.range[0]:g} to {one.range[1]:g}.",
        f"Formula: {one.formula}",
        f"Undefined ({without}) if {one.undefined}" if one.undefined else "",
        f"Same as: {one.same_as}" if one.same_as else "",
        f"Proper: {one.propriety}." if one.propriety else "",
        f"Also called: {', '.join(one.aliases)}" if one.aliases else "",
        f"Ties: {TIE_RULES[one.tie_rule]}; {ties}" if one.tie_rule else "",
        f"Reference: {one.reference}",
    ]
    body = "\n".join(textwrap.fill(fact, 110) for fact in facts if fact)
    return f"{one.title}. {meaning.strip()}\n\n{body}\n\n{mark}{example}".rstrip() + "\n"

"""The two verbs: ``evaluate`` one model, ``compare`` several, from arrays or any table, of two classes or of many.

Every call takes one way: what was given becomes checked samples, here for arrays and in ``table_routes`` for tables,
and the samples become a result, with segments if there are any.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict, TypeVar, Unpack, overload

from .catalogue.declare import parse_measure
from .errors import InputError, show
from .estimate import BY_REPLICATES, CLASS_INTERVAL, INTERVAL, Settings
from .evaluation import Evaluation, evaluate_sample
from .quotas import parse_quota
from .reference import documented
from .sources.arrays import Sample, is_matrix, make_sample
from .sources.rules import wanted_number
from .types import (
    ClassIntervalName,
    CutBy,
    HasColumns,
    IntervalName,
    Label,
    Labels,
    MeasureLike,
    Missing,
    QuotaLike,
    ScoreMatrix,
    Scores,
    SegmentLike,
    TableSource,
)
from .validate import Rule, check_column, check_columns, check_flag, check_number, check_scores, checked, one_of

if TYPE_CHECKING:
    from .class_evaluation import ClassComparison, ClassEvaluation
    from .comparison import Comparison
    from .verdict import Check

P = ParamSpec("P")
R = TypeVar("R")
_DRAWS = 2000  # replicates in memory where no number was given; a stream has fewer (STREAMED_RESAMPLES)
_COUNTS = ("positives", "negatives", "rows", "low", "high")  # columns of a table of counts
_TABLE = (
    *("label", "score", "weight", "query", "missing", *_COUNTS),
    *("where", "ignore_case", "sheet", "skip_rows", "delimiter", "quote", "decimal", "encoding"),
    *("memory_limit", "threads", "temp_directory", "stream"),
    *("exact", "tolerance"),
)
# an array beside arrays, a column's name beside a table
_ROWS = ("predicted", "by", "batch", "clusters", "inclusion", "worth", "cost")
_WORTH = ("worth", "cost", "cut_by")
_TWO_CLASSES = (
    *("negate", "ignore_case", "pos_label", "neg_label", "threshold", "quota"),
    *("stratify", "prevalence", "batch", "inclusion", *_WORTH),
)
_SEVERAL_CLASSES = ("classes", "ordered")
_RULES: dict[str, Rule] = {
    **dict.fromkeys(("label", "weight", *_COUNTS), check_column),
    "score": check_scores,
    "quota": parse_quota,
    # all scores or none, or those that are named
    "negate": lambda value, name: value if isinstance(value, bool) else check_columns(value, name),
    "cost": lambda value, _: value,  # of each row: checked with the worth
    "exact": check_flag,
    "tolerance": lambda value, name: check_number(value, name, 0.0, math.inf, open_ends=True),
    # more follows with the shape
    "interval": lambda value, name: value if isinstance(value, str) and value == "delta" else INTERVAL(value, name),
}

# what options are by default; None for those that are not here
_DEFAULTS = {"ordered": False, "interval": "auto", "level": 0.95, "seed": 0, "missing": "error", "paired": True}
_DEFAULTS |= {"cut_by": "score", "exact": True, "negate": False, "ignore_case": False}


class Options(TypedDict, total=False):
    """The options that both verbs share; their signatures list them, and type checkers read them here."""

    by: SegmentLike | str | Sequence[str] | None
    batch: Labels | str | Mapping[str, Labels] | None
    clusters: Labels | str | Mapping[str, Labels] | None
    weight: str | None
    sample_weight: Scores | None
    worth: Scores | str | None
    cost: Scores | str | None
    cut_by: CutBy
    positives: str | None
    negatives: str | None
    rows: str | None
    low: str | None
    high: str | None
    pos_label: Label
    neg_label: Label | Sequence[Label]
    ordered: bool
    query: str | None
    threshold: float | None
    quota: QuotaLike | None
    measures: Sequence[MeasureLike] | None
    interval: IntervalName | ClassIntervalName | None
    level: float
    n_resamples: int | None
    seed: int
    stratify: bool | None
    prevalence: float | None
    missing: Missing
    where: str | None
    negate: bool | str | Sequence[str]
    ignore_case: bool
    sheet: str | int | None
    skip_rows: int | None
    delimiter: str | None
    quote: str | None
    decimal: str | None
    encoding: str | None
    memory_limit: str | None
    threads: int | None
    temp_directory: str | os.PathLike[str] | None
    stream: bool | None
    exact: bool
    tolerance: float | None
    progress: bool | None


class EvaluateOptions(Options, total=False):
    """The options of ``evaluate``."""

    name: str | None
    inclusion: Scores | str | None


class CompareOptions(Options, total=False):
    """The options of ``compare``."""

    paired: bool
    margin: float | None


def _with_options(options: type[Options], verb: Callable[P, R]) -> Callable[P, R]:
    """Put the options of a verb into its signature in place of ``**options``, each with its type and its default."""
    signature = inspect.signature(verb)
    *named, rest = signature.parameters.values()
    for name, annotation in options.__annotations__.items():
        how = {"default": _DEFAULTS.get(name), "annotation": annotation.__forward_arg__}
        named.append(rest.replace(name=name, kind=inspect.Parameter.KEYWORD_ONLY, **how))
    verb.__signature__ = signature.replace(parameters=named)  # type: ignore[attr-defined]
    return verb


# A matrix of NumPy is an array like a column of scores: name its classes, and a type checker knows that there are many.
@overload
def evaluate(  # type: ignore[overload-overlap]  # rows of numbers are arrays, too
    y_true: Labels, y_score: HasColumns | Sequence[Sequence[float]], **how: Unpack[EvaluateOptions]
) -> ClassEvaluation: ...
@overload
def evaluate(
    y_true: Labels, y_score: Any = None, *, classes: Sequence[Any], **how: Unpack[EvaluateOptions]
) -> ClassEvaluation: ...
@overload
def evaluate(
    y_true: Labels, y_score: Any = None, *, predicted: Labels, **how: Unpack[EvaluateOptions]
) -> ClassEvaluation: ...
@overload
def evaluate(y_true: Labels, y_score: Scores, **how: Unpack[EvaluateOptions]) -> Evaluation: ...
@overload
def evaluate(  # type: ignore[overload-overlap]  # a name is a sequence of letters
    y_true: TableSource, *, label: str, score: str, **how: Unpack[EvaluateOptions]
) -> Evaluation: ...
@overload
def evaluate(y_true: TableSource, *, score: str | None = None, **how: Unpack[EvaluateOptions]) -> Evaluation: ...
@overload
def evaluate(
    y_true: TableSource,
    *,
    label: str,
    score: Sequence[str] | None = None,
    predicted: str | None = None,
    classes: Sequence[Any] | None = None,
    **how: Unpack[EvaluateOptions],
) -> ClassEvaluation: ...


@checked(**_RULES)
@partial(_with_options, EvaluateOptions)
def evaluate(
    y_true: Labels | TableSource,
    y_score: Scores | ScoreMatrix | HasColumns | None = None,
    *,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    predicted: Labels | None = None,
    classes: Sequence[Any] | None = None,
    **options: Any,
) -> Evaluation | ClassEvaluation:
    """Evaluate one model: every measure of the catalogue, or those named, each with an interval.

    Measures and their intervals are computed when you read them (``ev["pem"]``, ``print(ev)``, ``ev.to_dict()``); a
    stream computes all of them at once. The order in which you read them does not change the numbers.

    Arrays come first and without names: ``evaluate(y, p)``. A table comes first, and its columns are named:
    ``evaluate("scores.parquet", label="y", score="p")``. ``by``, ``batch``, ``clusters``, ``inclusion`` and
    ``predicted`` are arrays beside arrays and names of columns beside a table.

    **Several classes.** A matrix or frame with a column for each class, or several score columns (``score=["p_cat",
    "p_dog"]`` or ``"p_*"``), or ``predicted`` classes, give a :class:`ClassEvaluation`. The predicted class is the one
    with the highest score, the first of equal ones, unless ``predicted`` gives another one. ``ordered=True`` adds the
    measures for ordered classes.

    **Segments and batches.** With ``by`` the evaluation also has ``ev.segments``: a mapping from segment to the
    evaluation that its rows alone would have. A quota of 200 means the best 200 of each segment's own list (usually you
    want a share); in ``ev.segments.at()`` it means the best 200 of one list for all. With ``batch`` a quota counts in
    each batch, a batch with fewer cases than places is taken whole, and whole batches are resampled; measures without a
    quota refer to the whole list. ``ev.batches`` compares rules for the places of batches. With both, a segment's quota
    counts in each batch of its own list, and ``ev.segments.at()`` cuts the one list that all share in each batch.

    **Labels of some rows only.** With ``inclusion``, the probability with which each row was labelled, labels may be
    missing (None or nan). Every measure is then estimated for the whole list, with an interval for what all labels
    would give. Rows without a label help: a curve through the known labels gives each of them a probability of being
    positive, corrected section by section by the residuals (y − m)(1/π − 1) of the known labels. Rows that cannot be
    labelled (inclusion 0) raise an error, unless no requested measure depends on them.

    **Another share of positives.** With ``prevalence`` the measures that depend on it (precision, lift, hit rate at a
    quota, Brier score …) are computed for that share, with each class resampled separately; ``ev.moved`` names them.

    Measures that need a threshold are nan, with a reason, if the scores have none. Arrays are not copied: do not change
    them in place while you need the result. Up to a million rows of a table are loaded; longer
    tables are sorted by DuckDB within ``memory_limit``, on disk if necessary, and streamed: the measures and analytic
    intervals are the same, other intervals come from a Poisson bootstrap in the same pass. ``stream`` overrides this.
    ``exact=False`` answers from counts by bucket of the score, in one pass without a sort: each value comes with bounds
    between which it certainly lies (``ev["roc_auc"].bounds``). With ``tolerance`` rows are sorted where they are wider.
    Labels and numbers are read by the same rules for every source; anything unusual that was detected about a text file
    is in ``ev.facts["understood"]``. With more than two labels and a ``pos_label``, all others count as negative, and a
    :class:`LabelWarning` names them.

    >>> ev = evaluate([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1], interval=None)
    >>> ev["pem"].value
    0.5
    >>> table = {"hired": ["no", "yes", "no", "yes"], "p": [0.1, 0.9, 0.6, 0.5], "site": ["a", "a", "b", "b"]}
    >>> ev = evaluate(table, label="hired", score="p", pos_label="yes", by="site", interval=None)
    >>> ev["pem"].value, ev.segments["b"]["pem"].value
    (0.5, -1.0)
    >>> P = [[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.1, 0.2, 0.7], [0.5, 0.2, 0.3]]
    >>> ev = evaluate(["a", "b", "c", "c"], P, interval=None)
    >>> ev["accuracy"].value, round(ev["macro(f1)"].value, 4)
    (0.75, 0.7778)
    """
    result: Evaluation | ClassEvaluation = answer(VerbCall(evaluate, locals()))
    return result


@overload
def compare(
    y_true: Labels | Mapping[str, Labels], scores: Mapping[str, Any] | HasColumns, **how: Unpack[CompareOptions]
) -> Comparison: ...
@overload
def compare(
    y_true: Labels, scores: Mapping[str, Any] | None = None, *, classes: Sequence[Any], **how: Unpack[CompareOptions]
) -> ClassComparison: ...
@overload
def compare(
    y_true: TableSource, *, label: str, score: str | Sequence[str] | Mapping[str, str], **how: Unpack[CompareOptions]
) -> Comparison: ...
@overload
def compare(
    y_true: Labels | TableSource,
    scores: Mapping[str, Any] | None = None,
    *,
    label: str | None = None,
    score: Mapping[str, Sequence[str]] | Sequence[str] | None = None,
    predicted: Sequence[str] | Mapping[str, Labels],
    classes: Sequence[Any] | None = None,
    **how: Unpack[CompareOptions],
) -> ClassComparison: ...


@checked(**_RULES)
@partial(_with_options, CompareOptions)
def compare(
    y_true: Labels | Mapping[str, Labels] | TableSource,
    scores: Mapping[str, Scores | ScoreMatrix] | HasColumns | None = None,
    *,
    label: str | None = None,
    score: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None = None,
    predicted: Sequence[str] | Mapping[str, Labels] | None = None,
    classes: Sequence[Any] | None = None,
    **options: Any,
) -> Comparison | ClassComparison:
    """Compare models on the same cases; sources, shapes and options as for :func:`evaluate`.

    The scores are a mapping from model to scores, or a frame with a column for each model. Columns of a table are
    named: ``compare(df, label="y", score=["a", "b"])``, or a mapping from model to column. A row counts if it has all
    the scores.

    **Several classes.** Models with a matrix or frame each, or with several columns each (``score={"lda": "lda_*",
    "trees": "trees_*"}`` or ``["lda_*", "trees_*"]``), or with ``predicted`` classes (a mapping from model to them),
    give a :class:`ClassComparison`. Its differences must also be significant by both models' own intervals; the
    accuracy's p-value is exact (McNemar). ``interval="delta"`` is the delta method alone.

    Differences are paired: the influence of each row (or cluster) on a difference may change its sign, which gives both
    the interval and the p-value. If nothing varies, both models' own intervals are combined. ``interval="bootstrap"``
    compares by replicates; all models share the resampled rows. ``"delong"`` is the normal test of DeLong et al. (1988)
    for the AUC and its relatives; other measures are not tested. A model's own intervals are those that
    :func:`evaluate` gives. ``margin`` is the largest difference that does not matter to you. With
    ``paired=False`` each model has its own cases: ``y_true`` is then a mapping from name to labels, too. With ``by``
    the comparison also has ``.segments``, a mapping from segment to its comparison; with ``batch`` (the batch of each
    row) a quota counts in each batch, and whole batches change their sign.

    >>> c = compare([1, 0, 1, 0], {"a": [4, 3, 2, 1], "b": [4, 1, 3, 2]}, n_resamples=100)
    >>> c.best("pem")
    'b'
    >>> table = {"y": [1, 0, 1, 0], "a": [4, 3, 2, 1], "b": [4, 1, 3, 2]}
    >>> compare(table, label="y", score=["a", "b"], n_resamples=100).best("pem")
    'b'
    >>> y, first, second = ["a", "b", "c", "c"], ["a", "b", "c", "a"], ["b", "b", "b", "c"]
    >>> compare(y, predicted={"first": first, "second": second}, interval=None).best("accuracy")
    'first'
    """
    result: Comparison | ClassComparison = answer(VerbCall(compare, locals()))
    return result


@documented
def check(
    evaluation: Evaluation | ClassEvaluation | Comparison | ClassComparison | TableSource,
    *conditions: str,
    **options: Any,
) -> Check:
    """Check whether an evaluation meets conditions: ``"pass"``, ``"fail"`` or ``"undecided"``, by the intervals.

    A condition passes if the whole interval meets its limit, fails if no part of it does, and is undecided otherwise.
    Several conditions pass if all pass, and fail if one fails. Where ``by`` was given, each segment must pass. Measures
    that were not evaluated yet are evaluated. A table is evaluated first:
    ``check("scores.csv", "AUC >= 0.8", label="y", score="p")``.

    A comparison is checked by conditions that name models: ``roc_auc(new) >= 0.8``, or the paired difference of two,
    ``roc_auc(new) - roc_auc(old) >= -0.01`` (the new model is not worse by more than 0.01: non-inferiority).

    Several conditions, or segments, are several tests: the chance of a wrong fail adds up. A higher ``level`` of the
    evaluation lowers it.

    >>> y, old, new = [1, 1, 1, 0, 0, 0] * 20, [6, 5, 4, 3, 2, 1] * 20, [6, 5, 3, 4, 2, 1] * 20
    >>> check(evaluate(y, old, measures=["roc_auc"]), "roc_auc >= 0.8") == "pass"
    True
    >>> check(compare(y, {"old": old, "new": new}), "roc_auc(new) - roc_auc(old) >= -0.01") == "fail"
    True
    """
    from .verdict import check_conditions, parse_condition

    if options or not hasattr(evaluation, "specs"):
        parsed = [parse_condition(condition) for condition in conditions]
        verb: Any = compare if any(condition.models for condition in parsed) else evaluate
        evaluation = verb(evaluation, **{"measures": [condition.measure for condition in parsed], **options})
    return check_conditions(evaluation, conditions)


class VerbCall:
    """What one call of a verb was given, by the names of its arguments."""

    def __init__(self, verb: Callable[..., Any], values: Mapping[str, Any]) -> None:
        given = {name: value for name, value in values.items() if name != "options"} | values["options"]
        for name in given.keys() - _defaults(verb).keys():
            raise TypeError(f"{verb.__name__}() got an unexpected keyword argument {name!r}")
        self.verb, self.values = verb, _defaults(verb) | given
        ways = f"{verb.__name__}(y, p)", f"{verb.__name__}(df, label='y', score='p')"
        self._two_ways = f"pass arrays alone, {ways[0]}, or name every column of one table, {ways[1]}"
        self.compares = "scores" in values
        self.scores_argument = "scores" if self.compares else "y_score"
        self.counts = bool(self.given(*_COUNTS))  # columns of counts are named
        # Whether columns of a table are named; a call that has arrays too is an error.
        named, arrays = self.given(*_TABLE), self.given(self.scores_argument, "sample_weight")
        scores = self.values[self.scores_argument]
        if isinstance(scores, str):
            raise InputError(self.scores_argument, f"is {show(scores)}, a name", "name the column with {score}")
        if isinstance(weight := self.values["sample_weight"], str):
            raise InputError("sample_weight", f"is {show(weight)}, a name", "name the column with {weight}")
        for name in [] if named and arrays else self.given(*_ROWS):
            value, several = self.values[name], name in ("by", "predicted")
            if not named and isinstance(value, str):
                named.append(name)
            elif named and isinstance(value, list | tuple) and several:
                check_columns(value, name)
            elif named and not isinstance(value, str | int | float | Mapping if several else str | int | float):
                arrays.append(name)
            elif named and not isinstance(value, Mapping) and (name != "inclusion" or isinstance(value, bool)):
                check_column(value, name)
        if named and arrays:
            problem = f"arrays and names of columns are mixed: {arrays[0]} and {named[0]}"
            raise InputError(None, problem, self._two_ways)
        # with nothing named, perhaps counts that describe themselves
        self.names_columns = bool(named) or not self.given(self.scores_argument, "predicted")
        if self.names_columns and not named:
            table = self.values["y_true"]
            if not isinstance(table, str | os.PathLike | Mapping) and not hasattr(table, "columns"):
                raise self.lacks_columns()

    def __getattr__(self, name: str) -> Any:
        """An argument of the verb; None if the other verb has it."""
        if name not in _defaults(evaluate) and name not in _defaults(compare):
            raise AttributeError(name)
        return self.values.get(name)

    def given(self, *names: str) -> list[str]:
        """Those of some options that are there and not as they are by default."""
        defaults = _defaults(self.verb)
        changed = [name for name in names if name in defaults and self.values[name] is not defaults[name]]
        plain = (str, bool)  # an array has no one answer to whether it equals its default
        return [n for n in changed if not isinstance(self.values[n], plain) or self.values[n] != defaults[n]]

    def refuse(self, *names: str, why: str, remedy: str = "leave it out") -> None:
        """Raise an error for the first of some options that was given."""
        for name in self.given(*names):
            raise InputError(name, why, remedy)

    def pick(self, *names: str) -> dict[str, Any]:
        """Some of the options."""
        return {name: self.values[name] for name in names}

    def lacks_columns(self) -> InputError:
        """The error for rows whose labels are not named."""
        if self.given(*_TABLE):
            return InputError("label", "is missing", "name the column of labels, or {positives} and {rows} of counts")
        return InputError(self.scores_argument, "is missing", self._two_ways)

    def settings(self, *, several: bool = False) -> Settings:
        """How intervals are made; raises an error for options that are not for so many classes."""
        if several:
            rule, why, remedy = CLASS_INTERVAL, "is for two classes, and here are several", "leave it out"
            self.refuse(*_TWO_CLASSES, why=why, remedy=f"{remedy}; ev.of(label) evaluates one class against the rest")
        else:
            rule = INTERVAL
            self.refuse(*_SEVERAL_CLASSES, why="is for several classes, and here are the scores of one")
            if self.worth is not None:
                self.refuse("prevalence", "paired", why="does not go with {worth}")
        if self.by is not None:
            self.refuse("prevalence", "paired", why="does not go with {by}", remedy="evaluate each segment by itself")
            if self.compares and self.measures is not None and not len(self.measures):
                raise InputError("measures", "is empty, and models are compared in each segment", "name at least one")
        if self.margin is not None and self.margin >= 1.0 and self.worth is None:
            # where no measure reaches so far, every two models would be equivalent
            widest = [1.0] if several else [parse_measure(m).measure.range[1] for m in self.measures or ("roc_auc",)]
            if self.margin >= max(widest):
                problem = f"is {self.margin:g}, but no measure is above {max(widest):g}"
                raise InputError("margin", problem, "write a difference of the measure, such as 0.01")
        drawn = _DRAWS if self.n_resamples is None else self.n_resamples
        interval = rule(self.interval, "interval")
        paired = (None, "auto", "delta" if several else "delong", *BY_REPLICATES)  # others are for a single value
        if self.compares and interval not in paired:
            remedy = f"choose one of {', '.join(filter(None, paired))}; evaluate() takes {interval!r}"
            raise InputError("interval", f"is {interval!r}, which no difference between models has", remedy)
        return Settings(interval, self.level, drawn, self.seed, self.stratify, progress=self.progress)


@cache
def _defaults(verb: Callable[..., Any]) -> dict[str, Any]:
    return {name: p.default for name, p in inspect.signature(verb).parameters.items()}


def answer(call: VerbCall) -> Any:
    """The result of a call: of a table, of several classes, of labels of some rows, or of two classes."""
    if call.names_columns:
        from .table_routes import answer_from_table

        return answer_from_table(call)
    scores = call.values[call.scores_argument]
    if call.compares:
        several = isinstance(scores, Mapping) and (call.classes is not None or any(map(is_matrix, scores.values())))
    else:
        several = is_matrix(scores)
    call.refuse("negate", why="is for columns of a table", remedy="change the sign of the scores: -y_score")
    if several or call.predicted is not None:
        rows = call.pick("classes", "sample_weight", "clusters", "by")
        return judge_classes(call, call.y_true, scores, call.predicted, **rows)
    if call.inclusion is not None:
        return judge_sampled(call, call.y_true, scores, call.inclusion, call.name or "model")
    call.settings()  # errors of options come before columns are read
    labelled = call.pick("pos_label", "neg_label", "sample_weight", *_WORTH)
    if not call.compares:
        samples = {call.name or "model": make_sample(call.y_true, scores, clusters=call.clusters, **labelled)}
        return judge(call, samples, call.by, call.batch)
    from .comparison import samples_of

    if hasattr(scores, "columns") and not isinstance(scores, Mapping):  # a frame: one model in each column
        scores = {str(name): scores[name] for name in scores.columns}
    if not isinstance(scores, Mapping) or not scores:
        remedy = "pass a mapping from model name to scores, or a frame with one model in each column"
        raise InputError("scores", "does not name the models", remedy)
    for what in ("clusters", "batch"):
        named = call.values[what]
        if named is not None and not call.paired and not (isinstance(named, Mapping) and set(scores) <= set(named)):
            problem = f"does not name the {what} of each model, and with {{paired=False}} each has its own rows"
            raise InputError(what, problem, f"pass a mapping from model to {what}")
    return judge(call, samples_of(call.y_true, scores, labelled, call.clusters, call.paired), call.by, call.batch)


def judge(
    call: VerbCall, samples: Mapping[str, Sample], by: Any, batch: Any, *, counted: Any = None, **facts: Any
) -> Any:
    """The evaluation of one model, or the comparison of several, on checked samples, with facts of their table."""
    how = {"settings": call.settings(), "batch": batch, **call.pick("threshold", "quota", "measures", "prevalence")}
    if isinstance(call.pos_label, str) and wanted_number(call.pos_label) is None:  # a word, which needs its column …
        plain = call.pos_label.strip().lower() in ("yes", "y", "true", "t", "positive", "pos")  # … if it means little
        named = "" if call.label is None else f"{call.label} = {call.pos_label}"
        facts["positive_name"] = named if plain else call.pos_label
    if call.compares:
        from .comparison import compare_samples

        overall: Any = compare_samples(samples, facts=facts, **how, **call.pick("paired", "margin"))
    else:
        ((name, sample),) = samples.items()
        overall = evaluate_sample(sample, name=name, facts=facts, counted=counted, **how)
    if by is None:
        return overall
    from .segments import in_segments

    return in_segments(overall, by)


def judge_sampled(call: VerbCall, label: Any, y_score: Any, inclusion: Any, name: str) -> Evaluation:
    """The evaluation of a list of which some labels are known."""
    from .sampled_labels import evaluate_sampled_labels

    call.refuse(
        *("neg_label", "sample_weight", "weight", "clusters", "by", "batch", "prevalence", "stratify", "stream"),
        *_SEVERAL_CLASSES,
        *_WORTH,
        why="does not go with {inclusion}",
    )
    interval = one_of(None, "auto")(call.interval, "interval")
    how = call.pick("pos_label", "threshold", "quota", "measures", "level")
    return evaluate_sampled_labels(label, y_score, inclusion, name=name, interval=interval, **how)


def judge_classes(
    call: VerbCall,
    labels: Any,
    scores: Any,
    predicted: Any,
    *,
    by: Any = None,
    argument: str = "y_score",
    dropped: int = 0,
    **rows: Any,
) -> ClassEvaluation | ClassComparison:
    """The evaluation of a model of several classes, or the comparison of several such models."""
    from .class_evaluation import compare_matrices, evaluate_class_sample
    from .class_sample import make_class_sample

    how: dict[str, Any] = {"settings": call.settings(several=True), "dropped": dropped}
    how |= call.pick("ordered", "measures")
    if call.compares:
        call.refuse("paired", why="is False, but models of several classes are compared on the same rows")
        scores, predicted = ({} if given is None else given for given in (scores, predicted))
        if not all(isinstance(given, Mapping) for given in (scores, predicted)) or len({**scores, **predicted}) < 2:
            named = "scores" if scores else "predicted"
            raise InputError(named, "must map at least two names to score matrices", "write {{'a': P, 'b': Q}}")
        overall: Any = compare_matrices(labels, {**scores, **predicted}, margin=call.margin, **rows, **how)
    else:
        try:
            sample = make_class_sample(labels, scores, predicted=predicted, **rows)
        except InputError as error:
            raise error.but(argument=argument) if error.argument == "score_matrix" else error from None
        overall = evaluate_class_sample(sample, name=call.name or "model", **how)
    if by is not None:
        from .segments import in_segments

        overall = in_segments(overall, by)
    result: ClassEvaluation | ClassComparison = overall
    return result

"""What a verb was given, and its way through arrays: samples checked, then evaluated or compared."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from .errors import InputError, show
from .estimate import CLASS_INTERVAL, INTERVAL, ClassSettings, Settings, check_paired_interval
from .evaluation import Evaluation, evaluate_sample
from .partition import Partition
from .quotas import parse_quota
from .sources.arrays import Sample, make_sample
from .validate import Rule, check_column, check_columns, one_of

if TYPE_CHECKING:
    from .class_evaluation import ClassComparison, ClassEvaluation
    from .comparison import Comparison

_DRAWS = 2000  # replicates in memory where no number was given; a stream has fewer (STREAMED_RESAMPLES)
_TABLE = (
    *("label", "score", "weight", "query", "model", "case", "class_column", "missing"),
    *("delimiter", "quote", "decimal", "encoding", "memory_limit", "threads", "temp_directory", "stream"),
)
_ROWS = ("predicted", "by", "batch", "clusters", "inclusion")  # an array beside arrays, a column's name beside a table
_TWO_CLASSES = ("pos_label", "neg_label", "threshold", "quota", "stratify", "prevalence", "by", "batch", "inclusion")
_SEVERAL_CLASSES = ("classes", "ordered")
ESTIMATORS = ("assisted", "hajek")  # how labels of some rows are used


class VerbCall:
    """What one call of a verb was given, by the names of its arguments."""

    def __init__(self, verb: Callable[..., Any], values: Mapping[str, Any]) -> None:
        self.verb, self.values = verb, dict(values)
        self.scores_argument = "scores" if "scores" in values else "y_score"
        self.names_columns = self._names_columns()

    def __getattr__(self, name: str) -> Any:
        """An argument of the verb."""
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None

    def given(self, *names: str) -> list[str]:
        """Those of some options that are there and not as they are by default."""
        defaults = _defaults(self.verb)
        return [name for name in names if name in defaults and not _same(self.values[name], defaults[name])]

    def refuse(self, *names: str, why: str, remedy: str = "leave it out") -> None:
        """Refuse the first of some options that was given."""
        for name in self.given(*names):
            raise InputError(name, why, remedy)

    def pick(self, *names: str) -> dict[str, Any]:
        """Some of the options."""
        return {name: self.values[name] for name in names}

    def _names_columns(self) -> bool:
        """Whether columns of a table are named; refuses a call that has arrays too."""
        named, arrays = self.given(*_TABLE), self.given(self.scores_argument, "sample_weight")
        verb = self.verb.__name__
        both = f"pass arrays alone, {verb}(y, p), or name every column of one table, {verb}(df, label='y', score='p')"
        if isinstance(self.values[self.scores_argument], str):
            raise InputError(
                self.scores_argument,
                f"is {show(self.values[self.scores_argument])}, a name",
                "name the column with {score}",
            )
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
            raise InputError(None, f"arrays and names of columns are mixed: {arrays[0]} and {named[0]}", both)
        if not named and not self.given(self.scores_argument, "predicted"):
            raise InputError(self.scores_argument, "is missing", both)
        if named and self.label is None:
            raise InputError("label", "is missing", "name the column of labels")
        return bool(named)

    def settings(self, interval: Rule = INTERVAL) -> Settings:
        """How intervals of two classes are made."""
        self.refuse(*_SEVERAL_CLASSES, why="is for several classes, and here are the scores of one")
        drawn = _DRAWS if self.n_resamples is None else self.n_resamples
        how = self.level, drawn, self.seed, self.stratify
        return Settings(interval(self.interval, "interval"), *how, progress=self.progress)

    def class_settings(self) -> ClassSettings:
        """How intervals of several classes are made."""
        self.refuse(
            *_TWO_CLASSES,
            why="is for two classes, and here are several",
            remedy="leave it out; ev.of(label) evaluates one class against the rest",
        )
        drawn = _DRAWS if self.n_resamples is None else self.n_resamples
        how = self.level, drawn, self.seed
        return ClassSettings(CLASS_INTERVAL(self.interval, "interval"), *how, progress=self.progress)


@cache
def _defaults(verb: Callable[..., Any]) -> dict[str, Any]:
    return {name: p.default for name, p in inspect.signature(verb).parameters.items()}


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str | bool) and value == default)


def evaluate_arrays(asked: VerbCall) -> Evaluation:
    """Evaluate a column of scores."""
    if asked.inclusion is not None:
        return evaluate_sampled(asked, asked.y_true, asked.y_score, asked.inclusion, asked.name or "model")
    asked.refuse("estimator", why="is for labels of some rows", remedy="give {inclusion}, or leave it out")
    settings = asked.settings()
    labelled = asked.pick("pos_label", "neg_label", "sample_weight", "clusters")
    sample = make_sample(asked.y_true, asked.y_score, **labelled)
    return evaluate_in_memory(asked, sample, settings, asked.name or "model", asked.by, asked.batch)


def evaluate_in_memory(
    asked: VerbCall, sample: Sample, settings: Settings, name: str, by: Any, batch: Any
) -> Evaluation:
    """Evaluate a checked sample, with its segments if there are any."""
    how: dict[str, Any] = {"name": name, "quota": parse_quota(asked.quota), "settings": settings}
    how |= asked.pick("threshold", "measures")
    if by is None:
        return evaluate_sample(sample, prevalence=asked.prevalence, batch=batch, **how)
    from .segments import evaluate_segments

    refuse_by_segment(asked)
    return evaluate_segments(sample, Partition.of_sample(by, sample, "by"), **how).overall


def refuse_by_segment(asked: VerbCall) -> None:
    """Refuse what segments leave no room for."""
    asked.refuse(
        "batch",
        why="does not go with {by}: a segment is reported as one list, which batches would cut",
        remedy="leave one of them out, or give the rows of one segment with {batch}",
    )
    asked.refuse(
        "prevalence",
        why="is one for all rows, and segments differ in theirs",
        remedy="weight the rows with {sample_weight}, positives by wanted / present share and negatives likewise, or "
        "evaluate the rows of one segment by themselves",
    )


def evaluate_sampled(asked: VerbCall, label: Any, y_score: Any, inclusion: Any, name: str) -> Evaluation:
    """Evaluate a list of which some labels are known."""
    from .sampled_labels import evaluate_sampled_labels

    asked.refuse(
        *("neg_label", "sample_weight", "weight", "clusters", "by", "batch", "prevalence", "stratify", "stream"),
        *_SEVERAL_CLASSES,
        why="does not go with {inclusion}",
    )
    interval = one_of(None, "auto")(asked.interval, "interval")
    more = asked.pick("pos_label", "threshold", "measures", "estimator", "level")
    return evaluate_sampled_labels(
        label, y_score, inclusion, name=name, quota=parse_quota(asked.quota), interval=interval, **more
    )


def compare_arrays(asked: VerbCall) -> Comparison:
    """Compare columns of scores."""
    from .comparison import samples_of

    settings = asked.settings(check_paired_interval)
    scores, paired = asked.scores, asked.paired
    if hasattr(scores, "columns") and not isinstance(scores, Mapping):  # a frame: one model in each column
        scores = {str(name): scores[name] for name in scores.columns}
    if not isinstance(scores, Mapping) or not scores:
        remedy = "pass a mapping from model name to scores, or a frame with one model in each column"
        raise InputError("scores", "does not name the models", remedy)
    for what in ("clusters", "batch"):
        named = asked.values[what]
        if named is not None and not paired and not (isinstance(named, Mapping) and set(scores) <= set(named)):
            said = f"does not name the {what} of each model, and with {{paired=False}} each has its own rows"
            raise InputError(what, said, f"pass a mapping from model to {what}")
    labelled = asked.pick("pos_label", "neg_label", "sample_weight")
    samples = samples_of(asked.y_true, scores, labelled, asked.clusters, paired)
    return compare_in_memory(asked, samples, settings, asked.by, asked.batch)


def compare_in_memory(
    asked: VerbCall, samples: Mapping[str, Sample], settings: Settings, by: Any, batch: Any
) -> Comparison:
    """Compare models on checked samples, in segments if there are any."""
    how: dict[str, Any] = {"quota": parse_quota(asked.quota), "settings": settings}
    how |= asked.pick("threshold", "measures", "paired", "margin")
    from .comparison import compare_samples

    if by is None:
        return compare_samples(samples, prevalence=asked.prevalence, batch=batch, **how)
    from .segments import compare_segments

    refuse_by_segment(asked)
    asked.refuse("paired", why="is False, but segments compare models on the same rows", remedy="leave {by} out")
    overall = compare_samples(samples, **how)
    levels = Partition.of_sample(by, overall.first.sample, "by")
    by_segment = compare_segments(overall, levels, quota=how["quota"], by_default=asked.measures is None)
    return replace(overall, by_segment=by_segment)


def evaluate_classes(asked: VerbCall) -> ClassEvaluation:
    """Evaluate a score matrix, or predicted classes."""
    from .class_evaluation import evaluate_class_sample
    from .class_sample import make_class_sample

    settings = asked.class_settings()
    rows = asked.pick("predicted", "classes", "sample_weight", "clusters")
    with named_as("y_score"):
        sample = make_class_sample(asked.y_true, asked.y_score, **rows)
    how = asked.pick("ordered", "measures")
    return evaluate_class_sample(sample, name=asked.name or "model", settings=settings, **how)


@contextmanager
def named_as(argument: str) -> Iterator[None]:
    """Errors about a score matrix, under the name that it has here."""
    try:
        yield
    except InputError as error:
        raise error.but(argument=argument) if error.argument == "score_matrix" else error from None


def compare_classes(asked: VerbCall) -> ClassComparison:
    """Compare score matrices, or predicted classes."""
    from .class_evaluation import compare_matrices

    settings = asked.class_settings()
    asked.refuse("paired", why="is False, but models of several classes are compared on the same rows")
    scores, predicted = ({} if asked.values[name] is None else asked.values[name] for name in ("scores", "predicted"))
    if not all(isinstance(one, Mapping) for one in (scores, predicted)) or len({**scores, **predicted}) < 2:
        argument = "scores" if scores else "predicted"
        raise InputError(argument, "must map at least two names to score matrices", "write {{'a': P, 'b': Q}}")
    how = asked.pick("classes", "sample_weight", "clusters", "ordered", "measures", "margin")
    return compare_matrices(asked.y_true, {**scores, **predicted}, settings, **how)

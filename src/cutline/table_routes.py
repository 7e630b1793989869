"""A verb's way through a table: its columns read, then as arrays go, or streamed where rows do not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from .array_routes import VerbCall, compare_in_memory, evaluate_in_memory, evaluate_sampled, named_as, refuse_by_segment
from .class_evaluation import ClassComparison, ClassEvaluation, compare_matrices, evaluate_class_sample
from .class_sample import make_class_sample
from .comparison import Comparison, samples_of
from .engines.stream import EvaluationRequest
from .errors import InputError, show
from .estimate import Settings, check_paired_interval
from .evaluation import Evaluation, check_batch_options
from .quotas import parse_quota
from .segments import SegmentComparison, Segments
from .sources.arrays import make_sample
from .sources.class_matrix import ClassRows, find_class_columns, read_classes, read_long_classes, read_models
from .sources.duckdb import DuckTable, machine_of
from .sources.file_formats import TextFormat
from .sources.frames import LoadedColumns, MemoryTable, frame_of
from .sources.given_columns import read_known_labels
from .sources.open_source import open_source, rows_of
from .sources.profiles import is_pattern
from .sources.rules import negative_labels
from .sources.sql_table import Checked, Roles


@contextmanager
def opened(asked: VerbCall) -> Iterator[Any]:
    """The source of the columns, opened."""
    machine = machine_of(asked.memory_limit, asked.threads, asked.temp_directory)
    text = TextFormat(asked.delimiter, asked.quote, asked.decimal, asked.encoding)
    with open_source(asked.y_true, asked.query, machine, text) as table:
        yield table


def _request(asked: VerbCall, settings: Settings) -> EvaluationRequest:
    """What to evaluate, for a table."""
    how = settings, asked.n_resamples, asked.stream
    return EvaluationRequest(asked.threshold, parse_quota(asked.quota), asked.measures, *how)


def _roles(asked: VerbCall, scores: Mapping[str, str]) -> Roles:
    """The columns of a table of two classes."""
    by = asked.by
    columns = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise InputError("by", f"names {show(twice)} twice", "name each column once")
    return Roles(
        scores=scores,
        **asked.pick("label", "weight", "clusters", "pos_label", "missing", "decimal"),
        by=columns,
        batch=asked.batch,
        neg_label=negative_labels(asked.neg_label, asked.pos_label),
    )


def evaluate_table(asked: VerbCall) -> Evaluation | ClassEvaluation:
    """Evaluate one model of a table, of two classes or of several."""
    score, predicted = asked.score, asked.predicted
    with opened(asked) as table:
        if isinstance(score, list | tuple) and len(score) == 1 and predicted is None:
            asked.values["score"] = score = score[0]
        column = isinstance(score, str) and not is_pattern(table, score)
        if asked.class_column is not None or predicted is not None or not column:
            return _evaluate_class_table(table, asked)
        return _evaluate_two_classes(table, asked)


def _evaluate_two_classes(table: Any, asked: VerbCall) -> Evaluation:
    score, name = asked.score, asked.name or asked.score
    if asked.inclusion is not None:
        return _evaluate_sampled_table(table, asked, name)
    asked.refuse("estimator", why="is for labels of some rows", remedy="give {inclusion}, or leave it out")
    asked.refuse("case", why="goes with {class_column}: a row for each case and class")
    settings = asked.settings()
    roles, request = _roles(asked, {name: score}), _request(asked, settings)
    found = _read(table, roles, request)
    if isinstance(found, LoadedColumns):
        sample = make_sample(found.positive, found.scores[name], sample_weight=found.weight, clusters=found.clusters)
        ev = evaluate_in_memory(asked, sample, settings, name, found.segments, found.batch)
        return _with_facts(ev, found)
    _refuse_in_stream(asked, roles, request)
    if isinstance(found, Checked):
        from .engines.duckdb_engine import evaluate as through_duckdb

        result = through_duckdb(table, found, request)
    else:
        from .engines.spark_engine import evaluate as on_spark

        result = on_spark(table, roles, request)
    return result.overall if isinstance(result, Segments) else result


def _evaluate_sampled_table(table: Any, asked: VerbCall, name: str) -> Evaluation:
    score, inclusion = asked.score, asked.inclusion
    numbers = [score, *([inclusion] if isinstance(inclusion, str) else [])]
    how = asked.pick("pos_label", "neg_label", "decimal")
    labels, columns, understood = read_known_labels(table, asked.label, numbers, **how)
    if not isinstance(table, MemoryTable):  # what is positive was read already
        asked.values |= {"pos_label": None, "neg_label": None}
    ev = evaluate_sampled(asked, labels, columns[score], columns.get(inclusion, inclusion), name)
    return replace(ev, understood=understood)


def _read(table: Any, roles: Roles, request: EvaluationRequest) -> LoadedColumns | Checked | None:
    """The rows in memory, or what was checked of those that are streamed; None for rows on a cluster."""
    return rows_of(table, roles, request.stream) if isinstance(table, MemoryTable | DuckTable) else None


def _refuse_in_stream(asked: VerbCall, roles: Roles, request: EvaluationRequest) -> None:
    if roles.by:
        refuse_by_segment(asked)
    if roles.batch is not None:
        check_batch_options(request.settings, asked.prevalence)
    asked.refuse(
        "prevalence",
        why="needs the rows in memory, and these are streamed",
        remedy="load them with {stream=False}, or leave it out",
    )


def _with_facts(ev: Evaluation, rows: LoadedColumns) -> Evaluation:
    """An evaluation, and its segments, with what is known of the table."""
    facts: dict[str, Any] = {"dropped": rows.dropped, "understood": "; ".join(rows.understood)}
    if ev.by_segment is not None:
        return replace(ev.by_segment, **facts).overall
    return replace(ev, **facts)


def compare_table(asked: VerbCall) -> Comparison | ClassComparison:
    """Compare models of a table, of two classes or of several."""
    with opened(asked) as table:
        if asked.predicted is not None or _names_matrices(table, asked.score):
            return _compare_class_table(table, asked)
        return _compare_two_classes(table, asked)


def _compare_two_classes(table: Any, asked: VerbCall) -> Comparison:
    settings = asked.settings(check_paired_interval)
    asked.refuse("paired", why="is False, but the models of a table have the same rows")
    request = _request(asked, settings)
    if asked.model is not None or asked.case is not None:
        asked.refuse(
            "by",
            why="needs a row for each case, not one for each case and model",
            remedy="give the table a score column for each model",
        )
        table, named = _widened(table, asked)
    else:
        named = _columns_of_models(asked.score)
    roles = _roles(asked, named)
    found = _read(table, roles, request)
    if isinstance(found, LoadedColumns):
        known = {"sample_weight": found.weight, "clusters": found.clusters}
        samples = samples_of(found.positive, found.scores, {"sample_weight": found.weight}, known["clusters"], True)
        comparison = compare_in_memory(asked, samples, settings, found.segments, found.batch)
        facts: dict[str, Any] = {"dropped": found.dropped, "understood": "; ".join(found.understood)}
        evaluations = {name: replace(ev, **facts) for name, ev in comparison.evaluations.items()}
        return replace(comparison, evaluations=evaluations)
    _refuse_in_stream(asked, roles, request)
    if isinstance(found, Checked):
        from .engines.duckdb_engine import compare as through_duckdb

        result = through_duckdb(table, found, request, asked.margin)
    else:
        from .engines.spark_engine import compare as on_spark

        result = on_spark(table, roles, request, asked.margin)
    return replace(result.overall, by_segment=result) if isinstance(result, SegmentComparison) else result


def _widened(table: Any, asked: VerbCall) -> tuple[DuckTable, dict[str, str]]:
    """A table with a row for each case and model as one with a score column for each model."""
    from .sources.profiles import widened

    model, case, score = asked.model, asked.case, asked.score
    if model is None or case is None or not isinstance(score, str):
        said = "a table with a row for each case and model needs three columns"
        raise InputError(None, said, "name {case}, {model} and one {score} column")
    if not isinstance(table, DuckTable):
        raise InputError("model", "goes with files and DuckDB", "pivot the frame first: a score column for each model")
    others = (asked.values[name] for name in ("pos_label", "missing", "decimal"))
    roles = Roles(asked.label, {score: score}, asked.weight, None, *others)
    wide, models = widened(table, roles, case=case, model=model)
    return wide, {name: name for name in models}


def _columns_of_models(score: Any) -> dict[str, Any]:
    """Model -> column; the name of a model is text, as in a comparison of arrays."""
    if isinstance(score, Mapping):
        pairs = [(str(model), column) for model, column in score.items()]
    elif isinstance(score, str) or not isinstance(score, Sequence):
        remedy = "pass a list of column names or a mapping from model to column"
        raise InputError("score", f"is {show(score)}", remedy)
    else:
        pairs = [(str(column), column) for column in score]
    if not pairs:
        raise InputError("score", "names no column", "name at least one")
    named = dict(pairs)
    if len(named) < len(pairs):
        models = [model for model, _ in pairs]
        twice = next(model for model in models if models.count(model) > 1)
        raise InputError("score", f"names {show(twice)} twice", "name each model once")
    return named


def _evaluate_class_table(table: Any, asked: VerbCall) -> ClassEvaluation:
    settings = asked.class_settings()
    asked.refuse("stream", why="is for two classes: the score matrix of several must fit in memory")
    rows = _class_rows(table, asked).in_the_order(asked.classes, ordered=asked.ordered)
    with named_as("score"):
        sample = make_class_sample(rows.labels, rows.matrix, **rows.arguments)
    how = asked.pick("ordered", "measures")
    ev = evaluate_class_sample(sample, name=asked.name or "model", settings=settings, **how)
    return replace(ev, dropped=rows.dropped)


def _class_rows(table: Any, asked: VerbCall) -> ClassRows:
    """The rows of a table of several classes: wide, or with a row for each case and class."""
    label, score, predicted, case = (asked.values[name] for name in ("label", "score", "predicted", "case"))
    how = asked.pick("weight", "clusters", "missing", "decimal")
    if case is not None or asked.class_column is not None:
        if case is None or asked.class_column is None or not isinstance(score, str) or predicted is not None:
            said = "a table with a row for each case and class needs four columns"
            raise InputError(None, said, "name {case}, {class_column}, {label} and one {score}")
        return read_long_classes(
            _in_memory(table), label=label, score=score, case=case, class_column=asked.class_column, **how
        )
    taken = [asked.values[role] for role in ("weight", "clusters") if asked.values[role] is not None]
    table = _in_memory(table)
    chosen = find_class_columns(table, label, score, predicted, taken)
    if chosen is None:
        said = f"{table.name} has no score column for each class in {label!r}, and no column of predicted classes"
        raise InputError(None, said, "name them with {score} or {predicted}")
    return read_classes(table, chosen, **how)


def _in_memory(table: Any) -> MemoryTable | DuckTable:
    """A table whose score matrix can be read; the rows of a Spark DataFrame are brought here."""
    found = table if isinstance(table, MemoryTable | DuckTable) else frame_of(table.frame.toPandas())
    assert found is not None
    return found


def _compare_class_table(table: Any, asked: VerbCall) -> ClassComparison:
    settings = asked.class_settings()
    for name in ("paired", "stream", "model", "case"):
        asked.refuse(name, why="is for two classes")
    how = asked.pick("weight", "clusters", "missing", "decimal", "ordered")
    patterns, predicted = asked.score or (), asked.predicted or ()
    rows, models = read_models(_in_memory(table), asked.label, patterns, predicted, asked.classes, **how)
    shared: dict[str, Any] = {"classes": rows.classes, "sample_weight": rows.weight, "clusters": rows.clusters}
    comparison = compare_matrices(
        rows.labels, models, settings, **shared, **asked.pick("ordered", "measures", "margin")
    )
    known = {name: replace(ev, dropped=rows.dropped) for name, ev in comparison.evaluations.items()}
    return replace(comparison, evaluations=known)


def _names_matrices(table: Any, score: Any) -> bool:
    """Whether models have several columns each: lists of them, or patterns that are not columns themselves."""
    each = list(score.values()) if isinstance(score, Mapping) else score if isinstance(score, list | tuple) else []
    return any(isinstance(one, list | tuple) or (isinstance(one, str) and is_pattern(table, one)) for one in each)

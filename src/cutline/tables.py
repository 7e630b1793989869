"""Tables -> Evaluation and Comparison: files larger than memory through DuckDB, tables on a cluster through Spark."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

from .engines.request import EvaluationRequest
from .errors import InputError, show
from .evaluation import Evaluation, check_batch_options, evaluate
from .inference.prevalence import as_prevalence
from .inference.settings import INTERVAL, Settings, check_paired_interval
from .quotas import check_any_quota, settled
from .sources.doors import open_source, rows_of
from .sources.duckdb import DuckTable, machine_of
from .sources.files import TextFormat
from .sources.frames import Frame, Rows
from .sources.rules import negative_labels
from .sources.tables import Checked, Roles
from .types import IntervalName, Label, MeasureLike, Missing, QuotaLike, TableSource
from .validate import COLUMNS, Rule, check_column, checked

if TYPE_CHECKING:
    from .comparison import Comparison
    from .segment_comparison import SegmentComparison
    from .segments import Segments

_RULES: dict[str, Rule] = {"interval": INTERVAL, "quota": check_any_quota, "prevalence": as_prevalence, **COLUMNS}


@overload
def evaluate_table(source: TableSource, *, label: str, score: str, by: None = None, **options: Any) -> Evaluation: ...
@overload
def evaluate_table(
    source: TableSource, *, label: str, score: str, by: str | Sequence[str], **options: Any
) -> Segments: ...


@checked(**_RULES, score=check_column)  # type: ignore[misc]  # the overloads leave the options out
def evaluate_table(
    source: TableSource,
    *,
    label: str,
    score: str,
    weight: str | None = None,
    pos_label: Label = None,
    neg_label: Any = None,
    clusters: str | None = None,
    by: str | Sequence[str] | None = None,
    batch: str | None = None,
    query: str | None = None,
    name: str | None = None,
    threshold: float | None = None,
    quota: QuotaLike | None = None,
    measures: Sequence[MeasureLike] | None = None,
    interval: IntervalName | None = "auto",
    level: float = 0.95,
    n_resamples: int | None = None,
    seed: int = 0,
    stratify: bool | None = None,
    prevalence: Any = None,
    missing: Missing = "error",
    delimiter: str | None = None,
    quote: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | os.PathLike[str] | None = None,
    stream: bool | None = None,
    progress: bool | None = None,
) -> Evaluation | Segments:
    """Evaluate the scores in a table: a file or many, a query, a frame, or a table on a Spark cluster.

    ``source``: a path or pattern (CSV, TSV, Parquet, JSON lines, Excel; ``.gz``, ``.zst``; ``"-"`` for standard input),
    a DuckDB relation, a DuckDB connection or a database (``"postgres:…"``, ``"mysql:…"``, ``"sqlite:…"``) with a
    ``query``, a pandas, polars or Arrow table, a mapping from names to columns, or a Spark DataFrame. ``label``,
    ``score``, ``weight``, ``clusters`` and ``batch`` name its columns, ``pos_label`` the positive label if it is not
    obvious. With more than two labels all others count as negative, and a :class:`LabelWarning` says which;
    ``neg_label`` names those that do (one or a list), and any other is refused. Labels and numbers are read by the same
    rules for every source.

    The delimiter, quote, encoding and decimal separator of a text file are detected; ``delimiter``, ``quote``,
    ``encoding`` and ``decimal`` override them. Scores may be written as percentages or with decimal commas. Anything
    unusual that was detected is in ``ev.facts["understood"]``.

    Up to a million rows are loaded and treated as :func:`evaluate` treats arrays. Longer tables are sorted by DuckDB
    within ``memory_limit``, on disk in ``temp_directory`` if necessary, and streamed: the measures and analytic
    intervals are the same, other intervals come from a Poisson bootstrap in the same pass (``n_resamples`` defaults to
    2000 in memory, 200 in a stream). ``stream`` overrides this.

    ``by`` names the column that divides the rows into segments, or several that are crossed; the result is then what
    :func:`evaluate_segments` gives.

    ``missing``: ``"error"`` refuses a row without label, score or weight; ``"drop"`` leaves such rows out and reports
    how many as ``ev.facts["dropped"]``. ``prevalence``, as in :func:`evaluate`, needs the rows in memory.

    >>> table = {"hired": ["no", "yes", "no", "yes"], "p": [0.1, 0.9, 0.6, 0.5]}
    >>> ev = evaluate_table(table, label="hired", score="p", pos_label="yes", interval=None)
    >>> ev["pem"].value
    0.5
    """
    named = {score if name is None else name: score}
    roles = Roles(
        label,
        named,
        weight,
        clusters,
        pos_label,
        missing,
        decimal,
        by=_columns(by),
        batch=batch,
        neg_label=negative_labels(neg_label, pos_label),
    )
    drawn = 2000 if n_resamples is None else n_resamples
    settings = Settings(interval, level, drawn, seed, stratify, progress=progress)
    request = EvaluationRequest(threshold, settled(quota), measures, settings, n_resamples, stream)
    machine, text = machine_of(memory_limit, threads, temp_directory), TextFormat(delimiter, quote, decimal, encoding)
    with open_source(source, query, machine, text) as table:
        found = _found(table, roles, request)
        if isinstance(found, Rows):
            ((model, values),) = found.scores.items()
            if found.segments is not None:
                from .segments import evaluate_segments

                _refuse_by_segment(prevalence)
                options = _in_memory(found, request)
                seg = evaluate_segments(found.positive, values, found.segments, name=model, **options)
                return replace(seg, **_facts(found))
            ev = evaluate(found.positive, values, name=model, prevalence=prevalence, **_in_memory(found, request))
            return replace(ev, **_facts(found))
        _refuse_in_stream(prevalence, roles, request)
        if isinstance(found, Checked):
            from .engines.duckdb_engine import evaluate as through_duckdb

            return through_duckdb(table, found, request)
        from .engines.spark_engine import evaluate as on_spark

        return on_spark(table, roles, request)


@overload
def compare_table(source: TableSource, *, label: str, scores: Any, by: None = None, **options: Any) -> Comparison: ...
@overload
def compare_table(
    source: TableSource, *, label: str, scores: Any, by: str | Sequence[str], **options: Any
) -> SegmentComparison: ...


@checked(**_RULES | {"interval": check_paired_interval})  # type: ignore[misc]
def compare_table(
    source: TableSource,
    *,
    label: str,
    scores: Sequence[str] | Mapping[str, str] | str,
    model: str | None = None,
    case: str | None = None,
    weight: str | None = None,
    pos_label: Label = None,
    neg_label: Any = None,
    clusters: str | None = None,
    by: str | Sequence[str] | None = None,
    batch: str | None = None,
    query: str | None = None,
    threshold: float | None = None,
    quota: QuotaLike | None = None,
    measures: Sequence[MeasureLike] | None = None,
    interval: IntervalName | None = "auto",
    level: float = 0.95,
    n_resamples: int | None = None,
    seed: int = 0,
    stratify: bool | None = None,
    margin: float | None = None,
    prevalence: Any = None,
    missing: Missing = "error",
    delimiter: str | None = None,
    quote: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | os.PathLike[str] | None = None,
    stream: bool | None = None,
    progress: bool | None = None,
) -> Comparison | SegmentComparison:
    """Compare score columns of one table, paired by row; sources and options as for :func:`evaluate_table`.

    ``scores``: the names of the columns, or a mapping from model to column. A row counts if it has all the scores.
    If a file or query has one row per case and model, ``scores`` names its one score column, and ``model`` and
    ``case`` name the columns of the model and the case. With ``by`` models are compared in each segment, as
    :func:`compare_segments` does.

    >>> table = {"y": [1, 0, 1, 0], "a": [4, 3, 2, 1], "b": [4, 1, 3, 2]}
    >>> compare_table(table, label="y", scores=["a", "b"], n_resamples=100).best("pem")
    'b'
    """
    named = {} if model is not None or case is not None else _named(scores)
    drawn = 2000 if n_resamples is None else n_resamples
    settings = Settings(interval, level, drawn, seed, stratify, progress=progress)
    request = EvaluationRequest(threshold, settled(quota), measures, settings, n_resamples, stream)
    machine, text = machine_of(memory_limit, threads, temp_directory), TextFormat(delimiter, quote, decimal, encoding)
    with open_source(source, query, machine, text) as table:
        if not named:
            if by is not None:
                said = "needs a row for each case, not one for each case and model"
                raise InputError("by", said, "give the table a score column for each model")
            table, named = _widened(table, model, case, label, scores, (weight, None, pos_label, missing, decimal))
        roles = Roles(
            label,
            named,
            weight,
            clusters,
            pos_label,
            missing,
            decimal,
            by=_columns(by),
            batch=batch,
            neg_label=negative_labels(neg_label, pos_label),
        )
        found = _found(table, roles, request)
        if isinstance(found, Rows) and found.segments is not None:
            from .segment_comparison import compare_segments

            _refuse_by_segment(prevalence)
            options = _in_memory(found, request)
            seg = compare_segments(found.positive, found.scores, found.segments, margin=margin, **options)
            return replace(seg, overall=_compared_with_facts(seg.overall, found))
        if isinstance(found, Rows):
            from .comparison import compare

            given = {"margin": margin, "prevalence": prevalence}
            comparison = compare(found.positive, found.scores, **given, **_in_memory(found, request))
            return _compared_with_facts(comparison, found)
        _refuse_in_stream(prevalence, roles, request)
        if isinstance(found, Checked):
            from .engines.duckdb_engine import compare as through_duckdb

            return through_duckdb(table, found, request, margin)
        from .engines.spark_engine import compare as on_spark

        return on_spark(table, roles, request, margin)


def _widened(
    table: Any, model: str | None, case: str | None, label: str, score: Any, others: tuple[Any, ...]
) -> tuple[DuckTable, dict[str, str]]:
    """A table with a row for each case and model as one with a score column for each model."""
    from .sources.long_format import widened

    if model is None or case is None or not isinstance(score, str):
        said = "a table with a row for each case and model needs three columns"
        raise InputError(None, said, "name {case}, {model} and, as {scores}, one score column")
    if not isinstance(table, DuckTable):
        raise InputError("model", "goes with files and DuckDB", "pivot the frame first: a score column for each model")
    wide, models = widened(table, Roles(label, {score: score}, *others), case=case, model=model)
    return wide, {name: name for name in models}


def _found(table: Any, roles: Roles, request: EvaluationRequest) -> Rows | Checked | None:
    """The rows in memory, or what was checked of those that are streamed; None for rows on a cluster."""
    return rows_of(table, roles, request.stream) if isinstance(table, Frame | DuckTable) else None


def _refuse_in_stream(prevalence: Any, roles: Roles, request: EvaluationRequest) -> None:
    if roles.by:
        _refuse_by_segment(prevalence)
    if roles.batch is not None:
        check_batch_options(request.settings, prevalence)
    if prevalence is not None:
        said = "needs the rows in memory, and these are streamed"
        raise InputError("prevalence", said, "load them with {stream=False}, or leave it out")


def _refuse_by_segment(prevalence: Any) -> None:
    if prevalence is not None:
        said = "is one for all rows, and segments differ in theirs"
        remedy = (
            "weight the rows with {sample_weight}, positives by wanted / present share and negatives likewise, or "
            "evaluate the rows of one segment by themselves"
        )
        raise InputError("prevalence", said, remedy)


def _in_memory(rows: Rows, request: EvaluationRequest) -> dict[str, Any]:
    """What ``evaluate`` and ``compare`` take."""
    how = ("interval", "level", "n_resamples", "seed", "stratify", "progress")
    return {
        "sample_weight": rows.weight,
        "clusters": rows.clusters,
        **({} if rows.batch is None else {"batch": rows.batch}),
        "threshold": request.threshold,
        "quota": request.quota,
        "measures": request.measures,
        **{name: getattr(request.settings, name) for name in how},
    }


def _columns(by: str | Sequence[str] | None) -> tuple[str, ...]:
    """The columns that make segments."""
    names = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError("by", f"names {show(twice)} twice", "name each column once")
    return names


def _compared_with_facts(comparison: Comparison, rows: Rows) -> Comparison:
    known = {name: replace(ev, **_facts(rows)) for name, ev in comparison.evaluations.items()}
    return replace(comparison, evaluations=known)


def _facts(rows: Rows) -> dict[str, Any]:
    return {"dropped": rows.dropped, "understood": "; ".join(rows.understood)}


def _named(scores: Any) -> dict[str, Any]:
    """Model -> column; the name of a model is text, as in a comparison of arrays."""
    if isinstance(scores, Mapping):
        pairs = [(str(model), column) for model, column in scores.items()]
    elif isinstance(scores, str) or not isinstance(scores, Sequence):
        remedy = "pass a list of column names or a mapping from model to column"
        raise InputError("scores", f"is {show(scores)}", remedy)
    else:
        pairs = [(str(column), column) for column in scores]
    if not pairs:
        raise InputError("scores", "names no column", "name at least one")
    named = dict(pairs)
    if len(named) < len(pairs):
        models = [model for model, _ in pairs]
        twice = next(model for model in models if models.count(model) > 1)
        raise InputError("scores", f"names {show(twice)} twice", "name each model once")
    return named

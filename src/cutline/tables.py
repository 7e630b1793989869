"""Tables -> Evaluation and Comparison: files larger than memory through DuckDB, tables on a cluster through Spark."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from .comparison import Comparison
from .errors import InputError
from .evaluation import Evaluation
from .inference.settings import INTERVAL, Settings
from .validate import checked


@checked(interval=INTERVAL)
def evaluate_table(
    source: Any,
    *,
    label: str,
    score: str,
    weight: str | None = None,
    positive: Any = None,
    query: str | None = None,
    name: str | None = None,
    threshold: float = 0.5,
    quota: int | float | None = None,
    measures: Sequence[Any] | None = None,
    interval: str | None = "auto",
    level: float = 0.95,
    n_resamples: int | None = None,
    seed: int = 0,
    stratify: bool | None = None,
    missing: str = "error",
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | os.PathLike[str] | None = None,
    stream: bool | None = None,
    progress: bool | None = None,
) -> Evaluation:
    """Evaluate the scores in a table: a file or many, a query, a frame, or a table on a Spark cluster.

    ``source``: a path or pattern (CSV, TSV, Parquet, JSON lines; ``.gz``, ``.zst``), a DuckDB relation, a DuckDB
    connection or a database (``"postgres:…"``, ``"mysql:…"``, ``"sqlite:…"``) with a ``query``, a pandas, polars or
    Arrow table, or a Spark DataFrame. ``label``, ``score`` and ``weight`` name its columns, ``positive`` the label that
    counts as positive where it does not say so itself.

    Up to a million rows are loaded and treated as :func:`evaluate` treats arrays. Longer tables are sorted by DuckDB
    within ``memory_limit``, on disk in ``temp_directory`` where they need it, and streamed: the measures and analytic
    intervals are the same, other intervals come from a Poisson bootstrap in the same pass (``n_resamples`` defaults to
    2000 in memory, 200 in a stream). ``stream`` True or False decides it yourself.

    ``missing``: ``"error"`` refuses a row without label, score or weight; ``"drop"`` leaves such rows out and reports
    how many as ``ev.facts["dropped"]``.
    """
    settings = Settings(interval, level, 2000 if n_resamples is None else n_resamples, seed, stratify, progress)
    from .engines.request import EvaluationRequest

    wishes = EvaluationRequest(threshold, quota, measures, settings, n_resamples, stream)
    columns = {"label": label, "weight": weight, "positive": _as_text(positive), "missing": missing, "wishes": wishes}
    for role, column in (("label", label), ("score", score)):
        if column is None:
            raise InputError(f"{role} must be the name of a column, got None")
    title = str(score) if name is None else name
    machine = _options(memory_limit, threads, temp_directory)
    if _is_from(source, "pyspark"):
        from .engines.spark_engine import evaluate as on_spark

        _only_for_duckdb(machine.given, query, "Spark")
        return on_spark(source, score=score, name=title, **columns)
    source = _loaded(source)
    if _is_frame(source):
        from .engines.frames import evaluate as in_memory

        _only_for_duckdb(machine.given, query, "a table in memory")
        return in_memory(source, score=score, name=title, **columns)
    from .engines.duckdb_engine import evaluate as through_duckdb
    from .engines.duckdb_source import opened
    from .engines.duckdb_types import settled

    with opened(source, query, machine) as table:
        return through_duckdb(settled(table, label, [score], weight), score=score, name=title, **columns)


@checked(interval=INTERVAL)
def compare_table(
    source: Any,
    *,
    label: str,
    scores: Sequence[str] | Mapping[str, str],
    weight: str | None = None,
    positive: Any = None,
    query: str | None = None,
    threshold: float = 0.5,
    quota: int | float | None = None,
    measures: Sequence[Any] | None = None,
    interval: str | None = "auto",
    level: float = 0.95,
    n_resamples: int | None = None,
    seed: int = 0,
    stratify: bool | None = None,
    margin: float | None = None,
    missing: str = "error",
    memory_limit: str | None = None,
    threads: int | None = None,
    temp_directory: str | os.PathLike[str] | None = None,
    stream: bool | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Compare score columns of one table, row by row paired; sources and options as for :func:`evaluate_table`.

    ``scores``: the names of the columns, or a mapping from model to column. A row counts if it has all the scores.
    """
    named = _named(scores)
    if label is None:
        raise InputError("label must be the name of a column, got None")
    settings = Settings(interval, level, 2000 if n_resamples is None else n_resamples, seed, stratify, progress)
    from .engines.request import EvaluationRequest

    wishes = EvaluationRequest(threshold, quota, measures, settings, n_resamples, stream)
    columns = {"label": label, "weight": weight, "positive": _as_text(positive), "missing": missing, "wishes": wishes}
    machine = _options(memory_limit, threads, temp_directory)
    if _is_from(source, "pyspark"):
        from .engines.spark_engine import compare as on_spark

        _only_for_duckdb(machine.given, query, "Spark")
        return on_spark(source, scores=named, margin=margin, **columns)
    source = _loaded(source)
    if _is_frame(source):
        from .engines.frames import compare as in_memory

        _only_for_duckdb(machine.given, query, "a table in memory")
        return in_memory(source, scores=named, margin=margin, **columns)
    from .engines.duckdb_engine import compare as through_duckdb
    from .engines.duckdb_source import opened
    from .engines.duckdb_types import settled

    with opened(source, query, machine) as table:
        own = settled(table, label, list(named.values()), weight)
        return through_duckdb(own, scores=named, margin=margin, **columns)


def _named(scores: Any) -> dict[str, Any]:
    """Model -> column; the name of a model is text, as in a comparison of arrays."""
    if isinstance(scores, Mapping):
        pairs = [(str(model), column) for model, column in scores.items()]
    elif isinstance(scores, str) or not isinstance(scores, Sequence):
        raise InputError(f"scores must be a list of column names or a mapping from model to column, got {scores!r}")
    else:
        pairs = [(str(column), column) for column in scores]
    if not pairs:
        raise InputError("scores must name at least one column")
    named = dict(pairs)
    if len(named) < len(pairs):
        models = [model for model, _ in pairs]
        twice = next(model for model in models if models.count(model) > 1)
        raise InputError(f"scores names {twice!r} twice; name each model once")
    return named


def _as_text(positive: Any) -> Any:
    """A label of bytes as the text that every source can compare."""
    return positive.decode("utf-8", "backslashreplace") if isinstance(positive, bytes) else positive


def _options(memory_limit: str | None, threads: int | None, temp_directory: Any) -> Any:
    from .engines.duckdb_source import Options

    return Options(memory_limit, threads, None if temp_directory is None else os.fspath(temp_directory))


def _is_from(source: Any, library: str) -> bool:
    return any(kind.__module__.partition(".")[0] == library for kind in type(source).__mro__)


def _loaded(source: Any) -> Any:
    """What is only a promise of a table, as the table; a single column is none."""
    kind = type(source).__name__
    if _is_from(source, "polars") and kind == "LazyFrame":
        return source.collect()
    if _is_from(source, "pyarrow") and kind == "RecordBatchReader":
        return source.read_all()
    if _is_from(source, "pyarrow") and hasattr(source, "to_table"):  # a dataset
        return source.to_table()
    if _is_from(source, "pyarrow") and kind == "RecordBatch":
        import pyarrow

        return pyarrow.Table.from_batches([source])
    if any(_is_from(source, library) for library in ("pandas", "polars", "pyarrow")) and (
        not hasattr(source, "columns") or kind == "Index"
    ):
        _refuse(source)
    return source


def _is_frame(source: Any) -> bool:
    """A table in memory: pandas, polars, Arrow, or a mapping from names to columns."""
    if isinstance(source, Mapping):
        return True
    return any(_is_from(source, library) for library in ("pandas", "polars", "pyarrow")) or (
        not isinstance(source, str | os.PathLike)
        and not _is_from(source, "duckdb")
        and not _is_from(source, "_duckdb")
        and _refuse(source)
    )


def _refuse(source: Any) -> bool:
    raise InputError(
        f"a table is a path, a DuckDB relation or connection, a pandas, polars or Arrow table, or a Spark DataFrame; "
        f"got {type(source).__name__}"
    )


def _only_for_duckdb(given: Sequence[str], query: str | None, what: str) -> None:
    if given or query is not None:
        raise InputError(f"{(given or ['query'])[0]} goes with DuckDB; the source is {what}")

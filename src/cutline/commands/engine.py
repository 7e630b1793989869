"""Where the rows of a file are summed: in memory, streamed through DuckDB, or on a Spark cluster."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click

from ..engines.duckdb_source import listed
from ..errors import InputError
from .columns import Columns, choose_columns
from .evaluate import library_options
from .output import check_extra, note
from .reading import opened
from .speech import in_options, spoken

_MACHINE = ("memory_limit", "threads", "temp_directory")
_LARGE = {".parquet": 2**28, ".pq": 2**28, ".gz": 2**28, ".zst": 2**28}  # bytes from which a file is streamed
_LARGE_TEXT = 2**30


@dataclass(frozen=True)
class Engine:
    """What was chosen: ``memory``, ``duckdb`` or ``spark``, and its options."""

    name: str
    master: str | None
    missing: str
    machine: dict[str, Any]


def choose_engine(file: str, asked: dict[str, Any]) -> Engine:
    """Take the options of an engine out of those that were given; refuse what does not go together."""
    name, master, missing = (asked.pop(key) for key in ("engine", "master", "missing"))
    machine = {key: value for key in _MACHINE if (value := asked.pop(key)) is not None}
    if name == "auto":
        name = _fitting(file, master, bool(machine) or missing is not None)
    if master is not None and name != "spark":
        raise InputError(f"--master goes with --engine spark, not with {name}")
    if machine and name != "duckdb":
        raise InputError(f"--{next(iter(machine)).replace('_', '-')} goes with --engine duckdb, not with {name}")
    if missing is not None and name == "memory":
        raise InputError("--missing goes with --engine duckdb or spark; in memory, fill in the file or drop the rows")
    return Engine(name, master, missing or "error", machine)


def _fitting(file: str, master: str | None, streamed: bool) -> str:
    if master is not None:
        return "spark"
    if streamed or file.lower().endswith(".zst") or (not os.path.exists(file) and glob.has_magic(file)):
        return "duckdb"
    if os.path.isfile(file):
        size = os.path.getsize(file)
        if size > _LARGE.get(os.path.splitext(file.lower())[1], _LARGE_TEXT):
            note(f"note: {file} has {size / 2**30:.1f} GB and is streamed through DuckDB (--engine memory loads it)")
            return "duckdb"
    return "memory"


@contextmanager
def table(
    file: str, engine: Engine, label: str | None, scores: Sequence[str], asked: dict[str, Any], *, several: bool
) -> Iterator[tuple[Any, Columns, dict[str, Any]]]:
    """The source for ``evaluate_table`` or ``compare_table``, its columns, and the options of the call."""
    if file == "-":
        raise InputError(f"--engine {engine.name} reads files, not standard input; save it to a file, or leave it out")
    columns = _columns(file, engine, label, scores, asked["weight"], several)
    given = click.get_current_context().get_parameter_source("resamples")
    options = {
        "label": columns.label,
        "weight": columns.weight,
        "positive": asked["positive"],
        "missing": engine.missing,
        **library_options(asked),
        **engine.machine,
    }
    if given is click.core.ParameterSource.DEFAULT:
        options["n_resamples"] = None  # a stream has a default of its own
    with spoken(), _told():  # the engines name the file themselves
        if engine.name == "spark":
            with _spark(file, engine.master or "local[*]") as frame:
                yield frame, columns, options
        else:
            yield file, columns, options


@contextmanager
def _told() -> Iterator[None]:
    """Too little memory is told in one line, as everything is that a user can change."""
    try:
        yield
    except MemoryError as error:
        raise click.ClickException(in_options(str(error) or "the memory does not suffice")) from None


def _columns(
    file: str, engine: Engine, label: str | None, scores: Sequence[str], weight: str | None, several: bool
) -> Columns:
    """The columns: guessed from one file as ever, but named by the user where there are many files or a cluster."""
    if engine.name == "duckdb" and os.path.isfile(file) and not file.lower().endswith(".zst"):
        with opened(file) as source:
            columns = choose_columns(source, label, scores, weight, several=several, load=False)
    elif label is None or not scores:
        raise InputError(f"{file}: name its columns with --label and --score")
    else:
        columns = Columns(label, tuple(dict.fromkeys(scores)), weight)
    if not several and len(columns.scores) > 1:
        raise InputError(f"--engine {engine.name} takes one score column, not {listed(columns.scores)}")
    return columns


@contextmanager
def _spark(file: str, master: str) -> Iterator[Any]:
    """The file as a DataFrame of a session that ends with the command."""
    if not re.match(r"(local|yarn|local-cluster)($|\[)|[\w+.-]+://", master):
        raise InputError(f"--master {master} is no Spark master; give local[4], yarn, spark://host:7077 or sc://host")
    check_extra("spark", "pyspark", "pyarrow")
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("cutline")
    try:
        if master.startswith("sc://"):
            session = builder.remote(master).getOrCreate()
        else:
            session = builder.master(master).getOrCreate()
            session.sparkContext.setLogLevel("ERROR")
        try:
            yield _read(session, file)
        finally:
            session.stop()
    except PySparkException as error:
        raise InputError(f"Spark: {str(error).strip().splitlines()[0]}") from None


def _read(session: Any, file: str) -> Any:
    """By the ending of the name: text with a header, JSON lines, ORC, and Parquet, which a folder mostly holds."""
    name = file.lower().removesuffix(".gz").removesuffix(".zst").rstrip("/*")
    reader = session.read
    if name.endswith((".csv", ".tsv", ".tab", ".txt")):
        return reader.csv(file, header=True, inferSchema=True, sep="\t" if name.endswith((".tsv", ".tab")) else ",")
    if name.endswith((".json", ".jsonl", ".ndjson")):
        return reader.json(file)
    return reader.orc(file) if name.endswith(".orc") else reader.parquet(file)

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

from ..errors import InputError, show, verbatim
from ..tuning import TUNING
from .evaluate import library_options
from .output import check_extra, note
from .reading import Columns, choose_columns, keys_of, negatives_of, opened, roles_of

_MACHINE = ("memory_limit", "threads", "temp_directory")
_LARGE = {".parquet": 2**28, ".pq": 2**28, ".gz": 2**28, ".zst": 2**28}  # bytes from which a file is streamed


@dataclass(frozen=True)
class Engine:
    """What was chosen: ``memory``, ``duckdb`` or ``spark``, and its options."""

    name: str
    master: str | None
    machine: dict[str, Any]


def choose_engine(file: str, asked: dict[str, Any]) -> Engine:
    """Take the options of an engine out of those that were given; refuse what does not go together."""
    name, master = (asked.pop(key) for key in ("engine", "master"))
    machine = {key: value for key in _MACHINE if (value := asked.pop(key)) is not None}
    if name == "auto":
        name = _fitting(file, master, bool(machine))
    if master is not None and name != "spark":
        raise InputError("master", f"goes with --engine spark, not with {name}", "leave it out")
    if machine and name != "duckdb":
        raise InputError(next(iter(machine)), f"goes with --engine duckdb, not with {name}", "leave it out")
    return Engine(name, master, machine)


def _fitting(file: str, master: str | None, streamed: bool) -> str:
    if master is not None:
        return "spark"
    if streamed or file.lower().endswith(".zst") or (not os.path.exists(file) and glob.has_magic(file)):
        return "duckdb"
    if os.path.isfile(file):
        size = os.path.getsize(file)
        if size > _LARGE.get(os.path.splitext(file.lower())[1], TUNING.large_text):
            note(f"note: {file} has {size / 2**30:.1f} GB and is streamed through DuckDB (--engine memory loads it)")
            return "duckdb"
    return "memory"


@contextmanager
def open_for(engine: Engine, file: str, asked: dict[str, Any]) -> Iterator[Any]:
    """The file as a table, where the engine reads it; opened once."""
    if engine.name == "spark":
        from ..sources.spark import SparkTable

        with _spark(file, engine.master or "local[*]") as frame:
            yield SparkTable(frame)
    else:
        with opened(file, asked, engine.machine) as table:
            yield table


def named_columns(
    engine: Engine, table: Any, label: str | None, scores: Sequence[str], asked: dict[str, Any], *, several: bool
) -> Columns:
    """The columns: chosen where only one can be meant, but named by the user for many files or a cluster."""
    many = table.files is not None and len(table.files.files) > 1 if engine.name != "spark" else True
    if not many:
        return choose_columns(table, label, scores, asked["weight"], several=several, besides=roles_of(asked))
    if label is None or not scores:
        raise InputError(None, f"{table.name} is read from many files", "name its columns with {label} and {score}")
    return Columns(label, tuple(dict.fromkeys(scores)), asked["weight"])


def table_options(engine: Engine, columns: Columns, asked: dict[str, Any]) -> dict[str, Any]:
    """What ``evaluate_table`` and ``compare_table`` take."""
    given = click.get_current_context().get_parameter_source("resamples")
    options = {
        "label": columns.label,
        "weight": columns.weight,
        "pos_label": asked["positive"],
        "neg_label": negatives_of(asked),
        "missing": asked["missing"] or "error",
        "decimal": asked["decimal"],
        "prevalence": asked["prevalence"],
        **keys_of(asked),
        "stream": False if engine.name == "memory" else None,
        **library_options(asked),
    }
    if given is click.core.ParameterSource.DEFAULT:
        options["n_resamples"] = None  # a stream has a default of its own
    return options


@contextmanager
def _spark(file: str, master: str) -> Iterator[Any]:
    """The file as a DataFrame of a session that ends with the command.

    Spark finds the cells of text, and their types, by rules of its own: text is refused.
    """
    from ..sources.files import kind_of

    if kind_of(os.path.basename(file.rstrip("/*")))[0] not in (None, "parquet"):
        said = f"{show(file)} is text, which Spark reads by other rules than cutline does"
        raise InputError(None, said, "convert it to Parquet, or use {engine='duckdb'}, which streams files of any size")
    if not re.match(r"(local|yarn|local-cluster)($|\[)|[\w+.-]+://", master):
        raise InputError(
            "master",
            f"is {show(master)}, which is not a Spark master",
            "give local[4], yarn, spark://host:7077 or sc://host",
        )
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
        raise InputError(None, "Spark: " + verbatim(str(error).strip().splitlines()[0])) from None


def _read(session: Any, file: str) -> Any:
    """ORC by the ending of the name, else Parquet, which a folder mostly holds. By the rules of every other door."""
    session.conf.set("spark.sql.caseSensitive", "true")  # P is not p
    session.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")  # 01 is not 1
    if os.path.exists(file):  # a file may really be called so: its name is no pattern
        if ":" in os.path.abspath(file):
            raise InputError(None, f"{show(file)} has a colon in its name, which Spark cannot read", "rename it")
        file = re.sub(r"([*?\[\]{}\\])", r"\\\1", file)
    reader = session.read.option("mergeSchema", "true")  # columns by name, whichever file has them
    return reader.orc(file) if file.lower().rstrip("/*").endswith(".orc") else reader.parquet(file)

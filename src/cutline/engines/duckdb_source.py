"""Files, relations and queries -> a source of SQL that DuckDB can run, and words for what goes wrong with it."""

from __future__ import annotations

import difflib
import glob
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from .arrow_stream import StreamError

KINDS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
# DuckDB would read yes/no as booleans, and so decide what is positive; that is the user's to say.
TYPES = "auto_type_candidates = ['BIGINT', 'DOUBLE', 'VARCHAR']"
_PACKED = {".gz": "gzip", ".zst": "zstd"}
_DATABASES = {"postgres": "postgres", "postgresql": "postgres", "mysql": "mysql", "sqlite": "sqlite"}


@dataclass(frozen=True)
class Options:
    """How DuckDB may use the machine; for a connection of the user's own, nothing is set."""

    memory_limit: str | None = None
    threads: int | None = None
    temp_directory: str | None = None

    @property
    def given(self) -> list[str]:
        """Names of the options that were set."""
        return [name for name, value in vars(self).items() if value is not None]


@dataclass(frozen=True)
class Source:
    """Something to select from: ``run("SELECT … FROM {table}")`` gives a relation."""

    name: str
    table: str
    run: Callable[[str], Any]
    interrupt: Callable[[], None]
    types: dict[str, str]
    as_text: str | None = None

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query and give its rows."""
        with told(self.name, self.as_text is not None):
            found: list[tuple[Any, ...]] = self.run(sql).fetchall()
            return found

    def check(self, column: str, role: str) -> None:
        """Refuse a column that is not there, and name the nearest one."""
        if not isinstance(column, str):
            raise InputError(f"{role} must be the name of a column, got {column!r}")
        if column in self.types:
            return
        near = difflib.get_close_matches(column, list(self.types), n=1, cutoff=0.5)
        folded = [name for name in self.types if name.casefold() == column.casefold()]
        hint = f"did you mean {(folded or near)[0]!r}?" if folded or near else f"it has {listed(list(self.types))}"
        raise InputError(f"{self.name} has no column {column!r} for the {role}; {hint}")


def quoted(column: str) -> str:
    """A name as SQL takes it, whatever it contains."""
    return '"' + column.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL takes it, whatever it contains."""
    if "\0" in text:
        raise InputError(f"{text!r} holds a zero byte, which no file name or label can")
    return "'" + text.replace("'", "''") + "'"


def listed(values: Sequence[Any], most: int = 8) -> str:
    """Values in a sentence, cut where they are many."""
    shown = ", ".join(repr(value) for value in values[:most])
    return f"{shown}, … ({len(values)} in all)" if len(values) > most else shown


@contextmanager
def opened(source: Any, query: str | None, options: Options) -> Iterator[Source]:
    """Open a source; whatever happens, nothing of it is left in the temporary directory."""
    import duckdb

    if query is not None and not isinstance(query, str):
        raise InputError(f"query must be SQL text, got {query!r}")
    if isinstance(source, duckdb.DuckDBPyConnection):
        if query is None:
            raise InputError("a DuckDB connection needs a query: pass query='SELECT …' beside it")
        _refuse_options(options)
        yield _described(f"the query {_short(query)}", f"({query})", source.sql, source.interrupt)
        return
    if isinstance(source, duckdb.DuckDBPyRelation):
        _refuse_options(options)
        run, table = (lambda sql: source.query("cutline_source", sql)), "cutline_source"
        if query is not None:
            raise InputError("a relation is a query already; leave query out")
        # a relation does not show its connection, so a running query of it cannot be interrupted: it is waited for
        yield _described("the relation", table, run, lambda: None)
        return
    folder = _own_folder(options.temp_directory)
    try:
        connection = _connect(duckdb, options, folder)
        try:
            yield _from_text(connection, os.fspath(source), query)
        finally:
            connection.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _own_folder(parent: str | None) -> str:
    try:
        return tempfile.mkdtemp(prefix="cutline-", dir=parent)
    except OSError as error:
        raise InputError(f"temp_directory={parent!r} cannot be used: {error.strerror}") from None


def _connect(duckdb: Any, options: Options, folder: str) -> Any:
    config: dict[str, Any] = {"temp_directory": folder}
    if options.memory_limit is not None:
        config["memory_limit"] = options.memory_limit
    if options.threads is not None:
        config["threads"] = options.threads
    try:
        connection = duckdb.connect(config=config)
    except duckdb.Error as error:
        raise InputError(f"DuckDB refuses {', '.join(options.given)}: {sentence(str(error))}") from None
    connection.execute("SET enable_progress_bar = false")
    return connection


def _refuse_options(options: Options) -> None:
    if options.given:
        raise InputError(f"{options.given[0]} belongs to your DuckDB connection; set it there")


def _from_text(connection: Any, text: str, query: str | None) -> Source:
    scheme = re.match(r"^(\w+):", text)
    if scheme and scheme[1].lower() in _DATABASES:
        _attach(connection, text, _DATABASES[scheme[1].lower()])
        if query is None:
            raise InputError("a database needs a query: pass query='SELECT …' beside it")
        return _described(f"the query {_short(query)}", f"({query})", connection.sql, connection.interrupt)
    if query is not None:
        raise InputError("query goes with a DuckDB connection or a database; a file is read as it is")
    kind, packed = _kind(text)
    table = _reader(text, kind, packed, TYPES)
    name = os.path.basename(text.rstrip("/")) or text
    as_text = _reader(text, kind, packed, "all_varchar = true") if kind in ("csv", "tsv") else None
    return _described(name, table, connection.sql, connection.interrupt, as_text)


def _attach(connection: Any, text: str, kind: str) -> None:
    """Attach another database, by an extension that must be on the machine already or be had from the network."""
    import duckdb

    place = text if kind == "postgres" and "://" in text else text.partition(":")[2].removeprefix("//")
    try:
        connection.execute(f"ATTACH {literal(place)} AS source (TYPE {kind}, READ_ONLY)")
        connection.execute("USE source")
    except duckdb.Error as error:
        raise InputError(
            f"the {kind} database cannot be read: {sentence(str(error))} (DuckDB's extension {kind!r} must be "
            f"installed: INSTALL {kind}, which needs a network once)"
        ) from None


def _kind(path: str) -> tuple[str, str]:
    """Kind and packing of a file or of the files of a pattern."""
    files = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
    if not files:
        raise InputError(f"there is no file {path!r}")
    first = files[0]
    if os.path.isdir(first):
        raise InputError(f"{first!r} is a folder; give a file, or a pattern such as {os.path.join(first, '*.parquet')}")
    empty = [file for file in files if os.path.isfile(file) and os.path.getsize(file) == 0]
    if empty:
        raise InputError(f"{os.path.basename(empty[0])} is empty")
    stem, ending = os.path.splitext(first.lower())
    packed = _PACKED.get(ending, "")
    if packed:
        ending = os.path.splitext(stem)[1]
    if ending not in KINDS:
        raise InputError(
            f"{os.path.basename(first)}: what kind of file is it? Its name should end in {', '.join(KINDS)}, with .gz "
            "or .zst behind it where it is compressed"
        )
    return KINDS[ending], packed


def _reader(path: str, kind: str, packed: str, types: str) -> str:
    # DuckDB reads *, ? and [ in a path as a pattern; a file may really be called that
    where = literal(re.sub(r"([*?\[])", r"[\1]", path) if os.path.exists(path) else path)
    compression = f", compression = '{packed}'" if packed else ""
    if kind == "parquet":
        return f"read_parquet({where})"
    if kind == "json":
        return f"read_json({where}, format = 'auto'{compression})"
    return f"read_csv({where}, {types}{compression}" + (", delim = '\t')" if kind == "tsv" else ")")


def _described(
    name: str, table: str, run: Callable[[str], Any], interrupt: Callable[[], None], as_text: str | None = None
) -> Source:
    with told(name, False):
        described = run(f"SELECT * FROM {table} LIMIT 0")
        types = {column: str(kind) for column, kind in zip(described.columns, described.types, strict=True)}
    return Source(name, table, run, interrupt, types, as_text)


@contextmanager
def told(name: str, conversion_is_known: bool) -> Iterator[None]:
    """DuckDB's errors in words: bad data as InputError; a full disk or memory as what it is."""
    import duckdb

    try:
        yield
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        raise MemoryError(_full(name, str(error))) from None
    except duckdb.ConversionException as error:
        if conversion_is_known:
            raise
        raise InputError(f"{name} cannot be read: {sentence(str(error))}") from None
    except duckdb.IOException as error:
        if _is_full(str(error)):
            raise OSError(_full(name, str(error))) from None
        raise InputError(f"{name} cannot be read: {sentence(str(error))}") from None
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as error:
        raise InputError(f"{name} cannot be read: {sentence(str(error))}") from None
    except StreamError as error:
        message = str(error)
        if "Interrupt" in message:
            raise KeyboardInterrupt from None
        if _is_full(message):
            raise OSError(_full(name, message)) from None
        if "Out of Memory" in message or "could not allocate" in message:
            raise MemoryError(_full(name, message)) from None
        raise InputError(f"{name} cannot be read: {sentence(message)}") from None


def _is_full(message: str) -> bool:
    return any(words in message for words in ("No space left", "Could not write", "max_temp_directory_size"))


def _full(name: str, message: str) -> str:
    return (
        f"{name} could not be sorted: {sentence(message)}. The sort needs about 30 bytes for each row in memory or in "
        "temp_directory; temporary files are removed"
    )


def sentence(message: str) -> str:
    """The telling lines of a DuckDB message: which line, which column, what was wrong."""
    lines = [line.strip() for line in message.splitlines()]
    first = re.sub(r"^([\w ]+ Error: )+", "", lines[0]) if lines else "unknown format"
    told_lines = [
        line
        for line in lines[1:]
        if re.match(r"(Error when converting|Could not convert|Expected Number|Candidate)", line)
    ]
    return "; ".join([first.rstrip(". "), *told_lines[:2]])


def _short(query: str) -> str:
    line = " ".join(query.split())
    return repr(line if len(line) <= 60 else line[:57] + "…")

"""Files, relations and queries -> a source of SQL that DuckDB can run, and words for what goes wrong with it."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..files import temporary_folder
from . import file_errors
from .arrow_stream import StreamError
from .duckdb_files import Files
from .duckdb_files import literal as literal  # its users think of it beside quoted
from .file_errors import sentence

_DATABASES = {"postgres": "postgres", "postgresql": "postgres", "mysql": "mysql", "sqlite": "sqlite"}
_MOST_THREADS = 1024  # DuckDB starts them all at once, and no machine has more to give


@dataclass(frozen=True)
class Options:
    """How DuckDB may use the machine; for a connection of the user's own, nothing is set."""

    memory_limit: str | None = None
    threads: int | None = None
    temp_directory: str | None = None

    def __post_init__(self) -> None:
        threads, limit = self.threads, self.memory_limit
        if threads is not None:
            whole = isinstance(threads, int | np.integer) and not isinstance(threads, bool)
            if not whole or not 1 <= threads <= _MOST_THREADS:
                raise InputError(f"threads must be a whole number from 1 to {_MOST_THREADS}, got {threads!r}")
        if limit is not None and not (isinstance(limit, str) and re.match(r"\s*\d", limit)):
            raise InputError(f"memory_limit must be a size such as '2GB', got {limit!r}")

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
    as_text: str | None = None  # a text file with its cells as they stand
    retyped: Callable[[dict[str, str]], str] | None = None  # a text file with other types than were guessed
    header: Callable[[], list[str]] = list  # the names as they stand, before DuckDB makes them differ
    in_words: Callable[[Exception], str] | None = None

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query and give its rows."""
        with translate_errors(self.name, self.as_text is not None, self.in_words):
            found: list[tuple[Any, ...]] = self.run(sql).fetchall()
            return found

    def first(self, condition: str, shown: str, table: str | None = None) -> tuple[int, Any] | None:
        """Number (from 0) and value of the first row that fulfils a condition."""
        rows = self.rows(
            f"SELECT cutline_row, cutline_value FROM (SELECT row_number() OVER () - 1 AS cutline_row, {shown} AS "
            f"cutline_value, ({condition}) AS cutline_found FROM {table or self.table}) WHERE cutline_found "
            "ORDER BY cutline_row LIMIT 1"
        )
        return (int(rows[0][0]), rows[0][1]) if rows else None

    def check(self, column: str, role: str) -> None:
        """Refuse a column that is not there, and name the nearest one."""
        if not isinstance(column, str):
            raise InputError(f"{role} must be the name of a column, got {column!r}")
        if column in self.types:
            renamed = any(re.fullmatch(re.escape(column) + r"_\d+", other) for other in self.types)
            if renamed and self.header().count(column) > 1:
                raise InputError(f"{self.name} has several columns called {column!r}; rename all but one")
            return
        names = self.header()
        if names.count(column) == 1 and len(names) == len(self.types):
            own = list(self.types)[names.index(column)]
            raise InputError(f"{self.name}: DuckDB calls the column {column!r} {own!r}; use this name for the {role}")
        near = difflib.get_close_matches(column, list(self.types), n=1, cutoff=0.5)
        folded = [name for name in self.types if name.casefold() == column.casefold()]
        hint = f"did you mean {(folded or near)[0]!r}?" if folded or near else f"it has {listed(list(self.types))}"
        raise InputError(f"{self.name} has no column {column!r} for the {role}; {hint}")


def quoted(column: str) -> str:
    """A name as SQL takes it, whatever it contains."""
    return '"' + column.replace('"', '""') + '"'


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
        yield _queried(source, query)
        return
    if isinstance(source, duckdb.DuckDBPyRelation):
        _refuse_options(options)
        run, table = (lambda sql: source.query("cutline_source", sql)), "cutline_source"
        if query is not None:
            raise InputError("a relation is a query already; leave query out")
        # a relation does not show its connection, so a running query of it cannot be interrupted: it is waited for
        yield replace(_described("the relation", table, run, lambda: None), header=lambda: list(source.columns))
        return
    with _own_folder(options.temp_directory) as folder:
        connection = _connect(duckdb, options, folder)
        try:
            yield _from_text(connection, os.fspath(source), query)
        finally:
            connection.close()


@contextmanager
def _own_folder(parent: str | None) -> Iterator[str]:
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(temporary_folder(parent))
        except OSError as error:
            raise InputError(f"temp_directory={parent!r} cannot be used: {error.strerror}") from None
        yield folder


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
        return _queried(connection, query)
    if query is not None:
        raise InputError("query goes with a DuckDB connection or a database; a file is read as it is")
    files = Files.of(text)
    source = _described(files.name, files.reader(), connection.sql, connection.interrupt, files.in_words)
    source = replace(source, header=lambda: files.header(connection))
    if not files.is_text:
        return source
    if len(source.types) == 1 and files.kind != "json" and files.packed != "zstd":
        found = file_errors.ragged(files.files[0], files.name, bool(files.packed))
        if found is not None:  # lines that differ so much that they were taken for a single column
            raise InputError(found)
    as_text = files.reader(dict.fromkeys(source.types, "VARCHAR") if files.kind == "json" else None, all_text=True)
    return replace(source, as_text=as_text, retyped=lambda types: files.reader(_needed(files, source.types, types)))


def _needed(files: Files, guessed: dict[str, str], types: dict[str, str]) -> dict[str, str]:
    """JSON is read with the types of all columns or of none."""
    return {**guessed, **types} if files.kind == "json" else types


def _queried(connection: Any, query: str) -> Source:
    """A query as a table: one statement, whatever stands behind it (a semicolon, a comment)."""
    name = f"the query {_short(query)}"
    with translate_errors(name, False):
        statements = connection.extract_statements(query)
    if len(statements) != 1:
        raise InputError(f"query must be one SQL statement, got {len(statements)}")
    text = re.sub(r"(;|\s|--[^\n'\"$]*$)+$", "", statements[0].query)
    source = _described(name, f"({text}\n)", connection.sql, connection.interrupt)
    return replace(source, header=lambda: list(connection.sql(text).columns))


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


def _described(
    name: str,
    table: str,
    run: Callable[[str], Any],
    interrupt: Callable[[], None],
    in_words: Callable[[Exception], str] | None = None,
) -> Source:
    with translate_errors(name, False, in_words):
        described = run(f"SELECT * FROM {table} LIMIT 0")
        types = {column: str(kind) for column, kind in zip(described.columns, described.types, strict=True)}
    return Source(name, table, run, interrupt, types, in_words=in_words)


@contextmanager
def translate_errors(
    name: str, conversion_is_known: bool, in_words: Callable[[Exception], str] | None = None
) -> Iterator[None]:
    """DuckDB's errors in words: bad data as InputError; a full disk or memory as what it is."""
    import duckdb

    def refused(error: Exception) -> InputError:
        return InputError(f"{name} cannot be read: {sentence(str(error))}" if in_words is None else in_words(error))

    try:
        yield
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        raise MemoryError(_full(name, str(error))) from None
    except duckdb.ConversionException as error:
        if conversion_is_known:
            raise
        raise refused(error) from None
    except duckdb.IOException as error:
        if _is_full(str(error)):
            raise OSError(_full(name, str(error))) from None
        raise refused(error) from None
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as error:
        raise refused(error) from None
    except StreamError as error:
        message = str(error)
        if "Interrupt" in message:
            raise KeyboardInterrupt from None
        if _is_full(message):
            raise OSError(_full(name, message)) from None
        if "Out of Memory" in message or "could not allocate" in message:
            raise MemoryError(_full(name, message)) from None
        raise refused(error) from None


def _is_full(message: str) -> bool:
    return any(words in message for words in ("No space left", "Could not write", "max_temp_directory_size"))


def _full(name: str, message: str) -> str:
    return (
        f"{name} could not be sorted: {sentence(message)}. The sort needs about 30 bytes for each row in memory or in "
        "temp_directory; temporary files are removed"
    )


def _short(query: str) -> str:
    line = " ".join(query.split())
    return repr(line if len(line) <= 60 else line[:57] + "…")

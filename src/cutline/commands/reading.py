"""Files -> columns, through DuckDB: CSV, TSV, Parquet, JSON lines, compressed or not, or standard input."""

from __future__ import annotations

import difflib
import fnmatch
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines import file_errors
from ..engines.duckdb_files import Files, kind_of
from ..engines.duckdb_source import listed, quoted
from ..engines.duckdb_types import WHOLE, unlike_guessed
from ..errors import InputError
from ..files import temporary_folder
from ..table import pluralize
from .output import note

_EXACT_INTEGERS = 2**53


@dataclass(frozen=True)
class Source:
    """An open file: its columns and their types."""

    name: str
    path: str
    kind: str
    compressed: bool
    connection: Any
    types: dict[str, str]
    loaded: dict[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    retyped: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in file order."""
        return list(self.types)

    @property
    def _files(self) -> Files:
        return Files(self.path, (self.path,), self.kind, "gzip" if self.compressed else "")

    def relation(self, *, as_text: bool = False) -> tuple[str, list[str]]:
        """SQL that reads the file, and its parameters. ``as_text`` keeps the cells of a text file as they stand."""
        given = self.types if self.retyped and self.kind == "json" else self.retyped  # JSON: all columns or none
        return self._files.reader(given, all_text=as_text), []

    def told(self, error: Exception) -> str:
        """What DuckDB could not read, in one sentence."""
        return file_errors.describe(self.path, self.name, self.compressed, self.kind, error)

    def is_number(self, column: str) -> bool:
        """Whether a column holds numbers."""
        return self.is_whole(column) or self.is_fraction(column)

    def is_whole(self, column: str) -> bool:
        """Whether a column holds whole numbers."""
        return self.types[column] in WHOLE

    def is_fraction(self, column: str) -> bool:
        """Whether a column holds numbers with a fraction."""
        return self.types[column] in ("DOUBLE", "FLOAT") or self.types[column].startswith("DECIMAL")

    def query(self, select: str, *, rest: str = "", parameters: Sequence[Any] = ()) -> Answer:
        """Run ``SELECT select FROM the file rest``; parameters of ``select`` first."""
        relation, path = self.relation()
        return executed(self.connection, f"SELECT {select} FROM {relation} {rest}", [*parameters, *path], self.told)

    def settle(self, columns: Sequence[str]) -> None:
        """Give columns types that hold for the whole file: those of text are guessed from its first rows."""
        guessed = [c for c in dict.fromkeys(columns) if c in self.types and self.is_whole(c) and c not in self.loaded]
        if self.kind == "parquet" or not guessed:
            return
        cells = self._files.reader(dict.fromkeys(self.types, "VARCHAR"), all_text=True)
        sql = f"SELECT {', '.join(map(unlike_guessed, guessed))} FROM {cells}"
        found = executed(self.connection, sql, [], self.told).fetchone()
        self.retyped.update({column: kind for column, kind in zip(guessed, found, strict=True) if kind is not None})
        self.types.update(self.retyped)

    def load(self, columns: Sequence[str]) -> None:
        """Read several columns of numbers in one pass over the file; ``numbers`` then finds them."""
        self.settle(columns)
        wanted = [c for c in dict.fromkeys(columns) if c in self.types and self.is_number(c)]
        if wanted:
            read = self.query(", ".join(f"{self._as_float(c)} AS v{k}" for k, c in enumerate(wanted))).fetchnumpy()
            self.loaded.update({c: self._exact(read[f"v{k}"], c) for k, c in enumerate(wanted)})

    def _as_float(self, column: str) -> str:
        return quoted(column) if self.types[column] == "FLOAT" else f"{quoted(column)}::DOUBLE"

    def _exact(self, values: NDArray[Any], column: str) -> NDArray[Any]:
        """The values, unless they are integers that floats confuse."""
        if self.is_whole(column):
            beyond = np.ma.filled(np.abs(values) >= _EXACT_INTEGERS, False)
            if beyond.any():
                raise InputError(
                    f"{self.name}: column {column!r} holds an integer beyond 2^53 in data row "
                    f"{int(np.argmax(beyond)) + 1}, where floats confuse them; rescale"
                )
        return values

    def numbers(self, column: str, role: str) -> NDArray[Any]:
        """A column as floats (float32 stays float32, so that ties stay ties); a missing value is refused."""
        self.check(column, role)
        if not self.is_number(column) and self.types[column] != "BOOLEAN":
            self._check_text(column, role)
        if column not in self.loaded:
            self.settle([column])
            read = self.query(f"{self._as_float(column)} AS v").fetchnumpy()["v"]
            self.loaded[column] = self._exact(read, column)
        return self.complete(self.loaded[column], column, role)

    def weights(self, column: str) -> NDArray[Any]:
        """A column of case weights: finite, none below zero."""
        values = self.numbers(column, "weight")
        bad = ~np.isfinite(values) | (values < 0)
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"{self.name}: column {column!r} holds {values[row]:g} in data row {row + 1}; a weight must be finite "
                "and not negative"
            )
        nothing = int(np.count_nonzero(values == 0))
        if nothing:
            have, do = ("has", "does") if nothing == 1 else ("have", "do")
            note(f"note: {nothing:,} of {pluralize(len(values), 'row')} {have} weight 0 and {do} not count")
        return values

    def _check_text(self, column: str, role: str) -> None:
        """Refuse a column of text with its first cell that is no number; numbers written as text pass."""
        name = quoted(column)
        kind = self.types[column]
        if kind != "VARCHAR":
            raise InputError(
                f"{self.name}: column {column!r} holds {kind.lower()} values, not numbers; it cannot be a {role}"
            )
        relation, path = self.relation()
        found = executed(
            self.connection,
            f"SELECT n, v FROM (SELECT row_number() OVER () AS n, {name} AS v FROM {relation}) "
            "WHERE v IS NOT NULL AND TRY_CAST(v AS DOUBLE) IS NULL ORDER BY n LIMIT 1",
            path,
            self.told,
        ).fetchone()
        if found is None:
            return
        row, cell = found
        self.check_quotes([cell])
        hint = "; write a decimal point" if re.fullmatch(r"\s*[+-]?\d+,\d+\s*", cell) else ""
        shown = cell if len(cell) <= 40 else cell[:39] + "…"
        raise InputError(
            f"{self.name}: column {column!r} holds text, not numbers ({shown!r} in data row {row}); "
            f"it cannot be a {role}{hint}"
        )

    def check_quotes(self, cells: Sequence[Any]) -> None:
        """Refuse a text file in which a quote is never closed: cells with a lone quote or a line break show it."""
        if self.kind in ("csv", "tsv") and any("\n" in str(cell) or str(cell).count('"') % 2 for cell in cells):
            found = file_errors.unclosed(self.path, self.name, self.compressed)
            if found is not None:
                raise InputError(found)

    def complete(self, values: NDArray[Any], column: str, role: str) -> NDArray[Any]:
        """The values, unless one is missing."""
        if len(values) == 0:
            raise InputError(f"{self.name} has no rows below its header")
        missing = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else np.zeros(0, bool)
        if values.dtype.kind == "f" and not missing.any():
            missing = np.isnan(np.asarray(values))
        if missing.any():
            row = int(np.argmax(missing)) + 1
            raise InputError(
                f"{self.name}: column {column!r} has no {role} in data row {row}; fill it in or drop the row"
            )
        return np.asarray(values)

    @property
    def has_header(self) -> bool:
        """Whether the columns got their names from the file."""
        made_up = self.kind in ("csv", "tsv") and all(re.fullmatch(r"column\d+", name) for name in self.types)
        return not made_up or file_errors.header(self.path, self.compressed) == self.columns

    def check(self, column: str, role: str) -> None:
        """Refuse a column that is not there, and name the nearest one."""
        if column in self.types:
            if f"{column}_1" in self.types and file_errors.header(self.path, self.compressed).count(column) > 1:
                raise InputError(f"{self.name} has several columns called {column!r}; rename all but one in its header")
            return
        near = difflib.get_close_matches(column, self.columns, n=1, cutoff=0.5)
        folded = [name for name in self.columns if name.casefold() == column.casefold()]
        hint = f"did you mean {(folded or near)[0]!r}?" if folded or near else f"it has {listed(self.columns)}"
        raise InputError(f"{self.name} has no column {column!r} for the {role}; {hint}")

    def one(self, pattern: str) -> str:
        """The one column that a name or a pattern means."""
        found = self.matching(pattern)
        if len(found) > 1:
            raise InputError(f"{self.name}: --score {pattern} means {listed(found)}; name one of them")
        return found[0]

    def matching(self, pattern: str) -> list[str]:
        """The columns that a name or a pattern such as ``p_*`` means."""
        if pattern in self.types or not re.search(r"[*?\[]", pattern):
            return [pattern]
        found = [name for name in self.columns if fnmatch.fnmatchcase(name, pattern)]
        if not found:
            raise InputError(f"{self.name} has no column that matches {pattern!r}; it has {listed(self.columns)}")
        return found


@contextmanager
def opened(file: str) -> Iterator[Source]:
    """Open a file by its name; ``-`` is standard input, kept in a temporary file while it is read."""
    import duckdb

    with temporary_folder() as folder:
        name, path = file, file
        if file == "-":
            name, path = "standard input", os.path.join(folder, "stdin")
            with open(path, "wb") as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy, 1 << 20)
        elif not os.path.exists(path):
            raise InputError(f"there is no file {file!r}")
        elif os.path.isdir(path):
            raise InputError(f"{file!r} is a folder; give a file")
        if os.path.getsize(path) == 0 and os.path.isfile(path):
            raise InputError(f"{name} is empty")
        kind, compressed = _kind(path, is_input=file == "-")
        connection = duckdb.connect(config={"temp_directory": folder})
        try:
            connection.execute("SET enable_progress_bar = false")
            source = Source(name, path, kind, compressed, connection, {})
            relation, path_parameter = source.relation()
            described = executed(connection, f"DESCRIBE SELECT * FROM {relation}", path_parameter, source.told)
            source.types.update({row[0]: row[1] for row in described.fetchall()})
            _check_shape(source)
            yield source
        finally:
            connection.close()


def _check_shape(source: Source) -> None:
    """Refuse a file without rows, and one whose lines differ so much that it was taken for a single column."""
    if set(source.types.values()) == {"VARCHAR"} and source.query("1", rest="LIMIT 1").fetchone() is None:
        raise InputError(f"{source.name} has no rows below its header")
    if len(source.types) == 1 and source.kind in ("csv", "tsv"):
        found = file_errors.ragged(source.path, source.name, source.compressed)
        if found is not None:
            raise InputError(found)


def _kind(path: str, *, is_input: bool) -> tuple[str, bool]:
    """What kind of file it is: by its name, or by its first bytes where the name says nothing."""
    kind, packed = kind_of(path)
    if kind is not None and packed != "zstd" and not is_input:
        return kind, bool(packed)
    with open(path, "rb") as file:
        start = file.read(1 << 16)
    compressed = start.startswith(b"\x1f\x8b")
    if compressed:
        import zlib

        start = zlib.decompressobj(31).decompress(start, 1 << 16)
    if start.startswith(b"PAR1"):
        return "parquet", False
    if start.lstrip()[:1] in (b"{", b"["):
        return "json", compressed
    return "csv", compressed


@dataclass(frozen=True)
class Answer:
    """The result of a query; what DuckDB finds wrong only while it fetches is told as well."""

    result: Any
    told: Callable[[Exception], str]

    def fetchone(self) -> Any:
        """The next row."""
        return self._fetched(self.result.fetchone)

    def fetchall(self) -> list[Any]:
        """All rows."""
        rows: list[Any] = self._fetched(self.result.fetchall)
        return rows

    def fetchmany(self, size: int) -> list[Any]:
        """The next rows."""
        return list(self._fetched(lambda: self.result.fetchmany(size)))

    def fetchnumpy(self) -> dict[str, NDArray[Any]]:
        """All columns."""
        columns: dict[str, NDArray[Any]] = self._fetched(self.result.fetchnumpy)
        return columns

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column[0] for column in self.result.description]

    def _fetched(self, fetch: Callable[[], Any]) -> Any:
        import duckdb

        try:
            return fetch()
        except duckdb.Error as error:
            raise InputError(self.told(error)) from None


def executed(connection: Any, sql: str, parameters: Sequence[Any], told: Callable[[Exception], str]) -> Answer:
    """Run a query; what DuckDB says of the file becomes one sentence."""
    answer = Answer(None, told)
    return Answer(answer._fetched(lambda: connection.execute(sql, parameters)), told)

"""A condition on columns, such as ``month >= 6 and region in ('north', 'south')``: which rows of a table count.

Its text is never run: it is read here and becomes SQL of quoted names and literals. A comparison with a missing cell is
neither true nor false, as in SQL: the row is left out, also behind ``not``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import InputError, show
from . import rules
from .arrays import as_column
from .duckdb import DuckTable
from .frames import MemoryTable, lacking_cells, taken_cells
from .sql_table import Column, SqlTable, lacking_sql

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])|(?P<text>'(?:[^']|'')*')
    |(?P<quoted>"(?:[^"]|"")+"|`(?:[^`]|``)+`)|(?P<sign><=|>=|<>|!=|==|=|<|>|\(|\)|,)|(?P<word>[^\W\d][\w.]*))""",
    re.VERBOSE,
)
_SIGNS = {"=": "=", "==": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_EXAMPLE = "write e.g. \"month >= 6 and region = 'north'\", names with other signs in double quotes"


def only_rows(table: Any, text: Any) -> Any:
    """The rows of a table that fulfil a condition."""
    if not isinstance(text, str):
        raise InputError("where", f"must be a condition as text, got {show(text)}", _EXAMPLE)
    condition = _Condition(text)
    in_memory = isinstance(table, MemoryTable)
    source = _in_duckdb(table, condition.names & set(table.names)) if in_memory else table
    sql = f"coalesce({condition.sql(source, None if in_memory else source.where)}, false)"
    if not source.count([sql])[0]:
        raise InputError("where", f"leaves no row of {table.name}: {show(text)}", "change the condition")
    return table.only(np.flatnonzero(source.values([sql])[0]) if in_memory else sql)


def _in_duckdb(table: MemoryTable, names: set[str]) -> DuckTable:
    """Columns in memory as DuckDB can be asked about them: numbers and dates as they are, everything else as text."""
    import duckdb

    arrays: dict[str, Any] = {"rows": np.arange(table.count_rows())}
    for k, name in enumerate(sorted(names)):
        cells = table.column(name, "condition")
        there = np.flatnonzero(~lacking_cells(cells))
        held = as_column(taken_cells(cells, there), "where") if len(there) else np.empty(0)
        is_typed = held.dtype.kind in "biufM"
        arrays[f"c{k}"] = held if is_typed else np.array([rules.as_text(cell) for cell in held.tolist()], object)
        if len(there) < len(arrays["rows"]):
            arrays[f"c{k}"] = np.full(len(arrays["rows"]), None, object)
            arrays[f"c{k}"][there] = held.tolist() if is_typed else [rules.as_text(cell) for cell in held.tolist()]
    connection = duckdb.connect()
    connection.register("cutline_cells", arrays)
    types = [str(kind) for kind in connection.sql("SELECT * FROM cutline_cells LIMIT 0").types[1:]]
    columns = [Column(name, f"c{k}", kind) for k, (name, kind) in enumerate(zip(sorted(names), types, strict=True))]
    source = DuckTable(table.name, columns, "cutline_cells", connection.sql, connection.interrupt)
    source.names = table.names  # an error about a column that is not there lists all
    return source


class _Condition:
    """A condition as it is written: ``or`` binds least, then ``and``, then ``not``."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.tokens = list(self._split())
        self.names = {_unquoted(text) for kind, text in self.tokens if kind in ("word", "quoted")}

    def _split(self) -> Iterator[tuple[str, str]]:
        place = 0
        while self.text[place:].strip():
            token = _TOKEN.match(self.text, place)
            if token is None:
                raise self._unread(self.text[place:].strip())
            place, kind = token.end(), str(token.lastgroup)
            yield kind, token[kind]
        yield "end", ""

    def _unread(self, rest: str) -> InputError:
        how = f"is not understood from {show(rest)} on" if rest else "breaks off"
        return InputError("where", f"{how}: {show(self.text)}", _EXAMPLE)

    def sql(self, table: SqlTable, where: str | None) -> str:
        """The condition for a table, which errors call ``where``."""
        self.table, self.where = table, where
        condition = self._joined("or", lambda: self._joined("and", self._single))
        if self.tokens[self.at][0] != "end":
            raise self._unread(self.tokens[self.at][1])
        return condition

    def _took(self, *words: str) -> str:
        """The next word or sign if it is one of these, else nothing."""
        kind, text = self.tokens[self.at]
        if kind not in ("word", "sign") or text.lower() not in words:
            return ""
        self.at += 1
        return text.lower()

    def _need(self, *words: str) -> str:
        word = self._took(*words)
        if not word:
            raise self._unread(self.tokens[self.at][1])
        return word

    def _joined(self, word: str, part: Callable[[], str]) -> str:
        parts = [part()]
        while self._took(word):
            parts.append(part())
        return f"({f' {word} '.join(parts)})"

    def _single(self) -> str:
        if self._took("not"):
            return f"(NOT {self._single()})"
        if self._took("("):
            inner = self._joined("or", lambda: self._joined("and", self._single))
            self._need(")")
            return inner
        kind, text = self.tokens[self.at]
        if kind not in ("word", "quoted"):
            raise self._unread(text)
        self.at += 1
        column = self.table.column(_unquoted(text), "condition")
        lacks = f"({lacking_sql(self.table.dialect, column)})"
        if self._took("is"):
            denied = "NOT " if self._took("not") else ""
            self._need("missing", "null")
            return f"({denied}{lacks})"
        denied = "NOT " if self._took("not") else ""
        sign = self._need("in", *(() if denied else _SIGNS))
        if sign != "in":
            return self._comparison(column, lacks, _SIGNS[sign])
        self._need("(")
        among = [self._comparison(column, lacks, "=")]
        while self._took(","):
            among.append(self._comparison(column, lacks, "="))
        self._need(")")
        return f"({denied}({' OR '.join(among)}))"

    def _comparison(self, column: Column, lacks: str, sign: str) -> str:
        """A column against the value that comes next: a number, text in quotes, true or false."""
        kind, text = self.tokens[self.at]
        sql, table, of = self.table.dialect, self.table, column.kind
        is_truth = kind == "word" and text.lower() in ("true", "false")
        if kind not in ("number", "text") and not is_truth:
            raise self._unread(text)
        self.at += 1
        cell, value = column.sql, sql.literal(text[1:-1].replace("''", "'")) if kind == "text" else text.lower()
        row, holds, remedy = None, "", "write a number, without quotes"
        if kind == "number" and of == "text":
            cell = f"TRY_CAST({cell} AS DOUBLE)"
            strange = table.first(f"NOT {lacks} AND {cell} IS NULL", column.sql)
            if strange is not None:
                row, holds, remedy = strange[0], f"is {show(strange[1])}", "compare it with text, in quotes"
        elif of in ("integer", "fraction", "decimal") and kind != "number":
            holds = "has numbers"
        elif of == "truth" and not is_truth:
            holds, remedy = "has true and false", "write true or false, without quotes"
        elif of == "text" and is_truth:
            cell, value = sql.folded(cell), f"'{value}'"
        elif of in ("other", "collection"):
            value = f"TRY_CAST({value} AS {column.type})" if kind == "text" else "NULL"
            if of == "collection" or table.count([f"{value} IS NULL"]) != [0]:
                holds, remedy = f"has the type {column.type}", "write a value of it in quotes, such as '2024-06-01'"
        if holds:
            problem = f"{holds}, and the condition compares it with {show(text[1:-1]) if kind == 'text' else text}"
            raise InputError("where", problem, remedy, row=row, column=column.name, where=self.where)
        value = f"CAST('{text}' AS DOUBLE)" if kind == "number" else value
        return f"(CASE WHEN NOT {lacks} THEN {cell} {sign} {value} END)"


def _unquoted(name: str) -> str:
    return name[1:-1].replace(2 * name[0], name[0]) if name[0] in '"`' else name

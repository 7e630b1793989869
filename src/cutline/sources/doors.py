"""Any table -> its rows, checked: in memory, or where they are and in order."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import InputError
from .duckdb import DuckTable, Machine, open_table
from .files import TextFormat
from .frames import Frame, Rows, frame_of, is_from, no_table
from .tables import Checked, Roles, Table, check

IN_MEMORY = 1_000_000


@contextmanager
def open_source(source: Any, query: str | None, machine: Machine, text: TextFormat) -> Iterator[Any]:
    """A table that can be asked: in memory, through DuckDB, or a Spark DataFrame as a table."""
    if isinstance(source, Frame | Table):  # opened already
        yield source
        return
    if is_from(source, "pyspark"):
        from .spark import SparkTable

        _only_for_files(machine, query, text, "a Spark DataFrame")
        yield SparkTable(source)
        return
    frame = frame_of(source)
    if frame is not None:
        _only_for_files(machine, query, text, "a table in memory")
        yield frame
        return
    if not isinstance(source, str | os.PathLike) and not is_from(source, "duckdb") and not is_from(source, "_duckdb"):
        raise no_table(source)
    with open_table(source, query, machine, text) as table:
        yield table


def rows_of(table: Frame | DuckTable, roles: Roles, stream: bool | None) -> Rows | Checked:
    """The rows in memory where they fit, else what was checked and counted of them."""
    if isinstance(table, Frame):
        if stream:
            raise InputError("stream", "is True, but the table is in memory already", "write it to a file to stream it")
        return table.rows(roles)
    checked = check(table, roles)
    rows = next(iter(checked.totals.values())).rows
    if stream is False or (stream is None and rows <= IN_MEMORY):
        return table.load(checked)
    if roles.clusters is not None:
        remedy = "leave it out, or load the rows with {stream=False}"
        raise InputError("clusters", "needs the rows in memory, but this table is streamed", remedy)
    return checked


def _only_for_files(machine: Machine, query: str | None, text: TextFormat, what: str) -> None:
    given = [*machine.given, *(["query"] if query is not None else []), *(n for n in text.given if n != "decimal")]
    if given:
        raise InputError(given[0], f"does not go with {what}", "leave it out")

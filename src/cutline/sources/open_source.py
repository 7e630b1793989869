"""Any table -> its rows, checked: in memory, or where they are and in order."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from ..errors import InputError, listed, show
from ..runtime import TUNING
from .duckdb import DuckTable, Machine, open_table
from .file_formats import TextFormat
from .frames import LoadedColumns, MemoryTable, frame_of, is_from, no_table
from .sql_table import SPARK, Checked, Column, Roles, SqlTable, check, lacking_sql, role_word

IN_MEMORY = 1_000_000  # rows that are loaded; chosen by hand: every machine has room for so many
_SHOWN = 8  # columns of a row that is shown as an example


class SparkTable(SqlTable):
    """A DataFrame. Its rows have no numbers: an example is shown instead."""

    dialect = SPARK

    def __init__(self, frame: Any) -> None:
        super().__init__("the table", [Column(name, SPARK.name(name), kind) for name, kind in frame.dtypes])
        self.frame, self.where = frame, None  # a DataFrame has no name

    def only(self, condition: str, cells: Mapping[str, str]) -> SparkTable:
        """The rows that fulfil a condition on some cells, by name; Spark has names in backticks."""
        from pyspark.errors import PySparkException
        from pyspark.sql import functions as f

        own = re.sub(r"""('(?:[^']|'')*')|"((?:[^"]|"")+)\"""", lambda m: m[1] or SPARK.name(m[2]), condition)
        frame = self.frame
        try:
            for name, sql in cells.items():
                frame = frame.withColumn(name, f.expr(sql))
            return SparkTable(frame.where(own))
        except PySparkException as error:
            raise InputError(None, str(error).splitlines()[0]) from None

    def brought(self, names: Sequence[str], argument: str) -> Any:
        """Some columns in the memory of the driver; raises an error for an argument where there are too many rows."""
        rows, most = self.count_rows(), TUNING.brought_rows
        if rows > most:
            problem = f"needs the rows on the driver, and there are {rows:,}: up to {most:,} are brought there"
            raise InputError(argument, problem, "count them in buckets, with their worth: cl.sql(…, {worth}=…)")
        return frame_of(self.frame.select(*map(SPARK.name, dict.fromkeys(names))).toPandas())

    def column(self, name: str, role: str) -> Column:
        """A column by its name; Spark takes P for p unless it is told otherwise."""
        found = super().column(name, role)
        same = [other for other in self.frame.columns if other.casefold() == name.casefold()]
        if len(same) > 1 and self.frame.sparkSession.conf.get("spark.sql.caseSensitive", "false") != "true":
            said = f"the table has several columns called {show(name)} ({listed(same)})"
            raise InputError(None, said, "rename all but one")
        return found

    def aggregate(self, terms: Sequence[str], first: int | None = None) -> Sequence[Any]:
        frame = self.frame if first is None else self.frame.limit(first)
        return list(frame.selectExpr(*(f"{term} AS t{k}" for k, term in enumerate(terms))).collect()[0])

    def grouped(
        self, kept: str | None, keys: Sequence[str], terms: Sequence[str], most: int | None = None
    ) -> list[tuple[Any, ...]]:
        from pyspark.sql import functions as f

        frame = self.frame if kept is None else self.frame.where(kept)
        by = [f.expr(key).alias(f"k{k}") for k, key in enumerate(keys)]
        found = frame.groupBy(*by).agg(*(f.expr(term).alias(f"t{k}") for k, term in enumerate(terms)))
        return [tuple(row) for row in (found if most is None else found.limit(most)).collect()]

    def first(self, condition: str, shown: str) -> tuple[int | str, Any] | None:
        """A row that fulfils a condition, with where it was read from, where that is known; and a value of it."""
        names = self.frame.columns[:_SHOWN]
        wanted = [f"{shown} AS v", "input_file_name() AS f", *(f"{SPARK.name(n)} AS c{k}" for k, n in enumerate(names))]
        row = self.frame.where(condition).selectExpr(*wanted).first()
        if row is None:
            return None
        value, file, *cells = row
        said = ", ".join(f"{name}={cell!r}" for name, cell in zip(names, cells, strict=True))
        more = ", …" if len(self.frame.columns) > _SHOWN else ""
        return f"the row ({said}{more}){f' of {file}' if file else ''}", value

    def rows(self, checked: Checked, key: str | None = None) -> Any:
        """The rows that count, as score_0 … (double), positive (boolean), weight (double) and key, if there are."""
        # Spark takes −0.0 and 0.0 for two values when it groups; adding 0.0 makes them one
        wanted = [f"{sql} + 0.0D AS score_{k}" for k, sql in enumerate(checked.scores.values())]
        wanted += [f"{checked.positive} AS positive"]
        wanted += [] if checked.weight is None else [f"{checked.weight} AS weight"]
        wanted += [] if key is None else [f"{key} AS key"]
        frame = self.frame if checked.kept is None else self.frame.where(checked.kept)
        return frame.selectExpr(*wanted)


@contextmanager
def open_source(source: Any, query: str | None, machine: Machine, text: TextFormat) -> Iterator[Any]:
    """A table that can be asked: in memory, through DuckDB, or a Spark DataFrame; its rows that fulfil a condition."""
    with ExitStack() as stack:
        if isinstance(source, MemoryTable | SqlTable):  # opened already
            table: Any = source
        elif (table := SparkTable(source) if is_from(source, "pyspark") else frame_of(source)) is not None:
            given = [*machine.given, *(["query"] if query is not None else []), *text.given]
            what = "a Spark DataFrame" if isinstance(table, SparkTable) else "a table in memory"
            if given:
                raise InputError(given[0], f"does not go with {what}", "leave it out")
        elif isinstance(source, str | os.PathLike) or is_from(source, "duckdb") or is_from(source, "_duckdb"):
            table = stack.enter_context(open_table(source, query, machine, text))
        else:
            raise no_table(source)
        yield table if text.where is None else only_rows(table, text.where)


def only_rows(table: Any, text: Any) -> Any:
    """The rows of a table that fulfil a condition in SQL. A comparison with a missing cell is not true.

    Text of which every cell is a number or a truth is compared as such.
    """
    example = "write e.g. \"month >= 6 and region = 'north'\", names with other signs in double quotes"
    if not isinstance(text, str):
        raise InputError("where", f"must be a condition as text, got {show(text)}", example)
    if isinstance(table, MemoryTable):
        raise InputError("where", "is for files and databases, and this table is in memory", "leave its rows out there")
    names = [n for n in table.names if isinstance(n, str) and re.search(rf"(?<!\w){re.escape(n)}(?!\w)", text)]
    columns = [table.named[name] for name in names]
    lacks = {column.name: f"({lacking_sql(table.dialect, column)})" for column in columns}
    texts = [column for column in columns if column.kind == "text"]
    types = {"DOUBLE": "TRY_CAST({0} AS DOUBLE) IS NULL", "BOOLEAN": "{1} NOT IN ('true', 'false')"}
    failing = [
        f"NOT {lacks[c.name]} AND {wrong.format(c.sql, table.dialect.folded(c.sql))}"
        for c in texts
        for wrong in types.values()
    ]
    fails = iter(table.count(failing) if failing else [])
    kinds = {c.name: [kind for kind in types if not next(fails)] for c in texts}
    cells = {}
    for column in columns:
        kind = [*kinds.get(column.name, ()), column.type][0]
        cells[column.name] = f"CASE WHEN NOT {lacks[column.name]} THEN CAST({column.sql} AS {kind}) END"
    try:
        found = table.only(text, cells)
        rows = found.count_rows()
    except InputError as error:
        if unknown := re.search(r"""column.*? ["`'](.+?)["`']""", error.problem):
            table.column(unknown[1], "condition")
        raise InputError("where", f"is {show(text)}: {error.problem}", example) from None
    if not rows:
        raise InputError("where", f"leaves no row of {table.name}: {show(text)}", "change the condition")
    return found


def rows_of(table: MemoryTable | DuckTable, roles: Roles, stream: bool | None) -> LoadedColumns | Checked:
    """The rows in memory where they fit, else what was checked and counted of them."""
    if isinstance(table, MemoryTable):
        if stream:
            raise InputError("stream", "is True, but the table is in memory already", "write it to a file to stream it")
        return table.rows(roles)
    if not stream:
        columns = [table.column(name, role_word(role)) for role, name in roles.named]
        loaded = table.load_plain(roles)
        if loaded is not None and (stream is False or len(loaded) <= IN_MEMORY):
            return loaded
        table = table.copied(columns)
    checked = check(table, roles)
    rows = next(iter(checked.totals.values())).rows
    if stream is False or (stream is None and rows <= IN_MEMORY):
        assert isinstance(checked.table, DuckTable)
        return checked.table.load(checked)
    if roles.clusters is not None:
        remedy = "leave it out, or load the rows with {stream=False}"
        raise InputError("clusters", "needs the rows in memory, but this table is streamed", remedy)
    return checked

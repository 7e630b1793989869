"""The columns that are used, with types that hold for every row: what a text file only begins with is not enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import InputError
from .duckdb_source import Source, quoted

WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
# As files write numbers. DuckDB's casts also take 1_000, and round 0.4 to the integer 0.
_INTEGER = r"\s*[+-]?\d+\s*"
_NUMBER = r"(?i)\s*[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf(inity)?|nan)\s*"
_WORD = r"(?i)\s*(true|false)\s*"


def settled(source: Source, label: str, scores: Sequence[str], weight: str | None) -> Source:
    """The source with types that its used columns keep to the last row.

    DuckDB guesses the types of a text file from its first rows, and rounds a fraction that comes later to the integer
    that it guessed: such columns are read as fractions. A score or weight that is kept as text counts if every cell is
    a number, or every cell true or false; else the first other cell is named.
    """
    roles = {label: "label", **({} if weight is None else {weight: "weight"}), **dict.fromkeys(scores, "score")}
    used = {column: role for column, role in roles.items() if isinstance(column, str) and column in source.types}
    for column, role in used.items():
        source.check(column, role)
    source = _unrounded(source, list(used))
    texts = [column for column, role in used.items() if role != "label" and source.types[column] == "VARCHAR"]
    if not texts:
        return source
    kinds = {column: _kind_of_text(source, column, used[column]) for column in texts}
    casts = ", ".join(f"CAST(trim({quoted(column)}) AS {kind}) AS {quoted(column)}" for column, kind in kinds.items())
    table = f"(SELECT * REPLACE ({casts}) FROM {source.table})"
    return replace(source, table=table, types={**source.types, **kinds})


def unlike_guessed(column: str) -> str:
    """SQL: the type that a column of a text file needs where the integer that was guessed does not do; else NULL.

    A column with a cell that is no number at all stays as it is: it is refused where the columns are checked.
    """
    name = quoted(column)
    wide = f"count(*) FILTER (TRY_CAST({name} AS BIGINT) IS NULL AND {name} IS NOT NULL)"
    return (
        f"CASE WHEN {_count(column, _NUMBER)} > 0 THEN NULL WHEN {_count(column, _INTEGER)} > 0 THEN 'DOUBLE' "
        f"WHEN {wide} > 0 THEN 'HUGEINT' END"
    )


def _unrounded(source: Source, columns: Sequence[str]) -> Source:
    guessed = [column for column in columns if source.types[column] in WHOLE]
    if source.as_text is None or source.retyped is None or not guessed:
        return source
    found = source.rows(f"SELECT {', '.join(map(unlike_guessed, guessed))} FROM {source.as_text}")[0]
    types = {column: kind for column, kind in zip(guessed, found, strict=True) if kind is not None}
    if not types:
        return source
    return replace(source, table=source.retyped(types), types={**source.types, **types})


def _kind_of_text(source: Source, column: str, role: str) -> str:
    """DOUBLE or BOOLEAN, whichever every cell of a text column is."""
    strange, words = source.rows(f"SELECT {_count(column, _NUMBER)}, {_count(column, _WORD)} FROM {source.table}")[0]
    if not strange:
        return "DOUBLE"
    if not words:
        return "BOOLEAN"
    name = quoted(column)
    row, value = source.first(f"NOT {_matches(name, _NUMBER)}", name) or (0, "")
    raise InputError(
        f"{source.name}: column {column!r} has {value!r} in row {row}, which is no number; it cannot be a {role}"
        + ("; write a decimal point" if value.strip("+- ").replace(",", "", 1).isdigit() and "," in value else "")
    )


def _count(column: str, pattern: str) -> str:
    return f"count(*) FILTER (NOT {_matches(quoted(column), pattern)})"


def _matches(name: str, pattern: str) -> str:
    return f"regexp_full_match({name}, '{pattern}')"

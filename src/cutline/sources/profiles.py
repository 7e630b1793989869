"""What the columns of a table could be: a profile of each, and which can only be meant."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InputError, listed, show
from . import rules
from .duckdb import DuckTable
from .frames import MemoryTable
from .sql_table import DUCKDB, Column, lacking_sql

_MOST_COLUMNS = 1000  # of a wider table, the columns must be named
_DOCTOR = " (cutline doctor lists what each column could be)"
CURRENCY = "amounts with a currency sign"  # the notation of words that are no numbers for this alone
_IDENTIFIERS = 20  # rows from which whole numbers that never repeat are rather identifiers than scores


@dataclass(frozen=True)
class Profile:
    """Contents of a column. ``distinct`` is approximate unless counted exactly; ``low`` and ``high`` are of numbers."""

    name: str
    rows: int
    missing: int
    sort: str  # truth, number, word, or other
    notation: str
    whole: bool
    distinct: int
    low: float
    high: float
    counts_rows: bool
    strange: int  # cells that are no number

    @property
    def is_nearly_number(self) -> bool:
        """Whether all but a few cells are numbers."""
        return self.sort == rules.WORD and 0 < 10 * self.strange <= self.rows - self.missing

    @property
    def is_number(self) -> bool:
        """Whether every cell is a number."""
        return self.sort == rules.NUMBER

    @property
    def is_index(self) -> bool:
        """Whether it only numbers the rows, or has no name of its own."""
        unnamed = not self.name.strip() or re.fullmatch(r"Unnamed: \d+|column0*", self.name) is not None
        return self.counts_rows or (unnamed and self.whole and self.distinct > 2)


def profiles(table: DuckTable, names: Sequence[str] | None = None, *, exact: bool = False) -> list[Profile]:
    """Profiles of columns; ``exact`` counts distinct values in place of an estimate."""
    columns = table.columns if names is None else [table.named[name] for name in names]
    if len(columns) > _MOST_COLUMNS:
        said = f"{table.name} has {len(columns):,} columns"
        raise InputError(None, said, "name those to use with {label} and {score}")
    columns = [column for column in columns if column.kind != "collection"]
    profiled = {} if names is None else table.profiled
    fresh = [column for column in columns if column.sql not in profiled]
    profiled |= _profiled(table.copied(fresh), fresh, exact) if fresh else {}
    if names is None:
        table.profiled = profiled
    return [profiled[column.sql] for column in columns]


def _profiled(table: DuckTable, columns: Sequence[Column], exact: bool) -> dict[str, Profile]:
    there = {column.sql: f"NOT ({lacking_sql(DUCKDB, column)})" for column in columns}
    terms = []
    for column in columns:
        cell, number = column.sql, f"TRY_CAST({column.sql} AS DOUBLE)" if column.kind != "other" else "NULL"
        is_number = DUCKDB.matches(cell, rules.PLAIN.cell) if column.kind == "text" else "true"
        here = f"FILTER (WHERE {there[cell]})"
        distinct = "count(*)" if exact else f"approx_count_distinct({cell})"
        wrong = (f"{there[cell]} AND NOT ({fits})" for fits in (is_number, f"{number} = floor({number})"))
        own = [_count("true"), _count(there[cell]), f"{distinct} {here}", *map(_count, wrong)]
        terms.append([*own, f"min({number}) {here}", f"max({number}) {here}"])
    found = []
    counts = _counted(table, columns, terms, grouped=exact)
    for column, (rows, filled, distinct, strange, not_whole, low, high) in zip(columns, counts, strict=True):
        sort = {"truth": rules.TRUTH, "other": "other"}.get(column.kind, rules.WORD if strange else rules.NUMBER)
        sort = sort if filled else "other"
        plain = sort == rules.NUMBER and low is not None
        whole = plain and (column.kind == "integer" or (column.kind != "decimal" and not_whole == 0))
        low, high = (float(v) if plain else float("nan") for v in (low, high))
        facts = rows, rows - filled, sort, "", whole, min(distinct, filled), low, high, False, strange
        found.append(Profile(column.name, *facts))
    if not found[0].rows:
        raise rules.no_rows(table.name)
    # numbers that are written plainly need no further look
    odd = [k for k, own in enumerate(found) if columns[k].kind == "text" and own.strange and own.sort != "other"]
    # cells that are neither true nor false, and those that are no number in each notation but the plain one
    cells, texts = (rules.TRUTH_CELL, *rules.NOTATION_CELLS[1:], rules.CURRENCY_CELL), [columns[k] for k in odd]
    terms = [[_count(f"{there[c.sql]} AND NOT {DUCKDB.matches(c.sql, cell)}") for cell in cells] for c in texts]
    for k, (no_truth, *failing, no_amount) in zip(odd, _counted(table, texts, terms, grouped=exact), strict=True):
        notation = next((n.name for n, fails in zip(rules.NOTATIONS[1:], failing, strict=True) if fails == 0), None)
        sort = rules.TRUTH if no_truth == 0 else rules.WORD if notation is None else rules.NUMBER
        notation = notation or ("" if no_amount else CURRENCY)
        found[k] = replace(found[k], sort=sort, notation=notation, strange=min(found[k].strange, *failing))
    unique = [k for k, own in enumerate(found) if own.whole and not own.missing and own.distinct > 0.9 * own.rows]
    for k in unique:
        cell = columns[k].sql
        differs = [f"count(*) FILTER (WHERE TRY_CAST({cell} AS DOUBLE) <> {table.row} - {first})" for first in (1, 0)]
        numbered = f"(SELECT *, row_number() OVER () AS {table.row} FROM {table.relation})"
        counts_rows = found[k].rows > 2 and 0 in table.rows(f"SELECT {', '.join(differs)} FROM {numbered}")[0]
        found[k] = replace(found[k], counts_rows=counts_rows)
    return {column.sql: own for column, own in zip(columns, found, strict=True)}


def _count(condition: str) -> str:
    return f"coalesce(sum(cutline_n) FILTER (WHERE {condition}), 0)::BIGINT"


def _counted(
    table: DuckTable, columns: Sequence[Column], terms: Sequence[Sequence[str]], *, grouped: bool
) -> list[tuple[Any, ...]]:
    """Aggregates of each column: by one pass over the table, or ``grouped`` over the distinct cells of each.

    ``cutline_n`` are the rows that a cell stands for.
    """
    if grouped:
        asked = zip(columns, map(", ".join, terms), strict=True)
        return [table.rows(f"SELECT {own} FROM {table.cells(column)}")[0] for column, own in asked]
    every = f"SELECT {', '.join(map(', '.join, terms))} FROM (SELECT *, 1 AS cutline_n FROM {table.relation})"
    values = iter(table.rows(every)[0] if columns else ())
    return [tuple(next(values) for _ in own) for own in terms]


def is_pattern(table: Any, name: str) -> bool:
    """Whether a name with a wildcard is not a column itself."""
    return name not in table.names and re.search(r"[*?\[]", name) is not None


def matching(table: DuckTable | MemoryTable, pattern: str) -> list[str]:
    """The columns that a name or a pattern such as ``p_*`` means."""
    if not is_pattern(table, pattern):
        return [pattern]
    found = [name for name in table.names if fnmatch.fnmatchcase(name, pattern)]
    if not found:
        problem = f"{table.name} has no column that matches {show(pattern)}"
        raise InputError(None, problem, f"it has {listed(table.names)}")
    return found


def class_names(pattern: str, columns: Sequence[str]) -> list[str]:
    """The class that each column of a pattern stands for: what the wildcard stands for (``p_*``: p_cat → cat)."""
    expression = re.escape(pattern).replace(r"\*", "(.*)").replace(r"\?", "(.)")
    names = []
    for column in columns:
        match = re.fullmatch(expression, column)
        names.append("".join(match.groups()) if match else column)
    return names


def class_columns(
    table: DuckTable, label: str, pattern: str | None, labels: Sequence[str]
) -> tuple[list[str], list[str], list[str]]:
    """The score columns of a table with a column for each class, the classes they stand for, and indexes passed over.

    A pattern's columns are called as the labels are: by their whole names, else by what the wildcard stands for.
    """
    table.column(label, "label")
    wanted = matching(table, pattern) if pattern else table.names
    columns = [name for name in wanted if name != label]
    known = set(labels)
    passed: list[str] = []
    if not pattern and columns and columns[0] not in known:  # an index is written first
        passed = [profile.name for profile in profiles(table, columns[:1]) if profile.is_index]
        columns = [name for name in columns if name not in passed]
    if not columns:
        said = f"{table.name} has no score column beside the label {show(label)}"
        raise InputError(None, said, "every class needs one")
    names = class_names(pattern, columns) if pattern and not known <= set(columns) else columns
    if known - set(names):
        strange = next(row for row, value in enumerate(labels) if value not in set(names))
        problem = f"is {show(labels[strange])}, but there is no score column for it"
        remedy = f"the columns give the classes {listed(names)} (choose them with {{score}}, such as 'p_*')"
        raise table.refuse(InputError("y_true", problem, remedy, row=strange), label)
    return columns, names, passed


def label_candidates(table: DuckTable, found: Sequence[Profile]) -> list[str]:
    """The columns with two values: true/false, 0/1, −1/+1, or two words."""
    possible = []
    for profile in found:
        if profile.distinct > 3 or profile.is_index:  # approximate: the exact count follows for the few
            continue
        values = [value for value in table.values_of(profile.name, 4) if value not in rules.MISSING_TEXT]
        pair = {rules.wanted_number(v) for v in values} if profile.is_number else set()
        if (profile.is_number and pair in ({0.0, 1.0}, {-1.0, 1.0})) or (not profile.is_number and len(values) == 2):
            possible.append(profile.name)
    return possible


def score_candidates(found: Sequence[Profile]) -> list[str]:
    """The columns of numbers that can be scores, never one that numbers rows: fractions, else whole numbers."""
    there = {profile.name: profile.rows - profile.missing for profile in found}
    named = [p.name for p in found if p.whole and there[p.name] >= _IDENTIFIERS and p.distinct > 0.9 * there[p.name]]
    numbers = [p for p in found if p.is_number and not p.is_index and p.name not in named]
    nearly = [profile.name for profile in found if profile.is_nearly_number]  # the cell that is none is then named
    return [p.name for p in numbers if not p.whole] + nearly or [p.name for p in numbers if p.distinct > 1]


def find_label(table: DuckTable, found: Sequence[Profile]) -> str:
    """The one column that can be the label."""
    possible = label_candidates(table, found)
    if len(possible) == 1:
        return possible[0]
    several = f"several columns could be the label: {listed(possible)}"
    problem = several if possible else f"no column has two values and could be the label (of {listed(table.names)})"
    raise InputError(None, f"{table.name}: {problem}", f"choose one with {{label}}{_DOCTOR}")


def find_scores(table: DuckTable, found: Sequence[Profile], *, several: bool, comparable: bool = True) -> list[str]:
    """The one column that can be the score (all of them for a comparison)."""
    possible = score_candidates(found)
    if not possible:
        passed = [profile.name for profile in found if profile.is_number]
        more = f" ({listed(passed)} only numbers the rows)" if len(passed) == 1 else ""
        said = f"{table.name} has no column of numbers that could be the score{more}"
        raise InputError(None, said, "choose one with {score}")
    if not several and len(possible) > 1:
        instead = ", or compare them with: cutline compare" if comparable else ""
        said = f"{table.name}: several columns could be the score: {listed(possible)}"
        raise InputError(None, said, f"choose one with {{score}}{instead}{_DOCTOR}")
    return possible

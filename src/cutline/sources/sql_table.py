"""Tables whose rows stay where they are: the rules as SQL, one check of all roles, and the totals it counts.

DuckDB and Spark speak nearly the same SQL. What differs stands in a ``Dialect``; the rest is written once.
"""

from __future__ import annotations

import difflib
import itertools
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import InputError, changed, listed, show
from ..runtime import TUNING
from ..sweep import scale_of
from ..validate import one_of
from . import rules

INTEGERS = (
    *("tinyint", "smallint", "integer", "int", "bigint", "hugeint"),
    *("utinyint", "usmallint", "uinteger", "ubigint", "uhugeint"),
)
_NARROW = ("tinyint", "smallint", "integer", "int", "utinyint", "usmallint", "uinteger")
_COLLECTIONS = ("array", "map", "struct", "union", "interval", "variant", "json", "list")


def kind_of(sql_type: str) -> str:
    """What a type of DuckDB or Spark contains: integer, fraction, decimal, truth, text, collection, or other."""
    name = sql_type.lower()
    if name in INTEGERS or (name.startswith("decimal") and name.endswith(",0)")):
        return "integer"
    if name in ("double", "float", "real"):
        return "fraction"
    if name.startswith("decimal"):
        return "decimal"
    if name == "boolean":
        return "truth"
    if name.startswith(("varchar", "string", "char", "enum")):
        return "text"
    if name.startswith(_COLLECTIONS) or name.endswith("[]") or "[" in name:
        return "collection"
    return "other"


_BETWEEN = chr(31)  # between the values of several columns: no cell that people write has it


@dataclass(frozen=True)
class Dialect:
    """How an engine writes what others write differently."""

    quote: str
    text: str  # its type for text
    whole: str  # its type for the longest whole numbers
    escape: bool  # whether a backslash in a text escapes what follows

    def name(self, column: str) -> str:
        """A name, whatever it contains."""
        return self.quote + column.replace(self.quote, 2 * self.quote) + self.quote

    def literal(self, text: str) -> str:
        """A text, whatever it contains."""
        if "\0" in text:
            raise InputError(None, f"{show(text)} contains a zero byte", "remove it")
        if self.escape:
            return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
        return "'" + text.replace("'", "''") + "'"

    def exact_sum(self, number: str, bits: int) -> str:
        """The sum of numbers times 2^bits, as whole numbers: the same whatever order an engine adds them up in."""
        scale = f"{2.0**bits!r}D" if self.escape else f"{2.0**bits!r}::DOUBLE"
        return f"sum(TRY_CAST({number} * {scale} AS {self.whole}))"

    def key(self, columns: Sequence[Column]) -> str:
        """A whole number that tells the values of some columns apart: 63 bits of a hash of their text."""
        cells = (f"CAST({column.comparable} AS {self.text})" for column in columns)
        text = f"concat_ws({self.literal(_BETWEEN)}, {', '.join(cells)})"
        return f"shiftrightunsigned({self.hash(text)}, 1)" if self.escape else f"CAST({self.hash(text)} >> 1 AS BIGINT)"

    def hash(self, *values: str) -> str:
        """A hash of some values."""
        return f"{'xxhash64' if self.escape else 'hash'}({', '.join(values)})"

    def matches(self, cell: str, pattern: str) -> str:
        """Whether a pattern describes a whole cell. DuckDB tries it only where a cast cannot decide."""
        if self.escape:
            return f"({cell} RLIKE '^({pattern})$')"
        number = f"TRY_CAST({cell} AS DOUBLE)"
        sure = "".join(
            f"WHEN {condition.format(cell=f'({cell})', number=number)} THEN {answer} "
            for condition, answer in _DECIDED.get(pattern, ())
        )
        whole = f"regexp_full_match({cell}, '{pattern}')"
        return f"(CASE {sure}ELSE {whole} END)" if sure else whole

    def folded(self, cell: str) -> str:
        """A cell in small letters, without white space around it: what is easily mistyped."""
        spaces = self.literal(rules.SPACES)
        return f"lower({f'trim(BOTH {spaces} FROM {cell})' if self.escape else f'trim({cell}, {spaces})'})"

    def is_nan(self, number: str, sql_type: str) -> str:
        """Whether a number is NaN. DuckDB may decide either test from a file's statistics, which leave NaN out; but

        not both: one where all other values are equal, the other where they differ.
        """
        return f"isnan({number})" + ("" if self.escape else f" OR hash({number}) = hash('nan'::{sql_type})")


# What DuckDB's cast to a number tells of a pattern, in a tenth of the time. It also reads 1_000, +-1, nan and numbers
# between line ends, so a cell that could be one of these is not decided. A cell that thousands could separate by points
# is 0, or lies between 1 and 1000 with at most three decimals.
_CAST = "{cell} >= '-' AND {cell} < ':' AND NOT contains({cell}, '_') AND {cell}[-1] > ' ' AND {number} IS NOT NULL"
NOT_BY_POINTS = (
    "abs({number}) >= 1000 OR (abs({number}) < 1 AND {number} <> 0) "
    "OR abs({number} * 1000 - round({number} * 1000)) > 1e-6"
)
_DECIDED = {
    rules.PLAIN.cell: [(_CAST, "true")],
    rules.LABEL_CELL: [(f"{{cell}} >= '0' AND NOT ({{cell}} >= '00' AND {{cell}} < '0:') AND {_CAST}", "true")],
    rules.BY_POINTS_CELL: [(NOT_BY_POINTS, "false")],
}

DUCKDB = Dialect('"', "VARCHAR", "HUGEINT", False)
SPARK = Dialect("`", "STRING", "DECIMAL(38, 0)", True)
_WEIGHT_BITS = 90  # of a class's largest weight, in sums of 127 bits: room for as many rows as there will be


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, what SQL calls it, and its type there."""

    name: str
    sql: str
    type: str
    heading: str = ""  # its name in the table, where several are called so

    @property
    def kind(self) -> str:
        """What it contains."""
        return kind_of(self.type)

    @property
    def comparable(self) -> str:
        """Its values, equal ones alike: −0.0 as 0.0; moments with a time zone as those of UTC, as arrays have them."""
        if self.type.upper() == "TIMESTAMP WITH TIME ZONE":
            return f"make_timestamp(epoch_us({self.sql}))"
        return f"({self.sql} + CAST(0 AS {self.type}))" if self.kind == "fraction" else self.sql

    @property
    def is_wide(self) -> bool:
        """Whether it may contain integers that floats cannot tell apart."""
        return self.kind == "integer" and self.type.lower() not in _NARROW


def lacking_sql(dialect: Dialect, column: Column) -> str:
    """SQL that is true where a cell is missing."""
    lacks = f"{column.sql} IS NULL"
    if column.kind == "fraction":
        return f"{lacks} OR {dialect.is_nan(column.sql, column.type)}"
    if column.kind == "text":
        # not IN (…): DuckDB makes a join of a long list, and a join of several row groups mixes up their order
        words = map(dialect.literal, rules.MISSING_TEXT)
        return " OR ".join([lacks, *(f"{column.sql} = {word}" for word in words)])
    return lacks


@dataclass(frozen=True)
class Roles:
    """Which column has which role. ``scores`` maps a model to its column, ``by`` are those that make segments.

    ``neg_label`` are the labels that count as negative beside ``pos_label``; any other is an error. None: all others,
    with a warning if there are several; an empty tuple: the only other, and several are an error. ``negate`` are score
    columns whose low values mean positive. With ``ignore_case`` labels that differ in case or spaces only are one.
    """

    label: str | None
    scores: Mapping[str, str]
    weight: str | None = None
    clusters: str | None = None
    pos_label: Any = None
    missing: str = "error"
    decimal: str | None = None
    by: tuple[str, ...] = ()
    batch: str | None = None
    neg_label: tuple[Any, ...] | None = None
    negate: tuple[str, ...] = ()
    ignore_case: bool = False

    def __post_init__(self) -> None:
        for column in self.negate:
            if column not in self.scores.values():
                raise InputError("negate", f"is {show(column)}, which is not a score", "name a score column")
        if self.ignore_case:
            pos_label = tuple(map(rules.fold, rules.as_labels(self.pos_label))) or None
            neg_label = None if self.neg_label is None else tuple(map(rules.fold, self.neg_label))
            self.__dict__.update(pos_label=pos_label, neg_label=neg_label)
        rules.negative_labels(self.neg_label, self.pos_label)
        one_of(None, ".", ",")(self.decimal, "decimal")
        for role, column in self.named:
            if not isinstance(column, str):
                raise InputError(_ROLE_ARGUMENTS[role], f"must be the name of a column, got {show(column)}")

    @property
    def named(self) -> list[tuple[str, str]]:
        """Pairs of a role (an argument of ``evaluate``) and its column."""
        roles = [("y_true", self.label), *(("y_score", column) for column in self.scores.values())]
        roles += [("sample_weight", self.weight), ("clusters", self.clusters), ("batch", self.batch)]
        roles += [("segment", column) for column in self.by]
        return [(role, column) for role, column in roles if column is not None]


_SORTS = {"truth": rules.TRUTH, "other": rules.WORD}
_ROLE_ARGUMENTS = {"y_true": "label", "y_score": "score", "sample_weight": "weight", "clusters": "clusters"}
_ROLE_ARGUMENTS |= {"segment": "by", "batch": "batch"}
_TEXT_NUMBERS = ("text", rules.NUMBER)


def role_word(argument: str) -> str:
    """What a role is called in a sentence."""
    return {"clusters": "cluster", "segment": "segment"}.get(argument, _ROLE_ARGUMENTS[argument])


@dataclass(frozen=True)
class Totals:
    """What must be known of a table before its rows are summed. ``pos`` and ``neg`` are rows, or sums of weights."""

    rows: int
    positives: int
    pos: float
    neg: float
    low: float
    high: float
    weighted: bool = False
    dropped: int = 0
    distinct: int = 0
    sum: float = 0.0  # of the scores, times weights: a table that changes between passes shows in it
    weight_bits: tuple[int, int] = (0, 0)  # weights of each class times 2 to this power are added up as whole numbers

    @property
    def scale(self) -> float:
        """A power of two that brings the largest score near 1, as for a ranking in memory."""
        return scale_of(np.array([self.high, self.low]))

    @property
    def sums(self) -> tuple[float, float]:
        """Positives and negatives, as the sweep takes them."""
        if self.weighted or self.rows > TUNING.exact_pairs:
            return float(self.pos), float(self.neg)
        return int(self.pos), int(self.neg)

    @property
    def cases(self) -> float:
        """Cases that the rows stand for."""
        return self.sums[0] + self.sums[1]


@dataclass(frozen=True)
class Checked:
    """SQL for the columns of a checked table, what was counted, and how its text was understood.

    ``scores`` and ``totals`` are by model. ``kept`` is true for a row that counts; it is None where all rows do.
    """

    positive: str
    scores: dict[str, str]
    weight: str | None
    cluster: tuple[Column, ...]
    kept: str | None
    totals: dict[str, Totals]
    understood: tuple[str, ...] = ()
    segments: tuple[Column, ...] = ()
    batch: tuple[Column, ...] = ()

    def value(self, sql: str, otherwise: str = "0") -> str:
        """A column's value in rows that count. A filter would do, but DuckDB decides filters from statistics."""
        return sql if self.kept is None else f"CASE WHEN {self.kept} THEN {sql} ELSE {otherwise} END"


class SqlTable(ABC):
    """A table that can be asked by SQL; several of its columns may be called alike."""

    dialect: Dialect
    understood: tuple[str, ...] = ()  # what is not plain about its files

    def __init__(self, name: str, columns: Sequence[Column]) -> None:
        self.name = name
        self.columns = [
            replace(column, name=name, heading=column.name)
            for column, name in zip(columns, named_apart([column.name for column in columns]), strict=True)
        ]
        self.named = {column.name: column for column in self.columns}
        self.names = [column.name for column in self.columns]

    @abstractmethod
    def aggregate(self, terms: Sequence[str], first: int | None = None) -> Sequence[Any]:
        """One row of aggregates over all rows, or over the first ones."""

    @abstractmethod
    def grouped(self, kept: str | None, keys: Sequence[str], terms: Sequence[str]) -> list[tuple[Any, ...]]:
        """The rows that count (``Checked.kept``), grouped by some values: those, and aggregates of each group."""

    @abstractmethod
    def first(self, condition: str, shown: str) -> tuple[int | str, Any] | None:
        """The first row that fulfils a condition, and a value of it."""

    @abstractmethod
    def distinct(self, shown: str, condition: str, most: int) -> list[Any]:
        """Some distinct values, in order, of the rows that fulfil a condition."""

    def check_plain(self, roles: Roles) -> Checked | None:
        """What ``check`` finds, where a table can show in a shorter way that all is well."""
        return None

    @property
    def where(self) -> str | None:
        """What errors call the table; None where its rows count from 0, as in Python."""
        return self.name

    def count(self, conditions: Sequence[str]) -> list[int]:
        """How many rows fulfil each condition."""
        return [int(n) for n in self.aggregate([f"count(*) FILTER (WHERE {condition})" for condition in conditions])]

    def column(self, name: str, role: str) -> Column:
        """A column by its name; raises an error for one that is not there, or that several are called."""
        sheet = next((f" ({words})" for words in self.understood if words.startswith("sheet ")), "")
        check_name(self.name + sheet, name, role, self.names, [column.heading for column in self.columns])
        return self.named[name]

    def refuse(self, error: InputError, column: str) -> InputError:
        """The error, about a column of this table."""
        return error.but(column=column, where=self.where)


def named_apart(names: Sequence[Any]) -> list[Any]:
    """Names with the columns that are called alike told apart by a number: p, p → p_1, p_2.

    >>> named_apart(["y", "p", "p", "p_1"])
    ['y', 'p_2', 'p_3', 'p_1']
    """
    times, taken = Counter(names), set(names)
    apart = []
    for name in names:
        free = (f"{name}_{k}" for k in itertools.count(1) if f"{name}_{k}" not in taken)
        apart.append(name if times[name] < 2 else next(free))
        taken.add(apart[-1])
    return apart


def check_name(table: str, name: str, role: str, columns: Sequence[Any], headings: Sequence[Any] = ()) -> None:
    """Raise an error for a column that is not there, naming the nearest one, and one that several are called."""
    if name in columns:
        return
    alike = [column for column, heading in zip(columns, headings, strict=False) if heading == name]
    if len(alike) > 1:
        raise InputError(None, f"{table} has several columns called {show(name)}", f"name one of them: {listed(alike)}")
    names = list(dict.fromkeys(map(str, columns)))  # a frame may name its columns by numbers
    near = [other for other in names if other.casefold() == str(name).casefold()]
    near = near or difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    remedy = f"did you mean {show(near[0])}?" if near else f"it has {listed(names)}"
    raise InputError(None, f"{table} has no column {show(name)} for the {role}", remedy)


def check(table: SqlTable, roles: Roles) -> Checked:
    """Check all roles, mostly by one query, and count what must be known before the sweep.

    A row counts if it has a label, all the scores and a weight other than 0: models are compared on the same rows.
    """
    return table.check_plain(roles) or _Check(table, roles).run()


_BEYOND = "beyond"
# patterns of scores and weights, and of labels: those that plain numbers decide on, and the others
_FIRST_CELLS = (rules.PLAIN.cell, rules.BY_POINTS_CELL, _BEYOND), (rules.LABEL_CELL,)
_OTHER_CELLS = (rules.TRUTH_CELL, rules.THOUSANDS_CELL, *rules.NOTATION_CELLS[1:]), (rules.TRUTH_CELL,)


@dataclass
class _Check:
    table: SqlTable
    roles: Roles
    understood: list[str] = field(default_factory=list)
    # role by role what is wrong: its place among the roles, how early it is checked, and the error, made when raised
    problems: list[tuple[int, int, Callable[[], InputError]]] = field(default_factory=list)

    def run(self) -> Checked:
        table, roles, sql = self.table, self.roles, self.table.dialect
        used = self.used = {column: table.column(column, role_word(role)) for role, column in roles.named}
        if roles.ignore_case and roles.label is not None and used[roles.label].kind == "text":
            used[roles.label] = replace(used[roles.label], sql=sql.folded(used[roles.label].sql))
        for role, name in roles.named:
            kind = used[name].kind
            if kind == "collection" or (kind == "other" and role in ("y_score", "sample_weight")):
                said = "dates" if used[name].type.lower().startswith(("date", "time")) else used[name].type.lower()
                raise table.refuse(rules.unusable(role, said), name)
        self.lacks = {name: lacking_sql(sql, column) for name, column in used.items()}
        any_lacks = " OR ".join(f"({condition})" for condition in self.lacks.values())
        keep = self.keep = f"NOT ({any_lacks})"
        notations = self._read_text()
        number = {
            name: self._number(used[name], notations.get((role, name)))
            for role, name in roles.named
            if role in ("y_score", "sample_weight")
        }
        number |= {name: f"(0.0 - {number[name]})" for name in roles.negate}
        label, sort, positive = None, rules.TRUTH, "true"
        if roles.label is not None:
            label = used[roles.label]
            sort = notations.get(("y_true", roles.label)) or _SORTS.get(label.kind, rules.NUMBER)
            positive = self._positive(label, sort)
        weight = None if roles.weight is None else number[roles.weight]
        counts = keep if weight is None else f"({keep} AND {weight} <> 0)"  # weight 0: a case that is not there
        terms = {
            "every": "count(*)",
            "lacking": f"count(*) FILTER (WHERE {any_lacks})",
            "labelled": f"count(*) FILTER (WHERE {keep} AND {positive})",
            "rows": f"count(*) FILTER (WHERE {counts})",
            "positives": f"count(*) FILTER (WHERE {counts} AND {positive})",
        }
        scores = {model: number[column] for model, column in roles.scores.items()}
        for k, score in enumerate(scores.values()):
            here = f"FILTER (WHERE {counts})"
            terms |= {f"low_{k}": f"min({score}) {here}", f"high_{k}": f"max({score}) {here}"}
            terms[f"distinct_{k}"] = f"approx_count_distinct({score}) {here}"
            terms[f"sum_{k}"] = f"sum({score}{f' * {weight}' if weight else ''}) {here}"
        conditions = {} if label is None else self._label_conditions(label, sort, positive)
        if label is not None and roles.pos_label is not None and sort != rules.TRUTH:
            rest = f"FILTER (WHERE {keep} AND NOT ({positive}))"
            terms |= {"first other": f"min({self._shown(label, sort)}) {rest}"}
            terms |= {"last other": f"max({self._shown(label, sort)}) {rest}"}
        wide = [name for name in number if used[name].is_wide]
        wide += [label.name] if label is not None and (label.is_wide or (label.kind, sort) == _TEXT_NUMBERS) else []
        conditions |= {f"beyond {name}": self._beyond(used[name]) for name in wide}
        bits: list[int] = []
        if weight is not None:
            conditions["bad weight"] = bad = _bad_weight(weight)
            sides = {"pos": f"{counts} AND {positive}", "neg": f"{counts} AND NOT {positive}"}
            good = [f"max({weight}) FILTER (WHERE {side} AND NOT ({bad}))" for side in sides.values()]
            for (key, side), largest in zip(sides.items(), table.aggregate(good), strict=True):
                bits.append(_WEIGHT_BITS - (math.frexp(float(largest))[1] if largest else 0))
                terms[key] = f"{sql.exact_sum(weight, bits[-1])} FILTER (WHERE {side})"
        terms |= {key: f"count(*) FILTER (WHERE {keep} AND {condition})" for key, condition in conditions.items()}
        found = dict(zip(terms, table.aggregate(list(terms.values())), strict=True))
        self._find_missing(found)
        if label is not None:
            self._find_label_problems(found, label, sort, conditions)
        for name in wide:
            if found[f"beyond {name}"]:
                role = next(role for role, column in roles.named if column == name)
                self._add_first(role, name, 1, conditions[f"beyond {name}"], "beyond")
        if weight is not None and found["bad weight"]:

            def bad_weight() -> InputError:
                row, value = table.first(f"{keep} AND {_bad_weight(weight)}", weight) or (None, 0.0)
                return table.refuse(rules.bad_weight(value, row), str(roles.weight))

            self._add("sample_weight", str(roles.weight), 3, bad_weight)
        if weight is not None and found["rows"] == 0:
            self._add("sample_weight", str(roles.weight), 4, lambda: table.refuse(rules.no_weight(), str(roles.weight)))
        several = found.get("labelled") and found.get("first other") != found.get("last other")
        if label is not None and (several or (roles.neg_label and sort != rules.TRUTH)) and not self.problems:
            self._find_negatives(label, sort, positive)
        if self.problems:
            # what is missing comes first, then column by column
            raise min(self.problems, key=lambda problem: (problem[1] > 0, *problem[:2]))[2]()
        kept = None if found["rows"] == found["every"] else counts
        self.understood += rules.weightless(found["every"] - found["lacking"] - found["rows"], found["every"])
        totals = {model: self._totals(found, k, bits) for k, model in enumerate(scores)}
        cluster = () if roles.clusters is None else (used[roles.clusters],)
        segments = tuple(used[name] for name in roles.by)
        batch = () if roles.batch is None else (used[roles.batch],)
        return Checked(f"({positive})", scores, weight, cluster, kept, totals, tuple(self.understood), segments, batch)

    # --- what is wrong ------------------------------------------------------------------------------------------------

    def _add(self, role: str, name: str, rank: int, error: Callable[[], InputError]) -> None:
        self.problems.append((self.roles.named.index((role, name)), rank, error))

    def _add_first(self, role: str, name: str, rank: int, condition: str, what: str) -> None:
        """A problem of the first row, among those that count, that fulfils a condition."""

        def error() -> InputError:
            row, cell = self.table.first(f"{self.keep} AND {condition}", self.used[name].sql) or (None, None)
            return self.table.refuse(rules.bad_cell(what, role, row, cell), name)

        self._add(role, name, rank, error)

    def _find_missing(self, found: Mapping[str, Any]) -> None:
        table = self.table
        if found["every"] == 0:
            raise rules.no_rows(table.name)
        if found["every"] == found["lacking"] and self.roles.missing == "drop":
            raise rules.all_missing(table.name)
        if not found["lacking"] or self.roles.missing == "drop":
            return
        remedy = rules.drop(found["lacking"])
        for role, name in self.roles.named:
            first = table.first(self.lacks[name], self.used[name].sql)
            if first is not None:
                row, value = first
                error = table.refuse(rules.missing(role, value, row, remedy), name)
                self._add(role, name, 0, lambda error=error: error)  # type: ignore[misc]

    def _find_label_problems(
        self, found: Mapping[str, Any], label: Column, sort: str, conditions: Mapping[str, str]
    ) -> None:
        unclear = min((found[key] for key in ("not 01", "not 11") if key in found), default=0) or found.get("words")
        if unclear:
            error = rules.unclear_labels
            self._add("y_true", label.name, 2, lambda: self.table.refuse(error(self._values(label, sort)), label.name))
        if found.get("infinite"):
            self._add_first("y_true", label.name, 1, conditions["infinite"], "infinite")
        if found.get("nearly") and found["labelled"]:
            self._add_first("y_true", label.name, 2, conditions["nearly"], "nearly")
        if self.roles.pos_label is not None and not found["labelled"] and len(self._values(label, sort)) > 1:
            self._add("y_true", label.name, 3, lambda: self._unknown(self._values(label, sort)))

    def _find_negatives(self, label: Column, sort: str, positive: str) -> None:
        """Warn or raise if there are several labels beside the positive one."""
        rest, neg_label = f"{self.keep} AND NOT ({positive})", self.roles.neg_label
        if neg_label:
            named = " OR ".join(f"({self._is(label, sort, value)})" for value in neg_label)
            others = f"NOT ({positive}) AND NOT ({named})"
            if self.table.count([f"{self.keep} AND {others}"]) != [0]:
                self._add_first("y_true", label.name, 3, others, "unlisted")
            return
        values = self.table.distinct(self._shown(label, sort), rest, 7)
        if len(values) < 2:
            return
        counts = self.table.count([f"{rest} AND {self._is(label, sort, value)}" for value in values])
        try:
            rules.judge_negatives(self.roles.pos_label, neg_label, zip(values, counts, strict=True))
        except InputError as error:
            problem = self.table.refuse(error, label.name)
            self._add("y_true", label.name, 3, lambda: problem)

    def _unknown(self, values: Sequence[Any]) -> InputError:
        error = rules.unknown_label(self.roles.pos_label, values)
        error.where = self.table.where
        return error

    def _totals(self, found: Mapping[str, Any], k: int, bits: Sequence[int]) -> Totals:
        rows, positives = int(found["rows"]), int(found["positives"])
        cases: list[float] = [positives, rows - positives]
        if bits:
            cases = [math.ldexp(float(int(found[s] or 0)), -b) for s, b in zip(("pos", "neg"), bits, strict=True)]
        low, high, total = (float(found[f"{what}_{k}"]) for what in ("low", "high", "sum"))
        counts = int(found["lacking"]), int(found[f"distinct_{k}"])
        weight_bits = (bits[0], bits[1]) if bits else (0, 0)
        return Totals(rows, positives, cases[0], cases[1], low, high, bool(bits), *counts, total, weight_bits)

    # --- text ---------------------------------------------------------------------------------------------------------

    def _read_text(self) -> dict[tuple[str, str], Any]:
        """How columns of text are to be read: a notation for numbers, a sort for the label.

        Plain numbers are looked for first: where all cells are, the other patterns need not be tried.
        """
        text = [
            (role, name) for role, name in self.roles.named if self.used[name].kind == "text" and role not in rules.KEYS
        ]
        failing = self._failing({key: _FIRST_CELLS[key[0] == "y_true"] for key in text})
        open_yet = [
            key
            for key in text
            if failing[key][_FIRST_CELLS[key[0] == "y_true"][0]] or (key[0] != "y_true" and self.roles.decimal == ",")
        ]
        for key, more in self._failing({key: _OTHER_CELLS[key[0] == "y_true"] for key in open_yet}).items():
            failing[key] |= more
        chosen: dict[tuple[str, str], Any] = {}
        for role, name in text:
            fails = failing[role, name]
            if role != "y_true":
                chosen[role, name] = self._notation(role, name, fails)
            elif fails[rules.LABEL_CELL] == 0:
                chosen[role, name] = rules.NUMBER
            else:
                chosen[role, name] = rules.WORD if fails[rules.TRUTH_CELL] else rules.TRUTH
        return chosen

    def _failing(self, cells: Mapping[tuple[str, str], Sequence[str]]) -> dict[tuple[str, str], dict[str, int]]:
        """How many cells of each column do not fit each pattern, in one pass over the table."""
        conditions: dict[tuple[tuple[str, str], str], str] = {}
        for key, patterns in cells.items():
            column = self.used[key[1]]
            for cell in patterns:
                fails = (
                    f"NOT {self.table.dialect.matches(column.sql, cell)}" if cell != _BEYOND else self._beyond(column)
                )
                if cell == rules.THOUSANDS_CELL:
                    fails += f" AND {column.sql} LIKE '%,%'"
                conditions[key, cell] = f"{self.keep} AND {fails}"
        counts = self.table.count(list(conditions.values())) if conditions else []
        found: dict[tuple[str, str], dict[str, int]] = {key: {} for key in cells}
        for (key, cell), count in zip(conditions, counts, strict=True):
            found[key][cell] = count
        return found

    def _notation(self, role: str, name: str, failing: Mapping[str, int]) -> rules.Notation | str:
        """The notation of a column; a plain one where there is none, which is then a problem."""
        decimal, column = self.roles.decimal, self.used[name]
        if failing[_BEYOND]:
            self._add_first(role, name, 1, self._beyond(column), "beyond")

        def by_thousands(mark: str) -> bool:
            """Whether every comma, or every point among short whole numbers, could separate thousands."""
            if mark == "," or failing[rules.BY_POINTS_CELL]:
                return mark == "," and failing[rules.THOUSANDS_CELL] == 0
            points = self.table.dialect.matches(column.sql, rules.POINTS_CELL)
            return 0 not in self.table.count([f"{self.keep} AND {points}", f"{self.keep} AND NOT {points}"])

        try:
            notation = rules.find_notation(role, lambda n: failing[n.cell], by_thousands, decimal, plain=False)
        except InputError as error:
            said = self.table.refuse(error, name)
            self._add(role, name, 2, lambda: said)
            return rules.PLAIN
        if notation is not None:
            if notation.name:
                self.understood.append(f"{role_word(role)} {show(name)} as {notation.name}")
            return notation
        if failing[rules.TRUTH_CELL] == 0:
            return "truth"
        fewest = rules.nearest_notation(lambda n: failing[n.cell], decimal, plain=False)
        condition = f"NOT {self.table.dialect.matches(column.sql, fewest.cell)}"
        self._add_first(role, name, 2, condition, "text")
        return rules.PLAIN

    # --- columns as SQL -----------------------------------------------------------------------------------------------

    def _number(self, column: Column, notation: Any) -> str:
        if column.kind != "text":
            return f"CAST({column.sql} AS DOUBLE)"
        if notation == "truth":
            return f"CAST((lower({column.sql}) LIKE '%true%') AS DOUBLE)"
        cell = column.sql
        for sign in ("%" if notation.percent else "") + notation.thousands:
            cell = f"replace({cell}, '{sign}', '')"
        if notation.decimal == ",":
            cell = f"replace({cell}, ',', '.')"
        number = f"TRY_CAST({cell} AS DOUBLE)"
        return f"({number} / 100.0)" if notation.percent else number

    def _beyond(self, column: Column) -> str:
        limit = rules.EXACT_INTEGERS
        if column.kind == "text":
            cell = f"split_part(translate({column.sql}, ', \t', '.'), '.', 1)"
            whole = f"TRY_CAST({cell} AS DECIMAL(38,0))"
            long = f"length({column.sql}) > 15 AND {self.table.dialect.matches(column.sql, rules.LONG_CELL)}"
            beyond = f"({long} AND ({whole} IS NULL OR {whole} > {limit} OR {whole} < -{limit}))"
            return f"(CASE WHEN abs(TRY_CAST({column.sql} AS DOUBLE)) < 9e15 THEN false ELSE {beyond} END)"
        return f"({column.sql} > {limit} OR {column.sql} < -{limit})"

    def _positive(self, label: Column, sort: str) -> str:
        """SQL that is true for a positive row; without a positive label only for labels that show it themselves."""
        pos_label, named = self.roles.pos_label, rules.as_labels(self.roles.pos_label)
        is_true = label.sql if label.kind == "truth" else f"lower({label.sql}) LIKE '%true%'"
        if pos_label is None:
            said = f"{self._shown(label, sort)} = 1"
            return {rules.TRUTH: is_true, rules.NUMBER: said, rules.WORD: "false"}[sort]
        if sort == rules.TRUTH:
            truths = set(map(rules.wanted_truth, named))
            if None in truths:
                self._add("y_true", label.name, 1, lambda: self._unknown([False, True]))
            return "true" if len(truths) > 1 else is_true if True in truths else f"NOT {is_true}"
        if sort == rules.NUMBER and None in map(rules.wanted_number, named):
            self._add("y_true", label.name, 3, lambda: self._unknown(self._values(label, sort)))
        each = [self._is(label, sort, value) for value in named]
        return each[0] if len(each) == 1 else f"({' OR '.join(each)})"

    def _is(self, label: Column, sort: str, wanted: Any) -> str:
        """SQL that is true for a row with this number or word as its label."""
        sql = self.table.dialect
        if sort == rules.NUMBER:
            number = rules.wanted_number(wanted)
            return "false" if number is None else f"{self._shown(label, sort)} = CAST('{number!r}' AS DOUBLE)"
        wanted = sql.literal(rules.as_text(wanted))
        if label.type.lower().startswith("time"):  # SQL and Python write fractions of a second differently
            return f"coalesce({label.sql} = TRY_CAST({wanted} AS {label.type}), false)"
        return f"CAST({label.sql} AS {sql.text}) = {wanted}"

    def _label_conditions(self, label: Column, sort: str, positive: str) -> dict[str, str]:
        sql = self.table.dialect
        if self.roles.pos_label is not None and sort == rules.WORD and label.kind == "text":
            labels = {rules.fold(rules.as_text(value)) for value in rules.as_labels(self.roles.pos_label)}
            near = " OR ".join(f"{sql.folded(label.sql)} = {sql.literal(text)}" for text in sorted(labels))
            return {"nearly": f"({near}) AND NOT ({positive})"}
        if sort == rules.WORD:
            return {"words": "true"} if self.roles.pos_label is None else {}
        if sort == rules.TRUTH:
            return {}
        value, infinite = f"TRY_CAST({label.sql} AS DOUBLE)", "CAST('inf' AS DOUBLE)"
        conditions: dict[str, str] = {}
        if label.kind in ("text", "fraction"):
            conditions["infinite"] = f"coalesce(abs({value}), {infinite}) = {infinite}"
        if self.roles.pos_label is None:
            value = value if label.kind == "text" else label.sql
            conditions |= {f"not {a}{b}".replace("-", ""): f"{value} NOT IN ({a}, {b})" for a, b in rules.PAIRS}
        return conditions

    def _values(self, label: Column, sort: str) -> list[Any]:
        """Some labels, in order."""
        return self.table.distinct(self._shown(label, sort), self.keep, 7)

    def _shown(self, label: Column, sort: str) -> str:
        numbers = sort == rules.NUMBER and label.kind == "text"
        return f"TRY_CAST({label.sql} AS DOUBLE)" if numbers else label.sql


def _bad_weight(weight: str) -> str:
    low, high = (f"CAST('{limit!r}' AS DOUBLE)" for limit in rules.WEIGHTS)
    return f"{weight} <> 0 AND ({weight} < {low} OR {weight} > {high})"


def check_same(name: str, totals: Totals, positives: Any, negatives: Any, scores: Any) -> None:
    """The sums rest on the totals: a source that changed between two passes must not go unnoticed.

    Cases are added up and compared, and so are the scores, to within what adding up in another order can do to them.
    """
    with np.errstate(all="ignore"):  # scores may be infinite, and their sum beyond all floats
        pos, neg, total = (float(np.sum(column)) for column in (positives, negatives, scores))
    close = 1e-9 if totals.weighted else 0.0
    if not np.allclose((pos, neg), (totals.pos, totals.neg), rtol=close, atol=0.0):
        said = f"{totals.pos:g} positives and {totals.neg:g} negatives were counted first, {pos:g} and {neg:g} came"
        raise changed(name, said)
    most = (totals.pos + totals.neg) * max(abs(totals.low), abs(totals.high))  # no sum lies beyond it
    if math.isfinite(most) and abs(total - totals.sum) > 1e-300 + 1e-9 * most:
        raise changed(name, f"its scores added up to {totals.sum:g} first, then to {total:g}")

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
from typing import Any, TypeVar

import numpy as np

from ..errors import InputError, changed, listed, show
from ..runtime import TUNING
from ..sweep import scale_of
from ..validate import RULES
from . import rules
from .arrays import as_column, check_negatives, is_positive, read_numbers

V = TypeVar("V")

_NARROW = ("tinyint", "smallint", "integer", "int", "utinyint", "usmallint", "uinteger")
_INTEGERS = (*_NARROW, "bigint", "hugeint", "ubigint", "uhugeint")
_COLLECTIONS = ("array", "map", "struct", "union", "interval", "variant", "json", "list")
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
        """A whole number that tells the values of some columns apart: 63 bits of a hash; Spark's is of their text."""
        cells = [column.comparable for column in columns]
        if not self.escape:
            return f"CAST(hash({', '.join(cells)}) >> 1 AS BIGINT)"
        text = f"concat_ws({self.literal(_BETWEEN)}, {', '.join(f'CAST({cell} AS {self.text})' for cell in cells)})"
        return f"shiftrightunsigned(xxhash64({text}), 1)"

    def matches(self, cell: str, pattern: str) -> str:
        """Whether a pattern describes a whole cell in DuckDB, which tries that of numbers only if a cast cannot tell.

        The cast takes a tenth of the time. It also reads 1_000, +-1, nan and numbers between line ends.
        """
        whole = f"regexp_full_match({cell}, '{pattern}')"
        sure = f"({cell}) >= '-' AND ({cell}) < ':' AND NOT contains({cell}, '_') AND ({cell})[-1] > ' '"
        is_cast = f"{sure} AND TRY_CAST({cell} AS DOUBLE) IS NOT NULL"
        return f"(CASE WHEN {is_cast} THEN true ELSE {whole} END)" if pattern == rules.PLAIN.cell else whole

    def folded(self, cell: str) -> str:
        """A cell in small letters, without white space around it: what is easily mistyped."""
        spaces = self.literal(rules.SPACES)
        return f"lower({f'trim(BOTH {spaces} FROM {cell})' if self.escape else f'trim({cell}, {spaces})'})"


# A cell in which points could separate thousands is 0, or lies between 1 and 1000 with at most three decimals.
NOT_BY_POINTS = (
    "abs({number}) >= 1000 OR (abs({number}) < 1 AND {number} <> 0) "
    "OR abs({number} * 1000 - round({number} * 1000)) > 1e-6"
)

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
        """What its type contains: integer, fraction, decimal, truth, text, collection, or other."""
        name = self.type.lower()
        if name in _INTEGERS or (name.startswith("decimal") and name.endswith(",0)")):
            return "integer"
        kinds = {"double": "fraction", "float": "fraction", "real": "fraction", "boolean": "truth"}
        if name in kinds or name.startswith("decimal"):
            return kinds.get(name, "decimal")
        if name.startswith(("varchar", "string", "char", "enum")):
            return "text"
        return "collection" if name.startswith(_COLLECTIONS) or "[" in name else "other"

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
        # DuckDB may decide either test from a file's statistics, which leave NaN out; but not both: one where all other
        # values are equal, the other where they differ
        by_hash = "" if dialect.escape else f" OR hash({column.sql}) = hash('nan'::{column.type})"
        return f"{lacks} OR isnan({column.sql}){by_hash}"
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
    ``rounded``: scores are sums, of which integers beyond 2⁵³ may lose their last digits.
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
    rounded: bool = False

    def __post_init__(self) -> None:
        for column in self.negate:
            if column not in self.scores.values():
                raise InputError("negate", f"is {show(column)}, which is not a score", "name a score column")
        if self.ignore_case:
            pos_label = tuple(map(rules.fold, rules.as_labels(self.pos_label))) or None
            neg_label = None if self.neg_label is None else tuple(map(rules.fold, self.neg_label))
            self.__dict__.update(pos_label=pos_label, neg_label=neg_label)
        rules.negative_labels(self.neg_label, self.pos_label)
        RULES["decimal"](self.decimal, "decimal")
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


_ROLE_ARGUMENTS = {"y_true": "label", "y_score": "score", "sample_weight": "weight", "clusters": "clusters"}
_ROLE_ARGUMENTS |= {"segment": "by", "batch": "batch"}


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
    """A checked table or a copy of what is read of it, SQL for its columns, what was counted, how text was understood.

    ``scores`` and ``totals`` are by model. ``kept`` is true for a row that counts; it is None where all rows do.
    """

    table: SqlTable
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
        self.where: str | None = name  # what errors call it; None where its rows count from 0, as in Python
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
    def grouped(
        self, kept: str | None, keys: Sequence[str], terms: Sequence[str], most: int | None = None
    ) -> list[tuple[Any, ...]]:
        """The rows that count (``Checked.kept``), grouped by some values: those, and aggregates of each group."""

    @abstractmethod
    def first(self, condition: str, shown: str) -> tuple[int | str, Any] | None:
        """The first row that fulfils a condition, and a value of it."""

    def check_plain(self, roles: Roles) -> Checked | None:
        """What ``check`` finds, where a table can show in a shorter way that all is well."""
        return None

    def count_rows(self) -> int:
        """How many rows it has."""
        return int(self.aggregate(["count(*)"])[0])

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
    """Check all roles. A row counts if it has a label, all the scores and a weight other than 0."""
    return table.check_plain(roles) or _Check(table, roles).run()


MOST_LABELS = 10_000  # distinct values of a label; chosen by hand: more are rather a name or a number of the case
_MOST_SHAPES = 10_000  # ways of writing numbers, by their lengths and signs: floats as text have some hundred
_MOST_WRONG = 50  # of examples among which the first wrong row is looked for


@dataclass
class _Check:
    """The cells of a column are judged by the rules for columns in memory, from one example of those written alike."""

    table: SqlTable
    roles: Roles
    understood: list[str] = field(default_factory=list)

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
        lacks = {name: lacking_sql(sql, column) for name, column in used.items()}
        any_lacks = " OR ".join(f"({condition})" for condition in lacks.values())
        keep = self.keep = f"NOT ({any_lacks})"
        cell = "true" if roles.label is None else used[roles.label].comparable
        labels = table.grouped(None, [cell], ["count(*)", f"count(*) FILTER (WHERE {keep})"], MOST_LABELS + 1)
        every, there = (sum(row[k] for row in labels) for k in (1, 2))
        if len(labels) > MOST_LABELS:
            every, there = table.aggregate(["count(*)", f"count(*) FILTER (WHERE {keep})"])
        if not every:
            raise rules.no_rows(table.name)
        if not there and roles.missing == "drop":
            raise rules.no_rows(table.name, complete=True)
        for role, name in roles.named if there < every and roles.missing != "drop" else ():
            first = table.first(lacks[name], used[name].sql)
            if first is not None:
                raise table.refuse(rules.missing(role, first[1], first[0], rules.drop(every - there)), name)
        positive = "true" if roles.label is None else self._positive(used[roles.label], labels)
        number = {n: self._number(role, used[n]) for role, n in roles.named if role in ("y_score", "sample_weight")}
        number |= {name: f"(0.0 - {number[name]})" for name in roles.negate}
        weight = None if roles.weight is None else number[roles.weight]
        counts = keep if weight is None else f"({keep} AND {weight} <> 0)"  # weight 0: a case that is not there
        here = f"FILTER (WHERE {counts})"
        terms = {"rows": f"count(*) {here}", "positives": f"count(*) FILTER (WHERE {counts} AND {positive})"}
        scores = {model: number[column] for model, column in roles.scores.items()}
        for k, score in enumerate(scores.values()):
            terms |= {f"low_{k}": f"min({score}) {here}", f"high_{k}": f"max({score}) {here}"}
            terms[f"distinct_{k}"] = f"approx_count_distinct({score}) {here}"
            terms[f"sum_{k}"] = f"sum({score}{f' * {weight}' if weight else ''}) {here}"
        bits: list[int] = []
        if weight is not None:
            low, high = (f"CAST('{limit!r}' AS DOUBLE)" for limit in rules.WEIGHTS)
            bad = f"{keep} AND {weight} <> 0 AND ({weight} < {low} OR {weight} > {high})"
            wrong, weighty = table.count([bad, f"{keep} AND {weight} <> 0"])
            if wrong:
                row, value = table.first(bad, weight) or (None, 0.0)
                raise table.refuse(rules.bad_weight(value, row), str(roles.weight))
            if not weighty:
                raise table.refuse(InputError(*rules.NO_WEIGHT), str(roles.weight))
            sides = {"pos": f"{counts} AND {positive}", "neg": f"{counts} AND NOT {positive}"}
            largest_each = table.aggregate([f"max({weight}) FILTER (WHERE {side})" for side in sides.values()])
            for (key, side), largest in zip(sides.items(), largest_each, strict=True):
                bits.append(_WEIGHT_BITS - (math.frexp(float(largest))[1] if largest else 0))
                terms[key] = f"{sql.exact_sum(weight, bits[-1])} FILTER (WHERE {side})"
        found = dict(zip(terms, table.aggregate(list(terms.values())), strict=True))
        kept = None if found["rows"] == every else counts
        self.understood += rules.weightless(there - found["rows"], every)
        rows, positives = int(found["rows"]), int(found["positives"])
        cases: list[float] = [positives, rows - positives]
        if bits:
            cases = [math.ldexp(float(int(found[s] or 0)), -b) for s, b in zip(("pos", "neg"), bits, strict=True)]
        weighted, weight_bits = weight is not None, (bits[0], bits[1]) if bits else (0, 0)
        totals = {}
        for k, model in enumerate(scores):
            least, most, total = (float(found[f"{what}_{k}"]) for what in ("low", "high", "sum"))
            counted = weighted, every - there, int(found[f"distinct_{k}"]), total, weight_bits
            totals[model] = Totals(rows, positives, cases[0], cases[1], least, most, *counted)
        cluster = () if roles.clusters is None else (used[roles.clusters],)
        segments = tuple(used[name] for name in roles.by)
        batch = () if roles.batch is None else (used[roles.batch],)
        facts = kept, totals, tuple(self.understood), segments, batch
        return Checked(table, f"({positive})", scores, weight, cluster, *facts)

    def _positive(self, label: Column, found: Sequence[Sequence[Any]]) -> str:
        """SQL that is true for a positive row, from the labels that there are and the number of rows of each."""
        if len(found) > MOST_LABELS:
            problem, remedy = f"has more than {MOST_LABELS:,} different values", "choose a column with two labels"
            raise self.table.refuse(InputError("y_true", problem, remedy), label.name)
        examples = {value: rows for value, _, rows in sorted(found, key=str) if rows}
        kind = "TIMESTAMP" if label.comparable.startswith("make_timestamp") else label.type

        def is_value(value: Any) -> str:
            text = self.table.dialect.literal(rules.as_text(value))
            return f"{label.comparable} = {text if label.kind == 'text' else f'CAST({text} AS {kind})'}"

        def judge(examples: Mapping[Any, int]) -> list[bool]:
            labels = as_column(list(examples), "y_true")
            positive = is_positive(labels, self.roles.pos_label)
            rows = np.array(list(examples.values()))
            check_negatives(labels, positive, self.roles.pos_label, self.roles.neg_label, rows)
            return [bool(one) for one in positive]

        positive = self._judged("y_true", label, examples, judge, is_value)
        those = [is_value(value) for value, one in zip(examples, positive, strict=True) if one]
        return f"({' OR '.join(those)})" if those else "false"

    def _number(self, role: str, column: Column) -> str:
        """SQL for the number of a cell."""
        cell = column.sql
        if column.kind != "text":
            limit = rules.EXACT_INTEGERS
            beyond = f"{self.keep} AND ({cell} > {limit} OR {cell} < -{limit})"
            if column.is_wide and not self.roles.rounded and self.table.count([beyond])[0]:
                row, _ = self.table.first(beyond, cell) or (None, None)
                raise self.table.refuse(rules.bad_cell("beyond", role, row), column.name)
            return f"CAST({cell} AS DOUBLE)"
        sql, number = self.table.dialect, f"TRY_CAST({cell} AS DOUBLE)"
        if not sql.escape and self.roles.decimal != ",":  # a plain cast tells most in a tenth of the time
            here = f"FILTER (WHERE {self.keep})"
            terms = [f"max(abs({number})) {here}", f"bool_or({NOT_BY_POINTS.format(number=number)}) {here}"]
            odd = f"count(*) FILTER (WHERE {self.keep} AND NOT {sql.matches(cell, rules.PLAIN.cell)})"
            strange, largest, is_sure = self.table.aggregate([odd, *terms])
            if not strange and is_sure and (self.roles.rounded or largest < rules.EXACT_INTEGERS):
                return number
        # Cells are alike if their digits stand in the same places, and if they begin with 0 or not; the largest of them
        # shows whether one is beyond 2⁵³. Of floats that are written out as long integers, no two are alike.
        is_long = f"instr(translate({cell}, ',', '.'), '.') > 17"
        parts = [f"translate({cell}, '023456789', '111111111')", f"CASE WHEN {is_long} THEN {cell} ELSE '' END"]
        first = f"CASE WHEN translate({cell}, '+- \t', '') LIKE '0%' THEN '0' ELSE '1' END"
        shape = f"concat({', '.join([first, *parts])})"
        found = sorted(self.table.grouped(self.keep, [shape], [f"max({cell})", "count(*)"], _MOST_SHAPES + 1))
        shapes, examples = {cell: key for key, cell, _ in found}, {cell: rows for _, cell, rows in found}

        def judge(examples: Mapping[Any, int]) -> rules.Notation | None:
            return read_numbers(list(examples), role, self.roles.decimal, list(examples.values()))[3]

        is_like = lambda example: f"{shape} = {sql.literal(shapes[example])}"  # noqa: E731
        notation = self._judged(role, column, examples, judge, is_like)
        if len(found) > _MOST_SHAPES:
            raise self.table.refuse(rules.unusable(role, "text"), column.name)
        if notation is None:
            return f"CAST((lower({cell}) LIKE '%true%') AS DOUBLE)"
        if notation.name:
            self.understood.append(f"{role_word(role)} {show(column.name)} as {notation.name}")
        for sign in ("%" if notation.percent else "") + notation.thousands:
            cell = f"replace({cell}, '{sign}', '')"
        if notation.decimal == ",":
            cell = f"replace({cell}, ',', '.')"
        number = f"TRY_CAST({cell} AS DOUBLE)"
        return f"({number} / 100.0)" if notation.percent else number

    def _judged(
        self,
        role: str,
        column: Column,
        examples: Mapping[Any, int],
        judge: Callable[[Mapping[Any, int]], V],
        is_like: Callable[[Any], str],
    ) -> V:
        """What a rule finds of examples and the rows each stands for; its error names the first row of the table."""
        left = dict(examples)
        wrong: list[Any] = []
        try:
            return judge(left)
        except InputError as error:
            refused = told = error
        while isinstance(told.row, int) and told.remedy == refused.remedy and len(wrong) < _MOST_WRONG:
            wrong.append(list(left)[told.row])
            rows = left.pop(wrong[-1])
            try:
                judge(left)
                break
            except InputError as error:
                told = error
        if wrong:
            likes = " OR ".join(f"({is_like(example)})" for example in wrong)
            row, cell = self.table.first(f"{self.keep} AND ({likes})", column.comparable) or (None, wrong[0])
            try:
                judge({cell: rows, **left})
            except InputError as error:
                refused = error.but(row=row)
        raise refused.but(column=column.name if refused.argument == role else None, where=self.table.where)


def check_same(name: str, totals: Totals, positives: Any, negatives: Any, scores: Any) -> None:
    """Raise an error if cases or scores add up to other totals than first, beyond what another order can do."""
    with np.errstate(all="ignore"):  # scores may be infinite, and their sum beyond all floats
        pos, neg, total = (float(np.sum(column)) for column in (positives, negatives, scores))
    close = 1e-9 if totals.weighted else 0.0
    if not np.allclose((pos, neg), (totals.pos, totals.neg), rtol=close, atol=0.0):
        said = f"{totals.pos:g} positives and {totals.neg:g} negatives were counted first, {pos:g} and {neg:g} came"
        raise changed(name, said)
    most = (totals.pos + totals.neg) * max(abs(totals.low), abs(totals.high))  # no sum lies beyond it
    if math.isfinite(most) and abs(total - totals.sum) > 1e-300 + 1e-9 * most:
        raise changed(name, f"its scores added up to {totals.sum:g} first, then to {total:g}")

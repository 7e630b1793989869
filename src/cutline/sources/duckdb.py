"""Files, DuckDB relations, connections and databases -> a table that DuckDB can be asked about; its rows in order."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, changed, show, verbatim
from ..partition import Partition
from ..runtime import temporary_folder
from ..validate import check_whole
from . import rules
from .arrays import as_column, is_positive
from .arrow_stream import Batch, StreamError, batches
from .file_formats import TEXT, File, Files, TextFormat, describe, find_files, sentence, sql_paths
from .frames import LoadedColumns, MemoryTable
from .sql_table import (
    DUCKDB,
    NOT_BY_POINTS,
    Checked,
    Column,
    Roles,
    SqlTable,
    Totals,
    check_same,
    lacking_sql,
    role_word,
)

_DATABASES = {kind: kind for kind in ("postgres", "mysql", "sqlite", "duckdb")} | {"postgresql": "postgres"}
# How a file of a database begins: DuckDB's has eight bytes of a checksum first, and its version behind its name.
_DATABASE_FILES = {"sqlite": rb"SQLite format 3\0", "duckdb": rb"(?s:.{8})DUCK(?s:..)\0\0"}
_MOST_THREADS = 1024  # DuckDB starts them all at once, and no machine has more to give
_COPY, _TYPED = "cutline_rows", "cutline_numbers"  # temporary tables
_SMALL_BYTES = 2**26  # of text that is copied before it is asked: every look at a file of text parses it again
_NOT_NUMBERS = "a score is NaN that was a number first"
_FIRST_ROWS, _FEW_LABELS = 1000, 10  # rows that show what cells a label has, and how many it has


@dataclass(frozen=True)
class Machine:
    """How DuckDB may use the machine; for a connection of the user's own, nothing is set."""

    memory_limit: str | None = None
    threads: int | None = None
    temp_directory: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        limit = self.memory_limit
        if self.threads is not None:
            check_whole(self.threads, "threads", 1, _MOST_THREADS)
        if limit is not None and not (isinstance(limit, str) and re.match(r"\s*\d", limit)):
            raise InputError("memory_limit", f"must be a size such as '2GB', got {show(limit)}")
        if self.temp_directory is not None and not isinstance(self.temp_directory, str | os.PathLike):
            raise InputError("temp_directory", f"must be a path, got {show(self.temp_directory)}")

    @property
    def given(self) -> list[str]:
        """Names of the options that were set."""
        return [name for name, value in vars(self).items() if value is not None]


class DuckTable(SqlTable):
    """Something to select from: ``run(sql)`` gives a relation."""

    dialect = DUCKDB

    def __init__(
        self,
        name: str,
        columns: Sequence[Column],
        relation: str,
        run: Callable[[str], Any],
        interrupt: Callable[[], None],
        files: Files | None = None,
    ) -> None:
        super().__init__(name, columns)
        self.relation, self.run, self.interrupt, self.files = relation, run, interrupt, files
        self.understood = () if files is None else files.understood
        self._held: dict[str, NDArray[Any]] = {}
        self._grouped: set[str] = set()  # columns of a copy whose distinct cells are a table
        self.profiled: dict[str, Any] = {}  # of columns whose profiles were made (see ``profiles``)
        self.is_small = False  # a file of text whose cells have room in memory
        # the rows with their numbers in the source, from 0, also where a condition left some out
        self.row = "cutline_row"  # what SQL calls that number, as it calls no column: of two alike it takes the user's
        taken = {column.sql.strip('"').casefold() for column in columns}  # DuckDB ignores case
        while self.row in taken:
            self.row += "_"
        self.numbered = f"(SELECT *, row_number() OVER () - 1 AS {self.row} FROM {relation})"
        self.is_filtered = False

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query and give its rows."""
        with translate_errors(self.name, self.files):
            return list(self.run(sql).fetchall())

    def execute(self, sql: str) -> None:
        """Run a statement that gives no rows."""
        with translate_errors(self.name, self.files):
            self.run(sql)

    def aggregate(self, terms: Sequence[str], first: int | None = None) -> Sequence[Any]:
        rows = self.relation if first is None else f"(SELECT * FROM {self.relation} LIMIT {first})"
        return self.rows(f"SELECT {', '.join(terms)} FROM {rows}")[0]

    def grouped(
        self, kept: str | None, keys: Sequence[str], terms: Sequence[str], most: int | None = None
    ) -> list[tuple[Any, ...]]:
        wanted = ", ".join([f"({kept or 'true'}) AS kept", *keys, *terms])
        limit = "" if most is None else f" ORDER BY kept DESC LIMIT {most}"
        return [row[1:] for row in self.rows(f"SELECT {wanted} FROM {self.relation} GROUP BY ALL{limit}") if row[0]]

    def first(self, condition: str, shown: str) -> tuple[int | str, Any] | None:
        """Number (from 0) and value of the first row that fulfils a condition."""
        marked = f"SELECT {self.row} AS n, {shown} AS v, ({condition}) AS f FROM {self.numbered}"
        rows = self.rows(f"SELECT n, v FROM ({marked}) WHERE f ORDER BY n LIMIT 1")
        return (int(rows[0][0]), rows[0][1]) if rows else None

    def hold(self, texts: Sequence[str], numbers: Sequence[str]) -> None:
        """Read columns with one query, and keep them: one that joins may give its rows in two orders if run twice."""
        if self.files is None:
            expressions = [*self._expressions(texts, "label"), *self._expressions(numbers, "score")]
            self._held |= dict(zip(expressions, self.values(expressions), strict=True))

    def _expressions(self, names: Sequence[str], role: str) -> list[str]:
        """SQL for columns: numbers as they stand, everything else as text, as classes are named."""
        columns = [self.column(name, role).sql for name in names]
        return columns if role == "score" else [f"CAST({sql} AS VARCHAR)" for sql in columns]

    def cells(self, column: Column) -> str:
        """The distinct cells of a column, and the rows that each stands for (``cutline_n``); of a copy found once."""
        sql = f"SELECT {column.sql}, count(*) AS cutline_n FROM {self.relation} GROUP BY {column.sql}"
        if self.relation != _COPY:
            return f"({sql})"
        name = f"cutline_{column.sql}"
        if name not in self._grouped:
            self.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {sql}")
            self._grouped.add(name)
        return name

    def values_of(self, name: str, most: int) -> list[Any]:
        """Distinct values of a column, in order, at most so many."""
        column = self.named[name]
        found = f"SELECT {column.sql} AS v FROM {self.cells(column)} ORDER BY v NULLS LAST LIMIT {most + 1}"
        return [value for (value,) in self.rows(found) if value is not None][:most]

    def values(self, expressions: Sequence[str]) -> list[NDArray[Any]]:
        """Columns of the whole table as arrays; missing values are masked."""
        if all(sql in self._held for sql in expressions):
            return [self._held[sql] for sql in expressions]
        with translate_errors(self.name, self.files):
            selected = ", ".join(f"{sql} AS v{k}" for k, sql in enumerate(expressions))
            relation = self.numbered if self.row in expressions else self.relation
            found = self.run(f"SELECT {selected} FROM {relation}").fetchnumpy()
        return [found[f"v{k}"] for k in range(len(expressions))]

    def read(self, names: Sequence[str], role: str) -> Iterator[Any]:
        """Columns of the whole table, one after the other; many are read some thousand at a time."""
        expressions = self._expressions(names, role)
        for first in range(0, len(expressions), 2000):
            yield from self.values(expressions[first : first + 2000])

    def copied(self, columns: Sequence[Column]) -> DuckTable:
        """The table with some of its columns only, copied from a small file of text: it is then parsed once."""
        if not self.is_small:
            return self
        cells = [*dict.fromkeys(column.sql for column in columns), *([self.row] if self.is_filtered else [])]
        relation = self.numbered if self.is_filtered else self.relation
        self.execute(f"CREATE OR REPLACE TEMP TABLE {_COPY} AS SELECT {', '.join(cells)} FROM {relation}")
        return self._read_from(_COPY, _COPY if self.is_filtered else "")

    def _read_from(self, relation: str, numbered: str = "") -> DuckTable:
        """The same columns of another relation, whose rows have other numbers than in the source if it is filtered."""
        columns = [replace(column, name=column.heading) for column in self.columns]
        table = DuckTable(self.name, columns, relation, self.run, self.interrupt, self.files)
        table.is_small = self.is_small and relation not in (_COPY, _TYPED)
        table.numbered, table.is_filtered = numbered or table.numbered, bool(numbered)
        return table

    def only(self, condition: str, cells: Mapping[str, str]) -> DuckTable:
        """The rows that fulfil a condition on some cells, by name; errors name them by their numbers in the source."""
        import duckdb

        with translate_errors(self.name, self.files):
            if len(duckdb.extract_statements(f"SELECT (\n{condition}\n)")) != 1:
                raise InputError(None, "is more than a condition")
        named = [f"{sql} AS {DUCKDB.name(name)}" for name, sql in cells.items()]
        columns, filtered = [column.sql for column in self.columns], []
        for relation, own in ((self.relation, columns), (self.numbered, [*columns, self.row])):
            # the table's own columns have names that no condition has, so that it finds only those that it names
            hidden = [f'{sql} AS "cutline {k}"' for k, sql in enumerate(own)]
            back = ", ".join(f'"cutline {k}" AS {sql}' for k, sql in enumerate(own))
            rows = f"SELECT {', '.join([*hidden, *named])} FROM {relation}"
            kept = f"WHERE coalesce(CAST((\n{condition}\n) AS BOOLEAN), false)"
            filtered.append(f"(SELECT {back} FROM ({rows}) {kept})")
        return self._read_from(*filtered)

    def source_row(self, row: int) -> int:
        """The number of a row in the source."""
        found = f"SELECT {self.row} FROM {self.numbered} ORDER BY 1 LIMIT 1 OFFSET {row}"
        return int(self.rows(found)[0][0]) if self.is_filtered else row

    def load_plain(self, roles: Roles) -> LoadedColumns | None:
        """The rows of a small file by one query, if no cell is missing and text writes all numbers plainly."""
        if not (self.is_small or self.relation == _COPY) or self.is_filtered:
            return None
        try:
            wanted = self._plain_cells(roles)
            cells = self.values(list(wanted.values()))
            numbers = [cells[k] for k, (role, _) in enumerate(wanted) if role in ("y_score", "sample_weight")]
            for sizes in (np.abs(np.ma.getdata(column)) for column in numbers):
                # none may be too long, nor may it be unclear what points separate: the text tells
                if not sizes.max() < rules.EXACT_INTEGERS:
                    return None
                sure = (sizes >= 1000) | ((sizes < 1) & (sizes > 0))
                if not (sure.any() or (np.abs(sizes * 1e3 - np.round(sizes * 1e3)) > 1e-6).any()):
                    return None
            plain = replace(roles, pos_label=None, neg_label=None, missing="error")
            rows = MemoryTable(self.name, [name for _, name in wanted], cells.__getitem__).rows(plain)
        except InputError:
            return None
        return replace(rows, understood=(*self.understood, *rows.understood))

    def check_plain(self, roles: Roles) -> Checked | None:
        """What ``check`` finds, by one pass without patterns; None where that does not show that all is well."""
        if roles.weight is not None:
            return None
        keys = {
            role: tuple(self.named[n] for r, n in roles.named if r == role and n in self.named) for role in rules.KEYS
        }
        lacks = [lacking_sql(DUCKDB, column) for columns in keys.values() for column in columns]
        terms = ["count(*)", "count(y)", "sum(y)", *(f"count(*) FILTER (WHERE k{k})" for k in range(len(lacks)))]
        for k, name in enumerate(roles.scores.values()):
            is_text = name in self.named and self.named[name].kind == "text"
            sure = f"coalesce(bool_or({NOT_BY_POINTS.format(number=f's{k}')}), false)" if is_text else "true"
            terms += [*(f"{f}(s{k})" for f in ("count", "min", "max", "approx_count_distinct", "sum")), sure]
        try:
            wanted = self._plain_cells(roles)
            code = "1" if roles.label is None else wanted["y_true", roles.label]
            models = {model: wanted["y_score", name] for model, name in roles.scores.items()}
            models |= {m: f"(0.0 - {models[m]})" for m, name in roles.scores.items() if name in roles.negate}
            cells = {"y": code} | {f"s{k}": sql for k, sql in enumerate(models.values())}
            cells |= {f"k{k}": f"({condition})" for k, condition in enumerate(lacks)}
            cells |= {column.sql: column.sql for columns in keys.values() for column in columns}
            selected = f"SELECT {', '.join(f'{sql} AS {name}' for name, sql in cells.items())} FROM {self.relation}"
            table, relation = self, f"({selected})"
            # text is parsed once: its numbers take less room than the sort that follows
            is_text = self.files is not None and self.files.kind != "parquet"
            if is_text and self.relation != _COPY and not self.is_filtered:
                self.execute(f"CREATE OR REPLACE TEMP TABLE {_TYPED} AS {selected}")
                table, relation, code = self._read_from(_TYPED), _TYPED, "y"
                models = {model: f"s{k}" for k, model in enumerate(models)}
            # DuckDB may cast while it parses a file, where TRY_CAST raises an error
            rows, labelled, positives, *found = self.rows(f"SELECT {', '.join(terms)} FROM {relation}")[0]
        except InputError:
            return None
        if not rows or labelled != rows or any(found[: len(lacks)]):
            return None
        totals = {}
        for k, (model, name) in enumerate(roles.scores.items()):
            count, low, high, distinct, total, sure = found[len(lacks) + 6 * k :][:6]
            if count != rows or not math.isfinite(total):
                return None
            if not sure or (self.named[name].kind == "text" and max(-low, high) >= rules.EXACT_INTEGERS):
                return None
            n = int(positives)
            totals[model] = Totals(rows, n, n, rows - n, low, high, distinct=distinct, sum=total)
        parts = keys["clusters"], None, totals, (), keys["segment"], keys["batch"]
        return Checked(table, f"({code} = 1)", models, None, *parts)

    def _plain_cells(self, roles: Roles) -> dict[tuple[str, str], str]:
        """SQL for each role: 1 or 0 of a label, the number of a cell, a key as it stands.

        NULL for a label that the first rows lack, and a cell that DuckDB casts but no notation allows.
        """
        used = {name: self.column(name, role_word(role)) for role, name in roles.named}
        told = roles.decimal is not None or roles.neg_label or roles.ignore_case
        odd = any(column.kind == "collection" for column in used.values())
        odd |= any(used[name].kind == "other" for role, name in roles.named if role not in rules.KEYS)
        odd |= any(used[name].is_wide for role, name in roles.named if role in ("y_score", "sample_weight"))
        # a query may take long: it is not run once more for the labels of its first rows
        if self.files is None or told or odd or len(rules.as_labels(roles.pos_label)) > 1:
            raise InputError(None, "has to be checked")
        signs = frozenset[str]().union(*(file.odd_signs for file in self.files.files))
        wanted: dict[tuple[str, str], str] = {}
        for role, name in roles.named:
            cell, is_text = used[name].sql, used[name].kind == "text"
            number = f"TRY_CAST({cell} AS DOUBLE)" if is_text else f"CAST({cell} AS DOUBLE)"
            strange = [f"contains({cell}, '{sign}')" for sign in ("_", "+-") if sign[0] in signs]
            strange += [f"{cell} < '!'", f"{cell}[-1] <= ' '"] if signs - {"_", "+"} else []
            if is_text and strange:
                number = f"CASE WHEN {' OR '.join(strange)} THEN NULL ELSE {number} END"
            wanted[role, name] = cell if role in rules.KEYS else number
        if roles.label is not None:
            # 1 or 0 for labels that the first rows have, by the rule for labels in memory; NULL for others
            cell, place = used[roles.label].sql, self.columns.index(used[roles.label])
            first_rows = self.files.files[0].first_rows
            cells = {row[place] for row in first_rows if len(row) > place}
            if not first_rows:  # a file that is not read line by line
                first = f"(SELECT {cell} AS label FROM {self.relation} LIMIT {_FIRST_ROWS})"
                cells = {label for (label,) in self.rows(f"SELECT DISTINCT label FROM {first}")}
            labels = as_column(list(cells), "y_true")
            positive = is_positive(labels, roles.pos_label)
            if len(labels) > _FEW_LABELS or (roles.pos_label is not None and np.count_nonzero(~positive) > 1):
                raise InputError("y_true", "cannot be judged by its distinct cells")  # ``check`` counts its rows
            values = [DUCKDB.literal(v) if isinstance(v, str) else str(v).lower() for v in labels.tolist()]
            codes = " ".join(f"WHEN {v} THEN {int(p)}" for v, p in zip(values, positive.tolist(), strict=True))
            wanted["y_true", roles.label] = f"CAST(CASE {cell} {codes} END AS UTINYINT)"
        return wanted

    def load(self, checked: Checked) -> LoadedColumns:
        """The rows in memory, by one query; what was counted before must be what comes now."""
        roles = {"clusters": checked.cluster, "segment": checked.segments, "batch": checked.batch}
        wanted = {"positive": f"CAST({checked.positive} AS UTINYINT)"}
        wanted |= {f"score_{k}": sql for k, sql in enumerate(checked.scores.values())}
        wanted |= {} if checked.weight is None else {"weight": checked.weight}
        wanted = {name: checked.value(sql) for name, sql in wanted.items()}
        wanted |= {} if checked.kept is None else {"kept": checked.kept}
        wanted |= {} if checked.kept is None and not self.is_filtered else {"row": self.row}
        wanted |= {f"key {column.name}": column.sql for columns in roles.values() for column in columns}
        columns = dict(zip(wanted, map(np.ma.getdata, self.values(list(wanted.values()))), strict=True))
        if checked.kept is not None:
            kept = columns["kept"]
            columns = {name: column[kept] for name, column in columns.items()}
        positive, weight = columns["positive"].astype(np.bool_), columns.get("weight")
        scores = {model: columns[f"score_{k}"] for k, model in enumerate(checked.scores)}
        each = 1.0 if weight is None else weight
        for model, score in scores.items():
            if np.isnan(score).any():
                raise changed(self.name, _NOT_NUMBERS)
            with np.errstate(all="ignore"):  # an infinite score times a weight of 0, or one beyond all floats
                weighted = each * score
            check_same(self.name, checked.totals[model], each * positive, each * ~positive, weighted)
        parts = {
            role: Partition.of({column.name: columns[f"key {column.name}"] for column in made_of}, role)
            for role, made_of in roles.items()
            if made_of
        }
        dropped, understood = next(iter(checked.totals.values())).dropped, (*self.understood, *checked.understood)
        codes, *keys = parts.get("clusters"), parts.get("segment"), parts.get("batch")
        facts = None if codes is None else codes.codes, dropped, understood, columns.get("row")
        return LoadedColumns(positive, scores, weight, *facts, *keys)

    def pieces(
        self, checked: Checked, model: str, *, numbered: bool, rows: int | None = None, key: str | None = None
    ) -> Generator[Batch]:
        """The rows, best first: score, positive, and where there are such or wanted, weight, row number and key."""
        wanted = {"score": checked.scores[model], "positive": f"CAST({checked.positive} AS UTINYINT)"}
        wanted |= {} if key is None else {"key": key}
        wanted |= {} if checked.weight is None else {"weight": checked.weight}
        # rows are numbered before any is left out: a row draws the same weights whatever else is evaluated
        wanted |= {"row": "row_number() OVER ()"} if numbered else {}
        # no filter is written: DuckDB decides those from statistics, without NaN
        selected = ", ".join(f"{checked.value(sql)} AS {name}" for name, sql in wanted.items())
        kept = ""
        if checked.kept is not None:
            selected, kept = f"CAST({checked.kept} AS UTINYINT) AS kept, {selected}", "kept DESC, "
        # weights that tie are added up in one order: the same sums in every run, on any number of threads
        last = "" if checked.weight is None else ", positive, weight" + (", row" if numbered else "")
        sql = f"SELECT * FROM (SELECT {selected} FROM {self.relation}) ORDER BY {kept}score DESC{last}"
        return self._stream(sql, rows)

    def groups(self, checked: Checked, model: str, rows: int | None = None) -> Generator[Batch]:
        """The rows added up by score, best first: score, pos, neg."""
        here = checked.kept or "true"
        sides = ("pos", checked.positive), ("neg", f"NOT {checked.positive}")
        parts = []
        for (name, side), bits in zip(sides, checked.totals[model].weight_bits, strict=True):
            total, kind, unit = "count(*)", "BIGINT", ""
            if checked.weight is not None:
                total, kind, unit = DUCKDB.exact_sum(checked.weight, bits), "DOUBLE", f" * {2.0**-bits!r}::DOUBLE"
            parts.append(f"CAST(coalesce({total} FILTER (WHERE {here} AND {side}), 0) AS {kind}){unit} AS {name}")
        score = checked.value(checked.scores[model], "NULL")
        sql = f"SELECT {score} AS score, {', '.join(parts)} FROM {self.relation} GROUP BY 1 "
        sql += f"HAVING count(*) FILTER (WHERE {here}) > 0 ORDER BY score DESC"
        return self._stream(sql, rows)

    def _stream(self, sql: str, rows: int | None) -> Generator[Batch]:
        """The batches of a query, or smaller ones of so many ``rows``."""
        with translate_errors(self.name, self.files), closing(batches(self.run(sql), self.interrupt)) as arriving:
            for batch in arriving:
                kept = batch.pop("kept", None)
                if kept is not None and not kept.all():
                    batch = {name: column[kept != 0] for name, column in batch.items()}
                if np.isnan(batch["score"]).any():
                    raise changed(self.name, _NOT_NUMBERS)
                size = len(next(iter(batch.values())))
                for first in range(0, size, rows or max(size, 1)):
                    last = first + (rows or size)
                    yield batch if rows is None else {name: column[first:last] for name, column in batch.items()}


@contextmanager
def open_table(source: Any, query: str | None, machine: Machine, text: TextFormat) -> Iterator[DuckTable]:
    """Open a source; whatever happens, nothing of it is left in the temporary directory."""
    import duckdb

    if query is not None and not isinstance(query, str):
        raise InputError("query", f"must be SQL text, got {show(query)}")
    if isinstance(source, duckdb.DuckDBPyConnection | duckdb.DuckDBPyRelation):
        if machine.given:
            raise InputError(machine.given[0], "belongs to your DuckDB connection", "set it there")
        _only_for_text(text, "a DuckDB query")
    if isinstance(source, duckdb.DuckDBPyConnection):
        if query is None:
            raise InputError(None, "a DuckDB connection needs a query", "add {query='SELECT …'}")
        yield _queried(source, query)
        return
    if isinstance(source, duckdb.DuckDBPyRelation):
        if query is not None:
            raise InputError("query", "does not go with a relation, which is a query already", "leave it out")
        # a relation does not show its connection, so a running query of it cannot be interrupted: it is waited for
        yield _of_relation("the relation", source, lambda: None)
        return
    with ExitStack() as stack:
        try:
            parent = machine.temp_directory
            folder = stack.enter_context(temporary_folder(None if parent is None else os.fsdecode(parent)))
        except (OSError, ValueError) as error:  # ValueError: a NUL or half a surrogate pair in the name
            said = getattr(error, "strerror", None) or "not a path"
            raise InputError("temp_directory", f"cannot be used ({said}): {show(machine.temp_directory)}") from None
        connection = stack.enter_context(closing(_connect(duckdb, machine, folder)))
        table = _of_path(connection, os.fspath(source), query, text, folder)
        files = None if machine.memory_limit is not None else table.files
        if files is not None and files.kind != "parquet":
            # text is packed to about an eighth
            sizes = (os.path.getsize(file.path) * (8 if file.packed else 1) for file in files.files)
            table.is_small = sum(sizes) <= _SMALL_BYTES
        yield table


def _connect(duckdb: Any, machine: Machine, folder: str) -> Any:
    config: dict[str, Any] = {"temp_directory": folder, "autoinstall_known_extensions": "false"}
    config["preserve_insertion_order"] = "true"  # columns of a file are read one after the other, and must match
    if machine.memory_limit is not None:
        config["memory_limit"] = machine.memory_limit
    if machine.threads is not None:
        config["threads"] = machine.threads
    try:
        connection = duckdb.connect(config=config)
    except duckdb.Error as error:
        said = verbatim(sentence(str(error)))
        raise InputError(machine.given[0] if machine.given else None, f"is not accepted by DuckDB: {said}") from None
    connection.execute("SET enable_progress_bar = false")
    # 15 bits for a bucket and 2 for a label: their counts are an array with a place for each, not a hash table
    connection.execute("SET perfect_ht_threshold = 18")
    return connection


def _of_path(connection: Any, path: str, query: str | None, text: TextFormat, folder: str) -> DuckTable:
    import duckdb

    kind: str | None = None  # of a database, by its first bytes or an address; else a file
    place = path  # what DuckDB attaches
    if os.path.isfile(path):
        head = b""
        with suppress(OSError), open(path, "rb") as file:  # find_files tells why a file cannot be read
            head = file.read(16)
        kind = next((kind for kind, begins in _DATABASE_FILES.items() if re.match(begins, head)), None)
    elif not os.path.exists(path) and (scheme := re.match(r"^(\w+):", path)):
        kind = _DATABASES.get(scheme[1].lower())
        if kind != "postgres" or "://" not in path:
            place = path.partition(":")[2].removeprefix("//")
    if kind is not None:
        _only_for_text(text, "a database")
        if query is None:
            raise InputError(None, "a database needs a query", "add query='SELECT …' in Python, or export its rows")
        try:
            connection.execute(f"ATTACH {DUCKDB.literal(place)} AS source (TYPE {kind}, READ_ONLY)")
            connection.execute("USE source")
        except duckdb.Error as error:
            problem = f"the {kind} database cannot be read: {verbatim(sentence(str(error)))}"
            remedy = f"DuckDB's extension {kind!r} must be installed: INSTALL {kind}, which needs a network once"
            raise InputError(None, problem, "" if kind == "duckdb" else remedy) from None
        return _queried(connection, query, attached=True)
    if query is not None:
        problem = "goes with a DuckDB connection or a database"
        raise InputError("query", problem, "leave it out: a file is read as it is")
    own = os.path.join(folder, "copies")
    os.mkdir(own)
    return of_files(connection, find_files(path, text, own), text)


def of_files(connection: Any, files: Files, text: TextFormat) -> DuckTable:
    """Files as a table. Cells of text files stay text, whatever they look like."""
    run, stop = connection.sql, connection.interrupt
    first = files.files[0]
    if files.kind in TEXT:
        columns = [Column(name, f"c{k}", "VARCHAR") for k, name in enumerate(first.names)]
        alike: dict[tuple[Any, ...], list[File]] = {}
        for file in files.files:
            look = (file.names, file.delimiter, file.quote, file.has_header, file.blank_lines)
            alike.setdefault(look, []).append(file)
        parts = []
        for (names, *_), those in alike.items():
            order = ", ".join(f"c{names.index(name)} AS c{k}" for k, name in enumerate(first.names))
            parts.append(f"SELECT {order if names != first.names else '*'} FROM {_read_csv(those)}")
        relation = _read_csv(list(files.files)) if len(alike) == 1 else f"({' UNION ALL '.join(parts)})"
        return DuckTable(files.name, columns, relation, run, stop, files)
    _only_for_text(text, f"a {files.kind} file")
    where = sql_paths(files.files)
    if files.kind == "parquet":
        united = ", union_by_name = true" if len(files.files) > 1 else ""  # else the first file's types hold for all
        relation = f"read_parquet({where}, hive_partitioning = false{united})"
        names = _outermost(connection, where) if len(files.files) == 1 else None
        return _described(files.name, relation, run, stop, names, files)
    packed = f", compression = '{first.packed}'" if first.packed else ""
    relation = f"read_json_objects({where}, format = 'auto', hive_partitioning = false{packed})"
    keys = f"SELECT json_keys(json) AS ks, unnest(ks) AS k, generate_subscripts(ks, 1) AS i FROM {relation}"
    found = f"SELECT k, bool_or(list_position(ks, k) <> i) FROM ({keys}) GROUP BY k ORDER BY min(i), k"
    with translate_errors(files.name, files):
        names = [name for name, is_twice in run(found).fetchall() for _ in range(1 + is_twice)]
    columns, cells = [], []
    for k, name in enumerate(names):
        pointer = DUCKDB.literal("/" + name.replace("~", "~0").replace("/", "~1"))
        value, kind = f"json_extract_string(json, {pointer})", f"json_type(json, {pointer})"
        is_truth = f"{value} IN ('true', 'false') AND {kind} = 'BOOLEAN'"
        # a boolean as Python and text files write it, so that segments are called alike
        cells.append(f"CASE WHEN {is_truth} THEN upper({value}[1]) || {value}[2:] ELSE {value} END AS c{k}")
        columns.append(Column(name, f"c{k}", "VARCHAR"))
    return DuckTable(files.name, columns, f"(SELECT {', '.join(cells)} FROM {relation})", run, stop, files)


def _read_csv(those: list[File]) -> str:
    """SQL that reads text files: every option is given, none is left for DuckDB to find out."""
    file, where = those[0], sql_paths(those)
    columns = ", ".join(f"'c{k}': 'VARCHAR'" for k in range(len(file.names)))
    packed = f", compression = '{file.packed}'" if file.packed else ""
    size = f", max_line_size = {max(1 << 21, 4 * max(f.longest for f in those))}"
    size += f", skip = {file.blank_lines}" if file.blank_lines else ""
    return (
        f"read_csv({where}, auto_detect = false, columns = {{{columns}}}, delim = {DUCKDB.literal(file.delimiter)}, "
        f"quote = {DUCKDB.literal(file.quote)}, escape = {DUCKDB.literal(file.quote)}, comment = '', nullstr = '', "
        f"header = {str(file.has_header).lower()}, null_padding = false, hive_partitioning = false{packed}{size})"
    )


def _outermost(connection: Any, where: str) -> list[str] | None:
    """The columns of a Parquet file as they stand; its schema lists the root first, a column's children behind it."""
    import duckdb

    try:
        schema = connection.sql(f"SELECT name, num_children FROM parquet_schema({where})").fetchall()
    except duckdb.Error:
        return None  # reading the file raises the error, with the reason
    names: list[str] = []
    inside = 0
    for name, children in schema[1:]:
        if inside:
            inside -= 1
        else:
            names.append(name)
        inside += children or 0
    return names


def _only_for_text(text: TextFormat, what: str) -> None:
    for name in text.given:
        raise InputError(name, f"goes with text files; the source is {what}", "leave it out")


def _queried(connection: Any, query: str, attached: bool = False) -> DuckTable:
    """A query as a table: one statement, whatever stands behind it (a semicolon, a comment)."""
    name = f"the query {show(' '.join(query.split()))}"
    with translate_errors(name, None):
        statements = connection.extract_statements(query)
        if len(statements) != 1:
            raise InputError("query", f"must be one SQL statement, got {len(statements)}")
        text, longer = statements[0].query, ""
        while text != longer:
            longer = text
            before, end, last = text.rstrip().rstrip(";").rpartition("\n")
            text = before + end + re.sub(r"--[^'\"$]*\Z", "", last)
        if attached:  # and read only: before 1.5.6 DuckDB makes the view of a relation there
            connection.execute(f"CREATE TEMP VIEW cutline_source AS {text}")
            columns = list(connection.sql("FROM cutline_source").columns)
            return _described(name, "cutline_source", connection.sql, connection.interrupt, columns)
        return _of_relation(name, connection.sql(text), connection.interrupt)


def _of_relation(name: str, relation: Any, interrupt: Callable[[], None]) -> DuckTable:
    run = lambda sql: relation.query("cutline_source", sql)  # noqa: E731
    return _described(name, "cutline_source", run, interrupt, list(relation.columns))


def _described(
    name: str,
    relation: str,
    run: Callable[[str], Any],
    interrupt: Callable[[], None],
    names: Sequence[str] | None,
    files: Files | None = None,
) -> DuckTable:
    """A table with types of its own. ``names`` are its columns as they stand: DuckDB makes equal ones differ."""
    with translate_errors(name, files):
        found = run(f"SELECT * FROM {relation} LIMIT 0")
        own, types = list(found.columns), [str(kind) for kind in found.types]
    shown = names if names is not None and len(names) == len(own) else own
    columns = [Column(n, DUCKDB.name(o), t) for n, o, t in zip(shown, own, types, strict=True)]
    return DuckTable(name, columns, relation, run, interrupt, files)


@contextmanager
def translate_errors(name: str, files: Files | None) -> Iterator[None]:
    """DuckDB's errors in words: bad data as InputError; a full disk or memory as what it is."""
    import duckdb

    try:
        yield
    except (duckdb.Error, StreamError, MemoryError) as error:
        message, is_stream = str(error), isinstance(error, StreamError)
        if isinstance(error, duckdb.InterruptException) or (is_stream and "Interrupt" in message):
            raise KeyboardInterrupt from None
        is_memory = isinstance(error, duckdb.OutOfMemoryException | MemoryError)
        is_memory |= is_stream and ("Out of Memory" in message or "could not allocate" in message)
        is_disk = any(words in message for words in ("No space left", "Could not write", "max_temp_directory_size"))
        if is_memory or is_disk:
            kind = OSError if is_disk and (is_stream or not is_memory) else MemoryError
            raise kind(
                f"{name} could not be sorted: {sentence(message)}. The sort needs about 30 bytes for each row in "
                "memory or in temp_directory; temporary files are removed"
            ) from None
        unread = InputError(None, f"{name} cannot be read: {verbatim(sentence(message))}")
        raise unread if files is None else describe(files, message) from None

"""Tables in memory -> rows: pandas, polars, Arrow, and mappings from names to columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..class_sample import sorted_texts
from ..errors import InputError, show
from ..partition import Partition
from . import rules
from .arrays import Codes, as_column, as_weights, check_negatives, is_positive, read_numbers
from .sql_table import Roles, check_name, named_apart, role_word


@dataclass(frozen=True)
class LoadedColumns:
    """The rows of a table in memory, checked: what ``evaluate`` and ``compare`` take."""

    positive: NDArray[np.bool_]
    scores: dict[str, NDArray[Any]]
    weight: NDArray[np.float64] | None = None
    clusters: Codes | None = None
    dropped: int = 0
    understood: tuple[str, ...] = ()
    source_rows: NDArray[np.intp] | None = None  # where some were left out: the numbers, from 0, of those that are here
    segments: Partition | None = None
    batch: Partition | None = None

    def __len__(self) -> int:
        return len(self.positive)

    def only(self, kept: NDArray[np.intp]) -> LoadedColumns:
        """Some of the rows."""
        scores = {model: score[kept] for model, score in self.scores.items()}
        arrays = {"positive": self.positive, "weight": self.weight, "clusters": self.clusters}
        some: dict[str, Any] = {name: None if column is None else column[kept] for name, column in arrays.items()}
        parts = {"segments": self.segments, "batch": self.batch}
        some |= {name: partition and partition.only(kept) for name, partition in parts.items()}
        return replace(self, scores=scores, **some)


class MemoryTable:
    """Columns by name. ``names`` are those of the table as they stand, also where several are called alike."""

    def __init__(self, name: str, names: Sequence[str], get: Callable[[int], Any], native: Any = None) -> None:
        self.name, self.headings, self.get, self.native = name, list(names), get, native
        self.names = named_apart(self.headings)

    def column(self, name: str, role: str) -> Any:
        """A column by its name; raises an error for one that is not there, or that several are called."""
        check_name(self.name, name, role, self.names, self.headings)
        values = self.get(self.names.index(name))
        if not hasattr(values, "__len__") or getattr(values, "shape", None) == ():
            raise InputError(None, f"column {show(name)} is {show(values)}", "give a value for each row")
        return values

    def count_rows(self) -> int:
        """How many rows it has."""
        return len(self.column(self.names[0], "label"))

    def source_row(self, row: int) -> int:
        """The number of a row in the source."""
        return row

    def read(self, names: Sequence[str], role: str) -> Iterator[Any]:
        """Columns as they stand."""
        return (self.column(name, role) for name in names)

    def values_of(self, name: str, most: int) -> list[Any]:
        """Distinct values of a column, in order, at most so many."""
        cells = self.column(name, "label")
        there = taken_cells(cells, np.flatnonzero(~lacking_cells(cells)))
        return sorted_texts(str(cell) for cell in as_column(there, "y_true").tolist())[:most] if len(there) else []

    def refuse(self, error: InputError, column: str) -> InputError:
        """The error, about a column of this table."""
        return error.but(column=column)

    def rows(self, roles: Roles) -> LoadedColumns:
        """The rows that count, by the same rules as everywhere."""
        columns = {(role, name): self.column(name, role_word(role)) for role, name in roles.named}
        if not len(next(iter(columns.values()))):
            raise rules.no_rows(self.name)
        dropped = 0
        if roles.missing == "drop":
            gone = lacking_rows(columns.values())
            if gone.all():
                raise rules.no_rows(self.name, complete=True)
            kept, dropped = np.flatnonzero(~gone), int(gone.sum())
            columns = {key: taken_cells(values, kept) for key, values in columns.items()}
        understood: list[str] = []
        read: dict[tuple[str, str], Any] = {}
        refused: list[InputError] = []
        for (role, name), values in columns.items():
            try:
                if role == "y_true":
                    labels = as_column(values, role)
                    if roles.ignore_case and labels.dtype.kind in "OSU":
                        labels = np.array([rules.fold(cell) for cell in labels.tolist()], object)
                    read[role, name] = is_positive(labels, roles.pos_label)
                    check_negatives(labels, read[role, name], roles.pos_label, roles.neg_label)
                elif role in rules.KEYS:
                    read[role, name] = Partition.of({name: values}, role)
                else:
                    numbers, _, _, notation = read_numbers(values, role, roles.decimal, rounded=roles.rounded)
                    numbers = 0.0 - numbers if role == "y_score" and name in roles.negate else numbers
                    read[role, name] = numbers if role == "y_score" else as_weights(numbers, len(numbers))
                    if notation is not None and notation.name:
                        understood.append(f"{role_word(role)} {show(name)} as {notation.name}")
            except InputError as error:
                refused.append(error.located({role: name}))
        if refused:
            first = min(refused, key=lambda error: error.remedy != rules.FILL_IN)  # what is missing comes first
            if first.remedy == rules.FILL_IN:
                first = first.but(remedy=rules.drop(int(lacking_rows(columns.values()).sum())))
            raise first
        scores = {model: read["y_score", column] for model, column in roles.scores.items()}
        n = len(next(iter(scores.values())))
        for (role, name), values in read.items():
            length = len(values.codes if isinstance(values, Partition) else values)
            if length != n:
                said, argument = f"has {length} rows, others have {n}", "by" if role == "segment" else role
                raise InputError(argument, said, "pass columns of one length", column=name)
        parts = {role: [read[r, name] for r, name in roles.named if r == role] for role in rules.KEYS}
        crossed = {role: Partition.crossed(made) for role, made in parts.items() if made}
        positive = np.ones(n, np.bool_) if roles.label is None else read["y_true", roles.label]
        weight = None if roles.weight is None else read["sample_weight", roles.weight]
        if weight is not None:
            understood += rules.weightless(int(n - np.count_nonzero(weight)), n + dropped)
        clusters, *keys = crossed.get("clusters"), crossed.get("segment"), crossed.get("batch")
        facts = None if clusters is None else clusters.codes, dropped, tuple(understood), None
        rows = LoadedColumns(positive, scores, weight, *facts, *keys)
        return rows if weight is None or weight.all() else rows.only(np.flatnonzero(weight))


def frame_of(source: Any) -> MemoryTable | None:
    """A table in memory; None for what is none. What only promises a table (a lazy frame, a reader) is loaded."""
    if isinstance(source, Mapping):
        return MemoryTable("the table", list(source), lambda k: source[list(source)[k]])
    kind = type(source).__name__
    if not any(is_from(source, library) for library in ("pandas", "polars", "pyarrow")):
        return None
    if is_from(source, "polars") and kind == "LazyFrame":
        source = source.collect()
    elif is_from(source, "pyarrow") and kind == "RecordBatchReader":
        source = source.read_all()
    elif is_from(source, "pyarrow") and hasattr(source, "to_table"):  # a dataset
        source = source.to_table()
    elif is_from(source, "pyarrow") and kind == "RecordBatch":
        import pyarrow

        source = pyarrow.Table.from_batches([source])
    elif not hasattr(source, "columns") or kind == "Index":
        raise no_table(source)
    import narwhals.stable.v1 as nw

    names = list(getattr(source, "column_names", source.columns))

    def column(place: int) -> Any:
        if hasattr(source, "iloc"):
            one = source.iloc[:, [place]]
        else:  # several columns of an Arrow table may be called alike
            one = source.select([place if is_from(source, "pyarrow") else names[place]])
        return nw.from_native(one, eager_only=True)[names[place]].to_native()

    return MemoryTable("the table", names, column, source)


def is_from(source: Any, library: str) -> bool:
    """Whether an object's class comes from a library, without importing it."""
    return any(kind.__module__.partition(".")[0] == library for kind in type(source).__mro__)


def no_table(source: Any) -> InputError:
    """What cannot be read as a table."""
    return InputError(
        None,
        f"a table is a path, a DuckDB relation or connection, a pandas, polars or Arrow table, or a Spark DataFrame, "
        f"not {type(source).__name__}",
        "pass one of these",
    )


def lacking_rows(columns: Iterable[Any]) -> NDArray[np.bool_]:
    """Which rows lack something in one of the columns."""
    return reduce(np.logical_or, map(lacking_cells, columns))


def lacking_cells(values: Any) -> NDArray[np.bool_]:
    """Which cells of a column are missing."""
    values = _cells_of(values)
    if isinstance(values, np.ndarray):
        cells, gone = np.ma.getdata(values), np.ma.getmaskarray(values)
    elif isinstance(values, list | tuple | range):
        cells, gone = np.array(values, dtype=object), np.zeros(len(values), np.bool_)
    else:
        cells, gone = values.to_numpy(), values.is_null().to_numpy()
    if cells.dtype.kind == "f":
        gone = gone | np.isnan(cells)
    elif cells.dtype.kind in "OSU":
        gone = gone | np.array([rules.is_missing(cell) for cell in cells.tolist()], np.bool_)
    return np.asarray(gone, np.bool_)


def taken_cells(values: Any, kept: NDArray[np.intp]) -> Any:
    """Some cells of a column."""
    values = _cells_of(values)
    if isinstance(values, list | tuple | range):
        return [values[k] for k in kept]
    if isinstance(values, np.ndarray):
        return np.ma.getdata(values)[kept]
    return values[kept.tolist()].to_native()


def _cells_of(values: Any) -> Any:
    """A column as a list, a Series of narwhals, or where that knows none (an Arrow array, a tensor) a NumPy array."""
    if isinstance(values, np.ndarray | list | tuple | range):
        return values
    import narwhals.stable.v1 as nw

    try:
        return nw.from_native(values, series_only=True)
    except TypeError:
        return np.asarray(values)

"""Rows divided into parts: segments, batches, clusters, folds. One rule for what a key is, and one order of the parts.

The order is that of the values: ordered categories keep theirs, numbers and dates have theirs, names of months and days
follow the calendar, and in text numbers count as numbers (v1, v2, v10). The same rule serves columns in memory and the
few distinct values that DuckDB or Spark send, so a table has the same parts in the same order whatever reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, changed, different_lengths
from .sources import rules
from .sources.arrays import Codes, as_column

Order = Literal["number", "time", "given", "name"]
CROSS = " × "
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# Whole numbers whose range is at most so many times the rows are numbered without sorting. Chosen by hand: a table of
# counts four times as long as the column still takes less time than a sort of it.
_TABLE = 4


@dataclass(frozen=True, eq=False)
class Partition:
    """The part of each row as a number from 0, and the keys of the parts in their order.

    A key is a value of the column; where several columns are crossed, a tuple of values. ``order`` tells what the parts
    are ordered by: numbers, time, the order that the column itself declares, or names, which have no order of their
    own. ``by`` names the columns.

    >>> days = Partition.of(["2024-05-02", "2024-05-01", "2024-05-02"])
    >>> days.keys, days.codes.tolist(), days.order
    (('2024-05-01', '2024-05-02'), [1, 0, 1], 'time')
    >>> Partition.of(["v10", "v2", "v1"]).keys, Partition.of(["mar", "jan", "feb"]).keys
    (('v1', 'v2', 'v10'), ('jan', 'feb', 'mar'))
    """

    codes: Codes
    keys: tuple[Any, ...]
    order: Order = "name"
    by: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, values: Any, argument: str = "segment", rows: int | None = None, other: str = "y_score", sample: Any = None
    ) -> Partition:
        """The parts that a column makes; a frame, or a mapping from names to columns, crosses its columns.

        ``rows``: how many the column must have, as many as the argument ``other`` has. Of a ``sample`` they are those
        of its input, and the parts those of the rows that it kept.
        """
        if sample is not None:
            partition = cls.of(values, argument, sample.input_rows or len(sample), other)
            return partition if sample.source_rows is None else partition.only(sample.source_rows)
        if isinstance(values, Partition):  # of a table, checked already
            return values
        columns: Mapping[Any, Any]
        if isinstance(values, Mapping):
            columns = values
        elif hasattr(values, "columns") and hasattr(values, "__getitem__"):
            columns = {name: values[name] for name in values.columns}
        else:
            name, unnamed = getattr(values, "name", None), "segment" if argument == "by" else argument
            columns = {name if isinstance(name, str) else unnamed: values}
        if not columns:
            raise InputError(argument, "names no column", "pass at least one")
        return cls.crossed([_of_column(column, rows, argument, other, str(name)) for name, column in columns.items()])

    @classmethod
    def crossed(cls, parts: Sequence[Partition]) -> Partition:
        """Several columns crossed: the parts that have rows, in the order of the first column, then of the next."""
        if len(parts) == 1:
            return parts[0]
        joint = np.zeros(len(parts[0].codes), np.int64)
        for part in parts:
            joint = np.unique(joint * len(part.keys) + part.codes, return_inverse=True)[1]
        firsts = np.unique(joint, return_index=True)[1].tolist()
        keys = tuple(tuple(part.keys[part.codes[row]] for part in parts) for row in firsts)
        names = tuple(name for part in parts for name in part.by)
        return cls(joint.astype(np.intp), keys, order_of(keys) or "name", names)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def names(self) -> tuple[Any, ...]:
        """The parts as tables show them: numbers as numbers, all else in words."""
        return tuple(key if isinstance(key, Real) else label_of(key) for key in self.keys)

    @cached_property
    def rows(self) -> list[NDArray[np.intp]]:
        """The rows of each part."""
        return rows_by(self.codes, len(self))

    def values(self) -> dict[str, list[Any]]:
        """The values of the columns that make the parts, row by row."""
        keys = [key if len(self.by) > 1 else (key,) for key in self.keys]
        return {name: [keys[code][k] for code in self.codes.tolist()] for k, name in enumerate(self.by)}

    def only(self, rows: NDArray[np.intp]) -> Partition:
        """Some of the rows, and the parts that they have."""
        codes = self.codes[rows]
        there = np.flatnonzero(np.bincount(codes, minlength=len(self.keys)))
        if len(there) == len(self.keys):
            return replace(self, codes=codes)
        place = np.zeros(len(self.keys), np.intp)
        place[there] = np.arange(len(there))
        return replace(self, codes=place[codes], keys=tuple(self.keys[k] for k in there.tolist()))


def rows_by(codes: NDArray[Any], parts: int) -> list[NDArray[np.intp]]:
    """The rows that have each of the numbers from 0 to ``parts`` − 1."""
    small = codes.astype(np.uint16) if parts < 2**16 else codes  # which NumPy sorts by their digits
    return np.split(np.argsort(small, kind="stable"), np.cumsum(np.bincount(codes, minlength=parts))[:-1])


@dataclass(frozen=True)
class HashedPartition:
    """The parts of rows that are streamed: a row tells a hash of its key. ``hashes`` are sorted."""

    hashes: NDArray[np.int64]
    codes: Codes

    @classmethod
    def of(cls, hashes: Sequence[int], codes: Any) -> HashedPartition:
        """From the hash and the number of each part."""
        known = np.array(hashes, dtype=np.int64)
        order = np.argsort(known)
        if (np.diff(known[order]) == 0).any():
            raise RuntimeError("two values of a column have the same hash; the sums would be wrong")
        return cls(known[order], np.asarray(codes, dtype=np.intp)[order])

    def __call__(self, hashes: NDArray[np.int64]) -> Codes:
        """The part of each row."""
        # the last digits find nearly all parts in a table, which takes a tenth of the time of halving among the hashes
        at = self._by_digits[hashes & (len(self._by_digits) - 1)]
        others = np.flatnonzero(self.hashes[at] != hashes)
        at[others] = np.minimum(np.searchsorted(self.hashes, hashes[others]), len(self.hashes) - 1)
        if (self.hashes[at[others]] != hashes[others]).any():
            raise changed("the table", "a value came that was not counted")
        return np.asarray(self.codes[at])

    @cached_property
    def _by_digits(self) -> NDArray[np.int32]:
        """Which part has a hash with these last digits; one of those that share them."""
        table = np.zeros(2**16, np.int32)
        table[self.hashes & (len(table) - 1)] = np.arange(len(self.hashes))
        return table


def label_of(key: Any) -> str:
    """A key in words."""
    if isinstance(key, tuple):
        return CROSS.join(map(label_of, key))
    return str(int(key)) if isinstance(key, float) and key.is_integer() else str(key)


def _of_column(values: Any, rows: int | None, argument: str, other: str, name: str) -> Partition:
    if isinstance(values, Partition):
        return values
    categories = _categories(values)
    column = as_column(values, argument) if categories is None else categories[0]
    if rows is not None and len(column) != rows:
        raise different_lengths(argument, len(column), other, rows)
    if categories is not None:
        codes, keys, declared = categories
        for code, cell in enumerate([None, *keys], -1):
            if rules.is_missing(cell) and (codes == code).any():
                raise rules.missing(argument, cell, int(np.argmax(codes == code)))
        if not declared and order_of(keys):
            place = sorted(range(len(keys)), key=lambda k: _sort_key(keys)(keys[k]))
            codes, keys = np.argsort(place)[codes], [keys[k] for k in place]
        whole = Partition(codes, tuple(keys), "given" if declared else order_of(keys) or "name", (name,))
        return whole.only(np.arange(len(codes)))
    kind = column.dtype.kind
    if kind in "iu" and int(column.max()) - int(column.min()) <= _TABLE * len(column):
        low = int(column.min())
        every = tuple(range(low, int(column.max()) + 1))
        return Partition((column - low).astype(np.intp), every, "number", (name,)).only(np.arange(len(column)))
    if kind in "fM" and (gone := np.isnan(column)).any():  # also a date that is none
        raise rules.missing(argument, np.nan if kind == "f" else None, int(np.argmax(gone)))
    if kind in "biufM":
        distinct, codes = np.unique(column, return_inverse=True)
        order: Order = "time" if kind == "M" else "number"
        if kind == "M":  # moments as Python has them, as dates where they are days
            days = distinct.astype("datetime64[D]")
            distinct = days if (days == distinct).all() else distinct.astype("datetime64[us]")
        return Partition(codes.astype(np.intp), tuple(distinct.tolist()), order, (name,))
    first: dict[Any, int] = {}
    cells = column.tolist()
    try:
        codes = np.fromiter((first.setdefault(cell, len(first)) for cell in cells), np.intp, len(cells))
    except TypeError:
        raise rules.unusable(argument, "lists or other collections") from None
    for cell, code in first.items():
        if rules.is_missing(cell):
            raise rules.missing(argument, cell, int(np.argmax(codes == code)))
    # bytes are text as a key, a decimal number the float that DuckDB gives where it hands out arrays
    found: list[Any] = [cell.decode("utf-8", "backslashreplace") if isinstance(cell, bytes) else cell for cell in first]
    found = [float(value) if isinstance(value, Decimal) else value for value in found]
    if all(isinstance(value, datetime) and value.tzinfo is None and value.time() == time() for value in found):
        found = [value.date() for value in found]
    keys = sorted(dict.fromkeys(found), key=_sort_key(found))
    numbers = {key: k for k, key in enumerate(keys)}
    codes = np.array([numbers[value] for value in found], np.intp)[codes]
    return Partition(codes, tuple(keys), order_of(keys) or "name", (name,))


def _sort_key(keys: Sequence[Any]) -> Any:
    """What keys are sorted by: their values; names by the calendar; in text, numbers count as numbers."""
    places = _calendar(keys)
    if places is not None:
        return lambda key: (places[key], key)
    if all(isinstance(key, Real) for key in keys):
        return float
    kinds = {type(key) for key in keys}
    if len(kinds) == 1 and not isinstance(keys[0], str):
        try:
            sorted(keys)
        except TypeError:
            return str
        return lambda key: key
    return natural_key


def _calendar(keys: Sequence[Any]) -> dict[str, int] | None:
    """The place of names in the calendar, where all of them are months or all are days of the week."""
    if len(keys) < 2 or not all(isinstance(key, str) for key in keys):
        return None
    words = {key: key.strip().rstrip(".").casefold() for key in keys}
    for names, others in ((_MONTHS, {"sept": 8}), (_DAYS, {})):
        places = {word: k for k, name in enumerate(names) for word in (name[:3], name)} | others
        if all(word in places for word in words.values()):
            return {key: places[word] for key, word in words.items()}
    return None


def order_of(keys: Sequence[Any]) -> Literal["time", "number", ""]:
    """Whether values have an order of their own: in time (dates, months), by number (1, 2; v1, v2), or none.

    Names without numbers have none, nor have numbers of which the year comes last: sorted, they are out of order.

    >>> order_of(["jan", "feb"]), order_of(["v1", "v2"]), order_of(["north", "south"]), order_of(["2024-1", "2024-10"])
    ('time', 'number', '', 'time')
    >>> order_of(["1/2023", "1/2024", "2/2023"])
    ''
    """
    if keys and all(isinstance(key, tuple) for key in keys):
        kinds = [order_of(list(dict.fromkeys(column))) for column in zip(*keys, strict=True)]
        return "" if "" in kinds else "time" if "time" in kinds else "number"
    if all(isinstance(key, date) for key in keys):
        return "time"
    if all(isinstance(key, Real) for key in keys):
        return "number"
    if not all(isinstance(key, str) for key in keys):
        return ""
    if _calendar(keys) is not None:
        return "time"
    if all(natural_key(key)[0] == 0 for key in keys):
        return "number"
    forms = {re.sub(r"\d+", "#", key) for key in keys}
    if len(forms) > 1 or "#" not in forms.pop() or any(re.search(r"\d\D+\d{4}(?!\d)", key) for key in keys):
        return ""
    return "time" if all(re.match(r"\d{4}(?!\d)", key) for key in keys) else "number"


def natural_key(key: Any) -> tuple[Any, ...]:
    """Text with its numbers as numbers.

    >>> sorted(["month 10", "month 2", "-3", "1.5"], key=natural_key)
    ['-3', '1.5', 'month 2', 'month 10']
    """
    text = str(key)
    if re.fullmatch(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*", text):
        return (0, float(text), (), text)
    parts = re.split(r"([0-9]+)", text)
    # digits count by how many there are, then one by one: int() does not take more than some thousand of them; the text
    # itself comes last, so that 1 and 01 have one order wherever they are read
    numbers = (part.lstrip("0") if part.isdigit() and part.isascii() else None for part in parts)
    return (1, 0.0, tuple((-1, p) if d is None else (len(d), d) for p, d in zip(parts, numbers, strict=True)), text)


def _categories(values: Any) -> tuple[Codes, list[Any], bool] | None:
    """Codes and categories of a column of them (pandas, polars), and whether these have an order; else None."""
    if type(values).__name__ == "Categorical" and hasattr(values, "codes"):  # pandas, without a Series around it
        return np.asarray(values.codes, dtype=np.intp), list(values.categories), bool(values.ordered)
    kind = str(getattr(values, "dtype", getattr(values, "type", "")))
    if kind == "category":
        return values.cat.codes.to_numpy().astype(np.intp), list(values.cat.categories), bool(values.cat.ordered)
    if kind.startswith("Enum"):
        physical = values.to_physical().cast(int).fill_null(-1)
        return np.asarray(physical).astype(np.intp), list(values.dtype.categories), True
    return None

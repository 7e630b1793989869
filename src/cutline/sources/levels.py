"""A column that divides rows into segments -> a number for each row, and the segments in their order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, different_lengths
from . import rules
from .arrays import Codes, as_column, check_present

CROSS = " × "
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TABLE = 4  # whole numbers whose range is at most so many times the rows are numbered without sorting


class Levels(NamedTuple):
    """The segment of each row as a number; the segments in order; the names of the columns that make them.

    A segment is a value of the column, or of several columns crossed a tuple of values.
    """

    codes: Codes
    keys: tuple[Any, ...]
    by: tuple[str, ...]
    ordered: bool = False  # the column itself says that its values have an order (ordered categories)

    def only(self, rows: NDArray[np.intp]) -> Levels:
        """The segments of some rows."""
        return renumbered(self.codes[rows], self.keys, self.by, self.ordered)


def label_of(key: Any) -> str:
    """A segment in words.

    >>> label_of("a"), label_of(("a", 2.0))
    ('a', 'a × 2')
    """
    if isinstance(key, tuple):
        return CROSS.join(map(label_of, key))
    return str(int(key)) if isinstance(key, float) and key.is_integer() else str(key)


def as_levels(segment: Any, n: int, argument: str = "segment") -> Levels:
    """The segments that a column makes; a frame, or a mapping from names to columns, crosses its columns.

    Ordered categories keep their order, numbers and dates have theirs, names of months and days follow the calendar,
    and in text numbers count as numbers: ``month 2`` comes before ``month 10``.
    """
    columns: Mapping[Any, Any]
    if isinstance(segment, Mapping):
        columns = segment
    elif hasattr(segment, "columns") and hasattr(segment, "__getitem__"):
        columns = {name: segment[name] for name in segment.columns}
    else:
        name = getattr(segment, "name", None)
        return column_levels(segment, n, argument, name if isinstance(name, str) else argument)
    if not columns:
        raise InputError(argument, "names no column", "pass at least one")
    parts = [column_levels(column, n, argument, str(name)) for name, column in columns.items()]
    return crossed(parts)


def crossed(parts: Sequence[Levels]) -> Levels:
    """Several columns crossed: the segments that have rows, in the order of the first column, then of the next."""
    if len(parts) == 1:
        return parts[0]
    joint = np.zeros(len(parts[0].codes), np.int64)
    for part in parts:
        joint = np.unique(joint * len(part.keys) + part.codes, return_inverse=True)[1]
    firsts = np.unique(joint, return_index=True)[1].tolist()
    keys = tuple(tuple(part.keys[part.codes[row]] for part in parts) for row in firsts)
    return Levels(joint.astype(np.intp), keys, tuple(name for part in parts for name in part.by))


def renumbered(codes: Codes, keys: Sequence[Any], by: tuple[str, ...], ordered: bool = False) -> Levels:
    """Levels without those that no row has."""
    there = np.flatnonzero(np.bincount(codes, minlength=len(keys)))
    if len(there) == len(keys):
        return Levels(codes, tuple(keys), by, ordered)
    place = np.zeros(len(keys), np.intp)
    place[there] = np.arange(len(there))
    return Levels(place[codes], tuple(keys[k] for k in there.tolist()), by, ordered)


def column_levels(values: Any, n: int | None, argument: str, name: str) -> Levels:
    """The levels of one column: of segments, and of batches, which so have one order."""
    if isinstance(values, Levels):  # of a table, checked already
        return values
    ordered = _categories(values)
    if ordered is not None:
        codes, categories, declared = ordered
        _same_length(len(codes), n, argument)
        for code, cell in enumerate([None, *categories], -1):
            if rules.is_missing(cell) and (codes == code).any():
                raise rules.missing(argument, cell, int(np.argmax(codes == code)))
        if not declared and order_of(categories):
            place = sorted(range(len(categories)), key=lambda k: _order(categories)(categories[k]))
            codes, categories = np.argsort(place)[codes], [categories[k] for k in place]
        return renumbered(codes, categories, (name,), declared)
    column = as_column(values, argument)
    _same_length(len(column), n, argument)
    kind = column.dtype.kind
    if kind in "iu" and int(column.max()) - int(column.min()) <= _TABLE * len(column):
        low = int(column.min())
        return renumbered((column - low).astype(np.intp), range(low, int(column.max()) + 1), (name,))
    check_present(column, argument)
    if kind in "biufM":
        found, codes = np.unique(column, return_inverse=True)
        return Levels(codes.astype(np.intp), tuple(_plain(found)), (name,))
    return _of_cells(column.tolist(), argument, name)


def _of_cells(cells: list[Any], argument: str, name: str) -> Levels:
    numbers: dict[Any, int] = {}
    try:
        codes = np.fromiter((numbers.setdefault(cell, len(numbers)) for cell in cells), np.intp, len(cells))
    except TypeError:
        raise rules.unusable(argument, "lists or other collections") from None
    for cell, first in numbers.items():
        if rules.is_missing(cell):
            raise rules.missing(argument, cell, int(np.argmax(codes == first)))
    known = [_text(cell) for cell in numbers]
    keys = sorted(dict.fromkeys(known), key=_order(known))
    place = {key: k for k, key in enumerate(keys)}
    return Levels(np.array([place[key] for key in known], np.intp)[codes], tuple(keys), (name,))


def _order(keys: Sequence[Any]) -> Any:
    """What segments are sorted by: their values; names by the calendar; in text, numbers count as numbers."""
    places = _calendar(keys)
    if places is not None:
        return lambda key: (places[_folded(key)], key)
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


def _folded(key: Any) -> str:
    return str(key).strip().rstrip(".").casefold()


def _calendar(keys: Sequence[Any]) -> dict[str, int] | None:
    """The place of names in the calendar, where all of them are months or all are days of the week."""
    if len(keys) < 2 or not all(isinstance(key, str) for key in keys):
        return None
    for names, others in ((_MONTHS, {"sept": 8}), (_DAYS, {})):
        places = {word: k for k, name in enumerate(names) for word in (name[:3], name)} | others
        if all(_folded(key) in places for key in keys):
            return places
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
    # digits count by how many there are, then one by one: int() refuses more than some thousand of them; the text
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


def _plain(values: NDArray[Any]) -> list[Any]:
    """The values as Python has them; moments as dates where they are days."""
    if values.dtype.kind == "M":
        days = values.astype("datetime64[D]")
        return list((days if (days == values).all() else values.astype("datetime64[us]")).tolist())
    return list(values.tolist())


def _text(cell: Any) -> Any:
    return cell.decode("utf-8", "backslashreplace") if isinstance(cell, bytes) else cell


def _same_length(found: int, n: int | None, argument: str) -> None:
    if n is not None and found != n:
        raise different_lengths(argument, found, "y_score", n)

"""Labels of a table in memory, by the rule that holds for every table: what is positive is read as files are read."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..sample import as_column
from .duckdb_source import listed


def read_labels(values: Any, positive: Any) -> tuple[NDArray[Any], Any]:
    """The labels and which of them is positive, so that the rule for arrays gives what the rule for tables says.

    Numbers are compared as numbers ("2" means 2), booleans with true, false, 1 and 0, everything else as text; the
    words true and false, and decimal numbers, need no word about what is positive.
    """
    column = as_column(values, "y_true")
    kind = column.dtype.kind
    if kind in "OSU":
        cells = column.tolist()
        if any(isinstance(cell, list | dict | np.ndarray | set) for cell in cells):
            raise InputError("y_true holds lists or other collections, which cannot be labels; choose another column")
        if any(cell is None or cell != cell for cell in cells):
            return column, positive  # the missing one is named where arrays are checked
        if all(isinstance(cell, Decimal) for cell in cells):
            column, kind = column.astype(np.float64), "f"
        elif all(isinstance(cell, bool | np.bool_) for cell in cells):
            column, kind = column.astype(np.bool_), "b"
    if positive is None:
        if kind in "OSU" and all(_text(cell).lower() in ("true", "false") for cell in column.tolist()):
            return np.array([_text(cell).lower() == "true" for cell in column.tolist()]), None
        return column, None
    if kind == "b":
        wanted = str(positive).lower()
        if wanted not in ("true", "false", "1", "0"):
            _refuse(column, positive)
        return column, wanted in ("true", "1")
    if kind in "iuf":
        return column, _number(column, positive)
    if kind in "mM":
        column = np.array([str(cell) for cell in as_objects(values, column)], dtype=object)
    chosen = np.array([cell == positive or _text(cell) == _text(positive) for cell in column.tolist()], dtype=np.bool_)
    if not chosen.any() and len(set(column.tolist())) > 1:
        _refuse(column, positive)
    return chosen, None


def as_objects(values: Any, column: NDArray[Any]) -> list[Any]:
    """Dates as Python has them: without the time where there is none."""
    cells = column.astype("datetime64[us]").tolist() if column.dtype.kind == "M" else column.tolist()
    return [cell.date() if _is_day(values) else cell for cell in cells]


def _is_day(values: Any) -> bool:
    kind = str(getattr(values, "dtype", getattr(values, "type", ""))).lower()
    return kind.startswith("date") and not kind.startswith("datetime")


def _number(column: NDArray[Any], positive: Any) -> Any:
    if isinstance(positive, str):
        for kind in (int, float):
            try:
                return kind(positive)
            except ValueError:
                continue
        _refuse(column, positive)
    return positive


def _text(cell: Any) -> str:
    return cell.decode("utf-8", "backslashreplace") if isinstance(cell, bytes) else str(cell)


def _refuse(column: NDArray[Any], positive: Any) -> None:
    values = sorted(set(column.tolist()), key=str)
    raise InputError(f"pos_label={positive!r} is no value of y_true, which holds {listed(values, 6)}")

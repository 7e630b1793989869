"""Columns of a table side by side: numbers as a matrix, classes as text; of all rows, or of those that are complete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from . import rules
from .arrays import read_numbers
from .frames import lacking_cells, taken_cells

if TYPE_CHECKING:
    from .duckdb import DuckTable

_CELLS_AT_ONCE = 15_000_000  # of numbers that are on their way into a matrix


def count_rows(table: DuckTable) -> int:
    """How many rows a table has."""
    return int(table.aggregate(["count(*)"])[0])


def rows_with(table: DuckTable, texts: Sequence[str], numbers: Sequence[str]) -> NDArray[np.intp]:
    """The rows that lack nothing in some columns."""
    words = [f"CAST({table.column(name, 'label').sql} AS VARCHAR)" for name in texts]
    gone = np.zeros(0, np.bool_)
    for cells in (*table.values(words), *table.cells([table.column(name, "score").sql for name in numbers])):
        gone = lacking_cells(cells) | (gone if len(gone) else np.False_)
    if gone.all():
        raise rules.all_missing(table.name)
    return np.flatnonzero(~gone)


def read_texts(table: DuckTable, column: str, kept: NDArray[np.intp] | None = None) -> list[str]:
    """A column as text, as classes are named; of all rows, or of those that are kept."""
    found = table.column(column, "label")
    (cells,) = table.values([f"CAST({found.sql} AS VARCHAR)"])
    cells = cells if kept is None else cells[kept]
    gone = lacking_cells(cells)
    if gone.any():
        raise table.refuse(rules.missing("y_true", None, int(np.argmax(gone))), column)
    return [str(cell) for cell in np.asarray(cells)]


def read_matrix(
    table: DuckTable, columns: Sequence[str], decimal: str | None = None, kept: NDArray[np.intp] | None = None
) -> NDArray[np.float64]:
    """Columns of numbers, side by side; of all rows, or of those that are kept."""
    found = [table.column(name, "score") for name in columns]
    matrix = None
    several = max(20, _CELLS_AT_ONCE // max(count_rows(table), 1)) if len(found) > 20 else len(found)
    parts = (found[first : first + several] for first in range(0, len(found), several))
    read = (cells for part in parts for cells in table.cells([column.sql for column in part]))
    for k, (name, cells) in enumerate(zip(columns, read, strict=True)):
        try:
            numbers, _ = read_numbers(cells if kept is None else taken_cells(cells, kept), "y_score", decimal)
        except InputError as error:
            if kept is not None and isinstance(error.row, int):
                error.row = int(kept[error.row])
            raise error.located({"y_score": name}, table.where) from None
        if matrix is None:
            matrix = np.empty((len(numbers), len(columns)))
        matrix[:, k] = numbers
    assert matrix is not None
    return matrix

"""Rows of a table that a column divides: how they are numbered, and what must be known of each part before the sums."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import changed
from ..sources.tables import Checked, Column, Table
from .stream import Totals


@dataclass(frozen=True)
class Numbering:
    """The number of the part that a row with some key belongs to. ``keys`` are sorted."""

    keys: NDArray[np.int64]
    codes: NDArray[np.intp]

    @classmethod
    def of(cls, keys: Sequence[int], codes: Any) -> Numbering:
        """From the key and the number of each value."""
        found = np.array(keys, dtype=np.int64)
        order = np.argsort(found)
        if (np.diff(found[order]) == 0).any():
            raise RuntimeError("two values of a column have the same hash; the sums would be wrong")
        return cls(found[order], np.asarray(codes, dtype=np.intp)[order])

    def __call__(self, keys: NDArray[np.int64]) -> NDArray[np.intp]:
        """The part of each row."""
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        if (self.keys[at] != keys).any():
            raise changed("the table", "a value came that was not counted")
        return self.codes[at]


def codes_of(numbers: Numbering | None, piece: Mapping[str, NDArray[Any]]) -> NDArray[np.intp] | None:
    """The part of each row of a piece; None where all rows are one."""
    return None if numbers is None else numbers(piece["key"])


def totals_by(
    table: Table,
    checked: Checked,
    model: str,
    columns: Sequence[Column],
    shown: Sequence[str],
    *,
    distinct: bool = True,
) -> tuple[list[int], list[tuple[Any, ...]], list[Totals]]:
    """For each value (or combination of values) of some columns its key, what is shown of it, and its totals.

    One query counts them all. ``distinct``: also how many scores each has.
    """
    sql, score, positive, whole = table.dialect, checked.scores[model], checked.positive, checked.totals[model]
    weight = checked.weight
    pos, neg = ("count(*)" if weight is None else sql.exact_sum(weight, bits) for bits in whole.weight_bits)
    terms = [
        "count(*)",
        f"count(*) FILTER (WHERE {positive})",
        f"{pos} FILTER (WHERE {positive})",
        f"{neg} FILTER (WHERE NOT {positive})",
        f"approx_count_distinct({score})" if distinct else "0",
        f"sum({score}{f' * {weight}' if weight else ''})",
    ]
    found = table.grouped(checked, [sql.key(columns), *shown], terms)
    cells = [row[1 : 1 + len(shown)] for row in found]
    return [int(row[0]) for row in found], cells, [_totals(row[1 + len(shown) :], whole) for row in found]


def _totals(found: Sequence[Any], whole: Totals) -> Totals:
    rows, positives, pos, neg, distinct, total = found
    sides: list[float] = [int(pos or 0), int(neg or 0)]
    if whole.weighted:
        sides = [math.ldexp(float(side), -bits) for side, bits in zip(sides, whole.weight_bits, strict=True)]
    own: dict[str, Any] = {"rows": int(rows), "positives": int(positives), "pos": sides[0], "neg": sides[1]}
    own |= {"dropped": 0, "distinct": int(distinct), "sum": float(total)}
    return replace(whole, **own)  # the ends of all scores hold for each part

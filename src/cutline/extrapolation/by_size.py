"""Results with one estimate for each number of classes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import InputError, show
from ..estimate import Estimate
from ..table import TabularResult, text_table, to_jsonable
from ..validate import check_whole
from .favorability import ComparedByContent
from .notes import FAR, Note

_FAR = 10


@dataclass(frozen=True, eq=False)
class BySize(ComparedByContent, TabularResult):
    """``result[1000]`` is the Estimate among 1,000 classes; ``notes`` say what to keep in mind."""

    rows: tuple[dict[str, Any], ...]
    estimates: Mapping[int, Estimate]
    notes: tuple[Note, ...]

    def __getitem__(self, k: int) -> Estimate:
        if not isinstance(k, int | float | np.integer) or k not in self.estimates:
            raise InputError(
                "k", f"is {show(k)}, which was not asked for", f"asked for were {', '.join(map(str, self.estimates))}"
            )
        return self.estimates[k]

    @property
    def title(self) -> str:
        """What the rows are about, in one line."""
        raise NotImplementedError

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the rows have in common, by name."""
        return MappingProxyType({})

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row for each number of classes."""
        return [dict(row) for row in self.rows]

    def to_json(self) -> str:
        """Rows, notes and what the rows have in common."""
        said = {"notes": [str(note) for note in self.notes], "note_kinds": [note.kind for note in self.notes]}
        return json.dumps(to_jsonable({**self.facts, "predictions": self.to_dicts(), **said}), allow_nan=False)

    def __repr__(self) -> str:
        table = text_table(self.rows, list(self.rows[0]) if self.rows else [], self.title)
        return "\n".join([table, *(f"note: {note}" for note in self.notes)])


def sizes_asked(k: Any, fewest: int = 2, name: str = "k") -> list[int]:
    """Numbers of classes, one or several, as a list: each a whole number, also one written as a float.

    >>> sizes_asked(60.0), sizes_asked(np.array([100, 1000]))
    ([60], [100, 1000])
    """
    if isinstance(k, str | bytes):
        raise InputError(name, f"is {show(k)}", "give whole numbers, such as 1000 or [100, 1000]")
    given = np.ravel(k).tolist() if isinstance(k, np.ndarray) else list(k) if isinstance(k, Iterable) else [k]
    whole = [
        int(size) if isinstance(size, float | np.floating) and float(size).is_integer() else size for size in given
    ]
    found = [check_whole(size, name, fewest) for size in whole]
    if not found:
        raise InputError(name, "is empty", "give one or more whole numbers")
    return list(dict.fromkeys(found))


def far_note(sizes: Iterable[int], seen: int) -> tuple[Note, ...]:
    """A caveat where some number of classes is far beyond those that were seen."""
    most = max(sizes)
    if most <= _FAR * seen:
        return ()
    text = (
        "{k:,} classes are {times:,.0f} times the {seen:,} observed. Beyond ten times, the result depends more on the "
        "method's shape than on the data."
    )
    return (Note(FAR, text, k=most, times=most / seen, seen=seen),)

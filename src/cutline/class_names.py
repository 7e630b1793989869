"""Which classes there are, and which column of a score matrix belongs to which of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, listed
from .sources import rules


@dataclass(frozen=True)
class ClassNames:
    """The classes in their order; ``in_order``: whether it was given or is that of numbers.

    ``columns`` says where the score column of each class stands, if not in this order.
    """

    names: list[Any]
    in_order: bool
    columns: list[int] | None = None


def find_classes(
    y_true: Any,
    score_matrix: Any,
    classes: Sequence[Any] | None,
    labels: Mapping[str, NDArray[Any]],
    columns: int | None,
) -> ClassNames:
    """The classes as they were named, else those of a frame's columns, of a categorical label, or of the labels.

    ``labels`` are the columns of real and predicted classes by argument, ``columns`` the number of score columns.
    """
    headings = _headings(score_matrix)
    if classes is not None and headings is None:
        return ClassNames(list(classes), in_order=True)
    present = _distinct(labels)
    headings = None if headings is None else _classes_of(headings, present)
    if classes is not None:
        return _in_given_order(list(classes), headings, present)
    if headings is not None:
        return ClassNames(headings, in_order=True)
    known = _categories(y_true)
    if known is not None and set(present) <= set(known) and columns in (None, len(known)):
        if columns is not None and known != _sorted(known):
            raise InputError(
                "score_matrix",
                f"has no column names, and the categories of the labels ({listed(known, 6)}) are not sorted",
                "name the class of each column with {classes}",
            )
        return ClassNames(known, in_order=True)
    return ClassNames(_sorted(present), in_order=_are_numbers(present))


def _in_given_order(classes: list[Any], headings: list[Any] | None, present: list[Any]) -> ClassNames:
    """The classes as they were named; a frame whose columns are called so is read by name, not by place."""
    if headings is None or headings == classes or not set(present) <= set(headings):
        return ClassNames(classes, in_order=True)
    if len(headings) != len(classes) or set(headings) != set(classes):
        said = f"has columns for {listed(headings, 6)}, not for the classes {listed(classes, 6)}"
        raise InputError("score_matrix", said, "give it a column for each class")
    return ClassNames(classes, in_order=True, columns=[headings.index(name) for name in classes])


def columns_by_class(
    columns: Sequence[str], labels: Sequence[str], *, all_of_them: bool
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Columns and their classes: by whole names, else by what is left of one common beginning and ending.

    ``all_of_them``: columns of classes that no label names are taken too, if they are written alike.
    """
    known = set(columns)
    if set(labels) <= known:
        kept = list(columns) if all_of_them else [c for c in columns if c in set(labels)]
        return tuple(kept), tuple(kept)
    fitting = class_affixes(columns, labels)
    if len(fitting) != 1:
        return None
    before, after = fitting[0]

    def fits(name: str) -> bool:
        return name.startswith(before) and name.endswith(after) and len(name) > len(before) + len(after)

    wanted = {f"{before}{one}{after}" for one in labels}
    chosen = [c for c in columns if (fits(c) if all_of_them else c in wanted)]
    return tuple(chosen), tuple(c[len(before) : len(c) - len(after)] for c in chosen)


def class_affixes(columns: Sequence[str], labels: Sequence[str]) -> list[tuple[str, str]]:
    """Beginnings and endings with which every label is a column: ``("p_", "")`` for p_cat and p_dog."""
    known, found = set(columns), set()
    first = max(labels, key=len)
    for column in columns:
        start = column.find(first)
        while start >= 0:
            found.add((column[:start], column[start + len(first) :]))
            start = column.find(first, start + 1)
    return sorted((a, b) for a, b in found if all(f"{a}{one}{b}" in known for one in labels))


def unordered(classes: Sequence[Any]) -> InputError:
    """A measure reads the order of classes that nobody has said."""
    said = f"the classes are only known in the order of the alphabet ({listed(classes, 6)}), but their order counts"
    return InputError(None, said, "name all of them in their order with {classes}")


def sorted_texts(texts: Iterable[str]) -> list[str]:
    """Classes read as text, each once: by value where all are numbers, else by the alphabet."""
    found = sorted(set(texts))
    return sorted(found, key=float) if are_numbers(found) else found


def are_numbers(texts: Iterable[str]) -> bool:
    """Whether every text is a number."""
    try:
        return all(float(text) == float(text) for text in set(texts))
    except ValueError:
        return False


def _headings(score_matrix: Any) -> list[Any] | None:
    """The names of a frame's columns; an Arrow table calls them otherwise."""
    named = (getattr(score_matrix, attribute, None) for attribute in ("column_names", "columns"))
    return next((list(names) for names in named if names is not None and not callable(names)), None)


def _classes_of(headings: list[Any], present: list[Any]) -> list[Any] | None:
    """The classes that column names stand for: as they are, or without one common beginning and ending.

    None where columns are only numbered but the classes are not.
    """
    if headings == list(range(len(headings))) and not _are_numbers(present):
        return None
    if set(present) <= set(headings):
        return headings
    texts = {str(value): value for value in present}
    found = columns_by_class([str(name) for name in headings], list(texts), all_of_them=True)
    if found is None or len(found[1]) != len(headings):
        return headings
    whole = all(isinstance(value, int) for value in present)
    return [texts.get(name, int(name) if whole and name.isdigit() else name) for name in found[1]]


def _categories(values: Any) -> list[Any] | None:
    """The categories of a pandas or polars column that has them in an order of its own."""
    kind: Any = getattr(values, "dtype", None)
    if type(kind).__name__ not in ("CategoricalDtype", "Enum"):
        return None
    return list(kind.categories)


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, int | float) for value in values)


def _distinct(columns: Mapping[str, NDArray[Any]]) -> list[Any]:
    if all(column.dtype.kind in "biu" for column in columns.values()):
        return [value.item() for value in np.unique(np.concatenate(list(columns.values())))]
    present: set[Any] = set()
    for argument, column in columns.items():
        values = column.tolist()
        try:
            distinct = set(values)
        except TypeError:
            raise InputError(argument, "holds values that cannot be class labels", "pass text or numbers") from None
        if any(value is None or value != value for value in distinct):
            row = next(k for k, value in enumerate(values) if value is None or value != value)
            raise rules.missing(argument, values[row], row)
        present |= distinct
    return list(present)


def _sorted(values: Iterable[Any]) -> list[Any]:
    return sorted(values, key=lambda v: (str(type(v)), v))

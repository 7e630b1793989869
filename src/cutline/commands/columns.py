"""Which column is meant: the label, the scores, the weight; what can be meant only one way need not be said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.duckdb_source import listed, quoted
from ..errors import InputError
from .output import note
from .reading import Source

_MOST_CLASSES = 20  # a column with more values is rather an identifier or a score
_TEXT_LABELS = ({"0", "1"}, {"-1", "1"})  # numbers that a file keeps as text


@dataclass(frozen=True)
class Columns:
    """Names of the columns that a command reads."""

    label: str
    scores: tuple[str, ...]
    weight: str | None


def choose_columns(
    source: Source,
    label: str | None,
    scores: Sequence[str],
    weight: str | None,
    *,
    several: bool = False,
    load: bool = True,
) -> Columns:
    """The columns that were named, and those that can only be meant; says which it took, and reads them."""
    if not source.has_header:
        note(f"note: {source.name} has no header; its columns are called {listed(source.columns)}")
    if weight is not None:
        source.check(weight, "weight")
    twice = next((name for name in scores if list(scores).count(name) > 1), None)
    if twice is not None:
        raise InputError(f"--score {twice} is given twice; name each model once")
    named = [column for pattern in scores for column in source.matching(pattern)]
    for column in named:
        source.check(column, "score")
    if label is None:
        label = _only_label(source, taken={*named, *([weight] if weight else [])})
        note(f"label: column {label!r}")
    else:
        source.check(label, "label")
        if label in scores:
            raise InputError(f"{source.name}: column {label!r} is the label; name another column with --score")
        named = [column for column in named if column != label]  # a pattern such as * covers the label too
    if not named:
        named = score_columns(source, taken={label, *([weight] if weight else [])}, several=several)
        note(f"score: column{'s' if len(named) > 1 else ''} {listed(named)}")
    if load:
        source.load([label, *named, *([weight] if weight else [])])
    return Columns(label, tuple(dict.fromkeys(named)), weight)


def _only_label(source: Source, taken: set[str]) -> str:
    """The one column with two values: true/false, 0/1, −1/+1, or two words."""
    free = [column for column in source.columns if column not in taken]
    if not free:
        raise InputError(f"{source.name} has no column left for the label; it has {listed(source.columns)}")
    tests = []
    for column in free:
        name = quoted(column)
        if source.is_number(column):
            tests.append(f"bool_and({name} IN (0, 1)) OR bool_and({name} IN (-1, 1))")
        else:
            tests.append(f"approx_count_distinct({name}) <= 3")  # approximate: the exact count follows for the few
    row = source.query(", ".join(tests)).fetchone()
    found = [
        column
        for column, possible in zip(free, row, strict=True)
        if possible and (source.is_number(column) or len(label_values(source, column)) == 2)
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError(
            f"{source.name} has no column with two values that could be the label; say which it is with --label "
            f"(columns: {listed(source.columns)})"
        )
    raise InputError(f"{source.name}: several columns could be the label: {listed(found)}; say which with --label")


def score_columns(source: Source, taken: set[str], *, several: bool, comparable: bool = True) -> list[str]:
    """The one column of numbers that can be the score (all of them for a comparison)."""
    free = [column for column in source.columns if column not in taken]
    found = [c for c in free if source.is_fraction(c)] or [c for c in free if source.is_whole(c)]
    if not found:
        raise InputError(f"{source.name} has no column of numbers that could be the score; say which with --score")
    if several and len(found) < 2:
        raise InputError(
            f"{source.name} has only one column that could be a score, {found[0]!r}; a comparison needs two: "
            "name them with --score"
        )
    if not several and len(found) > 1:
        instead = ", or compare them with: cutline compare" if comparable else ""
        raise InputError(
            f"{source.name}: several columns could be the score: {listed(found)}; say which with --score{instead}"
        )
    return found


def label_values(source: Source, column: str, most: int = 6) -> list[Any]:
    """Distinct values of a column, in order, at most ``most`` of them."""
    name = quoted(column)
    rows = source.query(f"DISTINCT {name}", rest=f"WHERE {name} IS NOT NULL ORDER BY 1 LIMIT {most}").fetchall()
    return [row[0] for row in rows]


def read_labels(source: Source, column: str, positive: str | None) -> NDArray[Any]:
    """The label as booleans or numbers that say by themselves what is positive."""
    name, kind = quoted(column), source.types[column]
    if positive is None:
        if kind == "BOOLEAN" or source.is_number(column):
            if kind == "BOOLEAN":
                return source.complete(source.query(f"{name} AS v").fetchnumpy()["v"], column, "label")
            values = source.numbers(column, "label")
            if _says_itself(values):
                return values
        elif _is_true_false(source, column):
            values = source.query(f"lower({name}) = 'true' AS v").fetchnumpy()["v"]
            return source.complete(values, column, "label")
        elif set(label_values(source, column)) in _TEXT_LABELS:
            return source.numbers(column, "label")
        _refuse(source, column)
    if source.is_number(column):
        if not re.fullmatch(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", positive or ""):
            raise InputError(
                f"{source.name}: --positive {positive} is no value of column {column!r}, which holds "
                f"{listed(label_values(source, column))}"
            )
        values = source.query(f"{name} = ?::DOUBLE AS v", parameters=[positive]).fetchnumpy()["v"]
    else:
        source.check_quotes(label_values(source, column))  # else '"yes' would count as negative without a word
        values = source.query(f"{name}::VARCHAR = ? AS v", parameters=[positive]).fetchnumpy()["v"]
    values = source.complete(values, column, "label")
    if not values.any():
        found = label_values(source, column)
        if len(found) > 1:  # one value alone may be the negative one of a file without positives
            raise InputError(
                f"{source.name}: --positive {positive} is no value of column {column!r}, which holds {listed(found)}"
            )
    return values


def _is_true_false(source: Source, column: str) -> bool:
    """Whether a text column holds the words true and false and nothing else."""
    found = label_values(source, column)
    return bool(found) and {str(value).lower() for value in found} <= {"true", "false"}


def _says_itself(values: NDArray[Any]) -> bool:
    low, high = values.min(), values.max()
    if low >= 0 and high <= 1:
        return bool(np.isin((low, high), (0, 1)).all() and np.array_equal(values, values.astype(bool)))
    return bool(low == -1 and high in (-1, 1) and (np.abs(values) == 1).all())


def _refuse(source: Source, column: str) -> None:
    found = label_values(source, column)
    if not found:
        raise InputError(f"{source.name}: column {column!r} is empty; it cannot be the label")
    source.check_quotes(found)
    example = found[-1]
    if len(found) > 5:
        (count,) = source.query(f"count(DISTINCT {quoted(column)})").fetchone()
        if count > _MOST_CLASSES:
            raise InputError(
                f"{source.name}: column {column!r} holds {count:,} different values ({listed(found[:3])}, …), too many "
                "for a label; name another column with --label, or one value with --positive"
            )
        found = label_values(source, column, count)
    if len(found) > 2:
        raise InputError(
            f"{source.name}: column {column!r} holds more than two labels ({listed(found, 5)}); say which one is "
            f"positive, e.g. --positive {example}, or give a score for each class, e.g. --score 'p_*'"
        )
    raise InputError(
        f"{source.name}: column {column!r} holds {' and '.join(map(repr, found))}; say which one is positive, "
        f"e.g. --positive {example}"
    )


def class_names(pattern: str, columns: Sequence[str]) -> list[str]:
    """The class that each column of a pattern stands for: what the wildcard stands for (``p_*``: p_cat → cat)."""
    expression = re.escape(pattern).replace(r"\*", "(.*)").replace(r"\?", "(.)")
    names = []
    for column in columns:
        match = re.fullmatch(expression, column)
        names.append("".join(match.groups()) if match else column)
    return names

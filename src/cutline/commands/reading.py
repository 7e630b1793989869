"""A file and its columns, as a command is asked for them: opened once, chosen in the open, read by the one rule."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, listed, show
from .output import note

if TYPE_CHECKING:
    from ..sources.duckdb import DuckTable
    from ..sources.frames import Rows

_FEW_COLUMNS, _FEW_ROWS = 50, 200_000  # where columns that were not named are looked at, too
TEXT = ("delimiter", "quote", "decimal", "encoding")
VALUES = ("positive", "negative", "rest_negative")


@dataclass(frozen=True)
class Columns:
    """Names of the columns that a command reads."""

    label: str
    scores: tuple[str, ...]
    weight: str | None


@contextmanager
def opened(
    file: str, asked: Mapping[str, Any] | None = None, machine: Mapping[str, Any] | None = None
) -> Iterator[DuckTable]:
    """Open a file by its name, ``-`` for standard input; ``asked`` says how it is written, as far as the user knows."""
    from ..sources.duckdb import Machine, open_table
    from ..sources.files import TextFormat

    text = TextFormat(*((asked or {}).get(option) for option in TEXT))
    with open_table(file, None, Machine(**(machine or {})), text) as table:
        yield table


def choose_columns(
    table: DuckTable,
    label: str | None,
    scores: Sequence[str],
    weight: str | None,
    *,
    several: bool = False,
    besides: Mapping[str, str] = MappingProxyType({}),
) -> Columns:
    """The columns that were named, and those that can only be meant; says which it took.

    ``besides``: columns that have another role, which it names, and cannot be meant.
    """
    from ..sources.columns import find_label, find_scores, matching, profiles

    twice = next((name for name in scores if list(scores).count(name) > 1), None)
    if twice is not None:
        raise InputError("score", f"names {show(twice)} twice", "name each model once")
    if weight is not None:
        table.column(weight, "weight")
    for name, role in besides.items():
        table.column(name, role)
    named = [column for pattern in scores for column in matching(table, pattern)]
    for column in named:
        table.column(column, "score")
    if label is not None:
        table.column(label, "label")
        if label in scores:
            raise InputError(
                None, f"{table.name}: column {show(label)} is the label", "name another column with {score}"
            )
        named = [column for column in named if column != label]  # a pattern such as * covers the label too
    if label is None or not named:
        taken = {*named, *([weight] if weight else []), *([label] if label else []), *besides}
        free = profiles(table, [column.name for column in table.columns if column.name not in taken])
        if label is None:
            label = find_label(table, free)
            note(f"label: column {label!r}")
            free = [profile for profile in free if profile.name != label]
        if not named:
            named = find_scores(table, free, several=several)
            note(f"score: column{'s' if len(named) > 1 else ''} {listed(named)}")
    return Columns(label, tuple(dict.fromkeys(named)), weight)


def one_score(table: DuckTable, score: str | None) -> str:
    """The one score column of a command that reads no label."""
    from ..sources.columns import find_scores, matching, profiles

    if score is None:
        score = find_scores(table, profiles(table), several=False, comparable=False)[0]
        note(f"score: column {score!r}")
        return score
    found = matching(table, score)
    if len(found) > 1:
        raise InputError(None, f"{table.name}: {score} means {listed(found)}", "name one of them with {score}")
    return found[0]


def load(
    table: DuckTable,
    label: str | None,
    scores: Sequence[str],
    weight: str | None,
    asked: Mapping[str, Any],
    *,
    quiet: bool = False,
) -> Rows:
    """The rows in memory; says what was understood of the file, and how many rows were left out."""
    from ..sources.tables import Roles, check

    positive, missing, decimal = (asked.get(key) for key in ("positive", "missing", "decimal"))
    columns = {column: column for column in scores}
    by, keys = tuple(asked.get("by") or ()), keys_of(asked)
    named: dict[str, Any] = {"clusters": keys.get("clusters"), "batch": keys.get("batch"), "by": by}
    named |= {"pos_label": positive, "neg_label": negatives_of(asked) if label is not None else None}
    roles = Roles(label, columns, weight, missing=missing or "error", decimal=decimal, **named)
    rows = table.load(check(table, roles))
    if quiet:
        return rows
    say_understood("; ".join(rows.understood))
    say_dropped(rows.dropped, len(rows))
    return rows


def known_labels(
    table: DuckTable, label: str, score: str, asked: Mapping[str, Any], rows: int
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """The labels that are there, nan elsewhere; and how they are written."""
    known = load(table, label, [score], None, {**asked, "missing": "drop"}, quiet=True)
    labels = np.full(rows, np.nan)
    labels[np.arange(rows) if known.source_rows is None else known.source_rows] = known.positive
    return labels, known.understood


@dataclass(frozen=True)
class Loaded:
    """The rows that a command acts on: the table they came from, its columns, and what to say of them."""

    table: DuckTable
    columns: Columns
    rows: Rows
    facts: dict[str, Any]

    @property
    def score(self) -> str:
        """The name of the one score."""
        return self.columns.scores[0]

    @property
    def arrays(self) -> tuple[Any, Any]:
        """Labels and the one score, as the functions on arrays take them."""
        return self.rows.positive, self.rows.scores[self.score]


def load_one_score(file: str, asked: dict[str, Any]) -> Loaded:
    """The rows of one score, as ``load_models`` gives them. Says what looks wrong with them."""
    score = asked.pop("score")
    found = load_models(file, asked, [score] if score else [], one=True)
    say_if_suspicious(found.rows)
    return found


def load_models(
    file: str, asked: dict[str, Any], scores: Sequence[str], *, several: bool = True, one: bool = False
) -> Loaded:
    """The rows of some scores; takes what says where they stand, and what they are, out of ``asked``.

    ``several``: where none is named, all columns that can be scores; ``one``: a pattern may mean but one column.
    """
    reading = {key: asked.pop(key) for key in ("missing", *TEXT)}
    label, weight = asked.pop("label"), asked.pop("weight", None)
    keys = {key: asked.pop(key, None) for key in (*VALUES, "batch", "cluster")}
    with opened(file, reading) as table:
        named = [one_score(table, score) for score in scores] if one else scores
        columns = choose_columns(table, label, named, weight, several=several and not one, besides=roles_of(keys))
        rows = load(table, columns.label, columns.scores, weight, {**reading, **keys})
        if one:
            say_if_long(table, columns.label, columns.scores, weight)
    return Loaded(table, columns, rows, facts_of(file, columns, keys, rows.dropped))


def facts_of(file: str, columns: Columns, asked: Mapping[str, Any], dropped: int | None = 0) -> dict[str, Any]:
    """Which file and which of its columns a result is about, as the options say it."""
    facts = {"file": file, "label": columns.label, "positive": asked["positive"]}
    facts["negative"] = ", ".join(asked.get("negative") or ()) or ("all others" if asked.get("rest_negative") else None)
    facts["score"] = ", ".join(columns.scores)
    more = {"weight": columns.weight, "batch": asked.get("batch"), "cluster": asked.get("cluster")}
    more["dropped"] = dropped or None
    return {key: value for key, value in {**facts, **more}.items() if value is not None}


def negatives_of(asked: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The labels that count as negative, as ``Roles`` takes them: a file may hold "unknown" or a row of totals."""
    named = tuple(asked.get("negative") or ())
    if asked.get("rest_negative") and (named or asked.get("positive") is None):
        said = "counts all labels but the positive one as negative"
        raise InputError("neg_label=None", said, "name that one with {pos_label}, and leave {neg_label} out")
    return None if asked.get("rest_negative") else named


def keys_of(asked: Mapping[str, Any]) -> dict[str, str]:
    """The columns that tell batches and clusters, by the library's names, as far as they were given."""
    named = {"batch": asked.get("batch"), "clusters": asked.get("cluster")}
    return {key: column for key, column in named.items() if column is not None}


def roles_of(asked: Mapping[str, Any]) -> dict[str, str]:
    """What the columns of segments, batches and clusters are there for, as far as they were given."""
    named = {"batch": asked.get("batch"), "cluster": asked.get("cluster")}
    roles = {column: role for role, column in named.items() if column is not None}
    return {**dict.fromkeys(asked.get("by", ()), "segment"), **roles}


def say_understood(words: str) -> None:
    """What was understood of a file that is not plain, in one line."""
    if words:
        note(f"detected: {words}")


def say_dropped(dropped: int, left: int) -> None:
    """How many rows lack something and are left out."""
    if dropped:
        note(f"note: {dropped:,} of {dropped + left:,} rows have missing values and are left out")


def say_if_suspicious(rows: Rows) -> None:
    """What looks wrong with the scores, where a command acts on them and does not report on them."""
    from ..evaluation import evaluate, notices_of
    from .terms import COMMAND_LINE

    for name, score in rows.scores.items():
        ev = evaluate(rows.positive, score, name=name, sample_weight=rows.weight, measures=["roc_auc"])
        for sentence in notices_of([ev], COMMAND_LINE):
            note(f"note: {sentence}")


def say_if_long(table: DuckTable, label: str | None, scores: Sequence[str], weight: str | None = None) -> None:
    """Say so where rows are of case and model: together they are no model, and no independent rows."""
    from ..sources.columns import case_and_model, label_candidates, profiles

    taken = (label, *scores, weight)
    others = [
        column.name for column in table.columns if column.name not in taken and column.kind in ("text", "integer")
    ]
    if not 2 <= len(others) <= _FEW_COLUMNS or table.aggregate(["count(*)"])[0] > _FEW_ROWS:
        return
    known = profiles(table, others, exact=True)
    found = case_and_model(table, known, label_candidates(table, known) if label is None else [label])
    if found is not None:
        case, model = found
        note(
            f"note: each case ({show(case)}) has a row for each model ({show(model)}), taken here as one; "
            f"to compare the models: cutline compare … --case {shlex.quote(case)} --model {shlex.quote(model)}"
        )


def complete_rows(
    table: DuckTable, texts: Sequence[str], numbers: Sequence[str], asked: Mapping[str, Any], *, quiet: bool = False
) -> NDArray[np.intp] | None:
    """The rows that lack nothing in some columns, with ``--missing drop``; None for all of them."""
    from ..sources.matrices import count_rows, rows_with

    kept = rows_with(table, texts, numbers) if asked.get("missing") == "drop" else None
    if kept is not None and not quiet:
        say_dropped(count_rows(table) - len(kept), len(kept))
    return kept

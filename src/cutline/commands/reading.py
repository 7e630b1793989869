"""A file and its columns, as a command is asked for them: opened once, chosen in the open, read by the one rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click
import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, listed, show
from .options import COUNTS, TABLE, Arguments
from .output import note

if TYPE_CHECKING:
    from ..sources.duckdb import DuckTable
    from ..sources.frames import LoadedColumns


class Columns(NamedTuple):
    """Names of the columns that a command reads."""

    label: str
    scores: tuple[str, ...]


@contextmanager
def opened(asked: Arguments, file: str | None = None) -> Iterator[Any]:
    """Open the file, or another one that is written alike; ``-`` is standard input."""
    from ..sources.duckdb import Machine
    from ..sources.file_formats import TextFormat
    from ..sources.open_source import open_source

    context = click.get_current_context(silent=True)
    of_this_file = {} if file is not None else asked.named("where", "sheet", "skip_rows")
    text = TextFormat(**asked.named("delimiter", "quote", "decimal", "encoding"), **of_this_file)
    machine = Machine(**asked.named("memory_limit", "threads", "temp_directory"))
    with open_source(file or asked.file, None, machine, text) as table:
        if context is not None and file is None:
            context.meta[TABLE] = table.name
        yield table


def choose_columns(table: DuckTable, asked: Arguments, scores: Sequence[str], *, several: bool = False) -> Columns:
    """The columns that were named, and those that can only be meant; prints which it took.

    Of many files, all must be named.
    """
    from ..sources.profiles import find_label, find_scores, matching, profiles

    if table.files is not None and len(table.files.files) > 1:
        if asked.label is None or not scores:
            problem = f"{table.name} is read from many files"
            raise InputError(None, problem, "name its columns with {label} and {score}")
        return Columns(asked.label, tuple(dict.fromkeys(scores)))
    counts = asked.named(*COUNTS)
    if counts:
        raise InputError(next(iter(counts)), "names counts, and this needs rows", "leave it out")
    twice = next((name for name in scores if list(scores).count(name) > 1), None)
    if twice is not None:
        raise InputError("score", f"names {show(twice)} twice", "name each model once")
    roles = dict.fromkeys(asked.by, "segment")  # columns that have another role cannot be meant
    own = ("weight", "worth", "batch", "cluster", "cost", "value")
    roles |= {name: role for role in own if isinstance(name := getattr(asked, role, None), str)}
    for name, role in roles.items():
        table.column(name, role)
    named = [name for pattern in scores for name in matching(table, pattern)]
    for name in named:
        table.column(name, "score")
    label = asked.label
    if label is not None:
        table.column(label, "label")
        if label in scores:
            raise InputError(None, f"{table.name}: column {show(label)} is the label", "name another with {score}")
        named = [name for name in named if name != label]  # a pattern such as * covers the label too
    if label is None or not named:
        taken = {*named, *roles, label}
        free = profiles(table, [column.name for column in table.columns if column.name not in taken])
        if label is None:
            label = find_label(table, free)
            note(f"label: column {label!r}")
            free = [profile for profile in free if profile.name != label]
        if not named:
            named = find_scores(table, free, several=several)
            note(f"score: column{'s' if len(named) > 1 else ''} {listed(named)}")
    if "*" in asked.negate:  # no column was named
        asked.negate = tuple(named)
    for name in dict.fromkeys(asked.negate):
        note(f"the sign of {name!r} is changed, also in thresholds: score > -3 means {name} < 3")
    return Columns(label, tuple(dict.fromkeys(named)))


def one_score(table: DuckTable, score: str | None, taken: Sequence[str | None] = ()) -> str:
    """The one score column of a command that reads no label; one that is ``taken`` for something else is not meant."""
    from ..sources.profiles import find_scores, matching, profiles

    if score is None:
        free = [profile for profile in profiles(table) if profile.name not in taken]
        score = find_scores(table, free, several=False, comparable=False)[0]
        note(f"score: column {score!r}")
        return score
    columns = matching(table, score)
    if len(columns) > 1:
        raise InputError(None, f"{table.name}: {score} means {listed(columns)}", "name one of them with {score}")
    return columns[0]


def load(table: DuckTable, asked: Arguments, label: str | None, scores: Sequence[str]) -> LoadedColumns:
    """The rows in memory; prints what was understood of the file, and how many rows were left out."""
    from ..sources.open_source import rows_of
    from ..sources.sql_table import Roles

    how: dict[str, Any] = {"by": asked.by, "batch": asked.batch, "missing": asked.missing or "error"}
    how |= {"negate": asked.negate, "ignore_case": bool(asked.ignore_case)}
    how |= {"neg_label": negative_labels(asked)} if label is not None else {}
    names = {column: column for column in scores}
    roles = Roles(label, names, asked.weight, asked.cluster, asked.pos_label, decimal=asked.decimal, **how)
    rows = cast("LoadedColumns", rows_of(table, roles, False))
    say_read("; ".join(rows.understood), rows.dropped, len(rows))
    return rows


@dataclass(frozen=True)
class Loaded:
    """The rows that a command acts on, their columns, and what to say of them."""

    columns: Columns
    rows: LoadedColumns
    facts: dict[str, Any]
    amounts: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def score(self) -> str:
        """The name of the one score."""
        return self.columns.scores[0]

    @property
    def arrays(self) -> tuple[Any, Any]:
        """Labels and the one score, as the functions on arrays take them."""
        return self.rows.positive, self.rows.scores[self.score]


class NamedCounts(NamedTuple):
    """The columns of a file of counts, None where it describes them itself; what its score is called; what to say."""

    columns: Any
    score: str
    facts: dict[str, Any]


def counts_named(table: Any, asked: Arguments) -> NamedCounts | None:
    """The columns of counts that were named, or that the file describes; None where the file has rows."""
    from ..sources import rules
    from ..sources.counts import CountColumns, describe_counts

    given = asked.named(*COUNTS)
    if not given:
        described = None if asked.label is not None else describe_counts(table)
        if described is None:
            return None
        named = {"score": ",".join(asked.scores) or asked.score, "by": ",".join(asked.by)}
        for name, value in (named | asked.named("batch", "worth")).items():
            if value and value != described.get(name):
                raise InputError(name, f"is {show(value)}, which these counts do not have", "leave it out")
        note(f"counts of a query: {described['label']} by {described['score']}")
        facts = {key: value.replace("\n", ", ") for key, value in described.items()}
        return NamedCounts(None, described["score"], {"file": asked.file, **facts})
    if asked.cluster is not None:
        raise InputError("clusters", rules.NO_CLUSTERS, "leave it out")
    for name in asked.named("label", "weight"):
        raise InputError(name, "does not go with counts", "leave it out")
    score = next(iter(asked.scores), asked.score)  # of several models, that of the first
    given |= {"batch": asked.batch, "by": asked.by, "worth": asked.worth}
    columns = CountColumns(score, **{**dict.fromkeys(COUNTS), **given})
    return NamedCounts(columns, score or "score", {"file": asked.file, **columns.numbers})


def load_models(
    asked: Arguments, scores: Sequence[str] | None = None, *, several: bool = True, amounts: Sequence[str] = ()
) -> Loaded:
    """The rows of some scores; ``several``: where none is named, all columns that can be scores.

    Without ``scores`` those of the one score. ``amounts``: columns of numbers besides.
    """
    from ..sources.counts import merged, read_counts

    with opened(asked) as table:
        alone = scores is None
        counted = counts_named(table, asked) if alone else None
        if counted is not None:
            if amounts:
                raise InputError(None, f"{show(amounts[0])} names amounts, which counts lack", "give a number")
            how: dict[str, Any] = {"missing": asked.missing or "error", "decimal": asked.decimal}
            counts = merged([read_counts(table, counted.columns, **how)])
            say_read(counts.words, counts.dropped, counts.cases)
            if counts.has_buckets:
                note("note: scores inside a bucket are not known, so a cut lies between two buckets")
            rows = counts.whole.rows("top")
            rows = replace(rows, scores={counted.score: rows.scores["score"]})
            return Loaded(Columns("", (counted.score,)), rows, counted.facts)
        if scores is None:
            scores, several = [one_score(table, asked.score)] if asked.score else [], False
        columns = choose_columns(table, asked, scores, several=several)
        rows = load(table, asked, columns.label, [*columns.scores, *amounts])
        of_rows = {name: rows.scores[name] for name in amounts}
        rows = replace(rows, scores={name: rows.scores[name] for name in columns.scores})
    facts = facts_of(asked, columns) | ({"dropped": rows.dropped} if rows.dropped else {})
    return Loaded(columns, rows, facts, of_rows)


def facts_of(asked: Arguments, columns: Columns) -> dict[str, Any]:
    """Which file and which of its columns a result is about, as the options say it."""
    facts = {
        "file": asked.file,
        "label": columns.label,
        "positive": ", ".join(asked.positive) or None,
        "negative": ", ".join(asked.negative) or ("all others" if asked.rest_negative else None),
        "score": ", ".join(columns.scores),
        **asked.named("weight", "worth"),
        "cost": cost if isinstance(cost := getattr(asked, "cost", None), str) else None,
        **asked.named("batch", "cluster"),
        "by": ", ".join(asked.by) or None,
        **asked.named("where", "sheet", "skip_rows"),
        "negate": ", ".join(asked.negate) or None,
    }
    return {key: value for key, value in facts.items() if value is not None}


def negative_labels(asked: Arguments) -> tuple[str, ...] | None:
    """The labels that count as negative, as ``Roles`` takes them: a file may contain "unknown" or a row of totals."""
    if asked.rest_negative and (asked.negative or not asked.positive):
        problem = "counts all labels but the positive one as negative"
        raise InputError("neg_label=None", problem, "name that one with {pos_label}, and leave {neg_label} out")
    return None if asked.rest_negative else asked.negative


def say_read(understood: str, dropped: int | None = 0, left: int = 0) -> None:
    """What was understood of a file that is not plain, in one line; how many rows lack something and are left out."""
    if understood:
        note(f"detected: {understood}")
    if dropped:
        note(f"note: {dropped:,} of {dropped + left:,} rows have missing values and are left out")


def complete_rows(
    table: DuckTable, asked: Arguments, texts: Sequence[str], numbers: Sequence[str], *, quiet: bool = False
) -> NDArray[np.intp] | None:
    """The rows that lack nothing in some columns, with ``--missing drop``; None for all of them."""
    from ..sources.class_matrix import rows_with

    complete = rows_with(table, texts, numbers) if asked.missing == "drop" else None
    if complete is not None and not quiet:
        say_read("", table.count_rows() - len(complete), len(complete))
    return complete

"""Results -> standard output and files: formats for people and for programs, written whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import importlib.util
import io
import itertools
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import click

from ..errors import InputError, how_to_install, listed
from ..runtime import is_stream
from ..table import Section, format_value, text_table, to_jsonable

if TYPE_CHECKING:
    from rich.table import Table as RuledTable

Row = Mapping[str, Any]
QUIET = "cutline.quiet"  # where a context keeps that messages are not wanted
# Control characters (but for line break and tab), lone surrogates, and what turns the direction of writing.
_TURNING = r"\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_STEERING = re.compile(rf"[\x00-\x08\x0b-\x1f{_TURNING}]")
_STEERING_IN_LINE = re.compile(rf"[\x00-\x1f{_TURNING}]")
_PROSE = ("note", "reading", "title", "same_as", "models", "lead")  # columns of words, wrapped between them
_SPARE = ("method", "note", "same_as", "range")  # columns that a narrow terminal does without, in this order


def clean(text: str, *, in_line: bool = False) -> str:
    r"""Text without signs that steer a terminal, whatever the names in it hold; ``in_line``: no line breaks either.

    >>> clean("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return (_STEERING_IN_LINE if in_line else _STEERING).sub(
        lambda m: f"\\x{ord(m[0]):02x}" if ord(m[0]) < 256 else f"\\u{ord(m[0]):04x}", text
    )


def note(message: str) -> None:
    """A message for people, on standard error; none with --quiet."""
    context = click.get_current_context(silent=True)
    if context is None or not context.meta.get(QUIET):
        click.echo(clean(message), err=True)


def say(text: str = "") -> None:
    """A line of the result for people, on standard output."""
    click.echo(clean(text))


def emit(text: str) -> None:
    """A result for programs, on standard output: as it stands, unless somebody looks at it on a terminal."""
    click.echo(clean(text) if sys.stdout.isatty() else text, color=True)  # without "color" click drops escape sequences


def as_json(content: Any) -> str:
    """A document for programs; signs that steer a terminal are written by their numbers, which JSON allows."""
    text = json.dumps(to_jsonable(content), indent=2, ensure_ascii=False)
    return _STEERING.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def check_outputs(inputs: Mapping[str, str], outputs: Mapping[str, str]) -> None:
    """Refuse outputs that cannot be written, that the same command reads, or that are one file.

    Both map an option, or the name of an argument, to the path given there; an input may be a pattern or ``-``.
    """
    for option, path in outputs.items():
        _check_writable(path, option)
    goals: list[tuple[str, str | int]] = [("standard output", 1), *outputs.items()]
    read = [(option, name) for option, path in inputs.items() for name in _files_read(path)]
    for k, (option, goal) in enumerate(goals):
        where = f"{option} {goal}" if k else option
        for source, name in read:
            if _one_file(goal, name):
                raise InputError(None, f"that file is an input ({source})", "give another name", where=where)
        for other, name in goals[int(isinstance(goal, str) and is_stream(goal)) : k]:  # /dev/stdout is meant to be that
            if _one_file(goal, name):
                raise InputError(None, f"that file is written by {other}, too", "give another name", where=where)


def _files_read(path: str) -> list[Any]:
    """The files of an input. Spark's patterns and addresses are told roughly: rather one file too many."""
    from ..sources.file_formats import files_meant

    if path == "-":
        return [0]
    path = path if os.path.exists(path) else re.sub(r"^file:(//)?", "", path)
    return files_meant(path) or files_meant(re.sub(r"\{[^{}]*\}", "*", path))


def _one_file(goal: str | int, other: str | int) -> bool:
    """Whether two names or descriptors mean one file, through links and in any case, or the first lies in the other.

    Devices and pipes are none: what is written there overwrites nothing.
    """
    real = [os.path.realpath(name) for name in (goal, other) if isinstance(name, str)]
    if len(real) == 2 and os.path.isdir(real[1]):
        return real[0].startswith(real[1] + os.sep)
    found = []
    for name in (goal, other):
        with contextlib.suppress(OSError, ValueError):
            # a path through a folder that is not there cannot be opened, but is written where it leads
            found.append(os.stat(name if isinstance(name, int) or os.path.exists(name) else os.path.realpath(name)))
    if found:
        return len(found) == 2 and os.path.samestat(*found) and stat.S_ISREG(found[0].st_mode)
    return len(real) == 2 and real[0].casefold() == real[1].casefold()  # neither is there yet


def _check_writable(path: str, option: str) -> None:
    """Refuse a path that cannot be written."""

    def refuse(problem: str, remedy: str = "give another name") -> NoReturn:
        raise InputError(None, problem, remedy, where=f"{option} {path}")

    if not path or "\0" in path:
        refuse("that is not the name of a file")
    folder, there = os.path.dirname(os.path.realpath(path)), os.path.exists(path)
    if os.path.isdir(path):
        refuse("that is a folder", "give the name of a file")
    if is_stream(path):
        if not os.access(path, os.W_OK):
            refuse("it cannot be written to")
        return
    if not os.path.isdir(folder):
        refuse("its folder does not exist", "create it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        refuse("its folder cannot be written to")
    if there and not os.access(path, os.W_OK):
        refuse("that file exists and cannot be overwritten")


def check_extra(extra: str, *modules: str) -> None:
    """Refuse what needs a library that is not installed, before anything is computed."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(None, f"this needs {' and '.join(missing)}: {how_to_install(extra)}")


def check_plot(plot: str | None, kind: str | None = None) -> None:
    """Refuse a picture that cannot be drawn, before anything is computed."""
    if plot is None:
        if kind is not None:
            raise InputError("plot_kind", "needs a file to draw into", "add --plot PATH")
        return
    check_extra("plot", "matplotlib")
    from ..present.plots import check_kind, picture_format

    picture_format(plot)
    if kind is not None:
        check_kind(kind)


def settings_line(**facts: Any) -> str:
    """What makes a result again, in one line."""
    from .. import __version__

    return f"cutline {__version__} · " + " · ".join(f"{key} {_short(value)}" for key, value in facts.items())


def _short(value: Any) -> str:
    """A fact for people: not every one of a hundred columns."""
    if isinstance(value, list):
        return listed(value, 4)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)


def print_table(rows: Sequence[Row], columns: Sequence[str], *, title: str = "", section: str = "") -> None:
    """A table: coloured and ruled on a terminal, plain where it is piped. ``section`` names the column that groups."""
    if not rows:
        return
    rows = [{key: clean(v, in_line=True) if isinstance(v, str) else v for key, v in row.items()} for row in rows]
    rows = [{clean(key, in_line=True): value for key, value in row.items()} for row in rows]
    columns = [clean(column, in_line=True) for column in columns]
    if not sys.stdout.isatty():
        say(text_table(rows, columns, title))
        return
    from rich.console import Console

    console = Console()
    shown, fits = _fitting(rows, columns, console.width)
    if not fits:  # no table of whole words fits: the terminal wraps whole lines
        say(text_table(rows, shown, title))
        return
    console.print(_ruled(rows, shown, title, section))
    left_out = [column for column in columns if column not in shown]
    if left_out:
        say(f"({' and '.join(left_out)} left out: the terminal is narrow; --format markdown shows all)")


def _fitting(rows: Sequence[Row], columns: Sequence[str], width: int) -> tuple[list[str], bool]:
    """The columns to show in this width, and whether they fit without breaking a word."""

    def needed(*, wrapped: bool) -> int:
        total = 0
        for column in shown:
            cells = [column, *(format_value(row.get(column)) for row in rows)]
            parts = [part for cell in cells for part in (cell.split() if wrapped and column in _PROSE else [cell])]
            total += max(map(len, parts), default=0) + 3  # a blank at each side and one between
        return total - 1

    shown = list(columns)
    for spare in (None, *_SPARE):
        if spare in shown and len(shown) > 2:
            shown.remove(spare)
        if needed(wrapped=False) <= width:
            return shown, True
    if needed(wrapped=True) > width and "family" in shown and len(shown) > 2:
        shown.remove("family")  # the lines between the families stay
    return shown, needed(wrapped=True) <= width


def _ruled(rows: Sequence[Row], columns: Sequence[str], title: str, section: str) -> RuledTable:
    """The table for a terminal; only prose is wrapped."""
    from rich import box
    from rich.table import Table as RuledTable
    from rich.text import Text

    numeric = {c for c in columns if all(isinstance(r.get(c), int | float) or r.get(c) is None for r in rows)}
    right = numeric | {c for c in columns if c in ("value", "interval")}
    table = RuledTable(
        title=title or None, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False
    )
    for column in columns:
        justify: Literal["right", "left"] = "right" if column in right else "left"
        table.add_column(Text(column), justify=justify, overflow="fold", no_wrap=column not in _PROSE)
    before: Any = None
    for row in rows:
        here = row.get(section) if section else None
        if section and here != before and before is not None:
            table.add_section()
        cells = [format_value(row.get(c)) if not (section and c == section and here == before) else "" for c in columns]
        styles = {"↑": "green", "↓": "yellow"}
        table.add_row(*(Text(cell, style=styles.get(cell, "")) for cell in cells))
        before = here
    return table


def as_csv(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """Rows as CSV; an undefined value is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(["" if (v := to_jsonable(row.get(c))) is None else v for c in columns])
    return text.getvalue()


@dataclass(frozen=True)
class Report:
    """A result in every form: a document and rows for programs, sections for people, a page, a picture.

    ``facts`` say what the result is about, in the document and behind the tables; ``settings`` how it was made.
    ``document``, ``rows``, ``sections`` and ``draw`` are given where the result's own are not what is wanted; ``more``
    is said by the command. The document begins with what the first section says.
    """

    result: Any
    facts: Mapping[str, Any]
    settings: Mapping[str, Any]
    document: Callable[[], Mapping[str, Any]] | None = None
    rows: Callable[[], Sequence[Row]] | None = None
    sections: Callable[[], Iterable[Section]] | None = None
    more: Sequence[Section] = ()
    page: Callable[[str], None] | None = None
    draw: Callable[[str, str | None], None] | None = None
    status: int = 0

    def publish(self, form: str, *, html: str | None = None, plot: str | None = None, kind: str | None = None) -> None:
        """Write the page and the picture, print the result in one of the formats, and what makes it again."""
        from ..present.render import as_markdown, readable

        if html is not None and self.page is not None:
            self.page(html)
            note(f"page: {html}")
        if plot is not None:
            from ..present.plots import write_picture

            self.draw(plot, kind) if self.draw is not None else write_picture(self.result, plot, kind)
            note(f"picture: {plot}")
        settings = settings_line(**{**self.facts, **self.settings})
        if form == "csv":
            rows = (self.rows or self.result.to_dicts)()
            emit(as_csv(rows, list(rows[0])).rstrip("\n"))
            note(settings)
            return
        sections = itertools.chain((self.sections or self.result.sections)(), self.more)
        if form == "json":
            from .. import __version__

            content = self.document() if self.document is not None else json.loads(self.result.to_json())
            emit(as_json({"cutline": __version__, **self.facts, "answer": next(sections).sentences, **content}))
            return
        if form == "markdown":
            say(as_markdown(sections))
        else:
            for k, part in enumerate(readable(sections)):
                if k:
                    say()
                if isinstance(part, str):
                    say(part)
                else:
                    print_table(part, part.columns, title=part.title, section=part.group)
        say(f"\n{settings}")

"""Results -> standard output and files: formats for people and for programs, written whole or not at all."""

from __future__ import annotations

import csv
import importlib.util
import io
import itertools
import json
import os
import shutil
import stat
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError, how_to_install, listed
from ..runtime import is_stream
from ..table import STEERING, Section, clean, to_jsonable

if TYPE_CHECKING:
    from .options import Arguments

Row = Mapping[str, Any]
QUIET = "cutline.quiet"  # where a context keeps that messages are not wanted


def note(message: str) -> None:
    """A message for people, on standard error; none with --quiet."""
    context = click.get_current_context(silent=True)
    if context is None or not context.meta.get(QUIET):
        click.echo(fit(clean(message)), err=True)


def fit(text: str) -> str:
    """A line for standard error: wrapped to the width of a terminal, and one line where it goes elsewhere."""
    if not sys.stderr.isatty():
        return text
    return "\n".join(textwrap.wrap(text, shutil.get_terminal_size().columns, break_on_hyphens=False))


def say(text: str = "") -> None:
    """A line of the result for people, on standard output."""
    click.echo(clean(text))


def emit(text: str) -> None:
    """A result for programs, on standard output: as it stands, unless somebody looks at it on a terminal."""
    click.echo(clean(text) if sys.stdout.isatty() else text, color=True)  # without "color" click drops escape sequences


def as_json(content: Any) -> str:
    """A document for programs; signs that steer a terminal are written by their numbers, which JSON allows."""
    text = json.dumps(to_jsonable(content), indent=2, ensure_ascii=False)
    return STEERING.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def check_outputs(inputs: Mapping[str, str], outputs: Mapping[str, str]) -> None:
    """Raise an error for outputs that cannot be written, that the same command reads, or that are one file.

    Both map an option, or the name of an argument, to the path given there; an input may be a pattern or ``-``.
    """
    from ..sources.file_formats import files_meant

    taken: dict[Any, str] = {None: ""}
    for option, path in inputs.items():
        names: Sequence[str | int] = [0] if path == "-" else files_meant(path)
        taken |= {_identity(name): f"is an input ({option})" for name in names} | {None: ""}
    goals: list[tuple[str, str | int]] = [("standard output", 1), *outputs.items()]
    for option, goal in goals:
        if isinstance(goal, str):
            folder, problem = os.path.dirname(os.path.realpath(goal)), ""
            if not goal or os.path.isdir(goal):
                problem = "that is a folder" if goal else "that is not the name of a file"
            elif not is_stream(goal) and not os.path.isdir(folder):
                problem = f"folder {folder} does not exist"
            elif not os.access(goal if os.path.exists(goal) else folder, os.W_OK):
                problem = "it cannot be written to"
            if problem:
                raise InputError(None, problem, "give another name", where=f"{option} {goal}")
        words = taken.setdefault(_identity(goal), f"is written by {option}, too")
        is_stdout = option == "standard output" or is_stream(str(goal))  # /dev/stdout is meant to be that
        if words and not words.startswith(f"is written by {'standard output' if is_stdout else option}"):
            where = option if isinstance(goal, int) else f"{option} {goal}"
            raise InputError(None, f"that file {words}", "give another name", where=where)


def _identity(name: str | int) -> Any:
    """What tells files apart, through links and in any case; None for devices and pipes, which nothing overwrites."""
    try:
        # a path through a folder that is not there cannot be opened, but is written where it leads
        found = os.stat(name if isinstance(name, int) or os.path.exists(name) else os.path.realpath(name))
    except (OSError, ValueError):
        return str(name) if isinstance(name, int) else os.path.realpath(name).casefold()
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def check_extra(extra: str, *modules: str) -> None:
    """Raise an error for what needs a library that is not installed, before anything is computed."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(None, f"this needs {' and '.join(missing)}: {how_to_install(extra)}")


def settings_line(**facts: Any) -> str:
    """What makes a result again, in one line."""
    from .. import __version__

    def short(value: Any) -> str:
        if isinstance(value, list):  # not every one of a hundred columns
            return listed(value, 4)
        return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)

    return f"cutline {__version__} · " + " · ".join(f"{key} {short(value)}" for key, value in facts.items())


def as_csv(rows: Sequence[Row]) -> str:
    """Rows as CSV, without the last line break; an undefined value is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow(["" if (v := to_jsonable(row.get(c))) is None else v for c in rows[0]])
    return text.getvalue().rstrip("\n")


@dataclass(frozen=True)
class Report:
    """A result in every form: a document and rows for programs, sections for people, a page, a picture.

    ``facts`` are what the result is about, ``settings`` how it was made. ``document``, ``rows``, ``sections`` and
    ``draw`` are given where the result's own are not what is wanted; ``more`` are the options that show more. The
    document begins with the sentences of the first section.
    """

    result: Any
    facts: Mapping[str, Any]
    settings: Mapping[str, Any]
    document: Callable[[], Mapping[str, Any]] | None = None
    rows: Callable[[], Sequence[Row]] | None = None
    sections: Callable[[], Iterable[Section]] | None = None
    more: Sequence[str] = ()
    page: Callable[[str], Any] | None = None
    draw: Callable[[str, str | None], None] | None = None
    status: int = 0

    def publish(self, asked: Arguments) -> None:
        """Write the page and the picture that were asked for, and print the result in its format."""
        from .. import __version__
        from ..present.render import as_markdown, as_text

        if asked.html is not None and self.page is not None:
            self.page(asked.html)
            note(f"page: {asked.html}")
        if asked.plot is not None:
            from ..present.plots import write_picture

            (self.draw or partial(write_picture, self.result))(asked.plot, asked.plot_kind)
            note(f"picture: {asked.plot}")
        if asked.form == "csv":
            emit(as_csv((self.rows or self.result.to_dicts)()))
            note(settings_line(**{**self.facts, **self.settings}))
            return
        sections = iter((self.sections or self.result.sections)())
        if asked.form == "json":
            content = self.document() if self.document is not None else json.loads(self.result.to_json())
            facts = {"cutline": __version__, **self.facts, "answer": next(sections).sentences}
            facts |= {"settings": dict(self.settings)}
            # the result's own answer speaks of arguments, not of options
            emit(as_json({**facts, **{name: value for name, value in content.items() if name != "answer"}}))
            return
        given = {"--all" if name == "everything" else f"--{name}" for name in asked.given}
        more = [words for words in self.more if words.partition(" ")[0] not in given]
        last = [f"More: {' · '.join(more)}"] if more else []
        if asked.everything or asked.form == "markdown":
            last.append(settings_line(**{**self.facts, **self.settings}))
        else:
            seed = f"seed {self.settings['seed']} · " if "seed" in self.settings else ""
            last.append(f"{seed}cutline {__version__} · all settings: --format json")
        show = as_markdown if asked.form == "markdown" else as_text
        say(show(itertools.chain(sections, [Section("more", last)])))

"""Sections in every medium: plain text, Markdown, and HTML for the notebook and for the page."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from importlib import resources
from itertools import groupby
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ..estimate import Estimate
from ..table import Section, Table, format_value, text_table

if TYPE_CHECKING:
    from jinja2 import Template

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_MINUS = re.compile(r"(?<!\w)-(?=\d)")  # which becomes a real minus; the dashes of a date stay
_NUMERIC = re.compile(r"[^a-zA-Z]*(to[^a-zA-Z]*)?")  # "0.2 … 0.4", "12.5%", "3 to 5"


class Marked(str):
    """Text that HTML shows as ``markup``; ``is_number``: a column of such stands to the right."""

    markup: Markup
    is_number = False

    def __html__(self) -> str:
        return self.markup


def explained(name: str, heading: str, facts: Mapping[str, str]) -> Marked:
    """A name with what it means, which HTML folds behind it."""
    cell = Marked(name)
    named = Markup('{} <span class="soft">{}</span>').format(heading, name)
    listed = Markup("").join(Markup("<dt>{}</dt><dd>{}</dd>").format(*fact) for fact in facts.items())
    cell.markup = Markup('<details><summary>{}</summary><dl class="explain">{}</dl></details>').format(named, listed)
    return cell


def shaded(number: str, paint: str, share: float, words: str) -> Marked:
    """A number on a ground (red, green, blue) that is the darker, the larger its share; ``words`` tell what it is."""
    cell = Marked(number)
    cell.is_number = True
    ink = "#fff" if share > 0.6 else "inherit"
    style = f"display:block;padding:0 .4em;background:rgba({paint},{0.95 * share:.3f});color:{ink}"
    cell.markup = Markup('<span style="{}" title="{}">{}</span>').format(style, words, number)
    return cell


# ------------------------------------------------------------------------------------------------- text


def readable(sections: Iterable[Section], width: int | None = None) -> Iterator[str | Table]:
    """What text shows of sections: paragraphs, wrapped to a ``width``, and tables.

    A title stands above sentences; a table has its own.
    """
    for section in sections:
        paragraph = [section.title] if section.title and isinstance(next(iter(section.parts), None), str) else []
        indent = "  " if paragraph else ""
        for part in section.parts:
            if isinstance(part, str):
                # a command is left whole, so that it can be copied
                fits = width is None or len(indent + part) <= width or section.name == "next"
                how: dict[str, Any] = {"initial_indent": indent, "subsequent_indent": indent * 2}
                how["break_on_hyphens"] = False
                paragraph.append(indent + part if fits else textwrap.fill(part, width or 0, **how))
                continue
            if paragraph:
                yield "\n".join(paragraph)
                paragraph, indent = [], ""
            if isinstance(part, Table) and len(part):
                yield part
        if paragraph:
            yield "\n".join(paragraph)


def as_text(sections: Iterable[Section]) -> str:
    """Sections as plain text; on a terminal it fits the width."""
    width = shutil.get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else None
    return "\n\n".join(
        part if isinstance(part, str) else text_table(part, part.columns, part.title, group=part.group, width=width)
        for part in readable(sections, width)
    )


def as_markdown(sections: Iterable[Section]) -> str:
    """Sections as Markdown."""
    parts = (part if isinstance(part, str) else markdown_table(part) for part in readable(sections))
    return re.sub(r"(?m)^\* ", r"\\* ", "\n\n".join(parts))  # a note on a star is no item of a list


def markdown_table(table: Table) -> str:
    """A table as Markdown."""

    def cell(value: Any) -> str:
        return format_value(value).replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")

    lines = [f"**{cell(table.title)}**", ""] if table.title else []
    rows: list[list[Any]] = [table.columns, *([row.get(name) for name in table.columns] for row in table)]
    lines += ["| " + " | ".join(map(cell, row)) + " |" for row in rows]
    lines.insert(-len(table), "|" + "---|" * len(table.columns))
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------- HTML


def as_html(sections: Iterable[Section]) -> str:
    """Sections as a notebook shows them."""
    return template("notebook.html").render(sections=list(sections))


@cache
def asset(name: str) -> str:
    """A file that goes into pages."""
    return (resources.files("cutline.present") / "assets" / name).read_text(encoding="utf-8")


@cache
def template(name: str) -> Template:
    """A template of the package; whatever is filled in and is not markup already is escaped."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    from .charts import colour, dash
    from .figures import draw

    def shown(value: Any) -> Any:
        """Characters that no document may contain become �."""
        if hasattr(value, "__html__"):
            return Markup(_CONTROL.sub("�", value.__html__()))
        return _CONTROL.sub("�", format_value(value))

    made = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=shown,
    )

    def columns(table: Table) -> list[tuple[str, bool]]:
        """Those that are not empty, without the one that groups the rows (a column without a name groups none).

        And whether each has words; the first one always does.
        """
        shown = []
        for name in table.columns:
            values = [row.get(name) for row in table]
            prose = any(isinstance(value, str) and not _NUMERIC.fullmatch(value) for value in values)
            if name != (table.group or None) and (name != "note" or any(values)):
                shown.append((name, prose or name == table.columns[0]))
        return shown

    # parts that are alike and follow each other, with their kind
    in_groups = partial(groupby, key=lambda part: type(part).__name__)
    made.filters |= {"cell": cell, "columns": columns, "in_groups": in_groups, "drawn": draw}
    made.filters |= {"colour": colour, "dashes": lambda k: " ".join(map(str, dash(k))) or "none"}
    return made.get_template(name)


def cell(value: Any) -> Any:
    """A cell: a value with its interval below it, a measure with its explanation, or text."""
    if isinstance(value, Estimate):
        if value.value != value.value:
            return Markup('–<small class="why">{}</small>').format(value.reason)
        within = f"{format_value(value.low)} to {format_value(value.high)}" if value.low == value.low else ""
        return Markup("{} <small>{}</small>").format(format_value(value.value), within)
    if hasattr(value, "__html__") or (isinstance(value, str) and not _NUMERIC.fullmatch(value)):
        return value
    return _MINUS.sub("−", format_value(value))

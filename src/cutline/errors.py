"""What is wrong with input, as facts: the argument, the problem, the remedy, the row and the column.

Each front end renders an ``InputError`` in its own terms: arguments in Python, options on the command line, columns
where a table is read. Nothing is ever looked for in, or replaced in, a finished sentence.
"""

from __future__ import annotations

import ast
import contextlib
import re
import shlex
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .reference import documented

V = TypeVar("V")
_LONGEST = 60  # characters of a value in a message: it stays on one or two lines of a terminal
# {{ and }} stand for braces; {name} and {name=value} for an option as the front end writes it
_FIELD = re.compile(r"\{\{|\}\}|\{([a-z_]+)(?:=((?:[^{}]|\{\{|\}\})*))?\}")
_BRACES = {"{{": "{", "}}": "}"}


def how_to_install(extra: str) -> str:
    """What to type where a library is missing that only an extra brings, from an index and in a checkout."""
    return f"pip install 'cutline[{extra}]' (in a checkout: '.[{extra}]')"


def verbatim(text: str) -> str:
    """Text from elsewhere as a message may carry it: its braces are no fields."""
    return text.replace("{", "{{").replace("}", "}}")


def show(value: Any) -> str:
    """A value from the data as a message may carry it: short, on one line, with braces that are no fields.

    >>> show("yes"), show("{pos_label}"), show("a" * 100)
    ("'yes'", "'{{pos_label}}'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'")
    """
    import numpy as np

    text = repr(value.item() if isinstance(value, np.generic) and hasattr(value, "item") else value)
    text = "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in text)
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 1] + "…" + (text[-1] if text[-1] in "'\"" else "")
    return verbatim(text)


def listed(values: Any, most: int = 8) -> str:
    """Values as a message may list them.

    >>> listed(["a", "b"]), listed(range(9), 3)
    ("'a', 'b'", '0, 1, 2, … (9 in all)')
    """
    values = list(values)
    shown = ", ".join(map(show, values[:most]))
    return f"{shown}, … ({len(values):,} in all)" if len(values) > most else shown


@dataclass(frozen=True)
class Terms:
    """How a front end speaks: what it calls an argument, how an option is written there, where rows start.

    >>> command_line = Terms({"pos_label": "--positive"}, assign="{name} {value}", blank="{name} …", first_row=1)
    >>> print(InputError("y_true", "is 'maybe'", "give {pos_label='yes'}", row=4).render(command_line))
    y_true: row 5 is 'maybe'; give --positive yes

    ``names`` may name an argument with its value, too: ``{"stream=False": "--engine memory"}``.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    assign: str = "{name}={value}"
    blank: str = "{name}=…"
    first_row: int = 0
    row_word: str = "row"

    def option(self, argument: str, value: str | None) -> str:
        """The option as the user would type it; ``value`` is the ``repr`` of what to give it, its braces doubled."""
        value = None if value is None else value.replace("{{", "{").replace("}}", "}")
        if value is not None and (whole := f"{argument}={value}") in self.names:
            return self.names[whole]
        name = self.names.get(argument, argument)
        if value is None:
            return self.blank.replace("{name}", name)
        if not self.assign.startswith("{name}="):
            with contextlib.suppress(ValueError, SyntaxError):
                value = shlex.quote(str(ast.literal_eval(value)))
        return self.assign.replace("{name}", name).replace("{value}", value)

    def fill(self, text: str) -> str:
        """A problem or a remedy with its fields filled in."""
        return _FIELD.sub(lambda m: _BRACES.get(m[0]) or self.option(m[1], m[2]), text)


PYTHON = Terms()


@documented
class InputError(ValueError):
    """Invalid input: which argument, what is wrong with it, what to do about it, and where it is.

    ``problem`` follows the argument, or the row where one is given ("is NaN", "contains three labels"); neither it
    nor ``remedy`` contains the argument's own name. Another option is written as a field, ``{pos_label}`` or
    ``{pos_label='yes'}``, and values from the data pass through ``show``. ``argument`` is ``None`` where the sentence
    is about no argument (a file that is not there); ``problem`` is then the whole sentence.

    ``row`` counts from 0; it is a description where rows have no numbers. ``column`` is the name of a column of a
    table, written in place of the argument; ``where`` names the file or table, its braces doubled, ``model`` the one of
    several models.

    >>> print(InputError("y_score", "is NaN", "drop the row or give it a number", row=3))
    y_score: row 3 is NaN; drop the row or give it a number
    >>> print(InputError("y_score", "is NaN", "drop the row", row=3, column="p", where="a.csv"))
    a.csv: column 'p': data row 4 is NaN; drop the row
    >>> print(InputError("y_true", "contains 'a' and 'b'", "choose the positive one: {pos_label='b'}"))
    y_true contains 'a' and 'b'; choose the positive one: pos_label='b'
    """

    def __init__(
        self,
        argument: str | None,
        problem: str,
        remedy: str = "",
        *,
        row: int | str | None = None,
        column: str | None = None,
        where: str | None = None,
        model: str | None = None,
    ) -> None:
        self.argument, self.problem, self.remedy = argument, problem, remedy
        self.row, self.column, self.where, self.model = row, column, where, model
        super().__init__(argument, problem, remedy)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.argument, self.problem, self.remedy), self.__dict__.copy()

    def __str__(self) -> str:
        return self.render(PYTHON)

    def render(self, terms: Terms) -> str:
        """The error as one sentence, in the terms of a front end."""
        subject = "" if self.argument is None else terms.names.get(self.argument, self.argument)
        if self.column is not None:
            subject = f"column {self.column!r}"
        sentence = terms.fill(self.problem)
        if self.row is not None:
            place = self.row
            if isinstance(place, int):  # from 0 in Python's arrays and frames, from 1 below the header of a file
                in_file = self.where is not None
                place = f"data row {place + 1:,}" if in_file else f"{terms.row_word} {place + terms.first_row}"
            sentence = f"{subject}: {place} {sentence}" if subject else f"{place} {sentence}"
        elif subject:
            sentence = f"{subject} {sentence}"
        if self.model is not None:
            sentence = f"model {self.model!r}: {sentence}"
        if self.where is not None:
            sentence = f"{terms.fill(self.where)}: {sentence}"
        return f"{sentence}; {terms.fill(self.remedy)}" if self.remedy else sentence

    def but(self, **facts: Any) -> InputError:
        """The same error with some of its facts replaced."""
        return InputError(**(self.__dict__ | facts))

    def located(self, columns: Mapping[str, str], where: str | None = None) -> InputError:
        """The same error, in terms of the columns and the file or table that the arguments came from."""
        column = self.column
        if column is None and self.argument is not None:
            column = columns.get(self.argument)
        if where is None or (column is None and self.row is None):
            where = self.where
        return self.but(column=column, where=where)


class NoSuchKey(InputError, KeyError):
    """What is looked up in a mapping is not there; ``get`` gives its default instead."""


def look_up(held: Mapping[Any, V], key: Any, argument: str) -> V:
    """What a mapping contains under a key; raises an error for one that is not there, or that cannot be a key at all.

    >>> look_up({"a": 1}, ["a"], "name")
    Traceback (most recent call last):
    cutline.errors.NoSuchKey: name is ['a']; choose one of 'a'
    """
    try:
        return held[key]
    except (KeyError, TypeError):
        raise NoSuchKey(argument, f"is {show(key)}", f"choose one of {listed(held)}") from None


def different_lengths(argument: str, n: int, other: str, m: int) -> InputError:
    """Columns that do not belong to the same rows."""
    rows = "row" if n == 1 else "rows"
    return InputError(argument, f"has {n} {rows} but {other} has {m}", "pass one value per case")


def changed(name: str, said: str) -> InputError:
    """A source that gave other rows when it was read again."""
    return InputError(None, f"{name} changed while it was read: {said}", "save what is random or still being written")


def warn(message: str, kind: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's own code from which the library was called."""
    depth, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("cutline."):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(PYTHON.fill(message), kind, stacklevel=depth)


class LabelWarning(UserWarning):
    """More than two labels beside an explicit positive one: all the others count as negative."""


class UndefinedWarning(UserWarning):
    """A measure has no value on this sample (0/0, a class is missing); the result is nan."""

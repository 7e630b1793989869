"""The rule for labels and the rule for numbers: what cells mean, and the errors where they mean nothing.

Rows in memory are read by ``arrays``, tables elsewhere by SQL that ``sql`` makes from the same patterns and limits.

Labels. A column of labels is of one of three sorts, wherever it is stored:

========  ===============================================  ==========================  ==============================
sort      cells                                            positive without pos_label  pos_label may be
========  ===============================================  ==========================  ==============================
truth     booleans; the text true or false in any case     true                        True, False, 1, 0, or as text
number    numbers; text in which every cell is a number    1, beside 0 or beside −1    a number, or text that is one
word      everything else: text, dates, mixtures           must be named               the text of the value
========  ===============================================  ==========================  ==============================

Labels that are numbers are finite, and not integers beyond 2⁵³.

Numbers. Scores and weights are numbers, booleans (1 and 0), or text in which every cell is a number. A table's text may
also write all its numbers with a decimal comma, with marks between thousands, or all as per cent. Integers beyond 2⁵³
raise an error, because floats cannot tell them apart, also if text gives them a fraction (9007199254740993.0); so do
cells that are not a number.

Missing. A cell is missing if it is null or NaN, or text for it (empty, NA, N/A, #N/A, NaN, NULL, <NA>, \\N),
whatever its column is for: a label, a number, a segment, a batch or a cluster.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, listed, show

EXACT_INTEGERS = 2**53  # beyond which floats leave whole numbers out
WEIGHTS = (1e-40, 1e40)  # squares of sums of squared places (quadratic_ranking: weight³) must be numbers
LARGEST_SUMMED = 1e100  # of scores whose values add up: squares of sums of 1e50 rows are still numbers
TRUTH, NUMBER, WORD = "truth", "number", "word"
KEYS = ("clusters", "batch", "segment", "by")  # roles whose values only have to be told apart
SPACES = "".join(filter(str.isspace, map(chr, range(0x3001))))  # what str.strip() takes away
# "\N": dumps, "?": ARFF and the UCI repository, ".": SAS and Stata, "#NV": German Excel; "-" may be a label.
MISSING_TEXT = ("", "NA", "N/A", "n/a", "#N/A", "#NV", "NaN", "nan", "NULL", "null", "<NA>", "?", ".", "\\N")

# Patterns for a whole cell, written so that Python, RE2 (DuckDB) and Java (Spark) read them alike. No two parts that
# match the same sign and may be empty stand side by side: a long cell would be tried at each of its signs.
_BLANK = "[ \t]*"
_PERCENT = f"{_BLANK}(%{_BLANK})?"
_EXPONENT = "([eE][+-]?[0-9]+)?"
_INFINITE = "[iI][nN][fF]([iI][nN][iI][tT][yY])?"
# What may lie beyond 2⁵³. Floats have at most 17 digits that count: 100000000000000000000.0 is a float written out.
_LONG_FLOAT = "([0-9]{16,17}|[0-9]{17}0*[1-9][0-9]*)[.,][0-9]*"
LONG_CELL = f"{_BLANK}[+-]?([0-9]{{16,}}|{_LONG_FLOAT}){_BLANK}"
TRUTH_CELL = f"{_BLANK}([tT][rR][uU][eE]|[fF][aA][lL][sS][eE]){_BLANK}"
LABEL_CELL = f"{_BLANK}[+-]?(0|[1-9][0-9]*)([.][0-9]*)?{_EXPONENT}{_BLANK}"  # 01 is a code, not the number 1
POINTS_CELL = f"{_BLANK}[+-]?[1-9][0-9]?[0-9]?([.][0-9][0-9][0-9])+{_PERCENT}"
BY_POINTS_CELL = f"{_BLANK}[+-]?([0-9]|[1-9][0-9]?[0-9]?([.][0-9][0-9][0-9])*){_PERCENT}"
THOUSANDS_CELL = f"{_BLANK}[+-]?[1-9][0-9]?[0-9]?(,[0-9][0-9][0-9])+{_PERCENT}"
_MONEY = "([$€£¥₹]|EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|kr|zł|Kč)"
CURRENCY_CELL = f" *({_MONEY}[ \u00a0]?[+-]?[0-9][0-9., \u00a0]*|[+-]?[0-9][0-9., \u00a0]*{_MONEY} *)"


class Notation(NamedTuple):
    """A way in which text writes numbers; ``thousands`` is the mark between groups of three digits, if there is one."""

    name: str
    cell: str
    decimal: str
    percent: bool
    thousands: str = ""


def _notation(name: str, decimal: str, *, percent: bool = False, mark: str = "") -> Notation:
    """With a mark between thousands 1.073,55 stands beside 729,53: at most 15 digits, which all fit into a float."""
    groups = f"[1-9][0-9]?[0-9]?([{mark}][0-9][0-9][0-9]){{1,4}}"
    whole = f"({groups}|[0-9]{{1,15}})" if mark else "[0-9]+"
    number = f"({whole}([{decimal}][0-9]*)?|[{decimal}][0-9]+)"
    if not mark:
        digits = f"{number}{_EXPONENT}"
        number = f"{digits}{_BLANK}%" if percent else f"({digits}|{_INFINITE})"
    return Notation(name, f"{_BLANK}[+-]?{number}{_BLANK}", decimal, percent, mark)


PLAIN = _notation("", ".")
NOTATIONS = (
    PLAIN,
    _notation("decimal comma", ","),
    _notation("percent", ".", percent=True),
    _notation("percent, decimal comma", ",", percent=True),
    _notation("decimal comma, points between thousands", ",", mark="."),
    _notation("commas between thousands", ".", mark=","),
)
NOTATION_CELLS = tuple(notation.cell for notation in NOTATIONS)
_CELLS = (LABEL_CELL, TRUTH_CELL, LONG_CELL, THOUSANDS_CELL, POINTS_CELL, BY_POINTS_CELL, CURRENCY_CELL)
_WHOLE = {pattern: re.compile(pattern) for pattern in (*_CELLS, *NOTATION_CELLS)}


def matches(pattern: str, cell: str) -> bool:
    """Whether a pattern describes a whole cell."""
    return _WHOLE[pattern].fullmatch(cell) is not None


def find_notation(
    argument: str, cells: Mapping[int, str], rows: Sequence[int] | None, decimal: str | None, *, plain: bool
) -> Notation | None:
    """The notation in which every cell is a number; None if all are true or false.

    ``rows``: how many rows each cell stands for. ``plain`` allows no notation but that of Python. Where no notation
    fits, the cells that are no number in the one that most are written in are the wrong ones.
    """
    counts = [1] * len(cells) if rows is None else rows

    def failing(notation: Notation) -> int:
        return sum(n for text, n in zip(cells.values(), counts, strict=True) if not matches(notation.cell, text))

    allowed = NOTATIONS[:1] if plain else [n for n in NOTATIONS if decimal in (None, n.decimal)]
    fits = next((notation for notation in allowed if failing(notation) == 0), None)
    if fits is None and all(matches(TRUTH_CELL, text) for text in cells.values()):
        return None
    if fits is None:
        nearest = min(allowed, key=failing)
        row, wrong = next((row, text) for row, text in cells.items() if not matches(nearest.cell, text))
        raise bad_cell("text" if plain else "cell", argument, row, wrong)
    if decimal is None and not plain:
        mark, texts = fits.decimal, list(cells.values())
        swapped = next((n for n in NOTATIONS if n.thousands and n.thousands == mark and fits.thousands), None)
        if swapped is not None:  # the notation that swaps both marks: text that fits both is ambiguous
            unclear = failing(swapped) == 0
        elif mark == ",":  # or every comma, or every point among short whole numbers, could separate thousands
            unclear = all(matches(THOUSANDS_CELL, text) for text in texts if "," in text)
        else:
            points = [matches(POINTS_CELL, text) for text in texts]
            unclear = any(points) and not all(points) and all(matches(BY_POINTS_CELL, text) for text in texts)
        if unclear:
            name, other = ("commas", ".") if mark == "," else ("points", ",")
            by_groups = any(n.decimal == other and failing(n) == 0 for n in NOTATIONS)
            remedy = f"write {{decimal={mark!r}}} if they are decimal {name}"
            remedy += f", {{decimal={other!r}}} if they separate thousands" if by_groups else "; otherwise remove them"
            raise InputError(argument, f"contains {name} that may separate thousands or decimals", remedy)
    return fits


def is_missing(value: Any) -> bool:
    """Whether a value in memory is missing."""
    if isinstance(value, str):
        return value in MISSING_TEXT
    if value is None or type(value).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return True
    return not isinstance(value, np.ndarray) and bool(value != value)


def is_beyond(value: Any) -> bool:
    """Whether a value is an integer that floats cannot tell from its neighbours; text by its digits before the mark."""
    if isinstance(value, str):
        digits = re.split("[.,]", value.strip(" \t").lstrip("+-0"))[0] if matches(LONG_CELL, value) else "0"
        return len(digits) > 16 or int(digits or "0") > EXACT_INTEGERS
    if isinstance(value, Decimal):
        return value.is_finite() and int(value.as_tuple().exponent) >= 0 and abs(value) > EXACT_INTEGERS
    return isinstance(value, int | np.integer) and abs(int(value)) > EXACT_INTEGERS


def as_text(value: Any) -> str:
    """A value as the text by which words are compared."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def wanted_truth(pos_label: Any) -> bool | None:
    """Which truth a label means; None where it means neither."""
    text = as_text(pos_label).strip().lower()
    return {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}.get(text)


def wanted_number(pos_label: Any) -> float | None:
    """The number that a label means; None where it means none, or one that cannot be a label."""
    if is_beyond(pos_label):
        return None
    if isinstance(pos_label, str | bytes):
        text = as_text(pos_label)
        return float(text) if matches(LABEL_CELL, text) else None
    try:
        return float(pos_label)
    except (TypeError, ValueError, OverflowError):
        return None


def plain_value(value: Any) -> Any:
    """A label as messages show it: 1 rather than 1.0 or Decimal('1'), a day as the text that names it."""
    if isinstance(value, str) and matches(LABEL_CELL, value):
        value = float(value)
    if isinstance(value, float | Decimal) and not isinstance(value, bool):
        return int(value) if math.isfinite(value) and value == int(value) else float(value)
    return value if isinstance(value, str | bool | int | float | np.generic) else as_text(value)


# --- what is said -----------------------------------------------------------------------------------------------------

NO_CLUSTERS = "needs rows: counts do not show which cases belong together"
FILL_IN = "drop the row or fill in a value"
NO_CURRENCY = "remove the currency sign from its cells (in a spreadsheet, choose a plain number format)"
NO_WEIGHT = "sample_weight", "is zero in every row, so no case is left", "give at least one case a positive weight"


def missing(argument: str, value: Any, row: int | str | None, remedy: str = FILL_IN) -> InputError:
    """A row without a value; text that stands for a missing value is shown."""
    said = "has a missing value"
    if isinstance(value, str) and value:
        said = f"is {show(value)}, which stands for a missing value"
    elif isinstance(value, float) and value != value:
        said = "is NaN"
    return InputError(argument, said, remedy, row=row)


def drop(n: int) -> str:
    """What to do about rows that lack something, where a table is read."""
    return f"fill it in, or leave such rows ({n:,} in all) out with {{missing='drop'}}"


# What may be wrong with a cell, and what to do about it.
_BAD_CELLS = {
    "text": ("is {value}, which is not a number", "correct it or drop the row"),
    "cell": ("is {value}, which is not a number", "correct it, or empty the cell and add {missing='drop'}"),
    "beyond": ("is an integer beyond 2^53, which cannot be represented exactly as a float", "rescale the column"),
    "infinite": ("is infinite, which cannot be a label", "correct it or drop the row"),
    "nearly": (
        "is {value}, which differs from the positive label only in case or spaces",
        "spell it the same in every row, or join such labels with {ignore_case=True}",
    ),
    "unlisted": (
        "is {value}, which is neither the positive nor a negative label",
        "name it with {neg_label}, too, or leave such rows out",
    ),
}


def bad_cell(what: str, argument: str, row: int | str | None, value: Any = None) -> InputError:
    """A cell that its column cannot have."""
    problem, remedy = _BAD_CELLS[what]
    text = value if what in ("text", "cell") and isinstance(value, str) else ""
    if "," in text and matches(NOTATIONS[1].cell, text):
        remedy = "write a decimal point, or decimal commas in the whole column"
    elif matches(CURRENCY_CELL, text):
        remedy = NO_CURRENCY
    value = plain_value(value) if what == "unlisted" else value
    return InputError(argument, problem.replace("{value}", show(value)), remedy, row=row)


def unusable(argument: str, kind: str) -> InputError:
    """A column whose type can have no such role."""
    what = "labels" if argument == "y_true" else "single values" if argument in KEYS else "numbers"
    return InputError(argument, f"contains {kind}, not {what}", "choose another column, or convert it first")


def bad_weight(value: float, row: int | str | None) -> InputError:
    """A weight that is negative, infinite, or too large or small to be multiplied."""
    remedy = "a weight must be 0 or between 1e-40 and 1e40"
    why = ", which is negative" if value < 0 else "" if math.isfinite(value) else ", which is not finite"
    return InputError("sample_weight", f"is {float(value):g}{why}", remedy, row=row)


def _first_values(values: list[Any], most: int = 6) -> str:
    return listed(values[:most]) + (", …" if len(values) > most else "")


def unclear_labels(values: Iterable[Any]) -> InputError:
    """Labels that do not show which of them is positive; ``values`` are in order."""
    distinct = list(dict.fromkeys(map(plain_value, values)))
    if len(distinct) > 2:
        alike = len({str(label).strip().casefold() for label in distinct}) == 2
        return InputError(
            "y_true",
            f"contains more than two labels ({_first_values(distinct)})",
            "join those that differ only in case or spaces with {ignore_case=True}, and choose the positive one with "
            "{pos_label}"
            if alike
            else "choose the positive one with {pos_label}, and leave out rows that are neither positive nor negative "
            "(several classes need a score for each)",
        )
    them = " and ".join(map(show, distinct))
    yes = [label for label in distinct if str(label).casefold() in AFFIRMATIVE]
    example = f"{{pos_label={show(yes[0] if len(yes) == 1 else distinct[-1])}}}"
    word = "the labels" if len(distinct) == 2 else "the label"
    return InputError("y_true", f"has {word} {them}", f"choose the positive one, e.g. with {example}")


# Words for yes in some languages: what a label is likely to call positive.
AFFIRMATIVE = ("yes", "y", "true", "t", "positive", "pos", "+", "ja", "j", "oui", "o", "si", "sí", "sì", "sim", "tak")


def as_labels(labels: Any) -> tuple[Any, ...]:
    """One label or several as a tuple, empty where none was named."""
    if labels is None:
        return ()
    several = isinstance(labels, Collection) and not isinstance(labels, str | bytes) and getattr(labels, "ndim", 1) > 0
    return tuple(labels) if several else (labels,)


def negative_labels(labels: Any, pos_label: Any) -> tuple[Any, ...] | None:
    """The labels named as negative, one or several, as a tuple; they go with a positive one."""
    named = as_labels(labels)
    if named and pos_label is None:
        raise InputError("neg_label", "goes with {pos_label}", "name the positive label, too")
    return None if labels is None else named


def fold(label: Any) -> Any:
    """A label that is text in small letters, without white space around it."""
    return label.strip().lower() if isinstance(label, str) else label


def unknown_label(pos_label: Any, values: Iterable[Any]) -> InputError:
    """A positive label that does not occur."""
    distinct = list(dict.fromkeys(map(plain_value, values)))
    label = as_text(pos_label) if isinstance(pos_label, bytes) else pos_label
    problem = f"is {show(label)}, but the labels are {_first_values(distinct)}"
    return InputError("pos_label", problem, "choose one of these")


def no_rows(name: str, *, complete: bool = False) -> InputError:
    """A table without rows, or with none that is ``complete``."""
    if complete:
        return InputError(None, f"every row of {name} lacks a label, a score or a weight", "fill them in")
    return InputError(None, f"{name} has no rows", "give at least one")


def weightless(n: int, rows: int) -> list[str]:
    """The note about rows of weight 0, which do not count."""
    has, does = ("has", "does") if n == 1 else ("have", "do")
    return [f"{n:,} of {rows:,} rows {has} weight 0 and {does} not count"] if n else []

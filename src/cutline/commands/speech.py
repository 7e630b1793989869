"""What the library says of its arguments, in the words of the command line: options, and rows counted from 1."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import InputError

_SAME = ("quota", "level", "cost", "value", "budget", "margin", "threshold", "seed", "wins", "tied", "method")
_OF_TABLES = ("positive", "missing", "threads")
_OPTIONS = {
    "n_resamples": "--resamples",
    "sample_weight": "--weight",
    "n_classes": "--among",
    "fixed_cost": "--fixed-cost",
    "labels": "--label",
    "k": "--classes",
    "memory_limit": "--memory-limit",
    "temp_directory": "--temp-directory",
    **{name: f"--{name}" for name in (*_SAME, *_OF_TABLES)},
}
_ROW = re.compile(r"\brow (\d+)\b")
_SHARE = re.compile(r"\bquota=(0\.\d+) of (\d+) rows is less than one row; ask for at least [\d.e-]+")


@contextmanager
def spoken(file: str = "") -> Iterator[None]:
    """Around a call of the library: what it refuses is said of the options and of the file."""
    try:
        yield
    except InputError as error:
        if not error.plain:  # facts, which the command line renders by itself
            raise error.located({}, file or None) from None
        raise InputError(in_options(str(error), file)) from None


def in_options(message: str, file: str = "") -> str:
    """A message about arguments as one about options.

    >>> in_options("quota=401 must be from 1 to the number of rows, 200")
    '--quota 401 must be from 1 to the number of rows, 200'
    >>> in_options("sample_weight: row 4 is -1", "scores.csv")
    'scores.csv: --weight: data row 5 is -1'
    """
    text = _SHARE.sub(_too_small, message)
    text = text.replace("pass quota=…", "give --quota").replace("interval=False", "--no-intervals")
    names = "|".join(_OPTIONS)
    text = re.sub(rf"(?<![\w('\"-])({names})=", lambda m: f"{_OPTIONS[m[1]]} ", text)
    text = re.sub(rf"^({names})(?=:| must\b)", lambda m: _OPTIONS[m[1]], text)
    never_words = "n_resamples|n_classes|sample_weight|memory_limit|temp_directory"
    text = re.sub(rf"\b({never_words})\b", lambda m: _OPTIONS[m[1]], text)
    rows = _ROW.sub(lambda m: f"data row {int(m[1]) + 1}", text)
    return f"{file}: {rows}" if file and rows != text else rows


def _too_small(match: re.Match[str]) -> str:
    share, rows = 100 * float(match[1]), int(match[2])
    return f"--quota {share:.4g}% of {rows} rows is less than one row; ask for at least {100 / rows:.3g}%"

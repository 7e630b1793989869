"""What is wrong with a file, in one sentence: the line, the value, and what to do; DuckDB's own words only at need."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

_DELIMITERS = ",;\t|"
_TELLING = re.compile(
    r"(Error when converting|Could not convert|Expected Number|Candidate|Current file|Column with name)"
)
_MOST_BYTES = 2**31  # a larger file is not searched line by line for what DuckDB could not read


def describe(path: str, name: str, compressed: bool, kind: str, error: Exception) -> str:
    """A DuckDB error as one sentence about the file."""
    text = kind in ("csv", "tsv")
    return (
        (_cell(name, str(error)) if text else None)
        or (_encoding(path, name, compressed) if text or kind == "json" else None)
        or (unclosed(path, name, compressed) if text else None)
        or (ragged(path, name, compressed) if text else None)
        or f"{name} cannot be read{_as_kind(kind)}: {sentence(str(error))}"
    )


def is_searchable(path: str) -> bool:
    """Whether a file is small enough to be searched for its first bad line."""
    return os.path.isfile(path) and os.path.getsize(path) <= _MOST_BYTES


def ragged(path: str, name: str, compressed: bool) -> str | None:
    """The first line that has more or fewer fields than the header; None where there is none."""
    try:
        with _bytes(path, compressed) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as file:
            delimiter, names = _names(file.readline())
            fields = len(names)
            if fields < 2:
                return None
            reader = csv.reader(file, delimiter=delimiter)
            for row in reader:
                if row and len(row) != fields:
                    line = reader.line_num + 1  # the header is line 1
                    return (
                        f"{name}: line {line} has {_fields(len(row))}, the header {fields}; "
                        "correct the line, or quote what contains the delimiter"
                    )
    except (OSError, UnicodeDecodeError, csv.Error, EOFError):
        return None
    return None


def unclosed(path: str, name: str, compressed: bool) -> str | None:
    """Where a quote opens that is not closed in its own cell; None where none does."""
    try:
        with _bytes(path, compressed) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as file:
            delimiter, _ = _names(file.readline())
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            row, line = 1, 2  # the header is line 1
            try:
                for row, _ in enumerate(reader, 2):  # noqa: B007
                    line = reader.line_num + 2
            except csv.Error:  # the cell ends with the file, in the middle of another one, or is endless
                return (
                    f"{name}: a quote opens in line {line} (data row {row}) and is not closed there, so what follows "
                    "is read as part of it; close it, or remove the sign"
                )
    except (OSError, UnicodeDecodeError, csv.Error, EOFError):
        return None
    return None


def header(path: str, compressed: bool) -> list[str]:
    """The fields of the first line as they stand; empty where it cannot be read."""
    try:
        with _bytes(path, compressed) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as file:
            return _names(file.readline())[1]
    except (OSError, UnicodeDecodeError, csv.Error, EOFError):
        return []


def _names(line: str) -> tuple[str, list[str]]:
    """The delimiter that splits a line into most fields, and these."""
    split = {d: next(csv.reader([line], delimiter=d), []) for d in _DELIMITERS}
    delimiter = max(split, key=lambda d: len(split[d]))
    return delimiter, [name.strip() for name in split[delimiter]]


def _fields(n: int) -> str:
    return f"{n} field" + ("" if n == 1 else "s")


def _cell(name: str, message: str) -> str | None:
    """A cell of another type than the rows before it."""
    line = re.search(r"on Line: (\d+)", message)
    found = re.search(r"Could not convert string \"(.*?)\" to '?(\w+)", message, re.DOTALL)
    column = re.search(r"converting column \"(.*?)\"\.", message)
    if not (line and found and column):
        return None
    what = "not a number" if found[2] in ("DOUBLE", "BIGINT") else f"not the {found[2].lower()} of the lines before"
    return f"{name}: line {int(line[1])}: column {column[1]!r} holds {found[1]!r}, {what}"


def _encoding(path: str, name: str, compressed: bool) -> str | None:
    """Where a file stops being text in UTF-8; None where all of it is."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, before = 1, 0
    try:
        for block in _blocks(path, compressed):
            if b"\0" in block:
                line += block[: block.index(b"\0")].count(b"\n")
                return (
                    f"{name} is not a text file (line {line} holds a zero byte); give CSV, TSV, Parquet or JSON lines"
                )
            kept = len(decoder.getstate()[0])
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:
                at = max(error.start - kept, 0)
                line += block[:at].count(b"\n")
                return (
                    f"{name} is not in UTF-8: line {line} holds the byte 0x{error.object[error.start]:02x} (byte "
                    f"{before + at + 1} of the file); convert it, e.g. with iconv -f latin1 -t utf-8"
                )
            line += block.count(b"\n")
            before += len(block)
    except (OSError, EOFError) as error:
        return f"{name} cannot be unpacked: {error}" if compressed else None
    return None


def _as_kind(kind: str) -> str:
    return {"parquet": " as Parquet", "json": " as JSON"}.get(kind, "")


def sentence(message: str) -> str:
    """The telling lines of a DuckDB message: which line, which column, what was wrong."""
    lines = [line.strip() for line in message.splitlines()]
    first = re.sub(r"^([\w ]+ Error: )+", "", lines[0]) if lines else "unknown format"
    translate_errors = [line for line in lines[1:] if _TELLING.match(line)]
    return "; ".join([first.rstrip(". "), *translate_errors[:2]])


@contextmanager
def _bytes(path: str, compressed: bool) -> Iterator[IO[bytes]]:
    with open(path, "rb") as raw:
        if not compressed:
            yield raw
            return
        with gzip.GzipFile(fileobj=raw) as unpacked:
            yield cast(IO[bytes], unpacked)


def _blocks(path: str, compressed: bool) -> Iterator[bytes]:
    with _bytes(path, compressed) as file:
        while block := file.read(1 << 20):
            yield block

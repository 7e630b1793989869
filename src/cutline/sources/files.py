"""Paths -> files: what kind each is, and one dialect for a text file, found in its evidence or told by the user.

Text is read as it stands, cell by cell: nothing behind this module guesses a delimiter, a quote, a comment sign, a
header, an encoding or a type. What was understood and is not plain is said in a few words.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import glob
import gzip
import io
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import IO, cast

from ..errors import InputError, how_to_install, show, verbatim
from . import rules

KINDS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".xlsx": "excel",
    ".xlsm": "excel",
}
_PACKED = {".gz": "gzip", ".zst": "zstd"}
_DELIMITERS = (",", ";", "\t", "|")
_HEAD = 1 << 20  # bytes from which delimiter, quote and header are read
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_WINDOWS = "Latin-1 (Windows-1252)"


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written, as far as the user has said it."""

    delimiter: str | None = None
    quote: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        for name, sign in (("delimiter", self.delimiter), ("quote", self.quote)):
            if sign is not None and not (isinstance(sign, str) and len(sign) == 1 and sign not in "\r\n\0"):
                raise InputError(name, f"must be a single character, got {show(sign)}")
        if self.decimal not in (None, ".", ","):
            raise InputError("decimal", f"must be '.' or ',', got {show(self.decimal)}")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except (LookupError, TypeError):
                raise InputError(
                    "encoding", f"is {show(self.encoding)}, which is unknown", "give e.g. 'latin-1' or 'utf-16'"
                ) from None

    @property
    def given(self) -> list[str]:
        """Names of what was said."""
        return [name for name, value in vars(self).items() if value is not None]


@dataclass(frozen=True)
class File:
    """One file: where it can be read (a copy, where the original cannot be read twice), and how."""

    shown: str
    path: str
    kind: str
    packed: str
    names: tuple[str, ...] = ()
    delimiter: str = ","
    quote: str = '"'
    has_header: bool = True
    longest: int = 0
    understood: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether it consists of cells of text."""
        return self.kind in ("csv", "tsv")


@dataclass(frozen=True)
class Files:
    """What a path or a pattern means: files of one kind."""

    name: str
    files: tuple[File, ...]
    kind: str
    understood: tuple[str, ...] = field(default=())


def find_files(path: str, text: TextFormat, folder: str) -> Files:
    """The files of a path, a pattern, or of standard input (``-``); ``folder`` takes copies."""
    if path == "-":
        copy = os.path.join(folder, "standard-input")
        with open(copy, "wb") as target:
            shutil.copyfileobj(sys.stdin.buffer, target, 1 << 20)
        return _settled("standard input", [_open_file(copy, "standard input", text, folder, by_name=False)])
    found = files_meant(path)
    if not found:
        raise InputError(None, f"there is no file {show(path)}", "check its name")
    if os.path.isdir(found[0]):
        inside = os.path.join(found[0], "*.parquet")
        raise InputError(None, f"{show(found[0])} is a folder", f"give a file, or a pattern such as {show(inside)}")
    name = os.path.basename(path.rstrip("/")) or path
    files = []
    for k, file in enumerate(found):
        shown, by_name = os.path.basename(file), True
        if not stat.S_ISREG(os.stat(file).st_mode):  # a pipe can be read only once
            copy = os.path.join(folder, f"pipe-{k}")
            with open(file, "rb") as source, open(copy, "wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            file, by_name = copy, kind_of(shown)[0] is not None
        files.append(_open_file(os.path.abspath(file), shown, text, folder, by_name=by_name))
    return _settled(name, files)


def files_meant(path: str) -> list[str]:
    """The files that a path or a pattern means: the file of that name, if there is one, however it is written."""
    found = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
    if not found and path.startswith("~") and (home := os.path.expanduser(path)) != path:
        return files_meant(home)
    return found


def kind_of(name: str) -> tuple[str | None, str]:
    """Kind and packing that the ending of a name says; no kind where it says nothing."""
    stem, ending = os.path.splitext(name.lower())
    packed = _PACKED.get(ending, "")
    if packed:
        ending = os.path.splitext(stem)[1]
    kind = KINDS.get(ending)
    if kind in ("parquet", "excel") and packed:
        raise InputError(None, f"{os.path.basename(name)}: {ending} is compressed inside", "unpack the file first")
    return kind, packed


def _settled(name: str, files: list[File]) -> Files:
    first = files[0]
    for other in files[1:]:
        if (other.kind, other.packed) != (first.kind, first.packed):
            said = f"{name} means files of several kinds, such as {first.shown} and {other.shown}"
            raise InputError(None, said, "give a pattern that means one kind")
        if other.is_text and sorted(other.names) != sorted(first.names):
            said = f"{other.shown} has other columns than {first.shown}"
            raise InputError(None, said, "give files with the same header")
    understood = dict.fromkeys(words for file in files for words in file.understood)
    return Files(name, tuple(files), first.kind, tuple(understood))


def _open_file(path: str, shown: str, text: TextFormat, folder: str, *, by_name: bool) -> File:
    if os.path.getsize(path) == 0:
        raise InputError(None, f"{shown} is empty", "give a file with a header and rows")
    kind, packed = kind_of(shown) if by_name else (None, "")
    if kind is None:
        kind, packed = _kind_by_content(path, packed)
    understood: tuple[str, ...] = ()
    if kind == "excel":
        path, understood = _sheet(path, shown, folder)
        kind, text = "csv", replace(text, delimiter=",", quote='"', encoding="utf-8")
    file = File(shown, path, kind, packed, understood=understood)
    return _with_dialect(file, text, folder) if file.is_text else file


def _sheet(path: str, shown: str, folder: str) -> tuple[str, tuple[str, ...]]:
    """The first sheet of an Excel workbook that is not empty, as text; and which it is, where there are several."""
    try:
        import openpyxl
    except ImportError:
        raise InputError(None, f"{shown}: Excel sheets need openpyxl", how_to_install("excel")) from None
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except Exception as error:  # openpyxl raises what zipfile, XML and its own parts raise
        raise InputError(None, f"{shown} cannot be read as an Excel workbook: {show(str(error))}") from None
    copy = os.path.join(folder, f"sheet-{len(os.listdir(folder))}.csv")
    with contextlib.closing(book), open(copy, "w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target, lineterminator="\n")
        for sheet in book.worksheets:
            rows = [row for row in sheet.iter_rows(values_only=True) if any(cell is not None for cell in row)]
            if rows:
                width = max(k for row in rows for k, cell in enumerate(row) if cell is not None) + 1
                writer.writerows(
                    [("" if cell is None else cell) for cell in (*row, *[None] * width)[:width]] for row in rows
                )
                break
        else:
            raise InputError(None, f"{shown} is empty", "give a file with a header and rows")
        sheets = len(book.worksheets)
        return copy, (f"sheet {show(sheet.title)} of {sheets}",) if sheets > 1 else ()


def _kind_by_content(path: str, packed: str) -> tuple[str, str]:
    """Kind and packing by the first bytes, where the name says nothing."""
    with open(path, "rb") as file:
        start = file.read(1 << 12)
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        return "csv", "zstd"
    if start.startswith(b"\x1f\x8b"):
        packed = "gzip"
        with contextlib.suppress(OSError, EOFError), gzip.open(path) as unpacked:
            start = unpacked.read(1 << 12)
    if start.startswith(b"PAR1"):
        return "parquet", ""
    if start.startswith(b"PK\x03\x04"):
        return "excel", ""
    return ("json", packed) if start.lstrip()[:1] in (b"{", b"[") else ("csv", packed)


# --- the dialect of a text file ---------------------------------------------------------------------------------------


def _with_dialect(file: File, text: TextFormat, folder: str) -> File:
    understood = []
    if file.packed != "zstd":
        encoding, shown = _encoding(file, text.encoding)
        if shown:
            understood.append(f"encoding {shown}")
        if encoding != "utf-8" or _has_mixed_newlines(file):
            file = _recoded(file, encoding, folder)
        head = _head(file)
    elif text.encoding not in (None, "utf-8"):
        raise InputError(None, f"{file.shown} is compressed with zstd, where only UTF-8 is read", "unpack it first")
    else:
        head = _unpacked_head(file)
    quote = text.quote or _quote(head)
    if quote != '"':
        understood.append(f"quote {quote}")
    delimiter = text.delimiter or ("\t" if file.kind == "tsv" else _delimiter(head, quote, file.shown))
    if delimiter != ("\t" if file.kind == "tsv" else ","):
        understood.append("delimiter tab" if delimiter == "\t" else f"delimiter '{delimiter}'")
    records = _records(head, delimiter, quote)
    if not records:
        raise InputError(None, f"{file.shown} is empty", "give a file with a header and rows")
    names, has_header = [name.strip() for name in records[0]], not _is_data(records[0])
    if len(names) > 1 and len(records) > 1 and not names[-1] and all(len(r) == len(names) - 1 for r in records[1:]):
        names.pop()  # a delimiter behind the last name
    if not has_header:
        names = [f"column{k}" for k in range(len(names))]
        understood.append(f"no header: the columns are called {', '.join(names[:3])}" + (", …" if names[3:] else ""))
    if has_header and len(records) == 1 and len(head) < _HEAD:
        raise InputError(None, f"{file.shown} has no rows below its header", "give at least one")
    longest = max(len(line) for line in head.splitlines())
    return replace(
        file,
        names=tuple(names),
        delimiter=delimiter,
        quote=quote,
        has_header=has_header,
        longest=longest,
        understood=(*file.understood, *understood),
    )


def _is_data(record: list[str]) -> bool:
    """Whether a first record is a row of data: all numbers, or a number with a fraction, which is no one's name."""
    cells = [cell for cell in record if cell.strip()]
    numbers = [any(rules.matches(n.cell, cell) for n in rules.NOTATIONS) for cell in cells]
    fractions = [
        is_number and not cell.strip().lstrip("+-").isdigit() for cell, is_number in zip(cells, numbers, strict=True)
    ]
    return bool(cells) and (all(numbers) or any(fractions))


def _quote(head: str) -> str:
    """The quote that all names of the header stand in; the usual one unless it is another."""
    line = head.splitlines()[0] if head else ""
    cells = [cell.strip() for cell in re.split("[,;\t|]", line)]
    single = all(len(cell) > 1 and cell[0] == cell[-1] == "'" for cell in cells)
    return "'" if single else '"'


def _delimiter(head: str, quote: str, shown: str) -> str:
    """The delimiter that splits every record of the head into as many cells as the header, and into most."""
    header, agreeing = {}, {}
    for delimiter in _DELIMITERS:
        records = _records(head, delimiter, quote)
        n = header[delimiter] = len(records[0]) if records else 0
        agreeing[delimiter] = all(len(r) == n or (len(r) == n + 1 and not r[-1]) for r in records[1:])
    best = max((n for delimiter, n in header.items() if agreeing[delimiter]), default=0)
    if best < 2 < 1 + max(header.values()):  # none fits all lines: the one that splits the header most, so that the
        return max(header, key=header.__getitem__)  # first other line is named
    chosen = [delimiter for delimiter, n in header.items() if agreeing[delimiter] and n == best]
    if best > 1 and len(chosen) > 1:
        signs = " or ".join(map(show, chosen))
        raise InputError(None, f"{shown} may be split at {signs}", "say which is meant with {delimiter}")
    return chosen[0] if chosen else ","


def _records(head: str, delimiter: str, quote: str) -> list[list[str]]:
    """The whole records of the head, without blank lines."""
    lines = head.splitlines(keepends=True)
    reader = csv.reader(lines, delimiter=delimiter, quotechar=quote)
    records = []
    try:
        records = [record for record in reader if record]
    except csv.Error:
        return records
    return records[:-1] if len(head) >= _HEAD and len(records) > 1 else records  # the last may be cut off


def _encoding(file: File, told: str | None) -> tuple[str, str]:
    """How a file is encoded, and what to say of it: by its first bytes, else UTF-8 if all of it is, else Latin-1."""
    with open(file.path, "rb") as raw:
        start = raw.read(4)
    if told is not None:
        return codecs.lookup(told).name, "" if codecs.lookup(told).name in ("utf-8", "ascii") else told
    for mark, encoding in _BOMS:
        if start.startswith(mark):
            return ("utf-8", "") if encoding == "utf-8-sig" else (encoding, "UTF-16")
    decoder = codecs.getincrementaldecoder("utf-8")()
    line = 1
    try:
        for block in blocks(file):
            if b"\0" in block:
                line += block[: block.index(b"\0")].count(b"\n")
                raise InputError(
                    None,
                    f"{file.shown} is not a text file (line {line} holds a zero byte)",
                    "give CSV, TSV, Parquet or JSON lines, or say {encoding='utf-16'}",
                )
            decoder.decode(block)
            line += block.count(b"\n")
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        return "cp1252", _WINDOWS
    except (OSError, EOFError) as error:
        raise InputError(None, f"{file.shown} cannot be unpacked: {error}", "pack it again") from None
    return "utf-8", ""


def _has_mixed_newlines(file: File) -> bool:
    """Whether lines end in different ways, which a strict reader refuses."""
    text = _head(file)
    unix = re.search(r"(?<!\r)\n", text) is not None
    return ("\r\n" in text and (unix or re.search(r"\r(?!\n)", text) is not None)) or (unix and "\r" in text)


def _recoded(file: File, encoding: str, folder: str) -> File:
    """A copy in UTF-8 with one sort of line ends."""
    copy = os.path.join(folder, f"copy-{len(os.listdir(folder))}.txt")
    try:
        with (
            open_bytes(file) as raw,
            io.TextIOWrapper(raw, encoding=encoding, errors="strict" if encoding != "cp1252" else "replace") as source,
            open(copy, "w", encoding="utf-8", newline="\n") as target,
        ):
            shutil.copyfileobj(source, target, 1 << 20)
    except UnicodeError as error:
        raise InputError(None, f"{file.shown} is not in {encoding}: {error}", "say another {encoding}") from None
    return replace(file, path=copy, packed="")


def _head(file: File) -> str:
    with open_bytes(file) as raw:
        return codecs.getincrementaldecoder("utf-8-sig")("replace").decode(raw.read(_HEAD))


def _unpacked_head(file: File) -> str:
    """The first lines of a file that only DuckDB can unpack."""
    import duckdb

    quoted = "'" + re.sub(r"([*?\[])", r"[\1]", file.path).replace("'", "''") + "'"
    sql = (
        f"SELECT line FROM read_csv({quoted}, auto_detect = false, columns = {{'line': 'VARCHAR'}}, delim = '\x01', "
        f"quote = '', escape = '', header = false, compression = '{file.packed}') LIMIT 1000"
    )
    with duckdb.connect() as connection:
        try:
            return "\n".join(line or "" for (line,) in connection.sql(sql).fetchall()).lstrip("\ufeff") + "\n"
        except duckdb.Error as error:
            raise InputError(None, f"{file.shown} cannot be read: {sentence(str(error))}") from None


@contextlib.contextmanager
def open_bytes(file: File) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked."""
    with open(file.path, "rb") as raw:
        if file.packed != "gzip":
            yield raw
            return
        with gzip.GzipFile(fileobj=raw) as unpacked:
            yield cast(IO[bytes], unpacked)


def blocks(file: File) -> Iterator[bytes]:
    """The bytes of a file in pieces."""
    with open_bytes(file) as raw:
        while block := raw.read(1 << 22):
            yield block


# --- what went wrong --------------------------------------------------------------------------------------------------


def describe(files: Files, message: str) -> InputError:
    """What DuckDB could not read, about the file and the line that it names."""
    named = re.search(r"^\s*file = (.+?)\s*$", message, re.MULTILINE)
    paths = {file.path: file.shown for file in files.files}
    shown = paths.get(named[1], files.name) if named else next(iter(paths.values())) if len(paths) == 1 else files.name
    line = re.search(r"on Line: (\d+)", message)
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if line and fields:
        found = f"{int(fields[2]):,} field" + ("" if fields[2] == "1" else "s")
        return InputError(
            None,
            f"{shown}: line {int(line[1])} has {found}, the header {int(fields[1]):,}",
            "correct the line, or quote what contains the delimiter",
        )
    if line and "unterminated quote" in message:
        at = int(line[1])
        said = f"a quote opens in line {at} (data row {at - 1}) and is not closed there"
        return InputError(
            None, f"{shown}: {said}, so what follows is read as part of it", "close it, or remove the sign"
        )
    if "utf-8" in message.lower() or "Invalid unicode" in message:
        return InputError(None, f"{shown} is not in UTF-8", "say how it is encoded, e.g. {encoding='latin-1'}")
    as_kind = {"parquet": " as Parquet", "json": " as JSON"}.get(files.kind, "")
    return InputError(None, f"{shown} cannot be read{as_kind}: {verbatim(sentence(message))}")


_TELLING = re.compile(r"(Error when converting|Could not convert|Expected Number|Candidate|Current file|Column with)")


def sentence(message: str) -> str:
    """The telling lines of a DuckDB message: which line, which column, what was wrong."""
    lines = [line.strip() for line in message.splitlines()]
    first = re.sub(r"^([\w ]+ Error: )+", "", lines[0]) if lines else "unknown format"
    return "; ".join([first.rstrip(". "), *[line for line in lines[1:] if _TELLING.match(line)][:2]])

"""Paths -> files: what kind each is, and one dialect for a text file, found in its evidence or told by the user.

Text is read as it stands, cell by cell: nothing behind this module guesses a delimiter, a quote, a comment sign, a
header, an encoding or a type. What was understood and is not plain is told in a few words.
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
import threading
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time
from typing import IO, Any, NamedTuple, cast

from ..errors import InputError, how_to_install, listed, show, verbatim
from ..validate import RULES, check_whole
from . import rules

KINDS = {".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet"}
KINDS |= {".json": "json", ".jsonl": "json", ".ndjson": "json", ".xlsx": "excel", ".xlsm": "excel"}
TEXT = ("csv", "tsv")  # kinds that consist of cells of text
_BINARY = {b"PAR1": "parquet", b"PK\x03\x04": "excel"}
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_DELIMITERS = (",", ";", "\t", "|")
_HEAD = 1 << 20  # bytes from which delimiter, quote and header are read,
_HEAD_LINES = 1000  # or as many lines of them: more tell nothing new, and take longer than all that follows
_LONGEST_HEAD = 64 * _HEAD  # where no second record begins before, a quote is not closed
_SHORT = 1 << 19  # lines shorter than this are short enough for DuckDB's own limit of 2 MB, also with quoted line ends
_FIRST_ROWS = 100  # rows that tell a header of numbers from data
_MOST_COVER = 21  # lines above a header that are looked for: a title, a date, a source, a few blank ones
# UTF-32 first: its mark begins with that of UTF-16
_BOMS = {codecs.BOM_UTF8: "UTF-8", codecs.BOM_UTF32_LE: "UTF-32", codecs.BOM_UTF32_BE: "UTF-32"}
_BOMS |= {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}
_WINDOWS = "Latin-1 (Windows-1252)"
# In cells with one of these, or with white space that quotes bring in, DuckDB's cast reads numbers that are none.
_ODD_SIGNS = ("_", "+", "\v", "\f", '"', "'")
# what DuckDB takes for a pattern or for the end of a folder's name, and what no SQL text can contain
_NOT_PLAIN = re.compile(r"[*?\[\]{}\\\x00-\x1f\ud800-\udfff]")
_csv_limit = threading.Lock()  # the longest cell of the csv module is a setting of the whole process


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written, as far as the user has told."""

    delimiter: str | None = None
    quote: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | int | None = None
    skip_rows: int | None = None
    where: str | None = None
    guess: bool = False  # skip what stands above the header, and take the sheet with most cells; else that is an error

    def __post_init__(self) -> None:
        if self.skip_rows is not None:
            check_whole(self.skip_rows, "skip_rows", 0)
        if self.sheet is not None and (isinstance(self.sheet, bool) or not isinstance(self.sheet, str | int)):
            raise InputError("sheet", f"is {show(self.sheet)}", "give the name of a sheet, or its number from 1")
        for name, sign in (("delimiter", self.delimiter), ("quote", self.quote)):
            if sign is not None and not (isinstance(sign, str) and len(sign) == 1 and sign not in "\r\n\0"):
                raise InputError(name, f"must be a single character, got {show(sign)}")
        RULES["decimal"](self.decimal, "decimal")
        if self.encoding is not None:
            try:
                io.TextIOWrapper(io.BytesIO(), codecs.lookup(self.encoding).name)  # of text: not base64
            except (LookupError, TypeError, ValueError):
                problem = f"is {show(self.encoding)}, which is unknown"
                raise InputError("encoding", problem, "give e.g. 'latin-1' or 'utf-16'") from None

    @property
    def given(self) -> list[str]:
        """Names of the options given for a text file; cells of text are everywhere, and so are conditions."""
        everywhere = ("decimal", "where", "guess")
        return [name for name, value in vars(self).items() if value is not None and name not in everywhere]


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
    blank_lines: int = 0  # before the header
    longest: int = 0
    odd_signs: frozenset[str] = frozenset(_ODD_SIGNS)  # of these, what may stand below the header
    first_rows: tuple[list[str], ...] = ()
    understood: tuple[str, ...] = ()
    guessed: tuple[tuple[str, Any], ...] = ()  # options that were found to be needed (see ``TextFormat.guess``)


class Files(NamedTuple):
    """What a path or a pattern means: files of one kind."""

    name: str
    files: tuple[File, ...]
    kind: str
    understood: tuple[str, ...] = ()


def find_files(path: str, text: TextFormat, folder: str) -> Files:
    """The files of a path, a pattern, or of standard input (``-``); ``folder`` takes copies."""
    found = [os.path.join(folder, "standard-input")] if path == "-" else files_meant(path)
    if not found:
        raise InputError(None, f"there is no file {show(path)}", "check its name")
    named = {file: os.path.basename(file.rstrip("/")) or file for file in (path, *found)}
    if path == "-":
        named = dict.fromkeys(named, "standard input")
        with open(found[0], "wb") as target:
            shutil.copyfileobj(sys.stdin.buffer, target, 1 << 20)
    for file, name in named.items():  # as a message may carry it: on one line, to be printed, its braces no fields
        named[file] = verbatim("".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in name))
    files: list[File] = []
    for k, file in enumerate(found):
        if os.path.isdir(file):
            inside = os.path.join(file, "*.parquet")
            raise InputError(None, f"{show(file)} is a folder", f"give a file, or a pattern such as {show(inside)}")
        shown, by_name = named[file], True
        try:
            with open(file, "rb") as source:
                if stat.S_ISCHR(os.fstat(source.fileno()).st_mode) and not source.isatty():  # /dev/zero never ends
                    raise InputError(None, f"{shown} is a device", "give a file")
                if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):  # a pipe can be read only once
                    with open(os.path.join(folder, f"pipe-{k}"), "wb") as target:
                        shutil.copyfileobj(source, target, 1 << 20)
                    file, by_name = target.name, kind_of(shown)[0] is not None
        except OSError as error:
            if error.filename is None:  # the copy cannot be written
                raise
            raise InputError(None, f"{shown} cannot be read: {error.strerror}", "check its name and rights") from None
        files.append(_open_file(os.path.abspath(file), shown, text, folder, by_name=by_name))
    first = files[0]
    for other in files[1:]:
        if (other.kind, other.packed) != (first.kind, first.packed):
            said = f"{named[path]} means files of several kinds, such as {first.shown} and {other.shown}"
            raise InputError(None, said, "give a pattern that means one kind")
        if other.kind in TEXT and sorted(other.names) != sorted(first.names):
            said = f"{other.shown} has other columns than {first.shown}"
            raise InputError(None, said, "give files with the same header")
    understood = dict.fromkeys(words for file in files for words in file.understood)
    return Files(named[path], tuple(files), first.kind, tuple(understood))


def sql_paths(files: Sequence[File]) -> str:
    """The paths of files for DuckDB: *, ? and [ are not a pattern, a file may really be called that."""
    paths = (re.sub(r"([*?\[])", r"[\1]", file.path).replace("'", "''") for file in files)
    return "[" + ", ".join(f"'{path}'" for path in paths) + "]"


def files_meant(path: str) -> list[str]:
    """The files that a path or a pattern means: the file of that name, if there is one, however it is written."""
    found = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
    if not found and path.startswith("~") and (home := os.path.expanduser(path)) != path:
        return files_meant(home)
    return found


def kind_of(name: str) -> tuple[str | None, str]:
    """Kind and packing that the ending of a name shows; no kind where it shows none."""
    stem, ending = os.path.splitext(name.lower())
    packed = "gzip" if ending == ".gz" else ""
    if packed:
        ending = os.path.splitext(stem)[1]
    kind = KINDS.get(ending)
    if kind in ("parquet", "excel") and packed:
        raise InputError(None, f"{os.path.basename(name)}: {ending} is compressed inside", "unpack the file first")
    return kind, packed


def _open_file(path: str, shown: str, text: TextFormat, folder: str, *, by_name: bool) -> File:
    if os.path.getsize(path) == 0:
        raise InputError(None, f"{shown} is empty", "give a file with a header and rows")
    kind, packed = kind_of(shown) if by_name else (None, "")
    if kind is None:  # the first bytes tell it
        with open(path, "rb") as file_bytes:
            start = file_bytes.read(1 << 12)
        if start.startswith(_ZSTD):
            raise InputError(None, f"{shown} is compressed with zstd", "unpack it first")
        packed = "gzip" if start.startswith(_GZIP) else packed
        if packed:
            with contextlib.suppress(OSError, EOFError, zlib.error), gzip.open(path) as unpacked:
                start = unpacked.read(1 << 12)
        kind = "json" if start.lstrip()[:1] in (b"{", b"[") else "csv"
        kind = next((binary for sign, binary in _BINARY.items() if start.startswith(sign)), kind)
        packed = "" if kind in _BINARY.values() else packed
    understood: tuple[str, ...] = ()
    guessed: dict[str, Any] = {}
    if kind == "excel":
        path, understood, guessed = _sheet(path, shown, text, folder)
        kind, text = "csv", replace(text, delimiter=",", quote='"', encoding="utf-8", skip_rows=None)
    elif text.sheet is not None:
        raise InputError("sheet", f"goes with Excel workbooks, and {shown} is none", "leave it out")
    if os.sep != "\\" and _NOT_PLAIN.search(path):
        # a backslash beside a pattern's sign is a folder to DuckDB, and has no escape: a link has a plain name
        os.symlink(path, link := os.path.join(folder, f"link-{len(os.listdir(folder))}"))
        path = link
    file = File(shown, path, kind, packed, understood=understood, guessed=tuple(guessed.items()))
    return _with_dialect(file, text, folder) if kind in TEXT else file


def _sheet(path: str, shown: str, text: TextFormat, folder: str) -> tuple[str, tuple[str, ...], dict[str, Any]]:
    """A sheet of a workbook as text (the one named, else the first that is not empty), what to say, and guesses."""
    try:
        import openpyxl
    except ImportError:
        raise InputError(None, f"{shown}: Excel sheets need openpyxl", how_to_install("excel")) from None
    try:
        with contextlib.closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
            sheets = {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book.worksheets}
    except Exception as error:  # openpyxl raises what zipfile, zlib, XML and its own parts raise
        raise InputError(None, f"{shown} cannot be read as an Excel workbook: {show(str(error))}") from None
    cells = {title: sum(cell is not None for row in rows for cell in row) for title, rows in sheets.items()}
    title = next((title for title, number in cells.items() if number), next(iter(sheets), ""))
    guessed: dict[str, Any] = {}
    if text.sheet is not None:
        at = int(text.sheet) - 1 if str(text.sheet).isdigit() else -1
        title = str(text.sheet) if str(text.sheet) in sheets else [*sheets, ""][at] if at < len(sheets) else ""
        if title not in sheets:
            raise InputError("sheet", f"is {show(text.sheet)}, but {shown} has {listed(sheets)}", "choose one of these")
    elif cells and cells[title] < max(cells.values()):
        largest = max(cells, key=cells.__getitem__)
        if text.guess:
            guessed["sheet"] = title = largest
        elif max(sum(cell is not None for cell in row) for row in sheets[title]) < 2:
            problem = f"{shown}: the first sheet, {show(title)}, has no table"
            raise InputError(None, problem, f"choose the sheet {show(largest)} with {{sheet={largest!r}}}")
    if not cells.get(title):
        raise InputError(None, f"{shown} is empty", "give a file with a header and rows")
    filled = [sum(cell is not None for cell in row) for row in sheets[title]]
    above = next(k for k, number in enumerate(filled) if number > 1 or max(filled) < 2)
    if text.skip_rows is None and any(filled[:above]):
        _refuse_cover(shown, above, text, guessed)
    skipped = guessed.get("skip_rows", text.skip_rows or 0)
    rows = [row for row, number in zip(sheets[title][skipped:], filled[skipped:], strict=True) if number]
    if not rows:
        raise InputError(None, f"{shown} has no rows below those that are skipped", "skip fewer with {skip_rows}")
    width = max(k for row in rows for k, cell in enumerate(row) if cell is not None) + 1
    columns = []
    for column in ([row[k] if k < len(row) else None for row in rows] for k in range(width)):
        moments = [cell for cell in column if isinstance(cell, datetime)]
        if all(moment.time() == time() for moment in moments):  # Excel writes a day as its midnight
            column = [cell.date() if isinstance(cell, datetime) else cell for cell in column]
        columns.append(["" if cell is None else cell for cell in column])
    copy = os.path.join(folder, f"sheet-{len(os.listdir(folder))}.csv")
    with open(copy, "w", encoding="utf-8", newline="") as target:
        csv.writer(target, lineterminator="\n").writerows(zip(*columns, strict=True))
    return copy, (f"sheet {show(title)} of {len(sheets)}",) if len(sheets) > 1 else (), guessed


def _refuse_cover(shown: str, above: int, text: TextFormat, guessed: dict[str, Any]) -> None:
    """Lines above the header: an error that tells how to skip them, or skipped."""
    if not text.guess:
        lines = f"{above} {'line' if above == 1 else 'lines'} above the header"
        raise InputError(None, f"{shown} has {lines}", f"leave them out with {{skip_rows={above}}}")
    guessed["skip_rows"] = above


# --- the dialect of a text file ---------------------------------------------------------------------------------------


class _Head(NamedTuple):
    """The first lines of a file, and whether they are all."""

    text: str
    is_all: bool


def _with_dialect(file: File, text: TextFormat, folder: str) -> File:
    understood = []
    if text.encoding is not None:
        encoding = codecs.lookup(text.encoding).name
        shown = "" if encoding in ("utf-8", "ascii") else text.encoding
    else:
        with open_bytes(file) as raw:
            start = raw.read(4)
        name = next((name for mark, name in _BOMS.items() if start.startswith(mark)), "UTF-8")
        encoding, shown = name.lower(), "" if name == "UTF-8" else name
    file, has_mixed_ends = _scan(file) if encoding == "utf-8" else (file, None)
    if has_mixed_ends is None:
        if encoding == "utf-8" and text.encoding is not None:
            raise InputError(None, f"{file.shown} is not in UTF-8", "give another {encoding}")
        if encoding == "utf-8":
            encoding, shown = "cp1252", _WINDOWS
        errors = "cutline.windows-1252" if encoding == "cp1252" else "strict"
        try:
            with open_bytes(file) as raw, io.TextIOWrapper(raw, encoding, errors, newline="") as source:
                copy = _copied(file, iter(lambda: source.read(1 << 20), ""), folder)
        except UnicodeError as error:
            problem = f"{file.shown} is not in {encoding}: {error}"
            raise InputError(None, problem, "give another {encoding}") from None
        file, has_mixed_ends = _scan(copy)
    if shown:
        understood.append(f"encoding {shown}")
    guessed = dict(file.guessed)
    skipped = text.skip_rows or 0
    records: list[list[str]] = []
    head, size = _Head("", False), _HEAD
    while len(records) < 2 and not head.is_all and size <= _LONGEST_HEAD:  # one cell may be longer than the first bytes
        with open_bytes(file) as raw:
            content = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(raw.read(size))
            head = _Head(content, not raw.read(1))
        head = _without_lines(head, skipped) if skipped else head
        line = re.split("[\r\n]", head.text.lstrip("\r\n"), maxsplit=1)[0]
        cells = [cell.strip() for cell in re.split("[,;\t|]", line)]
        in_single = all(len(cell) > 1 and cell[0] == cell[-1] == "'" for cell in cells)  # all names of the header
        quote = text.quote or ("'" if in_single else '"')
        delimiter = text.delimiter or ("\t" if file.kind == "tsv" else _delimiter(head, quote, file.shown))
        records, size = _records(head, delimiter, quote), 8 * size
    if not records:
        raise InputError(None, f"{file.shown} is empty", "give a file with a header and rows")
    first, widest = records[0], max(map(len, records[:_MOST_COVER]))
    if text.skip_rows is None and (len(first) < max(2, widest) or sum(not cell.strip() for cell in first) > 1):
        skipped = _cover_lines(head, text.delimiter, quote, len(first))
        if skipped:
            _refuse_cover(file.shown, skipped, text, guessed)
            text = replace(text, skip_rows=skipped)
            return _with_dialect(replace(file, guessed=tuple(guessed.items())), text, folder)
    if quote != '"':
        understood.append(f"quote {quote}")
    if delimiter != ("\t" if file.kind == "tsv" else ","):
        understood.append("delimiter tab" if delimiter == "\t" else f"delimiter '{delimiter}'")
    names, has_header = [name.strip() for name in records[0]], not _is_data(records)
    if len(names) > 1 and len(records) > 1 and not names[-1] and all(len(r) == len(names) - 1 for r in records[1:]):
        names.pop()  # a delimiter behind the last name
    if not has_header:
        names = [f"column{k}" for k in range(len(names))]
        understood.append(f"no header: the columns are called {', '.join(names[:3])}" + (", …" if names[3:] else ""))
    elif len(records) == 1 and head.is_all:
        raise InputError(None, f"{file.shown} has no rows below its header", "give at least one")
    if has_mixed_ends:
        file = _with_one_newline(file, delimiter, quote, folder)
    return replace(
        file,
        names=tuple(names),
        delimiter=delimiter,
        quote=quote,
        has_header=has_header,
        blank_lines=skipped + _blank_lines(head),
        first_rows=tuple(records[1:] if has_header else records),
        understood=(*file.understood, *understood),
    )


def _without_lines(head: _Head, lines: int) -> _Head:
    """The head without its first lines."""
    return head._replace(text=re.sub(rf"\A(?:[^\r\n]*(?:\r\n|\r|\n)){{0,{lines}}}", "", head.text))


def _cover_lines(head: _Head, delimiter: str | None, quote: str, width: int) -> int:
    """The fewest lines above a table whose records all have as many cells as its first, and at least two; else 0.

    A spreadsheet fills the lines of a title up with delimiters: its table is no narrower, and names its columns.
    """
    for lines in range(1, _MOST_COVER):
        rest = _without_lines(head, lines)
        for sign in _DELIMITERS if delimiter is None else (delimiter,):
            records = _records(rest, sign, quote)
            if len(records) < 3 or {len(record) for record in records} != {max(2, width, len(records[0]))}:
                continue
            empty = sum(not cell.strip() for cell in records[0])  # an index may lack a name
            if not _is_data(records) and (len(records[0]) > width or empty < 2):
                return lines + _blank_lines(rest)
    return 0


def _blank_lines(head: _Head) -> int:
    """The blank lines at its beginning."""
    return len(re.findall("\r\n|\r|\n", head.text[: len(head.text) - len(head.text.lstrip("\r\n"))]))


def _is_data(records: Sequence[Sequence[str]]) -> bool:
    """Whether a first record is a row of data: all numbers, or a number with a fraction, which is rarely a name.

    A word above a column of numbers is a name, and so are then the numbers beside it (``y,0.05,0.5,0.95``).
    """
    cells = {k: cell for k, cell in enumerate(records[0]) if cell.strip()}
    words = [k for k, cell in cells.items() if not _is_number(cell)]
    if not words:
        return bool(cells)
    if not any(re.search("[0-9][.,]|[.,][0-9]|[0-9][eE]", cell) for cell in cells.values() if _is_number(cell)):
        return False
    rows = records[1 : 1 + _FIRST_ROWS]
    below = ([row[k] for row in rows if k < len(row) and row[k] not in rules.MISSING_TEXT] for k in words)
    return not any(column and all(map(_is_number, column)) for column in below)


def _is_number(cell: str) -> bool:
    return any(rules.matches(notation.cell, cell) for notation in rules.NOTATIONS)


def _delimiter(head: _Head, quote: str, shown: str) -> str:
    """The delimiter that splits every record of the head into as many cells as the header, and into most."""
    header, agreeing = {",": 1}, {}
    for delimiter in _DELIMITERS:
        records = _records(head, delimiter, quote) if delimiter in head.text else []
        if records:
            n = header[delimiter] = len(records[0])
            agreeing[delimiter] = all(len(r) == n or (len(r) == n + 1 and not r[-1]) for r in records[1:])
    best = max((n for delimiter, n in header.items() if agreeing.get(delimiter)), default=0)
    if best < 2:  # none fits all lines: the one that splits the header most, so that the first other line is named
        return max(header, key=header.__getitem__)
    chosen = [delimiter for delimiter, n in header.items() if agreeing.get(delimiter) and n == best]
    if len(chosen) > 1:
        signs = " or ".join(map(show, chosen))
        raise InputError(None, f"{shown} may be split at {signs}", "choose one with {delimiter}")
    return chosen[0]


def _records(head: _Head, delimiter: str, quote: str) -> list[list[str]]:
    """The whole records of the head, without blank lines."""
    lines = io.StringIO(head.text, newline="")  # a record ends where DuckDB ends it, not at U+2028 or a form feed
    records: list[list[str]] = []
    with _csv_limit:
        limit = csv.field_size_limit(len(head.text) + 1)
        try:
            reader = csv.reader(lines, delimiter=delimiter, quotechar=quote, skipinitialspace=delimiter != " ")
            for record in reader:
                records += [record] if record else []
                if len(records) > _HEAD_LINES:
                    return records[:-1]
        except csv.Error:
            return records
        finally:
            csv.field_size_limit(limit)
    return records if head.is_all else records[:-1]  # the last may be cut off


def _scan(file: File) -> tuple[File, bool | None]:
    """One pass over all bytes: whether any line is very long, and ends in different ways; None: they are not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    without, most, size, last = 0, 0, 0, b""
    signs: set[str] = set()
    ends: set[str] = set()  # the ways in which lines end
    try:
        with open_bytes(file) as raw:
            for block in iter(lambda: raw.read(1 << 22), b""):
                if b"\0" in block:
                    with open_bytes(file) as again:
                        line = 1 + again.read(size + block.index(b"\0")).count(b"\n")
                    problem = f"{file.shown} is not a text file (line {line} contains a zero byte)"
                    remedy = "give CSV, TSV, Parquet or JSON lines, or pass {encoding='utf-16'}"
                    raise InputError(None, problem, remedy)
                if not block.isascii() or decoder.getstate()[0]:
                    decoder.decode(block)
                header = 0 if ends else block.find(b"\n") + 1  # which may well have them
                signs |= {sign for sign in _ODD_SIGNS if block.find(sign.encode(), header) >= 0}
                if b"\r" in block or last == b"\r":
                    pairs = block.count(b"\r\n") + (last == b"\r" and block.startswith(b"\n"))
                    # one at the end of a block is alone unless the next block begins with a line feed
                    alone = block.count(b"\r") + (last == b"\r") - block.endswith(b"\r") - pairs
                    numbers = {"\r\n": pairs, "\r": alone, "\n": block.count(b"\n") - pairs}
                    ends |= {end for end, number in numbers.items() if number}
                elif b"\n" in block:
                    ends.add("\n")
                for first in range(0, len(block), _SHORT):
                    is_short = any(block.find(end, first, first + _SHORT) >= 0 for end in (b"\n", b"\r"))
                    without = 0 if is_short else without + 1
                    most = max(most, without)
                last, size = block[-1:], size + len(block)
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        return file, None
    ends |= {"\r"} if last == b"\r" else set()
    return replace(file, longest=(most + 2) * _SHORT if most else 0, odd_signs=frozenset(signs)), len(ends) > 1


# The five bytes that Windows-1252 leaves undefined, as Latin-1 has them: two of them are not one sign.
codecs.register_error(
    "cutline.windows-1252",
    lambda error: (error.object[error.start : error.end].decode("latin-1"), error.end),  # type: ignore[attr-defined]
)


def _with_one_newline(file: File, delimiter: str, quote: str, folder: str) -> File:
    """A copy in which every record ends with a line feed. Line ends inside quotes stay: they are part of the cell."""
    q = re.escape(quote)
    opens, closes = re.compile(f"(?:^|{re.escape(delimiter)}) ?{q}"), re.compile(f"[^{q}]*+(?:{q}{q}[^{q}]*+)*+{q}")

    def lines() -> Iterator[str]:
        inside = False
        for line in source:
            at: int | None = 0
            while at is not None and quote in line:
                found = (closes.match if inside else opens.search)(line, at)
                at = found and found.end()
                inside = inside != (at is not None)
            yield line if inside else line.rstrip("\r\n") + "\n"

    with open_bytes(file) as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="") as source:
        return _copied(file, lines(), folder)


def _copied(file: File, parts: Iterator[str], folder: str) -> File:
    copy = os.path.join(folder, f"copy-{len(os.listdir(folder))}.txt")
    with open(copy, "w", encoding="utf-8", newline="") as target:
        target.writelines(parts)
    return replace(file, path=copy, packed="")


@contextlib.contextmanager
def open_bytes(file: File) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked."""
    with open(file.path, "rb") as raw:
        if not file.packed:
            yield raw
            return
        try:
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield cast(IO[bytes], unpacked)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(None, f"{file.shown} cannot be unpacked: {error}", "pack it again") from None


# --- what went wrong --------------------------------------------------------------------------------------------------


def describe(files: Files, message: str) -> InputError:
    """What DuckDB could not read, about the file and the line that it names."""
    named = re.search(r"^ *file = (.*)$", message, re.MULTILINE)
    paths = {file.path: file.shown for file in files.files}
    only = next(iter(paths.values())) if len(paths) == 1 else files.name
    shown = paths.get(named[1].strip(), files.name) if named else only
    line = re.search(r"on Line: (\d+)", message)
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if line and fields:
        number = f"{int(fields[2]):,} field" + ("" if fields[2] == "1" else "s")
        problem = f"{shown}: line {int(line[1])} has {number}, the header {int(fields[1]):,}"
        return InputError(None, problem, "correct the line, or quote what contains the delimiter")
    if line and "unterminated quote" in message:
        at = int(line[1])
        problem = f"{shown}: a quote opens in line {at} (data row {at - 1}) and is not closed there"
        return InputError(None, f"{problem}, so what follows is read as part of it", "close it, or remove the sign")
    if size := re.search(r"Maximum line size of (\d+) bytes exceeded", message):
        where = f"the record in line {int(line[1])}" if line else "a record"
        said = f"{shown}: {where} is longer than {round(int(size[1]) / 1e6)} MB"
        return InputError(None, said, "shorten its cells, close its quotes, or convert the file to Parquet")
    if "utf-8" in message.lower() or "Invalid unicode" in message:
        return InputError(None, f"{shown} is not in UTF-8", "give its encoding, e.g. {encoding='latin-1'}")
    as_kind = {"parquet": " as Parquet", "json": " as JSON"}.get(files.kind, "")
    return InputError(None, f"{shown} cannot be read{as_kind}: {verbatim(sentence(message))}")


_TELLING = re.compile(r"(Error when converting|Could not convert|Expected Number|Candidate|Current file|Column with)")


def sentence(message: str) -> str:
    """The telling lines of a DuckDB message: which line, which column, what was wrong."""
    lines = [line.strip() for line in message.splitlines()]
    first = re.sub(r"^([\w ]+ Error: )+", "", lines[0]) if lines else "unknown format"
    return "; ".join([first.rstrip(". "), *[line for line in lines[1:] if _TELLING.match(line)][:2]])

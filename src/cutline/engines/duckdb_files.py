"""A path or a pattern -> SQL that reads the files: which kind they are, and the types that hold for all their rows."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from . import file_errors

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
}
_PACKED = {".gz": "gzip", ".zst": "zstd"}


def text_types() -> str:
    """The types that DuckDB may guess for the columns of a text file.

    It would read yes/no as booleans, and so decide what is positive; that is the user's to say. Integers beyond 64 bits
    stay integers where it can (from 2.0), so that they are refused as a score instead of being rounded.
    """
    import duckdb

    wide = "'HUGEINT', " if int(duckdb.__version__.partition(".")[0]) >= 2 else ""
    return f"auto_type_candidates = ['BIGINT', {wide}'DOUBLE', 'VARCHAR']"


@dataclass(frozen=True)
class Files:
    """What a path or a pattern means."""

    path: str
    files: tuple[str, ...]
    kind: str
    packed: str

    @classmethod
    def of(cls, path: str) -> Files:
        """Find the files; refuse what is no file, is empty, or is not all of one kind."""
        files = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
        if not files:
            raise InputError(f"there is no file {path!r}")
        if os.path.isdir(files[0]):
            inside = os.path.join(files[0], "*.parquet")
            raise InputError(f"{files[0]!r} is a folder; give a file, or a pattern such as {inside}")
        empty = [file for file in files if os.path.isfile(file) and os.path.getsize(file) == 0]
        if empty:
            raise InputError(f"{os.path.basename(empty[0])} is empty")
        first = _kind(files[0])
        for other in files[1:]:
            if _kind(other) != first:
                raise InputError(
                    f"{path!r} means files of several kinds, such as {os.path.basename(files[0])} and "
                    f"{os.path.basename(other)}; give a pattern that means one kind"
                )
        return cls(path, tuple(files), *first)

    @property
    def name(self) -> str:
        """What messages call it."""
        return os.path.basename(self.path.rstrip("/")) or self.path

    @property
    def is_text(self) -> bool:
        """Whether types are guessed from the first rows."""
        return self.kind != "parquet"

    def reader(self, types: Mapping[str, str] | None = None, *, all_text: bool = False) -> str:
        """SQL that reads the files; of text ones with these types for some columns, or with every cell as it stands.

        JSON needs the types of all columns that are to be read.
        """
        # DuckDB reads *, ? and [ in a path as a pattern; a file may really be called that
        where = literal(re.sub(r"([*?\[])", r"[\1]", self.path) if os.path.exists(self.path) else self.path)
        # without it, DuckDB casts the columns of all files to the types that the first one has
        united = ", union_by_name = true" if len(self.files) > 1 and self.kind != "csv" and self.kind != "tsv" else ""
        compression = f", compression = '{self.packed}'" if self.packed else ""
        if self.kind == "parquet":
            return f"read_parquet({where}{united})"
        given = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in (types or {}).items())
        if self.kind == "json":
            how = f", columns = {{{given}}}" if given else united
            return f"read_json({where}, format = 'auto'{compression}{how})"
        how = "all_varchar = true" if all_text else text_types() + (f", types = {{{given}}}" if given else "")
        return f"read_csv({where}, {how}{compression}" + (", delim = '\t')" if self.kind == "tsv" else ")")

    def header(self, connection: Any) -> list[str]:
        """The names of the columns as they stand in the (first) file; empty where that cannot be told."""
        if self.kind == "parquet":
            rows = connection.sql(f"FROM parquet_schema({literal(self.files[0])})").project("name, num_children")
            return _outermost(rows.fetchall())
        if self.kind == "json" or self.packed == "zstd":
            return []
        return file_errors.header(self.files[0], bool(self.packed))

    def in_words(self, error: Exception) -> str:
        """What DuckDB could not read, in one sentence about the file that it names."""
        named = re.search(r"^\s*file = (.+?)\s*$", str(error), re.MULTILINE)
        file = named[1] if named and named[1] in self.files else self.files[0] if len(self.files) == 1 else None
        if file is None or self.packed == "zstd" or not file_errors.is_searchable(file):
            return f"{self.name} cannot be read: {file_errors.sentence(str(error))}"
        return file_errors.describe(file, os.path.basename(file), bool(self.packed), self.kind, error)


def literal(text: str) -> str:
    """A text as SQL takes it, whatever it contains."""
    if "\0" in text:
        raise InputError(f"{text!r} holds a zero byte, which no file name or label can")
    return "'" + text.replace("'", "''") + "'"


def kind_of(name: str) -> tuple[str | None, str]:
    """Kind and packing that the ending of a name says; no kind where it says nothing."""
    stem, ending = os.path.splitext(name.lower())
    packed = _PACKED.get(ending, "")
    if packed:
        ending = os.path.splitext(stem)[1]
    kind = KINDS.get(ending)
    if kind == "parquet" and packed:
        raise InputError(f"{os.path.basename(name)}: Parquet is compressed inside; unpack the file first")
    return kind, packed


def _kind(file: str) -> tuple[str, str]:
    kind, packed = kind_of(file)
    if kind is None:
        raise InputError(
            f"{os.path.basename(file)}: what kind of file is it? Its name should end in {', '.join(KINDS)}, with .gz "
            "or .zst behind it where it is compressed"
        )
    return kind, packed


def _outermost(schema: list[tuple[str, int | None]]) -> list[str]:
    """The columns of a Parquet schema, which lists the root first and every column's own children behind it."""
    names: list[str] = []
    inside = 0
    for name, children in schema[1:]:
        if inside:
            inside -= 1
        else:
            names.append(name)
        inside += children or 0
    return names

"""``cutline select``: the rows that get the places."""

from __future__ import annotations

import csv
import io
import itertools
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, listed, show
from ..runtime import is_stream, temporary_folder, write_whole
from . import options as o
from .options import about_file, choice, command, option
from .output import emit, note, settings_line
from .reading import load, one_score, opened, say_if_long

if TYPE_CHECKING:
    from ..sources.duckdb import DuckTable
    from ..sources.sql_table import Column

# What a spreadsheet takes for a formula (OWASP, CSV injection; also in full width), but for amounts: -1.5, +3%.
_FORMULA = r"(?s)[=+\-@\t\r\n＝＋－＠].*"
_AMOUNT = r"[+-]?[0-9.,]+([eE][+-]?[0-9]+)?%?"


class SelectArguments(o.FileArgument, o.Batched, o.Seeded, o.Reading, o.Written):
    """The options of ``select``."""

    score: str | None = o.column("Column with the score.", multiple=True, callback=o.one_score_given)
    quota: int | float | None = option("Places: 200 or 5%.", callback=o.read_quota, metavar="N|P%")
    quota_by: str | None = option(
        "Give each segment its own places: in proportion to its cases, or as listed (region=north:60,south:40).",
        metavar="COLUMN[=S:N,…]",
    )
    cut: str | None = option("Apply a cut file (see: cutline cut).", type=o.InputFile(), metavar="PATH")
    ties: Any = choice(
        "If scores tie at the cut: draw at random, take all, or take none.",
        ["random", "expand", "shrink"],
        default="random",
    )
    quiet: bool = o.Printed.quiet


@command(
    SelectArguments,
    """\
  cutline select scores.csv --score p --quota 20 -o chosen.csv
  cutline select scores.parquet --score p --quota 5% --ties expand -o chosen.parquet
  cutline select scores.csv --score p --quota-by region=north:60,south:40 -o chosen.csv
  cutline select scores.csv --score p --quota 20 | cut -d, -f1
  cutline select claims.csv --score p --quota 100 --batch day -o chosen.csv
  cutline select new-scores.csv --score p --cut cut.json
""",
    renames={"by": "--quota-by", "segment": "--quota-by"},
)
def select(asked: SelectArguments) -> None:
    """Choose the rows with the highest scores for a number of places (with --batch for each batch), best first.

    With --cut those above a cut.

    All columns of FILE are kept; "place" is added as the first one. Without -o the rows go to standard
    output as CSV.
    """
    from ..decide.selection import above
    from ..decide.selection import select as select_rows
    from ..decide.thresholds import read_cut_file

    quota, batch, seed = asked.quota, asked.batch, asked.seed
    lists_places = asked.quota_by is not None and quota is None and "=" in asked.quota_by
    if (quota is None and not lists_places) == (asked.cut is None):  # exactly one
        raise InputError(None, "give either --quota or --cut", "")
    if asked.cut is not None and asked.quota_by is not None:
        raise InputError("quota_by", "shares places, but a cut takes all above it", "leave one of them out")
    if batch is not None and (quota is None or asked.quota_by is not None):
        raise InputError("batch", "goes with a {quota} of each batch", "leave {batch} out, or give the {quota} alone")
    cut = None if asked.cut is None else read_cut_file(asked.cut)
    output_kind(asked.output)
    with opened(asked) as table:
        score = asked.score
        if score is None and cut is not None and cut.get("score") in table.named:
            score = str(cut["score"])
        score = one_score(table, score)
        segment, places = (None, None) if asked.quota_by is None else _places(table, asked.quota_by, quota)
        rows = load(table, asked.but(by=() if segment is None else (segment,)), None, [score])
        say_if_long(table, None, [score])
        try:
            with about_file(table.name):
                if cut is None:
                    groups: dict[str, Any] = {"by": rows.segments, "batch": rows.batch}
                    wanted: Any = quota if places is None else places
                    chosen = select_rows(rows.scores[score], wanted, ties=asked.ties, seed=seed, **groups)
                else:
                    chosen = above(rows.scores[score], cut["threshold"])
        except InputError as error:
            raise error.but(argument="quota_by") if error.argument == "quota" and quota is None else error from None
        at = chosen.indices if rows.source_rows is None else rows.source_rows[chosen.indices]
        taken = [len(at)] if chosen.batches is None else chosen.batches.column("chosen")  # a place is one of its batch
        added = {"place": [k for n in taken for k in range(1, n + 1)]}
        write_rows(table, at.tolist(), asked.output, added, escaped=asked.escape_formulas)
    note(chosen.note)
    if cut is not None and len(rows) > 1 and len(chosen.indices) in (0, len(rows)):
        who = "every" if len(chosen.indices) else "no"
        note(f"note: {who} score lies above the cut {cut['threshold']:g}: are the scores on the scale of the cut file?")
    if cut is not None and cut.get("score") not in (None, score):
        note(f"note: the cut was made for the score {cut['score']!r}, and {score!r} is used here")
    how: dict[str, Any] = {} if batch is None else {"batch": batch}
    how |= {"quota": chosen.quota, "ties": asked.ties, "seed": seed} if cut is None else {"cut": asked.cut}
    note(settings_line(file=asked.file, score=score, rows=len(rows), **how))
    if asked.output is not None:
        note(f"chosen: {asked.output}")


def _places(table: DuckTable, text: str, quota: Any) -> tuple[str, dict[str, int] | None]:
    """The column that makes segments, and their places where they are listed behind it."""
    if text in table.named or "=" not in text:
        table.column(text, "segment")
        if quota is None:
            said = "names a column, but no places"
            raise InputError("quota_by", said, "add {quota}, or list them: COLUMN=SEGMENT:PLACES,…")
        return text, None
    segment, _, rest = text.rpartition("=")
    table.column(segment, "segment")
    if quota is not None:
        raise InputError("quota_by", "lists places, which contradicts {quota}", "leave one of them out")
    return segment, o.read_places(rest)


def write_rows(
    table: DuckTable, rows: list[int], output: str | None, added: Mapping[str, list[Any]], *, escaped: bool = False
) -> None:
    """Copy rows out of the file, in the order given, with columns added before them.

    Text formats keep every cell as it stands, and CSV keeps the file's delimiter; a name that the file has already gets
    an underscore. ``escaped`` puts an apostrophe before what a spreadsheet would take for a formula.
    """
    from ..sources.sql_table import DUCKDB

    first = [name + "_" * next(k for k in itertools.count() if name + "_" * k not in table.named) for name in added]
    kind = output_kind(output)
    if escaped and kind in ("parquet", "json"):
        raise InputError("escape_formulas", "is for .csv and .tsv", "leave it out")
    casts = _number_types(table) if kind in ("parquet", "json") else {}

    def cell(column: Column) -> str:
        if column.name in casts:
            return f"CAST({column.sql} AS {casts[column.name]})"
        if not escaped or column.kind != "text":
            return column.sql
        runs = f"{DUCKDB.matches(column.sql, _FORMULA)} AND NOT {DUCKDB.matches(column.sql, _AMOUNT)}"
        return f"CASE WHEN {runs} THEN chr(39) || {column.sql} ELSE {column.sql} END"

    cells = ", ".join(f"{cell(column)} AS v{k}" for k, column in enumerate(table.columns))
    header = [*first, *(column.name for column in table.columns)]
    header = [f"'{name}" if escaped and re.match(_FORMULA, name) else name for name in header]
    names = _output_names(table, first)
    shown = ", ".join(f"f.v{k} AS {DUCKDB.name(shown)}" for k, shown in enumerate(names))
    # Row numbers and added columns travel as lists; DuckDB numbers the rows of a file in their order.
    types = {
        name: "DOUBLE" if any(isinstance(v, float) for v in values) else "BIGINT" for name, values in added.items()
    }
    lists = "".join(f", unnest({values}::{types[name]}[]) AS a{k}" for k, (name, values) in enumerate(added.items()))
    chosen = f"(SELECT unnest({rows}::BIGINT[]) AS n, unnest(range({len(rows)})) AS nth{lists})"
    before = "".join(f"c.a{k} AS {DUCKDB.name(name)}, " for k, name in enumerate(first))
    query = (
        f"SELECT {before}{shown} FROM "
        f"(SELECT {cells}, row_number() OVER () - 1 AS n FROM {table.relation}) f "
        f"JOIN {chosen} c ON c.n = f.n ORDER BY c.nth"
    )
    file = table.files.files[0] if table.files is not None else None
    kept = file.delimiter if file is not None and file.kind == "csv" else ","  # what is copied keeps its own
    delimiter = "\t" if kind == "tsv" else kept
    if output is None:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([header, *table.rows(query)])
        emit(text.getvalue().removesuffix("\n"))
        return
    how = {
        "parquet": "FORMAT parquet",
        "json": "FORMAT json",
    }.get(kind, f"FORMAT csv, HEADER false, DELIMITER {DUCKDB.literal(delimiter)}")
    with write_whole(output) as beside, temporary_folder(str(beside.parent)) as folder:
        if kind in ("parquet", "json"):
            renamed = [new for new, column in zip(names, table.columns, strict=True) if new != column.name]
            if renamed:
                note(f"renamed, because .{kind} needs names that differ: {listed(renamed)}")
            table.execute(f"COPY ({query}) TO {DUCKDB.literal(str(beside))} ({how})")
            return
        # The header is written as it stands: SQL has no empty names and no name twice.
        cells_of = Path(folder, "rows")
        table.execute(f"COPY ({query}) TO {DUCKDB.literal(str(cells_of))} ({how})")
        with beside.open("w", newline="", encoding="utf-8") as top:
            csv.writer(top, delimiter=delimiter, lineterminator="\n").writerow(header)
        with beside.open("ab") as whole, cells_of.open("rb") as rows_of:
            shutil.copyfileobj(rows_of, whole)


def _output_names(table: DuckTable, first: Sequence[str]) -> list[str]:
    """The names of the columns as they stand; where the file has one twice, SQL needs them to differ."""
    taken = {name.casefold() for name in first}
    names = []
    for column in table.columns:
        name, k = column.name or "column", 1
        while name.casefold() in taken:
            name, k = f"{column.name}_{k}", k + 1
        taken.add(name.casefold())
        names.append(name)
    return names


def _number_types(table: DuckTable) -> dict[str, str]:
    """Types for columns of text that are numbers throughout. Codes such as 007 are none: they would lose zeros."""
    from ..sources.profiles import profiles
    from ..sources.rules import LABEL_CELL
    from ..sources.sql_table import DUCKDB

    numbers = [p for p in profiles(table) if p.is_number and not p.notation and table.named[p.name].kind == "text"]
    if not numbers:
        return {}
    cells = [table.named[profile.name].sql for profile in numbers]
    codes = table.count([f"NOT {DUCKDB.matches(cell, LABEL_CELL)}" for cell in cells])
    plain = [p for p, n in zip(numbers, codes, strict=True) if n == 0]
    return {p.name: "BIGINT" if p.whole and max(abs(p.low), abs(p.high)) < 2**53 else "DOUBLE" for p in plain}


def output_kind(output: str | None) -> str:
    """The format that the ending of a file's name stands for."""
    from ..sources.file_formats import KINDS

    ending = "" if output is None else Path(output).suffix.lower()
    if output is None or (not ending and is_stream(output)):
        return "csv"
    if ending not in KINDS or KINDS[ending] == "excel":
        said = f"{show(ending)} is not a known format" if ending else "its name has no ending"
        raise InputError(None, said, "end it in .csv, .tsv, .parquet or .jsonl", where=f"-o {output}")
    return KINDS[ending]

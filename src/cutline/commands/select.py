"""``cutline select``: the rows that get the places."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..files import is_stream, write_whole
from . import options
from .output import check_writable, note, settings_line
from .speech import spoken

if TYPE_CHECKING:
    from .reading import Source

EXAMPLES = """\b
Examples:
  cutline select scores.csv --score p --quota 20 -o chosen.csv
  cutline select scores.parquet --score p --quota 5% --ties expand -o chosen.parquet
  cutline select scores.csv --score p --quota 20 | cut -d, -f1
"""


@click.command(epilog=EXAMPLES)
@options.file_argument
@options.one_score_option
@click.option("--quota", required=True, callback=options.read_quota, metavar="N|P%", help="Places: 200 or 5%.")
@click.option(
    "--ties",
    type=click.Choice(["random", "expand", "shrink"]),
    default="random",
    show_default=True,
    help="A tie across the cut: draw fairly, take all, take none.",
)
@options.seed_option
@click.option("-o", "--output", type=click.Path(), metavar="PATH", help="Write here (.csv, .tsv, .parquet, .jsonl).")
def select(file: str, score: str | None, quota: int | float, ties: Any, seed: int, output: str | None) -> None:
    """Choose the rows with the highest scores for a number of places, best first.

    All columns of FILE are kept as they stand; "place" is added before them. Without -o the rows go to standard
    output as CSV.
    """
    from ..decide.selection import select as select_rows
    from .columns import score_columns
    from .reading import opened

    output_kind(output)
    check_writable(output, "-o", file)
    with opened(file) as source:
        if score is None:
            score = score_columns(source, set(), several=False, comparable=False)[0]
            note(f"score: column {score!r}")
        else:
            score = source.one(score)
        values = source.numbers(score, "score")
        with spoken(source.name):
            chosen = select_rows(values, quota, ties=ties, seed=seed)
        _write(source, chosen.indices.tolist(), output)
    note(chosen.note)
    note(settings_line(file=source.name, score=score, rows=len(values), quota=chosen.quota, ties=ties, seed=seed))
    if output is not None:
        note(f"chosen: {output}")


def _write(source: Source, rows: list[int], output: str | None) -> None:
    """Copy the chosen rows out of the file, in their order; text formats keep every cell as it stands."""
    from ..engines.duckdb_source import quoted
    from .reading import executed

    name = "place"
    while name in source.columns:
        name += "_"
    kind = output_kind(output)
    relation, path = source.relation(as_text=True)
    connection = source.connection
    connection.execute("CREATE TEMP TABLE chosen (row_id BIGINT, place BIGINT)")
    # Row numbers travel as one list; DuckDB numbers the rows of a file in their order.
    connection.execute("INSERT INTO chosen SELECT unnest(?), unnest(?)", [rows, list(range(1, len(rows) + 1))])
    numbers = _kept_as_numbers(source) if kind in ("parquet", "json") else []
    casts = ", ".join(f"f.{quoted(c)}::{source.types[c]} AS {quoted(c)}" for c in numbers)
    cells = f"f.* EXCLUDE (cutline_row) {f'REPLACE ({casts})' if casts else ''}"
    query = (
        f"SELECT c.place AS {quoted(name)}, {cells} FROM "
        f"(SELECT *, row_number() OVER () - 1 AS cutline_row FROM {relation}) f "
        "JOIN chosen c ON c.row_id = f.cutline_row ORDER BY c.place"
    )
    if output is None:
        result = executed(connection, query, path, source.told)
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(result.names)
        while batch := result.fetchmany(10_000):
            writer.writerows(batch)
        return
    how = {
        "csv": "FORMAT csv, HEADER",
        "tsv": "FORMAT csv, HEADER, DELIMITER '\t'",
        "parquet": "FORMAT parquet",
        "json": "FORMAT json",
    }[kind]
    executed(connection, f"CREATE TEMP TABLE result AS {query}", path, source.told)
    with write_whole(output) as beside:
        literal = str(beside).replace("'", "''")
        connection.execute(f"COPY (SELECT * FROM result ORDER BY {quoted(name)}) TO '{literal}' ({how})")


def _kept_as_numbers(source: Source) -> list[str]:
    """Columns of a text file that are numbers throughout. Identifiers such as 007 are none: they would lose zeros."""
    from ..engines.duckdb_source import quoted
    from .reading import executed

    found = [c for c in source.columns if source.is_number(c)] if source.kind in ("csv", "tsv") else []
    if not found:
        return []
    source.settle(found)
    tests = [
        f"coalesce(bool_and(TRY_CAST({quoted(c)} AS {source.types[c]}) IS NOT NULL "
        f"AND NOT regexp_matches({quoted(c)}, '^\\s*[+-]?0\\d')) FILTER ({quoted(c)} IS NOT NULL), false)"
        for c in found
    ]
    relation, path = source.relation(as_text=True)
    row = executed(source.connection, f"SELECT {', '.join(tests)} FROM {relation}", path, source.told)
    return [column for column, sound in zip(found, row.fetchone(), strict=True) if sound]


def output_kind(output: str | None) -> str:
    """The format that the ending of a file's name stands for."""
    from ..engines.duckdb_files import KINDS

    ending = "" if output is None else Path(output).suffix.lower()
    if output is None or (not ending and is_stream(output)):
        return "csv"
    if ending not in KINDS:
        raise InputError(
            f"-o {output}: {ending or 'no ending'!r} names no format; end it in .csv, .tsv, .parquet or .jsonl"
        )
    return KINDS[ending]

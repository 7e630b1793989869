"""``cutline select``: the rows that get the places."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options
from .output import note, settings_line

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
@options.score_option
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
    from ..quota import select as select_rows
    from .columns import score_columns
    from .reading import opened

    with opened(file) as source:
        if score is None:
            score = score_columns(source, set(), several=False)[0]
            note(f"score: column {score!r}")
        values = source.numbers(score, "score")
        chosen = select_rows(values, quota, ties=ties, seed=seed)
        _write(source, chosen.indices.tolist(), output)
    note(chosen.note)
    note(settings_line(file=source.name, score=score, rows=len(values), quota=chosen.quota, ties=ties, seed=seed))
    if output is not None:
        note(f"chosen: {output}")


def _write(source: Source, rows: list[int], output: str | None) -> None:
    """Copy the chosen rows out of the file, in their order, cells untouched."""
    from .reading import KINDS, quoted

    name = "place"
    while name in source.columns:
        name += "_"
    relation, path = source.relation(as_text=True)
    connection = source.connection
    connection.execute("CREATE TEMP TABLE chosen (row_id BIGINT, place BIGINT)")
    # Row numbers travel as one list; DuckDB numbers the rows of a file in their order.
    connection.execute("INSERT INTO chosen SELECT unnest(?), unnest(?)", [rows, list(range(1, len(rows) + 1))])
    query = (
        f"SELECT c.place AS {quoted(name)}, f.* EXCLUDE (cutline_row) FROM "
        f"(SELECT *, row_number() OVER () - 1 AS cutline_row FROM {relation}) f "
        "JOIN chosen c ON c.row_id = f.cutline_row ORDER BY c.place"
    )
    if output is None:
        result = connection.execute(query, path)
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow([column[0] for column in result.description])
        while batch := result.fetchmany(10_000):
            writer.writerows(batch)
        return
    from ..present.files import written_whole

    kind = KINDS.get(Path(output).suffix.lower(), "csv")
    how = {
        "csv": "FORMAT csv, HEADER",
        "tsv": "FORMAT csv, HEADER, DELIMITER '\t'",
        "parquet": "FORMAT parquet",
        "json": "FORMAT json",
    }[kind]
    connection.execute(f"CREATE TEMP TABLE result AS {query}", path)
    with written_whole(output) as beside:
        literal = str(beside).replace("'", "''")
        connection.execute(f"COPY (SELECT * FROM result ORDER BY {quoted(name)}) TO '{literal}' ({how})")

"""``cutline sql``: the query that counts cases in a warehouse, one that refines it, and counts that may be shared."""

from __future__ import annotations

import csv
import sys
from typing import Any

import click

from ..errors import InputError
from . import options as o
from .options import InputFile, command, option
from .reading import negative_labels

_QUERY = ("label", "scores", *o.LABELS, "by", "batch", "quota", "threshold")


class SqlArguments(o.Arguments, takes=[*_QUERY, "missing", "output"]):
    """The options of ``sql``."""

    table: str | None = option("The table, as the warehouse calls it.", metavar="NAME")
    dialect: str | None = option("The warehouse: postgres, snowflake, bigquery, clickhouse, trino, …", metavar="NAME")
    buckets: int | None = option("Buckets of the score (default: 65,536; 256 for each of two scores).")
    where: str | None = option("Count only rows that meet this condition, in the warehouse's SQL.", metavar="SQL")
    edges: str | None = option(
        "Scores that are not probabilities: 'query' prints a first query, its result goes here.", metavar="query|FILE"
    )
    refine: str | None = option(
        "The result of the query: print a second one that resolves the bucket of --quota or --threshold.",
        type=InputFile(),
        metavar="FILE",
    )
    share: str | None = option(
        "The result of the query: print it with small cells joined (--min-cell).", type=InputFile(), metavar="FILE"
    )
    min_cell: int | None = option("With --share: the least positives, and negatives, that a bucket shows.", metavar="N")


@command(
    SqlArguments,
    """\
  cutline sql --dialect postgres --table claims --label fraud --score p > counts.sql
  cutline sql --dialect snowflake --table claims --label fraud --score p --by region --where "day >= '2024-01-01'"
  cutline sql --refine result.csv --quota 1000
  cutline sql --dialect bigquery --table shop.visits --label bought --score a --score b
  cutline sql --share result.csv --min-cell 10 -o shared.csv
""",
)
def sql(asked: SqlArguments) -> None:
    """Print the query that counts cases by bucket of the score, for any warehouse.

    Run it there and save the result as CSV: cutline evaluate reads it, with bounds for what the buckets leave open. No
    row leaves the warehouse. Scores are probabilities; others need --edges. Counts of several sites are evaluated
    together: cutline evaluate north.csv south.csv.
    """
    from ..engines.count_query import sql as query
    from ..sources.counts import merge_counts

    if (asked.share is None) != (asked.min_cell is None):
        raise InputError("min_cell", "goes with --share", "give both, or use cutline evaluate --min-cell")
    if asked.share is not None:
        others = asked.given - {"share", "min_cell", "missing", "output"}
        if others:
            raise InputError(None, f"--share takes no --{min(others).replace('_', '-')}", "leave it out")
        table = merge_counts([asked.share], min_cell=asked.min_cell, missing=asked.missing or "error")
        if asked.output is not None:
            table.to_csv(asked.output)
            return
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
        return
    taken: dict[str, Any] = asked.named(
        *("table", "label", "dialect", "buckets", "batch", "where", "edges", "refine", "quota", "threshold")
    )
    taken |= {"score": asked.scores} if asked.scores else {}
    taken |= {"by": list(asked.by)} if asked.by else {}
    taken |= {"pos_label": asked.pos_label, "neg_label": negative_labels(asked) or None}
    text = f"{query(**taken)};"
    if asked.output is None:
        click.echo(text)
        return
    with open(asked.output, "w", encoding="utf-8") as file:
        file.write(f"{text}\n")

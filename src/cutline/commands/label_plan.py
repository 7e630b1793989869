"""``cutline label-plan``: which rows to label, written into a copy of the file that ``cutline audit`` reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import numpy as np

from ..errors import InputError
from . import options
from .output import Block, Report, check_writable, note, settings_line
from .terms import about_file

EXAMPLES = """\b
Examples:
  cutline label-plan scores.csv --score p --budget 500 --measure qrecall@1000 -o to_label.csv
  cutline label-plan scores.csv --score p --budget 200 --measure precision --label y -o next.csv
"""


@click.command("label-plan", epilog=EXAMPLES)
@options.file_argument
@options.one_score_option
@click.option("--budget", type=int, required=True, help="Number of rows you can label.")
@click.option("--measure", required=True, metavar="NAME", help="Measure to estimate, e.g. qrecall@1000.")
@click.option("--label", metavar="COLUMN", help="Labels known so far (empty if unknown); improves the plan.")
@options.positive_option
@click.option(
    "--prevalence", callback=options.share, metavar="SHARE", help="Expected share of positives, if no labels are known."
)
@options.seed_option
@options.text_options
@options.format_option
@click.option(
    "-o", "--output", type=options.PathName(), metavar="PATH", help="Write here (.csv, .tsv, .parquet, .jsonl)."
)
@options.quiet_option
def label_plan(
    file: str, score: str | None, label: str | None, form: str, output: str | None, positive: str | None, **asked: Any
) -> None:
    """Choose which rows to label so that one measure is known as well as possible.

    With -o all rows of FILE are written as they stand, with two more columns: "to_label" is 1 for the rows to look up,
    "inclusion" the probability that each row had of being among them. Fill in the labels and run cutline audit on it.
    """
    from .. import __version__
    from ..sampled_labels import label_plan as plan_rows
    from .reading import TEXT, load, one_score, opened
    from .select import output_kind, write_rows

    output_kind(output)
    check_writable(output, "-o", file)
    reading = {key: asked.pop(key) for key in TEXT}
    with opened(file, reading) as table:
        score = one_score(table, score)
        every = load(table, None, [score], None, reading)
        known = None
        if label is not None:
            table.column(label, "label")
            known = _labels(table, label, score, positive, reading, len(every))
        elif positive is not None:
            raise InputError("pos_label", "goes with a label column", "name it with {label}")
        with about_file(table.name):
            made = plan_rows(every.scores[score], label=known, **asked)
        if output is not None:
            chosen = np.zeros(len(every), np.int64)
            chosen[made.rows] = 1
            added = {"to_label": chosen.tolist(), "inclusion": made.inclusion.tolist()}
            write_rows(table, list(range(len(every))), output, added)
            note(f"rows to label: {output}")
    facts = {"file": file, "score": score, **({} if label is None else {"label": label})}

    def document() -> dict[str, Any]:
        import json

        return {"cutline": __version__, **facts, **json.loads(made.to_json())}

    def blocks() -> Iterator[str | Block]:
        yield repr(made).splitlines()[0]
        yield Block(made.strata.title, made.strata.to_dicts())

    settings = settings_line(**facts, rows=len(every), budget=asked["budget"], measure=made.measure, seed=asked["seed"])
    Report(document, made.to_dicts, blocks, settings).publish(form)


def _labels(table: Any, label: str, score: str, positive: str | None, reading: dict[str, Any], rows: int) -> Any:
    """The labels that are known so far, nan elsewhere; None where there is not one."""
    from .reading import load

    (known,) = table.count([f"{table.column(label, 'label').sql} IS NOT NULL"])
    if not known:
        return None
    found = load(table, label, [score], None, {**reading, "positive": positive, "missing": "drop"}, quiet=True)
    labels = np.full(rows, np.nan)
    labels[np.arange(rows) if found.source_rows is None else found.source_rows] = found.positive
    return labels

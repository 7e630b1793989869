"""``cutline label-plan``: which rows to label, written into a copy of the file that ``cutline audit`` reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click
import numpy as np

from ..errors import InputError
from . import options
from .output import Block, Report, note
from .terms import about_file

EXAMPLES = """\b
Examples:
  cutline label-plan scores.csv --score p --budget 500 --measure qrecall@1000 -o to_label.csv
  cutline label-plan scores.csv --score p --budget 200 --measure precision --label y -o next.csv
"""


@options.command("label-plan", epilog=EXAMPLES)
@options.file_argument
@options.one_score_option
@click.option("--budget", type=int, required=True, help="Number of rows you can label.")
@click.option("--measure", required=True, metavar="NAME", help="Measure to estimate, e.g. qrecall@1000.")
@options.column_option("--label", help="Labels known so far (empty if unknown); improves the plan.")
@options.positive_option
@options.share_option("--prevalence", "Expected share of positives, if no labels are known.")
@options.seed_option
@options.text_options
@options.format_option
@options.output_option()
@options.formulas_option
@options.quiet_option
def label_plan(
    file: str,
    score: str | None,
    label: str | None,
    form: str,
    output: str | None,
    escape_formulas: bool,
    **asked: Any,
) -> None:
    """Choose which rows to label so that one measure is known as well as possible.

    With -o all rows of FILE are written as they stand, with two more columns: "to_label" is 1 for the rows to look up,
    "inclusion" the probability that each row had of being among them. Fill in the labels and run cutline audit on it.
    """
    from ..sampled_labels import label_plan as plan_rows
    from .reading import TEXT, VALUES, known_labels, load, one_score, opened
    from .select import output_kind, write_rows

    output_kind(output)
    reading = {key: asked.pop(key) for key in TEXT}
    values = {key: asked.pop(key) for key in VALUES}
    with opened(file, reading) as table:
        score = one_score(table, score)
        every = load(table, None, [score], None, reading)
        known = None
        if label is not None:
            column = table.column(label, "label")
            if table.count([f"{column.sql} IS NOT NULL"])[0]:
                known = known_labels(table, label, score, {**reading, **values}, len(every))[0]
        elif values["positive"] is not None:
            raise InputError("pos_label", "goes with a label column", "name it with {label}")
        with about_file(table.name):
            made = plan_rows(every.scores[score], label=known, **asked)
        if output is not None:
            chosen = np.zeros(len(every), np.int64)
            chosen[made.rows] = 1
            added = {"to_label": chosen.tolist(), "inclusion": made.inclusion.tolist()}
            write_rows(table, list(range(len(every))), output, added, escaped=escape_formulas)
            note(f"rows to label: {output}")
    facts = {"file": file, "score": score, **({} if label is None else {"label": label})}

    def blocks() -> Iterator[str | Block]:
        yield repr(made).splitlines()[0]
        yield Block(made.strata.title, made.strata.to_dicts())

    settings = {"rows": len(every), "budget": asked["budget"], "measure": made.measure, "seed": asked["seed"]}
    Report(facts, lambda: json.loads(made.to_json()), made.to_dicts, blocks, settings).publish(form)

"""``cutline check``: a gate for pipelines, by the intervals of measures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import click

from . import options
from .output import Block, Report
from .terms import about_file

STATUS = {"pass": 0, "fail": 3, "undecided": 4}
EXAMPLES = """\b
Examples:
  cutline check scores.csv --label y --score p "hit_rate@200 >= .5" "roc_auc >= .8"
  cutline check scores.csv "brier_score < 0.1" --format json
"""


@options.command(epilog=EXAMPLES)
@options.file_argument
@click.argument("conditions", nargs=-1, required=True)
@options.label_option
@options.one_score_option
@options.positive_option
@options.weight_option
@click.option("--threshold", type=float, help="Threshold of recall, precision …; 0.5 for probabilities.")
@options.drawing_options()
@options.reading_options
@options.format_option
@options.quiet_option
@click.pass_context
def check(
    ctx: click.Context, /, file: str, conditions: tuple[str, ...], form: str, resamples: int, **asked: Any
) -> None:
    """Check conditions such as "hit_rate@200 >= .5": pass, fail or undecided, by the interval of each measure.

    Exit status: 0 if all pass, 3 if one fails, 4 if one is undecided, 2 for bad input.
    """
    from ..decide.check import check as check_measures
    from ..decide.check import parse_condition
    from ..evaluation import evaluate
    from .reading import load_one_score

    read = [parse_condition(text) for text in conditions]
    loaded = load_one_score(file, asked)
    with about_file(loaded.table.name):
        measures = list(dict.fromkeys(condition.measure for condition in read))
        options_of = {"measures": measures, "sample_weight": loaded.rows.weight, "n_resamples": resamples, **asked}
        ev = evaluate(*loaded.arrays, name=loaded.score, **options_of)
        found = check_measures(ev, *conditions)

    def blocks() -> Iterator[str | Block]:
        valued = all(math.isfinite(row["value"]) for row in found.table)
        why = "the interval contains the limit" if valued else "a measure has no value here"
        yield {"pass": "Pass.", "fail": "Fail.", "undecided": f"Undecided: {why}."}[str(found)]
        yield Block("", [{k: row[k] for k in ("condition", "outcome", "evidence")} for row in found.table])

    def content() -> dict[str, Any]:
        return {"outcome": str(found), "conditions": found.table.to_dicts()}

    given = {"rows": len(loaded.rows), "level": asked["level"], "resamples": resamples}
    if any(spec.measure.needs_threshold for spec in ev.specs.values()):
        given["threshold"] = ev.threshold
    Report(loaded.facts, content, found.table.to_dicts, blocks, given).publish(form)
    ctx.exit(STATUS[str(found)])

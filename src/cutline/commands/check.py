"""``cutline check``: a gate for pipelines, by the intervals of measures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from . import options
from .output import Block, Report, settings_line
from .terms import about_file

STATUS = {"pass": 0, "fail": 3, "undecided": 4}
EXAMPLES = """\b
Examples:
  cutline check scores.csv --label y --score p "hit_rate@200 >= .5" "roc_auc >= .8"
  cutline check scores.csv "brier_score < 0.1" --format json
"""


@click.command(epilog=EXAMPLES)
@options.file_argument
@click.argument("conditions", nargs=-1, required=True)
@options.label_option
@options.one_score_option
@options.positive_option
@options.weight_option
@click.option("--threshold", type=float, help="Threshold of recall, precision …; 0.5 for probabilities.")
@options.level_option
@click.option("--resamples", type=int, default=2000, show_default=True, help="Bootstrap resamples.")
@options.seed_option
@options.reading_options
@options.format_option
@options.quiet_option
@click.pass_context
def check(
    ctx: click.Context,
    /,
    file: str,
    conditions: tuple[str, ...],
    label: str | None,
    score: str | None,
    positive: str | None,
    weight: str | None,
    form: str,
    resamples: int,
    **asked: Any,
) -> None:
    """Check conditions such as "hit_rate@200 >= .5": pass, fail or undecided, by the interval of each measure.

    Exit status: 0 if all pass, 3 if one fails, 4 if one is undecided, 2 for bad input.
    """
    from .. import __version__
    from ..decide.check import check as check_measures
    from ..decide.check import parse_condition
    from ..evaluation import evaluate
    from .evaluate import facts_of
    from .reading import load_one_score

    read = [parse_condition(text) for text in conditions]
    table, columns, rows = load_one_score(file, label, score, positive, asked, weight)
    score = columns.scores[0]
    with about_file(table.name):
        measures = list(dict.fromkeys(condition.measure for condition in read))
        options_of = {"measures": measures, "sample_weight": rows.weight, "n_resamples": resamples, **asked}
        ev = evaluate(rows.positive, rows.scores[score], name=score, **options_of)
        found = check_measures(ev, *conditions)
    facts = facts_of(file, columns, score, {"positive": positive}, rows.dropped)

    def blocks() -> Iterator[str | Block]:
        yield {"pass": "Pass.", "fail": "Fail.", "undecided": "Undecided: the interval contains the limit."}[str(found)]
        yield Block("", [{k: row[k] for k in ("condition", "outcome", "evidence")} for row in found.table])

    document = {"cutline": __version__, **facts, "outcome": str(found), "conditions": found.table.to_dicts()}
    given = {"rows": len(rows.positive), "level": asked["level"], "resamples": resamples}
    if any(spec.measure.needs_threshold for spec in ev.specs.values()):
        given["threshold"] = ev.threshold
    settings = settings_line(**facts, **given)
    Report(lambda: document, found.table.to_dicts, blocks, settings).publish(form)
    ctx.exit(STATUS[str(found)])

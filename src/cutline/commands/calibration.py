"""``cutline calibration``: are the probabilities right, and how sure is that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from ..table import format_value
from . import options
from .output import Block, Report, settings_line
from .terms import about_file

EXAMPLES = """\b
Examples:
  cutline calibration scores.csv --label y --score p
  cutline calibration scores.csv --label y --score p --weight w --plot reliability.png
  cutline calibration scores.csv --format csv > reliability-curve.csv
"""


@click.command(epilog=EXAMPLES)
@options.file_argument
@options.label_option
@options.one_score_option
@options.positive_option
@options.weight_option
@options.level_option
@click.option(
    "--resamples", type=int, default=999, show_default=True, help="Simulated samples for the test and the bands."
)
@options.seed_option
@options.reading_options
@options.format_option
@options.plot_option
@options.quiet_option
def calibration(
    file: str,
    label: str | None,
    score: str | None,
    positive: str | None,
    weight: str | None,
    form: str,
    plot: str | None,
    resamples: int,
    **asked: Any,
) -> None:
    """Check whether probabilities are right: a test, slope and intercept, and the parts of the losses.

    csv prints the reliability curve with its bands.
    """
    from .. import __version__
    from ..evaluation import evaluate
    from .evaluate import check_plot, facts_of, save_plot
    from .reading import load_one_score

    check_plot(plot, file)
    table, columns, rows = load_one_score(file, label, score, positive, asked, weight)
    name = columns.scores[0]
    with about_file(table.name):
        how = {"sample_weight": rows.weight, "measures": ["brier_score"], "n_resamples": resamples, **asked}
        made = evaluate(rows.positive, rows.scores[name], name=name, **how).calibration()
    facts = facts_of(file, columns, name, {"positive": positive}, rows.dropped)
    save_plot(made, plot)

    def blocks() -> Iterator[str | Block]:
        yield made.summary
        yield Block("", made.lines.to_dicts())
        shown = ("measure", "part", "value", "low", "high")
        yield Block(made.parts.title, [{key: format_value(row[key]) for key in shown} for row in made.parts], "measure")

    given = {"rows": len(rows.positive), "level": made.level, "simulations": made.n_simulations, "seed": asked["seed"]}
    document = {"cutline": __version__, **facts, "rows": len(rows.positive), **made.to_dict()}
    Report(lambda: document, made.bands.to_dicts, blocks, settings_line(**facts, **given)).publish(form)

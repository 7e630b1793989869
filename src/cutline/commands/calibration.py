"""``cutline calibration``: are the probabilities right, and how sure is that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..table import format_value
from . import options
from .output import Block, Report
from .terms import about_file

EXAMPLES = """\b
Examples:
  cutline calibration scores.csv --label y --score p
  cutline calibration scores.csv --label y --score p --weight w --plot reliability.png
  cutline calibration scores.csv --format csv > reliability-curve.csv
"""


@options.command(epilog=EXAMPLES)
@options.one_model
@options.positive_option
@options.weight_option
@options.drawing_options(999, "Simulated samples for the test and the bands.")
@options.decision_options
def calibration(file: str, form: str, plot: str | None, resamples: int, **asked: Any) -> None:
    """Check whether probabilities are right: a test, slope and intercept, and the parts of the losses.

    csv prints the reliability curve with its bands.
    """
    from ..evaluation import evaluate
    from .evaluate import check_plot, save_plot
    from .reading import load_one_score

    check_plot(plot)
    found = load_one_score(file, asked)
    rows = len(found.rows)
    with about_file(found.table.name):
        how = {"sample_weight": found.rows.weight, "measures": ["brier_score"], "n_resamples": resamples, **asked}
        made = evaluate(*found.arrays, name=found.score, **how).calibration()
    save_plot(made, plot)

    def blocks() -> Iterator[str | Block]:
        yield made.summary
        yield Block("", made.lines.to_dicts())
        shown = ("measure", "part", "value", "low", "high")
        yield Block(made.parts.title, [{key: format_value(row[key]) for key in shown} for row in made.parts], "measure")

    given = {"rows": rows, "level": made.level, "simulations": made.n_simulations, "seed": asked["seed"]}
    Report(found.facts, lambda: {"rows": rows, **made.to_dict()}, made.bands.to_dicts, blocks, given).publish(form)

"""``cutline vote``: how many of the best models to average, and what to expect of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from . import options
from .output import Block, Report
from .terms import about_file

EXAMPLES = """\b
Examples:
  cutline vote scores.csv --label y --score 'm*'
  cutline vote scores.csv --label y --score 'm*' --rank-by qrecall@50 --vote rank --plot votes.png
"""


@options.command(epilog=EXAMPLES)
@options.several_models
@click.option("--rank-by", default="pem", show_default=True, metavar="NAME", help="Measure that orders the models.")
@options.choice_option("--vote", ["score", "rank"], "What to average.", default="score")
@click.option("--folds", type=int, default=5, show_default=True, help="Folds for choosing the number of models.")
@options.quota_option
@options.positive_option
@options.drawing_options(200)
@options.decision_options
def vote(file: str, scores: tuple[str, ...], form: str, plot: str | None, resamples: int, **asked: Any) -> None:
    """Average the scores of the best models: choose how many on held-out rows, and estimate the result."""
    from ..decide.voting import selective_voting
    from .evaluate import check_plot, save_plot
    from .reading import load_models

    check_plot(plot)
    found = load_models(file, asked, scores)
    with about_file(found.table.name):
        made = selective_voting(found.rows.positive, found.rows.scores, n_resamples=resamples, **asked)
    save_plot(made, plot)

    def blocks() -> Iterator[str | Block]:
        yield made.summary
        yield Block("", made.marks.to_dicts())
        yield Block("Best number of models on these rows", made.optimum.to_dicts())
        yield Block("Correlation of the marks over the numbers of models", made.correlation.to_dicts())

    settings = {"rows": len(found.rows), "rank_by": asked["rank_by"], "resamples": resamples}
    Report(found.facts, made.to_dict, made.marks.to_dicts, blocks, settings).publish(form)

"""``cutline vote``: how many of the best models to average, and what to expect of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from . import options
from .output import Block, Report, settings_line
from .terms import about_file

EXAMPLES = """\b
Examples:
  cutline vote scores.csv --label y --score 'm*'
  cutline vote scores.csv --label y --score 'm*' --rank-by qrecall@50 --vote rank --plot votes.png
"""


@click.command(epilog=EXAMPLES)
@options.file_argument
@options.label_option
@options.scores_option
@click.option("--rank-by", default="pem", show_default=True, metavar="NAME", help="Measure that orders the models.")
@click.option(
    "--vote", type=click.Choice(["score", "rank"]), default="score", show_default=True, help="What to average."
)
@click.option("--folds", type=int, default=5, show_default=True, help="Folds for choosing the number of models.")
@options.quota_option
@options.positive_option
@options.level_option
@click.option("--resamples", type=int, default=200, show_default=True, help="Bootstrap resamples.")
@options.seed_option
@options.reading_options
@options.format_option
@options.plot_option
@options.quiet_option
def vote(
    file: str,
    label: str | None,
    scores: tuple[str, ...],
    positive: str | None,
    form: str,
    plot: str | None,
    resamples: int,
    **asked: Any,
) -> None:
    """Average the scores of the best models: choose how many on held-out rows, and estimate the result."""
    from ..decide.voting import selective_voting
    from .evaluate import check_plot, facts_of, save_plot
    from .reading import TEXT, choose_columns, load, opened

    check_plot(plot, file)
    reading = {key: asked.pop(key) for key in ("missing", *TEXT)}
    with opened(file, reading) as table:
        columns = choose_columns(table, label, list(scores), None, several=True)
        names = list(columns.scores)
        rows = load(table, columns.label, names, None, {"positive": positive, **reading})
    with about_file(table.name):
        models = {name: rows.scores[name] for name in names}
        made = selective_voting(rows.positive, models, n_resamples=resamples, **asked)
    facts = facts_of(file, columns, ", ".join(names), {"positive": positive}, rows.dropped)
    save_plot(made, plot)

    def blocks() -> Iterator[str | Block]:
        yield made.summary
        yield Block("", made.marks.to_dicts())
        yield Block("Best number of models on these rows", made.optimum.to_dicts())

    settings = settings_line(**facts, rows=len(rows.positive), rank_by=asked["rank_by"], resamples=resamples)
    Report(lambda: {**facts, **made.to_dict()}, made.marks.to_dicts, blocks, settings).publish(form)

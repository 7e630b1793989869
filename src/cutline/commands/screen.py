"""``cutline screen``: stages of scores, how many to keep at each, what is lost and what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from ..errors import InputError
from . import options
from .output import Block, Report, settings_line
from .terms import about_file

EXAMPLES = """\b
Examples:
  cutline screen scores.csv --label y --stage cheap=50% --stage costly=200 --costs 1,10
  cutline screen scores.csv --label y --stage cheap --stage costly=200 --costs 1,10 --max-loss 5%
"""


def _stages(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> list[tuple[str, Any]]:
    """Read ``COLUMN=KEEP``; a column alone leaves its size open."""
    from ..quotas import Quotas, parse_quota

    found = []
    for text in value:
        column, equals, keep = text.rpartition("=")
        size = parse_quota(keep, "stage") if equals else None
        if isinstance(size, Quotas):
            raise InputError(None, f"--stage {text}: a stage keeps one number of cases", "write e.g. cheap=50%")
        found.append((column if equals else text, size))
    return found


def _numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> list[float] | None:
    try:
        return None if value is None else [float(part) for part in value.split(",")]
    except ValueError:
        raise InputError(None, f"--costs {value} is not a list of numbers", "write one for each stage: 1,10") from None


@click.command(epilog=EXAMPLES)
@options.file_argument
@options.label_option
@click.option(
    "--stage",
    "stages",
    multiple=True,
    required=True,
    callback=_stages,
    metavar="COLUMN[=KEEP]",
    help="Score of a stage and how many it keeps (200 or 50%); without a size, it is chosen for you.",
)
@click.option("--costs", callback=_numbers, metavar="A,B,…", help="Cost of a case at each stage.")
@click.option("--budget", type=float, help="Choose missing sizes so that the total cost stays within this budget.")
@click.option(
    "--max-loss",
    callback=options.share,
    metavar="SHARE",
    help="Choose missing sizes so that at most this share of the positives is lost.",
)
@options.positive_option
@options.level_option
@click.option("--resamples", type=int, default=400, show_default=True, help="Bootstrap resamples.")
@options.seed_option
@options.reading_options
@options.format_option
@options.plot_option
@options.quiet_option
def screen(
    file: str,
    label: str | None,
    stages: list[tuple[str, Any]],
    costs: list[float] | None,
    positive: str | None,
    form: str,
    plot: str | None,
    resamples: int,
    **asked: Any,
) -> None:
    """Screen cases in stages, each by its own score, best first.

    Prints for each stage what enters, what is kept and which share of the positives is lost, with intervals.
    """
    from ..decide.screening import screen as screen_arrays
    from .evaluate import check_plot, facts_of, save_plot
    from .reading import TEXT, choose_columns, load, opened

    check_plot(plot, file)
    reading = {key: asked.pop(key) for key in ("missing", *TEXT)}
    names = list(dict.fromkeys(column for column, _ in stages))
    with opened(file, reading) as table:
        columns = choose_columns(table, label, names, None, several=len(names) > 1)
        rows = load(table, columns.label, names, None, {"positive": positive, **reading})
    with about_file(table.name):
        given = [(rows.scores[column], keep) for column, keep in stages]
        made = screen_arrays(rows.positive, given, cost=costs, n_resamples=resamples, **asked)
    facts = facts_of(file, columns, ", ".join(names), {"positive": positive}, rows.dropped)
    save_plot(made, plot)

    def blocks() -> Iterator[str | Block]:
        yield made.summary
        yield Block("", [{"score": column, **row} for (column, _), row in zip(stages, made.stages, strict=True)])

    settings = settings_line(**facts, rows=len(rows.positive), level=asked["level"], resamples=resamples)
    Report(lambda: {**facts, **made.to_dict()}, made.stages.to_dicts, blocks, settings).publish(form)

"""``cutline screen``: stages of scores, how many to keep at each, what is lost and what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from ..errors import InputError, listed
from . import options
from .output import Block, Report
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


@options.command(epilog=EXAMPLES)
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
@options.share_option("--max-loss", "Choose missing sizes so that at most this share of the positives is lost.")
@options.positive_option
@options.drawing_options(400)
@options.decision_options
def screen(
    file: str,
    stages: list[tuple[str, Any]],
    costs: list[float] | None,
    form: str,
    plot: str | None,
    resamples: int,
    **asked: Any,
) -> None:
    """Screen cases in stages, each by its own score, best first.

    Prints for each stage what enters, what is kept and which share of the positives is lost, with intervals.
    """
    from ..decide.screening import screen as screen_arrays
    from .evaluate import check_plot, save_plot
    from .reading import load_models

    check_plot(plot)
    names = list(dict.fromkeys(column for column, _ in stages))
    found = load_models(file, asked, names, several=len(names) > 1)
    pattern = next((name for name in names if name not in found.rows.scores), None)
    if pattern is not None:
        said = f"--stage {pattern}: a stage has one score, not {listed(found.columns.scores)}"
        raise InputError(None, said, "name one of them")
    with about_file(found.table.name):
        given = [(found.rows.scores[column], keep) for column, keep in stages]
        made = screen_arrays(found.rows.positive, given, cost=costs, n_resamples=resamples, **asked)
    save_plot(made, plot)

    def blocks() -> Iterator[str | Block]:
        yield made.summary
        yield Block("", [{"score": column, **row} for (column, _), row in zip(stages, made.stages, strict=True)])

    settings = {"rows": len(found.rows), "level": asked["level"], "resamples": resamples}
    Report(found.facts, made.to_dict, made.stages.to_dicts, blocks, settings).publish(form)

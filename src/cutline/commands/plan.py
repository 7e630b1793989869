"""``cutline plan``: where to cut the list, given costs and values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from ..table import count, format_value
from . import options
from .output import Block, Report, note
from .terms import about_file

if TYPE_CHECKING:
    from ..decide.planning import Plan
    from .reading import Loaded

EXAMPLES = """\b
Examples:
  cutline plan scores.csv --label y --score p --cost 2 --value 50
  cutline plan scores.csv --label y --score p --cost 2 --value 50 --budget 10000 --plot profit.png
  cutline plan scores.csv --cost 2 --value 50 --quota 5% --format csv > profit-curve.csv
"""


@options.command(epilog=EXAMPLES)
@options.one_model
@click.option("--cost", type=float, required=True, help="Cost of each case taken.")
@click.option("--value", type=float, required=True, help="Value of each hit.")
@click.option("--fixed-cost", type=float, default=0.0, show_default=True, help="Fixed cost, paid once.")
@click.option("--budget", type=float, help="Total budget; it limits the number of cases.")
@options.quota_option
@options.positive_option
@options.prevalence_option
@options.batch_option
@options.cluster_option
@options.drawing_options()
@options.reading_options
@options.format_option
@options.html_option
@options.plot_option
@options.quiet_option
def plan(file: str, form: str, html: str | None, plot: str | None, resamples: int, **asked: Any) -> None:
    """Find the most profitable number of cases: profit is value × hits − cost × cases.

    --quota limits the number of cases, --budget the total cost. --format csv prints the whole profit curve. With
    --batch all of this is per batch: this many places every day.
    """
    from ..decide.planning import plan as plan_arrays
    from .evaluate import check_plot, save_plot
    from .reading import load_one_score

    check_plot(plot)
    found = load_one_score(file, asked)
    how: dict[str, Any] = {"batch": found.rows.batch, "clusters": found.rows.clusters, "n_resamples": resamples}
    with about_file(found.table.name):
        made = plan_arrays(*found.arrays, **{**how, **asked})
    if html is not None:
        _write_page(made, html, found, {**how, "prevalence": asked["prevalence"]})
        note(f"page: {html}")
    save_plot(made, plot)
    given = {key: asked[key] for key in ("cost", "value", "fixed_cost", "budget", "quota") if asked[key]}
    if asked["prevalence"] is not None:
        given["prevalence"] = str(asked["prevalence"])
    drawn = {"level": asked["level"], "resamples": resamples, "seed": asked["seed"]}
    _report(made, found.facts, {"rows": len(found.rows), **given, **drawn}, resamples).publish(form)


def _write_page(made: Plan, path: str, found: Loaded, how: dict[str, Any]) -> None:
    """The page of the scores, opened at the best cut, with the plan as its answer."""
    from ..evaluation import evaluate
    from ..present.page import write_page

    known, name = made.settings, found.score
    how |= {"level": known["level"], "seed": known["seed"]}
    ev = evaluate(*found.arrays, name=name, quota=made.quota or None, **how)
    prices = {"cost": known["cost"], "value": known["value"]}
    write_page(ev, path, source=found.facts, title=f"Plan for {name}", answer=made.sentences(), **prices)


def _report(made: Plan, facts: dict[str, Any], settings: dict[str, Any], resamples: int) -> Report:
    cut = made.cut

    def content() -> dict[str, Any]:
        at = {
            "threshold": None if cut is None else cut.threshold,
            "hits_here": None if cut is None else cut.tp,
            "next_hits_low": made.next_hits.low,
            "next_hits_high": made.next_hits.high,
        }
        known = {"rows": len(made.taken) - 1, "n_resamples": resamples, **made.to_dict()}
        return {**known, **at, "curve": made.curve.to_dicts()}

    def blocks() -> Iterator[str | Block]:
        yield "\n".join(made.sentences())
        yield Block("", _rows(made))

    return Report(facts, content, lambda: list(made.curve), blocks, settings)


def _rows(made: Plan) -> list[dict[str, str]]:
    from ..decide.planning import amount

    p = made.profit
    fine = (p.high - p.low) / 10  # the table carries one digit more than the sentences
    lines = [("cases to take", f"{made.quota:,}"), ("cases allowed", f"{made.limit:,}")]
    if made.cut is not None:
        low, high = made.next_hits
        lines += [
            *([("threshold", format_value(made.cut.threshold))] if made.batches is None else []),
            ("hits here" if made.batches is None else "hits in all batches", count(made.cut.tp)),
            ("hits in the next batch", f"{count(low)} … {count(high)}"),
        ]
    lines += [
        ("profit on these data", format_value(p.value)),
        ("interval of the profit", f"{format_value(p.low)} … {format_value(p.high)}"),
        ("optimism in the profit", amount(made.optimism, fine)),
        ("profit to expect", amount(made.expected_profit, fine)),
        ("largest quota without a loss", f"{made.break_even:,}"),
        ("one more place is worth", amount(made.marginal_value, abs(made.marginal_value) / 10)),
    ]
    return [{"": name, "value": value} for name, value in lines]

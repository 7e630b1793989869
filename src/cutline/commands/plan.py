"""``cutline plan``: where to cut the list, given costs and values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ..table import format_value, pluralize, to_jsonable
from . import options
from .output import as_csv, as_markdown, note, print_table, say, settings_line
from .speech import spoken

if TYPE_CHECKING:
    from ..decide.planning import Plan

EXAMPLES = """\b
Examples:
  cutline plan scores.csv --label y --score p --cost 2 --value 50
  cutline plan scores.csv --label y --score p --cost 2 --value 50 --budget 10000
  cutline plan scores.csv --cost 2 --value 50 --quota 5% --format csv > profit-curve.csv
"""


@click.command(epilog=EXAMPLES)
@options.file_argument
@options.label_option
@options.one_score_option
@click.option("--cost", type=float, required=True, help="Cost of each case taken.")
@click.option("--value", type=float, required=True, help="Value of each hit.")
@click.option("--fixed-cost", type=float, default=0.0, show_default=True, help="Cost of doing it at all.")
@click.option("--budget", type=float, help="Money there is: limits the number of cases.")
@options.quota_option
@options.positive_option
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--resamples", type=int, default=2000, show_default=True, help="Bootstrap resamples.")
@options.seed_option
@options.format_option
def plan(
    file: str, label: str | None, score: str | None, positive: str | None, form: str, resamples: int, **asked: Any
) -> None:
    """Say how many cases to take so that the profit is highest: value × hits − cost × cases.

    --quota is the most cases there is room for, --budget the most money. csv prints the whole profit curve.
    """
    from .. import __version__
    from ..decide.planning import plan as plan_arrays
    from .columns import choose_columns, read_labels
    from .evaluate import facts_of
    from .reading import opened

    with opened(file) as source:
        columns = choose_columns(source, label, [score] if score else [], None)
        if score is not None:
            source.one(score)
        score = columns.scores[0]
        labels = read_labels(source, columns.label, positive)
        values = source.numbers(score, "score")
    with spoken(source.name):
        made = plan_arrays(labels, values, n_resamples=resamples, **asked)
    facts = facts_of(source.name, columns, score, {"positive": positive})
    line = settings_line(
        **facts,
        rows=len(labels),
        **{k: asked[k] for k in ("cost", "value", "fixed_cost", "budget", "quota") if asked[k]},
        level=asked["level"],
        resamples=resamples,
        seed=asked["seed"],
    )
    if form == "json":
        content = {"cutline": __version__, **facts, "rows": len(labels), "n_resamples": resamples, **made.to_dict()}
        content |= _cut(made)
        content["curve"] = made.curve.to_dicts()
        say(json.dumps(to_jsonable(content), indent=2, ensure_ascii=False))
    elif form == "csv":
        say(as_csv(list(made.curve), made.curve.columns).rstrip("\n"))
        note(line)
    else:
        rows = _rows(made)
        say(_sentence(made, asked) + "\n")
        if form == "markdown":
            say(as_markdown(rows, ["", "value"]))
        else:
            print_table(rows, ["", "value"])
        say(f"\n{line}")


def _cut(made: Plan) -> dict[str, Any]:
    """The best cut: its threshold, the hits expected and those of the next batch; null where nobody is taken."""
    cut = made.cut
    return {
        "threshold": None if cut is None else cut.threshold,
        "expected_hits": None if cut is None else cut.tp,
        "next_hits_low": None if cut is None else cut.next_hits[0],
        "next_hits_high": None if cut is None else cut.next_hits[1],
    }


def _sentence(made: Plan, asked: dict[str, Any]) -> str:
    if made.limit == 0:
        return f"Take nobody: the budget of {asked['budget']:g} does not pay for one case at cost {asked['cost']:g}."
    if made.quota == 0 and made.profits.max() > 0:
        allowed = pluralize(made.limit, "case")
        return f"Take nobody: among the {allowed} allowed no cut makes a profit; a higher limit would."
    if made.quota == 0:
        return f"Take nobody: at cost {asked['cost']:g} and value {asked['value']:g} no cut makes a profit."
    p = made.profit
    low, high = format_value(p.low), format_value(p.high)
    return (
        f"Take the best {made.quota:,}: profit {format_value(p.value)} "
        f"({asked['level']:.0%} interval {low} to {high}); "
        f"choosing the cut on the same data makes that look {format_value(made.optimism)} too good."
    )


def _rows(made: Plan) -> list[dict[str, str]]:
    lines = [("cases to take", f"{made.quota:,}"), ("cases allowed", f"{made.limit:,}")]
    if made.cut is not None:
        low, high = made.cut.next_hits
        lines += [
            ("threshold", format_value(made.cut.threshold)),
            ("expected hits", format_value(made.cut.tp)),
            ("hits of the next batch", f"{format_value(low)} … {format_value(high)}"),
        ]
    lines += [
        ("profit", format_value(made.profit.value)),
        ("interval of the profit", f"{format_value(made.profit.low)} … {format_value(made.profit.high)}"),
        ("optimism in it", format_value(made.optimism)),
        ("break even at", f"{made.break_even:,}"),
        ("one more place is worth", format_value(made.marginal_value)),
    ]
    return [{"": name, "value": value} for name, value in lines]

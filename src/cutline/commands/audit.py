"""``cutline audit``: one model on a list of which only some labels are known."""

from __future__ import annotations

from typing import Any

import click

from ..errors import InputError
from . import options
from .terms import about_file

EXAMPLES = """\b
Examples:
  cutline audit to_label.csv --label y --score p --inclusion inclusion --quota 1000
  cutline audit cases.csv --label outcome --positive fraud --score p --inclusion chance --measure hit_rate@200
"""


@options.command(epilog=EXAMPLES)
@options.one_model
@click.option(
    "--inclusion", required=True, metavar="COLUMN|P", help="Probability of being labelled: a column or a share."
)
@options.quota_option
@options.threshold_option
@options.positive_option
@options.measure_option
@options.all_option
@options.choice_option(
    "--estimator",
    ["assisted", "hajek"],
    "Also use the scores of unlabelled rows, or labelled rows only.",
    default="assisted",
)
@options.level_option
@click.option("--no-intervals", is_flag=True, help="Values only.")
@options.text_options
@options.format_option
@options.plot_option
@options.quiet_option
def audit(file: str, label: str | None, score: str | None, inclusion: str, form: str, **asked: Any) -> None:
    """Say how good one model's scores are where only some rows have a label.

    FILE holds every row of the list: its score, the probability that it had of being labelled, and its label or an
    empty cell. cutline label-plan writes such a file.
    """
    from ..sampled_labels import audit as audit_rows
    from .evaluate import check_plot, few_measures, report, save_plot
    from .reading import Columns, choose_columns, facts_of, known_labels, load, one_score, opened, say_understood

    check_plot(asked["plot"])
    with opened(file, asked) as table:
        if label is None:
            raise InputError("label", "is missing: a column with empty cells is not looked for", "name it with {label}")
        score = choose_columns(table, label, [one_score(table, score)], None).scores[0]
        chance = _share(inclusion)
        numbers = [score] if chance is not None else [score, inclusion]
        if chance is None:
            table.column(inclusion, "inclusion")
        every = load(table, None, numbers, None, asked, quiet=True)
        labels, understood = known_labels(table, label, score, asked, len(every))
        say_understood("; ".join(understood))
    few = few_measures(form, asked)
    with about_file(table.name):
        ev = audit_rows(
            every.scores[score],
            labels,
            inclusion=every.scores[inclusion] if chance is None else chance,
            name=score,
            measures=few or list(asked["measures"]) or None,
            interval=None if asked["no_intervals"] else "auto",
            **{key: asked[key] for key in ("threshold", "quota", "estimator", "level")},
        )
    save_plot(ev, asked["plot"])
    facts = facts_of(file, Columns(label, (score,), None), asked)
    facts |= {"inclusion": inclusion, "labelled": ev.facts["labelled"], "estimator": asked["estimator"]}
    report(ev, facts, asked["measures"], short=few is not None).publish(form)


def _share(text: str) -> float | None:
    """A probability that is the same for all rows; None for the name of a column."""
    try:
        return options.read_share(text)
    except ValueError:
        return None

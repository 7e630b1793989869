"""``cutline cut``: the threshold for a goal, as a file that ``cutline select --cut`` applies to new scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from ..errors import InputError
from ..table import count, format_value
from . import options
from .output import Block, Report, note
from .terms import about_file

EXAMPLES = """\b
Examples:
  cutline cut scores.csv --label y --score p --recall .8 --confidence .9 -o cut.json
  cutline cut scores.csv --precision .5 --confidence .9 --capacity 200 --reviewer-error .05
  cutline cut scores.csv --cost-fp 1 --cost-fn 20 --prevalence .01
  cutline select new-scores.csv --score p --cut cut.json
"""


@options.command(epilog=EXAMPLES)
@options.one_model
@options.cut_options
@options.share_option("--confidence", "Confidence that the promise holds on new data.")
@options.error_cost_options
@options.share_option("--prevalence", "Share of positives where the scores will be used.")
@click.option(
    "--capacity", callback=options.read_quota, metavar="N|P%", help="Cases below the cut that a reviewer can look at."
)
@options.share_option(
    "--reviewer-error", "Share of cases that the reviewer decides wrongly.", default="0", show_default=True
)
@options.positive_option
@options.weight_option
@options.drawing_options()
@options.reading_options
@options.format_option
@options.output_option("Write the cut here, as JSON.")
@options.quiet_option
def cut(
    file: str,
    form: str,
    output: str | None,
    resamples: int,
    capacity: Any,
    reviewer_error: float,
    **asked: Any,
) -> None:
    """Find the threshold that keeps a promise or costs least; cases with score > threshold are taken.

    With --confidence the promise holds on new data like these; without it, it holds on FILE, and on new data about
    half the time. --capacity sends the next cases below the cut to a reviewer.
    """
    from ..decide.thresholds import threshold_for, triage
    from .reading import load_one_score

    if all(asked[name] is None for name in ("recall", "precision", "specificity", "fpr", "cost_fp", "cost_fn")):
        said = "give one of {recall}, {precision}, {specificity}, {fpr}, or {cost_fp} with {cost_fn}"
        raise InputError(None, "there is nothing to cut for", said)
    found = load_one_score(file, asked)
    given = {key: value for key, value in asked.items() if value is not None}
    how: dict[str, Any] = {"sample_weight": found.rows.weight, "n_resamples": resamples, **given}
    with about_file(found.table.name):
        if capacity is None:
            zones, made = None, threshold_for(*found.arrays, **how)
        else:
            beyond = sorted({*given} & {"recall", "cost_fp", "cost_fn", "prevalence"})
            if beyond:
                raise InputError(beyond[0], "cannot be used with a reviewer", "use {precision}, {specificity} or {fpr}")
            zones = triage(*found.arrays, capacity=capacity, reviewer_error=reviewer_error, **how)
            made = zones.cut
    if output is not None:
        made.save(output, score=found.score, **({} if zones is None else {"review_threshold": zones.review_cut}))
        note(f"cut: {output}")
    settings = {"rows": len(found.rows), **{k: v for k, v in given.items() if k != "level"}}
    _report(made, zones, found.facts, settings).publish(form)


def _report(made: Any, zones: Any, facts: dict[str, Any], settings: dict[str, Any]) -> Report:
    point = made.point

    def lines() -> list[dict[str, Any]]:
        rows = [
            ("threshold", format_value(float(made))),
            ("cases taken", count(point.taken)),
            ("recall here", format_value(point.recall)),
            ("precision here", format_value(point.precision)),
            ("false positive rate here", format_value(point.fpr)),
        ]
        return [{"": name, "value": value} for name, value in rows]

    def content() -> dict[str, Any]:
        more = {} if zones is None else {"triage": zones.to_dict()}
        return {**made.to_dict(), "here": point.to_dict(), **more}

    def blocks() -> Iterator[str | Block]:
        yield f"Take score > {format_value(float(made))}: {made.note}."
        yield Block("", lines())
        if zones is not None:
            yield Block("Automatic, review, left", zones.zones.to_dicts())
            r, p = zones.recall, zones.precision
            yield (
                f"With the reviewer {r.value:.1%} of the positives are found ({r.low:.1%} to {r.high:.1%}), and "
                f"{p.value:.1%} of the cases called positive really are ({p.low:.1%} to {p.high:.1%})."
            )

    return Report(facts, content, lines if zones is None else zones.zones.to_dicts, blocks, settings)

"""``cutline compare``: several models on the same cases."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..table import to_jsonable
from . import options
from .evaluate import check_page, check_quota, facts_of, warm_up, wishes
from .output import as_csv, as_markdown, note, print_table, say, settings_line
from .speech import spoken

if TYPE_CHECKING:
    from ..comparison import Comparison

EXAMPLES = """\b
Examples:
  cutline compare scores.csv --quota 20
  cutline compare scores.csv --label y --score tree --score network --quota 5% --html compare.html
  cutline compare scores.csv --label y --score 'model_*' --measure pem --format json
"""


@click.command(epilog=EXAMPLES)
@options.file_argument
@options.label_option
@options.scores_option
@options.quota_option
@options.threshold_option
@options.positive_option
@options.weight_option
@options.measure_option
@click.option("--margin", type=float, help="Difference that does not matter to you.")
@options.inference_options
@options.engine_options
@options.format_option
@options.html_option
@options.cost_option
@options.value_option
def compare(
    file: str,
    label: str | None,
    scores: tuple[str, ...],
    html: str | None,
    form: str,
    cost: float | None,
    value: float | None,
    **asked: Any,
) -> None:
    """Say which of several models is better, by how much, how sure that is, and for which quota.

    FILE holds a row for each case, with its real outcome and a score column for each model. Without --score all
    columns of fractions are compared.
    """
    from ..comparison import compare as compare_arrays
    from .columns import choose_columns, read_labels
    from .engine import choose_engine, table
    from .reading import opened

    check_page(html, cost, value)
    check_quota(asked)
    engine = choose_engine(file, asked)
    if engine.name != "memory":
        from ..tables import compare_table

        with table(file, engine, label, scores, asked, several=True) as (rows, columns, settings):
            comparison = compare_table(rows, scores=columns.scores, margin=asked["margin"], **settings)
        first = next(iter(comparison.evaluations.values()))
        facts = facts_of(file, columns, ", ".join(columns.scores), asked, first.facts["dropped"])
        _finish(comparison, html, form, facts, cost, value, asked["measures"])
        return
    with opened(file) as source:
        warm_up()
        columns = choose_columns(source, label, scores, asked["weight"], several=True)
        if len(columns.scores) < 2:
            raise InputError(f"a comparison needs two score columns or more; --score names only {columns.scores[0]!r}")
        labels = read_labels(source, columns.label, asked["positive"])
        weight = None if columns.weight is None else source.weights(columns.weight)
        read = {name: source.numbers(name, "score") for name in columns.scores}
    with spoken(source.name):
        comparison = compare_arrays(
            labels,
            read,
            sample_weight=weight,
            margin=asked["margin"],
            **wishes(asked),
        )
    facts = facts_of(source.name, columns, ", ".join(columns.scores), asked)
    _finish(comparison, html, form, facts, cost, value, asked["measures"])


def _finish(
    comparison: Comparison,
    html: str | None,
    form: str,
    facts: dict[str, Any],
    cost: float | None,
    value: float | None,
    measures: Sequence[str],
) -> None:
    if html is not None:
        from ..present.page import write_page

        write_page(comparison, html, cost=cost, value=value, source=facts)
        note(f"page: {html}")
    show_comparison(comparison, form, facts, measures)


def settings_of(comparison: Comparison, facts: dict[str, Any], measures: Sequence[str] = ()) -> str:
    """The settings line of a comparison."""
    s = comparison.settings
    first = next(iter(comparison.evaluations.values()))
    made = {"level": s.level, "resamples": s.n_resamples, "seed": s.seed} if s.interval else {"intervals": "none"}
    asked = {"quota": comparison.quota, "measures": ", ".join(measures) or None, "margin": comparison.margin}
    said = {key: value for key, value in asked.items() if value is not None}
    return settings_line(**facts, rows=first.facts["rows"], threshold=comparison.threshold, **said, **made)


def show_comparison(comparison: Comparison, form: str, facts: dict[str, Any], measures: Sequence[str] = ()) -> None:
    """Print a comparison in one of the formats."""
    from .. import __version__
    from ..present.comparison_sections import advice, chosen_measures, differences_of, dominance_of, side_by_side
    from ..present.words import answer, headline

    if form == "json":
        content = {
            "cutline": __version__,
            **facts,
            **json.loads(comparison.to_json()),
            "dominance": dominance_of(comparison),
            "recommendations": [
                {"goal": r.goal, "model": r.model, "sure": r.sure, "text": r.text} for r in advice(comparison)
            ],
        }
        say(json.dumps(to_jsonable(content), indent=2, ensure_ascii=False))
        return
    if form == "csv":
        differences = comparison.differences
        say(as_csv(list(differences), differences.columns).rstrip("\n"))
        note(settings_of(comparison, facts, measures))
        return
    first = next(iter(comparison.evaluations.values()))
    quota = comparison.quota
    sentences = answer(comparison, quota) if quota is not None else [headline(first)[len(first.name) + 2 :]]
    measures = chosen_measures(comparison)
    tables = [
        ("Side by side", side_by_side(comparison, measures)),
        ("Differences between models", differences_of(comparison, measures)),
        ("Who leads at which quota", dominance_of(comparison)),
        ("Which model for which goal", [{"goal": r.goal, "": r.text} for r in advice(comparison)]),
    ]
    mark = form == "markdown"
    say(("\n\n" if mark else "\n").join(sentences))
    for title, rows in tables:
        if not rows:
            continue
        say()
        if mark:
            say(as_markdown(rows, list(rows[0]), title))
        elif title.startswith("Which"):
            say(title)
            for row in rows:
                say(textwrap.fill(f"{row['goal']}: {row['']}", 118, initial_indent="  ", subsequent_indent="    "))
        else:
            print_table(rows, list(rows[0]), title=title, section="measure" if title.startswith("Diff") else "")
    say(f"\n{settings_of(comparison, facts, measures)}")

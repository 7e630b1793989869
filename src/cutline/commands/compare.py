"""``cutline compare``: several models on the same cases."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from . import options
from .evaluate import check_outputs, facts_of, library_options, settings_of, warm_up, write_outputs
from .output import Block, Report
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
@options.all_option
@click.option("--margin", type=float, help="Difference that does not matter to you.")
@options.inference_options
@options.engine_options
@options.format_option
@options.html_option
@options.plot_option
@options.cost_option
@options.value_option
@options.quiet_option
def compare(file: str, label: str | None, scores: tuple[str, ...], form: str, **asked: Any) -> None:
    """Say which of several models is better, by how much, how sure that is, and for which quota.

    FILE holds a row for each case, with its real outcome and a score column for each model. Without --score all
    columns of fractions are compared.
    """
    from ..comparison import compare as compare_arrays
    from .columns import choose_columns, read_labels
    from .engine import choose_engine, table
    from .reading import opened

    check_outputs(file, asked)
    engine = choose_engine(file, asked)
    if engine.name != "memory":
        from ..tables import compare_table

        with table(file, engine, label, scores, asked, several=True) as (rows, columns, settings):
            comparison = compare_table(rows, scores=columns.scores, margin=asked["margin"], **settings)
        first = next(iter(comparison.evaluations.values()))
        facts = facts_of(file, columns, ", ".join(columns.scores), asked, first.facts["dropped"])
    else:
        with opened(file) as source:
            warm_up()
            columns = choose_columns(source, label, scores, asked["weight"], several=True)
            if len(columns.scores) < 2:
                raise InputError(
                    f"a comparison needs two score columns or more; --score names only {columns.scores[0]!r}"
                )
            labels = read_labels(source, columns.label, asked["positive"])
            weight = None if columns.weight is None else source.weights(columns.weight)
            read = {name: source.numbers(name, "score") for name in columns.scores}
        with spoken(source.name):
            comparison = compare_arrays(
                labels, read, sample_weight=weight, margin=asked["margin"], **library_options(asked)
            )
        facts = facts_of(source.name, columns, ", ".join(columns.scores), asked)
    write_outputs(comparison, facts, asked)
    report(comparison, facts, asked["measures"], everything=asked["everything"]).publish(form)


def report(
    comparison: Comparison, facts: Mapping[str, Any], measures: Sequence[str] = (), *, everything: bool = False
) -> Report:
    """A comparison in every form."""
    from .. import __version__
    from ..present import words

    first = next(iter(comparison.evaluations.values()))

    def document() -> dict[str, Any]:
        advice = [{"goal": r.goal, "model": r.model, "sure": r.sure, "text": r.text} for r in words.advice(comparison)]
        more = {"dominance": words.dominance_of(comparison), "recommendations": advice}
        return {"cutline": __version__, **facts, **json.loads(comparison.to_json()), **more}

    def blocks() -> Iterator[str | Block]:
        quota = comparison.quota
        yield "\n".join(
            [*(words.answer(comparison, quota) if quota is not None else []), words.headline(first, named=False)]
        )
        keys = list(comparison.specs) if everything else words.chosen_measures(comparison)
        yield Block("Side by side", words.side_by_side(comparison, keys))
        if len(comparison.evaluations) > 1:
            yield Block("Differences between models", words.differences_of(comparison, keys), "measure")
        stretches = words.dominance_of(comparison)
        leads = words.clear_leads(stretches, comparison.settings.level)
        if leads:
            yield Block("Who leads clearly at which quota", leads)
        elif stretches:
            yield f"No model leads at any quota in {comparison.settings.level:.0%} of the resamples."
        lines = [
            textwrap.fill(f"{r.goal}: {r.text}", 118, initial_indent="  ", subsequent_indent="    ")
            for r in words.advice(comparison)
        ]
        if lines:
            yield "\n".join(["Which model for which goal", *lines])

    settings = settings_of(comparison, facts, first.facts["rows"], measures)
    return Report(document, lambda: list(comparison.differences), blocks, settings)

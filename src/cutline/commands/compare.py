"""``cutline compare``: several models on the same cases."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError, listed, show
from . import options
from .evaluate import check_pictures, error_costs, settings_of, warm_up, write_outputs
from .output import Block, Report, note
from .reading import facts_of, keys_of, say_understood
from .terms import COMMAND_LINE, about_file

if TYPE_CHECKING:
    from ..comparison import Comparison
    from ..decide.costs import Cheapest

EXAMPLES = """\b
Examples:
  cutline compare scores.csv --quota 20
  cutline compare scores.csv --label y --score tree --score network --quota 5% --html compare.html
  cutline compare scores.csv --label y --score tree --score network --cost-fp 1 --cost-fn 8
  cutline compare scores.csv --label y --score 'model_*' --measure pem --format json
"""


@options.command(epilog=EXAMPLES)
@options.several_models
@options.quota_option
@options.threshold_option
@options.error_cost_options
@options.positive_option
@options.prevalence_option
@options.column_option("--predicted", multiple=True, help="A model's predicted classes; may be repeated.")
@options.order_options
@options.weight_option
@options.by_option
@options.batch_option
@options.cluster_option
@options.measure_option
@options.all_option
@click.option("--margin", type=float, help="Differences below this do not matter to you.")
@options.column_option("--model", help="Column with the model (one row per case and model).")
@options.column_option("--case", help="Column with the case (one row per case and model).")
@options.result_options
def compare(file: str, label: str | None, scores: tuple[str, ...], form: str, **asked: Any) -> None:
    """Compare models: which one is better, by how much, and whether the difference could be chance.

    FILE has one row per case, with its real outcome and a score column for each model. Without --score all
    columns of fractions are compared. With --model and --case it holds a row for each case and model. With more than
    two classes, --score 'a_*' --score 'b_*' name the columns of each model, or --predicted the classes it predicted.
    """
    from ..tables import compare_table
    from . import segments
    from .classes import compare_file
    from .engine import choose_engine, named_columns, open_for, table_options

    check_pictures(asked)
    prices = error_costs(asked)
    engine = choose_engine(file, asked)
    if prices and engine.name != "memory":
        raise InputError("cost_fp", f"is not read from a stream (--engine {engine.name})", "leave it out")
    with open_for(engine, file, asked) as table:
        warm_up(file)
        if asked["by"] and (asked["model"] is not None or asked["case"] is not None):
            raise InputError("by", "needs a row for each case, not one for each case and model", "leave it out")
        if asked["model"] is not None or asked["case"] is not None:
            table, label, scores = _by_model(engine.name, table, label, scores, asked)
        elif engine.name != "spark" and label is not None and compare_file(table, file, label, scores, form, asked):
            return
        said = next((f"--{name}" for name in ("predicted", "ordered", "order") if asked[name]), None)
        if said is not None:
            raise InputError(
                None, f"{said} is for several classes", "name {label}, and each model's columns: --score 'a_*'"
            )
        columns = named_columns(engine, table, label, scores, asked, several=True)
        if len(columns.scores) < 2:
            said = f"a comparison needs two score columns or more, not only {show(columns.scores[0])}"
            raise InputError(None, said, "name them with {score}")
        with about_file(table.name):
            options = table_options(engine, columns, asked)
            if asked["by"]:
                segments.compare_by(table, file, columns, options, form, asked)
                return
            comparison = compare_table(table, scores=columns.scores, margin=asked["margin"], **options)
            cheapest = comparison.cheapest(**prices) if prices else None
    first = next(iter(comparison.evaluations.values()))
    say_understood(first.understood)
    facts = facts_of(file, columns, asked, first.dropped)
    write_outputs(comparison, facts, asked)
    report(comparison, facts, asked["measures"], everything=asked["everything"], cheapest=cheapest).publish(form)


def _by_model(
    engine: str, table: Any, label: str | None, scores: Sequence[str], asked: Mapping[str, Any]
) -> tuple[Any, str, tuple[str, ...]]:
    """A file with a row for each case and model as one with a score column for each model."""
    from ..sources.long_format import widened
    from ..sources.tables import Roles

    for key in keys_of(asked):
        raise InputError(key, "needs a row for each case, not one for each case and model", "leave it out")
    case, model = asked["case"], asked["model"]
    if case is None or model is None or label is None or len(scores) != 1 or engine == "spark":
        where = ", and is not read on Spark" if engine == "spark" else ""
        said = f"a file with a row for each case and model needs four columns{where}"
        raise InputError(None, said, "name {case}, {model}, {label} and one {score}")
    (score,) = scores
    others = (asked["weight"], None, asked["positive"], asked["missing"] or "error", asked["decimal"])
    wide, models = widened(table, Roles(label, {score: score}, *others), case=case, model=model)
    note(f"models: {listed(models)}")
    return wide, label, tuple(models)


def report(
    comparison: Comparison,
    facts: Mapping[str, Any],
    measures: Sequence[str] = (),
    *,
    everything: bool = False,
    cheapest: Cheapest | None = None,
) -> Report:
    """A comparison in every form."""
    from ..evaluation import notices_of
    from ..present import words

    first = next(iter(comparison.evaluations.values()))

    def content() -> dict[str, Any]:
        costs = {} if cheapest is None else {"cheapest": cheapest.to_dict()}
        return {**json.loads(comparison.to_json()), "dominance": words.dominance_of(comparison), **costs}

    def blocks() -> Iterator[str | Block]:
        quota = comparison.quota
        yield "\n".join(
            [
                *(words.answer(comparison, quota) if quota is not None else words.range_answer(comparison)),
                words.headline(first, named=False),
                *notices_of(list(comparison.evaluations.values()), COMMAND_LINE),
            ]
        )
        keys = list(comparison.specs) if everything else words.chosen_measures(comparison)
        yield Block("Side by side", words.side_by_side(comparison, keys))
        if len(comparison.evaluations) > 1:
            yield Block("Differences between models", words.differences_of(comparison, keys), "measure")
        stretches = words.dominance_of(comparison)
        leads = words.clear_leads(stretches)
        if leads:
            yield Block("Clear leaders by quota", leads)
        elif stretches:
            yield "No model leads clearly at any quota: the leads could be chance."
        if cheapest is not None:
            yield "\n".join(["Costs of errors", *(f"  {line}" for line in cheapest.sentences)])
            if len(cheapest.others):
                yield Block(cheapest.others.title, cheapest.others.to_dicts())
        lines = [
            textwrap.fill(f"{r.goal}: {r.text}", 118, initial_indent="  ", subsequent_indent="    ")
            for r in comparison.recommendations.values()
        ]
        if lines:
            yield "\n".join(["Which model for which goal", *lines])

    settings = settings_of(comparison, first.facts["rows"], measures)
    return Report(facts, content, lambda: list(comparison.differences), blocks, settings)

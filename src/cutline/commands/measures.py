"""``cutline measures``: the catalogue, or one measure explained."""

from __future__ import annotations

from typing import Any

import click

from ..catalogue.declare import REQUIRED, Measure, measure
from ..catalogue.declare import measures as catalogue
from ..reference.docstrings import explain
from . import options
from .output import as_csv, as_json, as_markdown, emit, print_table, say

EXAMPLES = """\b
Examples:
  cutline measures
  cutline measures --family quota
  cutline measures pem
"""
FAMILIES = ("threshold", "probability", "ranking", "quota", "other")


def _names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [m.name for m in catalogue() if m.name.startswith(incomplete)]


@options.command(epilog=EXAMPLES)
@click.argument("name", required=False, shell_complete=_names)
@click.option("--family", type=click.Choice(FAMILIES), help="Only this family.")
@options.format_option
def measures(name: str | None, family: Any, form: str) -> None:
    """List the measures, or explain the one called NAME (aliases such as sensitivity are known)."""
    if name is not None:
        _explain(facts_of(measure(name)), form)
        return
    found = [facts_of(one) for one in catalogue(family)]
    if form == "json":
        emit(as_json(found))
    elif form == "csv":
        emit(as_csv(found, list(found[0])).rstrip("\n"))
    else:
        columns = ["family", "name", "better", "range", "title", "same_as"]
        rows = [{**one, "range": f"{one['low']:g} … {one['high']:g}"} for one in found]
        if form == "markdown":
            say(as_markdown(rows, columns))
        else:
            print_table(rows, columns, section="family")


def facts_of(one: Measure) -> dict[str, Any]:
    """What the catalogue says of a measure."""
    return {
        "name": one.name,
        "title": one.title,
        "family": one.family,
        "better": one.better,
        "low": one.range[0],
        "high": one.range[1],
        "meaning": " ".join(one.summary.partition(">>>")[0].replace("``", "").split()),
        "formula": one.formula,
        "undefined": one.undefined,
        "same_as": one.same_as,
        "proper": one.propriety,
        "aliases": ", ".join(one.aliases),
        "options": "; ".join(
            f"{key if value is REQUIRED else f'{key}={value}'} ({explain(one.name, key).rstrip('.')})"
            for key, value in one.params.items()
        ),
        "reference": one.reference,
    }


def _explain(facts: dict[str, Any], form: str) -> None:
    if form == "json":
        emit(as_json(facts))
    elif form == "csv":
        emit(as_csv([facts], list(facts)).rstrip("\n"))
    elif form == "markdown":
        say(as_markdown([{"": key, "what": value} for key, value in facts.items() if value != ""], ["", "what"]))
    else:
        facts["range"] = f"{facts.pop('low'):g} … {facts.pop('high'):g}"
        say(f"{facts.pop('name')}: {facts.pop('title')}\n{facts.pop('meaning')}\n")
        for key, value in facts.items():
            if value != "":
                say(f"  {key.replace('_', ' '):<10} {value}")

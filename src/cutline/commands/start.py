"""``cutline doctor``, ``demo``, ``measures``, ``sql`` and ``experiment``: where to start, and what to look up."""

from __future__ import annotations

import runpy
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..table import Section, Table, values_of
from . import options as o
from .options import InputFile, argument, command, option
from .output import Report, as_csv, as_json, check_extra, emit, say
from .reading import negative_labels

if TYPE_CHECKING:
    from ..catalogue.declare import Measure

PLACES = 20
MODELS = ("tree", "logistic", "network")
PAGE = "cutline-demo.html"
# What each experiment needs beside cutline itself.
NEEDS = {
    "berrar": ("matplotlib",),
    "arbel-rokach": ("matplotlib", "sklearn"),
    "rosset": ("matplotlib", "sklearn"),
    "zheng": ("matplotlib",),
}


class DoctorArguments(o.Arguments, takes=["file", "label", "positive", *o.TEXT_FORMAT, *o.PRINTED]):
    """The options of ``doctor``."""


@command(
    DoctorArguments,
    """\
  cutline doctor scores.csv
  cutline doctor bank.csv --label bought --positive yes
""",
)
def doctor(asked: DoctorArguments) -> Report:
    """Inspect FILE: what each column could be, how the classes and scores look, and what looks wrong.

    The last line is the command to run next, if the file allows one.
    """
    from ..diagnosis import doctor as examine

    diagnosis = examine(asked.file, label=asked.label, pos_label=asked.pos_label, **asked.named(*o.TEXT_FORMAT))
    return Report(diagnosis, {"file": asked.file}, {"rows": diagnosis.rows}, diagnosis.to_dict)


def example_file() -> Path:
    """The example's CSV: inside an installed package, or in the checkout this package is run from."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "data", package.parents[1] / "examples"):
        if (folder / "applicants.csv").is_file():
            return folder / "applicants.csv"
    raise InputError(None, "applicants.csv is neither in the package nor in a checkout", "reinstall cutline")


@command(o.Arguments)
def demo(asked: o.Arguments) -> None:
    """Evaluate the bundled example: 400 applicants for a course with 20 places, three models.

    Prints which model to use for 20 places and how sure that is, and writes the page cutline-demo.html into the
    current folder.
    """
    from ..present.page import write_page
    from ..verbs import compare
    from .evaluate import settings_of

    comparison = compare(example_file(), label="completed", score=list(MODELS), quota=PLACES)
    size = comparison.first.facts["rows"]
    say(f"{size} people apply for a course with {PLACES} places. Three models predict who will complete it.\n")
    facts = {"file": "applicants.csv", "label": "completed", "score": ", ".join(MODELS)}
    sections = partial(comparison.sections, terms=o.COMMAND_LINE)
    Report(comparison, facts, settings_of(comparison, size), sections=sections).publish(asked)
    write_page(comparison, PAGE, source=facts, title="Who gets a place?")
    say(f"\nInteractive report with a slider for the number of places: {Path(PAGE).resolve()}")


class MeasuresArguments(o.Arguments, takes=["name", "family", "form"]):
    """The options of ``measures``."""

    name: str | None = argument(required=False)
    family: Any = option("Only this family: threshold, probability, ranking, quota, classes, other.", metavar="FAMILY")


@command(
    MeasuresArguments,
    """\
  cutline measures
  cutline measures --family quota
  cutline measures pem
  cutline measures log_loss --family classes
""",
    renames={"measure": "NAME"},
)
def measures(asked: MeasuresArguments) -> None:
    """List the measures, or explain the one called NAME (aliases such as sensitivity are known)."""
    from ..catalogue.declare import measure
    from ..catalogue.declare import measures as catalogue
    from ..present.render import as_text, markdown_table

    named = [] if asked.name is None else [measure(asked.name, several=asked.family == "classes")]
    rows = [_facts_of(m) for m in named or catalogue(asked.family)]
    if asked.form == "json":
        emit(as_json(rows[0] if named else rows))
    elif asked.form == "csv":
        emit(as_csv(rows))
    elif named and asked.form == "markdown":
        say(markdown_table(Table({"": key, "what": value} for key, value in rows[0].items() if value != "")))
    elif named:
        facts = {**rows[0], "range": f"{rows[0]['low']:g} … {rows[0]['high']:g}"}
        say(f"{facts['name']}: {facts['title']}\n{facts['meaning']}\n")
        for key, value in facts.items():
            if value != "" and key not in ("name", "title", "meaning", "low", "high"):
                say(f"  {key.replace('_', ' '):<10} {value}")
    else:
        columns = ["family", "name", "better", "range", "title", "same_as"]
        with_range = ({**row, "range": f"{row['low']:g} … {row['high']:g}"} for row in rows)
        shown = Table(({name: row[name] for name in columns} for row in with_range), group="family")
        say(markdown_table(shown) if asked.form == "markdown" else as_text([Section("measures", [shown])]))


def _facts_of(measure: Measure) -> dict[str, Any]:
    """What the catalogue has on a measure."""
    from ..catalogue.chance import describe_chance
    from ..catalogue.declare import REQUIRED
    from ..reference import explain

    return {
        **values_of(measure, "name", "title", "family", "better"),
        "low": measure.range[0],
        "high": measure.range[1],
        "meaning": " ".join(measure.summary.partition(">>>")[0].replace("``", "").split()),
        "formula": measure.formula,
        "perfect": "" if measure.perfect is None else measure.perfect,
        "chance": describe_chance(measure),
        **values_of(measure, "caution", "undefined", "same_as"),
        "proper": measure.propriety,
        "aliases": ", ".join(measure.aliases),
        "options": "; ".join(
            f"{key if value is REQUIRED else f'{key}={value}'} ({explain(measure.name, key).rstrip('.')})"
            for key, value in measure.params.items()
        ),
        "reference": measure.reference,
    }


class SqlArguments(
    o.Arguments, takes=["label", "scores", *o.LABELS, "by", "batch", "worth", "quota", "threshold", "output"]
):
    """The options of ``sql``."""

    table: str | None = option("The table, as the warehouse calls it.", metavar="NAME")
    dialect: str | None = option("The warehouse: postgres, snowflake, bigquery, clickhouse, trino, …", metavar="NAME")
    buckets: int | None = option("Buckets of the score (default: 65,536; 256 for each of two scores).")
    where: str | None = option("Count only rows that meet this condition, in the warehouse's SQL.", metavar="SQL")
    edges: str | None = option(
        "Scores that are not probabilities: 'query' prints a first query, its result goes here.", metavar="query|FILE"
    )
    refine: str | None = option(
        "The result of the query: print a second one that resolves the bucket of --quota or --threshold.",
        type=InputFile(),
        metavar="FILE",
    )


@command(
    SqlArguments,
    """\
  cutline sql --dialect postgres --table claims --label fraud --score p > counts.sql
  cutline sql --dialect snowflake --table claims --label fraud --score p --by region --where "day >= '2024-01-01'"
  cutline sql --refine result.csv --quota 1000
  cutline sql --dialect bigquery --table shop.visits --label bought --score a --score b
""",
)
def sql(asked: SqlArguments) -> None:
    """Print the query that counts cases by bucket of the score, for any warehouse.

    Run it there and save the result as CSV: cutline evaluate reads it, with bounds for what the buckets leave open. No
    row leaves the warehouse. Scores are probabilities; others need --edges. Counts of several sites are evaluated
    together: cutline evaluate north.csv south.csv.
    """
    from ..engines.count_query import sql as query

    taken: dict[str, Any] = asked.named(
        *("table", "label", "dialect", "buckets", "batch", "worth", "where", "edges", "refine", "quota", "threshold")
    )
    taken |= {"score": asked.scores} if asked.scores else {}
    taken |= {"by": list(asked.by)} if asked.by else {}
    taken |= {"pos_label": asked.pos_label, "neg_label": negative_labels(asked), "ignore_case": bool(asked.ignore_case)}
    with click.open_file(asked.output or "-", "w", encoding="utf-8") as file:
        file.write(f"{query(**taken)};\n")


class ExperimentArguments(o.Arguments):
    """The options of ``experiment``."""

    paper: str = argument(type=click.Choice(list(NEEDS)))
    arguments: tuple[str, ...] = argument(nargs=-1, type=click.UNPROCESSED)


@command(ExperimentArguments, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def experiment(asked: ExperimentArguments) -> None:
    """Rerun the experiment of a PAPER with the public functions and print the results next to the published ones.

    Further ARGUMENTS go to the experiment; --help after the paper's name shows them.
    """
    folder = Path(__file__).resolve().parents[3] / "experiments"
    script = folder / f"{asked.paper.replace('-', '_')}.py"
    if not script.is_file():
        problem = f"the experiment {asked.paper!r} is part of the source checkout, not of an installed package"
        raise InputError(None, problem)
    if not {"-h", "--help"} & set(asked.arguments):
        check_extra("experiments", *NEEDS[asked.paper])
    before = sys.argv, list(sys.path)
    sys.argv = [f"cutline experiment {asked.paper}", *asked.arguments]
    sys.path.insert(0, str(folder))  # the experiments import what they share from beside them
    try:
        runpy.run_path(str(script), run_name="__main__")
    finally:
        sys.argv, sys.path[:] = before

"""``cutline extrapolate``: accuracy at more classes, from a file of scores or of wins."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..table import pluralize
from . import options
from .output import as_csv, as_markdown, check_extra, check_writable, note, print_table, say, settings_line
from .speech import spoken

if TYPE_CHECKING:
    from ..extrapolation.extrapolation_result import Extrapolation
    from .reading import Source

COLUMNS = ("classes", "accuracy", "low", "high", "level", "interval", "methods_low", "methods_high", "method")

EXAMPLES = """\b
Examples:
  cutline extrapolate scores.csv --label person --classes 1000,10000
  cutline extrapolate distances.parquet --label person --score 'd_*' --distance
  cutline extrapolate wins.csv --wins beaten --among 400 --classes 4000 --until 0.9
"""


def _numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> list[int]:
    """Read ``100,1000,10_000``."""
    if value is None:
        return []
    try:
        return [int(part) for part in value.replace(" ", "").split(",") if part]
    except ValueError:
        raise click.BadParameter(f"{value!r}: give whole numbers with commas between, such as 100,1000") from None


@click.command(epilog=EXAMPLES)
@options.file_argument
@options.label_option
@click.option(
    "--classes", callback=_numbers, metavar="N,N,…", help="Numbers of classes to predict; 2×, 5×, 10× if none."
)
@click.option("--score", "scores", metavar="PATTERN", help="Score columns, e.g. 'p_*'; else all columns but the label.")
@click.option("--distance", is_flag=True, help="Scores are distances: small is near.")
@click.option("--wins", metavar="COLUMN", help="The file holds distractors beaten per case, in this column.")
@click.option("--tied", metavar="COLUMN", help="Distractors tied per case, beside --wins.")
@click.option("--among", type=int, metavar="N", help="Number of classes the wins were counted among.")
@click.option("--method", default="auto", show_default=True, help="auto, or one method by name.")
@click.option("--ties", type=click.Choice(["random", "optimistic", "pessimistic"]), default="random", show_default=True)
@click.option("--until", type=float, metavar="ACCURACY", help="Also: how many classes until accuracy falls below this.")
@click.option("--not-marginal", is_flag=True, help="Declare that scores of a class depend on the other classes.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--resamples", type=int, default=100, show_default=True, help="Bootstrap resamples of the classes.")
@click.option("--no-intervals", is_flag=True, help="Values only: quicker.")
@options.seed_option
@click.option("--plot", type=click.Path(), metavar="PATH", help="Also draw the curve into this picture.")
@options.format_option
def extrapolate(file: str, form: str, plot: str | None, until: float | None, **asked: Any) -> None:
    """Predict accuracy among more classes than were tried.

    FILE has one row per test case: its true class (--label) and one score column per class, named after the class.
    With --wins it has the number of other classes that the right one beat.
    """
    from .reading import opened

    _check(plot, until, asked["method"])
    with opened(file) as source:
        result = _from_wins(source, asked) if asked["wins"] else _from_scores(source, asked)
    if plot is not None:
        _draw(result, plot)
    _show(result, form, until, _facts(source.name, result, until, asked))
    for sentence in result.notes:
        note(f"note: {sentence}")


def _check(plot: str | None, until: float | None, method: str) -> None:
    """Refuse what can be refused before anything is read or computed."""
    from ..extrapolation.methods import find_method

    check_writable(plot, "--plot")
    if plot is not None:
        check_extra("plot", "matplotlib")
    if until is not None and not 0.0 < until <= 1.0:
        raise InputError(f"--until {until:g}: an accuracy lies above 0 and at most at 1")
    if method != "auto":
        with spoken(""):
            find_method(method)


def _facts(file: str, result: Extrapolation, until: float | None, asked: dict[str, Any]) -> dict[str, Any]:
    """What makes the result again, as the options say it."""
    said = {"file": file, "label": asked["label"], "score": asked["scores"]}
    said |= {key: asked[key] for key in ("wins", "tied", "among")}
    said |= {"classes": ",".join(str(row["classes"]) for row in result.to_dicts()), "method": asked["method"]}
    said |= {"ties": asked["ties"], "distance": asked["distance"] or None, "until": until}
    said |= {"not-marginal": asked["not_marginal"] or None}
    drawn = {"level": asked["level"], "resamples": asked["resamples"]}
    said |= {"intervals": "none"} if asked["no_intervals"] else drawn
    return {key: value for key, value in {**said, "seed": asked["seed"]}.items() if value is not None}


def _draw(result: Extrapolation, path: str) -> None:
    from matplotlib.figure import Figure

    # A figure of its own, without pyplot: no window system is needed or started.
    figure = Figure(figsize=(7.0, 4.5), layout="constrained")
    result.plot(figure.add_subplot())
    figure.savefig(path, dpi=150)


def _settings(asked: dict[str, Any]) -> dict[str, Any]:
    return {
        "k": asked["classes"] or None,
        "method": asked["method"],
        "ties": asked["ties"],
        "interval": not asked["no_intervals"],
        "level": asked["level"],
        "n_resamples": asked["resamples"],
        "seed": asked["seed"],
        "marginal": not asked["not_marginal"],
    }


def _from_wins(source: Source, asked: dict[str, Any]) -> Extrapolation:
    from ..extrapolation.extrapolator import extrapolate as run

    if asked["among"] is None:
        raise click.UsageError("--wins needs --among N: the number of classes the wins were counted among")
    tied = source.numbers(asked["tied"], "number of ties") if asked["tied"] else None
    wins = source.numbers(asked["wins"], "number of wins")
    labels = _labels(source, asked["label"]) if asked["label"] else None
    with spoken(source.name):
        return run(wins=wins, tied=tied, n_classes=asked["among"], labels=labels, **_settings(asked))


def _from_scores(source: Source, asked: dict[str, Any]) -> Extrapolation:
    import numpy as np

    from ..extrapolation.extrapolator import extrapolate as run
    from .columns import class_names

    label = asked["label"]
    if not label:
        raise click.UsageError("--label COLUMN is missing: the column with the true class of every case")
    pattern = asked["scores"]
    source.check(label, "label")
    columns = [name for name in (source.matching(pattern) if pattern else source.columns) if name != label]
    if not columns:
        raise InputError(f"{source.name} has no score column beside the label {label!r}; every class needs one")
    names = class_names(pattern, columns) if pattern else columns
    labels = _labels(source, label)
    _check_classes(source, labels, label, names)
    source.load(columns)
    matrix = np.column_stack([source.numbers(column, "score") for column in columns])
    with spoken(source.name):
        return run(matrix, labels, classes=names, distance=asked["distance"], **_settings(asked))


def _check_classes(source: Source, labels: list[str], column: str, names: list[str]) -> None:
    """Refuse a true class that no score column stands for."""
    from ..engines.duckdb_source import listed

    known = set(names)
    for row, value in enumerate(labels, 1):
        if value not in known:
            raise InputError(
                f"{source.name}: column {column!r} holds {value!r} in data row {row}, but no score column stands for "
                f"it; the columns give the classes {listed(names)} (say which columns with --score, such as 'p_*')"
            )


def _labels(source: Source, column: str) -> list[str]:
    """Labels as text, because columns are named by text."""
    from ..engines.duckdb_source import quoted

    source.check(column, "label")
    values = source.query(f"{quoted(column)}::VARCHAR AS v").fetchnumpy()["v"]
    return [str(value) for value in source.complete(values, column, "label")]


def _show(result: Extrapolation, form: str, until: float | None, facts: dict[str, Any]) -> None:
    rows = result.to_dicts()
    reach = result.classes_until(until) if until is not None else None
    if form == "json":
        from .. import __version__

        said = {"n_resamples" if key == "resamples" else key: facts[key] for key in facts if key != "classes"}
        document = {"cutline": __version__, **said, **json.loads(result.to_json())}
        if reach is not None:
            document["classes_until"] = {
                "accuracy": until,
                **{
                    key: value if math.isfinite(value) else None
                    for key, value in (("classes", reach.value), ("low", reach.low), ("high", reach.high))
                },
            }
        say(json.dumps(document, indent=2, ensure_ascii=False))
    elif form == "csv":
        say(as_csv(rows, COLUMNS).rstrip("\n"))
        note(settings_line(**facts))
    else:
        title = f"accuracy {result.observed.test_accuracy:.4f} among {result.n_classes:,} classes; {result.method}"
        shown = COLUMNS[:4] + COLUMNS[6:8]
        if form == "markdown":
            say(as_markdown(rows, shown, title))
        else:
            print_table(rows, shown, title=title)
        if reach is not None:
            kept = pluralize(reach.value, "class", "classes")
            say(f"accuracy {until:g} is kept up to {kept} ({reach.low:,.0f} to {reach.high:,.0f})")
        say(f"\n{settings_line(**facts)}")

"""``cutline extrapolate``: accuracy at more classes, from a file of scores, wins, embeddings, pairs or accuracies."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..estimate import Estimate
from ..table import pluralize, to_jsonable
from ..validate import check_whole
from . import options
from .output import Block, Report, note
from .terms import about_file

if TYPE_CHECKING:
    from ..extrapolation.by_size import BySize
    from ..extrapolation.extrapolation_result import Extrapolation
    from ..sources.duckdb import DuckTable

COLUMNS = ("classes", "accuracy", "low", "high", "level", "interval", "methods_low", "methods_high", "method")

EXAMPLES = """\b
Examples:
  cutline extrapolate scores.csv --label person --classes 1000,10000
  cutline extrapolate distances.parquet --label person --score 'd_*' --distance
  cutline extrapolate wins.csv --wins beaten --among 400 --classes 4000 --until 0.9
  cutline extrapolate probes.csv --label person --score 'e_*' --gallery gallery.csv --classes 4000 --top 5
  cutline extrapolate printed.csv --accuracy top1 --sizes classes --classes 1000
  cutline extrapolate probes.csv --label person --strangers unknown.csv --fpir 0.01 --classes 10000
  cutline extrapolate comparisons.csv --pairs score --label same --positive yes --classes 1000
"""
_OPTION = {"scores": "score"}
_CLOSED = {"top", "half_width", "method", "ties", "until", "not_marginal", "no_intervals", "plot"}
# What each kind of input reads; any other of these options is refused beside it.
_APPLIES = {
    "scores": _CLOSED | {"label", "scores", "distance"},
    "wins": _CLOSED | {"wins", "label", "tied", "among"},
    "gallery": _CLOSED | {"gallery", "label", "scores", "metric", "templates"},
    "accuracy": {"accuracy", "sizes", "method", "until", "not_marginal", "no_intervals", "plot"},
    "strangers": {"strangers", "fpir", "label", "scores", "distance"},
    "pairs": {"pairs", "label", "positive", "negative", "rest_negative", "distance"},
}


def _numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> list[int]:
    """Read ``100,1000,10_000``."""
    if value is None:
        return []
    try:
        return [int(part) for part in value.replace(" ", "").split(",") if part]
    except ValueError:
        raise click.BadParameter(f"{value!r}: give whole numbers separated by commas, such as 100,1000") from None


@options.command(epilog=EXAMPLES)
@options.file_argument
@options.label_option
@click.option(
    "--classes", callback=_numbers, metavar="N,N,…", help="Numbers of classes to predict (default: 2×, 5×, 10×)."
)
@click.option("--score", "scores", metavar="PATTERN", help="Score columns, e.g. 'p_*' (default: all except the label).")
@click.option("--distance", is_flag=True, help="Scores are distances: smaller means closer.")
@options.column_option("--wins", help="Column with the number of wrong classes that each case's class beat.")
@options.column_option("--tied", help="Column with the number of wrong classes tied with it (with --wins).")
@click.option("--among", type=int, metavar="N", help="Number of classes tested (with --wins).")
@click.option(
    "--gallery",
    type=options.InputFile(),
    metavar="FILE",
    help="File with the gallery embeddings; FILE holds the probes. Both have the --score columns.",
)
@options.choice_option(
    "--metric", ["euclidean", "cosine"], "How embeddings are compared (with --gallery).", default="euclidean"
)
@options.choice_option(
    "--templates",
    ["best", "mean"],
    "What counts of a class with several gallery rows: its best score or their mean (with --gallery).",
    default="best",
)
@options.column_option("--accuracy", help="Column with accuracies (with --sizes).")
@options.column_option("--sizes", help="Column with the number of classes (with --accuracy).")
@click.option(
    "--strangers",
    type=options.InputFile(),
    metavar="FILE",
    help="Scores of probes not in the gallery: print FNIR at --fpir instead.",
)
@options.share_option(
    "--fpir",
    "Share of strangers that may be falsely identified (with --strangers).",
    default="0.01",
    show_default=True,
)
@options.column_option("--pairs", help="Score of each 1:1 comparison; --label says which are of the same class.")
@options.positive_option
@click.option(
    "--top",
    type=int,
    default=1,
    show_default=True,
    metavar="T",
    help="Count a case as right if its class is among the best T.",
)
@click.option(
    "--half-width", type=float, metavar="W", help="Also print how many classes to collect for an interval of ± W."
)
@click.option(
    "--method",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="auto, or one method by name (see the guide More classes).",
)
@options.choice_option(
    "--ties",
    ["random", "optimistic", "pessimistic"],
    "How a tie with a wrong class counts: by chance, as a win, as a loss.",
    default="random",
)
@options.share_option("--until", "Also print the number of classes at which accuracy falls to this value.", "ACCURACY")
@click.option(
    "--not-marginal", is_flag=True, help="The score of a class depends on the other classes (softmax, trees)."
)
@options.level_option
@options.resamples_option(100, "Bootstrap resamples of the classes.")
@click.option("--no-intervals", is_flag=True, help="Values only; faster.")
@options.seed_option
@options.reading_options
@click.option("--plot", type=options.OutputFile(), metavar="PATH", help="Also save a plot of the curve.")
@options.format_option
@options.quiet_option
def extrapolate(file: str, form: str, plot: str | None, until: float | None, **asked: Any) -> None:
    """Predict the accuracy with more classes than you tested.

    FILE has one row per test case: its true class (--label) and one score column per class, named after the class.
    It may instead hold the number of wrong classes that the right one beat (--wins), the embedding of each probe
    (--gallery), or accuracies at several numbers of classes (--accuracy and --sizes).

    With --strangers, it prints how many people in the gallery are missed (FNIR) if no more than a share --fpir of
    strangers may be falsely identified. With --pairs, FILE has one row per 1:1 comparison.
    """
    from .reading import opened

    kind = _kind({**asked, "plot": plot, "until": until})
    _check(plot, until, asked)
    with opened(file, asked) as table:
        given = _READERS[kind](table, asked)
    given |= {"k": asked["classes"] or None}
    given |= {"level": asked["level"], "n_resamples": asked["resamples"], "seed": asked["seed"]}
    with about_file(table.name):
        if kind in ("strangers", "pairs"):
            from ..extrapolation.open_set import extrapolate_open_set, extrapolate_pairs

            sized = extrapolate_pairs(**given) if kind == "pairs" else extrapolate_open_set(**given)
            report, notes = _report_of_sizes(sized, file, kind, asked), sized.notes
        else:
            from ..extrapolation.extrapolator import extrapolate as run

            given |= {"method": asked["method"], "ties": asked["ties"]}
            result = run(interval=not asked["no_intervals"], marginal=not asked["not_marginal"], **given)
            report, notes = _report(result, file, until, asked), result.notes
            if plot is not None:
                _draw(result, plot, asked["top"])
    report.publish(form)
    for sentence in notes:
        note(f"note: {sentence}")


def _kind(asked: dict[str, Any]) -> str:
    """What FILE holds; refuses options that this input cannot honour."""
    context = click.get_current_context()
    given = {name for name in asked if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE}
    found = ["accuracy"] if given & {"accuracy", "sizes"} else []
    found += [name for name in ("wins", "gallery", "strangers", "pairs") if name in given]
    kind = found[0] if found else "scores"
    governed = set().union(*_APPLIES.values())
    idle = sorted((given & governed) - _APPLIES[kind])
    if idle:
        beside = "a score for each class" if kind == "scores" else f"--{kind}"
        raise click.UsageError(f"--{_OPTION.get(idle[0], idle[0]).replace('_', '-')} does not apply with {beside}")
    return kind


def _check(plot: str | None, until: float | None, asked: dict[str, Any]) -> None:
    """Refuse what can be refused before anything is read or computed."""
    from ..extrapolation.methods import find_method
    from .evaluate import check_plot

    check_plot(plot)
    if until is not None and not 0.0 < until <= 1.0:
        raise InputError("until", f"is {until:g}", "give an accuracy above 0 and at most 1")
    if check_whole(asked["top"], "top", 1) > 1 and asked["half_width"] is not None:
        raise click.UsageError("--half-width plans for first places: it does not apply with --top above 1")
    if asked["method"] != "auto":
        with about_file(""):
            find_method(asked["method"])


def _draw(result: Extrapolation, path: str, top: int) -> None:
    from matplotlib.figure import Figure

    from ..files import write_whole
    from ..present.plots import picture_format

    # A figure of its own, without pyplot: no window system is needed or started.
    figure = Figure(figsize=(7.0, 4.5), layout="constrained")
    axes = result.plot(figure.add_subplot())
    if top > 1:
        axes.set_ylabel("accuracy (top 1)")
        note(f"note: the plot shows the accuracy of first places, not of the first {top}")
    with write_whole(path) as beside:
        figure.savefig(beside, dpi=150, format=picture_format(path))


def _from_wins(table: DuckTable, asked: dict[str, Any]) -> dict[str, Any]:
    from ..sources.matrices import read_texts
    from .reading import load

    if asked["among"] is None:
        raise click.UsageError("--wins needs --among N: the number of classes the wins were counted among")
    columns = [asked["wins"], *([asked["tied"]] if asked["tied"] else [])]
    rows = load(table, None, columns, None, asked)
    labels = read_texts(table, asked["label"]) if asked["label"] else None
    if labels is not None and rows.source_rows is not None:
        labels = [labels[k] for k in rows.source_rows]
    wins, tied = rows.scores[asked["wins"]], rows.scores.get(asked["tied"])
    return {"wins": wins, "tied": tied, "n_classes": asked["among"], "labels": labels}


def _read_scores(table: DuckTable, asked: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Scores, labels and the classes of the columns; and the columns."""
    from ..sources.columns import class_columns
    from ..sources.matrices import read_matrix, read_texts
    from .reading import complete_rows

    label = asked["label"]
    if not label:
        raise click.UsageError("--label COLUMN is missing: the column with the true class of every case")
    columns, names, passed = class_columns(
        table, label, asked["scores"], read_texts(table, label, complete_rows(table, [label], [], asked, quiet=True))
    )
    if passed:
        note(f"note: column {passed[0]!r} only numbers the rows and is not a class")
    kept = complete_rows(table, [label], columns, asked)
    labels, matrix = read_texts(table, label, kept), read_matrix(table, columns, asked["decimal"], kept)
    return {"scores": matrix, "labels": labels, "classes": names, "distance": asked["distance"]}, columns


def _from_scores(table: DuckTable, asked: dict[str, Any]) -> dict[str, Any]:
    return _read_scores(table, asked)[0]


def _from_strangers(table: DuckTable, asked: dict[str, Any]) -> dict[str, Any]:
    from ..sources.matrices import read_matrix
    from .reading import complete_rows, opened

    given, columns = _read_scores(table, asked)
    with opened(asked["strangers"], asked) as other:
        for name in columns:
            other.column(name, "score")
        unknown = read_matrix(other, columns, asked["decimal"], complete_rows(other, [], columns, asked))
    return {**given, "strangers": unknown, "fpir": asked["fpir"]}


def _from_pairs(table: DuckTable, asked: dict[str, Any]) -> dict[str, Any]:
    from .reading import choose_columns, load

    if not asked["classes"]:
        raise click.UsageError("--pairs needs --classes N,N,…: comparisons do not say how many classes there are")
    columns = choose_columns(table, asked["label"], [asked["pairs"]], None)
    rows = load(table, columns.label, columns.scores, None, asked)
    score = rows.scores[columns.scores[0]]
    return {"genuine": score[rows.positive], "impostor": score[~rows.positive], "distance": asked["distance"]}


def _from_embeddings(table: DuckTable, asked: dict[str, Any]) -> dict[str, Any]:
    from ..sources.columns import matching
    from ..sources.matrices import read_matrix, read_texts
    from .reading import complete_rows, opened

    if not asked["label"] or not asked["scores"]:
        raise click.UsageError("--gallery needs --label COLUMN and --score PATTERN: whose embedding, and its columns")

    def read(found: DuckTable) -> tuple[Any, list[str]]:
        columns = [name for name in matching(found, asked["scores"]) if name != asked["label"]]
        kept = complete_rows(found, [asked["label"]], columns, asked)
        return read_matrix(found, columns, asked["decimal"], kept), read_texts(found, asked["label"], kept)

    probes, labels = read(table)
    with opened(asked["gallery"], asked) as known:
        gallery, names = read(known)
    how = {"metric": asked["metric"], "templates": asked["templates"]}
    return {"gallery": gallery, "gallery_labels": names, "probes": probes, "labels": labels, **how}


def _from_accuracies(table: DuckTable, asked: dict[str, Any]) -> dict[str, Any]:
    from ..sources.matrices import read_matrix
    from .reading import complete_rows

    if not asked["accuracy"] or not asked["sizes"]:
        raise click.UsageError(
            "--accuracy and --sizes belong together: the column of accuracies, and that of class counts"
        )
    columns = [asked["sizes"], asked["accuracy"]]
    pairs = read_matrix(table, columns, asked["decimal"], complete_rows(table, [], columns, asked))
    return {"accuracies": pairs.tolist()}


_READERS: dict[str, Callable[[DuckTable, dict[str, Any]], dict[str, Any]]] = {
    "scores": _from_scores,
    "wins": _from_wins,
    "gallery": _from_embeddings,
    "accuracy": _from_accuracies,
    "strangers": _from_strangers,
    "pairs": _from_pairs,
}


def _rows(result: Extrapolation, top: int) -> list[dict[str, Any]]:
    """The rows of the result, of first places or of the first ``top``."""
    rows = result.to_dicts()
    if top > 1:
        for row in rows:
            estimate, answers = result.accuracy(row["classes"], top=top), _by_method(result, row["classes"], top)
            row |= {"accuracy": estimate.value, "low": estimate.low, "high": estimate.high, "interval": estimate.method}
            plausible = [answers[name] for name in result.plausible if name in answers]
            values = plausible if len(plausible) > 1 else list(answers.values())
            row |= {"methods_low": min(values), "methods_high": max(values)}
    return rows


def _by_method(result: Extrapolation, k: int, top: int) -> dict[str, float]:
    """The estimate of each method at ``k`` classes, of the first ``top`` places."""
    return {name: min(max(float(fit.top_t_accuracy(top, k)[0]), 0.0), 1.0) for name, fit in result.fits.items()}


def _until(result: Extrapolation, accuracy: float, top: int) -> Estimate:
    """The largest number of classes at which an accuracy of the first ``top`` places is still reached."""
    if top == 1:
        return result.classes_until(accuracy)
    from ..extrapolation.favorability import largest_k_where

    def reached(end: str, **how: float) -> float:
        return largest_k_where(lambda k: getattr(result.accuracy(int(k), top=top), end) >= accuracy, **how)

    name, value = f"classes_until({accuracy:g})", reached("value")
    if not result.replicates:
        return Estimate(name, value)
    low, high = (reached(end, far=1e15, precision=1e-3) for end in ("low", "high"))
    return Estimate(name, value, low, high, result.level, "class bootstrap")


def _made(rows: Sequence[dict[str, Any]], asked: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """How the result was made, as the settings and as the document say it."""
    drawn = {"level": asked["level"], "resamples": asked["resamples"]}
    made = {**({"intervals": "none"} if asked["no_intervals"] else drawn), "seed": asked["seed"]}
    named = {"n_resamples" if key == "resamples" else key: value for key, value in made.items()}
    return {"classes": ",".join(str(row["classes"]) for row in rows), **made}, named


def _report_of_sizes(found: BySize, file: str, kind: str, asked: dict[str, Any]) -> Report:
    """Rates by number of classes in every form."""
    said = {"file": file, **{key: asked[key] for key in ("label", "pairs", "positive", "strangers")}}
    said |= {"score": asked["scores"], "distance": asked["distance"] or None}
    said |= {"fpir": asked["fpir"]} if kind == "strangers" else {}
    facts = {key: value for key, value in said.items() if value is not None}
    settings, named = _made(found.rows, asked)
    blocks = lambda: [Block(found.title, found.to_dicts())]  # noqa: E731
    return Report(facts, lambda: {**named, **json.loads(found.to_json())}, found.to_dicts, blocks, settings)


def _report(result: Extrapolation, file: str, until: float | None, asked: dict[str, Any]) -> Report:
    """Accuracies by number of classes in every form."""
    rows = _rows(result, asked["top"])
    needed = result.classes_needed(asked["half_width"]) if asked["half_width"] is not None else None
    reach = _until(result, until, asked["top"]) if until is not None else None
    said = {"file": file, "label": asked["label"], "score": asked["scores"]}
    said |= {key: asked[key] for key in ("wins", "tied", "among", "gallery", "accuracy", "sizes")}
    said |= {key: asked[key] if asked["gallery"] else None for key in ("metric", "templates")}
    said |= {"half-width": asked["half_width"]}
    said |= {"top": asked["top"] if asked["top"] > 1 else None, "method": asked["method"], "ties": asked["ties"]}
    said |= {"distance": asked["distance"] or None, "until": until, "not-marginal": asked["not_marginal"] or None}
    settings, named = _made(rows, asked)
    seen = result.accuracy(result.n_classes, top=asked["top"]).value
    places = f"top-{asked['top']} " if asked["top"] > 1 else ""

    def content() -> dict[str, Any]:
        document = {**named, **json.loads(result.to_json())}
        if asked["top"] > 1:
            document |= {"accuracy_seen": seen, "predictions": to_jsonable(rows)}
            document["by_method"] = {str(k): _by_method(result, k, asked["top"]) for k in result.k}
        if needed is not None:
            document["classes_needed"] = needed
        if reach is not None:
            limits = {"classes": reach.value, "low": reach.low, "high": reach.high}
            finite = {key: value if math.isfinite(value) else None for key, value in limits.items()}
            document["classes_until"] = {"accuracy": until, **finite}
        return document

    def blocks() -> Iterator[str | Block]:
        mean = " (mean over the classes)" if asked["label"] else ""
        accuracy = f"{places}accuracy {seen:.4f}{mean}"
        title = f"{accuracy} among {result.n_classes:,} classes; {result.method}"
        yield Block(title, _only(COLUMNS[:4] + COLUMNS[6:8], rows))
        if reach is not None:
            kept = f"up to {pluralize(reach.value, 'class', 'classes')}"
            most = "any number" if math.isinf(reach.high) else f"{reach.high:,.0f}"
            span = "" if math.isnan(reach.low) else f" ({reach.low:,.0f} to {most})"
            far = "for any number of classes" if math.isinf(reach.value) else kept
            yield f"{places}accuracy stays above {until:.15g} {far}{span}.".capitalize()
        if needed is not None:
            last = max([*result.k, result.n_classes])
            at = f"For an interval of ± {asked['half_width']:g} at {last:,} classes"
            yield f"{at}, collect about {needed:,} classes."

    facts = {key: value for key, value in said.items() if value is not None}
    return Report(facts, content, lambda: _only(COLUMNS, rows), blocks, settings)


def _only(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{column: row[column] for column in columns} for row in rows]

"""``cutline extrapolate``: accuracy at more classes, from a file of scores, wins, embeddings, pairs or accuracies."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..table import Section
from ..validate import check_whole
from . import options as o
from .options import choice, column, command, option, refuse_others, share
from .output import Report, note
from .reading import choose_columns, complete_rows, load, opened

if TYPE_CHECKING:
    from ..sources.duckdb import DuckTable


def _numbers(value: str) -> list[int]:
    """Read ``100,1000,10_000``."""
    try:
        return [int(part) for part in value.replace(" ", "").split(",") if part]
    except ValueError:
        raise click.BadParameter(f"{value!r}: give whole numbers separated by commas, such as 100,1000") from None


# Options of a kind of file, and of what is computed from it.
_RECOGNISED = ("label", "scores", "distance")
_COMPETITORS = ("groups", "candidates")
_WINS = ("wins", "tied", "among")
_GALLERY = ("gallery", "metric", "templates")
_ACCURACIES = ("accuracy", "sizes")
_STRANGERS = ("strangers", "fpir")
_FIRST_PLACES = ("top", "half_width", "ties")
_CURVE = (*o.PLOT, "no_intervals", "method", "until", "not_marginal", "everything")
_EVERY_KIND = ("file", *o.DRAWN, *o.READING, *o.PRINTED, "html", "classes")


class ExtrapolateArguments(
    o.Arguments,
    takes=[
        *("file", *_RECOGNISED, *_COMPETITORS, *_WINS, *_GALLERY, *_ACCURACIES, *_STRANGERS, *o.LABELS),
        *("costs", "review", "pairs", *_EVERY_KIND, *_FIRST_PLACES, *_CURVE),
    ],
):
    """The options of ``extrapolate``."""

    scores: tuple[str, ...] = option(
        "Score columns, e.g. 'p_*' (default: all except the label). Give it twice to compare two recognisers.",
        "--score",
        metavar="PATTERN",
        multiple=True,
    )
    distance: bool = option("Scores are distances: smaller means closer.", section="Columns")
    groups: str | None = option(
        "Family of each class: a column, or a file with the classes in its first column and families in its second.",
        metavar="COLUMN|FILE",
        section="Columns",
    )
    costs: str | None = option(
        "File with what it costs to call the class of a row the class of a column: print costs instead.",
        type=o.InputFile(),
        metavar="FILE",
        section="Columns",
    )
    review: float | None = share(
        "Share of answers that is reviewed, the least certain first: print the share of errors found instead.",
    )
    html: str | None = option("Also write the result as a page.", type=o.OutputFile(), metavar="PATH")
    candidates: bool = option(
        "Each row is a candidate list: a missing score ranks below all others.", section="Columns"
    )
    wins: str | None = column("Column with the number of wrong classes that each case's class beat.", section=None)
    tied: str | None = column("Column with the number of wrong classes tied with it (with --wins).", section=None)
    among: int | None = option("Number of classes tested (with --wins).", metavar="N")
    gallery: str | None = option(
        "File with the gallery embeddings; FILE contains the probes. Both have the --score columns.",
        type=o.InputFile(),
        metavar="FILE",
    )
    metric: str = choice("How embeddings are compared (with --gallery).", ["euclidean", "cosine"], default="euclidean")
    templates: str = choice(
        "What counts of a class with several gallery rows: its best score or their mean (with --gallery).",
        ["best", "mean"],
        default="best",
    )
    accuracy: str | None = column("Column with accuracies (with --sizes).", section=None)
    sizes: str | None = column("Column with the number of classes (with --accuracy).", section=None)
    strangers: str | None = option(
        "Scores of probes not in the gallery: print FNIR at --fpir instead.",
        type=o.InputFile(),
        metavar="FILE",
    )
    fpir: float = share(
        "Share of strangers that may be falsely identified (with --strangers).",
        default="0.01",
        show_default=True,
    )
    pairs: str | None = column(
        "Score of each 1:1 comparison; --label marks those of the same class.", section="Other kinds of files"
    )
    classes: list[int] | None = option(
        "Numbers of classes to predict (default: 2×, 5×, 10×).", callback=o.parsed(_numbers), metavar="N,N,…"
    )
    resamples: int = option("Bootstrap resamples of the classes.", default=100, show_default=True)
    top: int = option(
        "Count a case as right if its class is among the best T.", default=1, show_default=True, metavar="T"
    )
    half_width: float | None = option("Also print how many classes to collect for an interval of ± W.", metavar="W")
    ties: str = choice(
        "How a tie with a wrong class counts: by chance, as a win, as a loss.",
        ["random", "optimistic", "pessimistic"],
        default="random",
    )
    method: str = option(
        "auto, or one method by name (see the guide More classes).", default="auto", show_default=True, metavar="NAME"
    )
    until: float | None = share("Also print the number of classes at which accuracy falls to this value.", "ACCURACY")
    not_marginal: bool = option("The score of a class depends on the other classes (softmax, trees).")
    no_intervals: bool = option("Values only; faster.")
    everything: bool = option("Also print every method and how it did in the back-test.", "--all")

    @property
    def pattern(self) -> str | None:
        """The one pattern, where two mean nothing."""
        if len(self.scores) > 1:
            raise click.UsageError("--score is given twice, which compares two recognisers by scores for each class")
        return self.scores[0] if self.scores else None


@command(
    ExtrapolateArguments,
    """\
  cutline extrapolate scores.csv --label person --classes 1000,10000
  cutline extrapolate distances.parquet --label person --score 'd_*' --distance
  cutline extrapolate scores.csv --label person --score 'old_*' --score 'new_*' --classes 10000
  cutline extrapolate wins.csv --wins beaten --among 400 --classes 4000 --until 0.9
  cutline extrapolate probes.csv --label person --score 'e_*' --gallery gallery.csv --classes 4000 --top 5
  cutline extrapolate printed.csv --accuracy top1 --sizes classes --classes 1000
  cutline extrapolate probes.csv --label person --strangers unknown.csv --fpir 0.01 --classes 10000
  cutline extrapolate scores.csv --label person --review 0.1 --classes 10000 --html growth.html
  cutline extrapolate comparisons.csv --pairs score --label same --positive yes --classes 1000
""",
)
def extrapolate(asked: ExtrapolateArguments) -> Report:
    """Predict the accuracy with more classes than you tested.

    FILE has one row per test case: its true class (--label) and one score column per class, named after the class.
    It may instead contain the number of wrong classes that the right one beat (--wins), the embedding of each probe
    (--gallery), or accuracies at several numbers of classes (--accuracy and --sizes).

    With --strangers, it prints how many people in the gallery are missed (FNIR) if no more than a share --fpir of
    strangers may be falsely identified. With --pairs, FILE has one row per 1:1 comparison. With --review, it prints the
    share of errors that is found by reviewing the least certain answers.
    """
    from .. import extrapolation as growth
    from ..extrapolation.extrapolator import find_method

    kinds = ("wins", "gallery", "strangers", "pairs", "review", "costs")
    given = [name for name in kinds if name in asked.given]
    kind = "accuracy" if asked.given & {"accuracy", "sizes"} else given[0] if given else "scores"
    read, meant, verb = _KINDS[kind]
    beside = "a score for each class" if kind == "scores" else f"--{kind}"
    refuse_others(asked, (*_EVERY_KIND, *meant), f"does not apply with {beside}", "")
    if asked.until is not None and not 0.0 < asked.until <= 1.0:
        raise InputError("until", f"is {asked.until:g}", "give an accuracy above 0 and at most 1")
    if check_whole(asked.top, "top", 1) > 1 and asked.half_width is not None:
        raise click.UsageError("--half-width plans for first places: it does not apply with --top above 1")
    if asked.method != "auto":
        find_method(asked.method)
    with opened(asked) as table:
        data = read(table, asked)
    data |= {"k": asked.classes or None, **asked.drawn}
    if "ties" in meant:
        data["ties"] = asked.ties
    is_sized = verb != "extrapolate"
    if not is_sized:
        data |= {"method": asked.method, "interval": not asked.no_intervals, "marginal": not asked.not_marginal}
    result = getattr(growth, verb)(**data)
    report = _report(result, kind, asked, is_sized=is_sized)
    if not is_sized or asked.form in ("csv", "json"):  # else its sections have the notes
        for sentence in result.notes:
            note(f"note: {sentence}")
    return report


def _from_wins(table: DuckTable, asked: ExtrapolateArguments) -> dict[str, Any]:
    from ..sources.class_matrix import read_texts

    if asked.wins is None or asked.among is None:
        raise click.UsageError("--wins needs --among N: the number of classes the wins were counted among")
    rows = load(table, asked, None, [asked.wins, *([asked.tied] if asked.tied else [])])
    labels = read_texts(table, asked.label) if asked.label else None
    if labels is not None and rows.source_rows is not None:
        labels = [labels[k] for k in rows.source_rows]
    tied = rows.scores[asked.tied] if asked.tied else None
    return {"wins": rows.scores[asked.wins], "tied": tied, "n_classes": asked.among, "labels": labels}


def _from_scores(table: DuckTable, asked: ExtrapolateArguments) -> dict[str, Any]:
    """Scores of one recogniser or of two, and what is known about the classes."""
    from ..sources.class_matrix import read_matrix, read_texts

    if len(asked.scores) > 2:
        raise click.UsageError("--score is given more than twice: compare two recognisers at a time")
    if len(asked.scores) < 2 or asked.given & {"costs", "review"}:
        data = _read_scores(table, asked, asked.pattern)[0]
    else:
        read = {pattern: _read_scores(table, asked, pattern)[0] for pattern in asked.scores}
        first, second = read.values()
        if sorted(first["classes"]) != sorted(second["classes"]):
            raise click.UsageError("both --score patterns must name the same classes")
        order = [second["classes"].index(name) for name in first["classes"]]
        second["scores"] = second["scores"][:, order]
        data = {**first, "scores": {p.rstrip("*_-. ") or p: r["scores"] for p, r in read.items()}}
    names = data["classes"]
    if asked.groups is not None:
        if os.path.exists(asked.groups):
            with opened(asked, asked.groups) as other:
                keys, family = (read_texts(other, other.columns[place].name) for place in (0, 1))
        else:
            keys = data["labels"]
            family = read_texts(table, asked.groups, complete_rows(table, asked, [asked.label or ""], [], quiet=True))
        known = dict(zip(keys, family, strict=True))
        lacking = [name for name in names if name not in known]
        if lacking:
            remedy = "give a file with the classes and their families"
            raise InputError("groups", f"has no family for class {lacking[0]!r}", remedy)
        data["groups"] = [known[name] for name in names]
    if asked.costs is not None:
        with opened(asked, asked.costs) as other:
            rows = read_texts(other, other.columns[0].name)
            if sorted(rows) != sorted(names):
                remedy = "name the classes in its first column"
                raise InputError("costs", "does not have one row for each class", remedy)
            prices = read_matrix(other, names, asked.decimal)
        data["cost"] = prices[[rows.index(name) for name in names]]
    if asked.review is not None:
        data["review"] = asked.review
    return data | ({"candidates": True} if asked.candidates else {})


def _read_scores(
    table: DuckTable, asked: ExtrapolateArguments, pattern: str | None
) -> tuple[dict[str, Any], list[str]]:
    """Scores, labels and the classes of the columns; and the columns."""
    from ..sources.class_matrix import read_matrix, read_texts
    from ..sources.profiles import class_columns

    label = asked.label
    if not label:
        raise click.UsageError("--label COLUMN is missing: the column with the true class of every case")
    texts = read_texts(table, label, complete_rows(table, asked, [label], [], quiet=True))
    columns, names, passed = class_columns(table, label, pattern, texts)
    if pattern is None and asked.groups in columns:  # the family of each case is not a score
        kept = [place for place, name in enumerate(columns) if name != asked.groups]
        columns, names = [columns[place] for place in kept], [names[place] for place in kept]
    if passed:
        note(f"note: column {passed[0]!r} only numbers the rows and is not a class")
    complete = complete_rows(table, asked, [label], [] if asked.candidates else columns)
    labels = read_texts(table, label, complete)
    matrix = read_matrix(table, columns, asked.decimal, complete, gaps=asked.candidates)
    return {"scores": matrix, "labels": labels, "classes": names, "distance": asked.distance}, columns


def _from_strangers(table: DuckTable, asked: ExtrapolateArguments) -> dict[str, Any]:
    from ..sources.class_matrix import read_matrix

    data, columns = _read_scores(table, asked, asked.pattern)
    with opened(asked, asked.strangers) as other:
        for name in columns:
            other.column(name, "score")
        strangers = read_matrix(other, columns, asked.decimal, complete_rows(other, asked, [], columns))
    return {**data, "strangers": strangers, "fpir": asked.fpir}


def _from_pairs(table: DuckTable, asked: ExtrapolateArguments) -> dict[str, Any]:
    if not asked.classes:
        raise click.UsageError("--pairs needs --classes N,N,…: comparisons do not show how many classes there are")
    columns = choose_columns(table, asked, [asked.pairs or ""])
    rows = load(table, asked, columns.label, columns.scores)
    score = rows.scores[columns.scores[0]]
    return {"genuine": score[rows.positive], "impostor": score[~rows.positive], "distance": asked.distance}


def _from_embeddings(table: DuckTable, asked: ExtrapolateArguments) -> dict[str, Any]:
    from ..sources.class_matrix import read_matrix, read_texts
    from ..sources.profiles import matching

    label, pattern = asked.label, asked.pattern
    if not label or not pattern:
        raise click.UsageError("--gallery needs --label COLUMN and --score PATTERN: whose embedding, and its columns")

    def read(source: DuckTable) -> tuple[Any, list[str]]:
        columns = [name for name in matching(source, pattern) if name != label]
        complete = complete_rows(source, asked, [label], columns)
        return read_matrix(source, columns, asked.decimal, complete), read_texts(source, label, complete)

    probes, labels = read(table)
    with opened(asked, asked.gallery) as other:
        gallery, names = read(other)
    how = {"metric": asked.metric, "templates": asked.templates}
    return {"gallery": gallery, "gallery_labels": names, "probes": probes, "labels": labels, **how}


def _from_accuracies(table: DuckTable, asked: ExtrapolateArguments) -> dict[str, Any]:
    from ..sources.class_matrix import read_matrix

    if not asked.accuracy or not asked.sizes:
        raise click.UsageError(
            "--accuracy and --sizes belong together: the column of accuracies, and that of class counts"
        )
    columns = [asked.sizes, asked.accuracy]
    pairs = read_matrix(table, columns, asked.decimal, complete_rows(table, asked, [], columns))
    return {"accuracies": pairs.tolist()}


# What FILE may contain or be read for: how it is read, the options that this kind takes, and the function that answers.
_Reader = Callable[["DuckTable", ExtrapolateArguments], dict[str, Any]]
_KINDS: dict[str, tuple[_Reader, tuple[str, ...], str]] = {
    "scores": (_from_scores, (*_RECOGNISED, *_COMPETITORS, *_FIRST_PLACES, *_CURVE), "extrapolate"),
    "costs": (_from_scores, (*_RECOGNISED, "groups", "costs", "ties"), "extrapolate_cost"),
    "review": (_from_scores, (*_RECOGNISED, "review", "ties"), "extrapolate_review"),
    "wins": (_from_wins, ("label", *_WINS, *_FIRST_PLACES, *_CURVE), "extrapolate"),
    "gallery": (_from_embeddings, ("label", "scores", *_GALLERY, *_FIRST_PLACES, *_CURVE), "extrapolate"),
    "accuracy": (_from_accuracies, (*_ACCURACIES, *_CURVE), "extrapolate"),
    "strangers": (_from_strangers, (*_RECOGNISED, *_STRANGERS), "extrapolate_open_set"),
    "pairs": (_from_pairs, ("label", "distance", *o.LABELS, "pairs"), "extrapolate_pairs"),
}


def _report(result: Any, kind: str, asked: ExtrapolateArguments, *, is_sized: bool) -> Report:
    """By number of classes in every form: accuracies of one recogniser or of two, or rates or costs (``is_sized``)."""
    top, compares = asked.top, len(asked.scores) > 1
    if compares and (top > 1 or asked.until is not None or asked.half_width is not None):
        raise click.UsageError("--top, --until and --half-width apply to one recogniser: give --score once")
    facts: dict[str, Any] = {"file": asked.file, "label": asked.label}
    facts |= {"score": list(asked.scores) if compares else asked.pattern}
    facts |= asked.named("pairs", "positive", "strangers", "wins", "tied", "among", "gallery", "accuracy", "sizes")
    facts |= asked.named("groups", "costs", "review", *(("metric", "templates") if asked.gallery else ()))
    facts |= {"distance": asked.distance or None, "fpir": asked.fpir if kind == "strangers" else None}
    how: dict[str, Any] = {}
    if not is_sized and not compares:
        how = {"top": top, "until": asked.until, "half_width": asked.half_width}
        facts |= {"half-width": asked.half_width, "top": top if top > 1 else None, "method": asked.method}
        facts |= {"ties": asked.ties, "candidates": asked.candidates or None, "until": asked.until}
        facts |= {"not-marginal": asked.not_marginal or None}
    rows = result.to_dicts(**({"top": top} if how else {}))
    drawn = {"level": asked.level, "resamples": asked.resamples}
    settings = {**({"intervals": "none"} if asked.no_intervals else drawn), "seed": asked.seed}
    named = {"n_resamples" if key == "resamples" else key: value for key, value in settings.items()}
    settings = {"classes": ",".join(str(row["classes"]) for row in rows), **settings}

    def sections() -> list[Section]:
        every = result.sections(**({} if is_sized else {**how, "detail": asked.everything}))
        return [part for part in every if is_sized or part.name != "notes"]  # which go to standard error

    def document() -> dict[str, Any]:
        return {**named, **(json.loads(result.to_json()) if is_sized else result.to_dict(**how))}

    def draw(path: str, kind: str | None) -> None:
        """In a figure of its own: without pyplot, so no window system is needed or started."""
        from matplotlib.figure import Figure

        from ..present.plots import picture_format
        from ..runtime import write_whole

        figure = Figure(figsize=(7.0, 4.5), layout="constrained")
        axes = result.plot(figure.add_subplot())
        if top > 1:
            note(f"note: the plot shows the accuracy of first places, not of the first {top}")
            axes.set_ylabel("accuracy (top 1)")
        with write_whole(path) as beside:
            figure.savefig(beside, dpi=150, format=picture_format(path))

    facts = {key: value for key, value in facts.items() if value is not None and value != ()}
    return Report(result, facts, settings, document, lambda: rows, sections, page=result.to_html, draw=draw)

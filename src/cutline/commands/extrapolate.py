"""``cutline extrapolate``: accuracy at more classes, from a file of scores or embeddings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..table import Section
from ..validate import check_whole
from . import options as o
from .options import choice, command, option, share
from .output import Report, note
from .reading import complete_rows, opened

if TYPE_CHECKING:
    from ..sources.duckdb import DuckTable


def _numbers(value: str) -> list[int]:
    """Read ``100,1000,10_000``."""
    try:
        return [int(part) for part in value.replace(" ", "").split(",") if part]
    except ValueError:
        raise click.BadParameter(f"{value!r}: give whole numbers separated by commas, such as 100,1000") from None


# Options that every kind of question takes, and those of accuracies alone.
_EVERY_KIND = ("file", "label", "scores", "ties", *o.DRAWN, *o.READING, *o.PRINTED, "html", "classes")
_ACCURACY = ("top", "half_width", *o.PLOT, "no_intervals", "method", "until", "everything")


class ExtrapolateArguments(
    o.Arguments, takes=[*_EVERY_KIND, "distance", "groups", "candidates", "costs", "review", *_ACCURACY]
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
    review: float | None = share("Share of answers reviewed, the least certain first: print the errors found instead.")
    html: str | None = option("Also write the result as a page.", type=o.OutputFile(), metavar="PATH")
    candidates: bool = option("Each row is a candidate list: a missing score ranks below all.", section="Columns")
    classes: list[int] | None = option(
        "Numbers of classes to predict (default: 2×, 5×, 10×).", callback=o.parsed(_numbers), metavar="N,N,…"
    )
    resamples: int = option("Bootstrap resamples of the classes.", default=100, show_default=True)
    top: int = option("A case is right if its class is among the best T.", default=1, show_default=True, metavar="T")
    half_width: float | None = option("Also print how many classes to collect for an interval of ± W.", metavar="W")
    ties: str = choice(
        "How a tie with a wrong class counts: by chance, as a win, as a loss.",
        ["random", "optimistic", "pessimistic"],
        default="random",
    )
    method: str = option("auto, or one method (guide More classes).", default="auto", show_default=True, metavar="NAME")
    until: float | None = share("Also print the number of classes at which accuracy falls to this value.", "ACCURACY")
    no_intervals: bool = option("Values only; faster.")
    everything: bool = option("Also print every method and how it did in the back-test.", "--all")


@command(
    ExtrapolateArguments,
    """\
  cutline extrapolate scores.csv --label person --classes 1000,10000
  cutline extrapolate distances.parquet --label person --score 'd_*' --distance
  cutline extrapolate scores.csv --label person --score 'old_*' --score 'new_*' --classes 10000
  cutline extrapolate scores.csv --label person --review 0.1 --classes 10000 --html growth.html
""",
)
def extrapolate(asked: ExtrapolateArguments) -> Report:
    """Predict the accuracy with more classes than you tested.

    FILE has one row per test case: its true class (--label) and one score column per class, named after the class.

    With --costs, it prints the expected cost per case. With --review, it prints the share of errors that is found by
    reviewing the least certain answers.
    """
    from ..extrapolation import extrapolate as answer
    from ..extrapolation.extrapolator import find_method

    kind = next((name for name in _KINDS if name in asked.given), "scores")
    meant = _KINDS[kind]
    beside = "a score for each class" if kind == "scores" else f"--{kind}"
    for param in click.get_current_context().command.params:
        if param.name in asked.given and param.name not in (*_EVERY_KIND, *meant):
            raise InputError(None, f"{max(param.opts, key=len)} does not apply with {beside}", "")
    if asked.until is not None and not 0.0 < asked.until <= 1.0:
        raise InputError("until", f"is {asked.until:g}", "give an accuracy above 0 and at most 1")
    if check_whole(asked.top, "top", 1) > 1 and asked.half_width is not None:
        raise click.UsageError("--half-width plans for first places: it does not apply with --top above 1")
    compares = len(asked.scores) > 1
    if compares and (kind != "scores" or asked.given & {"top", "until", "half_width"}):
        raise click.UsageError("--top, --until, --half-width, --costs, --review apply to one recogniser")
    if len(asked.scores) > 2:
        raise click.UsageError("--score is given more than twice: compare two recognisers at a time")
    if asked.method != "auto":
        find_method(asked.method)
    with opened(asked) as table:
        data = _from_scores(table, asked)
    data |= {"k": asked.classes or None, "ties": asked.ties, **asked.drawn}
    how: dict[str, Any] = {}
    if kind == "scores":
        data |= {"method": asked.method, "interval": not asked.no_intervals}
        if not compares:
            how = {"top": asked.top, "until": asked.until, "half_width": asked.half_width}
    result = answer(**data)
    for sentence in result.notes:
        note(f"note: {sentence}")
    if asked.top > 1 and asked.plot is not None:
        note(f"note: the plot shows the accuracy of first places, not of the first {asked.top}")
    rows = result.to_dicts(**({"top": asked.top} if how else {}))
    facts: dict[str, Any] = {"file": asked.file, **asked.named("label", "groups", "costs", "review")}
    facts |= {"score": list(asked.scores) if compares else next(iter(asked.scores), None), "ties": asked.ties}
    named = [name for name in meant if name != "everything" and (name in asked.given or name == "method")]
    facts = {name: value for name, value in (facts | asked.named(*named)).items() if value is not None}
    drawn = {"intervals": "none"} if asked.no_intervals else {"level": asked.level, "resamples": asked.resamples}
    settings = {"classes": ",".join(str(row["classes"]) for row in rows), **drawn, "seed": asked.seed}

    def sections() -> list[Section]:
        every = result.sections(**how, detail=asked.everything)
        return [part for part in every if part.name != "notes"]  # which go to standard error

    def document() -> dict[str, Any]:
        return {**asked.drawn, **result.to_dict(**how)}

    return Report(result, facts, settings, document, lambda: rows, sections, page=result.to_html)


def _from_scores(table: DuckTable, asked: ExtrapolateArguments) -> dict[str, Any]:
    """Scores of one recogniser or of two, and what is known about the classes."""
    from ..sources.class_matrix import read_matrix, read_texts

    if len(asked.scores) < 2:
        data = _read_scores(table, asked, next(iter(asked.scores), None))
    else:
        read = {pattern: _read_scores(table, asked, pattern) for pattern in asked.scores}
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
        for name in names:
            if name not in known:
                remedy = "give a file with the classes and their families"
                raise InputError("groups", f"has no family for class {name!r}", remedy)
        data["groups"] = [known[name] for name in names]
    if asked.costs is not None:
        with opened(asked, asked.costs) as other:
            rows = read_texts(other, other.columns[0].name)
            if sorted(rows) != sorted(names):
                problem = "does not have one row for each class"
                raise InputError("costs", problem, "name the classes in its first column")
            prices = read_matrix(other, names, asked.decimal)
        data["costs"] = prices[[rows.index(name) for name in names]]
    if asked.review is not None:
        data["review"] = asked.review
    return data | ({"candidates": True} if asked.candidates else {})


def _read_scores(table: DuckTable, asked: ExtrapolateArguments, pattern: str | None) -> dict[str, Any]:
    """Scores, labels and the classes of the columns."""
    from ..class_sample import class_affixes
    from ..sources.class_matrix import read_matrix, read_texts
    from ..sources.profiles import class_columns

    label = asked.label
    if not label:
        raise click.UsageError("--label COLUMN is missing: the column with the true class of every case")
    texts = read_texts(table, label, complete_rows(table, asked, [label], [], quiet=True))
    if pattern is None and not set(texts) <= set(table.names):  # columns with one beginning or ending in common
        affixes = class_affixes(table.names, texts)
        pattern = "*".join(affixes[0]) if len(affixes) == 1 else None
    columns, names, passed = class_columns(table, label, pattern, texts)
    if pattern is None and asked.groups in columns:  # the family of each case is not a score
        place = columns.index(asked.groups)
        columns, names = columns[:place] + columns[place + 1 :], names[:place] + names[place + 1 :]
    if passed:
        note(f"note: column {passed[0]!r} only numbers the rows and is not a class")
    complete = complete_rows(table, asked, [label], [] if asked.candidates else columns)
    labels = read_texts(table, label, complete)
    matrix = read_matrix(table, columns, asked.decimal, complete, gaps=asked.candidates)
    return {"scores": matrix, "labels": labels, "classes": names, "distance": asked.distance}


# What is asked of FILE: the options that this kind of question takes.
_KINDS: dict[str, tuple[str, ...]] = {
    "review": ("distance", "review"),
    "costs": ("distance", "groups", "costs"),
    "scores": ("distance", "groups", "candidates", *_ACCURACY),
}

"""``cutline evaluate``: one model, or one class against the rest after another."""

from __future__ import annotations

import contextlib
import importlib
import json
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..table import to_jsonable
from . import options
from .output import as_csv, as_markdown, check_extra, check_writable, note, print_table, say, settings_line
from .speech import spoken

if TYPE_CHECKING:
    from ..evaluation import Evaluation
    from .columns import Columns
    from .reading import Source

EXAMPLES = """\b
Examples:
  cutline evaluate scores.csv
  cutline evaluate scores.csv --label y --score p --quota 200 --html report.html
  cutline evaluate bank.csv --label bought --positive yes --score p --quota 5%
  cutline evaluate scores.csv --label y --score p --measure pem --measure hit_rate@20 --format json
  cutline evaluate iris.csv --label class --score 'p_*'
"""


@click.command(epilog=EXAMPLES)
@options.file_argument
@options.label_option
@options.score_option
@options.quota_option
@options.threshold_option
@options.positive_option
@options.weight_option
@options.measure_option
@options.inference_options
@options.engine_options
@options.format_option
@options.html_option
@options.cost_option
@options.value_option
def evaluate(file: str, label: str | None, score: str | None, html: str | None, form: str, **asked: Any) -> None:
    """Say how good one model's scores are: every measure with an interval.

    FILE holds a row for each case, with its real outcome and its score. --label and --score can be left out where
    only one column can be meant.
    """
    from .columns import choose_columns
    from .engine import choose_engine, table
    from .reading import opened

    check_page(html, asked["cost"], asked["value"])
    check_quota(asked)
    engine = choose_engine(file, asked)
    if engine.name != "memory":
        from ..tables import evaluate_table

        with table(file, engine, label, [score] if score else [], asked, several=False) as (rows, columns, settings):
            ev = evaluate_table(rows, score=columns.scores[0], **settings)
        _finish(ev, html, form, facts_of(file, columns, columns.scores[0], asked, ev.facts["dropped"]), asked)
        return
    with opened(file) as source:
        warm_up()
        columns = choose_columns(source, label, [score] if score else [], asked["weight"])
        if len(columns.scores) > 1:
            _each_class(source, columns, score or "*", form, html, asked)
            return
        ev = evaluate_column(source, columns, columns.scores[0], asked)
    _finish(ev, html, form, facts_of(source.name, columns, columns.scores[0], asked), asked)


def _finish(ev: Evaluation, html: str | None, form: str, facts: dict[str, Any], asked: dict[str, Any]) -> None:
    if html is not None:
        from ..present.page import write_page

        write_page(ev, html, cost=asked["cost"], value=asked["value"], source=facts)
        note(f"page: {html}")
    show_evaluation(ev, form, facts, asked["measures"])


def check_page(html: str | None, cost: float | None, value: float | None) -> None:
    """Refuse a page that cannot be written, and prices without a page, before anything is computed."""
    if html is None and (cost is not None or value is not None):
        raise InputError("--cost and --value are for the page: add --html PATH, or use: cutline plan")
    check_writable(html, "--html")
    if html is not None:
        check_extra("page", "altair", "vl_convert")


def check_quota(asked: dict[str, Any]) -> None:
    """Refuse a quota with weights: places are counted in rows, and weights say that a row is not one case."""
    if asked["weight"] is not None and asked["quota"] is not None:
        raise InputError("--quota counts rows and --weight makes rows unequal; leave one of them out")


def facts_of(file: str, columns: Columns, score: str, asked: dict[str, Any], dropped: int = 0) -> dict[str, Any]:
    """Which file and which of its columns a result is about, as the options say it."""
    facts = {"file": file, "label": columns.label, "positive": asked["positive"], "score": score}
    return {
        key: value
        for key, value in {**facts, "weight": columns.weight, "dropped": dropped or None}.items()
        if value is not None
    }


def warm_up() -> None:
    """Load the compiled kernels beside the reading of the file: DuckDB leaves the interpreter free meanwhile."""

    def load() -> None:
        with contextlib.suppress(Exception):  # the evaluation imports them too, and fails where it can be told
            importlib.import_module("cutline.kernels")

    threading.Thread(target=load).start()  # not a daemon: an import cut off at exit may crash the interpreter


def evaluate_column(source: Source, columns: Columns, score: str, asked: dict[str, Any]) -> Evaluation:
    """Read one score column and evaluate it."""
    from ..evaluation import evaluate as evaluate_arrays
    from .columns import read_labels

    labels = read_labels(source, columns.label, asked["positive"])
    values = source.numbers(score, "score")
    weight = None if columns.weight is None else source.weights(columns.weight)
    with spoken(source.name):
        return evaluate_arrays(
            labels,
            values,
            name=score,
            sample_weight=weight,
            **wishes(asked),
        )


def wishes(asked: dict[str, Any]) -> dict[str, Any]:
    """What to evaluate and how to make intervals, as the library takes it."""
    return {
        "threshold": asked["threshold"],
        "quota": asked["quota"],
        "measures": list(asked["measures"]) or None,
        "interval": None if asked["no_intervals"] else "auto",
        "level": asked["level"],
        "n_resamples": asked["resamples"],
        "seed": asked["seed"],
    }


def settings_of(ev: Evaluation, facts: dict[str, Any], measures: Sequence[str] = ()) -> str:
    """The settings line of an evaluation."""
    s = ev.settings
    made = {"level": s.level, "resamples": s.n_resamples, "seed": s.seed} if s.interval else {"intervals": "none"}
    asked: dict[str, Any] = {} if ev.quota is None else {"quota": ev.quota}
    if measures:
        asked["measures"] = ", ".join(measures)
    return settings_line(**facts, rows=ev.facts["rows"], threshold=ev.threshold, **asked, **made)


def show_evaluation(ev: Evaluation, form: str, facts: dict[str, Any], measures: Sequence[str] = ()) -> None:
    """Print an evaluation in one of the formats."""
    from .. import __version__
    from ..present.text_tables import reading_rows
    from ..present.words import headline, quota_sentence, ties_sentence

    if form == "json":
        say(json.dumps({"cutline": __version__, **facts, **json.loads(ev.to_json())}, indent=2, ensure_ascii=False))
        return
    if form == "csv":
        rows = ev.to_dicts()
        say(as_csv(rows, list(rows[0])).rstrip("\n"))
        note(settings_of(ev, facts, measures))
        return
    rows = reading_rows(ev)
    sentences = [s for s in (headline(ev), quota_sentence(ev), ties_sentence(ev)) if s]
    if form == "markdown":
        say("\n\n".join(sentences) + "\n")
        say(as_markdown(rows, list(rows[0])))
        say(f"\n{settings_of(ev, facts, measures)}")
        return
    say("\n".join(sentences) + "\n")
    print_table(rows, list(rows[0]), section="family")
    say(f"\n{settings_of(ev, facts, measures)}")


def _each_class(
    source: Source, columns: Columns, pattern: str, form: str, html: str | None, asked: dict[str, Any]
) -> None:
    """A score column for each class: each class in turn against the rest."""
    import numpy as np

    from .. import __version__
    from ..engines.duckdb_source import listed, quoted
    from ..evaluation import one_vs_rest
    from ..present.text_tables import class_rows
    from .columns import class_names, label_values

    if html is not None:
        raise InputError("--html shows one positive class; name its score column with --score and it with --positive")
    if asked["positive"] is not None:
        raise InputError(f"--positive and several score columns ({listed(columns.scores)}) contradict each other")
    classes = class_names(pattern, columns.scores)
    found = [str(value) for value in label_values(source, columns.label, 1000)]
    strange = [value for value in found if value not in classes]
    if strange:
        raise InputError(
            f"{source.name}: column {columns.label!r} holds {strange[0]!r}, but no score column stands for it; "
            f"{pattern!r} gives the classes {listed(classes)}"
        )
    text = source.query(f"{quoted(columns.label)}::VARCHAR AS v").fetchnumpy()["v"]
    labels = source.complete(text, columns.label, "label")
    matrix = np.column_stack([source.numbers(column, "score") for column in columns.scores])
    weight = None if columns.weight is None else source.weights(columns.weight)
    with spoken(source.name):
        ovr = one_vs_rest(
            labels,
            matrix,
            classes=classes,
            sample_weight=weight,
            **wishes(asked),
        )
    first = next(iter(ovr.evaluations.values()))
    facts = facts_of(source.name, columns, pattern, asked)
    rows = ovr.to_dicts()
    if form == "json":
        content = {"cutline": __version__, **facts, "rows": len(labels), **first.settings.to_dict(), "classes": rows}
        say(json.dumps(to_jsonable(content), indent=2, ensure_ascii=False))
    elif form == "csv":
        say(as_csv(rows, list(rows[0])).rstrip("\n"))
        note(settings_of(first, facts, asked["measures"]))
    else:
        wanted = list(first.specs) if asked["measures"] else ["roc_auc", "average_precision", "brier_score"]
        if asked["quota"] is not None and not asked["measures"]:
            wanted += [key for key, spec in first.specs.items() if spec.measure.name in ("hit_rate", "qrecall")]
        table = class_rows(ovr, wanted)
        title = f"{len(labels):,} rows, {len(ovr)} classes, each against the rest"
        if form == "markdown":
            say(as_markdown(table, list(table[0]), title))
        else:
            print_table(table, list(table[0]), title=title)
        say(f"\n{settings_of(first, facts, asked['measures'])}")

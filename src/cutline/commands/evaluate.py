"""``cutline evaluate``: one model, or one class against the rest after another."""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import InputError, listed
from . import options
from .output import Block, Report, check_extra, note
from .reading import facts_of, keys_of, say_if_long, say_understood
from .terms import COMMAND_LINE, about_file

if TYPE_CHECKING:
    from ..decide.batches import BatchPoint, BatchRules
    from ..decide.thresholds import Cut
    from ..evaluation import Evaluation
    from ..sources.duckdb import DuckTable
    from .reading import Columns

EXAMPLES = """\b
Examples:
  cutline evaluate scores.csv
  cutline evaluate scores.csv --label y --score p --quota 200 --html report.html
  cutline evaluate scores.csv --label y --score p --recall 0.8 --plot cut.png
  cutline evaluate scores.csv --label y --score p --cost-fp 1 --cost-fn 8 --html costs.html
  cutline evaluate bank.csv --label bought --positive yes --score p --quota 5%
  cutline evaluate scores.csv --label y --score p --measure pem --measure hit_rate@20 --format json
  cutline evaluate loans.csv --label default --score p --quota 5% --by region --by year
  cutline evaluate loans.csv --label default --score p --by region --quota-by north:60,south:40
  cutline evaluate claims.csv --label fraud --score p --quota 100 --batch day --carry
  cutline evaluate iris.csv --label class --score 'p_*'
"""
_FEW_BYTES = 2**16  # of a file with fewer, NumPy sums the rows before numba is loaded
_SHOWN_BATCHES = 40
_CUTS = ("recall", "precision", "specificity", "fpr")


@options.command(epilog=EXAMPLES)
@options.file_argument
@options.label_option
@options.score_option
@options.quota_option
@options.threshold_option
@options.cut_options
@options.error_cost_options
@options.positive_option
@options.prevalence_option
@options.class_options
@options.weight_option
@options.by_option
@options.quota_by_option
@options.batch_option
@options.carry_option
@options.cluster_option
@options.measure_option
@options.all_option
@options.result_options
def evaluate(file: str, label: str | None, score: str | None, form: str, **asked: Any) -> None:
    """Evaluate one model: every measure with an interval.

    FILE has one row per case, with its real outcome and its score. --label and --score can be left out if
    only one column qualifies. --all prints the whole catalogue of measures.

    With more than two classes, FILE holds a score column for each class (named after it, or --score 'p_*'), their
    predictions (--predicted), or a row for each case and class (--case, --class).
    """
    from ..sources.columns import matching
    from ..tables import evaluate_table
    from . import classes, segments
    from .engine import choose_engine, named_columns, open_for, table_options

    check_pictures(asked)
    if asked["quota_by"] is not None and not asked["by"]:
        raise InputError("quota_by", "gives places to segments", "name their column with {by}")
    if asked["carry"] and (asked["batch"] is None or asked["quota"] is None):
        raise InputError("carry", "is for the places of each batch", "give {batch} and {quota}")
    promise = _promise(asked)
    engine = choose_engine(file, asked)
    if promise and engine.name != "memory":
        raise InputError(
            next(iter(promise)), f"cannot set the cut in a stream (--engine {engine.name})", "leave it out"
        )
    for key in keys_of(asked) if promise else ():
        said = "is promised for rows that were drawn one by one"
        raise InputError(next(iter(promise)), said, f"leave {{{key}}} out, or give a {{threshold}}")
    with open_for(engine, file, asked) as table:
        warm_up(file)
        if asked["case"] is not None or asked["class_column"] is not None:
            if engine.name == "spark":
                raise classes.on_spark()
            classes.evaluate_long(table, file, label, score, form, asked)
            return
        found = classes.several_classes(table, label, score, asked)
        if found is not None:
            classes.evaluate_file(table, file, found, form, asked)
            return
        if score is not None and engine.name == "duckdb":
            meant = matching(table, score)
            if len(meant) > 1:
                said = f"takes one column with --engine duckdb, not {listed(meant)}"
                raise InputError("score", said, "name one of them, or load the file with {engine='memory'}")
        columns = named_columns(engine, table, label, [score] if score else [], asked, several=False)
        if len(columns.scores) > 1:
            if asked["positive"] is not None:
                said = f"is for one score column, but {{score}} means {listed(columns.scores)}"
                raise InputError("pos_label", said, "name one column with {score}, or leave it out")
            raise InputError("score", f"means {listed(columns.scores)}", "name one of them, or use: cutline compare")
        options = table_options(engine, columns, asked)
        if asked["by"]:
            segments.evaluate_by(table, file, columns, promise, options, form, asked)
            return
        few = few_measures(form, asked)
        if asked["html"] is None:  # the page shows every measure
            options["measures"] = few or options["measures"]
        cut = _kept_cut(table, columns, asked, promise) if promise else None
        if cut is not None:
            options["threshold"] = float(cut)
        with about_file(table.name):
            ev = evaluate_table(table, score=columns.scores[0], **options)
        say_understood(ev.understood)
        if engine.name == "memory":
            say_if_long(table, columns.label, columns.scores, columns.weight)
    facts = facts_of(file, columns, asked, ev.dropped)
    write_outputs(ev, facts, asked)
    if few is not None and asked["html"] is not None:
        from ..evaluation import choose_specs

        quota = options["quota"]  # as it was asked for: measures are named by 10 %, not by the number that it comes to
        keys = [str(spec) for spec in choose_specs(few, threshold=ev.threshold, quota=quota)]
        ev = replace(ev, estimates={key: ev.estimates[key] for key in keys}, specs={key: ev.specs[key] for key in keys})
    report(ev, facts, asked["measures"], short=few is not None, cut=cut, carry=asked["carry"]).publish(form)


def _promise(asked: dict[str, Any]) -> dict[str, float]:
    """The one thing that a cut is to keep, taken out of what was asked; empty if none was."""
    given = {name: value for name in _CUTS if (value := asked.pop(name)) is not None}
    prices = error_costs(asked)
    others = [name for name in ("quota", "threshold") if asked[name] is not None]
    several = [*given, *(["cost-fp"] if prices else []), *others]
    if len(several) > 1 and (given or prices):
        raise InputError(None, f"--{' and --'.join(several)} each set the cut", "give one of them")
    if "precision" in given and asked["prevalence"] is not None:
        raise InputError("prevalence", "moves precision, and the cut is found in the file's own", "set a {threshold}")
    return {**given, **prices}


def error_costs(asked: Mapping[str, Any]) -> dict[str, float]:
    """What errors cost, if that was given: both kinds or none."""
    prices = {name: asked[name] for name in ("cost_fp", "cost_fn") if asked[name] is not None}
    if len(prices) == 1:
        missing = "cost_fn" if "cost_fp" in prices else "cost_fp"
        raise InputError(missing, f"is missing: {{{next(iter(prices))}}} needs it", "give the costs of both errors")
    return prices


def check_pictures(asked: Mapping[str, Any]) -> None:
    """Refuse a picture that cannot be drawn, and prices without a page, before anything is computed."""
    if asked["html"] is None and (asked["cost"] is not None or asked["value"] is not None):
        raise InputError(None, "--cost and --value are for the page", "add --html PATH, or use: cutline plan")
    check_plot(asked["plot"])


def check_plot(plot: str | None) -> None:
    """Refuse a picture that cannot be drawn."""
    if plot is not None:
        check_extra("plot", "matplotlib")
        from ..present.plots import picture_format

        picture_format(plot)


def write_outputs(result: Any, facts: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Write the page and the picture that were asked for."""
    if asked["html"] is not None:
        from ..present.page import write_page

        prices = {"cost": asked["cost"], "value": asked["value"], **error_costs(asked)}
        write_page(result, asked["html"], source=facts, carry=asked.get("carry", False), **prices)
        note(f"page: {asked['html']}")
    save_plot(result, asked["plot"])


def save_plot(result: Any, plot: str | None) -> None:
    """Write the picture that was asked for."""
    if plot is not None:
        from ..present.plots import write_picture

        write_picture(result, plot)
        note(f"picture: {plot}")


def warm_up(file: str) -> None:
    """Load the compiled kernels beside the reading of a file that is large enough to need them."""
    if not os.path.isfile(file) or os.path.getsize(file) < _FEW_BYTES:
        return

    def load() -> None:
        with contextlib.suppress(Exception):  # the evaluation imports them too, and fails where it can be told
            importlib.import_module("cutline.kernels.passes")

    threading.Thread(target=load).start()  # not a daemon: an import cut off at exit may crash the interpreter


def _kept_cut(table: DuckTable, columns: Columns, asked: Mapping[str, Any], promise: Mapping[str, float]) -> Cut:
    """The cut that keeps a promise."""
    from ..decide.thresholds import threshold_for
    from .reading import load

    score = columns.scores[0]
    rows = load(table, columns.label, [score], columns.weight, asked, quiet=True)
    drawn = {"n_resamples": asked["resamples"], "seed": asked["seed"]}
    given: dict[str, Any] = {**promise, "level": asked["level"], **drawn}
    with about_file(table.name):
        return threshold_for(rows.positive, rows.scores[score], sample_weight=rows.weight, **given)


def few_measures(form: str, asked: Mapping[str, Any]) -> list[str] | None:
    """The measures of a short table; None where more or others are wanted."""
    if form not in ("table", "markdown") or asked["everything"] or asked["measures"]:
        return None
    from ..present.words import default_measures

    return default_measures(asked["quota"])


def library_options(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What to evaluate and how to make intervals, as the library takes it."""
    given = {} if asked["threshold"] is None else {"threshold": asked["threshold"]}
    return {**given, "quota": asked["quota"], **measuring_options(asked)}


def measuring_options(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Which measures, and how to make intervals."""
    if asked["no_intervals"] and asked["interval"] is not None:
        raise InputError("interval", "does not go with --no-intervals", "leave one of them out")
    return {
        "measures": list(asked["measures"]) or None,
        "interval": None if asked["no_intervals"] else asked["interval"] or "auto",
        "level": asked["level"],
        "n_resamples": asked["resamples"],
        "seed": asked["seed"],
    }


def settings_of(result: Any, rows: int, measures: Sequence[str] = ()) -> dict[str, Any]:
    """How an evaluation or a comparison was made."""
    s = result.settings
    made = {"level": s.level, "resamples": s.n_resamples, "seed": s.seed} if s.interval else {"intervals": "none"}
    quota = result.quota if result.quotas is None else str(result.quotas)
    given = {"threshold": result.threshold, "quota": quota, "measures": ", ".join(measures) or None}
    given["margin"] = getattr(result, "margin", None)
    given["interval"] = None if s.interval == "auto" else s.interval
    given["prevalence"] = None if result.prevalence is None else str(result.prevalence)
    return {"rows": rows, **{key: value for key, value in given.items() if value is not None}, **made}


def report(
    ev: Evaluation,
    facts: Mapping[str, Any],
    measures: Sequence[str] = (),
    *,
    short: bool = False,
    cut: Cut | None = None,
    carry: bool = False,
) -> Report:
    """An evaluation in every form."""
    from ..decide.batches import BatchPoint
    from ..evaluation import notices_of
    from ..present import words

    point = _point(ev, cut)
    rules = ev.batch_rules(carry=carry) if ev.rows.batched and ev.quota is not None else None

    def content() -> dict[str, Any]:
        chosen = {} if cut is None else {"cut": {"goal": cut.goal, "chance_kept": cut.chance, "note": cut.note}}
        at = {} if point is None else {"operating_point": point.to_dict()}
        if rules is not None:
            at["batch_rules"] = {key: value for key, value in rules.to_dict().items() if key != "batches"}
        return {**json.loads(ev.to_json()), **chosen, **at}

    def blocks() -> Iterator[str | Block]:
        sentences = [words.headline(ev), *notices_of([ev], COMMAND_LINE)]
        sentences.append(
            words.point_sentence(ev, point) if cut is None else f"Cut at {_place(cut.threshold)}: {cut.note}."
        )
        yield "\n".join(filter(None, [*sentences, words.ties_sentence(ev)]))
        if point is not None:
            where = f"At {ev.quota:,} places" if ev.quota is not None and cut is None else "At the threshold"
            taken = "all cases" if point.threshold == -math.inf else f"score > {point.threshold:.6g}"
            if rules is not None and ev.quota is not None:
                where, taken = f"The best {words.quota_words(ev.quota)} of each batch", "all batches together"
            yield Block(f"{where}: {taken}", words.confusion_rows(point))
            if isinstance(point, BatchPoint):
                yield from _batch_blocks(point, rules)
            if cut is not None:
                yield Block("", words.cut_rows(ev, point))
        yield Block("", words.measure_rows(ev, words.applicable(ev) if short else None), "family")
        if short:
            yield "--all prints every measure of the catalogue."

    return Report(facts, content, ev.to_dicts, blocks, settings_of(ev, ev.facts["rows"], measures))


def _batch_blocks(point: BatchPoint, rules: BatchRules | None) -> Iterator[str | Block]:
    """The batches one by one, and their places against one threshold."""
    from ..present.words import batch_rows, rule_rows

    rows = batch_rows(point)
    yield Block("Batch by batch", rows[:_SHOWN_BATCHES])
    if len(rows) > _SHOWN_BATCHES:
        yield f"{len(rows) - _SHOWN_BATCHES:,} more batches: --format json prints them all."
    if rules is not None:
        yield "\n".join(["The best of each batch, or one threshold for all", *rules.sentences()])
        yield Block("", rule_rows(rules))


def _place(threshold: float) -> str:
    return "the end of the list" if threshold == -math.inf else f"{threshold:.6g}"


def _point(ev: Evaluation, cut: Cut | None) -> Any:
    """The operating point to show: of the cut, of the quota, or of the threshold."""
    if cut is not None:
        return cut.point
    if ev.quota is not None:
        return ev.at(quota=ev.quota)
    threshold = ev.threshold if ev.quotas is None else None
    return None if threshold is None else ev.at(threshold=threshold)

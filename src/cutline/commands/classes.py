"""``cutline evaluate`` and ``compare`` on files with several classes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError, listed
from ..table import pluralize, to_jsonable
from .evaluate import measuring_options
from .output import Block, Report, note
from .reading import keys_of, say_dropped
from .terms import COMMAND_LINE, about_file

if TYPE_CHECKING:
    from ..class_comparison import ClassComparison
    from ..class_evaluation import ClassEvaluation
    from ..decide.abstention import Abstention
    from ..sources.class_tables import ClassColumns, ClassRows

_SHOWN_CLASSES = 30
_HONOURED = (  # options that have a meaning for several classes; any other is refused
    *("file", "label", "score", "scores", "quota", "predicted", "case", "class_column", "ordered", "order", "abstain"),
    *("weight", "cluster", "measures", "everything", "margin", "no_intervals", "interval", "level", "resamples"),
    *("seed", "missing", "delimiter", "quote", "decimal", "encoding", "engine", "memory_limit", "threads"),
    *("temp_directory", "form", "html", "plot", "cost", "value"),
)
_OF_ONE_MODEL = ("quota", "html", "plot", "cost", "value", "everything", "abstain")  # not of a comparison
_OF_CLASS = ("precision", "recall", "f1", "roc_auc")


def several_classes(table: Any, label: str | None, score: str | None, asked: Mapping[str, Any]) -> ClassColumns | None:
    """The columns of several classes, if the file is about them; a named positive class asks for two."""
    from ..sources.class_tables import find_class_columns

    of_segments = bool(asked["by"])  # then an order is theirs
    told = next((name for name in ("predicted", "abstain") if asked[name] is not None), None)
    if asked["order"] is not None and told is None and not of_segments:
        told = "order"
    if asked["ordered"] and told is None and not of_segments:
        told = "ordered"
    if not hasattr(table, "files"):
        if told is not None or (score is not None and "*" in score):
            raise on_spark()
        return None
    if asked["positive"] is not None:
        if told is not None:
            raise InputError(told, "is for several classes, {pos_label} for two", "leave one of them out")
        return None
    taken = [name for name in (asked["weight"], *keys_of(asked).values(), *asked["by"]) if name]
    found = find_class_columns(table, label, score, asked["predicted"], taken)
    if found is None and told is not None:
        said = f"{table.name}: --{told} is for several classes, but no score column for each class was found"
        raise InputError(None, said, "name {label} and {score}")
    return found


def on_spark() -> InputError:
    """Scores of several classes on a cluster."""
    said = "is spark, but the scores of several classes are read into memory"
    return InputError("engine", said, "use {engine='duckdb'}")


def evaluate_long(
    table: Any, file: str, label: str | None, score: str | None, form: str, asked: dict[str, Any]
) -> None:
    """A file with a row for each case and class."""
    from ..sources.class_tables import read_long_classes

    if asked["case"] is None or asked["class_column"] is None or label is None or score is None or asked["predicted"]:
        raise InputError(
            None,
            "a file with a row for each case and class needs four columns",
            "name {case}, {class_column}, {label} and {score}",
        )
    refuse_options()
    with about_file(table.name):
        rows = read_long_classes(
            table, label=label, score=score, case=asked["case"], class_column=asked["class_column"], **_reading(asked)
        )
    note(f"{len(rows.labels):,} cases of {len(rows.classes)} classes, a row for each case and class")
    facts = {"file": file, "label": label, "score": score, "case": asked["case"], "class": asked["class_column"]}
    _evaluate(table, rows, facts, form, asked)


def evaluate_file(table: Any, file: str, chosen: ClassColumns, form: str, asked: dict[str, Any]) -> None:
    """A file with a score column for each class, or with predicted classes."""
    from ..sources.class_tables import read_classes

    refuse_options()
    by = chosen.found_by if not chosen.scores else f"{chosen.found_by} ({listed(chosen.scores, 4)})"
    note(f"several classes: label {chosen.label!r}, {by}")
    rows = read_classes(table, chosen, **_reading(asked))
    facts: dict[str, Any] = {"file": file, "label": chosen.label, "score": list(chosen.scores)}
    _evaluate(table, rows, {**facts, "predicted": chosen.predicted}, form, asked)


def _evaluate(table: Any, rows: ClassRows, facts: Mapping[str, Any], form: str, asked: dict[str, Any]) -> None:
    from ..class_evaluation import evaluate_classes

    say_dropped(rows.dropped, len(rows.labels))
    with about_file(table.name):
        options = _options(asked)
        rows = rows.in_the_order(asked["order"], ordered=options["ordered"])
        ev = replace(evaluate_classes(rows.labels, **rows.arguments, **options), dropped=rows.dropped)
        kept = None if asked["abstain"] is None else ev.abstain(asked["abstain"], confidence=asked["level"])
    facts = {**facts, "weight": asked["weight"], "cluster": asked.get("cluster"), "dropped": rows.dropped}
    facts = {key: value for key, value in facts.items() if value}
    if asked["html"] is not None:
        source = {key: listed(value, 4) if isinstance(value, list) else value for key, value in facts.items()}
        ev.to_html(asked["html"], source=source, quota=asked["quota"], cost=asked["cost"], value=asked["value"])
        note(f"page: {asked['html']}")
    if asked["plot"] is not None:
        from ..present.plots import write_picture

        write_picture(ev, asked["plot"])
        note(f"picture: {asked['plot']}")
    _report(ev, kept, facts, asked).publish(form)


def compare_file(table: Any, file: str, label: str, patterns: Sequence[str], form: str, asked: dict[str, Any]) -> bool:
    """Compare models with a score column for each class (``--score 'a_*' --score 'b_*'``) or with predicted classes.

    Says whether that was asked for.
    """
    from ..class_tables import compare_classes_table
    from ..sources.class_tables import find_class_columns
    from ..sources.columns import matching

    predicted = list(asked["predicted"])
    if not predicted:
        if asked["positive"] is not None or len(patterns) < 2 or not all("*" in one for one in patterns):
            return False
        if any(len(matching(table, one)) < 2 for one in patterns):
            return False
        taken = [name for name in (asked["weight"], asked.get("cluster"), *asked["by"]) if name]
        if any(find_class_columns(table, label, one, None, taken) is None for one in patterns):
            return False
    if len(patterns) + len(predicted) < 2:
        raise InputError(None, "a comparison needs two models or more", "name them with {score} or {y_pred}")
    refuse_options(_OF_ONE_MODEL)
    with about_file(table.name):
        named: Any = {"label": label, "scores": patterns, "predicted": predicted, "classes": asked["order"]}
        cmp = compare_classes_table(table, margin=asked["margin"], **named, **_reading(asked), **_options(asked))
    first = next(iter(cmp.evaluations.values()))
    say_dropped(first.dropped or 0, len(first.sample))
    facts = {"file": file, "label": label, "score": list(patterns), "predicted": predicted, "dropped": first.dropped}
    _comparison_report(cmp, {key: value for key, value in facts.items() if value}).publish(form)
    return True


def refuse_options(others: Sequence[str] = ()) -> None:
    """Refuse options that were given and have no meaning for several classes, or for several models of them."""
    context = click.get_current_context()
    default = click.core.ParameterSource.DEFAULT
    for option in context.command.params:
        name = option.name or ""
        if option.expose_value and name not in _HONOURED and context.get_parameter_source(name) is not default:
            said = f"{max(option.opts, key=len)} works with two classes only"
            raise InputError(None, said, "name one class with {pos_label} and its column with {score}, or leave it out")
        if name in others and context.get_parameter_source(name) is not default:
            said = f"{max(option.opts, key=len)} cannot be used when models of several classes are compared"
            raise InputError(None, said, "use it with: cutline evaluate, or leave it out")


def _reading(asked: Mapping[str, Any]) -> dict[str, Any]:
    named = {"weight": asked["weight"], "clusters": asked.get("cluster")}
    return {**named, "missing": asked["missing"] or "error", "decimal": asked["decimal"]}


def _options(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {"ordered": bool(asked["ordered"] or asked["order"]), **measuring_options(asked)}


def _report(ev: ClassEvaluation, kept: Abstention | None, facts: Mapping[str, Any], asked: Mapping[str, Any]) -> Report:
    from ..present.class_sections import abstention_sentence, class_answer

    def content() -> dict[str, Any]:
        found = {} if kept is None else {"abstention": to_jsonable(kept.to_dict())}
        return {**json.loads(ev.to_json()), **found}

    def blocks() -> Iterator[str | Block]:
        sentences = _with_dropped(class_answer(ev, COMMAND_LINE), facts)
        if kept is not None:
            sentences.append(f"{kept.sentence[0].upper()}{kept.sentence[1:]}.")
        elif ev.sample.matrix is not None and ev.settings.interval is not None:
            sentences.append(abstention_sentence(ev))
        yield "\n".join(sentences)
        if not asked["measures"]:
            if len(ev.classes) <= _SHOWN_CLASSES // 2:
                yield Block("Real class (rows) by predicted class (columns)", _whole(ev.confusion.to_dicts()))
            yield Block("Each class against the rest", _class_rows(ev))
        rows = ev.reading_rows()
        if not (asked["everything"] or asked["measures"]):
            rows = [{k: v for k, v in row.items() if k != "method"} for row in rows]
        yield Block("", rows, "family")
        if asked["quota"] is not None and ev.sample.matrix is not None:
            yield Block(f"The best places of each class (quota {asked['quota']})", _places(ev, asked["quota"]))

    return Report(facts, content, ev.to_dicts, blocks, _settings(ev, len(ev.sample)))


def _with_dropped(sentences: list[str], facts: Mapping[str, Any]) -> list[str]:
    """The answer, with the rows that were left out said behind its first sentence."""
    if not facts.get("dropped"):
        return sentences
    left = f" {pluralize(facts['dropped'], 'row')} without label or score left out."
    return [sentences[0] + left, *sentences[1:]]


def _settings(result: Any, rows: int) -> dict[str, Any]:
    s = result.settings
    named = {} if s.interval == "auto" else {"interval": s.interval}
    return {"rows": rows, **({**named, "level": s.level, "seed": s.seed} if s.interval else {"intervals": "none"})}


def _whole(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{k: int(v) if isinstance(v, float) and v.is_integer() else v for k, v in row.items()} for row in rows]


def _class_rows(ev: ClassEvaluation) -> list[dict[str, Any]]:
    from ..table import count, format_value

    rows = []
    for row in ev.per_class[:_SHOWN_CLASSES]:
        line = {"class": str(row["class"]), "cases": count(row["cases"])}
        for name in _OF_CLASS:
            if name in row:
                low, high = row[f"{name}_low"], row[f"{name}_high"]
                between = f" [{format_value(low)}, {format_value(high)}]" if low == low else ""
                line[name] = f"{format_value(row[name])}{between}"
        rows.append(line)
    if len(ev.per_class) > _SHOWN_CLASSES:
        rows.append(
            {"class": f"… and {len(ev.per_class) - _SHOWN_CLASSES} more (--format json holds all)", "cases": ""}
        )
        rows[-1] |= {name: "" for name in rows[0] if name not in rows[-1]}
    return rows


def _places(ev: ClassEvaluation, quota: int | float) -> list[dict[str, Any]]:
    shown = ("class", "cases", "places", "threshold", "hits", "hit_rate", "hit_rate_low", "hit_rate_high", "qrecall")
    return [{name: row[name] for name in shown} for row in ev.places(quota)[:_SHOWN_CLASSES]]


def _comparison_report(cmp: ClassComparison, facts: Mapping[str, Any]) -> Report:
    from ..present.class_sections import class_comparison_answer

    def blocks() -> Iterator[str | Block]:
        yield "\n".join(_with_dropped(class_comparison_answer(cmp, COMMAND_LINE), facts))
        yield Block("Models side by side", cmp.table.to_dicts())
        shown = ("a", "b", "measure", "difference", "low", "high", "p_adjusted", "reading")
        yield Block("Differences (a − b)", [{name: row[name] for name in shown} for row in cmp.differences])

    first = next(iter(cmp.evaluations.values()))
    return Report(facts, lambda: json.loads(cmp.to_json()), cmp.to_dicts, blocks, _settings(cmp, len(first.sample)))

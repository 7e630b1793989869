"""``cutline evaluate`` and ``compare`` on files with several classes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, listed
from ..table import pluralize
from .output import Block, Report, note, settings_line
from .reading import complete_rows, read_matrix, read_texts
from .terms import about_file

if TYPE_CHECKING:
    from ..class_comparison import ClassComparison
    from ..class_evaluation import ClassEvaluation
    from ..sources.class_tables import ClassColumns

_SHOWN_CLASSES = 30
_NOT_FOR_CLASSES = ("threshold", "recall", "precision", "specificity", "fpr")
_OF_CLASS = ("precision", "recall", "f1", "roc_auc")


def several_classes(table: Any, label: str | None, score: str | None, asked: Mapping[str, Any]) -> ClassColumns | None:
    """The columns of several classes, if the file is about them; a named positive class asks for two."""
    from ..sources.class_tables import find_class_columns

    if asked["positive"] is not None or not hasattr(table, "files"):
        return None
    taken = [name for name in (asked["weight"], asked.get("case"), asked.get("class_column")) if name]
    return find_class_columns(table, label, score, asked["predicted"], taken)


def evaluate_long(
    table: Any, file: str, label: str | None, score: str | None, form: str, asked: dict[str, Any]
) -> None:
    """A file with a row for each case and class."""
    from ..class_evaluation import evaluate_classes
    from ..sources.class_tables import pivot_long

    if asked["case"] is None or asked["class_column"] is None or label is None or score is None:
        raise InputError(
            None,
            "a file with a row for each case and class needs four columns",
            "name {case}, {class_column}, {label} and {score}",
        )
    columns = (asked["case"], asked["class_column"], label)
    kept = complete_rows(table, columns, [score], asked)
    case, kind, real = (np.array(read_texts(table, name, kept)) for name in columns)
    numbers = read_matrix(table, [score], asked["decimal"], kept)[:, 0]
    with about_file(table.name):
        labels, matrix, classes = pivot_long(case, kind, numbers, real)
        ev = evaluate_classes(labels, matrix, classes=classes, **_options(asked))
    note(f"{len(labels):,} cases of {len(classes)} classes, a row for each case and class")
    facts = {"file": file, "label": label, "score": score, "case": asked["case"], "class": asked["class_column"]}
    _publish(ev, facts, form, asked)


def evaluate_file(table: Any, file: str, chosen: ClassColumns, form: str, asked: dict[str, Any]) -> None:
    """A file with a score column for each class, or with predicted classes."""
    from ..class_evaluation import evaluate_classes

    _refuse_options(asked)
    matrix, labels, weight, said, dropped = _read(table, chosen, asked)
    hard = said is not None and matrix is None
    classes = sorted({*labels, *(said or [])}) if hard else list(chosen.classes)
    by = chosen.found_by if not chosen.scores else f"{chosen.found_by} ({listed(chosen.scores, 4)})"
    note(f"several classes: label {chosen.label!r}, {by}")
    with about_file(table.name):
        ev = evaluate_classes(labels, matrix, y_pred=said, classes=classes, sample_weight=weight, **_options(asked))
    facts: dict[str, Any] = {"file": file, "label": chosen.label, "score": listed(chosen.scores, 4)}
    facts |= {"predicted": chosen.predicted, "dropped": dropped}
    _publish(ev, {key: value for key, value in facts.items() if value}, form, asked)


def compare_file(table: Any, file: str, label: str, patterns: Sequence[str], form: str, asked: dict[str, Any]) -> bool:
    """Compare models with a score column for each class each (``--score 'a_*' --score 'b_*'``); whether it could."""
    from ..class_comparison import compare_classes
    from ..sources.class_tables import find_class_columns
    from ..sources.columns import matching

    if asked["positive"] is not None or len(patterns) < 2 or not all("*" in one for one in patterns):
        return False
    if any(len(matching(table, one)) < 2 for one in patterns):
        return False
    _refuse_options(asked)
    models, classes, weight, labels, dropped = {}, None, None, None, 0
    for pattern in patterns:
        chosen = find_class_columns(table, label, pattern, None, [asked["weight"]] if asked["weight"] else [])
        if chosen is None:
            return False
        matrix, labels, weight, _, dropped = _read(
            table, chosen, asked, [one for p in patterns for one in matching(table, p)]
        )
        assert matrix is not None
        if classes is not None and set(classes) != set(chosen.classes):
            raise InputError(
                "score", f"{pattern} has other classes than {patterns[0]}", "give each model the same classes"
            )
        order = [chosen.classes.index(one) for one in classes] if classes is not None else range(len(chosen.classes))
        classes = classes or list(chosen.classes)
        models[pattern.replace("*", "").strip("_.- ") or pattern] = matrix[:, list(order)]
    options = _options(asked)
    options.pop("name", None)
    with about_file(table.name):
        cmp = compare_classes(labels, models, classes=classes, sample_weight=weight, margin=asked["margin"], **options)
    facts = {"file": file, "label": label, "score": ", ".join(patterns), **({"dropped": dropped} if dropped else {})}
    _comparison_report(cmp, facts).publish(form)
    return True


def _read(
    table: Any, chosen: ClassColumns, asked: Mapping[str, Any], of_all: Sequence[str] = ()
) -> tuple[Any, list[str], Any, list[str] | None, int]:
    """Scores, labels, weights, predicted classes, and how many rows were left out; ``of_all`` models' columns."""
    weight = [asked["weight"]] if asked["weight"] is not None else []
    texts = [chosen.label, *([chosen.predicted] if chosen.predicted else [])]
    numbers = [*dict.fromkeys([*chosen.scores, *(name for name in of_all if name != chosen.label)]), *weight]
    kept = complete_rows(table, texts, numbers, asked)
    labels, *said = (read_texts(table, name, kept) for name in texts)
    matrix = read_matrix(table, chosen.scores, asked["decimal"], kept) if chosen.scores else None
    weights = read_matrix(table, weight, asked["decimal"], kept)[:, 0] if weight else None
    dropped = 0 if kept is None else int(table.aggregate(["count(*)"])[0]) - len(kept)
    return matrix, labels, weights, said[0] if said else None, dropped


def _refuse_options(asked: Mapping[str, Any]) -> None:
    if asked.get("prevalence") is not None:
        raise InputError("prevalence", "is a share of one of two classes, and there are more", "leave it out")
    for name in _NOT_FOR_CLASSES:
        if asked.get(name) is not None:
            raise InputError(name, "cuts the scores of one class", "say which with {pos_label} and {score}")


def _options(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "ordered": asked.get("ordered", False),
        "measures": list(asked["measures"]) or None,
        "interval": None if asked["no_intervals"] else "auto",
        "level": asked["level"],
        "n_resamples": asked["resamples"],
        "seed": asked["seed"],
    }


def _publish(ev: ClassEvaluation, facts: Mapping[str, Any], form: str, asked: Mapping[str, Any]) -> None:
    if asked["html"] is not None:
        ev.to_html(asked["html"], source=facts, quota=asked["quota"], cost=asked["cost"], value=asked["value"])
        note(f"page: {asked['html']}")
    if asked["plot"] is not None:
        from ..present.plots.class_plots import write_class_picture

        write_class_picture(ev, asked["plot"])
        note(f"picture: {asked['plot']}")
    _report(ev, facts, asked).publish(form)


def _report(ev: ClassEvaluation, facts: Mapping[str, Any], asked: Mapping[str, Any]) -> Report:
    from .. import __version__
    from ..present.class_words import abstention_sentence, class_answer

    def document() -> dict[str, Any]:
        return {"cutline": __version__, **facts, **json.loads(ev.to_json())}

    def blocks() -> Iterator[str | Block]:
        sentences = _with_dropped(class_answer(ev), facts)
        if ev.sample.matrix is not None and ev.settings.interval is not None:
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

    return Report(document, ev.to_dicts, blocks, _settings(ev, facts, len(ev.sample)))


def _with_dropped(sentences: list[str], facts: Mapping[str, Any]) -> list[str]:
    """The answer, with the rows that were left out said behind its first sentence."""
    if not facts.get("dropped"):
        return sentences
    left = f" {pluralize(facts['dropped'], 'row')} without label or score left out."
    return [sentences[0] + left, *sentences[1:]]


def _settings(result: Any, facts: Mapping[str, Any], rows: int) -> str:
    s = result.settings
    made = {"level": s.level, "seed": s.seed} if s.interval else {"intervals": "none"}
    return settings_line(**facts, rows=rows, **made)


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
    from .. import __version__
    from ..present.class_words import class_comparison_answer

    def document() -> dict[str, Any]:
        return {"cutline": __version__, **facts, **json.loads(cmp.to_json())}

    def blocks() -> Iterator[str | Block]:
        yield "\n".join(_with_dropped(class_comparison_answer(cmp), facts))
        yield Block("Models side by side", cmp.table.to_dicts())
        shown = ("a", "b", "measure", "difference", "low", "high", "p_adjusted", "reading")
        yield Block("Differences (a − b)", [{name: row[name] for name in shown} for row in cmp.differences])

    first = next(iter(cmp.evaluations.values()))
    return Report(document, cmp.to_dicts, blocks, _settings(cmp, facts, len(first.sample)))

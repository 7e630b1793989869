"""``cutline compare``: several models on the same cases."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from ..errors import InputError, listed, show
from ..table import pluralize
from . import options as o
from .evaluate import ONE_CLASS, Groups, JudgeArguments, pictures, settings_of
from .options import COMMAND_LINE, about_file, column, command, option, refuse_others
from .output import Report, note
from .reading import (
    Columns,
    choose_engine,
    facts_of,
    load_models,
    named_columns,
    opened_by,
    say_dropped,
    say_understood,
)


class CompareColumns(o.SeveralModels, section="Columns"):
    """The columns of several models, also of several classes or with a row for each case and model."""

    predicted: tuple[str, ...] = column("A model's predicted classes; may be repeated.", multiple=True)
    model: str | None = column("Column with the model (one row per case and model).")
    case: str | None = column("Column with the case (one row per case and model).")


class Margin(o.Arguments, section="Measures and intervals"):
    """What does not matter."""

    margin: float | None = option("Differences below this do not matter to you.")


class CompareOutput(o.Arguments, section="Output"):
    """More than the answer, or another one."""

    pairs: bool = option("Also show the difference of each pair of models, and who leads at which quota.")
    why: bool = option("Explain how the model for each goal is chosen.")
    swaps: bool = option(
        "Instead: who enters and who leaves the list when the second --score replaces the first (with --quota)."
    )


class CompareArguments(CompareColumns, JudgeArguments, Margin, CompareOutput):
    """The options of ``compare``."""


OF_SWAPS: Groups = [
    *(o.SeveralModels, CompareOutput, o.Places, o.LabelValues, o.Weighted, o.Level, o.Reading, o.Printed, o.Plotted),
]
OF_MODELS_OF_CLASSES: Groups = [
    *(CompareColumns, o.Weighted, o.Clustered, o.ClassOrder, o.Intervals, Margin, o.Printed, o.Measures, CompareOutput),
    *(o.Reading, o.Engine, o.Paged, o.Plotted),
]
# these have a meaning for one model of several classes, and not for a comparison of them
_NOT_COMPARED = ("quota", "cost", "value", "why")


@command(
    CompareArguments,
    """\
  cutline compare scores.csv --quota 20
  cutline compare scores.csv --label y --score tree --score network --quota 5% --html compare.html
  cutline compare scores.csv --label y --score tree --score network --cost-fp 1 --cost-fn 8
  cutline compare scores.csv --label y --score 'model_*' --measure pem --format json
  cutline compare scores.csv --label y --score old --score new --quota 500 --swaps --format csv > swapped.csv
""",
)
def compare(asked: CompareArguments) -> Report:
    """Compare models: which one is better, by how much, and whether the difference could be chance.

    FILE has one row per case, with its real outcome and a score column for each model. Without --score all
    columns of fractions are compared. With --model and --case it has a row for each case and model. With more than
    two classes, --score 'a_*' --score 'b_*' name the columns of each model, or --predicted the classes it predicted.

    With --swaps the answer is which cases enter and leave the list when the second --score replaces the first, and how
    the hits change; csv prints the swapped rows, with their numbers in FILE (the first is 1).
    """
    from ..verbs import compare as compare_models

    asked.check()
    if asked.swaps:
        return _swaps(asked)
    costs = asked.error_costs()
    engine = choose_engine(asked)
    if costs and engine != "memory":
        raise InputError("cost_fp", f"is not read from a stream (--engine {engine})", "leave it out")
    by_case = asked.model is not None or asked.case is not None
    with opened_by(engine, asked) as table:
        if by_case:
            columns = _columns_by_case(engine, asked)
        elif engine != "spark" and asked.label is not None and _of_classes(table, asked, asked.label):
            return _compare_classes(table, asked, asked.label)
        for_classes = [f"--{name}" for name in ("predicted", "ordered", "order") if getattr(asked, name)]
        if for_classes:
            remedy = "name {label}, and each model's columns: --score 'a_*'"
            raise InputError(None, f"{for_classes[0]} is for several classes", remedy)
        if not by_case:
            columns = named_columns(engine, table, asked, asked.scores, several=True)
            if len(columns.scores) < 2:
                problem = f"a comparison needs two score columns or more, not only {show(columns.scores[0])}"
                raise InputError(None, problem, "name them with {score}")
        taken = asked.of_table(engine, columns) | {"model": asked.model, "case": asked.case, "margin": asked.margin}
        with about_file(table.name):
            made = compare_models(table, score=columns.scores[0] if by_case else columns.scores, **taken)
            cheapest = made.cheapest(**costs) if costs and not asked.by else None
    if by_case:
        note(f"models: {listed(made)}")
        columns = Columns(columns.label, tuple(made))
    say_understood(made.first.understood)
    facts = facts_of(asked, columns, made.first.dropped)
    settings = settings_of(made, made.first.facts["rows"], asked.measures)
    if asked.by:
        by_segment = made.segments
        sections = partial(by_segment.sections, terms=COMMAND_LINE, all_measures=asked.everything)
        rows = lambda: by_segment.differences().to_dicts()  # noqa: E731
        return Report(by_segment, facts, settings, None, rows, sections, **pictures(by_segment, facts, asked))

    def document() -> dict[str, Any]:
        from ..present.words import dominance_of

        cheap = {} if cheapest is None else {"cheapest": cheapest.to_dict()}
        return {**json.loads(made.to_json()), "dominance": dominance_of(made), **cheap}

    shown = {"all_measures": asked.everything, "pairs": asked.pairs, "why": asked.why, "cheapest": cheapest}
    sections = partial(made.sections, terms=COMMAND_LINE, **shown)
    rows = lambda: list(made.differences)  # noqa: E731
    more = ["--pairs", "--why", f"--all ({pluralize(len(made.specs), 'measure')})", "--html report.html"]
    return Report(made, facts, settings, document, rows, sections, more, **pictures(made, facts, asked))


def _columns_by_case(engine: str, asked: CompareArguments) -> Columns:
    """The columns of a file with a row for each case and model."""
    for key in ("by", "batch", "cluster"):
        if getattr(asked, key):
            raise InputError(key, "needs a row for each case, not one for each case and model", "leave it out")
    if None in (asked.case, asked.model) or asked.label is None or len(asked.scores) != 1 or engine == "spark":
        where = ", and is not read on Spark" if engine == "spark" else ""
        problem = f"a file with a row for each case and model needs four columns{where}"
        raise InputError(None, problem, "name {case}, {model}, {label} and one {score}")
    return Columns(asked.label, asked.scores)


def _of_classes(table: Any, asked: CompareArguments, label: str) -> bool:
    """Whether the models have a score column for each class (``--score 'a_*' --score 'b_*'``) or predicted classes."""
    from ..sources.class_matrix import find_class_columns
    from ..sources.profiles import matching

    if asked.predicted:
        return True
    patterns = asked.scores
    if asked.positive is not None or len(patterns) < 2 or not all("*" in pattern for pattern in patterns):
        return False
    if any(len(matching(table, pattern)) < 2 for pattern in patterns):
        return False
    taken = [name for name in (asked.weight, asked.cluster, *asked.by) if name]
    return all(find_class_columns(table, label, pattern, None, taken) is not None for pattern in patterns)


def _compare_classes(table: Any, asked: CompareArguments, label: str) -> Report:
    from ..verbs import compare as compare_models

    if len(asked.scores) + len(asked.predicted) < 2:
        raise InputError(None, "a comparison needs two models or more", "name them with {score} or {predicted}")
    compared = "cannot be used when models of several classes are compared"
    for name in _NOT_COMPARED:
        if name in asked.given:
            refuse_others(asked, OF_MODELS_OF_CLASSES, compared, "use it with: cutline evaluate, or leave it out")
    refuse_others(asked, OF_MODELS_OF_CLASSES, "works with two classes only", ONE_CLASS)
    with about_file(table.name):
        models: dict[str, Any] = {"score": list(asked.scores) or None, "predicted": list(asked.predicted) or None}
        cmp = compare_models(table, label=label, margin=asked.margin, **models, **asked.of_classes())
    first = cmp.first
    say_dropped(first.dropped or 0, len(first.sample))
    facts = {"file": asked.file, "label": label, **models, "dropped": first.dropped}
    facts = {key: value for key, value in facts.items() if value}
    shown: dict[str, Any] = {"all_measures": asked.everything, "pairs": asked.pairs, "dropped": first.dropped or 0}
    sections = partial(cmp.sections, terms=COMMAND_LINE, **shown)
    source = {key: listed(value, 4) if isinstance(value, list) else value for key, value in facts.items()}
    page = partial(cmp.to_html, source=source)
    more = ["--pairs", f"--all ({pluralize(len(cmp.specs), 'measure')})", "--html report.html"]
    settings = settings_of(cmp, len(first.sample), asked.measures)
    return Report(cmp, facts, settings, sections=sections, more=more, page=page)


def _swaps(asked: CompareArguments) -> Report:
    """Who enters and who leaves the list when one model replaces another."""
    from ..decide.model_choice import swaps
    from ..quotas import Quotas
    from ..sources.arrays import make_sample
    from ..validate import check_number

    refuse_others(asked, OF_SWAPS, "cannot be used with --swaps", "leave one of them out")
    if asked.quota is None or isinstance(asked.quota, Quotas):
        problem = "is missing" if asked.quota is None else "is a range, and a swap set has one number of places"
        raise InputError("quota", problem, "write e.g. --quota 500 or --quota 5%")
    check_number(asked.level, "level", 0.0, 1.0, open_ends=True)
    loaded = load_models(asked, asked.scores)
    rows, names = loaded.rows, loaded.columns.scores
    if len(names) != 2:
        means = f" and means {listed(names)}" if len(names) > 1 else ""
        remedy = "give it twice: first the old model, then the new one"
        raise InputError("score", f"must name two models{means}", remedy)
    old, new = names
    with about_file(loaded.table.name):
        a, b = (make_sample(rows.positive, rows.scores[name], sample_weight=rows.weight) for name in names)
        made = swaps(a, b, asked.quota, names=(old, new), level=asked.level)

    def swapped() -> list[dict[str, Any]]:
        return [
            {
                "row": int(k if rows.source_rows is None else rows.source_rows[k]) + 1,
                "swap": side,
                "positive": bool(rows.positive[k]),
                old: float(rows.scores[old][k]),
                new: float(rows.scores[new][k]),
            }
            for side, those in (("enters", made.entering), ("leaves", made.leaving))
            for k in those
        ]

    def document() -> dict[str, Any]:
        facts = {key: value for key, value in made.to_dict().items() if key not in ("entering", "leaving")}
        return {"rows": len(rows), **facts, "swapped_rows": swapped()}

    settings = {"rows": len(rows), "quota": made.quota, "level": asked.level}
    return Report(made, loaded.facts, settings, document, swapped, more=["--format csv (the swapped rows)"])

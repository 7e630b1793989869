"""``cutline evaluate``, ``compare`` and ``check``: how good models are, which is better, and is it good enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..errors import InputError, listed, show
from ..table import pluralize
from . import options as o
from .options import COMMAND_LINE, argument, column, command, option, refuse
from .output import Report, note
from .reading import (
    choose_columns,
    counts_named,
    facts_of,
    load_models,
    negative_labels,
    one_score,
    opened,
    say_read,
)

_STATUS = {"pass": 0, "fail": 3, "undecided": 4}
_MODELS = ("file", "label", "scores", "negate", "positives", "negatives", "rows")
# What both verbs take after their columns.
_JUDGED = [
    *(*o.LABELS, "weight", "worth", "quota", "list_size", "cut_by", "threshold"),
    *("prevalence", "by", "batch", "cluster", "ordered", "order", *o.MEASURES, *o.INTERVALS),
    *(*o.PRINTED, "html", *o.PLOT, "cost", *o.READING, *o.ENGINE),
]
# Options that mean nothing where there are several classes, where some labels are known, and where rows are counted.
_TWO_CLASSES = (
    *(
        *o.LABELS,
        "negate",
        "worth",
        "quota",
        "cut_by",
        "threshold",
        *o.ERROR_COSTS,
        "list_size",
        "prevalence",
        "by",
        "batch",
    ),
    *("inclusion", "approximate", "tolerance"),
)
NOT_SAMPLED = (
    *("list_size", "missing", "html", *o.ENGINE, "approximate", "tolerance", "seed", "resamples", "predicted"),
    *("order", "ordered"),
)
_OF_ROWS = ("predicted", *o.LABELS, "inclusion", "negate", "cut_by", "approximate", "tolerance", "weight")
_ONE_CLASS = "name one class with {pos_label} and its column with {score}, or leave it out"


class JudgeArguments(o.Arguments):
    """What ``evaluate`` and ``compare`` share."""

    cost: str | None = column("With --worth: column with what each row costs.")

    def of_worth(self, facts: Mapping[str, Any]) -> list[str]:
        """What --worth, or the worth in counts, adds to a short table."""
        return [] if "worth" not in facts else ["value_captured", "value_recall", "value_per_place"]

    def check(self) -> None:
        """What goes with nothing else that was given is an error, before anything is computed."""
        if self.list_size is not None:
            refuse(self, ("by", "batch", *o.ERROR_COSTS), "does not go with --list-size")
        if self.no_intervals and self.interval is not None:
            raise InputError("interval", "does not go with --no-intervals", "leave one of them out")

    def request(self) -> dict[str, Any]:
        """What the library's verbs take of a table, beside the columns of labels and scores."""
        taken = self.named("weight", "worth", "decimal", "prevalence", "batch", "threshold", "quota", "missing")
        taken |= {"cost": self.cost, "clusters": self.cluster}
        taken |= {"by": list(self.by) or None, "measures": list(self.measures) or None, **self.drawn}
        taken["interval"] = None if self.no_intervals else self.interval or "auto"
        if "resamples" not in self.given:
            taken["n_resamples"] = None  # a stream has a default of its own
        if self.engine != "auto":
            taken["stream"] = self.engine == "duckdb"
        return taken

    def of_labels(self) -> dict[str, Any]:
        """How labels of two classes are read, as the library's verbs take it."""
        taken = {"pos_label": self.pos_label, "neg_label": negative_labels(self), "cut_by": self.cut_by}
        return {**taken, "negate": list(self.negate) or False, "ignore_case": self.ignore_case}

    def for_classes(self) -> dict[str, Any]:
        """What the library's verbs take of a table of several classes."""
        refuse(self, _TWO_CLASSES, "works with two classes only", _ONE_CLASS)
        taken = {name: value for name, value in self.request().items() if name not in ("quota", "cost", "stream")}
        return {**taken, "classes": self.order, "ordered": bool(self.ordered or self.order)}


class EvaluateArguments(JudgeArguments, takes=[*o.ONE_MODEL, "predicted", "inclusion", *_JUDGED]):
    """The options of ``evaluate``."""

    more: tuple[str, ...] = argument(nargs=-1, type=o.InputFile(), metavar="[COUNTS]...")
    min_cell: int | None = option(
        "Counts of a query: join neighbouring buckets until each shows so many positives and negatives, or none.",
        metavar="N",
        section="Other kinds of files",
    )
    approximate: bool = option(
        "Answer from counts by bucket of the score, without a sort, with bounds for each value.", section="Large files"
    )
    tolerance: float | None = option(
        "As --approximate, but sort the rows if bounds are wider than this.", metavar="WIDTH", section="Large files"
    )
    score: str | None = column(
        "Column with the score; 'p_*' for a column per class.", multiple=True, callback=o.one_score_given
    )
    predicted: str | None = column("Column with the predicted class.")
    inclusion: str | None = option(
        "Labels are known for some rows only: the probability of being labelled, a column or a share.",
        metavar="COLUMN|P",
        section="Columns",
    )


@command(
    EvaluateArguments,
    """\
  cutline evaluate scores.csv
  cutline evaluate scores.csv --label y --score p --quota 200 --html report.html
  cutline evaluate bank.csv --label bought --positive yes --score p --quota 5%
  cutline evaluate scores.csv --label y --score p --measure pem --measure hit_rate@20 --format json
  cutline evaluate loans.csv --label default --score p --quota 5% --by region --by year
  cutline evaluate claims.csv --label fraud --score p --quota 100 --batch day
  cutline evaluate iris.csv --label class --score 'p_*'
  cutline evaluate counts.csv --score p --positives fraud --rows n --quota 1000
  cutline evaluate north.csv south.csv --min-cell 10
  cutline evaluate to_label.csv --label y --score p --inclusion inclusion --quota 1000
""",
)
def evaluate(asked: EvaluateArguments) -> Report:
    """Evaluate one model: what it finds, and each measure with an interval.

    FILE has one row per case, with its real outcome and its score. --label and --score can be left out if
    only one column qualifies. --all prints the whole catalogue of measures.

    With more than two classes, FILE has a score column for each class (named after it, or --score 'p_*') or their
    predictions (--predicted).

    With --inclusion only some rows have a label: FILE has every row of the list, and the cells of unknown labels are
    empty; cutline label-plan writes such a file. With --positives FILE has counts: each row stands for so many cases
    with one score; cutline sql prints the query that makes them in a warehouse.
    """
    from ..catalogue.declare import measures
    from ..present.words import default_measures
    from ..verbs import evaluate as evaluate_rows

    asked.check()
    sampled = asked.inclusion is not None
    if sampled:
        refuse(asked, NOT_SAMPLED, "cannot be used with --inclusion", "leave one of them out")
        if asked.label is None:
            problem = "is required: a label column with empty cells cannot be detected"
            raise InputError("label", problem, "name it with {label}")
    with opened(asked) as table:
        counted = counts_named(table, asked)
        if counted is not None:
            refuse(asked, _OF_ROWS, "does not go with counts")
            taken, facts = asked.request(), counted.facts
            named: dict[str, Any] = {} if counted.columns is None else vars(counted.columns) | {"by": taken["by"]}
            if asked.more or asked.min_cell is not None:
                from ..sources.counts import merge_counts

                named |= asked.named("min_cell", "missing")
                table = merge_counts([asked.file, *asked.more], **named)
            taken |= {name: value for name, value in named.items() if name != "min_cell"}
        else:
            if asked.more or asked.min_cell is not None:
                problem = f"{table.name} has rows, and only counts of several files add up"
                raise InputError(None, problem, "give one file, or a pattern in quotes: 'part-*.parquet'")
            classes = None if sampled else _find_classes(table, asked)
            if classes is not None:
                return _evaluate_classes(table, asked, classes)
            scores = [] if asked.score is None else [one_score(table, asked.score)]
            columns = choose_columns(table, asked, scores)
            facts = facts_of(asked, columns)
            taken = {"label": columns.label, "score": columns.scores[0], **asked.of_labels()}
            taken |= asked.request()
            if asked.approximate or asked.tolerance is not None:
                taken |= {"exact": False, "tolerance": asked.tolerance}
            if asked.inclusion is not None:
                try:
                    taken["inclusion"] = o.read_share(asked.inclusion)  # the same for all rows
                except ValueError:
                    taken["inclusion"] = table.column(asked.inclusion, "inclusion").name
        if asked.by or facts.get("by"):
            return _evaluate_segments(table, asked, facts, taken)
        few = None  # the measures of a short table
        if asked.form in ("table", "markdown") and not asked.everything and not asked.measures:
            few = default_measures(asked.quota) + asked.of_worth(facts)
        if asked.html is None:  # the page shows every measure
            taken["measures"] = few or taken["measures"]
        ev = evaluate_rows(table, **taken)
    if sampled:
        facts |= {"inclusion": asked.inclusion, "labelled": ev.facts["labelled"]}
    shown = ev
    if few is not None and asked.html is not None:
        from ..evaluation import choose_specs

        # as it was asked for: measures are named by 10%, not by the number that it comes to
        keys = [str(spec) for spec in choose_specs(few, threshold=ev.threshold, quota=asked.quota)]
        shown = replace(ev, estimates={k: ev.estimates[k] for k in keys}, specs={k: ev.specs[k] for k in keys})

    def document() -> dict[str, Any]:
        from ..present.words import cut_point

        point = cut_point(shown)
        content: dict[str, Any] = shown.to_dict()
        if point is not None:
            content["operating_point"] = point.to_dict()
        if asked.list_size is not None:
            content["list_size_point"] = ev.at(quota=asked.quota, list_size=asked.list_size).to_dict()
        if ev.rows.batched and ev.quota is not None:
            rules = ev.batches.rules().to_dict()
            content["batch_rules"] = {key: value for key, value in rules.items() if key != "batches"}
        return content

    number = sum(measure.of_one_score and not measure.own for measure in measures())
    more = [f"--all ({pluralize(number, 'measure')})", "--html report.html", "cutline measures NAME"] if few else []
    how = {"measures": asked.measures, "list_size": asked.list_size}
    return _report(shown, facts, asked, document, more=more, every=ev, all_measures=asked.everything, **how)


def _report(
    result: Any,
    facts: Mapping[str, Any],
    asked: JudgeArguments,
    document: Any = None,
    rows: Any = None,
    more: Sequence[str] = (),
    every: Any = None,
    **shown: Any,
) -> Report:
    """The report of one model or of several, of all rows or by segment; ``shown``: what its sections take.

    ``every``: the result of the page and the picture, which may have more than what is printed.
    """
    whole = getattr(result, "overall", result)
    first = getattr(whole, "first", whole)
    say_read(getattr(first, "understood", ""))
    facts = {**facts, "dropped": first.dropped} if first.dropped else facts
    settings = settings_of(whole, first.facts["rows"], asked.measures)
    sections = partial(result.sections, terms=COMMAND_LINE, **shown)
    absent = [kind for kind in ("positive", "negative") if first.facts.get(f"{kind}s", 1) == 0]
    status = 2 if absent and not asked.measures and result is whole else 0
    if status:  # then no ranking can be judged; there are measures that one class is enough for
        note(f"error: there are no {absent[0]} cases, so the ranking cannot be evaluated; name measures with --measure")

    def page(path: str) -> None:
        source = {key: listed(value, 4) if isinstance(value, list) else value for key, value in facts.items()}
        how = {name: shown[name] for name in ("measures", "list_size") if "list_size" in shown}
        (result if every is None else every).to_html(path, source=source, **how, **asked.error_costs())

    def draw(path: str, kind: str | None) -> None:
        from ..present.plots import write_picture

        options: dict[str, Any] = {"quota": asked.quota, "list_size": asked.list_size} if kind == "list_size" else {}
        if asked.threshold is not None and kind in ("roc", "precision_recall", "histogram"):
            options["threshold"] = asked.threshold
        write_picture(result if every is None else every, path, kind, **options)

    return Report(result, facts, settings, document, rows, sections, more, page, draw, status)


def settings_of(result: Any, rows: int, measures: Sequence[str] = ()) -> dict[str, Any]:
    """How an evaluation or a comparison was made, of two classes or of several."""
    s = result.settings
    drawn = {"level": s.level, "resamples": s.n_resamples, "seed": s.seed} if s.interval else {"intervals": "none"}
    names = ("threshold", "quota", "margin", "prevalence", "quotas")
    given = {name: value for name in names if (value := getattr(result, name, None)) is not None}
    if "quotas" in given:
        given["quota"] = given.pop("quotas")
    given = {name: value if isinstance(value, int | float) else str(value) for name, value in given.items()}
    given |= {"measures": ", ".join(measures)} if measures else {}
    given |= {"interval": s.interval} if s.interval not in (None, "auto") else {}
    return {"rows": rows, **given, **drawn}


def _evaluate_segments(table: Any, asked: EvaluateArguments, facts: dict[str, Any], taken: dict[str, Any]) -> Report:
    """One model in each segment."""
    from ..present.segment_words import default_measures
    from ..verbs import evaluate as evaluate_rows

    few = not asked.everything and not asked.measures
    short = {"measures": default_measures(taken.get("quota")) + asked.of_worth(facts)} if few else {}

    def made(**others: Any) -> Any:
        seg = evaluate_rows(table, **{**taken, **others}).segments
        order = asked.order or (list(seg) if asked.ordered else None)
        return seg.shown_with(order=order)

    seg = made(**short)
    every = made() if few and asked.html is not None else seg  # the page shows every measure

    def document() -> dict[str, Any]:
        content: dict[str, Any] = seg.to_dict()
        if seg.shared is not None:
            content["one_list"] = seg.shared.to_dict()
        return content

    more = ["--all (every measure and difference)", "--html report.html"]
    shown = {"all_measures": asked.everything, "measures": asked.measures}
    return _report(seg, facts, asked, document, more=more, every=every, **shown)


# ----------------------------------------------------------------------------------------------- several classes


def _find_classes(table: Any, asked: EvaluateArguments) -> dict[str, Any] | None:
    """The columns of several classes, if the file is about them; a named positive class asks for two."""
    from ..sources.class_matrix import find_class_columns

    # with segments, an order is that of the segments
    told = [*asked.named("predicted"), *([] if asked.by else asked.given & {"order", "ordered"})]
    if asked.positive:
        if told:
            raise InputError(told[0], "is for several classes, {pos_label} for two", "leave one of them out")
        return None
    taken = [name for name in (asked.weight, asked.batch, asked.cluster, *asked.by) if name]
    classes = find_class_columns(table, asked.label, asked.score, asked.predicted, taken)
    if classes is None:
        if told:
            problem = f"{table.name}: --{told[0]} is for several classes, but no score column for each class was found"
            raise InputError(None, problem, "name {label} and {score}")
        return None
    by = classes.found_by if not classes.scores else f"{classes.found_by} ({listed(classes.scores, 2)})"
    note(f"several classes: label {classes.label!r}, {by}")
    return {"label": classes.label, "score": list(classes.scores), "predicted": classes.predicted}


def _evaluate_classes(table: Any, asked: EvaluateArguments, columns: dict[str, Any]) -> Report:
    """One model of several classes."""
    from ..verbs import evaluate as evaluate_rows

    taken = {**{name: value or None for name, value in columns.items()}, **asked.for_classes()}
    ev: Any = evaluate_rows(table, **taken)
    say_read("", ev.dropped or 0, len(ev.sample))
    facts = {"file": asked.file, **columns, "weight": asked.weight, "cluster": asked.cluster}
    facts = {key: value for key, value in facts.items() if value}

    few = not asked.everything and not asked.measures
    more = [*([f"--all ({len(ev.specs)} measures)"] if few else []), "--html report.html"]
    return _report(ev, facts, asked, more=more, all_measures=asked.everything, measures=asked.measures)


# ------------------------------------------------------------------------------------------------------ comparison


class CompareArguments(
    JudgeArguments, takes=[*_MODELS, "predicted", *_JUDGED, *o.ERROR_COSTS, "margin", "pairs", "why"]
):
    """The options of ``compare``."""

    predicted: tuple[str, ...] = column("A model's predicted classes; may be repeated.", multiple=True)
    margin: float | None = option("Differences below this do not matter to you.", section="Measures and intervals")
    pairs: bool = option(
        "Also show the difference of each pair of models, and who leads at which quota (or is better for which class).",
        section="Output",
    )
    why: bool = option("Explain how the model for each goal is chosen.", section="Output")


@command(
    CompareArguments,
    """\
  cutline compare scores.csv --quota 20
  cutline compare scores.csv --label y --score tree --score network --quota 5% --html compare.html
  cutline compare scores.csv --label y --score tree --score network --cost-fp 1 --cost-fn 8
  cutline compare scores.csv --label y --score 'model_*' --measure pem --format json
  cutline compare joint.csv --quota 500
""",
)
def compare(asked: CompareArguments) -> Report:
    """Compare models: which one is better, by how much, and whether the difference could be chance.

    FILE has one row per case, with its real outcome and a score column for each model. Without --score all
    columns of fractions are compared. With more than two classes, --score 'a_*' --score 'b_*' name the columns of
    each model, or --predicted the classes it predicted. FILE may also have joint counts of two models: the result of
    cutline sql with two scores, or with --positives a row for each pair of scores.
    """
    from ..sources.profiles import is_pattern
    from ..verbs import compare as compare_models

    asked.check()
    costs = asked.error_costs()
    with opened(asked) as table:
        patterns = len(asked.scores) > 1 and all(is_pattern(table, score) for score in asked.scores)
        if asked.label is not None and (asked.predicted or (patterns and not asked.positive)):
            return _compare_classes(table, asked, asked.label)  # a pattern for the columns of each model
        refuse(asked, ("predicted", "ordered", "order"), "is for several classes", "name each model's: --score 'a_*'")
        counted = counts_named(table, asked)
        if counted is not None:
            refuse(asked, _OF_ROWS, "does not go with counts")
            taken: dict[str, Any] = {"score": list(asked.scores) or None, **asked.named(*o.COUNTS)}
            facts = {**counted.facts, "score": ", ".join(asked.scores) or counted.score}
        else:
            columns = choose_columns(table, asked, asked.scores, several=True)
            if len(columns.scores) < 2:
                problem = f"a comparison needs two score columns or more, not only {show(columns.scores[0])}"
                raise InputError(None, problem, "name them with {score}")
            taken = {"label": columns.label, "score": columns.scores, **asked.of_labels()}
            facts = facts_of(asked, columns)
        made = compare_models(table, margin=asked.margin, **taken, **asked.request())
        by = asked.by or facts.get("by")
        cheapest = made.cheapest(**costs) if costs and not by else None
    if by:
        seg = made.segments
        rows = lambda: seg.differences().to_dicts()  # noqa: E731
        return _report(seg, facts, asked, rows=rows, all_measures=asked.everything)

    def document() -> dict[str, Any]:
        from ..present.words import dominance_of

        content = {**made.to_dict(), "dominance": dominance_of(made)}
        content |= {} if cheapest is None else {"cheapest": cheapest.to_dict()}
        if asked.list_size is not None:
            how = {"quota": asked.quota, "list_size": asked.list_size}
            content["list_size_points"] = {name: ev.at(**how).to_dict() for name, ev in made.items()}
        return content

    how = {"measures": asked.measures, "list_size": asked.list_size}
    shown = {"all_measures": asked.everything, "pairs": asked.pairs, "why": asked.why, "cheapest": cheapest}
    more = ["--pairs", "--why", f"--all ({pluralize(len(made.specs), 'measure')})", "--html report.html"]
    return _report(made, facts, asked, document, lambda: list(made.differences), more, **how, **shown)


def _compare_classes(table: Any, asked: CompareArguments, label: str) -> Report:
    from ..verbs import compare as compare_models

    if len(asked.scores) + len(asked.predicted) < 2:
        raise InputError(None, "a comparison needs two models or more", "name them with {score} or {predicted}")
    compared = "cannot be used when models of several classes are compared"
    refuse(asked, ("quota", "cost"), compared, "use it with: cutline evaluate, or leave it out")
    models: dict[str, Any] = {"score": list(asked.scores) or None, "predicted": list(asked.predicted) or None}
    made = compare_models(table, label=label, margin=asked.margin, **models, **asked.for_classes())
    dropped = made.first.dropped or 0
    say_read("", dropped, len(made.first.sample))
    facts = {key: value for key, value in {"file": asked.file, "label": label, **models}.items() if value}
    more = ["--pairs", f"--all ({pluralize(len(made.specs), 'measure')})", "--html report.html"]
    shown = {"all_measures": asked.everything, "pairs": asked.pairs, "dropped": dropped}
    return _report(made, facts, asked, more=more, **shown)


# ---------------------------------------------------------------------------------------------------- conditions


class CheckArguments(
    o.Arguments,
    takes=[
        *("file", "label", "scores", *o.COUNTS, "conditions", *o.LABELS, "weight", "by", "batch", "cluster"),
        *("threshold", *o.DRAWN, *o.READING, *o.PRINTED),
    ],
):
    """The options of ``check``."""

    conditions: tuple[str, ...] = argument(nargs=-1, required=True)
    scores: tuple[str, ...] = column("Column with the score; repeat it for each model.", "--score", multiple=True)
    by: tuple[str, ...] = column(
        "Column that defines segments, each of which must pass; repeat it to cross columns.",
        multiple=True,
        section="Groups of rows",
    )
    batch: str | None = column(
        "Column that defines batches, e.g. day; hit_rate@200 then has 200 places in each.", section="Groups of rows"
    )
    threshold: float | None = option("Threshold of recall, precision …; 0.5 for probabilities.")


@command(
    CheckArguments,
    """\
  cutline check scores.csv --label y --score p "hit_rate@200 >= .5" "roc_auc >= .8"
  cutline check scores.csv "brier_score < 0.1" --format json
  cutline check loans.csv --label default --score p --by region "roc_auc >= .7"
  cutline check scores.csv --label y --score old --score new "roc_auc(new) - roc_auc(old) >= -0.01"
""",
    renames={"measure": "the condition", "measures": "the condition", "quota": "the condition"},
)
def check(asked: CheckArguments) -> Report:
    """Check conditions such as "hit_rate@200 >= .5": pass, fail or undecided, by the interval of each measure.

    With --by each segment must pass. With several --score a condition names a model, "roc_auc(new) >= .8", or is about
    the paired difference of two: "roc_auc(new) - roc_auc(old) >= -0.01" passes if the new one is not worse by more than
    0.01.

    Exit status: 0 if all pass, 3 if one fails, 4 if one is undecided, 2 for bad input.
    """
    from ..verbs import compare as compare_arrays
    from ..verbs import evaluate as evaluate_arrays
    from ..verdict import check_conditions, parse_condition

    conditions = [parse_condition(text) for text in asked.conditions]
    several = len(asked.scores) > 1 or any(condition.models for condition in conditions)
    if several:
        loaded = load_models(asked, asked.scores)
    else:
        asked.score = next(iter(asked.scores), None)
        loaded = load_models(asked)
    rows, measures = loaded.rows, list(dict.fromkeys(condition.measure for condition in conditions))
    how: dict[str, Any] = {"measures": measures, "sample_weight": rows.weight, "threshold": asked.threshold}
    how |= {"by": rows.segments, "batch": rows.batch, "clusters": rows.clusters, **asked.drawn}
    if several:
        result: Any = compare_arrays(rows.positive, rows.scores, **how)
    else:
        result = evaluate_arrays(*loaded.arrays, name=loaded.score, **how)
    outcome = check_conditions(result, asked.conditions)

    settings: dict[str, Any] = {"rows": len(rows), "level": asked.level, "resamples": asked.resamples}
    if any(spec.measure.needs_threshold for spec in result.specs.values()):
        settings["threshold"] = result.threshold
    forms = outcome.to_dict, outcome.table.to_dicts, partial(outcome.sections, terms=COMMAND_LINE)
    return Report(outcome, loaded.facts, settings, *forms, status=_STATUS[str(outcome)])

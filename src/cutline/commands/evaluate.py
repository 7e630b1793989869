"""``cutline evaluate``, ``compare`` and ``check``: how good models are, which is better, and is it good enough."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from ..errors import InputError, listed, show
from ..table import pluralize
from . import options as o
from .options import COMMAND_LINE, argument, column, command, option, refuse_others
from .output import Report, note
from .reading import (
    Columns,
    NamedCounts,
    choose_engine,
    counts_named,
    facts_of,
    load,
    load_counts,
    load_models,
    named_columns,
    negative_labels,
    one_score,
    opened,
    say_read,
)

if TYPE_CHECKING:
    from ..class_evaluation import ClassEvaluation
    from ..decide.thresholds import Cut
    from ..evaluation import Evaluation
    from ..segments import Segments

# The simulated samples of a test of calibration: 999 and the sample itself give p-values in steps of 1/1000.
_CALIBRATION_DRAWS = 999
_STATUS = {"pass": 0, "fail": 3, "undecided": 4}


class JudgeArguments(o.Arguments):
    """What ``evaluate`` and ``compare`` share."""

    cost: float | str | None = o.price(
        "Cost of each place, for the report; or with --worth, the column with what each row costs.", section="Output"
    )
    value: float | None = option("Value of each hit, for the report.", section="Output")

    @property
    def prices(self) -> dict[str, float | None]:
        """What every place costs and every hit is worth, for the page."""
        return {"cost": None if isinstance(self.cost, str) else self.cost, "value": self.value}

    @property
    def of_worth(self) -> list[str]:
        """What --worth adds to a short table."""
        per_cost = ["value_per_cost"] if isinstance(self.cost, str) else []
        return [] if self.worth is None else ["value_captured", "value_recall", "value_per_place", *per_cost]

    def check(self) -> None:
        """Prices that nothing shows are an error, before anything is computed."""
        shown = self.html is not None or self.plot_kind == "profit"
        if isinstance(self.cost, str) and self.worth is None:
            raise InputError("cost", f"is {show(self.cost)}", "give a number, or with {worth} the column of the costs")
        if not shown and any(price is not None for price in self.prices.values()):
            raise InputError(None, "--cost and --value are for the page", "add --html PATH, or use: cutline plan")
        if self.list_size is not None:
            for name in ("by", "batch", "recall", "precision", "specificity", "fpr", "cost_fp", "cost_fn"):
                if getattr(self, name) not in (None, ()):
                    raise InputError("list_size", f"does not go with {{{name}}}", "leave one of them out")

    def measuring(self) -> dict[str, Any]:
        """Which measures, and how to make intervals, as the library takes it."""
        if self.no_intervals and self.interval is not None:
            raise InputError("interval", "does not go with --no-intervals", "leave one of them out")
        interval = None if self.no_intervals else self.interval or "auto"
        return {"measures": list(self.measures) or None, "interval": interval, **self.drawn}

    def of_table(self, engine: str, columns: Columns) -> dict[str, Any]:
        """What the library's verbs take of a table of two classes."""
        roles = ("weight", "worth", "cut_by", "decimal", "prevalence", "batch", "threshold", "quota")
        taken: dict[str, Any] = {name: getattr(self, name) for name in roles}
        taken["cost"] = self.cost if isinstance(self.cost, str) else None
        taken |= {"label": columns.label, "pos_label": self.pos_label, "neg_label": negative_labels(self)}
        taken |= {"negate": list(self.negate) or False, "ignore_case": self.ignore_case}
        taken |= {"missing": self.missing or "error", "clusters": self.cluster, "by": list(self.by) or None}
        taken |= {"stream": False if engine == "memory" else None, **self.measuring()}
        if "resamples" not in self.given:
            taken["n_resamples"] = None  # a stream has a default of its own
        return taken

    def of_classes(self) -> dict[str, Any]:
        """What the library's verbs take of a table of several classes."""
        roles = {"weight": self.weight, "clusters": self.cluster, "missing": self.missing or "error"}
        order = {"classes": self.order, "ordered": bool(self.ordered or self.order)}
        return {**roles, **order, "decimal": self.decimal, **self.measuring()}


# What both take after their columns.
_PRICES, _PICTURES = ("cost", "value"), ("html", *o.PLOT)
_JUDGED = [
    *(*o.LABELS, "weight", "worth", "quota", "list_size", "cut_by", "threshold", *o.ERROR_COSTS),
    *("prevalence", "by", "batch", "cluster"),
    *(*o.CLASS_ORDER, *o.MEASURES, *o.INTERVALS, *o.PRINTED, *_PICTURES, *_PRICES, *o.READING, *o.ENGINE),
]
_OF_CLASSES = ("predicted", "case", "class_column")
_OF_SAMPLE = ("inclusion",)


class EvaluateArguments(
    JudgeArguments,
    takes=[*o.ONE_MODEL, *_OF_CLASSES, *_OF_SAMPLE, *_JUDGED, "fairness", *o.GOALS],
):
    """The options of ``evaluate``."""

    more: tuple[str, ...] = argument(nargs=-1, type=o.InputFile(), metavar="[COUNTS]...")
    min_cell: int | None = option(
        "Counts of a query: join neighbouring buckets until each shows so many positives and negatives, or none.",
        metavar="N",
        section="Other kinds of files",
    )
    approximate: bool = option(
        "Answer from counts by bucket of the score, without a sort, with bounds for each value.",
        section="Large files and clusters",
    )
    tolerance: float | None = option(
        "As --approximate, but sort the rows if bounds are wider than this.",
        metavar="WIDTH",
        section="Large files and clusters",
    )
    score: str | None = column(
        "Column with the score; 'p_*' for a column per class.", multiple=True, callback=o.one_score_given
    )
    predicted: str | None = column("Column with the predicted class.")
    case: str | None = column("Column with the case (a row per case and class).")
    class_column: str | None = column("Column with the class (a row per case and class).", "--class", section="Columns")
    inclusion: str | None = option(
        "Labels are known for some rows only: the probability of being labelled, a column or a share.",
        metavar="COLUMN|P",
        section="Columns",
    )
    fairness: bool = option(
        "With --by: also show who gets the places of one list.",
        section="Groups of rows",
    )
    calibration: bool = option(
        "Instead: are the probabilities right? csv prints the reliability curve with its bands.", section="Output"
    )


# The options that have a meaning for several classes, for labels of some rows only, and for a test of calibration.
OF_CLASSES = [
    *(*o.ONE_MODEL, *_OF_CLASSES, "weight", "cluster", *o.CLASS_ORDER, *o.MEASURES, *o.INTERVALS, *o.PRINTED),
    *(*o.READING, *o.ENGINE, "quota", *_PICTURES, *_PRICES),
]
OF_SAMPLED = [
    *(*o.ONE_MODEL, *_OF_SAMPLE, *o.LABELS, "quota", "threshold", *o.MEASURES, "level", "no_intervals"),
    *(*o.TEXT_FORMAT, *o.PRINTED, *o.PLOT),
]
OF_CALIBRATION = [
    *(*o.ONE_MODEL, "calibration", *o.LABELS, "weight", *o.DRAWN, *o.READING, *o.PRINTED, *o.PLOT),
]
OF_COUNTS = [
    *(
        "file",
        "score",
        *o.COUNTS,
        "quota",
        "list_size",
        "threshold",
        *o.ERROR_COSTS,
        *o.GOALS,
        "prevalence",
        "by",
        "batch",
    ),
    *(*o.CLASS_ORDER, *o.MEASURES, *o.INTERVALS, *o.PRINTED, *_PICTURES, *_PRICES, *o.READING, *o.ENGINE),
    *("fairness", "calibration", "more", "min_cell"),
]
ONE_CLASS = "name one class with {pos_label} and its column with {score}, or leave it out"


@command(
    EvaluateArguments,
    """\
  cutline evaluate scores.csv
  cutline evaluate scores.csv --label y --score p --quota 200 --html report.html
  cutline evaluate scores.csv --label y --score p --recall 0.8 --plot cut.png
  cutline evaluate scores.csv --label y --score p --cost-fp 1 --cost-fn 8 --html costs.html
  cutline evaluate bank.csv --label bought --positive yes --score p --quota 5%
  cutline evaluate scores.csv --label y --score p --measure pem --measure hit_rate@20 --format json
  cutline evaluate loans.csv --label default --score p --quota 5% --by region --by year
  cutline evaluate claims.csv --label fraud --score p --quota 100 --batch day
  cutline evaluate iris.csv --label class --score 'p_*'
  cutline evaluate scores.csv --label y --score p --calibration --plot reliability.png
  cutline evaluate counts.csv --score p --positives fraud --rows n --quota 1000
  cutline evaluate north.csv south.csv --min-cell 10
  cutline evaluate to_label.csv --label y --score p --inclusion inclusion --quota 1000
""",
)
def evaluate(asked: EvaluateArguments) -> Report:
    """Evaluate one model: what it finds, and each measure with an interval.

    FILE has one row per case, with its real outcome and its score. --label and --score can be left out if
    only one column qualifies. --all prints the whole catalogue of measures.

    With more than two classes, FILE has a score column for each class (named after it, or --score 'p_*'), their
    predictions (--predicted), or a row for each case and class (--case, --class).

    With --inclusion only some rows have a label: FILE has every row of the list, and the cells of unknown labels are
    empty; cutline label-plan writes such a file. With --positives FILE has counts: each row stands for so many cases
    with one score; cutline sql prints the query that makes them in a warehouse. With --calibration the answer is a
    test, slope and intercept, and the parts of the losses.
    """
    from ..sources.profiles import matching
    from ..verbs import evaluate as evaluate_rows

    asked.check()
    if asked.calibration:
        return _calibration(asked)
    is_sampled = asked.inclusion is not None
    if is_sampled:
        refuse_others(asked, OF_SAMPLED, "cannot be used with --inclusion", "leave one of them out")
        if asked.label is None:
            problem = "is required: a label column with empty cells cannot be detected"
            raise InputError("label", problem, "name it with {label}")
    if asked.fairness and not asked.by:
        raise InputError("fairness", "compares segments", "name their column with {by}")
    engine = "memory" if is_sampled else choose_engine(asked)
    goal = _goal(asked, engine)
    with opened(asked, engine=engine) as table:
        counted = counts_named(table, asked)
        if counted is not None:
            return _evaluate_counts(table, asked, counted, goal)
        if asked.more or asked.min_cell is not None:
            problem = f"{table.name} has rows, and only counts of several files add up"
            raise InputError(None, problem, "give one file, or a pattern in quotes: 'part-*.parquet'")
        classes = None if is_sampled else _find_classes(table, asked, engine)
        if classes is not None:
            return _evaluate_classes(table, asked, classes)
        meant = matching(table, asked.score) if asked.score is not None and engine == "duckdb" else ()
        if len(meant) > 1:
            problem = f"takes one column with --engine duckdb, not {listed(meant)}"
            raise InputError("score", problem, "name one of them, or load the file with {engine='memory'}")
        named = [one_score(table, asked.score)] if is_sampled else [asked.score] if asked.score else []
        columns = named_columns(engine, table, asked, named, several=False)
        if len(columns.scores) > 1:
            if asked.positive:
                problem = f"is for one score column, but {{score}} means {listed(columns.scores)}"
                raise InputError("pos_label", problem, "name one column with {score}, or leave it out")
            raise InputError("score", f"means {listed(columns.scores)}", "name one of them, or use: cutline compare")
        taken = {"score": columns.scores[0], **asked.of_table(engine, columns)}
        if asked.approximate or asked.tolerance is not None:
            taken |= {"exact": False, "tolerance": asked.tolerance, "stream": None}
        if asked.by:
            return _evaluate_segments(table, asked, columns, taken)
        few = _few_measures(asked)
        if asked.html is None:  # the page shows every measure
            taken["measures"] = few or taken["measures"]
        cut: Cut | None = None
        if goal:
            from ..decide.thresholds import threshold_for

            how: dict[str, Any] = {**goal, **asked.drawn}
            rows = load(table, asked, columns.label, columns.scores, quiet=True)
            cut = threshold_for(rows.positive, rows.scores[columns.scores[0]], sample_weight=rows.weight, **how)
            taken["threshold"] = float(cut)
        if asked.inclusion is not None:
            try:
                taken["inclusion"] = o.read_share(asked.inclusion)  # the same for all rows
            except ValueError:
                taken["inclusion"] = table.column(asked.inclusion, "inclusion").name
            for name in ("stream", "n_resamples", "seed"):  # nothing is drawn, and nothing streamed
                del taken[name]
        ev = evaluate_rows(table, **taken)
        say_read(ev.understood)
    facts = facts_of(asked, columns, ev.dropped)
    if is_sampled:
        facts |= {"inclusion": asked.inclusion, "labelled": ev.facts["labelled"]}
    return _shown(ev, facts, asked, few, cut)


def _evaluate_counts(table: Any, asked: EvaluateArguments, named: NamedCounts, goal: Mapping[str, float]) -> Report:
    """One model on counts in place of rows."""
    from ..verbs import evaluate as evaluate_rows

    refuse_others(asked, OF_COUNTS, "does not go with counts", "leave it out")
    if asked.more or asked.min_cell is not None:
        from ..sources.counts import merge_counts

        roles: dict[str, Any] = {} if named.columns is None else {**vars(named.columns), "by": list(asked.by) or None}
        roles |= {"min_cell": asked.min_cell, "missing": asked.missing or "error"}
        table = merge_counts([asked.file, *asked.more], **roles)
    taken: dict[str, Any] = asked.named("decimal", "threshold", "quota", "prevalence")
    taken |= {"missing": asked.missing or "error", **asked.measuring()}
    if named.columns is not None:
        taken |= {**asked.named("score", "batch"), **named.columns.numbers, "by": list(asked.by) or None}
    if asked.by or named.facts.get("by"):
        return _evaluate_segments(table, asked, named.facts, taken)
    few, cut = _few_measures(asked), None
    if asked.html is None:
        taken["measures"] = few or taken["measures"]
    if goal:
        from ..decide.thresholds import threshold_for

        rows, how = load_counts(table, asked, named), cast("dict[str, Any]", {**goal, **asked.drawn})
        cut = threshold_for(rows.positive, rows.scores[named.score], **how)
        taken["threshold"] = float(cut)
    ev = evaluate_rows(table, **taken)
    say_read(ev.understood)
    return _shown(ev, named.facts, asked, few, cut)


def _shown(
    ev: Evaluation, facts: dict[str, Any], asked: EvaluateArguments, few: list[str] | None, cut: Cut | None
) -> Report:
    """The report of an evaluation, and its pictures; ``few``: the measures of a short table."""
    shown = ev
    if few is not None and asked.html is not None:
        from ..evaluation import choose_specs

        # as it was asked for: measures are named by 10%, not by the number that it comes to
        keys = [str(spec) for spec in choose_specs(few, threshold=ev.threshold, quota=asked.quota)]
        facts_by_key: dict[str, Any] = {"estimates": ev.estimates, "specs": ev.specs}
        few_of: dict[str, Any] = {name: {key: held[key] for key in keys} for name, held in facts_by_key.items()}
        shown = replace(ev, **few_of)
    report = _report_of(shown, facts, asked, short=few is not None, cut=cut)
    return replace(report, **pictures(ev, facts, asked, measures=asked.measures, list_size=asked.list_size))


def _report_of(
    ev: Evaluation, facts: Mapping[str, Any], asked: EvaluateArguments, *, short: bool, cut: Cut | None = None
) -> Report:
    """An evaluation in every form; ``short``: with the measures of a short table."""
    from ..catalogue.declare import measures

    def document() -> dict[str, Any]:
        from ..present.words import cut_point

        point = cut_point(ev) if cut is None else cut.point
        content: dict[str, Any] = json.loads(ev.to_json())
        if cut is not None:
            content["cut"] = {"goal": cut.goal, "chance_kept": cut.chance, "note": cut.note}
        if point is not None:
            content["operating_point"] = point.to_dict()
        if asked.list_size is not None:
            content["list_size_point"] = ev.at(quota=asked.quota, list_size=asked.list_size).to_dict()
        if ev.rows.batched and ev.quota is not None:
            rules = ev.batches.rules().to_dict()
            content["batch_rules"] = {key: value for key, value in rules.items() if key != "batches"}
        return content

    number = sum(measure.of_one_score and not measure.own for measure in measures())
    more = [f"--all ({pluralize(number, 'measure')})", "--html report.html", "cutline measures NAME"]
    told = {"all_measures": asked.everything, "cut": cut, "measures": asked.measures, "list_size": asked.list_size}
    sections = partial(ev.sections, terms=COMMAND_LINE, **told)
    settings = settings_of(ev, ev.facts["rows"], asked.measures)
    status = one_class_status(ev, asked.measures)
    return Report(ev, facts, settings, document, sections=sections, more=more if short else [], status=status)


def one_class_status(ev: Evaluation, measures: Sequence[str]) -> int:
    """2, with a line on standard error, where a class is missing: then no ranking can be judged.

    0 where measures were asked for by name: there are some that one class is enough for.
    """
    absent = [kind for kind in ("positive", "negative") if ev.facts[f"{kind}s"] == 0]
    if not absent or measures:
        return 0
    note(f"error: there are no {absent[0]} cases, so the ranking cannot be evaluated; name measures with --measure")
    return 2


def _few_measures(asked: EvaluateArguments) -> list[str] | None:
    """The measures of a short table; None where more or others are wanted."""
    if asked.form not in ("table", "markdown") or asked.everything or asked.measures:
        return None
    from ..present.words import default_measures

    return default_measures(asked.quota) + asked.of_worth


def settings_of(result: Any, rows: int, measures: Sequence[str] = ()) -> dict[str, Any]:
    """How an evaluation or a comparison was made, of two classes or of several."""
    s = result.settings
    drawn = {"level": s.level, "resamples": s.n_resamples, "seed": s.seed} if s.interval else {"intervals": "none"}
    given = {name: getattr(result, name, None) for name in ("threshold", "quota", "margin", "prevalence", "quotas")}
    quotas = given.pop("quotas")
    given |= {} if quotas is None else {"quota": str(quotas)}
    given |= {"measures": ", ".join(measures) or None, "interval": None if s.interval == "auto" else s.interval}
    given |= {} if given["prevalence"] is None else {"prevalence": str(given["prevalence"])}
    return {"rows": rows, **{key: value for key, value in given.items() if value is not None}, **drawn}


def pictures(result: Any, facts: Mapping[str, Any], asked: JudgeArguments, **how: Any) -> dict[str, Any]:
    """The page and the picture that may be made of a result, which may have more than what is printed."""

    def write(path: str) -> None:
        from ..present.page import write_page

        write_page(result, path, source=facts, **how, **asked.prices, **asked.error_costs())

    def draw(path: str, kind: str | None) -> None:
        from ..present.plots import write_picture

        options: dict[str, Any] = asked.prices if kind == "profit" else {}
        options |= {"quota": asked.quota, "list_size": asked.list_size} if kind == "list_size" else {}
        cut = [name for name in ("threshold", *o.GOALS, *o.ERROR_COSTS) if getattr(asked, name, None) is not None]
        if cut and kind in ("roc", "precision_recall", "histogram"):
            options["threshold"] = result.threshold
        write_picture(result, path, kind, **options)

    return {"page": write, "draw": draw}


def _goal(asked: EvaluateArguments, engine: str) -> dict[str, float]:
    """The one thing that the cut is to reach or keep, with its value, or what errors cost; empty if none was given."""
    goals = {**asked.named("recall", "precision", "specificity", "fpr")}
    costs = asked.error_costs()
    if not goals and not costs:
        return {}
    several = [*goals, *(["cost-fp"] if costs else []), *asked.named("quota", "threshold")]
    if len(several) > 1:
        raise InputError(None, f"--{' and --'.join(several)} each set the cut", "give one of them")
    if "precision" in goals and asked.prevalence is not None:
        raise InputError("prevalence", "moves precision, and the cut is found in the file's own", "set a {threshold}")
    goal = {**goals, **costs}
    first = next(iter(goal))
    if engine != "memory":
        raise InputError(first, f"cannot set the cut in a stream (--engine {engine})", "leave it out")
    for key in asked.named("batch", "cluster"):
        problem = "needs independent rows"
        raise InputError(first, problem, f"leave {{{key}}} out, or give a {{threshold}}")
    if asked.by:
        problem = "is met for all rows together, not in each segment"
        raise InputError(first, problem, "leave it out, or give a {threshold}")
    return goal


def _evaluate_segments(
    table: Any, asked: EvaluateArguments, columns: Columns | dict[str, Any], taken: dict[str, Any]
) -> Report:
    """One model in each segment."""
    from ..present.segment_words import default_measures
    from ..verbs import evaluate as evaluate_rows

    measures = default_measures(taken["quota"]) + asked.of_worth
    few = {} if asked.everything or asked.measures else {"measures": measures}

    def made(**others: Any) -> Segments:
        seg: Segments = evaluate_rows(table, **{**taken, **others}).segments
        order = asked.order or (list(seg) if asked.ordered else None)
        return seg.shown_with(order=order)

    seg = made(**few)
    every = made() if few and asked.html is not None else seg  # the page shows every measure
    say_read(seg.overall.understood)
    facts = columns if isinstance(columns, dict) else facts_of(asked, columns, seg.overall.dropped)

    def document() -> dict[str, Any]:
        content: dict[str, Any] = json.loads(seg.to_json())
        if seg.shared is not None:
            content["one_list"] = json.loads(seg.shared.to_json())
        return content

    shown = {"all_measures": asked.everything, "fairness": asked.fairness, "measures": asked.measures}
    sections = partial(seg.sections, terms=COMMAND_LINE, **shown)
    settings = settings_of(seg.overall, seg.overall.facts["rows"], asked.measures)
    fairness = [] if asked.fairness else ["--fairness"]
    more = ["--all (every measure and difference)", *fairness, "--html report.html"]
    return Report(seg, facts, settings, document, sections=sections, more=more, **pictures(every, facts, asked))


def _calibration(asked: EvaluateArguments) -> Report:
    """Are the probabilities right, and how sure is that."""
    from ..verbs import evaluate as evaluate_arrays

    refuse_others(asked, OF_CALIBRATION, "cannot be used with --calibration", "leave one of them out")
    loaded = load_models(asked)
    how: dict[str, Any] = {"sample_weight": loaded.rows.weight, "measures": ["brier_score"], **asked.drawn}
    if "resamples" not in asked.given:
        how["n_resamples"] = _CALIBRATION_DRAWS
    made = evaluate_arrays(*loaded.arrays, name=loaded.score, **how).calibration()
    rows = len(loaded.rows)
    settings = {"rows": rows, "level": made.level, "simulations": made.n_simulations, "seed": asked.seed}
    return Report(made, loaded.facts, settings, lambda: {"rows": rows, **made.to_dict()}, made.bands.to_dicts)


# ----------------------------------------------------------------------------------------------- several classes


def _find_classes(table: Any, asked: EvaluateArguments, engine: str) -> dict[str, Any] | None:
    """The columns of several classes, if the file is about them; a named positive class asks for two."""
    from ..sources.class_matrix import find_class_columns

    by_case = asked.case is not None or asked.class_column is not None
    told = [name for name in ("predicted", "order") if getattr(asked, name) is not None]
    told += ["ordered"] if asked.ordered else []
    if asked.by:  # then an order is that of the segments
        told = [name for name in told if name not in ("order", "ordered")]
    if engine == "spark":
        if told or by_case or (asked.score is not None and "*" in asked.score):
            problem = "is spark, but the scores of several classes are read into memory"
            raise InputError("engine", problem, "use {engine='duckdb'}")
        return None
    if by_case:
        columns = asked.named("label", "score", "case", "class_column")
        if len(columns) < 4 or asked.predicted is not None:
            problem = "a file with a row for each case and class needs four columns"
            raise InputError(None, problem, "name {case}, {class_column}, {label} and {score}")
        refuse_others(asked, OF_CLASSES, "works with two classes only", ONE_CLASS)
        return columns
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
    refuse_others(asked, OF_CLASSES, "works with two classes only", ONE_CLASS)
    by = classes.found_by if not classes.scores else f"{classes.found_by} ({listed(classes.scores, 2)})"
    note(f"several classes: label {classes.label!r}, {by}")
    return {"label": classes.label, "score": list(classes.scores), "predicted": classes.predicted}


def _evaluate_classes(table: Any, asked: EvaluateArguments, columns: dict[str, Any]) -> Report:
    """One model of several classes."""
    from ..verbs import evaluate as evaluate_rows

    taken: dict[str, Any] = {**{name: value or None for name, value in columns.items()}, **asked.of_classes()}
    ev: ClassEvaluation = evaluate_rows(table, **taken)
    if "case" in columns:
        note(f"{len(ev.sample):,} cases of {len(ev.classes)} classes, a row for each case and class")
    say_read("", ev.dropped or 0, len(ev.sample))
    facts = {"file": asked.file, **columns, "weight": asked.weight, "cluster": asked.cluster, "dropped": ev.dropped}
    facts = {key.removesuffix("_column"): value for key, value in facts.items() if value}

    def write(path: str) -> None:
        source = {key: listed(value, 4) if isinstance(value, list) else value for key, value in facts.items()}
        ev.to_html(path, source=source, quota=asked.quota, **asked.prices)

    how: dict[str, Any] = {"all_measures": asked.everything, "measures": asked.measures, "quota": asked.quota}
    sections = partial(ev.sections, terms=COMMAND_LINE, **how)
    settings, more = settings_of(ev, len(ev.sample), asked.measures), ["--html report.html"]
    if not asked.everything and not asked.measures:
        more.insert(0, f"--all ({len(ev.specs)} measures)")
    return Report(ev, facts, settings, sections=sections, more=more, page=write)


# ------------------------------------------------------------------------------------------------------ comparison


_MODELS, _SHOWN = ("file", "label", "scores", "negate"), ("pairs", "why", "swaps", "consistency")


class CompareArguments(JudgeArguments, takes=[*_MODELS, "predicted", *_JUDGED, "margin", *_SHOWN]):
    """The options of ``compare``."""

    predicted: tuple[str, ...] = column("A model's predicted classes; may be repeated.", multiple=True)
    margin: float | None = option("Differences below this do not matter to you.", section="Measures and intervals")
    pairs: bool = option(
        "Also show the difference of each pair of models, and who leads at which quota (or is better for which class).",
        section="Output",
    )
    why: bool = option("Explain how the model for each goal is chosen.", section="Output")
    swaps: bool = option(
        "Instead: who enters and who leaves the list when the second --score replaces the first (with --quota).",
        section="Output",
    )
    consistency: bool = option(
        "Instead: may the ranking decide which of two models makes fewer errors? (Rosset's condition, tested.)",
        section="Output",
    )


OF_CONSISTENCY = [
    *(*_MODELS, *_SHOWN, *o.LABELS, "threshold", "cluster", "level", "seed", *o.READING, *o.PRINTED, *o.ENGINE),
]
OF_SWAPS = [*_MODELS, *_SHOWN, "quota", *o.LABELS, "weight", "level", *o.READING, *o.PRINTED, *o.PLOT]
OF_MODELS_OF_CLASSES = [
    *(*_MODELS, "predicted", "weight", "cluster", *o.CLASS_ORDER, *o.INTERVALS, "margin", *o.PRINTED, *o.MEASURES),
    *(*_SHOWN, *o.READING, *o.ENGINE, "html", *o.PLOT),
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
  cutline compare scores.csv --label y --score tree --score network --consistency
""",
)
def compare(asked: CompareArguments) -> Report:
    """Compare models: which one is better, by how much, and whether the difference could be chance.

    FILE has one row per case, with its real outcome and a score column for each model. Without --score all
    columns of fractions are compared. With more than two classes, --score 'a_*' --score 'b_*' name the columns of
    each model, or --predicted the classes it predicted.

    With --swaps the answer is which cases enter and leave the list when the second --score replaces the first, and how
    the hits change; csv prints the swapped rows, with their numbers in FILE (the first is 1). With --consistency the
    answer is whether AUC may decide which of two models makes fewer errors at the threshold.
    """
    from ..verbs import compare as compare_models

    asked.check()
    if asked.swaps:
        return _swaps(asked)
    if asked.consistency:
        refuse_others(asked, OF_CONSISTENCY, "cannot be used with --consistency", "leave one of them out")
    costs = asked.error_costs()
    engine = choose_engine(asked)
    if costs and engine != "memory":
        raise InputError("cost_fp", f"is not read from a stream (--engine {engine})", "leave it out")
    with opened(asked, engine=engine) as table:
        if engine != "spark" and asked.label is not None and _of_classes(table, asked, asked.label):
            return _compare_classes(table, asked, asked.label)
        for_classes = [f"--{name}" for name in ("predicted", "ordered", "order") if getattr(asked, name)]
        if for_classes:
            remedy = "name {label}, and each model's columns: --score 'a_*'"
            raise InputError(None, f"{for_classes[0]} is for several classes", remedy)
        columns = named_columns(engine, table, asked, asked.scores, several=True)
        if len(columns.scores) < 2:
            problem = f"a comparison needs two score columns or more, not only {show(columns.scores[0])}"
            raise InputError(None, problem, "name them with {score}")
        taken = asked.of_table(engine, columns) | {"margin": asked.margin}
        if asked.consistency:
            taken["measures"] = ["linear_ranking", "error_rate"]
            if len(columns.scores) != 2:
                raise InputError("score", f"must name two models, not {listed(columns.scores)}", "give it twice")
        made = compare_models(table, score=columns.scores, **taken)
        cheapest = made.cheapest(**costs) if costs and not asked.by else None
    say_read(made.first.understood)
    facts = facts_of(asked, columns, made.first.dropped)
    settings = settings_of(made, made.first.facts["rows"], asked.measures)
    if asked.consistency:
        tested = made.consistency(*columns.scores)
        return Report(tested, facts, settings, rows=tested.table.to_dicts)
    if asked.by:
        by_segment = made.segments
        sections = partial(by_segment.sections, terms=COMMAND_LINE, all_measures=asked.everything)
        rows = lambda: by_segment.differences().to_dicts()  # noqa: E731
        return Report(by_segment, facts, settings, None, rows, sections, **pictures(by_segment, facts, asked))

    def document() -> dict[str, Any]:
        from ..present.words import dominance_of

        more = {} if cheapest is None else {"cheapest": cheapest.to_dict()}
        if asked.list_size is not None:
            how = {"quota": asked.quota, "list_size": asked.list_size}
            more["list_size_points"] = {name: ev.at(**how).to_dict() for name, ev in made.items()}
        return {**json.loads(made.to_json()), "dominance": dominance_of(made), **more}

    shown = {"all_measures": asked.everything, "pairs": asked.pairs, "why": asked.why, "cheapest": cheapest}
    sections = partial(made.sections, terms=COMMAND_LINE, measures=asked.measures, list_size=asked.list_size, **shown)
    rows = lambda: list(made.differences)  # noqa: E731
    more = ["--pairs", "--why", f"--all ({pluralize(len(made.specs), 'measure')})", "--html report.html"]
    drawn = pictures(made, facts, asked, measures=asked.measures, list_size=asked.list_size)
    status = one_class_status(made.first, asked.measures)
    return Report(made, facts, settings, document, rows, sections, more, **drawn, status=status)


def _of_classes(table: Any, asked: CompareArguments, label: str) -> bool:
    """Whether the models have a score column for each class (``--score 'a_*' --score 'b_*'``) or predicted classes."""
    from ..sources.class_matrix import find_class_columns
    from ..sources.profiles import matching

    if asked.predicted:
        return True
    patterns = asked.scores
    if asked.positive or len(patterns) < 2 or not all("*" in pattern for pattern in patterns):
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
    models: dict[str, Any] = {"score": list(asked.scores) or None, "predicted": list(asked.predicted) or None}
    cmp = compare_models(table, label=label, margin=asked.margin, **models, **asked.of_classes())
    first = cmp.first
    say_read("", first.dropped or 0, len(first.sample))
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


# ---------------------------------------------------------------------------------------------------- conditions


class CheckArguments(
    o.Arguments,
    takes=[
        *("file", "label", "scores", *o.COUNTS, "conditions", *o.LABELS, "weight", "by", "batch", "cluster"),
        *("threshold", "adjust", *o.DRAWN, *o.READING, *o.PRINTED),
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
    adjust: bool = option("Adjust the level for the number of conditions and segments (Bonferroni).")


@command(
    CheckArguments,
    """\
  cutline check scores.csv --label y --score p "hit_rate@200 >= .5" "roc_auc >= .8"
  cutline check scores.csv "brier_score < 0.1" --format json
  cutline check loans.csv --label default --score p --by region "roc_auc >= .7" --adjust
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
        loaded = load_models(asked.but(score=next(iter(asked.scores), None)))
    rows, measures = loaded.rows, list(dict.fromkeys(condition.measure for condition in conditions))
    how: dict[str, Any] = {"measures": measures, "sample_weight": rows.weight, "threshold": asked.threshold}
    how |= {"by": rows.segments, "batch": rows.batch, "clusters": rows.clusters, **asked.drawn}
    if several:
        result: Any = compare_arrays(rows.positive, rows.scores, **how)
    else:
        result = evaluate_arrays(*loaded.arrays, name=loaded.score, **how)
    outcome = check_conditions(result, asked.conditions, adjust=asked.adjust)

    settings: dict[str, Any] = {"rows": len(rows), "level": asked.level, "resamples": asked.resamples}
    if any(spec.measure.needs_threshold for spec in result.specs.values()):
        settings["threshold"] = result.threshold
    sections = partial(outcome.sections, terms=COMMAND_LINE)
    return Report(
        *(outcome, loaded.facts, settings, outcome.to_dict, outcome.table.to_dicts, sections),
        status=_STATUS[str(outcome)],
    )

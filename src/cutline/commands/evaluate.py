"""``cutline evaluate`` and ``check``: how good one model is, and whether it is good enough."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import InputError, listed
from ..table import pluralize, to_jsonable
from . import options as o
from .options import COMMAND_LINE, about_file, argument, column, command, option, refuse_others
from .output import Report, note
from .reading import (
    Columns,
    choose_columns,
    choose_engine,
    facts_of,
    load,
    load_one_score,
    named_columns,
    negative_labels,
    one_score,
    opened,
    opened_by,
    say_dropped,
    say_if_long,
    say_understood,
)

if TYPE_CHECKING:
    from ..class_evaluation import ClassEvaluation
    from ..decide.thresholds import Cut
    from ..evaluation import Evaluation
    from ..segments import Segments
    from ..sources.duckdb import DuckTable

# The simulated samples of a test of calibration: 999 and the sample itself give p-values in steps of 1/1000.
_CALIBRATION_DRAWS = 999
_STATUS = {"pass": 0, "fail": 3, "undecided": 4}


class PagePrices(o.Arguments, section="Output"):
    """What a place costs and a hit is worth."""

    cost: float | None = option("Cost of each place, for the report.")
    value: float | None = option("Value of each hit, for the report.")


class JudgeArguments(
    o.LabelValues,
    o.Weighted,
    o.Places,
    o.Threshold,
    o.ErrorCosts,
    o.PrevalenceShare,
    o.Segmented,
    o.Batched,
    o.Clustered,
    o.ClassOrder,
    o.Measures,
    o.Intervals,
    o.Printed,
    o.Paged,
    o.Plotted,
    PagePrices,
    o.Reading,
    o.Engine,
):
    """What ``evaluate`` and ``compare`` share."""

    def check(self) -> None:
        """Prices that nothing shows are an error, before anything is computed."""
        shown = self.html is not None or self.plot_kind == "profit"
        if not shown and (self.cost is not None or self.value is not None):
            raise InputError(None, "--cost and --value are for the page", "add --html PATH, or use: cutline plan")

    def measuring(self) -> dict[str, Any]:
        """Which measures, and how to make intervals, as the library takes it."""
        if self.no_intervals and self.interval is not None:
            raise InputError("interval", "does not go with --no-intervals", "leave one of them out")
        interval = None if self.no_intervals else self.interval or "auto"
        return {"measures": list(self.measures) or None, "interval": interval, **self.drawn}

    def of_table(self, engine: str, columns: Columns) -> dict[str, Any]:
        """What the library's verbs take of a table of two classes."""
        taken = {
            "label": columns.label,
            "weight": self.weight,
            "pos_label": self.positive,
            "neg_label": negative_labels(self),
            "missing": self.missing or "error",
            "decimal": self.decimal,
            "prevalence": self.prevalence,
            "batch": self.batch,
            "clusters": self.cluster,
            "by": list(self.by) or None,
            "stream": False if engine == "memory" else None,
            "threshold": self.threshold,
            "quota": self.quota,
            **self.measuring(),
        }
        if "resamples" not in self.given:
            taken["n_resamples"] = None  # a stream has a default of its own
        return taken

    def of_classes(self) -> dict[str, Any]:
        """What the library's verbs take of a table of several classes."""
        roles = {"weight": self.weight, "clusters": self.cluster, "missing": self.missing or "error"}
        order = {"classes": self.order, "ordered": bool(self.ordered or self.order)}
        return {**roles, **order, "decimal": self.decimal, **self.measuring()}


class EvaluateColumns(o.OneModel, section="Columns"):
    """The columns of one model, also of several classes or of labels that are not all known."""

    score: str | None = column(
        "Column with the score; 'p_*' for a column per class.", multiple=True, callback=o.one_score_given
    )
    predicted: str | None = column("Column with the predicted class.")
    case: str | None = column("Column with the case (a row per case and class).")
    class_column: str | None = column("Column with the class (a row per case and class).", "--class")


class SampledLabels(o.Arguments, section="Columns"):
    """Labels of some rows only."""

    inclusion: str | None = option(
        "Labels are known for some rows only: the probability of being labelled, a column or a share.",
        metavar="COLUMN|P",
    )
    estimator: str = o.choice(
        "With --inclusion: also use the scores of unlabelled rows, or labelled rows only.",
        ["assisted", "hajek"],
        default="assisted",
    )


class EvaluateRows(o.Arguments, section="Groups of rows"):
    """The places of segments and batches."""

    quota_by: str | None = option(
        "With --by: also show what fixed quotas per segment would cost (north:60,south:40).", metavar="S:N,…"
    )
    fairness: bool = option("With --by: also show who gets the places of one list, and what other rules would cost.")


class Abstaining(o.Arguments, section="Where to cut"):
    """Answers that are left open."""

    abstain: float | None = o.share(
        "Several classes: the confidence above which answers reach this accuracy (at --level).", "ACCURACY"
    )


class CalibrationOutput(o.Arguments, section="Output"):
    """Another answer than the measures."""

    calibration: bool = option("Instead: are the probabilities right? csv prints the reliability curve with its bands.")


class EvaluateArguments(
    EvaluateColumns, SampledLabels, JudgeArguments, EvaluateRows, o.Goals, Abstaining, CalibrationOutput
):
    """The options of ``evaluate``."""


# The options that have a meaning for several classes, for labels of some rows only, and for a test of calibration.
Groups = list[type[o.Arguments]]
OF_CLASSES: Groups = [
    *(EvaluateColumns, o.Weighted, o.Clustered, o.ClassOrder, o.Measures, o.Intervals, o.Printed, o.Reading),
    *(o.Engine, o.Places, o.Paged, o.Plotted, PagePrices, Abstaining),
]
OF_SAMPLED: Groups = [
    *(o.OneModel, SampledLabels, o.LabelValues, o.Places, o.Threshold, o.Measures, o.Level, o.NoIntervals),
    *(o.Text, o.Printed, o.Plotted),
]
OF_CALIBRATION: Groups = [
    *(o.OneModel, CalibrationOutput, o.LabelValues, o.Weighted, o.Resamples, o.Reading, o.Printed, o.Plotted),
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
  cutline evaluate loans.csv --label default --score p --by region --quota-by north:60,south:40
  cutline evaluate claims.csv --label fraud --score p --quota 100 --batch day
  cutline evaluate iris.csv --label class --score 'p_*'
  cutline evaluate scores.csv --label y --score p --calibration --plot reliability.png
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
    empty; cutline label-plan writes such a file. With --calibration the answer is a test, slope and intercept, and the
    parts of the losses.
    """
    from ..sources.profiles import matching
    from ..verbs import evaluate as evaluate_rows

    asked.check()
    if asked.calibration:
        return _calibration(asked)
    if asked.inclusion is not None:
        return _evaluate_sampled(asked, asked.inclusion)
    if asked.quota_by is not None and not asked.by:
        raise InputError("quota_by", "gives places to segments", "name their column with {by}")
    if asked.fairness and not asked.by:
        raise InputError("fairness", "compares segments", "name their column with {by}")
    engine = choose_engine(asked)
    goal = _goal(asked, engine)
    with opened_by(engine, asked) as table:
        classes = _find_classes(table, asked, engine)
        if classes is not None:
            return _evaluate_classes(table, asked, classes)
        if asked.score is not None and engine == "duckdb":
            meant = matching(table, asked.score)
            if len(meant) > 1:
                problem = f"takes one column with --engine duckdb, not {listed(meant)}"
                raise InputError("score", problem, "name one of them, or load the file with {engine='memory'}")
        columns = named_columns(engine, table, asked, [asked.score] if asked.score else [], several=False)
        if len(columns.scores) > 1:
            if asked.positive is not None:
                problem = f"is for one score column, but {{score}} means {listed(columns.scores)}"
                raise InputError("pos_label", problem, "name one column with {score}, or leave it out")
            raise InputError("score", f"means {listed(columns.scores)}", "name one of them, or use: cutline compare")
        taken = {"score": columns.scores[0], **asked.of_table(engine, columns)}
        if asked.by:
            return _evaluate_segments(table, asked, columns, taken)
        few = _few_measures(asked)
        if asked.html is None:  # the page shows every measure
            taken["measures"] = few or taken["measures"]
        cut = _cut_for(table, asked, columns, goal) if goal else None
        if cut is not None:
            taken["threshold"] = float(cut)
        with about_file(table.name):
            ev = evaluate_rows(table, **taken)
        say_understood(ev.understood)
        if engine == "memory":
            say_if_long(table, columns.label, columns.scores, asked.weight)
    facts = facts_of(asked, columns, ev.dropped)
    shown = ev
    if few is not None and asked.html is not None:
        from ..evaluation import choose_specs

        # as it was asked for: measures are named by 10%, not by the number that it comes to
        keys = [str(spec) for spec in choose_specs(few, threshold=ev.threshold, quota=asked.quota)]
        shown = replace(
            ev, estimates={key: ev.estimates[key] for key in keys}, specs={key: ev.specs[key] for key in keys}
        )
    report = _report_of(shown, facts, asked, short=few is not None, cut=cut)
    return replace(report, **pictures(ev, facts, asked))


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
        if ev.rows.batched and ev.quota is not None:
            rules = ev.batches.rules().to_dict()
            content["batch_rules"] = {key: value for key, value in rules.items() if key != "batches"}
        return content

    number = sum(measure.of_one_score and not measure.own for measure in measures())
    return Report(
        ev,
        facts,
        settings_of(ev, ev.facts["rows"], asked.measures),
        document,
        sections=partial(ev.sections, terms=COMMAND_LINE, all_measures=asked.everything, cut=cut),
        more=[f"--all ({pluralize(number, 'measure')})", "--html report.html", "cutline measures NAME"]
        if short
        else [],
    )


def _few_measures(asked: EvaluateArguments) -> list[str] | None:
    """The measures of a short table; None where more or others are wanted."""
    if asked.form not in ("table", "markdown") or asked.everything or asked.measures:
        return None
    from ..present.words import default_measures

    return default_measures(asked.quota)


def settings_of(result: Any, rows: int, measures: Sequence[str] = ()) -> dict[str, Any]:
    """How an evaluation or a comparison was made, of two classes or of several."""
    s = result.settings
    drawn = {"level": s.level, "resamples": s.n_resamples, "seed": s.seed} if s.interval else {"intervals": "none"}
    quotas = getattr(result, "quotas", None)
    prevalence = getattr(result, "prevalence", None)
    given = {
        "threshold": getattr(result, "threshold", None),
        "quota": getattr(result, "quota", None) if quotas is None else str(quotas),
        "measures": ", ".join(measures) or None,
        "margin": getattr(result, "margin", None),
        "interval": None if s.interval == "auto" else s.interval,
        "prevalence": None if prevalence is None else str(prevalence),
    }
    return {"rows": rows, **{key: value for key, value in given.items() if value is not None}, **drawn}


def pictures(result: Any, facts: Mapping[str, Any], asked: JudgeArguments, **how: Any) -> dict[str, Any]:
    """The page and the picture that may be made of a result, which may have more than what is printed."""

    def write(path: str) -> None:
        from ..present.page import write_page

        prices = {"cost": asked.cost, "value": asked.value, **asked.error_costs()}
        write_page(result, path, source=facts, **how, **prices)

    def draw(path: str, kind: str | None) -> None:
        from ..present.plots import write_picture

        write_picture(result, path, kind, **({"cost": asked.cost, "value": asked.value} if kind == "profit" else {}))

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


def _cut_for(table: DuckTable, asked: EvaluateArguments, columns: Columns, goal: Mapping[str, float]) -> Cut:
    from ..decide.thresholds import threshold_for

    score = columns.scores[0]
    rows = load(table, asked, columns.label, [score], quiet=True)
    how: dict[str, Any] = {**goal, **asked.drawn}
    with about_file(table.name):
        return threshold_for(rows.positive, rows.scores[score], sample_weight=rows.weight, **how)


def _evaluate_segments(table: Any, asked: EvaluateArguments, columns: Columns, taken: dict[str, Any]) -> Report:
    """One model in each segment."""
    from ..present.segment_words import default_measures
    from ..verbs import evaluate as evaluate_rows

    places = None
    if asked.quota_by is not None:  # also as COLUMN=SEGMENT:PLACES,…
        named = next((name for name in asked.by if asked.quota_by.startswith(f"{name}=")), None)
        places = o.read_places(asked.quota_by if named is None else asked.quota_by[len(named) + 1 :])
        if asked.quota is None and asked.threshold is None:
            taken["quota"] = sum(places.values())
    few = {} if asked.everything or asked.measures else {"measures": default_measures(taken["quota"])}

    def made(**others: Any) -> Segments:
        seg: Segments = evaluate_rows(table, **{**taken, **others}).segments
        order = asked.order or (list(seg) if asked.ordered else None)
        return seg.shown_with(order=order, places=places)

    with about_file(table.name):
        seg = made(**few)
        every = made() if few and asked.html is not None else seg  # the page shows every measure
    say_understood(seg.overall.understood)
    facts = facts_of(asked, columns, seg.overall.dropped)

    def document() -> dict[str, Any]:
        content: dict[str, Any] = json.loads(seg.to_json())
        if seg.shared is not None:
            content["one_list"] = json.loads(seg.shared.to_json())
            content["price"] = None if seg.prices is None else json.loads(seg.prices.to_json())
        return content

    shown = {"all_measures": asked.everything, "fairness": asked.fairness, "measures": asked.measures}
    sections = partial(seg.sections, terms=COMMAND_LINE, **shown)
    settings = settings_of(seg.overall, seg.overall.facts["rows"], asked.measures)
    more = ["--all (every measure and difference)", "--fairness", "--html report.html"]
    return Report(seg, facts, settings, document, sections=sections, more=more, **pictures(every, facts, asked))


def _evaluate_sampled(asked: EvaluateArguments, inclusion: str) -> Report:
    """One model on a list of which only some labels are known."""
    from ..verbs import evaluate as evaluate_rows

    refuse_others(asked, OF_SAMPLED, "cannot be used with --inclusion", "leave one of them out")
    label = asked.label
    if label is None:
        raise InputError(
            "label", "is required: a label column with empty cells cannot be detected", "name it with {label}"
        )
    few = _few_measures(asked)
    with opened(asked) as table:
        columns = choose_columns(table, asked, [one_score(table, asked.score)])
        try:
            probability: str | float = o.read_share(inclusion)  # the same for all rows
        except ValueError:
            probability = table.column(inclusion, "inclusion").name
        taken = asked.of_table("memory", columns)
        taken["measures"] = few or taken["measures"]
        for name in ("stream", "n_resamples", "seed"):  # nothing is drawn, and nothing streamed
            del taken[name]
        with about_file(table.name):
            score = columns.scores[0]
            ev = evaluate_rows(table, score=score, inclusion=probability, estimator=asked.estimator, **taken)
    say_understood(ev.understood)
    facts = facts_of(asked, columns)
    facts |= {"inclusion": inclusion, "labelled": ev.facts["labelled"], "estimator": asked.estimator}
    return _report_of(ev, facts, asked, short=few is not None)


def _calibration(asked: EvaluateArguments) -> Report:
    """Are the probabilities right, and how sure is that."""
    from ..verbs import evaluate as evaluate_arrays

    refuse_others(asked, OF_CALIBRATION, "cannot be used with --calibration", "leave one of them out")
    loaded = load_one_score(asked)
    how: dict[str, Any] = {"sample_weight": loaded.rows.weight, "measures": ["brier_score"], **asked.drawn}
    if "resamples" not in asked.given:
        how["n_resamples"] = _CALIBRATION_DRAWS
    with about_file(loaded.table.name):
        made = evaluate_arrays(*loaded.arrays, name=loaded.score, **how).calibration()
    rows = len(loaded.rows)
    settings = {"rows": rows, "level": made.level, "simulations": made.n_simulations, "seed": asked.seed}
    return Report(made, loaded.facts, settings, lambda: {"rows": rows, **made.to_dict()}, made.bands.to_dicts)


# ----------------------------------------------------------------------------------------------- several classes


def _find_classes(table: Any, asked: EvaluateArguments, engine: str) -> dict[str, Any] | None:
    """The columns of several classes, if the file is about them; a named positive class asks for two."""
    from ..sources.class_matrix import find_class_columns

    by_case = asked.case is not None or asked.class_column is not None
    told = [name for name in ("predicted", "abstain", "order") if getattr(asked, name) is not None]
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
    if asked.positive is not None:
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

    with about_file(table.name):
        taken: dict[str, Any] = {**{name: value or None for name, value in columns.items()}, **asked.of_classes()}
        ev: ClassEvaluation = evaluate_rows(table, **taken)
        abstention = None if asked.abstain is None else ev.abstain(asked.abstain, confidence=asked.level)
    if "case" in columns:
        note(f"{len(ev.sample):,} cases of {len(ev.classes)} classes, a row for each case and class")
    say_dropped(ev.dropped or 0, len(ev.sample))
    facts = {"file": asked.file, **columns, "weight": asked.weight, "cluster": asked.cluster, "dropped": ev.dropped}
    facts = {key.removesuffix("_column"): value for key, value in facts.items() if value}

    def write(path: str) -> None:
        source = {key: listed(value, 4) if isinstance(value, list) else value for key, value in facts.items()}
        ev.to_html(path, source=source, quota=asked.quota, cost=asked.cost, value=asked.value)

    def document() -> dict[str, Any]:
        kept = {} if abstention is None else {"abstention": to_jsonable(abstention.to_dict())}
        return {**json.loads(ev.to_json()), **kept}

    how: dict[str, Any] = {"all_measures": asked.everything, "measures": asked.measures, "quota": asked.quota}
    sections = partial(ev.sections, terms=COMMAND_LINE, kept=abstention, **how)
    settings, more = settings_of(ev, len(ev.sample), asked.measures), ["--html report.html"]
    if not asked.everything and not asked.measures:
        more.insert(0, f"--all ({len(ev.specs)} measures)")
    return Report(ev, facts, settings, document, sections=sections, more=more, page=write)


# ---------------------------------------------------------------------------------------------------- conditions


class CheckArguments(o.OneModel, o.LabelValues, o.Weighted, o.Threshold, o.Resamples, o.Reading, o.Printed):
    """The options of ``check``."""

    conditions: tuple[str, ...] = argument(nargs=-1, required=True)
    threshold: float | None = option("Threshold of recall, precision …; 0.5 for probabilities.")


@command(
    CheckArguments,
    """\
  cutline check scores.csv --label y --score p "hit_rate@200 >= .5" "roc_auc >= .8"
  cutline check scores.csv "brier_score < 0.1" --format json
""",
    renames={"measure": "the condition", "measures": "the condition", "quota": "the condition"},
)
def check(asked: CheckArguments) -> Report:
    """Check conditions such as "hit_rate@200 >= .5": pass, fail or undecided, by the interval of each measure.

    Exit status: 0 if all pass, 3 if one fails, 4 if one is undecided, 2 for bad input.
    """
    from ..verbs import evaluate as evaluate_arrays
    from ..verdict import check_conditions, parse_condition

    conditions = [parse_condition(text) for text in asked.conditions]
    loaded = load_one_score(asked)
    measures = list(dict.fromkeys(condition.measure for condition in conditions))
    how: dict[str, Any] = {"sample_weight": loaded.rows.weight, "threshold": asked.threshold, **asked.drawn}
    with about_file(loaded.table.name):
        ev = evaluate_arrays(*loaded.arrays, name=loaded.score, measures=measures, **how)
        outcome = check_conditions(ev, asked.conditions)

    settings: dict[str, Any] = {"rows": len(loaded.rows), "level": asked.level, "resamples": asked.resamples}
    if any(spec.measure.needs_threshold for spec in ev.specs.values()):
        settings["threshold"] = ev.threshold
    rows = outcome.table.to_dicts
    document = lambda: {"outcome": str(outcome), "conditions": rows()}  # noqa: E731
    return Report(outcome, loaded.facts, settings, document, rows, status=_STATUS[str(outcome)])

"""``cutline evaluate``, ``compare`` and ``check``: how good models are, which is better, and is it good enough."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations
from types import MappingProxyType
from typing import Any

from ..errors import InputError, listed, show
from ..table import Section, as_plain, cut_text, pluralize
from . import options as o
from .options import COMMAND_LINE, argument, column, command, option, refuse
from .output import Report, note
from .reading import choose_columns, counts_named, facts_of, load_models, negative_labels, one_score, opened, say_read

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
    *(*o.LABELS, "negate", "worth", "quota", "cut_by", "threshold", *o.ERROR_COSTS, "list_size", "prevalence", "by"),
    *("batch", "inclusion", "approximate", "tolerance", *o.GOALS, "calibration", "swaps", "consistency"),
)
NOT_SAMPLED = (
    *("list_size", "missing", "html", *o.ENGINE, "approximate", "tolerance", "seed", "resamples", "predicted"),
    *("order", "ordered", *o.GOALS, "calibration"),
)
_OF_ROWS = ("predicted", *o.LABELS, "inclusion", "negate", "cut_by", "approximate", "tolerance", "weight")
# What ``--plot`` draws of a question, the first that was asked.
_PICTURES = {"list_size": "list_size", "calibration": "calibration", "cost_fp": "expected_cost", "batch": "batches"}
_PICTURES |= {"worth": "forest", "quota": "found"}
_OF_WORTH = ["value_captured", "value_recall", "value_per_place"]  # what amounts add to a short table
_ALSO = {
    "calibration": "Are the probabilities right?",
    "swaps": "Who enters the list, and who leaves it",
    "consistency": "May a ranking decide between them?",
}
_ONE_CLASS = "name one class with {pos_label} and its column with {score}, or leave it out"


class JudgeArguments(o.Arguments):
    """What ``evaluate`` and ``compare`` share."""

    cost: str | None = column("With --worth: column with what each row costs.")

    def goal(self) -> dict[str, float]:
        """What the cut is to reach or to keep, if that was given: one thing, in place of a quota or a threshold.

        What goes with nothing else that was given is an error, before anything is computed.
        """
        if self.list_size is not None:
            refuse(self, ("by", "batch", *o.ERROR_COSTS), "does not go with --list-size")
        if self.no_intervals and self.interval is not None:
            raise InputError("interval", "does not go with --no-intervals", "leave one of them out")
        goal = self.named(*o.GOALS)
        given = [*goal, *self.named("quota", "threshold")]
        if goal and len(given) > 1:
            raise InputError(None, f"--{' and --'.join(given)} each set the cut", "give one of them")
        if goal:
            refuse(self, ("by",), f"does not go with --{given[0]}, which is met for all rows together")
        if "precision" in goal and self.prevalence is not None:
            problem = "moves precision, and the cut is found in the file's own"
            raise InputError("prevalence", problem, "give a {threshold}")
        return goal

    def request(self, *, labels: bool = False) -> dict[str, Any]:
        """What the library's verbs take of a table, beside the columns of labels and scores.

        ``labels``: with how labels of two classes are read.
        """
        taken = self.named("weight", "worth", "decimal", "prevalence", "batch", "threshold", "quota", "missing")
        taken |= {"cost": self.cost, "clusters": self.cluster}
        taken |= {"by": list(self.by) or None, "measures": list(self.measures) or None, **self.drawn}
        taken["interval"] = None if self.no_intervals else self.interval or "auto"
        if "resamples" not in self.given:
            taken["n_resamples"] = None  # a stream has a default of its own
        if self.engine != "auto":
            taken["stream"] = self.engine == "duckdb"
        if labels:
            taken |= {"pos_label": self.pos_label, "neg_label": negative_labels(self), "cut_by": self.cut_by}
            taken |= {"negate": list(self.negate) or False, "ignore_case": self.ignore_case}
        return taken

    def for_classes(self) -> dict[str, Any]:
        """What the library's verbs take of a table of several classes."""
        refuse(self, _TWO_CLASSES, "works with two classes only", _ONE_CLASS)
        taken = {name: value for name, value in self.request().items() if name not in ("quota", "cost", "stream")}
        return {**taken, "classes": self.order, "ordered": bool(self.ordered or self.order)}


class EvaluateArguments(JudgeArguments, takes=[*o.ONE_MODEL, "predicted", "inclusion", *_JUDGED, *o.GOALS]):
    """The options of ``evaluate``."""

    more: tuple[str, ...] = argument(nargs=-1, type=o.InputFile(), metavar="[COUNTS]...")
    min_cell: int | None = option(
        "Counts of a query: join neighbouring buckets until each shows so many positives and negatives, or none.",
        metavar="N",
        section="Other kinds of files",
    )
    approximate: bool = option("Answer from counts by bucket of the score, with bounds.", section="Large files")
    tolerance: float | None = option(
        "As --approximate, but sort the rows if bounds are wider than this.", metavar="WIDTH", section="Large files"
    )
    score: str | None = column("Score column; 'p_*' for one per class.", multiple=True, callback=o.one_score_given)
    predicted: str | None = column("Column with the predicted class.")
    inclusion: str | None = option(
        "Labels are known for some rows only: the probability of being labelled, a column or a share.",
        metavar="COLUMN|P",
        section="Columns",
    )
    calibration: bool = option("Also: are the probabilities right?", section="Output")


@command(
    EvaluateArguments,
    """\
  cutline evaluate scores.csv
  cutline evaluate scores.csv --label y --score p --quota 200 --html report.html
  cutline evaluate bank.csv --label bought --positive yes --score p --quota 5%
  cutline evaluate scores.csv --label y --score p --recall 80% --calibration
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
    from ..present.words import default_measures
    from ..verbs import evaluate as evaluate_rows

    goal, beside = asked.goal(), list[Section]()
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
            refuse(asked, ("min_cell",), f"is for counts, and {table.name} has rows")
            if asked.more:
                problem = f"{table.name} has rows, and only counts of several files add up"
                raise InputError(None, problem, "give one file, or a pattern in quotes: 'part-*.parquet'")
            classes = None if sampled else _find_classes(table, asked)
            if classes is not None:
                return _evaluate_classes(table, asked, classes)
            scores = [] if asked.score is None else [one_score(table, asked.score)]
            columns = choose_columns(table, asked, scores)
            if asked.missing == "drop" and "inclusion" in table.names and not sampled:
                note("note: of a labelling plan, add --inclusion inclusion: rows with a label were not drawn alike")
            facts = facts_of(asked, columns)
            taken = {"label": columns.label, "score": columns.scores[0], **asked.request(labels=True)}
            if asked.approximate or asked.tolerance is not None:
                taken |= {"exact": False, "tolerance": asked.tolerance}
            if asked.inclusion is not None:
                try:
                    taken["inclusion"] = o.read_share(asked.inclusion)  # the same for all rows
                except ValueError:
                    taken["inclusion"] = table.column(asked.inclusion, "inclusion").name
        if asked.by or facts.get("by"):
            refuse(asked, ("calibration",), "does not go with segments")
            return _evaluate_segments(table, asked, facts, taken)
        if goal:
            how = {**taken, "measures": ["roc_auc"], "interval": None}
            point = evaluate_rows(table, **how).at(**goal)
            taken["threshold"] = point.threshold
            ((name, value),) = goal.items()
            word, end = ("false positive rate", "most") if name == "fpr" else (name, "least")
            cut = cut_text(point.threshold, point.above)
            said = f"Of all cuts with a {word} of at {end} {100 * value:.4g}%, score > {cut} selects "
            said += f"the {'fewest' if name == 'recall' else 'most'} cases. Intervals take this cut as given."
            words = [part for role in ("label", "score") if role in facts for part in (f"--{role}", facts[role])]
            words += asked.typed("negate", *o.COUNTS, *o.LABELS, "weight", *o.READING)
            keep = shlex.join(["cutline", "cut", asked.file, *words, f"--{name}", f"{value:g}", "--confidence", "0.9"])
            beside, facts = [Section("goal", [said, f"To keep it on new data: {keep}"])], {**facts, **goal}
        few = None  # the measures of a short table
        if asked.form in ("table", "markdown") and not asked.everything and not asked.measures:
            few = default_measures(asked.quota) + default_measures(None) * (asked.threshold is not None)
            few = list(dict.fromkeys(few)) + _OF_WORTH * ("worth" in facts)
        taken["measures"] = few or taken["measures"]
        ev = evaluate_rows(table, **taken)
    also = {"calibration": [ev.calibration()]} if asked.calibration else {}
    if sampled:
        facts |= {"inclusion": asked.inclusion, "labelled": ev.facts["labelled"]}

    def document() -> dict[str, Any]:
        from ..present.words import cut_point

        point = cut_point(ev)
        content: dict[str, Any] = ev.to_dict()
        if point is not None:
            content["operating_point"] = point.to_dict()
        if asked.list_size is not None:
            content["list_size_point"] = ev.at(quota=asked.quota, list_size=asked.list_size).to_dict()
        if ev.rows.batched and ev.quota is not None:
            rules = ev.batches.rules().to_dict()
            content["batch_rules"] = {key: value for key, value in rules.items() if key != "batches"}
        return content

    how = {"measures": asked.measures, "list_size": asked.list_size, "all_measures": asked.everything}
    return _report(ev, facts, asked, document, few=few is not None, also=also, beside=beside, **how)


def _report(
    result: Any,
    facts: Mapping[str, Any],
    asked: JudgeArguments,
    document: Any = None,
    rows: Any = None,
    more: Sequence[str] = (),
    few: bool = False,
    also: Mapping[str, Sequence[Any]] = MappingProxyType({}),
    beside: Sequence[Section] = (),
    **shown: Any,
) -> Report:
    """The report of one model or of several, of all rows or by segment; ``shown``: what its sections take.

    ``few``: only some of the measures of one score were evaluated. ``also``: the results that options add, which
    its sections take as ``beside``.
    """
    for name, others in also.items():
        parts = [part for other in others for section in other.sections() for part in section.parts]
        beside = [*beside, Section(name, parts, _ALSO[name])]
    if beside:
        shown["beside"] = beside
    whole = getattr(result, "overall", result)
    first = getattr(whole, "first", whole)
    say_read(getattr(first, "understood", ""))
    facts = {**facts, "dropped": first.dropped} if first.dropped else facts
    settings = settings_of(whole, first.facts["rows"], asked.measures)
    sections = partial(result.sections, terms=COMMAND_LINE, **shown)
    absent = [kind for kind in ("positive", "negative") if first.facts.get(f"{kind}s", 1) == 0]
    if absent and not asked.measures and result is whole:
        problem = f"there are no {absent[0]} cases, so the ranking cannot be evaluated"
        raise InputError(None, problem, "name measures that one class is enough for with {measures='brier_score'}")

    how: dict[str, Any] = {}
    if few:
        from ..catalogue.declare import measures

        how = {"offered": sum(measure.of_one_score and not measure.own for measure in measures())}
        all_of_them = f"--all ({pluralize(how['offered'], 'measure')})"
        more = more or [all_of_them, "--html report.html", "cutline measures NAME"]
    if "list_size" in shown:
        how |= {name: shown[name] for name in ("measures", "list_size", "beside") if name in shown}
    how |= {"all_measures": asked.everything, **asked.named(*o.ERROR_COSTS)}
    source = {key: listed(value, 4) if isinstance(value, list) else value for key, value in facts.items()}
    page = partial(result.to_html, source=source, terms=COMMAND_LINE, **how)

    def draw(path: str, kind: str | None) -> None:
        from ..present.plots import write_picture

        at: dict[Any, Any] = dict.fromkeys(("roc", "precision_recall", "histogram"), asked.named("threshold"))
        at["list_size"] = asked.named("quota", "list_size")
        if shown.get("cheapest") is not None:
            at["expected_cost"] = {"prices": (asked.cost_fp, asked.cost_fn), "cheapest": shown["cheapest"]}
        for name in _PICTURES if kind is None and result is whole else ():
            if getattr(asked, name, None):
                with suppress(InputError):  # what the data do not allow is not drawn
                    return write_picture(result, path, _PICTURES[name], **at.get(_PICTURES[name], {}))
        return write_picture(result, path, kind, **at.get(kind, {}))

    def content() -> dict[str, Any]:
        return {**document(), **{name: as_plain(others) for name, others in also.items()}}

    return Report(result, facts, settings, content if also else document, rows, sections, more, page, draw)


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
    if few:
        taken["measures"] = default_measures(taken.get("quota")) + _OF_WORTH * ("worth" in facts)
    seg: Any = evaluate_rows(table, **taken).segments
    seg = seg.shown_with(order=asked.order or (list(seg) if asked.ordered else None))

    def document() -> dict[str, Any]:
        return {**seg.to_dict(), **({} if seg.shared is None else {"one_list": seg.shared.to_dict()})}

    more = ["--all (every measure and difference)", "--html report.html"]
    shown: dict[str, Any] = {"all_measures": asked.everything, "measures": asked.measures}
    return _report(seg, facts, asked, document, more=more, few=few, **shown)


# ----------------------------------------------------------------------------------------------- several classes


def _find_classes(table: Any, asked: EvaluateArguments) -> dict[str, Any] | None:
    """The columns of several classes, if the file is about them; a named positive class asks for two."""
    from ..sources.class_matrix import find_class_columns
    from ..sources.profiles import is_pattern

    # with segments, an order is that of the segments
    told = [*asked.named("predicted"), *([] if asked.by else asked.given & {"order", "ordered"})]
    if asked.positive:
        if told:
            raise InputError(told[0], "is for several classes, {pos_label} for two", "leave one of them out")
        return None
    taken = [name for name in (asked.weight, asked.batch, asked.cluster, *asked.by) if name]
    classes = None
    if asked.score is None or is_pattern(table, asked.score):  # one column is the score of two classes
        classes = find_class_columns(table, asked.label, asked.score, asked.predicted, taken)
    if classes is None:
        if told:
            problem = f"{table.name}: --{told[0]} is for several classes, but no score column for each class was found"
            segments = "; with segments, name their column with {by}" * (told[0] in ("order", "ordered"))
            raise InputError(None, problem, f"name {{label}} and {{score}}{segments}")
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


class CompareArguments(JudgeArguments, takes=[*_MODELS, "predicted", *_JUDGED, *o.ERROR_COSTS]):
    """The options of ``compare``."""

    predicted: tuple[str, ...] = column("A model's predicted classes; may be repeated.", multiple=True)
    margin: float | None = o.share("Smaller differences (1%) do not matter to you.", section="Measures and intervals")
    pairs: bool = option(
        "Also the difference of each pair of models, and who leads at which quota or class.", section="Output"
    )
    why: bool = option("Explain how the model for each goal is chosen.", section="Output")
    swaps: tuple[str, str] | None = option(
        "Also: who enters and leaves at --quota if NEW replaces OLD.", nargs=2, metavar="OLD NEW", section="Output"
    )
    consistency: bool = option("Also: may a ranking decide which model makes fewer errors?", section="Output")


@command(
    CompareArguments,
    """\
  cutline compare scores.csv --quota 20
  cutline compare scores.csv --label y --score tree --score network --quota 5% --html compare.html
  cutline compare scores.csv --label y --score tree --score network --cost-fp 1 --cost-fn 8
  cutline compare scores.csv --label y --score tree --score network --quota 20 --swaps tree network
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
    from ..sources.class_matrix import find_class_columns
    from ..sources.profiles import is_pattern
    from ..verbs import compare as compare_models

    asked.goal()
    costs = asked.named(*o.ERROR_COSTS)
    if len(costs) == 1:
        missing = "cost_fn" if "cost_fp" in costs else "cost_fp"
        raise InputError(missing, f"is missing: {{{next(iter(costs))}}} needs it", "give the costs of both errors")
    with opened(asked) as table:
        counted = None if asked.predicted else counts_named(table, asked)
        patterns = not asked.positive and all(is_pattern(table, score) for score in asked.scores)  # of each model
        if patterns and not (asked.predicted or counted or (asked.label and asked.scores)):
            classes = find_class_columns(table, asked.label, None, None, several=True)
            if classes is not None and classes.models:
                note(f"several classes: label {classes.label!r}, {classes.found_by} ({listed(classes.models)})")
                asked.label, asked.scores = classes.label, asked.scores or classes.models
        if asked.label is not None and (asked.predicted or (patterns and len(asked.scores) > 1)):
            return _compare_classes(table, asked, asked.label)  # a pattern for the columns of each model
        refuse(asked, ("predicted", "ordered", "order"), "is for several classes", "name each model's: --score 'a_*'")
        if counted is not None:
            refuse(asked, _OF_ROWS, "does not go with counts")
            taken: dict[str, Any] = {"score": list(asked.scores) or None, **asked.named(*o.COUNTS), **asked.request()}
            facts = {**counted.facts, "score": ", ".join(asked.scores) or counted.score}
        else:
            columns = choose_columns(table, asked, asked.scores, several=True)
            if len(columns.scores) < 2:
                problem = f"a comparison needs two score columns or more, not only {show(columns.scores[0])}"
                raise InputError(None, problem, "name them with {score}")
            taken = {"label": columns.label, "score": columns.scores, **asked.request(labels=True)}
            facts = facts_of(asked, columns)
        made = compare_models(table, margin=asked.margin, **taken)
        by = asked.by or facts.get("by")
        cheapest = made.cheapest(**costs) if costs and not by else None
        also: dict[str, list[Any]] = {}
        if by:
            refuse(asked, ("swaps", "consistency"), "does not go with segments")
        if asked.swaps is not None:
            also["swaps"] = [made.swaps(*asked.swaps)]
        if asked.consistency:
            also["consistency"] = [made.consistency(*pair) for pair in combinations(made, 2)]
    if by:
        seg = made.segments
        rows = lambda: seg.differences().to_dicts()  # noqa: E731
        more = [] if asked.everything else ["--all (every measure and difference)", "--html report.html"]
        return _report(seg, facts, asked, rows=rows, more=more, all_measures=asked.everything)

    def document() -> dict[str, Any]:
        from ..present.words import dominance_of

        content = {**made.to_dict(), "dominance": dominance_of(made)}
        content |= {} if cheapest is None else {"cheapest": cheapest.to_dict()}
        if asked.list_size is not None:
            how = {"quota": asked.quota, "list_size": asked.list_size}
            content["list_size_points"] = {name: ev.at(**how).to_dict() for name, ev in made.items()}
        return content

    measures = asked.measures or ["accuracy"] * (asked.threshold is not None and asked.quota is None)
    how: dict[str, Any] = {"measures": measures, "list_size": asked.list_size}
    how |= {"all_measures": asked.everything, "pairs": asked.pairs, "why": asked.why, "cheapest": cheapest}
    more = ["--pairs", "--why", f"--all ({pluralize(len(made.specs), 'measure')})", "--html report.html"]
    return _report(made, facts, asked, document, lambda: list(made.differences), more, also=also, **how)


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
    shown: dict[str, Any] = {"all_measures": asked.everything, "pairs": asked.pairs, "dropped": dropped}
    return _report(made, facts, asked, more=more, **shown)


# ---------------------------------------------------------------------------------------------------- conditions


class CheckArguments(
    o.Arguments,
    takes=[
        *("file", "label", "scores", "negate", *o.COUNTS, "conditions", *o.LABELS, "weight", "by", "batch", "cluster"),
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
    threshold: float | None = o.share("Threshold of recall, precision …; 0.5 for probabilities.", metavar="FLOAT")


@command(
    CheckArguments,
    """\
  cutline check scores.csv --label y --score p "hit_rate@200 >= .5" "roc_auc >= .8"
  cutline check scores.csv "brier_score < 0.1" --format json
  cutline check loans.csv --label default --score p --by region "roc_auc >= .7"
  cutline check scores.csv --label y --score old --score new "roc_auc(new) - roc_auc(old) >= -0.01"
""",
    renames={
        "measure": "the measure of the condition",
        "measures": "the condition",
        "quota": "the quota of the condition",
    },
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
    asked.score = None if several else next(iter(asked.scores), None)
    measures = list(dict.fromkeys(condition.measure for condition in conditions))
    how: dict[str, Any] = {"measures": measures, "threshold": asked.threshold, **asked.drawn}
    result: Any = None
    with opened(asked) as table:
        counted = counts_named(table, asked)
        if counted is not None:  # as they are: what buckets leave open counts
            joint = several or "bucket_b" in table.names
            taken = {"score": list(asked.scores) or None, **asked.named(*o.COUNTS)} if joint else {}
            if not joint and counted.columns is not None:
                taken = vars(counted.columns)
            taken |= {"by": list(asked.by) or None, "batch": asked.batch, **asked.named("missing", "decimal")}
            result = (compare_arrays if joint else evaluate_arrays)(table, **taken, **how)
            facts, first = counted.facts, getattr(result, "overall", result)
            n = getattr(first, "first", first).facts["rows"]
    if result is None:
        loaded = load_models(asked, asked.scores) if several else load_models(asked)
        rows, facts, n = loaded.rows, loaded.facts, len(loaded.rows)
        how |= {"sample_weight": rows.weight, "by": rows.segments, "batch": rows.batch, "clusters": rows.clusters}
        if several:
            result = compare_arrays(rows.positive, rows.scores, **how)
        else:
            result = evaluate_arrays(*loaded.arrays, name=loaded.score, **how)
    outcome = check_conditions(result, asked.conditions)

    settings: dict[str, Any] = {"rows": n, "level": asked.level, "resamples": asked.resamples}
    if any(spec.measure.needs_threshold for spec in result.specs.values()):
        settings["threshold"] = result.threshold
    forms = outcome.to_dict, outcome.table.to_dicts, partial(outcome.sections, terms=COMMAND_LINE)
    return Report(outcome, facts, settings, *forms, status=_STATUS[str(outcome)])

"""``cutline cut``, ``plan``, ``screen``, ``vote`` and ``label-plan``: what to do with scores."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import click
import numpy as np

from ..errors import InputError, listed
from . import options as o
from .options import about_file, choice, column, command, option, share
from .output import Report, note
from .reading import known_labels, load, load_models, load_one_score, one_score, opened


class CutArguments(o.OneModel, o.LabelValues, o.Weighted, o.Goals, o.ErrorCosts, o.Resamples, o.Reading, o.Printed):
    """The options of ``cut``."""

    confidence: float | None = share("Confidence that the target is met on new data.")
    prevalence: float | None = share("Share of positives where the scores will be used.")
    maximize: str | None = option("Cut with the best value of a measure (f1, youden_index).", metavar="MEASURE")
    output: str | None = option("Write the cut here, as JSON.", "-o", "--output", type=o.OutputFile(), metavar="PATH")


@command(
    CutArguments,
    """\
  cutline cut scores.csv --label y --score p --recall .8 --confidence .9 -o cut.json
  cutline cut scores.csv --cost-fp 1 --cost-fn 20 --prevalence .01
  cutline cut scores.csv --maximize youden_index
  cutline select new-scores.csv --score p --cut cut.json
""",
)
def cut(asked: CutArguments) -> Report:
    """Find the threshold that reaches a recall, precision or false positive rate, or minimises cost.

    Cases with score > threshold are selected. With --confidence the target is met on new data like these; without it,
    it is met on FILE, and on new data about half the time.
    """
    from ..decide.thresholds import threshold_for

    goal = asked.named("recall", "precision", "specificity", "fpr", "maximize", "cost_fp", "cost_fn")
    if not goal:
        remedy = "add one of {recall}, {precision}, {specificity}, {fpr}, {maximize}, or {cost_fp} with {cost_fn}"
        raise InputError(None, "no target given", remedy)
    loaded = load_one_score(asked)
    goal |= asked.named("confidence", "prevalence")
    how: dict[str, Any] = {"sample_weight": loaded.rows.weight, **asked.drawn, **goal}
    with about_file(loaded.table.name):
        made = cast("Any", threshold_for(*loaded.arrays, **how))
    if asked.output is not None:
        made.save(asked.output, score=loaded.score)
        note(f"cut: {asked.output}")

    def document() -> dict[str, Any]:
        return {**made.to_dict(), "here": made.point.to_dict()}

    settings = {"rows": len(loaded.rows), **goal, "seed": asked.seed}
    return Report(made, loaded.facts, settings, document, made.here.to_dicts)


class PlanArguments(
    o.OneModel,
    o.LabelValues,
    o.Places,
    o.PrevalenceShare,
    o.Batched,
    o.Clustered,
    o.Resamples,
    o.Reading,
    o.Printed,
    o.Paged,
    o.Plotted,
):
    """The options of ``plan``."""

    cost: float = option("Cost of each case selected.", required=True)
    value: float = option("Value of each hit.", required=True)
    fixed_cost: float = option("Fixed cost, paid once.", default=0.0, show_default=True)
    budget: float | None = option("Total budget; it limits the number of cases.")


@command(
    PlanArguments,
    """\
  cutline plan scores.csv --label y --score p --cost 2 --value 50
  cutline plan scores.csv --label y --score p --cost 2 --value 50 --budget 10000 --plot profit.png
  cutline plan scores.csv --cost 2 --value 50 --quota 5% --format csv > profit-curve.csv
""",
)
def plan(asked: PlanArguments) -> Report:
    """Find the most profitable number of cases: profit is value × hits − cost × cases.

    --quota limits the number of cases, --budget the total cost. --format csv prints the whole profit curve. With
    --batch all of this is per batch: this many places every day.
    """
    from ..decide.planning import plan as plan_arrays

    loaded = load_one_score(asked)
    y_true, y_score = loaded.arrays
    rows: dict[str, Any] = {"batch": loaded.rows.batch, "clusters": loaded.rows.clusters}
    rows |= {"prevalence": asked.prevalence, **asked.drawn}
    prices: dict[str, Any] = {"cost": asked.cost, "value": asked.value}
    with about_file(loaded.table.name):
        made = plan_arrays(
            y_true, y_score, **prices, fixed_cost=asked.fixed_cost, budget=asked.budget, quota=asked.quota, **rows
        )

    def document() -> dict[str, Any]:
        here = {
            "threshold": None if made.cut is None else made.cut.threshold,
            "hits_here": None if made.cut is None else made.cut.tp,
            "next_hits_low": made.next_hits.low,
            "next_hits_high": made.next_hits.high,
        }
        size = {"rows": len(made.taken) - 1, "n_resamples": asked.resamples}
        return {**size, **made.to_dict(), **here, "curve": made.curve.to_dicts()}

    def write(path: str) -> None:
        """The page of the scores, opened at the best cut, with the plan as its answer."""
        from ..present.page import write_page
        from ..verbs import evaluate

        ev = evaluate(*loaded.arrays, name=loaded.score, quota=made.quota or None, **rows)
        title = f"Plan for {loaded.score}"
        write_page(ev, path, source=loaded.facts, title=title, plan=made, **prices)

    given = {key: value for key in ("cost", "value", "fixed_cost", "budget", "quota") if (value := getattr(asked, key))}
    if asked.prevalence is not None:
        given["prevalence"] = str(asked.prevalence)
    drawn = {"level": asked.level, "resamples": asked.resamples, "seed": asked.seed}
    settings = {"rows": len(loaded.rows), **given, **drawn}
    return Report(made, loaded.facts, settings, document, lambda: list(made.curve), page=write)


def _stages(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> list[tuple[str, Any]]:
    """Read ``COLUMN=KEEP``; a column alone leaves its size open."""
    from ..quotas import Quotas, parse_quota

    stages = []
    for text in value:
        name, equals, keep = text.rpartition("=")
        size = parse_quota(keep, "stage") if equals else None
        if isinstance(size, Quotas):
            raise InputError(None, f"--stage {text}: a stage keeps one number of cases", "write e.g. cheap=50%")
        stages.append((name if equals else text, size))
    return stages


def _costs(ctx: click.Context, param: click.Parameter, value: str | None) -> list[float] | None:
    try:
        return None if value is None else [float(part) for part in value.split(",")]
    except ValueError:
        raise InputError(None, f"--costs {value} is not a list of numbers", "write one for each stage: 1,10") from None


class ScreenArguments(o.Labelled, o.LabelValues, o.Resamples, o.Reading, o.Printed, o.Plotted):
    """The options of ``screen``."""

    stages: list[tuple[str, Any]] = option(
        "Score of a stage and how many it keeps (200 or 50%); without a size, it is chosen for you.",
        "--stage",
        multiple=True,
        required=True,
        callback=_stages,
        metavar="COLUMN[=KEEP]",
    )
    costs: list[float] | None = option("Cost of a case at each stage.", callback=_costs, metavar="A,B,…")
    budget: float | None = option("Choose missing sizes so that the total cost stays within this budget.")
    max_loss: float | None = share("Choose missing sizes so that at most this share of the positives is lost.")
    resamples: int = option("Bootstrap resamples.", default=400, show_default=True)


@command(
    ScreenArguments,
    """\
  cutline screen scores.csv --label y --stage cheap=50% --stage costly=200 --costs 1,10
  cutline screen scores.csv --label y --stage cheap --stage costly=200 --costs 1,10 --max-loss 5%
""",
    renames={"cost": "--costs", "quota": "--stage", "score": "--stage", "y_score": "--stage"},
)
def screen(asked: ScreenArguments) -> Report:
    """Screen cases in stages, each by its own score, best first.

    Prints for each stage what enters, what is kept and which share of the positives is lost, with intervals.
    """
    from ..decide.screening import screen as screen_arrays

    names = list(dict.fromkeys(name for name, _ in asked.stages))
    loaded = load_models(asked, names, several=len(names) > 1)
    scores = loaded.rows.scores
    pattern = next((name for name in names if name not in scores), None)
    if pattern is not None:
        problem = f"--stage {pattern}: a stage has one score, not {listed(loaded.columns.scores)}"
        raise InputError(None, problem, "name one of them")
    with about_file(loaded.table.name):
        made = screen_arrays(
            loaded.rows.positive,
            [(scores[name], keep) for name, keep in asked.stages],
            cost=asked.costs,
            budget=asked.budget,
            max_loss=asked.max_loss,
            **asked.drawn,
        )

    settings = {"rows": len(loaded.rows), "level": asked.level, "resamples": asked.resamples}
    sections = partial(made.sections, [name for name, _ in asked.stages])
    return Report(made, loaded.facts, settings, made.to_dict, made.stages.to_dicts, sections)


class VoteArguments(o.SeveralModels, o.LabelValues, o.Places, o.Resamples, o.Reading, o.Printed, o.Plotted):
    """The options of ``vote``."""

    rank_by: str = option("Measure that orders the models.", default="pem", show_default=True, metavar="NAME")
    vote: Any = choice("What to average.", ["score", "rank"], default="score")
    folds: int = option("Folds for choosing the number of models.", default=5, show_default=True)
    resamples: int = option("Bootstrap resamples.", default=200, show_default=True)


@command(
    VoteArguments,
    """\
  cutline vote scores.csv --label y --score 'm*'
  cutline vote scores.csv --label y --score 'm*' --rank-by qrecall@50 --vote rank --plot votes.png
""",
)
def vote(asked: VoteArguments) -> Report:
    """Average the scores of the best models: choose how many on held-out rows, and estimate the result."""
    from ..decide.voting import selective_voting

    loaded = load_models(asked, asked.scores)
    how: dict[str, Any] = {"rank_by": asked.rank_by, "vote": asked.vote, "folds": asked.folds, "quota": asked.quota}
    with about_file(loaded.table.name):
        made = selective_voting(loaded.rows.positive, loaded.rows.scores, **how, **asked.drawn)

    settings = {"rows": len(loaded.rows), "rank_by": asked.rank_by, "resamples": asked.resamples}
    return Report(made, loaded.facts, settings, made.to_dict, made.marks.to_dicts)


class LabelPlanArguments(o.FileArgument, o.LabelValues, o.Seeded, o.Text, o.Printed, o.Written):
    """The options of ``label-plan``."""

    score: str | None = column("Column with the score.", multiple=True, callback=o.one_score_given)
    budget: int = option("Number of rows you can label.", required=True)
    measure: str = option("Measure to estimate, e.g. qrecall@1000.", required=True, metavar="NAME")
    label: str | None = column("Labels known so far (empty if unknown); improves the plan.")
    prevalence: float | None = share("Expected share of positives, if no labels are known.")


@command(
    LabelPlanArguments,
    """\
  cutline label-plan scores.csv --score p --budget 500 --measure qrecall@1000 -o to_label.csv
  cutline label-plan scores.csv --score p --budget 200 --measure precision --label y -o next.csv
""",
)
def label_plan(asked: LabelPlanArguments) -> Report:
    """Choose which rows to label so that one measure is known as well as possible.

    -o writes FILE with two extra columns: "to_label" is 1 for the rows to look up, "inclusion" is the probability that
    each row had of being among them. Fill in the labels and run cutline evaluate with
    --inclusion inclusion on it.
    """
    from ..sampled_labels import label_plan as plan_rows
    from .select import output_kind, write_rows

    output_kind(asked.output)
    with opened(asked) as table:
        score = one_score(table, asked.score)
        every = load(table, asked, None, [score])
        labels = None
        if asked.label is not None:
            cells = table.column(asked.label, "label")
            if table.count([f"{cells.sql} IS NOT NULL"])[0]:
                labels = known_labels(table, asked, asked.label, score, len(every))[0]
        elif asked.positive is not None:
            raise InputError("pos_label", "goes with a label column", "name it with {label}")
        with about_file(table.name):
            made = plan_rows(
                every.scores[score],
                label=labels,
                budget=asked.budget,
                measure=asked.measure,
                prevalence=asked.prevalence,
                seed=asked.seed,
            )
        if asked.output is not None:
            chosen = np.zeros(len(every), np.int64)
            chosen[made.rows] = 1
            added = {"to_label": chosen.tolist(), "inclusion": made.inclusion.tolist()}
            write_rows(table, list(range(len(every))), asked.output, added, escaped=asked.escape_formulas)
            note(f"rows to label: {asked.output}")
    facts = {"file": asked.file, "score": score, **asked.named("label")}

    settings = {"rows": len(every), "budget": asked.budget, "measure": made.measure, "seed": asked.seed}
    return Report(made, facts, settings)

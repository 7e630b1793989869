"""Commands that tell what to do with scores: ``select``, ``cut``, ``plan``, ``screen`` and others."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import numpy as np

from ..errors import InputError, listed, show
from ..runtime import is_stream, write_whole
from ..table import Table
from . import options as o
from .options import choice, column, command, option, refuse, share
from .output import Report, emit, note, settings_line
from .reading import load, load_models, one_score, opened

if TYPE_CHECKING:
    from ..sources.duckdb import DuckTable


class CutArguments(
    o.Arguments, takes=[*o.ONE_MODEL, *o.LABELS, "weight", *o.GOALS, *o.ERROR_COSTS, *o.DRAWN, *o.READING, *o.PRINTED]
):
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
    if len(targets := list(dict.fromkeys("cost_fp" if name in o.ERROR_COSTS else name for name in goal))) != 1:
        remedy = "give one of {recall}, {precision}, {specificity}, {fpr}, {maximize}, or {cost_fp} with {cost_fn}"
        each = " and ".join(f"{{{name}}}" for name in targets)
        raise InputError(None, f"{each} each set the cut" if targets else "no target given", remedy)
    loaded = load_models(asked)
    goal |= asked.named("confidence", "prevalence")
    how: dict[str, Any] = {"sample_weight": loaded.rows.weight, **asked.drawn, **goal}
    made = cast("Any", threshold_for(*loaded.arrays, **how))
    if asked.output is not None:
        made.save(asked.output, score=loaded.score)
        note(f"cut: {asked.output}")
    settings = {"rows": len(loaded.rows), **goal, "seed": asked.seed}
    here = made.point.to_dict() if loaded.columns.label else {**made.point.to_dict(), "pearson": None}  # of counts
    document = lambda: {**made.to_dict(), "here": here}  # noqa: E731
    return Report(made, loaded.facts, settings, document, made.here.to_dicts)


class PlanArguments(
    o.Arguments,
    takes=[*(*o.ONE_MODEL, *o.LABELS, "quota", "cut_by", "cluster", *o.DRAWN), *(*o.READING, *o.PRINTED, *o.PLOT)],
):
    """The options of ``plan``."""

    cost: float | str = o.price("Cost of each case selected: an amount, or the column that has it.", required=True)
    value: float | str = o.price("Value of each hit: an amount, or the column that has it.", required=True)
    budget: float | None = option("Total budget; it limits the number of cases.")


@command(
    PlanArguments,
    """\
  cutline plan scores.csv --label y --score p --cost 2 --value 50
  cutline plan scores.csv --label y --score p --cost 2 --value 50 --budget 10000 --plot profit.png
  cutline plan scores.csv --cost 2 --value 50 --quota 5% --format csv > profit-curve.csv
  cutline plan claims.csv --label fraud --score p --cost effort --value amount --budget 500 --cut-by value_per_cost
""",
)
def plan(asked: PlanArguments) -> Report:
    """Find the most profitable number of cases: profit is value × hits − cost × cases.

    --quota limits the number of cases, --budget the total cost. --format csv prints the whole profit curve. --cost
    and --value may name columns, if they differ from case to case; --cut-by then chooses the list that is cut.
    """
    from ..decide.planning import plan as plan_arrays

    prices: dict[str, Any] = {"cost": asked.cost, "value": asked.value}
    loaded = load_models(asked, amounts=list(dict.fromkeys(p for p in prices.values() if isinstance(p, str))))
    how: dict[str, Any] = {name: loaded.amounts.get(price, price) for name, price in prices.items()}
    how |= {**asked.named("budget", "quota", "cut_by"), "clusters": loaded.rows.clusters, **asked.drawn}
    made = plan_arrays(*loaded.arrays, **how)

    def document() -> dict[str, Any]:
        here = {"threshold": getattr(made.cut, "threshold", None), "hits_here": getattr(made.cut, "tp", None)}
        here |= {"next_hits_low": made.next_hits.low, "next_hits_high": made.next_hits.high}
        size = {"rows": len(made.taken) - 1, "n_resamples": asked.resamples}
        return {**size, **made.to_dict(), **here, "curve": made.curve.to_dicts()}

    settings = {"rows": len(loaded.rows), **asked.named("cost", "value", "budget", "quota", *o.DRAWN)}
    return Report(made, loaded.facts, settings, document, lambda: list(made.curve))


class UpliftArguments(
    o.Arguments, takes=["file", "scores", "positive", "level", *o.READING, *o.PRINTED, "html", "plot"]
):
    """The options of ``uplift``."""

    treated: str = column("Column that tells which rows were treated, 1 or 0 (see --positive).", required=True)
    outcome: str = column("Column with what came of each row: 0 or 1, or an amount.", required=True)
    propensity: str | None = column("Column with the probability of each row to be treated (default: one for all).")
    quota: Any = option(
        "Cases to treat: 200 or 20%.", callback=o.parsed(o.read_quota), default="20%", show_default=True, metavar="N|P%"
    )


@command(
    UpliftArguments,
    """\
  cutline uplift trial.csv --treated mailed --outcome bought --score p
  cutline uplift trial.csv --treated mailed --outcome bought --score p --score q --quota 10% --html uplift.html
""",
)
def uplift(asked: UpliftArguments) -> Report:
    """Estimate what treating the cases with the highest scores brings, from a randomised trial.

    FILE has one row per case: whether it was treated, what came of it, and its score. Several scores are compared on
    the same rows.
    """
    from ..decide.targeting import uplift as uplift_of
    from ..sources.profiles import matching

    if not asked.scores:
        raise InputError("score", "is missing", "name the column of each targeting score with {score}")
    columns: dict[str, Any] = asked.named("treated", "outcome", "propensity")
    with opened(asked) as table:
        names = [name for pattern in asked.scores for name in matching(table, pattern)]
        score: Any = names if len(names) > 1 else names[0]
        how: dict[str, Any] = {"pos_label": asked.pos_label, "quota": asked.quota, "level": asked.level}
        made: Any = uplift_of(table, **columns, score=score, **how)
    facts = {"file": asked.file, **columns, "score": ", ".join(names)}
    return Report(made, facts, {"quota": asked.quota, "level": asked.level}, made.to_dict, page=made.to_html)


def _stages(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> list[tuple[str, Any]]:
    """Read ``COLUMN=KEEP``."""
    from ..quotas import Quotas, parse_quota

    stages = []
    for text in value:
        name, equals, keep = text.rpartition("=")
        size = parse_quota(keep, "stage") if equals else None
        if size is None or isinstance(size, Quotas):
            raise InputError(None, f"--stage {text}: a stage keeps one number of cases", "write e.g. cheap=50%")
        stages.append((name, size))
    return stages


def _costs(value: str) -> list[float]:
    try:
        return [float(part) for part in value.split(",")]
    except ValueError:
        raise InputError(None, f"--costs {value} is not a list of numbers", "write one for each stage: 1,10") from None


class ScreenArguments(o.Arguments, takes=["file", "label", *o.LABELS, *o.DRAWN, *o.READING, *o.PRINTED]):
    """The options of ``screen``."""

    stages: list[tuple[str, Any]] = option(
        "Score of a stage and how many it keeps: 200 or 50%.",
        "--stage",
        multiple=True,
        required=True,
        callback=_stages,
        metavar="COLUMN=KEEP",
    )
    costs: list[float] | None = option("Cost of a case at each stage.", callback=o.parsed(_costs), metavar="A,B,…")
    resamples: int = option("Bootstrap resamples.", default=400, show_default=True)


@command(
    ScreenArguments,
    """\
  cutline screen scores.csv --label y --stage cheap=50% --stage costly=200 --costs 1,10
""",
    renames={"cost": "--costs", "quota": "--stage", "score": "--stage", "y_score": "--stage"},
)
def screen(asked: ScreenArguments) -> Report:
    """Screen cases in stages, each by its own score, best first.

    Prints for each stage what enters, what is kept and which share of the positives is lost, with intervals.
    """
    from ..decide.selection import screen as screen_arrays

    names = list(dict.fromkeys(name for name, _ in asked.stages))
    loaded = load_models(asked, names, several=len(names) > 1)
    scores = loaded.rows.scores
    pattern = next((name for name in names if name not in scores), None)
    if pattern is not None:
        problem = f"--stage {pattern}: a stage has one score, not {listed(loaded.columns.scores)}"
        raise InputError(None, problem, "name one of them")
    stages = [(scores[name], keep) for name, keep in asked.stages]
    made = screen_arrays(loaded.rows.positive, stages, cost=asked.costs, **asked.drawn)
    settings = {"rows": len(loaded.rows), "level": asked.level, "resamples": asked.resamples}
    named = zip(asked.stages, made.stages, strict=True)
    made = replace(made, stages=Table([{"score": name, **row} for (name, _), row in named]))
    return Report(made, loaded.facts, settings, made.to_dict, made.stages.to_dicts)


class VoteArguments(
    o.Arguments,
    takes=["file", "label", "scores", "negate", *o.LABELS, "quota", *o.DRAWN, *o.READING, *o.PRINTED, *o.PLOT],
):
    """The options of ``vote``."""

    rank_by: str | None = option("Measure that orders models (default: pem; with --quota hit_rate).", metavar="NAME")
    folds: int = option("Folds for choosing the number of models.", default=5, show_default=True)
    resamples: int = option("Bootstrap resamples.", default=200, show_default=True)


@command(
    VoteArguments,
    """\
  cutline vote scores.csv --label y --score 'm*'
  cutline vote scores.csv --label y --score 'm*' --rank-by qrecall@50 --plot votes.png
""",
)
def vote(asked: VoteArguments) -> Report:
    """Average the scores of the best models; choose how many, with --quota for the hits in these places."""
    from ..papers import DEFAULT_MARKS, selective_voting

    loaded = load_models(asked, asked.scores)
    how: dict[str, Any] = {"rank_by": asked.rank_by or "pem", "folds": asked.folds, "quota": asked.quota}
    if asked.quota is not None:  # the hits in these places, instead of the average over all quotas
        how |= {"rank_by": asked.rank_by or "hit_rate", "marks": ["hit_rate", *DEFAULT_MARKS[1:]]}
    made = selective_voting(loaded.rows.positive, loaded.rows.scores, **how, **asked.drawn)

    settings = {"rows": len(loaded.rows), "rank_by": how["rank_by"], "resamples": asked.resamples}
    return Report(made, loaded.facts, settings, made.to_dict, made.marks.to_dicts)


class LabelPlanArguments(o.Arguments, takes=["file", "seed", *o.TEXT_FORMAT, *o.PRINTED, "output", "score"]):
    """The options of ``label-plan``."""

    budget: int = option("Number of rows you can label.", required=True)
    measure: str = option("Measure to estimate, e.g. qrecall@1000.", required=True, metavar="NAME")
    prevalence: float | None = share("Expected share of positives.")


@command(
    LabelPlanArguments,
    """\
  cutline label-plan scores.csv --score p --budget 500 --measure qrecall@1000 -o to_label.csv
""",
)
def label_plan(asked: LabelPlanArguments) -> Report:
    """Choose which rows to label so that one measure is known as well as possible.

    -o writes FILE with two extra columns: "to_label" is 1 for the rows to look up, "inclusion" is the probability that
    each row had of being among them. Fill in the labels and run cutline evaluate with
    --inclusion inclusion on it.
    """
    from ..sampled_labels import label_plan as plan_rows

    output_kind(asked.output)
    with opened(asked) as table:
        score = one_score(table, asked.score)
        every = load(table, asked, None, [score])
        how: dict[str, Any] = {"budget": asked.budget, "measure": asked.measure, "prevalence": asked.prevalence}
        made = plan_rows(every.scores[score], seed=asked.seed, **how)
        if asked.output is not None:
            chosen = np.zeros(len(every), np.int64)
            chosen[made.rows] = 1
            added = {"to_label": chosen.tolist(), "inclusion": made.inclusion.tolist()}
            write_rows(table, list(range(len(every))), asked.output, added)
            note(f"rows to label: {asked.output}")
        elif asked.form in ("table", "markdown"):
            note("rows to label: add -o to_label.csv, or --format csv")
    facts = {"file": asked.file, "score": score}

    settings = {"rows": len(every), "budget": asked.budget, "measure": made.measure, "seed": asked.seed}
    return Report(made, facts, settings)


# ---------------------------------------------------------------------------------------------------- rows, written


class SelectArguments(
    o.Arguments,
    takes=["file", "score", "negate", "worth", "batch", "seed", *o.READING, "output", "quota", "cut_by", "quiet"],
):
    """The options of ``select``."""

    quota: int | float | None = option("Places: 200 or 5%.", callback=o.parsed(o.read_quota), metavar="N|P%")
    cost: str | None = column("With --worth: column with what each row costs.")
    cut: str | None = option("Apply a cut file (see: cutline cut).", type=o.InputFile(), metavar="PATH")
    ties: Any = choice(
        "Ties at the cut: draw lots, take all, or none.", ["random", "expand", "shrink"], default="random"
    )


@command(
    SelectArguments,
    """\
  cutline select scores.csv --score p --quota 20 -o chosen.csv
  cutline select scores.parquet --score p --quota 5% --ties expand -o chosen.parquet
  cutline select scores.csv --score p --quota 20 | cut -d, -f1
  cutline select claims.csv --score p --quota 100 --batch day -o chosen.csv
  cutline select claims.csv --score p --quota 100 --worth amount --cut-by value -o chosen.csv
  cutline select new-scores.csv --score p --cut cut.json
""",
)
def select(asked: SelectArguments) -> None:
    """Choose the rows with the highest scores for a number of places (with --batch for each batch), best first.

    With --cut those above a cut.

    All columns of FILE are kept; "place" is added as the first one. Without -o the rows go to standard
    output as CSV.
    """
    from ..decide.selection import above
    from ..decide.selection import select as select_rows
    from ..decide.thresholds import read_cut_file

    quota, batch, seed = asked.quota, asked.batch, asked.seed
    if (quota is None) == (asked.cut is None):  # exactly one
        raise InputError(None, "give either --quota or --cut", "")
    if quota is None:
        refuse(asked, ("batch", "worth", "cost", "cut_by"), "goes with a {quota}", "leave it out, or give a {quota}")
    cut = None if asked.cut is None else read_cut_file(asked.cut)
    output_kind(asked.output)
    with opened(asked) as table:
        score = asked.score
        if score is None and cut is not None and cut.get("score") in table.named:
            score = str(cut["score"])
        worth = {role: table.column(name, role).name for role, name in asked.named("worth", "cost").items()}
        score = one_score(table, score, [*worth.values(), batch])
        asked.negate = (score,) if "*" in asked.negate else asked.negate
        rows = load(table, asked, None, list(dict.fromkeys([score, *worth.values()])))
        if cut is None:
            assert quota is not None
            how: dict[str, Any] = {name: rows.scores[column] for name, column in worth.items()}
            how |= {"ties": asked.ties, "seed": seed, "batch": rows.batch, "cut_by": asked.cut_by}
            chosen = select_rows(rows.scores[score], quota, **how)
        else:
            chosen = above(rows.scores[score], cut["threshold"])
        at = chosen.indices if rows.source_rows is None else rows.source_rows[chosen.indices]
        taken = [len(at)] if chosen.batches is None else chosen.batches.column("chosen")  # a place is one of its batch
        added = {"place": [k for n in taken for k in range(1, n + 1)]}
        write_rows(table, at.tolist(), asked.output, added)
    note(chosen.note)
    if cut is not None and len(rows) > 1 and len(chosen.indices) in (0, len(rows)):
        who = "every" if len(chosen.indices) else "no"
        note(f"note: {who} score lies above the cut {cut['threshold']:g}: are the scores on the scale of the cut file?")
    if cut is not None and cut.get("score") not in (None, score):
        note(f"note: the cut was made for the score {cut['score']!r}, and {score!r} is used here")
    how = {**worth, **asked.named("batch", *(["cut_by"] if worth else []))}
    how |= {"quota": chosen.quota, "ties": asked.ties, "seed": seed} if cut is None else {"cut": asked.cut}
    note(settings_line(file=asked.file, score=score, rows=len(rows), **how))
    if asked.output is not None:
        note(f"chosen: {asked.output}")


def write_rows(table: DuckTable, rows: list[int], output: str | None, added: Mapping[str, list[Any]]) -> None:
    """Copy rows out of the file, in the order given, with columns added before them; every cell as it stands.

    CSV keeps the file's delimiter. A name that the file has already gets an underscore.
    """
    from ..sources.rules import LABEL_CELL
    from ..sources.sql_table import DUCKDB

    first = [name + "_" * next(k for k in itertools.count() if name + "_" * k not in table.named) for name in added]
    kind = output_kind(output)
    cells = [f"f.v{k} AS {DUCKDB.name(column.name or 'column')}" for k, column in enumerate(table.columns)]
    cells = [f"c.a{k} AS {DUCKDB.name(name)}" for k, name in enumerate(first)] + cells
    # Row numbers and added columns travel as lists; DuckDB numbers the rows of a file in their order.
    lists = [f"unnest({rows}::BIGINT[]) AS n", f"unnest(range({len(rows)})) AS nth"]
    for k, values in enumerate(added.values()):
        typed = "DOUBLE" if any(isinstance(v, float) for v in values) else "BIGINT"
        lists.append(f"unnest({values}::{typed}[]) AS a{k}")
    cast = {}
    if kind in ("parquet", "json"):  # text that is a number throughout is one there; 007 is a code
        texts = {column.name: column.sql for column in table.columns if column.kind == "text"}
        numbers = [f"{DUCKDB.matches(cell, LABEL_CELL)} AND length({cell}) < 16" for cell in texts.values()]
        fractions = [DUCKDB.matches(cell, ".*[.eE].*") for cell in texts.values()]
        counts = table.count([*(f"NOT ({fits})" for fits in numbers), *fractions]) if texts else []  # one pass for all
        for (name, cell), other, broken in zip(texts.items(), counts, counts[len(texts) :], strict=False):
            if not other:
                cast[name] = f"CAST({cell} AS {'DOUBLE' if broken else 'BIGINT'})"
    stored = ", ".join(f"{cast.get(column.name, column.sql)} AS v{k}" for k, column in enumerate(table.columns))
    query = (
        f"SELECT {', '.join(cells)} FROM (SELECT {stored}, {table.row} AS n FROM {table.numbered}) f "
        f"JOIN (SELECT {', '.join(lists)}) c ON c.n = f.n ORDER BY c.nth"
    )
    if output is not None and kind in ("parquet", "json"):
        with write_whole(output) as beside:
            table.execute(f"COPY ({query}) TO {DUCKDB.literal(str(beside))} (FORMAT {kind})")
        return
    file = table.files.files[0] if table.files is not None else None
    kept = file.delimiter if file is not None and file.kind == "csv" else ","  # what is copied keeps its own
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t" if kind == "tsv" else kept, lineterminator="\n")
    writer.writerows([[*first, *(column.heading for column in table.columns)], *table.rows(query)])
    if output is None:
        emit(text.getvalue().removesuffix("\n"))
        return
    with write_whole(output) as beside:
        beside.write_text(text.getvalue(), encoding="utf-8", newline="")


def output_kind(output: str | None) -> str:
    """The format that the ending of a file's name stands for."""
    from ..sources.file_formats import KINDS

    ending = "" if output is None else Path(output).suffix.lower()
    if output is None or (not ending and is_stream(output)):
        return "csv"
    if ending not in KINDS or KINDS[ending] == "excel":
        said = f"{show(ending)} is not a known format" if ending else "its name has no ending"
        raise InputError(None, said, "end it in .csv, .tsv, .parquet or .jsonl", where=f"-o {output}")
    return KINDS[ending]

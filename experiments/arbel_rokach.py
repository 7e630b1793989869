"""Arbel & Rokach: Tables 2, 3 and 5; selective voting on made data; 20 UCI sets; Weka's own score lists."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import arbel_scores
import arbel_tables
import arbel_uci
import arbel_voting
from report import SHARED, Report, in_parallel, new_figure, options, say
from uci import SETS, load

PARTS = ("tables", "voting", "uci", "scores")
QUICK_ROWS = 1000  # quick mode leaves out larger sets


def arguments(given: list[str] | None) -> Any:
    """Where data are, and what to run."""
    parser = options("arbel-rokach", __doc__)
    parser.add_argument("--part", choices=PARTS, action="append", help="run only this part (may be repeated)")
    parser.add_argument("--data", type=Path, help="folder with the UCI files (ARFF or .data), searched with subfolders")
    parser.add_argument("--scores", type=Path, help="folder with score lists SET.MODEL.csv.gz (MODEL: J48, NB, NN)")
    parser.add_argument("--order-on", choices=["train", "test"], default="train", help="cases that order the 52 models")
    parser.add_argument("--splits", type=int, help="splits of each UCI set (default 2; 5 with --full)")
    args = parser.parse_args(given)
    for name, folder in (("data", "uci"), ("scores", "quota/weka66-scores")):
        if getattr(args, name) is None and (SHARED / folder).is_dir() and args.full:
            setattr(args, name, SHARED / folder)
        elif getattr(args, name) is not None and not getattr(args, name).is_dir():
            parser.error(f"--{name}: there is no folder {getattr(args, name)}")
    return args


def run_tables(report: Report) -> None:
    """Tables 2, 3 and 5."""
    rows = arbel_tables.rows()
    report.table("Tables 2, 3 and 5", rows, "tables-2-3-5")
    agree = sum(one["verdict"] == "agrees" for one in rows)
    report.text(f"{agree} of {len(rows)} printed numbers agree to their last digit.")


def run_voting(report: Report, args: Any) -> None:
    """Section 4.2 on made data, several experiments side by side."""
    repeats = 100 if args.full else 4
    given = [(args.seed * 1000 + k, args.order_on) for k in range(repeats)]
    what = f"selective voting, {arbel_voting.MISSIONS} models"
    votes = in_parallel(arbel_voting.experiment, given, what, processes=args.full)
    six = arbel_voting.table_6(votes, arbel_scores.PRINTED["table 6"])
    seven = arbel_voting.table_7(votes, arbel_scores.PRINTED["table 7"])
    report.table("Table 6: number of models at which each mark is best, experiments 1–4", six, "table-6")
    report.table("Table 7: correlation between marks over X, experiments 1–4", seven, "table-7")
    report.text("The company's data are private; made data stand in, so only the shape can be compared.")
    figure, axes = new_figure(2, 2, (9.5, 6.6), sharex=True)
    arbel_voting.draw(figure, axes, votes)
    report.figure(figure, "figure-10-selective-voting")
    figure, axes = new_figure(1, 2, (9.5, 4.6), sharex=True, sharey=True)
    arbel_voting.draw_correlations(figure, axes, votes, arbel_scores.PRINTED["table 7"])
    report.figure(figure, "figure-11-correlations")


def run_uci(report: Report, args: Any) -> None:
    """Section 4.3 with scikit-learn's learners, on the sets at hand."""
    splits = args.splits or (5 if args.full else 2)
    sets = []
    for name in SETS:
        data, where = load(name, args.data, network=args.full)
        if data is None:
            say(f"{name}: left out, {where}")
        elif len(data) > QUICK_ROWS and not args.full:
            say(f"{name}: left out, {len(data)} rows are for --full")
        else:
            say(f"{name}: {len(data)} rows, {where}")
            sets.append(data)
    sets.sort(key=len, reverse=True)  # the longest first, so that both cores end together
    given = [(data, splits, args.seed) for data in sets]
    with warnings.catch_warnings():
        # Threads share one list of filters and restore it in any order: what all of them ignore is said around them.
        warnings.simplefilter("ignore")
        judged = in_parallel(arbel_uci.judge, given, "sets done", processes=args.full)
    found = [one for some in judged for one in some]
    rows = arbel_uci.rows(found)
    report.keep(found, "tables-8-9-by-split")
    report.table(f"Tables 8 and 9: {len(sets)} sets, {splits} splits, scikit-learn's learners", rows, "tables-8-9")
    compared, apart = arbel_uci.choices(found, "AUC", "PEM")
    report.text(f"AUC and PEM pick different models in {len(apart)} of {compared} comparisons: PEM = 2·AUC − 1.")
    for first, second in (("average Qrecall", "average hit rate"), ("average Qrecall", "PEM")):
        compared, apart = arbel_uci.choices(found, first, second)
        where = f": {', '.join(apart)}" if apart else ""
        report.text(f"{first} and {second} pick different models in {len(apart)} of {compared}{where}.")
    figure, axes = new_figure(1, 2, (9.5, 4.6))
    for ax, measure in zip(axes, ("AUC", "average hit rate"), strict=True):
        chosen = [one for one in rows if one["what"].endswith(measure)]
        for k, model in enumerate(arbel_uci.MODELS):
            some = [one for one in chosen if f", {model}:" in one["what"]]
            x, y, bar = ([float(one[key] or 0) for one in some] for key in ("printed", "ours", "spread"))
            ax.errorbar(x, y, bar, fmt="o", color=f"C{k}", markersize=4, linewidth=0.8, label=model)
        ax.axline((0.5, 0.5), slope=1, color="grey", linewidth=0.8)
        ax.set_xlabel(f"{measure}, printed (Weka)")
        ax.set_ylabel(f"{measure}, ours (mean and SD over splits)")
        ax.grid(alpha=0.3)
    axes[0].legend(fontsize=8)
    report.figure(figure, "tables-8-9")


def run_scores(report: Report, folder: Path) -> None:
    """Tables 8 and 9 from Weka's score lists."""
    say(f"score lists of {len(arbel_scores.set_names(folder))} sets")
    rows = arbel_scores.rows(folder)
    matching = arbel_scores.matching_sets(rows)
    hidden = ("set", "class", "model", "measure")
    shown = [one for one in rows if f"{one['set']} ({one['class']})" in matching]
    report.table("Weka's score lists, where all three printed AUCs come out", shown, "scores-matching", but=hidden)
    report.table(
        "All score lists: how many printed values each reading reaches", arbel_scores.summary(rows), "scores-summary"
    )
    report.table("The same for the sets whose AUCs come out", arbel_scores.summary(shown), "scores-matching-summary")
    compared, apart = arbel_uci.choices(arbel_scores.by_model(rows), "average Qrecall", "average hit rate")
    report.text(
        f"On these scores average Qrecall and average hit rate pick different models in {len(apart)} of {compared}: "
        f"{', '.join(name.partition(',')[0] + ')' for name in apart)}."
    )
    report.text(
        f"AUCs come out for {', '.join(matching)}.",
        "Not by the definitions: C4.5's PEM and averages keep tied cases in the order of the list, the first best",
        "(A3, A6), and average Qrecall runs over the places n⁺+1 … n instead of n⁺ … n (A5).",
    )
    figure, ax = new_figure(size=(7.6, 5.0))
    arbel_scores.draw(ax, rows)
    report.figure(figure, "pem-between-tie-orders")


def main(given: list[str] | None = None) -> None:
    """Run, print, write."""
    args = arguments(given)
    report = Report("arbel-rokach", args.out)
    parts = args.part or PARTS
    if "tables" in parts:
        run_tables(report)
    if "voting" in parts:
        run_voting(report, args)
    if "uci" in parts:
        run_uci(report, args)
    if "scores" in parts and args.scores is not None:
        run_scores(report, args.scores)
    elif "scores" in parts:
        say("score lists: none given; name their folder with --scores DIR")
    report.done()


if __name__ == "__main__":
    main()

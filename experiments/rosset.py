"""Rosset: does Linear Ranking pick the better model more often than the misclassification rate?

Two simulations (naive Bayes, K nearest neighbours), each with 20 training sets of 1000 cases and, for each of them,
100 test sets of 100 cases. The paper leaves some choices open; they are options here, and the defaults are the
readings that come closest to the printed tables (chosen after the fact, so closeness is no independent evidence).
"""

from __future__ import annotations

import sys
import time
import timeit
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cutline as cl
from cutline.papers import SelectionPower, selection_power
from populations_rosset import NEIGHBOURS, NaiveBayes, Neighbours, only_first_error, sum_of_two, value_of_first
from report import Report, against_binomial, against_spread, new_figure, one_thread_each, options, row, say

Floats = NDArray[np.float64]
TRAINING_SETS, TRAINING_SIZE, TEST_SETS, TEST_SIZE = 20, 1000, 100, 100
MC, LR = "error_rate", "linear_ranking"
BETTER = "m2"
# The paper's question for a list with places: more hits among the best tenth instead of fewer errors.
QUOTA_GOAL = "hit_rate@10%"
QUOTA_SELECTORS = [QUOTA_GOAL, "hit_rate@20%", "average_hit_rate", "average_precision", "roc_auc", "accuracy"]

# Section 4.1, 4.2 and Tables 1, 2 of the paper. The third row counts training sets on which m2 won at least so often.
PRINTED = {
    "naive Bayes": {"m1": 33.5, "m2": 27.5, "at least": 100, MC: (90.05, 69, 1), LR: (98.60, 95, 8)},
    "K-NN": {"m1": 28.5, "m2": 26.5, "at least": 80, MC: (69.72, 61, 0), LR: (92.6, 86, 20)},
}
NAMES = {MC: "misclassification", LR: "Linear Ranking"}


@dataclass(frozen=True)
class Design:
    """One simulation: a population, and how the two models are trained on a sample of it."""

    name: str
    simulate: Callable[[np.random.Generator, int], tuple[Floats, NDArray[np.bool_]]]
    train: Callable[[np.random.Generator], Mapping[str, Any]]


def designs(args: Any) -> dict[str, Design]:
    """The paper's designs, and the reading of K-NN votes that fits its misclassification column."""

    def bayes(rng: np.random.Generator) -> Mapping[str, Any]:
        x, y = sum_of_two(rng, TRAINING_SIZE)
        fit = NaiveBayes.fit(x[:, :2], y, args.discretise, args.max_intervals, args.alpha)
        return {"m1": ordered(fit.first_only), "m2": ordered(fit.both)}

    def neighbours(next_decides: bool) -> Callable[[np.random.Generator], Mapping[str, Any]]:
        def train(rng: np.random.Generator) -> Mapping[str, Any]:
            fit = Neighbours(*value_of_first(rng, TRAINING_SIZE), next_decides=next_decides)
            return {"m1": ordered(fit.scorer(NEIGHBOURS[0])), "m2": ordered(fit.scorer(NEIGHBOURS[1]))}

        return train

    def ordered(score: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
        if args.ties == "midrank":
            return score
        # Ties in the order of the input: lowered by less than any gap, the first case of a tie most.
        return lambda x: score(x) - 1e-9 * np.arange(len(x), 0, -1) / len(x)

    return {
        "naive Bayes": Design("naive Bayes", sum_of_two, bayes),
        "K-NN": Design("K-NN", value_of_first, neighbours(False)),
        "K-NN, next neighbour": Design("K-NN, next neighbour", value_of_first, neighbours(True)),
    }


def run(design: Design, measures: list[str] | None, repeats: float, seed: int, **keywords: Any) -> SelectionPower:
    """One design, ``repeats`` experiments of the paper's size in one go."""
    with one_thread_each():
        return selection_power(
            design.simulate,
            design.train,
            measures,
            **{"better": BETTER, **keywords},
            n_rounds=int(TRAINING_SETS * repeats),
            n_sets=TEST_SETS,
            set_size=TEST_SIZE,
            seed=seed,
            progress=sys.stderr.isatty(),
        )


def experiments(values: Floats, statistic: Callable[[Floats], Floats], seed: int) -> tuple[float, float]:
    """Mean and SD of a statistic over experiments of 20 training sets, drawn from all that were run."""
    rng = np.random.default_rng(seed)
    drawn = statistic(rng.choice(values, size=(4000, TRAINING_SETS)))
    return float(drawn.mean()), float(drawn.std())


def compare_with_table(design: str, power: SelectionPower, wins: str, seed: int) -> list[dict[str, Any]]:
    """The paper's rows beside ours."""
    printed = PRINTED[design]
    counted = power.counted(wins)  # type: ignore[arg-type]
    repeats = len(power.won) / TRAINING_SETS
    rows = []
    for k, model in enumerate(power.models):
        errors = 100 * power.means[:, k, power.column(MC)]
        mean, spread = experiments(errors, lambda drawn: drawn.mean(axis=1), seed)
        verdict = against_spread(printed[model], mean, spread, repeats)
        rows.append(row(f"error rate of {model}, %", printed[model], round(mean, 2), round(spread, 2), verdict))
    enough = printed["at least"]
    statistics = {
        "average": lambda drawn: drawn.mean(axis=1),
        "minimum": lambda drawn: drawn.min(axis=1),
        f"training sets with ≥ {enough}": lambda drawn: (drawn >= enough - 1e-9).sum(axis=1),
    }
    for measure in (MC, LR):
        share = 100 * counted.picked[:, counted.column(measure)]
        for (what, statistic), value in zip(statistics.items(), printed[measure], strict=True):
            mean, spread = experiments(share, statistic, seed)
            if "≥" in what:
                verdict = against_binomial(value, TRAINING_SETS, float(np.mean(share >= enough - 1e-9)))
            else:
                verdict = against_spread(value, mean, spread, repeats)
            rows.append(row(f"{NAMES[measure]}: {what}", value, round(mean, 2), round(spread, 2), verdict))
    return rows


def exact_errors() -> list[dict[str, Any]]:
    """Bayes errors of the two populations, by quadrature and from a million cases."""
    rng = np.random.default_rng(0)
    rows = []
    for name, simulate in (("naive Bayes", sum_of_two), ("K-NN", value_of_first)):
        x, y = simulate(rng, 1_000_000)
        error = cl.error_rate(y, simulate.probability(x))
        rows.append(row(f"Bayes error, {name}", "0.25 (exact)", error, 0.0004, against_spread(0.25, error, 0.0004)))
    exact = only_first_error()
    x, y = sum_of_two(rng, 1_000_000)
    error = cl.error_rate(y, x[:, 0])
    rows.append(
        row("best error from x₁ alone", f"{exact:.6f} (exact)", error, 0.0005, against_spread(exact, error, 5e-4))
    )
    return rows


def groups(powers: Mapping[str, SelectionPower]) -> list[list[str]]:
    """Measures with the same wins and ties in every round of every design, as one; the best of the first design first.

    In one design alone, measures that have nothing in common may all be right on every test set.
    """
    found: dict[bytes, list[str]] = {}
    first = next(iter(powers.values()))
    counts = np.concatenate([part for power in powers.values() for part in (power.won, power.shared, power.undecided)])
    for k, name in enumerate(first.measures):
        found.setdefault(counts[:, k].tobytes(), []).append(name)
    return sorted(found.values(), key=lambda names: -first[names[0]].value)


def every_measure(powers: Mapping[str, SelectionPower]) -> list[dict[str, Any]]:
    """How often each measure of the catalogue picks the better model; those that agree in both designs in one row."""
    return [
        {
            "measure": " = ".join(names),
            **{design: round(power[names[0]].value, 4) for design, power in powers.items()},
        }
        for names in groups(powers)
    ]


def quota_goal(powers: Mapping[str, SelectionPower]) -> list[dict[str, Any]]:
    """How often each measure picks the model with more hits in the best tenth of the list, in both designs."""
    rows = []
    for measure in QUOTA_SELECTORS:
        estimates = {design: power[measure] for design, power in powers.items()}
        shares = {design: f"{one.value:.3f} ({one.low:.3f} to {one.high:.3f})" for design, one in estimates.items()}
        rows.append({"measure": measure, **shares})
    return sorted(rows, key=lambda found: found["K-NN"], reverse=True)


def scikit_learn_ratio(seed: int) -> str:
    """Judging 100 test sets by two measures for two models: our time against a loop over scikit-learn's functions."""
    from sklearn.metrics import accuracy_score, roc_auc_score

    x, y = sum_of_two(np.random.default_rng(seed), TEST_SETS * TEST_SIZE)
    scores = {"m1": np.round(x[:, 0], 1), "m2": np.round(sum_of_two.probability(x), 1)}

    def ours() -> SelectionPower:
        models = {name: lambda at, s=s: s[at] for name, s in scores.items()}
        cases = np.arange(len(y))
        return selection_power(lambda rng, n: (cases, y), models, [MC, LR], better=BETTER, n_rounds=1, n_jobs=1)

    def loop() -> None:
        for s in scores.values():
            for first in range(0, len(y), TEST_SIZE):
                part = slice(first, first + TEST_SIZE)
                accuracy_score(y[part], s[part] > 0.5)
                roc_auc_score(y[part], s[part])

    times = {}
    for name, job in (("ours", ours), ("loop", loop)):
        job()
        times[name] = min(timeit.repeat(job, number=1, repeat=3))
    return (
        f"Judging {TEST_SETS} test sets by two measures for two models: {times['ours'] * 1e3:.1f} ms; "
        f"a loop over scikit-learn {times['loop'] * 1e3:.0f} ms, {times['loop'] / times['ours']:.0f} times as long."
    )


def draw_tables(report: Report, powers: Mapping[str, SelectionPower], rules: Mapping[str, str]) -> None:
    """Wins by training set for both measures, with the printed averages."""
    figure, axes = new_figure(1, len(powers), (4.2 * len(powers), 4.2), sharey=True)
    for ax, (design, power) in zip(axes, powers.items(), strict=True):
        printed = PRINTED[design.split(",")[0]]
        counted = power.counted(rules[design])  # type: ignore[arg-type]
        for k, measure in enumerate((MC, LR)):
            share = 100 * counted.picked[:, counted.column(measure)]
            jitter = np.random.default_rng(1).uniform(-0.22, 0.22, len(share))
            ax.plot(k + jitter, share, ".", color=f"C{k}", alpha=0.4, markersize=5)
            ax.hlines(share.mean(), k - 0.3, k + 0.3, color=f"C{k}", linewidth=2)
            ax.plot(k, printed[measure][0], "D", color="black", markersize=7, markerfacecolor="none")
        ax.set_xticks([0, 1], [NAMES[MC], NAMES[LR]])
        ax.set_xlim(-0.5, 1.5)
        ax.set_title(f"{design} ({rules[design]} wins)", fontsize=10)
        ax.grid(axis="y", alpha=0.3)
    axes[0].set_ylabel("test sets on which m₂ is picked, %")
    figure.suptitle("A dot is one training set; line: our mean; diamond: the paper's average", fontsize=10)
    report.figure(figure, "tables")


def draw_measures(report: Report, powers: Mapping[str, SelectionPower]) -> None:
    """Every measure as a selector, in both designs."""
    found = groups(powers)[::-1]
    figure, ax = new_figure(size=(8.6, 0.27 * len(found) + 1.2))
    for shift, (design, power) in enumerate(powers.items()):
        estimates = [power[names[0]] for names in found]
        y = np.arange(len(found)) + 0.15 - 0.3 * shift
        for at, one in zip(y, estimates, strict=True):
            ax.plot([100 * one.low, 100 * one.high], [at, at], color=f"C{shift}", linewidth=1)
        ax.plot([100 * one.value for one in estimates], y, "o", color=f"C{shift}", markersize=4, label=design)
    labels = [names[0] + (f" (+{len(names) - 1})" if len(names) > 1 else "") for names in found]
    ax.set_yticks(range(len(found)), labels, fontsize=8)
    ax.axvline(50, color="grey", linewidth=0.8)
    ax.set_xlabel("test sets on which the better model is picked, %  (line at 50: a coin)")
    ax.set_ylim(-0.7, len(found) - 0.3)
    ax.grid(axis="x", alpha=0.3)
    ax.legend(loc="lower right")
    report.figure(figure, "every-measure")


def arguments(given: list[str] | None) -> Any:
    """The open choices of the paper as options."""
    parser = options("rosset", __doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, help="experiments of the paper's size (default 1; 20 with --full)")
    parser.add_argument("--discretise", choices=["chimerge", "equal-width", "equal-frequency"], default="chimerge")
    parser.add_argument("--max-intervals", type=int, default=4, help="intervals of a discretised input (default 4)")
    parser.add_argument("--alpha", type=float, help="ChiMerge also merges neighbours that do not differ at this level")
    parser.add_argument("--ties", choices=["midrank", "input"], default="midrank", help="ranks of tied scores")
    parser.add_argument(
        "--wins", choices=["half", "strict"], help="credit for equal values (default: half, K-NN strict)"
    )
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> dict[str, SelectionPower]:
    """Run, print, write."""
    args = arguments(given)
    report = Report("rosset", args.out)
    repeats = args.repeats or (20 if args.full else 1)
    rules = {name: args.wins or ("half" if name == "naive Bayes" else "strict") for name in designs(args)}
    report.table("Exact errors of the two populations", exact_errors(), "exact-errors")
    readings = {
        "naive Bayes": f"{args.discretise}, at most {args.max_intervals} intervals",
        "K-NN": "literal: a 5–5 vote is class 0",
        "K-NN, next neighbour": "a further neighbour decides a 5–5 vote",
    }
    powers = {}
    begun = time.perf_counter()
    for k, (name, design) in enumerate(designs(args).items()):
        say(f"{name}: {repeats} experiments of {TRAINING_SETS} training sets × {TEST_SETS} test sets")
        # Both K-NN readings see the same cases.
        powers[name] = run(design, [MC, LR], repeats, args.seed + min(k, 1))
    took = time.perf_counter() - begun
    for number, (name, power) in enumerate(powers.items(), start=1):
        table = "Table 1" if number == 1 else "Table 2"
        title = f"{table}: {name} ({readings[name]}; {rules[name]} wins)"
        rows = compare_with_table(name.split(",")[0], power, rules[name], args.seed)
        report.table(title, rows, f"table-{number}")
        gap = power.counted(rules[name]).difference(LR, MC)
        report.text(
            f"Linear Ranking picks m2 more often than misclassification by {100 * gap.value:.1f} points "
            f"(95 %: {100 * gap.low:.1f} to {100 * gap.high:.1f})."
        )
    report.text(
        "spread: SD over experiments of 20 training sets. The literal K-NN design does not give the printed",
        "misclassification column; letting a further neighbour decide tied votes, with wins counted strictly, does.",
        "69.72 cannot be a mean of 20 whole percentages.",
        f"Both tables in all readings, {repeats} × the paper's size, took {took:.1f} s.",
    )
    wide = {}
    for k, name in enumerate(("naive Bayes", "K-NN")):
        say(f"{name}: every measure of the catalogue")
        wide[name] = run(designs(args)[name], None, max(0.5, repeats / 4), args.seed + k, quota=TEST_SIZE // 5)
    report.table(
        "Share of test sets on which the better model is picked, by measure", every_measure(wide), "every-measure"
    )
    places = {}
    for k, name in enumerate(wide):
        say(f"{name}: the model with more hits in the best tenth")
        how = {"better": None, "goal": QUOTA_GOAL}
        places[name] = run(designs(args)[name], QUOTA_SELECTORS, repeats, args.seed + k, **how)
        better = places[name].better
        hits = {model: places[name].mean(QUOTA_GOAL, model) for model in places[name].models}
        told = ", ".join(f"{model} {value:.3f}" for model, value in hits.items())
        report.text(f"{name}: {better} has more hits in the best tenth of all cases ({QUOTA_GOAL}: {told}).")
    title = "Share of test sets on which the model with more hits in the best tenth is picked, by measure"
    report.table(title, quota_goal(places), "quota-goal")
    report.text(scikit_learn_ratio(args.seed))
    draw_tables(report, powers, rules)
    draw_measures(report, wide)
    report.done()
    return powers


if __name__ == "__main__":
    main()

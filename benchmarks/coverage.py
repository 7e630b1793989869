"""How often do the 95 % intervals hold the true value? Counted on known populations, method by method.

    python benchmarks/coverage.py                  methods side by side: some minutes of processor time
    python benchmarks/coverage.py --full           every default through the public functions, in the worlds of
                                                   coverage_worlds.py, and the tables of docs/coverage.md
    python benchmarks/coverage.py --section bands  one part of that, without writing (--sims 40 for a glance)
    python benchmarks/coverage.py --csv out.csv    every cell, for other tables
    python benchmarks/coverage.py --long           the bootstrap intervals of lists of 100,000 rows (some minutes)
    python benchmarks/coverage.py --folds          those of evaluate_cv (a minute; needs scikit-learn)

Populations: the score of a negative is N(0, 1), of a positive N(1.35, 1) (AUC 0.83), mapped to the probability of being
positive; "ties" rounds the score to steps of 0.5 first, which leaves a dozen distinct probabilities. A sample draws its
rows independently, so the number of positives varies as in real samples. Threshold measures cut at the prevalence,
quota measures at 10 % of the rows.

What counts as the truth, for each measure (column ``truth``):

* ``population``: the value on the whole population, from a ranking of 10⁸ rows with the population's exact shares;
* ``at this n``: the measure's expected value in samples of this size, for measures that grow with n (gain, ranking
  scores), whose population value would be infinite, and for Pearson at a quota, which averages outcomes over ties and
  so has another meaning where every score has many cases. Measures that are biased in small samples (KS, the hull's
  area, precision-recall areas, lift) are counted against both; the gap between the two is the bias.
* ``given n⁺``: the expected value in samples with as many positives as this one has, for the average gain and Linear
  Ranking: what the interval by DeLong is about, since it is that of the AUC on another scale.

A sample in which a measure has no value is left out of its count. An interval that could not be made is a miss.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import multiprocessing
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

import coverage_worlds
from cutline.catalogue.compute import compute
from cutline.catalogue.declare import Spec
from cutline.catalogue.declare import measure as find_measure
from cutline.estimate import FROM_REPLICATES, Interval, Settings
from cutline.evaluation import choose_specs
from cutline.inference import limits, resampling
from cutline.inference.evidence import RowEvidence
from cutline.inference.intervals import METHODS, IntervalInputs, choose
from cutline.inference.resampling import Resampler
from cutline.ranking import Ranking, rank
from cutline.sources.arrays import Sample, make_sample

LEVEL = 0.95
SEPARATION = 1.35
STEP = 0.5
QUOTA = 0.1
POPULATION_ROWS = 10**8
CHUNK = 20

# These are another measure on a linear scale, so their intervals hold the truth in exactly the same samples.
MIRRORED = {
    "error_rate": "accuracy",
    "zero_one_loss": "accuracy",
    "false_negative_rate": "recall",
    "false_positive_rate": "specificity",
    "false_discovery_rate": "precision",
    "balanced_accuracy": "youden_index",
    "gini": "roc_auc",
    "pem": "roc_auc",
    "taks": "roc_auc",
}
BIASED = (
    "ks_statistic",
    "max_youden_index",
    "auch",
    "average_precision",
    "pr_auc_min",
    "pr_auc_minmax",
    "pr_auc_max",
    "average_lift",
    "average_hit_rate",
    "average_qrecall",
    "hit_rate",
    "qrecall",
    "quota_lift",
    "lift",
    "positive_likelihood_ratio",
    "negative_likelihood_ratio",
)
# Two relatives of the AUC grow with the class sizes; given those, they are the AUC on a linear scale.
GIVEN_SIZES = {
    "average_gain": lambda auc, n_pos, n: (2 * auc - 1) * n_pos * (n - n_pos) / (2 * n),
    "linear_ranking": lambda auc, n_pos, n: auc * n_pos * (n - n_pos) + n_pos * (n_pos + 1) / 2,
}
AUTO = Settings("auto", LEVEL)


@dataclass(frozen=True)
class Cell:
    """One population and sample size."""

    n: int
    prevalence: float
    ties: bool

    def probability(self, z: np.ndarray) -> np.ndarray:
        """Probability of being positive at score z (of the middle of its step, with ties)."""
        if self.ties:
            z = (np.floor(z / STEP) + 0.5) * STEP
        odds = SEPARATION * z - SEPARATION**2 / 2 + math.log(self.prevalence / (1 - self.prevalence))
        return 1.0 / (1.0 + np.exp(-odds))

    def draw(self, rng: np.random.Generator) -> Sample:
        """One sample of independent rows."""
        positive = rng.random(self.n) < self.prevalence
        return make_sample(positive, self.probability(rng.standard_normal(self.n) + SEPARATION * positive))

    def specs(self) -> list[Spec]:
        """The catalogue at this population's threshold, without measures that are another on a linear scale."""
        chosen = choose_specs(None, threshold=self.prevalence, quota=QUOTA)
        return [spec for spec in chosen if spec.measure.name not in MIRRORED]

    def population(self) -> Ranking:
        """The population as a ranking of a great many rows, in exact shares."""
        from scipy.special import ndtr

        edges = np.arange(-10, 12 + STEP, STEP) if self.ties else np.linspace(-7, 8.5, 40_001)
        middles = (edges[1:] + edges[:-1]) / 2
        sizes = []
        for mean, share in ((SEPARATION, self.prevalence), (0.0, 1 - self.prevalence)):
            upto = np.rint(ndtr(edges - mean) * share * POPULATION_ROWS).astype(np.int64)
            upto[0], upto[-1] = 0, round(share * POPULATION_ROWS)
            sizes.append(np.diff(upto)[::-1])
        there = (sizes[0] + sizes[1]) > 0
        score = self.probability(middles)[::-1]
        return Ranking(score[there], sizes[0][there], sizes[1][there], POPULATION_ROWS)

    def __str__(self) -> str:
        return f"n={self.n} {self.prevalence:.0%}{' ties' if self.ties else ''}"


CELLS = [Cell(n, p, ties) for n, p, ties in itertools.product((50, 200, 1000), (0.05, 0.2, 0.5), (False, True))]


def closed_forms(known: IntervalInputs) -> Iterator[tuple[str, Interval]]:
    """Every closed form that the library has for a measure, by its own name, also where another one stands in."""
    one = known.measure
    names = [*limits.METHODS] if one.proportion is not None else []
    if one.name == "roc_auc":
        names = ["delong", "delong_logit"]
    elif one.line_of_auc is None and not METHODS[one.interval].resampled:
        names = list(dict.fromkeys([*names, one.interval]))
    for name in names:
        yield name, METHODS[name].make(known)[0]


Found = dict[tuple[str, str], np.ndarray]


def from_replicates(known: IntervalInputs, replicates: resampling.Replicates, *, full: bool) -> dict[str, Interval]:
    """The intervals that replicates give; not ``full``: the percentile interval alone, to show what strata do."""
    low, high = replicates.interval("percentile", LEVEL)
    made = {"percentile": Interval(low, high)}
    if full:
        made["basic"] = Interval(2 * replicates.value - high, 2 * replicates.value - low)
        made["bca"] = replicates.interval("bca", LEVEL)
        own = METHODS[known.measure.interval]
        if own.resampled and own.name not in made:
            made[own.name] = own.make(replace(known, replicates=replicates))[0]
    return made


def chunk(
    cell: Cell, number: int, sims: int, n_resamples: int
) -> tuple[Cell, dict[str, np.ndarray], Found, dict[str, Counter[str]]]:
    """Some samples of one cell: values by measure, intervals by measure and method, and the methods auto took."""
    rng = np.random.default_rng([CELLS.index(cell), number])
    specs = cell.specs()
    values = {name: np.full(sims, np.nan) for name in (*(spec.measure.name for spec in specs), "n_pos")}
    found: Found = defaultdict(lambda: np.full((sims, 2), np.nan))
    taken: dict[str, Counter[str]] = {spec.measure.name: Counter() for spec in specs}
    for i in range(sims):
        sample = cell.draw(rng)
        ranking = rank(sample)
        values["n_pos"][i] = ranking.n_pos
        rows = RowEvidence(sample, ranking)
        computed = rows.compute(specs)
        at = computed.values
        defined = [spec for spec in specs if math.isfinite(at[spec])]
        closed: set[Spec] = set()
        for spec in defined:
            name = spec.measure.name
            values[name][i] = at[spec]
            known = IntervalInputs(spec, at[spec], LEVEL, rows, computed)
            for method, interval in closed_forms(known):
                found[name, method][i] = interval
            chosen = choose(spec, AUTO, rows)
            if chosen is not None and not chosen.resampled:
                made_by, used = chosen.make(known)
                found[name, "auto"][i] = made_by
                taken[name][used] += 1
                closed.add(spec)
        for kind in ("plain", "stratified"):
            resampler = Resampler(sample, ranking, stratified=kind == "stratified", seed=number * sims + i)
            drawn = resampling.replicate(defined, at, resampler, n_resamples, jackknife=True)
            for spec, replicates in drawn.items():
                name = spec.measure.name
                chosen_here = spec not in closed and spec.measure.stratified == (kind == "stratified")
                known = IntervalInputs(spec, at[spec], LEVEL, rows, computed)
                made = from_replicates(known, replicates, full=kind == "plain" or chosen_here)
                for method, interval in made.items():
                    found[name, f"{method} {kind}"][i] = interval
                if chosen_here:
                    method = choose(spec, AUTO, rows).name  # type: ignore[union-attr]
                    found[name, "auto"][i] = made[method]
                    taken[name][f"{method} {kind}"] += 1
    return cell, values, dict(found), taken


def one_thread() -> None:
    """Processes share the cores already."""
    resampling.cores = lambda: 1


@dataclass(frozen=True)
class Row:
    """One count: how often the intervals of one method held one truth in one cell."""

    measure: str
    method: str
    truth: str
    cell: Cell
    samples: int
    share: float
    missed_below: float
    missed_above: float
    relative_width: float
    true_value: float

    @property
    def error(self) -> float:
        """Monte-Carlo standard error of the share."""
        return math.sqrt(max(self.share * (1 - self.share), 0.01 / self.samples) / self.samples)

    def to_dict(self) -> dict[str, Any]:
        """The count as plain values, its population spelt out."""
        fields = {**asdict(self), **asdict(self.cell), "error": self.error}
        del fields["cell"]
        return fields


def count(cell: Cell, values: dict[str, np.ndarray], found: Found) -> Iterator[Row]:
    """Count the intervals that hold the truth; widths are in units of 2·1.96 standard deviations of the estimate."""
    truths = {spec.measure.name: v for spec, v in compute(cell.specs(), cell.population()).values.items()}
    grows = {spec.measure.name for spec in cell.specs() if spec.measure.extensive} | {"quota_pearson"}
    value_of_size = values["n_pos"]
    for (name, method), made in found.items():
        value = values[name]
        kept = np.isfinite(value)
        if kept.sum() < 10:
            continue
        mean, spread = float(value[kept].mean()), float(value[kept].std())
        wanted: dict[str, Any] = {} if name in grows else {"population": truths[name]}
        if name in grows or name in BIASED:
            wanted["at this n"] = mean
        if name in GIVEN_SIZES:
            wanted["given n⁺"] = GIVEN_SIZES[name](truths["roc_auc"], value_of_size[kept], cell.n)
        low, high = made[kept].T
        with np.errstate(invalid="ignore"):
            width = float(np.median((high - low)[np.isfinite(high - low)], axis=0)) if spread else math.nan
            for truth, true in wanted.items():
                slack = 1e-9 * np.maximum(1.0, np.abs(true))  # sums in another order may differ in the last digits
                below, above = float((high < true - slack).mean()), float((low > true + slack).mean())
                share = float(((low <= true + slack) & (high >= true - slack)).mean())
                relative = width / (2 * 1.96 * spread) if spread else math.nan
                yield Row(
                    name, method, truth, cell, int(kept.sum()), share, below, above, relative, float(np.mean(true))
                )


def simulate(sims: int, n_resamples: int, chosen: list[Cell]) -> list[Row]:
    """Count all cells, on all cores."""
    tasks = [(cell, number) for number in range(sims // CHUNK) for cell in sorted(chosen, key=lambda c: -c.n)]
    gathered: dict[Cell, list[tuple[dict[str, np.ndarray], Found]]] = defaultdict(list)
    taken: dict[str, Counter[str]] = defaultdict(Counter)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(resampling.cores(), mp_context=context, initializer=one_thread) as pool:
        waiting = [pool.submit(chunk, cell, number, CHUNK, n_resamples) for cell, number in tasks]
        for done, future in enumerate(as_completed(waiting), 1):
            cell, values, found, methods = future.result()
            gathered[cell].append((values, found))
            for name, counts in methods.items():
                taken[name] += counts
            print(f"\r{done} of {len(waiting)}", end="", file=sys.stderr, flush=True)
    print("\r" + " " * 20 + "\r", end="", file=sys.stderr)
    rows: list[Row] = []
    for cell in chosen:
        parts = gathered[cell]
        values = {name: np.concatenate([v[name] for v, _ in parts]) for name in parts[0][0]}
        keys = dict.fromkeys(key for _, found in parts for key in found)
        blank = np.full((CHUNK, 2), np.nan)
        merged = {key: np.concatenate([found.get(key, blank) for _, found in parts]) for key in keys}
        rows += count(cell, values, merged)
    for i, row in enumerate(rows):
        if row.method == "auto":
            rows[i] = replace(row, method=f"auto: {taken[row.measure].most_common(1)[0][0]}")
    return rows


def table(rows: list[Row]) -> str:
    """Coverage in percent: a line for each measure, method and truth; a column for each n and prevalence."""
    columns = list(dict.fromkeys((r.cell.n, r.cell.prevalence) for r in rows))
    heads = [f"{n} · {p:.0%}" for n, p in columns]
    lines = ["| measure | method | truth | " + " | ".join(heads) + " | least |"]
    lines.append("|---|---|---|" + "---:|" * (len(columns) + 1))
    groups: dict[tuple[str, str, str], dict[tuple[int, float], list[Row]]] = defaultdict(lambda: defaultdict(list))
    for r in rows:
        groups[r.measure, r.method, r.truth][r.cell.n, r.cell.prevalence].append(r)
    for (measure, method, truth), by_column in groups.items():
        shares = [pooled(by_column[c]) if c in by_column else math.nan for c in columns]
        shown = [f"{100 * s:.1f}" if s == s else "" for s in shares]
        lines.append(f"| {measure} | {method} | {truth} | {' | '.join(shown)} | {100 * np.nanmin(shares):.1f} |")
    return "\n".join(lines)


def pooled(rows: list[Row]) -> float:
    """Share over cells, each counting its samples."""
    return float(np.average([r.share for r in rows], weights=[r.samples for r in rows]))


def summary(rows: list[Row], methods: list[str]) -> str:
    """Mean coverage over n and prevalence, and the least of them: a line for each measure, a column for each method."""
    lines = ["| measure | truth | " + " | ".join(methods) + " |", "|---|---|" + "---:|" * len(methods)]
    by_line: dict[tuple[str, str], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for r in rows:
        by_line[r.measure, r.truth][r.method].append(r)
    for (measure, truth), by_method in by_line.items():
        shown = []
        for method in methods:
            columns = defaultdict(list)
            for r in by_method[method]:
                columns[r.cell.n, r.cell.prevalence].append(r)
            shares = [100 * pooled(some) for some in columns.values()]
            shown.append(f"{np.mean(shares):.1f} ({min(shares):.0f})" if shares else "")
        if any(shown):
            lines.append(f"| {measure} | {truth} | {' | '.join(shown)} |")
    return "\n".join(lines)


def print_tables(rows: list[Row]) -> None:
    """What auto takes, cell by cell; then the methods side by side."""
    print("\nWhat interval='auto' takes:\n")
    print(table([row for row in rows if row.method.startswith("auto")]))
    print("\nProportions and their methods, mean over the columns above (least):\n")
    shares = [row for row in rows if find_measure(row.measure).proportion is not None]
    print(summary(shares, [*limits.METHODS, "bca plain"]))
    print("\nBootstraps side by side, mean over the columns above (least):\n")
    drawn = [f"{method} plain" for method in FROM_REPLICATES]
    print(summary(rows, [*drawn, "percentile stratified"]))


def stored(path: str) -> list[Row]:
    """The counts of an earlier run."""
    kinds = {field.name: float for field in fields(Row)} | {"measure": str, "method": str, "truth": str, "samples": int}
    with open(path, newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    return [
        Row(
            cell=Cell(int(line["n"]), float(line["prevalence"]), line["ties"] == "True"),
            **{name: kind(line[name]) for name, kind in kinds.items() if name != "cell"},
        )
        for line in lines
    ]


def long_lists(sims: int) -> Iterator[str]:
    """The measures that take replicates, on lists of 100,000 rows, drawn by blocks: one line for each."""
    from cutline.evaluation import evaluate_sample
    from cutline.inference.intervals import METHODS

    for prevalence in (0.2, 0.06):
        cell, rng = Cell(100_000, prevalence, False), np.random.default_rng(round(100 * prevalence))
        specs = cell.specs()
        made: dict[Spec, list[tuple[float, float, float]]] = defaultdict(list)
        for number in range(sims):
            ev = evaluate_sample(
                cell.draw(rng), name="", threshold=prevalence, quota=QUOTA, measures=specs, settings=AUTO
            )
            specs = [s for s in specs if METHODS[s.measure.interval].resampled and not s.measure.needs_quota]
            for spec in specs:
                e = ev.estimates[str(spec)]
                made[spec].append((e.value, e.low, e.high))
            print(f"\r{prevalence:.0%}: {number + 1} of {sims}", end="", file=sys.stderr, flush=True)
        print("\r" + " " * 30 + "\r", end="", file=sys.stderr)
        truths = compute(specs, cell.population()).values
        for spec in specs:
            value, low, high = np.array(made[spec]).T
            true = float(value.mean()) if spec.measure.extensive else truths[spec]
            share = float(((low <= true) & (true <= high)).mean())
            yield f"| {spec.measure.name} | {prevalence:.0%} | {100 * share:.1f} |"


def cross_validated(sims: int, rows: int = 100) -> Iterator[str]:
    """evaluate_cv against the mean AUC of models trained on as many rows; naive Bayes on five normal features."""
    from scipy.stats import t
    from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
    from sklearn.naive_bayes import GaussianNB

    from cutline import roc_auc
    from cutline.sklearn import evaluate_cv

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.permutation(np.arange(n) % 2)
        return rng.standard_normal((n, 5)) + 0.4 * y[:, None], y

    def truth(trained_on: int) -> float:
        rng = np.random.default_rng([trained_on, 1])
        areas = []
        for _ in range(400):
            model = GaussianNB().fit(*draw(rng, trained_on))
            x, y = draw(rng, 4000)
            areas.append(roc_auc(y, model.predict_proba(x)[:, 1]))
        return float(np.mean(areas))

    splits = {
        "5 folds": (5, StratifiedKFold(5, shuffle=True, random_state=0)),
        "10 folds": (10, StratifiedKFold(10, shuffle=True, random_state=0)),
        "5 folds, 3 times": (5, RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)),
    }
    for name, (k, cv) in splits.items():
        true, rng = truth(rows - rows // k), np.random.default_rng(7)
        held = np.zeros(2)
        for _ in range(sims):
            result = evaluate_cv(GaussianNB(), *draw(rng, rows), cv=cv, measures=["roc_auc"])
            values = result.values("roc_auc")
            half = t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
            held += [true in result["roc_auc"].interval, abs(values.mean() - true) <= half]
        corrected, plain = held / sims
        yield f"| {name} | {corrected:.0%} | {plain:.0%} |"


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="Counted coverage of the 95 % intervals.")
    parser.add_argument("--full", action="store_true", help="count every world and write the tables of the guide")
    parser.add_argument("--section", choices=list(coverage_worlds.SECTIONS), help="count one part of --full")
    parser.add_argument("--sims", type=int, help="samples for each population")
    parser.add_argument("--resamples", type=int, default=800)
    parser.add_argument("--csv", help="write every count to this file")
    parser.add_argument("--read", help="print the tables of an earlier run from its --csv file")
    parser.add_argument("--long", action="store_true", help="lists of 100,000 rows (200 samples; --sims for others)")
    parser.add_argument("--folds", action="store_true", help="evaluate_cv (150 samples; --sims for others)")
    options = parser.parse_args()
    if options.full or options.section:
        one_thread()
        names = [options.section] if options.section else list(coverage_worlds.SECTIONS)
        sys.exit(coverage_worlds.run(names, options.sims or 400, to_docs=options.full))
    if options.long:
        print("| measure | prevalence | held |\n|---|---:|---:|")
        for line in long_lists(options.sims or 200):
            print(line, flush=True)
        return
    if options.folds:
        print("| splits | corrected t | plain t |\n|---|---|---|")
        for line in cross_validated(options.sims or 150):
            print(line, flush=True)
        return
    if options.read:
        print_tables(stored(options.read))
        return
    sims = options.sims or 60
    begun = time.perf_counter()
    rows = simulate(sims, options.resamples, CELLS)
    error = math.sqrt(0.95 * 0.05 / (2 * sims))
    print(f"{sims} samples for each of {len(CELLS)} populations, {options.resamples} replicates each.")
    print(f"Columns: n · prevalence, with and without ties together; Monte-Carlo error {100 * error:.1f} at 95 %.")
    mirrored = ", ".join(f"{a} ({b})" for a, b in MIRRORED.items())
    print(f"Not listed, because they are another measure on a linear scale: {mirrored}.")
    print_tables(rows)
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0].to_dict())
            writer.writeheader()
            writer.writerows(row.to_dict() for row in rows)
    print(f"{time.perf_counter() - begun:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()

"""`auto` against every single method over many kinds of problems, and how often its intervals hold the truth.

    python benchmarks/extrapolation_families.py [--draws 12] [--only gauss,cjk] [--no-intervals]

The best single method of a problem is taken twice: on the draws it is judged by (hindsight), and on the other draws.
Other rules to combine the methods are tried on the same back-tests.

Kinds: Chinese characters, faces, handwritten characters and letters where the data lie beside the project
(``../shared/data/manyclass``); Gaussian problems of 4 to 64 dimensions with accuracy .3 to .99 at the target; heavy
tails; classes of unequal difficulty; crowded populations (classes gathered around sixty centres); other scales of the
same scores (squared, cosine, exponential); coarse scores with ties. For each the truth at the target is known, exactly
or from a population of many thousands of classes. Nothing is chosen by the name of a problem.
"""

from __future__ import annotations

import argparse
import gzip
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from experiments.populations import GaussianRecognition  # noqa: E402

import cutline as cl  # noqa: E402
from cutline.extrapolation.tasks import average_accuracy, win_histogram  # noqa: E402

DATA = ROOT.parent / "shared" / "data" / "manyclass"
CROWDS = np.random.default_rng(5).normal(size=(60, 16))
Draw = Callable[[int, np.random.Generator], tuple[Any, Any]]


@dataclass(frozen=True)
class Problem:
    """Draws a task (scores, labels) of so many classes, and knows the accuracy among ``target`` of them."""

    name: str
    kind: str
    seen: int
    target: int
    draw: Draw
    truth: Callable[[], float]


def distances(probes: Any, gallery: Any) -> Any:
    """Euclidean distances of all probes to all of the gallery."""
    square = (probes**2).sum(axis=1)[:, None] + (gallery**2).sum(axis=1)[None] - 2.0 * probes @ gallery.T
    return np.sqrt(np.maximum(square, 0.0))


def minus_distance(probes: Any, gallery: Any) -> Any:
    """The plain score."""
    return -distances(probes, gallery)


def true_accuracy(gallery: Any, probes: Any, score: Any, k: int) -> float:
    """Mean accuracy over all tasks of ``k`` of the gallery's classes; ``probes`` belong to its first rows."""
    beaten, tied = [], []
    for start in range(0, len(probes), 500):
        block = score(probes[start : start + 500], gallery)
        own = block[np.arange(len(block)), start + np.arange(len(block))][:, None]
        beaten.append((block < own).sum(axis=1))
        tied.append((block == own).sum(axis=1) - 1)
    counts = [np.concatenate(part).astype(float) for part in (beaten, tied)]
    histogram = win_histogram(*counts, np.full(len(probes), 1.0 / len(probes)), len(gallery), "random")
    return float(average_accuracy(histogram, np.array([float(k)]))[0])


def gaussian(dimension: int, seen: int, target: int, accuracy: float) -> Problem:
    """Normal centres and noise, the noise such that the accuracy at the target is as wanted."""
    low, high = 0.02, 5.0
    for _ in range(25):
        middle = (low * high) ** 0.5
        above = GaussianRecognition(dimension, middle).accuracy([target])[0] > accuracy
        low, high = (middle, high) if above else (low, middle)
    world = GaussianRecognition(dimension, middle)

    def draw(k: int, rng: np.random.Generator) -> tuple[Any, Any]:
        return world.draw(k, rng), np.arange(k)

    name = f"gaussian d={dimension}, {seen} to {target}, {accuracy:g}"
    return Problem(name, "gauss", seen, target, draw, lambda: float(world.accuracy([target])[0]))


def made(name: str, kind: str, seen: int, target: int, make: Any, score: Any = minus_distance) -> Problem:
    """A population that ``make(k, rng)`` draws gallery and probes from; the truth from 12,000 classes of it."""

    def draw(k: int, rng: np.random.Generator) -> tuple[Any, Any]:
        gallery, probes = make(k, rng)
        return score(probes, gallery), np.arange(k)

    def truth() -> float:
        gallery, probes = make(12_000, np.random.default_rng(99))
        return true_accuracy(gallery, probes[:2500], score, target)

    return Problem(f"{name}, {seen} to {target}", kind, seen, target, draw, truth)


def stored(name: str, kind: str, seen: int, target: int, load: Any) -> Problem:
    """A stored population of gallery and probes; tasks are random parts of it."""

    def draw(k: int, rng: np.random.Generator) -> tuple[Any, Any]:
        gallery, probes = load()
        chosen = rng.choice(len(gallery), k, replace=False)
        return minus_distance(probes[chosen], gallery[chosen]), np.arange(k)

    return Problem(
        f"{name}, {seen} to {target}", kind, seen, target, draw, lambda: true_accuracy(*load(), minus_distance, target)
    )


@cache
def glyphs(font: str) -> tuple[Any, Any]:
    """Chinese characters in two typefaces."""
    found = np.load(DATA / "cjk-glyphs" / "cjk_glyph_embeddings.npz")
    return found["gallery_noto_sans"].astype(float), found[f"probe_{font}"].astype(float)


@cache
def faces() -> tuple[Any, Any]:
    """Two photographs of each of 1,680 people."""
    found = np.load(DATA / "lfw-dlib" / "lfw_dlib.npz")
    order, rng = np.argsort(found["ids"], kind="stable"), np.random.default_rng(0)
    bounds = np.append(np.unique(found["ids"][order], return_index=True)[1], order.size)
    two = np.array([order[rng.permutation(np.arange(a, b))[:2]] for a, b in pairwise(bounds)])
    return found["X"][two[:, 0]].astype(float), found["X"][two[:, 1]].astype(float)


@cache
def characters() -> tuple[Any, Any]:
    """Omniglot: two drawers' versions of 1,623 characters, blurred, 40 principal components."""
    from scipy.ndimage import gaussian_filter

    found = np.load(DATA / "omniglot28" / "omniglot28.npz")
    taken = np.isin(found["drawer"], [1, 2])
    images = np.unpackbits(found["X"][taken], axis=1)[:, :784].reshape(-1, 28, 28).astype(float)
    flat = np.array([gaussian_filter(image, 1.5).ravel() for image in images])
    flat -= flat.mean(axis=0)
    points = flat @ np.linalg.svd(flat[::4], full_matrices=False)[2][:40].T
    by_drawer = [np.flatnonzero(found["drawer"][taken] == d) for d in (1, 2)]
    gallery, probes = (points[rows[np.argsort(found["y"][taken][rows])]] for rows in by_drawer)
    return gallery, probes


@cache
def letter_scores(bayes: str) -> tuple[Any, Any]:
    """Log-densities of 26 letters (naive or full Gaussians) for 40 test cases each."""
    with gzip.open(DATA / "letter" / "letter.dat.gz", "rt") as file:
        lines = [line.split(",") for line in file if line[:1] not in "@\n"]
    points = np.array([[float(value) for value in line[:-1]] for line in lines])
    labels = np.array([ord(line[-1].strip()) - ord("A") for line in lines])
    rng = np.random.default_rng(0)
    rows = [rng.permutation(np.flatnonzero(labels == letter)) for letter in range(26)]
    test, scores = np.concatenate([row[:40] for row in rows]), np.empty((26 * 40, 26))
    for letter, row in enumerate(rows):
        training = points[row[40:340]]
        spread = np.cov(training.T) + 0.3 * np.eye(16)
        if bayes == "naive":
            spread = np.diag(np.diag(spread))
        off = points[test] - training.mean(axis=0)
        scores[:, letter] = -0.5 * ((off @ np.linalg.inv(spread)) * off).sum(axis=1) - np.linalg.slogdet(spread)[1] / 2
    return scores, labels[test]


def letters(bayes: str) -> Problem:
    """Thirteen letters of 26."""

    def draw(k: int, rng: np.random.Generator) -> tuple[Any, Any]:
        scores, labels = letter_scores(bayes)
        chosen = np.sort(rng.choice(26, k, replace=False))
        inside = np.isin(labels, chosen)
        return scores[np.ix_(inside, chosen)], np.searchsorted(chosen, labels[inside])

    def truth() -> float:
        scores, labels = letter_scores(bayes)
        return float(np.mean(scores.argmax(axis=1) == labels))

    return Problem(f"letters, {bayes} Gaussians, 13 to 26", "letter", 13, 26, draw, truth)


def around(spread: Callable[[Any, Any, int, int], tuple[Any, Any]], dimension: int) -> Any:
    """Gallery and probes from two draws: of centres, and of what is added to them."""

    def make(k: int, rng: np.random.Generator) -> tuple[Any, Any]:
        centre, noise = spread(rng, rng, k, dimension)
        return centre, centre + noise

    return make


def problems() -> Iterator[Problem]:
    """All of them."""
    for dimension, seen, target, accuracy in (
        (4, 100, 1000, 0.3), (4, 50, 500, 0.9), (4, 200, 2000, 0.99), (8, 100, 1000, 0.6), (8, 50, 500, 0.3),
        (8, 100, 10_000, 0.9), (16, 100, 1000, 0.9), (16, 200, 1000, 0.3), (16, 100, 1000, 0.99), (32, 100, 2000, 0.6),
        (32, 50, 500, 0.9), (64, 100, 1000, 0.3), (64, 100, 1000, 0.9), (64, 200, 2000, 0.99),
    ):  # fmt: skip
        yield gaussian(dimension, seen, target, accuracy)
    for d, noise, df, seen, target in ((8, 0.4, 3, 100, 1000), (16, 0.6, 3, 100, 1000), (4, 0.2, 5, 200, 2000)):
        yield made(
            f"t with {df} degrees, d={d}", "heavy", seen, target,
            around(
                lambda a, b, k, p, noise=noise, df=df: (a.standard_t(df, (k, p)), noise * b.standard_t(df, (k, p))), d
            ),
        )  # fmt: skip
    for d, noise, unequal, seen, target in (
        (8, 0.4, 0.5, 100, 1000),
        (16, 0.5, 0.5, 100, 1000),
        (8, 0.25, 0.8, 200, 2000),
    ):
        yield made(
            f"noise by class, d={d}", "unequal", seen, target,
            around(
                lambda a, b, k, p, noise=noise, unequal=unequal: (
                    a.normal(size=(k, p)),
                    noise * np.exp(unequal * b.normal(size=(k, 1))) * b.normal(size=(k, p)),
                ),
                d,
            ),
        )  # fmt: skip
    for d, noise, within in ((8, 0.2, 0.4), (16, 0.3, 0.5)):
        yield made(
            f"sixty crowds, d={d}", "crowds", 100, 1000,
            around(
                lambda a, b, k, p, noise=noise, within=within: (
                    CROWDS[:, :p][a.integers(0, 60, k)] + within * a.normal(size=(k, p)),
                    noise * b.normal(size=(k, p)),
                ),
                d,
            ),
        )  # fmt: skip

    def plain(noise: float) -> Any:
        return lambda a, b, k, p: (a.normal(size=(k, p)), noise * b.normal(size=(k, p)))

    def cosine(probes: Any, gallery: Any) -> Any:
        lengths = np.linalg.norm(probes, axis=1)[:, None] * np.linalg.norm(gallery, axis=1)
        return probes @ gallery.T / lengths

    yield made(
        "squared distances, d=16", "scale", 100, 1000, around(plain(0.6), 16), lambda p, g: -(distances(p, g) ** 2)
    )
    yield made("cosines, d=16", "scale", 100, 1000, around(plain(0.6), 16), cosine)
    yield made(
        "exponential of squares, d=8",
        "scale",
        100,
        1000,
        around(plain(0.4), 8),
        lambda p, g: np.exp(-(distances(p, g) ** 2) / 2),
    )
    for d, noise, step in ((8, 0.45, 0.4), (16, 0.6, 0.3)):
        yield made(
            f"scores rounded to {step}, d={d}", "ties", 100, 1000, around(plain(noise), d),
            lambda p, g, step=step: np.round(minus_distance(p, g) / step) * step,
        )  # fmt: skip
    if DATA.exists():
        for font in ("uming", "ukai"):
            for seen in (100, 400):
                yield stored(f"cjk {font}", "cjk", seen, 1672, lambda font=font: glyphs(font))
        for seen in (100, 400):
            yield stored("lfw dlib", "lfw", seen, 1672, faces)
        for seen in (80, 400):
            yield stored("omniglot", "omniglot", seen, 1600, characters)
        yield from (letters("naive"), letters("full"))


def other_rules(ex: Any, k: int) -> dict[str, float]:
    """What other ways to combine the methods of `auto` would say at ``k`` classes, from the same back-test."""
    answers, last = ex.by_method(k), ex.observed.test_accuracy
    rows = [row for row in ex.backtest if row.weight > 0]
    value = np.array([answers[row.name] for row in rows])
    risk, weight = (np.array([getattr(row, name) for row in rows]) for name in ("risk", "weight"))
    inside = np.clip(value, 1e-3, 1.0 - 1e-3)
    order = np.argsort(value)
    middle = order[np.searchsorted(np.cumsum(weight[order]), 0.5 * weight.sum())]
    found = {
        "equal weights": value.mean(),
        "lowest risk alone": value[risk.argmin()],
        "weights 1/risk": np.average(value, weights=weight * risk),
        "weights 1/risk⁴": np.average(value, weights=weight / risk**2),
        "weighted median": value[middle],
        "mean of logits": 1.0 / (1.0 + np.exp(-np.average(np.log(inside / (1.0 - inside)), weights=weight))),
        "minus the bias of the back-test": np.average(value - np.array([row.bias for row in rows]), weights=weight),
    }
    return {name: float(np.clip(answer, 0.0, last)) for name, answer in found.items()}


def against_best(errors: Mapping[str, list[float]], singles: Iterable[str]) -> tuple[str, float, float]:
    """The best single method, and RMSE(auto) over its own: chosen on these draws, and chosen for each on the others."""
    square = {name: np.square(values) for name, values in errors.items()}
    auto, singles = float(square["auto"].mean()), list(singles)
    best = min(singles, key=lambda name: float(square[name].mean()))
    held = [
        square[min(singles, key=lambda name: float(np.delete(square[name], draw).mean()))][draw]
        for draw in range(len(square["auto"]))
    ]
    return best, float(np.sqrt(auto / square[best].mean())), float(np.sqrt(auto / np.mean(held)))


def measure(problem: Problem, draws: int, intervals: bool) -> dict[str, Any]:
    """RMSE of `auto` and of every method on the same draws, and how often the 90 % interval held the truth."""
    truth, found, held, widths = problem.truth(), {}, [], []
    rules: dict[str, list[float]] = {}
    for number in range(draws):
        scores, labels = problem.draw(problem.seen, np.random.default_rng([number, problem.seen, 11]))
        ex = cl.extrapolate(
            scores,
            labels,
            k=[problem.target],
            level=0.9,
            seed=number,
            interval=intervals,
        )
        answers = ex.by_method(problem.target)
        best = {row.family: row.name for row in ex.backtest if row.name in answers}
        for name, value in {
            "auto": ex.accuracy(problem.target).value,
            **{f: answers[n] for f, n in best.items()},
        }.items():
            found.setdefault(name, []).append(value)
        for name, value in other_rules(ex, problem.target).items():
            rules.setdefault(name, []).append(value)
        estimate = ex.accuracy(problem.target)
        held.append(estimate.low <= truth <= estimate.high)
        widths.append(estimate.high - estimate.low)
    complete = {name: [v - truth for v in values] for name, values in found.items() if len(values) == draws}
    errors = {name: float(np.sqrt(np.mean(np.square(v)))) for name, v in complete.items()}
    tried = {name: float(np.sqrt(np.mean((np.array(v) - truth) ** 2))) for name, v in rules.items()}
    best, ratio, ratio_held = against_best(complete, set(complete) - {"auto"})
    row = {"truth": truth, "errors": errors, "rules": tried, "best": best, "ratio": ratio, "ratio_held": ratio_held}
    return row | {"held": float(np.mean(held)), "width": float(np.mean(widths))}


def main() -> None:
    """Prints a line per problem and the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=12)
    parser.add_argument("--only", default="", help="kinds, with commas between")
    parser.add_argument("--no-intervals", action="store_true")
    asked = parser.parse_args()
    kinds = asked.only.split(",") if asked.only else []
    results: dict[str, dict[str, Any]] = {}
    for problem in problems():
        if kinds and problem.kind not in kinds:
            continue
        row = measure(problem, asked.draws, not asked.no_intervals)
        auto, best = row["errors"].pop("auto"), row["best"]
        results[problem.name] = row | {"kind": problem.kind, "auto": auto}
        held = "" if asked.no_intervals else f"  90 % held {row['held']:.2f} (width {row['width']:.3f})"
        print(
            f"{problem.name:<42} truth {row['truth']:.3f}  auto {auto:.4f}  best {best} {row['errors'][best]:.4f}"
            f"  ratio {row['ratio']:.2f}{held}",
            flush=True,
        )
    for chosen, key in (("these", "ratio"), ("the other", "ratio_held")):
        ratios = np.array([row[key] for row in results.values()])
        print(f"\nRMSE(auto) / RMSE(best single of the problem, chosen on {chosen} draws): geometric mean "
              f"{np.exp(np.log(ratios).mean()):.3f}, largest {ratios.max():.2f}, above 1.5 in "
              f"{int((ratios > 1.5).sum())} of {ratios.size}")  # fmt: skip
    print("\n| other rule | geometric mean of RMSE(rule) / RMSE(auto) | better in |\n|---|---|---|")
    for rule in next(iter(results.values()))["rules"]:
        gain = np.array([row["rules"][rule] / row["auto"] for row in results.values()])
        print(f"| {rule} | {np.exp(np.log(gain).mean()):.3f} | {int((gain < 1).sum())} of {gain.size} |")
    print("\n| over all problems | root mean square of RMSE | geometric mean of RMSE |\n|---|---|---|")
    names = set.intersection(*(set(row["errors"]) for row in results.values()))
    tables = {"auto": [row["auto"] for row in results.values()]}
    tables |= {name: [row["errors"][name] for row in results.values()] for name in sorted(names)}
    for name, errors in tables.items():
        print(f"| {name} | {np.sqrt(np.mean(np.square(errors))):.4f} | {np.exp(np.mean(np.log(errors))):.4f} |")
    if not asked.no_intervals:
        print("\n| kind | 90 % intervals that hold the truth |\n|---|---|")
        for kind in dict.fromkeys(row["kind"] for row in results.values()):
            print(f"| {kind} | {np.mean([row['held'] for row in results.values() if row['kind'] == kind]):.1%} |")
        print(f"| all | {np.mean([row['held'] for row in results.values()]):.1%} |")


if __name__ == "__main__":
    main()

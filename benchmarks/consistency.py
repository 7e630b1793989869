"""May a ranking decide for decisions? How often the test of Rosset's condition is right, on known populations.

    python benchmarks/consistency.py            about five minutes of processor time
    python benchmarks/consistency.py 200        with fewer samples of each kind

A case has a latent strength L ~ N(0, 1.5²) and is positive with probability 1/(1 + exp(−L)). A model sees L with noise,
and calls a case positive if it sees more than 0 (a score above 0.5). In the first worlds the better order gives at
least its average over all cuts, so the share of "no" is an error of the test; at the edge it gives exactly its
average, where the share is largest. In the last three the threshold does not suit the scores, only the best cases are
ordered better, or the cases near the threshold are ordered worse. The naive Bayes and nearest-neighbour models are
those of Rosset's simulations, one pair for each sample.

"yes, right" and "yes, wrong": the ranking may decide, and its model has fewer (or more) errors in the population;
"errors clear": the error rate alone separates the models. "by errors", "by ranking": how often each is ahead for the
model with fewer errors in the population, a tie counting half.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import cutline as cl

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "experiments"))
from populations_rosset import NEIGHBOURS, NaiveBayes, Neighbours, sum_of_two, value_of_first

Models = tuple[np.ndarray, np.ndarray, np.ndarray]  # labels, the scores of the model with the better order, the other's
World = Callable[[np.random.Generator, int], Models]
POPULATION = 1_000_000
SIZES = (100, 400, 1600)


def logistic(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


def latent(better: Callable[[np.ndarray], object], other: float, shift: tuple[float, float] = (0.0, 0.0)) -> World:
    """Two models that see the strength with noise, the better one with noise that may depend on it."""

    def draw(rng: np.random.Generator, n: int) -> Models:
        strength = 1.5 * rng.normal(size=n)
        y = rng.random(n) < logistic(strength)
        seen = [strength + noise * rng.normal(size=n) for noise in (better(strength), other)]
        return y, logistic(seen[0] + shift[0]), logistic(seen[1] + shift[1])

    return draw


def naive_bayes(rng: np.random.Generator, n: int) -> Models:
    """Rosset 4.1: one and two features, discretised."""
    x, y = sum_of_two(rng, 1000)
    fit = NaiveBayes.fit(x[:, :2], y, "chimerge", 4, 0.05)
    x, y = sum_of_two(rng, n)
    return y, fit.both(x), fit.first_only(x)


def neighbours(rng: np.random.Generator, n: int) -> Models:
    """Rosset 4.2: fifty and ten neighbours."""
    fit = Neighbours(*value_of_first(rng, 1000), next_decides=False)
    x, y = value_of_first(rng, n)
    return y, fit.scorer(NEIGHBOURS[1])(x), fit.scorer(NEIGHBOURS[0])(x)


def gains(models: Models) -> tuple[float, float]:
    """What the better order gives in the population: at the threshold, and on average over all cuts."""
    y, one, two = models
    share = float(y.mean())
    order = cl.roc_auc(y, one) - cl.roc_auc(y, two)
    return cl.accuracy(y, one) - cl.accuracy(y, two), 2.0 * share * (1.0 - share) * order


def at_the_edge() -> World:
    """Both models cut where the better order gives exactly its average."""
    y, one, two = latent(lambda x: 0.6, 1.2)(np.random.default_rng(7), 4 * POPULATION)
    one, two = (np.log(score / (1.0 - score)) for score in (one, two))
    average = gains((y, logistic(one), logistic(two)))[1]
    low, high = 0.0, 4.0
    for _ in range(30):
        cut = (low + high) / 2.0
        here = float(((one > cut) == y).mean() - ((two > cut) == y).mean())
        low, high = (cut, high) if here > average else (low, cut)
    return latent(lambda x: 0.6, 1.2, (-cut, -cut))


def worlds() -> dict[str, World]:
    """Those in which ranking and decisions agree, then those in which they do not."""
    return {
        "equal": latent(lambda x: 0.9, 0.9),
        "less noise": latent(lambda x: 0.6, 1.2),
        "slightly less": latent(lambda x: 0.8, 1.0),
        "at the edge": at_the_edge(),
        "naive Bayes": naive_bayes,
        "neighbours": neighbours,
        "shifted": latent(lambda x: 0.6, 1.2, (1.5, 0.0)),
        "best cases": latent(lambda x: np.where(x > 1.0, 0.1, 1.2), 1.2),
        "against": latent(lambda x: np.where(np.abs(x) > 1.0, 0.1, 2.5), 1.2),
    }


def main(samples: int) -> None:
    """One line for each world and size."""
    print(f"{samples} samples each; gain: correct decisions per 1,000 cases at the threshold, and over all cuts\n")
    heads = ("no", "yes, right", "yes, wrong", "errors clear", "by errors", "by ranking")
    print(f"{'world':<14}{'gain':>7}{'average':>9}{'n':>7}" + "".join(f"{head:>14}" for head in heads))
    for name, world in worlds().items():
        trained = name in ("naive Bayes", "neighbours")
        here, average = gains(world(np.random.default_rng(11), 100_000 if trained else POPULATION))
        truth = 0.0 if name == "equal" else np.sign(here)
        for n in SIZES:
            rows = []
            for child in np.random.SeedSequence(3).spawn(samples):
                y, one, two = world(np.random.default_rng(child), n)
                cmp = cl.compare(y, {"a": one, "b": two}, measures=["linear_ranking", "error_rate"], threshold=0.5)
                found = cmp.consistency("a", "b")
                ahead, yes = np.sign(found.pairs_a - found.pairs_b), found.verdict == "yes"
                answer = [found.verdict == "no", yes and ahead == truth, yes and ahead != truth]
                clear = found.errors.leader is not None
                rows.append([*answer, clear, *(0.5 + 0.5 * np.array([np.sign(found.gain), ahead]) * truth)])
            shares = "".join(f"{share:>14.3f}" for share in np.mean(rows, axis=0))
            print(f"{name:<14}{1000 * here:>7.1f}{1000 * average:>9.1f}{n:>7}{shares}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)

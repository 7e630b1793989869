"""Beyond the assumptions of the extrapolation: more training cases beside more classes, and a level of a tree.

    python benchmarks/extrapolation_training.py            a few minutes

Growth: normal classes in 8 dimensions; trained at 6, 12, 24 classes with 4, 8, 16 cases each, predicted at 80 classes
with 64 cases. Tree: families of five normal classes in 6 dimensions; seen at 100 families, predicted at 400.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import cutline as cl
from cutline.extrapolation import extrapolate_training
from cutline.extrapolation.training_growth import learning_curves, retrained_curve

ROWS, CLASSES = 90, 80


def growth(samples: int) -> None:
    """Predictions of both learning curves beside what the larger task gives."""
    print("classifier, noise: seen at 24 and 16; predicted at 80 and 64; there it was; without a floor; held")
    place = np.tile(np.arange(ROWS), CLASSES)
    for name, model in (("3 nearest neighbours", KNeighborsClassifier(3)), ("naive Bayes", GaussianNB())):
        for noise in (0.4, 0.7):
            found = []
            for seed in range(samples):
                rng = np.random.default_rng([1, seed])
                y = np.repeat(np.arange(CLASSES), ROWS)
                x = rng.normal(size=(CLASSES, 8))[y] + noise * rng.normal(size=(y.size, 8))
                trained = place < 64
                truth = np.mean(model.fit(x[trained], y[trained]).predict(x[~trained]) == y[~trained])
                some = (y < 24) & (place < 40)
                grid = extrapolate_training(
                    model, x[some], y[some], sizes=[6, 12, 24], cases=[4, 8, 16], n_rounds=5, seed=seed
                )
                e = grid.accuracy(80, 64)
                at_80 = [
                    float(retrained_curve(grid.sizes, column).accuracy(80)[0]) for column in grid.seen.mean(axis=0).T
                ]
                line = learning_curves(grid.cases, np.array(at_80), 64)[0]
                found.append((grid.accuracy(24, 16).value, e.value, truth, line, e.low <= truth <= e.high))
            print(f"{name}, {noise}: " + "  ".join(f"{value:.3f}" for value in np.mean(found, axis=0)), flush=True)


def tree(samples: int) -> None:
    """The accuracy of finding the family, among four times as many families."""
    print("noise: predicted at 400 families; there it was; intervals that held it")
    rng = np.random.default_rng(0)
    family = np.repeat(np.arange(400), 5)
    small = family < 100
    for noise in (0.5, 1.0):
        found = []
        for _ in range(samples):
            centre = rng.normal(size=(400, 6))[family] + 0.4 * rng.normal(size=(family.size, 6))
            probe = centre + noise * rng.normal(size=centre.shape)
            scores = 2.0 * probe @ centre.T - (centre**2).sum(axis=1)
            truth = np.mean(family[scores.argmax(axis=1)] == family)
            part = scores[np.ix_(small, small)]
            e = cl.extrapolate(part, family[small], classes=family[small], k=[400], n_resamples=40).accuracy(400)
            found.append((e.value, truth, e.low <= truth <= e.high))
        print(f"{noise}: " + "  ".join(f"{value:.3f}" for value in np.mean(found, axis=0)), flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=6)
    samples = parser.parse_args().samples
    growth(samples)
    tree(samples)


if __name__ == "__main__":
    main()

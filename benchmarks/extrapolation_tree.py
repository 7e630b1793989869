"""The accuracy at a level of a tree of labels, predicted for four times as many families.

    python benchmarks/extrapolation_tree.py            a few minutes

Families of five normal classes in 6 dimensions; seen at 100 families, predicted at 400.
"""

from __future__ import annotations

import argparse

import numpy as np

import cutline as cl


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
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=6)
    tree(parser.parse_args().samples)


if __name__ == "__main__":
    main()

"""Make ``applicants.csv``: 400 people want to take a course that has 20 places.

The story. A college offers a free evening course in nursing. It has 20 places and 400 applicants, and last year's
applicants, all of whom were let in, show who completes the course: about one in four. Each applicant has an entry
test, school grades and the free hours per week. Three models, fitted on the years before, give each of last year's
applicants the probability of completing the course:

* ``tree``: a decision tree with eight leaves, so there are only eight different values and most applicants are tied
  with many others. Twenty places fall in the middle of a tie.
* ``logistic``: a logistic regression. It knows that every hour and every grade helps, and orders the whole list well,
  but it cannot know that a good test *together with* many free hours is what almost guarantees success.
* ``network``: a small neural network. It has found that combination, so the top of its list is excellent; further
  down it has learnt the noise of its training years.

So which model is best depends on how many places there are. That is the point: with 20 places the network leads, with
a hundred the logistic regression does, and one number such as the area under the ROC curve says neither.

Everything here is invented. The file is made again, byte for byte, by ``python examples/make_applicants.py``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

APPLICANTS = 400
SEED = 52
Features = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def sigmoid(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """From log odds to a probability."""
    return 1.0 / (1.0 + np.exp(-z))


def people(rng: np.random.Generator, n: int) -> tuple[Features, NDArray[np.bool_]]:
    """Entry test, grades and hours as standard scores, and who completes the course."""
    test, grades, hours = rng.normal(size=(3, n))
    both = (test > 0.7) & (hours > 0.5)  # a good test and the time to study
    odds = -1.75 + 0.75 * test + 0.65 * grades + 0.75 * hours + 2.6 * both
    return (test, grades, hours), rng.random(n) < sigmoid(odds)


def logistic(features: Features) -> NDArray[np.float64]:
    """The linear model: the right directions, no combination."""
    test, grades, hours = features
    return sigmoid(-1.5 + 0.95 * test + 0.7 * grades + 0.95 * hours)


def network(rng: np.random.Generator, features: Features) -> NDArray[np.float64]:
    """Sees the combination; what it makes of everybody else is half noise."""
    test, grades, hours = features
    both = sigmoid(6.0 * (test - 0.7)) * sigmoid(6.0 * (hours - 0.5))
    learnt = -1.9 + 0.55 * test + 0.45 * grades + 0.55 * hours + 3.4 * both
    return sigmoid(learnt + rng.normal(scale=0.85, size=len(test)) * (1.0 - 0.75 * both))


def leaves(features: Features) -> NDArray[np.int64]:
    """The eight leaves of the tree: three questions, one after the other."""
    test, grades, hours = features
    return 4 * (hours > 0.35) + 2 * (test > 0.55) + 1 * (grades > np.where(hours > 0.35, -0.2, 0.3))


def tree(rng: np.random.Generator, features: Features) -> NDArray[np.float64]:
    """Each leaf says the share of its training cases that completed the course, to two digits."""
    before, completed = people(rng, 1500)
    leaf = leaves(before)
    shares = np.bincount(leaf, weights=completed, minlength=8) / np.bincount(leaf, minlength=8)
    return np.round(shares, 2)[leaves(features)]


def make(seed: int = SEED) -> list[str]:
    """The lines of the file."""
    rng = np.random.default_rng(seed)
    features, completed = people(rng, APPLICANTS)
    columns = [tree(rng, features), logistic(features), network(rng, features)]
    lines = ["applicant,completed,tree,logistic,network"]
    for row in range(APPLICANTS):
        scores = f"{columns[0][row]:.2f},{columns[1][row]:.4f},{columns[2][row]:.4f}"
        lines.append(f"A{row + 1:03d},{int(completed[row])},{scores}")
    return lines


def main() -> None:
    """Write the file beside this script."""
    path = Path(__file__).with_name("applicants.csv")
    path.write_text("\n".join(make()) + "\n", encoding="utf-8", newline="\n")
    print(f"{path.name}: {APPLICANTS} applicants")


if __name__ == "__main__":
    main()

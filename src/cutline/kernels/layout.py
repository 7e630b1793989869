"""What a pass gathers, at which place of the vector of sums, and what it is given."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..types import Floats

# Which pass fills which fields. The names are the attributes of Sums.
PAIRS = ("won", "margin")
GAPS = ("top_gap", "low_gap")
PRECISION = (
    *("precision_steps", "pr_lower", "pr_lower_upper", "pr_upper"),
    *("first_step", "first_step_on_top", "last_step"),
)
PLACES = ("hit_rates_at_positives", "hit_rates", "found", "squares", "top_hits")
HULL = ("hull_area",)
LOSSES = (
    *("absolute", "squared", "pos_log", "neg_log", "pos_focal", "neg_focal"),
    *("pos_hinge", "neg_hinge", "information"),
)
TOTALS = ("n_pos", "n_neg", "cases")
PARTS = {"pairs": PAIRS, "gaps": GAPS, "precision": PRECISION, "places": PLACES, "hull": HULL, "losses": LOSSES}
FIELDS = TOTALS + PAIRS + GAPS + PRECISION + PLACES + HULL
CUT = ("tp", "fp", "fn", "tn", "spread_score", "spread_outcome", "comoment")

AT = {name: i for i, name in enumerate(FIELDS)}
SLICE = {part: slice(AT[names[0]], AT[names[-1]] + 1) for part, names in PARTS.items() if part != "losses"}


class Loss(NamedTuple):
    """Options of a sum of losses as the passes take them: log ε, γ, and the prior (nan: the sample's own share)."""

    log_eps: float
    gamma: float
    prior: float


class KernelRequest(NamedTuple):
    """What to sum in each of many rankings that have the same scores and differ in their counts.

    ``parts`` tells which passes to make, in the order of PARTS; ``losses`` has a row (log ε, γ, prior) for each set of
    options; ``above`` is the number of groups above each threshold; ``quotas`` are cases out of ``cases``, and are
    taken as shares of the cases drawn. ``harmonic`` is a table of harmonic numbers; empty where counts are not whole.
    """

    score: Any
    log_p: Any
    log_q: Any
    harmonic: Any
    parts: Any
    losses: Any
    above: Any
    scale: float
    quotas: Any
    cases: float


class Rows(NamedTuple):
    """Rows in the order of the ranking, the positives first, as replicates are drawn from them.

    ``unit`` gives each row's unit (empty: the row itself), ``weight`` each row's weight (empty: 1), ``pos`` and ``neg``
    the number of rows of each class in each group of the ranking.
    """

    unit: Any
    weight: Any
    pos: Any
    neg: Any


class Drawing(NamedTuple):
    """How units are drawn: the seed, the first unit and the number of units of each stratum, and all units.

    Where groups are blocks of rows, drawn whole: ``poisson`` and ``normal`` have 2¹⁶ quantiles of the Poisson
    distribution with mean 1 and of the normal distribution.
    """

    seed: int
    strata: Any
    n_units: int
    poisson: Any = np.empty(0, np.uint8)
    normal: Any = np.empty(0, np.float32)


def merged_moments(n: float, one: Floats, m: float, two: Floats) -> Floats:
    """Moments (two means, squared deviations of each, their products) of two sets of cases together."""
    if n == 0 or m == 0:
        return two.copy() if n == 0 else one.copy()
    by_score, by_outcome = two[0] - one[0], two[1] - one[1]
    share, shrink = m / (n + m), n / (n + m) * m
    means = one[0] + by_score * share, one[1] + by_outcome * share
    products = by_score * by_score, by_outcome * by_outcome, by_score * by_outcome
    return np.array([*means, *(one[k] + two[k] + product * shrink for k, product in enumerate(products, 2))])


def harmonic_table(n: int) -> Floats:
    """Σ 1/j for j up to each of 0 … n."""
    return np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, n + 1))))

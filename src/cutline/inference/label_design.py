"""Which rows to label for one measure: the chance of each row to be looked up, and a draw by these chances.

The best chances are proportional to √(m(1 − m))·|D|: m how likely the row is positive, D by how much its label moves
the measure. Nothing is known of m before there are labels, so several slopes of the log odds over the places of the
list are averaged; a floor keeps every row within reach, should all of them be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import Spec
from ..ranking import Ranking
from ..types import Floats
from .audited import KnownLabels
from .label_chances import chances, fit_chances, normal_scores, with_prevalence
from .mass_influence import mass_influence

SLOPES = (0.8, 1.5, 2.3)  # weak, usual and good models: AUC of about .7, .85 and .95
FLOOR = 0.1  # share of the budget that is spread evenly


def working_chances(rows: KnownLabels, share: float) -> list[Floats]:
    """How likely each distinct score is positive, by each of the guesses; by the known labels where there are some."""
    z = normal_scores(rows.size)
    if rows.known.any():
        at = rows.groups[1][rows.known]
        return [chances(fit_chances(z[at], rows.positive[rows.known].astype(np.float64), np.ones(len(at))), z)]
    return [with_prevalence(slope, z, rows.size, share) for slope in SLOPES]


def label_effects(spec: Spec, rows: KnownLabels, guesses: Sequence[Floats]) -> list[Floats]:
    """By how much a label moves the measure, for each distinct score and guess."""
    found = []
    for m in guesses:
        ranking = Ranking(rows.groups[0], m * rows.size, (1.0 - m) * rows.size, len(rows), True)
        of_pos, of_neg = mass_influence([spec], ranking)[spec]
        found.append(np.abs(of_pos - of_neg))
    return found


def inclusion_chances(rows: KnownLabels, guesses: Sequence[Floats], effects: Sequence[Floats], budget: int) -> Floats:
    """The chance of each row without a label; they add up to the budget. Known rows have 1."""
    group, open_ = rows.groups[1], ~rows.known
    worth = np.zeros(int(open_.sum()))
    for m, effect in zip(guesses, effects, strict=True):
        each = (np.sqrt(m * (1.0 - m)) * effect)[group[open_]]
        worth += (each / max(float(each.sum()), 1e-300)) ** 2
    worth = np.sqrt(worth)
    floor = FLOOR / len(worth)
    inclusion = np.ones(len(rows))
    inclusion[open_] = _capped((1.0 - FLOOR) * worth / worth.sum() + floor, budget)
    return inclusion


def _capped(worth: Floats, budget: int) -> Floats:
    """Chances proportional to a worth, none above 1, that add up to the budget."""
    found, free, left = np.ones(len(worth)), np.ones(len(worth), np.bool_), float(budget)
    while free.any():
        chance = left * worth / worth[free].sum()
        above = free & (chance >= 1.0)
        if not above.any():
            found[free] = chance[free]
            break
        free &= ~above
        left = budget - float(np.count_nonzero(~free))
    return found


def expected_error(rows: KnownLabels, guesses: Sequence[Floats], effects: Sequence[Floats], inclusion: Floats) -> float:
    """Standard error to expect: √(Σ (1/π − 1)·m(1 − m)·D²), the mean square over the guesses."""
    group = rows.groups[1]
    each = [
        float(((1.0 / inclusion - 1.0) * (m * (1.0 - m) * effect**2)[group]).sum())
        for m, effect in zip(guesses, effects, strict=True)
    ]
    return math.sqrt(sum(each) / len(each))


def draw_systematically(rows: KnownLabels, inclusion: Floats, seed: int) -> NDArray[np.intp]:
    """Rows drawn by their chances, evenly along the list: one random start, then every whole step; best first."""
    rng = np.random.default_rng([seed & (2**63 - 1), 18])
    open_ = np.flatnonzero(~rows.known)
    order = open_[np.lexsort((rng.random(len(open_)), rows.groups[1][open_]))]
    ends = np.cumsum(inclusion[order])
    budget = round(float(ends[-1]))
    at = np.searchsorted(ends, np.arange(budget) + rng.random() * (float(ends[-1]) / budget), side="right")
    return np.asarray(order[np.unique(np.minimum(at, len(order) - 1))], np.intp)

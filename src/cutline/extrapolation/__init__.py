"""Accuracy at more classes than were tested, after Zheng, Achanta & Benjamini.

:func:`extrapolate` answers in one call; :class:`AccuracyExtrapolator` has fit and predict. Every method has one
interface (:class:`Method`): it turns what was seen into a distribution of favorability.
"""

from __future__ import annotations

from .costs import ExtrapolatedCost, extrapolate_cost
from .extrapolation_result import Extrapolation, Observed
from .extrapolator import AccuracyExtrapolator, extrapolate
from .favorability import Favorability
from .methods import Method, every_method
from .notes import Note
from .open_set import OpenSet, PairAccuracy, extrapolate_open_set, extrapolate_pairs, pair_favorability
from .retrained_sizes import extrapolate_training
from .training_growth import TrainingGrowth, extrapolate_training_growth

__all__ = [
    "AccuracyExtrapolator",
    "ExtrapolatedCost",
    "Extrapolation",
    "Favorability",
    "Method",
    "Note",
    "Observed",
    "OpenSet",
    "PairAccuracy",
    "TrainingGrowth",
    "every_method",
    "extrapolate",
    "extrapolate_cost",
    "extrapolate_open_set",
    "extrapolate_pairs",
    "extrapolate_training",
    "extrapolate_training_growth",
    "pair_favorability",
]

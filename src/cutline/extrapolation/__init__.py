"""Accuracy at more classes than were tested, after Zheng, Achanta & Benjamini.

:func:`extrapolate` answers in one call. Every method has one interface (:class:`GrowthMethod`): it turns what was seen
into a distribution of favorability.
"""

from __future__ import annotations

from .curve_methods import FunctionBasis, LinearSpline
from .extrapolation_result import Extrapolation, Observed
from .extrapolator import extrapolate
from .favorability import Favorability
from .growth_comparison import GrowthComparison
from .growth_costs import ExtrapolatedCost, extrapolate_cost
from .method_choice import every_method
from .open_set import OpenSet, PairAccuracy, extrapolate_open_set, extrapolate_pairs, pair_favorability
from .task_evidence import GrowthMethod, Note
from .training_growth import TrainingGrowth, extrapolate_training, extrapolate_training_growth

__all__ = [
    "ExtrapolatedCost",
    "Extrapolation",
    "Favorability",
    "FunctionBasis",
    "GrowthComparison",
    "GrowthMethod",
    "LinearSpline",
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

"""Accuracy at more classes than were tested, after Zheng, Achanta & Benjamini.

:func:`extrapolate` answers in one call. Every method has one interface (:class:`GrowthMethod`): it turns what was seen
into a distribution of favorability.
"""

from __future__ import annotations

from .curve_methods import FunctionBasis, LinearSpline
from .extrapolation_result import Extrapolation, GrowthTable, Observed
from .extrapolator import extrapolate
from .favorability import Favorability
from .growth_comparison import GrowthComparison
from .growth_costs import extrapolate_cost
from .method_choice import every_method
from .open_set import extrapolate_open_set, extrapolate_pairs
from .review_quota import extrapolate_review
from .tasks import GrowthMethod, Note
from .training_growth import TrainingGrowth, extrapolate_training

__all__ = [
    "Extrapolation",
    "Favorability",
    "FunctionBasis",
    "GrowthComparison",
    "GrowthMethod",
    "GrowthTable",
    "LinearSpline",
    "Note",
    "Observed",
    "TrainingGrowth",
    "every_method",
    "extrapolate",
    "extrapolate_cost",
    "extrapolate_open_set",
    "extrapolate_pairs",
    "extrapolate_review",
    "extrapolate_training",
]

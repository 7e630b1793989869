"""Accuracy at more classes than were tested, after Zheng, Achanta & Benjamini.

:func:`extrapolate` answers in one call. Every method has one interface (:class:`GrowthMethod`): it turns what was seen
into a distribution of favorability.
"""

from __future__ import annotations

from .extrapolation_result import Extrapolation, GrowthComparison, GrowthTable, Observed
from .extrapolator import every_method, extrapolate
from .favorability import Favorability
from .methods import FunctionBasis, LinearSpline
from .tasks import GrowthMethod, Note

__all__ = ["Extrapolation", "GrowthComparison", "GrowthTable", "Note", "Observed", "extrapolate"]
__all__ += ["Favorability", "FunctionBasis", "GrowthMethod", "LinearSpline", "every_method"]

"""Accuracy at more classes than were tested, after Zheng, Achanta & Benjamini.

:func:`extrapolate` answers in one call; :class:`AccuracyExtrapolator` has fit and predict. Each method is a file of
its own with one interface (:class:`Method`): it turns what was seen into a distribution of favorability.
"""

from __future__ import annotations

from .extrapolator import AccuracyExtrapolator, extrapolate
from .favorability import Favorability
from .method import Method, every_method
from .observed import Observed
from .result import Extrapolation

__all__ = [
    "AccuracyExtrapolator",
    "Extrapolation",
    "Favorability",
    "Method",
    "Observed",
    "every_method",
    "extrapolate",
]

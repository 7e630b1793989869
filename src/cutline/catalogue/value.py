"""Measures of what a list is worth: the worth of the positives that a cut takes, at a quota or at a threshold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..ranking import membership
from ..sources.arrays import Sample
from ..types import Floats
from .declare import declare_share


class ValueSums(NamedTuple):
    """Columns summed over the cases that a cut takes, each row with the share of it that is taken.

    ``captured``: the worth of the positives; ``places``: cases. ``total`` is the worth of all positives, ``unit`` 1. Of
    influences, each is an array and ``unit`` 0.
    """

    captured: Any
    total: Any
    places: Any
    unit: Any = 1.0


def taken_rows(sample: Sample, places: float | None, threshold: float) -> Floats:
    """The share of each row that a cut takes: after some places, a tie across them pro rata, or above a threshold."""
    assert sample.worth is not None
    order = sample.worth.order(sample.score)
    return (order > threshold).astype(np.float64) if places is None else membership(order, places, sample.weight)


def gains(sample: Sample) -> Floats:
    """What each row brings if it is taken, for one of the cases it represents."""
    assert sample.worth is not None
    return np.where(sample.positive, sample.worth.value, 0.0)


def value_sums(sample: Sample, taken: Floats) -> ValueSums:
    """The sums of a cut that takes these shares of the rows."""
    gain, weight = gains(sample), sample.row_weight
    of_taken = weight * taken
    return ValueSums(float(of_taken @ gain), float(weight @ gain), float(of_taken.sum()))


def best_possible(sample: Sample, places: float) -> float:
    """The value that the best of all lists would capture with as many places."""
    gain = gains(sample)
    return float((sample.row_weight * membership(gain, places, sample.weight)) @ gain)


@declare_share(
    "Value captured",
    "value",
    formula="sum of the worth of the positives taken",
    latex=r"\sum_{k=1}^j v^{[k]} t^{[k]}",
    reference="weighted gain at the cut of the quota (Arbel & Rokach Eq. 4–5 with amounts in place of hits)",
    perfect="the worth of the j positives that are worth most",
    extensive=True,
    interval="hall",
)
def value_captured(s: ValueSums) -> Any:
    """The worth of the positives among the cases taken; a tie at the cut counts proportionally.

    >>> value_captured([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1], worth=[10, 5, 40, 8], quota=2)
    30.0
    """
    return s.captured, s.unit


@declare_share(
    "Value recall",
    "value",
    range=(0.0, 1.0),
    formula="value captured / worth of all positives",
    latex=r"\frac{\sum_{k=1}^j v^{[k]} t^{[k]}}{\sum_{k=1}^n v^{[k]} t^{[k]}}",
    reference="Qrecall (Arbel & Rokach Eq. 6–7) with amounts in place of hits",
    perfect="1, or less where the places are too few for all positives",
    needs=("positives",),
    undefined="no positive is worth anything",
    interval="hall",
)
def value_recall(s: ValueSums) -> Any:
    """The share of all value that is captured.

    >>> value_recall([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1], worth=[10, 5, 40, 8], quota=1)
    0.2
    """
    return s.captured, s.total


@declare_share(
    "Value per place",
    "value",
    formula="value captured / cases taken",
    latex=r"\frac1j\sum_{k=1}^j v^{[k]} t^{[k]}",
    reference="hit rate (Arbel & Rokach Eq. 4–5) with amounts in place of hits",
    perfect="the mean worth of the j positives that are worth most",
    undefined="no case is taken",
    interval="hall",
)
def value_per_place(s: ValueSums) -> Any:
    """The value captured for each case taken.

    >>> value_per_place([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1], worth=[10, 5, 40, 8], quota=2)
    5.0
    """
    return s.captured, s.places

"""Places by segment: whom to take where each segment has a number of places of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, listed, show
from ..quotas import resolve_quota
from ..sources.arrays import as_numbers
from ..sources.levels import as_levels, label_of
from ..types import Labels, Scores
from ..validate import check_whole
from .selection import Selection, TieRule, select


@dataclass(frozen=True, eq=False, repr=False)
class SegmentSelection(Selection):
    """The chosen rows of all segments, best first; ``places`` says how many each segment has."""

    places: Mapping[str, int] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """How many were chosen in each segment."""
        each = ", ".join(f"{name} {places}" for name, places in self.places.items())
        return f"{len(self)} chosen; places by segment: {each}"


def select_by(
    y_score: Scores, quota: int | float | Mapping[Any, int], segment: Labels, *, ties: TieRule = "random", seed: int = 0
) -> SegmentSelection:
    """Choose the best rows of each segment.

    ``quota``: a share of each segment's cases; a number of places in all, which segments share in proportion to their
    cases; or a mapping from segment to its places.
    """
    score, _, _ = as_numbers(y_score, "y_score")
    levels = as_levels(segment, len(score))
    sizes = np.bincount(levels.codes, minlength=len(levels.keys))
    names = [label_of(key) for key in levels.keys]
    places = _given(quota, names, sizes) if isinstance(quota, Mapping) else _in_proportion(quota, sizes)
    chosen, tied, drawn = [], 0, 0
    for k, own in enumerate(places.tolist()):
        if own:
            rows = np.flatnonzero(levels.codes == k)
            found = select(score[rows], own, ties=ties, seed=seed)
            chosen.append(rows[found.indices])
            tied, drawn = tied + found.tied, drawn + found.taken_of_tied
    rows = np.sort(np.concatenate(chosen)) if chosen else np.empty(0, np.intp)
    rows = rows[np.argsort(-score[rows].astype(np.float64), kind="stable")]
    by_segment = dict(zip(names, places.tolist(), strict=True))
    return SegmentSelection(rows, int(places.sum()), float("nan"), tied, drawn, ties, places=by_segment)


def _in_proportion(quota: int | float, sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Whole places in proportion to the cases: what is left over goes to the largest remainders."""
    whole = resolve_quota(quota, int(sizes.sum()))
    exact = whole * sizes / sizes.sum()
    places: NDArray[np.intp] = np.floor(exact + 1e-9).astype(np.intp)
    left = whole - int(places.sum())
    places[np.argsort(places - exact, kind="stable")[:left]] += 1
    return places


def _given(quota: Mapping[Any, int], names: list[str], sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    asked = {label_of(key): value for key, value in quota.items()}
    strange = [name for name in asked if name not in names]
    gone = [name for name in names if name not in asked]
    if strange or gone:
        said = f"names {listed(strange)}, which is not a segment" if strange else f"has no places for {listed(gone)}"
        raise InputError("quota", said, f"give a number for each of {listed(names)}")
    places = np.array([check_whole(asked[name], "quota", 0) for name in names], np.intp)
    over = np.flatnonzero(places > sizes)
    if len(over):
        k = int(over[0])
        said = f"gives {show(names[k])} {places[k]} places, but it has {sizes[k]} cases"
        raise InputError("quota", said, "give at most as many")
    if not places.any():
        raise InputError("quota", "gives no one a place", "give at least one")
    return places

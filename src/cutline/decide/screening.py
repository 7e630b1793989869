"""Progressive screening: stage after stage, each with its own score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import ratio
from ..errors import InputError
from ..sample import as_numbers, make_sample
from ..table import Table
from ..validate import check_number, checked
from .selection import TieRule, select


@dataclass(frozen=True, eq=False)
class Screening:
    """Who is left in the end, and what each stage kept, lost and cost."""

    chosen: NDArray[np.intp]
    stages: Table

    @property
    def lost(self) -> int:
        """Positives lost over all stages."""
        return int(sum(row["positives_lost"] for row in self.stages))

    @property
    def cost(self) -> float:
        """Cost of all stages."""
        return float(sum(row["cost"] for row in self.stages))

    def __repr__(self) -> str:
        return repr(self.stages)

    def _repr_html_(self) -> str:
        from ..present.notebook import screening_html

        return screening_html(self)


@checked
def screen(
    y_true: Any,
    stages: Sequence[tuple[Any, int | float]],
    *,
    costs: Sequence[float] | None = None,
    ties: TieRule = "random",
    seed: int = 0,
    pos_label: Any = None,
) -> Screening:
    """Screen in stages: each ``(score, keep)`` keeps the best of those that are left.

    ``keep`` is a number of rows, or a share of those that enter the stage. Early stages usually screen negatively (keep
    all but the hopeless, on a cheap score), the last positively (fill the quota). Every score covers all rows, since it
    is not known before who will be left. ``costs`` are per case examined at each stage.

    >>> s = screen([1, 0, 1, 0], [([0.9, 0.1, 0.6, 0.5], 0.75), ([0.2, 0.1, 0.9, 0.8], 2)], costs=[1, 10])
    >>> s.chosen.tolist(), s.lost, s.cost
    ([2, 3], 1, 34.0)
    """
    if not stages:
        raise InputError("stages is empty; pass at least one (score, keep)")
    prices = [0.0] * len(stages) if costs is None else [check_number(c, "costs", 0.0) for c in costs]
    if len(prices) != len(stages):
        raise InputError(f"costs has {len(prices)} entries but there are {len(stages)} stages; pass one for each")
    first = _stage(stages[0], 1)
    positive = make_sample(y_true, first[0], pos_label=pos_label).positive
    left = np.arange(len(positive))
    n_pos = int(positive.sum())
    rows = []
    for k, stage in enumerate(stages, start=1):
        values, keep = _stage(stage, k)
        score, _, _ = as_numbers(values, f"stages[{k - 1}] score")
        if len(score) != len(positive):
            raise InputError(
                f"stages[{k - 1}] has {len(score)} scores but y_true has {len(positive)} rows: score every row"
            )
        kept = left[np.asarray(select(score[left], keep, ties=ties, seed=seed + k))]
        before, after = int(positive[left].sum()), int(positive[kept].sum())
        rows.append(
            {
                "stage": k,
                "enter": len(left),
                "keep": len(kept),
                "positives_enter": before,
                "positives_keep": after,
                "positives_lost": before - after,
                "hit_rate": float(ratio(after, len(kept))),
                "recall_so_far": float(ratio(after, n_pos)),
                "cost": prices[k - 1] * len(left),
            }
        )
        left = kept
    return Screening(np.sort(left), Table(rows, "Progressive screening"))


def _stage(stage: Any, k: int) -> tuple[Any, Any]:
    if not (isinstance(stage, tuple | list) and len(stage) == 2):
        raise InputError(f"stages[{k - 1}] must be a pair (score, keep), got {type(stage).__name__}")
    return stage[0], stage[1]

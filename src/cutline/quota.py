"""Limited places: what each portion of the ranked list holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InputError
from .measures.catalogue import ratio
from .ranking import Ranking, rank
from .rows import Rows
from .sample import make_sample


def lift_table(y_true: Any, y_score: Any, *, portions: int = 10, pos_label: Any = None) -> Rows:
    """Lift by portions of the ranked list (Arbel & Rokach section 2.2.5), with cumulative columns beside.

    Portion k of m holds the places ⌊n(k−1)/m⌋+1 … ⌊nk/m⌋: whole places, so that sizes differ by one at most where n is
    no multiple of m. A tie across a boundary is shared pro rata (Eq. 5).

    >>> table = lift_table([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2], portions=3)
    >>> [row["lift"] for row in table]
    [2.0, 1.0, 0.0]
    """
    ranking = rank(make_sample(y_true, y_score, pos_label=pos_label))
    if isinstance(portions, bool) or not isinstance(portions, int | np.integer) or not 1 <= portions <= ranking.rows:
        raise InputError(f"portions={portions!r} must be a whole number from 1 to the number of rows, {ranking.rows}")
    return lift_rows(ranking, int(portions))


def lift_rows(ranking: Ranking, portions: int) -> Rows:
    """The lift table of a ranking."""
    n, share = ranking.rows, ranking.n_pos / ranking.rows
    size = ranking.pos.astype(np.int64) + ranking.neg
    ends = np.concatenate([[0], np.cumsum(size)])
    hits = np.concatenate([[0.0], np.cumsum(ranking.pos, dtype=np.float64)])
    bounds = [n * k // portions for k in range(portions + 1)]
    found = np.interp(bounds, ends, hits)  # linear inside a tie: its share of positives at every place
    groups = np.searchsorted(ends[1:], np.array(bounds[1:]) - 1, side="right")
    rows = []
    for k in range(portions):
        rows_here, hits_here = bounds[k + 1] - bounds[k], float(found[k + 1] - found[k])
        rows.append(
            {
                "portion": k + 1,
                "from": bounds[k] + 1,
                "to": bounds[k + 1],
                "rows": rows_here,
                "lowest_score": float(ranking.score[groups[k]]),
                "positives": hits_here,
                "hit_rate": hits_here / rows_here,
                "lift": float(ratio(hits_here / rows_here, share)),
                "cumulative_positives": float(found[k + 1]),
                "qrecall": float(ratio(found[k + 1], ranking.n_pos)),
                "cumulative_lift": float(ratio(found[k + 1] / bounds[k + 1], share)),
            }
        )
    return Rows(rows, "Lift by portions of the ranked list")

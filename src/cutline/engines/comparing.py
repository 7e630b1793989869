"""Evaluations of several score columns of one table -> Comparison, whatever engine has streamed the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..catalogue.compute import DEFAULT_THRESHOLD
from ..comparison import Comparison, common_threshold
from ..evaluation import Evaluation
from ..inference.delong import placements
from ..inference.evidence import Rows
from ..inference.paired import Pairs, RowPairs
from .pairs import Gaps, Pair
from .request import EvaluationRequest

Floats = NDArray[np.float64]
Discordant = dict[tuple[str, str, float], tuple[int, int]]


@dataclass(frozen=True)
class StreamedPairs:
    """What tells pairs of streamed models apart, as counted in passes over their rows."""

    independent: bool
    variances: Mapping[Pair, float]
    counted: Discordant
    paired: bool = True

    def auc_variance(self, a: str, b: str) -> float:
        """Variance of the difference of two AUCs."""
        return self.variances[a, b]

    def discordant(self, a: str, b: str, threshold: float) -> tuple[int, int]:
        """Rows that only one of the two gets right."""
        return self.counted[a, b, threshold]


def compared(
    evaluations: dict[str, Evaluation],
    drawn: dict[str, dict[str, Floats]],
    wishes: EvaluationRequest,
    margin: float | None,
    *,
    add_rows: Callable[[Gaps], None],
    count: Callable[[Sequence[float]], Discordant],
) -> Comparison:
    """The comparison of models that were evaluated on the same rows.

    What pairs of streamed models need beyond that takes a pass over the rows each: ``add_rows`` adds all rows to
    the gaps between placements, ``count`` gives, for each pair and threshold, how many rows only the first and only
    the second model gets right.
    """
    first = next(iter(evaluations.values()))
    in_memory = {model: ev.rows for model, ev in evaluations.items() if isinstance(ev.rows, Rows)}
    pairs: Pairs = RowPairs(in_memory, True) if in_memory else _streamed_pairs(evaluations, add_rows, count)
    return Comparison(
        evaluations, first.specs, first.settings, first.quota, common_threshold(evaluations), margin, pairs, drawn
    )


def _streamed_pairs(
    evaluations: Mapping[str, Evaluation],
    add_rows: Callable[[Gaps], None],
    count: Callable[[Sequence[float]], Discordant],
) -> StreamedPairs:
    first = next(iter(evaluations.values()))
    independent = first.rows.independent
    if not independent or first.settings.interval is None or len(evaluations) < 2:
        return StreamedPairs(independent, {}, {})
    specs = first.specs.values()
    variances: dict[Pair, float] = dict.fromkeys(combinations(evaluations, 2), np.nan)
    if min(first.ranking.n_pos, first.ranking.n_neg) > 1 and any(s.measure.paired_test == "delong" for s in specs):
        gaps = Gaps({model: (ev.ranking.score, *placements(ev.ranking)) for model, ev in evaluations.items()})
        add_rows(gaps)
        variances = gaps.variances()
    decisions = [spec for spec in specs if spec.measure.paired_test == "mcnemar"]
    thresholds = {DEFAULT_THRESHOLD if spec.threshold is None else spec.threshold for spec in decisions}
    return StreamedPairs(independent, variances, count(sorted(thresholds)) if thresholds else {})

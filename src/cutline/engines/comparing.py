"""Evaluations of several score columns of one table -> Comparison, whatever engine has streamed the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np

from ..catalogue.compute import threshold_of
from ..comparison import Comparison, common_threshold
from ..evaluation import Evaluation
from ..inference.delong import placements
from ..inference.evidence import Rows
from ..inference.paired import Pairs, RowPairs, StreamedPairs
from ..types import Floats
from .pairs import Gaps, Pair
from .request import EvaluationRequest

Discordant = dict[tuple[str, str, float], tuple[int, int]]


def compared(
    evaluations: dict[str, Evaluation],
    drawn: dict[str, dict[str, Floats]],
    request: EvaluationRequest,
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
    pairs: Pairs
    if isinstance(first.rows, Rows):
        pairs = RowPairs.of(evaluations, paired=True)
    else:
        pairs = _streamed_pairs(evaluations, add_rows, count)
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
    decisions = [spec for spec in specs if spec.measure.paired_test == "decisions"]
    thresholds = set(map(threshold_of, decisions))
    return StreamedPairs(independent, variances, count(sorted(thresholds)) if thresholds else {})

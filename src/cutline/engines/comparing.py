"""Evaluations of several score columns of one table -> Comparison, whatever engine has streamed the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ..catalogue.compute import threshold_of
from ..comparison import Comparison, common_threshold
from ..evaluation import Evaluation
from ..inference.areas import placements
from ..inference.paired import Pairs, StreamedPairs
from ..sources.tables import Checked, Table
from ..types import Floats
from .pairs import Gaps, Pair

Discordant = dict[tuple[str, str, float], tuple[int, int]]


def _have_closed_forms(evaluations: Mapping[str, Evaluation]) -> bool:
    first = next(iter(evaluations.values()))
    return first.rows.independent and first.settings.interval is not None and len(evaluations) > 1


def gaps_between(evaluations: Mapping[str, Evaluation]) -> Gaps | None:
    """What the rows are to be added to, where areas of models are compared by their placements; else None."""
    first = next(iter(evaluations.values()))
    by_area = any(spec.measure.paired_test == "delong" for spec in first.specs.values())
    if not by_area or not _have_closed_forms(evaluations) or min(first.ranking.n_pos, first.ranking.n_neg) < 2:
        return None
    return Gaps({model: (ev.ranking.score, *placements(ev.ranking)) for model, ev in evaluations.items()})


def thresholds_compared(evaluations: Mapping[str, Evaluation]) -> list[float]:
    """Thresholds at which rows are to be counted that only one of two models gets right."""
    if not _have_closed_forms(evaluations):
        return []
    specs = next(iter(evaluations.values())).specs.values()
    return sorted({threshold_of(spec) for spec in specs if spec.measure.paired_test == "decisions"})


def row_pairs(evaluations: Mapping[str, Evaluation], gaps: Gaps | None, counted: Discordant) -> StreamedPairs:
    """Pairs of models that were streamed on the same rows, which ``gaps`` has seen."""
    variances: dict[Pair, float] = dict.fromkeys(combinations(evaluations, 2), np.nan)
    first = next(iter(evaluations.values()))
    return StreamedPairs(first.rows.independent, variances if gaps is None else gaps.variances(), counted)


def comparison_of(
    evaluations: dict[str, Evaluation], drawn: dict[str, dict[str, Floats]], margin: float | None, pairs: Pairs
) -> Comparison:
    """The comparison of models whose rows were streamed."""
    first = next(iter(evaluations.values()))
    return Comparison(
        evaluations, first.specs, first.settings, first.quota, common_threshold(evaluations), margin, pairs, drawn
    )


def discordant_rows(
    table: Table, checked: Checked, thresholds: Sequence[float], keys: Sequence[str] = ()
) -> dict[tuple[Any, ...], Discordant]:
    """Rows that only the first, and that only the second of two models gets right; for each value of some keys.

    One query counts them all.
    """
    named: list[tuple[str, str, float]] = []
    terms: list[str] = []
    for threshold in thresholds:
        right = {
            model: f"(({score} > CAST('{threshold!r}' AS DOUBLE)) = {checked.positive})"
            for model, score in checked.scores.items()
        }
        for a, b in combinations(checked.scores, 2):
            named.append((a, b, threshold))
            terms += [
                f"count(*) FILTER (WHERE {x} AND NOT {y})" for x, y in ((right[a], right[b]), (right[b], right[a]))
            ]
    n = len(keys)
    return {
        tuple(row[:n]): {key: (int(row[n + 2 * i]), int(row[n + 2 * i + 1])) for i, key in enumerate(named)}
        for row in table.grouped(checked, keys, terms)
    }

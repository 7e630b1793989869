"""Differences between models at another share of positives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..estimate import Interval
from .differences import DifferenceTest
from .evidence import Rows
from .normal import normal_cdf, normal_quantile
from .paired import Pair, RowPairs
from .prevalence import AtPrevalence, widened_limits
from .proportions import z_of


@dataclass(frozen=True, eq=False)
class PrevalencePairs:
    """Pairs of models at another share of positives: what it moves is tested there, the rest on the rows as sampled."""

    sampled: RowPairs
    moved: RowPairs
    models: Mapping[str, AtPrevalence]

    @classmethod
    def of(cls, evaluations: Mapping[str, Any], *, paired: bool) -> PrevalencePairs:
        """From the models' evaluations."""
        models = {name: ev.at_prevalence for name, ev in evaluations.items()}
        moved = RowPairs.of(evaluations, paired=paired)
        return cls(replace(moved, rows={name: one.sampled for name, one in models.items()}), moved, models)

    @property
    def paired(self) -> bool:
        """Whether the models are on the same rows."""
        return self.sampled.paired

    @property
    def rows(self) -> Mapping[str, Rows]:
        """The rows of each model, with the other share of positives."""
        return self.moved.rows

    def test(self, pair: Pair) -> DifferenceTest:
        """The difference of two models by one measure, tested; the error of the prevalence counts for both alike."""
        one, two = self.models[pair.a], self.models[pair.b]
        key = str(pair.spec)
        if key not in one.moved:
            rankings = one.sampled.ranking, two.sampled.ranking
            return self.sampled.test(replace(pair, rankings=rankings))
        found = self.moved.test(pair)
        if key not in one.ends or found.low != found.low:
            return found
        level, difference = pair.settings.level, pair.difference
        ends = tuple(a - b for a, b in zip(one.ends[key], two.ends[key], strict=True))
        low, high = widened_limits(difference, Interval(found.low, found.high), ends)  # type: ignore[arg-type]
        more = abs(ends[1] - ends[0]) / (2.0 * z_of(level))
        error = math.hypot(found.standard_error, more)
        p_value = found.p_value
        if 0.0 < p_value < 1.0 and error > 0.0:
            z = -normal_quantile(p_value / 2.0) * found.standard_error / error
            p_value = min(1.0, max(p_value, 2.0 * normal_cdf(-z)))
        return found._replace(low=low, high=high, standard_error=error, p_value=p_value)

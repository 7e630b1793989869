"""Evaluations of several score columns of one table -> Comparison, whatever engine has streamed the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..catalogue.declare import Spec
from ..comparison import Comparison
from ..decide.dominance import dominance
from ..errors import InputError
from ..evaluation import Evaluation, choose_specs
from ..inference import paired as tests
from ..inference.delong import placements
from ..inference.intervals import AUC_FAMILY, auc_line
from ..sample import resolve_quota
from ..table import Table
from .pairs import Gaps, Pair
from .poisson import AXES, SHARES
from .request import EvaluationRequest
from .result import TableEvaluation

Floats = NDArray[np.float64]
Discordant = dict[tuple[str, str, float], tuple[int, int]]
_OF_DECISIONS = ("accuracy", "error_rate", "zero_one_loss")


@dataclass(frozen=True, eq=False, repr=False)
class TableComparison(Comparison):
    """A comparison of streamed tables: what it needs of pairs of rows was counted in a pass over them."""

    variances: Mapping[Pair, float] = field(default_factory=dict)
    discordant: Mapping[tuple[str, str, float], tuple[int, int]] = field(default_factory=dict)

    def dominance(self, by: str = "quota") -> Table:
        """From which quota (or false positive rate) to which each model leads, read where blocks of the rankings end.

        ``share`` is nan where no replicates were drawn (``interval=None``).
        """
        if by not in AXES:
            raise InputError(f"dominance is by 'quota' or 'fpr', got {by!r}")
        if by == "quota":
            self._need_rows_that_count_alike("dominance by quota")
        rankings = {model: ev.ranking for model, ev in self.evaluations.items()}
        first = next(iter(rankings.values()))
        sides = [(r.pos + r.neg) if by == "quota" else r.neg for r in rankings.values()]
        ends = [np.cumsum(side, dtype=np.float64) for side in sides]
        places = np.unique(np.concatenate([[0.0] if by == "fpr" else [], *ends]))
        drawn = [ev.hits[by] for ev in self.evaluations.values() if isinstance(ev, TableEvaluation) and ev.hits]
        grid = SHARES * (first.rows if by == "quota" else first.n_neg)
        unknown = np.full((len(rankings), 1, len(grid)), np.nan)
        return dominance(rankings, by, places, grid, np.array(drawn) if drawn else unknown)

    def swap_test(self, a: str, b: str, measure: str = "roc_auc", **options: Any) -> tests.SwapTest:
        """Not for streamed tables: it swaps scores of rows that were not kept."""
        raise InputError("the swap test needs the rows, but they were not kept in memory; use a sample of the rows")

    def _pair(self, a: str, b: str, key: str, spec: Spec) -> dict[str, Any]:
        row = super()._pair(a, b, key, spec)
        threshold = 0.5 if spec.threshold is None else spec.threshold
        if (a, b, threshold) in self.discordant and spec.measure.name in _OF_DECISIONS and row["method"]:
            row["p_value"] = _mcnemar(*self.discordant[a, b, threshold])
        return row

    def _by_delong(self, a: str, b: str, name: str) -> dict[str, Any]:
        first = self.evaluations[a]
        slope, start = auc_line(name, first.ranking)
        areas = [(ev[name].value - start) / slope for ev in (first, self.evaluations[b])]
        difference, variance = areas[0] - areas[1], self.variances[a, b]
        low, high = tests.normal_interval(difference, variance, self.settings.level)
        return {
            "low": low * slope,
            "high": high * slope,
            "standard_error": float(np.sqrt(variance)) * slope,
            "p_value": tests.normal_p(difference, variance),
            "method": "delong",
        }


def _mcnemar(first_only: int, second_only: int) -> float:
    """Exact two-sided McNemar test from the numbers of rows that only one model gets right."""
    from scipy.special import bdtr

    total = first_only + second_only
    return min(1.0, 2.0 * float(bdtr(min(first_only, second_only), total, 0.5))) if total else 1.0


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
    weighted = first.ranking.weighted
    chosen = choose_specs(wishes.measures, threshold=wishes.threshold, quota=wishes.quota, weighted=weighted)
    specs = {str(spec): spec for spec in chosen}
    rows = None if wishes.quota is None else resolve_quota(wishes.quota, first.ranking.rows)
    common = (evaluations, specs, first.settings, rows, wishes.threshold, True, margin, None, drawn)
    if not isinstance(first, TableEvaluation):
        return Comparison(*common)
    variances: dict[Pair, float] = {}
    discordant: Discordant = {}
    if not weighted and first.settings.interval is not None and len(evaluations) > 1:
        both = first.ranking.n_pos > 1 and first.ranking.n_neg > 1
        if both and any(spec.measure.name in AUC_FAMILY for spec in chosen):
            gaps = Gaps({model: (ev.ranking.score, *placements(ev.ranking)) for model, ev in evaluations.items()})
            add_rows(gaps)
            variances = gaps.variances()
        thresholds = {
            0.5 if spec.threshold is None else spec.threshold for spec in chosen if spec.measure.name in _OF_DECISIONS
        }
        discordant = count(sorted(thresholds)) if thresholds else {}
    return TableComparison(*common, variances=variances, discordant=discordant)

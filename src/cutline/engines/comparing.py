"""Several score columns of one table -> Comparison: each sorted once, paired row by row."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compare import Comparison
from ..errors import InputError
from ..evaluate import Evaluation, choose_specs
from ..inference import paired as tests
from ..inference.delong import placements
from ..inference.intervals import AUC_FAMILY, auc_line
from ..measures.catalogue import Spec
from ..ranking import Ranking
from ..rows import Rows
from ..sample import resolve_quota
from .arrow_stream import batches
from .duckdb_checks import Columns, check
from .duckdb_engine import evaluate
from .duckdb_source import Source, quoted, told
from .result import TableEvaluation
from .stream import Moments
from .wishes import Wishes

Floats = NDArray[np.float64]
Pair = tuple[str, str]
_OF_DECISIONS = ("accuracy", "error_rate", "zero_one_loss")


@dataclass(frozen=True, eq=False, repr=False)
class TableComparison(Comparison):
    """A comparison of streamed tables: what it needs of pairs of rows was counted in a pass over them."""

    variances: Mapping[Pair, float] = field(default_factory=dict)
    discordant: Mapping[tuple[str, str, float], tuple[int, int]] = field(default_factory=dict)

    def dominance(self, by: str = "quota") -> Rows:
        """Not for streamed tables: it draws rows again, and they were not kept."""
        raise InputError("dominance draws the rows again, but they were not kept in memory; use a sample of the rows")

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


def compare(
    source: Source,
    *,
    label: str,
    scores: Mapping[str, str],
    weight: str | None,
    positive: Any,
    missing: str,
    margin: float | None,
    wishes: Wishes,
) -> Comparison:
    """Compare score columns of a table on the rows that have all of them."""
    evaluations: dict[str, Evaluation] = {}
    drawn: dict[str, dict[str, Floats]] = {}
    for model, column in scores.items():
        others = [other for other in scores.values() if other != column]
        drawn[model] = {}
        evaluations[model] = evaluate(
            source,
            label=label,
            score=column,
            weight=weight,
            positive=positive,
            missing=missing,
            name=model,
            wishes=wishes,
            others=others,
            keep=drawn[model],
        )
    first = next(iter(evaluations.values()))
    chosen = choose_specs(wishes.measures, threshold=wishes.threshold, quota=wishes.quota, weighted=weight is not None)
    specs = {str(spec): spec for spec in chosen}
    rows = None if wishes.quota is None else resolve_quota(wishes.quota, first.ranking.rows)
    common = (evaluations, specs, first.settings, rows, wishes.threshold, True, margin, None, drawn)
    if not isinstance(first, TableEvaluation):
        return Comparison(*common)
    variances: dict[Pair, float] = {}
    discordant: dict[tuple[str, str, float], tuple[int, int]] = {}
    if weight is None and first.settings.interval is not None and len(scores) > 1:
        one = next(iter(scores.values()))
        others = [column for column in scores.values() if column != one]
        columns, _ = check(source, label, one, weight, positive, missing, others)
        rankings = {model: ev.ranking for model, ev in evaluations.items()}
        both = first.ranking.n_pos > 1 and first.ranking.n_neg > 1
        if both and any(spec.measure.name in AUC_FAMILY for spec in chosen):
            variances = _variances(source, columns, scores, rankings)
        thresholds = {
            0.5 if spec.threshold is None else spec.threshold for spec in chosen if spec.measure.name in _OF_DECISIONS
        }
        discordant = _discordant(source, columns, scores, sorted(thresholds))
    return TableComparison(*common, variances=variances, discordant=discordant)


def _variances(
    source: Source, columns: Columns, scores: Mapping[str, str], rankings: Mapping[str, Ranking]
) -> dict[Pair, float]:
    """Variance of each pair's difference of AUCs (DeLong), from the placements of every row in both rankings.

    A row's placement is read from the compact ranking, where it is known to within the tolerance.
    """
    pairs = list(combinations(scores, 2))
    moments = {(pair, side): Moments() for pair in pairs for side in range(2)}
    steps = {model: (r.score[::-1].copy(), placements(r)) for model, r in rankings.items()}
    what = ", ".join(f"{quoted(column)}::DOUBLE AS score_{k}" for k, column in enumerate(scores.values()))
    sql = columns.select(f"{columns.positive}::UTINYINT AS positive, {what}", source.table)
    with told(source.name, False), closing(batches(source.run(sql), source.interrupt)) as arriving:
        for batch in arriving:
            positive = batch["positive"].astype(np.bool_)
            found: dict[str, tuple[Floats, Floats]] = {}
            for k, model in enumerate(scores):
                ascending, (of_pos, of_neg) = steps[model]
                block = len(ascending) - np.searchsorted(ascending, batch[f"score_{k}"], side="left") - 1
                found[model] = of_pos[block[positive]], of_neg[block[~positive]]
            for a, b in pairs:
                for side in range(2):
                    gap = found[a][side] - found[b][side]
                    if len(gap):
                        mean = float(gap.mean())
                        key = (a, b), side
                        moments[key] = moments[key].joined(len(gap), mean, float(((gap - mean) ** 2).sum()))
    return {pair: sum(m.squares / (m.n - 1) / m.n for m in (moments[pair, 0], moments[pair, 1])) for pair in pairs}


def _discordant(
    source: Source, columns: Columns, scores: Mapping[str, str], thresholds: list[float]
) -> dict[tuple[str, str, float], tuple[int, int]]:
    """Rows that only the first, and that only the second of two models gets right, by one query for all."""
    terms: dict[tuple[str, str, float], tuple[str, str]] = {}
    for threshold in thresholds:
        right = {
            model: f"(({quoted(column)}::DOUBLE > {threshold!r}::DOUBLE) = {columns.positive})"
            for model, column in scores.items()
        }
        for a, b in combinations(scores, 2):
            terms[a, b, threshold] = (
                f"count(*) FILTER ({right[a]} AND NOT {right[b]})",
                f"count(*) FILTER ({right[b]} AND NOT {right[a]})",
            )
    if not terms:
        return {}
    counts = source.rows(columns.select(", ".join(t for pair in terms.values() for t in pair), source.table))[0]
    return {key: (int(counts[2 * k]), int(counts[2 * k + 1])) for k, key in enumerate(terms)}

"""A class sample -> the totals that its measures read, from one pass over rows and one over each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..class_sample import ClassSample
from ..types import Floats
from .classes import ClassSpec, ClassSums

COLUMN_AREAS = ("auc", "pair_auc", "precision")
_ROUNDING = 1e-12  # of sums of weights
_GATHERED = 8  # columns that are copied out of the matrix at once: a cache line of its row


@dataclass(frozen=True, eq=False)
class ColumnOrder:
    """Rows by one column of scores, highest first; ``tie[i]``: place i has the score of the next one."""

    order: NDArray[np.int32]
    tie: NDArray[np.bool_]

    @classmethod
    def of(cls, score: NDArray[Any]) -> ColumnOrder:
        """Sort one column."""
        order = np.argsort(-score).astype(np.int32)
        ordered = score[order]
        return cls(order, np.append(ordered[1:] == ordered[:-1], False))


class ClassTotals:
    """The totals of one class sample, each computed when first asked for."""

    def __init__(self, sample: ClassSample) -> None:
        self.sample = sample

    @cached_property
    def confusion(self) -> Floats:
        """Weight of the cases of each class (rows) by predicted class (columns)."""
        s, k = self.sample, self.sample.n_classes
        cell = s.code.astype(np.int64) * k + s.predicted
        return np.bincount(cell, weights=s.weight, minlength=k * k).reshape(k, k).astype(np.float64)

    @cached_property
    def decisions(self) -> ClassSums:
        """Totals by class of hard predictions."""
        s, k = self.sample, self.sample.n_classes
        hits, truth, answers = (
            np.bincount(code, weights=None if s.weight is None else s.weight[at], minlength=k).astype(np.float64)
            for code, at in ((s.code[s.right], s.right), (s.code, slice(None)), (s.predicted, slice(None)))
        )
        return ClassSums(hits, truth, answers)

    def rows(self, specs: Sequence[ClassSpec]) -> dict[ClassSpec, Floats]:
        """Each row's own value, of the measures that have one."""
        found = {spec: spec.row_values(self.sample) for spec in specs}
        return {spec: values for spec, values in found.items() if values is not None}

    @cached_property
    def information(self) -> float:
        """Mean information score in nats, with the sample's own shares of the classes as the prior."""
        s = self.sample
        assert s.facts is not None
        truth = self.decisions.truth
        prior = (truth / truth.sum())[s.code]
        with np.errstate(all="ignore"):
            gain = np.where(
                s.facts.true >= prior,
                np.log(s.facts.true) - np.log(prior),
                np.log1p(-prior) - np.log1p(-s.facts.true),
            )
        return float(np.average(gain, weights=s.weight))

    @cached_property
    def confidence_order(self) -> ColumnOrder:
        """Rows by the score of the predicted class, the most confident first."""
        return ColumnOrder.of(self.sample.confidence)

    @cached_property
    def risk(self) -> float:
        """Area under the risk–coverage curve."""
        from ..kernels import classes as class_kernels

        ranked = self.confidence_order
        return float(class_kernels.sum_risk(ranked.order, ranked.tie, self.sample.right, self.sample.row_weight))

    @cached_property
    def areas(self) -> Floats:
        """For each class, in lines: AUC against the rest, mean AUC against each other class, average precision."""
        return self._weighted_areas() if self.sample.weight is not None else self._plain_areas()

    def _plain_areas(self) -> Floats:
        from ..kernels import classes as class_kernels
        from ..threads import in_threads

        s, k = self.sample, self.sample.n_classes
        assert s.matrix is not None
        matrix = s.matrix
        start = np.concatenate([[0], np.cumsum(np.bincount(s.code, minlength=k))]).astype(np.int64)
        out = np.empty((k, 3))

        def some(first: int) -> None:
            columns = np.empty((min(_GATHERED, k - first), len(s)), matrix.dtype)
            class_kernels.spread_columns(matrix, s.code, start, first, columns)
            negatives = np.empty(len(s), np.int64)
            for at, values in enumerate(columns):
                for j in range(k):
                    values[start[j] : start[j + 1]].sort()
                class_kernels.sum_sorted_column(values, start, first + at, negatives, out[first + at])

        in_threads([lambda first=first: some(first) for first in range(0, k, _GATHERED)])  # type: ignore[misc]
        return np.ascontiguousarray(out.T)

    def _weighted_areas(self) -> Floats:
        from ..kernels import classes as class_kernels

        s = self.sample
        out = np.empty((s.n_classes, 3))
        for k in range(s.n_classes):
            ranked = self.column_order(k)
            class_kernels.sum_column(ranked.order, ranked.tie, s.code, s.row_weight, k, self.decisions.truth, out[k])
        return np.where(np.abs(out.T - 1.0) < _ROUNDING, 1.0, out.T)

    def column_order(self, k: int) -> ColumnOrder:
        """Rows by the scores of class ``k``; sorted anew at each call, since all columns together may be large."""
        assert self.sample.matrix is not None
        return ColumnOrder.of(np.ascontiguousarray(self.sample.matrix[:, k]))

    def sums(self, specs: Sequence[ClassSpec]) -> ClassSums:
        """The totals that the specs read, but for the means of their own rows."""
        needed = {area for spec in specs for area in spec.areas}
        found: dict[str, Any] = {}
        if needed & set(COLUMN_AREAS):
            found |= dict(zip(COLUMN_AREAS, self.areas, strict=True))
        if "information" in needed:
            found["information"] = self.information
        if "risk" in needed:
            found["risk"] = self.risk
        return replace(self.decisions, **found)

    def values(self, specs: Sequence[ClassSpec]) -> dict[ClassSpec, float]:
        """The value of each spec."""
        sums = self.sums(specs)
        rows = self.rows(specs)
        found = {}
        for spec in specs:
            own = sums
            if spec in rows:
                own = replace(sums, mean=float(np.average(rows[spec], weights=self.sample.weight)))
            value = float(spec.compute(own))
            # weights round: 1 + 2⁻⁵² has no logit, and 1 − 2⁻⁵² would look as if it had been seen to vary
            near = (end for end in spec.range if spec.reads != "probabilities" and abs(value - end) < _ROUNDING)
            found[spec] = next(near, value)
        return found
